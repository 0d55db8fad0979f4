"""Values of Java as they come out of a container: from JSON to what operators compare. Pure.

docs/judging.md has the form. Whatever is not of it raises `ValueError`, and the reader's limits hold while it is read.
What can't be told of outside counts as plain here: it is the operators that need more of a value or less.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from harness.judging.parts import Part, matched, tagged, type_name

if TYPE_CHECKING:
    from harness.judging.values import Reader

_WHOLE = re.compile(r"-?\d{1,20}")
_FLOAT = re.compile(r"-?\d+\.\d+(?:E-?\d{1,3})?|-?Infinity|NaN")
_HEX = re.compile(r"(?:[0-9a-f]{2})*")
_MOST_CODE = 0xFFFF
_COLLECTIONS = frozenset("ltTqmM")


@dataclass(frozen=True, eq=False, kw_only=True)
class Value:
    """What an assertion looks at."""

    primitive: bool
    """Whether its static type is a primitive one."""
    part: Part | None
    """None of null."""

    @property
    def chain(self) -> tuple[str, ...]:
        """Of an exception: its class and the bases of that."""
        return self.part.parts if self.part is not None and self.part.tag == "E" else ()


def read(reader: Reader, parts: list[Any], depth: int) -> object:
    """A value of Java, within the limits of a reader.

    Raises:
        ValueError: it is not of the form, or over a limit.

    """
    primitive, inner = parts
    part = _part(reader, inner, depth)
    if depth > 1 or not isinstance(primitive, bool):
        raise ValueError("not a value of Java")
    if primitive and (part is None or part.tag not in ("b", "i", "c", "f")):
        raise ValueError("nothing that is primitive")
    return Value(primitive=primitive, part=part)


def _part(reader: Reader, enc: Any, depth: int) -> Part | None:
    reader.count(depth)
    if enc is None:
        return None
    tag, rest = tagged(enc)
    if tag == "w":
        (inner,) = rest
        part = _part(reader, inner, depth + 1)
        if part is None or part.tag not in _COLLECTIONS:
            raise ValueError("no collection")
        return replace(part, compares=True)
    if tag in _TYPED:
        kind, text = rest
        return Part(tag=tag, kind=type_name(reader, kind), plain=_TYPED[tag](kind, reader.text(text)))
    if tag == "E":
        names, message = rest
        message = None if message is None else reader.text(message)
        return Part(tag=tag, kind="", plain=message, parts=reader.texts(names))
    if tag == "a":
        kind, items = rest
        return Part(tag=tag, kind=type_name(reader, kind), parts=_parts(reader, items, depth + 1))
    (encoded,) = rest
    if tag in ("K", "x"):
        return Part(tag=tag, kind=type_name(reader, encoded))
    return Part(tag=tag, kind="", **_made_of(reader, tag, encoded, depth + 1))


def _made_of(reader: Reader, tag: str, encoded: Any, depth: int) -> dict[str, Any]:
    match tag:
        case "b" if isinstance(encoded, bool):
            return {"plain": encoded}
        case "s":
            return {"plain": reader.text(encoded)}
        case "B":
            return {"plain": bytes.fromhex(matched(_HEX, reader.text(encoded)))}
        case "l" | "t" | "T" | "q" | "O":
            return {"parts": _parts(reader, encoded, depth)}
        case "m" | "M":
            pairs = ((_part(reader, key, depth), _part(reader, value, depth)) for key, value in reader.pairs(encoded))
            return {"parts": tuple(pairs)}
    raise ValueError("no such kind of value")


def _parts(reader: Reader, encoded: Any, depth: int) -> tuple[Part | None, ...]:
    return tuple(_part(reader, item, depth) for item in reader.listed(encoded))


def narrowed(number: float) -> float:
    """A number as Java's `float` has it."""
    return float(struct.unpack("f", struct.pack("f", number))[0])


def _float(kind: str, text: str) -> float:
    number = float(matched(_FLOAT, text))
    return narrowed(number) if kind == "Float" else number


def _character(_kind: str, text: str) -> int:
    code = int(matched(_WHOLE, text))
    if not 0 <= code <= _MOST_CODE:
        raise ValueError("not a character")
    return code


_TYPED: Mapping[str, Callable[[str, str], Any]] = {
    "i": lambda _kind, text: int(matched(_WHOLE, text)),
    "c": _character,
    "f": _float,
    "e": lambda _kind, text: text,
    "n": lambda _kind, text: text,
}
"""Kinds with a type and a text."""
