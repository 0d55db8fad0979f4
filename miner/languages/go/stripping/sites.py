"""The assertions of a test file in Go: what each compares, and how the host will decide it. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from tree_sitter import Node

from harness.core.syntax import (
    arguments_of,
    bare,
    callee_of,
    field_of,
    field_text,
    is_field,
    named,
    text_of,
    walk,
    words,
)
from miner.languages.go.stripping import libraries
from miner.languages.go.stripping.libraries import Form
from miner.languages.go.stripping.scopes import OWN, Binding, Scopes, function_around, listed, statements_of
from miner.languages.go.stripping.static import TEXTS, Statics, is_standard
from miner.languages.go.stripping.turns import Turns
from miner.languages.stripping import sites
from miner.languages.stripping.sites import AS_IT_IS, NOT, Options, contrary

if TYPE_CHECKING:
    from miner.languages.go.stripping.libraries import Library


@dataclass(frozen=True, kw_only=True)
class Operand(sites.Operand):
    """One side of an assertion."""

    is_none: bool = False
    """It is `nil`, whatever the node is."""
    beside: Node | None = None
    """What stands behind the node within `around`, as a further argument."""
    is_later: bool = False
    """It is asked after others, which may settle what is claimed and keep it from a panic."""
    is_answer: bool = False
    """It is what `errors.Is` says of the two operands before it."""


@dataclass(frozen=True, kw_only=True)
class Side:
    """What a function compares: an argument as a value of some type, or `nil`."""

    argument: int | None
    around: tuple[str, str]
    kinds: Mapping[str, str] = field(default_factory=dict)
    """Names in that type, each with the path of its package; of the tests' own none."""


@dataclass(frozen=True)
class Check:
    """A function that fails a test unless something holds of what it is given."""

    count: int
    """Of its parameters; the first is the test."""
    op: str
    sides: tuple[Side, ...]
    options: Mapping[str, object]
    is_condition: bool
    """It is given the condition itself."""


@dataclass(frozen=True)
class Package:
    """What the test files of one package say of each other."""

    checks: Mapping[str, Check] = field(default_factory=dict)
    suites: frozenset[str] = frozenset()
    """Types that testify runs the methods of."""
    methods: frozenset[str] = frozenset()
    """What these have of their own."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Assertion(sites.Assertion):
    """One assertion, in the terms of the host's judge (harness/judging/go)."""

    operands: tuple[Operand, ...]
    tester: str = ""
    """The expression for the test that it belongs to."""
    fails: Node | None = None
    """Of an `if` or a `case` whose condition, or a part of it, is replaced: what it does to fail the test."""
    is_asked: bool = False
    """It stands where a test asks whether it holds, and goes on as if it did."""
    initializer: Node | None = None
    """What the `if` declares for the assertion alone, which goes with it."""
    condition: str = ""
    """What holds, as Go says it; empty where nothing says it."""
    dotted: str = ""
    """A function of a package that is imported without a name."""
    is_output: bool = False
    """It is the comment that says what an example prints."""
    questions: tuple[Node, ...] = ()
    """What its message asks of the product, which may panic."""

    @property
    def has_result(self) -> bool:
        """Where the file says what has to hold."""
        return bool(self.condition)


_FAILING = frozenset({"Error", "Errorf", "Fatal", "Fatalf", "Fail", "FailNow"})
TESTERS = re.compile(r"\*?(?:testing|check|gocheck|gc|qt|quicktest)\.(?:T|B|F|TB|C)|\*C")
_OF_CONSTANTS = ("go.==", "go.<", "go.>")
"""Operators of which an untyped constant takes the type of the other side."""
_ALONE = words("expression_statement defer_statement go_statement")
_SPREAD = ("variadic_argument",)
_HOLDING = re.compile(r"interface\{\}|any|error")
_NAMES = words("type_identifier package_identifier")
"""How names stand in a type, but for what is of a package."""
_BINARY: Mapping[str, tuple[str, Options]] = {
    "==": ("go.==", {}), "!=": ("go.==", NOT), "<": ("go.<", {}), ">=": ("go.<", NOT),
    ">": ("go.>", {}), "<=": ("go.>", NOT),
}  # fmt: skip
_TYPED: Options = {"types": "=="}
"""Both sides are of one type, or it does not compile."""
_CALLED: Mapping[str, tuple[str, Options]] = {
    "reflect.DeepEqual": ("go.deep", {}), "bytes.Equal": ("go.same", {}), "slices.Equal": ("go.same", {}),
    "maps.Equal": ("go.same", {}), "strings.Contains": ("go.contains", _TYPED),
    "bytes.Contains": ("go.contains", {}), "strings.HasPrefix": ("go.prefix", _TYPED),
    "strings.HasSuffix": ("go.suffix", _TYPED),
}  # fmt: skip
"""Functions of two values that say whether something holds, by the end of the package's path and their name."""
_DURATIONS = words("Nanosecond Microsecond Millisecond Second Minute Hour")
_DIFF = "go-cmp/cmp.Diff"
_COLLECTING = ".CollectT"
"""What collects failures for testify, which tries again."""
_ASKING = words("call_expression index_expression selector_expression unary_expression slice_expression")
"""What may panic, or change what it is of."""
_TWO_SIDES = 2


