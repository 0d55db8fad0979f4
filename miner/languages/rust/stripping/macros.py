"""What a test file's own macros in Rust assert of what they are given. Pure."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from tree_sitter import Node

from harness.core.grouping import grouped
from harness.core.syntax import (
    Place,
    arguments_of,
    covers,
    field_of,
    field_text,
    is_in,
    place_of,
    text_of,
    upward,
    walk,
    words,
)
from miner.languages.rust.stripping.matching import Pairs, matched
from miner.languages.rust.stripping.scopes import ASSERTIONS, Scopes, parse, parts_of
from miner.languages.rust.stripping.static import cell_of

_EXPRESSIONS = frozenset({"expr", "literal", "tt", "ident"})
_CALLING = words("macro_definition macro_invocation token_tree scoped_identifier")
_BLANKS = bytes(byte if byte in b"\n" else 32 for byte in range(256))
"""By its number: what is left of a byte where only lines count."""
_BEFORE, _BEHIND = b"const F:()=", b";"


@dataclass(frozen=True, kw_only=True)
class Macro:
    """A rule of a macro, all of whose calls in its file are read."""

    body: Node
    arguments: Mapping[str, Sequence[Node]]
    """By the name of a parameter, with `_` in place of `$`: what each call gives it, as often as it is repeated. By a
    name that the body binds to a part of one: that part."""
    names: Mapping[str, Node]
    """By a name that the body binds once to something else: that."""
    calls: Mapping[int, Node]
    """By the id of an argument that is read apart from the file: where it is given."""
    is_block: bool
    """Whether the body is read as a block, and so what says that an assertion in it is come to."""
    modules: tuple[Node | None, ...]
    """The modules around its calls, the innermost of each; None for the file."""
    assertions: tuple[Node, ...]
    """The calls in it that assert something, as expressions; each byte stands where it does in the file."""

    def occurrences(self, name: str) -> list[Node]:
        """Where a parameter or a name is used in the body."""
        kind, name = ("metavariable", f"${name[1:]}") if name.startswith("_") else ("identifier", name)
        uses = [node for node in walk(self.body) if node.type == kind and text_of(node) == name]
        return uses if kind == "metavariable" else uses[1:]


def module_of(node: Node) -> Node | None:
    """The innermost module of the file that a node is in."""
    return next((at for at in upward(node.parent) if at.type == "mod_item"), None)


class Macros:
    """Reads the macros of one file."""

    def __init__(self, source: bytes, opened: bytes, root: Node, scopes: Scopes) -> None:
        """`root` is of the `opened` source."""
        self._opened, self._root, self._scopes = opened, root, scopes
        self._tokens = parse(source) if b"macro_rules!" in source else root

    def read(self) -> dict[str, list[Macro]]:
        """The rules of each that can be read, by its name."""
        definitions = _named(walk(self._root), "macro_definition", "name")
        calls = _named(walk(self._tokens, ("macro_definition",)), "macro_invocation", "macro")
        closed = _named(walk(self._root, ("macro_definition",)), "macro_invocation", "macro")
        mentions = Counter(name for node in walk(self._root, ("use_declaration",)) for name in _names_called(node))
        read: dict[str, list[Macro]] = {}
        for name, nodes in definitions.items():
            others, placed = len(closed.get(name, ())), calls.get(name, [])
            is_called_by_none = mentions[name] == len(nodes) + others  # no other macro
            if is_called_by_none and len(placed) == others + len(self._scopes.calls.get(f"{name}_", ())):
                read[name] = self._rules(nodes, placed)
        return {name: rules for name, rules in read.items() if rules}

    def _rules(self, definitions: Sequence[Node], calls: Sequence[Node]) -> list[Macro]:
        """The rules of macros of one name that are called; none where one of these, or a call, can't be read."""
        by_rule: dict[int, tuple[Node, list[tuple[Node, Pairs]]]] = {}
        for call in calls:
            tree = next((child for child in call.children if child.type == "token_tree"), None)
            definition = _seen(definitions, call)
            if tree is None or definition is None:
                return []
            rules = [child for child in definition.children if child.type == "macro_rule"]
            matching = [(rule, pairs) for rule in rules if (pairs := matched(rule, tree)) is not None]
            if len(matching) != 1:
                return []
            rule, pairs = matching[0]
            by_rule.setdefault(rule.id, (rule, []))[1].append((call, pairs))
        read = [self._rule(rule, matches) for rule, matches in by_rule.values()]
        return [rule for rule in read if rule is not None] if None not in read else []

    def _rule(self, rule: Node, matches: Sequence[tuple[Node, Pairs]]) -> Macro | None:
        body = field_of(rule, "right")
        if body is None:
            return None
        block = _as_block(self._opened, body)
        assertions = list(_assertions(self._opened, body, block))
        if None in assertions:
            return None
        bindings = [node for node in walk(rule) if node.type == "token_binding_pattern"]
        kinds = {field_text(node, "name"): field_text(node, "type") for node in bindings}
        placed = [
            (name, self._expression(place), call)
            for call, pairs in matches
            for name, place in pairs
            if kinds[name] in _EXPRESSIONS
        ]
        expressions = grouped((f"_{name[1:]}", node) for name, node, _ in placed)
        arguments = {name: list(filter(None, nodes)) for name, nodes in expressions.items() if None not in nodes}
        parts, names = _bound_names(body, block, arguments) if block is not None else ({}, {})
        modules = {
            place_of(module) if module is not None else None: module
            for module in (module_of(call) for call, _ in matches)
        }
        if len(modules) > 1 and any(map(_has_inner_words, modules.values())):
            return None  # nothing may be imported in front of these
        return Macro(
            body=body,
            arguments={**arguments, **parts},
            names=names,
            calls={node.id: self._at(call) for _, node, call in placed if node is not None},
            is_block=block is not None,
            modules=tuple(modules.values()),
            assertions=tuple(assertion for assertion in assertions if assertion is not None),
        )

    def _at(self, call: Node) -> Node:
        """Where a call stands in the tree of the file."""
        return self._root.descendant_for_byte_range(call.start_byte, call.end_byte) or call

    def _expression(self, place: Place) -> Node | None:
        """What stands in a place, as an expression; None where it is none."""
        node = self._root.descendant_for_byte_range(*place)
        if node is None or place_of(node) != place or any(at.type == "token_tree" for at in upward(node)):
            root = _parsed(_alone(self._opened, *place))
            node = root.descendant_for_byte_range(*place) if root is not None else None
        return node if node is not None and place_of(node) == place else None


