"""The assertions of a test, in the terms of the host's judge."""

from __future__ import annotations

import ast
import textwrap

import pytest

from harness.core.expectations import OPERATORS as KNOWN
from miner.languages.base import Mode
from miner.languages.python.stripping.sites import Form
from miner.languages.python.stripping.source import StrippedSource

HEAD = """\
import numpy as np
import pytest
from nose.tools import assert_in, ok_
from shop import Broken, f, g
"""


def assertions(body: str):
    """Of a test function, or method, with this body."""
    text = f"{HEAD}class TestA:\n    def test_a(self, mock):\n{textwrap.indent(textwrap.dedent(body), '        ')}\n"
    source = StrippedSource(text.encode(), first=0, product=lambda module: module == "shop")
    return [slot.assertion for slot in source.slots]


def only(body: str):
    (found,) = assertions(body)
    return found


OUT, KEPT = "out", "kept"
OPERATORS = {
    "assert f(1) == 3": ("==", [OUT, KEPT]),
    "assert 3 == f(1)": ("==", [KEPT, OUT]),
    "assert f(1) != 3": ("!=", [OUT, KEPT]),
    "assert f(1) < 3": ("<", [OUT, KEPT]),
    "assert f(1) >= g(1)": (">=", [OUT, OUT]),
    "assert 3 in f(1)": ("in", [KEPT, OUT]),
    "assert f(1) not in [3]": ("not_in", [OUT, KEPT]),
    "assert f(1) is None": ("is", [OUT, KEPT]),
    "assert f(1) is not None": ("is_not", [OUT, KEPT]),
    "assert 1 < f(1) < 3": ("chain", [KEPT, OUT, KEPT]),
    "assert f(1)": ("truth", [OUT]),
    "assert not f(1)": ("not", [OUT]),
    "assert not f(1) == 3": ("!=", [OUT, KEPT]),
    "assert not f(1) in [3]": ("not_in", [OUT, KEPT]),
    "assert not f(1) is None": ("is_not", [OUT, KEPT]),
    "assert not f(1) < 3": ("not", [OUT]),
    "assert not not f(1)": ("truth", [OUT]),
    "assert isinstance(f(1), int)": ("isinstance", [OUT, KEPT]),
    "assert not isinstance(f(1), int)": ("not_isinstance", [OUT, KEPT]),
    "assert f(1).startswith('a')": ("startswith", [OUT, KEPT]),
    "assert f(1).endswith('a')": ("endswith", [OUT, KEPT]),
    "assert f(1).startswith(g(1))": ("truth", [OUT]),
    "self.assertEqual(f(1), 3)": ("==", [OUT, KEPT]),
    "self.failUnlessEqual(f(1), 3)": ("==", [OUT, KEPT]),
    "self.failIfEqual(f(1), 3)": ("!=", [OUT, KEPT]),
    "self.failUnlessAlmostEqual(f(1), 3)": ("almost", [OUT, KEPT]),
    "self.assertIs(f(1), None)": ("is", [OUT, KEPT]),
    "self.assertIsNone(f(1))": ("is", [OUT, KEPT]),
    "self.assertTrue(f(1))": ("truth", [OUT]),
    "self.assertTrue(f(1) == 3)": ("==", [OUT, KEPT]),
    "self.assertFalse(f(1))": ("not", [OUT]),
    "self.assertFalse(f(1) == 3)": ("!=", [OUT, KEPT]),
    "self.assertLessEqual(f(1), 3)": ("<=", [OUT, KEPT]),
    "self.assertCountEqual(f(1), [3])": ("count_equal", [OUT, KEPT]),
    "self.assertSequenceEqual(f(1), (3,))": ("==", [OUT, KEPT]),
    "self.assertRegex(f(1), 'a')": ("regex", [OUT, KEPT]),
    "self.assertNotRegex(f(1), 'a')": ("not_regex", [OUT, KEPT]),
    "self.assertAlmostEqual(f(1), 3)": ("almost", [OUT, KEPT]),
    "self.assertNotAlmostEqual(f(1), 3)": ("not_almost", [OUT, KEPT]),
    "self.assertNotIsInstance(f(1), int)": ("not_isinstance", [OUT, KEPT]),
    "np.testing.assert_equal(f(1), 3)": ("np.equal", [OUT, KEPT]),
    "np.testing.assert_allclose(f(1), np.array([3]), 1e-3)": ("np.near", [OUT, KEPT]),
    "np.testing.assert_(f(1) == 3)": ("==", [OUT, KEPT]),
    "assert np.array_equal(np.array([3]), f(1))": ("np.arrays", [KEPT, OUT]),
    "assert np.all(f(1) == np.array([3]))": ("np.arrays", [OUT, KEPT]),
    "assert np.isclose(f(1), 3).all()": ("np.near", [OUT, KEPT]),
    "assert np.isclose(f(1), 3)": ("np.near", [OUT, KEPT]),
    "assert (f(1) == [3]).all()": ("np.arrays", [OUT, KEPT]),
    "assert not np.allclose(f(1), 3)": ("not", [OUT]),
    "ok_(f(1))": ("truth", [OUT]),
    "assert_in(3, f(1))": ("in", [KEPT, OUT]),
    "mock.assert_called_with(1)": ("calls", [OUT, KEPT]),
    "mock.assert_called()": (">=", [OUT, KEPT]),
    "mock.assert_called_once()": ("==", [OUT, KEPT]),
    "mock.assert_not_called()": ("==", [OUT, KEPT]),
}


