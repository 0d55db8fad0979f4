"""The services of one job: containers that share one network with it, in which there is nothing but a loopback.

A *holder* comes first: a container of the task's own image that has no network, like any other, and whose loopback the
services and the job then join. So tests reach their services on localhost and by their names, as on a CI host, while
neither they nor the services have a way out, and no network has to be made at the engine. Where two services listen at
the same port, each gets a network of its own with a holder of its own, and the holders carry what tests send to its
names and ports, over a Unix socket. All of it is made anew for each job and removed after it.
"""

from __future__ import annotations

import contextlib
import json
import select
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING

from harness.core.errors import InterruptedRunError
from harness.core.instance import Budgets, Service
from harness.sandbox import engine, hardening
from harness.sandbox.containers import Containers, ContainerSpec, Net
from harness.sandbox.job import PYTHON, SandboxError, ServiceError
from harness.sandbox.streams import Demultiplexer, Merged

if TYPE_CHECKING:
    import socket


_HOLDER_BUDGETS = Budgets(memory_mb=128, cpus=0.5, pids=512, disk_mb=16)
_ANSWER_SECONDS = 30.0
_HEALTH_SECONDS = 15.0
"""How long one health command may take."""
_FIRST_PAUSE, _LONGEST_PAUSE = 0.05, 0.5
_OUTPUT = 4000
End = str | tuple[str, int]
"""Where a holder listens or connects: a Unix socket, or an address and port of its loopback."""


@dataclass(frozen=True, kw_only=True)
class Cell:
    """One network, and the services in it."""

    services: tuple[Service, ...] = ()
    carry: tuple[tuple[End, End], ...] = ()
    """What its holder carries, from and to."""

    def holder_input(self) -> str:
        """The input of its pause container, as JSON."""
        ask = {service.name: [inner for _, inner in service.forwards] for service in self.services if service.ports}
        return json.dumps({"carry": self.carry, "ask": ask})


@dataclass(frozen=True, kw_only=True)
class Plan:
    """Which service is where; the first cell is the one that the job joins."""

    cells: tuple[Cell, ...]
    hosts: str
    """What becomes /etc/hosts."""


def plan(services: Sequence[Service]) -> Plan:
    """Put services into as few networks as their ports allow. Pure.

    Those that share a port with another one are set apart. Each of these has an address of the loopback for its names,
    since two of them are known by the same port there.
    """
    inner = Counter(port for service in services for port in {inner for _, inner in service.forwards})
    apart = [service for service in services if any(inner[port] > 1 for _, port in service.forwards)]
    together = tuple(service for service in services if service not in apart)
    carry: list[tuple[End, End]] = []
    cells: list[Cell] = []
    lines = ["127.0.0.1\tlocalhost", "::1\tip6-localhost ip6-loopback"]
    for service in together:
        lines.append(f"127.0.0.1\t{' '.join(service.names)}")
        carry += [(("127.0.0.1", near), ("127.0.0.1", far)) for near, far in service.forwards if near != far]
    for number, service in enumerate(apart, start=1):
        address = f"127.0.1.{number}"
        lines.append(f"{address}\t{' '.join(service.names)}")
        ports = {far: f"{hardening.DROP}/{number}-{far}" for _, far in service.forwards}
        carry += [(("127.0.0.1", near), ports[far]) for near, far in service.forwards]
        carry += [((address, far), path) for far, path in ports.items()]
        back = tuple((path, ("127.0.0.1", far)) for far, path in ports.items())
        cells.append(Cell(services=(service,), carry=back))
    first = Cell(services=together, carry=tuple(dict.fromkeys(carry)))
    return Plan(cells=(first, *cells), hosts="\n".join(lines) + "\n")


@contextlib.contextmanager
def opened(containers: Containers, name: str, image: str, services: Sequence[Service]) -> Iterator[Net]:
    """The network of a job's services, which are ready; gone at the end.

    `image` is that of the task, for the holder; `name` is what containers are called after.

    Raises:
        ServiceError: a service did not start, or not in time.
        MissingImageError: an image is not there and can't be pulled.
        InfrastructureError: the engine failed.
        ConnectionLost: the engine failed.
        InterruptedRunError: the work was cancelled meanwhile.

    """
    if containers.runtime not in (None, *hardening.PLAIN_RUNTIMES):
        raise ServiceError(
            f"the runtime {containers.runtime} can't share a network between containers, which services need",
            hint="evaluate tasks with services under the engine's own runtime, without --runtime",
        )
    with contextlib.ExitStack() as stack:
        yield _Pod(containers=containers, name=name, stack=stack).start(image, plan(services))


@dataclass(kw_only=True)
class _StartingService:
    """A service on its way."""

    service: Service
    container: str
    wire: socket.socket
    heard: Demultiplexer = field(default_factory=lambda: Merged(limit=_OUTPUT))
    answers: bool = False
    """At one of its ports; where it has none, always."""
    ready: bool = False

    def output_end(self) -> str:
        """The end of its output."""
        return self.heard.stderr.value().decode("utf-8", "replace").strip()[-_OUTPUT:]


