"""How the host decides an assertion of Java: by what the test called, with the rules of `equals`. Pure."""

from __future__ import annotations

import itertools
import math
import operator
import re
from collections.abc import Callable, Hashable, Mapping, Sequence
from decimal import Decimal
from typing import Any

from harness.core.wording import words
from harness.judging.java.values import Value, narrowed
from harness.judging.parts import (
    Decider,
    Part,
    UndecidableError,
    compared,
    counted,
    held_by,
    matched,
    negatable,
    parts_of,
    truth,
)
from harness.judging.patterns import of_java
from harness.judging.search import matches

_NUMBERS = ("i", "c", "f")
_MANY = ("l", "t", "T", "q", "a", "O")
_MAPS = ("m", "M")
_SETS = ("t", "T")
_ITERABLE = ("l", "q", *_SETS)
_SIDES = 2
_ORDERED = frozenset({"T", "M"})
"""Sets and maps with an order of their own, which may take for equal what is none."""
_BY_INSTANT = frozenset({"java.time.ZonedDateTime", "java.time.OffsetDateTime"})
"""Classes that AssertJ compares by what instant they are."""
_DECIMAL = re.compile(r"-?\d+(?:\.\d+)?(?:E[+-]?\d{1,9})?")
_ADDRESS = re.compile(
    r"([A-Za-z][A-Za-z0-9+.-]*:)?(?://((?:[^/?#@]*@)?)([A-Za-z0-9.-]+)(?=(?::\d*)?(?:[/?#]|$)))?", re.ASCII
)
"""The scheme, user and host of a URI, as far as it has these."""
_ESCAPED = re.compile(r"%[0-9A-Fa-f]{2}")
_PRIMITIVE = words("boolean byte short char int long float double")
_WIDTHS = ("Byte", "Short", "Integer", "Long", "Float", "Double")
_WIDER = {kind: _WIDTHS[place + 1 :] for place, kind in enumerate(_WIDTHS)} | {"Character": _WIDTHS[2:]}
"""By the class of a number: those of the types that take it without a cast."""
_IDENTICAL = ("e", "K")
"""Kinds of which one object is there for each value."""


def _key(part: Part | None, *, arrays: bool = False, typed: bool = False) -> Hashable:
    """What is the same for two values if and only if they are equal; with `arrays`, arrays are by what is in them.

    With `typed` one of numbers equals none of objects.
    """
    if part is None:
        return None
    match part.tag:
        case "f":
            return "f", part.kind, repr(part.plain)  # NaN equals itself, and 0.0 is not -0.0
        case "l":
            return "l", tuple(map(_key, part.parts))
        case "a" if arrays:
            items = tuple(_key(item, arrays=arrays, typed=typed) for item in part.parts)
            return "a", typed and part.kind in _PRIMITIVE, items
        case "t" | "T":
            return "t", frozenset(counted(map(_key, part.parts)).items())
        case "m" | "M":
            return "m", frozenset(counted((_key(key), _key(value)) for key, value in part.parts).items())
        case "O":
            return "O", tuple(map(_key, part.parts))
        case "B" if not arrays:
            raise UndecidableError("which array it is")
        case "a" | "q" | "E" | "x":
            raise UndecidableError("which object it is, or what its class makes of it")
    plain = _of_address(part.plain) if part.kind == "java.net.URI" else part.plain
    return part.tag, part.kind, plain


def _of_address(text: str) -> str:
    """A URI with what is the same in capitals as small letters: its scheme, its host, and what is escaped."""
    head = text
    if (found := _ADDRESS.match(text)) is not None:
        scheme, user, host = found.groups(default="")
        head = scheme.lower() + (f"//{user}{host.lower()}" if host else "") + text[found.end() :]
    return _ESCAPED.sub(lambda escaped: escaped[0].lower(), head)


