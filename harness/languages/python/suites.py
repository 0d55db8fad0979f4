"""unittest suites without pytest: by unittest's own loader, or the repository's program that makes Django's world.

The runner (`inside/suites.py`) writes the frames of pytest's recorder, under ids of the same form, so that they
are read by the same rules.
"""

from __future__ import annotations

import posixpath
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from harness.core.instance import TestSpec
from harness.languages.base import TestReport
from harness.languages.python import pytest

COLLECT_ONLY = "--collect-only"
PROGRAM = "--"
"""Behind it stands the repository's own program, with its arguments."""


@dataclass(frozen=True, kw_only=True)
class Suites:
    """A framework whose tests are unittest suites.

    A task's options are: `--chdir=FOLDER` where it is called from, `--top=FOLDER` that modules are named from,
    `-W FILTER`, `--labels` where the program has to be told the modules, and the program behind `--`.
    """

    name: str
    suites: bool = True
    generators: bool = False

    def argv(self, spec: TestSpec) -> tuple[str, ...]:
        """The task's options; `--collect-only` goes before the program, wherever it was put."""
        words = spec.options
        if COLLECT_ONLY not in words:
            return words
        return (COLLECT_ONLY, *(word for word in words if word != COLLECT_ONLY))

    def read(self, frames: Sequence[Mapping[str, Any]]) -> TestReport:
        """Per-test results from the frames of the test process."""
        return pytest.read(frames)


UNITTEST = Suites(name="unittest")
DJANGO = Suites(name="django")


def program_of(options: Sequence[str]) -> str:
    """The path of the program that the options name, from the repository's root; empty where there is none."""
    words = tuple(options)
    if PROGRAM not in words[:-1] or words[words.index(PROGRAM) + 1] == "-m":
        return ""
    folder = next((word.removeprefix("--chdir=") for word in words if word.startswith("--chdir=")), "")
    return posixpath.normpath(posixpath.join(folder, words[words.index(PROGRAM) + 1]))
