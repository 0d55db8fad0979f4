"""Twins and blind forms, as source: what changes, and what must not."""

from __future__ import annotations

import ast
import random

import pytest

from miner.twins import Site, SiteKind, TestSource

RNG_SEED = 7


def only_site(body: str, *, name: str = "test_it") -> tuple[TestSource, Site]:
    source = TestSource(f"def {name}(self=None):\n    {body}\n".encode())
    (site,) = source.sites((name,))
    return source, site


def twin_of(body: str) -> str:
    source, site = only_site(body)
    written = source.rewritten(turned=[site], wrapped=[site] if site.kind is SiteKind.EXPECT else [], rng=rng())
    return written.splitlines()[1].strip()


def rng() -> random.Random:
    return random.Random(RNG_SEED)


@pytest.mark.parametrize(
    "literal", ["3", "-7", "2.5", "'abc'", "b'abc'", "True", "[1, 2]", "(1, 'x')", "{'a': 1}", "{1, 2}", "''", "[]"]
)
def test_a_twin_expects_another_literal_of_the_same_form(literal):
    other = twin_of(f"assert value() == {literal}").removeprefix("assert value() == ")

    assert ast.literal_eval(other) != ast.literal_eval(literal)


def test_a_twin_of_a_literal_differs_in_the_literal_only():
    source, site = only_site("assert value(1, 'x') == 'expected text'")

    real = source.real().split("==")
    twin = source.rewritten(turned=[site], rng=rng()).split("==")

    assert real[0] == twin[0]
    assert real[1] != twin[1]


def test_constants_inside_of_calls_are_expectations_too():
    source, site = only_site("assert value() == [date(2024, 2, 29)]")

    assert site.kind is SiteKind.CONSTANT
    assert not site.blindable
    assert "date(" in source.rewritten(turned=[site], rng=rng())


def test_a_literal_on_the_left_is_the_expectation():
    source, site = only_site("assert 'abc' == value()")

    assert source.expected(site, "t") == "'abc'"


def test_a_computed_expectation_goes_through_the_runner_in_every_form():
    source, site = only_site("assert value() == expected")

    assert site.kind is SiteKind.EXPECT
    real = source.rewritten(wrapped=[site], rng=rng())
    assert real == source.rewritten(wrapped=[site], turned=[site], rng=rng())
    assert "value() == __goldseam_expect__(expected)" in real


@pytest.mark.parametrize(
    ("body", "twin"),
    [
        ("assert value()", "assert not value()"),
        ("assert not value()", "assert value()"),
        ("assert a < b", "assert a >= b"),
        ("assert a in b", "assert a not in b"),
        ("assert a is None", "assert a is not None"),
        ("self.assertTrue(a)", "self.assertFalse(a)"),
        ("self.assertIn(a, b)", "self.assertNotIn(a, b)"),
    ],
)
def test_other_assertions_become_their_opposite(body, twin):
    assert twin_of(body) == twin


def test_an_expected_error_becomes_one_that_nothing_raises():
    source = TestSource(b"def test_it():\n    with pytest.raises(ValueError):\n        call()\n")
    (site,) = source.sites(("test_it",))

    assert "pytest.raises(BufferError)" in source.rewritten(turned=[site], rng=rng())


def test_an_expected_message_becomes_another_one():
    source = TestSource(b"def test_it():\n    with pytest.raises(ValueError, match='too long'):\n        call()\n")
    (site,) = source.sites(("test_it",))

    assert site.kind is SiteKind.MATCH
    assert "too long" not in source.rewritten(turned=[site], rng=rng())


def test_a_blind_form_holds_no_expectation():
    source, site = only_site("assert value() == 'expected text', 'message'")

    written = source.rewritten(blind={site: 4}, rng=rng())

    assert "expected text" not in written
    assert "__goldseam_value__(4, value())" in written


