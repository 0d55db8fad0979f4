"""What a forger can read: the statement, the base, visible tests, and what enters with the stripped ones."""

from __future__ import annotations

import contextlib
import itertools
import math
import posixpath
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from harness.core.expectations import Expectations
from harness.judging.values import Event
from miner.languages.base import KnownText
from miner.languages.guessing.conversions import json_of
from miner.languages.guessing.needed import handed_by
from miner.languages.guessing.visible import TELLING
from miner.languages.guessing.words import LAYOUT, LITERAL, WORD, example_value, parts_of

if TYPE_CHECKING:
    from miner.languages.guessing.reading import Reading

_QUOTED = re.compile(r"`([^`]+)`|\"([^\"]+)\"|'([^']+)'")
_GAP = re.compile(r"%[-+#0-9.]*[a-zA-Z]|[$#]?\{[^{}]*\}")
"""Where a text is filled in."""
_FEWEST_WORDS, _LONGEST_FILLED = 3, 80
"""Of a line that makes texts: words that all of them have, and characters of each thing that is filled in."""
_SIGN = re.compile(r"->|=>|→|==|=|:|\b(?:returns?|gives?|be|is|get|got|expected)\b", re.IGNORECASE)
"""After which comes what something is or is to be."""
_TOKEN = re.compile(r"\"[^\"\n]*\"|'[^'\n]*'|-?\d+(?:\.\d+)?|\w+")
_NUMBER = re.compile(r"\b\d+\b")
WORK = "/testbed"
_MOST_BESIDE = 1 << 18
"""Characters of a file beside the tests that are looked through."""
_LAYOUT = re.compile(LAYOUT)
_FEWEST_IN_ORDER, _MOST_BETWEEN = 3, 7
"""Values in order that are no chance, and how many others may stand between two of them."""
A_LOOK = 3.0
"""Of finding values among the literals of the tests, however many they are: one rule that looks."""


@dataclass(frozen=True, kw_only=True)
class KnownLiterals:
    """What stands in the files that enter with the tests."""

    literals: frozenset[str]
    text: str
    """Of files that are no tests."""
    squeezed: str
    """The same without what may be written in one way or another."""
    tests: str
    """The stripped files themselves."""

    columns: tuple[frozenset[str], ...] = ()
    """Of each table that is written there: what stands below each other."""
    sequences: tuple[tuple[str, ...], ...] = ()
    """What is written out in each file, and in each text, one after the other."""

    def holds(self, value: Any) -> bool:
        """Whether a value stands there, and not by chance."""
        text = value if isinstance(value, str) else repr(value)
        if len(repr(value)) < TELLING:
            return False
        if isinstance(value, list | tuple | dict) and any(
            _LAYOUT.sub("", form) in self.squeezed for form in (text, json_of(value))
        ):
            return True
        if repr(value) in self.literals or text in self.text:
            return True
        is_phrase = re.search(r"\w\W+\w", text) is not None
        return is_phrase and re.search(rf"(?<!\w){re.escape(text)}(?!\w)", self.tests) is not None

    @cached_property
    def _small(self) -> frozenset[str]:
        return frozenset(map(str.lower, self.literals))

    def place_of(self, values_kept: Collection[Any]) -> str:
        """Where values are that all stand there, as they are or in other letters; empty where not all do."""
        if all(self.holds(value) or self._has_run(value) for value in values_kept):
            return "what the tests have elsewhere"
        in_others = all(map(self._holds_otherwise, values_kept))
        return "what the tests have elsewhere, in small letters or capitals" if in_others else ""

    def _holds_otherwise(self, value: Any) -> bool:
        """Whether a text stands there in other letters, and is in small ones or in capitals alone."""
        is_changed = isinstance(value, str) and value in (value.lower(), value.upper())
        return is_changed and len(repr(value)) >= TELLING and repr(value).lower() in self._small

    def _has_run(self, value: Any) -> bool:
        """Whether all that is in a value, more than one thing, stands there one after the other, and not by chance.

        Of a set, each by itself.
        """
        if isinstance(value, set | frozenset):
            return len(value) > 1 and all(map(self.holds, value))
        sought = [*map(repr, _members(value))]
        is_chance = len(sought) < 2 or max(map(len, sought)) < TELLING  # noqa: PLR2004
        return not is_chance and any(
            sought == list(some[start : start + len(sought)])
            for some in self.sequences
            for start, first in enumerate(some)
            if first == sought[0]
        )

    def has_column(self, values_kept: Collection[str]) -> bool:
        """Whether different values, however short, stand below each other there, or in order at equal distances."""
        if len(values_kept) > 1 and any(column.issuperset(values_kept) for column in self.columns):
            return True
        sought = [*values_kept]
        return len(sought) >= _FEWEST_IN_ORDER and any(_has_in_order(some, sought) for some in self.sequences)


