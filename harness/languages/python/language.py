"""Python behind the seam of `harness.languages.base`."""

from __future__ import annotations

import functools
import posixpath
from collections.abc import Collection, Mapping, Sequence
from importlib import resources
from typing import TYPE_CHECKING, Any

from harness.core.clock import prefix
from harness.core.instance import TestSpec
from harness.languages import parts
from harness.languages.base import Framework, InnerGrading, Program, Reason
from harness.languages.python import screen
from harness.languages.python.cut import cut
from harness.languages.python.frameworks import FRAMEWORKS, PROGRAM, PythonFramework, folder_of, framework

if TYPE_CHECKING:
    from harness.languages.base import Names

INTERPRETER = "/opt/goldseam/venv/bin/python"
_RUN_SUITES = """\
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
_RUN_PYTEST = """\
import os, sys
sys.path[:] = [path for path in sys.path if path] + sys.argv.pop(1).split(":")
os.chdir(sys.argv.pop(1))
import pytest
sys.exit(pytest.main(sys.argv[1:]))
"""

_ALWAYS = ("recorder", "handout", "tripwire")
_SUITES = ("suites", "outcomes")
_REQUESTS = ("watch", "vary", "clock", "calls")
_SHARED = frozenset({"vary", "clock"})
_PARTS = (*_ALWAYS, *_SUITES, "nose_tests", *_REQUESTS)


def _parts_of(called: PythonFramework) -> tuple[str, ...]:
    """The parts that a framework takes besides those that every trial has."""
    return (*(_SUITES if called.suites else ()), *(("nose_tests",) if called.nose else ()))


@functools.cache
def sources() -> tuple[tuple[str, bytes], ...]:
    """Every part by name; read once, so that a run never mixes two versions of it."""
    own, shared = (resources.files(f"harness.languages.{folder}inside") for folder in ("python.", ""))
    return tuple((part, (shared if part in _SHARED else own).joinpath(f"{part}.py").read_bytes()) for part in _PARTS)


def _of_suites(words: Sequence[str]) -> tuple[str, ...]:
    """The folder to call it in, the one that modules are named from, and the program of a task's options."""
    program = list(words[words.index(PROGRAM) + 1 :]) if PROGRAM in words else []
    folder = folder_of(words)
    top = next((word.removeprefix("--top=") for word in words if word.startswith("--top=")), "")
    labels = ["--labels"] if program and "--labels" in words else []
    return (f"/testbed/{folder}", f"/testbed/{folder}/{top}" if top else "", *program, *labels)


class Python:
    """Python's tests: pytest's, unittest's, Django's and nose's."""

    name = "python"
    frameworks: Mapping[str, Framework] = FRAMEWORKS
    has_tripwires = True
    allowable = screen.ALLOWABLE

    def program(self, test: TestSpec, requests: Mapping[str, Any]) -> Program:
        """A forked process of the supervisor's own Python, with the test framework in it."""
        called = framework(test.framework)
        parts_wanted = {*_parts_of(called), *requests}
        return Program(
            interpreter=INTERPRETER,
            sources=sources(),
            parts=(*_ALWAYS, *(part for part in _PARTS if part in parts_wanted)),
            spec={
                "argv": called.argv(test),
                "chdir": folder_of(test.options),
                "plugins": test.plugins,
                "suites": called.suites,
                "nose": called.nose,
                "pythonpath": test.pythonpath,
                **requests,
            },
            env={"PYTEST_ADDOPTS": "", "PYTEST_DISABLE_PLUGIN_AUTOLOAD": ""},
        )

    def screen(self, test: TestSpec, hidden_paths: Collection[str]) -> Reason:
        """What could be imported or read by the test runner in place of what the task has."""
        return screen.reasons(test, hidden_paths)

    def cut(self, path: str, before: str | None, after: str, keep: Collection[Names]) -> str:
        """By pytest's and unittest's names."""
        return cut(before, after, keep)

    def caveat(self, test: TestSpec, paths: Sequence[str]) -> str:
        """A word on extension modules that were built with the image and can't be built again."""
        return screen.on_compiled(test, paths)

    def graded(self, test: TestSpec) -> InnerGrading:
        """Pytest in a process of its own, or the runner of suites with its parts."""
        called = framework(test.framework)
        return InnerGrading(
            interpreter=INTERPRETER,
            argv=tuple(called.argv(test)),
            suites=called.suites,
            nose=called.nose,
            chdir=folder_of(test.options),
            parts={f"{name}.py": source for name, source in sources() if name in _parts_of(called)},
        )

    def by_hand(self, test: TestSpec, paths: Sequence[str]) -> tuple[str, ...]:
        """The task's Python with the test framework's own program."""
        called = framework(test.framework)
        words = [word for word in called.argv(test) if word != "-v"]
        roots = ":".join(f"/testbed/{root}".rstrip("/.") or "/" for root in test.pythonpath)
        folder = folder_of(test.options)
        if called.suites:
            start = (INTERPRETER, "-c", _RUN_SUITES, roots, *_of_suites(words), "::", *paths)
        else:
            files = [posixpath.join("/testbed", path) for path in paths] if folder else paths
            start = (INTERPRETER, "-c", _RUN_PYTEST, roots, f"/testbed/{folder}", *words, "-q", *files)
        return (*prefix(test.clock), *parts.with_env({"PYTEST_ADDOPTS": "", **test.env}, *start))


PYTHON = Python()
