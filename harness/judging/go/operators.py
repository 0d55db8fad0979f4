"""How the host decides an assertion of Go: by what the test called, with Go's rules. Pure."""

from __future__ import annotations

import json
import math
import re
import struct
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from harness.judging.go.values import Value, is_plain
from harness.judging.parts import Decider, Part, UndecidableError, held_by, negatable, paired_off, parts_of, truth
from harness.judging.patterns import of_go
from harness.judging.search import matches

_MOST_STEPS = 1_000_000
"""Comparisons of parts at most for one assertion."""
_NUMBERS = ("i", "f", "c")
_TEXTS = ("s", "S")
_NEVER_NIL = ("b", "i", "f", "c", "s", "S", "t")
"""Of what Go does not compare with nothing, but in an interface."""
_INTEGER = re.compile(r"(u?)int(8|16|32|64)?")
_TWO = 2
_EXACT_TO = 1 << 24
"""Below this a whole number is the same in every type of numbers that is wide enough."""
_PANIC = "testing.goldseamPanic"
"""The type of what comes out where an operand panicked (harness/languages/go/inside/handout.go)."""
_ARRAY = re.compile(r"\[\d+\]")
_PACKAGE = re.compile(r"\b\w+\.")
_NAMED = re.compile(r"\w+\.\w+")


class _Comparison:
    """One deep comparison."""

    def __init__(
        self, options: Mapping[str, Any], *, nil_is_empty: bool = False, functions_are_alike: bool = False
    ) -> None:
        """With `nil_is_empty`, no slice or map differs from an empty one; functions of a type may be alike."""
        self._options = options
        self._nil_is_empty, self._functions_are_alike = nil_is_empty, functions_are_alike
        self._steps = 0

    def equal(self, left: Part | None, other: Part | None, *, typed: bool) -> bool:
        """Whether two values are alike; `typed` where an interface holds them, so that types are compared, too."""
        self._steps += 1
        if self._steps > _MOST_STEPS:
            raise UndecidableError("it takes too long")
        if left is None or other is None:
            return left is other
        tags = {left.tag, other.tag}
        if tags & {"F", "x"}:
            if "n" in tags:
                return False
            if self._functions_are_alike:
                return (left.tag, left.kind) == (other.tag, other.kind)
            raise UndecidableError("a function, or what has no form outside")
        if typed and not _is_one_type(left.kind, other.kind, self._options):
            return False
        if left.tag != other.tag:
            are_empty = not (left.parts or other.parts or left.plain or other.plain)
            return self._nil_is_empty and are_empty and tags in ({"n", "l"}, {"n", "m"}, {"n", "B"})
        return self._alike(left, other)

    def _alike(self, left: Part, other: Part) -> bool:
        """Whether two values of one kind are."""
        match left.tag:
            case "p" if left.kind == "*time.Location":
                return _are_one_zone(left.parts[0], other.parts[0])
            case "a" | "p":
                return self.equal(left.parts[0], other.parts[0], typed=left.tag == "a")
            case "l":
                return len(left.parts) == len(other.parts) and all(
                    self.equal(item, another, typed=False)
                    for item, another in zip(left.parts, other.parts, strict=True)
                )
            case "t":
                return self._fields(dict(left.parts), dict(other.parts))
            case "m":
                return self._pairs(left, other)
        return left.tag == "n" or bool(left.plain == other.plain)

    def _fields(self, left: Mapping[str, Part], other: Mapping[str, Part]) -> bool:
        return left.keys() == other.keys() and all(self.equal(left[name], other[name], typed=False) for name in left)

    def _pairs(self, left: Part, other: Part) -> bool:
        if len(left.parts) != len(other.parts):
            return False
        rest = list(other.parts)
        for key, value in left.parts:
            match = next((pair for pair in rest if self.equal(key, pair[0], typed=False)), None)
            if match is None or not self.equal(value, match[1], typed=False):
                return False
            rest.remove(match)
        return True


