"""What is written out in stripped tests of Rust, for guessing what they expect."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from typing import Any

from tree_sitter import Node

from harness.core.syntax import arguments_of, callee_of, enclosing, field_of, field_text, text_of, walk, words
from harness.judging import values
from harness.judging.parts import Part, key_of
from harness.judging.rust.values import PANIC, Value
from miner.languages.guessing.reading import Reading, first_kept, operator_by
from miner.languages.rust.stripping.patterns import value_of
from miner.languages.rust.stripping.scopes import opened, parse_parts
from miner.languages.rust.stripping.source import HAND_OUT, MODULE
from miner.languages.rust.stripping.static import LITERALS
from miner.languages.stripping.literals import handed_literals, values_in, values_together

_VALUES = LITERALS | words(
    "array_expression tuple_expression unary_expression reference_expression identifier scoped_identifier"
)
_OPERATORS = {
    "rust.truth": ("truth", "not"), "rust.contains": ("in", "not_in"), "rust.starts": ("startswith", "not_in"),
    "rust.ends": ("endswith", "not_in"), "rust.<": ("<", ">="), "rust.<=": ("<=", ">"), "rust.>": (">", "<="),
    "rust.matches": ("isinstance", "not_isinstance"), "rust.>=": (">=", "<"), "rust.panics": ("raises", "raises"),
}  # fmt: skip
"""What Python calls an operator, and its contrary; all others compare for equality."""
_SHOWN = {"\n": "\\n", "\r": "\\r", "\t": "\\t", "\0": "\\0", '"': '\\"', "\\": "\\\\"}


def _as_python(value: object, kind: str = "") -> Any:
    """A value as Python would have it, for what only looks at texts, numbers and containers; None for anything else.

    A name alone is one of few that a value of that `kind` may hold.
    """
    if isinstance(value, Value):
        return _as_python(value.part, value.kind) if value.part is not None else value.text
    if not isinstance(value, Part):
        return None
    inner = partial(_as_python, kind=kind)
    match value.tag:
        case "f":
            return int(value.plain) if value.plain.is_integer() else value.plain
        case "n":
            return None if value.kind == "None" else values.Record(name=kind, items=(value.kind,))
        case "l" | "t" | "S":
            items = list(map(inner, value.parts))
            return items[0] if value.tag == "t" and value.kind and len(items) == 1 else items
        case "m" if value.kind:
            fields = tuple((key.kind, inner(item)) for key, item in value.parts)
            return values.Record(name=value.kind, attrs=fields)
        case "m":
            return {key_of(inner(key)): inner(item) for key, item in value.parts}
    return value.plain


def _encoded(value: Any) -> Any:
    return ["rust", "str", _shown(value)]


def _shown(value: Any) -> str:
    """A value as `Debug` shows it."""
    match value:
        case None:
            return "None"
        case bool():
            return str(value).lower()
        case int() | float():
            return repr(value).replace("nan", "NaN").replace("e+", "e")
        case str():
            return '"' + "".join(_SHOWN.get(letter, letter) for letter in value) + '"'
        case bytes() | bytearray() | list() | tuple() | set():
            marks = {tuple: "()", set: "{}"}.get(type(value), "[]")
            return marks[0] + ", ".join(map(_shown, value)) + marks[1]
        case dict():
            return "{" + ", ".join(f"{_shown(key)}: {_shown(inner)}" for key, inner in value.items()) + "}"
    raise TypeError(type(value).__name__)


def _parsed(text: str) -> Node:
    try:
        return opened(text.encode())[1]
    except ValueError:
        return parse_parts(text.encode())


def _values(node: Node) -> Iterator[Any]:
    return values_in(node, _VALUES, value_of)


def _calls(source: str) -> Iterator[tuple[int, str, Iterator[Any]]]:
    for node in walk(_parsed(source)):
        function = callee_of(node)
        if function is None or not HAND_OUT.fullmatch(text_of(function)):
            continue
        number, *operands = arguments_of(node)
        around = enclosing(node.parent, ("block", "match_expression"))
        values_of = field_of(around, "value")  # the match that compares holds the operands themselves
        parts = [*operands, *([values_of] if values_of is not None else [])]
        literals = (value for part in parts for value in _values(part) if value not in ("Of", None))
        yield int(text_of(number)), field_text(enclosing(node, ("function_item",)), "name"), literals


def _columns(source: str) -> Iterator[list[Any]]:
    return values_together(_parsed(source), _values, arguments_of, {"function_item"}, MODULE)


def _saying(text: str) -> Iterable[tuple[str, Any]]:
    yield "a panic", ["rust", PANIC, text]


def _shortened(error: Any, letters: int) -> Any:
    return ["rust", PANIC, error[2][:letters]]


READING = Reading(
    written=lambda text: _values(_parsed(text)),
    handed=lambda _path, source: handed_literals(_calls(source)),
    decode=lambda encoded: _as_python(values.decode(encoded, kept=True)),
    encode=_encoded,
    errors=_saying,
    shortened=_shortened,
    operator=operator_by(_OPERATORS),
    message=first_kept,
    columns=_columns,
)
