"""`goldseam holdout import` as a person runs it: rows of a small repository that hold, hold in part, and do not."""

from __future__ import annotations

import json

import pytest

from harness.checks.dataset import check
from harness.core import process
from harness.core.instance import TaskState
from harness.dataset import content
from harness.dataset.folder import DATASET_FILE, open_dataset
from harness.dataset.ledger import ledger
from harness.dataset.model_files import read_model
from harness.dataset.schema import DatasetModel
from harness.judging.places import place_of
from tests import forked
from tests.repos import Repository
from tests.tiny import FILES, FIXED

TESTS = """\
import socket

import pytest

import calc


def test_zero():
    assert calc.add(0, 0) == 0


@pytest.mark.parametrize("text", ["1 1 2", "0 0 0"])
def test_sum(text):
    one, other, both = map(int, text.split())
    assert calc.add(one, other) == both


def test_far_away():
    socket.create_connection(("example.org", 80), timeout=5)


def test_wrong():
    assert calc.add(1, 1) == 3
"""
FILE = "tests/test_calc.py"
HOLDING, PART, NOTHING, LOST, ELSEWHERE = "acme__calc-1", "acme__calc-2", "odd.name", "acme__calc-4", "acme__other-5"
LISTS = {
    HOLDING: ([f"{FILE}::test_sum[1"], [f"{FILE}::test_zero", f"{FILE}::test_sum[0", "[100%]"]),
    PART: ([f"{FILE}::test_sum[1 1 2]", f"{FILE}::test_far_away"], []),
    NOTHING: ([f"{FILE}::test_wrong", f"{FILE}::test_zero", f"{FILE}::test_gone"], []),
    LOST: ([f"{FILE}::test_sum[1 1 2]"], []),
    ELSEWHERE: ([f"{FILE}::test_sum[1 1 2]"], []),
}


@pytest.fixture(scope="module")
def given(tmp_path_factory):
    """The file of rows and the repository they are of."""
    folder = tmp_path_factory.mktemp("rows")
    repo = Repository(folder / "calc")
    base = repo.commit("Start", dict(FILES))
    head = repo.commit("Fix", {"src/calc/__init__.py": FIXED, FILE: TESTS})

    def diff(path):
        return process.run(["git", "-C", repo.path, "diff", base, head, "--", path]).stdout.decode()

    lines = [
        json.dumps(
            {
                "instance_id": instance_id,
                "repo": "acme/other" if instance_id == ELSEWHERE else "acme/calc",
                "base_commit": "1" * 40 if instance_id == LOST else base,
                "patch": diff("src"),
                "test_patch": diff("tests"),
                "problem_statement": "Sums are wrong.",
                "hints_text": "Look at add.",
                "created_at": "2024-01-01T14:00:00Z",
                "version": "1.0",
                "FAIL_TO_PASS": json.dumps(fails),
                "PASS_TO_PASS": json.dumps(passes),
            }
        )
        for instance_id, (fails, passes) in LISTS.items()
    ]
    rows = folder / "rows.jsonl"
    rows.write_text("\n".join([*lines, "{broken"]))
    return rows, repo.path


def run(given, out, *words) -> process.Completed:
    rows, repo = given
    return forked.goldseam("holdout", "import", rows, "--source", f"acme/calc={repo}", "-o", out, "--json", *words)


@pytest.fixture(scope="module")
def imported(given, tmp_path_factory):
    out = tmp_path_factory.mktemp("imported") / "dataset"
    done = run(given, out, "--runs", "1")
    assert done.returncode == 0, done.error_text
    return open_dataset(out), json.loads(done.stdout)


def evidence(dataset, instance_id):
    return dataset.task(instance_id).hidden.evidence["imported"]


@pytest.mark.engine
def test_the_version_of_the_dataset_is_that_of_what_came(imported):
    dataset, _ = imported
    told = read_model(dataset.path / DATASET_FILE, DatasetModel)
    assert content.content_told(told) == content.content_of(dataset)


