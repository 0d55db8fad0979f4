"""mini-swe-agent as it is, on our sandbox and our model.

It runs in an environment of its own and talks with us in lines of JSON. Installed beside goldseam it would put back
the `openai` package by a major version and bring 500 MB of packages that it does not need here; so it is no extra.
Source: https://github.com/SWE-agent/mini-swe-agent, `agents/default.py` and `config/benchmarks/swebench.yaml`.
"""

from __future__ import annotations

import functools
import json
import os
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from importlib import resources
from pathlib import Path
from typing import Any

from harness.core import process
from harness.core.errors import InfrastructureError, InputError
from harness.core.process import Dialogue
from harness.patches import patch
from harness.sandbox.session import WorkspaceLostError
from harness.solve.agents.ending import CONTEXT, ending, lost
from harness.solve.base import (
    Agent,
    Attempt,
    Fault,
    LimitReachedError,
    Message,
    Model,
    ModelError,
    Reply,
    SolveJob,
    Workspace,
)
from harness.solve.models import openai_schema

PYTHON_VARIABLE = "GOLDSEAM_MINI_PYTHON"
"""Names the interpreter of the environment that mini-swe-agent is installed in."""
_DISTRIBUTION = "mini-swe-agent"
_PROGRAM = "mini"
_MAX_OUTPUT = 1024 * 1024
_ASK = f"import importlib.metadata as m; print(m.version({_DISTRIBUTION!r}))"
_LEAST = (2, 0)


@dataclass(frozen=True, kw_only=True)
class Installed:
    """An interpreter with mini-swe-agent, and which one."""

    python: Path
    version: str


@functools.cache
def find() -> Installed:
    """Where mini-swe-agent is: what the variable names, this environment, or that of the program `mini` on PATH.

    Raises:
        InputError: nowhere, or one that is too old.

    """
    for python in _candidates():
        completed = process.run([python, "-I", "-c", _ASK], check=False)
        if completed.returncode == 0:
            version = completed.stdout.decode().strip()
            if tuple(int(part) for part in version.split(".")[:2]) < _LEAST:
                raise InputError(f"{_DISTRIBUTION} {version} is too old; 2.0 or later is needed")
            return Installed(python=python, version=version)
    raise InputError(
        f"`--agent mini` needs {_DISTRIBUTION}, which is not installed",
        hint=f"`uv tool install {_DISTRIBUTION}` or `pipx install {_DISTRIBUTION}`; or let {PYTHON_VARIABLE} name the "
        "Python of an environment that has it",
    )


def _candidates() -> Iterator[Path]:
    if path := os.environ.get(PYTHON_VARIABLE):
        if not Path(path).is_file():
            raise InputError(f"{PYTHON_VARIABLE} names {path}, which is not a file")
        yield Path(path)
        return
    yield Path(sys.executable)
    if program := process.which(_PROGRAM):
        first = Path(program).read_bytes().partition(b"\n")[0]
        if first.startswith(b"#!") and Path(os.fsdecode(first[2:].strip())).is_file():
            yield Path(os.fsdecode(first[2:].strip()))


class MiniAgent(Agent):
    """Its own prompts, its own loop; our model answers and our workspace executes."""

    name = "mini"
    version = 1

    def __init__(self, installed: Installed | None = None, *, max_turns: int | None = None) -> None:
        self._installed = installed or find()
        self._max_turns = max_turns

    def settings(self) -> dict[str, Any]:
        """What else its results depend on."""
        return {"mini_version": self._installed.version, "max_turns": self._max_turns}

    def attempt(self, job: SolveJob, model: Model) -> Attempt:
        with job.open_workspace() as workspace, tempfile.TemporaryDirectory(prefix="goldseam-") as folder:
            talk = _Talk(job=job, model=model, workspace=workspace)
            driver = resources.files("harness.solve.agents.inside").joinpath("mini_driver.py")
            env = {
                "PATH": "/usr/bin:/bin",
                "HOME": folder,
                "MSWEA_SILENT_STARTUP": "1",
                "MSWEA_GLOBAL_CONFIG_DIR": folder,
                "PYTHONUTF8": "1",
            }
            try:
                with (
                    resources.as_file(driver) as script,
                    process.dialogue(
                        [self._installed.python, "-I", "-B", script], env=env, cwd=Path(folder)
                    ) as program,
                ):
                    talk.run(program, max_turns=self._max_turns)
                return talk.ending()
            except WorkspaceLostError as error:
                return lost(error, replies=talk.replies, messages=talk.messages)


