"""The ledger's lines about opening sealed tasks: none is handed out of which no line tells."""

from __future__ import annotations

import threading
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from harness.core.errors import InputError
from harness.dataset.ledger import ledger

if TYPE_CHECKING:
    from harness.dataset.folder import Dataset

_reported: set[tuple[str, str]] = set()
"""Folder and id of the tasks whose opening this process has told of."""
_lock = threading.Lock()


def tell(dataset: Dataset, ids: Iterable[str], *, purpose: str, **facts: Any) -> None:
    """Tell that sealed tasks are opened: one line for all of them, before they are. Of a readable dataset, nothing.

    Args:
        dataset: with the keys that open it.
        ids: the tasks.
        purpose: a word for what is done with them.
        facts: more to be known of it.

    Raises:
        InputError: the keys do not open the first of them, or the ledger cannot be written.

    """
    ids = sorted(set(ids))
    if not dataset.sealed or not ids:
        return
    dataset.try_keys(ids[0])  # a wrong key is told before anything is written
    with _lock:
        _record(dataset, ids, purpose, facts)


def ensure(dataset: Dataset, instance_id: str) -> None:
    """See that a line tells of a task that is being opened; where none does, one that takes in the whole dataset."""
    with _lock:
        if (str(dataset.path), instance_id) not in _reported:
            _record(dataset, sorted({*dataset.ids(), instance_id}), "read", {})


def _record(dataset: Dataset, ids: list[str], purpose: str, facts: dict[str, Any]) -> None:
    try:
        ledger.record(dataset, ledger.Event.OPENED, ids, purpose=purpose, **facts)
    except InputError as error:
        raise InputError(
            f"sealed tasks are opened only where the ledger can record it: {error.message}",
            hint="mount the dataset writable, or copy it to a place that is; the copy's ledger can be joined later",
        ) from None
    _reported.update((str(dataset.path), task_id) for task_id in ids)
