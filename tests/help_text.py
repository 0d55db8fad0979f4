"""The help of all commands as one text: `python -m tests.help_text` writes tests/help.txt again."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest import mock

import typer.main

from harness.cli.shell import help as help_text
from harness.cli.shell.command import LazyCommand
from miner.cli.main import app

if TYPE_CHECKING:
    from collections.abc import Iterator

GOLDEN = Path(__file__).parent / "help.txt"
WIDTH = "80"


def commands(command: Any = None, parent: Any = None) -> Iterator[tuple[Any, Any]]:
    """Every group and command, with its context, in the order of help."""
    command = command or typer.main.get_command(app)
    settings = {name: value for name, value in command.context_settings.items() if name == "help_option_names"}
    context = command.context_class(
        command, info_name=command.name if parent else "goldseam", parent=parent, **settings
    )
    yield context, command
    for name, entry in getattr(command, "commands", {}).items():
        child = entry.load() if isinstance(entry, LazyCommand) else entry
        child.name = name
        yield from commands(child, context)


def everything() -> str:
    """The help of all commands at 80 columns, as a pipe gets it."""
    with mock.patch.dict(os.environ, {"COLUMNS": WIDTH, "NO_COLOR": "1"}):
        return "\n".join(f"$ {ctx.command_path} --help\n{help_text.render(cmd, ctx)}" for ctx, cmd in commands())


def tree() -> str:
    """A line a command: options on the first screen, options in all."""
    rows = ["| command | first screen | in all |", "|---|---|---|"]
    for ctx, command in commands():
        sections = help_text.sections(command, ctx)
        first = len(sections[help_text.FIRST])
        others = sum(len(rows) for title, rows in sections.items() if title.startswith(help_text.ADVANCED))
        every = len(sections.get(help_text.EVERY, []))
        rows.append(f"| {ctx.command_path} | {first} | {first + others + every} |")
    return "\n".join(rows)


if __name__ == "__main__":
    GOLDEN.write_text(everything(), encoding="utf-8")
    print(tree())  # noqa: T201
