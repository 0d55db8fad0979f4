"""What is written out in stripped tests of Go, for guessing what they expect."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

from tree_sitter import Node

from harness.core.syntax import arguments_of, bare, field_of, field_text, named, text_of, walk, words
from harness.judging import values
from harness.judging.go.values import Value
from harness.judging.parts import Part, key_of
from miner.languages.go.stripping.scopes import FUNCTIONS, parse, top_function
from miner.languages.go.stripping.source import HAND_OUT, MARK
from miner.languages.guessing.reading import Reading, first_kept, near, operator_by
from miner.languages.stripping.literals import handed_literals, negated, unescaped, values_in, values_together

_WORDS = {"true": True, "false": False, "nil": None}
_VALUES = words(
    "interpreted_string_literal raw_string_literal int_literal float_literal rune_literal true false nil"
    " composite_literal unary_expression"
)
_TOP = re.compile(r"(.*?::[^/\[ ]*).*", re.DOTALL)
_OUTPUT = re.compile(rf"output: {MARK} (\d+)", re.IGNORECASE)
_OPERATORS = {
    "go.truth": ("truth", "not"), "go.nil": ("is", "is_not"), "go.empty": ("truth", "not"),
    "go.contains": ("in", "not_in"), "go.in": ("in", "not_in"), "go.prefix": ("startswith", "not_in"),
    "go.suffix": ("endswith", "not_in"), "go.matches": ("regex", "not_regex"),
    "go.<": ("<", ">="), "go.>": (">", "<="), "go.near": ("almost", "not_almost"),
    "go.panics": ("raises", "raises"), "go.of": ("truth", "not"), "go.len": ("==", "!="),
    "go.is": ("isinstance", "not_isinstance"),  # one error may be all there are, joined
}  # fmt: skip
"""What Python calls an operator, and its contrary; all others compare for equality."""


def function_of(test_id: str) -> str:
    """The function that a test is of, whatever its subtest is called."""
    match = _TOP.fullmatch(test_id)
    return match[1] if match else test_id


def _as_python(value: object) -> Any:
    """A value as Python would have it, for what only looks at texts, numbers and containers; None for anything else."""
    if isinstance(value, Value):
        return value.text if value.text is not None else _as_python(value.part)
    if not isinstance(value, Part):
        return None
    match value.tag:
        case "f":
            return int(value.plain) if value.plain.is_integer() else value.plain
        case "a" | "p":
            return _as_python(value.parts[0])
        case "l":
            return [_as_python(item) for item in value.parts]
        case "m":
            return {key_of(_as_python(key)): _as_python(inner) for key, inner in value.parts}
        case "t":
            fields = tuple((name, _as_python(inner)) for name, inner in value.parts)
            return values.Record(name=value.kind, attrs=fields)
    return value.plain if value.tag != "r" else None


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
    return values_in(node, _VALUES, value_of)


def value_of(node: Node) -> Any:
    """What a literal stands for; raises ValueError of anything else."""
    node = bare(node)
    text = text_of(node)
    match node.type:
        case "raw_string_literal":
            return text[1:-1]
        case "interpreted_string_literal":
            return unescaped(text)
        case "rune_literal":
            return ord(unescaped(text)) if len(unescaped(text)) == 1 else text
        case "int_literal":
            return int(text.replace("_", ""), 0) if not re.fullmatch(r"0\d+", text) else int(text, 8)
        case "float_literal":
            return float(text.replace("_", ""))
        case "unary_expression" if text.startswith("-"):
            return negated(value_of(named(node)[0]))
        case "composite_literal":
            return [value_of(_inner(child)) for child in named(field_of(node, "body"))]
        case "literal_value":
            return [value_of(_inner(child)) for child in named(node)]
    if node.type in _WORDS:
        return _WORDS[node.type]
    raise ValueError("not a literal")


def _inner(element: Node) -> Node:
    value = field_of(element, "value") if element.type == "keyed_element" else element
    inner = named(value)
    if len(inner) != 1:
        raise ValueError("not a literal")
    return inner[0]


def _calls(source: str) -> Iterator[tuple[int, str, Iterator[Any]]]:
    for node in walk(parse(source.encode())):
        output = _OUTPUT.search(text_of(node)) if node.type == "function_declaration" else None
        if output is not None:  # of an example: what it prints itself may be all of it
            yield int(output[1]), top_function(node), _values(node)
        if node.type == "call_expression" and field_text(node, "function").endswith(f".{HAND_OUT}"):
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
    decode=lambda encoded: _as_python(values.decode(encoded, kept=True)),
    encode=_encoded,
    errors=_saying,
    shortened=_shortened,
    operator=operator_by(_OPERATORS),
    sought=lambda site, kept: near(kept) if site.op == "go.near" else kept,
    message=first_kept,
    function=function_of,
    columns=_columns,
)
