"""What comes to mind for several values together: what standard functions of two or three of them give. Pure."""

from __future__ import annotations

import itertools
import operator
import posixpath
import re
import textwrap
from collections.abc import Callable, Iterable, Mapping, Sequence, Sized
from datetime import UTC, datetime
from fnmatch import fnmatch
from math import comb, gcd, prod, trunc
from typing import Any
from urllib.parse import urljoin

from miner.languages.guessing import web_values
from miner.languages.guessing.calculations import OF_TWO

_LARGEST = 1 << 16
"""Of numbers and of texts that are made: whatever is larger is no guess."""
_LONGEST = 2000
_MOST_REPEATS = 2
"""Of a regular expression and the letters that it looks through."""
_SIGNS = ("", " ", "-", "_", ".", ":", ": ", "/", ",", ", ", "=", "@", "\n")
"""What texts are joined by."""


def _small(*numbers: Any) -> None:
    """Raises where what is made of these may be large."""
    if any(isinstance(number, int | float) and abs(number) > _LARGEST for number in numbers):
        raise ValueError("too large")


def short(values: Iterable[Any]) -> tuple[Any, ...]:
    """Values to combine; raises where one is so long that what is made of two may take gigabytes."""
    listed = tuple(values)
    if any(isinstance(value, Sized) and len(value) > _LONGEST for value in listed):
        raise ValueError("too long")
    return listed


def _times(value: Any, times: Any) -> Any:
    if isinstance(value, int | float) and isinstance(times, int | float):
        return value * times
    items, count = (value, times) if isinstance(times, int) else (times, value)
    return value * times if len(items) * abs(count) <= _LARGEST else None


def _power(value: Any, power: Any) -> Any:
    _small(value)
    return value**power if abs(power) <= 64 else None  # noqa: PLR2004


def _formatted(value: str, *arguments: Any) -> str:
    _bounded(value)
    return value.format(*arguments)


def percent_formatted(value: str, *arguments: Any) -> str:
    _bounded(value)
    return value % arguments


def _bounded(form: str) -> None:
    """Raises where a format asks for more than what it is given: a width of millions, or one that is given."""
    if re.search(r"\d{4}|\*|\{[^{}]*\{", form):
        raise ValueError("too wide")


def _padded(pad: Callable[..., str]) -> Callable[[str, int], str]:
    def padded(value: str, width: int) -> str:
        _small(width)
        return pad(value, width)

    return padded


def _wrapped(wrap: Callable[[str, int], Any]) -> Callable[[str, float], Any]:
    """A function of a text and a width; raises where that is no number, as text would be wrapped without an end."""
    return lambda value, width: wrap(value, trunc(width))


def _pattern(pattern: str, text: str) -> re.Pattern[str]:
    """A regular expression that takes no long time in a text; raises else."""
    if len(text) > _LONGEST or len(re.findall(r"[*+{]", pattern)) > _MOST_REPEATS:
        raise ValueError("it may take long")
    return re.compile(pattern)


def _merged(left: Any, other: Any) -> Any:
    if not isinstance(left, dict) or not isinstance(other, dict):
        return other
    return {**left, **{key: _merged(left.get(key), value) for key, value in other.items()}}


def _at(value: Any, path: str) -> Any:
    """What is at a path with dots, of mappings and lists."""
    for step in path.split("."):
        value = value[int(step) if isinstance(value, list | tuple) else step]
    return value


def _looking_alike(text: str, sample: str) -> list[str]:
    """Other pieces of a text that have a sample's form: digits and letters where it has some."""
    form = re.sub(r"\d+|[^\W\d_]+|[\W_]", _form_of, sample)
    return [piece for piece in re.findall(rf"(?<!\w){form}(?!\w)", text[:_LARGEST]) if piece != sample]


def _form_of(match: re.Match[str]) -> str:
    part = match[0]
    return rf"\d{{{len(part)}}}" if part.isdigit() else r"[^\W\d_]+" if part.isalpha() else re.escape(part)


