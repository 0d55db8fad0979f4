"""How the host reads values of Go and decides its assertions."""

from __future__ import annotations

from typing import Any

import pytest

from harness.core.expectations import OPERATORS, Expected, Site
from harness.judging import judge, operators, values
from harness.judging.go.operators import OPERATORS as OF_GO
from harness.judging.values import Event, MalformedError


def value(part: Any, *, held: bool = False, text: str | None = None) -> list[Any]:
    return ["go", held, part, text]


def i(number: int, kind: str = "int", *, held: bool = False) -> list[Any]:
    return value(["i", kind, str(number)], held=held)


def s(text: str, kind: str = "string", *, held: bool = False) -> list[Any]:
    return value(["s", kind, text], held=held)


PARTS = [{"op": "go.==", "count": 2, "options": {"not": True}}, {"op": "go.==", "count": 2, "options": {}}]
NIL = value(None, held=True)
NONE = value(["n", "*money.Error"])
HALF = value(["f", "float64", "0.5"])
TINY = value(["f", "float64", "1e-09"])
INFINITE = value(["f", "float64", "+Inf"])
ERROR = value(
    ["p", "*errors.errorString", ["t", "errors.errorString", [["s", ["s", "string", "no"]]]]], held=True, text="no"
)
LIKE_EOF = value(
    ["p", "*errors.errorString", ["t", "errors.errorString", [["s", ["s", "string", "EOF"]]]]], held=True, text="EOF"
)
EOF = value([*LIKE_EOF[2], "io.EOF"], held=True, text="EOF")
SAYING = ["t", "money.Told", [["say", ["F", "func() string"]]]]
INTS = value(["l", "[]int", [["i", "int", "1"], ["i", "int", "2"]]])
MAP = value(["m", "map[string]int", [[["s", "string", "a"], ["i", "int", "1"]]]])


def links(error: list[Any]) -> list[Any]:
    """An error as a chain of its own."""
    return value(["l", "[]error", [["a", error[2]]]])


def zone(offset: int | None) -> list[Any]:
    """A time zone of no name, as it comes out now, or without an offset, as it did."""
    if offset is None:
        return value(["p", "*time.Location", ["s", "string", ""]])
    fields = [["name", ["s", "string", ""]], ["offset", ["i", "int", str(offset)]]]
    return value(["p", "*time.Location", ["t", "time.Location", fields]])


def time(seconds: int, offset: int) -> list[Any]:
    fields = [["Equal()", ["b", "bool", True]], ["ext", ["i", "int64", str(seconds)]], ["loc", zone(offset)[2]]]
    return value(["t", "time.Time", fields])


def holds(op: str, *operands: Any, **options: Any) -> bool:
    decoded = [values.decode(operand) for operand in operands]
    return operators.holds(Site(op=op, sides=("out",) * len(operands), options=options), decoded, [])


@pytest.mark.parametrize(
    ("kind", "other", "wanted"),
    [
        ("[]money.Sum", "[]internal.Sum", True),
        ("money.Sum", "money.Total", True),
        ("money.Sum", "internal.Total", False),
        ("money.Sum", "*internal.Sum", False),
        ("int", "money.int", False),
        ("money.int", "int", False),
    ],
)
def test_a_type_may_lie_in_another_package_of_which_it_is_an_alias(kind, other, wanted):
    left, right = (i(3, name, held=True) for name in (kind, other))
    assert holds("go.deep", left, right) is wanted


def test_each_operator_has_a_name_that_a_file_of_expectations_may_hold():
    assert {name for name in OPERATORS if name.startswith("go.")} == set(OF_GO)


