"""Wilson's interval, against values got another way."""

from __future__ import annotations

import math

import pytest

from harness.stats import Z_95, wilson


@pytest.mark.parametrize(
    ("successes", "trials", "low", "high"),
    [
        # By hand from the closed forms for the ends: 0 of n gives [0, z²/(n+z²)], n of n its mirror image.
        (0, 10, 0.0, 0.27753),
        (10, 10, 0.72247, 1.0),
        # 81 of 263: Newcombe, Statistics in Medicine 17 (1998), table I, method 3.
        (81, 263, 0.2553, 0.3662),
        (15, 148, 0.0624, 0.1605),
        (0, 20, 0.0, 0.1611),
        (1, 29, 0.0061, 0.1718),
    ],
)
def test_intervals_are_those_of_published_tables(successes, trials, low, high):
    found = wilson(successes, trials)
    assert found is not None
    assert (found.low, found.high) == (pytest.approx(low, abs=6e-5), pytest.approx(high, abs=6e-5))


@pytest.mark.parametrize(("successes", "trials"), [(1, 3), (7, 35), (27, 39), (399, 400)])
def test_both_ends_solve_the_score_equation_they_are_the_roots_of(successes, trials):
    found = wilson(successes, trials)
    assert found is not None
    share = successes / trials
    for end in (found.low, found.high):
        assert abs(share - end) / math.sqrt(end * (1 - end) / trials) == pytest.approx(Z_95)


def test_no_trial_gives_no_interval():
    assert wilson(0, 0) is None


@pytest.mark.parametrize(("successes", "trials"), [(-1, 3), (4, 3), (0, -1)])
def test_impossible_counts_are_refused(successes, trials):
    with pytest.raises(ValueError, match="successes"):
        wilson(successes, trials)