def _numbers(values: Sequence[Value]) -> list[Any] | None:
    """Numbers, as primitive ones are promoted to one type; None where they are none."""
    parts = [value.part for value in values]
    if any(part is None or part.tag not in _NUMBERS for part in parts):
        return None
    numbers = [part.plain for part in parts if part is not None]
    kinds = {part.kind for part in parts if part is not None}
    if "Double" in kinds:
        return list(map(float, numbers))
    return [narrowed(float(number)) for number in numbers] if "Float" in kinds else numbers


def _equals(operands: Sequence[Value], options: Mapping[str, Any]) -> bool:
    left, other = operands
    if options.get("called") and (left.part is None or left.primitive):
        raise UndecidableError("null and primitive values have no method")
    if options.get("converts"):
        _refuse_converted(left.part, other.part)
        floats = [part.plain for part in (left.part, other.part) if part is not None and part.tag == "f"]
        if {"0.0", "-0.0"} == {*map(repr, floats)} or (len(floats) == len(operands) and all(map(math.isnan, floats))):
            raise UndecidableError("which of two zeros, or whether NaN equals itself")
    numbers = _numbers(operands) if _is_of_numbers(operands, options) else None
    if numbers is not None:
        return repr(numbers[0]) == repr(numbers[1])
    if options.get("integral") and all(value.part is not None and value.part.tag in "ic" for value in operands):
        return bool(held_by(left).plain == held_by(other).plain)
    how = {name: bool(options.get(name)) for name in ("arrays", "typed")}
    return _key(left.part, **how) == _key(other.part, **how)


def _is_of_numbers(operands: Sequence[Value], options: Mapping[str, Any]) -> bool:
    """Whether two are compared as numbers by what is called, if they are some, and not as objects.

    `promotes` tells what that takes: two primitive `whole` ones, or by `widening` the second as one of the type of the
    first; without that it is any beside a primitive one.
    """
    left, other = operands
    if options.get("boxed") or not (left.primitive or other.primitive):
        return False
    match options.get("promotes"):
        case "whole":
            return left.primitive and other.primitive and not any(held_by(value).tag == "f" for value in operands)
        case "widening":
            return _widens(left, other) or [held_by(value).kind for value in operands] == ["Integer", "Long"]
    return True


def _widens(to: Value, number: Value) -> bool:
    """Whether the compiler takes a number for one of the type of another."""
    kinds = [value.part.kind if value.part is not None else "" for value in (number, to)]
    return kinds[0] == kinds[1] or kinds[1] in _WIDER.get(kinds[0], ())


def _refuse_converted(left: Part | None, other: Part | None) -> None:
    """Raise `UndecidableError` where a library may have another way than `equals`, which its version tells."""
    if left is None or other is None:
        return
    if {left.tag, other.tag} == {"n", "s"}:
        raise UndecidableError("a text that may stand for a value")
    if left.kind in _BY_INSTANT and other.tag == "n" and left.plain != other.plain:
        raise UndecidableError("which instant it is")


def _same(operands: Sequence[Value], options: Mapping[str, Any]) -> bool:
    """`==`: of numbers by value, of objects where there is but one of each value."""
    left, other = operands
    if (left.primitive or other.primitive) and not options.get("boxed"):
        if (numbers := _numbers(operands)) is None:
            if any(held_by(value).tag != "b" for value in operands):
                raise UndecidableError("a primitive value and what is none of its kind")
            numbers = [held_by(value).plain for value in operands]
        return bool(numbers[0] == numbers[1])
    parts = [part for part in (left.part, other.part) if part is not None]
    if len(parts) < len(operands):
        return not parts
    if any(part.tag in _IDENTICAL for part in parts):
        return _key(left.part) == _key(other.part)
    raise UndecidableError("which object it is")


def _near(operands: Sequence[Value], options: Mapping[str, Any]) -> bool:
    numbers = _numbers(operands)
    if numbers is None or not _are_taken(operands, options):
        raise UndecidableError("not numbers, or not of types that go together")
    left, other, delta = map(float, numbers)
    distance = abs(left - other)
    if not any(held_by(value).kind == "Double" for value in operands):
        distance = narrowed(distance)
    return repr(left) == repr(other) or distance <= delta


