"""Programs that are sent into containers. Each is read once, so that a run never mixes two versions of it."""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping, Sequence
from importlib import resources
from typing import Any

from harness.languages.base import Program
from harness.sandbox.job import PYTHON


@functools.cache
def part(name: str, language: str = "") -> str:
    """A file of a language's folder `inside`, or of the one that all languages share."""
    package = ".".join(("harness.languages", *filter(None, (language,)), "inside"))
    return resources.files(package).joinpath(name).read_text(encoding="utf-8")


def command(argv: Sequence[str], requests: Mapping[str, Any], met: Sequence[str], env: Mapping[str, str]) -> Program:
    """A runner that is a program of its own, started by `inside/command.py`.

    `met` names the requests that it meets, each by the shared program of that name.
    """
    requested = {name: requests[name] for name in met if name in requests}
    return Program(
        interpreter=PYTHON,
        sources=tuple((name, part(f"{name}.py").encode()) for name in ("command", *met)),
        parts=("command", *requested),
        spec={"argv": list(argv), **requested},
        env=env,
    )


def in_python(program: str, settings: Mapping[str, Any]) -> list[str]:
    """The words that start a driver in Python, without anything of the image's or of the tree, on its settings."""
    return [PYTHON, "-I", "-S", "-B", "-c", program, json.dumps(settings)]
