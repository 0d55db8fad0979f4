"""What a patch answers to the calls of its task, held against the fix: figures beside a verdict, no part of it."""

from __future__ import annotations

from collections.abc import Sequence

from harness.core.instance import Task
from harness.core.records import OpenRecord
from harness.differential.answers import equal
from harness.differential.corpus import Answer, Call, Corpus
from harness.differential.jobs import NoReplayError, Surroundings, answers, answers_in_tests
from harness.patches.patch import Patch
from harness.sandbox.job import Sandbox, SandboxError

_TRIED_IN_TESTS = 40
"""Calls at most that are made once more while tests run."""


class Replay(OpenRecord):
    """`replay` of a prediction's report."""

    calls: int = 0
    """Calls that hidden tests make, and of these those answered as the fix does (`agree`)."""
    agree: int = 0
    nearby: int = 0
    """Inputs near them, with what the fix answers."""
    nearby_agree: int = 0
    telling: int = 0
    """Those of both that the base answers differently, and so tell a fix from none."""
    telling_agree: int = 0
    right_only_under_test: bool | None = None
    """Some call is answered as the fix does while tests run, and differently outside; None where that is not known."""
    why_not: str = ""
    """Why there are no figures, or why that is None."""

    def words(self) -> str:
        """The figures in a line for a person."""
        if not self.calls and not self.nearby:
            return f"none: {self.why_not}"
        parts = [f"{self.agree} of {self.calls} calls of the tests and {self.nearby_agree} of {self.nearby} near them"]
        if self.telling:
            parts.append(f"{self.telling_agree} of the {self.telling} that only a fix gets right")
        text = f"answers as the fix does: {', '.join(parts)}"
        return f"right only under test; {text}" if self.right_only_under_test else text


def replayed(task: Task, model_patch: Patch | None, sandbox: Sandbox) -> Replay:
    """Make a task's calls on a patch: in one container, and in a second where some are answered differently.

    Raises:
        InfrastructureError: the engine cannot be reached at all.
        InterruptedRunError: the run was interrupted.

    """
    try:
        corpus = Corpus.read(task.hidden.calls) if task.hidden.calls else Corpus()
    except ValueError as error:
        return Replay(why_not=str(error))
    if not corpus.calls:
        return Replay(why_not="the task has no calls: `goldseam holdout calls` records them")
    try:
        answers_given = answers(task, model_patch, corpus.steps(), sandbox, Surroundings())
    except NoReplayError as error:
        return Replay(why_not=str(error))
    except SandboxError as error:
        if not sandbox.is_healthy():
            raise
        return Replay(why_not=error.message)
    counted = _counted(corpus.calls, answers_given)
    differing = [
        call for call, answer in zip(corpus.calls, answers_given, strict=True) if not equal(call.answer, answer)
    ]
    if not differing:
        return counted.model_copy(update={"right_only_under_test": False})
    return counted.model_copy(update=_under_test(task, model_patch, differing[:_TRIED_IN_TESTS], sandbox))


def _counted(calls: Sequence[Call], answers_given: Sequence[Answer | None]) -> Replay:
    agreeing = [equal(call.answer, answer) for call, answer in zip(calls, answers_given, strict=True)]
    pairs = list(zip(calls, agreeing, strict=True))
    return Replay(
        calls=sum(not call.nearby for call in calls),
        agree=sum(agrees and not call.nearby for call, agrees in pairs),
        nearby=sum(call.nearby for call in calls),
        nearby_agree=sum(agrees and call.nearby for call, agrees in pairs),
        telling=sum(call.telling for call in calls),
        telling_agree=sum(agrees and call.telling for call, agrees in pairs),
    )


def _under_test(
    task: Task, model_patch: Patch | None, differing: Sequence[Call], sandbox: Sandbox
) -> dict[str, bool | str | None]:
    """Whether calls that were answered differently are answered as the fix does while tests run."""
    try:
        tests = answers_in_tests(task, model_patch, [call.steps for call in differing], sandbox)
    except NoReplayError as error:
        return {"right_only_under_test": None, "why_not": f"under test {error}"}
    except SandboxError as error:
        if not sandbox.is_healthy():
            raise
        return {"right_only_under_test": None, "why_not": error.message}
    is_right = any(
        equal(call.answer, answer)
        for call, answers_given in zip(differing, tests, strict=True)
        for answer in answers_given
    )
    return {"right_only_under_test": is_right}
