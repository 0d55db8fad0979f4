"""A test file in a plainer form that does the same, in which more of what it expects is seen. Pure.

A dictionary that the file's top level fills entry by entry is written out, a parameter that a function binds anew has
a name of its own from there on, and a copy of what has just been written out is written out as well.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Collection, Sequence

from harness.core import python_source
from miner.languages.python.stripping.nodes import count_of
from miner.languages.python.stripping.reading.syntax import Function, assignments, stored

_ANEW = "_goldseam_"
"""What the name of a parameter that is bound anew begins with."""
_LOOKING_AROUND = frozenset({"locals", "vars", "dir", "eval", "exec"})
"""By these a function can tell what a name is called."""


def written(source: bytes) -> bytes:
    """The same file in a plainer form; as it is where that changes nothing.

    Raises:
        SyntaxError: it is not Python that this interpreter reads.
        ValueError: it holds a NUL.
        RecursionError: it is nested too deeply.

    """
    tree = python_source.parse(source)
    names = dict.fromkeys(entry[0] for entry in map(_entry, tree.body) if entry)
    functions = [node for node in ast.walk(tree) if isinstance(node, Function)]
    copying = _copying(tree)
    changed = [*(_gather(tree, name) for name in names), *map(_rename_anew, functions)]
    changed += [_write_copies(function, copying) for function in functions]
    return ast.unparse(ast.fix_missing_locations(tree)).encode() if any(changed) else source


def _entry(statement: ast.stmt) -> tuple[str, ast.Constant, ast.expr] | None:
    """The name, key and value of `name["key"] = value`."""
    match statement:
        case ast.Assign(targets=[ast.Subscript(value=ast.Name(id=name), slice=ast.Constant() as key)], value=value):
            return name, key, value
    return None


def _is_start(statement: ast.stmt) -> bool:
    match statement:
        case ast.Assign(targets=[ast.Name()], value=ast.Dict(keys=[])):
            return True
    return False


def _gather(tree: ast.Module, name: str) -> bool:
    """Write out a dictionary that statements of the top level fill, where the last of these stands."""
    starts = [place for place, node in enumerate(tree.body) if _is_start(node) and name in _bound_by(node)]
    entries = {place: entry for place, node in enumerate(tree.body) if (entry := _entry(node)) and entry[0] == name}
    first, last = min((*starts, *entries)), max(entries)
    between = tree.body[first:last]
    others = [node for place, node in enumerate(tree.body) if place not in entries and not isinstance(node, _LATER)]
    if len(starts) != 1 or first in entries or _bound_by(tree).count(name) != 1:
        return False
    if not all(_entry(node) or assignments(node) or isinstance(node, _LATER) for node in between):
        return False
    if sum(count_of(node, name) for node in others) != 1:
        return False  # something reads it before a function is called
    values: dict[object, ast.expr] = {}
    for _, key, value in entries.values():
        values[key.value] = _Resolver(name, values).visit(copy.deepcopy(value))
    if len(values) < len(entries) or any(count_of(value, name) for value in values.values()):
        return False
    whole = ast.Dict(keys=[key for _, key, _ in entries.values()], values=list(values.values()))
    tree.body[last] = ast.Assign(targets=[ast.Name(id=name, ctx=ast.Store())], value=whole)
    tree.body = [node for place, node in enumerate(tree.body) if place == last or place not in (first, *entries)]
    return True


_LATER = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
"""What is in these is run later."""


def _bound_by(tree: ast.AST) -> list[str]:
    return [name for node in ast.walk(tree) for name in stored(node)]


class _Resolver(ast.NodeTransformer):
    """Puts what stands in an entry written before in place of `name["key"]`, and of `name["key"][1]`."""

    def __init__(self, name: str, values: dict[object, ast.expr]) -> None:
        self._name, self._values = name, values

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        self.generic_visit(node)
        match node:
            case ast.Subscript(value=ast.Name(id=name), slice=ast.Constant(value=key)) if name == self._name:
                return copy.deepcopy(self._values.get(key, node))
            case ast.Subscript(
                value=ast.Tuple(elts=parts) | ast.List(elts=parts), slice=ast.Constant(value=int(place))
            ) if 0 <= place < len(parts) and not any(isinstance(part, ast.Starred) for part in parts):
                return parts[place]
        return node


def _rename_anew(function: Function) -> bool:
    """Give a parameter that one statement of the body binds anew another name from there on; whether there is one."""
    parameters = {node.arg for node in ast.walk(function.args) if isinstance(node, ast.arg)}
    inner = [node for node in ast.walk(function) if isinstance(node, _INNER) and node is not function]
    changed = False
    for place, statement in enumerate(function.body):
        match statement:
            case ast.Assign(targets=[ast.Name(id=name) as target]) if name in parameters:
                nodes = {node.id for node in ast.walk(function) if isinstance(node, ast.Name)}
                is_within = any(count_of(node, name) for node in inner)
                if (
                    _bound_by(function).count(name) == 1
                    and not is_within
                    and not nodes & {*_LOOKING_AROUND, _ANEW + name}
                ):
                    target.id = _ANEW + name
                    _rename(function.body[place + 1 :], name)
                    changed = True
    return changed


_INNER = (*_LATER, ast.Lambda, ast.GeneratorExp)
"""In these a name may stand for what it is bound to later."""


def _rename(statements: Sequence[ast.stmt], name: str) -> None:
    for node in (node for statement in statements for node in ast.walk(statement)):
        if isinstance(node, ast.Name) and node.id == name:
            node.id = _ANEW + name


def _copying(tree: ast.Module) -> frozenset[str]:
    """What a file calls Python's own functions that give a copy of what they get."""
    copying, hidden = {"list", "dict", "set", "deepcopy", "copy.deepcopy"}, set(_bound_by(tree))
    hidden.update(node.arg for node in ast.walk(tree) if isinstance(node, ast.arg))
    own = set[str]()
    for node in (node for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom)):
        is_of_copy = isinstance(node, ast.ImportFrom) and (node.module, node.level) == ("copy", 0)
        for alias in node.names:
            name = alias.asname or alias.name
            if is_of_copy and alias.name == "deepcopy":
                own.add(name)
            elif isinstance(node, ast.Import) and alias.name == "copy":
                own.add(f"{name}.deepcopy")
            else:
                hidden.add(name)
    unsure = {"deepcopy", "copy.deepcopy"} - own if "*" in hidden else set[str]()
    return frozenset(name for name in (copying | own) - unsure if name.partition(".")[0] not in hidden)


