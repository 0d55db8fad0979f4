"""Which expressions of a test file depend on nothing of the product, so that their values can be kept outside. Pure."""

from __future__ import annotations

import ast
import builtins
import copy
import re
import sys
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Protocol, TypeGuard, cast

from harness.core.grouping import grouped
from harness.core.wording import words
from miner.languages.base import WrittenForm
from miner.languages.python.stripping.nodes import count_of

Function = ast.FunctionDef | ast.AsyncFunctionDef
_WRITTEN_OUT = (ast.List, ast.Tuple, ast.Set, ast.Dict, ast.UnaryOp, ast.Call)
"""What adds nothing to its parts: displays, signs, and a call beside what it calls."""
_MADE_OF_PARTS = (ast.List, ast.Tuple, ast.Set, ast.Dict, ast.BinOp, ast.JoinedStr, ast.FormattedValue)


Column = tuple[str, int | None]
"""A table and the place of a value in its rows, None where that is the row itself."""


class Settled(Protocol):
    """Tells whether a fix leaves what a dotted name of the product stands for as it was."""

    def __call__(self, dotted: str, /, *, is_called: bool) -> bool: ...


_ASSERTING = re.compile(r"(?:assert|fail)\w*|raises|warns")
"""Functions that run what they are given as part of the test."""
_PURE_BUILTINS = words(
    "abs bool bytearray bytes chr complex dict divmod enumerate float frozenset hex int len list max min oct ord pow"
    " range repr reversed round set slice sorted str sum tuple zip Ellipsis NotImplemented type"
)
_REPLACED = words("abs divmod max min pow round sum slice")
"""Builtins that a package may have of its own."""
_PATHS = frozenset(
    {
        *("str", "Path", "pathlib.Path", "os.fspath"),
        *(f"os.path.{name}" for name in words("join dirname basename abspath realpath normpath splitext")),
    }
)
"""What makes a path of another, or its text."""
_PATH_METHODS = frozenset({"joinpath", "join", "as_posix", "resolve", "absolute", "with_name", "with_suffix"})
_OF_WORDS = words("html json pathlib re shlex string textwrap urllib")
"""Modules that take the text of a path for a text."""
_OF_FILES = words(
    "bz2 configparser dbm filecmp fileinput gzip linecache lzma mailbox netrc pkgutil runpy shelve tarfile tokenize"
    " wave xml zipfile zipimport"
)
"""Python's own modules with functions that take the name of a file and read it."""
_FILE_NAME = re.compile(r"[\w./-]*(?:\.[A-Za-z]\w{0,5}|/[\w.-]+)")
_BESIDE = ("__file__",)
_OF_TESTS = re.compile(r"(?:\./)?tests?/.+")
"""A path from the root of the repository, where tests are run, to a file of its tests."""
_LOADING = frozenset({"json.load", "tomllib.load", "tomli.load", "yaml.safe_load"})
"""What reads data from an open file."""
_OF_TEXTS = words("encode decode upper lower strip lstrip rstrip join format replace")
"""Methods by which texts and bytes give others."""
_WAITING_FOR_NOTHING = ("contextlib.nullcontext", "contextlib.ExitStack")
"""Blocks around which nothing is raised or caught."""
_MAKING_IMMUTABLE = words(
    "date datetime timedelta Decimal Fraction dedent compile Path PurePath dirname basename abspath realpath normpath"
)
"""Functions and classes, of a module or imported, whose values nobody can change."""
_EXCEPTIONS = frozenset(
    name for name, kind in vars(builtins).items() if isinstance(kind, type) and issubclass(kind, BaseException)
)
_HARMLESS = _PURE_BUILTINS | _EXCEPTIONS | words("all any filter isinstance issubclass iter map next")
"""Builtins that functions of a test file may call and still give what their arguments decide."""
_IMPURE_MODULES = words(
    "glob http importlib inspect io logging multiprocessing random secrets select shutil signal socket sqlite3"
    " subprocess tempfile threading time urllib warnings gc ctypes locale"
)
"""Modules whose calls depend on the machine, on the moment or on what else the process did."""
_OF_INTERPRETER = words(
    "byteorder executable flags float_info float_repr_style getdefaultencoding getfilesystemencoding getsizeof"
    " hash_info hexversion implementation int_info intern maxsize maxunicode platform prefix thread_info version"
    " version_info"
)
"""What of `sys` no code changes."""
_IMPURE_NAMES = words(
    "now today utcnow getcwd cwd home environ getenv read read_text read_bytes readlines open exists resolve absolute"
    " expanduser expandvars stat iterdir glob rglob uuid1 uuid4 listdir urandom getpid gettempdir mock_open Mock"
    " MagicMock patch fixture importorskip skip fail argv current_app modules request session stderr stdin stdout"
    " getcontext getsize isfile isdir islink lexists getatime getctime getmtime samefile scandir walk ZipFile"
    " is_zipfile is_tarfile cache calls connection g last_request outbox"
)
"""Attributes that read files, the clock, the surroundings or what the product sets; they are looked at where made."""


NO_FUNCTION = ast.FunctionDef(
    name="nothing",
    args=ast.arguments(posonlyargs=[], args=[], kwonlyargs=[], kw_defaults=[], defaults=[]),
    body=[ast.Pass()],
    decorator_list=[],
)
"""In which no name is local."""


