"""The `goldseam` program, run inside the test's own process.

A process of its own spends three seconds on imports, again and again. Tests that must see a real process (signals, exit
codes of the interpreter, what reaches an argument list) start `python -m miner.cli.main` instead.
"""

from __future__ import annotations

import contextlib
import io
import os
import signal
from dataclasses import dataclass
from typing import TYPE_CHECKING
from unittest import mock

from harness.cli.program import run_app
from miner.cli import main

if TYPE_CHECKING:
    from pathlib import Path


@dataclass(frozen=True, kw_only=True)
class Ran:
    """What a call of the program came to."""

    returncode: int
    stdout: str
    error_text: str


def goldseam(*words: str | Path, **env: str) -> Ran:
    """Run one command line with these variables over the environment."""
    out, err = io.StringIO(), io.StringIO()
    on_terminate = signal.getsignal(signal.SIGTERM)
    try:
        with mock.patch.dict(os.environ, env), contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = run_app(main.app, [str(word) for word in words])
    finally:
        signal.signal(signal.SIGTERM, on_terminate)
    return Ran(returncode=code, stdout=out.getvalue(), error_text=err.getvalue())
