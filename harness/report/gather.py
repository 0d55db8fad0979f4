"""Read what a report shows from run folders and a dataset. Hidden files are opened only with leave."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from harness.dataset import folder as dataset_folder
from harness.dataset.schema import TaskModel
from harness.errors import InputError
from harness.instance import Prediction
from harness.report import data
from harness.report.text import CutText, clean, head, head_of_file, tail
from harness.run_folder import PREDICTIONS_FILE, InstanceReport, RunFolder

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from harness.dataset.folder import Dataset

_PAGE_BYTES = 16 * 1024 * 1024
"""What all the long texts of a page may come to, about."""
_STATEMENT_BYTES = 24 * 1024
_RESULTS_BYTES = 64 * 1024 * 1024
_TESTS_SHOWN = 200
_TEXTS_SHOWN = 20
_TEXT_BYTES = 3 * 1024

Identity = tuple[str, str, int]


@dataclass(frozen=True, kw_only=True)
class _Item:
    """One prediction of one run."""

    folder: RunFolder
    column: int
    prediction: Prediction
    report: InstanceReport | None


@dataclass(frozen=True, kw_only=True)
class _Leave:
    """What may be shown, and how much of it."""

    hidden: bool
    bytes_each: int


def gather(runs: Sequence[Path], *, dataset: Path | None = None, with_hidden: bool = False) -> data.ReportData:
    """All that a page shows.

    Raises:
        InputError: no run, a folder that is no run or no dataset, or a broken file in one.

    """
    if not runs:
        raise InputError(
            "no run to report on", hint="give one or more run folders, as made by `goldseam evaluate -o RUN`"
        )
    opened = dataset_folder.open_dataset(dataset) if dataset else None
    items, models = _read_runs(runs)
    leave = _Leave(hidden=with_hidden, bytes_each=_bytes_each(len(items)))
    ids = {item.prediction.instance_id for item in items} | set(_scorable(opened))
    gold = {task_id: _gold(opened, task_id) for task_id in ids}
    views = [_view(item, gold[item.prediction.instance_id], leave) for item in items]
    return data.ReportData(
        title=", ".join(_run_names(runs)),
        dataset=f"{opened.name}, version {opened.version}" if opened else "",
        canary=opened.canary if opened else "",
        runs=tuple(_run_names(runs)),
        models=models,
        tasks=tuple(_task(opened, task_id, leave) for task_id in sorted(ids)),
        predictions=tuple(sorted(views, key=lambda view: (view.instance_id, view.column, view.sample))),
        funnel=read_funnel(dataset / "funnel.jsonl") if dataset else None,
        with_hidden=with_hidden,
    )


def _bytes_each(predictions: int) -> int:
    """How long each patch and output may be, so that all of them together stay sane."""
    return min(64 * 1024, max(3 * 1024, _PAGE_BYTES // (2 * max(1, predictions))))


def _read_runs(runs: Sequence[Path]) -> tuple[list[_Item], tuple[data.ModelSummary, ...]]:
    groups: list[tuple[RunFolder, str, str, list[tuple[Prediction, InstanceReport | None]]]] = []
    for path, run in zip(runs, _run_names(runs), strict=True):
        if not (path / PREDICTIONS_FILE).is_file() and not (path / "results").is_dir():
            what = f"it has neither {PREDICTIONS_FILE} nor results" if path.is_dir() else "there is no such folder"
            raise InputError(f"{path} is not a run: {what}", hint="make one with `goldseam evaluate DATASET -o RUN`")
        folder = RunFolder(path=path)
        by_model: dict[str, list[tuple[Prediction, InstanceReport | None]]] = {}
        for prediction, report in _read_run(folder):
            by_model.setdefault(prediction.model_name_or_path, []).append((prediction, report))
        groups += [(folder, run, model, by_model[model]) for model in sorted(by_model)]
    names = [model for _, _, model, _ in groups]
    items: list[_Item] = []
    models: list[data.ModelSummary] = []
    for column, (folder, run, model, pairs) in enumerate(groups):
        models.append(
            data.summarise_model(
                [report for _, report in pairs if report is not None],
                column=column,
                label=clean(model) if names.count(model) == 1 else f"{clean(model)} ({run})",
                run=run,
                predicted=[prediction.instance_id for prediction, _ in pairs],
                control=model in data.CONTROLS,
            )
        )
        items += [_Item(folder=folder, column=column, prediction=asked, report=found) for asked, found in pairs]
    return items, tuple(models)


def _run_names(runs: Sequence[Path]) -> list[str]:
    """Each run's folder name, with the folder above it where that would not tell two apart."""
    names = [path.resolve().name for path in runs]
    return [
        name if names.count(name) == 1 else f"{path.resolve().parent.name}/{name}"
        for path, name in zip(runs, names, strict=True)
    ]


