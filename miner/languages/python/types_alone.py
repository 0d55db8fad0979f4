"""Python source without what only type checkers and readers see. Pure.

Annotations stay where something may read them while a program runs: in the bodies of classes, of decorated functions,
of functions in functions, and in modules that name what reads them.
"""

from __future__ import annotations

import ast
import re

from harness.core import python_source
from miner.languages.python.forms import bound

_READ_WHILE_RUNNING = re.compile(
    rb"__annotations__|__doc__|^\s*>>> |\b(?:get_type_hints|get_annotations|getfullargspec|getdoc|singledispatch\w*"
    rb"|inspect|pydantic|typer|fastapi|injector|beartype|typeguard|cattrs|msgspec|docopt|fire|cmd|cliff)\b",
    re.MULTILINE,
)
"""What reads annotations or docstrings, by words that a module has where it does or gives them away for that."""
_PLAIN_DECORATORS = frozenset(
    {"property", "staticmethod", "classmethod", "abstractmethod", "setter", "override", "final"}
)
_TYPE_VARIABLES = frozenset({"TypeVar", "ParamSpec", "TypeVarTuple"})
_TYPE_MODULES = frozenset({"typing", "typing_extensions", "collections.abc", "types", "_typeshed"})


def erased(before: bytes | None, after: bytes | None) -> tuple[ast.Module, ast.Module] | None:
    """Both trees of a module without types and functions' docstrings; None where one is not read, or keeps them."""
    eraser = _Eraser()
    trees: list[ast.Module] = []
    for source in (before, after):
        tree = None if _READ_WHILE_RUNNING.search(source or b"") else python_source.parsed(source)
        if tree is None:
            return None
        trees.append(eraser.visit(tree))
    for tree in trees:
        used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}
        tree.body = [kept for node in tree.body if (kept := _without_unused(node, used, eraser.of_types)) is not None]
    return trees[0], trees[1]


class _Eraser(ast.NodeTransformer):
    def __init__(self) -> None:
        self.of_types: set[str] = set()
        """Names that stood in what was erased."""
        self._in_function = False

    def visit_FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> ast.AST | None:
        decorators = {_last_name(decorator) for decorator in node.decorator_list}
        if "overload" in decorators:
            self._take(node)
            return None
        if decorators <= _PLAIN_DECORATORS and not self._in_function:
            arguments = node.args
            every = (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg)
            for argument in every:
                if argument is not None and argument.annotation is not None:
                    self._take(argument.annotation)
                    argument.annotation = None
            if node.returns is not None:
                self._take(node.returns)
                node.returns = None
            if ast.get_docstring(node, clean=False) is not None:
                node.body[0] = ast.Pass()
        outer, self._in_function = self._in_function, True
        self.generic_visit(node)
        self._in_function = outer
        return node

    visit_AsyncFunctionDef = visit_FunctionDef  # noqa: N815 - as ast calls it

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        outer, self._in_function = self._in_function, False
        self.generic_visit(node)
        self._in_function = outer
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST | None:
        if not self._in_function and not isinstance(node.target, ast.Attribute):
            return node
        self._take(node.annotation)
        if node.value is None:
            return ast.Pass()
        return ast.Assign(targets=[node.target], value=self.visit(node.value))

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        if _last_name(node.func) != "cast" or len(node.args) != 2 or node.keywords:  # noqa: PLR2004 - type and value
            return node
        self._take(node)
        return node.args[1]

    def visit_If(self, node: ast.If) -> ast.AST | None:
        if _last_name(node.test) == "TYPE_CHECKING" and not node.orelse:
            self._take(node)
            return None
        return self.generic_visit(node)

    def _take(self, node: ast.AST) -> None:
        for part in ast.walk(node):
            if isinstance(part, ast.Name):
                self.of_types.add(part.id)
            elif isinstance(part, ast.alias):
                self.of_types.add(bound(part))
            elif isinstance(part, ast.Constant) and isinstance(part.value, str):
                self.of_types.update(re.findall(r"\w+", part.value))


def _without_unused(node: ast.stmt, used: set[str], of_types: set[str]) -> ast.stmt | None:
    """A statement of the module's top without the names that only types use."""
    if isinstance(node, ast.ImportFrom) and node.module == "__future__":
        node.names = [name for name in node.names if name.name != "annotations"]
    elif isinstance(node, ast.Import | ast.ImportFrom):
        everything = isinstance(node, ast.ImportFrom) and node.module in _TYPE_MODULES
        unused = {name for name in map(bound, node.names) if name not in used and (everything or name in of_types)}
        node.names = [name for name in node.names if bound(name) not in unused]
    elif isinstance(node, ast.Assign) and isinstance(node.value, ast.Call):
        names = {target.id for target in node.targets if isinstance(target, ast.Name)}
        return None if _last_name(node.value.func) in _TYPE_VARIABLES and names.isdisjoint(used) else node
    else:
        return node
    return node if node.names else None


def _last_name(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")
