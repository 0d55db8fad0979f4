"""A run on disk: what was asked, what was found for each prediction, and the report over it all."""

from __future__ import annotations

import hashlib
import json
import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from pydantic import Field, ValidationError, field_validator

from harness.core import files, json_text, wording
from harness.core.errors import InputError
from harness.core.instance import Identity, Outcome, Prediction
from harness.core.records import OpenRecord
from harness.core.test_ids import readable
from harness.dataset.model_files import read_text
from harness.differential.replay import Replay
from harness.grading.grade import Grade, TestsStatus
from harness.judging.places import Place
from harness.runs import report_mac
from harness.runs.predictions import GOLD, WITHHELD, as_json, is_withheld, read_predictions
from harness.runs.scaffold_score import ScaffoldScore, kind_of
from harness.runs.task_metadata import TaskFacts
from harness.signals.model import Signals
from harness.signals.sources import FILE as SOURCES_FILE

SCHEMA_VERSION = 1
RUN_FILE = "run.json"
PREDICTIONS_FILE = "predictions.jsonl"
TRANSCRIPT_FILE = "transcript.json"
REPORT_FILE = "report.json"
EVIDENCE_FILE = "evidence.age"
_WORD = re.compile(r"[a-z_]{1,40}")


class InstanceReport(OpenRecord):
    """report.json of one prediction. SWE-bench's fields have its names."""

    schema_version: int = SCHEMA_VERSION
    instance_id: str
    model_name_or_path: str
    sample: int = 0
    outcome: Outcome
    resolved: bool
    failure_class: str | None = None
    """How it failed, by harness/grading/failures.py's table; a label beside the verdict. None where resolved."""
    cause: str | None = None
    """What decided the outcome, by harness/grading/grade.py. None where resolved, and in reports from before causes."""
    reason: str = ""
    no_patch: str | None = None
    """Why there is no patch, as the prediction tells; see harness/solve/answers/extract.py. None where there is one."""
    patch_is_None: bool = False  # noqa: N815 - SWE-bench's name
    patch_exists: bool = False
    patch_successfully_applied: bool = False
    tests_status: dict[str, dict[str, list[str]]] = Field(default_factory=dict)
    dropped: list[dict[str, str]] = Field(default_factory=list)
    flags: list[dict[str, str]] = Field(default_factory=list)
    """What a person should look at before believing a pass: `path` and `sign`; see harness/patches/flags.py."""
    tripwires: list[dict[str, str]] = Field(default_factory=list)
    """Where code of the patch looked at what judges it: `path` and `kind`; see harness/judging/tripwires.py."""
    audited: bool | None = None
    """Whether deeds of the patch were watched; None without tests, and in reports from before tripwires."""
    repairs: list[str] = Field(default_factory=list)
    timings: dict[str, float] = Field(default_factory=dict)
    """Seconds per step; `tests` is the test process itself."""
    max_rss_kb: int = 0
    cpu_seconds: float = 0.0
    attempts: int = 1
    reused: bool = False
    """Taken over from an earlier run of the same patch on the same task under the same rules."""
    place: Place = Place.INSIDE
    """Where the task is judged; `inside` for what was scored before there were places."""
    judged: dict[str, dict[str, int]] = Field(default_factory=dict)
    """By list (FAIL_TO_PASS, PASS_TO_PASS): how many of its tests are judged in each place."""
    key: str = ""
    """SHA-256 over task, patch and grading version: the verdict holds for these and nothing else."""
    signals: Signals | None = None
    """What was measured beside the verdict; None where that was not asked for."""
    replay: Replay | None = None
    """How far the patch answers recorded calls as the fix does, outside of a test runner; None where that was not asked
    for, or the patch does not resolve."""
    scaffold: ScaffoldScore | None = None
    """The verdict's two parts, where the task shows some of its tests; None where it hides all."""
    grading_version: int = 0
    classes_version: int = 0
    """Of the rules that gave the verdict and the failure class; 0 where an earlier version did not say."""
    regraded_from: list[dict[str, Any]] = Field(default_factory=list)
    """What the report said before rules changed, oldest first; see harness/runs/regrade.py."""
    evidence_sha256: str = ""
    """SHA-256 of results.json or evidence.age; empty in reports from before."""
    mac: str = ""
    """Over all other fields and the patch, by harness/runs/report_mac.py; empty where nobody vouches for the report."""

    @property
    def identity(self) -> Identity:
        """Of the prediction that it is about."""
        return (self.model_name_or_path, self.instance_id, self.sample)

    @field_validator("tests_status")
    @classmethod
    def _share_ids(cls, shares: dict[str, dict[str, list[str]]]) -> dict[str, dict[str, list[str]]]:
        """All reports on a task list the same ids: each is in memory once, however many reports are."""
        return {
            name: {side: [sys.intern(test_id) for test_id in ids] for side, ids in sides.items()}
            for name, sides in shares.items()
        }


