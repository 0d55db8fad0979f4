"""One HTML file that a person opens: no server, no network, nothing to install. Text from elsewhere stays text."""

from __future__ import annotations

import base64
import hashlib
import urllib.parse
from dataclasses import dataclass
from importlib import resources
from typing import TYPE_CHECKING, Any

import jinja2
from markupsafe import Markup

from harness import files
from harness.instance import Outcome
from harness.report import data
from harness.report.gather import gather
from harness.report.text import CutText, script_json, visible

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

WORDS = {
    Outcome.RESOLVED: "resolved",
    Outcome.UNRESOLVED: "unresolved",
    Outcome.EMPTY_PATCH: "empty patch",
    Outcome.APPLY_FAILED: "does not apply",
    Outcome.TAMPERED: "tampered",
    Outcome.INFRA_ERROR: "infrastructure error",
}
SHORT = {Outcome.EMPTY_PATCH: "empty", Outcome.APPLY_FAILED: "no apply", Outcome.INFRA_ERROR: "infra"}
_PENDING, _MIXED, _NONE = "pending", "mixed", "none"


@dataclass(frozen=True, kw_only=True)
class Cell:
    """What one model came to on one task."""

    kind: str
    """An outcome, or `pending`, `mixed` (samples differ), `none` (no prediction)."""
    word: str
    short: str
    column: int


@dataclass(frozen=True, kw_only=True)
class Row:
    """One task with its cells, in the order of `ordered`."""

    task: data.TaskView
    cells: tuple[Cell, ...]
    resolved: int
    """Columns of competing models with a resolved sample."""
    lines: tuple[tuple[int, data.PredictionView], ...]
    """Its predictions by column, for a reader without JavaScript."""


def render(runs: Sequence[Path], *, dataset: Path | None = None, with_hidden: bool = False) -> str:
    """A page over one or more run folders, as HTML.

    Raises:
        InputError: no run, a folder that is no run or no dataset, or a broken file in one.

    """
    return render_data(gather(runs, dataset=dataset, with_hidden=with_hidden))


def write(runs: Sequence[Path], out: Path, *, dataset: Path | None = None, with_hidden: bool = False) -> dict[str, Any]:
    """Write the page to a file, and return what its first screen says as JSON values.

    Raises:
        InputError: as `render`, or the file cannot be written.

    """
    found = gather(runs, dataset=dataset, with_hidden=with_hidden)
    files.write_text(out, render_data(found))
    return {"report": str(out), **summary(found)}


def summary(found: data.ReportData) -> dict[str, Any]:
    """Models and their scores as JSON values; competing models first, best first."""
    return {
        "runs": list(found.runs),
        "tasks": len(found.tasks),
        "with_hidden": found.with_hidden,
        "models": [
            {
                "model": model.label,
                "run": model.run,
                "control": model.control,
                "total": model.total,
                "scored": model.scored,
                "resolved": model.resolved,
                "rate": model.rate,
                "coverage": model.coverage,
                "interval_95": [model.interval.low, model.interval.high] if model.interval else None,
                "outcomes": {outcome.value: number for outcome, number in model.outcomes.items()},
                "median_test_seconds": model.median_seconds,
            }
            for model in ordered(found)
        ],
    }


def ordered(found: data.ReportData) -> list[data.ModelSummary]:
    """Every model: those that compete, best first, then the controls."""
    first = found.competitors()
    return [*first, *(model for model in found.models if model not in first)]


