"""What a sandbox is: one job in, one result out, nothing left behind. The engine behind it is a detail."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol, Self

from harness.core.errors import InfrastructureError
from harness.core.instance import Budgets, Service


class MissingImageError(InfrastructureError):
    """The engine does not have the image a task is pinned to."""


class SandboxError(InfrastructureError):
    """The engine failed before, during or after a job; what the job itself did is unknown."""


class ServiceError(SandboxError):
    """A service that the job needs did not start, so the job did not either."""


GRACE_SECONDS = 20.0
PYTHON = "/usr/bin/python3"
"""The base image's own, which every image has, whatever the language of its tests."""


@dataclass(frozen=True, kw_only=True)
class Job:
    """One program to run in a fresh, locked-down container."""

    image: str
    """A digest, never a tag."""
    argv: tuple[str, ...]
    stdin: bytes
    budgets: Budgets
    env: Mapping[str, str] = field(default_factory=dict)
    grace_seconds: float = GRACE_SECONDS
    """Wall time on top of `budgets.seconds` before the container is killed from outside."""
    services: tuple[Service, ...] = ()
    """What runs beside it, anew, and is ready before it starts."""
    closing: bytes = b""
    """What its program writes last on both streams where it ends by itself and nothing was killed for memory: its end
    is not waited for then, and the exit code is 0."""
    hostname: str = "sandbox"
    """What the container is called; one that runs beside services has the name that comes with their network."""

    @property
    def container(self) -> tuple[object, ...]:
        """All that its container is made of: one that was started for another job with the same will do."""
        budgets = self.budgets
        limits = (budgets.memory_mb, budgets.cpus, budgets.pids, budgets.disk_mb)
        return (self.image, self.argv, tuple(sorted(self.env.items())), limits, self.hostname, self.services)

    @property
    def memory_mb(self) -> int:
        """What it may use in all, services included."""
        return self.budgets.memory_mb + sum(service.memory_mb for service in self.services)


@dataclass(frozen=True, kw_only=True)
class JobResult:
    """What the job left: two separate streams, how it ended, and what the engine knows of it."""

    exit_code: int
    stdout: bytes
    """The result channel, whole; at most `STDOUT_LIMIT` bytes are taken."""
    stderr: bytes
    """The printed output, cut in the middle where it is longer than `budgets.output_bytes`."""
    stderr_size: int
    """Bytes printed in all."""
    oom_killed: bool
    timed_out: bool
    """Killed from outside, after `budgets.seconds` and the grace."""
    stdout_overflow: bool
    timings: Mapping[str, float] = field(default_factory=dict)
    """Seconds per step: create, start, run, remove…"""


class Sandbox(Protocol):
    """Runs jobs; a context manager that leaves no container behind. Safe to use from several threads."""

    def run(self, job: Job) -> JobResult:
        """Run one job to its end, within its budgets.

        Raises:
            MissingImageError: the image, or that of a service, is not there.
            ServiceError: a service did not start.
            SandboxError: the engine failed.
            InterruptedRunError: `cancel` was called meanwhile.

        """

    def expect(self, job: Job) -> None:
        """A hint that a job is about to come in such a container; its standard input and its time may be others."""
        del job

    def is_healthy(self) -> bool:
        """Whether the engine answers at all: if so, a failed job says something of that job only."""

    def cancel(self) -> None:
        """End running jobs soon and refuse new ones."""

    def __enter__(self) -> Self: ...

    def __exit__(self, *_: object) -> None: ...
