"""How the host decides assertions of JavaScript."""

from __future__ import annotations

import math
import time
from dataclasses import replace
from typing import Any

import pytest

from harness.core.expectations import Expected, Site
from harness.judging import judge, values
from harness.judging.patterns import of_javascript
from harness.judging.search import matches
from harness.judging.values import Event
from harness.languages.javascript.language import FRAMEWORKS

UNDEFINED, HOLE = ["u"], ["h"]


def js(value: Any) -> Any:
    """A value as handout.js writes it; lists that begin with a tag are written already."""
    if isinstance(value, list) and value and value[0] in list("uhNIsYFxrEaMSDRTBOm"):
        return value
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int | float):
        if math.isnan(value):
            return ["N", "NaN"]
        return ["N", "-0" if value == 0 and math.copysign(1, value) < 0 else str(value).replace("inf", "Infinity")]
    if isinstance(value, str):
        return ["s", value]
    if isinstance(value, list):
        return ["a", "Array", [js(item) for item in value], []]
    return ["O", "Object", [[["s", key], js(inner)] for key, inner in value.items()]]


def error(name: str, message: str, *chain: str, **props: Any) -> Any:
    return [
        "E",
        list(chain or (name, "Error")),
        name,
        message,
        [[["s", key], js(inner)] for key, inner in props.items()],
        [],
    ]


OF_CLASS = [*error("NoError", "no", "NoError", "Error"), [[["s", "code"], ["s", "E1"]]]]
"""An error that has its code of its class."""
CAUSED = [*error("Error", "no")[:-1], [[["s", "cause"], js("why")]]]


def test_an_error_is_held_against_what_comes_out_beside_it():
    site = Site(op="js.raises", sides=("out",), options={"by": "message"})
    raised = ["js", error("RangeError", "it is bad", "RangeError", "Error")]
    expected = Expected(slot=0, raises=True, plain=False)

    def holds(*values: Any) -> bool:
        event = Event(test_id="t", slot=0, values=tuple(["js", js(value)] for value in values), raised=raised)
        return judge.event_holds(site, expected, event)

    assert [holds("is bad"), holds("is worse"), holds(["F", ["RangeError"]])] == [True, False, True]
    assert not site.is_decided_outside
    assert replace(site, sides=("kept",)).is_decided_outside


@pytest.mark.parametrize(
    ("told", "holding"),
    [
        ([[""]], "strict loose jest chai uvu"),
        ([["Point"]], ""),
        ([["", "sum"]], "strict loose jest"),
    ],
)
def test_what_prototypes_say_of_an_object_counts_where_it_does_in_the_library(told, holding):
    plain, other = ["O", "Object", []], ["O", "Object", [], *told]
    rules = ("strict", "loose", "jest", "chai", "uvu")
    assert [name for name in rules if decided("js.deep", other, plain, rules=name)] == holding.split()


def decided(op: str, out: Any, kept: Any, **options: Any) -> bool:
    """Whether an assertion with one operand from inside and one that was kept holds."""
    site = Site(op=op, sides=("out", "kept"), options=options)
    event = Event(test_id="t", slot=0, values=(["js", js(out)],))
    return judge.event_holds(site, Expected(slot=0, kept=(["js", js(kept)],), size=1000, plain=False), event)


@pytest.mark.parametrize(
    ("left", "other", "same", "strict", "loose"),
    [
        (1, 1.0, True, True, True),
        (0.0, -0.0, False, True, True),
        (math.nan, math.nan, True, False, True),
        (1, True, False, False, True),
        (1, "1", False, False, True),
        ("", 0, False, False, True),
        (" 0x1F ", 31, False, False, True),
        ("a", 0, False, False, False),
        (None, UNDEFINED, False, False, True),
        (None, 0, False, False, False),
        (["I", "12"], ["I", "12"], True, True, True),
        (["I", "12"], 12, False, False, True),
        (["Y", "for a"], ["Y", "for a"], True, True, True),
        (["Y", "for a"], "for a", False, False, False),
        ([1], [1], False, False, False),  # which of two objects it is can't be told
        ([1], 1, False, False, False),
    ],
)
def test_values_are_equal_as_each_operator_means_it(left, other, same, strict, loose):
    found = [decided(op, left, other) for op in ("js.is", "js.===", "js.==")]
    assert found == [same, strict, loose]


def test_of_two_objects_nobody_can_tell_that_they_are_not_the_same():
    assert not decided("js.is", [1], [1], **{"not": True})
    assert decided("js.is", 1, 2, **{"not": True})


INSTANCE = ["O", "Point", [[["s", "x"], ["N", "1"]]]]
MAP = ["M", "Map", [[["s", "a"], ["N", "1"]], [["s", "b"], ["N", "2"]]], []]
TURNED = ["M", "Map", [[["s", "b"], ["N", "2"]], [["s", "a"], ["N", "1"]]], []]


@pytest.mark.parametrize(
    ("left", "other", "holding"),
    [
        ([1, "a", None], [1, "a", None], "loose strict jest jest-strict chai"),
        ([1], ["1"], "loose"),
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}, "loose strict jest jest-strict chai"),
        ({"a": 1, "b": UNDEFINED}, {"a": 1}, "jest"),
        ([HOLE], [UNDEFINED], "jest"),
        (INSTANCE, {"x": 1}, "loose jest chai"),
        (["O", None, []], {}, "loose jest chai"),
        ([0.0], [-0.0], "loose"),
        ([math.nan], [math.nan], "loose strict jest jest-strict chai"),
        (MAP, TURNED, "loose strict jest jest-strict chai"),
        (["S", "Set", [js([1])], []], ["S", "Set", [js([1])], []], "loose strict jest jest-strict chai"),
        (["S", "Set", [js(1)], []], js([1]), ""),
        (["D", "Date", "5", []], ["D", "Date", "5", []], "loose strict jest jest-strict chai"),
        (["D", "Date", "5", []], ["D", "Date", "6", []], ""),
        (["R", "RegExp", "a", "i", []], ["R", "RegExp", "a", "", []], ""),
        (["T", "Uint8Array", ["1"], []], ["T", "Buffer", ["1"], []], "loose chai"),
        (["T", "Uint8Array", ["1"], []], ["T", "Uint8Array", ["1"], []], "loose strict jest jest-strict chai"),
        ({"me": ["r", 1]}, {"me": ["r", 1]}, "loose strict jest jest-strict chai"),
        ({"me": ["r", 1]}, {"me": ["r", 2]}, ""),
        (error("Error", "a", "Error"), error("Error", "a", "Error"), "loose strict"),
        (error("Error", "a", "Error"), error("Error", "b", "Error"), ""),
        (["F", ["A"]], ["F", ["A"]], ""),
        ({"f": ["F", []]}, {"f": ["F", []]}, ""),
    ],
)
def test_objects_are_equal_by_the_rules_of_each_function(left, other, holding):
    rules = ("loose", "strict", "jest", "jest strict", "chai")
    found = [name.replace(" ", "-") for name in rules if decided("js.deep", left, other, rules=name)]
    assert found == holding.split()


