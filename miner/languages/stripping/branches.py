"""What says whether a part of a test is come to, in languages with the words of C. Pure."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

from tree_sitter import Node

from harness.core.syntax import field_of, field_text, is_field, named, text_of, upward, words

_BRANCHING = words("if_statement ternary_expression while_statement")
_CASES = words("switch_case switch_default switch_block_statement_group switch_rule")
_BLOCKS = words("statement_block block switch_block switch_body") | _CASES
_LOOPS = words("for_statement enhanced_for_statement for_in_statement while_statement do_statement")
_SWITCHES = words("switch_expression switch_statement")
_TRIES = words("try_statement try_with_resources_statement")
_LEAVING = words("continue_statement break_statement return_statement")
_OWN = words("lambda_expression arrow_function function_expression class_body")
"""What returns from itself alone."""
_CHOOSING = words("|| && ??")
_ENDING = re.compile(r"throw\b|(?:\w+\.)*fail\(")
"""How a statement begins that ends a test."""


def conditions(around: Node, at: Node, functions: Collection[str]) -> list[Node]:
    """What says whether a part of a node is come to: of the branch that it is, and of those before it that leave.

    `functions` are nodes whose own ends are not those of what is around.
    """
    before = (node for node in around.named_children if node.end_byte <= at.start_byte)
    leaving = [part for node in before for part in _leaving(node, functions)] if around.type in _BLOCKS else []
    return leaving + _branch(around, at)


def _branch(around: Node, at: Node) -> list[Node]:
    """What says whether the branch of a node is come to that a part of it is."""
    condition, is_part = None, True
    if around.type in _BRANCHING:
        condition, is_part = field_of(around, "condition"), not is_field(around, "condition", at)
    elif around.type in _CASES:
        switch = around.parent.parent if around.parent is not None else None
        condition = field_of(switch, "value") or field_of(switch, "condition")
        is_part = not is_field(around, "value", at)
    elif around.type in _TRIES:
        condition, is_part = at, is_field(around, "body", at) and _goes_on(around)
    elif around.type == "binary_expression" and field_text(around, "operator") in _CHOOSING:
        condition, is_part = field_of(around, "left"), is_field(around, "right", at)
    return [condition] if condition is not None and is_part else []


def _leaving(statement: Node, functions: Collection[str]) -> Iterator[Node]:
    """What says whether a statement ends what it stands in: a turn of a loop, a case or a function."""
    for end in _ends_in(statement, functions):
        for at in upward(end):
            around = at.parent
            if at == statement or around is None:
                break
            yield from _branch(around, at)
            if around.type in _LOOPS:
                yield around
            elif around.type in _TRIES and not is_field(around, "body", at):
                yield field_of(around, "body") or around


def _ends_in(statement: Node, functions: Collection[str]) -> Iterator[Node]:
    """The statements in one that leave what is around it."""
    rest: list[tuple[Node, frozenset[str]]] = [(statement, frozenset())]
    while rest:
        node, inside = rest.pop()
        if node.type in _LEAVING:
            is_labelled = node.type != "return_statement" and bool(named(node))
            if is_labelled or node.type not in inside:
                yield node
            continue
        if node.type in _OWN or node.type in functions:
            continue
        if node.type in _LOOPS:
            inside |= {"break_statement", "continue_statement"}
        elif node.type in _SWITCHES:
            inside |= {"break_statement"}
        rest += [(child, inside) for child in node.named_children]


def _goes_on(statement: Node) -> bool:
    """Whether a test may go on after what a `try` catches."""
    clauses = [child for child in named(statement) if child.type == "catch_clause"]
    last = [named(field_of(clause, "body"))[-1:] for clause in clauses]
    return any(not (statements and _ENDING.match(text_of(statements[0]))) for statements in last)
