"""What a trial that only collects says of its environment."""

from __future__ import annotations

from harness.core.instance import TestStatus
from harness.grading.trial import Trial
from harness.languages.base import Raised, TestReport
from miner.proof.test_collection import judged


def trial(**changes):
    plain = {
        "report": TestReport(finished=True, exit_code=0, collected=("a.py::test_a",)),
        "violations": (),
        "model_apply_error": None,
        "test_apply_error": None,
        "setup_error": None,
        "ran": True,
        "exited": True,
        "child_exit": 0,
        "child_signal": None,
        "timed_out": False,
        "oom_killed": False,
        "seconds": 1.0,
        "cpu_seconds": 1.0,
        "max_rss_kb": 1,
        "output": b"",
        "output_size": 0,
        "timings": {},
    }
    return Trial(**{**plain, **changes})


LOST = TestReport(
    finished=True,
    exit_code=2,
    collect_errors={"a.py": "E   ModuleNotFoundError: No module named 'yaml'", "b.py": "E   SecretName"},
    collect_raised={"a.py": (Raised(names=("ImportError",)), Raised(names=("ModuleNotFoundError",), missing="yaml"))},
)


def test_what_was_collected_whole_is_well():
    found = judged(trial())
    assert (found.ok, found.tests, found.lost) == (True, 1, 0)


def test_a_lost_file_is_counted_and_its_missing_module_named():
    found = judged(trial(report=LOST, child_exit=2))
    assert (found.ok, found.lost, found.missing) == (False, 2, ("yaml",))


def test_tests_that_fail_where_they_are_run_to_be_collected_are_counted():
    statuses = {"a.js::one": TestStatus.PASSED, "a.js::two": TestStatus.FAILED, "a.js::three": TestStatus.ERROR}
    found = judged(trial(report=TestReport(finished=True, exit_code=1, statuses=statuses), child_exit=0))
    assert (found.ok, found.lost, found.failed) == (True, 0, 2)


def test_a_file_that_is_skipped_for_a_module_lacks_it():
    skips = {
        "a.py": "('a.py', 4, \"Skipped: could not import 'sympy': No module named 'sympy'\")",
        "b.py": "on Windows",
    }
    found = judged(trial(report=TestReport(finished=True, exit_code=5, collect_skips=skips), child_exit=5))
    assert (found.ok, found.lost, found.missing, found.optional) == (False, 1, (), ("sympy",))


def test_nothing_of_the_tests_words_is_said_in_public():
    found = judged(trial(report=LOST, child_exit=2))
    assert found.failure == "2 files or folders could not be collected, 1 modules missing"


def test_pytest_that_refuses_its_configuration_loses_everything():
    found = judged(trial(report=TestReport(finished=True, exit_code=4), child_exit=4))
    assert (found.ok, found.lost, found.failure) == (False, 1, "the test runner could not start")


def test_what_no_environment_could_better_is_left_to_the_proof():
    assert judged(trial(ran=False)).ok
    assert judged(trial(timed_out=True, report=LOST)).ok
    assert judged(trial(report=TestReport(finished=True, exit_code=5), child_exit=5)).ok
