"""What the assertions of libraries compare, by library and name. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from tree_sitter import Node

from harness.core.syntax import enclosing, field_of, field_text, text_of, words
from harness.languages.javascript.source import FUNCTIONS, arguments_of, property_of, root_of
from miner.languages.javascript.stripping.scopes import SETUP, Binding, Scopes, dotted, place_among, required
from miner.languages.stripping.sites import NOT, contrary


class Compared(NamedTuple):
    """One assertion, in the terms of the host's judge (harness/judging/javascript)."""

    op: str
    options: Mapping[str, object] = {}
    sides: int = 2
    """Operands among what it is given; a message may follow."""
    text: str = ""
    """One operand more, that is not in the file."""
    around: tuple[str, str] = ("", "")
    """What is put around the first operand."""

    def turned(self, options: Mapping[str, object]) -> Compared:
        """The contrary, where the options say so."""
        return self._replace(options=contrary(self.options)) if options.get("not") else self


BY_SIGN: Mapping[str, object] = {"by": "=="}
"""What compares by the sign alone, to which NaN is not itself; node's `assert.equal` takes it for that."""


def _value(text: str) -> Compared:
    return Compared("js.is", sides=1, text=text)


def _deep(rules: str, options: Mapping[str, object] = {}) -> Compared:
    return Compared("js.deep", {"rules": rules, **options})


DOM_STATES = words(
    "toBeInTheDocument toBeVisible toBeDisabled toBeEnabled toBeEmptyDOMElement toBeChecked toBePartiallyChecked"
    " toBeRequired toBeValid toBeInvalid toHaveFocus"
)
"""Of jest-dom: what takes no argument."""


def of_dom(matcher: str, arguments: Sequence[Node]) -> Compared | None:
    """What jest-dom's matchers with arguments compare, where these are written out; None for others."""
    kinds, texts = [node.type for node in arguments], [text_of(node) for node in arguments]
    match matcher, kinds:
        case "toHaveTextContent", ["string" | "regex"] if len(texts[0]) > len("''"):
            return Compared("js.contain" if kinds == ["string"] else "js.match", around=("__goldseam__.textOf(", ")"))
        case "toHaveValue", [_]:
            return Compared("js.deep", {"rules": "jest"}, around=("__goldseam__.valueOf(", ")"))
        case "toHaveClass", ["string"] if len(texts[0].split()) == 1 and len(texts[0]) > len("''"):
            return Compared("js.contain", around=("[...(", ").classList]"))
        case "toHaveAttribute", ["string"]:
            return Compared("js.is", sides=1, text="true", around=("(", f").hasAttribute({texts[0]})"))
        case "toHaveAttribute", ["string", "string"]:
            return Compared("js.is", around=("(", f").getAttribute({texts[0]})"))
    return None


