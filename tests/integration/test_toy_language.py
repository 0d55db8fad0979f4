"""The seam for languages: one folder a side and one line in a table, and a language is mined, proved and evaluated."""

from __future__ import annotations

import json

import pytest

import harness.languages
import miner.languages
from harness.core.instance import TaskState
from harness.dataset.folder import open_dataset
from tests import tiny
from tests.program import goldseam
from tests.repos import Repository
from tests.toy_language import in_harness, in_miner

WRONG, RIGHT = "add 1 1 = 3\nadd 1 2 = 3\n", "add 1 1 = 2\nadd 1 2 = 3\n"
BEFORE, AFTER = "three: add 1 2 = 3\n", "three: add 1 2 = 3\ntwo: add 1 1 = 2\n"


@pytest.fixture(scope="module", autouse=True)
def registered():
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(harness.languages.LANGUAGES, "toy", in_harness.TOY)
        patch.setitem(miner.languages.LANGUAGES, "toy", in_miner.TOY)
        yield


@pytest.fixture(scope="module")
def mined(tmp_path_factory):
    """A dataset of one task, and what the mine said."""
    folder = tmp_path_factory.mktemp("toy")
    repo = Repository(folder / "facts")
    repo.commit("Start", {"src/sums.toy": WRONG, "tests/sums_test.toy": BEFORE, "README.md": "# Facts\n"})
    repo.commit("Fix a wrong sum (#7)", {"src/sums.toy": RIGHT, "tests/sums_test.toy": AFTER})
    done = goldseam("mine", repo.path, "--name", "acme/facts", "-o", folder / "data", "--runs", "1", "--json")
    assert done.returncode == 0, done.error_text
    return folder / "data", json.loads(done.stdout)


@pytest.mark.engine
def test_a_toy_language_is_mined_and_proved(mined):
    path, summary = mined
    (task_id,) = open_dataset(path).ids()
    task = open_dataset(path).task(task_id)

    assert summary["accepted"] == 1
    assert (task.instance.language, task.instance.state) == ("toy", TaskState.PROVED)
    assert task.instance.test.framework == "facts"
    assert task.hidden.fail_to_pass == ("tests/sums_test.toy::two",)
    assert task.hidden.pass_to_pass == ("tests/sums_test.toy::three",)


@pytest.mark.engine
def test_patches_of_a_toy_language_are_judged(mined, tmp_path):
    path, _ = mined
    (task_id,) = open_dataset(path).ids()
    wrong = tiny.diff("src/sums.toy", WRONG, "add 1 1 = 2\n")  # the new fact, and an old one lost
    predictions = tiny.write_predictions(tmp_path / "p.jsonl", {"m": wrong}, instance_id=task_id)
    done = goldseam("evaluate", path, "-p", predictions, "--gold", "--null", "-o", tmp_path / "run", "--json")
    assert done.returncode == 0, done.error_text

    reports = [json.loads(file.read_text()) for file in (tmp_path / "run").rglob("report.json") if task_id in str(file)]
    outcomes = {report["model_name_or_path"]: report["outcome"] for report in reports}
    assert outcomes == {"gold": "resolved", "null": "unresolved", "m": "unresolved"}
