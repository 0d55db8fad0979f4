"""The strength of a dataset's tasks, measured and written down: the work of `holdout strength`."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from harness.core import files
from harness.core.errors import BugError, InputError, InterruptedRunError
from harness.core.instance import TaskState
from harness.dataset import content
from harness.dataset.folder import write_instances
from harness.dataset.hidden_files import TESTS_FILE, hidden_files, hidden_names, is_survivor
from harness.dataset.seal import access_log, sealing
from harness.runs import bug_log
from harness.sandbox.job import MissingImageError, SandboxError
from miner.quality.strength.result import FIELD, Strength, is_current
from miner.quality.strength.run import CannotMeasureError, key, measure

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from harness.core.instance import Task
    from harness.dataset.folder import Dataset
    from harness.sandbox.executors.base import Executor
    from harness.sandbox.job import Sandbox
    from miner.quality.strength.result import Bounds

OPENED_FOR = "strength"


@dataclass(frozen=True, kw_only=True)
class TaskStrength:
    """One task after it was measured."""

    instance_id: str
    quality: Mapping[str, Any] = field(default_factory=dict)
    """`quality.strength`; empty where it could not be measured."""
    files: tuple[str, ...] = ()
    """Names of the survivors' files."""
    seconds: float = 0.0
    known: bool = False
    """Measured before, by the same rules and bounds, and nothing of the task has changed."""
    unknown: str = ""
    """Why it could not be measured; empty where it was."""
    bug: bool = False
    """Whether that was a bug of ours."""


@dataclass(frozen=True, kw_only=True)
class StrengthRequest:
    """How tasks are measured."""

    bounds: Bounds
    again: bool = False
    """Measure again what is known."""
    write: bool = True


def gauge(
    dataset: Dataset,
    ids: Sequence[str],
    request: StrengthRequest,
    *,
    sandbox: Sandbox,
    executor: Executor,
    note: Callable[[str], None],
) -> Iterator[TaskStrength]:
    """Measure tasks and write what is found, each as soon as it is there; in the order in which they are ready.

    A task whose engine or image fails is `unknown`, and the others go on. Killed anywhere, the next call goes on.

    Args:
        dataset: opened with keys where it is sealed.
        ids: which tasks; every proved one where there is none.
        request: how.
        sandbox: where patches are tried.
        executor: how many tasks at once.
        note: told what is being done just now.

    Raises:
        InputError: an id is unknown, a task has no proof, the keys do not open it, or the dataset cannot be written.
        InfrastructureError: the engine is gone.

    """
    chosen = _chosen(dataset, ids)
    access_log.tell(dataset, chosen, purpose=OPENED_FOR)

    def measure_one(instance_id: str) -> tuple[Task, Strength | TaskStrength]:
        task = dataset.task(instance_id)
        if not request.again and is_current(task, key(task, request.bounds)):
            return task, _outcome(task, is_earlier=True)
        try:
            with bug_log.of_one_item(CannotMeasureError):
                return task, measure(task, sandbox, request.bounds, note=lambda text: note(f"{instance_id}: {text}"))
        except (CannotMeasureError, BugError) as error:
            return task, TaskStrength(instance_id=instance_id, unknown=str(error), bug=isinstance(error, BugError))
        except InterruptedRunError:
            raise
        except (MissingImageError, SandboxError) as error:
            if isinstance(error, SandboxError) and not sandbox.is_healthy():
                raise
            return task, TaskStrength(instance_id=instance_id, unknown=error.message)

    for task, measured in executor.map(measure_one, chosen, cancel=sandbox.cancel):
        if isinstance(measured, TaskStrength):
            yield measured
        elif request.write:
            yield _save(dataset, task, measured)
        else:
            yield _outcome(measured.kept_in(task))


def _chosen(dataset: Dataset, ids: Sequence[str]) -> tuple[str, ...]:
    dataset.require(ids)
    states = {instance_id: dataset.instance(instance_id).state for instance_id in ids or dataset.ids()}
    if unproved := [instance_id for instance_id in ids if states[instance_id] is TaskState.CANDIDATE]:
        raise InputError(
            f"{unproved[0]} is a candidate: it has no tests that were proved",
            hint="run `goldseam mine` on its repository",
        )
    chosen = tuple(task_id for task_id in dict.fromkeys(ids or states) if ids or states[task_id] is TaskState.PROVED)
    if not chosen:
        raise InputError(f"{dataset.path} has no proved task", hint="mine some with `goldseam mine SOURCE -o DATASET`")
    return chosen


def _outcome(task: Task, *, is_earlier: bool = False) -> TaskStrength:
    evidence = task.hidden.evidence.get(FIELD, {})
    return TaskStrength(
        instance_id=task.instance_id,
        quality=task.instance.quality[FIELD],
        files=tuple(task.hidden.survivors),
        seconds=float(evidence.get("seconds", 0.0)),
        known=is_earlier,
    )


def _save(dataset: Dataset, task: Task, strength: Strength) -> TaskStrength:
    """Write what was found into the task as it is now; what else was written meanwhile stays."""
    with content.locked(dataset):
        now = dataset.task(task.instance_id)
        if now.digest() != task.digest():
            return TaskStrength(instance_id=task.instance_id, unknown="it was changed while it was measured")
        after = strength.kept_in(now)
        _write(dataset, after)
    return _outcome(after)


def _write(dataset: Dataset, task: Task) -> None:
    """Survivors, then the public fields, then the evidence, which says that the rest is there: see `is_current`."""
    folder = dataset.task_folder(task.instance_id)
    if dataset.sealed:
        write_instances(dataset, (task.instance,))
        sealing.reseal(dataset, task.instance_id, task.hidden)
        return
    contents = hidden_files(task.hidden, canary=dataset.canary)
    with files.explained(folder):
        for name in hidden_names(folder):
            if is_survivor(name) and name not in contents:
                (folder / name).unlink()
    for name in task.hidden.survivors:
        files.write_bytes(folder / name, contents[name])
    write_instances(dataset, (task.instance,))
    files.write_bytes(folder / TESTS_FILE, contents[TESTS_FILE])


def weakest_first(strengths: Sequence[TaskStrength]) -> tuple[TaskStrength, ...]:
    """By the share that was killed; those without one, and those that could not be measured, last."""

    def rank(strength: TaskStrength) -> tuple[object, ...]:
        share = strength.quality.get("share")
        coverage = strength.quality.get("covered_lines") or 0
        return (bool(strength.unknown), share is None, share or 0.0, coverage, strength.instance_id)

    return tuple(sorted(strengths, key=rank))


def as_json(strength: TaskStrength) -> dict[str, Any]:
    """One task as `--json` prints it."""
    return {
        "instance_id": strength.instance_id,
        "strength": dict(strength.quality) or None,
        "survivors": list(strength.files),
        "seconds": strength.seconds,
        "known": strength.known,
        "unknown": strength.unknown or None,
    }
