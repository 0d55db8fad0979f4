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
