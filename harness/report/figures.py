"""What a report counts over several models: comparisons, cohorts, failure classes. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

from harness.analysis.cohorts import RANKED, CohortKey, by_cohort
from harness.analysis.compare import Comparison, adjusted, compare
from harness.analysis.scoresheet import Scoresheet
from harness.core.errors import NothingComparableError
from harness.core.instance import Outcome
from harness.report.data import ModelSummary, ReportData

DIMENSIONS = {
    CohortKey.REPO: "repository",
    CohortKey.LANGUAGE: "language",
    CohortKey.DIFFICULTY: "difficulty",
    CohortKey.TASK_TYPE: "task type",
    CohortKey.SPLIT: "split",
    CohortKey.JUDGED: "place judged",
    CohortKey.PROMPT: "prompt",
    CohortKey.TEMPERATURE: "temperature",
}
"""What scores are broken down by, and how a person calls it."""
OF_TASKS = (
    CohortKey.REPO,
    CohortKey.LANGUAGE,
    CohortKey.DIFFICULTY,
    CohortKey.TASK_TYPE,
    CohortKey.SPLIT,
    CohortKey.JUDGED,
)
"""Dimensions that put a task into one group."""


@dataclass(frozen=True, kw_only=True)
class Duel:
    """The best model against another one, on the tasks that both have a verdict on."""

    best: int
    """Columns."""
    other: int
    comparison: Comparison | None
    """Base is the best model; None where no task has a verdict of both."""


@dataclass(frozen=True, kw_only=True)
class Group:
    """The tasks of one repository, or of one language, and so on."""

    name: str
    tasks: int
    """Most that a model has there, those it was not asked included."""
    sheets: Mapping[int, Scoresheet]
    """By column, cut down to the group."""


@dataclass(frozen=True, kw_only=True)
class Breakdown:
    """All groups of one dimension: tiers in their order, others the largest first."""

    name: str
    groups: tuple[Group, ...]


def duels(best: ModelSummary, others: Sequence[ModelSummary]) -> tuple[Duel, ...]:
    """The best model against each of the others; the p-values are corrected for how many there are (Holm)."""
    comparisons: dict[int, Comparison] = {}
    for other in others:
        with suppress(NothingComparableError):
            comparisons[other.column] = compare(best.sheet, other.sheet)
    corrected = dict(zip(comparisons, adjusted(list(comparisons.values())), strict=True))
    return tuple(Duel(best=best.column, other=other.column, comparison=corrected.get(other.column)) for other in others)


def breakdowns(models: Sequence[ModelSummary]) -> tuple[Breakdown, ...]:
    """Each model's scores by every dimension that anything is known of."""
    breakdowns_made = []
    for key, name in DIMENSIONS.items():
        groups: dict[str | None, dict[int, Scoresheet]] = {}
        for model in models:
            for cohort in by_cohort(model.sheet, key):
                groups.setdefault(cohort.value, {})[model.column] = cohort.sheet
        if groups.keys() - {None}:
            groups_made = [_group(value, sheets) for value, sheets in groups.items()]
            ordered = sorted(groups_made, key=lambda group: (group.name == "unknown", *rank(group.name, group.tasks)))
            breakdowns_made.append(Breakdown(name=name, groups=tuple(ordered)))
    return tuple(breakdowns_made)


def rank(name: str, tasks: int = 0) -> tuple[int, int, str]:
    """Where a group stands among others: tiers and places in their own order, others by size and name."""
    place = RANKED.index(name) if name in RANKED else len(RANKED)
    return (place, 0 if name in RANKED else -tasks, name)


def _group(value: str | None, sheets: Mapping[int, Scoresheet]) -> Group:
    return Group(
        name="unknown" if value is None else value, tasks=max(sheet.total for sheet in sheets.values()), sheets=sheets
    )


def failure_classes(report_data: ReportData) -> dict[str, dict[int, int]]:
    """By failure class, how many predictions of each column came to it; commonest first.

    Infrastructure failures are none, and controls have none unless they are alone.
    """
    columns = {model.column for model in report_data.competitors()}
    counts: dict[str, Counter[int]] = {}
    for view in report_data.predictions:
        if view.column in columns and view.scored and view.outcome is not Outcome.RESOLVED:
            counts.setdefault(view.failure_class, Counter())[view.column] += 1
    order = sorted(counts, key=lambda name: (-counts[name].total(), name))
    return {name: dict(counts[name]) for name in order}
