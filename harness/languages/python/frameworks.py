"""Test frameworks by name: one module each, in one literal table."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from harness.core.errors import InputError
from harness.languages.python import nose, pytest
from harness.languages.python.suites import DJANGO, UNITTEST

if TYPE_CHECKING:
    from harness.languages.base import Framework

FRAMEWORKS = {"pytest": pytest, "nose": nose, "unittest": UNITTEST, "django": DJANGO}


def framework(name: str) -> Framework:
    """The framework of that name.

    Raises:
        InputError: no such framework.

    """
    if name not in FRAMEWORKS:
        raise InputError(f"unknown test framework {name!r}; known: {', '.join(FRAMEWORKS)}")
    return cast("Framework", FRAMEWORKS[name])
