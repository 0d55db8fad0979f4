"""What test files have in common that are stripped by editing at places of their syntax tree. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from tree_sitter import Node

from harness.core.syntax import (
    COMMENTS,
    Piece,
    Place,
    Stretches,
    covers,
    place_of,
    rendered,
    text_of,
    upward,
    walk,
)
from miner.languages.base import Mode, Slot, WrittenForm
from miner.languages.stripping.sites import Assertion

if TYPE_CHECKING:
    from miner.languages.stripping.scopes import Binding, Binding_T, Scopes

Edits = dict[Place, tuple[Piece, ...]]
Assertion_T = TypeVar("Assertion_T", bound=Assertion)


_JOINING = re.compile(r"(?:binary|unary|index|slice|subscript|range|ternary|conditional)_expression|array_access")
"""Nodes that make a value of others by a sign."""
_CONSTANTS = frozenset({"var", "const", "let", "local", "field", "constant"})
"""Kinds of names that are set to what is written beside them."""
_MOST_NAMES = 20


class TreeSource(Generic[Assertion_T]):
    """A test file whose assertions can be taken out, one by one, by edits at places of its tree.

    A language sets what is declared here, and says what takes the place of assertions (`_take_out`) and what of the
    file goes that only expectations read (`_silence`, `_blank`).
    """

    slots: tuple[Slot[Assertion_T], ...]
    _source: bytes
    _root: Node
    _scopes: Scopes[Any]

    def recording(self, modes: Mapping[int, Mode]) -> str:
        """The file handing out both sides of each assertion; nothing of it is blanked. For the fix alone."""
        return self._written(modes, is_recording=True, is_blanked=False)

    def stripped(self, modes: Mapping[int, Mode], whole: Collection[str] = ()) -> str:
        """The file that enters a container when patches are judged; with names in `whole` it keeps its words."""
        return self._written(modes, is_recording=False, is_blanked=not whole)

    def written(self, literal: Callable[[Node], Any]) -> dict[int, WrittenForm]:
        """By slot how its test has what it expects, by operations, names and literals, where that is more than these.

        `literal` gives the value of a node that is written out, and raises ValueError of others.
        """
        forms: dict[int, WrittenForm] = {}
        for slot in self.slots:
            nodes = [operand.node for operand in slot.assertion.operands if operand.static and operand.node is not None]
            with suppress(LookupError):
                if len(nodes) == 1 and (form := self._form(nodes[0], literal)).steps:
                    forms[slot.number] = form
        return forms

    def _form(self, node: Node, literal: Callable[[Node], Any], depth: int = 0) -> WrittenForm:
        """How a test has a value; raises LookupError of a name for what is written elsewhere, or is changed after."""
        with suppress(ValueError, SyntaxError, AttributeError):
            return WrittenForm(literals=(literal(node),))
        if not node.named_children and not node.type.endswith("identifier"):
            return WrittenForm()
        name = self._scopes.of_name(node)
        if name is not None and name.kind != "import":
            if name.kind not in _CONSTANTS or name.init is None or depth > _MOST_NAMES or _is_changed(name):
                raise LookupError(text_of(node))
            return self._form(name.init, literal, depth + 1)
        inner = [self._form(child, literal, depth) for child in node.named_children]
        return WrittenForm(
            steps=(not inner or _JOINING.fullmatch(node.type) is not None) + sum(part.steps for part in inner),
            literals=tuple(value for part in inner for value in part.literals),
        )

    def _written(self, modes: Mapping[int, Mode], *, is_recording: bool, is_blanked: bool) -> str:
        if all(modes[slot.number] is Mode.INSIDE for slot in self.slots):
            return self._source.decode("utf-8")
        edits: Edits = {}
        removed: list[Place] = []
        self._take_out(edits, removed, modes, is_recording=is_recording)
        if is_blanked and edits:
            self._silence(edits, removed)
            self._blank(edits, removed)
            self._uncomment(edits)
        return self._completed(edits, removed, modes).decode("utf-8")

    def _take_out(self, edits: Edits, removed: list[Place], modes: Mapping[int, Mode], *, is_recording: bool) -> None:
        """Add the edits for all assertions that are outside, and what of them is in no piece any more."""
        raise NotImplementedError

    def _silence(self, edits: Edits, removed: list[Place]) -> None:
        """Take out what is written in calls that do no more than show it, and the like."""
        raise NotImplementedError

    def _blank(self, edits: Edits, removed: list[Place]) -> None:
        """Blank the values that nothing reads but what is removed, and add them to that."""
        raise NotImplementedError

    def _completed(self, edits: Edits, removed: list[Place], modes: Mapping[int, Mode]) -> bytes:
        """The file with all edits, and with what the language asks for besides."""
        return rendered(self._source, 0, len(self._source), edits)

    def _uncomment(self, edits: Edits) -> None:
        for node in walk(self._root):
            if node.type in COMMENTS and not self._rules(node):
                edits.setdefault(place_of(node), (self._blank_comment(node),))

    def _rules(self, comment: Node) -> bool:
        """Whether a comment says how the file is read or run."""
        return False

    def _blank_comment(self, comment: Node) -> str:
        return lines_of(comment)

    def _function(self, node: Node) -> tuple[str, ...]:
        """The names of the function that an assertion stands in and of what is around it; empty in none."""
        raise NotImplementedError

    def _lines(self, node: Node) -> Collection[int]:
        """The lines of the file by which a compiler may complain of an assertion."""
        return range(node.start_point.row + 1, node.end_point.row + 2)

    def _numbered(self, assertions: Iterable[Assertion_T], first: int) -> tuple[Slot[Assertion_T], ...]:
        """The slots of a file; none where all of them are in forms that are not known."""
        slots = tuple(
            Slot(
                number=number,
                function=self._function(assertion.replaced),
                assertion=assertion,
                lines=self._lines(assertion.replaced),
            )
            for number, assertion in enumerate(assertions, first)
        )
        return slots if any(not slot.assertion.is_unread for slot in slots) else ()

    def _blank_bindings(
        self,
        edits: Edits,
        removed: list[Place],
        blanked: Callable[[Binding_T], Edits],
        *,
        reads: Callable[[Node, Binding_T], bool] = lambda _use, _binding: True,
        beside: Callable[[Sequence[Binding_T]], Edits] = lambda _unread: {},
    ) -> None:
        """Blank what names hold that nothing reads but what is removed.

        `reads` tells of a use elsewhere whether it counts, `beside` what else goes with all such names.
        """
        bindings = self._scopes.bindings()

        def fresh() -> Edits:
            removals = Stretches(removed)
            unread = [
                binding
                for binding in bindings
                if binding.uses and all(removals.have(use) or not reads(use, binding) for use in binding.uses)
            ]
            return {**beside(unread), **{place: pieces for name in unread for place, pieces in blanked(name).items()}}

        blank_all(edits, removed, fresh)


def blank_all(edits: Edits, removed: list[Place], fresh: Callable[[], Edits]) -> None:
    """Add edits, and where they are to what is removed, until there are no fresh ones: each may leave more unread."""
    while more := {place: pieces for place, pieces in fresh().items() if place not in edits}:
        edits |= more
        removed += more


def _is_changed(name: Binding) -> bool:
    """Whether a name is set again, or a statement begins with it."""
    return name.is_written or any(map(_begins_statement, name.uses))


def _begins_statement(node: Node) -> bool:
    outer = (at for at in upward(node.parent) if at.type.endswith(("statement", "declaration")))
    return next((at.start_byte == node.start_byte for at in outer), False)


def rewritten(text: str, parse: Callable[[bytes], Node], edits_of: Callable[[Node], Edits]) -> str:
    """A text with edits at places of its tree; as it is where the grammar does not read it."""
    source = text.encode()
    try:
        root = parse(source)
    except ValueError:
        return text
    return rendered(source, 0, len(source), edits_of(root)).decode()


def without_arguments(arguments: Sequence[Node], count: int) -> Edits:
    """The edit that leaves the first of some arguments, so many; none where there are no more."""
    if len(arguments) <= count:
        return {}
    start = arguments[count - 1].end_byte if count else arguments[0].start_byte
    return {(start, arguments[-1].end_byte): ("",)}


def without_argument(node: Node, kind: str, hand_out: str) -> Edits:
    """The edit that drops the argument that a node is in; none where that is one of the hand-out's.

    `kind` is the type of lists of arguments.
    """
    at = node
    while at.parent is not None and at.parent.type != kind:
        at = at.parent
    call = at.parent.parent if at.parent is not None else None
    if call is None or hand_out in text_of(call).partition("(")[0]:
        return {}
    before, after = at.prev_sibling, at.next_sibling
    if after is not None and after.type == ",":
        return {(at.start_byte, after.end_byte): ("",)}
    start = before.start_byte if before is not None and before.type == "," else at.start_byte
    return {(start, at.end_byte): ("",)}


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
            at = max(at, piece[1])
        stretches.append((at, end))
    return [place for place in stretches if place[0] < place[1]]