PAIRS: Mapping[str, Callable[[Any, Any], Any]] = {
    "added": operator.add,
    "less the other": operator.sub,
    "times the other": _times,
    "by the other": operator.truediv,
    "by the other, whole": operator.floordiv,
    "what is left of it": lambda a, b: a % b if not isinstance(a, str | bytes) else None,
    "to the power": _power,
    "quotient and rest": divmod,
    "the common divisor": gcd,
    "ways to choose": lambda a, b: comb(a, b) if a <= _LARGEST >> 4 else None,
    "the lesser": min,
    "the larger": max,
    "both sets": lambda a, b: set(a) | set(b),
    "what both have": lambda a, b: set(a) & set(b),
    "what only one has": lambda a, b: set(a) ^ set(b),
    "items that both have": lambda a, b: [item for item in a if item in b],
    "items without the other's": lambda a, b: [item for item in a if item not in b],
    "items that only the other has as well": lambda a, b: [*a, *(item for item in b if item not in a)],
    "with the other at its end": lambda a, b: [*a, b],
    "with the other at its start": lambda a, b: [b, *a],
    "one mapping": lambda a, b: {**a, **b},
    "one mapping, the first counts": lambda a, b: {**b, **a},
    "one mapping, at any depth": _merged,
    "numbers from one to the other": lambda a, b: list(range(a, b)) if b - a < _LARGEST else None,
    "cut short with dots": lambda a, b: a[: b - 3] + "...",
    "cut short with a sign for more": lambda a, b: a[: b - 1] + "\N{HORIZONTAL ELLIPSIS}",
    "as an element": lambda a, b: f"<{a}>{b}</{a}>",
    "joined by the other": lambda a, b: b.join(map(str, a)),
    "split by the other": lambda a, b: a.split(b),
    "split once by the other": lambda a, b: a.split(b, 1),
    "in three parts": lambda a, b: a.partition(b),
    "what is in front of the other": lambda a, b: a.split(b)[0],
    "what is behind the other": lambda a, b: a.split(b, 1)[1],
    "what is behind the last": lambda a, b: a.rsplit(b, 1)[1],
    "without the other": lambda a, b: a.replace(b, ""),
    "stripped of the other": lambda a, b: a.strip(b),
    "without it in front": lambda a, b: a.removeprefix(b),
    "without it behind": lambda a, b: a.removesuffix(b),
    "where the other is": lambda a, b: a.find(b) if isinstance(a, str) else a.index(b),
    "how often the other is there": lambda a, b: a.count(b),
    "all that is found": lambda a, b: _pattern(b, a).findall(a),
    "what is found": lambda a, b: _pattern(b, a).search(a)[0],  # type: ignore[index]  # None says nothing
    "its groups": lambda a, b: _pattern(b, a).search(a).groups(),  # type: ignore[union-attr]
    "split where it is found": lambda a, b: _pattern(b, a).split(a),
    "those that are like it": lambda a, b: [item for item in a if fnmatch(item, b)],
    "filled in": _formatted,
    "shown by percent signs": percent_formatted,
    "in a format": lambda a, b: None if re.search(r"\d{4}", b) else format(a, b),
    "by strftime": lambda a, b: None if re.search(r"\d{4}", b) else a.strftime(b),
    "by strptime": lambda a, b: datetime.strptime(a, b).replace(tzinfo=UTC).replace(tzinfo=None),
    "the date by strptime": lambda a, b: datetime.strptime(a, b).replace(tzinfo=UTC).date(),
    "as one path": posixpath.join,
    "as one path, shortened": lambda a, b: posixpath.normpath(posixpath.join(a, b)),
    "as a path from the other": posixpath.relpath,
    "as one address": urljoin,
    "rounded": lambda a, b: round(a, b) if abs(b) <= 64 else None,  # noqa: PLR2004
    "at the right": _padded(str.rjust),
    "at the left": _padded(str.ljust),
    "in the middle": _padded(str.center),
    "with zeros": _padded(lambda value, width: str(value).zfill(width)),
    "in lines of that width": _wrapped(textwrap.wrap),
    "filled to that width": _wrapped(textwrap.fill),
    "shortened": _wrapped(textwrap.shorten),
    "its first ones": lambda a, b: a[:b],
    "its last ones": lambda a, b: a[-b:],
    "without its first ones": lambda a, b: a[b:],
    "what is there": lambda a, b: a[b],
    "what is at a path": _at,
    "that of each": lambda a, b: [item[b] for item in a],
    "sorted by it": lambda a, b: sorted(a, key=lambda item: item[b]),
    "each so many": lambda a, b: [a[at : at + b] for at in range(0, len(a), b)],
    "each so many, in tuples": lambda a, b: [tuple(a[at : at + b]) for at in range(0, len(a), b)],
    "each with its next": lambda a, b: [tuple(a[at : at + b]) for at in range(len(a) - b + 1)] if b > 0 else None,
    **OF_TWO,
    **web_values.OF_TWO,
    "these keys": lambda a, b: {key: a[key] for key in b},
    "all but these keys": lambda a, b: {key: value for key, value in a.items() if key not in b},
    "these values": lambda a, b: [a[key] for key in b],
    "in pairs": lambda a, b: list(zip(a, b, strict=False)),
    "as keys and values": lambda a, b: dict(zip(a, b, strict=False)),
    "each with each": lambda a, b: list(itertools.islice(itertools.product(a, b), _LARGEST)),
    "in turn": lambda a, b: [item for pair in zip(a, b, strict=False) for item in pair],
    "with the same for each": dict.fromkeys,
    "each with it added": lambda a, b: [item + b for item in a],
    "each times it": lambda a, b: [_times(item, b) for item in a],
    "a number by its base": int,
    "in that encoding": lambda a, b: a.encode(b),
    "of that encoding": lambda a, b: a.decode(b),
    "the first piece that looks like it": lambda a, b: _looking_alike(a, b)[0],
    "the last piece that looks like it": lambda a, b: _looking_alike(a, b)[-1],
    "the least piece that looks like it": lambda a, b: min(_looking_alike(a, b)),
    "the largest piece that looks like it": lambda a, b: max(_looking_alike(a, b)),
    **{f"with {sign!r} between them": lambda a, b, sign=sign: f"{a}{sign}{b}" for sign in _SIGNS},  # type: ignore[misc]
}
"""Of two values, by what they are called."""
TRIPLES: Mapping[str, Callable[[Any, Any, Any], Any]] = {
    "one replaced by the other": lambda a, b, c: a.replace(b, c),
    "what is found replaced": lambda a, b, c: _pattern(b, a).sub(c, a),
    "from here to there": lambda a, b, c: a[b:c],
    "between the two": lambda a, b, c: a.split(b, 1)[1].split(c, 1)[0],
    "no less and no more": lambda a, b, c: max(b, min(a, c)),
    "what is there, or the last": lambda a, b, c: a.get(b, c),
    "with a key more": lambda a, b, c: {**a, b: c},
    "filled in": _formatted,
    "shown by percent signs": percent_formatted,
    "as a colour": lambda a, b, c: f"#{a:02x}{b:02x}{c:02x}",
    "in steps": lambda a, b, c: list(range(a, b, c)) if len(range(a, b, c)) < _LARGEST else None,
    "to a power, what is left": pow,
}
"""Of three values."""


