"""What is written out in stripped tests of JavaScript, for guessing what they expect."""

from __future__ import annotations

import itertools
import json
import math
import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import Any

from tree_sitter import Node

from harness.core.expectations import Expected, Site
from harness.core.syntax import field_of, field_text, named, text_of, walk, words
from harness.judging import values
from harness.judging.javascript import values as javascript
from harness.languages.javascript.source import FUNCTIONS, arguments_of, parse
from miner.languages.guessing.reading import Reading, operator_by
from miner.languages.javascript.stripping.libraries import is_test
from miner.languages.javascript.stripping.scopes import Scopes
from miner.languages.javascript.stripping.source import HAND_OUT, titles
from miner.languages.javascript.stripping.static import bare
from miner.languages.stripping.literals import negated, values_in, values_together

_WORDS = {"true": True, "false": False, "null": None, "undefined": None}
_VALUES = words("string template_string number array object unary_expression") | _WORDS.keys()
_ERRORS = ("Error", "TypeError", "RangeError", "SyntaxError", "ReferenceError")
_OPERATORS = {
    "js.truth": ("truth", "not"), "js.defined": ("is_not", "is"), "js.match": ("regex", "not_regex"),
    "js.contain": ("in", "not_in"), "js.contain_equal": ("in", "not_in"), "js.close": ("almost", "not_almost"),
    "js.instance": ("isinstance", "not_isinstance"), "js.raises": ("raises", "raises"), "js.called": ("in", "not_in"),
    **{f"js.{sign}": (sign, "!=") for sign in ("<", "<=", ">", ">=")},
}  # fmt: skip
"""What Python calls an operator, and its contrary; all others compare for equality."""


_SHOWN = re.compile(r'"((?:[^"\\]|\\.)*)"|(-?\d[\w.+-]*)|\b(true|false|null|undefined)\b')
"""What a snapshot shows of a value, apart from its structure."""


_EMPTY = re.compile(r"(?:\w+ )?(?:\{\}|\[\])")
"""What a snapshot shows of an empty container."""


_OF_BYTES = ("Uint8Array", "Uint8ClampedArray", "Buffer", "ArrayBuffer", "DataView")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MOST_LITERALS = 200
"""Of one test."""


def _sought(site: Site, kept: list[Any]) -> list[Any]:
    match site.op, kept:
        case "js.snapshot", [str(text), *_] if "by" not in site.options:
            parts = [next(filter(None, found), "") for found in _SHOWN.findall(text)]
            return [parts if parts or _EMPTY.fullmatch(text.strip()) else text]
        case "js.close", [wanted, *digits]:
            near = 10.0 ** -(digits[0] if digits and isinstance(digits[0], int) else 2) / 2
            return [values.Approx(expected=wanted, abs=near)]
        case "js.lint", [dict(wanted)]:
            return _texts_of_case(wanted.get("errors"), wanted.get("output"))
    return kept


def _texts_of_case(messages: Any, output: Any) -> list[Any]:
    """What messages of a linter say and what their fixes make: where they are found follows from the code."""
    listed = messages if isinstance(messages, list) else []
    texts = [error.get("messageId") or error.get("message") if isinstance(error, dict) else error for error in listed]
    return [text for text in (*texts, output) if isinstance(text, str | values.Pattern)]


def _message(expected: Expected) -> Any:
    """What an error is to say, where an assertion asks for that."""
    for encoded in expected.kept:
        value = values.decode(encoded, kept=True)
        if isinstance(value, str) or (isinstance(value, javascript.Object) and value.tag in ("R", "O", "E")):
            return encoded
    return None


def _as_python(value: Any) -> Any:
    """A value as Python would have it, of a matcher what it is made of; None for what has no form there."""
    match value:
        case javascript.Matcher(inverse=False, sample=javascript.Object() as sample):
            return _as_python(sample)
        case javascript.Object(tag="R"):
            return values.Pattern(pattern=value.text[0])
        case javascript.Object(tag="O" | "M"):
            return _of_pairs(value.props if value.tag == "O" else value.items)
        case javascript.Object(tag="D"):
            return math.nan if value.text == ("NaN",) else _EPOCH + timedelta(milliseconds=int(value.text[0]))
        case javascript.Object(tag="E"):
            return " ".join(value.text)
        case javascript.Object(tag="T"):
            return _of_typed_array(value)
        case javascript.Object():
            return [_as_python(item) for item in value.items]
        case float() if value.is_integer():
            return int(value)
    return value if isinstance(value, str | int | float) else None


