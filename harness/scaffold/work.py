"""Scaffolds for a dataset that is there: the tests are cut out of what each task's image has, and proved in it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from harness.core.errors import InputError
from harness.core.instance import TaskState
from harness.dataset import content, task_states
from harness.dataset.folder import write_scaffold
from harness.dataset.ledger import ledger
from harness.dataset.revealed import FIELD
from harness.dataset.seal import access_log
from harness.scaffold.reveal import applied, reveal

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from contextlib import AbstractContextManager

    from harness.core.instance import Instance
    from harness.dataset.content import Version
    from harness.dataset.folder import Dataset
    from harness.sandbox.job import Sandbox
    from harness.solve.base import Workspace


@dataclass(frozen=True, kw_only=True)
class RevealOutcome:
    """What came of one task."""

    instance_id: str
    asked: int
    before: int
    """Test functions that it showed before."""
    functions: int
    hidden_functions: int
    why_not: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Answer:
    """What came of all of them."""

    tasks: tuple[RevealOutcome, ...]
    version: Version | None = None
    """The dataset's; None where nothing was written."""


def reveal_in(
    dataset: Dataset,
    ids: Sequence[str],
    count: int,
    *,
    sandbox: Sandbox,
    workspace: Callable[[Instance], AbstractContextManager[Workspace]],
    dry_run: bool,
    tell: Callable[[RevealOutcome], None],
) -> Answer:
    """Let proved tasks show up to `count` test functions each. One that shows as many already stays as it is.

    Interrupted at any time, the same call does the rest.

    Raises:
        InputError: an id is unknown, or its task is not proved; there is none; the dataset is sealed and has no key.
        InfrastructureError: the engine failed, or an image is not there.

    """
    tasks = task_states.named_instances(dataset, ids) if ids else tuple(dataset.instances())
    others = [task for task in tasks if task.state is not TaskState.PROVED]
    if ids and others:
        raise InputError(f"only proved tasks can show tests: {others[0].instance_id} is {others[0].state}")
    proved = [task for task in tasks if task.state is TaskState.PROVED]
    if not proved:
        raise InputError(f"{dataset.path} has no proved task")
    access_log.tell(dataset, [instance.instance_id for instance in proved], purpose="reveal")
    outcomes = []
    for instance in proved:
        outcome = _reveal_one(dataset, instance, count, sandbox=sandbox, workspace=workspace, dry_run=dry_run)
        outcomes.append(outcome)
        tell(outcome)
    return Answer(tasks=tuple(outcomes), version=None if dry_run else content.settle(dataset))


def _reveal_one(
    dataset: Dataset,
    instance: Instance,
    count: int,
    *,
    sandbox: Sandbox,
    workspace: Callable[[Instance], AbstractContextManager[Workspace]],
    dry_run: bool,
) -> RevealOutcome:
    scaffold = instance.extra.get(FIELD)
    fields = scaffold if isinstance(scaffold, dict) else {}
    before = int(fields.get("functions", 0))
    if fields and int(fields.get("asked", 0)) >= count:
        return _outcome(instance, count, before, fields)
    task = dataset.task(instance.instance_id)
    with workspace(instance) as tree:
        tests = reveal(task, count, lambda path: _read(tree, path), sandbox)
    after = applied(task, tests, count=count).instance
    if not dry_run and len(tests.functions) >= before:
        with content.locked(dataset):
            if len(tests.functions) > before:
                write_scaffold(dataset, after, ledger.Event.REVEALED, functions=len(tests.functions), asked=count)
            else:
                write_scaffold(dataset, after)
    return _outcome(after, count, before, after.extra[FIELD])


def _outcome(instance: Instance, count: int, before: int, fields: dict[str, object]) -> RevealOutcome:
    why = fields.get("why_not")
    functions, left = fields.get("functions"), fields.get("hidden_functions")
    return RevealOutcome(
        instance_id=instance.instance_id,
        asked=count,
        before=before,
        functions=functions if isinstance(functions, int) else 0,
        hidden_functions=left if isinstance(left, int) else 0,
        why_not=tuple(map(str, why)) if isinstance(why, list | tuple) else (),
    )


def _read(tree: Workspace, path: str) -> bytes | None:
    try:
        return tree.read(path)
    except FileNotFoundError:
        return None
