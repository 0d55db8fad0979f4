"""`goldseam mine --repair-model` where nothing in the tree says what its tests need: a scripted server, real images."""

from __future__ import annotations

import json

import pytest

from harness.checks.dataset import check
from harness.dataset.folder import open_dataset
from tests import tiny
from tests.model_server import ModelServer, Say
from tests.repos import Repository

TOP = "import os\n\nROWS = int(open('table.txt').read())\nLIMIT = int(os.environ['CALC_LIMIT']) + ROWS\n\n\n"
MAKE = "open('table.txt', 'w').write('2')\n"
SECRET = "test_that_nobody_outside_may_see"
MARK = f"\n\ndef {SECRET}():\n    assert calc.add(1, LIMIT) == 6\n"
GOOD = {"env": {"CALC_LIMIT": "3"}, "commands": ["python make_table.py"], "why": "tests read a made table and a limit"}
ANSWERS = (
    {"commands": ["python make_table.py", f"echo > {tiny.CALC}"]},
    {"commands": ["python make_table.py", "echo 'def test_x(): pass' > tests/test_x.py"]},
    GOOD,
)


@pytest.fixture(scope="module")
def history(tmp_path_factory):
    repo = Repository(tmp_path_factory.mktemp("history") / "calc")
    files = {**tiny.FILES, ".gitignore": "/table.txt\n", "make_table.py": MAKE}
    repo.commit("Start", {**files, tiny.TESTS: TOP + tiny.BASE_TESTS})
    repo.commit("Fix: adding subtracts", {tiny.CALC: tiny.FIXED, tiny.TESTS: TOP + tiny.BASE_TESTS + MARK})
    return repo.path


@pytest.fixture(scope="module")
def mined(history, tmp_path_factory):
    """The dataset, what the command printed, and the server with what it was asked."""
    out = tmp_path_factory.mktemp("mined") / "dataset"
    script = [Say(text=json.dumps(one)) for one in ANSWERS]
    with ModelServer({"m": script}) as server:
        done = tiny.goldseam(
            *("mine", history, "-o", out, "--name", "tiny/calc", "--json", "--runs", "1", "--repair-model", "m"),
            *("--base-url", server.base_url, "--assume-price", "1/2"),
            env={"OPENAI_API_KEY": "none", "GOLDSEAM_MINING_MUTANTS": "0"},
        )
    assert done.returncode == 0, done.error_text
    return open_dataset(out), json.loads(done.stdout), server


@pytest.mark.engine
def test_the_repaired_task_is_proved_like_any_other_and_marked(mined):
    dataset, printed, _ = mined
    (only,) = dataset.ids()
    task = dataset.task(only)
    record = task.instance.extra["environment"]

    assert printed["accepted"] == 1
    assert any(SECRET in one for one in task.hidden.fail_to_pass)
    assert dict(task.instance.test.env) == {"CALC_LIMIT": "3"}
    assert (record["repair"]["model"], record["repair"]["rounds"]) == ("m", 3)
    assert record["repair"]["why"] == GOOD["why"]
    assert record["rung"].endswith("+repair:3")
    assert check(dataset.path) == ()


@pytest.mark.engine
def test_commands_that_change_the_tree_or_make_tests_are_failed_attempts(mined):
    dataset, _, server = mined
    (only,) = dataset.ids()
    failures = [one["failure"] for one in dataset.task(only).instance.extra["environment"]["attempts"] if not one["ok"]]

    assert any(f"changed files of the repository:\n {tiny.CALC}" in text for text in failures)
    assert any(text.rstrip().endswith("a command made tests") for text in failures)
    assert f"changed files of the repository:\n {tiny.CALC}" in server.requests[1].text


@pytest.mark.engine
def test_the_model_is_told_the_log_and_no_hidden_test(mined):
    _, _, server = mined
    assert server.problems == []
    assert "could not be collected" in server.requests[0].text
    assert SECRET not in json.dumps([one.body for one in server.requests])


@pytest.mark.engine
def test_what_it_cost_is_told_and_kept_with_the_task(mined):
    dataset, printed, _ = mined
    (only,) = dataset.ids()
    repair = dataset.task(only).instance.extra["environment"]["repair"]

    assert printed["repairs"]["tried"] == printed["repairs"]["mended"] == 1
    assert repair["cost_usd"] == pytest.approx(printed["repairs"]["spent"]["cost_usd"])
    assert repair["input_tokens"] == printed["repairs"]["spent"]["input_tokens"]


@pytest.mark.engine
def test_the_repaired_task_is_scored_in_its_environment(mined, tmp_path):
    dataset, _, _ = mined
    done = tiny.goldseam(
        "evaluate", dataset.path, "--gold", "--null", "-o", tmp_path / "run", "--json", "--control", "0"
    )
    told = json.loads(done.stdout)
    outcomes = {one["model"]: one["resolved"] for one in told["goldseam"]["models"]}
    assert outcomes == {"gold": 1, "null": 0}
