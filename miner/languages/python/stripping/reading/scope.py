"""Which expressions of a test file depend on nothing of the product, so that their values can be kept outside. Pure."""

from __future__ import annotations

import ast
import builtins
import re
import sys
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

from harness.core.wording import words
from miner.languages.base import WrittenForm
from miner.languages.python.stripping.nodes import count_of
from miner.languages.python.stripping.reading.flow import conditions_around, is_bound_where_read, unconditional
from miner.languages.python.stripping.reading.immutable import OF_TEXTS, is_flat, is_immutable
from miner.languages.python.stripping.reading.module import EXCEPTIONS, IMPURE_NAMES, PURE_BUILTINS, Module
from miner.languages.python.stripping.reading.rows import Column, columns_of, rows_of, table_of
from miner.languages.python.stripping.reading.syntax import (
    NO_FUNCTION,
    READING,
    Function,
    arguments_of,
    assigned_in,
    cell_of,
    combined_in,
    filled,
    loads_of,
    looked_in,
    names_in,
    opened_by,
    parts_of,
    path_of,
    returned,
    stored,
)

_WRITTEN_OUT = (ast.List, ast.Tuple, ast.Set, ast.Dict, ast.UnaryOp, ast.Call)
"""What adds nothing to its parts: displays, signs, and a call beside what it calls."""
_MADE_OF_PARTS = (ast.List, ast.Tuple, ast.Set, ast.Dict, ast.BinOp, ast.JoinedStr, ast.FormattedValue)
_REPLACED = words("abs divmod max min pow round sum slice")
"""Builtins that a package may have of its own."""
_PATHS = frozenset(
    {
        *("str", "Path", "pathlib.Path", "os.fspath"),
        *(f"os.path.{name}" for name in words("join dirname basename abspath realpath normpath splitext")),
    }
)
"""What makes a path of another, or its text."""
_WHOLE_PATHS = frozenset({"os.path.abspath", "os.path.realpath"})
"""What puts the process's folder before a path."""
_PATH_METHODS = frozenset({"joinpath", "join", "as_posix", "resolve", "absolute", "with_name", "with_suffix"})
_OF_WORDS = words("html json pathlib re shlex string textwrap urllib")
"""Modules that take the text of a path for a text."""
_OF_FILES = words(
    "bz2 configparser dbm filecmp fileinput gzip linecache lzma mailbox netrc pkgutil runpy shelve tarfile tokenize"
    " wave xml zipfile zipimport"
)
"""Python's own modules with functions that take the name of a file and read it."""
_BESIDE = ("__file__",)
_OF_TESTS = re.compile(r"(?:\./)?tests?/.+")
"""A path from the root of the repository, where tests are run, to a file of its tests."""
_LOADING = frozenset({"json.load", "tomllib.load", "tomli.load", "yaml.safe_load"})
"""What reads data from an open file."""
_WAITING_FOR_NOTHING = ("contextlib.nullcontext", "contextlib.ExitStack")
"""Blocks around which nothing is raised or caught."""


