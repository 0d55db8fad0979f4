"""The assertions of a test file in Go: what each compares, and how the host will decide it. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from miner.languages.base import Mode
from miner.languages.go.stripping.scopes import arguments_of, bare, function_around, listed, named, statements_of
from miner.languages.syntax import text_of, walk

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tree_sitter import Node

    from miner.languages.go.stripping.scopes import Binding, Scopes
    from miner.languages.go.stripping.static import Statics


@dataclass(frozen=True, kw_only=True)
class Operand:
    """One side of an assertion."""

    node: Node
    static: bool = False
    around: tuple[str, str] = ("", "")
    """What is put before and after its text: the assertion looks at a part of it."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Assertion:
    """One assertion, in the terms of the host's judge (harness/judging/go)."""

    op: str
    operands: tuple[Operand, ...]
    replaced: Node
    """The condition, the part of one, or the statement that is replaced."""
    tester: str = ""
    """The expression for the test that it belongs to."""
    guard: Node | None = None
    """The `if` whose condition, or a part of it, is replaced."""
    initializer: Node | None = None
    """What the `if` declares for the assertion alone, which goes with it."""
    body: Node | None = None
    """What is called and watched for a panic."""
    condition: str = ""
    """What holds, as Go says it; empty where nothing says it."""
    options: Mapping[str, object] = field(default_factory=dict)
    kept: Mapping[str, object] = field(default_factory=dict)
    is_unread: bool = False
    """It is one in a form that is not known, so that it stays as it is."""
    is_output: bool = False
    """It is the comment that says what an example prints."""
    tells_comparison: bool = False
    is_whole: bool = False

    @property
    def modes(self) -> tuple[Mode, ...]:
        """What can be tried, best first."""
        if self.is_unread:
            return (Mode.INSIDE,)
        is_expected = self.body is not None or any(operand.static for operand in self.operands)
        result = (Mode.RESULT,) if self.condition else ()
        return (Mode.EXPECTED if is_expected else Mode.OPERANDS, *result, Mode.INSIDE)


Options = dict[str, object]
_NOT: Options = {"not": True}
_FAILING = frozenset({"Error", "Errorf", "Fatal", "Fatalf", "Fail", "FailNow"})
_TESTERS = re.compile(r"\*?(?:testing|check|gocheck)\.(?:T|B|F|TB|C)|\*C")
_BINARY: Mapping[str, tuple[str, Options]] = {
    "==": ("go.==", {}), "!=": ("go.==", _NOT), "<": ("go.<", {}), ">=": ("go.<", _NOT),
    ">": ("go.>", {}), "<=": ("go.>", _NOT),
}  # fmt: skip
_CALLED: Mapping[str, tuple[str, Options]] = {
    "reflect.DeepEqual": ("go.deep", {}), "bytes.Equal": ("go.same", {}), "slices.Equal": ("go.same", {}),
    "maps.Equal": ("go.same", {}), "go-cmp/cmp.Equal": ("go.cmp", {}), "strings.Contains": ("go.contains", {}),
    "bytes.Contains": ("go.contains", {}), "strings.HasPrefix": ("go.prefix", {}),
    "strings.HasSuffix": ("go.suffix", {}),
}  # fmt: skip
"""Functions of two values that say whether something holds, by the end of the package's path and their name."""
_DIFF = "go-cmp/cmp.Diff"
_TWO: Mapping[str, tuple[str, Options]] = {
    "Equal": ("go.deep", {}), "NotEqual": ("go.deep", _NOT), "Exactly": ("go.deep", {}),
    "EqualValues": ("go.values", {}), "NotEqualValues": ("go.values", _NOT),
    "Greater": ("go.>", {}), "GreaterOrEqual": ("go.<", _NOT), "Less": ("go.<", {}), "LessOrEqual": ("go.>", _NOT),
    "Len": ("go.len", {}), "Contains": ("go.in", {}), "NotContains": ("go.in", _NOT),
    "ElementsMatch": ("go.elements", {}), "JSONEq": ("go.json", {}),
}  # fmt: skip
"""Functions of testify that compare two values."""
_ONE: Mapping[str, tuple[str, Options]] = {
    "True": ("go.truth", {}), "False": ("go.truth", _NOT), "Nil": ("go.nil", {}), "NotNil": ("go.nil", _NOT),
    "Empty": ("go.empty", {}), "NotEmpty": ("go.empty", _NOT),
}  # fmt: skip
_ERRORS: Mapping[str, tuple[str, Options]] = {"NoError": ("go.nil", {}), "Error": ("go.nil", _NOT)}
_IS: Mapping[str, tuple[str, Options]] = {"Equal": ("go.deep", {}), "True": ("go.truth", {}), "NoErr": ("go.nil", {})}
_TESTIFY = re.compile(r".*/testify(?:/v\d+)?/(?:assert|require)$")
_IS_PATH = re.compile(r".*/matryer/is$")
_TWO_SIDES, _WITH_DELTA = 2, 3


