"""The classes of our commands: declared with examples, loaded when called, with old spellings of options."""

from __future__ import annotations

import functools
import gc
import importlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, TypeVar

import typer
import typer.main
from typer.core import TyperCommand, TyperGroup

from harness.cli.shell import help as help_text
from harness.cli.shell import next_steps, output
from harness.config import ChosenFile
from harness.core.errors import InputError

_Function = TypeVar("_Function", bound="Callable[..., Any]")
_WORDS = "goldseam.words"
"""Where a context keeps the arguments of its call."""
_HELP_NAMES = {"help_option_names": ["-h", "--help"]}
REMOVED_IN = "0.3"

_EVERYWHERE: Mapping[str, str] = {"--out": "--output"}
RENAMED: Mapping[str, Mapping[str, str]] = {
    "demo": {"--into": "--output"},
    "mine": {"--fresh": "--force"},
    "evaluate": {"--no-cache": "--force", "--no-retry-errors": ""},
    "compare": {"--base-model": "--baseline-model"},
    "gate": {
        "--base-model": "--baseline-model",
        "--confirm": "--confirm-run",
        "--first": "--allow-missing-baseline",
    },
    "images rebuild": {"--instance-id": "--id"},
    "holdout import": {"--fresh": "--force"},
    "holdout calls": {"--again": "--force"},
    "holdout strength": {"--again": "--force"},
    "holdout strip": {"--again": "--force"},
    "holdout refresh": {"--retry": "--retry-errors", "--no-retry": "", "--force": "--accept-drift"},
    "holdout quarantine": {"--why": "--reason"},
    "holdout release": {"--why": "--reason"},
    "holdout retire": {"--why": "--reason"},
    "holdout export": {"--to": "--format", "--hidden": "--with-hidden"},
    "holdout difficulty": {"--runs": "--run"},
    "solve": {"--name": "--model-name"},
}
"""New spelling by command and old spelling; an empty one where the option only said what holds anyway."""


def option(spelling: str, text: str, panel: str | None = None, **settings: Any) -> Any:
    """An option, spelled as help shows it (`-j, --jobs N`), with its help and the panel of that.

    Of `settings`, `shown` is the default that help shows, and `env` a variable that sets it; the others are Typer's.
    """
    words = spelling.replace(",", "").split()
    names = [word for word in words if word.startswith("-")]
    return typer.Option(
        *names, metavar=" ".join(words[len(names) :]) or None, help=text, rich_help_panel=panel, **_typers(settings)
    )


def argument(name: str, text: str, **settings: Any) -> Any:
    """An argument, as help names it, with its help; `settings` as of an option."""
    return typer.Argument(metavar=name, help=text, **_typers({"shown": False, **settings}))


_TYPERS = {"shown": "show_default", "env": "envvar"}


def _typers(settings: Mapping[str, Any]) -> dict[str, Any]:
    return {_TYPERS.get(name, name): value for name, value in settings.items()}


def _verbose(value: bool) -> None:
    output.CHOICE.verbose |= value


def _quiet(value: bool) -> None:
    output.CHOICE.quiet |= value


def _no_color(value: bool) -> None:
    output.CHOICE.color &= not value


def _config(value: Path | None) -> None:
    if value is None:
        return

    if not value.is_file():
        problem = f"{value} is a folder, not a settings file" if value.is_dir() else f"no such settings file: {value}"
        raise InputError(problem, hint="give --config an existing file such as goldseam.toml")
    ChosenFile.path = value


def _everywhere(
    *,
    _config_file: Annotated[
        Path | None,
        option(
            "--config FILE",
            "Read settings from this file.",
            help_text.EVERY,
            callback=_config,
            shown="goldseam.toml in the current folder, if there is one",
        ),
    ] = None,
    _is_verbose: Annotated[
        bool,
        option(
            "-v, --verbose",
            "Print each step as a line, and the cause behind an error.",
            help_text.EVERY,
            callback=_verbose,
        ),
    ] = False,
    _is_quiet: Annotated[
        bool,
        option(
            "-q, --quiet", "Print results and errors only: no progress, no next step.", help_text.EVERY, callback=_quiet
        ),
    ] = False,
    _is_plain: Annotated[
        bool,
        option(
            "--no-color",
            "Print without colors; so does the variable NO_COLOR.",
            help_text.EVERY,
            callback=_no_color,
            is_eager=True,
        ),
    ] = False,
) -> None:
    """Options that every command takes."""


@functools.cache
def _shared() -> tuple[Any, ...]:
    app = typer.Typer(add_completion=False)
    app.command()(_everywhere)
    params = typer.main.get_command(app).params
    for param in params:
        param.expose_value = False
    return tuple(params)


def _add_shared(params: list[Any]) -> None:
    own = {name for param in params for name in param.opts}
    params += [param for param in _shared() if not own.intersection(param.opts)]