def _write_copies(function: Function, copying: Collection[str]) -> bool:
    """Write out `orig = given[:]` where nothing has had `given` since it was written out; whether there was one."""
    blocks = [value for node in ast.walk(function) for _, value in ast.iter_fields(node) if isinstance(value, list)]
    inner = [node for node in ast.walk(function) if isinstance(node, _INNER) and node is not function]
    changed = False
    for block in blocks:
        for place, statement in enumerate(block):
            match statement:
                case ast.Assign(targets=[ast.Name(id=name)], value=ast.List() | ast.Dict() | ast.Set() as value):
                    if not any(count_of(node, name) for node in inner):
                        changed = _write_copies_of(name, value, block[place + 1 :], copying) or changed
    return changed


def _write_copies_of(
    name: str, value: ast.List | ast.Dict | ast.Set, block: Sequence[ast.stmt], copying: Collection[str]
) -> bool:
    changed = False
    for statement in block:
        copied = statement.value if isinstance(statement, ast.Assign) else None
        if copied is not None and count_of(statement, name) == 1 and _is_copy(copied, name, value, copying):
            statement.value = copy.deepcopy(value)  # type: ignore[attr-defined]  # an assignment, as it has what is copied
            changed = True
        elif count_of(statement, name):
            break
    return changed


def _is_copy(node: ast.expr, name: str, value: ast.List | ast.Dict | ast.Set, copying: Collection[str]) -> bool:
    """Whether an expression gives another one like what a name stands for, with nothing inside in common."""
    match node:
        case ast.Call(func=func, args=[ast.Name(id=of)], keywords=[]) if ast.unparse(func) in copying:
            kind = ast.unparse(func)
            is_like = kind == type(value).__name__.lower() and _is_flat(value)
            return of == name and (is_like or (kind not in ("list", "dict", "set") and _is_literal(value)))
        case ast.Subscript(value=ast.Name(id=of), slice=ast.Slice(lower=None, upper=None, step=None)):
            return of == name and _is_flat(value)
        case ast.Call(func=ast.Attribute(value=ast.Name(id=of), attr="copy"), args=[]):
            return of == name and _is_flat(value)
    return False


def _is_literal(value: ast.expr) -> bool:
    try:
        ast.literal_eval(value)
    except (ValueError, TypeError, SyntaxError):
        return False
    return True


def _is_flat(value: ast.expr) -> bool:
    """Whether it is a display of what can't be changed."""
    inner = [node for node in ast.walk(value) if node is not value]
    return _is_literal(value) and not any(isinstance(node, ast.List | ast.Dict | ast.Set) for node in inner)
