"""Regular expressions of Java in Python's form, as far as both mean the same. Pure."""

from __future__ import annotations

import re

from harness.judging.patterns import translated
from harness.judging.values import Pattern

_ENDS = r"\n\r\u0085\u2028\u2029"
_PIECE = re.compile(
    r"\\(?:u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|[dDwWsStnrf]|[^a-zA-Z0-9])"  # an escape
    r"|\[\^?(?:\\(?:u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|[dDwWsStnrf]|[^a-zA-Z0-9])|[^\\\]\[&|~])+\]"  # a class
    r"|\((?:\?(?:[:=!]|<[=!]))?|\)|\{\d+(?:,\d*)?\}[?+]?|[*+?][?+]?|[.|^$]|[^\\\[\](){}*+?^$.|]"
)
_FLAGS = re.compile(r"\(\?(i?)(s?)\)")


def as_python_pattern(source: str, *, whole: bool) -> Pattern:
    """The pattern as Python has it, of all of a text or of a part of it.

    Raises:
        ValueError: the two languages may differ in what it matches.

    """
    flags = int(re.ASCII)
    if match := _FLAGS.match(source):
        flags |= (re.IGNORECASE if match[1] else 0) | (re.DOTALL if match[2] else 0)
        source = source[match.end() :]
    pattern = translated(source, _PIECE, lambda piece: _in_python(piece, flags), flags)
    return Pattern(pattern=rf"\A(?:{pattern})\Z" if whole else pattern, flags=flags)


def _in_python(piece: str, flags: int) -> str:
    if piece == "$":
        return rf"(?=(?:\r\n|[{_ENDS}])?\Z)"
    if piece == ".":
        return r"[\s\S]" if flags & re.DOTALL else f"[^{_ENDS}]"
    return r"\A" if piece == "^" else piece
