"""The assertions of a test file in Java: what each compares, and how the host will decide it. Pure."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from tree_sitter import Node

from harness.core.syntax import (
    Piece,
    arguments_of,
    bare,
    covers,
    field_of,
    field_text,
    named,
    place_of,
    text_of,
    upward,
    walk,
    words,
)
from miner.languages.java.stripping import fluent
from miner.languages.java.stripping.fluent import CALLED, FLAT, OBJECTS
from miner.languages.java.stripping.scopes import Scopes, annotation_of, name_of
from miner.languages.java.stripping.static import FIXED, LOOKING, NUMBERS, TEXTS, Statics, holds_text
from miner.languages.stripping import sites
from miner.languages.stripping.sites import AS_IT_IS, NOT, Options, contrary

if TYPE_CHECKING:
    from miner.languages.stripping.helpers import Helper

_ONE_SIDE, _TWO_SIDES, _WITH_ONE_MORE, _WITH_TWO_MORE = 1, 2, 3, 4


@dataclass(frozen=True, kw_only=True)
class Operand(sites.Operand):
    """One side of an assertion."""

    constant: bool = False
    """It is expected only if it is a constant of an enum, which the recording tells."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Assertion(sites.Assertion):
    """One assertion, in the terms of the host's judge (harness/judging/java)."""

    operands: tuple[Operand, ...]
    form: str = "values"
    """How it is written when taken out: `values`, `thrown` (a body is called), `expected` (all of a method is), `rule`
    (what follows a call of a rule), `caught` (what a `try` catches)."""
    is_used: bool = False
    """Of `thrown`: something is done with what was thrown."""
    runs: str = ""
    """Of a body that is an object: the method of it that is called."""
    message: tuple[Node, ...] = ()
    """What its message asks of the product, which may throw."""
    is_said_first: bool = False
    condition: tuple[str, tuple[Piece, ...]] | None = None
    """Of what is asserted to be true or false: that word, and all of what is."""
    compares: str = ""
    """The method of the hand-out that says what the classes themselves make of two operands."""

    @property
    def is_expected(self) -> bool:
        """Whether something of it is kept outside."""
        return self.form != "values" or super().is_expected

    @property
    def has_result(self) -> bool:
        """Where the classes themselves can be asked, or a condition of two sides."""
        return bool(self.compares) or (self.condition is not None and len(self.operands) == _TWO_SIDES)


