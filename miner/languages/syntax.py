"""Syntax trees of languages that tree-sitter reads, and edits of a source at their places. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tree_sitter import Language, Parser

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
    from typing import Any

    from tree_sitter import Node

Place = tuple[int, int]
"""Where a stretch of a source begins and ends, in bytes."""
Piece = str | Place
"""A part of what takes a stretch's place: new text, or a stretch of the source that is kept."""
_MOST_BYTES = 1 << 21
_CALLED = {"call_expression": "function", "method_invocation": "name"}
"""Calls, and the field that has what is called."""


def reader(grammar: object) -> Callable[[bytes], Node]:
    """What makes a file its syntax tree; it raises ValueError where the grammar can't read it, or it is too large."""
    parser = Parser(Language(grammar))

    def parse(source: bytes) -> Node:
        if len(source) > _MOST_BYTES:
            raise ValueError("a file too large")
        root = parser.parse(source).root_node
        if root.has_error:
            raise ValueError("not a file that the grammar reads")
        return root

    return parse


def walk(node: Node, unopened: Collection[str] = ()) -> Iterator[Node]:
    """A node and all below it, in the order of the text; nothing that is in nodes of some types."""
    rest = [node]
    while rest:
        current = rest.pop()
        yield current
        if current.type not in unopened:
            rest.extend(reversed(current.children))


def text_of(node: Node | None) -> str:
    """The text of a node; empty for none."""
    return node.text.decode("utf-8", "replace") if node is not None and node.text is not None else ""


def place_of(node: Node) -> Place:
    """Where a node stands."""
    return node.start_byte, node.end_byte


def covers(outer: Place, inner: Place) -> bool:
    """Whether a stretch has another in it, or is the same."""
    return outer[0] <= inner[0] and inner[1] <= outer[1]


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


def values_together(
    root: Node,
    values_of: Callable[[Node], Iterable[Any]],
    arguments_of: Callable[[Node], Iterable[Node]],
    functions: Collection[str],
    hand_out: str,
) -> Iterator[list[Any]]:
    """Values that a source writes at one place of all calls of a function, in one call, or in one function.

    Calls of `hand_out`, and functions with such calls in them, are left out.
    """
    places: dict[tuple[str, int], list[Any]] = {}
    for node in walk(root):
        if node.type in functions and hand_out not in text_of(node):
            yield list(values_of(node))
        name = text_of(node.child_by_field_name(_CALLED[node.type])) if node.type in _CALLED else hand_out
        if hand_out in name:
            continue
        arguments = [list(values_of(argument))[:1] for argument in arguments_of(node)]
        for place, values in enumerate(arguments):
            places.setdefault((name, place), []).extend(values)
        yield [value for values in arguments for value in values]
    yield from places.values()
