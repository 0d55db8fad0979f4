"""Columns of `@CsvSource`, whose rows a parametrised test of JUnit is parts. Pure."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from miner.languages.java.stripping.scopes import annotation_of, method_around, named
from miner.languages.syntax import place_of, text_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tree_sitter import Node

    from miner.languages.java.stripping.scopes import Binding, Scopes
    from miner.languages.syntax import Piece, Place

_CELL = re.compile(r"\s*(?:'[^']*'|[^',]*)\s*(?:,|$)")
_ZEROS = dict.fromkeys(("byte", "short", "int", "long", "float", "double", "BigDecimal", "BigInteger"), "0") | {
    **dict.fromkeys(("Byte", "Short", "Integer", "Long", "Float", "Double"), "0"),
    **dict.fromkeys(("boolean", "Boolean"), "false"),
    **dict.fromkeys(("char", "Character"), "x"),
    **dict.fromkeys(("String", "CharSequence", "Object"), "''"),
}
"""By the type of a parameter: what stands in a cell that is blank."""


def column_of(binding: Binding, scopes: Scopes) -> tuple[list[Node], int] | None:
    """The rows that a parameter comes from, and its place in them; None where it does not, or that can't be told."""
    method = method_around(binding.statement)
    annotation = annotation_of(method, "CsvSource") if method is not None else None
    if binding.kind != "parameter" or method is None or annotation is None or binding.type_name not in _ZEROS:
        return None
    parameters = scopes.parameters(method)
    rows = _rows(annotation)
    count = len(named(method.child_by_field_name("parameters")))
    if binding not in parameters or not rows or len(parameters) != count:
        return None
    if any(len(cells_of(row)) != count for row in rows):
        return None
    return rows, parameters.index(binding)


def without(bindings: Iterable[Binding], scopes: Scopes) -> dict[Place, tuple[Piece, ...]]:
    """The edits that leave the columns of some parameters blank."""
    edits: dict[Place, tuple[Piece, ...]] = {}
    blank: dict[Place, tuple[Node, dict[int, str]]] = {}
    for binding in bindings:
        column = column_of(binding, scopes)
        for row in column[0] if column is not None else ():
            zeros = blank.setdefault(place_of(row), (row, {}))[1]
            zeros[column[1] if column is not None else 0] = _ZEROS[binding.type_name]
    for place, (row, zeros) in blank.items():
        cells = (zeros.get(index, cell) for index, cell in enumerate(cells_of(row)))
        edits[place] = (f'"{", ".join(cells)}"',)
    return edits


def cells_of(row: Node) -> list[str]:
    """The cells of a row that is written in one text; none where it has what is told in another way."""
    text = text_of(row)[1:-1]
    if "\\" in text or text_of(row).startswith('"""'):
        return []
    cells, at = [], 0
    while at <= len(text):
        match = _CELL.match(text, at)
        if match is None:
            return []
        cells.append(match[0].removesuffix(",").strip())
        at = match.end() + (not match[0].endswith(","))
    return cells


def _rows(annotation: Node) -> list[Node]:
    parts = named(annotation.child_by_field_name("arguments"))
    if len(parts) == 1 and parts[0].type == "element_value_pair":
        value = parts[0].child_by_field_name("value")
        is_rows = text_of(parts[0].child_by_field_name("key")) == "value"
        parts = [value] if is_rows and value is not None else []
    rows = named(parts[0]) if len(parts) == 1 and parts[0].type == "element_value_array_initializer" else parts
    return rows if all(row.type == "string_literal" for row in rows) else []
