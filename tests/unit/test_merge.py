"""Merging datasets, finding doubles, counting what there is."""

from __future__ import annotations

import signal
import sys
from dataclasses import replace
from datetime import date

import pyrage
import pytest

from harness.core import process
from harness.core.errors import InputError
from harness.core.instance import TaskState
from harness.dataset import inventory, policy, task_states
from harness.dataset.folder import create_dataset, open_dataset, write_task
from harness.dataset.ledger import ledger
from harness.dataset.merge import merge
from harness.dataset.seal import sealing
from harness.dataset.seal.identity import Keys
from harness.dataset.similarity import leaks, near
from tests import report_runs, tiny

DAY = date(2026, 11, 22)


def make(path, *numbers, **fields):
    tasks = [report_runs.make_task(number, **fields) for number in numbers]
    made = create_dataset(path, name=path.name)
    for task in tasks:
        gold = report_runs.PATCH.format(name=f"part_{task.instance_id}").replace("number", f"n{task.instance_id[-3:]}")
        write_task(
            made,
            replace(task, hidden=replace(task.hidden, gold_patch=gold.encode())),
            public_files={"Dockerfile": "FROM scratch\n"},
        )
    return open_dataset(path)


def ids(path) -> list[str]:
    return [name.rpartition("-")[2] for name in open_dataset(path).ids()]


def test_tasks_of_all_stand_in_the_new_one(tmp_path):
    one, two = make(tmp_path / "one", 1, 2), make(tmp_path / "two", 2, 3)
    found = merge([one, two], tmp_path / "out")

    assert ids(tmp_path / "out") == ["101", "102", "103"]
    assert [(part.name, len(part.tasks), len(part.same)) for part in found.parts] == [("one", 2, 0), ("two", 1, 1)]
    new = open_dataset(tmp_path / "out")
    assert new.task("acme__widgets-103").hidden == replace(
        two.task("acme__widgets-103").hidden, extra=new.task("acme__widgets-103").hidden.extra
    )


def test_one_id_with_two_contents_is_refused_with_both_named(tmp_path):
    one, two = make(tmp_path / "one", 1, 2), make(tmp_path / "two", 2)
    (two.task_folder("acme__widgets-102") / "problem_statement.md").write_text("Another.\n")

    with pytest.raises(InputError) as refused:
        merge([one, two], tmp_path / "out")
    assert all(text in refused.value.message for text in ("acme__widgets-102", str(one.path), str(two.path)))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["one", "two"]


def test_what_is_known_against_a_task_is_kept(tmp_path):
    one, two = make(tmp_path / "one", 1), make(tmp_path / "two", 1)
    task_states.retire(two, ["acme__widgets-101"], why="leaked")
    merge([one, two], tmp_path / "out")
    now = open_dataset(tmp_path / "out").instance("acme__widgets-101")

    assert (now.state, now.split, now.extra["retired"]) == (TaskState.RETIRED, "retired", "leaked")


def test_exposures_and_provenance_come_along(tmp_path):
    one, two = make(tmp_path / "one", 1), make(tmp_path / "two", 2)
    ledger.record_exposure(one, ["acme__widgets-101"], model="m", endpoint="https://a.example/v1", parts=["code"])
    merge([one, two], tmp_path / "out")
    entries = ledger.read(open_dataset(tmp_path / "out"))

    assert policy.exposures(entries)["acme__widgets-101"] == {"a.example": 1}
    told = {entry.facts["source"]: entry for entry in entries if entry.event == "merged"}
    assert told["one"].facts["ledger"] == ledger.head(one)
    assert told["two"].tasks == ("acme__widgets-102",)


def test_the_canaries_of_the_parts_are_still_looked_for(tmp_path):
    one, two = make(tmp_path / "one", 1), make(tmp_path / "two", 2)
    merge([one, two], tmp_path / "out")
    new = open_dataset(tmp_path / "out")
    canaries = leaks.index_of(new, hidden=new.task).canaries

    assert {found.canary.split()[-1].encode() for found in (new, one, two)} == set(canaries)
    texts = [path.read_text() for path in new.task_folder("acme__widgets-101").iterdir()]
    assert all(new.canary in text and one.canary not in text for text in texts)


def keyed(dataset):
    key = pyrage.x25519.Identity.generate()
    sealing.seal(dataset, [str(key.to_public())])
    return open_dataset(dataset.path), Keys(identities=(key,)), str(key.to_public())


def test_sealed_parts_of_the_same_recipients_need_no_key(tmp_path):
    one, keys, recipient = keyed(make(tmp_path / "one", 1))
    two = make(tmp_path / "two", 2)
    sealing.seal(two, [recipient])
    third = make(tmp_path / "three", 3)
    found = merge([one, open_dataset(two.path), third], tmp_path / "out")

    assert found.sealed_to == (recipient,)
    assert not list((tmp_path / "out").rglob("gold.patch"))
    new = open_dataset(tmp_path / "out", keys=keys)
    assert [task.instance_id[-3:] for task in new.tasks()] == ["101", "102", "103"]


def test_parts_sealed_to_others_need_their_key(tmp_path):
    one, _, _ = keyed(make(tmp_path / "one", 1))
    two, keys, _ = keyed(make(tmp_path / "two", 2))

    with pytest.raises(InputError, match="is sealed to"):
        merge([one, two], tmp_path / "out")
    merge([one, two.with_keys(keys)], tmp_path / "out")
    assert not list((tmp_path / "out").rglob("gold.patch"))


