"""The assertions of a test file in JavaScript: what each compares, and how the host will decide it. Pure."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from tree_sitter import Node

from harness.core.syntax import field_of, field_text, is_field, named, text_of, words
from harness.languages.javascript.source import FUNCTIONS, arguments_of, property_of, root_of
from miner.languages.javascript.stripping import hapi
from miner.languages.javascript.stripping.libraries import (
    BY_SIGN,
    COUNTED,
    DOM_STATES,
    GIVING,
    JASMINE,
    POINTS,
    SPIED,
    UVU,
    Compared,
    given_by,
    of_dom,
)
from miner.languages.javascript.stripping.scopes import Binding, Scopes, dotted, key_of
from miner.languages.javascript.stripping.static import EXPECT_MODULES, Statics
from miner.languages.stripping import sites
from miner.languages.stripping.sites import AS_IT_IS, NOT


@dataclass(frozen=True, kw_only=True)
class Operand:
    """One side of an assertion, as in other languages; or what does not stand in the file."""

    node: Node | None
    static: bool = False
    text: str = ""
    """What it is without a node."""
    around: tuple[str, str] = AS_IT_IS


@dataclass(frozen=True, kw_only=True, eq=False)
class Assertion(sites.Assertion):
    """One assertion, in the terms of the host's judge (harness/judging/javascript)."""

    operands: tuple[Operand, ...]
    awaits: str = ""
    """`resolves` or `rejects`, where the first operand is a promise of the value; `body`, where the body gives one."""
    counted_by: Node | None = None
    """The library's object for the test, where that counts its assertions."""
    receiver: Node | None = None
    """supertest's `….expect`, which is given a function of the response in place of what is expected of it."""
    callback: Node | None = None
    """What that request calls at its end."""
    gives: bool = False
    """What it catches may be asked for by what comes after it."""
    chained_on: Node | None = None
    """What several assertions of one call look at, each as IT."""
    rejected: bool = False
    """That is a promise, and they look at what it is rejected with."""
    cases: tuple[Node, ...] = ()
    """What the cases of ESLint's RuleTester expect, where it is a call of that."""


@dataclass(frozen=True)
class _Claim:
    """What a chain says of a value: `expect(value).not.name(…)`, `value.should.name`."""

    call: Node
    """All of it."""
    value: Node
    name: str
    arguments: Sequence[Node]
    options: Mapping[str, object]
    awaits: str = ""
    """As an assertion has it."""

    @property
    def sides(self) -> list[Node]:
        """The value, and what it is held against."""
        return [self.value, *self.arguments]


IT = "__it__"
_ASSERTS = frozenset({"assert", "node:assert", "assert/strict", "node:assert/strict", "power-assert"})
ASSERT_MODULES = _ASSERTS | {"uvu/assert", "chai", *hapi.MODULES}
"""Whose functions only look at what they are given."""
_STRICT = {"equal": "strictEqual", "notEqual": "notStrictEqual", "deepEqual": "deepStrictEqual",
           "notDeepEqual": "notDeepStrictEqual"}  # fmt: skip
