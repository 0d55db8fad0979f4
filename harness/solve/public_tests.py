"""The repository's own tests, as they stand at the base commit and as a trial would call them. Names no hidden test."""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness.clock import prefix
from harness.frameworks import framework
from harness.sandbox.session import PYTHON

if TYPE_CHECKING:
    from collections.abc import Sequence

    from harness.instance import TestSpec

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
    words = [word for word in framework(spec.framework).argv(spec) if word != "-v"]
    env = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTEST_ADDOPTS": "", **spec.env}
    roots = ":".join(f"/testbed/{root}".rstrip("/.") or "/" for root in spec.pythonpath)
    settings = (f"{name}={value}" for name, value in env.items())
    return (*prefix(spec.clock), "env", *settings, PYTHON, "-c", _START, roots, *words, "-q", *paths)
