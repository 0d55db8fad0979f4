"""What of a fix or its hidden tests can be found in an image: every file and git object searched, as bytes. Pure.

Searched for are the lines that only the fix and its tests bring, the names of the new tests, the files that are new
with them, and the fix's commit. The tree at base_commit may hold some such lines by chance; these are no evidence
anywhere.
"""

from __future__ import annotations

import re
import zlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from harness.patches import patch

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

TREES = ("testbed/", "opt/goldseam/src/")
"""Where a task's image holds the tree at base_commit."""

_SHORTEST_LINE = 12
_ENOUGH = 3
"""So many different lines in one file are no chance; where there are fewer in all, only likely places count."""
_LARGEST_TEXT = 32 * 1024 * 1024
_COMMIT = re.compile(rb"(?<![0-9a-f])[0-9a-f]{40}(?![0-9a-f])")
_TEST_NAME = re.compile(rb"^\+\s*(?:async\s+)?(?:def|class)\s+(test\w+|Test\w+)")
_HUNK = re.compile(rb"^@@ -", re.MULTILINE)
_CACHE = re.compile(r"(^|/)(\.cache/(pip|uv)|uv-cache|pip-cache|archive-v\d+|wheels-v\d+|sdists-v\d+)/")


@dataclass(frozen=True, kw_only=True)
class FileSecrets:
    """What the fix or its hidden tests add to one file."""

    path: str
    lines: frozenset[bytes]
    results: tuple[bytes, ...]
    """What each hunk that adds something leaves there, context included."""

    @property
    def name(self) -> str:
        return _name(self.path)


@dataclass(frozen=True, kw_only=True)
class Secrets:
    """What an image must not hold."""

    lines: frozenset[bytes]
    """Added by the fix or its tests and not to be seen in their patches otherwise; without white space around."""
    by_file: tuple[FileSecrets, ...]
    """The same by file that a patch adds such lines to."""
    names: frozenset[bytes]
    """Of new test functions and classes."""
    new_paths: frozenset[str]
    commits: frozenset[bytes] = frozenset()
    """Full SHAs of the fix, in hexadecimal."""


@dataclass(frozen=True, kw_only=True)
class Leak:
    """A place in an image that gives something away."""

    where: str
    what: str


def secrets(gold: bytes, tests: bytes, *, commits: Iterable[str] = ()) -> Secrets:
    """What only the fix and its hidden tests have.

    Raises:
        PatchError: one of them is no patch.

    """
    files = [*patch.parse(gold, trusted=True).files, *patch.parse(tests, trusted=True).files]
    old = {line for file in files for line in _marked(file.raw, b" -")}
    added = [(file, frozenset(set(_marked(file.raw, b"+")) - old)) for file in files]
    test_names = {match[1] for file in files for line in file.raw.split(b"\n") if (match := _TEST_NAME.match(line))}
    return Secrets(
        lines=frozenset().union(*(lines for _, lines in added)),
        by_file=tuple(
            FileSecrets(path=file.path, lines=lines, results=tuple(_results(file.raw)))
            for file, lines in added
            if lines
        ),
        names=frozenset(name for name in test_names if not any(name in line for line in old)),
        new_paths=frozenset(file.path for file in files if file.is_new),
        commits=frozenset(commit.encode() for commit in commits if commit),
    )


def _marked(raw: bytes, marks: bytes) -> Iterator[bytes]:
    """Lines of hunks with one of the marks, where they say enough to be known again."""
    for line in raw.split(b"\n"):
        if line[:1] and line[:1] in marks and not line.startswith((b"+++ ", b"--- ")):
            text = line[1:].strip()
            if len(text) >= _SHORTEST_LINE and any(97 <= byte <= 122 for byte in text.lower()):  # noqa: PLR2004 - a-z
                yield text


def _results(raw: bytes) -> Iterator[bytes]:
    """The text that each hunk with added lines results in."""
    for hunk in _HUNK.split(raw)[1:]:
        body = [line for line in hunk.split(b"\n")[1:] if line[:1] in (b"+", b" ")]
        if any(line.startswith(b"+") for line in body):
            yield b"\n".join(line[1:] for line in body)


