"""Which tests pass by expectations that were never inside: by test, slot and occurrence."""

from __future__ import annotations

import json
from dataclasses import replace
from ipaddress import ip_network

import pytest

from harness.core.errors import InputError
from harness.core.expectations import Expectations, ExpectedTest, Site
from harness.core.instance import TestStatus
from harness.core.test_ids import stable
from harness.judging.judge import event_holds, judge, of_fix
from harness.judging.values import Event, MalformedError
from harness.languages.base import TestReport
from harness.languages.python.pytest import read
from tests.values_of_tests import encode, exception

PASSED, FAILED = TestStatus.PASSED, TestStatus.FAILED
EQUALS = Site(op="==", sides=("out", "kept"))
OPAQUE = ["o", "m.C", [], None]


def expecting(site: Site, *kept: object, gold: tuple = (), raised: object = None, place: str = "host") -> Expectations:
    """Expectations of one test `a` with one assertion, at which the fix handed out `gold`."""
    event = of_fix(Event(test_id="a", slot=0, values=tuple(map(encode, gold)), raised=raised), map(encode, kept), {})
    return Expectations(sites={0: site}, tests={"a": ExpectedTest(place=place, events=(event,))})


def handing(*values: object, raised: object = None, slot: int = 0, n: int = 0, test_id: str = "a") -> Event:
    return Event(test_id=test_id, slot=slot, n=n, values=values, raised=raised)


def reported(*events: Event, statuses: dict | None = None) -> TestReport:
    return TestReport(statuses=statuses or {"a": PASSED}, events=events, collected=("a",), finished=True)


def status(expectations: Expectations, *events: Event) -> TestStatus:
    return judge(expectations, reported(*events)).statuses["a"]


ONE = expecting(EQUALS, 1, gold=(1,))


def test_a_test_passes_whose_values_are_those_expected():
    assert status(ONE, handing(encode(1))) is PASSED


@pytest.mark.parametrize(
    "events",
    [
        pytest.param([], id="nothing came out"),
        pytest.param([handing(encode(2))], id="another value"),
        pytest.param([handing()], id="no value"),
        pytest.param([handing(encode(1), encode(1))], id="two values"),
        pytest.param([handing(encode(1), raised=exception(ValueError()))], id="an exception besides"),
        pytest.param([handing(OPAQUE)], id="an object"),
        pytest.param([handing(["any"])], id="a comparator"),
        pytest.param([handing({"int": "1"})], id="no value at all"),
        pytest.param([handing(["i", "f" * 20_001])], id="a number over the limit"),
        pytest.param([handing(encode(1), n=1)], id="at another time"),
        pytest.param([handing(encode(1)), handing(encode(1), n=1)], id="once too often"),
        pytest.param([handing(encode(1)), handing(encode(1))], id="twice"),
        pytest.param([handing(encode(1), test_id="b")], id="in another test"),
    ],
)
def test_a_test_fails_where_an_assertion_does_not_hold(events):
    found = judge(ONE, reported(*events))
    assert found.statuses["a"] is FAILED
    assert found.texts["a"].startswith("slot 0")


@pytest.mark.parametrize("failed", [FAILED, TestStatus.ERROR, TestStatus.SKIPPED, TestStatus.XFAIL])
def test_right_values_do_not_lift_a_test_that_did_not_pass(failed):
    found = judge(ONE, reported(handing(encode(1)), statuses={"a": failed}))
    assert found.statuses["a"] is failed


def test_right_values_of_a_test_without_a_result_are_no_result():
    assert "a" not in judge(ONE, TestReport(events=(handing(encode(1)),))).statuses


def test_a_test_that_the_expectations_do_not_know_passes_where_it_comes_to_no_stripped_assertion_as_with_the_fix():
    events = handing(encode(1)), handing(encode(9), test_id="b")
    found = judge(ONE, reported(*events, statuses={"a": PASSED, "b": PASSED, "c": PASSED}))
    assert found.statuses == {"a": PASSED, "b": FAILED, "c": PASSED}
    assert found.texts["b"] == "slot 0, time 0: an assertion that the fix does not come to"
    assert not found.violations


