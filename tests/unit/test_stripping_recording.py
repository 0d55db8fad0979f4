"""What is kept outside of what both sides of an assertion gave, as a run of the fix hands them out."""

from __future__ import annotations

import json
from functools import partial

import pytest

from harness.core.expectations import Expectations
from harness.core.instance import TestStatus
from harness.judging import judge, values
from harness.judging.values import Event
from harness.languages.base import TestReport
from miner.languages import recording
from miner.languages.java.stripping.literals import function_of_test
from miner.languages.java.stripping.source import StrippedSource
from miner.languages.python.stripping.documents import parsed
from miner.languages.recording import record

SOURCE = b"import shop\n\ndef test_a():\n    assert shop.f(1) == shop.g(2)\n"
TEST = "t.py::test_a"


def without_data(run):
    """A run of tests that read nothing."""
    run.data = {}
    return run


def decided(*values, other=None) -> str:
    """How the assertion of two sides is decided, whose comparison, by the product's code, hands out these values."""

    @without_data
    def run(files, *, gold, number=0, tests=()) -> TestReport:
        source = files.get("t.py", SOURCE).decode()
        given = values if gold and (number == 0 or other is None) else other or ()
        if "recorded" in source:
            given = (["i", "1"], ["i", "1"], True)  # code of the product compares
        events = (Event(test_id=TEST, slot=0, n=0, values=given, raised=None),) if "__goldseam__" in source else ()
        return TestReport(
            statuses={TEST: TestStatus.PASSED if gold else TestStatus.FAILED},
            finished=True,
            exit_code=0,
            events=events,
            collected=(TEST,),
        )

    found = record(
        {"t.py": SOURCE}, fail_to_pass=[TEST], pass_to_pass=[], parse=partial(parsed, product=lambda _: True), run=run
    )
    return found.expectations.sites[0].decides if found.expectations.sites else "inside"


def test_the_result_of_a_comparison_is_kept_where_both_sides_come_out():
    assert decided(["i", "1"], ["i", "1"], True) == "result"


def test_tests_that_a_recording_did_not_come_to_in_its_time_are_recorded_alone():
    both = b"import shop\n\ndef test_a():\n    assert shop.f(1) == 1\n\ndef test_b():\n    assert shop.f(2) == 2\n"
    asked = []

    @without_data
    def run(files, *, gold, number=0, tests=()) -> TestReport:
        asked.append(set(tests))
        is_recording = b"recorded" in files["t.py"]
        names = {"a", "b"} if not is_recording else {"b"} if tests else {"a"}
        given = (["i", "1" if gold else "0"], *([["i", "1"]] if is_recording else ()))
        return TestReport(
            statuses={f"t.py::test_{name}": TestStatus.PASSED for name in sorted(names)},
            finished=len(names) > 1 or bool(tests),
            exit_code=0,
            events=tuple(
                Event(test_id=f"t.py::test_{name}", slot="ab".index(name), n=0, values=given, raised=None)
                for name in sorted(names)
            ),
            collected=("t.py::test_a", "t.py::test_b"),
        )

    found = record(
        {"t.py": both},
        fail_to_pass=["t.py::test_a", "t.py::test_b"],
        pass_to_pass=[],
        parse=partial(parsed, product=lambda _: True),
        run=run,
    )
    assert {test: kept.place for test, kept in found.expectations.tests.items()} == {
        "t.py::test_a": "host",
        "t.py::test_b": "host",
    }
    assert asked[:2] == [set(), {"t.py::test_b"}]


GIVEN = b"import shop\n\ndef test_a():\n    data = [1]\n    assert shop.f(data) == data\n"
ONE, TWO = ["l", [["i", "1"]]], ["l", [["i", "2"]]]


def of_given(recorded, base=(ONE, TWO)) -> Expectations:
    """What is kept of a value that a test writes out, gives the product and compares with, as a recording tells it."""

    @without_data
    def run(files, *, gold, number=0, tests=()) -> TestReport:
        source = files.get("t.py", GIVEN).decode()
        left, written, right = recorded
        given = (left, written, right, False) if "recorded" in source else (left, right) if gold else base
        given = (*given, True) if ".truth(" in source else given
        return TestReport(
            statuses={TEST: TestStatus.PASSED},
            finished=True,
            exit_code=0,
            events=(Event(test_id=TEST, slot=0, n=0, values=given, raised=None),),
            collected=(TEST,),
        )

    parse = partial(parsed, product=lambda module: module == "shop")
    return record({"t.py": GIVEN}, fail_to_pass=[TEST], pass_to_pass=[], parse=parse, run=run).expectations


