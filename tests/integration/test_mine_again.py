"""A second mine of the same source: only what is new, what was reverted since, and rewritten history noticed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from harness.core.instance import TaskState
from harness.dataset.folder import open_dataset
from tests import program
from tests.repos import Repository, project


def fix(name: str) -> dict[str, str]:
    return {f"src/{name}.py": f"{name} = 1\n", f"tests/test_{name}.py": f"def test_{name}(): ...\n"}


@pytest.fixture
def repo(tmp_path) -> Repository:
    made = project(tmp_path / "app")
    made.commit("Fix one (#1)", fix("one"))
    made.commit("Fix two (#2)", fix("two"))
    return made


def mine(repo: Repository, tmp_path: Path, *words: str) -> dict:
    fixed = ("-o", tmp_path / "dataset", "--no-validate", "--json", "--name", "acme/app")
    done = program.goldseam("mine", repo.path, *fixed, *words, GOLDSEAM_CACHE_DIR=str(tmp_path / "cache"))
    assert done.returncode == 0, done.error_text
    return json.loads(done.stdout)


def reasons(tmp_path: Path) -> dict[str, str]:
    lines = [json.loads(line) for line in (tmp_path / "dataset" / "funnel.jsonl").read_text().splitlines()[1:]]
    return {line["instance_id"]: line["reason"] for line in lines}


def lines(tmp_path: Path) -> int:
    return len((tmp_path / "dataset" / "funnel.jsonl").read_text().splitlines()[1:])


def test_a_second_mine_adds_what_is_new_and_writes_nothing_twice(repo, tmp_path):
    mine(repo, tmp_path)
    before = lines(tmp_path)
    repo.commit("Fix three (#3)", fix("three"))
    told = mine(repo, tmp_path)
    assert lines(tmp_path) == before + 1
    assert (told["accepted"], told["warnings"]) == (3, [])


def test_a_fix_that_was_reverted_since_is_retired(repo, tmp_path):
    mine(repo, tmp_path)
    fixed = repo.sha()
    repo.tick()
    repo.git("revert", "--no-edit", fixed)
    mine(repo, tmp_path)
    assert reasons(tmp_path)["acme__app-2"] == "reverted"
    assert open_dataset(tmp_path / "dataset").task("acme__app-2").instance.state is TaskState.RETIRED


def test_a_force_pushed_branch_is_noticed_and_equal_fixes_stay_one_task(repo, tmp_path):
    mine(repo, tmp_path)
    repo.git("reset", "--quiet", "--hard", "HEAD~2")
    repo.commit("Something else", {"README.md": "# Other\n"})
    repo.commit("Fix one (#1)", fix("one"))
    told = mine(repo, tmp_path)
    [warning] = told["warnings"]
    assert "history was rewritten" in warning
    assert "acme__app-2" in warning
    assert told["accepted"] == 2
    assert [one for one in open_dataset(tmp_path / "dataset").ids() if one == "acme__app-1"]


def test_another_threshold_looks_at_everything_again(repo, tmp_path):
    repo.commit("Add four (#4)", fix("four"))
    assert mine(repo, tmp_path)["accepted"] == 2
    assert mine(repo, tmp_path, "--min-score", "0")["accepted"] == 3


def test_a_mine_with_a_limit_keeps_no_cursor(repo, tmp_path):
    assert mine(repo, tmp_path, "--limit", "1")["accepted"] == 1
    assert not (tmp_path / "dataset" / "cursors.json").exists()
    assert mine(repo, tmp_path)["accepted"] == 2


def test_the_threshold_can_be_set_by_variable(repo, tmp_path, monkeypatch):
    monkeypatch.setenv("GOLDSEAM_MINING_MIN_SCORE", "99")
    assert mine(repo, tmp_path)["accepted"] == 0


def test_a_broken_cursor_file_is_an_input_error_that_says_what_to_do(repo, tmp_path):
    mine(repo, tmp_path)
    (tmp_path / "dataset" / "cursors.json").write_text("{")
    words = ("mine", repo.path, "-o", tmp_path / "dataset", "--no-validate")
    done = program.goldseam(*words, GOLDSEAM_CACHE_DIR=str(tmp_path / "cache"))
    assert (done.returncode, "remove it" in done.error_text) == (2, True)


def test_looking_again_at_one_change_leaves_what_was_decided_of_others(repo, tmp_path):
    mine(repo, tmp_path)
    before = lines(tmp_path)
    assert mine(repo, tmp_path, "--pr", "1")["warnings"] == [
        "acme__app-1 was decided before (accepted); --force decides again"
    ]
    told = mine(repo, tmp_path, "--force", "--pr", "1")
    assert lines(tmp_path) == before + 1
    assert (told["accepted"], told["looked_at"]) == (2, before)


def test_looking_again_at_everything_decides_everything_again(repo, tmp_path):
    first = mine(repo, tmp_path)
    before = lines(tmp_path)
    again = mine(repo, tmp_path, "--force")
    assert lines(tmp_path) == 2 * before
    assert again["accepted"] == first["accepted"] == 2
