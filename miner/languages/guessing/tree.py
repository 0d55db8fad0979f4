"""What a forger can take from the files of the base that no patch of the task touches.

Who knows nothing of a value picks a file, and a piece of it: a word, a line, what is in quotes, several words in a row,
or the whole. Half of the files that are picked are such as the stripped tests name.
"""

from __future__ import annotations

import itertools
import json
import math
import posixpath
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from harness.core.grouping import grouped
from miner.languages.guessing.visible import Visible
from miner.languages.guessing.words import LAYOUT, example_value, parts_of

_SHORTEST = 5
"""Characters of a piece that are worth a look: of shorter ones each letter costs less."""
_SHORTEST_NAME, _SHORTEST_WORD = 4, 3
"""Characters of a file's name, and of a word, by which something is looked for."""
_WORD_BYTES = bytes(byte if byte > 127 or chr(byte).isalnum() or chr(byte) == "_" else 32 for byte in range(256))  # noqa: PLR2004 - ASCII
_QUOTED = re.compile(rb"\"([^\"\n]+)\"|'([^'\n]+)'|`([^`\n]+)`")
_LITERAL = re.compile(r"\"[^\"\n]+\"|'[^'\n]+'|`[^`\n]+`|(?<![\w.])-?\d+(?:\.\d+)?(?![\w.])")
_BLANK = re.compile(r"\n\s*\n")
_LAYOUT = re.compile(LAYOUT.encode())
_SIGNS = " \t,;:=>-#*/|&→)]}`'\""
"""What may stand between a call and what it gives."""
_NEAR_FILES, _NEAR_BYTES = 30, 1 << 20
"""Files that are read as visible tests are, and bytes of all of them."""


@dataclass(frozen=True, kw_only=True)
class InTree:
    """What a tree has of some values."""

    bits: Mapping[str, float] = field(default_factory=dict)
    """By value, of taking it from anywhere."""
    of_file: float = 0.0
    """Of picking the file that has most of them."""
    in_file: Mapping[str, float] = field(default_factory=dict)
    """By value, of taking it from there."""
    pieces: tuple[tuple[str, ...], ...] = ()
    """What is written out there, in order."""
    blocks: Visible = field(default_factory=lambda: Visible(()))
    """Of the files that are nearest to what tests have: what stands together."""
    lines: Visible = field(default_factory=lambda: Visible(()))
    """Of the same: what stands in a line and behind it."""


@dataclass(frozen=True)
class _Form:
    """One way to write a value."""

    key: str
    text: bytes
    is_squeezed: bool = False

    @property
    def words(self) -> frozenset[bytes]:
        return frozenset(_words_of(self.text))


@dataclass(kw_only=True)
class _Chance:
    """How likely it is to take a value, by the ways of picking."""

    of_file: float = 0.0
    """Of a file that is the value."""
    of_pieces: float = 0.0
    of_runs: float = 0.0
    is_piece: bool = False

    def bits(self, pieces: int) -> float:
        """The bits of the likeliest, where all files have so many different pieces."""
        likely = max(self.of_file, self.of_pieces, self.of_runs, 1 / pieces if self.is_piece else 0.0)
        return -math.log2(likely)


def look_up(sought: Collection[Any], near: Iterable[Any], sources: Iterable[str], tree: Mapping[str, bytes]) -> InTree:
    """What a tree has of the values that are sought, for whoever sees the ones `near` them, and stripped sources."""
    if not tree or not sought:
        return InTree()
    forms = _forms(sought)
    near_words = (word for value in near for word in _words_of(str(value).encode("utf-8", "replace")))
    query_words = {word for word in near_words if len(word) >= _SHORTEST_WORD}
    shares = _shares(tree, "\n".join(sources))
    chances: dict[str, _Chance] = {}
    by_file: dict[str, dict[str, float]] = {}
    pieces_known: set[int] = set()
    queries: dict[str, set[bytes]] = {}
    for path, content in tree.items():
        all_words = _words_of(content)
        words = set(all_words)
        queries[path] = words & query_words
        pieces = words | _lines_and_quotes(content)
        pieces_known.update(map(hash, pieces))
        costs = by_file.setdefault(path, {})
        for key, chance in _chances_in(forms, content, words, len(all_words), pieces):
            whole = chances.setdefault(key, _Chance())
            whole.is_piece |= chance.is_piece
            for name in ("of_file", "of_pieces", "of_runs"):
                setattr(whole, name, getattr(whole, name) + shares[path] * getattr(chance, name))
            costs[key] = min(costs.get(key, math.inf), chance.bits(len(pieces)))
    bits = {key: chance.bits(len(pieces_known)) for key, chance in chances.items()}
    best = max(by_file, key=lambda path: sum(bits[key] - cost for key, cost in by_file[path].items()))
    return InTree(
        bits=bits,
        of_file=-math.log2(shares[best]),
        in_file=by_file[best],
        pieces=_sequences(tree[best]),
        **_visible((path, tree[path]) for path in _nearest_files(queries)),
    )


