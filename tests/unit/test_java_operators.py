"""How the host reads values of Java and decides its assertions."""

from __future__ import annotations

import functools
import itertools
import time
from typing import Any

import pytest

from harness.core.expectations import OPERATORS, Expected, Site
from harness.judging import judge, operators, values
from harness.judging.java.operators import OPERATORS as OF_JAVA
from harness.judging.values import Event, MalformedError


def value(part: Any, *, primitive: bool = False) -> list[Any]:
    return ["java", primitive, part]


def i(number: int, kind: str = "Integer") -> list[Any]:
    return value(["i", kind, str(number)], primitive=True)


def boxed(number: int, kind: str = "Integer") -> list[Any]:
    return value(["i", kind, str(number)])


def d(text: str, kind: str = "Double") -> list[Any]:
    return value(["f", kind, text], primitive=True)


def s(text: str) -> list[Any]:
    return value(["s", text])


def many(tag: str, *items: Any) -> list[Any]:
    return value([tag, [item[2] for item in items]])


NULL = value(None)
MAP = value(["m", [[["s", "k"], ["s", "v"]]]])
ALIKE = {"op": "java.equals", "count": 1, "options": {}}
TRUE = value(["b", True], primitive=True)
BOXES = value(["a", "java.lang.Integer", [["i", "Integer", "1"], ["i", "Integer", "2"]]])
INTS = value(["a", "int", [["i", "Integer", "1"], ["i", "Integer", "2"]]])
OPAQUE = value(["x", "money.Price"])
RED, BLUE = value(["e", "money.Colour", "RED"]), value(["e", "money.Colour", "BLUE"])
BASES = ["java.lang.RuntimeException", "java.lang.Exception", "java.lang.Throwable"]
ERROR = value(["E", ["java.lang.IllegalArgumentException", *BASES], "no such price"])
KIND, BASE = (value(["K", f"java.lang.{name}"]) for name in ("IllegalArgumentException", "RuntimeException"))
OF_KIND = {"op": "java.kind", "count": 1, "options": {}}
MESSAGE = {"op": "java.message", "count": 1, "options": {"by": "contains"}}


def holds(op: str, *operands: Any, **options: Any) -> bool:
    decoded = [values.decode(operand) for operand in operands]
    return operators.holds(Site(op=op, sides=("out",) * len(operands), options=options), decoded, [])


def test_each_operator_has_a_name_that_a_file_of_expectations_may_hold():
    assert {name for name in OPERATORS if name.startswith("java.")} == set(OF_JAVA)


