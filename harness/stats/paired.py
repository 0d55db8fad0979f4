"""Two models on the same tasks, or one on two groups of them: tests and intervals of the difference. Pure.

A difference is always candidate less base, task by task.
"""

from __future__ import annotations

import math
import random
import statistics
from collections import defaultdict
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction

from harness.stats.intervals import Interval, standard_error, t_quantile

LEVEL = 0.05
"""A difference is claimed where its p-value, adjusted where several are looked at, is below this."""
EXACT_UP_TO = 20
"""Non-zero differences of which every pattern of signs is looked at."""
MONTE_CARLO_DRAWS = 100_000
_LARGEST_TABLE = 50_000_000
_LARGEST_DENOMINATOR = 10_000
_TOLERANCE = 1e-9
"""Two sums of the same differences that are added in another order count as equal."""
DRAWS = 20_000


class Alternative(StrEnum):
    """What a test looks for."""

    TWO_SIDED = "two-sided"
    LESS = "less"
    """The candidate is worse."""
    GREATER = "greater"
    """The candidate is better."""


@dataclass(frozen=True, kw_only=True)
class PairedTest:
    """The result of a test of "there is no difference"."""

    p: float
    method: str
    """In words for a person, such as `exact McNemar`."""
    informative: int
    """Tasks (or clusters) on which the two differ; the others say nothing about which is better."""


def mcnemar_exact(gained: int, lost: int) -> PairedTest:
    """One sample a task: are gains and losses as likely? `gained` tasks only the candidate resolved, `lost` only base.

    Two-sided. Under "no difference" each flip is a fair coin; at least six flips in one direction make p < 0.05.

    Source: Q. McNemar, "Note on the sampling error of the difference between correlated proportions or percentages",
    Psychometrika 12 (1947), 153-157; exact, by the binomial distribution: A. Agresti, "Categorical data analysis"
    (2002), section 10.1.

    Raises:
        ValueError: a negative number.

    """
    if gained < 0 or lost < 0:
        raise ValueError(f"expected counts, found {gained} gained and {lost} lost")
    flips = gained + lost
    tail = Fraction(sum(math.comb(flips, number) for number in range(min(gained, lost) + 1)), 2**flips)
    return PairedTest(p=min(1.0, 2 * float(tail)), method="exact McNemar", informative=flips)


def sign_flip(
    differences: Sequence[float],
    *,
    clusters: Sequence[Hashable] | None = None,
    alternative: Alternative = Alternative.TWO_SIDED,
    draws: int = MONTE_CARLO_DRAWS,
) -> PairedTest:
    """The paired permutation test: under "no difference" each task's difference could as well have the other sign.

    With clusters the signs of all differences of a cluster flip together. The p-value is exact where there are at most
    `EXACT_UP_TO` differences that are not zero, or where they have few distinct denominators (equal numbers of samples:
    the usual case); else from `draws` random patterns, counting the observed one, so it is never 0 and never too small.
    With one sample a task this is the exact McNemar test.

    Source: R. A. Fisher, "The design of experiments" (1935), section 21; counting the observed pattern: B. Phipson and
    G. K. Smyth, "Permutation p-values should never be zero", Statistical Applications in Genetics and Molecular Biology
    9 (2010), article 39.

    Raises:
        ValueError: not one cluster a difference.

    """
    exact = [Fraction(difference).limit_denominator(_LARGEST_DENOMINATOR) for difference in differences]
    sums: dict[Hashable, Fraction] = defaultdict(Fraction)
    for difference, cluster in zip(exact, range(len(exact)) if clusters is None else clusters, strict=True):
        sums[cluster] += difference
    parts = [part for part in sums.values() if part]
    scale = math.lcm(*(part.denominator for part in parts))
    steps = [int(part * scale) for part in parts]
    width = 2 * sum(abs(step) for step in steps) + 1
    if not parts:
        p, how = 1.0, "exact"
    elif width * len(parts) <= _LARGEST_TABLE:
        p, how = _by_table(steps, alternative), "exact"
    elif len(parts) <= EXACT_UP_TO:
        p, how = _by_enumeration([float(part) for part in parts], alternative), "exact"
    else:
        p, how = _by_chance([float(part) for part in parts], alternative, draws), f"{draws} random patterns"
    return PairedTest(p=p, method=f"paired sign-flip permutation ({how})", informative=len(parts))


def _by_table(steps: Sequence[int], alternative: Alternative) -> float:
    """Every pattern at once, counted in whole numbers."""
    total = sum(steps)
    if alternative is Alternative.TWO_SIDED:
        return min(1.0, 2 * _chance_up_to(-abs(total), steps))
    return _chance_up_to(total if alternative is Alternative.LESS else -total, steps)


def _chance_up_to(most: int, steps: Sequence[int]) -> float:
    """That the steps add up to so much or less, when each has either sign.

    The patterns are counted by the sum of the steps that are positive. The counts stand side by side in one long
    number, each in a cell of so many bits that none runs over, so that adding a step shifts all of them at once.
    """
    bits = len(steps) + 1
    counts = 1
    for step in map(abs, steps):
        counts += counts << step * bits
    cells = (sum(map(abs, steps)) + most) // 2 + 1
    low_cells = counts & ((1 << cells * bits) - 1)
    patterns = low_cells % ((1 << bits) - 1)  # the sum of the cells, as digits to the base of 2^bits
    return float(Fraction(patterns, 2 ** len(steps)))


