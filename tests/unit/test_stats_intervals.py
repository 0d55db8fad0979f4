"""Intervals of means over tasks, against formulae worked out another way, scipy and statsmodels."""

from __future__ import annotations

import math

import numpy as np
import pytest

from benchmarks.intervals import bootstrap_interval
from harness.stats import Z_95, mean_interval, standard_error, wilson, worth_clustering
from tests.deferred import Deferred

scipy_stats = Deferred("scipy.stats")
statsmodels = Deferred("statsmodels.api")
proportion = Deferred("statsmodels.stats.proportion")


@pytest.mark.parametrize(("successes", "trials"), [(0, 7), (3, 10), (25, 50), (99, 100), (400, 400)])
def test_wilson_is_that_of_statsmodels(successes, trials):
    low, high = proportion.proportion_confint(successes, trials, method="wilson")
    found = wilson(successes, trials)

    assert (found.low, found.high) == (pytest.approx(low, abs=1e-12), pytest.approx(high, abs=1e-12))


def test_one_sample_a_task_gives_wilsons_interval():
    assert mean_interval([1.0] * 7 + [0.0] * 3) == wilson(7, 10)


def test_several_samples_give_wilsons_interval_on_the_effective_number_of_trials():
    values = [1.0, 0.75, 0.25, 0.0, 1.0, 0.5]
    mean, error = np.mean(values), scipy_stats.sem(values)
    shrink = (Z_95 / scipy_stats.t.ppf(0.975, len(values) - 1)) ** 2
    worth = mean * (1 - mean) / error**2 * shrink
    low, high = proportion.proportion_confint(mean * worth, worth, method="wilson")

    found = mean_interval(values, trials=24)

    assert (found.low, found.high) == (pytest.approx(low), pytest.approx(high))


def test_samples_that_all_agree_count_once_a_task():
    assert mean_interval([1.0] * 12, trials=12 * 8).low == pytest.approx(wilson(12, 12).low)


def test_the_effective_number_never_exceeds_the_samples():
    values = [0.5, 0.49, 0.51, 0.5, 0.5, 0.5]
    shrink = (Z_95 / scipy_stats.t.ppf(0.975, 5)) ** 2
    low, _ = proportion.proportion_confint(0.5 * 24 * shrink, 24 * shrink, method="wilson")

    assert mean_interval(values, trials=24).low == pytest.approx(low)


def test_one_task_tells_nothing_about_others_however_many_samples_it_has():
    found = mean_interval([0.5], trials=100)

    assert (found.low, found.high) == (0.0, 1.0)


def test_no_task_has_no_interval():
    assert mean_interval([]) is None
    assert bootstrap_interval([]) is None


@pytest.mark.parametrize("values", [[0.5, 1.1], [-0.1, 0.5], [math.nan, 1.0]])
def test_what_is_no_share_is_refused(values):
    with pytest.raises(ValueError, match="shares"):
        mean_interval(values)


def test_the_standard_error_by_task_is_scipys():
    values = [0.1, 0.9, 0.4, 0.4, 1.0]

    assert standard_error(values) == pytest.approx(scipy_stats.sem(values))


def test_the_clustered_standard_error_is_that_of_statsmodels():
    values = [0.9, 1.0, 0.8, 0.1, 0.2, 0.0, 0.5, 0.6]
    clusters = [1, 1, 1, 2, 2, 2, 3, 3]
    fit = statsmodels.OLS(values, np.ones(len(values))).fit(
        cov_type="cluster", cov_kwds={"groups": np.array(clusters), "use_correction": False}
    )

    assert standard_error(values, clusters) == pytest.approx(fit.bse[0] * math.sqrt(3 / 2))


def test_clusters_never_make_the_standard_error_smaller():
    values = [1.0, 0.0, 1.0, 0.0, 1.0, 0.0]  # each cluster holds one of each, so the clusters' means do not differ
    clusters = [1, 1, 2, 2, 3, 3]

    assert standard_error(values, clusters) == pytest.approx(scipy_stats.sem(values))


@pytest.mark.parametrize(("values", "clusters"), [([0.5], None), ([0.5], [1]), ([0.5, 0.6], ["a", "a"])])
def test_what_has_no_spread_has_no_standard_error(values, clusters):
    with pytest.raises(ValueError, match="no standard error"):
        standard_error(values, clusters)


def test_a_cluster_that_is_missing_is_noticed():
    with pytest.raises(ValueError, match="zip"):
        standard_error([0.1, 0.2, 0.3], ["a", "b"])


@pytest.mark.parametrize(
    ("labels", "worth"),
    [
        ([f"r{number % 10}" for number in range(20)], True),
        ([f"r{number % 9}" for number in range(20)], False),  # too few repositories
        ([f"r{number}" for number in range(20)], False),  # no two tasks share one
        ([f"r{number % 10}" for number in range(19)] + [None], False),
        ([], False),
    ],
)
def test_clusters_are_worth_it_from_ten_shared_repositories_on(labels, worth):
    assert worth_clustering(labels) is worth


def test_the_bootstrap_has_the_width_of_students_t_for_a_mean():
    values = np.random.default_rng(5).uniform(size=30)
    half = scipy_stats.t.ppf(0.975, 29) * scipy_stats.sem(values)

    found = bootstrap_interval(values.tolist())

    assert found.high - found.low == pytest.approx(2 * half, rel=0.03)
    assert (found.high + found.low) / 2 == pytest.approx(values.mean(), abs=0.01)


def test_the_bootstrap_agrees_with_scipys_at_the_same_percentiles():
    values = np.random.default_rng(6).uniform(size=400)
    theirs = scipy_stats.bootstrap((values,), np.mean, method="percentile", rng=np.random.default_rng(1))

    found = bootstrap_interval(values.tolist())  # with 400 values the percentiles are hardly expanded

    assert found.low == pytest.approx(theirs.confidence_interval.low, abs=0.003)
    assert found.high == pytest.approx(theirs.confidence_interval.high, abs=0.003)


def test_few_values_expand_the_percentiles_of_the_bootstrap():
    values = np.random.default_rng(8).uniform(size=8)
    tail = scipy_stats.norm.cdf(-math.sqrt(8 / 7) * scipy_stats.t.ppf(0.975, 7))
    theirs = scipy_stats.bootstrap(
        (values,),
        np.mean,
        method="percentile",
        confidence_level=1 - 2 * tail,
        rng=np.random.default_rng(1),
        n_resamples=50_000,
    )

    found = bootstrap_interval(values.tolist(), draws=50_000)

    assert found.low == pytest.approx(theirs.confidence_interval.low, abs=0.007)
    assert found.high == pytest.approx(theirs.confidence_interval.high, abs=0.007)


def test_the_bootstrap_draws_whole_clusters():
    values = [0.0] * 10 + [1.0] * 10
    by_task, by_cluster = bootstrap_interval(values), bootstrap_interval(values, clusters=[0] * 10 + [1] * 10)

    assert by_cluster.high - by_cluster.low > by_task.high - by_task.low
    assert (by_cluster.low, by_cluster.high) == (0.0, 1.0)


def test_the_bootstrap_says_the_same_twice():
    values = np.random.default_rng(7).uniform(size=30).tolist()

    assert bootstrap_interval(values) == bootstrap_interval(values)
    assert bootstrap_interval(values, seed=1) != bootstrap_interval(values, seed=2)


def test_a_bootstrap_without_a_draw_is_refused():
    with pytest.raises(ValueError, match="draw"):
        bootstrap_interval([0.5, 0.6], draws=0)
