"""The table of failure classes: from evidence to a label, row by row."""

from __future__ import annotations

import errno
import re
import signal
from pathlib import Path

import pytest

from harness.core.instance import Outcome, TestStatus
from harness.grading.failures import KIND_ROWS, ROWS, Facts, FailureClass, Kind, PatchState, classify, kind_of
from harness.grading.grade import TestsStatus
from harness.grading.time_words import TimeTests
from harness.languages.base import Raised

PAGE = (Path(__file__).parents[2] / "docs" / "failures.md").read_text(encoding="utf-8")
ASSERTION = (Raised(names=("AssertionError", "Exception", "BaseException")),)
KEY_ERROR = (Raised(names=("KeyError", "LookupError", "Exception", "BaseException")),)
IMPORT_ERROR = (Raised(names=("ImportError", "Exception", "BaseException")),)
DENIED = (Raised(names=("PermissionError", "OSError", "Exception"), errno=errno.EACCES),)


def facts(*chains, passing: int = 0, broken: int = 0, **more) -> Facts:
    """Evidence of a run in which one F2P test failed by each chain, `passing` passed, and `broken` P2P tests failed."""
    failed = {f"t.py::f{number}": TestStatus.FAILED for number, _ in enumerate(chains)}
    passed = {f"t.py::p{number}": TestStatus.PASSED for number in range(passing)}
    held = {f"t.py::h{number}": TestStatus.FAILED for number in range(broken)}
    tests = TestsStatus(fail_to_pass={**failed, **passed}, pass_to_pass=held)
    raised = dict(zip(failed, chains, strict=True))
    return Facts(**{"outcome": Outcome.UNRESOLVED, "tests": tests, "raised": raised, **more})


def missing(*ids: str, **more) -> Facts:
    """Evidence of a run in which F2P tests gave no result."""
    return Facts(outcome=Outcome.UNRESOLVED, tests=TestsStatus(fail_to_pass=dict.fromkeys(ids)), **more)


def test_a_resolved_task_has_no_class():
    assert classify(Facts(outcome=Outcome.RESOLVED)) is None


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (Facts(outcome=Outcome.INFRA_ERROR), "infra_error"),
        (Facts(outcome=Outcome.INFRA_ERROR, patch=PatchState.NONE), "infra_error"),
        (Facts(outcome=Outcome.TAMPERED), "tampered"),
        (facts(ASSERTION, outcome=Outcome.TAMPERED), "tampered"),
        (Facts(outcome=Outcome.EMPTY_PATCH, patch=PatchState.NONE), "no_patch"),
        (Facts(outcome=Outcome.APPLY_FAILED, patch=PatchState.NO_PATCH), "no_patch"),
        (Facts(outcome=Outcome.EMPTY_PATCH, patch=PatchState.BLANK), "empty_patch"),
        (facts(ASSERTION, patch=PatchState.NOTHING_LEFT), "empty_patch"),
        (Facts(outcome=Outcome.APPLY_FAILED, patch=PatchState.UNSAFE), "unsafe_operation"),
        (Facts(outcome=Outcome.APPLY_FAILED, patch=PatchState.REFUSED), "apply_failed"),
        (Facts(outcome=Outcome.APPLY_FAILED), "apply_failed"),
        (missing("a", ran_out_of_memory=True, finished=False, child_exit=None, child_signal=9), "out_of_memory"),
        (missing("a", ran_out_of_memory=True, ran_out_of_time=True, finished=False), "out_of_memory"),
        (missing("a", finished=False, child_exit=None, child_signal=9, memory_share=0.95), "out_of_memory"),
        (missing("a", finished=False, child_exit=None, child_signal=9, memory_share=0.2), "unsafe_operation"),
        (missing("a", ran_out_of_time=True, finished=False, child_exit=None, child_signal=9), "performance_error"),
        (missing("a", finished=False, child_exit=0), "unsafe_operation"),
        (missing("a", finished=False, child_exit=70), "runtime_error"),
        (missing("a", finished=False, supervised=False, child_exit=None), "unsafe_operation"),
        (missing("a", finished=False, child_exit=None, child_signal=signal.SIGTERM), "unsafe_operation"),
        (missing("a", finished=False, child_exit=None, child_signal=signal.SIGSEGV), "runtime_error"),
        (missing("a", finished=False, child_exit=None, child_signal=11, signs={"ctypes"}), "unsafe_operation"),
        (facts(passing=2, broken=1), "regression"),
        (facts(ASSERTION, passing=4, broken=3), "edge_case_error"),
        (facts(ASSERTION, passing=1), "logic_error"),
        (facts(ASSERTION, passing=2), "edge_case_error"),
        (facts(KEY_ERROR, passing=2), "edge_case_error"),
        (facts(KEY_ERROR), "runtime_error"),
        (facts(KEY_ERROR, KEY_ERROR, ASSERTION), "runtime_error"),
        (facts(KEY_ERROR, ASSERTION, ASSERTION), "logic_error"),
        (facts(KEY_ERROR, ASSERTION), "runtime_error"),
        (facts(DENIED), "permission_denied"),
        (facts(DENIED, passing=9), "permission_denied"),
        (facts(DENIED, ASSERTION, ASSERTION), "logic_error"),
        (facts(IMPORT_ERROR), "import_error"),
        (facts(()), "logic_error"),
    ],
)
def test_evidence_comes_to_its_class(found, expected):
    assert classify(found) == expected


