"""One call of the program: the one handler for everything that can go wrong in it."""

from __future__ import annotations

import gc
import io
import os
import re
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from harness.cli.shell.output import CHOICE, has_color
from harness.config import ChosenFile
from harness.core import wording
from harness.core.errors import GoldseamError, InfrastructureError
from harness.core.wording import did_you_mean

if TYPE_CHECKING:
    from typing_extensions import Buffer

_INTERRUPTED = 130


def run_app(root: typer.Typer, argv: Sequence[str] | None = None) -> int:
    """Run a command line and return its exit code: the one handler for everything that can go wrong.

    Expected errors say what to do and have the code of their class; Ctrl-C and SIGTERM give 130; anything else is a bug
    of ours: 70, with a log file named.
    """
    signal.signal(signal.SIGTERM, _terminated)
    _guard_standard_output()
    code = _call(root, argv)
    try:
        sys.stdout.flush()  # here, since Python 3.11 crashes where its own last flush is refused
    except InfrastructureError as error:
        _show_error(error.message, error.hint)
        return error.exit_code
    except _ReaderGoneError:
        pass
    return code


def _call(root: typer.Typer, argv: Sequence[str] | None) -> int:
    CHOICE.reset()
    ChosenFile.path = None
    _Call.words = argv
    gc.disable()  # until the command is loaded, which it slows by a fifth and finds nothing in
    try:
        try:
            code = root(args=argv, prog_name="goldseam", standalone_mode=False)
        finally:
            gc.enable()
            if mirrors := sys.modules.get("harness.interop.mirrors"):  # loaded by commands that take a store's URL
                mirrors.write_back(_show_note)
    except GoldseamError as error:
        _show_error(error.message, error.hint, cause=error.__cause__)
        return error.exit_code
    except typer.TyperException as error:
        _show_usage(error)
        return 2
    except (KeyboardInterrupt, typer.Abort):
        code = _INTERRUPTED
    except _ReaderGoneError:
        return 0
    except Exception as error:  # noqa: BLE001 - the handler of last resort
        if not _came_of_an_interrupt(error):
            _show_error(f"this is a bug in goldseam; please report it with {_bug_log()}")
            return 70
        code = _INTERRUPTED
    if code == _INTERRUPTED:  # Typer turns Ctrl-C into this code
        _show_error("interrupted; run the same command again to continue")
    return code if isinstance(code, int) else 0


def _terminated(_number: int, _frame: object) -> None:
    raise KeyboardInterrupt


class _ReaderGoneError(Exception):
    """Whoever read our output has gone; that is no error of ours."""


class _OutputFile(io.FileIO):
    """Standard output that tells its own refusals from those of any other file, and then takes nothing any more."""

    refused = False

    def write(self, data: Buffer, /) -> int:
        if self.refused:  # what is still buffered is written once more where the file is closed
            return memoryview(data).nbytes
        try:
            return super().write(data)
        except BrokenPipeError as error:
            self.refused = True
            raise _ReaderGoneError from error
        except OSError as error:
            self.refused = True
            raise InfrastructureError(
                f"cannot write standard output: {error.strerror or error}", hint="free some space, or send it elsewhere"
            ) from error


def _guard_standard_output() -> None:
    """Let every write to standard output be one of `_OutputFile`; a closed one swallows all, as `print` has it."""
    if sys.stdout is None:
        sys.stdout = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115 - for as long as the process lives
        return
    stream = sys.stdout
    if sys.stdout is sys.__stdout__:
        file = io.BufferedWriter(_OutputFile(stream.fileno(), "wb", closefd=False))
        sys.stdout = io.TextIOWrapper(
            file, encoding=stream.encoding, errors=stream.errors, line_buffering=bool(stream.line_buffering)
        )


def _came_of_an_interrupt(error: Exception) -> bool:
    """Whether a signal came while Python waited on a condition, which then releases a lock that it does not hold."""
    return isinstance(error, RuntimeError) and isinstance(error.__context__, KeyboardInterrupt)


def _show_note(text: str) -> None:
    typer.secho(text, fg="yellow" if has_color(stderr=True) else None, err=True)


