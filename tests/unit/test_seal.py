"""Sealing: what is readable before is not afterwards, and nothing is lost, wherever it is stopped."""

from __future__ import annotations

import fcntl
import json
import os
import re
import shutil

import pyrage
import pytest

from harness.core import process
from harness.core.errors import InfrastructureError, InputError
from harness.core.instance import Hidden
from harness.dataset import folder, hidden_files
from harness.dataset.content import content_of
from harness.dataset.hidden_files import hidden_digest
from harness.dataset.ledger import chain, ledger
from harness.dataset.seal import sealed, sealing
from harness.dataset.seal.identity import (
    PASSPHRASE_FILE,
    DamagedError,
    Keys,
    WrongKeyError,
    load_keys,
    read_recipients,
    short,
)
from harness.runs import bug_log
from tests import killed, tiny
from tests.trees import words_in

SECRET_LINE = "assert calc.add(1, 1) == 2"


class Person:
    """Somebody with a key."""

    def __init__(self) -> None:
        self.identity = pyrage.x25519.Identity.generate()
        self.recipient = str(self.identity.to_public())
        self.keys = Keys(identities=(self.identity,))


@pytest.fixture(scope="module")
def me():
    return Person()


@pytest.fixture(scope="module")
def you():
    return Person()


@pytest.fixture(autouse=True)
def _named(monkeypatch):
    monkeypatch.setenv("GOLDSEAM_USER", "me@example.com")


def hinted(task):
    hidden = Hidden(**{**vars(task.hidden), "hints": "Look at the sign in the sum.\n"})
    return type(task)(instance=task.instance, hidden=hidden)


@pytest.fixture
def dataset(tmp_path):
    """Two tasks, the second with hints; mining's workings beside them."""
    made = tiny.dataset(tmp_path / "dataset", tiny.task(), hinted(tiny.task(instance_id="tiny__calc-2")))
    workings = made.path / ".goldseam" / "logs"
    workings.mkdir(parents=True)
    (workings / "tiny__calc-1.log").write_text(SECRET_LINE)
    return made


def reopened(dataset, keys=None):
    return folder.open_dataset(dataset.path, keys=keys)


def tasks_of(dataset, keys=None):
    return {task.instance_id: (task.digest(), task.hidden.hints) for task in reopened(dataset, keys).tasks()}


def hidden_words(dataset):
    """Every line of twelve bytes or more of the hidden files that no public file has, and every hidden id."""
    places = [dataset.path, *(dataset.task_folder(task_id) for task_id in dataset.ids())]
    files = [path for place in places for path in place.iterdir() if path.is_file()]
    public = b"\n".join(path.read_bytes() for path in files if path.name not in hidden_files.HIDDEN_FILES)
    hidden = {
        line.strip()
        for path in files
        if path.name in hidden_files.HIDDEN_FILES
        for line in path.read_bytes().splitlines()
    }
    for task in dataset.tasks():
        hidden.update(one.encode() for one in (*task.hidden.fail_to_pass, *task.hidden.pass_to_pass))
    return {line for line in hidden if len(line) >= 12 and line not in public}


def test_a_sealed_task_is_the_same_task(dataset, me):
    before = tasks_of(dataset)

    sealing.seal(dataset, [me.recipient])

    assert tasks_of(dataset, me.keys) == before


def test_no_hidden_line_is_found_in_a_sealed_dataset(dataset, me):
    words = hidden_words(dataset)
    assert SECRET_LINE.encode() in {word.lstrip(b"+ ") for word in words}
    assert words_in(dataset.path, words)

    sealing.seal(dataset, [me.recipient])

    assert words_in(dataset.path, words) == set()


def test_the_public_side_needs_no_key(dataset, me):
    before = list(dataset.instances())

    sealing.seal(dataset, [me.recipient])

    after = list(reopened(dataset).instances())
    assert [one.problem_statement for one in after] == [one.problem_statement for one in before]


