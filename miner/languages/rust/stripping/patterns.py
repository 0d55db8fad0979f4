"""Literals and patterns of Rust, as the host compares what `Debug` says with them. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from tree_sitter import Node

from harness.core.syntax import bare, field_of, field_text, named, text_of, walk
from harness.judging.rust.values import unescaped
from miner.languages.rust.stripping.scopes import parse
from miner.languages.stripping.literals import negated

_ANY: list[Any] = ["any"]
_NAME = re.compile(r"[A-Z]\w*[a-z]\w*|[A-Z]")
"""Of a variant or a structure; what is all in capitals may be a constant."""
_LITERALS = {
    "integer_literal": "i", "float_literal": "f", "negative_literal": "", "string_literal": "s",
    "raw_string_literal": "s", "char_literal": "c", "boolean_literal": "b",
}  # fmt: skip
_WITHIN = frozenset({"reference_pattern", "ref_pattern", "mut_pattern"})
_BETWEEN = 2
_COMMENTS = ("line_comment", "block_comment")
_VARIANT = re.compile(r"[A-Z][A-Za-z0-9]*")
_RAW = re.compile(r"b?r#*\"(.*)\"#*", re.DOTALL)
_CONTINUED = re.compile(r"\\\n\s*")
_WIDTH = re.compile(r"_?[iu](?:8|16|32|64|128|size)$")
_SUFFIX = re.compile(r"_?(?:[iu](?:8|16|32|64|128|size)|f32|f64)$")


def value_of(node: Node) -> Any:
    """What a literal stands for; raises `ValueError` of anything else."""
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
        case "unary_expression" | "negative_literal" if text.startswith("-"):
            return negated(value_of(named(node)[0]))
        case "reference_expression":
            return value_of(named(node)[-1])
        case "array_expression" | "tuple_expression" if field_of(node, "length") is None:
            return [value_of(child) for child in named(node)]
        case "identifier" | "scoped_identifier" if _VARIANT.fullmatch(text.rpartition("::")[2]):
            return text.rpartition("::")[2] if text != "None" else None
    raise ValueError("not a literal")


def pattern_of(text: str) -> list[Any] | None:
    """A pattern in the host's form; None of one that has a condition, or that a name may change."""
    try:
        root = parse(f"fn f() {{ match x {{ {text} => {{}} }} }}".encode())
    except ValueError:
        return None
    patterns = [node for node in walk(root) if node.type == "match_pattern"]
    if len(patterns) != 1 or field_of(patterns[0], "condition") is not None:
        return None
    try:
        return _pattern(next(child for child in patterns[0].children if child.type not in _COMMENTS))
    except (ValueError, SyntaxError, StopIteration):
        return None


def with_types(pattern: list[Any], imports: Mapping[str, str]) -> list[Any]:
    """A pattern whose variants have their type in front of them where they are imported from it."""
    parts = [with_types(part, imports) if isinstance(part, list) else part for part in pattern]
    if parts[:1] in (["name"], ["tuple"], ["struct"]) and isinstance(parts[1], str):
        path = imports.get(parts[1], "")
        parts[1] = _last(path) if _NAME.fullmatch(path.rpartition("::")[2]) else parts[1]
    return parts


def _pattern(node: Node) -> list[Any]:
    text = text_of(node)
    if node.type in _LITERALS:
        return literal_of(node)
    if node.type == "_" or (node.type == "identifier" and (text[:1].islower() or text.startswith("_"))):
        return _ANY
    if node.type in ("identifier", "scoped_identifier"):
        return ["name", _last(text)]
    if node.type in _WITHIN:
        return _pattern([child for child in named(node) if child.type != "mutable_specifier"][-1])
    reads: Mapping[str, Callable[[Node], list[Any]]] = {
        "tuple_struct_pattern": _tuple, "tuple_pattern": _tuple, "slice_pattern": _tuple, "struct_pattern": _struct,
        "or_pattern": lambda node: ["or", [_pattern(child) for child in _parts(node)]], "range_pattern": _range,
        "captured_pattern": lambda node: _pattern(named(node)[-1]),
    }  # fmt: skip
    if node.type not in reads:
        raise ValueError("another form")
    return reads[node.type](node)


def _tuple(node: Node) -> list[Any]:
    kind = field_of(node, "type")
    parts = [child for child in _parts(node) if kind is None or child.id != kind.id]
    rest = [place for place, child in enumerate(parts) if child.type == "remaining_field_pattern"]
    inner = [_pattern(child) for child in parts if child.type != "remaining_field_pattern"]
    sign = "slice" if node.type == "slice_pattern" else "tuple"
    return [sign, _last(text_of(kind)) if kind is not None else "", inner, rest[0] if rest else None]


def _struct(node: Node) -> list[Any]:
    kind = field_of(node, "type")
    fields = [child for child in named(node) if kind is None or child.id != kind.id]
    patterns = [_field(field) for field in fields if field.type == "field_pattern"]
    if len(patterns) + sum(field.type == "remaining_field_pattern" for field in fields) != len(fields):
        raise ValueError("a field of another form")
    return ["struct", _last(text_of(kind)), patterns, len(patterns) != len(fields)]


def _parts(node: Node) -> Iterator[Node]:
    return (child for child in node.children if child.type == "_" or (child.is_named and child.type not in _COMMENTS))


def literal_of(node: Node) -> list[Any]:
    """A literal in the host's form; raises `ValueError` of anything else."""
    is_negative = node.type == "unary_expression" and text_of(node).startswith("-")
    if node.type not in _LITERALS and not (is_negative and named(node)[0].type in _LITERALS):
        raise ValueError("not a literal")
    value = value_of(node)
    kind = _LITERALS.get(node.type) or ("f" if isinstance(value, float) else "i")
    if isinstance(value, list):  # the bytes of b"…"
        return ["slice", "", [["i", byte] for byte in value], None]
    return ["i", ord(value)] if kind == "c" and text_of(node).startswith("b") else [kind, value]


def _field(field: Node) -> list[Any]:
    pattern = field_of(field, "pattern")
    return [field_text(field, "name"), _pattern(pattern) if pattern is not None else _ANY]


def _range(node: Node) -> list[Any]:
    sign = next(text_of(child) for child in node.children if not child.is_named)
    ends = [child for child in node.children if child.is_named]
    sides = [literal_of(end) for end in ends]
    is_open_above = len(ends) < _BETWEEN and text_of(node).endswith(sign)
    low = sides[0] if len(ends) == _BETWEEN or is_open_above else None
    high = None if is_open_above else sides[-1]
    return ["range", low, high, sign == "..="]


def _last(path: str) -> str:
    """The name of a structure, or of a variant with that of its type where that is written."""
    *before, name = re.sub(r"(?:::)?<.*", "", path).split("::")
    if not _NAME.fullmatch(name):
        raise ValueError("not a variant")
    return f"{before[-1]}::{name}" if before and is_type(before[-1]) else name


def is_type(name: str) -> bool:
    """Whether what stands in front of a name is a type, and not a module or what stands for one."""
    return _NAME.fullmatch(name) is not None and name not in ("Self", "Cow")
