"""A stripped test file holds inputs and calls, and nothing of what is expected."""

from __future__ import annotations

import ast
import sys
import textwrap
from contextlib import contextmanager, nullcontext, suppress

import pytest

from miner.languages.base import Mode
from miner.languages.python.language import of_others
from miner.languages.python.stripping.source import StrippedSource

HEAD = """\
import unittest
from contextlib import nullcontext
from decimal import Decimal
from unittest import mock
import pytest
from hypothesis import given, strategies
from nose.tools import assert_raises, eq_
import shop
from shop import Broken, f, g
"""


def parsed(text: str, *, first: int = 0) -> StrippedSource:
    return StrippedSource((HEAD + text).encode(), first=first, product=lambda module: module == "shop")


def stripped(text: str, mode: Mode | None = None) -> str:
    """The file below its imports, with every assertion in its best mode, or in a given one."""
    source = parsed(text)
    return below(source.stripped({slot.number: mode or slot.assertion.modes[0] for slot in source.slots}))


def recording(text: str) -> str:
    source = parsed(text)
    return below(source.recording({slot.number: slot.assertion.modes[0] for slot in source.slots}))


def below(text: str) -> str:
    return text.removeprefix(ast.unparse(ast.parse(HEAD)) + "\n")


def function(body: str) -> str:
    return f"def test_a():\n{textwrap.indent(textwrap.dedent(body).strip(), '    ')}\n"


def same(one: str, other: str) -> bool:
    """Whether two sources are one program."""
    return ast.dump(ast.parse(one)) == ast.dump(ast.parse(other))


def handed(*operands: str, slot: int = 0, how: str = "") -> str:
    """A site that hands out these operands."""
    return f"with __goldseam__({slot}) as _goldseam_site:\n    _goldseam_site{how}({', '.join(operands)})\n"


MADE = {
    "an object of a class": ("assert f(1) == shop.Point(1, y=[2])", handed("f(1)")),
    "one of an own class": ("assert f(1) == Own(1)", handed("f(1)")),
    "objects within each other": ("assert f(1) == [Broken(Broken(1))]", handed("f(1)")),
    "a constant": ("assert f(1) is shop.LIMIT", handed("f(1)")),
    "a member of an enumeration": ("assert f(1) == {'a': shop.Color.RED}", handed("f(1)")),
    "what is made of a dictionary's parts": (
        "chars = {'a': '+', 'b': '-'}\nedge = chars.get('a')\nline = edge + chars['b'] * 3\nassert f(1) == line + edge",
        handed("f(1)"),
    ),
    "a dictionary of which the product gets a part": (
        "data = {'a': 1, 'b': 2}\nassert f(data['a']) == data['b']",
        "data = {'a': 1, 'b': 2}\n" + handed("f(data['a'])"),
    ),
    "one of whose lists the product gets one": (
        "data = {'a': [1]}\nassert f(data['a']) == data['a']",
        "data = {'a': [1]}\n" + handed("f(data['a'])", "data['a']"),
    ),
    "a list that the product gets": (
        "rows = [1, 2]\nassert f(rows) == rows[0]",
        "rows = [1, 2]\n" + handed("f(rows)", "rows[0]"),
    ),
    "a name of such an object": ("wanted = Broken(1)\nassert f(1) == wanted", handed("f(1)")),
    "a name that the product gets as well": (
        "wanted = Broken(1)\nassert f(wanted) == wanted",
        "wanted = Broken(1)\n" + handed("f(wanted)", "wanted"),
    ),
    "an object that nothing reads": (
        "unread = Broken(1)\nassert f(1) == 3",
        "unread = Broken(1)\n" + handed("f(1)"),
    ),
    "an attribute of such an object": ("assert f(1) == Broken(1).x", handed("f(1)", "Broken(1).x")),
    "a method of a class": ("assert f(1) == Broken.of(1)", handed("f(1)", "Broken.of(1)")),
    "texts made with such objects": (
        "assert f(1) == shop.Bold('a') + f': {Broken(1)!r:>{9}}' + 'b' * 2",
        handed("f(1)"),
    ),
    "what a standard function makes of such objects": (
        "assert f(1) == str(Broken(1)).upper()",
        handed("f(1)", "str(Broken(1)).upper()"),
    ),
    "a standard function of such objects": ("assert f(1) == len([Broken(1), shop.LIMIT])", handed("f(1)")),
    "a standard function of what the product says": (
        "assert f(1) == len([g(1)])",
        handed("f(1)", "len([g(1)])"),
    ),
    "texts made with what the product says": (
        "assert f(1) == f'{g(1)}' + 'b'",
        handed("f(1)", "f'{g(1)}' + 'b'"),
    ),
    "objects alone": ("assert Broken(1) == Broken(2)", handed("Broken(1)", "Broken(2)")),
    "an object made of what the product gives": ("assert f(1) == Broken(g(1))", handed("f(1)", "Broken(g(1))")),
    "what the fix changes": ("assert f(1) == shop.new.Point(1)", handed("f(1)", "shop.new.Point(1)")),
}


@pytest.mark.parametrize("what", MADE)
def test_what_classes_and_constants_that_stay_make_of_literals_is_expected(what):
    before, after = MADE[what]
    own = "class Own:\n    pass\n"
    source = StrippedSource(
        (HEAD + own + function(before)).encode(),
        first=0,
        product=lambda module: module == "shop",
        settled=lambda dotted, is_called: not dotted.startswith("shop.new."),
    )
    text = below(source.stripped({slot.number: slot.assertion.modes[0] for slot in source.slots}))
    assert same(text, own + function(after)), text


def test_a_row_of_such_objects_goes():
    text = (
        "import pytest\nimport shop\n\n@pytest.mark.parametrize(('given', 'wanted'), [(1, shop.Point(1))])\n"
        "def test_a(given, wanted):\n    assert shop.f(given) == wanted\n"
    )
    source = StrippedSource(text.encode(), first=0, product=lambda _: True, settled=lambda _, is_called: True)
    assert "Point" not in source.stripped({0: Mode.EXPECTED})


