"""What is written out in Python's stripped tests, for guessing what they expect."""

from __future__ import annotations

import ast
import contextlib
import copy
import re
from collections.abc import Callable, Iterator
from typing import Any

from harness.core import python_source
from harness.judging import values
from harness.judging.arrays import Array
from miner.languages.guessing.reading import Reading
from miner.languages.python.stripping.sites import HAND_OUT

_ERRORS = (
    *(ValueError, TypeError, KeyError, IndexError, AttributeError, RuntimeError, NotImplementedError, OSError),
    *(ZeroDivisionError, OverflowError, AssertionError, StopIteration, LookupError, UnicodeError, Exception),
)


def _saying(text: str) -> Iterator[tuple[str, Any]]:
    for kind in _ERRORS:
        yield kind.__name__, ["e", list(values.names_of(kind)), text, [["s", text]], []]


def _literals(source: str) -> tuple[dict[int, tuple[Any, ...]], dict[str, tuple[Any, ...]]]:
    """What is written out in a stripped file: by slot in what is handed out there, by function in all of it."""
    slots: dict[int, tuple[Any, ...]] = {}
    functions: dict[str, tuple[Any, ...]] = {}
    rest: list[tuple[ast.AST, str]] = [(python_source.parse(source), "")]
    for node, names in rest:
        is_function = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        if is_function:
            functions[names] = tuple(_written(node))
            slots.update({slot: (*literals, *functions[names]) for slot, literals in _handed(node)})
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                rest.append((child, f"{names}::{child.name}" if names else child.name))
            elif isinstance(child, ast.If | ast.Try):
                rest.append((child, names))
    return slots, functions


def _handed(function: ast.AST) -> Iterator[tuple[int, tuple[Any, ...]]]:
    for node in ast.walk(function):
        for item in getattr(node, "items", ()):
            match item:
                case ast.withitem(
                    context_expr=ast.Call(func=ast.Name(id=name), args=[ast.Constant(value=int(slot)), *_])
                ) if name == HAND_OUT:
                    yield slot, tuple(value for statement in node.body for value in _written(statement))  # type: ignore[attr-defined]


_EXAMPLE = re.compile(rf"^>>> ({re.escape(HAND_OUT)}\(.*)$", re.MULTILINE)


def _columns(source: str) -> Iterator[list[Any]]:
    """Values at one place of all calls of a function, in one call, or in one function that hands out nothing."""
    places: dict[tuple[str, int | str | None], list[Any]] = {}
    for node in ast.walk(python_source.parse(source)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and not any(_handed(node)):
            yield list(_written(node))
        if isinstance(node, ast.Call):
            keywords = ((keyword.arg, keyword.value) for keyword in node.keywords)
            arguments = [(place, list(_written(value))[:1]) for place, value in (*enumerate(node.args), *keywords)]
            for place, literals in arguments:
                places.setdefault((ast.unparse(node.func), place), []).extend(literals)
            yield [value for _, literals in arguments for value in literals]
    yield from places.values()


def _examples(document: str) -> dict[int, tuple[Any, ...]]:
    """By slot: what is written out in an example of a stripped document."""
    examples: dict[int, tuple[Any, ...]] = {}
    for line in _EXAMPLE.findall(document):
        match python_source.parse(line).body:
            case [
                ast.Expr(
                    value=ast.Call(
                        func=ast.Attribute(value=ast.Call(args=[ast.Constant(value=int(slot))])),
                        args=[ast.Constant(value=str(code)), *_],
                    )
                )
            ]:
                examples[slot] = tuple(_written(python_source.parse(code)))
    return examples


def _written(node: ast.AST) -> Iterator[Any]:
    if isinstance(node, ast.expr):
        yield from _values(lambda: ast.literal_eval(node))
    if isinstance(node, ast.List | ast.Tuple) and any(isinstance(inner, ast.Call) for inner in ast.walk(node)):
        yield from _values(lambda: ast.literal_eval(_Uncalled().visit(copy.deepcopy(node))))
    if isinstance(node, ast.Call) and node.keywords:  # such as jsonify(foo="bar")
        yield from _values(lambda: {keyword.arg: ast.literal_eval(keyword.value) for keyword in node.keywords})
    for child in ast.iter_child_nodes(node):
        yield from _written(child)


def _values(evaluate: Callable[[], Any]) -> Iterator[Any]:
    """What an evaluation gives; nothing where that is no literal."""
    with contextlib.suppress(ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        yield evaluate()


class _Uncalled(ast.NodeTransformer):
    """Puts what a call is given in place of the call: its one argument, or all of them."""

    def visit_Call(self, node: ast.Call) -> ast.expr:
        arguments = [self.visit(argument) for argument in (*node.args, *(keyword.value for keyword in node.keywords))]
        return arguments[0] if len(arguments) == 1 else ast.Tuple(elts=arguments, ctx=ast.Load())


_TAGS = ((list, "l"), (tuple, "t"), ((set, frozenset), "S"))


def _encoded(value: Any) -> Any:
    """A value as the container hands it out; for what rules give."""
    match value:
        case None | bool():
            return value
        case int():
            return ["i", format(value, "x")]
        case float():
            return ["f", value.hex()]
        case str():
            return ["s", value]
        case bytes():
            return ["b", value.hex()]
        case list() | tuple() | set() | frozenset():
            tag = next(tag for kinds, tag in _TAGS if isinstance(value, kinds))
            return [tag, [_encoded(element) for element in value]]
        case dict():
            return ["d", [[_encoded(key), _encoded(element)] for key, element in value.items()]]
    return values.standard(value)


def _decoded(encoded: Any) -> Any:
    """A value; of an array the lists that `tolist` gives."""
    value = values.decode(encoded, kept=True)
    return value.as_lists() if isinstance(value, Array) else value


_ARRAYS = {"np.equal": "==", "np.arrays": "==", "np.near": "almost", "pd.equal": "=="}
READING = Reading(
    written=lambda text: _written(python_source.parse(text)),
    handed=lambda path, source: _literals(source) if path.endswith(".py") else (_examples(source), {}),
    columns=_columns,
    decode=_decoded,
    encode=_encoded,
    errors=_saying,
    shortened=lambda error, letters: [error[0], error[1], error[2][:letters], [], []],
    operator=lambda site: _ARRAYS.get(site.op, site.op),
)