def _arrays(operands: Sequence[Value], options: Mapping[str, Any]) -> bool:
    """As `assertArrayEquals`: item by item, with a delta for each as the third operand."""
    left, other, *delta = operands
    if any(operand.part is not None and operand.part.tag not in ("a", "B") for operand in (left, other)):
        raise UndecidableError("no array")
    kinds = {operand.part.kind for operand in operands[:2] if operand.part is not None and operand.part.tag == "a"}
    if len(kinds) > 1 and kinds & _PRIMITIVE:
        return False  # no method takes the two
    if delta and left.part is not None and other.part is not None:
        if len(left.part.parts) != len(other.part.parts):
            return False
        pairs = zip(left.part.parts, other.part.parts, strict=True)
        return all(_near([Value(primitive=True, part=part) for part in pair] + delta, options) for pair in pairs)
    if options.get("flat") and all(operand.part is not None and operand.part.tag == "a" for operand in operands):
        return _items(left, options) == _items(other, options)
    typed = bool(options.get("typed"))
    return _key(left.part, arrays=True, typed=typed) == _key(other.part, arrays=True, typed=typed)


def _items(value: Value, options: Mapping[str, Any] | None = None) -> list[Hashable]:
    """What is in a collection; with `flat` an array in it is not what it holds."""
    part = held_by(value)
    if part.tag not in _MANY:
        raise UndecidableError("no items")
    return [_key(item, arrays=not (options or {}).get("flat")) for item in part.parts]


def _spread(others: Sequence[Value], options: Mapping[str, Any]) -> Sequence[Value]:
    """What a method is given of which it takes any number: with `spread` one array of objects is these."""
    part = others[0].part if options.get("spread") and len(others) == 1 else None
    if part is None or part.tag != "a" or part.kind in _PRIMITIVE:
        return others
    return [Value(primitive=False, part=item) for item in part.parts]


def _several(others: Sequence[Value], options: Mapping[str, Any]) -> list[Hashable]:
    return [_key(other.part, arrays=True) for other in _spread(others, options)]


def _in_order(operands: Sequence[Value], options: Mapping[str, Any]) -> bool:
    """The items of the first, one by one: those of the second, or with `each` the others themselves."""
    value, *others = operands
    if options.get("flat"):
        return _are_alike(held_by(value), held_by(others[0]))
    items = _several(others, options) if options.get("each") else _items(others[0], options)
    given_items = _items(value, options)
    if options.get("sorted"):
        return counted(given_items) == counted(items)
    return counted(given_items).keys() == counted(items).keys() if options.get("only") else given_items == items


def _are_alike(left: Part | None, other: Part | None) -> bool:
    """Whether two collections hold the same in one order, or what is equal to it, at any depth."""
    sides = [part for part in (left, other) if part is not None and part.tag in _ITERABLE]
    if len(sides) < _SIDES:
        return _key(left) == _key(other)
    if all(side.tag in _SETS for side in sides) and _key(left) == _key(other):
        return True
    left_items, other_items = (side.parts for side in sides)
    return len(left_items) == len(other_items) and all(map(_are_alike, left_items, other_items))


def _contains(operands: Sequence[Value], options: Mapping[str, Any]) -> bool:
    """Texts in a text, items of what has some, or with `keys` or `values` those of a map.

    With `any` one of them does, with `times` as often as they are given; with `of` they are the items of the second.
    """
    value, *others = operands
    enough = any if options.get("any") else all
    is_map = options.get("keys") or options.get("values")
    if held_by(value).tag == "s" and not is_map:
        return enough(_text(other) in _text(value) for other in _spread(others, options))
    if is_map:
        if held_by(value).tag not in _MAPS:
            raise UndecidableError("not a map")
        items = [_key(pair[0 if options.get("keys") else 1]) for pair in held_by(value).parts]
    else:
        items = _items(value)
    keys = _items(others[0]) if options.get("of") else _several(others, options)
    there = counted(items)
    if options.get("called") and held_by(value).tag not in _ITERABLE:
        raise UndecidableError("nothing that has such a method")
    if options.get("called") and None in keys and None not in there:
        raise UndecidableError("some collections refuse to be asked for null")
    return enough(there.get(key, 0) >= (times if options.get("times") else 1) for key, times in counted(keys).items())