def test_rows_of_parameterized_keep_what_names_their_tests():
    text = (
        "import shop\nfrom parameterized import param, parameterized\n\nclass TestA:\n\n"
        "    @parameterized.expand([param('a', wanted=7), param('b', wanted=8)])\n"
        "    def test_a(self, given, wanted):\n        self.assertEqual(shop.f(given), wanted)\n\n"
        "    @parameterized.expand([(7, 'one'), (8, 'two')])\n"
        "    def test_b(self, wanted, name):\n        self.assertEqual(shop.f(name), wanted)\n"
    )
    source = StrippedSource(text.encode(), first=0, product=lambda module: module == "shop")
    stripped_text = source.stripped({0: Mode.EXPECTED, 1: Mode.EXPECTED})
    assert "param('a', wanted=None), param('b', wanted=None)" in stripped_text
    assert "[(7, 'one'), (8, 'two')]" in stripped_text


FORMS = {
    "a comparison with a literal": ("assert f(1) == 3", handed("f(1)")),
    "a literal on the left": ("assert 3 == f(1)", handed("f(1)")),
    "a message": ("assert f(1) == 3, 'three'", handed("f(1)")),
    "an inequality": ("assert f(1) != 3", handed("f(1)")),
    "an order": ("assert f(1) <= 3", handed("f(1)")),
    "membership in a literal": ("assert f(1) in (1, 2)", handed("f(1)")),
    "membership of a literal": ("assert 3 not in f(1)", handed("f(1)", how=".looked_up")),
    "identity": ("assert f(1) is None", handed("f(1)")),
    "a chain": ("assert 0 < f(1) <= 9", handed("f(1)")),
    "two conditions": ("assert f(1) == 1 and f(2) == 2", handed("f(1)") + handed("f(2)", slot=1)),
    "a negation": ("assert not f(1)", handed("f(1)", how=".truth_alone")),
    "a negated comparison": ("assert not f(1) == 3", handed("f(1)")),
    "truth": ("assert f(1)", handed("f(1)", how=".truth_alone")),
    "a class": ("assert isinstance(f(1), (int, str))", handed("f(1)", how=".of_kind")),
    "not a class": ("assert not isinstance(f(1), int)", handed("f(1)", how=".of_kind")),
    "a beginning": ("assert f(1).startswith('ab')", handed("f(1)")),
    "an end": ("assert f(1).endswith(('a', 'b'))", handed("f(1)")),
    "two sides of the product": ("assert f(1) == g(1)", handed("f(1)", "g(1)")),
    "a constant of the product": ("assert f(1) == shop.LIMIT", handed("f(1)", "shop.LIMIT")),
    "a value of the standard library": ("assert f(1) == Decimal('1.5')", handed("f(1)")),
    "an approximation": ("assert f(1) == pytest.approx(1.5, rel=0.1)", handed("f(1)")),
    "unittest's mock": ("m = f()\nm.assert_called_once_with(1, two=2)", "m = f()\n" + handed("m", how=".called")),
    "a mock that was not called": ("m = f()\nm.assert_not_called()", "m = f()\n" + handed("len(m.call_args_list)")),
    "nose's comparison": ("eq_(f(1), 3)", handed("f(1)")),
    "nose's exception": ("assert_raises(Broken, f, 1)", "with __goldseam__(0):\n    f(1)"),
    "a block that raises": ("with pytest.raises(Broken):\n    f(1)", "with __goldseam__(0, by_pytest=True):\n    f(1)"),
    "a block that may raise": (
        "for n, block in [(1, pytest.raises(Broken)), (2, nullcontext())]:\n    with block:\n        assert f(n) == 3",
        "for n, block in [(1, None), (2, None)]:\n    with __goldseam__(0, by_pytest=True):\n"
        + textwrap.indent(handed("f(n)", slot=1).replace("(1)", "(1, True)"), "        "),
    ),
    "a block that raises under a condition": (
        "for n in (1, 2):\n    with pytest.raises(Broken, match='no') if n > 1 else nullcontext():\n        f(n)",
        "for n in (1, 2):\n    with __goldseam__(0, by_pytest=True):\n        f(n)",
    ),
    "a block that raises where the product says so": (
        "with pytest.raises(Broken) if g(1) else nullcontext():\n    f(1)",
        "with pytest.raises(Broken) if g(1) else nullcontext():\n    f(1)",
    ),
    "a block that raises and is kept": (
        "with pytest.raises(Broken, match='no') as info:\n    f(1)\nassert info.value.code == 3",
        "with __goldseam__(0, by_pytest=True) as info:\n    f(1)\n" + handed("info.value.code", slot=1),
    ),
    "a call that raises": (
        "info = pytest.raises(Broken, f, 1, x=2)\nassert str(info.value) == 'no'",
        "with __goldseam__(0, by_pytest=True) as info:\n    f(1, x=2)\n" + handed("str(info.value)", slot=1),
    ),
    "a block that warns": (
        "with pytest.warns(UserWarning, match='old') as seen:\n    f(1)\nassert len(seen) == 1",
        "with __goldseam__(0, by_pytest=True).warning() as seen:\n    f(1)\n" + handed("len(seen)", slot=1),
    ),
    "two managers": (
        "with pytest.raises(Broken), open('x') as file:\n    f(file)",
        "with __goldseam__(0, by_pytest=True), open('x') as file:\n    f(file)",
    ),
    "a loop over rows that are written out": (
        "for n, want in [(1, 'one'), (2, 'two')]:\n    assert f(n) == want",
        f"for n, want in [(1, None), (2, None)]:\n{textwrap.indent(handed('f(n)'), '    ')}",
    ),
    "a loop over a mapping": (
        "for n, want in {1: 'one', 2: 'two'}.items():\n    assert f(n) == want",
        f"for n, want in {{1: None, 2: None}}.items():\n{textwrap.indent(handed('f(n)'), '    ')}",
    ),
    "a loop over a mapping by its name": (
        "rows = {1: 'one', 2: 'two'}\nfor n, want in rows.items():\n    assert f(n) == want",
        f"rows = {{1: None, 2: None}}\nfor n, want in rows.items():\n{textwrap.indent(handed('f(n)'), '    ')}",
    ),
    "a loop over rows with a name": (
        "rows = [(1, 'one'), (2, 'two')]\nfor n, want in rows:\n    assert f(n) == want",
        f"rows = [(1, None), (2, None)]\nfor n, want in rows:\n{textwrap.indent(handed('f(n)'), '    ')}",
    ),
    "a local that only the expectation reads": ("want = [1, 2]\nassert f(1) == want", handed("f(1)")),
    "a local that is the expectation of another one": ("one = 1\nwant = [one]\nassert f(1) == want", handed("f(1)")),
    "branches": (
        "if f():\n    assert f(1) == 1\nelse:\n    assert f(2) == 2",
        f"if f():\n{textwrap.indent(handed('f(1)'), '    ')}\nelse:\n{textwrap.indent(handed('f(2)', slot=1), '    ')}",
    ),
    "a function within": (
        "def inner():\n    assert f(1) == 1\ninner()",
        f"def inner():\n{textwrap.indent(handed('f(1)'), '    ')}\ninner()",
    ),
    "other context managers": (
        "with pytest.MonkeyPatch.context():\n    assert f(1) == 1",
        f"with pytest.MonkeyPatch.context():\n{textwrap.indent(handed('f(1)'), '    ')}",
    ),
    "what ends a block of tries": (
        "try:\n    f()\nfinally:\n    assert f(1) == 1",
        f"try:\n    f()\nfinally:\n{textwrap.indent(handed('f(1)'), '    ')}",
    ),
}