def _of_pairs(pairs: Iterable[tuple[Any, Any]]) -> Any:
    """A mapping; of what a linter said of a case what is sought of it, as one is near the other."""
    mapping = {key if isinstance(key, str) else repr(key): _as_python(inner) for key, inner in pairs}
    if {"messages", "isFixed"} <= mapping.keys():
        return _texts_of_case(mapping["messages"], mapping.get("output"))
    return mapping


def _of_typed_array(array: javascript.Object) -> Any:
    """What a typed array or buffer holds: bytes, or numbers."""
    numbers = [_as_python(float(item)) for item in array.items]
    return bytes(numbers) if array.name in _OF_BYTES else numbers


def _within(value: Any) -> Any:
    match value:
        case None | bool():
            return value
        case int() | float():
            return ["N", json.dumps(value).replace("-0.0", "-0").removesuffix(".0")]
        case str():
            return ["s", value]
        case bytes():
            return ["T", "Uint8Array", [str(byte) for byte in value], []]
        case datetime():
            return ["D", "Date", str((value - _EPOCH) // timedelta(milliseconds=1)), []]
        case list() | tuple():
            return ["a", "Array", [_within(item) for item in value], []]
        case set():
            return ["S", "Set", [_within(item) for item in value], []]
        case dict():
            return ["O", "Object", [[["s", str(key)], _within(inner)] for key, inner in value.items()]]
    raise TypeError(type(value).__name__)


def _parsed(text: str) -> Node:
    """A source by the first grammar that reads it, as nothing tells its name.

    Raises:
        ValueError: none does.

    """
    for path in ("a.js", "a.ts"):
        with suppress(ValueError):
            return parse(text.encode(), path)
    return parse(text.encode(), "a.tsx")


def _values(node: Node) -> Iterator[Any]:
    return values_in(node, _VALUES, value_of)


def value_of(node: Node) -> Any:
    """What a literal stands for; raises ValueError of anything else."""
    node = bare(node)
    text = text_of(node)
    children = named(node)
    match node.type:
        case "string" | "template_string":
            return _unescaped(text[1:-1])
        case "number":
            return _number(text.replace("_", "").rstrip("n"))
        case "unary_expression" if text.startswith("-"):
            return negated(value_of(children[0]))
        case "array":
            return [value_of(child) for child in children]
        case "object":
            return {_unquoted(child): value_of(_named(child, "value")) for child in children}
    if node.type in _WORDS:
        return _WORDS[node.type]
    raise ValueError("not a literal")


def _number(text: str) -> Any:
    return int(text, 0) if re.fullmatch(r"0[xob]\w+|[1-9]\d*|0", text, re.IGNORECASE) else float(text)


def _named(node: Node, field: str) -> Node:
    child = field_of(node, field)
    if child is None:
        raise ValueError("not a pair")
    return child


def _unquoted(pair: Node) -> str:
    return text_of(_named(pair, "key")).strip("\"'")


def _unescaped(text: str) -> str:
    with suppress(ValueError):
        return str(json.loads('"' + text.replace("\\'", "'").replace('"', '\\"').replace("\n", "\\n") + '"'))
    return text


def _handed(path: str, source: str) -> tuple[dict[int, tuple[Any, ...]], dict[str, tuple[Any, ...]]]:
    """By slot what is written out in what is handed out there, by test what is in all of it."""
    slots: dict[int, tuple[Any, ...]] = {}
    tests: dict[str, tuple[Any, ...]] = {}
    root = parse(source.encode(), path)
    scopes = Scopes(root)
    for node in walk(root):
        if node.type != "call_expression":
            continue
        if field_text(node, "function") == HAND_OUT:
            number, *given = arguments_of(node)
            slots[int(text_of(number))] = tuple(value for part in given for value in _values(part))
        elif is_test(node):
            name = "".join(titles(node, scopes))
            written = (value for part in arguments_of(node)[1:] for value in _values(part))
            tests[name] = (*tests.get(name, ()), *itertools.islice(written, _MOST_LITERALS))
    return slots, tests


def _saying(text: str) -> Iterable[tuple[str, Any]]:
    for name in _ERRORS:
        chain = [name] if name == "Error" else [name, "Error"]
        yield name, ["js", ["E", chain, name, text, [], []]]


READING = Reading(
    written=lambda text: _values(_parsed(text)),
    columns=lambda source: values_together(_parsed(source), _values, arguments_of, FUNCTIONS, HAND_OUT),
    handed=_handed,
    decode=lambda encoded: _as_python(values.decode(encoded, kept=True)),
    encode=lambda value: ["js", _within(value)],
    errors=_saying,
    shortened=lambda error, letters: ["js", [*error[1][:3], error[1][3][:letters], [], []]],
    operator=operator_by(_OPERATORS),
    sought=_sought,
    message=_message,
)
