"""Tables of inputs and expectations: which values their names have, and columns that nothing reads any more. Pure."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from harness.core import python_source
from harness.core.grouping import grouped
from miner.languages.python.stripping.nodes import count_of, names_read
from miner.languages.python.stripping.reading.module import Module
from miner.languages.python.stripping.reading.scope import Scope
from miner.languages.python.stripping.reading.syntax import NO_FUNCTION, Function, assignments, taken_apart


@dataclass(frozen=True, kw_only=True)
class Table:
    """Rows that give values to names: `parametrize`, or a loop over a list that is written out."""

    names: tuple[str, ...]
    rows: ast.List | ast.Tuple | ast.Dict
    single: bool
    """Whether each row is the value of the one name itself."""
    decorator: ast.Call | None = None
    constant: str = ""
    """The name of the file's top level under which the rows stand, where they do."""
    within: str = ""
    """Where in what that name stands for, if they are not all of it."""
    naming: int = 0
    """How many of the first values make the names of the tests."""

    def cells(self, position: int) -> list[ast.expr] | None:
        """The values of one name; None where a row is not written out."""
        if isinstance(self.rows, ast.Dict):
            return [key for key in self.rows.keys if key is not None] if position == 0 else list(self.rows.values)
        nodes = [_cell(row, None if self.single else position, self.names[position]) for row in self.rows.elts]
        return None if any(cell is None for cell in nodes) else [cell for cell in nodes if cell is not None]

    def blank(self, position: int) -> None:
        """Put None in place of one name's values; numbers in place of keys, as they have to differ."""
        if isinstance(self.rows, ast.Dict):
            if position == 0:
                self.rows.keys[:] = [ast.Constant(value=number) for number in range(len(self.rows.keys))]
            else:
                self.rows.values[:] = [ast.Constant(value=None) for _ in self.rows.values]
            return
        for index, row in enumerate(self.rows.elts):
            nothing = ast.Constant(value=None)
            if _is_param(row):
                _put(cast("ast.Call", row), position, self.names[position], nothing)
            elif self.single:
                self.rows.elts[index] = nothing
            else:
                row.elts[position] = nothing  # type: ignore[attr-defined]  # a tuple or list, as its cells were found


def values(function: Function, module: Module) -> dict[str, tuple[ast.expr, ...]]:
    """By name: the values that tables of a test function give it."""
    nodes: dict[str, tuple[ast.expr, ...]] = {}
    for table in _tables(function, module):
        for position, name in enumerate(table.names):
            cells = table.cells(position)
            if cells:
                nodes[name] = tuple(cells)
    return nodes


def blank(function: Function, original: Function, tree: ast.Module, scope: Scope) -> None:
    """Take out of a stripped function what only its expectations read: assignments, columns, names of rows.

    `original` is the function before. A name that nothing reads there may be there for what giving it its value does,
    and a parameter for a fixture, unless it is a text: that tells people about the row.
    """
    read_before = set(_read([original]))
    scope.assume_expected()
    while _drop_dead(function, scope, read_before):
        pass
    read = set(_read(function.body))
    for table in _tables(function, scope.module):
        whole = not table.constant or _read([tree]).count(table.constant) == 1
        changed = whole and _blank_items(table, function, scope)
        for position, name in enumerate(table.names):
            cells = table.cells(position)
            may_go = name not in read and position >= table.naming and whole
            is_of_fixture = table.decorator is not None and name not in read_before
            if is_of_fixture and not all(map(_is_text, cells or ())):
                continue
            if may_go and cells and _are_expected(cells, scope, name in read_before):
                table.blank(position)
                changed = True
        if table.decorator is not None:
            _number_rows(table, changed=changed)


