"""A stripped test file in Java whose tests go on where something throws, without names that a tree lacks. Pure."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from miner.languages.java.stripping.scopes import arguments_of, method_around, named, parse
from miner.languages.syntax import place_of, rendered, text_of, walk
from miner.languages.tree_source import lines_of

if TYPE_CHECKING:
    from tree_sitter import Node

    from miner.languages.tree_source import Edits

_AT = r"^%s:(\d+):(\d+): (.*)"
"""Where the compiler complains of a file, and of what."""
_ZEROS = {"boolean": "false", "char": "'0'", "byte": "(byte) 0", "short": "(short) 0", "int": "0", "long": "0L"} | {
    "float": "0f",
    "double": "0d",
}
_STATEMENTS = frozenset({"expression_statement", "local_variable_declaration", "return_statement", "throw_statement"})
_MEMBERS = frozenset({"field_declaration", "method_declaration", "class_declaration", "import_declaration"})


def unstopped(text: str, name: str, output: str, *, is_first: bool, hand_out: str) -> str:
    """The file whose statements throw nothing any more, without what the compiler complained of; the same if nothing.

    `output` is what a run of that text printed, `name` what the file is called without its folders.
    """
    source = text.encode()
    try:
        root = parse(source)
    except ValueError:
        return text
    edits: Edits = {}
    for line, column, words in re.findall(_AT % re.escape(name), output, re.MULTILINE):
        row = int(line) - 1
        place = row, _offset(text.split("\n")[row], int(column) - 1)
        node = root.descendant_for_point_range(place, place)
        if node is not None:
            edits |= _without(node, hand_out, is_caught="effectively final" in words)
    for node in walk(root) if is_first else ():
        if not any(start <= node.start_byte and node.end_byte <= end for start, end in edits):
            edits |= _going_on(node, hand_out)
    return rendered(source, 0, len(source), edits).decode()


def _offset(line: str, column: int) -> int:
    """The byte of a line at a column, as the compiler counts these: to the next eighth with a tab."""
    at = 0
    for index, letter in enumerate(line):
        if at >= column:
            return len(line[:index].encode())
        at += 8 - at % 8 if letter == "\t" else 1
    return len(line.encode())


def _without(node: Node, hand_out: str, *, is_caught: bool) -> Edits:
    """The edit that drops the statement around a node, or what it makes of a name; that of the class if in none.

    With `is_caught` only what lets it throw nothing, as that can't be where names change.
    """
    at: Node | None = node
    while at is not None:
        if is_caught and text_of(at).startswith(f"{hand_out}.tried(") and at.type == "method_invocation":
            value = arguments_of(at)[1].child_by_field_name("body")
            return {place_of(at): (place_of(value),)} if value is not None else {}
        if at.type == "block" and text_of(at).startswith(f"{{ try {{ {hand_out}."):
            return {place_of(at): ("{ }" + lines_of(at),)}
        if at.type in _MEMBERS:
            return {place_of(at): (lines_of(at),)}
        if at.type in _STATEMENTS and not _is_in_hand_out(at, hand_out):
            return {place_of(at): (_in_place_of(at),)}
        at = at.parent
    return {}


def _is_in_hand_out(node: Node, hand_out: str) -> bool:
    return node.type == "expression_statement" and text_of(node).startswith(f"{hand_out}.values")


def _in_place_of(statement: Node) -> str:
    kind = text_of(statement.child_by_field_name("type"))
    if statement.type == "local_variable_declaration" and kind != "var":
        names = (
            text_of(declarator.child_by_field_name("name"))
            for declarator in statement.children_by_field_name("declarator")
        )
        return " ".join(f"{kind} {name} = {_ZEROS.get(kind, 'null')};" for name in names) + lines_of(statement)
    if statement.type in ("return_statement", "throw_statement"):
        return 'if (true) throw new IllegalStateException("");' + lines_of(statement)
    return ";" + lines_of(statement)


def _going_on(node: Node, hand_out: str) -> Edits:
    """A statement of a method that does nothing where it throws; a name is then nothing."""
    if node.parent is None or node.parent.type != "block" or method_around(node) is None:
        return {}
    if node.type == "expression_statement" and not text_of(node).startswith((hand_out, "super", "this(")):
        if named(node)[0].type == "assignment_expression":
            return {}
        return {place_of(node): ("try { ", place_of(node), " } catch (Throwable goldseamEnds) { }")}
    declarators = node.children_by_field_name("declarator") if node.type == "local_variable_declaration" else []
    value = declarators[0].child_by_field_name("value") if len(declarators) == 1 else None
    if value is None or value.type in ("lambda_expression", "method_reference", "array_initializer"):
        return {}
    if not any(part.type in ("method_invocation", "object_creation_expression") for part in walk(value)):
        return {}
    zero = _ZEROS.get(text_of(node.child_by_field_name("type")), "null")
    return {place_of(value): (f"{hand_out}.tried({zero}, () -> ", place_of(value), ")")}
