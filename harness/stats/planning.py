"""How small a difference a comparison can see, and what it would take to see a given one. Pure.

All of it is about the tests that `analysis.compare` uses. They weigh what is seen against the spread of the differences
around zero, `variance + effect²`, and not around their mean; so the formulae here have that term, and what they say is
a little more than `2.80 · √(variance / tasks)`, which they come to for small effects.
"""

from __future__ import annotations

import functools
import math
import statistics
from collections.abc import Callable

POWER = 0.8
"""The chance with which a true difference of the size named is found."""
_EXACT_UP_TO = 200
"""Tasks up to which the exact McNemar test's power is summed; beyond, the normal formula says the same."""
_STEPS = 50


def minimum_detectable_effect(*, tasks: int, samples: float, between: float, within: float) -> float | None:
    """The smallest true difference of two rates (a share) that is found with the chance `POWER`; None if none is.

    `between` is the variance over tasks of the true difference, `within` the two models' mean p(1-p) added: what luck
    adds to one sample of each; the variance of an observed difference is `between + within / samples`.

    Source: E. Miller, "Adding error bars to evals", arXiv 2411.00640 (2024), section 5, for what varies; R. J. Connor,
    "Sample size for testing differences in proportions for the paired-sample design", Biometrics 43 (1987), 207-211,
    for the term `effect²`.

    Raises:
        ValueError: no task or sample, or a negative variance.

    """
    if tasks < 1 or samples <= 0 or between < 0 or within < 0:
        raise ValueError("expected at least one task and sample, and variances from 0")
    variance = between + within / samples
    return _least(lambda effect: tasks >= _tasks(effect, variance))


def needed_tasks(effect: float, variance: float, *, confidence: float = 0.95) -> int | None:
    """How many tasks it takes to find a difference of this size; None for no difference.

    `variance` is that of the tasks' observed differences, at the number of samples they had. The formula of
    `minimum_detectable_effect`, solved for the tasks.
    """
    return max(1, math.ceil(_tasks(abs(effect), variance, confidence))) if effect else None


def needed_samples(effect: float, *, tasks: int, between: float, within: float) -> int | None:
    """How many samples a task it takes on these tasks; None where no number of them would do."""
    if not effect or tasks <= _tasks(abs(effect), between):
        return None
    share = _least(lambda part: tasks <= _tasks(abs(effect), between + within * part))
    return 1 if share is None else max(1, math.ceil(1 / share))


def mcnemar_detectable(*, tasks: int, flipping: float) -> float | None:
    """As `minimum_detectable_effect`, for one sample a task and the exact McNemar test at p < 0.05; None if none is.

    `flipping` is the share of tasks on which the two models differ; a larger effect raises it to the effect itself.
    """
    if tasks <= _EXACT_UP_TO:
        return _least(lambda effect: mcnemar_power(tasks, max(flipping, effect), effect) >= POWER)
    return _least(lambda effect: tasks >= _tasks(effect, max(flipping, effect) - effect**2))


def mcnemar_power(tasks: int, flipping: float, effect: float) -> float:
    """The chance that the exact two-sided McNemar test finds this effect with p < 0.05.

    `flipping` is the chance that a task flips, `effect` that of a gain less that of a loss.

    Source: by summing over the number of flips, as in S. W. Duffy, "Asymptotic and exact power for the McNemar test and
    its analogue with R controls per case", Biometrics 40 (1984), 1005-1015.

    Raises:
        ValueError: not 0 < flipping <= 1, or an effect larger than that.

    """
    if not 0 < flipping <= 1 or abs(effect) > flipping:
        raise ValueError(f"expected 0 < flipping <= 1 and an effect up to that, found {flipping} and {effect}")
    gains = (flipping + effect) / (2 * flipping)
    gained, lost = (tuple(share**number for number in range(tasks + 1)) for share in (gains, 1 - gains))
    power = 0.0
    for flips in range(tasks + 1):
        chance = math.comb(tasks, flips) * flipping**flips * (1 - flipping) ** (tasks - flips)
        power += chance * sum(
            ways * (gained[number] * lost[flips - number] + lost[number] * gained[flips - number])
            for number, ways in enumerate(_rejecting(flips))
        )
    return power


@functools.cache
def _rejecting(flips: int) -> tuple[float, ...]:
    """The ways to flip 0, 1… tasks in the rarer direction, as far as the two-sided p is below 0.05."""
    tail, ways = 0, []
    for number in range(flips + 1):
        tail += math.comb(flips, number)
        if 40 * tail >= 2**flips:  # 2 · tail / 2^flips >= 0.05
            break
        ways.append(float(math.comb(flips, number)))
    return tuple(ways)


def _tasks(effect: float, variance: float, confidence: float = 0.95) -> float:
    normal = statistics.NormalDist()
    level, sure = normal.inv_cdf((1 + confidence) / 2), normal.inv_cdf(POWER)
    return ((level * math.sqrt(variance + effect**2) + sure * math.sqrt(variance)) / effect) ** 2


def _least(holds: Callable[[float], bool]) -> float | None:
    """The least number above 0 and up to 1 for which it holds, as it then does for all larger ones; None if none."""
    low, high = 0.0, 1.0
    if not holds(high):
        return None
    for _ in range(_STEPS):
        middle = (low + high) / 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high