class Command(TyperCommand):
    """A command: our help, the options that every command has, and its old spellings."""

    examples: Mapping[str, str] = {}
    """What to type, and what that does."""

    def __init__(self, *args: Any, **settings: Any) -> None:
        super().__init__(*args, **settings)
        self.context_settings = {**_HELP_NAMES, **self.context_settings}
        _add_shared(self.params)

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        own = frozenset(name for param in self.params for name in (*param.opts, *param.secondary_opts))
        path = ctx.command_path.partition(" ")[2]
        words = translate(path, args, own=own, tell=not ctx.resilient_parsing)
        ctx.meta[_WORDS] = tuple(words)
        return super().parse_args(ctx, words)

    def invoke(self, ctx: Any) -> Any:
        """Run the command and, where it ends well, name the one that comes next."""
        code = super().invoke(ctx)
        if code in (None, 0):
            path = ctx.command_path.partition(" ")[2]
            if step := next_steps.after(path, ctx.params, ctx.meta[_WORDS]):
                from harness.cli.views import terminal  # noqa: PLC0415 - takes as long as all the rest of `--help`

                terminal.next_step(step)
        return code

    def format_help(self, ctx: Any, formatter: Any) -> None:
        formatter.write(help_text.render(self, ctx))

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        return _usage(self, ctx)


class Group(TyperGroup):
    """A group of commands with our help and the options that every command has."""

    examples: Mapping[str, str] = {}

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.context_settings = {**_HELP_NAMES, **self.context_settings}
        _add_shared(self.params)

    def format_help(self, ctx: Any, formatter: Any) -> None:
        formatter.write(help_text.render(self, ctx))

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        return [*_usage(self, ctx), "COMMAND"]


def _usage(command: Any, ctx: Any) -> list[str]:
    """The pieces of a usage line: required options by name, then the arguments."""
    pieces = ["[OPTIONS]"]
    for param in command.get_params(ctx):
        if param.param_type_name == "argument":
            name = help_text.argument_name(param)
            pieces.append(name if param.required else f"[{name}]")
        elif param.required:
            long = max(param.opts, key=len)
            pieces.insert(1, f"{long} {help_text.value_name(param)}")
    return pieces


class App(typer.Typer):
    """Commands of one module."""

    def add(
        self, name: str | None = None, *, examples: Mapping[str, str], **settings: Any
    ) -> Callable[[_Function], _Function]:
        """Declare a command; `examples` are command lines with what each does, which help shows."""
        kind = type("Command", (Command,), {"examples": dict(examples)})
        lines = "\n".join(f"# {purpose}\n{line}" for line, purpose in examples.items())
        return self.command(name, cls=kind, epilog=f"Examples:\n\n\b\n{lines}" if lines else None, **settings)


@dataclass(frozen=True)
class Entry:
    """Where a command is, and its line in the help of its group."""

    module: str
    """A module whose `app` has the command, or is the group of that name."""
    help: str


def commands(table: str) -> dict[str, dict[str, Entry]]:
    """Commands by panel and name, from a table: a line with a panel, then a line for each name, module and help."""
    panels: dict[str, dict[str, Entry]] = {}
    entries: dict[str, Entry] = {}
    for line in table.strip().splitlines():
        if line.startswith(" "):
            name, module, text = line.split(maxsplit=2)
            entries[name] = Entry(module, text)
        else:
            entries = panels[line] = {}
    return panels


class LazyCommand(TyperCommand):
    """Stands for a command in help until that is called."""

    def __init__(self, name: str, entry: Entry, panel: str) -> None:
        super().__init__(name, help=entry.help, rich_help_panel=panel)
        self._module = entry.module

    def load(self) -> Any:
        """The command itself, or the group of commands."""
        group = typer.main.get_group(importlib.import_module(self._module).app)
        gc.freeze()  # what modules made is there for good
        gc.enable()
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


def renamed_in(command: str) -> Mapping[str, str]:
    """New spellings by old ones in a command, such as `holdout refresh`."""
    return {**_EVERYWHERE, **RENAMED.get(command, {})}


def translate(command: str, words: Sequence[str], *, own: frozenset[str], tell: bool) -> list[str]:
    """The words of a command line with old spellings replaced; `tell` prints a hint for each on standard error.

    `own` holds the spellings that the command has itself: these are never replaced, and nothing else is put in place.
    """
    table = {old: new for old, new in renamed_in(command).items() if old not in own and (not new or new in own)}
    translated: list[str] = []
    for place, word in enumerate(words):
        if word == "--":
            return [*translated, *words[place:]]
        name, sign, value = word.partition("=")
        if name not in table:
            translated.append(word)
            continue
        new = table[name]
        if new:
            translated.append(f"{new}{sign}{value}")
        if tell:
            note_renamed(name, new)
    return translated


def note_renamed(old: str, new: str) -> None:
    """The hint that an old spelling gets."""
    text = f"{old} is now {new}" if new else f"{old} is the default and can be left out"
    typer.echo(f"note: {text}; the old spelling goes away in {REMOVED_IN}", err=True)
