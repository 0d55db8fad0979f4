"""The task by model matrix: rows and cells as values. Pure."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

from harness.core.instance import Outcome
from harness.report.data import PredictionView, ReportData, TaskView
from harness.report.words import OUTCOMES, SHORT

PENDING, MIXED, NONE = "pending", "mixed", "none"


@dataclass(frozen=True, kw_only=True)
class Cell:
    """What one model came to on one task."""

    kind: str
    """An outcome, or `pending`, `mixed` (samples differ), `none` (no prediction)."""
    word: str
    short: str
    column: int
    flagged: bool = False
    """A pass that a person should look at before believing it."""


@dataclass(frozen=True, kw_only=True)
class Row:
    """One task with its cells, in the order of `ReportData.ordered`."""

    task: TaskView
    number: int
    """Of the task, from 0."""
    cells: tuple[Cell, ...]
    resolved: int
    """Columns of competing models with a resolved sample."""


def rows(report_data: ReportData) -> list[Row]:
    """Every task with a cell per column."""
    compete = {model.column for model in report_data.competitors()}
    order = report_data.ordered()
    rows_made: list[Row] = []
    for number, (task, views) in enumerate(report_data.by_task()):
        samples = {column: list(group) for column, group in itertools.groupby(views, lambda view: view.column)}
        cells = tuple(cell(model.column, samples.get(model.column, [])) for model in order)
        solved = {view.column for view in views if view.outcome is Outcome.RESOLVED}
        rows_made.append(Row(task=task, number=number, cells=cells, resolved=len(solved & compete)))
    return rows_made


def cell(column: int, samples: Sequence[PredictionView]) -> Cell:
    """One model on one task; with several samples, how many of them resolve."""
    if not samples:
        return Cell(kind=NONE, word="no prediction", short="–", column=column)
    kinds = {view.outcome for view in samples}
    first = samples[0].outcome
    flagged = any(view.flags and view.outcome is Outcome.RESOLVED for view in samples)
    note = "; review it before you trust it" if flagged else ""
    if len(samples) == 1:
        word = OUTCOMES[first] if first else "not scored yet"
        short = (SHORT.get(first, word) if first else "pending") or word
        kind = first.value if first else PENDING
        if first is Outcome.UNRESOLVED and samples[0].failure_class:
            word += f": {samples[0].failure_class.replace('_', ' ')}"
        return Cell(kind=kind, word=word + note, short=short, column=column, flagged=flagged)
    solved = sum(view.outcome is Outcome.RESOLVED for view in samples)
    kind = (first.value if first else PENDING) if len(kinds) == 1 else MIXED
    if kind == MIXED and not solved:
        kind = Outcome.UNRESOLVED.value
    text = f"{solved}/{len(samples)}"
    return Cell(kind=kind, word=f"{text} samples resolved{note}", short=text, column=column, flagged=flagged)
