"""What says whether a part of a test in Rust is come to, and how often. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from itertools import takewhile

from tree_sitter import Node

from harness.core.syntax import field_of, field_text, is_field, named, text_of, upward, walk, words
from miner.languages.rust.stripping.scopes import hands_on, macro_of

_PANICS = words("panic unreachable unimplemented todo")
_OWN = words("closure_expression function_item async_block macro_definition")
"""What returns from itself alone."""
_LOOPS = words("for_expression while_expression loop_expression")
_LEAVING = words("continue_expression break_expression")


@dataclass(frozen=True, kw_only=True)
class Ways:
    """What else than its own words says where a function goes."""

    is_called: bool
    """It may run several times, so that it counts if it returns early."""
    is_heeded: bool = True
    """Who calls it fails where it gives an error."""
    macros: Collection[str] = ()
    """Macros of the file that may leave what they stand in."""


def conditions(around: Node, at: Node, ways: Ways) -> list[Node]:
    """What says of a part of a node whether it is come to, or how often, where not each other way ends the test."""
    before = [child for child in named(around) if child.end_byte <= at.start_byte] if around.type == "block" else []
    leaving = (part for statement in before for part in _leaving(statement, ways))
    return [*_branch(around, at), *leaving]


def _branch(around: Node, at: Node) -> list[Node]:
    """What says whether the branch of a node is come to that a part of it is."""
    condition: Node | None = None
    if around.type == "match_arm" and is_field(around, "value", at) and around.parent is not None:
        others = [field_of(arm, "value") for arm in named(around.parent) if arm != around]
        condition = None if others and all(map(_ends, others)) else field_of(around.parent.parent, "value")
    elif around.type == "if_expression" and not is_field(around, "condition", at):
        others = [field_of(around, way) for way in ("consequence", "alternative") if not is_field(around, way, at)]
        condition = None if all(map(_ends, others)) else field_of(around, "condition")
    elif around.type == "let_declaration" and is_field(around, "alternative", at):
        condition = field_of(around, "value")
    elif around.type in _LOOPS and is_field(around, "body", at):
        condition = field_of(around, "condition") or field_of(around, "value") or around
    elif around.type == "closure_expression":
        condition = around
    elif around.type == "binary_expression" and field_text(around, "operator") in ("&&", "||"):
        condition = field_of(around, "left") if is_field(around, "right", at) else None
    return [condition] if condition is not None else []


def _leaving(statement: Node, ways: Ways) -> Iterator[Node]:
    """What says whether a statement leaves a turn of a loop, a block or a function that it stands in."""
    for end in walk(statement, _OWN):
        if (macro_named(end) or macro_of(end)) in ways.macros or (hands_on(end) and not ways.is_heeded):
            yield end
        is_return = end.type == "return_expression" and ways.is_called and not _ends(end)
        if is_return or (end.type in _LEAVING and _leads_out(end, statement)):
            for at in (end, *takewhile(lambda at: at != statement, upward(end.parent))):
                if at != statement and at.parent is not None:
                    yield from _branch(at.parent, at)


def _leads_out(end: Node, statement: Node) -> bool:
    """Whether what is left lies around a statement, and not in it."""
    label = next((child for child in end.children if child.type == "label"), None)
    way = (*takewhile(lambda at: at != statement, upward(end.parent)), statement)
    if label is None:
        return not any(at.type in _LOOPS for at in way)
    return not any(text_of(child) == text_of(label) for at in way for child in at.children if child.type == "label")


def _ends(node: Node | None) -> bool:
    """Whether a test fails that comes to a node: it panics there, or gives an error."""
    while node is not None and node.type in ("expression_statement", "else_clause"):
        node = next(iter(named(node)), None)
    if node is None:
        return False
    if node.type == "block":
        return any(map(_ends, named(node)))
    is_error = node.type == "return_expression" and text_of(next(iter(named(node)), None)).startswith("Err(")
    return is_error or macro_named(node) in _PANICS


def macro_named(node: Node | None) -> str:
    """The macro that is called as such; empty for anything else."""
    return field_text(node, "macro") if node is not None and node.type == "macro_invocation" else ""
