"""Nodes of a syntax tree: which names they read, and new ones that are read. Pure."""

from __future__ import annotations

import ast
from collections.abc import Iterator


def name_of(name: str) -> ast.Name:
    """`name`."""
    return ast.Name(id=name, ctx=ast.Load())


def attribute_of(owner: ast.expr, name: str) -> ast.Attribute:
    """`owner.name`."""
    return ast.Attribute(value=owner, attr=name, ctx=ast.Load())


def call_of(function: ast.expr | str, *arguments: ast.expr) -> ast.Call:
    """`function(argument, …)`."""
    called = name_of(function) if isinstance(function, str) else function
    return ast.Call(func=called, args=list(arguments), keywords=[])


def count_of(tree: ast.AST, name: str) -> int:
    """How often a name is there, read or bound."""
    return sum(isinstance(node, ast.Name) and node.id == name for node in ast.walk(tree))


def names_read(tree: ast.AST) -> Iterator[str]:
    """Every name that is read, as often as it is."""
    return (node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load))
