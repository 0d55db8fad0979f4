"""What a test file's own macros in Rust assert of what they are given. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from miner.languages.rust.stripping.scopes import ASSERTIONS, arguments_of, modules_around, parse
from miner.languages.syntax import text_of, walk

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from tree_sitter import Node

    from miner.languages.rust.stripping.scopes import Scopes

_SEPARATORS = frozenset({",", "=>", ";"})
_EXPRESSIONS = frozenset({"expr", "literal", "tt", "ident"})
_BEFORE, _BEHIND = b"const F:()=", b";"


@dataclass(frozen=True, kw_only=True)
class Macro:
    """A macro of one rule, all of whose calls in its file are read."""

    body: Node
    arguments: Mapping[str, tuple[Node, ...]]
    """By the name of a parameter, with `_` in place of `$`: what each call gives it."""
    modules: tuple[str, ...]
    """The modules around its calls."""
    assertions: tuple[Node, ...]
    """The calls in it that assert something, as expressions; each byte stands where it does in the file."""

    def occurrences(self, parameter: str) -> list[Node]:
        """Where a parameter is used in the body."""
        name = f"${parameter[1:]}"
        return [node for node in walk(self.body) if node.type == "metavariable" and text_of(node) == name]


def macros_in(source: bytes, root: Node, scopes: Scopes) -> dict[str, Macro]:
    """Those of a file by name, as far as they can be read; `root` is of the opened source."""
    definitions: dict[str, list[Node]] = {}
    for node in walk(root):
        if node.type == "macro_definition":
            definitions.setdefault(text_of(node.child_by_field_name("name")), []).append(node)
    macros = {name: _macro(source, nodes, scopes.calls.get(f"{name}_", [])) for name, nodes in definitions.items()}
    return {name: macro for name, macro in macros.items() if macro is not None}


def _macro(source: bytes, definitions: Sequence[Node], calls: Sequence[Node]) -> Macro | None:
    rules = [child for node in definitions for child in node.children if child.type == "macro_rule"]
    modules = {tuple(modules_around(call)) for call in calls}
    pattern, body = (rules[0].child_by_field_name(word) for word in ("left", "right")) if rules else (None, None)
    if len(rules) != 1 or len(modules) != 1 or pattern is None or body is None:
        return None
    segments = segments_of(pattern)
    if any(len(arguments_of(call)) != len(segments) for call in calls):
        return None
    assertions = tuple(_assertions(source, body))
    if any(assertion is None for assertion in assertions):
        return None
    arguments = {
        f"_{text_of(parts[0].child_by_field_name('name'))[1:]}": tuple(arguments_of(call)[place] for call in calls)
        for place, parts in enumerate(segments)
        if len(parts) == 1
        and parts[0].type == "token_binding_pattern"
        and text_of(parts[0].child_by_field_name("type")) in _EXPRESSIONS
    }
    read = tuple(assertion for assertion in assertions if assertion is not None)
    return Macro(body=body, arguments=arguments, modules=modules.pop(), assertions=read)


def segments_of(tree: Node) -> list[list[Node]]:
    """The parts of a macro's pattern, or of what it is given, between commas and the like."""
    segments: list[list[Node]] = [[]]
    for node in tree.children[1:-1]:
        if node.type in _SEPARATORS:
            segments.append([])
        else:
            segments[-1].append(node)
    return segments if segments[-1] else segments[:-1]


def _assertions(source: bytes, body: Node) -> Iterator[Node | None]:
    """The assertions in the tokens of a macro's body; None for one that can't be read."""
    for node in walk(body):
        if node.type != "token_tree":
            continue
        for name, mark, tree in zip(node.children, node.children[1:], node.children[2:], strict=False):
            if text_of(name) in ASSERTIONS and text_of(mark) == "!" and tree.type == "token_tree":
                yield _as_call(source, name, tree)


def _as_call(source: bytes, name: Node, tree: Node) -> Node | None:
    start, end = name.start_byte, tree.end_byte
    text = bytearray(byte if byte in b"\n" else 32 for byte in source)
    text[start:end] = source[start:end].replace(b"$", b"_")
    text[name.end_byte : tree.start_byte] = b"_" + b" " * (tree.start_byte - name.end_byte - 1)
    text[start - len(_BEFORE) : start] = _BEFORE
    text[end : end + len(_BEHIND)] = _BEHIND
    try:
        root = parse(bytes(text))
    except ValueError:
        return None
    calls = (node for node in walk(root) if node.type == "call_expression" and node.start_byte == start)
    return next((node for node in calls if node.end_byte == end), None)