class Reader:
    """Reads the assertions of one file."""

    def __init__(self, scopes: Scopes, statics: Statics) -> None:
        self._scopes, self._statics = scopes, statics

    def of_guard(self, node: Node) -> list[Assertion]:
        """The assertions that an `if` or a `case` makes which fails the test; none where it is none."""
        condition, body = condition_of(node), body_of(node)
        if condition is None or body is None:
            return []
        tester = next(filter(None, map(self._failing, statements_of(body))), "")
        if not tester:
            return []
        diff = self._of_diff(node, condition)
        if diff is not None:
            return [replace(diff, tester=tester, guard=node)]
        if any(text_of(part.child_by_field_name("function")) == "recover" for part in walk(condition)):
            return []  # of a panic it tells only where it stands
        parts = [self._failing_if(part) or _unread(part) for part in map(_unguarded, _split(condition, "||"))]
        return [replace(part, tester=tester, guard=node) for part in parts]

    def of_statement(self, node: Node) -> Assertion | None:
        """The assertion that a call of a library makes which stands alone; None where it makes none that is known."""
        call = named(node)[0] if node.type == "expression_statement" and named(node) else None
        if call is None or call.type != "call_expression" or (node.parent and node.parent.type != "statement_list"):
            return None
        library = self._library(call)
        if library is None:
            return self._of_helper(node, call)
        kind, name, tester, arguments = library
        assertion = self._of_is(name, arguments) if kind == "is" else self._of_testify(name, arguments)
        return assertion and replace(assertion, tester=tester, replaced=node)

    def is_unread(self, node: Node) -> bool:
        """Whether a call fails the test, or is of a library that may."""
        if node.type != "call_expression":
            return False
        return bool(self._failing_call(node)) or self._library(node) is not None

    # -- guards

    def _failing(self, statement: Node) -> str:
        """The test that a statement fails, as it is called there; empty where it fails none."""
        inner = named(statement)
        if statement.type != "expression_statement" or not inner:
            return ""
        if text_of(inner[0].child_by_field_name("function")) == "panic":
            function = function_around(statement)
            parameters = self._scopes.parameters(function) if function is not None else []
            return next((one.name for one in parameters if self._is_tester(one.declared)), "")
        return self._failing_call(inner[0])

    def _of_helper(self, node: Node, call: Node) -> Assertion | None:
        """A call of the file's own function that fails a test unless what it is given is true: `check(t, got == 3)`."""
        function, arguments = call.child_by_field_name("function"), arguments_of(call)
        binding = self._scopes.resolve(function) if function is not None and function.type == "identifier" else None
        if binding is None or binding.kind != "func" or binding.init is None or len(arguments) < _TWO_SIDES:
            return None
        parameters = self._scopes.parameters(binding.init)
        if len(parameters) < _TWO_SIDES or not self._is_tester(parameters[0].declared):
            return None
        guards = [one for one in statements_of(binding.init.child_by_field_name("body")) if self.of_guard(one)]
        is_check = len(guards) == 1 and text_of(condition_of(guards[0])) == f"!{parameters[1].name}"
        assertion = self._holding(arguments[1]) if is_check else None
        return assertion and replace(assertion, tester=text_of(arguments[0]), replaced=node, condition="")

    def _failing_call(self, call: Node) -> str:
        function = call.child_by_field_name("function") if call.type == "call_expression" else None
        if function is None or function.type != "selector_expression":
            return ""
        operand = function.child_by_field_name("operand")
        if operand is None or text_of(function.child_by_field_name("field")) not in _FAILING:
            return ""
        return text_of(operand) if operand.type == "identifier" and self._is_tester(operand) else ""

    def _is_tester(self, node: Node) -> bool:
        binding = self._scopes.resolve(node)
        if binding is None or binding.kind != "param":
            return False
        return _TESTERS.fullmatch(text_of(binding.statement.child_by_field_name("type"))) is not None

    def _of_diff(self, guard: Node, condition: Node) -> Assertion | None:
        """`if diff := cmp.Diff(a, b); diff != ""`, where nothing else reads the difference but the message."""
        initializer = guard.child_by_field_name("initializer")
        sides = [child for child in named(bare(condition)) if bare(condition).type == "binary_expression"]
        if len(sides) != _TWO_SIDES or sides[0].type != "identifier" or not _is_none(sides[1]):
            return None
        if text_of(bare(condition).child_by_field_name("operator")) not in ("!=", ">"):
            return None
        binding = self._scopes.resolve(sides[0])
        if binding is None or binding.init is None or binding.is_written or initializer is None:
            return None
        if binding.statement.id != initializer.id or self._function_of(binding.init) != _DIFF:
            return None
        arguments = arguments_of(binding.init)
        if len(arguments) != _TWO_SIDES:
            return None
        operands = tuple(map(self._operand, arguments))
        return Assertion(op="go.cmp", operands=operands, replaced=condition, initializer=initializer)

    def _failing_if(self, node: Node) -> Assertion | None:
        """What holds unless this does; None where it says nothing of a value."""
        assertion = self._holding(node)
        if assertion is None:
            return None
        return replace(assertion, options=_contrary(assertion.options), condition=f"!({text_of(node)})")

    def _holding(self, node: Node) -> Assertion | None:
        """What this says of values, as an assertion."""
        inner = bare(node)
        operator = text_of(inner.child_by_field_name("operator"))
        if inner.type == "unary_expression" and operator == "!":
            operand = inner.child_by_field_name("operand")
            assertion = self._holding(operand) if operand is not None else None
            if assertion is None:
                return None
            return replace(assertion, replaced=node, options=_contrary(assertion.options))
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
        return self._of_operands(node, "go.truth", [inner], {})

    def _of_all(self, node: Node, parts: Sequence[Node], operator: str) -> Assertion | None:
        """Several that hold together, or of which one does."""
        claims = [self._holding(part) for part in parts]
        assertion = [part for part in claims if part is not None]
        if len(assertion) < len(claims) or any(part.op == "go.of" for part in assertion):
            return None
        settings = [{"op": part.op, "count": len(part.operands), "options": dict(part.options)} for part in assertion]
        operands = tuple(operand for part in assertion for operand in part.operands)
        if all(operand.static for operand in operands):
            return None
        how: Options = {"of": "all" if operator == "&&" else "any", "parts": settings}
        return Assertion(op="go.of", operands=operands, replaced=node, options=how)

    def _of_operands(self, node: Node, op: str, nodes: Sequence[Node], options: Options) -> Assertion:
        operands = tuple(map(self._operand, nodes))
        constants = [place for place, part in enumerate(nodes) if self._is_untyped(part)]
        settings = {**options, **({"untyped": constants} if constants and op in ("go.==", "go.<", "go.>") else {})}
        return Assertion(op=op, operands=operands, replaced=node, options=settings)

    def _operand(self, node: Node, around: tuple[str, str] = ("", "")) -> Operand:
        return Operand(node=node, static=self._statics.is_static(node), around=around)

    def _is_untyped(self, node: Node) -> bool:
        """Whether it is a constant that takes the type of what it is compared with."""
        node = bare(node)
        if node.type == "identifier":
            binding = self._scopes.resolve(node)
            if binding is None or binding.kind != "const" or binding.init is None:
                return False
            return binding.statement.child_by_field_name("type") is None and self._is_untyped(binding.init)
        if node.type in ("unary_expression", "binary_expression"):
            return all(self._is_untyped(child) for child in named(node))
        return node.type.endswith("_literal") and node.type not in ("composite_literal", "func_literal")

    def _function_of(self, call: Node) -> str:
        """The end of the path of the package, and the function of it that is called; empty for another."""
        function = call.child_by_field_name("function") if call.type == "call_expression" else None
        if function is None or function.type != "selector_expression":
            return ""
        path = self._statics.package_of(function.child_by_field_name("operand"))
        name = text_of(function.child_by_field_name("field"))
        return f"{'/'.join(path.split('/')[-2:])}.{name}" if path else ""

    # -- libraries

    def _library(self, call: Node) -> tuple[str, str, str, list[Node]] | None:
        """The library whose function a call is, the function, the test that it is given, and what else it is."""
        function = call.child_by_field_name("function")
        if function is None or function.type != "selector_expression":
            return None
        operand, name = function.child_by_field_name("operand"), text_of(function.child_by_field_name("field"))
        arguments = arguments_of(call)
        binding = self._scopes.resolve(operand) if operand is not None and operand.type == "identifier" else None
        if binding is None or any(part.type == "variadic_argument" for part in arguments):
            return None
        if binding.kind == "import":
            if not _TESTIFY.fullmatch(binding.path) or name == "New" or not arguments:
                return None
            return "testify", name, text_of(arguments[0]), arguments[1:]
        origin = self._made_by(binding)
        return (origin[0], name, origin[1], arguments) if origin is not None else None

    def _made_by(self, binding: Binding) -> tuple[str, str] | None:
        """The library that made an object of assertions, and the test that it is for."""
        init = binding.init
        if binding.kind != "var" or init is None or init.type != "call_expression":
            return None
        function = init.child_by_field_name("function")
        path = self._statics.package_of(function.child_by_field_name("operand")) if function is not None else ""
        arguments = arguments_of(init)
        if text_of(function).rpartition(".")[2] != "New" or len(arguments) != 1 or arguments[0].type != "identifier":
            return None
        kind = "testify" if _TESTIFY.fullmatch(path) else "is" if _IS_PATH.fullmatch(path) else ""
        return (kind, text_of(arguments[0])) if kind else None

    def _of_testify(self, name: str, arguments: Sequence[Node]) -> Assertion | None:
        name = name[:-1] if name.endswith("f") and name[:-1] in (*_TWO, *_ONE, *_ERRORS, *_TEXTS_OF) else name
        if name in _TWO and len(arguments) >= _TWO_SIDES:
            op, options = _TWO[name]
            return self._of_operands(arguments[0], op, arguments[:2], options)
        if name in ("True", "False") and arguments:
            claims = self._holding(arguments[0]) if name == "True" else self._failing_if(arguments[0])
            return claims and replace(claims, condition="")
        if name in _ONE and arguments:
            op, options = _ONE[name]
            return self._of_operands(arguments[0], op, arguments[:1], options)
        if name in _ERRORS and arguments:
            op, options = _ERRORS[name]
            operand = self._operand(arguments[0], ("error(", ")"))
            return Assertion(op=op, operands=(operand,), replaced=arguments[0], options=options)
        if name in _TEXTS_OF and len(arguments) >= _TWO_SIDES:
            operands = (self._operand(arguments[0], ("(", ").Error()")), self._operand(arguments[1]))
            return Assertion(op=_TEXTS_OF[name], operands=operands, replaced=arguments[0])
        if name == "InDelta" and len(arguments) >= _WITH_DELTA:
            return self._of_operands(arguments[0], "go.near", arguments[:3], {})
        return self._of_panic(name, arguments)

    def _of_panic(self, name: str, arguments: Sequence[Node]) -> Assertion | None:
        """A function that is to panic, or not."""
        if name == "Panics" and arguments:
            return Assertion(op="go.panics", operands=(), replaced=arguments[0], body=arguments[0])
        if name == "NotPanics" and arguments:
            return Assertion(op="no_raise", operands=(), replaced=arguments[0], body=arguments[0])
        if name in ("PanicsWithValue", "PanicsWithError") and len(arguments) >= _TWO_SIDES:
            options: Options = {"by": "text"} if name == "PanicsWithError" else {}
            return Assertion(
                op="go.panics",
                operands=(self._operand(arguments[0]),),
                replaced=arguments[0],
                body=arguments[1],
                options=options,
            )
        return None

    def _of_is(self, name: str, arguments: Sequence[Node]) -> Assertion | None:
        if name == "True" and len(arguments) == 1:
            claims = self._holding(arguments[0])
            return claims and replace(claims, condition="")
        if name in _IS and arguments:
            op, options = _IS[name]
            return self._of_operands(arguments[0], op, arguments, options)
        return None


