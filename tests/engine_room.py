"""A room of its own for a second engine: network, mounts and processes that the machine's first engine never sees.

Runs as `unshare --net --mount --pid --fork --kill-child --mount-proc python -m tests.engine_room FOLDER SIZE_MB`, with
one end of a socket pair as standard input. It is process 1 of its room: when it ends, the kernel ends all of the room,
and the tmpfs that held the images is gone with it. Each message is a JSON list: a command and its arguments.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import signal
import socket
import struct
import subprocess  # noqa: TID251 - it starts an engine
import sys
from pathlib import Path

FIRST_SUBORDINATE = 700_000
"""The host's id of the root of containers, where the engine is told to map `nobody:nogroup`."""
_SIOCSIFFLAGS, _IFF_UP = 0x8914, 0x1


class Room:
    """The engine's folder, and the engine while it runs."""

    def __init__(self, folder: Path, size_mb: int) -> None:
        self.folder = folder
        self.data = folder / "data"
        self.engine: subprocess.Popen[bytes] | None = None
        self.data.mkdir()
        subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size_mb}m", "engine", self.data], check=True)
        for name in ("subuid", "subgid"):  # for an engine with user namespaces
            own, machines = folder / name, Path("/etc", name)
            own.write_text(f"nobody:{FIRST_SUBORDINATE}:65536\n", encoding="ascii")
            if machines.exists():
                subprocess.run(["mount", "--bind", own, machines], check=True)
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
            fcntl.ioctl(any_socket, _SIOCSIFFLAGS, struct.pack("16sh14x", b"lo", _IFF_UP))

    def start(self, *options: str) -> int:
        (self.folder / "daemon.json").write_text("{}", encoding="ascii")
        argv = ["dockerd", "--config-file", self.folder / "daemon.json", "--data-root", self.data]
        argv += ["--exec-root", self.folder / "exec", "--pidfile", self.folder / "pid"]
        argv += ["-H", f"unix://{self.folder / 'engine.sock'}", "--iptables=false", "--ip-masq=false", *options]
        with (self.folder / "log").open("ab") as log:
            self.engine = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        return self.engine.pid

    def runs(self) -> bool:
        return self.engine is not None and self.engine.poll() is None

    def end(self, name: str) -> int:
        """End the engine with a signal and wait until it is gone."""
        if self.engine is None:
            return 0
        noted = self.folder / "exec/containerd/containerd.pid"
        helper = int(noted.read_bytes()) if noted.exists() else None
        self.engine.send_signal(getattr(signal, name))
        code = self.engine.wait()
        self.engine = None
        if helper:  # it ended with the engine; as process 1 we bury it, or the next engine takes it for alive
            with contextlib.suppress(ChildProcessError):
                os.waitpid(helper, 0)
        (self.folder / "pid").unlink(missing_ok=True)
        return code

    def fill(self) -> None:
        """Leave no room on the engine's disk, nor any that has come back since."""
        room = os.statvfs(self.data)
        with contextlib.suppress(OSError), (self.data / "filler").open("ab", buffering=0) as file:
            if room.f_bavail > 64:
                os.posix_fallocate(file.fileno(), file.tell(), (room.f_bavail - 64) * room.f_bsize)
                file.seek(0, os.SEEK_END)
            while True:
                file.write(bytes(room.f_bsize))

    def free(self) -> None:
        (self.data / "filler").unlink(missing_ok=True)


def main() -> None:
    room = Room(Path(sys.argv[1]), int(sys.argv[2]))
    door = socket.socket(fileno=0)
    while message := door.recv(65536):
        command, *arguments = json.loads(message)
        if command == "listen":
            with socket.create_server(("127.0.0.1", arguments[0])) as server:
                socket.send_fds(door, [b"null"], [server.fileno()])
        else:
            door.send(json.dumps(getattr(room, command)(*arguments)).encode())
    room.end("SIGTERM")


if __name__ == "__main__":
    main()
