"""The conversation behind a prediction, as `goldseam solve` recorded it, cut to what a page can hold."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

from harness.report.text import CutText, head

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from harness.core.instance import Prediction

_LARGEST = 32 * 1024 * 1024
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
    """The transcript that a prediction names, about `limit` bytes of it; None where there is none that is its own.

    The name is relative to the predictions file; it is looked for in the run's folder and in the folder above it. It
    comes from whoever made the predictions, so it must not lead out of these, and what it leads to must be a
    transcript of this very prediction.
    """
    name = prediction.extra.get("transcript")
    if not isinstance(name, str) or not name or "\x00" in name:
        return None
    relative = PurePosixPath(name)
    if relative.is_absolute() or ".." in relative.parts:
        return None
    for folder in (run, run.resolve().parent):
        value = _json(folder, folder / relative)
        identity = (prediction.instance_id, prediction.model_name_or_path, prediction.sample)
        if tuple(value.get(key) for key in ("instance_id", "model_name_or_path", "sample")) == identity:
            turns = [_turn(message) for message in _dicts(value.get("messages"))]
            return _cut(turns, limit) if turns else None
    return None


def _json(folder: Path, path: Path) -> dict[str, Any]:
    try:
        if not path.resolve().is_relative_to(folder.resolve()) or not path.is_file():
            return {}
        value = json.loads(path.read_bytes()) if path.stat().st_size <= _LARGEST else {}
    except (OSError, ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


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
