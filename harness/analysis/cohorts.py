"""A sheet broken down: by repository, language, difficulty, age, prompt, temperature, training cut-off… Pure."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import date
from enum import StrEnum
from typing import TYPE_CHECKING

from harness.core.errors import InputError
from harness.core.wording import counted
from harness.dataset.policy import cutoff_of
from harness.judging.places import Place
from harness.stats import LEVEL, two_groups

if TYPE_CHECKING:
    from harness.analysis.scoresheet import SampleScore, Scoresheet
    from harness.runs.task_metadata import TaskFacts


_FEWEST = 5
"""Tasks on either side below which a gap says nothing."""
RANKED = ("trivial", "easy", "medium", "hard", "brutal", *Place)
"""Names of groups that have an order of their own: tiers of difficulty, places of judging."""


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


def parse_cutoffs(texts: Iterable[str], days: Mapping[str, date]) -> Cutoffs:
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
        before=older.sheet.rate.value if older else None,
        after=newer.sheet.rate.value if newer else None,
        tasks=(len(rates[0]), len(rates[1])),
        p=two_groups(*rates) if min(map(len, rates)) >= _FEWEST else None,
    )


class CohortKey(StrEnum):
    """What a sheet can be broken down by."""

    MODEL = "model"
    PROMPT = "prompt"
    TEMPERATURE = "temperature"
    REPO = "repo"
    LANGUAGE = "language"
    DIFFICULTY = "difficulty"
    TASK_TYPE = "task-type"
    WINDOW = "window"
    """Merged before the cut-off date, or on it and after: what a model may, or cannot, have seen in training."""
    CUTOFF = "cutoff"
    """As `WINDOW`, by each model's own cut-off."""
    SPLIT = "split"
    JUDGED = "judged"
    """Where the task is judged: host, mixed, inside, declared, own_runner; all count here."""


@dataclass(frozen=True, kw_only=True)
class Cohort:
    """A part of a sheet: the tasks, or the samples, that have one thing in common."""

    key: CohortKey
    value: str | None
    """None where the task or the prediction does not say."""
    sheet: Scoresheet

    @property
    def label(self) -> str:
        return "unknown" if self.value is None else self.value


def by_cohort(sheet: Scoresheet, key: CohortKey, *, cutoff: date | None = None) -> tuple[Cohort, ...]:
    """The cohorts of a sheet, by value, the unknown one last. A window needs `cutoff`, the model's training cut-off.

    Tasks without a prediction stand in the cohort that they belong to, so that each cohort has its own coverage; those
    of a key that predictions have (model, prompt, temperature) stand in every one.

    Raises:
        InputError: a window without a date.

    """
    sheet = sheet.whole() if key is CohortKey.JUDGED else sheet
    of_sample, of_task = _SAMPLES.get(key), _tasks(key, cutoff)
    values: set[str | None] = set()
    for task in sheet.tasks.values():
        values |= {of_sample(sample) for sample in task.samples} if of_sample else {of_task(task.facts)}
    if key is CohortKey.MODEL:
        return (Cohort(key=key, value=sheet.model, sheet=sheet),)
    if not of_sample:
        values |= {of_task(facts) for facts in sheet.uncovered.values()}
    ordered = sorted(values, key=lambda value: (value is None, _natural(value)))

    def part(value: str | None) -> Scoresheet:
        if of_sample:
            return _of_samples(sheet, of_sample, value)
        return sheet.where(lambda _, facts: of_task(facts) == value)

    return tuple(Cohort(key=key, value=value, sheet=part(value)) for value in ordered)


def cut(sheet: Scoresheet, key: CohortKey, cutoffs: Cutoffs | None) -> tuple[Cohort, ...]:
    """As `by_cohort`, by the cut-off that is known of the sheet's model."""
    return by_cohort(sheet, key, cutoff=cutoffs.of(sheet.model) if cutoffs else None)


_SAMPLES: dict[CohortKey, Callable[[SampleScore], str | None]] = {
    CohortKey.PROMPT: lambda sample: sample.usage.prompt,
    CohortKey.TEMPERATURE: lambda sample: None if sample.usage.temperature is None else f"{sample.usage.temperature:g}",
}


def _tasks(key: CohortKey, cutoff: date | None) -> Callable[[TaskFacts], str | None]:
    if key in (CohortKey.WINDOW, CohortKey.CUTOFF):
        if cutoff is None and key is CohortKey.WINDOW:
            raise InputError("a window needs a date", hint="give the model's training cut-off: --cutoff 2025-03-31")
        if cutoff is None:
            return lambda _facts: None
        day = cutoff.isoformat()
        return lambda facts: None if not facts.created_at else _side(facts.created_at, day)
    name = key.value.replace("-", "_")
    return lambda facts: getattr(facts, name, None)


def _side(created_at: str, day: str) -> str:
    return f"before {day}" if created_at[:10] < day else f"from {day}"


def _of_samples(sheet: Scoresheet, of: Callable[[SampleScore], str | None], value: str | None) -> Scoresheet:
    picked = {
        task_id: tuple(sample for sample in task.samples if of(sample) == value)
        for task_id, task in sheet.tasks.items()
    }
    without = {task_id: sheet.tasks[task_id].facts for task_id, samples in picked.items() if not samples}
    return replace(
        sheet,
        tasks={
            task_id: replace(sheet.tasks[task_id], samples=samples) for task_id, samples in picked.items() if samples
        },
        uncovered={**sheet.uncovered, **without},
    )


def _natural(value: str | None) -> tuple[float, str]:
    """Numbers by size, tiers from easy to brutal, places from the strongest, other words by the alphabet."""
    if value in RANKED:
        return float(RANKED.index(value)), ""
    try:
        return float(value or ""), ""
    except ValueError:
        return math.inf, value or ""
