"""Tests collected in an image: a candidate's with its fix in place, and those of the whole suite (`--p2p all`)."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import replace

from harness.core.instance import Budgets, TestStatus
from harness.core.test_ids import files as test_files
from harness.grading import trial
from harness.grading.trial import Trial
from harness.sandbox.job import Sandbox
from miner.candidates.split import classify
from miner.evidence.tree import Tree
from miner.languages import language_of
from miner.languages.built import Collected
from miner.proof import Proof, Subject
from miner.proof.proof_at_fix_date import Attempt
from miner.proof.subject import Patches, prepare
from miner.sources.change import Kind, Rejection

_USAGE = 4
"""pytest's exit code for an option or a configuration that it doesn't know."""
_OUTPUT = 20_000
_NO_MODULE = re.compile(r"No module named '([A-Za-z_][\w.]{0,200})'")
_SKIPPED_FOR = re.compile(r"could not import '([A-Za-z_][\w.]{0,200})'")
"""What `pytest.importorskip` says of a file that needs a module which is not there."""
MOST_FILES = 2000
"""More files than this are not given to a runner; the task keeps to those that its change touches."""


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
    return judged(_listed(subject, subject.test_files, sandbox, patches))


def _listed(subject: Subject, files: Collection[str], sandbox: Sandbox, patches: Patches | None = None) -> Trial:
    """A run that only collects the tests of these files."""
    spec = trial.TrialSpec(
        image=subject.image,
        test=replace(language_of(subject.test).listing(subject.test), clock=None),
        files=tuple(files),
        budgets=Budgets(),
        model_patch=patches.gold if patches else None,
        test_patch=patches.tests if patches else None,
    )
    return trial.run(spec, sandbox)


def judged(ran: Trial) -> Collected:
    """What a trial that only collects says of its environment. Pure."""
    report = ran.report
    skips = [match[1] for text in report.collect_skips.values() if (match := _SKIPPED_FOR.search(text))]
    lost = len(report.collect_errors) + len(skips)
    failed = sum(status in (TestStatus.FAILED, TestStatus.ERROR) for status in report.statuses.values())
    whole = report.internal_error or _USAGE in {ran.child_exit, report.exit_code}
    if not ran.ran or ran.timed_out or ran.flooded or ran.oom_killed or not (lost or whole):
        return Collected(ok=True, seconds=ran.seconds, tests=len(report.collected), failed=failed)
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
        failed=failed,
        missing=missing,
        optional=tuple(dict.fromkeys(skips)),
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


def files_of(subject: Subject, tree: Tree, sandbox: Sandbox) -> tuple[str, ...]:
    """The files of the tests that can be collected in the tree as it was before the change, sorted.

    They are collected as the repository's own settings say. Files of code are left out (doctests in modules), since a
    model has to be able to change them.

    Raises:
        InfrastructureError: the engine failed.

    """
    language = language_of(subject.test)
    files: tuple[str, ...] = ()
    for paths_asked in language.suite(subject.test, tree):
        modules = [path for path in paths_asked if not path.endswith(language.suffixes) or classify(path) is Kind.TEST]
        if modules and not files:
            files = tuple(sorted(test_files(_listed(subject, modules, sandbox).report.collected)))
    return tuple(path for path in files if classify(path) in (Kind.TEST, Kind.SUPPORT))


def widened(subject: Subject, proof: Proof, files: Collection[str], attempt: Attempt) -> tuple[Subject, Proof]:
    """A proof over all of these files, where there is one that says no less of the fix; else the one that is there.

    What of the suite is flaky, fails or takes too long never costs a task: the proof's evidence says, under `p2p`, what
    was asked and why it came to less.

    Raises:
        InfrastructureError: the engine failed.

    """
    single = (test_id for test_id in subject.test_files if test_id.partition("::")[0] not in files)
    wider = replace(subject, test_files=tuple(sorted({*single, *files})))
    added = len(wider.test_files) - len(subject.test_files)
    if not 0 < len(wider.test_files) <= MOST_FILES:
        return subject, _noted(proof, added, f"more than {MOST_FILES} files")
    if not added:
        return subject, _noted(proof, 0)
    wider_proof = attempt(wider)
    if isinstance(wider_proof, Rejection):
        return subject, _noted(proof, added, wider_proof.reason)
    if wider_proof.set_aside is not None or not set(proof.fail_to_pass) <= set(wider_proof.fail_to_pass):
        return subject, _noted(proof, added, "tests of FAIL_TO_PASS do not pass every time among all others")
    return wider, _noted(wider_proof, added)


def _noted(proof: Proof, added: int, why_not: str = "") -> Proof:
    fields = {"asked": "all", "files_added": 0 if why_not else added, **({"narrowed": why_not} if why_not else {})}
    return replace(proof, evidence={**proof.evidence, "p2p": fields})
