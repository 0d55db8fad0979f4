"""Why a prediction came to its outcome, in words that quote neither a hidden test nor the fix. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from harness.core import wording
from harness.core.instance import Outcome

if TYPE_CHECKING:
    from harness.runs.run_folder import InstanceReport

_OWN_WORDS = wording.words(
    "apply_failed build_failed crashed empty_patch exited flood missing_image no_patch out_of_memory timeout"
    " tests_failed"
)
"""Causes whose reasons are sentences of ours or about the model's own patch."""
TELLING_DROPS = frozenset({"hidden_test", "import_root"})
"""Reasons for dropping a part of a patch that say where hidden tests are."""
_REASONS = {
    "collection_error": "a hidden test file could not be imported with this patch",
    "runner_error": "the test runner itself failed with this patch",
    "tripwire": "every listed test passed, and code of the patch looked at what judges it: a person should look first",
    "tampered": "the signed result channel was broken or contradicts itself",
    "broken_task": "the task itself is broken",
    "setup": "the container could not be set up",
    "engine": "the container engine failed",
}
_LEFT_OUT = "; left out of the patch: "
"""From here on a reason names parts of the patch that were left out; the page has them on their own."""


@dataclass(frozen=True, kw_only=True)
class Counts:
    """How many of a list of tests passed."""

    passed: int
    total: int

    def __str__(self) -> str:
        return f"{self.passed}/{self.total}" if self.total else "not run"


def counts(report: InstanceReport, name: str) -> Counts:
    """How many of a list's tests passed, by SWE-bench's `tests_status`."""
    statuses = report.tests_status.get(name, {})
    passed = len(statuses.get("success", ()))
    return Counts(passed=passed, total=passed + len(statuses.get("failure", ())))


def words(report: InstanceReport, *, is_gold: bool) -> str:
    """Why a prediction came to its outcome, in words that quote neither a hidden test nor the fix.

    Where listed tests were run and did not pass, the sentence is made of their counts; the report's own is shown only
    where it can tell of nothing but the model's patch.
    """
    if report.resolved:
        return "every listed test passed"
    cause = report.cause or report.failure_class or ""
    own = cause in _OWN_WORDS and not is_gold
    if own and cause != "tests_failed":
        return report.reason.partition(_LEFT_OUT)[0]
    sentence = _REASONS.get(cause)
    f2p, p2p = counts(report, "FAIL_TO_PASS"), counts(report, "PASS_TO_PASS")
    if sentence or report.outcome is not Outcome.UNRESOLVED or not f2p.total + p2p.total:
        return sentence or "see the run folder for why"
    if f2p.passed < f2p.total:
        return f"{f2p.total - f2p.passed} of {f2p.total} FAIL_TO_PASS tests do not pass"
    if p2p.passed < p2p.total:
        return f"{p2p.total - p2p.passed} of {p2p.total} PASS_TO_PASS tests no longer pass"
    return "see the run folder for why"


def dropped(report: InstanceReport, *, is_gold: bool) -> tuple[str, ...]:
    """Dropped parts without a path that would name a hidden test or a file of the fix."""
    return tuple(
        part.get("reason", "") if is_gold or part.get("reason") in TELLING_DROPS else dropped_part(part)
        for part in report.dropped
    )


def dropped_part(part: Mapping[str, str]) -> str:
    """A dropped part of a patch in words."""
    return f"{part.get('path', '?')} ({part.get('reason', '?')})"
