"""What is written out in stripped tests of Java, for guessing what they expect."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from tree_sitter import Node

from harness.core.syntax import arguments_of, bare, field_of, field_text, named, text_of, walk, words
from harness.judging import values
from harness.judging.java.values import Value
from harness.judging.parts import Part, key_of
from miner.languages.guessing.reading import Reading, near, operator_by
from miner.languages.java.stripping.scopes import METHODS, function_of, name_of, parse
from miner.languages.java.stripping.source import HAND_OUT
from miner.languages.java.stripping.static import LITERALS, NUMBERS
from miner.languages.stripping.literals import handed_literals, negated, unescaped, values_in, values_together

if TYPE_CHECKING:
    from harness.core.expectations import Expected, Site

_WORDS: dict[str, Any] = {"true": True, "false": False, "null_literal": None}
_VALUES = LITERALS | words(
    "array_initializer array_creation_expression unary_expression element_value_array_initializer method_invocation"
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
    "java.matches": ("regex", "not_regex"), "java.kind": ("isinstance", "not_isinstance"),
    "java.>=": (">=", "<"), "java.near": ("almost", "not_almost"), "java.raises": ("raises", "raises"),
}  # fmt: skip
"""What Python calls an operator, and its contrary; all others compare for equality."""
_BY_NAME = operator_by(_OPERATORS)
_ERRORS = ("IllegalArgumentException", "IllegalStateException", "NullPointerException", "RuntimeException")


_OF_MESSAGES = {"equals": "==", "contains": "in", "starts": "startswith", "ends": "endswith"}
_WITH_DELTA = 3
"""Operands of arrays that may differ by the last."""


def _operator(site: Site) -> str:
    """What Python calls an operator; one that one of several values satisfies is as easy as a class."""
    if site.op == "java.message":
        return _OF_MESSAGES[str(site.options["by"])]
    return "isinstance" if site.options.get("any") and not site.options.get("not") else _BY_NAME(site)


def _sought(site: Site, values_kept: list[Any]) -> list[Any]:
    has_delta = site.op == "java.near" or (site.op == "java.arrays" and len(site.sides) == _WITH_DELTA)
    return near(values_kept) if has_delta else values_kept


def _claims(site: Site, expected: Expected) -> list[tuple[Site, Expected]]:
    """Of a chain each of its calls, of what contains several each of these."""
    parts: list[Any] = []
    if site.op == "java.chain" and not site.options.get("any"):
        parts = site.options["parts"]
    elif site.op == "java.contains" and not site.options.keys() & {"any", "of", "not"}:
        parts = [{"op": site.op, "count": 1, "options": site.options}] * len(expected.kept)
    if not parts or site.sides[:1] != ("out",):
        return [(site, expected)]
    claims: list[tuple[Site, Expected]] = []
    rest = expected.kept
    for part in parts:
        own, rest = rest[: part["count"]], rest[part["count"] :]
        site_of_part = replace(site, op=part["op"], sides=site.sides[: len(own) + 1], options=part["options"])
        claims.append((site_of_part, replace(expected, kept=own)))
    return claims


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


def _as_python(value: object) -> Any:
    """A value as Python would have it, for what only looks at texts, numbers and containers; None for anything else."""
    part = value.part if isinstance(value, Value) else value
    if not isinstance(part, Part):
        return None
    match part.tag:
        case "f":
            return int(part.plain) if part.plain.is_integer() else part.plain
        case "c":
            return chr(part.plain)
        case "e":
            return values.Record(name=part.kind, items=(part.plain,))
        case "K":
            return values.ClassName(name=part.kind)
        case "l" | "t" | "T" | "q" | "a":
            return [_as_python(item) for item in part.parts]
        case "O":
            return _as_python(part.parts[0]) if part.parts else None
        case "m" | "M":
            return {key_of(_as_python(key)): _as_python(inner) for key, inner in part.parts}
    return part.plain


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
    return values_in(node, _VALUES, value_of)


def value_of(node: Node) -> Any:
    """What a literal stands for; raises ValueError of anything else."""
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
            return negated(value_of(named(node)[0]))
        case "array_initializer":
            return [value_of(child) for child in named(node)]
        case "element_value_array_initializer":
            return [[cell.strip(" '") for cell in value_of(child).split(",")] for child in named(node)]
        case "method_invocation" if name_of(node) in _ROWS:
            return [value_of(child) for child in arguments_of(node)]
        case "array_creation_expression" if (inner := field_of(node, "value")) is not None:
            return value_of(inner)
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
    return text[3:-3] if text.startswith('"""') else unescaped(text)


def _calls(source: str) -> Iterator[tuple[int, str, Iterator[Any]]]:
    for node in walk(parse(source.encode())):
        if node.type != "method_invocation" or field_text(node, "object") != HAND_OUT:
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
    decode=lambda encoded: _as_python(values.decode(encoded, kept=True)),
    encode=_encoded,
    errors=_saying,
    shortened=_shortened,
    operator=_operator,
    sought=_sought,
    claims=_claims,
    message=_message,
    function=function_of_test,
    columns=_columns,
)
