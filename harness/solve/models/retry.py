"""Ask again where that is worth it, a bounded number of times, and not at once.

Waits are exponential with full jitter (M. Brooker, "Exponential backoff and jitter", AWS Architecture Blog, 2015), or
what the endpoint asks for in `Retry-After` (RFC 9110, section 10.2.3), up to a bound.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from email.utils import parsedate_to_datetime

from harness.solve.base import Fault, Model, ModelError, Reply, Request
from harness.solve.models.throttle import Throttle

CUT = "cut"
"""The finish reason of a reply whose stream broke off."""


@dataclass(frozen=True, kw_only=True)
class RetryPolicy:
    """What is asked again, how often and how patiently."""

    retries: Mapping[Fault, int] = field(
        default_factory=lambda: {
            Fault.RATE_LIMIT: 10,
            Fault.SERVER: 5,
            Fault.UNREACHABLE: 5,
            Fault.NETWORK: 5,
            Fault.BAD_REPLY: 2,
        }
    )
    """How often one question may be asked again after each fault. What is not here, never: a wrong key, a prompt that
    is too long and a malformed question stay what they are."""
    first_wait: float = 1.0
    """Seconds; doubled each time."""
    longest_wait: float = 60.0
    """Seconds of one wait that is ours to choose."""
    longest_asked: float = 300.0
    """Seconds of one wait that the endpoint asks for; what it asks beyond is not waited."""
    longest_total: float = 1800.0
    """Seconds that one question may wait in all."""


def retry_after_seconds(headers: Mapping[str, str], moment: datetime) -> float | None:
    """How many seconds an answer's headers ask to wait; None where they say nothing that can be read.

    `retry-after-ms` (OpenAI's) is finer and goes first; `Retry-After` is a number of seconds or an HTTP date.
    """
    by_name = {name.lower(): value.strip() for name, value in headers.items()}
    for name, unit in (("retry-after-ms", 1000.0), ("retry-after", 1.0)):
        try:
            seconds = float(by_name[name]) / unit
        except (KeyError, ValueError):
            continue
        if 0 <= seconds < float("inf"):
            return seconds
    try:
        date = parsedate_to_datetime(by_name.get("retry-after", ""))
        return max(0.0, (date - moment).total_seconds())
    except (TypeError, ValueError, OverflowError):  # no date, or one without a zone
        return None


class Retrying:
    """A model that is asked again; a `Model`."""

    def __init__(
        self,
        model: Model,
        throttle: Throttle,
        *,
        policy: RetryPolicy | None = None,
        chance: random.Random | None = None,
        may_wait: Callable[[float], None] = lambda _: None,
    ) -> None:
        self._model = model
        self.name = model.name
        self._throttle = throttle
        self._policy = policy or RetryPolicy()
        self._chance = chance or random.Random()  # noqa: S311 - spreads waits, keeps no secret
        self._may_wait = may_wait
        """Raises LimitReachedError where that many seconds would pass a time limit."""

    def ask(self, request: Request) -> Reply:
        """As `Model.ask`; the reply tells what failed before it and how long was waited.

        Raises:
            ModelError: not worth asking again, or asked often enough; the message says how often.
            LimitReachedError: a time limit is before the next try.

        """
        failed: list[Fault] = []
        waited = 0.0
        while True:
            try:
                reply = self._model.ask(request)
                if reply.finish_reason != CUT:
                    return replace(reply, retries=tuple(failed), waited_seconds=waited)
                error = ModelError("the stream of the answer broke off", fault=Fault.BAD_REPLY)
            except ModelError as raised:
                error = raised
            failed.append(error.fault)
            if failed.count(error.fault) > self._policy.retries.get(error.fault, 0):
                raise _given_up(error, failed, "") from error
            wait = self._wait(error, len(failed))
            if waited + wait > self._policy.longest_total:
                raise _given_up(error, failed, f", {waited:.0f} s of waiting in all") from error
            self._may_wait(wait)
            self._throttle.sleep(wait)
            waited += wait

    def _wait(self, error: ModelError, tries: int) -> float:
        policy = self._policy
        share = self._chance.random()
        ours = share * min(policy.longest_wait, policy.first_wait * 2.0 ** (tries - 1))
        if error.retry_after is None:
            return ours
        seconds = min(error.retry_after, policy.longest_asked)
        return max(ours, seconds * (1 + 0.1 * share))  # a little later each, so that not all come back at once


def _given_up(error: ModelError, failed: list[Fault], waited: str) -> ModelError:
    if len(failed) == 1 and not waited:
        return error
    return ModelError(
        f"{error.message} (asked {len(failed)} times{waited})",
        fault=error.fault,
        retry_after=error.retry_after,
        hint=error.hint,
    )
