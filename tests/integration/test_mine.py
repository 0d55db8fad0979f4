"""`goldseam mine` as a person runs it: a real history, real images, killed and gone on with, and wrong input."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path

import pytest

from harness.checks.dataset import check
from harness.core import process
from harness.core.instance import TaskState
from harness.dataset.folder import open_dataset
from harness.judging.places import place_of
from harness.sandbox import engine, owners
from miner.demo.history import build_history, locate_data
from tests import forked, waiting
from tests.program import Ran, goldseam
from tests.repos import Repository

ONE = "goldseam-demo__pocketledger-4"
FLAKY = "goldseam-demo__pocketledger-19"


@pytest.fixture(scope="module")
def history(tmp_path_factory) -> Path:
    return build_history(tmp_path_factory.mktemp("history") / "repo", locate_data()).path


def mine(*words: str | Path) -> Ran:
    return goldseam("mine", *words)


def mine_without_engine(*words: str | Path) -> process.Completed:
    return forked.goldseam("mine", *words, env={"DOCKER_HOST": "tcp://127.0.0.1:1"})


def funnel(dataset: Path) -> list[dict]:
    return [json.loads(line) for line in (dataset / "funnel.jsonl").read_text().splitlines()[1:]]


@pytest.fixture(scope="module")
def mined(history, tmp_path_factory) -> Path:
    """A dataset of two tasks, one of them with a flaky test."""
    out = tmp_path_factory.mktemp("mined") / "dataset"
    done = mine(history, "-o", out, "--pr", "4", "--pr", "19", "-j", "2", "--reveal", "1")
    assert done.returncode == 0, done.error_text
    return out


@pytest.mark.engine
def test_a_mined_task_is_proved_and_whole(mined):
    task = open_dataset(mined).task(ONE)

    assert check(mined) == ()
    assert task.instance.state is TaskState.PROVED
    assert task.hidden.fail_to_pass
    assert task.hidden.pass_to_pass
    assert task.instance.image.startswith("sha256:")


@pytest.mark.engine
def test_a_mined_task_tells_where_it_is_judged(mined):
    task = open_dataset(mined).task(ONE)

    assert task.hidden.expectations.tests
    assert task.instance.quality["judged"]["place"] == place_of(task)


@pytest.mark.engine
def test_a_task_shows_as_many_of_its_tests_as_were_asked_for(mined):
    instance = open_dataset(mined).instance(ONE)

    assert instance.extra["scaffold"]["functions"] == 1
    assert instance.extra["scaffold"]["hidden_functions"] == 1
    assert b"def test_" in instance.scaffold


@pytest.mark.engine
def test_a_flaky_test_is_in_neither_list(mined):
    hidden = open_dataset(mined).task(FLAKY).hidden
    unstable = "tests/test_ledger.py::test_references_differ"

    assert unstable not in (*hidden.fail_to_pass, *hidden.pass_to_pass)


@pytest.mark.engine
def test_the_hidden_tests_are_in_no_layer_and_the_image_has_one_commit(mined):
    task = open_dataset(mined).task(FLAKY)
    name = task.hidden.fail_to_pass[0].partition("::")[2]
    assert f"def {name}(".encode() in task.hidden.test_patch
    script = 'git -C /testbed log --oneline --all | wc -l; grep -rF "$0" /testbed /opt/goldseam/src | wc -l'
    out = in_container(task.instance.image, ["sh", "-c", script, name])

    assert out.split() == ["1", "0"]


@pytest.mark.engine
def test_a_second_mine_decides_nothing_again(mined, history):
    before = funnel(mined)
    stamp = (mined / "tasks" / ONE / "task.yaml").stat().st_mtime_ns

    done = mine(history, "-o", mined, "--pr", "4", "--pr", "19")

    assert done.returncode == 0, done.error_text
    assert funnel(mined) == before
    assert (mined / "tasks" / ONE / "task.yaml").stat().st_mtime_ns == stamp


@pytest.mark.engine
def test_gold_resolves_and_null_does_not(mined, tmp_path):
    done = forked.goldseam("evaluate", mined, "--gold", "--null", "-o", tmp_path / "run", "--json")

    models = {model["model"]: model for model in json.loads(done.stdout)["goldseam"]["models"]}
    assert (models["gold"]["resolved"], models["gold"]["total"]) == (2, 2)
    assert (models["null"]["resolved"], models["null"]["total"]) == (0, 2)


@pytest.mark.engine
def test_a_mine_that_is_killed_goes_on(history, tmp_path):
    out = tmp_path / "dataset"
    words = ["mine", history, "-o", out, "--pr", "4", "--pr", "6", "-j", "1", "--runs", "2"]
    killed = []
    for signal_number in (signal.SIGKILL, signal.SIGTERM, signal.SIGINT):
        before = proofs(out)
        with forked.started(*words) as child:
            waiting.until(lambda before=before: proofs(out) != before, child)
            os.kill(child.pid, signal_number)
            code = child.wait(timeout=waiting.SECONDS)
        killed.append(child.pid)
        assert code == (130 if signal_number != signal.SIGKILL else -signal.SIGKILL)

    done = forked.goldseam(*words)

    assert done.returncode == 0, done.error_text
    assert [line["reason"] for line in funnel(out)] == ["accepted", "accepted"]
    assert check(out) == ()
    assert not [path for path in out.rglob("*") if path.name.endswith(".tmp")]
    assert not proofs(out)
    assert waiting.left(lambda: [one for pid in killed for one in own_containers(pid)]) == []


def proofs(out):
    """The runs of begun proofs that are on record."""
    return [path.read_bytes() for path in sorted((out / ".goldseam" / "proofs").glob("*.jsonl"))]


def test_a_dry_run_writes_nothing(history, tmp_path, monkeypatch):
    done = forked.goldseam("mine", history, "--dry-run", "--json", cwd=tmp_path)

    changes = json.loads(done.stdout)["changes"]
    assert len(changes) == 19
    assert sum(change["reason"] == "accepted" for change in changes) == 9
    assert list(tmp_path.iterdir()) == []


def test_changes_left_for_their_words_are_counted_beside_the_option_that_takes_them(history):
    words = "not_a_bug_fix: 1 change with tests; a --min-score below 2 takes more"
    assert words in mine(history, "--dry-run").error_text.splitlines()
    assert "not_a_bug_fix" not in mine(history, "--dry-run", "--min-score", "0").error_text
    assert "not_a_bug_fix" not in mine(history, "--dry-run", "--quiet").error_text


def test_candidates_without_proof_need_no_engine(history, tmp_path):
    out = tmp_path / "dataset"
    done = mine_without_engine(history, "-o", out, "--no-validate")

    assert done.returncode == 0, done.error_text
    dataset = open_dataset(out)
    assert len(dataset.ids()) == 9
    assert {task.instance.state for task in dataset.tasks()} == {TaskState.CANDIDATE}
    assert {task.instance.image for task in dataset.tasks()} == {None}
    assert check(out) == ()


def test_what_no_image_could_run_is_a_candidate_only_where_nothing_is_proved(tmp_path):
    repo = Repository(tmp_path / "repo")
    repo.commit("Start", {"money.py": "x = 1\n"})
    repo.commit("Fix x", {"money.py": "x = 2\n", "tests/test_money.py": "def test_x():\n    print 'x'\n"})
    for words, reason in (((), "language_unsupported"), (("--no-validate",), "accepted")):
        done = mine_without_engine(repo.path, "--dry-run", "--json", *words)
        assert [change["reason"] for change in json.loads(done.stdout)["changes"]] == [reason, "root_commit"], words


def test_the_funnel_sums_to_the_changes_looked_at(history, tmp_path):
    out = tmp_path / "dataset"
    done = mine_without_engine(history, "-o", out, "--no-validate", "--json")

    summary = json.loads(done.stdout)
    assert summary["looked_at"] == summary["accepted"] + sum(entry["changes"] for entry in summary["rejected"])
    assert summary["looked_at"] == len(funnel(out))


def test_days_narrow_what_is_looked_at(history, tmp_path):
    whole = json.loads(mine(history, "--dry-run", "--json").stdout)["changes"]
    days = sorted(change["created_at"][:10] for change in whole)
    middle = days[len(days) // 2]

    since = json.loads(mine(history, "--dry-run", "--json", "--since", middle).stdout)["changes"]
    until = json.loads(mine(history, "--dry-run", "--json", "--until", middle).stdout)["changes"]

    assert min(change["created_at"][:10] for change in since) == middle
    assert max(change["created_at"][:10] for change in until) == middle


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["./no-such-folder", "-o", "out"], "no-such-folder"),
        (["plain", "-o", "out"], "not a git repository"),
        (["empty", "-o", "out"], "no commit"),
        (["shallow", "-o", "out"], "shallow"),
        (["repo", "-o", "out", "--pr", "999"], "999"),
        (["repo", "-o", "out", "--since", "yesterday"], "--since"),
        (["repo"], "-o"),
        (["repo", "-o", "a-file"], "a-file"),
        (["repo", "-o", "not-a-dataset"], "not-a-dataset"),
    ],
)
def test_wrong_input_is_named_and_leaves_nothing(history, tmp_path, monkeypatch, words, says):
    prepare(tmp_path, history)
    monkeypatch.chdir(tmp_path)
    before = sorted(tmp_path.rglob("*"))

    done = mine(*words, "--no-validate")

    assert done.returncode == 2, done.error_text
    assert says in done.error_text
    assert "Traceback" not in done.error_text
    assert not list((tmp_path / "out" / "tasks").glob("*"))
    assert [path for path in sorted(tmp_path.rglob("*")) if "out" not in path.parts] == before


def test_a_change_asked_for_that_is_not_there_does_not_keep_the_others_from_being_mined(history, tmp_path):
    picks = ("--pr", "4", "--pr", "999", "--commit", "no-such-commit")
    out = tmp_path / "dataset"

    looked = mine(history, "--dry-run", "--json", *picks)
    done = mine(history, "-o", out, "--no-validate", *picks)

    assert [line["instance_id"] for line in funnel(out)] == [ONE]
    assert [change["instance_id"] for change in json.loads(looked.stdout)["changes"]] == [ONE]
    assert len(json.loads(looked.stdout)["not_found"]) == 2
    for completed in (looked, done):
        assert completed.returncode == 1, completed.error_text
        assert "pull request 999 is not in the history" in completed.error_text
        assert "no commit 'no-such-commit'" in completed.error_text


def test_a_repository_of_another_user_is_read(history, tmp_path):
    process.run(["cp", "-r", history, tmp_path / "theirs"])
    process.run(["chown", "-R", "65534:65534", tmp_path / "theirs"])

    done = mine(tmp_path / "theirs", "--dry-run", "--json")

    assert done.returncode == 0, done.error_text


def test_a_full_disk_is_said_and_what_was_done_is_kept(history, tmp_path):
    small = tmp_path / "small"
    small.mkdir()
    process.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", small])
    try:
        done = mine_without_engine(history, "-o", small / "dataset", "--no-validate")
        assert done.returncode == 4
        assert "no space left" in done.stderr.decode().lower()
        process.run(["mount", "-o", "remount,size=8m", small])
        again = mine_without_engine(history, "-o", small / "dataset", "--no-validate")
        assert again.returncode == 0, again.error_text
        assert len(open_dataset(small / "dataset").ids()) == 9
    finally:
        process.run(["umount", small])


@pytest.mark.engine
def test_without_an_engine_mining_stops_with_what_to_do(history, tmp_path):
    done = mine_without_engine(history, "-o", tmp_path / "dataset")

    assert done.returncode == 4
    assert "goldseam doctor" in done.stderr.decode()


def prepare(folder: Path, history: Path) -> None:
    """Sources and outputs of every wrong kind."""
    process.run(["git", "clone", "-q", "--no-local", history, folder / "repo"])
    process.run(["git", "clone", "-q", "--depth", "1", f"file://{history}", folder / "shallow"])
    process.run(["git", "init", "-q", folder / "empty"])
    (folder / "plain").mkdir()
    (folder / "a-file").write_text("x")
    (folder / "not-a-dataset").mkdir()
    (folder / "not-a-dataset" / "notes.txt").write_text("mine")


def own_containers(pid: int) -> list[str]:
    found = engine.connect().containers(all=True, filters={"label": [engine.LABEL_OWNER]})
    return [entry["Id"] for entry in found if f":{pid}:" in entry["Labels"][engine.LABEL_OWNER]]


def in_container(image: str, argv: list[str]) -> str:
    client = engine.connect()
    created = client.create_container(image=image, command=argv, labels={engine.LABEL_OWNER: owners.owner()})
    try:
        client.start(created["Id"])
        client.wait(created["Id"])
        return client.logs(created["Id"]).decode()
    finally:
        engine.remove_container(created["Id"])


NOBODY = ("https://127.0.0.1:1/x.git", "https://127.0.0.1:1/y.git")


@pytest.mark.parametrize("sources", [["nope/"], NOBODY[:1], NOBODY])
def test_a_mine_of_nothing_that_answers_makes_nothing(sources, tmp_path):
    done = mine(*sources, "-o", tmp_path / "out")
    assert done.returncode in (2, 4)
    assert not (tmp_path / "out").exists()
