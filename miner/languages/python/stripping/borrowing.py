"""Assertions of functions and base classes that a test file imports, copied into it to be taken out there. Pure.

A function is copied under its own name; methods go into a class between the one that has them and those of the file.
Copied are those that assert, and those that do nothing but return something: tests write with these what they expect.
"""

from __future__ import annotations

import ast
import builtins
import copy
import itertools
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping

from harness.core import python_source
from miner.languages.python.stripping.inlining import SourceOf, bound, imports, statements
from miner.languages.python.stripping.nodes import names_read
from miner.languages.python.stripping.reading.syntax import Function, returned, stored

OWN = "_goldseam_"
"""What names begin with that are new in a file."""
_HIDDEN = frozenset({"super", "__class__", "__file__", "__name__", "globals", "locals", "vars", "eval", "exec"})
"""Names by which a function can tell where it stands."""


def borrow(source: bytes, test_module: SourceOf, module: SourceOf) -> bytes:
    """A test file with what it borrows copied in; as it is where it borrows nothing or can't be read.

    A copy of the product would be tested in its place: so from elsewhere than test modules nothing is copied but
    methods of classes that derive from a `TestCase`.

    Args:
        source: the test file.
        test_module: gives a test module, by the level and the name of the import; None for others.
        module: the same of any module of the repository.

    """

    def body(tree: ast.Module) -> Iterator[ast.stmt]:
        names = _names_used(tree)
        copies = {**_copies(tree, module, names, _is_test_case), **_copies(tree, test_module, names, lambda _: True)}
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef):
                node.bases = [_between(base, copies) for base in node.bases]
        first = 1 + max((place for place, node in enumerate(tree.body) if isinstance(node, ast.ImportFrom)), default=0)
        yield from (*tree.body[:first], *itertools.chain(*copies.values()), *tree.body[first:])

    return with_more(source, body)


def by_name(source: bytes, test_module: SourceOf, module: SourceOf) -> bytes:
    """A test file that imports by its name what it calls or derives from as `module.name`, where that can be borrowed.

    The arguments are those of `borrow`.
    """

    def body(tree: ast.Module) -> Iterator[ast.stmt]:
        names = bound(tree) | {name for node in ast.walk(tree) for name in _imported(node)}
        for statement in tree.body:
            yield statement
            for prefix, level, name in _modules(statement):
                inner = {name: node for name, node in statements(level, name, module).items() if _is_test_case(node)}
                inner |= {
                    name: node for name, node in statements(level, name, test_module).items() if _is_borrowed(node)
                }
                own = prefix.partition(".")[0] in bound(tree)
                if not own and (taken := _shortened(tree, prefix, inner.keys() - names)):
                    names |= taken
                    aliases = [ast.alias(name=attr) for attr in sorted(taken)]
                    yield ast.ImportFrom(module=name, names=aliases, level=level)

    return with_more(source, body)


def at_origin(source: bytes, test_module: SourceOf, module: SourceOf) -> bytes:
    """A test file that imports from libraries what other modules only hand on of them (`from .common import skip`).

    Of modules that are no test's these are functions that assert. The arguments are those of `borrow`.
    """

    def body(tree: ast.Module) -> Iterator[ast.stmt]:
        for statement in tree.body:
            yield statement
            if not isinstance(statement, ast.ImportFrom):
                continue
            place = statement.level, statement.module or ""
            of_test = test_module(*place) is not None
            for alias in statement.names:
                origin = _origin(place, alias.name, module)
                if origin is not None and (of_test or origin[0].startswith(_ASSERTING)):
                    yield _import_from(*origin, alias.asname or alias.name)
                    alias.asname = OWN + alias.name  # that module is imported as before

    return with_more(source, body)


_ASSERTING = ("pytest", "unittest", "nose.", "numpy.testing", "sqlalchemy.testing")
_MOST_HANDS = 4
"""Modules at most that hand on a name."""