@pytest.mark.parametrize(
    ("op", "operands", "options", "wanted"),
    [
        ("java.equals", (i(3), i(3, "Long")), {}, True),
        ("java.equals", (i(97), value(["c", "Character", "97"], primitive=True)), {}, True),
        ("java.equals", (boxed(3), boxed(3, "Long")), {}, False),
        ("java.equals", (i(3), boxed(3, "Long")), {"boxed": True}, False),
        ("java.equals", (boxed(3), boxed(3, "Long")), {"integral": True}, True),
        ("java.equals", (d("NaN"), d("NaN")), {}, True),
        ("java.equals", (d("0.0"), d("-0.0")), {}, False),
        ("java.equals", (d("0.1", "Float"), d("0.1")), {}, False),
        ("java.equals", (s("a"), s("a")), {}, True),
        ("java.equals", (s("a"), NULL), {}, False),
        ("java.equals", (NULL, NULL), {}, True),
        ("java.equals", (RED, RED), {}, True),
        ("java.equals", (RED, BLUE), {"not": True}, True),
        ("java.equals", (many("l", i(1), i(2)), many("l", i(1), i(2))), {}, True),
        ("java.equals", (many("l", i(1), i(2)), many("l", i(2), i(1))), {}, False),
        ("java.equals", (many("t", i(1), i(2)), many("t", i(2), i(1))), {}, True),
        ("java.equals", (many("l", i(1)), many("t", i(1))), {}, False),
        ("java.equals", (OPAQUE, OPAQUE), {}, False),
        ("java.equals", (OPAQUE, s("a")), {"not": True}, False),
        ("java.equals", (INTS, INTS), {}, False),
        ("java.equals", (INTS, INTS), {"arrays": True}, True),
        ("java.equals", (INTS, BOXES), {"arrays": True}, True),
        ("java.equals", (INTS, BOXES), {"arrays": True, "typed": True}, False),
        ("java.equals", (NULL, s("a")), {"called": True, "not": True}, False),
        ("java.equals", (value(["n", "java.math.BigDecimal", "1.0"]), value(["n", "java.math.BigDecimal", "1.00"])),
         {}, False),
        ("java.equals", (value(["O", [["s", "a"]]]), value(["O", [["s", "a"]]])), {}, True),
        ("java.same", (d("0.0"), d("-0.0")), {}, True),
        ("java.same", (d("NaN"), d("NaN")), {}, False),
        ("java.same", (RED, RED), {}, True),
        ("java.same", (s("a"), s("a")), {}, False),
        ("java.same", (s("a"), NULL), {"not": True}, True),
        ("java.near", (d("1.0"), d("1.05"), d("0.1")), {}, True),
        ("java.near", (d("1.0"), d("1.2"), d("0.1")), {}, False),
        ("java.near", (d("NaN"), d("NaN"), d("0.1")), {}, True),
        ("java.arrays", (INTS, INTS), {}, True),
        ("java.items", (many("l", s("a")), many("q", s("a"))), {}, True),
        ("java.items", (many("l", s("a"), s("b")), s("b"), s("a")), {"each": True, "sorted": True}, True),
        ("java.truth", (TRUE,), {}, True),
        ("java.truth", (NULL,), {"not": True}, False),
        ("java.null", (OPAQUE,), {"not": True}, True),
        ("java.contains", (s("abc"), s("b")), {}, True),
        ("java.contains", (many("l", s("abc")), s("b")), {}, False),
        ("java.starts", (s("abc"), s("a")), {}, True),
        ("java.size", (s("\U0001f600"), i(2)), {}, True),
        ("java.empty", (many("l"),), {}, True),
        ("java.<", (i(3), d("3.5")), {}, True),
        ("java.>=", (d("NaN"), i(1)), {}, False),
        ("java.contains", (many("l", s("a")), many("l", s("a"), s("b"))), {"of": True}, False),
        ("java.contains", (many("l", s("a"), s("b")), s("a"), s("a")), {"times": True}, False),
        ("java.contains", (many("l", s("a"), s("a")), many("l", s("a"), s("a"))), {"times": True, "of": True}, True),
        ("java.contains", (many("l", s("a")), s("a"), s("b")), {"any": True}, True),
        ("java.contains", (many("l", s("a")), s("a"), s("b")), {"any": True, "not": True}, False),
        ("java.contains", (MAP, s("v")), {"values": True}, True),
        ("java.contains", (MAP, s("k")), {"keys": True}, True),
        ("java.contains", (s("a key"), s("key")), {"keys": True}, False),
        ("java.contains", (s("a key"), s("value")), {"keys": True, "not": True}, False),
        ("java.entry", (MAP, s("k"), s("v")), {}, True),
        ("java.entry", (MAP, s("v"), s("k")), {}, False),
        ("java.entry", (OPAQUE, s("k"), s("v")), {}, False),
        ("java.among", (s("a"), s("b"), s("a")), {}, True),
        ("java.among", (s("a"), many("l", s("b"))), {"of": True, "not": True}, True),
        ("java.among", (OPAQUE, s("a")), {"not": True}, False),
        ("java.number", (d("NaN"),), {"is": "nan"}, True),
        ("java.number", (d("-0.0"),), {"is": "zero"}, True),
        ("java.number", (value(["n", "java.math.BigDecimal", "1.00"]),), {"is": "one"}, True),
        ("java.number", (value(["n", "java.math.BigDecimal", "sNaN"]),), {"is": "one", "not": True}, False),
        ("java.number", (d("Infinity"),), {"is": "finite"}, False),
        ("java.number", (s("1"),), {"is": "one"}, False),
        ("java.matches", (s("aab"), s("a+b")), {}, True),
        ("java.matches", (s("aabc"), s("a+b")), {}, False),
        ("java.matches", (s("aab\n"), s("a+b")), {}, False),
        ("java.matches", (s("xaabc"), s("a+b")), {"part": True}, True),
        ("java.matches", (s("a\u0660"), s("a\\d")), {}, False),
        ("java.matches", (s("AB"), s("(?i)ab")), {}, True),
        ("java.matches", (s("a b"), s("a\\hb")), {}, False),
        ("java.matches", (s("a"), s("[a&&[b]]")), {"not": True}, False),
        ("java.matches", (NULL, s(".*")), {}, False),
        ("java.chain", (s("a"), s("b"), s("a")), {"any": True, "parts": [ALIKE, ALIKE]}, True),
        ("java.chain", (OPAQUE, s("b"), s("a")), {"any": True, "parts": [ALIKE, ALIKE]}, False),
        ("java.kind", (ERROR, BASE), {}, True),
        ("java.kind", (ERROR, BASE), {"exact": True}, False),
        ("java.message", (ERROR, s("no such price")), {"by": "equals"}, True),
        ("java.chain", (ERROR, KIND, s("such")), {"parts": [OF_KIND, MESSAGE]}, True),
        ("java.chain", (ERROR, KIND, s("other")), {"parts": [OF_KIND, MESSAGE]}, False),
    ],
)  # fmt: skip
def test_an_assertion_is_decided_as_java_does(op, operands, options, wanted):
    assert holds(op, *operands, **options) is wanted


