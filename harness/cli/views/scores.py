"""Scoresheets for a person and for a program: tables for the terminal, plain values for `--json`. Prints nothing."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict
from typing import Any

from rich.console import Group, RenderableType
from rich.table import Column, Table
from rich.text import Text

from harness.analysis.cohorts import Cohort, CohortKey, Cutoffs, Gap, cut
from harness.analysis.cohorts import gap as gap_of
from harness.analysis.scoresheet import Figure, Scoresheet
from harness.cli.views.terminal import table_of
from harness.core.wording import counted, percent, span
from harness.runs.scaffold_score import HIDDEN_ONLY, SCAFFOLDED
from harness.stats import Interval

SCHEMA_VERSION = 1
UNKNOWN = "–"


def table(*headings: str, left: int = 1) -> Table:
    """A table as all of ours: no frame, the first columns to the left, figures to the right."""
    columns = [Column(heading, overflow="fold") for heading in headings[:left]]
    figures = [Column(heading, justify="right", overflow="fold", no_wrap=True) for heading in headings[left:]]
    return table_of(*columns, *figures)


def bounds(interval: Interval | None) -> str:
    """`47–91%`."""
    return UNKNOWN if interval is None else span(interval.low, interval.high)


def points(value: float, *, sign: bool = True) -> str:
    """A difference of shares in percentage points, with one digit where it is small."""
    number = 100 * value
    text = f"{abs(number):.1f}" if 0 < abs(number) < 10 else f"{abs(number):.0f}"  # noqa: PLR2004 - two digits that count
    if not sign or float(text) == 0:
        return text
    return ("+" if number > 0 else "−") + text


def share(resolved: int, scored: int) -> str:
    return f"{resolved}/{scored}"


def dollars(figure: Figure) -> str:
    """The total; unknown unless every prediction says."""
    if figure.total is None:
        return UNKNOWN
    return f"${figure.total:.2f}" if figure.total >= 1 or figure.total == 0 else f"${figure.total:.3g}"


def seconds(figure: Figure) -> str:
    """The median; unknown unless every prediction says."""
    if figure.median is None or figure.known < figure.of:
        return UNKNOWN
    return f"{figure.median:.1f} s" if figure.median < 100 else f"{figure.median:.0f} s"  # noqa: PLR2004


def score_table(sheets: Sequence[Scoresheet]) -> Table:
    """Models side by side."""
    with_cost = any(sheet.cost_usd.known or sheet.latency_seconds.known for sheet in sheets)
    headings = ("resolved", "rate", "95% CI", "coverage", "score", "F2P", "P2P")
    grid = table("model", *headings, *(("cost", "latency") if with_cost else ()))
    for name, sheet in zip(names(sheets), sheets, strict=True):
        grid.add_row(
            Text(name),
            share(sheet.resolved, sheet.verdicts),
            percent(sheet.rate.value),
            bounds(sheet.rate.interval),
            percent(sheet.coverage),
            UNKNOWN if sheet.score.value is None else f"{sheet.score.value:.0f}",
            percent(sheet.fail_to_pass.value),
            percent(sheet.pass_to_pass.value),
            *((dollars(sheet.cost_usd), seconds(sheet.latency_seconds)) if with_cost else ()),
        )
    return grid


def names(sheets: Sequence[Scoresheet]) -> tuple[str, ...]:
    """The models, with the run folder where one model stands in several runs."""
    models = [sheet.model for sheet in sheets]
    return tuple(
        sheet.model if models.count(sheet.model) == 1 else f"{sheet.model} ({sheet.run.name})" for sheet in sheets
    )


def tries_table(sheets: Sequence[Scoresheet], k: Sequence[int]) -> Table:
    """pass@k and pass^k."""
    grid = table("model", "k", "pass@k", "95% CI", "pass^k", "95% CI", "tasks")
    for name, sheet in zip(names(sheets), sheets, strict=True):
        for number in k:
            estimate, all_ = sheet.pass_at(number), sheet.pass_hat(number)
            grid.add_row(
                Text(name),
                str(number),
                percent(estimate.value),
                bounds(estimate.interval),
                percent(all_.value),
                bounds(all_.interval),
                str(estimate.tasks),
            )
    return grid


def cohort_table(sheets: Sequence[Scoresheet], key: CohortKey, *, cutoffs: Cutoffs | None) -> Table:
    """One line for each model in each cohort."""
    grid = table(key.value, "model", "tasks", "resolved", "rate", "95% CI", "coverage", left=2)
    for name, sheet in zip(names(sheets), sheets, strict=True):
        for cohort in cut(sheet, key, cutoffs):
            part = cohort.sheet
            grid.add_row(
                Text(cohort.label),
                Text(name),
                str(part.total),
                share(part.resolved, part.verdicts),
                percent(part.rate.value),
                bounds(part.rate.interval),
                percent(part.coverage),
            )
    return grid


def render(
    sheets: Sequence[Scoresheet],
    *,
    k: Sequence[int] = (),
    by: Sequence[CohortKey] = (),
    cutoffs: Cutoffs | None = None,
) -> RenderableType:
    """All that `goldseam scores` shows."""
    parts: list[RenderableType] = [score_table(sheets)]
    if k:
        parts += [Text(), tries_table(sheets, k)]
    for key in by:
        parts += [Text(), cohort_table(sheets, key, cutoffs=cutoffs)]
        parts += gap_lines(sheets, key, cutoffs)
    if not all(sheet.knows_dataset for sheet in sheets):
        parts += [Text(), Text("coverage is of what was asked: the run doesn't say more (--dataset does)", "yellow")]
    task_ids = sorted({task_id for sheet in sheets for task_id in sheet.scaffolded})
    if task_ids:
        parts += [
            Text(),
            Text(
                f"kind: scaffolded, {counted(len(task_ids), 'task shows', 'tasks show')} some of their tests", "yellow"
            ),
        ]
    sentences = dict.fromkeys(sheet.standing.told() for sheet in sheets)
    parts += [part for text in sentences if text for part in (Text(), Text(text, "yellow"))]
    if apart := sorted({task_id for sheet in sheets for task_id in sheet.apart}):
        text = f"own_runner: {counted(len(apart), 'task')} judged by the repository's own runner, not counted (--own-runner does)"
        parts += [Text(), Text(text, "yellow")]
    aside = sorted({task_id for sheet in sheets for task_id in sheet.aside.keys() - sheet.apart.keys()})
    if aside:
        parts += [Text(), Text(f"not counted, since not proved, quarantined or retired: {', '.join(aside)}", "yellow")]
    return Group(*parts)


def as_json(
    sheets: Sequence[Scoresheet],
    *,
    k: Sequence[int] = (),
    by: Sequence[CohortKey] = (),
    cutoffs: Cutoffs | None = None,
) -> dict[str, Any]:
    """What `goldseam scores --json` prints; docs/statistics.md names its fields."""
    return {
        "schema_version": SCHEMA_VERSION,
        "models": [
            {
                **sheet_json(sheet),
                "tries": tries_json(sheet, k),
                "not_counted": sorted(sheet.aside),
                "cohorts": {key.value: [cohort_json(part) for part in cut(sheet, key, cutoffs)] for key in by},
                "cutoff_gap": gap_json(sheet, by, cutoffs),
            }
            for sheet in sheets
        ],
    }


def gap_lines(sheets: Iterable[Scoresheet], key: CohortKey, cutoffs: Cutoffs | None) -> list[RenderableType]:
    """What the gaps at the models' cut-offs say; a significant gap is a warning."""
    gaps = (_gap(sheet, [key], cutoffs) for sheet in sheets)
    return [Text.assemble(("! " if gap.is_significant else "", "yellow"), gap.sentence()) for gap in gaps if gap]