def test_what_comes_of_a_value_that_the_product_was_given_is_held_against_what_was_written():
    kept = of_given((ONE, ONE, ONE))
    assert (kept.tests[TEST].place, kept.tests[TEST].events[0].kept) == ("host", (ONE,))
    assert kept.sites[0].sides == ("out", "kept", "out")


def test_a_value_that_the_fix_changes_is_held_against_what_comes_out_alone():
    kept = of_given((TWO, ONE, TWO))
    assert (kept.tests[TEST].place, kept.tests[TEST].events[0].kept) == ("mixed", ())
    assert (kept.sites[0].op, kept.sites[0].decides) == ("==", "operands")


@pytest.mark.parametrize(
    "forged", [(TWO, TWO), (["l", []], ["l", []]), (ONE, TWO), (TWO, ONE), (ONE,), (ONE, ONE, ONE)]
)
def test_who_changes_what_the_test_gives_and_hands_out_the_same_gains_nothing(forged):
    kept = of_given((ONE, ONE, ONE))
    event = Event(test_id=TEST, slot=0, n=0, values=forged, raised=None)
    assert not judge.event_holds(kept.sites[0], kept.tests[TEST].events[0], event)


TWICE = ["d", [[["s", "a"], None], [["s", "a"], None]]]


@pytest.mark.parametrize(
    "values",
    [
        (["i", "1"], ["i", "2"], False),
        (TWICE, TWICE, True),  # the host can't read it
        (["y"], ["y"], True),
        (True,),
    ],
)
def test_a_result_that_the_host_would_not_take_is_left_inside(values):
    assert decided(*values) == "inside"


def test_a_result_that_does_not_come_again_is_left_inside():
    assert decided(["i", "1"], ["i", "1"], True, other=(["i", "1"], ["i", "2"], False)) == "inside"


@pytest.mark.parametrize(
    ("tests", "is_run_around", "sites"),
    [
        (("", TEST), False, 1),
        (("", TEST), True, 0),
        ((TEST,), True, 1),
        (("",), False, 0),
        (("t.py::under another name",), False, 0),
    ],
)
def test_an_assertion_that_is_made_outside_of_tests_as_well_is_taken_out_for_those_that_make_it(
    tests, is_run_around, sites
):
    @without_data
    def run(files, *, gold, **_) -> TestReport:
        values = (["i", "1"], ["i", "1"], True) if gold or "recorded" in files.get("t.py", SOURCE).decode() else ()
        return TestReport(
            statuses={TEST: TestStatus.PASSED if gold else TestStatus.FAILED},
            finished=True,
            exit_code=0,
            events=tuple(Event(test_id=test_id, slot=0, n=0, values=values, raised=None) for test_id in tests),
            collected=(TEST,),
        )

    found = record(
        {"t.py": SOURCE},
        fail_to_pass=[TEST],
        pass_to_pass=[],
        parse=partial(parsed, product=lambda _: True),
        run=run,
        is_run_around=is_run_around,
    )
    assert len(found.expectations.sites) == sites


LATER = b"import shop\n\ndef test_a():\n    shop.missing()\n    assert shop.f(1) == 2\n    assert shop.g(1) == 3\n"


@pytest.mark.parametrize(("second", "right"), [("4", [0]), ("3", [0, 1])])
def test_what_the_base_gives_right_beyond_the_error_that_ends_a_test_is_known_of_it(second, right):
    two, three, other = ["i", "2"], ["i", "3"], ["i", second]

    @without_data
    def run(files, *, gold, number=0, tests=()) -> TestReport:
        source = files["t.py"].decode()
        values = {0: (two, two, False), 1: (three, three, False)} if "recorded" in source else {0: (two,), 1: (three,)}
        if not gold:
            goes_on = "except (Exception" in source
            values = {0: (two,), 1: (other,)} if goes_on else {}
        return TestReport(
            statuses={TEST: TestStatus.PASSED if gold else TestStatus.FAILED},
            finished=True,
            exit_code=0,
            events=tuple(
                Event(test_id=TEST, slot=slot, n=0, values=given, raised=None) for slot, given in values.items()
            ),
            collected=(TEST,),
        )

    found = record(
        {"t.py": LATER}, fail_to_pass=[TEST], pass_to_pass=[], parse=partial(parsed, product=lambda _: True), run=run
    )

    assert [event.slot for event in found.before] == right
    assert found.expectations.tests[TEST].place == "host"


