"""What attributes give the parameters of a test in Rust: the cases of rstest and test_case. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from tree_sitter import Node

from harness.core.syntax import field_of, named, text_of, walk
from miner.languages.rust.stripping.scopes import attributes_of, opened

_CASE, _TEST_CASE = re.compile(r"case(?:::\w+)?"), re.compile(r"(?:test_case::)?test_case")
_BEFORE = b"const F:()="

Cases = dict[int, "Mapping[int, Sequence[Node]]"]
"""By the id of a function and the place of a parameter: what it is given, case by case."""


def cases_in(source: bytes, root: Node) -> Cases:
    """Those of a file, as far as they can be read; each byte stands where it does in the file."""
    functions = (node for node in walk(root) if node.type == "function_item")
    return {function.id: cells for function in functions if (cells := _cells_of(source, function))}


def _cells_of(source: bytes, function: Node) -> dict[int, list[Node]]:
    parameters = named(field_of(function, "parameters"))
    for form, has_name, places in (
        (_CASE, False, [place for place, node in enumerate(parameters) if _is_of_case(node)]),
        (_TEST_CASE, True, list(range(len(parameters)))),  # without a name, what it is given is the test's name
    ):
        trees = [tree for path, tree in map(_parts, attributes_of(function)) if form.fullmatch(path)]
        rows = [_row(source, tree, has_name=has_name) for tree in trees]
        if places and rows and all(len(row) == len(places) for row in rows):
            return {place: [row[index] for row in rows] for index, place in enumerate(places)}
    return {}


def _is_of_case(parameter: Node) -> bool:
    attributes = [child for child in parameter.children if child.type == "attribute_item"] or attributes_of(parameter)
    return any("".join(text_of(attribute).split()) == "#[case]" for attribute in attributes)


def _parts(attribute: Node) -> tuple[str, Node | None]:
    """The path of an attribute, and what it is given."""
    inner = next(iter(attribute.named_children), None)
    tree = field_of(inner, "arguments")
    return text_of(named(inner)[0]) if inner is not None and named(inner) else "", tree


def _row(source: bytes, tree: Node | None, *, has_name: bool) -> list[Node]:
    """The cells that an attribute gives, and a name behind them; none where it gives them in another form."""
    signs = [child for child in tree.children if text_of(child) in (";", "=>")] if tree is not None else []
    if tree is None or tree.start_byte < len(_BEFORE) or [text_of(sign) for sign in signs] != [";"] * has_name:
        return []
    start, end = tree.start_byte, signs[0].start_byte if signs else tree.end_byte - 1
    text = bytearray(byte if byte in b"\n" else 32 for byte in source)
    text[start:end] = source[start:end]
    text[start - len(_BEFORE) : start + 1] = _BEFORE + b"["
    text[end : end + 2] = b"];"
    try:
        root = opened(bytes(text))[1]
    except ValueError:
        return []
    arrays = (node for node in walk(root) if node.type == "array_expression" and node.start_byte == start)
    array = next(arrays, None)
    return named(array) if array is not None and field_of(array, "length") is None else []
