"""The labelled patches through the real `evaluate`, into a run folder, and the confusion matrix that comes of it."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from harness.grading.failures import FailureClass
from harness.grading.scoring import Demands
from harness.runs import evaluate
from harness.sandbox.executors.local import LocalExecutor
from tests import tiny
from tests.labelled.labels import PROJECTS, labels
from tests.silent import Silent

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from harness.dataset.folder import Dataset
    from harness.runs.run_folder import InstanceReport
    from harness.sandbox.job import Sandbox
    from tests.labelled.labels import Label


@dataclass(frozen=True, kw_only=True)
class Labelled:
    """A patch, the class that a person gave it, and what `evaluate` says."""

    label: Label
    report: InstanceReport

    @property
    def agrees(self) -> bool:
        return self.report.failure_class == self.label.label

    @property
    def row(self) -> str:
        report = self.report
        told = f"{report.outcome}: {report.reason[:160]}"
        return f"{self.label.id}: {self.label.label} read, {report.failure_class} found ({told})"


def dataset(sandbox: Sandbox, folder: Path) -> Dataset:
    """The labelled projects' tasks as a dataset."""
    tasks = [task for project in PROJECTS.values() for task in project.tasks(sandbox, folder).values()]
    return tiny.dataset(folder / "dataset", *tasks)


def run(opened: Dataset, out: Path, sandbox: Sandbox, chosen: Iterable[Label], *, jobs: int = 2) -> list[Labelled]:
    """Score labelled patches into a run folder."""
    chosen = tuple(chosen)
    given = {label.id: label.prediction(PROJECTS[label.project]) for label in chosen}
    for seconds in dict.fromkeys(label.seconds for label in chosen):
        evaluate.run(
            opened,
            [given[label.id] for label in chosen if label.seconds == seconds],
            out,
            sandbox=sandbox,
            executor=LocalExecutor(jobs=jobs),
            settings=evaluate.Settings(demands=Demands(timeout=seconds)),
            observer=Silent(),
            append=True,
        )
    folder = evaluate.RunFolder(path=out)
    found = {label.id: folder.read(given[label.id]) for label in chosen}
    return [Labelled(label=label, report=report) for label in chosen if (report := found[label.id]) is not None]


def matrix(found: Iterable[Labelled]) -> Counter[tuple[str, str]]:
    """How often each class was read and found."""
    return Counter((one.label.label.value, str(one.report.failure_class)) for one in found)


def table(counts: Counter[tuple[str, str]]) -> str:
    """The confusion matrix in Markdown: a row a class read, a column a class found; 0 is left blank."""
    names = [name.value for name in FailureClass if any(name.value in pair for pair in counts)]
    head = "| read \\ found | " + " | ".join(str(number) for number in range(1, len(names) + 1)) + " | all |"
    rows = [
        f"| {number} `{read}` | "
        + " | ".join(str(counts[read, found] or "") for found in names)
        + f" | {sum(counts[read, found] for found in names)} |"
        for number, read in enumerate(names, start=1)
    ]
    return "\n".join([head, "|---|" + "---|" * (len(names) + 1), *rows]) + "\n"


__all__ = ["Labelled", "dataset", "labels", "matrix", "run", "table"]