@dataclass(kw_only=True)
class Search:
    """Fed every file of an image once, in any order; then asked for the leaks."""

    secrets: Secrets
    unpack: Callable[[bytes], Iterable[tuple[str, bytes]]]
    """Takes a git pack apart: the objects in it, by name."""
    files: int = 0
    objects: int = 0
    _tree: set[bytes] = field(default_factory=set)
    _applied: dict[str, None] = field(default_factory=dict)
    _tree_names: set[bytes] = field(default_factory=set)
    _compiled: dict[str, set[bytes]] = field(default_factory=dict)
    _hits: dict[str, set[bytes]] = field(default_factory=dict)
    _leaks: list[Leak] = field(default_factory=list)

    def feed(self, path: str, data: bytes) -> None:
        """One file, by its path without a leading slash."""
        self.files += 1
        tree = next((prefix for prefix in TREES if path.startswith(prefix)), None)
        inner = path[len(tree) :] if tree else path
        if tree and inner.startswith(".git/"):
            self._git(path, inner.removeprefix(".git/"), data)
        elif path.endswith(".pyc"):
            self._names(path, data)
        elif tree:
            self._of_tree(path, inner, data)
        else:
            self._other(path, data)

    def _of_tree(self, path: str, inner: str, data: bytes) -> None:
        if inner in self.secrets.new_paths:
            self._leaks.append(Leak(where=path, what="a file that only the fix or its hidden tests bring"))
            return
        self._tree_names |= {name for name in self.secrets.names if name in data}
        lines = self._lines(data)
        self._tree |= lines
        results = next((file.results for file in self.secrets.by_file if file.path == inner), ())
        if results and all(result in data for result in results):
            self._applied[path] = None

    def _git(self, path: str, inner: str, data: bytes) -> None:
        if inner.startswith("objects/pack/") and inner.endswith(".pack"):
            for name, content in self.unpack(data):
                self._object(f"{path}:{name}", content)
        elif re.fullmatch(r"objects/[0-9a-f]{2}/[0-9a-f]{38,62}", inner):
            self._object(path, zlib.decompress(data).partition(b"\0")[2])
        else:
            self._commits(path, data)

    def _object(self, where: str, content: bytes) -> None:
        self.objects += 1
        self._hits[where] = self._lines(content)
        self._commits(where, content)

    def _other(self, path: str, data: bytes) -> None:
        if _CACHE.search(path):
            self._leaks.append(Leak(where=path, what="left in a package cache"))
        if len(data) > _LARGEST_TEXT or b"\0" in data[:8192]:
            return
        if hits := self._lines(data):
            self._hits[path] = hits
        self._commits(path, data)

    def _names(self, path: str, data: bytes) -> None:
        if names := {name for name in self.secrets.names if name in data}:
            self._compiled[path] = names

    def _commits(self, where: str, data: bytes) -> None:
        if self.secrets.commits and not self.secrets.commits.isdisjoint(_COMMIT.findall(data)):
            self._leaks.append(Leak(where=where, what="it names the fix's commit"))

    def _lines(self, data: bytes) -> set[bytes]:
        return {line for part in data.split(b"\n") if (line := part.strip()) in self.secrets.lines}

    def leaks(self) -> tuple[Leak, ...]:
        """Everything found; only to be asked once all files were fed."""
        applied = (Leak(where=path, what="the fix or its hidden tests are in it already") for path in self._applied)
        return (*self._leaks, *self._byte_code(), *applied, *self._copied())

    def _byte_code(self) -> Iterator[Leak]:
        """Byte code with names of hidden tests; a name that the tree's own sources have, too, tells nothing.

        Nor does a single name in the byte code of something else: other projects have a `test_identity`, too.
        """
        stems = {file.name.removesuffix(".py") for file in self.secrets.by_file}
        for path, names in sorted(self._compiled.items()):
            names_told = sorted(names - self._tree_names)
            likely = path.startswith(TREES) or _name(path).split(".")[0] in stems
            if names_told and (likely or len(names_told) >= _ENOUGH):
                yield Leak(where=path, what=f"byte code that names the hidden test {names_told[0].decode()}")

    def _copied(self) -> Iterator[Leak]:
        """Anything else with lines that the tree does not have.

        A git object tells by one line. Another file has to hold several that are rare, or, where it has the name of a
        file of the patch, all that the patch adds there.
        """
        unknown = self.secrets.lines - self._tree
        rare = unknown - self._common()
        for where, hits in sorted(self._hits.items()):
            leaked = hits & unknown
            of_name = [file.lines & unknown for file in self.secrets.by_file if file.name == _name(where)]
            whole = any(lines and lines <= leaked for lines in of_name)
            if (leaked and ".git/" in where) or whole or len(leaked & rare) >= _ENOUGH:
                sample = min(leaked).decode("utf-8", "replace")[:60]
                yield Leak(
                    where=where, what=f"{len(leaked)} line(s) of the fix or its hidden tests, such as {sample!r}"
                )

    def _common(self) -> set[bytes]:
        """Lines that files of several names have: copies of a fixed file would have one name, or two."""
        names: dict[bytes, set[str]] = {}
        for where, hits in self._hits.items():
            for line in hits if ".git/" not in where else ():
                names.setdefault(line, set()).add(_name(where))
        return {line for line, files in names.items() if len(files) >= _ENOUGH}


def _name(path: str) -> str:
    return path.rsplit("/", 1)[-1]
