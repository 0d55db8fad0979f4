"""The assertions of a test file: what each compares, and how the host will decide it. Pure."""

from __future__ import annotations

import ast
import itertools
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Any, cast

from harness.core import python_source
from miner.languages import base
from miner.languages.base import Mode, WrittenForm
from miner.languages.python.stripping import claims
from miner.languages.python.stripping.nodes import attribute_of, call_of, name_of

if TYPE_CHECKING:
    from miner.languages.python.stripping.reading.module import Module
    from miner.languages.python.stripping.reading.scope import Scope


HAND_OUT = "__goldseam__"
"""What a stripped test calls; harness/languages/python/inside/handout.py puts it into builtins."""


class Form(StrEnum):
    """Where an assertion stands."""

    STATEMENT = "statement"
    """A statement of its own: `assert x == y`, `self.assertEqual(x, y)`."""
    BLOCK = "block"
    """Around other statements: `with pytest.raises(E):`."""
    CALL = "call"
    """Around one call: `pytest.raises(E, f, x)`, `info = pytest.raises(E, f, x)`."""


_CALL_LIST, _AWAIT_LIST, _ALL_CALLS = "call_args_list", "await_args_list", "mock_calls"
"""What a mock has of its calls: those of itself, those that were waited for, and those of its parts as well."""


@dataclass(frozen=True, kw_only=True)
class Operand:
    """One side of an assertion."""

    node: ast.expr
    static: bool


@dataclass(frozen=True, kw_only=True, eq=False)
class Assertion(base.Assertion):
    """One assertion, in the terms of the host's judge (harness/judging)."""

    operands: tuple[Operand, ...]
    form: Form = Form.STATEMENT
    kept: Mapping[str, ast.expr] = field(default_factory=dict)
    """Options that are expressions: a pattern, a tolerance. They never enter the container."""
    whole: ast.expr | None = None
    """The condition itself, where its truth can be handed out as a result."""
    written: WrittenForm | None = None
    """How what is expected is made, where that is more than literals."""
    data_paths: tuple[ast.expr, ...] = ()
    """The files beside the tests of which what is expected is made: the product must not have written them."""
    may_wait: bool = False
    """Whether its operand is the block itself, which may wait for an exception or for nothing."""
    call_list: str = ""
    """What of a mock has the calls that are asked for, where these are not all calls of itself."""
    called: ast.Call | None = None
    """The call that is to raise, where the assertion is not written as one."""
    is_of_sure: bool = False
    """Whether it compares as sure does since its version 1.4."""
    is_of_pytest: bool = False
    """Whether it catches what is raised or warned of as pytest does."""
    handed: tuple[int, ...] = ()
    """Places of operands that are, or are made of, constants of the product which the product is given as well."""
    is_input: bool = False
    """Whether it is a chain of two sides around what the test wrote for one of them, which the product was given."""

    @property
    def tells_comparison(self) -> bool:
        """Whether a recording tells after the operands if the product's code compares them."""
        return self.form is Form.STATEMENT

    @property
    def compares_inside(self) -> bool:
        """Whether what is inside of a value may be compared, and not only the value itself be looked at."""
        return self.op not in ("truth", "not", "is", "is_not", "isinstance", "not_isinstance")

    @property
    def is_whole(self) -> bool:
        """Whether a result is handed out for the whole of it, and not for its operands."""
        return self.whole is not None

    def tells(self, values: Sequence[Any], /) -> bool:
        """Whether nothing that is kept can be changed by the product, which has it in hand."""
        return not any(_is_changeable(value) for place, value in enumerate(values) if place in self.handed)

    @property
    def modes(self) -> tuple[Mode, ...]:
        """What can be tried, best first."""
        if self.op in ("raises", "warns"):
            return (Mode.EXPECTED, Mode.INSIDE)
        results = (Mode.RESULT,) if self.whole is not None or self.op in _COMPARED else ()
        if self.is_input:
            return (Mode.EXPECTED, Mode.OPERANDS, *results, Mode.INSIDE)
        if any(operand.static for operand in self.operands):
            return (Mode.EXPECTED, *results, Mode.INSIDE)
        if self.kept:
            return (Mode.EXPECTED, *results, Mode.INSIDE)
        return (Mode.OPERANDS, *results, Mode.INSIDE)


