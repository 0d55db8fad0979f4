"""One call of the program: the one handler for everything that can go wrong in it."""

from __future__ import annotations

import io
import os
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import typer
from rich.text import Text

from harness.cli.views import terminal
from harness.core.errors import GoldseamError, InfrastructureError
from harness.interop import mirrors
from harness.runs import bug_log

if TYPE_CHECKING:
    from collections.abc import Sequence

    from typing_extensions import Buffer

_INTERRUPTED = 130


def run_app(root: typer.Typer, argv: Sequence[str] | None = None) -> int:
    """Run a command line and return its exit code: the one handler for everything that can go wrong.

    Expected errors say what to do and have the code of their class; Ctrl-C and SIGTERM give 130; anything else is a bug
    of ours: 70, with a log file named.
    """
    signal.signal(signal.SIGTERM, _terminated)
    _guard_standard_output()
    console = terminal.messages()
    try:
        with mirrors.written_back(lambda text: console.print(Text(text, style="yellow"), soft_wrap=True)):
            code = root(args=argv, prog_name="goldseam", standalone_mode=False)
        sys.stdout.flush()
    except GoldseamError as error:
        _show_error(error.message, error.hint)
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
            console.print(Text(f"error: a bug of ours; please report it with {bug_log.write()}", style="bold red"))
            return 70
        code = _INTERRUPTED
    if code == _INTERRUPTED:  # Typer turns Ctrl-C into this code
        _show_error("interrupted; the same command goes on from here")
    return code if isinstance(code, int) else 0


def _terminated(_number: int, _frame: object) -> None:
    raise KeyboardInterrupt


class _ReaderGoneError(Exception):
    """Whoever read our output has gone; that is no error of ours."""


class _OutputFile(io.FileIO):
    """Standard output that tells its own refusals from those of any other file, and then takes nothing any more."""

    def write(self, data: Buffer, /) -> int:
        try:
            return super().write(data)
        except BrokenPipeError as error:
            sys.stdout = None
            raise _ReaderGoneError from error
        except OSError as error:
            sys.stdout = None
            raise InfrastructureError(
                f"cannot write standard output: {error.strerror or error}", hint="free some space, or send it elsewhere"
            ) from error


def _guard_standard_output() -> None:
    """Let every write to standard output be one of `_OutputFile`; a closed one swallows all, as `print` has it."""
    if sys.stdout is None:
        sys.stdout = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115 - for as long as the process lives
        return
    given = sys.stdout
    if sys.stdout is sys.__stdout__:
        file = io.BufferedWriter(_OutputFile(given.fileno(), "wb", closefd=False))
        sys.stdout = io.TextIOWrapper(
            file, encoding=given.encoding, errors=given.errors, line_buffering=bool(given.line_buffering)
        )


def _came_of_an_interrupt(error: Exception) -> bool:
    """Whether a signal came while Python waited on a condition, which then releases a lock that it does not hold."""
    return isinstance(error, RuntimeError) and isinstance(error.__context__, KeyboardInterrupt)


def _show_error(message: str, hint: str | None = None) -> None:
    console = terminal.messages()
    console.print(Text("error: ", style="bold red") + Text(message))
    if hint:
        console.print(Text("  hint: ", style="bold") + Text(hint))


def _show_usage(error: typer.TyperException) -> None:
    if type(error).__name__ == "NoArgsIsHelpError":
        error.show()  # type: ignore[attr-defined]
        return
    context = getattr(error, "ctx", None)  # usage errors know the command they are about
    hint = f"{context.command_path} --help" if context is not None else None
    _show_error(_of_a_value(error) or _begun_small(error.format_message()), hint)


def _of_a_value(error: typer.TyperException) -> str | None:
    """What is wrong with a value, and the flag or the variable that it came from; None of other errors."""
    if not isinstance(error, typer.BadParameter) or error.param is None or not error.message:
        return None
    is_flag = error.param.param_type_name == "option"
    name = " / ".join(error.param.opts) if is_flag else (error.param.name or "").upper()
    source = error.ctx.get_parameter_source(error.param.name or "") if error.ctx else None
    if source is not None and source.name == "ENVIRONMENT":
        name = f"{error.param.envvar} ({name})"
    return f"{name}: {_begun_small(error.message.removeprefix('Value error, '))}"


def _begun_small(message: str) -> str:
    return message[:1].lower() + message[1:].removesuffix(".")
