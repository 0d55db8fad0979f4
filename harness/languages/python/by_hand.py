"""The repository's own tests, as they stand at the base commit and as a trial would call them. Names no hidden test."""

from __future__ import annotations

from collections.abc import Sequence

from harness.core.clock import prefix
from harness.core.instance import TestSpec
from harness.languages.python.frameworks import PROGRAM, framework

INTERPRETER = "/opt/goldseam/venv/bin/python"
_SUITES = """\
import os, runpy, sys, unittest
roots, folder, top = sys.argv[1:4]
words = sys.argv[4:]
cut = words.index("::")
program, paths = words[:cut], [path.partition("::")[0] for path in words[cut + 1:]]
os.chdir(folder)
sys.path[:] = [os.getcwd()] + [path for path in sys.path if path] + roots.split(":")
def dotted(path):
    file = os.path.join("/testbed", path)
    root = top or os.path.dirname(file)
    while not top and os.path.exists(os.path.join(root, "__init__.py")):
        root = os.path.dirname(root)
    sys.path.insert(0, root)
    return os.path.splitext(os.path.relpath(file, root))[0].replace("/", ".")
names = [dotted(path) for path in paths]
if not program:
    sys.exit(unittest.main(module=None, argv=["unittest"] + (names or ["discover", "-s", top or "."])))
takes_names = "test" in program or program[-1] == "--labels"
program = [word for word in program if word != "--labels"]
run = runpy.run_module if program[0] == "-m" else runpy.run_path
sys.argv = program[program[0] == "-m":] + (names if takes_names else [])
if program[0] != "-m":
    sys.path.insert(0, os.path.dirname(os.path.abspath(program[0])))
run(sys.argv[0], run_name="__main__")
"""
"""Runs unittest's suites as the repository does, for people: by unittest, or by its own program. A program that takes
no names of tests runs all of them."""
_START = """\
import sys
sys.path[:] = [path for path in sys.path if path] + sys.argv.pop(1).split(":")
import pytest
sys.exit(pytest.main(sys.argv[1:]))
"""


def command(spec: TestSpec, paths: Sequence[str] = ()) -> tuple[str, ...]:
    """The program and its arguments that run the tests in these files, or all of them; to be started at the root.

    Raises:
        InputError: nobody knows the task's framework, or its clock is none.

    """
    called = framework(spec.framework)
    words = [word for word in called.argv(spec) if word != "-v"]
    env = {"PYTEST_ADDOPTS": "", **spec.env}
    roots = ":".join(f"/testbed/{root}".rstrip("/.") or "/" for root in spec.pythonpath)
    settings = (f"{name}={value}" for name, value in env.items())
    if called.suites:
        start = (INTERPRETER, "-c", _SUITES, roots, *_of_suites(words))
        return (*prefix(spec.clock), "env", *settings, *start, "::", *paths)
    return (*prefix(spec.clock), "env", *settings, INTERPRETER, "-c", _START, roots, *words, "-q", *paths)


def _of_suites(words: Sequence[str]) -> tuple[str, ...]:
    """The folder to call it in, the one that modules are named from, and the program of a task's options."""

    def value_of(name: str) -> str:
        return next((word.partition("=")[2] for word in words if word.startswith(f"{name}=")), "")

    program = list(words[words.index(PROGRAM) + 1 :]) if PROGRAM in words else []
    folder, top = value_of("--chdir"), value_of("--top")
    labels = ["--labels"] if program and "--labels" in words else []
    return (f"/testbed/{folder}", f"/testbed/{folder}/{top}" if top else "", *program, *labels)
