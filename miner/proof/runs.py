"""How many runs a proof has, what so many say, and what they may cost."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Self

from harness.core.errors import InputError
from harness.core.instance import Budgets
from harness.sandbox.job import Job, JobResult, Sandbox
from harness.stats import clean_bound, clean_runs
from miner.proof.notebook import STATES, ObservedRun
from miner.proof.subject import rejection
from miner.sources.change import Rejection

DEFAULT_RUNS = 3
DEFAULT_CONFIDENCE = 0.95
PROOF_BUDGETS = Budgets(seconds=600.0, pids=2048)
"""Of one run, before it is known how long the tests take."""
MOST_RUNS = 1000
"""More runs than this are a mistake: a bound of 0.3% at 95%."""


_RUN_PRICE = 4.0
"""Plain runs that one more run of each state costs: one of three is on half a processor, in half of all turns."""
_LONG_SHARE = 0.5
"""Of a budget; where all tests in all runs would take more, the suite is long."""


@dataclass(frozen=True, kw_only=True)
class Budget:
    """What the proof of one task may cost, from its first run to its strength."""

    plain_runs: float = 15.0
    """As a multiple of one plain run, in the containers' seconds."""
    seconds: float = 30.0
    """On top of that."""


@dataclass(kw_only=True)
class Spending:
    """What the proof of one task has cost, in the containers' seconds. Used by one thread at a time."""

    budget: Budget = field(default_factory=Budget)
    runs: int = DEFAULT_RUNS
    """Of each state; those asked for beyond the default come on top of the budget."""
    plain: float = 0.0
    """One plain run."""
    waited: float = 0.0
    """What tests kept that never end without the fix; on top of the budget."""
    stages: dict[str, float] = field(default_factory=dict)
    """By stage."""
    given_up: list[str] = field(default_factory=list)
    """What was not done for want of budget, one sentence each."""

    @property
    def limit(self) -> float:
        """Seconds that all of it may take."""
        return self._granted + self._asked_besides + self.waited

    @property
    def _granted(self) -> float:
        return self.budget.plain_runs * self.plain + self.budget.seconds

    @property
    def _asked_besides(self) -> float:
        return max(0, self.runs - DEFAULT_RUNS) * _RUN_PRICE * self.plain

    @property
    def spent(self) -> float:
        return sum(self.stages.values())

    @property
    def is_long(self) -> bool:
        """Whether all tests in all runs would take more than the runs' part of the budget, or have taken all of it."""
        whole = (len(STATES) + _RUN_PRICE * (self.runs - 1)) * self.plain
        return self.spent > self.limit or whole > _LONG_SHARE * self._granted + self._asked_besides

    def allows(self, seconds: float, share: float = 1.0) -> bool:
        """Whether so much more stays within the budget, or a share of it."""
        return self.spent + seconds <= share * self.limit

    def charge(self, stage: str, seconds: float) -> None:
        """Count what a stage took."""
        self.stages[stage] = self.stages.get(stage, 0.0) + seconds

    def give_up(self, text: str) -> None:
        """Note what is not done."""
        if text not in self.given_up:
            self.given_up.append(text)

    def metered(self, sandbox: Sandbox, stage: str) -> Sandbox:
        """The sandbox, each job of which is charged to a stage."""
        return _Metered(sandbox, self, stage)

    def as_json(self) -> dict[str, Any]:
        """`evidence.price`."""
        return {
            "plain_seconds": round(self.plain, 2),
            "budget_seconds": round(self.limit, 1),
            "seconds": {stage: round(seconds, 1) for stage, seconds in self.stages.items()},
            "given_up": list(self.given_up),
        }


class _Metered:
    """A sandbox that charges each job to a stage."""

    def __init__(self, sandbox: Sandbox, spending: Spending, stage: str) -> None:
        self._sandbox, self._spending, self._stage = sandbox, spending, stage

    def expect(self, job: Job) -> None:
        self._sandbox.expect(job)

    def run(self, job: Job) -> JobResult:
        result = self._sandbox.run(job)
        self._spending.charge(self._stage, sum(result.timings.values()))
        return result

    def is_healthy(self) -> bool:
        return self._sandbox.is_healthy()

    def cancel(self) -> None:
        self._sandbox.cancel()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """The sandbox stays open: whoever opened it closes it."""


@dataclass(frozen=True, kw_only=True)
class Repeats:
    """How often each state is run."""

    runs: int = DEFAULT_RUNS
    confidence: float = DEFAULT_CONFIDENCE

    @property
    def bound(self) -> float:
        """The largest chance of another result in a run that so many equal results leave open at this confidence.

        Source: `harness.stats.clean_bound`.
        """
        return clean_bound(self.runs, self.confidence)

    def instead_of(self, flake_bound: float) -> str:
        """That so many runs were asked for and not what a bound needs, for a person."""
        return f"--runs {self.runs} counts, not --flake-bound {flake_bound:g}: {self.says()}"

    def says(self) -> str:
        """What so many runs say, for a person."""
        runs = "1 clean run says" if self.runs == 1 else f"{self.runs} clean runs say"
        return (
            f"{runs} of a test, at {self.confidence:.4g} confidence, that it fails at most {100 * self.bound:.3g}% of"
            " the time"
        )


def repeats(*, runs: int | None = None, flake_bound: float | None = None, confidence: float | None = None) -> Repeats:
    """How many runs are wanted: as many as said, else as the bound needs, else three.

    Raises:
        InputError: a number is out of its range, or the bound needs more runs than anybody waits for.

    """
    sure = DEFAULT_CONFIDENCE if confidence is None else confidence
    _share(sure, "--confidence", DEFAULT_CONFIDENCE)
    if flake_bound is not None:
        _share(flake_bound, "--flake-bound", 0.05)
    if runs is not None:
        if not 1 <= runs <= MOST_RUNS:
            raise InputError(f"--runs expects a number from 1 to {MOST_RUNS}, found {runs}")
        return Repeats(runs=runs, confidence=sure)
    if flake_bound is None:
        return Repeats(confidence=sure)
    needed = clean_runs(flake_bound, sure)
    if needed > MOST_RUNS:
        raise InputError(
            f"--flake-bound {flake_bound:g} at --confidence {sure:g} needs {needed} runs of each state",
            hint=f"at most {MOST_RUNS} are done, which leave {100 * clean_bound(MOST_RUNS, sure):.2g}% open",
        )
    return Repeats(runs=needed, confidence=sure)


def _share(value: float, flag: str, example: float) -> None:
    if not 0 < value < 1:
        raise InputError(f"{flag} expects a share between 0 and 1, such as {example}, found {value:g}")


def troubled(run: ObservedRun) -> Rejection | None:
    """Why a run that gave no full answer ends the proof; None where it gave one."""
    if not run.trouble:
        return None
    where = {"base": "as it was", "before": "with the hidden tests alone", "after": "with the fix"}[run.state]
    return rejection(run.trouble, f"{where}: {run.detail}".strip(": "))
