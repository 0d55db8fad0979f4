"""The conversation behind a prediction, as `goldseam solve` recorded it, cut to what a page can hold."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from harness.report.text import CutText, head
from harness.runs.predictions import read_transcript, transcript_path
from harness.runs.run_folder import TRANSCRIPT_FILE, RunFolder

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from harness.core.instance import Prediction

_MESSAGE_BYTES = 16 * 1024


@dataclass(frozen=True, kw_only=True)
class Turn:
    """One message of a conversation."""

    role: str
    text: CutText
    calls: tuple[tuple[str, CutText], ...] = ()
    """Name and arguments of each tool that the model called."""

    @property
    def size(self) -> int:
        return self.text.shown + sum(arguments.shown for _, arguments in self.calls)


@dataclass(frozen=True, kw_only=True)
class Transcript:
    """A conversation, or its beginning and its end."""

    first: tuple[Turn, ...]
    left_out: int = 0
    """Messages in the middle that are not shown."""
    last: tuple[Turn, ...] = ()


def read(run: Path, prediction: Prediction, limit: int) -> Transcript | None:
    """The transcript of a prediction, about `limit` bytes of it; None where there is none that is its own.

    It is beside the prediction's results; a run from before that was copied there may have it where the prediction
    names it, from the run's folder or the folder above.
    """
    beside = RunFolder(path=run).sample_folder(prediction) / TRANSCRIPT_FILE
    for path in (beside, *(transcript_path(prediction, folder) for folder in (run, run.resolve().parent))):
        if path is not None and (value := read_transcript(path, prediction)):
            turns = [_turn(message) for message in _dicts(value.get("messages"))]
            return _cut(turns, limit) if turns else None
    return None


def _dicts(value: Any) -> list[dict[str, Any]]:
    return [part for part in value if isinstance(part, dict)] if isinstance(value, list) else []


def _turn(message: dict[str, Any]) -> Turn:
    return Turn(
        role=str(message.get("role", "?"))[:20],
        text=_text(message.get("content")),
        calls=tuple(
            (str(call.get("name", "?"))[:100], _text(call.get("arguments")))
            for call in _dicts(message.get("tool_calls"))
        ),
    )


def _text(value: Any) -> CutText:
    text = value if isinstance(value, str) else "" if value is None else json.dumps(value)
    return head(text.encode("utf-8", "surrogatepass"), _MESSAGE_BYTES)


def _cut(turns: Sequence[Turn], limit: int) -> Transcript:
    """All turns where they are few enough, else as many from both ends as half of the limit holds each."""
    if sum(turn.size for turn in turns) <= limit:
        return Transcript(first=tuple(turns))
    start = _count(turns, limit // 2)
    end = min(_count(list(reversed(turns)), limit // 2), len(turns) - start)
    return Transcript(
        first=tuple(turns[:start]), left_out=len(turns) - start - end, last=tuple(turns[len(turns) - end :])
    )


def _count(turns: Sequence[Turn], limit: int) -> int:
    """How many of the first turns a limit holds; at least one."""
    total = 0
    for number, turn in enumerate(turns):
        total += turn.size
        if total > limit:
            return max(1, number)
    return len(turns)