def _blank_items(table: Table, function: Function, scope: Scope) -> bool:
    """The same for rows that are read by their items alone: `case[0]`; whether something was taken out."""
    name = table.names[0]
    if not table.single or isinstance(table.rows, ast.Dict) or not all(map(_is_row, table.rows.elts)):
        return False
    items = [
        node.slice for node in ast.walk(function) if isinstance(node, ast.Subscript) and _is_name(node.value, name)
    ]
    read = {item.value for item in items if isinstance(item, ast.Constant) and isinstance(item.value, int)}
    uses = [node for node in ast.walk(function) if _is_name(node, name) and isinstance(node.ctx, ast.Load)]  # type: ignore[attr-defined]
    if len(uses) != len(items) or len(items) == 0 or len(read) != len({ast.dump(item) for item in items}):
        return False
    changed = False
    for position in range(min(len(cast("ast.Tuple", row).elts) for row in table.rows.elts)):
        cells = [cast("ast.Tuple", row).elts[position] for row in table.rows.elts]
        if min(read) >= 0 and position not in read and all(map(scope.is_static, cells)):
            for row in table.rows.elts:
                cast("ast.Tuple", row).elts[position] = ast.Constant(value=None)
            changed = True
    return changed


def _is_row(node: ast.expr) -> bool:
    return isinstance(node, ast.Tuple | ast.List) and bool(node.elts)