@pytest.mark.parametrize(
    ("op", "operands", "options", "wanted"),
    [
        ("go.==", (i(3, "uint8"), i(3)), {"untyped": [1]}, True),
        ("go.==", (i(3, "int64", held=True), i(3)), {"untyped": [1]}, False),
        ("go.==", (value(["f", "float32", "0.1"]), value(["f", "float64", "0.1"])), {"untyped": [1]}, True),
        ("go.==", (value(["f", "float64", "NaN"]), value(["f", "float64", "NaN"])), {}, False),
        ("go.==", (value(["f", "float64", "-0"]), i(0)), {"untyped": [1]}, True),
        ("go.==", (s("a", "money.Name"), s("a")), {"untyped": [1]}, True),
        ("go.==", (NIL, NIL), {}, True),
        ("go.==", (NONE, NIL), {}, True),
        ("go.==", (value(["n", "*money.Error"], held=True), NIL), {}, False),
        ("go.==", (ERROR, NIL), {"not": True}, True),
        ("go.==", (ERROR, ERROR), {}, False),
        ("go.==", (ERROR, ERROR), {"not": True}, False),
        ("go.deep", (i(3, "int64"), i(3)), {}, False),
        ("go.deep", (INTS, INTS), {}, True),
        ("go.deep", (value(["n", "[]int"]), value(["l", "[]int", []])), {}, False),
        ("go.same", (value(["n", "[]int"]), value(["l", "[]int", []])), {}, True),
        ("go.deep", (value(["t", "money.Told", []]), value(["t", "money.Item", []])), {}, True),
        ("go.deep", (value(["F", "func()"]), value(["F", "func()"])), {}, False),
        ("go.cmp", (value(["t", "money.Item", [["own", ["i", "int", "1"]]]]),) * 2, {}, False),
        ("go.<", (i(2), i(3)), {}, True),
        ("go.>", (s("b"), s("a")), {"not": True}, False),
        ("go.contains", (s("abc"), s("b")), {}, True),
        ("go.prefix", (value(["B", "[]uint8", "6162"]), s("a")), {}, True),
        ("go.truth", (value(["b", "bool", True]),), {}, True),
        ("go.truth", (i(1),), {}, False),
        ("go.zero", (value(["l", "[]int", []]),), {"by": "type"}, True),
        ("go.zero", (s("", held=True),), {"by": "type"}, False),
        ("go.zero", (s(""),), {"by": "type"}, True),
        ("go.zero", (value(["n", "*money.Error"], held=True),), {"by": "type"}, False),
        ("go.zero", (NIL,), {"by": "type"}, True),
        ("go.len", (NONE, i(0)), {}, False),
        ("go.len", (value(["n", "[]int"]), i(0)), {}, True),
        ("go.in", (s("abc"), value(["B", "[]uint8", "62"])), {}, False),
        ("go.in", (s("abc"), value(["B", "[]uint8", "64"])), {"not": True}, False),
        ("go.==", (value(["B", "[]uint8", "62"], held=True),) * 2, {}, False),
        ("go.==", (value(["B", "[1]uint8", "62"], held=True),) * 2, {}, True),
        ("go.empty", (value(["x", "chan int"]),), {"not": True}, False),
        ("go.near", (i(1, "money.Sum"), i(1), i(1)), {}, False),
        ("go.near", (i(1, "time.Duration"), i(1), i(1)), {}, True),
        ("go.truth", (value(["b", "bool", True]),), {"types": "=="}, True),
        ("go.truth", (value(["b", "money.Is", True]),), {}, True),
        ("go.truth", (value(["b", "money.Is", True]),), {"types": "=="}, False),
        ("go.truth", (value(["b", "money.Is", False]),), {"types": "==", "not": True}, False),
        ("go.truth", (value(["b", "bool", True], held=True),), {"types": "=="}, False),
        ("go.nil", (value(["n", "*money.Error"], held=True),), {}, True),
        ("go.empty", (value(["t", "money.Item", []]),), {}, True),
        ("go.len", (MAP, i(1)), {}, True),
        ("go.in", (MAP, s("a")), {}, True),
        ("go.in", (INTS, i(2, "int64")), {}, False),
        ("go.elements", (INTS, value(["l", "[]int", [["i", "int", "2"], ["i", "int", "1"]]])), {}, True),
        ("go.values", (i(3, "int64"), i(3)), {}, True),
        ("go.values", (value(["f", "float64", "3"]), i(3)), {}, True),
        ("go.values", (value(["f", "float64", "4"]), i(3)), {}, False),
        ("go.values", (value(["f", "float64", "3.5"]), i(3)), {}, False),
        ("go.values", (value(["f", "float64", "3.5"]), i(3)), {"not": True}, False),
        ("go.near", (INFINITE, INFINITE, i(1)), {}, True),
        ("go.near", (value(["f", "float32", "0.1"]), value(["f", "float64", "0.1"]), TINY), {}, False),
        ("go.near", (INFINITE, value(["f", "float64", "-Inf"]), i(1)), {}, False),
        ("go.is", (links(EOF), EOF), {}, True),
        ("go.is", (links(LIKE_EOF), EOF), {}, False),
        ("go.is", (links(LIKE_EOF), EOF), {"not": True}, True),
        ("go.is", (links(EOF), LIKE_EOF), {}, True),
        ("go.==", (EOF, EOF), {}, True),
        ("go.==", (i(3), NIL), {"not": True}, False),
        ("go.==", (i(3, held=True), NIL), {"not": True}, True),
        ("go.==", (value(["t", "money.Error", []], text="no"), NIL), {"not": True}, True),
        ("go.==", (INTS, NIL), {"not": True}, True),
        ("go.>", (i(0), HALF), {"untyped": [1], "not": True}, False),
        ("go.>", (i(1), value(["f", "float64", "0"])), {"untyped": [1]}, True),
        ("go.<", (i(3, "uint8"), i(300)), {"untyped": [1]}, False),
        ("go.<", (i(-3, "int8"), i(127)), {"untyped": [1]}, True),
        ("go.<", (i(3, "money.Sum"), i(300)), {"untyped": [1]}, True),
        ("go.==", (i(3, "uint"), i(-1)), {"untyped": [1], "not": True}, False),
        ("go.==", (i(3, "uint", held=True), i(-1)), {"untyped": [1], "not": True}, True),
        ("go.==", (ERROR, EOF), {}, False),
        ("go.==", (ERROR, EOF), {"not": True}, True),
        ("go.==", (LIKE_EOF, EOF), {}, False),
        ("go.==", (LIKE_EOF, EOF), {"not": True}, False),
        ("go.==", (NIL, EOF), {"not": True}, True),
        ("go.deep", (LIKE_EOF, EOF), {}, True),
        ("go.near", (i(3), value(["f", "float64", "3.4"]), value(["f", "float64", "0.5"])), {}, True),
        ("go.json", (s('{"a": 1, "b": 2}'), s('{"b":2,"a":1}')), {}, True),
        ("go.output", (s("b\na\n"), s("a\nb")), {"unordered": True}, True),
        ("go.output", (s("b\na\n"), s("a\nb")), {}, False),
        ("go.panics", (ERROR, s("no")), {"by": "text"}, True),
        ("go.of", (i(1), i(2), i(3), i(3)), {"of": "all", "parts": PARTS}, True),
        ("go.==", (["js", ["N", "3"]], i(3)), {}, False),
        ("go.deep", (i(3, "int64"), i(3)), {"untyped": [1]}, True),
        ("go.cmp", (value(["n", "[]int"]), value(["l", "[]int", []])), {"empty": True}, True),
        ("go.cmp", (value(["n", "[]int"]), value(["l", "[]int", []])), {}, False),
        ("go.zero", (value(["t", "money.Item", []]),), {}, True),
        ("go.zero", (value(["l", "[2]int", [["i", "int", "0"], ["i", "int", "0"]]]),), {}, True),
        ("go.zero", (value(["l", "[]int", []]),), {}, False),
        ("go.zero", (i(0),), {"not": True}, False),
        ("go.type", (i(3, held=True), i(4, held=True)), {}, True),
        ("go.type", (i(3, held=True), i(3, "int64", held=True)), {}, False),
        ("go.is", (value(["l", "[]error", [["a", ERROR[2]], ["a", ["s", "money.Told", "a"]]]]), ERROR), {}, True),
        ("go.is", (value(["l", "[]error", [["a", ["s", "money.Told", "a"]]]]), ERROR), {}, False),
        ("go.is", (value(["l", "[]error", []]), NIL), {}, True),
        ("go.is", (value(["l", "[]error", [["a", SAYING]]]), value(SAYING, held=True)), {}, True),
        ("go.nil", (value(["n", "*money.Error"], held=True),), {"by": "=="}, False),
        ("go.nil", (NIL,), {"by": "=="}, True),
        ("go.json", (s('{"a": false}'), s('{"a": 0}')), {}, False),
        ("go.json", (s('{"a": true, "b": 1}'), s('{"a": 1, "b": true}')), {}, False),
        ("go.json", (s('{"a": 1, "b": -0}'), s('{"b": 0.0, "a": 1.0}')), {}, True),
        ("go.==", (i(3, "int64"), i(3)), {"types": "=="}, False),
        ("go.==", (i(3, "int64"), i(3)), {"types": "==", "not": True}, False),
        ("go.==", (i(3, "money.Sum"), i(3, "money.Total")), {"types": "=="}, True),
        ("go.<", (i(2, "int64"), i(3)), {"types": "=="}, False),
        ("go.<", (i(2, "int64"), i(3)), {"types": "==", "untyped": [1]}, True),
        ("go.<", (i(2, "int64"), i(3)), {"types": "kinds", "untyped": [1]}, False),
        ("go.<", (i(2, "money.Sum"), i(3)), {"types": "kinds"}, True),
        ("go.contains", (value(["B", "[]uint8", "6162"]), s("a")), {"types": "=="}, False),
        ("go.same", (value(["l", "[]int64", [["i", "int64", "1"]]]), value(["l", "[]int", [["i", "int", "1"]]])), {},
         False),
        ("go.same", (value(["l", "[1]int", [["i", "int", "1"]]]), value(["l", "[]int", [["i", "int", "1"]]])), {},
         False),
        ("go.deep", (zone(3600), zone(7200)), {}, False),
        ("go.deep", (zone(3600), zone(3600)), {}, True),
        ("go.deep", (zone(3600), zone(None)), {}, True),
        ("go.cmp", (time(1, 3600), time(1, 7200)), {}, True),
        ("go.cmp", (time(1, 3600), time(2, 3600)), {}, False),
        ("go.cmp", (value(["t", "money.Item", [["Equal()", ["b", "bool", True]]]]),) * 2, {}, False),
        ("go.zero", (value(["t", "money.Item", [["Equal()", ["b", "bool", True]]]]),), {}, True),
        ("go.empty", (value(["t", "money.Item", [["Equal()", ["b", "bool", True]]]]),), {}, True),
        ("go.deep", (value(["t", "money.Item", [["Equal()", ["b", "bool", True]]]]), value(["t", "money.Item", []])),
         {}, True),
        ("go.cmp", (s("a", "money.ID="), s("a", "money.ID=")), {}, False),
        ("go.cmp", (s("a", "money.ID="), s("a", "money.ID")), {}, True),
        ("go.deep", (s("a", "money.ID="), s("a", "money.ID")), {}, True),
        ("go.deep", (value(["n", "net.IP="]), value(["n", "net.IP"])), {}, True),
        ("go.same", (value(["l", "[]*money.Item", [["p", "*money.Item", ["t", "money.Item", []]]]]),) * 2, {}, False),
        ("go.same", (value(["m", "map[int]any", [[["i", "int", "1"], ["a", ["p", "*int", ["i", "int", "1"]]]]]]),) * 2,
         {}, False),
        ("go.same", (value(["l", "[]*money.Item", [["n", "*money.Item"]]]),) * 2, {}, True),
        ("go.same", (MAP, MAP), {}, True),
        ("go.nil", (NIL,), {"by": "error"}, True),
        ("go.nil", (value(["n", "[]int"]),), {"by": "error"}, True),
        ("go.nil", (value(["n", "*money.Error"], held=True),), {"by": "error"}, False),
        ("go.nil", (value(["n", "*money.Error"], held=True),), {"by": "error", "not": True}, False),
        ("go.nil", (value(["n", "*money.Error"], text="no"),), {"by": "error"}, False),
        ("go.nil", (ERROR,), {"by": "error", "not": True}, True),
        ("go.empty", (value(["B", "[16]uint8", "00" * 16]),), {}, True),
        ("go.empty", (value(["l", "[2]int", [["i", "int", "0"]] * 2]),), {}, True),
        ("go.empty", (value(["l", "[2]int", [["i", "int", "0"], ["i", "int", "1"]]]),), {"not": True}, True),
        ("go.empty", (value(["B", "money.ID", "00" * 16]),), {}, False),
        ("go.empty", (value(["B", "money.ID", "00" * 16]),), {"not": True}, False),
        ("go.empty", (value(["B", "money.ID", "01" * 16]),), {"not": True}, True),
        ("go.empty", (value(["l", "money.List", []]),), {}, True),
        ("go.zero", (value(["B", "[16]uint8", "00" * 16]),), {}, True),
        ("go.zero", (value(["B", "money.ID", "00" * 16]),), {"not": True}, False),
        ("go.json", (s('{"a": 1}'), s('{"a":1.0}')), {}, True),
        ("go.json", (s('\ufeff{"a": 1}'), s('{"a":1}')), {}, False),
        ("go.json", (s('{"a": 1}', "money.JSON"), s('{"a":1}')), {}, False),
        ("go.json", (value(["B", "[]uint8", b'{"a": 1}'.hex()]), s('{"a":1}')), {}, False),
        ("go.json", (s('{"a": Infinity}'), s('{"a":1e999}')), {}, False),
    ],
)  # fmt: skip
def test_an_assertion_is_decided_as_go_decides_it(op, operands, options, wanted):
    assert holds(op, *operands, **options) is wanted


