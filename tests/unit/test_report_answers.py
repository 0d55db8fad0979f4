"""The sentences of the first screen: no winner is named that the comparison does not show."""

from __future__ import annotations

import pytest

from harness.analysis.gate.config import GateRules
from harness.core.errors import InputError
from harness.core.instance import Outcome, TaskState
from harness.grading.failures import FailureClass
from harness.judging.places import Place
from harness.report import words, work
from harness.report.answers import answers
from harness.report.gather import gather
from harness.runs.run_folder import RunFolder, RunRecord
from tests.report_runs import add, make_dataset, make_rich, make_run, make_task

ONE, TWO = "acme__widgets-100", "acme__widgets-101"


def _ids(count):
    return [f"acme__widgets-{100 + number}" for number in range(count)]


def _said(run, **options):
    return answers(gather([run], **options))


def _run(path, **resolved):
    """A run of ten tasks, of which each model resolves the first so many."""
    made = [
        add(path, task_id, model, Outcome.RESOLVED if place < number else Outcome.UNRESOLVED)
        for model, number in resolved.items()
        for place, task_id in enumerate(_ids(10))
    ]
    RunFolder(path=path).write_predictions(made)
    RunFolder(path=path).write_run(
        RunRecord(
            goldseam_version="0.1.0", grading_version=2, dataset="widgets", dataset_version=1, tasks={}, images={},
            models=list(resolved), settings={}, machine={}, started_at="2026-03-01T04:00:00Z",
        )
    )  # fmt: skip
    return path


def test_a_difference_that_the_comparison_shows_is_named(tmp_path):
    said = _said(_run(tmp_path / "run", alpha=9, beta=1))
    assert said.headline == "alpha is better than beta here"
    assert "80 points ahead on 10 tasks in common" in said.sure[1]


def test_a_difference_that_may_be_chance_is_not(tmp_path):
    said = _said(_run(tmp_path / "run", alpha=6, beta=4))
    assert said.headline == "Can't tell whether alpha or beta is better"
    assert "would be missed" in said.sure[1]


def test_a_tie_has_no_winner(tmp_path):
    assert _said(_run(tmp_path / "run", alpha=5, beta=5)).headline == "Can't tell whether alpha or beta is better"


def test_the_best_of_many_is_named_only_where_it_beats_them_all(tmp_path):
    assert (
        _said(_run(tmp_path / "a", alpha=10, beta=1, gamma=0)).headline == "alpha is better than every other model here"
    )
    assert (
        _said(_run(tmp_path / "b", alpha=10, beta=9, gamma=0)).headline == "alpha leads, but may be no better than beta"
    )
    assert _said(_run(tmp_path / "c", alpha=6, beta=5, gamma=4)).headline == "Can't tell which of the 3 models is best"


def test_one_model_alone_is_told_by_its_rate(tmp_path):
    assert _said(_run(tmp_path / "run", alpha=5)).headline == "alpha resolves 50% of the tasks"


def test_no_winner_is_named_where_nothing_was_resolved(tmp_path):
    assert _said(_run(tmp_path / "run", alpha=0, beta=0)).headline == "No model resolved a task"
    assert _said(_run(tmp_path / "one", alpha=0)).headline == "alpha resolved no task"


def test_a_run_without_a_verdict_says_so(tmp_path):
    RunFolder(path=tmp_path).write_predictions([add(tmp_path, ONE, "alpha", Outcome.INFRA_ERROR)])
    said = _said(tmp_path)
    assert said.headline == "No prediction has been scored yet"
    assert said.sure == ("Nothing has been scored, so nothing is known.",)


def test_models_without_a_common_task_are_not_compared(tmp_path):
    RunFolder(path=tmp_path).write_predictions([add(tmp_path, ONE, "alpha"), add(tmp_path, TWO, "beta")])
    said = _said(tmp_path)
    assert said.headline == "Can't tell whether alpha or beta is better"
    assert "No task has a verdict on both this model and beta." in said.sure
    assert any("not scored on the same tasks" in note for note in said.notes)


def test_controls_that_fail_are_pointed_out(tmp_path):
    made = [add(tmp_path, ONE, "gold", Outcome.UNRESOLVED), add(tmp_path, ONE, "null"), add(tmp_path, ONE, "alpha")]
    RunFolder(path=tmp_path).write_predictions(made)
    assert sum("some tasks are broken" in note for note in _said(tmp_path).notes) == 2