_COMPARED = frozenset({"==", "!=", "<", "<=", ">", ">=", "in", "not_in", "is", "is_not"})
_OPERATORS: dict[type[ast.cmpop], str] = {
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.In: "in",
    ast.NotIn: "not_in",
    ast.Is: "is",
    ast.IsNot: "is_not",
}
_OPPOSITES = {
    "==": "!=", "!=": "==", "in": "not_in", "not_in": "in", "is": "is_not", "is_not": "is", "truth": "not",
    "not": "truth", "isinstance": "not_isinstance",
}  # fmt: skip
_TWO_SIDES = {
    "assertEqual": "==", "assertEquals": "==", "assertNotEqual": "!=", "assertNotEquals": "!=", "assertIs": "is",
    "assertIsNot": "is_not", "assertIn": "in", "assertNotIn": "not_in", "assertGreater": ">",
    "assertGreaterEqual": ">=", "assertLess": "<", "assertLessEqual": "<=", "assertListEqual": "==",
    "assertTupleEqual": "==", "assertDictEqual": "==", "assertSetEqual": "==", "assertSequenceEqual": "==",
    "assertMultiLineEqual": "==", "assertCountEqual": "count_equal", "assertItemsEqual": "count_equal",
    "assertRegex": "regex", "assertRegexpMatches": "regex", "assertNotRegex": "not_regex",
    "assertAlmostEqual": "almost", "assertAlmostEquals": "almost", "assertNotAlmostEqual": "not_almost",
    "assertIsInstance": "isinstance", "assertNotIsInstance": "not_isinstance", "failUnlessEqual": "==",
    "failIfEqual": "!=", "failUnlessAlmostEqual": "almost", "failIfAlmostEqual": "not_almost",
}  # fmt: skip
_KINDS: Mapping[str, ast.expr] = {
    name: cast("ast.Expr", python_source.parse(kind).body[0]).value
    for name, kind in {
        "assertListEqual": "list", "assertTupleEqual": "tuple", "assertDictEqual": "dict",
        "assertSetEqual": "(set, frozenset)", "assertMultiLineEqual": "str",
    }.items()
}  # fmt: skip
"""What both sides have to be for methods of unittest to compare them."""
_ONE_SIDE = {
    "assertTrue": "truth", "assert_": "truth", "failUnless": "truth", "assertFalse": "not", "failIf": "not",
}  # fmt: skip
_NONE = {"assertIsNone": "is", "assertIsNotNone": "is_not"}
_NOSE = {
    "eq_": "assertEqual", "ok_": "assertTrue", "assert_equal": "assertEqual", "assert_equals": "assertEqual",
    "assert_not_equal": "assertNotEqual", "assert_true": "assertTrue", "assert_false": "assertFalse",
    "assert_is": "assertIs", "assert_is_none": "assertIsNone", "assert_is_not_none": "assertIsNotNone",
    "assert_in": "assertIn", "assert_not_in": "assertNotIn", "assert_raises": "assertRaises",
    "assert_is_instance": "assertIsInstance", "assert_almost_equal": "assertAlmostEqual",
    "assert_list_equal": "assertListEqual", "assert_dict_equal": "assertDictEqual", "assert_greater": "assertGreater",
    "assert_less": "assertLess",
}  # fmt: skip
_SQLALCHEMY = {
    "eq_": "assertEqual", "ne_": "assertNotEqual", "is_": "assertIs", "is_not": "assertIsNot",
    "is_not_": "assertIsNot", "in_": "assertIn", "not_in": "assertNotIn", "not_in_": "assertNotIn",
}  # fmt: skip
_OF_TABLES = {
    "check_dtype": True,
    "check_names": True,
    "check_freq": True,
    "check_exact": False,
    "rtol": 1e-05,
    "atol": 1e-08,
}
"""Arguments of pandas' functions that the host knows, as they are without being given."""
_ARRAYS: Mapping[str, tuple[str, Mapping[str, object]]] = {
    "numpy.testing.assert_equal": ("np.equal", {}),
    "numpy.testing.assert_array_equal": ("np.arrays", {"equal_nan": True, "stretches": True}),
    "numpy.testing.assert_allclose": ("np.near", {"rtol": 1e-07, "atol": 0.0, "equal_nan": True}),
    "numpy.testing.assert_almost_equal": ("np.near", {"decimal": 7}),
    "numpy.testing.assert_array_almost_equal": ("np.near", {"decimal": 6}),
    "numpy.allclose": ("np.near", {"rtol": 1e-05, "atol": 1e-08, "equal_nan": False}),
    "numpy.isclose": ("np.near", {"rtol": 1e-05, "atol": 1e-08, "equal_nan": False}),
    "numpy.array_equal": ("np.arrays", {"equal_nan": False, "stretches": False}),
    **{
        f"pandas.{module}.assert_{word}_equal": (
            "pd.equal",
            {**_OF_TABLES, "check_freq": kind != "Index", "kind": kind},
        )
        for module in ("testing", "_testing", "util.testing")
        for word, kind in (("series", "Series"), ("frame", "DataFrame"), ("index", "Index"))
    },
}
"""By function of numpy and pandas: its operator, and what further arguments are without being given, in order."""
_NUMPY_NAMES = {"assert_": "assertTrue", "assert_raises": "assertRaises", "assert_raises_regex": "assertRaisesRegex"}
_MESSAGES = frozenset({"err_msg", "verbose", "obj"})
_RAISES = frozenset({"assertRaises", "failUnlessRaises", "assertRaisesRegex", "assertRaisesRegexp"})
_WARNS = frozenset({"assertWarns", "assertWarnsRegex"})
_FAILS = frozenset({"pytest.fail", "pytest.skip", "pytest.xfail"})
_CAPTURING = re.compile(
    r"cap(?:sys|fd|log|tured?)|recwarn|redirect_std|assert(?:No)?Logs|catch_warnings|[Ww]arns|StringIO|stdout|stderr"
    r"|readouterr|[Hh]andler"
)
"""What tells that a test looks at what is printed, logged or warned of."""
_RECORDING_WARNINGS = re.compile(r"recwarn|record=")
_CALLS = {
    "assert_called_with": ("called_with", _CALL_LIST), "assert_called_once_with": ("called_once_with", _CALL_LIST),
    "assert_any_call": ("any_call", _CALL_LIST), "assert_awaited_with": ("called_with", _AWAIT_LIST),
    "assert_awaited_once_with": ("called_once_with", _AWAIT_LIST), "assert_any_await": ("any_call", _AWAIT_LIST),
}  # fmt: skip
_SKIPS = frozenset({"pytest.skip", "unittest.SkipTest", "nose.SkipTest", "nose.plugins.skip.SkipTest"})
_CALL = re.compile(r"(?:unittest\.)?mock\.call(?:\.|$)")
_SEVERAL_CALLS = {"assert_has_calls": _ALL_CALLS, "assert_has_awaits": _AWAIT_LIST}
_COUNTS = {
    "assert_called": (">=", 1, _CALL_LIST), "assert_called_once": ("==", 1, _CALL_LIST),
    "assert_not_called": ("==", 0, _CALL_LIST), "assert_awaited": (">=", 1, _AWAIT_LIST),
    "assert_awaited_once": ("==", 1, _AWAIT_LIST), "assert_not_awaited": ("==", 0, _AWAIT_LIST),
}  # fmt: skip
_OF_MOCKS = {*_CALLS, *_SEVERAL_CALLS, *_COUNTS}


