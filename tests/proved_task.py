"""Tasks of small projects, mined or made on the image of another as mining does it, and runs of their tests."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from harness.core.instance import Budgets, Hidden, Outcome, Task, TestSpec, TestStatus
from harness.dataset.folder import open_dataset
from harness.grading import scoring, trial
from harness.languages.screening import screen_task
from miner.languages import language_of
from miner.stripping import task as stripping
from tests import tiny

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping
    from pathlib import Path

    from harness.languages.base import TestReport
    from harness.patches.patch import Patch
    from harness.sandbox.docker import DockerSandbox
    from tests.repos import Repository

FAILING = (Outcome.UNRESOLVED, Outcome.TAMPERED)
"""Outcomes of a wrong patch that was tried: a machine that failed says nothing of it."""


def mined(folder: Path, repo: Repository, fix: str, **variables: str) -> Task:
    """The one task that a commit gives."""
    words = ("--name", "acme/money", "--commit", fix, "--runs", "1")
    done = tiny.goldseam("mine", repo.path, "-o", folder / "dataset", *words, env=variables)
    assert done.returncode == 0, done.error_text
    [place] = (folder / "dataset/tasks").iterdir()
    return open_dataset(folder / "dataset").task(place.name)


def rebuilt(folder: Path) -> dict[str, str]:
    """The paths that differ in the image of the task that was mined in a folder, once it is built again."""
    done = tiny.goldseam("images", "rebuild", folder / "dataset", "--builder", "plain", "--json")
    assert done.stdout, done.error_text
    [told] = json.loads(done.stdout)["rebuilt"]
    return dict(told["differing"])


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
    products: dict[str, tuple[str, str]],
    tests: dict[str, str],
    *,
    beside: Mapping[str, str] | None = None,
    lent: Mapping[str, str] | None = None,
    test: TestSpec | None = None,
    seconds: float,
    hold: Collection[str] | None = None,
) -> Task:
    """The task of these test files and what is new `beside` them; `products` are files as they are, and as fixed.

    `test` says how its tests are run, as those of `task` by default. Its runs may take so many `seconds`. What the fix
    turns is told by a run without it and one with it; where it is known that tests of these names alone `hold` without
    it, by the latter alone. `lent` are modules of the tree that the tests import assertions from.
    """
    hidden_texts = {**tests, **(beside or {})}
    plain = replace(
        task,
        instance=replace(task.instance, test=test or task.instance.test, budgets=Budgets(seconds=seconds)),
        hidden=Hidden(
            gold_patch="".join(tiny.diff(path, *texts) for path, texts in products.items()).encode(),
            test_patch="".join(tiny.diff(path, None, text) for path, text in hidden_texts.items()).encode(),
            fail_to_pass=(),
            pass_to_pass=(),
            test_files=tuple(tests),
        ),
    )
    after = _passed(plain, screen_task(plain, plain.hidden.gold_patch).kept, sandbox)
    if hold is None:
        before = set(_passed(plain, None, sandbox))
    else:
        before = {name for name in after if name.endswith(tuple(hold))}
    hidden = replace(
        plain.hidden,
        fail_to_pass=tuple(name for name in after if name not in before),
        pass_to_pass=tuple(name for name in after if name in before),
    )
    base = {path: texts[0].encode() for path, texts in products.items()}
    sources = {path: text.encode() for path, text in hidden_texts.items()}
    if lent is not None:
        contents = {**sources, **{path: text.encode() for path, text in lent.items()}}

        def read(paths: Iterable[str]) -> dict[str, bytes]:
            return {path: contents[path] for path in paths if path in contents}

        sources |= language_of(plain.instance.test).test_sources([*hidden_texts], read, lent.__contains__)
    return stripping.stripped(replace(plain, hidden=hidden), sources, base, sandbox)


def _passed(task: Task, patch: Patch | None, sandbox: DockerSandbox) -> list[str]:
    statuses = trial.run(scoring.trial_spec(task, patch), sandbox).report.statuses
    return sorted(name for name, status in statuses.items() if status is TestStatus.PASSED)