@pytest.mark.parametrize("name", FORMS)
def test_an_assertion_hands_out_what_the_product_gives(name):
    body, expected = FORMS[name]
    assert same(stripped(function(body)), function(expected))


UNITTEST = {
    "self.assertEqual(f(1), 3, 'three')": ["f(1)"],
    "self.assertNotEqual(f(1), 3)": ["f(1)"],
    "self.assertEqual(f(1), g(1))": ["f(1)", "g(1)"],
    "self.assertIsNone(f(1))": ["f(1)"],
    "self.assertIsNotNone(f(1))": ["f(1)"],
    "self.assertIn(3, f(1))": ["f(1)"],
    "self.assertTrue(f(1) == 3)": ["f(1)"],
    "self.assertFalse(f(1))": ["f(1)"],
    "self.assertGreater(f(1), 3)": ["f(1)"],
    "self.assertListEqual(f(1), [3])": ["(lambda found: found if isinstance(found, list) else NotImplemented)(f(1))"],
    "self.assertSetEqual(f(1), g(1))": [
        f"(lambda found: found if isinstance(found, (set, frozenset)) else NotImplemented)({call})"
        for call in ("f(1)", "g(1)")
    ],
    "self.assertCountEqual(f(1), [1, 2])": ["list(f(1))"],
    "self.assertSequenceEqual((1, 2), f(1))": ["(lambda found: [found[place] for place in range(len(found))])(f(1))"],
    "self.assertSequenceEqual(f(1), [1, 2], seq_type=list)": [
        "(lambda found: found if isinstance(found, list) else NotImplemented)(f(1))"
    ],
    "self.assertRegex(f(1), 'a+')": ["f(1)"],
    "self.assertNotRegex(f(1), 'a+')": ["f(1)"],
    "self.assertAlmostEqual(f(1), 1.5, places=3)": ["f(1)"],
    "self.assertAlmostEqual(f(1), 1.5, delta=0.1)": ["f(1)"],
    "self.assertIsInstance(f(1), int)": ["f(1)"],
}


@pytest.mark.parametrize("statement", UNITTEST)
def test_a_method_of_unittest_hands_out_what_the_product_gives(statement):
    def case(body: str) -> str:
        return f"class T(unittest.TestCase):\n    def test_a(self):\n{textwrap.indent(body, '        ')}\n"

    how = {
        "self.assertIn(3, f(1))": ".looked_up",
        "self.assertFalse(f(1))": ".truth_alone",
        "self.assertIsInstance(f(1), int)": ".of_kind",
    }.get(statement, "")
    assert same(stripped(case(statement)), case(handed(*UNITTEST[statement], how=how)))


@pytest.mark.parametrize(
    "head", ["self.assertRaises(Broken)", "self.assertRaisesRegex(Broken, 'no')", "self.assertRaises(Broken, msg='no')"]
)
def test_a_block_of_unittest_that_raises_tells_no_class(head):
    text = f"class T(unittest.TestCase):\n    def test_a(self):\n        with {head}:\n            f(1)\n"
    assert same(stripped(text), text.replace(head, "__goldseam__(0)"))


def test_what_a_test_case_caught_is_the_exception_where_it_is_given_back():
    text = "class T(unittest.TestCase):\n    def test_a(self):\n        {}\n"
    found = stripped(text.format("error = self.assertRaises(Broken, f, 1)\n        self.assertEqual(error.args, (3,))"))
    block = "with __goldseam__(0) as error:\n    f(1)\nerror = error.exception\n" + handed("error.args", slot=1)
    assert same(found, text.format(textwrap.indent(block, " " * 8).strip()))


def test_a_subtest_has_no_words():
    text = (
        "class T(unittest.TestCase):\n    def test_a(self):\n"
        "        with self.subTest('three', n=3):\n            self.assertEqual(f(1), 3)\n"
    )
    assert "three" not in stripped(text)
    assert "with self.subTest():" in stripped(text)


LEFT = {
    "nothing of the product in it": "assert 1 == 1",
    "nothing of the product in one of its conditions": "assert f(1) and 1 == 1",
    "a handler that may wait for it": "try:\n    assert f(1) == 1\nexcept AssertionError:\n    f(2)",
    "a block of which nobody knows what it catches": "with shop.raises():\n    assert f(1) == 1",
    "a check that is code": "with pytest.raises(Broken, check=f):\n    f(1)",
    "a keyword that is not known": "with pytest.raises(Broken, message='no'):\n    f(1)",
    "a tolerance of the product": "class A:\n    def test(self):\n        self.assertAlmostEqual(f(1), 1, delta=g())",
    "a pattern of the product": "with pytest.raises(Broken, match=g()):\n    f(1)",
    "a constant of several classes": "with pytest.raises(shop.ERRORS):\n    f(1)",
    "a comparison of its own": (
        "class A:\n    def test(self):\n        self.addTypeEqualityFunc(dict, f)\n        self.assertEqual(f(1), {})"
    ),
    "arguments that are unpacked": "class A:\n    def test(self):\n        self.assertEqual(*f(1))",
}


@pytest.mark.parametrize("name", LEFT)
def test_an_assertion_is_left_alone_where_it_has(name):
    assert same(stripped(function(LEFT[name])), function(LEFT[name]))


