"""The demo's history is a real git repository with the shapes that mining meets, and its fixes are real fixes."""

from __future__ import annotations

import re
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from harness.core import process
from harness.core.errors import InputError
from harness.core.instance import Outcome
from miner.demo.history import DemoRepository, build_history, locate_data
from miner.demo.predictions import demo_models
from miner.sources.change import MergeStyle

if TYPE_CHECKING:
    from collections.abc import Iterable

DATA = locate_data()
TASKS = ("4", "6", "9", "16", "18", "19", "21", "22", "december")
UNSTABLE = "tests/test_ledger.py::test_references_differ"


@pytest.fixture(scope="module")
def repository(tmp_path_factory) -> DemoRepository:
    return build_history(tmp_path_factory.mktemp("demo") / "pocketledger", DATA)


def git(repository: DemoRepository, *words: str) -> str:
    argv = ["git", "-c", "core.quotePath=false", *words]
    return process.run(argv, cwd=repository.path).stdout.decode()


def base_and_head(repository: DemoRepository, key: str) -> tuple[str, str]:
    change = repository.change(key)
    if change.style is MergeStyle.MERGE:
        head = f"{change.merge_commit}^2"
        return git(repository, "merge-base", f"{change.merge_commit}^1", head).strip(), head
    commits = 2 if change.style is MergeStyle.REBASE else 1
    return f"{change.merge_commit}~{commits}", change.merge_commit


def checkout(repository: DemoRepository, commit: str, into: Path, *paths: str) -> None:
    index = {"GIT_INDEX_FILE": str(into.with_suffix(".index")), "GIT_WORK_TREE": str(into)}
    into.mkdir(exist_ok=True)
    gitdir = repository.path / ".git"
    process.run(
        ["git", "--git-dir", gitdir, "checkout", "--force", commit, "--", *(paths or ["."])], env=index, cwd=into
    )


RUNS = """\
import os, sys
import pytest
for tree in sys.argv[1:]:
    if not os.fork():
        os.dup2(os.open(tree + ".told", os.O_WRONLY | os.O_CREAT), 1)
        os.chdir(tree)
        sys.path.insert(0, "src")
        pytest.main(["-q", "-rA", "--tb=no", "-p", "no:cacheprovider"])
        sys.stdout.flush()
        os._exit(0)
    os.wait()
"""


def passing(trees: Iterable[Path]) -> list[set[str]]:
    """Of each tree the ids of the tests that pass, by a real pytest in a process of its own."""
    env = {"PYTHONDONTWRITEBYTECODE": "1", "PYTEST_ADDOPTS": "", "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    trees = list(map(str, trees))
    process.run([sys.executable, "-c", RUNS, *trees], env=env)
    told = [Path(f"{tree}.told").read_text("utf-8") for tree in trees]
    return [set(re.findall(r"^PASSED (.+)$", text, re.MULTILINE)) for text in told]


@pytest.fixture(scope="module")
def before_and_after(repository, tmp_path_factory) -> dict[str, tuple[set[str], set[str]]]:
    """For each task the tests that pass on base + tests and on the fix."""
    trees = []
    for key in TASKS:
        base, head = base_and_head(repository, key)
        names = git(repository, "diff", "--name-only", "--no-renames", base, head).splitlines()
        folder = tmp_path_factory.mktemp(f"task-{key}")
        checkout(repository, base, folder / "before")
        checkout(repository, head, folder / "before", *(name for name in names if name.startswith("tests/")))
        checkout(repository, head, folder / "after")
        trees += [folder / "before", folder / "after"]
    seen = passing(trees)
    return dict(zip(TASKS, zip(seen[::2], seen[1::2], strict=True), strict=True))


def test_the_same_data_gives_the_same_commits_whatever_the_callers_git_settings_are(repository, tmp_path, monkeypatch):
    home = tmp_path / "home"
    home.mkdir()
    (home / ".gitconfig").write_text(
        "[user]\n\tname = Somebody\n\temail = s@example.com\n[core]\n\tautocrlf = true\n[init]\n\tdefaultBranch = x\n"
        "[commit]\n\tgpgsign = true\n[merge]\n\tff = only\n",
        encoding="utf-8",
    )
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    again = build_history(tmp_path / "again", DATA)
    assert git(again, "for-each-ref") == git(repository, "for-each-ref")


def test_a_folder_with_files_is_left_alone(tmp_path):
    (tmp_path / "mine.txt").write_text("mine", encoding="utf-8")
    with pytest.raises(InputError, match="not empty"):
        build_history(tmp_path, DATA)
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]


def test_missing_data_is_an_input_error(tmp_path):
    with pytest.raises(InputError, match="can't be read"):
        build_history(tmp_path / "repo", tmp_path)


