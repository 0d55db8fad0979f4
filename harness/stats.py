"""What a score can and cannot say. Pure functions; each names the source of its formula."""

from __future__ import annotations

import math
from dataclasses import dataclass

Z_95 = 1.959963984540054
"""Two-sided 95% quantile of the normal distribution."""


@dataclass(frozen=True, kw_only=True)
class Interval:
    """Bounds of a share, each from 0 to 1."""

    low: float
    high: float

    def overlaps(self, other: Interval) -> bool:
        return self.low <= other.high and other.low <= self.high


def wilson(successes: int, trials: int, *, z: float = Z_95) -> Interval | None:
    """The score interval of a share of independent trials; None where there was no trial.

    Unlike the usual `p ± z·s` it stays inside 0…1 and says something sensible for 0 of n and for small n.

    Source: E. B. Wilson, "Probable inference, the law of succession, and statistical inference", Journal of the
    American Statistical Association 22 (1927), 209-212; without continuity correction.

    Raises:
        ValueError: negative numbers, or more successes than trials.

    """
    if not 0 <= successes <= trials:
        raise ValueError(f"expected 0 <= successes <= trials, found {successes} of {trials}")
    if not trials:
        return None
    share = successes / trials
    shrink = 1 + z * z / trials
    middle = (share + z * z / (2 * trials)) / shrink
    half = z / shrink * math.sqrt(share * (1 - share) / trials + z * z / (4 * trials * trials))
    low = 0.0 if successes == 0 else max(0.0, middle - half)
    high = 1.0 if successes == trials else min(1.0, middle + half)
    return Interval(low=low, high=high)
