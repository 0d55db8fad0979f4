"""What a tree of Python says by its form: bindings, what they bind, what is read of them. Pure."""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterable, Iterator, Mapping
from typing import TypeGuard, cast

Function = ast.FunctionDef | ast.AsyncFunctionDef
NO_FUNCTION = ast.FunctionDef(
    name="nothing",
    args=ast.arguments(posonlyargs=[], args=[], kwonlyargs=[], kw_defaults=[], defaults=[]),
    body=[ast.Pass()],
    decorator_list=[],
)
"""In which no name is local."""


def taken_apart(target: ast.expr, rows: ast.expr) -> Iterator[tuple[ast.expr, ast.expr]]:
    """A target with what it goes over, or its parts, each with what that goes over."""
    match rows, target:
        case ast.Call(func=ast.Name(id="enumerate"), args=[listed, *_]), ast.Tuple(elts=[ast.Name(), part]):
            yield from taken_apart(part, listed)
        case ast.Call(func=ast.Name(id="zip"), args=several), ast.Tuple(elts=parts) if len(several) == len(parts):
            for part, listed in zip(parts, several, strict=True):
                yield from taken_apart(part, listed)
        case _:
            yield target, rows


def names_in(node: ast.AST) -> set[str]:
    return {inner.id for inner in ast.walk(node) if isinstance(inner, ast.Name)}


def set_of_self(node: ast.AST) -> tuple[ast.expr | None, ast.expr | None]:
    """The target and the value of `self.name = value`."""
    match node:
        case ast.Assign(targets=[ast.Attribute(value=ast.Name(id="self")) as target], value=value):
            return target, value
    return None, None


def returned(function: Function) -> ast.expr | None:
    """What a function returns that does nothing else but to name parts of it, and to open files for them."""
    values: dict[str, ast.expr] = {}
    body = list(function.body)
    while body:
        match body.pop(0):
            case ast.Expr(value=ast.Constant()):
                pass
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if name not in values:
                values[name] = filled(value, values)
            case ast.With(items=[item], body=inner) if (opened := opened_by(item)) and opened[0] not in values:
                values[opened[0]] = filled(item.context_expr, values)
                body = [*inner, *body]
            case ast.Return(value=ast.expr() as value):
                parameters = {node.arg for node in arguments_of(function)}
                return None if parameters & values.keys() else filled(value, values)
            case _:
                return None
    return None


def filled(node: ast.expr, values: Mapping[str, ast.expr]) -> ast.expr:
    """An expression with others in the place of names."""
    return cast("ast.expr", _Filler(values).visit(copy.deepcopy(node)))


class _Filler(ast.NodeTransformer):
    def __init__(self, values: Mapping[str, ast.expr]) -> None:
        self._values = values

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return copy.deepcopy(self._values.get(node.id, node))


def assigned_in(
    nodes: Iterable[ast.AST], body: Iterable[ast.stmt], *, with_files: bool = False
) -> dict[str, tuple[ast.expr, ...]]:
    """Names that a scope with these nodes binds by plain assignments among these statements alone: to what.

    These may stand in blocks that open files, `with_files`.
    """
    stores: dict[str, int] = {}
    for node in nodes:
        for name in stored(node):
            stores[name] = stores.get(name, 0) + 1
    values_by_name: dict[str, tuple[ast.expr, ...]] = {}
    for name, value in settings_of(body) if with_files else (pair for part in body for pair in assignments(part)):
        values_by_name[name] = (*values_by_name.get(name, ()), value)
    return {name: values for name, values in values_by_name.items() if len(values) == stores.get(name)}


def settings_of(body: Iterable[ast.stmt]) -> Iterator[tuple[str, ast.expr]]:
    """What plain assignments bind, also in blocks that open files, with the opening in the place of a file's name."""
    for statement in body:
        match statement:
            case ast.With(items=[item], body=inner) if opened := opened_by(item):
                yield from ((name, filled(value, {opened[0]: item.context_expr})) for name, value in settings_of(inner))
            case _:
                yield from assignments(statement)


