"""What CI files say of tests: on which Pythons they run, what is installed first, and for all languages their services.

Read, never run; pure.

GitHub Actions, GitLab CI, Travis, CircleCI, Azure Pipelines, AppVeyor. Of all jobs that run tests, the one on the most
Pythons counts. Sources of the forms: the services' own documentation of their configuration files.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from miner.evidence import ci_jobs, yamlfile
from miner.evidence.tree import Evidence, Tree
from miner.languages.python.evidence import extras, poetry
from miner.languages.python.evidence.metadata import pyproject, table
from miner.languages.python.recipes import installs
from miner.languages.python.recipes.interpreter import key

if TYPE_CHECKING:
    from miner.evidence.ci_jobs import CiJob
    from miner.evidence.ci_services import DeclaredService

_SERVICES: tuple[tuple[re.Pattern[str], Callable[[Any], list[CiJob]]], ...] = (
    (re.compile(r"\.github/workflows/[^/]+\.ya?ml$"), ci_jobs.github),
    (re.compile(r"\.gitlab-ci\.ya?ml$"), ci_jobs.gitlab),
    (re.compile(r"\.circleci/config\.ya?ml$"), ci_jobs.circle),
    (re.compile(r"(?:\.?azure-pipelines[\w.-]*|\.azure[\w-]*/[\w.-]+|ci/azure[\w./-]*)\.ya?ml$"), ci_jobs.azure),
    (re.compile(r"\.travis\.ya?ml$"), ci_jobs.travis),
    (re.compile(r"\.?appveyor\.ya?ml$"), ci_jobs.whole),
)  # fmt: skip
"""Path and reader, those of today first. A job of a later service counts where no earlier one runs tests."""
_OF_BUILDS = re.compile(
    r"(?:CARGO|RUST|RUSTC|CGO|NPM|YARN|PNPM|COREPACK|NVM|MAVEN|MVN|GRADLE|JAVA|JDK)(?:_|$)|RUST\w*FLAGS$"
    r"|GO(?:111MODULE|ARCH|BIN|CACHE|FLAGS|OS|PATH|PRIVATE|PROXY|NOPROXY|NOSUMDB|ROOT|SUMDB|TOOLCHAIN|_VERSION)$"
    r"|NODE_(?:VERSION|OPTIONS|PATH|AUTH_TOKEN)$"
)
"""Variables by which other languages are built, which is done without CI's."""
_FILES_READ = 40
_ENV_KEPT = 40


@dataclass(frozen=True, kw_only=True)
class Declared:
    """What CI says, as far as anything of it is of use here."""

    evidence: Evidence | None = None
    tested: tuple[str, ...] = ()
    """Minor versions of Python, newest first."""
    apt: tuple[str, ...] = ()
    beside: tuple[DeclaredService, ...] = ()
    """The services of the job that runs the tests."""
    env: tuple[str, ...] = ()
    """`NAME=value`, of the job that runs the tests; nothing that holds a secret or an expression."""
    variables: Mapping[str, str] = field(default_factory=dict)
    """What of these, and of what goes with its services, tests may be given."""
    file: str = ""
    notes: tuple[str, ...] = field(default=())

    @property
    def services(self) -> tuple[str, ...]:
        """By their images."""
        return tuple(dict.fromkeys(service.image or service.name for service in self.beside))


def read(tree: Tree, project_tree: Tree) -> Declared:
    """What the job that runs the tests installs, and where it runs; `project_tree` is that of the project itself."""
    notes: list[str] = []
    testing = _testing(tree, notes)
    if not testing:
        return replace(_elsewhere(tree), notes=tuple(notes))
    path, chosen = testing[0]
    return _declared(tree, project_tree, path, chosen, [job for _, job in testing], notes)


def _elsewhere(tree: Tree) -> Declared:
    """What goes with the tests of JavaScript, Go, Java or Rust: services and variables, not how they are built."""
    testing = _testing(tree, [], ci_jobs.is_test_run_elsewhere)
    if not testing:
        return Declared()
    job = testing[0][1]
    variables = {name: text for name, text in job.variables.items() if not _OF_BUILDS.match(name)}
    return Declared(beside=job.services, variables=dict(list(variables.items())[:_ENV_KEPT]))


def test_commands(tree: Tree) -> Iterator[tuple[str, list[tuple[str, ...]]]]:
    """By file: the commands of each job that runs tests, of the newest service that has one; the main job first."""
    for path, job in _testing(tree, []):
        yield path, job.commands(tree)


def _testing(
    tree: Tree, notes: list[str], is_run: Callable[[tuple[str, ...]], bool] = ci_jobs.is_test_run
) -> list[tuple[str, CiJob]]:
    """The jobs that run tests, of the newest service that has one, each with its file; the main job first.

    Files that can't be read are told in `notes`.
    """
    for pattern, reader in _SERVICES:
        testing: list[tuple[str, CiJob]] = []
        for path in [path for path in tree.files() if pattern.match(path)][:_FILES_READ]:
            try:
                jobs = reader(yamlfile.load(tree.read(path) or b""))
            except yamlfile.NotReadError as error:
                notes.append(f"{path} can't be read: {error}")
            else:
                testing += [(path, job) for job in jobs if job.runs_tests(tree, is_run)]
        if testing:
            return sorted(testing, key=lambda pair: pair[1].weight(pair[0]), reverse=True)
    return []


def _declared(
    tree: Tree, project_tree: Tree, path: str, job: CiJob, testing: Iterable[CiJob], notes: list[str]
) -> Declared:
    installed = installs.read(job.commands(tree))
    groups = tuple(table(pyproject(project_tree), "dependency-groups"))
    extra_names = extras.declared(project_tree)
    evidence = Evidence(
        rung=f"ci:{path}",
        requirements=tuple(
            dict.fromkeys(
                [
                    *installed.requirements,
                    *(
                        requirement
                        for group in installed.groups
                        for requirement in poetry.of_group(project_tree, group)
                    ),
                ]
            )
        ),
        files=tuple(dict.fromkeys(file for file in installed.files if tree.read(file) is not None)),
        constraints=tuple(dict.fromkeys(file for file in installed.constraints if tree.read(file) is not None)),
        extras=tuple(dict.fromkeys(extra for extra in installed.extras if not extra_names or extra in extra_names)),
        groups=tuple(dict.fromkeys(group for group in installed.groups if group in groups)),
    )
    lost = [file for file in (*installed.files, *installed.constraints) if tree.read(file) is None]
    notes += [f"{path} names {file}, which is not there" for file in dict.fromkeys(lost)]
    pythons = set(job.pythons) or {minor for other in testing for minor in other.pythons}
    empty = not (evidence.requirements or evidence.files or evidence.extras or evidence.groups)
    return Declared(
        evidence=None if empty else evidence,
        tested=tuple(sorted(pythons, key=key, reverse=True)),
        apt=tuple(dict.fromkeys((*job.apt, *installed.apt))),
        beside=job.services,
        env=tuple(f"{name}={value}" for name, value in list(job.env.items())[:_ENV_KEPT]),
        variables=dict(list(job.variables.items())[:_ENV_KEPT]),
        file=path,
        notes=tuple(notes),
    )
