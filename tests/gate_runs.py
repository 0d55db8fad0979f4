"""Run folders for the gate, as `goldseam evaluate` leaves them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness.core.instance import Outcome, TaskState
from harness.judging.places import Place
from harness.runs.run_folder import RunFolder, RunRecord
from harness.runs.task_metadata import TaskFacts
from tests import report_runs

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

TASKS = 30


def make_run(
    path: Path,
    won: int,
    *,
    models: Sequence[str] = ("model",),
    patch: str = "parser",
    quarantined: Sequence[int] = (),
    asked: int = TASKS,
    inside: Sequence[int] = (),
) -> Path:
    """A run over 30 tasks, or the first `asked` of them, of which each model resolves the first `won`.

    All are judged on the host but those of the numbers `inside`.
    """
    ids = [f"acme__widgets-{number}" for number in range(TASKS)]
    places = dict.fromkeys(ids, Place.HOST) | {ids[n]: Place.INSIDE for n in inside}
    made = [
        report_runs.add(
            path,
            task_id,
            model,
            Outcome.RESOLVED if number < won else Outcome.UNRESOLVED,
            patch=report_runs.PATCH.format(name=patch),
            place=places[task_id],
            reason=None if number < won else f"{report_runs.SECRET_TEST} failed: {report_runs.SECRET_OUTPUT}",
        )
        for model in models
        for number, task_id in enumerate(ids[:asked])
    ]
    folder = RunFolder(path=path)
    folder.write_predictions(made)
    states = dict.fromkeys(ids, TaskState.PROVED) | {ids[n]: TaskState.QUARANTINED for n in quarantined}
    folder.write_run(
        RunRecord(
            goldseam_version="0.1.0",
            grading_version=2,
            dataset="widgets",
            dataset_version=1,
            tasks=dict.fromkeys(ids, report_runs.TASK),
            images={},
            facts={
                one: TaskFacts(repo="acme/widgets", language="python", state=states[one], place=places[one])
                for one in ids
            },
            models=list(models),
            settings={},
            machine={"cpus": 2},
            started_at="2026-03-01T04:00:00Z",
        )
    )
    return path
