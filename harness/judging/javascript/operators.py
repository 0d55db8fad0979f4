"""How the host decides an assertion of JavaScript: by the operator that the test had, with JavaScript's rules. Pure."""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from typing import Any

from harness.judging.javascript.lint import reported
from harness.judging.javascript.pretty import as_written, forms, text_of_error
from harness.judging.javascript.values import (
    HOLE,
    UNDEFINED,
    Cycle,
    Matcher,
    Missing,
    Object,
    Opaque,
    Symbol,
    is_partial,
    is_plain,
    parts_of,
)
from harness.judging.parts import Decider, UndecidableError, negatable, of_one, of_two, paired_off
from harness.judging.patterns import of_javascript
from harness.judging.search import matches

_MOST_STEPS = 1_000_000
"""Comparisons of parts at most for one assertion."""
_STANDARD_ERRORS = frozenset(
    {"EvalError", "RangeError", "ReferenceError", "SyntaxError", "TypeError", "URIError", "AggregateError"}
)
_SPACE = "\t\n\v\f\r \u00a0\u1680\u2028\u2029\u202f\u205f\u3000\ufeff" + "".join(map(chr, range(0x2000, 0x200B)))
_DECIMAL = re.compile(r"[+-]?(?:(?:\d++\.?\d*+|\.\d++)(?:[eE][+-]?\d++)?|Infinity)")
_RADIX = {"0x": 16, "0o": 8, "0b": 2}


def same_value(left: object, other: object) -> bool:
    """`Object.is` of two values of which one is no object.

    Raises:
        UndecidableError: both are objects, so that it depends on which.

    """
    if isinstance(left, Object | Opaque | Cycle) and isinstance(other, Object | Opaque | Cycle):
        raise UndecidableError("two objects")
    if isinstance(left, float) and isinstance(other, float):
        if math.isnan(left) or math.isnan(other):
            return math.isnan(left) and math.isnan(other)
        return left == other and math.copysign(1, left) == math.copysign(1, other)
    return type(left) is type(other) and left == other


def strictly_equal(left: object, other: object) -> bool:
    """`===`, under the same conditions as `same_value`."""
    if isinstance(left, float) and isinstance(other, float):
        return left == other
    return same_value(left, other)


def loosely_equal(left: object, other: object) -> bool:
    """`==`, or both NaN, as `assert.equal` has it."""
    empty = (None, UNDEFINED)
    if left in empty or other in empty:
        return left in empty and other in empty
    objects = [isinstance(value, Object | Opaque | Cycle) for value in (left, other)]
    if any(objects) and not all(objects):
        raise UndecidableError("an object and a value that is none")
    if type(left) is type(other):
        return strictly_equal(left, other) or same_value(left, other)
    if isinstance(left, Symbol) or isinstance(other, Symbol):
        return False
    numbers = [_number(value) for value in (left, other)]
    return bool(numbers[0] == numbers[1])


def _number(value: object) -> Any:
    if isinstance(value, str):
        return _number_of_text(value.strip(_SPACE))
    return value


def _number_of_text(text: str) -> float:
    if not text:
        return 0.0
    radix = _RADIX.get(text[:2].lower())
    if radix is not None:
        digits = text[2:].lower()
        return float(int(digits, radix)) if re.fullmatch(r"[0-9a-f]+", digits) else math.nan
    return float(text) if _DECIMAL.fullmatch(text) else math.nan


def truthy(value: object) -> bool:
    """Whether a value counts as true."""
    if isinstance(value, float) and math.isnan(value):
        return False
    return not (value is None or isinstance(value, Missing) or value in ("", 0))


