"""A test file in JavaScript or TypeScript without its expectations: its bytes edited, all else as it is. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from tree_sitter import Node

from harness.core.syntax import (
    Piece,
    Place,
    callee_of,
    covers,
    field_of,
    field_text,
    is_field,
    is_in,
    named,
    place_of,
    text_of,
    upward,
    walk,
)
from harness.languages.javascript.source import FUNCTIONS, arguments_of, is_typescript, parse, property_of, root_of
from miner.languages.base import Mode, Slot
from miner.languages.javascript.stripping import lint, scopes, supertest, unstopped
from miner.languages.javascript.stripping.libraries import (
    call_given,
    function_around,
    is_test,
    title_of,
    title_of_call,
)
from miner.languages.javascript.stripping.scopes import Binding, Scopes
from miner.languages.javascript.stripping.sites import (
    ASSERT_MODULES,
    IT,
    Assertion,
    Operand,
    Reader,
    holds,
    only_throws,
)
from miner.languages.javascript.stripping.static import Column, Statics, member_of
from miner.languages.stripping.source import Edits, TreeSource, blank_all, removed_by
from miner.languages.stripping.static import unread_columns

HAND_OUT = "__goldseam__"
_GLOBAL = 'typeof globalThis === "undefined" ? global : globalThis'  # Node 10 has only the other
"""What a stripped test calls; harness/languages/javascript/inside/handout.js puts it into `process`."""
_RULING = re.compile(r"@ts-|@jest|@vitest|@flow|@jsx|@babel|__PURE__|webpack|sourceMapping|<reference")
"""Comments that rule how a file is run or read."""
_SAYING = re.compile(r"console\.\w+|(?:assert|t|ctx|context)\.(?:fail|comment|diagnostic|log)|expect\.fail|fail")
"""Calls that do no more with words than to show them, as they stand in a test."""
_COUNTS = frozenset({"expect.assertions", "expect.hasAssertions"})
_COMPARING = frozenset({"addEqualityTesters", "addCustomEqualityTester"})
"""Of `expect` and jasmine: what has them compare as a file says."""
_ASKING = frozenset({"member_expression", "subscript_expression", "call_expression"})
_SAID = FUNCTIONS | {"string", "string_fragment", "number", "regex", "await_expression", "yield_expression"}
"""What is not left of a message."""
_ENDING = frozenset({"throw_statement", "expression_statement", "return_statement"})


class StrippedSource(TreeSource[Assertion]):
    """A test file whose assertions can be taken out, one by one."""

    _scopes: Scopes

    def __init__(
        self, source: bytes, *, path: str, first: int, framework: str = "", has_snapshots: bool = False
    ) -> None:
        """Parse a file; `first` is the number of its first slot, `framework` what runs it.

        Where it `has_snapshots`, those in the file beside it are taken out as well.

        Raises:
            ValueError: the grammar does not read it, its tests run beside each other, or it says what is equal.

        """
        self._source, self._path, self._framework = source, path, framework
        self._root = parse(source, path)
        self._scopes = Scopes(self._root, framework)
        self._statics = Statics(self._scopes, ASSERT_MODULES)
        properties = {text_of(node) for node in walk(self._root) if node.type == "property_identifier"}
        if "concurrent" in properties:
            raise ValueError("tests that run beside each other")
        if not _COMPARING.isdisjoint(properties):
            raise ValueError("what is equal is said by the file")
        reader = Reader(self._scopes, self._statics, framework, has_snapshots=has_snapshots)
        assertions: Iterable[Assertion] = self._assertions(reader)
        if any(field_text(node, "function") in _COUNTS for node in walk(self._root) if node.type == "call_expression"):
            assertions = map(_counted, assertions)
        self.slots = self._numbered(assertions, first)

    def unstopped(self, text: str, _output: str, attempt: int) -> str:
        """The stripped file where nothing that throws ends a test, and what it misses is made up."""
        return unstopped.unstopped(text, self._path, HAND_OUT, attempt, is_required=self._framework == "jest")

    # -- assertions

    def _assertions(self, reader: Reader) -> Iterator[Assertion]:
        rest = [self._root]
        while rest:
            node = rest.pop()
            if node.type == "if_statement" and (refusal := self._refusal(reader, node)) is not None:
                yield refusal
                continue
            is_read = node.type in ("call_expression", "member_expression") and not _is_guarded(node)
            chain = reader.of_chain(node) if is_read else ()
            if chain and all(map(_can_be_moved, chain)) and _stands(node, chain[0]):
                yield from chain
                continue
            assertion = reader.of_expression(node) if is_read else None
            is_call = node.type == "call_expression"
            tested = lint.read(node, self._root, self._scopes) if is_call and is_read else None
            if tested is not None and _stands(node, tested):
                yield tested
                continue
            asked = supertest.read(node, self._scopes, self._statics) if is_call else None
            if asked is not None:
                rest.extend(reversed(node.named_children))
                assertion = asked
            elif assertion is None or not _can_be_moved(assertion) or not _stands(node, assertion):
                rest.extend(reversed(node.named_children))
                assertion = None if _leads_on(reader, node) else reader.unread(node)
            if assertion is not None:
                yield assertion

    def _function(self, node: Node) -> tuple[str, ...]:
        return titles(node, self._scopes)

    def _lines(self, node: Node) -> Collection[int]:
        return ()

    def _refusal(self, reader: Reader, node: Node) -> Assertion | None:
        """What an `if` that only throws asserts, where the product calls none of the functions around it."""
        refusal = reader.of_refusal(node) if not _is_guarded(node) else None
        if refusal is None or not _can_be_moved(refusal):
            return None
        at = function_around(node)
        while at is not None and not is_test(call := call_given(at)):
            if not (self._scopes.calls_of(at) or _is_loop(call)):
                return None
            at = None if self._scopes.calls_of(at) else function_around(at)
        return refusal if function_around(node) is not None else None

    # -- the text

    def _outside(self, modes: Mapping[int, Mode]) -> list[Slot[Assertion]]:
        """The assertions that are taken out: of those in one call all or none."""
        kept = {place_of(slot.assertion.replaced) for slot in self.slots if modes[slot.number] is Mode.INSIDE}
        return [slot for slot in self.slots if place_of(slot.assertion.replaced) not in kept]

    def _take_out(self, edits: Edits, removed: list[Place], modes: Mapping[int, Mode], *, is_recording: bool) -> None:
        calls: dict[Place, list[Slot[Assertion]]] = {}
        for slot in self._outside(modes):
            calls.setdefault(place_of(slot.assertion.replaced), []).append(slot)
            removed += _dropped(slot.assertion, self._asked_by(slot.assertion))
            if not is_recording:
                edits |= {place_of(node): (lint.without(node),) for node in slot.assertion.cases}
        written = _recorded if is_recording else _handing
        edits |= {
            place: _linked(links, [written(slot, self._asked_by(slot.assertion)) for slot in links])
            for place, links in calls.items()
        }

    def _asked_by(self, assertion: Assertion) -> list[Node]:
        """What the messages of an assertion ask of objects, which may throw: without the words in them."""
        if assertion.body is not None or assertion.chained_on is not None or assertion.receiver is not None:
            return []
        operands = [place_of(operand.node) for operand in assertion.operands if operand.node is not None]
        messages: list[Node] = []
        at: Node | None = assertion.replaced
        while at is not None and at.type in ("call_expression", "member_expression"):
            messages += (
                node for node in arguments_of(at) if not any(covers(place_of(node), place) for place in operands)
            )
            at = field_of(at, "function" if at.type == "call_expression" else "object")
        return [part for node in messages for part in self._parts_asked(node)]

    def _parts_asked(self, node: Node) -> Iterator[Node]:
        """The largest parts of an expression that are made in any case, ask something, and hold no words."""
        if node.type in FUNCTIONS or self._statics.is_static(node):
            return
        parts = list(walk(node, FUNCTIONS))
        names = [part for part in parts if part.type == "identifier"]
        if not any(part.type in _ASKING for part in parts) or not any(map(self._scopes.resolve, names)):
            return
        literals = [part for part in parts if part.type in _SAID and not is_field(part.parent, "index", part)]
        is_silent = node.type != "template_substitution" and not literals
        if is_silent and not any(map(self._statics.is_static, names)):
            yield node
            return
        is_choice = node.type == "ternary_expression" or field_text(node, "operator") in ("&&", "||", "??")
        for part in node.named_children[:1] if is_choice else node.named_children:
            yield from self._parts_asked(part)

    def _completed(self, edits: Edits, removed: list[Place], modes: Mapping[int, Mode]) -> bytes:
        at = self._place_of_head()
        given = f"(all) => all.process.{HAND_OUT}(all, {json.dumps(self._path)})"
        head = f"const {HAND_OUT} = ({given})({_GLOBAL}); "
        edits[at, at] = (("// @ts-nocheck\n" if is_typescript(self._path) else "") + head,)
        return super()._completed(edits, removed, modes)

    def _place_of_head(self) -> int:
        """Before the first statement that is no directive."""
        for node in self._root.named_children:
            is_directive = node.type == "expression_statement" and node.named_children[0].type == "string"
            if node.type not in ("comment", "hash_bang_line") and not is_directive:
                return node.start_byte
        return len(self._source)

    # -- what only expectations read

    def _silence(self, edits: Edits, removed: list[Place]) -> None:
        """Take out what calls print, what statements that do nothing hold, and functions that nothing calls."""
        silenced: Edits = {}
        for node in walk(self._root):
            if node.type == "call_expression" and _SAYING.fullmatch(field_text(node, "function")):
                silenced |= {place_of(word): ('""',) for word in arguments_of(node) if self._statics.is_static(word)}
            if node.type == "expression_statement" and node.named_children[0].type in ("string", "template_string"):
                is_directive = node.prev_named_sibling is None or node.parent is None or node.parent.type == "program"
                if not is_directive and self._statics.is_static(node.named_children[0]):
                    silenced[place_of(node.named_children[0])] = ('""',)
        calls = [place_of(slot.assertion.replaced) for slot in self.slots]
        for binding in self._scopes.bindings():
            function = binding.init if binding.init is not None and binding.init.type in FUNCTIONS else None
            body = field_of(function, "body")
            if binding.uses or body is None or body.type != "statement_block" or scopes.is_exported(binding.declared):
                continue
            if not any(covers(place_of(body), call) for call in calls):
                silenced[place_of(body)] = ("{}",)
        edits |= silenced
        removed += silenced

    def _blank(self, edits: Edits, removed: list[Place]) -> None:
        """The values of names and the cells of tables that nothing reads but what is taken out."""
        bindings = self._scopes.bindings()

        def fresh() -> Edits:
            unread = (*self._unread_values(bindings, removed), *self._unread_cells(bindings, removed))
            return {place_of(node): ("{}" if node.type == "statement_block" else "undefined",) for node in unread}

        blanked: Edits = {}
        blank_all(blanked, removed, fresh)
        edits |= blanked

    def _unread_values(self, bindings: Iterable[Binding], gone: list[Place]) -> Iterable[Node]:
        for binding in bindings:
            init = binding.init
            is_read = not all(is_in(use, gone) for use in binding.uses) or scopes.is_exported(binding.declared)
            if init is None or is_read:
                continue
            if self._statics.is_static_binding(binding):
                yield init
            elif binding.uses and binding.is_whole and not binding.is_written and not binding.module:
                body = field_of(init, "body") if binding.kind == "function" else init
                if body is not None and (body is not init or lint.is_made(init, self._scopes)):
                    yield body

    def _unread_cells(self, bindings: Iterable[Binding], gone: list[Place]) -> Iterable[Node]:
        for column in unread_columns(self._uses_of_columns(bindings, gone)):
            if not column.is_shared and column.steps and not _is_titled(column):
                cells = column.cells() or ()
                yield from cells if all(map(self._statics.is_static, cells)) else ()

    def _uses_of_columns(self, bindings: Iterable[Binding], gone: list[Place]) -> Iterator[tuple[Column, bool]]:
        for binding in bindings:
            whole = self._statics.column(binding)
            columns = ((use, self._statics.column_of(member_of(use)) or whole) for use in binding.uses)
            yield from ((column, not is_in(use, gone)) for use, column in columns if column is not None)

    def _uncomment(self, edits: Edits) -> None:
        super()._uncomment(edits)
        edits |= {place_of(node): ("any",) for node in walk(self._root) if node.type == "literal_type"}

    def _rules(self, comment: Node) -> bool:
        return _RULING.search(text_of(comment)) is not None

    def _blank_comment(self, comment: Node) -> str:
        return re.sub(r"[^\r\n]", " ", text_of(comment)) if text_of(comment).startswith("/*") else ""


def _is_titled(column: Column) -> bool:
    """Whether the title of the tests that are made of a table may show this column."""
    titled = column.each.parent if column.each is not None else None
    if titled is None:
        return False
    given = arguments_of(titled)
    title = text_of(given[0]) if given and given[0].type in ("string", "template_string") else "%s"
    step = column.steps[0]
    shown = title.replace("%%", "").count("%")
    return f"${step}" in title or (step < shown if isinstance(step, int) else shown > 0)


def _stands(call: Node, assertion: Assertion) -> bool:
    """Whether nothing is done with what an assertion returns but to wait for it, or to keep what it caught."""
    around = call.parent
    if around is not None and around.type == "await_expression":
        call, around = around, around.parent
    if around is None:
        return False
    if around.type == "arrow_function":
        return is_field(around, "body", call)
    return around.type in ("expression_statement", "return_statement") or (
        around.type == "variable_declarator" and assertion.gives
    )


def _is_guarded(node: Node) -> bool:
    """Whether a `catch` may wait for what an assertion throws."""
    return _handler_of(node) is not None


def _handler_of(node: Node) -> Node | None:
    """The `catch` that may wait for what an assertion throws; None where there is none."""
    at = node
    while at.parent is not None:
        around = at.parent
        handler = field_of(around, "handler") if around.type == "try_statement" else None
        if handler is not None and not _hands_on(handler) and is_field(around, "body", at):
            return handler
        if at.type in FUNCTIONS and title_of_call(around.parent) is not None:
            return None
        at = around
    return None


def _leads_on(reader: Reader, node: Node) -> bool:
    """Whether an expression only fails where nothing was thrown, into a `catch` whose own assertions tell that.

    If it did not fail, nothing would come to these; so it decides nothing itself.
    """
    handler = _handler_of(node) if node.type == "call_expression" else None
    if handler is None or not _only_says(reader.of_expression(node)):
        return False
    statements = [one for one in named(field_of(handler, "body")) if one.type == "expression_statement"]
    calls = [part for statement in statements for part in walk(statement) if part.type == "call_expression"]
    assertions = [assertion for call in calls if (assertion := reader.of_expression(call)) is not None]
    return not all(map(_only_says, assertions))


def _counted(assertion: Assertion) -> Assertion:
    """An assertion of `expect` that this is told of, as the file says how many it makes."""
    first = root_of(assertion.replaced)
    return replace(assertion, counted_by=first) if text_of(first) == "expect" else assertion


def _only_says(assertion: Assertion | None) -> bool:
    """Whether an assertion looks at nothing: it only says that a test came there."""
    return assertion is not None and not (assertion.operands or assertion.body)


def _hands_on(handler: Node) -> bool:
    """Whether a `catch` only ends the test: with what it caught (`throw error`, `done(error)`), or a new error."""
    caught, body = field_of(handler, "parameter"), field_of(handler, "body")
    if only_throws(body):
        return True
    inner = named(body)
    if caught is None or len(inner) != 1 or inner[0].type not in _ENDING or not inner[0].named_children:
        return False
    ending = inner[0].named_children[0]
    if inner[0].type == "throw_statement":
        return text_of(ending) == text_of(caught)
    arguments = [text_of(node) for node in arguments_of(ending)]
    called = field_text(ending, "function")
    return arguments == [text_of(caught)] and called in ("done", "next", "reject", "cb", "callback")


def _can_be_moved(assertion: Assertion) -> bool:
    """Whether its operands mean the same inside of a function of their own."""
    nodes = [operand.node for operand in assertion.operands if operand.node is not None]
    watched = [node for node in (assertion.chained_on, assertion.body) if node is not None]
    if any(holds(node, "await_expression") for node in watched):
        return False
    nodes += watched
    if any(holds(node, "yield_expression") for node in nodes):
        return False
    waits = any(holds(node, "await_expression") for node in nodes)
    return not waits or not _is_body_of_sync(assertion.replaced)


def _is_body_of_sync(call: Node) -> bool:
    function = function_around(call)
    return function is not None and not any(child.type == "async" for child in function.children)


def _is_loop(call: Node | None) -> bool:
    """Whether a call goes over the elements of something."""
    return call is not None and property_of(field_of(call, "function")) == "forEach"


def titles(node: Node, names: Scopes) -> tuple[str, ...]:
    """The test that an assertion stands in, as `test_ids.function` has it; empty where its titles are made."""
    around: list[str] = []
    for at in upward(node):
        title = title_of_call(at)
        suite = _suite_of(at, names)
        if title is not None or suite is not None:
            around[:0] = suite or [title or ""]
    if names.imports("tap") and not around and function_around(node) is None:
        return ("",)  # of the whole file, a test to tap
    around = around[:1] if names.imports("tap") else around[-1:] if names.imports("tape") else around  # as they tell it
    around = [*_module_above(node), *around]
    return (" > ".join(around),) if around and all(around) else ()


def _suite_of(call: Node, names: Scopes) -> list[str] | None:
    """Of a call of what `suite("…")` of uvu made: the titles of suite and test."""
    at = callee_of(call)
    root = root_of(at)
    binding = names.of_name(root)
    maker = binding.init if binding is not None and names.imports("uvu") else None
    suite, test = arguments_of(maker)[:1] if maker is not None else [], arguments_of(call)[:1]
    if not test or maker is None or field_text(maker, "function") != "suite":
        return None
    return [title_of(part) for part in (*suite, *test)]


def _module_above(node: Node) -> list[str]:
    """The title that `QUnit.module("…")` without a function gives the tests that come after it."""
    for at in upward(node):
        before = at.prev_named_sibling
        while before is not None:
            call = before.named_children[0] if before.type == "expression_statement" else None
            if field_text(call, "function") == "QUnit.module":
                arguments = arguments_of(call) if call is not None else []
                if arguments and not any(part.type in FUNCTIONS for part in arguments):
                    return [title_of(arguments[0])]
            before = before.prev_named_sibling
    return []


def _dropped(assertion: Assertion, questions: Iterable[Node]) -> list[Place]:
    """The stretches of an assertion that nothing of is left of: what it expects, messages, names of its library."""
    if assertion.cases:
        return [place_of(node) for node in assertion.cases]
    parts = [operand.node for operand in assertion.operands if not operand.static]
    parts += [assertion.body, assertion.chained_on, assertion.receiver, assertion.callback, assertion.counted_by]
    kept = tuple(place_of(node) for node in (*parts, *questions) if node is not None)
    return removed_by({place_of(assertion.replaced): kept})


def _linked(links: list[Slot[Assertion]], texts: list[tuple[Piece, ...]]) -> tuple[Piece, ...]:
    subject = links[0].assertion.chained_on
    if subject is None:
        return texts[0]
    body = [piece for text in texts for piece in (*text, "; ")]
    alone = "void " if _is_statement(links[0].assertion.replaced) else ""  # the line before may have no semicolon
    if links[0].assertion.rejected:
        awaited = (f"const {IT} = await {HAND_OUT}.reason(", place_of(subject), "); ")
        return (f"{alone}(async () => {{ ", *awaited, *body, "})()")
    return (f"{alone}(({IT}) => {{ ", *body, "})(", place_of(subject), ")")


def _is_statement(node: Node) -> bool:
    return node.parent is not None and node.parent.type == "expression_statement"


def _handing(slot: Slot[Assertion], questions: Sequence[Node]) -> tuple[Piece, ...]:
    """The assertion as it enters a container."""
    assertion = slot.assertion
    if assertion.cases:
        return lint.handing(slot.number, assertion.replaced, HAND_OUT, is_recording=False)
    handed = [_text(operand) for operand in assertion.operands if not operand.static]
    beside, handed = (handed, []) if assertion.body is not None else ([], handed)
    return _placed(assertion, _called(slot, assertion, handed, beside, questions))


def _text(operand: Operand, waiting: str = "") -> tuple[Piece, ...]:
    """What an operand is in the file that hands it out; `waiting` is what waits for it."""
    if operand.node is None:
        return (operand.text,)
    front, back = operand.around
    inner: tuple[Piece, ...] = (f"{waiting}(", place_of(operand.node), ")") if waiting else (place_of(operand.node),)
    return (front, *inner, back) if front else inner


def _recorded(slot: Slot[Assertion], questions: Sequence[Node]) -> tuple[Piece, ...]:
    """The assertion handing out what is kept as well."""
    assertion = slot.assertion
    if assertion.cases:
        return lint.handing(slot.number, assertion.replaced, HAND_OUT, is_recording=True)
    operands = list(map(_text, assertion.operands))
    values, kept = ([], operands) if assertion.body is not None else (operands, [])
    return _placed(assertion, _called(slot, assertion, values, kept, questions))


def _placed(assertion: Assertion, piece: tuple[Piece, ...]) -> tuple[Piece, ...]:
    """What stands for an assertion: what hands out, or what has supertest call that with the response."""
    if assertion.receiver is None:
        return (*piece, ";") if assertion.replaced.type == "if_statement" else piece
    end: tuple[Piece, ...] = (".end(", place_of(assertion.callback), ")") if assertion.callback is not None else ()
    return (place_of(assertion.receiver), "((__response__) => { ", *piece, "; })", *end)


def _called(
    slot: Slot[Assertion],
    assertion: Assertion,
    values: list[tuple[Piece, ...]],
    kept: list[tuple[Piece, ...]],
    questions: Sequence[Node],
) -> tuple[Piece, ...]:
    """`__goldseam__(NUMBER, () => [operand, …])`, or with a body that is watched, and what it is held against.

    What messages ask comes behind what is handed out.
    """
    waits = any(operand.node is not None and holds(operand.node, "await_expression") for operand in assertion.operands)
    is_async = bool(assertion.awaits) or waits
    front = "await " if waits and not assertion.awaits else ""
    start: tuple[Piece, ...] = ("async () => " if is_async else "() => ",)
    if assertion.body is None:
        if assertion.awaits:
            comes_to = "reason" if assertion.awaits == "rejects" else "fulfilled"
            waiting = f"await {HAND_OUT}.{comes_to}"
            promise, *others = assertion.operands
            if promise.node is not None and not (waits or all(operand.static for operand in others)):
                operands_first: list[tuple[Piece, ...]] = [(place_of(promise.node),), *values[1:]]
                start = (
                    "async (",
                    IT,
                    " = [",
                    *_joined(operands_first),
                    "]) => ",
                )  # all is made before anything is waited for
                front_of_it, back_of_it = promise.around
                values = [
                    (f"{front_of_it}{waiting}({IT}[0]){back_of_it}",),
                    *((f"{IT}[{place}]",) for place in range(1, len(values))),
                ]
            else:
                values[0] = _text(promise, waiting)
        body: tuple[Piece, ...] = ("[", *_joined(values), "]")
        if questions:
            parts = _joined([(place_of(node),) for node in questions])
            body = (f"{{ const {IT} = ", *body, "; void [", *parts, f"]; return {IT}; }}")
    elif assertion.awaits:
        arrow_of_body = "async () => " if holds(assertion.body, "await_expression") else "() => "
        comes_to = f"rejected({arrow_of_body}(" if assertion.op == "js.raises" else "fulfilledOf(("
        body = (f"{{ await {HAND_OUT}.{comes_to}", place_of(assertion.body), ")); return []; }")
    else:
        body = ("{ ", *_running(assertion.body, is_to_throw=assertion.op == "js.raises"), "; return []; }")
    more: tuple[Piece, ...] = (", () => [", *_joined(kept), "]") if kept else ()
    if assertion.counted_by is not None:
        more = (*(more or (", null",)), ", ", place_of(assertion.counted_by))
    if assertion.gives:
        more = (*more, ", true")
    return (f"{front}{HAND_OUT}({slot.number}, ", *start, *body, *more, ")")


def _running(function: Node, *, is_to_throw: bool) -> tuple[Piece, ...]:
    """The call of what is to throw or not, as a library has it: of no object, and of nothing but a function."""
    place = place_of(function)
    if function.type in FUNCTIONS:
        return ("(", place, ")()")
    if is_to_throw:
        return (f"{HAND_OUT}.tried(", place, ")")
    return ("(" if function.type == "identifier" else "(0, ", place, ")()")


def _joined(parts: list[tuple[Piece, ...]]) -> list[Piece]:
    return [piece for place, part in enumerate(parts) for piece in ((", ", *part) if place else part)]