def test_no_text_keeps_the_host_from_an_answer():
    assert not holds("java.matches", s("a" * 40 + "!"), s("(a+)+b"))


@pytest.mark.parametrize(
    "encoded",
    [
        ["java", True, ["s", "a"]],
        ["java", True, None],
        ["java", 1, None],
        ["java", False, ["f", "Double", "nan"]],
        ["java", False, ["i", "Integer", "1.5"]],
        ["java", False, ["c", "Character", "70000"]],
        ["java", False, ["l", [1]]],
        ["java", False, ["z", "a"]],
        ["l", [["java", False, None]]],
    ],
)
def test_what_is_of_no_form_is_refused(encoded):
    with pytest.raises(MalformedError):
        values.decode(encoded)


def test_a_raised_error_is_decided_by_its_classes():
    site = Site(op="java.raises", sides=("kept",), options={"parts": [OF_KIND]})
    expected = Expected(slot=0, kept=(KIND,), size=20, raises=True)

    def of(raised: Any) -> bool:
        return judge.event_holds(site, expected, Event(test_id="a", slot=0, n=0, values=(), raised=raised))

    assert of(ERROR)
    assert not of(None)
    assert not of(value(["E", BASES, "no such price"]))
    assert not of(["e", ["builtins.ValueError"], "", [], []])


@pytest.mark.parametrize(
    ("chain", "wanted"),
    [
        (["java.lang.IllegalArgumentException", *BASES], True),
        (["shop.Broken", "java.lang.NumberFormatException", "java.lang.IllegalArgumentException", *BASES], True),
        (["java.util.MissingFormatArgumentException", "java.util.IllegalFormatException",
          "java.lang.IllegalArgumentException", *BASES], True),
        (["java.lang.IllegalArgumentException", "java.lang.NullPointerException", *BASES], False),
        (["java.lang.IllegalArgumentException", "java.io.IOException", *BASES[1:]], False),
        (["java.lang.IllegalArgumentException", "java.x.A", "java.x.B", "java.x.C", *BASES], False),
        (["java.lang.IllegalArgumentException"], False),
    ],
)  # fmt: skip
def test_an_error_of_every_class_is_of_none(chain, wanted):
    error = value(["E", chain, ""])
    assert holds("java.kind", error, KIND) is wanted
    assert holds("java.kind", error, value(["K", "java.lang.Error"]), **{"not": True}) is wanted


