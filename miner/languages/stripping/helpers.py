"""Functions of other test files that do no more than to compare what they are given, in each language. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from tree_sitter import Node

from harness.core.syntax import text_of


@dataclass(frozen=True, kw_only=True)
class Side:
    """What a function compares: an argument, with what it makes of it."""

    argument: int
    around: tuple[str, str]
    methods: frozenset[str]
    """What is called on the way."""


@dataclass(frozen=True, kw_only=True)
class Helper:
    """A function whose one statement asserts something of its arguments."""

    arguments: int
    sides: tuple[Side, ...]
    op: str
    options: Mapping[str, object] = field(default_factory=dict)
    compares: str = ""
    """The method of the hand-out that says what the classes themselves make of two operands, if there is one."""
    owner: str = ""
    """The class whose method it is, where that is known."""


def helpers_by_name(
    sources: Iterable[bytes], read: Callable[[bytes], Iterable[tuple[str, Helper | None]]]
) -> dict[str, Helper]:
    """Those of some files, of which `read` gives functions with their names; none of a name that is there twice."""
    helpers: dict[str, list[Helper | None]] = {}
    for source in sources:
        with suppress(ValueError):  # the grammar does not read it
            for name, helper in read(source):
                helpers.setdefault(name, []).append(helper)
    return {name: same[0] for name, same in helpers.items() if len(same) == 1 and same[0] is not None}


def sides_of(
    node: Node, used: Sequence[Node], parameters: Sequence[str], around: tuple[str, str], methods: Iterable[str]
) -> Iterator[Side]:
    """The one argument that an expression is made of, by the names that it uses; none of one made of anything else."""
    if len(used) != 1 or text_of(used[0]) not in parameters:
        return
    text, start = node.text or b"", used[0].start_byte - node.start_byte
    end = start + len(used[0].text or b"")
    front, back = ("", "") if len(text) == end - start else (f"{text[:start].decode()}(", f"){text[end:].decode()}")
    yield Side(
        argument=parameters.index(text_of(used[0])),
        around=(f"{around[0]}{front}", f"{back}{around[1]}"),
        methods=frozenset(methods),
    )
