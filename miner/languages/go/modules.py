"""What a repository's files say of Go: its modules, versions of the toolchain, and what its packages import. Pure."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from functools import cached_property

from miner.evidence.ci_jobs import WORKFLOWS
from miner.evidence.tree import Fixed, Tree, text_at

MANIFEST, SUMS, WORKSPACE = "go.mod", "go.sum", "go.work"
RELEASED: Mapping[int, date] = {
    18: date(2022, 3, 15),
    19: date(2022, 8, 2),
    20: date(2023, 2, 1),
    21: date(2023, 8, 8),
    22: date(2024, 2, 6),
    23: date(2024, 8, 13),
    24: date(2025, 2, 11),
    25: date(2025, 8, 12),
    26: date(2026, 2, 10),
    27: date(2026, 8, 11),
}
"""Minor versions of Go 1 that tests can be run on, and when each came out (go.dev/doc/devel/release)."""
_LINE = re.compile(r"^\s*go\s+1\.(\d+)", re.MULTILINE)
_TOOLCHAIN = re.compile(r"^\s*toolchain\s+go1\.(\d+)", re.MULTILINE)
_OF_CI = re.compile(
    r"^[ \t-]*[\"']?go(?:[-_]?versions?|lang)?[\"']?:(.*(?:\n[ \t]*-.*)*)", re.MULTILINE | re.IGNORECASE
)
_MINOR = re.compile(r"\b1\.(\d{1,2})\b")
_DECLARATION = re.compile(rb"^(?:func|type|var|const)\b", re.MULTILINE)
_FOREIGN = re.compile(rb'"([\w-]+\.[\w.-]+/[^"\s]+)"')
_COMMENT = re.compile(rb'^package\s+\w+[ \t]*//[ \t]*import[ \t]+"([^"\s]+)"', re.MULTILINE)
_VERSIONED = re.compile(r"gopkg\.in/(?:([\w-]+)/)?([\w-]+)\.v\d+(?=/|$)")
"""Modules of gopkg.in, which are repositories of GitHub's: `gopkg.in/yaml.v3` is go-yaml/yaml (https://gopkg.in)."""
_PUNCTUATION = re.compile(r"\W|_")
_CONSTRAINTS = (b"//go:build", b"// +build")
HOST = "github.com"
_LEFT_OUT = frozenset({"vendor", "testdata", "node_modules"})
_CHECKED_FOR_VENDORING = 14
"""From this `go` line on the toolchain takes a vendor folder of its own accord."""


def is_seen(path: str) -> bool:
    """Whether the toolchain looks for packages in a file's folder."""
    folders = path.split("/")[:-1]
    return not any(folder in _LEFT_OUT or folder.startswith(("_", ".")) for folder in folders)


def module_folders(tree: Tree) -> tuple[str, ...]:
    """The folders of a tree's modules, the root's first."""
    paths = (path for path in tree.files() if posixpath.basename(path) == MANIFEST and is_seen(path))
    return tuple(sorted(map(posixpath.dirname, paths), key=lambda folder: (folder.count("/"), folder)))


def module_of(folders: Sequence[str], path: str) -> str | None:
    """The folder of the module that a file is in; None where it is in none."""
    above = (folder for folder in folders if not folder or path.startswith(f"{folder}/"))
    return max(above, key=len, default=None)


def minors(tree: Tree, day: date) -> tuple[int, ...]:
    """The minor versions of Go 1 to try: a `toolchain` line's, then CI's newest, else the newest of that day.

    None is older than what a `go` line of the tree asks for.
    """
    texts = [text_at(tree, path) for path in _stating(tree)]
    oldest = max((int(minor) for text in texts for minor in _LINE.findall(text)), default=0)
    usable = [minor for minor in RELEASED if minor >= oldest]
    if not usable:
        return ()
    of_the_day = max((minor for minor in usable if RELEASED[minor] <= day), default=usable[0])
    choices = sorted({int(minor) for text in texts for minor in _TOOLCHAIN.findall(text)}, reverse=True)[:1]
    choices += sorted((minor for minor in _of_ci(tree) if minor <= max(of_the_day, oldest)), reverse=True)[:1]
    fitting = [max(minor, usable[0]) for minor in choices if minor <= usable[-1]]
    return tuple(dict.fromkeys((*fitting, of_the_day)))[:2]


def _stating(tree: Tree) -> list[str]:
    folders = module_folders(tree)
    names = [posixpath.join(folder, MANIFEST) for folder in folders]
    return [*names, *((WORKSPACE,) if tree.read(WORKSPACE) is not None else ())]


