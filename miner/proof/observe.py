"""One run of one state, in a fresh container."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from harness.core.clock import text_of
from harness.core.instance import Budgets, TestStatus
from harness.grading import trial
from harness.grading.trial import Trial
from harness.languages.base import TestReport
from harness.sandbox.job import Sandbox
from miner.languages import language_of
from miner.proof import network, new_api
from miner.proof.notebook import Notebook, ObservedRun, State
from miner.proof.runs import PROOF_BUDGETS
from miner.proof.variations import PLAIN, Variation

if TYPE_CHECKING:
    from miner.proof.subject import Patches, Subject

_ENDINGS = frozenset({"timeout", "flood", "crashed", "out_of_memory"})
"""Troubles that one test alone can bring upon all that come after it."""
_MOST_ENDINGS = 8
"""Tests at most that may each end a run of one state."""
_LATER_SHARE = 0.25
"""Of the time that tests may take, once one of them has kept all of it."""
_LATER_FACTOR = 2.0
"""And at least so often as long as all tests took with the fix."""
_LONGEST_FAILURE = 1000
"""Characters."""


def observe(
    subject: Subject,
    patches: Patches,
    state: State,
    number: int,
    sandbox: Sandbox,
    notebook: Notebook,
    *,
    variation: Variation = PLAIN,
    only: tuple[str, ...] = (),
    most_seconds: float | None = None,
) -> ObservedRun:
    """One run of one state, in a fresh container; taken from the notebook where it stands there, else added to it.

    `only` are the test functions, or rows of them, to run, where these are not all; `most_seconds` is how long they
    may take at most.
    """
    earlier = notebook.get(state, number, variation, only)
    if earlier is not None:
        return earlier
    spec = trial.TrialSpec(
        image=subject.image,
        test=subject.test,
        files=only or subject.test_files,
        budgets=_budgets(variation, most_seconds),
        model_patch=patches.gold if state == "after" else None,
        test_patch=None if state == "base" else patches.tests,
        env=variation.env(),
        order=variation.order,
        cpu_count=variation.cpu_count,
        clock=_later(variation.clock_days),
    )
    ran = trial.run(spec, sandbox)
    trouble, detail = _trouble(ran)
    observed = ObservedRun(
        state=state,
        number=number,
        variation=variation,
        only=only,
        statuses=dict(ran.report.statuses),
        collect_errors=dict(ran.report.collect_errors),
        trouble=trouble,
        detail=detail or first_failure(ran.report),
        seconds=ran.seconds,
        container_seconds=ran.container_seconds,
        max_rss_kb=ran.max_rss_kb,
        network=network.lacking(ran.report),
        refused=network.refused(ran.report),
        wanted=language_of(subject.test).code.missing_names(ran.report),
        exited=ran.report.exited,
    )
    if state == "before":
        observed = _past_endings(observed, ran, spec, sandbox, notebook.get("after", 0, PLAIN))
    notebook.add(observed)
    return observed


def first_failure(report: TestReport) -> str:
    """What the first failing test or skipped file says, without its middle if long, where none passes; else empty."""
    if TestStatus.PASSED in report.statuses.values():
        return ""
    told = (*map(report.texts.get, sorted(report.statuses)), *report.collect_skips.values())
    text = next(filter(None, told), "").strip()
    half = _LONGEST_FAILURE // 2  # an error is named first in some languages, last in others
    return text if len(text) <= _LONGEST_FAILURE else f"{text[:half]} … {text[-half:]}"


def _past_endings(
    observed: ObservedRun, ran: Trial, spec: trial.TrialSpec, sandbox: Sandbox, with_fix: ObservedRun | None
) -> ObservedRun:
    """A run without the fix in which a test never ended, or took its process with it: the bug may be just that.

    That test is an error, and those that were to come after it are run without it, in less time if it never ended;
    these are of what was collected or, where a runner only tells what has begun, of those that ran with the fix.
    Where more tests than a few do so, or no test does, as the files could not even be collected, the run keeps its
    trouble.
    """
    collected, begun = ran.report.collected, ran.report.begun
    listed = tuple(filter(observed.tells_of, with_fix.statuses)) if with_fix else ()
    later = max(_LATER_SHARE * spec.budgets.seconds, _LATER_FACTOR * with_fix.seconds if with_fix else 0.0)
    shorter = replace(spec, budgets=replace(spec.budgets, seconds=min(later, spec.budgets.seconds)))
    for _ in range(_MOST_ENDINGS):
        expected = dict.fromkeys((begun, *listed)) if begun else collected
        unanswered = [test_id for test_id in expected if test_id not in observed.statuses]
        if observed.trouble not in _ENDINGS or not unanswered:
            break
        ended_by, *rest = unanswered
        observed = replace(
            observed, statuses={**observed.statuses, ended_by: TestStatus.ERROR}, endings=(*observed.endings, ended_by)
        )
        if not rest:
            return replace(observed, trouble="", detail="")
        left = shorter if observed.trouble == "timeout" else spec
        more = trial.run(replace(left, files=tuple(rest)), sandbox)
        begun = more.report.begun
        trouble, detail = _trouble(more)
        observed = replace(
            observed,
            statuses={**more.report.statuses, **observed.statuses},
            trouble=trouble,
            detail=detail,
            seconds=observed.seconds + more.seconds,
            container_seconds=observed.container_seconds + more.container_seconds,
        )
    return observed


def _later(days: int | None) -> str | None:
    """The clock of tests that run so many days later than now."""
    return None if days is None else text_of(datetime.now(tz=UTC) + timedelta(days=days))


def _budgets(variation: Variation, most_seconds: float | None) -> Budgets:
    """A run on a part of a processor may take as much longer, unless there is a bound."""
    budgets = PROOF_BUDGETS
    if variation.cpus is not None:
        budgets = replace(budgets, cpus=variation.cpus, seconds=budgets.seconds / variation.cpus)
    return budgets if most_seconds is None else replace(budgets, seconds=min(budgets.seconds, most_seconds))


def _trouble(ran: Trial) -> tuple[str, str]:
    printed = ran.output.decode("utf-8", "replace").strip()[-1500:]
    checks = (
        (ran.setup_error is not None, "setup_failed", ran.setup_error or ""),
        (ran.test_apply_error is not None, "tests_do_not_apply", ran.test_apply_error or ""),
        (ran.model_apply_error is not None, "gold_does_not_apply", ran.model_apply_error or ""),
        (ran.build is not None and not ran.build.ok, "build_failed", _printed_by(ran)),
        (ran.oom_killed, "out_of_memory", ""),
        (ran.timed_out, "timeout", f"{_not_ended(ran)}\n{printed}".strip()),
        (ran.flooded, "flood", f"{_not_ended(ran)}\n{printed}".strip()),
        (not ran.report.finished, "crashed", printed),
        (bool(ran.report.internal_error), "runner_error", ran.report.internal_error),
        (
            ran.report.exit_code == _USAGE_ERROR and new_api.INITIAL not in ran.report.collect_errors,
            "runner_usage",
            printed,
        ),
    )
    return next(((word, detail) for holds, word, detail in checks if holds), ("", ""))


def _not_ended(ran: Trial) -> str:
    """How far the tests came that were ended."""
    last = next(reversed([*ran.report.statuses]), None)
    return f"not ended after {ran.seconds:.0f} s, " + (f"behind {last}" if last else "before any test was reported")


def _printed_by(ran: Trial) -> str:
    """Why the build failed, and the end of what it printed."""
    return f"{ran.build.why}\n{ran.build.output.strip()[-1500:]}" if ran.build else ""


_USAGE_ERROR = 4
"""pytest's exit code for a command line or a configuration that it refuses, and for a conftest.py that it can't import.
The latter is judged as the loss of every file."""