_CLASSES: Mapping[str, str] = {
    "org.junit.Assert": "junit4", "junit.framework.Assert": "junit4", "junit.framework.TestCase": "junit4",
    "org.testng.AssertJUnit": "junit4", "org.junit.jupiter.api.Assertions": "junit5", "org.testng.Assert": "testng",
    "org.assertj.core.api.Assertions": "assertj", "org.assertj.core.api.AssertionsForClassTypes": "assertj",
    "org.assertj.core.api.AssertionsForInterfaceTypes": "assertj", "org.hamcrest.MatcherAssert": "hamcrest",
    "com.google.common.truth.Truth": "truth", "org.mockito.Mockito": "mockito",
    "org.assertj.core.api.BDDAssertions": "assertj", "org.mockito.BDDMockito": "mockito",
}  # fmt: skip
"""Classes of assertions: where messages stand, and what their methods are called."""
_JUNIT = ("junit4", "junit5", "testng")
_FAILING = (*_JUNIT, "assertj")
_TWO: Mapping[str, tuple[str, Options, str]] = {
    "assertEquals": ("java.equals", {}, "equal"), "assertNotEquals": ("java.equals", NOT, ""),
    "assertSame": ("java.same", OBJECTS, "same"), "assertNotSame": ("java.same", {**OBJECTS, **NOT}, ""),
    "assertArrayEquals": ("java.arrays", {}, ""), "assertIterableEquals": ("java.items", FLAT, ""),
    "assertEqualsNoOrder": ("java.items", {"sorted": True}, ""),
}  # fmt: skip
"""Methods of two values, and how what they compare is decided by its own classes."""
_ONE: Mapping[str, tuple[str, Options]] = {"assertNull": ("java.null", {}), "assertNotNull": ("java.null", NOT)}
_COMPARISONS = {"==": ("java.same", {}), "!=": ("java.same", NOT)} | {
    sign: (f"java.{sign}", {}) for sign in ("<", "<=", ">", ">=")
}
_CALLED: Mapping[str, tuple[str, Options]] = {
    "equals": ("java.equals", {"boxed": True, "called": True}), "contains": ("java.contains", CALLED),
    "startsWith": ("java.starts", {}), "endsWith": ("java.ends", {}), "matches": ("java.matches", {}),
}  # fmt: skip
"""Methods whose object and one argument are compared."""
_TAKES_NULL = re.compile(r"(?:\w+\.)*asList\(|new (?:\w+\.)*(?:ArrayList|LinkedList|(?:Linked)?HashSet)\b")
"""How collections are made that may be asked for null."""
_SEARCHED = ("goldseam.Handout.searched(", ")")
_FUNCTIONS = frozenset({"lambda_expression", "method_reference"})
_ASKING = words("method_invocation identifier field_access object_creation_expression array_access")
"""Nodes of which a text may be made."""
_SHOWING = words("Arrays Objects String Collections")
"""Classes whose methods make a text of what they are given."""
_RUNNING = {"Executable": "execute", "ThrowingRunnable": "run", "ThrowingCallable": "call"}
"""Interfaces of JUnit, TestNG and AssertJ for what is to throw, and their methods."""
_MATCHING = ("org.hamcrest.", "org.junit.matchers.")
"""Packages of Hamcrest's matchers."""
_ALL_ERRORS = frozenset({"Throwable", "Error", "AssertionError", "AssertionFailedError", "java.lang.Throwable"})
_NOT_READ = re.compile(r"assert(?!All$|Timeout)\w+|verify\w*|inOrder|expectThrows|checkThat|then")
_OF_OBJECTS = ("assert", "checkThat")
"""How methods are called that assert, whatever they are of."""
_TELLING = re.compile(r"toString|format|join|(?:get)?(?:\w*Name|Message)|name|describe")
"""Methods whose value is a text."""
_OF_MESSAGES = {"containsString": "contains", "startsWith": "starts", "endsWith": "ends"} | dict.fromkeys(
    ("is", "equalTo"), "equals"
)
"""Matchers of what an error is to say, and how it is compared."""
CATCHING = words(
    "anySatisfy noneSatisfy satisfiesAnyOf satisfiesAnyOfForProxy satisfiesOnlyOnce satisfiesExactlyInAnyOrder"
    " untilAsserted"
)
"""Methods that go on where an assertion in what they are given does not hold."""
_LEAVING = words("return_statement break_statement continue_statement yield_statement")
_SKIPPING = re.compile(r"Assum|Skip|Abort|Ignore|Pending")
"""Errors by which a test is skipped."""
_SIZES = re.compile(r"byte|short|int|long|float|double|Float|Double")