def test_an_assertion_within_a_block_that_raises_is_left_alone():
    text = function("with pytest.raises(Broken):\n    assert f(1) == 2")
    assert same(stripped(text), text.replace("pytest.raises(Broken)", "__goldseam__(0, by_pytest=True)"))


def test_a_test_of_hypothesis_is_left_alone():
    text = "@given(strategies.integers())\ndef test_a(n):\n    assert f(n) == 3\n"
    assert same(stripped(text), text)


def test_an_assertion_method_of_the_tests_own_is_no_assertion_but_what_is_in_it_is():
    text = (
        "class T(unittest.TestCase):\n    def assertEqual(self, a, b):\n        assert a == b\n"
        "    def test_a(self):\n        self.assertEqual(f(1), 3)\n"
    )
    found = stripped(text)
    assert "_goldseam_site(a)" in found
    assert "self.assertEqual(f(1), None)" in found


HELPER = "def check(value, want, why=''):\n    assert f(value) == want, why\n"


def test_what_only_a_helpers_expectations_read_is_blank_in_its_calls():
    found = stripped(f"{HELPER}def test_a():\n    check(1, 3)\n    check(2, want=[5], why='five')\n")
    assert "_goldseam_site(f(value))" in found
    assert "check(1, None)" in found
    assert "check(2, want=None, why=None)" in found


def test_a_call_that_gives_a_helper_what_the_product_says_leaves_what_others_expect_outside():
    helper = f"if not g:\n    pass\nelse:\n{textwrap.indent(HELPER, '    ')}\n"
    text = "first = lambda: 3\n" + helper + "def test_a():\n    check(1, 42)\n    check(2, g(3))\n    check(f(4), 43)\n"
    found = stripped(text)
    assert "    check(1, None)\n    _goldseam_check(2, g(3))\n    check(f(4), None)\n" in found
    assert found.count("_goldseam_site(f(value))") == 1
    assert found.count("_goldseam_site(f(value), want)") == 1


def test_a_default_that_only_a_helpers_expectations_read_is_blank():
    text = "def check(value, want=42, *, error=Broken, more=(44,)):\n"
    text += "    assert f(value) == want\n    assert g(value) == more\n    with pytest.raises(error):\n        f(0)\n"
    found = stripped(f"{text}def test_a():\n    check(1)\n    check(2, 43, error=shop.Broken)\n")
    assert "def check(value, want=None, *, error=None, more=None):" in found
    assert "check(2, None, error=None)" in found


def test_what_a_caller_makes_for_a_helpers_expectations_alone_goes_too():
    found = stripped(f"{HELPER}def test_a():\n    want = 7\n    check(1, want)\n    check(2, 8)\n")
    assert "check(1, None)" in found
    assert "7" not in found


def test_a_column_that_only_a_helpers_expectations_read_is_blank():
    found = stripped(f"{HELPER}def test_a():\n    for n, want in [(1, 77), (2, 88)]:\n        check(n, want)\n")
    assert "77" not in found
    assert "check(n, None)" in found


@pytest.mark.parametrize(
    "rest",
    [
        "def test_a():\n    check(1, f(3))\n",
        "def test_a():\n    check(1, 3)\n\nlater = [check]\n",
        "def test_a():\n    check(*[1, 3])\n",
        "def test_a():\n    check(1, 3)\n\nclass C:\n\n    def check(self):\n        pass\n",
    ],
    ids=["the product gives it", "it is used otherwise", "it is unpacked", "another has its name"],
)
def test_what_a_helper_is_given_is_handed_out_where(rest):
    assert "_goldseam_site(f(value), want)" in stripped(f"{HELPER}{rest}")


def test_what_a_caught_exception_has_to_match_is_kept():
    found = stripped(function("with pytest.raises(ValueError) as info:\n    f(1)\ninfo.match('no .* here')"))
    assert "_goldseam_site(__goldseam__.text_matched(info.value))" in found
    assert "no .* here" not in found


@pytest.mark.parametrize("call", ["pytest.fail({})", "print({})", "print(n, {})", "raise AssertionError({})"])
def test_words_for_a_person_go(call):
    text = function("n = f(1)\n" + call.format("'expected 42'") + "\nassert n == 42")
    assert "42" not in stripped(text)


def test_a_function_stays_as_it_is_where_that_is_asked_for_and_others_do_not():
    table = "@pytest.mark.parametrize('n', [1], ids=['is 42'])"
    text = f"{table}\ndef test_b(n):\n    'Is 42.'\n    print('42')\n    f(n)\n\n"
    source = parsed(text + function("assert f(1) == 43"))
    found = below(source.stripped({0: Mode.EXPECTED}, {"test_b"}))
    assert same(found[: found.rindex("def")], text)
    assert "43" not in found


def test_what_the_product_is_given_keeps_its_docstring():
    found = stripped(
        "class Shop:\n    'A shop.'\n    def get(self):\n        'Gets.'\n" + function("assert f(Shop) == 42")
    )
    assert "A shop." in found
    assert "Gets." in found


def test_words_of_a_test_case_go():
    assert "42" not in stripped("class TestA:\n    def test_a(self):\n        f(self)\n        self.fail('not 42')\n")


@pytest.mark.parametrize(
    "text",
    [
        "class Kind(shop.Kind):\n    def convert(self, value):\n        self.fail('is not 42')\n",
        function("def command():\n    print('is 42')\nassert f(command)"),
    ],
)
def test_words_that_the_product_is_given_stay(text):
    assert "is" in stripped(text)
    assert "42" in stripped(text)


def test_a_name_that_is_bound_again_and_again_to_what_is_expected_is_kept():
    found = stripped(function("want = 3\nassert f(1) == want\nwant = [4]\nassert f(2) == want"))
    assert "want" not in found


def test_a_name_that_is_made_anew_of_what_it_was_is_kept():
    found = stripped(function("want = 'abc'\nwant = want.lstrip('a')\nwant += ''\nassert f(1) == want"))
    assert "_goldseam_site(f(1), want)" in found, "it is bound in more ways than that"
    found = stripped(function("want = 'abc'\nwant = str(want).lstrip('a')\nassert f(1) == want"))
    assert "want" not in found
    assert "_goldseam_site(f(1))" in found


