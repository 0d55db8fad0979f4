"""What the loop agent can do: each tool is a function; its signature and docstring are what the model is told of it."""

from __future__ import annotations

import inspect
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from harness.languages import language_of
from harness.solve.base import Tool

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from harness.core.instance import Instance
    from harness.solve.base import ToolCall, Workspace

MAX_OUTPUT = 12_000
COMMAND_SECONDS = 120.0
_MOST_LINES = 400


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


def call(desk: Desk, tool_call: ToolCall) -> str:
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
        arguments = json.loads(tool_call.arguments or "{}")
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
