"""Locked-down containers of one owner: created with what they need, swept up after, none left behind."""

from __future__ import annotations

import tempfile
import threading
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness.sandbox import engine, locks
from harness.sandbox.janitor import Janitor
from harness.sandbox.pulls import REGISTRY_SECONDS, Puller
from harness.sandbox.vigil import Vigil

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Literal

    from harness.instance import Budgets


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """What a container is to be."""

    image: str
    argv: tuple[str, ...]
    env: Mapping[str, str]
    budgets: Budgets
    kind: Literal["run", "workspace"]
    mounts: Mapping[str, str] = field(default_factory=dict)
    """Folders of the host by place in the container, read-only."""
    init: bool = True
    """Off where the program is its own init."""


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
        self.vigil = Vigil()
        self._runtime = runtime
        self._owner = engine.owner()
        self._puller = Puller(note or (lambda _text: None), patience=registry_wait)
        self._folder = tempfile.TemporaryDirectory(prefix="goldseam-")
        self._hosts = Path(self._folder.name, "hosts")
        self._hosts.write_text(locks.HOSTS, encoding="ascii")
        self._hosts.chmod(0o644)

    def begin(self, *, sweep: bool = True) -> None:
        """Check the runtime, and remove the containers that dead processes of this machine left behind.

        Raises:
            InputError: the engine does not know the runtime.
            InfrastructureError: the engine failed.

        """
        try:
            if self._runtime:
                engine.check_runtime(self._runtime)
            if sweep:
                engine.sweep()
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Remove what is still to be removed."""
        self.janitor.close()
        self.vigil.close()
        self._folder.cleanup()

    def create(self, name: str, wanted: Wanted) -> None:
        """Create a container, with an image that is fetched first where it is in a registry and not here.

        Raises:
            MissingImageError: the image is not there and can't be pulled.
            InfrastructureError: the engine went away while it pulled.
            ConnectionLost: the engine failed.

        """
        for is_last in (False, True):
            try:
                self._create_now(name, wanted)
            except engine.NotFoundError:
                if is_last or engine.image_id(wanted.image):
                    raise  # something else was not found
                self._puller.fetch(wanted.image, cancelled=self.cancelled)
            except engine.ConnectionLost:
                self.janitor.doubt(name)
                raise
            else:
                return

    def _create_now(self, name: str, wanted: Wanted) -> None:
        client: Any = engine.connect()
        client.create_container(
            name=name,
            image=wanted.image,
            command=list(wanted.argv),
            entrypoint=[],
            environment={**locks.BASE_ENV, **wanted.env},
            user=f"{locks.USER}:{locks.USER}",
            working_dir="/",
            hostname="sandbox",
            stdin_open=True,
            tty=False,
            network_disabled=True,
            labels={engine.LABEL_OWNER: self._owner, engine.LABEL_KIND: wanted.kind},
            host_config=locks.host_config(
                client,
                wanted.budgets,
                hosts=self._hosts,
                runtime=self._runtime,
                mounts=wanted.mounts,
                init=wanted.init,
            ),
        )