def test_controls_alone_tell_whether_the_tasks_hold(tmp_path):
    assert (
        _said(_run(tmp_path / "a", gold=10, null=0)).headline
        == "The tasks hold: gold 10 of 10 and null 0 of 10 resolved"
    )
    assert _said(_run(tmp_path / "b", gold=9, null=0)).headline.startswith("Some tasks are broken")


def test_a_report_without_controls_says_how_to_run_them(tmp_path):
    assert any("--gold" in line for line in _said(_run(tmp_path / "run", alpha=1)).ship.lines)


def test_the_commonest_failures_of_the_best_model_are_told(tmp_path):
    made = [add(tmp_path, name, "alpha", Outcome.UNRESOLVED, failure_class="logic_error") for name in _ids(3)]
    made += [add(tmp_path, "acme__widgets-109", "alpha", Outcome.UNRESOLVED, failure_class="regression")]
    RunFolder(path=tmp_path).write_predictions(made)
    assert _said(tmp_path).fails[0] == "alpha: logic error (3), regression (1)."


def test_the_weakest_group_is_told(tmp_path):
    dataset = make_dataset(tmp_path / "ds", [make_task(n, difficulty="easy" if n < 5 else "hard") for n in range(10)])
    said = _said(_run(tmp_path / "run", alpha=6), dataset=dataset.path)
    assert "Weakest where difficulty is hard: 20% of 5 tasks." in said.fails


def test_a_pass_with_a_sign_to_look_at_comes_before_ordinary_differences(tmp_path):
    flags = [{"path": "src/x.py", "sign": "exit"}]
    made = [add(tmp_path, ONE, "alpha", flags=flags), add(tmp_path, ONE, "beta", Outcome.UNRESOLVED)]
    RunFolder(path=tmp_path).write_predictions(made)
    assert [notice.filter["outcome"] for notice in _said(tmp_path).look] == ["*flagged", "*differ"]


def test_quarantined_tasks_do_not_count_and_that_is_said(tmp_path):
    tasks = [make_task(0), make_task(1, state=TaskState.QUARANTINED)]
    dataset = make_dataset(tmp_path / "ds", tasks)
    run = tmp_path / "run"
    RunFolder(path=run).write_predictions([add(run, ONE, "alpha"), add(run, TWO, "alpha", Outcome.UNRESOLVED)])
    found = gather([run], dataset=dataset.path)
    assert (found.models[0].resolved, found.models[0].scored) == (1, 1)
    assert found.tasks[1].aside == "quarantined"
    assert any("1 task set aside" in note for note in answers(found).notes)


def test_tasks_that_are_not_judged_on_the_host_are_counted(tmp_path):
    made = [add(tmp_path, ONE, "alpha", place=Place.INSIDE), add(tmp_path, TWO, "alpha")]
    RunFolder(path=tmp_path).write_predictions(made)

    assert any(note.startswith("Of 2 tasks, 1 judged inside: a patch") for note in _said(tmp_path).notes)


def test_nothing_is_said_of_forgers_where_all_is_judged_on_the_host(tmp_path):
    assert not any("defeat" in note for note in _said(make_run(tmp_path / "run", 2, {"alpha": 1})).notes)


def test_without_a_baseline_nothing_is_said_about_shipping(tmp_path):
    assert _said(make_run(tmp_path / "run", 2, {"alpha": 1})).ship.verdict == "undecided"


@pytest.mark.parametrize(("alpha", "beta", "verdict"), [(10, 8, "pass"), (0, 10, "regression")])
def test_with_a_baseline_the_gate_is_asked_about_the_best_model(tmp_path, alpha, beta, verdict):
    new, old = _run(tmp_path / "new", alpha=alpha), _run(tmp_path / "old", alpha=beta)
    rules = GateRules(mode="no-regression")
    assert work.ask_gate(gather([new]), old, rules).verdict == verdict


def test_a_baseline_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(InputError, match="no baseline"):
        work.ask_gate(gather([_run(tmp_path / "new", alpha=1)]), tmp_path / "gone", GateRules())


def test_a_run_is_no_baseline_of_itself(tmp_path):
    run = _run(tmp_path / "new", alpha=1)
    with pytest.raises(InputError, match="itself"):
        work.ask_gate(gather([run]), run, GateRules())


def test_every_failure_class_has_a_meaning():
    assert [name for name in FailureClass if not words.meaning(name)] == []


def test_cohorts_stand_on_the_facts_of_the_tasks(tmp_path):
    dataset, run = make_rich(tmp_path, 12, {"alpha": 0.6})
    groups = {dimension for task in gather([run], dataset=dataset).tasks for dimension in task.groups}
    assert groups == {"repository", "language", "difficulty", "split", "place judged"}
