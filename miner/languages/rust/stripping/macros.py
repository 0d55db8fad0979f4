"""What a test file's own macros in Rust assert of what they are given. Pure."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from tree_sitter import Node

from harness.core.grouping import grouped
from harness.core.syntax import arguments_of, field_of, field_text, text_of, walk, words
from miner.languages.rust.stripping.scopes import ASSERTIONS, Scopes, modules_around, parse

_SEPARATORS = frozenset({",", "=>", ";", ":"})
_EXPRESSIONS = frozenset({"expr", "literal", "tt", "ident"})
_CALLING = words("macro_definition macro_invocation token_tree scoped_identifier")
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
    definitions = grouped((field_text(node, "name"), node) for node in walk(root) if node.type == "macro_definition")
    calls = {name: [(call, modules_around(call)) for call in scopes.calls.get(f"{name}_", [])] for name in definitions}
    places = {name: len(nodes) for name, nodes in definitions.items()}
    for node in walk(root, ("macro_definition",)):
        name = field_text(node, "macro") if node.type == "macro_invocation" else ""
        trees = [child for child in node.children if child.type == "token_tree"]
        if name in calls and trees:  # among a module's items
            places[name] += 1
            call = _as_call(source, node.children[0], trees[0], separators=_SEPARATORS)
            calls[name] += [(call, modules_around(node))] if call is not None else []
    mentions = Counter(name for node in walk(root, ("use_declaration",)) for name in _names_called(node))
    macros = {
        name: _macro(source, nodes, calls[name])
        for name, nodes in definitions.items()
        if mentions[name] == places[name]  # no other macro calls it
    }
    return {name: macro for name, macro in macros.items() if macro is not None}


def _macro(source: bytes, definitions: Sequence[Node], placed: Sequence[tuple[Node, list[str]]]) -> Macro | None:
    rules = [child for node in definitions for child in node.children if child.type == "macro_rule"]
    modules, calls = {tuple(around) for _, around in placed}, [call for call, _ in placed]
    pattern, body = (field_of(rules[0], word) for word in ("left", "right")) if rules else (None, None)
    if len(rules) != 1 or len(modules) != 1 or pattern is None or body is None:
        return None
    segments = segments_of(pattern)
    if any(len(arguments_of(call)) != len(segments) for call in calls):
        return None
    assertions = tuple(_assertions(source, body))
    if any(assertion is None for assertion in assertions):
        return None
    arguments = {
        f"_{field_text(parts[0], 'name')[1:]}": tuple(arguments_of(call)[place] for call in calls)
        for place, parts in enumerate(segments)
        if len(parts) == 1 and parts[0].type == "token_binding_pattern" and field_text(parts[0], "type") in _EXPRESSIONS
    }
    read = tuple(assertion for assertion in assertions if assertion is not None)
    return Macro(body=body, arguments=arguments, modules=modules.pop(), assertions=read)


def _names_called(node: Node) -> Iterator[str]:
    """The names that a node says a macro may be called by, as no variable does."""
    if node.type == "use_declaration" and re.search(r"\bas\b", text_of(node)):
        yield from re.findall(r"\w+", text_of(node))
    elif node.type == "identifier" and node.parent is not None and node.parent.type in _CALLING:
        yield text_of(node)


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
    """The assertions in the tokens of a macro's body, with what is around them as far as that is read as a block.

    None for one that can't be read.
    """
    block = _as_block(source, body)
    for name, tree in _asserting(body):
        place = name.start_byte, tree.end_byte
        yield _call_at(block, *place) if block is not None else _as_call(source, name, tree)


def _asserting(body: Node) -> Iterator[tuple[Node, Node]]:
    """The names of the assertions in the tokens of a macro's body, and what each is given."""
    for node in walk(body):
        if node.type != "token_tree":
            continue
        for name, mark, tree in zip(node.children, node.children[1:], node.children[2:], strict=False):
            if text_of(name) in ASSERTIONS and text_of(mark) == "!" and tree.type == "token_tree":
                yield name, tree


def _as_block(source: bytes, body: Node) -> Node | None:
    """What a macro's body is read as, its assertions as calls; None where it is no block, or other macros have some."""
    text = _alone(source, body.start_byte, body.end_byte)
    places: list[tuple[int, int]] = []
    for name, tree in _asserting(body):
        text[name.end_byte : tree.start_byte] = b"_".ljust(tree.start_byte - name.end_byte)
        places.append((name.start_byte, tree.end_byte))
    try:
        root = parse(bytes(text))
    except ValueError:
        return None
    return root if all(_call_at(root, *place) is not None for place in places) else None


def _as_call(source: bytes, name: Node, tree: Node, separators: Collection[str] = ()) -> Node | None:
    start, end = name.start_byte, tree.end_byte
    text = _alone(source, start, end)
    text[name.end_byte : tree.start_byte] = b"_".ljust(tree.start_byte - name.end_byte)
    for part in tree.children:
        if part.type in separators:
            text[part.start_byte : part.end_byte] = b",".ljust(len(part.type))
    try:
        root = parse(bytes(text))
    except ValueError:
        return None
    return _call_at(root, start, end)


def _alone(source: bytes, start: int, end: int) -> bytearray:
    """A stretch of a source as the value of a constant, each byte in its place; parameters of macros as names."""
    text = bytearray(byte if byte in b"\n" else 32 for byte in source)
    text[start:end] = source[start:end].replace(b"$", b"_")
    text[start - len(_BEFORE) : start] = _BEFORE
    text[end : end + len(_BEHIND)] = _BEHIND
    return text


def _call_at(root: Node, start: int, end: int) -> Node | None:
    calls = (node for node in walk(root) if node.type == "call_expression" and node.start_byte == start)
    return next((node for node in calls if node.end_byte == end), None)
