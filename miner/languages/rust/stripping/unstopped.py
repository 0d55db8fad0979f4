"""A stripped test file in Rust without what a tree lacks the names for, so that the rest can be run. Pure."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from miner.languages.rust.stripping.scopes import named, parse
from miner.languages.syntax import place_of, rendered, text_of, walk

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tree_sitter import Node

    from miner.languages.tree_source import Edits

_AT = re.compile(r"--> (\S+?):(\d+):(\d+)\n[^\n]*\n\s*\2 +\|[ /]*([^\n]*)")
"""Where the compiler complains of a file, and the line itself."""
_ITEMS = frozenset({"use_declaration", "function_item", "mod_item", "impl_item", "struct_item", "const_item"})


def unstopped(text: str, path: str, output: str) -> str:
    """The file without the statements that the compiler complained of and what needs their names; the same if none.

    `output` is what a run of that text printed. Where code of the
    product is laid into the file as well, its lines are others: the one that the compiler shows tells which it is.
    """
    source = text.encode()
    try:
        root = parse(source)
    except ValueError:
        return text
    lines = text.split("\n")
    edits: Edits = {}
    for place_name, number, column, shown in _AT.findall(output):
        row = _row_of(lines, int(number) - 1, shown.strip()) if f"/{path}".endswith(f"/{place_name}") else None
        if row is None:
            continue
        at = len(lines[row][: int(column) - 1].encode())
        node = root.descendant_for_point_range((row, at), (row, at))
        for place in _without(node):
            edits[place] = edits.get(place, ("\n" * source[place[0] : place[1]].count(b"\n"),))
    return rendered(source, 0, len(source), edits).decode()


def _row_of(lines: list[str], row: int, shown: str) -> int | None:
    """The line of a file that reads as the compiler shows it, the nearest to where it says."""
    if shown.startswith("...") or shown.endswith("..."):  # of a long line a part
        rows = [place for place, line in enumerate(lines) if shown.strip(".") in line]
    else:
        rows = [place for place, line in enumerate(lines) if line.strip() == shown]
    return min(rows, key=lambda place: abs(place - row), default=None)


def _without(node: Node | None) -> Iterator[tuple[int, int]]:
    """The statement around a node, and those of its block that use names of it; else the item around it."""
    at = node
    while at is not None and (at.parent is None or at.parent.type != "block" or not at.is_named):
        if at.type in _ITEMS and at.type != "mod_item":
            yield place_of(at)
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
        used = {text_of(part) for part in walk(statement) if part.type == "identifier"}
        if statement == at or used & lost:
            yield place_of(statement)
            pattern = statement.child_by_field_name("pattern") if statement.type == "let_declaration" else None
            lost |= {text_of(part) for part in walk(pattern) if part.type == "identifier"} if pattern else set()
