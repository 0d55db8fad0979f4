"""Values as they come out of a container, and the expectations that stay on the host: from JSON to Python. Pure.

docs/judging.md has the form. Whoever wrote a value may have written anything, so every limit holds while it is read,
and what is not of the form raises `MalformedError` and nothing else.
"""

from __future__ import annotations

import builtins
import datetime as dt
import ipaddress
import itertools
import math
import re
import sys
from collections import Counter, OrderedDict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from numbers import Complex
from pathlib import PurePath, PurePosixPath, PureWindowsPath
from typing import Any
from uuid import UUID

from harness.judging import arrays
from harness.judging.arrays import Array
from harness.judging.go import values as go
from harness.judging.java import values as java
from harness.judging.javascript import values as javascript
from harness.judging.parts import parts_of
from harness.judging.rust import values as rust

MAX_DEPTH = 64
MAX_ITEMS = 100_000
MAX_TEXT = 4 * 1024 * 1024
"""Characters of all texts of a value together."""
_MOST_NAMES = 2
"""Of a constant that comes out: one that is called like all of its class is none of them."""
MAX_HEX_DIGITS = 20_000
MAX_EXPONENT = 6144
"""Of a Decimal: that of IEEE 754's decimal128, so that its exact integer stays small."""
_MAX_DIGITS = 25_000
"""Characters of a Decimal: as many as an int of `MAX_HEX_DIGITS` has."""
_MAX_COST = 10 * MAX_ITEMS
"""Steps that comparing a value with one of its own form can take; only hashes that were made to clash need more."""


class MalformedError(ValueError):
    """It is not of the form that the runner encodes, or over a limit; the message says which, and quotes nothing."""


@dataclass(frozen=True, kw_only=True)
class Event:
    """What one assertion handed out, still encoded. `test_id`, `slot` and `n` are its key."""

    test_id: str
    slot: int
    """Which assertion; unique over all files of a task."""
    n: int = 0
    """Its how manieth time in this test, from 0."""
    values: tuple[Any, ...] = ()
    raised: Any = None
    """The exception that came in place of further values; None where none did."""


EVENT_FIELDS: Mapping[str, tuple[type, ...]] = {
    "id": (str,), "slot": (int,), "n": (int,), "values": (list,), "raised": (list, type(None)),
}  # fmt: skip
"""Of the frame that an event comes in, by name: the types that each may have."""
_MOST = 1 << 31
"""No slot is as large, and no assertion made as often."""


def has_bounds(frame: Mapping[str, Any]) -> bool:
    """Whether the numbers of an event's frame are such as a runner of ours counts."""
    return all(0 <= frame[name] < _MOST for name in ("slot", "n"))


def event_of(frame: Mapping[str, Any]) -> Event:
    """The event that a frame tells."""
    return Event(
        test_id=frame["id"],
        slot=frame["slot"],
        n=frame["n"],
        values=tuple(frame["values"]),
        raised=frame["raised"],
    )


def repeated(events: Sequence[Event]) -> tuple[str, ...]:
    """That an assertion handed out twice what it hands out once."""
    once = {(event.test_id, event.slot, event.n) for event in events}
    return ("two values for one assertion",) if len(once) < len(events) else ()


@dataclass(frozen=True, kw_only=True, eq=False)
class Opaque:
    """An object that has no plain form. As the product's own `__eq__` is not here, it equals only itself."""

    name: str
    """`module.qualname` of its class; empty where it could not be encoded."""
    attrs: tuple[tuple[str, object], ...] = ()
    items: tuple[object, ...] = ()
    is_true: bool | None = None
    """Whether it counts as true; None where only code of its own tells."""

    @property
    def simple_name(self) -> str:
        """The name of its class without its module."""
        return self.name.rpartition(".")[2]


