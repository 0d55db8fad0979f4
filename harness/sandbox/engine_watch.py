"""Noticing that the engine was stopped or restarted while a job ran."""

from __future__ import annotations

import ssl
import threading
from typing import TYPE_CHECKING

from harness.sandbox import engine

if TYPE_CHECKING:
    import socket


class EngineWatch:
    """A connection that is held open while jobs run: where it has broken, the engine went away in between.

    An engine that is restarted takes its containers down, or lets go of their output. To whoever asks the new one, that
    looks as if the tests had ended the container themselves, which would be a verdict about the patch.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._wire: socket.socket | None = None
        self._number = 0

    def begin(self) -> int:
        """Watch from now on. Returns the number that `unbroken` takes.

        Raises:
            ConnectionLost: the engine does not answer.

        """
        with self._lock:
            if not self._is_open():
                self._close()
                self._wire = engine.watch()
                self._number += 1
            return self._number

    def unbroken(self, since: int) -> bool:
        """Whether the engine has been there all the time since `begin`."""
        with self._lock:
            return self._number == since and self._is_open()

    def close(self) -> None:
        with self._lock:
            self._close()

    def _close(self) -> None:
        if self._wire is not None:
            self._wire.close()
            self._wire = None

    def _is_open(self) -> bool:
        if self._wire is None:
            return False
        try:
            return self._wire.recv(65536) != b""
        except (BlockingIOError, ssl.SSLWantReadError):
            return True
        except OSError:
            return False