_TEXTS_OF = {"EqualError": "go.==", "ErrorContains": "go.contains"}


def condition_of(guard: Node) -> Node | None:
    """What an `if` asks, or a `case` of a `switch` over nothing; None for another node."""
    if guard.type == "expression_case" and guard.parent is not None and not guard.parent.child_by_field_name("value"):
        values = listed(guard.child_by_field_name("value"))
        return values[0] if len(values) == 1 else None
    return guard.child_by_field_name("condition") if guard.type == "if_statement" else None


def body_of(guard: Node) -> Node | None:
    """What an `if` or a `case` does."""
    if guard.type == "expression_case":
        return next((child for child in guard.named_children if child.type == "statement_list"), None)
    return guard.child_by_field_name("consequence")


def _unread(node: Node) -> Assertion:
    """An assertion in a form that is not known."""
    return Assertion(op="go.truth", operands=(), replaced=node, is_unread=True)


def _split(condition: Node, operator: str) -> list[Node]:
    """The parts of a condition between an operator."""
    inner = bare(condition)
    if inner.type == "binary_expression" and text_of(inner.child_by_field_name("operator")) == operator:
        return [part for side in named(inner) for part in _split(side, operator)]
    return [condition]


def _contrary(options: Mapping[str, object]) -> Options:
    """The options of an assertion that holds where another does not."""
    rest = {name: value for name, value in options.items() if name != "not"}
    return rest if options.get("not") else {**rest, "not": True}


def _unguarded(condition: Node) -> Node:
    """Of `x != nil && …x.y…` what stands behind the and, as it can't be asked of nothing."""
    inner = bare(condition)
    if inner.type != "binary_expression" or text_of(inner.child_by_field_name("operator")) != "&&":
        return condition
    left, right = named(inner)
    sides = named(bare(left))
    is_check = text_of(bare(left).child_by_field_name("operator")) == "!=" and text_of(sides[-1]) == "nil"
    return right if is_check and f"{text_of(sides[0])}." in text_of(right) else condition


def _is_none(node: Node) -> bool:
    return text_of(node) in ('""', "``")