@pytest.mark.parametrize("statement", OPERATORS)
def test_an_assertion_has_its_operator_and_sides(statement):
    found = only(statement)
    sides = [KEPT if operand.static else OUT for operand in found.operands]
    assert (found.op, sides, found.form) == (*OPERATORS[statement], Form.STATEMENT)


@pytest.mark.parametrize("statement", OPERATORS)
def test_the_judge_knows_every_operator(statement):
    assert only(statement).op in KNOWN


@pytest.mark.parametrize(
    ("body", "op", "form", "kept"),
    [
        ("with pytest.raises(Broken):\n    f(1)", "raises", Form.BLOCK, []),
        ("with pytest.raises(Broken, match='no'):\n    f(1)", "raises", Form.BLOCK, ["match"]),
        ("with pytest.raises(expected_exception=Broken):\n    f(1)", "raises", Form.BLOCK, []),
        ("with self.assertRaises(Broken) as caught:\n    f(1)", "raises", Form.BLOCK, []),
        ("with self.failUnlessRaises(Broken):\n    f(1)", "raises", Form.BLOCK, []),
        ("with self.assertRaisesRegex(Broken, 'no'):\n    f(1)", "raises", Form.BLOCK, ["match"]),
        ("pytest.raises(Broken, f, 1)", "raises", Form.CALL, []),
        ("info = pytest.raises(Broken, f, 1)", "raises", Form.CALL, []),
        ("self.assertRaisesRegex(Broken, 'no', f, 1)", "raises", Form.CALL, ["match"]),
        ("with pytest.warns(UserWarning):\n    f(1)", "warns", Form.BLOCK, []),
        ("with pytest.deprecated_call():\n    f(1)", "warns", Form.BLOCK, []),
        ("with pytest.deprecated_call(match='no'):\n    f(1)", "warns", Form.BLOCK, ["match"]),
        ("with np.testing.assert_raises(Broken):\n    f(1)", "raises", Form.BLOCK, []),
        ("with self.assertWarnsRegex(UserWarning, 'no'):\n    f(1)", "warns", Form.BLOCK, ["match"]),
    ],
)
def test_what_catches_keeps_its_class_and_pattern(body, op, form, kept):
    found = only(body)
    assert (found.op, found.form, list(found.kept)) == (op, form, kept)
    assert [operand.static for operand in found.operands] == [True]


def test_a_chain_has_its_operators_in_order():
    assert only("assert 1 < f(1) <= 3").options == {"ops": ["<", "<="]}


@pytest.mark.parametrize(
    ("statement", "how"),
    [
        ("mock.assert_called_with(1)", "called_with"),
        ("mock.assert_called_once_with(1, two=2)", "called_once_with"),
        ("mock.assert_any_call(1)", "any_call"),
    ],
)
def test_a_mocks_assertion_says_how_its_calls_are_compared(statement, how):
    assert only(statement).options == {"how": how}


