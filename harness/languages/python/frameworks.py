"""Test frameworks by name, in one literal table.

unittest suites go without pytest: by unittest's own loader, or the repository's program that makes Django's world.
Their runner (`inside/suites.py`) writes the frames of pytest's recorder, under ids of the same form, so that they are
read by the same rules.
"""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from harness.core.errors import InputError
from harness.core.instance import TestSpec
from harness.languages.base import TestReport
from harness.languages.python import pytest

COLLECT_ONLY = "--collect-only"
PROGRAM = "--"
"""Behind it stands the repository's own program, with its arguments."""


@dataclass(frozen=True, kw_only=True)
class PythonFramework:
    """A framework of Python's: also how it is called."""

    name: str
    argv: Callable[[TestSpec], tuple[str, ...]]
    """Arguments before the test files."""
    suites: bool = False
    """Whether its tests are unittest suites, run without pytest by `inside/suites.py`."""
    nose: bool = False
    """Whether tests are run as nose had them, by `inside/nose_tests.py`."""

    def read(self, frames: Sequence[Mapping[str, Any]]) -> TestReport:
        """Per-test results from the frames of the test process."""
        return pytest.read(frames)


def _suites_argv(spec: TestSpec) -> tuple[str, ...]:
    """The task's options; `--collect-only` goes before the program, wherever it was put.

    They are: `--chdir=FOLDER` where it is called from, `--top=FOLDER` that modules are named from, `-W FILTER`,
    `--labels` where the program has to be told the modules, and the program behind `--`.
    """
    words = spec.options
    if COLLECT_ONLY not in words:
        return words
    return (COLLECT_ONLY, *(word for word in words if word != COLLECT_ONLY))


PYTEST = PythonFramework(name="pytest", argv=pytest.argv)
NOSE = PythonFramework(name="nose", argv=pytest.argv, nose=True)
"""Tests as nose had them, by pytest, which is told what it does not know of them."""
UNITTEST = PythonFramework(name="unittest", argv=_suites_argv, suites=True)
DJANGO = PythonFramework(name="django", argv=_suites_argv, suites=True)
FRAMEWORKS: Mapping[str, PythonFramework] = {known.name: known for known in (PYTEST, NOSE, UNITTEST, DJANGO)}


def framework(name: str) -> PythonFramework:
    """The framework of that name.

    Raises:
        InputError: no such framework.

    """
    if name not in FRAMEWORKS:
        raise InputError(f"unknown test framework {name!r}; known: {', '.join(FRAMEWORKS)}")
    return FRAMEWORKS[name]


def program_of(options: Sequence[str]) -> str:
    """The path of the program that the options name, from the repository's root; empty where there is none."""
    words = tuple(options)
    if PROGRAM not in words[:-1] or words[words.index(PROGRAM) + 1] == "-m":
        return ""
    return posixpath.normpath(posixpath.join(folder_of(words), words[words.index(PROGRAM) + 1]))


def folder_of(options: Sequence[str]) -> str:
    """The folder that the options start the tests in, from the repository's root; empty for the root itself."""
    return next((word.removeprefix(pytest.CHDIR) for word in options if word.startswith(pytest.CHDIR)), "")
