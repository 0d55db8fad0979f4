"""Models' training cut-offs, and what a gap between tasks before and after one says. Pure."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import date
from typing import TYPE_CHECKING

from harness.analysis.cohorts import CohortKey, by_cohort
from harness.core.errors import InputError
from harness.core.wording import counted
from harness.dataset.policy import cutoff_of
from harness.stats import two_groups

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from harness.analysis.scoresheet import Scoresheet

LEVEL = 0.05
_FEWEST = 5
"""Tasks on either side below which a gap says nothing."""


@dataclass(frozen=True, kw_only=True)
class Cutoffs:
    """The last day of models' training data."""

    every: date | None = None
    """Of every model that is not named."""
    by_model: Mapping[str, date] = field(default_factory=dict)
    """By name, or a pattern such as `gpt-5*`."""

    def of(self, model: str) -> date | None:
        """A model's; None where it is not known."""
        return cutoff_of(model, self.by_model) or self.every

    def __bool__(self) -> bool:
        """Whether any is known."""
        return self.every is not None or bool(self.by_model)


@dataclass(frozen=True, kw_only=True)
class Gap:
    """One model's rate on tasks merged before its cut-off, and from it on."""

    model: str
    day: date
    before: float | None
    after: float | None
    """None where no task has a verdict."""
    tasks: tuple[int, int]
    """With a verdict: before, and after."""
    p: float | None
    """Two-sided: how often chance alone parts two such groups as far; None where there are too few tasks."""

    @property
    def is_significant(self) -> bool:
        return self.p is not None and self.p < LEVEL

    def sentence(self) -> str:
        """What it says, in plain words."""
        if self.before is None or self.after is None or self.p is None:
            few = f"{counted(self.tasks[0], 'task')} before and {self.tasks[1]} after"
            return f"{self.model}: too few tasks to tell whether its training data holds them: {few} {self.day}"
        text = (
            f"{self.model} resolves {self.before:.0%} of {self.tasks[0]} tasks merged before its training cut-off "
            f"({self.day}) and {self.after:.0%} of {self.tasks[1]} merged since (p = {self.p:.2g})"
        )
        if not self.is_significant:
            return f"{text}: no sign that it knows the older ones"
        if self.before > self.after:
            return f"{text}: it may have seen the older ones in training, so trust the newer ones"
        return f"{text}: the newer ones are easier for it, which is not a sign of contamination"


def parse(texts: Iterable[str], days: Mapping[str, date]) -> Cutoffs:
    """Cut-offs as a command line gives them, `DATE` or `MODEL=DATE`, over those of the settings.

    Raises:
        InputError: one is neither, or a model is named twice.

    """
    every: date | None = None
    days_by_model: dict[str, date] = {}
    for text in texts:
        model, sign, day = text.rpartition("=")
        if (sign and (not model or model in days_by_model)) or (not sign and every is not None):
            raise InputError(f"--cutoff: expected one DATE for all models, or one MODEL=DATE for each, found {text!r}")
        try:
            cutoff = date.fromisoformat(day)
        except ValueError:
            raise InputError(f"--cutoff: expected a day such as 2025-03-31, found {day!r}") from None
        if sign:
            days_by_model[model] = cutoff
        else:
            every = cutoff
    return Cutoffs(every=every, by_model={**days, **days_by_model} if every is None else days_by_model)


def gap(sheet: Scoresheet, cutoffs: Cutoffs) -> Gap | None:
    """A model's gap; None where its cut-off is not known."""
    day = cutoffs.of(sheet.model)
    if day is None:
        return None
    sides = {cohort.value: cohort for cohort in by_cohort(sheet, CohortKey.CUTOFF, cutoff=day)}
    older, newer = (sides.get(f"{word} {day.isoformat()}") for word in ("before", "from"))
    rates = [[float(task.rate or 0) for task in side.sheet.scored] if side else [] for side in (older, newer)]
    return Gap(
        model=sheet.model,
        day=day,
        before=older.rate.value if older else None,
        after=newer.rate.value if newer else None,
        tasks=(len(rates[0]), len(rates[1])),
        p=two_groups(*rates) if min(map(len, rates)) >= _FEWEST else None,
    )
