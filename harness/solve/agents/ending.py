"""How an agent that worked in a workspace ends: its patch is what changed there."""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness.sandbox.session import WorkspaceLostError
from harness.solve.base import Attempt

if TYPE_CHECKING:
    from collections.abc import Sequence

    from harness.solve.base import Message, Reply, Workspace

NO_CHANGE = "no_change"
"""It ended, and the tree is as it was."""
WORKSPACE_LOST = "workspace_lost"
"""What it ran took its own container down, or left nothing to read."""


def ending(
    workspace: Workspace,
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
    return Attempt(
        patch=patch or None,
        no_patch=None if patch else NO_CHANGE,
        detail="" if patch else detail,
        replies=tuple(replies),
        messages=tuple(messages),
        stopped=stopped,
    )


def lost(
    error: WorkspaceLostError, *, replies: Sequence[Reply], messages: Sequence[Message], stopped: str | None = None
) -> Attempt:
    """An attempt whose container has gone."""
    return Attempt(
        patch=None,
        no_patch=WORKSPACE_LOST,
        detail=str(error),
        replies=tuple(replies),
        messages=tuple(messages),
        stopped=stopped,
    )
