"""pass@k and pass^k, against counting every choice of k samples."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import pytest

from harness.stats import pass_at_k, pass_hat_k


@pytest.mark.parametrize(
    ("samples", "resolved", "k"), [(n, c, k) for n in (1, 4, 7) for c in range(n + 1) for k in range(1, n + 1)]
)
def test_both_are_the_share_of_choices_that_hold(samples, resolved, k):
    results = [True] * resolved + [False] * (samples - resolved)
    choices = list(itertools.combinations(results, k))

    assert pass_at_k(samples, resolved, k) == pytest.approx(sum(map(any, choices)) / len(choices))
    assert pass_hat_k(samples, resolved, k) == pytest.approx(sum(map(all, choices)) / len(choices))


@pytest.mark.parametrize("k", [1, 100, 5_000])
def test_ten_thousand_samples_neither_overflow_nor_cancel(k):
    samples, resolved = 10_000, 17
    exact = 1 - Fraction(math.comb(samples - resolved, k), math.comb(samples, k))
    every = Fraction(math.comb(resolved, k), math.comb(samples, k))

    assert pass_at_k(samples, resolved, k) == pytest.approx(float(exact), rel=1e-9)
    assert pass_hat_k(samples, resolved, k) == pytest.approx(float(every), rel=1e-9)


def test_it_is_unbiased_where_the_plug_in_is_not():
    chance, samples, k = 0.3, 5, 3
    weights = [math.comb(samples, c) * chance**c * (1 - chance) ** (samples - c) for c in range(samples + 1)]
    truth = 1 - (1 - chance) ** k

    ours = sum(weight * pass_at_k(samples, c, k) for c, weight in enumerate(weights))
    plug_in = sum(weight * (1 - (1 - c / samples) ** k) for c, weight in enumerate(weights))

    assert ours == pytest.approx(truth)
    assert abs(plug_in - truth) > 0.02


@pytest.mark.parametrize("of", [pass_at_k, pass_hat_k])
@pytest.mark.parametrize(("samples", "resolved", "k"), [(5, 6, 1), (5, -1, 1), (5, 2, 0), (5, 2, 6), (0, 0, 1)])
def test_impossible_numbers_are_refused(of, samples, resolved, k):
    with pytest.raises(ValueError, match="expected"):
        of(samples, resolved, k)