def _entries(operands: Sequence[Value], _options: Mapping[str, Any]) -> bool:
    """A key with its value in a map."""
    value, key, inner = operands
    if held_by(value).tag not in _MAPS:
        raise UndecidableError("not a map")
    return (_key(key.part), _key(inner.part)) in [(_key(own), _key(of_own)) for own, of_own in held_by(value).parts]


def _among(operands: Sequence[Value], options: Mapping[str, Any]) -> bool:
    """Whether a value is one of the others, or with `of` one of the items of the second."""
    value, *others = operands
    if options.get("converts"):
        for choice in held_by(others[0]).parts if options.get("of") else [other.part for other in others]:
            _refuse_converted(value.part, choice)
    choices = _items(others[0]) if options.get("of") else _several(others, options)
    return _key(value.part, arrays=True) in choices


def _of_kind_of_number(operands: Sequence[Value], options: Mapping[str, Any]) -> bool:
    part = held_by(operands[0])
    if part.tag == "n" and part.kind in ("java.math.BigDecimal", "java.math.BigInteger"):
        number: Any = Decimal(matched(_DECIMAL, part.plain))
    elif part.tag in ("i", "f"):
        number = part.plain
    else:
        raise UndecidableError("not a number")
    if options["is"] == "zero" and repr(number) == "-0.0" and not operands[0].primitive:
        raise UndecidableError("which of two zeros it is")
    kinds: Mapping[str, bool] = {
        "zero": number == 0, "one": number == 1,
        "positive": _place(number) > _place(0.0), "negative": _place(number) < _place(0.0),
        "nan": math.isnan(number), "infinity": number == math.inf, "-infinity": number == -math.inf,
        "finite": -math.inf < number < math.inf,
    }  # fmt: skip
    return kinds[options["is"]]


def _matches(operands: Sequence[Value], options: Mapping[str, Any]) -> bool:
    """A text against a regular expression: all of it, or with `part` a part."""
    return matches(of_java(_text(operands[1]), whole=not options.get("part")), _text(operands[0]))


def _text(value: Value) -> str:
    part = held_by(value)
    if part.tag != "s":
        raise UndecidableError("not a text")
    return str(part.plain)


def _length(value: Value) -> int:
    part = held_by(value)
    if part.compares and part.tag == "q":
        raise UndecidableError("a collection that tells another size than what is in it has")
    if part.tag == "s":
        return len(part.plain.encode("utf-16-le", "surrogatepass")) // 2
    if part.tag == "B":
        return len(part.plain)
    if part.tag not in (*_MANY, *_MAPS):
        raise UndecidableError("no size")
    return len(part.parts)


def _size(operands: Sequence[Value], _options: Mapping[str, Any]) -> bool:
    return bool(_length(operands[0]) == held_by(operands[1]).plain)


def _ordered(decide: Callable[[Any, Any], bool]) -> Decider:
    def decided(operands: Sequence[Value], options: Mapping[str, Any]) -> bool:
        numbers = _numbers(operands)
        if numbers is None or not _are_taken(operands, options):
            raise UndecidableError("not numbers, or not of types that go together")
        return decide(*(map(_place, numbers) if options.get("total") else numbers))

    return decided


def _are_taken(operands: Sequence[Value], options: Mapping[str, Any]) -> bool:
    """Whether a method of numbers takes others beside its first: of the same class, or by `widening`."""
    value, *others = operands
    if options.get("boxed"):
        return all(held_by(other).kind == held_by(value).kind for other in others)
    return options.get("promotes") != "widening" or all(_widens(value, other) for other in others)


def _place(number: Any) -> tuple[bool, Any, bool]:
    """What orders numbers as `compareTo` does: NaN is the last, and -0.0 comes before 0.0."""
    is_nan = math.isnan(number)
    return is_nan, 0 if is_nan else number, repr(number) != "-0.0"


