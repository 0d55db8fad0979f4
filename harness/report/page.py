"""One HTML file that a person opens: no server, no network, nothing to install. Text from elsewhere stays text."""

from __future__ import annotations

import base64
import hashlib
import re
import urllib.parse
from collections.abc import Iterable, Mapping, Sequence
from importlib import resources
from pathlib import Path

import jinja2
from markupsafe import Markup

from harness.core import wording
from harness.core.wording import counted, percent
from harness.report import figures, payload, words
from harness.report.answers import Answers, answers
from harness.report.data import ModelSummary, ReportData
from harness.report.gather import gather
from harness.report.matrix import rows
from harness.report.plots import Point, cost_against_score
from harness.report.text import script_json, visible
from harness.report.words import listed
from harness.runs.run_folder import RunRecord
from harness.runs.task_metadata import standing

STYLES = ("base", "answers", "tables", "icons", "matrix", "tasks", "narrow", "print")
SCRIPTS = ("text", "tabs", "highlight", "diff", "signals", "task", "links", "filter", "csv", "keys", "theme", "start")
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


def render_data(report_data: ReportData, answers_given: Answers, *, live: str = "", version: str = "") -> str:
    """The page of what was gathered. Pure but for reading our own templates.

    `live` is where a page of `goldseam view` asks whether its runs are still at `version`; a file asks nobody.
    """
    classes = figures.failure_classes(report_data)
    letters = report_data.letters()
    models, breakdowns = report_data.ordered(), figures.breakdowns(report_data.competitors())
    return render_template(
        "report.html.j2",
        styles=STYLES,
        scripts=(*SCRIPTS, *(["live"] if live else [])),
        live=live,
        data=report_data,
        origin=facts(report_data),
        said=answers_given,
        competitors=report_data.competitors(),
        controls=[model for model in models if model.control],
        models=models,
        letters=letters,
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
        costs=_costs(models, letters),
        index=script_json({**payload.index(report_data), "live": live, "version": version}),
        details=[script_json(detail) for detail in payload.details(report_data)],
    )


def render_template(name: str, *, styles: Sequence[str], scripts: Sequence[str], **values: object) -> str:
    """A template with our styles and scripts inside it, and the policy that allows these alone."""
    style = "".join(_asset(f"{part}.css") for part in styles)
    script = '"use strict";\n(() => {\n' + "".join(_asset(f"{part}.js") for part in scripts) + "})();\n"
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
        percent=wording.percent,
        span=wording.span,
        seconds=words.seconds,
        dollars=words.dollars,
        fragment=fragment,
        view=view,
        duel=words.duel,
        meaning=words.meaning,
    )
    html = environment.get_template(name).render(
        **values,
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


def _costs(models: Sequence[ModelSummary], letters: Mapping[int, str]) -> Mapping[str, object]:
    """The plot of cost against rate, and the models whose cost is not, or only partly, known."""
    summaries = [model for model in models if not model.control] or list(models)
    model_summaries = [model for model in summaries if model.sheet.cost_usd.mean is not None and model.rate is not None]
    points = [
        Point(
            label=model.name,
            letter=letters[model.column],
            cost=model.sheet.cost_usd.mean or 0.0,
            rate=model.rate or 0.0,
            interval=model.interval,
        )
        for model in models
        if model in model_summaries
    ]
    return {
        "plot": cost_against_score(points),
        "known": model_summaries,
        "unknown": [model.name for model in summaries if model.sheet.cost_usd.mean is None],
        "partly": [model for model in model_summaries if model.sheet.cost_usd.known < model.sheet.cost_usd.of],
        "latency": any(model.sheet.latency_seconds.mean is not None for model in models),
    }


def _groups(report_data: ReportData) -> Mapping[str, Sequence[str]]:
    """By dimension the names of all groups that a task can be in, by name."""
    groups: dict[str, set[str]] = {}
    for task in report_data.tasks:
        for dimension, name in task.groups.items():
            groups.setdefault(dimension, set()).add(name)
    return {dimension: sorted(group_names, key=figures.rank) for dimension, group_names in groups.items()}


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


def facts(report_data: ReportData) -> tuple[tuple[str, str], ...]:
    """Name and value of each fact in the page's head; what no run says is left out."""
    records = report_data.records.values()
    versions = [
        f"{record.goldseam_version}, grading {record.grading_version}" for record in records if record.goldseam_version
    ]
    values = {
        "run": listed(report_data.runs, most=4),
        "date": _dates(record.started_at for record in records),
        "dataset": report_data.dataset,
        "goldseam": _distinct(versions),
        "judged": trust(report_data),
        "machine": _distinct(_machine(record) for record in records),
    }
    return tuple((name, value) for name, value in values.items() if value)


def trust(report_data: ReportData) -> str:
    """The shares of tasks by where they are judged, such as `host 92%, inside 8%`; empty where there are no tasks."""
    scope = standing(report_data.task_facts().values())
    if not scope.tasks:
        return ""
    shares = [f"{place.value} {percent(count / scope.tasks)}" for place, count in scope.judged.items() if count]
    guessable = [f"{counted(scope.guessable, 'task')} guessable"] if scope.guessable else []
    return ", ".join([*shares, *guessable])


def _dates(times: Iterable[str]) -> str:
    """A day and its time in UTC, or the first and the last day of several runs."""
    started = sorted(time for time in times if time)
    if not started:
        return ""
    first, last = started[0], started[-1]
    if first == last:
        return f"{first[:10]} {first[11:16]} UTC".replace("  ", " ")
    return first[:10] if first[:10] == last[:10] else f"{first[:10]} to {last[:10]}"


def _machine(record: RunRecord) -> str:
    fields = record.machine
    parts = [str(fields[name]) for name in ("platform", "machine") if fields.get(name)]
    if len(parts) > 1 and parts[1] in parts[0]:
        parts.pop()
    cpus = fields.get("cpus")
    return ", ".join([*parts, *([counted(cpus, "CPU")] if isinstance(cpus, int) else [])])


def _distinct(texts: Iterable[str]) -> str:
    return listed(list(dict.fromkeys(text for text in texts if text)), most=3)
