"""Values of JavaScript as they come out of a container: from JSON to what operators compare. Pure.

docs/judging.md has the form. Whatever is not of it raises `ValueError`, and the reader's limits hold while it is read.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any

from harness.judging.parts import matched, tagged

if TYPE_CHECKING:
    from harness.judging.values import Reader

_NUMBER = re.compile(r"-?(?:\d+(?:\.\d+)?(?:e[+-]\d{1,3})?|Infinity)|NaN")
_BIGINT = re.compile(r"-?\d{1,4000}")
_MOST_LINKS = 40
"""Levels up at most that a cycle leads."""


class Missing(Enum):
    """What stands for no value."""

    UNDEFINED = "undefined"
    HOLE = "hole"
    """An index of an array that it does not have."""


UNDEFINED, HOLE = Missing.UNDEFINED, Missing.HOLE


@dataclass(frozen=True)
class Symbol:
    """A symbol that is the same in all processes: a well-known one, or one of the registry."""

    text: str


@dataclass(frozen=True)
class Cycle:
    """An object that the value is itself inside of, so many levels up."""

    levels: int


@dataclass(frozen=True, eq=False)
class Opaque:
    """What cannot be told of outside: a function, or an object that keeps its state elsewhere."""

    why: str
    chain: tuple[str, ...] = ()
    """Of a class: its name, and those of its bases."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Object:
    """An object by what it is made of."""

    tag: str
    """Its kind: one of `OBJECTS`."""
    name: str | None = None
    """Of its class, empty where that has none; None for an object without a prototype."""
    items: tuple[Any, ...] = ()
    """Of an array or a set; pairs of a map; the numbers of a typed array as texts."""
    props: tuple[tuple[Any, Any], ...] = ()
    """Its own enumerable properties, by text or symbol, but for what is told otherwise."""
    text: tuple[str, ...] = ()
    """Of a date its time, of a regular expression its source and flags, of an error its name and message."""
    chain: tuple[str, ...] = ()
    """Of an error: the names of its class and of that one's bases."""
    more: tuple[tuple[Any, Any], ...] = ()
    """Of an error: its cause and its errors."""
    called: str = ""
    """What it says itself that it is: its `Symbol.toStringTag`."""
    enumerated: tuple[str, ...] = ()
    """Properties that a loop over its names finds besides, as one of its prototypes has them."""
    hidden: frozenset[str] = frozenset()
    """The names of its own properties that are not enumerable."""
    inherited: tuple[tuple[Any, Any], ...] = ()
    """Of an error: texts, numbers and booleans that it has of its classes; what is kept is not compared by these."""


@dataclass(frozen=True, eq=False)
class Matcher:
    """What takes more than one value, as `expect.any(Number)`; only among what was kept."""

    name: str
    """Of its class: `Any`, `Anything`, `ObjectContaining`…"""
    inverse: bool
    """Whether it takes what it would not take otherwise."""
    sample: object
    precision: object


def read(reader: Reader, parts: list[Any], depth: int) -> object:
    """A value of JavaScript, within the limits of a reader.

    Raises:
        ValueError: it is not of the form, or over a limit.

    """
    (enc,) = parts
    if depth > 1:
        raise ValueError("a value of JavaScript inside of one of Python")
    return _value(reader, enc, depth)


def _value(reader: Reader, enc: Any, depth: int) -> Any:
    reader.count(depth)
    if enc is None or enc is True or enc is False:
        return enc
    tag, parts = tagged(enc)
    return _KINDS[tag](reader, parts, depth + 1)


def _always(value: Missing) -> Callable[[Reader, list[Any], int], object]:
    def read_nothing(_reader: Reader, parts: list[Any], _depth: int) -> object:
        () = parts
        return value

    return read_nothing


def _of_text(make: Callable[[str], object]) -> Callable[[Reader, list[Any], int], object]:
    def read_text(reader: Reader, parts: list[Any], _depth: int) -> object:
        (text,) = parts
        return make(reader.text(text))

    return read_text


def _function(reader: Reader, parts: list[Any], _depth: int) -> object:
    (chain,) = parts
    reader.plain = False
    return Opaque("a function", reader.texts(chain))


def _unreadable(reader: Reader, parts: list[Any], _depth: int) -> object:
    (why,) = parts
    reader.plain = False
    return Opaque(reader.text(why))


def _cycle(_reader: Reader, parts: list[Any], _depth: int) -> object:
    (levels,) = parts
    if type(levels) is not int or not 0 < levels <= _MOST_LINKS:
        raise ValueError("not a cycle")
    return Cycle(levels)