class Reader(sites.Reader[Statics]):
    """Reads the assertions of one file."""

    def __init__(
        self,
        scopes: Scopes,
        statics: Statics,
        helpers: Mapping[str, Helper] | None = None,
        inherited: Collection[str] = (),
        products: Collection[str] = (),
    ) -> None:
        """`helpers` are methods of other files that only compare, `inherited` those that hide what is imported.

        `products` are classes of assertions that are the tree's own: what they assert is asked of the product.
        """
        self._scopes, self._statics, self._helpers, self._inherited = scopes, statics, helpers or {}, inherited
        self._classes = {name: kind for name, kind in _CLASSES.items() if name not in products}

    def of_call(self, call: Node) -> Assertion | None:
        """The assertion that a call makes; None where it makes none that is known."""
        if call.type != "method_invocation":
            return None
        kind, name = self.library(call), name_of(call)
        arguments = arguments_of(call)
        is_alone = call.parent is not None and call.parent.type in ("expression_statement", "lambda_expression")
        replaced = call.parent if call.parent is not None and call.parent.type == "expression_statement" else call
        if kind in _JUNIT and name in ("assertThrows", "assertThrowsExactly", "assertDoesNotThrow"):
            return self._of_thrown(call, name, arguments, is_used=not is_alone)
        if not is_alone:
            return None
        if kind in _JUNIT and name != "assertThat":
            assertion = self._of_junit(kind, name, arguments, replaced)
        else:
            assertion = self._of_matcher(kind, arguments, replaced) or self._of_chain(call, replaced)
        if assertion is None and (helper := self._helper_called(call)) is not None:
            assertion = self._of_helper(helper, arguments, replaced)
        if assertion is None or any(bare(operand.node).type in _FUNCTIONS for operand in assertion.operands):
            return None
        if assertion.form == "values" and all(operand.static for operand in assertion.operands):
            return None
        sets = any(node.type == "assignment_expression" for node in walk(call))  # the compiler asks for it afterwards
        return None if sets else self._with_message(assertion, kind, call)

    def _with_message(self, assertion: Assertion, kind: str, call: Node) -> Assertion:
        """An assertion with what its message asks, which is made before the others' values or after them."""
        is_first, arguments = kind in ("junit4", "hamcrest"), arguments_of(call)
        messages: list[Node] = []
        if kind in (*_JUNIT, "hamcrest") and len(arguments) >= _TWO_SIDES:
            messages = arguments[:1] if is_first else arguments[-1:]
        elif kind == "" and (chain := fluent.calls_of(call)) and self.library(chain[0]) == "assertj":
            messages = [part for piece in chain[1:] if name_of(piece) in fluent.SAYING for part in arguments_of(piece)]
        sides = [place_of(operand.node) for operand in assertion.operands]
        messages = [part for part in messages if not any(covers(place_of(part), side) for side in sides)]
        if assertion.form != "values" or not messages:
            return assertion
        message = tuple(node for part in messages for node in self._asked_by(part))
        return replace(assertion, message=message, is_said_first=is_first)

    def _asked_by(self, message: Node) -> Iterator[Node]:
        """The parts of a text that may be the product's; none that a text is written out in, which says what is right.

        A method that is called by its name alone is the test's.
        """
        node = bare(message)
        is_sum = node.type == "binary_expression" and field_text(node, "operator") == "+"
        is_call = node.type == "method_invocation"
        holder = field_of(node, "object") if is_call else None
        if is_sum or text_of(holder) in _SHOWING:
            for part in named(node) if is_sum else arguments_of(node):
                yield from self._asked_by(part)
        elif node.type in _ASKING and not (is_call and holder is None) and not self._statics.is_static(node):
            binding = self._scopes.of_name(node)
            is_plain = binding is not None and binding.type_name in FIXED
            if not is_plain and not any(part.type in TEXTS for part in walk(node)):
                yield node

    def of_guard(self, node: Node) -> Assertion | None:
        """What an `if` asserts that does no more than to fail the test."""
        body, condition = field_of(node, "consequence"), field_of(node, "condition")
        if node.type != "if_statement" or condition is None or field_of(node, "alternative") is not None:
            return None
        statements = named(body) if body is not None and body.type == "block" else [body]
        if len(statements) != 1 or statements[0] is None or not self._fails(statements[0]):
            return None
        assertion = self._of_truth(named(condition)[0], node, "false")
        return None if all(operand.static for operand in assertion.operands) else assertion

    def only_fails(self, node: Node) -> bool:
        """Whether whatever a `try` catches fails the test, so that nothing in it may throw."""
        clauses = [child for child in named(node) if child.type == "catch_clause"]
        ends = [child for child in named(node) if child.type in ("catch_clause", "finally_clause")]
        last = [named(field_of(clause, "body"))[-1:] for clause in clauses]
        is_left = any(part.type in _LEAVING for end in ends for part in walk(end))
        return not is_left and all(
            bool(statements) and (self._fails(statements[0]) or _throws(statements[0])) for statements in last
        )

    def is_caught(self, call: Node) -> bool:
        """Whether a method, of the file's own or another, may go on where an assertion in what it is given fails."""
        own = self._scopes.functions.get(name_of(call), []) if field_text(call, "object") in ("", "this") else []
        kinds = (part for method in own for part in walk(method) if part.type == "catch_type")
        return name_of(call) in CATCHING or any(text_of(kind) in _ALL_ERRORS for part in kinds for kind in named(part))

    def is_failing(self, clause: Node) -> bool:
        """Whether a clause of a `try` does nothing but fail the test."""
        statements = named(field_of(clause, "body"))
        return len(statements) == 1 and (self._fails(statements[0]) or _throws(statements[0]))

    def _fails(self, statement: Node) -> bool:
        inner = next(iter(named(statement)), None)
        if inner is not None and statement.type == "throw_statement":
            return inner.type == "object_creation_expression" and text_of(inner).startswith("new AssertionError")
        return inner is not None and self.is_failure(inner)

    def is_failure(self, call: Node) -> bool:
        """Whether a call is one of a library's `fail`."""
        return call.type == "method_invocation" and name_of(call) == "fail" and self.library(call) in _FAILING

    def of_rule(self, method: Node) -> Assertion | None:
        """What JUnit 4's `ExpectedException` asserts, as one of its statements says."""
        calls = self.expecting(method) if method.type == "method_declaration" else []
        claims = [self._of_expecting(call) for call in calls]
        read = [claim for claim in claims if claim is not None]
        nodes = [node for claim in read for node in claim.nodes]
        if not read or len(read) != len(claims) or not all(map(self._statics.is_static, nodes)):
            return None
        operands = tuple(Operand(node=node, static=True) for node in nodes)
        return Assertion(op="java.raises", operands=operands, replaced=method, form="rule", options=_parts(read))

    def expecting(self, method: Node) -> list[Node]:
        """The calls of an `ExpectedException` in a method, if each is a statement of its own."""
        calls = [node for node in walk(method) if node.type == "method_invocation"]
        of_rule = [call for call in calls if self._is_rule(field_of(call, "object"))]
        statements = [call.parent for call in of_rule]
        body = field_of(method, "body")
        is_plain = all(statement is not None and statement.parent == body for statement in statements)
        return of_rule if is_plain else []

    def _is_rule(self, node: Node | None) -> bool:
        is_name = node is not None and node.type in ("identifier", "field_access")
        binding = self._scopes.resolve(node) if node is not None and is_name else None
        return binding is not None and binding.type_name == "ExpectedException"

    def _of_expecting(self, call: Node) -> fluent.Claim | None:
        name, arguments = name_of(call), arguments_of(call)
        if len(arguments) != _ONE_SIDE:
            return None
        if name == "expect" and arguments[0].type == "class_literal":
            return fluent.Claim(op="java.kind", nodes=(arguments[0],), options={})
        if name != "expectMessage":
            return None
        by, nodes = "contains", arguments
        if arguments[0].type == "method_invocation" and name_of(arguments[0]) in _OF_MESSAGES:
            if not self._is_hamcrest_s(arguments[0]):
                return None
            by, nodes = _OF_MESSAGES[name_of(arguments[0])], arguments_of(arguments[0])
        return fluent.Claim(op="java.message", nodes=tuple(nodes), options={"by": by})

    def of_method(self, method: Node) -> Assertion | None:
        """What `@Test(expected = …)` asserts."""
        annotation = annotation_of(method, "Test") if method.type == "method_declaration" else None
        attributes = named(field_of(annotation, "arguments")) if annotation is not None else []
        pairs = {field_text(pair, "key"): field_of(pair, "value") for pair in attributes}
        kind = pairs.get("expected", pairs.get("expectedExceptions"))
        is_class = kind is not None and kind.type == "class_literal" and text_of(kind) != "None.class"
        if kind is None or not is_class or "expectedExceptionsMessageRegExp" in pairs:
            return None
        return _raising("expected", (Operand(node=kind, static=True),), method)

    def of_try(self, node: Node) -> Assertion | None:
        """What a `try` asserts that fails the test at its end, and catches what is to be thrown."""
        clauses = [child for child in named(node) if child.type == "catch_clause"]
        last = named(field_of(node, "body"))[-1:]
        is_try = node.type in ("try_statement", "try_with_resources_statement")
        if not (is_try and clauses and last and all(map(self.is_failing, clauses[1:]))):
            return None
        call = named(last[0])[0] if last[0].type == "expression_statement" else last[0]
        if call.type != "method_invocation" or self.library(call) not in _FAILING or not _only_fails(call):
            return None
        types = [part for part in walk(clauses[0]) if part.type == "catch_type"][:1]
        kinds = named(types[0]) if types else []
        if not kinds or any(text_of(kind) in _ALL_ERRORS for kind in kinds):
            return None
        operands = tuple(Operand(node=kind, static=True, around=("", ".class")) for kind in kinds)
        return _raising("caught", operands, node)

    def is_unread(self, call: Node) -> bool:
        """Whether a call is an assertion in a form that is not known, or of a helper in another file."""
        name, library = name_of(call), self.library(call)
        if library in _JUNIT and (assertion := self._of_junit(library, name, arguments_of(call), call)) is not None:
            return _only_fails(call) or not all(operand.static for operand in assertion.operands)
        is_own = name in self._scopes.functions and field_of(call, "object") is None
        is_helper = name.startswith(_OF_OBJECTS) and not is_own
        return _NOT_READ.fullmatch(name) is not None and (is_helper or library != "")

    def library(self, call: Node) -> str:
        """The kind of library whose method a call is; empty for another."""
        if call.type != "method_invocation":
            return ""
        holder, name = field_of(call, "object"), name_of(call)
        if holder is not None and holder.type != "this":
            of = text_of(holder)
            return self._classes.get(self._scopes.class_of(of), "") if of not in self._scopes.classes else ""
        if name in self._scopes.functions or name in self._inherited:
            return ""
        if name in self._scopes.members:
            return self._classes.get(self._scopes.members[name], "")
        kinds = [kind for package in self._scopes.packages if (kind := self._classes.get(package))]
        is_named = name in ("fail", "then", "expectThrows") or name.startswith("assert")
        if kinds and is_named:
            is_fluent = name.startswith(("assertThat", "assertWith"))
            return next((kind for kind in kinds if (kind not in _JUNIT) is is_fluent), kinds[0])
        is_there = "junit.framework.TestCase" in self._classes
        return "junit4" if is_named and is_there and self._is_inherited(call) else ""

    def _helper_called(self, call: Node) -> Helper | None:
        """The method of another file that only compares, if a call may be of that."""
        name, holder = name_of(call), field_of(call, "object")
        helper = self._helpers.get(name)
        if helper is None or name in self._scopes.functions:
            return None
        if holder is None or holder.type == "this":
            return helper if self._scopes.members.get(name, helper.owner) == helper.owner else None
        of = text_of(holder)
        path = self._scopes.imports.get(of)
        around = (self._scopes.package, *self._scopes.packages)
        paths = [path] if path is not None else [of, *(f"{package}.{of}" for package in around)]
        return helper if helper.owner in paths and of not in self._scopes.classes else None

    def _of_helper(self, helper: Helper, arguments: Sequence[Node], replaced: Node) -> Assertion | None:
        """What a method of another file asserts, as if that stood here."""
        if len(arguments) != helper.arguments:
            return None
        operands = self._sides_of(helper, arguments, LOOKING)
        if helper.compares and not any(operand.static for operand in operands):
            operands = self._constants(operands)
        return Assertion(
            op=helper.op, operands=operands, replaced=replaced, options=helper.options, compares=helper.compares
        )

    def _constants(self, operands: tuple[Operand, ...]) -> tuple[Operand, ...]:
        """Operands of which those are expected that are constants, if these are an enum's."""
        return tuple(
            replace(operand, static=True, constant=True)
            if self._statics.is_constant(operand.node) and operand.around == AS_IT_IS
            else operand
            for operand in operands
        )

    def _is_inherited(self, call: Node) -> bool:
        """Whether a call may be of a method of JUnit 3's test cases."""
        classes = (at for at in upward(call) if at.type == "class_declaration")
        bases = (text_of(base) for at in classes if (base := field_of(at, "superclass")) is not None)
        return next(bases, "").endswith(("TestCase", "Test", "TestBase", "Tests"))

    # -- what is said of one value

    def _of_matcher(self, kind: str, arguments: Sequence[Node], replaced: Node) -> Assertion | None:
        """Hamcrest's `assertThat`, of JUnit 4 too."""
        is_own = "org.hamcrest.MatcherAssert" not in self._classes
        if is_own or kind not in ("hamcrest", "junit4") or len(arguments) not in (_TWO_SIDES, _WITH_ONE_MORE):
            return None
        read = fluent.claims_of_matcher(arguments[-1]) if self._is_hamcrest_s(arguments[-1]) else None
        if read is not None:
            return self._of_claims(arguments[-2], read[0], replaced, read[1])
        is_condition = len(arguments) == _TWO_SIDES and self._is_text(arguments[0]) and self._is_condition(arguments[1])
        return self._of_truth(arguments[1], replaced, "true") if is_condition else None

    def _is_hamcrest_s(self, matcher: Node) -> bool:
        """Whether what is called like matchers of Hamcrest in one is none of others."""
        first = fluent.calls_of(bare(matcher))[:1]
        return all(map(self._is_of_hamcrest, [*first, *filter(fluent.is_matcher, walk(matcher))]))

    def _is_of_hamcrest(self, call: Node) -> bool:
        holder, name = field_of(call, "object"), name_of(call)
        whole = [path for path in self._scopes.packages if path.rpartition(".")[2][:1].isupper()]
        if holder is not None:
            path = self._scopes.class_of(text_of(holder))
            return path.startswith(_MATCHING) or (
                path in ("Matchers", "CoreMatchers") and path not in self._scopes.classes
            )
        if name in self._scopes.members:
            return self._scopes.members[name].startswith(_MATCHING)
        is_open = any(
            path not in _CLASSES and not path.startswith((*_MATCHING, "java.", "org.mockito")) for path in whole
        )
        return not self._statics.has_method(name) and (not is_open or any(path.startswith(_MATCHING) for path in whole))

    def _is_condition(self, node: Node) -> bool:
        """Whether an expression is a boolean by its form, and no matcher."""
        node = bare(node)
        holder = field_of(node, "object") if node.type == "method_invocation" else None
        is_asked = holder is not None and self._scopes.resolve(holder) is not None
        return is_asked or node.type in ("binary_expression", "unary_expression", "instanceof_expression")

    def _of_chain(self, call: Node, replaced: Node) -> Assertion | None:
        """`assertThat(value).isEqualTo(…)…` of AssertJ and Truth, and what AssertJ says of what is thrown."""
        first, *calls = fluent.calls_of(call)
        kind, name, arguments = self.library(first), name_of(first), arguments_of(first)
        if kind == "truth" and name == "assertWithMessage" and calls and name_of(calls[0]) == "that":
            arguments, calls = arguments_of(calls[0]), calls[1:]
            name = "assertThat"
        if kind not in ("assertj", "truth") or not calls or not arguments:
            return None
        if name == "assertThatCode" and [name_of(each_call) for each_call in calls] == ["doesNotThrowAnyException"]:
            return self._of_nothing_thrown(call, arguments[0])
        if name == "assertThatExceptionOfType" and name_of(calls[0]) == "isThrownBy":
            kinds = [fluent.Claim(op="java.kind", nodes=(arguments[0],), options={})]
            claims = fluent.claims_of(kind, calls[1:])
            return self._of_body(call, arguments_of(calls[0])[0], claims if claims is None else kinds + claims)
        if name == "assertThatThrownBy":
            return self._of_body(call, arguments[0], fluent.claims_of(kind, calls))
        around, chain = fluent.led(kind, calls)
        claims = fluent.claims_of(kind, chain)
        assertion = self._of_claims(arguments[0], claims, replaced) if name == "assertThat" and claims else None
        if assertion is None or around == AS_IT_IS:
            return assertion
        value = Operand(node=assertion.operands[0].node, around=around)
        return replace(assertion, operands=(value, *assertion.operands[1:]), compares="", condition=None)

    def _of_claims(
        self, value: Node, claims: Sequence[fluent.Claim], replaced: Node, joined: Options | None = None
    ) -> Assertion | None:
        nodes = [value, *(node for claim in claims for node in claim.nodes)]
        patterns = [node for claim in claims for node in claim.nodes if claim.op == "java.matches"]
        if not all(map(self._statics.is_static, patterns)):
            return None
        if len(claims) == 1:
            op, options = claims[0].op, claims[0].options
            if op == "java.kind" and set(options) <= {"not"}:
                return self._of_kind(replaced, nodes[0], nodes[1], options)
            if op == "java.truth":
                return self._of_truth(value, replaced, "false" if options.get("not") else "true")
            compares = "equal" if op == "java.equals" and not options.get("not") else ""
            return self._of_operands(replaced, op, nodes, options, compares)
        return self._of_operands(replaced, "java.chain", nodes, {**_parts(claims), **(joined or {})})

    def _of_truth(self, node: Node, replaced: Node, word: str) -> Assertion:
        """That a condition is true, or false."""
        assertion = self._holding(node, replaced)
        options = dict(assertion.options) if word == "true" else contrary(assertion.options)
        return replace(assertion, options=options, condition=(word, (place_of(node),)))

    def _of_body(self, call: Node, body: Node, claims: Sequence[fluent.Claim] | None) -> Assertion | None:
        """What is said of what a body throws."""
        nodes = [node for claim in claims or () for node in claim.nodes]
        runs = self._running(body)
        if not claims or runs is None or not all(map(self._statics.is_static, nodes)):
            return None
        operands = tuple(Operand(node=node, static=True) for node in nodes)
        options = _parts(claims)
        return Assertion(
            op="java.raises", operands=operands, replaced=call, form="thrown", body=body, runs=runs, options=options
        )

    def _of_nothing_thrown(self, call: Node, body: Node) -> Assertion | None:
        runs = self._running(body)
        if runs is None:
            return None
        return Assertion(op="no_raise", operands=(), replaced=call, form="thrown", body=body, runs=runs)

    # -- JUnit's methods

    def _of_junit(self, kind: str, name: str, arguments: Sequence[Node], replaced: Node) -> Assertion | None:
        if name in _TWO:
            op, options, compares = _TWO[name]
            if kind == "junit4" and op == "java.equals":
                options = {**options, "promotes": "whole"}
            if kind == "testng" and op == "java.equals":
                options, compares = {**options, "arrays": True}, compares and "alike"
            options = {**options, "typed": True} if kind == "junit5" and op == "java.arrays" else options
            nodes = self._compared(kind, arguments, is_negative=bool(options.get("not")))
            if len(nodes) == _WITH_ONE_MORE and op == "java.equals":
                op, compares = "java.near", ""
            if not nodes:
                return None
            assertion = self._of_operands(replaced, op, nodes, options, compares)
            is_pair = options.get("not") and len(nodes) == _TWO_SIDES
            return replace(assertion, condition=_contrary_of(op, nodes)) if is_pair else assertion
        if name in ("assertTrue", "assertFalse", *_ONE):
            nodes = [node for node in arguments if bare(node).type not in _FUNCTIONS]
            if not nodes or len(arguments) > _TWO_SIDES:
                return None
            looked_at = nodes[-1] if kind == "junit4" else nodes[0]
            if name in _ONE:
                return self._of_operands(replaced, _ONE[name][0], [looked_at], _ONE[name][1])
            return self._of_truth(looked_at, replaced, "true" if name == "assertTrue" else "false")
        if name == "assertInstanceOf" and len(arguments) >= _TWO_SIDES and arguments[0].type == "class_literal":
            return self._of_kind(replaced, arguments[1], arguments[0])
        return None

    def _of_kind(self, replaced: Node, value: Node, kind: Node, options: Options | None = None) -> Assertion:
        """That something is of a class, which of all but exceptions only the classes themselves tell."""
        condition: tuple[Piece, ...] = (place_of(kind), ".isInstance(", place_of(value), ")")
        assertion = self._of_operands(replaced, "java.kind", [value, kind], options or {})
        return replace(assertion, condition=("false" if options else "true", condition))

    def _compared(self, kind: str, arguments: Sequence[Node], *, is_negative: bool) -> list[Node]:
        """What is compared of a method's arguments, and a delta; nothing where that can't be told from a message.

        Of what two are not to be, a delta that is taken for one of them would hold as well.
        """
        if len(arguments) == _TWO_SIDES:
            return list(arguments)
        if kind == "junit4" and len(arguments) == _WITH_TWO_MORE:
            return list(arguments[1:])
        if kind == "junit4" and len(arguments) == _WITH_ONE_MORE:
            is_said = self._is_text(arguments[0])
            is_delta = not is_said and self._is_number(arguments[2])
            is_open = is_negative and not is_said and not is_delta
            return [] if is_open else list(arguments if is_delta else arguments[1:])
        if len(arguments) == _WITH_TWO_MORE and self._is_number(arguments[2]):
            return list(arguments[:3])
        if len(arguments) == _WITH_ONE_MORE and self._is_number(arguments[2]):
            return list(arguments)
        if len(arguments) == _WITH_ONE_MORE and self._is_message(arguments[2]):
            return list(arguments[:2])
        return []

    def _is_message(self, node: Node) -> bool:
        return (
            bare(node).type in _FUNCTIONS or self._is_text(node) or _TELLING.fullmatch(name_of(bare(node))) is not None
        )

    def _is_text(self, node: Node) -> bool:
        binding = self._scopes.of_name(node)
        return holds_text(node) or (binding is not None and binding.type_name == "String")

    def _is_number(self, node: Node) -> bool:
        node = bare(node)
        if node.type in ("unary_expression", "binary_expression"):
            return all(map(self._is_number, named(node)))
        if node.type in ("identifier", "field_access"):
            binding = self._scopes.resolve(node)
            is_bound = binding is not None and _SIZES.fullmatch(binding.type_name) is not None
            return is_bound or text_of(node).startswith(("Double.", "Float."))
        if node.type == "cast_expression":
            return _SIZES.fullmatch(field_text(node, "type")) is not None
        return node.type in NUMBERS

    def _holding(self, node: Node, replaced: Node) -> Assertion:
        """What a condition says of values."""
        inner = bare(node)
        operator = field_text(inner, "operator")
        if inner.type == "unary_expression" and operator == "!":
            assertion = self._holding(named(inner)[0], replaced)
            return replace(assertion, options=contrary(assertion.options))
        if inner.type == "binary_expression" and operator in _COMPARISONS:
            op, options = _COMPARISONS[operator]
            return self._of_operands(replaced, op, named(inner), options, "same" if op == "java.same" else "")
        if inner.type == "method_invocation":
            holder, name, arguments = field_of(inner, "object"), name_of(inner), arguments_of(inner)
            is_arrays = text_of(holder) == "Arrays" and name == "equals"
            if len(arguments) == _TWO_SIDES and (is_arrays or f"{text_of(holder)}.{name}" == "Objects.equals"):
                op, options = ("java.arrays", FLAT) if is_arrays else ("java.equals", OBJECTS)
                return self._of_operands(replaced, op, arguments, options)
            if name in _CALLED and holder is not None and len(arguments) == _ONE_SIDE:
                op, options = _CALLED[name]
                sides = [holder, *arguments]
                looked_at = arguments if name == "matches" else sides
                if any(map(self._statics.is_static, looked_at)) and holder.type not in ("super", "this"):
                    if options == CALLED and _TAKES_NULL.match(text_of(self._made_by(holder))):
                        options = {}
                    assertion = self._of_operands(replaced, op, sides, options)
                    value, other = assertion.operands
                    searched = value if value.static or name != "contains" else replace(value, around=_SEARCHED)
                    return replace(assertion, operands=(searched, other))
        return self._of_operands(replaced, "java.truth", [inner], {})

    def _made_by(self, node: Node) -> Node:
        """What a name is set to that nothing else sets; anything else itself."""
        binding = self._scopes.of_name(bare(node))
        return (
            binding.init if binding is not None and binding.init is not None and not binding.is_written else bare(node)
        )

    def _operand(self, node: Node, around: tuple[str, str] = AS_IT_IS) -> Operand:
        return Operand(node=node, static=self._statics.is_static(node), around=around)

    def _of_operands(
        self, replaced: Node, op: str, nodes: Sequence[Node], options: Options, compares: str = ""
    ) -> Assertion:
        operands = tuple(map(self._operand, nodes))
        if compares and not any(operand.static for operand in operands):
            operands = self._constants(operands)
        return Assertion(op=op, operands=operands, replaced=replaced, options=options, compares=compares)

    def _of_thrown(self, call: Node, name: str, arguments: Sequence[Node], *, is_used: bool) -> Assertion | None:
        kinds = [node for node in arguments if node.type == "class_literal"]
        if name == "assertDoesNotThrow":
            return self._of_nothing_thrown(call, arguments[0]) if arguments and not is_used else None
        body = arguments[arguments.index(kinds[0]) + 1 :][:1] if len(kinds) == 1 else []
        runs = self._running(body[0]) if body else None
        if runs is None:
            return None
        options: Options = {"exact": True} if name == "assertThrowsExactly" else {}
        assertion = _raising("thrown", (Operand(node=kinds[0], static=True),), call, options)
        return replace(assertion, body=body[0], runs=runs, is_used=is_used)

    def _running(self, node: Node) -> str | None:
        """The method that runs a body which is an object; empty of a function, None of anything else."""
        node = bare(node)
        if node.type in _FUNCTIONS:
            return ""
        binding = self._scopes.of_name(node)
        kind = field_text(node, "type") if node.type == "object_creation_expression" else ""
        return _RUNNING.get((binding.type_name if binding is not None else kind).rpartition(".")[2])


