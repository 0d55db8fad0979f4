"""A stripped test file in Java whose tests go on where something throws, without names that a tree lacks. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence

from tree_sitter import Node

from harness.core.syntax import (
    arguments_of,
    enclosing,
    field_of,
    field_text,
    is_in,
    named,
    place_of,
    text_of,
    upward,
    walk,
)
from miner.languages.java.stripping.scopes import method_around, name_of, parse
from miner.languages.stripping.source import Edits, lines_of, rewritten, without_argument, without_arguments

_AT = r"^%s:(\d+):(\d+): (.*(?:\n(?:\[ERROR\])? +\w+: .*)*)"
"""Where the compiler complains of a file, and of what."""
_APPLIED = re.compile(r"cannot be applied to given types;?\n.*?required: *(.*)")
_GENERIC = re.compile(r"<[^<>]*>")
_ZEROS = {"boolean": "false", "char": "'0'", "byte": "(byte) 0", "short": "(short) 0", "int": "0", "long": "0L"} | {
    "float": "0f",
    "double": "0d",
}
_STATEMENTS = frozenset({"expression_statement", "local_variable_declaration", "return_statement", "throw_statement"})
_ALWAYS_CAUGHT = frozenset({"Exception", "Throwable", "RuntimeException", "Error"})
"""Of others a `catch` may only be where something can throw them."""
_MEMBERS = frozenset({"field_declaration", "method_declaration", "class_declaration", "import_declaration"})


def unstopped(text: str, name: str, output: str, *, is_first: bool, hand_out: str) -> str:
    """The file whose statements throw nothing any more, without what the compiler complained of; the same if nothing.

    `output` is what a run of that text printed, `name` what the file is called without its folders.
    """
    lines = text.split("\n")
    return rewritten(text, parse, lambda root: _edits(root, lines, name, output, hand_out, is_first=is_first))


def _edits(root: Node, lines: Sequence[str], name: str, output: str, hand_out: str, *, is_first: bool) -> Edits:
    edits: Edits = {}
    for line, column, words in re.findall(_AT % re.escape(name), output, re.MULTILINE):
        row = int(line) - 1
        if row >= len(lines):  # of what a build has written into the file, as formatters do
            continue
        place = row, _offset(lines[row], int(column) - 1)
        node = root.descendant_for_point_range(place, place)
        if node is not None and (less := _with_less(node, words, hand_out)):
            edits |= less
        elif node is not None:
            edits |= _without(node, hand_out, is_caught="effectively final" in words)
    for node in walk(root) if is_first else ():
        if not is_in(node, edits):
            edits |= _going_on(node, hand_out)
    return edits


def _with_less(node: Node, words: str, hand_out: str) -> Edits:
    """A call without arguments that a tree does not take yet, or a chain without a method that is not there."""
    if re.search(r"symbol: +variable", words):
        return without_argument(node, "argument_list", hand_out)
    at = enclosing(node, ("method_invocation", "object_creation_expression"))
    if at is None:
        return {}
    if match := _APPLIED.search(words):
        kinds = match[1]
        while _GENERIC.search(kinds):
            kinds = _GENERIC.sub("", kinds)
        count = 0 if kinds.strip() == "no arguments" else kinds.count(",") + 1
        return without_arguments(arguments_of(at), count)
    holder, outer = field_of(at, "object"), at.parent
    is_chain = outer is not None and outer.type == "method_invocation" and field_of(outer, "object") == at
    if is_chain and holder is not None and re.search(rf"symbol: +method {re.escape(name_of(at))}\(", words):
        return {place_of(at): (place_of(holder),)}
    return {}


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
    for at in upward(node):
        if is_caught and text_of(at).startswith(f"{hand_out}.tried(") and at.type == "method_invocation":
            value = field_of(arguments_of(at)[1], "body")
            return {place_of(at): (place_of(value),)} if value is not None else {}
        if at.type == "block" and text_of(at).startswith(f"{{ try {{ {hand_out}."):
            return {place_of(at): ("{ }" + lines_of(at),)}
        if at.type in _MEMBERS:
            return {place_of(at): (lines_of(at),)}
        if at.type in _STATEMENTS and not _is_in_hand_out(at, hand_out):
            return {place_of(at): (_in_place_of(at, node),)}
    return {}


def _is_in_hand_out(node: Node, hand_out: str) -> bool:
    return node.type == "expression_statement" and text_of(node).startswith(f"{hand_out}.values")


def _in_place_of(statement: Node, refused: Node) -> str:
    """What stands for a statement of which the compiler refuses a part; a type that it does not know is any."""
    kind = field_text(statement, "type")
    kind = "Object" if is_in(refused, map(place_of, statement.children_by_field_name("type"))) else kind
    if statement.type == "local_variable_declaration" and kind != "var":
        names = (field_text(declarator, "name") for declarator in statement.children_by_field_name("declarator"))
        return " ".join(f"{kind} {name} = {_ZEROS.get(kind, 'null')};" for name in names) + lines_of(statement)
    if statement.type in ("return_statement", "throw_statement"):
        return 'if (true) throw new IllegalStateException("");' + lines_of(statement)
    return ";" + lines_of(statement)


def _caught(statement: Node) -> list[Node]:
    """What a `try` names of exceptions, clause by clause."""
    clauses = (child for child in statement.children if child.type == "catch_clause")
    heads = (part for clause in clauses for part in clause.children if part.type == "catch_formal_parameter")
    return [part for head in heads for part in head.children if part.type == "catch_type"]


def _going_on(node: Node, hand_out: str) -> Edits:
    """A statement of a method that does nothing where it throws; a name is then nothing."""
    if node.type in ("try_statement", "try_with_resources_statement"):
        body, kinds = field_of(node, "body"), [kind for part in _caught(node) for kind in map(text_of, named(part))]
        thrown = "".join(f" if (false) throw ({kind}) null;" for kind in kinds if kind not in _ALWAYS_CAUGHT)
        return {(body.start_byte, body.start_byte + 1): ("{" + thrown,)} if body is not None and thrown else {}
    if node.parent is None or node.parent.type != "block" or method_around(node) is None:
        return {}
    if node.type == "expression_statement" and not text_of(node).startswith((hand_out, "super", "this(")):
        if named(node)[0].type == "assignment_expression":
            return {}
        return {place_of(node): ("try { ", place_of(node), " } catch (Throwable goldseamEnds) { }")}
    declarators = node.children_by_field_name("declarator") if node.type == "local_variable_declaration" else []
    value = field_of(declarators[0], "value") if len(declarators) == 1 else None
    if value is None or value.type in ("lambda_expression", "method_reference", "array_initializer"):
        return {}
    if not any(part.type in ("method_invocation", "object_creation_expression") for part in walk(value)):
        return {}
    kind = field_text(node, "type")
    zero = _ZEROS.get(kind, "null")
    if kind == "var":
        return {place_of(value): (f"{hand_out}.tried({zero}, () -> ", place_of(value), ")")}
    kind += field_text(declarators[0], "dimensions")
    name = f"goldseam{node.start_byte}"  # the name itself is set once, as what runs later may need it so
    front = f"{kind} {name} = {zero}; try {{ {name} = ", place_of(value), "; } catch (Throwable goldseamEnds) { } "
    return {place_of(node): (*front, (node.start_byte, value.start_byte), name, (value.end_byte, node.end_byte))}
