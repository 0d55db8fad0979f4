"""Poetry's own tables: dependency groups and dev-dependencies, turned into PEP 508 requirements."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from miner.evidence.tree import Evidence, Tree
from miner.languages.python.evidence.metadata import caret_to_specifier, pyproject, requirement, table

_NAMES = ("test", "tests", "testing", "dev", "develop", "development")


def _requirements(name: str, value: object) -> tuple[str, ...]:
    """One entry of a Poetry dependency table as requirements; none for paths and python itself."""
    if name == "python":
        return ()
    if isinstance(value, list):
        return tuple(line for part in value for line in _requirements(name, part))
    entry: Mapping[str, Any] = value if isinstance(value, dict) else {"version": value}
    if "path" in entry or "url" in entry:
        return ()
    extras = f"[{','.join(entry['extras'])}]" if entry.get("extras") else ""
    if "git" in entry:
        revision = entry.get("rev") or entry.get("tag") or entry.get("branch")
        text = f"{name}{extras} @ git+{entry['git']}{f'@{revision}' if revision else ''}"
    else:
        text = f"{name}{extras}{caret_to_specifier(str(entry.get('version', '*')))}"
    markers = [str(entry["markers"])] if entry.get("markers") else []
    if entry.get("python"):
        markers += [_marker(part) for part in caret_to_specifier(str(entry["python"])).split(",") if part]
    text += f" ; {' and '.join(f'({marker})' for marker in markers)}" if markers else ""
    return requirement(text)


def _marker(specifier: str) -> str:
    sign, version = re.match(r"([<>=!~]+)(.*)", specifier).groups()  # type: ignore[union-attr]
    return f"python_version {sign} '{version.strip()}'"


def of_group(tree: Tree, group: str) -> tuple[str, ...]:
    """What one of Poetry's groups asks for; nothing where it has no such group."""
    entries = table(pyproject(tree), "tool", "poetry", "group", group, "dependencies")
    return tuple(line for name, value in entries.items() for line in _requirements(name, value))


def dependencies(tree: Tree) -> tuple[str, ...]:
    """What a project of Poetry's needs to run; optional dependencies are left out."""
    entries = table(pyproject(tree), "tool", "poetry", "dependencies")
    needed = {name: value for name, value in entries.items() if not (isinstance(value, dict) and value.get("optional"))}
    return tuple(line for name, value in needed.items() for line in _requirements(name, value))


def detect(tree: Tree) -> Evidence | None:
    """Poetry's test group, or its development dependencies where there is none."""
    poetry = table(pyproject(tree), "tool", "poetry")
    tables = {key: table(poetry, "group", key, "dependencies") for key in _NAMES}
    tables["dev-dependencies"] = table(poetry, "dev-dependencies")
    for key, entries in tables.items():
        items = tuple(line for name, value in entries.items() for line in _requirements(name, value))
        if items:
            return Evidence(rung=f"poetry:{key}", requirements=items)
    return None
