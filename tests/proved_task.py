"""A task on the image of another, proved and stripped as mining does it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from harness.core.instance import Budgets, Hidden, Task, TestSpec
from miner.proof import Notebook, Proof, Subject, validate
from miner.stripping import task as stripping
from tests import tiny

if TYPE_CHECKING:
    from pathlib import Path

    from harness.sandbox.docker import DockerSandbox


def proved(
    task: Task,
    sandbox: DockerSandbox,
    folder: Path,
    products: dict[str, tuple[str, str]],
    tests: dict[str, str],
    *,
    test: TestSpec | None = None,
    seconds: float,
) -> Task:
    """The task of these test files; `products` are files as they are, and as the fix leaves them.

    `test` says how its tests are run, as those of `task` by default. Its runs may take so many `seconds`.
    """
    subject = Subject(
        instance_id="judged",
        image=task.instance.image,
        test=test or task.instance.test,
        test_files=tuple(tests),
        gold_patch="".join(tiny.diff(path, *texts) for path, texts in products.items()).encode(),
        test_patch="".join(tiny.diff(path, None, text) for path, text in tests.items()).encode(),
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
    return stripping.stripped(plain, {path: text.encode() for path, text in tests.items()}, before, sandbox)
