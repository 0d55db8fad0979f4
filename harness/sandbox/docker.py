"""Jobs in Docker (or Podman behind Docker's API): create, attach, start, read, wait, remove.

The order is the fast one, measured: attach before start, no `stop`, no `exec`, removal off the critical path. stdout
and stderr may arrive out of order relative to each other, so nothing here depends on their order.
"""

from __future__ import annotations

import contextlib
import select
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from harness.errors import InfrastructureError, InterruptedRunError
from harness.sandbox import engine
from harness.sandbox.base import Job, JobResult, MissingImageError, Sandbox, SandboxError
from harness.sandbox.streams import Demultiplexer

if TYPE_CHECKING:
    import socket
    from types import TracebackType

    from harness.instance import Budgets

USER = 65532
STDOUT_LIMIT = 64 * 1024 * 1024
_POLL_SECONDS = 0.25
_DRAIN_SECONDS = 10.0
_MIB = 1024 * 1024
_HOSTS = "127.0.0.1\tlocalhost\n::1\tlocalhost ip6-localhost ip6-loopback\n"
_BASE_ENV = {
    "HOME": "/tmp",  # noqa: S108 - inside the container
    "LANG": "C.UTF-8",
    "LC_ALL": "C.UTF-8",
    "PYTHONDONTWRITEBYTECODE": "1",
    "PYTHONHASHSEED": "0",
    "TZ": "UTC",
}


