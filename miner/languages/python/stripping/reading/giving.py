"""What a test file gives the product: by calls, by classes and functions of its own, by rows. Pure."""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

from harness.core.wording import words
from miner.languages.python.stripping.reading.flow import ASSERTING
from miner.languages.python.stripping.reading.rows import Column, columns_of, rows_of
from miner.languages.python.stripping.reading.syntax import (
    Function,
    arguments_of,
    cell_of,
    names_in,
    returned,
)


class Giving:
    """What the functions of a file give the product, or methods of what it may have made, also by each other."""

    def __init__(self, nodes: Sequence[ast.AST], imports: Mapping[str, str], product: Callable[[str], bool]) -> None:
        self.functions = [node for node in nodes if isinstance(node, Function)]
        self._nodes = nodes
        self._own = {function.name: function for function in self.functions}
        names = {*self._own, *(node.name for node in nodes if isinstance(node, ast.ClassDef))}
        self._at_all = list(given_to_product(nodes, imports, product, names))
        self._inner = {function: list(ast.walk(function)) for function in self.functions}
        self._alone = {
            function: list(given_to_product(inner, imports, product, names)) for function, inner in self._inner.items()
        }
        self._of_rows = {
            function: list(given_to_product((node for node in inner if not cell_of(node)), imports, product, names))
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
        bound = [value for node in inner for name, value in _bindings(node) if name in names]
        alone = (self._alone if inside else self._of_rows)[function]  # `row.get("a")` looks like a call of the product
        return [*alone, *self._given_to_own(inner), *bound]

    def names(self, constants: Mapping[str, Sequence[ast.expr]]) -> tuple[set[str], set[str]]:
        """The names of what the file gives: whole, and what is inside.

        `constants` are what its top level binds names to: what one holds is given with it.
        """
        functions = self.functions
        arguments = [*self._at_all, *self._given_to_own(self._nodes), *_returned_to_product(self._nodes, functions)]
        arguments += _of_fakes(self._nodes)
        for function in functions:
            arguments += self.by_function(function, inside=True)
            arguments += [value for name, value in _defaults(function) if name in self._names[function]]
        names = {name for argument in arguments for name in _values_in(argument)}
        arguments += [value for name, value in _set_of_classes(self._nodes) if f"self.{name}" in names]
        names |= {name for argument in arguments for name in _values_in(argument)}
        parts = {name for argument in arguments for name in _values_inside(argument)}
        for loop in self._nodes:
            if isinstance(loop, ast.For | ast.comprehension) and (names | parts) & names_in(loop.target):
                names |= {*_values_in(ast.Starred(value=loop.iter))}
                parts |= {*_values_inside(ast.Starred(value=loop.iter))}
        for function in functions:
            values = [cell for name, cell in _cells_of_marks(function) if name in names | parts]
            if function.name in names | parts:  # a fixture
                values += _returns(function)
            names |= {name for value in values for name in _values_in(value)}
        seen = set[str]()
        while more := (names | parts) & constants.keys() - seen:
            seen |= more
            values = [value for name in more for value in constants[name]]
            names |= {name for value in values for name in _values_in(value)}
            parts |= {name for value in values for name in _values_inside(value)}
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
            names = [argument.arg for argument in arguments_of(function)]
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


def _bindings(node: ast.AST) -> Iterator[tuple[str, ast.expr]]:
    """The names, `self.name` among them, that a node binds, each with what it stands for or is inside of."""
    match node:
        case ast.Assign(targets=targets, value=value):
            for target in targets:
                yield from _bound_to(target, value)
        case ast.AnnAssign(target=target, value=ast.expr() as value) | ast.NamedExpr(target=target, value=value):
            yield from _bound_to(target, value)
        case ast.For(target=target, iter=value) | ast.comprehension(target=target, iter=value):
            yield from _bound_to(target, ast.Starred(value=value))
        case ast.withitem(context_expr=value, optional_vars=ast.expr() as target):
            yield from _bound_to(target, value)


def _bound_to(target: ast.expr, value: ast.expr) -> Iterator[tuple[str, ast.expr]]:
    match target, value:
        case ast.Name(id=name), _:
            yield name, value
        case ast.Attribute(value=ast.Name(id="self" | "cls"), attr=name), _:
            yield f"self.{name}", value
        case ast.Tuple(elts=targets) | ast.List(elts=targets), ast.Tuple(elts=parts) | ast.List(elts=parts) if len(
            targets
        ) == len(parts):
            for inner, part in zip(targets, parts, strict=True):
                yield from _bound_to(inner, part)
        case ast.Tuple(elts=targets) | ast.List(elts=targets), _:
            for inner in targets:
                yield from _bound_to(inner, ast.Starred(value=value))
        case ast.Starred(value=inner), _:
            yield from _bound_to(inner, value)


def _set_of_classes(nodes: Iterable[ast.AST]) -> Iterator[tuple[str, ast.expr]]:
    """What classes of the file set in their bodies, and of themselves."""
    for node in nodes:
        yield from ((name[5:], value) for name, value in _bindings(node) if name.startswith("self."))
        if isinstance(node, ast.ClassDef):
            yield from (pair for part in node.body for pair in _bindings(part))


def _of_fakes(nodes: Iterable[ast.AST]) -> Iterator[ast.expr]:
    """What classes of the file hold that are no tests, and what other classes are given: the product may look there."""
    for node in nodes:
        if isinstance(node, ast.ClassDef):
            yield from (keyword.value for keyword in node.keywords)
            if not any("Test" in word for word in (node.name, *map(ast.unparse, node.bases))):
                yield from (value for _, value in _set_of_classes(ast.walk(node)))


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
        rows_by_name = list(rows_of(mark))
        for place, (name, rows) in enumerate(rows_by_name):
            for row in getattr(rows, "elts", ()):
                cells = row.args if isinstance(row, ast.Call) else getattr(row, "elts", ())
                is_row = len(rows_by_name) == 1 and not isinstance(row, ast.Call)
                yield from ((name, cell) for cell in ([row] if is_row else cells[place : place + 1]))


def given_to_product(
    nodes: Iterable[ast.AST], imports: Mapping[str, str], product: Callable[[str], bool], own: Collection[str]
) -> Iterator[ast.expr]:
    """What calls of the product get, or may hand on to it, and what is set of objects that it may have.

    `own` are the names of the file's functions and classes.
    """
    for node in nodes:
        match node:
            case ast.Call(func=ast.Name(id="fixture") | ast.Attribute(attr="fixture"), keywords=keywords):
                yield from (keyword.value for keyword in keywords if keyword.arg == "params")
            case ast.Call():
                yield from _given_by_call(node, imports, product, own)
            case ast.Assign(targets=[ast.Attribute(value=owner) | ast.Subscript(value=owner)], value=value):
                if ast.unparse(owner) not in ("self", "cls"):
                    yield value
            case ast.AugAssign(value=value):
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
    if ASSERTING.fullmatch(word) and not product(imports.get(root, ".").partition(".")[0]):
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
    elif word not in _LOOKING and any(_is_of_product(argument, imports, product) for argument in arguments):
        yield from (form for argument in arguments for form in (argument, ast.Starred(value=argument)))
    elif root in ("map", "filter") and not path:
        yield from (ast.Starred(value=argument) for argument in call.args[1:])
    else:
        yield from (value for name, value in keywords.items() if name in ("return_value", "side_effect"))


def _is_of_product(node: ast.expr, imports: Mapping[str, str], product: Callable[[str], bool]) -> bool:
    """Whether it is the product, or what it has by a name."""
    while isinstance(node, ast.Attribute):
        node = node.value
    return isinstance(node, ast.Name) and product(imports.get(node.id, ".").partition(".")[0])


_LOOKING = words("isinstance issubclass hasattr getattr callable print repr str len type id cast")
"""Functions that keep nothing of what they are given, and call none of it."""
_OF_ROWS = frozenset({"parametrize", "param", "fixture"})
"""What gives tests values, which their names stand for."""
_RAISING = re.compile(r"(?:assert|fail)?\w*(?:raises|warns|Raises|Warns)\w*")
"""Functions that call what they are given, with the arguments behind it."""
_HANDING_ON = re.compile(
    r"(?:unittest\.)?mock\.(?!call\b).+|functools\.partial|types\.SimpleNamespace|threading\.Thread"
)
"""What keeps the values that it is given for who calls or reads it."""


def given_of_rows(giving: Giving) -> Iterator[Column | str]:
    """The columns and keys of which the calls of the product, or of what it may have made, get values."""
    for function in giving.functions:
        arguments = giving.by_function(function)
        names = {name for argument in arguments for name in _values_in(argument)}
        yield from (column for name, column in columns_of(function) if name in names)
        cells = (cell_of(node) for argument in arguments for node in ast.walk(argument))
        yield from (cell[1] for cell in cells if cell)


def _values_in(node: ast.expr) -> Iterator[str]:
    """The names whose values whoever gets an expression has in hand."""
    match node:
        case ast.Name(id=name):
            yield name
        case ast.Attribute(value=ast.Name(id="self" | "cls"), attr=name):
            yield f"self.{name}"
        case _:
            for part in _held(node):
                yield from _values_in(part)


def _values_inside(node: ast.expr) -> Iterator[str]:
    """The names inside of whose values something is that whoever gets an expression has in hand."""
    match node:
        case ast.Subscript(value=value) | ast.Starred(value=value) | ast.Attribute(value=value):
            yield from names_in(value)
        case ast.Dict(keys=keys, values=parts):
            for key, part in zip(keys, parts, strict=True):
                yield from _values_inside(part) if key is not None else names_in(part)
        case ast.BinOp(left=left, op=ast.Add() | ast.BitOr() | ast.Mult(), right=right):
            yield from (*names_in(left), *names_in(right))
        case ast.Call(func=func, args=args, keywords=keywords) if not _makes_new(func):
            for part in (*args, *(keyword.value for keyword in keywords)):
                yield from names_in(part)
            yield from names_in(func) if isinstance(func, ast.Attribute) else ()
        case ast.ListComp(elt=elt) | ast.SetComp(elt=elt) | ast.GeneratorExp(elt=elt) | ast.DictComp(value=elt):
            if {*_values_in(elt), *_values_inside(elt)}:
                yield from (name for generator in node.generators for name in names_in(generator.iter))
        case _:
            for part in _held(node):
                yield from _values_inside(part)


def _held(node: ast.expr) -> Sequence[ast.expr]:
    """The parts of an expression one of which it is, or which it holds."""
    match node:
        case ast.List(elts=parts) | ast.Tuple(elts=parts) | ast.Set(elts=parts) | ast.Dict(values=parts):
            return parts
        case ast.BoolOp(values=parts):
            return parts
        case ast.IfExp(body=body, orelse=other):
            return [body, other]
        case ast.Lambda(body=part) | ast.Await(value=part) | ast.NamedExpr(value=part):
            return [part]
        case ast.ListComp(elt=part) | ast.SetComp(elt=part) | ast.GeneratorExp(elt=part) | ast.DictComp(value=part):
            return [part, *(ast.Starred(value=generator.iter) for generator in node.generators)]
        case ast.Call(func=func, args=parts, keywords=keywords) if not _makes_anew(func):
            return [*parts, *(keyword.value for keyword in keywords if keyword.arg)]
        case ast.Starred(value=listed):
            return _items(listed)
    return []


def _items(listed: ast.expr) -> Sequence[ast.expr]:
    """What an expression gives item by item, as far as it is written out."""
    match listed:
        case ast.List(elts=parts) | ast.Tuple(elts=parts) | ast.Set(elts=parts):
            return parts
        case ast.Call(func=ast.Name(id=name), args=args) if name in _HANDING_ON_ITEMS:
            return [ast.Starred(value=part) for part in args]
    return []


def _makes_anew(func: ast.expr) -> bool:
    """Whether a function gives something new, of what it is given or inside of that."""
    return _makes_new(func) or _word(func) in _MAKING_ANEW


def _makes_new(func: ast.expr) -> bool:
    """Whether a function gives something new that has nothing in it of what it is given."""
    return _word(func) in _MAKING_NEW


def _word(func: ast.expr) -> str:
    return func.id if isinstance(func, ast.Name) else func.attr if isinstance(func, ast.Attribute) else ""


_HANDING_ON_ITEMS = words("enumerate zip reversed sorted iter list tuple filter map")
_MAKING_ANEW = _HANDING_ON_ITEMS | words(
    "dict set frozenset OrderedDict defaultdict Counter deque copy next min max get"
)
_MAKING_NEW = words(
    "len str repr int float bool bytes hash sum any all isinstance range round abs type id bytearray deepcopy dumps"
    " dump join format encode decode upper lower strip replace split splitlines startswith endswith index count"
    " hexdigest urlencode quote b64encode dedent safe_dump"
)


_CHANGING = words("add append clear discard extend insert pop popitem remove reverse setdefault sort update")
"""Methods that change the list, set or dictionary that they are of."""


def changed_in(nodes: Iterable[ast.AST], imports: Mapping[str, str], product: Callable[[str], bool]) -> Iterator[str]:
    """The names of what statements of the file change by more than what is written out there, or the product's.

    So it is where the product says how often: in functions that are handed on, and under its conditions.
    """

    def is_open(*parts: ast.AST) -> bool:
        names = {name for part in parts for name in names_in(part)}
        return any(name not in imports and not hasattr(builtins, name) for name in names) or any(
            product(imports[name].partition(".")[0]) for name in names & imports.keys()
        )

    nodes = list(nodes)
    called = {id(node.func) for node in nodes if isinstance(node, ast.Call)}
    read = {node.id for node in nodes if isinstance(node, ast.Name) and id(node) not in called}
    read -= {node.arg for node in nodes if isinstance(node, ast.arg)}
    functions = [node for node in nodes if isinstance(node, Function)]
    chosen: list[ast.AST] = [node for node in functions if node.name in read]
    chosen += [node for node in nodes if any(map(is_open, _heads(node)))]
    within, by_choice = ({id(inner) for node in several for inner in ast.walk(node)} for several in (functions, chosen))
    for node in nodes:
        match node:
            case ast.Call(func=ast.Attribute(value=owner, attr=word), args=args, keywords=keywords) if (
                word in _CHANGING
            ):
                parts = [*args, *(keyword.value for keyword in keywords)]
            case ast.Assign(targets=[ast.Subscript(value=owner, slice=key)], value=value):
                parts = [key, value]
            case ast.Assign(targets=[ast.Attribute(value=owner)], value=value):
                parts = [value]
            case ast.AugAssign(target=ast.Subscript(value=owner) | ast.Attribute(value=owner), value=value):
                parts = [value]
            case ast.Delete(targets=[ast.Subscript(value=owner)]):
                parts = []
            case _:
                continue
        is_repeated = id(node) in within and not isinstance(node, ast.Assign)
        if is_repeated or id(node) in by_choice or is_open(*parts):
            while isinstance(owner, ast.Subscript | ast.Attribute):
                owner = owner.value
            yield from _values_in(owner)


def _heads(node: ast.AST) -> Sequence[ast.expr]:
    """What says whether the blocks of a statement are run, or how often."""
    match node:
        case ast.If(test=head) | ast.While(test=head) | ast.For(iter=head):
            return [head]
    return []