_TRUE, _UNTRUE = Compared("js.truth", sides=1), Compared("js.truth", NOT, sides=1)
_IS = Compared("js.is")
_SAME, _NOT_SAME = Compared("js.==="), Compared("js.===", NOT)
_MATCH, _NO_MATCH = Compared("js.match"), Compared("js.match", NOT)
_EQUALS = ("equal", "equals", "is", "isEqual", "strictEqual", "strictEquals")
_EQUALS_NOT = ("not", "notEqual", "notEquals", "isNot", "isNotEqual", "notStrictEqual")
_COMMON: Mapping[str, Compared] = {
    **dict.fromkeys(_EQUALS, _SAME), **dict.fromkeys(_EQUALS_NOT, Compared("js.===", {"by": "both", **NOT})),
    "match": _MATCH, "doesNotMatch": _NO_MATCH, **dict.fromkeys(("ok", "true", "assert"), _TRUE),
    **dict.fromkeys(("notOk", "false", "notok", "error", "ifError", "ifErr", "iferror"), _UNTRUE),
}  # fmt: skip
_TAPE: Mapping[str, Compared] = {
    **_COMMON,
    **dict.fromkeys(_EQUALS, _IS),
    **dict.fromkeys(_EQUALS_NOT, Compared("js.===", {"by": "both", **NOT})),
    **dict.fromkeys(("deepEqual", "deepEquals", "same", "isEquivalent"), _deep("tape")),
    **dict.fromkeys(("notDeepEqual", "notDeepEquals", "notSame"), _deep("tape", NOT)),
}
_TAP: Mapping[str, Compared] = {
    **_COMMON, "notMatch": _NO_MATCH,
    **dict.fromkeys(("same", "deepEqual", "deepEquals", "equivalent"), _deep("tap")),
    **dict.fromkeys(("strictSame", "strictDeepEqual", "isDeeply"), _deep("tap strict")),
}  # fmt: skip
_AVA: Mapping[str, Compared] = {
    "is": _IS, "not": Compared("js.is", NOT), "deepEqual": _deep("ava"),
    "notDeepEqual": _deep("ava", NOT), "true": _value("true"), "false": _value("false"), "truthy": _TRUE,
    "assert": _TRUE, "falsy": _UNTRUE, "regex": _MATCH, "notRegex": _NO_MATCH,
}  # fmt: skip
_QUNIT: Mapping[str, Compared] = {
    "equal": Compared("js.==", BY_SIGN), "notEqual": Compared("js.==", {**BY_SIGN, **NOT}),
    "strictEqual": _SAME, "notStrictEqual": _NOT_SAME,
    "deepEqual": _deep("qunit"), "notDeepEqual": _deep("qunit", NOT), "ok": _TRUE, "notOk": _UNTRUE,
    "true": _value("true"), "false": _value("false"),
}  # fmt: skip
POINTS: Mapping[str, Mapping[str, Compared]] = {"tape": _TAPE, "tap": _TAP, "ava": _AVA, "qunit": _QUNIT}
"""By library: what is asked of the object that it hands each test, which counts."""
GIVING = frozenset(POINTS)
COUNTED = frozenset(name for table in POINTS.values() for name in table) | words(
    "notSame strictNotSame throws rejects resolves has hasStrict notThrows throwsAsync type fail pass matchSnapshot"
    " resolveMatchSnapshot resolveMatch emits notThrowsAsync like snapshot propEqual propContains pushResult"
)
"""What these objects count as an assertion."""
_TYPEOF = ("typeof (", ")")
UVU: Mapping[str, Compared] = {
    "ok": _TRUE, "is": _SAME, "equal": _deep("uvu"), "match": _MATCH, "type": Compared("js.is", around=_TYPEOF),
    "instance": Compared("js.instance"), "not": _UNTRUE, "not.ok": _UNTRUE, "is.not": _NOT_SAME,
    "not.equal": _deep("uvu", NOT), "not.match": _NO_MATCH, "not.type": Compared("js.is", NOT, around=_TYPEOF),
}  # fmt: skip
"""Of `uvu/assert`, by the names behind it."""
JASMINE: Mapping[str, Compared] = {
    "toBe": _SAME, "toEqual": _deep("jasmine"), "toContain": Compared("js.contain", {"by": "jasmine"}),
    "toBeNull": _value("null"),
    "toBeUndefined": _value("undefined"), "toBeNaN": _value("NaN"), "toBeTrue": _value("true"),
    "toBeFalse": _value("false"), "toBeTruthy": _TRUE, "toBeFalsy": _UNTRUE,
    "toBeDefined": Compared("js.defined", sides=1), "toBeInstanceOf": Compared("js.instance"),
    "toBeGreaterThan": Compared("js.>"), "toBeGreaterThanOrEqual": Compared("js.>="),
    "toBeLessThan": Compared("js.<"), "toBeLessThanOrEqual": Compared("js.<="),
}  # fmt: skip
"""Matchers of jasmine's `expect`, but for those of errors and of texts."""


_COUNT, _CALLS = ("(", ").callCount"), ("(", ").args")


def _counted(number: str) -> Compared:
    return Compared("js.is", sides=1, text=number, around=_COUNT)


def _called(which: str, *, first: bool = False) -> Compared:
    return Compared("js.called", {"which": which, "rules": "ava", "first": first}, sides=1, around=_CALLS)


SPIED: Mapping[str, Compared] = {
    "notCalled": _counted("0"), "calledOnce": _counted("1"), "calledTwice": _counted("2"),
    "calledThrice": _counted("3"), "called": Compared("js.>", sides=1, text="0", around=_COUNT),
    "callCount": Compared("js.is", around=_COUNT), "calledWith": _called("any", first=True),
    "calledWithExactly": _called("any"), "calledOnceWithExactly": _called("only"),
}  # fmt: skip
"""Of sinon's `assert`, and of `expect` where sinon-chai is used: how often a spy was called, and with what."""


_MOST_DEPTH = 8
_HOOKS = SETUP | words("after afterEach afterAll teardown suiteTeardown")
_TESTS = words("it test describe suite context specify fit fdescribe Deno ava QUnit")


def title_of_call(call: Node | None) -> str | None:
    """The title that a call gives a test or a suite; None of another call, empty where it is made of something."""
    if call is None or call.type != "call_expression":
        return None
    at = field_of(call, "function")
    name = field_text(at, "property") if at is not None else ""
    is_named_test = name in ("test", "it")  # `t.test` of a context
    given = arguments_of(call)
    if name == "expect" or not (is_named_test or text_of(root_of(at)) in _TESTS) or not given:
        return None
    return title_of(given[0])


def title_of(node: Node) -> str:
    """A title that is written out; empty of one that is made of something."""
    if node.type not in ("string", "template_string") or "${" in text_of(node) or "\\" in text_of(node):
        return ""
    return re.sub(r"\s+", " ", text_of(node)[1:-1])


def is_test(call: Node | None) -> bool:
    """Whether a call makes a test or a suite."""
    return title_of_call(call) is not None