@pytest.mark.parametrize(
    "encoded",
    [
        value(None),
        value(["i", "int", "3.5"]),
        value(["i", "int", "9" * 40]),
        value(["B", "[]uint8", "6"]),
        value(["t", "money.Item", [["a", None], ["a", None]]]),
        value(["a", None]),
        value(["r", "*T", 0]),
        value(["no", "int", 1]),
        ["go", "yes", ["i", "int", "3"], None],
        ["l", [i(3)]],
        value(["l", "[]int", [["i", "int", "1"]] * 100_001]),
    ],
)
def test_what_is_not_of_the_form_is_refused(encoded):
    with pytest.raises(MalformedError):
        values.decode(encoded)


def test_a_value_of_another_language_and_a_large_one_hold_nowhere():
    site = Site(op="go.contains", sides=("out", "kept"))
    expected = Expected(slot=0, kept=(s("b"),), size=4)
    said = [Event(test_id="a", slot=0, values=(encoded,)) for encoded in (s("abc"), ["s", "abc"], s("abc" * 100))]
    assert [judge.event_holds(site, expected, event) for event in said] == [True, False, False]


PANIC = value(["x", "testing.goldseamPanic"])


@pytest.mark.parametrize(
    ("first", "second", "of", "wanted"),
    [
        (i(1), PANIC, "any", True),
        (i(2), PANIC, "any", None),
        (i(2), PANIC, "all", False),
        (i(1), PANIC, "all", None),
        (i(2), i(1), "any", True),
    ],
)
def test_what_is_asked_after_others_counts_only_where_these_do_not_settle_it(first, second, of, wanted):
    parts = [{"op": "go.==", "count": 2, "options": {}}, {"op": "go.nil", "count": 1, "options": {"not": True}}]
    parts[1] = {"op": "go.of", "count": 1, "options": {"of": "all", "parts": [parts[1]]}}
    claimed = [holds("go.of", first, i(1), second, of=of, parts=parts, **{"not": negated}) for negated in (False, True)]
    assert claimed == ([wanted, not wanted] if wanted is not None else [False, False])