@dataclass(frozen=True, kw_only=True)
class Module:
    """What the names of a test file's top level stand for."""

    imports: Mapping[str, str]
    """By name: the dotted name of the module, or of the attribute of one, that it was imported as."""
    constants: Mapping[str, tuple[ast.expr, ...]]
    """Names that plain assignments alone bind, by the expressions they are bound to, which may be static."""
    product: Callable[[str], bool]
    """Whether a top-level module is the repository's own."""
    settled: Settled
    """Whether a dotted name is one of the product's that the fix leaves as it was."""
    classes: Mapping[str, Sequence[ast.ClassDef]] = field(default_factory=dict)
    """The file's own classes, by name."""
    members: frozenset[str] = frozenset()
    """The members of the file's own enumerations: `Color.RED`."""
    functions: Mapping[str, Function] = field(default_factory=dict)
    """Functions and methods of a name that no other has, without decorators."""
    fixtures: frozenset[str] = frozenset()
    """The names of functions with decorators."""
    returning: Mapping[str, Function] = field(default_factory=dict)
    """Those which do nothing but return an expression."""
    changeable: frozenset[str] = frozenset()
    """Names of lists, dictionaries and sets of the top level that a call gets which may change them."""
    given: frozenset[Column | str] = frozenset()
    """Columns of tables with names, and keys of cells, whose values a call gets which may change them."""
    file_names: frozenset[object] = frozenset()
    """Texts like the names of files that calls of the product get."""
    tabulated: frozenset[str] = frozenset()
    """Names of the top level, and `self.name`, that are read as rows of tests alone, or to choose some."""
    replaces_builtins: bool = False
    """Whether it has all names of a module of the product."""
    attributes: Mapping[str, tuple[ast.expr, ...]] = field(default_factory=dict)
    """What the file's classes set of themselves, in their bodies or as `self.name`, by plain assignments alone."""

    def dotted(self, node: ast.expr) -> str:
        """The dotted name that an expression such as `pytest.raises` stands for; empty where it is no name."""
        match node:
            case ast.Name(id=name):
                return self.imports.get(name, "")
            case ast.Attribute(value=value, attr=attr):
                inner = self.dotted(value)
                return f"{inner}.{attr}" if inner else ""
        return ""

    def is_pure(self, dotted: str) -> bool:
        """Whether what a dotted name stands for is neither the product's nor of the surroundings and the moment."""
        if dotted.startswith("."):
            return False
        top, *rest = dotted.split(".")
        if rest and rest[-1].isupper() and top in sys.stdlib_module_names:
            return True  # a constant
        if dotted.startswith("urllib.parse."):
            return True
        if top == "sys":
            return not rest or rest[0] in _OF_INTERPRETER
        if top in _IMPURE_MODULES or self.product(top) or _IMPURE_NAMES & set(rest):
            return False
        return not (top in ("pytest", "nose") and rest != ["approx"])

    def is_apart(self, name: str, *, looks_beside: bool = False) -> bool:
        """Whether nothing decides what a function of the file gives but its arguments, by the names that it reaches.

        One that `looks_beside` reads or lists files as well, and finds them by where its own file is.
        """
        nodes, outside = self._reached(name)
        if looks_beside:
            is_beside = "__file__" in outside
            return is_beside and all(map(self._is_outside_of_product, outside - {"__file__"}))
        attributes = [node for node in nodes if isinstance(node, ast.Attribute)]
        return (
            all(self.is_pure(self.imports[one]) if one in self.imports else one in _HARMLESS for one in outside)
            and all(node.attr not in _IMPURE_NAMES for node in attributes)
            and all(node.id not in self.changeable for node in nodes if isinstance(node, ast.Name))
            and all(self.is_pure(dotted) for node in attributes if (dotted := self.dotted(node)))
        )

    def is_made_apart(self, name: str) -> bool:
        """Whether an object of a class of the file has what its arguments, and what the fix leaves alone, give it."""
        names, seen = {name}, set[str]()
        while open_names := names - seen:
            seen.add(owner := open_names.pop())
            for part in (part for node in self.classes[owner] for part in _making(node)):
                read = list(self._read_outside(part))
                if not all(self.is_pure(dotted) or self.settled(dotted, is_called=True) for dotted in read):
                    return False
                own = _names_in(part)
                names |= own & self.classes.keys()
                if own & self.changeable or not all(map(self.is_apart, own & self.functions.keys())):
                    return False
        return True

    def _read_outside(self, node: ast.AST) -> Iterator[str]:
        """The dotted names of what an expression or statement reads of other modules, each in full."""
        dotted = self.dotted(node) if isinstance(node, ast.expr) else ""
        if dotted:
            yield dotted
            return
        for child in ast.iter_child_nodes(node):
            yield from self._read_outside(child)

    def _is_outside_of_product(self, name: str) -> bool:
        if name not in self.imports:
            return hasattr(builtins, name)
        top = self.imports[name].partition(".")[0]
        return bool(top) and not self.product(top)

    def _reached(self, name: str) -> tuple[list[ast.AST], set[str]]:
        """The nodes of a function and of what of the file it reads, and the names that these read of elsewhere."""
        reached: list[ast.AST] = []
        names, seen = {name}, set[str]()
        while own := (names - seen) & (self.functions.keys() | self.constants.keys()):
            one = own.pop()
            seen.add(one)
            roots = [self.functions[one]] if one in self.functions else self.constants[one]
            nodes = [node for root in roots for node in ast.walk(root)]
            bound = {name for node in nodes for name in stored(node)}
            bound |= {node.arg for node in nodes if isinstance(node, ast.arg)}
            reached += nodes
            names |= {node.id for node in nodes if isinstance(node, ast.Name)} - bound
        return reached, names - seen


def unsettled(_dotted: str, *, is_called: bool) -> bool:  # noqa: ARG001 - as others are called
    """Of a product of which nothing is known to stay as it was: it is not settled."""
    return False


def module_of(tree: ast.Module, product: Callable[[str], bool], settled: Settled = unsettled) -> Module:
    """Read a test file's top level."""
    imports: dict[str, str] = {}

    def bring(name: str, dotted: str) -> None:
        if name not in imports or not product(imports[name].partition(".")[0]):  # two functions may import by one name
            imports[name] = dotted

    nodes = list(ast.walk(tree))
    for node in nodes:
        match node:
            case ast.Import(names=names):
                for alias in names:
                    top = alias.name if alias.asname else alias.name.partition(".")[0]
                    bring(alias.asname or top, top)
            case ast.ImportFrom(module=module, level=level, names=names):
                where = "." * level + (module or "")
                for alias in names:
                    bring(alias.asname or alias.name, f"{where}.{alias.name}")
    constants = _assigned(nodes, tree.body, with_files=True)
    functions = _functions(nodes)
    giving = _Giving(nodes, imports, product)
    whole, parts = giving.names()
    values_given = [*_given_to_product(nodes, imports, product, frozenset(vars(builtins)))]
    values_given += [value for name in whole & constants.keys() for value in constants[name]]
    mutable = {name for name, values in constants.items() if not all(map(is_immutable, values))}
    deep = {name for name, values in constants.items() if not all(map(_is_flat, values))}
    return Module(
        imports=imports,
        constants=constants,
        product=product,
        settled=settled,
        classes=grouped((node.name, node) for node in nodes if isinstance(node, ast.ClassDef)),
        members=frozenset(_members(tree, nodes, imports)),
        functions=functions,
        fixtures=frozenset(function.name for function in giving.functions if function.decorator_list),
        returning={name: function for name, function in functions.items() if returned(function) is not None},
        changeable=frozenset((whole | (parts & deep) | {*_changed(nodes, imports, product)}) & mutable),
        given=frozenset(_given_of_rows(giving)),
        file_names=frozenset(filter(_is_file_name, (getattr(value, "value", None) for value in values_given))),
        tabulated=_tabulated(nodes),
        attributes={} if "self" in whole else _attributes(nodes),
        replaces_builtins="*" in imports and product(imports["*"].partition(".")[0]),
    )


