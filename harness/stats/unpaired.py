"""Two groups of tasks: are they as hard for one model? Pure."""

from __future__ import annotations

import math
import random
import statistics
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

DRAWS = 20_000
_TOLERANCE = 1e-9


def two_groups(first: Sequence[float], two: Sequence[float], *, draws: int = DRAWS, seed: int = 0) -> float:
    """Two-sided p-value of "the groups are alike", by permutation of the tasks between them.

    The statistic is the difference of the means, from 0 to 1. Where every value is 0 or 1 the p-value is exact: the
    hypergeometric probability of a difference as large (Fisher's exact test with that order). Else it is that of
    `draws` random permutations, counting the observed one.

    Source: R. A. Fisher, "The design of experiments" (1935), section 21; B. Phipson and G. K. Smyth, "Permutation
    p-values should never be zero", Statistical Applications in Genetics and Molecular Biology 9 (2010), article 39.

    Raises:
        ValueError: a group is empty.

    """
    if not first or not two:
        raise ValueError("a group is empty")
    if all(value in (0.0, 1.0) for value in (*first, *two)):
        return _exact(len(first), round(sum(first)), len(two), round(sum(two)))
    chance = random.Random(seed)  # noqa: S311 - for a statistic, not for a secret
    values, smaller = [*first, *two], min(first, two, key=len)
    expected = statistics.fmean(values) * len(smaller)  # the difference of the means grows with that from this sum
    observed = abs(math.fsum(smaller) - expected) - _TOLERANCE
    as_far = sum(abs(sum(chance.sample(values, len(smaller))) - expected) >= observed for _ in range(draws))
    return (as_far + 1) / (draws + 1)


def _exact(first: int, won_first: int, second: int, won_second: int) -> float:
    """Over every way in which the wins could fall into the groups."""
    won = won_first + won_second
    observed = abs(won_first / first - won_second / second)
    ways = math.comb(first + second, won)
    as_far = 0
    for wins in range(max(0, won - second), min(first, won) + 1):
        if abs(wins / first - (won - wins) / second) >= observed - _TOLERANCE:
            as_far += math.comb(first, wins) * math.comb(second, won - wins)
    return as_far / ways