def assignments(statement: ast.AST) -> tuple[tuple[str, ast.expr], ...]:
    """The names that a plain assignment binds, each to its expression: `a = 1`, `a, b = 1, 2`."""
    match statement:
        case ast.Assign(targets=[ast.Name(id=name)], value=value):
            return ((name, value),)
        case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
            return ((name, value),)
        case ast.Assign(targets=[ast.Tuple(elts=targets)], value=ast.Tuple(elts=values)) if (
            len(targets) == len(values)
            and all(isinstance(target, ast.Name) for target in targets)
            and not any(isinstance(value, ast.Starred) for value in values)
        ):
            names = [target.id for target in targets if isinstance(target, ast.Name)]
            return tuple(zip(names, values, strict=True))
    return ()


def stored(node: ast.AST) -> Iterator[str]:
    """The names that one node binds, but for arguments and imports."""
    match node:
        case ast.Name(id=name, ctx=ast.Store() | ast.Del()):
            yield name
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            yield name
        case ast.ExceptHandler(name=str(name)):
            yield name
        case ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
            yield name
        case ast.Global(names=names) | ast.Nonlocal(names=names):
            yield from names  # bound somewhere else as well, so never bound once


def loads_of(name: str, body: Iterable[ast.AST]) -> Iterator[ast.Name]:
    return (node for part in body for node in ast.walk(part) if is_load_of(node, name))


def is_load_of(node: ast.AST, name: str) -> TypeGuard[ast.Name]:
    return isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Load)


def arguments_of(function: Function) -> Iterator[ast.arg]:
    return (node for node in ast.walk(function.args) if isinstance(node, ast.arg))


def opened_by(item: ast.withitem) -> tuple[str, ast.expr] | None:
    """The name that `with open(path) as name` gives a file, and its path."""
    path = path_of(item.context_expr)
    return (item.optional_vars.id, path) if path is not None and isinstance(item.optional_vars, ast.Name) else None


def path_of(opening: ast.expr) -> ast.expr | None:
    """The path of the file that `open(path)` or `path.open()` opens."""
    match opening:
        case (
            ast.Call(func=ast.Name(id="open"), args=[path, *_]) | ast.Call(func=ast.Attribute(value=path, attr="open"))
        ):
            return path
    return None


def parts_of(node: ast.expr) -> Iterator[ast.expr]:
    """The expressions that one is made of, but for what a comprehension binds."""
    for child in ast.iter_child_nodes(node):
        match child:
            case ast.expr():
                yield child
            case ast.keyword(value=value):
                yield value
            case ast.comprehension(iter=listed, ifs=ifs):
                yield from (listed, *ifs)


READING = (ast.BinOp, ast.Call, ast.FormattedValue, ast.Subscript, ast.Compare, ast.For, ast.comprehension)
"""What the next two look at."""


def combined_in(node: ast.AST) -> Iterator[str]:
    """The names of whose values a node makes something new."""
    match node:
        case ast.BinOp(left=left, right=right):
            operands = [left, right]
        case ast.Call(func=ast.Attribute(attr="join" | "format"), args=operands):
            pass
        case ast.Call(func=ast.Name(id="len" | "str" | "repr" | "int" | "float" | "bool"), args=operands):
            pass
        case ast.FormattedValue(value=value):
            operands = [value]
        case _:
            return
    yield from (operand.id for operand in operands if isinstance(operand, ast.Name))


def looked_in(node: ast.AST) -> Iterator[str]:
    """The name of the value of which a node gives something inside."""
    match node:
        case ast.Subscript(value=ast.Name(id=name), ctx=ast.Load()):
            yield name
        case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr="get" | "items" | "keys" | "values")):
            yield name
        case ast.Compare(ops=[ast.In() | ast.NotIn()], comparators=[ast.Name(id=name)]):
            yield name
        case ast.For(iter=ast.Name(id=name)) | ast.comprehension(iter=ast.Name(id=name)):
            yield name


def cell_of(node: ast.AST) -> tuple[ast.expr, str, list[ast.expr]] | None:
    """The row and the key of what is looked at by a text that is written out, and what is given if there is none.

    The row is a name, or stands in what a name or an attribute of `self` stands for.
    """
    match node:
        case ast.Subscript(value=row, slice=ast.Constant(value=str(key)), ctx=ast.Load()):
            others: list[ast.expr] = []
        case ast.Call(
            func=ast.Attribute(value=row, attr="get"), args=[ast.Constant(value=str(key)), *others], keywords=[]
        ):
            pass
        case _:
            return None
    match row:
        case ast.Name() | ast.Subscript(value=ast.Name() | ast.Attribute(value=ast.Name(id="self"))):
            return row, key, others
    return None