class RunRecord(OpenRecord):
    """run.json: what was asked of a run, and where it was done."""

    schema_version: int = SCHEMA_VERSION
    goldseam_version: str
    grading_version: int
    classes_version: int = 0
    """Of the table of failure classes; 0 where an earlier version did not say."""
    dataset: str
    dataset_version: int
    dataset_content: str = ""
    """`sha256:…` over the dataset's tasks; empty where an earlier version did not say."""
    sealed: bool = False
    """The dataset was sealed; what quotes hidden content is sealed too, unless `settings` has `keep_evidence`."""
    ledger_head: str | None = None
    """Hash of the dataset's newest ledger line when the work began: `holdout log --verify --head` looks for it."""
    tasks: dict[str, str]
    """Task digest (SHA-256) by instance id: what the verdicts were found on."""
    images: dict[str, str]
    """Image digest by instance id."""
    facts: dict[str, TaskFacts] = Field(default_factory=dict)
    """Public facts by instance id, of every proved task of the dataset and of those asked: what cohorts stand on."""
    models: list[str]
    settings: dict[str, Any]
    machine: dict[str, Any]
    started_at: str
    """When the last call that worked on this run began, ISO 8601 in UTC."""
    predictions_sha256: str = ""
    """Of predictions.jsonl, so that none can be taken out."""
    mac: str = ""
    """Over all other fields, as in a report."""


def is_run(path: Path) -> bool:
    """Whether a folder is a run's."""
    return (path / PREDICTIONS_FILE).is_file() or (path / RUN_FILE).is_file()


@dataclass(frozen=True, kw_only=True)
class Evidence:
    """What one prediction left behind, besides its report."""

    patch: bytes | None
    """None where it is the fix of a sealed task."""
    output: bytes = b""
    results: Mapping[str, Any] = field(default_factory=dict)
    sources: bytes = b""
    """The changed files for tools that read them later, as `harness.signals.sources` packs them."""
    sealed: bytes = b""
    """`evidence.age`, in place of output and results: where the dataset is sealed."""