def _of_ci(tree: Tree) -> set[int]:
    texts = (text_at(tree, path) for path in tree.files() if WORKFLOWS.fullmatch(path))
    return {int(minor) for text in texts for part in _OF_CI.findall(text) for minor in _MINOR.findall(part)}


@dataclass(frozen=True)
class WithManifest:
    """A tree of before there were modules, with a go.mod that tells its path; what it requires is found by building."""

    tree: Tree
    repo: str

    @cached_property
    def manifest(self) -> bytes:
        """That go.mod."""
        return f"module {_called(self.tree, self.repo)}\n\ngo 1.16\n".encode()

    def read(self, path: str) -> bytes | None:
        """The bytes of a file."""
        return self.manifest if path == MANIFEST else self.tree.read(path)

    def files(self) -> tuple[str, ...]:
        """Every path."""
        return tuple(sorted((*self.tree.files(), MANIFEST)))


def _called(tree: Tree, repo: str) -> str:
    """The path by which the sources of a tree call it: by a comment or an import; else that of its repository.

    By another path they would import a release of it, in place of what is in the tree.
    """
    sources = {path: text for path, text in skeleton(tree) if path.endswith(".go")}
    for path, text in sources.items():
        folder = posixpath.dirname(path)
        if (comment := _COMMENT.search(text)) and comment[1].decode().endswith(f"/{folder}".rstrip("/")):
            return comment[1].decode().removesuffix(f"/{folder}")
    own = f"{HOST}/{repo}"
    called = {name for package in _imported(sources) if (name := _of_repository(package.decode(), repo))}
    return own if own in called else min(called, default=own)


def _of_repository(package: str, repo: str) -> str | None:
    """The module of a package, if it is a repository by another name: of gopkg.in, or one that is written otherwise."""
    owner, _, name = repo.lower().rpartition("/")
    if match := _VERSIONED.match(package):
        return match[0] if ((match[1] or f"go-{match[2]}").lower(), match[2].lower()) == (owner, name) else None
    host, of, called = [*package.split("/"), ""][:3]
    is_own = (host, of.lower(), _PUNCTUATION.sub("", called.lower())) == (HOST, owner, _PUNCTUATION.sub("", name))
    return f"{host}/{of}/{called}" if is_own else None


def flags(tree: Tree) -> str:
    """GOFLAGS of a tree: modules from its vendor folder, from the module cache with what go.mod lacks, or as they are.

    In a workspace go.mod is never changed.
    """
    if tree.read(WORKSPACE) is not None:
        return ""
    if tree.read("vendor/modules.txt") is not None:
        line = _LINE.search(text_at(tree, MANIFEST))
        return "" if line and int(line[1]) >= _CHECKED_FOR_VENDORING else "-mod=vendor"
    return "-mod=mod"


def skeleton(tree: Tree) -> Iterator[tuple[str, bytes]]:
    """What decides which packages are compiled: manifests, and each source up to its first declaration.

    Commits that import the same share a layer.
    """
    for path in tree.files():
        if not is_seen(path):
            continue
        if posixpath.basename(path) in (MANIFEST, SUMS, WORKSPACE, f"{WORKSPACE}.sum"):
            yield path, tree.read(path) or b""
        elif path.endswith(".go"):
            yield path, _head(tree.read(path) or b"")


def of_fix(tree: Tree, fixed: Mapping[str, bytes]) -> dict[str, bytes]:
    """What a fix adds to the skeleton of a tree, if it may ask for other modules than that; empty if not.

    Sources have names of their own, so that imports which the fix takes away stay. A manifest that is of us stays, too.
    """
    before, after = dict(skeleton(tree)), dict(skeleton(Fixed(tree, fixed)))
    changed = {path: text for path, text in after.items() if before.get(path) != text}
    if isinstance(tree, WithManifest):
        changed = {path: text for path, text in changed.items() if path.endswith(".go")}
    asked = _imported(changed) - _imported(before)
    if not asked and not any(posixpath.basename(path) == MANIFEST for path in changed):
        return {}
    return {_beside(path) if path.endswith(".go") else path: text for path, text in changed.items()}


def _imported(texts: Mapping[str, bytes]) -> set[bytes]:
    """The packages that sources import and Go itself does not have."""
    return {name for path, text in texts.items() if path.endswith(".go") for name in _FOREIGN.findall(text)}


def _beside(path: str) -> str:
    return posixpath.join(posixpath.dirname(path), f"of_fix_{posixpath.basename(path)}")


def _head(source: bytes) -> bytes:
    declaration = _DECLARATION.search(source)
    lines = source[: declaration.start() if declaration else len(source)].splitlines()
    return b"\n".join(line for line in lines if not line.startswith(b"//") or line.startswith(_CONSTRAINTS))
