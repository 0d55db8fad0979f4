"""What the recorder tells of exceptions: read leniently, and no part of any verdict."""

from __future__ import annotations

import pytest

from harness.core.instance import TestStatus
from harness.grading.failures import Kind, kind_of
from harness.languages import framework
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


THROWN = [
    ("AssertionError [ERR_ASSERTION]: Expected values to be strictly equal:\n\n1 !== 2\n", Kind.ASSERTION),
    ("Error: expect(received).toBe(expected) // Object.is equality\n\nExpected: 2", Kind.ASSERTION),
    ("assert.strictEqual(received, expected)\n\nExpected value to strictly be equal to:", Kind.ASSERTION),
    ("Assertion: Expected values to be strictly equal:\n    at assert (uvu)", Kind.ASSERTION),
    ("Expected 1 to be 2.\n    at <Jasmine>", Kind.ASSERTION),
    ("AssertionError: expected [Function] to throw 'Cannot find module'", Kind.ASSERTION),
    (
        "not ok 1 should be equal\n  ---\n    stack: |-\n      Error: should be equal\n",
        Kind.ASSERTION,
    ),
    ("  ---\n    name: AssertionError\n    assertion: t.is()\n    details:\n", Kind.ASSERTION),
    ("TypeError: Cannot read properties of null (reading 'x')\n    at f (/testbed/a.js:1:2)", Kind.RUNTIME),
    ("Error: boom\n    at f (/testbed/a.js:1:2)", Kind.RUNTIME),
    ("Died on test #1: boom\n    at f (/testbed/a.js:1:2)", Kind.RUNTIME),
    (
        "  ---\n    details:\n      'Error thrown in test:': |-\n        TypeError {\n",
        Kind.RUNTIME,
    ),
    ("SyntaxError: Unexpected token } in JSON at position 5\n    at JSON.parse (<anonymous>)", Kind.RUNTIME),
    ("the file could not be loaded\n/testbed/a.js:1\nlet let\n    ^^^\n\nSyntaxError: no\n", Kind.SYNTAX),
    ("not ok 1 - /testbed/a.js:1\n  ---\n    name: SyntaxError\n    message: no\n", Kind.SYNTAX),
    ("  ● Test suite failed to run\n\n    Details:\n\n    SyntaxError: /testbed/a.js: no (1:4)\n", Kind.SYNTAX),
    ("Error: EROFS: read-only file system, open '/x'\n", Kind.UNSAFE),
    ("TypeError: fetch failed\ncaused by: Error: getaddrinfo EAI_AGAIN example.org\n", Kind.UNSAFE),
    ("Error: EACCES: permission denied, open '/x'\n", Kind.PERMISSION),
    ("Error: EMFILE: too many open files, open '/x'\n", Kind.LIMIT),
    ("Error: Cannot find module 'left-pad'\nRequire stack:\n- /testbed/a.js\n", Kind.MISSING),
    ("Error: Cannot find package 'left-pad' imported from '/testbed/a.mjs'\n", Kind.MISSING),
    ("Error: Cannot find module './gone.js'\nRequire stack:\n- /testbed/a.js\n", Kind.IMPORT),
    ("SyntaxError: The requested module './a.mjs' does not provide an export named 'b'\n", Kind.IMPORT),
]
"""As runners of JavaScript show them, and what the failure came up against."""


@pytest.mark.parametrize(("text", "kind"), THROWN)
def test_what_was_thrown_in_javascript_is_read_from_its_text(text, kind):
    frames = [
        {"t": "report", "id": "a.js::x", "status": "failed", "seconds": 0.1, "text": text},
        {"t": "collect_error", "id": "b.js", "text": text},
        {"t": "collect_error", "id": "c.js", "text": text, "raised": [{"names": ["ProcessExit"]}]},
    ]
    read_report = framework("mocha").read(frames)
    assert kind_of(read_report.raised.get("a.js::x", ()), TestStatus.FAILED) is kind
    assert read_report.collect_raised.get("b.js") == read_report.raised.get("a.js::x")
    assert read_report.exited == ("c.js",)
