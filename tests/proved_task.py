"""Tasks of small projects, mined or made on the image of another as mining does it, and runs of their tests."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from harness.core.instance import Budgets, Hidden, Task, TestSpec
from harness.dataset.folder import open_dataset
from harness.grading import trial
from miner.proof import Notebook, Proof, Subject, validate
from miner.stripping import task as stripping
from tests import tiny

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from harness.languages.base import TestReport
    from harness.sandbox.docker import DockerSandbox
    from tests.repos import Repository


def mined(folder: Path, repo: Repository, fix: str, **variables: str) -> Task:
    """The one task that a commit gives."""
    words = ("--name", "acme/money", "--commit", fix, "--runs", "1")
    done = tiny.goldseam("mine", repo.path, "-o", folder / "dataset", *words, env=variables)
    assert done.returncode == 0, done.error_text + done.stdout
    [place] = (folder / "dataset/tasks").iterdir()
    return open_dataset(folder / "dataset").task(place.name)


def run(task: Task, sandbox: DockerSandbox, *files: str, **around: Any) -> TestReport:
    """What test files come to on the task's image."""
    budgets = Budgets(seconds=120.0)
    spec = trial.TrialSpec(image=task.instance.image, test=task.instance.test, files=files, budgets=budgets, **around)
    return trial.run(spec, sandbox).report


def statuses(report: TestReport, path: str) -> dict[str, str]:
    """By name, those of the tests of one file."""
    return {
        test_id.removeprefix(f"{path}::"): str(status)
        for test_id, status in report.statuses.items()
        if test_id.startswith(path)
    }


def proved(
    task: Task,
    sandbox: DockerSandbox,
    folder: Path,
    products: dict[str, tuple[str, str]],
    tests: dict[str, str],
    *,
    beside: Mapping[str, str] | None = None,
    test: TestSpec | None = None,
    seconds: float,
) -> Task:
    """The task of these test files and what is new `beside` them; `products` are files as they are, and as fixed.

    `test` says how its tests are run, as those of `task` by default. Its runs may take so many `seconds`.
    """
    hidden_texts = {**tests, **(beside or {})}
    subject = Subject(
        instance_id="judged",
        image=task.instance.image,
        test=test or task.instance.test,
        test_files=tuple(tests),
        gold_patch="".join(tiny.diff(path, *texts) for path, texts in products.items()).encode(),
        test_patch="".join(tiny.diff(path, None, text) for path, text in hidden_texts.items()).encode(),
    )
    notebook = Notebook(folder / "runs.jsonl", subject)
    proof = validate(subject, sandbox, runs=1, notebook=notebook, progress=lambda _text: None)
    assert isinstance(proof, Proof), proof
    hidden = Hidden(
        gold_patch=subject.gold_patch,
        test_patch=subject.test_patch,
        fail_to_pass=proof.fail_to_pass,
        pass_to_pass=proof.pass_to_pass,
        test_files=subject.test_files,
    )
    plain = replace(
        task, instance=replace(task.instance, test=subject.test, budgets=Budgets(seconds=seconds)), hidden=hidden
    )
    before = {path: texts[0].encode() for path, texts in products.items()}
    return stripping.stripped(plain, {path: text.encode() for path, text in hidden_texts.items()}, before, sandbox)
