"""Values that are easily thought of, and changes that turn several values into what is expected of each. Pure."""

from __future__ import annotations

import calendar
import errno
import hashlib
import itertools
import math
import mimetypes
import operator
import os
import re
from collections.abc import Callable, Iterator, Sequence
from decimal import Decimal
from difflib import SequenceMatcher
from fractions import Fraction
from http import HTTPStatus
from typing import Any

COMMON = 6.0
"""Bits of a value that comes to mind."""
_TEXTS = frozenset(
    {
        *("None", "null", "nil", "undefined", "true", "false", "True", "False", "NaN", "nan", "inf", "Infinity"),
        *("unknown", "Unknown", "N/A", "n/a", "none", "default", "error", "Error", "ok", "OK", "yes", "no", "<nil>"),
        *("[object Object]", "anonymous", "invalid", "empty", "test", "hello", "Hello, World!", "Hello World"),
        *("foo", "bar", "baz", "foobar", "localhost", "127.0.0.1", "text/html; charset=utf-8", "utf-8", "UTF-8"),
    }
)
_STANDARD = frozenset(
    {
        *(status.phrase for status in HTTPStatus),
        *mimetypes.MimeTypes().types_map_inv[True],
        *map(os.strerror, errno.errorcode),
        *(*calendar.month_name, *calendar.month_abbr, *calendar.day_name, *calendar.day_abbr),
        *(hashlib.new(name, b"").hexdigest() for name in ("md5", "sha1", "sha256", "sha512")),
    }
)
_STANDARD |= {
    *("invalid digit found in string", "cannot parse integer from empty string", "invalid float literal"),
    *("number too large to fit in target type", "provided string was not `true` or `false`"),
    *("EOF", "unexpected EOF", "unexpected end of JSON input", "Unexpected end of JSON input", "invalid syntax"),
    *("value out of range", "file does not exist", "file already exists", "context canceled", "/ by zero"),
    *("context deadline exceeded", "http: Server closed", "No value present", "Stream closed", "short write"),
    *("Invalid Date", "Invalid time value", "Maximum call stack size exceeded", "The operation was aborted"),
    *("division by zero", "list index out of range", "string index out of range", "pop from empty list"),
    *("substring not found", "maximum recursion depth exceeded", "math domain error"),
}
"""Texts that standards and standard libraries have: states, media types, errors, dates, and digests of nothing."""
_OF_STANDARD = 7.0
"""Of choosing one: there are a few hundred, of which few are common."""
_NUMBERS = frozenset({60, 3600, 86400, 604800, 365, 1440, 360, 180, 200, 201, 204, 301, 302, 400, 401, 403, 404, 500})
_NUMBERS |= {2**power - less for power in (7, 8, 10, 12, 15, 16, 20, 24, 31, 32, 53, 63, 64) for less in (0, 1)}
_CONSTANTS = (math.pi, math.e, math.tau, math.sqrt(2), math.log(2), math.log(10))
_POWERS = 8.6
"""Of a power of two, or the number before or after first."""
_OF_FRACTION = 100
_FORMS = ("{}", "{:,}", "{:.2f}", "{:.1f}")
"""How a number is written in a text."""
_LONGEST = 2000
"""Letters of texts that are looked through."""
_AROUND = 60
"""Letters around a part that are looked at."""
_LONGEST_PERIOD = 4
"""Items that come again, in the same order."""
_PRIMES = [number for number in range(2, 1000) if all(number % part for part in range(2, math.isqrt(number) + 1))]
_SHORTEST = 8
"""Letters from which on a text that repeats a part is no word."""


def of_small(number: int) -> float:
    """Bits of a whole number by its size alone."""
    return 1 + 2 * math.log2(abs(number) + 1)


def of_int(number: int) -> float:
    """Bits of a whole number: by its size, its zeros, as a power of two, or as one that is common."""
    size = abs(number)
    digits = str(size)[:400].rstrip("0")
    zeros = len(str(size)[:400]) - len(digits)
    bits = [of_small(number), 1 + of_small(int(digits or 0)) + math.log2(zeros + 1)]
    if size in _NUMBERS:
        bits.append(COMMON)
    if any(near > 0 and near & (near - 1) == 0 for near in (size - 1, size, size + 1)):
        bits.append(_POWERS)
    return min(bits)


def of_float(number: float) -> float:
    """Bits of a fraction: by its digits, as a ratio of small numbers, or as a constant of mathematics."""
    if not math.isfinite(number):
        return 2.0
    if any(math.isclose(abs(number), constant, rel_tol=1e-6) for constant in _CONSTANTS):
        return COMMON
    _, digits, exponent = Decimal(repr(number)).normalize().as_tuple()
    bits = 1 + of_int(int("".join(map(str, digits)))) + math.log2(abs(int(exponent)) + 1)
    ratio = Fraction(number).limit_denominator(_OF_FRACTION)
    if math.isclose(number, ratio, rel_tol=1e-9):
        bits = min(bits, 1 + of_small(ratio.numerator) + of_small(ratio.denominator))
    return bits


