"""Splits: a task stays where it is however the dataset grows, and the version follows the content."""

from __future__ import annotations

import random
from dataclasses import replace

import pyrage
import pytest

from harness.core.errors import InputError
from harness.core.instance import TaskState
from harness.dataset import content, splits, task_states
from harness.dataset.folder import open_dataset, write_instances, write_task
from harness.dataset.hidden_files import HIDDEN_FILES
from harness.dataset.ledger import ledger
from harness.dataset.seal import sealing
from harness.dataset.splits import By, Rule, Split
from harness.runs import evaluate
from harness.solve import plan
from tests import report_runs, tiny


def instance(number: int, repo: str = "acme/widgets", created: str = "2024-01-01T00:00:00Z", **fields):
    return replace(report_runs.make_task(number, repo=repo).instance, created_at=created, **fields)


def crowd(seed: int, count: int):
    chance = random.Random(seed)
    return [
        instance(
            number,
            repo=f"acme/{chance.choice('abcdefghijklmnop')}",
            created=f"20{chance.randint(15, 26)}-0{chance.randint(1, 9)}-1{chance.randint(0, 9)}T00:00:00Z",
        )
        for number in range(count)
    ]


RULES = [
    Rule(by=By.REPO_HASH, dev_share=0.3, seed="s"),
    Rule(by=By.TASK_HASH, dev_share=0.3, seed="s"),
    Rule.model_validate({"by": "date", "dev_before": "2021-01-01"}),
    Rule(by=By.LIST, dev=("acme/a", "acme__widgets-103")),
]


@pytest.mark.parametrize("rule", RULES, ids=[rule.by for rule in RULES])
def test_adding_tasks_never_moves_an_old_one(rule):
    for seed in range(20):
        everything = crowd(seed, 60)
        chance = random.Random(seed)
        few = chance.sample(everything, 20)
        then = {one.instance_id: rule.split(one) for one in few}
        chance.shuffle(everything)
        now = {one.instance_id: rule.split(one) for one in everything}

        assert {task_id: now[task_id] for task_id in then} == then, seed
        assert set(now.values()) == {Split.DEV, Split.HOLDOUT}, seed


@pytest.mark.parametrize("seed", range(5))
def test_a_repository_is_never_in_both_by_its_hash(seed):
    rule = Rule(by=By.REPO_HASH, dev_share=0.5, seed=str(seed))
    where: dict[str, set[Split]] = {}
    for one in crowd(seed, 200):
        where.setdefault(one.repo, set()).add(rule.split(one))

    assert {len(found) for found in where.values()} == {1}


def test_about_the_share_asked_for_is_for_developing():
    rule = Rule(by=By.TASK_HASH, dev_share=0.2)
    dev = sum(rule.split(instance(number)) is Split.DEV for number in range(2000))

    assert 340 < dev < 460


def test_a_repository_keeps_its_split_whatever_the_case_of_its_name():
    rule = Rule(by=By.REPO_HASH, dev_share=0.5)

    assert all(
        rule.split(instance(1, repo=f"Acme/Part{n}")) is rule.split(instance(1, repo=f"acme/part{n}"))
        for n in range(30)
    )


def test_a_retired_task_stays_retired():
    gone = [instance(1, split="retired"), instance(2, state=TaskState.RETIRED)]

    assert splits.moves(Rule(by=By.TASK_HASH, dev_share=1), gone) == ()


@pytest.mark.parametrize(
    ("raw", "what"),
    [
        ({"by": "date"}, "needs dev_before"),
        ({"by": "moon"}, "by:"),
        ({"by": "repo-hash", "dev_share": 2}, "dev_share"),
        ({"by": "date", "dev_before": "soon"}, "dev_before"),
        ({}, "by"),
    ],
)
def test_a_rule_that_is_none_is_refused(raw, what):
    with pytest.raises(InputError, match=what):
        splits.parse_rule(raw, where="dataset.yaml")


@pytest.fixture
def dataset(tmp_path):
    return report_runs.make_dataset(tmp_path / "ds", 6)


def where(dataset):
    return {one.instance_id: one.split for one in dataset.instances()}


def test_a_rule_moves_tasks_and_stands_in_the_ledger(dataset):
    moved = splits.set_rule(dataset, Rule(by=By.LIST, dev=("acme__widgets-101",)))

    assert [(move.instance_id, move.old, move.new) for move in moved] == [("acme__widgets-101", "holdout", Split.DEV)]
    assert where(dataset)["acme__widgets-101"] == "dev"
    entry = ledger.read(dataset)[-1]
    assert (entry.event, entry.tasks, entry.facts["to"]) == ("split", ("acme__widgets-101",), "dev")


def test_a_task_that_comes_later_gets_its_split(dataset):
    splits.set_rule(dataset, Rule(by=By.LIST, dev=("acme/gears",)))
    write_task(dataset, report_runs.make_task(50, repo="acme/gears"))
    content.settle(dataset)

    assert [task_id for task_id, split in where(dataset).items() if split == "dev"] == ["acme__widgets-150"]


