"""What is written out in stripped tests of Rust, for guessing what they expect."""

from __future__ import annotations

import re
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from harness.judging import values
from harness.judging.rust.values import PANIC, as_python, unescaped
from miner.languages.guessing import Reading, first_kept, operator_by
from miner.languages.rust.stripping.scopes import arguments_of, bare, named, opened
from miner.languages.rust.stripping.source import HAND_OUT, MODULE
from miner.languages.rust.stripping.static import LITERALS
from miner.languages.syntax import text_of, values_together, walk
from miner.languages.tree_source import handed_literals

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from tree_sitter import Node


_MANY = frozenset({"array_expression", "tuple_expression", "unary_expression", "reference_expression"})
_VARIANTS = frozenset({"identifier", "scoped_identifier"})
_VARIANT = re.compile(r"[A-Z][A-Za-z0-9]*")
_RAW = re.compile(r"b?r#*\"(.*)\"#*", re.DOTALL)
_CONTINUED = re.compile(r"\\\n\s*")
_WIDTH = re.compile(r"_?[iu](?:8|16|32|64|128|size)$")
_SUFFIX = re.compile(r"_?(?:[iu](?:8|16|32|64|128|size)|f32|f64)$")
_OPERATORS = {
    "rust.truth": ("truth", "not"), "rust.contains": ("in", "not_in"), "rust.starts": ("startswith", "not_in"),
    "rust.ends": ("endswith", "not_in"), "rust.<": ("<", ">="), "rust.<=": ("<=", ">"), "rust.>": (">", "<="),
    "rust.>=": (">=", "<"), "rust.panics": ("raises", "raises"),
}  # fmt: skip
"""What Python calls an operator, and its contrary; all others compare for equality."""
_SHOWN = {"\n": "\\n", "\r": "\\r", "\t": "\\t", "\0": "\\0", '"': '\\"', "\\": "\\\\"}


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
    return opened(text.encode())[1]


def _values(node: Node) -> Iterator[Any]:
    for part in walk(node):
        if part.type in LITERALS or part.type in _MANY or part.type in _VARIANTS:
            with suppress(ValueError, SyntaxError):
                yield _value(part)


def _value(node: Node) -> Any:
    node = bare(node)
    text = text_of(node)
    match node.type:
        case "string_literal" | "char_literal":
            inner = unescaped(_CONTINUED.sub("", text.removeprefix("b")[1:-1]))
            return list(inner.encode("latin-1")) if text.startswith('b"') else inner
        case "raw_string_literal" if match := _RAW.fullmatch(text):
            return match[1]
        case "boolean_literal":
            return text == "true"
        case "integer_literal":
            return int((_WIDTH if text.startswith("0x") else _SUFFIX).sub("", text).replace("_", ""), 0)
        case "float_literal":
            return float(_SUFFIX.sub("", text).replace("_", ""))
        case "unary_expression" if text.startswith("-"):
            return -_value(named(node)[0])
        case "reference_expression":
            return _value(named(node)[-1])
        case "array_expression" | "tuple_expression" if node.child_by_field_name("length") is None:
            return [_value(child) for child in named(node)]
        case "identifier" | "scoped_identifier" if _VARIANT.fullmatch(text.rpartition("::")[2]):
            return text.rpartition("::")[2] if text != "None" else None
    raise ValueError("not a literal")


def _calls(source: str) -> Iterator[tuple[int, str, Iterator[Any]]]:
    for node in walk(_parsed(source)):
        function = node.child_by_field_name("function") if node.type == "call_expression" else None
        if function is None or not HAND_OUT.fullmatch(text_of(function)):
            continue
        number, *operands = arguments_of(node)
        at: Node | None = node
        while at is not None and at.type != "function_item":
            at = at.parent
        around = node.parent  # the match that compares holds the operands themselves
        while around is not None and around.type not in ("block", "match_expression"):
            around = around.parent
        values_of = around.child_by_field_name("value") if around is not None else None
        parts = [*operands, *([values_of] if values_of is not None else [])]
        literals = (value for part in parts for value in _values(part) if value not in ("Of", None))
        name = text_of(at.child_by_field_name("name")) if at is not None else ""
        yield int(text_of(number)), name, literals


def _columns(source: str) -> Iterator[list[Any]]:
    return values_together(_parsed(source), _values, arguments_of, {"function_item"}, MODULE)


def _saying(text: str) -> Iterable[tuple[str, Any]]:
    yield "a panic", ["rust", PANIC, text]


def _shortened(error: Any, letters: int) -> Any:
    return ["rust", PANIC, error[2][:letters]]


READING = Reading(
    written=lambda text: _values(_parsed(text)),
    handed=lambda _path, source: handed_literals(_calls(source)),
    decode=lambda encoded: as_python(values.decode(encoded, kept=True)),
    encode=_encoded,
    errors=_saying,
    shortened=_shortened,
    operator=operator_by(_OPERATORS),
    message=first_kept,
    columns=_columns,
)
