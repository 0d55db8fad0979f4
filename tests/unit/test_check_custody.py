"""`holdout check` of custody: seal, canary, ledger, splits, ids and registries."""

from __future__ import annotations

from dataclasses import replace

import pyrage
import pytest

from harness.checks.dataset import CheckScope, ImageCheck, check, notes
from harness.dataset import content, task_states
from harness.dataset.folder import create_dataset, open_dataset, write_instances, write_task
from harness.dataset.ledger import ledger
from harness.dataset.seal import sealing
from harness.dataset.seal.identity import Keys
from tests import tiny

ONE = "tiny__calc-1"
REMOTE = f"registry.example/calc@sha256:{'a' * 64}"


@pytest.fixture
def dataset(tmp_path):
    return tiny.dataset(tmp_path / "ds", tiny.task(), tiny.task(instance_id="tiny__calc-2"))


def found(dataset, **asked) -> list[str]:
    return [f"{problem.where}: {problem.what}" for problem in check(dataset.path, CheckScope(**asked))]


def test_a_sound_dataset_has_no_problem(dataset):
    assert found(dataset) == []
    assert notes(dataset.path) == ()


def sealed(dataset):
    key = pyrage.x25519.Identity.generate()
    sealing.seal(dataset, [str(key.to_public())])
    return open_dataset(dataset.path), Keys(identities=(key,))


def test_a_sealed_dataset_is_checked_by_its_public_side_and_that_is_said(dataset):
    shut, keys = sealed(dataset)

    assert found(shut) == []
    assert "not looked at" in notes(shut.path)[0]
    assert found(shut, keys=keys) == []
    assert notes(shut.path, keys=keys) == ()


def test_a_key_opens_what_is_wrong_inside(tmp_path):
    shut, keys = sealed(tiny.dataset(tmp_path / "ds", tiny.task(fail_to_pass=())))

    assert found(shut) == []
    assert any("FAIL_TO_PASS is empty" in one for one in found(shut, keys=keys))


def test_hidden_files_that_lie_open_in_a_sealed_dataset_are_told(dataset):
    shut, _ = sealed(dataset)
    (shut.task_folder(ONE) / "gold.patch").write_bytes(b"x")

    assert any("gold.patch is readable" in one for one in found(shut))


@pytest.mark.parametrize(
    ("data", "what"), [(b"nonsense", "is not an age file"), (None, "sealed.age is missing")], ids=["nonsense", "gone"]
)
def test_a_sealed_file_that_is_none_is_told(dataset, data, what):
    shut, _ = sealed(dataset)
    file = shut.task_folder(ONE) / "sealed.age"
    file.unlink()
    if data is not None:
        file.write_bytes(data)

    assert any(what in one for one in found(shut))


def test_the_file_of_another_task_is_told(dataset):
    shut, _ = sealed(dataset)
    (shut.task_folder(ONE) / "sealed.age").write_bytes((shut.task_folder("tiny__calc-2") / "sealed.age").read_bytes())

    assert any("is not the file that was sealed" in one for one in found(shut))


def test_a_sealed_file_without_recipients_is_told(dataset):
    (dataset.task_folder(ONE) / "sealed.age").write_bytes(b"x")

    assert any("names no recipients" in one for one in found(dataset))


def test_a_digest_that_is_not_of_what_is_sealed_is_told(dataset):
    shut, keys = sealed(dataset)
    one = shut.instance(ONE)
    write_instances(shut, (replace(one, extra={**one.extra, "hidden_digest": f"sha256:{'0' * 64}"}),))

    assert any("hidden_digest" in told for told in found(shut, keys=keys))


def test_files_without_the_canary_are_told_together(dataset):
    for name in ("gold.patch", "test.patch"):
        path = dataset.task_folder(ONE) / name
        path.write_bytes(path.read_bytes().partition(b"\n")[2])

    assert [one for one in found(dataset) if "canary" in one] == [
        (
            f"dataset.yaml: 2 files lack the canary: tasks/{ONE}/gold.patch, tasks/{ONE}/test.patch; "
            "`goldseam holdout canary` writes it"
        )
    ]


def test_a_changed_line_of_the_ledger_is_told(dataset):
    task_states.quarantine(dataset, [ONE], why="flaky")
    path = dataset.path / "ledger.jsonl"
    path.write_bytes(path.read_bytes().replace(b"flaky", b"solid"))

    assert any(one.startswith("ledger.jsonl, line") for one in found(dataset))


def test_a_task_that_is_not_what_the_ledger_says_is_told(dataset):
    ledger.record(dataset, ledger.Event.RETIRED, [ONE], why="leaked")

    assert any(f"{ONE} was retired by its newest line, but task.yaml says proved" in one for one in found(dataset))


@pytest.mark.parametrize(
    ("old", "new", "what"),
    [("splits: {}", "splits: {by: moon}", "splits: by"), ("policy: {}", "policy: {max_age: 0}", "max_age")],
)
def test_a_rule_that_cannot_be_read_is_told(dataset, old, new, what):
    file = dataset.path / "dataset.yaml"
    file.write_text(file.read_text().replace(old, new))

    assert any(what in one for one in found(dataset))


@pytest.mark.parametrize(
    ("fields", "what"),
    [
        ({"fail_to_pass": ("[100%]",)}, "'[100%]' is not a test id"),
        ({"pass_to_pass": ("tests/test_other.py::test_x",)}, "tests/test_other.py has tests in the lists"),
    ],
)
def test_an_id_that_cannot_be_there_is_told(tmp_path, fields, what):
    made = tiny.dataset(tmp_path / "ds", tiny.task(**fields))

    assert any(what in one for one in found(made))


def test_a_test_file_that_is_nowhere_is_told(tmp_path):
    task = tiny.task(pass_to_pass=("tests/test_old.py::test_x",))
    task = replace(task, hidden=replace(task.hidden, test_files=(tiny.TESTS, "tests/test_old.py")))
    made = tiny.dataset(tmp_path / "ds", task)

    def asked(*paths):
        return ImageCheck(has=lambda _image: True, leaks=lambda _task: (), paths=lambda _image: paths)

    assert found(made, images=asked("tests/test_old.py", tiny.TESTS)) == []
    assert any("neither in test.patch nor in the image" in one for one in found(made, images=asked(tiny.TESTS)))


def test_the_registry_is_asked_for_proved_tasks(tmp_path):
    made = create_dataset(tmp_path / "ds")
    write_task(made, tiny.task(REMOTE), public_files={"Dockerfile": "FROM scratch\n"})
    seen = []

    assert found(made, in_registry=lambda ref: not seen.append(ref)) == []
    assert seen == [REMOTE]
    assert any("the registry has no image" in one for one in found(made, in_registry=lambda _ref: False))


def test_an_image_of_one_machine_is_in_no_registry(dataset):
    assert any("names no registry" in one for one in found(dataset, in_registry=lambda _ref: True))


def test_a_change_by_hand_is_noted(dataset):
    content.settle(dataset)
    (dataset.task_folder(ONE) / "problem_statement.md").write_text("Another.\n")

    assert any("changed by hand" in one for one in notes(dataset.path))
