"""The ledger: nothing is lost, and what was done to it afterwards is found."""

from __future__ import annotations

import json
import re
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from harness.core import process
from harness.core.errors import InputError
from harness.dataset.folder import DATASET_FILE, create_dataset, open_dataset
from harness.dataset.ledger import chain, ledger
from harness.dataset.ledger.ledger import Event
from harness.dataset.model_files import read_model, write_model
from harness.dataset.schema import DatasetModel
from tests import killed


@pytest.fixture(autouse=True)
def _me(monkeypatch):
    monkeypatch.setenv("GOLDSEAM_USER", "me@example.com")
    monkeypatch.delenv("GOLDSEAM_LEDGER_KEY", raising=False)


@pytest.fixture
def dataset(tmp_path):
    return create_dataset(tmp_path / "dataset", name="tiny")


@pytest.fixture
def told(dataset):
    """A dataset whose ledger has five lines."""
    for number in range(4):
        ledger.record(dataset, Event.EVALUATED, [f"a__b-{number}"], models=["m"])
    return dataset


def path_of(dataset):
    return dataset.path / ledger.LEDGER_FILE


def lines_of(dataset):
    return path_of(dataset).read_bytes().splitlines(keepends=True)


def whats(dataset, **more):
    return [problem.text for problem in chain.verify(dataset, **more).problems]


def test_an_entry_tells_what_happened_to_which_tasks_when_and_by_whom(dataset):
    ledger.record(dataset, Event.EXPORTED, ["a__b-1"], to="somewhere")

    entry = ledger.read(dataset)[-1]

    assert (entry.event, entry.tasks, entry.who) == ("exported", ("a__b-1",), "me@example.com")
    assert dict(entry.facts) == {"to": "somewhere"}
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", entry.at)


def test_a_new_dataset_has_a_first_line_with_its_canary(dataset):
    first = json.loads(lines_of(dataset)[0])

    assert (first["event"], first["canary"], first["prev"]) == ("created", dataset.canary, "0" * 64)


def test_an_exposure_names_model_provider_and_what_was_shown_and_no_secret_of_the_address(dataset):
    address = "https://user:token@api.example.com/v1?key=abc"

    ledger.record_exposure(dataset, ["a__b-1"], model="m", endpoint=address, parts={"statement", "code"})

    facts = ledger.read(dataset)[-1].facts
    assert facts == {"model": "m", "endpoint": "https://api.example.com/v1", "shown": ["code", "statement"]}


def test_what_no_task_can_be_shown_of_is_a_mistake(dataset):
    with pytest.raises(ValueError, match="tests"):
        ledger.record_exposure(dataset, ["a__b-1"], model="m", endpoint="local", parts={"tests"})


def test_who_is_gits_user_where_nobody_is_named(dataset, monkeypatch):
    monkeypatch.delenv("GOLDSEAM_USER")
    process.run(["git", "init", "-q", dataset.path])
    process.run(["git", "-C", dataset.path, "config", "user.email", "git@example.com"])
    ledger._address_in_git.cache_clear()

    assert ledger.record(dataset, Event.SPLIT).who == "git@example.com"


def test_an_untouched_ledger_has_no_problem(told):
    found = chain.verify(told)

    assert (found.entries, found.problems, found.unsigned) == (5, (), (1, 2, 3, 4, 5))


@pytest.mark.parametrize(
    ("field", "value"), [("who", "else@example.com"), ("models", ["n"]), ("tasks", []), ("at", "2020-01-01T00:00:00Z")]
)
def test_a_changed_line_is_found(told, field, value):
    lines = lines_of(told)
    lines[2] = json.dumps({**json.loads(lines[2]), field: value}).encode() + b"\n"
    path_of(told).write_bytes(b"".join(lines))

    problems = chain.verify(told).problems

    assert [(one.line, one.text.partition(":")[0]) for one in problems] == [(3, "it was changed")]


def test_a_line_changed_with_its_hash_is_found_by_the_line_after_it(told):
    lines = lines_of(told)
    fields = {**json.loads(lines[2]), "who": "else@example.com"}
    lines[2] = chain.render({**fields, "hash": ledger.digest(fields)}) + b"\n"
    path_of(told).write_bytes(b"".join(lines))

    assert any("is missing, or was changed" in what for what in whats(told))


def test_a_value_hidden_behind_another_of_the_same_name_is_found(told):
    lines = lines_of(told)
    lines[2] = lines[2].replace(b'"who"', b'"who": "else@example.com", "who"', 1)
    path_of(told).write_bytes(b"".join(lines))

    assert any("it was changed" in what for what in whats(told))


@pytest.mark.parametrize("gone", [0, 1, 3])
def test_a_missing_line_is_found(told, gone):
    lines = lines_of(told)
    del lines[gone]
    path_of(told).write_bytes(b"".join(lines))

    assert any("is missing" in what for what in whats(told))


