"""The history of a dataset: ledger.jsonl, append-only, every line chained to the one before it by its hash.

Appending takes a lock on the file, writes at its end and syncs it. Nothing that is there is ever rewritten: a line that
a crash or a full disk cut short stays, and the next one says so. docs/custody.md tells what this proves and what not.
"""

from __future__ import annotations

import contextlib
import fcntl
import functools
import getpass
import itertools
import os
import socket
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit, urlunsplit

from harness.core import files, origin, process
from harness.core.errors import GoldseamError, InputError
from harness.core.files import refuse_newer
from harness.dataset.ledger import key as ledger_key
from harness.dataset.ledger.entry import (
    GENESIS,
    LEDGER_VERSION,
    RESERVED,
    Entry,
    Event,
    Line,
    digest,
    lines,
    parse,
    render,
    torn_note,
)

if TYPE_CHECKING:
    from harness.dataset.folder import Dataset

LEDGER_FILE = "ledger.jsonl"
SHOWN = frozenset({"statement", "code", "scaffold", "gold", "test_output"})
"""What of a task an outside provider can be shown; `gold` is the fix itself, for a judge that is given it;
`test_output` is what hidden tests print, which quotes them, for a model that writes a statement."""
_WINDOW = 16 * 1024
"""Bytes at the end of the file that are looked at first."""


def record(dataset: Dataset, event: Event, tasks: Iterable[str] = (), **facts: Any) -> Entry:
    """Append one line; it is on disk when this returns. Safe from several threads and processes at once.

    Args:
        dataset: whose ledger it is.
        event: what happened.
        tasks: ids of the tasks it happened to.
        facts: whatever else is to be known of it; anything that JSON can hold.

    Raises:
        InputError: the ledger cannot be written, such as on a read-only file system.
        InfrastructureError: the disk is full or failing.

    """
    return append(dataset.path / LEDGER_FILE, event, tasks=tasks, facts=facts, canary=dataset.canary)


def record_exposure(
    dataset: Dataset, tasks: Iterable[str], *, model: str, endpoint: str, parts: Collection[str], **facts: Any
) -> Entry:
    """Append that tasks were shown to a model.

    Args:
        dataset: whose tasks they are.
        tasks: their ids.
        model: as the user named it.
        endpoint: the provider's address; name, password and query are left out.
        parts: what was shown of them, out of `SHOWN`.
        facts: as of `record`.

    Raises:
        InputError, InfrastructureError: as `record`.

    """
    if unknown := set(parts) - SHOWN:
        raise ValueError(f"a task has no {', '.join(sorted(unknown))} to show")
    facts |= {"model": model, "endpoint": _address(endpoint), "shown": sorted(set(parts))}
    return record(dataset, Event.EXPOSED, tasks, **facts)


def read(dataset: Dataset) -> tuple[Entry, ...]:
    """Every entry, in the order of the file; none where there is no ledger.

    Raises:
        InputError: it cannot be read, or a line is broken that no later line explains.

    """
    path = dataset.path / LEDGER_FILE
    parsed = lines(read_ledger(path))
    entries: list[Entry] = []
    broken: list[Line] = []
    for line in parsed:
        if line.entry is None:
            broken.append(line)
            continue
        if broken and line.entry.facts.get("torn") != torn_note(broken):
            raise InputError(
                f"{path}, line {broken[0].number} is broken: {broken[0].problem}",
                hint="`goldseam holdout log DATASET --verify` shows what happened to the ledger",
            )
        refuse_newer(f"{path}, line {line.number}", line.entry.schema_version, LEDGER_VERSION)
        broken = []
        entries.append(line.entry)
    return tuple(entries)


def head(dataset: Dataset) -> str | None:
    """The hash of the newest line: whoever keeps it elsewhere can tell later that nothing was cut off.

    Raises:
        InputError: the ledger cannot be read.

    """
    entries = read(dataset)
    return entries[-1].hash if entries else None


def as_json(entry: Entry) -> dict[str, Any]:
    """An entry with the fields of its line."""
    fields = {name: getattr(entry, name) for name in Entry.model_fields}
    return {**{name: value for name, value in fields.items() if value is not None}, **entry.facts}


def read_ledger(path: Path) -> bytes:
    """The file's bytes; none where there is no file."""
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return b""
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror or error}") from error


