"""The calls of a dataset's tasks, recorded and written down: the work of `holdout calls`."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

from harness.core import files
from harness.core.errors import InterruptedRunError
from harness.core.instance import TaskState
from harness.dataset import content
from harness.dataset.hidden_files import CALLS_FILE, hidden_files
from harness.dataset.seal import access_log, sealing
from harness.differential.corpus import Corpus
from harness.differential.jobs import NoReplayError
from harness.sandbox.job import MissingImageError, SandboxError
from miner.calls.recording import recorded

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from harness.core.instance import Task
    from harness.dataset.folder import Dataset
    from harness.sandbox.executors.base import Executor
    from harness.sandbox.job import Sandbox


@dataclass(frozen=True, kw_only=True)
class Recording:
    """How many calls one task has."""

    instance_id: str
    calls: int = 0
    nearby: int = 0
    telling: int = 0
    unknown: str = ""
    """Why they were not recorded; empty where they were."""


def record_calls(
    dataset: Dataset,
    ids: Sequence[str],
    *,
    again: bool,
    sandbox: Sandbox,
    executor: Executor,
    note: Callable[[str], None],
) -> Iterator[Recording]:
    """Record the calls of tasks and write each one's calls.json as soon as it is there; every proved task without ids.

    What is recorded stays unless `again` is given.

    Raises:
        InputError: an id is unknown, the keys do not open a task, or the dataset cannot be written.
        InfrastructureError: the engine is gone.

    """
    chosen = _chosen(dataset, ids)
    access_log.tell(dataset, chosen, purpose="calls")

    def record_one(instance_id: str) -> tuple[Task, Corpus | str]:
        task = dataset.task(instance_id)
        if task.hidden.calls and not again:
            return task, Corpus.read(task.hidden.calls)
        note(f"{instance_id}: recording calls")
        try:
            return task, recorded(task, sandbox)
        except NoReplayError as error:
            return task, str(error)
        except InterruptedRunError:
            raise
        except (MissingImageError, SandboxError) as error:
            if isinstance(error, SandboxError) and not sandbox.is_healthy():
                raise
            return task, error.message

    for task, corpus in executor.map(record_one, chosen, cancel=sandbox.cancel):
        if isinstance(corpus, str):
            yield Recording(instance_id=task.instance_id, unknown=corpus)
            continue
        if corpus.written() != task.hidden.calls:
            _write(dataset, task.instance_id, corpus)
        yield _counted(task.instance_id, corpus)


def _chosen(dataset: Dataset, ids: Sequence[str]) -> tuple[str, ...]:
    dataset.require(ids)
    proved = (task_id for task_id in dataset.ids() if dataset.instance(task_id).state is TaskState.PROVED)
    return tuple(ids) or tuple(proved)


def _write(dataset: Dataset, instance_id: str, corpus: Corpus) -> None:
    """Write a task's calls; what else was written of it meanwhile stays."""
    with content.locked(dataset):
        task = dataset.task(instance_id)
        hidden = replace(task.hidden, calls=corpus.written())
        if dataset.sealed:
            sealing.reseal(dataset, instance_id, hidden)
        else:
            data = hidden_files(hidden, canary=dataset.canary)[CALLS_FILE]
            files.write_bytes(dataset.task_folder(instance_id) / CALLS_FILE, data)


def _counted(instance_id: str, corpus: Corpus) -> Recording:
    near = [call for call in corpus.calls if call.nearby]
    telling = sum(call.telling for call in corpus.calls)
    return Recording(
        instance_id=instance_id,
        calls=len(corpus.calls) - len(near),
        nearby=len(near),
        telling=telling,
        unknown="" if corpus.calls else "no call of its tests can be recorded as plain data",
    )


def as_json(recording: Recording) -> dict[str, Any]:
    """One task as `--json` prints it."""
    return {**asdict(recording), "unknown": recording.unknown or None}
