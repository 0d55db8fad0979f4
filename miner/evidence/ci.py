"""Which jobs of CI run tests, and what goes with them in any language: services and variables. Read only; pure.

GitHub Actions, GitLab CI, Travis, CircleCI, Azure Pipelines, AppVeyor. Sources of the forms: the services' own
documentation of their configuration files.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from miner.evidence import ci_jobs, yamlfile
from miner.evidence.ci_jobs import CiJob
from miner.evidence.ci_services import DeclaredService
from miner.evidence.tree import Tree

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
_KEPT = 40


@dataclass(frozen=True, kw_only=True)
class CiTests:
    """What CI gives the tests that it runs."""

    beside: tuple[DeclaredService, ...] = ()
    """The services of the job that runs them."""
    variables: Mapping[str, str] = field(default_factory=dict)
    """Of that job and of what goes with its services; nothing that holds a secret or an expression."""


def read(tree: Tree) -> CiTests:
    """What goes with Python's tests; where CI runs none, with those of JavaScript, Go, Java or Rust.

    Of the latter only what has no part in how they are built.
    """
    python = jobs_with_tests(tree, [])
    jobs = python or jobs_with_tests(tree, [], ci_jobs.is_test_run_elsewhere)
    if not jobs:
        return CiTests()
    job = jobs[0][1]
    variables = ((name, text) for name, text in job.variables.items() if python or not _OF_BUILDS.match(name))
    return CiTests(beside=job.services, variables=dict(islice(variables, _KEPT)))


def jobs_with_tests(
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
