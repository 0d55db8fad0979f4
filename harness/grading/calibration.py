"""The control of a campaign: gold run again on a few tasks, to see whether this machine is as fast as the proof's.

A time budget is a multiple of what gold took when the task was proved. On a machine that is slower, or busy, the same
budget would turn right patches into time-outs; so it grows with the slowdown that gold shows here and now. And since a
machine may become busy later, no time-out is believed before gold was run right after it.
"""

from __future__ import annotations

import hashlib
import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from harness.core.errors import InfrastructureError
from harness.core.instance import PASSING, Task
from harness.grading import scoring, trial
from harness.patches import patch
from harness.sandbox.job import MissingImageError, Sandbox, SandboxError

DRIFT = 2.0
"""A slowdown from which on it is told."""
_SHORTEST = 0.5
"""Seconds below which a time says more of the engine than of the tests."""
_MOST = 10.0
_TIMES = 10.0
"""Of gold's time, a budget's at least, as a proof sets it."""
_WORSE = 1.5
"""So much slower than thought gold has to be for a patch to be given another chance."""


@dataclass(frozen=True, kw_only=True)
class Reading:
    """Gold on one task, here and now."""

    instance_id: str
    seconds: float
    proof_seconds: float
    """What it took at most when the task was proved."""
    resolved: bool
    budget_seconds: float = 0.0
    """The task's time budget, which its ledger binds; 0 where it is not known."""

    @property
    def ratio(self) -> float:
        return max(self.seconds, _SHORTEST) / max(self.proof_seconds, _SHORTEST)

    @property
    def growth(self) -> float:
        """The same, as far as the budget has to grow for ten times gold's time: nothing binds what the proof took."""
        if not self.budget_seconds:
            return self.ratio
        return min(self.ratio, max(1.0, _TIMES * self.seconds / self.budget_seconds))


def sample_ids(ids: Iterable[str], count: int) -> tuple[str, ...]:
    """Some of the tasks that are timed, the same ones each time."""
    return tuple(sorted(ids, key=lambda task_id: hashlib.sha256(task_id.encode()).digest())[:count])


def is_timed(task: Task) -> bool:
    """Whether its proof tells gold's time."""
    return _proof_seconds(task) > 0


def _proof_seconds(task: Task) -> float:
    seconds = task.hidden.evidence.get("gold_seconds")
    return float(seconds) if isinstance(seconds, int | float) else 0.0


def read(tasks: Iterable[Task], sandbox: Sandbox) -> tuple[Reading, ...]:
    """Run gold on each task once, as a patch of a model is run.

    A task that the engine fails on is left out here: its predictions will say so themselves.

    Raises:
        InfrastructureError: the engine is gone.

    """
    readings = []
    for task in tasks:
        try:
            timed = _gold(task, sandbox)
        except (MissingImageError, SandboxError):
            if not sandbox.is_healthy():
                raise
            continue
        judged = scoring.decide(task, scoring.Round(trial=timed, attempts=1))
        readings.append(_reading(task, round(timed.seconds, 3), resolved=judged.grade.outcome in PASSING))
    return tuple(readings)


def _gold(task: Task, sandbox: Sandbox) -> trial.Trial:
    return trial.run(scoring.trial_spec(task, patch.parse(task.hidden.gold_patch, trusted=True)), sandbox)


def _reading(task: Task, seconds: float, *, resolved: bool) -> Reading:
    return Reading(
        instance_id=task.instance_id,
        seconds=seconds,
        proof_seconds=_proof_seconds(task),
        resolved=resolved,
        budget_seconds=task.instance.budgets.seconds,
    )


class TooSlowError(InfrastructureError):
    """Gold itself does not finish, so slow or busy is this machine: no time-out says anything of a patch."""


def time_enough(task: Task, sandbox: Sandbox, *, factor: float) -> float | None:
    """By how much a task's budget has to be longer for a patch that ran out of `factor` times its seconds.

    Gold is run right after the patch, with ten times the budget. None where the time-out holds: gold is about as fast
    as thought, or the proof does not tell its time.

    Raises:
        TooSlowError: gold did not finish either.
        InfrastructureError: the engine failed.

    """
    if not _proof_seconds(task):
        return None
    patient = slowed(task, _MOST * factor)
    timed = _gold(patient, sandbox)
    if timed.timed_out:
        seconds = patient.instance.budgets.seconds
        raise TooSlowError(f"the tests ran out of time, and gold does not finish in {seconds:.0f} s right now either")
    growth = _reading(task, timed.seconds, resolved=True).growth
    return growth if growth >= _WORSE * factor else None


def slowdown(readings: Sequence[Reading]) -> float:
    """By how much time budgets are to grow: the median ratio, at least 1, at most 10. Pure."""
    if not readings:
        return 1.0
    return _median(reading.growth for reading in readings)


def _median(ratios: Iterable[float]) -> float:
    return round(min(_MOST, max(1.0, statistics.median(ratios))), 2)


def warnings(readings: Sequence[Reading]) -> tuple[str, ...]:
    """What a person should know before believing the run. Pure."""
    texts = [
        f"control: gold no longer resolves {reading.instance_id} on this machine"
        for reading in readings
        if not reading.resolved
    ]
    factor = _median(reading.ratio for reading in readings) if readings else 1.0
    if factor >= DRIFT:
        texts.append(f"control: this machine runs gold {factor:g} times slower than when the tasks were proved")
    return tuple(texts)


def slowed(task: Task, factor: float) -> Task:
    """A task with a longer time budget."""
    if factor <= 1.0:
        return task
    budgets = replace(task.instance.budgets, seconds=task.instance.budgets.seconds * factor)
    return replace(task, instance=replace(task.instance, budgets=budgets))