class DockerSandbox(Sandbox):
    """A sandbox on the engine that `engine.connect` finds.

    `runtime` names another OCI runtime the engine knows, such as `runsc`. On entering, containers that dead processes
    of this machine left behind are removed; `sweep=False` leaves that out, and needs no engine until a job comes.
    """

    def __init__(self, *, runtime: str | None = None, sweep: bool = True) -> None:
        self._runtime = runtime
        self._sweeps = sweep
        self._owner = engine.owner()
        self._cancelled = threading.Event()
        self._reaper = ThreadPoolExecutor(max_workers=1, thread_name_prefix="goldseam-reaper")
        self._folder = tempfile.TemporaryDirectory(prefix="goldseam-")
        self._hosts = Path(self._folder.name, "hosts")
        self._hosts.write_text(_HOSTS, encoding="ascii")
        self._hosts.chmod(0o644)

    def __enter__(self) -> Self:
        try:
            if self._runtime:
                engine.check_runtime(self._runtime)
            if self._sweeps:
                engine.sweep()
        except BaseException:
            self.__exit__(None, None, None)
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._reaper.shutdown(wait=True)
        self._folder.cleanup()

    def is_healthy(self) -> bool:
        try:
            client: Any = engine.connect()
            return bool(client.ping())
        except (InfrastructureError, *engine.ConnectionLost):
            return False

    def cancel(self) -> None:
        self._cancelled.set()

    def run(self, job: Job) -> JobResult:
        if self._cancelled.is_set():
            raise InterruptedRunError("the run was interrupted")
        clock = _Clock()
        client = engine.connect()
        try:
            container = self._create(client, job)
            clock.mark("create")
            try:
                return self._run(client, container, job, clock)
            finally:
                self._reaper.submit(_remove, container)
        except engine.ConnectionLost as error:
            raise SandboxError(
                f"the container engine failed while running {job.image}: {error}", hint="run `goldseam doctor`"
            ) from error

    def _create(self, client: Any, job: Job) -> str:
        try:
            created = client.create_container(
                image=job.image,
                command=list(job.argv),
                entrypoint=[],
                environment={**_BASE_ENV, **job.env},
                user=f"{USER}:{USER}",
                working_dir="/",
                hostname="sandbox",
                stdin_open=True,
                tty=False,
                network_disabled=True,
                labels={engine.LABEL_OWNER: self._owner, engine.LABEL_KIND: "run"},
                host_config=self._host_config(client, job.budgets),
            )
        except engine.NotFoundError as error:
            raise MissingImageError(
                f"the engine has no image {job.image}",
                hint="fetch it with `goldseam images pull DATASET`, or mine the task again",
            ) from error
        return str(created["Id"])

    def _host_config(self, client: Any, budgets: Budgets) -> Any:
        tmpfs = f"rw,exec,nosuid,nodev,size={budgets.disk_mb}m,nr_inodes=400k,uid={USER},gid={USER},mode=0755"
        config = client.create_host_config(
            network_mode="none",
            binds={str(self._hosts): {"bind": "/etc/hosts", "mode": "ro"}},
            read_only=True,
            tmpfs={"/testbed": tmpfs, "/tmp": tmpfs},  # noqa: S108 - inside the container
            mem_limit=budgets.memory_mb * _MIB,
            memswap_limit=budgets.memory_mb * _MIB,
            pids_limit=budgets.pids,
            nano_cpus=int(budgets.cpus * 1_000_000_000),
            cap_drop=["ALL"],
            security_opt=["no-new-privileges"],
            log_config={"Type": "none", "Config": {}},
            init=True,
            ulimits=[{"Name": "nofile", "Soft": 4096, "Hard": 4096}, {"Name": "core", "Soft": 0, "Hard": 0}],
        )
        if self._runtime:
            config["Runtime"] = self._runtime
        return config

    def _run(self, client: Any, container: str, job: Job, clock: _Clock) -> JobResult:
        streams = Demultiplexer(stdout_limit=STDOUT_LIMIT, stderr_limit=job.budgets.output_bytes)
        wire = engine.attach(container)
        try:
            clock.mark("attach")
            client.start(container)
            clock.mark("start")
            timed_out = self._converse(container, job, wire, streams)
            clock.mark("run")
        finally:
            wire.close()
        exit_code = int(client.wait(container, timeout=60)["StatusCode"])
        state = client.inspect_container(container)["State"]
        clock.mark("wait")
        return JobResult(
            exit_code=exit_code,
            stdout=bytes(streams.stdout),
            stderr=streams.stderr.value(),
            stderr_size=streams.stderr.size,
            oom_killed=bool(state.get("OOMKilled")),
            timed_out=timed_out,
            stdout_overflow=streams.stdout_overflow,
            timings=clock.seconds,
        )

    def _converse(self, container: str, job: Job, wire: socket.socket, streams: Demultiplexer) -> bool:
        """Feed standard input and drain both streams until the container closes them. True if it had to be killed."""
        deadline = time.monotonic() + job.budgets.seconds + job.grace_seconds
        unsent = memoryview(job.stdin)
        killer: threading.Thread | None = None
        wire.setblocking(False)
        while True:
            readable, writable, _ = select.select([wire], [wire] if unsent else [], [], _POLL_SECONDS)
            if writable:
                with contextlib.suppress(BlockingIOError, BrokenPipeError, ConnectionResetError):
                    unsent = unsent[wire.send(unsent[: 256 * 1024]) :]
            if readable:
                with contextlib.suppress(BlockingIOError):
                    data = wire.recv(256 * 1024)
                    if not data:
                        break
                    streams.feed(data)
            if killer is None and (self._cancelled.is_set() or time.monotonic() >= deadline):
                # Never wait for the engine here: it may be waiting for this loop to drain the streams.
                killer = threading.Thread(target=_kill, args=(container,), daemon=True)
                killer.start()
                deadline = time.monotonic() + _DRAIN_SECONDS
            elif killer is not None and time.monotonic() >= deadline:
                break
        if self._cancelled.is_set():
            raise InterruptedRunError("the run was interrupted")
        return killer is not None


class _Clock:
    """Seconds between marks."""

    def __init__(self) -> None:
        self._last = time.monotonic()
        self.seconds: dict[str, float] = {}

    def mark(self, step: str) -> None:
        now = time.monotonic()
        self.seconds[step] = round(now - self._last, 6)
        self._last = now


def _kill(container: str) -> None:
    with contextlib.suppress(*engine.ConnectionLost):
        engine.connect().kill(container, signal="SIGKILL")


def _remove(container: str) -> None:
    with contextlib.suppress(InfrastructureError, *engine.ConnectionLost):
        engine.remove_container(container)