_TWO: Mapping[str, tuple[str, Mapping[str, object]]] = {
    "equal": ("js.==", {}), "notEqual": ("js.==", NOT),
    "strictEqual": ("js.is", {}), "notStrictEqual": ("js.is", NOT),
    "deepEqual": ("js.deep", {"rules": "loose"}), "notDeepEqual": ("js.deep", {"rules": "loose", **NOT}),
    "deepStrictEqual": ("js.deep", {"rules": "strict"}),
    "notDeepStrictEqual": ("js.deep", {"rules": "strict", **NOT}),
    "match": ("js.match", {}), "doesNotMatch": ("js.match", NOT),
}  # fmt: skip
_BINARY: Mapping[str, tuple[str, Mapping[str, object]]] = {
    "===": ("js.===", {}), "!==": ("js.===", NOT), "<": ("js.<", {}), "<=": ("js.<=", {}), ">": ("js.>", {}),
    ">=": ("js.>=", {}),
}  # fmt: skip
_REFUSED: Mapping[str, tuple[str, Mapping[str, object]]] = {
    "!==": ("js.===", {}), "===": ("js.===", NOT), "!=": ("js.==", BY_SIGN), "==": ("js.==", {**BY_SIGN, **NOT}),
}  # fmt: skip
"""By the operator that a test fails by: the one that holds where it passes."""
_MATCHERS: Mapping[str, tuple[str, Mapping[str, object]]] = {
    "toBe": ("js.is", {}), "toEqual": ("js.deep", {"rules": "jest"}),
    "toStrictEqual": ("js.deep", {"rules": "jest strict"}), "toMatch": ("js.match", {}),
    "toContain": ("js.contain", {}),
    "toContainEqual": ("js.contain_equal", {}), "toHaveLength": ("js.length", {"by": "length"}),
    "toMatchObject": ("js.object", {}),
    "toBeGreaterThan": ("js.>", {}), "toBeGreaterThanOrEqual": ("js.>=", {}), "toBeLessThan": ("js.<", {}),
    "toBeLessThanOrEqual": ("js.<=", {}), "toBeInstanceOf": ("js.instance", {}), "toBeTypeOf": ("js.is", {}),
}  # fmt: skip
_CALLS, _RETURNED = (
    ("(", ").mock.calls"),
    ("(", ').mock.results.flatMap((it) => (it.type === "return" ? [[it.value]] : []))'),
)
"""What a mock keeps: the arguments of each call, and what each that returned gave."""
_MOCK_COUNTS = {
    **dict.fromkeys(("toHaveBeenCalled", "toBeCalled"), (_CALLS, "")),
    **dict.fromkeys(("toHaveReturned", "toReturn"), (_RETURNED, "")), "toHaveBeenCalledOnce": (_CALLS, "1"),
    **dict.fromkeys(("toHaveBeenCalledTimes", "toBeCalledTimes"), (_CALLS, None)),
    **dict.fromkeys(("toHaveReturnedTimes", "toReturnTimes"), (_RETURNED, None)),
}  # fmt: skip
"""How often: what of the mock is counted, and how much of it there has to be; empty for any, None where it is given."""
_MOCK_CALLS = {
    **dict.fromkeys(("toHaveBeenCalledWith", "toBeCalledWith"), (_CALLS, "any")),
    **dict.fromkeys(("toHaveBeenLastCalledWith", "lastCalledWith"), (_CALLS, "last")),
    **dict.fromkeys(("toHaveBeenNthCalledWith", "nthCalledWith"), (_CALLS, "nth")),
    "toHaveBeenCalledExactlyOnceWith": (_CALLS, "only"),
    **dict.fromkeys(("toHaveReturnedWith", "toReturnWith"), (_RETURNED, "any")),
    **dict.fromkeys(("toHaveLastReturnedWith", "lastReturnedWith"), (_RETURNED, "last")),
    **dict.fromkeys(("toHaveNthReturnedWith", "nthReturnedWith"), (_RETURNED, "nth")),
}  # fmt: skip
"""With what: what of the mock is looked at, and which of its calls."""
_CHAI: Mapping[str, tuple[str, Mapping[str, object]]] = {
    **dict.fromkeys(("equal", "equals", "eq", "exactly", "be"), ("js.===", {})),
    **dict.fromkeys(("eql", "eqls"), ("js.deep", {"rules": "chai"})),
    **dict.fromkeys(("include", "includes", "contain", "contains"), ("js.contain", {})),
    **dict.fromkeys(("length", "lengthOf"), ("js.length", {"by": "length"})),
    **dict.fromkeys(("match", "matches"), ("js.match", {})),
    **dict.fromkeys(("above", "gt", "greaterThan"), ("js.>", {})),
    **dict.fromkeys(("below", "lt", "lessThan"), ("js.<", {})),
    **dict.fromkeys(("least", "gte"), ("js.>=", {})), **dict.fromkeys(("most", "lte"), ("js.<=", {})),
    **dict.fromkeys(("a", "an"), ("js.kind", {})), **dict.fromkeys(("instanceof", "instanceOf"), ("js.instance", {})),
    "string": ("js.contain", {"by": "text"}), "members": ("js.members", {"rules": "==="}),
}  # fmt: skip
_CHAI_VALUES = {value: value for value in ("true", "false", "null", "undefined", "NaN")}
_CHAI_ASSERTS: Mapping[str, tuple[str, Mapping[str, object]]] = {
    "equal": ("js.==", BY_SIGN), "notEqual": ("js.==", {**BY_SIGN, **NOT}), "strictEqual": ("js.===", {}),
    "notStrictEqual": ("js.===", NOT), "deepEqual": ("js.deep", {"rules": "chai"}),
    "deepStrictEqual": ("js.deep", {"rules": "chai"}), "notDeepEqual": ("js.deep", {"rules": "chai", **NOT}),
    "lengthOf": ("js.length", {"by": "length"}), "match": ("js.match", {}), "notMatch": ("js.match", NOT),
    "include": ("js.contain", {}), "notInclude": ("js.contain", NOT), "isAbove": ("js.>", {}), "isBelow": ("js.<", {}),
    "isAtLeast": ("js.>=", {}), "isAtMost": ("js.<=", {}), "typeOf": ("js.kind", {}), "notTypeOf": ("js.kind", NOT),
    "instanceOf": ("js.instance", {}), "sameMembers": ("js.members", {"rules": "==="}),
    "sameDeepMembers": ("js.members", {"rules": "chai"}), "property": ("js.property", {"by": "name"}),
    "notProperty": ("js.property", {"by": "name", **NOT}),
    "deepInclude": ("js.object", {"by": "include", "rules": "chai"}),
}  # fmt: skip
_CHAI_ASSERT_KINDS = {f"is{kind.capitalize()}": kind for kind in words("string number boolean array function object")}
_CHAI_ASSERT_THERE = {"exists": ("js.==", "null"), "isNotNull": ("js.is", "null"), "isDefined": ("js.is", "undefined")}
"""What a value is not."""
_CHAI_ASSERT_VALUES = {f"is{value[0].upper()}{value[1:]}": value for value in _CHAI_VALUES}
_NODE_TEST, _TSPL = frozenset({"node:test"}), frozenset({"@matteo.collina/tspl"})
_TEXTS = frozenset({"string", "template_string"})
_SOUGHT = _TEXTS | {"regex"}
_CLASS = re.compile(r"[A-Z]+\d*[a-z]")
"""What the name of a class begins with, and none of a constant or function."""
_TYPEOF = words("string number boolean function undefined")
_PARTS = frozenset({"has", "match"})
"""Of tap: what looks at some properties of an object alone."""
_OF_FILES = {"matchSnapshot": "", "resolveMatchSnapshot": "resolves"}
"""Of tap: what compares with a snapshot, and how it waits for what it is given."""
_REACHED = frozenset({"pass", "fail"})
_CONSTANTS = words("true false null undefined number string")
_SURE = frozenset({"ok", "true", "truthy", "assert"})
_AWAITED = frozenset({("throwsAsync", "ava"), ("rejects", "qunit"), ("rejects", "tap")})
_ALSO_THROWN = {
    **dict.fromkeys(("tap", "tape"), words("regex new_expression call_expression object")),
    "qunit": words("regex"),
}
"""By library: what an error is held against besides a class."""
_LINKS = words("to be been is that which and has have with at of same a an")
_THROWN = words("throw throws Throw rejectedWith throwError throwException")
_KINDS_OF_EXPECT = _TYPEOF | {"array"}
"""What expect.js calls as chai does."""
_NEXT = frozenset({"with", "that", "which"})
"""Behind a call, what leads to the next assertion of a chain, as `and` does."""
_VALUES = {"toBeNull": "null", "toBeUndefined": "undefined", "toBeNaN": "NaN"}
_SHOWN = ("toMatchInlineSnapshot", "toThrowErrorMatchingInlineSnapshot")
_FILED = ("toMatchSnapshot", "toThrowErrorMatchingSnapshot")
_SAME = "__goldseam__.same"
"""In a recording: what is handed out beside it, or the message of what was thrown."""
_SAME_BUT = "__goldseam__.sameBut"
"""The same with matchers in the place of what they take, as a snapshot shows it."""
_SHOWING = ("__goldseam__.shown(", ")")
_THROWING = ("toThrow", "toThrowError")
_OF_LIBRARY: Mapping[tuple[str, str], Mapping[str, object]] = {
    ("tap", ""): {"by": "tap"}, ("tap", "body"): {"by": "tap"}, ("qunit", ""): {"only": "truthy"},
}  # fmt: skip
"""By library, and how a body is waited for: what it asks of what is thrown."""
_POLLING = frozenset({"soft", "poll"})
"""Of vitest's `expect`: what goes on where it fails, or asks again."""
_OF_ERRORS: Mapping[str, object] = {"by": "exact", "only": "errors"}
"""What is thrown has to be an error."""


