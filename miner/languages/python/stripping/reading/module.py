"""A test file as a whole: its imports, tables, functions, and what of it is apart from the product. Pure."""

from __future__ import annotations

import ast
import builtins
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from harness.core.grouping import grouped
from harness.core.wording import words
from miner.languages.python.stripping.reading.giving import Giving, changed_in, given_of_rows, given_to_product
from miner.languages.python.stripping.reading.immutable import is_flat, is_immutable
from miner.languages.python.stripping.reading.rows import Column, tabulated
from miner.languages.python.stripping.reading.syntax import (
    Function,
    assigned_in,
    assignments,
    names_in,
    returned,
    set_of_self,
    settings_of,
    stored,
)


class Settled(Protocol):
    """Tells whether a fix leaves what a dotted name of the product stands for as it was."""

    def __call__(self, dotted: str, /, *, is_called: bool) -> bool: ...


PURE_BUILTINS = words(
    "abs bool bytearray bytes chr complex dict divmod enumerate float frozenset hex int len list max min oct ord pow"
    " range repr reversed round set slice sorted str sum tuple zip Ellipsis NotImplemented type"
)
_FILE_NAME = re.compile(r"[\w./-]*(?:\.[A-Za-z]\w{0,5}|/[\w.-]+)")
EXCEPTIONS = frozenset(
    name for name, kind in vars(builtins).items() if isinstance(kind, type) and issubclass(kind, BaseException)
)
_HARMLESS = PURE_BUILTINS | EXCEPTIONS | words("all any filter isinstance issubclass iter map next")
"""Builtins that functions of a test file may call and still give what their arguments decide."""
_LOOKING = _HARMLESS | words("dir eval getattr hasattr")
"""Builtins that change nothing of a namespace that they are given."""
_IMPURE_MODULES = words(
    "gettext glob http importlib inspect io logging mimetypes multiprocessing random secrets select shutil signal"
    " socket sqlite3 subprocess tempfile threading time urllib warnings gc ctypes locale"
)
"""Modules whose calls depend on the machine, on the moment or on what else the process did."""
_REGISTERED = words(
    "calendar.calendar calendar.firstweekday calendar.month calendar.monthcalendar calendar.weekheader codecs.lookup"
    " codecs.lookup_error csv.field_size_limit csv.get_dialect csv.list_dialects"
)
"""What tells what code has set or registered by a function of the same module."""
_OF_INTERPRETER = words(
    "byteorder executable flags float_info float_repr_style getdefaultencoding getfilesystemencoding getsizeof"
    " hash_info hexversion implementation int_info intern maxsize maxunicode platform prefix thread_info version"
    " version_info"
)
"""What of `sys` no code changes."""
IMPURE_NAMES = words(
    "now today utcnow getcwd cwd home environ getenv read read_text read_bytes readlines open exists resolve absolute"
    " expanduser expandvars stat iterdir glob rglob uuid1 uuid4 listdir urandom getpid gettempdir mock_open Mock"
    " MagicMock patch fixture importorskip skip fail argv current_app modules request session stderr stdin stdout"
    " getcontext getsize isfile isdir islink lexists getatime getctime getmtime samefile scandir walk ZipFile"
    " is_zipfile is_tarfile cache calls connection g last_request outbox"
)
"""Attributes that read files, the clock, the surroundings or what the product sets; they are looked at where made."""


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
    handed: frozenset[str] = frozenset()
    """What the product has by a name that begins with a capital, and calls of it get."""
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
        if top == "numpy" and rest[:1] == ["random"] and rest[-1].islower() and rest[-1] != "default_rng":
            return False  # of the one generator that all share
        if top in _IMPURE_MODULES or dotted in _REGISTERED or self.product(top) or IMPURE_NAMES & set(rest):
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
        several = [node for node in nodes if isinstance(node, ast.arguments)]
        defaults = [value for node in several for value in (*node.defaults, *node.kw_defaults) if value is not None]
        sets = (ast.unparse(node).partition(".")[0] for node in attributes if not isinstance(node.ctx, ast.Load))
        has_state = any(owner in self.functions or owner in self.constants for owner in sets) or not all(
            is_immutable(value) or isinstance(value, ast.Name) for value in defaults
        )
        return not has_state and (
            all(self.is_pure(self.imports[one]) if one in self.imports else one in _HARMLESS for one in outside)
            and all(node.attr not in IMPURE_NAMES for node in attributes)
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
                own = names_in(part)
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
    constants = {} if _is_bound_unseen(nodes) else assigned_in(nodes, tree.body, with_files=True)
    functions = _functions(nodes)
    giving = Giving(nodes, imports, product)
    whole, parts = giving.names(constants)
    values_given = [*given_to_product(nodes, imports, product, frozenset(vars(builtins)))]
    values_given += [value for name in whole & constants.keys() for value in constants[name]]
    handed = (value for value in values_given if isinstance(value, ast.Name | ast.Attribute))
    mutable = {name for name, values in constants.items() if not all(map(is_immutable, values))}
    deep = {name for name, values in constants.items() if not all(map(is_flat, values))}
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
        changeable=frozenset((whole | (parts & deep) | {*changed_in(nodes, imports, product)}) & mutable),
        given=frozenset(given_of_rows(giving)),
        handed=frozenset(text for text in map(ast.unparse, handed) if text.rpartition(".")[2][:1].isupper()),
        file_names=frozenset(filter(_is_file_name, (getattr(value, "value", None) for value in values_given))),
        tabulated=tabulated(nodes),
        attributes={} if "self" in whole else _attributes(nodes, _foreign(nodes, imports, product)),
        replaces_builtins="*" in imports and product(imports["*"].partition(".")[0]),
    )


