"""One HTML file that a person opens: no server, no network, nothing to install. Text from elsewhere stays text."""

from __future__ import annotations

import base64
import hashlib
import re
import urllib.parse
from importlib import resources
from typing import TYPE_CHECKING

import jinja2
from markupsafe import Markup

from harness.report import figures, payload, words
from harness.report.answers import answers
from harness.report.gather import gather
from harness.report.matrix import rows
from harness.report.plots import Point, cost_against_score
from harness.report.text import script_json, visible

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from harness.report.answers import Answers
    from harness.report.data import ModelSummary, ReportData

STYLES = ("base", "answers", "tables", "icons", "tasks", "narrow", "print")
SCRIPTS = ("text", "highlight", "diff", "signals", "task", "links", "filter", "keys", "theme", "start")
"""In this order they are one script: each uses what stands before it."""
_GROUPS_SHOWN = 12
_CODE = re.compile("`([^`]+)`")


def render(runs: Sequence[Path], *, dataset: Path | None = None, with_hidden: bool = False) -> str:
    """A page over one or more run folders, as HTML.

    Raises:
        InputError: no run, a folder that is no run or no dataset, or a broken file in one.

    """
    report_data = gather(runs, dataset=dataset, with_hidden=with_hidden)
    return render_data(report_data, answers(report_data))


def render_data(report_data: ReportData, answers_given: Answers) -> str:
    """The page of what was gathered. Pure but for reading our own templates."""
    style = "".join(_asset(f"{name}.css") for name in STYLES)
    script = '"use strict";\n(() => {\n' + "".join(_asset(f"{name}.js") for name in SCRIPTS) + "})();\n"
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("harness.report"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(
        visible=visible,
        prose=prose,
        percent=words.percent,
        seconds=words.seconds,
        dollars=words.dollars,
        fragment=fragment,
        view=view,
        duel=words.duel,
        meaning=words.meaning,
    )
    classes = figures.failure_classes(report_data.predictions)
    models, breakdowns = report_data.ordered(), figures.breakdowns(report_data.competitors())
    html = environment.get_template("report.html.j2").render(
        data=report_data,
        said=answers_given,
        competitors=report_data.competitors(),
        models=models,
        duels={duel.other: duel.comparison for duel in answers_given.duels},
        rows=rows(report_data),
        outcomes=_outcomes(models),
        words=words.OUTCOMES,
        classes=classes,
        failures=sum(sum(counts.values()) for counts in classes.values()),
        breakdowns=[breakdown for breakdown in breakdowns if len(breakdown.groups) > 1],
        one_group=[breakdown for breakdown in breakdowns if len(breakdown.groups) == 1],
        groups=_groups(report_data),
        groups_shown=_GROUPS_SHOWN,
        costs=_costs(models),
        index=script_json(payload.index(report_data)),
        details=[script_json(detail) for detail in payload.details(report_data)],
        style=Markup(style),  # noqa: S704 - our own files
        script=Markup(script),  # noqa: S704 - our own files
        style_hash=_csp_hash(style),
        script_hash=_csp_hash(script),
    )
    return html.encode("utf-8", "replace").decode()


def _asset(name: str) -> str:
    return resources.files("harness.report").joinpath("assets", name).read_text(encoding="utf-8")


def _csp_hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _outcomes(models: Sequence[ModelSummary]) -> list[str]:
    """The outcomes that any prediction came to, resolved apart."""
    outcomes = {outcome for model in models for outcome in model.outcomes if outcome}
    return [outcome for outcome in words.OUTCOMES if outcome in outcomes and outcome != "resolved"]


def _costs(models: Sequence[ModelSummary]) -> Mapping[str, object]:
    """The plot of cost against score, and the models whose cost is not, or only partly, known."""
    summaries = [model for model in models if not model.control] or list(models)
    model_summaries = [model for model in summaries if model.sheet.cost_usd.mean is not None and model.rate is not None]
    points = [
        Point(label=model.label, cost=model.sheet.cost_usd.mean or 0.0, rate=model.rate or 0.0, interval=model.interval)
        for model in model_summaries
    ]
    return {
        "plot": cost_against_score(points),
        "known": model_summaries,
        "unknown": [model.label for model in summaries if model.sheet.cost_usd.mean is None],
        "partly": [model for model in model_summaries if model.sheet.cost_usd.known < model.sheet.cost_usd.of],
        "latency": any(model.sheet.latency_seconds.mean is not None for model in models),
    }


def _groups(report_data: ReportData) -> Mapping[str, Sequence[str]]:
    """By dimension the names of all groups that a task can be in, by name."""
    groups: dict[str, set[str]] = {}
    for task in report_data.tasks:
        for dimension, name in task.groups.items():
            groups.setdefault(dimension, set()).add(name)
    return {dimension: sorted(names) for dimension, names in groups.items()}


def prose(text: str) -> Markup:
    """A sentence of ours as HTML: what stands between back ticks is code."""
    escaped = str(visible(text))  # plain: joining the pieces of a `Markup` would escape the tags
    return Markup(_CODE.sub(r"<code>\1</code>", escaped))  # noqa: S704 - escaped by `visible`


def fragment(text: str) -> str:
    """A part of a link to a place in the page."""
    return urllib.parse.quote(text, safe="", errors="replace")


def view(fields: Mapping[str, str]) -> str:
    """A link to the tasks that a filter leaves."""
    return "#?" + "&".join(f"{name}={fragment(value)}" for name, value in fields.items())