@pytest.mark.parametrize("first", [0, 1, 3])
def test_reordered_lines_are_found(told, first):
    lines = lines_of(told)
    lines[first], lines[first + 1] = lines[first + 1], lines[first]
    path_of(told).write_bytes(b"".join(lines))

    assert any("reordered" in what for what in whats(told))


def test_a_repeated_line_is_found(told):
    lines = lines_of(told)
    path_of(told).write_bytes(b"".join([*lines, lines[-1]]))

    assert "it is repeated" in whats(told)


def test_a_cut_end_is_found_with_a_remembered_head(told):
    head = ledger.head(told)
    path_of(told).write_bytes(b"".join(lines_of(told)[:-1]))

    assert whats(told) == []
    assert any("cut off" in what for what in whats(told, head=head))
    assert any("cut off" in what for what in whats(told, head=head[:12]))


@pytest.mark.parametrize("head", ["", "abc", "no hash at all"])
def test_a_head_that_is_no_hash_is_refused(told, head):
    with pytest.raises(InputError, match="head"):
        chain.verify(told, head=head)


def test_the_ledger_of_another_dataset_is_found(told, tmp_path):
    other = create_dataset(tmp_path / "other")
    path_of(told).write_bytes(path_of(other).read_bytes())

    assert any("another dataset" in what for what in whats(told))


def test_a_line_cut_short_stays_and_the_next_one_tells_of_it(told):
    with path_of(told).open("ab") as file:
        file.write(b'{"schema_version": 1, "seq": 6, "at"')

    before = ledger.read(told)
    entry = ledger.record(told, Event.OPENED, ["a__b-1"])

    assert len(before) == 5
    assert [one["bytes"] for one in entry.facts["torn"]] == [36]
    assert [one.seq for one in ledger.read(told)] == [1, 2, 3, 4, 5, 6]
    found = chain.verify(told)
    assert (found.problems, found.notes) == ((), ("line 6 was cut short; line 7 says so",))


def test_a_whole_line_without_its_line_feed_counts(told):
    path_of(told).write_bytes(path_of(told).read_bytes()[:-1])

    ledger.record(told, Event.OPENED)

    assert len(ledger.read(told)) == 6
    assert whats(told) == []


def test_a_broken_line_that_nothing_explains_stops_reading(told):
    lines = lines_of(told)
    lines[2] = b"not JSON\n"
    path_of(told).write_bytes(b"".join(lines))

    with pytest.raises(InputError, match="line 3 is broken"):
        ledger.read(told)


def test_a_newer_line_is_refused_with_the_hint_to_upgrade(told):
    lines = lines_of(told)
    path_of(told).write_bytes(b"".join(lines).replace(b'"schema_version": 1', b'"schema_version": 2'))

    with pytest.raises(InputError, match="schema_version 2"):
        ledger.read(told)


def test_killed_at_any_point_of_an_append_the_ledger_reads_and_goes_on(dataset):
    step, was_killed = 0, True
    while was_killed:
        step += 1
        for half in (False, True):
            was_killed = killed.at(step, lambda: ledger.record(dataset, Event.OPENED, ["a__b-1"]), half=half)
            ledger.read(dataset)
            ledger.record(dataset, Event.EVALUATED, [f"after-{step}"])
            assert whats(dataset) == []

    assert step > 3
    assert any(entry.facts.get("torn") for entry in ledger.read(dataset))


APPEND = """
import os, sys
os.fsync = lambda handle: None  # no matter here, and half of the time
from pathlib import Path
from harness.dataset.folder import open_dataset
from harness.dataset.ledger.ledger import Event, record
dataset = open_dataset(Path(sys.argv[1]))
for number in range(500):
    record(dataset, Event.EVALUATED, [f"{sys.argv[2]}-{number}"])
"""


def test_two_processes_that_append_at_once_lose_no_line(dataset):
    with ThreadPoolExecutor(2) as both:
        list(both.map(lambda name: process.run([sys.executable, "-c", APPEND, dataset.path, name]), ("a", "b")))

    found = [entry.tasks[0] for entry in ledger.read(dataset)[1:]]

    for name in ("a", "b"):
        assert [one for one in found if one.startswith(f"{name}-")] == [f"{name}-{number}" for number in range(500)]
    assert whats(dataset) == []


def test_a_ledger_that_cannot_be_written_is_said(dataset):
    path_of(dataset).unlink()
    path_of(dataset).mkdir()

    with pytest.raises(InputError, match="cannot write"):
        ledger.record(dataset, Event.OPENED)


@pytest.fixture
def key(tmp_path, monkeypatch):
    """A signing key in use; its public half as OpenSSH writes it."""
    private = Ed25519PrivateKey.generate()
    file = tmp_path / "ledger.key"
    kinds = (serialization.Encoding.PEM, serialization.PrivateFormat.OpenSSH, serialization.NoEncryption())
    file.write_bytes(private.private_bytes(*kinds))
    monkeypatch.setenv("GOLDSEAM_LEDGER_KEY", str(file))
    kinds = (serialization.Encoding.OpenSSH, serialization.PublicFormat.OpenSSH)
    return private.public_key().public_bytes(*kinds).decode() + " me@host"


