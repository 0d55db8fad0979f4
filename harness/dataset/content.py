"""The digest of a dataset's content, and its version, which goes up when that changes and at no other time.

The digest of a task's hidden files stands in the public task.yaml of a sealed task, so that the content of a sealed
dataset can be told without a key.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from pathlib import Path

from harness.core import files
from harness.core.errors import InputError
from harness.dataset import splits
from harness.dataset.folder import (
    TASK_FILE,
    Dataset,
    hidden_content,
    read_instance,
    write_instances,
    write_settings,
)
from harness.dataset.hidden_files import HIDDEN_DIGEST, hidden_digest
from harness.dataset.model_files import read_model
from harness.dataset.schema import DatasetModel, TaskModel

_PUBLIC = (
    "instance_id",
    "repo",
    "base_commit",
    "created_at",
    "language",
    "version",
    "image",
    "test",
    "budgets",
)
_LIFE = ("state", "split")


@dataclass(frozen=True, kw_only=True)
class Version:
    """A dataset's version."""

    number: int
    content: str
    """`sha256:…` over all tasks."""
    former: int
    """The version before; the same where nothing changed."""

    @property
    def changed(self) -> bool:
        return self.number != self.former


def task_content(folder: Path, *, life: bool = True) -> str:
    """`sha256:…` over a task: its hidden files, its statement, and what of task.yaml says how it is scored.

    `life` takes its state and its split in, which change while the task stays the same.

    Raises:
        InputError: a file is missing or broken, or the task is sealed and does not tell its digest.

    """
    model = read_model(folder / TASK_FILE, TaskModel)
    fields = model.as_written()
    public = {name: fields.get(name) for name in (*_PUBLIC, *(_LIFE if life else ()))}
    instance = read_instance(folder)
    public["statement"] = hashlib.sha256(instance.problem_statement.encode("utf-8", "surrogatepass")).hexdigest()
    if instance.scaffold:
        public["scaffold"] = hashlib.sha256(instance.scaffold).hexdigest()
    public["hidden"] = hidden_content(folder, model)
    text = json.dumps(public, sort_keys=True, ensure_ascii=True)
    return f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"


def keep_hidden_digest(dataset: Dataset, task_id: str, hidden: Mapping[str, bytes]) -> None:
    """Write into a task's task.yaml what its hidden files are, before they are sealed.

    Raises:
        InputError: task.yaml is broken or cannot be written.

    """
    instance, digest = dataset.instance(task_id), hidden_digest(hidden)
    if instance.extra.get(HIDDEN_DIGEST) != digest:
        write_instances(dataset, (replace(instance, extra={**instance.extra, HIDDEN_DIGEST: digest}),))


def content_of(dataset: Dataset) -> str:
    """`sha256:…` over every task of a dataset, of whatever state.

    Raises:
        InputError: as `task_content`.

    """
    contents = [(task_id, task_content(dataset.task_folder(task_id))) for task_id in dataset.ids()]
    return f"sha256:{hashlib.sha256(json.dumps(contents).encode()).hexdigest()}"


def settle(dataset: Dataset) -> Version:
    """Give tasks that came since the split that the rule says, and the dataset a new version if its content changed.

    Safe to call at any time and from any process; what a killed one left undone is done now.

    Raises:
        InputError: a file is broken or cannot be written.

    """
    with locked(dataset):
        return settle_locked(dataset)


def settle_locked(dataset: Dataset) -> Version:
    """As `settle`, for whoever holds the lock."""
    splits.assign_new(dataset)
    model = dataset.description()
    content, recorded = content_of(dataset), content_told(model)
    number = model.version if recorded in (None, content) else model.version + 1
    if (number, content) != (model.version, recorded):
        write_settings(dataset, {"version": number, "content": content})
    return Version(number=number, content=content, former=model.version)


def content_told(model: DatasetModel) -> str | None:
    """The content that dataset.yaml says its version has; None in one that was never settled."""
    return model.content or None


def content_told_now(dataset: Dataset) -> str:
    """As `content_of`; empty where a task is broken, which is no matter to those who do not use it."""
    try:
        return content_of(dataset)
    except InputError:
        return ""


def locked(dataset: Dataset) -> AbstractContextManager[None]:
    """Hold a dataset against others that change its tasks; waits for them. A killed process lets go.

    Raises:
        InputError: the dataset cannot be written.

    """
    return files.locked_in_turn(dataset.path / ".goldseam" / "care.lock")
