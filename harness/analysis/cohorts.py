"""A sheet broken down: by repository, language, difficulty, age of the task, prompt, temperature… Pure."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING

from harness.core.errors import InputError
from harness.judging.places import Place

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import date

    from harness.analysis.scoresheet import Estimate, SampleScore, Scoresheet
    from harness.runs.task_metadata import TaskFacts


RANKED = ("trivial", "easy", "medium", "hard", "brutal", *Place)
"""Names of groups that have an order of their own: tiers of difficulty, places of judging."""


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

    @property
    def rate(self) -> Estimate:
        return self.sheet.rate

    @property
    def coverage(self) -> float:
        return self.sheet.coverage


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
    cut = [_of_samples(sheet, of_sample, value) if of_sample else _of_tasks(sheet, of_task, value) for value in ordered]
    return tuple(Cohort(key=key, value=value, sheet=part) for value, part in zip(ordered, cut, strict=True))


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


def _of_tasks(sheet: Scoresheet, of: Callable[[TaskFacts], str | None], value: str | None) -> Scoresheet:
    return replace(
        sheet,
        tasks={task_id: task for task_id, task in sheet.tasks.items() if of(task.facts) == value},
        aside={task_id: task for task_id, task in sheet.aside.items() if of(task.facts) == value},
        uncovered={task_id: facts for task_id, facts in sheet.uncovered.items() if of(facts) == value},
    )


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
