"""What is calculated of numbers, lists and tables of these, dates, versions and addresses. Pure."""

from __future__ import annotations

import calendar
import ipaddress
import itertools
import math
import operator
import re
import shlex
import statistics
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from difflib import SequenceMatcher
from fractions import Fraction
from typing import Any

_MOST = 1 << 8
"""Items, or times, from which on what is made of them is no guess."""
_LARGEST = 1 << 64
_IN_ALL_ORDERS = 6
_WIDEST = 700
"""The largest power of e that is a number."""
_INTEGER = re.compile(r"\d{1,18}")
_DATES = (
    *("%A", "%B", "%d/%m/%Y", "%m/%d/%Y", "%d.%m.%Y", "%Y%m%d", "%Y/%m/%d"),
    *("%B %d, %Y", "%d %B %Y", "%b %d, %Y", "%H:%M"),
)
"""How days and times are written."""


def _few(value: Any, most: int = _MOST) -> Any:
    """What is not too many things; raises else."""
    if (value if isinstance(value, int) else len(value)) > most:
        raise ValueError("too many")
    return value


def flat(value: Iterable[Any]) -> Iterator[Any]:
    """All items, at any depth."""
    for item in value:
        yield from flat(item) if isinstance(item, list | tuple) else (item,)


def _times(value: Any, other: Any) -> Any:
    """A product of numbers that are no larger than most; raises of others."""
    if not isinstance(value, int | float) or not isinstance(other, int | float) or abs(value) > _LARGEST:
        raise TypeError("no number, or a large one")
    return value * other


def _by(value: Iterable[Any], other: Any) -> list[Any]:
    return [number / other for number in value]


def _in_rows(value: Any, width: int) -> list[list[Any]]:
    items = list(flat(value))
    return [items[at : at + width] for at in range(0, len(items), width)]


def _on_diagonal(value: Any) -> list[list[Any]]:
    return [[number if at == place else 0 for place in range(len(_few(value)))] for at, number in enumerate(value)]


def _day(value: Any) -> Any:
    return datetime.fromisoformat(value) if isinstance(value, str) else value


def _later(days: int) -> Callable[[Any], Any]:
    """A day so many days later, as it is written."""

    def later(value: Any) -> Any:
        if isinstance(value, str):
            return later(date.fromisoformat(value)).isoformat()
        return value + timedelta(days)

    return later


def _in_month(value: Any, day: int | None) -> Any:
    """A day of its month, the last one without one, as it is written."""
    if isinstance(value, str):
        return _in_month(date.fromisoformat(value), day).isoformat()
    return value.replace(day=day or calendar.monthrange(value.year, value.month)[1])


def _raised(place: int) -> Callable[[str], str]:
    """A version with one of its numbers raised, and those after it 0."""

    def raised(value: str) -> str:
        numbers = list(map(int, _INTEGER.findall(value)))
        at = range(len(numbers))[place]
        after = iter([*numbers[:at], numbers[at] + 1, *[0] * (len(numbers) - at - 1)])
        return _INTEGER.sub(lambda _: str(next(after)), value)

    return raised


