"""How many questions may be with an endpoint at once: fewer when it says that there are too many, then slowly more.

Additive increase, multiplicative decrease, as TCP does it (D.-M. Chiu and R. Jain, "Analysis of the increase and
decrease algorithms for congestion avoidance in computer networks", Computer Networks and ISDN Systems 17 (1989), 1-14).
All threads share one `Throttle`, and an endpoint that asks one of them to wait makes all of them wait.
"""

from __future__ import annotations

import math
import threading
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Protocol

from harness.solve.base import Fault, LimitReachedError, Model, ModelError, Reply, Request

if TYPE_CHECKING:
    from threading import Condition


STOPPED = "stopped"
"""The limit's name where a person, or the program, ended the work."""


class Clock(Protocol):
    """Tells the time and waits."""

    def monotonic(self) -> float:
        """Seconds on a clock that is never put back."""

    def now(self) -> datetime:
        """The date and time, in UTC."""

    def wait(self, condition: Condition, seconds: float | None) -> None:
        """Wait until the condition, which the caller holds, is notified; or until the seconds are over, if given."""


class SystemClock:
    """The clock of this machine."""

    def monotonic(self) -> float:
        return time.monotonic()

    def now(self) -> datetime:
        return datetime.now(UTC)

    def wait(self, condition: Condition, seconds: float | None) -> None:
        condition.wait(seconds)


@dataclass(kw_only=True)
class Governor:
    """The rule, without threads: every moment is told to it."""

    most: int
    """Questions at once that the user allows."""
    limit: int
    """Questions at once that the endpoint seems to bear; from 1 to `most`."""
    in_flight: int = 0
    paused_until: float = -math.inf
    _succeeded: int = 0
    _halved_at: float = -math.inf

    def delay(self, now: float) -> float | None:
        """Seconds until a question may start: 0 for at once; None where one that is in flight has to end first."""
        if now < self.paused_until:
            return self.paused_until - now
        return 0.0 if self.in_flight < self.limit else None

    def start(self) -> None:
        self.in_flight += 1

    def end(self) -> None:
        self.in_flight -= 1

    def succeeded(self) -> None:
        """An answer came; after as many as may be in flight, one more may."""
        self._succeeded += 1
        if self._succeeded >= self.limit:
            self._succeeded = 0
            self.limit = min(self.most, self.limit + 1)

    def refused(self, *, started: float, now: float) -> None:
        """The endpoint said: too many. It says so to all that were on their way together: that halves it once."""
        self._succeeded = 0
        if started >= self._halved_at:
            self.limit = max(1, self.limit // 2)
            self._halved_at = now

    def pause(self, *, now: float, seconds: float) -> None:
        """Nobody starts before these seconds are over; a longer pause stands."""
        self.paused_until = max(self.paused_until, now + seconds)


class Throttle:
    """A `Governor` shared by threads, and the one place where they wait."""

    def __init__(self, clock: Clock, *, most: int, longest_pause: float = 300.0) -> None:
        self.clock = clock
        self.longest_pause = longest_pause
        """Seconds; an endpoint that asks for more is asked again after these."""
        self.governor = Governor(most=max(1, most), limit=max(1, most))
        self._changed = threading.Condition()
        self._stopped = False

    def enter(self) -> float:
        """Wait for a turn; returns when it began.

        Raises:
            LimitReachedError: the work was stopped.

        """
        with self._changed:
            while True:
                self._check()
                delay = self.governor.delay(self.clock.monotonic())
                if delay == 0:
                    self.governor.start()
                    return self.clock.monotonic()
                self.clock.wait(self._changed, delay)

    def leave(self, *, started: float, error: ModelError | None, succeeded: bool) -> None:
        """Give the turn back and say what came of it."""
        with self._changed:
            now = self.clock.monotonic()
            self.governor.end()
            if succeeded:
                self.governor.succeeded()
            if error is not None and error.fault is Fault.RATE_LIMIT:
                self.governor.refused(started=started, now=now)
            if error is not None and error.retry_after and error.fault in {Fault.RATE_LIMIT, Fault.SERVER}:
                self.governor.pause(now=now, seconds=min(error.retry_after, self.longest_pause))
            self._changed.notify_all()

    def sleep(self, seconds: float) -> None:
        """Wait without a turn.

        Raises:
            LimitReachedError: the work was stopped.

        """
        with self._changed:
            until = self.clock.monotonic() + seconds
            while True:
                self._check()
                left = until - self.clock.monotonic()
                if left <= 0:
                    return
                self.clock.wait(self._changed, left)

    def stop(self) -> None:
        """Let no further question start, and wake whoever waits."""
        with self._changed:
            self._stopped = True
            self._changed.notify_all()

    def _check(self) -> None:
        if self._stopped:
            raise LimitReachedError(STOPPED, "the work was stopped")


class Throttled:
    """A model that waits for its turn; a `Model`."""

    def __init__(self, model: Model, throttle: Throttle) -> None:
        self._model = model
        self.name = model.name
        self._throttle = throttle

    def ask(self, request: Request) -> Reply:
        """As `Model.ask`, when there is a turn."""
        started = self._throttle.enter()
        failed: ModelError | None = None
        is_answered = False
        try:
            reply = self._model.ask(request)
            is_answered = True
        except ModelError as error:
            failed = error
            raise
        finally:
            self._throttle.leave(started=started, error=failed, succeeded=is_answered)
        return reply