@dataclass(frozen=True, kw_only=True, eq=False)
class Record(Opaque):
    """An object that its class, fields and items tell from all others: it has no code of its own that compares it.

    The class goes by its own name, as a patch may move it, and a constant by any of its names. Where the fix leaves the
    comparison to the fields, a patch may give the class code of its own for it: then these are compared all the same.
    """

    kept: bool = False
    """Whether it is the host's: what comes out may have more fields then."""

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Opaque) or not (isinstance(other, Record) or (self.kept and self.attrs)):
            return False
        expected, given = (other, self) if isinstance(other, Record) and other.kept else (self, other)
        fields = dict(given.attrs)
        return (
            expected.simple_name == given.simple_name
            and _have_one_name(expected.items, given.items)
            and (expected.kept or len(expected.attrs) == len(fields))
            and all(name in fields and bool(value == fields[name]) for name, value in expected.attrs)
        )

    def __hash__(self) -> int:
        try:
            return hash((self.simple_name, self.attrs[:1]))
        except TypeError:
            return hash(self.simple_name)


def _have_one_name(items: Collection[object], others: Collection[object]) -> bool:
    """Whether two constants have a name in common; what has fields has none."""
    if not items or not others:
        return not items and not others
    return len(others) <= _MOST_NAMES and any(item in others for item in items)


@dataclass(frozen=True, eq=False)
class Likeness:
    """An object that equals a plain value, and does nothing else that such a value does."""

    form: object
    """The plain value."""

    def __eq__(self, other: object) -> bool:
        return bool(self.form == (other.form if isinstance(other, Likeness) else other))

    def __hash__(self) -> int:
        return hash(self.form)


@dataclass(frozen=True, kw_only=True, eq=False)
class Raised:
    """An exception, as a value or in place of one."""

    names: tuple[str, ...]
    """`module.qualname` of its class and of that one's bases, in the order of the MRO, without `object`."""
    text: str = ""
    args: tuple[object, ...] = ()
    attrs: tuple[tuple[str, object], ...] = ()


@dataclass(frozen=True, eq=False)
class ClassName:
    """A class, known by its own name alone."""

    name: str
    """`module.qualname`."""
    mro: tuple[str, ...] = ()
    """Of itself and its bases, without `object`."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ClassName) and own_name(self.name) == own_name(other.name)

    def __hash__(self) -> int:
        return hash(own_name(self.name))


def own_name(name: str) -> str:
    """What a class goes by: a patch may move one of the product to another module, of which it stays a name."""
    return name if name.partition(".")[0] in sys.stdlib_module_names else name.rpartition(".")[2]


@dataclass(frozen=True, kw_only=True)
class Pattern:
    """A regular expression of the host's side, as text: who searches with it bounds its time."""

    pattern: str | bytes
    flags: int = 0
    of_units: bool = False
    """Whether it looks at a text as JavaScript may: a character beyond 16 bits is two."""


class Anything:
    """`unittest.mock.ANY`."""

    __hash__ = None  # type: ignore[assignment]

    def __eq__(self, other: object) -> bool:
        return True

    def __ne__(self, other: object) -> bool:
        return False


@dataclass(frozen=True, kw_only=True, eq=False)
class Approx:
    """`pytest.approx` of a number, or of a list, tuple or dict of values: these are compared one by one."""

    expected: object
    rel: float | None = None
    abs: float | None = None
    nan_ok: bool = False

    __hash__ = None  # type: ignore[assignment]

    def __eq__(self, other: object) -> bool:
        expected = self.expected
        if isinstance(expected, Array) or isinstance(other, Array):
            try:
                return all(itertools.starmap(self._is_near, arrays.paired(other, expected)))
            except ValueError:
                return False
        if isinstance(expected, dict):
            return (
                isinstance(other, dict)
                and expected.keys() == other.keys()
                and all(self._is_near(other[key], value) for key, value in expected.items())
            )
        if isinstance(expected, list | tuple):
            return (
                isinstance(other, list | tuple)
                and len(expected) == len(other)
                and all(map(self._is_near, other, expected))
            )
        return self._is_near(other, expected)

    def _is_near(self, actual: Any, expected: Any) -> bool:
        """As pytest's ApproxScalar: bool only with bool, no tolerance for infinities, NaN only where it is allowed."""
        if isinstance(expected, bool) and not isinstance(actual, bool):
            return False
        if actual == expected:
            return True
        if isinstance(expected, bool) or not (isinstance(expected, NUMBERS) and isinstance(actual, NUMBERS)):
            return False
        number: Any = expected
        if arrays.is_nan(abs(number)):
            return self.nan_ok and arrays.is_nan(abs(actual))
        if _is_infinite(abs(number)):
            return False
        return bool(abs(number - actual) <= self._tolerance(number))

    def _tolerance(self, expected: Any) -> Any:
        number: Any = Decimal if isinstance(expected, Decimal) else float
        if self.rel is None and self.abs is not None:
            return number(self.abs)
        relative = number("1e-6") if self.rel is None else number(self.rel)
        return max(relative * abs(expected), number("1e-12") if self.abs is None else number(self.abs))


