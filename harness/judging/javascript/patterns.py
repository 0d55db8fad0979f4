"""Regular expressions of JavaScript in Python's form, as far as both mean the same. Pure."""

from __future__ import annotations

import re

from harness.judging.patterns import translated
from harness.judging.values import Pattern

_PIECE = re.compile(
    r"\\(?:u\{[0-9a-fA-F]+\}|u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|[dDwWsSbBnrtfv0]|[1-9]|[^a-zA-Z0-9])"  # an escape
    r"|\[\^?(?:\\(?:u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|[dDwWnrtfv0]|[^a-zA-Z0-9])|[^\\\]\[&|~])*\]"  # a class
    r"|\((?:\?(?:[:=!]|<[=!]|<[A-Za-z_]\w*>))?|\)|\{\d*(?:,\d*)?\}\??|[*+?]\??|[\^$.|]|[^\\\[\](){}*+?^$.|]"
)
_SPACES = r"\t\n\x0b\x0c\r \u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff"

_PIECES = {
    ".": r"[^\n\r\u2028\u2029]", "[]": r"(?!)", "[^]": r"[\s\S]", r"\s": f"[{_SPACES}]", r"\S": f"[^{_SPACES}]",
    r"\v": r"\x0b", r"\0": r"\x00", r"\/": "/", r"\-": r"\-",
}  # fmt: skip
"""What Python writes otherwise."""


def as_python_pattern(source: str, flags: str) -> Pattern:
    """The pattern as Python has it.

    Raises:
        ValueError: the two languages may differ in what it matches.

    """
    if set(flags) - set("gimsu"):
        raise ValueError("a flag that Python does not have")
    compiled = int(re.ASCII | (re.IGNORECASE if "i" in flags else 0) | (re.MULTILINE if "m" in flags else 0))
    pattern = translated(source, _PIECE, lambda piece: _in_python(piece, flags), compiled)
    return Pattern(pattern=pattern, flags=compiled)


def _in_python(piece: str, flags: str) -> str:
    """A piece of a pattern as Python has it."""
    if piece == "$":
        return r"(?=[\n\r\u2028\u2029]|\Z)" if "m" in flags else r"\Z"
    if piece == "^" and "m" in flags:
        return r"(?:\A|(?<=[\n\r\u2028\u2029]))"
    if piece == "." and "s" in flags:
        return r"[\s\S]"
    if piece in _PIECES:
        return _PIECES[piece]
    if piece.startswith("(?<") and piece[3] not in "=!":
        return f"(?P<{piece[3:]}"
    if piece.startswith(r"\u{"):
        if "u" not in flags:
            raise ValueError("an escape that means repetition")
        return re.escape(chr(int(piece[3:-1], 16)))
    if piece.startswith("{") and not piece[1:2].isdigit():
        raise ValueError("a brace that stands for itself")
    return piece.replace(r"\/", "/").replace(r"\v", r"\x0b").replace(r"\0", r"\x00")