def known_words(
    expectations: Expectations, before: Iterable[Event], known: KnownText, reading: Reading
) -> dict[str, float]:
    """By word, and by what is said, written or handed out in one piece: the bits of choosing it where it is."""
    sources = expectations.files.values()
    places = " ".join((WORK, *expectations.files))
    words = _vocabulary(
        [known.words, *sources, *known.beside_tests, places], [*known.changed, *known.old_tests], reading
    )

    def add(pieces: Iterable[str], bits: float) -> None:
        words.update({piece: min(words.get(piece, math.inf), bits) for piece in pieces})

    for place, texts in enumerate(((known.words,), (*known.changed, *sources))):
        said = {repr(value) for text in texts for value in _spans(text)}
        add(said, place + math.log2(len(said) + 2))
    numbers = Counter(number for text in known.old_tests for number in _NUMBER.findall(text))
    for number, count in numbers.items():
        add([number], 1 + math.log2(numbers.total() / count))
    base_values = [value for event in before if (value := handed_by(event, reading)) is not None]
    answers = {repr(value) for value in base_values} | {
        word for value in base_values for word in parts_of(value) if isinstance(word, str)
    }
    add(answers, 1 + math.log2(len(answers) + 2))
    for path in expectations.files:
        add(map(repr, (path, posixpath.basename(path), posixpath.join(WORK, path))), A_LOOK)
    return words


def made_by_lines(texts: Iterable[str], changed: Iterable[str]) -> dict[str, float]:
    """Texts that a line of changed files makes as it is there, whatever it fills in: the bits of choosing that line."""
    lines = {pieces for source in changed for line in source.splitlines() if (pieces := _pieces(line))}
    fill = f".{{0,{_LONGEST_FILLED}}}"
    forms = {fill.join(("", *map(re.escape, pieces), "")): sum(map(len, pieces)) for pieces in lines}
    bits = 1 + math.log2(len(lines) + 2)
    return {
        repr(text): bits
        for text in texts
        for form, size in forms.items()
        if 2 * size >= len(text) > size and re.fullmatch(form, text, re.DOTALL)
    }


def _pieces(line: str) -> tuple[str, ...]:
    """What all texts have that a line makes, in its order; nothing where these are too few words to tell."""
    quoted = filter(None, itertools.chain(*_QUOTED.findall(line)))
    pieces = tuple(filter(None, itertools.chain(*map(_GAP.split, quoted))))
    return pieces if len(re.findall(r"[^\W\d_]+", " ".join(pieces))) >= _FEWEST_WORDS else ()


def known_literals(sources: Collection[str], known: KnownText, reading: Reading) -> KnownLiterals:
    """What the stripped sources and the files beside them write out."""
    columns = [column for source in (*sources, *known.beside_tests) for column in _columns_of(source, reading)]
    beside_text = "\n".join(known.beside_tests)
    return KnownLiterals(
        literals=frozenset(literal for source in sources for literal in _literals_of(source, reading)),
        text=beside_text,
        squeezed=_LAYOUT.sub("", beside_text),
        tests="\n".join(sources),
        columns=(*columns, *map(_tokens_of, known.beside_tests)),
        sequences=tuple(some for source in sources for some in _sequences_of(source, reading)),
    )


def unchanged_tests(
    before: Iterable[str], after: Iterable[str], paths: Collection[str], reading: Reading
) -> frozenset[str]:
    """The test functions that anybody can read as they are judged, as far as what is written out in them tells.

    Their files are read as one of these paths, as their language has it.
    """
    functions = [
        {(name, repr(written)) for name, written in functions_of(sources, paths, reading)}
        for sources in (before, after)
    ]
    return frozenset(name for name, _ in functions[0] & functions[1])


def functions_of(
    sources: Iterable[str], paths: Collection[str], reading: Reading
) -> Iterator[tuple[str, tuple[Any, ...]]]:
    """The functions of some sources by name, and what is written out in each."""
    for source, path in itertools.product(sources, paths):
        with contextlib.suppress(SyntaxError, ValueError, RecursionError):
            yield from reading.handed(path, source)[1].items()


def _members(value: Any) -> Iterator[Any]:
    """What lists, tuples and mappings hold, at any depth; a key before its value."""
    if isinstance(value, dict):
        value = itertools.chain.from_iterable(value.items())
    elif not isinstance(value, list | tuple):
        yield value
        return
    for inner in value:
        yield from _members(inner)