@pytest.mark.parametrize(
    "text",
    [
        "want = f(0)\nwant = want.strip()\nassert f(1) == want",
        "from shop import want\nwant = want.strip()\nassert f(1) == want",
        "want = 0\nfor _ in f(0):\n    want = want + 1\nassert f(1) == want",
        "want = want.strip()\nassert f(1) == want",
    ],
)
def test_a_name_that_is_made_anew_of_what_the_product_says_is_handed_out(text):
    assert "_goldseam_site(f(1), want)" in stripped(function(text))


def test_an_argument_that_is_made_anew_is_handed_out():
    found = stripped(HEAD + "def test_a(want):\n    want = want.strip()\n    assert f(1) == want\n")
    assert "_goldseam_site(f(1), _goldseam_want)" in found


def test_of_two_names_bound_at_once_the_expected_one_is_blank():
    found = stripped(function("given, want = 'abc', 'ABC'\nassert f(given) == want"))
    assert "ABC" not in found
    assert "_goldseam_site(f(given))" in found


def test_a_name_that_is_bound_in_a_branch_is_handed_out():
    found = stripped(function("want = 3\nif f(0):\n    want = 4\nassert f(1) == want"))
    assert "_goldseam_site(f(1), want)" in found


def test_a_mutable_value_that_the_product_is_given_is_both_input_and_handed_out():
    text = function("data = [3, 1]\nf(data)\nassert data == [1, 3]")
    assert same(stripped(text), function("data = [3, 1]\nf(data)\n" + handed("data")))


def test_a_mutable_input_comes_out_to_be_held_against_what_was_written():
    text = function("data = [3, 1]\nassert f(data) == data")
    assert same(stripped(text), function("data = [3, 1]\n" + handed("f(data)", "data")))
    assert "recorded(f(data), [3, 1], data)" in recording(text)


def test_a_list_that_is_filled_is_no_expectation_and_what_it_is_held_against_is():
    text = function("want = ['a']\nfound = []\nfor n in g():\n    found.append(f(n))\nassert sorted(found) == want")
    made = "found = []\nfor n in g():\n    found.append(f(n))\n"
    assert same(stripped(text), function(made + handed("sorted(found)")))


def test_an_immutable_input_is_an_expectation_as_well():
    text = function("word = 'abc'\nassert f(word) == word")
    assert same(stripped(text), function("word = 'abc'\n" + handed("f(word)")))


def test_a_call_is_never_removed():
    text = function("want = f(2)\nassert f(1) == 3")
    assert "want = f(2)" in stripped(text)


# -- tables


def table(rows: str, names: str = "'n, want'", **keywords: str) -> str:
    more = "".join(f", {name}={value}" for name, value in keywords.items())
    return f"@pytest.mark.parametrize({names}, {rows}{more})\ndef test_a(n, want):\n    assert f(n) == want\n"


BLANK = "@pytest.mark.parametrize({}, {}, ids=['p0', 'p1'])\ndef test_a(n, want):\n" + textwrap.indent(
    handed("f(n)"), "    "
)


@pytest.mark.parametrize(
    ("text", "names", "rows"),
    [
        (table("[(1, 'one'), (2, 'two')]"), "'n, want'", "[(1, None), (2, None)]"),
        (table("[[1, 'one'], [2, 'two']]", "['n', 'want']"), "['n', 'want']", "[[1, None], [2, None]]"),
        (table("((1, 'one'), (2, 'two'))", ids="['is one', 'is two']"), "'n, want'", "((1, None), (2, None))"),
        (
            table("[pytest.param(1, 'one', id='is-one', marks=shop.mark), (2, 'two')]"),
            "'n, want'",
            "[pytest.param(1, None, marks=shop.mark), (2, None)]",
        ),
    ],
)
def test_a_column_that_only_expectations_read_is_blank_and_its_rows_are_numbered(text, names, rows):
    assert same(stripped(text), BLANK.format(names, rows))


SHARED = """
ROWS = {rows}

{one}def test_a({given}):
    {loop_a}assert f(n) == want

{one}def test_b({given}):
    {loop_b}assert g(n) == want
"""
LOOPS = {"one": "", "given": "", "loop_a": "for n, want in ROWS:\n        ", "loop_b": "for n, want in ROWS:\n        "}
ITEMS = {
    **LOOPS,
    "loop_a": LOOPS["loop_a"].replace("ROWS", "ROWS.items()"),
    "loop_b": LOOPS["loop_b"].replace("ROWS", "ROWS.items()"),
}
MARKS = {"one": "@pytest.mark.parametrize('n, want', ROWS)\n", "given": "n, want", "loop_a": "", "loop_b": ""}


@pytest.mark.parametrize(
    ("rows", "how"), [("[(1, 'one'), (2, 'two')]", LOOPS), ("{1: 'one', 2: 'two'}", ITEMS), ("[(1, 'one')]", MARKS)]
)
def test_a_column_that_only_the_expectations_of_all_tables_read_is_blank(rows, how):
    found = stripped(SHARED.format(rows=rows, **how))
    assert "'one'" not in found
    assert found.count("_goldseam_site(f(n))") == found.count("_goldseam_site(g(n))") == 1


def test_a_shared_column_that_one_of_its_tables_reads_stays():
    text = SHARED.format(rows="[(1, 'one')]", **LOOPS).replace("g(n) == want", "g(want) == n")
    assert "'one'" in stripped(text)


def test_expectations_that_are_keys_become_numbers():
    found = stripped(function("for want, n in {'one': 1, 'two': 2}.items():\n    assert f(n) == want"))
    assert "in {0: 1, 1: 2}.items():" in found


def test_items_of_rows_that_only_expectations_read_are_blank():
    found = stripped(function("for case in [(1, 'one', 5), (2, 'two', 6)]:\n    assert f(case[0], case[2]) == case[1]"))
    assert "in [(1, None, 5), (2, None, 6)]:" in found


@pytest.mark.parametrize("use", ["f(case)", "f(case[-1])", "f(case[0:])", "f(*case)"])
def test_items_of_rows_that_are_read_otherwise_stay(use):
    found = stripped(function(f"for case in [(1, 'one')]:\n    {use}\n    assert f(case[0]) == case[1]"))
    assert "(1, 'one')" in found


