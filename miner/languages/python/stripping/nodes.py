"""Nodes of a syntax tree that are read, made anew. Pure."""

from __future__ import annotations

import ast


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