def test_a_value_for_an_assertion_that_is_not_there_is_a_violation():
    assert judge(ONE, reported(handing(encode(1)), handing(encode(1), slot=7, test_id="b"))).violations


def test_results_are_told_by_the_listed_ids():
    expectations = replace(ONE, ids={"a[p0]": "a"})
    report = replace(reported(handing(encode(1), test_id="a[p0]"), statuses={"a[p0]": PASSED}), collected=("a[p0]",))

    found = judge(expectations, report)
    assert found.statuses == {"a": PASSED}
    assert found.collected == ("a",)


def test_a_result_under_an_id_that_is_only_listed_is_a_violation():
    assert judge(replace(ONE, ids={"a[p0]": "a"}), reported(handing(encode(1)))).violations


def test_no_reason_tells_what_was_expected():
    secret = expecting(EQUALS, "hunter2", gold=("hunter2",))
    found = judge(secret, reported(handing(encode("other"))))
    assert found.texts["a"] == "slot 0 (==), time 0: it does not hold"


def test_one_bad_value_costs_the_test_it_belongs_to_and_no_other():
    other = replace(ONE, tests={**ONE.tests, "b": ONE.tests["a"]})
    events = handing([[[]]]), handing(encode(1), test_id="b")

    found = judge(other, reported(*events, statuses={"a": PASSED, "b": PASSED}))
    assert found.statuses == {"a": FAILED, "b": PASSED}


GO, JAVA, RUST = ["go", True, ["s", "string", "a"], None], ["java", False, ["s", "a"]], ["rust", "&str", '"a"']
RAISES = Site(op="raises", sides=("kept",))


def test_an_exception_is_judged_where_the_fix_raised_one():
    expectations = expecting(RAISES, ValueError, raised=exception(ValueError("no")))

    assert status(expectations, handing(raised=exception(ValueError("not")))) is PASSED
    assert status(expectations, handing(raised=exception(KeyError("no")))) is FAILED
    assert status(expectations, handing(raised=encode(1))) is FAILED
    assert status(expectations, handing()) is FAILED


def test_a_message_of_all_there_is_to_say_is_too_large():
    site = replace(RAISES, options={"match": encode("no such")})
    expectations = expecting(site, ValueError, raised=exception(ValueError("no such thing")))

    assert status(expectations, handing(raised=exception(ValueError("no such thing here")))) is PASSED
    assert status(expectations, handing(raised=exception(ValueError("no such " * 1000)))) is FAILED


def test_a_text_with_all_that_a_pattern_may_want_is_too_large():
    expectations = expecting(Site(op="regex", sides=("out", "kept")), "b", gold=("abc",))

    assert status(expectations, handing(encode("abc"))) is PASSED
    assert status(expectations, handing(encode("abc" * 100))) is FAILED


@pytest.mark.parametrize(
    ("op", "kept", "gold", "large"),
    [
        (">", [0], 5, 16**400),
        ("!=", [0], 5, [1] * 400),
        ("startswith", ["a"], "abc", "a" * 400),
        ("endswith", ["a"], "cba", "a" * 400),
        ("isinstance", [list], [1], [1] * 400),
        ("truth", [], True, "a" * 400),
        ("is_not", [None], "a", "a" * 400),
        ("in", ["a" * 400], "a", "a" * 400),
        ("not_in", ["b"], "a", "a" * 400),
    ],
)
def test_a_value_that_gains_nothing_by_its_size_may_be_of_any(op, kept, gold, large):
    sides = ("kept", "out") if op == "not_in" else ("out", *("kept" for _ in kept))
    expectations = expecting(Site(op=op, sides=sides), *kept, gold=(gold,))

    assert status(expectations, handing(encode(gold))) is PASSED
    assert status(expectations, handing(encode(large))) is PASSED