WORDS = {
    "a reason": "@pytest.mark.skipif(False, reason='gives 42')\ndef test_a():\n    assert f(1) == 42\n",
    "a reason of a class": "@pytest.mark.xfail(reason='gives 42')\n"
    "class TestA:\n    def test_a(self):\n        assert f(1) == 42\n",
    "an annotation": "def test_a(given: 'gives 42' = None) -> '42':\n    assert f(1) == 42\n",
    "a line of a log": "import logging\n"
    "def test_a():\n    want = 42\n    logging.info('should be %s', want)\n    assert f(1) == want\n",
    "a constant with a name like a runner's": "__expected__ = 42\ndef test_a():\n    assert f(1) == __expected__\n",
}


@pytest.mark.parametrize("name", WORDS)
def test_words_around_an_assertion_tell_nothing(name):
    assert "42" not in stripped(WORDS[name])


def test_annotations_of_what_a_test_defines_stay():
    body = "@dataclass\nclass A:\n    x: int = 1\ndef g(y: int) -> str: ...\nz: float = 2\nassert f(A, g, z) == 42"
    found = stripped(function(body))
    assert "x: int = 1" in found
    assert "def g(y: int) -> str:" in found
    assert "z: object = 2" in found


def test_what_runners_look_for_stays():
    assert "pytestmark = " in stripped(
        "pytestmark = pytest.mark.slow\n__all__ = ['x']\n" + function("assert f(1) == 42")
    )


LOOP = "def test_a():\n    for n, want in ROWS:\n        assert f(n) == want\n"


def test_a_loop_over_rows_of_the_top_level_is_a_table():
    found = stripped(f"ROWS = [(1, 'one'), (2, 'two')]\n\n{LOOP}")
    assert found.startswith("ROWS = [(1, None), (2, None)]\n")
    assert "_goldseam_site(f(n))" in found


def test_rows_that_others_read_as_well_stay():
    assert "(1, 'one')" in stripped(f"ROWS = [(1, 'one'), (2, 'two')]\n\n{LOOP}\n\ndef test_b():\n    f(ROWS)\n")


def test_an_argument_with_the_name_of_rows_is_no_table():
    found = stripped(f"ROWS = [(1, 'one'), (2, 'two')]\n\n{LOOP.replace('test_a()', 'test_a(ROWS)')}")
    assert "_goldseam_site(f(n), want)" in found


def test_a_column_of_the_product_stays():
    text = table("[(1, shop.ONE), (2, 'two')]")
    assert "[(1, shop.ONE), (2, 'two')]" in stripped(text)


def test_names_of_rows_go_even_where_no_column_does():
    text = (
        "@pytest.mark.parametrize('n', [1, 2], ids=['is three', 'is four'])\ndef test_a(n):\n    assert f(n) == n + 2\n"
    )
    assert "ids=['p0', 'p1']" in stripped(text)


def test_rows_that_name_themselves_by_inputs_alone_keep_their_names():
    text = "@pytest.mark.parametrize('n', [1, 2])\ndef test_a(n):\n    assert f(n) == 3\n"
    assert "parametrize('n', [1, 2])" in stripped(text)


def test_a_table_that_others_read_as_well_stays():
    text = "ROWS = [(1, 'one')]\n\n\n" + table("ROWS") + "\n\ndef test_b():\n    f(ROWS)\n"
    assert "ROWS = [(1, 'one')]" in stripped(text)


def test_a_table_of_the_files_own_is_blank():
    text = "ROWS = [(1, 'one')]\n\n\n" + table("ROWS")
    assert "ROWS = [(1, None)]" in stripped(text)


# -- what else tells


def test_docstrings_and_comments_go():
    text = '"""Gives three."""\n\n\nclass TestA:\n    """Gives four."""\n\n'
    text += '    def test_a(self):\n        """Gives five."""'
    text += "\n        # gives six\n        assert f(1) == 3\n"
    source = StrippedSource(text.encode(), first=0, product=lambda _: True)
    assert "ives" not in source.stripped({0: Mode.EXPECTED})


def test_a_constant_that_only_expectations_read_goes_and_inputs_stay():
    text = "WANT = {'a': 1}\nGIVEN = {'b': 2}\n\n\ndef test_a():\n    assert f(GIVEN) == WANT\n"
    found = stripped(text)
    assert "WANT" not in found
    assert "GIVEN = {'b': 2}" in found


@pytest.mark.parametrize(
    "constant",
    [
        "pytestmark = ()",
        "pytest_plugins = ['pytester']",
        "__test__ = True",
        "load_tests = testscenarios.load_tests_apply_scenarios",
        "setUpModule = helpers.start",
        "scenarios = [('one', {'n': 1})]",
    ],
)
def test_a_constant_that_nothing_in_the_file_reads_stays(constant):
    assert constant in stripped(f"import helpers, testscenarios\n{constant}\n\n\n{function('assert f(1) == 3')}")


# -- modes


def test_an_assertion_that_is_judged_inside_is_left_and_so_is_what_it_reads():
    text = "WANT = 3\n\n\n" + function("assert f(1) == WANT")
    assert same(stripped(text, Mode.INSIDE), text)


def test_of_two_conditions_both_come_out_or_none():
    source = parsed(function("assert f(1) == 1 and f(2) == 2"))
    found = below(source.stripped({0: Mode.EXPECTED, 1: Mode.INSIDE}))
    assert same(found, function("assert f(1) == 1 and f(2) == 2"))


@pytest.mark.parametrize(
    ("statement", "call"),
    [
        ("assert f(1) == 3", "_goldseam_site.check('==', f(1), 3)"),
        ("assert f(1) in g(1)", "_goldseam_site.check('in', f(1), g(1))"),
        ("assert f(1)", "_goldseam_site.truth(f(1))"),
        ("assert not f(1)", "_goldseam_site.truth(not f(1))"),
        ("assert 0 < f(1) < 9", "_goldseam_site.truth(0 < f(1) < 9)"),
        ("assert f(1).startswith('a')", "_goldseam_site.truth(f(1).startswith('a'))"),
    ],
)
def test_where_the_product_compares_what_comes_of_it_is_handed_out(statement, call):
    expected = function(f"with __goldseam__(0) as _goldseam_site:\n    {call}")
    assert same(stripped(function(statement), Mode.RESULT), expected)