def of_text(text: str, bits_of: Callable[[str], float]) -> float:
    """Bits of a text that is common or repeats a part; infinite of others."""
    if text in _TEXTS:
        return COMMON
    if text in _STANDARD:
        return _OF_STANDARD
    if re.fullmatch(r"\d{1,18}", text):
        return 1 + of_int(int(text)) + math.log2(len(text) - len(str(int(text))) + 1)
    match = re.fullmatch(r"(.+?)\1{2,}", text, re.DOTALL) if _SHORTEST <= len(text) <= _LONGEST else None
    return bits_of(match[1]) + of_small(len(text) // len(match[1])) if match else math.inf


def of_list(items: Sequence[Any], bits_of: Callable[[Any], float]) -> float:
    """Bits of numbers that follow from the first, of what comes again, or of a table of these; infinite of others."""
    if len(items) < 3:  # noqa: PLR2004
        return math.inf
    size = 2 + of_small(len(items))
    bits = [size + sum(map(bits_of, first)) for first in _firsts(items)]
    if all(isinstance(row, list | tuple) and len(row) == len(items[0]) for row in items):
        bits += [size + 1 + sum(map(bits_of, values)) for values in _of_places(items)]
        flat = [item for row in items for item in row]
        bits.append(of_list(flat, bits_of) + of_small(len(items[0])))
    return min(bits, default=math.inf)


def _firsts(items: Sequence[Any]) -> Iterator[Sequence[Any]]:
    """The first ones of which all others follow: by equal distances, factors or growth, as a sum, or by repetition."""
    if all(map(_is_number, items)):
        steps = _distances(items)
        if _are_alike(steps):
            yield items[0], _whole(steps[0])
        if _are_alike(_distances(steps)) and len(items) > 4:  # noqa: PLR2004
            yield items[0], _whole(steps[0]), _whole(steps[1] - steps[0])
        if all(items) and _are_alike([after / before for before, after in itertools.pairwise(items)]):
            yield items[0], _whole(items[1] / items[0])
        if all(sum(items[at : at + 2]) == item for at, item in enumerate(items[2:])):
            yield items[:2]
        if [*items] == _PRIMES[: len(items)]:
            yield (items[0],)
    for period in range(1, min(len(items) // 2, _LONGEST_PERIOD) + 1):
        if all(repr(item) == repr(items[at % period]) for at, item in enumerate(items)):
            yield items[:period]


def _of_places(rows: Sequence[Sequence[Any]]) -> Iterator[list[Any]]:
    """What a table has on its diagonal and beside it, or above and below."""
    for is_here in (operator.eq, operator.le, operator.lt):
        values: dict[bool, dict[str, Any]] = {}
        for place in itertools.product(range(len(rows)), range(len(rows[0]))):
            value = rows[place[0]][place[1]]
            values.setdefault(is_here(*place), {})[repr(value)] = value
        if all(len(alike) == 1 for alike in values.values()):
            yield [value for alike in values.values() for value in alike.values()]


def _distances(numbers: Sequence[Any]) -> list[Any]:
    return [after - before for before, after in itertools.pairwise(numbers)]


def _are_alike(numbers: Sequence[Any]) -> bool:
    return len(numbers) > 1 and all(math.isclose(number, numbers[0], abs_tol=1e-12) for number in numbers)


def _whole(number: float) -> Any:
    """A number without what calculating left of it."""
    rounded = round(number, 9)
    return int(rounded) if rounded == int(rounded) else rounded


Pairs = Sequence[tuple[Any, Any]]
Bits = Callable[[Any], float]


def of_change(pairs: Pairs, bits_of: Bits) -> float:
    """Bits of one change that makes what is expected of each value; infinite where there is none of a simple kind."""
    changes = (_of_text, _of_number, _of_more, _of_parts, _of_part, _of_each)
    return min((bits for change in changes for bits in change(pairs, bits_of)), default=math.inf)


def _of_number(pairs: Pairs, bits_of: Bits) -> Iterator[float]:
    """Something added, or multiplied with."""
    near, target = pairs[0]
    if not all(_is_number(number) for pair in pairs for number in pair):
        return
    add = target - near
    if all(first + add == second for first, second in pairs):
        yield 2 + bits_of(add)
    for up in (True, False):
        left, right = (near, target) if up else (target, near)
        times = right / left if left else 0
        times = int(times) if float(times).is_integer() else times
        if times and all(_is_times(first, second, times, up=up) for first, second in pairs):
            yield 2 + bits_of(times)


def _of_more(pairs: Pairs, bits_of: Bits) -> Iterator[float]:
    """The same items after those of a list, the same keys in an object."""
    for kind, more in ((list, _more_items), (dict, _more_keys)):
        if all(type(value) is kind for pair in pairs for value in pair):
            parts = [more(*pair) for pair in pairs]
            if parts[0] is not None and all(part == parts[0] for part in parts):
                yield 2 + bits_of(parts[0])


def _more_items(near: list[Any], target: list[Any]) -> list[Any] | None:
    return target[len(near) :] if target[: len(near)] == near else None


def _more_keys(near: dict[Any, Any], target: dict[Any, Any]) -> dict[Any, Any] | None:
    if not near.keys() <= target.keys():
        return None
    return {key: value for key, value in target.items() if key not in near or near[key] != value}


def _of_parts(pairs: Pairs, bits_of: Bits) -> Iterator[float]:
    """The value as one part of what is expected, with the same beside it."""
    for step, item in _items(pairs[0][1]):
        rests = [_without(target, step) for near, target in pairs if _at(target, step) == near]
        if item == pairs[0][0] and len(rests) == len(pairs) and all(rest == rests[0] for rest in rests):
            yield 2 + (bits_of(step) if isinstance(step, str) else 1) + (bits_of(rests[0]) if rests[0] else 0)


def _of_part(pairs: Pairs, bits_of: Bits) -> Iterator[float]:
    """One part of the value."""
    for step, _ in _items(pairs[0][0]):
        if all(_at(near, step) == target for near, target in pairs):
            yield 2 + (bits_of(step) if isinstance(step, str) else of_small(step))


def _of_each(pairs: Pairs, bits_of: Bits) -> Iterator[float]:
    """The same for each item of a list, or for the value of each key."""
    inner: list[tuple[Any, Any]] = []
    for near, target in pairs:
        if type(near) is type(target) is dict and near.keys() == target.keys():
            inner += [(near[key], target[key]) for key in near]
        elif isinstance(near, list | tuple) and isinstance(target, list | tuple) and len(near) == len(target):
            inner += zip(near, target, strict=True)
        else:
            return
    if inner:
        yield 1 + of_change(inner, bits_of)


def _items(value: Any) -> list[tuple[Any, Any]]:
    if isinstance(value, dict):
        return [(key, item) for key, item in value.items() if isinstance(key, str)]
    return list(enumerate(value))[:8] if isinstance(value, list | tuple) else []


def _at(value: Any, step: Any) -> Any:
    try:
        return value[step] if isinstance(value, dict | list | tuple) else _NOT_THERE
    except (KeyError, IndexError, TypeError):
        return _NOT_THERE


_NOT_THERE = object()


def _without(value: Any, step: Any) -> Any:
    if isinstance(value, dict):
        return {key: item for key, item in value.items() if key != step}
    return [item for place, item in enumerate(value) if place != step]


def _is_number(value: Any) -> bool:
    return type(value) in (int, float) and math.isfinite(value) and abs(value) < 1 << 60


def _is_times(near: Any, target: Any, times: float, *, up: bool) -> bool:
    if not _is_number(near) or not _is_number(target):
        return False
    return math.isclose(near * times, target) if up else math.isclose(target * times, near)


def _of_text(pairs: Pairs, bits_of: Bits) -> Iterator[float]:
    """Something put around, cut off, or replaced wherever it stands; of a number as text as well."""
    if not all(isinstance(target, str) for _, target in pairs):
        return
    are_texts = all(isinstance(near, str) for near, _ in pairs)
    forms = _FORMS if all(_is_number(near) for near, _ in pairs) else _FORMS[:1] if are_texts else ()
    for form in forms:
        texts = [(form.format(near), target) for near, target in pairs]
        yield from (bits + 2 * (not are_texts) for bits in _of_text_change(texts, bits_of))


def _of_text_change(pairs: Sequence[tuple[str, str]], bits_of: Bits) -> Iterator[float]:
    near, target = next((pair for pair in pairs if pair[0] != pair[1]), pairs[0])
    for swapped in (False, True):
        inner, outer = (target, near) if swapped else (near, target)
        if inner and inner in outer:
            front, _, back = outer.partition(inner)
            longer = [(second, first) if swapped else (first, second) for first, second in pairs]
            if all(second == f"{front}{first}{back}" for first, second in longer):
                yield 2 + sum(bits_of(part) for part in (front, back) if part)
    if len(near) + len(target) > _LONGEST:
        return
    for old, new in _replacements(near, target):
        if all(first.replace(old, new) == second for first, second in pairs):
            yield 3 + bits_of(old) + (bits_of(new) if new else 0)


def _replacements(near: str, target: str) -> Iterator[tuple[str, str]]:
    """What may have been replaced by what, wherever it stands: with letters, words and signs around it or without."""
    codes = SequenceMatcher(None, near, target, autojunk=False).get_opcodes()
    changed = [(start, end, target[left:right]) for tag, start, end, left, right in codes if tag != "equal"]
    for front, back in itertools.product((r"", r".", r"\w+", r"\w+\W"), (r"", r".", r"\w+", r"\W\w+")):
        parts = {_with_more(near, *change, front, back) for change in changed}
        if len(parts) == 1:
            [(old, new)] = parts
            if old:
                yield old, new


def _with_more(text: str, start: int, end: int, new: str, front: str, back: str) -> tuple[str, str]:
    """A change of a part of a text, as one of a longer part; empty if there is none so long."""
    before = re.search(rf"(?:{front})\Z", text[max(start - _AROUND, 0) : start], re.DOTALL)
    after = re.match(back, text[end : end + _AROUND], re.DOTALL)
    if before is None or after is None:
        return "", ""
    return f"{before[0]}{text[start:end]}{after[0]}", f"{before[0]}{new}{after[0]}"