def test_without_a_key_the_hidden_side_is_refused_and_the_recipients_are_named(dataset, me):
    sealing.seal(dataset, [me.recipient])

    with pytest.raises(InputError, match=short(me.recipient)) as caught:
        reopened(dataset).task("tiny__calc-1")
    assert "--identity" in caught.value.hint


def test_a_wrong_key_is_told_from_damage(dataset, me, you):
    sealing.seal(dataset, [me.recipient])

    with pytest.raises(WrongKeyError, match="does not open"):
        reopened(dataset, you.keys).task("tiny__calc-1")


def test_each_of_several_recipients_opens_it(dataset, me, you, tmp_path):
    process.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "me@laptop", "-f", tmp_path / "ssh"])
    before = tasks_of(dataset)

    sealing.seal(dataset, read_recipients([me.recipient, you.recipient, str(tmp_path / "ssh.pub")]))

    for keys in (me.keys, you.keys, load_keys(str(tmp_path / "ssh"), dataset.path)):
        assert tasks_of(dataset, keys) == before


def test_a_passphrase_opens_it_beside_a_key(dataset, me, monkeypatch):
    before = tasks_of(dataset)
    monkeypatch.setenv("PHRASE", "four words of a phrase\n")
    monkeypatch.setenv("NOT_IT", "another phrase")

    sealing.seal(dataset, [me.recipient], passphrase="four words of a phrase")

    assert tasks_of(dataset, load_keys("env:PHRASE", dataset.path)) == before
    assert tasks_of(dataset, me.keys) == before
    with pytest.raises(WrongKeyError, match="passphrase"):
        load_keys("env:NOT_IT", dataset.path)


def test_a_passphrase_that_would_take_this_machine_minutes_is_no_damage(dataset, me, monkeypatch):
    monkeypatch.setenv("PHRASE", "four words of a phrase")
    sealing.seal(dataset, [me.recipient], passphrase="four words of a phrase")
    path = dataset.path / PASSPHRASE_FILE
    path.write_bytes(re.sub(rb"(?m)^(-> scrypt \S+) \d+$", rb"\1 40", path.read_bytes(), count=1))

    with pytest.raises(InfrastructureError, match="slower, or busier"):
        load_keys("env:PHRASE", dataset.path)


@pytest.mark.parametrize("where", [0, 30, 120, 250, -40, -1])
def test_a_flipped_byte_is_noticed(dataset, me, where):
    sealing.seal(dataset, [me.recipient])
    path = dataset.task_folder("tiny__calc-1") / sealed.SEALED_FILE
    data = bytearray(path.read_bytes())
    data[where] ^= 1
    path.write_bytes(bytes(data))

    with pytest.raises((DamagedError, WrongKeyError), match=r"damaged|changed"):
        reopened(dataset, me.keys).task("tiny__calc-1")
    assert any("not the file that was sealed" in one.text for one in chain.verify(reopened(dataset)).problems)


@pytest.mark.parametrize("left", [0, 10, 200, -1])
def test_a_cut_file_is_noticed(dataset, me, left):
    sealing.seal(dataset, [me.recipient])
    path = dataset.task_folder("tiny__calc-1") / sealed.SEALED_FILE
    path.write_bytes(path.read_bytes()[:left])

    with pytest.raises(InputError, match=r"damaged|changed"):
        reopened(dataset, me.keys).task("tiny__calc-1")


def test_two_tasks_sealed_files_that_were_swapped_are_noticed(dataset, me):
    sealing.seal(dataset, [me.recipient])
    one, two = (dataset.task_folder(task_id) / sealed.SEALED_FILE for task_id in dataset.ids())
    one_data, two_data = one.read_bytes(), two.read_bytes()
    one.write_bytes(two_data)
    two.write_bytes(one_data)

    with pytest.raises(InputError, match="not the file that was sealed"):
        reopened(dataset, me.keys).task("tiny__calc-1")


