"""In which turns of a loop, and how often, a test in Go comes to an assertion: whether the product says so. Pure.

What comes out is counted and not named by rows, so that what is expected of one would be held against another.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from itertools import takewhile

from tree_sitter import Node

from harness.core.grouping import grouped
from harness.core.syntax import (
    bare,
    covers,
    field_of,
    field_text,
    is_field,
    named,
    place_of,
    text_of,
    upward,
    walk,
    words,
)
from miner.languages.go.stripping.scopes import FUNCTIONS, Binding, Scopes, function_around, listed, statements_of
from miner.languages.go.stripping.static import Statics, declared_as, is_standard

_SWITCHES = words("expression_switch_statement type_switch_statement select_statement")
_CASES = words("expression_case default_case type_case communication_case")
_BLOCKS = words("block statement_list") | _CASES
_NIL = " == nil"
_TEST = re.compile(r"(?:Test|Fuzz|Example)(?![a-z])")
_OWN = words("function_declaration method_declaration source_file")
_GIVEN = words("argument_list literal_element")
"""Where a function stands that something else runs, as often as it likes."""
_LEFT_BY = {"continue_statement": {"for_statement"}, "break_statement": {"for_statement", *_SWITCHES}}


@dataclass(frozen=True)
class Turns:
    """Tells it of one file."""

    scopes: Scopes
    statics: Statics
    fails: Callable[[Node], object]
    """Whether a block fails the test."""
    asserts: Callable[[Node], bool]
    """Whether a node asserts itself."""
    is_watched: Callable[[Node], bool]
    """Whether a call gives a function to a test or an assertion, which runs it once."""
    is_subtest: Callable[[Node], bool]
    """Whether a function is a test of its own, with a name of its own."""

    def are_mixed(self, node: Node) -> bool:
        """Whether the product says which of several rows or arguments an expression is of each time."""
        for binding in self._bound(node):
            around = binding.statement.parent
            function = around.parent if binding.kind == "param" and around is not None else None
            if function is not None and function.type == "function_declaration":
                if self._is_mixed_argument(node, binding, function):
                    return True
            elif binding.kind == "range" or (around is not None and around.type == "for_clause"):
                loop = around if binding.kind == "range" else around and around.parent
                if self._is_chosen(node, loop, binding):
                    return True
            elif binding.sets and self._is_chosen_between(node, binding):
                return True
        return False

    def _is_chosen_between(self, node: Node, binding: Binding) -> bool:
        """Whether the product may run a function in which a name is read before or after another sets it again."""
        own = function_around(binding.declared)
        return own is not None and function_around(node) != own and self._is_chosen(node, own)

    def _bound(self, node: Node) -> Iterator[Binding]:
        """The names that an expression depends on, also by what sets them in a function."""
        passed: set[Binding] = set()
        rest = [node]
        while rest:
            for name in walk(rest.pop()):
                binding = self.scopes.resolve(name) if name.type == "identifier" else None
                if binding is None or binding in passed:
                    continue
                passed.add(binding)
                yield binding
                if binding.kind == "var" and function_around(binding.declared) is not None:
                    values = [binding.init, *(field_of(node, "right") for node in binding.sets)]
                    rest += [value for value in values if value is not None]

    def _is_mixed_argument(self, node: Node, binding: Binding, function: Node) -> bool:
        arguments = self.statics.calls_of(binding) or []
        if any(map(self.are_mixed, arguments)):
            return True
        by_test = grouped((_top_of(argument), argument) for argument in arguments).values()
        return any(
            self._is_chosen(node, function) or any(self._is_chosen(argument, None) for argument in of_test)
            for of_test in by_test
            if len(of_test) > 1 and len(set(map(text_of, of_test))) > 1
        )

    def _is_chosen(self, node: Node, top: Node | None, of_turn: Binding | None = None) -> bool:
        """Whether the product says if a turn of a loop, or a call of a function, comes to a node, or how often.

        `of_turn` is what the loop binds for the node, which may be a test's name as well.
        """
        way = list(takewhile(lambda at: at != top and at.type not in _OWN, upward(node)))
        subtests = [place for place, at in enumerate(way) if self._is_own_test(at)]
        names = [named(way[place].parent)[0] for place in subtests]
        if top is not None and not all(self._is_told_name(name, of_turn) for name in names):
            return True
        if any(top is None or self._tells_turns(name, top) for name in names):
            return False
        for at in way[subtests[-1] + 1 :] if subtests else way:
            around = at.parent
            if around is None or around == top or around.type in _OWN:
                return False
            if at.type == "func_literal" and self._is_handed_on(at, around, top):
                return True
            conditions = [*self._branch(around, at), *self._leaving(around, at, top)]
            if not all(map(self._is_told, conditions)):
                return True
        return False

    def _tells_turns(self, name: Node, top: Node) -> bool:
        """Whether a test's name is another one in each turn of a loop, or call, or may be."""
        column = self.statics.column_of(name)
        texts = [text_of(value) for value in (column.values if column is not None else None) or ()]
        bindings = (self.scopes.resolve(part) for part in walk(name) if part.type == "identifier")
        is_of_turn = any(
            binding is not None and covers(place_of(top), place_of(binding.declared)) for binding in bindings
        )
        return is_of_turn and len(set(texts)) == len(texts)

    def _is_told_name(self, name: Node, of_turn: Binding | None) -> bool:
        """Whether the product has no part in what a test is called, or in nothing else of the turn."""
        is_alone = name.type == "identifier" and self.scopes.resolve(name) in (None, of_turn)
        return is_alone or self.statics.is_made_of_rows(name)

    def _is_handed_on(self, function: Node, around: Node, top: Node | None) -> bool:
        """Whether the product says how often a function is run that is written out."""
        if around.type in _GIVEN:
            return not self.is_watched(around)
        name = declared_as(function)
        binding = self.scopes.of_name(name)
        uses = binding.uses if binding is not None else []
        calls = [use.parent for use in uses if is_field(use.parent, "function", use) and use.parent is not None]
        return len(calls) < len(uses) or any(self._is_chosen(call, top) for call in calls)

    def _branch(self, around: Node, at: Node) -> list[Node]:
        """What says whether a part of a statement is come to, or how often, where nothing else fails the test."""
        if around.type == "if_statement" and not is_field(around, "condition", at):
            ways = (field_of(around, name) for name in ("consequence", "alternative"))
            condition = field_of(around, "condition")
            others = [way for way in ways if way is not None and way != at]
            is_told = condition is None or (len(others) == 1 and self.fails(others[0]))
            return [] if is_told or condition is None else [condition]
        if around.type in _CASES and not is_field(around, "value", at):
            return self._of_case(around.parent or around, around)
        if around.type in _SWITCHES and at.type in _CASES:
            before = [case for case in named(around) if case.type in _CASES and case.end_byte <= at.start_byte]
            return [part for case in before if not self.fails(case) for part in listed(field_of(case, "value"))]
        if around.type == "for_statement" and is_field(around, "body", at):
            return [around]
        return []

    def _of_case(self, switch: Node, case: Node) -> list[Node]:
        """What says whether the statements of a case are come to, where not all others fail the test."""
        cases = [child for child in named(switch) if child.type in _CASES]
        is_whole = switch.type == "select_statement" or any(child.type == "default_case" for child in cases)
        if is_whole and all(self.fails(other) for other in cases if other != case):
            return []
        values = [field_of(switch, "value"), *listed(field_of(case, "value"))]
        return [part for part in values if part is not None] or ([] if case.type == "default_case" else [switch])

    def _leaving(self, around: Node, at: Node, top: Node | None) -> Iterator[Node]:
        """What says whether a turn, or a call, is left before a node."""
        before = (child for child in named(around) if child.end_byte <= at.start_byte and around.type in _BLOCKS)
        for statement in before:
            for end in _ends_in(statement):
                if self._only_shortens(end, top):
                    continue
                way = _way(end, statement)
                if not any(step.type in _BLOCKS and self._may_fail(step) for step in way):
                    yield from (part for step in way if step.parent for part in self._branch(step.parent, step))

    def _only_shortens(self, end: Node, top: Node | None) -> bool:
        """Whether nothing more comes of a test, or of a loop that it comes to once, where this is come to."""
        way = list(takewhile(lambda at: at.type not in _OWN and not self._is_own_test(at), upward(end)))
        loops = [at for at in way if at.type == "for_statement"]
        around = way[-1].parent
        is_test = around is not None and (
            self._is_own_test(around) or _TEST.match(field_text(around, "name")) is not None
        )
        if end.type == "return_statement":
            return top is None or (top.type != "function_declaration" and is_test)
        if end.type == "continue_statement" or named(end):
            return False
        left = next((at for at in way if at.type in _LEFT_BY["break_statement"]), None)
        return left is not None and left == top and is_test and len(loops) == 1

    def _is_own_test(self, node: Node) -> bool:
        return node.type == "func_literal" and self.is_subtest(node)

    def _may_fail(self, block: Node) -> bool:
        """Whether a block fails the test, or does unless a row says that it may be come to."""
        if self.fails(block) or any(self.asserts(node) for node in walk(block)):
            return True
        return any(
            statement.type == "if_statement"
            and self._is_told(field_of(statement, "condition"))
            and any(self.fails(way) for way in statement.children_by_field_name("consequence"))
            for statement in statements_of(block)
        )

    def _is_told(self, condition: Node | None) -> bool:
        """Whether the product has no part in what says this, or in how often a loop goes round."""
        if condition is None:
            return False
        if condition.type == "for_statement":
            return self._is_counted(condition)
        condition = bare(condition)
        if self.statics.is_static(condition) or any(map(self.asserts, walk(condition))) or self._is_held(condition):
            return True
        if condition.type == "binary_expression" and field_text(condition, "operator") in ("==", "!=", "&&", "||"):
            left, right = named(condition)
            if field_text(condition, "operator") in ("&&", "||"):
                return self._is_told(left) and self._is_told(right)
            if text_of(right) == "nil" and self.statics.column_of(left) is not None:
                return True
        names = [node for node in walk(condition) if node.type == "identifier"]
        return bool(names) and all(map(self._is_of_go, names))

    def _is_held(self, condition: Node) -> bool:
        """Whether a condition asks for what a guard before it has held against what is written out."""
        value = _asked(condition)
        return self._are_held({value, value.removesuffix(_NIL)}, condition)

    def _are_held(self, texts: Collection[str], node: Node) -> bool:
        """Whether a guard before a node fails the test unless one of these is as it is written out."""
        for at in takewhile(lambda at: at.type not in FUNCTIONS, upward(node)):
            before = at.prev_named_sibling
            while before is not None:
                if not set(texts).isdisjoint(self._held_by(before)):
                    return True
                before = before.prev_named_sibling
        return False

    def _held_by(self, guard: Node) -> list[str]:
        """What a statement holds against what is written out, where it fails the test if that differs."""
        condition, body = (field_of(guard, name) for name in ("condition", "consequence"))
        if guard.type != "if_statement" or condition is None or body is None or not self.fails(body):
            return []
        sides = named(bare(condition)) if field_text(bare(condition), "operator") == "!=" else []
        pairs = zip(sides, reversed(sides), strict=True)
        return [_asked(side) for side, other in pairs if self.statics.is_static(other)]

    def _is_of_go(self, name: Node) -> bool:
        """Whether a name is static, or a package of Go's own."""
        binding = self.scopes.resolve(name)
        if binding is not None and binding.kind == "import":
            return is_standard(binding.path)
        return self.statics.is_static(name)

    def _is_counted(self, loop: Node) -> bool:
        """Whether the test itself says how often a loop goes round."""
        clause = next((child for child in named(loop) if child.type in ("range_clause", "for_clause")), None)
        if clause is None:
            return False
        if clause.type == "range_clause":
            over = field_of(clause, "right")
            return self.statics.is_written(over) or self._are_held({f"len({text_of(over)})"}, loop)
        if self._are_held({text_of(node) for node in walk(field_of(clause, "condition"))}, loop):
            return True
        names = [node for node in walk(field_of(clause, "condition")) if node.type == "identifier"]
        own = [self.scopes.resolve(name) for name in listed(field_of(field_of(clause, "initializer"), "left"))]
        return all(self.scopes.resolve(name) in own or self.statics.is_written(name) for name in names)


def _asked(condition: Node) -> str:
    """What a condition asks about, whichever answer it is true for."""
    inner = bare(condition)
    if field_text(inner, "operator") == "!":
        return _asked(named(inner)[0])
    sides = named(inner) if field_text(inner, "operator") in ("==", "!=") else []
    return f"{text_of(sides[0])}{_NIL}" if sides and text_of(sides[-1]) == "nil" else text_of(inner)


def _top_of(node: Node) -> int:
    return next((at.id for at in upward(node) if at.type in ("function_declaration", "method_declaration")), 0)


def _way(end: Node, statement: Node) -> list[Node]:
    """A node and what is around it within a statement."""
    return list(takewhile(lambda at: at != statement, upward(end)))


def _ends_in(statement: Node) -> Iterator[Node]:
    """The statements in one that leave the turn or the function that it stands in."""
    for end in walk(statement, ("func_literal",)):
        if end.type == "return_statement":
            yield end
        elif end.type in _LEFT_BY:
            way = [*_way(end, statement), statement]
            if named(end) or not any(at.type in _LEFT_BY[end.type] for at in way):
                yield end
