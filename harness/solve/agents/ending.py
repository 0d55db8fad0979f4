"""How an agent that worked in a workspace ends: its patch is what changed there."""

from __future__ import annotations

from collections.abc import Sequence

from harness.sandbox.session import WorkspaceLostError
from harness.solve.answers.extract import NoPatch
from harness.solve.base import Attempt, Message, Reply, Workspace
from harness.solve.workspace.workspace import Checkout

CONTEXT = "task_context"
"""The limit that ends an attempt whose conversation no longer fits the model."""


def ending(
    workspace: Workspace | Checkout,
    *,
    replies: Sequence[Reply],
    messages: Sequence[Message],
    detail: str = "",
    stopped: str | None = None,
) -> Attempt:
    """What changed, as an attempt. `detail` says for people how it ended where nothing has changed."""
    try:
        patch = workspace.diff().decode("utf-8", "surrogateescape")
    except WorkspaceLostError as error:
        return lost(error, replies=replies, messages=messages, stopped=stopped)
    left_out = list(getattr(workspace, "left_out", ()))
    return Attempt(
        patch=patch or None,
        no_patch=None if patch else _reason(stopped),
        detail="" if patch else detail,
        replies=tuple(replies),
        messages=tuple(messages),
        stopped=stopped,
        facts={"left_out": left_out} if left_out else {},
    )


def _reason(stopped: str | None) -> NoPatch:
    if stopped is None:
        return NoPatch.NO_CHANGE
    return NoPatch.CONTEXT_OVERFLOW if stopped == CONTEXT else NoPatch.LIMIT


def lost(
    error: WorkspaceLostError, *, replies: Sequence[Reply], messages: Sequence[Message], stopped: str | None = None
) -> Attempt:
    """An attempt whose container has gone."""
    return Attempt(
        patch=None,
        no_patch=NoPatch.WORKSPACE_LOST,
        detail=str(error),
        replies=tuple(replies),
        messages=tuple(messages),
        stopped=stopped,
    )
