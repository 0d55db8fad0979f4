"""A task's tree to work in: a locked container of the task's own image, and a trusted copy of its base commit outside.

The container may do with its tree, its git repository and itself what it likes. What changed is worked out here: the
kernel's own times say which files may differ (nobody without rights can set them back), their bytes are fetched, and
git compares them with the base commit in a repository that the container never sees. No hook, filter, attribute or
configuration of the container takes part.

For agents that cannot run in a container there is a plain checkout on this machine. It locks nothing: what runs there
may do what the user may. What changed is worked out in the same way.
"""

from __future__ import annotations

import contextlib
import os
import posixpath
import stat
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path
from typing import Any

from harness.core.errors import InfrastructureError
from harness.core.instance import Instance
from harness.sandbox.session import Ran, Session, Sessions, WorkspaceLostError
from harness.solve.base import CommandResult, Workspace
from harness.solve.workspace.tree import LINK_MODE, BaseTree, Change, Content, Entry, file_mode, unpacked

__all__ = ["ImageWorkspace", "WorkspaceLostError", "Workspaces"]

ROOT = "/testbed"
_PRISTINE = "/opt/goldseam/src"
_SETUP_SECONDS = 300.0
_FILE_SECONDS = 60.0
_READ_LIMIT = 16 * 1024 * 1024
_TOO_LARGE = 3
_LONGEST_WORD = 30_000
"""Characters of an argument: Linux takes 128 KiB of bytes."""
_LIST = r"exec find . -xdev \( -name .git -prune \) -o -printf '%y\t%m\t%s\t%C@\t%i\t%P\0'"
_FILL = f"""\
set -e
cp -a --no-preserve=ownership {_PRISTINE}/. .
head -c "$1" | tar -xf -
git reset --quiet
"""
_READ = """\
path=$(realpath -e -- "$1") && test -f "$path" || exit 2
case "$path" in "$PWD"/*) ;; *) exit 2 ;; esac
test "$(stat -c %s -- "$path")" -le "$2" || exit 3
exec cat -- "$path"
"""
_WRITE = 'mkdir -p -- "$(dirname -- "$1")" && exec head -c "$2" > "$1"'
_FETCH = 'head -c "$1" | exec tar -cf - --no-recursion --hard-dereference --null --verbatim-files-from -T -'
_ENV = {
    "GIT_AUTHOR_NAME": "agent",
    "GIT_AUTHOR_EMAIL": "agent@localhost",
    "GIT_COMMITTER_NAME": "agent",
    "GIT_COMMITTER_EMAIL": "agent@localhost",
    "GIT_PAGER": "cat",
    "PAGER": "cat",
    "TERM": "dumb",
}


class Workspaces(Sessions):
    """Opens workspaces and leaves no container behind. A context manager, safe to use from several threads.

    `runtime` names another OCI runtime of the engine; `note` is told what a person may have to wait for.
    """

    @contextlib.contextmanager
    def open(self, instance: Instance) -> Iterator[ImageWorkspace]:
        """A fresh workspace of a task, from its public side alone.

        The container starts with the first command or change; until then, reading needs none.

        Raises:
            InfrastructureError: the engine failed, or the task has no image.

        """
        if instance.image is None:
            raise InfrastructureError(
                f"{instance.instance_id} has no image", hint="it is a candidate; mine it without --no-validate"
            )
        with (
            self._open(instance, {}) as session,
            tempfile.TemporaryDirectory(prefix="goldseam-") as folder,
        ):
            base = BaseTree.from_image(Path(folder), session.image_files(f"{ROOT}/.git"))
            yield ImageWorkspace(session, base, partial(self._open, instance))

    def _open(self, instance: Instance, env: Mapping[str, str], **options: Any) -> AbstractContextManager[Session]:
        assert instance.image is not None  # noqa: S101 - narrows the type
        options["services"] = instance.test.services
        return self.session(instance.image, instance.budgets, env={**_ENV, **env}, **options)


