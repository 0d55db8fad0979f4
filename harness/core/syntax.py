"""Syntax trees of languages that tree-sitter reads, and edits of a source at their places. Pure."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping

from tree_sitter import Language, Node, Parser

from harness.core.wording import words as words  # noqa: PLC0414 - for all languages

Place = tuple[int, int]
"""Where a stretch of a source begins and ends, in bytes."""
Piece = str | Place
"""A part of what takes a stretch's place: new text, or a stretch of the source that is kept."""
COMMENTS = frozenset({"comment", "line_comment", "block_comment"})
_APART = COMMENTS | {"attribute_item"}
"""Named nodes that are no part of what is said."""
_MOST_BYTES = 1 << 21


def reader(grammar: object, is_known: Callable[[Node], bool] = lambda _error: False) -> Callable[[bytes], Node]:
    """What makes a file its syntax tree; it raises ValueError where the grammar can't read it, or it is too large.

    An error that `is_known` may stay in the tree: the grammar is wrong there.
    """
    parser = Parser(Language(grammar))

    def parse(source: bytes) -> Node:
        if len(source) > _MOST_BYTES:
            raise ValueError("a file too large")
        root = parser.parse(source).root_node
        errors = (node for node in walk(root, ("ERROR",)) if node.is_error or node.is_missing)
        if root.has_error and not all(map(is_known, errors)):
            raise ValueError("not a file that the grammar reads")
        return root

    return parse


def walk(node: Node | None, unopened: Collection[str] = ()) -> Iterator[Node]:
    """A node and all below it, in the order of the text; nothing that is in nodes of some types, and none of none."""
    rest = [node] if node is not None else []
    while rest:
        current = rest.pop()
        yield current
        if current.type not in unopened:
            rest.extend(reversed(current.children))


def text_of(node: Node | None) -> str:
    """The text of a node; empty for none."""
    return node.text.decode("utf-8", "replace") if node is not None and node.text is not None else ""


def field_of(node: Node | None, name: str) -> Node | None:
    """The part of a node that the grammar calls so; None where it has none, and of no node."""
    return node.child_by_field_name(name) if node is not None else None


def field_text(node: Node | None, name: str) -> str:
    """The text of such a part; empty for none."""
    return text_of(field_of(node, name))


def is_field(around: Node | None, name: str, node: Node) -> bool:
    """Whether a node is this part of the one around it."""
    return around is not None and any(child.id == node.id for child in around.children_by_field_name(name))


def callee_of(node: Node | None) -> Node | None:
    """What a call calls; None of another node, and of none."""
    return field_of(node, "function") if node is not None and node.type == "call_expression" else None


def named(node: Node | None) -> list[Node]:
    """The named children of a node, without comments and attributes; none of no node."""
    return [child for child in node.named_children if child.type not in _APART] if node is not None else []


def arguments_of(call: Node | None) -> list[Node]:
    """What a call is given, without comments."""
    return named(field_of(call, "arguments"))


def bare(node: Node) -> Node:
    """An expression without parentheses around it."""
    while node.type == "parenthesized_expression" and named(node):
        node = named(node)[0]
    return node


def upward(node: Node | None) -> Iterator[Node]:
    """A node and all that it stands in, the innermost first."""
    while node is not None:
        yield node
        node = node.parent


def enclosing(node: Node | None, types: Collection[str]) -> Node | None:
    """The innermost node of some types that a node is, or stands in."""
    return next((at for at in upward(node) if at.type in types), None)


def outermost(node: Node, types: Collection[str]) -> Node:
    """What is around a node with nothing but nodes of some types between, itself one; the node where there is none."""
    while node.parent is not None and node.parent.type in types:
        node = node.parent
    return node


def place_of(node: Node) -> Place:
    """Where a node stands."""
    return node.start_byte, node.end_byte


def with_next(node: Node, mark: str) -> Place:
    """The stretch of a node and of this mark, where it comes next."""
    after = node.next_sibling
    return node.start_byte, after.end_byte if after is not None and after.type == mark else node.end_byte


def covers(outer: Place, inner: Place) -> bool:
    """Whether a stretch has another in it, or is the same."""
    return outer[0] <= inner[0] and inner[1] <= outer[1]


class Stretches:
    """Many stretches of a source, of which a node is looked for without going through all."""

    def __init__(self, places: Iterable[Place]) -> None:
        self._starts: list[int] = []
        self._ends: list[int] = []
        """The furthest end of each stretch and those that begin before it."""
        for start, end in sorted(places):
            self._starts.append(start)
            self._ends.append(max(end, self._ends[-1]) if self._ends else end)

    def have(self, node: Node) -> bool:
        """Whether a node stands in one of them."""
        place = bisect_right(self._starts, node.start_byte)
        return place > 0 and self._ends[place - 1] >= node.end_byte


def is_in(node: Node, places: Iterable[Place]) -> bool:
    """Whether a node stands in one of these stretches."""
    return any(covers(place, place_of(node)) for place in places)


def overlap(left: tuple[str | int, ...], other: tuple[str | int, ...]) -> bool:
    """Whether one path into a value leads through the other's end."""
    length = min(len(left), len(other))
    return left[:length] == other[:length]


def rendered(source: bytes, start: int, end: int, edits: Mapping[Place, tuple[Piece, ...]]) -> bytes:
    """A part of a source with its edits, those inside of pieces that are kept among them."""
    parts: list[bytes] = []
    at = start
    inner = [place for place in edits if start <= place[0] and place[1] <= end and place != (start, end)]
    for place in sorted(inner, key=lambda place: (place[0], place[0] < place[1], -place[1])):
        if place[0] < at:
            continue  # inside of one that was replaced
        parts.append(source[at : place[0]])
        parts += (
            piece.encode() if isinstance(piece, str) else rendered(source, *piece, edits) for piece in edits[place]
        )
        at = place[1]
    return b"".join((*parts, source[at:end]))
