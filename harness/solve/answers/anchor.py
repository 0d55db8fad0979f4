"""Finding the one place in a file that a hunk is meant for. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from harness.solve.answers.edits import EditError, Tolerance

if TYPE_CHECKING:
    from collections.abc import Callable

    from harness.solve.answers.edits import Hunk

_FEWEST_CONTEXT = 2


@dataclass(frozen=True, kw_only=True)
class Place:
    at: int
    lines: tuple[tuple[str, str], ...]
    tolerance: frozenset[Tolerance] = frozenset()
    skipped: int = 0
    """Context lines at the hunk's head that were left aside."""
    more: str = ""
    less: str = ""

    def indent(self, line: str) -> str:
        """An added line, indented as the file is."""
        if not line.strip():
            return line
        return self.more + line.removeprefix(self.less)


def locate(path: str, lines: list[str], hunk: Hunk, shift: int) -> Place:
    """Where the hunk is meant.

    Raises:
        EditError: nowhere, or in more than one place.

    """
    old = hunk.old
    if not old:
        return _place_of_addition(path, lines, hunk, shift)
    line_named = hunk.start - 1 + shift if hunk.start is not None else None
    for how, equal in _WAYS:
        if place := _only(path, lines, hunk.lines, equal, how, declared=line_named):
            return place
    if place := _indented(path, lines, hunk):
        return place
    for skipped, lines_kept in _trimmed(hunk.lines):
        for how, equal in _WAYS:
            if place := _only(
                path, lines, lines_kept, equal, how | {Tolerance.CONTEXT}, declared=line_named, skipped=skipped
            ):
                return place
    first_text = next((text.strip() for text in old if text.strip()), "")
    raise EditError(f"{path} has no place like the one that the edit changes, which begins {first_text[:80]!r}")


def _place_of_addition(path: str, lines: list[str], hunk: Hunk, shift: int) -> Place:
    """For lines to be added without a context: only an empty file, or a hunk's own line number, says where."""
    if not lines:
        return Place(at=0, lines=hunk.lines)
    if hunk.start is None:
        raise EditError(f"lines to be added to {path}, and nothing says where", ambiguous=True)
    at = hunk.start + shift
    if not 0 <= at <= len(lines):
        raise EditError(f"lines to be added to {path} after line {hunk.start}, which is not there")
    return Place(at=at, lines=hunk.lines)


_WAYS: tuple[tuple[frozenset[Tolerance], Callable[[str], str]], ...] = (
    (frozenset(), lambda line: line),
    (frozenset({Tolerance.LINE_ENDS}), lambda line: line.removesuffix("\r")),
    (frozenset({Tolerance.TRAILING_SPACE}), str.rstrip),
)
"""How lines may differ and still be taken for the same, the strictest way first."""


def _only(
    path: str,
    lines: list[str],
    lines_kept: tuple[tuple[str, str], ...],
    equal: Callable[[str], str],
    how: frozenset[Tolerance],
    *,
    declared: int | None,
    skipped: int = 0,
) -> Place | None:
    """Where the hunk says that its lines are, or else the one place where they are; None where there is none.

    Lines are compared by `equal`; `declared` is the index of its first line by the hunk, `skipped` the lines left out.
    """
    old = [equal(text) for mark, text in lines_kept if mark != "+"]
    places = _places([equal(line) for line in lines], old)
    if declared is not None and declared + skipped in places:
        return Place(at=declared + skipped, lines=lines_kept, tolerance=how, skipped=skipped)
    if len(places) > 1:
        numbers = ", ".join(str(at + 1) for at in places[:5])
        raise EditError(f"the edit of {path} fits in {len(places)} places (lines {numbers})", ambiguous=True)
    if not places:
        return None
    moved = {Tolerance.LINE_NUMBERS} if declared is not None else set()
    return Place(at=places[0], lines=lines_kept, tolerance=how | moved, skipped=skipped)


def _places(lines: list[str], old: list[str]) -> list[int]:
    # The rarest line first would be quicker; files are short enough.
    first = old[0]
    return [
        at
        for at, line in enumerate(lines[: len(lines) - len(old) + 1])
        if line == first and lines[at : at + len(old)] == old
    ]


def _indented(path: str, lines: list[str], hunk: Hunk) -> Place | None:
    """The one place whose lines are those of the hunk, all indented by the same more, or the same less."""
    old = [text.rstrip() for text in hunk.old]
    first_text = next((text for text in old if text), None)
    if first_text is None:
        return None
    bare = [line.strip() for line in lines]
    places = _places(bare, [text.strip() for text in old])
    first = old.index(first_text)
    shifts = []
    for at in places:
        indent_there, indent_named = _indent(lines[at + first]), _indent(first_text)
        more, less = (
            (indent_there.removesuffix(indent_named), "")
            if indent_there.endswith(indent_named)
            else ("", indent_named.removesuffix(indent_there))
        )
        if not indent_named.endswith(indent_there) and not indent_there.endswith(indent_named):
            continue
        is_alike = all(
            not text or lines[at + number].rstrip() == more + text.removeprefix(less) for number, text in enumerate(old)
        )
        if is_alike:
            shifts.append((at, more, less))
    if len(shifts) > 1:
        raise EditError(f"the edit of {path} fits in {len(shifts)} places, indented", ambiguous=True)
    if not shifts:
        return None
    at, more, less = shifts[0]
    how = {Tolerance.INDENTATION} | ({Tolerance.LINE_NUMBERS} if hunk.start is not None else set())
    return Place(at=at, lines=hunk.lines, tolerance=frozenset(how), more=more, less=less)


def _indent(line: str) -> str:
    return line[: len(line) - len(line.lstrip())]


def _trimmed(lines: tuple[tuple[str, str], ...]) -> list[tuple[int, tuple[tuple[str, str], ...]]]:
    """The hunk with less and less of its outer context.

    All that is removed stays, and two lines of context where nothing that says something is removed.
    """
    head = next((at for at, (mark, _) in enumerate(lines) if mark != " "), len(lines))
    tail = next((at for at, (mark, _) in enumerate(reversed(lines)) if mark != " "), 0)
    trims = []
    for front in range(head + 1):
        for back in range(tail + 1):
            lines_kept = lines[front : len(lines) - back]
            says = [mark for mark, text in lines_kept if mark != "+" and text.strip()]
            if (front or back) and ("-" in says or len(says) >= _FEWEST_CONTEXT):
                trims.append((front, back, lines_kept))
    trims.sort(key=lambda trim: trim[0] + trim[1])
    return [(front, lines) for front, _, lines in trims]
