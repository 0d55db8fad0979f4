"""An agent in one loop: the model asks for tools, gets their results, and ends when it says so. The patch is the diff.

Each tool is a function; its signature and docstring are what the model is told of it.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from harness.core import json_text
from harness.core.instance import Instance
from harness.languages import language_of
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
    Request,
    SolveJob,
    Tool,
    ToolCall,
    Workspace,
)
from harness.solve.models.tokens import messages_bytes

SYSTEM = """\
You fix a bug in a repository. You work in it with tools; its root is the current folder, and there is no network.
Find the cause, change the code, and check your change, with the repository's own tests where that helps. Change as
little as the fix needs. When you are done, call `finish`: your patch is whatever has changed in the repository, so
remove files that you made only to try something out."""
TASK = "The problem:\n\n{statement}\n\nThe repository has {count} files; at its top are: {top}"
NUDGE = "Continue with a tool, or call `finish` if you are done."
REPEATED = "This is the same call again; its result would be the same. Do something else."
MAX_TURNS = 60
CONTEXT_BYTES = 240_000
"""Where a conversation is longer (about 60,000 tokens), results of old calls are left out; see `_shortened`."""
RECENT = 8
"""So many of the last messages stay whole."""
REPEATS = 3
"""From so many equal calls in a row on, the model is told; at twice as many, it ends."""
MAX_OUTPUT = 12_000
COMMAND_SECONDS = 120.0
_MOST_LINES = 400


class LoopAgent(Agent):
    """Asks, does, tells, again."""

    name = "loop"
    version = 1

    def __init__(self, *, max_turns: int = MAX_TURNS, context_bytes: int = CONTEXT_BYTES) -> None:
        self._max_turns = max_turns
        self._context_bytes = context_bytes

    def settings(self) -> dict[str, int]:
        """What else its results depend on."""
        return {"max_turns": self._max_turns}

    def attempt(self, job: SolveJob, model: Model) -> Attempt:
        with job.open_workspace() as workspace:
            talk = _Talk(job, model, workspace, room=self._context_bytes)
            try:
                detail, stopped = talk.run(self._max_turns)
            except LimitReachedError as limit:
                detail, stopped = str(limit), limit.limit
            except WorkspaceLostError as error:
                return lost(error, replies=talk.replies, messages=talk.messages)
            return ending(workspace, replies=talk.replies, messages=talk.messages, detail=detail, stopped=stopped)


class _Talk:
    """One conversation."""

    def __init__(self, job: SolveJob, model: Model, workspace: Workspace, *, room: int) -> None:
        files = workspace.files()
        top = ", ".join(sorted({path.split("/")[0] + "/" * ("/" in path) for path in files}))
        task = TASK.format(statement=job.instance.problem_statement, count=len(files), top=top)
        self.messages = [
            Message(role="system", content=f"{job.header}\n\n{SYSTEM}".strip()),
            Message(role="user", content=task),
        ]
        self.replies: list[Reply] = []
        self._job, self._model, self._room = job, model, room
        self._desk = Desk(workspace=workspace, instance=job.instance)
        self._last, self._same = ("", ""), 0

    def run(self, max_turns: int) -> tuple[str, str | None]:
        """Turn after turn; how it ended, in words, and the limit that ended it, if one did."""
        silent = False
        while len(self.replies) < max_turns:
            message = self._ask()
            if message is None:
                return "the conversation no longer fits the model", CONTEXT
            if not message.tool_calls:
                if silent:
                    return message.content[-500:] or "it said nothing", None
                self.messages.append(Message(role="user", content=NUDGE))
            silent = not message.tool_calls
            for call in message.tool_calls:
                self.messages.append(Message(role="tool", content=self._result(call), tool_call_id=call.call_id))
            if any(call.name == finish.__name__ for call in message.tool_calls):
                return message.content[-500:] or "it finished without a change", None
            if self._same >= 2 * REPEATS:
                return f"it called {self._last[0]} {self._same} times in the same way", "task_repeats"
        return f"it did not finish within {max_turns} turns", "task_turns"

    def _ask(self) -> Message | None:
        """What the model says next; None where even a shortened conversation is too long for it."""
        messages = _shortened(self.messages, self._room)
        while True:
            try:
                reply = self._model.ask(
                    Request(messages=messages, tools=SCHEMAS, sampling=self._job.sampling, sample=self._job.sample)
                )
            except ModelError as error:
                if error.fault is not Fault.CONTEXT_OVERFLOW:
                    raise
                self._room = messages_bytes(messages) // 2
                before, messages = messages, _shortened(self.messages, self._room)
                if messages == before:
                    return None
            else:
                self.replies.append(reply)
                self.messages.append(reply.message)
                return reply.message

    def _result(self, call: ToolCall) -> str:
        self._same = self._same + 1 if (call.name, call.arguments) == self._last else 1
        self._last = (call.name, call.arguments)
        if self._same >= REPEATS:
            return REPEATED
        return run_tool(self._desk, call)


def _shortened(messages: Sequence[Message], room: int) -> tuple[Message, ...]:
    """A conversation without results of tools, the oldest first, until it has at most `room` bytes.

    The last messages stay whole, and everything that the model said itself. The transcript keeps all of it.
    """
    messages_kept = list(messages)
    for at, old in enumerate(messages[:-RECENT]):
        if messages_bytes(messages_kept) <= room:
            break
        if old.role == "tool":
            messages_kept[at] = replace(
                old, content=f"[left out to save room: {len(old.content)} characters; call again to see it]"
            )
    return tuple(messages_kept)


class ToolError(Exception):
    """A tool can't do what it was asked to; the message is for the model."""