def _is_file_name(value: object) -> bool:
    return isinstance(value, str) and bool(_FILE_NAME.fullmatch(value))


def _tabulated(nodes: Iterable[ast.AST]) -> frozenset[str]:
    reads, as_rows = Counter[str](), Counter[str]()
    for node in nodes:
        match node:
            case ast.Name(id=name, ctx=ast.Load()):
                reads[name] += 1
            case ast.Attribute(attr=name, ctx=ast.Load()):
                reads[f"self.{name}"] += 1
            case ast.FunctionDef(decorator_list=marks) | ast.AsyncFunctionDef(decorator_list=marks):
                for mark in marks:
                    as_rows.update({ast.unparse(_table(listed)) for _, listed in _rows_of(mark)})
            case ast.ListComp(elt=ast.Name(), generators=[ast.comprehension(iter=listed)]):
                as_rows[ast.unparse(listed)] += 1
            case ast.For(target=ast.Name(id=row), iter=listed) if _is_read_by_cells(row, node.body):
                as_rows[ast.unparse(_table(listed))] += 1
            case ast.expr() if (cell := _cell_of(node)) and isinstance(cell[0], ast.Subscript):
                as_rows[ast.unparse(cell[0].value)] += 1
    return frozenset(name for name, count in reads.items() if count == as_rows[name])


def _table(listed: ast.expr) -> ast.expr:
    """What rows are of: `rows.items()`, `list(rows)`."""
    match listed:
        case (
            ast.Call(func=ast.Attribute(value=table, attr="items" | "values"), args=[], keywords=[])
            | ast.Call(func=ast.Name(id="list"), args=[table], keywords=[])
        ):
            return _table(table)
    return listed


def _is_read_by_cells(row: str, block: Iterable[ast.AST]) -> bool:
    """Whether nothing else is done with a row than to look at what is in it."""
    cells = [cell for part in block for node in ast.walk(part) if (cell := _cell_of(node))]
    return sum(ast.unparse(cell[0]) == row for cell in cells) == _reads_in(row, block)


class _Giving:
    """What the functions of a file give the product, or methods of what it may have made, also by each other."""

    def __init__(self, nodes: Sequence[ast.AST], imports: Mapping[str, str], product: Callable[[str], bool]) -> None:
        self.functions = [node for node in nodes if isinstance(node, Function)]
        self._nodes = nodes
        self._own = {function.name: function for function in self.functions}
        names = {*self._own, *(node.name for node in nodes if isinstance(node, ast.ClassDef))}
        self._at_all = list(_given_to_product(nodes, imports, product, names))
        self._inner = {function: list(ast.walk(function)) for function in self.functions}
        self._alone = {
            function: list(_given_to_product(inner, imports, product, names)) for function, inner in self._inner.items()
        }
        self._of_rows = {
            function: list(_given_to_product((node for node in inner if not _cell_of(node)), imports, product, names))
            for function, inner in self._inner.items()
        }
        self._whole: dict[Function, set[str]] = {function: set() for function in self.functions}
        self._names: dict[Function, set[str]] = {function: set() for function in self.functions}
        count = -1
        while count != (count := sum(map(len, (*self._whole.values(), *self._names.values())))):
            for function, names_inside in self._names.items():
                self._whole[function].update(name for value in self.by_function(function) for name in _values_in(value))
                values = self.by_function(function, inside=True)
                names_inside.update(name for value in values for name in (*_values_in(value), *_values_inside(value)))

    def by_function(self, function: Function, *, inside: bool = False) -> list[ast.expr]:
        """What a function gives, and what the names stand for that it gives, or of which it gives what is `inside`."""
        inner, names = self._inner[function], (self._names if inside else self._whole)[function]
        bound = [value for node in inner for name, value in assignments(node) if name in names]
        alone = (self._alone if inside else self._of_rows)[function]  # `row.get("a")` looks like a call of the product
        return [*alone, *self._given_to_own(inner), *bound]

    def names(self) -> tuple[set[str], set[str]]:
        """The names of what the file gives: whole, and what is inside."""
        functions = self.functions
        arguments = [*self._at_all, *self._given_to_own(self._nodes), *_returned_to_product(self._nodes, functions)]
        for function in functions:
            arguments += self.by_function(function, inside=True)
            arguments += [value for name, value in _defaults(function) if name in self._names[function]]
        names = {name for argument in arguments for name in _values_in(argument)}
        arguments += [value for name, value in _set_of_classes(self._nodes) if f"self.{name}" in names]
        names |= {name for argument in arguments for name in _values_in(argument)}
        parts = {name for argument in arguments for name in _values_inside(argument)}
        for loop in self._nodes:
            if isinstance(loop, ast.For | ast.comprehension) and (names | parts) & _names_in(loop.target):
                parts |= _names_in(loop.iter)
        for function in functions:
            values = [cell for name, cell in _cells_of_marks(function) if name in names | parts]
            if function.name in names | parts:  # a fixture
                values += _returns(function)
            names |= {name for value in values for name in _values_in(value)}
        return names, parts

    def _given_to_own(self, nodes: Iterable[ast.AST]) -> Iterator[ast.expr]:
        """What calls give the file's own functions that these hand on."""
        for call in (node for node in nodes if isinstance(node, ast.Call)):
            match call.func:
                case ast.Name(id=name) | ast.Attribute(value=ast.Name(id="self" | "cls"), attr=name) if (
                    name in self._own
                ):
                    function = self._own[name]
                case _:
                    continue
            names = [argument.arg for argument in _arguments(function)]
            names = names[1:] if isinstance(call.func, ast.Attribute) and names[:1] in (["self"], ["cls"]) else names
            pairs = [*zip(names, call.args, strict=False), *((keyword.arg, keyword.value) for keyword in call.keywords)]
            yield from (value for parameter, value in pairs if parameter in self._names[function])


