"""A base commit outside of every container: what a workspace's changes are compared with."""

from __future__ import annotations

import io
import re
import tarfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from harness.core import process
from harness.core.errors import InfrastructureError
from harness.core.process import GIT_IDENTITY, Completed
from harness.patches import patch
from harness.sandbox.session import WorkspaceLostError

NEVER = (
    "__pycache__/", "*.py[cod]", "*.egg-info/", ".pytest_cache/", ".mypy_cache/", ".ruff_cache/", ".hypothesis/",
    ".tox/", ".nox/", ".venv/", "node_modules/", ".coverage", ".coverage.*", "*.orig", "*.rej",
)  # fmt: skip
"""What no fix consists of, in .gitignore's language: left out of a patch where it is new."""

_OBJECT = re.compile(r"\.git/objects/([0-9a-f]{2}/[0-9a-f]{38,62}|pack/pack-[0-9a-f]{40,64}\.(?:pack|idx))")
_SHA = re.compile(r"[0-9a-f]{40,64}")
_LARGEST = 32 * 1024 * 1024
_ATTRIBUTES = "* !diff !text !eol !ident !filter !merge !working-tree-encoding\n"
_FILE, _LINK = "f", "l"
_MODES = {"100644", "100755", "120000"}
_HOPS = 8
LINK_MODE = b"120000"
_ENV = {
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_CONFIG_COUNT": "0",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "LC_ALL": "C",
}


@dataclass(frozen=True, kw_only=True)
class Entry:
    """What the kernel says of a file: where nothing of this has changed, its content has not."""

    kind: str
    """`f` for a file, `l` for a link; others are no part of a patch."""
    mode: int
    size: int
    changed: str
    """When its inode changed last: nobody without rights can set that back."""
    inode: int

    @staticmethod
    def parse(listing: bytes) -> dict[str, Entry]:
        """The files of a listing, by path.

        Raises:
            WorkspaceLostError: it is no such listing.

        """
        entries: dict[str, Entry] = {}
        for line in listing.split(b"\0")[:-1]:
            try:
                kind, mode, size, changed, inode, path = line.decode("utf-8", "surrogateescape").split("\t", 5)
                entry = Entry(kind=kind, mode=int(mode, 8), size=int(size), changed=changed, inode=int(inode))
            except ValueError as error:
                raise WorkspaceLostError("the files of the workspace cannot be listed") from error
            if kind != "d" and path:
                entries[path] = entry
        return entries


@dataclass(frozen=True, kw_only=True)
class Content:
    """A file that changed, as it is now."""

    path: str
    mode: bytes
    """Git's word for it."""
    data: bytes


@dataclass(frozen=True, kw_only=True)
class Change:
    """How a tree differs from what it was."""

    changed: Mapping[str, Entry]
    removed: tuple[str, ...]
    left_out: tuple[str, ...]


