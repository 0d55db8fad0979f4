"""Each operator on the host decides as Python does, and no value made for it satisfies one."""

from __future__ import annotations

import contextlib
import decimal
import doctest
import io
import operator
import random
import re
import threading
import time
import unittest
import warnings
from collections import OrderedDict
from decimal import Decimal
from fractions import Fraction
from unittest import mock

import pytest

from harness.core.expectations import OPERATORS, Site
from harness.judging import search
from harness.judging.operators import holds
from harness.judging.values import Pattern, decode, names_of
from tests.values_of_tests import LEAVES, encode, exception, random_value

CASE = unittest.TestCase()
OUT_KEPT = ("out", "kept")
OPAQUE = ["o", "m.C", [], None]


def decided(op: str, out: object, kept: object, **options) -> bool:
    """What the host makes of one value that came out and one that was kept, both encoded."""
    site = Site(op=op, sides=OUT_KEPT, options=options)
    return holds(site, [decode(out)], [decode(kept, kept=True)])


def as_in_python(decide, *operands) -> bool:
    try:
        with warnings.catch_warnings(action="ignore"):
            return bool(decide(*operands))
    except Exception:  # noqa: BLE001 - whatever Python raises
        return False


def passes(assertion, *operands, **options) -> bool:
    try:
        assertion(*operands, **options)
    except Exception:  # noqa: BLE001 - whatever Python raises
        return False
    return True


PYTHONS = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "in": lambda one, other: one in other,
    "not_in": lambda one, other: one not in other,
    "startswith": lambda one, other: one.startswith(other),
    "endswith": lambda one, other: one.endswith(other),
    "almost": lambda one, other: passes(CASE.assertAlmostEqual, one, other),
    "not_almost": lambda one, other: passes(CASE.assertNotAlmostEqual, one, other),
    "count_equal": lambda one, other: passes(CASE.assertCountEqual, one, other),
}


ORDERS = [kind(items) for kind in (OrderedDict, dict) for items in ([(1, 2), (3, 4)], [(3, 4), (1, 2)])]


@pytest.mark.parametrize("op", ["==", "!="])
@pytest.mark.parametrize("wanted", ORDERS)
@pytest.mark.parametrize("given", ORDERS)
def test_the_order_counts_between_two_dictionaries_that_have_one(op, given, wanted):
    assert decided(op, encode([given]), encode([wanted])) is PYTHONS[op]([given], [wanted])


@pytest.mark.parametrize("op", PYTHONS)
def test_an_operator_decides_random_values_as_python_does(op):
    rng = random.Random(op)
    for _ in range(1500):
        one = random_value(rng)
        other = rng.choice([one, [one], {one: 1} if isinstance(one, str) else (one,), random_value(rng)])
        if "<class" in repr((one, other)) or (op == "count_equal" and "/8" in repr((one, other))):
            continue  # a class is not there as itself, and Python would go through all of a network
        other = decode(encode(other))
        assert decided(op, encode(one), encode(other)) is as_in_python(PYTHONS[op], decode(encode(one)), other), (
            one,
            other,
        )


@pytest.mark.parametrize("op", PYTHONS)
def test_an_operator_decides_every_pair_of_leaves_as_python_does(op):
    leaves = [leaf for leaf in LEAVES if not isinstance(leaf, type) and not (op == "count_equal" and "/8" in str(leaf))]
    ones, others = ([(told, decode(told)) for told in map(encode, leaves)] for _ in range(2))
    for out, one in ones:
        for kept, other in others:
            assert decided(op, out, kept) is as_in_python(PYTHONS[op], one, other), (one, other)


def test_truth_is_pythons():
    for value in LEAVES:
        expected = True if value is NotImplemented else bool(value)
        assert holds(Site(op="truth", sides=("out",)), [decode(encode(value))], []) is expected, value
        assert holds(Site(op="not", sides=("out",)), [decode(encode(value))], []) is not expected, value


