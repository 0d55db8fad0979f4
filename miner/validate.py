"""The proof: three states, each run several times in fresh containers; what fails before and passes after, every time.

States: `base`; `before` (base + hidden tests); `after` (base + hidden tests + gold patch). The gold patch takes the
very road that a model's patch takes, so a fix which that road would refuse makes no task.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

from harness import files, patch, screening, trial
from harness.instance import Budgets, TestStatus
from miner import network
from miner.change import Rejection, Stage

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from harness.instance import TestSpec
    from harness.sandbox.base import Sandbox
    from harness.trial import Trial

State = Literal["base", "before", "after"]
STATES: tuple[State, ...] = ("base", "before", "after")
PROOF_BUDGETS = Budgets(seconds=600.0)
_SECONDS_FACTOR, _SECONDS_FLOOR, _SECONDS_CEILING = 10.0, 60.0, 1800.0
_MEMORY_FACTOR, _MEMORY_FLOOR, _MEMORY_CEILING = 4.0, 2048, 8192
_NEW_NAME = re.compile(r"cannot import name|No module named|has no attribute|is not defined")


@dataclass(frozen=True, kw_only=True)
class Subject:
    """What is to be proved."""

    instance_id: str
    image: str
    test: TestSpec
    test_files: tuple[str, ...]
    gold_patch: bytes
    test_patch: bytes

    def key(self) -> str:
        """SHA-256 over what the result of a run depends on."""
        parts = (self.image, self.test, self.test_files, self.gold_patch, self.test_patch)
        return hashlib.sha256(repr(parts).encode()).hexdigest()


@dataclass(frozen=True, kw_only=True)
class Observed:
    """What one run said, in the form that is kept on disk."""

    state: State
    number: int
    statuses: Mapping[str, TestStatus]
    collect_errors: Mapping[str, str] = field(default_factory=dict)
    trouble: str = ""
    """Why the run gave no full answer: `timeout`, `out_of_memory`, `crashed`, or what did not apply; else empty."""
    detail: str = ""
    seconds: float = 0.0
    max_rss_kb: int = 0
    network: tuple[str, ...] = ()
    """Tests, and files that could not be collected, whose failure tells of a network that is not there."""


@dataclass(frozen=True, kw_only=True)
class Proof:
    """A proved task's lists and the evidence for them."""

    fail_to_pass: tuple[str, ...]
    pass_to_pass: tuple[str, ...]
    flaky: tuple[str, ...]
    budgets: Budgets
    evidence: dict[str, Any]
    seconds: float
    """Wall time of the tests in all runs together."""


class Notebook:
    """The runs of one subject, kept on disk as they end, so that an interrupted proof goes on where it stopped."""

    def __init__(self, path: Path, subject: Subject) -> None:
        self._path = path
        self._key = subject.key()
        self._known: dict[tuple[str, int], Observed] = {}
        if path.exists():
            for line in path.read_bytes().split(b"\n")[:-1]:
                self._remember(line)

    def _remember(self, line: bytes) -> None:
        try:
            raw = json.loads(line)
        except ValueError:
            return  # half a line, from a process that was killed
        if raw.pop("key", None) == self._key:
            raw["statuses"] = {test_id: TestStatus(status) for test_id, status in raw["statuses"].items()}
            raw["network"] = tuple(raw.get("network", ()))
            observed = Observed(**raw)
            self._known[observed.state, observed.number] = observed

    def get(self, state: State, number: int) -> Observed | None:
        return self._known.get((state, number))

    def add(self, observed: Observed) -> None:
        raw = {"key": self._key, **observed.__dict__}
        with files.explained(self._path):
            self._path.parent.mkdir(parents=True, exist_ok=True)
            with self._path.open("ab") as file:
                file.write(json.dumps(raw).encode() + b"\n")

    def close(self) -> None:
        """The proof is done; its notes are in the task."""
        self._path.unlink(missing_ok=True)


def validate(
    subject: Subject, sandbox: Sandbox, *, runs: int, notebook: Notebook, progress: Callable[[str], None]
) -> Proof | Rejection:
    """Prove a task, or say why it is none.

    The first run of each state comes first, so that a hopeless subject costs two or three containers, not all of them.

    Raises:
        InfrastructureError: the engine failed; nothing is said of the subject.

    """
    patches = prepare(subject)
    if isinstance(patches, Rejection):
        return patches
    found: list[Observed] = []
    for number in range(runs):
        for state in ("after", "before", "base"):
            progress(f"{state} {number + 1}/{runs}")
            found.append(observe(subject, patches, state, number, sandbox, notebook))
            if (rejection := _hopeless(found)) is not None:
                return rejection
    return judge(found, runs=runs)


@dataclass(frozen=True, kw_only=True)
class Patches:
    """A subject's patches, ready to be applied."""

    gold: patch.Patch
    tests: patch.Patch


def prepare(subject: Subject) -> Patches | Rejection:
    """A subject's patches: the fix as screening leaves it of a model's patch; `gold_refused` where it can't be one."""
    try:
        tests = patch.parse(subject.test_patch, trusted=True)
        gold = screening.screen_for(patch.parse(subject.gold_patch), subject, subject.test)
    except patch.PatchError as error:
        return _rejection("gold_refused", f"the fix could not be given as a model patch: {error}")
    return Patches(gold=gold.kept, tests=tests)


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
        (ran.report.exit_code == _USAGE_ERROR, "runner_usage", printed),
    )
    return next(((word, detail) for holds, word, detail in checks if holds), ("", ""))


