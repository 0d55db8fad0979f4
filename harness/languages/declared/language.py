"""Runners that goldseam.toml declares, behind the seam of `harness.languages.base`."""

from __future__ import annotations

import base64
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from harness.core.clock import prefix
from harness.core.errors import InputError
from harness.core.instance import Declared as Declaration
from harness.core.instance import TestSpec, TestStatus, is_matched
from harness.core.test_ids import files, readable
from harness.judging.frames import has_shape
from harness.languages import parts
from harness.languages.base import Framework, InnerGrading, Language, Program, Raised, Reason, TestReport
from harness.languages.declared import results
from harness.patches.patch import FilePatch

if TYPE_CHECKING:
    from harness.languages.declared.results import Result

PREFIX = "declared-"
"""Before the format of the results, in the name of a framework."""
TESTS, RESULTS, PROTECTED = "test_code", "results_file", "declared_protected"
"""Why a file of a model's patch does not reach the tests."""
_SHAPES: Mapping[str, Mapping[str, tuple[type, ...]]] = {
    "unbuilt": {"command": (str,), "code": (int,), "text": (str,)},
    "run": {"file": (str,), "code": (int,), "text": (str,)},
    "results": {"path": (str,), "data": (str,), "first": (bool,)},
    "lost": {"path": (str,), "why": (str,)},
    "finish": {"code": (int,)},
}
_WORST = tuple(map(TestStatus, ("PASSED", "SKIPPED", "ERROR", "FAILED")))
_ROOT = "/testbed/"


@dataclass(kw_only=True)
class _Call:
    """One call of the test command, and what it left."""

    file: str
    """The one file that it was given; empty where it was given all."""
    code: int
    text: str
    left: dict[str, bytearray] = field(default_factory=dict)
    """Its results files by path."""
    lost: dict[str, str] = field(default_factory=dict)
    """Why a results file could not be taken out of the container."""


@dataclass(frozen=True)
class Format:
    """A format of results files."""

    form: str
    """Its reader in `results.FORMATS`."""

    def read(self, frames: Sequence[Mapping[str, Any]]) -> TestReport:
        """Per-test results; of a run that contradicts itself, or whose files can't be read, none count.

        Of several results under one id the worst counts.
        """
        runs = _runs(frames)
        if runs is None:
            return TestReport(violations=("a frame that the runner's driver does not write",))
        by_id: dict[str, Result] = {}
        errors: dict[str, str] = {}
        for run in runs:
            try:
                pairs = self._results(run)
            except results.UnreadableError as error:
                errors[run.file or _EVERYTHING] = f"{error}\n{run.text}".strip()
                continue
            for test_id, result in pairs:
                before = by_id.get(test_id)
                if before is None or _WORST.index(result.status) > _WORST.index(before.status):
                    by_id[test_id] = result
        for frame in frames:
            if frame["t"] == "unbuilt":
                text = f"{frame['text']}\n`{frame['command']}` ended with exit code {frame['code']}"
                errors[_EVERYTHING] = text.strip()
        code = next((frame["code"] for frame in frames if frame["t"] == "finish"), None)
        return TestReport(
            statuses={test_id: result.status for test_id, result in by_id.items()},
            seconds={test_id: result.seconds for test_id, result in by_id.items()},
            texts={test_id: readable(result.text) for test_id, result in by_id.items() if result.text},
            collected=tuple(by_id),
            collect_errors={readable(path): readable(text) for path, text in errors.items()},
            collect_raised={_EVERYTHING: _NOT_BUILT} if any(frame["t"] == "unbuilt" for frame in frames) else {},
            internal_error=f"the driver ended with exit code {code}" if code else "",
            finished=code is not None,
            exit_code=code,
        )

    def _results(self, run: _Call) -> list[tuple[str, Result]]:
        """The results of a run by test id."""
        for path, why in run.lost.items():
            raise results.UnreadableError(f"{path}: {why}")
        if not run.left:
            raise results.UnreadableError(f"the test command ended with exit code {run.code} and left no results")
        pairs: list[tuple[str, Result]] = []
        for path, data in run.left.items():
            try:
                pairs += ((_id(run.file, result), result) for result in results.read(self.form, bytes(data)))
            except results.UnreadableError as error:
                raise results.UnreadableError(f"{path}: {error}") from error
        if run.code and not any(result.status in _WORST[2:] for _, result in pairs):
            raise results.UnreadableError(
                f"the test command ended with exit code {run.code}, and its results tell of no failure"
            )
        return pairs