NUMBERS = (Complex, Decimal)
"""All kinds of numbers."""


def _is_infinite(number: Any) -> bool:
    return number.is_infinite() if isinstance(number, Decimal) else math.isinf(number)


@dataclass(frozen=True, kw_only=True)
class Loaded:
    """A decoded value, and what was seen on the way."""

    value: object
    plain: bool
    """No opaque object, exception or unreadable thing is in it."""
    size: int
    """Its items, characters and bytes together."""


def load(enc: Any, *, kept: bool = False) -> Loaded:
    """Decode a value; with `kept`, one of the host's own side, which may hold approximations, `ANY` and patterns.

    Raises:
        MalformedError: it is not of the form, or over a limit.

    """
    reader = Reader(kept=kept)
    value = reader.value(enc, 0)[0]
    return Loaded(value=value, plain=reader.plain, size=reader.size)


def decode(enc: Any, *, kept: bool = False) -> object:
    """As `load`: the value alone."""
    return load(enc, kept=kept).value


def texts_in(enc: Any) -> Iterator[str]:
    """The texts in an encoded value, or in several, as runners of any language hand them out."""
    match enc:
        case ["s", str(text)] | ["s", str(), str(text)]:
            yield text
        case ["rust", str(), str()] if isinstance(shown := decode(enc, kept=True), rust.Value):
            yield from (part.plain for part in parts_of(shown.part) if part.tag == "s")
        case list() | tuple():
            for part in enc:
                yield from texts_in(part)


PREFIXES = ("js.", "go.", "java.", "rust.")
"""How the operators of other languages' values begin; the tag of such a value says the same."""


def language_of(enc: Any) -> str:
    """The prefix of the operators of a value's language, where anything may be thrown; empty for Python's."""
    tag = enc[0] if isinstance(enc, list) and enc else None
    return next((prefix for prefix in PREFIXES if tag == prefix[:-1]), "")


def size(enc: Any) -> int:
    """Items, characters and bytes of a value together.

    Raises:
        MalformedError: it is not of the form, or over a limit.

    """
    return load(enc).size