class BaseTree:
    """A bare repository with the base commit, and nothing of the container's own configuration."""

    def __init__(self, folder: Path, commit: str) -> None:
        self._folder = folder
        self._commit = commit
        listing = self._git("ls-tree", "-r", "-z", "--full-tree", commit).stdout
        self._tracked: dict[str, tuple[str, str]] = {}
        for line in listing.split(b"\0")[:-1]:
            about, _, path = line.decode("utf-8", "surrogateescape").partition("\t")
            mode, _, sha = about.split()
            if mode in _MODES:
                self._tracked[path] = (mode, sha)
        self.paths = tuple(sorted(path for path, (mode, _) in self._tracked.items() if mode != "120000"))

    @classmethod
    def from_image(cls, folder: Path, files: Mapping[str, bytes]) -> BaseTree:
        """From the files below an image's `.git`: of them, nothing but objects is taken over.

        The commit is made anew, without a parent: whatever else the image's repository holds stays behind.

        Raises:
            InfrastructureError: it holds no commit.

        """
        every, base = folder / "all", folder / "base"
        for repository in (every, base):
            process.run(["git", "init", "--quiet", "--bare", repository], env=_ENV)
        for name, data in files.items():
            if match := _OBJECT.fullmatch(name):
                target = every / "objects" / match[1]
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(data)

        def git(*words: str, input: bytes = b"") -> str:  # noqa: A002
            argv = ["git", f"--git-dir={every}", *words]
            return process.run(argv, input=input, env={**_ENV, **GIT_IDENTITY}).stdout.decode().strip()

        tree = git("rev-parse", f"{_head(files)}^{{tree}}")
        commit = git("commit-tree", "-m", "base", tree)
        (base / "info" / "attributes").write_text(_ATTRIBUTES, encoding="ascii")
        git("pack-objects", "-q", "--revs", str(base / "objects/pack/pack"), input=f"{commit}\n".encode())
        return cls(folder, commit)

    def read(self, path: str) -> bytes | None:
        """A file's bytes at the base commit; links within the tree are followed."""
        for _ in range(_HOPS):
            mode, sha = self._tracked.get(path, ("", ""))
            if not mode:
                return None
            data = self._git("cat-file", "blob", sha).stdout
            if mode != "120000":
                return data
            path = _joined(path, data.decode("utf-8", "surrogateescape"))
        return None

    def read_many(self, paths: Iterable[str]) -> dict[str, bytes]:
        """The bytes of many plain files at once; what is no plain file of the base commit is left out."""
        paths_wanted = [path for path in paths if self._tracked.get(path, ("120000",))[0] != "120000"]
        hashes = "".join(f"{self._tracked[path][1]}\n" for path in paths_wanted).encode()
        answer = io.BytesIO(self._git("cat-file", "--batch", input=hashes).stdout) if paths_wanted else io.BytesIO()
        contents = {}
        for path in paths_wanted:
            size = int(answer.readline().split()[2])
            contents[path] = answer.read(size)
            answer.read(1)
        return contents

    def repository(self) -> bytes:
        """A tar with `.git` for a container: the base commit, one branch, and no other object."""
        base = self._folder / "base"
        files = {
            "HEAD": b"ref: refs/heads/main\n",
            "config": b"[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tfilemode = true\n",
            "refs/heads/main": f"{self._commit}\n".encode(),
            "info/exclude": b"__pycache__/\n*.egg-info/\n",
            "info/attributes": b"* -text -eol -ident -filter -working-tree-encoding\n",
        }
        for file in sorted((base / "objects" / "pack").iterdir()):
            files[f"objects/pack/{file.name}"] = file.read_bytes()
        out = io.BytesIO()
        with tarfile.open(fileobj=out, mode="w") as archive:
            for name, data in files.items():
                member = tarfile.TarInfo(f".git/{name}")
                member.size, member.mode = len(data), 0o644
                archive.addfile(member, io.BytesIO(data))
        return out.getvalue()

    def check_out(self, folder: Path) -> None:
        """The base commit's files in an empty folder, byte for byte, with a repository of one commit."""
        with tarfile.open(fileobj=io.BytesIO(self.repository())) as archive:
            archive.extractall(folder, filter="data")
        process.run(["git", "-C", folder, "reset", "--quiet", "--hard"], env=_ENV)

    def change(self, before: Mapping[str, Entry], now: Mapping[str, Entry]) -> Change:
        """What of a tree belongs into a patch, given its files at the start and now."""
        touched = {path: entry for path, entry in now.items() if entry != before.get(path)}
        new = [path for path in touched if path not in self._tracked]
        dropped = self._ignored(new) | {path for path in new if path in before}
        changed: dict[str, Entry] = {}
        left_out: list[str] = []
        for path, entry in sorted(touched.items()):
            if path in dropped or any(part.lower() == ".git" for part in path.split("/")):
                continue
            limit = _LARGEST if path in self._tracked else patch.MAX_BYTES
            if entry.kind in (_FILE, _LINK) and entry.size <= limit:
                changed[path] = entry
            else:
                left_out.append(path)
        paths = (path for path in self._tracked if path in before and path not in changed and not _is_file(now, path))
        return Change(changed=changed, removed=tuple(sorted(paths)), left_out=tuple(left_out))

    def diff(self, change: Change, contents: Iterable[Content]) -> bytes:
        """A change as a patch; `contents` are the changed files.

        Raises:
            WorkspaceLostError: they are not what was announced.

        """
        if not change.changed and not change.removed:
            return b""
        stream = bytearray()
        stream += b"commit refs/heads/work\ncommitter goldseam <goldseam@localhost> 946684800 +0000\ndata 0\n"
        stream += f"from {self._commit}\n".encode()
        for path in change.removed:
            stream += b"D %s\n" % _quoted(path)
        for file in contents:
            stream += b"M %s inline %s\ndata %d\n%s\n" % (file.mode, _quoted(file.path), len(file.data), file.data)
        stream += b"done\n"
        completed = self._git("fast-import", "--quiet", "--done", "--force", input=bytes(stream), check=False)
        if completed.returncode:
            raise WorkspaceLostError(
                f"git does not take the changed files: {completed.error_text.splitlines()[0][:300]}"
            )
        flags = ("--binary", "--full-index", "--no-renames", "--no-color", "--no-ext-diff", "--no-textconv")
        prefixes = ("--src-prefix=a/", "--dst-prefix=b/")
        return self._git("diff", *flags, *prefixes, self._commit, "refs/heads/work").stdout

    def _ignored(self, paths: Iterable[str]) -> set[str]:
        """Of new paths, those that git ignores by the base commit's rules, or that are rubbish to everybody."""
        paths_given = b"".join(b"./" + path.encode("utf-8", "surrogateescape") + b"\0" for path in paths)
        if not paths_given:
            return set()
        work = self._folder / "rules"
        if not work.exists():
            process.run(["git", "init", "--quiet", work], env=_ENV)
            (work / ".git/info/exclude").write_text("\n".join(NEVER) + "\n", encoding="ascii")
            for path, (mode, sha) in self._tracked.items():
                if path.rpartition("/")[2] == ".gitignore" and mode != "120000":
                    (work / path).parent.mkdir(parents=True, exist_ok=True)
                    (work / path).write_bytes(self._git("cat-file", "blob", sha).stdout)
        completed = process.run(
            ["git", "-C", work, "check-ignore", "--no-index", "-z", "--stdin"], input=paths_given, env=_ENV, check=False
        )
        if completed.returncode not in (0, 1):  # 1: none of them is
            raise process.ProgramError(completed)
        return {
            path.decode("utf-8", "surrogateescape").removeprefix("./") for path in completed.stdout.split(b"\0")[:-1]
        }

    def _git(self, *words: str, input: bytes | None = None, check: bool = True) -> Completed:  # noqa: A002
        protections = ("-c", "core.protectHFS=false", "-c", "core.protectNTFS=false", "-c", "core.quotePath=true")
        argv = ["git", f"--git-dir={self._folder / 'base'}", *protections, *words]
        return process.run(argv, input=input, env=_ENV, check=check)


