"""Copies of datasets in stores, for commands that only read: a URL in place of a folder.

The copy stays in the cache, so only what changed is fetched. What a command writes into its ledger goes back to the
store when the command ends.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
from typing import TYPE_CHECKING

from harness import files
from harness.errors import GoldseamError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

_TRIES = 3
_opened: dict[str, Path] = {}
"""By URL: the copies that this process has handed out."""


def local_copy(url: str) -> Path:
    """The folder of an up-to-date copy.

    Raises:
        InputError: there is no dataset at that address.
        InfrastructureError: the store cannot be reached.

    """
    from harness.interop import store, sync  # noqa: PLC0415 - keeps `--help` quick
    from harness.settings import load_settings  # noqa: PLC0415

    key = hashlib.sha256(store.shown(url).encode()).hexdigest()[:16]
    place = load_settings().images.cache_dir / "stores" / key
    with _alone(place):
        sync.pull(url, place / "dataset")
    _opened[url] = place / "dataset"
    return place / "dataset"


@contextlib.contextmanager
def written_back(tell: Callable[[str], None]) -> Iterator[None]:
    """When the block ends, the ledgers of copies handed out in it are pushed; `tell` hears what could not be."""
    _opened.clear()
    try:
        yield
    finally:
        for url, folder in _opened.items():
            try:
                _write_back(url, folder)
            except GoldseamError as error:
                tell(
                    f"warning: what this command added to the ledger is only in {folder}, since the store did not take "
                    f"it: {error.message}; `goldseam holdout push {folder} URL` tries again"
                )


def _write_back(url: str, folder: Path) -> None:
    from harness.dataset.folder import open_dataset  # noqa: PLC0415
    from harness.interop import store, sync  # noqa: PLC0415

    with _alone(folder.parent):
        for attempt in range(_TRIES):
            if not sync.unpushed(folder, url):
                return
            try:
                sync.push(open_dataset(folder), url, allow_unsealed=True)  # it was pushed so before
            except (store.TakenError, sync.BehindError):
                if attempt == _TRIES - 1:
                    raise
                sync.pull(url, folder)


@contextlib.contextmanager
def _alone(place: Path) -> Iterator[None]:
    """One process at a time brings a copy up to date; the others wait."""
    files.make_folder(place)
    with files.explained(place), (place / "lock").open("a+b") as lock:
        place.chmod(0o700)  # what was pushed unsealed lies open in the copy, too
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
