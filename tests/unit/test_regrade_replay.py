"""Saved evidence carries the same verdict as the round it was saved from."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from harness.core.expectations import Expectations, Expected, ExpectedTest, Site
from harness.core.instance import TestStatus
from harness.grading import evidence, scoring
from harness.grading.scoring import Demands, Round
from harness.grading.trial import Trial
from harness.judging.values import Event
from harness.languages.base import PROCESS_EXIT, Raised, TestReport
from harness.runs import verdict
from harness.runs.verdict import CannotReplayError, ScoringRequest, carried, replay
from tests import tiny

F2P, P2P = "tests/test_calc.py::test_two", "tests/test_calc.py::test_zero"
PASSED, FAILED = TestStatus.PASSED, TestStatus.FAILED
ROW = f"{F2P}[p0]"
"""What the stripped file calls the listed test."""
INSIDE = Expectations()
HOST = Expectations(
    files={tiny.TESTS: "stripped"},
    ids={ROW: F2P},
    sites={0: Site(op="==", sides=("out", "kept"))},
    tests={F2P: ExpectedTest(place="host", events=(Expected(slot=0, kept=(["i", "2"],), size=1),))},
)
TWO, THREE, OPAQUE = ["i", "2"], ["i", "3"], ["o", "calc.Money", None, None]
ASSERTION = (Raised(names=("AssertionError", "Exception")),)


def out(value, *, name=ROW, slot=0, n=0) -> Event:
    return Event(test_id=name, slot=slot, n=n, values=(value,))


def trial(f2p=PASSED, p2p=PASSED, *, events=(), name=F2P, report=None, **more) -> Trial:
    """A trial as a container leaves it."""
    statuses = {P2P: p2p, **({name: f2p} if f2p else {})}
    fields = {
        "statuses": statuses,
        "seconds": dict.fromkeys(statuses, 0.01),
        "raised": {test_id: ASSERTION for test_id, status in statuses.items() if status is FAILED},
        "texts": {test_id: "E   assert" for test_id, status in statuses.items() if status is FAILED},
        "events": tuple(events),
        "finished": True,
        "exit_code": 0 if set(statuses.values()) == {PASSED} else 1,
        **(report or {}),
    }
    given = {
        "report": TestReport(**fields),
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
        "seconds": 0.123456789,
        "cpu_seconds": 0.1,
        "max_rss_kb": 4321,
        "output": b"printed",
        "output_size": 7,
        "timings": {"create": 0.1, "prepare": 0.02},
    }
    return Trial(**{**given, **more})


def task(expectations: Expectations = INSIDE, **hidden):
    made = tiny.task()
    return replace(made, hidden=replace(made.hidden, expectations=expectations, **hidden))


def judged(given, ran, *, demands=None, prediction=None, slowdown=1.0):
    """A fresh verdict over what came out of a container."""
    asked = ScoringRequest(
        task=given, prediction=prediction or tiny.prediction(), demands=demands or Demands(), slowdown=slowdown
    )
    looked = verdict.look(given, asked.prediction)
    return verdict.graded(asked, looked, scoring.decide(given, Round(trial=ran, attempts=1)))


def results(found) -> dict:
    """results.json as it comes back from disk."""
    return json.loads(json.dumps(found.evidence.results))


COLLECT = {
    "collect_errors": {"tests/test_calc.py": "E   ImportError"},
    "collect_raised": {"tests/test_calc.py": (Raised(names=("ImportError",)),)},
}
ENDED = {**COLLECT, "collect_raised": {"tests/test_calc.py": (Raised(names=(PROCESS_EXIT,)),)}}
CASES = {
    "a pass inside": (INSIDE, trial()),
    "a failure": (INSIDE, trial(FAILED)),
    "a regression": (INSIDE, trial(p2p=FAILED)),
    "a pass on the host": (HOST, trial(name=ROW, events=[out(TWO)])),
    "a wrong value": (HOST, trial(name=ROW, events=[out(THREE)])),
    "a value that has no plain form": (HOST, trial(name=ROW, events=[out(OPAQUE)])),
    "a value that cannot be read": (HOST, trial(name=ROW, events=[out(["i", "two"])])),
    "no value": (HOST, trial(name=ROW)),
    "a value too many": (HOST, trial(name=ROW, events=[out(TWO), out(TWO, n=1)])),
    "an assertion that no test has": (HOST, trial(name=ROW, events=[out(TWO), out(TWO, slot=7)])),
    "an assertion that no test has, in one that did not end": (
        HOST,
        trial(None, events=[out(TWO, slot=7)], report={"collected": (ROW, P2P)}),
    ),
    "a test under the listed id": (HOST, trial(events=[out(TWO)])),
    "a test that was collected under the listed id alone": (
        HOST,
        trial(name=ROW, events=[out(TWO)], report={"collected": (F2P, ROW, P2P)}),
    ),
    "a broken channel": (INSIDE, trial(violations=("frame 3: not a frame",))),
    "a patch that does not apply": (INSIDE, trial(None, ran=False, model_apply_error="error: \udce9")),
    "tests that do not apply": (INSIDE, trial(None, ran=False, test_apply_error="error")),
    "a container that could not be set up": (INSIDE, trial(None, ran=False, setup_error="OSError()")),
    "out of memory": (INSIDE, trial(None, oom_killed=True, child_exit=None, child_signal=9)),
    "out of time": (INSIDE, trial(None, timed_out=True)),
    "a flood": (INSIDE, trial(flooded=True)),
    "a supervisor that is gone": (INSIDE, trial(None, exited=False)),
    "an exit half-way": (INSIDE, trial(None, report={"finished": False})),
    "a file that cannot be imported": (INSIDE, trial(None, report=COLLECT)),
    "a file whose process is ended": (INSIDE, trial(None, report=ENDED)),
    "a runner that failed": (INSIDE, trial(None, report={"internal_error": "x", "internal_raised": ASSERTION})),
}


OWN_REASONS = ("out of time", "a flood", "a file whose process is ended", "an exit half-way")


@pytest.mark.parametrize("name", CASES)
def test_evidence_carries_the_identical_report(name):
    expectations, ran = CASES[name]
    given = task(expectations)
    found = judged(given, ran)
    assert replay(given, tiny.prediction(), results(found)) == found.report


LIES = (
    (),
    (Raised(names=("PermissionError",), errno=1),),
    (Raised(names=("SyntaxError",), file="/testbed/x.py"),),
    (Raised(names=("MemoryError",)), Raised(names=("ImportError",), missing="x")),
)


@pytest.mark.parametrize("name", CASES)
def test_what_was_raised_is_no_part_of_a_verdict(name):
    expectations, ran = CASES[name]
    honest = judged(task(expectations), ran).report
    for lie in LIES:
        raised = {F2P: lie, ROW: lie, P2P: lie}
        told = replace(ran, report=replace(ran.report, raised=raised, internal_raised=lie))
        found = judged(task(expectations), told).report
        labels = {"failure_class": None}
        assert found.model_copy(update=labels) == honest.model_copy(update=labels)


def test_what_prints_without_end_and_what_ends_its_process_have_causes_and_classes():
    found = [judged(task(expectations), ran).report for expectations, ran in map(CASES.__getitem__, OWN_REASONS)]
    assert [(one.outcome, one.cause, one.failure_class) for one in found] == [
        ("unresolved", "timeout", "performance_error"),
        ("unresolved", "flood", "performance_error"),
        ("unresolved", "exited", "unsafe_operation"),
        ("unresolved", "crashed", "unsafe_operation"),
    ]


def test_the_cases_come_to_every_outcome_of_a_run_patch():
    outcomes = {judged(task(expectations), ran).report.outcome for expectations, ran in CASES.values()}
    assert outcomes == {"resolved", "unresolved", "tampered", "apply_failed", "infra_error"}


@pytest.mark.parametrize("given", [None, "", "Sorry.", tiny.diff(".git/x", None, "x\n")])
def test_a_patch_that_no_container_saw_is_regraded_too(given):
    prediction = tiny.prediction(given)
    asked = ScoringRequest(task=task(), prediction=prediction)
    found = verdict.refused(asked, verdict.look(asked.task, prediction))
    assert replay(asked.task, prediction, results(found)) == found.report


def test_where_a_patch_resolves_nothing_its_code_that_would_have_to_be_compiled_is_named():
    prediction = tiny.prediction(tiny.diff("src/calc/fast.c", None, "int fast;\n"))
    failing = judged(task(), trial(FAILED), prediction=prediction).report
    passing = judged(task(), trial(), prediction=prediction).report
    assert "the patch changes src/calc/fast.c" in failing.reason
    assert "fast.c" not in passing.reason


def test_an_infrastructure_error_is_regraded_to_the_same():
    asked = ScoringRequest(task=task(), prediction=tiny.prediction())
    found = verdict.unscored(asked, verdict.look(asked.task, asked.prediction), cause="engine", why="it is gone")
    assert replay(asked.task, asked.prediction, results(found)) == found.report
    assert (found.report.failure_class, found.report.cause) == ("infra_error", "engine")


def test_demands_and_slowdown_come_from_the_evidence():
    demands = Demands(timeout=3.5)
    given = task(HOST, evidence={"gold_seconds": 1.0})
    found = judged(given, trial(name=ROW, events=[out(TWO)]), demands=demands, slowdown=4.0)
    assert found.report.outcome == "resolved"
    assert replay(given, tiny.prediction(), results(found)) == found.report
    assert evidence.read(results(found)).demands == demands
    slow = judged(given, trial(FAILED, name=ROW, seconds=7.0), slowdown=4.0)
    assert slow.report.failure_class == "logic_error"
    assert judged(given, trial(FAILED, name=ROW, seconds=7.0)).report.failure_class == "performance_error"
    assert replay(given, tiny.prediction(), results(slow)).failure_class == "logic_error"


def test_what_a_test_of_another_id_raised_stands_under_its_listed_id():
    denied = (Raised(names=("PermissionError", "OSError"), errno=13),)
    found = judged(task(HOST), trial(FAILED, name=ROW, report={"raised": {ROW: denied}}))
    assert found.report.failure_class == "permission_denied"
    assert replay(task(HOST), tiny.prediction(), results(found)) == found.report


def test_values_are_judged_again_by_todays_rules(monkeypatch):
    given = task(HOST)
    found = judged(given, trial(name=ROW, events=[out(THREE)]))
    monkeypatch.setattr("harness.judging.operators.holds", lambda *_: True)
    again = replay(given, tiny.prediction(), results(found))
    assert (found.report.outcome, again.outcome) == ("unresolved", "resolved")


def test_a_report_tells_where_its_task_is_judged():
    found = judged(task(HOST), trial(name=ROW, events=[out(TWO)])).report
    assert found.place == "host"
    assert found.judged == {
        "FAIL_TO_PASS": {"host": 1, "mixed": 0, "inside": 0},
        "PASS_TO_PASS": {"host": 0, "mixed": 0, "inside": 1},
    }


def refusal(given, found: dict) -> str:
    with pytest.raises(CannotReplayError) as error:
        replay(given, tiny.prediction(), found)
    return str(error.value)


def test_evidence_from_before_rounds_were_kept_is_too_old():
    assert "too old" in refusal(task(), {"schema_version": 1, "tests": {}})


def test_evidence_of_another_version_is_refused():
    found = results(judged(task(), CASES["a regression"][1]))
    found["evidence"]["version"] = 99
    assert "newer" in refusal(task(), found)


def test_broken_evidence_is_refused_and_names_the_place():
    found = results(judged(task(), CASES["a regression"][1]))
    found["evidence"]["round"]["tests"][F2P]["status"] = "GREEN"
    assert f"round.tests.{F2P}.status" in refusal(task(), found)


def test_evidence_of_a_task_that_has_changed_is_refused():
    found = results(judged(task(), CASES["a regression"][1]))
    assert "changed" in refusal(task(fail_to_pass=(P2P,)), found)


def test_a_patch_of_which_screening_now_leaves_something_else_is_refused(monkeypatch):
    found = results(judged(task(), CASES["a regression"][1]))
    monkeypatch.setattr("harness.languages.python.screen._BINARY_SUFFIXES", (".py",))
    assert "screening" in refusal(task(), found)


def test_evidence_without_its_round_is_refused():
    found = results(judged(task(), trial(FAILED)))
    found["evidence"]["round"] = None
    assert "no finished round" in refusal(task(), found)


def test_what_others_put_into_a_report_stays():
    given = task()
    found = judged(given, CASES["a regression"][1])
    old = found.report.model_copy(update={"reused": True, "measured": {"lines": 3}, "failure_class": "old"})
    new = carried(old, found.report)
    assert (new.reused, new.measured, new.failure_class) == (True, {"lines": 3}, "regression")


def test_the_evidence_is_plain_json_whatever_was_raised():
    raised = {F2P: (Raised(names=("Bad\ud800",), errno=1, missing="m", file="f"),)}
    found = judged(task(), trial(FAILED, report={"raised": raised}))
    again = evidence.read(results(found)).round.trial.report.raised
    assert again[F2P] == raised[F2P]
    assert found.evidence.results["tests"][F2P]["raised"] == "Bad\\ud800"
