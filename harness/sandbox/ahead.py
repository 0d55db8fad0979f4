"""Containers that wait for what they are to do: starting one takes as long as many a program in it."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Hashable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Generic, Protocol, TypeVar


class Waiting(Protocol):
    """A container that was started."""

    def discard(self) -> None:
        """Have it removed, as nobody needs it."""


Container = TypeVar("Container", bound=Waiting)


class Ahead(Generic[Container]):
    """Containers that are started beside what runs before them. Safe to use from several threads.

    `most` of them wait at once: where one more is asked for, the one that waits longest goes.
    """

    def __init__(self, *, most: int | None = None) -> None:
        self._most = most
        self._lock = threading.Lock()
        self._starter: ThreadPoolExecutor | None = None
        self._coming: list[tuple[Hashable, Future[Container]]] = []

    def have(self, key: Hashable, start: Callable[[], Container], *, one_more: bool = False) -> None:
        """Have one started, unless one waits already, or also then. `key` is all that it is made of."""
        with self._lock:
            if one_more or not any(key == waiting for waiting, _ in self._coming):
                self._starter = self._starter or ThreadPoolExecutor(1, "goldseam-ahead")
                self._coming.append((key, self._starter.submit(start)))
            if self._most is not None and len(self._coming) > self._most:
                self._let_go(self._coming[0])

    def take(self, key: Hashable, *, in_turn: bool = True) -> Container | None:
        """One that was started, if there is one and it runs; those before it are waited for if `in_turn`."""
        with self._lock:
            entry = next((entry for entry in self._coming if entry[0] == key), None)
            if entry is None:
                return None
            self._coming.remove(entry)
        coming = entry[1]
        if not in_turn and coming.cancel():
            return None
        with contextlib.suppress(Exception):  # such as an image that has gone: whoever starts one now hears of it
            return coming.result()
        return None

    def clear(self, keep: Hashable = None) -> None:
        """Have those removed that are not needed after all; nobody waits for that before the end."""
        with self._lock:
            for entry in [entry for entry in self._coming if entry[0] != keep]:
                self._let_go(entry)

    def close(self) -> None:
        """Remove those that nobody took."""
        self.clear()
        if self._starter is not None:
            self._starter.shutdown()

    def _let_go(self, entry: tuple[Hashable, Future[Container]]) -> None:
        self._coming.remove(entry)
        if not entry[1].cancel():
            assert self._starter is not None  # noqa: S101 - it started them
            self._starter.submit(_discard_when_there, entry[1])


def _discard_when_there(coming: Future[Container]) -> None:
    if coming.exception() is None:
        coming.result().discard()
