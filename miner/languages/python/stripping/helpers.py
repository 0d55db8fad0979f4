"""Helpers of a test file: what their parameters are given, so that what is expected can be kept outside too. Pure."""

from __future__ import annotations

import ast
import copy
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from harness.core import python_source
from harness.core.grouping import grouped

if TYPE_CHECKING:
    from miner.languages.python.stripping.reading.module import Module
    from miner.languages.python.stripping.reading.scope import Scope
    from miner.languages.python.stripping.reading.syntax import Function


_COPY = "_goldseam_"
Site = tuple["Function", ast.Call]
"""A call, and the function that it is in."""


@dataclass(frozen=True, kw_only=True)
class Argument:
    """What one call gives a parameter, or its default, and whose call it is."""

    caller: Function
    call: ast.Call
    place: ast.keyword | list[ast.expr]
    index: int = 0
    """Of a list of expressions."""
    ways: Sequence[Site] = ()
    """This call, and all by which the file comes to it."""

    @property
    def value(self) -> ast.expr:
        """The expression."""
        return self.place.value if isinstance(self.place, ast.keyword) else self.place[self.index]

    @property
    def is_blank(self) -> bool:
        """Whether it is None."""
        return isinstance(self.value, ast.Constant) and self.value.value is None

    def blank(self) -> None:
        """Put None in its place."""
        if isinstance(self.place, ast.keyword):
            self.place.value = ast.Constant(value=None)
        else:
            self.place[self.index] = ast.Constant(value=None)


_Place = tuple[ast.keyword | list[Any], int]


def arguments(functions: Sequence[Function], tree: ast.Module) -> dict[Function, dict[str, list[Argument]]]:
    """By helper and parameter: all that calls of the file give it.

    A helper is a function that nothing but these calls uses; a parameter that it binds anew is not among them.
    """
    calls = grouped(
        (name, (function, node))
        for function in functions
        for node in ast.walk(function)
        if isinstance(node, ast.Call) and (name := _called(node))
    )
    uses = _uses(tree)
    names = [function.name for function in functions]
    by_function = {}
    for function in functions:
        name, calls_made = function.name, calls.get(function.name, [])
        if calls_made and not name.startswith("test") and not function.decorator_list and names.count(name) == 1:
            plain = all(not _is_unpacked(call) and caller is not function for caller, call in calls_made)
            if plain and uses.get(name) == len(calls_made):
                by_function[function] = _arguments(function, calls_made, calls)
    return by_function


def static_given(
    helper: Function, given_by_name: Mapping[str, Sequence[Argument]], scope: Callable[[Function], Scope]
) -> dict[str, tuple[ast.expr, ...]]:
    """The parameters of a helper that get static values alone, with these; `scope` is that of a function.

    Not those of which one test gives several, where the product says in which calls they are read.
    """
    static_alone = {
        name: arguments
        for name, arguments in given_by_name.items()
        if all(scope(argument.caller).is_static(argument.value) for argument in arguments)
        and not _is_choice(arguments, scope)
    }
    names = frozenset(static_alone)
    return {
        name: tuple(node for argument in arguments for node in scope(argument.caller).stands_for(argument.value))
        for name, arguments in static_alone.items()
        if not (_are_several(arguments, scope) and scope(helper).is_read_by_choice(name, names))
    }


def _are_several(arguments: Sequence[Argument], scope: Callable[[Function], Scope]) -> bool:
    """Whether one function has more than one value be given."""
    return any(len(set().union(*by_call.values())) > 1 for by_call in _by_site(arguments).values()) or any(
        scope(argument.caller).is_of_row(argument.value) for argument in arguments
    )


def _is_choice(arguments: Iterable[Argument], scope: Callable[[Function], Scope]) -> bool:
    """Whether the product says which of several values is given, as calls that come to it stand in branches."""
    return any(
        len(by_call) > 1 and len(set().union(*by_call.values())) > 1 and any(map(scope(function).is_chosen, by_call))
        for function, by_call in _by_site(arguments).items()
    )


def _by_site(arguments: Iterable[Argument]) -> dict[Function, dict[ast.Call, set[str]]]:
    """The values that are given, by the functions and calls that come to it."""
    sites: dict[Function, dict[ast.Call, set[str]]] = {}
    for argument in arguments:
        text = ast.unparse(argument.value)
        for function, call in argument.ways:
            sites.setdefault(function, {}).setdefault(call, set()).add(text)
    return sites


def blank_unread(
    called: Mapping[Function, Mapping[str, Sequence[Argument]]], module: Module, scope: Callable[[Function], Scope]
) -> bool:
    """Take out what helpers are given that they do not read; whether there was more of it than before.

    `called` is by helper and parameter, `scope` that of a caller.
    """
    changed = False
    for helper, given_by_name in called.items():
        read = {node.id for node in ast.walk(helper) if isinstance(node, ast.Name)}
        for name in given_by_name.keys() - read:
            arguments = given_by_name[name]
            if all(module.dotted(node.value) or scope(node.caller).is_static(node.value) for node in arguments):
                changed = changed or not all(argument.is_blank for argument in arguments)
                for argument in arguments:
                    argument.blank()
    return changed


