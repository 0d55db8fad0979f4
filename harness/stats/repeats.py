"""What runs that all went the same way say of runs to come. Pure."""

from __future__ import annotations

import math


def clean_bound(runs: int, confidence: float = 0.95) -> float:
    """The largest chance of another result that `runs` runs without one leave open, at this confidence.

    A chance p of another result leaves n runs clean with probability (1 - p)^n; the bound is the p at which that is
    1 - confidence: 1 - (1 - confidence)^(1/n). At 95% and many runs that is 3/n, the rule of three.

    Source: J. A. Hanley and A. Lippman-Hand, "If nothing goes wrong, is everything all right?", JAMA 249 (1983),
    1743-1745; the exact form is C. J. Clopper and E. S. Pearson's one-sided limit at no event, Biometrika 26 (1934).

    Args:
        runs: how many there were; 0 leaves everything open.
        confidence: from 0 to 1, both excluded.

    Raises:
        ValueError: an argument is out of its range.

    """
    _check(confidence)
    if runs < 0:
        raise ValueError(f"runs must not be negative, found {runs}")
    return 1.0 if runs == 0 else -math.expm1(math.log1p(-confidence) / runs)


def clean_runs(bound: float, confidence: float = 0.95) -> int:
    """The fewest runs that, all of them clean, bring `clean_bound` down to `bound`: 59 for 5% at 95%.

    Args:
        bound: the chance of another result, from 0 to 1, both excluded.
        confidence: as in `clean_bound`.

    Raises:
        ValueError: an argument is out of its range.

    """
    _check(confidence)
    if not 0 < bound < 1:
        raise ValueError(f"the bound must be between 0 and 1, found {bound}")
    runs = max(1, math.ceil(math.log1p(-confidence) / math.log1p(-bound)))
    return runs - 1 if runs > 1 and clean_bound(runs - 1, confidence) <= bound else runs


def _check(confidence: float) -> None:
    if not 0 < confidence < 1:
        raise ValueError(f"the confidence must be between 0 and 1, found {confidence}")
