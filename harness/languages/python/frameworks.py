"""Test frameworks by name: one module each, in one literal table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol, cast

from harness.core.errors import InputError
from harness.core.instance import TestSpec
from harness.languages.base import Framework
from harness.languages.python import nose, pytest
from harness.languages.python.suites import DJANGO, UNITTEST


class PythonFramework(Framework, Protocol):
    """A framework of Python's: also how it is called."""

    suites: bool
    """Whether its tests are unittest suites, run without pytest by `inside/suites.py`."""
    generators: bool
    """Whether tests that yield others are collected, by `inside/generators.py`."""

    def argv(self, spec: TestSpec) -> tuple[str, ...]:
        """Arguments before the test files."""


FRAMEWORKS = cast(
    "Mapping[str, PythonFramework]", {"pytest": pytest, "nose": nose, "unittest": UNITTEST, "django": DJANGO}
)


def framework(name: str) -> PythonFramework:
    """The framework of that name.

    Raises:
        InputError: no such framework.

    """
    if name not in FRAMEWORKS:
        raise InputError(f"unknown test framework {name!r}; known: {', '.join(FRAMEWORKS)}")
    return FRAMEWORKS[name]
