"""The words of environment detection as values. Pure."""

from __future__ import annotations

import posixpath
import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

TESTBED = "/testbed"
"""Where the tree stands in an image."""


class Tree(Protocol):
    """A read-only view of a repository's files at one commit; paths are relative to its root, with `/`."""

    def read(self, path: str) -> bytes | None:
        """The bytes of a file, or None if there is no such file."""

    def files(self) -> tuple[str, ...]:
        """Every path of the tree, sorted."""


@dataclass(frozen=True)
class Fixed:
    """A tree with some files as the fix leaves them."""

    base: Tree
    fixed: Mapping[str, bytes]

    def read(self, path: str) -> bytes | None:
        """The bytes of a file, or None if there is no such file."""
        return self.fixed.get(path) or self.base.read(path)

    def files(self) -> tuple[str, ...]:
        """Every path of the tree, sorted."""
        return tuple(sorted({*self.base.files(), *self.fixed}))


@dataclass(frozen=True)
class Below:
    """A folder of a tree as a tree of its own."""

    tree: Tree
    folder: str

    def read(self, path: str) -> bytes | None:
        """The bytes of a file, or None if there is no such file."""
        return self.tree.read(f"{self.folder}/{path}")

    def files(self) -> tuple[str, ...]:
        """Every path below the folder, sorted."""
        start = f"{self.folder}/"
        return tuple(path.removeprefix(start) for path in self.tree.files() if path.startswith(start))


def text_at(tree: Tree, path: str) -> str:
    """The text of a file; empty where there is none."""
    return (tree.read(path) or b"").decode("utf-8", "replace")


def folders_above(path: str) -> Iterator[str]:
    """The folders that a path is in, the nearest first; the root, which is the last, has an empty name."""
    while path:
        path = posixpath.dirname(path)
        yield path


def toml(data: bytes | None) -> dict[str, Any]:
    """A document in TOML; empty where there is none, or none that can be read."""
    try:
        return tomllib.loads((data or b"").decode("utf-8-sig", "replace"))
    except (tomllib.TOMLDecodeError, RecursionError):
        return {}


@dataclass(frozen=True, kw_only=True)
class Evidence:
    """What one kind of file says the tests need beside the project itself."""

    rung: str
    """Where it comes from, such as `extra:tests` or `tox`; the ladder's rungs are named by it."""
    requirements: tuple[str, ...] = ()
    """PEP 508 requirements."""
    files: tuple[str, ...] = ()
    """Requirements files in pip's format."""
    constraints: tuple[str, ...] = ()
    """Constraints files in pip's format."""
    extras: tuple[str, ...] = ()
    """Extras of the project."""
    groups: tuple[str, ...] = ()
    """PEP 735 dependency groups of pyproject.toml."""
    pins: tuple[str, ...] = ()
    """Versions that a lock file of the repository names, as PEP 508 requirements; they ask for nothing."""

    def __or__(self, other: Evidence) -> Evidence:
        """Both together: the union of everything, named after both."""
        return Evidence(
            rung=f"{self.rung}+{other.rung}",
            requirements=_union(self.requirements, other.requirements),
            files=_union(self.files, other.files),
            constraints=_union(self.constraints, other.constraints),
            extras=_union(self.extras, other.extras),
            groups=_union(self.groups, other.groups),
            pins=_union(self.pins, other.pins),
        )


def _union(left: tuple[str, ...], right: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*left, *right)))


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """One attempt at an environment: everything that resolving it needs to know."""

    project: str | None
    """The file that describes the project (pyproject.toml, setup.py, setup.cfg); None if nothing is installable."""
    evidence: Evidence
    apt: tuple[str, ...] = ()
    """Debian packages needed beside those of the base image."""
    root: str = ""
    """The folder of the project, where it is not the repository's root."""
    overrides: tuple[str, ...] = ()
    """Requirements that go before whatever else asks for the same distribution."""
    env: Mapping[str, str] = field(default_factory=dict)
    """Environment variables of the tests."""
    commands: tuple[str, ...] = ()
    """Shell commands at the repository's root, once the project is installed."""
    built_with: tuple[tuple[str, str], ...] = ()
    """Distributions, each with one that it needs to be built and does not say so."""
    later: tuple[tuple[str, str], ...] = ()
    """Distributions that the index has nothing of as old as the commit, and the day (ISO 8601) they are taken as of."""
    is_runner: bool = False
    """Whether the project is pytest: then it is installed as the project, and no other beside it."""

    @property
    def rung(self) -> str:
        return self.evidence.rung

    def evidence_by_kind(self) -> dict[str, tuple[str, ...]]:
        """Its evidence by kind; of pins only how many."""
        evidence = self.evidence
        fields = {
            "project": (self.project,) if self.project else (),
            "requirements": evidence.requirements,
            "files": evidence.files,
            "constraints": evidence.constraints,
            "extras": evidence.extras,
            "groups": evidence.groups,
            "pins": (f"{len(evidence.pins)} versions",) if evidence.pins else (),
            "apt": self.apt,
            "overrides": self.overrides,
            "env": tuple(f"{name}={value}" for name, value in self.env.items()),
            "commands": self.commands,
            "built_with": tuple(f"{name} {needed}" for name, needed in self.built_with),
            "later": tuple(f"{name} {day}" for name, day in self.later),
        }
        return {kind: words for kind, words in fields.items() if words}


@dataclass(frozen=True, kw_only=True)
class Detection:
    """What a tree says about its own environment: the recipes to try, richest first, and which Pythons it wants."""

    recipes: tuple[Recipe, ...]
    name: str | None
    requires_python: str | None
    classifiers: tuple[str, ...]
    """Minor versions named by the trove classifiers, such as `3.9`."""
    unbuilt: Recipe | None = None
    """What to try where the project can't be built by any recipe: its needs alone, the tree on `sys.path`."""
    tested: tuple[str, ...] = ()
    """Minor versions on which the repository's CI runs its tests."""
    of_change: tuple[str, ...] = ()
    """Minor versions that the change's own words name."""
    at_least: str = ""
    """The minor version that its tests ask for; empty where they don't."""
    below: str = ""
    """The minor version that is too new for what its code does in older ones; empty where it asks for none."""
    declared: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """What its CI says of tests beside what is installed: `services`, `env`, `files`."""
    notes: tuple[str, ...] = ()
    """What could not be read or was left out, one sentence each."""


Detector = Callable[[Tree], Evidence | None]
"""One kind of evidence: what the tree says in it, or None when the tree has none of that kind."""


class Remembered:
    """A tree with a memory: several kinds of evidence read the same files, and each reading starts a program."""

    def __init__(self, tree: Tree) -> None:
        self._tree = tree
        self._read: dict[str, bytes | None] = {}
        self._files: tuple[str, ...] | None = None
        self._there: frozenset[str] = frozenset()

    def read(self, path: str) -> bytes | None:
        """The bytes of a file, or None if there is no such file."""
        self.files()
        if path not in self._there:
            return None
        if path not in self._read:
            self._read[path] = self._tree.read(path)
        return self._read[path]

    def files(self) -> tuple[str, ...]:
        """Every path of the tree, sorted."""
        if self._files is None:
            self._files = self._tree.files()
            self._there = frozenset(self._files)
        return self._files
