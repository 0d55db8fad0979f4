"""One call of the program: the one handler for everything that can go wrong in it."""

from __future__ import annotations

import signal
import sys
from typing import TYPE_CHECKING

import typer
from rich.text import Text

from harness.cli.views import terminal
from harness.core.errors import GoldseamError
from harness.interop import mirrors
from harness.runs import bug_log

if TYPE_CHECKING:
    from collections.abc import Sequence

_INTERRUPTED = 130


def run_app(root: typer.Typer, argv: Sequence[str] | None = None) -> int:
    """Run a command line and return its exit code: the one handler for everything that can go wrong.

    Expected errors say what to do and have the code of their class; Ctrl-C and SIGTERM give 130; anything else is a bug
    of ours: 70, with a log file named.
    """
    signal.signal(signal.SIGTERM, _terminated)
    console = terminal.messages()
    try:
        with mirrors.written_back(lambda text: console.print(Text(text, style="yellow"), soft_wrap=True)):
            code = root(args=argv, prog_name="goldseam", standalone_mode=False)
    except GoldseamError as error:
        _show_error(error.message, error.hint)
        return error.exit_code
    except typer.TyperException as error:
        _show_usage(error)
        return 2
    except (KeyboardInterrupt, typer.Abort):
        code = _INTERRUPTED
    except BrokenPipeError:
        sys.stdout = None  # whoever read our output has gone; that is no error of ours
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


def _came_of_an_interrupt(error: Exception) -> bool:
    """Whether a signal came while Python waited on a condition, which then releases a lock that it does not hold."""
    return isinstance(error, RuntimeError) and isinstance(error.__context__, KeyboardInterrupt)


def _show_error(message: str, hint: str | None = None) -> None:
    console = terminal.messages()
    console.print(Text("error: ", style="bold red") + Text(message))
    if hint:
        console.print(Text("  hint: ", style="bold") + Text(hint))


def _show_usage(error: typer.TyperException) -> None:
    show = getattr(error, "show", None)  # usage errors know the command they are about
    if show is None:
        _show_error(error.format_message())
    else:
        show()
