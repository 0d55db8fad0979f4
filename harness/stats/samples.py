"""What several samples of one task say about trying k times. Pure."""

from __future__ import annotations

import math


def pass_at_k(samples: int, resolved: int, k: int) -> float:
    """The chance that at least one of k samples resolves the task, from `resolved` of `samples`: unbiased.

    Source: M. Chen et al., "Evaluating large language models trained on code", arXiv 2107.03374 (2021), equation 1, as
    the product given there, which neither overflows nor cancels. Never `1 - (1 - p)^k`, which is biased.

    Raises:
        ValueError: not 0 <= resolved <= samples, or not 1 <= k <= samples.

    """
    _check(samples, resolved, k)
    return 1.0 - math.prod(1.0 - k / j for j in range(samples - resolved + 1, samples + 1))


def pass_hat_k(samples: int, resolved: int, k: int) -> float:
    """pass^k, the chance that all of k samples resolve the task, from `resolved` of `samples`: unbiased.

    Source: S. Yao et al., "τ-bench: a benchmark for tool-agent-user interaction in real-world domains", arXiv
    2406.12045 (2024), section 3: C(resolved, k) / C(samples, k).

    Raises:
        ValueError: not 0 <= resolved <= samples, or not 1 <= k <= samples.

    """
    _check(samples, resolved, k)
    return math.prod((resolved - i) / (samples - i) for i in range(k)) if resolved >= k else 0.0


def _check(samples: int, resolved: int, k: int) -> None:
    if not 0 <= resolved <= samples:
        raise ValueError(f"expected 0 <= resolved <= samples, found {resolved} of {samples}")
    if not 1 <= k <= samples:
        raise ValueError(f"expected 1 <= k <= samples, found k = {k} with {samples} samples")
