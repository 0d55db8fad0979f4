"""Which of the lines that a fix brings run when the FAIL_TO_PASS tests run: one trial with the fix, traced."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from harness.core import test_ids
from harness.core.instance import Budgets, Task, TestStatus
from harness.grading import scoring, trial
from harness.grading.trial import Trial
from harness.judging import values
from harness.patches.patch import Patch
from harness.sandbox.job import PYTHON, Job, Sandbox, SandboxError
from miner.languages import language_of
from miner.quality.strength.pieces import Fix

_READ = """\
import base64, json, os, sys
for path in json.loads(sys.stdin.readline()):
    place = os.path.join("/opt/goldseam/src", path)
    if os.path.isfile(place) and not os.path.islink(place) and os.path.getsize(place) <= 1 << 20:
        print(json.dumps([path, base64.b64encode(open(place, "rb").read()).decode("ascii")]))
"""
_BUDGETS = Budgets(seconds=60.0, memory_mb=256)


@dataclass(frozen=True, kw_only=True)
class Coverage:
    """Changed lines that hold code, and which of them ran."""

    executable: Mapping[str, tuple[int, ...]]
    """By path, in the fixed file."""
    ran: Mapping[str, tuple[int, ...]]

    @property
    def changed(self) -> int:
        return sum(map(len, self.executable.values()))

    def missed(self) -> dict[str, list[int]]:
        """By path: the lines that did not run."""
        missed_lines = {
            path: sorted(set(lines) - set(self.ran.get(path, ()))) for path, lines in self.executable.items()
        }
        return {path: lines for path, lines in missed_lines.items() if lines}


def coverage(task: Task, fix: Fix, gold: Patch, sandbox: Sandbox) -> Coverage | None:
    """Trace the FAIL_TO_PASS tests with the fix; None where there is no line to trace, or the tests fail when traced.

    None, too, where the language does not trace what runs them. A line counts as run, too, where it runs as its file
    is imported. What a test starts in another process is not seen.

    Raises:
        InfrastructureError: the engine failed.

    """
    lines_wanted = {path: lines for path, lines in fix.changed_lines().items() if lines}
    contents = {section.path: section.fixed() or b"" for section in fix.sections if section.path in lines_wanted}
    spec, tests = scoring.trial_spec(task, gold), task.hidden.fail_to_pass
    traced = language_of(spec.test).traced(spec.test, contents, lines_wanted, tests) if lines_wanted else None
    if traced is None:
        return None
    files = test_ids.selectors(tests, task.hidden.test_files)
    spec = replace(spec, files=files, test=traced.test, overlay={**spec.overlay, **traced.overlay})
    return read(trial.run(spec, sandbox), task)


def read(ran: Trial, task: Task) -> Coverage | None:
    """What a traced trial said."""
    passed = all(ran.report.statuses.get(test_id) is TestStatus.PASSED for test_id in task.hidden.fail_to_pass)
    values_told = [event.values[0] for event in ran.report.events if event.values]
    if not passed or not values_told:
        return None
    traced = json.loads(str(values.decode(values_told[-1])))

    def side(name: str) -> dict[str, tuple[int, ...]]:
        return {path: tuple(lines_by_path[name]) for path, lines_by_path in traced.items()}

    return Coverage(executable=side("there"), ran=side("ran"))


def read_files(image: str, paths: Sequence[str], sandbox: Sandbox) -> dict[str, bytes]:
    """The plain files among some paths, up to 1 MiB each.

    Raises:
        MissingImageError: the image is not there.
        SandboxError: the engine failed, or the image's own Python did.

    """
    stdin = json.dumps(list(paths)).encode() + b"\n"  # its end tells the end: the engine leaves the stream open
    job_result = sandbox.run(Job(image=image, argv=(PYTHON, "-I", "-S", "-c", _READ), stdin=stdin, budgets=_BUDGETS))
    if job_result.exit_code or job_result.timed_out or job_result.stdout_overflow:
        error_text = job_result.stderr.decode("utf-8", "replace").strip()[-300:]
        raise SandboxError(f"the tree of {image} could not be read (exit code {job_result.exit_code}): {error_text}")
    lines = (json.loads(line) for line in job_result.stdout.splitlines())
    return {path: base64.b64decode(content) for path, content in lines}
