"""Our own bare copy of a repository, read through plumbing that runs nothing the repository brought.

Three things make the plumbing exact and safe: the copy's configuration is ours, `info/attributes` (which beats every
`.gitattributes`) takes each attribute that alters bytes away, and the environment shuts out the user's and the system's
configuration, hooks, replace refs, grafts, prompts and lazy fetches.
"""

from __future__ import annotations

import io
import re
import tarfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import IO, Self

from git import Repo
from packaging.version import InvalidVersion, Version

from harness.core.errors import InputError
from harness.core.process import Completed, ProgramError, pipe, run, stream
from harness.core.wording import counted
from miner.sources.change import ChangedFile

SHA = re.compile(r"[0-9a-f]{40}([0-9a-f]{24})?")
MISSING = "missing"
"""In place of a patch id or of a merged tree: making it needs files that a partial clone lacks."""
_LACKING = re.compile(r"unable to read|missing (?:blob|object)|promisor|could not fetch")
_MOST_TREES = 100
"""Of a commit and its submodules, which may have submodules."""
_ABBREVIATED = re.compile(r"[0-9a-fA-F]{4,64}")
_VERSION_TAG = re.compile(r"^(?:[A-Za-z][\w.]*?[-_/])?v?(?P<version>\d+(?:[._]\d+)*(?:[-._]?[a-zA-Z]+[-._]?\d*)*)$")
_LITERAL_WORDS = {"diff.renames": "false", "core.quotePath": "false", "gc.auto": "0", "core.hooksPath": "/dev/null"}

ATTRIBUTES = "* !diff !text !eol !crlf !ident !filter !working-tree-encoding !export-ignore !export-subst !merge\n"
"""Every attribute that changes bytes or hides paths, unset for every path."""

SAFE_CONFIG = """\
[safe]
\tdirectory = *
[core]
\thooksPath = /dev/null
\tfsmonitor = false
\tquotePath = false
\tautocrlf = false
[protocol "ext"]
\tallow = never
[gc]
\tauto = 0
[maintenance]
\tauto = false
[tar]
\tumask = 0022
[advice]
\tdetachedHead = false
"""


def environment(config: Path) -> dict[str, str]:
    """The environment git runs in here; `config` is the only configuration outside the copy that it reads."""
    return {
        "GIT_CONFIG_GLOBAL": str(config),
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_COUNT": "0",
        "GIT_ATTR_NOSYSTEM": "1",
        "GIT_NO_REPLACE_OBJECTS": "1",
        "GIT_GRAFT_FILE": "/dev/null/none",  # no such file can ever exist
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_LITERAL_PATHSPECS": "1",
        "GIT_PAGER": "cat",
        "LC_ALL": "C",
    }


class MissingObjectsError(InputError):
    """The source lacks objects that its history names: a partial clone, or a damaged one."""


def decode_path(raw: bytes) -> str:
    """A path as this package passes it: bytes that are not UTF-8 become surrogate escapes."""
    return raw.decode("utf-8", "surrogateescape")