@pytest.mark.parametrize(
    ("op", "kept", "wanted"), [("java.among", ["a", "b" * 500], True), ("java.contains", ["b"], False)]
)
def test_one_of_several_values_may_be_larger_than_the_one_that_the_fix_gives(op, kept, wanted):
    site = Site(op=op, sides=("out", *("kept" for _ in kept)), options={})
    expected = Expected(slot=0, kept=tuple(map(s, kept)), size=1, plain=True)
    assert judge.event_holds(site, expected, Event(test_id="t", slot=0, values=(s("b" * 500),))) is wanted


@functools.cache
def clashing() -> list[list[Any]]:
    rows = itertools.product(range(30), repeat=3)
    return [[i(1 + number * (2**61 - 1), "Long") for number in row] for row in rows]


@pytest.mark.parametrize(
    ("op", "tag", "options"),
    [
        ("java.equals", "t", {}),
        ("java.items", "l", {"sorted": True}),
        ("java.items", "l", {"only": True}),
        ("java.contains", "l", {"of": True}),
    ],
)
def test_values_whose_hashes_were_made_to_clash_are_refused_at_once(op, tag, options):
    rows = many(tag, *(many("l", *row) for row in clashing()[:20_000]))
    began = time.process_time()
    assert not holds(op, rows, rows, **options)
    assert time.process_time() - began < 10


def test_values_that_are_there_often_are_no_clash():
    assert holds("java.items", many("l", *[s("a")] * 100), many("l", *[s("a")] * 100), sorted=True)
    assert holds("java.contains", many("l", *[s("a")] * 100), s("a"))


IS_NOT = {"not": True}
RETRY = value(["K", "shop.Retry"])
STRINGS = value(["a", "java.lang.String", [["s", "a"], ["s", "b"]]])
NESTED = value(["a", "[I", [INTS[2]]])
LISTED = value(["l", [INTS[2]]])
HERE, THERE = (
    value(["n", "java.time.ZonedDateTime", text])
    for text in ("2020-01-01T10:00+01:00[Europe/Paris]", "2020-01-01T09:00Z")
)
DATE = value(["n", "java.time.LocalDate", "2020-01-02"])
ADDRESS = value(["n", "java.net.URI", "http://A@shop.example:80/%2F?Q"])
SAME_ADDRESS = value(["n", "java.net.URI", "HTTP://A@Shop.Example:80/%2f?Q"])


