"""Which files to show a model that may see only some: BM25 over paths and content, within a budget of tokens. Pure.

S. Robertson and H. Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond", Foundations and Trends in
Information Retrieval 3 (2009), 333-389. Identifiers count as a whole and by their parts, so that "sort key" in a
statement finds `sort_key` and `SortKey`.
"""

from __future__ import annotations

import functools
import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from harness.core import wording
from harness.solve.models.tokens import likely

_K1, _B = 1.2, 0.75
_WORD = re.compile(r"[A-Za-z_$][A-Za-z0-9_$]*")
_PART = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|[0-9]+")
_TEST = re.compile(
    r"(?!(?:.*/)?src/main/.*\.(?:java|kts?|groovy)$)(?:.*/)?"
    r"(?:(?:tests?|testing|__tests__|specs?|cypress|e2e|src/(?:\w*Test|testFixtures|it))/.*|test_[^/]*|[^/]*_test\.\w+"
    r"|conftest\.py|tests?\.(?:py|rs)|[^/]*(?:Tests?|TestCase|IT|Spec)\.(?:java|kt|groovy)"
    r"|[^/]*[.-](?:test|spec|test-d|e2e|cy)\.[cm]?[jt]sx?)"
)
"""Paths of tests, in all languages that are mined; `miner.candidates.split` decides by more than a path."""
_NO_CODE = re.compile(
    r"\.(?:png|jpe?g|gif|ico|svg|pdf|woff2?|ttf|eot|zip|gz|bz2|xz|whl|so|pyc|mo|lock|lockb|map|min\.[cm]?js|min\.css|snap|pot?|csv|parquet)$"
    r"|(?:^|/)(?:package-lock\.json|npm-shrinkwrap\.json|pnpm-lock\.yaml|poetry\.lock|uv\.lock|yarn\.lock|node_modules/)",
    re.IGNORECASE,
)
_PATH_WEIGHT = 4
"""How many times a word of a path counts as much as one of the content."""
_TEST_SHARE = 0.4
"""What a test's score is multiplied with: the fix is elsewhere, but a test may show how a thing is used."""
_PROSE = re.compile(r"\.(?:md|rst|txt|adoc|html?|ya?ml|toml|cfg|ini|json)$", re.IGNORECASE)
_PROSE_SHARE = 0.5
"""As for a test: a change log speaks of everything."""
_NAMED = 1000.0
"""Added to the score of a file that the statement names."""
_LARGEST = 1_000_000
_WHOLE_SHARE = 0.5
"""Of the budget, how much one file may have before only parts of it are shown."""
_FEWEST_LINES = 12
_LONGEST_LINE = 400
"""A longer one begins nothing."""
_MODIFIERS = (
    r"(?:(?:public|private|protected|internal|static|final|abstract|synchronized|default|override|suspend|open|data|sealed"
    r"|async|unsafe|get|set) )*"
)
_TYPE = r"(?:(?:<[^()=;]+> )?(?!(?:return|await|new|else|throw|yield) )[\w$.]+(?:<[^()=;]*>)?(?:\[\])* )?"
"""What a method gives, in front of its name."""
_BEGINS = re.compile(
    r"\s{0,4}(?:@|pub |export |(?:module\.)?exports\b|(?:describe|it|test)\("
    rf"|{_MODIFIERS}(?:(?:def|class|interface|enum|fun|func|fn|impl) |function\b|{_TYPE}[\w$#]+\([^;]*\)[^;]*\{{$))"
)
"""Where a function, a method, a class or a test may begin."""


@dataclass(frozen=True, kw_only=True)
class Excerpt:
    """A file, or some lines of one, to be shown."""

    path: str
    text: str
    first: int
    """Number of its first line, from 1."""
    last: int
    total: int
    """Lines of the whole file."""

    @property
    def is_whole(self) -> bool:
        return self.first == 1 and self.last == self.total

    @property
    def lines(self) -> str:
        """`` for a whole file, ` (lines 10-40 of 900)` for a part: for templates, as the next."""
        return "" if self.is_whole else f" (lines {self.first}-{self.last} of {self.total})"

    @property
    def fence(self) -> str:
        """Backticks that the text does not hold."""
        return wording.fence(self.text)


@functools.lru_cache(maxsize=200_000)
def _parts(word: str) -> tuple[str, ...]:
    """A word in lower case, and its parts where it has several."""
    parts = tuple(part.lower() for part in _PART.findall(word) if len(part) > 1)
    whole = word.lower()
    return (whole, *parts) if len(parts) > 1 else (whole,)


def terms(text: str) -> Counter[str]:
    """How often each word stands in a text."""
    counts: Counter[str] = Counter()
    for word, count in Counter(_WORD.findall(text)).items():
        for part in _parts(word):
            if len(part) > 1:
                counts[part] += count
    return counts


def texts(contents: Mapping[str, bytes]) -> dict[str, str]:
    """The files that are text and may be shown, by path."""
    decoded = {}
    for path, data in contents.items():
        if _NO_CODE.search(path) or len(data) > _LARGEST or b"\0" in data[:8000]:
            continue
        try:
            decoded[path] = data.decode("utf-8")
        except UnicodeDecodeError:
            continue
    return decoded