def _is_bound_unseen(nodes: Sequence[ast.AST]) -> bool:
    """Whether names of the top level may be bound by no statement: by `exec`, or who gets the file's own namespace."""
    looked_at = {id(part) for node in nodes for part in _looked_at(node)}
    for node in nodes:
        match node:
            case ast.Call(func=ast.Name(id="exec"), args=[_], keywords=[]):
                return True
            case (
                ast.Call(func=ast.Name(id="globals" | "locals" | "vars"), args=[])
                | ast.Subscript(value=ast.Attribute(attr="modules"), slice=ast.Name(id="__name__"))
            ) if id(node) not in looked_at:
                return True
    return False


def _looked_at(node: ast.AST) -> Sequence[ast.AST]:
    """The parts of a node of which it changes nothing."""
    match node:
        case ast.Subscript(value=part, ctx=ast.Load()) | ast.Attribute(value=part, attr="get" | "items" | "keys"):
            return (part,)
        case ast.Attribute(value=ast.Subscript() as part, ctx=ast.Load()):
            return (part,)
        case ast.Compare(comparators=parts):
            return parts
        case ast.Call(func=ast.Name(id=name), args=parts) if name in _LOOKING:
            return parts
    return ()


def _foreign(
    nodes: Iterable[ast.AST], imports: Mapping[str, str], product: Callable[[str], bool]
) -> frozenset[ast.ClassDef]:
    """The classes of a file that one of the product's or of another test module is a base of or decorates.

    These may set more.
    """
    classes = [node for node in nodes if isinstance(node, ast.ClassDef)]
    own = {node.name for node in classes}

    def is_foreign(base: ast.expr) -> bool:
        name = re.split(r"[.(\[]", ast.unparse(base), maxsplit=1)[0]
        return (
            product(imports[name].partition(".")[0])
            if name in imports
            else not (name in own or hasattr(builtins, name))
        )

    def made_by(node: ast.ClassDef) -> Sequence[ast.expr]:
        return [*node.bases, *node.decorator_list, *(keyword.value for keyword in node.keywords)]

    foreign = frozenset(node for node in classes if any(map(is_foreign, made_by(node))))
    while more := {
        node
        for node in classes
        if node not in foreign and {*map(ast.unparse, node.bases)} & {base.name for base in foreign}
    }:
        foreign |= more
    return foreign


def _is_file_name(value: object) -> bool:
    return isinstance(value, str) and bool(_FILE_NAME.fullmatch(value))


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
_COMPARING = frozenset({"__eq__", "__ne__", "__hash__"})
"""What a recording looks at itself."""


def _making(node: ast.ClassDef) -> Iterator[ast.AST]:
    """The parts of a class that decide what its objects have."""
    yield from (*node.bases, *node.keywords, *node.decorator_list)
    for part in node.body:
        marks = {*map(ast.unparse, part.decorator_list)} if isinstance(part, Function) else set()
        is_called = isinstance(part, Function) and part.name.startswith("__") and part.name not in _COMPARING
        if not isinstance(part, Function) or is_called or part.name in _MAKING or marks - _TELLING:
            yield part


def _functions(nodes: Iterable[ast.AST]) -> dict[str, Function]:
    functions = [node for node in nodes if isinstance(node, Function)]
    counts = Counter(function.name for function in functions)
    return {one.name: one for one in functions if counts[one.name] == 1 and not one.decorator_list}


def _attributes(nodes: Iterable[ast.AST], foreign: Iterable[ast.ClassDef]) -> dict[str, tuple[ast.expr, ...]]:
    """By name of an attribute that no `foreign` class has: what it is set to, where that reads no local name."""
    set_to: dict[str, list[ast.expr]] = {}
    inside = (node for owner in foreign for node in ast.walk(owner) if isinstance(node, ast.Attribute))
    others = {node.attr for node in inside if ast.unparse(node.value) == "self"}
    for node in nodes:
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            others.add(node.value)  # such as setattr sets
        elif isinstance(node, ast.ClassDef):
            set_in_body = list(settings_of(node.body))
            others.update({name for statement in node.body for name in stored(statement)} - dict(set_in_body).keys())
            for name, value in set_in_body:
                set_to.setdefault(name, []).append(value)
        elif isinstance(node, Function):
            local = {name for inner in ast.walk(node) for name in stored(inner)}
            local |= {inner.arg for inner in ast.walk(node) if isinstance(inner, ast.arg)}
            own = {id(target): value for target, value in map(set_of_self, ast.walk(node)) if value is not None}
            for inner in ast.walk(node):
                if not isinstance(inner, ast.Attribute) or isinstance(inner.ctx, ast.Load):
                    continue
                value_set = own.get(id(inner))
                if value_set is None or local & {node.id for node in ast.walk(value_set) if isinstance(node, ast.Name)}:
                    others.add(inner.attr)
                else:
                    set_to.setdefault(inner.attr, []).append(value_set)
    return {name: tuple(values) for name, values in set_to.items() if name not in others}