def list_key(dataset, public):
    path = dataset.path / DATASET_FILE
    model = read_model(path, DatasetModel)
    write_model(path, model.model_copy(update={"ledger_keys": (public,)}))
    return open_dataset(dataset.path)


def test_signed_lines_hold_against_the_keys_that_the_dataset_lists(dataset, key):
    dataset = list_key(dataset, key)
    ledger.record(dataset, Event.OPENED)

    found = chain.verify(dataset)

    assert (found.problems, found.unsigned) == ((), (1,))


def test_a_signature_by_an_unlisted_key_is_a_problem(dataset, key):
    ledger.record(dataset, Event.OPENED)

    assert any("does not list" in what for what in whats(dataset))


def test_a_ledger_rewritten_whole_without_the_key_is_found(dataset, key):
    dataset = list_key(dataset, key)
    ledger.record(dataset, Event.OPENED)
    *first, last = lines_of(dataset)
    fields = {**json.loads(last), "event": "evaluated"}
    fields["hash"] = ledger.digest(fields)
    path_of(dataset).write_bytes(b"".join(first) + chain.render(fields) + b"\n")

    assert whats(dataset) == ["its signature does not hold"]


def test_a_signature_that_was_taken_away_is_found(dataset, key):
    dataset = list_key(dataset, key)
    ledger.record(dataset, Event.OPENED)
    *first, last = lines_of(dataset)
    fields = json.loads(last)
    del fields["signature"]
    path_of(dataset).write_bytes(b"".join(first) + chain.render(fields) + b"\n")

    assert whats(dataset) == ["its signature was taken away"]


@pytest.mark.parametrize("text", ["", "no key", "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n"])
def test_what_is_no_signing_key_is_refused(dataset, tmp_path, monkeypatch, text):
    (tmp_path / "key").write_text(text)
    monkeypatch.setenv("GOLDSEAM_LEDGER_KEY", str(tmp_path / "key"))

    with pytest.raises(InputError, match="GOLDSEAM_LEDGER_KEY"):
        ledger.record(dataset, Event.OPENED)


@pytest.fixture
def merged(told):
    """A dataset in git, after a merge of two branches that both wrote to the ledger."""
    git = ["git", "-C", told.path, "-c", "user.name=me", "-c", "user.email=me@example.com"]
    process.run([*git, "init", "-q", "-b", "main"])
    process.run([*git, "add", "-A"])
    process.run([*git, "commit", "-qm", "one"])
    process.run([*git, "checkout", "-qb", "other"])
    ledger.record(told, Event.OPENED, ["theirs-1"])
    ledger.record(told, Event.OPENED, ["theirs-2"])
    process.run([*git, "commit", "-qam", "theirs"])
    process.run([*git, "checkout", "-q", "main"])
    ledger.record(told, Event.OPENED, ["ours-1"])
    process.run([*git, "commit", "-qam", "ours"])
    process.run([*git, "merge", "-q", "-m", "both", "other"])
    return told


def test_a_merge_in_git_keeps_both_branches_and_is_told(merged):
    tasks = [entry.tasks for entry in ledger.read(merged)]

    assert {("ours-1",), ("theirs-1",), ("theirs-2",)} <= set(tasks)
    assert ["a branch of the ledger ends here" in what for what in whats(merged)] == [True]


def test_joining_the_branches_of_a_merge_mends_the_ledger(merged):
    joined = chain.join(merged, merged.path)

    assert joined.entry is not None
    assert joined.entry.seq == 8
    assert whats(merged) == []
    ledger.record(merged, Event.OPENED)
    assert whats(merged) == []


def test_joining_another_copys_ledger_takes_the_lines_that_ours_lacks(told, tmp_path):
    copy = tmp_path / "copy.jsonl"
    copy.write_bytes(path_of(told).read_bytes())
    ledger.append(copy, Event.OPENED, tasks=["theirs"])
    ledger.record(told, Event.OPENED, ["ours"])

    joined = chain.join(told, copy)

    assert (joined.added, joined.entry.event) == (1, "joined")
    assert whats(told) == []
    assert chain.join(told, copy) == chain.Join(added=0, entry=None)


def test_a_joined_branch_that_is_taken_out_again_is_found(merged):
    chain.join(merged, merged.path)
    lines = lines_of(merged)
    path_of(merged).write_bytes(b"".join(line for line in lines if b"ours-1" not in line))

    assert any("joins a branch that is missing" in what for what in whats(merged))


def test_a_ledger_of_another_dataset_is_not_joined(told, tmp_path):
    other = create_dataset(tmp_path / "other")

    with pytest.raises(InputError, match="another dataset"):
        chain.join(told, other.path)


def test_marks_of_a_conflict_are_named_as_such(told):
    lines = lines_of(told)
    path_of(told).write_bytes(b"".join([*lines[:3], b"<<<<<<< HEAD\n", *lines[3:]]))

    assert any("git's mark of a conflict" in what for what in whats(told))
