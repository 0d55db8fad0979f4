"""Scores by contamination window: each model's cut-off, and what a gap there says."""

from __future__ import annotations

from datetime import date

import pytest

from harness.analysis import cohorts
from harness.analysis.cohorts import CohortKey, Cutoffs, by_cohort, gap
from harness.cli.views import scores
from harness.core.errors import InputError
from harness.stats import two_groups
from tests.deferred import Deferred
from tests.sheets import LOST, WON, sheet, task

scipy_stats = Deferred("scipy.stats")
DAY = date(2025, 1, 1)
BEFORE, AFTER = "2024-06-01T00:00:00Z", "2025-06-01T00:00:00Z"


def model(won_before: int, before: int, won_after: int, after: int, *, name: str = "m"):
    tasks = [task(n, [WON if n < won_before else LOST], created_at=BEFORE) for n in range(before)]
    tasks += [task(100 + n, [WON if n < won_after else LOST], created_at=AFTER) for n in range(after)]
    return sheet(*tasks, model=name)


@pytest.mark.parametrize(("a", "n", "b", "m"), [(9, 10, 2, 10), (5, 8, 5, 8), (12, 12, 0, 5), (3, 30, 9, 20)])
def test_the_exact_test_is_fishers(a, n, b, m):
    ours = two_groups([1.0] * a + [0.0] * (n - a), [1.0] * b + [0.0] * (m - b))
    theirs = scipy_stats.fisher_exact([[a, n - a], [b, m - b]]).pvalue

    assert ours == pytest.approx(theirs, abs=0.02)


def test_groups_of_several_samples_are_permuted():
    assert two_groups([0.9, 1.0, 0.8, 0.9, 1.0, 0.9], [0.1, 0.2, 0.0, 0.1, 0.1, 0.3]) < 0.01
    assert two_groups([0.5, 0.4, 0.6], [0.5, 0.6, 0.4]) > 0.9


def test_an_empty_group_is_refused():
    with pytest.raises(ValueError, match="empty"):
        two_groups([], [1.0])


@pytest.mark.parametrize(
    ("found", "significant", "words"),
    [
        (model(18, 20, 6, 20), True, "may have seen the older ones"),
        (model(11, 20, 10, 20), False, "no sign"),
        (model(6, 20, 18, 20), True, "not a sign of contamination"),
        (model(4, 4, 0, 20), False, "too few tasks to tell"),
        (model(0, 0, 10, 20), False, "too few tasks to tell"),
    ],
)
def test_a_gap_is_told_in_plain_words(found, significant, words):
    made = gap(found, Cutoffs(every=DAY))

    assert made.is_significant is significant
    assert words in made.sentence()


def test_a_model_without_a_cut_off_has_no_gap():
    assert gap(model(1, 2, 1, 2), Cutoffs(by_model={"other": DAY})) is None


def test_each_model_is_parted_at_its_own_cut_off():
    known = Cutoffs(by_model={"a": DAY, "b*": date(2026, 1, 1)})
    labels = {
        name: [one.label for one in by_cohort(model(1, 2, 1, 2, name=name), CohortKey.CUTOFF, cutoff=known.of(name))]
        for name in ("a", "b2", "c")
    }

    assert labels == {"a": ["before 2025-01-01", "from 2025-01-01"], "b2": ["before 2026-01-01"], "c": ["unknown"]}


def test_the_command_line_goes_before_the_settings():
    found = cohorts.parse_cutoffs(["a=2025-01-01"], {"a": date(2020, 1, 1), "b": date(2021, 1, 1)})

    assert (found.of("a"), found.of("b"), found.of("c")) == (DAY, date(2021, 1, 1), None)


def test_a_day_alone_is_every_models():
    found = cohorts.parse_cutoffs(["2025-01-01", "b=2024-01-01"], {"a": date(2020, 1, 1)})

    assert (found.of("a"), found.of("b")) == (DAY, date(2024, 1, 1))


@pytest.mark.parametrize(
    "given", [["soon"], ["=2025-01-01"], ["a=x"], ["a=2025-01-01", "a=2025-01-02"], ["2025-01-01"] * 2]
)
def test_a_cut_off_that_is_none_is_refused(given):
    with pytest.raises(InputError, match="--cutoff"):
        cohorts.parse_cutoffs(given, {})


def test_json_holds_the_gap():
    [made] = scores.as_json([model(18, 20, 6, 20)], by=[CohortKey.CUTOFF], cutoffs=Cutoffs(every=DAY))["models"]

    assert made["cutoff_gap"]["significant"] is True
    assert made["cutoff_gap"]["tasks"] == [20, 20]
    assert [one["value"] for one in made["cohorts"]["cutoff"]] == ["before 2025-01-01", "from 2025-01-01"]
