"""How the host decides an assertion of Rust: by what `Debug` says of its operands. Pure."""

from __future__ import annotations

import operator
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any

from harness.judging import parts
from harness.judging.parts import Decider, Part, UndecidableError, counted, held_by, negatable
from harness.judging.rust.types import are_comparable, begins, may_contain, may_match, stand_beside
from harness.judging.rust.values import PANIC, Value


def _key(part: Part) -> Hashable:
    """What is the same for two values if and only if they are equal."""
    match part.tag:
        case "i" | "f" | "s" | "c" | "b":
            if part.plain != part.plain:
                return object()
            return part.tag, part.plain
        case "l" | "t":
            return part.tag, part.kind, tuple(map(_key, part.parts))
        case "S":
            return part.tag, part.kind, frozenset(counted(map(_key, part.parts)))
        case "m":
            return part.tag, part.kind, frozenset(counted((_key(key), _key(value)) for key, value in part.parts))
    return part.tag, part.kind


def _equals(operands: Sequence[Value], options: Mapping[str, Any]) -> bool:
    """By what is in them; what is not told in a standard form is equal by its text alone, of standard types."""
    left, other = operands
    are_alike = all(are_comparable(value.kind, options.get("type", "_")) for value in operands)
    if not are_alike or not stand_beside(left.kind, other.kind):
        raise UndecidableError("types that can't be compared")
    if left.is_path and other.is_path and left.part is not None and other.part is not None:
        return _of_path(left.part) == _of_path(other.part)
    if left.part is not None and other.part is not None:
        return _key(left.part) == _key(other.part)
    if left.text is None or other.text is None or not (left.is_standard and other.is_standard):
        raise UndecidableError("what a class of the product makes of it")
    return left.text == other.text


def _of_path(part: Part) -> Hashable:
    """The same for paths, each text by its components."""
    if part.tag == "s":
        return components(part.plain)
    return part.tag, part.kind, tuple(map(_of_path, part.parts))


def components(text: str) -> tuple[str, ...]:
    """Those of a path, as Rust tells them: blank ones and `.` go, but for one in front."""
    names = [name for name in text.split("/") if name not in ("", ".")]
    front = ["/"] if text.startswith("/") else ["."] if text == "." or text.startswith("./") else []
    return (*front, *names)


def _ordered(decide: Callable[[Any, Any], bool]) -> Decider:
    def decided(operands: Sequence[Value], options: Mapping[str, Any]) -> bool:
        if not all(are_comparable(value.kind, options.get("type", "_")) for value in operands):
            raise UndecidableError("types that can't be compared")
        left, other = map(held_by, operands)
        if left.tag != other.tag or left.tag not in ("i", "f", "s", "c", "b"):
            raise UndecidableError("nothing that has one order")
        return decide(left.plain, other.plain)

    return decided


def _text(value: Value) -> str:
    part = held_by(value)
    if part.tag not in ("s", "c"):
        raise UndecidableError("not a text")
    return str(part.plain)


def _truth(operands: Sequence[Value], options: Mapping[str, Any]) -> bool:
    """Whether a boolean is true, or one that is lent: `assert!` asks for its contrary."""
    if operands[0].is_standard and operands[0].kind not in ("bool", "&bool"):
        raise UndecidableError("not a boolean")
    return parts.truth(operands, options)


def _contains(operands: Sequence[Value], _options: Mapping[str, Any]) -> bool:
    """A text in a text, or an item of what has some."""
    value, other = operands
    if not may_contain(value.kind, other.kind):
        raise UndecidableError("a type that is not asked so")
    if held_by(value).tag not in ("l", "S"):
        return _text(other) in _text(value)
    return _key(held_by(other)) in counted(map(_key, held_by(value).parts))


def _sides(operands: Sequence[Value]) -> tuple[str, str]:
    """The text that is asked, and the one that it is to begin or end with."""
    if not begins(operands[0].kind):
        raise UndecidableError("a type that is not asked so")
    left, other = map(_text, operands)
    return left, other


