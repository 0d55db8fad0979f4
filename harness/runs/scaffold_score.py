"""What a patch came to on the tests that a task shows, and on those that it hides. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from harness.core.instance import Outcome, Task, TestStatus
from harness.core.records import OpenRecord
from harness.dataset.revealed import FIELD, functions_shown, public_of
from harness.grading.grade import Grade

HIDDEN_ONLY, SCAFFOLDED = "hidden only", "scaffolded"
"""Which kind of score it is."""
_OF_TESTS = frozenset({None, "tests_failed", "regression"})
"""Causes under which each test has a result of its own."""


class ScaffoldScore(OpenRecord):
    """`scaffold` of a prediction's report.json: only where its task shows tests."""

    functions: int
    """Test functions that the task shows."""
    revealed: int
    """Listed tests that are rows of them."""
    revealed_passed: int
    hidden: int
    """All other listed tests."""
    hidden_passed: int
    resolved_hidden: bool
    """Every hidden one passes: the score over hidden tests only."""
    passes_revealed_only: bool
    """Every revealed FAIL_TO_PASS test passes, and not one hidden one."""


def score(task: Task, grade: Grade) -> ScaffoldScore | None:
    """The two parts of a grade; None where the task shows no test."""
    functions = functions_shown(task.instance.extra.get(FIELD))
    if not functions or not task.instance.scaffold:
        return None
    fail, hold = grade.tests.fail_to_pass, grade.tests.pass_to_pass
    public = public_of(task.instance, task.hidden.listed)
    statuses, hidden = _parted({**fail, **hold}, public)
    shown_fail, hidden_fail = _parted(fail, public)
    is_of_tests = grade.outcome in (Outcome.RESOLVED, Outcome.UNRESOLVED) and grade.cause in _OF_TESTS
    return ScaffoldScore(
        functions=functions,
        revealed=len(statuses),
        revealed_passed=_passed(statuses),
        hidden=len(hidden),
        hidden_passed=_passed(hidden),
        resolved_hidden=is_of_tests and bool(hidden) and _passed(hidden) == len(hidden),
        passes_revealed_only=bool(shown_fail) and _passed(shown_fail) == len(shown_fail) and not _passed(hidden_fail),
    )


def kind_of(scores: Iterable[ScaffoldScore | None]) -> dict[str, Any]:
    """Which kind of score a run has: `kind`, and where it is scaffolded how much its tasks show."""
    scaffold_scores = [scaffold_score for scaffold_score in scores if scaffold_score is not None]
    if not scaffold_scores:
        return {"kind": HIDDEN_ONLY}
    return {
        "kind": SCAFFOLDED,
        "revealed": max(scaffold_score.functions for scaffold_score in scaffold_scores),
        "scaffolded_predictions": len(scaffold_scores),
    }


def _parted(
    tests: Mapping[str, TestStatus | None], public: Iterable[str]
) -> tuple[list[TestStatus | None], list[TestStatus | None]]:
    public_ids = frozenset(public)
    return [tests[test] for test in tests if test in public_ids], [
        tests[test] for test in tests if test not in public_ids
    ]


def _passed(statuses: Iterable[TestStatus | None]) -> int:
    return sum(status is TestStatus.PASSED for status in statuses)
