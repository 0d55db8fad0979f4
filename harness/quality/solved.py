"""How hard a task is by what models came to on it, with how sure that is. Pure.

docs/quality.md states the rule.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from harness.quality.difficulty import Tier
from harness.stats import Interval, wilson

ENOUGH = 5
"""Verdicts from which the measured rate stands in place of the rule's tier."""
_LEAST: Mapping[Tier, float] = {Tier.EASY: 0.75, Tier.MEDIUM: 0.4, Tier.HARD: 0.1}
"""The solve rate from which a task belongs to a tier; below the last it is brutal."""


@dataclass(frozen=True, kw_only=True)
class Trial:
    """One verdict of a model on a task."""

    model: str
    resolved: bool


@dataclass(frozen=True, kw_only=True)
class SolveRate:
    """The solve rate of one task."""

    resolved: int
    verdicts: int
    interval: Interval
    """95%, Wilson's, over the verdicts of these models."""
    models: tuple[str, ...]

    @property
    def rate(self) -> float:
        return self.resolved / self.verdicts

    @property
    def tier(self) -> Tier:
        return tier_of(self.rate)

    @property
    def settled(self) -> bool:
        """Whether there are verdicts enough to stand in the rule's place."""
        return self.verdicts >= ENOUGH

    def public(self) -> dict[str, object]:
        """`quality.difficulty.measured` of task.yaml."""
        return {
            "tier": self.tier.value,
            "rate": round(self.rate, 4),
            "low": round(self.interval.low, 4),
            "high": round(self.interval.high, 4),
            "hardest": tier_of(self.interval.low).value,
            "easiest": tier_of(self.interval.high).value,
            "resolved": self.resolved,
            "verdicts": self.verdicts,
            "models": list(self.models),
        }


def tier_of(rate: float) -> Tier:
    """The tier of a solve rate."""
    return next((tier for tier, least in _LEAST.items() if rate >= least), Tier.BRUTAL)


def measured(trials: Iterable[Trial]) -> SolveRate | None:
    """The solve rate over verdicts of one task; None without one."""
    every = tuple(trials)
    resolved = sum(trial.resolved for trial in every)
    interval = wilson(resolved, len(every))
    if interval is None:
        return None
    models = tuple(sorted({trial.model for trial in every}))
    return SolveRate(resolved=resolved, verdicts=len(every), interval=interval, models=models)


def difficulty_with(quality: Mapping[str, Any], rate: SolveRate) -> dict[str, Any]:
    """`quality.difficulty` with a measured rate in it: its tier stands where there are verdicts enough.

    The rule's own tier is kept as `rule_tier`, so that an older measurement can be replaced.
    """
    recorded = quality.get("difficulty")
    before = dict(recorded) if isinstance(recorded, dict) else {"tier": recorded} if isinstance(recorded, str) else {}
    by_rule = before.get("rule_tier", before.get("tier"))
    return {
        **before,
        "tier": rate.tier.value if rate.settled else by_rule,
        "by": "runs" if rate.settled else "rule" if by_rule else None,
        "rule_tier": by_rule,
        "measured": rate.public(),
    }