@dataclass(frozen=True, kw_only=True)
class RunFolder:
    """Where a run lives, and how its files are named."""

    path: Path

    def sample_folder(self, prediction: Prediction) -> Path:
        model = folder_name(prediction.model_name_or_path)
        return self.path / "results" / model / prediction.instance_id / str(prediction.sample)

    def remove_strays(self) -> None:
        """Remove what writes that were killed half-way left behind."""
        for folder in (self.path, *self.path.glob("results/*/*/*")):
            files.remove_strays(folder)

    def read(self, prediction: Prediction) -> InstanceReport | None:
        """The finished report of a prediction, or None where there is none, or only a broken one."""
        path = self.sample_folder(prediction) / REPORT_FILE
        try:
            return InstanceReport.model_validate_json(path.read_bytes())
        except (OSError, ValidationError):
            return None

    def write(self, prediction: Prediction, report: InstanceReport, evidence: Evidence) -> None:
        """Evidence first, the report last: a report that is there vouches for the rest."""
        folder = self.sample_folder(prediction)
        results = b"" if evidence.sealed else json.dumps(evidence.results, indent=1).encode() + b"\n"
        digest = hashlib.sha256(evidence.sealed or results).hexdigest()
        fields = {
            "patch.diff": evidence.patch,
            "test_output.txt": None if evidence.sealed else evidence.output,
            "results.json": results or None,
            EVIDENCE_FILE: evidence.sealed or None,
            SOURCES_FILE: evidence.sources or None,
        }
        for name, data in fields.items():
            if data is None:
                (folder / name).unlink(missing_ok=True)
            else:
                files.write_bytes(folder / name, data, durable=False)
        self._write_report(prediction, report.model_copy(update={"evidence_sha256": digest}), vouched=True)

    def write_report(self, prediction: Prediction, report: InstanceReport) -> None:
        """A prediction's report alone, over evidence that is there; vouched for where the one before was."""
        self._write_report(prediction, report, vouched=self.is_authentic(prediction))

    def _write_report(self, prediction: Prediction, report: InstanceReport, *, vouched: bool) -> None:
        fields = json.loads(report.model_dump_json())
        mac = report_mac.of_json(REPORT_FILE, fields, _patch(prediction)) if vouched else ""
        text = report.model_copy(update={"mac": mac}).model_dump_json(indent=1)
        files.write_text(self.sample_folder(prediction) / REPORT_FILE, f"{text}\n")

    def is_authentic(self, prediction: Prediction) -> bool:
        """Whether a prediction's report is as it was written here, for this very patch."""
        fields = _json(self.sample_folder(prediction) / REPORT_FILE)
        identity = tuple(fields.get(name) for name in ("model_name_or_path", "instance_id", "sample"))
        return identity == prediction.identity and report_mac.holds_json(REPORT_FILE, fields, _patch(prediction))

    def has_own_evidence(self, prediction: Prediction) -> bool:
        """Whether what a prediction's report stands on is still what it was found on."""
        folder = self.sample_folder(prediction)
        file = next((path for name in (EVIDENCE_FILE, "results.json") if (path := folder / name).exists()), None)
        digest = _json(folder / REPORT_FILE).get("evidence_sha256")
        return file is not None and digest == hashlib.sha256(file.read_bytes()).hexdigest()

    def unauthenticated(self, model: str) -> tuple[str, ...]:
        """The files about a model that nobody here vouches for, relative to the folder."""
        own = {self.sample_folder(prediction) / REPORT_FILE: prediction for prediction in self.predictions()}
        reports = [path for path in self.report_paths() if _json(path).get("model_name_or_path") == model]
        paths = [path for path in reports if path not in own or not self.is_authentic(own[path])]
        return (*([] if self.is_whole() else [RUN_FILE]), *(str(path.relative_to(self.path)) for path in paths))

    def is_whole(self) -> bool:
        """Whether run.json is as it was written here, and predictions.jsonl the one that it tells of."""
        record = self.record()
        return record is not None and self.vouches(record) and record.predictions_sha256 == self._predictions_digest()

    def vouches(self, record: RunRecord) -> bool:
        """Whether run.json, which this was read from, is as it was written here."""
        return report_mac.holds_json(RUN_FILE, {**_json(self.path / RUN_FILE), "mac": record.mac})

    def _predictions_digest(self) -> str:
        path = self.path / PREDICTIONS_FILE
        return hashlib.sha256(path.read_bytes() if path.exists() else b"").hexdigest()

    def predictions(self) -> tuple[Prediction, ...]:
        """The predictions that this run was asked to score so far."""
        path = self.path / PREDICTIONS_FILE
        return read_predictions(path, reserved=True) if path.exists() and path.stat().st_size else ()

    def record(self) -> RunRecord | None:
        """run.json; None where there is none, or only a broken one."""
        try:
            return RunRecord.model_validate_json((self.path / RUN_FILE).read_bytes())
        except (OSError, ValidationError):
            return None

    def write_run(self, record: RunRecord, *, predictions: str | None = None, vouched: bool = True) -> None:
        """run.json: what was asked of this run, and where it was done.

        Args:
            record: its content.
            predictions: digest of the predictions.jsonl that is written next; None where it is there.
            vouched: whether this machine vouches for it.

        """
        digest = predictions or self._predictions_digest()
        new = record.model_copy(update={"predictions_sha256": digest})
        mac = report_mac.of_json(RUN_FILE, json.loads(new.model_dump_json())) if vouched else ""
        text = new.model_copy(update={"mac": mac}).model_dump_json(indent=1)
        files.write_text(self.path / RUN_FILE, f"{text}\n")

    def write_predictions(self, predictions: Iterable[Prediction]) -> None:
        files.write_bytes(self.path / PREDICTIONS_FILE, _lines(predictions))

    def report_paths(self) -> list[Path]:
        """The files of all finished reports, by model, task and sample."""
        return sorted(self.path.glob("results/*/*/*/" + REPORT_FILE))

    def reports(self) -> Iterator[InstanceReport]:
        """Every finished report of the run, by model, task and sample."""
        for path in self.report_paths():
            try:
                yield InstanceReport.model_validate_json(read_text(path))
            except ValidationError as error:
                raise InputError(f"{path}: {wording.file_problems(error.errors())}") from error

    def pairs(self) -> dict[Identity, tuple[Prediction | None, InstanceReport | None]]:
        """Each prediction with its report, and after them the reports whose predictions predictions.jsonl has lost."""
        reports = {report.identity: report for report in self.reports()}
        predictions = {prediction.identity: prediction for prediction in self.predictions()}
        return {identity: (predictions.get(identity), reports.get(identity)) for identity in {**predictions, **reports}}


