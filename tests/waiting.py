"""Waiting for a fact itself, with a deadline that no busy machine misses."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Protocol, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Sized

Found = TypeVar("Found")


class Running(Protocol):
    """A program that has been started."""

    def poll(self) -> int | None: ...


Left = TypeVar("Left", bound="Sized")
SECONDS = 480.0
_POLL = 0.02


def until(look: Callable[[], Found], child: Running | None = None) -> Found:
    """What `look` finds, as soon as that is something; `child` is to run until then."""
    deadline = time.monotonic() + SECONDS
    while not (found := look()):
        assert child is None or child.poll() is None, "the program ended too early"
        assert time.monotonic() < deadline, "it never came"
        time.sleep(_POLL)
    return found


def left(look: Callable[[], Left]) -> Left:
    """What `look` still finds in the end; that is nothing as soon as there is nothing."""
    deadline = time.monotonic() + SECONDS
    while (found := look()) and time.monotonic() < deadline:
        time.sleep(_POLL)
    return found
