"""Names and texts of Python code: what a change brings, and what a test asks for. Pure, by `ast`."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from harness.quality.base import Keyword

Function = ast.FunctionDef | ast.AsyncFunctionDef
_ESCAPED = re.compile(r"\\([^A-Za-z0-9])")


@dataclass(frozen=True, kw_only=True)
class Source:
    """A Python file, parsed, and which of its lines are new."""

    tree: ast.Module
    lines: Collection[int]

    def new(self, node: ast.expr | ast.stmt | ast.arg | ast.keyword | ast.alias) -> bool:
        """Whether a node begins on a new line."""
        return node.lineno in self.lines


class _Every(frozenset[int]):
    """All line numbers there are."""

    def __contains__(self, line: object) -> bool:
        return True


_EVERY = _Every()


def introduced(source: Source) -> frozenset[str]:
    """Names that new lines bind and that other files can ask for.

    Functions, classes, parameters, attributes, and variables of modules and classes: not what is local to a function.
    """
    return frozenset(_bound(source.tree, source, local=False))


def _bound(node: ast.AST, source: Source, *, local: bool) -> Iterator[str]:
    for child in ast.iter_child_nodes(node):
        inside = local
        if isinstance(child, Function | ast.ClassDef):
            inside = local or isinstance(child, Function)
            if source.new(child) and not local:
                yield child.name
        elif isinstance(child, ast.Lambda):
            inside = True
        elif isinstance(child, ast.arg):
            if source.new(child):
                yield child.arg
        elif isinstance(child, ast.Attribute):
            if isinstance(child.ctx, ast.Store) and source.new(child):
                yield child.attr
        elif isinstance(child, ast.Name) and isinstance(child.ctx, ast.Store) and not local and source.new(child):
            yield child.id
        yield from _bound(child, source, local=inside)


def used_names(source: Source) -> frozenset[str]:
    """Names that new lines of a test ask of other files: imported, called, read, given by keyword; not its own."""
    nodes = tuple(ast.walk(source.tree))
    own = {name for node in nodes for name in _own(node)}
    return frozenset(name for node in nodes for name in _references(node, source)) - own


def _own(node: ast.AST) -> Iterator[str]:
    """The name that a node binds, other than by importing it."""
    match node:
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            yield name
        case ast.arg(arg=name) | ast.Name(id=name, ctx=ast.Store()) | ast.Attribute(attr=name, ctx=ast.Store()):
            yield name


def _references(node: ast.AST, source: Source) -> Iterator[str]:
    """The names that a node on a new line asks for."""
    match node:
        case ast.Name(id=name) if source.new(node):
            yield name
        case ast.Attribute(attr=name) if source.new(node) or node.end_lineno in source.lines:
            yield name
        case ast.keyword(arg=str(name)) if source.new(node):
            yield name
        case ast.alias(name=name) if source.new(node):
            yield from name.split(".")


def parameters(tree: ast.Module | None) -> frozenset[Keyword]:
    """The parameters of every function; those of `__init__` and `__new__` are their class's."""
    return frozenset(_parameters(tree, "")) if tree else frozenset()


def _parameters(node: ast.AST, owner: str) -> Iterator[Keyword]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, Function):
            called = owner if owner and child.name in ("__init__", "__new__") else child.name
            nodes = (*child.args.posonlyargs, *child.args.args, *child.args.kwonlyargs)
            yield from ((called, argument.arg) for argument in nodes)
        yield from _parameters(child, child.name if isinstance(child, ast.ClassDef) else "")


def keywords(source: Source) -> frozenset[Keyword]:
    """What new lines give by keyword, and to what."""
    return frozenset(
        (called, word.arg)
        for node in ast.walk(source.tree)
        if isinstance(node, ast.Call) and (called := _called(node.func))
        for word in node.keywords
        if word.arg and source.new(word)
    )


def _called(node: ast.expr) -> str:
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
    return ""


def identifiers(tree: ast.Module) -> frozenset[str]:
    """Every name that code binds, uses or imports."""
    source = Source(tree=tree, lines=_EVERY)
    return frozenset(name for node in ast.walk(tree) for name in (*_own(node), *_references(node, source)))


def texts(source: Source) -> frozenset[str]:
    """The string literals on new lines, docstrings left out; escapes of a regular expression are undone."""
    docs = {id(node.value) for node in ast.walk(source.tree) if isinstance(node, ast.Expr)}
    constants = (
        node.value
        for node in ast.walk(source.tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docs
        if any(line in source.lines for line in range(node.lineno, (node.end_lineno or node.lineno) + 1))
    )
    return frozenset(_ESCAPED.sub(r"\1", text).strip() for text in constants)


def functions(tree: ast.Module) -> Mapping[str, range]:
    """Every function that stands in no other, by its dotted name, with its lines; decorators count.

    Of several with one name (overloads, branches) the last stands.
    """
    return dict(_functions(tree, ""))


def _functions(node: ast.AST, prefix: str) -> Iterator[tuple[str, range]]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, Function):
            first = min([child.lineno, *(decorator.lineno for decorator in child.decorator_list)])
            yield f"{prefix}{child.name}", range(first, (child.end_lineno or child.lineno) + 1)
        elif isinstance(child, ast.ClassDef):
            yield from _functions(child, f"{prefix}{child.name}.")
        elif isinstance(child, ast.stmt):
            yield from _functions(child, prefix)
