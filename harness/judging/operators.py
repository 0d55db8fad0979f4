"""How the host decides one assertion: by the operator that the test had, over decoded values."""

from __future__ import annotations

import itertools
import math
import operator
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from harness.core.errors import GoldseamError
from harness.core.expectations import Site
from harness.judging import arrays, search, values
from harness.judging.arrays import Array
from harness.judging.go import operators as go
from harness.judging.java import operators as java
from harness.judging.javascript import operators as javascript
from harness.judging.parts import Decider, counted, of_one, of_two, paired_off
from harness.judging.rust import operators as rust
from harness.judging.values import (
    Anything,
    Approx,
    ClassName,
    Likeness,
    MalformedError,
    Opaque,
    Pattern,
    Raised,
    Record,
)

CATCHING = ("raises", "js.raises", "go.panics", "java.raises", "rust.panics")
"""Operators whose one value is what was raised."""
_SINGLETONS = (None, True, False, ..., NotImplemented)


def holds(site: Site, out: Sequence[object], expected: Sequence[object]) -> bool:
    """Whether an assertion holds for what came out of the container and what was kept outside.

    Where its operator is one of `CATCHING`, the one value of `out` is the exception. Whatever a comparison raises, it
    does not hold; only what fails on the host's own side is raised.

    Raises:
        GoldseamError: the host cannot search with a regular expression.

    """
    sides = {"out": iter(out), "kept": iter(expected)}
    try:
        if site.op in CATCHING or site.op == "warns":
            operands = [*out, *expected]
        elif site.op == "calls":
            operands = [out[0], list(expected)]
        else:
            operands = [next(sides[side]) for side in site.sides]
        return _OPERATORS[site.op](operands, site.options)
    except GoldseamError:
        raise
    except Exception:  # noqa: BLE001 - whatever it is, the values caused it
        return False


def is_opaque(value: object) -> bool:
    """Whether an object that is compared by code of its own is in a value, at any depth."""
    return has_within(value, (Opaque, Raised, Array))


def has_within(value: object, kinds: tuple[type, ...]) -> bool:
    """Whether something of these classes is in a value, at any depth, or is it."""
    queue = [value]
    while queue:
        item = queue.pop()
        if isinstance(item, kinds):
            return True
        if isinstance(item, list | tuple | set | frozenset):
            queue.extend(item)
        elif isinstance(item, dict):
            queue.extend(item)
            queue.extend(item.values())
    return False


def _contains(item: Any, container: Any) -> bool:
    """`in`, but for what Python would look for in a range by going through it."""
    if isinstance(container, range) and isinstance(item, Likeness):
        item = item.form
    if isinstance(container, range) and type(item) not in (int, bool):
        whole = _whole(item)
        if whole is None or whole != item:
            return False
        item = whole
    return item in container


def _whole(item: Any) -> int | None:
    try:
        return int(item.real) if isinstance(item, values.NUMBERS) else None  # type: ignore[call-overload]
    except (OverflowError, ValueError):
        return None  # infinities and NaN


def _is(left: object, other: object) -> bool | None:
    """Whether two values are one object; None where that cannot be told from outside."""
    if any(left is only or other is only for only in _SINGLETONS):
        return left is other
    if isinstance(left, Record) and isinstance(other, Record):
        return True if left.items and left == other else None  # a constant, and not what has fields
    return left == other if isinstance(left, ClassName) and isinstance(other, ClassName) else None


def _lacks(item: object, container: Any) -> bool:
    """`not in`, which of an object without a plain form nobody can tell; of a mapping the keys alone count."""
    searched = list(container) if isinstance(container, dict) else container
    return not is_opaque(item) and not is_opaque(searched) and not _contains(item, container)


def _negative(decides: Callable[[Any, Any], bool]) -> Callable[[Any, Any], bool]:
    """That something does not hold, which of an object without a plain form nobody can tell."""

    def of_plain(left: object, other: object) -> bool:
        return not is_opaque(left) and not is_opaque(other) and decides(left, other)

    return of_plain


_COMPARISONS: Mapping[str, Callable[[Any, Any], bool]] = {
    "==": operator.eq,
    "!=": _negative(operator.ne),
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "in": _contains,
    "not_in": _lacks,
    "is": lambda left, other: _is(left, other) is True,
    "is_not": lambda left, other: _is(left, other) is False,
}