@pytest.mark.parametrize(
    ("value", "is_true"),
    [
        *((0, False), (-0.0, False), (math.nan, False), ("", False), (None, False), (UNDEFINED, False)),
        *((["I", "0"], False), (1, True), ("0", True), ([], True), ({}, True), (True, True), (["x", "Promise"], True)),
    ],
)
def test_what_counts_as_true(value, is_true):
    event = Event(test_id="t", slot=0, values=(["js", js(value)],))
    for negated in (False, True):
        site = Site(op="js.truth", sides=("out",), options={"not": True} if negated else {})
        assert judge.event_holds(site, Expected(slot=0, size=10, plain=False), event) is (is_true is not negated)


@pytest.mark.parametrize(
    ("thrown", "kept", "by", "holds"),
    [
        (error("TypeError", "no x"), [], "", True),
        (error("TypeError", "no x"), [["R", "RegExp", "^TypeError: no", "", []]], "", True),
        (error("TypeError", "no x"), [["R", "RegExp", "^TypeError", "", []]], "message", False),
        (error("TypeError", "no x"), ["no"], "message", True),
        (error("TypeError", "no x"), ["nothing"], "message", False),
        (error("TypeError", "no x"), [["F", ["TypeError", "Error"]]], "", True),
        (error("TypeError", "no x"), [["F", ["Error"]]], "", True),
        (error("TypeError", "no x"), [["F", ["RangeError", "Error"]]], "", False),
        (error("Error", "no", "Mine", "RangeError", "Error"), [["F", ["Mine", "RangeError", "Error"]]], "", True),
        (error("Error", "no", "RangeError", "TypeError", "Error"), [["F", ["RangeError", "Error"]]], "", False),
        (error("Error", "no", *(f"E{n}" for n in range(20)), "Error"), [["F", ["E3", "Error"]]], "", False),
        (error("Error", "no", "Error", code="E1"), [js({"code": "E1"})], "", True),
        (error("Error", "no", "Error", code="E1"), [js({"code": "E1", "name": "Other"})], "", False),
        (OF_CLASS, [js({"code": "E1"})], "", True),
        (OF_CLASS, [js({"code": "E1", "name": "NoError"})], "", True),
        (OF_CLASS, [js({"code": "E2"})], "", False),
        (OF_CLASS, [OF_CLASS[:-1]], "", True),  # what a kept one has of its classes is not asked for
        (error("Error", "no", "Error"), [js({"message": ["R", "RegExp", "n.", "", []]})], "", True),
        (js("a text"), [], "", True),
        (js("a text"), ["a text"], "message", False),
        (error("Error", "no", "Error"), [["F", []]], "", False),
    ],
)
def test_what_is_thrown_is_held_against_what_was_to_be(thrown, kept, by, holds):
    site = Site(op="js.raises", sides=tuple("kept" for _ in kept), options={"by": by} if by else {})
    expected = Expected(slot=0, kept=tuple(["js", js(one)] for one in kept), raises=True, size=100)
    assert judge.event_holds(site, expected, Event(test_id="t", slot=0, raised=["js", thrown])) is holds
    assert not judge.event_holds(site, expected, Event(test_id="t", slot=0))


@pytest.mark.parametrize(
    ("options", "thrown", "kept", "holds"),
    [
        ({"unlike": "no"}, error("Error", "no"), [], False),
        ({"unlike": "no"}, error("Error", "no way"), [], True),
        ({"unlike": "no"}, js("no"), [], False),
        ({"unlike": "no"}, js({"message": "no"}), [], False),
        ({"by": "message", "only": "truthy"}, None, [], False),
        ({"by": "message", "only": "truthy"}, UNDEFINED, [], False),
        ({"by": "message", "only": "truthy"}, error("Error", "no"), [], True),
        ({"by": "message", "alike": "cause"}, CAUSED, [error("Error", "no")], False),
        ({"by": "message", "alike": "cause"}, CAUSED, [CAUSED], True),
        ({"by": "message", "alike": "cause"}, CAUSED, ["no"], True),
        ({"by": "message", "alike": "cause"}, error("TypeError", "no"), [error("Error", "no")], True),
        ({"by": "message", "alike": "whole"}, error("TypeError", "no"), [error("Error", "no", "Error")], False),
        ({"by": "message", "alike": "whole"}, error("Error", "no", code=1), [error("Error", "no")], False),
        ({"by": "message", "alike": "whole"}, error("Error", "no"), [error("Error", "no")], True),
    ],
)
def test_what_is_thrown_is_refused_where_a_library_or_its_versions_would(options, thrown, kept, holds):
    site = Site(op="js.raises", sides=tuple("kept" for _ in kept), options=options)
    expected = Expected(slot=0, kept=tuple(["js", js(one)] for one in kept), raises=True, size=100)
    assert judge.event_holds(site, expected, Event(test_id="t", slot=0, raised=["js", thrown])) is holds


def test_a_property_that_is_not_enumerable_is_neither_there_nor_missing():
    hiding = ["O", "Object", [[["s", "a"], js(1)]], [""], ["secret"]]
    for is_not in ({}, {"not": True}):
        assert not decided("js.property", hiding, "secret", **is_not)
        assert not decided("js.object", hiding, {"secret": 1}, **is_not)
    assert decided("js.property", hiding, "a")
    assert decided("js.property", hiding, "b", **{"not": True})
    assert decided("js.deep", hiding, {"a": 1}, rules="strict")


