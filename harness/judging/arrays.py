"""Arrays of numpy and tables of pandas, and how their testing functions compare them: item by item. Pure."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

_NUMBER = int | float | complex | Decimal
MAX_DIMENSIONS = 64
"""As numpy has it."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Array:
    """An array of at least one dimension. `==` gives no truth in numpy, so only the functions below compare it."""

    shape: tuple[int, ...]
    items: Sequence[Any]
    """In the order of C: the last dimension first."""
    labels: Mapping[str, Any] = field(default_factory=dict)
    """What pandas has beside them: `kind`, `dtype`, `names`, `freq`, `index`, `columns`; numpy looks at none of it."""

    def as_lists(self) -> list[Any]:
        """Its items as `tolist` gives them."""
        items = list(self.items)
        for length in self.shape[:0:-1]:
            items = [items[start : start + length] for start in range(0, len(items), length or 1)]
        return items


def array_of(value: Any) -> Array:
    """As `numpy.asarray`; what is no sequence gets no dimension.

    Raises:
        ValueError: it is a list of lists of different lengths.

    """
    if isinstance(value, Array):
        return value
    if not isinstance(value, list | tuple):
        return Array(shape=(), items=(value,))
    parts = list(map(array_of, value))
    shapes = {part.shape for part in parts} or {()}
    if len(shapes) > 1:
        raise ValueError("lists of different lengths")
    return Array(
        shape=(len(parts), *shapes.pop()), items=list(itertools.chain.from_iterable(part.items for part in parts))
    )


def paired(left: Any, other: Any) -> list[tuple[Any, Any]]:
    """The items of two arrays that are compared with each other; a scalar is compared with each.

    Raises:
        ValueError: their shapes differ, or a scalar would be compared with nothing, which numpy takes for equal.

    """
    first, second = array_of(left), array_of(other)
    if first.shape == second.shape:
        return list(zip(first.items, second.items, strict=True))
    if (second.shape and first.shape) or not (first.items and second.items):
        raise ValueError("other shapes")
    return (
        list(zip(itertools.cycle(first.items), second.items))
        if second.shape
        else [(item, second.items[0]) for item in first.items]
    )


def equal(actual: Any, desired: Any) -> bool:
    """As `assert_equal`: dictionaries, lists and tuples by their parts, arrays as `arrays_equal`, and signs of zero."""
    if isinstance(desired, dict):
        return (
            isinstance(actual, dict)
            and len(actual) == len(desired)
            and all(key in actual and equal(actual[key], value) for key, value in desired.items())
        )
    if isinstance(desired, list | tuple) and isinstance(actual, list | tuple):
        return len(actual) == len(desired) and all(map(equal, actual, desired))
    if any(isinstance(side, Array) for side in (actual, desired)):
        return arrays_equal(actual, desired)
    return _is_same(actual, desired) and _sign_of_zero(actual) == _sign_of_zero(desired)


def arrays_equal(actual: Any, desired: Any, *, nan: bool = True, stretches: bool = True) -> bool:
    """As `assert_array_equal`; without `stretches` as `array_equal`, for which a scalar has another shape."""
    return (stretches or array_of(actual).shape == array_of(desired).shape) and all(
        _is_same(left, other, nan=nan) for left, other in paired(actual, desired)
    )


def near(actual: Any, desired: Any, is_near: Callable[[Any, Any], bool], *, nan: bool = True) -> bool:
    """Whether all pairs are of numbers that are equal, or finite and near each other."""
    return all(
        isinstance(left, _NUMBER)
        and isinstance(other, _NUMBER)
        and (_is_same(left, other, nan=nan) or (_is_finite(left) and _is_finite(other) and is_near(left, other)))
        for left, other in paired(actual, desired)
    )


def tables_equal(
    actual: Array,
    desired: Array,
    is_near: Callable[[Any, Any], bool],
    *,
    check_dtype: bool = True,
    check_names: bool = True,
    check_freq: bool = False,
) -> bool:
    """As pandas' `assert_series_equal`, `assert_frame_equal` and `assert_index_equal`; integers have to be the same."""
    labels, others = actual.labels, desired.labels
    checked = {"kind": True, "dtype": check_dtype, "names": check_names, "freq": check_freq}
    return (
        actual.shape == desired.shape
        and all(labels.get(name) == others.get(name) for name, is_checked in checked.items() if is_checked)
        and all(
            name in labels
            and name in others
            and tables_equal(
                labels[name], others[name], is_near, check_names=check_names, check_freq=check_freq and name == "index"
            )
            for name in {"index", "columns"} & (labels.keys() | others.keys())
        )
        and all(
            _is_same(left, other) or (isinstance(left, float) and isinstance(other, float) and is_near(left, other))
            for left, other in paired(actual, desired)
        )
    )


def _is_same(left: Any, other: Any, *, nan: bool = True) -> bool:
    return bool(left == other) or (nan and is_nan(left) and is_nan(other))


def is_nan(value: Any) -> bool:
    """Whether a value of any kind is a number that is none."""
    return isinstance(value, float | complex | Decimal) and value != value  # noqa: PLR0124 - so is NaN alone


def _is_finite(number: Any) -> bool:
    return math.isfinite(abs(number))


def _sign_of_zero(value: Any) -> float:
    return math.copysign(1.0, value) if isinstance(value, float) and value == 0 else 1.0
