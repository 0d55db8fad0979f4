"""Tripwires on the host: what frames say, what is news, and what becomes of a pass."""

from __future__ import annotations

from dataclasses import replace

import pytest

from harness.analysis.task_score import SampleScore
from harness.core.instance import Hidden, Outcome, Prediction, TestStatus
from harness.grading import grade
from harness.grading.failures import Facts, FailureClass, classify
from harness.grading.trial import Trial
from harness.judging import tripwires
from harness.judging.tripwires import Hit, Tripwire, Watch
from harness.languages.base import TestReport
from harness.runs import run_folder

ENDED = {"t": "watched", "audit": True, "hits": 0}
HIT = Hit(kind=Tripwire.FRAMES, path="a.py", line=3, what="sys._getframe")
HIDDEN = Hidden(gold_patch=b"", test_patch=b"", fail_to_pass=("t.py::test",))
PASSED = Trial(
    report=TestReport(statuses={"t.py::test": TestStatus.PASSED}, finished=True, exit_code=0),
    violations=(),
    model_apply_error=None,
    test_apply_error=None,
    setup_error=None,
    ran=True,
    exited=True,
    child_exit=0,
    child_signal=None,
    timed_out=False,
    oom_killed=False,
    seconds=1.0,
    cpu_seconds=1.0,
    max_rss_kb=1,
    output=b"",
    output_size=0,
    timings={},
    tripwires=Watch(hits=(HIT,), audited=True),
)


def told(kind: str = "frames", path: str = "a.py") -> dict[str, object]:
    return {"t": "tripwire", "kind": kind, "path": path, "line": 3, "what": "sys._getframe"}


def test_a_hit_of_each_kind_and_file_is_read_once():
    found = tripwires.read([told(), told(), told("proc"), ENDED], paths={"a.py"}, finished=True)
    assert [(hit.kind, hit.path) for hit in found.hits] == [("frames", "a.py"), ("proc", "a.py")]
    assert found.audited


def test_a_path_that_the_patch_does_not_touch_is_not_repeated():
    assert tripwires.read([told(path="/etc/x"), ENDED], paths={"a.py"}, finished=True).hits[0].path == ""


def test_a_watch_that_does_not_see_the_end_of_finished_tests_was_silenced():
    assert [hit.kind for hit in tripwires.read([], paths=(), finished=True).hits] == [Tripwire.SILENCED]


def test_tests_that_did_not_finish_silenced_nobody():
    assert tripwires.read([], paths=(), finished=False) == Watch()


@pytest.mark.parametrize(
    "frame",
    [
        {"t": "tripwire"},
        {**told(), "line": "3"},
        told("unheard_of"),
        {"t": "watched", "audit": 1, "hits": 0},
        {"t": "exit"},
    ],
)
def test_a_frame_of_another_form_is_not_sound(frame):
    assert not tripwires.is_sound([frame])


def test_a_pass_with_a_hit_needs_review():
    found = grade.grade(HIDDEN, PASSED)
    assert (found.outcome, found.cause) == (Outcome.NEEDS_REVIEW, "tripwire")
    assert found.reason.endswith("frames in a.py")


def test_what_the_fix_trips_as_well_is_no_news():
    known = replace(HIDDEN, evidence={"tripwires": tripwires.as_json([HIT])})
    assert grade.grade(known, PASSED).outcome is Outcome.RESOLVED


def test_another_kind_than_that_of_the_fix_is_news():
    known = replace(HIDDEN, evidence={"tripwires": tripwires.as_json([replace(HIT, kind=Tripwire.PROC)])})
    assert grade.grade(known, PASSED).outcome is Outcome.NEEDS_REVIEW


def test_a_hit_saves_no_patch_whose_tests_fail():
    failed = replace(PASSED, report=replace(PASSED.report, statuses={"t.py::test": TestStatus.FAILED}))
    assert grade.grade(HIDDEN, failed).outcome is Outcome.UNRESOLVED


def test_a_broken_channel_is_told_before_a_hit():
    assert grade.grade(HIDDEN, replace(PASSED, violations=("x",))).outcome is Outcome.TAMPERED


def test_a_pass_that_needs_review_scores_nothing_and_has_a_verdict():
    sample = SampleScore(sample=0, outcome=Outcome.NEEDS_REVIEW, fail_to_pass=1.0, pass_to_pass=1.0)
    assert (sample.scored, sample.resolved, sample.score) == (True, False, 0.0)


def test_it_has_a_failure_class_of_its_own():
    assert classify(Facts(outcome=Outcome.NEEDS_REVIEW)) is FailureClass.NEEDS_REVIEW


def test_the_run_report_lists_it_as_unresolved_and_by_itself():
    asked = Prediction(instance_id="a__b-1", model_name_or_path="m", model_patch="x")
    report = run_folder.instance_report(asked, grade.grade(HIDDEN, PASSED))
    found = run_folder.run_report(["a__b-1"], [asked], [report])
    assert (found["resolved_ids"], found["unresolved_ids"]) == ([], ["a__b-1"])
    assert found["goldseam"]["needs_review_ids"] == ["a__b-1"]
    assert not report.resolved


def test_hits_that_were_counted_and_did_not_come_were_silenced():
    found = tripwires.read([told(), {**ENDED, "hits": 2}], paths={"a.py"}, finished=True)
    assert [hit.kind for hit in found.hits] == [Tripwire.FRAMES, Tripwire.SILENCED]


def test_hits_of_forks_may_be_more_than_were_counted():
    found = tripwires.read([told(), told("proc"), {**ENDED, "hits": 1}], paths={"a.py"}, finished=True)
    assert [hit.kind for hit in found.hits] == [Tripwire.FRAMES, Tripwire.PROC]


def test_a_patch_that_was_built_is_a_hit_unless_the_fix_is_built_as_well():
    watch = tripwires.read((), paths=("a.c",), finished=False, built=True)
    assert [hit.kind for hit in tripwires.news(watch, {})] == [Tripwire.NATIVE_CODE]
    assert tripwires.news(watch, {"tripwires": tripwires.as_json(watch.hits)}) == ()
