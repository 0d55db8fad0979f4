"""The files of images: what an image adds to its parent, read in a container, or every layer as the engine saves it."""

from __future__ import annotations

import contextlib
import hashlib
import io
import re
import tarfile
from collections.abc import Collection, Iterable, Iterator
from datetime import datetime
from typing import IO, Any

from harness.core.errors import InfrastructureError
from harness.sandbox import engine, owners

_LARGEST = 256 * 1024 * 1024
_PROGRAM = """\
import hashlib, io, os, stat, sys, tarfile
since, long_text = float(sys.argv[1]), bytes(int(sys.argv[2]))
keys = sys.stdin.buffer.read(int(sys.argv[3]))
known = {keys[at : at + 8] for at in range(0, len(keys), 8)}
controls = bytes(byte < 32 and byte not in b"\\t\\n\\f\\r" for byte in range(256))
out = tarfile.open(fileobj=os.fdopen(1, "wb"), mode="w|", bufsize=1 << 20)
seen = set()
folders = ["/"]
while folders:
    try:
        with os.scandir(folders.pop()) as listed:
            entries = list(listed)
    except OSError:
        continue
    below = [one.path for one in entries if one.is_dir(follow_symlinks=False)]
    folders += [path for path in reversed(below) if path not in ("/proc", "/sys", "/dev")]
    for one in entries:
        path, found = one.path, one.stat(follow_symlinks=False)
        if not stat.S_ISREG(found.st_mode) or found.st_ctime < since or (found.st_dev, found.st_ino) in seen:
            continue
        seen.add((found.st_dev, found.st_ino))
        entry = tarfile.TarInfo(path.lstrip("/"))
        entry.size = found.st_size
        with open(path, "rb") as data:
            compiled = path.endswith(".pyc") or "/.git/" in path
            start = data.read(8192)
            if long_text and not compiled and b"\\0" in start and not start.startswith(b"PK\\3\\4"):
                if not any(long_text in part.translate(controls) for part in iter(lambda: data.read(1 << 22), b"")):
                    continue
            data.seek(0)
            if known and entry.size < 1 << 24:
                data = io.BytesIO(data.read())
                named = entry.name.encode("utf-8", "surrogateescape") + b"\\0" + data.getvalue()
                key = hashlib.blake2b(named, digest_size=8).digest()
                if key in known:
                    entry.size, entry.type, entry.linkname = 0, tarfile.SYMTYPE, key.hex()
            out.addfile(entry, data)
out.close()
"""


class Pipe(io.RawIOBase):
    """Chunks as a file to read from, once."""

    def __init__(self, chunks: Iterable[bytes]) -> None:
        self._chunks = iter(chunks)
        self._rest = b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while not self._rest:
            chunk = next(self._chunks, None)
            if chunk is None:
                return 0
            self._rest = chunk
        size = min(len(buffer), len(self._rest))
        buffer[:size], self._rest = self._rest[:size], self._rest[size:]
        return size


def file_key(path: str, data: bytes) -> bytes:
    """By what a file is known: a digest of its path and bytes."""
    return hashlib.blake2b(path.encode("utf-8", "surrogateescape") + b"\0" + data, digest_size=8).digest()


def newest_layer(
    image: str, *, long_text: int = 0, indexed: Collection[bytes] = (), skipped: list[bytes] | None = None
) -> Iterator[tuple[str, bytes]]:
    """The regular files that an image adds to its parent, path and bytes, each inode once.

    With `long_text`, files with a NUL byte in their first 8 KiB stay where they are, most of a base's bytes, unless
    they are byte code, git's or zips, or have a text of so many bytes. Files whose keys are `indexed` stay there as
    well: their keys come into `skipped`.

    Told by the time of their last change on the engine's disk: an image was created once its files were laid there,
    and before those of the next. Where that proves nothing (a pulled image) more files are given, never fewer.

    Raises:
        InfrastructureError: the engine failed, or the image is not there.

    """
    client = engine.connect()
    keys = b"".join(indexed)
    try:
        since = _seconds(client.inspect_image(client.inspect_image(image)["Parent"])["Created"])
    except (engine.NotFoundError, engine.ApiError, ValueError):
        since = 0.0
    script = 'exec python3 -I -S -c "$0" "$1" "$2" "$3" 2>/dev/null'
    with _printed(image, script, _PROGRAM, str(since), str(long_text), str(len(keys)), given=keys) as chunks:
        yield from _members(chunks, [] if skipped is None else skipped)


