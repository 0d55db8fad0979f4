"""A plain checkout of a task's base commit on this machine, for agents that cannot run in its container.

It locks nothing: what runs there may do what the user may. What changed is worked out as for a workspace.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import TYPE_CHECKING

from harness.sandbox.session import WorkspaceLostError
from harness.solve.workspace.tree import LINK_MODE, Content, Entry, file_mode

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from harness.solve.workspace.tree import BaseTree, Change


class Checkout:
    """A folder with the base commit and a git repository of one commit.

    `folder` is to be empty, and removed by whoever made it.
    """

    def __init__(self, base: BaseTree, folder: Path) -> None:
        self.folder = folder
        self._base = base
        base.check_out(folder)
        self._before = _listing(folder)
        self.left_out: tuple[str, ...] = ()
        """As `ImageWorkspace.left_out`."""

    def diff(self) -> bytes:
        """All that changed since the base commit, as a patch; see `ImageWorkspace.diff`.

        Raises:
            WorkspaceLostError: the tree cannot be read.

        """
        try:
            change = self._base.change(self._before, _listing(self.folder))
            self.left_out = change.left_out
            return self._base.diff(change, _contents(self.folder, change))
        except OSError as error:
            raise WorkspaceLostError(f"the checkout cannot be read: {error}") from error


def _listing(folder: Path) -> Mapping[str, Entry]:
    """What the kernel says of every file below a folder, by path; links are not followed."""
    entries: dict[str, Entry] = {}
    for parent, folders, names in os.walk(folder, onerror=_raise):
        folders[:] = [name for name in folders if name != ".git"]
        links = (name for name in folders if Path(parent, name).is_symlink())
        for name in (*names, *links):
            path = Path(parent, name)
            if name == ".git":
                continue
            about = path.lstat()
            entries[str(path.relative_to(folder))] = Entry(
                kind=_kind(about.st_mode),
                mode=stat.S_IMODE(about.st_mode),
                size=about.st_size,
                changed=str(about.st_ctime_ns),
                inode=about.st_ino,
            )
    return entries


def _contents(folder: Path, change: Change) -> Iterator[Content]:
    for path, entry in change.changed.items():
        place = folder / path
        if entry.kind == "l":
            yield Content(path=path, mode=LINK_MODE, data=os.fsencode(place.readlink()))
        else:
            yield Content(path=path, mode=file_mode(entry.mode), data=place.read_bytes())


def _kind(mode: int) -> str:
    return "f" if stat.S_ISREG(mode) else "l" if stat.S_ISLNK(mode) else "other"


def _raise(error: OSError) -> None:
    raise error