def append(
    path: Path,
    event: Event,
    *,
    tasks: Iterable[str] = (),
    facts: Mapping[str, Any] | None = None,
    canary: str = "",
    signed_by: Collection[str] = (),
) -> Entry:
    """As `record`, for a ledger's file; where there are keys in `signed_by`, one of them has to sign the line."""
    facts = dict(facts or {})
    if clash := RESERVED & facts.keys():
        raise ValueError(f"facts cannot be called {', '.join(sorted(clash))}")
    writer = Writer(path)
    if signed_by and writer.key not in signed_by:
        raise InputError(
            f"{path}: the dataset lists ledger_keys, so one of them has to sign this change",
            hint=f"set {ledger_key.VARIABLE} to the key's file, env:VARIABLE or command:PROGRAM",
        )
    with locked(path) as handle:
        tail = _tail(handle)
        last = next((line.entry for line in reversed(tail) if line.entry), None)
        if broken := list(itertools.takewhile(lambda line: line.entry is None, reversed(tail))):
            facts["torn"] = torn_note(reversed(broken))
        if last is None and canary:
            facts = {"canary": canary, **facts}
        fields = writer.fields(
            event, tasks, facts, prev=last.hash if last else GENESIS, seq=last.seq + 1 if last else 1
        )
        start = b"" if not tail or tail[-1].ended else b"\n"
        write_end(handle, start + render(fields) + b"\n")
    return parse(render(fields))[0]


class Writer:
    """Makes lines of a ledger; who and the key are found out before others have to wait."""

    def __init__(self, path: Path) -> None:
        self._signer = ledger_key.signer()  # may ask a person
        self._actor = _actor_of(path.parent)

    @property
    def key(self) -> str | None:
        """The public key that signs, 32 bytes in base64; None where none does."""
        return self._signer.key if self._signer else None

    def fields(
        self, event: Event, tasks: Iterable[str], facts: Mapping[str, Any], *, prev: str, seq: int
    ) -> dict[str, Any]:
        """A line, hashed and signed."""
        fields: dict[str, Any] = {
            "schema_version": LEDGER_VERSION,
            "seq": seq,
            "at": origin.now(),
            "who": self._actor,
            "event": event.value,
            "tasks": list(tasks),
            **facts,
            "prev": prev,
        }
        if self._signer:
            fields["key"] = self._signer.key
        fields["hash"] = digest(fields)
        if self._signer:
            fields["signature"] = self._signer.sign(fields["hash"])
        return fields


@contextlib.contextmanager
def locked(path: Path) -> Iterator[int]:
    """The ledger, open for appending, while nobody else appends.

    Raises:
        InputError, InfrastructureError: it cannot be written.

    """
    with files.explained(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        while True:
            is_new = not path.exists()
            handle = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o644)
            try:
                fcntl.flock(handle, fcntl.LOCK_EX)
                if not _is_still(path, handle):  # such as a checkout, while we waited
                    continue
                if is_new:
                    files.sync_folder(path.parent)
                yield handle
                return
            finally:
                os.close(handle)


def _is_still(path: Path, handle: int) -> bool:
    try:
        return os.path.samestat(path.stat(), os.fstat(handle))
    except FileNotFoundError:
        return False


def _tail(handle: int) -> tuple[Line, ...]:
    """The last entry and the broken lines after it; their numbers count from there."""
    size = os.fstat(handle).st_size
    window = _WINDOW
    while True:
        start = max(0, size - window)
        data = os.pread(handle, size - start, start)
        if start:
            _, _, data = data.partition(b"\n")
        *texts, end = data.split(b"\n")
        last = next((number for number in reversed(range(len(texts))) if lines(texts[number] + b"\n")[0].entry), None)
        if last is not None or start == 0:
            return lines(b"\n".join([*texts[last or 0 :], end]))
        window *= 4


def write_end(handle: int, data: bytes) -> None:
    """Append bytes and sync them."""
    view = memoryview(data)
    while view:
        view = view[os.write(handle, view) :]
    os.fsync(handle)


def _actor_of(folder: Path) -> str:
    """Who acts: GOLDSEAM_USER, else git's user.email as the folder has it, else login@host."""
    return os.environ.get("GOLDSEAM_USER") or _address_in_git(folder.absolute()) or _login()


@functools.lru_cache(maxsize=64)
def _address_in_git(folder: Path) -> str:
    if process.which("git") is None:
        return ""
    try:
        completed = process.run(["git", "-C", folder, "config", "user.email"], check=False, timeout=20)
    except GoldseamError:
        return ""
    return completed.stdout.decode("utf-8", "replace").strip() if completed.returncode == 0 else ""


def _login() -> str:
    try:
        name = getpass.getuser()
    except (KeyError, OSError):
        name = str(os.getuid())
    return f"{name}@{socket.gethostname()}"


def _address(endpoint: str) -> str:
    """An address without what may be secret in it."""
    try:
        parts = urlsplit(endpoint)
    except ValueError:
        return endpoint.partition("?")[0]
    if not parts.scheme or not parts.netloc:
        return endpoint.partition("?")[0]
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))
