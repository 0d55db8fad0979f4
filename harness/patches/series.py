"""Changes of one file, one after the other, as one change. Pure."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator

_HUNK = re.compile(rb"@@ -(\d+)(?:,(\d+))? \+")
_UNCHANGED = b"="

Step = tuple[bytes, bytes | float]
"""A mark of a diff with a line, its newline with it; or `_UNCHANGED` with a number of lines that nothing tells of."""


class ContradictionError(ValueError):
    """The later change is of other lines than the earlier one leaves."""


def composed(first: bytes, second: bytes) -> bytes:
    """The hunks of a change that does what the hunks `first` and then those of `second` do.

    Lines are where the hunks' numbers say.

    Raises:
        ContradictionError: `second` has lines that `first` does not leave there, or one of them is not in order.

    """
    return b"".join(_hunks(_composed(_steps(first), _steps(second))))


def _steps(hunks: bytes) -> list[Step]:
    """What a diff does to the lines of a file, the last first."""
    steps: list[Step] = []
    at = 1
    for written in hunks.removesuffix(b"\n").split(b"\n") if hunks else ():
        # a blank one may have lost its mark
        line = written if written[:1].strip() else b" " + written.removeprefix(b" ")
        mark = line[:1]
        if (match := _HUNK.match(line)) is not None:
            start = int(match[1]) + (match[2] is not None and int(match[2]) == 0)
            if start < at:
                raise ContradictionError("hunks that are not in the order of the lines")
            if start > at:
                steps.append((_UNCHANGED, start - at))
            at = start
        elif mark == b"\\":
            last, text = steps.pop()
            assert isinstance(text, bytes)  # noqa: S101 - the parser has no such mark at the beginning of a hunk
            steps.append((last, text.removesuffix(b"\n")))
        else:
            steps.append((mark, line[1:] + b"\n"))
            at += mark != b"+"
    return [(_UNCHANGED, math.inf), *reversed(steps)]


def _composed(first: list[Step], second: list[Step]) -> Iterator[Step]:
    """Both, the first line first; what stays unchanged at the end is left out."""
    while True:
        (mark, text), (later, later_text) = first[-1], second[-1]
        if mark == b"-":
            yield first.pop()
        elif later == b"+":
            yield second.pop()
        elif isinstance(text, float | int) and isinstance(later_text, float | int):
            number = min(text, later_text)
            if number == math.inf:
                return
            yield (_UNCHANGED, number)
            _pass(first, number)
            _pass(second, number)
        elif mark == _UNCHANGED:
            yield second.pop()
            _pass(first, 1)
        elif later == _UNCHANGED:
            yield first.pop()
            _pass(second, 1)
        elif text != later_text:
            raise ContradictionError("lines that the earlier change does not leave there")
        else:
            first.pop()
            second.pop()
            if mark == b" " or later == b" ":
                yield (later if mark == b" " else mark), text


def _pass(steps: list[Step], number: float) -> None:
    """Go on by some of the unchanged lines that come next."""
    _, lines = steps.pop()
    assert not isinstance(lines, bytes)  # noqa: S101 - who calls has looked
    if lines > number:
        steps.append((_UNCHANGED, lines - number))


def _hunks(steps: Iterator[Step]) -> Iterator[bytes]:
    """The hunks that say so."""
    old = new = 0
    lines: list[tuple[bytes, bytes]] = []
    for mark, text in (*steps, (_UNCHANGED, 1)):
        if isinstance(text, bytes):
            lines.append((mark, text))
            continue
        olds, news = (sum(mark != other for mark, _ in lines) for other in (b"+", b"-"))
        if any(mark != b" " for mark, _ in lines):
            yield b"@@ -%d,%d +%d,%d @@\n" % (old + (olds > 0), olds, new + (news > 0), news)
            for sign, line in lines:
                yield sign + line if line.endswith(b"\n") else sign + line + b"\n\\ No newline at end of file\n"
        old, new, lines = old + olds + int(text), new + news + int(text), []
