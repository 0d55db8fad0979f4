"""One verdict of a refresh: gold or null on one task, in fresh containers, in a form that names no hidden test."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum

from harness.core.instance import Hidden, Outcome, Task, TestStatus
from harness.grading import scoring
from harness.grading.scoring import Demands
from harness.runs import verdict
from harness.runs.predictions import GOLD, NULL, of_gold, of_null
from harness.sandbox.job import Sandbox

GONE, UNASKED = "-", "?"
"""A listed test that gave no result; one that nothing is asked of in the round that decided."""
LETTERS: dict[TestStatus, str] = {
    TestStatus.PASSED: "P",
    TestStatus.FAILED: "F",
    TestStatus.ERROR: "E",
    TestStatus.SKIPPED: "S",
    TestStatus.XFAIL: "x",
    TestStatus.XPASS: "X",
}
WORDS = {**{letter: status.value for status, letter in LETTERS.items()}, GONE: "gone"}
"""What a letter stands for."""


class Kind(StrEnum):
    """Whose verdict it is."""

    GOLD = GOLD
    NULL = NULL


@dataclass(frozen=True, kw_only=True)
class Slot:
    """One verdict that is asked for."""

    instance_id: str
    kind: Kind
    number: int
    """From 1."""
    repeat: bool = False
    """Asked for because an earlier one was not as it should be."""


@dataclass(frozen=True, kw_only=True)
class VerdictSummary:
    """What one verdict said."""

    slot: Slot
    outcome: Outcome
    cause: str | None
    fail_to_pass: str
    """A letter for each listed test, in the order of tests.json."""
    pass_to_pass: str
    seconds: float
    """Of the tests, in the round that decided."""
    containers: int

    @property
    def is_as_proved(self) -> bool:
        """Gold resolves; without it nothing does, and no FAIL_TO_PASS test passes."""
        if self.slot.kind is Kind.GOLD:
            return self.outcome is Outcome.RESOLVED
        return self.outcome is not Outcome.RESOLVED and LETTERS[TestStatus.PASSED] not in self.fail_to_pass


class NoVerdictError(Exception):
    """Infrastructure gave no verdict; the text says why."""


def observe(task: Task, slot: Slot, sandbox: Sandbox, demands: Demands) -> VerdictSummary:
    """Ask for one verdict, by the road that a model's patch takes.

    Raises:
        NoVerdictError: containers could not be set up, again and again.
        InfrastructureError: the engine failed, or the image is not there.

    """
    patch = verdict.look(task, of_gold(task) if slot.kind is Kind.GOLD else of_null(task.instance_id))
    if patch.refused is not None:
        graded, seconds, containers = patch.refused, 0.0, 0
    else:
        scored = scoring.score(task, patch.patch, sandbox, demands)
        graded, seconds = scored.grade, scored.trial.seconds
        containers = scored.round.attempts
        if graded.cause == "setup":
            raise NoVerdictError(f"the container could not be set up: {graded.reason}")
    ran = bool(graded.tests.fail_to_pass)
    return VerdictSummary(
        slot=slot,
        outcome=graded.outcome,
        cause=graded.cause,
        fail_to_pass=_letters(task.hidden.fail_to_pass, graded.tests.fail_to_pass, ran=ran),
        pass_to_pass=_letters(task.hidden.pass_to_pass, graded.tests.pass_to_pass, ran=ran),
        seconds=round(seconds, 3),
        containers=containers,
    )


def statuses(hidden: Hidden, summary: VerdictSummary) -> Mapping[str, str]:
    """What became of each listed test that something was asked of: a status, or `gone`."""
    listed = hidden.listed
    letters = summary.fail_to_pass + summary.pass_to_pass
    return {test_id: WORDS[letter] for test_id, letter in zip(listed, letters, strict=False) if letter in WORDS}


def _letters(listed: Iterable[str], test_statuses: Mapping[str, TestStatus | None], *, ran: bool) -> str:
    """Where no test was run, all are gone; where a round asks nothing of some, these are left open."""
    if not ran:
        return GONE * len(tuple(listed))
    results = ((test_id in test_statuses, test_statuses.get(test_id)) for test_id in listed)
    return "".join(LETTERS[status] if status else GONE if is_asked else UNASKED for is_asked, status in results)
