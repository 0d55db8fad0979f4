"""Intervals of shares and means over tasks, and bounds from clean runs. Pure; each names its formula's source."""

from __future__ import annotations

import functools
import math
import statistics
from collections import defaultdict
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

Z_95 = statistics.NormalDist().inv_cdf(0.975)
"""Two-sided 95% quantile of the normal distribution: 1.96."""
MIN_CLUSTERS = 10
"""From how many repositories on a score's interval is about repositories like these, and not about these alone."""
_BISECTIONS = 60


@dataclass(frozen=True, kw_only=True)
class Interval:
    """Bounds of a share, each from 0 to 1, or of a difference of two shares, each from -1 to 1."""

    low: float
    high: float

    def holds(self, value: float) -> bool:
        """Whether the value lies between the bounds, or on one."""
        return self.low <= value <= self.high


def wilson(successes: int, trials: int) -> Interval | None:
    """The 95% score interval of a share of independent trials; None where there was no trial.

    Unlike the usual `p ± z·s` it stays inside 0…1 and says something sensible for 0 of n and for small n.

    Source: E. B. Wilson, "Probable inference, the law of succession, and statistical inference", Journal of the
    American Statistical Association 22 (1927), 209-212; without continuity correction.

    Raises:
        ValueError: negative numbers, or more successes than trials.

    """
    if not 0 <= successes <= trials:
        raise ValueError(f"expected 0 <= successes <= trials, found {successes} of {trials}")
    return _wilson(successes / trials, trials) if trials else None


def _wilson(share: float, trials: float) -> Interval:
    """Wilson's interval of a share; `trials` need not be whole."""
    z = Z_95
    shrink = 1 + z * z / trials
    middle = (share + z * z / (2 * trials)) / shrink
    half = z / shrink * math.sqrt(share * (1 - share) / trials + z * z / (4 * trials * trials))
    low = 0.0 if share <= 0 else max(0.0, middle - half)
    high = 1.0 if share >= 1 else min(1.0, middle + half)
    return Interval(low=low, high=high)


def worth_clustering(labels: Sequence[Hashable | None]) -> bool:
    """Whether an interval should be clustered by these labels (the tasks' repositories).

    Yes where tasks share labels and there are at least `MIN_CLUSTERS` of them: then the interval speaks about further
    repositories like these. With fewer, an estimate of how repositories differ is too unsure to use (Cameron and
    Miller, "A practitioner's guide to cluster-robust inference", Journal of Human Resources 50 (2015), section VI), so
    the interval is by task and speaks about further tasks of these repositories. An unknown label: no.
    """
    distinct = set(labels)
    return None not in distinct and MIN_CLUSTERS <= len(distinct) < len(labels)


def standard_error(values: Sequence[float], clusters: Sequence[Hashable] | None = None) -> float:
    """Of the mean of one value per task; with clusters the larger of the clustered one and that by task.

    Source: E. Miller, "Adding error bars to evals", arXiv 2411.00640 (2024), sections 2.1 and 2.2; the clustered one
    with the factor G/(G-1) for G clusters.

    Raises:
        ValueError: fewer than two values or clusters, or not one cluster a value.

    """
    count, mean = len(values), statistics.fmean(values)
    if count < 2:  # noqa: PLR2004 - one value has no spread
        raise ValueError("one value has no standard error")
    by_task = math.sqrt(math.fsum((value - mean) ** 2 for value in values) / (count - 1) / count)
    if clusters is None:
        return by_task
    residuals: dict[Hashable, float] = defaultdict(float)
    for value, cluster in zip(values, clusters, strict=True):
        residuals[cluster] += value - mean
    groups = len(residuals)
    if groups < 2:  # noqa: PLR2004
        raise ValueError("one cluster has no standard error")
    clustered = math.sqrt(groups / (groups - 1) * sum(part * part for part in residuals.values())) / count
    return max(by_task, clustered)