RED, BLUE = (["o", "m.Color", None, [["s", name]]] for name in ("RED", "BLUE"))
POINT = ["o", "m.Point", [["x", ["i", "1"]]], []]
MOVED = ["o", "m.inner.Point", [["x", ["i", "1"]], ["more", None]], []]
NAMED = {count: ["o", "m.Color", None, [["s", name] for name in ("PINK", "RED", "BLUE")[:count]]] for count in (2, 3)}


@pytest.mark.parametrize(
    ("op", "out", "kept", "holds"),
    [
        ("is", RED, RED, True),
        ("is", RED, BLUE, False),
        ("is", POINT, POINT, False),
        ("is_not", RED, BLUE, False),
        ("==", POINT, POINT, True),
        ("!=", RED, BLUE, False),
        ("in", RED, ["l", [BLUE, RED]], True),
        ("<", RED, BLUE, False),
        ("==", MOVED, POINT, True),
        ("==", POINT, MOVED, False),
        ("==", ["S", [MOVED]], ["S", [POINT]], True),
        ("==", ["o", "m.Pointed", [["x", ["i", "1"]]], []], POINT, False),
        ("is", NAMED[2], RED, True),
        ("is", NAMED[2], BLUE, False),
        ("is", NAMED[3], RED, False),
        ("==", POINT, RED, False),
        ("==", RED, POINT, False),
    ],
)
def test_constants_and_objects_of_fields_are_decided_as_far_as_they_are_told(op, out, kept, holds):
    assert decided(op, out, kept) is holds


def test_an_object_without_a_plain_form_satisfies_nothing():
    for op in sorted(OPERATORS - {"==", "is_not", "no_raise", "calls", "chain"}):
        for kept in (None, encode(1), encode("a"), encode([]), encode(int), encode((int, str))):
            assert not decided(op, OPAQUE, kept), (op, kept)
            assert not decided(op, ["x", "too deep"], kept), (op, kept)


@pytest.mark.parametrize("op", ["!=", "not_in", "not_almost", "not_isinstance"])
def test_an_object_within_a_value_denies_nothing(op):
    assert not decided(op, ["l", [OPAQUE]], encode([1]))
    assert not decided(op, ["d", [[encode(1), OPAQUE]]], encode([1]))


@pytest.mark.parametrize(
    ("op", "out", "kept"),
    [
        pytest.param("==", ["any"], encode(1), id="ANY from inside"),
        pytest.param("==", ["approx", encode(0), "inf", "inf", True], encode(1), id="approx from inside"),
        pytest.param("regex", ["re", encode(""), 0], encode("a"), id="an expression from inside"),
    ],
)
def test_a_comparator_from_inside_is_no_value(op, out, kept):
    with pytest.raises(ValueError, match="no such kind"):
        decided(op, out, kept)


def test_nan_equals_nothing():
    nan = encode(float("nan"))
    assert not decided("==", nan, nan)
    assert not decided("==", ["l", [nan]], ["l", [nan]])
    assert decided("!=", nan, nan)


def test_bool_and_int_are_as_in_python():
    assert decided("==", encode(True), encode(1))
    assert not decided("is", encode(1), encode(True))


@pytest.mark.parametrize(
    ("out", "kept", "same", "different"),
    [
        (encode(None), encode(None), True, False),
        (encode(0), encode(None), False, True),
        (OPAQUE, encode(None), False, True),
        (encode(int), encode(int), True, False),
        (encode(int), encode(bool), False, True),
        (encode(7), encode(7), False, False),
        (encode([]), encode([]), False, False),
        (OPAQUE, encode(int), False, False),
    ],
)
def test_identity_is_decided_where_it_can_be_told_from_outside(out, kept, same, different):
    assert decided("is", out, kept) is same
    assert decided("is_not", out, kept) is different


@pytest.mark.parametrize("item", [0, 3, 6, True, 6.0, 6.5, 6 + 0j, 6j, Decimal(6), Fraction(6), "6", None])
def test_membership_in_a_range_is_pythons_without_going_through_it(item):
    assert decided("in", encode(item), encode(range(0, 9, 3))) is (item in range(0, 9, 3))
    began = time.process_time()
    decided("in", encode(item), encode(range(10**18)))
    assert time.process_time() - began < 1