def test_broken_data_is_an_input_error(tmp_path):
    data = tmp_path / "data"
    shutil.copytree(DATA, data)
    (data / "history.yaml").write_text("schema_version: 2\n", encoding="utf-8")
    with pytest.raises(InputError, match="not a history"):
        build_history(tmp_path / "repo", data)


def test_the_work_tree_is_clean_and_on_main(repository):
    assert git(repository, "status", "--porcelain", "--branch").splitlines() == ["## main"]


def test_origin_names_the_repository(repository):
    url = git(repository, "remote", "get-url", "origin").strip()
    assert url.endswith(f"/{repository.name}.git")


def test_every_pull_request_keeps_its_head(repository):
    heads = git(repository, "for-each-ref", "--format=%(refname)", "refs/pull").split()
    numbers = {change.number for change in repository.changes if change.number is not None}
    assert {int(name.split("/")[2]) for name in heads} == numbers
    assert len(numbers) >= 10


def test_all_three_ways_of_merging_and_a_plain_commit_occur(repository):
    assert {change.style for change in repository.changes} == set(MergeStyle)


@pytest.mark.parametrize("key", ["9", "22"])
def test_rebased_commits_are_copies_of_the_pull_requests_own(repository, key):
    def patch_ids(span: str) -> list[str]:
        log = process.run(["git", "log", "-p", "--reverse", span], cwd=repository.path).stdout
        listed = process.run(["git", "patch-id", "--stable"], cwd=repository.path, input=log).stdout
        return [line.split()[0] for line in listed.decode().splitlines()]

    tip = repository.change(key).merge_commit
    head = f"refs/pull/{key}/head"
    assert patch_ids(f"{tip}~2..{tip}") == patch_ids(f"{head}~2..{head}")
    assert git(repository, "rev-parse", head).strip() != tip


def test_the_revert_names_the_commit_it_takes_back(repository):
    message = git(repository, "show", "-s", "--format=%B", repository.change("26").merge_commit)
    assert f"This reverts commit {repository.change('24').merge_commit}." in message


def test_a_merge_is_worded_as_github_words_it(repository):
    message = git(repository, "show", "-s", "--format=%B", repository.change("4").merge_commit).splitlines()
    assert message[0] == "Merge pull request #4 from goldseam-demo/negative-cents"
    assert message[2] == "Fix small negative amounts that turn positive"


def test_paths_with_umlauts_are_touched_by_a_fix(repository):
    base, head = base_and_head(repository, "18")
    names = git(repository, "diff", "--name-only", base, head)
    assert "src/pocketledger/data/währungen.txt" in names
    assert "tests/data/beträge.txt" in names


def test_the_marked_steps_are_the_tasks(repository):
    assert tuple(change.key for change in repository.changes if change.task) == TASKS


@pytest.mark.parametrize("key", TASKS)
def test_a_fix_turns_its_tests_and_breaks_none(before_and_after, key):
    before, after = before_and_after[key]
    assert after - before - {UNSTABLE}
    assert before - after <= {UNSTABLE}


@pytest.mark.parametrize(
    ("key", "test"),
    [
        ("22", "tests/test_dates.py::test_months_are_known_by_name[14 Sept 2024]"),
        ("21", "tests/test_table_cells.py::TableCells::test_a_text_that_just_fits_stays"),
    ],
    ids=["blanks", "unittest"],
)
def test_ids_of_every_kind_are_among_the_fixed(before_and_after, key, test):
    before, after = before_and_after[key]
    assert test in after - before


def test_the_unstable_test_lives_in_one_change_only(repository):
    found = git(repository, "log", "--format=%s", "-S", "test_references_differ", "main").splitlines()
    assert found == ["Remove a test that fails now and then (#20)", "Test references as well"]


def test_the_careful_models_patches_come_to_what_is_expected(repository, before_and_after, tmp_path):
    model = demo_models(repository, DATA)[0]
    for key, prediction in zip(TASKS, model.predictions, strict=True):
        base, head = base_and_head(repository, key)
        names = git(repository, "diff", "--name-only", "--no-renames", base, head).splitlines()
        tree = tmp_path / key
        checkout(repository, base, tree)
        outside = {"GIT_CEILING_DIRECTORIES": str(tmp_path)}
        process.run(["git", "apply", "-"], input=prediction.patch_bytes(), cwd=tree, env=outside)
        checkout(repository, head, tree, *(name for name in names if name.startswith("tests/")))
    for key, (_, expected), found in zip(TASKS, model.expected, passing(tmp_path / key for key in TASKS), strict=True):
        wanted = before_and_after[key][1] - {UNSTABLE}
        assert (wanted <= found) == (expected is Outcome.RESOLVED), key
