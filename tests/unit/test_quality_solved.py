"""Difficulty by what models came to: the rate, its interval, and when it stands in the rule's place."""

from __future__ import annotations

import pytest

from harness.core.errors import InputError
from harness.core.instance import Outcome
from harness.dataset.folder import open_dataset
from harness.quality.measuring import rate
from harness.quality.solved import Trial, difficulty_with, measured, tier_of
from harness.runs.run_folder import RunFolder
from harness.runs.task_metadata import read_facts
from tests import report_runs

RULE = {"tier": "hard", "by": "rule", "score": 6}


def trials(won: int, lost: int, model: str = "m") -> list[Trial]:
    return [Trial(model=model, resolved=number < won) for number in range(won + lost)]


@pytest.mark.parametrize(
    ("share", "tier"),
    [
        (1, "easy"),
        (0.75, "easy"),
        (0.74, "medium"),
        (0.4, "medium"),
        (0.39, "hard"),
        (0.1, "hard"),
        (0.09, "brutal"),
        (0, "brutal"),
    ],
)
def test_a_rate_has_a_tier(share, tier):
    assert tier_of(share).value == tier


def test_a_measured_rate_has_its_interval_and_the_tiers_of_its_ends():
    found = measured([*trials(4, 1), *trials(0, 5, "n")])

    assert found is not None
    assert (found.resolved, found.verdicts, found.models) == (4, 10, ("m", "n"))
    assert found.interval.low < 0.4 < found.interval.high
    assert (found.public()["hardest"], found.public()["easiest"]) == ("hard", "medium")


def test_without_a_verdict_there_is_nothing_measured():
    assert measured([]) is None


def test_enough_verdicts_stand_in_the_rule_s_place():
    found = measured(trials(5, 0))
    assert found is not None
    after = difficulty_with({"difficulty": RULE}, found)

    assert (after["tier"], after["by"], after["rule_tier"], after["score"]) == ("easy", "runs", "hard", 6)
    assert after["measured"]["models"] == ["m"]


def test_fewer_are_written_beside_it():
    found = measured(trials(4, 0))
    assert found is not None
    after = difficulty_with({"difficulty": RULE}, found)

    assert (after["tier"], after["by"]) == ("hard", "rule")
    assert after["measured"]["verdicts"] == 4


def test_a_later_measurement_replaces_an_earlier_one():
    first, second = measured(trials(5, 0)), measured(trials(0, 2))
    assert first is not None
    assert second is not None
    once = difficulty_with({"difficulty": RULE}, first)
    after = difficulty_with({"difficulty": once}, second)

    assert (after["tier"], after["by"], after["rule_tier"]) == ("hard", "rule", "hard")


def test_a_task_that_mining_never_rated_gets_a_tier_only_from_enough():
    few, many = measured(trials(1, 0)), measured(trials(0, 9))
    assert few is not None
    assert many is not None

    assert difficulty_with({}, few)["tier"] is None
    assert difficulty_with({}, many)["tier"] == "brutal"


@pytest.fixture
def bench(tmp_path):
    return report_runs.make_dataset(tmp_path / "bench", 3)


def run(path, dataset, outcomes: dict[str, list[Outcome]], *, task: int = 0, patch: str = "a"):
    ids = dataset.ids()
    made = [
        report_runs.add(
            path, ids[task], model, outcome, sample=number, patch=report_runs.PATCH.format(name=f"{patch}{number}")
        )
        for model, given in outcomes.items()
        for number, outcome in enumerate(given)
    ]
    RunFolder(path=path).write_predictions(made)
    return path


WON, LOST = Outcome.RESOLVED, Outcome.UNRESOLVED


def test_runs_are_written_into_the_tasks_where_reports_find_them(tmp_path, bench):
    first = run(tmp_path / "one", bench, {"m": [WON] * 4, "gold": [WON], "null": [LOST]})
    second = run(tmp_path / "two", bench, {"n": [LOST, LOST, WON]})
    rating = rate(bench, [first, second])

    assert [(one.after, one.measured.resolved, one.measured.verdicts) for one in rating.tasks] == [("medium", 5, 7)]
    assert rating.unmeasured == 2
    again = open_dataset(bench.path)
    assert read_facts(again)[bench.ids()[0]].difficulty == "medium"
    assert again.instance(bench.ids()[0]).quality["difficulty"]["measured"]["models"] == ["m", "n"]


def test_a_patch_scored_in_two_runs_counts_once(tmp_path, bench):
    one, two = (run(tmp_path / name, bench, {"m": [WON, LOST]}) for name in ("one", "two"))
    other = run(tmp_path / "three", bench, {"m": [LOST]}, patch="b")
    rating = rate(bench, [one, two, other], write=False)

    assert rating.tasks[0].measured.verdicts == 3
    assert rating.left_out == {"scored before": 2}


def test_infrastructure_errors_and_foreign_tasks_count_nowhere(tmp_path, bench):
    mixed = run(tmp_path / "one", bench, {"m": [WON, Outcome.INFRA_ERROR]})
    elsewhere = report_runs.make_dataset(tmp_path / "other", 4)
    foreign = run(tmp_path / "two", elsewhere, {"m": [WON]}, task=3)
    rating = rate(bench, [mixed, foreign], write=False)

    assert rating.tasks[0].measured.verdicts == 1
    assert rating.left_out == {"without a verdict": 1, "of tasks that are not here": 1}


def test_controls_alone_are_no_answer(tmp_path, bench):
    with pytest.raises(InputError, match="no run has a model's verdict"):
        rate(bench, [run(tmp_path / "one", bench, {"gold": [WON], "null": [LOST]})])


def test_a_dry_run_writes_nothing(tmp_path, bench):
    before = (bench.task_folder(bench.ids()[0]) / "task.yaml").read_bytes()
    rate(bench, [run(tmp_path / "one", bench, {"m": [WON] * 6})], write=False)

    assert (bench.task_folder(bench.ids()[0]) / "task.yaml").read_bytes() == before
