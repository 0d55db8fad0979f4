"""A dataset proved again, in real containers."""

from __future__ import annotations

import json
import signal
from dataclasses import replace

import pytest
from pyrage import x25519

from harness.core.instance import TaskState
from harness.dataset.folder import open_dataset, write_instances
from harness.dataset.ledger import ledger
from harness.sandbox import engine
from tests import forked, tiny

pytestmark = pytest.mark.engine

MOVED = "/etc/the-world-moved-on"
TESTS = tiny.HIDDEN_TESTS.replace(
    "def test_two():\n", f"def test_two():\n    import os\n    assert not os.path.exists({MOVED!r})\n"
)
TWO = {tiny.TESTS: (tiny.BASE_TESTS, TESTS)}


@pytest.fixture(scope="module")
def moved_image(tiny_image):
    """The same image with one file more: a world that moved on since the proof."""
    connection = engine.connect()
    made = connection.create_container(tiny_image, ["/bin/sh", "-c", f"touch {MOVED}"], user="0:0")["Id"]
    connection.start(made)
    connection.wait(made)
    image = connection.commit(made)["Id"]
    connection.remove_container(made)
    yield image
    connection.remove_image(image)


def refresh(dataset, *options):
    return tiny.goldseam("holdout", "refresh", dataset.path, "-j", "2", *options)


def files_of(dataset):
    """All that git would see."""
    found = (path for path in dataset.path.rglob("*") if path.is_file() and ".goldseam" not in path.parts)
    return {path: path.read_bytes() for path in found}


def move(dataset, task_id, image):
    """Give a task the image of another world; nothing else of it changes."""
    write_instances(dataset, (replace(dataset.instance(task_id), image=image),))


def test_a_dataset_that_holds_changes_once_and_never_again(tiny_image, tmp_path):
    dataset = tiny.dataset(tmp_path / "ds", tiny.task(tiny_image))
    first = refresh(dataset)
    assert first.returncode == 0, first.error_text
    kept = files_of(dataset)
    assert dataset.path / "refresh.jsonl" in kept
    again = refresh(dataset)
    assert again.returncode == 0
    assert files_of(dataset) == kept


def test_a_task_whose_world_moved_on_is_quarantined_with_its_reason(tiny_image, moved_image, tmp_path):
    dataset = tiny.dataset(
        tmp_path / "ds", tiny.task(tiny_image, tests=TWO), tiny.task(tiny_image, tests=TWO, instance_id="tiny__calc-2")
    )
    version = open_dataset(dataset.path).version
    move(dataset, "tiny__calc-2", moved_image)
    done = refresh(dataset, "--json")
    assert done.returncode == 1, done.error_text
    told = json.loads(done.stdout)
    assert told["quarantined"] == ["tiny__calc-2"]
    [gone] = [task for task in told["tasks"] if task["result"] != "holds"]
    assert [change["after"] for change in gone["changes"]] == [{"FAILED": 4}]
    states = [one.state for one in dataset.instances()]
    assert states == [TaskState.PROVED, TaskState.QUARANTINED]
    assert "gold does not resolve in 4 of 4 runs" in dataset.instance("tiny__calc-2").extra["quarantined"]
    assert ledger.read(dataset)[-1].event == "quarantined"
    assert open_dataset(dataset.path).version > version
    move(dataset, "tiny__calc-2", tiny_image)
    back = refresh(dataset, "--quarantined")
    assert back.returncode == 0, back.error_text
    assert "goldseam holdout release" in back.stdout.decode()
    assert dataset.instance("tiny__calc-2").state is TaskState.QUARANTINED


def test_an_image_that_is_not_there_is_no_drift(tiny_image, tmp_path):
    dataset = tiny.dataset(tmp_path / "ds", tiny.task(tiny_image), tiny.task(instance_id="tiny__calc-2"))
    done = refresh(dataset)
    assert done.returncode == 4
    assert [one.state for one in dataset.instances()] == [TaskState.PROVED, TaskState.PROVED]
    move(dataset, "tiny__calc-2", tiny_image)
    again = refresh(dataset, "--retry-errors")
    assert again.returncode == 0
    assert "known from an earlier call: 2 of 4 verdicts" in again.error_text


def test_a_killed_refresh_goes_on_and_repeats_nothing(tiny_image, tmp_path):
    dataset = tiny.dataset(
        tmp_path / "ds", *(tiny.task(tiny_image, instance_id=f"tiny__calc-{number}") for number in (1, 2))
    )
    with forked.started("holdout", "refresh", dataset.path, "-j", "1") as child:
        for line in child.stderr:
            if line.startswith("[1/"):
                child.send_signal(signal.SIGKILL)
                break
        child.stderr.read()
        assert child.wait() == -9
    notes = dataset.path / ".goldseam/refresh/notes.jsonl"
    before = [json.loads(one) for one in notes.read_bytes().splitlines() if b'"key"' in one]
    assert 2 <= len(before) < 4
    done = refresh(dataset)
    assert done.returncode == 0, done.error_text
    after = [json.loads(one) for one in notes.read_bytes().splitlines() if b'"key"' in one]
    assert after[: len(before)] == before
    assert len(after) == 4


@pytest.fixture(scope="module")
def tried(tiny_image, tmp_path_factory):
    """A sealed dataset whose one task gold does not resolve, and what a dry run says of it."""
    folder = tmp_path_factory.mktemp("sealed")
    identity = x25519.Identity.generate()
    (folder / "key").write_text(str(identity))
    dataset = tiny.dataset(folder / "ds", tiny.task(tiny_image, gold=tiny.fix("return 7")))
    sealed = tiny.goldseam("holdout", "seal", dataset.path, "--to", str(identity.to_public()))
    assert sealed.returncode == 0, sealed.error_text
    return dataset, refresh(dataset, "--identity", folder / "key", "--dry-run")


def test_a_dry_run_tells_and_changes_nothing(tried):
    dataset, done = tried
    assert done.returncode == 1, done.error_text
    assert [one.state for one in dataset.instances()] == [TaskState.PROVED]
    assert not (dataset.path / "refresh.jsonl").exists()


def test_a_refresh_of_a_sealed_dataset_tells_no_name_of_a_hidden_test(tried):
    dataset, done = tried
    written = b"".join(path.read_bytes() for path in dataset.path.rglob("*") if path.is_file())
    assert b"test_two" not in written + done.stdout + done.stderr
    assert b"hidden-" in done.stdout


def test_a_sealed_dataset_is_not_refreshed_without_its_key(tried):
    dataset, _ = tried
    assert refresh(dataset).returncode == 2