class Reader(sites.Reader[Statics]):
    """Reads the assertions of one file."""

    def __init__(self, scopes: Scopes, statics: Statics, package: Package, testing: str) -> None:
        """With what other files of its package say, and what the file calls the testing package."""
        self._scopes, self._statics, self._package = scopes, statics, package
        self._testing = testing
        self._chain = (f"{testing}.GoldseamChain(", ")")
        self._dotted = self._paths(".")
        self._turns = Turns(
            scopes,
            statics,
            fails=self._failing_in,
            asserts=lambda node: node.type == "call_expression" and self._library(node) is not None,
            is_watched=self._is_watched,
            is_subtest=self._is_subtest,
        )

    def of_guard(self, node: Node) -> list[Assertion]:
        """The assertions that an `if` or a `case` makes which fails the test; none where it is none."""
        condition, body = condition_of(node), body_of(node)
        if condition is None or body is None:
            return []
        tester = self._failing_in(body)
        if not tester:
            return self._of_alternative(node, condition)
        inner = bare(condition)
        if field_text(inner, "operator") == "!" and (call := self.of_asked(bare(named(inner)[0]))) is not None:
            return [replace(call, fails=body)]
        diff = self._of_diff(node, condition)
        if diff is not None:
            return [replace(diff, tester=tester, fails=body)]
        if any(map(self._is_apart, walk(condition))):
            return []
        parts = [self._failing_if(part) or _unread(part) for part in map(_unguarded, _split(condition, "||"))]
        return [replace(part, tester=tester, fails=body) for part in parts]

    def _of_alternative(self, guard: Node, condition: Node) -> list[Assertion]:
        """The assertion that an `if` makes of which the `else` alone fails the test."""
        alternative = field_of(guard, "alternative")
        tester = self._failing_in(alternative) if alternative is not None and alternative.type == "block" else ""
        if not tester or alternative is None or any(map(self._is_apart, walk(condition))):
            return []
        assertion = self._holding(condition) or _unread(condition)
        how = text_of(condition)
        return [replace(assertion, tester=tester, replaced=condition, fails=alternative, is_asked=True, condition=how)]

    def _is_apart(self, node: Node) -> bool:
        """Whether a call in a condition asserts itself, or tells of a panic, which it does only where it stands."""
        return field_text(node, "function") == "recover" or self.of_asked(node) is not None

    def of_asked(self, node: Node) -> Assertion | None:
        """The assertion that a call of a library makes whose answer a test looks at; None where it is no such call."""
        around = node.parent
        if node.type != "call_expression" or around is None or around.type in _ALONE:
            return None
        library = self._library(node)
        assertion = self._of_library(node, *library) if library is not None and self._is_of_test(node) else None
        return assertion and replace(assertion, is_asked=True)

    def _is_of_test(self, call: Node) -> bool:
        """Whether a function of a library is given a test itself, or is a method of what was made for one."""
        function, arguments = callee_of(call), arguments_of(call)
        library = libraries.called(self._statics.package_of(field_of(function, "operand")))
        if library is None:
            return True
        is_asking = not library.checking or field_text(function, "field") in library.checking
        return is_asking and bool(arguments) and self._is_tester(arguments[0])

    def of_statement(self, node: Node) -> Assertion | None:
        """The assertion that a call of a library makes which stands alone; None where it makes none that is known."""
        call = named(node)[0] if node.type == "expression_statement" and named(node) else None
        if call is None or call.type != "call_expression" or (node.parent and node.parent.type != "statement_list"):
            return None
        library = self._library(call)
        if library is None:
            return self._of_check(node, call)
        assertion = self._of_library(call, *library)
        return assertion and replace(assertion, replaced=node)

    def _of_library(self, call: Node, form: Form | None, tester: str, arguments: list[Node]) -> Assertion | None:
        assertion = self._of_form(form, arguments) if form is not None else None
        if assertion is not None and form is not None:
            beside = [operand.beside for operand in assertion.operands]
            further = (node for node in arguments[len(form.takes) :] if node not in beside)
            questions = (part for node in further for part in self._questions_in(node, assertion.operands))
            assertion = replace(assertion, questions=tuple(questions))
        function = field_of(call, "function")
        dotted = text_of(function) if function is not None and function.type == "identifier" else ""
        return assertion and replace(assertion, tester=tester, replaced=call, condition="", dotted=dotted)

    def _questions_in(self, message: Node, operands: Sequence[Operand]) -> list[Node]:
        """What a part of a message asks of the product, but for what has a text or an expectation in it."""
        node = bare(message)
        if self._statics.is_static(node):
            return []
        path = self._statics.package_of(field_of(callee_of(node), "operand"))
        if is_standard(path):
            return [part for argument in arguments_of(node) for part in self._questions_in(argument, operands)]
        kept = [text_of(operand.node) for operand in operands if operand.static]
        if (
            node.type not in _ASKING
            or field_text(node, "operator") == "&"
            or any(text in text_of(node) for text in kept)
        ):
            return []
        return [] if any(inner.type in ("func_literal", *TEXTS) for inner in walk(node)) else [node]

    def is_unread(self, node: Node) -> bool:
        """Whether a call fails the test, or is of a library that may."""
        if node.type != "call_expression":
            return False
        return bool(self._failing_call(node)) or self._library(node) is not None

    # -- guards

    def _failing_in(self, body: Node) -> str:
        """The test that a block fails, or an `if` after an `else`."""
        statements = [body] if body.type == "if_statement" else statements_of(body)
        return next(filter(None, map(self._failing, statements)), "")

    def _failing(self, statement: Node) -> str:
        """The test that a statement fails whatever happens, as it is called there; empty where it fails none."""
        inner = named(statement)
        if statement.type == "if_statement":
            ways = (field_of(statement, name) for name in ("consequence", "alternative"))
            testers = [self._failing_in(way) if way is not None else "" for way in ways]
            return testers[0] if all(testers) else ""
        if statement.type != "expression_statement" or not inner:
            return ""
        if field_text(inner[0], "function") == "panic":
            function = function_around(statement)
            parameters = self._scopes.parameters(function) if function is not None else []
            return next((parameter.name for parameter in parameters if self._is_tester(parameter.declared)), "")
        return self._failing_call(inner[0])

    def _of_check(self, node: Node, call: Node) -> Assertion | None:
        """A call of a function of the package that only compares what it is given: `check(t, got == 3)`."""
        function, arguments = field_of(call, "function"), arguments_of(call)
        if function is None or function.type != "identifier" or any(argument.type in _SPREAD for argument in arguments):
            return None
        binding = self._scopes.resolve(function)
        if binding is None:
            check = self._package.checks.get(text_of(function))
        else:
            is_function = binding.kind == "func" and binding.init is not None
            check = self.check_of(binding.init) if is_function and binding.init is not None else None
        if check is None or len(arguments) != check.count:
            return None
        tester = text_of(arguments[0])
        if check.is_condition:
            condition = arguments[check.sides[0].argument or 0]
            assertion = self._failing_if(condition) if check.options.get("not") else self._holding(condition)
            assertion = _of_bool(assertion) if "bool" in check.sides[0].kinds else assertion
            return assertion and replace(assertion, tester=tester, replaced=node, condition="")
        if not all(self._is_known(side.kinds, node) for side in check.sides):
            return None
        operands = tuple(
            Operand(node=node, static=True, is_none=True)
            if side.argument is None
            else self._operand(arguments[side.argument], side.around)
            for side in check.sides
        )
        if all(operand.static for operand in operands):
            return None
        options = self._with_untyped(check.options, operands, is_typed=check.op in _OF_CONSTANTS)
        return Assertion(op=check.op, operands=operands, tester=tester, replaced=node, options=options)

    def _is_known(self, kinds: Mapping[str, str], node: Node) -> bool:
        """Whether names of types stand for the same at a node, by the paths of their packages."""
        for name, path in kinds.items():
            binding = self._scopes.seen(name, node)
            if (binding.path if binding is not None else "") != path:
                return False
            if binding is not None and function_around(binding.declared) is not None:
                return False
        return True

    def check_of(self, function: Node) -> Check | None:
        """What a function asks of its parameters which fails a test unless that holds, and does nothing else."""
        parameters = self._scopes.parameters(function)
        testers = [parameter for parameter in parameters if self._is_tester(parameter.declared)]
        statements = [statement for statement in statements_of(field_of(function, "body")) if not _is_plain(statement)]
        if len(parameters) < _TWO_SIDES or testers != parameters[:1] or len(statements) != 1:
            return None
        if any(parameter.statement.type != "parameter_declaration" for parameter in parameters):
            return None
        assertions = self.of_guard(statements[0])
        if len(assertions) != 1 or assertions[0].is_unread or field_of(statements[0], "alternative"):
            return None
        assertion = assertions[0]
        sides: list[Side] = []
        for operand in assertion.operands:
            name = bare(operand.node)
            binding = self._scopes.of_name(name)
            if binding is not None and binding in parameters:
                sides.append(self._side(function, binding.statement, parameters.index(binding), operand))
            elif name.type == "nil":
                sides.append(Side(argument=None, around=operand.around))
            else:
                return None
        arguments = [side.argument for side in sides if side.argument is not None]
        if not arguments or len(set(arguments)) < len(arguments) or assertion.op == "go.of":
            return None
        is_condition = assertion.op == "go.truth"
        options = {name: value for name, value in assertion.options.items() if name != "untyped"}
        return Check(len(parameters), assertion.op, tuple(sides), options, is_condition=is_condition)

    def _side(self, function: Node, parameter: Node, place: int, operand: Operand) -> Side:
        """What a function compares as one of its parameters; what that may not be given does not compile."""
        kind, (front, back) = field_of(parameter, "type"), operand.around
        if _HOLDING.fullmatch(text_of(kind)):
            return Side(argument=place, around=(f"{front}{text_of(kind)}(", f"){back}"))
        names = [node for node in walk(kind) if node.type in _NAMES and not is_field(node.parent, "name", node)]
        generic = {text_of(node) for node in walk(field_of(function, "type_parameters")) if node.type == "identifier"}
        if generic & set(map(text_of, names)) or "\n" in text_of(kind):
            return Side(argument=place, around=operand.around)
        bindings = {text_of(node): self._scopes.resolve(node) for node in names}
        paths = {name: binding.path if binding is not None else "" for name, binding in bindings.items()}
        own = f"(func(goldseam {text_of(kind)}) {text_of(kind)} {{ return goldseam }})("
        return Side(argument=place, around=(front + own, f"){back}"), kinds=paths)

    def _failing_call(self, call: Node) -> str:
        function = callee_of(call)
        if function is None or function.type != "selector_expression":
            return ""
        operand = field_of(function, "operand")
        if operand is None or field_text(function, "field") not in _FAILING:
            return ""
        is_tester = operand.type == "identifier" and self._is_tester(operand)
        return text_of(operand) if is_tester or self._suite_of(operand, ("T",)) else ""

    def _suite_of(self, node: Node, methods: Sequence[str]) -> str:
        """The suite of whose own name one of these methods is called: `s.T()`; empty for another node."""
        function = callee_of(node)
        if function is None or field_text(function, "field") not in methods:
            return ""
        operand = field_of(function, "operand")
        binding = self._scopes.of_name(operand)
        return text_of(operand) if binding is not None and self._is_suite(binding) else ""

    def _is_suite(self, binding: Binding) -> bool:
        kind = field_text(binding.statement, "type") if binding.kind == "param" else ""
        return kind.lstrip("*") in self._package.suites

    def _is_tester(self, node: Node) -> bool:
        binding = self._scopes.resolve(node)
        if binding is None or binding.kind != "param":
            return False
        return TESTERS.fullmatch(field_text(binding.statement, "type")) is not None and self._statics.is_tester(binding)

    def _of_diff(self, guard: Node, condition: Node) -> Assertion | None:
        """`if diff := cmp.Diff(a, b); diff != ""`, where nothing else reads the difference but the message."""
        initializer = field_of(guard, "initializer")
        sides = [child for child in named(bare(condition)) if bare(condition).type == "binary_expression"]
        if len(sides) != _TWO_SIDES or sides[0].type != "identifier" or not _is_none(sides[1]):
            return None
        if field_text(bare(condition), "operator") not in ("!=", ">"):
            return None
        binding = self._scopes.resolve(sides[0])
        if binding is None or binding.init is None or binding.is_written or initializer is None:
            return None
        if binding.statement.id != initializer.id or self._function_of(binding.init) != _DIFF:
            return None
        arguments, options = arguments_of(binding.init), self._of_cmp(binding.init)
        if options is None:
            return None
        operands = tuple(map(self._operand, arguments[:_TWO_SIDES]))
        return Assertion(
            op="go.cmp",
            operands=operands,
            replaced=condition,
            initializer=initializer,
            options=options,
            condition=f'{text_of(binding.init)} == ""',
        )

    def _of_cmp(self, call: Node) -> Options | None:
        """Options of a comparison by go-cmp; None where it has others than that nothing is as empty."""
        rest = arguments_of(call)[_TWO_SIDES:]
        if any(self._function_of(option) != "cmp/cmpopts.EquateEmpty" for option in rest):
            return None
        return {"empty": True} if rest else {}

    def _failing_if(self, node: Node) -> Assertion | None:
        """What holds unless this does; None where it says nothing of a value."""
        assertion = self._holding(node)
        if assertion is None:
            return None
        return replace(assertion, options=contrary(assertion.options), condition=f"!({text_of(node)})")

    def _holding(self, node: Node) -> Assertion | None:
        """What this says of values, as an assertion."""
        inner = bare(node)
        operator = field_text(inner, "operator")
        if inner.type == "unary_expression" and operator == "!":
            operand = field_of(inner, "operand")
            assertion = self._holding(operand) if operand is not None else None
            if assertion is None:
                return None
            return replace(assertion, replaced=node, options=contrary(assertion.options))
        if inner.type == "binary_expression" and operator in _BINARY:
            op, options = _BINARY[operator]
            return self._of_operands(node, op, named(inner), options)
        if inner.type == "binary_expression" and operator in ("&&", "||"):
            return self._of_all(node, _split(inner, operator), operator)
        function = self._function_of(inner)
        arguments = arguments_of(inner)
        if function in _CALLED and len(arguments) == _TWO_SIDES:
            op, options = _CALLED[function]
            return self._of_operands(node, op, arguments, options)
        if function == "errors.Is" and len(arguments) == _TWO_SIDES and self._is_compared_outside(arguments[1]):
            operands = _with_answer([self._operand(arguments[0], self._chain), self._operand(arguments[1])])
            return Assertion(op="go.is", operands=operands, replaced=node)
        if function == "go-cmp/cmp.Equal" and (how := self._of_cmp(inner)) is not None:
            return self._of_operands(node, "go.cmp", arguments[:_TWO_SIDES], how)
        return self._of_operands(node, "go.truth", [inner], {})

    def _is_compared_outside(self, target: Node) -> bool:
        """Whether what `errors.Is` looks for comes out beside what it looks in, or is Go's own.

        What a test writes of a type of the product's is equal to nothing but by a method `Is`.
        """
        return not self._operand(target).static or self._statics.is_shown_by_go(target)

    def _of_all(self, node: Node, parts: Sequence[Node], operator: str) -> Assertion | None:
        """Several that hold together, or of which one does."""
        claims = [self._holding(part) for part in parts]
        assertion = [_without_answer(part) for part in claims if part is not None]
        if len(assertion) < len(claims):
            return None
        settings = [{"op": part.op, "count": len(part.operands), "options": dict(part.options)} for part in assertion]
        operands = tuple(
            replace(operand, is_later=operand.is_later or place > 0)
            for place, part in enumerate(assertion)
            for operand in part.operands
        )
        if all(operand.static for operand in operands):
            return None
        how: Options = {"of": "all" if operator == "&&" else "any", "parts": settings}
        return Assertion(op="go.of", operands=operands, replaced=node, options=how)

    def _of_operands(self, node: Node, op: str, nodes: Sequence[Node], options: Options) -> Assertion:
        operands = tuple(map(self._operand, nodes))
        counted = [self._statics.is_static_as_counted(node) and self._is_in_order(node) for node in nodes]
        if not all(counted):
            operands = tuple(replace(operand, static=static) for operand, static in zip(operands, counted, strict=True))
        operands = _told(operands)
        settings = self._with_untyped(options, operands, is_typed=op in _OF_CONSTANTS)
        if op in _OF_CONSTANTS and not any(self._may_be_untyped(operand.node) for operand in operands):
            settings = {**settings, **_TYPED}
        return Assertion(op=op, operands=operands, replaced=node, options=settings)

    def _operand(self, node: Node, around: tuple[str, str] = AS_IT_IS) -> Operand:
        return Operand(node=node, static=self._statics.is_static(node) and self._is_in_order(node), around=around)

    def _is_in_order(self, node: Node) -> bool:
        """Whether it is known of which row, turn and call an expression is each time."""
        return self._statics.is_ordered(node, self._is_subtest) and not self._turns.are_mixed(node)

    def _is_watched(self, listing: Node) -> bool:
        """Whether what a call gives on is run once, by a test, a library of assertions or the call itself."""
        call = listing.parent
        function = callee_of(call)
        operand = field_of(function, "operand")
        if call is None or function is None or operand is None:
            return False
        return self._library(call) is not None or (operand.type == "identifier" and self._is_tester(operand))

    def _is_subtest(self, function: Node) -> bool:
        """Whether a function is given to a test or a suite that runs it as one of its own."""
        call = function.parent.parent if function.parent is not None else None
        called = callee_of(call)
        operand = field_of(called, "operand")
        if operand is None or field_text(called, "field") != "Run":
            return False
        binding = self._scopes.of_name(operand)
        return self._is_tester(operand) or (binding is not None and self._is_suite(binding))

    def _with_untyped(self, options: Mapping[str, object], operands: Sequence[Operand], *, is_typed: bool) -> Options:
        """Options with the places of constants, where these take the type of the other side."""
        parts = enumerate(operands) if is_typed else ()
        places = [place for place, part in parts if not part.around[0] and self._is_untyped(part.node)]
        return {**options, **({"untyped": places} if places else {})}

    def _is_untyped(self, node: Node) -> bool:
        """Whether it is a constant that takes the type of what it is compared with."""
        node = bare(node)
        if node.type == "identifier":
            binding = self._scopes.resolve(node)
            if binding is None or binding.kind != "const" or binding.init is None:
                return False
            return field_of(binding.statement, "type") is None and self._is_untyped(binding.init)
        if node.type in ("unary_expression", "binary_expression"):
            return all(self._is_untyped(child) for child in named(node))
        return node.type.endswith("_literal") and node.type not in ("composite_literal", "func_literal")

    def _may_be_untyped(self, node: Node) -> bool:
        """The same, where a constant of another package may be one."""
        node = bare(node)
        if node.type in ("unary_expression", "binary_expression"):
            operator = field_text(node, "operator")
            sides = named(node)[: 1 if operator in ("<<", ">>") else _TWO_SIDES]
            return operator in _BINARY or all(map(self._may_be_untyped, sides))
        path = self._statics.package_of(field_of(node, "operand")) if node.type == "selector_expression" else ""
        is_other = bool(path) and not (path == "time" and field_text(node, "field") in _DURATIONS)
        binding = self._scopes.of_name(node)
        is_unknown = node.type == "identifier" and (binding is None or binding.kind == "const")
        return is_other or is_unknown or self._is_untyped(node)

    def _function_of(self, call: Node) -> str:
        """The end of the path of the package, and the function of it that is called; empty for another."""
        function = callee_of(call)
        if function is None or function.type != "selector_expression":
            return ""
        path = self._statics.package_of(field_of(function, "operand"))
        name = field_text(function, "field")
        return f"{'/'.join(path.split('/')[-2:])}.{name}" if path and not path.startswith(OWN) else ""

    # -- libraries

    def _library(self, call: Node) -> tuple[Form | None, str, list[Node]] | None:
        """How a library's function that is called compares, the test that it is given, and what else it is.

        The form is None where that is not known, all of it for a call of anything else.
        """
        function, arguments = field_of(call, "function"), arguments_of(call)
        if function is None or any(part.type in _SPREAD for part in arguments):
            return None
        if function.type == "identifier":
            library = next(filter(None, map(libraries.called, self._dotted)), None)
            if library is None or text_of(function) not in library.forms or self._scopes.resolve(function) is not None:
                return None
            return self._called(library, text_of(function), arguments)
        operand, name = field_of(function, "operand"), field_text(function, "field")
        if function.type != "selector_expression" or operand is None:
            return None
        suite = self._suite_of(operand, ("Require", "Assert"))
        binding = self._scopes.of_name(operand)
        if suite or (binding is not None and self._is_suite(binding)):
            form = libraries.form_of(libraries.TESTIFY, name)
            is_testify = bool(suite) or (form is not None and name not in self._package.methods)
            return (form, f"{suite or text_of(operand)}.T()", arguments) if is_testify else None
        if binding is None:
            return None
        if binding.kind == "import":
            library = libraries.called(binding.path)
            if library is None or name in ("New", "NewRelaxed") or not arguments:
                return None
            return self._called(library, name, arguments)
        origin = self._made_by(binding)
        return None if origin is None else self._called(origin[0], name, [origin[1], *arguments])

    def _called(
        self, library: Library, name: str, arguments: Sequence[Node | str]
    ) -> tuple[Form | None, str, list[Node]] | None:
        """A function of a library that is given a test and values; a checker among these says what of them it asks."""
        tester, *rest = arguments
        if not isinstance(tester, str) and not self._may_be_test(tester):
            return None, "", []
        values = [value for value in rest if not isinstance(value, str)]
        text = tester if isinstance(tester, str) else text_of(tester)
        if name in library.checking:
            checked = self._checked(library, values)
            return (checked[0], text, checked[1]) if checked is not None else (None, text, [])
        if library.checking and name not in library.forms:
            return None  # a method of the test
        return libraries.form_of(library, name), text, values

    def _may_be_test(self, node: Node) -> bool:
        """Whether what a library is given may be a test, which fails with it for good."""
        binding = self._scopes.of_name(node)
        if binding is None or binding.init is None:
            is_parameter = binding is not None and binding.kind == "param"
            return not is_parameter or (binding is not None and self._is_named_test(binding))
        made = bare(binding.init)
        return made.type not in ("unary_expression", "composite_literal") and field_text(made, "function") != "new"

    def _is_named_test(self, parameter: Binding) -> bool:
        return self._statics.is_tester(parameter) and not field_text(parameter.statement, "type").endswith(_COLLECTING)

    def _checked(self, library: Library, values: list[Node]) -> tuple[Form, list[Node]] | None:
        """The form of `got, qt.Equals, want` and of `qt.Equals(got, want)`, with its values."""
        is_call = bool(values) and values[0].type == "call_expression"
        function = field_of(values[0], "function") if is_call else None
        named_form = self._checker(library, function)
        if named_form is not None:
            return named_form, arguments_of(values[0])
        inner = arguments_of(values[0]) if is_call and text_of(function).rpartition(".")[2] == "Not" else []
        contrary_form = (
            self._checked(library, inner) if len(inner) == 1 and inner[0].type == "call_expression" else None
        )
        if contrary_form is not None:
            return replace(contrary_form[0], options=contrary(contrary_form[0].options)), contrary_form[1]
        form = self._checker(library, values[1]) if len(values) >= _TWO_SIDES else None
        if form is not None:
            return form, [values[0], *values[2:]]
        return (libraries.HOLDS, values[:1]) if values and library.is_plain else None

    def _checker(self, library: Library, node: Node | None) -> Form | None:
        """The form of a checker, by its name and the package that it is of."""
        if node is not None and node.type == "call_expression":
            function, arguments = field_of(node, "function"), arguments_of(node)
            is_not = text_of(function).rpartition(".")[2] == "Not" and len(arguments) == 1
            form = self._checker(library, arguments[0]) if is_not else None
            return form and replace(form, options=contrary(form.options))
        if node is None or node.type not in ("selector_expression", "identifier"):
            return None
        package, _, name = text_of(node).rpartition(".")
        paths = self._paths(package) if package else []
        is_checker = any(map(library.checkers.fullmatch, paths)) if package else bool(self._dotted)
        return library.forms.get(name) if is_checker else None

    def _paths(self, name: str) -> list[str]:
        """The packages that the file imports under a name."""
        return [
            binding.path for binding in self._scopes.bindings() if binding.kind == "import" and binding.name == name
        ]

    def _made_by(self, binding: Binding) -> tuple[Library, str] | None:
        """The library that made an object of assertions, and the test that it is for."""
        if binding.kind == "param":
            kind = field_text(binding.statement, "type").lstrip("*")
            paths = self._paths(kind.rpartition(".")[0]) or self._dotted
            library = next(filter(None, map(libraries.called, paths)), None)
            is_object = library is not None and kind.rpartition(".")[2] in library.objects
            return (library, binding.name if library.checking else "nil") if library and is_object else None
        init = binding.init
        if binding.kind != "var" or init is None or init.type != "call_expression":
            return None
        if suite := self._suite_of(init, ("Require", "Assert")):
            return libraries.TESTIFY, f"{suite}.T()"
        function, arguments = field_of(init, "function"), arguments_of(init)
        path = self._statics.package_of(field_of(function, "operand")) if function is not None else ""
        library = libraries.called(path)
        if text_of(function).rpartition(".")[2] not in ("New", "NewRelaxed") or len(arguments) != 1:
            return None
        return (library, text_of(arguments[0])) if library is not None and self._may_be_test(arguments[0]) else None

    def _of_form(self, form: Form, arguments: Sequence[Node]) -> Assertion | None:
        if len(arguments) < len(form.takes) or (form.is_all and len(arguments) > len(form.takes)):
            return None
        if form.takes == "h":
            holds = self._failing_if(arguments[0]) if form.options.get("not") else self._holding(arguments[0])
            return _of_bool(holds) if form.options.get("types") else holds
        if form.op == "go.is" and not self._is_compared_outside(arguments[1]):
            return self._of_form(Form("go.truth", "s", form.options), arguments)
        arounds = {**libraries.AROUND, "c": self._chain}
        operands, body = [], None
        for shape, node in zip(form.takes, arguments, strict=False):
            if shape == "p":
                body = node
            elif shape == "x":
                operands.append(self._operand(self._pattern(node)))
            elif shape in libraries.ASKING and len(arguments) > 1:
                around = (f"{self._testing}.{libraries.ASKING[shape]}(", ")")
                operands.append(Operand(node=node, around=around, beside=arguments[1]))
            else:
                operands.append(self._operand(node, arounds[shape]))
        told = tuple(operands) if body is not None else _told(operands)
        told = _with_answer(told) if form.op == "go.is" else told
        options = self._with_untyped(form.options, told, is_typed=form.op in _OF_CONSTANTS or form.is_generic)
        return Assertion(op=form.op, operands=told, replaced=arguments[0], body=body, options=options)

    def _pattern(self, node: Node) -> Node:
        """The text of a regular expression that is compiled where it is given, or that itself."""
        is_compiled = self._function_of(node) == "regexp.MustCompile" and len(arguments_of(node)) == 1
        return arguments_of(node)[0] if is_compiled else node


