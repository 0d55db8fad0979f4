"""A comparison for a person and for a program: the answer in a sentence, then what it stands on. Prints nothing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from harness.analysis.cohorts import CohortKey, Cutoffs, cut
from harness.analysis.compare import Answer, Comparison, Flip, Reason
from harness.analysis.scoresheet import Scoresheet
from harness.cli.views.scores import (
    SCHEMA_VERSION,
    UNKNOWN,
    bounds,
    cohort_json,
    dollars,
    gap_json,
    gap_lines,
    points,
    seconds,
    share,
    sheet_json,
    table,
)
from harness.core.wording import counted, first_of, percent
from harness.stats import LEVEL

STYLES = {Answer.BETTER: "bold green", Answer.WORSE: "bold red", Answer.CANT_TELL: "bold yellow"}
_WORDS = {Answer.BETTER: "Better", Answer.WORSE: "Worse", Answer.CANT_TELL: "Can't tell"}
FLIPS_SHOWN = 20
_NAMED = 10
"""Tasks left out that are named, for each reason."""
_TINY = 0.001
_ABOUT = 100


def sentence(comparison: Comparison) -> str:
    """The answer in plain words, with the figures that it stands on."""
    base, candidate = _names(comparison)
    text = (
        f"{candidate} resolves {percent(comparison.candidate.rate.value)} of {counted(len(comparison.common), 'task')}, "
        f"{base} {percent(comparison.base.rate.value)}: {_difference(comparison)}"
    )
    if comparison.answer is Answer.CANT_TELL:
        return f"{text}. {_one_of_several(comparison)}{_what_it_takes(comparison)}"
    return f"{text}, {_p(comparison.p_adjusted)}."


def _one_of_several(comparison: Comparison) -> str:
    alone, adjusted = comparison.test.p, comparison.p_adjusted
    if not alone < LEVEL <= adjusted:
        return ""
    return f"Alone it would count ({_p(alone)}), as one of several candidates it does not ({_p(adjusted)}). "


def _difference(comparison: Comparison) -> str:
    low, high = points(comparison.interval.low), points(comparison.interval.high)
    size = "no difference" if comparison.difference == 0 else f"{points(comparison.difference)} points"
    return f"{size} (95% interval {low} to {high})"


def _what_it_takes(comparison: Comparison) -> str:
    sees = points(comparison.smallest_visible, sign=False)
    text = (
        "These tasks are too few to see any difference"
        if comparison.smallest_visible >= 1
        else f"With these tasks a difference of {sees} points or more would show"
    )
    if comparison.tasks_needed is None or comparison.tasks_needed <= len(comparison.common):  # Holm can do that
        return f"{text}."
    size = points(comparison.difference, sign=False)
    needs = f"{text}; to tell one of {size} it takes about {_about(comparison.tasks_needed)} tasks"
    if comparison.samples_needed:
        return f"{needs}, or {_about(comparison.samples_needed)} samples of each of these."
    return f"{needs}."


def _about(number: int) -> str:
    """Two digits that count: it is an estimate."""
    if number < _ABOUT:
        return str(number)
    step = 10 ** (len(str(number)) - 2)
    return f"{-(-number // step) * step:,}"


def render(
    comparisons: Sequence[Comparison],
    *,
    by: Sequence[CohortKey] = (),
    cutoffs: Cutoffs | None = None,
    flips: int = FLIPS_SHOWN,
) -> RenderableType:
    """All that `goldseam compare` shows: every answer first, then what each stands on."""
    parts: list[RenderableType] = []
    for comparison in comparisons:
        parts += [_headline(comparison), Text()]
    for comparison in comparisons:
        if len(comparisons) > 1:
            parts.append(Text(" against ".join(reversed(_names(comparison))), style="bold"))
        parts += _pair(comparison, many=len(comparisons) > 1, flips=flips)
        parts += _broken_down(comparison, by, cutoffs)
    return Group(*parts)


def _headline(comparison: Comparison) -> Text:
    text = Text(f"{_WORDS[comparison.answer]}: ", style=STYLES[comparison.answer])
    return text.append(sentence(comparison), style="default not bold")


def _pair(comparison: Comparison, *, many: bool, flips: int) -> list[RenderableType]:
    parts: list[RenderableType] = [_indented(_models(comparison)), Text(), _indented(_grounds(comparison, many=many))]
    parts += [Text.assemble(("! ", "yellow"), warning) for warning in comparison.warnings]
    sentences = dict.fromkeys(sheet.standing.told() for sheet in (comparison.base, comparison.candidate))
    parts += [Text.assemble(("! ", "yellow"), text) for text in sentences if text]
    parts += [Text(), *_flips("gained", comparison.gained, flips), *_flips("lost", comparison.lost, flips)]
    parts += _left_out(comparison)
    return [*parts, Text()]


def _models(comparison: Comparison) -> Table:
    with_cost = _tells_cost(comparison)
    grid = table("", "resolved", "rate", "95% CI", "coverage", *(("cost", "latency") if with_cost else ()))
    sides = ((comparison.base, comparison.base_coverage), (comparison.candidate, comparison.candidate_coverage))
    for name, (sheet, coverage) in zip(_names(comparison), sides, strict=True):
        grid.add_row(
            Text(name),
            share(sheet.resolved, sheet.verdicts),
            percent(sheet.rate.value),
            bounds(sheet.rate.interval),
            percent(coverage),
            *((dollars(sheet.cost_usd), seconds(sheet.latency_seconds)) if with_cost else ()),
        )
    return grid


def _tells_cost(comparison: Comparison) -> bool:
    sheets = (comparison.base, comparison.candidate)
    return any(sheet.cost_usd.known or sheet.latency_seconds.known for sheet in sheets)


def _grounds(comparison: Comparison, *, many: bool) -> Table:
    grid = Table.grid(padding=(0, 2, 0, 0))
    grid.add_column(style="bright_black", no_wrap=True)
    grid.add_column()
    grid.add_row("difference", _difference(comparison))
    grid.add_row("test", f"{comparison.test.method}: {_p(comparison.test.p)}")
    if many:
        grid.add_row("over all", f"{_p(comparison.p_adjusted)} (Holm, for several candidates)")
    if comparison.repositories:
        grid.add_row("clustered", f"by repository ({comparison.repositories})")
    visible = points(comparison.smallest_visible, sign=False)
    few = comparison.smallest_visible >= 1
    grid.add_row("can see", "no difference" if few else f"true differences from {visible} points on, 4 times in 5")
    grid.add_row("tasks", _coverage(comparison))
    grid.add_row("cost", _cost_gaps(comparison))
    return grid


def _coverage(comparison: Comparison) -> str:
    text = f"{len(comparison.common)} compared"
    if comparison.left_out:
        text += f", {len(comparison.left_out)} left out"
    return text


def _cost_gaps(comparison: Comparison) -> str:
    """What is not known of cost and latency; the figures themselves stand in the table of models."""
    if not _tells_cost(comparison):
        return "unknown, and so is latency: the predictions don't say"
    gaps = []
    for name, sheet in zip(_names(comparison), (comparison.base, comparison.candidate), strict=True):
        for label, figure in (("cost", sheet.cost_usd), ("latency", sheet.latency_seconds)):
            if figure.known < figure.of:
                gaps.append(f"{label} of {name} known for {figure.known} of {figure.of} patches")
    return "; ".join(gaps) or "in all, over the tasks compared; latency is the median"


def _flips(word: str, flips: Sequence[Flip], most: int) -> list[RenderableType]:
    """Tasks that changed, the largest change first."""
    if not flips:
        return [Text(f"{word}: none", style="bright_black")]
    grid = Table.grid(padding=(0, 2, 0, 0))
    grid.add_column(overflow="fold")
    grid.add_column(no_wrap=True)
    for flip in sorted(flips, key=lambda flip: -abs(flip.change))[:most]:
        grid.add_row(Text(flip.instance_id), f"{share(*flip.base)} → {share(*flip.candidate)}")
    if len(flips) > most:
        grid.add_row(Text(f"and {len(flips) - most} more (--flips {len(flips)})", style="bright_black"), "")
    style = "green" if word == "gained" else "red"
    return [Text(f"{word}: {counted(len(flips), 'task')}", style=style), _indented(grid)]


def _left_out(comparison: Comparison) -> list[RenderableType]:
    by_reason = Counter(comparison.left_out.values())
    parts: list[RenderableType] = []
    for reason in Reason:
        if not by_reason[reason]:
            continue
        task_ids = [task_id for task_id, why in comparison.left_out.items() if why is reason]
        parts.append(
            Text.assemble(
                (f"left out, {reason.value}: {counted(len(task_ids), 'task')}", "yellow"),
                f" {first_of(task_ids, _NAMED)}",
            )
        )
    return parts


def _broken_down(comparison: Comparison, by: Sequence[CohortKey], cutoffs: Cutoffs | None) -> list[RenderableType]:
    parts: list[RenderableType] = []
    for key in by:
        grid = table(key.value, "tasks", "base", "95% CI", "candidate", "95% CI")
        base_cohorts = {cohort.value: cohort for cohort in cut(comparison.base, key, cutoffs)}
        two = {cohort.value: cohort for cohort in cut(comparison.candidate, key, cutoffs)}
        for value in [*base_cohorts, *(value for value in two if value not in base_cohorts)]:
            cells = [_cells(cohorts[value].sheet if value in cohorts else None) for cohorts in (base_cohorts, two)]
            cohort = base_cohorts.get(value) or two[value]
            grid.add_row(Text(cohort.label), str(cohort.sheet.total), *cells[0], *cells[1])
        parts.append(_indented(grid))
        parts += [_indented(line) for line in gap_lines((comparison.base, comparison.candidate), key, cutoffs)]
        parts.append(Text())
    return parts


def _cells(sheet: Scoresheet | None) -> tuple[str, str]:
    if sheet is None or not sheet.verdicts:
        return (UNKNOWN, UNKNOWN)
    return (f"{share(sheet.resolved, sheet.verdicts)} {percent(sheet.rate.value)}", bounds(sheet.rate.interval))


def _names(comparison: Comparison) -> tuple[str, str]:
    """The two models; with their run folders where they are the same model."""
    base, candidate = comparison.base, comparison.candidate
    if base.model != candidate.model:
        return base.model, candidate.model
    path, two = base.run.resolve(), candidate.run.resolve()
    if path.name != two.name:
        return f"{base.model} ({path.name})", f"{candidate.model} ({two.name})"
    return f"{base.model} ({path.parent.name}/{path.name})", f"{candidate.model} ({two.parent.name}/{two.name})"


def _p(value: float) -> str:
    return f"p < {_TINY}" if value < _TINY else f"p = {value:.2g}" if value < LEVEL * 2 else f"p = {value:.2f}"


def _indented(part: RenderableType) -> Padding:
    return Padding(part, (0, 0, 0, 2), expand=False)


def as_json(
    comparisons: Sequence[Comparison], *, by: Sequence[CohortKey] = (), cutoffs: Cutoffs | None = None
) -> dict[str, Any]:
    """What `goldseam compare --json` prints; docs/statistics.md names its fields."""
    return {
        "schema_version": SCHEMA_VERSION,
        "level": LEVEL,
        "comparisons": [_comparison_json(comparison, by, cutoffs) for comparison in comparisons],
    }


def _comparison_json(comparison: Comparison, by: Sequence[CohortKey], cutoffs: Cutoffs | None) -> dict[str, Any]:
    return {
        "answer": comparison.answer.name.lower(),
        "sentence": sentence(comparison),
        "base": sheet_json(comparison.base) | {"coverage": comparison.base_coverage},
        "candidate": sheet_json(comparison.candidate) | {"coverage": comparison.candidate_coverage},
        "compared": list(comparison.common),
        "left_out": {task_id: reason.value for task_id, reason in comparison.left_out.items()},
        "warnings": list(comparison.warnings),
        "difference": comparison.difference,
        "interval": asdict(comparison.interval),
        "repositories": comparison.repositories,
        "test": {
            "method": comparison.test.method,
            "p": comparison.test.p,
            "p_adjusted": comparison.p_adjusted,
            "informative": comparison.test.informative,
        },
        "smallest_visible": comparison.smallest_visible,
        "tasks_needed": comparison.tasks_needed,
        "samples_needed": comparison.samples_needed,
        "gained": [_flip_json(flip) for flip in comparison.gained],
        "lost": [_flip_json(flip) for flip in comparison.lost],
        "cohorts": {
            key.value: {
                "base": [cohort_json(cohort) for cohort in cut(comparison.base, key, cutoffs)],
                "candidate": [cohort_json(cohort) for cohort in cut(comparison.candidate, key, cutoffs)],
            }
            for key in by
        },
        "cutoff_gaps": {
            "base": gap_json(comparison.base, by, cutoffs),
            "candidate": gap_json(comparison.candidate, by, cutoffs),
        },
    }


def _flip_json(flip: Flip) -> dict[str, Any]:
    return {
        "instance_id": flip.instance_id,
        "base": {"resolved": flip.base[0], "scored": flip.base[1]},
        "candidate": {"resolved": flip.candidate[0], "scored": flip.candidate[1]},
    }
