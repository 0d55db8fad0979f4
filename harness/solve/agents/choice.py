"""The agents by their names, made from what a command line says."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from harness.core.errors import InputError
from harness.core.wording import one_of
from harness.solve import prompts
from harness.solve.agents.command import SECONDS, CommandAgent, CommandSettings, Where
from harness.solve.agents.loop import MAX_TURNS, LoopAgent
from harness.solve.agents.mini import MiniAgent
from harness.solve.agents.single import FILE_TOKENS, SingleAgent
from harness.solve.base import Agent
from harness.solve.prompts import Prompt


class AgentName(StrEnum):
    """How the work is done."""

    SINGLE = "single"
    """One question with the files that fit best, one answer."""
    LOOP = "loop"
    """Our tool-calling agent, in a container."""
    MINI = "mini"
    """mini-swe-agent as it is, on our container and our model."""
    COMMAND = "command"
    """Any program, in the container or on a checkout; its patch is what it changed."""


@dataclass(frozen=True, kw_only=True)
class Choice:
    """What a command line says of an agent; None where it says nothing."""

    name: AgentName
    prompt: Prompt | None = None
    file_tokens: int | None = None
    max_turns: int | None = None
    command: CommandSettings | None = None


def make(choice: Choice) -> Agent:
    """The agent.

    Raises:
        InputError: it was given a setting that it does not have.

    """
    if choice.max_turns is not None and choice.name not in (AgentName.LOOP, AgentName.MINI):
        raise InputError(f"--max-turns is for `--agent loop` and `mini`, not for {choice.name}")
    if (choice.command is None) == (choice.name is AgentName.COMMAND):
        raise InputError(
            "`--agent command` and --agent-command (with --where, --agent-mount, --agent-allow, --agent-minutes) go "
            "together",
            hint="such as --agent command --agent-command 'my-agent --task {statement_file} --model {model}'",
        )
    if choice.name is AgentName.SINGLE:
        return SingleAgent(choice.prompt or prompts.load(), file_tokens=choice.file_tokens or FILE_TOKENS)
    if choice.prompt is not None or choice.file_tokens is not None:  # others find files by themselves
        raise InputError(
            f"--prompt and --file-tokens are for `--agent single`, not for {choice.name}",
            hint="leave them out, or choose another agent",
        )
    if choice.command is not None:
        return CommandAgent(choice.command)
    if choice.name is AgentName.MINI:
        return MiniAgent(max_turns=choice.max_turns)
    return LoopAgent(max_turns=choice.max_turns or MAX_TURNS)


def command_settings(
    command: str | None,
    *,
    where: str | None = None,
    mount: Path | None = None,
    allow: Sequence[str] | None = None,
    minutes: float | None = None,
) -> CommandSettings | None:
    """What a command line says of a program; None where it names none.

    Raises:
        InputError: it says where or how a program runs, and not which; or names a place that there is not.

    """
    if command is None:
        if where or mount or allow or minutes is not None:
            raise InputError("--where, --agent-mount, --agent-allow and --agent-minutes need --agent-command")
        return None
    return CommandSettings(
        command=command,
        where=Where(one_of("--where", where or Where.CONTAINER, Where)),
        mount=mount,
        allow=tuple(allow or ()),
        seconds=SECONDS if minutes is None else minutes * 60,
    )