@dataclass(kw_only=True)
class _Comparison:
    """One deep comparison, by the rules of one function."""

    primitives: Callable[[object, object], bool]
    classes: bool = False
    """Whether objects have to be of one class."""
    named: tuple[str, ...] = ("T", "B")
    """Kinds of objects that have to be of one class in any case."""
    undefined: bool = True
    """Whether a property that is undefined differs from none, and a hole from undefined."""
    nameless: bool = False
    """Whether arrays and the like are of no class, and an object without a prototype counts as one of `Object`."""
    ordered: bool = False
    """Whether the members of sets and maps have to come in the same order."""
    enumerated: bool = False
    """Whether what prototypes have counts where a loop over names finds it."""
    places: bool = False
    """Whether it counts where a regular expression searches next."""
    buffers: bool = False
    """Whether a `Buffer` counts as the `Uint8Array` that it is."""
    maps: bool = True
    """Whether maps are compared at all: some libraries look their keys up."""
    errors: bool = True
    """Whether errors are compared at all: versions of jest and vitest differ in what of them counts."""
    takes_matchers: bool = False
    """Whether `other` may have what takes more than one value."""
    lenient: bool = False
    """Whether only what differs for every library counts: no classes, no symbols, no end of what is undefined."""
    steps: int = 0

    def equal(self, left: object, other: object) -> bool:
        self.steps += 1
        if self.steps > _MOST_STEPS:
            raise UndecidableError("it takes too long")
        if isinstance(left, Matcher):
            raise UndecidableError("what takes more than one value, on the other side")
        if isinstance(other, Matcher):
            return self._takes(other, UNDEFINED if left is HOLE else left)
        if not self.undefined:
            left, other = (UNDEFINED if value is HOLE else value for value in (left, other))
        if isinstance(left, Opaque) or isinstance(other, Opaque):
            raise UndecidableError("an object without a plain form")
        if isinstance(left, Cycle) or isinstance(other, Cycle):
            return left == other
        if isinstance(left, Object) and isinstance(other, Object):
            return self._alike(left, other) if self.lenient else self._objects(left, other)
        if isinstance(left, Object) or isinstance(other, Object):
            if any(isinstance(value, Object) and value.tag == "B" for value in (left, other)):
                raise UndecidableError("a boxed value")
            return False
        return self._primitives(left, other)

    def _primitives(self, left: object, other: object) -> bool:
        if isinstance(left, Missing) and isinstance(other, Missing):
            return left is other
        return self.primitives(left, other)

    def _takes(self, matcher: Matcher, value: object) -> bool:
        if not self.takes_matchers:
            raise UndecidableError("what takes more than one value, of another library")
        if matcher.inverse and (value is UNDEFINED or matcher.name not in ("StringContaining", "StringMatching")):
            raise UndecidableError("versions differ")
        match matcher.name, matcher.sample:
            case "Any", Opaque() as kind:
                return _is_any(kind, value)
            case "Anything", _:
                return value is not None and value is not UNDEFINED
            case "StringContaining" | "StringMatching", _ if isinstance(value, Object) and value.tag == "B":
                raise UndecidableError("a boxed text")
            case "StringContaining", str() as part:
                return (isinstance(value, str) and part in value) is not matcher.inverse
            case "StringMatching", Object() as pattern:
                return (isinstance(value, str) and _searched(pattern, value)) is not matcher.inverse
            case "CloseTo", float() as near:
                return isinstance(value, float) and _close([value, near, matcher.precision], {})
            case "ArrayContaining" | "ObjectContaining" as name, Object() as sample:
                return self._contains(name, value, sample)
        raise UndecidableError("an unknown matcher")

    def _contains(self, name: str, value: object, sample: Object) -> bool:
        if isinstance(value, Opaque) or not (sample.items or sample.props):
            raise UndecidableError("an object without a plain form, or nothing to be contained")
        if (sample.tag == "O") is not (name == "ObjectContaining"):
            raise UndecidableError("an array for an object, or the other way round")
        if sample.tag == "O":
            return isinstance(value, Object) and self._contains_props(value, sample)
        is_array = isinstance(value, Object) and value.tag == "a"
        items = value.items if isinstance(value, Object) and is_array else ()
        return is_array and all(any(self.equal(item, part) for item in items) for part in sample.items)

    def _contains_props(self, value: Object, sample: Object) -> bool:
        if value.tag not in ("O", "E"):
            raise UndecidableError("properties of another kind of object")
        actual = dict(value.props)
        missing = [key for key, _ in sample.props if key not in actual]
        if missing and (value.tag == "E" or value.name not in ("Object", None) or value.hidden & {*missing}):
            raise UndecidableError("properties that may be inherited")
        return not missing and all(self.equal(actual[key], inner) for key, inner in sample.props)

    def _objects(self, left: Object, other: Object) -> bool:
        if left.tag != other.tag:
            return False
        names = {self._class_of(left), self._class_of(other)}
        is_classed = self.classes and (left.tag == "O" or not self.nameless)
        if len(names) > 1 and (is_classed or left.tag in self.named):
            return False
        if left.called != other.called or (self.enumerated and set(left.enumerated) != set(other.enumerated)):
            return False
        if left.tag == "M" and not self.maps:
            raise UndecidableError("maps")
        if left.tag == "E":
            return self._errors(left, other)
        if left.text != other.text or not self._parts(left, other):
            return False
        if not self._named(self._props(left), self._props(other)):
            return False
        if not self.undefined and any(_may_inherit(*pair) for pair in ((left, other), (other, left))):
            raise UndecidableError("a property that may be inherited")
        return True

    def _errors(self, left: Object, other: Object) -> bool:
        if not self.errors:
            raise UndecidableError("errors")
        if left.text != other.text or (self.classes and left.chain != other.chain):
            return False
        return self._named(left.more, other.more) and self._named(left.props, other.props)

    def _props(self, value: Object) -> Iterable[tuple[Any, Any]]:
        return value.props if value.tag != "R" or self.places else _without_place(value.props)

    def _alike(self, left: Object, other: Object) -> bool:
        """Whether two objects have the same in them, whatever else; of errors, their texts."""
        if left.tag != other.tag or left.text != other.text or left.tag == "E":
            return left.tag == other.tag and left.text == other.text
        if left.tag == "a":
            parts: Iterable[tuple[Any, Any]] = zip_longest(left.items, other.items, fillvalue=UNDEFINED)
            return all(self.equal(*pair) for pair in parts)
        if left.enumerated or other.enumerated:
            raise UndecidableError("properties that are inherited")
        is_same = self._parts(left, other)
        return is_same and (left.tag != "O" or self._named(_by_text(left.props), _by_text(other.props)))

    def _class_of(self, value: Object) -> str | None:
        if value.name is None and self.nameless:
            return "Object"
        return "Uint8Array" if self.buffers and (value.tag, value.name) == ("T", "Buffer") else value.name

    def _parts(self, left: Object, other: Object) -> bool:
        if len(left.items) != len(other.items):
            if left.tag == "a" and not self.undefined and not self._are_left_out(left, other):
                raise UndecidableError("versions differ")
            return False
        if left.tag == "S" and not self.ordered:
            return paired_off(left.items, other.items, self.equal)
        if left.tag == "M":
            if self.ordered:
                return all(self._pairs(*pair) for pair in zip(left.items, other.items, strict=True))
            return paired_off(left.items, other.items, self._pairs)
        if left.tag == "T":
            return left.items == other.items
        return all(map(self.equal, left.items, other.items))

    def _are_left_out(self, left: Object, other: Object) -> bool:
        """Whether the items that one array has more than another are something."""
        count = min(len(left.items), len(other.items))
        return any(item not in (UNDEFINED, HOLE) for item in (*left.items[count:], *other.items[count:]))

    def _pairs(self, one: Sequence[Any], two: Sequence[Any]) -> bool:
        return self.equal(one[0], two[0]) and self.equal(one[1], two[1])

    def _named(self, left: Iterable[tuple[Any, Any]], other: Iterable[tuple[Any, Any]]) -> bool:
        ours, theirs = dict(left), dict(other)
        if self.undefined and ours.keys() != theirs.keys():
            return False
        return all(
            self.equal(ours.get(key, UNDEFINED), theirs.get(key, UNDEFINED)) for key in dict.fromkeys((*ours, *theirs))
        )