@pytest.mark.parametrize(
    ("op", "operands", "options", "wanted"),
    [
        ("java.>=", (d("-0.0"), d("0.0")), {"total": True}, False),
        ("java.>=", (d("-0.0"), d("0.0")), {}, True),
        ("java.<", (d("-0.0"), d("0.0")), {"total": True, "not": True}, False),
        ("java.>", (d("NaN"), d("1.0")), {"total": True, "not": True}, False),
        ("java.>", (d("2.0"), i(1)), {"total": True}, True),
        ("java.number", (d("NaN"),), {"is": "positive"}, True),
        ("java.number", (d("-0.0"),), {"is": "negative"}, True),
        ("java.number", (value(["f", "Double", "-0.0"]),), {"is": "zero"}, False),
        ("java.number", (value(["f", "Double", "-0.0"]),), {"is": "zero", "not": True}, False),
        ("java.equals", (d("-0.0"), d("0.0")), {"converts": True, "not": True}, False),
        ("java.equals", (d("NaN"), d("0.0")), {"converts": True, "not": True}, True),
        ("java.equals", (d("1.0"), i(1)), {"converts": True}, True),
        ("java.equals", (HERE, HERE), {"converts": True}, True),
        ("java.equals", (HERE, THERE), {"converts": True, "not": True}, False),
        ("java.equals", (HERE, THERE), IS_NOT, True),
        ("java.equals", (DATE, s("2020-01-02")), {"converts": True, "not": True}, False),
        ("java.among", (DATE, s("2020-01-01"), s("2020-01-02")), {"converts": True, "not": True}, False),
        ("java.among", (s("c"), STRINGS), {"converts": True, "of": True, "not": True}, True),
        ("java.contains", (many("l", s("a")), STRINGS), {"any": True, "spread": True, "not": True}, False),
        ("java.contains", (many("l", s("a"), s("b")), STRINGS), {"spread": True}, True),
        ("java.contains", (s("ab"), STRINGS), {"spread": True}, True),
        ("java.contains", (LISTED, INTS), {"spread": True}, True),
        ("java.items", (many("l", s("a"), s("b")), STRINGS), {"each": True, "spread": True}, True),
        ("java.items", (many("l", s("b"), s("a")), STRINGS), {"each": True, "sorted": True, "spread": True, **IS_NOT},
         False),
        ("java.among", (s("b"), STRINGS), {"spread": True, "not": True}, False),
        ("java.equals", (LISTED, LISTED), {"arrays": True}, False),
        ("java.equals", (NESTED, NESTED), {"arrays": True}, True),
        ("java.items", (LISTED, LISTED), {"flat": True}, False),
        ("java.items", (LISTED, LISTED), {}, True),
        ("java.arrays", (NESTED, NESTED), {"flat": True}, False),
        ("java.arrays", (INTS, INTS), {"flat": True}, True),
        ("java.arrays", (STRINGS, NULL), {"flat": True}, False),
        ("java.equals", (ADDRESS, SAME_ADDRESS), {}, True),
        ("java.equals", (ADDRESS, SAME_ADDRESS), IS_NOT, False),
        ("java.equals", (value(["n", "java.net.URI", "mailto:A@b"]), value(["n", "java.net.URI", "mailto:a@b"])), {},
         False),
        ("java.kind", (ERROR, RETRY), IS_NOT, False),
        ("java.kind", (ERROR, value(["K", "java.io.IOException"])), IS_NOT, True),
        ("java.same", (i(3), boxed(3, "Long")), {"boxed": True}, False),
        ("java.same", (i(3), boxed(3)), {"boxed": True}, False),
        ("java.same", (i(3), NULL), {"boxed": True, "not": True}, True),
    ],
)  # fmt: skip
def test_what_a_library_takes_for_equal_or_less_than_is_decided_as_it_does(op, operands, options, wanted):
    assert holds(op, *operands, **options) is wanted


def test_of_a_collection_with_an_order_of_its_own_the_contrary_is_not_told():
    ordered, pairs = value(["T", [["s", "a"]]]), value(["M", [[["s", "a"], ["s", "b"]]]])
    assert holds("java.equals", many("t", s("a")), ordered)
    assert holds("java.contains", ordered, s("a"))
    assert holds("java.entry", pairs, s("a"), s("b"))
    assert holds("java.size", ordered, i(2), **IS_NOT)
    assert holds("java.empty", pairs, **IS_NOT)
    for op, *operands in (("java.equals", ordered, many("t", s("A"))), ("java.contains", ordered, s("A"))):
        assert not holds(op, *operands, **IS_NOT)
    assert not holds("java.contains", pairs, s("A"), keys=True, **IS_NOT)
    assert not holds("java.entry", pairs, s("A"), s("b"), **IS_NOT)


def test_a_collection_that_tells_otherwise_than_what_is_in_it_counts_by_that_where_it_is_not_asked():
    odd = value(["w", ["l", [["s", "a"]]]])
    assert holds("java.equals", many("l", s("a")), odd)
    assert holds("java.items", odd, s("a"), each=True)
    assert not holds("java.equals", odd, many("l", s("a")))
    assert not holds("java.equals", odd, many("l", s("b")), **IS_NOT)
    assert not holds("java.contains", value(["w", ["T", [["s", "a"]]]]), s("a"))
    assert not holds("java.equals", MAP, value(["w", ["M", MAP[2][1]]]))
    with pytest.raises(MalformedError):
        values.decode(value(["w", ["s", "a"]]))


WIDENS = {"promotes": "widening"}
NOT = {"not": True}


