"""A way to a server, such as an engine, that can be slowed down, cut off, or made to swallow chosen requests."""

from __future__ import annotations

import contextlib
import socket
import threading
import time
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

_POLL = 0.1


class Proxy:
    """Forwards what comes to a listening socket to a Unix socket.

    Like an activated socket of systemd's, it holds on to whoever comes while the server is down. The first bytes of
    whatever a client sends are shown to `swallows`: what it says yes to is never forwarded, nor is anything after it.
    """

    def __init__(self, listening: socket.socket, target: Path) -> None:
        self.swallows: Callable[[bytes], bool] = lambda _head: False
        self.seen: list[bytes] = []
        self.bytes_per_second: float | None = None
        """From the server to the client; None means as fast as can be."""
        self.stalled = threading.Event()
        """While it is set, nothing comes back from the server."""
        self.refuses = threading.Event()
        """While it is set, whoever connects is sent away."""
        self.sent_away = threading.Semaphore(0)
        """Released each time that somebody is."""
        self._target = target
        self._over = threading.Event()
        self._listening = listening
        listening.settimeout(_POLL)
        self._threads = [threading.Thread(target=self._accept)]

    @classmethod
    def at(cls, path: Path, target: Path) -> Self:
        """A proxy at a Unix socket of its own."""
        listening = socket.socket(socket.AF_UNIX)
        listening.bind(str(path))
        listening.listen(64)
        return cls(listening, target)

    def __enter__(self) -> Self:
        self._threads[0].start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        while self._threads:
            self._threads.pop().join()
        self._listening.close()

    def _accept(self) -> None:
        while not self._over.is_set():
            with contextlib.suppress(TimeoutError):
                client, _ = self._listening.accept()
                if self.refuses.is_set():
                    client.close()
                    self.sent_away.release()
                    continue
                serving = threading.Thread(target=self._serve, args=(client,))
                serving.start()
                self._threads.append(serving)  # started already: `__exit__` may join it at any moment

    def _reach(self) -> socket.socket:
        while not self._over.is_set():
            server = socket.socket(socket.AF_UNIX)
            try:
                server.connect(str(self._target))
            except OSError:
                server.close()
                time.sleep(_POLL)
            else:
                return server
        raise ConnectionError

    def _serve(self, client: socket.socket) -> None:
        with client, contextlib.suppress(ConnectionError), self._reach() as server:
            client.settimeout(_POLL)
            server.settimeout(_POLL)
            up = threading.Thread(target=self._up, args=(client, server))
            up.start()
            self._down(server, client)
            up.join()

    def _up(self, client: socket.socket, server: socket.socket) -> None:
        swallowed = False
        for data in self._read(client):
            self.seen.append(data[:400])
            swallowed = swallowed or self.swallows(data)
            if not swallowed:
                self._send(server, data)
        with contextlib.suppress(OSError):
            server.shutdown(socket.SHUT_WR)

    def _down(self, server: socket.socket, client: socket.socket) -> None:
        for data in self._read(server):
            while self.stalled.is_set() and not self._over.is_set():
                time.sleep(_POLL)
            if self.bytes_per_second:
                time.sleep(len(data) / self.bytes_per_second)
            self._send(client, data)
        with contextlib.suppress(OSError):
            client.shutdown(socket.SHUT_RDWR)

    def _read(self, source: socket.socket):
        with contextlib.suppress(ConnectionError):
            while not self._over.is_set():
                with contextlib.suppress(TimeoutError):
                    data = source.recv(65536)
                    if not data:
                        return
                    yield data

    def _send(self, target: socket.socket, data: bytes) -> None:
        view = memoryview(data)
        while view and not self._over.is_set():
            try:
                view = view[target.send(view) :]
            except TimeoutError:
                continue
            except OSError:
                return
