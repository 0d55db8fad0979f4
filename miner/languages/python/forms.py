"""Python source as what it does: two files of one form run the same. Pure."""

from __future__ import annotations

import ast
import hashlib

from harness.core import python_source

_DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


def normal(source: bytes, *, exports: bool = False) -> str | None:
    """A digest of what runs: comments, layout, docstrings and the types of arguments and results count nowhere.

    Nor do imports of the module's top whose names the file does not use, and those for type checkers; but with
    `exports` what it imports is there for others, as in an `__init__.py`. None where it is no Python that this
    interpreter reads.
    """
    tree = python_source.parsed(source)
    if tree is None:
        return None
    tree.body = [node for node in tree.body if not _is_for_types(node)]
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            node.returns = None
        elif isinstance(node, ast.arg):
            node.annotation = None
        if isinstance(node, _DOCUMENTED) and _docstring(node) is not None:
            node.body[0] = ast.Pass()
    if not exports:
        _drop_unused_imports(tree)
    return hashlib.sha256(ast.dump(tree).encode("utf-8", "surrogatepass")).hexdigest()


def _is_for_types(node: ast.stmt) -> bool:
    if not isinstance(node, ast.If) or node.orelse:
        return False
    test = node.test
    return (test.attr if isinstance(test, ast.Attribute) else getattr(test, "id", "")) == "TYPE_CHECKING"


def _drop_unused_imports(tree: ast.Module) -> None:
    ids = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    ids |= {node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)}
    for node in tree.body:
        if isinstance(node, ast.Import | ast.ImportFrom) and getattr(node, "module", "") != "__future__":
            node.names = [name for name in node.names if bound(name) in ids or name.name == "*"]
    tree.body = [node for node in tree.body if not isinstance(node, ast.Import | ast.ImportFrom) or node.names]


def bound(alias: ast.alias) -> str:
    """The name that an import binds."""
    return alias.asname or alias.name.partition(".")[0]


def silent_lines(source: bytes) -> frozenset[int]:
    """Lines of docstrings: an interpreter may count them among those that run."""
    tree = python_source.parsed(source)
    lines: set[int] = set()
    for node in ast.walk(tree) if tree else ():
        text = _docstring(node)
        if text is not None:
            lines |= set(range(text.lineno, (text.end_lineno or text.lineno) + 1))
    return frozenset(lines)


def _docstring(node: ast.AST) -> ast.stmt | None:
    if not isinstance(node, _DOCUMENTED) or ast.get_docstring(node, clean=False) is None:
        return None
    return node.body[0]
