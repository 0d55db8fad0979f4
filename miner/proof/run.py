"""A subject taken through all its runs."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

from harness.languages import screening
from harness.sandbox.images import clock as imageclock
from miner.proof.flakiness_causes import blame, passed
from miner.proof.judge import hopeless, judge
from miner.proof.observe import observe
from miner.proof.runs import DEFAULT_CONFIDENCE, MOST_RUNS, Repeats
from miner.proof.stability import UNSTABLE, disproved, told, weakened
from miner.proof.subject import prepare
from miner.proof.variations import PLAIN, schedule
from miner.proof.variations import variation as scheduled
from miner.sources.change import Rejection

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from harness.core.instance import TestSpec
    from harness.patches import patch
    from harness.sandbox.job import Sandbox
    from miner.proof.flakiness_causes import Blamed
    from miner.proof.judge import Proof
    from miner.proof.notebook import Notebook, ObservedRun, State
    from miner.proof.subject import Patches, Subject
    from miner.proof.variations import Variation


@dataclass(frozen=True, kw_only=True)
class Bench:
    """Where a subject is run: everything that all its runs share."""

    subject: Subject
    patches: Patches
    sandbox: Sandbox
    notebook: Notebook
    progress: Callable[[str], None]
    can_fake: Callable[[str], bool] = imageclock.can_fake
    """Whether an image can give its tests a clock."""

    @cached_property
    def clock(self) -> bool:
        """Whether another day can be tried: the tests run on the real date, and the image can give them one."""
        return self.subject.test.clock is None and self.can_fake(self.subject.image)

    def run(self, state: State, number: int, runs: int) -> ObservedRun:
        """Run `number` of a state, as its schedule has it.

        A varied run that gives no full answer, as its tests took too long on half a processor or no other test was to
        crash before, says nothing of single tests: a plain one takes its place, and the evidence tells.

        Raises:
            InfrastructureError: the engine failed.

        """
        self.progress(f"{state} {number + 1}/{runs}")
        variation = scheduled(number, clock=self.clock)
        observed = self._observe(state, number, variation)
        return self._observe(state, number, PLAIN) if observed.trouble and variation != PLAIN else observed

    def look(self, state: State, variation: Variation, repeat: int) -> ObservedRun:
        """A further run, to find out what matters; `blame.Look`.

        Raises:
            InfrastructureError: the engine failed.

        """
        self.progress(f"{state}, once more: {', '.join(variation.causes) or 'the same again'}")
        return self._observe(state, MOST_RUNS + repeat, variation)

    def _observe(self, state: State, number: int, variation: Variation) -> ObservedRun:
        return observe(self.subject, self.patches, state, number, self.sandbox, self.notebook, variation=variation)


def validate(
    subject: Subject,
    sandbox: Sandbox,
    *,
    runs: int,
    notebook: Notebook,
    progress: Callable[[str], None],
    confidence: float = DEFAULT_CONFIDENCE,
    quarantine: bool = False,
    can_fake: Callable[[str], bool] = imageclock.can_fake,
) -> Proof | Rejection:
    """Prove a task, or say why it is none.

    The first run of each state comes first, and it is plain, so that a hopeless subject costs two or three containers,
    not all of them. What is unstable costs some further runs, see `blame`. With `quarantine`, a task whose
    FAIL_TO_PASS is unstable is a proof that says so in `set_aside`. `can_fake` tells whether an image can give its
    tests a clock.

    Raises:
        InfrastructureError: the engine failed; nothing is said of the subject.

    """
    patches = prepare(subject)
    if isinstance(patches, Rejection):
        return patches
    bench = Bench(
        subject=subject, patches=patches, sandbox=sandbox, notebook=notebook, progress=progress, can_fake=can_fake
    )
    runs_seen, ended = _main_runs(bench, runs)
    verdict = ended or judge(runs_seen, runs=runs, brings=subject.brings)
    if isinstance(verdict, Rejection) and verdict.reason != UNSTABLE:
        return _with_compiled(verdict, patches.gold, subject.test)
    blamed = blame(runs_seen, bench.look)
    if ended is not None and blamed.sensitive:
        runs_seen, ended = _main_runs(bench, runs, blamed.sensitive)
        blamed = blame(runs_seen, bench.look) if ended is None else blamed
    repeats = Repeats(runs=1 + max(run.number for run in runs_seen), confidence=confidence)
    every = [*runs_seen, *_pinned_runs(bench, runs, runs_seen, blamed)]
    verdict = judge(
        every,
        runs=repeats.runs,
        brings=subject.brings,
        unstable=blamed.unstable,
        sensitive=blamed.sensitive,
        keep=True,
    )
    if isinstance(verdict, Rejection):
        return verdict
    blamed = disproved(blamed, verdict.flaky)
    aside = weakened(verdict, every, blamed)
    if aside is not None and not quarantine:
        return aside
    variations = schedule(repeats.runs, clock=bench.clock)
    listed = {*verdict.fail_to_pass, *verdict.pass_to_pass}
    evidence = {**verdict.evidence, **told(runs_seen, blamed, repeats, variations, listed=listed)}
    return replace(verdict, set_aside=aside, evidence=evidence)


def _pinned_runs(bench: Bench, runs: int, runs_seen: list[ObservedRun], blamed: Blamed) -> list[ObservedRun]:
    """Plain runs, as many as each state was to have, where a sensitive test that passes with the fix hangs on them."""
    if not blamed.sensitive & passed(runs_seen[0]):
        return []
    return [bench.look(state, PLAIN, repeat) for repeat in range(1, runs) for state in ("after", "before")]


def _with_compiled(ended: Rejection, gold: patch.Patch, test: TestSpec) -> Rejection:
    """The rejection, saying so where a fix had no effect because what it changes was compiled before it."""
    changed = screening.caveat(gold, test) if ended.reason == "no_fail_to_pass" else ""
    return replace(ended, detail=f"{ended.detail}; {changed}") if changed else ended


def _main_runs(
    bench: Bench, runs: int, sensitive: Collection[str] = frozenset()
) -> tuple[list[ObservedRun], Rejection | None]:
    """The runs of all states by turns, those that are known among them, and why they ended early where they did."""
    runs_seen: list[ObservedRun] = []
    for number in range(runs):
        for state in ("after", "before", "base"):
            runs_seen.append(bench.run(state, number, runs))
            if (rejection := hopeless(runs_seen, sensitive)) is not None:
                return runs_seen, rejection
    return runs_seen, None
