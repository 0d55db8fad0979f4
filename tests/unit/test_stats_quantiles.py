"""Distributions worked out by hand, against scipy."""

from __future__ import annotations

import pytest

from harness.stats.intervals import t_quantile
from harness.stats.planning import mcnemar_power
from tests.deferred import Deferred

stats = Deferred("scipy.stats")


@pytest.mark.parametrize("confidence", [0.5, 0.9, 0.95, 0.99, 0.999])
@pytest.mark.parametrize("freedom", [1, 2, 3, 4, 7, 30, 299, 5000])
def test_a_t_quantile_is_scipys(confidence, freedom):
    assert t_quantile(confidence, freedom) == pytest.approx(stats.t.ppf((1 + confidence) / 2, freedom), rel=1e-9)


@pytest.mark.parametrize(("tasks", "flipping", "effect"), [(8, 1, 1), (20, 0.5, 0.5), (60, 0.3, 0.1)])
def test_the_power_of_mcnemar_is_what_scipys_binomials_sum_to(tasks, flipping, effect):
    gains = (flipping + effect) / (2 * flipping)
    power = sum(
        stats.binom.pmf(flips, tasks, flipping) * stats.binom.pmf(won, flips, gains)
        for flips in range(1, tasks + 1)
        for won in range(flips + 1)
        if 2 * stats.binom.cdf(min(won, flips - won), flips, 0.5) < 0.05
    )

    assert mcnemar_power(tasks, flipping, effect) == pytest.approx(power, abs=1e-9)
