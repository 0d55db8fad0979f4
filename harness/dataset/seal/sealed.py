"""One sealed task on disk: which file it is, how it is made and opened."""

from __future__ import annotations

import contextlib
import hashlib
import threading
from typing import TYPE_CHECKING, Any

from harness.core.errors import InputError
from harness.dataset.seal import container
from harness.dataset.seal.container import Container
from harness.dataset.seal.identity import (
    GIVE_ONE,
    RESTORE,
    DamagedError,
    Keys,
    WrongKeyError,
    encrypt,
    recipients_digest,
    short,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

SEALED_FILE = "sealed.age"
TASK = "task"
WORKINGS = ".goldseam"
LOCK = "lock"
NOT_OURS = "whoever has the public keys can make such a file"
_opened = threading.Event()


def staged_name(recipients: Sequence[str], name: str = SEALED_FILE) -> str:
    """The name of a sealed file that waits for dataset.yaml to name its recipients."""
    return f".{name}-{recipients_digest(recipients)}.next"


def sealed_file(folder: Path, recipients: Sequence[str], *, bound: str | None = None) -> Path | None:
    """The file that holds a task's hidden side; None where none does.

    While a dataset is sealed anew, the file for the recipients that dataset.yaml names may wait under another name:
    of two, it is the one with the digest that the ledger `bound`.
    """
    names = (staged_name(recipients), SEALED_FILE) if recipients else (SEALED_FILE,)
    paths = [folder / name for name in names if (folder / name).is_file()]
    if len(paths) > 1:
        paths.sort(key=lambda path: digest(path.read_bytes()) != bound)
    return paths[0] if paths else None


def seal_task(
    instance_id: str,
    hidden: Mapping[str, bytes],
    *,
    secret: str,
    recipients: Sequence[str],
    also: Sequence[Any] = (),
) -> bytes:
    """A task's sealed.age, from its hidden files by name."""
    packed = Container(kind=TASK, name=instance_id, files=hidden, secret=secret).packed()
    return encrypt(packed, recipients, also=also)


def open_task(
    file: Path, instance_id: str, *, keys: Keys | None, recipients: Sequence[str], bound: str | None
) -> Container:
    """Open a task's sealed.age in memory.

    Anybody who has the recipients' public keys can make a file that these keys open, so the ledger's digest of it
    decides whose it is.

    Args:
        file: the sealed file.
        instance_id: whose it has to be.
        keys: what opens it.
        recipients: of the dataset, for messages.
        bound: SHA-256 (hex) of the file as the ledger has it; None where no line tells of it.

    Raises:
        InputError: no key, a wrong one, a damaged file, one that the ledger does not know, or the file of another task;
            the message says which.

    """
    names = ", ".join(short(recipient) for recipient in recipients)
    text = f"it is sealed to {names or 'keys that dataset.yaml does not name'}"
    if keys is None:
        raise InputError(f"the hidden side of {instance_id} cannot be read: {text}", hint=GIVE_ONE)
    try:
        data = file.read_bytes()
    except OSError as error:
        raise InputError(f"{file} cannot be read: {error.strerror or error}") from error
    if bound is None:
        raise InputError(f"{file} was sealed without a line in the ledger: {NOT_OURS}", hint=RESTORE)
    if bound != digest(data):
        raise DamagedError(f"{file} is not the file that was sealed: it was changed, or {NOT_OURS}", hint=RESTORE)
    try:
        plain = keys.open(data, where=str(file))
    except WrongKeyError as error:
        raise WrongKeyError(f"{error.message}: {text}, or a byte of its head was changed", hint=error.hint) from None
    _opened.set()
    return container.unpack(plain, kind=TASK, name=instance_id, where=str(file))


def was_opened() -> bool:
    """True once this process has opened a sealed task: from then on texts of errors may quote it."""
    return _opened.is_set()


def digest(data: bytes) -> str:
    """The SHA-256 of a sealed file in hex, as the ledger keeps it."""
    return hashlib.sha256(data).hexdigest()


def forget_workings(dataset: Path, instance_id: str | None = None) -> int:
    """Remove what mining kept for itself and what may quote hidden tests: logs and proofs, of one task or of all.

    Returns how many files are gone.
    """
    folder = dataset / WORKINGS
    removed = 0
    for path in sorted(folder.glob("*/*") if folder.is_dir() else ()):
        if path.is_file() and (instance_id is None or path.name.startswith(f"{instance_id}.")):
            with contextlib.suppress(OSError):
                path.unlink()
                removed += 1
    return removed