@dataclass(kw_only=True)
class _Talk:
    """What the driver asks for, done."""

    job: SolveJob
    model: Model
    workspace: Workspace
    replies: list[Reply] = field(default_factory=list)
    messages: list[Message] = field(default_factory=list)
    stopped: str | None = None
    status: str = ""
    submission: str = ""

    def run(self, program: Dialogue, *, max_turns: int | None) -> None:
        uname = os.uname()
        about = {"system": uname.sysname, "release": uname.release, "version": uname.version, "machine": uname.machine}
        task = self.job.instance.problem_statement
        _tell(program, {"task": task, "header": self.job.header, "about": about, "step_limit": max_turns})
        while True:
            line = program.said.readline()
            if not line:
                raise InfrastructureError(f"{_DISTRIBUTION} broke off: {program.error_text[-500:]}")
            fields: dict[str, Any] = json.loads(line)
            if fields["t"] == "end":
                self.status, self.submission = fields["status"], fields["submission"]
                return
            _tell(program, self._query(line) if fields["t"] == "query" else self._execute(fields))

    def _query(self, line: bytes) -> dict[str, Any]:
        request = openai_schema.request(openai_schema.body(line), self.job.sampling, self.job.sample)
        self.messages[:] = request.messages
        try:
            reply = self.model.ask(request)
        except LimitReachedError as limit:
            self.stopped = limit.limit
            return {"stop": limit.limit}
        except ModelError as error:
            if error.fault is not Fault.CONTEXT_OVERFLOW:
                raise
            self.stopped = CONTEXT
            return {"stop": "ContextWindowExceeded"}
        self.replies.append(reply)
        self.messages.append(reply.message)
        fields = openai_schema.message_fields(reply.message)
        return {"message": fields, "finish_reason": reply.finish_reason, "cost": reply.cost or 0.0}

    def _execute(self, fields: dict[str, Any]) -> dict[str, Any]:
        ran = self.workspace.run(
            ("bash", "-c", str(fields["command"])), seconds=float(fields["seconds"]), max_output=_MAX_OUTPUT
        )
        error = f"An error occurred while executing the command: it took more than {fields['seconds']} s"
        return {
            "output": ran.output,
            "returncode": -1 if ran.timed_out else ran.exit_code,
            "exception_info": error if ran.timed_out else "",
        }

    def ending(self) -> Attempt:
        """What it submitted; where that is no patch, what changed in the workspace."""
        if self.status == "LimitsExceeded" and self.stopped is None:
            self.stopped = "task_turns"
        try:
            patch.parse(self.submission.encode("utf-8", "surrogateescape"))
        except patch.PatchError:
            if self.replies:
                self.workspace.run(("rm", "-f", "patch.txt"), seconds=20)  # where it is told to put what it submits
            attempt = ending(
                self.workspace,
                replies=self.replies,
                messages=self.messages,
                detail=f"it ended with {self.status or 'nothing'}",
                stopped=self.stopped,
            )
            return replace(attempt, tolerance=("workspace_diff",)) if attempt.patch else attempt
        return Attempt(
            patch=self.submission, replies=tuple(self.replies), messages=tuple(self.messages), stopped=self.stopped
        )


def _tell(program: Dialogue, fields: dict[str, Any]) -> None:
    try:
        program.heard.write(json.dumps(fields).encode() + b"\n")
        program.heard.flush()
    except OSError:
        raise InfrastructureError(f"{_DISTRIBUTION} broke off: {program.error_text[-500:]}") from None