LONG = "a" * 900


@pytest.mark.parametrize(
    ("site", "kept", "gold", "out"),
    [
        (Site(op="js.truth", sides=("out",)), [], ["js", True], ["js", ["x", "Promise"]]),
        (
            Site(op="js.is", sides=("out", "kept"), options={"not": True}),
            [["js", None]],
            ["js", True],
            ["js", ["x", "P"]],
        ),
        (Site(op="go.nil", sides=("out",), options={"not": True}), [], GO, [*GO[:2], ["s", "string", LONG], None]),
        (Site(op="java.null", sides=("out",), options={"not": True}), [], JAVA, ["java", False, ["s", LONG]]),
        (Site(op="rust.starts", sides=("out", "kept")), [RUST], RUST, ["rust", "&str", f'"a{LONG}"']),
    ],
)
def test_other_languages_ask_for_no_size_or_form_either_where_it_tells_nothing(site, kept, gold, out):
    event = of_fix(handing(gold), kept, {})
    expectations = Expectations(sites={0: site}, tests={"a": ExpectedTest(place="host", events=(event,))})

    assert status(expectations, handing(gold)) is PASSED
    assert status(expectations, handing(out)) is PASSED


def test_an_exception_of_which_only_the_class_is_asked_for_may_say_more():
    site = replace(RAISES, sides=("out", "kept"))
    expectations = expecting(site, (ValueError, KeyError), raised=exception(ValueError("no")))

    assert status(expectations, handing(raised=exception(ValueError("no such thing " * 100)))) is PASSED
    assert status(expectations, handing(raised=exception(OSError("no such thing " * 100)))) is FAILED


def test_an_instance_of_a_great_many_classes_is_none():
    names = [f"m.C{number}" for number in range(40)]
    site = Site(op="isinstance", sides=("out", "kept"))
    event = of_fix(handing(exception(ValueError("a"))), [encode(ValueError)], {})
    expectations = Expectations(sites={0: site}, tests={"a": ExpectedTest(place="host", events=(event,))})

    assert status(expectations, handing(exception(ValueError("a")))) is PASSED
    assert status(expectations, handing(["e", [*names, *exception(ValueError())[1]], "", [], []])) is FAILED


@pytest.mark.parametrize(("op", "told", "expected"), [
    ("truth", [True], PASSED), ("truth", [False], FAILED), ("truth", [], FAILED), ("truth", [1], FAILED),
    ("not", [True], FAILED), ("not", [False], PASSED), ("not", [], FAILED),
])  # fmt: skip
def test_an_object_says_whether_it_is_true_where_the_fix_gives_a_boolean(op, told, expected):
    expectations = expecting(Site(op=op, sides=("out",)), gold=(op == "truth",))

    assert status(expectations, handing([*OPAQUE, *told])) is expected


def test_a_list_of_everything_is_too_large_for_membership():
    expectations = expecting(Site(op="in", sides=("kept", "out")), 7, gold=([5, 7],))

    assert status(expectations, handing(encode([7]))) is PASSED
    assert status(expectations, handing(encode(list(range(100))))) is FAILED


def test_what_equals_only_what_was_expected_may_be_of_any_size():
    expectations = expecting(EQUALS, [0] * 500, gold=([],))
    assert status(expectations, handing(encode([0] * 500))) is PASSED


def test_an_object_is_taken_where_the_fix_gave_one():
    site = Site(op="is_not", sides=("out", "kept"))
    event = of_fix(handing(OPAQUE), [None], {})
    expectations = Expectations(sites={0: site}, tests={"a": ExpectedTest(place="host", events=(event,))})

    assert status(expectations, handing(OPAQUE)) is PASSED
    assert status(expectations, handing(encode(None))) is FAILED
    assert status(expecting(site, None, gold=(1,)), handing(OPAQUE)) is PASSED
    equal = expecting(Site(op="==", sides=("out", "kept")), 1, gold=(1,))
    assert status(equal, handing(OPAQUE)) is FAILED


