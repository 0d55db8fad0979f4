"""environment.yml: its pip part, and conda's names as the package index has them."""

from __future__ import annotations

import re

from packaging.requirements import InvalidRequirement, Requirement

from miner.evidence import yamlfile
from miner.evidence.tree import Evidence, Tree
from miner.languages.python.evidence import metadata
from miner.languages.python.recipes.distributions import PACKAGE_NAMES

_FILE = re.compile(
    r"(?:(?:conda|ci|\.ci|requirements|environments?|devtools|continuous_integration|\.github|conda-envs|ci/\w+)/)*"
    r"(?:(?:conda[-_.])?(?:environment|env)(?:[-_.][\w.]+)*|[\w.]*[-_]environment|test_env(?:ironment)?)\.ya?ml$"
)
_OTHERWISE_NAMED = PACKAGE_NAMES["conda"]
"""Distributions by conda's name where they differ; an empty one is none of Python's."""
_SET_UP = re.compile(rb"setup-(?:micro)?(?:mamba|miniconda|miniforge)|(?:conda|mamba)(?:-env| env) (?:create|update)")
_SPEC = re.compile(r"(?:[\w-]+::)?([A-Za-z0-9][\w.-]*?)\s*(?:([=<>!~].*))?$")


def requirement(spec: str) -> str | None:
    """A conda specification as a requirement; None where it is none of a Python distribution.

    A single `=` means a prefix there, so `numpy=1.20` becomes `numpy==1.20.*`; builds (`=py38_0`) are left out.
    """
    match = _SPEC.match(spec.strip().strip("'\""))
    if match is None:
        return None
    name = _OTHERWISE_NAMED.get(match[1].lower(), match[1])
    if not name or name.startswith(("lib", "_")):
        return None
    version = (match[2] or "").replace(" ", "")
    if version.startswith("=") and not version.startswith("=="):
        number = version[1:].split("=")[0].removesuffix(".*").removesuffix("*")
        version = f"=={number}.*" if number else ""
    elif version.startswith("=="):
        version = f"=={version[2:].split('=')[0]}"
    try:
        return str(Requirement(f"{name}{version}"))
    except InvalidRequirement:
        return name if re.fullmatch(r"[A-Za-z0-9][\w.-]*", name) else None


def detect(tree: Tree) -> Evidence | None:
    """The environment file for tests or development, the one most like it by name."""
    paths = sorted((path for path in tree.files() if _FILE.fullmatch(path)), key=_order)
    for path in paths[:5]:
        requirements = _read(tree.read(path) or b"")
        if requirements:
            return Evidence(rung=f"conda:{path}", requirements=requirements)
    return None


def is_used_by(ci: bytes | None) -> bool:
    """Whether a CI file sets its environment up with conda, so that its tests need what the environment file names."""
    return ci is not None and _SET_UP.search(ci) is not None


def _order(path: str) -> tuple[bool, int, int, str]:
    """The plainest name of a kind first: what is added to it narrows what it is for."""
    other = re.search(r"win|osx|mac|doc|min|old|bench|arm|gpu|cuda|all-but|upstream|no-|without", path)
    kind = (0 if "test" in path else 1 if "dev" in path else 2) + path.count("/")
    return other is not None, kind, len(path), path


def _read(data: bytes) -> tuple[str, ...]:
    try:
        document = yamlfile.mapping(yamlfile.load(data))
    except yamlfile.NotReadError:
        return ()
    lines_kept: list[str] = []
    for entry in yamlfile.sequence(document.get("dependencies")):
        if isinstance(entry, str):
            lines_kept += filter(None, [requirement(entry)])
        elif isinstance(entry, dict):
            lines_kept += [line for line in yamlfile.strings(entry.get("pip")) if metadata.requirement(line)]
    return tuple(dict.fromkeys(lines_kept))