def _are_one_zone(left: Part | None, other: Part | None) -> bool:
    """Whether two time zones are alike by name, and by offset where both tell it."""
    fields = [dict(part.parts) if part is not None and part.tag == "t" else {"name": part} for part in (left, other)]
    name, another = (getattr(zone.get("name"), "plain", None) for zone in fields)
    offset, its = (getattr(zone.get("offset"), "plain", None) for zone in fields)
    return bool(name == another and (offset == its or offset is None or its is None))


def _is_one_type(kind: str, other: str, options: Mapping[str, Any]) -> bool:
    """Whether two names are of one type, as far as names tell.

    Those of one package may be of one by an alias, as may one that is in two, if a patch moved it. But those that the
    fix declares as types of their own (`apart`) are two, and so are all where both sides come out (`apart` is true).
    """
    apart = options.get("apart", ())
    if apart is True or kind == other:
        return kind == other
    names, others = (frozenset(_NAMED.findall(name)) for name in (kind, other))
    if apart and all(not part.isdisjoint(apart) for part in (names - others, others - names)):
        return False
    package, dot, _ = kind.rpartition(".")
    own, its = (_PACKAGE.sub("", name) for name in (kind, other))
    is_moved = own == its and kind != own and other != its
    return kind == other or (bool(dot) and package == other.rpartition(".")[0]) or is_moved


def _deep(left: Value, other: Value, options: Mapping[str, Any]) -> bool:
    """`reflect.DeepEqual`, which is given both as interfaces."""
    return _Comparison(options).equal(left.part, other.part, typed=True)


def _deep_or_constant(operands: list[Value], options: Mapping[str, Any]) -> bool:
    """The same, where an untyped constant may have taken the other's type."""
    left, other = operands
    if 0 in options.get("untyped", ()) or 1 in options.get("untyped", ()):
        return _equal(left, other, options)
    return _two(_deep)(operands, options)


def _items_alike(left: Value, other: Value, options: Mapping[str, Any]) -> bool:
    """As `bytes.Equal` and `slices.Equal`: item by item, and none is as empty."""
    for side in (left.part, other.part):
        if any(_is_by_identity(part) for part in parts_of(side) if part is not side):
            raise UndecidableError("it depends on which object is in it")
    lists = [part for part in (left.part, other.part) if part is not None and part.tag in ("l", "B")]
    if any(map(_ARRAY.match, (part.kind for part in lists))):
        raise UndecidableError("an array")
    for item, another in zip(*(part.parts for part in lists), strict=False) if len(lists) == _TWO else ():
        if item is not None and another is not None:
            _check_types(item, another, {**options, "types": "=="})
    return _Comparison(options, nil_is_empty=True).equal(left.part, other.part, typed=False)


def _cmp(operands: list[Value], options: Mapping[str, Any]) -> bool:
    """As `cmp.Equal` without options, or with `EquateEmpty`, as far as it runs no code of the product."""
    one, another = (_at_instants(value.part) for value in operands)
    if all(any(part.compares for part in parts_of(side)) for side in (one, another)):
        raise UndecidableError("a method of its own compares it")
    for side in (one, another):
        for part in parts_of(side):
            if (
                part.tag == "t"
                and part.kind != "time.Time"
                and any(name[:1].islower() or name[:1] == "_" for name, _ in part.parts)
            ):
                raise UndecidableError("fields that only methods of the product can compare")
            if part.tag == "t" and part.plain and part.kind != "time.Time":
                raise UndecidableError("a method of its own compares it")
        if not is_plain(side):
            raise UndecidableError("what has no form outside")
    return _Comparison(options, nil_is_empty=bool(options.get("empty"))).equal(one, another, typed=True)


def _at_instants(part: Any) -> Any:
    """A value whose times are in no zone: their own method compares them so."""
    if isinstance(part, tuple):
        return tuple(map(_at_instants, part))
    if not isinstance(part, Part):
        return part
    is_time = (part.tag, part.kind) == ("t", "time.Time")
    return replace(part, parts=_at_instants(tuple(one for one in part.parts if not is_time or one[0] != "loc")))