@pytest.mark.parametrize(
    ("op", "out", "kept", "holds"),
    [
        ("js.contain", "a word", "word", True),
        ("js.contain", [1, 2], 2, True),
        ("js.contain", [[1]], [1], False),
        ("js.contain_equal", [[1]], [1], True),
        ("js.length", [1, 2], 2, True),
        ("js.length", "a\U0001f600", 3, True),
        ("js.property", {"a": {"b": [5]}}, "a.b[0]", True),
        ("js.property", {"a": 1}, "b", False),
        ("js.object", {"a": 1, "b": {"c": 1, "d": 2}}, {"b": {"c": 1}}, True),
        ("js.object", {"a": 1}, {"a": 2}, False),
        ("js.object", 5, ["m", "Anything", False, None, None], False),
        ("js.object", ["a", "Array", [], [[["s", "k"], None]]], [], False),
        ("js.close", 0.1 + 0.2, 0.3, True),
        ("js.close", 1, 1.01, False),
        ("js.>", 2, 1, True),
        ("js.>", "b", 1, False),
        ("js.match", "abc", ["R", "RegExp", "^a.c$", "", []], True),
        ("js.match", "abc", "bc", True),
        ("js.defined", 1, None, False),
    ],
)
def test_the_other_matchers(op, out, kept, holds):
    assert decided(op, out, kept) is holds


def of(name: str, sample: Any = None, *, inverse: bool = False) -> Any:
    """What takes more than one value, as handout.js writes it among what is kept."""
    return ["m", name, inverse, sample, None]


NUMBER, FUNCTION, TYPE_ERROR = ["F", ["Number"]], ["F", ["Function"]], ["F", ["TypeError", "Error"]]


@pytest.mark.parametrize(
    ("out", "kept", "holds"),
    [
        (5, of("Any", NUMBER), True),
        ("5", of("Any", NUMBER), False),
        (True, of("Any", NUMBER), False),
        (UNDEFINED, of("Any", NUMBER), False),
        (["B", "Number", ["N", "5"], []], of("Any", NUMBER), False),  # versions differ
        (["B", "String", js("abc"), []], of("StringContaining", js("b"), inverse=True), False),
        (5, of("ObjectContaining", js({})), False),  # versions differ
        (["F", []], of("Any", FUNCTION), True),
        (["x", "Promise"], of("Any", FUNCTION), False),
        ([1], of("Any", ["F", ["Array"]]), True),
        (None, of("Any", ["F", ["Object"]]), True),
        (error("TypeError", "no", "TypeError", "Error"), of("Any", TYPE_ERROR), True),
        (error("RangeError", "no", "RangeError", "Error"), of("Any", TYPE_ERROR), False),
        (INSTANCE, of("Any", ["F", ["Point"]]), False),  # a class of the product can't be told outside
        (0, of("Anything"), True),
        (None, of("Anything"), False),
        ("abc", of("StringContaining", js("b")), True),
        ("abc", of("StringContaining", js("b"), inverse=True), False),
        ("abc", of("StringMatching", ["R", "RegExp", "^a", "", []]), True),
        ({"a": 1, "b": 2}, of("ObjectContaining", js({"a": 1})), True),
        ({"a": 1}, of("ObjectContaining", js({"a": 1, "c": UNDEFINED})), False),
        (INSTANCE, of("ObjectContaining", js({"x": 1})), True),
        (INSTANCE, of("ObjectContaining", js({"y": 1})), False),
        ([1, 2, 3], of("ArrayContaining", js([3, 1])), True),
        ([1, 2], of("ArrayContaining", js([3])), False),
        (0.3, ["m", "CloseTo", False, js(0.1 + 0.2), js(5)], True),
        ([1], of("ArrayOf", js(1)), False),
    ],
)
def test_what_takes_more_than_one_value_is_decided_on_the_host(out, kept, holds):
    assert decided("js.deep", {"v": js(out)}, {"v": kept}, rules="jest") is holds
    assert not decided("js.deep", {"v": js(out)}, {"v": kept}, rules="strict")


def test_what_takes_more_than_one_value_comes_from_nowhere_but_the_host():
    with pytest.raises(values.MalformedError):
        values.load(["js", of("Anything")])
    assert not decided("js.deep", of("Anything"), 1, rules="jest")


@pytest.mark.parametrize(
    ("op", "kept", "holds"),
    [
        ("js.property", ["s", "text"], True),
        ("js.property", ["s", "other"], False),
        ("js.object", {"text": "ok"}, True),
        ("js.object", {"run": ["F", ["run"]]}, False),
        ("js.length", 2, True),
        ("js.deep", of("ObjectContaining", js({"text": "ok"})), True),
        ("js.deep", {"text": "ok", "length": 2}, False),
    ],
)
def test_of_an_object_with_a_method_a_part_is_looked_at_although_the_fix_has_none(op, kept, holds):
    out = {"text": "ok", "length": 2, "run": ["F", ["run"]]}
    event = Event(test_id="t", slot=0, values=(["js", js(out)],))
    site = Site(op=op, sides=("out", "kept"), options={"rules": "jest"})
    expected = Expected(slot=0, kept=(["js", js(kept)],), size=1000, plain=True)
    assert judge.event_holds(site, expected, event) is holds


def test_where_more_than_one_value_is_taken_what_comes_out_is_bounded():
    kept = {"v": of("StringContaining", js("b"))}
    assert decided("js.deep", {"v": "b" * 100}, kept, rules="jest")
    assert not decided("js.deep", {"v": "b" * 10000}, kept, rules="jest")


