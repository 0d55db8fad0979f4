"""A stripped test file in which nothing that raises ends a test. Pure."""

from __future__ import annotations

import ast
import re

from harness.core import python_source

_STAY = (ast.Global, ast.Nonlocal, ast.Pass, ast.Break, ast.Continue, ast.Raise)
_KEPT_WHOLE = (ast.While, ast.Try, ast.TryStar)
"""Without an error, a loop may never end and a handler never run."""
_CATCHES = re.compile(r"raises|warn|suppress|assert|logs", re.IGNORECASE)


def unstopped(text: str, hand_out: str) -> str:
    """The same file with each statement in a `try` of its own; bodies of assertions (`with hand_out(…)`) stay."""
    tree = python_source.parse(text)
    _go_on(tree, hand_out)
    return ast.unparse(ast.fix_missing_locations(tree)) + "\n"


def _go_on(node: ast.AST, hand_out: str) -> None:
    for field, value in ast.iter_fields(node):
        if isinstance(value, list) and value and isinstance(value[0], ast.stmt):
            setattr(node, field, [one for statement in value for one in _guarded(statement, hand_out)])


def _guarded(statement: ast.stmt, hand_out: str) -> list[ast.stmt]:
    is_text = isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
    is_future = isinstance(statement, ast.ImportFrom) and statement.module == "__future__"
    if is_text or is_future or isinstance(statement, _STAY):
        return [statement]
    if isinstance(statement, ast.Import) and len(statement.names) > 1:
        return [_tried(ast.Import(names=[name])) for name in statement.names]
    if isinstance(statement, ast.ImportFrom) and len(statement.names) > 1:
        module, level = statement.module, statement.level
        return [_tried(ast.ImportFrom(module=module, names=[name], level=level)) for name in statement.names]
    is_caught = isinstance(statement, ast.With | ast.AsyncWith) and any(
        hand_out in (words := ast.unparse(item.context_expr)) or _CATCHES.search(words) for item in statement.items
    )
    if not is_caught and not isinstance(statement, _KEPT_WHOLE):
        _go_on(statement, hand_out)
    return [_tried(statement)]


def _tried(statement: ast.stmt) -> ast.stmt:
    handler = ast.ExceptHandler(type=ast.Name(id="Exception", ctx=ast.Load()), name=None, body=[ast.Pass()])
    return ast.Try(body=[statement], handlers=[handler], orelse=[], finalbody=[])
