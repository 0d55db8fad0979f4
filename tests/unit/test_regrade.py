"""A run folder regraded in place: what changed is told, what cannot be said is left as it was."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from harness.core import files
from harness.core.errors import InputError
from harness.core.instance import Outcome
from harness.grading import failures, scoring
from harness.grading.failures import FailureClass, Row
from harness.grading.grade import grade
from harness.runs import verdict
from harness.runs.evaluate import write_report
from harness.runs.regrade import State, regrade
from harness.runs.run_folder import RunFolder, RunRecord
from tests import tiny
from tests.program import goldseam
from tests.unit.test_regrade_replay import FAILED, judged, trial

TRIALS = {"right": trial(), "wrong": trial(FAILED), "breaks": trial(p2p=FAILED)}


@pytest.fixture
def dataset(tmp_path):
    return tiny.dataset(tmp_path / "dataset", tiny.task())


@pytest.fixture
def run(tmp_path, dataset):
    """A run of three models on one task, as `evaluate` leaves it."""
    folder = RunFolder(path=tmp_path / "run")
    given = [tiny.prediction(tiny.GOLD, model=model) for model in TRIALS]
    for prediction in given:
        found = judged(dataset.task("tiny__calc-1"), TRIALS[prediction.model_name_or_path], prediction=prediction)
        folder.write(prediction, found.report, found.evidence)
    folder.write_predictions(given)
    folder.write_run(
        RunRecord(
            goldseam_version="1",
            grading_version=found.report.grading_version,
            classes_version=found.report.classes_version,
            dataset="tiny",
            dataset_version=1,
            tasks={},
            images={},
            models=sorted(TRIALS),
            settings={},
            machine={},
            started_at="2026-06-01T00:00:00Z",
        )
    )
    write_report(dataset, folder)
    return folder


@pytest.fixture
def newer_classes(monkeypatch):
    """A later version of the table, in which a regression is something else."""
    row = Row(failure_class=FailureClass.LOGIC_ERROR, when="broken", holds=lambda facts: bool(facts.tests.broken))
    monkeypatch.setattr(failures, "ROWS", (row, *failures.ROWS))
    monkeypatch.setattr(verdict, "CLASSES_VERSION", 99)
    monkeypatch.setattr("harness.runs.regrade.CLASSES_VERSION", 99)


@pytest.fixture
def newer_grading(monkeypatch):
    """A later version of grading, which minds no regression."""

    def lenient(hidden, trial):
        return grade(replace(hidden, pass_to_pass=()), trial)

    monkeypatch.setattr(scoring, "grade", lenient)
    monkeypatch.setattr(verdict, "GRADING_VERSION", 99)
    monkeypatch.setattr("harness.runs.regrade.GRADING_VERSION", 99)


def contents(run) -> dict[str, bytes]:
    return {
        str(path.relative_to(run.path)): path.read_bytes()
        for path in sorted(run.path.rglob("*"))
        if path.is_file() and path.name != ".lock"
    }


def report(run, model):
    return run.read(tiny.prediction(tiny.GOLD, model=model))


def states(summary) -> dict[str, str]:
    return {one.model: one.state.value for one in summary.predictions}


def test_unchanged_rules_change_no_byte(dataset, run):
    before = contents(run)
    assert states(regrade(dataset, run.path)) == dict.fromkeys(TRIALS, "unchanged")
    assert contents(run) == before


def test_a_change_of_the_table_changes_labels_and_says_which(dataset, run, newer_classes):
    summary = regrade(dataset, run.path)
    assert states(summary) == {"right": "unchanged", "wrong": "unchanged", "breaks": "changed"}
    (changed,) = (one for one in summary.predictions if one.state is State.CHANGED)
    assert (changed.before, changed.after) == (("unresolved", "regression"), ("unresolved", "logic_error"))
    assert changed.changed == ("failure_class",)


def test_a_change_of_grading_changes_the_verdict_and_the_runs_report(dataset, run, newer_grading):
    summary = regrade(dataset, run.path)
    assert states(summary) == {"right": "changed", "wrong": "changed", "breaks": "changed"}
    assert report(run, "breaks").outcome is Outcome.RESOLVED
    assert report(run, "wrong").outcome is Outcome.UNRESOLVED
    assert json.loads((run.path / "report.json").read_bytes())["resolved_instances"] == 2


def test_the_report_keeps_what_it_said_before(dataset, run, newer_grading):
    regrade(dataset, run.path)
    (said,) = report(run, "breaks").regraded_from
    assert (said["outcome"], said["failure_class"], said["cause"]) == ("unresolved", "regression", "regression")
    assert said["grading_version"] < report(run, "breaks").grading_version == 99


def test_a_verdict_changed_twice_keeps_both(dataset, run, newer_grading, monkeypatch):
    regrade(dataset, run.path)
    monkeypatch.setattr(scoring, "grade", grade)
    monkeypatch.setattr(verdict, "GRADING_VERSION", 100)
    regrade(dataset, run.path)
    assert [said["outcome"] for said in report(run, "breaks").regraded_from] == ["unresolved", "resolved"]


def test_a_second_call_changes_nothing(dataset, run, newer_grading):
    regrade(dataset, run.path)
    before = contents(run)
    assert set(states(regrade(dataset, run.path)).values()) == {"unchanged"}
    assert contents(run) == before


def test_rules_that_only_have_another_number_are_written_down_and_are_no_change(dataset, run, monkeypatch):
    monkeypatch.setattr(verdict, "GRADING_VERSION", 99)
    monkeypatch.setattr("harness.runs.regrade.GRADING_VERSION", 99)
    old = report(run, "wrong")
    assert set(states(regrade(dataset, run.path)).values()) == {"unchanged"}
    new = report(run, "wrong")
    assert (new.grading_version, new.regraded_from) == (99, [])
    assert new.key != old.key
    assert run.record().grading_version == 99


def test_evidence_is_left_as_it_is(dataset, run, newer_grading):
    before = contents(run)
    regrade(dataset, run.path)
    after = contents(run)
    assert {name for name in before if before[name] != after[name]} == {
        *(f"results/{model}/tiny__calc-1/0/report.json" for model in TRIALS),
        "report.json",
        "run.json",
    }


def test_a_call_that_was_stopped_goes_on(dataset, run, newer_grading, monkeypatch):
    write = RunFolder.write_report

    def stopped(self, prediction, found):
        if prediction.model_name_or_path == "wrong":
            raise KeyboardInterrupt
        write(self, prediction, found)

    with monkeypatch.context() as patched:
        patched.setattr(RunFolder, "write_report", stopped)
        with pytest.raises(KeyboardInterrupt):
            regrade(dataset, run.path)
    assert states(regrade(dataset, run.path)) == {"right": "unchanged", "wrong": "changed", "breaks": "changed"}
    assert all(len(report(run, model).regraded_from) == 1 for model in TRIALS)
    assert run.record().grading_version == 99


def test_the_record_says_when_a_run_was_regraded(dataset, run, newer_classes):
    regrade(dataset, run.path)
    (entry,) = run.record().regraded
    assert (entry["changed"], entry["unchanged"], entry["classes_version"]) == (1, 2, 99)


def spoil(run, model, name, data):
    files.write_bytes(run.sample_folder(tiny.prediction(model=model)) / name, data)


@pytest.mark.parametrize(
    ("name", "data", "why"),
    [
        ("results.json", b'{"schema_version": 1, "tests": {}}', "too old"),
        ("results.json", b"{}", "too old"),
        ("results.json", b"[]", "no JSON object"),
        ("results.json", b'{"half', "cannot be read"),
        ("results.json", b"\xff\xfe", "cannot be read"),
        ("results.json", b"[" * 100_000, "cannot be read"),
        ("patch.diff", b"another", "not the patch"),
    ],
)
def test_evidence_that_does_not_carry_a_verdict_changes_none(name, data, why, dataset, run, newer_grading):
    spoil(run, "breaks", name, data)
    before = report(run, "breaks")
    summary = regrade(dataset, run.path)
    (left,) = (one for one in summary.predictions if one.model == "breaks")
    assert (left.state, report(run, "breaks")) == (State.NOT_REGRADED, before)
    assert why in left.why_not
    assert run.record().grading_version != 99


def test_evidence_that_somebody_changed_gives_no_new_verdict(dataset, run, newer_grading):
    path = run.sample_folder(tiny.prediction(model="breaks")) / "results.json"
    path.write_bytes(path.read_bytes() + b" ")

    (left,) = (one for one in regrade(dataset, run.path).predictions if one.model == "breaks")

    assert (left.state, left.why_not) == (State.NOT_REGRADED, "its evidence was changed")


def test_a_regraded_report_is_as_authentic_as_the_one_before(dataset, run, newer_grading):
    own, forged = tiny.prediction(model="breaks"), tiny.prediction(model="wrong")
    path = run.sample_folder(forged) / "report.json"
    path.write_bytes(path.read_bytes().replace(b'"mac":"', b'"mac":"0').replace(b'"mac": "', b'"mac": "0'))
    before = [run.is_authentic(one) for one in run.predictions()]

    regrade(dataset, run.path)

    assert [run.is_authentic(one) for one in run.predictions()] == before
    assert (before.count(True), before.count(False)) == (2, 1)
    assert report(run, own.model_name_or_path).grading_version == 99


def test_missing_evidence_changes_no_verdict(dataset, run, newer_grading):
    (run.sample_folder(tiny.prediction(model="breaks")) / "results.json").unlink()
    assert states(regrade(dataset, run.path))["breaks"] == "not_regraded"
    assert report(run, "breaks").outcome is Outcome.UNRESOLVED


def test_a_task_that_the_dataset_does_not_have_changes_no_verdict(tmp_path, run, newer_grading):
    other = tiny.dataset(tmp_path / "other", tiny.task(instance_id="tiny__calc-2"))
    summary = regrade(other, run.path)
    assert set(states(summary).values()) == {"not_regraded"}
    assert "no such task" in summary.predictions[0].why_not


def test_a_prediction_without_a_report_is_not_scored(dataset, run):
    (run.sample_folder(tiny.prediction(model="wrong")) / "report.json").unlink()
    assert states(regrade(dataset, run.path))["wrong"] == "not_scored"


def test_only_chosen_tasks_are_regraded(dataset, run, newer_grading):
    assert regrade(dataset, run.path, ids=["tiny__calc-9"]).predictions == ()
    assert report(run, "breaks").outcome is Outcome.UNRESOLVED


def test_a_folder_without_a_run_is_refused(dataset, tmp_path):
    with pytest.raises(InputError, match="not a run folder"):
        regrade(dataset, tmp_path)


def test_a_run_that_is_being_written_is_refused(dataset, run):
    with files.locked(run.path / ".lock", busy="busy"), pytest.raises(InputError, match="another goldseam"):
        regrade(dataset, run.path)


def test_a_broken_record_is_refused(dataset, run):
    (run.path / "run.json").write_bytes(b"{}")
    with pytest.raises(InputError, match=r"run\.json is broken"):
        regrade(dataset, run.path)


def test_the_command_shows_old_and_new(dataset, run, newer_classes):
    done = goldseam("regrade", dataset.path, run.path, COLUMNS="200")
    assert done.returncode == 0, done.error_text
    assert "unresolved / regression" in done.stdout
    assert "unresolved / logic_error" in done.stdout
    assert "2 unchanged, 1 changed" in done.stdout


def test_the_command_prints_one_document_for_programs(dataset, run, newer_classes):
    done = goldseam("regrade", dataset.path, run.path, "--json")
    found = json.loads(done.stdout)
    assert found["counts"] == {"unchanged": 2, "changed": 1, "not_regraded": 0, "not_scored": 0}
    (one,) = found["predictions"]
    assert one["before"] == {"outcome": "unresolved", "failure_class": "regression"}
    assert one["after"] == {"outcome": "unresolved", "failure_class": "logic_error"}


def test_the_command_says_no_where_something_could_not_be_regraded(dataset, run):
    spoil(run, "wrong", "results.json", b"{}")
    done = goldseam("regrade", dataset.path, run.path, COLUMNS="200")
    assert done.returncode == 1
    assert "too old" in done.stdout
    assert "1 of 3 predictions could not be regraded" in done.error_text


@pytest.mark.parametrize("words", [["--gold"], ["--null"], ["-o", "elsewhere"], ["-p", "p.jsonl"]])
def test_the_command_takes_nothing_to_score_with_it(words, dataset, run):
    done = goldseam("regrade", dataset.path, run.path, *words)
    assert (done.returncode, "no such option" in done.error_text) == (2, True)


def test_the_old_spelling_regrades_too_and_names_the_new_one(dataset, run):
    done = goldseam("evaluate", dataset.path, "--regrade", run.path)
    assert f"regraded {run.path}" in done.stdout.replace("\n", "")
    assert "is now goldseam regrade DATASET RUN" in done.error_text


def test_the_command_refuses_a_task_that_is_not_there(dataset, run):
    assert goldseam("regrade", dataset.path, run.path, "-i", "nope").returncode == 2


def test_scoring_still_asks_for_a_run_folder(dataset):
    done = goldseam("evaluate", dataset.path, "--gold")
    assert (done.returncode, "-o" in done.error_text) == (2, True)
