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
    said = hunk.start - 1 + shift if hunk.start is not None else None
    for how, same in _WAYS:
        if place := _only(path, lines, hunk.lines, same, how, said=said):
            return place
    if place := _indented(path, lines, hunk):
        return place
    for skipped, kept in _trimmed(hunk.lines):
        for how, same in _WAYS:
            if place := _only(path, lines, kept, same, how | {Tolerance.CONTEXT}, said=said, skipped=skipped):
                return place
    shown = next((text.strip() for text in old if text.strip()), "")
    raise EditError(f"{path} has no place like the one that the edit changes, which begins {shown[:80]!r}")


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
    kept: tuple[tuple[str, str], ...],
    same: Callable[[str], str],
    how: frozenset[Tolerance],
    *,
    said: int | None,
    skipped: int = 0,
) -> Place | None:
    """Where the hunk says that its lines are, or else the one place where they are; None where there is none.

    Lines are compared by `same`; `said` is the index of the hunk's first line, of which `skipped` are left aside.
    """
    old = [same(text) for mark, text in kept if mark != "+"]
    places = _places([same(line) for line in lines], old)
    if said is not None and said + skipped in places:
        return Place(at=said + skipped, lines=kept, tolerance=how, skipped=skipped)
    if len(places) > 1:
        shown = ", ".join(str(at + 1) for at in places[:5])
        raise EditError(f"the edit of {path} fits in {len(places)} places (lines {shown})", ambiguous=True)
    if not places:
        return None
    moved = {Tolerance.LINE_NUMBERS} if said is not None else set()
    return Place(at=places[0], lines=kept, tolerance=how | moved, skipped=skipped)


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
    told = next((text for text in old if text), None)
    if told is None:
        return None
    bare = [line.strip() for line in lines]
    places = _places(bare, [text.strip() for text in old])
    first = old.index(told)
    found = []
    for at in places:
        there, said = _indent(lines[at + first]), _indent(told)
        more, less = (there.removesuffix(said), "") if there.endswith(said) else ("", said.removesuffix(there))
        if not said.endswith(there) and not there.endswith(said):
            continue
        fits = all(
            not text or lines[at + number].rstrip() == more + text.removeprefix(less) for number, text in enumerate(old)
        )
        if fits:
            found.append((at, more, less))
    if len(found) > 1:
        raise EditError(f"the edit of {path} fits in {len(found)} places, indented", ambiguous=True)
    if not found:
        return None
    at, more, less = found[0]
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
    found = []
    for front in range(head + 1):
        for back in range(tail + 1):
            kept = lines[front : len(lines) - back]
            says = [mark for mark, text in kept if mark != "+" and text.strip()]
            if (front or back) and ("-" in says or len(says) >= _FEWEST_CONTEXT):
                found.append((front, back, kept))
    found.sort(key=lambda one: one[0] + one[1])
    return [(front, kept) for front, _, kept in found]