def condition_of(guard: Node) -> Node | None:
    """What an `if` asks, or a `case` of a `switch` over nothing; None for another node."""
    if guard.type == "expression_case" and guard.parent is not None and not field_of(guard.parent, "value"):
        values = listed(field_of(guard, "value"))
        return values[0] if len(values) == 1 else None
    return field_of(guard, "condition") if guard.type == "if_statement" else None


def body_of(guard: Node) -> Node | None:
    """What an `if` or a `case` does."""
    if guard.type == "expression_case":
        return next((child for child in guard.named_children if child.type == "statement_list"), None)
    return field_of(guard, "consequence")


def _of_bool(assertion: Assertion | None) -> Assertion | None:
    """The same of what is given to a function that takes a boolean of Go's own type."""
    if assertion is None or assertion.op != "go.truth":
        return assertion
    return replace(assertion, options={**assertion.options, **_TYPED})


def _told(operands: Sequence[Operand]) -> tuple[Operand, ...]:
    """What an assertion compares; where all of it seems to be the test's own it comes out, as else nothing would."""
    is_own = all(operand.static for operand in operands)
    return tuple(replace(operand, static=operand.is_none) for operand in operands) if is_own else tuple(operands)


def _with_answer(operands: Sequence[Operand]) -> tuple[Operand, ...]:
    """An error and what is looked for in it; where both come out, with what `errors.Is` says of them."""
    is_open = not any(operand.static for operand in operands)
    return (*operands, *([Operand(node=operands[-1].node, is_answer=True)] if is_open else []))