def _defaults(function: Function) -> Iterator[tuple[str, ast.expr]]:
    """The parameters of a function that have a default, with it."""
    places = function.args
    several = [*places.posonlyargs, *places.args]
    optional = several[len(several) - len(places.defaults) :]
    pairs = [*zip(optional, places.defaults, strict=True), *zip(places.kwonlyargs, places.kw_defaults, strict=True)]
    yield from ((argument.arg, value) for argument, value in pairs if value is not None)


def _set_of_classes(nodes: Iterable[ast.AST]) -> Iterator[tuple[str, ast.expr]]:
    """What classes of the file set in their bodies, and of themselves."""
    for node in nodes:
        target, value = _set_of_self(node)
        if isinstance(target, ast.Attribute) and value is not None:
            yield target.attr, value
        elif isinstance(node, ast.ClassDef):
            yield from (pair for part in node.body for pair in assignments(part))


def _returned_to_product(nodes: Sequence[ast.AST], functions: Iterable[Function]) -> Iterator[ast.expr]:
    """What functions return that are not only called by the file itself: the product may call them."""
    calls = [node.func for node in nodes if isinstance(node, ast.Call)]
    called = {call.id if isinstance(call, ast.Name) else call.attr for call in calls if isinstance(call, _NAMED)}
    inside = {id(call) for call in calls}
    read = {node.id for node in nodes if isinstance(node, ast.Name) and id(node) not in inside}
    for function in functions:
        is_fixture = any("fixture" in ast.unparse(mark) for mark in function.decorator_list)
        if not is_fixture and (function.name in read or function.name not in called):
            yield from _returns(function)
    yield from (node.body for node in nodes if isinstance(node, ast.Lambda))


_NAMED = (ast.Name, ast.Attribute)


def _returns(function: Function) -> list[ast.expr]:
    """What a function returns or yields."""
    value = returned(function)
    nodes = ast.walk(function)
    returns = [node.value for node in nodes if isinstance(node, ast.Return | ast.Yield) and node.value is not None]
    return returns if value is None else [*returns, value]


def _cells_of_marks(function: Function) -> Iterator[tuple[str, ast.expr]]:
    """The parameters of a test with the values that rows of its marks give them, as far as these are written out."""
    for mark in function.decorator_list:
        rows_by_name = list(_rows_of(mark))
        for place, (name, rows) in enumerate(rows_by_name):
            for row in getattr(rows, "elts", ()):
                cells = row.args if isinstance(row, ast.Call) else getattr(row, "elts", ())
                is_row = len(rows_by_name) == 1 and not isinstance(row, ast.Call)
                yield from ((name, cell) for cell in ([row] if is_row else cells[place : place + 1]))


def _given_to_product(
    nodes: Iterable[ast.AST], imports: Mapping[str, str], product: Callable[[str], bool], own: Collection[str]
) -> Iterator[ast.expr]:
    """What calls of the product get, or may hand on to it, and what is set of objects that it may have.

    `own` are the names of the file's functions and classes.
    """
    for node in nodes:
        match node:
            case ast.Call():
                yield from _given_by_call(node, imports, product, own)
            case ast.Assign(targets=[ast.Attribute(value=owner) | ast.Subscript(value=owner)], value=value):
                if ast.unparse(owner) not in ("self", "cls"):
                    yield value


def _given_by_call(
    call: ast.Call, imports: Mapping[str, str], product: Callable[[str], bool], own: Collection[str]
) -> Iterator[ast.expr]:
    inner, path = call.func, list[str]()
    while isinstance(inner, ast.Attribute):
        path.insert(0, inner.attr)
        inner = inner.value
    root = inner.id if isinstance(inner, ast.Name) else ""
    keywords = {keyword.arg: keyword.value for keyword in call.keywords if keyword.arg}
    spread = (keyword.value for keyword in call.keywords if not keyword.arg)
    arguments = [*call.args, *keywords.values(), *(ast.Starred(value=value) for value in spread)]
    word = path[-1] if path else root
    if _ASSERTING.fullmatch(word) and not product(imports.get(root, ".").partition(".")[0]):
        yield from call.args[2:] if _RAISING.fullmatch(word) else ()
        return
    if word in _OF_ROWS:
        return
    if root in imports:
        dotted = ".".join([imports[root], *path])
        is_given = product(dotted.partition(".")[0]) or bool(_HANDING_ON.fullmatch(dotted))
    elif root in ("self", "cls"):
        is_given = len(path) > 1
    else:
        is_given = bool(path)
    if is_given:
        yield from arguments
    elif root and not (root in imports or root in own or hasattr(builtins, root)):  # what a local name stands for
        yield from (argument for argument in arguments if ast.unparse(argument) != "self")
    elif root in ("map", "filter") and not path:
        yield from (ast.Starred(value=argument) for argument in call.args[1:])
    else:
        yield from (value for name, value in keywords.items() if name in ("return_value", "side_effect"))


_OF_ROWS = frozenset({"parametrize", "param", "fixture"})
"""What gives tests values, which their names stand for."""
_RAISING = re.compile(r"(?:assert|fail)?\w*(?:raises|warns|Raises|Warns)\w*")
"""Functions that call what they are given, with the arguments behind it."""
_HANDING_ON = re.compile(
    r"(?:unittest\.)?mock\.(?!call\b).+|functools\.partial|types\.SimpleNamespace|threading\.Thread"
)
"""What keeps the values that it is given for who calls or reads it."""


def _given_of_rows(giving: _Giving) -> Iterator[Column | str]:
    """The columns and keys of which the calls of the product, or of what it may have made, get values."""
    for function in giving.functions:
        arguments = giving.by_function(function)
        names = {name for argument in arguments for name in _values_in(argument)}
        yield from (column for name, column in _columns(function) if name in names)
        cells = (_cell_of(node) for argument in arguments for node in ast.walk(argument))
        yield from (cell[1] for cell in cells if cell)