_EVERYTHING = "."
"""The path under which all tests are lost."""
_NOT_BUILT = (Raised(names=("CompileError",)),)


def _runs(frames: Sequence[Mapping[str, Any]]) -> list[_Call] | None:
    """The runs that frames tell of; None where they are not the driver's."""
    runs: list[_Call] = []
    for frame in frames:
        if not has_shape(frame, _SHAPES):
            return None
        if frame["t"] == "run":
            runs.append(_Call(file=frame["file"], code=frame["code"], text=frame["text"]))
        elif frame["t"] in {"results", "lost"} and not runs:
            return None
        elif frame["t"] == "lost":
            runs[-1].lost[frame["path"]] = frame["why"]
        elif frame["t"] == "results":
            left = runs[-1].left
            if frame["first"] is (frame["path"] in left):
                return None
            try:
                left.setdefault(frame["path"], bytearray()).extend(base64.b64decode(frame["data"], validate=True))
            except ValueError:
                return None
    return runs


def _id(file: str, result: Result) -> str:
    """A test's id: its file, where one is known, and its names."""
    path = file or result.file.removeprefix(_ROOT).removeprefix("./")
    is_within = bool(path) and not path.startswith("/") and ".." not in path.split("/") and "::" not in path
    return readable("::".join((*((path,) if is_within else ()), *result.names)))


def _declaration(test: TestSpec) -> Declaration:
    """What the task declares.

    Raises:
        InputError: nothing.

    """
    if test.declared is None:
        raise InputError(
            f"the framework {test.framework} needs `test.declared`, which this task does not have",
            hint="docs/formats.md has its fields; mine the task again, or restore its task.yaml",
        )
    return test.declared


class Declared(Language):
    """Tests of any language, started by a command and read from the files that it leaves."""

    name = "declared"
    frameworks: Mapping[str, Framework] = {f"{PREFIX}{form}": Format(form) for form in results.FORMATS}
    allowable = frozenset({PROTECTED})

    def program(self, test: TestSpec, requests: Mapping[str, Any]) -> Program:
        """The driver, as a program of its own. The order of tests is the runner's."""
        declared = _declaration(test)
        request = {
            "build": declared.build,
            "test": declared.command,
            "results": declared.results,
            "each": declared.is_each,
            "takes_files": declared.takes_files,
        }
        env = {"CI": "1", "NO_COLOR": "1", "HOME": "/tmp"}  # noqa: S108 - inside the container
        return parts.driver(parts.part("door.py", "declared"), request, requests, ("vary", "clock"), env)

    def screen(self, test: TestSpec, hidden_paths: Collection[str]) -> Reason:
        """The declaration's tests, results and whatever else it protects."""
        declared = _declaration(test)

        def reason(_file: FilePatch, path: str) -> str | None:
            if is_matched(path, (f"/{declared.results}",)):
                return RESULTS
            if is_matched(path, declared.tests):
                return TESTS
            return PROTECTED if is_matched(path, declared.protected) else None

        return reason

    def by_hand(self, test: TestSpec, paths: Sequence[str]) -> tuple[str, ...]:
        """The declared commands, one after the other."""
        declared = _declaration(test)
        command = declared.command
        if declared.is_each:
            command = f'for file; do set -- "$file"; {command} || code=1; done; exit ${{code:-0}}'
        script = "\n".join(("set -e", *declared.build, "set +e", command))
        return (*prefix(test.clock), *parts.with_env(test.env, "sh", "-c", script, "sh", *files(paths)))

    def graded(self, test: TestSpec) -> InnerGrading:
        """None.

        Raises:
            InputError: always, as it is the host that reads results.

        """
        raise InputError(
            f"tests of {test.framework} are read by goldseam's host, and no grader inside another tool's container can",
            hint="leave these tasks out: name the others with -i; or export the public side alone",
        )


DECLARED = Declared()
