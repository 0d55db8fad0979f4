"""The content of a sealed file: a tar, the same bytes for the same content, whose first member says what it holds.

`age -d -i KEY sealed.age | tar xz` opens it without goldseam.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import tarfile
import zlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from harness.core.errors import InputError
from harness.core.files import refuse_newer
from harness.dataset.seal.identity import DamagedError

if TYPE_CHECKING:
    from collections.abc import Mapping

CONTAINER_VERSION = 1
MANIFEST = "manifest.json"
_LARGEST = 512 * 1024 * 1024


class FileModel(BaseModel):
    """One file of a container."""

    model_config = ConfigDict(extra="allow", frozen=True)

    bytes: int
    sha256: str


class ManifestModel(BaseModel):
    """manifest.json, the first member."""

    model_config = ConfigDict(extra="allow", frozen=True)

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
