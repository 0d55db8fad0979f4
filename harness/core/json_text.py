"""JSON as it is read from files, models and containers: one error for all that is none. Pure."""

from __future__ import annotations

import json
import re
from typing import Any

_BRACKET = re.compile(r'"(?:[^"\\]|\\.)*+"?|([\[{])|([\]}])', re.DOTALL)


class NestedError(json.JSONDecodeError):
    """More brackets around one another than can be read; the message says where."""


def loads(text: str | bytes, **hooks: Any) -> Any:
    """A value of JSON; `hooks` are those of `json.loads`.

    Raises:
        NestedError: it is nested too deeply.
        ValueError: it is none; a `json.JSONDecodeError` says where.

    """
    try:
        return json.loads(text, **hooks)
    except RecursionError:
        document = text if isinstance(text, str) else text.decode(json.detect_encoding(text), "surrogatepass")
    level = 0
    brackets = ((level := level + bool(mark[1]) - bool(mark[2]), -mark.start()) for mark in _BRACKET.finditer(document))
    raise NestedError("nested too deeply", document, -max(brackets)[1])


def mapping(value: object) -> dict[str, Any]:
    """A value where an object of JSON is expected; an empty one where it is none."""
    return value if isinstance(value, dict) else {}


def read_object(text: str | bytes) -> dict[str, Any] | None:
    """An object of JSON; None for anything else."""
    try:
        value = loads(text)
    except ValueError:
        return None
    return value if isinstance(value, dict) else None
