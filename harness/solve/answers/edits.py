"""What an answer wants changed, as values: hunks, changes, and what had to be forgiven to read them. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Tolerance(StrEnum):
    """What had to be forgiven to read a patch."""

    FENCE = "fence"
    """It stood in a fenced block."""
    OPEN_FENCE = "open_fence"
    """The fence was never closed."""
    THINKING = "thinking"
    """The model thought aloud before its answer."""
    EDIT_BLOCKS = "edit_blocks"
    """Search/replace blocks in place of a diff."""
    WHOLE_FILE = "whole_file"
    """A whole file in place of a change."""
    APPLY_PATCH = "apply_patch"
    """The `*** Begin Patch` form."""
    PATH = "path"
    """A path with another prefix, or only its end."""
    PATH_CARRIED = "path_carried"
    """No path: that of the edit before."""
    HEADER = "header"
    """Hunks whose header has no, or wrong, line counts."""
    LINE_NUMBERS = "line_numbers"
    """Hunks that are elsewhere than they say."""
    CONTEXT = "context"
    """Outer context lines that are not in the file."""
    BARE_CONTEXT = "bare_context"
    """Context lines without their leading space."""
    TRAILING_SPACE = "trailing_space"
    LINE_ENDS = "line_ends"
    """LF for CRLF."""
    INDENTATION = "indentation"
    """All lines are indented less, or more, than in the file."""
    REPEATED = "repeated"
    """The same edit given twice."""
    CUT = "cut"
    """The answer ended at its token limit, after the last edit was complete."""


@dataclass(frozen=True, kw_only=True)
class Hunk:
    """Lines to be found in a file and what becomes of them: (" ", kept), ("-", removed), ("+", added)."""

    lines: tuple[tuple[str, str], ...]
    """Without line ends."""
    start: int | None = None
    """Number of the first old line, from 1, as the header says; None where it does not."""
    ends_without_newline: bool | None = None
    """What a `\\ No newline` marker says of the new file's end; None without one."""

    @property
    def old(self) -> list[str]:
        return [text for mark, text in self.lines if mark != "+"]

    @property
    def is_empty(self) -> bool:
        return all(mark == " " for mark, _ in self.lines)


@dataclass(frozen=True, kw_only=True)
class Change:
    """What an answer wants of one file."""

    path: str | None
    """As the answer names it; None where it names none."""
    hunks: tuple[Hunk, ...] = ()
    content: str | None = None
    """The whole new file."""
    creates: bool = False
    deletes: bool = False
    moved_from: str | None = None
    prefixed: bool = False
    """The path has the prefix of a diff, `a/` or `b/`."""
    executable: bool = False
    tolerance: frozenset[Tolerance] = frozenset()


class EditError(Exception):
    """An edit that cannot be made. `ambiguous` tells whether it could be made in more than one way."""

    def __init__(self, message: str, *, ambiguous: bool = False) -> None:
        super().__init__(message)
        self.ambiguous = ambiguous