def _begins(operands: Sequence[Value], _options: Mapping[str, Any]) -> bool:
    left, other = _sides(operands)
    if operands[0].is_path:
        names = components(other)
        return components(left)[: len(names)] == names
    return left.startswith(other)


def _ends(operands: Sequence[Value], _options: Mapping[str, Any]) -> bool:
    left, other = _sides(operands)
    if operands[0].is_path:
        names = components(other)
        return components(left)[-len(names) :] == names if names else True
    return left.endswith(other)


def _matches(operands: Sequence[Value], options: Mapping[str, Any]) -> bool:
    """Whether a value is of a pattern; what a field holds that is not told is of none."""
    if not may_match(operands[0].kind, options["pattern"]):
        raise UndecidableError("a type that has no such pattern")
    return _is_of(held_by(operands[0]), options["pattern"])


def _is_of(part: Part, pattern: Sequence[Any]) -> bool:
    """Whether a part is of a pattern, in the form of miner/languages/rust/stripping/patterns.py."""
    match pattern[0]:
        case "any":
            return True
        case "name":
            return part.tag == "n" and _bare(part.kind) == _bare(pattern[1])
        case "or":
            return any(_is_of(part, choice) for choice in pattern[1])
        case "range":
            return _is_between(part, *pattern[1:])
        case "tuple" | "slice":
            _, kind, inner, rest = pattern
            tag = "l" if pattern[0] == "slice" else "t"
            return part.tag == tag and _bare(part.kind) == _bare(kind) and _are_of(part.parts, inner, rest)
        case "struct":
            _, kind, fields, has_more = pattern
            return _bare(part.kind) == _bare(kind) and _has_fields(part, fields, has_more=has_more)
    return bool(part.tag == pattern[0] and part.plain == pattern[1])


def _bare(name: str) -> str:
    return name.rpartition("::")[2].removeprefix("r#")


def _are_of(parts: Sequence[Part], patterns: Sequence[Any], rest: int | None) -> bool:
    if len(parts) < len(patterns) or (rest is None and len(parts) != len(patterns)):
        return False
    front = len(patterns) if rest is None else rest
    behind = len(parts) - (len(patterns) - front)
    pairs = zip((*parts[:front], *parts[behind:]), patterns, strict=True)
    return all(_is_of(part, pattern) for part, pattern in pairs)


def _has_fields(part: Part, fields: Sequence[tuple[str, Any]], *, has_more: bool) -> bool:
    if part.tag == "n":
        return not fields
    if part.tag == "t":  # a structure without names, matched by place
        return False
    values = {_bare(key.kind): value for key, value in part.parts if key.tag == "n"} if part.tag == "m" else {}
    is_whole = has_more or len(fields) == len(part.parts)
    return (
        part.tag == "m"
        and is_whole
        and all(name in values and _is_of(values[name], pattern) for name, pattern in fields)
    )


def _is_between(part: Part, low: Sequence[Any] | None, high: Sequence[Any] | None, is_closed: bool) -> bool:
    if any(end is not None and end[0] != part.tag for end in (low, high)):
        return False
    is_above = low is None or low[1] <= part.plain
    return is_above and (high is None or part.plain < high[1] or (is_closed and part.plain == high[1]))


def _panics(operands: Sequence[Value], _options: Mapping[str, Any]) -> bool:
    """That something panicked, with a message that has some text in it."""
    error, *texts = operands
    if error.kind != PANIC:
        raise UndecidableError("not a panic")
    return all(error.text is not None and _text(text) in error.text for text in texts)


_DECIDES: Mapping[str, Decider] = {
    "rust.==": _equals,
    "rust.truth": _truth,
    "rust.<": _ordered(operator.lt),
    "rust.<=": _ordered(operator.le),
    "rust.>": _ordered(operator.gt),
    "rust.>=": _ordered(operator.ge),
    "rust.contains": _contains,
    "rust.starts": _begins,
    "rust.ends": _ends,
    "rust.matches": _matches,
    "rust.panics": _panics,
}
EXACT = frozenset({"rust.=="})
"""Operators that no one value satisfies everywhere, if they are not negated."""
OPERATORS = negatable(_DECIDES, Value)
"""By name, of values of this language."""