def render_data(found: data.ReportData) -> str:
    """The page of what was gathered. Pure but for reading our own templates."""
    style, script = _asset("report.css"), _asset("report.js")
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("harness.report"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(visible=visible, percent=percent, seconds=seconds, fragment=fragment)
    competitors = found.competitors()
    html = environment.get_template("report.html.j2").render(
        data=found,
        competitors=competitors,
        models=ordered(found),
        headline=headline(competitors),
        caveats=caveats(found, competitors),
        rows=rows(found),
        outcomes=list(Outcome),
        words=WORDS,
        payload=script_json(payload(found)),
        style=Markup(style),  # noqa: S704 - our own file
        script=Markup(script),  # noqa: S704 - our own file
        style_hash=_csp_hash(style),
        script_hash=_csp_hash(script),
    )
    return html.encode("utf-8", "replace").decode()


def _asset(name: str) -> str:
    return resources.files("harness.report").joinpath("assets", name).read_text(encoding="utf-8")


def _csp_hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def headline(competitors: Sequence[data.ModelSummary]) -> str:
    """The answer in one sentence."""
    if not competitors or not any(model.scored for model in competitors):
        return "No prediction has been scored yet"
    best = [model for model in competitors if model.resolved == competitors[0].resolved]
    if competitors[0].resolved == 0:
        return "No model resolved a task" if len(competitors) > 1 else f"{competitors[0].label} resolved no task"
    if len(competitors) == 1:
        return f"{best[0].label} resolves {best[0].resolved} of {best[0].scored}"
    if len(best) > 1:
        names = ", ".join(model.label for model in best[:-1]) + f" and {best[-1].label}" if len(best) < 4 else ""  # noqa: PLR2004
        return f"{names or f'{len(best)} models'} resolve equally many: {best[0].resolved}"
    return f"{best[0].label} resolves most: {best[0].resolved} of {best[0].scored}"


def caveats(found: data.ReportData, competitors: Sequence[data.ModelSummary]) -> list[str]:
    """What a reader has to know before trusting the order of the models."""
    notes: list[str] = []
    if len(competitors) > 1:
        first, second = competitors[0].interval, competitors[1].interval
        tied = competitors[0].resolved == competitors[1].resolved
        if first and second and not tied and first.overlaps(second):
            notes.append("The 95% intervals of the first two overlap: with this many tasks, their order may be chance.")
        shared = data.common_tasks(found.predictions, [model.column for model in competitors])
        if any(shared[model.column].total != model.scored for model in competitors):
            some = ", ".join(f"{model.label} {shared[model.column]}" for model in competitors[:6])
            notes.append(f"The models were not scored on the same tasks. On those that all were scored on: {some}.")
    if any(model.samples > 1 for model in found.models):
        notes.append("Several samples a task: counts are of predictions, and no interval is given for them.")
    gaps = {
        "for want of infrastructure": [f"{model.label} {model.infra}" for model in ordered(found) if model.infra],
        "because they were not run yet": [
            f"{model.label} {model.unfinished}" for model in ordered(found) if model.unfinished
        ],
    }
    for why, which in gaps.items():
        if which:
            more = f" and {len(which) - 8} more models" if len(which) > 8 else ""  # noqa: PLR2004
            notes.append(f"Not scored {why}, and counted neither way: {', '.join(which[:8])}{more}.")
    notes += _broken_controls(found)
    return notes


def _broken_controls(found: data.ReportData) -> list[str]:
    notes: list[str] = []
    for model in found.models:
        name = model.label.split(" (")[0]
        if model.control and name == "gold" and model.resolved < model.scored:
            notes.append(f"The gold patch resolves only {model.resolved} of {model.scored}: some tasks are broken.")
        if model.control and name == "null" and model.resolved:
            notes.append(f"Changing nothing resolves {model.resolved}: some tasks are broken.")
    return notes


def rows(found: data.ReportData) -> list[Row]:
    """The matrix: every task with a cell per column."""
    by_task: dict[str, dict[int, list[data.PredictionView]]] = {task.instance_id: {} for task in found.tasks}
    for view in found.predictions:
        by_task[view.instance_id].setdefault(view.column, []).append(view)
    compete = {model.column for model in found.competitors()}
    order = ordered(found)
    made: list[Row] = []
    for task in found.tasks:
        views = by_task[task.instance_id]
        cells = tuple(cell(model.column, views.get(model.column, [])) for model in order)
        solved = sum(
            any(view.outcome is Outcome.RESOLVED for view in samples)
            for column, samples in views.items()
            if column in compete
        )
        lines = tuple((column, view) for column, samples in sorted(views.items()) for view in samples)
        made.append(Row(task=task, cells=cells, resolved=solved, lines=lines))
    return made


def cell(column: int, samples: Sequence[data.PredictionView]) -> Cell:
    """One model on one task; with several samples, how many of them resolve."""
    if not samples:
        return Cell(kind=_NONE, word="no prediction", short="–", column=column)
    kinds = {view.outcome for view in samples}
    first = samples[0].outcome
    word = WORDS[first] if first else "not scored yet"
    if len(samples) == 1:
        short = (SHORT.get(first, word) if first else "pending") or word
        return Cell(kind=first.value if first else _PENDING, word=word, short=short, column=column)
    solved = sum(view.outcome is Outcome.RESOLVED for view in samples)
    kind = (first.value if first else _PENDING) if len(kinds) == 1 else _MIXED
    if kind == _MIXED and not solved:
        kind = Outcome.UNRESOLVED.value
    text = f"{solved}/{len(samples)}"
    return Cell(kind=kind, word=f"{text} samples resolved", short=text, column=column)


def payload(found: data.ReportData) -> dict[str, Any]:
    """What the page's script shows when a task is opened. Keys are short: there may be thousands of each."""
    by_task: dict[str, list[dict[str, Any]]] = {}
    rank = {model.column: place for place, model in enumerate(ordered(found))}
    for view in sorted(found.predictions, key=lambda view: (rank[view.column], view.sample)):
        by_task.setdefault(view.instance_id, []).append(_prediction_json(view))
    return {
        "models": [model.label for model in found.models],
        "words": {outcome.value: word for outcome, word in WORDS.items()},
        "hidden": found.with_hidden,
        "tasks": {
            task.instance_id: {
                "facts": task.facts,
                "statement": _cut_json(task.statement),
                "gold": _cut_json(task.gold_patch),
                "test": _cut_json(task.test_patch),
                "predictions": by_task.get(task.instance_id, []),
            }
            for task in found.tasks
        },
    }


def _prediction_json(view: data.PredictionView) -> dict[str, Any]:
    made: dict[str, Any] = {
        "column": view.column,
        "sample": view.sample,
        "outcome": view.outcome.value if view.outcome else _PENDING,
        "class": view.failure_class,
        "reason": view.reason,
        "f2p": str(view.fail_to_pass),
        "p2p": str(view.pass_to_pass),
        "patch": _cut_json(view.patch),
        "note": view.patch_note,
        "dropped": view.dropped,
        "repairs": view.repairs,
        "timings": {name: round(value, 3) for name, value in view.timings.items()},
        "rss": view.max_rss_kb,
        "cpu": round(view.cpu_seconds, 3),
        "attempts": view.attempts,
        "trust": view.trust,
    }
    if view.hidden is not None:
        made["tests"] = [
            [row.group, row.status, row.test_id, row.seconds, _cut_json(row.text)] for row in view.hidden.tests
        ]
        made["more"] = view.hidden.left_out
        made["output"] = _cut_json(view.hidden.output)
        made["notes"] = view.hidden.notes
    return made


def _cut_json(text: CutText | None) -> list[Any] | None:
    return None if text is None else [text.text, text.size, text.shown]


def fragment(text: str) -> str:
    """A part of a link to a place in the page."""
    return urllib.parse.quote(text, safe="", errors="replace")


def percent(share: float | None) -> str:
    """A share for a person; never rounded to 0% or 100% unless it is."""
    if share is None:
        return "–"
    if 0 < share < 0.01:  # noqa: PLR2004 - one percent
        return "<1%"
    return ">99%" if 0.99 < share < 1 else f"{share:.0%}"  # noqa: PLR2004


def seconds(value: float | None) -> str:
    """A time for a person."""
    if value is None:
        return "–"
    return f"{value:.2f} s" if value < 10 else f"{value:.0f} s"  # noqa: PLR2004