def test_a_file_that_somebody_else_sealed_is_noticed(dataset, me):
    sealing.seal(dataset, [me.recipient])
    path = dataset.task_folder("tiny__calc-1") / sealed.SEALED_FILE
    hidden = hidden_files.hidden_files(reopened(dataset, me.keys).task("tiny__calc-1").hidden)
    path.write_bytes(sealed.seal_task("tiny__calc-1", hidden, secret="", recipients=[me.recipient]))

    problems = [one.text for one in chain.verify(reopened(dataset)).problems]

    assert problems == ["sealed.age of tiny__calc-1 is not the file that was sealed"]


def test_sealing_twice_changes_nothing(dataset, me):
    sealing.seal(dataset, [me.recipient])
    before = {path: path.read_bytes() for path in dataset.path.rglob("*") if path.is_file()}

    done = sealing.seal(reopened(dataset))

    assert (done.sealed, done.already) == ((), ("tiny__calc-1", "tiny__calc-2"))
    assert {path: path.read_bytes() for path in dataset.path.rglob("*") if path.is_file()} == before


def test_sealing_to_others_shuts_the_former_out_and_keeps_the_ledgers_history(dataset, me, you):
    sealing.seal(dataset, [me.recipient])
    before, history = tasks_of(dataset, me.keys), (dataset.path / ledger.LEDGER_FILE).read_bytes()

    sealing.seal(reopened(dataset), [you.recipient], keys=me.keys)

    assert tasks_of(dataset, you.keys) == before
    with pytest.raises(WrongKeyError):
        tasks_of(dataset, me.keys)
    assert (dataset.path / ledger.LEDGER_FILE).read_bytes().startswith(history)
    assert chain.verify(reopened(dataset)).problems == ()


def test_sealing_to_others_without_a_key_changes_nothing(dataset, me, you):
    sealing.seal(dataset, [me.recipient])

    with pytest.raises(InputError, match="to seal to others"):
        sealing.seal(reopened(dataset), [you.recipient])

    assert reopened(dataset).recipients == (me.recipient,)


def test_the_names_of_hidden_tests_in_runs_stay_when_it_is_sealed_to_others(dataset, me, you):
    sealing.seal(dataset, [me.recipient])
    before = reopened(dataset, me.keys).task("tiny__calc-1").hidden.secret

    sealing.seal(reopened(dataset), [you.recipient], keys=me.keys)

    assert before
    assert reopened(dataset, you.keys).task("tiny__calc-1").hidden.secret == before


def test_the_content_of_a_dataset_is_the_same_sealed(dataset, me):
    before = content_of(dataset)

    sealing.seal(dataset, [me.recipient])

    assert content_of(reopened(dataset)) == before


def test_a_task_mined_later_is_sealed_from_the_start(dataset, me):
    sealing.seal(dataset, [me.recipient])
    task = tiny.task(instance_id="tiny__calc-3")

    folder.write_task(reopened(dataset), task)

    names = {path.name for path in dataset.task_folder("tiny__calc-3").iterdir()}
    assert not names & set(hidden_files.HIDDEN_FILES)
    assert reopened(dataset, me.keys).task("tiny__calc-3").hidden.test_patch == task.hidden.test_patch
    assert chain.verify(reopened(dataset)).problems == ()


def test_a_readable_task_that_came_into_a_sealed_dataset_is_sealed_by_the_next_seal(dataset, me, tmp_path):
    other = tiny.dataset(tmp_path / "other", tiny.task(instance_id="tiny__calc-9"))
    sealing.seal(dataset, [me.recipient])
    shutil.copytree(other.task_folder("tiny__calc-9"), dataset.task_folder("tiny__calc-9"))

    assert sealing.seal(reopened(dataset)).sealed == ("tiny__calc-9",)
    assert "tiny__calc-9" in tasks_of(dataset, me.keys)


def test_opening_writes_a_readable_copy_and_tells_the_ledger_first(dataset, me, tmp_path):
    before = tasks_of(dataset)
    sealing.seal(dataset, [me.recipient])

    sealing.open_into(reopened(dataset, me.keys), tmp_path / "open")

    copy = folder.open_dataset(tmp_path / "open")
    assert tasks_of(copy) == before
    assert (tmp_path / "open").stat().st_mode & 0o077 == 0
    entry = ledger.read(reopened(dataset))[-1]
    assert (entry.event, entry.facts["purpose"]) == ("opened", "open")


