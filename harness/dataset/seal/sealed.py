"""One sealed task on disk: which file it is, how it is made and opened.

Its content is a tar, the same bytes for the same content, whose first member says what it holds.
`age -d -i KEY sealed.age | tar xz` opens it without goldseam.
"""

from __future__ import annotations

import contextlib
import gzip
import hashlib
import io
import json
import tarfile
import threading
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field, ValidationError

from harness.core.errors import InputError
from harness.core.files import refuse_newer
from harness.core.records import OpenRecord
from harness.dataset.model_files import read_bytes
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

CONTAINER_VERSION = 1
MANIFEST = "manifest.json"
_LARGEST = 512 * 1024 * 1024
SEALED_FILE = "sealed.age"
TASK = "task"
WORKINGS = ".goldseam"
LOCK = "lock"
NOT_OURS = "whoever has the public keys can make such a file"
_opened = threading.Event()


class FileModel(OpenRecord):
    """One file of a container."""

    bytes: int
    sha256: str


class ManifestModel(OpenRecord):
    """manifest.json, the first member."""

    schema_version: Annotated[int, Field(ge=1)]
    kind: str
    """`task` or `evidence`."""
    name: str
    """Of the task; or of the prediction: task, model and sample."""
    secret: str = ""
    """Random hex digits: names hidden tests in run folders without telling them."""
    files: dict[str, FileModel]


@dataclass(frozen=True, kw_only=True)
class Container:
    """The content of one sealed file."""

    kind: str
    name: str
    files: Mapping[str, bytes]
    secret: str = ""

    def packed(self) -> bytes:
        """The container's bytes; the same content gives the same bytes."""
        manifest = {
            "schema_version": CONTAINER_VERSION,
            "kind": self.kind,
            "name": self.name,
            "secret": self.secret,
            "files": {
                name: {"bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}
                for name, data in sorted(self.files.items())
            },
        }
        buffer = io.BytesIO()
        with tarfile.open(fileobj=buffer, mode="w", format=tarfile.PAX_FORMAT) as tar:
            _add(tar, MANIFEST, json.dumps(manifest, indent=1, ensure_ascii=False).encode() + b"\n")
            for name, data in sorted(self.files.items()):
                _add(tar, name, data)
        return gzip.compress(buffer.getvalue(), compresslevel=6, mtime=0)


def _add(tar: tarfile.TarFile, name: str, data: bytes) -> None:
    member = tarfile.TarInfo(name)
    member.size, member.mode = len(data), 0o600
    tar.addfile(member, io.BytesIO(data))


def unpack(data: bytes, *, kind: str, name: str, where: str) -> Container:
    """Read a container that was opened. Nothing of its content is in a message.

    Args:
        data: what decryption gave.
        kind: what it has to be.
        name: whose it has to be.
        where: the sealed file, for messages.

    Raises:
        DamagedError: it is no container, or its files are not what its manifest says.
        InputError: it is of another task or prediction, or written by a newer goldseam.

    """
    members = _members(data, where)
    try:
        manifest = ManifestModel.model_validate_json(members.pop(MANIFEST, b""))
    except ValidationError:
        raise DamagedError(f"{where}: what is sealed there has no readable manifest") from None
    refuse_newer(where, manifest.schema_version, CONTAINER_VERSION)
    if (manifest.kind, manifest.name) != (kind, name):
        raise InputError(
            f"{where} holds another {manifest.kind}: {manifest.name!r}, expected {kind} {name!r}",
            hint="somebody has moved or swapped sealed files; restore them from a backup or from git",
        )
    contents = {name: (len(data), hashlib.sha256(data).hexdigest()) for name, data in members.items()}
    if contents != {name: (file.bytes, file.sha256) for name, file in manifest.files.items()}:
        raise DamagedError(f"{where}: the files sealed there are not those of its manifest")
    return Container(kind=kind, name=name, files=members, secret=manifest.secret)


def _members(data: bytes, where: str) -> dict[str, bytes]:
    try:
        plain = zlib.decompressobj(wbits=zlib.MAX_WBITS | 16).decompress(data, _LARGEST)
        members: dict[str, bytes] = {}
        with tarfile.open(fileobj=io.BytesIO(plain), mode="r:") as tar:
            for member in tar:
                file = tar.extractfile(member)
                if not member.isreg() or file is None or member.name in members:
                    raise DamagedError(f"{where}: what is sealed there is not a task's files")
                members[member.name] = file.read()
    except (tarfile.TarError, zlib.error, EOFError):
        raise DamagedError(f"{where}: what is sealed there is not a goldseam container") from None
    return members


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
    data = read_bytes(file)
    if bound is None:
        raise InputError(f"{file} was sealed without a line in the ledger: {NOT_OURS}", hint=RESTORE)
    if bound != digest(data):
        raise DamagedError(f"{file} is not the file that was sealed: it was changed, or {NOT_OURS}", hint=RESTORE)
    try:
        plain = keys.open(data, where=str(file))
    except WrongKeyError as error:
        raise WrongKeyError(f"{error.message}: {text}, or a byte of its head was changed", hint=error.hint) from None
    _opened.set()
    return unpack(plain, kind=TASK, name=instance_id, where=str(file))


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
