"""Where a test was judged: by the host on values, or in the container that also ran the patch. Pure."""

from __future__ import annotations

from collections import Counter
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from harness.instance import Hidden


class Place(StrEnum):
    """Where it was decided whether a test passes, strongest first."""

    HOST = "host"
    """The assertion that sees the bug is decided outside of the container, by values that came out of it."""
    MIXED = "mixed"
    """Values come out, but what sees the bug is the result of a comparison, or an error, inside."""
    INSIDE = "inside"
    """The container says whether it passed."""


def place_of_test(hidden: Hidden, test_id: str) -> Place:
    """Where one listed test is judged."""
    expected = hidden.expectations.tests.get(test_id)
    return Place(expected.place) if expected else Place.INSIDE


def place_of(hidden: Hidden) -> Place:
    """Where a task is judged: where the strongest of its FAIL_TO_PASS tests is, as a pass needs all of them."""
    found = {place_of_test(hidden, test_id) for test_id in hidden.fail_to_pass}
    return next((place for place in Place if place in found), Place.INSIDE)


def by_place(hidden: Hidden, listed: Iterable[str]) -> Mapping[str, int]:
    """How many of some listed tests are judged in each place."""
    count = Counter(place_of_test(hidden, test_id) for test_id in listed)
    return {place.value: count[place] for place in Place}
