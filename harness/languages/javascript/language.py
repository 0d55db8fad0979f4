"""JavaScript and TypeScript behind the seam of `harness.languages.base`."""

from __future__ import annotations

import functools
import json
import posixpath
from importlib import resources
from typing import TYPE_CHECKING, Any, cast

from harness.languages.base import Program
from harness.languages.javascript import screen
from harness.languages.javascript.frameworks import FRAMEWORKS

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from harness.core.instance import TestSpec
    from harness.languages.base import Framework, Reason

NODE = "/opt/goldseam/node/bin/node"
ROOT = "--root="
"""The first of a task's options where its package is not the repository's root."""

_PATH = "./node_modules/.bin:/testbed/node_modules/.bin:/opt/goldseam/node/bin:/usr/bin:/bin"
_PROGRAMS = {
    "jest": ("jest",),
    "vitest": ("vitest", "run"),
    "mocha": ("mocha",),
    "node:test": ("node", "--test"),
    "tap": ("tape",),
}


@functools.cache
def _part(name: str) -> str:
    """A part in JavaScript; read once, so that a run never mixes two versions of it."""
    return resources.files("harness.languages.javascript.inside").joinpath(name).read_text(encoding="utf-8")


@functools.cache
def _sources() -> tuple[tuple[str, bytes], ...]:
    return (("command", resources.files("harness.languages.inside").joinpath("command.py").read_bytes()),)


class JavaScript:
    """The project's own runner, on Node, with a reporter of ours."""

    name = "javascript"
    frameworks = cast("Mapping[str, Framework]", FRAMEWORKS)
    has_tripwires = False
    allowable = screen.ALLOWABLE

    def program(self, test: TestSpec, requests: Mapping[str, Any]) -> Program:
        """Node with the driver, as a program of its own; no request is met but what the environment can say."""
        del requests
        root, options = _rooted(test)
        asked = {
            "framework": test.framework,
            "root": root,
            "options": options,
            "shared": _part("shared.js"),
            "reporter": _part(f"{FRAMEWORKS[test.framework].reporter}.js"),
        }
        return Program(
            interpreter="/usr/bin/python3",
            sources=_sources(),
            parts=("command",),
            spec={"argv": [NODE, "-e", _part("driver.cjs"), "--", json.dumps(asked)]},
            env={"CI": "1", "NODE_OPTIONS": "", "NO_COLOR": "1", "FORCE_COLOR": "0", "NODE_DISABLE_COMPILE_CACHE": "1"},
        )

    def screen(self, test: TestSpec, hidden_paths: Collection[str]) -> Reason:
        """What says how tests are found, loaded and run, and what is installed."""
        del test, hidden_paths
        return screen.reason

    def by_hand(self, test: TestSpec, paths: Sequence[str]) -> tuple[str, ...]:
        """The runner's own program, in the folder of the package."""
        root, options = _rooted(test)
        program = _PROGRAMS[test.framework]
        given = [posixpath.relpath(path.partition("::")[0], root) for path in paths]
        enter = ("sh", "-c", 'cd "$1" && shift && exec "$@"', "sh", root)
        return (*enter, "env", "CI=1", f"PATH={_PATH}", *program, *options, *given)

    def caveat(self, test: TestSpec, paths: Sequence[str]) -> str:
        """Nothing."""
        del test, paths
        return ""


def _rooted(test: TestSpec) -> tuple[str, list[str]]:
    """The folder of the package, and the runner's own options."""
    root = next((option[len(ROOT) :] for option in test.options if option.startswith(ROOT)), ".")
    return root, [option for option in test.options if not option.startswith(ROOT)]


JAVASCRIPT = JavaScript()
