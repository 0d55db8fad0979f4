"""Layers in a registry, found by their keys: what one engine builds, the others take, down to the task's own image.

A layer's key is made from its parent's id among others, so it is by taking parents from the same place that engines
come to the same keys. Whoever can push to the repository can put anything there under a layer's name: it is trusted as
the base image is.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from harness.core.errors import InfrastructureError
from harness.sandbox import engine
from harness.sandbox.images import pulls

if TYPE_CHECKING:
    Result = TypeVar("Result")

_FIRST_PAUSE, _LONGEST_PAUSE = 1.0, 10.0


@dataclass(frozen=True, kw_only=True)
class LayerRegistry:
    """A repository of a registry. Safe to use from several threads; a registry may be away for a while."""

    repository: str
    """`host/name`, without a tag."""
    note: Callable[[str], None]
    patience: float = pulls.REGISTRY_SECONDS
    """Seconds that the registry may take to come back."""

    def name(self, tag: str) -> str:
        """A layer's tag, such as `goldseam/deps:0123456789abcdef`, as `repository:tag`."""
        return f"{self.repository}:{tag.rpartition('/')[2].replace(':', '-')}"

    def take(self, tag: str, key: str) -> bool:
        """Have the engine hold a layer under its own tag, where the repository has one of this key.

        Raises:
            InfrastructureError: the engine failed, or the registry gave no answer for too long.

        """
        name = self.name(tag)
        if not self._patiently(f"asking for {name}", lambda: pulls.in_registry(name)):
            return False
        self.note(f"fetching {name}")
        self._patiently(f"fetching {name}", lambda: _fetch(name))
        facts = engine.inspect_image(name)
        if facts is None or facts.labels.get(engine.LABEL_KEY) != key:
            return False  # somebody pushed something else under that name
        engine.tag_image(name, tag)
        return True

    def give(self, tag: str) -> str:
        """See that the repository has a layer that the engine holds; `repository@sha256:…`.

        Raises:
            InfrastructureError: the engine or the registry failed.

        """
        name = self.name(tag)
        facts = engine.inspect_image(tag)
        digests = [digest for digest in facts.digests if digest.startswith(f"{self.repository}@")] if facts else []
        if digests:
            both = (name, digests[0])
            if all(self._patiently(f"asking for {ref}", partial(pulls.in_registry, ref)) for ref in both):
                return digests[0]
        self.note(f"pushing {name}")
        engine.tag_image(tag, name)
        digest = self._patiently(f"pushing {name}", lambda: pulls.push(name, stall_seconds=pulls.STALL_SECONDS))
        return f"{self.repository}@{digest}"

    def _patiently(self, doing: str, work: Callable[[], Result]) -> Result:
        """Do something with the registry, again and again while it does not answer and has time left."""
        until, pause = time.monotonic() + self.patience, _FIRST_PAUSE
        while True:
            try:
                return work()
            except (InfrastructureError, *engine.ConnectionLost) as error:
                why = engine.cause(error)
                if not pulls.is_passing(why) or time.monotonic() + pause > until:
                    raise InfrastructureError(
                        f"the container engine failed at {doing}: {why}",
                        hint=f"check that {self.repository} answers and lets every machine push (`docker login`)",
                    ) from error
            self.note(f"{self.repository} does not answer; trying again")
            time.sleep(pause)
            pause = min(2 * pause, _LONGEST_PAUSE)


def _fetch(name: str) -> None:
    with contextlib.closing(pulls.fetch(name, stall_seconds=pulls.STALL_SECONDS)) as progress:
        for _ in progress:
            pass
