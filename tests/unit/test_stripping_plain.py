"""What a test file writes in a roundabout way is seen as if it stood there."""

from __future__ import annotations

import ast
import textwrap

import pytest

from miner.languages.base import Mode
from miner.languages.python.stripping import plain
from tests.unit.test_stripping_source import function, handed, recording, same, stripped

LOOP = """\
def test_a():
    for name, (options, cases) in rows.items():
        for number, (given, want) in enumerate(cases):
            assert f(given, **options) == want
"""
ROWS = """\
rows = {}
rows['a'] = ({}, [[1, 'one'], [2, 'two']])
rows['b'] = ({'x': 1}, rows['a'][1])
"""


def written(text: str) -> str:
    return plain.written(text.encode()).decode()


def stays(text: str) -> bool:
    return written(text) == text


def test_what_rows_of_a_dictionary_that_is_filled_entry_by_entry_expect_goes():
    found = stripped(LOOP + ROWS)
    assert "_goldseam_site(f(given, **options))" in found
    assert "'one'" not in found
    assert "'two'" not in found
    assert "[[1, None], [2, None]]" in found


def test_rows_that_something_else_reads_stay():
    found = stripped(LOOP + ROWS + "def test_b():\n    f(rows)\n")
    assert "'one'" in found


def test_inner_rows_of_which_one_is_not_written_out_are_handed_out():
    found = stripped(LOOP + "rows = {'a': ({}, [[1, 'one'], f(2)])}\n")
    assert "_goldseam_site(f(given, **options), want)" in found


def test_inner_rows_that_are_read_once_more_are_handed_out():
    head = "for cases, _ in [([[1, 'one']], 2)]:\n    f(cases)\n"
    text = f"{head}    for given, want in cases:\n        assert f(given) == want"
    assert "_goldseam_site(f(given), want)" in stripped(function(text))


def test_what_numbered_rows_expect_goes():
    head = "for number, (given, want) in enumerate([(1, {})]):\n"
    found = stripped(function(head.format("'one'") + "    assert f(given) == want"))
    assert same(found, function(head.format(None) + textwrap.indent(handed("f(given)"), "    ")))


@pytest.mark.parametrize(
    ("before", "within", "left"),
    [
        ("", "for a, b in zip(f(1), ['one']):", "zip(f(1), [None])"),
        ("", "want = ['one']\nfor a, b in zip(f(1), want):", "want = [None]"),
        ("WANTED = ['one']\n", "for a, b in zip(f(1), WANTED):", "WANTED = [None]"),
    ],
)
def test_what_is_held_against_what_the_product_gives_item_by_item_goes(before, within, left):
    found = stripped(before + function(f"{within}\n    assert a == b"))
    assert left in found
    assert "_goldseam_site(a)" in found
    assert "'one'" not in found


def test_so_does_one_of_numbered_pairs():
    head, made = "for n, (a, (b, c)) in enumerate(zip(f(1), {})):\n", textwrap.indent(handed("a"), "    ")
    found = stripped(function(head.format([("one", 1)]) + "    assert a == b"))
    assert same(found, function(head.format([(None, None)]) + made))


def test_a_column_that_only_a_fixture_can_read_stays_and_one_that_tells_of_its_row_goes():
    rows = "@pytest.mark.parametrize(('given', 'args', 'why', 'want'), [(1, ['-x'], {}, {})])\n"
    test = "def test_a(given, options, args, why, want):\n    {}\n"
    found = stripped(
        "import pytest\n" + rows.format("'is one'", "'one'") + test.format("assert f(given, options) == want")
    )
    assert "(1, ['-x'], None, None)" in found


def test_items_of_which_the_product_gives_both_are_handed_out():
    assert "_goldseam_site(a, b)" in stripped(function("for a, b in zip(f(1), g(1)):\n    assert a == b"))


def test_rows_that_two_tests_take_apart_alike_lose_what_both_expect():
    found = stripped(LOOP + LOOP.replace("test_a", "test_b") + ROWS)
    assert "'one'" not in found


@pytest.mark.parametrize(
    "text",
    [
        "rows = {}\nrows['a'] = 1\nrows['a'] = 2\n",
        "rows = {}\nprint(rows)\nrows['a'] = 1\n",
        "rows = {}\nrows['a'] = 1\nf(rows)\nrows['b'] = 2\n",
        "rows = {}\nrows['a'] = rows\n",
        "rows = {}\nrows['a'] = rows['b']\n",
        "rows = {'b': 1}\nrows['a'] = 1\n",
        "rows = {}\nif f():\n    rows['a'] = 1\n",
        "rows = {}\nf()\nrows['a'] = 1\n",
        "rows = {}\nrows['a'] = 1\nrows = {}\n",
        "rows['a'] = 1\nrows = {}\n",
    ],
)
def test_a_dictionary_that_is_more_than_its_entries_stays(text):
    assert stays(text)