def _lines(predictions: Iterable[Prediction]) -> bytes:
    text = "".join(json.dumps(as_json(prediction)) + "\n" for prediction in predictions)
    return text.encode("utf-8", "surrogateescape")


def predictions_digest(predictions: Iterable[Prediction]) -> str:
    """SHA-256 (hex) of the predictions.jsonl that holds these."""
    return hashlib.sha256(_lines(predictions)).hexdigest()


def _json(path: Path) -> dict[str, Any]:
    """A JSON object from a file; empty where there is none that can be read."""
    try:
        return json_text.read_object(path.read_bytes()) or {}
    except OSError:
        return {}


def _patch(prediction: Prediction) -> bytes:
    """What of a prediction its report is about; of a withheld one nothing, whether it was filled or not."""
    withheld = prediction.model_name_or_path == GOLD and prediction.extra.get(WITHHELD) is True
    return b"" if withheld else prediction.patch_bytes()


def merge_predictions(old: Iterable[Prediction], new: Iterable[Prediction]) -> tuple[Prediction, ...]:
    """A run's predictions with further ones added.

    Raises:
        InputError: the run already holds another patch for the same model, task and sample.

    """
    merged = {prediction.identity: prediction for prediction in old}
    for prediction in new:
        earlier = merged.setdefault(prediction.identity, prediction)
        is_same = (earlier.model_patch, earlier.not_read) == (prediction.model_patch, prediction.not_read)
        if not is_same and not (is_withheld(earlier) or is_withheld(prediction)):
            raise InputError(
                f"the run folder already holds another patch of {prediction.model_name_or_path!r} for "
                f"{prediction.instance_id} (sample {prediction.sample})",
                hint="choose another folder with -o",
            )
    return tuple(merged.values())


def folder_name(model: str) -> str:
    """A model's name as a folder: `/` becomes `__` as in SWE-bench; a hash is added where that could clash."""
    plain = model.replace("/", "__")
    name = re.sub(r"[^A-Za-z0-9._+=@-]", "_", plain).lstrip(".")[:120]
    could_clash = re.search(r"__|_/|/_|//|-[0-9a-f]{16}$", model)
    if name == plain and not could_clash:
        return name
    return f"{name}-{hashlib.sha256(model.encode('utf-8', 'surrogateescape')).hexdigest()[:16]}"


def swebench_tests_status(tests: TestsStatus) -> dict[str, dict[str, list[str]]]:
    """SWE-bench's `tests_status`: per list, the ids that passed and those that did not."""
    lists = {"FAIL_TO_PASS": tests.fail_to_pass, "PASS_TO_PASS": tests.pass_to_pass}
    return {
        name: {
            "success": [test_id for test_id, status in statuses.items() if status == "PASSED"],
            "failure": [test_id for test_id, status in statuses.items() if status != "PASSED"],
        }
        for name, statuses in lists.items()
    }


def instance_report(
    prediction: Prediction, grade: Grade, *, failure_class: str | None = None, **fields: Any
) -> InstanceReport:
    """The report of one graded prediction."""
    patch = prediction.model_patch
    return InstanceReport(
        instance_id=prediction.instance_id,
        model_name_or_path=prediction.model_name_or_path,
        sample=prediction.sample,
        outcome=grade.outcome,
        resolved=grade.outcome is Outcome.RESOLVED,
        failure_class=failure_class,
        cause=grade.cause,
        reason=readable(grade.reason),
        no_patch=no_patch_word(prediction) if patch is None else None,
        patch_is_None=patch is None and not prediction.not_read,
        patch_exists=bool(prediction.not_read or (patch and patch.strip())),
        patch_successfully_applied=grade.outcome
        in (Outcome.RESOLVED, Outcome.UNRESOLVED, Outcome.TAMPERED, Outcome.NEEDS_REVIEW),
        tests_status=swebench_tests_status(grade.tests),
        **fields,
    )


def no_patch_word(prediction: Prediction) -> str | None:
    """The word by which a prediction tells why it has no patch; None where it has none, or one that is no word."""
    word = prediction.extra.get("no_patch")
    return word if isinstance(word, str) and _WORD.fullmatch(word) else None


