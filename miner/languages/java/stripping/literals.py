"""What is written out in stripped tests of Java, for guessing what they expect."""

from __future__ import annotations

import ast
import re
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from harness.judging import values
from harness.judging.java.values import as_python
from miner.languages.guessing import Reading, operator_by
from miner.languages.java.stripping.scopes import METHODS, arguments_of, bare, function_of, name_of, named, parse
from miner.languages.java.stripping.source import HAND_OUT
from miner.languages.java.stripping.static import LITERALS, NUMBERS
from miner.languages.syntax import text_of, values_together, walk
from miner.languages.tree_source import handed_literals

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from tree_sitter import Node

    from harness.core.expectations import Expected, Site

_WORDS: dict[str, Any] = {"true": True, "false": False, "null_literal": None}
_MANY = frozenset(
    {"array_initializer", "array_creation_expression", "unary_expression", "element_value_array_initializer"}
)
_ROWS = frozenset({"of", "arguments", "asList"})
"""Methods that are given a row, or rows."""
_TEST = re.compile(r"(?P<path>.*?)::(?P<name>[^(\[]*).*", re.DOTALL)
_EXTENDED = re.compile(r"\bclass\s+\w+(?:<[^{]*?>)?\s+extends\s+(?:\w+\.)*(\w+)")
_OPERATORS = {
    "java.truth": ("truth", "not"), "java.null": ("is", "is_not"), "java.same": ("==", "!="),
    "java.empty": ("truth", "not"), "java.contains": ("in", "not_in"), "java.starts": ("startswith", "not_in"),
    "java.ends": ("endswith", "not_in"), "java.<": ("<", ">="), "java.<=": ("<=", ">"), "java.>": (">", "<="),
    "java.entry": ("in", "not_in"), "java.among": ("isinstance", "not_in"), "java.number": ("truth", "not"),
    "java.matches": ("regex", "not_regex"),
    "java.>=": (">=", "<"), "java.near": ("almost", "not_almost"), "java.raises": ("raises", "raises"),
}  # fmt: skip
"""What Python calls an operator, and its contrary; all others compare for equality."""
_BY_NAME = operator_by(_OPERATORS)
_ERRORS = ("IllegalArgumentException", "IllegalStateException", "NullPointerException", "RuntimeException")


def _operator(site: Site) -> str:
    """What Python calls an operator; one that one of several values satisfies is as easy as a class."""
    return "isinstance" if site.options.get("any") else _BY_NAME(site)


def function_of_test(test_id: str, sources: Mapping[str, str] | None = None) -> str:
    """The method that a test is of, whatever it is given and whichever of its rows it is.

    Of `sources` it is that of the class which the file's own extends, where only that has it.
    """
    match = _TEST.fullmatch(test_id)
    if match is None:
        return test_id
    path, name = match["path"], match["name"]
    declared = re.compile(rf"\bvoid\s+{re.escape(name.rpartition('::')[2])}\s*\(")
    rest = dict(sources or {})
    while (text := rest.pop(path, None)) is not None and not declared.search(text):
        base = _EXTENDED.search(text)
        inner = [other for other in rest if base and other.endswith(f"/{base[1]}.java")]
        if len(inner) != 1:
            break
        [path] = inner
    return f"{path}::{name}"


def _message(expected: Expected) -> Any:
    return next((kept for kept in expected.kept if kept[2] and kept[2][0] == "s"), None)


def _encoded(value: Any) -> Any:
    return ["java", type(value) in (bool, int, float), _within(value)]


def _within(value: Any) -> Any:
    match value:
        case None:
            return None
        case bool():
            return ["b", value]
        case int():
            return ["i", "Integer" if abs(value) < 1 << 31 else "Long", str(value)]
        case float():
            return ["f", "Double", re.sub(r"e\+?", "E", repr(value).replace("inf", "Infinity").replace("nan", "NaN"))]
        case str():
            return ["s", value]
        case bytes() | bytearray():
            return ["B", bytes(value).hex()]
        case list() | tuple():
            return ["l", [_within(item) for item in value]]
        case set():
            return ["t", [_within(item) for item in value]]
        case dict():
            return ["m", [[_within(key), _within(inner)] for key, inner in value.items()]]
    raise TypeError(type(value).__name__)


def _values(node: Node) -> Iterator[Any]:
    for part in walk(node):
        if part.type in LITERALS or part.type in _MANY or name_of(part) in _ROWS:
            with suppress(ValueError, SyntaxError, AttributeError):
                yield _value(part)


def _value(node: Node) -> Any:
    node = bare(node)
    text = text_of(node)
    if node.type in _WORDS:
        return _WORDS[node.type]
    if node.type in NUMBERS:
        return _number(text.replace("_", ""))
    match node.type:
        case "string_literal" | "character_literal":
            return _unescaped(text)
        case "unary_expression" if text.startswith("-"):
            return -_value(named(node)[0])
        case "array_initializer":
            return [_value(child) for child in named(node)]
        case "element_value_array_initializer":
            return [[cell.strip(" '") for cell in _value(child).split(",")] for child in named(node)]
        case "method_invocation" if name_of(node) in _ROWS:
            return [_value(child) for child in arguments_of(node)]
        case "array_creation_expression" if (inner := node.child_by_field_name("value")) is not None:
            return _value(inner)
        case "class_literal":
            return text.removesuffix(".class")
    raise ValueError("not a literal")


def _number(text: str) -> int | float:
    if text[:2].lower() in ("0x", "0b"):
        return int(text.rstrip("lL"), 0)
    whole = text.rstrip("lL")
    if whole.isdigit():
        return int(whole, 8 if whole.startswith("0") and len(whole) > 1 else 10)
    return float(text.rstrip("fFdD"))


def _unescaped(text: str) -> str:
    if text.startswith('"""'):
        return text[3:-3]
    with suppress(ValueError, SyntaxError):
        return str(ast.literal_eval(text))
    return text[1:-1]


def _calls(source: str) -> Iterator[tuple[int, str, Iterator[Any]]]:
    for node in walk(parse(source.encode())):
        if node.type != "method_invocation" or text_of(node.child_by_field_name("object")) != HAND_OUT:
            continue
        if name_of(node) in ("values", "equal", "same", "raised", "thrown"):
            number, *operands = arguments_of(node)
            literals = (value for part in operands if part.type != "null_literal" for value in _values(part))
            yield int(text_of(number)), next(iter(function_of(node)[-1:]), ""), literals


def _columns(source: str) -> Iterator[list[Any]]:
    return values_together(parse(source.encode()), _values, arguments_of, METHODS, HAND_OUT)


def _saying(text: str) -> Iterable[tuple[str, Any]]:
    for name in _ERRORS:
        chain = [f"java.lang.{one}" for one in dict.fromkeys((name, "RuntimeException", "Exception", "Throwable"))]
        yield name, ["java", False, ["E", chain, text]]


def _shortened(error: Any, letters: int) -> Any:
    tag, names, message = error[2]
    return ["java", False, [tag, names, message[:letters]]]


READING = Reading(
    written=lambda text: _values(parse(text.encode())),
    handed=lambda _path, source: handed_literals(_calls(source)),
    decode=lambda encoded: as_python(values.decode(encoded, kept=True)),
    encode=_encoded,
    errors=_saying,
    shortened=_shortened,
    operator=_operator,
    message=_message,
    function=function_of_test,
    columns=_columns,
)
