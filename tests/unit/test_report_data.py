"""What a report counts, and what it leaves out without leave."""

from __future__ import annotations

import pytest

from harness.core.errors import InputError
from harness.core.instance import Outcome
from harness.report import data
from harness.report.gather import gather, read_funnel
from harness.runs.run_folder import RunFolder
from tests.report_runs import FUNNEL, PATCH, SECRET_GOLD, SECRET_TEST, add, make_dataset, make_run, make_task

ONE, TWO = "acme__widgets-100", "acme__widgets-101"


def _model(found, label):
    return next(model for model in found.models if model.label == label)


def test_infrastructure_errors_and_unfinished_predictions_count_neither_way(tmp_path):
    run = tmp_path / "run"
    made = [
        add(run, ONE, "alpha"),
        add(run, TWO, "alpha", Outcome.INFRA_ERROR),
        add(run, "acme__widgets-102", "alpha", Outcome.EMPTY_PATCH),
        add(run, "acme__widgets-103", "alpha"),
    ]
    RunFolder(path=run).write_predictions(made)
    (run / "results" / "alpha" / "acme__widgets-103" / "0" / "report.json").unlink()
    model = gather([run]).models[0]
    assert (model.total, model.scored, model.resolved, model.unfinished) == (4, 2, 1, 1)
    assert (model.rate, model.coverage) == (0.5, 0.5)


def test_several_samples_of_one_task_tell_nothing_about_other_tasks(tmp_path):
    run = tmp_path / "run"
    RunFolder(path=run).write_predictions([add(run, ONE, "alpha"), add(run, ONE, "alpha", sample=1)])
    bounds = gather([run]).models[0].interval
    assert bounds is not None
    assert (bounds.low, bounds.high) == (0, 1)


def test_each_task_counts_alike_however_many_samples_it_has(tmp_path):
    run = tmp_path / "run"
    made = [add(run, ONE, "alpha", sample=number) for number in range(3)]
    RunFolder(path=run).write_predictions([*made, add(run, TWO, "alpha", Outcome.UNRESOLVED)])
    assert gather([run]).models[0].rate == 0.5


def test_the_controls_compete_with_nobody(tmp_path):
    found = gather([make_run(tmp_path / "run", 4, {"gold": 1, "null": 0, "alpha": 0.5})])
    assert [model.label for model in found.competitors()] == ["alpha"]


def test_controls_alone_are_shown_as_they_are(tmp_path):
    found = gather([make_run(tmp_path / "run", 2, {"gold": 1, "null": 0})])
    assert [model.label for model in found.competitors()] == ["gold", "null"]


def test_one_model_in_two_runs_is_told_apart_by_the_run(tmp_path):
    runs = [make_run(tmp_path / name, 2, {"alpha": 0.5}) for name in ("monday", "tuesday")]
    assert [model.label for model in gather(runs).models] == ["alpha (monday)", "alpha (tuesday)"]


def test_runs_of_the_same_name_are_told_apart_by_the_folder_above(tmp_path):
    runs = [make_run(tmp_path / name / "run", 2, {"alpha": 0.5}) for name in ("a", "b")]
    assert gather(runs).runs == ("a/run", "b/run")


def test_proved_tasks_without_a_prediction_are_listed(tmp_path):
    dataset = make_dataset(tmp_path / "ds", 3)
    run = tmp_path / "run"
    RunFolder(path=run).write_predictions([add(run, ONE, "alpha")])
    found = gather([run], dataset=dataset.path)
    assert len(found.tasks) == 3
    assert found.models[0].tasks == 1


def test_without_leave_no_hidden_detail_is_even_gathered(tmp_path):
    dataset = make_dataset(tmp_path / "ds", 2)
    run = make_run(tmp_path / "run", 2, {"gold": 1, "alpha": 0.5})
    found = gather([run], dataset=dataset.path)
    assert all(view.hidden is None for view in found.predictions)
    assert all(task.gold_patch is None and task.test_patch is None for task in found.tasks)


def test_the_gold_patch_is_hidden_under_whatever_name_it_was_scored(tmp_path):
    dataset = make_dataset(tmp_path / "ds", 1)
    run = tmp_path / "run"
    gold = PATCH.format(name=SECRET_GOLD)
    RunFolder(path=run).write_predictions([add(run, ONE, "reference-solution", patch=gold)])
    view = gather([run], dataset=dataset.path).predictions[0]
    assert view.patch is None
    assert "gold patch" in view.patch_note


@pytest.mark.parametrize("failure_class", ["collection_error", "runner_error", "tampered", "broken_task", "novel"])
def test_reasons_that_may_quote_a_hidden_test_are_put_in_our_own_words(tmp_path, failure_class):
    run = tmp_path / "run"
    made = add(run, ONE, "alpha", Outcome.UNRESOLVED, failure_class=failure_class, reason=f"see {SECRET_TEST}")
    RunFolder(path=run).write_predictions([made])
    assert SECRET_TEST not in gather([run]).predictions[0].reason
    assert SECRET_TEST in gather([run], with_hidden=True).predictions[0].reason