class Reader(sites.Reader[Statics]):
    """Reads the assertions of one file."""

    def __init__(self, scopes: Scopes, statics: Statics, framework: str, *, has_snapshots: bool) -> None:
        self._scopes, self._statics, self._framework = scopes, statics, framework
        self._has_snapshots = has_snapshots

    def of_expression(self, node: Node) -> Assertion | None:
        """The assertion that an expression makes; None where it makes none that is known."""
        if node.type == "member_expression":
            return self._of_chai(node, node, None)
        function = field_of(node, "function")
        arguments = arguments_of(node)
        if node.type != "call_expression" or function is None or any(one.type == "spread_element" for one in arguments):
            return None
        name = self._of_assert(function)
        if name is not None:
            assertion = self._asserted(node, name, arguments)
            return replace(assertion, counted_by=self._counting(function)) if assertion is not None else None
        return (
            self._expected(node, function, arguments)
            or self._of_chai(node, function, arguments)
            or self._of_chais_assert(node, function, arguments)
            or self._of_code(node, function, arguments)
            or self._of_point(node, function, arguments)
            or self._of_uvu(node, function, arguments)
            or self._of_sinon(node, function, arguments)
        )

    def unread(self, node: Node) -> Assertion | None:
        """The assertion that an expression makes in whatever form; None where nothing says that it is one."""
        function = field_of(node, "function")
        if node.type != "call_expression" or function is None or _goes_on(node):
            return None
        names, first = dotted(function)
        at: Node | None = first
        while at is not None and at.type in ("call_expression", "member_expression"):
            inner = field_of(at, "function" if at.type == "call_expression" else "object")
            expect = inner if property_of(inner) not in _POLLING else field_of(inner, "object")
            is_expect = self._is_expect(expect) or self._is_of_chai(expect, "expect")
            if at.type == "call_expression" and (is_expect or self._is_from(expect, "expect", hapi.MODULES)):
                return _unread(node)
            at = inner
        is_assertion = self._of_assert(function) is not None or self._is_of_chai(first, "assert")
        is_assertion = is_assertion or bool(self._name_in_uvu(function))
        if not is_assertion and len(names) == 1 and first is not None:
            is_assertion = names[0] in COUNTED and bool(given_by(self._scopes, first, GIVING))
        return _unread(node) if is_assertion else None

    def of_refusal(self, node: Node) -> Assertion | None:
        """`if (f(x) !== y) throw new Error(…)`, where a test or what it calls does nothing else with it."""
        condition, inner = field_of(node, "condition"), field_of(node, "consequence")
        if condition is None or field_of(node, "alternative") is not None or not only_throws(inner):
            return None
        condition = condition.named_children[0]
        operator = field_text(condition, "operator")
        sides = [field_of(condition, side) for side in ("left", "right")]
        if condition.type == "binary_expression" and operator in _REFUSED:
            op, options = _REFUSED[operator]
            return self._of_operands(node, op, [side for side in sides if side is not None], options)
        argument = field_of(condition, "argument")
        if condition.type == "unary_expression" and operator == "!" and argument is not None:
            return self._of_operands(node, "js.truth", [argument], {})
        return None

    # -- node's assert

    def _of_assert(self, function: Node) -> str | None:
        """The function of node's assert that a callee is, by its name; of the strict one where that differs."""
        names, first = dotted(function)
        binding = self._scopes.of_name(first)
        if binding is not None and self._is_planned(binding):
            return names[0] if len(names) == 1 else None
        if binding is None or binding.is_written:
            return None
        if names[:1] == ["assert"] and first is not None and given_by(self._scopes, first, _NODE_TEST):
            return names[1] if len(names) == 2 else None  # noqa: PLR2004 - `assert` and its function
        if binding.module not in _ASSERTS:
            return None
        if binding.imported not in ("default", "*", "strict", "assert"):
            names.insert(0, binding.imported)
        strict = binding.module.endswith("/strict") or binding.imported == "strict" or names[:1] == ["strict"]
        names = names[1:] if names[:1] == ["strict"] else names
        if len(names) > 1:
            return None
        name = names[0] if names else "ok"
        return _STRICT.get(name, name) if strict else name

    def _counting(self, function: Node) -> Node | None:
        """The test of node:test whose `t.assert` is called, where its `t.plan` or tspl's says how often."""
        _, first = dotted(function)
        binding = self._scopes.resolve(first) if first is not None else None
        if binding is not None and self._is_planned(binding):
            return first
        if binding is None or binding.kind != "param":
            return None
        is_counted = any(_is_called(use.parent, "plan") for use in binding.uses if use.parent is not None)
        return first if is_counted else None

    def _is_planned(self, binding: Binding) -> bool:
        """Whether a name is set to `tspl(t, …)`: functions of node's assert, which are counted."""
        written = [field_of(use.parent, "right") for use in binding.uses if is_field(use.parent, "left", use)]
        value = written[0] if len(written) == 1 else None if binding.is_written else binding.init
        function = field_of(value, "function") if value is not None and value.type == "call_expression" else None
        return self._scopes.of_module(function, _TSPL) in ([], ["tspl"])

    def _asserted(self, call: Node, name: str, arguments: Sequence[Node]) -> Assertion | None:
        if name == "fail":
            return _reached(call)
        if not arguments:
            return None
        if name in ("throws", "rejects", "doesNotThrow", "doesNotReject"):
            return self._caught(call, name, arguments)
        if name == "ok":
            return self._truth(call, arguments[0]) or _reached(call)
        if name == "ifError":
            return self._of_operands(call, "js.==", arguments[:1], {}, text="null")
        if name in _TWO and len(arguments) >= 2:  # noqa: PLR2004 - two sides, and a message
            op, options = _TWO[name]
            return self._of_operands(call, op, arguments[:2], options)
        return None

    def _caught(self, call: Node, name: str, arguments: Sequence[Node]) -> Assertion | None:
        awaits = "body" if name in ("rejects", "doesNotReject") else ""
        if name.startswith("doesNot"):
            return _not_raising(call, arguments[0], awaits)
        wanted = [node for node in arguments[1:2] if node.type not in ("string", "template_string")]
        if any(node.type in FUNCTIONS for node in wanted):
            return None
        texts = [text_of(node)[1:-1] for node in arguments[1:2] if node.type in ("string", "template_string")]
        is_plain = bool(texts) and re.search(r"\\|\$\{", texts[0]) is None
        return self._raising(call, arguments[0], wanted, awaits, {"unlike": texts[0]} if is_plain else {})

    def _raising(
        self, call: Node, body: Node, wanted: Sequence[Node], awaits: str, options: Mapping[str, object]
    ) -> Assertion:
        operands = tuple(Operand(node=node, static=self._is_kept_of_error(node)) for node in wanted)
        return Assertion(op="js.raises", operands=operands, replaced=call, body=body, awaits=awaits, options=options)

    def _is_kept_of_error(self, operand: Node) -> bool:
        """Whether what an error is to be stays outside: where it is static but for classes, told by their names."""
        if self._statics.is_static(operand):
            return True
        names, first = dotted(operand)
        if first is not None and first.type == "identifier":
            return _CLASS.match([text_of(first), *names][-1]) is not None
        parts = named(operand) if operand.type == "object" else arguments_of(operand)
        is_made = operand.type in ("object", "new_expression")
        return is_made and all(self._is_kept_of_error(field_of(part, "value") or part) for part in parts)

    def _truth(self, call: Node, node: Node) -> Assertion | None:
        while node.type == "parenthesized_expression":
            node = node.named_children[0]
        operator = field_text(node, "operator")
        if node.type == "binary_expression" and operator in _BINARY:
            left, right = field_of(node, "left"), field_of(node, "right")
            op, options = _BINARY[operator]
            return self._of_operands(call, op, [side for side in (left, right) if side is not None], options)
        inner = field_of(node, "argument")
        if node.type == "unary_expression" and operator == "!" and inner is not None:
            return self._of_operands(call, "js.truth", [inner], NOT)
        return self._of_operands(call, "js.truth", [node], {})

    def _of_operands(
        self,
        call: Node,
        op: str,
        nodes: Sequence[Node],
        options: Mapping[str, object],
        awaits: str = "",
        text: str = "",
        around: tuple[str, str] = AS_IT_IS,
    ) -> Assertion | None:
        """`text` is one operand more; `around` is put around the first."""
        operands = [Operand(node=node, static=self._statics.is_static(node)) for node in nodes]
        operands[:1] = [replace(operands[0], around=around)]
        if text:
            operands.append(Operand(node=None, static=True, text=text))
        if all(operand.static for operand in operands):
            return None  # nothing of the product is in it
        if op == "js.instance":
            operands[1] = replace(operands[1], static=True)
        return Assertion(op=op, operands=tuple(operands), replaced=call, options=options, awaits=awaits)

    # -- what hands each test an object that counts

    def _of_point(self, call: Node, function: Node, arguments: Sequence[Node]) -> Assertion | None:
        counter, name = field_of(function, "object"), property_of(function)
        assertion: Assertion | None
        library = given_by(self._scopes, counter, GIVING) if counter is not None else ""
        if not library or not (arguments or name in _REACHED):
            return None
        if name in _REACHED or (name in _SURE and self._statics.is_static(arguments[0])):
            assertion = _reached(call)
        elif library == "tap" and name in _PARTS and [node.type for node in arguments[1:2]] == ["object"]:
            assertion = self._of_operands(call, "js.object", arguments[:2], {"by": name})
        elif library == "tap" and name in _OF_FILES and self._has_snapshots:
            more = {"awaits": _OF_FILES[name], "text": _SAME}
            assertion = self._of_operands(call, "js.snapshot", arguments[:1], {"by": "value"}, around=_SHOWING, **more)
        elif library == "ava" and name == "snapshot" and self._has_snapshots:
            assertion = self._of_operands(call, "js.deep", arguments[:1], {"rules": "ava"}, text=_SAME)
        elif library == "tap" and name == "type" and len(arguments) > 1 and text_of(arguments[1])[1:-1] in _TYPEOF:
            assertion = self._of_operands(call, "js.is", arguments[:2], {}, around=("typeof (", ")"))
        elif name in POINTS[library]:
            assertion = self._by_table(call, POINTS[library][name], arguments)
        elif name.startswith(("doesNotThrow", "notThrows")):
            awaits = "body" if name.endswith("Async") else ""
            assertion = _not_raising(call, arguments[0], awaits)
        else:
            assertion = self._thrown(call, name, arguments, library)
        return replace(assertion, counted_by=counter) if assertion is not None else None

    def _by_table(self, call: Node, compared: Compared, arguments: Sequence[Node]) -> Assertion | None:
        op, options, sides, text, around = compared
        if len(arguments) < sides or (op == "js.match" and arguments[1].type not in _SOUGHT):
            return None
        if op == "js.match" and _is_empty(arguments[1]):
            return None  # tap asks for an empty one then
        operands = arguments if op == "js.called" else arguments[:sides]
        return self._of_operands(call, op, operands, options, text=text, around=around)

    def _thrown(self, call: Node, name: str, arguments: Sequence[Node], library: str) -> Assertion | None:
        awaits = "body" if (name, library) in _AWAITED else ""
        if name != "throws" and not awaits:
            return None
        if library == "ava":
            errors = [error for error in arguments[1:2] if text_of(error) not in ("undefined", "null")]
            if any(error.type not in _SOUGHT | {"identifier", "object", "member_expression"} for error in errors):
                return None
            return replace(self._raising(call, arguments[0], errors, awaits, _OF_ERRORS), gives=True)
        kinds = {*_TEXTS, "identifier"} | _ALSO_THROWN.get(library, frozenset())
        wanted = [node for node in arguments[1:2] if node.type not in _TEXTS]
        others = [node for node in arguments[1:2] if node.type != "identifier"]
        if any(node.type not in kinds for node in arguments[1:2]) or not all(map(self._statics.is_static, others)):
            return None
        return self._raising(call, arguments[0], wanted, awaits, _OF_LIBRARY.get((library, awaits), {}))

    # -- uvu

    def _of_uvu(self, call: Node, function: Node, arguments: Sequence[Node]) -> Assertion | None:
        name = self._name_in_uvu(function)
        if name == "unreachable":
            return _reached(call)
        if name in UVU:
            return self._by_table(call, UVU[name], arguments)
        if name == "not.throws" and len(arguments) == 1:
            return _not_raising(call, arguments[0])
        if name == "throws" and arguments and all(node.type in _SOUGHT for node in arguments[1:]):
            wanted = [node for node in arguments[1:2] if node.type == "regex"]  # a text only says what is tested
            return self._raising(call, arguments[0], wanted, "", {"by": "message"})
        return None

    def _name_in_uvu(self, function: Node) -> str:
        """What of `uvu/assert` is called; empty where it is nothing of it."""
        return ".".join(self._scopes.of_module(function, ("uvu/assert",)) or ())

    # -- chai

    def _is_of_chai(self, node: Node | None, name: str) -> bool:
        """Whether an expression is `expect` or `assert` of chai."""
        binding = self._scopes.of_name(node)
        if binding is None:  # a file that is loaded before may make it global
            is_global = self._framework == "mocha" and node is not None and text_of(node) == name
            return is_global or self._is_from(node, name, ("chai",))
        if binding.is_written:
            return name == "expect" and self._scopes.set_to(binding) in ("chai", "expect.js")
        if binding.module == "vitest" and name == "assert":
            return binding.imported == name
        if binding.module == "expect.js":
            return name == "expect" and binding.imported in ("default", "*")
        return self._is_from(node, name, ("chai",))

    def _is_from(self, node: Node | None, name: str, modules: Collection[str]) -> bool:
        """Whether an expression is something of a module by its name there, or a name that is set to that."""
        if self._scopes.of_module(node, modules) == [name]:
            return True
        binding = self._scopes.of_name(node)
        if binding is None or binding.is_written or binding.init is None or binding.kind != "const":
            return False
        if binding.is_whole:  # `expect = chai.expect`
            return binding.init.type == "member_expression" and self._is_from(binding.init, name, modules)
        source = self._scopes.of_name(binding.init)
        return source is not None and source.module in modules and key_of(binding.declared) == name

    def _of_chai(self, whole: Node, function: Node, arguments: Sequence[Node] | None) -> Assertion | None:
        """`expect(x).to.…` or `x.should.…`; without arguments it ends in a property."""
        path, first = dotted(function)
        is_should = text_of(first) == "should" and self._is_should(function)
        if is_should and arguments and path in (["exist"], ["not", "exist"]):
            options: Mapping[str, object] = {} if path[0] == "not" else NOT
            return self._of_operands(whole, "js.==", arguments[:1], options, text="null")
        words: list[str] = []
        actual: Node | None = None
        at: Node | None = function
        while at is not None and at.type == "member_expression":
            words.insert(0, field_text(at, "property"))
            if words[0] == "should" and self._is_should(at):
                actual, words = field_of(at, "object"), words[1:]
                break
            at = field_of(at, "object")
        if actual is None and at is not None and self._is_chais(field_of(at, "function")):
            actual = next(iter(arguments_of(at)), None)
        return None if actual is None or not words else self._linked(whole, actual, words, arguments)

    def _is_called_before(self, node: Node | None) -> bool:
        """Whether a link of a chain is a call: of an assertion, and not of `expect`."""
        is_call = node is not None and node.type == "call_expression"
        return is_call and node is not None and not self._is_chais(field_of(node, "function"))

    def _is_should(self, member: Node) -> bool:
        """Whether `x.should` is chai's, or should.js's, which says the same; under mocha both may be loaded before."""
        of = field_of(member, "object")
        is_known = any(map(self._scopes.imports, ("chai", "should"))) or self._framework == "mocha"
        return is_known and of is not None and of.type != "this"

    def _is_chais(self, expect: Node | None) -> bool:
        return self._is_of_chai(expect, "expect") or (self._framework == "vitest" and self._is_expect(expect))

    def _links(self, node: Node) -> tuple[Node | None, list[list[tuple[str, Sequence[Node] | None]]]]:
        """What a chain looks at, and its words with what they are given, parted where the next assertion begins."""
        parts: list[list[tuple[str, Sequence[Node] | None]]] = [[]]
        at: Node | None = node
        arguments: Sequence[Node] | None = None
        actual: Node | None = None
        while at is not None and actual is None and not self._is_chais(field_of(at, "function")):
            if at.type == "call_expression" and arguments is None:
                arguments, at = arguments_of(at), field_of(at, "function")
                continue
            if at.type != "member_expression":
                return None, []
            name, of = field_text(at, "property"), field_of(at, "object")
            if name == "should" and self._is_should(at):
                actual = of
            elif name == "and" or (name in _NEXT and self._is_called_before(of)):
                parts.insert(0, [])
            else:
                parts[0].insert(0, (name, arguments))
            at, arguments = of, None
        if actual is None and at is not None:
            actual = next(iter(arguments_of(at)), None)
        return actual, parts

    def of_chain(self, node: Node) -> tuple[Assertion, ...]:
        """The assertions of `expect(x).….and.…`; none of another expression, or where one of them is not known."""
        actual, parts = self._links(node)
        if actual is None or len(parts) < 2 or not all(parts):  # noqa: PLR2004 - parts with `and` between them
            return ()
        first_words = [name for name, arguments_of_link in parts[0] if arguments_of_link is None]
        rejected = first_words[-1:] == ["rejected"] and len(first_words) == len(parts[0]) and "not" not in first_words
        assertions, it = [], IT
        for links in parts[1:] if rejected else parts:
            words, values = [name for name, _ in links], links[-1][1]
            is_known = all(inner is None for _, inner in links[:-1]) and "eventually" not in words
            assertion = self._linked(node, actual, words, values) if is_known else None
            # what a flag says holds for the parts behind it, too
            is_flagged = links is not parts[-1] and not {"not", "deep", "nested"}.isdisjoint(words)
            if assertion is None or is_flagged or assertion.awaits or assertion.body is not None:
                return ()
            front, back = assertion.operands[0].around
            first = Operand(node=None, text=f"{front}{it}{back}")
            operands = (first, *assertion.operands[1:])
            assertions.append(replace(assertion, operands=operands, chained_on=actual, rejected=rejected))
            if words[-1] == "property" and values:  # what comes behind looks at that
                it = f"{it}[{text_of(values[0])}]"
                if values[0].type != "string":
                    return ()
        return tuple(assertions)

    def _linked(
        self, whole: Node, actual: Node, words: Sequence[str], arguments: Sequence[Node] | None
    ) -> Assertion | None:
        """What the words and arguments of a chain say of a value, which has a `should` where that leads to it."""
        assertion = self._said(whole, actual, words, arguments)
        if assertion is None or assertion.body is not None or not is_field(actual.parent, "object", actual):
            return assertion
        return replace(assertion, options={**assertion.options, "asks": "should"})

    def _said(
        self, whole: Node, actual: Node, words: Sequence[str], arguments: Sequence[Node] | None
    ) -> Assertion | None:
        *flags, name = words
        known = _LINKS | {"not", "deep", "eventually", "nested"} | ({"all"} if name in ("keys", "key") else set())
        if set(flags) - known or ("nested" in flags and name != "property"):
            return None
        options, awaits = NOT if "not" in flags else {}, "resolves" if "eventually" in flags else ""
        claim = _Claim(whole, actual, name, arguments or (), options, awaits)
        if not arguments and name not in _THROWN:  # called, as dirty-chai has it
            return self._of_property(claim)
        if name == "property" and arguments and len(arguments) <= 2:  # noqa: PLR2004 - its name and its value
            by: Mapping[str, object] = {} if "nested" in flags else {"by": "name"}
            by = {**by, "rules": "chai" if "deep" in flags else "===", **claim.options}
            return self._claimed(claim, "js.property", claim.sides, by)
        return self._chained(claim, is_deep="deep" in flags)

    def _claimed(
        self,
        claim: _Claim,
        op: str,
        nodes: Sequence[Node] = (),
        options: Mapping[str, object] | None = None,
        text: str = "",
        around: tuple[str, str] = AS_IT_IS,
    ) -> Assertion | None:
        """An assertion of a claim's value, or of these nodes; see `_of_operands`."""
        options = claim.options if options is None else options
        return self._of_operands(claim.call, op, nodes or [claim.value], options, claim.awaits, text, around)

    def _of_property(self, claim: _Claim) -> Assertion | None:
        """A chain that ends in a property."""
        name = claim.name
        if name in _CHAI_VALUES:
            return self._claimed(claim, "js.is", text=_CHAI_VALUES[name])
        if name == "exist":
            return self._claimed(claim, "js.==", options={} if claim.options else NOT, text="null")
        if name == "empty":
            by = {"by": "keys", **({"rules": "expect.js"} if self._scopes.imports("expect.js") else {})}
            return self._claimed(claim, "js.length", options={**by, **claim.options}, text="0")
        if name == "rejected" and not claim.options:
            return self._raising(claim.call, claim.value, (), "body", {})
        if name in SPIED:
            return self._by_table(claim.call, SPIED[name].turned(claim.options), [claim.value])
        return self._claimed(claim, "js.truth") if name == "ok" else None

    def _chained(self, claim: _Claim, *, is_deep: bool) -> Assertion | None:
        name, arguments = claim.name, claim.arguments
        if name in _THROWN:
            return self._said_to_throw(claim)
        if name in SPIED:
            return self._by_table(claim.call, SPIED[name].turned(claim.options), claim.sides)
        if name in ("include", "includes", "contain", "contains") and [node.type for node in arguments] == ["object"]:
            by = {"by": "include", "rules": "chai" if is_deep else "==="}
            return self._claimed(claim, "js.object", claim.sides, {**by, **claim.options})
        if name == "members" and is_deep:
            return self._claimed(claim, "js.members", claim.sides[:2], {"rules": "chai", **claim.options})
        if name == "oneOf" and not (is_deep or claim.awaits):
            return self._of_operands(claim.call, "js.contain", [*arguments[:1], claim.value], claim.options)
        if name in ("keys", "key"):
            return self._keyed(claim)
        if not arguments or (is_deep and name not in ("equal", "equals", "eq", "eql", "eqls")):
            return None
        op, more = ("js.deep", {"rules": "chai"}) if is_deep else _CHAI.get(name, ("", {}))
        op, more = self._as_in_library(claim, op, more)
        return self._claimed(claim, op, claim.sides[:2], {**more, **claim.options}) if op else None

    def _said_to_throw(self, claim: _Claim) -> Assertion | None:
        arguments = claim.arguments
        is_chai = self._scopes.imports("chai") or not any(node.type in _TEXTS for node in arguments)
        if (claim.options and arguments) or not is_chai:  # others compare all of a message
            return None
        if any(node.type == "new_expression" for node in arguments):  # it is to be that, or alike in all
            return None
        awaited = "rejects" if claim.name == "rejectedWith" else ""
        return self._expected_to_throw(replace(claim, awaits=awaited), most=2)

    def _as_in_library(self, claim: _Claim, op: str, options: Mapping[str, object]) -> tuple[str, Mapping[str, object]]:
        """An assertion that chai has as should.js or expect.js have it; no operator where they say something else."""
        argument = claim.arguments[0]
        if self._scopes.imports("should") and op in ("js.deep", "js.match"):
            is_known = op == "js.deep" or argument.type not in _TEXTS
            return op if is_known else "", {"rules": "should"} if op == "js.deep" else options
        if self._scopes.imports("expect.js"):
            options = {"js.deep": {"rules": "expect.js"}, "js.contain": {"by": "array"}}.get(op, options)
            is_known = op != "js.kind" or text_of(argument)[1:-1] in _KINDS_OF_EXPECT
            return op if is_known and not (op == "js.deep" and claim.options) else "", options  # much equals to it
        return op, options

    def _keyed(self, claim: _Claim) -> Assertion | None:
        """An object of which all keys are given, in an array or one by one."""
        is_listed = [node.type for node in claim.arguments] == ["array"]
        if claim.options or not (is_listed or all(node.type == "string" for node in claim.arguments)):
            return None
        if self._scopes.imports("should") or self._scopes.imports("expect.js"):
            return None
        text = text_of(claim.arguments[0]) if is_listed else f"[{', '.join(map(text_of, claim.arguments))}]"
        if is_listed and not self._statics.is_static(claim.arguments[0]):
            return None
        return self._claimed(claim, "js.members", (), {"rules": "==="}, text, ("__goldseam__.keysOf(", ")"))

    def _of_chais_assert(self, call: Node, function: Node, arguments: Sequence[Node]) -> Assertion | None:
        name = "isOk"
        at: Node | None = function
        if function.type == "member_expression" and not self._is_of_chai(function, "assert"):
            name, at = field_text(function, "property"), field_of(function, "object")
        if not arguments or not self._is_of_chai(at, "assert"):
            return None
        if name in ("throws", "throw", "Throw"):
            return self._expected_to_throw(_Claim(call, arguments[0], name, arguments[1:], {}), most=2)
        if name == "doesNotThrow" and len(arguments) == 1:
            return _not_raising(call, arguments[0])
        if name in _CHAI_ASSERT_VALUES:
            return self._of_operands(call, "js.is", arguments[:1], {}, text=_CHAI_ASSERT_VALUES[name])
        if name in _CHAI_ASSERT_KINDS:
            return self._of_operands(call, "js.kind", arguments[:1], {}, text=f'"{_CHAI_ASSERT_KINDS[name]}"')
        if name in _CHAI_ASSERT_THERE:
            op, text = _CHAI_ASSERT_THERE[name]
            return self._of_operands(call, op, arguments[:1], NOT, text=text)
        if name in ("isOk", "ok", "isNotOk", "notOk"):
            return self._of_operands(call, "js.truth", arguments[:1], NOT if "Not" in name or name == "notOk" else {})
        if name in _CHAI_ASSERTS and len(arguments) > 1:
            op, options = _CHAI_ASSERTS[name]
            return self._of_operands(call, op, arguments[:2], options)
        return None

    # -- code

    def _of_code(self, call: Node, function: Node, arguments: Sequence[Node]) -> Assertion | None:
        if self._is_from(function, "fail", hapi.MODULES):
            return _reached(call)
        chain, first = dotted(function)
        given = arguments_of(first) if first is not None else []
        if not chain or not given or not self._is_from(field_of(first, "function"), "expect", hapi.MODULES):
            return None
        if chain[-1] in hapi.AWAITED:
            return self._thrown_in_code(call, chain, given[0], arguments)
        said = hapi.read(chain, arguments) if all(map(self._statics.is_static, given[1:])) else None
        return self._of_operands(call, said[0], [given[0], *arguments], said[1], text=said[2]) if said else None

    def _thrown_in_code(
        self, call: Node, chain: Sequence[str], value: Node, arguments: Sequence[Node]
    ) -> Assertion | None:
        """An error that is asked for, and that nothing else is done with."""
        awaits, flags = hapi.AWAITED[chain[-1]], hapi.flags_of(chain)
        whole = call.parent if call.parent is not None and call.parent.type == "await_expression" else call
        if whole.parent is None or whole.parent.type != "expression_statement":
            return None
        if flags == ["not"] and not arguments:
            return _not_raising(call, value, awaits)
        are_known = not any(node.type in FUNCTIONS or node.type == "object" for node in arguments)
        if flags or not are_known or len(arguments) > 2:  # noqa: PLR2004 - a class and a message
            return None
        return self._raising(call, value, arguments, awaits, {"by": "exact"})

    # -- sinon

    def _of_sinon(self, call: Node, function: Node, arguments: Sequence[Node]) -> Assertion | None:
        names = self._scopes.of_module(function, ("sinon",))
        if names is None or not arguments or names[:-1] != ["assert"]:
            return None
        return self._by_table(call, SPIED[names[-1]], arguments) if names[-1] in SPIED else None

    # -- expect of jest and vitest

    def _expected(self, call: Node, function: Node, arguments: Sequence[Node]) -> Assertion | None:
        names, first = dotted(function)
        actual = arguments_of(first) if first is not None else []
        if first is None or not names or not actual or not self._is_expect(field_of(first, "function")):
            return None
        *words, matcher = names
        awaits = [word for word in words if word in ("resolves", "rejects")]
        if set(words) - {"not", "resolves", "rejects"} or len(awaits) > 1 or len(words) > len(set(words)):
            return None
        if not awaits and all(node.type in _CONSTANTS for node in [actual[0], *arguments]):
            return _reached(call)
        claim = _Claim(call, actual[0], matcher, arguments, NOT if "not" in words else {}, "".join(awaits))
        if self._framework == "jasmine":
            return None if awaits else self._of_jasmine(claim)
        return self._matched(claim)

    def _of_jasmine(self, claim: _Claim) -> Assertion | None:
        matcher, arguments = claim.name, claim.arguments
        if matcher == "toThrowError" or (matcher == "toThrow" and not arguments):
            if not claim.options:
                options = _OF_ERRORS if matcher == "toThrowError" else {"by": "exact"}
                return self._raising(claim.call, claim.value, arguments, "", options)
            return None if arguments else _not_raising(claim.call, claim.value)
        if matcher == "toMatch" and [node.type for node in arguments] == ["regex"]:
            return self._claimed(claim, "js.match", claim.sides)
        compared = JASMINE.get(matcher)
        if compared is None or len(arguments) != compared.sides - 1:
            return None
        return self._by_table(claim.call, compared.turned(claim.options), claim.sides)

    def _matched(self, claim: _Claim) -> Assertion | None:
        matcher = claim.name
        if matcher in _THROWING:
            return self._expected_to_throw(claim)
        if matcher in _SHOWN:
            return self._shown(claim)
        if matcher in _FILED and self._has_snapshots:
            return self._filed(claim)
        if matcher in _VALUES and not claim.arguments:
            return self._claimed(claim, "js.is", text=_VALUES[matcher])
        if matcher in ("toBeTruthy", "toBeFalsy"):
            is_not = (matcher == "toBeFalsy") is not bool(claim.options)
            return self._claimed(claim, "js.truth", options=NOT if is_not else {})
        if matcher == "toBeDefined":
            return self._claimed(claim, "js.defined")
        return self._compared(claim) or (None if claim.awaits else self._of_dom(claim))

    def _of_dom(self, claim: _Claim) -> Assertion | None:
        """As jest-dom has it. It is asked whether a state is there and whether it is not: no element has either."""
        matcher = claim.name
        if matcher in DOM_STATES and not claim.arguments:
            expect = text_of(root_of(claim.call))
            front = f"__goldseam__.either((it) => {expect}(it).{matcher}(), (it) => {expect}(it).not.{matcher}(), "
            text = "false" if claim.options else "true"
            return self._claimed(claim, "js.is", options={}, text=text, around=(front, ")"))
        compared = of_dom(matcher, claim.arguments)
        if compared is None:
            return None
        return self._by_table(claim.call, compared.turned(claim.options), [claim.value, *claim.arguments[-1:]])

    def _compared(self, claim: _Claim) -> Assertion | None:
        matcher, arguments = claim.name, claim.arguments
        if matcher in ("toHaveProperty", "toBeCloseTo") and len(arguments) in (1, 2):
            return self._claimed(claim, "js.property" if matcher == "toHaveProperty" else "js.close", claim.sides)
        if claim.awaits and (matcher in _MOCK_COUNTS or matcher in _MOCK_CALLS or matcher == "toBeTypeOf"):
            return None
        if matcher in _MOCK_COUNTS or matcher in _MOCK_CALLS:
            return self._mocked(claim)
        if matcher not in _MATCHERS or not arguments or any(node.type not in _TEXTS for node in arguments[1:]):
            return None  # what comes after what is expected is a message, or nothing that is known
        op, more = _MATCHERS[matcher]
        around = ("typeof (", ")") if matcher == "toBeTypeOf" else AS_IT_IS
        return self._claimed(claim, op, claim.sides[:2], {**more, **claim.options}, around=around)

    def _shown(self, claim: _Claim) -> Assertion | None:
        """A snapshot that is written out beside what it is of."""
        arguments = claim.arguments
        matchers, texts = _properties(arguments)
        if claim.options or len(texts) != 1 or len(matchers) + 1 < len(arguments):
            return None
        if not all(map(self._statics.is_static, arguments)):
            return None
        if claim.name == "toThrowErrorMatchingInlineSnapshot":
            if matchers or claim.awaits == "resolves":
                return None
            return self._raising(claim.call, claim.value, arguments, claim.awaits and "body", {"by": "snapshot"})
        return self._claimed(claim, "js.snapshot", [claim.value, *texts, *matchers], {}, around=_SHOWING)

    def _filed(self, claim: _Claim) -> Assertion | None:
        """A snapshot in a file of its own: what it is of, as the fix gives it."""
        matchers, hints = _properties(claim.arguments)
        if claim.options or len(hints) > 1 or len(matchers) + len(hints) < len(claim.arguments):
            return None
        if claim.name == "toMatchSnapshot":
            if not all(map(self._statics.is_static, matchers)):
                return None
            same = f"{_SAME_BUT}({text_of(matchers[0])})" if matchers else _SAME
            return self._claimed(claim, "js.snapshot", options={"by": "value"}, text=same, around=_SHOWING)
        if matchers:
            return None
        thrown = self._raising(claim.call, claim.value, (), claim.awaits and "body", {"by": "exact"})
        message = Operand(node=None, static=True, text=_SAME)
        return replace(thrown, operands=(message,)) if claim.awaits != "resolves" else None

    def _mocked(self, claim: _Claim) -> Assertion | None:
        """How often, or with what, a mock was called."""
        if claim.name in _MOCK_CALLS:
            around, which = _MOCK_CALLS[claim.name]
            return self._claimed(claim, "js.called", claim.sides, {"which": which, **claim.options}, around=around)
        (front, back), count = _MOCK_COUNTS[claim.name]
        around = (front, back + ".length")
        if len(claim.arguments) != (count is None):
            return None
        if not count and claim.options:
            return self._claimed(claim, "js.is", options={}, text="0", around=around)
        op, text = ("js.>", "0") if count == "" else ("js.is", count or "")
        return self._claimed(claim, op, claim.sides, text=text, around=around)

    def _expected_to_throw(self, claim: _Claim, most: int = 1) -> Assertion | None:
        arguments, awaits = claim.arguments, claim.awaits
        if awaits == "resolves" or len(arguments) > most or (claim.options and (arguments or awaits)):
            return None
        if any(node.type in FUNCTIONS for node in arguments):
            return None  # it looks at the error itself
        if self._framework == "vitest" and any(map(_is_empty, arguments)):
            return None  # of an empty text it asks for an empty message
        if claim.options:
            return _not_raising(claim.call, claim.value)
        options: dict[str, object] = {"by": "message"}
        if awaits == "rejects" and self._framework == "jest":
            options["only"] = "errors"
        if (most > 1 or self._framework == "vitest") and not awaits:  # of chai
            options["only"] = "truthy"
        if most == 1 and arguments:
            options["alike"] = "whole" if self._framework == "vitest" else "cause"
        return self._raising(claim.call, claim.value, arguments, awaits and "body", options)

    def _is_expect(self, node: Node | None) -> bool:
        if node is None or node.type != "identifier":
            return False
        binding = self._scopes.resolve(node)
        if binding is None:
            return text_of(node) == "expect"
        if binding.kind == "param" and self._framework == "vitest":  # `test("…", ({ expect }) => …)`
            return not (binding.is_whole or binding.is_written) and key_of(binding.declared) == "expect"
        return binding.module in EXPECT_MODULES and binding.imported in ("expect", "default", "*")


