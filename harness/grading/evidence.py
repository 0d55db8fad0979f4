"""What results.json keeps so that a verdict can be found again without a container: all that grading looks at."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from pydantic import Field, ValidationError

from harness.core.instance import TestStatus
from harness.core.records import OpenRecord
from harness.core.wording import problems
from harness.grading.scoring import Demands, Round
from harness.grading.trial import BuildRun, Trial
from harness.judging.tripwires import Watch
from harness.judging.values import Event
from harness.languages.base import Chain, Raised, TestReport

EVIDENCE_VERSION = 2
"""Goes up when grading looks at something that older evidence does not hold."""


class NoEvidenceError(ValueError):
    """results.json does not hold what grading looks at; the message says why not."""


class TestModel(OpenRecord):
    """One test in one round."""

    __test__ = False

    status: TestStatus
    seconds: float = 0.0
    raised: Chain = ()


class CollectModel(OpenRecord):
    """A file that could not be collected."""

    text: str = ""
    raised: Chain = ()


class RoundModel(OpenRecord):
    """One container, as it left what it left: before anything is compared, listed or graded."""

    attempts: int = 1
    ran: bool
    exited: bool
    child_exit: int | None = None
    child_signal: int | None = None
    timed_out: bool = False
    flooded: bool = False
    oom_killed: bool = False
    setup_error: str | None = None
    model_apply_error: str | None = None
    test_apply_error: str | None = None
    violations: tuple[str, ...] = ()
    seconds: float = 0.0
    cpu_seconds: float = 0.0
    max_rss_kb: int = 0
    output_bytes: int = 0
    timings: dict[str, float] = Field(default_factory=dict)
    finished: bool = False
    exit_code: int | None = None
    internal_error: str = ""
    internal_raised: Chain = ()
    tests: dict[str, TestModel] = Field(default_factory=dict)
    events: tuple[tuple[str, int, int, tuple[Any, ...], Any], ...] = ()
    """What assertions handed out: test id, slot, how manieth time, values, exception."""
    collect_errors: dict[str, CollectModel] = Field(default_factory=dict)
    tripwires: Watch = Field(default_factory=Watch)
    """Nothing in evidence from before them."""
    build: BuildRun | None = None


class EvidenceModel(OpenRecord):
    """`evidence` of results.json."""

    version: int
    task: str
    """SHA-256 of the task, as in run.json."""
    demands: Demands
    slowdown: float = 1.0
    applied: str | None = None
    """SHA-256 of what was left of the patch after screening; None where no container was to see it."""
    unscored: dict[str, str] | None = None
    """`cause` and `message`, where infrastructure failed."""
    round: RoundModel | None = None


@dataclass(frozen=True, kw_only=True)
class Saved:
    """The evidence of one prediction, read back."""

    task_digest: str
    demands: Demands
    slowdown: float
    applied: str | None
    unscored: tuple[str, str] | None
    """Cause and message, where infrastructure failed."""
    round: Round | None


def written(saved: Saved) -> dict[str, Any]:
    """`evidence` as results.json has it."""
    return {
        "version": EVIDENCE_VERSION,
        "task": saved.task_digest,
        "demands": asdict(saved.demands),
        "slowdown": saved.slowdown,
        "applied": saved.applied,
        "unscored": dict(zip(("cause", "message"), saved.unscored, strict=True)) if saved.unscored else None,
        "round": _round(saved.round) if saved.round else None,
    }


def read(results: Mapping[str, Any]) -> Saved:
    """The evidence in a results.json.

    Raises:
        NoEvidenceError: an earlier version wrote it, or it is broken.

    """
    if not isinstance(results.get("evidence"), dict):
        raise NoEvidenceError("its evidence is too old: it was scored before rounds were kept")
    try:
        evidence_model = EvidenceModel.model_validate(results["evidence"])
    except ValidationError as error:
        raise NoEvidenceError(f"its evidence is broken at {problems(error.errors())}") from error
    if evidence_model.version != EVIDENCE_VERSION:
        age = "too old" if evidence_model.version < EVIDENCE_VERSION else "of a newer goldseam"
        raise NoEvidenceError(f"its evidence is {age}: version {evidence_model.version}, not {EVIDENCE_VERSION}")
    unscored = evidence_model.unscored
    return Saved(
        task_digest=evidence_model.task,
        demands=evidence_model.demands,
        slowdown=evidence_model.slowdown,
        applied=evidence_model.applied,
        unscored=(unscored.get("cause", "engine"), unscored.get("message", "")) if unscored else None,
        round=_round_again(evidence_model.round) if evidence_model.round else None,
    )


def _round(round_made: Round) -> dict[str, Any]:
    trial, report = round_made.trial, round_made.trial.report
    return {
        "attempts": round_made.attempts,
        **{name: getattr(trial, name) for name in _TRIAL_FIELDS},
        "violations": list(trial.violations),
        "output_bytes": trial.output_size,
        "timings": dict(trial.timings),
        "finished": report.finished,
        "exit_code": report.exit_code,
        "internal_error": report.internal_error,
        "internal_raised": chain_as_json(report.internal_raised),
        "tests": {test_id: _test(report, test_id) for test_id in report.statuses},
        "events": [[event.test_id, event.slot, event.n, event.values, event.raised] for event in report.events],
        "tripwires": asdict(trial.tripwires),
        **({"build": asdict(trial.build)} if trial.build else {}),
        "collect_errors": {
            path: {"text": text, "raised": chain_as_json(report.collect_raised.get(path, ()))}
            for path, text in report.collect_errors.items()
        },
    }


_TRIAL_FIELDS = (
    "ran", "exited", "child_exit", "child_signal", "timed_out", "flooded", "oom_killed", "setup_error",
    "model_apply_error", "test_apply_error", "seconds", "cpu_seconds", "max_rss_kb",
)  # fmt: skip


def _test(report: TestReport, test_id: str) -> dict[str, Any]:
    test: dict[str, Any] = {"status": report.statuses[test_id].value, "seconds": report.seconds.get(test_id, 0.0)}
    if chain := report.raised.get(test_id):
        test["raised"] = chain_as_json(chain)
    return test


def chain_as_json(chain: Iterable[Raised]) -> list[dict[str, Any]]:
    """A chain of exceptions as a file has it, less what says nothing, and messages: these stand with the test."""
    return [
        {name: value for name, value in asdict(link).items() if value not in (None, "") and name != "says"}
        for link in chain
    ]


def _round_again(round_model: RoundModel) -> Round:
    report = TestReport(
        statuses={test_id: test.status for test_id, test in round_model.tests.items()},
        seconds={test_id: test.seconds for test_id, test in round_model.tests.items()},
        raised={test_id: test.raised for test_id, test in round_model.tests.items() if test.raised},
        events=tuple(
            Event(test_id=test_id, slot=slot, n=n, values=values, raised=raised)
            for test_id, slot, n, values, raised in round_model.events
        ),
        collect_errors={path: error.text for path, error in round_model.collect_errors.items()},
        collect_raised={path: error.raised for path, error in round_model.collect_errors.items() if error.raised},
        internal_error=round_model.internal_error,
        internal_raised=round_model.internal_raised,
        finished=round_model.finished,
        exit_code=round_model.exit_code,
    )
    trial = Trial(
        report=report,
        violations=round_model.violations,
        output=b"",
        output_size=round_model.output_bytes,
        timings=round_model.timings,
        tripwires=round_model.tripwires,
        build=round_model.build,
        **{name: getattr(round_model, name) for name in _TRIAL_FIELDS},
    )
    return Round(trial=trial, attempts=round_model.attempts)