def test_a_chain_holds_where_each_of_its_comparisons_does():
    site = Site(op="chain", sides=("kept", "out", "kept"), options={"ops": ["<", "<="]})
    assert holds(site, [2], [1, 2])
    assert not holds(site, [1], [1, 2])
    assert not holds(site, [], [1, 2])


@pytest.mark.parametrize(
    ("options", "apart", "expected"),
    [
        ({"places": 1}, 0.04, True),
        ({"places": 1}, 0.06, False),
        ({"places": 0}, 0.4, True),
        ({"delta": encode(0.5)}, 0.5, True),
        ({"delta": encode(0.5)}, 0.6, False),
        ({}, 1e-8, True),
        ({}, 1e-6, False),
    ],
)
def test_nearness_is_unittests(options, apart, expected):
    assert decided("almost", encode(apart), encode(0), **options) is expected
    assert decided("not_almost", encode(apart), encode(0), **options) is not expected


NUMBERS = [leaf for leaf in LEAVES if isinstance(leaf, int | float | complex | Decimal | Fraction)]


@pytest.mark.parametrize("options", [{}, {"rel": 0.5}, {"abs": 0.5}, {"rel": 0.1, "abs": 1.0}, {"nan_ok": True}])
@pytest.mark.parametrize("around", [lambda one: one, lambda one: [one], lambda one: {"a": one}])
@pytest.mark.filterwarnings("ignore")
def test_an_approximation_is_pytests(options, around):
    rel, absolute = (None if name not in options else options[name].hex() for name in ("rel", "abs"))
    numbers = [around(actual) for actual in (*NUMBERS, "1", None, 1.3, 0.1 + 1e-9, Decimal("1.3"))]
    given = list(zip(numbers, map(encode, numbers), strict=True))
    for expected in map(around, NUMBERS):
        kept = ["approx", encode(expected), rel, absolute, options.get("nan_ok", False)]
        oracle = pytest.approx(expected, **options)
        for actual, out in given:
            assert decided("==", out, kept) is as_in_python(operator.eq, actual, oracle), (actual, expected)


def test_what_equals_anything_does_so_at_its_place():
    assert decided("==", encode([1, 5]), ["l", [encode(1), ["any"]]])
    assert decided("==", ["l", [encode(1), OPAQUE]], ["l", [encode(1), ["any"]]])
    assert not decided("==", encode([2, 5]), ["l", [encode(1), ["any"]]])


@pytest.mark.parametrize(
    ("out", "kept", "expected"),
    [
        (encode("abc"), encode("b"), True),
        (encode("abc"), encode("^b"), False),
        (encode("abc"), ["re", encode("B"), int(re.IGNORECASE)], True),
        (encode(b"abc\xff"), encode(b"c\xff"), True),
        (encode(b"abc"), encode("b"), None),
        (encode(1), encode("b"), None),
        (encode("abc"), encode("("), None),
    ],
)
def test_a_search_is_pythons(out, kept, expected):
    assert decided("regex", out, kept) is (expected is True)
    assert decided("not_regex", out, kept) is (expected is False)


def test_a_search_that_would_take_forever_does_not_hold_from_any_thread():
    found = []
    thread = threading.Thread(target=lambda: found.append(decided("regex", encode("a" * 60 + "!"), encode("(a+)+$"))))
    thread.start()
    thread.join(60)

    assert found == [False]
    assert decided("regex", encode("a"), encode("a"))


def test_a_text_too_long_to_be_searched_in_is_refused():
    with pytest.raises(search.SearchError):
        search.matches(Pattern(pattern="a"), "a" * (search.MAX_TEXT + 1))


@pytest.mark.parametrize(
    "kind", [bool, int, float, complex, str, bytes, list, dict, type(None), Decimal, Fraction, object, range]
)
def test_instances_of_standard_classes_are_told_as_python_does(kind):
    kept = ["n", "type", f"{kind.__module__}.{kind.__qualname__}", *names_of(kind)]
    for value in (leaf for leaf in LEAVES if not isinstance(leaf, type)):
        assert decided("isinstance", encode(value), kept) is isinstance(value, kind), value
        assert decided("not_isinstance", encode(value), kept) is not isinstance(value, kind), value


