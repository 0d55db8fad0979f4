"""How small a difference a comparison can see, and what it would take to see a given one. Pure.

All of it is about the tests that `analysis.compare` uses. They weigh what is seen against the spread of the differences
around zero, `variance + effect²`, and not around their mean; so the formulae here have that term, and what they say is
a little more than `2.80 · √(variance / tasks)`, which they come to for small effects.
"""

from __future__ import annotations

import functools
import math
import statistics
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy import float64, int_
    from numpy.typing import NDArray

POWER = 0.8
"""The chance with which a true difference of the size named is found."""
_EXACT_UP_TO = 200
"""Tasks up to which the exact McNemar test's power is summed; beyond, the normal formula says the same."""
_STEPS = 50


def minimum_detectable_effect(
    *, tasks: int, samples: float, between: float, within: float, confidence: float = 0.95, power: float = POWER
) -> float | None:
    """The smallest true difference of two rates (a share) that is found with the chance `power`; None if none is.

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
    return _least(lambda effect: tasks >= _tasks(effect, variance, confidence, power))


def needed_tasks(effect: float, variance: float, *, confidence: float = 0.95, power: float = POWER) -> int | None:
    """How many tasks it takes to find a difference of this size; None for no difference.

    `variance` is that of the tasks' observed differences, at the number of samples they had. The formula of
    `minimum_detectable_effect`, solved for the tasks.
    """
    return max(1, math.ceil(_tasks(abs(effect), variance, confidence, power))) if effect else None


def needed_samples(
    effect: float, *, tasks: int, between: float, within: float, confidence: float = 0.95, power: float = POWER
) -> int | None:
    """How many samples a task it takes on these tasks; None where no number of them would do."""
    if not effect or tasks <= _tasks(abs(effect), between, confidence, power):
        return None
    share = _least(lambda part: tasks <= _tasks(abs(effect), between + within * part, confidence, power))
    return 1 if share is None else max(1, math.ceil(1 / share))


def mcnemar_detectable(*, tasks: int, flipping: float, power: float = POWER) -> float | None:
    """As `minimum_detectable_effect`, for one sample a task and the exact McNemar test at p < 0.05; None if none is.

    `flipping` is the share of tasks on which the two models differ; a larger effect raises it to the effect itself.
    """
    if tasks <= _EXACT_UP_TO:
        return _least(lambda effect: mcnemar_power(tasks, max(flipping, effect), effect) >= power)
    return _least(lambda effect: tasks >= _tasks(effect, max(flipping, effect) - effect**2, 0.95, power))


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
    import numpy as np  # noqa: PLC0415 - slow to import, and most commands need none of it

    numbers = np.arange(tasks + 1)
    logs = np.concatenate(([0.0], np.cumsum(np.log(np.arange(1, tasks + 1)))))

    def likely(trials: NDArray[int_], share: float) -> NDArray[float64]:
        """Binomial probabilities of 0 to `tasks` successes, one row for each number of trials."""
        rows, columns = trials[:, None], numbers[None, :]
        misses = np.maximum(rows - columns, 0)
        ways = np.exp(
            logs[rows] - logs[columns] - logs[misses] + _times_log(columns, share) + _times_log(misses, 1 - share)
        )
        return np.where(columns <= rows, ways, 0.0)

    chance = likely(np.array([tasks]), flipping)[0]
    most = np.array([_rejecting(int(number)) for number in numbers])
    gains = (flipping + effect) / (2 * flipping)
    rejecting = numbers[None, :] <= most[:, None]
    power = (likely(numbers, gains) * rejecting).sum(axis=1) + (likely(numbers, 1 - gains) * rejecting).sum(axis=1)
    return float((chance * power).sum())


def _times_log(counts: NDArray[int_], share: float) -> NDArray[float64]:
    """`counts · log(share)`, where 0 times the logarithm of 0 is 0."""
    import numpy as np  # noqa: PLC0415

    logs = counts * math.log(share) if share > 0 else np.where(counts == 0, 0.0, -np.inf)
    return logs.astype(np.float64)


@functools.cache
def _rejecting(flips: int) -> int:
    """The most flips in the rarer direction with which the two-sided p is below 0.05; -1 where there are none."""
    tail, most = 0, -1
    for number in range(flips + 1):
        tail += math.comb(flips, number)
        if 40 * tail >= 2**flips:  # 2 · tail / 2^flips >= 0.05
            return most
        most = number
    return most


def _tasks(effect: float, variance: float, confidence: float, power: float) -> float:
    normal = statistics.NormalDist()
    level, sure = normal.inv_cdf((1 + confidence) / 2), normal.inv_cdf(power)
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
