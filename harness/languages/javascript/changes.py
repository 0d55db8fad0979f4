"""What a change brought to a file, in pieces that can be left out: statements and, in lists, elements. Pure."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field

from tree_sitter import Node

from harness.core.syntax import field_of, field_text, named, text_of, upward, walk, words
from harness.languages.javascript.source import FUNCTIONS, root_of

STATEMENTS = words("program statement_block")
TABLES = words("array object")
_NAMES = words("named_imports object_pattern")
_LISTS = STATEMENTS | TABLES | _NAMES


@dataclass(eq=False, kw_only=True)
class Piece:
    """A statement or an element that is new, or other than it was."""

    node: Node
    old: Node | None
    """What it takes the place of."""
    old_list: Node | None
    """Where it goes; None within a piece that is itself new."""
    after: Node | None
    """What of that list it comes after; None at its beginning."""
    parts: list[Piece] = field(default_factory=list)
    """Of a piece that is new: what can be left out of it."""

    @property
    def is_row(self) -> bool:
        """Whether it is an element of a table."""
        return self.node.parent is not None and self.node.parent.type in TABLES

    @property
    def statement(self) -> Node:
        """The statement that it is, or stands in."""
        return next(at for at in upward(self.node) if at.parent is None or at.parent.type in STATEMENTS)

    @property
    def names(self) -> frozenset[str]:
        """What it defines; of a row what its statement does."""
        is_name = self.node.parent is not None and self.node.parent.type in _NAMES
        return defined(self.node if is_name else self.statement)

    def all(self) -> Iterator[Piece]:
        """It and its parts, and theirs."""
        yield self
        for part in self.parts:
            yield from part.all()


def pieces(old: Node, new: Node, holds_tests: Callable[[Node], bool]) -> list[Piece]:
    """What a file has that it had not."""
    return _Comparison(holds_tests).aligned(old, new)


def defined(node: Node) -> frozenset[str]:
    """The names that a statement or an imported name declares."""
    if node.type == "export_statement":
        node = field_of(node, "declaration") or node
    if node.type in ("lexical_declaration", "variable_declaration"):
        targets = [field_of(part, "name") for part in named(node)]
    elif node.type == "import_statement":
        targets = [part for part in node.named_children if part.type == "import_clause"]
    elif node.type == "import_specifier":
        targets = [field_of(node, "alias") or field_of(node, "name")]
    elif node.type.endswith(("_declaration", "signature")):
        targets = [field_of(node, "name")]
    elif node.type.endswith("pattern"):
        targets = [node]
    else:
        targets = []
    return frozenset(text_of(part) for target in targets for part in walk(target) if is_name(part))


def is_name(node: Node) -> bool:
    """Whether a node can stand for something that is defined elsewhere."""
    return node.type.endswith(("identifier", "identifier_pattern")) and node.type != "property_identifier"


class _Comparison:
    def __init__(self, holds_tests: Callable[[Node], bool]) -> None:
        self._holds_tests = holds_tests

    def aligned(self, old: Node, new: Node) -> list[Piece]:
        """Of a list: its children that are new or other."""
        olds, news = named(old), named(new)
        twins = _twins(olds, news, in_order=new.type == "array")
        found: list[Piece] = []
        after: Node | None = None
        for place, node in enumerate(news):
            twin = olds[twins[place]] if place in twins else None
            inner = self._inner(twin, node) if twin is not None else None
            if inner is None:
                parts = self._parts(node) if twin is None else []
                found.append(Piece(node=node, old=twin, old_list=old, after=after, parts=parts))
            else:
                found += inner
            after = twin or after
        return found

    def _inner(self, old: Node, new: Node) -> list[Piece] | None:
        """What is other in lists of a node; None where it is other itself."""
        if text_of(old) == text_of(new):
            return []
        if old.type != new.type or (new.type in FUNCTIONS and not self._holds_tests(new)):
            return None
        if new.parent is not None and new.parent.type in TABLES and not self._holds_tests(new):
            values = [field_of(node, "value") for node in (old, new)]
            if new.type != "pair" or any(value is None or value.type != "array" for value in values):
                return None
        if new.type in _LISTS:
            return self.aligned(old, new)
        sides = [[child for child in node.children if child.type != "comment"] for node in (old, new)]
        if len(sides[0]) != len(sides[1]) or not sides[0]:
            return None
        found: list[Piece] = []
        for was, now in zip(*sides, strict=True):
            inner = self._inner(was, now)
            if inner is None:
                return None
            found += inner
        return found

    def _parts(self, node: Node) -> list[Piece]:
        """What can be left out of a new statement: other tests of a suite, other names of an import."""
        return [
            Piece(node=child, old=None, old_list=None, after=None, parts=self._parts(child))
            for inner in _outermost(node, self._is_parted)
            for child in named(inner)
        ]

    def _is_parted(self, node: Node) -> bool:
        if node.type == "statement_block":
            return self._holds_tests(node)
        around = node.parent.type if node.parent is not None else ""
        return node.type in _NAMES and around in ("import_clause", "variable_declarator")


def _outermost(node: Node, is_wanted: Callable[[Node], bool]) -> Iterator[Node]:
    for child in node.children:
        if is_wanted(child):
            yield child
        elif child.type not in FUNCTIONS or any(is_wanted(inner) for inner in walk(child)):
            yield from _outermost(child, is_wanted)


def _twins(olds: Sequence[Node], news: Sequence[Node], *, in_order: bool) -> dict[int, int]:
    """By the place of a child: the place of what it was before."""
    was, now = ([text_of(node) for node in nodes] for nodes in (olds, news))
    blocks = difflib.SequenceMatcher(None, was, now, autojunk=False).get_opcodes()
    twins = {
        new_from + step: old_from + step
        for kind, old_from, old_to, new_from, _ in blocks
        if kind == "equal"
        for step in range(old_to - old_from)
    }
    for key_of in (text_of, _key):
        left = [
            [(key_of(node), place) for place, node in enumerate(nodes) if place not in matched]
            for nodes, matched in ((olds, set(twins.values())), (news, set(twins)))
        ]
        former, latter = (_unique(side) for side in left)
        twins |= {place: former[key] for key, place in latter.items() if key in former}
    for kind, old_from, old_to, new_from, new_to in blocks if in_order else ():
        was_left = [place for place in range(old_from, old_to) if place not in set(twins.values())]
        now_left = [place for place in range(new_from, new_to) if place not in twins]
        if kind == "replace" and len(was_left) == len(now_left):
            twins |= dict(zip(now_left, was_left, strict=True))
    return twins


def _unique(keyed: Collection[tuple[str, int]]) -> dict[str, int]:
    keys = [key for key, _ in keyed]
    return {key: place for key, place in keyed if key and keys.count(key) == 1}


def _key(node: Node) -> str:
    """By what a child is known, whatever else of it changes; empty for nothing."""
    if node.type in ("pair", "method_definition"):
        return field_text(node, "key") or field_text(node, "name")
    if node.type == "import_statement":
        return "import " + field_text(node, "source")
    if node.type == "expression_statement":
        call = next((at for at in walk(node, FUNCTIONS) if at.type == "call_expression"), None)
        title = next(iter(named(field_of(call, "arguments"))), None)
        is_titled = title is not None and "string" in title.type
        return f"{text_of(root_of(call))} {text_of(title)}" if is_titled else field_text(call, "function")
    if (body := field_of(node, "body")) is not None and node.type.startswith("for"):
        return " ".join(text_of(child) for child in node.children if child.id != body.id)
    return " ".join(sorted(defined(node)))
