"""Which values no code can change. Pure."""

from __future__ import annotations

import ast

from harness.core.wording import words

OF_TEXTS = words("encode decode upper lower strip lstrip rstrip join format replace")
"""Methods by which texts and bytes give others."""
_MAKING_IMMUTABLE = words(
    "date datetime timedelta Decimal Fraction dedent compile Path PurePath dirname basename abspath realpath normpath"
)
"""Functions and classes, of a module or imported, whose values nobody can change."""


def is_flat(value: ast.expr) -> bool:
    """Whether it is written out as a dictionary, list, set or tuple, with nothing inside that can be changed.

    What names inside stand for is asked of these.
    """
    match value:
        case ast.List(elts=parts) | ast.Set(elts=parts) | ast.Tuple(elts=parts):
            return all(map(_is_plain, parts))
        case ast.Dict(keys=keys, values=parts):
            return None not in keys and all(map(_is_plain, parts))
    return False


def _is_plain(node: ast.expr) -> bool:
    match node:
        case ast.Name() | ast.Attribute():
            return True
        case ast.BinOp(left=left, right=right):
            return _is_plain(left) and _is_plain(right)
    return is_immutable(node)


def is_immutable(node: ast.expr) -> bool:
    """Whether what an expression gives can't be changed by whom it is given to."""
    match node:
        case ast.Constant() | ast.JoinedStr() | ast.Compare():
            return True
        case ast.Tuple(elts=parts):
            return all(map(is_immutable, parts))
        case ast.UnaryOp(operand=operand) | ast.Attribute(value=operand, attr="parent"):
            return is_immutable(operand)
        case ast.BinOp(left=left, right=right):
            return is_immutable(left) and is_immutable(right)
        case ast.Call(
            func=ast.Name(
                id="str" | "int" | "float" | "bytes" | "bool" | "range" | "len" | "repr" | "chr" | "frozenset"
            )
        ):
            return True
        case ast.Call(func=ast.Attribute(value=value, attr=attr)) if attr in OF_TEXTS:
            return is_immutable(value)
        case ast.Call(func=ast.Attribute(attr=name) | ast.Name(id=name)):
            return name in _MAKING_IMMUTABLE
    return False
