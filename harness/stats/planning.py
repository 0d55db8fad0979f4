"""How small a difference a comparison can see, and what it would take to see a given one. Pure."""

from __future__ import annotations

import math
import statistics

POWER = 0.8
"""The chance with which a true difference of the size named is found."""


def detection_factor(*, confidence: float = 0.95, power: float = POWER) -> float:
    """How many standard errors a difference must have to be found: 1.96 + 0.84 = 2.80."""
    normal = statistics.NormalDist()
    return normal.inv_cdf((1 + confidence) / 2) + normal.inv_cdf(power)


def minimum_detectable_effect(
    *, tasks: int, samples: float, between: float, within: float, confidence: float = 0.95, power: float = POWER
) -> float:
    """The smallest true difference of two rates (a share) that is found with the chance `power`.

    `between` is the variance over tasks of the true difference, `within` the two models' mean p(1-p) added: what luck
    adds to one sample of each. `2.80 · √((between + within / samples) / tasks)`.

    Source: E. Miller, "Adding error bars to evals", arXiv 2411.00640 (2024), section 5, equation 9.

    Raises:
        ValueError: no task or sample, or a negative variance.

    """
    if tasks < 1 or samples <= 0 or between < 0 or within < 0:
        raise ValueError("expected at least one task and sample, and variances from 0")
    return detection_factor(confidence=confidence, power=power) * math.sqrt((between + within / samples) / tasks)


def needed_tasks(effect: float, variance: float, *, confidence: float = 0.95, power: float = POWER) -> int | None:
    """How many tasks it takes to find a difference of this size; None for no difference.

    `variance` is that of the tasks' observed differences, at the number of samples they had. The formula of
    `minimum_detectable_effect`, solved for the tasks.
    """
    if effect == 0:
        return None
    factor = detection_factor(confidence=confidence, power=power)
    return max(1, math.ceil(variance * (factor / effect) ** 2))


def needed_samples(
    effect: float, *, tasks: int, between: float, within: float, confidence: float = 0.95, power: float = POWER
) -> int | None:
    """How many samples a task it takes on these tasks; None where no number of them would do."""
    factor = detection_factor(confidence=confidence, power=power)
    room = tasks * (effect / factor) ** 2 - between
    return max(1, math.ceil(within / room)) if room > 0 else None
