"""Containers of builds that wait for what they are to do: starting one takes as long as many a build's commands."""

from __future__ import annotations

import contextlib
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from harness.sandbox import engine

if TYPE_CHECKING:
    import socket


def remove(container: str) -> None:
    """Remove a build's container; where the engine fails, whoever cleans up after it finds it by its label."""
    with contextlib.suppress(*engine.ConnectionLost):
        engine.remove_container(container)


@dataclass(frozen=True, kw_only=True)
class PrestartedContainer:
    """A container that runs and waits for a build's variables, and then for its script."""

    container: str
    scratch: Path
    attached: socket.socket
    relayed: bool
    """Whether it has no network but what goes over its streams."""

    @property
    def inputs(self) -> Path:
        """The folder of this machine that the commands see as INPUT_DIR."""
        return self.scratch / "in"

    @property
    def out(self) -> Path:
        """The folder of this machine that the commands see as OUT_DIR."""
        return self.scratch / "out"

    def discard(self) -> None:
        """Remove the container as well."""
        remove(self.container)
        self.leave()

    def leave(self) -> None:
        """Let go of all but the container."""
        self.attached.close()
        shutil.rmtree(self.scratch, ignore_errors=True)
