"""Talking with a program in a container over one socket, never blocked by either side."""

from __future__ import annotations

import contextlib
import select
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import socket

    from harness.sandbox.streams import Demultiplexer

_CHUNK = 256 * 1024


class Conversation:
    """Standard input on its way in, both output streams on their way out."""

    def __init__(self, wire: socket.socket, streams: Demultiplexer, stdin: bytes) -> None:
        self._wire = wire
        self._streams = streams
        self._unsent = memoryview(stdin)
        self.received = 0
        """Bytes that have come out."""
        wire.setblocking(False)

    def step(self, seconds: float) -> bool:
        """Move what can be moved, waiting for so long at most. False where the streams have closed."""
        writers = [self._wire] if self._unsent else []
        readable, writable, _ = select.select([self._wire], writers, [], seconds)
        if writable:
            self._push()
        return self._pull() if readable else True

    def drain(self, seconds: float) -> None:
        """Take what is still on its way; something in the background may hold the streams open for ever."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            readable, _, _ = select.select([self._wire], [], [], seconds / 4)
            if not readable or not self._pull():
                return

    def _push(self) -> None:
        with contextlib.suppress(BlockingIOError):
            try:
                self._unsent = self._unsent[self._wire.send(self._unsent[:_CHUNK]) :]
            except (BrokenPipeError, ConnectionResetError):
                self._unsent = self._unsent[:0]  # it ended without reading all of it

    def _pull(self) -> bool:
        with contextlib.suppress(BlockingIOError):
            data = self._wire.recv(_CHUNK)
            if not data:
                return False
            self.received += len(data)
            self._streams.feed(data)
        return True
