"""Time as the layers around a model see it, so that a test can hold it still."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from threading import Condition


class Clock(Protocol):
    """Tells the time and waits."""

    def monotonic(self) -> float:
        """Seconds on a clock that is never put back."""
        ...

    def now(self) -> datetime:
        """The date and time, in UTC."""
        ...

    def wait(self, condition: Condition, seconds: float | None) -> None:
        """Wait until the condition, which the caller holds, is notified; or until the seconds are over, if given."""
        ...


class SystemClock:
    """The clock of this machine."""

    def monotonic(self) -> float:
        return time.monotonic()

    def now(self) -> datetime:
        return datetime.now(UTC)

    def wait(self, condition: Condition, seconds: float | None) -> None:
        condition.wait(seconds)
