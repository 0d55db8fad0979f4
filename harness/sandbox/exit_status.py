"""How a container ended, as its engine tells it."""

from __future__ import annotations

import signal
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from harness.sandbox import engine

_KILLED = 128 + signal.SIGKILL
_LATE_SECONDS = 2
"""How long after a container's end the engine may still learn that its memory had run out."""


@dataclass(frozen=True, kw_only=True)
class End:
    """What became of a container."""

    exit_code: int
    out_of_memory: bool
    """Its memory limit was hit."""


def end_of(container: str, *, ended_by_us: bool) -> End:
    """Wait for a container's end, and tell it.

    The kernel's word that memory ran out and that of the end reach the engine by two roads. Where the end is the first,
    the container's state says for ever that memory was not the cause. So where a container was killed, and not
    `ended_by_us`, the engine's events are asked as well.

    Raises:
        ConnectionLost: the engine failed.

    """
    client: Any = engine.connect()
    exit_code = int(client.wait(container, timeout=client.timeout)["StatusCode"])
    state = client.inspect_container(container)["State"]
    out_of_memory = bool(state.get("OOMKilled"))
    if not out_of_memory and exit_code == _KILLED and not ended_by_us:
        out_of_memory = _told_later(container, state)
    return End(exit_code=exit_code, out_of_memory=out_of_memory)


def _told_later(container: str, state: dict[str, Any]) -> bool:
    with suppress(ValueError, KeyError, *engine.ConnectionLost):
        began, ended = (_seconds(state[name]) for name in ("StartedAt", "FinishedAt"))
        return engine.happened("oom", container, since=began, until=ended + _LATE_SECONDS)
    return False


def _seconds(moment: str) -> int:
    """Whole seconds of the engine's clock, of `2026-01-31T12:00:00.123456789Z`."""
    return int(datetime.fromisoformat(moment[:19] + "+00:00").timestamp())
