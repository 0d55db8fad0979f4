"""A model that a mine asks about many tasks, until a limit or a fault ends that for all of them."""

from __future__ import annotations

import json
import threading
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from harness.core import files
from harness.core.errors import InputError, InterruptedRunError
from harness.solve.base import Fault, LimitReachedError, Message, Model, ModelError, Reply, Request
from harness.solve.models.meter import Spending
from harness.solve.models.stack import Wrapped
from harness.solve.models.throttle import STOPPED

_OF_ONE_TASK = frozenset({Fault.CONTEXT_OVERFLOW, Fault.BAD_REPLY})
"""What says nothing of the next question; anything else was tried often enough to know."""


def earlier(path: Path, spent_on: str) -> Spending:
    """What earlier mines spent on `spent_on`.

    Raises:
        InputError: the file that says so is broken, so that a limit could be passed unseen.

    """
    try:
        return Spending(**json.loads(path.read_bytes()))
    except FileNotFoundError:
        return Spending()
    except (OSError, ValueError, TypeError) as error:
        raise InputError(
            f"{path} does not say what was spent on {spent_on}: {error}", hint="delete it, and limits count from zero"
        ) from error


class NotAskedError(Exception):
    """A question that gets no answer; it says why."""


class Questions:
    """What is asked of a model; shared by the threads of a mine. `place` is the file that counts what was spent."""

    def __init__(self, model: Wrapped, *, name: str, place: Path) -> None:
        self.model, self.name = model, name
        self._place = place
        self._lock = threading.Lock()
        self._ended: str | None = None

    @property
    def ended(self) -> str | None:
        """Why nothing more is asked in this mine: the next question would end in the same way."""
        with self._lock:
            return self._ended

    def see_that_open(self) -> None:
        """Refuse where nothing more is asked.

        Raises:
            NotAskedError: that is so.

        """
        if (ended := self.ended) is not None:
            raise NotAskedError(ended)

    def ask(self, asking: Model, messages: tuple[Message, ...]) -> Reply:
        """The answer to a question; what it cost is on disk then.

        Raises:
            NotAskedError: there is none.
            InterruptedRunError: the mine was stopped meanwhile.

        """
        try:
            return asking.ask(Request(messages=messages))
        except LimitReachedError as error:
            if error.limit == STOPPED:
                raise InterruptedRunError("the mine was interrupted") from error
            why = f"the limit on {error.limit} is reached"
            self._end(f"{why}: {error}")
            raise NotAskedError(why) from error
        except ModelError as error:
            why = f"{self.name} could not be asked: {error.message}"
            if error.fault not in _OF_ONE_TASK:
                self._end(why)
            raise NotAskedError(why) from error
        finally:
            with self._lock:
                files.write_json(self._place, asdict(self.model.spent))

    def _end(self, why: str) -> None:
        with self._lock:
            self._ended = self._ended or why


@dataclass(frozen=True, kw_only=True)
class Bill:
    """What the answers about one task came to."""

    snapshot: str
    """The model that the endpoint names, of the last."""
    input_tokens: int
    output_tokens: int
    cost_usd: float | None
    """None where a price is not known."""


def bill(replies: Sequence[Reply]) -> Bill:
    """What some answers came to; there is at least one."""
    costs = [reply.cost for reply in replies if reply.cost is not None]
    return Bill(
        snapshot=replies[-1].model,
        input_tokens=sum(reply.usage.input_tokens or 0 for reply in replies),
        output_tokens=sum(reply.usage.output_tokens or 0 for reply in replies),
        cost_usd=round(sum(costs), 6) if len(costs) == len(replies) else None,
    )
