"""What of the cache may go, since it can be had again: packages and clones of repositories, and indexes of layers."""

from __future__ import annotations

import hashlib
import os
import shutil
import time
from pathlib import Path

from harness.core.errors import InfrastructureError

_DAY = 24 * 60 * 60
_PLACES = ("uv/*", "sources/*.git", "layers/*.index")


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
    """The folders and files that nothing has used for so many days, sorted; whatever uses one marks it."""
    limit = time.time() - days * _DAY
    paths = (path for place in _PLACES for path in cache_dir.glob(place))
    return tuple(sorted(path for path in paths if path.stat().st_mtime < limit))


def size(place: Path) -> int:
    """Bytes of a file, or in a folder; what has two names in it counts once."""
    stats = [path.lstat() for path in place.rglob("*")] if place.is_dir() else [place.lstat()]
    return sum({stat.st_ino: stat.st_size for stat in stats}.values())


def remove(place: Path) -> None:
    """Remove a folder or a file.

    Raises:
        InfrastructureError: it can't be removed.

    """
    try:
        shutil.rmtree(place) if place.is_dir() else place.unlink()
    except OSError as error:
        raise InfrastructureError(
            f"{place} can't be removed: {error.strerror}", hint=f"remove it as the owner of {place.parent}"
        ) from error
