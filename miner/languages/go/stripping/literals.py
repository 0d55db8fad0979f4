"""What is written out in stripped tests of Go, for guessing what they expect."""

from __future__ import annotations

import ast
import re
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from harness.judging import values
from harness.judging.go.values import as_python
from miner.languages.go.stripping.scopes import FUNCTIONS, arguments_of, bare, named, parse, top_function
from miner.languages.go.stripping.source import HAND_OUT, MARK
from miner.languages.guessing import Reading, first_kept, operator_by
from miner.languages.syntax import text_of, values_together, walk
from miner.languages.tree_source import handed_literals

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from tree_sitter import Node


_WORDS = {"true": True, "false": False, "nil": None}
_VALUES = frozenset(
    {*("interpreted_string_literal", "raw_string_literal", "int_literal", "float_literal"), "rune_literal", *_WORDS}
)
_TOP = re.compile(r"(.*?::[^/\[ ]*).*", re.DOTALL)
_OUTPUT = re.compile(rf"output: {MARK} (\d+)", re.IGNORECASE)
_OPERATORS = {
    "go.truth": ("truth", "not"), "go.nil": ("is", "is_not"), "go.empty": ("truth", "not"),
    "go.contains": ("in", "not_in"), "go.in": ("in", "not_in"), "go.prefix": ("startswith", "not_in"),
    "go.suffix": ("endswith", "not_in"), "go.<": ("<", ">="), "go.>": (">", "<="), "go.near": ("almost", "not_almost"),
    "go.panics": ("raises", "raises"), "go.of": ("truth", "not"), "go.len": ("==", "!="),
}  # fmt: skip
"""What Python calls an operator, and its contrary; all others compare for equality."""


def function_of(test_id: str) -> str:
    """The function that a test is of, whatever its subtest is called."""
    match = _TOP.fullmatch(test_id)
    return match[1] if match else test_id


def _encoded(value: Any) -> Any:
    return ["go", False, _within(value), None]


def _within(value: Any) -> Any:
    match value:
        case None:
            return ["n", "error"]
        case bool():
            return ["b", "bool", value]
        case int():
            return ["i", "int", str(value)]
        case float():
            return ["f", "float64", repr(value)]
        case str():
            return ["s", "string", value]
        case bytes() | bytearray():
            return ["B", "[]uint8", bytes(value).hex()]
        case list() | tuple() | set():
            return ["l", _kind_of(value), [_within(item) for item in value]]
        case dict():
            return ["m", "map[string]string", [[_within(key), _within(inner)] for key, inner in value.items()]]
    raise TypeError(type(value).__name__)


def _kind_of(items: Iterable[Any]) -> str:
    kinds = {type(item) for item in items}
    return {int: "[]int", float: "[]float64", bool: "[]bool"}.get(
        next(iter(kinds)) if len(kinds) == 1 else str, "[]string"
    )


def _written(text: str) -> Iterator[Any]:
    return _values(parse(text.encode()))


def _values(node: Node) -> Iterator[Any]:
    for part in walk(node):
        if part.type in _VALUES or part.type in ("composite_literal", "unary_expression"):
            with suppress(ValueError, SyntaxError):
                yield _value(part)


def _value(node: Node) -> Any:
    node = bare(node)
    text = text_of(node)
    match node.type:
        case "raw_string_literal":
            return text[1:-1]
        case "interpreted_string_literal":
            return _unescaped(text)
        case "rune_literal":
            return ord(_unescaped(text)) if len(_unescaped(text)) == 1 else text
        case "int_literal":
            return int(text.replace("_", ""), 0) if not re.fullmatch(r"0\d+", text) else int(text, 8)
        case "float_literal":
            return float(text.replace("_", ""))
        case "unary_expression" if text.startswith("-"):
            return -_value(named(node)[0])
        case "composite_literal":
            return [_value(_inner(child)) for child in named(node.child_by_field_name("body"))]
        case "literal_value":
            return [_value(_inner(child)) for child in named(node)]
    if node.type in _WORDS:
        return _WORDS[node.type]
    raise ValueError("not a literal")


def _inner(element: Node) -> Node:
    value = element.child_by_field_name("value") if element.type == "keyed_element" else element
    inner = named(value)
    if len(inner) != 1:
        raise ValueError("not a literal")
    return inner[0]


def _unescaped(text: str) -> str:
    with suppress(ValueError, SyntaxError):
        return str(ast.literal_eval(text))
    return text[1:-1]


def _calls(source: str) -> Iterator[tuple[int, str, Iterator[Any]]]:
    for node in walk(parse(source.encode())):
        output = _OUTPUT.search(text_of(node)) if node.type == "function_declaration" else None
        if output is not None:  # of an example: what it prints itself may be all of it
            yield int(output[1]), top_function(node), _values(node)
        if node.type == "call_expression" and text_of(node.child_by_field_name("function")).endswith(f".{HAND_OUT}"):
            number, *operands = arguments_of(node)[1:]
            literals = (value for part in operands if part.type != "nil" for value in _values(part))
            yield int(text_of(number)), top_function(node), literals


def _columns(source: str) -> Iterator[list[Any]]:
    shown = {"func_literal"}  # what stands there is in a function around it as well
    return values_together(parse(source.encode()), _values, arguments_of, FUNCTIONS - shown, HAND_OUT)


def _saying(text: str) -> Iterable[tuple[str, Any]]:
    yield (
        "an error",
        ["go", True, ["p", "*errors.errorString", ["t", "errors.errorString", [["s", ["s", "string", text]]]]], text],
    )


def _shortened(error: Any, letters: int) -> Any:
    return next(iter(_saying(error[3][:letters])))[1]


READING = Reading(
    written=_written,
    handed=lambda _path, source: handed_literals(_calls(source)),
    decode=lambda encoded: as_python(values.decode(encoded, kept=True)),
    encode=_encoded,
    errors=_saying,
    shortened=_shortened,
    operator=operator_by(_OPERATORS),
    message=first_kept,
    function=function_of,
    columns=_columns,
)