def _kind(operands: Sequence[Value], options: Mapping[str, Any]) -> bool:
    """Whether an exception is of one of some classes; with `exact`, of no class below them."""
    error, *kinds = operands
    if not error.chain:
        raise UndecidableError("not an exception")
    if not _is_one_class(error.chain):
        raise UndecidableError("of more than one class")
    names = error.chain[:1] if options.get("exact") else error.chain
    if any(held_by(kind).tag == "K" and held_by(kind).kind in names for kind in kinds):
        return True
    if options.get("not") and not all(held_by(kind).kind in (*_BASES, *error.chain) for kind in kinds):
        raise UndecidableError("it may be an interface")
    return False


def _message(operands: Sequence[Value], options: Mapping[str, Any]) -> bool:
    error, *texts = operands
    if not error.chain:
        raise UndecidableError("not an exception")
    message = Value(primitive=False, part=Part(tag="s", kind="", plain=held_by(error).plain))
    if held_by(error).plain is None:
        return options["by"] == "equals" and texts[0].part is None
    return {"equals": _equals, "contains": _contains, "starts": _DECIDES["java.starts"], "ends": _DECIDES["java.ends"]}[
        options["by"]
    ]([message, *texts], {})


def _chain(operands: Sequence[Value], options: Mapping[str, Any]) -> bool:
    """Several that hold of the first operand, or with `any` one of them; each takes some of the others."""
    value, *rest = operands
    holding: list[bool] = []
    for part in options["parts"]:
        own, rest = rest[: part["count"]], rest[part["count"] :]
        holding.append(OPERATORS[part["op"]]([value, *own], part["options"]))
    return bool(holding) and (any if options.get("any") else all)(holding) and not rest


def _is_one_class(names: Sequence[str]) -> bool:
    """Whether Java's own classes in an exception's chain are one class and its bases: one of every class is of none."""
    own = [name for name in names if name.startswith(_OWN)]
    known = [name in _BASES for name in own]
    return (
        own[-1:] == ["java.lang.Throwable"]
        and known.count(False) <= _MOST_UNKNOWN
        and known[:-1] == sorted(known[:-1])
        and all(_BASES.get(name, base) == base for name, base in itertools.pairwise(own))
    )


_OWN = ("java.", "javax.")
_MOST_UNKNOWN = 3
"""Of Java's own classes, which are not all in `_BASES`; the last of these is Throwable."""
_DERIVED = {
    "java.lang.Throwable": "java.lang.Exception java.lang.Error",
    "java.lang.Error": "java.lang.AssertionError java.lang.LinkageError java.lang.VirtualMachineError",
    "java.lang.VirtualMachineError": "java.lang.StackOverflowError java.lang.OutOfMemoryError",
    "java.lang.Exception": (
        "java.lang.RuntimeException java.io.IOException java.lang.CloneNotSupportedException"
        " java.lang.InterruptedException java.lang.ReflectiveOperationException java.net.URISyntaxException"
        " java.util.concurrent.TimeoutException java.util.concurrent.ExecutionException java.text.ParseException"
        " java.security.GeneralSecurityException java.sql.SQLException"
    ),
    "java.lang.ReflectiveOperationException": (
        "java.lang.ClassNotFoundException java.lang.InstantiationException java.lang.IllegalAccessException"
        " java.lang.NoSuchFieldException java.lang.NoSuchMethodException java.lang.reflect.InvocationTargetException"
    ),
    "java.io.IOException": (
        "java.io.FileNotFoundException java.io.EOFException java.io.UnsupportedEncodingException"
        " java.net.MalformedURLException java.net.UnknownHostException java.net.SocketException"
        " java.nio.file.FileSystemException java.nio.charset.CharacterCodingException"
    ),
    "java.nio.file.FileSystemException": (
        "java.nio.file.NoSuchFileException java.nio.file.FileAlreadyExistsException java.nio.file.AccessDeniedException"
    ),
    "java.lang.RuntimeException": (
        "java.lang.IllegalArgumentException java.lang.IllegalStateException java.lang.NullPointerException"
        " java.lang.IndexOutOfBoundsException java.lang.ArithmeticException java.lang.ClassCastException"
        " java.lang.UnsupportedOperationException java.lang.NegativeArraySizeException java.lang.ArrayStoreException"
        " java.lang.SecurityException java.util.NoSuchElementException java.util.ConcurrentModificationException"
        " java.util.EmptyStackException java.util.MissingResourceException java.io.UncheckedIOException"
        " java.time.DateTimeException"
    ),
    "java.lang.IllegalArgumentException": (
        "java.lang.NumberFormatException java.util.regex.PatternSyntaxException java.util.IllegalFormatException"
        " java.nio.charset.IllegalCharsetNameException java.nio.charset.UnsupportedCharsetException"
        " java.nio.file.InvalidPathException"
    ),
    "java.lang.IllegalStateException": "java.util.concurrent.CancellationException",
    "java.lang.IndexOutOfBoundsException": (
        "java.lang.ArrayIndexOutOfBoundsException java.lang.StringIndexOutOfBoundsException"
    ),
    "java.util.NoSuchElementException": "java.util.InputMismatchException",
    "java.time.DateTimeException": "java.time.format.DateTimeParseException",
}
_BASES = {name: base for base, names in _DERIVED.items() for name in names.split()}
"""By common classes of Java's exceptions: what they derive from."""


