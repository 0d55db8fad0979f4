"""From structured evidence to an outcome. Pure: no free text that untrusted code printed is ever parsed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from harness.core.instance import Hidden, Outcome, TestStatus
from harness.core.test_ids import stable
from harness.grading.trial import Trial
from harness.judging import tripwires

GRADING_VERSION = 21
"""Goes up when a rule below changes, so that a cached verdict is never one of an older rule."""


@dataclass(frozen=True, kw_only=True)
class TestsStatus:
    """The listed tests by what became of them, as SWE-bench's per-instance report has them."""

    __test__ = False

    fail_to_pass: Mapping[str, TestStatus | None] = field(default_factory=dict)
    """None where the test gave no result at all."""
    pass_to_pass: Mapping[str, TestStatus | None] = field(default_factory=dict)

    @property
    def failing(self) -> dict[str, TestStatus | None]:
        """FAIL_TO_PASS tests without a pass."""
        return _not_passed(self.fail_to_pass)

    @property
    def broken(self) -> dict[str, TestStatus | None]:
        """PASS_TO_PASS tests without a pass."""
        return _not_passed(self.pass_to_pass)

    @property
    def all_passed(self) -> bool:
        return not (self.failing or self.broken)


@dataclass(frozen=True, kw_only=True)
class Grade:
    """What one prediction came to, and why."""

    outcome: Outcome
    cause: str | None
    """A stable word for what decided it; None for `resolved`. failures.py makes a failure class of more."""
    reason: str
    """One sentence for a person."""
    tests: TestsStatus = field(default_factory=TestsStatus)


def grade(hidden: Hidden, trial: Trial) -> Grade:
    """The outcome of one trial of a model patch.

    The order matters: what says that our own side failed comes first, then what says that the channel was forged, then
    what became of the tests. A test passes only with PASSED: skipped, xfailed and missing are no passes. Where all
    pass, a tripwire that the fix itself does not trip makes it a case for a person.
    """
    if not hidden.fail_to_pass:
        why = "the task lists no FAIL_TO_PASS test, so nothing could resolve it"
        return Grade(outcome=Outcome.INFRA_ERROR, cause="broken_task", reason=why)
    if trial.setup_error is not None:
        return Grade(outcome=Outcome.INFRA_ERROR, cause="setup", reason=trial.setup_error)
    if trial.test_apply_error is not None:
        why = f"the hidden tests do not apply to the task's image: {trial.test_apply_error}"
        return Grade(outcome=Outcome.INFRA_ERROR, cause="broken_task", reason=why)
    if trial.model_apply_error is not None:
        return Grade(outcome=Outcome.APPLY_FAILED, cause="apply_failed", reason=trial.model_apply_error)
    if trial.violations:
        return Grade(outcome=Outcome.TAMPERED, cause="tampered", reason=trial.violations[0])
    if (ended := _before_tests(trial)) is not None:
        return ended
    tests = listed_status(hidden, trial.report.statuses)
    cut = trial.timed_out or trial.flooded or trial.oom_killed
    if trial.exited and trial.report.finished and not cut and tests.all_passed:
        if news := tripwires.news(trial.tripwires, hidden.evidence):
            why = f"every listed test passed, and a person should look at the patch first: {tripwires.in_words(news)}"
            return Grade(outcome=Outcome.NEEDS_REVIEW, cause="tripwire", reason=why, tests=tests)
        return Grade(outcome=Outcome.RESOLVED, cause=None, reason="every listed test passed", tests=tests)
    cause, reason = _why_not(trial, tests)
    return Grade(outcome=Outcome.UNRESOLVED, cause=cause, reason=reason, tests=tests)


def listed_status(hidden: Hidden, statuses: Mapping[str, TestStatus]) -> TestsStatus:
    """The listed tests' statuses, and nothing of any other test. Ids with addresses are of lists from before ids.py."""

    def by_id(listed: Iterable[str]) -> dict[str, TestStatus | None]:
        return {test_id: statuses.get(test_id, statuses.get(stable(test_id))) for test_id in listed}

    return TestsStatus(fail_to_pass=by_id(hidden.fail_to_pass), pass_to_pass=by_id(hidden.pass_to_pass))


def _before_tests(trial: Trial) -> Grade | None:
    """The grade where the tests were never started: the patch could not be built, or our side failed."""
    build = trial.build
    if build is not None and not build.ok:
        if trial.oom_killed:
            cause, why = "out_of_memory", "the build needed more memory than the task allows"
        else:
            last = _last_line(build.output)
            cause, why = "build_failed", f"the patched code can't be built: {build.why}" + (f"; {last}" if last else "")
        return Grade(outcome=Outcome.UNRESOLVED, cause=cause, reason=why)
    if trial.ran or trial.oom_killed or trial.timed_out:
        return None
    why = "the container ended before the tests were started"
    return Grade(outcome=Outcome.INFRA_ERROR, cause="setup", reason=why)


def _why_not(trial: Trial, tests: TestsStatus) -> tuple[str, str]:
    cuts = (
        (trial.oom_killed, "out_of_memory", "the tests needed more memory than the task allows"),
        (trial.timed_out, "timeout", "the tests took longer than the task allows"),
        (trial.flooded, "flood", "the tests printed without end"),
    )
    if cut := next(((cause, why) for holds, cause, why in cuts if holds), None):
        return cut
    if not trial.exited:
        return "crashed", "the tests ended the container's supervisor before they were done"
    if not trial.report.finished:
        how = f"signal {trial.child_signal}" if trial.child_signal else f"exit code {trial.child_exit}"
        return "crashed", f"the test process ended before its tests did ({how})"
    if trial.report.internal_error:
        return "runner_error", "the test runner itself failed: " + _last_line(trial.report.internal_error)
    f2p, p2p = tests.failing, tests.broken
    if any(test_id.startswith(f"{path}::") for test_id in (*f2p, *p2p) for path in trial.report.exited):
        return "exited", "code ended the process of a test file before its tests were done"
    if trial.report.collect_errors and None in (*tests.fail_to_pass.values(), *tests.pass_to_pass.values()):
        return "collection_error", "a test file could not be imported: " + _last_line(
            next(iter(trial.report.collect_errors.values()))
        )
    if f2p:
        return "tests_failed", f"{len(f2p)} of {len(tests.fail_to_pass)} FAIL_TO_PASS tests do not pass"
    return "regression", f"{len(p2p)} of {len(tests.pass_to_pass)} PASS_TO_PASS tests no longer pass"


def _not_passed(statuses: Mapping[str, TestStatus | None]) -> dict[str, TestStatus | None]:
    return {test_id: status for test_id, status in statuses.items() if status is not TestStatus.PASSED}


def _last_line(text: str) -> str:
    return (text.strip().splitlines() or [""])[-1][:300]
