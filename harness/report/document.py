"""What `goldseam report --json` prints. docs/schemas/report.schema.json is made from these models."""

from __future__ import annotations

import json
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from harness.analysis.compare import Answer
from harness.analysis.scoresheet import Estimate, Scoresheet
from harness.core.instance import Outcome
from harness.judging.places import Place
from harness.report import figures
from harness.report.answers import Answers, Notice
from harness.report.data import Funnel, ModelSummary, PredictionView, ReportData
from harness.runs.task_metadata import standing


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, from_attributes=True)


class Bounds(_Part):
    """A 95% interval."""

    low: float
    high: float


class Rate(_Part):
    """How much was resolved."""

    resolved: int = Field(description="predictions")
    scored: int = Field(description="predictions with a verdict: all but infrastructure errors and unfinished ones")
    tasks: int = Field(description="tasks with a verdict")
    rate: float | None = Field(description="0 to 1, each task counting alike; null where nothing is scored")
    interval: Bounds | None = Field(description="95%, clustered by task, or by repository where there are many")
    coverage: float = Field(description="0 to 1: how much of what counts has a verdict")


class Amount(_Part):
    """A cost or a time. Unknown is null and never 0."""

    known: int = Field(description="predictions that say")
    of: int = Field(description="predictions")
    mean: float | None = Field(description="a prediction, over those that say")
    median: float | None
    total: float | None = Field(description="null where any prediction does not say")


class Model(_Part):
    """One model of one run."""

    model: str = Field(description="its name; with the run, where several runs have it")
    run: str
    control: bool = Field(description="gold or null: checks the tasks and competes with nobody")
    total: int = Field(description="predictions for tasks that count")
    score: Rate
    outcomes: dict[Outcome, int]
    failure_classes: dict[str, int]
    judged: dict[Place, int] = Field(description="tasks with predictions, by where they are judged")
    guessable_tasks: int = Field(description="of these, those known to be guessable")
    median_test_seconds: float | None
    cost_usd: Amount
    latency_seconds: Amount
    tokens: Amount


class Comparison(_Part):
    """The best model against another, on the tasks that both have a verdict on."""

    best: str
    other: str
    answer: Answer | None = Field(description="of the best model; null where nothing can be compared")
    tasks: int
    ahead: int = Field(description="tasks on which the best does better")
    behind: int
    difference: float | None = Field(description="best less other, -1 to 1")
    interval: Bounds | None
    p: float | None = Field(description="two-sided, Holm-adjusted over the comparisons of this document")
    method: str | None
    smallest_visible: float | None = Field(description="the difference that is found with a chance of 80%")


class Group(_Part):
    """One group of a cohort."""

    name: str
    tasks: int
    scores: dict[str, Rate] = Field(description="by model")


class Cohort(_Part):
    """The scores by one property of tasks or predictions."""

    by: str
    groups: tuple[Group, ...]


class Prediction(_Part):
    """What one prediction came to."""

    model: str
    sample: int
    outcome: Outcome | None = Field(description="null where it is not scored yet")
    failure_class: str | None
    reason: str = Field(description="for a person; quotes no hidden test unless `with_hidden`")
    test_seconds: float | None
    cost_usd: float | None
    latency_seconds: float | None
    flags: tuple[str, ...] = Field(description="signs that a person should look at before believing a pass")
    tripwires: tuple[str, ...] = Field(description="what code of the patch did with what judges it, as the tests ran")
    replay: str = Field(description="how far it answers recorded calls as the fix does; empty where not asked for")


class Task(_Part):
    """One task and its predictions."""

    instance_id: str
    title: str
    groups: dict[str, str] = Field(description="by property, such as `language`")
    aside: str = Field(description="why it does not count; empty where it does")
    predictions: tuple[Prediction, ...]


class Ship(_Part):
    """What the gate said, where a baseline was given."""

    verdict: Literal["pass", "regression", "inconclusive", "undecided"]
    sentence: str
    lines: tuple[str, ...]


class Origin(_Part):
    """How a run was made, as its run.json says."""

    run: str
    started_at: str = Field(description="ISO 8601 in UTC; empty where it is not known")
    goldseam_version: str
    grading_version: int
    dataset: str
    dataset_version: int
    machine: dict[str, Any] = Field(description="platform, machine and cpus of where the last call began")


class Document(_Part):
    """What `goldseam report --json` prints."""

    schema_version: Literal[1] = 1
    report: str | None = Field(description="the HTML file that was written; null where none was asked for")
    runs: tuple[str, ...]
    dataset: str = Field(description="name and version; empty where it is not known")
    with_hidden: bool
    origins: tuple[Origin, ...] = Field(description="of the runs that say")
    judged: dict[Place, int] = Field(description="tasks, by where they are judged")
    guessable_tasks: int = Field(description="of these, those known to be guessable")
    headline: str
    sure: tuple[str, ...] = Field(description="how sure the headline is, in sentences")
    fails: tuple[str, ...] = Field(description="where the best model fails, in sentences")
    ship: Ship
    notes: tuple[str, ...] = Field(description="what to know before trusting the order of the models")
    look_first: tuple[Notice, ...]
    models: tuple[Model, ...] = Field(description="those that compete, best first, then the controls")
    comparisons: tuple[Comparison, ...]
    cohorts: tuple[Cohort, ...]
    funnel: Funnel | None
    tasks: tuple[Task, ...]