def _origin(place: tuple[int, str], name: str, module: SourceOf) -> tuple[str, str] | None:
    """The module outside of the repository, and the name there, of what modules only hand on; None of anything else.

    `place` is the level and the name of an import.
    """
    for _ in range(_MOST_HANDS):
        tree = python_source.parsed(module(*place))
        if tree is None:
            return None
        bindings = Counter(bound for node in ast.walk(tree) for bound in (*_imported(node), *stored(node)))
        imports_of_it = [
            (node, alias.name)
            for node in tree.body
            if isinstance(node, ast.ImportFrom) and bindings[name] == 1
            for alias in node.names
            if (alias.asname or alias.name) == name
        ]
        if not imports_of_it:
            return None
        [(node, name)] = imports_of_it
        if not node.level and module(0, node.module or "") is None:
            return node.module or "", name
        level, package = place
        inner = f"{package}.{node.module}" if node.module else package
        if node.level > 1 or (node.level and module(level, inner) is None):
            return None  # of a package that is not the module itself
        place = (level, inner) if node.level else (0, node.module or "")
    return None


def _import_from(module: str, name: str, own_name: str) -> ast.stmt:
    alias = ast.alias(name=name, asname=None if own_name == name else own_name)
    return ast.ImportFrom(module=module, names=[alias], level=0)


def rows(source: bytes, test_module: SourceOf) -> bytes:
    """A test file with the rows in it that its loops and tables have from test modules, where these write them out.

    `test_module` is as `borrow` has it. What imports the rows stays.
    """

    def body(tree: ast.Module) -> Iterator[ast.stmt]:
        hidden = bound(tree)
        for statement in tree.body:
            yield statement
            for here, origin, name in _rows_imported(statement, test_module):
                copied = [] if here.partition(".")[0] in hidden else _rows_copied(name, origin, test_module)
                if copied and _RowsRenamer(here, OWN + name).changes(tree):
                    yield from copied

    return with_more(source, body)


def with_more(source: bytes, body_of: Callable[[ast.Module], Iterator[ast.stmt]]) -> bytes:
    """A file whose top level has what `body_of` adds to it; as it is where that is nothing, or it can't be read."""
    try:
        tree = python_source.parse(source)
        body = list(body_of(tree))
        if len(body) == len(tree.body):
            return source
        tree.body = body
        return ast.unparse(ast.fix_missing_locations(tree)).encode()
    except (SyntaxError, ValueError, RecursionError):
        return source


def _rows_imported(statement: ast.stmt, test_module: SourceOf) -> Iterator[tuple[str, ast.ImportFrom, str]]:
    """What an import may give of a test module: what the file calls it, an import from there, and its name there."""
    for prefix, level, module in _modules(statement):
        origin = ast.ImportFrom(module=module, names=[], level=level)
        yield from ((f"{prefix}.{name}", origin, name) for name in statements(level, module, test_module))
    if isinstance(statement, ast.ImportFrom):
        yield from ((alias.asname or alias.name, statement, alias.name) for alias in statement.names)


def _rows_copied(name: str, origin: ast.ImportFrom, test_module: SourceOf) -> list[ast.stmt]:
    """The assignment of rows that a module writes out and does not name again, after what they use of the module."""
    tree = python_source.parsed(test_module(origin.level, origin.module or ""))
    module = statements(origin.level, origin.module or "", test_module)
    match module.get(name):
        case ast.Assign(targets=[ast.Name()], value=ast.List() | ast.Tuple() | ast.Dict() as value):
            value = copy.deepcopy(value)
        case _:
            return []
    names = [node.id for node in ast.walk(tree) if isinstance(node, ast.Name)] if tree else []
    free = {node.id for node in ast.walk(value) if isinstance(node, ast.Name)} - vars(builtins).keys()
    is_written = not any(isinstance(node, _NOT_WRITTEN) for node in ast.walk(value)) and free <= module.keys()
    if names.count(name) != 1 or not is_written:
        return []
    _Renamer(frozenset(free)).visit(value)
    head = [_import(used, origin, module[used]) for used in sorted(free)]
    return [*head, ast.Assign(targets=[ast.Name(id=OWN + name, ctx=ast.Store())], value=value)]


_NOT_WRITTEN = (ast.Lambda, ast.comprehension, ast.NamedExpr, ast.Starred)
"""What binds names in an expression, or has rows that are not written out."""


