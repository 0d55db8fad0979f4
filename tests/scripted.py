"""A model that says what a test has written down, without a server."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from harness.solve.base import Message, Reply, Sampling, SolveJob, ToolCall, Usage

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager

    from harness.core.instance import Instance
    from harness.solve.base import Request, Workspace

Line = Message | BaseException


def call(name: str, *, number: int = 1, **arguments: Any) -> Message:
    """A turn in which the model calls one tool."""
    return raw_call(name, json.dumps(arguments), number=number)


def raw_call(name: str, arguments: str, *, number: int = 1) -> Message:
    return Message(
        role="assistant", content="", tool_calls=(ToolCall(call_id=f"call_{number}", name=name, arguments=arguments),)
    )


def say(text: str) -> Message:
    return Message(role="assistant", content=text)


class Scripted:
    """Says one line after the other, the last one for ever; an exception is raised. A `Model`."""

    name = "scripted"

    def __init__(self, *lines: Line) -> None:
        self.lines = lines
        self.requests: list[Request] = []

    def ask(self, request: Request) -> Reply:
        self.requests.append(request)
        line = self.lines[min(len(self.requests), len(self.lines)) - 1]
        if isinstance(line, BaseException):
            raise line
        return Reply(
            message=line,
            finish_reason="tool_calls" if line.tool_calls else "stop",
            usage=Usage(input_tokens=10, output_tokens=5),
            model="scripted-2026-01-01",
            cost=0.25,
        )


def job(instance: Instance, open_workspace: Callable[[], AbstractContextManager[Workspace]], **fields: Any) -> SolveJob:
    return SolveJob(instance=instance, sample=0, sampling=Sampling(), open_workspace=open_workspace, **fields)