def _chain(operands: list[Any], options: Mapping[str, Any]) -> bool:
    comparisons = [_COMPARISONS[op] for op in options["ops"]]
    pairs = zip(comparisons, operands, operands[1:], strict=False)
    return len(operands) == len(comparisons) + 1 > 1 and all(holds(left, other) for holds, left, other in pairs)


def _truth(value: object) -> bool:
    if isinstance(value, Opaque) and value.is_true is not None:
        return value.is_true
    if isinstance(value, Opaque | Raised | Likeness | Array):
        raise MalformedError("only a product's own code tells whether it is true")
    return value is NotImplemented or bool(value)


def _almost(operands: list[Any], options: Mapping[str, Any]) -> bool:
    """As unittest's assertAlmostEqual."""
    first, second = operands
    if first == second:
        return True
    apart: Any = abs(first - second)
    if options.get("delta") is not None:
        return bool(apart <= values.decode(options["delta"], kept=True))
    return bool(round(apart, _places(options)) == 0)


def _not_almost(operands: list[Any], options: Mapping[str, Any]) -> bool:
    """As unittest's assertNotAlmostEqual, which is not the contrary where NaN is."""
    first, second = operands
    if is_opaque(first) or is_opaque(second) or first == second:
        return False
    apart: Any = abs(first - second)
    if options.get("delta") is not None:
        return bool(apart > values.decode(options["delta"], kept=True))
    return bool(round(apart, _places(options)) != 0)


def _places(options: Mapping[str, Any]) -> int:
    places = options.get("places")
    return 7 if places is None else int(places)


def _counted(items: Iterable[object]) -> dict[Any, int]:
    """The different items and how often each is there, in a form that has a hash."""
    listed = list(itertools.islice(items, values.MAX_ITEMS + 1))
    if len(listed) > values.MAX_ITEMS:
        raise MalformedError("too many items")  # a range or a network has more than it was written with
    return counted(map(_hashable, listed))


def _hashable(value: object) -> object:
    """A value that equals others of its kind just when this one does, and has a hash."""
    if isinstance(value, list):
        return ("list", tuple(map(_hashable, value)))
    if isinstance(value, tuple):
        return ("tuple", tuple(map(_hashable, value)))
    if isinstance(value, dict):
        return ("dict", frozenset(counted((key, _hashable(inner)) for key, inner in value.items())))
    if isinstance(value, set | frozenset):
        return frozenset(value)
    if isinstance(value, Anything | Approx):
        raise MalformedError("it equals more than one value")
    return bytes(value) if isinstance(value, bytearray) else value


def _count_equal(first: Any, second: Any) -> bool:
    """As unittest's assertCountEqual: the same items, each as often."""
    sides = first, second
    if has_within([*sides], _ORDERED) and all(isinstance(side, list) and len(side) <= _MOST_ORDERED for side in sides):
        return paired_off(first, second, operator.eq)
    return _counted(first) == _counted(second)


_ORDERED = (OrderedDict, Counter)
"""What equals another one otherwise than a dictionary does."""
_MOST_ORDERED = 1000


def _pattern(pattern: Any) -> Pattern:
    return pattern if isinstance(pattern, Pattern) else Pattern(pattern=pattern)


def _affixed(name: str) -> Decider:
    def decide(operands: list[Any], _options: Mapping[str, Any]) -> bool:
        text, affix = operands
        return isinstance(text, str | bytes | bytearray) and bool(getattr(text, name)(affix))

    return decide


def _classes(classes: Any) -> list[ClassName]:
    """A class, or those of a tuple of them."""
    if isinstance(classes, tuple):
        return [kind for part in classes for kind in _classes(part)]
    if not isinstance(classes, ClassName):
        raise MalformedError("not a class")
    return [classes]


def _standard(names: Iterable[str]) -> tuple[str, ...]:
    """Of the names in an MRO, those of Python's own classes."""
    return tuple(name for name in names if name.startswith("builtins."))


def standard_chain(names: Sequence[str]) -> tuple[str, ...]:
    """Of the names in an exception's MRO, those of Python's own classes, where they are one class and its bases.

    Empty where they are not: a class made to be many exceptions at once is none.
    """
    standard = _standard(names)
    return standard if standard and values.builtin_chain(standard[0]) == standard else ()


def _is_raised(raised: object, classes: Iterable[ClassName]) -> bool:
    """Whether an exception is of one of these classes, by name, and nothing else besides."""
    if not isinstance(raised, Raised):
        return False
    standard = _standard(raised.names)
    is_one = bool(standard_chain(raised.names))
    names = set(map(values.own_name, raised.names))
    return any(
        values.own_name(kind.name) in names
        and (is_one or standard == _standard(kind.mro))  # what is asked for may be of two itself
        and next(iter(_standard((kind.name, *kind.mro))), None) in standard
        for kind in classes
    )


