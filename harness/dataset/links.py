"""A dataset is folders and plain files: a link in one would have a command read, copy or write what is elsewhere."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

from harness.core.errors import InputError
from harness.dataset.seal.sealed import WORKINGS


def refuse(dataset: Path) -> None:
    """See that nothing in a dataset's folder is a link, a socket, a pipe or a device; its own path may hold links.

    Folders whose name starts with a dot are others' (`.git`) and not looked into, but for goldseam's own.

    Raises:
        InputError: something is; the message names it.

    """
    for entry in _entries(dataset):
        if entry.is_symlink():
            where = str(Path(entry).readlink())
            raise InputError(
                f"{entry.path} is a link, to {where!r}: a dataset holds files and folders alone",
                hint="put the file itself in its place, if you trust where it comes from",
            )
        if not (entry.is_file() or entry.is_dir()):
            raise InputError(f"{entry.path} is neither a file nor a folder, and a dataset holds nothing else")


def _entries(folder: Path | str) -> Iterator[os.DirEntry[str]]:
    with (
        contextlib.suppress(FileNotFoundError),
        os.scandir(folder) as scanned,
    ):  # another command may just have removed it
        for entry in sorted(scanned, key=lambda item: item.name):
            yield entry
            if entry.is_dir(follow_symlinks=False) and (entry.name == WORKINGS or not entry.name.startswith(".")):
                yield from _entries(entry.path)
