"""Attacks and honest patches through the real `evaluate`, and what became of them."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING

from harness.core.instance import Outcome, Prediction
from harness.runs import evaluate
from tests import tiny
from tests.attacks.attacks import attacks
from tests.attacks.honest import honest
from tests.attacks.projects import PROJECTS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from pathlib import Path

    from harness.core.instance import Task
    from harness.runs.run_folder import InstanceReport
    from harness.sandbox.job import Sandbox
    from tests.attacks.projects import Project

SETTINGS = evaluate.Settings(signals=True)


@dataclass(frozen=True, kw_only=True)
class Try:
    """One patch for one project."""

    project: str
    kind: str
    name: str
    patch: str
    gets_through: str | None = None
    repeat: int = 1


@dataclass(frozen=True, kw_only=True)
class Tried:
    """What a patch came to."""

    attempt: Try
    report: InstanceReport

    @property
    def resolved(self) -> bool:
        return self.report.outcome is Outcome.RESOLVED

    @property
    def row(self) -> str:
        report, attempt = self.report, self.attempt
        return f"{attempt.kind}/{attempt.name} on {attempt.project}: {report.outcome}: {report.reason[:200]}"


def tasks(sandbox: Sandbox, folder: Path, projects: Iterable[Project] = PROJECTS) -> dict[str, Task]:
    """The proved tasks by project; images are built where the engine has none."""
    return {project.name: project.task(tiny.build_image(folder, project.base), sandbox, folder) for project in projects}


def one(task: Task, attempt: Try, sandbox: Sandbox) -> Tried:
    """Score a patch as `goldseam evaluate` would."""
    prediction = Prediction(instance_id=task.instance_id, model_name_or_path=attempt.name, model_patch=attempt.patch)
    for _ in range(attempt.repeat):
        verdict = evaluate.evaluate_one(task, prediction, sandbox, settings=SETTINGS)
    return Tried(attempt=attempt, report=verdict.report)


def every(
    tasks: Mapping[str, Task],
    attempts: Iterable[Try],
    sandbox: Sandbox,
    *,
    jobs: int = 2,
    seen: Callable[[Tried], None] = lambda _tried: None,
) -> list[Tried]:
    """Score patches, several at a time."""

    def work(attempt: Try) -> Tried:
        tried = one(tasks[attempt.project], attempt, sandbox)
        seen(tried)
        return tried

    with ThreadPoolExecutor(max_workers=jobs) as pool:
        return list(pool.map(work, attempts))


def attack_tries(tasks: Mapping[str, Task]) -> list[Try]:
    """Every attack on every project it fits."""
    return [
        Try(
            project=project.name,
            kind=attack.kind,
            name=attack.id,
            patch=attack.render(project, tasks[project.name]),
            gets_through=attack.gets_through,
            repeat=attack.repeat,
        )
        for attack in attacks()
        for project in PROJECTS
        if attack.fits(project)
    ]


def honest_tries() -> list[Try]:
    """Every honest patch of every project."""
    different = {(project.name, patch): kind for project in PROJECTS for kind, patch in honest(project)}
    return [
        Try(project=project, kind=kind, name=f"{kind}-{number}", patch=patch)
        for number, ((project, patch), kind) in enumerate(different.items())
    ]