def _is_instance(value: object, kind: ClassName) -> bool | None:
    """Whether a value is of a class; None where its plain form does not tell."""
    if kind.name == "builtins.object":
        return True
    if isinstance(value, Raised):
        standard = standard_chain(value.names)
        if not standard or not kind.name.startswith("builtins."):
            return _is_raised(value, [kind]) or None
        return kind.name in standard
    names = values.kind_names(value)
    if names is None:
        return None
    return True if kind.name in names else False if kind.name in values.KNOWN_KINDS else None


def _text_matches(raised: Raised, options: Mapping[str, Any]) -> bool:
    """Whether an exception's text is the one asked for, where one is."""
    match = options.get("match")
    return match is None or search.matches(_pattern(values.decode(match, kept=True)), raised.text)


def _raises(operands: list[Any], options: Mapping[str, Any]) -> bool:
    if not operands:
        return True  # a block that waits for nothing, and nothing was raised
    raised, expected = operands
    return _is_raised(raised, _classes(expected)) and _text_matches(raised, options)


def _warns(operands: list[Any], options: Mapping[str, Any]) -> bool:
    """That some warning is the one waited for, and no other raises where it is emitted again."""
    caught, expected = operands
    classes = _classes(expected)
    if not isinstance(caught, list):
        return False
    others = [one for one in caught if not (_is_raised(one, classes) and _text_matches(one, options))]
    return len(others) < len(caught) and not any(dict(one.attrs).get("raises") for one in others)


def _call(call: Any) -> tuple[str, tuple[Any, ...], dict[Any, Any]]:
    """A mock's call: its name, which is empty where it is the mock itself that was called, and its arguments."""
    name, args, kwargs = call if len(call) == 3 else ("", *call)  # noqa: PLR2004
    if not isinstance(call, tuple) or not isinstance(args, tuple) or not isinstance(kwargs, dict):
        raise MalformedError("not a call")
    return name, args, kwargs


def _is_call(call: Any, expected: Any) -> bool:
    """As mock compares calls: that of the mock itself is taken for one of any of its parts."""
    return bool((not call[0] or call[0] == expected[0]) and call[1:] == expected[1:])


def _has_calls(calls: list[Any], expected: list[Any]) -> bool:
    places = range(len(calls) - len(expected) + 1)
    return any(all(map(_is_call, calls[at:], expected)) for at in places)


def _has_calls_in_any_order(calls: list[Any], expected: list[Any]) -> bool:
    open_calls = list(calls)
    for expected_call in expected:
        open_calls.remove(next(call for call in open_calls if _is_call(call, expected_call)))
    return True


_CALLS: Mapping[str, Callable[[list[Any], list[Any]], bool]] = {
    "called_with": lambda calls, expected: calls[-1][1:] == expected[0][1:],
    "called_once_with": lambda calls, expected: len(calls) == 1 and calls[0][1:] == expected[0][1:],
    "any_call": lambda calls, expected: any(call[1:] == expected[0][1:] for call in calls),
    "has_calls": _has_calls,
    "has_calls_any_order": _has_calls_in_any_order,
    "called": lambda calls, _expected: bool(calls),
    "called_once": lambda calls, _expected: len(calls) == 1,
    "not_called": lambda calls, _expected: not calls,
}


def _calls(operands: list[Any], options: Mapping[str, Any]) -> bool:
    calls_made, expected = operands
    return isinstance(calls_made, list) and _CALLS[options["how"]](
        list(map(_call, calls_made)), list(map(_call, expected))
    )


def _doctest(operands: list[Any], options: Mapping[str, Any]) -> bool:
    """As doctest's runner: what an example printed, or how it failed, against what it says of either."""
    import doctest  # noqa: PLC0415 - it takes long, and few tasks have any

    (want, message), (printed, raised) = operands
    names: Any = values.decode(options["flags"], kept=True)
    if "NUMBER" in names:
        raise MalformedError("pytest compares these numbers")
    flags = sum(doctest.OPTIONFLAGS_BY_NAME.get(name, 0) for name in names)
    if raised is None or message is None:
        return raised is None is message and doctest.OutputChecker().check_output(want, printed, flags)
    text = f"{raised.names[0].removeprefix('builtins.').removeprefix('__main__.')}{raised.text and f': {raised.text}'}"
    if flags & doctest.IGNORE_EXCEPTION_DETAIL:
        message, text = (
            line_of_error.strip().partition(":")[0].rpartition(".")[2] for line_of_error in (message, text)
        )
    return doctest.OutputChecker().check_output(f"{message.strip()}\n", f"{text.strip()}\n", flags)