class BareRepository:
    """A bare copy that belongs to us. Its methods may be called from several threads."""

    def __init__(self, path: Path, *, name: str, config: Path) -> None:
        self.path = path
        self.name = name
        """`owner/name`, safe for instance ids."""
        self.env = environment(config)
        self._repo = Repo(path)
        self._repo.git.update_environment(**self.env)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._repo.close()

    # -- plumbing

    def _argv(self, words: Sequence[str]) -> list[str]:
        settings = [word for key, value in _LITERAL_WORDS.items() for word in ("-c", f"{key}={value}")]
        return ["git", *settings, f"--git-dir={self.path}", *words]

    def git(self, *words: str, input: bytes | None = None, check: bool = True) -> Completed:  # noqa: A002
        """Run one git command on the copy.

        Raises:
            MissingObjectsError: an object that the history names is not there.
            ProgramError: git failed otherwise.

        """
        completed = run(self._argv(words), input=input, env=self.env, check=False)
        if check and completed.returncode != 0:
            if _LACKING.search(completed.error_text):
                raise MissingObjectsError(
                    f"{self.name} lacks objects of its own history: {completed.error_text}",
                    hint="a partial clone? complete it with: git fetch --refetch --no-filter",
                )
            raise ProgramError(completed)
        return completed

    def stream(self, *words: str) -> AbstractContextManager[IO[bytes]]:
        """Start one git command on the copy and read its output as it comes."""
        return stream(self._argv(words), env=self.env)

    def lines(self, *words: str) -> Iterator[bytes]:
        with self.stream(*words) as output:
            for line in output:
                yield line.rstrip(b"\n")

    # -- names

    def tip(self) -> str:
        """The newest commit of the default branch, full SHA."""
        return self.resolve("HEAD")

    def default_branch(self) -> str:
        """The default branch's name, or `HEAD` where the source's HEAD is detached."""
        if self._repo.head.is_detached:
            return "HEAD"
        path = str(self._repo.head.reference.path)
        return re.sub(r"^refs/(heads|remotes/origin)/", "", path)

    def resolve(self, revision: str) -> str:
        """The full SHA of a commit.

        Raises:
            InputError: nothing in the repository is called so, or it isn't a commit.

        """
        words = ("rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}")
        completed = self.git(*words, check=False)
        sha = completed.stdout.decode().strip()
        if completed.returncode != 0 or not SHA.fullmatch(sha):
            raise InputError(f"{self.name} has no commit {revision!r}", hint="fetch it in the source first")
        return sha

    def has_on_branch(self, commit: str) -> bool:
        """Whether a commit stands on the default branch's own line, or is merged into it."""
        words = ("merge-base", "--is-ancestor", _sha(commit), self.tip())
        return self.full_sha(commit) is not None and self.git(*words, check=False).returncode == 0

    def full_sha(self, abbreviated: str) -> str | None:
        """The full SHA of an abbreviated one that some message named, if it is a commit here."""
        if not _ABBREVIATED.fullmatch(abbreviated):
            return None
        try:
            return self.resolve(abbreviated)
        except InputError:
            return None

    def pull_heads(self) -> dict[int, str]:
        """Heads of pull requests that the source offered: number to SHA."""
        lines = self.git("for-each-ref", "--format=%(refname) %(objectname)", "refs/pull").stdout.decode().splitlines()
        matches = (re.fullmatch(r"refs/pull/(\d+)/head ([0-9a-f]+)", line) for line in lines)
        return {int(match[1]): match[2] for match in matches if match}

    def commit_date(self, commit: str) -> datetime:
        """When a commit was made (committer date), in UTC."""
        stamp = self.git("log", "-1", "--format=%ct", "--end-of-options", _sha(commit)).stdout
        return datetime.fromtimestamp(int(stamp), tz=UTC)

    def nearest_version(self, commit: str) -> str | None:
        """The version (PEP 440, normalised) of the nearest tag reachable from a commit, or None."""
        lines = self.git(
            "log",
            "--simplify-by-decoration",
            "--decorate-refs=refs/tags/*",
            "--format=%D",
            "--end-of-options",
            _sha(commit),
        ).stdout.decode("utf-8", "replace")
        for line in lines.splitlines():
            versions = [version for word in line.split(", ") if (version := tag_version(word.removeprefix("tag: ")))]
            if versions:
                return str(max(versions))
        return None

    def merge_base(self, first: str, other: str) -> str | None:
        """The best common ancestor of two commits, or None for unrelated histories."""
        completed = self.git("merge-base", _sha(first), _sha(other), check=False)
        return completed.stdout.decode().strip() or None

    # -- content

    def changed_files(self, base: str, head: str) -> tuple[ChangedFile, ...]:
        """Paths that differ between two commits, in git's order, without rename detection."""
        return self.changed_files_of([(base, head)])[0]

    def changed_files_of(self, pairs: Sequence[tuple[str, str]]) -> list[tuple[ChangedFile, ...]]:
        """`changed_files` for many pairs with one process."""
        out = self.git(
            "diff-tree", "--stdin", "-r", "--raw", "-z", "--no-renames", "--no-abbrev", "--always", "--root",
            input=_pair_lines(pairs),
        ).stdout  # fmt: skip
        return _parse_raw(out, len(pairs))

    def patch_ids(self, pairs: Sequence[tuple[str, str]], *, context: int = 3) -> list[str | None]:
        """`git patch-id` of many base..head pairs; None for an empty diff, `MISSING` where a partial clone lacks files.

        With `context=0` the ids also agree where lines around the change have moved on.
        """
        if not pairs:
            return []
        words = (
            "diff-tree", "--stdin", "-r", "-p", f"-U{context}", "--full-index", "--no-renames", "--no-ext-diff",
            "--no-textconv", "--always",
        )  # fmt: skip
        completed = pipe(
            self._argv(words), self._argv(("patch-id", "--stable")), input=_pair_lines(pairs), env=self.env
        )
        if completed.returncode != 0:
            if not _LACKING.search(completed.error_text):
                raise ProgramError(completed)
            if len(pairs) == 1:
                return [MISSING]
            half = len(pairs) // 2
            return [*self.patch_ids(pairs[:half], context=context), *self.patch_ids(pairs[half:], context=context)]
        # Each line tells the id and the first commit of its pair; a pair without a diff has no line.
        answers = [line.split() for line in completed.stdout.decode().splitlines()]
        if len(answers) != len(pairs) and len({head for _, head in pairs}) != len(pairs):
            return [patch_id for pair in pairs for patch_id in self.patch_ids([pair], context=context)]
        ids = {head: patch_id for patch_id, head in answers}
        if len(answers) == len(pairs):
            return [patch_id for patch_id, _ in answers]
        return [ids.get(head) for _, head in pairs]

    def merged_tree(self, first: str, other: str) -> str | None:
        """The tree that a merge of two commits gives, None where they conflict, `MISSING` where files are lacking."""
        words = ("merge-tree", "--write-tree", "--no-messages", _sha(first), _sha(other))
        completed = self.git("-c", "merge.renames=true", *words, check=False)  # off elsewhere; a forge follows renames
        if completed.returncode != 0:
            return MISSING if _LACKING.search(completed.error_text) else None
        return completed.stdout.decode().strip()

    def tree(self, commit: str) -> str:
        """A commit's tree."""
        return self.git("rev-parse", "--verify", f"{_sha(commit)}^{{tree}}").stdout.decode().strip()

    def diff_sections(self, base: str, head: str) -> dict[str, bytes]:
        """The raw diff of each changed path, exactly as `git apply` wants it, in git's order.

        Text is kept byte for byte; what git takes for binary (a NUL in the first 8000 bytes) is a binary patch.
        """
        files = self.changed_files(base, head)
        out = self.git(
            "diff-tree", "-r", "-p", "--binary", "--full-index", "--no-renames", "--no-ext-diff", "--no-textconv",
            "--no-color", "--src-prefix=a/", "--dst-prefix=b/", "-U3",
            _sha(base), _sha(head),
        ).stdout  # fmt: skip
        return _cut_by_file(out, files)

    def diff(self, base: str, head: str, paths: Iterable[str] | None = None) -> bytes:
        """The raw diff of some paths (all of them by default) between two commits."""
        sections = self.diff_sections(base, head)
        paths_wanted = sections.keys() if paths is None else set(paths)
        return b"".join(section for path, section in sections.items() if path in paths_wanted)

    def read_file(self, commit: str, path: str) -> bytes | None:
        """A file's bytes at a commit; None where there is no such file."""
        return self.read_files(commit, (path,)).get(path)

    def read_files(self, commit: str, paths: Iterable[str]) -> dict[str, bytes]:
        """The same of many files, by one program; those that are not there are left out."""
        paths_asked = [path for path in paths if "\n" not in path]
        names = (_sha(commit).encode() + b":" + path.encode("utf-8", "surrogateescape") for path in paths_asked)
        contents = zip(paths_asked, self.blobs(names), strict=True)
        return {path: content for path, content in contents if content is not None}

    def blobs(self, names: Iterable[bytes]) -> Iterator[bytes | None]:
        """What the objects of these names hold, by one program; None where there is no such blob."""
        stdout = self.git("cat-file", "--batch", input=b"".join(name + b"\n" for name in names)).stdout
        at = 0
        while at < len(stdout):
            end = stdout.index(b"\n", at)
            words, at, content = stdout[at:end].split(b" "), end + 1, None
            if words[-1].isdigit():  # else it is missing, or of a submodule
                size = int(words[-1])
                content = stdout[at : at + size] if words[-2] == b"blob" else None
                at += size + 1
            yield content

    def list_files(self, commit: str) -> tuple[str, ...]:
        """Every path of a commit's tree, in git's order."""
        out = self.git("ls-tree", "-r", "-z", "--name-only", "--full-tree", _sha(commit)).stdout
        return tuple(decode_path(path) for path in out.split(b"\0") if path)

    def files(self, commit: str, *, largest: int) -> Iterator[tuple[str, bytes]]:
        """The regular files of a commit's tree that have at most so many bytes, with those of submodules, by path.

        Raises:
            MissingObjectsError: a file of the tree is not there.

        """
        with self._as_missing(commit):
            for member, content in self._members(commit):
                if content is not None and member.size <= largest:
                    yield member.name, content.read()

    def archive(self, commit: str, into: IO[bytes]) -> None:
        """Write a tar of a commit's tree: exact bytes, exec bits and symlinks, root's, dated by the commit.

        Submodules are in it as far as the copy has their commits. Attributes of the repository alter nothing and the
        tar names no commit. Equal commits give equal bytes.

        Raises:
            InputError: the tree holds a path that could leave its folder or pose as git's own.
            MissingObjectsError: a file of the tree is not there.

        """
        when = int(self.commit_date(commit).timestamp())
        with (
            self._as_missing(commit),
            tarfile.open(fileobj=into, mode="w|", format=tarfile.GNU_FORMAT, errors="surrogateescape") as target,
        ):
            for member, content in self._members(commit):
                member.mtime, member.uid, member.gid, member.uname, member.gname = when, 0, 0, "", ""
                member.pax_headers = {}
                target.addfile(member, content)

    @contextmanager
    def _as_missing(self, commit: str) -> Iterator[None]:
        """Reading a commit's tree in here says what is not there, where that ends it."""
        try:
            yield
        except (tarfile.ReadError, ProgramError) as error:
            lacking = self.lacking(commit)
            if not lacking:
                raise
            raise MissingObjectsError(
                f"{self.name} lacks {counted(len(lacking), 'file')} of {commit}, such as {lacking[0]}",
                hint="a partial clone? complete it with: git fetch --refetch --no-filter",
            ) from error

    def lacking(self, commit: str) -> tuple[str, ...]:
        """Paths of a commit's tree whose content is not in the copy."""
        blobs = list(self._listed(commit, b"blob"))
        stdout = self.git("cat-file", "--batch-check", input="".join(f"{blob}\n" for blob, _ in blobs).encode()).stdout
        missing = {line.split(" ")[0] for line in stdout.decode().splitlines() if line.endswith(" missing")}
        return tuple(path for blob, path in blobs if blob in missing)

    def _listed(self, commit: str, kind: bytes) -> Iterator[tuple[str, str]]:
        """The objects of a kind in a commit's tree, each with its path."""
        for row in self.git("ls-tree", "-r", "-z", "--full-tree", _sha(commit)).stdout.split(b"\0"):
            head, _, path = row.partition(b"\t")
            if row and head.split(b" ")[1] == kind:
                yield head.split(b" ")[2].decode(), decode_path(path)

    def _members(self, commit: str) -> Iterator[tuple[tarfile.TarInfo, IO[bytes] | None]]:
        for folder, tree in islice(self._trees(commit), _MOST_TREES):
            with (
                self.stream("archive", "--format=tar", tree) as output,
                tarfile.open(fileobj=output, mode="r|", errors="surrogateescape") as source,
            ):
                for member in source:
                    parts = member.name.rstrip("/").split("/")
                    if member.name.startswith("/") or any(part == ".." or part.lower() == ".git" for part in parts):
                        raise InputError(
                            f"{self.name} at {commit} holds the path {member.name!r}, which no tree may hold"
                        )
                    member.name = folder + member.name
                    yield member, source.extractfile(member) if member.isreg() else None

    def _trees(self, commit: str, folder: str = "") -> Iterator[tuple[str, str]]:
        """A commit's tree, and those of its submodules that the copy has, each with its folder, `/` at its end."""
        yield folder, self.tree(commit)
        if self.read_file(commit, ".gitmodules") is None:
            return
        for pinned, path in self._listed(commit, b"commit"):
            if self.git("cat-file", "-e", f"{pinned}^{{commit}}", check=False).returncode == 0:
                yield from self._trees(pinned, f"{folder}{path}/")

    def archive_bytes(self, commit: str) -> bytes:
        """`archive` in memory."""
        buffer = io.BytesIO()
        self.archive(commit, buffer)
        return buffer.getvalue()


