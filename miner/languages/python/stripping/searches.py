"""Loops of tests that search what the product gives, as the comparison that they come to. Pure.

A loop that returns where `person.name == name and person.age == age`, before the test fails, is the assertion
`(name, age) in [(person.name, person.age) for person in people]`.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from harness.core import python_source
from miner.languages.python.stripping.reading.flow import reads_in
from miner.languages.python.stripping.reading.syntax import names_in
from miner.languages.python.stripping.sites import fails


def write_out(source: bytes) -> bytes:
    """A test file with `in` in place of such loops, and `not in` where what is found fails; else as it is."""
    tree = python_source.parsed(source)
    if tree is None or any(isinstance(node, ast.FunctionDef) and node.name == "fail" for node in ast.walk(tree)):
        return source
    writer = _Writer()
    written = writer.visit(tree)
    return ast.unparse(ast.fix_missing_locations(written)).encode() if writer.has_written else source


class _Writer(ast.NodeTransformer):
    def __init__(self) -> None:
        self.has_written = False
        self._within: ast.AST = ast.Pass()

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> ast.AsyncFunctionDef:
        self._visit_inside(node)
        return node

    def _visit_inside(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        around, self._within = self._within, node
        self.generic_visit(node)
        self._within = around

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        self._visit_inside(node)
        match node.body:
            case [*others, ast.For() as loop, last] if fails(last, ast.unparse) and (
                search := _search(loop, ast.Return, ast.In())
            ):
                node.body = [*others, search]
                self.has_written = True
        return node

    def visit_For(self, node: ast.For) -> ast.stmt:
        self.generic_visit(node)
        search = None
        names = names_in(node.target)
        if any(reads_in(name, [self._within]) > reads_in(name, [node]) for name in names):
            return node  # what it found is looked at outside of it
        match node:
            case ast.For(body=[ast.If(body=[found])], orelse=[]) if fails(found, ast.unparse):
                search = _search(node, type(found), ast.NotIn())
            case ast.For(orelse=[missing]) if fails(missing, ast.unparse):
                search = _search(node, ast.Break, ast.In())
        self.has_written = self.has_written or search is not None
        return search or node


def _search(loop: ast.For, then: type[ast.stmt], how: ast.cmpop) -> ast.Assert | None:
    """What asserts that a loop, which does nothing else, comes to such a statement, or not; None of other loops."""
    match loop.body:
        case [ast.If(test=test, body=[statement], orelse=[])] if isinstance(statement, then):
            own_names = names_in(loop.target)
            conditions = test.values if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And) else [test]
            sides = [_sides(condition, own_names) for condition in conditions]
        case _:
            return None
    if not all(sides) or (isinstance(statement, ast.Return) and statement.value is not None):
        return None
    found, wanted = (_together([side[at] for side in sides if side]) for at in range(2))
    clause = ast.comprehension(target=loop.target, iter=loop.iter, ifs=[], is_async=0)
    listed = ast.ListComp(elt=found, generators=[clause])
    return ast.Assert(test=ast.Compare(left=wanted, ops=[how], comparators=[listed]))


def _sides(condition: ast.expr, own_names: set[str]) -> tuple[ast.expr, ast.expr] | None:
    """What of a comparison is the loop's, and what is the same in each turn; None of other conditions."""
    match condition:
        case ast.Compare(left=left, ops=[ast.Eq()], comparators=[right]):
            of_loop = [bool(own_names & names_in(side)) for side in (left, right)]
            if of_loop[0] != of_loop[1] and all(map(_only_looks, (left, right))):
                return (left, right) if of_loop[0] else (right, left)
    return None


def _only_looks(node: ast.expr) -> bool:
    """Whether it is a constant, or a name with attributes and items of it."""
    kinds = (ast.Name, ast.Attribute, ast.Subscript, ast.Constant, ast.expr_context)
    return all(isinstance(inner, kinds) for inner in ast.walk(node))


def _together(nodes: Sequence[ast.expr]) -> ast.expr:
    return nodes[0] if len(nodes) == 1 else ast.Tuple(elts=list(nodes), ctx=ast.Load())
