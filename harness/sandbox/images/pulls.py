"""Images that the engine does not hold yet: fetched by digest, each once, within bounds.

A registry may be away for a while, as an engine may: a pull that fails on the way there is tried again. What the
registry says of the image itself (it does not have it, it does not let us in) holds at once.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Generator, Mapping
from typing import Any

from harness.core.errors import InfrastructureError, InterruptedRunError
from harness.sandbox import engine
from harness.sandbox.job import MissingImageError

PULL_SECONDS = 1800.0
"""How long one image may take."""
STALL_SECONDS = 120.0
"""How long a pull may go on without a sign of life."""
REGISTRY_SECONDS = 120.0
"""How long a registry may take to come back."""
_FIRST_PAUSE, _LONGEST_PAUSE = 1.0, 10.0
"""Seconds between two attempts: doubled each time."""
_NOTE_SECONDS = 15.0
_POLL_SECONDS = 0.25
_UNKNOWN = ("manifest unknown", "not found", "name unknown", "repository does not exist")
_PASSING = (
    *("connection refused", "connection reset", "broken pipe", "eof", "timeout", "timed out", "deadline exceeded"),
    *("no such host", "temporary failure", "server misbehaving", "network is unreachable", "no route to host"),
    *("internal server error", "bad gateway", "service unavailable", "toomanyrequests", "too many requests"),
    *("unexpected http status: 5", "connection closed", "closed idle connection", "use of closed network connection"),
)
"""What engines say when they did not get through to a registry, or it failed itself."""
_STOPPED = "context canceled"
"""What an engine says of a pull when it is told to end."""
_NOT_THERE = ("manifest unknown", "name unknown", "not found")
"""What registries say of an image that they do not have."""


class Puller:
    """Fetches images that tasks name as `repository@sha256:…`. Safe to use from several threads.

    Whoever wants an image that is being fetched waits for that pull and shares its end. A failed pull is not tried
    again for as long as it took, so that a registry which is slow to fail costs a run twice that time at most. A
    registry that does not answer may take `patience` seconds to come back: one span of time for all that is in it.
    """

    def __init__(self, note: Callable[[str], None], *, patience: float = REGISTRY_SECONDS) -> None:
        self._note = note
        self._lock = threading.Lock()
        self._pulls: dict[str, _Pull] = {}
        self._registries: dict[str, _Registry] = {}
        self._patience = patience

    def fetch(self, ref: str, *, cancelled: threading.Event, tags: bool = False) -> None:
        """Return when the engine holds an image that it lacked. With `tags`, `ref` may be `repository:tag`, too.

        Raises:
            MissingImageError: it can't be had: no registry is named, or the pull failed; the message has the cause.
            InfrastructureError: the engine went away meanwhile, which says nothing of the image.
            InterruptedRunError: the run was interrupted meanwhile.

        """
        if "@" not in ref and not (tags and ":" in ref and not ref.startswith("sha256:")):
            raise MissingImageError(
                f"the engine has no image {ref}",
                hint="only the machine that mined the task has it; push it from there, or mine the task here again",
            )
        with self._lock:
            pull = self._pulls.get(ref)
            if pull is None or pull.is_over():
                name = ref.partition("/")[0] if "/" in ref else "docker.io"
                registry = self._registries.setdefault(name, _Registry(name, self._patience))
                pull = self._pulls[ref] = _Pull(ref, registry, self._note)
        while not pull.done.wait(_POLL_SECONDS):
            if cancelled.is_set():
                pull.abandoned.set()
                raise InterruptedRunError("the run was interrupted")
        if pull.engine_lost:
            raise InfrastructureError(pull.engine_lost)
        if pull.failure:
            raise MissingImageError(pull.failure, hint=pull.hint)


class _Registry:
    """How long one registry has been away; asked by several threads."""

    def __init__(self, name: str, patience: float) -> None:
        self.name = name
        self.patience = patience
        self._lock = threading.Lock()
        self._gone_since: float | None = None

    def mark_present(self) -> None:
        """It is there."""
        with self._lock:
            self._gone_since = None

    def may_wait(self) -> tuple[float, bool]:
        """After a failure on the way: seconds that it still has to come back, and whether this is the first failure."""
        now = time.monotonic()
        with self._lock:
            is_first = self._gone_since is None
            since = self._gone_since = now if self._gone_since is None else self._gone_since
        return since + self.patience - now, is_first


class _Pull:
    """One pull, in a thread that nobody has to wait for."""

    def __init__(self, ref: str, registry: _Registry, note: Callable[[str], None]) -> None:
        self.done = threading.Event()
        self.abandoned = threading.Event()
        self.failure = ""
        self.hint = ""
        self.engine_lost = ""
        self._ref = ref
        self._registry = registry
        self._note = note
        self._began = time.monotonic()
        self._ended = self._began
        threading.Thread(target=self._work, name="goldseam-pull", daemon=True).start()

    def is_over(self) -> bool:
        """Whether it says nothing of now: it brought an image that has gone since, or failed long enough ago."""
        if not self.done.is_set():
            return False
        return not self.failure or time.monotonic() - self._ended > self._ended - self._began

    def _work(self) -> None:
        self._note(f"fetching {self._ref}")
        try:
            self._try_on()
            self._note(f"fetched {self._ref} in {time.monotonic() - self._began:.0f} s")
        except _GivenUpError as error:
            self._fail(str(error))
        except (InfrastructureError, *engine.ConnectionLost) as error:
            self._fail_by_engine(error)
        finally:
            self._ended = time.monotonic()
            self.done.set()

    def _try_on(self) -> None:
        """Pull, again and again while the registry does not answer and has time left."""
        pause = _FIRST_PAUSE
        while True:
            try:
                self._follow()
            except engine.EngineError as error:
                why = engine.cause(error)
                if _STOPPED in why.lower():
                    raise InfrastructureError(why) from error
                if not is_passing(why):
                    self._registry.mark_present()
                    raise _GivenUpError(why) from error
                left, is_first = self._registry.may_wait()
                if is_first and left > 0:
                    self._note(f"{self._registry.name} does not answer; trying again for up to {left:.0f} s: {why}")
                if left <= 0 or self.abandoned.wait(min(pause, left)):
                    raise _GivenUpError(why) from error
                pause = min(2 * pause, _LONGEST_PAUSE)
            else:
                self._registry.mark_present()
                return

    def _follow(self) -> None:
        layers: dict[str, tuple[int, int]] = {}
        noted = began = time.monotonic()
        with contextlib.closing(fetch(self._ref, stall_seconds=STALL_SECONDS)) as progress:
            for fields in progress:
                now = time.monotonic()
                if self.abandoned.is_set() or now - began > PULL_SECONDS:
                    raise _GivenUpError(f"not done within {PULL_SECONDS:.0f} s")
                _add_up(layers, fields)
                if now - noted > _NOTE_SECONDS:
                    noted = now
                    have = sum(fetched for fetched, _ in layers.values())
                    size = sum(size for _, size in layers.values())
                    self._note(f"fetching {self._ref}: {have / 1e6:.0f} of {size / 1e6:.0f} MB")

    def _fail_by_engine(self, error: BaseException) -> None:
        """The connection to the engine broke: it has gone, or it said nothing for too long."""
        if engine.is_silence(error):
            self._fail(engine.cause(error))
        else:
            self.engine_lost = f"the container engine went away while it fetched {self._ref}: {engine.cause(error)}"

    def _fail(self, why: str) -> None:
        self.failure = f"the engine has no image {self._ref}, and it can't be pulled: {why}"
        unknown = any(sign in why.lower() for sign in _UNKNOWN)
        self.hint = (
            "the registry does not have it; was it pushed, and is the name right?"
            if unknown
            else "check that the registry answers and lets this machine in (`docker login`), then use --retry-errors"
        )


class _GivenUpError(Exception):
    """The image can't be had."""