def _by_text(props: Iterable[tuple[Any, Any]]) -> list[tuple[Any, Any]]:
    return [(key, value) for key, value in props if isinstance(key, str)]


def _without_place(props: Iterable[tuple[Any, Any]]) -> tuple[tuple[Any, Any], ...]:
    return tuple((key, value) for key, value in props if key != "lastIndex")


def _may_inherit(value: Object, other: Object) -> bool:
    """Whether an object of a class has no property of its own where another has one that is undefined."""
    is_plain = value.name in ("Object", None) and not value.enumerated
    return value.tag == "O" and not is_plain and not dict(other.props).keys() <= dict(value.props).keys()


def _is_any(kind: Opaque, value: object) -> bool:
    """As `expect.any`: by the kind of a value, and of an object that is no plain data not at all."""
    name = kind.chain[0] if kind.chain else ""
    if isinstance(value, Object) and value.tag == "B" and value.name == name:
        raise UndecidableError("versions differ")
    if name in _ANY_TYPES:
        return isinstance(value, _ANY_TYPES[name]) and isinstance(value, bool) is (name == "Boolean")
    if isinstance(value, Opaque):
        if value.why == "a function" and name in ("Function", "Object"):
            return name == "Function"
        raise UndecidableError("an object without a plain form")
    if name == "Object":
        return value is None or isinstance(value, Object | Cycle)
    return isinstance(value, Object) and name != "Function" and _is_of_class(value, kind, name)


def _is_of_class(value: Object, kind: Opaque, name: str) -> bool:
    if name in _ANY_TAGS:
        return value.tag == _ANY_TAGS[name]
    if name == "Error" or name in _STANDARD_ERRORS:
        return is_error_of(value, kind.chain)
    raise UndecidableError("an object of another kind")


_ANY_TYPES: Mapping[str, type] = {"Number": float, "String": str, "Boolean": bool, "BigInt": int, "Symbol": Symbol}
_ANY_TAGS = {"Array": "a", "Date": "D", "RegExp": "R", "Map": "M", "Set": "S"}
_DEEP: Mapping[str, Callable[[], _Comparison]] = {
    "strict": lambda: _Comparison(primitives=same_value, classes=True, places=True),
    "loose": lambda: _Comparison(primitives=loosely_equal, buffers=True, places=True),
    "jest": lambda: _Comparison(primitives=same_value, undefined=False, errors=False, named=("M", "S", "T", "B")),
    "jest strict": lambda: _Comparison(primitives=same_value, classes=True, errors=False),
    "chai": lambda: _Comparison(primitives=same_value, errors=False, enumerated=True, buffers=True),
    "tape": lambda: _Comparison(primitives=same_value, classes=True, errors=False, enumerated=True),
    "tap": lambda: _Comparison(primitives=loosely_equal, errors=False, places=True),
    "tap strict": lambda: _Comparison(primitives=_one_of_same, classes=True, errors=False, places=True),
    "ava": lambda: _Comparison(primitives=same_value, classes=True, ordered=True, errors=False),
    "uvu": lambda: _Comparison(primitives=_one_of_same, classes=True, errors=False, enumerated=True),
    "qunit": lambda: _Comparison(primitives=_one_of_same, classes=True, nameless=True, errors=False, enumerated=True),
    "jasmine": lambda: _Comparison(
        primitives=same_value, classes=True, nameless=True, named=("S", "T", "B"), maps=False, errors=False
    ),
    "should": lambda: _Comparison(primitives=_one_of_same, classes=True, errors=False, places=True),
    "expect.js": lambda: _Comparison(primitives=_loosely_there, errors=False, buffers=True),
    "code": lambda: _Comparison(primitives=same_value, maps=False, errors=False),
}


