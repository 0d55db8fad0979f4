"""The canary stands in every file of a dataset, and no reader of tasks sees it."""

from __future__ import annotations

import gzip
from dataclasses import replace

import pytest

from harness.core import files, process
from harness.core.errors import InputError
from harness.core.expectations import Expectations, Expected, ExpectedTest, Site
from harness.dataset import folder, hidden_files
from harness.dataset.ledger import chain, ledger
from harness.dataset.seal import canary, canary_marks
from harness.differential.corpus import Corpus
from harness.patches import patch
from harness.report.gather import read_funnel
from miner.candidates.cursor import Cursor, Cursors
from miner.candidates.funnel import Funnel
from tests import tiny

INPUT = gzip.compress(b"a tar of manifests", mtime=0)
PUBLIC = {
    "Dockerfile": "# syntax=docker/dockerfile:1\nFROM scratch\n",
    "requirements.lock": "pytest==8.0\n",
    "package-lock.json": '{\n  "name": "tiny",\n  "packages": {}\n}\n',
    "manifests.tar.gz": INPUT.decode("utf-8", "surrogateescape"),
}


def full_task():
    """A task with every kind of file."""
    task = tiny.task()
    expectations = Expectations(
        files={tiny.TESTS: "1"},
        sites={0: Site(op="==", sides=("out", "kept"))},
        tests={"tests/test_calc.py::test_two": ExpectedTest(place="host", events=(Expected(slot=0, kept=(None,)),))},
    )
    told = {"hints": "Look at the sign.\n", "original_statement": "Fix the sign\n"}
    calls = Corpus(calls=()).written()
    return replace(
        task,
        hidden=replace(
            task.hidden, expectations=expectations, calls=calls, inputs={"of-fix-fixed.tar.gz": INPUT}, **told
        ),
    )


@pytest.fixture
def dataset(tmp_path):
    made = folder.create_dataset(tmp_path / "dataset", name="tiny")
    folder.write_task(made, full_task(), public_files=PUBLIC)
    Cursors(made.path, canary=made.canary).set("origin", Cursor(tip="1"))
    return made


@pytest.fixture
def old(dataset):
    """The same dataset as an earlier version wrote it."""
    place = dataset.task_folder("tiny__calc-1")
    for path in (*place.iterdir(), dataset.path / canary_marks.FUNNEL_FILE):
        data = canary_marks.without_in_gzip(path.read_bytes())
        marks = (
            canary_marks.in_markdown(dataset.canary),
            canary_marks.in_comment(dataset.canary),
            canary_marks.funnel_line(dataset.canary).decode(),
            f',\n "canary": "{dataset.canary}"',
            f',\n  "canary": "{dataset.canary}"',
            f', "canary": "{dataset.canary}"',
            f"canary: {dataset.canary}\n",
        )
        for mark in marks:
            data = data.replace(mark.encode(), b"")
        path.write_bytes(data)
    return dataset


def test_every_file_of_a_new_dataset_has_it(dataset):
    names = {path.name for path in dataset.path.rglob("*") if path.is_file()}

    assert names >= {*hidden_files.HIDDEN_FILES} - {hidden_files.TRUST_FILE}
    assert names >= {"Dockerfile", "requirements.lock", "task.yaml", "cursors.json"}
    assert canary.missing(dataset) == ()


def test_a_task_reads_as_it_was_written(dataset):
    task, read = full_task(), dataset.task("tiny__calc-1")

    assert (read.hidden.gold_patch, read.hidden.test_patch) == (task.hidden.gold_patch, task.hidden.test_patch)
    assert (read.hidden.hints, read.hidden.expectations) == (task.hidden.hints, task.hidden.expectations)
    assert read.hidden.original_statement == task.hidden.original_statement
    assert read.instance.problem_statement == task.instance.problem_statement


