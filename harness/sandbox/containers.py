"""Locked-down containers of one owner: created with what they need, swept up after, none left behind."""

from __future__ import annotations

import hashlib
import tempfile
import threading
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness.core import files
from harness.core.errors import InfrastructureError
from harness.sandbox import engine, hardening, owners
from harness.sandbox.engine_watch import EngineWatch
from harness.sandbox.images import platforms
from harness.sandbox.images.pulls import REGISTRY_SECONDS, Puller
from harness.sandbox.janitor import Janitor

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Literal

    from harness.core.instance import Budgets, Service


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
        self._hosts = self.hosts_file(hardening.HOSTS)
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

    def hosts_file(self, text: str) -> Path:
        """A file of this machine that can be mounted as /etc/hosts."""
        path = self.folder / f"hosts-{hashlib.sha256(text.encode()).hexdigest()[:16]}"
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
        client: Any = engine.connect()
        shared = spec.net
        client.create_container(
            name=name,
            image=spec.image,
            command=list(spec.argv),
            entrypoint=[],
            environment={**hardening.BASE_ENV, **spec.env},
            user=f"{hardening.USER}:{hardening.USER}",
            working_dir="/",
            hostname=None if shared else spec.hostname,  # with the network comes the name
            stdin_open=True,
            tty=False,
            network_disabled=shared is None,
            labels={engine.LABEL_OWNER: self._owner, engine.LABEL_KIND: spec.kind},
            host_config=hardening.host_config(
                client,
                spec.budgets,
                hosts=shared.hosts if shared else self._hosts,
                runtime=self.runtime,
                mounts=spec.mounts,
                init=spec.init,
                network=shared.mode if shared else "none",
                drop=spec.drop,
            ),
        )

    def _create_service_now(self, name: str, service: Service, net: Net) -> None:
        client: Any = engine.connect()
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