def test_opening_with_a_wrong_key_writes_nothing(dataset, me, you, tmp_path):
    sealing.seal(dataset, [me.recipient])

    with pytest.raises(WrongKeyError):
        sealing.open_into(reopened(dataset, you.keys), tmp_path / "open")
    assert not (tmp_path / "open").exists()


def test_age_and_tar_alone_open_a_sealed_task(dataset, me, tmp_path):
    sealing.seal(dataset, [me.recipient])
    data = (dataset.task_folder("tiny__calc-1") / sealed.SEALED_FILE).read_bytes()

    process.run(["tar", "-xz", "-C", tmp_path], input=pyrage.decrypt(data, [me.identity]))

    assert SECRET_LINE in (tmp_path / "test.patch").read_text()


def everything_is_well(dataset, before, people):
    """Whoever may open it can, somebody can, and the next call finishes what was begun."""
    now = reopened(dataset)
    read = []
    for person in people:
        try:
            read.append(tasks_of(now, person.keys))
        except WrongKeyError:
            continue
    return before in read


@pytest.mark.parametrize("first", [True, False], ids=["sealing", "sealing to others"])
def test_killed_at_any_point_the_dataset_reads_and_the_next_seal_finishes(dataset, me, you, tmp_path, first):
    before, words = tasks_of(dataset), hidden_words(dataset)
    if not first:
        sealing.seal(dataset, [me.recipient])
    origin = tmp_path / "origin"
    shutil.copytree(dataset.path, origin)
    keys = None if first else me.keys
    step, was_killed = 0, True
    while was_killed:
        step += 1
        shutil.rmtree(dataset.path)
        shutil.copytree(origin, dataset.path)
        was_killed = killed.at(step, lambda: sealing.seal(reopened(dataset), [you.recipient], keys=keys))

        assert everything_is_well(dataset, before, [me, you]), f"unreadable after a kill at step {step}"
        sealing.seal(reopened(dataset), [you.recipient], keys=keys)
        assert tasks_of(dataset, you.keys) == before, step
        assert words_in(dataset.path, words) == set(), step
        assert chain.verify(reopened(dataset)).problems == (), step
        assert not list(dataset.path.rglob("*.next")), step

    assert step > 20


def test_a_broken_task_is_not_sealed(dataset, me):
    (dataset.task_folder("tiny__calc-1") / hidden_files.TESTS_FILE).write_text("not JSON")

    with pytest.raises(InputError, match=r"tests\.json"):
        sealing.seal(dataset, [me.recipient])
    assert not reopened(dataset).sealed


def test_nobody_to_seal_to_is_refused(dataset):
    with pytest.raises(InputError, match="no recipient"):
        sealing.seal(dataset)


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ("age1nonsense", "not a recipient"),
        ("ssh-dss AAAA", "not a recipient"),
        ("", "neither"),
        ("no/such/file", "neither"),
    ],
)
def test_what_is_no_recipient_is_refused(given, why):
    with pytest.raises(InputError, match=why):
        read_recipients([given])


def test_a_private_key_given_as_recipient_is_refused_and_not_repeated(me):
    secret = str(me.identity)

    with pytest.raises(InputError, match="private key") as caught:
        read_recipients([secret])
    assert secret not in str(caught.value)


@pytest.mark.parametrize("text", ["", "nothing of use", "AGE-SECRET-KEY-1QQQQ"])
def test_what_is_no_identity_is_refused(dataset, tmp_path, text):
    (tmp_path / "key").write_text(text)

    with pytest.raises(InputError, match="identity"):
        load_keys(str(tmp_path / "key"), dataset.path)


