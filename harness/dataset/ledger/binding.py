"""The parts of a dataset that its ledger binds, by digest, so that a change past the program is noticed and named.

Every writer of task.yaml and dataset.yaml tells the ledger first, and of nothing but what it changes: what somebody
else changed before stays a difference. docs/adr/0013 says what is bound and why.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from harness.core.errors import InputError
from harness.core.json_text import mapping
from harness.dataset.ledger import key, ledger
from harness.dataset.ledger.entry import Entry, Event
from harness.dataset.schema import DatasetModel, TaskModel
from harness.dataset.seal.identity import recipients_digest

if TYPE_CHECKING:
    from harness.dataset.folder import Dataset

DATASET_FILE = "dataset.yaml"
SETTINGS = ("recipients", "ledger_keys", "splits")
"""Fields of dataset.yaml that are bound, by their values."""
_SOURCE = ("repo", "base_commit", "created_at", "language", "version")
_DIGITS = 32
"""Hex digits of a part's digest: enough that nobody finds another part with the same."""


def task_parts(model: TaskModel, *, statement: str, scaffold: bytes, hidden: str) -> dict[str, str]:
    """The parts of a task, each as a digest. Fields with their default values do not count, so new ones change nothing.

    Args:
        model: its task.yaml.
        statement: its problem statement, without the canary.
        scaffold: its scaffold.patch, without the canary; empty where there is none.
        hidden: the digest of its hidden files.

    """
    fields = model.model_dump(mode="json", exclude_defaults=True)
    parts: dict[str, Any] = {
        "source": [fields.get(name) for name in _SOURCE],
        "image": model.image,
        "test": fields.get("test", {}),
        "budgets": fields.get("budgets", {}),
        "state": model.state,
        "split": model.split,
        "quality": fields.get("quality", {}),
        "statement": hashlib.sha256(statement.encode("utf-8", "surrogatepass")).hexdigest(),
        "scaffold": [hashlib.sha256(scaffold).hexdigest() if scaffold else None, fields.get("scaffold")],
        "hidden": hidden,
    }
    return {name: _digest(part) for name, part in parts.items()}


def _digest(part: Any) -> str:
    return hashlib.sha256(json.dumps(part, sort_keys=True, ensure_ascii=True).encode()).hexdigest()[:_DIGITS]


def settings_of(model: DatasetModel) -> dict[str, Any]:
    """The fields of dataset.yaml that are bound, as the ledger has them."""
    fields = model.model_dump(mode="json")
    return {name: sorted(fields[name]) if isinstance(fields[name], list) else fields[name] for name in SETTINGS}


@dataclass(frozen=True, kw_only=True)
class Bindings:
    """The bindings of a dataset by the newest lines of its ledger."""

    settings: Mapping[str, Any] = field(default_factory=dict)
    """By field of dataset.yaml; a field that no line tells of is not bound."""
    tasks: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """By task, the digest of each part."""
    complete: bool = False
    """Every task has to be bound: it was created so, or `holdout bind` made it so."""
    is_sealed: bool = False
    """A line says that it was sealed."""
    refused: tuple[str, ...] = ()
    """Lines that bind something and do not count, since the dataset's keys did not sign them."""
    sealed: Mapping[str, Mapping[str, str]] = field(default_factory=dict, repr=False)
    """By task and by the recipients' digest ("" in lines of earlier versions), SHA-256 of the sealed file."""

    def sealed_digest(self, task_id: str, recipients: Iterable[str]) -> str | None:
        """SHA-256 (hex) of a task's sealed file for these recipients; None where no line tells of it."""
        digests = self.sealed.get(task_id, {})
        return digests.get(recipients_digest(tuple(recipients))) or digests.get("")