def _bug_log() -> object:
    from harness.runs import bug_log  # noqa: PLC0415 - rarely needed, and help should come fast

    return bug_log.write()


def _show_error(message: str, hint: str | None = None, *, cause: BaseException | None = None) -> None:
    from rich.text import Text  # noqa: PLC0415 - takes as long as all the rest of `--help`

    from harness.cli.views import terminal  # noqa: PLC0415

    console = terminal.messages()
    console.print(Text("error: ", style="bold red") + Text(message))
    if hint:
        console.print(Text("  hint: ", style="bold") + Text(hint))
    if CHOICE.verbose and cause is not None:
        console.print(Text("  cause: ", style="bold") + Text(f"{type(cause).__name__}: {cause}"))


def _show_usage(error: typer.TyperException) -> None:
    if type(error).__name__ == "NoArgsIsHelpError":
        error.show()  # type: ignore[attr-defined]
        return
    _show_error(*usage_problem(error))


def usage_problem(error: Any) -> tuple[str, str | None]:
    """What is wrong with a command line, and what to do: in our voice, with the name that was probably meant."""
    context = getattr(error, "ctx", None)  # usage errors know the command they are about
    more = f"{context.command_path} --help" if context is not None else None
    kind = type(error).__name__
    if kind == "NoSuchOption" and context is not None:
        names = [name for param in context.command.get_params(context) if not param.hidden for name in param.opts]
        return f"no such option: {error.option_name}", did_you_mean(error.option_name, names, otherwise=more)
    if kind == "MissingParameter" and error.param is not None:
        kind_of_parameter = "argument" if error.param.param_type_name == "argument" else "option"
        return f"missing {kind_of_parameter} {_name_of(error.param)}", more
    if isinstance(error, typer.BadParameter) and error.param is not None and error.message:
        problem, guess = _problem(error)
        return f"{_source_of(error)}: {problem}", guess or more
    message = _begun_small(error.format_message())
    if command := re.fullmatch(r"no such command '(.*?)'.*", message):
        commands = getattr(getattr(context, "command", None), "commands", ())
        return f"no such command: {command[1]}", did_you_mean(command[1], commands, otherwise=more)
    if extra := re.fullmatch(r"got unexpected extra argument\(s\) \((.*)\)", message):
        return f"too many arguments: {extra[1]}", more
    return message, more


def _name_of(param: Any) -> str:
    return " / ".join(param.opts) if param.param_type_name == "option" else (param.metavar or param.name.upper())


def _source_of(error: Any) -> str:
    """The flag or the variable that a wrong value came from."""
    name = _name_of(error.param)
    source = error.ctx.get_parameter_source(error.param.name or "") if error.ctx else None
    return f"{error.param.envvar} ({name})" if source is not None and source.name == "ENVIRONMENT" else name


def _problem(error: Any) -> tuple[str, str | None]:
    """What is wrong with a value and, where it is one of a few, which was probably meant."""
    bare = str(error.message).removeprefix("Value error, ").strip()
    if choice := re.fullmatch(r"'(.*)' is not one of (.*?)[.]*", bare):
        names = re.findall(r"'([^']*)'", choice[2])
        return f"expected {wording.listed(names)}, found {choice[1]!r}", did_you_mean(choice[1], names)
    text = wording.problem(error.message, is_known=False)
    return _begun_small(text) if text == bare else f"{text}, found {_value_of(error)}", None


def _value_of(error: Any) -> str:
    """The value as it was given, which pydantic's message does not repeat."""
    names = {*error.param.opts}
    words = sys.argv[1:] if _Call.words is None else _Call.words
    for word, following in zip(words, [*words[1:], ""], strict=True):
        name, sign, value = word.partition("=")
        if name in names:
            return repr(value if sign else following)
        if any(len(short) == len("-x") and word.startswith(short) for short in names):
            return repr(word[2:])
    return repr(os.environ.get(error.param.envvar or "", ""))


def _begun_small(message: str) -> str:
    return message[:1].lower() + message[1:].removesuffix(".")


class _Call:
    """The words of this call of the program; None for those of the process."""

    words: Sequence[str] | None = None