@pytest.mark.parametrize("failure_class", ["tests_failed", "logic_error", "timeout"])
def test_a_reason_does_not_name_the_hidden_file_that_was_left_out_of_the_patch(tmp_path, failure_class):
    run = tmp_path / "run"
    reason = f"too slow; left out of the patch: {SECRET_TEST} (hidden_test)"
    made = add(run, ONE, "alpha", Outcome.UNRESOLVED, failure_class=failure_class, reason=reason)
    RunFolder(path=run).write_predictions([made])
    shown = gather([run]).predictions[0].reason
    assert shown == ("too slow" if failure_class == "timeout" else "1 of 2 FAIL_TO_PASS tests do not pass")


def test_a_dropped_part_does_not_name_the_hidden_file_it_touched(tmp_path):
    run = tmp_path / "run"
    dropped = ({"path": "conftest.py", "reason": "conftest"}, {"path": "tests/test_x.py", "reason": "hidden_test"})
    RunFolder(path=run).write_predictions([add(run, ONE, "alpha", dropped=dropped)])
    assert gather([run]).predictions[0].dropped == ("conftest.py (conftest)", "hidden_test")
    assert gather([run], with_hidden=True).predictions[0].dropped[1] == "tests/test_x.py (hidden_test)"


def test_a_sealed_task_without_its_hidden_files_can_still_be_shown(tmp_path):
    dataset = make_dataset(tmp_path / "ds", 1)
    for name in ("tests.json", "gold.patch", "test.patch"):
        (dataset.task_folder(ONE) / name).unlink()
    found = gather([make_run(tmp_path / "run", 1, {"alpha": 1})], dataset=dataset.path)
    assert found.tasks[0].title


@pytest.mark.parametrize("text", ["{", "[" * 200_000])
def test_a_broken_results_file_does_not_hide_the_verdict(tmp_path, text):
    run = make_run(tmp_path / "run", 1, {"alpha": 1})
    (run / "results" / "alpha" / ONE / "0" / "results.json").write_text(text)
    view = gather([run], with_hidden=True).predictions[0]
    assert view.outcome is Outcome.RESOLVED
    assert view.hidden is not None
    assert "cannot be read" in view.hidden.notes[0]


def test_what_did_not_pass_comes_first_among_the_tests(tmp_path):
    run = tmp_path / "run"
    RunFolder(path=run).write_predictions([add(run, ONE, "alpha", Outcome.UNRESOLVED)])
    view = gather([run], with_hidden=True).predictions[0]
    assert view.hidden is not None
    assert (view.hidden.tests[0].test_id, view.hidden.tests[0].group) == (SECRET_TEST, "F2P")


def test_a_funnel_sums_to_the_changes_looked_at(tmp_path):
    path = tmp_path / "funnel.jsonl"
    path.write_text(FUNNEL)
    found = read_funnel(path)
    assert found is not None
    assert found.accepted + sum(part.changes for part in found.stages) == found.looked_at == FUNNEL.count("\n")


def test_a_funnel_is_read_leniently(tmp_path):
    path = tmp_path / "funnel.jsonl"
    again = '{"repo":"a/b","change":"1","stage":"accepted","reason":"accepted"}\n'
    path.write_text(
        '{"repo":"a/b","change":"1","stage":"split","reason":"no_tests"}\n' + again + '{"repo":\n[]\n' + "[" * 200_000
    )
    found = read_funnel(path)
    assert found == data.Funnel(looked_at=1, accepted=1, stages=(), unreadable=3)


def test_a_dataset_without_a_funnel_has_none(tmp_path):
    assert read_funnel(tmp_path / "funnel.jsonl") is None


def test_a_folder_that_is_no_run_is_refused(tmp_path):
    with pytest.raises(InputError, match="not a run"):
        gather([tmp_path])


def test_a_run_that_is_given_twice_is_refused(tmp_path):
    run = make_run(tmp_path / "run", 1, {"alpha": 1})
    with pytest.raises(InputError, match="given twice"):
        gather([run, tmp_path / "." / "run"])


def test_no_run_at_all_is_refused():
    with pytest.raises(InputError, match="no run"):
        gather([])


def test_a_statement_without_a_heading_gives_its_first_line_as_title(tmp_path):
    dataset = make_dataset(tmp_path / "ds", [make_task(0, statement="\n\n## \nIt breaks.\n")])
    found = gather([make_run(tmp_path / "run", 1, {"alpha": 1})], dataset=dataset.path)
    assert found.tasks[0].title == "It breaks."