def gap_json(sheet: Scoresheet, by: Sequence[CohortKey], cutoffs: Cutoffs | None) -> dict[str, Any] | None:
    """A model's gap at its cut-off; null where that was not asked for, or the cut-off is not known."""
    gap = _gap(sheet, by, cutoffs)
    if gap is None:
        return None
    return {
        "day": gap.day.isoformat(),
        "before": gap.before,
        "after": gap.after,
        "tasks": list(gap.tasks),
        "p": gap.p,
        "significant": gap.is_significant,
        "sentence": gap.sentence(),
    }


def _gap(sheet: Scoresheet, by: Sequence[CohortKey], cutoffs: Cutoffs | None) -> Gap | None:
    is_asked = {CohortKey.CUTOFF, CohortKey.WINDOW} & set(by)
    return gap_of(sheet, cutoffs) if cutoffs is not None and is_asked else None


def sheet_json(sheet: Scoresheet) -> dict[str, Any]:
    """A sheet's figures, without its tasks."""
    return {
        "model": sheet.model,
        "run": str(sheet.run),
        "dataset": sheet.dataset,
        "dataset_version": sheet.dataset_version,
        "tasks": sheet.total,
        "knows_dataset": sheet.knows_dataset,
        "kind": SCAFFOLDED if sheet.scaffolded else HIDDEN_ONLY,
        "scaffolded_tasks": len(sheet.scaffolded),
        "judged": {place.value: count for place, count in sheet.standing.judged.items()},
        "guessable_tasks": sheet.standing.guessable,
        "own_runner_apart": sorted(sheet.apart),
        "coverage": sheet.coverage,
        "resolved": sheet.resolved,
        "verdicts": sheet.verdicts,
        "rate": asdict(sheet.rate),
        "score": asdict(sheet.score),
        "fail_to_pass": asdict(sheet.fail_to_pass),
        "pass_to_pass": asdict(sheet.pass_to_pass),
        "cost_usd": figure_json(sheet.cost_usd),
        "latency_seconds": figure_json(sheet.latency_seconds),
        "tokens_used": figure_json(sheet.tokens),
    }


def tries_json(sheet: Scoresheet, k: Iterable[int]) -> list[dict[str, Any]]:
    return [
        {"k": number, "pass_at_k": asdict(sheet.pass_at(number)), "pass_hat_k": asdict(sheet.pass_hat(number))}
        for number in k
    ]


def cohort_json(cohort: Cohort) -> dict[str, Any]:
    return {"key": cohort.key.value, "value": cohort.value, **sheet_json(cohort.sheet)}


def figure_json(figure: Figure) -> dict[str, Any]:
    return {"total": figure.total, **asdict(figure)}
