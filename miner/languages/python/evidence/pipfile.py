"""Pipenv's Pipfile: what the project and its development need."""

from __future__ import annotations

import tomllib

from packaging.requirements import InvalidRequirement, Requirement

from miner.evidence.tree import Evidence, Tree
from miner.languages.python.evidence.metadata import strings, table


def detect(tree: Tree) -> Evidence | None:
    """`[packages]` and `[dev-packages]` as requirements; entries by path or address are left out."""
    data = tree.read("Pipfile")
    if data is None:
        return None
    try:
        document = tomllib.loads(data.decode("utf-8", "replace"))
    except tomllib.TOMLDecodeError:
        return None
    requirements: list[str] = []
    for part in ("packages", "dev-packages"):
        for name, value in table(document, part).items():
            requirements += _requirement(name, value)
    return Evidence(rung="Pipfile", requirements=tuple(dict.fromkeys(requirements))) if requirements else None


def _requirement(name: str, value: object) -> list[str]:
    entry = value if isinstance(value, dict) else {"version": value}
    if any(key in entry for key in ("path", "file", "git", "editable")):
        return []
    version = entry.get("version", "*")
    version = "" if version == "*" or not isinstance(version, str) else version
    extras = f"[{','.join(strings(entry.get('extras')))}]" if strings(entry.get("extras")) else ""
    marker = f" ; {entry['markers']}" if isinstance(entry.get("markers"), str) else ""
    try:
        return [str(Requirement(f"{name}{extras}{version}{marker}"))]
    except InvalidRequirement:
        return []
