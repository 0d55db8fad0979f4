"""The parts of a Python test file: what each defines, what it needs, and where it stands. Pure."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_SET_UP = frozenset(
    f"{when}_{scope}" for when in ("setup", "teardown") for scope in ("module", "function", "class", "method")
) | {"setUp", "tearDown", "setUpClass", "tearDownClass", "setUpModule", "tearDownModule"}
_FOR_ALL = frozenset({"pytestmark", "pytest_plugins"})


class CannotCutError(Exception):
    """A test cannot be taken out of its file; the text says why, and names nothing hidden."""


@dataclass(frozen=True, kw_only=True)
class Item:
    """One statement: of a module, or of a class."""

    node: ast.stmt
    start: int
    """Its first line, decorators included, from 0."""
    end: int
    """After its last line."""
    text: str
    names: frozenset[str]
    """What it defines."""

    @property
    def is_import(self) -> bool:
        return isinstance(self.node, ast.Import | ast.ImportFrom)

    @property
    def is_test(self) -> bool:
        """A test function, by pytest's and unittest's names."""
        return is_test(self.node)

    @property
    def is_for_all(self) -> bool:
        """It works without being named: what sets up, marks, or is a fixture that every test has."""
        return bool(self.names & (_SET_UP | _FOR_ALL)) or _is_autouse(self.node) or _is_future(self.node)


def is_test(node: ast.stmt) -> bool:
    """Whether a statement is a test function, by pytest's and unittest's names."""
    return isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test")


def holds_tests(node: ast.stmt) -> bool:
    """Whether it is a test function, or anything that has one inside."""
    return any(is_test(inner) for inner in ast.walk(node) if isinstance(inner, ast.stmt))


def items(body: Sequence[ast.stmt], lines: Sequence[str]) -> tuple[Item, ...]:
    """The statements of a body.

    Raises:
        CannotCutError: two of them share a line.

    """
    items_found: list[Item] = []
    for node in body:
        decorators = getattr(node, "decorator_list", [])
        start = min(node.lineno, *(decorator.lineno for decorator in decorators), node.lineno) - 1
        end = node.end_lineno or node.lineno
        if items_found and start < items_found[-1].end:
            raise CannotCutError("two statements share a line")
        text = "".join(lines[start:end])
        items_found.append(Item(node=node, start=start, end=end, text=text, names=frozenset(_defined(node))))
    return tuple(items_found)


def needs(nodes: Iterable[ast.AST]) -> set[str]:
    """Every name that could stand for something defined elsewhere: names, arguments (fixtures), names in strings."""
    names: set[str] = set()
    for node in nodes:
        for inner in ast.walk(node):
            if isinstance(inner, ast.Name):
                names.add(inner.id)
            elif isinstance(inner, ast.arg):
                names.add(inner.arg)
            elif isinstance(inner, ast.Constant) and isinstance(inner.value, str) and inner.value.isidentifier():
                names.add(inner.value)
    return names


def members_needed(nodes: Iterable[ast.AST]) -> set[str]:
    """Names of attributes: what of its class a method may use, whatever it calls itself."""
    return {inner.attr for node in nodes for inner in ast.walk(node) if isinstance(inner, ast.Attribute)}


def _defined(node: ast.stmt) -> set[str]:
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return {node.name}
    if isinstance(node, ast.Import):
        return {(alias.asname or alias.name).partition(".")[0] for alias in node.names}
    if isinstance(node, ast.ImportFrom):
        return {alias.asname or alias.name for alias in node.names}
    ids = {inner.id for inner in ast.walk(node) if isinstance(inner, ast.Name) and not isinstance(inner.ctx, ast.Load)}
    for inner in ast.walk(node):
        if inner is not node and isinstance(
            inner, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Import | ast.ImportFrom
        ):
            ids |= _defined(inner)
    return ids


def _is_autouse(node: ast.stmt) -> bool:
    decorators = getattr(node, "decorator_list", [])
    return any(
        keyword.arg == "autouse"
        for decorator in decorators
        for inner in ast.walk(decorator)
        if isinstance(inner, ast.Call)
        for keyword in inner.keywords
    )


def _is_future(node: ast.stmt) -> bool:
    return isinstance(node, ast.ImportFrom) and node.module == "__future__"
