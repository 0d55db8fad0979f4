"""Development tables of tools: hatch's environments, pdm's and uv's own dependencies, flit's extras, Pipenv's file."""

from __future__ import annotations

import re
from collections.abc import Iterable

from miner.evidence.tree import Evidence, Tree, toml
from miner.languages.python.evidence.extras import pick
from miner.languages.python.evidence.metadata import pyproject, requirement, requirements_in, strings, table


def hatch(tree: Tree) -> Evidence | None:
    """The environment that hatch runs tests in, and those it builds on."""
    envs = table(pyproject(tree), "tool", "hatch", "envs") or table(pyproject(tree, "hatch.toml"), "envs")
    name = next((key for key in ("hatch-test", "test", "tests", "default", "dev") if table(envs, key)), None)
    if name is None:
        return None
    requirements: list[str] = []
    extras: list[str] = []
    chain: list[str] = []
    while name and name not in chain and table(envs, name):
        chain.append(name)
        env = table(envs, name)
        for key in ("dependencies", "extra-dependencies"):
            requirements += requirements_in(env.get(key))
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
    return _evidence(f"pdm:{name or 'all'}", (line for key in chosen for line in requirements_in(groups[key])))


def uv(tree: Tree) -> Evidence | None:
    """Uv's own list of development dependencies, from before there were groups."""
    return _evidence("uv:dev", requirements_in(table(pyproject(tree), "tool", "uv").get("dev-dependencies")))


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
    entries = (entry for part in ("packages", "dev-packages") for entry in table(document, part).items())
    return _evidence("Pipfile", (line for name, value in entries for line in _requirement_of_pipenv(name, value)))


def _evidence(rung: str, requirements: Iterable[str]) -> Evidence | None:
    """What requirements are as evidence, each once; None of none."""
    distinct = tuple(dict.fromkeys(requirements))
    return Evidence(rung=rung, requirements=distinct) if distinct else None


def _requirement_of_pipenv(name: str, value: object) -> tuple[str, ...]:
    entry = value if isinstance(value, dict) else {"version": value}
    if any(key in entry for key in ("path", "file", "git", "editable")):
        return ()
    version = entry.get("version", "*")
    version = "" if version == "*" or not isinstance(version, str) else version
    extras = f"[{','.join(strings(entry.get('extras')))}]" if strings(entry.get("extras")) else ""
    marker = f" ; {entry['markers']}" if isinstance(entry.get("markers"), str) else ""
    return requirement(f"{name}{extras}{version}{marker}")