@pytest.mark.parametrize(
    ("statement", "site"),
    [
        ("assert f(1) == 3", "with __goldseam__(0) as _goldseam_site:\n    _goldseam_site.recorded(f(1), 3)()"),
        ("assert f(1)", "with __goldseam__(0) as _goldseam_site:\n    _goldseam_site.recorded_truth(f(1))()"),
        (
            "assert f(1) is not None",
            "with __goldseam__(0) as _goldseam_site:\n    _goldseam_site.recorded_alone(f(1), None)()",
        ),
        (
            "class A:\n    def test(self):\n        self.assertAlmostEqual(f(1), 2.5, places=3)",
            (
                "class A:\n    def test(self):\n        with __goldseam__(0) as _goldseam_site:\n"
                "            _goldseam_site.recorded(f(1), 2.5)(3)"
            ),
        ),
        (
            "with pytest.raises(Broken, match='no'):\n    f(1)",
            "with __goldseam__(0, by_pytest=True)(Broken, 'no'):\n    f(1)",
        ),
        (
            "with pytest.warns(UserWarning):\n    f(1)",
            "with __goldseam__(0, by_pytest=True)(UserWarning).warning():\n    f(1)",
        ),
    ],
)
def test_a_recording_hands_out_what_is_kept_as_well(statement, site):
    assert same(recording(function(statement)), function(site))


def test_slots_are_numbered_from_the_first_and_know_their_function():
    text = "class TestA:\n    def test_a(self):\n        assert f(1) == 1\n\n\ndef test_b():\n    assert f(2) == 2\n"
    found = parsed(text, first=7).slots
    assert [(slot.number, slot.function) for slot in found] == [(7, ("TestA", "test_a")), (8, ("test_b",))]


@pytest.mark.parametrize("source", [b"def test_a(:\n", b"x = '\0'\n"])
def test_what_is_no_python_is_refused(source):
    with pytest.raises((SyntaxError, ValueError)):
        StrippedSource(source, first=0, product=lambda _: False)


@pytest.mark.parametrize(
    "body",
    [
        "missing()\nreached.append(1)",
        "for row in (1,):\n    missing(row)\n    reached.append(row)",
        "with held() as value:\n    missing()\n    reached.append(value)",
        "if reached == []:\n    missing()\n    reached.append(1)",
        "try:\n    missing()\n    reached.append(3)\nexcept NameError:\n    reached.append(1)",
        "with __goldseam__(0) as site:\n    missing()\n    reached.append(3)\nreached.append(1)",
        "with raises():\n    missing()\n    reached.append(3)\nreached.append(1)",
        "while missing():\n    pass\nreached.append(1)",
    ],
)
def test_where_nothing_ends_a_test_it_comes_to_its_end(body):
    text = f'"""Words."""\nfrom __future__ import annotations\nfrom os import no_such, path\n\n\n{function(body)}'
    reached: list[int] = []
    names = {"reached": reached, "held": lambda: nullcontext(1), "raises": lambda: suppress(NameError)}
    names |= {"__goldseam__": lambda _: suppress(NameError)}

    exec(parsed("").unstopped(text, "", 0), names)
    names["test_a"]()

    assert reached == [1]
    assert names["path"]
    assert names["__doc__"] == "Words."


def test_what_a_base_lacks_is_made_up_where_nothing_ends_a_test(monkeypatch):
    text = """\
import no_such_module, os
from os import no_such, path as there


def given(a, b=1):
    return a + b


@no_such_module.mark
def test_a():
    os.no_such_either(1)
    reached.append(given(1, 2, more=3))
    reached.append(_goldseam_given(1, 2, 3, 4))
    with no_such.held() as value:
        reached.append(no_such(given)(3))
    reached.append(there.join("a", "b"))
    reached.append("abc".no_such().upper())
    reached.append(int.no_such("7"))
    reached.append(main(["there", "--new"]))
    reached.append(main("--new", "there"))
    exit("--new")
    sys.argv = ["prog", "--new", "it"]
    reached.append(main(sys.argv))
"""
    reached: list[object] = []

    def main(*words):
        if "-" in repr(words):
            raise SystemExit(2)
        return words[-1]

    monkeypatch.setattr(sys, "argv", [])
    names = {"reached": reached, "main": main, "sys": sys, "_goldseam_given": lambda a, b: a + b}

    exec(parsed("").unstopped(text, "", 0), names)
    names["test_a"]()

    assert reached == [3, 3, 4, "a/b", "ABC", 7, ["there"], "there", ["prog", "it"]]


def test_a_refusal_of_the_product_ends_no_call_of_a_base_that_is_kept_going(tmp_path, monkeypatch):
    product = """\
def refuse(name):
    if name != "good":
        raise ValueError(
            name)
    if name == "bad":
        raise TypeError
def make(name):
    refuse(name)
    return name.upper()
def fails():
    return {}["no"]
"""
    text = """\
import refusing
def test_a():
    reached.append(refusing.make("bad"))
    with suppress(ValueError):
        refusing.make("worse")
        reached.append("no error")
    with __goldseam__(0) as _goldseam_site:
        _goldseam_site(refusing.make("some"))
        refusing.make("other")
        reached.append("no error")
    try:
        refusing.make("more")
    except ValueError as error:
        reached.append(error)
    reached.append(refusing.fails())
"""
    (tmp_path / "refusing.py").write_text(product)
    monkeypatch.syspath_prepend(tmp_path)
    reached: list[object] = []

    @contextmanager
    def site(_slot):
        with suppress(ValueError):
            yield reached.append

    names = {"reached": reached, "suppress": suppress, "__goldseam__": site, "__file__": str(tmp_path / "test_a.py")}
    exec(parsed("").unstopped(text, "", 0), names)
    names["test_a"]()

    assert [str(one) for one in reached] == ["BAD", "SOME", "more"]


def test_what_a_function_raises_that_a_test_gives_to_the_product_reaches_it():
    text = """\
def test_a():
    def view():
        raises()
        return 1
    try:
        view()
    except ZeroDivisionError:
        reached.append(view)
"""
    reached: list[object] = []
    names = {"reached": reached, "raises": lambda: 1 / 0}

    exec(parsed("").unstopped(text, "", 0), names)
    names["test_a"]()

    assert len(reached) == 1