@pytest.mark.parametrize(
    ("op", "operands", "options", "wanted"),
    [
        ("java.equals", (i(3), d("3.0")), {"promotes": "whole"}, False),
        ("java.equals", (i(3), boxed(3, "Long")), {"promotes": "whole"}, False),
        ("java.equals", (i(3), boxed(3)), {"promotes": "whole"}, True),
        ("java.equals", (i(3), i(3, "Long")), {"promotes": "whole"}, True),
        ("java.equals", (d("3.0"), d("3.0")), {"promotes": "whole"}, True),
        ("java.equals", (i(3, "Long"), i(3)), WIDENS, True),
        ("java.equals", (boxed(3, "Long"), i(3)), WIDENS, True),
        ("java.equals", (i(3), i(3, "Long")), WIDENS, True),
        ("java.equals", (i(3, "Short"), i(3)), WIDENS, False),
        ("java.equals", (boxed(3, "Short"), i(3)), WIDENS, False),
        ("java.equals", (d("0.5", "Float"), d("0.5")), WIDENS, False),
        ("java.equals", (value(["c", "Character", "97"], primitive=True), i(97)), WIDENS, False),
        ("java.equals", (i(97), value(["c", "Character", "97"], primitive=True)), WIDENS, True),
        ("java.>", (d("0.75", "Float"), d("0.5")), WIDENS, False),
        ("java.>", (d("0.75"), i(0)), WIDENS, True),
        ("java.>", (i(5, "Long"), i(3)), {"boxed": True, "total": True}, False),
        ("java.>", (i(5), i(3)), {"boxed": True, "total": True}, True),
        ("java.>", (i(5, "Long"), i(3)), {"total": True}, True),
        ("java.near", (d("0.75", "Float"), d("0.75"), d("0.1")), WIDENS, False),
        ("java.near", (d("0.75"), d("0.75"), d("0.1")), WIDENS, True),
        ("java.near", (d("0.75", "Float"), d("0.75"), d("0.1")), {}, True),
    ],
)
def test_numbers_are_compared_as_the_method_that_is_called_takes_them(op, operands, options, wanted):
    assert holds(op, *operands, **options) is wanted


def test_an_array_of_numbers_is_none_of_another_type_or_of_objects():
    for kind in ("long", "java.lang.Integer"):
        other = value(["a", kind, INTS[2][2]])
        assert not holds("java.arrays", INTS, other)
        assert not holds("java.arrays", INTS, other, flat=True)
    assert not holds("java.arrays", value(["a", "int", []]), value(["a", "long", []]))
    assert holds("java.arrays", value(["a", "java.lang.Object", []]), value(["a", "java.lang.String", []]))


def test_what_may_refuse_to_be_asked_for_null_is_not_decided():
    listed, both = many("l", s("a")), many("l", s("a"), NULL)
    assert not holds("java.contains", listed, NULL, called=True, **NOT)
    assert holds("java.contains", listed, NULL, **NOT)
    assert holds("java.contains", both, NULL, called=True)
    assert holds("java.contains", listed, s("b"), called=True, **NOT)


def test_a_set_or_map_that_has_one_thing_twice_equals_none_that_has_it_once():
    assert not holds("java.equals", many("t", s("a")), many("t", s("a"), s("a")))
    pair = [["s", "k"], ["s", "v"]]
    assert not holds("java.equals", MAP, value(["m", [pair, pair]]))


def test_what_tells_another_size_than_it_has_has_none_and_equals_nothing():
    listed = value(["w", ["q", [["s", "a"]]]])
    for negated in ({}, NOT):
        assert not holds("java.size", listed, i(1), **negated)
        assert not holds("java.empty", listed, **negated)
        assert not holds("java.equals", many("l", s("a")), listed, **negated)
    assert holds("java.items", listed, s("a"), each=True)
    assert holds("java.size", value(["w", ["l", [["s", "a"]]]]), i(1))


