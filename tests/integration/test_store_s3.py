"""Datasets in an object store: a real S3-speaking server, through the program's own commands."""

from __future__ import annotations

import json
import logging
import shutil

import pyrage
import pytest

from harness.core.errors import InfrastructureError, InputError
from harness.dataset.folder import open_dataset
from harness.dataset.ledger import chain, ledger
from harness.interop import mirrors, store, sync
from tests import tiny
from tests.program import goldseam
from tests.tiny import goldseam as goldseam_in_a_process

SECRET = "the-secret-that-nobody-may-read"
URL = "s3://holdouts/team/calc"


@pytest.fixture(scope="module")
def bucket():
    """A client of a server of its own, and the environment that leads to it."""
    import boto3  # noqa: PLC0415 - with the server a second, of every worker
    from moto.server import ThreadedMotoServer  # noqa: PLC0415

    server = ThreadedMotoServer(port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    with pytest.MonkeyPatch.context() as patched:
        for name, value in (("AWS_ENDPOINT_URL", f"http://{host}:{port}"), ("AWS_ACCESS_KEY_ID", "an-access-key-id"),
                            ("AWS_SECRET_ACCESS_KEY", SECRET), ("AWS_DEFAULT_REGION", "us-east-1")):  # fmt: skip
            patched.setenv(name, value)
        client = boto3.client("s3")
        client.create_bucket(Bucket="holdouts")
        yield client
        client.close()
    server.stop()


@pytest.fixture
def s3(bucket, monkeypatch, tmp_path):
    """The client; nothing is in the bucket, and nothing in the cache."""
    monkeypatch.setenv("GOLDSEAM_CACHE_DIR", str(tmp_path / "cache"))
    for item in bucket.list_objects_v2(Bucket="holdouts").get("Contents", ()):
        bucket.delete_object(Bucket="holdouts", Key=item["Key"])
    return bucket


@pytest.fixture
def dataset(tmp_path):
    return tiny.dataset(tmp_path / "dataset", tiny.task(), tiny.task(instance_id="tiny__calc-2"))


def push(folder):
    return sync.push(open_dataset(folder), URL, allow_unsealed=True)


def pull(folder):
    return sync.pull(URL, folder)


def files(folder):
    paths = (path.relative_to(folder) for path in folder.rglob("*") if path.is_file())
    return {path.as_posix(): (folder / path).read_bytes() for path in paths if not path.parts[0].startswith(".")}


def say(folder, text, *, task="tiny__calc-1"):
    """Give a task another statement."""
    (folder / f"tasks/{task}/problem_statement.md").write_text(text)


def test_what_was_pushed_is_what_is_pulled(s3, dataset, tmp_path):
    done = goldseam("holdout", "push", dataset.path, URL, "--allow-unsealed")
    assert (done.returncode, "revision 1" in done.stdout) == (0, True), done.error_text
    done = goldseam("holdout", "pull", URL, tmp_path / "copy", "--json")
    assert json.loads(done.stdout)["revision"] == 1
    assert files(tmp_path / "copy") == files(dataset.path)


def test_a_second_push_uploads_what_changed_alone(s3, dataset):
    push(dataset.path)
    say(dataset.path, "Adding subtracts, alas.\n")
    done = push(dataset.path)
    assert (done.revision, done.changed) == (2, 1)


def test_a_push_without_a_change_makes_no_revision(s3, dataset):
    push(dataset.path)
    assert push(dataset.path).revision == 1


def test_hidden_files_that_lie_open_are_not_pushed(s3, dataset):
    done = goldseam("holdout", "push", dataset.path, URL)
    assert (done.returncode, s3.list_objects_v2(Bucket="holdouts")["KeyCount"]) == (2, 0)
    assert "not sealed" in done.error_text


def test_a_push_that_dies_half_way_leaves_the_former_revision_readable(s3, dataset, tmp_path, monkeypatch):
    push(dataset.path)
    before = files(dataset.path)
    say(dataset.path, "Another.\n")

    def killed(_self, _revision):
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(store.Store, "commit", killed)
        with pytest.raises(KeyboardInterrupt):
            push(dataset.path)
    pull(tmp_path / "copy")
    assert files(tmp_path / "copy") == before
    assert push(dataset.path).revision == 2


def test_of_two_pushers_at_once_the_second_is_refused_and_overwrites_nothing(s3, dataset, tmp_path, monkeypatch):
    push(dataset.path)
    pull(tmp_path / "other")
    say(dataset.path, "Mine.\n")
    say(tmp_path / "other", "Theirs.\n")
    commit = store.Store.commit

    def late(self, revision):
        monkeypatch.setattr(store.Store, "commit", commit)
        push(tmp_path / "other")  # between the first one's look and its last step
        return commit(self, revision)

    monkeypatch.setattr(store.Store, "commit", late)
    with pytest.raises(store.TakenError, match="nothing was overwritten"):
        push(dataset.path)
    pull(tmp_path / "fresh")
    assert (tmp_path / "fresh/tasks/tiny__calc-1/problem_statement.md").read_text() == "Theirs.\n"


def test_a_copy_that_is_behind_is_told_to_pull_and_then_holds_both_sides_work(s3, dataset, tmp_path):
    push(dataset.path)
    pull(tmp_path / "other")
    say(tmp_path / "other", "Theirs.\n", task="tiny__calc-2")
    push(tmp_path / "other")
    say(dataset.path, "Mine.\n")
    with pytest.raises(sync.BehindError) as caught:
        push(dataset.path)
    assert "goldseam holdout pull" in caught.value.hint
    pull(dataset.path)
    push(dataset.path)
    pull(tmp_path / "other")
    assert files(tmp_path / "other") == files(dataset.path)


def test_a_file_changed_on_both_sides_is_named_and_kept(s3, dataset, tmp_path):
    push(dataset.path)
    pull(tmp_path / "other")
    say(tmp_path / "other", "Theirs.\n")
    push(tmp_path / "other")
    say(dataset.path, "Mine.\n")
    with pytest.raises(InputError, match=r"tasks/tiny__calc-1/problem_statement\.md"):
        pull(dataset.path)
    assert (dataset.path / "tasks/tiny__calc-1/problem_statement.md").read_text() == "Mine.\n"


def test_a_task_taken_away_there_is_gone_here_after_a_pull(s3, dataset, tmp_path):
    push(dataset.path)
    pull(tmp_path / "other")
    shutil.rmtree(tmp_path / "other/tasks/tiny__calc-2")
    push(tmp_path / "other")
    pull(dataset.path)
    assert open_dataset(dataset.path).ids() == ("tiny__calc-1",)


def test_no_line_of_either_sides_ledger_is_lost(s3, dataset, tmp_path):
    push(dataset.path)
    pull(tmp_path / "other")
    other = open_dataset(tmp_path / "other")
    ledger.record(other, ledger.Event.EVALUATED, ["tiny__calc-1"], by="them")
    push(other.path)
    ledger.record(dataset, ledger.Event.EVALUATED, ["tiny__calc-2"], by="us")
    with pytest.raises(sync.BehindError, match="a push would lose them"):
        push(dataset.path)
    pull(dataset.path)
    push(dataset.path)
    pull(other.path)
    for folder in (dataset.path, other.path):
        known = open_dataset(folder)
        assert {entry.facts.get("by") for entry in ledger.read(known)} >= {"them", "us"}
        assert chain.verify(known).problems == ()
    assert push(other.path).revision == push(dataset.path).revision == 3


def test_a_flipped_byte_in_the_store_is_noticed(s3, dataset, tmp_path):
    push(dataset.path)
    found = s3.list_objects_v2(Bucket="holdouts", Prefix="team/calc/objects/")["Contents"]
    key = max(found, key=lambda item: item["Size"])["Key"]
    data = bytearray(s3.get_object(Bucket="holdouts", Key=key)["Body"].read())
    data[0] ^= 1
    s3.put_object(Bucket="holdouts", Key=key, Body=bytes(data))
    with pytest.raises(InputError, match="is not what its revision says"):
        pull(tmp_path / "copy")
    assert not (tmp_path / "copy").exists()


def test_a_content_that_is_gone_is_named(s3, dataset, tmp_path):
    push(dataset.path)
    found = s3.list_objects_v2(Bucket="holdouts", Prefix="team/calc/objects/")["Contents"]
    s3.delete_object(Bucket="holdouts", Key=found[0]["Key"])
    with pytest.raises(InputError, match="lacks the content of"):
        pull(tmp_path / "copy")


def test_another_dataset_is_not_pushed_over_one(s3, dataset, tmp_path):
    push(dataset.path)
    with pytest.raises(InputError, match="holds another dataset"):
        push(tiny.dataset(tmp_path / "other", tiny.task()).path)


def test_reading_commands_take_the_url(s3, dataset):
    push(dataset.path)
    shutil.rmtree(dataset.path)
    done = goldseam("holdout", "check", URL)
    assert (done.returncode, "2 tasks, no problem found" in done.stdout) == (0, True), done.error_text


def test_what_a_reading_command_adds_to_the_ledger_goes_back_to_the_store(s3, dataset, tmp_path):
    push(dataset.path)
    assert goldseam("holdout", "export", URL, "--format", "jsonl", "-o", tmp_path / "rows.jsonl").returncode == 0
    pull(tmp_path / "copy")
    assert ledger.read(open_dataset(tmp_path / "copy"))[-1].event == ledger.Event.EXPORTED


def test_what_two_commands_at_once_add_to_the_ledger_goes_back_whole(s3, dataset, tmp_path):
    push(dataset.path)
    told = []
    mine = mirrors.local_copy(URL)
    done = goldseam_in_a_process("holdout", "export", URL, "--format", "jsonl", "-o", tmp_path / "rows.jsonl")
    assert done.returncode == 0, done.error_text
    ledger.record(open_dataset(mine), ledger.Event.EVALUATED, by="me")
    mirrors.write_back(told.append)
    assert told == []
    pull(tmp_path / "copy")
    events = [entry.event for entry in ledger.read(open_dataset(tmp_path / "copy"))]
    assert [event for event in events if event != "bound"] == ["created", "evaluated", "exported", "joined"]


def test_a_store_that_takes_nothing_back_is_told_with_where_the_lines_are(s3, dataset, monkeypatch):
    push(dataset.path)
    told = []

    def refused(_self, _contents):
        raise InfrastructureError("no write access")

    copy = mirrors.local_copy(URL)
    ledger.record(open_dataset(copy), ledger.Event.EVALUATED)
    monkeypatch.setattr(store.Store, "upload", refused)
    mirrors.write_back(told.append)
    assert [str(copy) in text and "no write access" in text for text in told] == [True]


def test_a_store_filled_anew_is_copied_anew(s3, dataset, tmp_path):
    push(dataset.path)
    mirrors.local_copy(URL)
    mirrors.write_back(str)
    for item in s3.list_objects_v2(Bucket="holdouts")["Contents"]:
        s3.delete_object(Bucket="holdouts", Key=item["Key"])
    other = tiny.dataset(tmp_path / "other", tiny.task(instance_id="tiny__calc-9"))
    push(other.path)
    assert open_dataset(mirrors.local_copy(URL)).ids() == ("tiny__calc-9",)
    mirrors.write_back(str)


def test_a_command_that_changes_a_dataset_refuses_a_url():
    done = goldseam("holdout", "canary", URL)
    assert (done.returncode, "goldseam holdout pull" in done.error_text) == (2, True)


def test_an_address_with_nothing_behind_it_says_so(s3, tmp_path):
    with pytest.raises(InputError, match="holds no dataset"):
        sync.pull("s3://holdouts/nothing", tmp_path / "copy")


def test_a_store_that_cannot_be_reached_is_infrastructure_and_tells_no_secret(s3, dataset, caplog):
    caplog.set_level(logging.DEBUG)
    done = goldseam("holdout", "push", dataset.path, "s3://no-such-bucket/x", "--allow-unsealed")
    assert done.returncode == 4
    assert SECRET not in done.error_text + done.stdout


def test_a_revision_that_names_a_file_outside_is_refused(s3, dataset, tmp_path):
    push(dataset.path)
    key = "team/calc/revisions/00000001.json"
    revision = json.loads(s3.get_object(Bucket="holdouts", Key=key)["Body"].read())
    revision["files"]["../outside"] = next(iter(revision["files"].values()))
    s3.put_object(Bucket="holdouts", Key=key, Body=json.dumps(revision).encode())
    with pytest.raises(InputError, match="may not name the file"):
        pull(tmp_path / "copy")


def test_pulling_again_over_a_pull_that_died_completes_it(s3, dataset, tmp_path):
    push(dataset.path)
    pull(tmp_path / "copy")
    for task in ("tiny__calc-1", "tiny__calc-2"):
        say(dataset.path, "Newer.\n", task=task)
    push(dataset.path)
    say(tmp_path / "copy", "Newer.\n")  # as far as it came
    pull(tmp_path / "copy")
    assert files(tmp_path / "copy") == files(dataset.path)


def test_a_sealed_dataset_is_pushed_without_a_hidden_byte(s3, dataset, tmp_path):
    identity = pyrage.x25519.Identity.generate()
    done = goldseam("holdout", "seal", dataset.path, "--to", str(identity.to_public()))
    assert done.returncode == 0, done.error_text
    assert goldseam("holdout", "push", dataset.path, URL).returncode == 0
    stored = [item["Key"] for item in s3.list_objects_v2(Bucket="holdouts")["Contents"]]
    content = b"".join(s3.get_object(Bucket="holdouts", Key=key)["Body"].read() for key in stored)
    assert b"Adding subtracts" in content
    assert not [secret for secret in (b"test_two", b"return a + b") if secret in content]
    (tmp_path / "key").write_text(str(identity))
    argv = (
        "holdout",
        "export",
        URL,
        "--to",
        "jsonl",
        "--with-hidden",
        "--identity",
        tmp_path / "key",
        "-o",
        tmp_path / "rows",
    )
    assert goldseam(*argv).returncode == 0
    assert "test_two" in (tmp_path / "rows").read_text()