@pytest.mark.parametrize(
    "text",
    [
        "def wanted(n):\n    return 'MARK' * n\ndef test_a():\n    assert f(1) == wanted(1)\n",
        """class TestA:
    def wanted(self):
        return 'MARK'
    def test_a(self):
        assert f(1) == self.wanted()
""",
        "WORD = 'MARK'\ndef wanted(n):\n    return WORD * n\ndef test_a():\n    assert f(1) == wanted(1)\n",
        function("x: 'MARK' = f(1)\nassert x == 'MARK'"),
    ],
)
def test_what_only_makes_an_expectation_goes_with_it(text):
    assert "MARK" not in stripped(text)


def test_a_function_that_makes_inputs_as_well_stays():
    text = "def made(n):\n    return 'MARK' * n\ndef test_a():\n    assert f(made(2)) == made(1)\n"
    assert "def made(n):" in stripped(text)


def test_what_a_condition_of_a_row_makes_goes_with_it():
    text = (
        "@pytest.mark.parametrize('flag', [True, False])\ndef test_a(flag):\n    parts = ['x', 'y']\n"
        "    if flag:\n        want = parts[0]\n    else:\n        want = parts[1]\n"
        "    line = want + '!'\n    assert f(flag) == line\n"
    )
    kept = stripped(text)
    assert handed("f(flag)").splitlines()[1].strip() in kept
    assert not {"'x'", "'!'", "line"} & set(kept.replace("\n", " ").split(" "))
    assert "parts" not in kept


@pytest.mark.parametrize(
    ("path", "module", "is_of_others"),
    [
        ("asyncore/__init__.py", "asyncore", False),
        ("src/asyncore.py", "asyncore", False),
        ("src/google/shop/a.py", "google", False),
        ("six.py", "six", False),
        ("shop/json.py", "json", True),
        ("shop/six.py", "six", True),
        ("shop/a.py", "google", True),
    ],
)
def test_what_the_fix_changes_is_no_module_of_others(path, module, is_of_others):
    assert (module in of_others(("google", "six"), {path: ""})) is is_of_others


@pytest.mark.parametrize(
    ("statement", "mode", "out"),
    [
        ("eq_(f(1), 3)", Mode.EXPECTED, handed("f(1)")),
        ("in_(3, f(1), 'not there')", Mode.EXPECTED, handed("f(1)", how=".looked_up")),
        ("is_true(f(1))", None, "is_true(f(1))"),  # which versions understand differently
    ],
)
def test_what_sqlalchemy_asserts_is_read(statement, mode, out):
    text = f"from sqlalchemy.testing import eq_, in_, is_true\n{function(statement)}"
    source = StrippedSource(("from shop import f\n" + text).encode(), first=0, product=lambda module: module == "shop")
    modes = {slot.number: slot.assertion.modes[0] for slot in source.slots}
    assert list(modes.values()) == ([mode] if mode else [])
    assert same(source.stripped(modes), f"from shop import f\n{text.partition(chr(10))[0]}\n{function(out)}")


HELPED = "def row(a, want):\n    {}\ndef test_a():\n    row(1, 2)\n    row(3, 4)\n"
TWICE = "def row(a, want):\n    {}\ndef one(): row(1, 2)\ndef two(): row(3, 4)\ndef test_a():\n    {}\n"
IN_ROWS = "def test_a():\n    for a, want in [(1, 2), (3, 4)]:\n        {}\n"
LEAVING = [
    (HELPED, "assert f(a) == want", Mode.EXPECTED),
    (HELPED, "if a == 3: return\n    assert f(a) == want", Mode.EXPECTED),
    (HELPED, "if not takes(a): return\n    assert f(a) == want", Mode.OPERANDS),
    (HELPED, "if takes(a):\n        assert f(a) == want", Mode.OPERANDS),
    (HELPED, "for x in f(a):\n        assert x == want", Mode.OPERANDS),
    (HELPED.replace("3, 4", "3, 2"), "if not takes(a): return\n    assert f(a) == want", Mode.EXPECTED),
    (IN_ROWS, "more = want + 1\n        if not takes(a): continue\n        assert f(a) == more", Mode.OPERANDS),
    (IN_ROWS, "more = want + 1\n        assert f(a) == more", Mode.EXPECTED),
    (IN_ROWS, "try: takes(a)\n        except E: continue\n        assert f(a) == want", Mode.OPERANDS),
    (IN_ROWS, "try: takes(a)\n        except E: raise\n        assert f(a) == want", Mode.EXPECTED),
    (IN_ROWS, "match takes(a):\n            case 1: continue\n        assert f(a) == want", Mode.OPERANDS),
    (IN_ROWS, "for x in f(a): assert x == want", Mode.OPERANDS),
]


BY_TWO = [
    ("assert f(a) == want", "one(); two()", Mode.EXPECTED),
    ("assert f(a) == want", "if takes(1): one()\n    else: two()", Mode.OPERANDS),
    ("assert f(a) == want", "if takes(1): one()", Mode.EXPECTED),
    ("if takes(a): assert f(a) == want", "one(); two()", Mode.OPERANDS),
    ("if takes(a): assert f(a) == want", "one()\ndef test_b(): two()", Mode.EXPECTED),
]


@pytest.mark.parametrize(("body", "calls", "mode"), BY_TWO)
def test_so_it_is_where_functions_with_such_calls_are_called_by_choice(body, calls, mode):
    assert [slot.assertion.modes[0] for slot in parsed(TWICE.format(body, calls)).slots] == [mode]


@pytest.mark.parametrize(("form", "body", "mode"), LEAVING)
def test_what_rows_or_calls_expect_is_kept_outside_unless_the_product_says_which_of_them_come_to_it(form, body, mode):
    assert [slot.assertion.modes[0] for slot in parsed(form.format(body)).slots] == [mode]


def test_a_function_that_keeps_its_words_stands_in_the_file_to_the_letter():
    read = "    @pytest.mark.x\n    def test_a(self):\n        'Itself'\n        ic(1,\n           2)  # as written\n"
    tested = "    def test_b(self):\n        assert f(1) == 3  # three\n"
    source = parsed(f"class TestA:\n{read}\n{tested}".replace("\n", "\r\n"))
    modes = {slot.number: slot.assertion.modes[0] for slot in source.slots}
    text = source.stripped(modes, whole={"test_a"})
    assert read in text
    assert "three" not in text
    assert same(text, source.stripped(modes, whole={"test_a", "test_c"}))
    inside = source.stripped(dict.fromkeys(modes, Mode.INSIDE), whole={"test_b"})
    assert tested in inside
    assert read not in inside
