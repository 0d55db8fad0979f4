"""Values of languages with types as they come out of a container, part by part. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from harness.judging.values import Reader


class UndecidableError(ValueError):
    """The values do not tell, as it depends on which object it is or on code of the product."""


_SAME_HASH = 64
"""Different values with one hash that are still counted."""


def counted(items: Iterable[Hashable]) -> dict[Hashable, int]:
    """The different values and how often each is there.

    Raises:
        UndecidableError: many have one hash, as if made to: a set of these would take forever.

    """
    by_hash: dict[int, list[list[Any]]] = {}
    for item in items:
        alike = by_hash.setdefault(hash(item), [])
        pair_of_item = next((pair for pair in alike if pair[0] is item or pair[0] == item), None)
        if pair_of_item is not None:
            pair_of_item[1] += 1
        elif len(alike) < _SAME_HASH:
            alike.append([item, 1])
        else:
            raise UndecidableError("hashes that clash")
    return {item: count for alike in by_hash.values() for item, count in alike}


@dataclass(frozen=True, eq=False, kw_only=True)
class Part:
    """A value, or one that is inside of it."""

    tag: str
    """Its kind, as the JSON has it."""
    kind: str
    """Its type, as the language writes it; empty where there is none."""
    plain: Any = None
    """Of a number, text, boolean or bytes: the same in Python; of a cycle the levels that it leads up."""
    parts: tuple[Any, ...] = ()
    """Items; pairs of a map; names and values of fields that are not zero; what a pointer or an interface holds."""
    compares: bool = False
    """Whether a method of its type may compare it, where nothing else tells."""


Decider = Callable[[Any, Mapping[str, Any]], bool]
"""Whether an assertion holds, by its operands and options."""


def negatable(deciders: Mapping[str, Decider], of_class: type) -> Mapping[str, Decider]:
    """Operators over values of a class, each with its negation (`not` among the options).

    Where one can't be decided, and raises, its negation does not hold either.
    """

    def bound(decides: Decider) -> Decider:
        def decided(operands: list[Any], options: Mapping[str, Any]) -> bool:
            if not all(isinstance(operand, of_class) for operand in operands):
                raise UndecidableError("a value of another language")
            return decides(operands, options) is not bool(options.get("not"))

        return decided

    return {op: bound(decides) for op, decides in deciders.items()}


def compared(look: Callable[[Any], Any], decides: Callable[[Any, Any], bool]) -> Decider:
    """The operator that decides by what `look` makes of two operands."""
    return lambda operands, _options: decides(look(operands[0]), look(operands[1]))


def of_two(decide: Callable[[Any, Any], bool]) -> Decider:
    """The operator that decides by its two operands alone."""

    def decided(operands: list[Any], _options: Mapping[str, Any]) -> bool:
        left, other = operands
        return bool(decide(left, other))

    return decided


def of_one(decide: Callable[[Any], bool]) -> Decider:
    """The operator that decides by its one operand alone."""

    def decided(operands: list[Any], _options: Mapping[str, Any]) -> bool:
        (operand,) = operands
        return decide(operand)

    return decided


def paired_off(left: Sequence[Any], other: Sequence[Any], equal: Callable[[Any, Any], bool]) -> bool:
    """Whether each member has one of its own on the other side, and none is left there."""
    rest = list(other)
    for member in left:
        place = next((place for place, candidate in enumerate(rest) if equal(member, candidate)), None)
        if place is None:
            return False
        del rest[place]
    return not rest


def held_by(value: Any) -> Part:
    """What a value holds; raises `UndecidableError` where that is nothing, or in no form."""
    if value.part is None:
        raise UndecidableError("nothing, or nothing of a standard form")
    part: Part = value.part
    return part


def truth(operands: Sequence[Any], _options: Mapping[str, Any]) -> bool:
    """Whether a boolean is true."""
    part = held_by(operands[0])
    if part.tag != "b":
        raise UndecidableError("not a boolean")
    return bool(part.plain)


def tagged(enc: Any) -> tuple[str, list[Any]]:
    """The kind of an encoded value, and what it has of it; raises `ValueError` for what is none."""
    if not isinstance(enc, list) or not enc or not isinstance(enc[0], str):
        raise ValueError("not a value")
    return enc[0], enc[1:]


def type_name(reader: Reader, encoded: Any) -> str:
    """The name of a type, which is no part of a value's size."""
    size = reader.size
    text = reader.text(encoded)
    reader.size = size
    return text


def matched(pattern: re.Pattern[str], text: str) -> str:
    """The text, if it is wholly of a form; raises `ValueError` else."""
    if not pattern.fullmatch(text):
        raise ValueError("its text is not that of its kind")
    return text


def parts_of(part: Part | None) -> Iterator[Part]:
    """A value and all that is in it, at any depth."""
    queue: list[Any] = [part]
    while queue:
        part = queue.pop()
        if isinstance(part, tuple):
            queue.extend(part)
        elif isinstance(part, Part):
            yield part
            queue.extend(part.parts)


def key_of(value: object) -> object:
    """A value as a key of a Python dictionary: what can be none is told by its text."""
    return value if isinstance(value, str | int | float | bytes) else repr(value)
