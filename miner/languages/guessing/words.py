"""Words of texts and parts of values, as whoever guesses has them."""

from __future__ import annotations

import ast
import contextlib
import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any

from harness.core import python_source
from harness.judging.values import Record

LAYOUT = r"[\s'\"]|,(?=\s*[\])}])"
"""What of a value may be written in one way or another."""
WORD = re.compile(r"\w+|[^\w\s]|\s+")
LITERAL = frozenset("[({'\"-0123456789")
"""What a literal of Python begins with."""


def parts_of(value: Any) -> Iterator[Any]:
    """All that is in a value, at any depth, and the words of texts."""
    if isinstance(value, dict):
        value = [*value.keys(), *value.values()]
    if isinstance(value, Record) and value.attrs:
        value = [field for _, field in value.attrs]
    if isinstance(value, list | tuple | set | frozenset):
        for inner in value:
            yield from parts_of(inner)
    else:
        yield value
        yield from WORD.findall(value) if isinstance(value, str) else ()


def nearest_text(texts: Sequence[str], values_kept: Sequence[Any]) -> str:
    """The text that has the most words of some values, and the fewest others."""
    sought = {word for value in values_kept if isinstance(value, str) for word in WORD.findall(value)}

    def nearness(text: str) -> int:
        words = words_in(text)
        return len(words & sought) - len(words - sought)

    return max(texts, key=nearness, default="")


@lru_cache(maxsize=1 << 14)
def words_in(text: str) -> frozenset[str]:
    return frozenset(WORD.findall(text))


def example_value(text: str) -> Any:
    """The value that an example of a doctest shows; its text where that is none."""
    with contextlib.suppress(ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        match python_source.parse(text.strip()).body:
            case [ast.Expr(value)]:
                return ast.literal_eval(value)
    return text
