"""The work of `holdout scan`: what a dataset would leak, and every source that is searched for it."""

from __future__ import annotations

import sysconfig
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from harness.core.instance import Task
from harness.dataset.folder import Dataset
from harness.dataset.seal import access_log
from harness.dataset.similarity import leak_fingerprints
from harness.dataset.similarity.corpus import Source, Unread
from harness.dataset.similarity.leak_fingerprints import Index, Kind, Text
from harness.dataset.similarity.scan import Find, scan

MOST = 10_000
"""Finds that are kept; all are counted."""


@dataclass(frozen=True, kw_only=True)
class ScanOutcome:
    """The finds in everything that was searched."""

    finds: tuple[Find, ...]
    """By source; at most `MOST`."""
    found: int
    """How many there are in all."""
    sources: int
    bytes: int
    unread: tuple[Unread, ...]
    code: bool
    """Whether hidden code was looked for too; else the canary and the statements alone."""
    tasks: int
    untold: dict[Kind, int]
    """Tasks whose text of a kind is too short or too ordinary to be told from other text."""


def opener(dataset: Dataset, ids: Sequence[str], *, purpose: str) -> Callable[[str], Task]:
    """A function that opens tasks whole; the ledger of a sealed dataset records these first.

    Raises:
        InputError: no key, or a wrong one.

    """
    access_log.tell(dataset, ids, purpose=purpose)
    return dataset.task


def index_of(dataset: Dataset, *, hidden: Callable[[str], Task] | None) -> Index:
    """The fingerprints of a dataset's leaks.

    Args:
        dataset: the tasks, in whatever state.
        hidden: opens a task whole; None where its hidden side is closed, so that no code is looked for.

    Raises:
        InputError: a task's file is missing or broken.

    """
    texts: list[Text] = []
    for task_id in dataset.ids():
        if hidden is None:
            texts.append(leak_fingerprints.of_statement(task_id, dataset.instance(task_id).problem_statement))
            continue
        task = hidden(task_id)
        texts += (
            leak_fingerprints.of_statement(task_id, task.instance.problem_statement),
            leak_fingerprints.of_patch(task_id, Kind.GOLD, task.hidden.gold_patch),
            leak_fingerprints.of_patch(task_id, Kind.TESTS, task.hidden.test_patch, public=task.instance.scaffold),
        )
    model = dataset.description()
    former = (model.model_extra or {}).get("former_canaries") or []
    return leak_fingerprints.build(texts, [dataset.canary, *map(str, former)], ordinary=ordinary_code())


def ordinary_code() -> Iterator[bytes]:
    """The modules of Python's standard library: code that stands there too is no evidence of anything."""
    for path in sorted(Path(sysconfig.get_path("stdlib")).glob("*.py")):
        yield path.read_bytes()


def search(
    index: Index, sources: Iterable[Source | Unread], *, tasks: int, code: bool, note: Callable[[str], None]
) -> ScanOutcome:
    """Search every source; `note` is told which one it is at."""
    finds: list[Find] = []
    unread: list[Unread] = []
    count = size = finds_seen = 0
    for source in sources:
        if isinstance(source, Unread):
            unread.append(source)
            continue
        note(source.name)
        finds_here = scan(index, source.name, source.blocks())
        finds_seen += len(finds_here)
        finds += finds_here[: max(0, MOST - len(finds))]
        count, size = count + 1, size + source.size
        if source.broken:
            unread.append(source.broken)
    return ScanOutcome(
        finds=tuple(finds),
        found=finds_seen,
        sources=count,
        bytes=size,
        unread=tuple(unread),
        code=code,
        tasks=tasks,
        untold=dict(leak_fingerprints.untold_counts(index)),
    )