def _is_name(node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name


def blank_shared(functions: Iterable[Function], tree: ast.Module, module: Module) -> None:
    """Take out of rows that several tables share what only expectations of all of them read."""
    users = grouped(
        ((table.constant, table.within), (function, table))
        for function in functions
        for table in _tables(function, module)
        if table.constant
    )
    for (name, _), tables in users.items():
        first = tables[0][1]
        alike = all((table.single, len(table.names)) == (first.single, len(first.names)) for _, table in tables)
        if len(tables) < 2 or not alike or _read([tree]).count(name) != len(tables):  # noqa: PLR2004 - else none is shared
            continue
        scope = Scope(module=module, function=NO_FUNCTION, tables={})
        changed = False
        for position in range(len(first.names)):
            read = any(table.names[position] in _read(function.body) for function, table in tables)
            cells = first.cells(position)
            if not read and position >= first.naming and cells and all(map(scope.is_static, cells)):
                first.blank(position)
                changed = True
        for _, table in tables:
            if table.decorator is not None:
                _number_rows(table, changed=changed)


def blank_constants(tree: ast.Module, module: Module, source: bytes) -> None:
    """Take out constants of a file's top level that nothing in it reads any more.

    What nothing in the `source` reads is read by others: by runners, such as `load_tests`, or by other modules.
    """
    read_before = set(_read([python_source.parse(source)]))
    while True:
        dead = (module.constants.keys() & read_before) - set(_read(tree.body))
        nodes = _without(tree.body, dead, read_before, Scope(module=module, function=NO_FUNCTION, tables={}))
        if nodes is None:
            return
        tree.body = nodes or [ast.Pass()]


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def _are_expected(nodes: Iterable[ast.expr], scope: Scope, was_read: bool) -> bool:
    """Whether what a name stands for can go with all that read it."""
    is_expected = scope.is_expected if was_read else scope.is_static
    return all(is_expected(node) or (was_read and scope.is_waiting(node)) for node in nodes)


def _without(
    block: Sequence[ast.stmt], dead: Collection[str], read_before: Collection[str], scope: Scope
) -> list[ast.stmt] | None:
    """A block without assignments of expected values to dead names; None where it has none."""
    nodes: list[ast.stmt] = []
    changed = False
    for statement in block:
        bound = assignments(statement)
        is_dead = [name in dead and _are_expected([value], scope, name in read_before) for name, value in bound]
        if bound and all(is_dead):
            changed = True
            continue
        if any(is_dead):
            values = cast("ast.Tuple", cast("ast.Assign", statement).value)
            for index, (_, value) in enumerate(bound):
                if is_dead[index] and not (isinstance(value, ast.Constant) and value.value is None):
                    values.elts[index] = ast.Constant(value=None)
                    changed = True
        nodes.append(statement)
    return nodes if changed else None


def _tables(function: Function, module: Module) -> Iterator[Table]:
    for decorator in function.decorator_list:
        table = _of_decorator(decorator, module) or _of_expand(decorator, function, module)
        if table:
            yield table
    around: dict[str, Table] = {}
    for node in ast.walk(function):
        if isinstance(node, ast.For):
            for table in _of_loop(node, function, module, around):
                around.update(dict.fromkeys(table.names, table))
                yield table


def _of_decorator(decorator: ast.expr, module: Module) -> Table | None:
    if not (
        isinstance(decorator, ast.Call)
        and isinstance(decorator.func, ast.Attribute)
        and decorator.func.attr == "parametrize"
        and len(decorator.args) == 2  # noqa: PLR2004 - names and rows
        and all(keyword.arg in ("ids", "scope") for keyword in decorator.keywords)
    ):
        return None
    rows, constant = _constant(decorator.args[1], module)
    try:
        names = ast.literal_eval(decorator.args[0])
    except (ValueError, TypeError, SyntaxError):
        return None
    single = isinstance(names, str) and "," not in names
    if isinstance(names, str):
        names = [name.strip() for name in names.split(",") if name.strip()]
    if not isinstance(rows, ast.List | ast.Tuple) or not _is_list(rows):
        return None
    return Table(names=tuple(map(str, names)), rows=rows, single=single, decorator=decorator, constant=constant)


def _of_expand(decorator: ast.expr, function: Function, module: Module) -> Table | None:
    """`parameterized.expand`, whose rows are arguments of the test, and called after the first."""
    match decorator:
        case ast.Call(func=ast.Attribute(attr="expand"), args=[listed], keywords=[]):
            rows, constant = _constant(listed, module)
            names = tuple(argument.arg for argument in function.args.args if argument.arg != "self")
            if isinstance(rows, ast.List | ast.Tuple) and _is_list(rows) and names:
                return Table(names=names, rows=rows, single=False, constant=constant, naming=1)
    return None


def _constant(rows: ast.expr, module: Module) -> tuple[ast.expr, str]:
    """What a name of the file's top level stands for, and the name; any other expression as it is."""
    nodes = module.constants.get(rows.id, ()) if isinstance(rows, ast.Name) else ()
    return (nodes[0], ast.unparse(rows)) if len(nodes) == 1 else (rows, "")


def _of_loop(loop: ast.For, function: Function, module: Module, around: Mapping[str, Table]) -> Iterator[Table]:
    """The tables that a loop goes over, and those of what its target takes apart; `around` are those it may stand in.

    `for case in rows`, `for name, (given, cases) in rows.items()`, `for number, (given, want) in enumerate(cases)`,
    `for found, want in zip(f(x), rows)`.
    """
    for target, rows in taken_apart(loop.target, loop.iter):
        yield from _of_rows(target, rows, function, module, around)


def _of_rows(
    target: ast.expr, rows: ast.expr, function: Function, module: Module, around: Mapping[str, Table]
) -> Iterator[Table]:
    items = isinstance(rows, ast.Call) and isinstance(rows.func, ast.Attribute) and rows.func.attr == "items"
    if items:
        rows = cast("ast.Attribute", cast("ast.Call", rows).func).value
    rows, constant, within = _rows(rows, function, module, around)
    if not (_is_dictionary(rows) if items else _is_list(rows)):
        return
    rows = cast("ast.List | ast.Dict", rows)
    match target:
        case ast.Name(id=name) if not items:
            yield Table(names=(name,), rows=rows, single=True, constant=constant, within=within)
        case ast.Tuple(elts=parts) if names := _names(parts):
            yield Table(names=names, rows=rows, single=False, constant=constant, within=within)
        case ast.Tuple(elts=[ast.Name(), ast.Tuple(elts=parts)]) if items and (names := _names(parts)):
            inner = ast.List(elts=cast("ast.Dict", rows).values, ctx=ast.Load())
            yield Table(names=names, rows=inner, single=False, constant=constant, within=f"{within}.values")


def _names(parts: Sequence[ast.expr]) -> tuple[str, ...]:
    """The names of a target; empty where a part of it is none."""
    names = tuple(part.id for part in parts if isinstance(part, ast.Name))
    return names if len(names) == len(parts) else ()


def _rows(rows: ast.expr, function: Function, module: Module, around: Mapping[str, Table]) -> tuple[ast.expr, str, str]:
    """What a loop goes over, written out, with the constant under which that stands, and where in it."""
    if isinstance(rows, ast.Name) and rows.id in around:
        outer = around[rows.id]
        position = outer.names.index(rows.id)
        cells = outer.cells(position) or []
        if count_of(function, rows.id) == 2 and cells and all(map(_is_list, cells)):  # noqa: PLR2004 - bound once, read once
            own = [row for cell in cells for row in cast("ast.List", cell).elts]
            return ast.List(elts=own, ctx=ast.Load()), outer.constant, f"{outer.within}.{position}"
        return rows, "", ""
    bound: list[ast.expr] = []
    if isinstance(rows, ast.Name):
        bound = [
            node.value
            for node in ast.walk(function)
            if isinstance(node, ast.Assign) and any(isinstance(t, ast.Name) and t.id == rows.id for t in node.targets)
        ]
        is_read_once = count_of(function, rows.id) == 2  # noqa: PLR2004 - bound once, read once
        rows = bound[0] if len(bound) == 1 and is_read_once else rows
    hidden = bound or any(isinstance(node, ast.arg) and node.arg == ast.unparse(rows) for node in ast.walk(function))
    return (rows, "", "") if hidden else (*_constant(rows, module), "")


def _is_list(rows: ast.expr) -> bool:
    return isinstance(rows, ast.List | ast.Tuple) and not any(isinstance(row, ast.Starred) for row in rows.elts)


def _is_dictionary(rows: ast.expr) -> bool:
    return isinstance(rows, ast.Dict) and None not in rows.keys


def _cell(row: ast.expr, position: int | None, name: str) -> ast.expr | None:
    if _is_param(row):
        call = cast("ast.Call", row)
        by_name = [keyword.value for keyword in call.keywords if keyword.arg == name]
        return next(iter((*call.args[position or 0 :], *by_name)), None)
    if position is None:
        return row
    if isinstance(row, ast.Tuple | ast.List) and position < len(row.elts):
        return row.elts[position]
    return None


def _put(param: ast.Call, position: int, name: str, value: ast.expr) -> None:
    """Give a row another value at a place, or by the name of an argument."""
    if position < len(param.args):
        param.args[position] = value
    for keyword in param.keywords:
        keyword.value = value if keyword.arg == name else keyword.value


def _is_param(row: ast.expr) -> bool:
    return isinstance(row, ast.Call) and ast.unparse(row.func) in ("param", "pytest.param")


def _number_rows(table: Table, *, changed: bool) -> None:
    """Call rows by number where their own names may tell what is expected."""
    decorator, rows = table.decorator, table.rows
    assert decorator is not None  # noqa: S101 - asked for by who calls
    assert not isinstance(rows, ast.Dict)  # noqa: S101 - those are of loops
    nodes = [row for row in rows.elts if _is_param(row) and any(k.arg == "id" for k in row.keywords)]  # type: ignore[attr-defined]
    if not (changed or nodes or any(keyword.arg == "ids" for keyword in decorator.keywords)):
        return
    for row in nodes:
        row.keywords = [keyword for keyword in row.keywords if keyword.arg != "id"]  # type: ignore[attr-defined]
    names: list[ast.expr] = [ast.Constant(value=f"p{number}") for number in range(len(rows.elts))]
    decorator.keywords = [keyword for keyword in decorator.keywords if keyword.arg != "ids"]
    decorator.keywords.append(ast.keyword(arg="ids", value=ast.List(elts=names, ctx=ast.Load())))


def _drop_dead(function: Function, scope: Scope, read_before: Collection[str]) -> bool:
    """Take out assignments of expected values to names that nothing else reads; whether there was one."""
    bound_here = [pair for node in ast.walk(function) for pair in assignments(node)]
    own = Counter(
        name
        for name, value in bound_here
        if _are_expected([value], scope, name in read_before)
        for read_there in _read([value])
        if read_there == name
    )
    read = {name for name, count in Counter(_read(function.body)).items() if count > own[name]}
    outer = {name for node in ast.walk(function) if isinstance(node, ast.Global | ast.Nonlocal) for name in node.names}
    changed = False
    for owner in ast.walk(function):
        for name in ("body", "orelse", "finalbody"):
            block = getattr(owner, name, None)
            if not isinstance(block, list) or isinstance(owner, ast.ClassDef):
                continue
            names = {name for statement in block for name, _ in assignments(statement)}
            nodes = _without(block, names - read - outer, read_before, scope)
            if nodes is not None:
                setattr(owner, name, nodes or [ast.Pass()])
                changed = True
    return changed


def _read(nodes: Sequence[ast.AST]) -> list[str]:
    """Every name that is read, as often as it is."""
    return [name for node in nodes for name in names_read(node)]
