"""Where a key or a passphrase comes from: a file, an environment variable, or a program that prints it."""

from __future__ import annotations

import os
import shlex
from pathlib import Path

from harness.core import process
from harness.core.errors import InfrastructureError, InputError

SOURCES = "a file, env:VARIABLE, or command:PROGRAM ARGUMENTS"
_SECONDS = 120.0
"""A password manager may ask a person first."""


def read_secret(source: str, *, label: str) -> str:
    """The text that a source holds. It is never part of a message.

    Args:
        source: a path, `env:VAR`, or `command:CMD`, split as a shell would but run without one.
        label: the secret's name in messages, such as `the identity`.

    Raises:
        InputError: there is nothing there, or the program says no.

    """
    kind, colon, place = source.partition(":")
    if colon and kind == "env":
        value = os.environ.get(place)
        if not value:
            raise InputError(f"{label}: the environment variable {place!r} is not set", hint=f"give {SOURCES}")
        return value
    if colon and kind == "command":
        return _printed(place, label=label)
    return _file(Path(source).expanduser(), label=label)


def _printed(command: str, *, label: str) -> str:
    try:
        argv = shlex.split(command)
    except ValueError as error:
        raise InputError(f"{label}: the command cannot be read: {error}") from error
    if not argv:
        raise InputError(f"{label}: no command after `command:`", hint=f"give {SOURCES}")
    try:
        completed = process.run(argv, timeout=_SECONDS, check=False)
    except InfrastructureError as error:
        raise InputError(f"{label}: {argv[0]} gave none", hint="run the command by hand to see what it says") from error
    if completed.returncode != 0 or not completed.stdout.strip():
        ended = f"ended with {completed.returncode}" if completed.returncode else "printed nothing"
        raise InputError(f"{label}: {argv[0]} {ended}", hint="run the command by hand to see what it says")
    return completed.stdout.decode("utf-8", "replace")


def _file(path: Path, *, label: str) -> str:
    try:
        return path.read_bytes().decode("utf-8")
    except FileNotFoundError:
        raise InputError(f"{label}: there is no file {path}", hint=f"give {SOURCES}") from None
    except OSError as error:
        raise InputError(f"{label}: {path} cannot be read: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise InputError(f"{label}: {path} is not text", hint="an age identity or a PEM key is text") from error