def _unless_refused(decides: Decider) -> Decider:
    """As an operator decides, but for null and kinds of values that a library's method does not take."""

    def decided(operands: Sequence[Value], options: Mapping[str, Any]) -> bool:
        part = operands[0].part
        if part is None and options.get("null") is False:
            return False
        if part is not None and part.tag not in options.get("takes", part.tag):
            raise UndecidableError("nothing that it takes")
        return decides(operands, options)

    return decided


def _unless_odd(decides: Decider) -> Decider:
    """As an operator decides, where collections tell of themselves what is in them.

    Of an order that is not known only what is equal by all of it counts, not the contrary.
    """

    def decided(operands: Sequence[Value], options: Mapping[str, Any]) -> bool:
        value, *rest = (list(parts_of(operand.part)) for operand in operands)
        asked = value if decides is _equals else [part for part in value[:1] if part.tag in _ORDERED]
        others = [part for parts in rest for part in parts]
        if any(part.compares for part in (*asked, *(part for part in others if part.tag == "M"))):
            raise UndecidableError("a collection that tells otherwise than what is in it")
        holds = decides(operands, options)
        if not holds and any(part.tag in _ORDERED for part in (*value, *others)):
            raise UndecidableError("what its order takes for equal")
        return holds

    return decided


_DECIDES: Mapping[str, Decider] = {
    "java.equals": _unless_odd(_equals),
    "java.same": _same,
    "java.near": _near,
    "java.arrays": _arrays,
    "java.items": _in_order,
    "java.truth": truth,
    "java.null": lambda operands, _options: operands[0].part is None,
    "java.contains": _unless_odd(_contains),
    "java.starts": compared(_text, str.startswith),
    "java.ends": compared(_text, str.endswith),
    "java.size": _size,
    "java.empty": lambda operands, _options: _length(operands[0]) == 0,
    "java.<": _ordered(operator.lt),
    "java.<=": _ordered(operator.le),
    "java.>": _ordered(operator.gt),
    "java.>=": _ordered(operator.ge),
    "java.entry": _unless_odd(_entries),
    "java.among": _unless_odd(_among),
    "java.number": _of_kind_of_number,
    "java.matches": _matches,
    "java.kind": _kind,
    "java.message": _message,
    "java.chain": _chain,
    "java.raises": _chain,
}
EXACT = frozenset({"java.equals", "java.near", "java.arrays", "java.items", "java.among"})
"""Operators that no one value satisfies everywhere, if they are not negated."""
OPERATORS = negatable({op: _unless_refused(decides) for op, decides in _DECIDES.items()}, Value)
"""By name, of values of this language."""