def _equal(left: Value, other: Value, options: Mapping[str, Any]) -> bool:
    """`==`."""
    if left.is_nil or other.is_nil:
        if any(
            not side.held and side.text is None and side.part.tag in _NEVER_NIL for side in (left, other) if side.part
        ):
            raise UndecidableError("it can't be nil")
        return left.is_nil and other.is_nil
    untyped = options.get("untyped", ())
    if 0 in untyped or 1 in untyped:
        value, constant = (other, left) if 0 in untyped else (left, other)
        return _equals_constant(value, constant)
    item, another = left.part, other.part
    if item is None or another is None:
        return item is another
    if _known(item) and _known(another):
        return _known(item) == _known(another)
    if (_known(item) or _known(another)) and not _Comparison(options).equal(item, another, typed=True):
        return False
    if left.held or other.held:
        return item.kind == another.kind and _comparable(item, another, options)
    _check_types(item, another, options)
    return _comparable(item, another, options)


def _check_types(left: Part, other: Part, options: Mapping[str, Any]) -> None:
    """Raise `UndecidableError` for what does not compile: two types where Go asks for one.

    By `kinds` a type of a package is of any kind, as outside nobody can tell.
    """
    how, kinds = options.get("types"), (left.kind, other.kind)
    is_either = any("." in kind for kind in kinds) if how == "kinds" else bool(options.get("untyped"))
    if how and not is_either and not _is_one_type(*kinds, options):
        raise UndecidableError("they are of two types")


def _check_range(value: Value, constant: Value) -> None:
    """Raise `UndecidableError` for what does not compile: a constant that is no value of an integer's type."""
    part, fixed = value.part, constant.part
    if value.held or part is None or part.tag != "i" or fixed is None or fixed.tag not in ("i", "f"):
        return
    form = _INTEGER.fullmatch(part.kind)
    bits = int(form[2] or 64) if form else 64
    least, most = (0, 1 << bits) if form and form[1] else (-1 << (bits - 1), 1 << (bits if form is None else bits - 1))
    if not least <= fixed.plain < most or fixed.plain != int(fixed.plain):
        raise UndecidableError("a constant of another type")


def _comparable(left: Part, other: Part, options: Mapping[str, Any]) -> bool:
    """`==` of two values of one type: pointers and channels are the same only if they are one."""
    if any(_is_by_identity(item) for part in (left, other) for item in parts_of(part)):
        raise UndecidableError("it depends on which object it is")
    return _Comparison(options).equal(left, other, typed=False)


def _is_by_identity(part: Part) -> bool:
    """Whether `==` asks of a value which object it is, or may not be asked."""
    return part.tag in ("p", "r", "F", "x", "m") or (part.tag in ("l", "B") and part.kind.startswith("[]"))


def _equals_constant(value: Value, constant: Value) -> bool:
    """Whether a value is a constant, which takes the value's type; in an interface it has its own."""
    part, fixed = value.part, constant.part
    _check_range(value, constant)
    if part is None or fixed is None or (value.held and part.kind != fixed.kind):
        return False
    if part.tag in _NUMBERS and fixed.tag in _NUMBERS:
        if part.kind == "float32":
            return _as_single(part.plain) == _as_single(float(fixed.plain))
        return bool(part.plain == fixed.plain)
    return part.tag in (fixed.tag, "S") and bool(part.plain == fixed.plain)


def _as_single(number: float) -> float:
    try:
        return float(struct.unpack("f", struct.pack("f", number))[0])
    except OverflowError:
        return number


def _ordered(decide: Callable[[Any, Any], bool]) -> Decider:
    def decided(operands: list[Value], options: Mapping[str, Any]) -> bool:
        left, other = map(held_by, operands)
        _check_types(left, other, options)
        for place in options.get("untyped", ()):
            _check_range(operands[1 - place], operands[place])
        if left.tag in ("i", "f") and other.tag in ("i", "f"):
            return decide(left.plain, other.plain)
        if left.tag in _TEXTS and other.tag in _TEXTS:
            return decide(_bytes(left), _bytes(other))
        raise UndecidableError("neither numbers nor texts")

    return decided


def _bytes(part: Part) -> bytes:
    """A text or bytes."""
    if part.tag in _TEXTS and isinstance(part.plain, str):
        return part.plain.encode("utf-8", "surrogatepass")
    if part.tag in ("S", "B"):
        return bytes(part.plain)
    if part.tag == "n":
        return b""
    raise UndecidableError("not a text")


