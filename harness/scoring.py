"""One patch on one task: as many rounds in fresh containers as the trust level asks for, and one grade over them."""

from __future__ import annotations

import itertools
import signal
import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from harness import patch, trial, trust
from harness.errors import InfrastructureError, InterruptedRunError
from harness.grading import Grade, grade
from harness.instance import Outcome
from harness.sandbox.base import MissingImageError
from harness.trust import Trust, Variant

if TYPE_CHECKING:
    from collections.abc import Callable

    from harness.instance import Task
    from harness.sandbox.base import Sandbox
    from harness.trial import Trial

INFRA_ATTEMPTS = 3
_RETRY_SECONDS = 1.0


@dataclass(frozen=True, kw_only=True)
class Demands:
    """What a pass has to withstand."""

    timeout: float | None = None
    """Seconds a task's tests may take, in place of the task's own budget."""
    trust: Trust | None = None
    """The level asked for; None means the strongest that the task was prepared for."""
    pairs: int = 1
    """Rounds with the real tests, and as many with twins."""


@dataclass(frozen=True, kw_only=True)
class Round:
    """One form of the hidden tests in a fresh container, as it came out of it."""

    variant: Variant
    trial: Trial
    attempts: int
    """1, or more where infrastructure failed in between."""


@dataclass(frozen=True, kw_only=True)
class Scored:
    """The grade of a patch, and the trial that tells most about it."""

    grade: Grade
    trial: Trial
    trust: Trust
    """The level it was held to."""
    rounds: tuple[Variant, ...]
    """The rounds that were run."""
    attempts: int
    """1, or more where infrastructure failed in between."""
    saved: tuple[Round, ...] = ()
    """Every round that was run, in order; those too that another level of trust then took the place of."""


def score(
    task: Task, model_patch: patch.Patch | None, sandbox: Sandbox, demands: Demands, *, watch: bool = False
) -> Scored:
    """Grade a patch. The real tests come first, so a patch that fails them costs one round.

    With `watch`, trials also tell what signals are made from.

    Raises:
        InfrastructureError: the engine failed more often than is retried.

    """
    return decide(task, demands, lambda variant: _run(task, model_patch, variant, sandbox, demands, watch=watch))


def decide(task: Task, demands: Demands, run: Callable[[Variant], Round], *, earlier: tuple[Round, ...] = ()) -> Scored:
    """The grade over the rounds that `run` gives: fresh ones, or those of saved evidence."""
    material = task.hidden.trust
    level = _level(task, demands)
    first: Scored | None = None
    saved = list(earlier)
    done: list[Variant] = []
    for variant in trust.rounds(material, level, pairs=demands.pairs):
        ran = run(variant)
        saved.append(ran)
        done.append(variant)
        if trust.has_opaque_values(material, variant, ran.trial):
            return decide(task, replace(demands, trust=Trust.TWINS), run, earlier=tuple(saved))
        found = trust.with_blind_results(material, variant, ran.trial)
        graded = grade(task.hidden, found, ignoring=trust.must_fail(material, variant))
        why = trust.forged(material, variant, found)
        if why is not None:
            graded = replace(graded, outcome=Outcome.TAMPERED, cause="forged", reason=why)
        here = Scored(
            grade=graded, trial=found, trust=level, rounds=tuple(done), attempts=ran.attempts, saved=tuple(saved)
        )
        if graded.outcome is not Outcome.RESOLVED:
            return here
        first = first or here
    assert first is not None  # noqa: S101 - there is always a round
    return replace(first, rounds=tuple(done), saved=tuple(saved))


def _level(task: Task, demands: Demands) -> Trust:
    order = list(Trust)
    best = trust.strongest(task.hidden.trust)
    return best if demands.trust is None else min(demands.trust, best, key=order.index)


def _run(
    task: Task, model_patch: patch.Patch | None, variant: Variant, sandbox: Sandbox, demands: Demands, *, watch: bool
) -> Round:
    spec = replace(trial_spec(task, model_patch, variant=variant, timeout=demands.timeout), watch=watch)
    killed = 0
    for attempt in itertools.count(1):
        try:
            found = trial.run(spec, sandbox)
        except (MissingImageError, InterruptedRunError):
            raise
        except InfrastructureError:
            if attempt >= INFRA_ATTEMPTS:
                raise
            time.sleep(_RETRY_SECONDS * attempt)
            continue
        killed += _was_killed(found)
        again = grade(task.hidden, found).cause == "setup" or (killed == 1 and _was_killed(found))
        if not again or attempt >= INFRA_ATTEMPTS:
            return Round(variant=variant, trial=found, attempts=attempt)
    raise AssertionError  # itertools.count never ends


def _was_killed(found: Trial) -> bool:
    """Whether something ended the tests from outside, or they themselves: nothing in the container tells which.

    So it is done once more. Who kills a container by hand, and a host that is out of memory, do that once; a patch
    that kills what tests it does it again.
    """
    if not found.ran or found.timed_out or found.oom_killed:
        return False
    return not found.exited or (found.child_signal == signal.SIGKILL and not found.report.finished)


def trial_spec(
    task: Task, model_patch: patch.Patch | None, *, variant: Variant = Variant.PLAIN, timeout: float | None = None
) -> trial.TrialSpec:
    """A trial of a patch on a task, with its hidden tests in one of their forms.

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
        overlay=trust.overlay(hidden.trust, variant),
        twin=variant in (Variant.TWIN, Variant.BLIND_TWIN),
    )
