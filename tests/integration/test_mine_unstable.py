"""`goldseam mine` on a fix whose tests are unstable: rejected, or kept out of all scores."""

from __future__ import annotations

import json

import pytest

from harness.checks.dataset import check
from harness.core.instance import TaskState
from harness.dataset.folder import open_dataset
from tests import tiny
from tests.repos import Repository

TESTS = (
    tiny.BASE_TESTS
    + """

def test_two():
    import os

    assert calc.add(1, 1) == 2 + (os.cpu_count() == 1)
"""
)


@pytest.fixture(scope="module")
def history(tmp_path_factory):
    repo = Repository(tmp_path_factory.mktemp("history") / "calc")
    repo.commit("Start", dict(tiny.FILES))
    repo.commit("Fix: adding subtracts", {tiny.CALC: tiny.FIXED, tiny.TESTS: TESTS})
    return repo.path


@pytest.fixture(scope="module")
def mined(history, tmp_path_factory):
    """A dataset mined with the unstable task kept, and what was said."""
    out = tmp_path_factory.mktemp("mined") / "dataset"
    done = tiny.goldseam("mine", history, "-o", out, "--name", "tiny/calc", "--json", "--quarantine", "--runs", "2")
    assert done.returncode == 0, done.error_text
    return out, json.loads(done.stdout)


def funnel(out):
    return [json.loads(line) for line in (out / "funnel.jsonl").read_text().splitlines()[1:]]


def the_task(out):
    dataset = open_dataset(out)
    (only,) = dataset.ids()
    return dataset.task(only)


@pytest.mark.engine
def test_the_funnel_says_what_unstable_tests_hang_on_and_names_none_of_a_task_that_is_kept(mined):
    line = next(line for line in funnel(mined[0]) if line["stage"] == "validation")
    assert line["reason"] == "unstable_fail_to_pass"
    assert line["detail"] == "kept in quarantine"
    assert line["unstable"] == {"processors": 1}


@pytest.mark.engine
def test_it_is_kept_in_quarantine_and_not_counted_as_accepted(mined):
    out, told = mined
    assert told["accepted"] == 0
    assert {"stage": "validation", "reason": "unstable_fail_to_pass", "changes": 1} in told["rejected"]
    assert the_task(out).instance.state is TaskState.QUARANTINED
    assert check(out) == ()


@pytest.mark.engine
def test_the_public_side_says_why_and_names_no_hidden_test(mined):
    why = the_task(mined[0]).instance.extra["quarantined"]
    assert why == "unstable_fail_to_pass: unstable tests by what they depend on: 1 processors"


@pytest.mark.engine
def test_the_hidden_side_keeps_runs_bound_schedule_and_cause(mined):
    hidden = the_task(mined[0]).hidden
    assert hidden.fail_to_pass == ()
    assert hidden.flaky == ("tests/test_calc.py::test_two",)
    evidence = hidden.evidence
    assert (evidence["runs"], evidence["bound"], evidence["confidence"]) == (2, 0.7764, 0.95)
    assert evidence["causes"] == {"tests/test_calc.py::test_two": "processors"}
    assert len(evidence["schedule"]) == 2


@pytest.mark.engine
def test_a_quarantined_task_is_in_no_score(mined, tmp_path):
    done = tiny.goldseam("evaluate", mined[0], "--gold", "-o", tmp_path / "run", "--json")
    assert done.returncode == 2, done.stdout
    assert "no proved task" in done.error_text


@pytest.mark.engine
def test_a_second_mine_does_not_do_it_once_more(mined, history):
    before = funnel(mined[0])
    done = tiny.goldseam("mine", history, "-o", mined[0], "--name", "tiny/calc", "--quarantine")
    assert done.returncode == 0, done.error_text
    assert funnel(mined[0]) == before


def test_a_number_of_runs_that_makes_no_sense_is_refused(history, tmp_path):
    done = tiny.goldseam("mine", history, "-o", tmp_path / "out", "--flake-bound", "5")
    assert done.returncode == 2
    assert "--flake-bound expects a share between 0 and 1, such as 0.05, found 5" in " ".join(done.error_text.split())
    assert not (tmp_path / "out").exists()


@pytest.mark.engine
def test_runs_win_over_a_bound_and_that_is_said(history, mined):
    done = tiny.goldseam(
        "mine", history, "-o", mined[0], "--name", "tiny/calc", "--quarantine", "--runs", "2", "--flake-bound", "0.05"
    )
    assert "--runs 2 counts, not --flake-bound 0.05: 2 clean runs say" in " ".join(done.error_text.split())
