"""On what an unstable test depends: further runs, each varied in one thing alone."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from harness.core.grouping import grouped
from harness.core.instance import TestStatus
from harness.core.test_ids import function
from miner.proof import ids
from miner.proof.notebook import ObservedRun, State
from miner.proof.variations import PINNED, Cause, Variation

MOST_RUNS = 20
"""Further runs of one subject."""
_PLAIN_RUNS = 4
"""Equal runs that must agree before a difference is laid to anything but chance. With the two that confirm a cause, a
test that passes every other time is taken for one that hangs on something in 1 of 32 cases."""


Look = Callable[[State, Variation, int], ObservedRun]
"""Does one further run of a state; a number tells equal runs apart."""


@dataclass(frozen=True, kw_only=True)
class Blamed:
    """What was found out."""

    causes: Mapping[str, Cause] = field(default_factory=dict)
    """By test id, and by file that could not be collected for want of a network."""
    runs: int = 0
    """Further runs that it took."""
    is_cut: bool = False
    """Whether the search came to its bound before all had a cause."""

    @property
    def unstable(self) -> frozenset[str]:
        """Ids whose result differs between runs as evaluation does them, by their order, or by real time."""
        causes = {*_LACKING, *PINNED}
        return frozenset(test_id for test_id, cause in self.causes.items() if cause not in causes)

    @property
    def sensitive(self) -> frozenset[str]:
        """Ids whose result hangs on something that is the same in every run of evaluation."""
        return frozenset(test_id for test_id, cause in self.causes.items() if cause in PINNED)


def blame(
    runs: Sequence[ObservedRun],
    look: Look | None = None,
    *,
    most: int = MOST_RUNS,
    alone: Collection[str] = (),
    seconds: float = math.inf,
) -> Blamed:
    """Find out on what each test depends whose result is not the same in all runs of a state.

    A test that differs between equal runs is `random`. Else the first varied run in which it differs is taken apart:
    one run in all that evaluation does not pin, which tells an unstable test from a sensitive one; then a run in each
    variation that is left alone, the likeliest first. The cause is the first with which the test differs, if two more
    runs confirm it. `unknown` is what no one variation does, or what is left when `most` further runs are done, or
    when they have taken `seconds`. Without `look` none are done. With `alone`, these functions or rows are all that is
    explained, and `look` runs no others but where the order matters.

    Raises:
        InfrastructureError: a run could not be done.

    """
    search = _Search(observed=runs, look=look, most=most, alone=frozenset(alone), seconds=seconds)
    for state in ("after", "before", "base"):
        search.explain(state)
    return Blamed(
        causes=dict(sorted({**_offline(runs), **search.causes}.items())), runs=search.runs, is_cut=search.is_cut
    )


def _offline(runs: Iterable[ObservedRun]) -> dict[str, Cause]:
    """What never passes with the fix and told of a network, or of a service, that is not there."""
    after = [run for run in runs if run.state == "after"]
    well = {test_id for run in after for test_id in passed(run)}
    causes = dict.fromkeys({test_id for run in after for test_id in run.refused} - well, Cause.SERVICE)
    return causes | dict.fromkeys({test_id for run in after for test_id in run.network} - well, Cause.NETWORK)


_LACKING = (Cause.NETWORK, Cause.SERVICE)


def passed(run: ObservedRun) -> frozenset[str]:
    """The ids that passed."""
    return frozenset(test_id for test_id, status in run.statuses.items() if status is TestStatus.PASSED)


@dataclass(kw_only=True)
class _Search:
    """Looks for causes, as long as it may."""

    observed: Sequence[ObservedRun]
    look: Look | None
    most: int
    alone: frozenset[str]
    seconds: float
    causes: dict[str, Cause] = field(default_factory=dict)
    runs: int = 0
    is_cut: bool = False

    def _differ(self, normal: frozenset[str], run: ObservedRun) -> frozenset[str]:
        """Ids to be explained that have another result in a run."""
        return frozenset(
            test_id
            for test_id in normal ^ passed(run)
            if run.tells_of(test_id) and (not self.alone or {test_id, function(test_id)} & self.alone)
        )

    def explain(self, state: State) -> None:
        """Give each unstable id of a state that has no cause yet its cause."""
        runs = [run for run in self.observed if run.state == state and not run.trouble]
        if not runs:
            return
        normal = passed(runs[0])
        self._name(ids.called_by_chance(runs), Cause.RANDOM)
        equal = [run for run in runs if run.variation == runs[0].variation]
        self._by_chance(normal, equal)
        while self._open(normal, runs) and len(equal) < _PLAIN_RUNS and self._may_go_on():
            equal.append(self._run(state, runs[0].variation, len(equal)))
            self._by_chance(normal, equal[-1:])
            self._called_anew(equal, runs)
        first: dict[str, Variation] = {}
        for run in runs:
            for test_id in self._differ(normal, run) - self.causes.keys():
                first.setdefault(test_id, run.variation)
        by_variation = grouped((variation, test_id) for test_id, variation in first.items())
        for variation, tests in sorted(by_variation.items(), key=lambda entry: -len(entry[1])):
            self._take_apart(state, variation, set(tests), normal)

    def _take_apart(self, state: State, variation: Variation, tests: set[str], normal: frozenset[str]) -> None:
        """Try the parts of a variation, one alone in each run; then try what was found once more."""
        with_: dict[str, set[Cause]] = {}
        unpinned = self._differing_unpinned(state, variation, tests, normal)
        for cause in variation.causes:
            possible = tests - unpinned if cause in PINNED else tests & unpinned
            if self._all_known(possible - with_.keys()):
                continue
            for test_id in self._differing(state, variation.only(cause), 0, normal) or ():
                if test_id not in self.causes:
                    with_.setdefault(test_id, set()).add(cause)
        self._confirm(state, variation, with_, normal, unpinned)
        if not self._all_known(tests):
            again = self._differing(state, variation, 1, normal)
            if again is not None:
                self._name(tests - again, Cause.RANDOM)
            self._name(tests, Cause.UNKNOWN)

    def _differing_unpinned(
        self, state: State, variation: Variation, tests: set[str], normal: frozenset[str]
    ) -> set[str]:
        """Those of the tests that differ with everything as evaluation pins it; all of them where that is not known."""
        unpinned = [cause for cause in variation.causes if cause not in PINNED]
        if not unpinned:
            return set()
        if len(unpinned) == len(variation.causes):
            return tests
        groups = [unpinned]
        if self.alone and Cause.ORDER in unpinned:  # all tests are run for the order alone, and at full speed
            groups = [[Cause.ORDER], [cause for cause in unpinned if cause is not Cause.ORDER]]
        differing: set[str] = set()
        for group in filter(None, groups):
            in_group = self._differing(state, variation.only(*group), 0, normal)
            if in_group is None:
                return tests
            differing |= in_group
        return tests & differing

    def _confirm(
        self,
        state: State,
        variation: Variation,
        with_: Mapping[str, set[Cause]],
        normal: frozenset[str],
        unpinned: set[str],
    ) -> None:
        """Two runs, each with half of what was found: a test whose result is not as foretold is random.

        `unpinned` are tests that differ, or may do so, with everything as evaluation pins it, so none is sensitive.
        """
        causes_found = [cause for cause in variation.causes if any(cause in causes for causes in with_.values())]
        halves = (causes_found[::2], causes_found[1::2] or causes_found[::2]) if causes_found else ()
        agreed = 0
        for repeat, half in enumerate(halves, start=1):
            differing = self._differing(state, variation.only(*half), repeat, normal)
            if differing is None:
                continue
            agreed += 1
            wrong = {test_id for test_id, causes in with_.items() if (test_id in differing) is causes.isdisjoint(half)}
            self._name(wrong, Cause.RANDOM)
        if halves and agreed == len(halves):
            for test_id, causes in with_.items():
                first = min(causes, key=lambda cause: (cause in PINNED, causes_found.index(cause)))
                self._name([test_id], Cause.UNKNOWN if first in PINNED and test_id in unpinned else first)

    def _differing(self, state: State, variation: Variation, repeat: int, normal: frozenset[str]) -> set[str] | None:
        """Ids with another result in one more run; None where it can't be done, or tells nothing."""
        if not self._may_go_on():
            return None
        run = self._run(state, variation, repeat)
        return None if run.trouble else set(self._differ(normal, run))

    def _open(self, normal: frozenset[str], runs: Iterable[ObservedRun]) -> bool:
        return any(not self._all_known(self._differ(normal, run)) for run in runs)

    def _by_chance(self, normal: frozenset[str], equal: Iterable[ObservedRun]) -> None:
        for run in equal:
            if not run.trouble:
                # alone, one that needs other tests differs, too
                self._name(self._differ(normal, run), Cause.UNKNOWN if run.only else Cause.RANDOM)

    def _called_anew(self, equal: Sequence[ObservedRun], runs: Sequence[ObservedRun]) -> None:
        """What is called otherwise in each of equal runs is so in varied ones, too: no variation has to be tried."""
        functions = {function(test_id) for test_id in ids.changing(equal) if test_id in self.causes}
        self._name((test_id for test_id in ids.changing(runs) if function(test_id) in functions), Cause.RANDOM)

    def _name(self, tests: Iterable[str], cause: Cause) -> None:
        """The first cause found of an id stays."""
        for test in tests:
            self.causes.setdefault(test, cause)

    def _all_known(self, tests: Iterable[str]) -> bool:
        return all(test in self.causes for test in tests)

    def _may_go_on(self) -> bool:
        if self.look is None:
            return False
        goes_on = self.runs < self.most and self.seconds > 0
        self.is_cut = self.is_cut or not goes_on
        return goes_on

    def _run(self, state: State, variation: Variation, repeat: int) -> ObservedRun:
        assert self.look is not None  # noqa: S101 - `_may_go_on` saw to that
        self.runs += 1
        run = self.look(state, variation, repeat)
        self.seconds -= run.seconds
        return run
