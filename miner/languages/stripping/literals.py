"""What is written out in stripped tests, for guessing what they expect: what is the same in each language. Pure."""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import suppress
from typing import Any

from tree_sitter import Node

from harness.core.syntax import field_text, text_of, walk

_CALLED = {"call_expression": "function", "method_invocation": "name"}
"""Calls, and the field that has what is called."""


def values_in(node: Node, types: Collection[str], value_of: Callable[[Node], Any]) -> Iterator[Any]:
    """The values of all nodes of some types in one; `value_of` raises of what it does not read."""
    for part in walk(node):
        if part.type in types:
            with suppress(ValueError, SyntaxError, AttributeError):
                yield value_of(part)


def negated(value: Any) -> float:
    """What a minus before a literal stands for; raises `ValueError` where that is no number."""
    if isinstance(value, (int, float)):
        return -value
    raise ValueError("not a number")


def unescaped(text: str) -> str:
    """What a text in quotes says, with escapes as Python has them."""
    with suppress(ValueError, SyntaxError):
        return str(ast.literal_eval(text))
    return text[1:-1]


def handed_literals(
    calls: Iterable[tuple[int, str, Iterator[Any]]],
) -> tuple[dict[int, tuple[Any, ...]], dict[str, tuple[Any, ...]]]:
    """By slot what is written out in what is handed out there, by function what is in all of it.

    `calls` are those of the hand-out: the slot, the function around, and the literals in what it is given.
    """
    slots: dict[int, tuple[Any, ...]] = {}
    functions: dict[str, tuple[Any, ...]] = {}
    for slot, function, literals in calls:
        values = tuple(literals)
        slots[slot] = (*slots.get(slot, ()), *values)
        functions[function] = (*functions.get(function, ()), *values)
    return slots, functions


def values_together(
    root: Node,
    values_of: Callable[[Node], Iterable[Any]],
    arguments_of: Callable[[Node], Iterable[Node]],
    functions: Collection[str],
    hand_out: str,
) -> Iterator[list[Any]]:
    """Values that a source writes at one place of all calls of a function, in one call, or in one function.

    Calls of `hand_out`, and functions with such calls in them, are left out.
    """
    places: dict[tuple[str, int], list[Any]] = {}
    for node in walk(root):
        if node.type in functions and hand_out not in text_of(node):
            yield list(values_of(node))
        name = field_text(node, _CALLED[node.type]) if node.type in _CALLED else hand_out
        if hand_out in name:
            continue
        arguments = [list(values_of(argument))[:1] for argument in arguments_of(node)]
        for place, values in enumerate(arguments):
            places.setdefault((name, place), []).extend(values)
        yield [value for values in arguments for value in values]
    yield from places.values()
