"""Whether a fix is nearly another one: by what its code shares with it, and its statement. Pure.

The same measure as `holdout dedupe` takes, against many fixes at once, also of datasets that are not ours.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from harness.dataset import needles, shingles
from harness.dataset.dedupe import THRESHOLD, patch_id
from harness.dataset.needles import Kind
from harness.dataset.shingles import CODE, WORDS, Vocabulary

if TYPE_CHECKING:
    from harness.dataset.shingles import Hashes

_HALF = 0.5
"""Share of both fix and statement from which two are one, as in `dedupe`."""
_FEWEST = 6
"""Shingles from which a share says something; of smaller fixes only the same ones are told."""


@dataclass(frozen=True, kw_only=True)
class Fix:
    """What is known of a fix to find it again."""

    name: str
    patch_id: str
    code: Hashes
    """Shingles that only the fixed code has, sorted."""
    statement: Hashes


@dataclass(frozen=True, kw_only=True)
class Near:
    """A fix that another one nearly is."""

    name: str
    share: float
    """Of the smaller fix's shingles: that the other has too, from 0 to 1."""
    same_patch: bool
    """The same but for white space and places."""

    @property
    def why(self) -> str:
        return "the same fix" if self.same_patch else f"{self.share:.0%} of the smaller fix is in the other"


def fix_of(name: str, gold_patch: bytes, statement: str) -> Fix:
    """What a fix is found again by; of a patch that is none nothing but its bytes."""
    hunks = needles.of_patch(name, Kind.GOLD, gold_patch).parts
    code: set[int] = set()
    for new, old in ((_tokens(new), _tokens(old)) for new, old in hunks):
        vocabulary = Vocabulary.of((new, old))
        code |= set(_hashes(vocabulary, new, CODE).tolist()) - set(_hashes(vocabulary, old, CODE).tolist())
    words = shingles.words(_tokens(statement.encode("utf-8", "replace")))
    return Fix(
        name=name,
        patch_id=patch_id(gold_patch),
        code=np.array(sorted(code), dtype=np.uint64),
        statement=np.unique(_hashes(Vocabulary.of((words,)), words, WORDS)),
    )


def _tokens(text: bytes) -> list[bytes]:
    return shingles.tokens(shingles.plain(text))


def _hashes(vocabulary: Vocabulary, text: list[bytes], length: int) -> Hashes:
    return vocabulary.shingles(vocabulary.ids(text), length)[1]


@dataclass(kw_only=True)
class Shelf:
    """Fixes to compare others with. May be added to and asked from several threads."""

    _fixes: dict[str, Fix] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def __len__(self) -> int:
        return len(self._fixes)

    def add(self, fix: Fix) -> None:
        """Put a fix onto the shelf, in the place of one with its name."""
        with self._lock:
            self._fixes[fix.name] = fix

    def near(self, fix: Fix) -> tuple[Near, ...]:
        """Those that a fix nearly is, the nearest first; never the one with its own name."""
        with self._lock:
            others = [other for other in self._fixes.values() if other.name != fix.name]
        found = [near for other in others if (near := _near(fix, other))]
        return tuple(sorted(found, key=lambda near: (not near.same_patch, -near.share, near.name)))


def _near(one: Fix, other: Fix) -> Near | None:
    share = _shared(one.code, other.code)
    same = one.patch_id == other.patch_id
    alike = share >= THRESHOLD or (share >= _HALF and _shared(one.statement, other.statement) >= _HALF)
    return Near(name=other.name, share=share, same_patch=same) if same or alike else None


def _shared(one: Hashes, two: Hashes) -> float:
    smaller = min(len(one), len(two))
    if smaller < _FEWEST:
        return 0.0
    return len(np.intersect1d(one, two, assume_unique=True)) / smaller
