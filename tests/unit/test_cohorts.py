"""A sheet broken down: who belongs where, and that nobody is lost."""

from __future__ import annotations

from datetime import date

import pytest

from harness.analysis.cohorts import CohortKey, by_cohort
from harness.analysis.scoresheet import SampleScore, TaskScore
from harness.analysis.usage import Usage
from harness.core.errors import InputError
from harness.judging.places import Place
from harness.runs.task_metadata import TaskFacts
from harness.stats import wilson
from tests.sheets import LOST, WON, sheet, task


def labels(cohorts):
    return [cohort.label for cohort in cohorts]


@pytest.mark.parametrize(
    ("key", "field"),
    [
        (CohortKey.REPO, "repo"),
        (CohortKey.LANGUAGE, "language"),
        (CohortKey.DIFFICULTY, "difficulty"),
        (CohortKey.TASK_TYPE, "task_type"),
        (CohortKey.SPLIT, "split"),
    ],
)
def test_tasks_are_parted_by_their_facts(key, field):
    found = by_cohort(sheet(task(1, **{field: "b"}), task(2, [LOST], **{field: "a"}), task(3, **{field: "b"})), key)

    assert labels(found) == ["a", "b"]
    assert [(cohort.sheet.resolved, cohort.sheet.verdicts) for cohort in found] == [(0, 1), (2, 2)]


def test_tasks_are_parted_by_where_they_are_judged():
    tasks = (task(1, place=Place.INSIDE), task(2, place=None), task(3, place=Place.MIXED), task(4))

    found = by_cohort(sheet(*tasks), CohortKey.JUDGED)

    assert [(cohort.label, len(cohort.sheet.tasks)) for cohort in found] == [("host", 1), ("mixed", 1), ("inside", 2)]


def test_a_cohort_has_its_own_interval():
    found = by_cohort(sheet(task(1), task(2, [LOST]), task(3)), CohortKey.REPO)

    assert found[0].sheet.rate.interval == wilson(2, 3)


def test_what_is_not_known_stands_last():
    found = by_cohort(sheet(task(1, difficulty=None), task(2, difficulty="zz")), CohortKey.DIFFICULTY)

    assert labels(found) == ["zz", "unknown"]
    assert found[1].value is None


def test_the_window_starts_on_the_cut_off_date():
    tasks = [
        task(1, created_at="2025-03-30T23:59:59Z"),
        task(2, [LOST], created_at="2025-03-31T00:00:00Z"),
        task(3, created_at=None),
    ]
    found = by_cohort(sheet(*tasks), CohortKey.WINDOW, cutoff=date(2025, 3, 31))

    assert labels(found) == ["before 2025-03-31", "from 2025-03-31", "unknown"]
    assert [cohort.sheet.resolved for cohort in found] == [1, 0, 1]


def test_a_window_without_a_date_is_refused():
    with pytest.raises(InputError, match="needs a date"):
        by_cohort(sheet(task(1)), CohortKey.WINDOW)


def test_a_cohort_covers_what_was_asked_of_it():
    missing = {"x": TaskFacts(repo="acme/other"), "y": TaskFacts(repo="acme/widgets")}
    found = by_cohort(sheet(task(1), missing=missing), CohortKey.REPO)

    assert labels(found) == ["acme/other", "acme/widgets"]
    assert [(cohort.sheet.coverage, cohort.sheet.total) for cohort in found] == [(0.0, 1), (0.5, 2)]


def sampled(number, *usages):
    samples = tuple(
        SampleScore(sample=index, outcome=outcome, usage=usage) for index, (outcome, usage) in enumerate(usages)
    )
    return TaskScore(instance_id=f"t{number}", samples=samples)


def test_a_temperature_sweep_is_parted_by_sample():
    cold, hot = Usage(temperature=0.2), Usage(temperature=1.0)
    found = by_cohort(
        sheet(sampled(1, (WON, cold), (LOST, hot)), sampled(2, (WON, cold), (WON, cold), (LOST, hot))),
        CohortKey.TEMPERATURE,
    )

    assert labels(found) == ["0.2", "1"]
    assert [(cohort.sheet.resolved, cohort.sheet.verdicts) for cohort in found] == [(3, 3), (0, 2)]


def test_temperatures_stand_in_the_order_of_numbers():
    found = by_cohort(sheet(sampled(1, *((WON, Usage(temperature=t)) for t in (10, 9, 0)))), CohortKey.TEMPERATURE)

    assert labels(found) == ["0", "9", "10"]


def test_tiers_stand_from_easy_to_brutal():
    tiers = ["hard", "easy", "brutal", "medium", "own"]
    found = by_cohort(sheet(*(task(n, difficulty=tier) for n, tier in enumerate(tiers))), CohortKey.DIFFICULTY)

    assert labels(found) == ["easy", "medium", "hard", "brutal", "own"]


def test_a_task_not_tried_with_a_prompt_is_uncovered_there():
    found = by_cohort(
        sheet(sampled(1, (WON, Usage(prompt="a")), (WON, Usage(prompt="b"))), sampled(2, (WON, Usage(prompt="a")))),
        CohortKey.PROMPT,
    )

    assert [(cohort.label, cohort.sheet.coverage) for cohort in found] == [("a", 1.0), ("b", 0.5)]


def test_a_model_is_one_cohort():
    found = by_cohort(sheet(task(1), task(2), model="m"), CohortKey.MODEL)

    assert labels(found) == ["m"]
    assert found[0].sheet.total == 2


def test_a_sheet_without_tasks_has_no_cohorts():
    assert by_cohort(sheet(), CohortKey.REPO) == ()
