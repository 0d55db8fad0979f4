"""Writing files so that a reader, or a power cut, never sees half of one, and reading none of a newer goldseam."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import json
import os
import shutil
import stat
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from harness.core.errors import InfrastructureError, InputError


def default_cache_dir() -> Path:
    """`$XDG_CACHE_HOME/goldseam`, or `~/.cache/goldseam`."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "goldseam"


def cache_dir() -> Path:
    """The cache of this machine, whatever goldseam.toml says: `$GOLDSEAM_CACHE_DIR`, or the default."""
    return Path(os.environ.get("GOLDSEAM_CACHE_DIR") or default_cache_dir())


STANDARD_INPUT = Path("-")
STANDARD_OUTPUT = Path("-")
_FULL = (errno.ENOSPC, errno.EDQUOT)
_OF_THE_MACHINE = (errno.EIO, errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.ESTALE, errno.ENODEV, errno.ENXIO)


def is_of_the_machine(error: BaseException) -> bool:
    """Whether an error is one that whatever is done next would meet as well: a full or failing disk, no files left."""
    return isinstance(error, OSError) and error.errno in (*_FULL, *_OF_THE_MACHINE, errno.EROFS)


@contextlib.contextmanager
def explained(path: Path) -> Iterator[None]:
    """Turn what the file system says into an error a person can act on.

    Raises:
        InputError: the place cannot be written (permissions, not a folder, no such name).
        InfrastructureError: the disk is full or failing, or the machine is out of files or memory.

    """
    try:
        yield
    except OSError as error:
        if error.errno in _FULL:
            raise InfrastructureError(
                f"no space left on the disk while writing {path}",
                hint="free some space and run the same command again; what was finished is kept",
            ) from error
        problem = f"cannot write {path}: {error.strerror or error}"
        if error.errno in _OF_THE_MACHINE:
            raise InfrastructureError(problem) from error
        if error.errno in {errno.EEXIST, errno.ENOTDIR}:
            problem = f"cannot write {path}: a file is where a folder has to be"
        raise InputError(problem, hint="choose another folder or fix its permissions") from error


def write_bytes(path: Path, data: bytes, *, mode: int = 0o644, durable: bool = True) -> None:
    """Replace a file at once: temp file in the same folder, fsync, rename.

    `durable=False` leaves the fsync out: for a file that a later, durable one vouches for.
    """
    with explained(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(prefix=f".{path.name[:40]}.", suffix=".tmp", dir=path.parent)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(data)
                if durable:
                    file.flush()
                    os.fsync(file.fileno())
            Path(name).chmod(mode)
            Path(name).replace(path)
        except BaseException:
            with contextlib.suppress(OSError):
                Path(name).unlink()
            raise


def append_line(path: Path, line: str) -> None:
    """Add a line to a file, which is made where it is not there; when this returns, it is on the disk."""
    is_new = not path.exists()
    with explained(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("ab") as file:
            file.write(f"{line}\n".encode())
            file.flush()
            os.fsync(file.fileno())
    if is_new:
        sync_folder(path.parent)


def is_special(path: Path) -> bool:
    """Whether a pipe, a device or a socket is there, itself or by a link: what can be written to but not replaced."""
    with explained(path):
        try:
            mode = path.stat().st_mode
        except FileNotFoundError:
            return False
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))


def refuse_special(path: Path) -> None:
    """Refuse what cannot be read back and gone on with, for a file that grows line by line.

    Raises:
        InputError: it is standard output, a pipe, a device or a folder.

    """
    if path == STANDARD_OUTPUT or is_special(path) or path.is_dir():
        raise InputError(f"{path} is not a file that lines can be added to", hint="name a regular file, or a new one")


def write_result(path: Path, data: bytes) -> None:
    """Write a file that a user named: `-` is standard output, a link is followed, a pipe or device is written in place.

    A regular file is replaced at once, as `write_bytes` does, and keeps its permissions.
    """
    if path == STANDARD_OUTPUT:
        sys.stdout.flush()
        sys.stdout.buffer.write(data)
        sys.stdout.flush()
        return
    if is_special(path):
        with explained(path), path.open("wb") as file:
            file.write(data)
        return
    with explained(path):
        target = Path(os.path.realpath(path))
        mode = stat.S_IMODE(target.stat().st_mode) if target.exists() else 0o644
    write_bytes(target, data, mode=mode)


def write_text(path: Path, text: str) -> None:
    """As `write_bytes`, in UTF-8; surrogate escapes become the bytes they stand for."""
    write_bytes(path, text.encode("utf-8", "surrogateescape"))


def write_json(path: Path, value: Any) -> None:
    """As `write_bytes`, in the form of `json_text`."""
    write_text(path, json_text(value))


def json_text(value: Any) -> str:
    """JSON with sorted keys and two spaces, so that differences stay small."""
    return json.dumps(value, indent=2, sort_keys=True) + "\n"


def no_folder(path: Path) -> str:
    """What is wrong with a path that should be a folder and is none."""
    return f"{path} is a file, not a folder" if path.exists() else f"no such folder: {path}"


def make_folder(path: Path) -> None:
    """Make a folder and see that it can be written."""
    with explained(path):
        path.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=path):
            pass


@contextlib.contextmanager
def new_folder(path: Path) -> Iterator[Path]:
    """A folder to be filled, which is at `path` once the block has ended well, and gone else."""
    make_folder(path.parent)
    with explained(path):
        building = Path(tempfile.mkdtemp(prefix=f".{path.name[:40]}.", suffix=".tmp", dir=path.parent))
    try:
        yield building
        with explained(path):
            building.chmod(0o755)
            building.replace(path)  # an empty folder may be in its place
    except BaseException:
        shutil.rmtree(building, ignore_errors=True)
        raise


def sync_folder(path: Path) -> None:
    """See that a folder's entries are on disk: what was renamed into it, made or removed."""
    with explained(path):
        folder = os.open(path, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


@contextlib.contextmanager
def locked(path: Path, *, busy: str) -> Iterator[None]:
    """Hold an exclusive lock while the block runs; the system lets go of it even after `kill -9`.

    Raises:
        InputError: another process holds it; `busy` says what that means.

    """
    make_folder(path.parent)
    with explained(path):
        file = path.open("a+b")
    with file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise InputError(busy, hint="wait for it to end, or choose another folder") from error
        yield


@contextlib.contextmanager
def locked_in_turn(path: Path) -> Iterator[None]:
    """As `locked`, for threads as well; whoever comes meanwhile waits.

    Raises:
        InputError, InfrastructureError: the place cannot be written.

    """
    with explained(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        file = path.open("a+b")
    with file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def remove_strays(folder: Path) -> None:
    """Remove what writes that were killed half-way left in a folder."""
    for stray in folder.glob(".*.tmp"):
        with contextlib.suppress(OSError):
            stray.unlink()


def refuse_newer(where: object, version: object, ours: int) -> None:
    """Refuse what has a larger `schema_version` than this goldseam reads; `where` names the file, or the place in it.

    Raises:
        InputError: it is newer.

    """
    if isinstance(version, int) and version > ours:
        raise InputError(
            f"{where} has schema_version {version}; this goldseam reads up to {ours}", hint="upgrade goldseam"
        )
