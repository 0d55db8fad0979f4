"""A verdict found again from saved evidence, by the very road that a fresh one takes. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from harness.grading import evidence, scoring
from harness.runs import verdict
from harness.runs.verdict import ScoringRequest

if TYPE_CHECKING:
    from collections.abc import Mapping

    from harness.core.instance import Prediction, Task
    from harness.runs.run_folder import InstanceReport


class CannotReplayError(ValueError):
    """The evidence does not carry a verdict under today's rules; the message says why."""


def replay(task: Task, prediction: Prediction, results: Mapping[str, Any]) -> InstanceReport:
    """What today's rules say of the evidence in a results.json.

    Raises:
        CannotReplayError: the evidence is too old or broken, is of another task, or the rules ask for something that
            was not run.

    """
    try:
        saved = evidence.read(results)
    except evidence.NoEvidenceError as error:
        raise CannotReplayError(str(error)) from error
    if saved.task_digest != task.digest():
        raise CannotReplayError("the task has changed since it was scored")
    request = ScoringRequest(task=task, prediction=prediction, demands=saved.demands, slowdown=saved.slowdown)
    patch = verdict.look(task, prediction)
    if patch.refused is not None:
        return verdict.refused(request, patch).report
    if patch.applied != saved.applied:
        raise CannotReplayError("screening now keeps another part of the patch than the one that ran")
    if saved.unscored is not None:
        cause, why = saved.unscored
        return verdict.unscored(request, patch, cause=cause, why=why).report
    if saved.round is None:
        raise CannotReplayError("it has no finished round to base a verdict on")
    return verdict.graded(request, patch, scoring.decide(task, saved.round)).report


def carried(old: InstanceReport, fresh: InstanceReport) -> InstanceReport:
    """The old report with what grading says of it now; what others put into it (signals, say) stays."""
    return old.model_copy(update={name: getattr(fresh, name) for name in fresh.model_fields_set})
