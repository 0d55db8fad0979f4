"""Whether a statement runs, and what decides it. Pure."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Iterator, Sequence

from miner.languages.python.stripping.reading.syntax import assignments, is_load_of, loads_of

ASSERTING = re.compile(r"(?:assert|fail)\w*|raises|warns")
"""Functions that run what they are given as part of the test."""


def unconditional(body: Iterable[ast.stmt], is_static: Callable[[ast.expr], bool]) -> Iterator[ast.stmt]:
    """The statements of a block, and of its loops and `with` blocks, but for those that the product may leave out."""
    for statement in body:
        yield statement
        if isinstance(statement, ast.With | ast.AsyncWith) and not may_catch(statement):
            yield from unconditional(statement.body, is_static)
        if isinstance(statement, ast.For) and is_static(statement.iter) and not _may_end(statement):
            yield from unconditional(statement.body, is_static)
        if isinstance(statement, ast.If) and is_static(statement.test):
            yield from unconditional((*statement.body, *statement.orelse), is_static)


def is_bound_where_read(name: str, nodes: Iterable[ast.AST]) -> bool:
    """Whether all that read a name stand in the block that binds it, so that they are left out where that is."""
    reads = 0
    within = None
    for node in nodes:
        reads += is_load_of(node, name)
        for _, block in ast.iter_fields(node):
            if isinstance(block, list) and any(name in dict(assignments(part)) for part in block):
                within = block
    read_there = reads_in(name, within or ())
    return read_there == reads


def reads_in(name: str, block: Iterable[ast.AST]) -> int:
    return sum(1 for _ in loads_of(name, block))


def may_catch(statement: ast.With | ast.AsyncWith) -> bool:
    """Whether a block may be there to catch what is raised in it."""
    words_of_items = [ast.unparse(item.context_expr) for item in statement.items]
    return any("raises" in word.lower() or "suppress" in word for word in words_of_items)


def _may_end(loop: ast.For) -> bool:
    """Whether a loop may be left before its end, or a turn of it."""
    return any(isinstance(node, ast.Break | ast.Continue) for node in ast.walk(loop))


def conditions_around(within: ast.AST, node: ast.AST) -> Iterator[ast.expr]:
    """What says whether a node is come to, and how often: of what it stands in, and of what may leave before it."""
    line = getattr(node, "lineno", 0)
    for part in ast.walk(within):
        tests, branches = _choosing(part, within) if part is not within else ((), ())
        is_before = isinstance(part, ast.If | ast.Match | ast.Try) and part.lineno < line
        if _is_in(node, branches) or (is_before and _leaves(branches)):
            yield from tests


def _choosing(part: ast.AST, within: ast.AST) -> tuple[Sequence[ast.expr], Sequence[ast.AST]]:
    """What says which branches of a node are come to, and these."""
    match part:
        case ast.FunctionDef(name=name, body=body) | ast.AsyncFunctionDef(name=name, body=body):
            calls = [node.func for node in ast.walk(within) if isinstance(node, ast.Call)]
            handed_on = [node for node in loads_of(name, [within]) if node not in calls]
            return [*handed_on, *(ast.Yield() for _ in part.decorator_list)], body
        case ast.BoolOp(values=values):
            return values[:-1], values[1:]
        case ast.If(test=test, body=body, orelse=orelse):
            return [test], [*body, *orelse]
        case ast.IfExp(test=test, body=value, orelse=other):
            return [test], [value, other]
        case ast.While(test=test, body=body) | ast.For(iter=test, body=body):
            return [test], body
        case ast.Match(subject=subject, cases=cases):
            return [subject], cases
        case ast.Try(body=body, handlers=handlers):
            nodes = (inner for statement in body for inner in ast.walk(statement))
            return [inner for inner in nodes if isinstance(inner, ast.Call | ast.Subscript | ast.Attribute)], handlers
        case ast.Call(func=func, args=args) if functions := [value for value in args if isinstance(value, ast.Lambda)]:
            if not ASSERTING.fullmatch(ast.unparse(func).rpartition(".")[2]):
                return [func], [function.body for function in functions]
    return [], []


def _is_in(node: ast.AST, parts: Iterable[ast.AST]) -> bool:
    return any(inner is node for part in parts for inner in ast.walk(part))


def _leaves(branches: Iterable[ast.AST]) -> bool:
    """Whether a branch may end a turn of a loop, or the function, where the test goes on or is skipped."""
    nodes = (node for part in branches for node in ast.walk(part))
    return any(isinstance(node, ast.Break | ast.Continue | ast.Return) or _skips(node) for node in nodes)


def _skips(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and ast.unparse(node.func).rpartition(".")[2] in ("skip", "skipTest")
