"""Assertions that helpers of other test modules make, written out where these are called. Pure.

A helper is written out where nothing but its parameters decides what it asserts (`def assert_equal(expected, result)`);
what it prints is left out.
"""

from __future__ import annotations

import ast
import builtins
import sys
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from pathlib import PurePosixPath

from harness.core import python_source
from miner.languages.python.stripping.reading.syntax import Function, filled, names_in, stored

_LOOKING = frozenset({"print", "range", "len", "zip", "repr", "str", "list", "sorted", "enumerate", "type", "format"})
"""Builtins that a helper may call to say what it compares."""


SourceOf = Callable[[int, str], bytes | None]
"""Gives a module that a file imports, by the level and the name of the import; None for others."""


def write_out(source: bytes, source_of: SourceOf) -> bytes:
    """A test file with assertions in place of such calls; as it is where it has none or can't be read.

    `source_of` gives a test module that the file imports, by the level and the name of the import; None for others.
    """
    try:
        tree = python_source.parse(source)
        helpers = _imported(tree, source_of)
        return ast.unparse(ast.fix_missing_locations(_Writer(helpers).visit(tree))).encode() if helpers else source
    except (SyntaxError, ValueError, RecursionError):
        return source


def places(path: str, level: int, module: str) -> Iterator[str]:
    """Where a module that a test file imports may stand in its repository, nearest first."""
    folders = [str(folder) for folder in PurePosixPath(path).parents]
    name = module.replace(".", "/")
    for folder in folders[level - 1 : level] if level else folders:
        where = PurePosixPath(folder, name)
        yield from (f"{where}.py", f"{where}/__init__.py") if name else (f"{where}/__init__.py",)


def imports(tree: ast.Module, source_of: SourceOf) -> Iterator[tuple[ast.ImportFrom, dict[str, ast.stmt]]]:
    """Each import from a module that is known, with what binds the names of that module's top level."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (module := statements(node.level, node.module or "", source_of)):
            yield node, module


def statements(level: int, name: str, source_of: SourceOf) -> dict[str, ast.stmt]:
    """What binds the names of a module's top level, by the import's level and name; empty if it is not known."""
    if not level and name.partition(".")[0] in sys.stdlib_module_names:
        return {}
    module = python_source.parsed(source_of(level, name))
    return {name: statement for statement in module.body for name in _binds(statement)} if module else {}


def bound(tree: ast.AST) -> set[str]:
    """Names that are bound anywhere in a tree, by whatever but imports."""
    nodes = list(ast.walk(tree))
    return {name for node in nodes for name in stored(node)} | {node.arg for node in nodes if isinstance(node, ast.arg)}


def _binds(statement: ast.stmt) -> Iterator[str]:
    match statement:
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            yield name
        case ast.Import(names=names) | ast.ImportFrom(names=names):
            yield from ((node.asname or node.name).partition(".")[0] for node in names)
        case _:
            yield from (name for node in ast.walk(statement) for name in stored(node))


def _imported(tree: ast.Module, source_of: SourceOf) -> dict[str, Function]:
    """By the name that it has in the file, and that nothing else has: each helper."""
    fields: dict[str, Function] = {}
    brought = {
        alias.asname or alias.name for node in ast.walk(tree) if isinstance(node, _IMPORTS) for alias in node.names
    }
    for node, module in imports(tree, source_of):
        hidden = module.keys() | brought
        for alias in node.names:
            helper = module.get(alias.name)
            if isinstance(helper, ast.FunctionDef) and not helper.decorator_list and _is_comparison(helper, hidden):
                fields[alias.asname or alias.name] = helper
    bound_names = bound(tree) if fields else set()
    return {name: helper for name, helper in fields.items() if name not in bound_names}


_IMPORTS = (ast.Import, ast.ImportFrom)


def _is_comparison(function: Function, hidden: Collection[str]) -> bool:
    """Whether its parameters alone decide what it asserts; `hidden` are names that a module may have of its own."""
    spec = function.args
    own = {node.arg for node in (*spec.posonlyargs, *spec.args, *spec.kwonlyargs)}
    names = own | (vars(builtins).keys() - hidden)
    tests = _conditions(function)
    ids = {node.id for test in tests for node in ast.walk(test) if isinstance(node, ast.Name)}
    defaults = [node for node in (*spec.defaults, *spec.kw_defaults) if node is not None]
    is_written = not any(map(names_in, defaults)) and not spec.vararg and not spec.kwarg
    return bool(tests) and ids <= names and is_written and all(map(_is_plain, function.body))


def _conditions(function: Function) -> list[ast.expr]:
    return [statement.test for statement in function.body if isinstance(statement, ast.Assert)]


def _is_plain(statement: ast.stmt) -> bool:
    """Whether a statement of a helper asserts, or changes nothing that can be seen afterwards but what is printed."""
    match statement:
        case ast.Assert() | ast.Pass() | ast.Expr(value=ast.Constant()):
            return True
        case ast.Expr(value=value) | ast.Assign(targets=[ast.Name()], value=value):
            return _only_looks(value)
        case ast.For(iter=rows, body=body, orelse=[]):
            return _only_looks(rows) and all(_is_plain(node) and not isinstance(node, ast.Assert) for node in body)
    return False


def _only_looks(value: ast.expr) -> bool:
    calls = [node for node in ast.walk(value) if isinstance(node, ast.Call)]
    return all(isinstance(call.func, ast.Name) and call.func.id in _LOOKING for call in calls)


class _Writer(ast.NodeTransformer):
    def __init__(self, helpers: Mapping[str, Function]) -> None:
        self._helpers = helpers

    def visit_Expr(self, node: ast.Expr) -> ast.stmt | Sequence[ast.stmt]:
        match node.value:
            case ast.Call(func=ast.Name(id=name)) as call if name in self._helpers:
                return _written_out(self._helpers[name], call) or node
        return node


def _written_out(helper: Function, call: ast.Call) -> list[ast.stmt] | None:
    """The assertions of one call; None where an argument would be looked at more or less often than once."""
    nodes = _bound(helper, call)
    if nodes is None:
        return None
    tests = _conditions(helper)
    uses = [node.id for test in tests for node in ast.walk(test) if isinstance(node, ast.Name)]
    if any(uses.count(name) != 1 and not _is_simple(value) for name, value in nodes.items()):
        return None
    return [ast.copy_location(ast.Assert(test=filled(test, nodes)), call) for test in tests]


def _bound(helper: Function, call: ast.Call) -> dict[str, ast.expr] | None:
    """By parameter: its argument."""
    spec = helper.args
    names = [node.arg for node in (*spec.posonlyargs, *spec.args)]
    keywords = {keyword.arg: keyword.value for keyword in call.keywords if keyword.arg is not None}
    starred = any(isinstance(arg, ast.Starred) for arg in call.args) or len(keywords) != len(call.keywords)
    if starred or len(call.args) > len(names):
        return None
    defaults = dict(zip(reversed(names), reversed(spec.defaults), strict=False))
    defaults |= {node.arg: value for node, value in zip(spec.kwonlyargs, spec.kw_defaults, strict=True) if value}
    nodes = {**defaults, **dict(zip(names, call.args, strict=False)), **keywords}
    return nodes if nodes.keys() == {*names, *(kwonlyarg.arg for kwonlyarg in spec.kwonlyargs)} else None


def _is_simple(value: ast.expr) -> bool:
    """Whether it makes no difference how often an expression is looked at."""
    return all(isinstance(node, ast.Name | ast.Constant | ast.expr_context) for node in ast.walk(value))
