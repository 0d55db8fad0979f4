"""Development tables of tools: hatch's environments, pdm's and uv's own dependencies, flit's extras, Pipenv's file."""

from __future__ import annotations

import re

from packaging.requirements import InvalidRequirement, Requirement

from miner.evidence.tree import Evidence, Tree, toml
from miner.languages.python.evidence.extras import pick
from miner.languages.python.evidence.metadata import pyproject, strings, table
from miner.languages.python.evidence.tox import is_requirement


def hatch(tree: Tree) -> Evidence | None:
    """The environment that hatch runs tests in, and those it builds on."""
    envs = table(pyproject(tree), "tool", "hatch", "envs") or table(pyproject(tree, "hatch.toml"), "envs")
    name = next(
        (name_known for name_known in ("hatch-test", "test", "tests", "default", "dev") if table(envs, name_known)),
        None,
    )
    if name is None:
        return None
    requirements: list[str] = []
    extras: list[str] = []
    chain: list[str] = []
    while name and name not in chain and table(envs, name):
        chain.append(name)
        env = table(envs, name)
        requirements += [
            string
            for key in ("dependencies", "extra-dependencies")
            for string in strings(env.get(key))
            if is_requirement(string)
        ]
        extras += strings(env.get("features"))
        template = env.get("template", "default")
        name = template if isinstance(template, str) and not env.get("detached") else None
    evidence = Evidence(
        rung=f"hatch:{chain[0]}",
        requirements=tuple(dict.fromkeys(requirements)),
        extras=tuple(dict.fromkeys(extras)),
    )
    return evidence if requirements or extras else None


def pdm(tree: Tree) -> Evidence | None:
    """Pdm's development dependencies: the group for tests, else all of them."""
    groups = table(pyproject(tree), "tool", "pdm", "dev-dependencies")
    name = pick(tuple(groups))
    chosen = [name] if name else list(groups)
    requirements = [string for key in chosen for string in strings(groups[key]) if is_requirement(string)]
    return (
        Evidence(rung=f"pdm:{name or 'all'}", requirements=tuple(dict.fromkeys(requirements))) if requirements else None
    )


def uv(tree: Tree) -> Evidence | None:
    """Uv's own list of development dependencies, from before there were groups."""
    requirements = [
        string
        for string in strings(table(pyproject(tree), "tool", "uv").get("dev-dependencies"))
        if is_requirement(string)
    ]
    return Evidence(rung="uv:dev", requirements=tuple(dict.fromkeys(requirements))) if requirements else None


def default_groups(tree: Tree) -> tuple[str, ...]:
    """The groups that uv installs unasked, but those for documentation and for what looks at code."""
    listed = table(pyproject(tree), "tool", "uv").get("default-groups", ["dev"])
    names = tuple(table(pyproject(tree), "dependency-groups")) if listed == "all" else strings(listed)
    return tuple(name for name in names if not re.search(r"doc|lint|format|typ|release|style", name))


def flit(tree: Tree) -> Evidence | None:
    """The extra for tests of a project described in flit's old table."""
    extras = table(pyproject(tree), "tool", "flit", "metadata", "requires-extra")
    name = pick(tuple(extras))
    return Evidence(rung=f"flit:{name}", extras=(name,)) if name else None


def pipenv(tree: Tree) -> Evidence | None:
    """`[packages]` and `[dev-packages]` as requirements; entries by path or address are left out."""
    document = toml(tree.read("Pipfile"))
    requirements: list[str] = []
    for part in ("packages", "dev-packages"):
        for name, value in table(document, part).items():
            requirements += _requirement_of_pipenv(name, value)
    return Evidence(rung="Pipfile", requirements=tuple(dict.fromkeys(requirements))) if requirements else None


def _requirement_of_pipenv(name: str, value: object) -> list[str]:
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