@pytest.mark.parametrize(
    ("out", "kept", "holds"),
    [
        (1e21, "1e+21", True),
        (1e-7, "1e-7", True),
        (123456789012345680000, "123456789012345680000", True),
        (0.1, "0.1", True),
        (["I", "12"], "12n", True),
        ("a", '"a"', True),
        ('say "x"', '"say \\"x\\""', True),
        ('say "x"', '"say "x""', True),
        (["Y", "for a"], "Symbol(a)", True),
        ([], "[]", True),
        ([], "Array []", True),
        ({"b": [1, -0.0], "a": None}, '\n  {\n    "a": null,\n    "b": [\n      1,\n      -0,\n    ],\n  }\n', True),
        ({"b": 1, "a": 2}, '{\n  "b": 1,\n  "a": 2,\n}', False),  # sorted in every version
        ({"a": UNDEFINED}, '{\n  "a": undefined,\n}', True),
        (INSTANCE, 'Point {\n  "x": 1,\n}', True),
        (INSTANCE, '{\n  "x": 1,\n}', False),
        (MAP, 'Map {\n  "a" => 1,\n  "b" => 2,\n}', True),
        (["S", "Set", [js(1)], []], "Set {\n  1,\n}", True),
        (["T", "Uint8Array", ["1"], []], "Uint8Array [\n  1,\n]", True),
        (["D", "Date", "5", []], "1970-01-01T00:00:00.005Z", True),
        (["R", "RegExp", "a.b", "i", []], "/a\\.b/i", True),
        (error("TypeError", "no", code=1), "[TypeError: no]", True),
        ({"me": ["r", 1]}, '{\n  "me": [Circular],\n}', True),
        ({"f": ["F", []]}, '{\n  "f": [Function],\n}', True),
        ({"f": ["x", "Promise"]}, '{\n  "f": Promise {},\n}', False),
        (["T", "DataView", ["1"], []], "DataView []", False),
        ([HOLE], "[\n  ,\n]", False),
        (1, "2", False),
    ],
)
def test_a_snapshot_is_held_against_what_versions_show(out, kept, holds):
    assert decided("js.snapshot", out, kept) is holds


MADE = '{\n  "at": Any<Number>,\n  "by": [\n    StringContaining "b",\n  ],\n  "off": 3,\n}'


@pytest.mark.parametrize(
    ("out", "holds"),
    [
        ({"at": 5, "by": ["abc"], "off": 3}, True),
        ({"at": "5", "by": ["abc"], "off": 3}, False),
        ({"at": 5, "by": ["ac"], "off": 3}, False),
        ({"at": 5, "by": ["abc"], "off": 4}, False),
        ({"at": 5, "by": ["abc"], "off": 3, "more": 1}, False),
        ({"at": 5, "by": ["abc", "abc"], "off": 3}, False),
        ({"by": ["abc"], "off": 3}, False),
        ([5, "abc", 3], False),
    ],
)
def test_of_a_snapshot_with_matchers_these_take_what_stands_in_their_place(out, holds):
    matchers = {"at": of("Any", NUMBER), "by": [of("StringContaining", js("b"))]}
    assert decided("js.snapshot", out, {**matchers, "off": 3}, by="value") is holds
    site = Site(op="js.snapshot", sides=("out", "kept", "kept"), options={})
    kept = tuple(["js", js(value)] for value in (MADE, matchers))
    event = Event(test_id="t", slot=0, values=(["js", js(out)],))
    assert judge.event_holds(site, Expected(slot=0, kept=kept, size=1000, plain=False), event) is holds


def test_an_error_is_shown_as_its_message_or_whole():
    def shown(text: str) -> bool:
        site = Site(op="js.raises", sides=("kept",), options={"by": "snapshot"})
        expected = Expected(slot=0, kept=(["js", js(text)],), raises=True, size=100)
        thrown = error("TypeError", "no", "TypeError", "Error")
        return judge.event_holds(site, expected, Event(test_id="t", slot=0, raised=["js", thrown]))

    assert [shown(text) for text in ('"no"', "[TypeError: no]", "no", "[Error: no]")] == [True, True, False, False]


@pytest.mark.parametrize(
    ("which", "wanted", "holds"),
    [
        ("any", [1], True),
        ("any", [1, UNDEFINED], False),
        ("last", [2, "b"], True),
        ("last", [1], False),
        ("nth", [2, 2, "b"], True),
        ("nth", [3, 2, "b"], False),
        ("only", [1], False),
        ("any", [of("Any", NUMBER), of("Anything")], True),
    ],
)
def test_a_mock_was_called_with_what_one_of_its_calls_had(which, wanted, holds):
    site = Site(op="js.called", sides=("out", *("kept" for _ in wanted)), options={"which": which})
    expected = Expected(slot=0, kept=tuple(["js", js(one)] for one in wanted), size=100, plain=False)
    event = Event(test_id="t", slot=0, values=(["js", js([[1], [2, "b"]])],))
    assert judge.event_holds(site, expected, event) is holds


def test_a_call_with_an_opaque_argument_decides_nothing_that_it_might_have_been():
    site = Site(op="js.called", sides=("out", "kept"), options={"which": "any", "not": True})
    expected = Expected(slot=0, kept=(["js", js(1)],), size=100, plain=False)
    event = Event(test_id="t", slot=0, values=(["js", js([[["x", "Promise"]]])],))
    assert not judge.event_holds(site, expected, event)


@pytest.mark.parametrize(
    ("left", "other", "rules", "holds"),
    [
        ({"a": "1"}, {"a": 1}, "tap", True),
        ({"a": "1"}, {"a": 1}, "tap strict", False),
        ([0.0], [-0.0], "tap strict", True),
        (INSTANCE, {"x": 1}, "tap", True),
        (INSTANCE, {"x": 1}, "tap strict", False),
        *(({"a": "1"}, {"a": 1}, rules, False) for rules in ("ava", "uvu", "qunit", "jasmine")),
        *(({"a": UNDEFINED}, {}, rules, False) for rules in ("ava", "uvu", "qunit", "jasmine")),
        *((INSTANCE, {"x": 1}, rules, False) for rules in ("ava", "uvu", "qunit", "jasmine")),
        *(([-0.0], [0.0], rules, rules in ("uvu", "qunit")) for rules in ("ava", "uvu", "qunit", "jasmine")),
        *((["O", None, []], {}, rules, rules in ("qunit", "jasmine")) for rules in ("ava", "uvu", "qunit", "jasmine")),
        *(
            (
                ["S", "Set", [["N", "1"], ["N", "2"]], []],
                ["S", "Set", [["N", "2"], ["N", "1"]], []],
                rules,
                rules != "ava",
            )
            for rules in ("ava", "uvu")
        ),
        *((["a", "Mine", [], []], [], rules, rules in ("qunit", "jasmine")) for rules in ("ava", "qunit", "jasmine")),
        *((["M", "Map", [], []], ["M", "Map", [], []], rules, rules != "jasmine") for rules in ("ava", "jasmine")),
    ],
)
def test_libraries_have_rules_of_their_own(left, other, rules, holds):
    assert decided("js.deep", left, other, rules=rules) is holds


