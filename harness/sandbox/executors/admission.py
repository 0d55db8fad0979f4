"""Who may start now: as many as fit in the processors and the memory that there are, and nobody waits for ever."""

from __future__ import annotations

import contextlib
import threading
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from harness.core.errors import InterruptedRunError

OVERTAKEN = 8
"""How often whoever waits longest may be overtaken by others that fit; after that they queue behind it."""
LOOK_SECONDS = 2.0
"""How often the machine is looked at again while somebody waits, for memory that other programs have let go."""


@dataclass(frozen=True, kw_only=True)
class Needs:
    """What one container may use, or what a machine has for all of them."""

    cpus: float
    memory_mb: int

    def __add__(self, other: Needs) -> Needs:
        return Needs(cpus=self.cpus + other.cpus, memory_mb=self.memory_mb + other.memory_mb)

    def __sub__(self, other: Needs) -> Needs:
        return Needs(cpus=self.cpus - other.cpus, memory_mb=self.memory_mb - other.memory_mb)

    def within_room(self, room: Needs) -> bool:
        return self.cpus <= room.cpus + 1e-9 and self.memory_mb <= room.memory_mb

    def within(self, room: Needs) -> Needs:
        """The same, cut to what there is at most."""
        return Needs(cpus=min(self.cpus, room.cpus), memory_mb=min(self.memory_mb, room.memory_mb))


NOTHING = Needs(cpus=0.0, memory_mb=0)


@dataclass(eq=False)
class _Waiting:
    needs: Needs
    overtaken: int = 0


class Queue:
    """The rule, without threads: who waits, who runs, who is next. Pure but for what it remembers.

    First come, first served, except that one which fits goes before one that does not, up to `OVERTAKEN` times. What is
    larger than the machine runs alone.
    """

    def __init__(self, room: Needs) -> None:
        self.room = room
        self.used = NOTHING
        self.running = 0
        self._waiting: deque[_Waiting] = deque()

    def enqueue(self, needs: Needs) -> _Waiting:
        """Line up. Whoever is larger than the machine asks for all of it."""
        waiting = _Waiting(needs=needs.within(self.room))
        self._waiting.append(waiting)
        return waiting

    def leave(self, waiting: _Waiting) -> None:
        """Give up waiting."""
        self._waiting.remove(waiting)

    def may_start(self, waiting: _Waiting, *, free_mb: int | None = None) -> bool:
        """Whether one that waits may start now.

        `free_mb` is what the machine has free besides, where that is known: other programs use memory too. Where
        nothing of ours runs it does not count, since nobody else would ever make room.
        """
        room = self.room - self.used
        if self.running and free_mb is not None:
            room = Needs(cpus=room.cpus, memory_mb=min(room.memory_mb, free_mb))
        for earlier in self._waiting:
            has_room = earlier.needs.within_room(room)
            if earlier is waiting:
                return has_room
            if has_room or earlier.overtaken >= OVERTAKEN:
                return False
        return False

    def start(self, waiting: _Waiting) -> Needs:
        """Take the room for one that may start; what was taken is to be given back with `end`."""
        for earlier in self._waiting:
            if earlier is waiting:
                break
            earlier.overtaken += 1
        self._waiting.remove(waiting)
        self.used += waiting.needs
        self.running += 1
        return waiting.needs

    def end(self, needs: Needs) -> None:
        """Give room back."""
        self.used -= needs
        self.running -= 1


class Admission:
    """`Queue` for threads. `free_mb` tells the memory that the machine has free just now; None where it can't."""

    def __init__(
        self,
        room: Needs,
        *,
        free_mb: Callable[[], int | None] = lambda: None,
        note: Callable[[str], None] | None = None,
    ) -> None:
        self._queue = Queue(room)
        self._free_mb = free_mb
        self._note = note or (lambda _text: None)
        self._changed = threading.Condition()
        self._cancelled = False
        self._warned: set[Needs] = set()

    @contextlib.contextmanager
    def of(self, needs: Needs) -> Iterator[None]:
        """Wait for room, and hold it.

        Raises:
            InterruptedRunError: `cancel` was called before there was room.

        """
        self._warn_of(needs)
        with self._changed:
            needs_taken = self._wait(self._queue.enqueue(needs))
        try:
            yield
        finally:
            with self._changed:
                self._queue.end(needs_taken)
                self._changed.notify_all()

    def cancel(self) -> None:
        """Let nobody in any more."""
        with self._changed:
            self._cancelled = True
            self._changed.notify_all()

    def _wait(self, waiting: _Waiting) -> Needs:
        while not self._cancelled:
            if self._queue.may_start(waiting, free_mb=self._free_mb()):
                needs = self._queue.start(waiting)
                self._changed.notify_all()  # who waits behind may be next already
                return needs
            self._changed.wait(LOOK_SECONDS)
        self._queue.leave(waiting)
        raise InterruptedRunError("the run was interrupted")

    def _warn_of(self, needs: Needs) -> None:
        room = self._queue.room
        if needs.within_room(room) or needs in self._warned:
            return
        self._warned.add(needs)
        self._note(
            f"a task may use {needs.memory_mb} MiB and {needs.cpus:g} processors; this machine has {room.memory_mb} MiB"
            f" and {room.cpus:g} for containers, so such tasks run alone"
        )
