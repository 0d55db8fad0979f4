"""Containers of builds that wait for what they are to do: starting one takes as long as many a build's commands."""

from __future__ import annotations

import contextlib
import shutil
import threading
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING

from harness.sandbox import engine

if TYPE_CHECKING:
    import socket
    from collections.abc import Callable
    from pathlib import Path


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

    def leave(self) -> None:
        """Let go of all but the container."""
        self.attached.close()
        shutil.rmtree(self.scratch, ignore_errors=True)


class Ahead:
    """Containers that are started beside the step before theirs. Safe to use from several threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._starter: ThreadPoolExecutor | None = None
        self._coming: dict[tuple[str, str], Future[PrestartedContainer]] = {}

    def have(self, key: tuple[str, str], lay: Callable[[], PrestartedContainer]) -> None:
        """Have one started, unless one waits already. `key` is its image and what it is for."""
        with self._lock:
            if key not in self._coming:
                self._starter = self._starter or ThreadPoolExecutor(1, "goldseam-ahead")
                self._coming[key] = self._starter.submit(lay)

    def take(self, key: tuple[str, str]) -> PrestartedContainer | None:
        """The one that was started, if there is one and it runs."""
        with self._lock:
            coming = self._coming.pop(key, None)
        with contextlib.suppress(Exception):  # such as an image that has gone: whoever starts one now hears of it
            return coming.result() if coming else None
        return None

    def clear(self, keep: tuple[str, str] | None = None) -> None:
        """Have those removed that are not needed after all; nobody waits for that before the end."""
        with self._lock:
            for lane in [key for key in self._coming if key != keep]:
                assert self._starter is not None  # noqa: S101 - it started them
                self._starter.submit(_remove_when_there, self._coming.pop(lane))

    def close(self) -> None:
        """Remove those that nobody took."""
        self.clear()
        if self._starter is not None:
            self._starter.shutdown()


def _remove_when_there(coming: Future[PrestartedContainer]) -> None:
    if coming.exception() is None:
        berth = coming.result()
        remove(berth.container)
        berth.leave()
