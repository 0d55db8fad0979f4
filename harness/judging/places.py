"""Where a test was judged: by the host on values, or in the container that also ran the patch. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from harness.core.instance import Hidden, Task

CARD = "judged"
"""The field of `quality` in task.yaml that tells where a task is judged."""
_GUESSABLE_BITS = 8
"""Below so many bits one try of a forger is not unlikely to guess what the tests want."""


class Place(StrEnum):
    """Where it was decided whether a test passes, strongest first."""

    HOST = "host"
    """The assertion that sees the bug is decided outside of the container, by values that came out of it."""
    MIXED = "mixed"
    """Values come out, but what sees the bug is the result of a comparison inside, or two of them held together."""
    INSIDE = "inside"
    """The container says whether it passed."""
    DECLARED = "declared"
    """The same, by a file that goldseam.toml declares and that all code which runs there could write."""
    OWN_RUNNER = "own_runner"
    """The container says it, by a runner that is the repository's own and that the patch may have changed."""

    @property
    def is_common(self) -> bool:
        """Whether counts name it also where nothing is judged there."""
        return self not in (Place.DECLARED, Place.OWN_RUNNER)

    def reaches(self, required: Place) -> bool:
        """Whether it is as strong as another, or stronger."""
        return weakest((self, required)) is required


@dataclass(frozen=True, kw_only=True)
class Card:
    """What the public side of a task tells of where it is judged; None where it does not say."""

    place: Place | None = None
    guessable: bool | None = None


def place_of_test(task: Task, test_id: str) -> Place:
    """Where one listed test is judged."""
    test = task.instance.test
    if test.own_runner or test.declared:
        return Place.OWN_RUNNER if test.own_runner else Place.DECLARED
    return _by_expectations(task.hidden, test_id)


def _by_expectations(hidden: Hidden, test_id: str) -> Place:
    expected = hidden.expectations.tests.get(test_id)
    return Place(expected.place) if expected else Place.INSIDE


def place_of(task: Task) -> Place:
    """Where a task is judged: where the strongest of its FAIL_TO_PASS tests is, as a pass needs all of them."""
    places = {place_of_test(task, test_id) for test_id in task.hidden.fail_to_pass}
    return next((place for place in Place if place in places), Place.INSIDE)


def weakest(places: Iterable[Place]) -> Place | None:
    """The weakest of some places; None of none."""
    return max(places, key=tuple(Place).index, default=None)


def by_place(task: Task, listed: Iterable[str]) -> Mapping[str, int]:
    """How many of some listed tests are judged in each place."""
    count = Counter(place_of_test(task, test_id) for test_id in listed)
    return {place.value: count[place] for place in Place if place.is_common or count[place]}


def ids_by_place(hidden: Hidden) -> Mapping[str, tuple[str, ...]]:
    """The listed tests by what the expectations judge of them: hidden content."""
    listed = hidden.listed
    return {
        place.value: tuple(test_id for test_id in listed if _by_expectations(hidden, test_id) is place)
        for place in (Place.HOST, Place.MIXED, Place.INSIDE)
    }


def carded(task: Task) -> Task:
    """A task whose public side tells where it is judged, in counts alone; as it is where nothing is listed."""
    hidden = task.hidden
    if not hidden.fail_to_pass:
        return task
    quality = {**task.instance.quality, CARD: _card(task)}
    return replace(task, instance=replace(task.instance, quality=quality))


def read_card(quality: Mapping[str, Any]) -> Card:
    """The card in the `quality` of task.yaml."""
    card = quality.get(CARD)
    place, guessable = (card.get("place"), card.get("guessable")) if isinstance(card, dict) else (None, None)
    return Card(
        place=Place(place) if place in list(Place) else None,
        guessable=guessable if isinstance(guessable, bool) else None,
    )


def _card(task: Task) -> dict[str, Any]:
    hidden = task.hidden
    told = hidden.evidence.get("guess_bits")
    bits = float(told) if isinstance(told, int | float) and not isinstance(told, bool) else None
    return {
        "place": place_of(task).value,
        "FAIL_TO_PASS": dict(by_place(task, hidden.fail_to_pass)),
        "PASS_TO_PASS": dict(by_place(task, hidden.pass_to_pass)),
        "bits": bits,
        "guessable": None if bits is None else bits < _GUESSABLE_BITS,
    }
