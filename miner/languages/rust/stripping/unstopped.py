"""A stripped test file in Rust without what a tree lacks the names for, so that the rest can be run. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tree_sitter import Node

from harness.core.syntax import arguments_of, field_of, named, place_of, text_of, upward, walk, with_next
from miner.languages.rust.stripping.scopes import parse
from miner.languages.stripping.source import Edits, lines_of, rewritten, without_argument, without_arguments

_AT = re.compile(
    r"(?:^error[^\n:]*: ([^\n]*)\n)?\s*--> (\S+?):(\d+):(\d+)\n(?:[^\n]+\n)*?\s*\3 +\|[ /]*([^\n]*)", re.MULTILINE
)
"""Of what the compiler complains where in a file, and the line itself; others may be shown in front of it."""
_TAKES = re.compile(r"this \w+ takes (\d+) (?:generic )?arguments? but (\d+) arguments? (?:was|were) supplied")
_ITEMS = frozenset({"use_declaration", "function_item", "mod_item", "impl_item", "struct_item", "const_item"})


def unstopped(text: str, path: str, output: str) -> str:
    """The file without the statements that the compiler complained of and what needs their names; the same if none.

    `output` is what a run of that text printed. Where code of the
    product is laid into the file as well, its lines are others: the one that the compiler shows tells which it is.
    """
    return rewritten(text, parse, lambda root: _edits(root, text.split("\n"), path, output))


def _edits(root: Node, lines: list[str], path: str, output: str) -> Edits:
    edits: Edits = {}
    for words, place_name, number, column, shown in _AT.findall(output):
        row = _row_of(lines, int(number) - 1, shown.strip()) if f"/{path}".endswith(f"/{place_name}") else None
        if row is None:
            continue
        at = len(lines[row][: int(column) - 1].encode())
        node = root.descendant_for_point_range((row, at), (row, at))
        if node is not None and (less := _with_less(node, words)):
            edits |= less
            continue
        for dropped in _without(node):
            edits.setdefault(place_of(dropped), (lines_of(dropped),))
    return edits


def _with_less(node: Node, words: str) -> Edits:
    """A call or structure without what a tree does not take yet; a chain without a method that is not there."""
    match = _TAKES.search(words)
    around = list(upward(node))
    if match is not None and int(match[1]) < int(match[2]):
        call = next((outer for outer in around if outer.type == "call_expression"), None)
        return without_arguments(arguments_of(call), int(match[1])) if call is not None else {}
    if words.startswith(("cannot find value", "failed to resolve: use of un", "cannot find type")):
        return without_argument(node, "arguments", "goldseam")
    if words.startswith("no method named") and node.parent is not None and node.parent.type == "field_expression":
        call, value = node.parent.parent, field_of(node.parent, "value")
        if call is not None and call.type == "call_expression" and value is not None:
            return {place_of(call): (place_of(value),)}
    if "has no field named" in words or words.startswith("unresolved import"):
        part = next((outer for outer in around if outer.type == "field_initializer" or _is_imported(outer)), None)
        if part is not None:
            return {with_next(part, ","): ("",)}
    return {}


def _is_imported(node: Node) -> bool:
    """Whether it is one of several names that are imported together."""
    return node.parent is not None and node.parent.type == "use_list"


def _row_of(lines: list[str], row: int, shown: str) -> int | None:
    """The line of a file that reads as the compiler shows it, the nearest to where it says."""
    if shown.startswith("...") or shown.endswith("..."):  # of a long line a part
        rows = [place for place, line in enumerate(lines) if shown.strip(".") in line]
    else:
        rows = [place for place, line in enumerate(lines) if line.strip() == shown]
    return min(rows, key=lambda place: abs(place - row), default=None)


def _without(node: Node | None) -> Iterator[Node]:
    """The statement around a node, and those of its block that use names of it; else the item around it."""
    at = node
    while at is not None and (at.parent is None or at.parent.type != "block" or not at.is_named):
        if at.type in _ITEMS and at.type != "mod_item":
            yield at
            return
        at = at.parent
    if at is None or at.parent is None:
        return
    lost: set[str] = set()
    is_behind = False
    for statement in named(at.parent):
        is_behind |= statement == at
        if not is_behind:
            continue
        names = {text_of(part) for part in walk(statement) if part.type == "identifier"}
        if statement == at or names & lost:
            yield statement
            pattern = field_of(statement, "pattern") if statement.type == "let_declaration" else None
            lost |= {text_of(part) for part in walk(pattern) if part.type == "identifier"} if pattern else set()