def _option(options: Mapping[str, Any], name: str) -> Any:
    """An option as the test has it, or as it is without."""
    return values.decode(options[name], kept=True) if isinstance(options[name], list) else options[name]


def _arrays_equal(operands: list[Any], options: Mapping[str, Any]) -> bool:
    """As numpy's `assert_array_equal`, `array_equal` and `(a == b).all()`."""
    actual, desired = operands
    if "is_method" in options and not (isinstance(actual, Array) or isinstance(desired, Array)):
        return not options["is_method"] and bool(actual == desired)  # a boolean has no method `all`
    is_nan_equal = bool(_option(options, "equal_nan"))
    return arrays.arrays_equal(actual, desired, nan=is_nan_equal, stretches=options["stretches"])


def _near(operands: list[Any], options: Mapping[str, Any]) -> bool:
    """As numpy's `assert_allclose`, `allclose` and `assert_almost_equal`."""
    actual, desired = operands
    if "decimal" in options:
        most = 1.5 * 10.0 ** -_option(options, "decimal")
        if isinstance(actual, complex) and isinstance(desired, complex):
            actual, desired = [actual.real, actual.imag], [desired.real, desired.imag]
        return arrays.near(actual, desired, lambda left, other: abs(other - left) < most)
    if options.get("is_scalar") and any(isinstance(side, Array | list | tuple) for side in operands):
        return False  # more than one item is neither true nor false
    rtol, atol, nan = (_option(options, name) for name in ("rtol", "atol", "equal_nan"))
    return arrays.near(
        actual, desired, lambda left, other: abs(left - other) <= atol + rtol * abs(other), nan=bool(nan)
    )


def _tables_equal(operands: list[Any], options: Mapping[str, Any]) -> bool:
    """As pandas' `assert_series_equal` and its like."""
    actual, desired = operands
    if not all(isinstance(side, Array) and side.labels.get("kind", "").endswith(options["kind"]) for side in operands):
        return False
    rtol, atol, is_exact = (_option(options, name) for name in ("rtol", "atol", "check_exact"))
    dtype, names, freq = (bool(_option(options, f"check_{name}")) for name in ("dtype", "names", "freq"))

    def is_near(left: Any, other: Any) -> bool:
        return not is_exact and math.isclose(left, other, rel_tol=rtol, abs_tol=atol)

    return arrays.tables_equal(actual, desired, is_near, check_dtype=dtype, check_names=names, check_freq=freq)


def _of_arrays(decide: Decider) -> Decider:
    """As an operator decides, but for a call that says more than the host knows: only its result counts."""
    return lambda operands, options: not options.get("is_unknown") and decide(operands, options)


_OPERATORS: Mapping[str, Decider] = {
    **{name: of_two(decide) for name, decide in _COMPARISONS.items()},
    "chain": _chain,
    "truth": of_one(_truth),
    "not": of_one(lambda value: not _truth(value)),
    "almost": _almost,
    "not_almost": _not_almost,
    "count_equal": of_two(_count_equal),
    "regex": of_two(lambda text, pattern: search.matches(_pattern(pattern), text)),
    "not_regex": of_two(lambda text, pattern: not search.matches(_pattern(pattern), text)),
    "startswith": _affixed("startswith"),
    "endswith": _affixed("endswith"),
    "isinstance": of_two(lambda value, classes: any(_is_instance(value, kind) is True for kind in _classes(classes))),
    "not_isinstance": of_two(
        lambda value, classes: all(_is_instance(value, kind) is False for kind in _classes(classes))
    ),
    "raises": _raises,
    "no_raise": lambda operands, _options: not operands,
    "warns": _warns,
    "calls": _calls,
    "doctest": _doctest,
    "np.equal": _of_arrays(lambda operands, _options: arrays.equal(*operands)),
    "np.arrays": _of_arrays(_arrays_equal),
    "np.near": _of_arrays(_near),
    "pd.equal": _of_arrays(_tables_equal),
    **javascript.OPERATORS,
    **go.OPERATORS,
    **java.OPERATORS,
    **rust.OPERATORS,
}
