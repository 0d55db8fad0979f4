"""calls.json of a task: what its hidden tests ask of the fix, and inputs near that, with the fix's answers."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from harness.core import files
from harness.core.instance import Task, TaskState
from harness.dataset import content
from harness.dataset.folder import Dataset
from harness.dataset.hidden_files import CALLS_FILE, hidden_files
from harness.dataset.seal import access_log, sealing
from harness.differential.answers import equal
from harness.differential.corpus import Answer, Call, Corpus, Steps
from harness.differential.jobs import NoReplayError, Surroundings, answers, record
from harness.languages.screening import screen_task
from harness.patches.patch import Patch
from harness.sandbox.executors.base import Executor
from harness.sandbox.job import MissingImageError, Sandbox, SandboxError
from miner.calls.nearby import pool_of, variants

_HUNK = re.compile(rb"@@ -\d+(?:,\d+)? \+(\d+)(?:,\d+)? @@")
_NEAR_TELLING, _NEAR_OTHER, _NEAR_AGAIN = 60, 6, 12
"""Inputs made of a call that the base answers differently, of another, and of a first one's telling offspring."""
_PAIRS = 200
"""Inputs with two changes, of a call that the base answers differently: what is wrong may be how two values relate."""
_MOST_MADE = 400
_MOST_TELLING, _MOST_OTHER = 150, 100
"""Nearby inputs that are kept."""
_ACCIDENTS = {"TypeError", "AttributeError", "NameError", "UnboundLocalError", "RecursionError", "AssertionError"}
"""What a nearby input that makes no sense raises: no two right fixes need agree there."""


@dataclass(frozen=True, kw_only=True)
class _Bench:
    """Where calls are answered by base and fix."""

    task: Task
    gold: Patch
    sandbox: Sandbox
    surroundings: Surroundings

    def judged(self, calls: Sequence[Steps]) -> list[tuple[Steps, Answer | None, Answer | None]]:
        """Each call with the answers of fix and base."""
        if not calls:
            return []
        by_gold = answers(self.task, self.gold, calls, self.sandbox, self.surroundings)
        by_base = answers(self.task, None, calls, self.sandbox, self.surroundings)
        return list(zip(calls, by_gold, by_base, strict=True))


def recorded(task: Task, sandbox: Sandbox) -> Corpus:
    """The calls of a task; none where no call of its tests can be recorded as plain data.

    Raises:
        NoReplayError: the tests did not run.
        InfrastructureError: the engine failed.

    """
    gold = screen_task(task, task.hidden.gold_patch).kept
    bench = _Bench(task=task, gold=gold, sandbox=sandbox, surroundings=Surroundings())
    calls = record(task, gold, changed_lines(gold), sandbox)
    own = [
        Call(steps=steps, answer=answer, telling=not equal(answer, base))
        for call, (steps, answer, base) in zip(calls, bench.judged([call.steps for call in calls]), strict=True)
        if answer is not None and (call.direct or equal(answer, base))
    ]
    return _stable(bench, [*own, *_nearby(bench, own)])


def _nearby(bench: _Bench, own: Sequence[Call]) -> list[Call]:
    """Inputs near recorded ones, and near the telling ones among these."""
    pool = pool_of(call.steps for call in own)
    known_calls = [call.steps for call in own]
    first = _new_calls(own, pool, known_calls, telling=_NEAR_TELLING, other=_NEAR_OTHER)
    calls = list(_sensible(bench.judged(first)))
    telling = [call for call in calls if call.telling]
    second = _new_calls(telling, pool, [*known_calls, *first], telling=_NEAR_AGAIN, other=0)
    calls += _sensible(bench.judged(second))
    others = [call for call in calls if not call.telling]
    return [call for call in calls if call.telling][:_MOST_TELLING] + others[:_MOST_OTHER]


def _new_calls(
    calls: Iterable[Call], pool: dict[str, list[object]], earlier: Iterable[Steps], *, telling: int, other: int
) -> list[Steps]:
    """New calls, the telling ones' first, at most `_MOST_MADE`."""
    calls_seen = {repr(steps) for steps in earlier}
    calls_made: list[Steps] = []
    ordered = sorted(calls, key=lambda call: not call.telling)
    share = max(1, _MOST_MADE // max(1, sum(call.telling for call in ordered)))
    for call in ordered:
        most = min(telling, share) if call.telling else other
        pairs = min(_PAIRS, share) if call.telling else 0
        for steps in variants(call.steps, pool, most=most, pairs=pairs, seed=repr(call.steps)):
            if repr(steps) not in calls_seen and len(calls_made) < _MOST_MADE:
                calls_seen.add(repr(steps))
                calls_made.append(steps)
    return calls_made


def _sensible(judged: Iterable[tuple[Steps, Answer | None, Answer | None]]) -> Iterator[Call]:
    """Those that the fix answers with a value, or by raising what it means to."""
    for steps, answer, base in judged:
        if answer is None or not ("value" in answer or "raised" in answer):
            continue
        raised = set(answer.get("raised", ())[:1])
        if raised & _ACCIDENTS or (raised and base and "raised" in base):
            continue
        yield Call(steps=steps, answer=answer, nearby=True, telling=not equal(answer, base))


def _stable(bench: _Bench, calls: Sequence[Call]) -> Corpus:
    """The calls that the fix answers alike on another host, date, hash seed and in another order."""
    if not calls:
        return Corpus()
    again = answers(bench.task, bench.gold, [call.steps for call in calls], bench.sandbox, Surroundings(clock=None))
    stable_calls = (call for call, answer in zip(calls, again, strict=True) if equal(call.answer, answer))
    return Corpus(calls=tuple(stable_calls))


def changed_lines(patch: Patch) -> dict[str, list[int]]:
    """The lines that a patch adds, and where it removes some, by path and as they are after it."""
    lines: dict[str, list[int]] = {}
    for file in patch.files:
        if not file.binary and file.path.endswith(".py") and file.new_path is not None:
            lines[file.path] = sorted(set(_lines(file.raw)))
    return lines


def _lines(raw: bytes) -> Iterator[int]:
    number = 0
    for line in raw.split(b"\n"):
        if match := _HUNK.match(line):
            number = int(match[1])
        elif number and line.startswith(b"+"):
            yield number
            number += 1
        elif number and line.startswith(b"-"):
            yield number
        elif number and line.startswith(b" "):
            number += 1


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
