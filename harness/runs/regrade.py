"""A run regraded: its verdicts and failure classes found again from what it saved, after rules have changed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import groupby
from pathlib import Path
from typing import Any

from harness.core import files, json_text, origin
from harness.core.errors import BugError, InputError
from harness.core.instance import Prediction, Task
from harness.dataset.folder import Dataset
from harness.dataset.ledger import chain
from harness.dataset.seal import access_log
from harness.grading.failures import CLASSES_VERSION
from harness.grading.grade import GRADING_VERSION
from harness.runs import bug_log, run_folder, task_store
from harness.runs.evaluate import write_report
from harness.runs.redaction import Redaction, veil_for
from harness.runs.run_folder import InstanceReport, RunFolder
from harness.runs.verdict import CannotReplayError, carried, look, replay
from harness.signals import attach

_VERDICT = ("outcome", "failure_class", "cause", "reason")
_RULES = ("grading_version", "classes_version", "key")
"""What changes with the rules even where they say the same."""


class State(StrEnum):
    """What regrading came to for one prediction."""

    UNCHANGED = "unchanged"
    CHANGED = "changed"
    NOT_REGRADED = "not_regraded"
    """The evidence does not carry a verdict under today's rules; the report is as it was."""
    NOT_SCORED = "not_scored"
    """There is no report to regrade."""


@dataclass(frozen=True, kw_only=True)
class Regraded:
    """One prediction, before and after."""

    instance_id: str
    model: str
    sample: int
    state: State
    before: tuple[str, str | None] | None = None
    """Outcome and failure class."""
    after: tuple[str, str | None] | None = None
    changed: tuple[str, ...] = ()
    """Names of the report's fields that say something else now."""
    why_not: str = ""


@dataclass(frozen=True, kw_only=True)
class Summary:
    """A run regraded."""

    predictions: tuple[Regraded, ...] = field(default_factory=tuple)

    def count(self, state: State) -> int:
        return Counter(prediction.state for prediction in self.predictions)[state]

    def as_json(self) -> dict[str, Any]:
        """For programs: every prediction that is not as it was, and how many there are of each state."""
        return {
            "schema_version": run_folder.SCHEMA_VERSION,
            "grading_version": GRADING_VERSION,
            "classes_version": CLASSES_VERSION,
            "counts": {state.value: self.count(state) for state in State},
            "predictions": [
                _as_json(prediction) for prediction in self.predictions if prediction.state is not State.UNCHANGED
            ],
        }


def regrade(dataset: Dataset, path: Path, *, ids: Sequence[str] = ()) -> Summary:
    """Regrade a run folder in place. No container is started.

    A report is replaced at once and keeps what it said before under `regraded_from`. Stopped half-way, the same call
    goes on: what it did already is as the rules have it. A second call changes nothing.

    Raises:
        InputError: there is no run, or it is in use.

    """
    if not (path / run_folder.RUN_FILE).is_file():
        message = (
            f"{path} is not a run folder: it has no {run_folder.RUN_FILE}" if path.is_dir() else files.no_folder(path)
        )
        raise InputError(message, hint="give the folder of a run")
    chain.require(dataset)
    folder = RunFolder(path=path)
    with files.locked(path / ".lock", busy=f"another goldseam is writing {path}"):
        folder.remove_strays()
        task_ids = set(dataset.ids())
        predictions = [item for item in folder.predictions() if not ids or item.instance_id in ids]
        access_log.tell(
            dataset, task_ids & {item.instance_id for item in predictions}, purpose="regrade", run=path.name
        )
        summary = Summary(predictions=tuple(_regraded_each(dataset, folder, predictions, task_ids)))
        _write_run(folder, summary)
        write_report(dataset, folder)
    return summary


def _regraded_each(
    dataset: Dataset, folder: RunFolder, predictions: Sequence[Prediction], task_ids: Collection[str]
) -> Iterator[Regraded]:
    """Each prediction; a task is read once for all of its own, and one is open at a time."""
    veil = veil_for(dataset)
    by_task = groupby(sorted(predictions, key=lambda item: item.instance_id), key=lambda item: item.instance_id)
    for task_id, items in by_task:
        task = dataset.task(task_id) if task_id in task_ids else None
        for item in items:
            yield _regrade_one(task, folder, item, veil)


