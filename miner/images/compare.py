"""Whether two images hold the same files: paths, kinds, owners, modes, contents, and what their configuration sets.

Times are left out. So is what two builds of the same never share: git's index has inodes and times, uv notes when it
read a project. Byte code is compared by the source that it says it is of.
"""

from __future__ import annotations

import hashlib
import io
import tarfile
from typing import IO, TYPE_CHECKING, Any

from harness.sandbox import engine, owners
from harness.sandbox.images.layers import Pipe

if TYPE_CHECKING:
    from collections.abc import Mapping

_NOT_KEPT = ("run/", "tmp/", "dev/", "proc/", "sys/")
"""What the engine mounts, or a build: empty in an image."""
_STUBS = ("", ".dockerenv", "usr/sbin/docker-init", "sbin/docker-init")
"""Places of single files that the engine mounts."""
_ONLY_THERE = ("testbed/.git/index",)
_WHEN = "uv_cache.json"
_PYC_HEADER = 16
"""Magic number, flags and the source's hash (PEP 552)."""
_HASHED = 0b01


def differing(left: str, other: str) -> dict[str, str]:
    """Paths in which two images differ, and how; in the configuration, `(configuration) NAME`.

    Raises:
        InfrastructureError: the engine failed, or an image is not there.

    """
    ours, theirs = entries(left), entries(other)
    return differences(ours, theirs)


def differences(ours: Mapping[str, str], theirs: Mapping[str, str]) -> dict[str, str]:
    """How two sets of entries differ. Pure."""
    paths = dict.fromkeys(ours.keys() - theirs.keys(), "only in the first")
    paths |= dict.fromkeys(theirs.keys() - ours.keys(), "only in the second")
    for path in ours.keys() & theirs.keys():
        if ours[path] != theirs[path]:
            mine, yours = ours[path].split(" ", 1), theirs[path].split(" ", 1)
            paths[path] = "content" if mine[0] == yours[0] else f"{mine[0]} and {yours[0]}"
    return dict(sorted(paths.items()))


def entries(image: str) -> dict[str, str]:
    """Every path of an image with kind, mode, owner and a digest of what it holds.

    Raises:
        InfrastructureError: the engine failed, or the image is not there.

    """
    client: Any = engine.connect()
    try:
        config = client.inspect_image(image)["Config"]
        labels = {engine.LABEL_OWNER: owners.owner(), engine.LABEL_KIND: "compare"}
        container = client.create_container(image, ["true"], labels=labels, network_disabled=True)["Id"]
        try:
            pipe = io.BufferedReader(Pipe(client.export(container)), 1 << 20)
            with tarfile.open(fileobj=pipe, mode="r|") as archive:
                entries_read = _read(archive)
        finally:
            engine.remove_container(container)
    except engine.ConnectionLost as error:
        raise engine.engine_failed(f"reading image {image[:19]}", error) from error
    for setting in (*(config.get("Env") or ()), f"WorkingDir={config.get('WorkingDir') or '/'}"):
        name, _, value = setting.partition("=")
        entries_read[f"(configuration) {name}"] = f"set {value}"
    return entries_read


def _read(archive: tarfile.TarFile) -> dict[str, str]:
    entries_read: dict[str, str] = {}
    for member in archive:
        name = member.name.removeprefix("./").rstrip("/")
        if f"{name}/".startswith(_NOT_KEPT) or name in _STUBS:
            continue
        if member.islnk():  # another name of a file, of which the first has the content
            entries_read[name] = entries_read.get(member.linkname.removeprefix("./"), f"link to {member.linkname}")
            continue
        kinds = {tarfile.DIRTYPE: "folder", tarfile.SYMTYPE: "link"}
        kind = "file" if member.isreg() else kinds.get(member.type, "special")
        data = archive.extractfile(member) if member.isreg() else None
        holds = digest(name, data) if data else member.linkname
        entries_read[name] = f"{kind}:{member.mode:o}:{member.uid}:{member.gid} {holds}"
    return entries_read


def digest(name: str, data: IO[bytes]) -> str:
    """What a file holds, as far as it is compared. Pure."""
    if name in _ONLY_THERE or name.endswith(f".dist-info/{_WHEN}"):
        return "-"
    if name.endswith(".pyc"):
        head = data.read(_PYC_HEADER)
        return (head if head[4:5] and head[4] & _HASHED else head[:4]).hex()
    if name.endswith(".dist-info/RECORD"):
        lines = [line for line in data.read().splitlines() if f"/{_WHEN},".encode() not in line]
        return hashlib.sha256(b"\n".join(sorted(lines))).hexdigest()
    hasher = hashlib.sha256()
    while chunk := data.read(1 << 20):
        hasher.update(chunk)
    return hasher.hexdigest()
