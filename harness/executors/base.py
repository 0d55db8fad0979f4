"""Where work is done: one small Protocol, so that this machine and a cluster look alike.

What takes a machine's time and memory is containers, so what travels is a container's job (`harness.sandbox.base.Job`):
a plain value. What an executor maps over items runs in threads beside the caller, holds whatever it likes and mostly
waits for the executor's sandbox.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from harness.sandbox.base import Sandbox

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

    def sandbox(
        self,
        *,
        runtime: str | None = None,
        sweep: bool = True,
        engine_wait: float | None = None,
        note: Callable[[str], None] | None = None,
    ) -> Sandbox:
        """Where this executor's containers run, to be entered; the arguments are those of `DockerSandbox`.

        Any number of threads may hand it jobs: it starts as many at once as there is room for.
        """
        ...

    def tools_image(self) -> str | None:
        """The image with the tools for signals (see harness/signals/tools.py); None where there is none.

        To be asked while the sandbox is open.

        Raises:
            InfrastructureError: the engine failed.

        """
        ...