def _regrade_one(task: Task | None, folder: RunFolder, item: Prediction, veil: Redaction | None) -> Regraded:
    prediction = task_store.filled(item, task) if task else item
    old = folder.read(prediction)
    if old is None:
        return _regraded(prediction, State.NOT_SCORED, why_not="it has no report that can be read")
    before = (old.outcome.value, old.failure_class)
    if task is None:
        return _regraded(prediction, State.NOT_REGRADED, before=before, why_not="the dataset has no such task")
    try:
        sealed = _sealed(folder, prediction, veil)
        results = _results(folder, prediction) if sealed is None else sealed
        with bug_log.of_one_item(CannotReplayError):
            fresh = replay(task, prediction, results)
    except CannotReplayError as error:
        return _regraded(prediction, State.NOT_REGRADED, before=before, why_not=str(error))
    except BugError as error:
        return _regraded(prediction, State.NOT_REGRADED, before=before, why_not=error.message)
    if folder.is_authentic(prediction) and not folder.has_own_evidence(prediction):
        return _regraded(prediction, State.NOT_REGRADED, before=before, why_not="its evidence was changed")
    new = attach.again(carried(old, fresh), results, task, look(task, prediction).patch)
    if veil is not None and sealed is not None:
        new = veil.report(new, task)
    changed = tuple(name for name in _fields(old, new) if name not in _RULES)
    if changed:
        fields = {name: getattr(old, name) for name in (*_VERDICT, "grading_version", "classes_version")}
        new = new.model_copy(update={"regraded_from": [*old.regraded_from, fields]})
    if new != old:
        folder.write_report(prediction, new)
    state = State.CHANGED if changed else State.UNCHANGED
    return _regraded(prediction, state, before=before, after=(new.outcome.value, new.failure_class), changed=changed)


def _regraded(prediction: Prediction, state: State, **fields: Any) -> Regraded:
    return Regraded(
        instance_id=prediction.instance_id,
        model=prediction.model_name_or_path,
        sample=prediction.sample,
        state=state,
        **fields,
    )


def _fields(old: InstanceReport, new: InstanceReport) -> list[str]:
    return [name for name in type(new).model_fields if getattr(old, name) != getattr(new, name)]


def _results(folder: RunFolder, prediction: Prediction) -> Mapping[str, Any]:
    """A prediction's results.json.

    Raises:
        CannotReplayError: it is broken, or it belongs to another patch.

    """
    where = folder.sample_folder(prediction)
    try:
        raw_patch = (where / "patch.diff").read_bytes()
        results = json_text.loads((where / "results.json").read_bytes())
    except (OSError, ValueError) as error:
        raise CannotReplayError(f"its evidence cannot be read: {error}") from error
    if raw_patch != prediction.patch_bytes():
        raise CannotReplayError("its patch.diff is not the patch of predictions.jsonl")
    if not isinstance(results, dict):
        raise CannotReplayError("its results.json is no JSON object")
    return results


def _sealed(folder: RunFolder, prediction: Prediction, veil: Redaction | None) -> Mapping[str, Any] | None:
    """results.json out of sealed evidence; None where the evidence is not sealed.

    Raises:
        CannotReplayError: it cannot be opened, or belongs to another patch.

    """
    path = folder.sample_folder(prediction) / run_folder.EVIDENCE_FILE
    if not path.exists():
        return None
    if veil is None:
        raise CannotReplayError("its evidence is sealed, but the dataset is not")
    try:
        return veil.results(path.read_bytes(), prediction, where=path)
    except (OSError, InputError) as error:
        raise CannotReplayError(f"its sealed evidence cannot be read: {error}") from None


def _write_run(folder: RunFolder, summary: Summary) -> None:
    """run.json: by which rules the reports are now, and when that was changed."""
    record = folder.record()
    if record is None:
        raise InputError(f"{folder.path / run_folder.RUN_FILE} is broken", hint="run the same evaluation again")
    vouched = folder.is_whole()
    rules = {"grading_version": GRADING_VERSION, "classes_version": CLASSES_VERSION}
    every = {(report.grading_version, report.classes_version) for report in folder.reports()}
    new = record.model_copy(update=rules) if every <= {tuple(rules.values())} else record
    if summary.count(State.CHANGED):
        entry = {
            "at": origin.now(),
            **rules,
            **{state.value: summary.count(state) for state in State},
        }
        earlier = (record.model_extra or {}).get("regraded", [])
        new = new.model_copy(update={"regraded": [*earlier, entry]})
    if new != record:
        folder.write_run(new, vouched=vouched)


def _as_json(prediction: Regraded) -> dict[str, Any]:
    def verdict(pair: tuple[str, str | None] | None) -> dict[str, str | None] | None:
        return {"outcome": pair[0], "failure_class": pair[1]} if pair else None

    return {
        "instance_id": prediction.instance_id,
        "model_name_or_path": prediction.model,
        "sample": prediction.sample,
        "state": prediction.state.value,
        "before": verdict(prediction.before),
        "after": verdict(prediction.after),
        "changed": list(prediction.changed),
        "why_not": prediction.why_not,
    }
