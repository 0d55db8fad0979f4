"""What can be read in functions of visible tests, or in parts of other files: what is near to a value, or beside it."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from harness.core.grouping import grouped
from miner.languages.guessing.words import words_in

if TYPE_CHECKING:
    from miner.languages.guessing.needed import Needed

TELLING = 6
"""Characters from which on a literal that stands somewhere is no chance."""
MOST_LIKE = 2000
"""Characters of what the base gives that a text may be like."""


@dataclass(frozen=True)
class Visible:
    """Functions of tests that the base has as well, or blocks of other files, each with what is written out there."""

    functions: tuple[tuple[str, tuple[Any, ...]], ...]
    _nearest: dict[str, Any] = field(default_factory=dict, compare=False, repr=False)
    _beside: dict[tuple[str, ...], list[Any]] = field(default_factory=dict, compare=False, repr=False)

    @cached_property
    def _values(self) -> dict[type, list[tuple[Any, frozenset[str]]]]:
        """Texts, lists and mappings by kind, with their words."""
        by_kind: dict[type, dict[str, tuple[Any, frozenset[str]]]] = {}
        for value in itertools.chain(*(literals for _, literals in self.functions)):
            if isinstance(value, str | list | tuple | dict) and len(text := repr(value)) >= TELLING:
                by_kind.setdefault(type(value), {}).setdefault(text, (value, words_in(text)))
        return {kind: list(values.values()) for kind, values in by_kind.items()}

    @cached_property
    def _rarity(self) -> Counter[str]:
        return Counter(word for kind in self._values.values() for _, words in kind for word in words)

    @cached_property
    def _with_word(self) -> dict[type, dict[str, list[int]]]:
        """By kind and word: the values that have it."""
        places: dict[type, dict[str, list[int]]] = {}
        for kind, values in self._values.items():
            for place, (_, words) in enumerate(values):
                for word in words:
                    places.setdefault(kind, {}).setdefault(word, []).append(place)
        return places

    @cached_property
    def _weights(self) -> dict[type, list[float]]:
        return {kind: [self._weight(words) for _, words in values] for kind, values in self._values.items()}

    def nearest(self, answer: Any) -> Any:
        """The value of its kind that is nearest to another: by their words, of which rare ones count more."""
        text = repr(answer)[:MOST_LIKE]
        if text not in self._nearest:
            words = words_in(text)
            whole, weights = self._weight(words), self._weights[type(answer)]
            shared: dict[int, float] = {0: 0.0}
            for word in words:
                for place in self._with_word[type(answer)].get(word, ()):
                    shared[place] = shared.get(place, 0.0) + 1 / self._rarity[word]
            best = max(shared, key=lambda place: (shared[place] / (1 + whole + weights[place] - shared[place]), -place))
            self._nearest[text] = self._values[type(answer)][best][0]
        return self._nearest[text]

    def _weight(self, words: Iterable[str]) -> float:
        return sum(1 / self._rarity[word] for word in words if word in self._rarity)

    @cached_property
    def _with_literal(self) -> dict[str, list[int]]:
        """By what is written out: the functions that have it."""
        return grouped(
            (literal, place)
            for place, (_, literals) in enumerate(self.functions)
            for literal in dict.fromkeys(map(repr, literals))
        )

    def beside(self, needed: Needed) -> list[Any]:
        """What the function that has most of what is written in another has besides."""
        own = tuple(dict.fromkeys(map(repr, needed.literals)))
        if own not in self._beside:
            shared: Counter[int] = Counter()
            for literal in own:
                shared.update(dict.fromkeys(self._with_literal.get(literal, ()), len(literal)))
            best = max(shared, key=lambda place: (shared[place], -place), default=None)
            literals = self.functions[best][1] if best is not None else ()
            self._beside[own] = [value for value in literals if repr(value) not in own]
        return self._beside[own]