def _words_of(content: bytes) -> list[bytes]:
    return content.translate(_WORD_BYTES).split()


def _lines_and_quotes(content: bytes) -> set[bytes]:
    quoted = {text for texts in _QUOTED.findall(content) for text in texts if text}
    return {*map(bytes.strip, content.splitlines()), *quoted}


def _shares(tree: Iterable[str], sources: str) -> dict[str, float]:
    """By path: how likely it is picked."""
    paths = list(tree)
    stems = {path: posixpath.basename(path).partition(".")[0] for path in paths}
    named_paths = {path for path, stem in stems.items() if len(stem) >= _SHORTEST_NAME and stem in sources}
    even = (1.0 if not named_paths else 0.5) / len(paths)
    return {path: even + (0.5 / len(named_paths) if path in named_paths else 0.0) for path in paths}


def _forms(sought: Iterable[Any]) -> dict[bytes, list[tuple[_Form, frozenset[bytes]]]]:
    """The ways to write values and what is in them, by the longest word of each."""
    forms = dict.fromkeys(form for value in sought for part in (value, *parts_of(value)) for form in _forms_of(part))
    return grouped(
        (max(words, key=len), (form, words)) for form in forms if len(form.text) >= _SHORTEST and (words := form.words)
    )


def _forms_of(value: Any) -> Iterator[_Form]:
    match value:
        case str():
            for text in dict.fromkeys((value, value.strip(), repr(value)[1:-1], json.dumps(value)[1:-1])):
                yield _Form(repr(value), text.encode("utf-8", "replace"))
        case bytes() | bytearray():
            yield _Form(repr(value), bytes(value))
        case bool() | None:
            return
        case int() | float():
            yield _Form(repr(value), str(value).encode())
        case list() | tuple() | dict() if value:
            yield _Form(repr(value), _LAYOUT.sub(b"", repr(value).encode("utf-8", "replace")), is_squeezed=True)


def _chances_in(
    forms: Mapping[bytes, Iterable[tuple[_Form, frozenset[bytes]]]],
    content: bytes,
    words: set[bytes],
    count_of_words: int,
    pieces: set[bytes],
) -> Iterator[tuple[str, _Chance]]:
    """Of the values that one file has, how likely each is taken from it."""
    squeezed: bytes | None = None
    for form, needed_words in (pair for word in forms.keys() & words for pair in forms[word]):
        if not needed_words <= words:
            continue
        if form.is_squeezed:
            squeezed = _LAYOUT.sub(b"", content) if squeezed is None else squeezed
        count = (squeezed if form.is_squeezed and squeezed is not None else content).count(form.text)
        if not count:
            continue
        is_piece = form.text in pieces or form.is_squeezed
        run = 2.0 ** -(1 + 2 * math.log2(len(needed_words) + 1))
        yield (
            form.key,
            _Chance(
                of_file=float(content.strip() == form.text.strip()),
                of_pieces=is_piece / len(pieces),
                of_runs=min(count / max(count_of_words, 1), 1.0) * run,
                is_piece=is_piece,
            ),
        )


def _nearest_files(queries: Mapping[str, Collection[bytes]]) -> list[str]:
    """The files that have most of what is asked, rare words first."""
    files = Counter(word for words in queries.values() for word in words)
    scores = {path: sum(1 / files[word] for word in words) for path, words in queries.items() if words}
    return sorted(scores, key=lambda path: -scores[path])[:_NEAR_FILES]


def _visible(files: Iterable[tuple[str, bytes]]) -> dict[str, Visible]:
    blocks: list[tuple[str, tuple[Any, ...]]] = []
    lines: list[tuple[str, tuple[Any, ...]]] = []
    room = _NEAR_BYTES
    for path, content in files:
        text = content[:room].decode("utf-8", "replace")
        room -= min(len(content), room)
        for block in _BLANK.split(text):
            rows = block.splitlines()
            blocks += [(path, tuple(_literals(block))), (path, tuple(map(str.strip, rows)))]
            lines += [(path, tuple(_of_line(row, after))) for row, after in itertools.pairwise((*rows, ""))]
    return {"blocks": Visible(tuple(blocks)), "lines": Visible(tuple(lines))}


def _literals(text: str) -> Iterator[Any]:
    for token in _LITERAL.findall(text):
        is_text = token[0] in "'\"`"
        yield token[1:-1] if is_text and (token[0] == "`" or "\\" not in token) else example_value(token)


def _of_line(line: str, after: str) -> Iterator[Any]:
    """The literals of a line, what is behind them, and the next line; nothing of a line without literals."""
    places = [match.end() for match in _LITERAL.finditer(line)]
    if places:
        yield from _literals(line)
        yield from filter(None, (line[places[-1] :].strip(_SIGNS), after.strip()))


def _sequences(content: bytes) -> tuple[tuple[str, ...], ...]:
    text = content.decode("utf-8", "replace")
    return tuple(map(repr, _literals(text))), tuple(repr(line.strip()) for line in text.splitlines())