@pytest.mark.parametrize(("new_code", "right"), [((), [0]), (("t.py",), [])])
def test_of_a_test_that_the_base_does_not_have_nothing_is_right_only_where_it_stands_in_new_code(new_code, right):
    @without_data
    def run(files, *, gold, number=0, tests=()) -> TestReport:
        values = (["i", "1"],) * (2 if b"recorded" in files["t.py"] else 1)
        return TestReport(
            statuses={TEST: TestStatus.PASSED} if gold else {},
            finished=True,
            exit_code=0,
            events=(Event(test_id=TEST, slot=0, n=0, values=values, raised=None),) if gold else (),
            collected=(TEST,) if gold else (),
        )

    found = record(
        {"t.py": b"import shop\n\ndef test_a():\n    assert shop.f(1) == 1\n"},
        fail_to_pass=[TEST],
        pass_to_pass=[],
        parse=partial(parsed, product=lambda _: True),
        run=run,
        new_code=new_code,
    )
    assert [event.slot for event in found.before] == right


COMPILED = b"""class ATest {
    @Test void a() {
        org.junit.jupiter.api.Assertions.assertEquals(1, f(1));
        org.junit.jupiter.api.Assertions.assertEquals(2, g(1));
    }
}
"""


def test_an_assertion_that_the_compiler_refuses_stays_alone_as_it_was():
    test_id, one, two = "ATest.java::a()", *(["java", True, ["i", "Integer", value]] for value in "12")

    @without_data
    def run(files, *, gold, number=0, tests=()) -> TestReport:
        source = files["ATest.java"].decode()
        if "of(g(1))" in source:
            return TestReport(collect_errors={"ATest.java": "ATest.java:4:9: it is not compatible"}, finished=True)
        values = (one, one) if "of(1)" in source else (one if gold else two,)
        return TestReport(
            statuses={test_id: TestStatus.PASSED},
            finished=True,
            exit_code=0,
            events=(Event(test_id=test_id, slot=0, n=0, values=values, raised=None),),
            collected=(test_id,),
        )

    recorded = record(
        {"ATest.java": COMPILED},
        fail_to_pass=[test_id],
        pass_to_pass=[],
        parse=lambda path, source, first: StrippedSource(source, path=path, first=first),
        run=run,
        function=function_of_test,
    )
    assert list(recorded.expectations.sites) == [0]
    assert recorded.expectations.tests[test_id].place == "host"
    assert "assertEquals(2, g(1))" in recorded.expectations.files["ATest.java"]


AROUND = b"""import shop

def test_a():
    assert shop.f(1) == 2

class TestB:
    def test_b(self):
        assert shop.f(2) == 3

    def test_c(self):
        assert shop.f(3) == 4
"""


def test_a_test_that_does_not_pass_beside_others_of_its_class_leaves_these_inside_and_no_more():
    expected = {"t.py::test_a": "2", "t.py::TestB::test_b": "3", "t.py::TestB::test_c": "4"}

    @without_data
    def run(files, *, gold, number=0, tests=()) -> TestReport:
        source = files["t.py"].decode()
        count = 2 if "recorded" in source else 1
        values = {
            slot: (*[["i", value]] * count, *([False] if count > 1 else []))
            for slot, value in enumerate(expected.values() if gold else "999")
            if f"__goldseam__({slot})" in source
        }
        broken = "t.py::TestB::test_b" if 2 in values else None
        return TestReport(
            statuses={
                test_id: TestStatus.PASSED if gold and test_id != broken else TestStatus.FAILED for test_id in expected
            },
            finished=True,
            exit_code=0,
            events=tuple(
                Event(test_id=list(expected)[slot], slot=slot, n=0, values=given, raised=None)
                for slot, given in values.items()
            ),
            collected=tuple(expected),
        )

    found = record(
        {"t.py": AROUND},
        fail_to_pass=["t.py::test_a"],
        pass_to_pass=list(expected)[1:],
        parse=partial(parsed, product=lambda _: True),
        run=run,
    )
    assert {test_id: test.place for test_id, test in found.expectations.tests.items()} == {"t.py::test_a": "host"}


SEVERAL = b"".join(b"def test_%s():\n    assert f(1) == 1\n\n" % name for name in (b"a", b"b", b"c"))