def _head(files: Mapping[str, bytes]) -> str:
    """The commit that HEAD names in the files of a repository."""
    head = files.get(".git/HEAD", b"").decode("ascii", "replace").strip()
    if head.startswith("ref: "):
        name = head.removeprefix("ref: ")
        packed = files.get(".git/packed-refs", b"").decode("utf-8", "replace")
        lines = (line.partition(" ") for line in packed.splitlines())
        refs = {ref: sha for sha, _, ref in lines if _SHA.fullmatch(sha)}
        head = files.get(f".git/{name}", b"").decode("ascii", "replace").strip() or refs.get(name, "")
    if not _SHA.fullmatch(head):
        raise InfrastructureError(
            "the image has no repository with a commit at /testbed/.git",
            hint="workspaces need an image that goldseam built; mine or import the task again",
        )
    return head


def _is_file(entries: Mapping[str, Entry], path: str) -> bool:
    return path in entries and entries[path].kind in (_FILE, _LINK)


def unpacked(change: Change, archive: bytes) -> Iterator[Content]:
    """The changed files from a tar of them that nobody vouches for.

    Raises:
        WorkspaceLostError: it does not hold them.

    """
    missing = set(change.changed)
    try:
        with tarfile.open(
            fileobj=io.BytesIO(archive), mode="r:", encoding="utf-8", errors="surrogateescape"
        ) as members:
            for member in members:
                path = member.name.removeprefix("./")
                if path not in missing or not (member.isreg() or member.issym()):
                    continue
                missing.discard(path)
                if member.issym():
                    target = member.linkname.encode("utf-8", "surrogateescape")
                    yield Content(path=path, mode=LINK_MODE, data=target)
                    continue
                file = members.extractfile(member)
                yield Content(path=path, mode=file_mode(member.mode), data=file.read() if file else b"")
    except tarfile.TarError as error:
        raise WorkspaceLostError(f"the changed files of the workspace cannot be read: {error}") from error
    if missing:
        raise WorkspaceLostError(f"the workspace did not give {min(missing)} out")


def file_mode(mode: int) -> bytes:
    """Git's word for a regular file's mode."""
    return b"100755" if mode & 0o100 else b"100644"


def _quoted(path: str) -> bytes:
    """A path as `git fast-import` reads it."""
    raw = path.encode("utf-8", "surrogateescape")
    plain = b"".join(
        bytes([byte]) if 32 < byte < 127 and byte not in b'"\\' else b"\\%03o" % byte  # noqa: PLR2004 - printable
        for byte in raw
    )
    return b'"%s"' % plain


def _joined(path: str, target: str) -> str:
    """Where a link leads, within the tree; an empty path where it leads out."""
    if target.startswith("/"):
        return ""
    parts = path.split("/")[:-1]
    for part in target.split("/"):
        if part == "..":
            if not parts:
                return ""
            parts.pop()
        elif part not in ("", "."):
            parts.append(part)
    return "/".join(parts)