def _text(value: Value) -> bytes:
    return _bytes(held_by(value))


def _compared_texts(decide: Callable[[bytes, bytes], bool]) -> Decider:
    """How two texts compare; of functions of `strings` both have to be of that type alone."""

    def decided(operands: list[Value], options: Mapping[str, Any]) -> bool:
        if options.get("types") and any(held_by(operand).kind != "string" for operand in operands):
            raise UndecidableError("not of type string")
        return decide(*map(_text, operands))

    return decided


def _matches(operands: list[Value], options: Mapping[str, Any]) -> bool:
    """Whether a regular expression is found in a text, or in what an error says; `whole` where it is all of it."""
    value, pattern = reversed(operands) if options.get("first") == "pattern" else operands
    if options.get("whole") and value.text is not None:
        raise UndecidableError("an error, which is no text")
    texts = [_said(value), _said(pattern)]
    found = of_go(texts[1], whole=bool(options.get("whole")))
    if found.flags & re.IGNORECASE and not texts[0].isascii():
        raise UndecidableError("letters that the two languages fold otherwise")
    return matches(found, texts[0])


def _said(value: Value) -> str:
    """A text of Go's own type, or what an error says: no method of another tells how it is shown."""
    part = value.part
    if value.text is None and (part is None or (part.tag, part.kind) != ("s", "string")):
        raise UndecidableError("not of type string")
    return value.text if value.text is not None else str(held_by(value).plain)


def _truth(operands: list[Value], options: Mapping[str, Any]) -> bool:
    """Whether a boolean is true; where a function takes one, no other type of it compiles."""
    part = held_by(operands[0])
    if options.get("types") and (operands[0].held or part.kind != "bool"):
        raise UndecidableError("not of type bool")
    return truth(operands, options)


def _nil(operands: list[Value], options: Mapping[str, Any]) -> bool:
    """As testify's `Nil`: nothing, or a pointer, slice, map or function that is none.

    Or `by` Go's own `==`, or as quicktest has it, for which an error that holds such a pointer is something.
    """
    (value,) = operands
    if options.get("by") == "==":
        return value.is_nil
    if options.get("by") == "error" and value.part is not None and (value.held or value.text is not None):
        if value.part.tag == "n":
            raise UndecidableError("it may be an error")
        return False
    return value.part is None or value.part.tag == "n"


def _is_empty(part: Part | None) -> bool:
    """As testify's `Empty`."""
    if part is None or part.tag == "n":
        return True
    if part.tag == "p":
        return _is_empty(part.parts[0])
    if part.tag == "x" and "chan " in part.kind:
        raise UndecidableError("what is in a channel does not come out")
    if part.tag in ("F", "x", "r"):
        return False
    if part.tag == "t":
        return not part.parts
    if part.tag in ("l", "B") and not part.kind.startswith("[]"):
        return _is_zero_array(part, is_zero_as_slice=not part.parts and not part.plain)
    return not part.parts and not part.plain


def _is_zero_array(part: Part, *, is_zero_as_slice: bool) -> bool:
    """Whether an array is the zero value of its type; of a type with a name it may be a slice."""
    is_zero = all(map(_is_zero, part.parts)) and not any(part.plain or ())
    if is_zero is not is_zero_as_slice and not _ARRAY.match(part.kind):
        raise UndecidableError("an array, or a slice")
    return is_zero


def _is_zero(part: Part | None) -> bool:
    """As testify's `Zero`: nothing, or the zero value of its type."""
    match part.tag if part is not None else "n":
        case "n":
            return True
        case "l" | "B" if part is not None and not part.kind.startswith("[]"):
            return _is_zero_array(part, is_zero_as_slice=False)
        case "t":
            return not (part and part.parts)
        case "b" | "i" | "f" | "c" | "s":
            return not (part and part.plain)
    return False


def _zero(operands: list[Value], options: Mapping[str, Any]) -> bool:
    """As testify's `Zero`, or `by` the type that the compiler sees, for which nothing in a list or map is as well."""
    (value,) = operands
    if options.get("by") == "type" and value.part is not None:
        is_empty = value.part.tag in ("l", "m", "B") and not value.part.parts and not value.part.plain
        if is_empty or value.held:
            return is_empty
    return _is_zero(value.part)