def separate(
    functions: Sequence[Function],
    tree: ast.Module,
    scope: Callable[[Function], Scope],
    expected: Callable[[Function, Collection[str]], Collection[str]],
) -> bool:
    """Give each helper a copy for calls that do not give it static values, where others do; whether there was one.

    `expected` gives those of its parameters that its expectations read.
    """
    changed = False
    for helper, given_by_name in arguments(functions, tree).items():
        flags = {
            name: [scope(argument.caller).is_static(argument.value) for argument in given_by_name[name]]
            for name in expected(helper, given_by_name.keys())
        }
        mixed = [name for name in flags if any(flags[name]) and not all(flags[name])]
        calls = [argument.call for argument in given_by_name[mixed[0]]] if mixed else []
        others = [call for index, call in enumerate(calls) if not all(flags[name][index] for name in mixed)]
        if len(others) < len(calls):
            changed = True
            blocks = (value for node in ast.walk(tree) for _, value in ast.iter_fields(node))
            body = next(block for block in blocks if isinstance(block, list) and helper in block)
            body.insert(body.index(helper) + 1, copy.deepcopy(helper))
            helper.name = _COPY + helper.name
            for call in others:
                _rename(call, helper.name)
    return changed


def drop_unused(tree: ast.Module, module: Module, source: bytes) -> None:
    """Take out functions that do no more than to return what is expected, once nothing in the file uses them any more.

    What nothing in the `source` uses is used by others.
    """
    before = _uses(python_source.parse(source))
    while True:
        uses = _uses(tree)
        dead = [function for name, function in module.returning.items() if before.get(name) and not uses.get(name)]
        blocks = [block for node in ast.walk(tree) for _, block in ast.iter_fields(node) if isinstance(block, list)]
        holding = [(block, function) for block in blocks for function in dead if function in block]
        if not holding:
            return
        for block, function in holding:
            block.remove(function)
            if not block:
                block.append(ast.Pass())


def _rename(call: ast.Call, name: str) -> None:
    match call.func:
        case ast.Name():
            call.func.id = name
        case ast.Attribute():
            call.func.attr = name


def _called(call: ast.Call) -> str:
    match call.func:
        case ast.Name(id=name):
            return name
        case ast.Attribute(value=ast.Name(id="self" | "cls"), attr=name):
            return name
    return ""


def _is_unpacked(call: ast.Call) -> bool:
    return any(isinstance(arg, ast.Starred) for arg in call.args) or any(
        keyword.arg is None for keyword in call.keywords
    )


def _uses(tree: ast.AST) -> Counter[str]:
    """How often each name is used, as a name that is no parameter there, an attribute or a word in quotes."""
    uses: Counter[str] = Counter()
    nodes: list[tuple[ast.AST, frozenset[str]]] = [(tree, frozenset())]
    for node, local in nodes:
        match node:
            case ast.Name(id=name) if name not in local:
                uses[name] += 1
            case ast.Attribute(attr=name) | ast.Constant(value=str(name)):
                uses[name] += 1
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.Lambda():
                local |= {inner.arg for inner in ast.walk(node.args) if isinstance(inner, ast.arg)}
        nodes.extend((child, local) for child in ast.iter_child_nodes(node))
    return uses


def _arguments(
    function: Function, calls: Sequence[Site], all_calls: Mapping[str, Sequence[Site]]
) -> dict[str, list[Argument]]:
    spec = function.args
    names = [node.arg for node in (*spec.posonlyargs, *spec.args)]
    stored = {
        node.id for node in ast.walk(function) if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load)
    }
    arguments_by_name: dict[str, list[Argument]] = {
        node.arg: [] for node in (*spec.posonlyargs, *spec.args, *spec.kwonlyargs)
    }
    first = len(names) - len(spec.defaults)
    defaults: dict[str | None, _Place] = {name: (spec.defaults, index) for index, name in enumerate(names[first:])}
    defaults |= {
        node.arg: (spec.kw_defaults, index) for index, node in enumerate(spec.kwonlyargs) if spec.kw_defaults[index]
    }
    for caller, call in calls:
        own = names[1:] if isinstance(call.func, ast.Attribute) else names
        places: dict[str | None, _Place] = {
            **defaults,
            **{name: (call.args, index) for index, name in zip(range(len(call.args)), own, strict=False)},
            **{keyword.arg: (keyword, 0) for keyword in call.keywords},
        }
        ways = _ways(caller, call, all_calls)
        for name, (place, index) in places.items():
            if name in arguments_by_name:
                argument = Argument(caller=caller, call=call, place=place, index=index, ways=ways)
                arguments_by_name[name].append(argument)
    return {
        name: arguments
        for name, arguments in arguments_by_name.items()
        if len(arguments) == len(calls) and name not in stored
    }


def _ways(caller: Function, call: ast.Call, calls: Mapping[str, Sequence[Site]]) -> list[Site]:
    """A call, and all by which the file comes to it; `calls` are by the name that is called."""
    ways, callers = {call: (caller, call)}, {caller.name}
    names = [caller.name]
    for name in names:
        for function, outer in calls.get(name, ()):
            ways.setdefault(outer, (function, outer))
            if function.name not in callers:
                callers.add(function.name)
                names.append(function.name)
    return list(ways.values())
