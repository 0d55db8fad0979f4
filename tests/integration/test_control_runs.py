"""Gold as a control of a campaign, in real containers."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from harness.dataset.folder import open_dataset
from harness.runs import evaluate
from harness.sandbox.executors.local import LocalExecutor
from tests import tiny
from tests.silent import Listening

pytestmark = pytest.mark.engine


def campaign(folder, task, sandbox, prediction, *, jobs=1):
    notes = Listening()
    evaluate.run(
        tiny.dataset(folder / "dataset", task),
        [prediction],
        folder / "run",
        sandbox=sandbox,
        executor=LocalExecutor(jobs=jobs),
        settings=evaluate.Settings(control=3),
        observer=notes,
    )
    return notes, json.loads((folder / "run/run.json").read_text())


def rerun(folder, sandbox, *, control=3):
    """The same command once more."""
    opened = open_dataset(folder / "dataset")
    given = evaluate.RunFolder(path=folder / "run").predictions()
    settings = evaluate.Settings(control=control)
    executor = LocalExecutor(jobs=1)
    evaluate.run(
        opened, given, folder / "run", sandbox=sandbox, executor=executor, settings=settings, observer=Listening()
    )
    return json.loads((folder / "run/run.json").read_text())


def timed(task, seconds, **hidden):
    return replace(task, hidden=replace(task.hidden, evidence={"gold_seconds": seconds}, **hidden))


@pytest.mark.parametrize("jobs", [1, 2])
def test_the_time_of_gold_is_in_the_record_of_the_run(tiny_image, sandbox, tmp_path, jobs):
    notes, record = campaign(tmp_path, timed(tiny.task(tiny_image), 30.0), sandbox, tiny.prediction(), jobs=jobs)
    (reading,) = record["control"]
    assert reading["resolved"]
    assert reading["proof_seconds"] == 30.0
    assert 0 < reading["seconds"] < 30
    assert record["settings"]["slowdown"] == 1.0
    assert notes.noted == []


def test_a_task_that_gold_no_longer_resolves_is_told(tiny_image, sandbox, tmp_path):
    broken = timed(tiny.task(tiny_image, gold=tiny.fix("return 7")), 30.0)
    notes, record = campaign(tmp_path, broken, sandbox, tiny.prediction())
    assert any("gold no longer resolves" in text for text in notes.noted)
    assert record["drift"] == notes.noted


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_slow_machine_gets_longer_budgets(tiny_image, sandbox, tmp_path, jobs):
    wait = tiny.fix("import time; time.sleep(1.5); return a + b")  # in both tests
    slow = quick(timed(tiny.task(tiny_image, gold=wait), 0.5), 2.5)
    notes, record = campaign(tmp_path, slow, sandbox, tiny.prediction(wait), jobs=jobs)
    assert record["settings"]["slowdown"] > 4
    assert any("slower" in text for text in notes.noted)
    assert notes.reports[0].resolved


def test_a_finished_run_keeps_its_control_when_it_is_asked_again(tiny_image, sandbox, tmp_path):
    wait = tiny.fix("import time; time.sleep(0.6); return a + b")
    task = quick(timed(tiny.task(tiny_image, gold=wait), 0.5), 4)
    _, before = campaign(tmp_path, task, sandbox, tiny.prediction())
    after = rerun(tmp_path, sandbox)
    assert before["drift"]
    assert (after["control"], after["drift"]) == (before["control"], before["drift"])
    assert after["settings"]["slowdown"] == before["settings"]["slowdown"] > 1


def test_gold_itself_needs_no_control(tiny_image, sandbox, tmp_path):
    _, record = campaign(tmp_path, timed(tiny.task(tiny_image), 30.0), sandbox, tiny.prediction(model="gold"))
    assert "control" not in record


def test_a_task_whose_image_is_gone_does_not_keep_the_others_from_being_scored(sandbox, tmp_path):
    notes, record = campaign(tmp_path, timed(tiny.task(), 30.0), sandbox, tiny.prediction())
    assert notes.reports[0].outcome == "infra_error"
    assert "control" not in record


def quick(task, seconds):
    return replace(task, instance=replace(task.instance, budgets=replace(task.instance.budgets, seconds=seconds)))


def test_no_time_out_is_believed_while_gold_is_as_late(tiny_image, sandbox, tmp_path):
    wait = tiny.fix("import time; time.sleep(1.5); return a + b")
    task = quick(timed(tiny.task(tiny_image, gold=wait), 0.5), 1)
    found = evaluate.evaluate_one(task, tiny.prediction(wait), sandbox, settings=evaluate.Settings())
    assert found.report.resolved
    assert found.evidence.results["evidence"]["slowdown"] > 3


def test_a_time_out_holds_where_gold_is_in_time(tiny_image, sandbox, tmp_path):
    task = quick(timed(tiny.task(tiny_image), 0.5), 2)
    hang = tiny.prediction(tiny.fix("import time; time.sleep(600)"))
    found = evaluate.evaluate_one(task, hang, sandbox, settings=evaluate.Settings())
    assert (found.report.outcome, found.report.cause) == ("unresolved", "timeout")


def test_where_gold_does_not_finish_either_nothing_is_said_of_the_patch(tiny_image, sandbox, tmp_path):
    hang = tiny.fix("import time; time.sleep(600)")
    task = quick(timed(tiny.task(tiny_image, gold=hang), 0.5), 0.5)
    found = evaluate.evaluate_one(task, tiny.prediction(hang), sandbox, settings=evaluate.Settings())
    assert (found.report.outcome, found.report.cause) == ("infra_error", "too_slow")


def test_a_fix_that_fails_and_an_empty_patch_that_passes_are_an_answer_of_no(tiny_image, tmp_path):
    broken = tiny.task(tiny_image, gold=tiny.fix("return 7"))
    loose = tiny.task(
        tiny_image, instance_id="tiny__calc-2", fail_to_pass=["tests/test_calc.py::test_zero"], pass_to_pass=()
    )
    made = tiny.dataset(tmp_path / "dataset", broken, loose)
    done = tiny.goldseam("evaluate", made.path, "--gold", "--null", "-o", tmp_path / "run", "--no-signals")
    assert done.returncode == 1, done.error_text
    assert "2 of the controls came out wrong" in done.error_text
    assert "tiny__calc-1: gold is unresolved" in done.error_text
    assert "tiny__calc-2: null is resolved" in done.error_text
