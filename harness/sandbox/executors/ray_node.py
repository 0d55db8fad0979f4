"""What runs on a node of a Ray cluster: jobs and errands on the node's own engine. Ray itself is not needed here.

Each worker process keeps one sandbox and one thread that works in it, since a thread has a connection to the engine of
its own and jobs come one after the other. The main thread only waits, so that Ray can interrupt it at any time.

Ray keeps arguments and results of more than 100 kB in the object stores of the nodes concerned, which are shared
memory, and moves them to a disk when that is full. A job holds hidden tests, so both are letters, encrypted with a key
of this run alone (AES-GCM, NIST SP 800-38D). The key goes with each task as a small argument, which is in no object
store.
"""

from __future__ import annotations

import os
import pickle
import signal
import threading
import time
from collections.abc import Callable, Collection
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from typing import Any

from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from harness.core import origin
from harness.core.errors import InfrastructureError, InterruptedRunError
from harness.sandbox import engine, owners
from harness.sandbox.docker import DockerSandbox
from harness.sandbox.executors.base import Errand, Place
from harness.sandbox.images import tools
from harness.sandbox.job import Job

_NONCE_BYTES = 12
_GONE_SECONDS = 20.0
_BETWEEN_SECONDS = 0.2


def new_key() -> bytes:
    """A key for one run."""
    return AESGCM.generate_key(bit_length=256)


def seal(value: Any, key: bytes) -> bytes:
    """A value as a letter."""
    nonce = os.urandom(_NONCE_BYTES)
    return nonce + AESGCM(key).encrypt(nonce, pickle.dumps(value), None)


def open_letter(letter: bytes, key: bytes) -> Any:
    """The value in a letter that `seal` made with this key.

    Raises:
        cryptography.exceptions.InvalidTag: it was made with another key, or changed.

    """
    return pickle.loads(AESGCM(key).decrypt(letter[:_NONCE_BYTES], letter[_NONCE_BYTES:], None))  # noqa: S301 - our own


def outcome_of(call: Callable[[], Any]) -> tuple[Any, Exception | None]:
    """What a call returned or raised: errors travel as values, since Ray logs the text of those raised."""
    try:
        return call(), None
    except Exception as error:  # noqa: BLE001 - raised again where the letter is read
        try:
            pickle.loads(pickle.dumps(error))  # noqa: S301 - our own
        except Exception:  # noqa: BLE001 - anything may refuse to travel
            return None, RuntimeError(f"{type(error).__name__}: {error}")
        return None, error.with_traceback(None)


@dataclass(frozen=True, kw_only=True)
class Setting:
    """How a run's sandboxes are made on nodes."""

    runtime: str | None = None
    engine_wait: float = 60.0


@dataclass(frozen=True, kw_only=True)
class Reply:
    """What came of one job or errand."""

    result: Any
    """A job's `JobResult`, or what an errand's work returned; None after an error."""
    error: Exception | None
    owner: str
    """The label of the process that did it, on its containers."""
    healthy: bool
    """Whether the node's engine answers and has room on its disk; asked only after an error."""
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class NodeFacts:
    """What a node says of itself."""

    version: str
    """Of goldseam."""
    images: frozenset[str] = frozenset()
    """Ids and `repository@sha256:…` of the images that its engine holds."""
    tools: str | None = None
    """Its image with the tools for signals."""
    trouble: str = ""
    """Why its engine can't be used."""
    engine: str = ""
    """What its engine is known by: nodes of one machine may share one."""


@dataclass(kw_only=True)
class _Bench:
    """What a worker process keeps between jobs."""

    setting: Setting
    sandbox: DockerSandbox
    thread: ThreadPoolExecutor
    notes: list[str] = field(default_factory=list)
    errand: Future[Any] | None = None
    """The last one, which may be under way."""
    stopped: threading.Event = field(default_factory=threading.Event)

    @classmethod
    def opened(cls, setting: Setting) -> _Bench:
        notes: list[str] = []
        sandbox = DockerSandbox(runtime=setting.runtime, engine_wait=setting.engine_wait, note=notes.append)
        thread = ThreadPoolExecutor(1, thread_name_prefix="goldseam-node")
        return cls(setting=setting, sandbox=sandbox, thread=thread, notes=notes)

    def do(self, order: Job | Errand) -> Any:
        if not isinstance(order, Errand):
            return _outcome(self.thread.submit(self.sandbox.run, order))
        self.errand = self.thread.submit(order.work, order.item, Place(sandbox=self.sandbox, note=self._note))
        return _outcome(self.errand)

    def _note(self, text: str) -> None:
        """Keep what an errand tells before each of its steps, or end it there."""
        if self.stopped.is_set():
            raise InterruptedRunError("the run was interrupted")
        self.notes.append(text)

    def took_notes(self) -> list[str]:
        notes = self.notes.copy()
        del self.notes[: len(notes)]
        return notes

    def close(self) -> None:
        self.stopped.set()
        self.sandbox.cancel()
        self._end_errand()
        self.thread.shutdown(wait=self.errand is None or self.errand.done())
        self.sandbox.__exit__(None, None, None)

    def _end_errand(self) -> None:
        """An errand ends when its containers do; one that hangs on something else ends with the process."""
        deadline = time.monotonic() + _GONE_SECONDS
        while self.errand and not self.errand.done() and time.monotonic() < deadline:
            tidy((owners.owner(),))
            wait([self.errand], timeout=_BETWEEN_SECONDS)


