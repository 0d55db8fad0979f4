"""What is written out in stripped tests of Rust, for guessing what they expect."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

from harness.judging import values
from harness.judging.rust.values import PANIC, as_python
from miner.languages.guessing import Reading, first_kept, operator_by
from miner.languages.rust.stripping.patterns import value_of
from miner.languages.rust.stripping.scopes import arguments_of, opened
from miner.languages.rust.stripping.source import HAND_OUT, MODULE
from miner.languages.rust.stripping.static import LITERALS
from miner.languages.syntax import text_of, values_together, walk
from miner.languages.tree_source import handed_literals

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from tree_sitter import Node


_MANY = frozenset({"array_expression", "tuple_expression", "unary_expression", "reference_expression"})
_VARIANTS = frozenset({"identifier", "scoped_identifier"})
_OPERATORS = {
    "rust.truth": ("truth", "not"), "rust.contains": ("in", "not_in"), "rust.starts": ("startswith", "not_in"),
    "rust.ends": ("endswith", "not_in"), "rust.<": ("<", ">="), "rust.<=": ("<=", ">"), "rust.>": (">", "<="),
    "rust.matches": ("isinstance", "not_isinstance"), "rust.>=": (">=", "<"), "rust.panics": ("raises", "raises"),
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
                yield value_of(part)


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
