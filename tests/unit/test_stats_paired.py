"""Tests and intervals of a difference, against scipy, statsmodels and enumeration."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from harness.stats import Alternative, difference_interval, holm, least_error, mcnemar_exact, sign_flip
from harness.stats import paired as module
from tests.deferred import Deferred

scipy_stats = Deferred("scipy.stats")
contingency_tables = Deferred("statsmodels.stats.contingency_tables")
multitest = Deferred("statsmodels.stats.multitest")


@pytest.mark.parametrize(("gained", "lost"), [(0, 0), (1, 0), (6, 0), (3, 9), (10, 10), (40, 61)])
def test_mcnemar_is_that_of_statsmodels(gained, lost):
    theirs = contingency_tables.mcnemar([[5, gained], [lost, 7]], exact=True).pvalue if gained + lost else 1.0

    assert mcnemar_exact(gained, lost).p == pytest.approx(theirs)


def test_six_flips_in_one_direction_are_the_fewest_that_tell():
    assert mcnemar_exact(5, 0).p >= 0.05
    assert mcnemar_exact(6, 0).p < 0.05


def test_negative_counts_are_refused():
    with pytest.raises(ValueError, match="counts"):
        mcnemar_exact(-1, 2)


@pytest.mark.parametrize("alternative", list(Alternative))
def test_with_one_sample_a_task_the_sign_flip_test_is_the_binomial_one_as_mcnemars_is(alternative):
    differences = [1.0] * 9 + [-1.0] * 2 + [0.0] * 14

    assert sign_flip(differences, alternative=alternative).p == pytest.approx(
        scipy_stats.binomtest(9, 11, alternative=alternative.value).pvalue
    )
    assert sign_flip(differences).p == pytest.approx(mcnemar_exact(9, 2).p)


DIFFERENCES = [0.25, 0.5, -0.25, 0.75, 0.0, 0.25, 1 / 3, -1 / 6]


@pytest.mark.parametrize(("alternative", "name"), [(each, each.value) for each in Alternative])
def test_the_sign_flip_test_is_scipys_permutation_test(alternative, name):
    theirs = scipy_stats.permutation_test(
        (np.array(DIFFERENCES),), np.mean, permutation_type="samples", alternative=name, n_resamples=np.inf
    )

    assert sign_flip(DIFFERENCES, alternative=alternative).p == pytest.approx(theirs.pvalue)


@pytest.mark.parametrize("alternative", list(Alternative))
def test_the_three_ways_to_count_patterns_agree(alternative):
    steps = [3, -1, 4, 1, -5, 9, 2, 6, 5, 3, 5]
    signs = list(itertools.product([1, -1], repeat=len(steps)))
    sums = [sum(sign * step for sign, step in zip(pattern, steps, strict=True)) for pattern in signs]
    total = sum(steps)
    extreme = {
        Alternative.LESS: [found <= total for found in sums],
        Alternative.GREATER: [found >= total for found in sums],
        Alternative.TWO_SIDED: [abs(found) >= abs(total) for found in sums],
    }[alternative]
    exact = sum(extreme) / len(extreme)

    assert module._by_table(steps, alternative) == pytest.approx(exact)
    assert module._by_enumeration(steps, alternative) == pytest.approx(exact)
    assert module._by_chance(steps, alternative, 200_000) == pytest.approx(exact, abs=0.004)


def test_random_patterns_count_the_observed_one_so_p_is_never_zero():
    assert module._by_chance([1.0] * 60, Alternative.GREATER, 99) == pytest.approx(1 / 100)


def test_many_awkward_denominators_are_counted_by_chance_and_say_so():
    random = np.random.default_rng(3)
    differences = [(random.integers(-90, 90) * 2 + 1) / d for d in range(101, 181) for _ in range(2)]

    found = sign_flip(differences, draws=2_000)

    assert "2000 random patterns" in found.method
    assert found == sign_flip(differences, draws=2_000)


def test_few_awkward_denominators_are_counted_exactly():
    differences = [1 / 97, -1 / 89, 1 / 83, 1 / 79, 1 / 73, 1 / 71, -1 / 67, 1 / 61]
    theirs = scipy_stats.permutation_test((np.array(differences),), np.mean, permutation_type="samples")

    found = sign_flip(differences)

    assert "exact" in found.method
    assert found.p == pytest.approx(theirs.pvalue)


def test_no_difference_at_all_is_no_evidence():
    found = sign_flip([0.0] * 30)

    assert (found.p, found.informative) == (1.0, 0)


def test_clusters_flip_as_one():
    by_cluster = sign_flip([1.0] * 12, clusters=[1] * 6 + [2] * 6)

    assert (by_cluster.p, by_cluster.informative) == (0.5, 2)


def test_a_cluster_that_is_missing_is_noticed():
    with pytest.raises(ValueError, match="zip"):
        sign_flip([1.0, 1.0], clusters=[1])
    with pytest.raises(ValueError, match="zip"):
        difference_interval([1.0, 0.0, 1.0], clusters=[1, 2])


def test_the_interval_of_a_difference_is_students_paired_one():
    differences = [0.5, 0.25, -0.25, 0.75, 0.0, 0.5, 0.25, 1.0]
    theirs = scipy_stats.ttest_1samp(differences, 0).confidence_interval()

    found = difference_interval(differences, samples=4)

    assert (found.low, found.high) == (pytest.approx(theirs.low), pytest.approx(theirs.high))


def test_two_models_that_agree_on_all_tasks_may_still_differ():
    found = difference_interval([0.0] * 20)
    half = scipy_stats.t.ppf(0.975, 19) * math.sqrt(2) / 20

    assert (found.low, found.high) == (pytest.approx(-half), pytest.approx(half))


def test_more_samples_lower_the_floor_of_the_interval():
    one, many = difference_interval([0.0] * 20), difference_interval([0.0] * 20, samples=16)

    assert many.high == pytest.approx(one.high / 4)
    assert least_error(tasks=20, samples=16) == pytest.approx(math.sqrt(2) / 80)


def test_one_task_tells_nothing_about_the_difference_on_others():
    found = difference_interval([0.5])

    assert (found.low, found.high) == (-1.0, 1.0)
    assert difference_interval([]) is None


def test_the_interval_stays_among_possible_differences():
    assert difference_interval([1.0] * 4).high == 1.0


def test_clusters_widen_the_interval_of_a_difference():
    differences = [0.5] * 10 + [-0.25] * 10 + [0.25] * 10
    clusters = [1] * 10 + [2] * 10 + [3] * 10
    by_task, by_cluster = difference_interval(differences), difference_interval(differences, clusters=clusters)

    assert by_cluster.high - by_cluster.low > by_task.high - by_task.low


@pytest.mark.parametrize("p_values", [[0.01, 0.04, 0.03, 0.005], [0.5], [0.9, 0.8, 0.04], [0.02, 0.02, 0.02], []])
def test_holm_is_that_of_statsmodels(p_values):
    theirs = multitest.multipletests(p_values, method="holm")[1] if p_values else []

    assert holm(p_values) == pytest.approx(tuple(theirs))