def tag_version(tag: str) -> Version | None:
    """The version that a tag names (`v1.2`, `release-1.2.0`, `pkg/1.2`), or None."""
    match = _VERSION_TAG.match(tag)
    try:
        return Version(match["version"].replace("_", ".")) if match else None
    except InvalidVersion:
        return None


def _sha(text: str) -> str:
    if not SHA.fullmatch(text):
        raise InputError(f"expected a full commit SHA, found {text!r}")
    return text


def _pair_lines(pairs: Sequence[tuple[str, str]]) -> bytes:
    return "".join(f"{_sha(head)} {_sha(base)}\n" for base, head in pairs).encode()


def _parse_raw(out: bytes, count: int) -> list[tuple[ChangedFile, ...]]:
    """Cut `diff-tree --stdin --raw -z --always` into one tuple per input line."""
    result: list[list[ChangedFile]] = []
    fields = iter(out.split(b"\0"))
    for field in fields:
        if field.startswith(b":"):
            old_mode, new_mode, old_blob, new_blob, status = field[1:].decode().split(" ")
            result[-1].append(
                ChangedFile(
                    path=decode_path(next(fields)),
                    status=status[0],
                    old_mode=old_mode,
                    new_mode=new_mode,
                    old_blob=old_blob,
                    new_blob=new_blob,
                )
            )
        elif field:
            result.append([])
    if len(result) != count:
        raise AssertionError(f"git diff-tree answered {len(result)} of {count} questions")
    return [tuple(files) for files in result]


def _cut_by_file(out: bytes, files: Sequence[ChangedFile]) -> dict[str, bytes]:
    """Cut a diff before each `diff --git` line: in a hunk or a binary payload no line can begin so.

    A path that changes its type (file to symlink) has two sections: one deletes, one creates.
    """
    starts = [match.start() for match in re.finditer(rb"^diff --git ", out, re.MULTILINE)]
    pieces = iter([out[start:end] for start, end in zip(starts, [*starts[1:], len(out)], strict=True)])
    expected = sum(2 if file.status == "T" else 1 for file in files)
    if len(starts) != expected:
        raise AssertionError(f"git diff-tree printed {len(starts)} sections, expected {expected}")
    return {file.path: next(pieces) + (next(pieces) if file.status == "T" else b"") for file in files}