def _columns(function: Function) -> Iterator[tuple[str, Column]]:
    """The names of a function that rows of a table with a name give values, each with its column."""
    tables = [list(_rows_of(mark)) for mark in function.decorator_list]
    loops = [node for node in ast.walk(function) if isinstance(node, ast.For)]
    parts = [part for loop in loops for part in taken_apart(loop.target, loop.iter)]
    tables += [[(name, rows) for inner in ast.walk(target) for name in stored(inner)] for target, rows in parts]
    for table in tables:
        for place, (name, rows) in enumerate(table):
            if isinstance(listed := _table(rows), ast.Name | ast.Attribute):
                yield name, (ast.unparse(listed), place if len(table) > 1 else None)


def taken_apart(target: ast.expr, rows: ast.expr) -> Iterator[tuple[ast.expr, ast.expr]]:
    """A target with what it goes over, or its parts, each with what that goes over."""
    match rows, target:
        case ast.Call(func=ast.Name(id="enumerate"), args=[listed, *_]), ast.Tuple(elts=[ast.Name(), part]):
            yield from taken_apart(part, listed)
        case ast.Call(func=ast.Name(id="zip"), args=several), ast.Tuple(elts=parts) if len(several) == len(parts):
            for part, listed in zip(parts, several, strict=True):
                yield from taken_apart(part, listed)
        case _:
            yield target, rows


def _names_in(node: ast.AST) -> set[str]:
    return {inner.id for inner in ast.walk(node) if isinstance(inner, ast.Name)}


def _values_in(node: ast.expr) -> Iterator[str]:
    """The names whose values whoever gets an expression has in hand."""
    match node:
        case ast.Name(id=name):
            yield name
        case ast.Attribute(value=ast.Name(id="self")):
            yield ast.unparse(node)
        case ast.List(elts=parts) | ast.Tuple(elts=parts) | ast.Set(elts=parts) | ast.Dict(values=parts):
            for part in parts:
                yield from _values_in(part)
        case ast.IfExp(body=body, orelse=other):
            yield from (*_values_in(body), *_values_in(other))
        case ast.Lambda(body=body) | ast.Await(value=body):
            yield from _values_in(body)


def _values_inside(node: ast.expr) -> Iterator[str]:
    """The names inside of whose values something is that whoever gets an expression has in hand."""
    match node:
        case ast.Subscript(value=value) | ast.Starred(value=value):
            yield from _names_in(value)
        case ast.Dict(keys=keys, values=parts):
            for key, part in zip(keys, parts, strict=True):
                yield from _values_inside(part) if key is not None else _names_in(part)
        case ast.List(elts=parts) | ast.Tuple(elts=parts) | ast.Set(elts=parts):
            for part in parts:
                yield from _values_inside(part)
        case ast.Call(func=func, args=args):
            yield from _names_inside_of_copy(func, args)
        case ast.IfExp(body=body, orelse=other):
            yield from (*_values_inside(body), *_values_inside(other))
        case ast.Lambda(body=body) | ast.Await(value=body):
            yield from _values_inside(body)


def _names_inside_of_copy(func: ast.expr, args: Sequence[ast.expr]) -> Iterator[str]:
    match func:
        case ast.Name(id="dict" | "list" | "tuple" | "sorted"):
            for part in args:
                yield from _names_in(part)
        case ast.Attribute(value=value, attr="copy" | "get" | "values" | "items"):
            yield from _names_in(value)


_CHANGING = words("add append clear discard extend insert pop popitem remove reverse setdefault sort update")
"""Methods that change the list, set or dictionary that they are of."""


def _changed(nodes: Iterable[ast.AST], imports: Mapping[str, str], product: Callable[[str], bool]) -> Iterator[str]:
    """The names of what statements of the file change by more than what is written out there, or the product's."""
    for node in nodes:
        match node:
            case ast.Call(func=ast.Attribute(value=owner, attr=word), args=args, keywords=keywords) if (
                word in _CHANGING
            ):
                values = [*args, *(keyword.value for keyword in keywords)]
            case ast.Assign(targets=[ast.Subscript(value=owner) | ast.Attribute(value=owner)], value=value):
                values = [value]
            case ast.AugAssign(target=ast.Subscript(value=owner) | ast.Attribute(value=owner), value=value):
                values = [value]
            case _:
                continue
        names = {name for value in values for name in _names_in(value)}
        if any(name not in imports and not hasattr(builtins, name) for name in names) or any(
            product(imports[name].partition(".")[0]) for name in names & imports.keys()
        ):
            while isinstance(owner, ast.Subscript | ast.Attribute):
                owner = owner.value
            yield from _values_in(owner)


def _members(tree: ast.Module, nodes: Iterable[ast.AST], imports: Mapping[str, str]) -> Iterator[str]:
    """The members of enumerations of the top level that nothing in the file changes or binds anew."""
    names = Counter(name for node in nodes for name in stored(node))
    for statement in tree.body:
        if isinstance(statement, ast.ClassDef) and names[statement.name] == 1 and not statement.decorator_list:
            bases = {ast.unparse(base).partition(".")[0] for base in statement.bases}
            origins = {imports.get(name, name).partition(".")[0] for name in bases}
            if "enum" in origins and origins <= {"enum", *vars(builtins)} and not statement.keywords:
                yield from (f"{statement.name}.{name}" for part in statement.body for name, _ in assignments(part))


_MAKING = frozenset({"__init__", "__new__", "__post_init__", "__attrs_post_init__"})
_TELLING = frozenset({"property", "classmethod", "staticmethod"})


def _making(node: ast.ClassDef) -> Iterator[ast.AST]:
    """The parts of a class that decide what its objects have."""
    yield from (*node.bases, *node.keywords, *node.decorator_list)
    for part in node.body:
        marks = {*map(ast.unparse, part.decorator_list)} if isinstance(part, Function) else set()
        if not isinstance(part, Function) or part.name in _MAKING or marks - _TELLING:
            yield part


def _functions(nodes: Iterable[ast.AST]) -> dict[str, Function]:
    functions = [node for node in nodes if isinstance(node, Function)]
    counts = Counter(function.name for function in functions)
    return {one.name: one for one in functions if counts[one.name] == 1 and not one.decorator_list}


