"""What a comparison can see, against statsmodels, published sizes and enumeration."""

from __future__ import annotations

import itertools
import math

import pytest

from harness.stats import (
    mcnemar_detectable,
    mcnemar_exact,
    mcnemar_power,
    minimum_detectable_effect,
    needed_samples,
    needed_tasks,
)
from tests.deferred import Deferred

scipy_stats = Deferred("scipy.stats")
power = Deferred("statsmodels.stats.power")


def test_small_effects_are_those_of_millers_formula():
    found = minimum_detectable_effect(tasks=10_000, samples=4, between=0.02, within=0.2)

    assert found == pytest.approx((1.96 + 0.8416) * math.sqrt((0.02 + 0.2 / 4) / 10_000), rel=1e-3)


def test_small_effects_are_those_of_statsmodels():
    theirs = power.NormalIndPower(ddof=0).solve_power(nobs1=50_000, alpha=0.05, power=0.8, ratio=0)

    assert minimum_detectable_effect(tasks=50_000, samples=1, between=0.25, within=0) == pytest.approx(
        theirs * 0.5, rel=1e-3
    )


@pytest.mark.parametrize(("flipping", "effect"), [(0.3, 0.1), (0.5, 0.2), (0.2, 0.15)])
def test_the_tasks_needed_are_connors(flipping, effect):
    normal = scipy_stats.norm.ppf
    theirs = (normal(0.975) * math.sqrt(flipping) + normal(0.8) * math.sqrt(flipping - effect**2)) ** 2 / effect**2

    assert needed_tasks(effect, flipping - effect**2) == math.ceil(theirs)


def test_the_tasks_needed_are_just_enough_to_see_it():
    tasks = needed_tasks(0.1, 0.3)

    assert minimum_detectable_effect(tasks=tasks, samples=1, between=0.3, within=0) <= 0.1
    assert minimum_detectable_effect(tasks=tasks - 1, samples=1, between=0.3, within=0) > 0.1


def test_a_loss_needs_as_many_tasks_as_a_gain():
    assert needed_tasks(-0.1, 0.3) == needed_tasks(0.1, 0.3)


def test_no_difference_needs_no_number_of_tasks():
    assert needed_tasks(0.0, 0.3) is None


def test_the_samples_needed_are_just_enough_to_see_it():
    samples = needed_samples(0.1, tasks=200, between=0.1, within=0.3)

    def sees(number):
        return minimum_detectable_effect(tasks=200, samples=number, between=0.1, within=0.3) <= 0.1

    assert samples > 1
    assert sees(samples)
    assert not sees(samples - 1)


def test_no_number_of_samples_makes_up_for_too_few_tasks():
    assert needed_samples(0.1, tasks=20, between=0.1, within=0.3) is None


def test_a_large_effect_needs_one_sample():
    assert needed_samples(0.5, tasks=200, between=0.1, within=0.3) == 1


def test_the_power_of_mcnemars_test_is_the_sum_over_all_tables():
    tasks, flipping, effect = 9, 0.6, 0.4
    gain, loss = (flipping + effect) / 2, (flipping - effect) / 2
    total = 0.0
    for gained, lost in itertools.product(range(tasks + 1), repeat=2):
        if gained + lost <= tasks and mcnemar_exact(gained, lost).p < 0.05:
            chance = scipy_stats.multinomial.pmf(
                [gained, lost, tasks - gained - lost], tasks, [gain, loss, 1 - flipping]
            )
            total += chance

    assert mcnemar_power(tasks, flipping, effect) == pytest.approx(total)


@pytest.mark.parametrize(("tasks", "flipping"), [(20, 0.2), (60, 0.4), (150, 0.1)])
def test_the_detectable_effect_is_found_four_times_in_five(tasks, flipping):
    effect = mcnemar_detectable(tasks=tasks, flipping=flipping)

    assert mcnemar_power(tasks, max(flipping, effect), effect) == pytest.approx(0.8, abs=1e-6)


def test_five_tasks_of_one_sample_see_nothing():
    assert mcnemar_detectable(tasks=5, flipping=1.0) is None
    assert mcnemar_detectable(tasks=6, flipping=1.0) is not None


def test_the_exact_and_the_normal_formula_meet():
    exact, normal = mcnemar_detectable(tasks=200, flipping=0.3), mcnemar_detectable(tasks=201, flipping=0.3)

    assert exact == pytest.approx(normal, rel=0.05)


@pytest.mark.parametrize("given", [{"tasks": 0}, {"samples": 0}, {"between": -1}, {"within": -0.1}])
def test_impossible_plans_are_refused(given):
    with pytest.raises(ValueError, match="at least one task"):
        minimum_detectable_effect(**{"tasks": 10, "samples": 1, "between": 0.1, "within": 0.1, **given})


@pytest.mark.parametrize(("flipping", "effect"), [(0.0, 0.0), (1.2, 0.1), (0.2, 0.3)])
def test_impossible_flips_are_refused(flipping, effect):
    with pytest.raises(ValueError, match="flipping"):
        mcnemar_power(10, flipping, effect)
