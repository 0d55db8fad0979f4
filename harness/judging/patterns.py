"""Regular expressions of other languages in Python's form, piece by piece. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable

from harness.judging.values import Pattern


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


_JAVASCRIPT_PIECE = re.compile(
    r"\\(?:u\{[0-9a-fA-F]+\}|u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|[dDwWsSbBnrtfv0]|[1-9]|[^a-zA-Z0-9])"  # an escape
    r"|\[\^?(?:\\(?:u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|[dDwWnrtfv0]|[^a-zA-Z0-9])|[^\\\]\[&|~])*\]"  # a class
    r"|\((?:\?(?:[:=!]|<[=!]|<[A-Za-z_]\w*>))?|\)|\{\d*(?:,\d*)?\}\??|[*+?]\??|[\^$.|]|[^\\\[\](){}*+?^$.|]"
)
_CODE = re.compile(r"(?<!\\)(?:\\\\)*\\[ux]")
"""How a letter is written by its number."""
_SPACES = r"\t\n\x0b\x0c\r \u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff"

_PIECES = {
    ".": r"[^\n\r\u2028\u2029]", "[]": r"(?!)", "[^]": r"[\s\S]", r"\s": f"[{_SPACES}]", r"\S": f"[^{_SPACES}]",
    r"\v": r"\x0b", r"\0": r"\x00", r"\/": "/", r"\-": r"\-",
}  # fmt: skip
"""What Python writes otherwise."""


def of_javascript(source: str, flags: str) -> Pattern:
    """The pattern as Python has it.

    Raises:
        ValueError: the two languages may differ in what it matches.

    """
    if set(flags) - set("gimsu"):
        raise ValueError("a flag that Python does not have")
    if "i" in flags and ("u" in flags or not source.isascii() or _CODE.search(source)):
        raise ValueError("letters that the two fold otherwise")
    compiled = int(re.ASCII | (re.IGNORECASE if "i" in flags else 0) | (re.MULTILINE if "m" in flags else 0))
    pattern = translated(source, _JAVASCRIPT_PIECE, lambda piece: _javascript_in_python(piece, flags), compiled)
    return Pattern(pattern=pattern, flags=compiled, of_units="u" not in flags)


def _javascript_in_python(piece: str, flags: str) -> str:
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


_JAVA_ENDS = r"\n\r\u0085\u2028\u2029"
_JAVA_PIECE = re.compile(
    r"\\(?:u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|[dDwWsStnrf]|[^a-zA-Z0-9])"  # an escape
    r"|\[\^?(?:\\(?:u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|[dDwWsStnrf]|[^a-zA-Z0-9])|[^\\\]\[&|~])+\]"  # a class
    r"|\((?:(?!\?)|\?(?:[:=!>]|i:|<[=!]))|\)|\{\d+(?:,\d*)?\}[?+]?|[*+?][?+]?|[.|^$]|[^\\\[\](){}*+?^$.|]"
)
_JAVA_FLAGS = re.compile(r"\(\?(i?)(s?)\)")


def of_java(source: str, *, whole: bool) -> Pattern:
    """The pattern as Python has it, of all of a text or of a part of it.

    Raises:
        ValueError: the two languages may differ in what it matches.

    """
    flags = int(re.ASCII)
    if match := _JAVA_FLAGS.match(source):
        flags |= (re.IGNORECASE if match[1] else 0) | (re.DOTALL if match[2] else 0)
        source = source[match.end() :]
    pattern = translated(source, _JAVA_PIECE, lambda piece: _java_in_python(piece, flags), flags)
    return Pattern(pattern=rf"\A(?:{pattern})\Z" if whole else pattern, flags=flags)


def _java_in_python(piece: str, flags: int) -> str:
    if piece == "$":
        return rf"(?!(?<=\r)\n)(?=(?:\r\n|[{_JAVA_ENDS}])?\Z)"
    if piece == ".":
        return r"[\s\S]" if flags & re.DOTALL else f"[^{_JAVA_ENDS}]"
    return r"\A" if piece == "^" else piece


_GO_PIECE = re.compile(
    r"\\(?:x[0-9a-fA-F]{2}|[dDwWsSbBAznrtfva]|[^a-zA-Z0-9_])"  # an escape
    r"|\[\^?(?:\\(?:x[0-9a-fA-F]{2}|[dDwWsnrtfva]|[^a-zA-Z0-9_])|[^\\\]\[&|~])+\]"  # a class
    r"|\((?:\?(?::|P?<[A-Za-z_]\w*>))?|\)|\{\d+(?:,\d*)?\}\??|[*+?]\??|[.|^$}\]]|[^\\\[\](){}*+?^$.|]"
)
_GO_FLAGS = re.compile(r"\(\?([ims]+)\)")
_GO_SPACES = r"\t\n\f\r "
_GO_PIECES = {r"\s": f"[{_GO_SPACES}]", r"\S": f"[^{_GO_SPACES}]", r"\z": r"\Z", "]": r"\]", "}": r"\}"}


def of_go(source: str, *, whole: bool) -> Pattern:
    """The pattern as Python has it, of all of a text or of a part of it.

    Raises:
        ValueError: the two languages may differ in what it matches.

    """
    flags = int(re.ASCII)
    if match := _GO_FLAGS.match(source):
        flags |= sum({"i": re.IGNORECASE, "m": re.MULTILINE, "s": re.DOTALL}[flag] for flag in set(match[1]))
        source = source[match.end() :]
    if flags & re.IGNORECASE and not source.isascii():
        raise ValueError("letters that the two fold otherwise")
    pattern = translated(source, _GO_PIECE, lambda piece: _go_in_python(piece, flags), flags)
    return Pattern(pattern=rf"\A(?:{pattern})\Z" if whole else pattern, flags=flags)


def _go_in_python(piece: str, flags: int) -> str:
    is_of_lines = bool(flags & re.MULTILINE)
    match piece:
        case "^":
            return r"(?:\A|(?<=\n))" if is_of_lines else r"\A"
        case "$":
            return r"(?=\n|\Z)" if is_of_lines else r"\Z"
    if piece.startswith("(?<"):
        return f"(?P{piece[2:]}"
    return piece.replace(r"\s", _GO_SPACES) if piece.startswith("[") else _GO_PIECES.get(piece, piece)