def test_a_parameter_that_is_bound_anew_has_a_name_of_its_own():
    head = "def check(given, want):\n    "
    text = f"{head}want = want.strip()\n    assert f(given) == [x for x in want]\n"
    after = f"{head}_goldseam_want = want.strip()\n    assert f(given) == [x for x in _goldseam_want]\n"
    assert same(written(text), after)


@pytest.mark.parametrize(
    "body",
    [
        "want = 1\n    want = 2",
        "if f():\n        want = 1",
        "want = 1\n    f(lambda: want)",
        "want = 1\n    f(locals())",
        "for want in f():\n        pass",
        "want += 1",
        "global other\n    del want",
    ],
)
def test_a_parameter_that_may_stand_for_more_than_one_value_keeps_its_name(body):
    assert stays(f"def check(given, want):\n    {body}\n")


HELPERS = """\
class TestA(unittest.TestCase):
    def check(self, given, want):
        tree = self._check(given, want)
        self.assertTrue(tree.changed)

    def _check(self, given, want):
        want = dedent(want)
        tree = f(given)
        self.assertEqual(want, str(tree))
        return tree

    def unchanged(self, given):
        self._check(given, given)

    def other(self, unchanged):
        if unchanged:
            self.check(1, '1')

    def test_a(self):
        b = 'before'
        a = 'after'
        self.check(b, a)

    def test_b(self):
        self.unchanged('same')
"""


def test_what_helpers_hand_on_to_each_other_to_be_expected_goes():
    found = stripped("from textwrap import dedent\n" + HELPERS)
    assert "_goldseam_site(str(tree))" in found
    assert "after" not in found
    assert "dedent(" not in found
    ast.parse(found)


def test_what_one_of_them_has_from_the_product_is_handed_out():
    found = stripped(
        "from textwrap import dedent\n" + HELPERS.replace("self.unchanged('same')", "self.unchanged(f(2))")
    )
    assert "_goldseam_site(_goldseam_want, str(tree))" in found


COPIED = [
    ("given = ['a', 1]\norig = given[:]", "['a', 1]"),
    ("given = ['a', 1]\norig = list(given)", "['a', 1]"),
    ("given = {'a': (1, 2)}\norig = given.copy()", "{'a': (1, 2)}"),
    ("given = {'a': [1]}\nother = 2\norig = copy.deepcopy(given)", "{'a': [1]}"),
    ("from copy import deepcopy as copied\ngiven = {'a': [1]}\norig = copied(given)", "{'a': [1]}"),
    ("from shop import *\nfrom copy import deepcopy\ngiven = {'a': [1]}\norig = deepcopy(given)", "{'a': [1]}"),
]


@pytest.mark.parametrize(("text", "made"), COPIED)
def test_a_copy_of_what_has_just_been_written_out_is_written_out(text, made):
    assert f"orig = {made}" in written(function(text + "\nf(given)\nassert given == orig"))


@pytest.mark.parametrize(
    "text",
    [
        "given = ['a']\nf(given)\norig = given[:]",
        "given = [[1]]\norig = given[:]",
        "given = [f(1)]\norig = given[:]",
        "given = {'a': 1}\norig = list(given)",
        "given = ['a']\nf(lambda: given)\norig = given[:]",
        "given = ['a']\norig = given[1:]",
        "given = ['a']\norig = given",
        "given = {'a': [1]}\norig = dict(given)",
        "given = {'a': [1]}\norig = shop.deepcopy(given)",
        "from shop import deepcopy\ngiven = {'a': [1]}\norig = deepcopy(given)",
        "from shop import list\ngiven = ['a']\norig = list(given)",
        "from shop import *\ngiven = ['a']\norig = deepcopy(given)",
    ],
)
def test_a_copy_that_may_be_of_something_else_stays(text):
    assert stays(function(text))


def test_what_is_copied_before_the_product_gets_it_is_expected():
    found = stripped(function("given = ['a', 1]\norig = given[:]\nf(given)\nassert given == orig"))
    assert same(found, function("given = ['a', 1]\nf(given)\n" + handed("given")))


