"""By simulation: intervals cover as often as they say, tests cry wolf no oftener; benchmarks/intervals.py has all."""

from __future__ import annotations

import statistics

import numpy as np
import pytest

from harness.stats import Alternative, difference_interval, mean_interval, sign_flip, wilson

REPEATS = 1_000


def _counts(seed, *, tasks, samples, rate):
    random = np.random.default_rng(seed)
    return random.binomial(samples, random.beta(rate, 1 - rate, size=(REPEATS, tasks)))


def _covered(intervals, truth):
    return statistics.fmean(found.holds(truth) for found in intervals)


@pytest.mark.parametrize(("tasks", "samples", "rate"), [(20, 1, 0.3), (20, 4, 0.5), (50, 8, 0.3), (100, 4, 0.8)])
def test_the_interval_of_a_rate_holds_the_truth_19_times_in_20(tasks, samples, rate):
    counts = _counts(1, tasks=tasks, samples=samples, rate=rate)
    found = [mean_interval([c / samples for c in row], trials=tasks * samples) for row in counts.tolist()]

    assert 0.92 <= _covered(found, rate) <= 0.985


def test_samples_taken_as_independent_tasks_would_not():
    counts = _counts(1, tasks=50, samples=8, rate=0.3)
    pooled = [wilson(sum(row), 400) for row in counts.tolist()]

    assert _covered(pooled, 0.3) < 0.75


@pytest.mark.parametrize(("tasks", "samples"), [(20, 1), (20, 4), (100, 4)])
def test_the_interval_of_a_difference_holds_the_truth_19_times_in_20(tasks, samples):
    random = np.random.default_rng(2)
    base = random.beta(0.4, 0.6, size=(REPEATS, tasks))
    candidate = base + 0.2 * (1 - base) / 0.6  # better by 0.2 in the mean
    rows = ((random.binomial(samples, candidate) - random.binomial(samples, base)) / samples).tolist()

    assert 0.92 <= _covered([difference_interval(row, samples=samples) for row in rows], 0.2) <= 0.99


@pytest.mark.parametrize("alternative", [Alternative.TWO_SIDED, Alternative.LESS])
def test_the_same_model_twice_is_called_different_at_most_once_in_20(alternative):
    random = np.random.default_rng(3)
    chances = random.beta(0.5, 0.5, size=(REPEATS, 50))
    rows = ((random.binomial(4, chances) - random.binomial(4, chances)) / 4).tolist()

    alarms = statistics.fmean(sign_flip(row, alternative=alternative).p < 0.05 for row in rows)

    assert 0.01 <= alarms <= 0.065  # three standard errors above 0.05 would be 0.071