@dataclass(kw_only=True)
class Reader:
    """Reads one value, of Python or of the language that its tag says.

    Its methods give the decoded value, and the steps that a comparison with it can take.
    """

    kept: bool
    plain: bool = True
    items: int = 0
    letters: int = 0
    size: int = field(default=0)

    def value(self, enc: Any, depth: int) -> tuple[Any, int]:
        self.count(depth)
        if enc is None or enc is True or enc is False:
            return enc, 1
        if not isinstance(enc, list) or not enc or not isinstance(enc[0], str):
            raise MalformedError("not a value")
        tag, parts = enc[0], enc[1:]
        reads = _READERS.get(tag)
        if reads is not None and len(parts) == 1:
            return reads(self, parts[0], depth + 1)
        leaf = _LEAVES.get(tag)
        if leaf is None and self.kept:
            leaf = _KEPT.get(tag)
        if leaf is None:
            raise MalformedError("no such kind of value")
        before = self.items
        try:
            return leaf(self, parts, depth + 1), 1 + self.items - before
        except MalformedError:
            raise
        except (ArithmeticError, LookupError, TypeError, ValueError) as error:
            raise MalformedError("its text is not that of its kind") from error

    def count(self, depth: int) -> None:
        """One item more, at this depth."""
        if depth > MAX_DEPTH:
            raise MalformedError(f"nested deeper than {MAX_DEPTH}")
        self.count_more(1)

    def count_more(self, items: int) -> None:
        """So many items more."""
        self.items += items
        self.size += items
        if self.items > MAX_ITEMS:
            raise MalformedError(f"more than {MAX_ITEMS} items")

    def text(self, told: Any) -> str:
        if not isinstance(told, str):
            raise MalformedError("not a text")
        self.letters += len(told)
        self.size += len(told)
        if self.letters > MAX_TEXT:
            raise MalformedError("a text that is too long")
        return told

    def texts(self, told: Any) -> tuple[str, ...]:
        return tuple(self.text(part) for part in self.listed(told))

    def members(self, told: Any, depth: int) -> tuple[list[Any], list[int]]:
        parts_read: list[Any] = []
        costs: list[int] = []
        for part in self.listed(told):
            value, cost = self.value(part, depth)
            parts_read.append(value)
            costs.append(cost)
        return parts_read, costs

    def values(self, told: Any, depth: int) -> tuple[Any, ...]:
        return tuple(self.members(told, depth)[0])

    def attrs(self, told: Any, depth: int) -> tuple[tuple[str, object], ...]:
        return tuple((self.text(name), self.value(value, depth)[0]) for name, value in self.pairs(told))

    def hashed(self, members: Sequence[Any], costs: Sequence[int]) -> int:
        """What it costs to compare a set of these: hashes may have been chosen to be the same.

        Raises:
            MalformedError: one has no hash, or too many have the same.

        """
        try:
            hashes = [hash(member) for member in members]
        except (TypeError, ValueError) as error:
            raise MalformedError("a member that has no hash") from error
        alike = Counter(hashes)
        cost = 1 + sum(cost_of_one * alike[number] for cost_of_one, number in zip(costs, hashes, strict=True))
        if cost > _MAX_COST:
            raise MalformedError("hashes that clash")
        return cost

    def listed(self, told: Any) -> list[Any]:
        if not isinstance(told, list):
            raise MalformedError("not a list of values")
        return told

    def pairs(self, told: Any) -> list[list[Any]]:
        pairs = self.listed(told)
        if not all(isinstance(pair, list) and len(pair) == 2 for pair in pairs):  # noqa: PLR2004
            raise MalformedError("not a list of pairs")
        return pairs


def _ordered(make: Callable[[list[Any]], Any]) -> Callable[[Reader, Any, int], tuple[Any, int]]:
    def read(reader: Reader, encoded: Any, depth: int) -> tuple[Any, int]:
        parts_read, costs = reader.members(encoded, depth)
        return make(parts_read), 1 + sum(costs)

    return read


def _unordered(make: Callable[[list[Any]], Any]) -> Callable[[Reader, Any, int], tuple[Any, int]]:
    def read(reader: Reader, encoded: Any, depth: int) -> tuple[Any, int]:
        parts_read, costs = reader.members(encoded, depth)
        cost = reader.hashed(parts_read, costs)
        built = make(parts_read)
        if len(built) != len(parts_read):
            raise MalformedError("a set that holds a member twice")
        return built, cost

    return read


def _mapping(make: Callable[[Any], Any]) -> Callable[[Reader, Any, int], tuple[Any, int]]:
    def read(reader: Reader, encoded: Any, depth: int) -> tuple[Any, int]:
        keys, costs, cost = [], [], 0
        members = []
        for key, value in reader.pairs(encoded):
            key_read, its = reader.value(key, depth)
            keys.append(key_read)
            costs.append(its)
            value_read, its = reader.value(value, depth)
            members.append(value_read)
            cost += its
        cost += reader.hashed(keys, costs)
        built = make(zip(keys, members, strict=True))
        if len(built) != len(keys):
            raise MalformedError("a mapping that holds a key twice")
        return built, cost

    return read


