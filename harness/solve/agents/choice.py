"""The agents by their names, made from what a command line says. One literal table, and nothing that looks about."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from harness.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable

    from harness.solve.base import Agent
    from harness.solve.prompts import Prompt


class AgentName(StrEnum):
    """How the work is done."""

    SINGLE = "single"
    """One question with the files that fit best, one answer."""
    LOOP = "loop"
    """Our tool-calling agent, in a container."""


@dataclass(frozen=True, kw_only=True)
class Choice:
    """What a command line says of an agent; None where it says nothing."""

    name: AgentName
    prompt: Prompt | None = None
    file_tokens: int | None = None


def make(choice: Choice) -> Agent:
    """The agent.

    Raises:
        InputError: it was given a setting that it does not have.

    """
    return _MAKERS[choice.name](choice)


def _single(choice: Choice) -> Agent:
    from harness.solve import prompts  # noqa: PLC0415 - only what is used is loaded
    from harness.solve.agents.single import FILE_TOKENS, SingleAgent  # noqa: PLC0415

    return SingleAgent(choice.prompt or prompts.load(), file_tokens=choice.file_tokens or FILE_TOKENS)


def _loop(choice: Choice) -> Agent:
    from harness.solve.agents.loop import LoopAgent  # noqa: PLC0415

    _refuse_files(choice)
    return LoopAgent()


def _refuse_files(choice: Choice) -> None:
    """Prompts and files to show are the single agent's alone: others find files by themselves."""
    if choice.prompt is not None or choice.file_tokens is not None:
        raise InputError(
            f"--prompt and --file-tokens are for `--agent single`, not for {choice.name}",
            hint="leave them out, or choose another agent",
        )


_MAKERS: dict[AgentName, Callable[[Choice], Agent]] = {
    AgentName.SINGLE: _single,
    AgentName.LOOP: _loop,
}
