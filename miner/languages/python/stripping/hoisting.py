"""Rows that a test class has, in the file's top level, where tables and loops are seen to go over them. Pure."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Callable, Collection, Iterator

from harness.core import python_source
from miner.languages.python.stripping.borrowing import OWN, with_more
from miner.languages.python.stripping.reading.syntax import Function, stored, taken_apart


def hoisted(source: bytes, has_others: Callable[[str, str], bool]) -> bytes:
    """A test file whose classes' rows (`cases = [(1, 2)]`, `for n, want in self.cases`) stand before the class.

    It stays as it is where it has none or can't be read. `has_others` tells of a name and a class whether another file
    may give a class that derives from this one other rows of this name.
    """

    def body(tree: ast.Module) -> Iterator[ast.stmt]:
        for statement in tree.body:
            yield from _with_rows_before(statement, tree, has_others)

    return with_more(source, body)


def names_set(source: bytes) -> set[str]:
    """All names and attributes that a file sets, and its texts, by which others may be set."""
    tree = python_source.parsed(source)
    nodes = list(ast.walk(tree)) if tree else []
    return {name for node in nodes for name in (*stored(node), *_attributes_and_texts(node))}


def _attributes_and_texts(node: ast.AST) -> Iterator[str]:
    match node:
        case ast.Attribute(attr=name, ctx=ast.Store() | ast.Del()) | ast.Constant(value=str(name)):
            yield name


def _with_rows_before(
    statement: ast.stmt, tree: ast.Module, has_others: Callable[[str, str], bool]
) -> Iterator[ast.stmt]:
    if isinstance(statement, ast.ClassDef):
        own = {name for part in statement.body for name in stored(part)}
        for part in list(statement.body):
            match part:
                case ast.Assign(targets=[ast.Name(id=name)], value=ast.List() | ast.Tuple() | ast.Dict() as rows):
                    names = {node.id for node in ast.walk(rows) if isinstance(node, ast.Name)}
                    if not has_others(name, statement.name) and not names & own and _move(name, statement, tree):
                        statement.body.remove(part)
                        yield ast.Assign(targets=[ast.Name(id=_new(name, statement), ctx=ast.Store())], value=rows)
        statement.body = statement.body or [ast.Pass()]
    yield statement


def _new(name: str, of_class: ast.ClassDef) -> str:
    return f"{OWN}{of_class.name}_{name}"


def _move(name: str, of_class: ast.ClassDef, tree: ast.Module) -> bool:
    """Have all that reads the rows of a class read those before it; whether that is nothing but tables and loops."""
    nodes = list(ast.walk(tree))
    bindings = Counter(word for node in nodes for word in (*stored(node), *_attributes_and_texts(node)))
    uses = [node for node in nodes if isinstance(node, ast.Name | ast.Attribute) and _called(node) == name]
    rows = list(_gone_over(of_class))
    reads = [node for node in rows if _called(node) == name]
    is_hidden = any(isinstance(node, ast.arg) and node.arg == name for node in nodes)
    if bindings[name] != 1 or is_hidden or not reads or len(uses) != len(reads) + 1:
        return False
    _Renamer({id(node) for node in reads}, _new(name, of_class)).visit(of_class)
    return True


def _called(node: ast.expr) -> str:
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""


def _gone_over(of_class: ast.ClassDef) -> Iterator[ast.expr]:
    """What loops of a class's methods have of the class, and tables of their marks by name."""
    for method in of_class.body:
        if not isinstance(method, Function):
            continue
        for mark in method.decorator_list:
            match mark:
                case ast.Call(func=ast.Attribute(attr="parametrize"), args=[_, ast.Name() as name]):
                    yield name
        for loop in (node for node in ast.walk(method) if isinstance(node, ast.For)):
            for _, rows in taken_apart(loop.target, loop.iter):
                match rows:
                    case ast.Call(func=ast.Attribute(value=rows, attr="items"), args=[], keywords=[]):
                        pass
                if isinstance(rows, ast.Attribute) and ast.unparse(rows.value) in ("self", "cls", of_class.name):
                    yield rows


class _Renamer(ast.NodeTransformer):
    def __init__(self, nodes: Collection[int], name: str) -> None:
        self._nodes, self._name = nodes, name

    def visit(self, node: ast.AST) -> ast.AST:
        if id(node) in self._nodes:
            return ast.Name(id=self._name, ctx=ast.Load())
        return self.generic_visit(node)
