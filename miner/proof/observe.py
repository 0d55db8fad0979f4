"""One run of one state, in a fresh container."""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness import trial
from harness.instance import Budgets
from miner import network
from miner.proof.notebook import Observed
from miner.proof import new_api
from miner.proof.subject import rejection

if TYPE_CHECKING:
    from harness.sandbox.base import Sandbox
    from harness.trial import Trial
    from miner.change import Rejection
    from miner.proof.notebook import Notebook, State
    from miner.proof.subject import Patches, Subject

PROOF_BUDGETS = Budgets(seconds=600.0)


def observe(
    subject: Subject, patches: Patches, state: State, number: int, sandbox: Sandbox, notebook: Notebook
) -> Observed:
    """One run of one state, in a fresh container; taken from the notebook where it stands there, else added to it."""
    known = notebook.get(state, number)
    if known is None:
        known = _observe(subject, patches, state, number, sandbox)
        notebook.add(known)
    return known


def _observe(subject: Subject, patches: Patches, state: State, number: int, sandbox: Sandbox) -> Observed:
    spec = trial.TrialSpec(
        image=subject.image,
        test=subject.test,
        files=subject.test_files,
        budgets=PROOF_BUDGETS,
        model_patch=patches.gold if state == "after" else None,
        test_patch=None if state == "base" else patches.tests,
    )
    ran = trial.run(spec, sandbox)
    trouble, detail = _trouble(ran)
    return Observed(
        state=state,
        number=number,
        statuses=dict(ran.report.statuses),
        collect_errors=dict(ran.report.collect_errors),
        trouble=trouble,
        detail=detail,
        seconds=ran.seconds,
        max_rss_kb=ran.max_rss_kb,
        network=network.lacking(ran.report),
    )


def _trouble(ran: Trial) -> tuple[str, str]:
    printed = ran.output.decode("utf-8", "replace").strip()[-1500:]
    checks = (
        (ran.setup_error is not None, "setup_failed", ran.setup_error or ""),
        (ran.test_apply_error is not None, "tests_do_not_apply", ran.test_apply_error or ""),
        (ran.model_apply_error is not None, "gold_does_not_apply", ran.model_apply_error or ""),
        (ran.oom_killed, "out_of_memory", ""),
        (ran.timed_out, "timeout", printed),
        (not ran.report.finished, "crashed", printed),
        (bool(ran.report.internal_error), "runner_error", ran.report.internal_error),
        (
            ran.report.exit_code == _USAGE_ERROR and new_api.INITIAL not in ran.report.collect_errors,
            "runner_usage",
            printed,
        ),
    )
    return next(((word, detail) for holds, word, detail in checks if holds), ("", ""))
        wanted=new_api.wanted(ran.report),


_USAGE_ERROR = 4
"""pytest's exit code for a command line or a configuration that it refuses, and for a conftest.py that it can't import.
The latter is judged as the loss of every file."""


def troubled(run: Observed) -> Rejection | None:
    """Why a run that gave no full answer ends the proof; None where it gave one."""
    if not run.trouble:
        return None
    where = {"base": "as it was", "before": "with the hidden tests alone", "after": "with the fix"}[run.state]
    return rejection(run.trouble, f"{where}: {run.detail}".strip(": "))