@pytest.mark.parametrize(
    ("out", "kept", "by", "holds"),
    [
        ({"a": "1", "b": {"c": 2}}, {"a": 1, "b": {"c": 2}}, "has", True),
        ({"a": "long"}, {"a": "on"}, "has", False),
        ({"a": "long"}, {"a": "on"}, "match", True),
        ({"a": "long"}, {"a": ["R", "RegExp", "^l", "", []]}, "match", True),
        ({"a": "long"}, {"a": ""}, "match", False),
        ({"a": "long"}, {"b": UNDEFINED}, "match", False),
        ({"a": [1]}, {"a": [1]}, "match", False),
        (3, {"a": 1}, "has", False),
    ],
)
def test_tap_looks_at_the_properties_that_are_asked_for(out, kept, by, holds):
    assert decided("js.object", out, kept, by=by) is holds


@pytest.mark.parametrize(
    ("out", "kept", "rules", "holds"),
    [
        ({"a": 1, "b": 2}, {"a": 1}, "===", True),
        ({"a": "1"}, {"a": 1}, "===", False),
        ({"a": [1]}, {"a": [1]}, "===", False),
        ({"a": [1]}, {"a": [1]}, "chai", True),
        ([1], {"a": 1}, "===", False),
    ],
)
def test_chai_includes_the_properties_that_are_asked_for(out, kept, rules, holds):
    assert decided("js.object", out, kept, by="include", rules=rules) is holds


@pytest.mark.parametrize(
    ("out", "kept", "holds"),
    [
        ("a", "string", True),
        (None, "null", True),
        (True, "Boolean", True),
        ([1], "array", True),
        ([1], "object", False),
        (["F", ["f"]], "function", True),
        (["x", "Promise"], "object", False),
        (["D", "Date", "0", []], "date", True),
        (["O", "Told", [[["Y", "Symbol(Symbol.toStringTag)"], ["s", "Array"]]]], "object", False),
    ],
)
def test_chai_tells_kinds_apart(out, kept, holds):
    assert decided("js.kind", out, kept) is holds


def test_a_spy_of_sinon_was_called_with_what_its_calls_begin_with():
    for first, holds in ((True, True), (False, False)):
        site = Site(op="js.called", sides=("out", "kept"), options={"which": "any", "rules": "ava", "first": first})
        event = Event(test_id="t", slot=0, values=(["js", js([[2, "b"]])],))
        assert judge.event_holds(site, Expected(slot=0, kept=(["js", js(2)],), size=100, plain=False), event) is holds


@pytest.mark.parametrize(
    ("kept", "holds"),
    [
        ("no x", True),
        ("no", False),
        (["R", "RegExp", "^no", "", []], True),
        (["F", ["TypeError", "Error"]], True),
        (["F", ["RangeError", "Error"]], False),
        ({"message": "no x", "name": "TypeError", "code": "E"}, True),
        ({"code": "F"}, False),
        ({"instanceOf": ["F", ["TypeError", "Error"]], "message": ["R", "RegExp", "x$", "", []]}, True),
        ({"instanceOf": ["F", ["RangeError", "Error"]]}, False),
        ({"is": 1}, False),
    ],
)
def test_ava_and_jasmine_ask_for_all_of_a_message(kept, holds):
    site = Site(op="js.raises", sides=("kept",), options={"by": "exact"})
    expected = Expected(slot=0, kept=(["js", js(kept)],), raises=True, size=100)
    thrown = error("TypeError", "no x", "TypeError", "Error", code="E")
    assert judge.event_holds(site, expected, Event(test_id="t", slot=0, raised=["js", thrown])) is holds


@pytest.mark.parametrize(
    ("kept", "holds"),
    [
        ([error("TypeError", "no x", "TypeError", "Error")], True),
        ([error("TypeError", "no", "TypeError", "Error")], True),
        ([error("RangeError", "no x", "RangeError", "Error")], False),
        ([["R", "RegExp", "^no", "", []]], True),
        ([["R", "RegExp", "^TypeError", "", []]], False),
        (["whatever it says"], True),
        ([["F", ["TypeError", "Error"]]], True),
        ([{"code": "E"}], False),
        ([{"message": "no", "name": "TypeError"}], True),
        ([{"message": ["R", "RegExp", "x$", "", []]}], True),
        ([{"message": "yes"}], False),
    ],
)
def test_tap_looks_for_the_texts_of_an_error_in_what_is_thrown(kept, holds):
    site = Site(op="js.raises", sides=tuple("kept" for _ in kept), options={"by": "tap"})
    expected = Expected(slot=0, kept=tuple(["js", js(one)] for one in kept), raises=True, size=100)
    thrown = error("TypeError", "no x", "TypeError", "Error")
    assert judge.event_holds(site, expected, Event(test_id="t", slot=0, raised=["js", thrown])) is holds


def test_a_property_of_an_instance_is_found_and_none_is_denied_that_may_be_inherited():
    assert decided("js.property", INSTANCE, "x")
    assert not decided("js.property", INSTANCE, "y")
    assert not decided("js.property", INSTANCE, "y", **{"not": True})
    assert decided("js.property", {"a.b": 1}, "a.b", by="name", rules="===")