def is_passing(why: str) -> bool:
    """Whether a pull's failure, in the engine's words, is one of the way to the registry and may pass. Pure."""
    reason = why.lower()
    return "no space left" not in reason and any(sign in reason for sign in _PASSING)


def _add_up(layers: dict[str, tuple[int, int]], fields: Mapping[str, Any]) -> None:
    """Take a line of progress into account: bytes here and bytes in all, by layer."""
    detail = fields.get("progressDetail") or {}
    if fields.get("status") == "Downloading" and detail.get("total"):
        layers[fields["id"]] = (int(detail["current"]), int(detail["total"]))
    elif fields.get("status") == "Download complete" and fields.get("id") in layers:
        size = layers[fields["id"]][1]
        layers[fields["id"]] = (size, size)


def fetch(ref: str, *, stall_seconds: float) -> Generator[Mapping[str, Any], None, None]:
    """Pull `repository@sha256:…` or `repository:tag` with the log-in that Docker's own configuration holds.

    Yields what the engine says; the engine holds what comes against a digest. Closing the generator ends the pull.

    Raises:
        ConnectionLost: the engine or the registry failed, or nothing came for `stall_seconds`.

    """
    repository, _, version = ref.partition("@") if "@" in ref else ref.rpartition(":")
    with engine.patient(stall_seconds) as client:
        for event in client.pull(repository, tag=version, stream=True, decode=True):
            if "error" in event:
                raise engine.EngineError(event["error"])
            yield event


def push(ref: str, *, stall_seconds: float) -> str:
    """Push `repository:tag` with the log-in of Docker's own configuration. Returns the digest, `sha256:…`.

    Raises:
        ConnectionLost: the engine or the registry failed, or nothing came for `stall_seconds`.

    """
    repository, _, tag = ref.rpartition(":")
    digest = ""
    with engine.patient(stall_seconds) as client:
        for event in client.push(repository, tag=tag, stream=True, decode=True):
            if "error" in event:
                raise engine.EngineError(event["error"])
            digest = (event.get("aux") or {}).get("Digest") or digest
    facts = None if digest else engine.inspect_image(ref)  # Podman does not tell it on the way
    digests = [name.rpartition("@")[2] for name in facts.digests if name.startswith(f"{repository}@")] if facts else []
    if not digest and not digests:
        raise engine.EngineError(f"the registry did not say under which digest it holds {ref}")
    return digest or digests[0]


def in_registry(ref: str) -> bool:
    """Whether the registry that `repository@sha256:…` or `repository:tag` names has it; nothing is pulled.

    Raises:
        InfrastructureError: the engine failed, or the registry gave no answer.

    """
    with engine.calling(f"asking the registry for {ref}") as client:
        try:
            client.inspect_distribution(ref)
        except engine.NotFoundError:
            return False
        except engine.ConnectionLost as error:
            if any(sign in engine.cause(error).lower() for sign in _NOT_THERE):
                return False
            raise
    return True