def _read_run(folder: RunFolder) -> Iterator[tuple[Prediction, InstanceReport | None]]:
    reports: dict[Identity, InstanceReport] = {
        (report.model_name_or_path, report.instance_id, report.sample): report for report in folder.reports()
    }
    for prediction in folder.predictions():
        yield prediction, reports.pop(_identity(prediction), None)
    for (model, instance_id, sample), report in reports.items():  # scored, but predictions.jsonl has lost them
        lost = Prediction(instance_id=instance_id, model_name_or_path=model, model_patch=None, sample=sample)
        yield lost, report


def _identity(prediction: Prediction) -> Identity:
    return (prediction.model_name_or_path, prediction.instance_id, prediction.sample)


def _scorable(dataset: Dataset | None) -> Iterator[str]:
    for instance_id in dataset.ids() if dataset else ():
        if dataset and _public(dataset, instance_id).state == "proved":
            yield instance_id


def _public(dataset: Dataset, instance_id: str) -> TaskModel:
    return dataset_folder.read_model(dataset.task_folder(instance_id) / dataset_folder.TASK_FILE, TaskModel)


def _gold(dataset: Dataset | None, instance_id: str) -> bytes | None:
    """The gold patch, to see whether a prediction is one; None where it cannot be read."""
    try:
        return (dataset.task_folder(instance_id) / dataset_folder.GOLD_FILE).read_bytes() if dataset else None
    except OSError:
        return None


def _task(dataset: Dataset | None, instance_id: str, leave: _Leave) -> data.TaskView:
    if dataset is None or not dataset.task_folder(instance_id).is_dir():
        return data.TaskView(instance_id=instance_id)
    model = _public(dataset, instance_id)
    folder = dataset.task_folder(instance_id)
    statement = head_of_file(folder / dataset_folder.STATEMENT_FILE, _STATEMENT_BYTES)
    facts = {
        "repository": model.repo,
        "base commit": model.base_commit[:12],
        "merged": model.created_at,
        "language": f"{model.language} {model.version}".strip(),
        "split": model.split,
        "state": model.state,
        "image": (model.image or "none")[-71:],
    }
    return data.TaskView(
        instance_id=instance_id,
        title=_title(statement),
        facts=tuple(facts.items()),
        statement=statement,
        gold_patch=head_of_file(folder / dataset_folder.GOLD_FILE, leave.bytes_each) if leave.hidden else None,
        test_patch=head_of_file(folder / dataset_folder.TEST_FILE, leave.bytes_each) if leave.hidden else None,
    )


def _title(statement: CutText | None) -> str:
    lines = statement.text.splitlines() if statement else []
    return next((line.lstrip("# ").strip()[:160] for line in lines if line.strip("# \t")), "")


def _view(item: _Item, gold: bytes | None, leave: _Leave) -> data.PredictionView:
    prediction, report = item.prediction, item.report
    given = prediction.patch_bytes()
    is_gold = prediction.model_name_or_path == "gold" or (bool(given.strip()) and given == gold)
    sheltered = is_gold and not leave.hidden
    patch, note = _patch(item, leave, sheltered=sheltered)
    if report is None:
        return data.PredictionView(
            column=item.column,
            instance_id=prediction.instance_id,
            sample=prediction.sample,
            outcome=None,
            failure_class="",
            reason="not scored yet",
            fail_to_pass=data.Counts(passed=0, total=0),
            pass_to_pass=data.Counts(passed=0, total=0),
            patch=patch,
            patch_note=note,
        )
    return data.PredictionView(
        column=item.column,
        instance_id=prediction.instance_id,
        sample=prediction.sample,
        outcome=report.outcome,
        failure_class=report.failure_class or "",
        reason=clean(report.reason if leave.hidden else data.public_reason(report, is_gold=is_gold))[:2000],
        fail_to_pass=data.counts(report, "FAIL_TO_PASS"),
        pass_to_pass=data.counts(report, "PASS_TO_PASS"),
        patch=patch,
        patch_note=note,
        dropped=(
            tuple(data.dropped_part(part) for part in report.dropped)
            if leave.hidden
            else data.public_dropped(report, is_gold=is_gold)
        ),
        repairs=tuple(report.repairs),
        timings=report.timings,
        max_rss_kb=report.max_rss_kb,
        cpu_seconds=report.cpu_seconds,
        attempts=report.attempts,
        trust=report.trust.value,
        hidden=_hidden(item, report, leave) if leave.hidden else None,
    )