def _has_in_order(written: Sequence[str], sought: Sequence[str]) -> bool:
    """Whether values stand one after the other, or with as much between them each time."""
    starts = [place for place, value in enumerate(written) if value == sought[0]]
    return any(
        list(written[start::step][: len(sought)]) == list(sought)
        for start, step in itertools.product(starts, range(1, _MOST_BETWEEN + 2))
    )


def _sequences_of(source: str, reading: Reading) -> Iterator[tuple[str, ...]]:
    """What a source writes out besides lists and mappings, in order; words of each of its texts, and their numbers."""
    with contextlib.suppress(SyntaxError, ValueError, RecursionError):
        single = [value for value in reading.written(source) if not isinstance(value, list | tuple | set | dict)]
        yield tuple(map(repr, single))
        for text in single:
            tokens = _TOKEN.findall(text[:_MOST_BESIDE]) if isinstance(text, str) else ()
            if len(tokens) >= _FEWEST_IN_ORDER:
                yield tuple(repr(token.strip("'\"")) for token in tokens)
                yield tuple(str(int(token)) if re.fullmatch(r"-?\d{1,18}", token) else token for token in tokens)


def _vocabulary(near: Iterable[str], far: Iterable[str], reading: Reading) -> dict[str, float]:
    """By word and by literal that can be read: the bits of choosing it among those that are as near."""
    first = {word for text in near for word in _readable(text, reading)}
    every = first | {word for text in far for word in _readable(text, reading)}
    return {word: math.log2(len(first) + 2) if word in first else 1 + math.log2(len(every) + 2) for word in every}


def _tokens_of(text: str) -> frozenset[str]:
    """What a file says that enters with the tests, as one column: words, and what they are as values."""
    tokens = set(_TOKEN.findall(text[:_MOST_BESIDE]))
    numbers = {int(token) for token in tokens if re.fullmatch(r"-?\d{1,18}", token)}
    return frozenset(map(repr, (*(token.strip("'\"") for token in tokens), *numbers)))


def _words_of(value: Any) -> Iterator[Any]:
    """The words of a text, and the numbers among them as such."""
    words = value.split() if isinstance(value, str) else ()
    for word in words:
        bare = word.strip(".,:;!?'\"()")
        yield bare
        if bare[:1] in LITERAL:
            yield example_value(bare)


def _spans(text: str) -> Iterator[Any]:
    """What a text says in one piece: lines, what is in quotes, what comes after a sign, as text and as a value."""
    for block in re.findall(r"```\w*\n(.*?)```", text, re.DOTALL):
        yield from (block, block.strip())
    for line in text.splitlines():
        parts = [line.strip(), line.strip(" \t#>*-`.:"), *filter(None, itertools.chain(*_QUOTED.findall(line)))]
        for part in dict.fromkeys((*parts, *(_SIGN.split(part)[-1] for part in parts))):
            bare = part.strip(" \t`.,;")
            yield from (part, bare, bare.strip("'\""))
            if bare[:1] in LITERAL:
                yield example_value(bare)


def _readable(text: str, reading: Reading) -> Iterator[str]:
    """The words of a text, and of a source its literals as they are written."""
    yield from WORD.findall(text)
    yield from _literals_of(text, reading)


def _literals_of(text: str, reading: Reading) -> Iterator[str]:
    with contextlib.suppress(SyntaxError, ValueError, RecursionError):
        yield from (repr(value) for value in reading.written(text))


def _columns_of(text: str, reading: Reading) -> Iterator[frozenset[str]]:
    """The columns of tables that a source writes out: rows of a list, and values by key."""
    with contextlib.suppress(SyntaxError, ValueError, RecursionError):
        for table in reading.written(text):
            rows = list(table) if isinstance(table, list | tuple) else []
            if len(rows) > 1 and all(isinstance(row, list | tuple) for row in rows):
                rows = [dict(enumerate(row)) for row in rows]
            if len(rows) > 1 and all(isinstance(row, dict) for row in rows):
                for key in dict.fromkeys(key for row in rows for key in row):
                    yield frozenset(repr(row[key]) for row in rows if key in row)
            if isinstance(table, dict):
                yield frozenset(map(repr, table.values()))
        for column in reading.columns(text):
            yield frozenset(map(repr, itertools.chain(column, *map(_words_of, column))))


def texts_of(source: str, reading: Reading) -> Iterator[str]:
    """The texts that are written in a file; its words where it is not of the language."""
    try:
        constants = list(reading.written(source))
    except (SyntaxError, ValueError, RecursionError):
        constants = list(WORD.findall(source))
    return (text for text in constants if isinstance(text, str) and len(text) > 1)
