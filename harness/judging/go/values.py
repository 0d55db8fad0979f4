"""Values of Go as they come out of a container: from JSON to what operators compare. Pure.

docs/judging.md has the form. Whatever is not of it raises `ValueError`, and the reader's limits hold while it is read.
What can't be told of outside counts as plain here: it is the operators that need more of a value or less.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from harness.judging.parts import Part, matched, parts_of, tagged, type_name

if TYPE_CHECKING:
    from harness.judging.values import Reader

_WHOLE = re.compile(r"-?\d{1,20}")
_FLOAT = re.compile(r"-?(?:\d+(?:\.\d+)?(?:e[+-]\d{1,3})?)|[+-]Inf|NaN")
_HEX = re.compile(r"(?:[0-9a-f]{2})*")
_MOST_LEVELS = 64
EQUAL = "Equal()"
"""Stands among the fields of what has such a method, which go-cmp asks; the part is `plain` then."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Value:
    """What an assertion looks at."""

    held: bool
    """Whether its static type is an interface."""
    part: Part | None
    """None where that interface holds nothing."""
    text: str | None
    """Of an error: what it says."""

    @property
    def is_nil(self) -> bool:
        """As `== nil` has it."""
        return self.part is None or (not self.held and self.part.tag == "n")


def read(reader: Reader, parts: list[Any], depth: int) -> object:
    """A value of Go, within the limits of a reader.

    Raises:
        ValueError: it is not of the form, or over a limit.

    """
    held, inner, text = parts
    if depth > 1 or not isinstance(held, bool):
        raise ValueError("not a value of Go")
    part = _part(reader, inner, depth)
    if part is None and not held:
        raise ValueError("nothing that is of no interface")
    return Value(held=held, part=part, text=None if text is None else reader.text(text))


def _part(reader: Reader, enc: Any, depth: int) -> Part | None:
    reader.count(depth)
    if enc is None:
        return None
    tag, rest = tagged(enc)
    if tag == "a":
        (inner,) = rest
        held = _part(reader, inner, depth + 1)
        if held is None:
            raise ValueError("an interface that holds nothing")
        return Part(tag="a", kind="", parts=(held,))
    kind, *rest = rest
    kind = type_name(reader, kind)
    name = kind.removesuffix("=")
    return Part(tag=tag, kind=name, compares=name != kind, **_told(reader, tag, rest, depth))


def _told(reader: Reader, tag: str, rest: list[Any], depth: int) -> dict[str, Any]:
    """What a value says after its type."""
    if tag in ("F", "x", "n"):
        () = rest
        return {}
    if tag == "c":
        real, imaginary = (float(matched(_FLOAT, reader.text(part))) for part in rest)
        return {"plain": complex(real, imaginary)}
    known = {"plain": reader.text(rest.pop())} if tag == "p" and len(rest) > 1 else {}
    (encoded,) = rest
    if tag in _PLAIN:
        return {"plain": _PLAIN[tag](reader.text(encoded))}
    return {**_made_of(reader, tag, encoded, depth + 1), **known}


_PLAIN: Mapping[str, Callable[[str], Any]] = {
    "i": lambda text: int(matched(_WHOLE, text)),
    "f": lambda text: float(matched(_FLOAT, text)),
    "s": str,
    "S": lambda text: bytes.fromhex(matched(_HEX, text)),
    "B": lambda text: bytes.fromhex(matched(_HEX, text)),
}


def _made_of(reader: Reader, tag: str, encoded: Any, depth: int) -> dict[str, Any]:
    """What a value is that no text tells."""
    parts: list[Any] = []
    match tag:
        case "b" if isinstance(encoded, bool):
            return {"plain": encoded}
        case "r" if type(encoded) is int and 0 < encoded <= _MOST_LEVELS:
            return {"plain": encoded}
        case "l":
            parts = [_part(reader, item, depth) for item in reader.listed(encoded)]
        case "m":
            parts = [(_part(reader, key, depth), _part(reader, value, depth)) for key, value in reader.pairs(encoded)]
        case "t":
            parts = [(reader.text(name), _part(reader, value, depth)) for name, value in reader.pairs(encoded)]
            if len(dict(parts)) < len(parts):
                raise ValueError("a field that is there twice")
            own = tuple(field for field in parts if field[0] != EQUAL)
            return {"parts": own, "plain": len(own) < len(parts) or None}
        case "p":
            parts = [_part(reader, encoded, depth)]
        case _:
            raise ValueError("no such kind of value")
    return {"parts": tuple(parts)}


def is_plain(part: Part | None) -> bool:
    """Whether nothing is in a value that can't be told of outside."""
    return not any(part.tag in ("F", "x") for part in parts_of(part))