def _attributes(nodes: Iterable[ast.AST]) -> dict[str, tuple[ast.expr, ...]]:
    """By name of an attribute: what it is set to, where that reads no local name."""
    set_to: dict[str, list[ast.expr]] = {}
    others: set[str] = set()
    for node in nodes:
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            others.add(node.value)  # such as setattr sets
        elif isinstance(node, ast.ClassDef):
            set_in_body = list(_settings(node.body))
            others.update({name for statement in node.body for name in stored(statement)} - dict(set_in_body).keys())
            for name, value in set_in_body:
                set_to.setdefault(name, []).append(value)
        elif isinstance(node, Function):
            local = {name for inner in ast.walk(node) for name in stored(inner)}
            local |= {inner.arg for inner in ast.walk(node) if isinstance(inner, ast.arg)}
            own = {id(target): value for target, value in map(_set_of_self, ast.walk(node)) if value is not None}
            for inner in ast.walk(node):
                if not isinstance(inner, ast.Attribute) or isinstance(inner.ctx, ast.Load):
                    continue
                value_set = own.get(id(inner))
                if value_set is None or local & {node.id for node in ast.walk(value_set) if isinstance(node, ast.Name)}:
                    others.add(inner.attr)
                else:
                    set_to.setdefault(inner.attr, []).append(value_set)
    return {name: tuple(values) for name, values in set_to.items() if name not in others}


def _set_of_self(node: ast.AST) -> tuple[ast.expr | None, ast.expr | None]:
    """The target and the value of `self.name = value`."""
    match node:
        case ast.Assign(targets=[ast.Attribute(value=ast.Name(id="self")) as target], value=value):
            return target, value
    return None, None


def returned(function: Function) -> ast.expr | None:
    """What a function returns that does nothing else but to name parts of it, and to open files for them."""
    values: dict[str, ast.expr] = {}
    body = list(function.body)
    while body:
        match body.pop(0):
            case ast.Expr(value=ast.Constant()):
                pass
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if name not in values:
                values[name] = filled(value, values)
            case ast.With(items=[item], body=inner) if (opened := _opened_by(item)) and opened[0] not in values:
                values[opened[0]] = filled(item.context_expr, values)
                body = [*inner, *body]
            case ast.Return(value=ast.expr() as value):
                parameters = {node.arg for node in _arguments(function)}
                return None if parameters & values.keys() else filled(value, values)
            case _:
                return None
    return None


def filled(node: ast.expr, values: Mapping[str, ast.expr]) -> ast.expr:
    """An expression with others in the place of names."""
    return cast("ast.expr", _Filler(values).visit(copy.deepcopy(node)))


class _Filler(ast.NodeTransformer):
    def __init__(self, values: Mapping[str, ast.expr]) -> None:
        self._values = values

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return copy.deepcopy(self._values.get(node.id, node))


def _assigned(
    nodes: Iterable[ast.AST], body: Iterable[ast.stmt], *, with_files: bool = False
) -> dict[str, tuple[ast.expr, ...]]:
    """Names that a scope with these nodes binds by plain assignments among these statements alone: to what.

    These may stand in blocks that open files, `with_files`.
    """
    stores: dict[str, int] = {}
    for node in nodes:
        for name in stored(node):
            stores[name] = stores.get(name, 0) + 1
    values_by_name: dict[str, tuple[ast.expr, ...]] = {}
    for name, value in _settings(body) if with_files else (pair for part in body for pair in assignments(part)):
        values_by_name[name] = (*values_by_name.get(name, ()), value)
    return {name: values for name, values in values_by_name.items() if len(values) == stores.get(name)}


def _settings(body: Iterable[ast.stmt]) -> Iterator[tuple[str, ast.expr]]:
    """What plain assignments bind, also in blocks that open files, with the opening in the place of a file's name."""
    for statement in body:
        match statement:
            case ast.With(items=[item], body=inner) if opened := _opened_by(item):
                yield from ((name, filled(value, {opened[0]: item.context_expr})) for name, value in _settings(inner))
            case _:
                yield from assignments(statement)


def assignments(statement: ast.AST) -> tuple[tuple[str, ast.expr], ...]:
    """The names that a plain assignment binds, each to its expression: `a = 1`, `a, b = 1, 2`."""
    match statement:
        case ast.Assign(targets=[ast.Name(id=name)], value=value):
            return ((name, value),)
        case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
            return ((name, value),)
        case ast.Assign(targets=[ast.Tuple(elts=targets)], value=ast.Tuple(elts=values)) if (
            len(targets) == len(values)
            and all(isinstance(target, ast.Name) for target in targets)
            and not any(isinstance(value, ast.Starred) for value in values)
        ):
            names = [target.id for target in targets if isinstance(target, ast.Name)]
            return tuple(zip(names, values, strict=True))
    return ()


def stored(node: ast.AST) -> Iterator[str]:
    """The names that one node binds, but for arguments and imports."""
    match node:
        case ast.Name(id=name, ctx=ast.Store() | ast.Del()):
            yield name
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            yield name
        case ast.ExceptHandler(name=str(name)):
            yield name
        case ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
            yield name
        case ast.Global(names=names) | ast.Nonlocal(names=names):
            yield from names  # bound somewhere else as well, so never bound once


def _unconditional(body: Iterable[ast.stmt], is_static: Callable[[ast.expr], bool]) -> Iterator[ast.stmt]:
    """The statements of a block, and of its loops and `with` blocks, but for those that the product may leave out."""
    for statement in body:
        yield statement
        if isinstance(statement, ast.With | ast.AsyncWith) and not may_catch(statement):
            yield from _unconditional(statement.body, is_static)
        if isinstance(statement, ast.For) and is_static(statement.iter) and not _may_end(statement):
            yield from _unconditional(statement.body, is_static)
        if isinstance(statement, ast.If) and is_static(statement.test):
            yield from _unconditional((*statement.body, *statement.orelse), is_static)


def _is_bound_where_read(name: str, nodes: Iterable[ast.AST]) -> bool:
    """Whether all that read a name stand in the block that binds it, so that they are left out where that is."""
    reads = 0
    within = None
    for node in nodes:
        reads += _is_load_of(node, name)
        for _, block in ast.iter_fields(node):
            if isinstance(block, list) and any(name in dict(assignments(part)) for part in block):
                within = block
    read_there = _reads_in(name, within or ())
    return read_there == reads


