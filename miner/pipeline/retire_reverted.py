"""Tasks whose fix was taken back after they were made."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from harness.core.instance import TaskState
from harness.dataset.folder import write_instances

if TYPE_CHECKING:
    from harness.dataset.folder import Dataset


def retire_reverted(dataset: Dataset, instance_id: str) -> None:
    """Mark a task as retired, if it is there: a later change reverted its fix."""
    if instance_id not in dataset.ids():
        return
    instance = dataset.instance(instance_id)
    instance = replace(instance, state=TaskState.RETIRED, extra={**instance.extra, "retired": "its fix was reverted"})
    write_instances(dataset, (instance,))