def _has_inner_words(module: Node | None) -> bool:
    """Whether a module has attributes or documentation of its own within."""
    body = field_of(module, "body")
    parts = body.children if body is not None else []
    return any(part.type == "inner_attribute_item" or text_of(part).startswith(("//!", "/*!")) for part in parts)


def _named(nodes: Iterator[Node], kind: str, field: str) -> dict[str, list[Node]]:
    return grouped((field_text(node, field), node) for node in nodes if node.type == kind)


def _seen(definitions: Sequence[Node], call: Node) -> Node | None:
    """The definition that a call means: the last one in front of it, in what is around it."""
    before = [node for node in definitions if node.end_byte <= call.start_byte and node.parent is not None]
    around = [node for node in before if node.parent is not None and covers(place_of(node.parent), place_of(call))]
    return around[-1] if around else None


def _bound_names(
    body: Node, block: Node, arguments: Mapping[str, Sequence[Node]]
) -> tuple[dict[str, list[Node]], dict[str, Node]]:
    """The names that a body binds once: the parts of parameters that some are, and what others are set to."""
    uses = Counter(text_of(node) for node in walk(body) if node.type in ("metavariable", "identifier"))
    bindings = Scopes(block).bindings()
    asserted = [(name.start_byte, tree.end_byte) for name, tree in _asserting(body)]
    often = Counter(binding.name for binding in bindings)
    parts: dict[str, list[Node]] = {}
    names: dict[str, Node] = {}
    for binding in bindings:
        is_alone = often[binding.name] == 1 and uses[binding.name] == len(binding.uses) + 1
        is_shown = not all(is_in(text, asserted) for text in binding.shown)
        if binding.kind != "local" or binding.is_written or is_shown or not is_alone:
            continue
        if binding.init is not None:
            names[binding.name] = binding.init
            continue
        pattern, value = (field_of(binding.statement, word) for word in ("pattern", "value"))
        steps = next((steps for name, _, steps in parts_of(pattern, value) if name == binding.declared), None)
        if steps and value is not None and uses[f"${text_of(value)[1:]}"] == 1:
            cells = [cell_of(row, steps) for row in arguments.get(text_of(value), ())]
            parts |= {binding.name: list(filter(None, cells))} if cells and None not in cells else {}
    return parts, names


