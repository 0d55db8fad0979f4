"""Whether two answers are the same: by what values do, not by their classes. Pure and total."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

_NEAR = 1e-9
"""Relative difference below which floats are the same: sums may be made in another order."""


def equal(left: Mapping[str, Any] | None, right: Mapping[str, Any] | None) -> bool:
    """Whether two answers say the same; never where one is missing or can't be told."""
    if left is None or right is None:
        return False
    try:
        if "raised" in left and "raised" in right:
            return bool(left["raised"][:1] == right["raised"][:1])
        return "value" in left and "value" in right and _equal(left["value"], right["value"])
    except (RecursionError, TypeError, ValueError, IndexError, KeyError, AttributeError, OverflowError):
        return False  # no answer of ours


def _equal(left: Any, right: Any) -> bool:
    if type(left) is type(right) and left == right:
        return True
    numbers = _number(left), _number(right)
    if None not in numbers:
        return _same_number(*numbers)
    if not (isinstance(left, list) and isinstance(right, list)):
        return False
    if left[0] == "o" and right[0] == "o":
        return bool(left[2] == right[2]) and _equal(left[1], right[1])
    if "o" in (left[0], right[0]):  # a class of the product's own, that does what a standard one does
        return _equal(left[1] if left[0] == "o" else left, right[1] if right[0] == "o" else right)
    if left[0] != right[0]:
        return False
    if left[0] in ("l", "t", "S", "F"):
        return len(left[1]) == len(right[1]) and all(map(_equal, left[1], right[1]))
    if left[0] in ("d", "a"):
        return _same_items(left, right)
    return bool(left[0] == "e" and left[1][:1] == right[1][:1])


def _same_items(left: Any, right: Any) -> bool:
    """Mappings, whatever their order; attributes, as far as both have them."""
    mine, other = ({repr(key): value for key, value in items[1]} for items in (left, right))
    if left[0] == "d" and mine.keys() != other.keys():
        return False
    return all(_equal(value, other[key]) for key, value in mine.items() if key in other)


def _number(value: Any) -> int | float | None:
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, list) and value and value[0] == "i":
        return int(value[1], 16)
    if isinstance(value, list) and value and value[0] == "f":
        return float.fromhex(value[1])
    return None


def _same_number(left: float | None, right: float | None) -> bool:
    if isinstance(left, int) and isinstance(right, int):
        return left == right
    assert left is not None  # noqa: S101 - the caller has looked
    assert right is not None  # noqa: S101
    both_nan = math.isnan(left) and math.isnan(right)
    return both_nan or left == right or math.isclose(left, right, rel_tol=_NEAR)
