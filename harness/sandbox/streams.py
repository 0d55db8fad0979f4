"""Talking with a program in a container over one socket: neither side ever blocks, and no flood is kept."""

from __future__ import annotations

import contextlib
import select
import struct
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import socket


STDOUT, STDERR = 1, 2
_HEADER = struct.Struct(">BxxxI")
_CHUNK = 256 * 1024


class Clipped:
    """Keeps the first and the last bytes of a stream and counts the rest. Pure."""

    def __init__(self, limit: int) -> None:
        self._head_limit = limit // 2
        self._tail_limit = limit - self._head_limit
        self._head = bytearray()
        self._tail = bytearray()
        self.size = 0

    def write(self, data: bytes) -> None:
        self.size += len(data)
        room = self._head_limit - len(self._head)
        if room > 0:
            self._head += data[:room]
            data = data[room:]
        if data:
            self._tail += data
            if len(self._tail) > 2 * self._tail_limit + 65536:
                del self._tail[: len(self._tail) - self._tail_limit]

    def drop(self, count: int) -> None:
        """Take the last bytes back."""
        self.size -= count
        of_tail = min(count, len(self._tail))
        del self._tail[len(self._tail) - of_tail :]
        del self._head[len(self._head) - (count - of_tail) :]

    def value(self) -> bytes:
        tail = bytes(self._tail[-self._tail_limit :]) if self._tail else b""
        dropped = self.size - len(self._head) - len(tail)
        if dropped > 0:
            return bytes(self._head) + f"\n[… {dropped} bytes left out …]\n".encode() + tail
        return bytes(self._head) + tail


class Demultiplexer:
    """Takes apart the engine's attach stream (8-byte header per chunk: stream, length) as it comes. Pure.

    Source: Docker Engine API, `POST /containers/{id}/attach`, "Stream format".
    """

    def __init__(self, *, stdout_limit: int, stderr_limit: int, closing: bytes = b"") -> None:
        self._stdout_limit = stdout_limit
        self._closing = closing
        self._last = {STDOUT: b"", STDERR: b""}
        self._buffer = bytearray()
        self._left = 0
        self._stream = 0
        self.stdout = bytearray()
        self.stdout_overflow = False
        self.stderr = Clipped(stderr_limit)

    def feed(self, data: bytes) -> None:
        self._buffer += data
        at = 0
        while True:
            if self._left == 0:
                if len(self._buffer) - at < _HEADER.size:
                    break
                self._stream, self._left = _HEADER.unpack_from(self._buffer, at)
                at += _HEADER.size
            chunk = bytes(self._buffer[at : at + self._left])
            if not chunk and self._left:
                break
            at += len(chunk)
            self._left -= len(chunk)
            self._take(chunk)
        del self._buffer[:at]

    def closed(self) -> bool:
        """Whether both streams end with the closing word, which is taken off then: nothing more is to come."""
        if not self._closing or any(last != self._closing for last in self._last.values()):
            return False
        self._last.clear()
        self._closing, size = b"", len(self._closing)
        self.stderr.drop(size)
        if not self.stdout_overflow:
            del self.stdout[-size:]
        return True

    def _take(self, chunk: bytes) -> None:
        if size := len(self._closing):
            self._last[self._stream] = (self._last.get(self._stream, b"") + chunk[-size:])[-size:]
        if self._stream == STDERR:
            self.stderr.write(chunk)
        elif len(self.stdout) + len(chunk) <= self._stdout_limit:
            self.stdout += chunk
        else:
            self.stdout_overflow = True


class Merged(Demultiplexer):
    """Both streams as one, in the order in which they come; the middle of a long one is dropped."""

    def __init__(self, *, limit: int) -> None:
        super().__init__(stdout_limit=0, stderr_limit=limit)

    def _take(self, chunk: bytes) -> None:
        self.stderr.write(chunk)


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