_LEAVES = (ast.Return, ast.Break, ast.Continue, ast.Raise, ast.Try, ast.Yield, ast.YieldFrom, ast.Await)
"""By these a block may be left, or go on, before its last statement."""


class Reader:
    """Reads the assertions of one test function."""

    def __init__(self, module: Module, scope: Scope, overridden: frozenset[str], *, every: bool = False) -> None:
        """`overridden` are the assertion methods that the test's own classes define.

        Only if `every` is given does it read assertions of which nothing depends on the product.
        """
        self._module, self._scope, self._overridden, self._every = module, scope, overridden, every

    def of_statement(self, statement: ast.stmt) -> tuple[Assertion, ...]:
        """The assertions that a simple statement makes, in order; empty for one that makes none that is known."""
        match statement:
            case ast.Assert(test=test):
                return self._conditions(test)
            case ast.If(test=test) if self.is_guard(statement):
                return self._conditions(ast.UnaryOp(op=ast.Not(), operand=test))
            case ast.Expr(value=value) if claim := self._claim(value):
                return self._of_claim(claim)
            case ast.Expr(value=ast.Call() as call):
                assertion = self._of_call(call)
                return self._split(assertion) if assertion else self._last_call(call)
            case ast.Assign(targets=[ast.Name()], value=ast.Call() as call):
                assertion = self._of_call(call)
                return (assertion,) if assertion and assertion.form is Form.CALL else ()
        return ()

    def _claim(self, value: ast.expr) -> claims.Claim | None:
        """What a chain of sure's claims; it adds words to all objects once it is imported."""
        if not any(dotted.partition(".")[0] == "sure" for dotted in self._module.imports.values()):
            return None
        return claims.of_sure(value, self._module.dotted, self._scope.stands_for)

    def _of_claim(self, claim: claims.Claim) -> tuple[Assertion, ...]:
        if claim.condition is not None:
            assertions = self._conditions(claim.condition)
            return tuple(replace(assertion, is_of_sure=claim.is_equality) for assertion in assertions)
        kind, *texts = claim.raised
        options = {"match": _escaped(texts[0])} if texts else {}
        operands = (Operand(node=kind, static=True),)
        if ast.unparse(kind).rpartition(".")[2].isupper() and not self._scope.is_expected(kind):
            return ()
        return (Assertion(op="raises", operands=operands, form=Form.CALL, kept=options, called=claim.called),)

    def is_guard(self, statement: ast.stmt) -> bool:
        """Whether it only fails the test under a condition: `if a != b: self.fail("…")`."""
        return isinstance(statement, ast.If) and not statement.orelse and self.only_fails(statement.body)

    def only_fails(self, body: Sequence[ast.stmt]) -> bool:
        """Whether a block does nothing but fail the test, whatever it says of it."""
        return self._fails(body[-1]) and _goes_to_its_end(body)

    def of_try(self, statement: ast.Try) -> Assertion | None:
        """That something raises what one handler is for, as the test fails where it does not."""
        match statement:
            case ast.Try(body=[*_], handlers=[ast.ExceptHandler(type=ast.expr() as kind)], finalbody=[]) if (
                self._fails(statement.body[-1]) if not statement.orelse else self.only_fails(statement.orelse)
            ):
                kinds = kind.elts if isinstance(kind, ast.Tuple) else [kind]
                if {"Exception", "BaseException", "AssertionError"} & set(map(ast.unparse, kinds)):
                    return None  # it may be for the failure itself
                return Assertion(op="raises", operands=(Operand(node=kind, static=True),), form=Form.BLOCK)
        return None

    def never_passes(self, body: Sequence[ast.stmt]) -> bool:
        """Whether a block does nothing but end the test, which fails or is skipped."""
        match body[-1]:
            case ast.Expr(value=ast.Call(func=func)) | ast.Raise(exc=ast.Call(func=func)):
                is_skipped = self._module.dotted(func) in _SKIPS or (
                    ast.unparse(func) == "self.skipTest" and "skipTest" not in self._overridden
                )
                return (is_skipped and _goes_to_its_end(body)) or self.only_fails(body)
        return self.only_fails(body)

    def _fails(self, statement: ast.stmt) -> bool:
        return fails(statement, self._module.dotted, self._overridden)

    def of_item(self, item: ast.withitem) -> Assertion | None:
        """The assertion that one item of a `with` makes of its block."""
        call = item.context_expr
        if not (item.optional_vars is None or isinstance(item.optional_vars, ast.Name)):
            return None
        if isinstance(call, ast.Name | ast.IfExp) and self._scope.is_waiting(call):
            nothing = ast.Constant(value=None)
            sides = (Operand(node=call, static=True),)
            return Assertion(
                op="raises", operands=sides, form=Form.BLOCK, kept={"match": nothing}, may_wait=True, is_of_pytest=True
            )
        if not isinstance(call, ast.Call):
            return None
        word = self._word(call.func)
        if word in ("pytest.raises", *_RAISES):
            return self._catching("raises", word, call, Form.BLOCK)
        if word.startswith("pytest.") and self._reads(_RECORDING_WARNINGS):
            return None  # pytest emits again there what nobody waited for
        if word in ("pytest.warns", *_WARNS) and call.args:
            return self._catching("warns", word, call, Form.BLOCK)
        if word == "pytest.deprecated_call" and not call.args:
            kinds: list[ast.expr] = [name_of("DeprecationWarning")]
            of_them = ast.Call(func=call.func, args=kinds, keywords=call.keywords)
            assertion = self._catching("warns", word, of_them, Form.BLOCK)
            classes = Operand(node=attribute_of(name_of(HAND_OUT), "deprecations"), static=True)
            return replace(assertion, operands=(classes,)) if assertion else None
        return None

    def quieten(self, call: ast.expr) -> None:
        """Take the words out of `print(…)`, `pytest.fail(…)`, `logging.info(…)`…: they may tell what is expected."""
        if not isinstance(call, ast.Call):
            return
        dotted = self._module.dotted(call.func)
        fails = isinstance(call.func, ast.Attribute) and ast.unparse(call.func) in ("self.fail", "self.skipTest")
        is_shown = ast.unparse(call.func).startswith("logging.") or dotted == "warnings.warn"
        is_printed = isinstance(call.func, ast.Name) and call.func.id == "print" and not dotted
        if (is_shown or is_printed) and self._reads(_CAPTURING):
            return  # they are what is tested
        if is_printed:
            call.args = [arg for arg in call.args if not self._scope.is_static(arg)]
        elif fails or is_shown or dotted in _FAILS or _is_failure(call):
            call.args = [ast.Constant(value="") if self._scope.is_static(arg) else arg for arg in call.args]

    def _reads(self, pattern: re.Pattern[str]) -> bool:
        """Whether the function has a name of a form, or an argument that is called so."""
        return any(map(pattern.search, _names_of(self._scope.function)))

    def _word(self, func: ast.expr) -> str:
        """The known name of an assertion function or method; empty for any other."""
        if isinstance(func, ast.Attribute) and isinstance(func.value, ast.Name) and func.value.id == "self":
            return func.attr if func.attr not in self._overridden else ""
        dotted = self._module.dotted(func)
        if dotted.startswith("nose."):
            return _NOSE.get(dotted.rpartition(".")[2], "")
        if dotted.startswith("numpy.testing.") and not self._module.product("numpy"):
            return _NUMPY_NAMES.get(dotted.rpartition(".")[2], "")
        if dotted.startswith("sqlalchemy.testing.") and not self._module.product("sqlalchemy"):
            return _SQLALCHEMY.get(dotted.rpartition(".")[2], "")
        return dotted if dotted in ("pytest.raises", "pytest.warns", "pytest.deprecated_call") else ""

    def _conditions(self, test: ast.expr) -> tuple[Assertion, ...]:
        values = _all_of(test)
        if values:
            parts = [self._conditions(value) for value in values]
            return tuple(condition for part in parts for condition in part) if all(parts) else ()
        assertion = self._condition(test)
        return self._split(assertion) if assertion else ()

    def _split(self, assertion: Assertion) -> tuple[Assertion, ...]:
        """An assertion, or where a name is to equal a dictionary of which only a part is static, one for each part."""
        nodes = [operand.node for operand in assertion.operands if not operand.static]
        nodes.sort(key=lambda node: isinstance(node, ast.Dict))
        if assertion.op != "==" or len(nodes) != 2 or not isinstance(nodes[0], ast.Name):  # noqa: PLR2004 - two sides
            return (assertion,)
        return self._parts(*nodes)

    def _parts(self, value: ast.expr, expected: ast.expr) -> tuple[Assertion, ...]:
        """That a value equals what is expected, key by key where it is a dictionary that the product has a part in."""
        match expected:
            case ast.Dict(keys=keys, values=values) if not self._scope.is_static(expected) and all(
                isinstance(key, ast.Constant) for key in keys
            ):
                names = [key for key in keys if key is not None]
                own_keys = ast.Set(elts=[ast.Starred(value=value, ctx=ast.Load())])
                parts = [self._parts(_item(value, key), part) for key, part in zip(names, values, strict=True)]
                shape = self._shape(own_keys, ast.Set(elts=list(names)))
                is_one = self._shape(value, ast.Dict(keys=[None], values=[value]))  # and equals one
                return (*shape, *is_one, *itertools.chain(*parts))
        assertion = self._assertion("==", [value, expected])
        return (assertion,) if assertion else ()

    def _shape(self, value: ast.expr, expected: ast.expr) -> tuple[Assertion, ...]:
        """That a value equals what the parts tell anyway, so that it is no more than true or false."""
        truth = self._truth(ast.Compare(left=value, ops=[ast.Eq()], comparators=[expected]))
        return (truth,) if truth else ()

    def _condition(self, test: ast.expr) -> Assertion | None:
        match test:
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                inner = self._condition(operand)
                if inner is None or inner.op not in _OPPOSITES:
                    return self._assertion("not", [operand], whole=test)
                return replace(inner, op=_OPPOSITES[inner.op], whole=test)
            case ast.Compare(left=left, ops=[op], comparators=[right]):
                return self._assertion(_OPERATORS[type(op)], [left, right])
            case ast.Compare(left=left, ops=ops, comparators=comparators):
                words = [_OPERATORS[type(op)] for op in ops]
                return self._assertion("chain", [left, *comparators], options={"ops": words}, whole=test)
            case ast.Call() if arrays := self._arrays(test, test) or self._all(test):
                return arrays
            case ast.Call(func=ast.Name(id="isinstance"), args=[value, kinds]):
                return self._isinstance("isinstance", value, kinds, test)
            case ast.Call(
                func=ast.Attribute(value=value, attr="startswith" | "endswith" as attr), args=[part], keywords=[]
            ):
                return (
                    self._assertion(attr, [value, part], whole=test)
                    if self._scope.is_static(part)
                    else self._truth(test)
                )
        return self._truth(test)

    def _truth(self, test: ast.expr) -> Assertion | None:
        return self._assertion("truth", [test], whole=test)

    def _isinstance(self, op: str, value: ast.expr, kinds: ast.expr, whole: ast.expr) -> Assertion | None:
        if not self._scope.are_classes(kinds):
            return self._truth(whole)
        operands = (Operand(node=value, static=self._scope.is_static(value)), Operand(node=kinds, static=True))
        return None if operands[0].static and not self._every else Assertion(op=op, operands=operands, whole=whole)

    def _assertion(
        self,
        op: str,
        nodes: Sequence[ast.expr],
        *,
        options: Mapping[str, object] | None = None,
        kept: Mapping[str, ast.expr] | None = None,
        whole: ast.expr | None = None,
    ) -> Assertion | None:
        """An assertion over these operands; None where nothing of it depends on the product."""
        expected = list(map(self._scope.is_expected, nodes))
        if all(expected):
            expected = list(map(self._scope.is_static, nodes))
        else:
            expected = [side and not self._scope.is_given(node) for side, node in zip(expected, nodes, strict=True)]
        operands = tuple(Operand(node=node, static=static) for node, static in zip(nodes, expected, strict=True))
        if any(isinstance(node, ast.Starred) for node in nodes):
            return None
        if all(operand.static for operand in operands) and not self._every:
            return None
        inputs = [self._scope.input_written(node) for node in nodes] if op == "==" and not any(expected) else []
        if len(inputs) == 2 and inputs.count(None) == 1:  # noqa: PLR2004 - two sides
            return self._also_input(operands, inputs)
        sides = [operand.node for operand in operands if operand.static]
        written = list(map(self._scope.written, sides))
        return Assertion(
            op=op,
            operands=operands,
            options=options or {},
            kept=kept or {},
            whole=whole,
            written=written[0] if len(written) == 1 else None,
            data_paths=tuple(path for side in sides for path in self._scope.data_paths(side)),
            handed=tuple(
                place for place, side in enumerate(operands) if side.static and self._scope.is_handed(side.node)
            ),
        )

    def _also_input(self, operands: tuple[Operand, ...], inputs: Sequence[ast.expr | None]) -> Assertion:
        """That what came out equals what went in, and both what the test wrote: `f(a) == {…} == a`."""
        left, right = operands
        name, written = next((side.node, node) for side, node in zip(operands, inputs, strict=True) if node is not None)
        return Assertion(
            op="chain",
            operands=(left, Operand(node=written, static=True), right),
            options={"ops": ["==", "=="]},
            whole=ast.Compare(left=left.node, ops=[ast.Eq()], comparators=[right.node]),
            written=self._scope.written(name),
            is_input=True,
        )

    def _of_call(self, call: ast.Call) -> Assertion | None:
        word = self._word(call.func)
        nodes = {keyword.arg: keyword.value for keyword in call.keywords}
        if word in (*_RAISES, "pytest.raises") and len(call.args) > (1 if "Regex" not in word else 2):
            return self._catching("raises", word, call, Form.CALL)
        if word in _WARNS or any(isinstance(argument, ast.Starred) for argument in call.args):
            return None
        if word in _TWO_SIDES and len(call.args) >= 2:  # noqa: PLR2004 - two sides
            return self._two_sides(_TWO_SIDES[word], call, nodes, _KINDS.get(word) or nodes.get("seq_type"))
        if word in _ONE_SIDE and call.args:
            return self._one_side(_ONE_SIDE[word], call.args[0])
        if word in _NONE and call.args:
            return self._assertion(_NONE[word], [call.args[0], ast.Constant(value=None)])
        if isinstance(call.func, ast.Attribute) and call.func.attr in _OF_MOCKS:
            return self._of_mock(call.func, call)
        match call:
            case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr="match"), args=[pattern], keywords=[]):
                return self._matched(name, pattern)
        return self._arrays(call, ast.Compare(left=call, ops=[ast.Is()], comparators=[ast.Constant(value=None)]))

    def _arrays(self, call: ast.Call, whole: ast.expr) -> Assertion | None:
        """A comparison by a function of numpy or pandas; `whole` is true where it holds.

        One that says what the host does not know is decided by its result.
        """
        dotted = self._module.dotted(call.func)
        if dotted not in _ARRAYS or self._module.product(dotted.partition(".")[0]) or len(call.args) < 2:  # noqa: PLR2004
            return None
        op, options = _ARRAYS[dotted]
        is_scalar = {"is_scalar": True} if call is whole and dotted == "numpy.isclose" else {}
        given: dict[str | None, ast.expr] = dict(zip(options, call.args[2:], strict=False))
        given |= {keyword.arg: keyword.value for keyword in call.keywords}
        kept = {name: given[name] for name in options if name in given}
        if (
            given.keys() - options.keys() - _MESSAGES
            or (op == "pd.equal" and len(call.args) > 2)  # noqa: PLR2004 - two sides
            or not all(map(self._scope.is_static, kept.values()))
        ):
            return self._assertion(op, call.args[:2], options={"is_unknown": True}, whole=whole)
        return self._assertion(op, call.args[:2], options={**options, **is_scalar}, kept=kept, whole=whole)

    def _all(self, test: ast.Call) -> Assertion | None:
        """That all items of two arrays are equal or near: `(a == b).all()`, `np.all(np.isclose(a, b))`."""
        match test:
            case ast.Call(func=ast.Attribute(value=inner, attr="all"), args=[], keywords=[]):
                is_method = True
            case ast.Call(args=[inner], keywords=[]) if self._module.dotted(test.func) == "numpy.all":
                is_method = False
            case _:
                return None
        match inner:
            case ast.Compare(left=left, ops=[ast.Eq()], comparators=[right]):
                options = {"equal_nan": False, "stretches": True, "is_method": is_method}
                return self._assertion("np.arrays", [left, right], options=options, whole=test)
            case ast.Call():
                return self._arrays(inner, test)
        return None

    def _matched(self, name: str, pattern: ast.expr) -> Assertion | None:
        """`info.match(pattern)` of what `pytest.raises` caught."""
        if name not in self._scope.caught or not self._scope.is_static(pattern):
            return None
        text = call_of(attribute_of(name_of(HAND_OUT), "text_matched"), attribute_of(name_of(name), "value"))
        return self._assertion("regex", [text, pattern])

    def _one_side(self, op: str, test: ast.expr) -> Assertion | None:
        if op == "truth":
            return self._condition(test)
        return self._condition(ast.UnaryOp(op=ast.Not(), operand=test))

    def _two_sides(
        self, op: str, call: ast.Call, nodes: Mapping[str | None, ast.expr], kind: ast.expr | None = None
    ) -> Assertion | None:
        """`kind` is what both sides have to be of, where the method asks for that."""
        left, right = call.args[:2]
        if kind is not None:
            left, right = (side if self._scope.is_expected(side) else _of_kind(side, kind) for side in (left, right))
        if op in ("isinstance", "not_isinstance"):
            test = call_of("isinstance", left, right)
            whole = test if op == "isinstance" else ast.UnaryOp(op=ast.Not(), operand=test)
            return self._isinstance(op, left, right, whole)
        by_side: dict[str, ast.expr] = {}
        if op in ("almost", "not_almost"):
            by_side = {name: nodes[name] for name in ("places", "delta") if name in nodes}
            if len(call.args) > 2:  # noqa: PLR2004 - the third is `places`
                by_side["places"] = call.args[2]
            if not all(map(self._scope.is_static, by_side.values())):
                return None
        if op in ("regex", "not_regex") and not self._scope.is_static(right):
            return None
        if op == "count_equal":
            left, right = (side if self._scope.is_expected(side) else _listed(side) for side in (left, right))
        elif _is_of_sequences(call):
            left, right = (_listed(side) if self._scope.is_expected(side) else _indexed(side) for side in (left, right))
        return self._assertion(op, [left, right], kept=by_side)

    def _of_mock(self, func: ast.Attribute, call: ast.Call) -> Assertion | None:
        """What a mock tells of its calls."""
        if func.attr in _CALLS:
            return self._calls(func, call)
        if func.attr in _SEVERAL_CALLS:
            return self._several_calls(func, call)
        op, count, call_list = _COUNTS[func.attr]
        return self._assertion(op, [call_of("len", attribute_of(func.value, call_list)), ast.Constant(value=count)])

    def _calls(self, func: ast.Attribute, call: ast.Call) -> Assertion | None:
        """What a mock was called with, held against calls that are static."""
        how, call_list = _CALLS[func.attr]
        parts = [*call.args, *(keyword.value for keyword in call.keywords)]
        if any(keyword.arg is None for keyword in call.keywords) or not all(map(self._scope.is_static, parts)):
            return None
        names: list[ast.expr | None] = [ast.Constant(value=keyword.arg) for keyword in call.keywords]
        keywords = ast.Dict(keys=names, values=[keyword.value for keyword in call.keywords])
        expected = ast.Tuple(elts=[ast.Tuple(elts=call.args, ctx=ast.Load()), keywords], ctx=ast.Load())
        operands = Operand(node=func.value, static=False), Operand(node=expected, static=True)
        others = call_list if call_list != _CALL_LIST else ""
        return Assertion(op="calls", operands=operands, options={"how": how}, call_list=others)

    def _several_calls(self, func: ast.Attribute, call: ast.Call) -> Assertion | None:
        """That some calls are among those of a mock, one after the other or in any order."""
        match call:
            case ast.Call(args=[listed], keywords=[]):
                how = "has_calls"
            case (
                ast.Call(args=[listed, ast.Constant(value=bool(is_any))], keywords=[])
                | ast.Call(
                    args=[listed], keywords=[ast.keyword(arg="any_order", value=ast.Constant(value=bool(is_any)))]
                )
            ):
                how = "has_calls_any_order" if is_any else "has_calls"
            case _:
                return None
        if not self._scope.is_static(listed) or not all(map(self._is_of_calls, self._scope.stands_for(listed))):
            return None
        operands = Operand(node=func.value, static=False), Operand(node=listed, static=True)
        return Assertion(op="calls", operands=operands, options={"how": how}, call_list=_SEVERAL_CALLS[func.attr])

    def _is_of_calls(self, listed: ast.expr) -> bool:
        """Whether it is a list of calls that is written out, none of which is of what another call gave."""
        functions = [part.func for part in getattr(listed, "elts", ()) if isinstance(part, ast.Call)]
        return (
            isinstance(listed, ast.List)
            and len(functions) == len(listed.elts)
            and all(_CALL.match(self._module.dotted(function)) for function in functions)
        )

    def _last_call(self, call: ast.Call) -> tuple[Assertion, ...]:
        """What a mock was called with last, argument by argument, where only some of them are static."""
        match call.func:
            case ast.Attribute(value=mock, attr=attr) if (how := _CALLS.get(attr, ("", ""))) and how[0] in (
                "called_with",
                "called_once_with",
            ):
                keywords = {keyword.arg: keyword.value for keyword in call.keywords}
            case _:
                return ()
        if None in keywords or not _is_plain(mock) or any(isinstance(arg, ast.Starred) for arg in call.args):
            return ()
        call_args = attribute_of(mock, how[1].removesuffix("_list"))
        args, named_args = (_item(call_args, ast.Constant(value=place)) for place in (0, 1))
        once = (
            [(call_of("len", attribute_of(mock, how[1])), ast.Constant(value=1))]
            if how[0] == "called_once_with"
            else []
        )
        pairs: list[tuple[ast.expr, ast.expr]] = [
            *once,
            *((_item(args, ast.Constant(value=place)), arg) for place, arg in enumerate(call.args)),
            *((_item(named_args, ast.Constant(value=name)), value) for name, value in keywords.items()),
        ]
        shape = (
            *self._shape(call_of("len", args), ast.Constant(value=len(call.args))),
            *self._shape(ast.Set(elts=[ast.Starred(value=named_args, ctx=ast.Load())]), _set(keywords)),
        )
        return (*shape, *itertools.chain(*(self._parts(value, expected) for value, expected in pairs)))

    def _catching(self, op: str, word: str, call: ast.Call, form: Form) -> Assertion | None:
        nodes = {keyword.arg: keyword.value for keyword in call.keywords}
        if not call.args and "expected_exception" not in nodes:
            return None
        kinds = call.args[0] if call.args else nodes["expected_exception"]
        by_side: dict[str, ast.expr] = {}
        if "Regex" in word:
            if len(call.args) < 2:  # noqa: PLR2004 - the class and the pattern
                return None
            by_side["match"] = call.args[1]
        elif form is Form.BLOCK and "match" in nodes:
            by_side["match"] = nodes["match"]
        if not self._scope.are_classes(kinds) or not all(map(self._scope.is_expected, by_side.values())):
            return None
        if set(nodes) - {"match", "msg", "expected_exception"} and form is Form.BLOCK:
            return None  # `check=` and what else judges by code
        if form is Form.BLOCK and len(call.args) > (2 if "Regex" in word else 1):
            return None
        sides = (Operand(node=kinds, static=True),)
        return Assertion(op=op, operands=sides, form=form, kept=by_side, is_of_pytest=word.startswith("pytest."))


