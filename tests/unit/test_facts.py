"""What a run remembers of its tasks, so that it can be judged without its dataset."""

from __future__ import annotations

import pytest

from harness.analysis import scoresheet
from harness.core.instance import Prediction, TaskState
from harness.runs import evaluate
from harness.runs.run_folder import RunFolder
from harness.runs.task_metadata import TaskFacts, read_facts
from harness.sandbox.executors.local import LocalExecutor
from tests import report_runs, tiny
from tests.silent import NoSandbox, Silent

ID = "acme__widgets-{}".format


def evaluate_nothing(dataset, out, *numbers):
    """Score an empty patch for each task: no container is needed for that."""
    evaluate.run(
        dataset,
        [Prediction(instance_id=ID(number), model_name_or_path="model", model_patch="") for number in numbers],
        out,
        sandbox=NoSandbox(),
        executor=LocalExecutor(jobs=1),
        settings=evaluate.Settings(),
        observer=Silent(),
    )
    return RunFolder(path=out).record()


@pytest.fixture
def dataset(tmp_path):
    tasks = [report_runs.make_task(number) for number in range(4)]
    return report_runs.make_dataset(
        tmp_path / "dataset", [tasks[0], tasks[1], tasks[2], tiny.with_state(tasks[3], TaskState.QUARANTINED)]
    )


def test_a_run_remembers_the_facts_of_every_proved_task(dataset, tmp_path):
    record = evaluate_nothing(dataset, tmp_path / "run", 100)

    assert set(record.facts) == {ID(100), ID(101), ID(102)}
    assert record.facts[ID(101)] == TaskFacts(
        repo="acme/widgets",
        language="python",
        split="holdout",
        state=TaskState.PROVED,
        created_at="2024-03-02T12:00:00Z",
    )


def test_a_quarantined_task_that_was_asked_is_remembered_as_such(dataset, tmp_path):
    record = evaluate_nothing(dataset, tmp_path / "run", 100, 103)

    assert record.facts[ID(103)].state is TaskState.QUARANTINED


def test_a_run_can_be_judged_without_its_dataset(dataset, tmp_path):
    evaluate_nothing(dataset, tmp_path / "run", 100, 103)

    [sheet] = scoresheet.read(tmp_path / "run")

    assert (set(sheet.tasks), set(sheet.aside)) == ({ID(100)}, {ID(103)})
    assert (sheet.total, sheet.coverage) == (3, pytest.approx(1 / 3))


def test_a_run_that_is_added_to_keeps_what_it_knew(dataset, tmp_path):
    first = evaluate_nothing(dataset, tmp_path / "run", 100, 103)

    second = evaluate_nothing(dataset, tmp_path / "run", 101)

    assert second.tasks.keys() == {ID(100), ID(101), ID(103)}
    assert second.tasks[ID(100)] == first.tasks[ID(100)]
    assert second.facts[ID(103)].state is TaskState.QUARANTINED


@pytest.mark.parametrize(
    ("quality", "difficulty"),
    [
        ("{difficulty: hard}", "hard"),
        ("{difficulty: {tier: hard, minutes: 90}}", "hard"),
        ("{difficulty: 3}", None),
        ("{difficulty: ''}", None),
        ("{difficulty: {minutes: 90}}", None),
        ("{}", None),
    ],
)
def test_the_tier_of_difficulty_is_a_word(dataset, quality, difficulty):
    path = dataset.task_folder(ID(100)) / "task.yaml"
    path.write_text(path.read_text(encoding="utf-8").replace("quality: {}", f"quality: {quality}"), encoding="utf-8")

    assert read_facts(dataset)[ID(100)].difficulty == difficulty