class _RowsRenamer(ast.NodeTransformer):
    """Calls rows that loops and tables go over by another name."""

    def __init__(self, here: str, name: str) -> None:
        self._here, self._name = here, name
        self._changed = False

    def changes(self, tree: ast.Module) -> bool:
        """Whether it finds some in a tree."""
        self.visit(tree)
        return self._changed

    def visit_For(self, node: ast.For) -> ast.AST:
        match node.iter:
            case ast.Call(func=ast.Name(id="enumerate"), args=[listed, *others]) as call:
                call.args = [self._renamed(listed), *others]
            case ast.Call(func=ast.Attribute(value=value, attr="items") as items, args=[]):
                items.value = self._renamed(value)
            case listed:
                node.iter = self._renamed(listed)
        return self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> ast.AST:
        match node:
            case ast.Call(func=ast.Attribute(attr="parametrize"), args=[names, listed, *others]):
                node.args = [names, self._renamed(listed), *others]
        return self.generic_visit(node)

    def _renamed(self, listed: ast.expr) -> ast.expr:
        if ast.unparse(listed) != self._here:
            return listed
        self._changed = True
        return ast.Name(id=self._name, ctx=ast.Load())


def _imported(node: ast.AST) -> list[str]:
    imported = node.names if isinstance(node, ast.Import | ast.ImportFrom) else []
    return [alias.asname or alias.name.partition(".")[0] for alias in imported]


def _modules(statement: ast.stmt) -> list[tuple[str, int, str]]:
    """The modules that an import may bind: what the file calls each, then level and name of an import from it."""
    match statement:
        case ast.Import(names=names):
            return [(alias.asname or alias.name, 0, alias.name) for alias in names]
        case ast.ImportFrom(module=module, names=names, level=level):
            prefix = f"{module}." if module else ""
            return [(alias.asname or alias.name, level, prefix + alias.name) for alias in names]
    return []


def _is_borrowed(node: ast.stmt) -> bool:
    return isinstance(node, ast.ClassDef) or (isinstance(node, Function) and _is_of_use(node))


def _shortened(tree: ast.Module, prefix: str, names: Collection[str]) -> set[str]:
    """Write these names of a module alone where they are called or derived from; those that are."""
    taken: set[str] = set()

    def short(node: ast.expr) -> ast.expr:
        if not (isinstance(node, ast.Attribute) and node.attr in names and ast.unparse(node.value) == prefix):
            return node
        taken.add(node.attr)
        return ast.Name(id=node.attr, ctx=ast.Load())

    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef):
            node.bases = [short(base) for base in node.bases]
        if isinstance(node, ast.Call):
            node.func = short(node.func)
    return taken


def _names_used(tree: ast.Module) -> set[str]:
    """The names that a file calls or derives from, and does not bind itself."""
    nodes = list(ast.walk(tree))
    ids = {node.func.id for node in nodes if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)}
    bases = [base for node in nodes if isinstance(node, ast.ClassDef) for base in node.bases]
    return (ids | {base.id for base in bases if isinstance(base, ast.Name)}) - bound(tree)


def _copies(
    tree: ast.Module,
    source_of: SourceOf,
    names: Collection[str],
    may: Callable[[ast.stmt], bool],
) -> dict[str, list[ast.stmt]]:
    """By name in the file: the statements that stand for it, of what may be copied and asserts."""
    nodes: dict[str, list[ast.stmt]] = {}
    for node, module in imports(tree, source_of):
        for alias in node.names:
            statement = module.get(alias.name)
            if (
                node in tree.body
                and alias.asname is None
                and alias.name in names
                and statement is not None
                and may(statement)
            ):
                statements = _copied(statement, node, module)
                nodes.update({alias.name: statements} if statements else {})
    return nodes


def _is_test_case(node: ast.stmt) -> bool:
    return isinstance(node, ast.ClassDef) and any(ast.unparse(base).endswith("TestCase") for base in node.bases)


def _between(base: ast.expr, copies: Mapping[str, list[ast.stmt]]) -> ast.expr:
    is_class = isinstance(base, ast.Name) and base.id in copies and isinstance(copies[base.id][-1], ast.ClassDef)
    return ast.Name(id=OWN + ast.unparse(base), ctx=ast.Load()) if is_class else base


