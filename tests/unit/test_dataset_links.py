"""A dataset that somebody else made holds files and folders, and nothing that leads elsewhere."""

from __future__ import annotations

import os

import pytest

from harness.checks.dataset import check
from harness.core.errors import InputError
from harness.dataset.folder import open_dataset
from tests import tiny

PLACES = (
    "dataset.yaml",
    "ledger.jsonl",
    "extra",
    ".goldseam",
    ".goldseam/lock",
    "tasks",
    "tasks/tiny__calc-1",
    "tasks/tiny__calc-1/task.yaml",
    "tasks/tiny__calc-1/gold.patch",
    "tasks/tiny__calc-1/deep/file",
    "tasks/tiny__calc-2",
)


@pytest.fixture
def dataset(tmp_path):
    return tiny.dataset(tmp_path / "dataset", tiny.task()).path


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("use", [open_dataset, check])
def test_a_link_at_any_place_is_refused_by_its_name(dataset, tmp_path, place, use):
    at = dataset / place
    at.parent.mkdir(parents=True, exist_ok=True)
    target = at.rename(tmp_path / "moved") if at.exists() else tmp_path / "nowhere"
    at.symlink_to(target)
    with pytest.raises(InputError) as caught:
        use(dataset)
    assert str(at) in caught.value.message
    if target.exists():
        assert f"{at} is a link, to '{target}'" in caught.value.message


def test_a_pipe_is_refused(dataset):
    os.mkfifo(dataset / "tasks" / "tiny__calc-1" / "gold.patch.new")
    with pytest.raises(InputError, match="neither a file nor a folder"):
        open_dataset(dataset)


def test_the_way_to_a_dataset_may_be_a_link_and_so_may_what_git_keeps(dataset, tmp_path):
    (dataset / ".git").mkdir()
    (dataset / ".git" / "hook").symlink_to("/nowhere")
    (tmp_path / "way").symlink_to(dataset)
    assert open_dataset(tmp_path / "way").ids() == ("tiny__calc-1",)


@pytest.mark.parametrize("words", ["holdout check DATASET", "evaluate DATASET --gold -o run"])
def test_a_command_ends_with_2_and_names_the_link(dataset, tmp_path, words, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (dataset / "tasks" / "x").symlink_to("/etc")
    ran = tiny.goldseam(*words.replace("DATASET", str(dataset)).split())
    assert ran.returncode == 2
    assert f"{dataset}/tasks/x is a link".encode() in ran.stderr


def test_a_command_ends_with_2_and_names_the_line_of_an_alias(dataset):
    with (dataset / "dataset.yaml").open("a") as file:
        file.write("extra: &x [1]\nmore: *x\n")
    lines = (dataset / "dataset.yaml").read_text().count("\n")
    ran = tiny.goldseam("evaluate", dataset, "--gold", "-o", dataset.parent / "run")
    assert ran.returncode == 2
    assert f"dataset.yaml, line {lines - 1}: a dataset may not hold an anchor".encode() in ran.stderr
