"""Python behind the seam of `harness.languages.base`."""

from __future__ import annotations

import functools
from collections.abc import Collection, Mapping, Sequence
from importlib import resources
from typing import Any

from harness.core.instance import TestSpec
from harness.languages.base import Framework, InnerGrading, Program, Reason
from harness.languages.python import by_hand, screen
from harness.languages.python.frameworks import FRAMEWORKS, framework

INTERPRETER = by_hand.INTERPRETER
_ALWAYS = ("recorder", "handout", "tripwire")
_SUITES = ("suites", "outcomes")
_REQUESTS = ("watch", "vary", "clock", "calls")
_SHARED = frozenset({"vary", "clock"})
_PARTS = (*_ALWAYS, *_SUITES, "generators", *_REQUESTS)


@functools.cache
def sources() -> tuple[tuple[str, bytes], ...]:
    """Every part by name; read once, so that a run never mixes two versions of it."""
    own, shared = (resources.files(f"harness.languages.{folder}inside") for folder in ("python.", ""))
    return tuple((part, (shared if part in _SHARED else own).joinpath(f"{part}.py").read_bytes()) for part in _PARTS)


class Python:
    """Python's tests: pytest's, unittest's, Django's and nose's."""

    name = "python"
    frameworks: Mapping[str, Framework] = FRAMEWORKS
    has_tripwires = True
    allowable = screen.ALLOWABLE

    def program(self, test: TestSpec, requests: Mapping[str, Any]) -> Program:
        """A forked process of the supervisor's own Python, with the test framework in it."""
        called = framework(test.framework)
        parts_wanted = {*(_SUITES if called.suites else ()), *(("generators",) if called.generators else ()), *requests}
        return Program(
            interpreter=INTERPRETER,
            sources=sources(),
            parts=(*_ALWAYS, *(part for part in _PARTS if part in parts_wanted)),
            spec={
                "argv": called.argv(test),
                "plugins": test.plugins,
                "suites": called.suites,
                "generators": called.generators,
                "pythonpath": test.pythonpath,
                **requests,
            },
            env={"PYTEST_ADDOPTS": "", "PYTEST_DISABLE_PLUGIN_AUTOLOAD": ""},
        )

    def screen(self, test: TestSpec, hidden_paths: Collection[str]) -> Reason:
        """What could be imported or read by the test runner in place of what the task has."""
        return screen.reasons(test, hidden_paths)

    def caveat(self, test: TestSpec, paths: Sequence[str]) -> str:
        """A word on extension modules that were built with the image and can't be built again."""
        return screen.on_compiled(test, paths)

    def graded(self, test: TestSpec) -> InnerGrading:
        """Pytest in a process of its own, or the runner of suites with its parts."""
        called = framework(test.framework)
        names = (*(_SUITES if called.suites else ()), *(("generators",) if called.generators else ()))
        return InnerGrading(
            interpreter=INTERPRETER,
            argv=tuple(called.argv(test)),
            suites=called.suites,
            generators=called.generators,
            parts={f"{name}.py": source for name, source in sources() if name in names},
        )

    def by_hand(self, test: TestSpec, paths: Sequence[str]) -> tuple[str, ...]:
        """The task's Python with the test framework's own program."""
        return by_hand.command(test, paths)


PYTHON = Python()
