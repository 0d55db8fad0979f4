"""The help of a command as plain text: usage, arguments, the first options, then the advanced ones, then examples.

No markup is read, so that `[mining]` stays what it is, and Rich is not loaded, so that help comes fast.
"""

from __future__ import annotations

import inspect
import shutil
import textwrap
from collections.abc import Iterable, Mapping
from typing import Any

import typer

from harness.cli.shell import output

FIRST = "Options"
ADVANCED = "Advanced"
EVERY = "Every command"
"""Panels of help: the first screen, the rest, and what all commands have."""

_WIDEST = 100
_MOST_INDENT = 30


def render(command: Any, ctx: Any) -> str:
    """The help of a command or of a group of commands."""
    width = min(shutil.get_terminal_size().columns, _WIDEST)
    parts = [f"{_bold('Usage:')} {' '.join((ctx.command_path, *command.collect_usage_pieces(ctx)))}", ""]
    for paragraph in inspect.cleandoc(command.help or "").split("\n\n"):
        parts += [*textwrap.wrap(" ".join(paragraph.split()), width, initial_indent="  ", subsequent_indent="  "), ""]
    for title, rows in sections(command, ctx).items():
        parts += [_bold(f"{title}:"), *_table(rows, width), ""]
    examples = getattr(command, "examples", {})
    if examples:
        parts.append(_bold("Examples:"))
        for line, purpose in examples.items():
            parts += [f"  # {purpose}", f"  {line}"]
        parts.append("")
    return "\n".join(parts).rstrip("\n") + "\n"


def sections(command: Any, ctx: Any) -> Mapping[str, list[tuple[str, str]]]:
    """Rows of help, as left and right column, by the title of their section, in the order they are shown."""
    arguments: dict[str, list[tuple[str, str]]] = {}
    panels: dict[str, list[tuple[str, str]]] = {FIRST: []}
    for param in command.get_params(ctx):
        if param.hidden:
            continue
        is_option = param.param_type_name == "option"
        panel = (param.rich_help_panel or FIRST) if is_option else "Arguments"
        rows = (panels if is_option else arguments).setdefault(panel, [])
        rows.append((option_names(param) if is_option else argument_name(param), description(param, ctx)))
    commands: dict[str, list[tuple[str, str]]] = {}
    for name, entry in getattr(command, "commands", {}).items():
        if not entry.hidden:
            panel = entry.rich_help_panel or "Commands"
            commands.setdefault(panel, []).append((name, " ".join((entry.help or "").split())))
    every = panels.pop(EVERY, [])
    ordered = {**commands, **arguments, **panels}
    return {**ordered, EVERY: every} if every else ordered


def argument_name(param: Any) -> str:
    """An argument as usage and help have it, such as `RUN...`."""
    name = param.metavar or param.name.upper()
    return name if param.nargs == 1 or name.endswith(("...", "…")) else f"{name}..."


def option_names(param: Any) -> str:
    """The spellings of an option and what it takes, such as `-o, --output RUN`; of a switch the useful one."""
    is_on_by_default = param.is_flag and param.default is True and param.secondary_opts
    names = param.secondary_opts if is_on_by_default else param.opts
    ordered = sorted(names, key=lambda name: name.startswith("--"))
    text = ", ".join(ordered) if not ordered[0].startswith("--") else f"    {', '.join(ordered)}"
    return text if param.is_flag or param.count else f"{text} {value_name(param)}"


def value_name(param: Any) -> str:
    """What an option takes: its metavar, its choices, or the name of its type."""
    if param.metavar:
        return str(param.metavar)
    kind = param.type_descriptor
    if kind.is_choice:
        return "|".join(str(getattr(choice, "value", choice)) for choice in kind.choices)
    bare = param.bare_type()
    if kind.is_path or "Path" in bare:
        return "PATH"
    return "N" if "int" in bare else "NUMBER" if "float" in bare else "TEXT"


def description(param: Any, ctx: Any) -> str:
    """An option's help, the variable that sets it, its default, and whether it is required."""
    notes = []
    variable = param.envvar if param.show_envvar else None
    if variable:
        notes.append(f"env: {variable}")
    default = default_of(param, ctx)
    if default:
        notes.append(f"default: {default}")
    if param.required:
        notes.append("required")
    text = " ".join((param.help or "").split())
    return " ".join([text, *(f"[{note}]" for note in notes)])


def default_of(param: Any, ctx: Any) -> str:
    """A default as help shows it; nothing of switches and of options that are required or repeatable."""
    if isinstance(param.show_default, str):
        return param.show_default
    value = param.get_default(ctx, call=False)
    if param.param_type_name == "option" and value in (None, ""):
        return "none" if param.show_default and not (param.is_flag or param.required or param.multiple) else ""
    if value is None or value == [] or isinstance(value, bool) or value == "" or not param.show_default:
        return ""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return str(getattr(value, "value", value))


def _table(rows: Iterable[tuple[str, str]], width: int) -> list[str]:
    rows = list(rows)
    indent = min(max((len(left) for left, _ in rows), default=0) + 4, _MOST_INDENT)
    lines: list[str] = []
    for left, right in rows:
        wrapped = textwrap.wrap(right, max(width - indent, 20), break_on_hyphens=False) or [""]
        if len(left) + 4 > indent:
            lines.append(f"  {_cyan(left)}")
        else:
            lines.append(f"  {_cyan(left)}{' ' * (indent - 2 - len(left))}{wrapped.pop(0)}")
        lines += [" " * indent + line for line in wrapped]
    return [line.rstrip() for line in lines]


def _bold(text: str) -> str:
    return typer.style(text, bold=True) if output.has_color() else text


def _cyan(text: str) -> str:
    return typer.style(text, fg="cyan") if output.has_color() else text
