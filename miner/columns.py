"""Expectations in a table: the columns of `pytest.mark.parametrize`, read from and blanked in a syntax tree. Pure."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from typing import cast

_ROW = re.compile(r"g(\d+)x(\d+)")


@dataclass(frozen=True, kw_only=True)
class Column:
    """One parameter of one decorator of a test function."""

    decorator: int
    """Which of the function's decorators."""
    position: int | None
    """Which value of each row; None where a row is the value itself."""
    values: tuple[ast.expr, ...]
    """The parameter's literal in each row."""

    def value(self, blind_id: str) -> str | None:
        """The literal, as source, of the row that a blind test id names; None where it names none of this table."""
        rows = [int(row) for decorator, row in _ROW.findall(blind_id) if int(decorator) == self.decorator]
        return ast.unparse(self.values[rows[0]]) if rows and rows[0] < len(self.values) else None


Function = ast.FunctionDef | ast.AsyncFunctionDef


def columns(function: Function) -> dict[str, Column]:
    """The parameters of a test function that have a literal in every row of a table written out in a decorator."""
    found: dict[str, Column] = {}
    for number, decorator in enumerate(function.decorator_list):
        names, rows = _table(decorator)
        for position, name in enumerate(names):
            place = position if len(names) > 1 or _is_sequence_of_names(decorator) else None
            values = [_value(row, place) for row in rows]
            if values and all(value is not None and is_literal(value) for value in values):
                kept = tuple(cast("list[ast.expr]", values))
                found[name] = Column(decorator=number, position=place, values=kept)
    return found


def used(function: Function, name: str) -> int:
    """How often a parameter is read in a function's body."""
    return sum(
        isinstance(node, ast.Name) and node.id == name for statement in function.body for node in ast.walk(statement)
    )


def blank(function: Function, wanted: dict[str, Column]) -> None:
    """Take the literals of some columns out of a function's tables, and call the rows by number, in place."""
    for number in sorted({column.decorator for column in wanted.values()}):
        decorator = cast("ast.Call", function.decorator_list[number])
        rows = cast("ast.List | ast.Tuple", decorator.args[1]).elts
        for column in wanted.values():
            if column.decorator == number:
                rows[:] = [_blanked(row, column.position) for row in rows]
        for row in rows:
            if _is_param(row):
                call = cast("ast.Call", row)
                call.keywords = [keyword for keyword in call.keywords if keyword.arg != "id"]
        names: list[ast.expr] = [ast.Constant(value=f"g{number}x{row}") for row in range(len(rows))]
        decorator.keywords = [keyword for keyword in decorator.keywords if keyword.arg != "ids"]
        decorator.keywords.append(ast.keyword(arg="ids", value=ast.List(elts=names, ctx=ast.Load())))


def _table(decorator: ast.expr) -> tuple[tuple[str, ...], list[ast.expr]]:
    """Names and rows of a `parametrize` decorator that is written out; empty for anything else."""
    if not (
        isinstance(decorator, ast.Call)
        and isinstance(decorator.func, ast.Attribute)
        and decorator.func.attr == "parametrize"
        and len(decorator.args) == 2  # noqa: PLR2004 - names and rows
        and isinstance(decorator.args[1], ast.List | ast.Tuple)
        and all(keyword.arg == "ids" for keyword in decorator.keywords)
    ):
        return (), []
    try:
        names = ast.literal_eval(decorator.args[0])
    except (ValueError, TypeError):
        return (), []
    if isinstance(names, str):
        names = [name.strip() for name in names.split(",") if name.strip()]
    if any(isinstance(row, ast.Starred) for row in decorator.args[1].elts):
        return (), []
    return tuple(names), decorator.args[1].elts


def _is_sequence_of_names(decorator: ast.expr) -> bool:
    """Whether names are given as a list: then even a single one has rows that are sequences."""
    return isinstance(cast("ast.Call", decorator).args[0], ast.List | ast.Tuple)


def _is_param(row: ast.expr) -> bool:
    if not isinstance(row, ast.Call):
        return False
    name = row.func.attr if isinstance(row.func, ast.Attribute) else getattr(row.func, "id", "")
    return name == "param"


def _value(row: ast.expr, position: int | None) -> ast.expr | None:
    if _is_param(row):
        arguments = cast("ast.Call", row).args
        index = position or 0
        return arguments[index] if index < len(arguments) else None
    if position is None:
        return row
    if isinstance(row, ast.Tuple | ast.List) and position < len(row.elts):
        return row.elts[position]
    return None


def _blanked(row: ast.expr, position: int | None) -> ast.expr:
    nothing = ast.Constant(value=None)
    if _is_param(row):
        cast("ast.Call", row).args[position or 0] = nothing
        return row
    if position is None:
        return nothing
    cast("ast.Tuple | ast.List", row).elts[position] = nothing
    return row


def is_literal(node: ast.expr) -> bool:
    """Whether an expression is a literal, containers of literals included."""
    try:
        ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return False
    return True