@pytest.mark.parametrize("count", [0, 1])
def test_less_than_two_parts_are_refused(tmp_path, count):
    with pytest.raises(InputError, match="two datasets"):
        merge([make(tmp_path / "one", 1)] * count, tmp_path / "out")


def test_a_part_given_twice_is_refused(tmp_path):
    with pytest.raises(InputError, match="each once"):
        merge([make(tmp_path / "one", 1)] * 2, tmp_path / "out")


def test_nothing_is_written_over(tmp_path):
    one, two = make(tmp_path / "one", 1), make(tmp_path / "two", 2)

    with pytest.raises(InputError, match="already exists"):
        merge([one, two], tmp_path / "one")


KILLED = """
import os, signal, sys
from pathlib import Path
from harness.dataset import merge
from harness.dataset.folder import open_dataset

merge._funnel = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
merge.merge([open_dataset(Path(name)) for name in sys.argv[2:]], Path(sys.argv[1]))
"""


def test_a_killed_merge_leaves_no_dataset_and_its_remains_go_with_the_next(tmp_path):
    one, two = make(tmp_path / "one", 1), make(tmp_path / "two", 2)
    done = process.run([sys.executable, "-c", KILLED, tmp_path / "out", one.path, two.path], check=False)
    assert done.returncode == -signal.SIGKILL
    assert not (tmp_path / "out").exists()
    assert len(list(tmp_path.iterdir())) == 3

    merge([one, two], tmp_path / "out")

    assert sorted(path.name for path in tmp_path.iterdir()) == ["one", "out", "two"]


OLD = "".join(f"def step_{n}(value, other):\n    return value * {n} + other\n\n\n" for n in range(8))
NEW = OLD.replace("value * 3 + other", "max(value, 0) * 3 + (other or default_for(value))")


def fix(number: int, *, more: str = "", old: str = OLD, new: str = NEW, statement: str = ""):
    task = report_runs.make_task(number, statement=statement or f"Step three of case {number} forgets the floor.")
    return replace(task, hidden=replace(task.hidden, gold_patch=(tiny.diff("src/a.py", old, new) + more).encode()))


def test_the_same_fix_under_two_ids_is_found():
    [twin] = near.twins([fix(1), fix(2), report_runs.make_task(3)])

    assert (twin.first, twin.second, twin.same_patch) == ("acme__widgets-101", "acme__widgets-102", True)


def test_a_backport_with_more_around_it_is_found():
    more = tiny.diff("CHANGES.rst", "", "".join(f"- change number {n} of many things\n" for n in range(20)))
    [twin] = near.twins([fix(1), fix(2, more=more)])

    assert (twin.fix, twin.same_patch) == (1.0, False)


def test_two_fixes_of_one_function_are_not_one():
    other = OLD.replace("value * 3 + other", "(value ** 3 - other) if other is not None else step_2(value, value)")

    assert near.twins([fix(1), fix(2, new=other)]) == ()


def test_of_a_group_the_first_merged_stays():
    found = near.twins([fix(1), fix(2), fix(3)])
    merged = {f"acme__widgets-10{n}": f"2024-0{4 - n}-01" for n in (1, 2, 3)}

    assert near.to_retire(found, merged) == {
        "acme__widgets-101": "acme__widgets-103",
        "acme__widgets-102": "acme__widgets-103",
    }


def test_what_there_is_is_counted(tmp_path):
    made = make(tmp_path / "one", 1, 2, 3)
    task_states.quarantine(made, ["acme__widgets-103"], why="flaky")
    found = inventory.take(open_dataset(made.path), today=DAY)

    assert found.states == {"proved": 2, "quarantined": 1}
    assert found.proved["repository"] == {"acme/widgets": 2}
    assert found.proved["strength"] == {"unknown": 2}
    assert found.proved["age"] == {"2 to 4 years": 2}
    assert (found.cost.tasks, found.cost.budget_seconds, found.cost.bytes) == (2, 600.0, None)


@pytest.mark.parametrize(
    ("value", "told"),
    [
        (0.8, "75% to 100%"),
        (1, "75% to 100%"),
        (0, "0% to 25%"),
        ({"tier": "weak"}, "weak"),
        ({"score": 0.3}, "25% to 50%"),
        ({}, "unknown"),
        (7, "unknown"),
        (True, "unknown"),
    ],
)
def test_strength_is_told_as_it_is_written(value, told):
    one = replace(report_runs.make_task(1).instance, quality={"strength": value})

    assert inventory.strength(one) == told


@pytest.mark.parametrize(
    ("sensitive", "word"),
    [({"share": 0.0}, "no"), ({"share": 0.5}, "in part"), ({"share": 1.0}, "wholly"), ({}, "unknown"), (1, "unknown")],
)
def test_whether_what_is_pinned_matters_is_counted_in_words(sensitive, word):
    one = replace(report_runs.make_task(1).instance, quality={"sensitive": sensitive})

    assert inventory.sensitive(one) == word


def test_shared_layers_count_once(tmp_path):
    layers = {"environment": {"layer_bytes": {"base": 100, "python": 50, "deps": 20, "task": 3}}}
    made = create_dataset(tmp_path / "ds")
    for number in (1, 2):
        task = report_runs.make_task(number)
        write_task(made, replace(task, instance=replace(task.instance, extra=layers)))
    cost = inventory.take(made).cost

    assert (cost.bytes, cost.sized) == (176, 2)


def test_a_sealed_dataset_is_counted_without_its_times(tmp_path):
    made, keys, _ = keyed(make(tmp_path / "one", 1))

    assert inventory.take(made).cost.gold_seconds is None
    assert inventory.take(made.with_keys(keys)).tasks == 1
