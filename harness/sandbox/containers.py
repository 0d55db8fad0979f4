"""Locked-down containers of one owner: created with what they need, watched, swept up after, none left behind."""

from __future__ import annotations

import contextlib
import hashlib
import queue
import signal
import ssl
import tempfile
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from harness.core import files
from harness.core.errors import InfrastructureError
from harness.core.instance import Budgets, Service
from harness.sandbox import engine, hardening, owners
from harness.sandbox.images import platforms
from harness.sandbox.images.pulls import REGISTRY_SECONDS, Puller

if TYPE_CHECKING:
    import socket


CLOSE_SECONDS = 30.0
_REMOVERS = 4
"""Containers that are removed at once: each takes the engine a tenth of a second and little processor time."""
_KILLED = 128 + signal.SIGKILL
_LATE_SECONDS = 2
"""How long after a container's end the engine may still learn that its memory had run out."""


@dataclass(frozen=True, kw_only=True)
class ContainerSpec:
    """What a container is to be."""

    image: str
    argv: tuple[str, ...]
    env: Mapping[str, str]
    budgets: Budgets
    kind: Literal["run", "workspace", "holder"]
    mounts: Mapping[str, str] = field(default_factory=dict)
    """Folders of the host by place in the container, read-only."""
    init: bool = True
    """Off where the program is its own init."""
    net: Net | None = None
    """The network that it shares; None for one of its own, without anything in it."""
    drop: Path | None = None
    """A folder of the host where it may leave Unix sockets; only for what runs nothing of others."""
    hostname: str = "sandbox"


@dataclass(frozen=True, kw_only=True)
class Net:
    """A network with nothing but a loopback, which several containers share."""

    holder: str
    """The container that it came with."""
    hosts: Path
    """What becomes /etc/hosts."""

    @property
    def mode(self) -> str:
        return f"container:{self.holder}"


class Containers:
    """Creates locked containers; safe to use from several threads.

    `runtime` names another OCI runtime that the engine knows, such as `runsc`. `note` is told what a person may have to
    wait for. A registry may take `registry_wait` seconds to come back.
    """

    def __init__(
        self,
        *,
        runtime: str | None,
        note: Callable[[str], None] | None,
        registry_wait: float = REGISTRY_SECONDS,
    ) -> None:
        self.cancelled = threading.Event()
        """Set when everything has to end; nothing is pulled after."""
        self.janitor = Janitor()
        self.vigil = EngineWatch()
        self.runtime = runtime
        self._owner = owners.owner()
        self._puller = Puller(note or (lambda _text: None), patience=registry_wait)
        self._folder = tempfile.TemporaryDirectory(prefix="goldseam-")
        self.folder = Path(self._folder.name)
        """Of this machine; gone at the end."""
        self._hosts = self.readable(hardening.HOSTS)
        self._users = hardening.users()
        self._running: set[str] = set()
        """Images that the engine's machine can run."""

    def begin(self, *, sweep: bool = True) -> None:
        """Check the runtime, and remove the containers that dead processes of this machine left behind.

        Raises:
            InputError: the engine does not know the runtime.
            InfrastructureError: the engine failed.

        """
        try:
            if self.runtime:
                engine.check_runtime(self.runtime)
            if sweep:
                owners.sweep()
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Remove what is still to be removed."""
        self.janitor.close()
        self.vigil.close()
        self._folder.cleanup()

    def readable(self, text: str) -> Path:
        """A file of this machine that has this text, to be mounted for everybody to read."""
        path = self.folder / f"text-{hashlib.sha256(text.encode()).hexdigest()[:16]}"
        if not path.exists():
            files.write_text(path, text)
            path.chmod(0o644)
        return path

    def create(self, name: str, spec: ContainerSpec) -> None:
        """Create a container, with an image that is fetched first where it is in a registry and not here.

        Raises:
            MissingImageError: the image is not there and can't be pulled.
            InfrastructureError: the engine went away while it pulled.
            ConnectionLost: the engine failed.

        """
        self._fetched(name, spec.image, lambda: self._create_now(name, spec))

    def create_service(self, name: str, service: Service, net: Net) -> None:
        """Create a service's container, as `create` does."""
        self._fetched(name, service.image, lambda: self._create_service_now(name, service, net))

    def _fetched(self, name: str, image: str, create_now: Callable[[], None]) -> None:
        for is_last in (False, True):
            try:
                create_now()
            except engine.NotFoundError:
                if is_last or engine.image_id(image):
                    raise  # something else was not found
                self._puller.fetch(image, cancelled=self.cancelled)
            except engine.ConnectionLost:
                self.janitor.doubt(name)
                raise
            else:
                self._see_that_it_runs(name, image)
                return

    def _see_that_it_runs(self, name: str, image: str) -> None:
        """Say of an image for other machines that it is one, before it fails in words of its own."""
        if image in self._running:
            return
        try:
            platforms.ensure_runs(image)
        except InfrastructureError:
            self.janitor.remove(name)
            raise
        self._running.add(image)

    def _create_now(self, name: str, spec: ContainerSpec) -> None:
        client = engine.connect()
        shared, user = spec.net, next(self._users)
        etc = {name: self.readable(text) for name, text in hardening.names_of(user).items()}
        client.create_container(
            name=name,
            image=spec.image,
            command=list(spec.argv),
            entrypoint=[],
            environment={**hardening.BASE_ENV, **spec.env},
            user=f"{user}:{user}",
            working_dir="/",
            hostname=None if shared else spec.hostname,  # with the network comes the name
            stdin_open=True,
            tty=False,
            network_disabled=shared is None,
            labels={engine.LABEL_OWNER: self._owner, engine.LABEL_KIND: spec.kind},
            host_config=hardening.host_config(
                client,
                spec.budgets,
                user=user,
                etc={**etc, "hosts": shared.hosts if shared else self._hosts},
                runtime=self.runtime,
                mounts=spec.mounts,
                init=spec.init,
                network=shared.mode if shared else "none",
                drop=spec.drop,
            ),
        )

    def _create_service_now(self, name: str, service: Service, net: Net) -> None:
        client = engine.connect()
        client.create_container(
            name=name,
            image=service.image,
            command=list(service.command) or None,
            environment=dict(service.env),
            tty=False,
            labels={engine.LABEL_OWNER: self._owner, engine.LABEL_KIND: "service"},
            use_config_proxy=False,
            healthcheck={"test": ["NONE"]},  # asked by us, and only until it is ready
            host_config=hardening.service_config(client, service, hosts=net.hosts, network=net.mode),
        )


