"""What the dataset keeps of its refreshes: refresh.jsonl, a line for each that had something new to say.

A refresh that finds what the one before it found adds no line, so a nightly one makes no commits.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Annotated, Any

from pydantic import Field, ValidationError

from harness.core import files, json_text, origin
from harness.core.errors import InputError
from harness.core.records import OpenRecord
from harness.dataset.folder import Dataset
from harness.dataset.seal import canary_marks
from harness.grading.grade import GRADING_VERSION
from harness.runs.refresh.drift import Finding, Result

REFRESH_FILE = "refresh.jsonl"
SCHEMA_VERSION = 1


class TaskLine(OpenRecord):
    """One task in a line."""

    result: str
    """`holds`, `once`, `unstable` or `drifted`."""
    gold: str = ""
    """Resolved of run."""
    null: str = ""
    seconds: float = 0.0
    """The longest that gold's tests took."""
    why: str = ""


class RefreshLine(OpenRecord):
    """A line of refresh.jsonl."""

    schema_version: Annotated[int, Field(ge=1)] = SCHEMA_VERSION
    at: str
    """When it ended, ISO 8601 in UTC."""
    goldseam_version: str
    grading_version: int
    machine: dict[str, Any] = Field(default_factory=dict)
    runs: Annotated[int, Field(ge=1)]
    """Of gold, and of null, on each task; repeats come on top."""
    seconds: float = 0.0
    """Wall time; of the last call, where it was interrupted."""
    containers: int = 0
    tasks: dict[str, TaskLine]


def read(dataset: Dataset) -> tuple[RefreshLine, ...]:
    """Every line, oldest first; none where there is no file.

    Raises:
        InputError: a line is none of ours; the message names it.

    """
    path = dataset.path / REFRESH_FILE
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return ()
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror or error}") from error
    lines = []
    for number, line in enumerate(data.splitlines(), start=1):
        if not line.strip():
            continue
        try:
            lines.append(RefreshLine.model_validate(json_text.loads(line)))
        except ValueError as error:
            reason = (
                "; ".join(problem["msg"] for problem in error.errors()[:3])
                if isinstance(error, ValidationError)
                else "no JSON"
            )
            raise InputError(f"{path}, line {number} is not a record of a refresh: {reason}") from error
        if lines[-1].schema_version > SCHEMA_VERSION:
            raise InputError(f"{path}, line {number} was written by a newer goldseam", hint="upgrade goldseam")
    return tuple(lines)


def line_of(findings: Sequence[Finding], *, at: str, runs: int, seconds: float) -> RefreshLine:
    """The record of a refresh. Tasks that infrastructure kept from us are not in it."""
    scored = [finding for finding in findings if finding.result is not Result.UNSCORED]
    return RefreshLine(
        at=at,
        goldseam_version=origin.version(),
        grading_version=GRADING_VERSION,
        machine=origin.machine(),
        runs=runs,
        seconds=round(seconds, 1),
        containers=sum(finding.containers for finding in scored),
        tasks={
            finding.instance_id: TaskLine(
                result=finding.result.value,
                gold=str(finding.gold),
                null=str(finding.null),
                seconds=finding.seconds,
                why=finding.why,
            )
            for finding in sorted(scored, key=lambda finding: finding.instance_id)
        },
    )


def says_something_new(line: RefreshLine, former: Sequence[RefreshLine]) -> bool:
    """Whether a task is new, its result another than when it was last told of, or it was run more often. Pure.

    That one run was off by chance is no other result.
    """
    last: dict[str, tuple[str, int]] = {}
    for refresh_line in former:
        for task_id, task in refresh_line.tasks.items():
            runs = max(refresh_line.runs, last[task_id][1] if task_id in last else 0)
            last[task_id] = (_settled(task.result), runs)
    return any(
        task_id not in last or last[task_id][0] != _settled(task.result) or last[task_id][1] < line.runs
        for task_id, task in line.tasks.items()
    )


def append(dataset: Dataset, line: RefreshLine) -> None:
    """Add a line; the file is replaced at once. The first one has the dataset's canary.

    Raises:
        InputError, InfrastructureError: it cannot be written.

    """
    path = dataset.path / REFRESH_FILE
    former = path.read_bytes() if path.exists() else b""
    if former and not former.endswith(b"\n"):
        former += b"\n"
    elif not former and dataset.canary:
        line = line.model_copy(update={canary_marks.FIELD: dataset.canary})
    files.write_bytes(path, former + line.model_dump_json().encode() + b"\n")


def finding_as_json(finding: Finding) -> dict[str, Any]:
    """A finding for `--json`; docs/holdout.md names its fields."""
    fields = asdict(finding)
    fields.pop("late")
    return {
        **fields,
        "result": finding.result.value,
        "changes": [{**asdict(change), "kind": change.kind.value} for change in finding.changes],
    }


def _settled(result: str) -> str:
    return Result.HOLDS.value if result == Result.ONCE.value else result