def replay(entries: Iterable[Entry]) -> Bindings:
    """The bindings by the lines of a ledger, the newer over the older.

    Once a line binds `ledger_keys`, lines that bind anything count only where one of these keys signed them.
    """
    settings: dict[str, Any] = {}
    tasks: dict[str, dict[str, str]] = {}
    files: dict[str, dict[str, str]] = {}
    refused: list[str] = []
    complete = is_sealed = False
    keys: frozenset[str] = frozenset()
    for entry in entries:
        fields = mapping(entry.facts.get("settings"))
        bound, digests = mapping(entry.facts.get("bound")), mapping(entry.facts.get("files"))
        if not (fields or bound or digests or entry.event == Event.SEALED) or entry.event not in _BINDING:
            continue
        new_keys = _keys(fields)
        if not _is_signed(entry, keys or new_keys):
            refused.append(f"line {entry.seq} binds parts of the dataset, but none of its keys signed that line")
            continue
        keys = new_keys if "ledger_keys" in fields else keys
        settings.update({name: value for name, value in fields.items() if name in SETTINGS})
        is_sealed = bool(fields["recipients"]) if "recipients" in fields else is_sealed or entry.event == Event.SEALED
        complete = complete or entry.facts.get("complete") is True
        for task_id, parts in bound.items():
            if isinstance(parts, dict):
                tasks.setdefault(task_id, {}).update({str(name): str(value) for name, value in parts.items()})
        to = str(entry.facts.get("to", ""))
        for task_id, value in digests.items():
            files[task_id] = {**(files.get(task_id, {}) if to else {}), to: str(value)}
    return Bindings(
        settings=settings, tasks=tasks, complete=complete, is_sealed=is_sealed, refused=tuple(refused), sealed=files
    )


_BINDING = frozenset(Event) - {Event.OPENED, Event.EVALUATED, Event.EXPOSED, Event.EXPORTED, Event.JOINED}
"""Events that come with a change of the dataset; facts of others are not looked at."""


def _keys(settings: Mapping[str, Any]) -> frozenset[str]:
    listed = settings.get("ledger_keys")
    try:
        return key.listed_keys(map(str, listed)) if isinstance(listed, list) else frozenset()
    except InputError:
        return frozenset()


def _is_signed(entry: Entry, keys: frozenset[str]) -> bool:
    if not keys:
        return True
    return entry.key in keys and entry.signature is not None and key.holds(entry.key, entry.signature, entry.hash)


def current(dataset: Dataset) -> Bindings:
    """The bindings of the dataset's ledger now; empty where there is none.

    Raises:
        InputError: the ledger cannot be read.

    """
    path = dataset.path / ledger.LEDGER_FILE
    try:
        state = path.stat()
    except OSError:
        return Bindings()
    return _cached(dataset, state.st_mtime_ns, state.st_size)


@lru_cache(maxsize=8)
def _cached(dataset: Dataset, _changed: int, _size: int) -> Bindings:
    return replay(ledger.read(dataset))


def record(
    dataset: Dataset,
    event: Event,
    tasks: Iterable[str] = (),
    *,
    bound: Mapping[str, Mapping[str, str]] | None = None,
    settings: Mapping[str, Any] | None = None,
    files: Mapping[str, str] | None = None,
    **facts: Any,
) -> Entry:
    """Append a line that binds parts of a dataset. Where dataset.yaml lists `ledger_keys`, one of them has to sign it.

    Args:
        dataset: whose ledger it is.
        event: what changes.
        tasks: ids of the tasks it is about.
        bound: by task, the new digests of the parts that change.
        settings: the new values of fields of dataset.yaml that change.
        files: by task, SHA-256 of its new sealed file.
        facts: whatever else is to be known of it.

    Raises:
        InputError: the ledger cannot be written, or no listed key is at hand.
        InfrastructureError: the disk is full or failing.

    """
    fields = {name: value for name, value in (("bound", bound), ("settings", settings), ("files", files)) if value}
    listed = dataset.description().ledger_keys or (settings or {}).get("ledger_keys", ())
    return ledger.append(
        dataset.path / ledger.LEDGER_FILE,
        event,
        tasks=tasks,
        facts={**facts, **fields},
        canary=dataset.canary,
        signed_by=key.listed_keys(listed) if fields else frozenset(),
    )


def refuse_recipients(dataset: Dataset) -> None:
    """See that dataset.yaml names the recipients that the ledger has, before anything is sealed to them.

    Raises:
        InputError: it names others.

    """
    recipients = current(dataset).settings.get("recipients")
    if recipients is not None and recipients != sorted(dataset.recipients):
        raise InputError(
            f"{dataset.path / DATASET_FILE} names different recipients from the ledger, so nothing is sealed to them",
            hint="restore dataset.yaml, or say whom to seal to with `goldseam holdout seal DATASET --to …`",
        )
