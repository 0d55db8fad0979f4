"""What kind of tests a file of Python holds, told by its syntax tree. Pure; what can't be parsed holds none."""

from __future__ import annotations

import ast

from harness.core import python_source


def _parsed(source: bytes) -> ast.Module:
    return python_source.parsed(source) or ast.Module(body=[], type_ignores=[])


def is_for_pytest(source: bytes) -> bool:
    """Whether a test file holds tests that unittest would not find."""
    module = _parsed(source)
    for node in module.body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test"):
            return True
        if isinstance(node, ast.ClassDef) and node.name.startswith("Test") and not node.bases and _has_tests(node):
            return True
    return any(
        isinstance(node, ast.Import) and any(name.name == "pytest" for name in node.names) for node in module.body
    )


def written(source: bytes) -> int:
    """How many test methods a file holds, whatever class they are in."""
    module = _parsed(source)
    classes = [node for node in module.body if isinstance(node, ast.ClassDef)]
    return sum(
        isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef) and statement.name.startswith("test")
        for node in classes
        for statement in node.body
    )


def yields_tests(source: bytes) -> bool:
    """Whether a test file holds tests that yield others, as nose had them."""
    if b"yield" not in source:
        return False
    module = _parsed(source)
    bodies = [module.body, *(node.body for node in module.body if isinstance(node, ast.ClassDef))]
    return any(
        isinstance(node, ast.FunctionDef)
        and node.name.startswith("test")
        and not node.decorator_list
        and any(isinstance(child, ast.Yield) and isinstance(child.value, ast.Tuple) for child in ast.walk(node))
        for body in bodies
        for node in body
    )


def _has_tests(node: ast.ClassDef) -> bool:
    return any(isinstance(statement, ast.FunctionDef) and statement.name.startswith("test") for statement in node.body)
