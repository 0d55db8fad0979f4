"""Whether a candidate's tests can be collected in an image, once its fix is in place. The ladder asks it of a rung."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from harness.core.instance import Budgets
from harness.grading import trial
from miner.languages import language_of
from miner.languages.built import Collected
from miner.proof.subject import prepare
from miner.sources.change import Rejection

if TYPE_CHECKING:
    from harness.grading.trial import Trial
    from harness.sandbox.job import Sandbox
    from miner.proof import Subject

_USAGE = 4
"""pytest's exit code for an option or a configuration that it doesn't know."""
_OUTPUT = 20_000
_NO_MODULE = re.compile(r"No module named '([A-Za-z_][\w.]{0,200})'")


def collect(subject: Subject, sandbox: Sandbox) -> Collected:
    """Collect the tests of a subject, with tests and fix in place; nothing of them is run.

    What no other environment could better (patches that don't apply, too little time) counts as collected: the proof
    has its own words for it.

    Raises:
        InfrastructureError: the engine failed, or the image is not there.

    """
    patches = prepare(subject)
    if isinstance(patches, Rejection):
        return Collected(ok=True)
    spec = trial.TrialSpec(
        image=subject.image,
        test=replace(language_of(subject.test).listing(subject.test), clock=None),
        files=subject.test_files,
        budgets=Budgets(),
        model_patch=patches.gold,
        test_patch=patches.tests,
    )
    return judged(trial.run(spec, sandbox))


def judged(ran: Trial) -> Collected:
    """What a trial that only collects says of its environment. Pure."""
    report = ran.report
    lost = len(report.collect_errors)
    whole = report.internal_error or _USAGE in {ran.child_exit, report.exit_code}
    if not ran.ran or ran.timed_out or ran.oom_killed or not (lost or whole):
        return Collected(ok=True, seconds=ran.seconds, tests=len(report.collected))
    chains = [*report.collect_raised.values(), report.internal_raised]
    missing = tuple(dict.fromkeys(link.missing for chain in chains for link in chain if link.missing))
    links = [link for chain in chains for link in chain if "ModuleNotFoundError" in link.names and not link.missing]
    parts = tuple(dict.fromkeys(match[1] for link in links if (match := _NO_MODULE.search(link.says))))
    text = "\n".join((*report.collect_errors.values(), report.internal_error, ran.output.decode("utf-8", "replace")))
    return Collected(
        ok=False,
        seconds=ran.seconds,
        tests=len(report.collected),
        lost=lost or 1 + len(report.collected),
        missing=missing,
        parts=parts,
        failure=_public_words(missing, lost),
        output=text[-_OUTPUT:],
    )


def _public_words(missing: tuple[str, ...], lost: int) -> str:
    """What can be said in public: how much is lost, and nothing in the words of hidden tests."""
    if not lost:
        return "the test runner could not start"
    why = f", {len(missing)} modules missing" if missing else ""
    return f"{lost} files or folders could not be collected{why}"