def test_a_matcher_of_hamcrest_takes_no_null():
    no_null: dict[str, Any] = {"null": False}
    assert holds("java.contains", NULL, s("a"), **no_null, **NOT)
    assert not holds("java.contains", NULL, s("a"), **no_null)
    assert not holds("java.contains", NULL, s("a"), **NOT)
    parts = [{"op": "java.null", "count": 0, "options": {}}, {"op": "java.contains", "count": 1, "options": no_null}]
    assert holds("java.chain", NULL, s("a"), parts=parts, any=True)
    assert not holds("java.chain", NULL, s("a"), parts=parts, any=True, **no_null)  # either, which takes none itself


def test_collections_in_others_hold_the_same_whatever_their_kind_where_the_library_asks_so():
    of_list, of_set, of_other = (many("l", many(tag, i(1), i(2))) for tag in "ltq")
    for other in (of_set, of_other, of_list):
        assert holds("java.items", of_list, other, flat=True)
        assert not holds("java.items", many("l", many("l", i(2), i(1))), other, flat=True)
    assert holds("java.items", many("l", many("t", i(2), i(1))), of_set, flat=True)
    assert not holds("java.items", of_list, of_set, sorted=True)


def test_a_primitive_value_beside_what_is_none_of_its_kind_is_not_decided():
    for other in (TRUE, s("a"), many("l", i(1)), OPAQUE):
        for negated in ({}, NOT):
            assert not holds("java.same", i(1), other, **negated)
            assert not holds("java.same", other, i(1), **negated)
    assert holds("java.same", TRUE, value(["b", True]))
    assert holds("java.same", i(1), value(["b", False]), boxed=True, **NOT) is False


def test_what_has_no_method_of_that_name_is_not_asked_for_it():
    for negated in ({}, NOT):
        assert not holds("java.equals", i(3), s("3"), boxed=True, called=True, **negated)
        assert not holds("java.equals", i(3), boxed(3), boxed=True, called=True, **negated)
        assert not holds("java.contains", BOXES, boxed(9), called=True, **negated)
        assert not holds("java.contains", value(["O", [["s", "a"]]]), s("b"), called=True, **negated)
    assert holds("java.equals", boxed(3), i(3), boxed=True, called=True)


def test_only_an_array_is_compared_as_one():
    for other in (many("l", i(1), i(2)), OPAQUE, i(1), s("a")):
        for negated in ({}, NOT):
            assert not holds("java.arrays", INTS, other, flat=True, **negated)
    assert holds("java.arrays", INTS, NULL, flat=True, **NOT)


@pytest.mark.parametrize(
    ("op", "operands", "takes", "wanted"),
    [
        ("java.size", (s("a"), i(1)), "ltTq", False),
        ("java.size", (many("t", s("a")), i(1)), "ltTq", True),
        ("java.contains", (BOXES, boxed(1)), "ltTq", False),
        ("java.items", (value(["O", [["s", "a"]]]), s("a")), "ltTqaB", False),
        ("java.items", (BOXES, boxed(1), boxed(2)), "ltTqaB", True),
        ("java.among", (NULL, NULL), "s", True),
    ],
)
def test_a_method_of_a_library_takes_the_kinds_that_it_is_there_for(op, operands, takes, wanted):
    assert holds(op, *operands, each=True, takes=takes) is wanted
    assert not holds(op, *operands, each=True, takes=takes, **NOT)


@pytest.mark.parametrize(
    ("text", "pattern", "wanted"),
    [
        ("b\na", "(?m)^a", False), ("b\na", "(?s)(?m)^a", False), ("a b", "(?x)a b", False), ("A", "(?i:a)", True),
        ("a\r\n", "\r$", False), ("a\r\n", "a$", True), ("a\n", "a$", True), ("ab", "(?>a)b", True),
    ],
)  # fmt: skip
def test_a_group_with_a_meaning_that_python_may_not_share_is_not_searched_for(text, pattern, wanted):
    assert holds("java.matches", s(text), s(pattern), part=True) is wanted
    if "(?" in pattern and not wanted:
        assert not holds("java.matches", s(text), s(pattern), part=True, **NOT)