def test_two_operands_that_come_out_are_compared_with_each_other():
    expectations = expecting(Site(op="==", sides=("out", "out"), decides="operands"), gold=(1, 1))

    assert status(expectations, handing(encode(2), encode(2))) is PASSED
    assert status(expectations, handing(encode(2), encode(1))) is FAILED
    assert status(expectations, handing(OPAQUE, OPAQUE)) is FAILED


@pytest.mark.parametrize(
    ("value", "truth", "contrary"),
    [
        (["l", [OPAQUE]], PASSED, FAILED),
        (["l", []], FAILED, PASSED),
        (OPAQUE, FAILED, FAILED),  # only its own code tells
        (["o", "shop.Cart", None, None, True], PASSED, FAILED),
        (["x", "too large"], FAILED, FAILED),
    ],
)
def test_whether_something_is_true_is_told_of_objects_as_far_as_they_show_it(value, truth, contrary):
    for op, wanted, gold in (("truth", truth, ["o", "shop.Cart", None, None, True]), ("not", contrary, ["l", []])):
        site = Site(op=op, sides=("out",), decides="operands")
        expectations = Expectations(
            sites={0: site}, tests={"a": ExpectedTest(place="host", events=(of_fix(handing(gold), [], {}),))}
        )
        assert status(expectations, handing(value)) is wanted


@pytest.mark.parametrize(("last", "expected"), [(True, PASSED), (False, FAILED), (["i", "1"], FAILED)])
def test_a_result_of_the_products_own_comparison_has_to_be_true(last, expected):
    event = of_fix(handing(OPAQUE, OPAQUE, True), [], {})
    site = Site(op="==", sides=("out", "out"), decides="result")
    expectations = Expectations(sites={0: site}, tests={"a": ExpectedTest(place="mixed", events=(event,))})

    assert status(expectations, handing(OPAQUE, OPAQUE, last)) is expected


def test_a_result_without_its_operands_is_none():
    event = of_fix(handing(OPAQUE, OPAQUE, True), [], {})
    site = Site(op="==", sides=("out", "out"), decides="result")
    expectations = Expectations(sites={0: site}, tests={"a": ExpectedTest(place="mixed", events=(event,))})

    assert status(expectations, handing(True)) is FAILED


def test_an_exception_at_another_assertion_than_raises_never_holds():
    expectations = expecting(EQUALS, 1, raised=exception(ValueError()))
    assert status(expectations, handing(raised=exception(ValueError()))) is FAILED


def test_no_exception_where_none_was_raised_is_enough_for_a_site_of_nothing_else():
    expectations = expecting(Site(op="no_raise"))
    assert status(expectations, handing()) is PASSED
    assert status(expectations, handing(raised=exception(ValueError()))) is FAILED


def test_the_fixs_own_values_have_to_be_readable():
    with pytest.raises(MalformedError):
        of_fix(handing(["any"]), [], {})


def test_expectations_come_back_from_their_file():
    site = Site(op="raises", sides=("kept",), options={"match": encode("\ud800")})
    expectations = replace(
        expecting(site, ValueError, raised=exception(ValueError("\ud800"))), files={"t.py": "x"}, ids={"b": "a"}
    )
    told = json.loads(json.dumps(expectations.as_json()))

    back = Expectations.from_json(told)
    assert json.dumps(back.as_json()) == json.dumps(expectations.as_json())
    assert back.sites[0].op == "raises"


@pytest.mark.parametrize(
    "told",
    [
        [],
        {},
        {"schema_version": 2},
        {"schema_version": 1, "sites": {"a": {"op": "=="}}},
        {"schema_version": 1, "sites": {"0": {"op": "<>"}}},
        {"schema_version": 1, "sites": {"0": {"op": "==", "sides": ["in"]}}},
        {"schema_version": 1, "tests": {"a": {"place": "inside", "events": []}}},
        {"schema_version": 1, "tests": {"a": {"place": "host", "events": [{"slot": -1}]}}},
    ],
)
def test_a_broken_file_of_expectations_is_refused(told):
    with pytest.raises(InputError):
        Expectations.from_json(told)


