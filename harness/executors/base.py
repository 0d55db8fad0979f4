"""Where pieces of work are done: one small Protocol, so that threads and a cluster look alike."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

Item = TypeVar("Item")
Result = TypeVar("Result")


class Executor(Protocol):
    """Does work on many items at once and hands results back as they come."""

    def map(
        self, work: Callable[[Item], Result], items: Iterable[Item], *, cancel: Callable[[], None]
    ) -> Iterator[Result]:
        """Results in the order in which they are ready.

        The first exception ends the work: `cancel` is called, what runs is waited for, and the exception is raised.
        """
        ...
