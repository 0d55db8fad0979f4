"""What the frames of pytest's recorder mean."""

from __future__ import annotations

import pytest

from harness.frameworks.pytest import kept_options, read
from harness.instance import TestStatus

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
    ],
)
def test_a_frame_of_another_form_is_a_violation_and_nothing_else_counts(forged):
    found = read([COLLECTED, report("setup"), report("call"), report("teardown"), forged])
    assert found.violations
    assert found.statuses == {}


def test_a_result_for_a_test_that_was_not_collected_is_a_violation():
    assert read([report("teardown")]).violations


def test_success_with_failures_is_a_violation():
    assert read([COLLECTED, report("call", "failed"), report("teardown"), {"t": "finish", "code": 0}]).violations


@pytest.mark.parametrize(
    ("addopts", "kept"),
    [
        ("-x -q --cov=src -n auto --junitxml=x", ()),
        ("--import-mode=importlib --doctest-modules", ("--import-mode=importlib", "--doctest-modules")),
        ("-W error -m 'not slow'", ("-W", "error", "-m", "not slow")),
        ("-Werror", ("-Werror",)),
        ("'unbalanced", ()),
    ],
)
def test_only_options_that_change_what_a_test_means_are_kept(addopts, kept):
    assert kept_options(addopts) == kept
