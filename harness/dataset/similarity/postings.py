"""Which of many sets hold a value: an inverted index, so that a set is held against all others at once, exactly. Pure.

Work and memory grow with what is indexed and what is shared, not with the number of pairs. See
docs/adr/0006-near-duplicates-are-found-exactly.md for why it is no MinHash.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from harness.dataset.similarity.shingles import Hashes

    Owners = NDArray[np.int32]


@dataclass(frozen=True, kw_only=True)
class Postings:
    """Sets of 64-bit hashes, numbered from 0."""

    hashes: Hashes
    """Every hash as often as sets hold it, sorted."""
    owners: Owners
    """The number of the set that each of them stands for."""

    @classmethod
    def of(cls, sets: Sequence[Hashes]) -> Postings:
        """An index of sets; in none of them a hash stands twice."""
        if not sets:
            return cls(hashes=np.empty(0, dtype=np.uint64), owners=np.empty(0, dtype=np.int32))
        hashes = np.concatenate(sets)
        owners = np.repeat(np.arange(len(sets), dtype=np.int32), [len(one) for one in sets])
        order = np.argsort(hashes, kind="stable")
        return cls(hashes=hashes[order], owners=owners[order])

    def shared(self, wanted: Hashes) -> dict[int, int]:
        """How many hashes a set shares with each one that it shares any with, by number."""
        begins = np.searchsorted(self.hashes, wanted, side="left")
        counts = np.searchsorted(self.hashes, wanted, side="right") - begins
        total = int(counts.sum())
        places = np.repeat(begins - (np.cumsum(counts) - counts), counts) + np.arange(total)
        owners, shared = np.unique(self.owners[places], return_counts=True)
        return dict(zip(owners.tolist(), shared.tolist(), strict=True))

    def held_by_at_most(self, wanted: Hashes, most: int) -> Hashes:
        """Those of some hashes that so many sets hold, or fewer."""
        counts = np.searchsorted(self.hashes, wanted, side="right") - np.searchsorted(self.hashes, wanted, side="left")
        return wanted[counts <= most]