@pytest.mark.parametrize(
    ("source", "flags", "text", "found"),
    [
        ("a$", "", "a\n", False),
        ("a$", "m", "a\nb", True),
        ("^b", "m", "a\nb", True),
        (r"\d", "", "\u0663", False),
        (r"\s", "", "\u00a0", True),
        (".", "", "\u2028", False),
        (".", "s", "\n", True),
        (r"(?<x>a)\/", "", "a/", True),
        ("[^]", "", "\n", True),
        ("A", "i", "a", True),
        ("k", "i", "\u212a", False),
        ("^.$", "", "\U0001f600", False),
        ("^.$", "u", "\U0001f600", True),
        ("^..$", "", "\U0001f600", True),
        ("\U0001f600+$", "", "\U0001f600\U0001f600", True),
        ("^\U0001f600+$", "", "\U0001f600\U0001f600", False),
        ("^\U0001f600+$", "u", "\U0001f600\U0001f600", True),
        (r"\ud83d", "", "\U0001f600", True),
    ],
)
def test_patterns_mean_the_same_as_in_javascript(source, flags, text, found):
    assert matches(of_javascript(source, flags), text) is found


@pytest.mark.parametrize(
    ("source", "flags"),
    [
        (r"\p{L}", "u"),
        ("a", "y"),
        ("a", "v"),
        (r"\k<x>", ""),
        ("a{", ""),
        ("[[a]]", ""),
        ("\u00e9", "i"),
        (r"\xe9", "i"),
        ("k", "iu"),
    ],
)
def test_patterns_that_may_mean_something_else_are_not_decided(source, flags):
    with pytest.raises(ValueError, match=r"."):
        of_javascript(source, flags)


@pytest.mark.parametrize(
    "enc",
    [
        *(["js"], ["js", ["q"]], ["js", ["N", "1e"]], ["js", ["N", "1", "2"]], ["js", ["r", 0]], ["js", ["r", True]]),
        *(
            ["js", ["O", "A", [[["s", "a"], None], [["s", "a"], None]]]],
            ["js", ["D", "Date", []]],
            ["l", [["js", None]]],
        ),
        *(["js", ["any"]], ["js", ["s", 1]], ["js", ["a", "Array", {}, []]], ["js", ["O", "A", [[None, None]]]]),
    ],
)
def test_a_value_of_another_form_is_refused(enc):
    with pytest.raises(values.MalformedError):
        values.load(enc, kept=True)


def test_a_value_that_is_too_deep_is_refused():
    enc: Any = None
    for _ in range(80):
        enc = ["a", "Array", [enc], []]
    with pytest.raises(values.MalformedError):
        values.load(["js", enc])


def test_a_value_of_another_language_decides_nothing():
    expected = Expected(slot=0, kept=(["i", "5"],), size=10)
    for op in ("!=", "=="):
        site = Site(op=op, sides=("out", "kept"))
        assert not judge.event_holds(site, expected, Event(test_id="t", slot=0, values=(["js", ["N", "5"]],)))


def test_an_event_under_all_titles_in_one_belongs_to_the_only_such_test():
    def read(*ids: str) -> list[str]:
        frames: list[dict[str, Any]] = [
            {"t": "report", "id": one, "status": "passed", "seconds": 0, "text": ""} for one in ids
        ]
        frames.append({"t": "value", "id": "a.js::x y z", "slot": 0, "n": 0, "values": [], "raised": None})
        return [event.test_id for event in FRAMEWORKS["jest"].read(frames).events]

    assert read("a.js::x > y z") == ["a.js::x > y z"]
    assert read("a.js::x > y z", "a.js::x y > z") == ["a.js::x y z"]


@pytest.mark.parametrize("text", ["1" * 200_000 + "x", "." + "1" * 200_000 + "x", "1e" + "1" * 200_000 + "x"])
def test_a_text_that_is_nearly_a_number_takes_no_longer_than_others(text):
    began = time.process_time()
    assert not decided("js.==", text, 1)
    assert time.process_time() - began < 5


def message(**parts: Any) -> dict[str, Any]:
    """What a linter says, as handout.js hands it out."""
    told = {"messageId": "found", "template": "no {{ name }}", "message": "no cash", "type": "Identifier", "line": 1}
    places = {"column": 1, "endLine": 1, "endColumn": 5, "suggestions": [], "own": True, "fatal": False}
    return {**told, **places, **parts}


SUGGESTED = {"messageId": "found", "template": "no {{ name }}", "desc": "no b", "output": "b;"}


@pytest.mark.parametrize(
    ("said", "errors", "since", "holds"),
    [
        ([], 0, 5, True),
        ([message()], 0, 5, False),
        ([message(), message()], 2, 9, True),
        ([message()], ["no cash"], 9, True),
        ([message()], ["no cas"], 9, False),
        ([message()], [["R", "RegExp", "^no", "", []]], 9, True),
        ([message(message="yes")], [["R", "RegExp", "^no", "", []]], 9, False),
        ([message()], [{"message": "no cash", "line": 1, "endColumn": 5, "type": "Identifier"}], 8, True),
        ([message()], [{"line": 2}], 8, False),
        ([message(endLine=UNDEFINED)], [{"endLine": UNDEFINED}], 8, True),
        ([message()], [{"endLine": UNDEFINED}], 8, False),
        ([message()], [{"type": "Literal"}], 8, False),
        ([message()], [{"messageId": "found"}], 9, True),
        ([message()], [{"messageId": "other"}], 9, False),
        ([message()], [{"messageId": "found", "data": {"name": "cash"}}], 9, True),
        ([message()], [{"messageId": "found", "data": {"name": "coin"}}], 9, False),
        ([message(template=3)], [{"messageId": "found", "data": {"name": "cash"}}], 9, False),
        ([message(template="no {{ b }}", message="no {{ b }}")], [{"messageId": "found"}], 8, True),
        ([message(template="no {{ b }}", message="no {{ b }}")], [{"messageId": "found"}], 9, False),
        ([message(own=False)], ["no cash"], 9, False),
        ([message(own=False)], 1, 9, True),
        ([message(fatal=True)], ["no cash"], 6, True),
        ([message(fatal=True)], ["no cash"], 7, False),
        ([message()], ["no cash", "no cash"], 9, False),
        ([message(suggestions=[SUGGESTED])], [{"messageId": "found"}], 8, True),
        ([message(suggestions=[SUGGESTED])], [{"messageId": "found"}], 9, False),
        ([message(suggestions=[SUGGESTED])], [{"suggestions": 1}], 9, True),
        ([message(suggestions=[SUGGESTED])], [{"suggestions": []}], 9, False),
        ([message(suggestions=[SUGGESTED, SUGGESTED])], [{"suggestions": 2}], 8, True),
        ([message(suggestions=[SUGGESTED, SUGGESTED])], [{"suggestions": 2}], 9, False),
        ([message(suggestions=[SUGGESTED, {**SUGGESTED, "desc": "no c"}])], [{"suggestions": 2}], 9, True),
        ([message()], [{"suggestions": None}], 9, True),
        ([message(suggestions=[SUGGESTED])], [{"suggestions": [{"desc": "no b", "output": "b;"}]}], 9, True),
        ([message(suggestions=[SUGGESTED])], [{"suggestions": [{"messageId": "found", "output": "c;"}]}], 9, False),
        (
            [message(suggestions=[SUGGESTED])],
            [{"suggestions": [{"messageId": "found", "data": {"name": "c"}}]}],
            9,
            False,
        ),
    ],
)
def test_a_case_of_a_linters_test_is_decided_by_what_it_says_as_that_version_of_its_tester_does(
    said, errors, since, holds
):
    out = {"messages": said, "output": "a;", "isFixed": False}
    assert decided("js.lint", out, {"since": since, "errors": errors}) is holds


