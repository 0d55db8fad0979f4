"""A test file in Java without its expectations: its bytes edited, all else as it is. Pure."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from tree_sitter import Node

from harness.core.syntax import (
    Piece,
    Place,
    arguments_of,
    covers,
    field_of,
    field_text,
    named,
    place_of,
    text_of,
    upward,
    walk,
)
from miner.languages.base import Mode, Slot
from miner.languages.java.stripping import rows, scopes
from miner.languages.java.stripping.scopes import Binding, Scopes, annotation_of, function_of, name_of
from miner.languages.java.stripping.sites import Assertion, Operand, Reader
from miner.languages.java.stripping.static import TEXTS, Statics
from miner.languages.java.stripping.unstopped import unstopped
from miner.languages.stripping.sites import AS_IT_IS
from miner.languages.stripping.source import Edits, TreeSource, lines_of, missing_lines, removed_by

if TYPE_CHECKING:
    from miner.languages.stripping.helpers import Helper

HAND_OUT = "goldseam.Handout"
"""What a stripped test calls (harness/languages/java/inside/Handout.java)."""
_RAISED = "goldseamRaised"
_PRINTING = frozenset({"println", "print", "printf"})
_SHOWN = ("System.out", "System.err")
_CAPTURING = re.compile(rb"set(?:Out|Err)\b|[Cc]aptur|[Ss]ystem_?(?:Out|Err)|Std(?:Out|Err|Io)|[Oo]utputStream")
"""How a file says that something looks at what is printed."""
_BLOCKS = frozenset({"block", "constructor_body", "switch_block_statement_group"})
_ZEROS = {"boolean": "false", "char": "'0'", "int": "0", "long": "0L", "float": "0f", "double": "0d"} | {
    name: f"({name}) 0" for name in ("byte", "short")
}
_UNCHECKED = frozenset({"Throwable", "Exception", "RuntimeException", "Error", "AssertionError"})
"""What any `try` may catch."""
_BOXING = frozenset({"java.equals", "java.chain"})
"""Operators for which it counts whether a number beside an object is boxed, which a recording alone can tell."""
_GENERAL = re.compile(r"\b[A-Z]\d?\b")
"""What variables of types are called."""


class StrippedSource(TreeSource[Assertion]):
    """A test file whose assertions can be taken out, one by one."""

    _scopes: Scopes

    def __init__(
        self,
        source: bytes,
        *,
        path: str,
        first: int,
        shared: Collection[str] = (),
        helpers: Mapping[str, Helper] | None = None,
        inherited: Collection[str] = (),
        beside: Collection[str] = (),
        relatives: tuple[Collection[str], Collection[str]] = ((), ()),
        products: Collection[str] = (),
    ) -> None:
        """Parse a file; `first` is the number of its first slot, `shared` what other hidden files call.

        `helpers` are methods of other files that only compare, `inherited` those that hide what is imported, `beside`
        the other classes of its package, `relatives` methods of those that its classes extend, and that extend these,
        `products` the classes of assertions that are the tree's own.

        Raises:
            ValueError: the grammar does not read it.

        """
        self._source, self._name = source, path.rpartition("/")[2]
        self._root = scopes.parse(source)
        self._scopes = Scopes(self._root)
        self._statics = Statics(self._scopes, shared, beside, *relatives)
        self._reader = Reader(self._scopes, self._statics, helpers, inherited, products)
        self.slots = self._numbered(self._assertions(self._reader), first)

    def unstopped(self, text: str, output: str, attempt: int) -> str:
        """The file with tests that go on where something throws, and without what the compiler complained of."""
        return unstopped(text, self._name, output, is_first=attempt == 0, hand_out=HAND_OUT)

    # -- assertions

    def _function(self, node: Node) -> tuple[str, ...]:
        return function_of(node)

    def _assertions(self, reader: Reader) -> Iterator[Assertion]:
        rest = [self._root]
        while rest:
            node = rest.pop()
            assertion = _read(node, reader)
            caught, inner = _caught_in(node, reader, is_read=assertion is not None)
            if assertion is not None:
                yield assertion
            for call in walk(caught) if caught is not None else ():  # what is thrown there belongs to what is around it
                if call.type == "method_invocation" and reader.is_unread(call):
                    yield Assertion(op="java.truth", operands=(), replaced=call, is_unread=True)
            rest.extend(reversed(inner))

    # -- the text

    def _take_out(self, edits: Edits, removed: list[Place], modes: Mapping[int, Mode], *, is_recording: bool) -> None:
        for slot in self.slots:
            if (mode := modes[slot.number]) is not Mode.INSIDE:
                taken = self._taken_out(slot, mode, keeps=is_recording or mode is Mode.RESULT)
                taken |= _throwing_as_before(slot.assertion.replaced)
                edits |= taken
                removed += removed_by(taken)

    def _taken_out(self, slot: Slot[Assertion], mode: Mode, *, keeps: bool) -> Edits:
        if slot.assertion.form != "rule":
            return _taken_out(slot, mode, keeps=keeps)
        extra = [
            piece
            for operand in slot.assertion.operands
            if keeps
            for piece in (", ", *_handed(operand, is_result=False))
        ]
        return _of_rule(slot.assertion.replaced, self._reader.expecting(slot.assertion.replaced), slot.number, extra)

    # -- what only expectations read

    def _silence(self, edits: Edits, removed: list[Place]) -> None:
        """Take out what is written in calls that do no more than show it, and in names of tests."""
        for node in walk(self._root):
            words: Iterable[Node] = ()
            if node.type == "method_invocation" and self._is_said(node):
                words = (word for word in arguments_of(node) if word.type in TEXTS or word.type == "binary_expression")
                edits |= {place_of(word): ('""', lines_of(word)) for word in words if self._statics.is_static(word)}
            elif node.type == "method_declaration" and (shown := annotation_of(node, "DisplayName")) is not None:
                words = (word for word in walk(shown) if word.type in TEXTS)
                edits |= {place_of(word): ('"-"', lines_of(word)) for word in words}

    def _is_said(self, call: Node) -> bool:
        """Whether a call only shows what it is given: it fails a test, or prints where no test looks at that."""
        is_printed = text_of(field_of(call, "object")) in _SHOWN and _CAPTURING.search(self._source) is None
        return self._reader.is_failure(call) or (is_printed and name_of(call) in _PRINTING)

    def _blank(self, edits: Edits, removed: list[Place]) -> None:
        """Values and arguments that nothing reads but what is taken out, and add them to it."""
        filling = self._statics.filling
        self._blank_bindings(
            edits,
            removed,
            self._blanked,
            reads=lambda use, binding: filling(use, binding) is None,
            beside=lambda unread: rows.without(unread, self._scopes),
        )

    def _blanked(self, binding: Binding) -> Edits:
        statement = binding.statement
        if binding.kind == "parameter":
            operands = self._statics.values_of(binding) or []
            zero = _zero_of(binding)
            are_static = operands and self._statics.is_static(binding.uses[0])
            return {place_of(operand): (zero, lines_of(operand)) for operand in operands} if are_static else {}
        is_local = statement.parent is not None and statement.parent.type in _BLOCKS
        is_own = binding.kind == "field" and scopes.has_modifier(statement, "private")
        is_alone = len(statement.children_by_field_name("declarator")) == 1
        if not (is_own or (binding.kind == "local" and is_local)) or not is_alone:
            return {}
        if not self._statics.is_static_binding(binding):
            return {}
        filling = (self._statics.filling(use, binding) for use in binding.uses)
        nodes = (node for node in (statement, *filling) if node is not None)
        return {place_of(node): ("" if _is_in_list(node) else ";", lines_of(node)) for node in nodes}


def _is_in_list(node: Node) -> bool:
    """Whether a statement, or what declares a name, stands among others, and is not all that a loop does."""
    return node.type != "expression_statement" or (node.parent is not None and node.parent.type in _BLOCKS)


def _read(node: Node, reader: Reader) -> Assertion | None:
    """What a node asserts."""
    match node.type:
        case "method_declaration":
            return reader.of_method(node) or reader.of_rule(node)
        case "try_statement" | "try_with_resources_statement":
            return reader.of_try(node)
        case "method_invocation" | "if_statement" if not reader.is_caught(node):
            assertion = reader.of_call(node) or reader.of_guard(node)
            if assertion is None and reader.is_unread(node):
                return Assertion(op="java.truth", operands=(), replaced=node, is_unread=True)
            return assertion
    return None


def _caught_in(node: Node, reader: Reader, *, is_read: bool) -> tuple[Node | None, list[Node]]:
    """What of a node the assertions stay in, as something catches what they throw, and where else there may be some."""
    inner = node.named_children
    if node.type == "method_declaration" and is_read:
        return node, []
    clauses = [child for child in inner if child.type == "catch_clause"]
    if clauses and (is_read or not reader.only_fails(node)):
        read = [clause for clause in clauses[1:] if is_read and reader.is_failing(clause)]
        ends = (child for child in inner if child.type in ("catch_clause", "finally_clause"))
        return field_of(node, "body"), [child for child in ends if child not in read]
    if node.type == "method_invocation" and reader.is_caught(node):
        return field_of(node, "arguments"), inner[:1]
    return None, [] if is_read and node.type in ("method_invocation", "if_statement") else inner


def _throwing_as_before(node: Node) -> Edits:
    """What lets the compiler take it that each `try` around an assertion may throw what it catches."""
    edits: Edits = {}
    for at in upward(node.parent):
        body, clauses = field_of(at, "body"), [child for child in named(at) if child.type == "catch_clause"]
        types = [kind for clause in clauses for part in named(clause) for kind in _kinds_in(part)]
        calls = [f" {HAND_OUT}.<{kind}>throwing();" for kind in types if kind not in _UNCHECKED]
        if body is not None and covers(place_of(body), place_of(node)) and calls:
            edits[body.start_byte, body.start_byte + 1] = ("{", *calls)
    return edits


def _kinds_in(parameter: Node) -> list[str]:
    """The classes of what a clause catches."""
    parts = [part for part in named(parameter) if part.type == "catch_type"]
    return [text_of(kind) for part in parts for kind in named(part)]


def _taken_out(slot: Slot[Assertion], mode: Mode, *, keeps: bool) -> Edits:
    """The edits that have an assertion handed out; with `keeps`, what is expected as well."""
    assertion, number = slot.assertion, slot.number
    is_result = mode is Mode.RESULT
    static = [_handed(operand, is_result=is_result) for operand in assertion.operands if keeps and operand.static]
    extra = [piece for pieces in static for piece in (", ", *pieces)]
    match assertion.form:
        case "expected":
            return _of_method(assertion.replaced, number, extra)
        case "caught":
            return _of_try(assertion.replaced, number, extra)
        case "thrown" if assertion.body is not None:
            kind: Piece = place_of(assertion.operands[0].node) if assertion.is_used else "null"
            front, back = ("(", f")::{assertion.runs}") if assertion.runs else AS_IT_IS
            body = front, place_of(assertion.body), back
            pieces: tuple[Piece, ...] = (f"{HAND_OUT}.thrown({number}, ", kind, ", ", *body, *extra)
            return {place_of(assertion.replaced): (*pieces, missing_lines(assertion.replaced, pieces), ")")}
    operands = [_handed(operand, is_result=is_result) for operand in assertion.operands if keeps or not operand.static]
    method = "boxed" if static and assertion.op in _BOXING else "values"
    if is_result and assertion.condition is not None:
        word, condition = assertion.condition
        method, operands = "equal", [(f"{HAND_OUT}.of({word})",), (f"{HAND_OUT}.of(", *condition, ")")]
    elif is_result:
        method = assertion.compares
    listed: list[Piece] = [piece for pieces in operands for piece in (", ", *pieces)]
    handing: list[Piece] = [f"{HAND_OUT}.{method}({number}", *listed, ");"]
    parts = [piece for part in assertion.message for piece in (" + (", place_of(part), ")")]
    asking: list[Piece] = [f'{HAND_OUT}.said(""', *parts, ");"] if parts else []
    text: tuple[Piece, ...] = (
        "{ try { ",
        *(asking if assertion.is_said_first else ()),
        *handing,
        *(() if assertion.is_said_first else asking),
        f" }} catch (Throwable {_RAISED}) {{ {HAND_OUT}.raised({number}, {_RAISED}); }} ",
    )
    return {place_of(assertion.replaced): (*text, missing_lines(assertion.replaced, text), "}")}


def _handed(operand: Operand, *, is_result: bool) -> tuple[Piece, ...]:
    if operand.constant and not is_result:
        name = text_of(operand.node).rpartition(".")[2]
        return f'{HAND_OUT}.constant("{name}", ', place_of(operand.node), ")"
    front, back = operand.around
    return f"{HAND_OUT}.of({front}", place_of(operand.node), f"{back})"


def _of_method(method: Node, number: int, extra: Iterable[Piece]) -> Edits:
    """`expected` of its annotation goes, and what its body throws is handed out."""
    annotation, body = annotation_of(method, "Test"), field_of(method, "body")
    attributes = field_of(annotation, "arguments")
    if attributes is None or body is None:
        return {}
    pairs = [pair for pair in named(attributes) if not text_of(pair).startswith("expected")]
    pieces = [piece for pair in pairs for piece in (", ", place_of(pair))][1:]
    return {
        place_of(attributes): ("(", *pieces, ")", missing_lines(attributes, pieces)),
        (body.start_byte, body.start_byte + 1): (f"{{ {_TRYING}",),
        (body.end_byte - 1, body.end_byte): _caught_by(number, extra),
    }


def _of_rule(method: Node, calls: Iterable[Node], number: int, extra: Iterable[Piece]) -> Edits:
    """Calls of a rule go, and what is thrown after the first is handed out."""
    body = field_of(method, "body")
    statements = [call.parent for call in calls if call.parent is not None]
    if body is None or not statements:
        return {}
    edits: Edits = {place_of(statement): (lines_of(statement),) for statement in statements}
    edits[place_of(statements[0])] = (_TRYING, lines_of(statements[0]))
    return edits | {(body.end_byte - 1, body.end_byte): _caught_by(number, extra)}


_TRYING = f"Throwable {_RAISED} = null; try {{"


def _caught_by(number: int, extra: Iterable[Piece]) -> tuple[Piece, ...]:
    return (
        f"}} catch (Throwable goldseamCaught) {{ {_RAISED} = goldseamCaught; }} ",
        f"finally {{ {HAND_OUT}.raised({number}, {_RAISED}",
        *extra,
        "); } }",
    )


def _of_try(node: Node, number: int, extra: Iterable[Piece]) -> Edits:
    """That nothing was thrown is handed out where the test would fail, and what was where it is caught."""
    failing = named(field_of(node, "body"))[-1]
    edits: Edits = {place_of(failing): (f"{HAND_OUT}.raised({number}, null);", lines_of(failing))}
    for clause in (child for child in named(node) if child.type == "catch_clause"):
        caught = next(field_text(child, "name") for child in named(clause))
        handler = field_of(clause, "body")
        if handler is None:
            continue
        handing = (f"{{ {HAND_OUT}.raised({number}, {caught}", *extra, ");")
        if len(edits) == 1:  # the first; those after it do no more than to fail
            edits[handler.start_byte, handler.start_byte + 1] = handing
        else:
            edits[place_of(handler)] = (*handing, lines_of(handler), " }")
    return edits


def _zero_of(binding: Binding) -> str:
    """What a parameter can be attributes that says nothing."""
    name = binding.type_name
    method = scopes.method_around(binding.statement)
    is_general = _GENERAL.search(name) is not None
    is_general |= method is not None and field_of(method, "type_parameters") is not None
    return _ZEROS.get(name, "null" if is_general else f"({name}) null")
