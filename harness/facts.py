"""What a score is broken down by: the public facts of a task, as a run remembers them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ConfigDict

from harness.dataset.folder import TASK_FILE
from harness.dataset.model_files import read_model
from harness.dataset.schema import TaskModel
from harness.instance import TaskState
from harness.scaffold.told import FIELD as SCAFFOLD
from harness.scaffold.told import functions_shown

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from harness.dataset.folder import Dataset


class TaskFacts(BaseModel):
    """`facts` of run.json, and what cohorts are made of. None where it is not known."""

    model_config = ConfigDict(extra="allow", frozen=True)

    repo: str | None = None
    language: str | None = None
    split: str | None = None
    state: TaskState | None = None
    """When the run was made, or now where a dataset was given."""
    difficulty: str | None = None
    """The tier, as the dataset names it."""
    task_type: str | None = None
    created_at: str | None = None
    """When the fix was merged, ISO 8601 in UTC."""
    revealed: int = 0
    """Hidden test functions that the task shows; its score is `scaffolded` where there is one."""

    @property
    def counts(self) -> bool:
        """Whether the task counts in a score: proved, or of a run that does not say."""
        return self.state in (None, TaskState.PROVED)


def facts_of(task: TaskModel) -> TaskFacts:
    """The facts of a task, from its public file alone."""
    return TaskFacts(
        repo=task.repo,
        language=task.language,
        split=task.split,
        state=TaskState(task.state),
        difficulty=_word(task, "difficulty"),
        task_type=_word(task, "task_type"),
        created_at=task.created_at,
        revealed=functions_shown((task.model_extra or {}).get(SCAFFOLD)),
    )


def read_facts(dataset: Dataset, *, also: Collection[str] = (), split: str | None = None) -> Mapping[str, TaskFacts]:
    """The facts of every proved task of a dataset, or of one split of it, and of the others named, by id.

    Raises:
        InputError: a task.yaml is missing or broken.

    """
    found = {
        task_id: facts_of(read_model(dataset.task_folder(task_id) / TASK_FILE, TaskModel)) for task_id in dataset.ids()
    }
    return {
        task_id: facts
        for task_id, facts in found.items()
        if task_id in also or (facts.counts and split in (None, facts.split))
    }


def _word(task: TaskModel, name: str) -> str | None:
    """A field of `quality`, or of the task itself; of a mapping its `tier`."""
    value: Any = task.quality.get(name, (task.model_extra or {}).get(name))
    if isinstance(value, dict):
        value = value.get("tier")
    return value if isinstance(value, str) and value.strip() else None
