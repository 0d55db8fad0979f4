"""Functions of other test files in Rust that do no more than to compare what they are given. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from miner.languages.rust.stripping.scopes import arguments_of, bare, macro_of, named, opened
from miner.languages.syntax import text_of, walk

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from tree_sitter import Node

_TWO_SIDES = 2


@dataclass(frozen=True, kw_only=True)
class Side:
    """What a function compares: an argument, with what it makes of it."""

    argument: int
    front: str
    back: str
    methods: frozenset[str]
    """What is called on the way."""


@dataclass(frozen=True, kw_only=True)
class Helper:
    """A function whose one statement compares two of its arguments."""

    arguments: int
    sides: tuple[Side, Side]
    is_equal: bool
    """Whether they have to be equal; else they must not be."""


def helpers_in(sources: Iterable[bytes]) -> dict[str, Helper]:
    """Those of some files by name; none of a name that is there twice."""
    helpers: dict[str, Helper | None] = {}
    for source in sources:
        try:
            root = opened(source)[1]
        except ValueError:
            continue
        for node in walk(root):
            if node.type == "function_item":
                name = text_of(node.child_by_field_name("name"))
                helpers[name] = None if name in helpers else _helper(node)
    return {name: helper for name, helper in helpers.items() if helper is not None}


def _helper(function: Node) -> Helper | None:
    patterns = [part.child_by_field_name("pattern") for part in named(function.child_by_field_name("parameters"))]
    names = [text_of(pattern) for pattern in patterns]
    statements = named(function.child_by_field_name("body"))
    call = named(statements[0])[0] if len(statements) == 1 and statements[0].type == "expression_statement" else None
    call = call or (statements[0] if len(statements) == 1 else None)
    if call is None or macro_of(call) not in ("assert_eq", "assert_ne") or "" in names:
        return None
    sides = tuple(side for node in arguments_of(call)[:_TWO_SIDES] for side in _sides(bare(node), names))
    if len(sides) != _TWO_SIDES or len({side.argument for side in sides}) != _TWO_SIDES:
        return None
    return Helper(arguments=len(names), sides=(sides[0], sides[1]), is_equal=macro_of(call) == "assert_eq")


def _sides(node: Node, names: list[str]) -> Iterator[Side]:
    """The one argument that an expression is made of; none where it is made of anything else."""
    used = [part for part in walk(node) if part.type in ("identifier", "macro_invocation", "self")]
    if len(used) != 1 or text_of(used[0]) not in names:
        return
    text, start = node.text or b"", used[0].start_byte - node.start_byte
    end = start + len(used[0].text or b"")
    methods = frozenset(text_of(part) for part in walk(node) if part.type == "field_identifier")
    is_alone = node == used[0]
    front, back = ("", "") if is_alone else (f"{text[:start].decode()}(", f"){text[end:].decode()}")
    yield Side(argument=names.index(text_of(used[0])), front=front, back=back, methods=methods)
