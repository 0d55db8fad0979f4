"""Several claims at once. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


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