def absent(image: str, paths: Collection[str]) -> frozenset[str]:
    """Of paths in an image or in those below it the ones that it does not have itself.

    Raises:
        InfrastructureError: the engine failed, or the image is not there.

    """
    script = 'for path; do [ -e "/$path" ] || printf "%s\\0" "$path"; done'
    with _printed(image, script, "sh", *paths) as chunks:
        return frozenset(b"".join(chunks).decode("utf-8", "surrogateescape").split("\0")) - {""}


@contextlib.contextmanager
def _printed(image: str, script: str, *words: str, given: bytes = b"") -> Iterator[Iterable[bytes]]:
    """What a script of the shell, which sees all files of an image and writes none, prints of what it is given."""
    with engine.calling(f"reading the files of image {image}", tarfile.ReadError) as client:
        config = client.create_host_config(
            network_mode="none",
            read_only=True,
            cap_drop=["ALL"],
            cap_add=["DAC_READ_SEARCH"],
            security_opt=["no-new-privileges"],
            mem_limit=512 * 1024 * 1024,
            pids_limit=16,
            log_config={"Type": "none", "Config": {}},
            init=True,
        )
        command = ["sh", "-c", script, *words]
        with owners.passing_container(
            image, "inspect", entrypoint=[], command=command, user="0:0", stdin_open=True, host_config=config
        ) as container:
            with contextlib.closing(engine.attach(container)) as wire:
                client.start(container)
                engine.send(wire, given)
                yield engine.frames(wire)
            if status := client.wait(container, timeout=60)["StatusCode"]:
                raise InfrastructureError(f"reading the files of image {image} ended with {status}")


def _seconds(created: str) -> float:
    return datetime.fromisoformat(re.sub(r"(\.\d{6})\d*", r"\1", created)).timestamp()


def _members(chunks: Iterable[bytes], skipped: list[bytes]) -> Iterator[tuple[str, bytes]]:
    with tarfile.open(fileobj=io.BufferedReader(Pipe(chunks), 1 << 20), mode="r|") as archive:
        for member in archive:
            if member.issym():
                skipped.append(bytes.fromhex(member.linkname))
            elif member.isfile() and member.size <= _LARGEST:
                data = archive.extractfile(member)
                yield member.name, data.read() if data else b""


def every_layer(image: str) -> Iterator[tuple[str, bytes]]:
    """Every regular file of every layer of an image, and its own description. Nothing is unpacked to disk.

    Raises:
        InfrastructureError: the engine failed, or the image is not there.

    """
    with engine.calling(f"saving image {image}", tarfile.ReadError) as client:
        pipe = io.BufferedReader(Pipe(client.get_image(image)), 1 << 20)
        with tarfile.open(fileobj=pipe, mode="r|") as archive:
            for member in archive:
                stream = archive.extractfile(member) if member.isfile() else None
                if stream is not None:
                    yield from _entry(member.name, stream)


def _entry(name: str, stream: IO[bytes]) -> Iterator[tuple[str, bytes]]:
    """An entry of a saved image: a layer (`…/layer.tar`, or a blob in the newer form) or a JSON file."""
    if name.endswith(".json"):
        yield name, stream.read()
        return
    with contextlib.suppress(tarfile.ReadError), tarfile.open(fileobj=stream, mode="r|") as layer:
        for member in layer:
            if member.isfile() and member.size <= _LARGEST:
                data = layer.extractfile(member)
                yield member.name.removeprefix("./"), data.read() if data else b""