@pytest.mark.parametrize(
    ("pattern", "text", "whole", "wanted"),
    [
        ("a+b", "xaab", False, True),
        ("a+b", "xaab", True, False),
        ("^a$", "a\n", False, False),
        (r"(?m)^a$", "b\na\n", False, True),
        (r"a\s", "a\x0b", False, False),
        (r"[\s,]b", "a\tb", False, True),
        (r"(?s)a.b", "a\nb", True, True),
        (r"\d+", "\u0663", False, False),
        ("(?i)abc", "xABC", False, True),
        ("a|b", "ab", True, False),
        ("x}]", "x}]", True, True),
    ],
)
def test_a_regular_expression_is_searched_as_go_does(pattern, text, whole, wanted):
    assert holds("go.matches", s(text), s(pattern), whole=whole) is wanted
    assert holds("go.matches", s(pattern), s(text), whole=whole, first="pattern") is wanted


@pytest.mark.parametrize("pattern", ["(?i)k", "a{,3}", r"\pL", "[[:alpha:]]", "a(?i)b", r"\Qa.\E"])
def test_a_regular_expression_that_python_may_read_otherwise_is_not_decided(pattern):
    assert not holds("go.matches", s("\u212a"), s(pattern))
    assert not holds("go.matches", s("\u212a"), s(pattern), **{"not": True})


