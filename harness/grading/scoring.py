"""One patch on one task: one trial in a fresh container, and the grade that the host gives it."""

from __future__ import annotations

import itertools
import signal
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from harness.core.errors import InfrastructureError, InterruptedRunError
from harness.core.instance import Outcome, Task
from harness.grading import trial
from harness.grading.grade import Grade, grade
from harness.grading.trial import Trial
from harness.judging import judge
from harness.patches import patch
from harness.sandbox.job import MissingImageError, Sandbox

INFRA_ATTEMPTS = 3
_RETRY_SECONDS = 1.0


@dataclass(frozen=True, kw_only=True)
class Demands:
    """What a pass has to withstand."""

    timeout: float | None = None
    """Seconds a task's tests may take, in place of the task's own budget."""

    def key(self) -> tuple[object, ...]:
        """Everything that can change a verdict."""
        return (self.timeout,)


@dataclass(frozen=True, kw_only=True)
class Round:
    """The hidden tests run once in a fresh container, as they came out of it: before anything is judged."""

    trial: Trial
    attempts: int
    """1, or more where infrastructure failed in between."""


@dataclass(frozen=True, kw_only=True)
class Scored:
    """The grade of a patch, and the trial it stands on."""

    grade: Grade
    trial: Trial
    """With the statuses that the host gives, under the listed ids."""
    round: Round


def score(
    task: Task,
    model_patch: patch.Patch | None,
    sandbox: Sandbox,
    demands: Demands,
    *,
    watch: Mapping[str, Any] | None = None,
) -> Scored:
    """Grade a patch. `watch` is what its trial is asked to tell besides.

    Raises:
        InfrastructureError: the engine failed more often than is retried.

    """
    return decide(task, _run(task, model_patch, sandbox, demands, watch=watch))


def decide(task: Task, ran: Round) -> Scored:
    """The grade of a round: a fresh one, or that of saved evidence."""
    report = judge.judge(task.hidden.expectations, ran.trial.report)
    violations = (
        *ran.trial.violations,
        *(violation for violation in report.violations if violation not in ran.trial.violations),
    )
    judged = replace(ran.trial, report=report, violations=violations)
    return Scored(grade=grade(task.hidden, judged), trial=judged, round=ran)


def _run(
    task: Task, model_patch: patch.Patch | None, sandbox: Sandbox, demands: Demands, *, watch: Mapping[str, Any] | None
) -> Round:
    spec = replace(trial_spec(task, model_patch, timeout=demands.timeout), watch=watch)
    killed = 0
    for attempt in itertools.count(1):
        try:
            ran = trial.run(spec, sandbox)
        except (MissingImageError, InterruptedRunError):
            raise
        except InfrastructureError:
            if attempt >= INFRA_ATTEMPTS:
                raise
            time.sleep(_RETRY_SECONDS * attempt)
            continue
        killed += _was_killed(ran)
        again = grade(task.hidden, ran).cause == "setup" or (killed == 1 and _was_killed(ran))
        if not again or attempt >= INFRA_ATTEMPTS:
            return Round(trial=_charged(task, ran, spec, sandbox), attempts=attempt)
    raise AssertionError  # itertools.count never ends


def _charged(task: Task, ran: Trial, spec: trial.TrialSpec, sandbox: Sandbox) -> Trial:
    """The trial; if the hidden tests could not be laid, and can without the patch, that is charged to the patch."""
    is_lost = grade(task.hidden, ran).outcome is Outcome.INFRA_ERROR
    is_building = ran.build is not None and not ran.build.ok  # what can't be started is the image's
    if not spec.model_patch or not task.hidden.fail_to_pass or not is_lost or is_building:
        return ran
    without = trial.run(replace(spec, model_patch=None), sandbox)
    if not without.ran:
        return ran
    error = "with it the hidden tests can't be laid, and without it they can"
    return replace(ran, setup_error=None, test_apply_error=None, model_apply_error=error)


def _was_killed(ran: Trial) -> bool:
    """Whether something ended the tests from outside, or they themselves: nothing in the container tells which.

    So it is done once more. Who kills a container by hand, and a host that is out of memory, do that once; a patch
    that kills what tests it does it again.
    """
    if ran.build and not ran.build.ok:
        return ran.build.code is None and ran.build.signal is None and not ran.build.timed_out
    if not ran.ran or ran.timed_out or ran.flooded or ran.oom_killed:
        return False
    return not ran.exited or (ran.child_signal == signal.SIGKILL and not ran.report.finished)


def trial_spec(task: Task, model_patch: patch.Patch | None, *, timeout: float | None = None) -> trial.TrialSpec:
    """A trial of a patch on a task, with its hidden tests as they are judged: without what is kept outside.

    Raises:
        MissingImageError: the task is a candidate without an image.

    """
    instance, hidden = task.instance, task.hidden
    if instance.image is None:
        raise MissingImageError(f"task {instance.instance_id} has no image yet", hint="mine it without --no-validate")
    return trial.TrialSpec(
        image=instance.image,
        test=instance.test,
        files=hidden.test_files,
        budgets=replace(instance.budgets, seconds=timeout or instance.budgets.seconds),
        model_patch=model_patch,
        test_patch=patch.parse(hidden.test_patch, trusted=True),
        overlay={path: source.encode() for path, source in hidden.expectations.files.items()},
    )
