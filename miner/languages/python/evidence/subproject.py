"""Repositories that hold several projects: the one that a change touches. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from miner.evidence.tree import Below, Evidence, Tree
from miner.languages.python.evidence import metadata

PROJECT_FILES = ("pyproject.toml", "setup.py", "setup.cfg")
_NO_PROJECTS = frozenset(
    {"docs", "doc", "examples", "example", "test", "tests", "testing", "testdata", "fixtures", "vendor", "vendored",
     "third_party", "templates", "template", "benchmarks", "scripts", "tools", ".github"}
)  # fmt: skip
"""Folders whose projects are material, not what is tested."""


def project(tree: Tree, root: str) -> Tree:
    """The project in a folder of a tree, as a tree of its own; all of it for the empty folder."""
    return Below(tree, root) if root else tree


def root_of(tree: Tree, touched: Sequence[str]) -> str:
    """The folder of the project that a change touches; empty for the repository's root.

    A project in a folder is taken where it holds all code that is touched, or where the root holds no project at all.
    """
    folders = [folder for folder in every_project(tree) if is_tested(folder)]
    if not folders:
        return ""
    code = [path for path in touched if path.endswith((".py", ".pyx", ".pxd"))] or list(touched)
    homes = Counter(home_of(path, folders) for path in code)
    if len(homes) == 1:
        return next(iter(homes))
    del homes[""]
    if metadata.project_file(tree) is not None or not homes:
        return ""
    return min(homes, key=lambda folder: (-homes[folder], folder))


def every_project(tree: Tree) -> tuple[str, ...]:
    """The folders with a project of their own, deepest first."""
    folders = {
        folder
        for path in tree.files()
        if path.endswith(PROJECT_FILES)
        and (folder := path.rpartition("/")[0])
        and path.rpartition("/")[2] in PROJECT_FILES
    }
    return tuple(
        sorted(
            (folder for folder in folders if metadata.project_file(Below(tree, folder)) is not None),
            key=lambda folder: (-folder.count("/"), folder),
        )
    )


def is_tested(folder: str) -> bool:
    """Whether the tests of a project there may be what a change is about."""
    return not _NO_PROJECTS.intersection(folder.split("/"))


def home_of(path: str, folders: Sequence[str]) -> str:
    """The first of some folders that a path is in; empty where it is in none."""
    return next((folder for folder in folders if path.startswith(f"{folder}/")), "")


def lifted(evidence: Evidence, root: str) -> Evidence:
    """Evidence of a folder's tree in the words of the whole one."""
    if not root:
        return evidence
    return replace(
        evidence,
        files=tuple(f"{root}/{path}" for path in evidence.files),
        constraints=tuple(f"{root}/{path}" for path in evidence.constraints),
    )