@dataclass(frozen=True, kw_only=True)
class Index:
    """Documents, ready to be asked for those that a question is about."""

    words: Mapping[str, Counter[str]]
    """By the document's name."""

    @classmethod
    def of_files(cls, files: Mapping[str, str]) -> Index:
        """Of files; their paths count too."""
        words = {}
        for path, text in files.items():
            counts = terms(text)
            for word, count in terms(path.replace("/", " ").replace(".", " ")).items():
                counts[word] += count * _PATH_WEIGHT
            words[path] = counts
        return cls(words=words)

    def scores(self, question: Mapping[str, int]) -> dict[str, float]:
        """BM25 of every document."""
        count = len(self.words)
        lengths = {name: sum(words.values()) for name, words in self.words.items()}
        mean = sum(lengths.values()) / count if count else 1.0
        having = Counter(word for words in self.words.values() for word in question if word in words)
        weight = {word: math.log(1 + (count - having[word] + 0.5) / (having[word] + 0.5)) for word in question}
        scores = {}
        for name, words in self.words.items():
            norm = _K1 * (1 - _B + _B * lengths[name] / (mean or 1.0))
            scores[name] = sum(
                weight[word] * words[word] * (_K1 + 1) / (words[word] + norm) for word in question if words[word]
            )
        return scores


def rank(statement: str, files: Mapping[str, str]) -> list[str]:
    """Paths, the likeliest first.

    Those that have nothing in common with the statement are left out; where that is all of them, code comes first.
    """
    scores = Index.of_files(files).scores(terms(statement))
    for path in files:
        if _TEST.fullmatch(path):
            scores[path] *= _TEST_SHARE
        if _PROSE.search(path):
            scores[path] *= _PROSE_SHARE
        if _is_named(path, statement):
            scores[path] += _NAMED
    paths = [path for path in files if scores[path] > 0]
    if not paths:
        return sorted(files, key=lambda path: (bool(_PROSE.search(path)), bool(_TEST.fullmatch(path)), path))
    return sorted(paths, key=lambda path: (-scores[path], path))


def _is_named(path: str, statement: str) -> bool:
    """Whether a statement names the file: its path, or its module with dots."""
    module = re.sub(r"(?:/__init__)?\.py$", "", path).replace("/", ".")
    names = [path] + ([module, module.removeprefix("src.")] if path.endswith(".py") and "." in module else [])
    return any(
        name in statement and re.search(rf"(?<![\w./-]){re.escape(name)}(?![\w/])", statement)
        for name in names
        if "." in name
    )


def choose(
    statement: str, files: Mapping[str, str], *, budget: int, only: Iterable[str] | None = None
) -> tuple[Excerpt, ...]:
    """What to show, the likeliest file first.

    Args:
        statement: what the files are searched with.
        files: text by path.
        budget: tokens, by our rule of thumb, of all that is shown.
        only: these files, in this order, in place of a search.

    """
    ordered = [path for path in only if path in files] if only is not None else rank(statement, files)
    excerpts: list[Excerpt] = []
    left = budget
    for path in ordered:
        lines = files[path].splitlines(keepends=True)
        cost = likely(len(files[path].encode()))
        if cost <= left and (cost <= budget * _WHOLE_SHARE or only is not None):
            excerpts.append(Excerpt(path=path, text=files[path], first=1, last=len(lines), total=len(lines)))
            left -= cost
        elif parts := _excerpts(statement, path, lines, budget=min(left, int(budget * _WHOLE_SHARE))):
            excerpts += parts
            left -= sum(likely(len(part.text.encode())) for part in parts)
        if left < budget * 0.02:
            break
    return tuple(excerpts)


def _excerpts(statement: str, path: str, lines: Sequence[str], *, budget: int) -> list[Excerpt]:
    """The parts of a long file that are likeliest, in their order in the file."""
    blocks = _blocks(lines)
    counts = {str(at): terms("".join(lines[start:end])) for at, (start, end) in enumerate(blocks)}
    scores = Index(words=counts).scores(terms(statement))
    chosen, left = set(), budget
    for name in sorted(scores, key=lambda name: (-scores[name], int(name))):
        start, end = blocks[int(name)]
        cost = likely(sum(len(line.encode()) for line in lines[start:end]))
        if scores[name] > 0 and cost <= left:
            chosen.add(int(name))
            left -= cost
    joined: list[tuple[int, int]] = []
    for at in sorted(chosen):
        start, end = blocks[at]
        if joined and joined[-1][1] == start:
            joined[-1] = (joined[-1][0], end)
        else:
            joined.append((start, end))
    return [
        Excerpt(path=path, text="".join(lines[start:end]), first=start + 1, last=end, total=len(lines))
        for start, end in joined
    ]


def _blocks(lines: Sequence[str]) -> list[tuple[int, int]]:
    """A file cut where something begins: a function, a method, a class, or a line at the margin after a blank one."""
    starts = [0]
    for at in range(1, len(lines)):
        line = lines[at]
        begins = len(line) <= _LONGEST_LINE and _BEGINS.match(line)
        margin = line[:1].strip() and not lines[at - 1].strip()
        if (begins or margin) and at - starts[-1] >= _FEWEST_LINES:
            starts.append(at)
    return list(zip(starts, [*starts[1:], len(lines)], strict=True))