def _names_called(node: Node) -> Iterator[str]:
    """The names that a node says a macro may be called by, as no variable does."""
    if node.type == "use_declaration" and re.search(r"\bas\b", text_of(node)):
        yield from re.findall(r"\w+", text_of(node))
    elif node.type == "identifier" and node.parent is not None and node.parent.type in _CALLING:
        yield text_of(node)


def _assertions(opened: bytes, body: Node, block: Node | None) -> Iterator[Node | None]:
    """The assertions in the tokens of a macro's body, with what is around them as far as that is read as a block.

    None for one that can't be read.
    """
    for name, tree in _asserting(body):
        start, end = name.start_byte, tree.end_byte
        call = _call_at(block or _parsed(_with_calls(_alone(opened, start, end), [(name, tree)])), start, end)
        sides = arguments_of(call)[: 2 if text_of(name).endswith(("eq", "ne")) else 1] if call is not None else []
        repeated = [place_of(node) for node in walk(tree) if node.type == "token_repetition"]
        yield None if any(is_in(side, repeated) for side in sides) else call


def _asserting(body: Node) -> Iterator[tuple[Node, Node]]:
    """The names of the assertions in the tokens of a macro's body, and what each is given."""
    for node in walk(body):
        if node.type not in ("token_tree", "token_repetition"):
            continue
        for name, mark, tree in zip(node.children, node.children[1:], node.children[2:], strict=False):
            if text_of(name) in ASSERTIONS and text_of(mark) == "!" and tree.type == "token_tree":
                yield name, tree


def _as_block(opened: bytes, body: Node) -> Node | None:
    """What a macro's body is read as, its assertions as calls; None where it is no block, or other macros have some."""
    text = _alone(opened, *place_of(body))
    text[body.start_byte : body.start_byte + 1], text[body.end_byte - 1 : body.end_byte] = b"{", b"}"
    for node in walk(body):
        if node.type == "token_repetition":  # what is repeated stands there once
            end = max(child.start_byte for child in node.children if child.type == ")")
            for at in (node.start_byte, node.start_byte + 1, end, node.end_byte - 1):
                text[at : at + 1] = b" "
    calls = list(_asserting(body))
    root = _parsed(_with_calls(text, calls))
    is_read = all(_call_at(root, name.start_byte, tree.end_byte) is not None for name, tree in calls)
    return root if is_read else None


def _with_calls(text: bytearray, calls: Sequence[tuple[Node, Node]]) -> bytearray:
    for name, tree in calls:
        text[name.end_byte : tree.start_byte] = b"_".ljust(tree.start_byte - name.end_byte)
    return text


def _alone(source: bytes, start: int, end: int) -> bytearray:
    """A stretch of a source as the value of a constant, each byte in its place; parameters of macros as names."""
    text = bytearray(source.translate(_BLANKS))
    text[start:end] = source[start:end].replace(b"$", b"_")
    text[start - len(_BEFORE) : start] = _BEFORE
    text[end : end + len(_BEHIND)] = _BEHIND
    return text


def _parsed(text: bytearray) -> Node | None:
    try:
        return parse(bytes(text))
    except ValueError:
        return None


def _call_at(root: Node | None, start: int, end: int) -> Node | None:
    calls = (node for node in walk(root) if node.type == "call_expression" and node.start_byte == start)
    return next((node for node in calls if node.end_byte == end), None)
