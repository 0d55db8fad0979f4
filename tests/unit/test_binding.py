"""What the ledger binds: a change past the program is refused by name, honest commands never trip it."""

from __future__ import annotations

import shutil
from dataclasses import replace
from datetime import date

import pyrage
import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from harness.core.errors import AnswerIsNoError, InputError
from harness.core.instance import TestSpec
from harness.dataset import content, hidden_files, merge, rotation, splits, task_states
from harness.dataset.folder import open_dataset, write_instances, write_scaffold, write_task
from harness.dataset.ledger import binding, chain, custody, ledger
from harness.dataset.ledger.entry import Event
from harness.dataset.model_files import read_model, write_model
from harness.dataset.policy import Policy
from harness.dataset.schema import BudgetsModel, DatasetModel, TaskModel
from harness.dataset.seal import canary, sealed, sealing
from harness.dataset.seal.identity import DamagedError, Keys
from harness.quality.measuring import rate
from harness.runs import evaluate, regrade
from miner.images import store
from miner.pipeline.mine import retire_reverted
from miner.quality.strength import run as strength
from tests import gate_runs, report_runs, tiny
from tests.program import goldseam

ONE, TWO = "tiny__calc-1", "tiny__calc-2"


class Person:
    """Somebody with a key."""

    def __init__(self) -> None:
        self.identity = pyrage.x25519.Identity.generate()
        self.recipient = str(self.identity.to_public())
        self.keys = Keys(identities=(self.identity,))


ME, YOU = Person(), Person()
BOTH = (ME.recipient, YOU.recipient)