def products_in(paths: Iterable[str]) -> set[str]:
    """The classes of assertions that a tree has itself, by the paths of its files."""
    ends = {f"/{name.replace('.', '/')}.java": name for name in _CLASSES}
    return {name for path in paths for end, name in ends.items() if f"/{path}".endswith(end)}


def _throws(statement: Node) -> bool:
    return statement.type == "throw_statement" and _SKIPPING.search(text_of(statement)) is None


def _only_fails(call: Node) -> bool:
    """Whether a call fails a test whatever it is given, such as `assertTrue("why", false)`."""
    words = {node.type for node in arguments_of(call) if node.type in ("true", "false")}
    expected = {"assertTrue": {"false"}, "assertFalse": {"true"}, "assertEquals": {"true", "false"}}
    name = name_of(call)
    return name in ("fail", "failBecauseExceptionWasNotThrown") or words == expected.get(name)


def _raising(form: str, operands: tuple[Operand, ...], replaced: Node, options: Options | None = None) -> Assertion:
    """That something of one of some classes is thrown."""
    part = {"op": "java.kind", "count": len(operands), "options": options or {}}
    return Assertion(op="java.raises", operands=operands, replaced=replaced, form=form, options={"parts": [part]})


def _parts(claims: Sequence[fluent.Claim]) -> Options:
    return {"parts": [{"op": claim.op, "count": len(claim.nodes), "options": dict(claim.options)} for claim in claims]}


def _contrary_of(op: str, nodes: Sequence[Node]) -> tuple[str, tuple[Piece, ...]]:
    """What is asserted to be false of two values."""
    left, other = map(place_of, nodes)
    if op == "java.same":
        return "false", ("(Object) (", left, ") == (Object) (", other, ")")
    return "false", ("java.util.Objects.equals(", left, ", ", other, ")")
