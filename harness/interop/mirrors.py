"""Copies of datasets in stores, for commands that only read: a URL in place of a folder.

Copies stay in the cache, so only what changed is fetched. A process has a copy to itself while it runs, so that nobody
changes it under its hands. What a command writes into its ledger goes back to the store when the command ends, or when
the next one that gets the copy does.
"""

from __future__ import annotations

import fcntl
import hashlib
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from harness.core import files
from harness.core.errors import GoldseamError, InfrastructureError
from harness.dataset.folder import open_dataset
from harness.interop import sync
from harness.interop.store import TakenError, masked

_TRIES = 3
_COPIES = 100
"""Processes that can work on one store at once, on one machine."""


@dataclass(frozen=True, kw_only=True)
class _Copy:
    folder: Path
    lock: IO[bytes]
    """Held while this process runs; the system lets go of it even after `kill -9`."""


_opened: dict[str, _Copy] = {}
"""By URL: the copies that this process has handed out."""


def local_copy(url: str) -> Path:
    """The folder of an up-to-date copy.

    Raises:
        InputError: there is no dataset at that address.
        InfrastructureError: the store cannot be reached.

    """
    if url not in _opened:
        copy = _free_copy(url)
        try:
            _bring_up_to_date(url, copy.folder)
        except BaseException:
            copy.lock.close()
            raise
        _opened[url] = copy
    return _opened[url].folder


def write_back(tell: Callable[[str], None]) -> None:
    """Push the ledgers of copies that were handed out; `tell` hears what could not be."""
    for url in list(_opened):
        copy = _opened.pop(url)
        try:
            _write_back(url, copy.folder)
        except GoldseamError as error:
            tell(
                f"warning: what this command added to the ledger is only in {copy.folder}, since the store did not "
                f"take it: {error.message}; `goldseam holdout push {copy.folder} URL` tries again"
            )
        finally:
            copy.lock.close()


def _free_copy(url: str) -> _Copy:
    """The first copy that no other process works on."""
    from harness.config.settings import load_settings  # noqa: PLC0415 - slow to load, and few datasets are in stores

    place = load_settings().images.cache_dir / "stores" / hashlib.sha256(masked(url).encode()).hexdigest()[:16]
    files.make_folder(place)
    with files.explained(place):
        place.chmod(0o700)  # what was pushed unsealed lies open in a copy, too
        for number in range(_COPIES):
            lock = (place / f"{number}.lock").open("a+b")
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                lock.close()
                continue
            return _Copy(folder=place / str(number), lock=lock)
    raise InfrastructureError(
        f"{_COPIES} processes work on copies of {masked(url)} already", hint="wait for one to end"
    )


def _bring_up_to_date(url: str, folder: Path) -> None:

    try:
        sync.pull(url, folder)
    except sync.OtherDatasetError:  # the store was emptied and filled anew
        if sync.unpushed(folder, url):
            raise
        shutil.rmtree(folder)
        sync.pull(url, folder)


def _write_back(url: str, folder: Path) -> None:

    for attempt in range(_TRIES):
        if not sync.unpushed(folder, url):
            return
        try:
            sync.push(open_dataset(folder), url, allow_unsealed=True)  # it was pushed so before
        except (TakenError, sync.BehindError):
            if attempt == _TRIES - 1:
                raise
            sync.pull(url, folder)