@pytest.mark.parametrize(
    ("output", "is_fixed", "wanted", "since", "holds"),
    [
        ("b;", True, {"output": "b;"}, 5, True),
        ("b;", True, {"output": "c;"}, 5, False),
        ("b;", True, {"output": None}, 5, False),
        ("a;", False, {"output": None}, 9, True),
        ("b;", True, {}, 6, True),
        ("b;", True, {}, 7, False),
        ("a;", False, {}, 7, True),
        ("b;", True, {"output": ["b;"]}, 9, False),
    ],
)
def test_what_the_fixes_of_a_case_make_is_compared_where_its_tester_compares_it(output, is_fixed, wanted, since, holds):
    out = {"messages": [message()], "output": output, "isFixed": is_fixed}
    assert decided("js.lint", out, {"since": since, "errors": 1, **wanted}) is holds
    assert not decided("js.lint", {"output": output}, {"since": since, "errors": 1, **wanted})


@pytest.mark.parametrize(
    ("value", "expected", "rules", "holds"),
    [
        ([1, "q"], ["q", 1], "===", True),
        ([1, 1, 2], [1, 2, 2], "===", False),
        ([1], [1, 1], "===", False),
        (["S", "Set", [js(1)], []], [1], "===", False),
        ([[1]], [[1]], "===", False),  # which of two objects it is can't be told
        ([[1], [2]], [[2], [1]], "chai", True),
        ([[1], [2]], [[2], [3]], "chai", False),
    ],
)
def test_members_are_compared_in_whatever_order(value, expected, rules, holds):
    assert decided("js.members", value, expected, rules=rules) is holds


def test_a_part_of_a_text_is_in_no_array():
    assert decided("js.contain", "abc", "b", by="text")
    assert not decided("js.contain", ["b"], "b", by="text")


INHERITING = ["O", "Point", []]
TAGGED = ["O", "Tagged", [], ["Tagged"]]
NEITHER = [
    ("js.contain", "0,1", 0, {}),
    ("js.contain", ["S", "Set", [js(math.nan)], []], math.nan, {}),
    ("js.length", {"a": 1}, 0, {"by": "length"}),
    ("js.length", {"length": "1"}, 1, {"by": "length"}),
    ("js.length", ["T", "ArrayBuffer", ["1"], []], 0, {"by": "length"}),
    ("js.object", 1, [], {}),
    ("js.object", {"0": 1}, [1], {}),
    ("js.object", INHERITING, {"x": 1}, {}),
    ("js.object", INHERITING, {"x": 1}, {"by": "include", "rules": "chai"}),
    ("js.close", "1", 1, {}),
    ("js.members", {"a": 1}, [], {"rules": "==="}),
    ("js.kind", TAGGED, "object", {}),
    ("js.deep", ["B", "Number", js(1), []], 1, {"rules": "uvu"}),
    ("js.deep", [1, UNDEFINED], [1], {"rules": "jest"}),
    ("js.deep", INHERITING, {"x": UNDEFINED}, {"rules": "jest"}),
]


@pytest.mark.parametrize(("op", "out", "kept", "options"), NEITHER)
def test_what_a_library_refuses_to_compare_or_compares_otherwise_by_version_passes_neither_way(op, out, kept, options):
    assert not decided(op, out, kept, **options)
    assert not decided(op, out, kept, **options, **{"not": True})


@pytest.mark.parametrize(
    ("rules", "left", "other", "differs"),
    [
        ("chai", [HOLE], [UNDEFINED], False),
        ("ava", ["O", None, []], {}, False),
        ("loose", ["O", "Object", [[["Y", "for a"], ["N", "1"]]]], {}, False),
        ("tape", ["D", "Date", "5", [[["s", "x"], ["N", "1"]]]], ["D", "Date", "5", []], False),
        ("chai", {"a": 1}, {"a": 2}, True),
        ("jest", [1, 2], [1], True),
        ("tape", ["D", "Date", "5", []], ["D", "Date", "6", []], True),
        ("ava", {"a": 1}, [1], True),
    ],
)
def test_that_two_values_differ_is_told_where_they_do_for_every_library(rules, left, other, differs):
    assert decided("js.deep", left, other, rules=rules, **{"not": True}) is differs


def test_tape_asks_for_one_class():
    assert not decided("js.deep", ["O", "Point", [[["s", "x"], ["N", "1"]]]], {"x": 1}, rules="tape")
    assert decided("js.deep", {"x": 1}, {"x": 1}, rules="tape")


@pytest.mark.parametrize(
    ("value", "is_empty"),
    [
        ({}, True),
        ({"a": 1}, False),
        ({"length": 0}, False),
        ([], True),
        ("", True),
        (["M", "Map", [], []], True),
        (["S", "Set", [js(1)], []], False),
    ],
)
def test_what_is_empty_for_chai_has_no_properties_or_members(value, is_empty):
    assert decided("js.length", value, 0, by="keys") is is_empty
    assert decided("js.length", value, 0, by="keys", **{"not": True}) is not is_empty