def _loosely_there(left: object, other: object) -> bool:
    """`==`, but of null and undefined, which are only what they are."""
    empty = (None, UNDEFINED)
    return left is other if left in empty or other in empty else loosely_equal(left, other)


def _one_of_same(left: object, other: object) -> bool:
    return strictly_equal(left, other) or same_value(left, other)


def deeply_equal(left: object, other: object, rules: str, *, takes_matchers: bool = False) -> bool:
    """Deep equality by the rules of one library's function.

    With `takes_matchers` the other value may have in it what takes more than one.

    Raises:
        UndecidableError: something opaque is in it.

    """
    if not is_plain(other) or not (is_plain(left) or is_partial(other)):
        raise UndecidableError("an object without a plain form")
    comparison = _DEEP[rules]()
    comparison.takes_matchers = takes_matchers
    return comparison.equal(left, other)


def is_error_of(error: object, classes: Sequence[str]) -> bool:
    """Whether an error is of a class, by name, and of no other standard class besides."""
    if not isinstance(error, Object) or error.tag != "E" or not classes:
        return False
    standard = [name for name in error.chain if name in _STANDARD_ERRORS or name == "Error"]
    if standard[-1:] != ["Error"] or len(standard) > 2 or standard.count("Error") > 1:  # noqa: PLR2004 - itself and Error
        return False
    of_kind = next((name for name in classes if name in _STANDARD_ERRORS), None)
    return bool(classes[0]) and classes[0] in error.chain and (of_kind is None or of_kind in standard)


def _searched(pattern: object, text: object) -> bool:
    if not isinstance(pattern, Object) or pattern.tag != "R" or not isinstance(text, str):
        raise UndecidableError("not a regular expression and a text")
    return matches(of_javascript(*pattern.text), text)


def _error(value: object) -> Object:
    """An error; raises UndecidableError of anything else."""
    if not isinstance(value, Object) or value.tag != "E":
        raise UndecidableError("not an error")
    return value


def _message(error: object) -> str:
    if isinstance(error, Object) and error.tag == "E":
        return error.text[1]
    message = dict(error.props).get("message") if isinstance(error, Object) and error.tag == "O" else None
    if isinstance(message, str):
        return message
    raise UndecidableError("not an error")


def _said(error: object) -> object:
    """The message of what is thrown, or itself."""
    if isinstance(error, Object):
        return error.text[1] if error.tag == "E" else dict(error.props).get("message")
    return error


def _raises(operands: list[Any], options: Mapping[str, Any]) -> bool:
    error, *expectations = operands
    if options.get("only") == "errors" and not (isinstance(error, Object) and error.tag == "E"):
        return False
    if options.get("only") == "truthy" and not truthy(error):
        raise UndecidableError("versions differ")
    if "unlike" in options and options["unlike"] == _said(error):
        return False  # Node takes it for a mistake
    if options.get("alike") and not all(_says_alike(error, expected, options["alike"]) for expected in expectations):
        raise UndecidableError("versions differ")
    by_message = options.get("by") == "message"
    decide = {"snapshot": _shows_error, "tap": _as_tap, "exact": _is_exactly}.get(str(options.get("by")))
    if decide is not None:
        return all(decide(error, expected) for expected in expectations)
    return all(_is_wanted(error, expected, by_message=by_message) for expected in expectations)


def _says_alike(error: object, expected: object, how: str) -> bool:
    """Whether an error has the cause of one that is expected; what is not to be alike otherwise, if not `whole`."""
    if not (isinstance(expected, Object) and expected.tag == "E"):
        return True
    if not (isinstance(error, Object) and error.tag == "E"):
        return how != "whole"
    if how == "whole":
        return deeply_equal(error, expected, "strict")
    cause, its = (Object(tag="O", props=each.more) for each in (error, expected))
    return deeply_equal(cause, its, "strict")


def _shows_error(error: object, expected: object) -> bool:
    """By its message as jest shows it, or all of it as vitest does."""
    if not isinstance(expected, str):
        raise UndecidableError("not a snapshot")
    texts = [*forms(_message(error)), *([f"[{text_of_error(error)}]"] if isinstance(error, Object) else [])]
    return as_written(expected) in map(str.strip, texts)