@pytest.mark.engine
def test_every_row_has_one_reason(imported):
    _, told = imported
    assert {row["instance_id"]: row["reason"] for row in told["rows"]} == {
        HOLDING: "accepted",
        PART: "fail_to_pass_in_part",
        NOTHING: "fail_to_pass_does_not_hold",
        LOST: "base_not_in_source",
        ELSEWHERE: "no_source",
        "": "row_unreadable",
    }


@pytest.mark.engine
def test_a_row_whose_cut_ids_hold_is_proved_and_graded_by_the_whole_ids(imported):
    task = imported[0].task(HOLDING)
    assert task.instance.state is TaskState.PROVED
    assert task.hidden.fail_to_pass == (f"{FILE}::test_sum[1 1 2]",)
    assert task.hidden.pass_to_pass == (f"{FILE}::test_sum[0 0 0]", f"{FILE}::test_zero")
    assert task.hidden.hints == "Look at add."


@pytest.mark.engine
def test_an_imported_task_tells_where_it_is_judged(imported):
    task = imported[0].task(HOLDING)
    assert task.instance.quality["judged"]["place"] == place_of(task)


@pytest.mark.engine
def test_a_rows_own_lists_stay_as_they_were_beside_what_became_of_each_id(imported):
    found = evidence(imported[0], HOLDING)
    assert (found["FAIL_TO_PASS"], found["PASS_TO_PASS"]) == LISTS[HOLDING]
    assert found["stands_for"][f"{FILE}::test_sum[1"] == [f"{FILE}::test_sum[1 1 2]"]
    assert found["verdicts"]["PASS_TO_PASS"] == {
        "holds": [f"{FILE}::test_zero"],
        "truncated": [f"{FILE}::test_sum[0"],
        "not_an_id": ["[100%]"],
    }


@pytest.mark.engine
def test_a_row_that_holds_in_part_is_quarantined_with_the_part_that_holds(imported):
    task = imported[0].task(PART)
    assert task.instance.state is TaskState.QUARANTINED
    assert task.hidden.fail_to_pass == (f"{FILE}::test_sum[1 1 2]",)
    assert evidence(imported[0], PART)["verdicts"]["FAIL_TO_PASS"]["needs_network"] == [f"{FILE}::test_far_away"]


@pytest.mark.engine
def test_a_row_of_which_nothing_holds_says_so_of_every_id(imported):
    task = imported[0].task(NOTHING)
    assert task.instance.state is TaskState.QUARANTINED
    assert task.hidden.fail_to_pass == ()
    assert evidence(imported[0], NOTHING)["verdicts"]["FAIL_TO_PASS"] == {
        "fails_with_gold": [f"{FILE}::test_wrong"],
        "passes_before": [f"{FILE}::test_zero"],
        "not_collected": [f"{FILE}::test_gone"],
    }


@pytest.mark.engine
def test_the_public_side_names_no_test(imported):
    dataset, _ = imported
    public = (dataset.task_folder(HOLDING) / "task.yaml").read_text()
    assert "test_sum" not in public
    assert "truncated: 1" in public


@pytest.mark.engine
def test_the_dataset_has_no_problem_and_its_ledger_tells_what_came(imported):
    dataset, _ = imported
    assert check(dataset.path) == ()
    (entry,) = [entry for entry in ledger.read(dataset) if entry.event == "imported"]
    assert set(entry.tasks) == {HOLDING, PART, NOTHING}


@pytest.mark.engine
def test_the_same_command_decides_nothing_again_and_a_part_can_be_accepted_later(imported, given):
    dataset, told = imported
    before = (dataset.task_folder(HOLDING) / "task.yaml").stat().st_mtime_ns
    lines = len((dataset.path / "funnel.jsonl").read_text().splitlines())

    done = run(given, dataset.path, "--runs", "1", "--accept-part")

    again = {row["instance_id"]: row for row in json.loads(done.stdout)["rows"]}
    assert (dataset.task_folder(HOLDING) / "task.yaml").stat().st_mtime_ns == before
    assert again[NOTHING] == next(row for row in told["rows"] if row["instance_id"] == NOTHING)
    assert again[PART]["reason"] == "accepted"
    assert len((dataset.path / "funnel.jsonl").read_text().splitlines()) == lines + 1
    assert dataset.instance(PART).state is TaskState.PROVED