def schema() -> str:
    """The JSON Schema of the document, as docs/schemas/report.schema.json has it."""
    schema = {"$schema": "https://json-schema.org/draft/2020-12/schema", **Document.model_json_schema()}
    return json.dumps(schema, indent=2, sort_keys=True) + "\n"


def document(report_data: ReportData, answers: Answers, *, report: str | None = None) -> Document:
    """Everything that the page says before a task is opened, as values."""
    classes = figures.failure_classes(report_data)
    scope = standing(report_data.task_facts().values())
    labels = {model.column: model.label for model in report_data.models}
    return Document(
        report=report,
        runs=report_data.runs,
        dataset=report_data.dataset,
        with_hidden=report_data.with_hidden,
        origins=tuple(
            Origin(run=run, **record.model_dump(include=Origin.model_fields.keys() - {"run"}))
            for run, record in report_data.records.items()
        ),
        judged=dict(scope.judged),
        guessable_tasks=scope.guessable,
        headline=answers.headline,
        sure=answers.sure,
        fails=answers.fails,
        ship=answers.ship,
        notes=answers.notes,
        look_first=answers.look,
        models=tuple(_model(model, classes) for model in report_data.ordered()),
        comparisons=tuple(_comparison(duel, labels) for duel in answers.duels),
        cohorts=tuple(
            Cohort(by=breakdown.name, groups=tuple(_group(group, labels) for group in breakdown.groups))
            for breakdown in figures.breakdowns(report_data.ordered())
        ),
        funnel=report_data.funnel,
        tasks=_tasks(report_data, labels),
    )


def _model(model: ModelSummary, classes: dict[str, dict[int, int]]) -> Model:
    return Model(
        model=model.label,
        run=model.run,
        control=model.control,
        total=model.total,
        score=_rate(model.sheet),
        outcomes=dict(model.outcomes),
        failure_classes={name: counts[model.column] for name, counts in classes.items() if model.column in counts},
        judged=dict(model.sheet.standing.judged),
        guessable_tasks=model.sheet.standing.guessable,
        median_test_seconds=model.median_seconds,
        cost_usd=model.sheet.cost_usd,
        latency_seconds=model.sheet.latency_seconds,
        tokens=model.sheet.tokens,
    )


def _rate(sheet: Scoresheet) -> Rate:
    estimate: Estimate = sheet.rate
    return Rate(
        resolved=sheet.resolved,
        scored=sheet.verdicts,
        tasks=estimate.tasks,
        rate=estimate.value,
        interval=estimate.interval,
        coverage=sheet.coverage,
    )


def _comparison(duel: figures.Duel, labels: dict[int, str]) -> Comparison:
    best, other, comparison = labels[duel.best], labels[duel.other], duel.comparison
    if comparison is None:
        nothing = dict.fromkeys(Comparison.model_fields)
        return Comparison.model_validate({**nothing, "best": best, "other": other, "tasks": 0, "ahead": 0, "behind": 0})
    turned = {Answer.BETTER: Answer.WORSE, Answer.WORSE: Answer.BETTER}
    return Comparison(
        best=best,
        other=other,
        answer=turned.get(comparison.answer, comparison.answer),
        tasks=len(comparison.common),
        ahead=len(comparison.lost),
        behind=len(comparison.gained),
        difference=0.0 - comparison.difference,
        interval=Bounds(low=0.0 - comparison.interval.high, high=0.0 - comparison.interval.low),
        p=comparison.p_adjusted,
        method=comparison.test.method,
        smallest_visible=comparison.smallest_visible,
    )


def _group(group: figures.Group, labels: dict[int, str]) -> Group:
    scores = {labels[column]: _rate(sheet) for column, sheet in group.sheets.items()}
    return Group(name=group.name, tasks=group.tasks, scores=scores)


def _tasks(report_data: ReportData, labels: dict[int, str]) -> tuple[Task, ...]:
    return tuple(
        Task(
            instance_id=task.instance_id,
            title=task.title,
            groups=dict(task.groups),
            aside=task.aside,
            predictions=tuple(_prediction(view, labels[view.column]) for view in views),
        )
        for task, views in report_data.by_task()
    )


def _prediction(view: PredictionView, label: str) -> Prediction:
    return Prediction(
        model=label,
        sample=view.sample,
        outcome=view.outcome,
        failure_class=view.failure_class or None,
        reason=view.reason,
        test_seconds=view.timings.get("tests"),
        cost_usd=view.usage.cost_usd,
        latency_seconds=view.usage.latency_seconds,
        flags=tuple(sorted({sign for _, sign in view.flags})),
        tripwires=tuple(sorted({kind for _, kind in view.tripwires})),
        replay=view.replay,
    )


def as_json(made: Document) -> dict[str, Any]:
    """The document as JSON values."""
    values: dict[str, Any] = made.model_dump(mode="json")
    return values


if __name__ == "__main__":
    import sys

    sys.stdout.write(schema())