def fails(statement: ast.stmt, dotted: Callable[[ast.expr], str], overridden: Collection[str] = ()) -> bool:
    """Whether a statement only fails its test.

    `dotted` names a function in full, and `overridden` are methods of test cases that the file has its own of.
    """
    match statement:
        case ast.Raise(exc=None):
            return True
        case ast.Expr(value=ast.Call(func=ast.Attribute(value=ast.Name(id="self"), attr="fail"))):
            return "fail" not in overridden
        case ast.Expr(value=ast.Call(func=func)):
            return dotted(func) == "pytest.fail"
        case ast.Raise(exc=ast.Name(id="AssertionError") | ast.Call(func=ast.Name(id="AssertionError"))):
            return True
    return isinstance(statement, ast.Assert) and ast.unparse(statement.test) in ("False", "0")


def _is_changeable(value: Any) -> bool:
    """Whether what a recording gives is a value that can be changed, or holds one."""
    match value:
        case [("l" | "S" | "d" | "D" | "C" | "B" | "a"), *_] | ["o", str(), list(), *_]:
            return True
        case ["t", list(parts)]:
            return any(map(_is_changeable, parts))
    return False


def _goes_to_its_end(body: Sequence[ast.stmt]) -> bool:
    return not any(isinstance(node, _LEAVES) for inner in body[:-1] for node in ast.walk(inner))