def _outcome(future: Future[Any]) -> Any:
    """What comes of work in the bench's thread. Ray interrupts by a flag that whoever waits for good never looks at."""
    while not future.done():
        wait([future], timeout=_BETWEEN_SECONDS)
    return future.result()


_benches: list[_Bench] = []
"""At most one: a process does one job at a time."""


def work(letter: bytes, key: bytes, setting: Setting) -> bytes:
    """Do one job or errand and return a `Reply`, both as letters. Interrupted, no container is left when this ends."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # as whatever is started in the background inherits it
        signal.signal(signal.SIGINT, signal.default_int_handler)
    content = open_letter(letter, key)
    return seal(_reply(content, setting), key)


def _reply(request: Job | Errand, setting: Setting) -> Reply:
    try:
        result, error = outcome_of(lambda: _bench(setting).do(request))
    except BaseException:  # Ray's way to cancel is to raise KeyboardInterrupt here, and it does so more than once
        usual = signal.signal(signal.SIGINT, signal.SIG_IGN)
        while _benches:
            _benches.pop().close()
        signal.signal(signal.SIGINT, usual)
        raise
    notes = tuple(note for bench in _benches for note in bench.took_notes())
    healthy = error is None or (engine.answers() and not engine.is_full(error))
    return Reply(result=result, error=error, owner=owners.owner(), healthy=healthy, notes=notes)


def _bench(setting: Setting) -> _Bench:
    """The sandbox of this process; entering a new one removes what dead processes of this node left."""
    if _benches and _benches[0].setting != setting:
        _benches.pop().close()
    if not _benches:
        bench = _Bench.opened(setting)
        bench.thread.submit(bench.sandbox.__enter__).result()
        _benches.append(bench)
    return _benches[0]


def look(*, runtime: str | None = None) -> NodeFacts:
    """What this node is and has; the containers that dead processes left here are removed on the way."""
    version = origin.version()
    try:
        if runtime:
            engine.check_runtime(runtime)
        owners.sweep()
        return NodeFacts(version=version, images=_images(), tools=tools.find(), engine=_engine())
    except Exception as error:  # noqa: BLE001 - the driver tells it
        return NodeFacts(version=version, trouble=str(error) or type(error).__name__)


def _engine() -> str:
    """What tells this node's engine from others: two on one machine differ in their folder, and may share an id."""
    info = engine.connect().info()
    engine_ids = () if engine.is_podman() else (info.get("ID"),)  # Podman makes one up at each call
    return "\n".join(str(part or "") for part in (info.get("Name"), info.get("DockerRootDir"), *engine_ids))


def _images() -> frozenset[str]:
    images = engine.connect().images()
    return frozenset(name for image in images for name in (image["Id"], *(image.get("RepoDigests") or ())))


def tidy(ended: Collection[str]) -> None:
    """Remove the containers of processes whose work has ended, and of dead ones, as far as that can be done soon."""
    deadline = time.monotonic() + _GONE_SECONDS
    while True:
        try:
            owners.sweep()
            containers = engine.connect().containers(all=True, filters={"label": [engine.LABEL_OWNER]})
            left = [container["Id"] for container in containers if container["Labels"].get(engine.LABEL_OWNER) in ended]
            for name in left:
                _removed(name)
        except (InfrastructureError, *engine.ConnectionLost):
            return
        if not left or time.monotonic() > deadline:
            return


def _removed(name: str) -> None:
    try:
        engine.remove_container(name)
    except engine.ApiError:
        time.sleep(0.05)  # somebody else is removing it