def is_own_test(call: Node | None, scopes: Scopes) -> bool:
    """Whether a call makes a test or a suite by nothing of the product."""
    return is_test(call) and _is_of_library(field_of(call, "function"), scopes)


def is_hook(call: Node | None, scopes: Scopes) -> bool:
    """Whether a call is given what runs before or after tests."""
    function = field_of(call, "function")
    return (property_of(function) or text_of(function)) in _HOOKS and _is_of_library(function, scopes)


def _is_of_library(function: Node | None, scopes: Scopes) -> bool:
    """Whether what is called is global, of another package, or of what a function is handed (`t.test`)."""
    root = root_of(function)
    binding = scopes.of_name(root)
    is_handed = binding is None or binding.kind == "param" or binding.module[:1] not in ("", ".", "/")
    return is_handed or text_of(root) in _TESTS


def call_given(function: Node) -> Node | None:
    """The call that is given a function."""
    around = function.parent
    return around.parent if around is not None and around.type == "arguments" else None


def function_around(node: Node) -> Node | None:
    """The innermost function that a node stands in."""
    return enclosing(node.parent, FUNCTIONS)


def given_by(scopes: Scopes, node: Node, modules: frozenset[str], depth: int = 0) -> str:
    """The module whose tests give their functions what a name stands for; empty where it is none of these.

    What a function of the file is given by all its calls counts as well; `depth` is how many are known to be around.
    """
    binding = scopes.of_name(node)
    if binding is None or binding.is_written or depth > _MOST_DEPTH:
        return ""
    if binding.module == "tap" and binding.imported in ("default", "*", "t"):
        return "tap" if "tap" in modules else ""  # to tap the whole file is a test
    if binding.kind != "param":
        return ""
    function = function_around(binding.declared)
    if function is not None and (calls := scopes.calls_of(function)):
        place = place_among(function, binding.declared)
        modules_given = {_given_at(scopes, call, place, modules, depth + 1) for call in calls}
        return modules_given.pop() if len(modules_given) == 1 else ""
    call = function.parent.parent if function is not None and function.parent is not None else None
    _, called = dotted(field_of(call, "function"))
    if (module := required(called)[0]) in modules:
        return module
    is_name = called is not None and called.type == "identifier" and called.id != node.id
    return _of_tests(scopes, called, binding, modules, depth) if called is not None and is_name else ""


def _of_tests(scopes: Scopes, called: Node, parameter: Binding, modules: frozenset[str], depth: int) -> str:
    """The module of what makes a test, by its name."""
    source = scopes.resolve(called)
    if source is None or (source.kind == "param" and _is_whole_file(scopes, source)) or _is_qunit(called, source):
        return "qunit" if (source or text_of(called) == "QUnit") and "qunit" in modules else ""
    if source is parameter:
        return ""
    if source.module.startswith(".") and text_of(called) in ("test", "it"):  # a helper that hands on what it is given
        return scopes.runner if scopes.runner in modules else ""
    if source.kind in ("const", "let", "var") and source.init is not None and not (source.module or source.is_written):
        return _of_another(scopes, source.init, modules)
    return source.module if source.module in modules else given_by(scopes, called, modules, depth + 1)


def _is_qunit(called: Node, source: Binding) -> bool:
    """Whether a name is QUnit, of one of its packages or the global: `root.QUnit || require("qunit-extras")`."""
    is_set = source.kind in ("const", "let", "var", "import") and not source.is_written
    return is_set and text_of(called) == "QUnit" and not source.module.startswith((".", "/"))


def _given_at(scopes: Scopes, call: Node, place: int, modules: frozenset[str], depth: int) -> str:
    """The module of what a call is given at a place, where that is what a test is handed."""
    arguments = arguments_of(call)
    if not 0 <= place < len(arguments) or any(node.type == "spread_element" for node in arguments):
        return ""
    return given_by(scopes, arguments[place], modules, depth)


def _is_whole_file(scopes: Scopes, binding: Binding) -> bool:
    """Whether a name is what the global `QUnit` is called in `(function (QUnit) { … })(QUnit)`."""
    function = function_around(binding.declared)
    outer = function.parent if function is not None else None
    outer = outer.parent if outer is not None and outer.type == "parenthesized_expression" else outer
    if function is None or outer is None or outer.type != "call_expression" or binding.is_written:
        return False
    place, arguments = place_among(function, binding.declared), arguments_of(outer)
    if not 0 <= place < len(arguments):
        return False
    return text_of(arguments[place]) == "QUnit" and scopes.resolve(arguments[place]) is None


def _of_another(scopes: Scopes, init: Node, modules: frozenset[str]) -> str:
    """The module of what a name is set to: `anyTest as TestFn`, `tap.test`, the global `QUnit`."""
    while init.type in ("as_expression", "satisfies_expression") and init.named_children:
        init = init.named_children[0]
    source = scopes.of_name(dotted(init)[1])
    if source is None:
        return "qunit" if text_of(init) == "QUnit" and "qunit" in modules else ""
    return source.module if source.module in modules and not source.is_written else ""
