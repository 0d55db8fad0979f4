"""Which of the lines that a fix brings run when the FAIL_TO_PASS tests run: one trial with the fix, traced."""

from __future__ import annotations

import functools
import json
from dataclasses import dataclass, replace
from importlib import resources
from typing import TYPE_CHECKING

from harness.core import test_ids
from harness.core.instance import TestStatus
from harness.grading import scoring, trial
from harness.judging import values
from harness.languages.python.frameworks import framework
from miner.quality.strength import code

if TYPE_CHECKING:
    from collections.abc import Mapping

    from harness.core.instance import Task
    from harness.grading.trial import Trial
    from harness.patches.patch import Patch
    from harness.sandbox.job import Sandbox
    from miner.quality.strength.pieces import Fix

PLUGIN = "_goldseam_lines"
"""Module of the tracer, at the root of the work tree."""


@dataclass(frozen=True, kw_only=True)
class Coverage:
    """Changed lines that hold code, and which of them ran."""

    there: Mapping[str, tuple[int, ...]]
    """By path, in the fixed file."""
    ran: Mapping[str, tuple[int, ...]]

    @property
    def changed(self) -> int:
        return sum(map(len, self.there.values()))

    @property
    def covered(self) -> int:
        return sum(map(len, self.ran.values()))

    def missed(self) -> dict[str, list[int]]:
        """By path: the lines that did not run."""
        missed_lines = {path: sorted(set(lines) - set(self.ran.get(path, ()))) for path, lines in self.there.items()}
        return {path: lines for path, lines in missed_lines.items() if lines}


def coverage(task: Task, fix: Fix, gold: Patch, sandbox: Sandbox) -> Coverage | None:
    """Trace the FAIL_TO_PASS tests with the fix; None where there is no line to trace, or the tests fail when traced.

    None, too, where pytest does not run them. A line counts as run, too, where it runs as its file is imported. What a
    test starts in another process is not seen.

    Raises:
        InfrastructureError: the engine failed.

    """
    lines_wanted = {path: lines for path, lines in fix.changed_lines().items() if lines}
    if not lines_wanted or framework(task.instance.test.framework).suites:
        return None  # the tracer is a plugin of pytest
    return read(trial.run(_spec(task, lines_wanted, gold), sandbox), task, fix)


def read(ran: Trial, task: Task, fix: Fix) -> Coverage | None:
    """What a traced trial said."""
    passed = all(ran.report.statuses.get(test_id) is TestStatus.PASSED for test_id in task.hidden.fail_to_pass)
    values_told = [event.values[0] for event in ran.report.events if event.values]
    if not passed or not values_told:
        return None
    silent = {
        section.path: code.silent_lines(content)
        for section in fix.sections
        if section.is_python and (content := section.fixed()) is not None
    }
    traced = json.loads(str(values.decode(values_told[-1])))

    def side(name: str) -> dict[str, tuple[int, ...]]:
        return {
            path: tuple(line for line in lines_by_path[name] if line not in silent[path])
            for path, lines_by_path in traced.items()
        }

    return Coverage(there=side("there"), ran=side("ran"))


@functools.cache
def _tracer() -> bytes:
    return resources.files("harness.languages.python.inside").joinpath("tracer.py").read_bytes()


def _spec(task: Task, lines_wanted: Mapping[str, tuple[int, ...]], gold: Patch) -> trial.TrialSpec:
    tests = task.hidden.fail_to_pass
    text = f"WANTED = {lines_wanted!a}\nTESTS = {tests!a}\n"
    spec = scoring.trial_spec(task, gold)
    test = replace(spec.test, plugins=(*spec.test.plugins, PLUGIN), pythonpath=(*spec.test.pythonpath, "."))
    overlay = {f"{PLUGIN}.py": text.encode() + _tracer()}
    return replace(spec, files=test_ids.selectors(tests, task.hidden.test_files), test=test, overlay=overlay)