def test_a_regular_expression_is_not_searched_in_what_methods_of_the_product_may_show():
    assert holds("go.matches", ERROR, s("^no$"))
    assert not holds("go.matches", ERROR, s("no"), whole=True)
    for shown in (s("no", "money.Sum"), INTS, NIL):
        assert not holds("go.matches", shown, s("no"))
        assert not holds("go.matches", shown, s("no"), **{"not": True})


@pytest.mark.parametrize(
    ("kind", "apart", "wanted"),
    [
        ("money.Sub", ["money.Add", "money.Sub"], False),
        ("money.Sub", ["money.Add"], True),
        ("money.Sub", True, False),
        ("money.Add", True, True),
        ("coins.Add", ["money.Add", "money.Sub"], True),
    ],
)
@pytest.mark.parametrize("form", ["%s", "*%s", "[]%s"])
def test_two_types_that_the_fix_declares_are_not_one(kind, apart, wanted, form):
    def of(name: str) -> list[Any]:
        part: Any = ["t", name, [["X", ["i", "int", "1"]]]]
        inner = {"*%s": ["p", form % name, part], "[]%s": ["l", form % name, [part]]}.get(form, part)
        return value(inner, held=True)

    assert holds("go.deep", of("money.Add"), of(kind), apart=apart) is wanted
    parts = [{"op": "go.deep", "count": 2, "options": {}}]
    assert holds("go.of", of("money.Add"), of(kind), of="all", parts=parts, apart=apart) is wanted


@pytest.mark.parametrize(
    ("error", "said", "options", "wanted"),
    [
        (ERROR, True, {}, True),
        (ERROR, False, {}, False),
        (LIKE_EOF, True, {}, False),
        (ERROR, False, {"not": True}, True),
        (LIKE_EOF, True, {"not": True}, False),
    ],
)
def test_an_error_of_the_products_is_another_one_where_errors_is_says_so(error, said, options, wanted):
    assert holds("go.is", links(error), ERROR, value(["b", "bool", said]), **options) is wanted
