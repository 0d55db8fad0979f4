"""The bytes of any source of text, in order and in bounded memory: files, folders, archives, pages of the web."""

from __future__ import annotations

import bz2
import codecs
import gzip
import io
import lzma
import os
import sys
import tarfile
import urllib.error
import urllib.parse
import urllib.request
import zipfile
import zlib
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from time import monotonic
from typing import IO, TYPE_CHECKING, Any, cast

from harness.core import process
from harness.core.errors import GoldseamError, InputError

if TYPE_CHECKING:
    from http.client import HTTPMessage

BLOCK = 1 << 20
"""Bytes read at once."""
STDIN = "-"
_DEEPEST = 4
"""Archives within archives that are opened."""
_HEAD = 512
_ZSTD = b"\x28\xb5\x2f\xfd"
_BOMS = {codecs.BOM_UTF16_LE: "utf-16-le", codecs.BOM_UTF16_BE: "utf-16-be"}
_SCHEMES = ("http", "https")
_BROKEN = (OSError, EOFError, zlib.error, lzma.LZMAError, tarfile.TarError, zipfile.BadZipFile, NotImplementedError)


@dataclass(frozen=True, kw_only=True)
class Limits:
    """Limits on one page of the web."""

    seconds: float = 60.0
    bytes: int = 100 * 1024 * 1024


@dataclass(kw_only=True)
class Source:
    """One text, or one member of an archive: its name for people, and its bytes when asked for."""

    name: str
    _blocks: Iterator[bytes]
    broken: Unread | None = None
    """Once it has been read: why that ended too early."""
    size: int = 0
    """Bytes read so far."""

    def blocks(self) -> Iterator[bytes]:
        """Its bytes; what goes wrong on the way ends them and is kept in `broken`."""
        try:
            for block in self._blocks:
                self.size += len(block)
                yield block
        except (*_BROKEN, GoldseamError) as error:
            self.broken = _unread(self.name, error)


@dataclass(frozen=True, kw_only=True)
class Unread:
    """A source that could not be read, or not to its end."""

    name: str
    why: str


def sources(
    places: Iterable[str], *, skip: Collection[Path] = (), limits: Limits | None = None
) -> Iterator[Source | Unread]:
    """Every text in these places, each to be read before the next is asked for.

    Args:
        places: a file, a folder, an address (`http://`, `https://`), or `-` for standard input.
        skip: folders that are left out.
        limits: for addresses.

    Raises:
        InputError: there is no such file or folder.

    """
    places = tuple(places)
    for place in places:
        if not is_address(place) and place != STDIN and not Path(place).exists():
            raise InputError(f"there is no file or folder {place}")
    for place in places:
        if is_address(place):
            yield from _guarded(place, lambda name: _address(name, limits or Limits()))
        elif place == STDIN:
            yield from _unpacked("standard input", cast("IO[bytes]", sys.stdin.buffer), 0)
        else:
            yield from _path(Path(place), {path.resolve() for path in skip})


def is_address(place: str) -> bool:
    """Whether it names a page of the web."""
    return urllib.parse.urlsplit(place).scheme.lower() in _SCHEMES if "://" in place else False


def addresses(path: Path) -> tuple[str, ...]:
    """The addresses in a file, one a line; empty lines and those that begin with `#` are none.

    Raises:
        InputError: it cannot be read, or a line is no address.

    """
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path} cannot be read as a list of addresses: {error}") from error
    urls = []
    for number, line in enumerate((line.strip() for line in lines), start=1):
        if not line or line.startswith("#"):
            continue
        if not is_address(line):
            raise InputError(f"{path}, line {number}: expected an address that begins with http:// or https://")
        urls.append(line)
    return tuple(urls)


def _path(path: Path, skip: Collection[Path]) -> Iterator[Source | Unread]:
    if path.is_dir():
        for folder, names, entries in os.walk(path):
            names[:] = sorted(name for name in names if (Path(folder) / name).resolve() not in skip)
            for name in sorted(entries):
                file = Path(folder) / name
                if file.is_file() and not file.is_symlink():
                    yield from _guarded(str(file), _file)
        return
    yield from _guarded(str(path), _file)


def _guarded(name: str, opened: Callable[[str], Iterator[Source | Unread]]) -> Iterator[Source | Unread]:
    """One source; what goes wrong with it does not stop the others."""
    try:
        yield from opened(name)
    except (*_BROKEN, GoldseamError) as error:
        yield _unread(name, error)


def _unread(name: str, error: Exception) -> Unread:
    reason = error.message if isinstance(error, GoldseamError) else getattr(error, "strerror", None) or str(error)
    return Unread(name=name, why=" ".join(reason.split())[:300] or type(error).__name__)


