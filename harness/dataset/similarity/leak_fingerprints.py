"""Fingerprints of a dataset's leaks: its canary, its statements, and the code of its fixes and hidden tests. Pure."""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from harness.dataset.similarity import shingles
from harness.dataset.similarity.shingles import CODE, WORDS, Vocabulary
from harness.patches import patch

_GUID = re.compile(rb"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_COMMON = 3
"""A shingle of so many tasks is the form that statements are written in, or a habit of the code: it tells nothing."""
_SHARE = {"statement": 0.3, "gold": 0.3, "tests": 0.3}
_LEAST = {"statement": 3, "gold": 6, "tests": 8}
_ENOUGH = {"statement": 30, "gold": 30, "tests": 40}


class Kind(StrEnum):
    """The kind of text that was found."""

    CANARY = "canary"
    STATEMENT = "statement"
    GOLD = "gold"
    """Code that only the fix has."""
    TESTS = "tests"
    """Code that only the hidden tests have."""


@dataclass(frozen=True, kw_only=True)
class Text:
    """Texts of one kind that a task could leak as."""

    task: str
    kind: Kind
    parts: tuple[tuple[bytes, bytes], ...]
    """New text and, so that what was there before is no evidence, old text: of each hunk, or the statement."""


@dataclass(frozen=True, kw_only=True)
class Unit:
    """A part of a task that is found or not: a statement, or one hunk of a patch."""

    task: str
    kind: Kind
    size: int
    """Different shingles that can be found."""

    @property
    def needed(self) -> int:
        """How many of them, close together, are a find: three in ten, within bounds by kind."""
        return min(max(_LEAST[self.kind], math.ceil(_SHARE[self.kind] * self.size)), _ENOUGH[self.kind])


def of_statement(task: str, statement: str) -> Text:
    return Text(task=task, kind=Kind.STATEMENT, parts=((statement.encode("utf-8", "replace"), b""),))


def of_patch(task: str, kind: Kind, raw: bytes, *, public: bytes = b"") -> Text:
    """The hunks of a patch that is sound, else nothing: `holdout check` tells of those.

    What a `public` patch of the same task brings, such as its scaffold, is no evidence.
    """
    try:
        files = patch.parse(raw, trusted=True).files
        patches = patch.parse(public, trusted=True).files if public else ()
    except patch.PatchError:
        return Text(task=task, kind=kind, parts=())
    context = b"\n".join(new for file in patches for _, new in file.sides())
    sides = (pair for file in files for pair in file.sides())
    return Text(
        task=task, kind=kind, parts=tuple((new, old + b"\n" + context if context else old) for old, new in sides)
    )


def guids(canaries: Iterable[str]) -> tuple[bytes, ...]:
    """The part of canaries that is looked for: the GUID alone, or all of a text without one."""
    matches = {canary: _GUID.search(canary.lower().encode()) for canary in canaries if canary.strip()}
    return tuple(dict.fromkeys(match[0] if match else canary.lower().encode() for canary, match in matches.items()))


@dataclass(frozen=True, kw_only=True)
class Index:
    """Where each shingle belongs."""

    vocabulary: Vocabulary
    canaries: tuple[bytes, ...]
    units: tuple[Unit, ...]
    owners: Mapping[int, Mapping[str, tuple[int, ...]]]
    """By length of shingles (prose or code) and shingle: numbers of units."""
    untold: tuple[Text, ...] = ()
    """Texts too short, or too ordinary, to be told from others."""
    sizes: Mapping[tuple[str, Kind], int] = field(default_factory=dict)
    """Shingles of each task and kind, over its units."""


def build(texts: Iterable[Text], canaries: Iterable[str], *, ordinary: Iterable[bytes] = ()) -> Index:
    """An index of texts. What `ordinary` texts hold too is no evidence, and neither is what three tasks share."""
    whole_texts = [text for text in texts if text.parts]
    cut = [[(_tokens(text.kind, new), _tokens(text.kind, old)) for new, old in text.parts] for text in whole_texts]
    vocabulary = Vocabulary.of(new for parts in cut for new, _ in parts)
    shingles = [
        [_only_new(vocabulary, text.kind, *part) for part in parts]
        for text, parts in zip(whole_texts, cut, strict=True)
    ]
    dull = _shared(whole_texts, shingles) | _ordinary(vocabulary, ordinary)
    units: list[Unit] = []
    owners: dict[int, dict[str, tuple[int, ...]]] = {WORDS: {}, CODE: {}}
    untold: list[Text] = []
    for text, parts in zip(whole_texts, shingles, strict=True):
        before = len(units)
        for part in parts:
            left = part - dull
            unit = Unit(task=text.task, kind=text.kind, size=len(left))
            if len(left) < _LEAST[text.kind]:
                continue
            for shingle in left:
                by_shingle = owners[_length(text.kind)]
                by_shingle[shingle] = (*by_shingle.get(shingle, ()), len(units))
            units.append(unit)
        if len(units) == before:
            untold.append(text)
    sizes: dict[tuple[str, Kind], int] = defaultdict(int)
    for unit in units:
        sizes[unit.task, unit.kind] += unit.size
    return Index(
        vocabulary=vocabulary,
        canaries=guids(canaries),
        units=tuple(units),
        owners=owners,
        untold=tuple(untold),
        sizes=sizes,
    )


def _length(kind: Kind) -> int:
    return WORDS if kind is Kind.STATEMENT else CODE


def _tokens(kind: Kind, text: bytes) -> list[bytes]:
    tokens = shingles.tokens(shingles.plain(text))
    return shingles.words(tokens) if kind is Kind.STATEMENT else tokens


def _only_new(vocabulary: Vocabulary, kind: Kind, new: list[bytes], old: list[bytes]) -> set[str]:
    after, before = (shingles.shingles(vocabulary.spell(side), _length(kind)) for side in (new, old))
    return after - before


def _shared(texts: list[Text], cut: list[list[set[str]]]) -> set[str]:
    tasks: dict[str, set[str]] = defaultdict(set)
    for text, parts in zip(texts, cut, strict=True):
        for shingle in set().union(*parts):
            tasks[shingle].add(text.task)
    return {shingle for shingle, having in tasks.items() if len(having) >= _COMMON}


def _ordinary(vocabulary: Vocabulary, texts: Iterable[bytes]) -> set[str]:
    ordinary: set[str] = set()
    for text in texts:
        spelled = vocabulary.spell(shingles.tokens(shingles.plain(text)))
        ordinary |= shingles.shingles(spelled, CODE) | shingles.shingles(shingles.prose(spelled), WORDS)
    return ordinary


def untold_counts(index: Index) -> Mapping[Kind, int]:
    """Tasks by kind that could leak without being found."""
    return Counter(text.kind for text in index.untold)
