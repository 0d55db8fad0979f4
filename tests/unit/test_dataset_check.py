"""`holdout check`: every problem of a dataset, all at once."""

from __future__ import annotations

from dataclasses import replace

import pytest
import yaml

from harness.checks.dataset import check
from harness.core.errors import InputError
from harness.core.expectations import Expectations, Expected, ExpectedTest, Site
from harness.core.instance import Hidden, Instance, Service, Task, TaskState, TestSpec
from harness.dataset.folder import Dataset, create_dataset, write_task

GOLD = b"--- a/src/a.py\n+++ b/src/a.py\n@@ -1 +1 @@\n-x\n+y\n"
TESTS = b"--- a/tests/test_a.py\n+++ b/tests/test_a.py\n@@ -1 +1 @@\n-x\n+y\n"
TASK = Task(
    instance=Instance(
        instance_id="a__b-1",
        repo="a/b",
        base_commit="0" * 40,
        created_at="2026-01-01T00:00:00Z",
        language="python",
        version="3.11",
        image="sha256:" + "1" * 64,
        problem_statement="It is broken.",
        state=TaskState.PROVED,
    ),
    hidden=Hidden(
        gold_patch=GOLD,
        test_patch=TESTS,
        fail_to_pass=("tests/test_a.py::test_one",),
        pass_to_pass=("tests/test_a.py::test_two",),
        test_files=("tests/test_a.py",),
    ),
)


@pytest.fixture
def dataset(tmp_path) -> Dataset:
    return create_dataset(tmp_path / "dataset")


def problems(dataset: Dataset, task: Task = TASK, *, files=("Dockerfile",)) -> list[str]:
    write_task(dataset, task, public_files=dict.fromkeys(files, "FROM debian\n"))
    return [problem.what for problem in check(dataset.path)]


def instance(**changes) -> Task:
    return replace(TASK, instance=replace(TASK.instance, **changes))


def hidden(**changes) -> Task:
    return replace(TASK, hidden=replace(TASK.hidden, **changes))


def expecting(test_id: str, *, slot: int = 0, files=None) -> Task:
    """A task that expects one value of a test, at a slot of which 0 alone has a site."""
    return hidden(
        expectations=Expectations(
            files={"tests/test_a.py": ""} if files is None else files,
            sites={0: Site(op="==", sides=("out", "kept"))},
            tests={test_id: ExpectedTest(place="host", events=(Expected(slot=slot, kept=(None,)),))},
        )
    )


def test_a_task_with_expectations_has_no_problem(dataset):
    assert problems(dataset, expecting(TASK.hidden.fail_to_pass[0])) == []


def test_a_sound_task_has_no_problem(dataset):
    assert problems(dataset) == []


@pytest.mark.parametrize(
    ("task", "what"),
    [
        (instance(image="debian:bookworm"), "not pinned by digest"),
        (instance(image=None), "needs an image"),
        (instance(problem_statement=" \n"), "statement is empty"),
        (hidden(fail_to_pass=()), "FAIL_TO_PASS is empty"),
        (hidden(test_files=()), "test_files is empty"),
        (hidden(gold_patch=b"nonsense"), "gold.patch is not a patch"),
        (hidden(test_patch=GOLD), "both touch src/a.py"),
        (hidden(pass_to_pass=("x", "x")), "names a test twice"),
        (hidden(pass_to_pass=TASK.hidden.fail_to_pass), "in FAIL_TO_PASS and in PASS_TO_PASS"),
        (hidden(flaky=TASK.hidden.fail_to_pass), "although it is flaky"),
        (expecting("other"), "in neither list"),
        (expecting(TASK.hidden.fail_to_pass[0], slot=1), "no site 1"),
        (expecting(TASK.hidden.fail_to_pass[0], files={}), "tests but no files"),
    ],
)
def test_a_problem_is_found(dataset, task, what):
    assert any(what in found for found in problems(dataset, task))


def test_files_cut_by_line_may_be_in_both_patches(dataset):
    task = replace(TASK, instance=replace(TASK.instance, language="rust"), hidden=hidden(test_patch=GOLD).hidden)

    assert problems(dataset, task) == []


def test_a_missing_dockerfile_is_a_problem(dataset):
    assert any("Dockerfile is missing" in found for found in problems(dataset, files=()))


def test_all_problems_come_at_once(dataset):
    write_task(dataset, TASK)
    folder = dataset.task_folder("a__b-1")
    (folder / "task.yaml").write_text("instance_id: [", encoding="utf-8")
    (folder / "tests.json").write_text("{}x", encoding="utf-8")
    (folder / "gold.patch").unlink()
    (dataset.path / "funnel.jsonl").write_text("{}\nbroken\n", encoding="utf-8")
    (dataset.path / "dataset.yaml").write_text("name: 3\n", encoding="utf-8")

    found = [f"{problem.where}: {problem.what}" for problem in check(dataset.path)]

    for part in ("task.yaml", "tests.json", "gold.patch is missing", "funnel.jsonl, line 2", "dataset.yaml"):
        assert any(part in problem for problem in found), part


def test_a_field_of_the_wrong_type_is_named(dataset):
    folder = write_task(dataset, TASK)
    fields = yaml.safe_load((folder / "task.yaml").read_text(encoding="utf-8"))
    fields["budgets"]["seconds"] = "soon"
    (folder / "task.yaml").write_text(yaml.safe_dump(fields), encoding="utf-8")

    assert any("budgets.seconds" in problem.what for problem in check(dataset.path))


def test_a_newer_file_is_refused(dataset):
    folder = write_task(dataset, TASK)
    text = (folder / "task.yaml").read_text(encoding="utf-8")
    (folder / "task.yaml").write_text(text.replace("schema_version: 1", "schema_version: 99"), encoding="utf-8")

    assert any("schema_version 99" in problem.what for problem in check(dataset.path))


def test_unknown_fields_survive_a_round_trip_at_every_depth(dataset):
    service = Service(name="redis", image=f"sha256:{'5' * 64}")
    task = replace(TASK, instance=replace(TASK.instance, test=TestSpec(services=(service,))))
    file = write_task(dataset, task) / "task.yaml"
    told = yaml.safe_load(file.read_text(encoding="utf-8"))
    places = (told, told["test"], told["test"]["services"][0], told["budgets"])
    for number, place in enumerate(places):
        place["from_the_future"] = [number]
    file.write_text(yaml.safe_dump(told), encoding="utf-8")

    read = dataset.task("a__b-1")
    write_task(dataset, read)

    assert yaml.safe_load(file.read_text(encoding="utf-8")) == told
    assert read.digest() == task.digest()


def test_a_folder_that_is_no_dataset_is_refused(tmp_path):
    with pytest.raises(InputError, match="not a dataset"):
        check(tmp_path)
