"""Lock files: the versions that the project itself ran its tests with, as constraints. Pure.

uv.lock, poetry.lock, pdm.lock, pylock.toml (PEP 751) and Pipfile.lock. A name with several versions (for several
Pythons or systems) is pinned to none, nor is what comes from a folder, an address or a repository.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from packaging.requirements import Requirement
from packaging.version import InvalidVersion, Version

from harness.core import json_text
from miner.evidence.tree import Evidence, Tree, toml
from miner.languages.python.evidence.metadata import table
from miner.languages.python.recipes.imports import OLDEST_PYTEST

_LARGEST = 8_000_000
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*$")
_NEVER = frozenset({"pip", "setuptools", "wheel", "pytest", "pluggy"})
"""Not pinned: the first three belong to the interpreter, and of pytest only some versions can be called by the runner;
what the project asks for of it still holds."""
_CALLABLE = Requirement(OLDEST_PYTEST).specifier
"""The plugins of an older pytest are not pinned either: they are of its day."""

Pins = dict[str, set[str]]
_Reader = Callable[[bytes], list[tuple[object, object]]]


def detect(tree: Tree) -> Evidence | None:
    """The pins of the first lock file there is; as evidence they ask for nothing, and constrain what is asked for."""
    for path, reader in _READERS.items():
        data = tree.read(path)
        if data is None or len(data) > _LARGEST:
            continue
        pins = _pins(reader(data))
        if pins:
            return Evidence(rung=f"lock:{path}", pins=pins)
    return None


def _pins(pairs: Iterable[tuple[object, object]]) -> tuple[str, ...]:
    versions: Pins = {}
    for name, version in pairs:
        if isinstance(name, str) and isinstance(version, str) and _NAME.match(name) and _is_version(version):
            versions.setdefault(re.sub(r"[-_.]+", "-", name).lower(), set()).add(version)
    is_old = not all(_CALLABLE.contains(version, prereleases=True) for version in versions.get("pytest", ()))
    return tuple(
        f"{name}=={next(iter(versions_of_name))}"
        for name, versions_of_name in sorted(versions.items())
        if len(versions_of_name) == 1 and name not in _NEVER and not (is_old and name.startswith("pytest-"))
    )


def _is_version(text: str) -> bool:
    try:
        return Version(text).local is None
    except InvalidVersion:
        return False


def _packages(key: str, is_of_index: Callable[[dict[str, Any]], bool]) -> _Reader:
    """The reader of a lock in TOML: names and versions of what comes from an index, of the packages under a key."""

    def read(data: bytes) -> list[tuple[object, object]]:
        packages = toml(data).get(key)
        tables = [package for package in packages if isinstance(package, dict)] if isinstance(packages, list) else []
        return [(package.get("name"), package.get("version")) for package in tables if is_of_index(package)]

    return read


def _pipfile(data: bytes) -> list[tuple[object, object]]:
    if (document := json_text.read_object(data)) is None:
        return []
    pairs: list[tuple[object, object]] = []
    for part in ("default", "develop"):
        for name, entry in table(document, part).items():
            version = entry.get("version") if isinstance(entry, dict) else None
            if isinstance(version, str) and version.startswith("=="):
                pairs.append((name, version.removeprefix("==").strip()))
    return pairs


_READERS: Mapping[str, _Reader] = {
    "uv.lock": _packages("package", lambda it: "registry" in table(it, "source") or "source" not in it),
    "poetry.lock": _packages(
        "package", lambda it: table(it, "source").get("type") not in {"git", "directory", "file", "url"}
    ),
    "pdm.lock": _packages("package", lambda it: it.keys().isdisjoint(("git", "path", "url"))),
    "pylock.toml": _packages("packages", lambda it: it.keys().isdisjoint(("vcs", "directory", "archive"))),
    "Pipfile.lock": _pipfile,
}
