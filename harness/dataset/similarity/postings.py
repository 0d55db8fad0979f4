"""Which of many sets hold a value: an inverted index, so that a set is held against all others at once, exactly. Pure.

Work and memory grow with what is indexed and what is shared, not with the number of pairs. See
docs/adr/0006-near-duplicates-are-found-exactly.md for why it is no MinHash.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections import Counter
from dataclasses import dataclass
from itertools import chain, repeat
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True, kw_only=True)
class Postings:
    """Sets of 64-bit hashes, numbered from 0."""

    hashes: array[int]
    """Every hash as often as sets hold it, sorted."""
    owners: array[int]
    """The number of the set that each of them stands for."""

    @classmethod
    def of(cls, sets: Sequence[array[int]]) -> Postings:
        """An index of sets; in none of them a hash stands twice."""
        hashes = array("Q", chain.from_iterable(sets))
        owners = array("i", chain.from_iterable(repeat(number, len(members)) for number, members in enumerate(sets)))
        order = sorted(range(len(hashes)), key=hashes.__getitem__)
        return cls(hashes=array("Q", map(hashes.__getitem__, order)), owners=array("i", map(owners.__getitem__, order)))

    def shared(self, hashes: array[int]) -> dict[int, int]:
        """How many hashes a set shares with each one that it shares any with, by number."""
        return Counter(chain.from_iterable(self.owners[slice(*self._range(value))] for value in hashes))

    def held_by_at_most(self, hashes: array[int], most: int) -> array[int]:
        """Those of some hashes that so many sets hold, or fewer."""
        ranges = {value: self._range(value) for value in hashes}
        return array("Q", (value for value, (begin, end) in ranges.items() if end - begin <= most))

    def _range(self, value: int) -> tuple[int, int]:
        begin = bisect_left(self.hashes, value)
        is_held = begin < len(self.hashes) and self.hashes[begin] == value
        return begin, bisect_right(self.hashes, value, lo=begin) if is_held else begin
