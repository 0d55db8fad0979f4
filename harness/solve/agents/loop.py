"""An agent in one loop: the model asks for tools, gets their results, and ends when it says so. The patch is the diff.

The tools stand in `harness/solve/agents/tools.py`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from harness.sandbox.session import WorkspaceLostError
from harness.solve.agents import tools
from harness.solve.agents.ending import CONTEXT, ending, lost
from harness.solve.base import Agent, Attempt, Fault, LimitReachedError, Message, ModelError, Request
from harness.solve.models.tokens import messages_bytes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from harness.solve.base import Model, Reply, SolveJob, ToolCall, Workspace

SYSTEM = """\
You fix a bug in a repository. You work in it with tools; its root is the current folder, and there is no network.
Find the cause, change the code, and check your change, with the repository's own tests where that helps. Change as
little as the fix needs. When you are done, call `finish`: your patch is whatever has changed in the repository, so
remove files that you made only to try something out."""
TASK = "The problem:\n\n{statement}\n\nThe repository has {count} files; at its top are: {top}"
NUDGE = "Continue with a tool, or call `finish` if you are done."
REPEATED = "This is the same call again; its result would be the same. Do something else."
MAX_TURNS = 60
CONTEXT_BYTES = 240_000
"""Where a conversation is longer (about 60,000 tokens), results of old calls are left out; see `_shortened`."""
RECENT = 8
"""So many of the last messages stay whole."""
REPEATS = 3
"""From so many equal calls in a row on, the model is told; at twice as many, it ends."""


class LoopAgent(Agent):
    """Asks, does, tells, again."""

    name = "loop"
    version = 1

    def __init__(self, *, max_turns: int = MAX_TURNS, context_bytes: int = CONTEXT_BYTES) -> None:
        self._max_turns = max_turns
        self._context_bytes = context_bytes

    def settings(self) -> dict[str, int]:
        """What else its results depend on."""
        return {"max_turns": self._max_turns}

    def attempt(self, job: SolveJob, model: Model) -> Attempt:
        with job.open_workspace() as workspace:
            talk = _Talk(job, model, workspace, room=self._context_bytes)
            try:
                detail, stopped = talk.run(self._max_turns)
            except LimitReachedError as limit:
                detail, stopped = str(limit), limit.limit
            except WorkspaceLostError as error:
                return lost(error, replies=talk.replies, messages=talk.messages)
            return ending(workspace, replies=talk.replies, messages=talk.messages, detail=detail, stopped=stopped)


class _Talk:
    """One conversation."""

    def __init__(self, job: SolveJob, model: Model, workspace: Workspace, *, room: int) -> None:
        files = workspace.files()
        top = ", ".join(sorted({path.split("/")[0] + "/" * ("/" in path) for path in files}))
        task = TASK.format(statement=job.instance.problem_statement, count=len(files), top=top)
        self.messages = [
            Message(role="system", content=f"{job.header}\n\n{SYSTEM}".strip()),
            Message(role="user", content=task),
        ]
        self.replies: list[Reply] = []
        self._job, self._model, self._room = job, model, room
        self._desk = tools.Desk(workspace=workspace, instance=job.instance)
        self._last, self._same = ("", ""), 0

    def run(self, max_turns: int) -> tuple[str, str | None]:
        """Turn after turn; how it ended, in words, and the limit that ended it, if one did."""
        silent = False
        while len(self.replies) < max_turns:
            message = self._ask()
            if message is None:
                return "the conversation no longer fits the model", CONTEXT
            if not message.tool_calls:
                if silent:
                    return message.content[-500:] or "it said nothing", None
                self.messages.append(Message(role="user", content=NUDGE))
            silent = not message.tool_calls
            for call in message.tool_calls:
                self.messages.append(Message(role="tool", content=self._result(call), tool_call_id=call.call_id))
            if any(call.name == tools.finish.__name__ for call in message.tool_calls):
                return message.content[-500:] or "it finished without a change", None
            if self._same >= 2 * REPEATS:
                return f"it called {self._last[0]} {self._same} times in the same way", "task_repeats"
        return f"it did not finish within {max_turns} turns", "task_turns"

    def _ask(self) -> Message | None:
        """What the model says next; None where even a shortened conversation is too long for it."""
        messages = _shortened(self.messages, self._room)
        while True:
            try:
                reply = self._model.ask(
                    Request(
                        messages=messages, tools=tools.SCHEMAS, sampling=self._job.sampling, sample=self._job.sample
                    )
                )
            except ModelError as error:
                if error.fault is not Fault.CONTEXT_OVERFLOW:
                    raise
                self._room = messages_bytes(messages) // 2
                before, messages = messages, _shortened(self.messages, self._room)
                if messages == before:
                    return None
            else:
                self.replies.append(reply)
                self.messages.append(reply.message)
                return reply.message

    def _result(self, call: ToolCall) -> str:
        self._same = self._same + 1 if (call.name, call.arguments) == self._last else 1
        self._last = (call.name, call.arguments)
        if self._same >= REPEATS:
            return REPEATED
        return tools.call(self._desk, call)


def _shortened(messages: Sequence[Message], room: int) -> tuple[Message, ...]:
    """A conversation without results of tools, the oldest first, until it has at most `room` bytes.

    The last messages stay whole, and everything that the model said itself. The transcript keeps all of it.
    """
    messages_kept = list(messages)
    for at, old in enumerate(messages[:-RECENT]):
        if messages_bytes(messages_kept) <= room:
            break
        if old.role == "tool":
            messages_kept[at] = replace(
                old, content=f"[left out to save room: {len(old.content)} characters; call again to see it]"
            )
    return tuple(messages_kept)
