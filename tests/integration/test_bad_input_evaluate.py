"""What bad input gets: one clear error, the right exit code, nothing half-written."""

from __future__ import annotations

import contextlib
import json
import os
import re
from typing import TYPE_CHECKING

import pytest

from harness.core import process
from tests import tiny
from tests.program import goldseam

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def dataset(tmp_path):
    return tiny.dataset(tmp_path / "dataset", tiny.task())


def row(**fields) -> bytes:
    base = {"instance_id": "tiny__calc-1", "model_name_or_path": "m", "model_patch": ""}
    return json.dumps({**base, **fields}).encode() + b"\n"


PREDICTIONS = {
    "a broken line": (row() + b"{oops\n" + row(sample=1), r"line 2 is not JSON"),
    "an empty file": (b"", "is empty"),
    "blank lines": (b"\n\n", "is empty"),
    "a line that is no object": (row() + b"[1]\n", "line 2: expected an object, found a list"),
    "no id": (b'{"model_name_or_path": "m", "model_patch": ""}\n', "instance_id must be a non-empty string"),
    "no patch": (b'{"instance_id": "tiny__calc-1", "model_name_or_path": "m"}\n', "model_patch must be a string"),
    "a number for a patch": (row(model_patch=5), "model_patch must be a string or null, found a number"),
    "a text for a sample": (row(sample="x"), "sample must be a whole number"),
    "a huge sample": (row(sample=10**30), "sample must be a whole number"),
    "an unknown id": (row() + row(instance_id="x__y-2"), "x__y-2"),
    "an id twice": (row() + row(), "predicted twice"),
    "a name twice in an object": (row()[:-2] + b', "model_patch": "x"}\n', "given twice"),
    "bytes that are no text": (row() + row(model_patch="é").replace(b"\\u00e9", b"\xe9"), "line 2 is not UTF-8"),
    "brackets without end": (row() + b"[" * 200_000 + b"\n", "line 2 is not JSON"),
    "a model that cannot be shown": (row(model_name_or_path="\ud800"), "cannot be shown"),
}


@pytest.mark.parametrize("name", PREDICTIONS)
def test_a_broken_predictions_file_is_refused_and_nothing_is_run(name, dataset, tmp_path):
    data, why = PREDICTIONS[name]
    path, out = tmp_path / "predictions.jsonl", tmp_path / "run"
    path.write_bytes(data)
    done = goldseam("evaluate", dataset.path, "-p", path, "-o", out, COLUMNS="1000")
    assert (done.returncode, re.search(why, done.error_text) is not None) == (2, True), done.error_text
    assert "Traceback" not in done.error_text
    assert not out.exists()


def test_every_problem_of_a_dataset_is_reported_at_once(dataset):
    folder = dataset.task_folder("tiny__calc-1")
    (folder / "test.patch").write_text("no patch")
    (folder / "Dockerfile").unlink()
    (folder / "problem_statement.md").write_text("")
    done = goldseam("holdout", "check", dataset.path, "--json")
    problems = [problem["what"] for problem in json.loads(done.stdout)["problems"]]
    assert done.returncode == 1
    for word in ("test.patch", "Dockerfile", "problem statement"):
        assert any(word in problem for problem in problems), problems


BROKEN = {
    "a wrong type": (
        "task.yaml",
        lambda text: text.replace("memory_mb: 256", "memory_mb: lots"),
        "budgets.memory_mb",
        2,
    ),
    "no YAML": ("task.yaml", lambda _text: "a: [", "task.yaml is not YAML", 2),
    "a newer version": (
        "task.yaml",
        lambda text: "schema_version: 99\n" + text.partition("\n")[2],
        "schema_version 99",
        2,
    ),
    "broken tests": ("tests.json", lambda _text: "{", "its hidden files are not what the ledger binds", 1),
    "a broken test patch": ("test.patch", lambda _text: "no", "its hidden files are not what the ledger binds", 1),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_task_is_refused_by_file_and_field(name, dataset, tmp_path):
    file, change, why, code = BROKEN[name]
    path = dataset.task_folder("tiny__calc-1") / file
    path.write_text(change(path.read_text()))
    predictions = tiny.write_predictions(tmp_path / "p.jsonl", {"m": tiny.GOLD})
    done = goldseam("evaluate", dataset.path, "-p", predictions, "-o", tmp_path / "run", COLUMNS="1000")
    assert (done.returncode, why in done.error_text) == (code, True), done.error_text


def test_a_folder_that_is_no_dataset_is_refused(tmp_path):
    done = goldseam("evaluate", tmp_path, "--gold", "-o", tmp_path / "run")
    assert done.returncode == 2
    assert "is not a dataset" in done.error_text


def test_an_output_folder_that_is_a_file_is_refused(dataset, tmp_path):
    (tmp_path / "run").write_text("in the way")
    done = goldseam("evaluate", dataset.path, "--gold", "-o", tmp_path / "run")
    assert done.returncode == 2
    assert "cannot write" in done.error_text
    assert (tmp_path / "run").read_text() == "in the way"


@contextlib.contextmanager
def mounted(folder: Path, *options: str) -> Iterator[None]:
    folder.mkdir(exist_ok=True)
    if os.geteuid() != 0:
        pytest.skip("mounting needs root")
    if process.run(["mount", "-t", "tmpfs", "-o", ",".join(options), "tmpfs", folder], check=False).returncode:
        pytest.skip("mounting is not allowed here")
    try:
        yield
    finally:
        process.run(["umount", folder])


def test_an_unwritable_output_folder_is_refused(dataset, tmp_path):
    with mounted(tmp_path / "run", "ro"):
        done = goldseam("evaluate", dataset.path, "--gold", "-o", tmp_path / "run")
    assert done.returncode == 2
    assert "cannot write" in done.error_text


@pytest.mark.engine
def test_a_full_disk_is_an_infrastructure_error_and_leaves_nothing_half_written(dataset, tmp_path):
    patches = {f"m{number}": "x" * 200_000 for number in range(4)}
    predictions = tiny.write_predictions(tmp_path / "p.jsonl", patches)
    with mounted(tmp_path / "run", "size=1m"):
        done = tiny.goldseam("evaluate", dataset.path, "-p", predictions, "-o", tmp_path / "run")
        strays = list((tmp_path / "run").rglob("*.tmp"))
    assert done.returncode == 4, done.error_text
    assert "no space left" in done.error_text
    assert strays == []


def test_an_engine_that_is_not_there_is_said_before_anything_is_written(dataset, tmp_path):
    env = {"DOCKER_HOST": f"unix://{tmp_path}/no.sock"}
    done = tiny.goldseam("evaluate", dataset.path, "--gold", "-o", tmp_path / "run", env=env)
    assert done.returncode == 4
    assert "no container engine answers" in done.error_text
    assert "hint" in done.error_text
    assert not (tmp_path / "run").exists()
