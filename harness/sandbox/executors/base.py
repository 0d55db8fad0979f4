"""Where work is done: one small Protocol, so that this machine and a cluster look alike.

What takes a machine's time and memory is containers, so what travels is a container's job (`harness.sandbox.job.Job`):
a plain value. What an executor maps over items runs in threads beside the caller, holds whatever it likes and mostly
waits for the executor's sandbox.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from harness.sandbox.executors.admission import Needs
from harness.sandbox.job import Sandbox

Item = TypeVar("Item")
Result = TypeVar("Result")


@dataclass(frozen=True, kw_only=True)
class Place:
    """Where an errand is done: a machine with an engine."""

    sandbox: Sandbox
    note: Callable[[str], None]
    """Tells a person what is being done; told later where that is another machine."""


@dataclass(frozen=True, kw_only=True)
class Errand:
    """Something to do beside an engine that is no container's job, such as building an image. A value that can travel.

    It may be done more than once, as when a node is lost, so it must come to the same each time.
    """

    work: Callable[[Any, Place], Any]
    """A function of one of goldseam's modules; it travels by its name."""
    item: Any
    """What it works on; has to be picklable, as has what comes back."""
    needs: Needs
    image: str = ""
    """The image that it is about: it is done where that is, if it can be."""


class Executor(Protocol):
    """Does work on many items at once and hands results back as they come."""

    is_here: bool
    """Whether containers run on this machine's engine, which the caller may ask for anything else as well."""

    def map(
        self, work: Callable[[Item], Result], items: Iterable[Item], *, cancel: Callable[[], None]
    ) -> Iterator[Result]:
        """Results in the order in which they are ready.

        The first exception ends the work: `cancel` is called, what runs is waited for, and the exception is raised.
        """

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

    def tools_image(self) -> str | None:
        """The image with the tools for signals (see harness/sandbox/images/tools.py); None where there is none.

        To be asked while the sandbox is open.

        Raises:
            InfrastructureError: the engine failed.

        """

    def engines(self) -> int:
        """How many engines containers are spread over, as far as is known; to be asked while the sandbox is open.

        More than one have to pull what another one built.
        """

    def do(self, errand: Errand, *, note: Callable[[str], None], holds: Callable[[Any], str] = lambda _: "") -> Any:
        """What comes of an errand; to be asked while the sandbox is open, from any number of threads.

        `holds` tells of that which image is now where the errand was done: its containers are best started there.

        Raises:
            Exception: what its work raised.
            SandboxError: it can't be done, as engines fail.
            InterruptedRunError: `cancel` of the sandbox was called meanwhile.

        """
