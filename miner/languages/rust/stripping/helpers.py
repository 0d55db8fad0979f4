"""Functions of other test files in Rust that do no more than to compare what they are given. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from tree_sitter import Node

from harness.core.syntax import arguments_of, bare, field_of, field_text, named, text_of, walk
from miner.languages.rust.stripping.scopes import macro_of, opened
from miner.languages.stripping.helpers import Helper, Side, helpers_by_name, sides_of
from miner.languages.stripping.sites import AS_IT_IS, NOT

_TWO_SIDES = 2


def helpers_in(sources: Iterable[bytes]) -> dict[str, Helper]:
    """Those of some files by name; none of a name that is there twice."""
    return helpers_by_name(sources, _read)


def _read(source: bytes) -> Iterator[tuple[str, Helper | None]]:
    for node in walk(opened(source)[1]):
        if node.type == "function_item":
            yield field_text(node, "name"), _helper(node)


def _helper(function: Node) -> Helper | None:
    patterns = [field_of(part, "pattern") for part in named(field_of(function, "parameters"))]
    names = [text_of(pattern) for pattern in patterns]
    statements = named(field_of(function, "body"))
    call = named(statements[0])[0] if len(statements) == 1 and statements[0].type == "expression_statement" else None
    call = call or (statements[0] if len(statements) == 1 else None)
    if call is None or macro_of(call) not in ("assert_eq", "assert_ne") or "" in names:
        return None
    sides = tuple(side for node in arguments_of(call)[:_TWO_SIDES] for side in _sides(bare(node), names))
    if len(sides) != _TWO_SIDES or len({side.argument for side in sides}) != _TWO_SIDES:
        return None
    options = {} if macro_of(call) == "assert_eq" else NOT
    return Helper(arguments=len(names), sides=sides, op="rust.==", options=options)


def _sides(node: Node, names: list[str]) -> Iterator[Side]:
    """The one argument that an expression is made of; none where it is made of anything else."""
    parts = [part for part in walk(node) if part.type in ("identifier", "macro_invocation", "self")]
    methods = (text_of(part) for part in walk(node) if part.type == "field_identifier")
    yield from sides_of(node, parts, names, AS_IT_IS, methods)