def _by_path(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    for key, inner in value.items():
        if isinstance(inner, dict):
            yield from _by_path(inner, f"{path}{key}.")
        else:
            yield f"{path}{key}", inner


def _of_paths(value: Mapping[str, Any]) -> dict[str, Any]:
    nested: dict[str, Any] = {}
    for path, inner in value.items():
        *folders, name = path.split(".")
        at = nested
        for folder in folders:
            at = at.setdefault(folder, {})
        at[name] = inner
    return nested


def _lines_of_pairs(value: str) -> dict[str, str]:
    pairs = (re.split("[:=]", line, maxsplit=1) for line in value.splitlines() if line.strip())
    return {name.strip(): inner.strip() for name, inner in pairs}


def _of_seconds(value: float) -> datetime:
    return datetime.fromtimestamp(value, UTC)


OF_ONE: Mapping[str, Callable[[Any], Any]] = {
    "its mean": statistics.fmean,
    **{
        f"its {kind.__name__}": lambda v, kind=kind: kind(_few(v, _MOST << 2))  # type: ignore[misc]
        for kind in (statistics.stdev, statistics.pstdev, statistics.variance, statistics.pvariance)
    },
    "its length as a vector": lambda v: math.hypot(*v),
    "its span": lambda v: max(v) - min(v),
    "its running products": lambda v: list(itertools.accumulate(_few(v), _times)),
    "each by their sum": lambda v: _by(v, sum(v)),
    "each by the largest": lambda v: _by(v, max(v)),
    "each by its length": lambda v: _by(v, math.hypot(*v)),
    "each less their mean": lambda v: [number - statistics.fmean(v) for number in _few(v)],
    "each from nothing to one": lambda v: _by([number - min(v) for number in _few(v)], max(v) - min(v)),
    "its places in order": lambda v: sorted(range(len(v)), key=v.__getitem__),
    "where the largest is": lambda v: v.index(max(v)),
    "where the least is": lambda v: v.index(min(v)),
    "its last before the others": lambda v: [v[-1], *v[:-1]],
    "each twice": lambda v: [item for item in v for _ in (0, 1)],
    "two times over": lambda v: [*v, *v],
    "means of neighbours": lambda v: [(before + after) / 2 for before, after in itertools.pairwise(v)],
    "with its next": lambda v: list(itertools.pairwise(v)),
    "all its beginnings": lambda v: [v[: at + 1] for at in range(len(_few(v)))],
    "in twos": lambda v: list(itertools.combinations(_few(v, _MOST >> 3), 2)),
    "in all orders": lambda v: list(itertools.permutations(_few(v, _IN_ALL_ORDERS))),
    "its sums below each other": lambda v: list(map(sum, zip(*v, strict=True))),
    "its means below each other": lambda v: list(map(statistics.fmean, zip(*v, strict=True))),
    "the sum of all that is inside": lambda v: sum(flat(v)),
    "the mean of all that is inside": lambda v: statistics.fmean(flat(v)),
    "all in rows of two": lambda v: _in_rows(v, 2),
    "all in rows of three": lambda v: _in_rows(v, 3),
    "on the diagonal of a table": _on_diagonal,
    "its logarithm": math.log,
    "its power of e": lambda v: math.exp(min(v, _WIDEST)),
    "its sine": math.sin,
    "its cosine": math.cos,
    "in radians": math.radians,
    "in degrees": math.degrees,
    "rounded up": math.ceil,
    "rounded down": math.floor,
    "as a fraction of small numbers": lambda v: str(Fraction(v).limit_denominator(100)),
    "the day after": _later(1),
    "the day before": _later(-1),
    "a week later": _later(7),
    "the first of its month": lambda v: _in_month(v, 1),
    "the last of its month": lambda v: _in_month(v, None),
    "its day of the year": lambda v: _day(v).timetuple().tm_yday,
    "its week": lambda v: _day(v).isocalendar()[1],
    **{f"as {form}": lambda v, form=form: _day(v).strftime(form) for form in _DATES},  # type: ignore[misc]
    "the time of these seconds": _of_seconds,
    "the time of these seconds as text": lambda v: _of_seconds(v).isoformat(),
    "the time of these seconds without its zone": lambda v: _of_seconds(v).replace(tzinfo=None),
    **{f"with its number {place} raised": _raised(place) for place in (0, 1, 2, -1)},
    "an address as a number": lambda v: int(ipaddress.ip_address(v)),
    "an address backwards": lambda v: ipaddress.ip_address(v).reverse_pointer,
    "an address in full": lambda v: ipaddress.ip_address(v).exploded,
    "the network of an address": lambda v: str(ipaddress.ip_interface(v).network.network_address),
    "how many addresses a network has": lambda v: ipaddress.ip_network(v, strict=False).num_addresses,
    "by paths with dots": lambda v: dict(_by_path(v)),
    "of paths with dots": _of_paths,
    "its words as a shell has them": lambda v: shlex.split(_few(v, 2000)),
    "its words without signs": re.compile(r"\w+").findall,
    "its words in one": lambda v: "".join(word.capitalize() for word in v.split()),
    "with plain slashes": lambda v: v.replace("\\", "/"),
    "masked but for its last four": lambda v: "*" * (len(v) - 4) + v[-4:],
    "how often each comes in a row": lambda v: "".join(f"{key}{len([*same])}" for key, same in itertools.groupby(v)),
    "a colour in numbers": lambda v: tuple(bytes.fromhex(v.removeprefix("#"))),
    "its lines of names and values": _lines_of_pairs,
}
"""Of one value, by what they are called."""


def _with_each(value: Any, other: Any, make: Callable[[Any, Any], Any]) -> Any:
    """What is made of numbers one by one, of lists with each other or with one number, at any depth."""
    if isinstance(value, list | tuple) and isinstance(other, list | tuple):
        return [_with_each(first, second, make) for first, second in zip(value, other, strict=True)]
    if isinstance(value, list | tuple):
        return [_with_each(first, other, make) for first in value]
    if not isinstance(value, int | float) or not isinstance(other, int | float):
        raise TypeError("no number")
    return make(value, other)


def _product_of_tables(left: Sequence[Any], other: Sequence[Any]) -> list[Any]:
    """A product of matrices; with a list, of a matrix and a vector."""
    if not isinstance(other[0], list | tuple):
        return [sum(map(_times, row, other)) for row in left]
    _few([*flat(left), *flat(other)], _MOST << 2)
    return [[sum(map(_times, row, column)) for column in zip(*other, strict=True)] for row in left]


_OF_NUMBERS: Mapping[str, Callable[[Any, Any], Any]] = {
    "and": operator.add,
    "less": operator.sub,
    "times": operator.mul,
    "by": operator.truediv,
    "by, whole": operator.floordiv,
    "by, what is left": operator.mod,
    "or, the lesser": min,
    "or, the larger": max,
    "with, the mean": lambda a, b: (a + b) / 2,
    "more than": operator.gt,
    "less than": operator.lt,
    "equal to": operator.eq,
}
OF_TWO: Mapping[str, Callable[[Any, Any], Any]] = {
    **{
        f"one by one, {name} the other": lambda a, b, make=make: _with_each(a, b, make)  # type: ignore[misc]
        for name, make in _OF_NUMBERS.items()
    },
    "the sum of their products": lambda a, b: sum(map(_times, a, b)),
    "a table of their products": lambda a, b: [[_times(first, second) for second in _few(b)] for first in _few(a)],
    "the product of tables": _product_of_tables,
    "how far apart": math.dist,
    "where it is larger": lambda a, b: [place for place, number in enumerate(a) if number > b],
    "those that are larger": lambda a, b: [number for number in a if number > b],
    "those that are less": lambda a, b: [number for number in a if number < b],
    "in so many rows": lambda a, b: _in_rows(a, len(a) // b),
    "so many of them, in all ways": lambda a, b: list(itertools.combinations(_few(a, _MOST >> 4), _few(b))),
    "each so often": lambda a, b: [item for item in _few(a) for _ in range(_few(b, _MOST >> 3))],
    "all so often": lambda a, b: [*_few(a)] * _few(b, _MOST >> 3),
    "turned by so many": lambda a, b: [*a[-b:], *a[:-b]],
    "how alike": lambda a, b: SequenceMatcher(None, _few(a), _few(b)).ratio(),
    "days of that month": lambda a, b: calendar.monthrange(a, b)[1],
}
"""Of two values, by what they are called."""
