"""Outcomes, shares, times and money in words for a person. Pure."""

from __future__ import annotations

from harness.analysis.compare import Answer, Comparison
from harness.core.instance import Outcome
from harness.core.wording import first_of
from harness.grading.failures import FailureClass

OUTCOMES = {
    Outcome.RESOLVED: "resolved",
    Outcome.UNRESOLVED: "unresolved",
    Outcome.EMPTY_PATCH: "empty patch",
    Outcome.APPLY_FAILED: "does not apply",
    Outcome.TAMPERED: "tampered",
    Outcome.NEEDS_REVIEW: "needs review",
    Outcome.INFRA_ERROR: "infrastructure error",
}
SHORT = {
    Outcome.EMPTY_PATCH: "empty",
    Outcome.APPLY_FAILED: "no apply",
    Outcome.NEEDS_REVIEW: "review",
    Outcome.INFRA_ERROR: "infra",
}
CLASSES = {
    FailureClass.INFRA_ERROR: "our side failed; says nothing about the patch",
    FailureClass.TAMPERED: "tampered with the channel that carries test results",
    FailureClass.NO_PATCH: "the answer holds no patch",
    FailureClass.EMPTY_PATCH: "the patch is blank, or nothing of it may be applied",
    FailureClass.UNSAFE_OPERATION: "wrote or reached outside, or ended the test process itself",
    FailureClass.APPLY_FAILED: "the patch is broken or does not apply",
    FailureClass.OUT_OF_MEMORY: "hit the memory limit",
    FailureClass.PERFORMANCE_ERROR: "ran out of time, or far slower than the real fix",
    FailureClass.COMPILE_ERROR: "changes compiled code, and does not build",
    FailureClass.REGRESSION: "fixes the bug and breaks something that worked",
    FailureClass.SYNTAX_ERROR: "is not valid code",
    FailureClass.PERMISSION_DENIED: "was denied a permission",
    FailureClass.MISSING_DEPENDENCY: "imports a package that is not there",
    FailureClass.IMPORT_ERROR: "imports a name that is not there",
    FailureClass.TEMPORAL_REASONING_ERROR: "fails only in tests about time",
    FailureClass.EDGE_CASE_ERROR: "most of the tests of the fix pass, some do not",
    FailureClass.RUNTIME_ERROR: "raises an exception or crashes",
    FailureClass.LOGIC_ERROR: "runs, and gives wrong results",
    FailureClass.NEEDS_REVIEW: "passes every test, but inspected what judges it",
}
"""What a failure class means, in a few words; docs/failures.md has the rules."""
_POINT = 0.01
_FEW_SECONDS = 10
_CENT = 0.01


def points(difference: float) -> str:
    """A difference of two shares, in percentage points."""
    return f"{abs(difference) * 100:.0f} points" if abs(difference) >= _POINT else "less than a point"


def chance(p: float) -> str:
    """A p-value."""
    return "p < 0.001" if p < 0.001 else f"p = {p:.2g}"  # noqa: PLR2004 - the usual limit


def seconds(value: float | None) -> str:
    """A time for a person."""
    if value is None:
        return "–"
    return f"{value:.2f} s" if value < _FEW_SECONDS else f"{value:.0f} s"


def dollars(value: float | None) -> str:
    """An amount for a person; what is not known is not 0."""
    if value is None:
        return "unknown"
    if 0 < value < _CENT:
        return f"${value:.2g}"
    return f"${value:.2f}"


def duel(comparison: Comparison | None) -> str:
    """A model against the best one, in a few words."""
    if comparison is None:
        return "nothing in common"
    sign = "+" if comparison.difference > 0 else "−" if comparison.difference < 0 else ""
    word = {Answer.WORSE: "worse", Answer.BETTER: "better"}.get(comparison.answer, "can't tell")
    return f"{sign}{abs(comparison.difference) * 100:.0f} points, {chance(comparison.p_adjusted)}: {word}"


def meaning(failure_class: str) -> str:
    """What a failure class means; empty for one that this version does not know."""
    return next((text for known_class, text in CLASSES.items() if known_class == failure_class), "")


def listed(names: list[str] | tuple[str, ...], *, most: int = 8) -> str:
    """Names in a sentence; of many, the first and how many more."""
    if len(names) > most:
        return first_of(names, most)
    return " and ".join(filter(None, (", ".join(names[:-1]), *names[-1:])))