_USAGE_ERROR = 4
"""pytest's exit code for a command line or a configuration that it refuses."""


def troubled(run: Observed) -> Rejection | None:
    """Why a run that gave no full answer ends the proof; None where it gave one."""
    if not run.trouble:
        return None
    where = {"base": "as it was", "before": "with the hidden tests alone", "after": "with the fix"}[run.state]
    return _rejection(run.trouble, f"{where}: {run.detail}".strip(": "))


def _hopeless(found: list[Observed]) -> Rejection | None:
    """What the runs so far already rule out."""
    last = found[-1]
    if last.state != "base" and (trouble := troubled(last)):
        return trouble
    after = [run for run in found if run.state == "after"]
    before = [run for run in found if run.state == "before"]
    passed = _passed_in_all(after)
    if not passed and last.state == "after":
        return _rejection("gold_fails", _first_error(after) or "no test passes with the fix")
    if before and not (passed - _passed_in_any(before)):
        if _passed_in_any(after) - _passed_in_any(before):
            return _rejection("unstable_fail_to_pass", "the tests that the fix turns do not pass every time")
        return _rejection("no_fail_to_pass", "every test that passes with the fix passes without it, too")
    return None


def judge(found: list[Observed], *, runs: int) -> Proof | Rejection:
    """The lists from all runs. Pure.

    A test fails to pass if no run before passes and every run after does. Where the whole file could not be collected
    before because of a name that the fix brings, its tests count as failing, except those that pass at base: these
    were there all along and are held as PASS_TO_PASS.
    """
    by_state = {state: [run for run in found if run.state == state] for state in STATES}
    after, before, base = by_state["after"], by_state["before"], by_state["base"]
    good = _passed_in_all(after)
    flaky = _unstable(after) | _unstable(before)
    lost_files = {path for run in before for path in run.collect_errors}
    lost = {test_id for test_id in good if test_id.split("::", 1)[0] in lost_files}
    if lost and not all(_NEW_NAME.search(text) for run in before for text in run.collect_errors.values()):
        good -= lost
    known_at_base = lost & _passed_in_all(base)
    fails = {test_id for test_id in good - flaky if test_id not in _passed_in_any(before)} - known_at_base
    holds = ((good & _passed_in_all(before)) | (good & known_at_base)) - flaky
    if not fails:
        if lost - good:
            return _rejection("not_collectable_before", _first_error(before))
        if flaky:
            return _rejection("unstable_fail_to_pass", f"unstable: {', '.join(sorted(flaky)[:3])}")
        return _rejection("no_fail_to_pass", "no test fails every time before the fix and passes every time after it")
    return Proof(
        fail_to_pass=tuple(sorted(fails)),
        pass_to_pass=tuple(sorted(holds)),
        flaky=tuple(sorted(flaky)),
        budgets=budgets(after),
        evidence=_evidence(by_state, runs, new_api=bool(fails & lost)),
        seconds=sum(run.seconds for run in found),
    )


def budgets(after: Sequence[Observed]) -> Budgets:
    """What the tests may use, by what they used with the fix."""
    return replace(
        PROOF_BUDGETS,
        seconds=_seconds_budget(max(run.seconds for run in after)),
        memory_mb=_memory_budget(max(run.max_rss_kb for run in after)),
    )


def _seconds_budget(slowest: float) -> float:
    return float(math.ceil(min(_SECONDS_CEILING, max(_SECONDS_FLOOR, slowest * _SECONDS_FACTOR))))


def _memory_budget(largest_kb: int) -> int:
    """MiB. The largest process is what is known of gold's use; several of them, and files on tmpfs, need the factor."""
    return math.ceil(min(_MEMORY_CEILING, max(_MEMORY_FLOOR, largest_kb / 1024 * _MEMORY_FACTOR)))


def _evidence(by_state: Mapping[State, list[Observed]], runs: int, *, new_api: bool) -> dict[str, Any]:
    every = sorted({test_id for observed in by_state.values() for run in observed for test_id in run.statuses})
    after = by_state["after"]
    return {
        "runs": runs,
        "new_api": new_api,
        "passes": {
            test_id: [
                sum(run.statuses.get(test_id) is TestStatus.PASSED for run in by_state[state]) for state in STATES
            ]
            for test_id in every
        },
        "gold_seconds": round(max(run.seconds for run in after), 3),
        "gold_max_rss_kb": max(run.max_rss_kb for run in after),
    }


def _passed(run: Observed) -> set[str]:
    return {test_id for test_id, status in run.statuses.items() if status is TestStatus.PASSED}


def _passed_in_all(observed: list[Observed]) -> set[str]:
    return set.intersection(*map(_passed, observed)) if observed else set()


def _passed_in_any(observed: list[Observed]) -> set[str]:
    return set.union(*map(_passed, observed)) if observed else set()


def _unstable(observed: list[Observed]) -> set[str]:
    """Ids that pass in some runs of a state and not in others."""
    return _passed_in_any(observed) - _passed_in_all(observed)


def _first_error(observed: list[Observed]) -> str:
    errors = [text for run in observed for text in run.collect_errors.values()]
    return errors[0].strip()[-1000:] if errors else ""


def _rejection(reason: str, detail: str = "") -> Rejection:
    return Rejection(stage=Stage.VALIDATION, reason=reason, detail=detail[:2000])
