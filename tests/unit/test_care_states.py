"""Quarantine, retirement and release."""

from __future__ import annotations

import pytest

from harness.core.errors import InputError
from harness.core.instance import TaskState
from harness.dataset import task_states
from harness.dataset.ledger import ledger
from tests import report_runs

ONE, TWO = "acme__widgets-100", "acme__widgets-101"


@pytest.fixture
def dataset(tmp_path):
    return report_runs.make_dataset(tmp_path / "ds", 3)


@pytest.mark.parametrize(
    ("change", "state", "split"),
    [(task_states.quarantine, TaskState.QUARANTINED, "holdout"), (task_states.retire, TaskState.RETIRED, "retired")],
)
def test_a_task_leaves_the_holdout_with_a_reason(dataset, change, state, split):
    done = change(dataset, [ONE], why="its tests need the network")
    now = dataset.instance(ONE)

    assert (done.tasks, now.state, now.split) == ((ONE,), state, split)
    assert now.extra[state.value] == "its tests need the network"
    entry = ledger.read(dataset)[-1]
    assert (entry.event, entry.tasks, entry.facts["why"]) == (state.value, (ONE,), "its tests need the network")


def test_a_quarantined_task_is_released(dataset):
    task_states.quarantine(dataset, [ONE], why="flaky")
    task_states.release(dataset, [ONE], why="mended")

    assert dataset.instance(ONE).state is TaskState.PROVED
    assert "quarantined" not in dataset.instance(ONE).extra


def test_a_retired_task_does_not_come_back(dataset):
    task_states.retire(dataset, [ONE], why="leaked")

    with pytest.raises(InputError, match="is retired"):
        task_states.release(dataset, [ONE], why="please")


def test_what_was_done_before_is_not_done_again(dataset):
    task_states.quarantine(dataset, [ONE], why="flaky")
    lines = len(ledger.read(dataset))
    done = task_states.quarantine(dataset, [ONE], why="flaky")

    assert (done.tasks, done.already, done.version.changed) == ((), (ONE,), False)
    assert len(ledger.read(dataset)) == lines


@pytest.mark.parametrize(
    ("ids", "why", "what"),
    [
        (["nothing-1", ONE], "x", "has no task nothing-1"),
        ([ONE, ONE], "x", "named twice"),
        ([], "x", "no task"),
        ([ONE], "  ", "reason"),
    ],
)
def test_bad_wishes_are_refused_and_change_nothing(dataset, ids, why, what):
    with pytest.raises(InputError, match=what):
        task_states.quarantine(dataset, ids, why=why)

    assert dataset.instance(ONE).state is TaskState.PROVED
    assert [entry for entry in ledger.read(dataset) if entry.event not in ("created", "bound")] == []
