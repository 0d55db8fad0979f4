"""A container that is worked in for a while: as locked as a trial's, and commands are run in it one after the other."""

from __future__ import annotations

import contextlib
import io
import secrets
import select
import tarfile
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

from harness.core.errors import InterruptedRunError
from harness.core.instance import Budgets, Service
from harness.sandbox import engine, pod
from harness.sandbox.containers import Containers, ContainerSpec, Net
from harness.sandbox.job import PYTHON, SandboxError
from harness.sandbox.streams import Conversation, Demultiplexer, Merged

if TYPE_CHECKING:
    import socket


READ_LIMIT = 256 * 1024 * 1024
"""Bytes that may be taken out of a container at once."""
FLOOD_LIMIT = 64 * 1024 * 1024
"""Bytes of output after which a command is ended: nobody reads that."""
_GATE = 'IFS= read -r go || exit 125; exec "$@"'
_KILL_SECONDS = 10.0
_LOOK_SECONDS = 1.0
_POLL_SECONDS = 0.25
_DRAIN_SECONDS = 0.2
_START_SECONDS = 30.0


class WorkspaceLostError(Exception):
    """What ran in the container took the container down with it, or left nothing to read: no fault of the engine."""


@dataclass(frozen=True, kw_only=True)
class Ran:
    """How a command in a session ended."""

    exit_code: int
    stdout: bytes
    """Whole; empty where both streams were asked for as one."""
    output: bytes
    """Standard error, or both streams as one, cut in the middle where longer than asked for."""
    timed_out: bool
    flooded: bool


class Sessions:
    """Opens sessions and leaves none behind; safe to use from several threads.

    On entering, containers that dead processes of this machine left are removed. An image that a task names in a
    registry and that is not here is pulled. `note` is told what a person may have to wait for.
    """

    def __init__(self, *, runtime: str | None = None, note: Callable[[str], None] | None = None) -> None:
        self.containers = Containers(runtime=runtime, note=note)

    def __enter__(self) -> Self:
        self.containers.begin()
        return self

    def __exit__(self, *_: object) -> None:
        self.containers.close()

    def cancel(self) -> None:
        """End running commands soon and refuse new ones."""
        self.containers.cancelled.set()

    @contextlib.contextmanager
    def session(
        self,
        image: str,
        budgets: Budgets,
        *,
        env: Mapping[str, str] | None = None,
        mounts: Mapping[str, str] | None = None,
        forward: tuple[str, int] | None = None,
        services: tuple[Service, ...] = (),
    ) -> Iterator[Session]:
        """A fresh container of an image, created and not yet started; gone at the end.

        `mounts` are folders of the host by place in the container, read-only. `forward` is the path of a Unix socket
        in one of them, and a port of the container's loopback that leads there. `services` are ready before it is
        there, and run until it is gone.

        Raises:
            MissingImageError: the image is not there and can't be pulled.
            InfrastructureError: the engine failed.

        """
        name = f"goldseam-{secrets.token_hex(8)}"
        session = Session(containers=self.containers, name=name, budgets=budgets, env=env or {}, forward=forward)
        with contextlib.ExitStack() as stack:
            with engine.calling(f"creating a workspace of {image}"):
                net = stack.enter_context(pod.opened(self.containers, name, image, services)) if services else None
                stack.callback(self.containers.janitor.remove, name)
                stack.callback(session.close)
                session.create(image, mounts or {}, net)
            yield session


