"""What can be said of a task without running it: sizes, as fields of task.yaml. Pure."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from unidiff.errors import UnidiffParseError
from unidiff.patch import PatchSet

from harness import patch

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, kw_only=True)
class Size:
    """The size of a patch: files, hunks, and lines added and removed."""

    files: int
    hunks: int
    added: int
    removed: int


def size(data: bytes) -> Size:
    """Count a patch with unidiff; what unidiff can't read (binary payloads, odd paths) our own parser counts."""
    try:
        files = PatchSet(data.decode("utf-8", "surrogateescape").splitlines(keepends=True))
        found = Size(
            files=len(files),
            hunks=sum(len(file) for file in files),
            added=sum(file.added for file in files),
            removed=sum(file.removed for file in files),
        )
    except (UnidiffParseError, ValueError):
        found = None
    parsed = patch.parse(data, trusted=True).files
    if found is not None and found.files == len(parsed):
        return found
    return Size(
        files=len(parsed),
        hunks=sum(file.hunks for file in parsed),
        added=sum(file.added for file in parsed),
        removed=sum(file.removed for file in parsed),
    )


def fields(gold_patch: bytes, test_patch: bytes, statement: str) -> Mapping[str, object]:
    """The `quality` fields known when a task is mined."""
    return {
        "gold": asdict(size(gold_patch)),
        "tests": asdict(size(test_patch)),
        "statement_chars": len(statement),
    }