def _type(operands: list[Value], _options: Mapping[str, Any]) -> bool:
    """Whether two interfaces hold values of one type."""
    left, other = (operand.part for operand in operands)
    return left is other if left is None or other is None else left.kind == other.kind


def _is(operands: list[Value], options: Mapping[str, Any]) -> bool:
    """As `errors.Is`, of an error and what it wraps: whether one of these is alike, and its answer if that is told."""
    chain, target, *answer = operands
    links = held_by(chain).parts
    if target.is_nil or not links:
        return target.is_nil and not links
    if answer and (options.get("not") or not truth(answer, options)):
        return truth(answer, options)
    comparison = _Comparison(options, functions_are_alike=True)
    known = _known(target.part)
    return any(
        comparison.equal(_unwrapped(link), target.part, typed=True) and known in (None, _known(_unwrapped(link)))
        for link in links
    )


def _known(part: Part | None) -> str | None:
    """The name of an error of Go's own that a value is."""
    return part.plain if part is not None and part.tag == "p" else None


def _length(operands: list[Value], _options: Mapping[str, Any]) -> bool:
    value, length = (held_by(operand) for operand in operands)
    if value.tag in ("l", "m"):
        return bool(len(value.parts) == length.plain)
    if value.tag == "n" and value.kind.startswith(("*", "func(")):
        raise UndecidableError("it has no length")
    return bool(len(_bytes(value)) == length.plain)


def _in(operands: list[Value], options: Mapping[str, Any]) -> bool:
    """As testify's `Contains`: a text in a text, an item of a list, a key of a map."""
    container, item = held_by(operands[0]), operands[1].part
    if container.tag in _TEXTS:
        if held_by(operands[1]).tag not in _TEXTS:
            raise UndecidableError("not a text")
        return _text(operands[1]) in _bytes(container)
    if container.tag == "m":
        keys = [key for key, _ in container.parts]
        return any(_Comparison(options).equal(_unwrapped(key), item, typed=True) for key in keys)
    if container.tag == "l":
        return any(_Comparison(options).equal(_unwrapped(member), item, typed=True) for member in container.parts)
    raise UndecidableError("not a container")


def _unwrapped(part: Part | None) -> Part | None:
    return part.parts[0] if part is not None and part.tag == "a" else part


def _elements(operands: list[Value], options: Mapping[str, Any]) -> bool:
    """As testify's `ElementsMatch`."""
    if all(_is_empty(operand.part) for operand in operands):
        return True
    left, other = (held_by(operand) for operand in operands)
    if left.tag != "l" or other.tag != "l" or len(left.parts) != len(other.parts):
        return False
    comparison = _Comparison(options)

    def alike(item: Part | None, mate: Part | None) -> bool:
        return comparison.equal(_unwrapped(item), _unwrapped(mate), typed=True)

    return paired_off(left.parts, other.parts, alike)


def _values(operands: list[Value], options: Mapping[str, Any]) -> bool:
    """As testify's `EqualValues`: alike, or numbers and texts of one value."""
    left, other = operands
    if left.part is None or other.part is None:
        return left.part is other.part
    if _deep(left, other, options):
        return True
    if left.part.tag == other.part.tag and left.part.tag in ("i", "s", "S", "b"):
        return bool(left.part.plain == other.part.plain)
    numbers = (left.part.plain, other.part.plain)
    if {left.part.tag, other.part.tag} == {"i", "f"} and all(
        abs(one) < _EXACT_TO and one == int(one) for one in numbers
    ):
        return bool(numbers[0] == numbers[1])
    raise UndecidableError("they would have to be converted")


def _is_named(part: Part) -> bool:
    """Whether a number is of a type of its own, which testify does not take for one."""
    return "." in part.kind and part.kind != "time.Duration"


def _near(operands: list[Value], _options: Mapping[str, Any]) -> bool:
    left, other, delta = (held_by(operand) for operand in operands)
    sides = (left, other)
    if not all(part.tag in ("i", "f") for part in (*sides, delta)) or any(map(_is_named, sides)):
        raise UndecidableError("not numbers of Go's own types")
    number, another, most = (
        _as_single(float(part.plain)) if part.kind == "float32" else float(part.plain) for part in (*sides, delta)
    )
    if math.isnan(number) or math.isnan(another):
        return math.isnan(number) and math.isnan(another)
    return not (number - another < -most or number - another > most)


