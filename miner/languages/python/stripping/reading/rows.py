"""Tables of a test file, whose rows its tests are called with or go through. Pure."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterable, Iterator

from miner.languages.python.stripping.reading.flow import reads_in
from miner.languages.python.stripping.reading.syntax import Function, cell_of, stored, taken_apart

Column = tuple[str, int | None]
"""A table and the place of a value in its rows, None where that is the row itself."""


def tabulated(nodes: Iterable[ast.AST]) -> frozenset[str]:
    reads, as_rows = Counter[str](), Counter[str]()
    for node in nodes:
        match node:
            case ast.Name(id=name, ctx=ast.Load()):
                reads[name] += 1
            case ast.Attribute(attr=name, ctx=ast.Load()):
                reads[f"self.{name}"] += 1
            case ast.FunctionDef(decorator_list=marks) | ast.AsyncFunctionDef(decorator_list=marks):
                for mark in marks:
                    as_rows.update({ast.unparse(table_of(listed)) for _, listed in rows_of(mark)})
            case ast.ListComp(elt=ast.Name(), generators=[ast.comprehension(iter=listed)]):
                as_rows[ast.unparse(listed)] += 1
            case ast.For(target=ast.Name(id=row), iter=listed) if _is_read_by_cells(row, node.body):
                as_rows[ast.unparse(table_of(listed))] += 1
            case ast.expr() if (cell := cell_of(node)) and isinstance(cell[0], ast.Subscript):
                as_rows[ast.unparse(cell[0].value)] += 1
    return frozenset(name for name, count in reads.items() if count == as_rows[name])


def table_of(listed: ast.expr) -> ast.expr:
    """What rows are of: `rows.items()`, `list(rows)`."""
    match listed:
        case (
            ast.Call(func=ast.Attribute(value=table, attr="items" | "values"), args=[], keywords=[])
            | ast.Call(func=ast.Name(id="list"), args=[table], keywords=[])
        ):
            return table_of(table)
    return listed


def _is_read_by_cells(row: str, block: Iterable[ast.AST]) -> bool:
    """Whether nothing else is done with a row than to look at what is in it."""
    cells = [cell for part in block for node in ast.walk(part) if (cell := cell_of(node))]
    return sum(ast.unparse(cell[0]) == row for cell in cells) == reads_in(row, block)


def columns_of(function: Function) -> Iterator[tuple[str, Column]]:
    """The names of a function that rows of a table with a name give values, each with its column."""
    tables = [list(rows_of(mark)) for mark in function.decorator_list]
    loops = [node for node in ast.walk(function) if isinstance(node, ast.For)]
    parts = [part for loop in loops for part in taken_apart(loop.target, loop.iter)]
    tables += [[(name, rows) for inner in ast.walk(target) for name in stored(inner)] for target, rows in parts]
    for table in tables:
        for place, (name, rows) in enumerate(table):
            if isinstance(listed := table_of(rows), ast.Name | ast.Attribute):
                yield name, (ast.unparse(listed), place if len(table) > 1 else None)


def rows_of(decorator: ast.expr) -> Iterator[tuple[str, ast.expr]]:
    """The parameters of a test that a mark gives, with the expression of their rows."""
    match decorator:
        case ast.Call(keywords=keywords) if any(keyword.arg == "indirect" for keyword in keywords):
            return
        case ast.Call(func=ast.Attribute(attr="parametrize"), args=[ast.Constant(value=str(names)), rows]):
            yield from ((name.strip(), rows) for name in names.split(","))
        case ast.Call(
            func=ast.Attribute(attr="parametrize"), args=[ast.Tuple(elts=parts) | ast.List(elts=parts), rows]
        ):
            yield from ((str(part.value), rows) for part in parts if isinstance(part, ast.Constant))
