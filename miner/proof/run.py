"""A subject taken through all its runs."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import product

from harness.core.instance import TestSpec
from harness.core.test_ids import selectors
from harness.languages import screening
from harness.patches import patch
from harness.sandbox import engine
from harness.sandbox.job import Sandbox
from miner.proof.flakiness_causes import Blamed, blame, passed
from miner.proof.judge import Proof, budgets, differing, hopeless, judge, not_passed, seconds_budget
from miner.proof.notebook import STATES, Notebook, ObservedRun, State
from miner.proof.observe import observe
from miner.proof.runs import DEFAULT_CONFIDENCE, MOST_RUNS, Budget, Repeats, Spending
from miner.proof.stability import UNSTABLE, disproved, stability_evidence, weakened
from miner.proof.subject import Patches, Subject, prepare
from miner.proof.variations import PLAIN, Variation, schedule
from miner.proof.variations import variation as scheduled
from miner.sources.change import Rejection

_TURN: tuple[State, ...] = ("after", "before", "base")
_PROOF_SHARE, _CAUSES_SHARE = 0.6, 0.2
"""Of a budget, what the runs of a proof may take, and what the search for causes may take in any case. It may take all
that is left, as far as it decides over tests that the fix turns: the strength of a task that there is not is worth
nothing."""
_LEAST_LIMIT, _MOST_FACTOR = 60.0, 4.0
"""Seconds that a further run may take, and how many times a plain one."""


@dataclass(frozen=True, kw_only=True)
class Bench:
    """Where a subject is run: everything that all its runs share."""

    subject: Subject
    patches: Patches
    sandbox: Sandbox
    notebook: Notebook
    progress: Callable[[str], None]
    spending: Spending = field(default_factory=Spending)
    counted: set[tuple[State, int, Variation, tuple[str, ...]]] = field(default_factory=set)
    """Runs that were charged."""
    can_fake: Callable[[str], bool] = engine.can_fake_clock
    """Whether an image can give its tests a clock."""

    @cached_property
    def clock(self) -> bool:
        """Whether another day can be tried: the tests run on the real date, and the image can give them one."""
        return self.subject.test.clock is None and self.can_fake(self.subject.image)

    def selectors(self, test_ids: Collection[str]) -> tuple[str, ...]:
        """What is given to the framework to run these tests: functions, or rows of functions that take too long."""
        return selectors(test_ids, self.subject.test_files)

    def run(self, state: State, number: int, runs: int, only: tuple[str, ...] = ()) -> ObservedRun:
        """Run `number` of a state, as its schedule has it, of all tests or of these functions or rows alone.

        A varied run that gives no full answer, as its tests took too long on half a processor or no other test was to
        crash before, says nothing of single tests: a plain one takes its place, and the evidence tells.

        Raises:
            InfrastructureError: the engine failed.

        """
        of_which = ", tests that the fix makes pass" if only else ""
        self.progress(f"proof, {state} {number + 1}/{runs}{of_which}{self._left()}")
        variation = scheduled(number, clock=self.clock)
        if number and self.spending.is_long and not only:
            variation = replace(variation, cpus=None)
        observed = self._observe("proof", state, number, variation, only)
        if observed.trouble and variation != PLAIN:
            observed = self._observe("proof", state, number, PLAIN, only)
        if observed.trouble and only:
            observed = self._observe("proof", state, number, PLAIN)
        return observed

    def look(self, state: State, variation: Variation, repeat: int, only: tuple[str, ...] = ()) -> ObservedRun:
        """A further run, to find out what matters; `blame.Look`. The order matters among all tests.

        Raises:
            InfrastructureError: the engine failed.

        """
        self.progress(f"causes, {state}: {', '.join(variation.causes) or 'the same again'}{self._left()}")
        among_all = variation.order is not None
        return self._observe("causes", state, MOST_RUNS + repeat, variation, () if among_all else only)

    def _left(self) -> str:
        """What of the budget is left, for a person."""
        limit = self.spending.limit
        return f"; {self.spending.spent:.0f} of {limit:.0f} s" if self.spending.plain else ""

    def _observe(
        self, stage: str, state: State, number: int, variation: Variation, only: tuple[str, ...] = ()
    ) -> ObservedRun:
        run = (state, number, variation, only)
        observed = stored = self.notebook.get(*run)
        if observed is None:
            observed = observe(
                self.subject,
                self.patches,
                state,
                number,
                self.spending.metered(self.sandbox, stage),
                self.notebook,
                variation=variation,
                only=only,
                most_seconds=self._most_seconds(*run),
            )
        if run not in self.counted:
            self.counted.add(run)
            self.spending.waited += _waited(observed, self.spending.plain)
            if stored is not None:  # run by a call that was interrupted
                self.spending.charge(stage, stored.container_seconds)
        return observed

    def _most_seconds(self, state: State, number: int, variation: Variation, only: tuple[str, ...]) -> float | None:
        """Without the fix the tests have as long as evaluation gives them, by what they took with it.

        Once a test has not ended in that time, a few tests alone have as long as these would be given.
        """
        bounds = []
        if number:
            bounds.append(max(_LEAST_LIMIT, _MOST_FACTOR * self.spending.plain))
        first = self.notebook.get("after", 0, PLAIN)
        if state == "before" and first is not None and not first.trouble:
            bounds.append(budgets([first]).seconds)
        hung, with_fix = self.notebook.get("before", 0, PLAIN), self.notebook.get("after", number, variation, only)
        if state == "before" and only and hung and hung.endings and with_fix and not with_fix.trouble:
            bounds.append(seconds_budget(with_fix.seconds))
        return min(bounds, default=None)


def _waited(observed: ObservedRun, plain: float) -> float:
    """Seconds of a run that tests kept which never end: they come on top of the budget."""
    return max(0.0, observed.container_seconds - plain) if observed.endings else 0.0


def validate(
    subject: Subject,
    sandbox: Sandbox,
    *,
    runs: int,
    notebook: Notebook,
    progress: Callable[[str], None],
    confidence: float = DEFAULT_CONFIDENCE,
    quarantine: bool = False,
    can_fake: Callable[[str], bool] = engine.can_fake_clock,
    budget: Budget | None = None,
    searched: Mapping[str, float] | None = None,
) -> Proof | Rejection:
    """Prove a task, or say why it is none.

    The first run of each state comes first, and it is plain, so that a hopeless subject costs two or three containers,
    not all of them. What is unstable costs some further runs, see `blame`. With `quarantine`, a task whose
    FAIL_TO_PASS is unstable is a proof that says so in `set_aside`. `can_fake` tells whether an image can give its
    tests a clock. Tests that take long for their `budget` are narrowed down: those that the fix turns have every run,
    all of them as many with the fix as there is room for. `searched` are the seconds, by stage, that went into it
    before the first run. `Proof.spending` says what it took and what was given up.

    Raises:
        InfrastructureError: the engine failed; nothing is said of the subject.

    """
    patches = prepare(subject)
    if isinstance(patches, Rejection):
        return patches
    spending = Spending(budget=budget or Budget(), runs=runs, stages=dict(searched or {}))
    bench = Bench(
        subject=subject,
        patches=patches,
        sandbox=sandbox,
        notebook=notebook,
        progress=progress,
        spending=spending,
        can_fake=can_fake,
    )
    runs_seen, ended = _main_runs(bench, runs)
    verdict = ended or judge(runs_seen, runs=runs, brings=subject.brings, rewritten=subject.rewritten)
    if isinstance(verdict, Rejection) and verdict.reason != UNSTABLE:
        return _explained(verdict, patches.gold, subject.test, runs_seen)
    blamed = _blame(bench, runs_seen)
    if ended is not None and blamed.sensitive:
        runs_seen, ended = _main_runs(bench, runs, blamed.sensitive)
        blamed = _blame(bench, runs_seen) if ended is None else blamed
    repeats = Repeats(runs=1 + max(run.number for run in runs_seen), confidence=confidence)
    every = [*runs_seen, *_pinned_runs(bench, runs, runs_seen, blamed)]
    verdict = judge(
        every,
        runs=repeats.runs,
        brings=subject.brings,
        rewritten=subject.rewritten,
        unstable=blamed.unstable,
        sensitive=blamed.sensitive,
        keep=True,
    )
    if isinstance(verdict, Rejection):
        return verdict
    blamed = disproved(blamed, verdict.flaky)
    aside = weakened(verdict, every, blamed)
    if aside is not None and not quarantine:
        if not spending.given_up:
            return aside
        skipped = "; ".join(spending.given_up)
        return replace(aside, detail=f"{aside.detail}; skipped to stay within the budget: {skipped}")
    variations = schedule(repeats.runs, clock=bench.clock)
    listed = {*verdict.fail_to_pass, *verdict.pass_to_pass}
    evidence = {**verdict.evidence, **stability_evidence(runs_seen, blamed, repeats, variations, listed=listed)}
    evidence["price"] = spending.as_json()
    return replace(verdict, set_aside=aside, evidence=evidence, spending=spending)


def _turned(bench: Bench, runs_seen: Sequence[ObservedRun]) -> tuple[str, ...]:
    """What runs the tests that pass in the first run with the fix and not in the first without it."""
    first: dict[str, ObservedRun] = {}
    for run in runs_seen:
        first.setdefault(run.state, run)
    return bench.selectors(passed(first["after"]) - passed(first["before"]))


def _blame(bench: Bench, runs_seen: Sequence[ObservedRun]) -> Blamed:
    """On what unstable tests hang; of long suites those alone whose answer can change what becomes of the task."""
    spending = bench.spending
    least = _CAUSES_SHARE * spending.limit - spending.stages.get("causes", 0.0)
    seconds = max(least, spending.limit - spending.spent)
    if not spending.is_long:
        return _cut(spending, blame(runs_seen, bench.look, seconds=seconds))
    unstable = {test_id for state in STATES for test_id in differing([run for run in runs_seen if run.state == state])}
    alone = tuple(sorted(set(_turned(bench, runs_seen)) & set(bench.selectors(unstable))))
    if others := set(bench.selectors(unstable)) - set(alone):
        spending.give_up(f"the causes of {len(others)} unstable tests that the fix does not make pass")
    if not alone:
        return blame(runs_seen)

    def look(state: State, variation: Variation, repeat: int) -> ObservedRun:
        return bench.look(state, variation, repeat, alone)

    return _cut(spending, blame(runs_seen, look, alone=alone, seconds=seconds))


def _cut(spending: Spending, blamed: Blamed) -> Blamed:
    """What a search found, noted as given up where it came to its bound."""
    if blamed.is_cut:
        spending.give_up("the search for causes, before its end")
    return blamed


def _pinned_runs(bench: Bench, runs: int, runs_seen: list[ObservedRun], blamed: Blamed) -> list[ObservedRun]:
    """Plain runs, as many as each state was to have, where a sensitive test that passes with the fix hangs on them."""
    if not blamed.sensitive & passed(runs_seen[0]):
        return []
    only = bench.selectors(blamed.sensitive & passed(runs_seen[0])) if bench.spending.is_long else ()
    return [bench.look(state, PLAIN, repeat, only) for repeat in range(1, runs) for state in ("after", "before")]


def _explained(ended: Rejection, gold: patch.Patch, test: TestSpec, runs_seen: Sequence[ObservedRun]) -> Rejection:
    """The rejection, saying what does not pass with a fix, and so where what it changes was compiled before it."""
    if ended.reason != "no_fail_to_pass":
        return ended
    told = (ended.detail, not_passed(runs_seen[0]), screening.caveat(gold, test))
    return replace(ended, detail="; ".join(filter(None, told)))


def _main_runs(
    bench: Bench, runs: int, sensitive: Collection[str] = frozenset()
) -> tuple[list[ObservedRun], Rejection | None]:
    """The runs of all states by turns, those that are known among them, and why they ended early where they did."""
    runs_seen: list[ObservedRun] = []
    for number, state in product(range(runs), _TURN):
        if number and bench.spending.is_long:
            break
        observed = bench.run(state, number, runs)
        runs_seen.append(observed)
        if not number:
            seconds = observed.container_seconds - _waited(observed, bench.spending.plain)
            bench.spending.plain = max(bench.spending.plain, seconds)
        if (rejection := hopeless(runs_seen, sensitive)) is not None:
            return runs_seen, rejection
    if runs == 1 or not bench.spending.is_long:
        return runs_seen, None
    return _narrow_runs(bench, runs, runs_seen, sensitive)


def _narrow_runs(
    bench: Bench, runs: int, runs_seen: list[ObservedRun], sensitive: Collection[str]
) -> tuple[list[ObservedRun], Rejection | None]:
    """Of a long suite: first the tests that the fix turns, in every run; then all, with the fix, within the budget."""
    spending, turned = bench.spending, _turned(bench, runs_seen)
    spending.give_up(
        f"runs 2 to {runs} without the fix of all tests but those that it makes pass ({len(turned)}),"
        " and with it on half a processor"
    )
    for number, state in product(range(1, runs), _TURN[:2]):
        runs_seen.append(bench.run(state, number, runs, turned))
        if (rejection := hopeless(runs_seen, sensitive)) is not None:
            return runs_seen, rejection
    for number in range(1, runs):
        if number > 1 and not spending.allows(spending.plain, _PROOF_SHARE):
            skipped = f"runs {number + 1} to {runs}" if number + 1 < runs else f"run {runs}"
            spending.give_up(f"{skipped} of all tests with the fix")
            break
        runs_seen.append(bench.run("after", number, runs))
    return runs_seen, hopeless(runs_seen, sensitive)