def _by_enumeration(parts: Sequence[float], alternative: Alternative) -> float:
    sums = _signed_sums(parts)
    return _as_extreme(sums, parts, alternative) / len(sums)


def _by_chance(parts: Sequence[float], alternative: Alternative, draws: int) -> float:
    padded = [*parts, *[0.0] * (-len(parts) % 8)]
    tables = [_signed_sums(padded[begin : begin + 8]) for begin in range(0, len(padded), 8)]  # by a byte of signs
    chance = random.Random(0)  # noqa: S311 - for a statistic, not for a secret
    sums = (sum(map(list.__getitem__, tables, chance.randbytes(len(tables)))) for _ in range(draws))
    return (_as_extreme(sums, parts, alternative) + 1) / (draws + 1)


def _signed_sums(parts: Sequence[float]) -> list[float]:
    """The sum for every pattern of signs."""
    sums = [0.0]
    for part in parts:
        sums = [total + part for total in sums] + [total - part for total in sums]
    return sums


def _as_extreme(sums: Iterable[float], parts: Sequence[float], alternative: Alternative) -> int:
    """How many of the sums are as far out as the one observed."""
    observed = math.fsum(parts)
    slack = _TOLERANCE * math.fsum(map(abs, parts))
    if alternative is Alternative.LESS:
        return sum(total <= observed + slack for total in sums)
    if alternative is Alternative.GREATER:
        return sum(total >= observed - slack for total in sums)
    return sum(abs(total) >= abs(observed) - slack for total in sums)


def difference_interval(
    differences: Sequence[float],
    *,
    samples: float = 1,
    clusters: Sequence[Hashable] | None = None,
    confidence: float = 0.95,
) -> Interval | None:
    """The interval of the mean difference: it plus and minus t standard errors; None without a task.

    `samples` is how many each model had for a task. The standard error is held above `√(2 / samples) / tasks`, that of
    one task gained and one lost by a single sample: few tasks on which two models happen to agree do not prove that
    they always do. One task, or one cluster, tells nothing about others: -1 to 1.

    Source: the paired standard error of E. Miller, "Adding error bars to evals", arXiv 2411.00640 (2024), section 4.2,
    with Student's t; the bound from below is ours, in the spirit of D. G. Bonett and R. M. Price, "Adjusted Wald
    confidence interval for a difference of binomial proportions based on paired data", Journal of Educational and
    Behavioral Statistics 37 (2012), 479-488. `benchmarks/intervals.py` measures how often it covers.

    Raises:
        ValueError: not one cluster a difference.

    """
    if not differences:
        return None
    units = len(differences) if clusters is None else len(set(clusters))
    if units == 1:
        return Interval(low=-1.0, high=1.0)
    mean = statistics.fmean(differences)
    error = max(standard_error(differences, clusters), least_error(tasks=len(differences), samples=samples))
    half = t_quantile(confidence, units - 1) * error
    return Interval(low=max(-1.0, mean - half), high=min(1.0, mean + half))


def least_error(*, tasks: int, samples: float) -> float:
    """The smallest standard error that a paired difference is credited with, see `difference_interval`."""
    return math.sqrt(2 / samples) / tasks


def holm(p_values: Sequence[float]) -> tuple[float, ...]:
    """Adjusted p-values, in the order given: the chance of any false claim among them stays below the level.

    Source: S. Holm, "A simple sequentially rejective multiple test procedure", Scandinavian Journal of Statistics 6
    (1979), 65-70.
    """
    count = len(p_values)
    adjusted = [0.0] * count
    so_far = 0.0
    for rank, index in enumerate(sorted(range(count), key=lambda index: p_values[index])):
        so_far = max(so_far, min(1.0, (count - rank) * p_values[index]))
        adjusted[index] = so_far
    return tuple(adjusted)


def two_groups(first: Sequence[float], two: Sequence[float]) -> float:
    """Two-sided p-value of "the groups are alike", by permutation of the tasks between them.

    The statistic is the difference of the means, from 0 to 1. Where every value is 0 or 1 the p-value is exact: the
    hypergeometric probability of a difference as large (Fisher's exact test with that order). Else it is that of
    `DRAWS` random permutations, counting the observed one.

    Source: R. A. Fisher, "The design of experiments" (1935), section 21; B. Phipson and G. K. Smyth, "Permutation
    p-values should never be zero", Statistical Applications in Genetics and Molecular Biology 9 (2010), article 39.

    Raises:
        ValueError: a group is empty.

    """
    if not first or not two:
        raise ValueError("a group is empty")
    if all(value in (0.0, 1.0) for value in (*first, *two)):
        return _exact(len(first), round(sum(first)), len(two), round(sum(two)))
    chance = random.Random(0)  # noqa: S311 - for a statistic, not for a secret
    values, smaller = [*first, *two], min(first, two, key=len)
    expected = statistics.fmean(values) * len(smaller)  # the difference of the means grows with that from this sum
    observed = abs(math.fsum(smaller) - expected) - _TOLERANCE
    as_far = sum(abs(sum(chance.sample(values, len(smaller))) - expected) >= observed for _ in range(DRAWS))
    return (as_far + 1) / (DRAWS + 1)


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
