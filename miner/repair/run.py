"""A model asked for recipes within limits: of rounds for each task, of money and tokens over all."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from harness.errors import InterruptedRunError
from harness.solve.base import LimitReachedError, ModelError, Request
from harness.solve.throttle import STOPPED
from miner import tally
from miner.image.built import Repair, Repairing
from miner.repair import prompt, proposal

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from harness.solve.base import Message, Reply
    from harness.solve.meter import Spent
    from miner.environment import Recipe, Tree
    from miner.image.built import Failing
    from miner.statement_writer_run import Asked, Asking

ROUNDS = 3
"""Recipes that a model may propose for one task, if nobody says otherwise."""
_ANSWERS = 2
"""Questions for one recipe, where an answer has none."""


class Repairer:
    """Has a model propose recipes; shared by the threads of a mine. `place` is the file that counts what was spent."""

    def __init__(
        self, model: Asked, *, name: str, host: str, rounds: int, place: Path, warn: Callable[[str], None]
    ) -> None:
        self.model, self.name, self.host, self.rounds, self.warn = model, name, host, rounds, warn
        self._place = place
        self._lock = threading.Lock()
        self._ended: str | None = None
        self.tried = 0
        """Tasks for which it was asked."""
        self.mended = 0
        """Of these, those whose tests could be collected then."""

    @property
    def spent(self) -> Spent:
        """Over all mines into the dataset."""
        return self.model.spent

    def stop(self) -> None:
        """Ask nothing more; who waits for a turn gives up."""
        self.model.stop()

    def on(self, instance_id: str, tree: Tree) -> Session:
        """The repair of one task's environment."""
        return Session(self, instance_id, tree)

    def answer(self, asking: Asking, messages: tuple[Message, ...]) -> Reply | None:
        """The next answer; None where nothing more can be asked in this mine, which a person is told once.

        Raises:
            InterruptedRunError: the mine was stopped meanwhile.

        """
        with self._lock:
            if self._ended is not None:
                return None
        try:
            return asking.ask(Request(messages=messages))
        except LimitReachedError as error:
            if error.limit == STOPPED:
                raise InterruptedRunError("the mine was interrupted") from error
            self._end(f"the limit on {error.limit} is reached: {error}")
        except ModelError as error:
            self._end(f"{self.name} could not be asked: {error.message}")
        finally:
            with self._lock:
                tally.keep(self._place, self.model.spent)
        return None

    def count(self, *, mended: bool) -> None:
        """One more task that it was asked for."""
        with self._lock:
            self.tried += 1
            self.mended += mended

    def _end(self, why: str) -> None:
        with self._lock:
            first, self._ended = self._ended is None, why
        if first:
            self.warn(f"no environment is repaired any more: {why}")


class Session(Repairing):
    """One task's environment, round by round."""

    def __init__(self, repairer: Repairer, instance_id: str, tree: Tree) -> None:
        self._repairer, self._tree = repairer, tree
        self._asking = repairer.model.for_task(instance_id)
        self._messages: tuple[Message, ...] = ()
        self._said = ""
        self._replies: list[Reply] = []
        self._rounds = 0
        self._why: list[str] = []

    def propose(self, failing: Failing) -> Recipe | None:
        if self._rounds >= self._repairer.rounds:
            return None
        self._rounds += 1
        if self._messages:
            self._messages = prompt.failed_again(self._messages, self._said, failing)
        else:
            self._messages = prompt.question(failing, self._tree)
        for left in reversed(range(_ANSWERS)):
            reply = self._repairer.answer(self._asking, self._messages)
            if reply is None:
                return None
            self._replies.append(reply)
            self._said = reply.message.content
            try:
                found = proposal.read(self._said)
            except proposal.NoProposalError as error:
                if left:
                    self._messages = prompt.not_taken(self._messages, self._said, str(error))
                continue
            self._why.append(found.why)
            return proposal.applied(failing.recipe, found, number=self._rounds)
        return None

    def told(self, *, mended: bool) -> Repair | None:
        if not self._replies:
            return None
        self._repairer.count(mended=mended)
        costs = [reply.cost for reply in self._replies if reply.cost is not None]
        return Repair(
            model=self._repairer.name,
            endpoint=self._repairer.host,
            snapshot=self._replies[-1].model,
            prompt=prompt.PROMPT,
            rounds=self._rounds,
            why=self._why[-1] if self._why else "",
            input_tokens=sum(reply.usage.input_tokens or 0 for reply in self._replies),
            output_tokens=sum(reply.usage.output_tokens or 0 for reply in self._replies),
            cost_usd=round(sum(costs), 6) if len(costs) == len(self._replies) else None,
        )