def _joined(sign: str) -> Callable[[Sequence[Any]], Any]:
    return lambda values: sign.join(map(str, values))


SEVERAL: Mapping[str, Callable[[Sequence[Any]], Any]] = {
    "in one list": list,
    "in one tuple": tuple,
    "in one set": set,
    "in one list, backwards": lambda values: [*values][::-1],
    "in one list, sorted": sorted,
    "their sum": sum,
    "their product": lambda values: prod(values) if all(isinstance(value, int | float) for value in values) else None,
    "their mean": lambda values: sum(values) / len(values),
    "one after the other": lambda values: [item for value in values for item in value],
    "as one mapping": lambda values: dict(zip(values[::2], values[1::2], strict=True)),
    "the least of them": min,
    "the largest of them": max,
    **{f"with {sign!r} between all": _joined(sign) for sign in _SIGNS},
}
"""Of more values."""


def outermost(values: Iterable[Any]) -> list[Any]:
    """Of values in the order in which they are written, those that are in no other."""
    outer: list[Any] = []
    inner: list[str] = []
    for value in values:
        if (text := repr(value)) in inner:
            inner.remove(text)
            continue
        outer.append(value)
        inner = list(map(repr, _inside(value)))
    return outer


def _inside(value: Any) -> Iterable[Any]:
    """All that is in a value, at any depth; of a negative number the number."""
    parts = itertools.chain(*value.items()) if isinstance(value, dict) else value
    if isinstance(value, list | tuple | set | frozenset | dict):
        for part in parts:
            yield part
            yield from _inside(part)
    elif isinstance(value, int | float) and value < 0:
        yield -value