@dataclass(frozen=True, kw_only=True)
class Score:
    """One model's score in a run. `resolved` counts predictions, as do all the others."""

    model: str
    total: int
    scored: int
    """Predictions with a verdict: all but infrastructure errors."""
    outcomes: Mapping[str, int]
    scaffolded: int = 0
    """Predictions for tasks that show some of their tests."""
    resolved_hidden: int | None = None
    """Predictions that pass all hidden tests, whatever becomes of those shown; None where no task shows any."""
    judged: Mapping[str, int] = field(default_factory=dict)
    """Predictions with a verdict, by where their tasks are judged."""
    apart: int = 0
    """Predictions judged by the repository's own runner, in no other figure; 0 where there are no others."""

    @property
    def resolved(self) -> int:
        return self.outcomes.get(Outcome.RESOLVED, 0)

    @property
    def rate(self) -> float | None:
        """Resolved of scored; None where nothing was scored."""
        return self.resolved / self.scored if self.scored else None

    @property
    def coverage(self) -> float:
        """Scored of total."""
        return self.scored / self.total if self.total else 0.0


def scores(predictions: Iterable[Prediction], reports: Iterable[InstanceReport]) -> tuple[Score, ...]:
    """Each model's score, by name."""
    predicted = Counter(prediction.model_name_or_path for prediction in predictions)
    outcomes: dict[str, Counter[str]] = {model: Counter() for model in predicted}
    hidden: Counter[str] = Counter()
    scaffolded: Counter[str] = Counter()
    judged: Counter[tuple[str, Place]] = Counter()
    reports = tuple(reports)
    apart = Counter(report.model_name_or_path for report in reports if report.place is Place.OWN_RUNNER)
    if apart.total() == len(reports):
        apart.clear()
    for report in reports:
        model = report.model_name_or_path
        judged[model, report.place] += report.outcome is not Outcome.INFRA_ERROR
        if apart and report.place is Place.OWN_RUNNER:
            continue
        outcomes.setdefault(model, Counter())[report.outcome.value] += 1
        hidden[model] += report.scaffold.resolved_hidden if report.scaffold else report.resolved
        scaffolded[model] += report.scaffold is not None
    return tuple(
        Score(
            model=model,
            total=max(predicted[model] - apart[model], counts.total()),
            scored=counts.total() - counts[Outcome.INFRA_ERROR.value],
            outcomes=dict(sorted(counts.items())),
            scaffolded=scaffolded[model],
            resolved_hidden=hidden[model] if scaffolded[model] else None,
            judged={place.value: judged[model, place] for place in Place},
            apart=apart[model],
        )
        for model, counts in sorted(outcomes.items())
    )


def run_report(
    all_ids: Iterable[str], predictions: Iterable[Prediction], reports: Iterable[InstanceReport]
) -> dict[str, Any]:
    """report.json of a run: SWE-bench's run report (its schema 2), and ours under `goldseam`.

    SWE-bench's report knows one model and one sample. With more of them its lists hold an id once for each prediction
    that came to it; the figures per model are under `goldseam`.
    """
    every = sorted(set(all_ids))
    predictions, reports = tuple(predictions), tuple(reports)
    by_outcome: dict[Outcome, list[str]] = {outcome: [] for outcome in Outcome}
    for report in reports:
        by_outcome[report.outcome].append(report.instance_id)
    waiting = sorted(by_outcome[Outcome.NEEDS_REVIEW])
    unresolved = sorted(by_outcome[Outcome.UNRESOLVED] + by_outcome[Outcome.TAMPERED] + waiting)
    errors = sorted(by_outcome[Outcome.INFRA_ERROR] + by_outcome[Outcome.APPLY_FAILED])
    resolved, empty = sorted(by_outcome[Outcome.RESOLVED]), sorted(by_outcome[Outcome.EMPTY_PATCH])
    submitted = sorted(prediction.instance_id for prediction in predictions)
    completed = sorted(resolved + unresolved)
    incomplete = sorted(set(every) - set(submitted))
    scored = scores(predictions, reports)
    return {
        "schema_version": 2,
        "total_instances": len(every),
        "submitted_instances": len(submitted),
        "completed_instances": len(completed),
        "resolved_instances": len(resolved),
        "unresolved_instances": len(unresolved),
        "empty_patch_instances": len(empty),
        "error_instances": len(errors),
        "submitted_ids": submitted,
        "completed_ids": completed,
        "incomplete_ids": incomplete,
        "resolved_ids": resolved,
        "unresolved_ids": unresolved,
        "empty_patch_ids": empty,
        "error_ids": errors,
        "goldseam": {
            "schema_version": SCHEMA_VERSION,
            "needs_review_ids": waiting,
            **kind_of(report.scaffold for report in reports),
            "models": [
                {**asdict(score), "resolved": score.resolved, "rate": score.rate, "coverage": score.coverage}
                for score in scored
            ],
        },
    }