def test_what_an_image_was_built_from_reads_as_it_was_written_and_is_unpacked_with_it(dataset):
    place = dataset.task_folder("tiny__calc-1")

    assert folder.public_files(dataset, "tiny__calc-1") == PUBLIC
    assert dataset.task("tiny__calc-1").hidden.inputs == {"of-fix-fixed.tar.gz": INPUT}
    for name in ("manifests.tar.gz", "of-fix-fixed.tar.gz"):
        assert gzip.decompress((place / name).read_bytes()) == b"a tar of manifests"
    assert "of-fix-fixed.tar.gz" in hidden_files.hidden_names(place)


def test_git_applies_a_patch_with_it(dataset, tmp_path):
    files.write_text(tmp_path / "tree" / tiny.CALC, tiny.BUGGY)
    process.run(["git", "init", "-q", tmp_path / "tree"])

    path = dataset.task_folder("tiny__calc-1") / hidden_files.GOLD_FILE
    process.run(["git", "-C", tmp_path / "tree", "apply", path])

    assert dataset.canary.encode() in path.read_bytes()
    assert (tmp_path / "tree" / tiny.CALC).read_text() == tiny.FIXED
    assert patch.parse(path.read_bytes(), trusted=True).paths == {tiny.CALC}


def test_a_dockerfiles_directive_stays_its_first_line(dataset):
    lines = (dataset.task_folder("tiny__calc-1") / "Dockerfile").read_text().splitlines()

    assert lines == ["# syntax=docker/dockerfile:1", f"# {dataset.canary}", "FROM scratch"]


def test_a_funnel_is_summed_without_it(dataset):
    path = dataset.path / canary_marks.FUNNEL_FILE

    assert path.read_bytes()
    assert Funnel(path).summary().looked_at == 0
    assert read_funnel(path) is None


def test_a_dataset_from_before_is_read_and_told(old):
    missing = canary.missing(old)

    assert {name.rpartition("/")[2] for name in missing} == {
        *(*PUBLIC, "of-fix-fixed.tar.gz", "funnel.jsonl", "problem_statement.md", "task.yaml"),
        *(set(hidden_files.HIDDEN_FILES) - {hidden_files.TRUST_FILE}),
    }
    assert old.task("tiny__calc-1").hidden.gold_patch == full_task().hidden.gold_patch


def test_adding_it_to_a_dataset_from_before_changes_no_task(old):
    before = old.task("tiny__calc-1").digest()

    changed = canary.add(old)

    assert set(changed) >= {"funnel.jsonl", "tasks/tiny__calc-1/task.yaml"}
    assert canary.missing(old) == ()
    assert old.task("tiny__calc-1").digest() == before
    assert canary.add(old) == ()


def test_a_dataset_without_one_is_given_one(old):
    path = old.path / folder.DATASET_FILE
    path.write_text(path.read_text().replace(old.canary, "''"))
    for name in ("ledger.jsonl", "cursors.json"):
        (old.path / name).unlink()
    assert canary.missing(folder.open_dataset(old.path))

    canary.add(folder.open_dataset(old.path))

    now = folder.open_dataset(old.path)
    assert now.canary.startswith("goldseam-canary ")
    assert canary.missing(now) == ()
    ledger.record(now, ledger.Event.OPENED)
    assert chain.verify(now).problems == ()


def test_one_that_would_break_files_is_refused(old):
    path = old.path / folder.DATASET_FILE
    path.write_text(path.read_text().replace(old.canary, "'a --> b'"))

    with pytest.raises(InputError, match="not a plain line"):
        canary.add(folder.open_dataset(old.path))


def test_a_statement_that_starts_with_a_comment_keeps_it(tmp_path):
    made = folder.create_dataset(tmp_path / "dataset")
    task = tiny.task()
    statement = "<!-- a template's words -->\n\nAdding subtracts."
    folder.write_task(made, replace(task, instance=replace(task.instance, problem_statement=statement)))

    assert made.instance("tiny__calc-1").problem_statement == statement
