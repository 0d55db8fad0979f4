"""An engine for tests that break engines: a dockerd of their own, in a room of its own (see `tests.engine_room`)."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import socket
import subprocess  # noqa: TID251 - the room is a process that talks
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from harness.core import process
from harness.core.errors import InfrastructureError
from harness.sandbox import engine

if TYPE_CHECKING:
    from collections.abc import Sequence

START_SECONDS = 240
ROOT = Path(__file__).resolve().parents[1]


def lacking() -> str | None:
    """Why there can be no second engine here; None where there can."""
    if os.geteuid() != 0:
        return "starting a second engine takes root"
    missing = [name for name in ("dockerd", "unshare", "mount") if process.which(name) is None]
    return f"starting a second engine takes {', '.join(missing)}" if missing else None


class SecondEngine:
    """A dockerd that may be killed, filled and cut off; a context manager that leaves nothing of it behind."""

    def __init__(self, *options: str, size_mb: int = 700) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="goldseam-engine-"))
        self.folder.chmod(0o711)
        self.socket = self.folder / "engine.sock"
        self.host = f"unix://{self.socket}"
        self._options = options
        self._door, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        walls = ["unshare", "--net", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc"]
        argv = [*walls, sys.executable, "-m", "tests.engine_room", str(self.folder), str(size_mb)]
        with theirs:
            self._room = subprocess.Popen(argv, stdin=theirs, cwd=ROOT)

    def __enter__(self) -> Self:
        try:
            self.start()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        with self._door, contextlib.suppress(OSError):
            self._door.shutdown(socket.SHUT_WR)
            self._door.settimeout(240)
            self._door.recv(1)  # the room closes its end when the engine has ended
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._room.wait(240)
        self._room.kill()
        self._room.wait()
        shutil.rmtree(self.folder)

    def _ask(self, command: str, *arguments: Any) -> Any:
        self._door.send(json.dumps([command, *arguments]).encode())
        answer = self._door.recv(65536)
        assert answer, f"the room of the second engine is gone:\n{self.log()}"
        return json.loads(answer)

    def log(self) -> str:
        path = self.folder / "log"
        return path.read_text(errors="replace")[-3000:] if path.exists() else ""

    def start(self) -> None:
        """Start the engine and wait until it answers."""
        self._ask("start", *self._options)
        deadline = time.monotonic() + START_SECONDS
        while time.monotonic() < deadline and self._ask("runs"):
            with socket.socket(socket.AF_UNIX) as probe, contextlib.suppress(OSError):
                probe.settimeout(1)
                probe.connect(str(self.socket))
                probe.sendall(b"GET /_ping HTTP/1.0\r\n\r\n")
                if b" 200 OK" in probe.recv(1024):
                    return
            time.sleep(0.05)
        raise InfrastructureError(f"the second engine did not start:\n{self.log()}")

    def kill(self) -> None:
        """End the engine as a crash would; containers go on for now."""
        self._ask("end", "SIGKILL")

    def stop(self) -> None:
        """End the engine as an administrator would; containers end with it."""
        self._ask("end", "SIGTERM")

    def fill_disk(self) -> None:
        self._ask("fill")

    def free_disk(self) -> None:
        self._ask("free")

    def listen(self, port: int) -> socket.socket:
        """A server's socket of this process, in the engine's network."""
        self._door.send(json.dumps(["listen", port]).encode())
        _, (descriptor,), _, _ = socket.recv_fds(self._door, 64, 1)
        return socket.socket(fileno=descriptor)


_LEFT_OUT = (
    *("proc", "sys", "dev", "var", "tmp/*", "opt/goldseam/uv", "usr/share", "usr/include", "usr/lib/gcc", "usr/sbin"),
    *("usr/lib/git-core", "usr/lib/python3", "usr/lib/*/perl*", "usr/lib/*/gconv", "usr/lib/*/lib*san.so*"),
    *(
        "usr/lib/*/libperl*",
        "usr/lib/*/libpython3*",
        "usr/lib/*/libisl*",
        "usr/lib/*/*gprofng*",
        "usr/lib/*/libgnutls*",
    ),
    *("usr/bin/*-linux-gnu-*", "usr/bin/perl*", "usr/bin/git-*", "usr/bin/scalar", "*.a", "*.pyi"),
)


def save_slim(image: str, folder: Path, *, keep: Sequence[str] = ()) -> Path:
    """The files of a task image that a trial needs, and those in `keep`, as a tar: a tenth of the whole."""
    left_out = [f"--exclude=./{name}" for name in _LEFT_OUT if name not in keep]
    argv = ["tar", "-C", "/", "-cf", "/out/slim.tar", *left_out, "--exclude=./out"]
    client: Any = engine.connect()
    room = client.create_host_config(network_mode="none", binds=[f"{folder}:/out"])
    made = client.create_container(image, [*argv, "."], entrypoint=[], user="0:0", host_config=room)["Id"]
    try:
        client.start(made)
        code = client.wait(made)["StatusCode"]
        said = client.logs(made)
    finally:
        engine.remove_container(made)
    assert code == 0, said
    return folder / "slim.tar"


def load(path: Path, name: str) -> str:
    """Give such a tar to the engine in use as an image; its id."""
    client: Any = engine.connect()
    changes = ["ENV PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"]
    client.import_image_from_file(str(path), repository=name, tag="slim", changes=changes)
    found = engine.image_id(f"{name}:slim")
    assert found
    return found