def _without_answer(assertion: Assertion) -> Assertion:
    return replace(assertion, operands=tuple(part for part in assertion.operands if not part.is_answer))


def _is_plain(statement: Node) -> bool:
    """Whether a statement only says that its function helps a test."""
    return statement.type == "expression_statement" and text_of(statement).endswith(".Helper()")


def _unread(node: Node) -> Assertion:
    """An assertion in a form that is not known."""
    return Assertion(op="go.truth", operands=(), replaced=node, is_unread=True)


def _split(condition: Node, operator: str) -> list[Node]:
    """The parts of a condition between an operator."""
    inner = bare(condition)
    if inner.type == "binary_expression" and field_text(inner, "operator") == operator:
        return [part for side in named(inner) for part in _split(side, operator)]
    return [condition]


def _unguarded(condition: Node) -> Node:
    """Of `x != nil && …x.y…` what stands behind the and, as it can't be asked of nothing."""
    inner = bare(condition)
    if inner.type != "binary_expression" or field_text(inner, "operator") != "&&":
        return condition
    left, right = named(inner)
    sides = named(bare(left))
    is_check = field_text(bare(left), "operator") == "!=" and text_of(sides[-1]) == "nil"
    return right if is_check and f"{text_of(sides[0])}." in text_of(right) else condition


def _is_none(node: Node) -> bool:
    return text_of(node) in ('""', "``")
