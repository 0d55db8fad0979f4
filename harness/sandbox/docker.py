"""Jobs in Docker (or Podman behind Docker's API): create, attach, start, read, wait, remove.

The order is the fast one, measured: attach before start, no `stop`, no `exec`, removal off the critical path. stdout
and stderr may arrive out of order relative to each other, so nothing here depends on their order.
"""

from __future__ import annotations

import contextlib
import secrets
import select
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Self

from harness.core.errors import InfrastructureError, InterruptedRunError
from harness.sandbox import engine, pod
from harness.sandbox.ahead import Ahead
from harness.sandbox.containers import ENDED_WELL, Containers, ContainerSpec, Janitor, Net, end_of
from harness.sandbox.job import Job, JobResult, MissingImageError, Sandbox, SandboxError
from harness.sandbox.streams import Conversation, Demultiplexer

if TYPE_CHECKING:
    import socket


ENGINE_WAIT_SECONDS = 60.0
STDOUT_LIMIT = 64 * 1024 * 1024
_POLL_SECONDS = 0.25
_DRAIN_SECONDS = 10.0
_MOST_AHEAD = 4
"""Containers that wait for a job that is expected."""
_STOPPED_SECONDS = 2.0
"""A look at a container that comes so late tells that this process was stopped in between, or the machine was."""


