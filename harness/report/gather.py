"""Read what a report shows from run folders and a dataset. Hidden files are opened only with leave."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from harness.analysis import scoresheet
from harness.analysis.scoresheet import Scoresheet
from harness.core import json_text
from harness.core.errors import InputError
from harness.core.instance import Prediction
from harness.dataset import folder as dataset_folder
from harness.dataset import hidden_files, model_files
from harness.dataset.folder import Dataset
from harness.dataset.schema import TaskModel
from harness.dataset.seal.canary_marks import is_canary_line, without_in_markdown, without_in_patch
from harness.judging.places import Place
from harness.report import data
from harness.report.evidence import Item, Leave, view
from harness.report.figures import DIMENSIONS, OF_TASKS
from harness.report.text import CutText, clean, head_of_file, short_models, short_tasks
from harness.runs.predictions import CONTROLS
from harness.runs.run_folder import RunFolder
from harness.runs.task_metadata import TaskFacts

_PAGE_BYTES = 16 * 1024 * 1024
"""What all the long texts of a page may come to, about."""
_STATEMENT_BYTES = 24 * 1024
_TRANSCRIPT_BYTES = 64 * 1024

_DIGITS = re.compile(r"(\d+)")


def gather(
    runs: Sequence[Path], *, dataset: Path | None = None, with_hidden: bool = False, page_bytes: int = _PAGE_BYTES
) -> data.ReportData:
    """All that a page shows; its long texts come to about `page_bytes`.

    Raises:
        InputError: no run, a folder that is no run or no dataset, or a broken file in one.

    """
    if not runs:
        raise InputError(
            "no run to report on", hint="give one or more run folders, as made by `goldseam evaluate -o RUN`"
        )
    twice = [path for number, path in enumerate(runs) if path.resolve() in [run.resolve() for run in runs[:number]]]
    if twice:
        raise InputError(f"{twice[0]} is given twice", hint="give each run once")
    opened = dataset_folder.open_dataset(dataset) if dataset else None
    folders = run_names(runs)
    models = _models(runs, folders, dataset)
    items = [item for path in runs for item in _items(path, models)]
    leave = Leave(
        hidden=with_hidden,
        bytes_each=_bytes_each(len(items), page_bytes),
        transcript_bytes=_transcript_bytes(items, page_bytes),
    )
    facts = _facts(models)
    ids = {item.prediction.instance_id for item in items} | facts.keys()
    gold = {task_id: _gold(opened, task_id) for task_id in ids}
    apart = {task_id for model in models for task_id in model.sheet.apart}
    views = [view(item, gold[item.prediction.instance_id], leave) for item in items]
    short = short_tasks(sorted(ids))
    records = [RunFolder(path=path).record() for path in runs]
    return data.ReportData(
        title=", ".join(folders),
        dataset=f"{opened.name}, version {opened.version}" if opened else _dataset_of(models),
        canary=opened.canary if opened else "",
        runs=tuple(folders),
        records={run: record for run, record in zip(folders, records, strict=True) if record},
        models=models,
        tasks=tuple(
            replace(
                _task(opened, task_id, facts.get(task_id, TaskFacts()), leave, apart=task_id in apart),
                name=short[task_id],
            )
            for task_id in sorted(ids, key=_by_number)
        ),
        predictions=tuple(
            sorted(
                views,
                key=lambda prediction_view: (
                    prediction_view.instance_id,
                    prediction_view.column,
                    prediction_view.sample,
                ),
            )
        ),
        funnel=read_funnel(dataset / "funnel.jsonl") if dataset else None,
        with_hidden=with_hidden,
    )


def _by_number(task_id: str) -> tuple[tuple[int, int | str], ...]:
    """An id's order for a person: `widgets-9` before `widgets-10`."""
    return tuple((0, int(part)) if part.isdecimal() else (1, part) for part in _DIGITS.split(task_id))


