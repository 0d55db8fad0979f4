"""Tasks that goldseam exports, loaded and run by the real Harbor and Inspect from the package index."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from harness.core import process
from harness.dataset.folder import open_dataset
from harness.dataset.ledger import ledger
from harness.interop import sync
from tests import other_graders, pypi_tools, tiny
from tests.program import goldseam

pytestmark = pytest.mark.engine


@pytest.fixture(scope="module")
def folder(tiny_image, tmp_path_factory) -> Path:
    """A dataset of two tasks (a mock model is asked not to solve the second) and its exports."""
    made = tmp_path_factory.mktemp("exports")
    first, second = tiny.task(tiny_image), tiny.task(tiny_image, instance_id="tiny__calc-2")
    second = replace(second, instance=replace(second.instance, problem_statement="Leave it."))
    tiny.dataset(made / "dataset", first, second)
    for name, option in (("harbor", "--with-hidden"), ("inspect", "--with-hidden"), ("inspect", "--public")):
        other_graders.exported(made / "dataset", name, made / f"{name}{option}", option)
    return made


@pytest.fixture(scope="module")
def samples(folder) -> list[dict]:
    """What Inspect says of every sample: with their fixes, with an agent, with an agent and without hidden tests."""
    python = pypi_tools.environment(pypi_tools.INSPECT).python
    logs = (("inspect--with-hidden", "gold"), ("inspect--with-hidden", "agent"), ("inspect--public", "agent"))
    jobs = [f"{folder / name}:{how}" for name, how in logs]
    done = process.run([python, other_graders.TOOLS / "inspect_engine.py", folder / "logs", *jobs], check=False)
    assert done.returncode == 0, done.error_text
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def harbor(folder) -> dict:
    """What Harbor makes of the tasks."""
    return other_graders.harbor(folder / "harbor--with-hidden", folder)


def test_harbors_loader_takes_every_task(harbor):
    assert list(harbor["tasks"]) == ["tiny__calc-1", "tiny__calc-2"]
    assert harbor["tasks"]["tiny__calc-2"]["instruction"].startswith("Leave it.")
    assert all(task["valid"] and task["network"] == "no-network" for task in harbor["tasks"].values())


def test_harbor_rewards_the_fix_and_nothing_else(harbor):
    assert harbor["rewards"] == other_graders.HARBOR_REWARDS


def test_inspect_scores_every_fix_as_correct(samples):
    assert {name: score["value"] for name, score in samples[0].items()} == {"tiny__calc-1": "C", "tiny__calc-2": "C"}


def test_inspect_scores_an_agent_by_the_hidden_tests(samples):
    assert {name: score["value"] for name, score in samples[1].items()} == {"tiny__calc-1": "C", "tiny__calc-2": "I"}


def test_without_the_hidden_side_inspect_keeps_a_patch_that_goldseam_scores(samples, folder):
    public = samples[2]["tiny__calc-1"]
    assert public["value"] == "N"
    row = {"instance_id": "tiny__calc-1", "model_name_or_path": "m", "model_patch": public["metadata"]["model_patch"]}
    (folder / "p.jsonl").write_text(json.dumps(row))
    argv = ("evaluate", folder / "dataset", "-p", folder / "p.jsonl", "-o", folder / "run", "--json", "--control", "0")
    assert json.loads(goldseam(*argv).stdout)["resolved_ids"] == ["tiny__calc-1"]


def test_mini_swe_agent_works_on_public_rows_and_its_predictions_are_scored_as_they_are(folder):
    rows, out = folder / "rows.jsonl", folder / "mini"
    done = goldseam("holdout", "export", folder / "dataset", "--format", "jsonl", "-i", "tiny__calc-1", "-o", rows)
    assert done.returncode == 0, done.error_text
    python = pypi_tools.environment(pypi_tools.MINI_SWE_AGENT).python
    edit = "sed -i 's/a - b/a + b/' src/calc/__init__.py"
    env = {"HOME": str(folder), "MSWEA_SILENT_STARTUP": "1"}
    process.run([python, other_graders.TOOLS / "mini_run.py", rows, out, edit], env=env)
    argv = ("evaluate", folder / "dataset", "-p", out, "-o", folder / "mini-run", "--json", "--control", "0")
    assert json.loads(goldseam(*argv).stdout)["resolved_ids"] == ["tiny__calc-1"]
    kept = json.loads((folder / "mini-run/predictions.jsonl").read_text())
    assert (kept["model_name_or_path"], kept["cost_usd"]) == ("tests/deterministic", 0.5)


def test_a_dataset_in_a_store_is_evaluated_by_its_address_and_its_ledger_hears_of_it(folder, tmp_path):
    url = f"memory://{tmp_path.name}/bench"
    sync.push(open_dataset(folder / "dataset"), url, allow_unsealed=True)
    argv = ("evaluate", url, "--gold", "-i", "tiny__calc-1", "-o", tmp_path / "run", "--json", "--control", "0")
    done = goldseam(*argv, GOLDSEAM_CACHE_DIR=str(tmp_path / "cache"))
    assert json.loads(done.stdout)["resolved_ids"] == ["tiny__calc-1"], done.error_text
    sync.pull(url, tmp_path / "copy")
    assert ledger.read(open_dataset(tmp_path / "copy"))[-1].event == ledger.Event.EVALUATED