@pytest.mark.parametrize("runs_all", [False, True], ids=["those asked for", "all of the file"])
@pytest.mark.parametrize(("long", "again"), [(0.0, {"t.py::test_b"}), (60.0, set())])
def test_of_a_long_suite_only_what_is_left_inside_is_recorded_again(monkeypatch, long, again, runs_all):
    monkeypatch.setattr(recording, "_LONG", long)
    ids = [f"t.py::test_{name}" for name in "abc"]
    asked = []

    @without_data
    def run(files, *, gold, number=0, tests=()) -> TestReport:
        source = files["t.py"].decode()
        asked.append(set(tests))
        ran = [test_id for test_id in ids if not tests or test_id in tests]
        kept = [["i", "1"], False] if "recorded" in source else []
        values = {ids[1]: [["i", "0"], *kept]}
        given = [["i", "1" if gold else "9"], *kept]
        events = [
            Event(test_id=test_id, slot=slot, n=0, values=tuple(values.get(test_id, given)), raised=None)
            for slot, test_id in enumerate(ids)
            if (runs_all or test_id in ran) and f"__goldseam__({slot})" in source
        ]
        statuses = dict.fromkeys(ran, TestStatus.PASSED if gold else TestStatus.FAILED)
        return TestReport(statuses=statuses, finished=True, exit_code=0, events=tuple(events), collected=tuple(ran))

    parse = partial(parsed, product=lambda _: True)
    found = record({"t.py": SEVERAL}, fail_to_pass=ids, pass_to_pass=[], parse=parse, run=run)
    assert {test_id for test_id, test in found.expectations.tests.items() if test.place == "host"} == {ids[0], ids[2]}
    assert asked[:4] == [set(), again, again, set()]


READING = b"""import pytest, shop
from reader import read_cases
@pytest.mark.parametrize("text, wanted", read_cases("cases.md"))
def test_a(text, wanted):
    assert shop.f(text) == wanted
"""
CASES = "first\n.\n<p>first case</p>\n\n<p>of two</p>\n.\n"


@pytest.mark.parametrize(
    ("broken_by", "left"),
    [
        ("", {"cases.md": "first\n.\n-\n\n-\n.\n", "cases.json": '["first", "-"]'}),
        ("-", {}),  # the data have to stay as they are
    ],
)
def test_what_is_only_expected_goes_out_of_the_data_that_tests_read(broken_by, left):
    wanted = ["s", "<p>first case</p>\n\n<p>of two</p>"]

    def run(files, *, gold, number=0, tests=()) -> TestReport:
        source = files.get("t.py", READING).decode()
        broken = bool(broken_by) and broken_by in files.get("cases.md", b"").decode()
        given = (["s", "another"],) if not gold else (wanted, wanted) if "recorded" in source else (wanted,)
        return TestReport(
            statuses={TEST: TestStatus.PASSED if gold and not broken else TestStatus.FAILED},
            finished=True,
            exit_code=0,
            events=(Event(test_id=TEST, slot=0, n=0, values=given, raised=None),),
            collected=(TEST,),
        )

    run.data = {"cases.md": CASES, "cases.json": json.dumps(["first", wanted[1]]), "other.txt": "no case of it"}
    found = record(
        {"t.py": READING},
        fail_to_pass=[TEST],
        pass_to_pass=[],
        parse=partial(parsed, product=lambda module: module == "shop"),
        run=run,
    )
    assert {path: text for path, text in found.expectations.files.items() if path != "t.py"} == left


@pytest.mark.parametrize(
    "kept",
    [
        ["s", "a café\nat dawn"],
        ["js", ["s", "a café\nat dawn"]],
        ["java", False, ["l", [["s", "a café\nat dawn"]]]],
        ["go", False, ["l", "[]string", [["s", "string", "a café\nat dawn"]]], None],
        ["rust", "Option<&str>", 'Some("a café\\nat dawn")'],
    ],
)
def test_texts_of_all_languages_go_out_of_data_in_the_forms_of_data(kept):
    forms = ("a café\nat dawn", "a café\r\nat dawn", "a café\\nat dawn", "a caf\\u00e9\\nat dawn")
    data = {f"{place}.txt": f"<{form}>" for place, form in enumerate(forms)}
    less = recording._without_texts(data, values.texts_in((kept,)))
    assert list(less.values()) == ["<-\n->", "<-\r\n->", "<->", "<->"]