def _reads_in(name: str, block: Iterable[ast.AST]) -> int:
    return sum(1 for _ in _loads_of(name, block))


def may_catch(statement: ast.With | ast.AsyncWith) -> bool:
    """Whether a block may be there to catch what is raised in it."""
    words_of_items = [ast.unparse(item.context_expr) for item in statement.items]
    return any("raises" in word.lower() or "suppress" in word for word in words_of_items)


def _may_end(loop: ast.For) -> bool:
    """Whether a loop may be left before its end, or a turn of it."""
    return any(isinstance(node, ast.Break | ast.Continue) for node in ast.walk(loop))


def _conditions(within: ast.AST, node: ast.AST) -> Iterator[ast.expr]:
    """What says whether a node is come to, and how often: of what it stands in, and of what may leave before it."""
    line = getattr(node, "lineno", 0)
    for part in ast.walk(within):
        tests, branches = _choosing(part) if part is not within else ((), ())
        is_before = isinstance(part, ast.If | ast.Match | ast.Try) and part.lineno < line
        if _is_in(node, branches) or (is_before and _leaves(branches)):
            yield from tests


def _choosing(part: ast.AST) -> tuple[Sequence[ast.expr], Sequence[ast.AST]]:
    """What says which branches of a node are come to, and these."""
    match part:
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
            if not _ASSERTING.fullmatch(ast.unparse(func).rpartition(".")[2]):
                return [func], [function.body for function in functions]
    return [], []


def _is_in(node: ast.AST, parts: Iterable[ast.AST]) -> bool:
    return any(inner is node for part in parts for inner in ast.walk(part))


def _leaves(branches: Iterable[ast.AST]) -> bool:
    """Whether a branch may end a turn of a loop, or the function, where the test goes on or is skipped."""
    nodes = (node for part in branches for node in ast.walk(part))
    return any(isinstance(node, ast.Break | ast.Continue | ast.Return) or _skips(node) for node in nodes)


def _loads_of(name: str, body: Iterable[ast.AST]) -> Iterator[ast.Name]:
    return (node for part in body for node in ast.walk(part) if _is_load_of(node, name))


def _is_load_of(node: ast.AST, name: str) -> TypeGuard[ast.Name]:
    return isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Load)


def _skips(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and ast.unparse(node.func).rpartition(".")[2] in ("skip", "skipTest")


def _arguments(function: Function) -> Iterator[ast.arg]:
    return (node for node in ast.walk(function.args) if isinstance(node, ast.arg))


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
        parameters = {node.arg for inner in nodes if isinstance(inner, Function) for node in _arguments(inner)}
        once = {name: values for name, values in _assigned(nodes, statements).items() if len(values) == 1}
        once = {name: values for name, values in once.items() if _is_bound_where_read(name, nodes)}

        def constants(is_static: Callable[[ast.expr], bool]) -> dict[str, tuple[ast.expr, ...]]:
            assigned = {**once, **_assigned(nodes, _unconditional(self.function.body, is_static))}
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
        self._opened = dict(pair for item in items if (pair := _opened_by(item)) and bound.count(pair[0]) == 1)
        self._computed = {
            name: rows
            for decorator in self.function.decorator_list
            for name, rows in _rows_of(decorator)
            if name not in self.tables and bound.count(name) == 1
        }
        self._columns = dict(_columns(self.function))
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
            elif isinstance(node, _READING):
                self._combined.update(_combined(node))
                self._looked_in.update(_looked_in(node))
                if cell := _cell_of(node):
                    self._cells[ast.unparse(cell[0]), cell[1]] += 1
        in_line = _assigned(nodes, self.function.body)
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
            case ast.Attribute(attr=attr) if attr in _IMPURE_NAMES:
                return False
            case ast.Attribute(value=ast.Name(id="self"), attr=name) if name in self.module.attributes:
                values = self.module.attributes[name]
                return all(is_immutable(value) and self._of_file.is_static(value) for value in values)
            case ast.Attribute(value=value):
                dotted = self._outside(node)
                return self.module.is_pure(dotted) if dotted else self.is_static(value, bound)
            case ast.Call(func=func, args=args, keywords=keywords):
                inner = [*args, *(keyword.value for keyword in keywords)]
                is_pure = self._is_pure_call(func, bound) and not self._reads_named(func, inner)
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
                attr in _OF_TEXTS and not self._outside(node.func)
            ):
                return bool(self.data_paths(value)) and all(map(self.is_expected, (value, *args)))
            case ast.Subscript(value=value, slice=index) if self.is_static(index):
                return bool(self.data_paths(value)) and self.is_expected(value)
            case ast.Call(func=func, args=args, keywords=keywords):
                parts = (*args, *(keyword.value for keyword in keywords))
                is_pure = self._is_pure_call(func, frozenset()) and not self._may_read(func, parts)
                is_known = is_pure or self._is_class(func) or self._is_own(func)
                return (is_known and all(map(self.is_expected, parts))) or self._is_expected_inside(node)
        return isinstance(node, _MADE_OF_PARTS) and all(map(self.is_expected, _parts(node)))

    def _is_member(self, node: ast.expr) -> bool:
        """Whether it is a member of an enumeration of the file."""
        name, _, attr = ast.unparse(node).partition(".") if isinstance(node, ast.Attribute) else ("", "", "")
        return f"{name}.{attr}" in self.module.members and name not in self._local

    def _is_cell_of_data(self, node: ast.expr) -> bool:
        """Whether it is a cell of a row of such a file, of which the product gets other cells alone."""
        match _cell_of(node):
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
        match node := _table(node):
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
                names = [argument.arg for argument in _arguments(function)]
                value = returned(function)
                others = self._local | self.module.changeable
                if value is not None and len(names) == len(args) and not (_names_in(value) - {*names}) & others:
                    return filled(value, dict(zip(names, args, strict=True)))
        return None

    def _may_read(self, func: ast.expr, arguments: Iterable[ast.expr]) -> bool:
        """Whether a call of another package gets a path, so that it may tell what the product wrote there."""
        dotted = self.module.dotted(func)
        is_of_paths = dotted.startswith("os.path.") or dotted.partition(".")[0] in _OF_WORDS
        return bool(dotted) and not is_of_paths and any(map(self._is_place, arguments))

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
            return [path for part in _parts(node) for path in self.data_paths(part, visited)]
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
        return self._opened.get(opened.id) if isinstance(opened, ast.Name) else _path_of(opened)

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
        inner = [self._written(part, around) for part in _parts(node)]
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
        return not all(self.is_static(test, names) for test in _conditions(within or self.function, node))

    def is_read_by_choice(self, name: str, static_names: frozenset[str]) -> bool:
        """Whether the product says if the function comes to where it reads a name; others are static."""
        return any(self.is_chosen(node, None, static_names) for node in _loads_of(name, self.function.body))

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
        return any(self.is_chosen(node, loop) for loop in loops for node in _loads_of(name, loop.body))

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
        return name in _PURE_BUILTINS or name in _EXCEPTIONS or name == "__file__"

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
        count = self._combined[name] + (self._looked_in[name] if _is_flat(value) else 0)
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
                return (name in _PURE_BUILTINS and not is_replaced) or name in _EXCEPTIONS
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


