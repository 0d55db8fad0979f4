"""A command that fails before anything came leaves no dataset behind, and takes nothing away that it did not make."""

from __future__ import annotations

import contextlib
from pathlib import Path

import pytest

from harness.checks.dataset import check
from harness.core import process
from harness.dataset.folder import begun_dataset, create_dataset
from tests import forked
from tests.program import goldseam


def failed(path: Path, *, writes: str = "") -> None:
    """A command into that dataset that fails; before that it writes a file."""
    with contextlib.suppress(KeyboardInterrupt), begun_dataset(path):
        if writes:
            (path / writes).write_text("x")
        raise KeyboardInterrupt


def test_a_new_dataset_goes_with_the_folders_made_for_it(tmp_path: Path) -> None:
    failed(tmp_path / "one" / "two")
    assert list(tmp_path.iterdir()) == []


def test_what_lay_there_stays(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "config").write_text("theirs")
    failed(tmp_path)
    assert [str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*")] == [".git", ".git/config"]


@pytest.mark.parametrize("name", ["funnel.jsonl", "tasks/x", ".goldseam/answers"])
def test_a_dataset_that_has_something_stays(name: str, tmp_path: Path) -> None:
    (tmp_path / "new" / ".goldseam").mkdir(parents=True)
    failed(tmp_path / "new", writes=name)
    assert (tmp_path / "new" / "dataset.yaml").exists()
    assert (tmp_path / "new" / name).read_text() == "x"


def test_a_dataset_from_before_stays(tmp_path: Path) -> None:
    create_dataset(tmp_path / "old")
    failed(tmp_path / "old")
    assert (tmp_path / "old" / "dataset.yaml").exists()


def test_an_empty_dataset_is_a_finding(tmp_path: Path) -> None:
    create_dataset(tmp_path / "empty")
    assert ["it has no task" in problem.what for problem in check(tmp_path / "empty")] == [True]


def test_without_an_engine_nothing_is_made(tmp_path: Path) -> None:
    process.run(["git", "init", "-q", tmp_path / "repo"])
    done = forked.goldseam("mine", tmp_path / "repo", "-o", tmp_path / "out", env={"DOCKER_HOST": "unix:///nowhere"})
    assert done.returncode == 4
    assert "no container engine answers" in done.error_text
    assert not (tmp_path / "out").exists()


def test_an_import_of_no_row_makes_nothing(tmp_path: Path) -> None:
    (tmp_path / "rows.jsonl").write_text("{}\n")
    source = f"a/b={tmp_path}"
    ran = goldseam("holdout", "import", tmp_path / "rows.jsonl", "--source", source, "-o", tmp_path / "out")
    assert ran.returncode == 2
    assert not (tmp_path / "out").exists()