def test_a_plain_value_tells_nothing_of_a_class_of_the_product():
    kept = ["n", "type", "m.Text", "m.Text", "builtins.str"]
    assert not decided("isinstance", encode("a"), kept)
    assert not decided("not_isinstance", encode("a"), kept)


def test_one_of_several_classes_is_enough_to_be_an_instance():
    assert decided("isinstance", encode("a"), encode((int, (str, bytes))))
    assert not decided("not_isinstance", encode("a"), encode((int, (str, bytes))))


class OursError(KeyError):
    """An exception as products have it."""


@pytest.mark.parametrize(
    ("raised", "expected", "holding"),
    [
        (exception(ValueError("a")), encode(ValueError), True),
        (exception(UnicodeDecodeError("utf-8", b"", 0, 1, "")), encode(ValueError), True),
        (exception(OursError("a")), encode(LookupError), True),
        (exception(OursError("a")), encode(OursError), True),
        (exception(KeyError("a")), encode(OursError), False),
        (exception(KeyError("a")), encode((ValueError, KeyError)), True),
        (exception(KeyError("a")), encode(ValueError), False),
        (["x", "too large"], encode(ValueError), False),
        (exception(ValueError("a")), encode("builtins.ValueError"), False),
    ],
)
def test_an_exception_is_of_the_class_asked_for(raised, expected, holding):
    assert decided("raises", raised, expected) is holding


@pytest.mark.parametrize(
    "names",
    [
        pytest.param(
            ["m.Every", *dict.fromkeys(name for kind in (KeyError, ValueError, OSError) for name in names_of(kind))],
            id="every base",
        ),
        pytest.param(["builtins.ValueError"], id="no bases"),
        pytest.param(["builtins.ValueError", "builtins.KeyError", *names_of(KeyError)[1:]], id="two at once"),
        pytest.param(
            ["m.E", "builtins.Exception", "builtins.ValueError", "builtins.BaseException"], id="another order"
        ),
        pytest.param(["builtins.ValueError", "builtins.NoSuchError"], id="an unknown one"),
        pytest.param(["builtins.ValueError", *names_of(ValueError)], id="one twice"),
        pytest.param(["builtins.dict"], id="no exception"),
    ],
)
def test_an_exception_that_claims_to_be_many_is_none(names):
    assert not decided("raises", ["e", names, "", [], []], encode((ValueError, KeyError, OSError)))


def test_a_class_of_the_product_has_to_have_the_standard_base_it_had():
    kept = ["n", "type", "m.E", "m.E", *names_of(KeyError)]
    assert decided("raises", ["e", ["m.E", *names_of(KeyError)], "", [], []], kept)
    assert not decided("raises", ["e", ["m.E", *names_of(OSError)], "", [], []], kept)


def test_a_class_of_the_product_may_lie_in_another_module_and_have_another_base_more():
    kept = ["n", "type", "m.errors.E", "m.errors.E", *names_of(ValueError)]
    moved = ["m.impl.E", "m.impl.Base", *names_of(ValueError)]
    assert decided("raises", ["e", moved, "", [], []], kept)
    assert decided("isinstance", ["e", moved, "", [], []], kept)
    assert decided("is", ["n", "type", "m.impl.E", *moved], kept)
    assert not decided("raises", ["e", ["m.impl.F", *moved[1:]], "", [], []], kept)
    assert not decided("raises", ["e", ["m.E", *names_of(OSError)], "", [], []], kept)
    assert not decided("raises", ["e", ["m.ValueError"], "", [], []], encode(ValueError))
    assert not decided("is", ["n", "type", "m.int", "m.int"], encode(int))


