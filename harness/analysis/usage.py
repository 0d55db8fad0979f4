"""What a prediction says of how it was made: cost, latency, tokens, settings. Pure. Unknown is None and never 0."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

_PAIRS = (("prompt_tokens", "completion_tokens"), ("input_tokens", "output_tokens"), ("input", "output"))
"""What was read and what was written, as OpenAI, Anthropic and we name them."""


@dataclass(frozen=True, kw_only=True)
class Usage:
    """How a prediction was made. None where the prediction does not say, or says something that can't be."""

    cost_usd: float | None = None
    """US dollars."""
    latency_seconds: float | None = None
    """From the first request to the finished patch."""
    tokens: int | None = None
    """Read and written."""
    temperature: float | None = None
    prompt: str | None = None
    """Name or version of the prompt."""


def usage_of(extra: Mapping[str, Any]) -> Usage:
    """Read the further fields of a prediction; docs/formats.md names those that count."""
    settings = extra.get("settings")
    both = {**settings, **extra} if isinstance(settings, dict) else dict(extra)
    return Usage(
        cost_usd=_number(extra, "cost_usd", "cost"),
        latency_seconds=_number(extra, "latency_seconds", "latency"),
        tokens=_tokens(extra),
        temperature=_number(both, "temperature"),
        prompt=_word(both, "prompt_version", "prompt"),
    )


def _tokens(extra: Mapping[str, Any]) -> int | None:
    """A number; or a mapping, or the prediction itself, with the total or with what was read and what was written."""
    counts = extra.get("tokens", extra.get("usage"))
    source = counts if isinstance(counts, dict) else extra
    total = _number(source, "total_tokens", "total", "tokens")
    if total is not None:
        return round(total)
    for pair in _PAIRS:
        read, written = (_number(source, name) for name in pair)
        if read is not None and written is not None:
            return round(read + written)
    return None


def _number(values: Mapping[str, Any], *names: str) -> float | None:
    for name in names:
        value = values.get(name)
        if isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value) and value >= 0:
            return value
    return None


def _word(values: Mapping[str, Any], *names: str) -> str | None:
    for name in names:
        value = values.get(name)
        if isinstance(value, str) and value.strip():
            return value.strip()
        if isinstance(value, int) and not isinstance(value, bool):
            return str(value)
    return None
