"""What the frames of pytest's recorder mean."""

from __future__ import annotations

import time

import pytest

from harness.core.instance import TestSpec, TestStatus
from harness.judging.values import Event
from harness.languages.python.pytest import argv, kept_words, read, safe_plugins

COLLECTED = {"t": "collected", "ids": ["a"]}


def report(when: str, outcome: str = "passed", **fields) -> dict:
    return {
        "t": "report",
        "id": "a",
        "when": when,
        "outcome": outcome,
        "xfail": False,
        "seconds": 0.1,
        "text": "",
        **fields,
    }


def value(**fields) -> dict:
    return {"t": "value", "id": "a", "slot": 0, "n": 0, "values": [["i", "2"]], "raised": None, **fields}


def status(*frames: dict) -> TestStatus | None:
    return read([COLLECTED, *frames]).statuses.get("a")


@pytest.mark.parametrize(
    ("frames", "expected"),
    [
        ([report("setup"), report("call"), report("teardown")], "PASSED"),
        ([report("setup"), report("call", "failed"), report("teardown")], "FAILED"),
        ([report("setup", "failed"), report("teardown")], "ERROR"),
        ([report("setup"), report("call"), report("teardown", "failed")], "ERROR"),
        ([report("setup", "skipped"), report("teardown")], "SKIPPED"),
        ([report("setup"), report("call", "skipped", xfail=True), report("teardown")], "XFAIL"),
        ([report("setup"), report("call", xfail=True), report("teardown")], "XPASS"),
        ([report("setup"), report("call"), report("call", "failed"), report("teardown")], "FAILED"),
        ([report("setup"), report("call", "rerun"), report("call"), report("teardown")], "ERROR"),
        ([report("setup"), report("call")], None),
        ([report("part"), report("part", "skipped"), report("call"), report("teardown")], "PASSED"),
        ([report("part", "skipped"), report("call"), report("teardown")], "SKIPPED"),
        ([report("part"), report("call", "skipped"), report("teardown")], "SKIPPED"),
        ([report("part", "failed"), report("part", "skipped"), report("call"), report("teardown")], "FAILED"),
    ],
)
def test_the_worst_of_a_tests_reports_is_its_status(frames, expected):
    assert status(*frames) == expected


@pytest.mark.parametrize(
    "forged",
    [
        {"t": "report"},
        {**report("call"), "seconds": float("nan")},
        {**report("call"), "seconds": "1"},
        {**report("call"), "id": 1},
        {"t": "collected", "ids": "abc"},
        {"t": "finish", "code": True},
        {"t": "invented"},
        {"t": "value", "id": "a", "place": 0, "value": {"int": "2"}},
        value(slot=-1),
        value(n=True),
        value(slot=1 << 31),
        value(values={}),
        value(raised="ValueError"),
    ],
)
def test_a_frame_of_another_form_is_a_violation_and_nothing_else_counts(forged):
    found = read([COLLECTED, report("setup"), report("call"), report("teardown"), forged])
    assert found.violations
    assert found.statuses == {}


def test_what_assertions_hand_out_is_read_in_the_order_it_came_in():
    error = ["e", ["builtins.ValueError"], "no", [], []]
    found = read([COLLECTED, value(), value(n=1, values=[], raised=error), value(slot=3)])
    assert found.events == (
        Event(test_id="a", slot=0, n=0, values=(["i", "2"],)),
        Event(test_id="a", slot=0, n=1, raised=error),
        Event(test_id="a", slot=3, n=0, values=(["i", "2"],)),
    )
    assert found.violations == ()


def test_a_second_value_for_an_assertion_is_a_violation_even_if_it_is_the_same():
    assert read([COLLECTED, value(), value()]).violations == ("two values for one assertion",)


def test_values_stand_under_the_name_that_the_test_goes_by():
    ids = ["a.py::t[<o at 0x7f30e4b0c1d0>]"]
    found = read([{"t": "collected", "ids": ids}, value(id=ids[0])])
    assert [event.test_id for event in found.events] == ["a.py::t[<o at 0x...>]"]


def test_a_result_for_a_test_that_was_not_collected_is_a_violation():
    assert read([report("teardown")]).violations


def test_what_a_test_fails_with_many_times_is_one_text_and_takes_time_in_proportion():
    frames = [COLLECTED, *(report("part", "failed", text=f"{number} " + "x" * 150) for number in range(50_000))]
    began = time.process_time()
    said = read(frames).texts["a"].split("\n")
    assert time.process_time() - began < 5
    assert (len(said), said[0][:2], said[-1][:6]) == (50_000, "0 ", "49999 ")


def test_success_with_failures_is_a_violation():
    assert read([COLLECTED, report("call", "failed"), report("teardown"), {"t": "finish", "code": 0}]).violations


@pytest.mark.parametrize(
    ("words", "kept"),
    [
        (["-x", "-q", "--cov=src", "-n", "auto", "--junitxml=x"], ()),
        (["--import-mode=importlib", "--doctest-modules"], ("--import-mode=importlib", "--doctest-modules")),
        (["-W", "error", "-m", "not slow"], ("-W", "error", "-m", "not slow")),
        (["-Werror"], ("-Werror",)),
        (["--cov", "--doctest-modules"], ("--doctest-modules",)),
    ],
)
def test_only_options_that_change_what_a_test_means_are_kept(words, kept):
    assert kept_words(words) == kept


def test_checks_of_how_files_look_are_kept_off_but_for_tasks_that_list_them():
    assert safe_plugins(["ruff", "mock", "enabler", "cov"]) == ("mock",)
    words = argv(TestSpec(plugins=("mock",)))
    assert {"no:ruff", "no:enabler", "no:cov"} <= set(words)
    words = argv(TestSpec(plugins=("mock", "ruff")))
    assert "no:ruff" not in words
    assert {"no:mypy", "no:cov"} <= set(words)
