"""Faults that can be put into a file that tree-sitter reads, by the names of mutmut's operators. Pure.

The text is edited at the ranges of nodes of the syntax tree, and nowhere else.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass

from tree_sitter import Node

from harness.core.syntax import field_of, is_field, text_of
from miner.languages.base import Fault, FaultySource

Change = tuple["Node", str]
"""A node, and what comes in its place."""
Operator = Callable[["Node"], Iterator[Change]]
"""Of a node, the changes that each is a fault."""

_SWAPS = (
    {"+": "-", "-": "+", "*": "/", "/": "*", "%": "/", "**": "*", "<<": ">>", ">>": "<<", ">>>": ">>"}
    | {"&": "|", "|": "&", "^": "&", "&&": "||", "||": "&&", "??": "&&", "++": "--", "--": "++"}
    | {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "==", "===": "!==", "!==": "==="}
)
_NUMBER = re.compile(r"\d+(?:\.\d+)?")
_QUOTED = re.compile(r"(b?)(\"(?!\"\")|'|`)(.*)\2", re.DOTALL)
_LETTERS = re.compile(r"\\(?:x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|u\{[0-9a-fA-F]+\}|.)|([^\\]+)", re.DOTALL)
_CODECS = re.compile(r"utf-?8|ascii|latin1|hex|base64(?:url)?|binary|ucs-?2|utf-?16le", re.IGNORECASE)
_NAMES = ("key", "field")
"""Fields of a node whose number is a name."""


@dataclass(frozen=True, kw_only=True)
class Mutations:
    """What can become of the nodes of a language."""

    operators: Mapping[str, tuple[tuple[str, Operator], ...]]
    """By the type of a node: operators with their names."""
    is_left_alone: Callable[[Node], bool]
    """What no test of behaviour would look at: types, imports, errors and what else is told to people."""
    name: Callable[[Node], str]
    """What a function or class is called; empty for other nodes."""

    def faulty(self, source: bytes, root: Node, changed: Collection[int]) -> FaultySource | None:
        """The faults of nodes on some lines; None where they are nested too deep. What is spared: docs/quality.md."""
        text = source.decode("utf-8", "surrogateescape")
        try:
            nodes = tuple(self._nodes(root, changed, ""))
        except RecursionError:
            return None
        is_ascii = text.isascii()

        def at(offset: int) -> int:
            return offset if is_ascii else len(source[:offset].decode("utf-8", "surrogateescape"))

        faults = (
            Fault(function=inside, node=number, operator=name, start=at(old.start_byte), end=at(old.end_byte), text=new)
            for number, (node, inside) in enumerate(nodes)
            for name, operator in self.operators.get(node.type, ())
            for old, new in operator(node)
            if new != text_of(old)
        )
        return FaultySource(text=text, encoding="utf-8", faults=tuple(faults))

    def _nodes(self, node: Node, changed: Collection[int], function: str) -> Iterator[tuple[Node, str]]:
        """Nodes on changed lines that may be mutated, each with the names of what it stands in."""
        if not any(node.start_point.row < line <= node.end_point.row + 1 for line in changed):
            return
        if self.is_left_alone(node):
            return
        yield node, function
        inside = f"{function}.{name}".lstrip(".") if (name := self.name(node)) else function
        for child in node.named_children:
            yield from self._nodes(child, changed, inside)


def number(node: Node) -> Iterator[Change]:
    """One more."""
    text = text_of(node)
    if any(is_field(node.parent, name, node) for name in _NAMES):
        return
    if _NUMBER.fullmatch(text) and not re.match(r"0\d", text):
        yield node, repr(float(text) + 1) if "." in text else str(int(text) + 1)
    else:
        yield node, f"({text} + {'1n' if text.endswith('n') else '1'})"


def string(node: Node) -> Iterator[Change]:
    """Letters around it."""
    if match := _QUOTED.fullmatch(text_of(node)):
        prefix, quote, inside = match.groups()
        yield node, f"{prefix}{quote}XX{inside}XX{quote}"


def cased_string(node: Node) -> Iterator[Change]:
    """Letters around it, all of it in one case."""
    yield from string(node)
    match = _QUOTED.fullmatch(text_of(node))
    if match and not _CODECS.fullmatch(match[3]):
        for changed in (str.lower, str.upper):
            text = _LETTERS.sub(lambda part: changed(part[1]) if part[1] else part[0], match[3])  # noqa: B023 - used here
            yield node, f"{match[1]}{match[2]}{text}{match[2]}"


def boolean(node: Node) -> Iterator[Change]:
    """The other one."""
    yield node, "false" if text_of(node) == "true" else "true"


def augmented(node: Node) -> Iterator[Change]:
    """A plain assignment."""
    operator = _operator(node)
    if operator is not None:
        yield operator, "="


def unary(node: Node) -> Iterator[Change]:
    """A negation left out."""
    operator = _operator(node)
    if text_of(operator) in ("!", "~"):
        yield node, text_of(node.named_children[-1])


def swap(node: Node) -> Iterator[Change]:
    """Another operator; none that takes no texts where one is beside it."""
    operator = _operator(node)
    sign = text_of(operator)
    other = _SWAPS.get(sign)
    if other is None and sign.endswith("=") and (swapped := _SWAPS.get(sign.removesuffix("="))):
        other = f"{swapped}="
    sides = (child.named_children if child.type == "expression_list" else [child] for child in node.named_children)
    is_text = other in ("-", "-=") and any("string_literal" in part.type for side in sides for part in side)
    if operator is not None and other and not is_text:
        yield operator, other


def _operator(node: Node) -> Node | None:
    """The sign of an expression or assignment."""
    return field_of(node, "operator") or next((child for child in node.children if not child.is_named), None)


def other_method(pairs: Iterable[tuple[str, str]], *fields: str) -> Operator:
    """The opposite of what is called; fields lead from the call to its name."""
    other = {name: opposite for pair in pairs for name, opposite in (pair, pair[::-1])}

    def change(node: Node) -> Iterator[Change]:
        called: Node | None = node
        for name in fields:
            called = field_of(called, name)
        if called is not None and (opposite := other.get(text_of(called))):
            yield called, opposite

    return change


def continued(node: Node) -> Iterator[Change]:
    """The loop left."""
    yield node, text_of(node).replace("continue", "break", 1)


def cases(node: Node) -> Iterator[Change]:
    """Each case left out."""
    inside = field_of(node, "body") or node
    choices = [child for child in inside.named_children if "comment" not in child.type]
    if inside is node:
        choices = [child for child in choices if child.type.endswith("_case")]
    if len(choices) > 1:
        yield from ((case, "") for case in choices)


def ternary(node: Node) -> Iterator[Change]:
    """A condition that always or never holds."""
    condition = field_of(node, "condition")
    if condition is not None:
        yield condition, f"(({text_of(condition)}) && false)"
        yield condition, f"(({text_of(condition)}) || true)"