@pytest.mark.parametrize(
    ("statement", "texts"),
    [
        (
            "mock.assert_called_once_with(f(1), 'a', b={'c': 3, 'd': f(4)})",
            [
                "len(mock.call_args[0]) == 2",
                "{*mock.call_args[1]} == {'b'}",
                "len(mock.call_args_list) == 1",
                "mock.call_args[0][0] / f(1)",
                "mock.call_args[0][1] == 'a'",
                "{*mock.call_args[1]['b']} == {'c', 'd'}",
                "mock.call_args[1]['b'] == {**mock.call_args[1]['b']}",
                "mock.call_args[1]['b']['c'] == 3",
                "mock.call_args[1]['b']['d'] / f(4)",
            ],
        ),
        (
            "mock.sub.assert_called_with(f(1))",
            [
                "len(mock.sub.call_args[0]) == 1",
                "{*mock.sub.call_args[1]} == {*()}",
                "mock.sub.call_args[0][0] / f(1)",
            ],
        ),
        (
            "assert mock == {'a': 1, 'b': f(1)}",
            ["{*mock} == {'a', 'b'}", "mock == {**mock}", "mock['a'] == 1", "mock['b'] / f(1)"],
        ),
        ("self.assertEqual({'a': f(1)}, mock)", ["{*mock} == {'a'}", "mock == {**mock}", "mock['a'] / f(1)"]),
        ("assert mock == {'a': 1}", ["mock == {'a': 1}"]),
        ("assert mock != {'a': f(1)}", ["mock / {'a': f(1)}"]),
        ("assert g(1) == {'a': f(1)}", ["g(1) / {'a': f(1)}"]),
        ("assert mock == {**f(1), 'a': 1}", ["mock / {**f(1), 'a': 1}"]),
    ],
)
def test_what_the_product_has_only_a_part_in_is_compared_part_by_part(statement, texts):
    def text(assertion) -> str:
        first, *rest = (ast.unparse(operand.node) for operand in assertion.operands)
        sign = " == " if any(operand.static for operand in assertion.operands) else " / "
        return sign.join((first, *rest))

    found = assertions(statement)
    assert list(map(text, found)) == texts
    words = ("{*mock", "{**mock", "call_args[0])")
    shape = [assertion.op for assertion in found if any(word in text(assertion) for word in words)]
    assert set(shape) <= {"truth"}  # the parts tell it


def test_tolerances_are_kept():
    assert list(only("self.assertAlmostEqual(f(1), 3, 2)").kept) == ["places"]
    assert list(only("self.assertAlmostEqual(f(1), 3, delta=0.5)").kept) == ["delta"]


@pytest.mark.parametrize(
    "body",
    [
        "assert 1 == 1",
        "assert isinstance(3, int)",
        "f(1)",
        "x = f(1)",
        "self.assertEqual(f(1))",
        "self.assertEqual(*f(1))",
        "self.assertRegex(f(1), g(1))",
        "self.assertAlmostEqual(f(1), 3, delta=g(1))",
        "self.assertNearly(f(1), 3)",
        "mock.assert_any_call(f(1))",
        "mock().assert_called_with(f(1))",
        "mock.assert_called_with(*f(1))",
        "mock.assert_called_with(**f(1))",
        "mock.assert_has_calls([1])",
        "with pytest.raises(Broken, check=f):\n    f(1)",
        "with pytest.raises(Broken) as self.caught:\n    f(1)",
        "with pytest.warns():\n    f(1)",
        "with f(1):\n    pass",
    ],
)
def test_what_is_no_assertion_over_the_product_has_no_site(body):
    assert assertions(body) == []


@pytest.mark.parametrize(
    ("body", "modes"),
    [
        ("assert f(1) == 3", (Mode.EXPECTED, Mode.RESULT, Mode.INSIDE)),
        ("assert f(1) == g(1)", (Mode.OPERANDS, Mode.RESULT, Mode.INSIDE)),
        ("assert f(1)", (Mode.OPERANDS, Mode.RESULT, Mode.INSIDE)),
        ("self.assertAlmostEqual(f(1), g(1), places=3)", (Mode.EXPECTED, Mode.INSIDE)),
        ("self.assertCountEqual(f(1), g(1))", (Mode.OPERANDS, Mode.INSIDE)),
        ("with pytest.raises(Broken):\n    f(1)", (Mode.EXPECTED, Mode.INSIDE)),
    ],
)
def test_the_best_mode_comes_first_and_inside_last(body, modes):
    assert only(body).modes == modes
