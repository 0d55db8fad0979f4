"""Two models on the same tasks: tests and intervals of the difference. Pure.

A difference is always candidate less base, task by task.
"""

from __future__ import annotations

import math
import statistics
from collections import defaultdict
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from typing import TYPE_CHECKING

from harness.stats.intervals import Interval, standard_error, t_quantile

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

    from numpy import bool_, float64
    from numpy.typing import NDArray

EXACT_UP_TO = 20
"""Non-zero differences of which every pattern of signs is looked at."""
MONTE_CARLO_DRAWS = 100_000
_CHUNK_CELLS = 4_000_000
_LARGEST_TABLE = 50_000_000
_LARGEST_DENOMINATOR = 10_000
_TOLERANCE = 1e-9
"""Two sums of the same differences that are added in another order count as equal."""


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


def mcnemar_exact(gained: int, lost: int, *, alternative: Alternative = Alternative.TWO_SIDED) -> PairedTest:
    """One sample a task: are gains and losses as likely? `gained` tasks only the candidate resolved, `lost` only base.

    Under "no difference" each flip is a fair coin. Two-sided, at least six flips in one direction make p < 0.05.

    Source: Q. McNemar, "Note on the sampling error of the difference between correlated proportions or percentages",
    Psychometrika 12 (1947), 153-157; exact, by the binomial distribution: A. Agresti, "Categorical data analysis"
    (2002), section 10.1.

    Raises:
        ValueError: a negative number.

    """
    if gained < 0 or lost < 0:
        raise ValueError(f"expected counts, found {gained} gained and {lost} lost")
    flips = gained + lost
    if alternative is Alternative.TWO_SIDED:
        p = min(1.0, 2 * _coin_tail(flips, min(gained, lost)))
    else:
        p = _coin_tail(flips, gained if alternative is Alternative.LESS else lost)
    return PairedTest(p=p, method="exact McNemar", informative=flips)


def _coin_tail(coins: int, heads: int) -> float:
    """The chance of at most so many heads."""
    return float(Fraction(sum(math.comb(coins, number) for number in range(heads + 1)), 2**coins))


def sign_flip(
    differences: Sequence[float],
    *,
    clusters: Sequence[Hashable] | None = None,
    alternative: Alternative = Alternative.TWO_SIDED,
    draws: int = MONTE_CARLO_DRAWS,
    seed: int = 0,
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
        p, how = _by_chance([float(part) for part in parts], alternative, draws, seed), f"{draws} random patterns"
    return PairedTest(p=p, method=f"paired sign-flip permutation ({how})", informative=len(parts))


def _by_table(steps: Sequence[int], alternative: Alternative) -> float:
    """Every pattern at once: the distribution of the sum, one difference after the other."""
    import numpy as np  # noqa: PLC0415 - slow to import, and most commands need none of it

    middle = sum(abs(step) for step in steps)
    chance = np.zeros(2 * middle + 1)
    chance[middle] = 1.0
    for step in map(abs, steps):
        moved = np.zeros_like(chance)
        moved[step:] += chance[: len(chance) - step]
        moved[: len(chance) - step] += chance[step:]
        chance = moved / 2
    total = sum(steps)
    if alternative is Alternative.LESS:
        return min(1.0, float(chance[: middle + total + 1].sum()))
    if alternative is Alternative.GREATER:
        return min(1.0, float(chance[middle + total :].sum()))
    return min(1.0, 2 * float(chance[: middle - abs(total) + 1].sum()))


def _by_enumeration(parts: Sequence[float], alternative: Alternative) -> float:
    import numpy as np  # noqa: PLC0415

    sums = np.zeros(1)
    for part in parts:
        sums = np.concatenate((sums + part, sums - part))
    return float(_as_extreme(sums, parts, alternative).mean())


def _by_chance(parts: Sequence[float], alternative: Alternative, draws: int, seed: int) -> float:
    import numpy as np  # noqa: PLC0415

    values = np.array(parts)
    chance = np.random.default_rng(seed)
    hits, left = 0, draws
    while left:
        rows = min(left, max(1, _CHUNK_CELLS // len(parts)))
        signs = chance.integers(2, size=(rows, len(parts))) * 2 - 1
        hits += int(_as_extreme(signs @ values, parts, alternative).sum())
        left -= rows
    return (hits + 1) / (draws + 1)


def _as_extreme(sums: NDArray[float64], parts: Sequence[float], alternative: Alternative) -> NDArray[bool_]:
    """Which of the sums are as far out as the one observed."""
    observed = math.fsum(parts)
    slack = _TOLERANCE * math.fsum(map(abs, parts))
    if alternative is Alternative.LESS:
        return sums <= observed + slack
    if alternative is Alternative.GREATER:
        return sums >= observed - slack
    return abs(sums) >= abs(observed) - slack


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