def test_a_class_that_is_of_two_standard_ones_is_asked_for_by_its_name():
    names = ["m.E", *names_of(KeyError)[:2], *names_of(AttributeError)]
    kept = ["n", "type", "m.E", *names]
    assert decided("raises", ["e", names, "", [], []], kept)
    assert not decided("raises", ["e", names, "", [], []], encode(KeyError))
    assert not decided("raises", ["e", [*names, "builtins.OSError"], "", [], []], kept)


def test_an_exceptions_text_is_searched_in():
    assert decided("raises", exception(ValueError("no such thing")), encode(ValueError), match=encode("such"))
    assert not decided("raises", exception(ValueError("no such thing")), encode(ValueError), match=encode("^such"))


def test_one_of_the_warnings_has_to_match():
    caught = ["l", [exception(UserWarning("a")), exception(DeprecationWarning("b"))]]
    assert decided("warns", caught, encode(DeprecationWarning), match=encode("b"))
    assert not decided("warns", caught, encode(UserWarning), match=encode("b"))
    assert not decided("warns", exception(UserWarning("a")), encode(UserWarning))


CALLS = (mock.call(1), mock.call(2, a=3), mock.call(1))
HOW = {
    "called_with": "assert_called_with",
    "called_once_with": "assert_called_once_with",
    "any_call": "assert_any_call",
    "has_calls": "assert_has_calls",
    "has_calls_any_order": "assert_has_calls",
    "called": "assert_called",
    "called_once": "assert_called_once",
    "not_called": "assert_not_called",
}


def call_as_value(call) -> tuple:
    name, args, kwargs = call
    return (name, args, dict(kwargs))


@pytest.mark.parametrize("how", HOW)
def test_calls_of_a_mock_are_judged_as_it_does(how):
    for made in ((), CALLS[:1], CALLS[1:], CALLS, CALLS[:1] * 2):
        for expected in (CALLS[:1], CALLS[1:], CALLS[1:2], (mock.call(2),), CALLS[::-1]):
            assert_judged_as_a_mock_does(how, made, expected)


def assert_judged_as_a_mock_does(how, made, expected):
    thing = mock.Mock()
    for call in made:
        thing(*call.args, **call.kwargs)
    check = getattr(thing, HOW[how])
    if how.startswith("has_calls"):
        oracle = passes(check, list(expected), any_order=how.endswith("any_order"))
    elif how in ("called", "called_once", "not_called"):
        expected, oracle = (), passes(check)
    else:
        expected, oracle = expected[:1], passes(check, *expected[0].args, **expected[0].kwargs)
    site = Site(op="calls", sides=("out", *("kept" for _ in expected)), options={"how": how})
    out = [decode(encode([call_as_value(call) for call in made]))]
    kept = [decode(encode(call_as_value(call))) for call in expected]
    assert holds(site, out, kept) is oracle, (made, expected)


@pytest.mark.parametrize("wanted", ORDERS)
@pytest.mark.parametrize("given", ORDERS)
def test_the_order_counts_within_items_that_are_counted(given, wanted):
    counted = PYTHONS["count_equal"]([given, 3], [3, wanted])
    assert decided("count_equal", encode([given, 3]), encode([3, wanted])) is counted


def test_an_object_that_equals_a_plain_value_does_nothing_else():
    text, number = (["o", "m.C", None, None, None, form] for form in (["s", "abc"], ["i", "3"]))
    assert decided("==", text, ["s", "abc"])
    assert decided("!=", text, ["s", "abd"])
    assert decided("==", ["l", [text]], ["l", [["s", "abc"]]])
    assert decided("in", number, ["t", [["i", "2"], ["i", "3"]]])
    assert decided("not_in", number, ["t", [["i", "2"]]])
    assert decided("==", number, ["approx", ["i", "3"], None, None, False])
    assert not any(decided(op, text, ["s", "a"]) for op in ("startswith", "regex", "<", ">", "isinstance", "is"))
    assert not any(decided(op, number, ["i", "4"]) for op in ("<", ">", "is_not"))
    assert not decided("almost", number, ["f", float.hex(3.00000001)])


