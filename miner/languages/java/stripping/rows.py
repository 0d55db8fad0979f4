"""Columns of the rows that a parametrised test is given: by `@CsvSource`, or by a method of the file. Pure."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable

from tree_sitter import Node

from harness.core.syntax import (
    Piece,
    Place,
    arguments_of,
    bare,
    field_of,
    field_text,
    named,
    place_of,
    text_of,
    walk,
)
from miner.languages.java.stripping.scopes import Binding, Scopes, annotation_of, method_around, modifiers_of, name_of

_COLLECTING = frozenset({"of", "copyOf", "ofEntries"})
_UNORDERED = re.compile(r"(?<!\w)(?:Set|Map)$")
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
    if method is None or annotation is None or binding.type_name not in _ZEROS or not _is_row_alone(binding, scopes):
        return None
    parameters = scopes.parameters(method)
    rows = _rows(annotation)
    count = len(named(field_of(method, "parameters")))
    if binding not in parameters or not rows or len(parameters) != count:
        return None
    if any(len(_cells_in(row)) != count for row in rows):
        return None
    return rows, parameters.index(binding)


def cells_of(binding: Binding, scopes: Scopes, hidden: Collection[str] = ()) -> list[Node] | None:
    """What a parameter is given by a method of the file, row by row; None where that can't be told.

    Methods by names in `hidden` may be those of other classes, for tests that these have of the file's.
    """
    method = method_around(binding.statement)
    if method is None or not _is_row_alone(binding, scopes):
        return None
    parameters = scopes.parameters(method)
    source = _source_of(method, scopes)
    source = source if source is not None and name_of(source) not in hidden else None
    rows = [_row(node) for node in _rows_of(source)] if source is not None else []
    if binding not in parameters or not rows or any(len(row) != len(parameters) for row in rows):
        return None
    return [row[parameters.index(binding)] for row in rows]


def sources_of(method: Node) -> list[str]:
    """What gives a test its rows, by the names of annotations."""
    names = (name_of(child) for child in named(modifiers_of(method)))
    return [name for name in names if name.endswith("Source") and not name.endswith(("NullSource", "EmptySource"))]


def _is_row_alone(binding: Binding, scopes: Scopes) -> bool:
    """Whether a parameter is given nothing but what stands in rows of one kind, as it stands there."""
    method = method_around(binding.statement)
    if binding.kind != "parameter" or method is None or named(modifiers_of(binding.statement)):
        return False
    name = name_of(method)
    return len(sources_of(method)) <= 1 and name not in scopes.calls and name not in scopes.referred


def _source_of(method: Node, scopes: Scopes) -> Node | None:
    """The method that gives a test its rows: of JUnit's `@MethodSource`, of TestNG's `@DataProvider`."""
    annotation = annotation_of(method, "MethodSource", "Test")
    if annotation is None:
        return None
    texts = _texts_in(annotation)
    if name_of(annotation).endswith("MethodSource"):
        sources = scopes.functions.get((texts or [name_of(method)])[0], []) if len(texts) <= 1 else []
    else:
        providers = [node for nodes in scopes.functions.values() for node in nodes]
        sources = [node for node in providers if texts and _texts_in(annotation_of(node, "DataProvider")) == texts]
        is_here = "dataProvider" in text_of(annotation) and "dataProviderClass" not in text_of(annotation)
        sources = sources if is_here else []
    sources = [node for node in sources if node.parent == method.parent and not named(field_of(node, "parameters"))]
    return sources[0] if len(sources) == 1 else None


def _texts_in(annotation: Node | None) -> list[str]:
    nodes = walk(annotation) if annotation is not None else ()
    return [text_of(node)[1:-1] for node in nodes if node.type == "string_literal"]


def _rows_of(source: Node) -> list[Node]:
    """The rows that a method returns which does nothing else."""
    statements = named(field_of(source, "body"))
    if len(statements) != 1 or statements[0].type != "return_statement" or not named(statements[0]):
        return []
    value = bare(named(statements[0])[0])
    holder = field_of(value, "object")
    if holder is not None and holder.type == "method_invocation" and name_of(value) in ("stream", "iterator"):
        value = holder
    if value.type == "array_creation_expression":
        return named(field_of(value, "value"))
    is_listed = value.type == "method_invocation" and name_of(value) in ("of", "asList") and not is_unordered(value)
    return arguments_of(value) if is_listed else []


def is_unordered(node: Node) -> bool:
    """Whether what is in something has another order in each run: in Java's unchangeable sets and maps."""
    calls = (part for part in walk(node) if part.type == "method_invocation")
    return any(name_of(call) in _COLLECTING and _UNORDERED.search(text_of(field_of(call, "object"))) for call in calls)


def _row(node: Node) -> list[Node]:
    if node.type == "method_invocation" and name_of(node) in ("of", "arguments"):
        return arguments_of(node)
    inner = field_of(node, "value") if node.type == "array_creation_expression" else node
    return named(inner) if inner is not None and inner.type == "array_initializer" else []


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
        cells = (zeros.get(index, cell) for index, cell in enumerate(_cells_in(row)))
        edits[place] = (f'"{", ".join(cells)}"',)
    return edits


def _cells_in(row: Node) -> list[str]:
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
    parts = named(field_of(annotation, "arguments"))
    if len(parts) == 1 and parts[0].type == "element_value_pair":
        value = field_of(parts[0], "value")
        is_rows = field_text(parts[0], "key") == "value"
        parts = [value] if is_rows and value is not None else []
    rows = named(parts[0]) if len(parts) == 1 and parts[0].type == "element_value_array_initializer" else parts
    return rows if all(row.type == "string_literal" for row in rows) else []
