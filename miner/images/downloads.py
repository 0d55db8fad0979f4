"""Packages that builds downloaded, one folder of the cache a repository: which may go."""

from __future__ import annotations

import hashlib
import os
import shutil
import time
from pathlib import Path

from harness.core.errors import InfrastructureError

_DAY = 24 * 60 * 60


def folder_of(repo: str, cache_dir: Path) -> Path:
    """The folder of a repository, made if need be, and marked as used today.

    Raises:
        OSError: it can't be made.

    """
    folder = cache_dir / "uv" / hashlib.sha256(repo.encode()).hexdigest()[:16]
    folder.mkdir(parents=True, exist_ok=True)
    os.utime(folder)
    return folder


def unused(cache_dir: Path, *, days: int) -> tuple[Path, ...]:
    """The folders that no build has used for so many days, sorted."""
    limit = time.time() - days * _DAY
    return tuple(sorted(path for path in (cache_dir / "uv").glob("*") if path.stat().st_mtime < limit))


def size(folder: Path) -> int:
    """Bytes in a folder; what has two names in it counts once."""
    stats = (path.lstat() for path in folder.rglob("*"))
    return sum({stat.st_ino: stat.st_size for stat in stats}.values())


def remove(folder: Path) -> None:
    """Remove a folder.

    Raises:
        InfrastructureError: it can't be removed.

    """
    try:
        shutil.rmtree(folder)
    except OSError as error:
        raise InfrastructureError(
            f"{folder} can't be removed: {error.strerror}", hint=f"remove it as the owner of {folder.parent}"
        ) from error