def test_counting_items_that_have_no_hash_takes_no_longer_for_many():
    many = [{"a": [number]} for number in range(5000)]
    began = time.process_time()

    assert decided("count_equal", encode(many), encode(many[::-1]))
    assert not decided("count_equal", encode(many[1:] + many[:1]), encode(many[1:]))
    assert time.process_time() - began < 20


def test_counting_items_whose_hashes_were_chosen_to_clash_is_refused_at_once():
    clash = [number * (2**61 - 1) for number in range(20_000)]
    began = time.process_time()

    assert not decided("count_equal", encode(clash), encode(clash))
    assert time.process_time() - began < 5


def test_comparing_what_is_nested_as_deep_as_may_be_is_quick():
    deep: object = frozenset({1})
    for number in range(60):
        deep = frozenset({deep, number})
    assert decided("==", encode(deep), encode(deep))


def test_an_operator_never_raises_whatever_it_is_given():
    for op in sorted(OPERATORS):
        rng = random.Random(op)
        for _ in range(300):
            operands = [random_value(rng) for _ in range(rng.randrange(4))]
            sides = tuple(rng.choice(["out", "kept"]) for _ in range(rng.randrange(4)))
            options = {
                name: rng.choice([None, 1, [], "a", encode(1)]) for name in ("match", "delta", "places", "how", "ops")
            }
            site = Site(op=op, sides=sides, options=options)
            try:
                assert holds(site, operands, operands) in (True, False)
            except Exception as error:
                raise AssertionError(site, operands) from error


EXAMPLES = {
    "3": "3\n",
    "{'b': 1, 'a': 2}": "{'a': 2, 'b': 1}\n",
    "print('a  b')": "a b\n",
    "print('a\\n\\nb')": "a\n<BLANKLINE>\nb\n",
    "print('a and b and c')": "a...c\n",
    "True": "1\n",
    "None": "None\n",
    "1 // 0": "Traceback (most recent call last):\n  ...\nZeroDivisionError: division by zero\n",
    "raise ValueError('no\\nmore')": "Traceback (most recent call last):\n  ...\nValueError: no\n    more\n",
    "raise decimal.Inexact": "Traceback (most recent call last):\n  ...\ndecimal.Inexact\n",
    "raise decimal.Inexact(2)": "Traceback (most recent call last):\n  ...\nInexact: 1\n",
    "raise KeyError('a')": "Traceback (most recent call last):\n  ...\nLookupError: 'a'\n",
}
"""Code, and what it is said to print."""
FLAGS = ("ELLIPSIS", "NORMALIZE_WHITESPACE", "IGNORE_EXCEPTION_DETAIL", "DONT_ACCEPT_TRUE_FOR_1")


@pytest.mark.parametrize("flags", [(), *((flag,) for flag in FLAGS), FLAGS])
@pytest.mark.parametrize("code", EXAMPLES)
def test_an_example_is_judged_as_doctest_does(code, flags):
    shown, error = io.StringIO(), None
    with contextlib.redirect_stdout(shown):
        try:
            exec(compile(code, "d", "single"), {"decimal": decimal})
        except Exception as raised:  # noqa: BLE001
            error = exception(raised)
    printed = decode(["t", [encode(shown.getvalue()), error]])
    site = Site(op="doctest", sides=("kept", "out"), options={"flags": encode(list(flags))})
    options = sum(getattr(doctest, flag) for flag in flags)
    for said in EXAMPLES.values():
        example = doctest.Example(code, said, exc_msg=doctest.DocTestParser().parse(f">>> 1\n{said}")[1].exc_msg)
        test = doctest.DocTest([example], {"decimal": decimal}, "d", "d", 0, "")
        right = doctest.DocTestRunner(optionflags=options).run(test, out=lambda _: None).failed == 0
        assert holds(site, [printed], [(example.want, example.exc_msg)]) is right, said


def test_numbers_that_pytest_compares_within_a_precision_are_not_judged_here():
    site = Site(op="doctest", sides=("kept", "out"), options={"flags": encode(["NUMBER"])})
    assert not holds(site, [("3.0\n", None)], [("3.0\n", None)])