def test_an_identity_comes_from_a_command_that_no_shell_sees(dataset, me, tmp_path, monkeypatch):
    sealing.seal(dataset, [me.recipient])
    key = tmp_path / "my key"
    key.write_text(f"# a comment\n{me.identity}\n")

    keys = load_keys(f"command:cat '{key}'", dataset.path)

    assert tasks_of(dataset, keys)
    with pytest.raises(InputError, match="ended with"):
        load_keys("command:cat $HOME/nothing", dataset.path)
    with pytest.raises(InputError, match="not set"):
        load_keys("env:NO_SUCH_VARIABLE", dataset.path)


def test_hidden_files_in_gits_history_are_told(dataset, me):
    git = ["git", "-C", dataset.path, "-c", "user.name=me", "-c", "user.email=me@example.com"]
    process.run([*git, "init", "-q"])
    assert sealing.plain_copies(dataset.path) == ()
    process.run([*git, "add", "-A"])
    process.run([*git, "commit", "-qm", "in the clear"])

    sealing.seal(dataset, [me.recipient])

    assert "history" in sealing.plain_copies(dataset.path)[0]


def test_a_dataset_that_another_process_writes_is_not_sealed(dataset, me):
    lock = dataset.path / ".goldseam" / "lock"
    holder = os.open(lock, os.O_RDWR | os.O_CREAT)
    fcntl.flock(holder, fcntl.LOCK_EX)
    try:
        with pytest.raises(InputError, match="another goldseam"):
            sealing.seal(dataset, [me.recipient])
    finally:
        os.close(holder)


def test_a_log_of_our_own_bugs_quotes_nothing_once_a_sealed_task_was_open(dataset, me, monkeypatch, tmp_path):
    sealing.seal(dataset, [me.recipient])
    monkeypatch.setenv("GOLDSEAM_CACHE_DIR", str(tmp_path / "cache"))
    task = reopened(dataset, me.keys).task("tiny__calc-1")

    try:
        _ = {}[task.hidden.fail_to_pass[0]]
    except KeyError:
        log = bug_log.write().read_text()

    assert "KeyError" in log
    assert "test_two" not in log


def test_no_sealed_task_is_handed_out_without_a_line_in_the_ledger(dataset, me):
    sealing.seal(dataset, [me.recipient])
    before = len(ledger.read(dataset))

    tasks_of(dataset, me.keys)
    tasks_of(dataset, me.keys)

    new = ledger.read(dataset)[before:]
    assert [(entry.event, entry.tasks) for entry in new] == [("opened", dataset.ids())]


def test_where_the_ledger_cannot_be_written_no_sealed_task_is_handed_out(dataset, me):
    sealing.seal(dataset, [me.recipient])
    path = dataset.path / ledger.LEDGER_FILE
    path.unlink()
    path.mkdir()

    with pytest.raises(InputError, match="cannot be read: Is a directory"):
        reopened(dataset, me.keys).task("tiny__calc-1")


def test_readable_files_that_are_not_what_was_sealed_are_not_removed(dataset, me):
    sealing.seal(dataset, [me.recipient])
    place = dataset.task_folder("tiny__calc-1")
    for name, data in hidden_files.hidden_files(reopened(dataset, me.keys).task("tiny__calc-1").hidden).items():
        (place / name).write_bytes(data)
    sealing.seal(reopened(dataset))
    assert not (place / hidden_files.TESTS_FILE).exists()
    for name in (hidden_files.TESTS_FILE, hidden_files.GOLD_FILE, hidden_files.TEST_FILE):
        (place / name).write_text("{}")

    with pytest.raises(InputError, match="not what was sealed"):
        sealing.seal(reopened(dataset))
    assert (place / hidden_files.TESTS_FILE).read_text() == "{}"


def test_what_excuses_a_tripwire_is_part_of_a_tasks_content():
    told = {"FAIL_TO_PASS": ["t.py::a"], "evidence": {"runs": 3}}
    excused = {**told, "evidence": {"runs": 3, "tripwires": [{"kind": "frames", "path": "a.py"}]}}
    plain, other = ({"tests.json": json.dumps(one).encode()} for one in (told, excused))
    assert hidden_digest(plain) != hidden_digest(other)
    assert hidden_digest(plain) == hidden_digest({"tests.json": json.dumps({**told, "evidence": {}}).encode()})