def _unread(call: Node) -> Assertion:
    return Assertion(op="js.truth", operands=(), replaced=call, is_unread=True)


def _reached(call: Node) -> Assertion:
    """That a place is come to as often as with the fix: never, where it says that the test fails."""
    return Assertion(op="no_raise", operands=(), replaced=call)


def _not_raising(call: Node, body: Node, awaits: str = "") -> Assertion:
    return Assertion(op="no_raise", operands=(), replaced=call, body=body, awaits=awaits)


def _properties(arguments: Sequence[Node]) -> tuple[Sequence[Node], Sequence[Node]]:
    """Of what a snapshot is given: an object of matchers, where it is first, and the texts."""
    texts = [node for node in arguments if node.type in _TEXTS]
    return [node for node in arguments[:1] if node.type == "object"], texts


def _is_empty(node: Node) -> bool:
    """Whether a text is empty that is written out."""
    return node.type in _TEXTS and not node.named_children


def _goes_on(call: Node) -> bool:
    """Whether a call is only the beginning of a longer chain."""
    return call.parent is not None and call.parent.type == "member_expression"


def _is_called(member: Node, name: str) -> bool:
    return field_text(member, "property") == name


def only_throws(body: Node | None) -> bool:
    """Whether a statement, or a block behind what it declares, does nothing but to throw a new error."""
    is_block = body is not None and body.type == "statement_block"
    statements = [] if body is None else body.named_children if is_block else [body]
    statements = [statement for statement in statements if statement.type != "comment"]
    if not statements:
        return False
    *before, last = statements
    if last.type != "throw_statement" or last.named_children[0].type != "new_expression":
        return False
    return all(statement.type in ("lexical_declaration", "variable_declaration") for statement in before)


def holds(node: Node, kind: str) -> bool:
    """Whether a node of a kind (`await_expression`, `yield_expression`) is in an expression, functions in it aside."""
    if node.type == kind:
        return True
    if node.type in FUNCTIONS:
        return False
    return any(holds(child, kind) for child in node.named_children)