@pytest.fixture(autouse=True)
def _me(monkeypatch):
    monkeypatch.setenv("GOLDSEAM_USER", "me@example.com")
    for name in ("GOLDSEAM_LEDGER_KEY", "GOLDSEAM_IDENTITY"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def readable(tmp_path):
    return tiny.dataset(tmp_path / "bench", tiny.task(), tiny.task(instance_id=TWO))


@pytest.fixture
def shut(readable):
    sealing.seal(readable, [ME.recipient])
    return reopened(readable)


def reopened(dataset, keys=ME.keys):
    return open_dataset(dataset.path, keys=keys)


def problems(dataset):
    return [one.text for one in chain.verify(reopened(dataset)).problems]


def change_task(dataset, **fields):
    """Change a task's file as an editor does, past the program."""
    path = dataset.task_folder(ONE) / "task.yaml"
    write_model(path, TaskModel.model_validate({**read_model(path, TaskModel).as_written(), **fields}))


def change_dataset(dataset, **fields):
    path = dataset.path / "dataset.yaml"
    write_model(path, read_model(path, DatasetModel).model_copy(update=fields))


def change_statement(dataset):
    path = dataset.task_folder(ONE) / "problem_statement.md"
    path.write_text(path.read_text() + "The answer is to add.\n")


def evaluated(dataset, out):
    """Ask for an evaluation that has neither engine nor observer: it has to say no before it needs either."""
    predictions = evaluate.null_predictions([ONE])
    evaluate.run(
        reopened(dataset), predictions, out, sandbox=None, executor=None, settings=evaluate.Settings(), observer=None
    )


CHANGES = {
    "recipients": (lambda one: change_dataset(one, recipients=BOTH), "recipients of dataset.yaml"),
    "recipients gone": (lambda one: change_dataset(one, recipients=()), "it is readable here"),
    "split rule": (lambda one: change_dataset(one, splits={"by": "list", "dev": [ONE]}), "splits of dataset.yaml"),
    "image": (lambda one: change_task(one, image=f"sha256:{'1' * 64}"), f"{ONE}: image of task.yaml"),
    "options": (lambda one: change_task(one, test={"options": ["-x"]}), f"{ONE}: test of task.yaml"),
    "environment": (lambda one: change_task(one, test={"env": {"A": "b"}}), f"{ONE}: test of task.yaml"),
    "budgets": (lambda one: change_task(one, budgets={"seconds": 9999}), f"{ONE}: budgets of task.yaml"),
    "state": (lambda one: change_task(one, state="quarantined"), f"{ONE}: state of task.yaml"),
    "split": (lambda one: change_task(one, split="dev"), f"{ONE}: split of task.yaml"),
    "quality": (lambda one: change_task(one, quality={"difficulty": "hard"}), f"{ONE}: quality of task.yaml"),
    "base commit": (lambda one: change_task(one, base_commit="0" * 40), f"{ONE}: repo, base_commit, created_at"),
    "hidden digest": (lambda one: change_task(one, hidden_digest="sha256:0"), f"{ONE}: its hidden files"),
    "statement": (change_statement, f"{ONE}: problem_statement.md"),
    "seal": (lambda one: (one.task_folder(ONE) / "sealed.age").unlink(), f"sealed.age of {ONE} is gone"),
}  # fmt: skip


@pytest.mark.parametrize("name", CHANGES)
def test_what_was_changed_past_the_program_is_named_by_every_command_and_refused(shut, tmp_path, name):
    change, what = CHANGES[name]
    change(shut)

    assert any(what in one for one in problems(shut))
    for words in (("check", shut.path), ("log", shut.path, "--verify")):
        done = goldseam("holdout", *words, COLUMNS="300")
        assert (done.returncode, what in done.stdout) == (1, True), words
    with pytest.raises(AnswerIsNoError) as refused:
        evaluated(shut, tmp_path / "run")
    assert what in refused.value.message
    assert not (tmp_path / "run").exists()


def test_a_readable_datasets_hidden_tests_are_bound_too(readable, tmp_path):
    path = readable.task_folder(ONE) / "test.patch"
    path.write_bytes(path.read_bytes().replace(b"== 2", b"== 3"))

    with pytest.raises(AnswerIsNoError, match="its hidden files are not what the ledger binds"):
        evaluated(readable, tmp_path / "run")


def test_a_run_is_not_regraded_by_a_changed_dataset(readable, tmp_path):
    run = gate_runs.make_run(tmp_path / "run", 1)
    change_task(readable, budgets={"seconds": 9999})

    with pytest.raises(AnswerIsNoError, match="budgets"):
        regrade.regrade(reopened(readable), run)


def test_a_task_that_came_past_the_program_is_refused(readable, tmp_path):
    other = tiny.dataset(tmp_path / "other", tiny.task(instance_id="tiny__calc-9"))
    shutil.copytree(other.task_folder("tiny__calc-9"), readable.task_folder("tiny__calc-9"))

    assert problems(readable) == ["tiny__calc-9 was added without a line in the ledger"]


def test_fields_of_ones_own_and_defaults_written_out_are_no_difference(readable):
    change_task(readable, our_ticket=12, language="python")

    assert problems(readable) == []


def rated(dataset, tmp_path):
    made = [report_runs.add(tmp_path / "run", ONE, "model")]
    report_runs.RunFolder(path=tmp_path / "run").write_predictions(made)
    rate(dataset, [tmp_path / "run"])


HONEST = {
    "quarantine and release": lambda one, _: (
        task_states.quarantine(one, [ONE], why="x"),
        task_states.release(one, [ONE], why="y"),
    ),
    "retire": lambda one, _: task_states.retire(one, [ONE], why="x"),
    "refresh": lambda one, _: task_states.quarantine_all(one, {ONE: "fails", TWO: "fails"}),
    "rotation": lambda one, _: rotation.rotate(one, Policy(max_age=1), today=date(2030, 1, 1)),
    "split": lambda one, _: splits.set_rule(one, splits.Rule(by="list", dev=(ONE,))),
    "a new task": lambda one, _: write_task(reopened(one), tiny.task(instance_id="tiny__calc-3")),
    "a task again": lambda one, _: write_task(reopened(one), tiny.task(spec=TestSpec(options=("-x",)))),
    "settle": lambda one, _: content.settle(one),
    "canary": lambda one, _: canary.add(one),
    "seal to others": lambda one, _: sealing.seal(reopened(one), [YOU.recipient], keys=ME.keys),
    "difficulty": rated,
    "strength": lambda one, _: strength._write(reopened(one), stronger(reopened(one))),
    "images push": lambda one, _: store._rename(one, one.instance(ONE), {tiny.NO_IMAGE: f"r@sha256:{'2' * 64}"}),
    "reverted": lambda one, _: retire_reverted(one, ONE),
    "scaffold": lambda one, _: write_scaffold(one, replace(one.instance(ONE), scaffold=b"diff --git a/x b/x\n")),
}  # fmt: skip


def stronger(dataset):
    task = dataset.task(ONE)
    hidden = replace(task.hidden, survivors={"survivor-01-part.patch": tiny.GOLD.encode()})
    return replace(task, instance=replace(task.instance, quality={"strength": {"share": 0.5}}), hidden=hidden)


@pytest.mark.parametrize("is_sealed", [False, True], ids=["readable", "sealed"])
@pytest.mark.parametrize("name", HONEST)
def test_a_command_tells_the_ledger_what_it_changes(readable, tmp_path, name, is_sealed):
    if is_sealed:
        sealing.seal(readable, [ME.recipient])
    dataset = reopened(readable)
    before = len(ledger.read(dataset))

    HONEST[name](dataset, tmp_path)

    assert problems(dataset) == []
    assert custody.compare(reopened(dataset), binding.current(dataset)).is_whole
    assert name in {"settle", "canary"} or len(ledger.read(dataset)) > before


def test_sealing_binds_the_recipients_and_merging_everything(shut, tmp_path):
    other = tiny.dataset(tmp_path / "other", tiny.task(instance_id="tiny__calc-9"))

    merged = merge.merge([reopened(shut), other], tmp_path / "merged")

    assert problems(open_dataset(merged.path)) == []
    assert binding.current(open_dataset(merged.path)).settings["recipients"] == [ME.recipient]


def test_a_merge_does_not_bind_anew_what_somebody_changed(shut, tmp_path):
    other = tiny.dataset(tmp_path / "other", tiny.task(instance_id="tiny__calc-9"))
    change_task(shut, budgets={"seconds": 9999})

    with pytest.raises(AnswerIsNoError, match="budgets"):
        merge.merge([reopened(shut), other], tmp_path / "merged")


def test_a_command_does_not_bind_what_somebody_else_changed(readable):
    change_task(readable, budgets={"seconds": 9999})

    task_states.quarantine(readable, [ONE], why="flaky")

    assert problems(readable) == [f"{ONE}: budgets of task.yaml is not what the ledger binds"]


def test_after_a_kill_between_ledger_and_file_the_same_command_makes_it_whole(readable):
    path = readable.task_folder(ONE) / "task.yaml"
    before = path.read_bytes()
    task_states.quarantine(readable, [ONE], why="flaky")
    path.write_bytes(before)  # as if killed after the ledger's line
    assert problems(readable) == [f"{ONE}: state of task.yaml is not what the ledger binds"]

    task_states.quarantine(readable, [ONE], why="flaky")

    assert problems(readable) == []


def test_nothing_is_sealed_to_recipients_that_somebody_put_into_dataset_yaml(shut, tmp_path):
    change_dataset(shut, recipients=BOTH)

    for work in (
        lambda: sealing.seal(reopened(shut)),
        lambda: write_task(reopened(shut), tiny.task(instance_id="tiny__calc-3")),
        lambda: sealing.reseal(reopened(shut), ONE, tiny.task().hidden),
    ):
        with pytest.raises(InputError, match="different recipients from the ledger"):
            work()


def test_a_file_sealed_with_the_public_key_alone_is_refused_wherever_it_is_opened(shut, tmp_path):
    hidden = hidden_files.hidden_files(tiny.task().hidden)
    forged = sealed.seal_task(ONE, hidden, secret="", recipients=[ME.recipient])
    (shut.task_folder(ONE) / "sealed.age").write_bytes(forged)

    with pytest.raises(DamagedError, match="not the file that was sealed"):
        reopened(shut).task(ONE)
    with pytest.raises(DamagedError, match="not the file that was sealed"):
        sealing.open_into(reopened(shut), tmp_path / "copy")
    with pytest.raises(AnswerIsNoError, match=f"sealed.age of {ONE} is not the file that was sealed"):
        evaluated(shut, tmp_path / "run")


def test_a_file_that_waits_to_take_the_sealed_ones_place_does_so_only_where_the_ledger_knows_it(shut):
    hidden = hidden_files.hidden_files(tiny.task().hidden)
    staged = shut.task_folder(ONE) / sealed.staged_name([ME.recipient])
    staged.write_bytes(sealed.seal_task(ONE, hidden, secret="forged", recipients=[ME.recipient]))
    before = (shut.task_folder(ONE) / "sealed.age").read_bytes()

    assert reopened(shut).task(ONE).hidden.secret != "forged"
    sealing.seal(reopened(shut))

    assert ((shut.task_folder(ONE) / "sealed.age").read_bytes(), staged.exists()) == (before, False)


def test_a_task_that_lies_open_in_a_sealed_dataset_is_not_handed_out(shut):
    place = shut.task_folder(ONE)
    (place / "sealed.age").unlink()
    for name, data in hidden_files.hidden_files(tiny.task().hidden).items():
        (place / name).write_bytes(data)

    with pytest.raises(InputError, match="not sealed although its dataset is"):
        reopened(shut).task(ONE)


def test_a_sealed_dataset_without_its_ledger_is_refused(shut, tmp_path):
    (shut.path / ledger.LEDGER_FILE).unlink()

    with pytest.raises(AnswerIsNoError, match="the ledger is missing"):
        evaluated(shut, tmp_path / "run")
    with pytest.raises(InputError, match="without a line in the ledger"):
        reopened(shut).task(ONE)


def test_sealed_by_the_ledger_and_open_here_is_refused(shut, tmp_path):
    sealing.open_into(reopened(shut), tmp_path / "copy")
    shutil.copy(shut.path / ledger.LEDGER_FILE, tmp_path / "copy" / ledger.LEDGER_FILE)

    with pytest.raises(AnswerIsNoError, match="the ledger has the dataset sealed"):
        evaluated(open_dataset(tmp_path / "copy"), tmp_path / "run")


def older(dataset):
    """The dataset as versions before bindings left it: its ledger tells of sealing and of no digest of a part."""
    files = {one: sealed.digest((dataset.task_folder(one) / "sealed.age").read_bytes()) for one in dataset.ids()}
    (dataset.path / ledger.LEDGER_FILE).unlink()
    ledger.record(dataset, Event.CREATED)
    ledger.record(dataset, Event.SEALED, dataset.ids(), recipients=["age1…"], files=files)
    return reopened(dataset)


def test_a_dataset_from_before_stays_usable_and_says_what_is_not_bound(shut):
    dataset = older(shut)

    (note,) = chain.require(dataset)

    assert "recipients of dataset.yaml and 2 tasks" in note
    assert "goldseam holdout bind" in note
    assert dataset.task(ONE).hidden.fail_to_pass


def test_one_command_binds_a_dataset_from_before(shut, tmp_path):
    dataset = older(shut)

    done = goldseam("holdout", "bind", dataset.path)

    assert (done.returncode, chain.require(reopened(dataset))) == (0, ())
    change_dataset(dataset, recipients=(YOU.recipient,))
    with pytest.raises(AnswerIsNoError, match="recipients"):
        evaluated(dataset, tmp_path / "run")


def test_binding_twice_writes_nothing(readable):
    before = (readable.path / ledger.LEDGER_FILE).read_bytes()

    assert goldseam("holdout", "bind", readable.path).returncode == 0
    assert (readable.path / ledger.LEDGER_FILE).read_bytes() == before


def test_what_differs_is_bound_only_where_the_user_says_that_it_was_theirs(readable):
    change_task(readable, budgets={"seconds": 9999})
    before = (readable.path / ledger.LEDGER_FILE).read_bytes()

    refused = goldseam("holdout", "bind", readable.path, COLUMNS="300")

    assert (refused.returncode, "budgets of task.yaml" in refused.stdout) == (1, True)
    assert (readable.path / ledger.LEDGER_FILE).read_bytes() == before
    assert goldseam("holdout", "bind", readable.path, "--accept").returncode == 0
    assert problems(readable) == []


def test_a_sealed_dataset_whose_ledger_was_lost_can_be_bound_as_it_is(shut):
    (shut.path / ledger.LEDGER_FILE).unlink()

    assert goldseam("holdout", "bind", shut.path).returncode == 1
    assert goldseam("holdout", "bind", shut.path, "--accept").returncode == 0

    assert problems(shut) == []
    assert reopened(shut).task(ONE).hidden.fail_to_pass


@pytest.fixture
def signed(shut, tmp_path, monkeypatch):
    """A dataset whose ledger is signed by a key of its own."""
    private = Ed25519PrivateKey.generate()
    kinds = (serialization.Encoding.PEM, serialization.PrivateFormat.OpenSSH, serialization.NoEncryption())
    (tmp_path / "ledger.key").write_bytes(private.private_bytes(*kinds))
    monkeypatch.setenv("GOLDSEAM_LEDGER_KEY", str(tmp_path / "ledger.key"))
    public = private.public_key().public_bytes(serialization.Encoding.OpenSSH, serialization.PublicFormat.OpenSSH)
    change_dataset(shut, ledger_keys=(public.decode(),))
    assert any("ledger_keys" in note for note in chain.require(reopened(shut)))
    custody.bind(reopened(shut))
    return reopened(shut)


def test_with_a_key_a_signed_change_counts(signed):
    task_states.quarantine(signed, [ONE], why="flaky")

    assert problems(signed) == []
    assert ledger.read(signed)[-1].signature


def test_with_a_key_a_line_that_nobody_signed_binds_nothing(signed, monkeypatch):
    monkeypatch.delenv("GOLDSEAM_LEDGER_KEY")
    change_dataset(signed, recipients=BOTH)
    ledger.record(signed, Event.BOUND, settings={"recipients": sorted(BOTH)})

    found = problems(signed)

    assert any("none of its keys signed that line" in one for one in found)
    assert any("recipients of dataset.yaml" in one for one in found)


def test_with_a_key_taking_the_key_away_is_refused(signed, monkeypatch):
    monkeypatch.delenv("GOLDSEAM_LEDGER_KEY")
    change_dataset(signed, ledger_keys=())
    ledger.record(signed, Event.BOUND, settings={"ledger_keys": []})

    assert any("ledger_keys of dataset.yaml" in one for one in problems(signed))


def test_with_a_key_a_change_without_it_is_refused_before_anything_is_written(signed, monkeypatch):
    monkeypatch.delenv("GOLDSEAM_LEDGER_KEY")

    with pytest.raises(InputError, match="one of them has to sign this change"):
        task_states.quarantine(signed, [ONE], why="flaky")

    assert problems(signed) == []
    assert signed.instance(ONE).state == "proved"


def test_the_parts_of_a_task_keep_their_digests():
    """A changed digest would make every bound dataset differ from its ledger: only a new part may come."""
    model = TaskModel(
        instance_id=ONE, repo="a/b", base_commit="0" * 40, created_at="2026-01-01", image="sha256:1", state="proved"
    )
    assert binding.task_parts(model, statement="Fix it.", scaffold=b"", hidden="sha256:2") == {
        "source": "ea93bc345f57030b9f3fe9576c9d9050",
        "image": "5b7bc24d176d5ef9fa553cd0cfbefd56",
        "test": "44136fa355b3678a1146ad16f7e8649e",
        "budgets": "44136fa355b3678a1146ad16f7e8649e",
        "state": "5e3aec27e9921e0fa5243dc75a927ff8",
        "split": "fb1a5557e84c87ab272e5aa8b9480cf2",
        "quality": "44136fa355b3678a1146ad16f7e8649e",
        "statement": "fa3bcd57c4fe7356e4fc54249a90afc7",
        "scaffold": "6d9695b0f6f0de8c737c15a199b16580",
        "hidden": "b805c898e2f3f8dab1bf890ce65b6011",
    }


def test_budgets_that_tasks_have_written_out_stay_the_defaults_of_the_form():
    """Another default would make every dataset of before differ from its ledger; new tasks may name what they like."""
    written = {
        "seconds": 300.0, "memory_mb": 2048, "cpus": 1.0, "pids": 256, "output_bytes": 4 << 20, "disk_mb": 1024,
    }  # fmt: skip
    assert BudgetsModel().as_written() == written


def test_a_written_task_is_bound_with_all_its_parts(readable):
    write_instances(readable, [readable.instance(ONE)])

    assert set(binding.current(readable).tasks[ONE]) == {
        "source", "image", "test", "budgets", "state", "split", "quality", "statement", "scaffold", "hidden",
    }  # fmt: skip