def test_a_shown_task_does_not_come_back_unasked(dataset):
    splits.set_rule(dataset, Rule(by=By.LIST, dev=("acme__widgets-101",)))
    with pytest.raises(InputError, match="come back into the holdout"):
        splits.set_rule(dataset, Rule(by=By.LIST))
    assert where(dataset)["acme__widgets-101"] == "dev"

    splits.set_rule(dataset, Rule(by=By.LIST), may_return=True)
    assert where(dataset)["acme__widgets-101"] == "holdout"


def test_a_dry_run_changes_nothing(dataset):
    assert splits.set_rule(dataset, Rule(by=By.LIST, dev=("acme__widgets-101",)), dry_run=True)
    assert splits.rule_of(dataset) is None
    assert set(where(dataset).values()) == {"holdout"}


def version(dataset) -> int:
    return open_dataset(dataset.path).version


def test_the_first_content_is_the_version_that_was(dataset):
    assert not content.settle(dataset).changed
    assert version(dataset) == 1


def test_the_version_goes_up_only_when_the_content_changes(dataset):
    content.settle(dataset)
    seen = [version(dataset)]
    for change in (
        lambda: write_task(dataset, report_runs.make_task(50)),
        lambda: None,
        lambda: write_task(dataset, report_runs.make_task(50)),
        lambda: task_states.quarantine(dataset, ["acme__widgets-101"], why="flaky"),
        lambda: task_states.quarantine(dataset, ["acme__widgets-101"], why="flaky"),
        lambda: (dataset.task_folder("acme__widgets-102") / "test.patch").write_bytes(b"other\n"),
        lambda: (dataset.task_folder("acme__widgets-102") / "problem_statement.md").write_text("other\n"),
        lambda: (dataset.path / "funnel.jsonl").write_text("{}\n"),
    ):
        change()
        content.settle(dataset)
        seen.append(version(dataset))

    assert seen == [1, 2, 2, 2, 3, 3, 4, 5, 5]


def test_what_is_measured_of_a_task_is_no_content(dataset):
    before = content.content_of(dataset)
    one = dataset.instance("acme__widgets-101")
    write_instances(dataset, (replace(one, quality={"difficulty": "hard"}),))

    assert content.content_of(dataset) == before


def test_two_datasets_with_the_same_tasks_have_the_same_content(dataset, tmp_path):
    other = report_runs.make_dataset(tmp_path / "other", 6)

    assert content.content_of(dataset) == content.content_of(other)


def test_a_task_without_its_hidden_side_has_no_content(dataset):
    for name in HIDDEN_FILES:
        (dataset.task_folder("acme__widgets-101") / name).unlink(missing_ok=True)

    with pytest.raises(InputError, match="its content is unknown"):
        content.content_of(dataset)


def test_a_run_scores_the_split_asked_for(dataset):
    splits.set_rule(dataset, Rule(by=By.LIST, dev=("acme__widgets-101",)))

    assert evaluate.scorable_ids(dataset, split="dev") == ("acme__widgets-101",)
    assert len(evaluate.scorable_ids(dataset, split="holdout")) == 5
    assert len(evaluate.scorable_ids(dataset)) == 6
    with pytest.raises(InputError, match="in split 'retired'"):
        evaluate.scorable_ids(dataset, split="retired")


def test_predictions_for_other_splits_are_left_out(dataset):
    splits.set_rule(dataset, Rule(by=By.LIST, dev=("acme__widgets-101",)))
    given = [tiny.prediction(instance_id=f"acme__widgets-10{n}") for n in range(3)]
    inside, others = evaluate.of_split(dataset, given, "holdout")

    assert [one.instance_id for one in inside] == ["acme__widgets-100", "acme__widgets-102"]
    assert [one.instance_id for one in others] == ["acme__widgets-101"]


def test_sealing_changes_no_content(dataset):
    key = pyrage.x25519.Identity.generate()
    before = content.settle(dataset)
    sealed = sealing.seal(dataset, [str(key.to_public())])
    now = content.settle(open_dataset(dataset.path))

    assert sealed.sealed
    assert (now.content, now.number) == (before.content, before.number)


def test_a_task_written_into_a_sealed_dataset_tells_its_content(dataset, tmp_path):
    key = pyrage.x25519.Identity.generate()
    plain = report_runs.make_dataset(tmp_path / "plain", 7)
    sealing.seal(dataset, [str(key.to_public())])
    write_task(open_dataset(dataset.path), report_runs.make_task(6))

    assert content.content_of(open_dataset(dataset.path)) == content.content_of(plain)


@pytest.mark.parametrize(
    ("asked", "ids", "split"),
    [(None, (), "holdout"), (None, ("a",), None), ("all", (), None), ("dev", (), "dev"), ("dev", ("a",), "dev")],
)
def test_models_work_on_the_holdout_unless_told_otherwise(asked, ids, split):
    assert plan.of_split(asked, ids) == split
