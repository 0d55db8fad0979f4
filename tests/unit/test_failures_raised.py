"""What the recorder tells of exceptions: read leniently, and no part of any verdict."""

from __future__ import annotations

import pytest

from harness.languages.base import Raised, chain
from harness.languages.python.pytest import read

COLLECTED = {"t": "collected", "ids": ["a"]}
FINISH = {"t": "finish", "code": 1}
KEY_ERROR = {"names": ["KeyError", "LookupError", "Exception", "BaseException"]}


def report(when: str, outcome: str = "passed", **fields) -> dict:
    frame = {"t": "report", "id": "a", "when": when, "outcome": outcome, "xfail": False, "seconds": 0.1, "text": ""}
    return {**frame, **fields}


def test_the_exception_of_a_failing_test_is_kept():
    frames = [COLLECTED, report("setup"), report("call", "failed", raised=[KEY_ERROR]), report("teardown"), FINISH]
    assert read(frames).raised == {"a": (Raised(names=tuple(KEY_ERROR["names"])),)}


def test_the_first_failing_step_of_a_test_tells_its_exception():
    teardown = report("teardown", "failed", raised=[{"names": ["OSError"]}])
    frames = [COLLECTED, report("call", "failed", raised=[KEY_ERROR]), teardown, FINISH]
    assert read(frames).raised["a"][0].names[0] == "KeyError"


def test_the_exception_of_a_file_that_cannot_be_collected_is_kept():
    error = {"t": "collect_error", "id": "t.py", "text": "no", "raised": [{"names": ["SyntaxError"], "file": "/t.py"}]}
    found = read([error, {"t": "collected", "ids": []}, {"t": "finish", "code": 2}])
    assert found.collect_raised == {"t.py": (Raised(names=("SyntaxError",), file="/t.py"),)}


@pytest.mark.parametrize(
    "told",
    [None, 7, "KeyError", {}, [7], [{}], [{"names": "KeyError"}], [[["KeyError"]]], [{"names": {"KeyError": 1}}]],
)
def test_what_is_no_chain_is_left_out_and_is_no_violation(told):
    found = read([COLLECTED, report("call", "failed", raised=told), report("teardown"), FINISH])
    assert (found.raised, found.violations) == ({}, ())


def test_a_chain_is_cut_to_a_size_that_can_be_kept():
    link = {"names": ["x" * 9999] * 99, "missing": "y" * 9999, "file": "z" * 9999, "errno": 1 << 80}
    found = chain([link] * 99)
    assert len(found) < 10
    assert len(found[0].names) < 20
    assert max(map(len, (*found[0].names, found[0].missing, found[0].file))) <= 500
    assert found[0].errno is None


@pytest.mark.parametrize("errno", [True, 1.5, "13", None])
def test_an_error_number_is_a_whole_number_or_nothing(errno):
    assert chain([{"names": ["OSError"], "errno": errno}])[0].errno is None