def _all_of(test: ast.expr) -> list[ast.expr]:
    """The conditions that have to hold, each of them, for one to hold; empty where it is not made of others."""
    match test:
        case ast.BoolOp(op=ast.And(), values=values):
            return values
        case ast.UnaryOp(op=ast.Not(), operand=ast.BoolOp(op=ast.Or(), values=values)):
            return [ast.UnaryOp(op=ast.Not(), operand=value) for value in values]
        case ast.UnaryOp(op=ast.Not(), operand=ast.UnaryOp(op=ast.Not(), operand=inner)):
            return _all_of(inner)
    return []


def _item(value: ast.expr, key: ast.expr) -> ast.Subscript:
    return ast.Subscript(value=value, slice=key, ctx=ast.Load())


def _listed(value: ast.expr) -> ast.expr:
    if isinstance(value, ast.List | ast.Tuple):
        return ast.List(elts=value.elts, ctx=ast.Load())
    return call_of("list", value)


def _escaped(text: ast.expr) -> ast.expr:
    """A pattern for what is to be in a text word by word."""
    pattern = re.escape(text.value) if isinstance(text, ast.Constant) and isinstance(text.value, str) else ""
    return ast.Constant(value=pattern)


def _indexed(value: ast.expr) -> ast.expr:
    """The items of what has a length and items by number, as a list."""
    statement = python_source.parse("lambda found: [found[place] for place in range(len(found))]").body[0]
    function = cast("ast.Expr", statement).value
    return call_of(function, value)


