"""What says whether a part of a test is come to, in languages with the words of C. Pure."""

from __future__ import annotations

from collections.abc import Collection

from tree_sitter import Node

from harness.core.syntax import field_of, field_text, is_field, walk, words

_BRANCHING = words("if_statement ternary_expression while_statement")
_CASES = words("switch_case switch_default switch_block_statement_group switch_rule")
_BLOCKS = words("statement_block block")
_PASSED = words("if_statement try_statement try_with_resources_statement")
"""Statements that may leave a turn of a loop, or a function: by a condition, or where something throws."""
_LEAVING = words("continue_statement break_statement return_statement")
_CHOOSING = words("|| && ??")


def conditions(around: Node, at: Node, functions: Collection[str]) -> list[Node]:
    """What says whether a part of a node is come to: of the branch that it is, and of those before it that leave.

    `functions` are nodes whose own ends are not those of what is around.
    """
    if around.type in _BLOCKS:
        before = [node for node in around.named_children if node.end_byte <= at.start_byte]
        leaving = [node for node in before if node.type in _PASSED and _leaves(node, functions)]
        return [field_of(node, "condition") or node for node in leaving]
    condition, is_part = None, True
    if around.type in _BRANCHING:
        condition, is_part = field_of(around, "condition"), not is_field(around, "condition", at)
    elif around.type in _CASES:
        switch = around.parent.parent if around.parent is not None else None
        condition = field_of(switch, "value") or field_of(switch, "condition")
        is_part = not is_field(around, "value", at)
    elif around.type == "binary_expression" and field_text(around, "operator") in _CHOOSING:
        condition, is_part = field_of(around, "left"), is_field(around, "right", at)
    return [condition] if condition is not None and is_part else []


def _leaves(statement: Node, functions: Collection[str]) -> bool:
    """Whether what a statement holds may end a turn of a loop, or a function."""
    return any(part.type in _LEAVING for part in walk(statement, functions))
