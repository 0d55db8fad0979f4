"""A task's states after it was proved: quarantined, retired, and back. Each change is in the ledger first.

So a killed process leaves a task that stands in the ledger and is not changed yet; the same command again does it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from harness.core.errors import InputError
from harness.core.instance import Instance, TaskState
from harness.dataset import content
from harness.dataset.content import Version
from harness.dataset.folder import Dataset, write_instances
from harness.dataset.ledger.ledger import Event
from harness.dataset.splits import Split

EVENTS = {
    Event.QUARANTINED: TaskState.QUARANTINED,
    Event.RETIRED: TaskState.RETIRED,
    Event.RELEASED: TaskState.PROVED,
}


@dataclass(frozen=True, kw_only=True)
class Changed:
    """The tasks that a command changed."""

    tasks: tuple[str, ...]
    already: tuple[str, ...]
    """Were as asked before."""
    version: Version


def quarantine(dataset: Dataset, ids: Sequence[str], *, why: str) -> Changed:
    """Take tasks out of all scores until they are released.

    Raises:
        InputError: an id is unknown or given twice, there is no reason, or a task is retired or not proved.

    """
    return _change(dataset, ids, Event.QUARANTINED, why, allowed=(TaskState.PROVED,))


def retire(dataset: Dataset, ids: Sequence[str], *, why: str) -> Changed:
    """Take tasks out of the holdout for good; they can be read, and run by their ids.

    Raises:
        InputError: as `quarantine`.

    """
    return _change(dataset, ids, Event.RETIRED, why, allowed=(TaskState.PROVED, TaskState.QUARANTINED))


def release(dataset: Dataset, ids: Sequence[str], *, why: str) -> Changed:
    """Take tasks out of quarantine.

    Raises:
        InputError: as `quarantine`; a retired task does not come back, since it may have been shown since.

    """
    return _change(dataset, ids, Event.RELEASED, why, allowed=(TaskState.QUARANTINED,))


def _change(dataset: Dataset, ids: Sequence[str], event: Event, why: str, *, allowed: Collection[TaskState]) -> Changed:
    if not why.strip():
        raise InputError("a reason is needed", hint="give it with --reason")
    state = EVENTS[event]
    with content.locked(dataset):
        content.settle_locked(dataset)
        instances = named_instances(dataset, ids)
        refused = [instance for instance in instances if instance.state not in (*allowed, state)]
        if refused:
            words = ", ".join(f"{instance.instance_id} is {instance.state}" for instance in refused[:5])
            raise InputError(f"only {' or '.join(allowed)} tasks can be {event}: {words}")
        due = [instance for instance in instances if instance.state is not state]
        if due:
            after = [changed(instance, state, why=why.strip()) for instance in due]
            write_instances(dataset, after, event, why=why.strip())
        return Changed(
            tasks=tuple(instance.instance_id for instance in due),
            already=tuple(instance.instance_id for instance in instances if instance.state is state),
            version=content.settle_locked(dataset),
        )


def retire_all(dataset: Dataset, why: Mapping[str, str], *, replacements: int) -> Version:
    """Retire tasks in a rotation, each for its own reason. For whoever holds the dataset's lock.

    `replacements` is how many have to be mined in their place, for the ledger.
    """
    retired = [
        changed(dataset.instance(task_id), TaskState.RETIRED, why=reason) for task_id, reason in sorted(why.items())
    ]
    if retired:
        write_instances(dataset, retired, Event.ROTATED, why=dict(why), wanted=replacements)
    return content.settle_locked(dataset)


def quarantine_all(dataset: Dataset, why: Mapping[str, str]) -> Version:
    """Quarantine tasks, each for its own reason; those that are no proved tasks stay as they are.

    For whoever holds the dataset's lock.

    Raises:
        InputError: a task is broken, or the ledger cannot be written.

    """
    content.settle_locked(dataset)
    for instance_id, reason in why.items():
        instance = dataset.instance(instance_id)
        if instance.state is not TaskState.PROVED:
            continue
        after = changed(instance, TaskState.QUARANTINED, why=reason)
        write_instances(dataset, (after,), Event.QUARANTINED, why=reason)
    return content.settle_locked(dataset)


def changed(instance: Instance, state: TaskState, *, why: str) -> Instance:
    """An instance in another state, which says why."""
    extra = {name: value for name, value in instance.extra.items() if name not in ("quarantined", "retired")}
    if state in (TaskState.QUARANTINED, TaskState.RETIRED):
        extra[state.value] = why
    split = Split.RETIRED.value if state is TaskState.RETIRED else instance.split
    return replace(instance, state=state, split=split, extra=extra)


def named_instances(dataset: Dataset, ids: Iterable[str]) -> tuple[Instance, ...]:
    """The public sides of the tasks that a person named.

    Raises:
        InputError: one is unknown or named twice, or none is named; the message has all of them.

    """
    task_ids = list(ids)
    if not task_ids:
        raise InputError("no task is named", hint="give ids; `goldseam holdout stats DATASET --json` lists them")
    twice = [task_id for task_id, count in Counter(task_ids).items() if count > 1]
    if twice:
        raise InputError(f"named twice: {', '.join(twice)}")
    dataset.require(task_ids)
    return tuple(dataset.instance(task_id) for task_id in task_ids)