class ImageWorkspace(Workspace):
    """One task's tree, in a container."""

    def __init__(self, session: Session, base: BaseTree, again: Callable[..., AbstractContextManager[Session]]) -> None:
        self._session = session
        self._base = base
        self._again = again
        self._before: Mapping[str, Entry] | None = None
        self.left_out: tuple[str, ...] = ()
        """Files that the last `diff` left out because no patch may hold them, such as very large new ones."""

    @contextlib.contextmanager
    def equipped(
        self,
        *,
        env: Mapping[str, str] | None = None,
        mounts: Mapping[str, str] | None = None,
        forward: tuple[str, int] | None = None,
    ) -> Iterator[ImageWorkspace]:
        """Another fresh workspace of the same task, with more in it; as `harness.sandbox.session.Sessions.session`."""
        with self._again(env or {}, mounts=mounts, forward=forward) as session:
            yield ImageWorkspace(session, self._base, self._again)

    def check_out(self, folder: Path) -> Checkout:
        """The base commit in an empty folder of this machine."""
        return Checkout(self._base, folder)

    def leave(self, path: str, data: bytes) -> None:
        """Put a file of ours outside of the tree, such as in /tmp.

        Raises:
            OSError: it cannot be written.

        """
        self._start()
        ran = self._script(_WRITE, path, str(len(data)), stdin=data)
        if ran.exit_code:
            raise OSError(f"cannot write {path}: {ran.output.decode('utf-8', 'replace').strip()}")

    @property
    def is_cancelled(self) -> bool:
        """Whether the user has ended the work."""
        return self._session.is_cancelled

    def end_commands(self) -> None:
        """End what runs in it; may be called from another thread than the one that waits for it."""
        self._session.interrupt()

    def files(self) -> tuple[str, ...]:
        return self._base.paths

    def read(self, path: str) -> bytes:
        inside = _inside(path)
        if inside is None:
            data = None
        elif self._before is None:
            data = self._base.read(inside)
        else:
            ran = self._script(_READ, f"./{inside}", str(_READ_LIMIT))
            if ran.exit_code == _TOO_LARGE:
                raise OSError(f"{path} is larger than {_READ_LIMIT} bytes")
            data = None if ran.exit_code else ran.stdout
        if data is None:
            raise FileNotFoundError(f"no such file in the repository: {path}")
        return data

    def read_many(self, paths: Iterable[str]) -> dict[str, bytes]:
        """As `read`, of many files at once; those that are not there are left out."""
        if self._before is None:
            return self._base.read_many(paths)
        contents = {}
        for path in paths:
            with contextlib.suppress(FileNotFoundError):
                contents[path] = self.read(path)
        return contents

    def write(self, path: str, data: bytes) -> None:
        """Replace or make a file.

        Raises:
            OSError: the path leads out of the tree, or it cannot be written.

        """
        inside = _inside(path)
        if inside is None or not inside.isprintable():
            raise FileNotFoundError(f"no such place in the repository: {path!r}")
        self._start()
        ran = self._script(_WRITE, f"./{inside}", str(len(data)), stdin=data)
        if ran.exit_code:
            message = ran.output.decode("utf-8", "replace").strip().rpartition(": ")[2]
            raise OSError(f"cannot write {path}: {message}")

    def run(self, argv: tuple[str, ...], *, seconds: float, max_output: int = 100_000) -> CommandResult:
        if any("\0" in word or len(word) > _LONGEST_WORD for word in argv):
            return CommandResult(exit_code=126, output="an argument is too long, or holds a NUL byte\n")
        self._start()
        script = ("/bin/sh", "-c", 'exec "$@" < /dev/null', "sh", *argv)
        ran = self._session.execute(script, seconds=seconds, merged=max_output, workdir=ROOT)
        output = ran.output.decode("utf-8", "replace")
        if ran.flooded:
            output += "\n[ended: it printed too much]\n"
        return CommandResult(exit_code=ran.exit_code, output=output, timed_out=ran.timed_out)

    def diff(self) -> bytes:
        """All that changed since the base commit; ends what still runs, so that nothing changes meanwhile.

        Left out: what git ignores by the base commit's own rules, byte code and caches, products of the build that
        made the image, and new files that are larger than a patch may be.

        Raises:
            WorkspaceLostError: the container has ended, or the tree cannot be read.

        """
        if self._before is None:
            return b""
        self._session.end_all()
        entries = self._list()
        change = self._base.change(self._before, entries)
        self.left_out = change.left_out
        paths_given = b"".join(b"./" + path.encode("utf-8", "surrogateescape") + b"\0" for path in change.changed)
        if not paths_given:
            return self._base.diff(change, ())
        ran = self._script(_FETCH, str(len(paths_given)), stdin=paths_given, seconds=_SETUP_SECONDS)
        if ran.exit_code or ran.flooded:
            raise WorkspaceLostError("the changed files of the workspace cannot be read")
        return self._base.diff(change, unpacked(change, ran.stdout))

    def _start(self) -> None:
        if self._before is not None:
            return
        self._session.start()
        archive = self._base.repository()
        ran = self._script(_FILL, str(len(archive)), stdin=archive, seconds=_SETUP_SECONDS)
        if ran.exit_code:
            message = ran.output.decode("utf-8", "replace").strip()
            raise InfrastructureError(
                f"a workspace cannot be filled: {message}", hint="its tree may not fit: budgets.disk_mb in task.yaml"
            )
        self._before = self._list()

    def _list(self) -> Mapping[str, Entry]:
        ran = self._script(_LIST, seconds=_SETUP_SECONDS)
        if ran.exit_code:  # something in it is closed to its own owner
            self._session.execute(("chmod", "-R", "u+rwX", "."), seconds=_SETUP_SECONDS, workdir=ROOT)
            ran = self._script(_LIST, seconds=_SETUP_SECONDS)
        if ran.exit_code or ran.flooded:
            raise WorkspaceLostError("the files of the workspace cannot be listed")
        return Entry.parse(ran.stdout)

    def _script(self, script: str, *words: str, stdin: bytes = b"", seconds: float = _FILE_SECONDS) -> Ran:
        """Run a script of ours, with nothing of the tree on its way: `git` and all others come from the image."""
        return self._session.execute(
            ("/bin/sh", "-c", script, "sh", *words), seconds=seconds, stdin=stdin, env=_TRUSTED, workdir=ROOT
        )


_TRUSTED = {"PATH": "/usr/bin:/bin", "GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": "/dev/null"}


def _inside(path: str) -> str | None:
    """A path of the tree in its normal form; None where it leads out of it."""
    normal = posixpath.normpath(path.removeprefix(f"{ROOT}/"))
    if "\0" in path or normal.startswith(("/", "../")) or normal in ("..", "."):
        return None
    return normal


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
