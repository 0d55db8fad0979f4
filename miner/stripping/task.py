"""A proved task's expectations, by running its tests on its image."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import TYPE_CHECKING

from harness import scoring, trial
from harness.evaluate import screen
from harness.judging.expectations import Expectations
from miner.proof.variations import variation
from miner.stripping import guessing
from miner.stripping.recording import Recorded, record

if TYPE_CHECKING:
    from collections.abc import Mapping

    from harness.frameworks.base import TestReport
    from harness.instance import Task
    from harness.sandbox.base import Sandbox


def of_task(task: Task, sources: Mapping[str, bytes], sandbox: Sandbox) -> Recorded:
    """What a task's hidden tests expect, recorded and proved with its own fix; empty where nothing can be kept outside.

    `sources` are its hidden test files by path, as the tests' patch leaves them.

    Raises:
        InfrastructureError: the engine failed.

    """
    plain = replace(task, hidden=replace(task.hidden, expectations=Expectations()))
    fix = screen(task, task.hidden.gold_patch).kept
    outside = {*task.instance.test.modules, *sys.stdlib_module_names}

    def run(files: Mapping[str, bytes], *, gold: bool, number: int = 0) -> TestReport:
        varied = replace(variation(number), order=None)
        spec = scoring.trial_spec(plain, fix if gold else None)
        spec = replace(spec, overlay=files, env={**spec.env, **varied.env()}, cpu_count=varied.cpu_count)
        return trial.run(spec, sandbox).report

    return record(
        sources,
        fail_to_pass=task.hidden.fail_to_pass,
        pass_to_pass=task.hidden.pass_to_pass,
        product=lambda module: module not in outside,
        run=run,
    )


def guess(task: Task, recorded: Recorded) -> guessing.Guess:
    """How hard a task's expectations are to guess for whoever knows its statement, its base and its stripped tests."""
    lines = task.hidden.gold_patch.decode("utf-8", "replace").splitlines()
    base = [line[1:] for line in lines if line[:1] in (" ", "-") and not line.startswith("---")]
    known = "\n".join((task.instance.problem_statement, *base))
    return guessing.guess(recorded.expectations, recorded.before, task.hidden.fail_to_pass, known)