def frame(**fields) -> dict:
    return {"t": "value", "id": "a", "slot": 0, "n": 0, "values": [["i", "1"]], "raised": None, **fields}


def test_frames_of_values_are_read_as_events():
    found = read([{"t": "collected", "ids": ["a"]}, frame(), frame(n=1, raised=exception(ValueError()))])

    assert [(one.test_id, one.slot, one.n) for one in found.events] == [("a", 0, 0), ("a", 0, 1)]
    assert found.events[0].values == (["i", "1"],)
    assert not found.violations


def test_two_values_for_one_assertion_are_a_violation():
    assert read([frame(), frame(values=[])]).violations


@pytest.mark.parametrize(
    "fields",
    [
        {"slot": -1},
        {"n": -1},
        {"slot": True},
        {"slot": 10**400},
        {"n": 0.0},
        {"id": None},
        {"values": {}},
        {"raised": "ValueError"},
        {"raised": False},
    ],
)
def test_a_frame_of_a_value_of_another_form_is_a_violation(fields):
    assert read([frame(**fields)]).violations


def test_a_result_under_the_name_of_several_tests_passes_none_of_them():
    [event] = ONE.tests["a"].events
    listed = ["t.py::a[<object at 0x1234>]", "t.py::a[<object at 0x5678>]"]
    both = Expectations(sites=ONE.sites, tests={one: ExpectedTest(place="host", events=(event,)) for one in listed})
    found = judge(both, reported(statuses={stable(listed[0]): PASSED}))
    assert [found.statuses[one] for one in listed] == [FAILED, FAILED]


@pytest.mark.parametrize("value", [range(-(10**15), 10**15), ip_network("0.0.0.0/0")], ids=str)
def test_a_value_that_holds_everything_and_is_short_to_write_is_too_large(value):
    within = Site(op="in", sides=("kept", "out"))
    assert status(expecting(within, 7, gold=([5, 7],)), handing(encode([7]))) is PASSED
    assert status(expecting(within, 7, gold=([5, 7],)), handing(encode(value))) is FAILED


def test_warnings_of_many_kinds_are_none_of_the_right_kind():
    kinds = (UserWarning, DeprecationWarning, FutureWarning)
    one, few, many = (["l", [exception(kind("x")) for kind in kinds[start:]]] for start in (2, 1, 0))
    event = of_fix(handing(one), [encode(FutureWarning)], {})
    warns = Expectations(
        sites={0: Site(op="warns", sides=("out", "kept"))}, tests={"a": ExpectedTest(place="host", events=(event,))}
    )
    assert status(warns, handing(few)) is PASSED
    assert status(warns, handing(many)) is FAILED


def test_an_exception_of_every_class_of_the_product_is_none():
    names = [*(f"shop.Error{number}" for number in range(20)), *exception(ValueError("x"))[1]]
    error = ["e", names, "x", [], []]
    gold = ["e", [names[0], *names[-3:]], "x", [], []]
    raises = expecting(Site(op="raises", sides=("kept",)), gold=(), raised=gold)
    assert judge(raises, reported(handing(raised=error))).statuses["a"] is FAILED
    assert "too many classes" in judge(raises, reported(handing(raised=error))).texts["a"]


def test_options_are_those_of_the_assertion_and_of_the_time_that_it_came_to():
    site, came = Site(op="almost", sides=("out", "kept")), Event(test_id="t", slot=0, values=(encode(1.2),))
    coarse, plain = (of_fix(came, [encode(1.0)], options) for options in ({"places": 0}, {}))
    assert not event_holds(site, plain, came)
    assert event_holds(site, coarse, came)
    assert event_holds(replace(site, options={"places": 0}), plain, came)
