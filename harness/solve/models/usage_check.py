"""An endpoint's own count of tokens, looked at before it is believed. Pure.

What cannot be true is left out and told by a note, never mended: a guess would look like a measurement.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from harness.solve.base import Usage

if TYPE_CHECKING:
    from collections.abc import Mapping

MISSING = "usage_missing"
"""The endpoint does not say how many tokens were read or written."""
IMPOSSIBLE = "usage_impossible"
"""A count is negative or no whole number; or nothing was counted where something was written; or a part is more than
the whole. That count is left out."""
INCONSISTENT = "usage_inconsistent"
"""The total is not the sum. Both parts are kept as they were told."""

LIMIT_UNTOLD = "limit_untold"
"""The answer has as many tokens as it may have, and the endpoint says that it ended by itself: taken for cut."""


def untold_limit(usage: Usage, *, most: int | None, finish: str) -> tuple[str, ...]:
    """`LIMIT_UNTOLD` where that is so. Some servers' Responses API never says that an answer was cut."""
    is_full = most is not None and usage.output_tokens is not None and usage.output_tokens >= most
    return (LIMIT_UNTOLD,) if is_full and finish == "stop" else ()


def checked(counts: Mapping[str, Any], *, written: object) -> tuple[Usage, tuple[str, ...]]:
    """The usage that can be true, and what is odd about what was told.

    `counts` has `input`, `output`, `cached`, `reasoning` and `total`; `written` is true where there is an answer.
    """
    notes: list[str] = []
    fields = {name: _count(counts.get(name), notes) for name in ("input", "output", "cached", "reasoning", "total")}
    if fields["output"] == 0 and written:
        fields["output"] = None
        notes.append(IMPOSSIBLE)
    for part, whole in (("cached", "input"), ("reasoning", "output")):
        most = fields[whole]
        if most is not None and (fields[part] or 0) > most:
            fields[part] = None
            notes.append(IMPOSSIBLE)
    if None not in (fields["input"], fields["output"], fields["total"]):
        if (fields["input"] or 0) + (fields["output"] or 0) != fields["total"]:
            notes.append(INCONSISTENT)
    elif fields["input"] is None or fields["output"] is None:
        notes.append(MISSING)
    usage = Usage(
        input_tokens=fields["input"],
        output_tokens=fields["output"],
        cached_input_tokens=fields["cached"],
        reasoning_tokens=fields["reasoning"],
    )
    return usage, tuple(dict.fromkeys(notes))


def _count(value: Any, notes: list[str]) -> int | None:
    if value is None:
        return None
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        notes.append(IMPOSSIBLE)
        return None
    return value
