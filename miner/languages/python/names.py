"""Names and texts of Python code: what a change brings, what a test asks for, and what it was in want of. Pure."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from harness.core import python_source
from harness.languages.base import Chain, Raised, TestReport
from harness.languages.python.screen import COMPILED
from harness.quality.base import Keyword
from harness.quality.change import FileChange
from miner.languages.base import MODULE

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


_WRAPPERS = frozenset({"CollectError", "ConftestImportFailure", "UsageError"})
"""pytest's own exceptions around the one that the test file raised."""
_WORDS = (
    ("ModuleNotFoundError", re.compile(r"No module named '(?P<module>[\w.]+)'")),
    ("ImportError", re.compile(r"cannot import name '?(?P<name>\w+)'?")),
    ("AttributeError", re.compile(r"has no attribute '(?P<name>\w+)'")),
    ("AttributeError", re.compile(r"(?P<name>[A-Za-z_]\w*)")),
    ("NameError", re.compile(r"(?:free variable|name) '(?P<name>\w+)' (?:is not defined|referenced before)")),
    ("TypeError", re.compile(r"got an unexpected keyword argument '(?P<name>\w+)'")),
    ("FixtureLookupError", re.compile(r"fixture '(?P<name>\w+)' not found")),
    ("Failed", re.compile(r"(?:indirect fixture|uses no (?:fixture|argument)) '(?P<name>\w+)'")),
)
"""By the class that says so: how a missing name is told. Up to Python 3.11 an enumeration tells the name alone."""
_WHOLE = re.compile(r"[A-Za-z_]\w*")
_NAME = re.compile(rb"[A-Za-z_]\w*")


def missing(chain: Chain) -> str:
    """The name that a failed collection was in want of, `module a.b` where it is one; empty where it failed otherwise.

    What counts is the exception that came out of the file, not one that it had caught before.
    """
    own = (raised for raised in chain if not _WRAPPERS.intersection(raised.names[:1]))
    return next(map(_missing_by, own), "")


def _missing_by(raised: Raised) -> str:
    for kind, words in _WORDS:
        if kind not in raised.names:
            continue
        alone = words.pattern.startswith("(?P<name>")
        if match := (words.fullmatch if alone else words.search)(raised.says):
            return MODULE + match["module"] if "module" in words.groupindex else match["name"]
    return ""


def missing_names(report: TestReport) -> dict[str, str]:
    """By each file that could not be collected, and each test that misses a fixture: the name, see `missing`."""
    files = {path: missing(report.collect_raised.get(path, ())) for path in report.collect_errors}
    tests = {
        test_id: name
        for test_id, chain in report.raised.items()
        if chain and chain[0].names[:1] == ("FixtureLookupError",) and (name := missing(chain))
    }
    return files | tests


def added_names(change: FileChange) -> frozenset[str]:
    """The names that a change of one file brings, and `module a.b` where it is a new module.

    A name is brought where a new line binds it, imports it, or has it as a text, such as in a table of lazy imports. Of
    what is no Python that can be read (Cython, C), every name on a new line counts.
    """
    names_found: set[str] = set()
    if change.path.endswith(".py"):
        names_found |= _python(change)
    elif change.path.endswith(COMPILED):
        names_found |= _every_name(change)
    if change.is_new and change.path.endswith((".py", ".pyx")):
        names_found |= {MODULE + name for name in _modules(change.path)}
    return frozenset(names_found)


def _python(change: FileChange) -> set[str]:
    tree = python_source.parsed(change.after)
    if tree is None:
        return _every_name(change)
    source = Source(tree=tree, lines=change.added.keys())
    return {*introduced(source), *_imported(source), *filter(_WHOLE.fullmatch, texts(source))}


def _imported(source: Source) -> Iterator[str]:
    """Names that new lines import: also a name that stands elsewhere already can be new in a module."""
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            yield from ((alias.asname or alias.name).split(".")[0] for alias in node.names if source.new(alias))


def _every_name(change: FileChange) -> set[str]:
    return {name.decode() for line in change.added.values() for name in _NAME.findall(line)}


def _modules(path: str) -> Iterator[str]:
    """The names under which a file can be imported, whichever folder is the root, and the packages around it."""
    parts = path.rpartition(".")[0].split("/")
    parts = parts[:-1] if parts[-1] == "__init__" else parts
    for end in range(1, len(parts) + 1):
        for start in range(end):
            yield ".".join(parts[start:end])
