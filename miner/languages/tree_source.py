"""What test files have in common that are stripped by editing at places of their syntax tree. Pure."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from miner.languages.base import Assertion, Slot
from miner.languages.syntax import Piece, Place, covers, is_in, text_of

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

    from tree_sitter import Node

    from miner.languages.base import Mode

Edits = dict[Place, tuple[Piece, ...]]
Assertion_co = TypeVar("Assertion_co", bound=Assertion, covariant=True)


@dataclass(eq=False)
class Binding:
    """A name in one scope."""

    name: str
    kind: str
    """A word for what declares it; each language has its own."""
    declared: Node
    """Its identifier where it is declared."""
    statement: Node
    """What declares it: a statement, specification or parameter."""
    init: Node | None = None
    """What it alone is set to there; of a loop's what is gone over."""
    uses: list[Node] = field(default_factory=list)


Binding_T = TypeVar("Binding_T", bound=Binding)


class TreeSource(Generic[Assertion_co]):
    """A test file whose assertions can be taken out, one by one: what its language says of it is `_written`."""

    slots: tuple[Slot[Assertion_co], ...]

    def recording(self, modes: Mapping[int, Mode]) -> str:
        """The file handing out both sides of each assertion; nothing of it is blanked. For the fix alone."""
        return self._written(modes, is_recording=True, is_blanked=False)

    def stripped(self, modes: Mapping[int, Mode], whole: Collection[str] = ()) -> str:
        """The file that enters a container when patches are judged; with names in `whole` it keeps its words."""
        return self._written(modes, is_recording=False, is_blanked=not whole)

    def _written(self, modes: Mapping[int, Mode], *, is_recording: bool, is_blanked: bool) -> str:
        raise NotImplementedError

    @staticmethod
    def _numbered(slots: Iterable[Slot[Any]]) -> tuple[Slot[Any], ...]:
        """The slots of a file; none where all of them are in forms that are not known."""
        listed = tuple(slots)
        return listed if any(not slot.assertion.is_unread for slot in listed) else ()

    @staticmethod
    def _blank_bindings(
        bindings: Sequence[Binding_T],
        edits: Edits,
        removed: list[Place],
        blanked: Callable[[Binding_T], Edits],
        *,
        reads: Callable[[Node, Binding_T], bool] = lambda _use, _binding: True,
        beside: Callable[[Sequence[Binding_T]], Edits] = lambda _unread: {},
    ) -> None:
        """Blank what names hold that nothing reads but what is removed, and add it to that, until nothing is left.

        `reads` tells of a use elsewhere whether it counts, `beside` what else goes with all such names.
        """
        while True:
            unread = [
                binding
                for binding in bindings
                if binding.uses and all(is_in(use, removed) or not reads(use, binding) for use in binding.uses)
            ]
            fresh = dict(beside(unread))
            for binding in unread:
                fresh |= blanked(binding)
            fresh = {place: pieces for place, pieces in fresh.items() if place not in edits}
            if not fresh:
                return
            edits |= fresh
            removed += fresh


def lines_of(node: Node) -> str:
    """As many line ends as a node has, so that others keep their numbers."""
    return "\n" * text_of(node).count("\n")


def missing_lines(replaced: Node, pieces: Iterable[Piece]) -> str:
    """The line ends that are in a node and not in what of it is kept."""
    start = replaced.start_byte
    text = replaced.text or b""
    lines_left = sum(
        text[piece[0] - start : piece[1] - start].count(b"\n") for piece in pieces if not isinstance(piece, str)
    )
    return "\n" * (text.count(b"\n") - lines_left)


def removed_by(edits: Edits) -> list[Place]:
    """The stretches that are in no piece of the edits."""
    stretches: list[Place] = []
    for (start, end), pieces in edits.items():
        at = start
        for piece in sorted(piece for piece in pieces if not isinstance(piece, str) and covers((start, end), piece)):
            stretches.append((at, piece[0]))
            at = piece[1]
        stretches.append((at, end))
    return [place for place in stretches if place[0] < place[1]]


def handed_literals(
    calls: Iterable[tuple[int, str, Iterator[Any]]],
) -> tuple[dict[int, tuple[Any, ...]], dict[str, tuple[Any, ...]]]:
    """By slot what is written out in what is handed out there, by function what is in all of it.

    `calls` are those of the hand-out: the slot, the function around, and the literals in what it is given.
    """
    slots: dict[int, tuple[Any, ...]] = {}
    functions: dict[str, tuple[Any, ...]] = {}
    for slot, function, literals in calls:
        values = tuple(literals)
        slots[slot] = (*slots.get(slot, ()), *values)
        functions[function] = (*functions.get(function, ()), *values)
    return slots, functions
