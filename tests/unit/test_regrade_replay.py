"""Saved evidence carries the same verdict as the rounds it was saved from."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from harness import evidence, scoring, verdict
from harness.frameworks.base import Raised, TestReport
from harness.instance import TestStatus, TrustMaterial
from harness.replay import CannotReplayError, carried, replay
from harness.scoring import Demands, Round
from harness.trial import Trial
from harness.trust import Trust, Variant
from harness.verdict import Asked
from tests import tiny

F2P, P2P = "tests/test_calc.py::test_two", "tests/test_calc.py::test_zero"
PASSED, FAILED = TestStatus.PASSED, TestStatus.FAILED
FORMS = {tiny.TESTS: {"real": "r", "twin": "t", "blind": "b", "blind_twin": "bt"}}
TWINS = TrustMaterial(files=FORMS, twinned=(F2P,))
BLIND = TrustMaterial(files=FORMS, twinned=(F2P, P2P), blinded={F2P: {"0": "2"}}, renamed={f"{F2P}[g0]": F2P})
TWO, THREE, OPAQUE = ((0, {"int": "2"}),), ((0, {"int": "3"}),), ((0, {"opaque": "Money"}),)
ASSERTION = (Raised(names=("AssertionError", "Exception")),)


def trial(f2p=PASSED, p2p=PASSED, *, values=(), name=F2P, report=None, **more) -> Trial:
    """A trial as a container leaves it."""
    statuses = {P2P: p2p, **({name: f2p} if f2p else {})}
    fields = {
        "statuses": statuses,
        "seconds": dict.fromkeys(statuses, 0.01),
        "raised": {test_id: ASSERTION for test_id, status in statuses.items() if status is FAILED},
        "texts": {test_id: "E   assert" for test_id, status in statuses.items() if status is FAILED},
        "values": {name: values} if values else {},
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


def task(material: TrustMaterial = TWINS, **hidden):
    made = tiny.task()
    return replace(made, hidden=replace(made.hidden, trust=material, **hidden))


def judged(given, trials, *, demands=None, prediction=None, slowdown=1.0):
    """A fresh verdict over rounds, in the order in which they are asked for."""
    asked = Asked(
        task=given, prediction=prediction or tiny.prediction(), demands=demands or Demands(), slowdown=slowdown
    )
    left = iter(trials)

    def run(variant: Variant) -> Round:
        return Round(variant=variant, trial=next(left), attempts=1)

    looked = verdict.look(given, asked.prediction)
    return verdict.graded(asked, looked, scoring.decide(given, asked.demands, run))


def results(found) -> dict:
    """results.json as it comes back from disk."""
    return json.loads(json.dumps(found.evidence.results))


COLLECT = {
    "collect_errors": {"tests/test_calc.py": "E   ImportError"},
    "collect_raised": {"tests/test_calc.py": (Raised(names=("ImportError",)),)},
}
CASES = {
    "a pass in twins": (TWINS, [trial(), trial(FAILED)]),
    "a failure in the first round": (TWINS, [trial(FAILED)]),
    "a regression": (TWINS, [trial(p2p=FAILED)]),
    "a forged pass": (TWINS, [trial(), trial()]),
    "a blind pass": (BLIND, [trial(values=TWO, name=f"{F2P}[g0]"), trial(p2p=FAILED, values=TWO)]),
    "a blind test with another value": (BLIND, [trial(values=THREE, name=f"{F2P}[g0]")]),
    "a value that cannot be compared": (BLIND, [trial(values=OPAQUE), trial(), trial(FAILED, FAILED)]),
    "no twins": (TrustMaterial(), [trial()]),
    "a broken channel": (TWINS, [trial(violations=("frame 3: not a frame",))]),
    "a patch that does not apply": (TWINS, [trial(None, ran=False, model_apply_error="error: \udce9")]),
    "tests that do not apply": (TWINS, [trial(None, ran=False, test_apply_error="error")]),
    "a container that could not be set up": (TWINS, [trial(None, ran=False, setup_error="OSError()")]),
    "out of memory": (TWINS, [trial(None, oom_killed=True, child_exit=None, child_signal=9)]),
    "out of time": (TWINS, [trial(None, timed_out=True)]),
    "a supervisor that is gone": (TWINS, [trial(None, exited=False)]),
    "an exit half-way": (TWINS, [trial(None, report={"finished": False})]),
    "a file that cannot be imported": (TWINS, [trial(None, report=COLLECT)]),
    "a runner that failed": (TWINS, [trial(None, report={"internal_error": "x", "internal_raised": ASSERTION})]),
}


@pytest.mark.parametrize("name", CASES)
def test_evidence_carries_the_identical_report(name):
    material, trials = CASES[name]
    given = task(material)
    found = judged(given, trials)
    assert replay(given, tiny.prediction(), results(found)) == found.report


LIES = (
    (),
    (Raised(names=("PermissionError",), errno=1),),
    (Raised(names=("SyntaxError",), file="/testbed/x.py"),),
    (Raised(names=("MemoryError",)), Raised(names=("ImportError",), missing="x")),
)


@pytest.mark.parametrize("name", CASES)
def test_what_was_raised_is_no_part_of_a_verdict(name):
    material, trials = CASES[name]
    honest = judged(task(material), trials).report
    for lie in LIES:
        told = [
            replace(one, report=replace(one.report, raised={F2P: lie, P2P: lie}, internal_raised=lie)) for one in trials
        ]
        found = judged(task(material), told).report
        labels = {"failure_class": None}
        assert found.model_copy(update=labels) == honest.model_copy(update=labels)


def test_the_cases_come_to_every_outcome_of_a_run_patch():
    outcomes = {judged(task(material), trials).report.outcome for material, trials in CASES.values()}
    assert outcomes == {"resolved", "unresolved", "tampered", "apply_failed", "infra_error"}


@pytest.mark.parametrize("given", [None, "", "Sorry.", tiny.diff(".git/x", None, "x\n")])
def test_a_patch_that_no_container_saw_is_regraded_too(given):
    prediction = tiny.prediction(given)
    asked = Asked(task=task(), prediction=prediction)
    found = verdict.refused(asked, verdict.look(asked.task, prediction))
    assert replay(asked.task, prediction, results(found)) == found.report


def test_where_a_patch_resolves_nothing_its_code_that_would_have_to_be_compiled_is_named():
    prediction = tiny.prediction(tiny.diff("src/calc/fast.c", None, "int fast;\n"))
    failing = judged(task(), [trial(FAILED)], prediction=prediction).report
    passing = judged(task(), [trial(), trial(FAILED)], prediction=prediction).report
    assert "the patch changes src/calc/fast.c" in failing.reason
    assert "fast.c" not in passing.reason


def test_an_infrastructure_error_is_regraded_to_the_same():
    asked = Asked(task=task(), prediction=tiny.prediction())
    found = verdict.unscored(asked, verdict.look(asked.task, asked.prediction), cause="engine", why="it is gone")
    assert replay(asked.task, asked.prediction, results(found)) == found.report
    assert (found.report.failure_class, found.report.cause) == ("infra_error", "engine")


def test_demands_and_slowdown_come_from_the_evidence():
    demands = Demands(timeout=3.5, trust=Trust.TWINS, pairs=2)
    given = task(BLIND, evidence={"gold_seconds": 1.0})
    twin = trial(FAILED, FAILED)
    found = judged(given, [trial(), twin, trial(), twin], demands=demands, slowdown=4.0)
    assert [one["variant"] for one in found.evidence.results["evidence"]["rounds"]] == ["real", "twin"] * 2
    assert replay(given, tiny.prediction(), results(found)) == found.report
    slow = judged(given, [trial(FAILED, seconds=7.0)], slowdown=4.0)
    assert slow.report.failure_class == "logic_error"
    assert judged(given, [trial(FAILED, seconds=7.0)]).report.failure_class == "performance_error"
    assert replay(given, tiny.prediction(), results(slow)).failure_class == "logic_error"


def test_what_a_blind_test_raised_stands_under_its_listed_id():
    denied = (Raised(names=("PermissionError", "OSError"), errno=13),)
    name = f"{F2P}[g0]"
    statuses = {P2P: PASSED, name: FAILED}
    found = judged(task(BLIND), [trial(report={"statuses": statuses, "raised": {name: denied}})])
    assert found.report.failure_class == "permission_denied"
    assert replay(task(BLIND), tiny.prediction(), results(found)) == found.report


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
    found["evidence"]["rounds"][0]["tests"][F2P]["status"] = "GREEN"
    assert f"rounds.0.tests.{F2P}.status" in refusal(task(), found)


def test_evidence_of_a_task_that_has_changed_is_refused():
    found = results(judged(task(), CASES["a regression"][1]))
    assert "changed" in refusal(task(fail_to_pass=(P2P,)), found)


def test_a_patch_of_which_screening_now_leaves_something_else_is_refused(monkeypatch):
    found = results(judged(task(), CASES["a regression"][1]))
    monkeypatch.setattr("harness.screening._STDLIB", frozenset())
    monkeypatch.setattr("harness.screening.RUNNER_CONFIG", frozenset({"__init__.py"}))
    assert "screening" in refusal(task(), found)


def test_rules_that_ask_for_a_round_that_was_not_run_are_told(monkeypatch):
    given = task()
    found = results(judged(given, [trial(FAILED)]))
    monkeypatch.setattr("harness.grading.TestsStatus.all_passed", True)
    assert "twin" in refusal(given, found)


def test_what_others_put_into_a_report_stays():
    given = task()
    found = judged(given, CASES["a regression"][1])
    old = found.report.model_copy(update={"reused": True, "measured": {"lines": 3}, "failure_class": "old"})
    new = carried(old, found.report)
    assert (new.reused, new.measured, new.failure_class) == (True, {"lines": 3}, "regression")


def test_the_evidence_is_plain_json_whatever_was_raised():
    raised = {F2P: (Raised(names=("Bad\ud800",), errno=1, missing="m", file="f"),)}
    found = judged(task(), [trial(FAILED, report={"raised": raised})])
    again = evidence.read(results(found)).rounds[0].trial.report.raised
    assert again[F2P] == raised[F2P]
    assert found.evidence.results["tests"][F2P]["raised"] == "Bad\\ud800"