def _file(name: str) -> Iterator[Source | Unread]:
    with Path(name).open("rb") as file:
        if zipfile.is_zipfile(file):
            file.seek(0)
            with zipfile.ZipFile(file) as archive:
                for member in archive.infolist():
                    if not member.is_dir():
                        with archive.open(member) as inside:
                            yield from _unpacked(f"{name}!{member.filename}", inside, 1)
            return
        file.seek(0)
        head = file.read(4)
        file.seek(0)
        if head == _ZSTD:
            with process.stream(["zstd", "-dc", "--", name]) as out:
                yield from _unpacked(name, out, 1)
            return
        yield from _unpacked(name, file, 0)


def _unpacked(name: str, file: IO[bytes], depth: int) -> Iterator[Source | Unread]:
    """The content of a stream: itself, or what was compressed or archived in it."""
    reader = io.BufferedReader(cast("io.RawIOBase", _Readable(file)), BLOCK)
    head = reader.peek(_HEAD)[:_HEAD]
    opened = _decompressed(head, reader) if depth < _DEEPEST else None
    if opened is not None:
        yield from _unpacked(name, opened, depth + 1)
    elif head[257:262] == b"ustar" and depth < _DEEPEST:
        with tarfile.open(fileobj=reader, mode="r|") as archive:
            for member in archive:
                inside = archive.extractfile(member) if member.isfile() else None
                if inside is not None:
                    yield from _unpacked(f"{name}!{member.name}", inside, depth + 1)
    else:
        yield Source(name=name, _blocks=_blocks(reader, _BOMS.get(head[:2])))


def _decompressed(head: bytes, reader: io.BufferedReader[Any]) -> IO[bytes] | None:
    if head[:2] == b"\x1f\x8b":
        return cast("IO[bytes]", gzip.GzipFile(fileobj=reader))
    if head[:3] == b"BZh":
        return cast("IO[bytes]", bz2.BZ2File(reader))
    if head[:6] == b"\xfd7zXZ\x00":
        return cast("IO[bytes]", lzma.LZMAFile(reader))
    return None


class _Readable(io.RawIOBase):
    """Any stream as a raw one, so that it can be peeked into."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: object) -> int:
        view = memoryview(cast("bytearray", buffer))
        read1 = getattr(self._file, "read1", self._file.read)  # gives what it has before it says that more is broken
        data: bytes = read1(len(view))
        view[: len(data)] = data
        return len(data)


def _blocks(reader: io.BufferedReader[Any], encoding: str | None) -> Iterator[bytes]:
    """A stream's bytes; of UTF-16 the same text in UTF-8."""
    decoder = codecs.getincrementaldecoder(encoding)("replace") if encoding else None
    while block := reader.read1(BLOCK):
        yield decoder.decode(block).encode("utf-8", "replace") if decoder else block


class _SameHost(urllib.request.HTTPRedirectHandler):
    """Follows a redirect to the host that was named, and to no other: nothing is asked of anyone else."""

    def redirect_request(
        self, req: urllib.request.Request, fp: IO[bytes], code: int, msg: str, headers: HTTPMessage, newurl: str
    ) -> urllib.request.Request | None:
        old_host, new_host = urllib.parse.urlsplit(req.full_url).hostname, urllib.parse.urlsplit(newurl)
        if new_host.hostname != old_host or new_host.scheme not in _SCHEMES:
            raise InputError(f"it points to {new_host.scheme}://{new_host.hostname}, which was not named")
        return super().redirect_request(req, fp, code, msg, headers, newurl)


def _address(address: str, limits: Limits) -> Iterator[Source | Unread]:
    opener = urllib.request.build_opener(_SameHost())
    request = urllib.request.Request(address, headers={"User-Agent": "goldseam"})  # noqa: S310 - http and https only
    began = monotonic()
    try:
        with opener.open(request, timeout=limits.seconds) as answer:
            yield from _unpacked(address, cast("IO[bytes]", _Bounded(answer, limits, began)), 0)
    except (urllib.error.URLError, TimeoutError) as error:
        raise InputError(f"{getattr(error, 'reason', None) or error}") from error


class _Bounded:
    """A page as long as it stays within its limits."""

    def __init__(self, answer: IO[bytes], limits: Limits, began: float) -> None:
        self._answer, self._limits, self._began, self._read = answer, limits, began, 0

    def read(self, size: int = -1) -> bytes:
        read1 = getattr(self._answer, "read1", self._answer.read)
        data: bytes = read1(min(size, BLOCK) if size > 0 else BLOCK)
        self._read += len(data)
        if self._read > self._limits.bytes:
            raise InputError(f"it is larger than {self._limits.bytes / 1e6:.0f} MB", hint="raise --max-mb")
        if monotonic() - self._began > self._limits.seconds:
            raise InputError(f"it took more than {self._limits.seconds:.0f} s", hint="raise --timeout")
        return data
