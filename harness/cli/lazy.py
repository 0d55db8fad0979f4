"""Commands that are loaded when they are called, so that help and completion start at once."""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import typer.main
from typer.core import TyperCommand

from harness.cli.shell.command import Group

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True)
class Entry:
    """Where a command is, and its line in the help of its group."""

    module: str
    """A module whose `app` has the command, or is the group of that name."""
    help: str


class LazyCommand(TyperCommand):
    """Stands for a command in help until that is called."""

    def __init__(self, name: str, entry: Entry, panel: str) -> None:
        super().__init__(name, help=entry.help, rich_help_panel=panel)
        self._module = entry.module

    def load(self) -> Any:
        """The command itself, or the group of commands."""
        group = typer.main.get_group(importlib.import_module(self._module).app)
        return group.commands.get(self.name or "", group)


def lazy_group(panels: Mapping[str, Mapping[str, Entry]], *, group_examples: Mapping[str, str]) -> type[Group]:
    """The class of a group (`typer.Typer(cls=…)`) with these commands: by panel of its help, by name."""

    class LazyGroup(Group):
        examples = group_examples

        def __init__(self, **settings: Any) -> None:
            super().__init__(**settings)
            for panel, entries in panels.items():
                for name, entry in entries.items():
                    self.add_command(LazyCommand(name, entry, panel))

        def resolve_command(self, ctx: Any, args: list[str]) -> tuple[str | None, Any, list[str]]:
            name, command, arguments = super().resolve_command(ctx, args)
            return name, command.load() if isinstance(command, LazyCommand) else command, arguments

    return LazyGroup