def _rows_of(decorator: ast.expr) -> Iterator[tuple[str, ast.expr]]:
    """The parameters of a test that a mark gives, with the expression of their rows."""
    match decorator:
        case ast.Call(keywords=keywords) if any(keyword.arg == "indirect" for keyword in keywords):
            return
        case ast.Call(func=ast.Attribute(attr="parametrize"), args=[ast.Constant(value=str(names)), rows]):
            yield from ((name.strip(), rows) for name in names.split(","))
        case ast.Call(
            func=ast.Attribute(attr="parametrize"), args=[ast.Tuple(elts=parts) | ast.List(elts=parts), rows]
        ):
            yield from ((str(part.value), rows) for part in parts if isinstance(part, ast.Constant))


def _opened_by(item: ast.withitem) -> tuple[str, ast.expr] | None:
    """The name that `with open(path) as name` gives a file, and its path."""
    path = _path_of(item.context_expr)
    return (item.optional_vars.id, path) if path is not None and isinstance(item.optional_vars, ast.Name) else None


def _path_of(opening: ast.expr) -> ast.expr | None:
    """The path of the file that `open(path)` or `path.open()` opens."""
    match opening:
        case (
            ast.Call(func=ast.Name(id="open"), args=[path, *_]) | ast.Call(func=ast.Attribute(value=path, attr="open"))
        ):
            return path
    return None


def _parts(node: ast.expr) -> Iterator[ast.expr]:
    """The expressions that one is made of, but for what a comprehension binds."""
    for child in ast.iter_child_nodes(node):
        match child:
            case ast.expr():
                yield child
            case ast.keyword(value=value):
                yield value
            case ast.comprehension(iter=listed, ifs=ifs):
                yield from (listed, *ifs)


_READING = (ast.BinOp, ast.Call, ast.FormattedValue, ast.Subscript, ast.Compare, ast.For, ast.comprehension)
"""What the next two look at."""


def _combined(node: ast.AST) -> Iterator[str]:
    """The names of whose values a node makes something new."""
    match node:
        case ast.BinOp(left=left, right=right):
            operands = [left, right]
        case ast.Call(func=ast.Attribute(attr="join" | "format"), args=operands):
            pass
        case ast.Call(func=ast.Name(id="len" | "str" | "repr" | "int" | "float" | "bool"), args=operands):
            pass
        case ast.FormattedValue(value=value):
            operands = [value]
        case _:
            return
    yield from (operand.id for operand in operands if isinstance(operand, ast.Name))


def _looked_in(node: ast.AST) -> Iterator[str]:
    """The name of the value of which a node gives something inside."""
    match node:
        case ast.Subscript(value=ast.Name(id=name), ctx=ast.Load()):
            yield name
        case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr="get" | "items" | "keys" | "values")):
            yield name
        case ast.Compare(ops=[ast.In() | ast.NotIn()], comparators=[ast.Name(id=name)]):
            yield name
        case ast.For(iter=ast.Name(id=name)) | ast.comprehension(iter=ast.Name(id=name)):
            yield name


def _cell_of(node: ast.AST) -> tuple[ast.expr, str, list[ast.expr]] | None:
    """The row and the key of what is looked at by a text that is written out, and what is given if there is none.

    The row is a name, or stands in what a name or an attribute of `self` stands for.
    """
    match node:
        case ast.Subscript(value=row, slice=ast.Constant(value=str(key)), ctx=ast.Load()):
            others: list[ast.expr] = []
        case ast.Call(
            func=ast.Attribute(value=row, attr="get"), args=[ast.Constant(value=str(key)), *others], keywords=[]
        ):
            pass
        case _:
            return None
    match row:
        case ast.Name() | ast.Subscript(value=ast.Name() | ast.Attribute(value=ast.Name(id="self"))):
            return row, key, others
    return None


def _is_flat(value: ast.expr) -> bool:
    """Whether it is written out as a dictionary, list, set or tuple, with none of these inside."""
    displays = (ast.Dict, ast.List, ast.Set, ast.Tuple)
    makes = (*displays, ast.DictComp, ast.ListComp, ast.SetComp, ast.Lambda)
    return isinstance(value, displays) and sum(isinstance(node, makes) for node in ast.walk(value)) == 1


def is_immutable(node: ast.expr) -> bool:
    """Whether what an expression gives can't be changed by whom it is given to."""
    match node:
        case ast.Constant() | ast.JoinedStr() | ast.Compare():
            return True
        case ast.Tuple(elts=parts):
            return all(map(is_immutable, parts))
        case ast.UnaryOp(operand=operand) | ast.Attribute(value=operand, attr="parent"):
            return is_immutable(operand)
        case ast.BinOp(left=left, right=right):
            return is_immutable(left) and is_immutable(right)
        case ast.Call(
            func=ast.Name(
                id="str" | "int" | "float" | "bytes" | "bool" | "range" | "len" | "repr" | "chr" | "frozenset"
            )
        ):
            return True
        case ast.Call(func=ast.Attribute(value=value, attr=attr)) if attr in _OF_TEXTS:
            return is_immutable(value)
        case ast.Call(func=ast.Attribute(attr=name) | ast.Name(id=name)):
            return name in _MAKING_IMMUTABLE
    return False
