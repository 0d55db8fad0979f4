"""Removing containers off the critical path, and once more at the end those that could not be removed at once."""

from __future__ import annotations

import contextlib
import queue
import threading
import time

from harness.core.errors import InfrastructureError
from harness.sandbox import engine

CLOSE_SECONDS = 30.0


class Janitor:
    """Removes containers by name, in a thread of its own, so that nobody waits for the engine to do it.

    What an engine in trouble does not remove is tried again at the end. What is left even then carries the label of
    its owner, and the next start removes it (`owners.sweep`).
    """

    def __init__(self) -> None:
        self._names: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        self._left: list[str] = []
        self._thread = threading.Thread(target=self._work, name="goldseam-janitor", daemon=True)
        self._thread.start()

    def remove(self, name: str) -> None:
        """Remove a container, running or not, soon."""
        self._names.put(name)

    def doubt(self, name: str) -> None:
        """A container that there may be, or that an engine in trouble may still create: look for it at the end."""
        self._left.append(name)

    def close(self) -> None:
        """Return when all is removed, or after `CLOSE_SECONDS`: an engine that hangs keeps nobody from ending."""
        deadline = time.monotonic() + CLOSE_SECONDS
        self._names.put(None)
        self._thread.join(CLOSE_SECONDS)
        if self._thread.is_alive() or not self._left or not engine.answers():
            return
        for name in self._left:
            if time.monotonic() < deadline:
                with contextlib.suppress(InfrastructureError, *engine.ConnectionLost):
                    engine.remove_container(name)

    def _work(self) -> None:
        while (name := self._names.get()) is not None:
            try:
                engine.remove_container(name)
            except (InfrastructureError, *engine.ConnectionLost):
                self._left.append(name)