_READERS: Mapping[str, Callable[[Reader, Any, int], tuple[Any, int]]] = {
    "l": _ordered(list),
    "t": _ordered(tuple),
    "S": _unordered(set),
    "F": _unordered(frozenset),
    "d": _mapping(dict),
    "D": _mapping(OrderedDict),
    "C": _mapping(lambda pairs: Counter(dict(pairs))),
}
"""Containers: the tag, and one list."""

_INT = re.compile(r"-?[0-9a-f]+")
_FLOAT = re.compile(r"-?0x[01]\.[0-9a-f]{1,13}p[+-][0-9]{1,4}|nan|-?inf")
_BYTES = re.compile(r"(?:[0-9a-f]{2})*")
_WHOLE = re.compile(r"-?[0-9]{1,4300}")


def _int(text: str) -> int:
    if not _INT.fullmatch(text) or len(text.lstrip("-")) > MAX_HEX_DIGITS:
        raise MalformedError("not a number, or too large")
    return int(text, 16)


def _float(text: str) -> float:
    if not _FLOAT.fullmatch(text):
        raise MalformedError("not a float")
    return float.fromhex(text)


def _bytes(reader: Reader, encoded: Any) -> bytes:
    text = reader.text(encoded)
    if not _BYTES.fullmatch(text):
        raise MalformedError("not bytes")
    reader.size -= len(text) // 2
    return bytes.fromhex(text)


def _whole(text: str) -> int:
    if not _WHOLE.fullmatch(text):
        raise MalformedError("not a whole number")
    return int(text)


def _decimal(text: str) -> Decimal:
    if len(text) > _MAX_DIGITS:
        raise MalformedError("a number that is too long")
    number = Decimal(text)
    exponent = number.as_tuple().exponent
    if isinstance(exponent, int) and (abs(exponent) > MAX_EXPONENT or abs(number.adjusted()) > _MAX_DIGITS):
        raise MalformedError("a number that is too large")
    return number


def _fraction(text: str) -> Fraction:
    above, _, below = text.partition("/")
    return Fraction(_whole(above), _whole(below))


def _offset(text: str) -> dt.timedelta:
    days, seconds, microseconds = map(_whole, text.split(" "))
    return dt.timedelta(days, seconds, microseconds)


_CANONICAL: Mapping[str, tuple[Callable[[str], Any], Callable[[Any], str]]] = {
    "datetime.datetime": (dt.datetime.fromisoformat, dt.datetime.isoformat),
    "datetime.date": (dt.date.fromisoformat, dt.date.isoformat),
    "datetime.time": (dt.time.fromisoformat, dt.time.isoformat),
    "datetime.timedelta": (_offset, lambda value: f"{value.days} {value.seconds} {value.microseconds}"),
    "decimal.Decimal": (_decimal, str),
    "fractions.Fraction": (_fraction, lambda value: f"{value.numerator}/{value.denominator}"),
    "uuid.UUID": (UUID, str),
    "pathlib.PurePath": (PurePosixPath, str),
    "pathlib.PureWindowsPath": (PureWindowsPath, str),
    "range": (
        lambda text: range(*map(_whole, text.split(" "))),
        lambda value: f"{value.start} {value.stop} {value.step}",
    ),
    **{
        f"ipaddress.{kind.__name__}": (kind, str)
        for kind in (
            ipaddress.IPv4Address,
            ipaddress.IPv6Address,
            ipaddress.IPv4Network,
            ipaddress.IPv6Network,
            ipaddress.IPv4Interface,
            ipaddress.IPv6Interface,
        )
    },
}
"""Standard values: how each is read from its text, and written; one that is not written in the same way is refused."""