def _is_exactly(error: object, expected: object) -> bool:
    """As ava and jasmine: by all of its message, by its class, or by some of its fields."""
    error = _error(error)
    if isinstance(expected, Object) and expected.tag == "O":
        return all(_has_field(error, name, inner) for name, inner in expected.props)
    return _has_field(error, "instanceOf" if isinstance(expected, Opaque) else "message", expected)


def _has_field(error: Object, name: str, expected: object) -> bool:
    if name == "instanceOf" and isinstance(expected, Opaque) and expected.chain:
        return is_error_of(error, expected.chain)
    if name == "code":
        return same_value(dict(error.props).get("code", UNDEFINED), expected)
    text = {"name": error.text[0], "message": error.text[1]}.get(name)
    if text is None or not isinstance(expected, str | Object):
        raise UndecidableError("not known of an error")
    return _searched(expected, text) if isinstance(expected, Object) else text == expected


def _as_tap(error: object, expected: object) -> bool:
    """As tap's `throws`: a text only says what is tested, and of an error given the texts have to be in the other's."""
    if isinstance(expected, str):
        return True
    if isinstance(expected, Object) and expected.tag == "E" and not expected.props and not expected.more:
        return all(part in text for part, text in zip(expected.text, _error(error).text, strict=True))
    if isinstance(expected, Object) and expected.tag == "O":
        error = _error(error)
        actual = {"name": error.text[0], "message": error.text[1], **dict(error.props)}
        return all(
            key in actual and _matches_as_tap(actual[key], inner, is_text_part=True) for key, inner in expected.props
        )
    if isinstance(expected, Object) and expected.tag != "R":
        raise UndecidableError("an error that says more")
    return _is_wanted(error, expected, by_message=isinstance(expected, Object))


def _is_wanted(error: object, expected: object, *, by_message: bool) -> bool:
    if isinstance(expected, Opaque):
        if not expected.chain:
            raise UndecidableError("a function that checks errors")
        return is_error_of(error, expected.chain)
    if isinstance(expected, str) and by_message:
        return expected in _message(error)
    if not isinstance(expected, Object):
        return expected is UNDEFINED
    if expected.tag == "R":
        if by_message:
            return _searched(expected, _message(error))
        return _searched(expected, text_of_error(_error(error)))
    if by_message:
        return expected.tag == "E" and expected.text[1] == _message(error)
    return _has_fields(error, expected)


def _has_fields(error: object, expected: Object) -> bool:
    """As `assert.throws` with an object: each of its properties has to be that of the error."""
    error = _error(error)
    texts = {"name": error.text[0], "message": error.text[1]}
    actual = {**dict(error.inherited), **texts, **dict(error.more), **dict(error.props)}
    fields = dict(expected.props)
    if expected.tag == "E":
        fields |= {"name": expected.text[0], "message": expected.text[1], **dict(expected.more)}
    return all(
        _searched(value, actual[key])
        if isinstance(value, Object) and value.tag == "R" and isinstance(actual.get(key), str)
        else key in actual and deeply_equal(actual[key], value, "strict")
        for key, value in fields.items()
    )


def _contains(operands: list[Any], options: Mapping[str, Any]) -> bool:
    container, item = operands
    if options.get("by") == "jasmine":
        return _contains_in_jasmine(container, item)
    if options.get("by") == "array" and not (isinstance(container, str) or _is_array(container)):
        raise UndecidableError("neither a text nor an array")
    if isinstance(container, str) or options.get("by") == "text":
        if not isinstance(item, str) or not isinstance(container, str):
            raise UndecidableError("something else in a text, or a text in something else")
        return item in container
    is_nan = isinstance(item, float) and math.isnan(item)
    if is_nan and isinstance(container, Object) and container.tag == "S":
        raise UndecidableError("libraries differ")
    return any(strictly_equal(part, item) for part in _members(container))


def _contains_in_jasmine(container: object, item: object) -> bool:
    """As jasmine: an item of an array that equals, a member of a set that is the same, a part of a text."""
    if isinstance(container, str):
        if not isinstance(item, str) or not container:
            raise UndecidableError("something else in a text, or an empty one")
        return item in container
    same = same_value if _is_array(container) else strictly_equal
    if isinstance(item, float) and math.isnan(item) and not _is_array(container):
        raise UndecidableError("libraries differ")
    return any(same(part, item) for part in _members(container))


def _is_array(value: object) -> bool:
    return isinstance(value, Object) and value.tag == "a"


def _contains_equal(operands: list[Any], _options: Mapping[str, Any]) -> bool:
    container, item = operands
    return any(deeply_equal(part, item, "jest", takes_matchers=True) for part in _members(container))