class DockerSandbox(Sandbox):
    """A sandbox on the engine that `engine.connect` finds.

    `runtime` names another OCI runtime the engine knows, such as `runsc`. On entering, containers that dead processes
    of this machine left behind are removed; `sweep=False` leaves that out, and needs no engine until a job comes. An
    image that a task names in a registry and that is not here is pulled. An engine that goes away meanwhile may take
    `engine_wait` seconds to come back, a registry twice that. `note` is told what a person may have to wait for, from
    several threads.
    """

    def __init__(
        self,
        *,
        runtime: str | None = None,
        sweep: bool = True,
        engine_wait: float = ENGINE_WAIT_SECONDS,
        note: Callable[[str], None] | None = None,
    ) -> None:
        self._sweeps = sweep
        self._note = note or (lambda _text: None)
        self._containers = Containers(runtime=runtime, note=note, registry_wait=2 * engine_wait)
        self._cancelled = self._containers.cancelled
        self._vigil = self._containers.vigil
        self._ahead: Ahead[_IdleContainer] = Ahead(most=_MOST_AHEAD)
        self._engine_wait = engine_wait
        self._told: set[str] = set()
        self._gone_since: float | None = None
        self._gone_lock = threading.Lock()

    def __enter__(self) -> Self:
        self._containers.begin(sweep=self._sweeps)
        return self

    def __exit__(self, *_: object) -> None:
        self._ahead.close()
        self._containers.close()

    def expect(self, job: Job) -> None:
        """Start a container beside what runs now, so that its job need not wait for it; not where it has services."""
        if not (job.services or self._cancelled.is_set()):
            self._ahead.have(job.container, lambda: self._start(_new_name(), job, _Clock(), None), one_more=True)

    def is_healthy(self) -> bool:
        return engine.answers()

    def cancel(self) -> None:
        self._cancelled.set()

    def run(self, job: Job) -> JobResult:
        if self._cancelled.is_set():
            raise InterruptedRunError("the run was interrupted")
        try:
            return self._attempt(job, _Clock())
        except (MissingImageError, SandboxError):
            raise
        except (InfrastructureError, *engine.ConnectionLost) as error:
            self._wait_for_engine()
            why = engine.cause(error)
            raise SandboxError(
                f"the container engine failed while running {job.image}: {why}", hint=engine.advice(why)
            ) from error

    def _attempt(self, job: Job, clock: _Clock) -> JobResult:
        if job.services:
            name = _new_name()
            watch = self._vigil.begin()
            self._tell(job)
            with pod.opened(self._containers, name, job.image, job.services) as net:
                clock.mark("services")
                result = self._converse_in(self._start(name, job, clock, net), job)
        else:
            started = self._waiting(job) or self._start(_new_name(), job, clock, None)
            watch = started.watch
            result = self._converse_in(started, job)
        if not self._vigil.unbroken(watch):
            self._wait_for_engine()
            raise SandboxError(f"the container engine was stopped or restarted while it ran {job.image}")
        return result

    def _waiting(self, job: Job) -> _IdleContainer | None:
        """A container that was started for the job ahead of it and still waits; none of an engine that was away."""
        started = self._ahead.take(job.container, in_turn=False)
        if started is None or (started.is_silent() and self._vigil.unbroken(started.watch)):
            return started
        started.discard()
        return None

    def _tell(self, job: Job) -> None:
        """Say once which services run beside tests."""
        names = ", ".join(service.name for service in job.services)
        if names not in self._told:
            self._told.add(names)
            self._note(f"beside the tests, fresh each time: {names}")

    def _start(self, name: str, job: Job, clock: _Clock, net: Net | None) -> _IdleContainer:
        """A container of the job, which runs and waits for its standard input."""
        watch = self._vigil.begin()
        spec = ContainerSpec(
            image=job.image,
            argv=job.argv,
            env=job.env,
            budgets=job.budgets,
            kind="run",
            net=net,
            hostname=job.hostname,
        )
        self._containers.create(name, spec)
        clock.mark("create")
        try:
            wire = engine.attach(name)
            clock.mark("attach")
            started = _IdleContainer(name=name, wire=wire, watch=watch, clock=clock, janitor=self._containers.janitor)
        except BaseException:
            self._containers.janitor.remove(name)
            raise
        try:
            engine.connect().start(name)
        except BaseException:
            started.discard()
            raise
        clock.mark("start")
        return started

    def _wait_for_engine(self) -> None:
        """Give an engine that has gone away time to come back: one span of time for all threads and attempts."""
        while not self._cancelled.is_set():
            if engine.answers():
                self._gone_since = None
                return
            with self._gone_lock:
                if self._gone_since is None:
                    self._gone_since = time.monotonic()
                    self._note(f"the container engine has gone; waiting up to {self._engine_wait:.0f} s for it")
                left = self._gone_since + self._engine_wait - time.monotonic()
            if left <= 0:
                return
            self._cancelled.wait(min(left, 2 * _POLL_SECONDS))

    def _converse_in(self, started: _IdleContainer, job: Job) -> JobResult:
        limits = {"stdout_limit": STDOUT_LIMIT, "stderr_limit": job.budgets.output_bytes}
        streams = Demultiplexer(**limits, closing=job.closing)
        clock = started.clock.again()
        try:
            how = self._converse(started.name, job, started.wire, streams)
            clock.mark("run")
            started.wire.close()
            end = ENDED_WELL if how == "closed" else end_of(started.name, ended_by_us=how == "killed")
            clock.mark("wait")
        finally:
            started.discard()
        return JobResult(
            exit_code=end.exit_code,
            stdout=bytes(streams.stdout),
            stderr=streams.stderr.value(),
            stderr_size=streams.stderr.size,
            oom_killed=end.out_of_memory,
            timed_out=how == "killed",
            stdout_overflow=streams.stdout_overflow,
            timings=clock.seconds,
        )

    def _converse(
        self, container: str, job: Job, wire: socket.socket, streams: Demultiplexer
    ) -> Literal["closed", "ended", "killed"]:
        """Feed standard input and drain both streams, until the job's closing word or the container's end."""
        talk = Conversation(wire, streams, job.stdin)
        last_seen = time.monotonic()
        deadline = last_seen + job.budgets.seconds + job.grace_seconds
        killer: threading.Thread | None = None
        while talk.step(_POLL_SECONDS):
            if streams.closed():
                return "closed"
            before, last_seen = last_seen, time.monotonic()
            if last_seen - before > _STOPPED_SECONDS:
                deadline += last_seen - before  # we were stopped: what has ended meanwhile is still to be read
            if killer is None and (self._cancelled.is_set() or last_seen >= deadline):
                # Never wait for the engine here: it may be waiting for this loop to drain the streams.
                killer = threading.Thread(target=_kill, args=(container,), daemon=True)
                killer.start()
                deadline = last_seen + _DRAIN_SECONDS
            elif killer is not None and last_seen >= deadline:
                break
        if self._cancelled.is_set():
            raise InterruptedRunError("the run was interrupted")
        return "ended" if killer is None else "killed"


class _Clock:
    """Seconds between marks."""

    def __init__(self) -> None:
        self._last = time.monotonic()
        self.seconds: dict[str, float] = {}

    def mark(self, step: str) -> None:
        now = time.monotonic()
        self.seconds[step] = round(now - self._last, 6)
        self._last = now

    def again(self) -> Self:
        """The same, after a time that does not count."""
        self._last = time.monotonic()
        return self


@dataclass(frozen=True, kw_only=True)
class _IdleContainer:
    """A container that waits for its standard input."""

    name: str
    wire: socket.socket
    watch: int
    """Since when the engine is watched."""
    clock: _Clock
    janitor: Janitor

    def is_silent(self) -> bool:
        """Whether it has neither ended nor written anything."""
        return not select.select([self.wire], [], [], 0)[0]

    def discard(self) -> None:
        """Have it removed, running or not."""
        self.wire.close()
        self.janitor.remove(self.name)


def _new_name() -> str:
    return f"goldseam-{secrets.token_hex(8)}"


def _kill(container: str) -> None:
    with contextlib.suppress(*engine.ConnectionLost):
        engine.connect().kill(container, signal="SIGKILL")