def standard(value: Any) -> list[str]:
    """A value of one of these kinds as it is handed out.

    Raises:
        TypeError: it is of another kind.

    """
    name = "pathlib.PurePath" if isinstance(value, PurePath) else names_of(type(value))[0].removeprefix("builtins.")
    name = "pathlib.PureWindowsPath" if isinstance(value, PureWindowsPath) else name
    if name not in _CANONICAL:
        raise TypeError(name)
    text = _CANONICAL[name][1](value)
    return ["n", name, *(text.split(" ") if name in _PARTS else [text])]


_MOST_HELD = 1 << 30
_PARTS = {"datetime.timedelta": 3, "range": 3}
"""Of how many texts it is made, where not of one."""


def _standard(reader: Reader, parts: list[Any], _depth: int) -> Any:
    kind, *texts = [reader.text(part) for part in parts]
    if kind == "type":
        name, *bases = texts
        return ClassName(name, tuple(bases))
    if len(texts) != _PARTS.get(kind, 1):
        raise MalformedError("a value of more or fewer parts than its kind has")
    read, write = _CANONICAL[kind]
    text = " ".join(texts)
    value = read(text)
    if write(value) != text:
        raise MalformedError("a value that is not written as its kind writes it")
    reader.size += _member_count(value)
    return value