def mean_interval(
    values: Sequence[float], *, trials: int | None = None, clusters: Sequence[Hashable] | None = None
) -> Interval | None:
    """The 95% interval of the mean of tasks' shares, each from 0 to 1; None without a value.

    Zeros and ones, not clustered, get Wilson's interval. Else the tasks' own spread says how many independent trials
    the mean is worth, `n_eff = m(1-m)/SE² · (z/t)²` with t of as many degrees of freedom as there are tasks (or
    clusters) less one, held between the number of tasks (clusters) and `trials`, the samples over all tasks; then
    Wilson's interval on those. One task, or one cluster, tells nothing about others: 0 to 1.

    Source: the effective sample size of a design, E. L. Korn and B. I. Graubard, "Confidence intervals for
    proportions with small expected number of positive counts estimated from survey data", Survey Methodology 24
    (1998), 193-201, put into Wilson's interval. `benchmarks/intervals.py` measures how often it covers.

    Raises:
        ValueError: a value outside 0…1, or not one cluster a value.

    """
    if any(not 0 <= value <= 1 for value in values):
        raise ValueError("expected shares from 0 to 1")
    if not values:
        return None
    mean = statistics.fmean(values)
    most = max(trials or 0, len(values))
    if clusters is None and most == len(values) and all(value in {0, 1} for value in values):
        return wilson(round(sum(values)), len(values))
    units = len(values) if clusters is None else len(set(clusters))
    if units == 1:
        return Interval(low=0.0, high=1.0)
    error = standard_error(values, clusters)
    shrink = (Z_95 / t_quantile(0.95, units - 1)) ** 2
    worth = float(units) if error == 0 else mean * (1 - mean) / error**2 * shrink
    if error:
        worth = min(max(worth, units * shrink), most * shrink)
    return _wilson(mean, worth)


@functools.cache
def t_quantile(confidence: float, freedom: int) -> float:
    """The two-sided quantile of Student's t distribution, for whole degrees of freedom from 1.

    Source: M. Abramowitz and I. A. Stegun, "Handbook of mathematical functions" (1964), 26.7.3 and 26.7.4, bisected.
    """
    low, high = 0.0, math.pi / 2
    for _ in range(_BISECTIONS):
        middle = (low + high) / 2
        low, high = (middle, high) if _t_within(middle, freedom) < confidence else (low, middle)
    return math.sqrt(freedom) * math.tan((low + high) / 2)


def _t_within(angle: float, freedom: int) -> float:
    """The chance that |t| is at most `tan(angle) · √freedom`."""
    square, odd = math.cos(angle) ** 2, freedom % 2
    term, total = (math.cos(angle) if odd else 1.0), 0.0
    for power in range(1 + odd, freedom, 2):
        total += term
        term *= square * power / (power + 1)
    return 2 / math.pi * (angle + math.sin(angle) * total) if odd else math.sin(angle) * total


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


def pass_at_k(samples: int, resolved: int, k: int) -> float:
    """The chance that at least one of k samples resolves the task, from `resolved` of `samples`: unbiased.

    Source: M. Chen et al., "Evaluating large language models trained on code", arXiv 2107.03374 (2021), equation 1, as
    the product given there, which neither overflows nor cancels. Never `1 - (1 - p)^k`, which is biased.

    Raises:
        ValueError: not 0 <= resolved <= samples, or not 1 <= k <= samples.

    """
    _check_tries(samples, resolved, k)
    return 1.0 - math.prod(1.0 - k / j for j in range(samples - resolved + 1, samples + 1))


def pass_hat_k(samples: int, resolved: int, k: int) -> float:
    """pass^k, the chance that all of k samples resolve the task, from `resolved` of `samples`: unbiased.

    Source: S. Yao et al., "τ-bench: a benchmark for tool-agent-user interaction in real-world domains", arXiv
    2406.12045 (2024), section 3: C(resolved, k) / C(samples, k).

    Raises:
        ValueError: not 0 <= resolved <= samples, or not 1 <= k <= samples.

    """
    _check_tries(samples, resolved, k)
    return math.prod((resolved - i) / (samples - i) for i in range(k)) if resolved >= k else 0.0


def _check_tries(samples: int, resolved: int, k: int) -> None:
    if not 0 <= resolved <= samples:
        raise ValueError(f"expected 0 <= resolved <= samples, found {resolved} of {samples}")
    if not 1 <= k <= samples:
        raise ValueError(f"expected 1 <= k <= samples, found k = {k} with {samples} samples")