def _name(reader: Reader, name: Any) -> str | None:
    return None if name is None else reader.text(name)


def _pairs(reader: Reader, told: Any, depth: int) -> tuple[tuple[Any, Any], ...]:
    return tuple((_value(reader, key, depth), _value(reader, value, depth)) for key, value in reader.pairs(told))


def _props(reader: Reader, told: Any, depth: int) -> tuple[tuple[Any, Any], ...]:
    pairs = _pairs(reader, told, depth)
    keys = [key for key, _ in pairs if isinstance(key, str | Symbol)]
    if len(set(keys)) != sum(not isinstance(key, Opaque) for key, _ in pairs):
        raise ValueError("a property that is there twice, or that has no name")
    return pairs


def _object(tag: str) -> Callable[[Reader, list[Any], int], object]:
    def read_object(reader: Reader, parts: list[Any], depth: int) -> object:
        name, *inner, props = parts
        items: tuple[Any, ...] = ()
        text: tuple[str, ...] = ()
        if tag in ("a", "S"):
            (members,) = inner
            items = tuple(_value(reader, part, depth) for part in reader.listed(members))
        elif tag == "M":
            (members,) = inner
            items = _pairs(reader, members, depth)
        elif tag == "T":
            (members,) = inner
            items = tuple(matched(_NUMBER, text) for text in reader.texts(members))
        elif tag == "B":
            (member,) = inner
            items = (_value(reader, member, depth),)
        else:
            text = tuple(reader.text(part) for part in inner)
            if len(text) != {"D": 1, "R": 2}[tag]:
                raise ValueError("an object of more or fewer parts than its kind has")
        return Object(tag=tag, name=_name(reader, name), items=items, text=text, props=_props(reader, props, depth))

    return read_object


def _other(reader: Reader, parts: list[Any], depth: int) -> object:
    """An object of no kind of its own, with what only its prototypes say of it where they do."""
    name, props, *more = parts
    if len(more) > 2:  # noqa: PLR2004 - what its prototypes say, and what is hidden
        raise ValueError("an object of more parts than it has")
    tag, *names = reader.texts(more[0]) if more else ("",)
    hidden = frozenset(reader.texts(more[1]) if more[1:] else ())
    own = _props(reader, props, depth)
    kind = _name(reader, name)
    return Object(tag="O", name=kind, props=own, called=tag, enumerated=tuple(names), hidden=hidden)


def _error(reader: Reader, parts: list[Any], depth: int) -> object:
    chain, name, message, props, more, *inherited = parts
    if len(inherited) > 1:
        raise ValueError("an error of more parts than it has")
    return Object(
        tag="E",
        chain=reader.texts(chain),
        text=(reader.text(name), reader.text(message)),
        props=_props(reader, props, depth),
        more=_props(reader, more, depth),
        inherited=tuple(pair for told in inherited for pair in _props(reader, told, depth)),
    )


def _matcher(reader: Reader, parts: list[Any], depth: int) -> object:
    name, inverse, sample, precision = parts
    if not reader.kept or not isinstance(inverse, bool):
        raise ValueError("not a value")
    told = [_value(reader, part, depth) for part in (sample, precision)]
    return Matcher(reader.text(name), inverse, *told)


OBJECTS = ("a", "M", "S", "D", "R", "T", "B", "O")
_KINDS: Mapping[str, Callable[[Reader, list[Any], int], object]] = {
    "u": _always(UNDEFINED),
    "h": _always(HOLE),
    "N": _of_text(lambda text: float(matched(_NUMBER, text))),
    "I": _of_text(lambda text: int(matched(_BIGINT, text))),
    "s": _of_text(str),
    "Y": _of_text(Symbol),
    "F": _function,
    "x": _unreadable,
    "r": _cycle,
    "E": _error,
    "m": _matcher,
    "O": _other,
    **{tag: _object(tag) for tag in OBJECTS if tag != "O"},
}


def parts_of(value: object) -> Iterator[object]:
    """A value and all that is in it, at any depth."""
    queue: list[Any] = [value]
    while queue:
        part = queue.pop()
        yield part
        if isinstance(part, Object):
            queue.extend(item for items in part.items for item in (items if isinstance(items, tuple) else (items,)))
            queue.extend(item for pair in (*part.props, *part.more) for item in pair)


def is_plain(value: object) -> bool:
    """Whether nothing opaque is in a value, at any depth."""
    return not any(isinstance(part, Opaque) for part in parts_of(value))


def is_partial(value: object) -> bool:
    """Whether a value that was kept takes more than one, at any depth."""
    return any(isinstance(part, Matcher) for part in parts_of(value))
