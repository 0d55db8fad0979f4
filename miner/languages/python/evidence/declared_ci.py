"""What CI files say of Python's tests: on which Pythons they run and what is installed first. Read, never run; pure.

Of all jobs that run tests, the one on the most Pythons counts.
"""

from __future__ import annotations

from dataclasses import dataclass

from miner.evidence import ci
from miner.evidence.tree import Evidence, Tree
from miner.languages.python.evidence import poetry, tools
from miner.languages.python.recipes import installs
from miner.languages.python.recipes.interpreter import key

_ENV_KEPT = 40


@dataclass(frozen=True, kw_only=True)
class Declared:
    """What CI says, as far as anything of it is of use here."""

    evidence: Evidence | None = None
    tested: tuple[str, ...] = ()
    """Minor versions of Python, newest first."""
    apt: tuple[str, ...] = ()
    services: tuple[str, ...] = ()
    """Those of the job that runs the tests, by their images."""
    env: tuple[str, ...] = ()
    """`NAME=value`, of the job that runs the tests; nothing that holds a secret or an expression."""
    file: str = ""
    notes: tuple[str, ...] = ()


def read(tree: Tree, project_tree: Tree) -> Declared:
    """What the job that runs the tests installs, and where it runs; `project_tree` is that of the project itself."""
    notes: list[str] = []
    testing = ci.jobs_with_tests(tree, notes)
    if not testing:
        return Declared(notes=tuple(notes))
    path, job = testing[0]
    installed = installs.read(job.commands(tree))
    installed.groups += tools.default_groups(project_tree) if installed.has_default_groups else ()
    for group in installed.groups:
        installed.requirements += poetry.of_group(project_tree, group)
    lost = [file for file in (*installed.files, *installed.constraints) if tree.read(file) is None]
    notes += [f"{path} names {file}, which is not there" for file in dict.fromkeys(lost)]
    pythons = set(job.pythons) or {minor for _, other in testing for minor in other.pythons}
    return Declared(
        evidence=installed.evidence(f"ci:{path}", tree, project_tree),
        tested=tuple(sorted(pythons, key=key, reverse=True)),
        apt=tuple(dict.fromkeys((*job.apt, *installed.apt))),
        services=tuple(dict.fromkeys(service.image or service.name for service in job.services)),
        env=tuple(f"{name}={value}" for name, value in list(job.env.items())[:_ENV_KEPT]),
        file=path,
        notes=tuple(notes),
    )