def _of_kind(value: ast.expr, kind: ast.expr) -> ast.expr:
    """A value, or where it is of another kind one that equals nothing."""
    statement = python_source.parse("lambda found: found if isinstance(found, kind) else NotImplemented").body[0]
    function = cast("ast.Lambda", cast("ast.Expr", statement).value)
    cast("ast.Call", cast("ast.IfExp", function.body).test).args[1] = kind
    return call_of(function, value)


def _is_of_sequences(call: ast.Call) -> bool:
    """Whether it compares two sequences item by item, of whatever kind they are."""
    return isinstance(call.func, ast.Attribute) and call.func.attr == "assertSequenceEqual" and not call.keywords


def _set(words: Iterable[str | None]) -> ast.expr:
    """A set of words; an empty one has no display of its own."""
    items: list[ast.expr] = [ast.Constant(value=word) for word in words]
    return ast.Set(elts=items or [ast.Starred(value=ast.Tuple(elts=[], ctx=ast.Load()), ctx=ast.Load())])


def _names_of(tree: ast.AST) -> Iterator[str]:
    """All names, attributes and parameters in a tree, and the names of arguments, with a `=`."""
    for node in ast.walk(tree):
        match node:
            case ast.Name(id=name) | ast.Attribute(attr=name) | ast.arg(arg=name):
                yield name
            case ast.keyword(arg=str(name)):
                yield f"{name}="


def _is_plain(node: ast.expr) -> bool:
    """Whether it makes no difference how often a mock is looked up."""
    return isinstance(node, ast.Name) or (isinstance(node, ast.Attribute) and _is_plain(node.value))


def _is_failure(call: ast.Call) -> bool:
    """Whether it makes what a failed assertion raises."""
    return isinstance(call.func, ast.Name) and call.func.id == "AssertionError"
