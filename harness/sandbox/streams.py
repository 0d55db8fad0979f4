"""Reading a container's two streams without ever letting it block, and without keeping a flood."""

from __future__ import annotations

import struct

STDOUT, STDERR = 1, 2
_HEADER = struct.Struct(">BxxxI")


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

    def __init__(self, *, stdout_limit: int, stderr_limit: int) -> None:
        self._stdout_limit = stdout_limit
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

    def _take(self, chunk: bytes) -> None:
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
