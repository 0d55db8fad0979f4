"""Values for tests of the judge: a small encoder of the form that docs/judging.md has, and random plain values."""

from __future__ import annotations

import datetime as dt
import ipaddress
from collections import OrderedDict
from decimal import Decimal
from fractions import Fraction
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any
from uuid import UUID

from harness.judging.values import names_of

if TYPE_CHECKING:
    import random

CONTAINERS = {list: "l", tuple: "t", set: "S", frozenset: "F"}


def encode(value: Any) -> Any:  # noqa: PLR0911 - one kind after the other
    """A plain value, encoded."""
    if value is None or isinstance(value, bool):
        return value
    if value is ... or value is NotImplemented:
        return ["k", "Ellipsis" if value is ... else "NotImplemented"]
    if type(value) in CONTAINERS:
        return [CONTAINERS[type(value)], [encode(item) for item in value]]
    if isinstance(value, dict):
        tag = "D" if isinstance(value, OrderedDict) else "d"
        return [tag, [[encode(key), encode(inner)] for key, inner in value.items()]]
    if isinstance(value, int):
        return ["i", format(value, "x")]
    if isinstance(value, float):
        return ["f", value.hex()]
    if isinstance(value, complex):
        return ["c", value.real.hex(), value.imag.hex()]
    if isinstance(value, str):
        return ["s", value]
    if isinstance(value, bytes | bytearray):
        return ["b" if isinstance(value, bytes) else "B", value.hex()]
    return ["n", *standard(value)]


def standard(value: Any) -> tuple[str, ...]:
    """A value of the standard library: the name of its type, and its texts."""
    if isinstance(value, type):
        names = names_of(value)
        return ("type", names[0], *names)
    if isinstance(value, dt.datetime | dt.date | dt.time):
        return (f"datetime.{type(value).__name__}", value.isoformat())
    if isinstance(value, dt.timedelta):
        return ("datetime.timedelta", str(value.days), str(value.seconds), str(value.microseconds))
    if isinstance(value, Fraction):
        return ("fractions.Fraction", f"{value.numerator}/{value.denominator}")
    if isinstance(value, PurePosixPath):
        return ("pathlib.PurePath", str(value))
    if isinstance(value, range):
        return ("range", str(value.start), str(value.stop), str(value.step))
    return (f"{type(value).__module__}.{type(value).__qualname__}", str(value))


def exception(error: BaseException) -> Any:
    """An exception, encoded."""
    return ["e", list(names_of(type(error))), str(error), [encode(one) for one in error.args], []]


LEAVES: tuple[Any, ...] = (
    *(None, True, False, ..., 0, 1, -1, -2, 2, 255, -(2**61), 2**61 - 1, 10**400, 0.0, -0.0, 1.0, 0.1, 1e308),
    *(float("inf"), float("-inf"), float("nan"), 1j, complex(1, 0), "", "a", "abc", "é", "\ud800", "\0"),
    *(b"", b"a", b"\xff\0", bytearray(b"a"), Decimal(1), Decimal("1.0"), Decimal("-0.1"), Decimal("NaN")),
    *(Decimal("Infinity"), Fraction(1, 3), Fraction(1), dt.date(2020, 1, 1), dt.datetime.fromisoformat("2020-01-01")),
    *(dt.datetime(2020, 1, 1, tzinfo=dt.UTC), dt.time(1, 2, 3, 4), dt.timedelta(-1, 2, 3), range(3), range(0)),
    *(range(0, 10, 3), UUID(int=7), PurePosixPath("a/b"), PurePosixPath(), int, ValueError, dict),
    *(ipaddress.ip_address("127.0.0.1"), ipaddress.ip_network("10.0.0.0/8"), ipaddress.ip_address("::1")),
)


def random_value(rng: random.Random, depth: int = 3) -> Any:
    """A plain value of any kind, containers among them."""
    kind = rng.randrange(12) if depth else 0
    if kind < 6:
        leaf = rng.choice(LEAVES)
        return type(leaf)("nan") if isinstance(leaf, float | Decimal) and leaf != leaf else leaf  # noqa: PLR0124
    items = [random_value(rng, depth - 1) for _ in range(rng.randrange(4))]
    if kind < 8:
        return items
    if kind == 8:
        return tuple(items)
    with_hash = [item for item in items if has_hash(item)]
    if kind == 9:
        return set(with_hash)
    if kind == 10:
        return frozenset(with_hash)
    return {key: random_value(rng, depth - 1) for key in with_hash}


def has_hash(value: Any) -> bool:
    """Whether it can be a member of a set."""
    try:
        hash(value)
    except (TypeError, ValueError):
        return False
    return True
