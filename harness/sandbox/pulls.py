"""Images that the engine does not hold yet: fetched by digest, each once, within bounds."""

from __future__ import annotations

import contextlib
import threading
import time
from typing import TYPE_CHECKING

from harness.errors import InfrastructureError, InterruptedRunError
from harness.sandbox import engine
from harness.sandbox.base import MissingImageError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

PULL_SECONDS = 1800.0
"""How long one image may take."""
STALL_SECONDS = 120.0
"""How long a pull may go on without a sign of life."""
_NOTE_SECONDS = 15.0
_POLL_SECONDS = 0.25
_UNKNOWN = ("manifest unknown", "not found", "name unknown", "repository does not exist")


class Puller:
    """Fetches images that tasks name as `repository@sha256:…`. Safe to use from several threads.

    Whoever wants an image that is being fetched waits for that pull and shares its end. A failed pull is not tried
    again for as long as it took, so that a registry which is slow to fail costs a run twice that time at most.
    """

    def __init__(self, note: Callable[[str], None]) -> None:
        self._note = note
        self._lock = threading.Lock()
        self._pulls: dict[str, _Pull] = {}

    def fetch(self, ref: str, *, cancelled: threading.Event) -> None:
        """Return when the engine holds an image that it lacked.

        Raises:
            MissingImageError: it can't be had: no registry is named, or the pull failed; the message has the cause.
            InterruptedRunError: the run was interrupted meanwhile.

        """
        if "@" not in ref:
            raise MissingImageError(
                f"the engine has no image {ref}",
                hint="that is an image of the machine that mined the task; mine it here again, or have it pushed",
            )
        with self._lock:
            pull = self._pulls.get(ref)
            if pull is None or pull.is_over():
                pull = self._pulls[ref] = _Pull(ref, self._note)
        while not pull.done.wait(_POLL_SECONDS):
            if cancelled.is_set():
                pull.abandoned = True
                raise InterruptedRunError("the run was interrupted")
        if pull.failure:
            raise MissingImageError(pull.failure, hint=pull.hint)


class _Pull:
    """One pull, in a thread that nobody has to wait for."""

    def __init__(self, ref: str, note: Callable[[str], None]) -> None:
        self.done = threading.Event()
        self.abandoned = False
        self.failure = ""
        self.hint = ""
        self._ref = ref
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
            self._follow()
            self._note(f"fetched {self._ref} in {time.monotonic() - self._began:.0f} s")
        except (InfrastructureError, *engine.ConnectionLost) as error:
            self._fail(engine.cause(error))
        finally:
            self._ended = time.monotonic()
            self.done.set()

    def _follow(self) -> None:
        layers: dict[str, tuple[int, int]] = {}
        told = self._began
        with contextlib.closing(engine.fetch(self._ref, stall_seconds=STALL_SECONDS)) as progress:
            for said in progress:
                now = time.monotonic()
                if self.abandoned or now - self._began > PULL_SECONDS:
                    raise InfrastructureError(f"not done within {PULL_SECONDS:.0f} s")
                _add_up(layers, said)
                if now - told > _NOTE_SECONDS:
                    told = now
                    have, size = sum(done for done, _ in layers.values()), sum(size for _, size in layers.values())
                    self._note(f"fetching {self._ref}: {have / 1e6:.0f} of {size / 1e6:.0f} MB")

    def _fail(self, why: str) -> None:
        self.failure = f"the engine has no image {self._ref}, and it can't be pulled: {why}"
        unknown = any(sign in why.lower() for sign in _UNKNOWN)
        self.hint = (
            "the registry does not have it; was it pushed, and is the name right?"
            if unknown
            else "see that the registry answers and lets this machine in (`docker login`), then use --retry-errors"
        )


def _add_up(layers: dict[str, tuple[int, int]], said: Mapping[str, Any]) -> None:
    """Take a line of progress into account: bytes here and bytes in all, by layer."""
    detail = said.get("progressDetail") or {}
    if said.get("status") == "Downloading" and detail.get("total"):
        layers[said["id"]] = (int(detail["current"]), int(detail["total"]))
    elif said.get("status") == "Download complete" and said.get("id") in layers:
        size = layers[said["id"]][1]
        layers[said["id"]] = (size, size)