@dataclass(kw_only=True)
class Scope:
    """A test function: what its local names stand for, as far as that is static."""

    module: Module
    function: Function
    tables: Mapping[str, tuple[ast.expr, ...]]
    """Names that rows of a written-out table give: parameters, targets of loops; each with its values."""
    arguments: Mapping[str, tuple[ast.expr, ...]] = field(default_factory=dict)
    """Parameters of a helper whose every argument is static, with the arguments."""
    caught: frozenset[str] = frozenset()
    """Names under which `pytest.raises` gives what it caught."""
    _constants: dict[str, tuple[ast.expr, ...]] = field(default_factory=dict)
    _counted: dict[str, ast.expr] = field(default_factory=dict)
    """Names that one loop alone binds, over what this expression gives."""
    _loops: dict[str, ast.For] = field(default_factory=dict)
    """These loops."""
    _computed: dict[str, ast.expr] = field(default_factory=dict)
    """Parameters whose rows are not written out, with what gives these."""
    _columns: dict[str, Column] = field(default_factory=dict)
    """Names that rows of a table with a name give values."""
    _opened: dict[str, ast.expr] = field(default_factory=dict)
    """Names of open files, with their paths."""
    _questions: set[tuple[str, str]] = field(default_factory=set)
    """What is being looked at."""
    _stored: frozenset[str] = frozenset()
    _local: frozenset[str] = frozenset()
    _loads: Counter[str] = field(default_factory=Counter)
    _expecting: dict[str, int] = field(default_factory=dict)
    _combined: Counter[str] = field(default_factory=Counter)
    """How often something new is made of what a name stands for, as by `+`."""
    _looked_in: Counter[str] = field(default_factory=Counter)
    """How often something inside of it is looked at, as by `name[0]`."""
    _cells: Counter[tuple[str, str]] = field(default_factory=Counter)
    """How often a row is looked at by a text that is written out: `name["a"]`, `rows[0]["a"]`."""
    _remade: frozenset[str] = frozenset()
    """Names that one statement after the other binds, some to what is made of what they stood for before."""

    def __post_init__(self) -> None:
        nodes = list(ast.walk(self.function))
        statements = [node for node in nodes if isinstance(node, ast.stmt)]
        arguments = [node.arg for node in nodes if isinstance(node, ast.arg)]
        parameters = {node.arg for inner in nodes if isinstance(inner, Function) for node in arguments_of(inner)}
        within = [inner for inner in nodes if isinstance(inner, Function | ast.Lambda) and inner is not self.function]
        hidden = {node.arg for inner in within for node in ast.walk(inner.args) if isinstance(node, ast.arg)}
        self.tables = {name: values for name, values in self.tables.items() if name not in hidden}
        self.arguments = {name: values for name, values in self.arguments.items() if name not in hidden}
        once = {name: values for name, values in assigned_in(nodes, statements).items() if len(values) == 1}
        once = {name: values for name, values in once.items() if is_bound_where_read(name, nodes)}

        def constants(is_static: Callable[[ast.expr], bool]) -> dict[str, tuple[ast.expr, ...]]:
            assigned = {**once, **assigned_in(nodes, unconditional(self.function.body, is_static))}
            return {name: values for name, values in assigned.items() if name not in parameters}

        self._constants = constants(lambda _: False)
        bound = [name for node in nodes for name in stored(node)] + arguments
        loops = [node for node in nodes if isinstance(node, ast.For)]
        targets = [(name, loop) for loop in loops for inner in ast.walk(loop.target) for name in stored(inner)]
        self._loops = {name: loop for name, loop in targets if bound.count(name) == 1}
        self._counted = {name: loop.iter for name, loop in self._loops.items()}
        self._stored = frozenset(name for node in nodes for name in stored(node))
        self._local = self._stored | set(arguments)
        items = [item for node in nodes for item in getattr(node, "items", ())]
        self._opened = dict(pair for item in items if (pair := opened_by(item)) and bound.count(pair[0]) == 1)
        self._computed = {
            name: rows
            for decorator in self.function.decorator_list
            for name, rows in rows_of(decorator)
            if name not in self.tables and bound.count(name) == 1
        }
        self._columns = dict(columns_of(self.function))
        self.caught = frozenset(
            item.optional_vars.id
            for item in items
            if isinstance(item, ast.withitem)
            and isinstance(item.optional_vars, ast.Name)
            and isinstance(item.context_expr, ast.Call)
            and self.module.dotted(item.context_expr.func) == "pytest.raises"
        )
        for node in nodes:
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
                self._loads[node.id] += 1
            elif isinstance(node, READING):
                self._combined.update(combined_in(node))
                self._looked_in.update(looked_in(node))
                if cell := cell_of(node):
                    self._cells[ast.unparse(cell[0]), cell[1]] += 1
        in_line = assigned_in(nodes, self.function.body)
        for name in in_line.keys() - set(arguments) - self.module.imports.keys():
            first, *others = (count_of(value, name) for value in in_line[name])
            if not first and any(others):
                self._remade |= {name}
                self._loads[name] -= sum(others)
        self._constants = constants(self.is_static)

    @property
    def _of_file(self) -> Scope:
        """What the names of the file's top level stand for where no function hides them."""
        return Scope(module=self.module, function=NO_FUNCTION, tables={})

    def assume_expected(self) -> None:
        """Take every name as read by expectations alone: the first guess."""
        self._expecting = dict(self._loads)

    def expecting(self, counts: Mapping[str, int]) -> None:
        """How often expectations read each name: mutable values that nothing else reads are static."""
        self._expecting = dict(counts)

    def is_static(self, node: ast.expr, bound: frozenset[str] = frozenset()) -> bool:
        """Whether nothing of the product decides what the expression gives."""
        match node:
            case ast.Constant():
                return True
            case ast.Name(id=name):
                return name in bound or self._is_static_name(name)
            case ast.Attribute(attr=attr) if attr in IMPURE_NAMES:
                return False
            case ast.Attribute(value=ast.Name(id="self"), attr=name) if name in self.module.attributes:
                values = self.module.attributes[name]
                return all(is_immutable(value) and self._of_file.is_static(value) for value in values)
            case ast.Attribute(value=value):
                dotted = self._outside(node)
                return self.module.is_pure(dotted) if dotted else self.is_static(value, bound)
            case ast.Call(func=func, args=args, keywords=keywords):
                inner = [*args, *(keyword.value for keyword in keywords)]
                is_pure = self._is_pure_call(func, bound) and not self._is_of_surroundings(func, inner)
                return is_pure and all(self.is_static(part, bound) for part in inner)
            case ast.ListComp() | ast.SetComp() | ast.GeneratorExp() | ast.DictComp():
                return self._is_static_comprehension(node, bound)
            case ast.Lambda() | ast.Await() | ast.Yield() | ast.YieldFrom() | ast.NamedExpr():
                return False
        parts = [child for child in ast.iter_child_nodes(node) if isinstance(child, ast.expr)]
        return all(self.is_static(part, bound) for part in parts)

    def stands_for(self, node: ast.expr) -> tuple[ast.expr, ...]:
        """What a name is bound to, as far as that is written out; any other expression as it is."""
        bound = (self.arguments.get(node.id) or self._bound(node.id)) if isinstance(node, ast.Name) else ()
        return bound or (node,)

    def input_written(self, node: ast.expr) -> ast.expr | None:
        """What a name stands for that is written out once, where the product may have got it to change; else None."""
        match node:
            case ast.Name(id=name) if self.is_given(node) or not self.is_static(node):
                bound = self._bound(name)
                if len(bound) == 1 and isinstance(bound[0], ast.List | ast.Dict | ast.Set) and self.is_static(bound[0]):
                    return bound[0]
        return None

    def is_waiting(self, node: ast.expr) -> bool:
        """Whether it is a block of pytest's for what is raised, or one that waits for nothing, as the test has it."""
        match node:
            case ast.Name(id=name) if self._bound(name):
                return self._only_expected(name) and all(map(self.is_waiting, self._bound(name)))
            case ast.IfExp(test=test, body=body, orelse=other):
                return self.is_static(test) and self.is_waiting(body) and self.is_waiting(other)
            case ast.Call(func=func, args=[], keywords=[]) if self.module.dotted(func) in _WAITING_FOR_NOTHING:
                return True
            case ast.Call(func=func, args=[_], keywords=[]):
                return self.module.dotted(func) == "pytest.raises"
            case ast.Call(func=func, args=[_], keywords=[ast.keyword(arg="match", value=pattern)]):
                return self.module.dotted(func) == "pytest.raises" and self.is_expected(pattern)
        return False

    def is_given(self, node: ast.expr) -> bool:
        """Whether it is a name of the file's top level for what is written out, and what the product gets elsewhere."""
        match node:
            case ast.Name(id=name) if name in self.module.changeable and name not in self._local:
                bound = self._bound(name)
                return len(bound) == 1 and isinstance(bound[0], ast.List | ast.Dict | ast.Set)
            case ast.Subscript(value=value):
                return self.is_given(value)
        return False

    def is_handed(self, node: ast.expr) -> bool:
        """Whether a constant of the product that the product is given, too, is in an expression."""
        parts = [part for part in ast.walk(node) if isinstance(part, ast.Name | ast.Attribute)]
        bound = [value for part in parts if isinstance(part, ast.Name) for value in self._bound(part.id)]
        return any(ast.unparse(part) in self.module.handed for part in (*parts, *bound))

    def are_classes(self, node: ast.expr) -> bool:
        """Whether it is a class, or a tuple of classes, by their names: which they are is not what the product says."""
        match node:
            case ast.Tuple(elts=parts):
                return all(map(self.are_classes, parts))
            case ast.BinOp(left=left, op=ast.BitOr(), right=right):
                return self.are_classes(left) and self.are_classes(right)
            case ast.Name(id=name) if (bound := self.stands_for(node)) != (node,):
                return self._once(("classes", name), lambda: all(map(self.are_classes, bound)))
            case ast.Name(id=name) | ast.Attribute(attr=name) if not name.isupper():
                is_named = name[:1].isupper() or name in self.module.classes or bool(self.module.dotted(node))
                is_plain = isinstance(node, ast.Name) and (
                    name in self._local - self._stored or hasattr(builtins, name)  # what a helper is given
                )
                return is_named or is_plain or self.is_expected(node)
        return self.is_expected(node)

    def _is_changeable(self, name: str) -> bool:
        """Whether it is one of the file's top level whose value the product, or what it gave, may have changed."""
        return name in self.module.changeable and name not in self._local

    def is_expected(self, node: ast.expr) -> bool:
        """Whether it is static, or made of what is: by classes and constants that the fix leaves as they were."""
        alone = (self.is_static, self._is_member, self._is_place, self._is_data, self._is_cell_of_data)
        if any(is_expected(node) for is_expected in alone):
            return True
        match node:
            case ast.Name(id=name) if bound := self._bound(name):
                is_apart = self._only_expected(name) and not self._is_changeable(name)
                return is_apart and self._once(("expected", name), lambda: all(map(self.is_expected, bound)))
            case ast.Name(id=name) if rows := self._rows(name):
                return self._only_expected(name) and self._of_file.has_rows(rows)
            case ast.Name(id=name) | ast.Attribute(attr=name) if name[:1].isupper():
                return self._is_settled(node, is_called=False)
            case ast.Attribute(value=ast.Name(id=name) | ast.Attribute(attr=name)) if name[:1].isupper():
                return self._is_settled(node, is_called=False)  # such as a member of an enumeration
            case ast.Call(func=ast.Attribute(value=value, attr=attr), args=args, keywords=[]) if (
                attr in OF_TEXTS and not self._outside(node.func)
            ):
                return bool(self.data_paths(value)) and all(map(self.is_expected, (value, *args)))
            case ast.Subscript(value=value, slice=index) if self.is_static(index):
                return bool(self.data_paths(value)) and self.is_expected(value)
            case ast.Call(func=func, args=args, keywords=keywords):
                parts = (*args, *(keyword.value for keyword in keywords))
                is_pure = self._is_pure_call(func, frozenset()) and not self._may_read(func, parts)
                is_pure = is_pure and not self._is_of_surroundings(func, parts)
                is_known = is_pure or self._is_class(func) or self._is_own(func)
                return (is_known and all(map(self.is_expected, parts))) or self._is_expected_inside(node)
        return isinstance(node, _MADE_OF_PARTS) and all(map(self.is_expected, parts_of(node)))

    def _is_member(self, node: ast.expr) -> bool:
        """Whether it is a member of an enumeration of the file."""
        name, _, attr = ast.unparse(node).partition(".") if isinstance(node, ast.Attribute) else ("", "", "")
        return f"{name}.{attr}" in self.module.members and name not in self._local

    def _is_cell_of_data(self, node: ast.expr) -> bool:
        """Whether it is a cell of a row of such a file, of which the product gets other cells alone."""
        match cell_of(node):
            case (ast.Name(id=name), key, others) if (rows := self._rows(name)) and not self._is_given_row(name):
                is_apart = self._loads[name] == sum(count for (row, _), count in self._cells.items() if row == name)
            case (ast.Subscript(value=rows, slice=index) as row, key, others):
                name = ast.unparse(row)
                is_apart = ast.unparse(rows) not in self._local and self.is_static(index)
            case _:
                return False
        is_apart = is_apart and self._cells[name, key] == 1 and key not in self.module.given
        return is_apart and self._of_file.has_rows(rows) and all(map(self.is_expected, others))

    def _rows(self, name: str) -> ast.expr | None:
        """What gives the rows of which a parameter or the target of a loop is one, or a part of each."""
        return self._computed.get(name) or (None if name in self.tables else self._counted.get(name))

    def _is_given_row(self, name: str) -> bool:
        """Whether a call of the file may change what the name's column, or the rows as such, have."""
        column = self._columns.get(name)
        return column is not None and not {column, (column[0], None)}.isdisjoint(self.module.given)

    def has_rows(self, node: ast.expr) -> bool:
        """Whether an expression is what a file beside the tests holds, or those of it of which a condition holds."""
        match node := table_of(node):
            case ast.Name(id=name) if name in self.module.tabulated and len(self._bound(name)) == 1:
                return self._once(("rows", name), lambda: self.has_rows(self._bound(name)[0]))
            case ast.Attribute(attr=name) if ast.unparse(node) in self.module.tabulated:
                return all(map(self._is_data, self.module.attributes.get(name, (node,))))
            case ast.ListComp(
                elt=ast.Name(id=row),
                generators=[ast.comprehension(target=ast.Name(id=target), iter=listed, ifs=conditions, is_async=0)],
            ) if row == target:
                return self.has_rows(listed) and all(self.is_static(one, frozenset({row})) for one in conditions)
        return self._is_data(node)

    def _is_own(self, func: ast.expr) -> bool:
        """Whether it is a function of the file that nothing outside of the file decides on but its arguments."""
        return isinstance(func, ast.Name) and func.id not in self._local and self.module.is_apart(func.id)

    def _is_expected_inside(self, call: ast.Call) -> bool:
        """Whether what a call of the file's own function stands for is expected."""
        value = self._inlined(call)
        return value is not None and self._once(("call", ast.unparse(call)), lambda: self.is_expected(value))

    def _inlined(self, call: ast.expr) -> ast.expr | None:
        """What a function of the file gives that only returns something, with the arguments of a call in it."""
        match call:
            case ast.Call(func=ast.Name(id=name), args=args, keywords=[]) if (
                name in self.module.returning and name not in self._local
            ):
                function = self.module.returning[name]
                names = [argument.arg for argument in arguments_of(function)]
                value = returned(function)
                others = self._local | self.module.changeable
                if value is not None and len(names) == len(args) and not (names_in(value) - {*names}) & others:
                    return filled(value, dict(zip(names, args, strict=True)))
        return None

    def _may_read(self, func: ast.expr, arguments: Iterable[ast.expr]) -> bool:
        """Whether a call of another package gets a path, so that it may tell what the product wrote there."""
        dotted = self.module.dotted(func)
        is_of_paths = dotted.startswith("os.path.") or dotted.partition(".")[0] in _OF_WORDS
        return bool(dotted) and not is_of_paths and any(map(self._is_place, arguments))

    def _is_of_surroundings(self, func: ast.expr, arguments: Sequence[ast.expr]) -> bool:
        """Whether files or the process's folder, which the product may change, decide what a call gives."""
        asks_where = self.module.dotted(func) in _WHOLE_PATHS and not all(map(self._is_whole_path, arguments))
        return asks_where or self._reads_named(func, arguments)

    def _is_whole_path(self, node: ast.expr) -> bool:
        match node:
            case ast.Constant(value=str(text)):
                return text.startswith("/")
        return any(self._is_path(node, roots) for roots in (_BESIDE, ("tmp_path", "tmpdir")))

    def _reads_named(self, func: ast.expr, arguments: Iterable[ast.expr]) -> bool:
        """Whether a call may read a file of a name that the product gets, too, so that it may have written it."""
        top = self.module.dotted(func).partition(".")[0]
        if not top or (top in sys.stdlib_module_names and top not in _OF_FILES):
            return False
        values = [value for argument in arguments for value in self.stands_for(argument)]
        return any(isinstance(value, ast.Constant) and value.value in self.module.file_names for value in values)

    def _is_place(self, node: ast.expr) -> bool:
        """Whether it is a path below the folder that pytest gives a test, or the text of one."""
        # rows are called otherwise when stripped, and so are their folders
        return not self.function.decorator_list and self._is_path(node, ("tmp_path", "tmpdir"))

    def _is_path(self, node: ast.expr, roots: Collection[str]) -> bool:
        """Whether it is a path that is told from what one of these names stands for, or the text of one."""
        match node:
            case ast.Name(id=name) if name in roots:
                arguments = {node.arg for node in self.function.args.args}
                is_pytests = name in arguments and name not in self.module.fixtures
                return name not in self._stored and (is_pytests or name == "__file__")
            case ast.Name(id=name):
                bound = self._bound(name)
                is_path = partial(self._is_path, roots=roots)
                is_row = roots == _BESIDE and self._is_row_beside(name)
                return is_row or (bool(bound) and self._once(("path", name), lambda: all(map(is_path, bound))))
            case ast.BinOp(left=left, op=ast.Div() | ast.Add(), right=right):
                return self._is_path(left, roots) and self.is_static(right)
            case (
                ast.Attribute(value=value, attr="parent" | "name" | "stem" | "suffix" | "strpath")
                | ast.Subscript(value=ast.Attribute(value=value, attr="parents"))
                | ast.Subscript(
                    value=value, slice=ast.Slice() | ast.Constant(value=0)
                )  # without its end, or its suffix
            ):
                return self._is_path(value, roots)
            case ast.Call(func=func, args=[first, *rest], keywords=[]) if ast.unparse(func) in _PATHS:
                return self._is_path(first, roots) and all(map(self.is_static, rest))
            case ast.Call(func=ast.Attribute(value=value, attr=attr), args=args) if attr in _PATH_METHODS:
                return self._is_path(value, roots) and all(map(self.is_static, args))
            case ast.JoinedStr(values=[ast.FormattedValue(value=first, format_spec=None), *rest]):
                return self._is_path(first, roots) and all(map(self.is_static, rest))
        inlined = self._inlined(node)
        return inlined is not None and self._once(("path", ast.unparse(node)), lambda: self._is_path(inlined, roots))

    def _is_row_beside(self, name: str) -> bool:
        """Whether a parameter's rows are told by a function of the file that looks at what is beside it."""
        match self._computed.get(name):
            case ast.Call(func=ast.Name(id=function), args=[], keywords=[]):
                return self.module.is_apart(function, looks_beside=True)
        return False

    def data_paths(self, node: ast.expr, visited: frozenset[str] = frozenset()) -> list[ast.expr]:
        """The paths of the files beside the tests of which an expected value is made."""
        path = self._data_path(node)
        if path is not None:
            return [path]
        inlined = self._inlined(node)
        if inlined is not None:
            call = ast.unparse(node)
            return [] if call in visited else self.data_paths(inlined, visited | {call})
        if isinstance(node, ast.Attribute) and ast.unparse(node) in self.module.tabulated:
            return [path for value in self.module.attributes.get(node.attr, ()) for path in self.data_paths(value)]
        if not isinstance(node, ast.Name):
            return [path for part in parts_of(node) for path in self.data_paths(part, visited)]
        if rows := self._rows(node.id):
            return self._of_file.data_paths(rows)
        parts = () if node.id in visited else self._bound(node.id)
        return [path for part in parts for path in self.data_paths(part, visited | {node.id})]

    def _is_data(self, node: ast.expr) -> bool:
        return self._data_path(node) is not None

    def _data_path(self, node: ast.expr) -> ast.expr | None:
        """The path of the file beside the tests whose content an expression is; None of any other."""
        path: ast.expr | None = None
        match node:
            case ast.Call(func=ast.Attribute(value=place, attr="read_text" | "read_bytes"), args=args):
                path = place if all(map(self.is_static, args)) else None
            case ast.Call(func=ast.Attribute(value=opened, attr="read" | "readlines"), args=[]):
                path = self._path_opened(opened)
            case ast.Call(func=func, args=[opened]) if (dotted := self.module.dotted(func)) in _LOADING:
                path = self._path_opened(opened) if self.module.is_pure(dotted) else None
        return path if path is not None and self._is_beside(path) else None

    def _path_opened(self, opened: ast.expr) -> ast.expr | None:
        return self._opened.get(opened.id) if isinstance(opened, ast.Name) else path_of(opened)

    def _is_beside(self, path: ast.expr) -> bool:
        """Whether it is the path of a file beside the tests."""
        match path:
            case (
                ast.Constant(value=str(text)) | ast.Call(func=ast.Name(id="Path"), args=[ast.Constant(value=str(text))])
            ):
                return bool(_OF_TESTS.fullmatch(text)) and ".." not in text
        return self._is_path(path, _BESIDE)

    def written(self, node: ast.expr) -> WrittenForm | None:
        """How an expected value is made; None where it is written out."""
        form = self._written(node, frozenset())
        return form if form.steps or form.columns else None

    def _written(self, node: ast.expr, around: frozenset[str]) -> WrittenForm:
        match node:
            case ast.Constant(value=value):
                return WrittenForm(literals=(value,))
            case ast.Name(id=name):
                return self._name_written(name, around)
            case ast.Call() if self._is_data(node):
                return WrittenForm(steps=1)
            case ast.Call() if (inlined := self._inlined(node)) and ast.unparse(node) not in around:
                return self._written(inlined, around | {ast.unparse(node)})
            case ast.Attribute(value=ast.Name(id="self")):
                return WrittenForm(steps=1)
            case ast.Attribute() if self._outside(node):
                return WrittenForm(steps=1)
        inner = [self._written(part, around) for part in parts_of(node)]
        return _together(inner, steps=not isinstance(node, _WRITTEN_OUT))

    def _name_written(self, name: str, around: frozenset[str]) -> WrittenForm:
        if name in around and name in self._remade:
            return WrittenForm()  # what it was made of counts anyway
        if name in around or not self._bound(name) or not self._only_expected(name):
            return WrittenForm(steps=1)  # where other things read it, it stays
        bound = tuple(self._written(value, around | {name}) for value in self._bound(name))
        if name in self._remade:
            return _together(bound)
        return bound[0] if len(bound) == 1 else WrittenForm(columns=(bound,))

    def _bound(self, name: str) -> tuple[ast.expr, ...]:
        """What a name stands for, as far as that is written out."""
        values = self.tables.get(name) or self._constants.get(name)
        return values or (() if name in self._local else self.module.constants.get(name, ()))

    def _is_settled(self, node: ast.expr, *, is_called: bool) -> bool:
        dotted = self._outside(node) if isinstance(node, ast.Attribute) else self.module.dotted(node)
        return (
            bool(dotted) and ast.unparse(node) not in self._local and self.module.settled(dotted, is_called=is_called)
        )

    def _is_class(self, func: ast.expr) -> bool:
        match func:
            case ast.Name(id=name) if name in self.module.classes:
                return self.module.is_made_apart(name)
            case ast.Name(id=name) | ast.Attribute(attr=name):
                return name[:1].isupper() and self._is_settled(func, is_called=True)
        return False

    def _is_static_name(self, name: str) -> bool:
        return self._once(("static", name), lambda: not self._is_of_chosen_row(name) and self._stands_for_static(name))

    def _once(self, question: tuple[str, str], decide: Callable[[], bool]) -> bool:
        """What a question comes to; false where it comes to itself, as of names that are made of each other."""
        if question in self._questions:
            return False
        self._questions.add(question)
        try:
            return decide()
        finally:
            self._questions.discard(question)

    def is_chosen(
        self, node: ast.AST, within: ast.AST | None = None, static_names: frozenset[str] = frozenset()
    ) -> bool:
        """Whether the product says if the function, or one turn of a loop in it, comes to a node."""
        names = static_names | {name for _, name in self._questions} | self.module.changeable
        return not all(self.is_static(test, names) for test in conditions_around(within or self.function, node))

    def is_read_by_choice(self, name: str, static_names: frozenset[str]) -> bool:
        """Whether the product says if the function comes to where it reads a name; others are static."""
        return any(self.is_chosen(node, None, static_names) for node in loads_of(name, self.function.body))

    def is_of_row(self, node: ast.expr) -> bool:
        """Whether an expression is another one in each turn of a loop."""
        return bool(self._loops_of(node))

    def _loops_of(self, node: ast.expr, passed: frozenset[str] = frozenset()) -> list[ast.For]:
        names = {part.id for part in ast.walk(node) if isinstance(part, ast.Name)} - passed
        loops = [self._loops[name] for name in names if name in self._loops]
        made_of = (value for name in names for value in self._constants.get(name, ()))
        return [*loops, *(loop for value in made_of for loop in self._loops_of(value, passed | names))]

    def _is_of_chosen_row(self, name: str) -> bool:
        """Whether the product says for which rows of a loop a name is read, or one that is made of what a row has."""
        loops = self._loops_of(ast.Name(id=name))
        return any(self.is_chosen(node, loop) for loop in loops for node in loads_of(name, loop.body))

    def _stands_for_static(self, name: str) -> bool:
        if name in self.arguments:
            return all(map(is_immutable, self.arguments[name])) or self._only_expected(name)
        if name in self.tables:
            values = self.tables[name]
            return all(map(self.is_static, values)) and (all(map(is_immutable, values)) or self._only_expected(name))
        if name in self._constants:
            return all(self._is_static_value(name, value) for value in self._constants[name])
        if name in self._computed:
            return self._only_expected(name) and self._of_file.is_static(self._computed[name])
        if name in self._counted:
            listed = self._counted[name]
            return self.is_static(listed) and (self._only_expected(name) or self._gives_immutable(listed))
        if name in self._local:
            return False
        if name in self.module.imports:
            return self.module.is_pure(self.module.imports[name])
        if name in self.module.constants and name not in self.module.changeable:
            return all(self._is_static_value(name, value) for value in self.module.constants[name])
        return name in PURE_BUILTINS or name in EXCEPTIONS or name == "__file__"

    def _gives_immutable(self, listed: ast.expr) -> bool:
        """Whether nothing that a loop over an expression gives can be changed by whom it is given to."""
        match listed:
            case ast.Constant():
                return True
            case ast.Name(id=name):
                bound = self._bound(name)
                return bool(bound) and self._once(("immutable", name), lambda: all(map(self._gives_immutable, bound)))
            case ast.List(elts=parts) | ast.Tuple(elts=parts) | ast.Set(elts=parts):
                return all(map(is_immutable, parts))
            case ast.Call(func=ast.Name(id="range")):
                return True
            case ast.Call(func=ast.Name(id="enumerate" | "zip" | "reversed" | "sorted"), args=parts):
                return all(map(self._gives_immutable, parts))
            case ast.Call(func=ast.Attribute(value=value, attr="items" | "keys" | "values"), args=[]):
                return self._gives_immutable(value)
            case ast.Dict(keys=keys, values=values):
                return all(key is not None for key in keys) and all(map(is_immutable, values))
        return False

    def _is_static_value(self, name: str, value: ast.expr) -> bool:
        return self.is_static(value, self._remade & {name}) and (
            is_immutable(value) or self._only_expected(name) or self._only_read(name, value)
        )

    def _only_read(self, name: str, value: ast.expr) -> bool:
        """Whether nothing gets a local value into its hands that could change it, nor anything inside of it."""
        count = self._combined[name] + (self._looked_in[name] if is_flat(value) else 0)
        return name in self._local and self._loads[name] == count

    def _only_expected(self, name: str) -> bool:
        is_read_alone = self._loads[name] == self._expecting.get(name, 0) and not self._is_given_row(name)
        return is_read_alone and not self._is_of_chosen_row(name)

    def _outside(self, node: ast.expr) -> str:
        """The dotted name of an attribute of an imported module that no local name hides."""
        inner = node
        while isinstance(inner, ast.Attribute):
            inner = inner.value
        hidden = isinstance(inner, ast.Name) and (inner.id in self._local or inner.id in self.tables)
        return "" if hidden else self.module.dotted(node)

    def _is_pure_call(self, func: ast.expr, bound: frozenset[str]) -> bool:
        match func:
            case ast.Name(id=name) | ast.Attribute(value=ast.Name(id="self"), attr=name) if (
                name in self.module.returning and name not in bound | self._local
            ):
                return self._returns_static(self.module.returning[name])
            case ast.Name(id=name) if name in bound or name in self._local or name in self.module.constants:
                return False
            case ast.Name(id=name) if name in self.module.imports:
                return self.module.is_pure(self.module.imports[name])
            case ast.Name(id=name):
                is_replaced = self.module.replaces_builtins and name in _REPLACED
                return (name in PURE_BUILTINS and not is_replaced) or name in EXCEPTIONS
            case ast.Attribute():
                return self.is_static(func, bound)
        return False

    def _returns_static(self, function: Function) -> bool:
        """Whether what a function of the file returns depends on its arguments alone."""
        value = returned(function)
        nodes = list(ast.walk(function))
        names = {node.id for node in nodes if isinstance(node, ast.Name)}
        names |= {node.attr for node in nodes if isinstance(node, ast.Attribute) and ast.unparse(node.value) == "self"}
        if value is None or names & self.module.returning.keys():
            return False
        parameters = frozenset(node.arg for node in ast.walk(function.args) if isinstance(node, ast.arg)) - {"self"}
        return Scope(module=self.module, function=function, tables={}).is_static(value, parameters)

    def _is_static_comprehension(
        self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp, bound: frozenset[str]
    ) -> bool:
        for generator in node.generators:
            if generator.is_async or not self.is_static(generator.iter, bound):
                return False
            bound |= {name for inner in ast.walk(generator.target) for name in stored(inner)}
            if not all(self.is_static(test, bound) for test in generator.ifs):
                return False
        parts = [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]
        return all(self.is_static(part, bound) for part in parts)


def _together(forms: Collection[WrittenForm], steps: int = 0) -> WrittenForm:
    """What takes all of these, and so many steps more."""
    return WrittenForm(
        steps=steps + sum(form.steps for form in forms),
        literals=tuple(literal for form in forms for literal in form.literals),
        columns=tuple(column for form in forms for column in form.columns),
    )