def test_a_blind_unittest_assertion_hands_its_value_out():
    source, site = only_site("self.assertEqual(value(), [1, 2, 3])")

    assert "__goldseam_value__(0, value())" in source.rewritten(blind={site: 0}, rng=rng())


@pytest.mark.parametrize("literal", ["None", "True", "0", "''", "[]"])
def test_what_a_forger_would_guess_is_not_blind(literal):
    _, site = only_site(f"assert value() == {literal}")

    assert not site.blindable


def test_literals_come_before_opposites():
    source = TestSource(b"def test_it():\n    assert a\n    assert b == 3\n")

    assert [site.kind for site in source.sites(("test_it",))] == [SiteKind.CONSTANT, SiteKind.INVERT]


def test_methods_are_found_by_their_class():
    source = TestSource(b"class TestA:\n    def test_it(self):\n        assert a == 3\n")

    assert len(source.sites(("TestA", "test_it"))) == 1
    assert source.sites(("test_it",)) == ()


def test_every_form_is_python():
    source = TestSource(b"def test_it(x):\n    '''Doc.'''\n    # why\n    assert f(x) == 'a\\n\\u00e9'  # noqa\n")
    (site,) = source.sites(("test_it",))

    for written in (
        source.real(),
        source.rewritten(turned=[site], rng=rng()),
        source.rewritten(blind={site: 0}, rng=rng()),
    ):
        ast.parse(written)


TABLE = b"""\
@pytest.mark.parametrize("given, expected", [(1, "one"), pytest.param(2, "two", id="the second")])
def test_it(given, expected):
    assert name(given) == expected
"""


def test_a_tables_column_of_expectations_is_blind():
    source = TestSource(TABLE)
    (site,) = source.sites(("test_it",))

    written = source.rewritten(blind={site: 3}, rng=rng())

    assert "'one'" not in written
    assert "two" not in written
    assert "the second" not in written
    assert "(1, None)" in written
    assert "ids=['g0x0', 'g0x1']" in written
    assert "__goldseam_value__(3, name(given))" in written


def test_a_row_is_found_by_its_number():
    source = TestSource(TABLE)
    (site,) = source.sites(("test_it",))

    assert [source.expected(site, f"t.py::test_it[g0x{row}]") for row in (0, 1, 2)] == ["'one'", "'two'", None]


@pytest.mark.parametrize(
    "table",
    [
        TABLE.replace(b'"one"', b"one()"),
        TABLE.replace(b"== expected", b"== expected, expected"),
        TABLE.replace(b'"one"', b"True").replace(b'"two"', b"None"),
        TABLE.replace(b"[(1", b"[*more, (1"),
        TABLE.replace(b")])", b")], indirect=True)"),
    ],
)
def test_a_table_that_would_miss_its_literals_or_could_be_guessed_is_not_blind(table):
    (site,) = TestSource(table).sites(("test_it",))

    assert site.kind is SiteKind.EXPECT
    assert not site.blindable


def test_a_table_of_single_values_is_blind_too():
    source = TestSource(b"@pytest.mark.parametrize('x', ['a', 'b'])\ndef test_it(x):\n    assert f() == x\n")
    (site,) = source.sites(("test_it",))

    assert "[None, None], ids=['g0x0', 'g0x1']" in source.rewritten(blind={site: 0}, rng=rng())


def test_a_constant_handed_to_a_helper_is_an_expectation():
    source, site = only_site("check_keys(shelf, ['a', 'b'])")

    assert site.kind is SiteKind.ARGUMENT
    assert "['a', 'b']" not in source.rewritten(turned=[site], rng=rng())


def test_the_expectation_that_sees_the_bug_comes_first():
    source = TestSource(b"def test_it():\n\n\n    assert a == 3\n    assert not b\n")

    assert [site.kind for site in source.sites_at(("test_it",), {3})] == [SiteKind.INVERT, SiteKind.CONSTANT]
    assert [site.kind for site in source.sites_at(("test_it",), set())] == [SiteKind.CONSTANT, SiteKind.INVERT]
