"""The assertions of a test file in Rust: what each compares, and how the host will decide it. Pure."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from tree_sitter import Node

from harness.core.syntax import arguments_of, bare, callee_of, field_of, field_text, named, text_of, walk
from harness.judging import values as judged
from harness.judging.parts import parts_of
from harness.judging.rust.values import Value
from miner.languages.rust.stripping.notation import Notation, Words
from miner.languages.rust.stripping.patterns import pattern_of, with_types
from miner.languages.rust.stripping.scopes import (
    ASSERTIONS,
    SNAPSHOTS,
    TEXTS,
    Scopes,
    attributes_of,
    functions_around,
    macro_of,
)
from miner.languages.rust.stripping.static import LOOKING, Statics
from miner.languages.stripping import sites
from miner.languages.stripping.sites import AS_IT_IS, NOT, Options, contrary

if TYPE_CHECKING:
    from miner.languages.rust.stripping.macros import Macro
    from miner.languages.stripping.helpers import Helper

_TWO_SIDES = 2


@dataclass(frozen=True, kw_only=True)
class Operand(sites.Operand):
    """One side of an assertion."""

    is_of_standard: bool = False
    """What is expected there is so only if its type is of the standard library."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Assertion(sites.Assertion):
    """One assertion, in the terms of the host's judge (harness/judging/rust)."""

    operands: tuple[Operand, ...]
    condition: Node | None = None
    """Of what is asserted to be true or false: all of what is."""
    is_whole: bool = False
    has_to_hold: bool = True
    """Whether that condition has to be true."""
    is_compared: bool = False
    """Two operands are compared as `assert_eq!` does it."""
    written: Sequence[Words] = ()
    """What `Debug` of what is expected has to say, one or another; nothing where that is not told."""
    form: str = ""
    """Of a snapshot: how the text of its value is made."""
    modules: tuple[Node | None, ...] = ()
    """Of one in a macro: the innermost modules around where it is called; None for the file."""

    @property
    def is_expected(self) -> bool:
        """Whether something of it is kept outside."""
        return self.op in ("rust.panics", "rust.truth") or super().is_expected

    @property
    def has_result(self) -> bool:
        """Where two values are compared."""
        return self.is_compared or (self.condition is not None and self.op != "rust.truth")

    def tells(self, _values: Sequence[Any]) -> bool:
        """Whether `Debug` leaves nothing out of what is written, and an operator other than `==` is Rust's own."""
        decoded = [judged.decode(value, kept=True) for value in _values]
        needs_standard = self.op not in _OF_ANY or (self.op == "rust.==" and bool(self.options.get("not")))
        if needs_standard and not all(isinstance(value, Value) and value.is_of_standard for value in decoded):
            return False
        pairs = list(zip(decoded, self.operands, strict=False))
        if any(side.is_of_standard and not (isinstance(value, Value) and value.is_standard) for value, side in pairs):
            return False
        sides = [value for value, operand in pairs if operand.static]
        if not self.written or len(sides) != 1 or not isinstance(sides[0], Value):
            return True
        has_names = any(tag == "n" for words in self.written for tag, _ in words)
        if sides[0].is_standard and not has_names:
            return True
        claims = _claims(sides[0])
        return any(words <= claims for words in self.written)


_OF_ANY = frozenset({"rust.==", "rust.truth", "rust.matches", "rust.panics"})
"""Operators that need nothing of a type, if they are not negated."""


def _claims(value: Value) -> Words:
    """What a text of `Debug` says."""
    parts = list(parts_of(value.part))
    names = (("n", part.kind.rpartition("::")[2].removeprefix("r#")) for part in parts if part.kind)
    return Counter([*names, *((part.tag, part.plain) for part in parts if part.plain is not None)])