class Janitor:
    """Removes containers by name, several at a time and in threads of its own: nobody waits for the engine to do it.

    What an engine in trouble does not remove is tried again at the end. What is left even then carries the label of
    its owner, and the next start removes it (`owners.sweep`).
    """

    def __init__(self) -> None:
        self._names: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        self._left: list[str] = []
        self._threads = [
            threading.Thread(target=self._work, name="goldseam-janitor", daemon=True) for _ in range(_REMOVERS)
        ]
        for thread in self._threads:
            thread.start()

    def remove(self, name: str) -> None:
        """Remove a container, running or not, soon."""
        self._names.put(name)

    def doubt(self, name: str) -> None:
        """A container that there may be, or that an engine in trouble may still create: look for it at the end."""
        self._left.append(name)

    def close(self) -> None:
        """Return when all is removed, or after `CLOSE_SECONDS`: an engine that hangs keeps nobody from ending."""
        deadline = time.monotonic() + CLOSE_SECONDS
        for _ in self._threads:
            self._names.put(None)
        for thread in self._threads:
            thread.join(max(0.0, deadline - time.monotonic()))
        if any(thread.is_alive() for thread in self._threads) or not self._left or not engine.answers():
            return
        for name in self._left:
            if time.monotonic() < deadline:
                with contextlib.suppress(InfrastructureError, *engine.ConnectionLost):
                    engine.remove_container(name)

    def _work(self) -> None:
        while (name := self._names.get()) is not None:
            try:
                engine.remove_container(name)
            except (InfrastructureError, *engine.ConnectionLost):
                self._left.append(name)


class EngineWatch:
    """A connection that is held open while jobs run: where it has broken, the engine went away in between.

    An engine that is restarted takes its containers down, or lets go of their output. To whoever asks the new one, that
    looks as if the tests had ended the container themselves, which would be a verdict about the patch.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._wire: socket.socket | None = None
        self._number = 0

    def begin(self) -> int:
        """Watch from now on. Returns the number that `unbroken` takes.

        Raises:
            ConnectionLost: the engine does not answer.

        """
        with self._lock:
            if not self._is_open():
                self._close()
                self._wire = engine.watch()
                self._number += 1
            return self._number

    def unbroken(self, since: int) -> bool:
        """Whether the engine has been there all the time since `begin`."""
        with self._lock:
            return self._number == since and self._is_open()

    def close(self) -> None:
        with self._lock:
            self._close()

    def _close(self) -> None:
        if self._wire is not None:
            self._wire.close()
            self._wire = None

    def _is_open(self) -> bool:
        if self._wire is None:
            return False
        try:
            return self._wire.recv(65536) != b""
        except (BlockingIOError, ssl.SSLWantReadError):
            return True
        except OSError:
            return False


@dataclass(frozen=True, kw_only=True)
class End:
    """What became of a container."""

    exit_code: int
    out_of_memory: bool
    """Its memory limit was hit."""


ENDED_WELL = End(exit_code=0, out_of_memory=False)


def end_of(container: str, *, ended_by_us: bool) -> End:
    """Wait for a container's end, and tell it.

    The kernel's word that memory ran out and that of the end reach the engine by two roads. Where the end is the first,
    the container's state says for ever that memory was not the cause. So where a container was killed, and not
    `ended_by_us`, the engine's events are asked as well.

    Raises:
        ConnectionLost: the engine failed.

    """
    client = engine.connect()
    exit_code = int(client.wait(container, timeout=client.timeout)["StatusCode"])
    state = client.inspect_container(container)["State"]
    out_of_memory = bool(state.get("OOMKilled"))
    if not out_of_memory and exit_code == _KILLED and not ended_by_us:
        out_of_memory = _told_later(container, state)
    return End(exit_code=exit_code, out_of_memory=out_of_memory)


def _told_later(container: str, state: dict[str, Any]) -> bool:
    with suppress(ValueError, KeyError, *engine.ConnectionLost):
        began, ended = (_seconds(state[name]) for name in ("StartedAt", "FinishedAt"))
        return engine.happened("oom", container, since=began, until=ended + _LATE_SECONDS)
    return False


def _seconds(moment: str) -> int:
    """Whole seconds of the engine's clock, of `2026-01-31T12:00:00.123456789Z`."""
    return int(datetime.fromisoformat(moment[:19] + "+00:00").timestamp())
