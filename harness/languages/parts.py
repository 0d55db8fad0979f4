"""Programs that are sent into containers. Each is read once, so that a run never mixes two versions of it."""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from importlib import resources
from typing import Any

from harness.languages.base import Program
from harness.sandbox.job import PYTHON


def with_env(env: Mapping[str, str], *words: str) -> tuple[str, ...]:
    """A command that is started with these variables."""
    return ("env", *(f"{name}={value}" for name, value in env.items()), *words)


@functools.cache
def part(name: str, language: str = "") -> str:
    """A file of a language's folder `inside`, or of the one that all languages share."""
    package = ".".join(("harness.languages", *filter(None, (language,)), "inside"))
    return resources.files(package).joinpath(name).read_text(encoding="utf-8")


def imported(source: str) -> tuple[str, ...]:
    """The modules that a program imports as it starts."""
    return tuple(dict.fromkeys(re.findall(r"^import (\w+)$", source, re.MULTILINE)))


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
        modules=imported(part("command.py")),
    )


def driver(
    program: str, settings: Mapping[str, Any], requests: Mapping[str, Any], met: Sequence[str], env: Mapping[str, str]
) -> Program:
    """A runner in Python, without anything of the image's or of the tree, on its settings.

    `inside/command.py` goes on as that in a copy of its own process, which is spared the start of an interpreter; the
    words start it elsewhere.
    """
    argv = [PYTHON, "-I", "-S", "-B", "-c", program, json.dumps(settings)]
    started = command(argv, requests, met, env)
    modules = (*started.modules, *imported(program))
    return replace(started, spec={**started.spec, "in_python": True}, modules=modules)