def _json(operands: list[Value], _options: Mapping[str, Any]) -> bool:
    left, other = map(_json_form, operands)
    return left == other


def _json_form(operand: Value) -> str:
    """A text of JSON in the one form that all have that are alike: numbers are floats, as Go reads them."""

    def number(digits: str) -> float:
        return float(digits) + 0.0  # so that -0 is 0

    part = held_by(operand)
    if (part.tag, part.kind) != ("s", "string"):
        raise UndecidableError("not of type string")
    form = json.loads(str(part.plain), parse_int=number, parse_float=number, parse_constant=_no_number)
    return json.dumps(form, sort_keys=True)


def _no_number(word: str) -> float:
    raise UndecidableError(f"{word} is no number of JSON")


def _output(operands: list[Value], options: Mapping[str, Any]) -> bool:
    """As an example's output: without blanks around it, and in order where it does not say otherwise."""
    printed, constant = (_text(operand).strip() for operand in operands)
    if options.get("unordered"):
        return sorted(printed.split(b"\n")) == sorted(constant.split(b"\n"))
    return printed == constant


def _panics(operands: list[Value], options: Mapping[str, Any]) -> bool:
    reason, *constant = operands
    if options.get("by") == "text":
        return all(reason.text is not None and reason.text.encode() == _text(item) for item in constant)
    return all(_deep(reason, item, options) for item in constant)


def _of(operands: list[Value], options: Mapping[str, Any]) -> bool:
    """Several that hold together (`all`), or of which one does: asked in order, until one settles it."""
    rest, is_all = list(operands), bool(options["of"] == "all")
    for part in options["parts"]:
        operands_of_part, rest = rest[: part["count"]], rest[part["count"] :]
        if "parts" not in part["options"] and any(map(_has_panicked, operands_of_part)):
            raise UndecidableError("it ends in a panic")
        how = {**part["options"], "apart": options.get("apart", ())}
        if OPERATORS[part["op"]](operands_of_part, how) is not is_all:
            return not is_all
    return is_all


def _has_panicked(operand: Value) -> bool:
    """Whether a part that is asked after others could not be had."""
    return operand.part is not None and operand.part.kind == _PANIC


def _two(decide: Callable[[Value, Value, Mapping[str, Any]], bool]) -> Decider:
    def decided(operands: list[Value], options: Mapping[str, Any]) -> bool:
        left, other = operands
        if not is_plain(left.part) or not is_plain(other.part):
            raise UndecidableError("what has no form outside")
        return decide(left, other, options)

    return decided


_DECIDES: Mapping[str, Decider] = {
    "go.==": lambda operands, options: _equal(operands[0], operands[1], options),
    "go.<": _ordered(lambda left, other: left < other),
    "go.>": _ordered(lambda left, other: left > other),
    "go.deep": _deep_or_constant,
    "go.same": _two(_items_alike),
    "go.cmp": _cmp,
    "go.is": _is,
    "go.type": _type,
    "go.zero": _zero,
    "go.contains": _compared_texts(bytes.__contains__),
    "go.prefix": _compared_texts(bytes.startswith),
    "go.suffix": _compared_texts(bytes.endswith),
    "go.matches": _matches,
    "go.truth": _truth,
    "go.nil": _nil,
    "go.empty": lambda operands, _options: _is_empty(operands[0].part),
    "go.len": _length,
    "go.in": _in,
    "go.elements": _elements,
    "go.values": _values,
    "go.near": _near,
    "go.json": _json,
    "go.output": _output,
    "go.panics": _panics,
    "go.of": _of,
}
EXACT = frozenset(
    {"go.==", "go.deep", "go.same", "go.cmp", "go.values", "go.elements", "go.near", "go.json", "go.output", "go.is"}
)
"""Operators that no one value satisfies everywhere, if they are not negated."""
OPERATORS = negatable(_DECIDES, Value)
"""By name, of values of this language."""