@pytest.mark.parametrize(
    ("chain", "kind"),
    [
        ([Raised(names=("AssertionError",))], Kind.ASSERTION),
        ([Raised(names=("MyAssertion", "AssertionError", "Exception"))], Kind.ASSERTION),
        ([Raised(names=("Failed", "OutcomeException"))], Kind.ASSERTION),
        ([Raised(names=("SyntaxError",), file="/testbed/a.py")], Kind.SYNTAX),
        ([Raised(names=("IndentationError", "SyntaxError"), file="/testbed/a.py")], Kind.SYNTAX),
        ([Raised(names=("SyntaxError",), file="<unknown>")], Kind.RUNTIME),
        ([Raised(names=("MemoryError",))], Kind.MEMORY),
        ([Raised(names=("OSError",), errno=errno.ENOMEM)], Kind.MEMORY),
        ([Raised(names=("OSError",), errno=errno.ENOSPC)], Kind.LIMIT),
        ([Raised(names=("OSError",), errno=errno.EMFILE)], Kind.LIMIT),
        ([Raised(names=("PermissionError", "OSError"), errno=errno.EPERM)], Kind.PERMISSION),
        ([Raised(names=("OSError",), errno=errno.EROFS)], Kind.UNSAFE),
        ([Raised(names=("gaierror", "OSError"), errno=-3)], Kind.UNSAFE),
        ([Raised(names=("ModuleNotFoundError", "ImportError"), missing="numpy")], Kind.MISSING),
        ([Raised(names=("ModuleNotFoundError", "ImportError"))], Kind.IMPORT),
        ([Raised(names=("RecursionError", "RuntimeError"))], Kind.RUNTIME),
        ([Raised(names=("FileNotFoundError", "OSError"), errno=errno.ENOENT)], Kind.RUNTIME),
    ],
)
def test_an_exception_says_what_a_test_came_up_against(chain, kind):
    assert kind_of(tuple(chain), TestStatus.FAILED) is kind


def test_what_lies_behind_an_error_of_the_codes_own_decides():
    chain = (Raised(names=("StoreError", "Exception")), *DENIED)
    assert kind_of(chain, TestStatus.FAILED) is Kind.PERMISSION


def test_an_assertion_is_one_whatever_lies_behind_it():
    assert kind_of((*ASSERTION, *DENIED), TestStatus.FAILED) is Kind.ASSERTION


def test_a_test_that_neither_passed_nor_raised_failed_like_an_assertion():
    assert kind_of((), TestStatus.SKIPPED) is Kind.ASSERTION


def test_a_test_without_a_result_has_the_exception_of_its_file():
    raised = {"other.py": KEY_ERROR, "t.py": IMPORT_ERROR}
    assert classify(missing("t.py::a", collect_raised=raised)) == "import_error"


def test_a_test_without_a_result_has_the_exception_of_a_conftest_where_its_file_has_none():
    assert classify(missing("t.py::a", collect_raised={"conftest.py": IMPORT_ERROR})) == "import_error"


def test_a_test_without_a_result_has_the_exception_that_ended_the_runner():
    assert classify(missing("t.py::a", internal_raised=DENIED)) == "permission_denied"
    assert classify(missing("t.py::a")) == "runtime_error"


def test_far_beyond_gold_is_an_error_of_performance():
    assert classify(facts(ASSERTION, seconds=30.0, gold_seconds=2.0)) == "performance_error"


@pytest.mark.parametrize(("seconds", "gold"), [(4.0, 0.5), (9.0, 2.0), (60.0, 0.0), (2.0, 2.0)])
def test_a_little_slower_than_gold_is_not(seconds, gold):
    assert classify(facts(ASSERTION, seconds=seconds, gold_seconds=gold)) == "logic_error"


def test_an_import_that_fails_slowly_is_still_an_error_of_imports():
    assert classify(facts(IMPORT_ERROR, seconds=90.0, gold_seconds=1.0)) == "import_error"


def test_failing_only_in_tests_about_time_is_an_error_of_reasoning_about_time():
    timed = TimeTests(about_time=frozenset({"t.py::f0"}))
    assert classify(facts(ASSERTION, passing=9, time_tests=timed)) == "temporal_reasoning_error"


def test_failing_in_another_test_too_is_not():
    timed = TimeTests(about_time=frozenset({"t.py::f0"}))
    assert classify(facts(ASSERTION, ASSERTION, time_tests=timed)) == "logic_error"


def test_breaking_a_test_that_is_known_to_be_about_something_else_is_not():
    timed = TimeTests(about_time=frozenset({"t.py::f0"}), about_else=frozenset({"t.py::h0"}))
    assert classify(facts(ASSERTION, broken=1, time_tests=timed)) == "logic_error"


def test_crashing_in_tests_about_time_is_a_runtime_error():
    assert classify(facts(KEY_ERROR, time_tests=TimeTests(about_time=frozenset({"t.py::f0"})))) == "runtime_error"


def test_nothing_that_the_container_says_of_exceptions_changes_an_outcomes_own_class():
    for outcome, expected in ((Outcome.INFRA_ERROR, "infra_error"), (Outcome.TAMPERED, "tampered")):
        assert classify(facts(DENIED, outcome=outcome)) == expected


def test_every_class_has_a_row_and_the_last_row_always_holds():
    assert {row.failure_class for row in ROWS} == set(FailureClass)
    assert ROWS[-1].holds(Facts(outcome=Outcome.UNRESOLVED))


def test_the_page_has_the_table_row_by_row():
    rows = re.findall(r"^\| \d+ \| (.+) \| `(\w+)` \|$", PAGE, flags=re.MULTILINE)
    assert rows == [(row.when, row.failure_class.value) for row in ROWS]


def test_the_page_has_every_kind_row_by_row():
    rows = re.findall(r"^\| ([a-z]+) \| (.+) \|$", PAGE, flags=re.MULTILINE)
    assert [row for row in rows if row[0] in set(Kind)] == [(kind.value, when) for kind, when, _ in KIND_ROWS]