def _member_count(value: Any) -> int:
    """How many members a value has that does not write them out, as far as `size` counts."""
    if isinstance(value, range):
        return min(_MOST_HELD, max(0, (value.stop - value.start) // value.step + 1))
    return min(_MOST_HELD, getattr(value, "num_addresses", 0))


def _array(reader: Reader, parts: list[Any], depth: int) -> Array:
    shape, items, *labels = parts
    sides = reader.listed(shape)
    if not all(type(side) is int and 0 <= side <= MAX_ITEMS for side in sides) or len(sides) > arrays.MAX_DIMENSIONS:
        raise MalformedError("not the shape of an array")
    labelled = dict(reader.attrs(_exactly(labels, 1)[0], depth)) if labels else {}
    array = Array(shape=tuple(sides), items=reader.values(items, depth), labels=labelled)
    if not sides or math.prod(sides) != len(array.items):
        raise MalformedError("an array of more or fewer items than its shape has")
    return array


def _exception(reader: Reader, parts: list[Any], depth: int) -> Raised:
    names, text, args, attrs = parts
    reader.plain = False
    return Raised(
        names=reader.texts(names),
        text=reader.text(text),
        args=reader.values(args, depth),
        attrs=reader.attrs(attrs, depth) if attrs is not None else (),
    )


def _object(reader: Reader, parts: list[Any], depth: int) -> Opaque | Likeness:
    name, attrs, items, *truth = parts
    if len(truth) == 2:  # noqa: PLR2004 - what it equals as well
        reader.text(name)
        return Likeness(reader.value(truth[1], depth)[0])
    is_true = _exactly(truth, 1)[0] if truth else None
    if not isinstance(is_true, bool | None):
        raise MalformedError("not a yes or no")
    reader.plain = False
    size = reader.size
    fields = reader.attrs(attrs, depth) if attrs is not None else ()
    if items is None:
        reader.size = size  # as large as without them: only an object that is told by its fields needs them
        return Opaque(name=reader.text(name), attrs=fields, is_true=is_true)
    return Record(name=reader.text(name), attrs=fields, items=reader.values(items, depth), kept=reader.kept)


def _unreadable(reader: Reader, parts: list[Any], _depth: int) -> Opaque:
    (why,) = parts
    reader.text(why)
    reader.plain = False
    return Opaque(name="")


def _only(read: Callable[[Reader, Any], Any]) -> Callable[[Reader, list[Any], int], Any]:
    def of_one(reader: Reader, parts: list[Any], _depth: int) -> Any:
        (part,) = parts
        return read(reader, part)

    return of_one


def _approx(reader: Reader, parts: list[Any], depth: int) -> Approx:
    value, rel, absolute, nan_ok = parts
    if not isinstance(nan_ok, bool):
        raise MalformedError("not a yes or no")
    return Approx(
        expected=reader.value(value, depth)[0],
        rel=None if rel is None else _float(reader.text(rel)),
        abs=None if absolute is None else _float(reader.text(absolute)),
        nan_ok=nan_ok,
    )


def _anything(_reader: Reader, parts: list[Any], _depth: int) -> Anything:
    () = parts
    return Anything()


def _pattern(reader: Reader, parts: list[Any], depth: int) -> Pattern:
    told, flags = parts
    pattern = reader.value(told, depth)[0]
    if not isinstance(pattern, str | bytes) or type(flags) is not int:
        raise MalformedError("not a regular expression")
    return Pattern(pattern=pattern, flags=flags)


_LEAVES: Mapping[str, Callable[[Reader, list[Any], int], Any]] = {
    "k": _only(lambda reader, name: {"Ellipsis": ..., "NotImplemented": NotImplemented}[reader.text(name)]),
    "i": _only(lambda reader, encoded: _int(reader.text(encoded))),
    "f": _only(lambda reader, encoded: _float(reader.text(encoded))),
    "c": lambda reader, parts, _depth: complex(*(_float(reader.text(part)) for part in _exactly(parts, 2))),
    "s": _only(lambda reader, encoded: reader.text(encoded)),
    "b": _only(_bytes),
    "B": _only(lambda reader, encoded: bytearray(_bytes(reader, encoded))),
    "n": _standard,
    "a": _array,
    "e": _exception,
    "o": _object,
    "x": _unreadable,
    "js": javascript.read,
    "go": go.read,
    "java": java.read,
    "rust": rust.read,
}
"""All other kinds: the tag, and its parts."""
_KEPT: Mapping[str, Callable[[Reader, list[Any], int], Any]] = {"approx": _approx, "any": _anything, "re": _pattern}
"""Kinds of the host's side alone: in a frame they are no kinds at all."""


def _exactly(parts: list[Any], count: int) -> list[Any]:
    if len(parts) != count:
        raise MalformedError("a value of more or fewer parts than its kind has")
    return parts


def names_of(kind: type) -> tuple[str, ...]:
    """`module.qualname` of a class and of its bases in the order of its MRO, without `object`."""
    return tuple(f"{base.__module__}.{base.__qualname__}" for base in kind.__mro__ if base is not object)


def kind_names(value: object) -> tuple[str, ...] | None:
    """The names of a plain value's class and its bases; None where its class is not known here."""
    if isinstance(value, ClassName):
        return ("builtins.type",)
    if isinstance(value, PurePath):
        return ("pathlib.PurePath",)  # of which flavour, it does not tell
    if isinstance(value, Array):
        return (f"pandas.{value.labels['kind']}" if value.labels else "numpy.ndarray",)
    is_told = not isinstance(value, Opaque | Raised | Likeness | Anything | Approx | Pattern)
    return names_of(type(value)) if is_told else None


KNOWN_KINDS = frozenset(
    {
        *(f"builtins.{name}" for name in ("NoneType", "ellipsis", "NotImplementedType", "type")),
        *(
            name
            for kind in (
                *(bool, int, float, complex, str, bytes, bytearray, list, tuple, set, frozenset, dict, range),
                *(dt.datetime, dt.date, dt.time, dt.timedelta, Decimal, Fraction, UUID),
            )
            for name in names_of(kind)
        ),
        *(name for name in _CANONICAL if name.startswith("ipaddress.")),
    }
)
"""Classes of which a plain value tells whether it is one's instance; pathlib's are not among them but for the base."""


def builtin_chain(name: str) -> tuple[str, ...]:
    """The names of a standard exception class and its bases, as the host has them; empty where it has no such class."""
    kind = getattr(builtins, name.removeprefix("builtins."), None)
    return names_of(kind) if isinstance(kind, type) and issubclass(kind, BaseException) else ()