_COMPARISONS: Mapping[str, tuple[str, Options]] = {"==": ("rust.==", {}), "!=": ("rust.==", NOT)} | {
    sign: (f"rust.{sign}", {}) for sign in ("<", "<=", ">", ">=")
}
_CALLED = {"contains": "rust.contains", "starts_with": "rust.starts", "ends_with": "rust.ends"}
"""Methods whose object and one argument are compared."""
_NOT_READ = re.compile(r"\w*assert\w*")
_ASSERTING = re.compile(r"\b\w*assert\w*!\s*[(\[{]")
"""An assertion among the tokens that another macro is given, such as insta's `with_settings!`."""
_SETTINGS = re.compile(rb"\bSettings::")
"""Of insta: what is compared is changed, or another file is, by what the test sets."""
_PANICS = frozenset({"panic", "unreachable"})
_OF_ONE_TYPE = frozenset({"rust.==", "rust.<", "rust.<=", "rust.>", "rust.>="})
"""Operators whose sides have one type, or types that are made to be compared."""


class Reader(sites.Reader[Statics]):
    """Reads the assertions of one file."""

    def __init__(
        self,
        source: bytes,
        scopes: Scopes,
        statics: Statics,
        root: Node,
        helpers: Mapping[str, Helper],
        macros: AbstractSet[str],
        *,
        has_snapshots: bool,
    ) -> None:
        """`helpers` are functions of other files that only compare, `macros` those of the file that are read.

        Where it `has_snapshots`, those in files of their own are read as well.
        """
        self._source, self._scopes, self._statics, self._helpers = source, scopes, statics, helpers
        self._notation = Notation(scopes, statics)
        self._has_snapshots = has_snapshots
        self._has_settings = _SETTINGS.search(source) is not None
        names = {
            field_text(node, "name")
            for node in walk(root)
            if node.type == "macro_definition" and re.search(r"assert|panic", text_of(node))
        }
        self._own = names - macros

    def of_node(self, node: Node) -> list[Assertion]:
        """The assertions that a node makes; none where it makes none that is known."""
        if node.type == "function_item":
            return self._of_function(node)
        return self._of_expression(node) if any(map(_runs, functions_around(node)[:1])) else []

    def of_macro(self, macro: Macro) -> list[Assertion]:
        """The assertions in a rule of a macro of the file."""
        with self._statics.reading(macro):
            read = [assertion for node in macro.assertions for assertion in self._of_expression(node)]
        return [replace(assertion, modules=macro.modules) for assertion in read]

    def _operand(self, node: Node, around: tuple[str, str] = AS_IT_IS) -> Operand:
        self._statics.is_of_standard = False
        is_static = self._statics.is_static(node) and not self._statics.are_mixed(node)
        is_of_standard = is_static and self._statics.is_of_standard
        return Operand(node=node, static=is_static, around=around, is_of_standard=is_of_standard)

    def _of_expression(self, node: Node) -> list[Assertion]:
        read: list[Assertion] = []
        if node.type == "call_expression" and (name := macro_of(node).removeprefix("debug_")) in ASSERTIONS:
            arguments = arguments_of(node)
            if name == "assert" and arguments:
                read = self._holding(arguments[0], node, has_to_hold=True)
            elif len(arguments) >= _TWO_SIDES:
                options = NOT if name == "assert_ne" else {}
                read = [replace(self._of(node, "rust.==", arguments[:2], options), is_compared=True)]
        elif node.type == "call_expression" and macro_of(node).removeprefix("debug_") == "assert_matches":
            read = [
                replace(assertion, condition=None, is_whole=False)
                for assertion in self._matching(node, node, has_to_hold=True)
            ]
        elif node.type == "call_expression" and macro_of(node) in SNAPSHOTS:
            read = self._of_snapshot(node, SNAPSHOTS[macro_of(node)])
        elif (helper := self._helper(node)) is not None:
            read = [self._of_helper(node, helper)]
        elif node.type == "if_expression":
            condition = field_of(node, "condition")
            if condition is not None and _only_panics(node) and condition.type not in ("let_condition", "let_chain"):
                read = self._holding(condition, node, has_to_hold=False)
        written = [assertion for assertion in read if all(side.static for side in assertion.operands)]
        if not any(self._statics.shows_own(side.node) for assertion in written for side in assertion.operands):
            return [] if written else read
        return [self._of_own(assertion) if assertion in written else assertion for assertion in read]

    def _of_own(self, assertion: Assertion) -> Assertion:
        """What a type of the product makes of values that are written: whether that holds, if it is a condition."""
        if assertion.condition is None:
            return replace(assertion, operands=(), is_unread=True)
        options = {} if assertion.has_to_hold else NOT
        return replace(assertion, op="rust.truth", operands=(Operand(node=assertion.condition),), options=options)

    def is_unread(self, node: Node) -> bool:
        """Whether a node is an assertion in a form that is not known, or of a helper in another file."""
        if node.type == "macro_invocation":
            name = field_text(node, "macro").rpartition("::")[2]
            is_known = _NOT_READ.fullmatch(name) is not None or name in self._own
            return is_known or _ASSERTING.search(text_of(node)) is not None
        if node.type != "call_expression" or macro_of(node):
            return macro_of(node) in self._own or macro_of(node) in SNAPSHOTS
        function = field_of(node, "function")
        name = text_of(function).rpartition("::")[2]
        return name not in self._scopes.functions and re.fullmatch(r"assert\w*", name) is not None

    def _of_function(self, function: Node) -> list[Assertion]:
        """What `#[should_panic]` asserts."""
        for attribute in attributes_of(function):
            words = [text_of(part) for part in walk(attribute) if part.type == "identifier"]
            if words[:1] == ["should_panic"] and _runs(function) and field_of(function, "return_type") is None:
                texts = [part for part in walk(attribute) if part.type in TEXTS]
                operands = tuple(Operand(node=text, static=True) for text in texts[:1])
                return [Assertion(op="rust.panics", operands=operands, replaced=function)]
        return []

    def _of_snapshot(self, call: Node, form: str) -> list[Assertion]:
        """What is compared with a snapshot, which is what the fix gives of it: the value, or what is behind a name."""
        arguments = arguments_of(call)
        start = arguments[-1].start_byte if arguments else 0
        is_inline = self._source[call.start_byte : start].rstrip().endswith(b"@")
        names, values = ([], arguments[:1]) if is_inline or len(arguments) == 1 else (arguments[:1], arguments[1:2])
        is_plain = not self._has_settings and all(map(self._is_settled_name, names))
        if not values or not is_plain or not (is_inline or self._has_snapshots):
            return []
        sides = (Operand(node=values[0]), Operand(node=values[0], static=True))
        return [Assertion(op="rust.==", operands=sides, replaced=call, options={"type": "&str"}, form=form)]

    def _is_settled_name(self, name: Node) -> bool:
        """Whether the product has no part in which snapshot of a file a value is compared with."""
        return self._statics.is_static(name) and not self._statics.are_mixed(name)

    def _helper(self, call: Node) -> Helper | None:
        function = callee_of(call)
        name = text_of(function).rpartition("::")[2]
        helper = self._helpers.get(name) if name not in self._scopes.functions else None
        is_alone = call.parent is not None and call.parent.type in ("expression_statement", "block", "match_arm")
        return helper if is_alone and helper is not None and len(arguments_of(call)) == helper.arguments else None

    def _of_helper(self, call: Node, helper: Helper) -> Assertion:
        """What a function of another file compares, as if that stood here."""
        operands = self._sides_of(helper, arguments_of(call), LOOKING)
        return Assertion(op=helper.op, operands=operands, replaced=call, options=helper.options, is_compared=True)

    def _holding(self, node: Node, replaced: Node, *, has_to_hold: bool) -> list[Assertion]:
        """What a condition says of values; what is joined by `and` are assertions of their own."""
        inner = bare(node)
        sign = field_text(inner, "operator")
        if inner.type == "unary_expression" and text_of(inner).startswith("!"):
            return self._holding(named(inner)[0], replaced, has_to_hold=not has_to_hold)
        if inner.type == "binary_expression" and sign == ("&&" if has_to_hold else "||"):
            parts = (self._holding(part, replaced, has_to_hold=has_to_hold) for part in named(inner))
            return [assertion for part in parts for assertion in part]
        options = {} if has_to_hold else NOT
        if inner.type == "binary_expression" and sign in _COMPARISONS:
            op, own = _COMPARISONS[sign]
            assertion = self._of(replaced, op, named(inner), own if has_to_hold else contrary(own))
        elif macro_of(inner) == "matches" and (matching := self._matching(inner, replaced, has_to_hold=has_to_hold)):
            return matching
        elif (sides := _compared(inner)) and any(map(self._statics.is_static, sides)):
            function = field_of(inner, "function")
            op = _CALLED[field_text(function, "field")] if function is not None else ""
            assertion = self._of(replaced, op, sides, options)
        else:
            assertion = self._of(replaced, "rust.truth", [inner], options)
        return [replace(assertion, condition=inner, is_whole=True, has_to_hold=has_to_hold)]

    def _matching(self, call: Node, replaced: Node, *, has_to_hold: bool) -> list[Assertion]:
        """That a value is of a pattern, whose words are not in the opened source; nothing if it is not known."""
        arguments = arguments_of(call)
        if len(arguments) != 1:
            return []
        text = self._source[arguments[0].end_byte : call.end_byte - 1].decode("utf-8", "replace").strip(" \n,")
        pieces = text.split(",") if macro_of(call) != "matches" else [text]  # a message may stand behind
        patterns = (pattern_of(",".join(pieces[:count])) for count in range(len(pieces), 0, -1))
        pattern = next((pattern for pattern in patterns if pattern is not None), None)
        if pattern is None:
            return []
        pattern = with_types(pattern, self._scopes.imports)
        options: Options = {"pattern": pattern} if has_to_hold else {"pattern": pattern, **NOT}
        assertion = self._of(replaced, "rust.matches", arguments, options)
        return [replace(assertion, condition=call, is_whole=True, has_to_hold=has_to_hold)]

    def _of(self, replaced: Node, op: str, nodes: Iterable[Node], options: Options) -> Assertion:
        operands = tuple(map(self._operand, nodes))
        static = [operand for operand in operands if operand.static]
        if op not in _OF_ONE_TYPE or len(static) != 1:
            return Assertion(op=op, operands=operands, replaced=replaced, options=options)
        kind = "".join(self._notation.kind(static[0].node).split())
        options = {**options, "type": kind} if kind.strip("_") else options
        if op != "rust.==":
            return Assertion(op=op, operands=operands, replaced=replaced, options=options)
        words = self._notation.words(static[0].node)
        return Assertion(op=op, operands=operands, replaced=replaced, options=options, written=words)


def _compared(node: Node) -> Sequence[Node]:
    """The object and the argument of a method that compares these; none of anything else."""
    function = callee_of(node)
    if function is None or field_text(function, "field") not in _CALLED:
        return ()
    value, arguments = field_of(function, "value"), arguments_of(node)
    return (value, *arguments) if value is not None and len(arguments) == 1 else ()


def _runs(function: Node) -> bool:
    """Whether a function runs with the tests: not while they are compiled, nor as a task that others drive."""
    modifiers = [child for child in function.children if child.type == "function_modifiers"]
    return not any(word in text_of(part).split() for part in modifiers for word in ("const",))


def _only_panics(node: Node) -> bool:
    """Whether a condition does no more than to panic, in a block of its own."""
    body = field_of(node, "consequence")
    statements = named(body)
    if len(statements) != 1 or field_of(node, "alternative") is not None:
        return False
    around = node.parent
    if around is None or around.type not in ("block", "expression_statement"):
        return False
    call = named(statements[0])[0] if statements[0].type == "expression_statement" else statements[0]
    return call.type == "macro_invocation" and field_text(call, "macro") in _PANICS