def _patch(item: _Item, leave: _Leave, *, sheltered: bool) -> tuple[CutText | None, str]:
    if sheltered:
        return None, "this is the gold patch, which is hidden"
    found = head_of_file(item.folder.sample_folder(item.prediction) / "patch.diff", leave.bytes_each)
    patch = found if found is not None else head(item.prediction.patch_bytes(), leave.bytes_each)
    return (patch, "") if patch.size else (None, "no patch")


def _hidden(item: _Item, report: InstanceReport, leave: _Leave) -> data.HiddenDetails:
    folder = item.folder.sample_folder(item.prediction)
    results, notes = _results(folder / "results.json")
    rows, left_out = _test_rows(report, results)
    for name, text in list(_mapping(results.get("collect_errors")).items())[:_TEXTS_SHOWN]:
        notes.append(f"{name} could not be collected: {clean(str(text))[:_TEXT_BYTES]}")
    violations = results.get("violations")
    notes += [clean(str(text))[:500] for text in violations[:_TEXTS_SHOWN]] if isinstance(violations, list) else []
    return data.HiddenDetails(
        tests=rows, left_out=left_out, output=tail(folder / "test_output.txt", leave.bytes_each), notes=tuple(notes)
    )


def _results(path: Path) -> tuple[Mapping[str, Any], list[str]]:
    """results.json, read leniently: it is evidence, and a broken one must not hide the verdict."""
    try:
        size = path.stat().st_size
        if size > _RESULTS_BYTES:
            return {}, [f"results.json is not shown: it has {size // 1024 // 1024} MB"]
        return _mapping(json.loads(path.read_bytes())), []
    except FileNotFoundError:
        return {}, []
    except (OSError, ValueError) as error:
        return {}, [f"results.json cannot be read: {error}"]


def _test_rows(report: InstanceReport, results: Mapping[str, Any]) -> tuple[tuple[data.TestRow, ...], int]:
    """Per-test results: what did not pass first, FAIL_TO_PASS before the rest; and how many more there are."""
    found = _mapping(results.get("tests"))
    groups = {
        test_id: group
        for name, group in (("FAIL_TO_PASS", "F2P"), ("PASS_TO_PASS", "P2P"))
        for ids in report.tests_status.get(name, {}).values()
        for test_id in ids
    }
    ids = sorted(
        groups.keys() | found.keys(),
        key=lambda name: (_status(found, name) == "PASSED", groups.get(name, "~"), name),
    )
    texts = 0
    rows: list[data.TestRow] = []
    for test_id in ids[:_TESTS_SHOWN]:
        result = _mapping(found.get(test_id))
        text = result.get("text")
        texts += bool(text)
        seconds = result.get("seconds")
        rows.append(
            data.TestRow(
                test_id=clean(test_id)[:500],
                group=groups.get(test_id, ""),
                status=_status(found, test_id),
                seconds=float(seconds) if isinstance(seconds, int | float) else None,
                text=head(str(text).encode("utf-8", "surrogatepass"), _TEXT_BYTES)
                if text and texts <= _TEXTS_SHOWN
                else None,
            )
        )
    return tuple(rows), max(0, len(ids) - _TESTS_SHOWN)


def _status(found: Mapping[str, Any], test_id: str) -> str:
    return str(_mapping(found.get(test_id)).get("status") or "no result")


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def read_funnel(path: Path) -> data.Funnel | None:
    """The funnel of a mined dataset; None where there is none. Lines that are no JSON objects are counted apart."""
    try:
        raw = path.read_bytes()
    except OSError:
        return None
    lines: list[Mapping[str, object]] = []
    unreadable = 0
    for line in raw.split(b"\n"):
        if not line.strip():
            continue
        try:
            value = json.loads(line)
        except ValueError:
            value = None
        if isinstance(value, dict):
            lines.append(value)
        else:
            unreadable += 1
    return data.funnel_of(lines, unreadable=unreadable) if lines or unreadable else None