GUARDS = {
    "a difference": ("if f(1) != 3:\n    self.fail('not 3')", handed("f(1)")),
    "what it says of it": (
        "want = ''\nmade = f(1)\nif made != want:\n    said = 0\n    for x in want:\n        said = x\n    self.fail()",
        "made = f(1)\n" + handed("made"),
    ),
    "an error": (
        "if not f(1):\n    raise AssertionError('false')",
        handed("f(1)").replace("site(f", "site.truth_alone(f"),
    ),
    "a failure of pytest's": ("if f(1) == 3:\n    pytest.fail('3')", handed("f(1)")),
    "an assertion that never holds": ("if f(1) in (1, 2):\n    assert False, 'no'", handed("f(1)")),
    "one of two": (
        "if f(1) != 3 or g(1) != 4:\n    self.fail()",
        handed("f(1)") + handed("g(1)", slot=1),
    ),
}


@pytest.mark.parametrize("what", GUARDS)
def test_a_condition_under_which_a_test_fails_is_an_assertion_of_the_contrary(what):
    before, after = GUARDS[what]
    found = stripped(function(before))
    assert same(found, function(after)), found


@pytest.mark.parametrize(
    "text",
    [
        "if f(1) != 3:\n    self.skipTest('no')",
        "if f(1) != 3:\n    raise ValueError('no')",
        "if f(1) != 3:\n    self.fail('no')\nelse:\n    g(1)",
        "if f(1) != 3:\n    if g(1):\n        return\n    self.fail('no')",
        "for _ in g():\n    if f(1) != 3:\n        if g(1):\n            break\n        self.fail('no')",
        "if f(1) != 3:\n    g(1)\n    assert True",
    ],
)
def test_a_condition_under_which_more_happens_stays(text):
    assert "__goldseam__" not in stripped(function(text))


def test_a_failure_that_the_class_has_of_its_own_is_none():
    own = "    def fail(self, why):\n        print(why)\n\n"
    text = (
        f"class TestA(unittest.TestCase):\n{own}    def test_a(self):\n        if f(1) != 3:\n            self.fail()\n"
    )
    assert "__goldseam__" not in stripped(text)


RAISING = """\
try:
    f(1)
    {fails}
except KeyError as error:
    assert str(error) == 'no'
"""
RAISED = """\
with __goldseam__(0) as error:
    f(1)
error = error.exception
with __goldseam__(1) as _goldseam_site:
    _goldseam_site(str(error))
"""


@pytest.mark.parametrize("fails", ["self.fail('none')", "assert False", "raise AssertionError"])
def test_a_handler_that_is_waited_for_is_an_assertion_that_something_is_raised(fails):
    assert same(stripped(function(RAISING.format(fails=fails))), function(RAISED))


def test_so_is_one_beside_an_else_that_fails():
    text = "try:\n    f(1)\nexcept (KeyError, TypeError):\n    pass\nelse:\n    self.fail('none')\n"
    assert same(stripped(function(text)), function("with __goldseam__(0) as _goldseam_site:\n    f(1)\npass\n"))
    assert "__goldseam__(0)((KeyError, TypeError))" in recording(function(text))


def test_what_is_tried_stays_where_a_result_of_it_is_left_inside():
    text = function(RAISING.format(fails="self.fail()"))
    assert same(stripped(text, Mode.INSIDE), text)


@pytest.mark.parametrize(
    "text",
    [
        "try:\n    f(1)\n    self.fail()\nexcept Exception:\n    pass",
        "try:\n    f(1)\n    assert False\nexcept (KeyError, AssertionError):\n    pass",
        "try:\n    f(1)\n    self.fail()\nexcept KeyError:\n    pass\nexcept TypeError:\n    pass",
        "try:\n    f(1)\nexcept KeyError:\n    pass",
        "try:\n    f(1)\n    self.fail()\nexcept KeyError:\n    pass\nfinally:\n    g(1)",
        "try:\n    f(1)\n    self.fail()\nexcept:\n    pass",
    ],
)
def test_a_handler_that_is_for_more_stays(text):
    assert "__goldseam__" not in stripped(function(text))


def test_what_a_handler_only_says_more_about_is_taken_out():
    head, tail = "made = f(1)\ntry:\n", "except AssertionError:\n    print(made)\n    raise\n"
    text = f"{head}    assert made == 3\n{tail}"
    after = f"{head}{textwrap.indent(handed('made'), '    ')}{tail}"
    assert same(stripped(function(text)), function(after))
    assert "__goldseam__" not in stripped(function(text.replace("    raise\n", "")))