def test_of_a_dataset_from_before_an_object_with_properties_is_not_empty():
    assert [decided("js.length", value, 0, **{"not": True}) for value in ({}, {"a": 1})] == [False, True]


def test_an_array_holds_no_nan_and_contains_no_object_that_is_an_array():
    assert not decided("js.contain", [math.nan], math.nan)
    sample = ["m", "ObjectContaining", False, js([1]), None]
    assert not decided("js.deep", [1], sample, rules="jest")


def test_what_has_no_property_to_be_asked_passes_neither_way():
    contrary = {"rules": "chai", "not": True}
    for nothing in (UNDEFINED, None, ["O", None, []]):
        assert decided("js.deep", nothing, {"a": 1}, **contrary)
        assert not decided("js.deep", nothing, {"a": 1}, asks="should", **contrary)
    plain = ["O", None, [[["s", "a"], js(1)]]]
    assert decided("js.deep", plain, {"a": 1}, rules="chai")
    assert not decided("js.deep", plain, {"a": 1}, rules="chai", asks="should")
    assert decided("js.deep", {"a": 1}, {"a": 1}, rules="chai", asks="should")


def test_by_the_sign_alone_nan_is_not_itself():
    assert decided("js.==", math.nan, math.nan)
    assert not decided("js.==", math.nan, math.nan, by="==")
    assert decided("js.==", math.nan, math.nan, by="==", **{"not": True})
    assert decided("js.==", "1", 1, by="==")


@pytest.mark.parametrize(
    ("rules", "holds"),
    [("strict", False), ("loose", False), ("tap", False), ("should", False), ("jest", True), ("chai", True)],
)
def test_where_a_regular_expression_searches_next_counts_for_some_libraries(rules, holds):
    plain, moved = (["R", "RegExp", "a", "g", props] for props in ([], [[js("lastIndex"), js(2)]]))
    assert decided("js.deep", moved, plain, rules=rules) is holds
    assert not decided("js.deep", ["R", "RegExp", "a", "g", [[js("other"), js(2)]]], plain, rules=rules)


def test_a_boxed_value_that_is_asked_by_its_property_is_not_decided():
    boxed = ["B", "Number", js(3), []]
    assert decided("js.===", boxed, 3, **{"not": True})
    assert not decided("js.===", boxed, 3, asks="should", **{"not": True})


def test_jasmine_finds_no_empty_text_and_tells_zeros_apart():
    assert decided("js.contain", [0], 0, by="jasmine")
    assert not decided("js.contain", [-0.0], 0, by="jasmine")
    assert decided("js.contain", [math.nan], math.nan, by="jasmine")
    assert not decided("js.contain", [math.nan], math.nan, by="jasmine", **{"not": True})
    assert decided("js.contain", "abc", "b", by="jasmine")
    assert not decided("js.contain", "", "", by="jasmine")
    assert not decided("js.contain", ["S", "Set", [js(math.nan)], []], math.nan, by="jasmine", **{"not": True})


def test_a_set_of_another_class_a_class_and_nothing_are_told_apart_as_each_library_does():
    of_class = ["S", "Members", [js(1)], []]
    assert [decided("js.deep", of_class, ["S", "Set", [js(1)], []], rules=rules) for rules in ("jasmine", "chai")] == [
        False,
        True,
    ]
    point = ["O", "Point", [[["s", "a"], js(1)]]]
    assert [decided("js.deep", point, {"a": 1}, rules=rules) for rules in ("should", "chai")] == [False, True]
    assert decided("js.deep", -0.0, 0, rules="should")
    assert [decided("js.deep", UNDEFINED, None, rules=rules) for rules in ("loose", "expect.js")] == [True, False]
    assert decided("js.deep", [1], ["1"], rules="expect.js")
    assert not decided("js.contain", ["S", "Set", [js(1)], []], 1, by="array")
    assert not decided("js.length", ["S", "Set", [js(1)], []], 0, by="keys", rules="expect.js", **{"not": True})
    assert decided("js.deep", point, {"a": 1}, rules="code")
    assert [decided("js.deep", left, other, rules="code") for left, other in ((-0.0, 0), (UNDEFINED, None))] == [
        False,
        False,
    ]
    assert decided("js.length", {"a": 1}, 1, by="keys", rules="code")
    assert not decided("js.length", {"length": 1}, 1, by="keys", rules="code")
    assert not decided("js.length", point, 1, by="keys", rules="code")


def test_of_calls_that_were_not_made_only_what_differs_for_every_library_counts():
    for given in (["O", None, [[["s", "a"], js(1)]]], {"b": 1}):
        made = [[given]]
        was_not = {"which": "any", "rules": "ava", "first": True, "not": True}
        assert decided("js.called", made, {"a": 1}, **was_not) is (given == {"b": 1})
        assert not decided("js.called", made, {"a": 1}, **{**was_not, "not": False})
    members = [[["S", "Set", [js(2), js(1)], []]]]
    assert not decided("js.called", members, ["S", "Set", [js(1), js(2)], []], **was_not)


def test_to_vitest_what_is_no_error_is_not_alike_one():
    site = Site(op="js.raises", sides=("kept",))
    event = Event(test_id="t", slot=0, values=(), raised=["js", js({"message": "no"})])
    kept = (["js", error("Error", "no", "Error")],)
    for alike, holds in (("whole", False), ("cause", True)):
        told = replace(site, options={"by": "message", "alike": alike})
        assert judge.event_holds(told, Expected(slot=0, kept=kept, raises=True, plain=False), event) is holds


def test_where_versions_differ_in_zeros_and_nan_neither_is_told_apart():
    contrary = {"by": "both", "not": True}
    assert not any(decided("js.===", *pair, **contrary) for pair in ((math.nan, math.nan), (-0.0, 0), (1, 1)))
    assert decided("js.===", 1, 2, **contrary)


def test_what_says_itself_what_it_is_includes_nothing():
    props = [[["s", "a"], js(1)]]
    for told, holds in (([], True), ([["Array"]], False)):
        assert decided("js.object", ["O", "Object", props, *told], {"a": 1}, by="include", rules="chai") is holds