@dataclass(kw_only=True)
class _Holder:
    """A holder that runs."""

    wire: socket.socket
    heard: Demultiplexer = field(default_factory=lambda: Demultiplexer(stdout_limit=65536, stderr_limit=_OUTPUT))

    def answering(self) -> set[str]:
        """The services that answer at a port.

        Raises:
            SandboxError: it does not say, or can't carry what it is to.

        """
        deadline = time.monotonic() + _ANSWER_SECONDS
        with contextlib.suppress(OSError):
            self.wire.sendall(b"\n")
            while b"\n" not in self.heard.stdout:
                readable, _, _ = select.select([self.wire], [], [], max(0.0, deadline - time.monotonic()))
                data = self.wire.recv(65536) if readable else b""
                if not data:
                    break
                self.heard.feed(data)
        line, newline, rest = bytes(self.heard.stdout).partition(b"\n")
        if not newline:
            text = self.heard.stderr.value().decode("utf-8", "replace")
            raise SandboxError(f"the network of a task's services is gone: {text[-_OUTPUT:] or 'its holder is silent'}")
        self.heard.stdout[:] = rest
        answer = json.loads(line)
        if answer["trouble"]:
            raise ServiceError(f"a port that tests know can't be carried to its service: {answer['trouble'][0]}")
        return set(answer["ready"])


@dataclass(frozen=True, kw_only=True)
class _Pod:
    """Starts what a plan says, and has the stack that it is given remove it."""

    containers: Containers
    name: str
    stack: contextlib.ExitStack

    def start(self, image: str, planned: Plan) -> Net:
        """Start everything, and wait until it is ready."""
        hosts = self.containers.readable(planned.hosts)
        drop = None
        if len(planned.cells) > 1:
            drop = Path(tempfile.mkdtemp(dir=self.containers.folder, prefix="drop-"))
            drop.chmod(0o777)  # the folder above lets nobody else of this machine in
        holders: list[_Holder] = []
        nets: list[Net] = []
        started: list[_StartingService] = []
        for number, cell in enumerate(planned.cells):
            nets.append(Net(holder=f"{self.name}-net{number}", hosts=hosts))
            holders.append(self._hold(nets[-1].holder, image, cell, drop))
        for cell, net in zip(planned.cells, nets, strict=True):
            started += [self._begin(service, net) for service in cell.services]
        self._wait(holders, started)
        return nets[0]

    def _hold(self, name: str, image: str, cell: Cell, drop: Path | None) -> _Holder:
        spec = ContainerSpec(
            image=image,
            argv=(PYTHON, "-I", "-S", "-B", "-c", program("pause_container"), cell.holder_input()),
            env={},
            budgets=_HOLDER_BUDGETS,
            kind="holder",
            drop=drop,
        )
        self.containers.create(name, spec)
        self.stack.callback(self.containers.janitor.remove, name)
        wire = engine.attach(name)
        self.stack.callback(wire.close)
        engine.connect().start(name)
        return _Holder(wire=wire)

    def _begin(self, service: Service, net: Net) -> _StartingService:
        name = f"{self.name}-for-{service.name}"
        try:
            self.containers.create_service(name, service, net)
            self.stack.callback(self.containers.janitor.remove, name)
            wire = engine.attach(name, stdin=False)
            self.stack.callback(wire.close)
            engine.connect().start(name)
        except engine.ApiError as error:
            raise ServiceError(f"the service {service.name} can't be started: {engine.cause(error)}") from error
        return _StartingService(service=service, container=name, wire=wire, answers=not service.ports)

    def _wait(self, holders: Sequence[_Holder], started: Sequence[_StartingService]) -> None:
        """Return when all are ready."""
        began, pause = time.monotonic(), _FIRST_PAUSE
        while waiting := [starting_service for starting_service in started if not starting_service.ready]:
            answering = set().union(*(holder.answering() for holder in holders))
            for service in waiting:
                self._drain(service)
                service.answers = service.answers or service.service.name in answering
                service.ready = service.answers and self._is_healthy(service)
                if not service.ready and time.monotonic() - began > service.service.start_seconds:
                    raise _late(service)
            if self.containers.cancelled.wait(pause):
                raise InterruptedRunError("the run was interrupted")
            pause = min(2 * pause, _LONGEST_PAUSE)
        for service in started:
            service.wire.close()  # what it says from here on is kept nowhere

    def _drain(self, service: _StartingService) -> None:
        """Take what a service has printed.

        Raises:
            ServiceError: it has ended.

        """
        while select.select([service.wire], [], [], 0)[0]:
            data = service.wire.recv(65536)
            if not data:
                code = engine.connect().inspect_container(service.container)["State"].get("ExitCode")
                raise ServiceError(
                    f"the service {service.service.name} ended with {code} as it started: {service.output_end()}"
                )
            service.heard.feed(data)

    def _is_healthy(self, service: _StartingService) -> bool:
        """Whether its health command ends with 0."""
        if not service.service.health:
            return True
        client = engine.connect()
        try:
            exec_id = client.exec_create(service.container, ["/bin/sh", "-c", service.service.health])["Id"]
            client.exec_start(exec_id, detach=True)
        except engine.ApiError:
            return False  # it has just ended, which its output tells better
        until, pause = time.monotonic() + _HEALTH_SECONDS, _FIRST_PAUSE / 5
        while time.monotonic() < until:
            state = client.exec_inspect(exec_id)
            if not state["Running"] and state["ExitCode"] is not None:
                return bool(state["ExitCode"] == 0)
            if self.containers.cancelled.wait(pause):
                raise InterruptedRunError("the run was interrupted")
            pause = min(2 * pause, _LONGEST_PAUSE)
        return False


def _late(service: _StartingService) -> ServiceError:
    lacks = "its health command does not succeed" if service.answers else "nothing answers at its ports"
    output = f"; it said: {service.output_end()}" if service.output_end() else ""
    seconds = service.service.start_seconds
    return ServiceError(f"the service {service.service.name} is not ready after {seconds:.0f} s, {lacks}{output}")


def program(name: str) -> str:
    """A container's first process: the source of `pause_container` or `workspace_init`, and of `port_forward`."""
    folder = resources.files("harness.sandbox.inside")
    return "\n".join(folder.joinpath(f"{part}.py").read_text(encoding="utf-8") for part in ("port_forward", name))
