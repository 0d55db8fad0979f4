"""Regular expressions of other languages in Python's form, piece by piece. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable


def translated(source: str, piece: re.Pattern[str], in_python: Callable[[str], str], flags: int) -> str:
    """A pattern whose pieces are each put as Python has them.

    Raises:
        ValueError: something in it is no such piece, or what comes of it is no pattern of Python's.

    """
    parts: list[str] = []
    at = 0
    while at < len(source):
        match = piece.match(source, at)
        if match is None:
            raise ValueError("a form that Python may read otherwise")
        parts.append(in_python(match[0]))
        at = match.end()
    pattern = "".join(parts)
    try:
        re.compile(pattern, flags)
    except (re.error, OverflowError) as error:
        raise ValueError("not a pattern") from error
    return pattern