@dataclass(frozen=True, kw_only=True)
class Desk:
    """What tools work with."""

    workspace: Workspace
    instance: Instance

    def run(self, *argv: str, seconds: float = COMMAND_SECONDS) -> str:
        result = self.workspace.run(argv, seconds=seconds, max_output=MAX_OUTPUT)
        ended = f"ended after {seconds:.0f} s" if result.timed_out else f"exit code {result.exit_code}"
        return f"{result.output}\n[{ended}]"

    def text(self, path: str) -> str:
        return self.workspace.read(path).decode("utf-8", "surrogateescape")


def read_file(desk: Desk, *, path: str, first: int = 1, last: int = 0) -> str:
    """Read a text file with line numbers: from line `first` to line `last`, or 400 lines."""
    lines = desk.text(path).split("\n")
    last = min(last or first + _MOST_LINES - 1, len(lines), first + _MOST_LINES - 1)
    text = "\n".join(f"{number}\t{lines[number - 1]}" for number in range(max(1, first), last + 1))
    return f"{text}\n[lines {first} to {last} of {len(lines)}]"


def search(desk: Desk, *, pattern: str, path: str = ".") -> str:
    """Search file contents for an extended regular expression, in a file or a folder."""
    return desk.run("grep", "-rnIE", "--exclude-dir=.git", "-e", pattern, "--", path)


def edit_file(desk: Desk, *, path: str, old: str, new: str) -> str:
    """Replace a piece of a file. `old` must occur in it exactly once, white space included."""
    text = desk.text(path)
    if not old or (occurrences := text.count(old)) != 1:
        raise ToolError(f"`old` must occur in {path} exactly once; it occurs {occurrences if old else 0} times")
    desk.workspace.write(path, text.replace(old, new).encode("utf-8", "surrogateescape"))
    return "done"


def create_file(desk: Desk, *, path: str, content: str) -> str:
    """Make a file, or replace a whole one."""
    desk.workspace.write(path, content.encode("utf-8", "surrogatepass"))
    return "done"


def run_command(desk: Desk, *, command: str) -> str:
    """Run a shell command at the root of the repository, for at most 2 minutes."""
    return desk.run("bash", "-c", command)


def run_tests(desk: Desk, *, paths: str = "") -> str:
    """Run the repository's own tests: all of them, or the files and tests in `paths`, separated by spaces."""
    test = desk.instance.test
    words = language_of(test.framework).by_hand(test, paths.split())
    return desk.run(*words, seconds=desk.instance.budgets.seconds)


def finish(_desk: Desk, *, summary: str = "") -> str:
    """End: the repository is as it should be."""
    return summary


TOOLS: Mapping[str, Callable[..., str]] = {
    tool.__name__: tool for tool in (read_file, search, edit_file, create_file, run_command, run_tests, finish)
}
_TYPES: Mapping[str, tuple[str, type]] = {"str": ("string", str), "int": ("integer", int)}


def run_tool(desk: Desk, tool_call: ToolCall) -> str:
    """Do what a model asks for; what it can't have is told to it, whatever it wrote.

    Raises:
        WorkspaceLostError: the container has ended.
        InfrastructureError: the engine failed.

    """
    if tool_call.name not in TOOLS:
        return f"error: there is no tool {tool_call.name!r}; there are {', '.join(TOOLS)}"
    try:
        return TOOLS[tool_call.name](desk, **_arguments(tool_call))
    except (ToolError, OSError, ValueError) as error:  # ValueError: text that is no Unicode
        return f"error: {error}"


def _arguments(tool_call: ToolCall) -> dict[str, Any]:
    """A call's arguments, held against the tool's signature.

    Raises:
        ToolError: they do not fit.

    """
    try:
        arguments = json_text.loads(tool_call.arguments or "{}")
    except ValueError as error:
        raise ToolError(f"the arguments are not valid JSON: {error}") from error
    parameters = _parameters(TOOLS[tool_call.name])
    if not isinstance(arguments, dict) or not set(arguments) <= set(parameters):
        raise ToolError(f"the arguments of {tool_call.name} are {', '.join(parameters)}, as one JSON object")
    for name, parameter in parameters.items():
        kind = _TYPES[parameter.annotation]
        if name in arguments and (not isinstance(arguments[name], kind[1]) or isinstance(arguments[name], bool)):
            raise ToolError(f"`{name}` must be of type {kind[0]}")
        if name not in arguments and parameter.default is parameter.empty:
            raise ToolError(f"`{name}` is missing")
    return arguments


def _parameters(tool: Callable[..., str]) -> dict[str, inspect.Parameter]:
    return {
        name: parameter
        for name, parameter in inspect.signature(tool).parameters.items()
        if parameter.kind is parameter.KEYWORD_ONLY
    }


def _schema(tool: Callable[..., str]) -> Tool:
    parameters = _parameters(tool)
    properties = {name: {"type": _TYPES[parameter.annotation][0]} for name, parameter in parameters.items()}
    required = [name for name, parameter in parameters.items() if parameter.default is parameter.empty]
    return Tool(
        name=tool.__name__,
        description=inspect.getdoc(tool) or "",
        parameters={"type": "object", "properties": properties, "required": required, "additionalProperties": False},
    )


SCHEMAS = tuple(_schema(tool) for tool in TOOLS.values())
