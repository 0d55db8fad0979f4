"""The commands of care: what they print, and the exit codes that a cron job goes by."""

from __future__ import annotations

import json

import pyrage
import pytest

from harness.core.instance import TaskState
from harness.dataset.folder import open_dataset
from harness.dataset.ledger import ledger
from harness.dataset.seal import sealing
from harness.runs.run_folder import RunFolder
from harness.runs.task_metadata import TaskFacts
from tests import gate_runs, report_runs
from tests.program import goldseam

ONE, TWO = "acme__widgets-100", "acme__widgets-101"


@pytest.fixture
def dataset(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return report_runs.make_dataset(tmp_path / "ds", 4)


def test_a_scan_says_yes_and_no_by_its_exit_code(dataset, tmp_path):
    (tmp_path / "leak.txt").write_text(f"so\n# {dataset.canary}\n")
    (tmp_path / "clean.txt").write_text("Nothing of it.\n")
    found = goldseam("holdout", "scan", dataset.path, tmp_path / "leak.txt", "--json")

    assert found.returncode == 1
    [find] = json.loads(found.stdout)["finds"]
    assert (find["kind"], find["line"], find["task"]) == ("canary", 2, None)
    assert goldseam("holdout", "scan", dataset.path, tmp_path / "clean.txt").returncode == 0
    assert goldseam("holdout", "scan", dataset.path, tmp_path / "none.txt").returncode == 2


def test_a_scan_quotes_nothing_of_what_it_finds(dataset, tmp_path):
    (tmp_path / "leak.diff").write_bytes(dataset.task(ONE).hidden.gold_patch)
    found = goldseam("holdout", "scan", dataset.path, tmp_path / "leak.diff")

    assert "number = int" not in found.stdout + found.error_text


def test_a_scan_of_a_sealed_dataset_says_what_it_did_not_look_for(dataset, tmp_path):
    key = pyrage.x25519.Identity.generate()
    sealing.seal(dataset, [str(key.to_public())])
    (tmp_path / "key").write_text(str(key))
    (tmp_path / "clean.txt").write_text("Nothing of it.\n")
    shut = goldseam("holdout", "scan", dataset.path, tmp_path / "clean.txt")
    opened = goldseam("holdout", "scan", dataset.path, tmp_path / "clean.txt", "--identity", tmp_path / "key")

    assert "hidden code was not looked for" in " ".join(shut.stdout.split())
    assert "hidden code of" in " ".join(opened.stdout.split())
    entry = ledger.read(open_dataset(dataset.path))[-1]
    assert (entry.event, entry.facts["purpose"], len(entry.tasks)) == ("opened", "scan", 4)


def test_rotation_has_exit_codes_for_cron(dataset, tmp_path):
    ledger.record_exposure(dataset, [ONE], model="m", endpoint="https://a.example/v1", parts=["statement"])
    assert goldseam("holdout", "rotate", dataset.path).returncode == 2  # no policy
    (tmp_path / "goldseam.toml").write_text("[holdout]\nmax_exposures = 1\n")

    assert goldseam("holdout", "rotate", dataset.path, "--dry-run").returncode == 1
    assert goldseam("holdout", "rotate", dataset.path).returncode == 0
    assert goldseam("holdout", "rotate", dataset.path, "--dry-run").returncode == 0
    (tmp_path / "goldseam.toml").write_text("[holdout]\nmax_exposures = 1\nmin_tasks = 4\n")
    told = goldseam("holdout", "rotate", dataset.path)
    assert told.returncode == 1
    assert "goldseam mine acme/widgets" in told.stdout


def test_a_split_that_is_only_looked_at_names_its_rule(dataset):
    words = ("holdout", "split", dataset.path, "--by", "list", "--dev", ONE)
    looked = goldseam(*words, "--dry-run", "--json")

    assert json.loads(looked.stdout)["rule"] == {"by": "list", "dev": [ONE]}
    assert json.loads(goldseam("holdout", "split", dataset.path, "--json").stdout)["rule"] is None
    assert json.loads(goldseam(*words, "--json").stdout)["tasks"] == {
        "dev": {"acme/widgets": 1},
        "holdout": {"acme/widgets": 3},
    }


def test_twins_are_told_and_retired(dataset):
    assert goldseam("holdout", "dedupe", dataset.path).returncode == 1  # one patch for all, as it is made
    assert goldseam("holdout", "dedupe", dataset.path, "--retire").returncode == 0
    assert [one.state for one in dataset.instances()].count(TaskState.PROVED) == 1
    assert goldseam("holdout", "dedupe", dataset.path).returncode == 0


def test_what_there_is_is_told(dataset):
    goldseam("holdout", "quarantine", dataset.path, TWO, "--reason", "flaky")
    told = json.loads(goldseam("holdout", "stats", dataset.path, "--json").stdout)

    assert told["states"] == {"proved": 3, "quarantined": 1}
    assert told["ids"]["quarantined"] == [TWO]


def test_what_there_is_is_counted_by_where_it_is_judged(dataset):
    path = dataset.task_folder(TWO) / "task.yaml"
    text = path.read_text(encoding="utf-8")
    assert "quality: {}" in text
    card = "quality: {judged: {place: host, guessable: true}}"
    path.write_text(text.replace("quality: {}", card), encoding="utf-8")

    told = json.loads(goldseam("holdout", "stats", dataset.path, "--json").stdout)["proved"]

    assert told["judged"] == {"host": 1, "unknown": 3}
    assert told["guessable"] == {"yes": 1, "unknown": 3}


def test_a_report_tells_of_a_gap_at_the_cut_off(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run = gate_runs.make_run(tmp_path / "run", 15)
    folder = RunFolder(path=run)
    record = folder.record()
    facts = {
        name: TaskFacts(repo="acme/widgets", state="proved", created_at="2024-01-01" if index < 15 else "2025-06-01")
        for index, name in enumerate(record.facts)
    }
    folder.write_run(record.model_copy(update={"facts": facts}))
    (tmp_path / "goldseam.toml").write_text('[holdout.cutoffs]\n"mod*" = 2025-01-01\n')
    notes = json.loads(goldseam("report", run, "--json").stdout)["notes"]

    assert any("may have seen the older ones in training" in note for note in notes)
