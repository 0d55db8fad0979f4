"""A model asked for recipes within limits: of rounds for each task, of money and tokens over all."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

from harness.solve.base import Message, Model, Reply
from harness.solve.models.meter import Spending
from harness.solve.models.stack import Wrapped
from miner.assist.model_session import NotAskedError, Questions, bill
from miner.assist.repair import proposal
from miner.evidence.tree import Recipe, Tree
from miner.languages.built import Failing, Repair, Repairing

_ANSWERS = 2
"""Questions for one recipe, where an answer has none."""


class Repairer:
    """Has a model propose recipes; shared by the threads of a mine. `place` is the file that counts what was spent."""

    def __init__(
        self, model: Wrapped, *, name: str, host: str, rounds: int, place: Path, warn: Callable[[str], None]
    ) -> None:
        self.questions = Questions(model, name=name, place=place)
        self.name, self.host, self.rounds = name, host, rounds
        self._warn = warn
        self._lock = threading.Lock()
        self._told = False
        self.tried = 0
        """Tasks for which it was asked."""
        self.mended = 0
        """Of these, those whose tests could be collected then."""

    @property
    def spent(self) -> Spending:
        """Over all mines into the dataset."""
        return self.questions.model.spent

    def stop(self) -> None:
        """Ask nothing more; who waits for a turn gives up."""
        self.questions.model.stop()

    def on(self, instance_id: str, tree: Tree) -> Session:
        """The repair of one task's environment."""
        return Session(self, instance_id, tree)

    def answer(self, instance_id: str, asking: Model, messages: tuple[Message, ...]) -> Reply | None:
        """The next answer; None where there is none, which a person is told.

        Raises:
            InterruptedRunError: the mine was stopped meanwhile.

        """
        try:
            self.questions.see_that_open()
            return self.questions.ask(asking, messages)
        except NotAskedError as error:
            self._tell(instance_id, str(error))
        return None

    def count(self, *, mended: bool) -> None:
        """One more task that it was asked for."""
        with self._lock:
            self.tried += 1
            self.mended += mended

    def _tell(self, instance_id: str, why: str) -> None:
        ended = self.questions.ended
        with self._lock:
            again, self._told = self._told, self._told or ended is not None
        if ended is None:
            self._warn(f"{instance_id}: its environment is not repaired: {why}")
        elif not again:
            self._warn(f"no more environments are repaired: {ended}")


class Session(Repairing):
    """One task's environment, round by round."""

    def __init__(self, repairer: Repairer, instance_id: str, tree: Tree) -> None:
        self._repairer, self._instance_id, self._tree = repairer, instance_id, tree
        self._asking = repairer.questions.model.for_attempt()
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
            self._messages = proposal.failed_again(self._messages, self._said, failing)
        else:
            self._messages = proposal.question(failing, self._tree)
        for left in reversed(range(_ANSWERS)):
            reply = self._repairer.answer(self._instance_id, self._asking, self._messages)
            if reply is None:
                return None
            self._replies.append(reply)
            self._said = reply.message.content
            try:
                proposal_read = proposal.read(self._said)
            except proposal.NoProposalError as error:
                if left:
                    self._messages = proposal.not_taken(self._messages, self._said, str(error))
                continue
            self._why.append(proposal_read.why)
            return proposal.applied(failing.recipe, proposal_read, number=self._rounds)
        return None

    def summary(self, *, mended: bool) -> Repair | None:
        if not self._replies:
            return None
        self._repairer.count(mended=mended)
        return Repair(
            model=self._repairer.name,
            endpoint=self._repairer.host,
            prompt=proposal.PROMPT,
            rounds=self._rounds,
            why=self._why[-1] if self._why else "",
            **asdict(bill(self._replies)),
        )
