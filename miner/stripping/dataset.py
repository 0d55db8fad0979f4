"""Tasks of a dataset whose hidden tests are stripped anew: the work of `holdout strip`."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from harness.core import process, test_ids
from harness.core.errors import InfrastructureError, InputError, InterruptedRunError
from harness.core.instance import Instance, Task, TaskState
from harness.dataset import content, task_states
from harness.dataset.folder import Dataset, public_files, write_task
from harness.dataset.seal import access_log
from harness.judging.places import Place, carded, place_of
from harness.patches import patch
from harness.sandbox.executors.base import Executor
from harness.sandbox.job import Sandbox
from harness.solve.workspace.workspace import ImageWorkspace
from miner.stripping import task as stripping


@dataclass(frozen=True, kw_only=True)
class StrippedTask:
    """Where one task is judged, before and after."""

    instance_id: str
    before: Place
    after: Place
    bits: float | None = None
    why_not: str = ""
    """Why it stays as it was; empty where it does not."""


def strip_tasks(
    dataset: Dataset,
    ids: Sequence[str],
    *,
    again: bool,
    sandbox: Sandbox,
    workspace: Callable[[Instance], AbstractContextManager[ImageWorkspace]],
    executor: Executor,
    note: Callable[[str], None],
) -> Iterator[StrippedTask]:
    """Strip the hidden tests of tasks and write each as soon as it is proved; of every proved task without ids.

    Tasks that have expectations, or none after it was tried, stay unless `again` is given.

    Raises:
        InputError: an id is unknown, its task is not proved, the keys do not open it, or the dataset cannot be written.
        InfrastructureError: the engine is gone.

    """
    instances = task_states.named_instances(dataset, ids) if ids else tuple(dataset.instances())
    others = [instance for instance in instances if instance.state is not TaskState.PROVED]
    if ids and others:
        raise InputError(f"only proved tasks can be stripped: {others[0].instance_id} is {others[0].state}")
    chosen = [instance.instance_id for instance in instances if instance.state is TaskState.PROVED]
    access_log.tell(dataset, chosen, purpose="strip")

    def strip_one(instance_id: str) -> tuple[Task, Task | str | None]:
        task = dataset.task(instance_id)
        if "guess_bits" in task.hidden.evidence and not again:
            return task, None
        note(f"{instance_id}: recording what its tests expect")
        try:
            with workspace(task.instance) as tree, tempfile.TemporaryDirectory(prefix="goldseam-") as folder:
                tree.check_out(Path(folder))
                read = partial(_read, Path(folder))
                base = read(stripping.changed_paths(task))
                _fix(task, Path(folder))
                listed = partial(_listed, Path(folder))
                sources = stripping.sources(task, test_ids.files(task.hidden.test_files), read, listed)
                data = stripping.data(task, sources, read)
                unpatched = stripping.unpatched(task, _files(Path(folder)))
            return task, stripping.confirmed(stripping.stripped(task, sources, base, sandbox, data, unpatched), sandbox)
        except InterruptedRunError:
            raise
        except process.ProgramError as error:
            return task, f"its patches do not apply to what its image has: {error.message}"
        except InfrastructureError as error:
            if not sandbox.is_healthy():
                raise
            return task, error.message

    for task, stripped_task in executor.map(strip_one, chosen, cancel=sandbox.cancel):
        after = stripped_task if isinstance(stripped_task, str | None) else _written(dataset, stripped_task)
        place = place_of(task)
        if after is None or isinstance(after, str):
            bits, why_not = task.hidden.evidence.get("guess_bits"), after or "it was stripped before"
            yield StrippedTask(instance_id=task.instance_id, before=place, after=place, bits=bits, why_not=why_not)
        else:
            bits = after.hidden.evidence["guess_bits"]
            yield StrippedTask(instance_id=task.instance_id, before=place, after=place_of(after), bits=bits)


def _fix(task: Task, folder: Path) -> None:
    """Put both patches of a task on a checkout of its base."""
    for raw in (task.hidden.gold_patch, task.hidden.test_patch):
        if patch.parse(raw, trusted=True).files:
            process.apply_patch(raw, folder)


def _read(folder: Path, paths: Iterable[str]) -> dict[str, bytes]:
    places = {path: folder / path for path in paths}
    return {path: place.read_bytes() for path, place in places.items() if place.is_file() and not place.is_symlink()}


def _listed(folder: Path) -> list[str]:
    return [place.relative_to(folder).as_posix() for place in folder.rglob("*") if place.is_file()]


def _files(folder: Path) -> Iterator[tuple[str, bytes]]:
    for path in sorted(_listed(folder)):
        if not path.startswith(".git/") and (folder / path).stat().st_size <= stripping.LARGEST_IN_TREE:
            yield from _read(folder, [path]).items()


def _written(dataset: Dataset, stripped: Task) -> Task:
    """Write what was found of a task; what else was written of it meanwhile stays."""
    with content.locked(dataset):
        now = dataset.task(stripped.instance_id)
        names = ("guess_bits", "guess_rule", "tripwires")
        fields = {name: stripped.hidden.evidence[name] for name in names if name in stripped.hidden.evidence}
        evidence = {name: value for name, value in now.hidden.evidence.items() if name not in names}
        hidden = replace(now.hidden, expectations=stripped.hidden.expectations, evidence={**evidence, **fields})
        task = carded(replace(now, hidden=hidden))
        write_task(dataset, task, public_files=public_files(dataset, task.instance_id))
    return task


def as_json(task: StrippedTask) -> dict[str, Any]:
    """One task as `--json` prints it."""
    return {**asdict(task), "why_not": task.why_not or None}
