"""Tests as nose had them, by pytest: it runs all of them but those that yield others, which are collected for it."""

from __future__ import annotations

from harness.languages.python.pytest import argv, read

__all__ = ["argv", "generators", "name", "read", "suites"]

name = "nose"
suites = False
generators = True