def _bytes_each(predictions: int, page_bytes: int) -> int:
    """How long each patch and output may be, so that all of them together stay sane."""
    return min(64 * 1024, max(3 * 1024, page_bytes // (2 * max(1, predictions))))


def _transcript_bytes(items: Sequence[Item], page_bytes: int) -> int:
    """How long each transcript may be: half as much again as patches and outputs, all together."""
    recorded = sum("transcript" in item.prediction.extra for item in items)
    return min(_TRANSCRIPT_BYTES, max(2 * 1024, page_bytes // (2 * max(1, recorded))))


def _models(runs: Sequence[Path], folders: Sequence[str], dataset: Path | None) -> tuple[data.ModelSummary, ...]:
    """A column for each model of each run."""
    sheets = [
        (name, sheet)
        for path, name in zip(runs, folders, strict=True)
        for sheet in scoresheet.read(path, dataset=dataset)
    ]
    models = [sheet.model for _, sheet in sheets]
    short = short_models([clean(model) for model in models])
    return tuple(
        data.ModelSummary(
            column=column,
            label=clean(sheet.model) if models.count(sheet.model) == 1 else f"{clean(sheet.model)} ({name})",
            name=short[clean(sheet.model)] + ("" if models.count(sheet.model) == 1 else f" ({name})"),
            run=name,
            control=sheet.model in CONTROLS,
            sheet=sheet,
        )
        for column, (name, sheet) in enumerate(sheets)
    )


def _dataset_of(models: Sequence[data.ModelSummary]) -> str:
    """The dataset that the runs say they are of, where they agree."""
    datasets = {(model.sheet.dataset, model.sheet.dataset_version) for model in models if model.sheet.dataset}
    return ", version ".join(str(part) for part in datasets.pop()) if len(datasets) == 1 else ""


def _facts(models: Sequence[data.ModelSummary]) -> Mapping[str, TaskFacts]:
    """What is known of each task that any run was asked, or could have been."""
    facts: dict[str, TaskFacts] = {}
    for model in models:
        sheet: Scoresheet = model.sheet
        facts |= {task_id: task.facts for task_id, task in {**sheet.tasks, **sheet.aside}.items()}
        facts |= {**sheet.uncovered, **sheet.apart}
    return facts


def run_names(runs: Sequence[Path]) -> list[str]:
    """Each run's folder name, with the folder above it where that would not tell two apart."""
    folders = [path.resolve().name for path in runs]
    return [
        name if folders.count(name) == 1 else f"{path.resolve().parent.name}/{name}"
        for path, name in zip(runs, folders, strict=True)
    ]


def _items(path: Path, models: Sequence[data.ModelSummary]) -> Iterator[Item]:
    columns = {model.sheet.model: model.column for model in models if model.sheet.run == path}
    folder = RunFolder(path=path)
    for (model, instance_id, sample), (prediction, report) in folder.pairs().items():
        lost = Prediction(instance_id=instance_id, model_name_or_path=model, model_patch=None, sample=sample)
        yield Item(folder=folder, column=columns[model], prediction=prediction or lost, report=report)


def _gold(dataset: Dataset | None, instance_id: str) -> bytes | None:
    """The gold patch, to see whether a prediction is one; None where it cannot be read."""
    try:
        if dataset is None:
            return None
        return without_in_patch((dataset.task_folder(instance_id) / hidden_files.GOLD_FILE).read_bytes())
    except OSError:
        return None


def _task(dataset: Dataset | None, instance_id: str, facts: TaskFacts, leave: Leave, *, apart: bool) -> data.TaskView:
    groups = {DIMENSIONS[key]: str(value) for key in OF_TASKS if (value := getattr(facts, key.value.replace("-", "_")))}
    aside = str(facts.state) if not facts.counts else Place.OWN_RUNNER.value if apart else ""
    if dataset is None or not dataset.task_folder(instance_id).is_dir():
        return data.TaskView(instance_id=instance_id, groups=groups, aside=aside)
    folder = dataset.task_folder(instance_id)
    model = model_files.read_model(folder / dataset_folder.TASK_FILE, TaskModel)
    statement = head_of_file(folder / dataset_folder.STATEMENT_FILE, _STATEMENT_BYTES)
    if statement is not None:
        statement = replace(statement, text=without_in_markdown(statement.text))
    texts = {
        "repository": model.repo,
        "base commit": model.base_commit[:12],
        "merged": model.created_at,
        "language": f"{model.language} {model.version}".strip(),
        "split": model.split,
        **({"difficulty": facts.difficulty} if facts.difficulty else {}),
        "judged": facts.judged.value + (", guessable" if facts.guessable else ""),
        "state": model.state,
        "image": (model.image or "none")[-71:],
    }
    return data.TaskView(
        instance_id=instance_id,
        title=_title(statement),
        facts=tuple(texts.items()),
        groups=groups,
        aside=aside,
        statement=statement,
        gold_patch=head_of_file(folder / hidden_files.GOLD_FILE, leave.bytes_each) if leave.hidden else None,
        test_patch=head_of_file(folder / hidden_files.TEST_FILE, leave.bytes_each) if leave.hidden else None,
    )


def _title(statement: CutText | None) -> str:
    lines = statement.text.splitlines() if statement else []
    return next((line.lstrip("# ").strip()[:160] for line in lines if line.strip("# \t")), "")


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
        if (value := json_text.read_object(line)) is not None:
            lines += [] if is_canary_line(line) else [value]
        else:
            unreadable += 1
    return data.funnel_of(lines, unreadable=unreadable) if lines or unreadable else None