def _has_members(operands: list[Any], options: Mapping[str, Any]) -> bool:
    """Whether two arrays have the same members, in whatever order."""
    arrays = [operand.items for operand in operands if isinstance(operand, Object) and operand.tag == "a"]
    if len(arrays) < len(operands):
        raise UndecidableError("not two arrays")
    if len(set(map(len, arrays))) > 1:
        return False
    left, other = arrays
    return paired_off(left, other, _DEEP["chai"]().equal if options["rules"] == "chai" else strictly_equal)


def _members(container: object) -> tuple[Any, ...]:
    if isinstance(container, Object) and container.tag in ("a", "S"):
        return tuple(UNDEFINED if part is HOLE else part for part in container.items)
    raise UndecidableError("not an array or a set")


def _may_be_long(value: Object) -> bool:
    """Whether an object may have a `length` besides its properties, of its own or of its class."""
    is_plain = value.name in ("Object", None) and "length" not in {*dict(value.props), *value.hidden}
    return value.tag == "O" and not is_plain


def _length(operands: list[Any], options: Mapping[str, Any]) -> bool:
    value, length = operands
    by = options.get("by")
    rules = options.get("rules")
    if rules in ("expect.js", "code") and isinstance(value, Object) and value.tag in ("M", "S"):
        raise UndecidableError("what has no properties to be counted")
    if rules == "code" and isinstance(value, Object) and _may_be_long(value):
        raise UndecidableError("what may have a length of its own")
    if by == "keys" and isinstance(value, Object) and value.tag in ("O", "M", "S"):
        return bool(float(len(_by_text(value.props) if value.tag == "O" else value.items)) == length)
    if isinstance(value, str):
        return bool(float(len(value.encode("utf-16-le", "surrogatepass")) // 2) == length)
    if (
        isinstance(value, Object)
        and value.tag == "T"
        and value.name in ("ArrayBuffer", "SharedArrayBuffer", "DataView")
    ):
        raise UndecidableError("no length")
    if isinstance(value, Object) and value.tag in ("a", "T"):
        return bool(float(len(value.items)) == length)
    own = dict(value.props).get("length") if isinstance(value, Object) and value.tag == "O" else None
    if isinstance(own, float):
        return same_value(own, length)
    if by is None and length == 0 and isinstance(value, Object) and value.tag == "O":
        return not value.props  # of datasets from before, where nothing tells `empty` from a length
    raise UndecidableError("no length")


def _property(operands: list[Any], options: Mapping[str, Any]) -> bool:
    value, path, *sides = operands
    rules = options.get("rules", "jest")
    if isinstance(path, str) and options.get("by") == "name":
        keys: list[Any] = [path]
    elif isinstance(path, str):
        keys = re.sub(r"\[(\w+)\]", r".\1", path).strip(".").split(".")
    elif isinstance(path, Object) and path.tag == "a":
        keys = [str(int(key)) if isinstance(key, float) else key for key in path.items]
    else:
        raise UndecidableError("not a path")
    for key in keys:
        value = _member(value, key)
        if value is HOLE:
            return False
    if rules == "===":
        return all(strictly_equal(value, expected) for expected in sides)
    return all(deeply_equal(value, expected, rules, takes_matchers=True) for expected in sides)


def _member(value: object, key: Any) -> object:
    """A property of an object or array; a hole where there is none, which only plain data can tell."""
    if not isinstance(value, Object) or value.tag not in ("a", "O"):
        raise UndecidableError("properties of another kind of object")
    if value.tag == "a" and key == "length":
        return float(len(value.items))
    if value.tag == "a" and str(key).isdigit():
        return value.items[int(key)] if int(key) < len(value.items) else HOLE
    inner = dict(value.props).get(key, HOLE)
    if inner is HOLE and value.tag == "O" and (value.name != "Object" or key in value.hidden):
        raise UndecidableError("properties that may be inherited")
    return inner


def _matches_object(operands: list[Any], options: Mapping[str, Any]) -> bool:
    value, expected = operands
    by = options.get("by")
    if by == "include":
        return _includes(value, expected, str(options["rules"]))
    if by is not None:
        return _matches_as_tap(value, expected, is_text_part=by == "match")
    if not isinstance(value, Object):
        raise UndecidableError("not an object")
    if options.get("not") and any(isinstance(part, Object) and part.tag not in "Oa" for part in parts_of(expected)):
        raise UndecidableError("an object of which only properties may count")
    return _has_parts(value, expected)


def _includes(value: object, expected: object, rules: str) -> bool:
    """As chai's `include` with an object: each of its properties is one of the other."""
    if not isinstance(expected, Object) or expected.tag != "O" or not isinstance(value, Object) or value.tag != "O":
        raise UndecidableError("not two plain objects")
    if value.called:
        raise UndecidableError("an object that says itself what it is")
    actual = _own(value, expected)
    if rules == "===":
        return all(key in actual and strictly_equal(actual[key], inner) for key, inner in expected.props)
    return all(key in actual and deeply_equal(actual[key], inner, rules) for key, inner in expected.props)


def _own(value: Object, expected: Object) -> dict[Any, Any]:
    """The properties that an object has itself, where none of those expected may come from its class."""
    props = dict(value.props)
    missing = {key for key, _ in expected.props} - props.keys()
    if missing and (value.name not in ("Object", None) or value.hidden & missing):
        raise UndecidableError("properties that may be inherited")
    return props


def _has_parts(value: object, expected: object) -> bool:
    if isinstance(expected, Object) and expected.tag == "O" and isinstance(value, Object) and value.tag == "O":
        actual = _own(value, expected)
        return all(key in actual and _has_parts(actual[key], inner) for key, inner in expected.props)
    if isinstance(expected, Object) and isinstance(value, Object) and {expected.tag, value.tag} == {"O", "a"}:
        raise UndecidableError("an array for an object, or the other way round")
    if isinstance(expected, Object) and expected.tag == "a" and isinstance(value, Object) and value.tag == "a":
        if value.props or expected.props:
            raise UndecidableError("an array with more than its items")
        pairs = zip(value.items, expected.items, strict=False)
        return len(value.items) == len(expected.items) and all(_has_parts(*pair) for pair in pairs)
    return deeply_equal(value, expected, "jest", takes_matchers=True)


def _matches_as_tap(value: object, expected: object, *, is_text_part: bool) -> bool:
    """As tap's `has` and `match`: the properties that are asked for; in `match` a text or pattern is looked for."""
    if isinstance(expected, Object) and expected.tag == "O":
        if not isinstance(value, Object):
            if isinstance(value, Opaque | Cycle):
                raise UndecidableError("an object without a plain form")
            return False
        if value.tag != "O":
            raise UndecidableError("properties of another kind of object")
        actual = dict(value.props)
        return all(
            key in actual and _matches_as_tap(actual[key], inner, is_text_part=is_text_part)
            for key, inner in expected.props
        )
    if isinstance(expected, Object) and not (expected.tag == "R" and is_text_part):
        raise UndecidableError("versions differ")
    is_sought = is_text_part and (isinstance(expected, Object) or (isinstance(expected, str) and expected != ""))
    if is_sought and isinstance(value, str):
        return expected in value if isinstance(expected, str) else _searched(expected, value)
    if isinstance(expected, Object):
        raise UndecidableError("not a text")
    return deeply_equal(value, expected, "tap")


def _close(operands: list[Any], _options: Mapping[str, Any]) -> bool:
    value, expected, *digits = operands
    if not isinstance(value, float) or not isinstance(expected, float):
        raise UndecidableError("not two numbers")
    if math.isinf(value) or math.isinf(expected):
        return value == expected
    return bool(abs(value - expected) < 10 ** -(digits[0] if digits else 2.0) / 2)


def _ordered(decide: Callable[[Any, Any], bool]) -> Decider:
    def decided(left: object, other: object) -> bool:
        if type(left) is not type(other) or not isinstance(left, float | int) or isinstance(left, bool):
            raise UndecidableError("not two numbers")
        return decide(left, other)

    return of_two(decided)


def _instance(operands: list[Any], _options: Mapping[str, Any]) -> bool:
    value, kind = operands
    if not isinstance(kind, Opaque) or not kind.chain:
        raise UndecidableError("not a class")
    if isinstance(value, Object) and value.tag == "E":
        return is_error_of(value, kind.chain)
    raise UndecidableError("an object of another kind")


def _deep(operands: list[Any], options: Mapping[str, Any]) -> bool:
    left, other = operands
    rules = options["rules"]
    is_equal = deeply_equal(left, other, rules, takes_matchers=rules.startswith("jest"))
    if options.get("not") and not is_equal and "strict" not in rules and not is_partial(other):
        comparison = replace(_DEEP[rules](), lenient=True, undefined=False, ordered=False)
        if comparison.equal(left, other):
            raise UndecidableError("libraries differ")
    return is_equal


def _snapshot(operands: list[Any], options: Mapping[str, Any]) -> bool:
    value, expected, *matchers = operands
    if options.get("by") == "value":
        return next(forms(_with_matchers(value, expected))) == next(forms(expected))
    if not isinstance(expected, str) or not all(_has_parts(value, one) for one in matchers):
        raise UndecidableError("not a snapshot")
    for one in matchers:
        value = _with_matchers(value, one)
    return as_written(expected) in map(str.strip, forms(value))


def _with_matchers(value: object, expected: object) -> object:
    """A value as a snapshot shows it: where a matcher is expected that takes what is there, the matcher."""
    if isinstance(expected, Matcher):
        return expected if deeply_equal(value, expected, "jest", takes_matchers=True) else value
    if not isinstance(expected, Object) or not isinstance(value, Object) or value.tag != expected.tag:
        return value
    if value.tag == "O":
        parts = dict(expected.props)
        props = ((key, _with_matchers(inner, parts.get(key))) for key, inner in value.props)
        return replace(value, props=tuple(props))
    if value.tag == "a":
        pairs = zip_longest(value.items, expected.items[: len(value.items)])
        return replace(value, items=tuple(_with_matchers(*pair) for pair in pairs))
    return value


def _called(operands: list[Any], options: Mapping[str, Any]) -> bool:
    """Whether a mock was called with these arguments: any time, the last, the nth or the only one."""
    calls_told, *arguments = operands
    calls, which = _members(calls_told), options["which"]
    if which == "nth":
        place, *arguments = arguments
        at = int(place) - 1 if isinstance(place, float) and place >= 1 else len(calls)
        calls = calls[at : at + 1]
    elif which == "last":
        calls = calls[-1:]
    elif which == "only" and len(calls) != 1:
        return False
    undecided = False
    rules = options.get("rules", "jest")
    for call in calls:
        values = _members(call)[: len(arguments) if options.get("first") else None]
        pairs = zip(values, arguments, strict=False)
        if len(values) != len(arguments):
            continue
        try:
            if all(_deep([*pair], {"rules": rules, "not": options.get("not")}) for pair in pairs):
                return True
        except UndecidableError:
            undecided = True
    if undecided:
        raise UndecidableError("a call with an object without a plain form")
    return False


def _kind(operands: list[Any], _options: Mapping[str, Any]) -> bool:
    value, expected = operands
    if isinstance(value, Opaque) and value.why != "a function":
        raise UndecidableError("an object without a plain form")
    tag = value.tag if isinstance(value, Object) else ""
    if isinstance(value, Object) and (value.called or any(isinstance(key, Symbol) for key, _ in value.props)):
        raise UndecidableError("an object that may say itself what it is")
    kinds: list[tuple[bool, str]] = [
        (value is None, "null"),
        (value is UNDEFINED, "undefined"),
        (isinstance(value, Opaque), "function"),
        *((isinstance(value, kind), name.lower()) for name, kind in _ANY_TYPES.items() if kind is not int),
        *((tag == letter, name.lower()) for name, letter in {**_ANY_TAGS, "Object": "O", "Error": "E"}.items()),
    ]
    found = next((name for holds, name in kinds if holds), None)
    if found is None or not isinstance(expected, str):
        raise UndecidableError("another kind")
    return found == expected.lower()


def _strictly(operands: list[Any], options: Mapping[str, Any]) -> bool:
    left, other = operands
    is_equal = strictly_equal(left, other)
    if options.get("by") == "both" and same_value(left, other) is not is_equal:
        raise UndecidableError("versions differ")
    return is_equal


def _loosely(operands: list[Any], options: Mapping[str, Any]) -> bool:
    left, other = operands
    if options.get("by") == "==" and isinstance(left, float) and math.isnan(left):
        return False  # by the sign NaN is not itself
    return loosely_equal(left, other)


def _match(operands: list[Any], _options: Mapping[str, Any]) -> bool:
    text, pattern = operands
    if isinstance(pattern, str) and isinstance(text, str):
        return pattern in text
    return _searched(pattern, text)


_DECIDES: Mapping[str, Decider] = {
    "js.is": of_two(same_value),
    "js.===": _strictly,
    "js.==": _loosely,
    "js.deep": _deep,
    "js.truth": of_one(truthy),
    "js.defined": of_one(lambda value: value is not UNDEFINED),
    "js.match": _match,
    "js.contain": _contains,
    "js.contain_equal": _contains_equal,
    "js.length": _length,
    "js.members": _has_members,
    "js.property": _property,
    "js.object": _matches_object,
    "js.snapshot": _snapshot,
    "js.called": _called,
    "js.kind": _kind,
    "js.close": _close,
    "js.lint": reported,
    "js.<": _ordered(operator.lt),
    "js.<=": _ordered(operator.le),
    "js.>": _ordered(operator.gt),
    "js.>=": _ordered(operator.ge),
    "js.instance": _instance,
    "js.raises": _raises,
}
EXACT = frozenset({"js.is", "js.===", "js.==", "js.deep", "js.close", "js.snapshot", "js.members"})
"""Operators that no one value satisfies everywhere, if they are not negated and nothing kept takes more than one."""

PARTIAL = frozenset({"js.contain", "js.contain_equal", "js.length", "js.property", "js.object", "js.called"})
"""Operators that look at a part alone: what is beside that may be anything, such as a method."""


def _asked(decide: Decider) -> Decider:
    """An operator of what an assertion asks for a property that all objects have (`x.should`)."""

    def decided(operands: list[Any], options: Mapping[str, Any]) -> bool:
        value = operands[0] if "asks" in options else ""
        is_bare = isinstance(value, Object) and value.tag == "O" and value.name is None
        if value is None or value is UNDEFINED or is_bare:
            raise UndecidableError("no property to be asked")
        if "asks" in options and isinstance(value, Object) and value.tag == "B":
            raise UndecidableError("a boxed value, which is asked as what it holds")
        return decide(operands, options)

    return decided


OPERATORS = negatable({op: _asked(decide) for op, decide in _DECIDES.items()}, object)
"""By name, of values of this language."""