@dataclass(kw_only=True, eq=False, repr=False)
class Session:
    """One container; used by one thread at a time."""

    containers: Containers
    name: str
    budgets: Budgets
    env: Mapping[str, str]
    forward: tuple[str, int] | None

    def __post_init__(self) -> None:
        self._keeper: socket.socket | None = None
        self._heard = Demultiplexer(stdout_limit=1024, stderr_limit=4096)
        self._watch = 0
        self._asked = 1
        self._told = 0

    def create(self, image: str, mounts: Mapping[str, str], net: Net | None = None) -> None:
        """Create the container, in the network of its services where it has some."""
        forward = tuple(str(word) for word in self.forward or ())
        argv = (PYTHON, "-I", "-S", "-B", "-c", pod.program("workspace_init"), *forward)
        spec = ContainerSpec(
            image=image,
            argv=argv,
            env=self.env,
            budgets=self.budgets,
            kind="workspace",
            mounts=mounts,
            init=False,
            net=net,
        )
        self.containers.create(self.name, spec)

    def image_files(self, path: str) -> dict[str, bytes]:
        """The regular files below a folder of the image itself, by path from its parent: what mounts hide, too.

        Raises:
            InfrastructureError: the engine failed, or the image has no such folder.

        """
        with engine.calling(f"reading {path} of an image") as client:
            chunks, _ = client.get_archive(self.name, path)
            data = b"".join(chunks)
        with tarfile.open(fileobj=io.BytesIO(data)) as archive:
            files = ((member.name, archive.extractfile(member)) for member in archive if member.isfile())
            return {name: file.read() for name, file in files if file}

    def start(self) -> None:
        """Start it and wait until it is ready.

        Raises:
            InfrastructureError: the engine failed.

        """
        with engine.calling("starting a workspace") as client:
            self._watch = self.containers.vigil.begin()
            self._keeper = engine.attach(self.name)
            client.start(self.name)
        if not self._await_keeper(_START_SECONDS):
            raise SandboxError(f"the workspace {self.name} does not start: {self._heard.stderr.value().decode()}")

    def execute(
        self,
        argv: tuple[str, ...],
        *,
        seconds: float,
        stdin: bytes = b"",
        merged: int | None = None,
        env: Mapping[str, str] | None = None,
        workdir: str = "/testbed",
    ) -> Ran:
        """Run a program to its end, or to the end of its time: then every process in the container is ended.

        `merged` asks for both streams as one, of at most so many bytes. Standard input stays open after `stdin`: a
        program that reads must know how much. What it leaves running in the background goes on.

        Raises:
            WorkspaceLostError: the container ended meanwhile, or before.
            InfrastructureError: the engine failed.
            InterruptedRunError: `cancel` was called meanwhile.

        """
        if self.containers.cancelled.is_set():
            raise InterruptedRunError("the run was interrupted")
        is_text = merged is not None
        streams = (
            Merged(limit=merged) if merged is not None else Demultiplexer(stdout_limit=READ_LIMIT, stderr_limit=65536)
        )
        watch = _Watch(deadline=time.monotonic() + seconds, flood=FLOOD_LIMIT if is_text else READ_LIMIT)
        command = ("/bin/sh", "-c", _GATE, "sh", *argv)
        try:
            number, wire = engine.execute(self.name, command, env=env or {}, workdir=workdir)
            with contextlib.closing(wire):
                self._follow(number, Conversation(wire, streams, b"\n" + stdin), watch)
                code = self._exit_code(number, watch)
        except engine.ConnectionLost as error:
            raise self._loss(error) from error
        if code is None:
            raise self._loss(None)
        return Ran(
            exit_code=code,
            stdout=bytes(streams.stdout),
            output=streams.stderr.value(),
            timed_out=watch.killed and not watch.flooded,
            flooded=watch.flooded or streams.stdout_overflow,
        )

    def end_all(self) -> None:
        """End every process in the container but its keeper.

        Raises:
            WorkspaceLostError: the container has ended.
            InfrastructureError: the engine failed.

        """
        if not self._kill() or not self._await_keeper(_KILL_SECONDS):
            raise self._loss(None)

    @property
    def is_cancelled(self) -> bool:
        """Whether the user has ended the work."""
        return self.containers.cancelled.is_set()

    def interrupt(self) -> None:
        """End what runs; whoever waits for it in another thread sees it ended."""
        self._kill()

    def close(self) -> None:
        """Let go of the container: it ends by itself."""
        if self._keeper is not None:
            self._keeper.close()

    def _follow(self, number: str, talk: Conversation, watch: _Watch) -> None:
        """Feed standard input and drain the streams until they close, or the program has ended and left them open."""
        look_at = time.monotonic() + _LOOK_SECONDS
        while talk.step(_POLL_SECONDS):
            if not self._may_go_on(watch, received=talk.received):
                return
            if (now := time.monotonic()) >= look_at:
                if not self._is_running(number):
                    talk.drain(_DRAIN_SECONDS)
                    return
                look_at = now + _LOOK_SECONDS

    def _may_go_on(self, watch: _Watch, *, received: int) -> bool:
        """Whether to wait on; a program whose time or room is up is ended, once."""
        if self.containers.cancelled.is_set():
            self._kill()
            raise InterruptedRunError("the run was interrupted")
        now = time.monotonic()
        flooded = not watch.killed and received > watch.flood
        if not flooded and now < watch.deadline:
            return True
        if watch.killed or not self._kill():
            return False
        watch.killed, watch.flooded, watch.deadline = True, flooded, now + _KILL_SECONDS
        return True

    def _exit_code(self, number: str, watch: _Watch) -> int | None:
        """The exit code of a program whose streams have closed; None where it can't be ended."""
        client = engine.connect()
        pause = 0.01
        while (state := client.exec_inspect(number))["Running"] or state["ExitCode"] is None:
            if not self._may_go_on(watch, received=0):
                return None
            self.containers.cancelled.wait(pause)
            pause = min(2 * pause, _POLL_SECONDS)
        return int(state["ExitCode"])

    def _is_running(self, number: str) -> bool:
        return bool(engine.connect().exec_inspect(number)["Running"])

    def _kill(self) -> bool:
        """Tell the keeper to end all others."""
        if self._keeper is None:
            return False
        try:
            self._keeper.sendall(b"k")
        except OSError:
            return False
        self._asked += 1
        return True

    def _await_keeper(self, seconds: float) -> bool:
        """Wait for the keeper's answers: a letter each time that it was asked, and one at its start."""
        if self._keeper is None:
            return False
        deadline = time.monotonic() + seconds
        while self._told < self._asked:
            readable, _, _ = select.select([self._keeper], [], [], max(0.0, deadline - time.monotonic()))
            try:
                data = self._keeper.recv(4096) if readable else b""
            except OSError:
                return False
            if not data:
                return False
            self._heard.feed(data)
            self._told += len(self._heard.stdout)
            self._heard.stdout.clear()
        return True

    def _loss(self, error: BaseException | None) -> Exception:
        """Why nothing can be done in the container any more: the engine's fault, or that of what ran in it."""
        if not self.containers.vigil.unbroken(self._watch) or not engine.answers():
            return SandboxError("the container engine was stopped or restarted while a workspace was open")
        try:
            state = engine.connect().inspect_container(self.name)["State"]
        except engine.ConnectionLost as failure:
            return SandboxError(f"the workspace was removed: {engine.cause(failure)}")
        if state.get("Running") and error is not None:
            return SandboxError(f"the container engine failed in a workspace: {engine.cause(error)}")
        if state.get("OOMKilled"):
            return WorkspaceLostError("the workspace used up its memory and ended")
        if state.get("Running"):
            return WorkspaceLostError("what runs in the workspace can't be ended")
        return WorkspaceLostError("the workspace has ended")


@dataclass(kw_only=True)
class _Watch:
    """When a command has to end, and whether it had to be ended."""

    deadline: float
    flood: int
    """Bytes of output after which it is ended, too."""
    killed: bool = False
    flooded: bool = False