def _copied(node: ast.stmt, origin: ast.ImportFrom, module: Mapping[str, ast.stmt]) -> list[ast.stmt]:
    """A function, or a class between with methods of the one that was found; first what they use of their module."""
    own_name = {node.name} if isinstance(node, Function) else set[str]()
    if isinstance(node, Function):
        functions = [node] if _is_movable(node, module) and _is_of_use(node) else []
    elif isinstance(node, ast.ClassDef):
        movable = [
            statement for statement in node.body if isinstance(statement, Function) and _is_movable(statement, module)
        ]
        functions = list(filter(_is_of_use, movable))
        functions = functions if any(map(_asserts, functions)) else []
    if not isinstance(node, Function | ast.ClassDef) or not functions:
        return []
    rebound = _rebound(module)
    functions = [copy.deepcopy(function) for function in functions if not _free(function) & rebound]
    free = {name for function in functions for name in _free(function)}
    names = sorted(free - (vars(builtins).keys() - module.keys()) - own_name)
    for function in functions:
        _Renamer(frozenset(names)).visit(function)
    head = [_import(name, origin, module[name]) for name in names]
    if isinstance(node, Function):
        return [*head, *functions]
    bases: list[ast.expr] = [ast.Name(id=node.name, ctx=ast.Load())]
    return [*head, ast.ClassDef(OWN + node.name, bases, keywords=[], body=list(functions), decorator_list=[])]


def _rebound(module: Mapping[str, ast.stmt]) -> set[str]:
    """The names of a module that its functions bind anew, so that a copy elsewhere would not see it."""
    nodes = (node for statement in set(module.values()) for node in ast.walk(statement))
    return {name for node in nodes if isinstance(node, ast.Global) for name in node.names}


def _import(name: str, origin: ast.ImportFrom, binding: ast.stmt) -> ast.stmt:
    """An import of what a name stands for in its module: from where that has it, else from the module."""
    match binding:
        case ast.Import(names=names):
            for node in names:
                if (node.asname or node.name) == name or (not node.asname and node.name.startswith(f"{name}.")):
                    return ast.Import(names=[ast.alias(name=node.name if node.asname else name, asname=OWN + name)])
        case ast.ImportFrom(module=module, names=names, level=0):
            alias = next(imported.name for imported in names if (imported.asname or imported.name) == name)
            return ast.ImportFrom(module=module, names=[ast.alias(name=alias, asname=OWN + name)], level=0)
    return ast.ImportFrom(module=origin.module, names=[ast.alias(name=name, asname=OWN + name)], level=origin.level)


def _is_of_use(function: Function) -> bool:
    """Whether it asserts, or does nothing but return something."""
    return _asserts(function) or returned(function) is not None


def _asserts(function: Function) -> bool:
    return any(map(_is_assertion, ast.walk(function)))


def _is_assertion(node: ast.AST) -> bool:
    match node:
        case ast.Assert() | ast.Call(func=ast.Attribute(attr="raises" | "warns")):
            return True
        case ast.Call(func=ast.Attribute(value=ast.Name(id="self"), attr=name)):
            return name.startswith("assert") or name == "fail"
    return False


def _is_movable(function: Function, module: Mapping[str, ast.stmt]) -> bool:
    """Whether a function does the same in another module, given what it uses of its own."""
    nodes = list(ast.walk(function))
    names = {node.id for node in nodes if isinstance(node, ast.Name)}
    attrs = {node.attr for node in nodes if isinstance(node, ast.Attribute)}
    mangled = any(name.startswith("__") and not name.endswith("__") for name in names | attrs)
    outer = any(isinstance(node, ast.Global | ast.Nonlocal) for node in nodes)
    plain = not function.decorator_list and not mangled and not outer and not names & _HIDDEN
    return plain and _free(function) <= module.keys() | vars(builtins).keys()


def _free(function: Function) -> set[str]:
    """Names that a function reads and does not bind; its own may be one of its module's where it is a method."""
    inner = [
        alias for node in ast.walk(function) if isinstance(node, ast.Import | ast.ImportFrom) for alias in node.names
    ]
    names = {name for child in ast.iter_child_nodes(function) for name in bound(child)}
    return {*names_read(function)} - names - {(node.asname or node.name).partition(".")[0] for node in inner}


class _Renamer(ast.NodeTransformer):
    def __init__(self, names: frozenset[str]) -> None:
        self._names = names

    def visit_Name(self, node: ast.Name) -> ast.Name:
        return ast.Name(id=OWN + node.id, ctx=node.ctx) if node.id in self._names else node
