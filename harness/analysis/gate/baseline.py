"""The last accepted run as one file: what a later gate compares with, without the run folder.

It holds what each prediction came to and the public facts of each task, no test id, no patch and no output, so it can
be committed or kept in a CI cache where a run folder must not go.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import Field, ValidationError

from harness.analysis.scoresheet import SampleScore, Scoresheet, TaskScore
from harness.analysis.usage import Usage
from harness.core import files, wording
from harness.core.errors import InputError
from harness.core.files import refuse_newer
from harness.core.instance import INSTANCE_ID, Outcome
from harness.core.records import OpenRecord
from harness.dataset.model_files import read_text
from harness.runs.task_metadata import TaskFacts

SCHEMA_VERSION = 1
KIND = "goldseam accepted run"


class AcceptedSample(OpenRecord):
    """What one prediction came to."""

    sample: int = 0
    outcome: Outcome | None
    """Null where it has no verdict yet."""
    seconds: float | None = None
    cost_usd: float | None = None


class AcceptedTask(OpenRecord):
    """One task with its samples."""

    digest: str | None = None
    facts: TaskFacts = Field(default_factory=TaskFacts)
    samples: tuple[AcceptedSample, ...] = Field(min_length=1)


class AcceptedFile(OpenRecord):
    """The whole file."""

    schema_version: int = SCHEMA_VERSION
    kind: str = KIND
    goldseam_version: str = ""
    accepted_at: str
    """When a gate passed it, ISO 8601 in UTC."""
    model: str
    run: str
    """Name of the run folder."""
    started_at: str = ""
    dataset: str | None = None
    dataset_version: int | None = None
    grading_version: int | None = None
    demands: dict[str, Any] = Field(default_factory=dict)
    tasks: dict[str, AcceptedTask]


def write(path: Path, sheet: Scoresheet, *, run: str, started_at: str, accepted_at: str, version: str) -> None:
    """Replace the file at once; tasks that do not count are left out."""
    file = AcceptedFile(
        goldseam_version=version,
        accepted_at=accepted_at,
        model=sheet.model,
        run=run,
        started_at=started_at,
        dataset=sheet.dataset,
        dataset_version=sheet.dataset_version,
        grading_version=sheet.grading_version,
        demands=dict(sheet.demands),
        tasks={task_id: _task(task) for task_id, task in sheet.tasks.items()},
    )
    files.write_result(path, files.json_text(file.model_dump(mode="json")).encode("utf-8", "surrogateescape"))


def _task(task: TaskScore) -> AcceptedTask:
    samples = tuple(
        AcceptedSample(
            sample=sample.sample, outcome=sample.outcome, seconds=sample.seconds, cost_usd=sample.usage.cost_usd
        )
        for sample in task.samples
    )
    return AcceptedTask(digest=task.digest, facts=task.facts, samples=samples)


def read(path: Path) -> tuple[Scoresheet, AcceptedFile]:
    """The sheet that was accepted, and the file.

    Raises:
        InputError: no such file, not JSON, another kind of file, a field of the wrong type, or a newer version.

    """
    text = read_text(path)
    try:
        file = AcceptedFile.model_validate_json(text)
    except ValidationError as error:
        first = error.errors()[0]
        raise InputError(
            f"{path} is not an accepted run: {wording.field_problem(wording.place_of(first) or 'file', first)}",
            hint="write one with `goldseam gate … --accept-to FILE`",
        ) from error
    refuse_newer(path, file.schema_version, SCHEMA_VERSION)
    if file.kind != KIND:
        raise InputError(f"{path}: expected kind {KIND!r}, found {file.kind!r}")
    strange = [task_id for task_id in file.tasks if not INSTANCE_ID.fullmatch(task_id)]
    if strange:
        raise InputError(f"{path}: {strange[0]!r} is not an instance id")
    return _sheet(path, file), file


def _sheet(path: Path, file: AcceptedFile) -> Scoresheet:
    tasks: Mapping[str, TaskScore] = {
        task_id: TaskScore(
            instance_id=task_id,
            samples=tuple(
                SampleScore(
                    sample=sample.sample,
                    outcome=sample.outcome,
                    seconds=sample.seconds,
                    usage=Usage(cost_usd=sample.cost_usd),
                )
                for sample in task.samples
            ),
            facts=task.facts,
            digest=task.digest,
        )
        for task_id, task in file.tasks.items()
    }
    return Scoresheet(
        model=file.model,
        run=path,
        dataset=file.dataset,
        dataset_version=file.dataset_version,
        grading_version=file.grading_version,
        tasks=tasks,
        knows_dataset=False,
        demands=file.demands,
    )
