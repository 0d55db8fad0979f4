"""What ends a build that goes on too long, or writes too much."""

from __future__ import annotations

import contextlib
import os
import shutil
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path

from harness.sandbox import engine

_MB = 1024 * 1024
_LEAST_PAUSE = 1.0
_SHARE = 20
"""Looking takes at most one part in so many of the time."""
_NOTABLE = 4
"""The cache is looked at once the disk has lost a part in so many of what a build may write."""


@dataclass(kw_only=True)
class Watch:
    """Kills a container when its time is up, when it has written more than it may, or when nobody waits for it.

    What it writes is the container's own layer, `out` (the folder it leaves results in), and what is new in `cache`.
    """

    container: str
    seconds: float
    disk_mb: int
    out: Path
    cache: Path
    interrupted: threading.Event
    timed_out: bool = field(default=False, init=False)
    disk_full: bool = field(default=False, init=False)

    def __post_init__(self) -> None:
        self._most = self.disk_mb * _MB
        self._began = time.time()
        self._free = _free(self.cache)
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run, name="goldseam-watch", daemon=True)

    @property
    def fired(self) -> bool:
        """Whether the container was ended here."""
        return self.timed_out or self.disk_full or self.interrupted.is_set()

    def written(self) -> int:
        """Bytes that the build has written so far.

        Raises:
            ConnectionLost: the engine failed.

        """
        containers = engine.connect().containers(all=True, size=True, filters={"id": self.container})
        layer = sum(int(container.get("SizeRw") or 0) for container in containers)
        fresh = _size(self.cache, since=self._began) if self._free - _free(self.cache) > self._most / _NOTABLE else 0
        return layer + _size(self.out) + fresh

    def _run(self) -> None:
        deadline = time.monotonic() + self.seconds
        look = 0.0
        while not self._over.wait(max(min(_LEAST_PAUSE, deadline - time.monotonic()), 0)):
            if self.interrupted.is_set():
                break
            if time.monotonic() >= deadline:
                self.timed_out = True
                break
            if (began := time.monotonic()) < look:
                continue
            with contextlib.suppress(*engine.ConnectionLost):  # whoever follows the build notices as well
                self.disk_full = self.written() > self._most
            if self.disk_full:
                break
            look = time.monotonic() + _SHARE * (time.monotonic() - began)
        if self.fired:
            with contextlib.suppress(*engine.ConnectionLost):
                engine.connect().kill(self.container, signal="SIGKILL")

    def __enter__(self) -> None:
        self._thread.start()

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()


def _free(folder: Path) -> int:
    try:
        return shutil.disk_usage(folder).free
    except OSError:
        return 0


def _size(folder: Path, *, since: float = 0.0) -> int:
    """Bytes of the files below a folder that were changed since then; what goes away meanwhile doesn't count."""
    total = 0
    for root, _, names in os.walk(folder):
        for name in names:
            with contextlib.suppress(OSError):
                status = os.lstat(os.path.join(root, name))  # noqa: PTH118 - there may be very many
                total += status.st_blocks * 512 if status.st_ctime >= since else 0
    return total
