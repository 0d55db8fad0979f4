"""The first screen in sentences: which model is better here, how sure that is, where it fails. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from pydantic import Field

from harness.analysis.compare import Answer
from harness.core.instance import Outcome
from harness.core.records import StrictRecord
from harness.core.wording import counted, percent, span
from harness.report import figures
from harness.report.data import ModelSummary, PredictionView, ReportData
from harness.report.figures import Duel
from harness.report.words import chance, listed, points
from harness.runs.task_metadata import standing

_CLASSES_SHOWN = 3
_UNDECIDED = "`goldseam gate RUN --baseline BASE` applies your rules to the run."
_WEAKER = 0.05
"""How far below the whole a group has to be to be told of."""
_WEAK_TASKS = 3
"""A group with fewer tasks is too small to be called weak."""


class Notice(StrictRecord):
    """Something to look at."""

    text: str
    filter: dict[str, str] = Field(description="the filter of the page that shows it")
    """Such as `outcome`; empty where no filter shows it."""


@dataclass(frozen=True, kw_only=True)
class Ship:
    """Whether it may ship, as far as this report knows."""

    verdict: str
    """`pass`, `regression`, `inconclusive`, or `undecided` where no gate was asked."""
    sentence: str
    lines: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Answers:
    """What a team lead wants to know first."""

    headline: str
    sure: tuple[str, ...]
    """How sure that is."""
    fails: tuple[str, ...]
    """Where the best model fails."""
    ship: Ship
    notes: tuple[str, ...]
    """What a reader has to know before trusting any of it."""
    look: tuple[Notice, ...]
    """What to look at first."""
    duels: tuple[Duel, ...]
    """The best model against each of the others."""


def answers(report_data: ReportData, ship: Ship | None = None) -> Answers:
    """All the sentences of the first screen; `ship` is what the gate said, where it was asked."""
    competitors = report_data.competitors()
    duels = figures.duels(competitors[0], competitors[1:]) if competitors else ()
    return Answers(
        headline=headline(competitors, duels),
        sure=_sure(competitors, duels),
        fails=_fails(report_data, competitors),
        ship=ship
        or Ship(
            verdict="undecided",
            sentence="Not decided: no baseline was given.",
            lines=(_UNDECIDED, *_controls(report_data)),
        ),
        notes=tuple(caveats(report_data, competitors, duels)),
        look=tuple(_look_first(report_data, competitors)),
        duels=duels,
    )


def headline(competitors: Sequence[ModelSummary], duels: Sequence[Duel]) -> str:
    """The answer in one sentence; a model is called better only where the comparison shows it."""
    if not any(model.scored for model in competitors):
        return "No prediction has been scored yet"
    if all(model.control for model in competitors):
        head = "The tasks hold" if not _failing_controls(competitors) else "Some tasks are broken"
        return f"{head}: {listed([_counted(model) for model in competitors])} resolved"
    best, *others = competitors
    if not best.resolved:
        return "No model resolved a task" if others else f"{best.name} resolved no task"
    if not others:
        return f"{best.name} resolves {percent(best.rate)} of the tasks"
    open_ = [duel for duel in duels if not _beaten(duel)]
    names = {model.column: model.name for model in others}
    if not open_:
        return f"{best.name} is better than {names[duels[0].other] if len(others) == 1 else 'every other model'} here"
    if len(others) == 1:
        return f"Can't tell whether {best.name} or {others[0].name} is better"
    if len(open_) == len(others):
        return f"Can't tell which of the {len(competitors)} models is best"
    rivals = [names[duel.other] for duel in open_]
    return f"{best.name} leads, but may be no better than {listed(rivals, most=2)}"


def _beaten(duel: Duel) -> bool:
    """Whether the other model is shown to be worse than the best."""
    return duel.comparison is not None and duel.comparison.answer is Answer.WORSE


def _sure(competitors: Sequence[ModelSummary], duels: Sequence[Duel]) -> tuple[str, ...]:
    if not competitors or not competitors[0].scored:
        return ("Nothing has been scored, so nothing is known.",)
    best = competitors[0]
    lines = []
    bounds = best.interval
    if bounds:
        over = f" in {best.sheet.rate.repositories} repositories" if best.sheet.rate.repositories else ""
        lines.append(
            f"{best.name} resolves {percent(best.rate)} of {counted(best.sheet.rate.tasks, 'task')}{over}; "
            f"on more tasks like these, expect {span(bounds.low, bounds.high)} (95% interval)."
        )
    names = {model.column: model.name for model in competitors}
    lines += [_duel(duel, names[duel.other]) for duel in duels[:2]]
    if len(duels) > 1:
        lines.append(f"p is two-sided and corrected for {len(duels)} comparisons (Holm).")
    elif any(duel.comparison for duel in duels):
        lines.append("p is two-sided.")
    return tuple(lines)


def _duel(duel: Duel, other: str) -> str:
    comparison = duel.comparison
    if comparison is None:
        return f"No task has a verdict on both this model and {other}."
    flips = (
        f"{counted(len(comparison.common), 'task')} in common: better on {len(comparison.lost)}, worse on "
        f"{len(comparison.gained)} ({chance(comparison.p_adjusted)})."
    )
    if comparison.answer is not Answer.CANT_TELL:
        return f"Against {other}: {points(comparison.difference)} ahead on {flips}"
    text = (
        f"A difference below about {points(comparison.smallest_visible)} would be missed in more than 1 of 5 such runs."
    )
    return f"Against {other}, on {flips} {text}"


def _fails(report_data: ReportData, competitors: Sequence[ModelSummary]) -> tuple[str, ...]:
    """The commonest failure classes of the best model, and the groups of tasks where it is weakest."""
    if not competitors or not competitors[0].scored:
        return ()
    best = competitors[0]
    classes = Counter(
        view.failure_class
        for view in report_data.predictions
        if view.column == best.column and view.scored and view.failure_class
    )
    lines = []
    if classes:
        classes_shown = [f"{name.replace('_', ' ')} ({number})" for name, number in classes.most_common(_CLASSES_SHOWN)]
        others = classes.total() - sum(number for _, number in classes.most_common(_CLASSES_SHOWN))
        lines.append(f"{best.name}: {', '.join(classes_shown)}{f', {others} others' if others else ''}.")
    elif best.resolved:
        lines.append(f"{best.name} failed on nothing that was scored.")
    lines += _weakest(best)
    unsolved = _resolved_by_nobody(report_data, competitors)
    if unsolved and len(competitors) > 1:
        lines.append(f"{counted(len(unsolved), 'task')} resolved by no model.")
    return tuple(lines)


def _weakest(best: ModelSummary) -> list[str]:
    """The group whose interval lies lowest, where it is not just everything."""
    candidates = [
        (estimate.interval.high, breakdown.name, group.name, estimate)
        for breakdown in figures.breakdowns([best])
        for group in breakdown.groups
        if len(breakdown.groups) > 1
        and group.name != "unknown"
        and (estimate := group.sheets[best.column].rate).interval
        and estimate.tasks >= _WEAK_TASKS
    ]
    if not candidates or best.rate is None:
        return []
    _, dimension, name, estimate = min(candidates, key=lambda candidate: candidate[:3])
    if estimate.value is None or estimate.value > best.rate - _WEAKER:
        return []
    return [f"Weakest where {dimension} is {name}: {percent(estimate.value)} of {counted(estimate.tasks, 'task')}."]


def _resolved_by_nobody(report_data: ReportData, competitors: Sequence[ModelSummary]) -> list[str]:
    columns = {model.column for model in competitors}
    scored: dict[str, bool] = {}
    for view in report_data.predictions:
        if view.column in columns and view.scored:
            scored[view.instance_id] = scored.get(view.instance_id, False) or view.outcome is Outcome.RESOLVED
    return [task_id for task_id, solved in scored.items() if not solved]


def caveats(report_data: ReportData, competitors: Sequence[ModelSummary], duels: Sequence[Duel]) -> list[str]:
    """What a reader has to know before trusting the order of the models."""
    notes = [*dict.fromkeys(warning for duel in duels if duel.comparison for warning in duel.comparison.warnings)]
    notes = [f"{note[0].upper()}{note[1:]}." for note in notes]
    if any(duel.comparison is None or duel.comparison.left_out for duel in duels):
        notes.append(
            "The models were not scored on the same tasks; each comparison uses the tasks that both were scored on."
        )
    gaps = {
        "because of infrastructure errors": [
            f"{model.name} {model.infra}" for model in report_data.models if model.infra
        ],
        "because they have not run yet": [
            f"{model.name} {model.unfinished}" for model in report_data.models if model.unfinished
        ],
        "because the model made no prediction": [
            f"{model.name} {len(model.sheet.uncovered)}" for model in competitors if model.sheet.uncovered
        ],
    }
    notes += [
        f"Not scored {why}, and counted neither for nor against a model: {listed(task_ids_left)}."
        for why, task_ids_left in gaps.items()
        if task_ids_left
    ]
    task_ids = {task_id for model in competitors for task_id in model.sheet.scaffolded}
    if task_ids:
        scope = counted(len(task_ids), "task")
        notes.append(f"{scope} showed some of the tests: these scores are scaffolded, not over hidden tests alone.")
    apart = {task_id for model in competitors for task_id in model.sheet.apart}
    if apart:
        notes.append(
            f"{counted(len(apart), 'task')} judged by the repository's own runner (own_runner) and not counted."
        )
    aside = [task.instance_id for task in report_data.tasks if task.aside and task.instance_id not in apart]
    if aside:
        notes.append(f"{counted(len(aside), 'task')} set aside (quarantined, retired or not proved) and not counted.")
    scope = standing(report_data.task_facts().values()).told()
    notes += [scope] if scope else []
    return [*notes, *_broken_controls(report_data)]


def _controls(report_data: ReportData) -> list[str]:
    """Whether the tasks themselves were checked, without which no score should let anything ship."""
    controls = [model for model in report_data.models if model.control and model.scored]
    if controls:
        return [f"Controls: {listed([_counted(model) for model in controls])} resolved."]
    return ["There is no control run: `goldseam evaluate --gold` and `--null` check the tasks."]


def _counted(model: ModelSummary) -> str:
    return f"{model.name} {model.resolved} of {model.scored}"


def _failing_controls(models: Sequence[ModelSummary]) -> list[ModelSummary]:
    """Gold that does not resolve all, null that resolves any."""
    return [
        model
        for model in models
        if (model.sheet.model == "gold" and model.resolved < model.scored)
        or (model.sheet.model == "null" and model.resolved)
    ]


def _broken_controls(report_data: ReportData) -> list[str]:
    notes = {
        "gold": "The gold patch resolves only {0.resolved} of {0.scored}: some tasks are broken.",
        "null": "Changing nothing resolves {0.resolved}: some tasks are broken.",
    }
    return [notes[model.sheet.model].format(model) for model in _failing_controls(report_data.models)]


def _look_first(report_data: ReportData, competitors: Sequence[ModelSummary]) -> list[Notice]:
    """In the order in which it could change the answer."""
    compete = {model.column for model in competitors}
    views = [view for view in report_data.predictions if view.column in compete]
    flagged = {view.instance_id for view in views if view.outcome is Outcome.RESOLVED and view.flags}
    counts = Counter(view.outcome for view in views)
    tampered, review, infra = (
        counts[outcome] for outcome in (Outcome.TAMPERED, Outcome.NEEDS_REVIEW, Outcome.INFRA_ERROR)
    )
    differ = 0 if all(model.control for model in competitors) else len(_differ(views))
    nobody = len(_resolved_by_nobody(report_data, competitors))
    retry = "`goldseam evaluate --retry-errors` tries again"
    undecided = "passed but inspected what judges them: not resolved until a person decides"
    notices = (
        (tampered, "prediction", " tampered with the channel that carries test results", "tampered"),
        (review, "prediction", f" {undecided}", "needs_review"),
        (len(flagged), "task", " with a pass to review", "*flagged"),
        (infra, "infrastructure error", f": {retry}", "infra_error"),
        (differ, "task", " on which models differ", "*differ"),
        (nobody, "task", " that no model resolved", "*nobody"),
    )
    return [
        Notice(text=f"{counted(number, noun)}{text}", filter={"outcome": outcome})
        for number, noun, text, outcome in notices
        if number
    ]


def _differ(views: Sequence[PredictionView]) -> list[str]:
    verdicts: dict[str, set[bool]] = {}
    for view in views:
        if view.scored:
            verdicts.setdefault(view.instance_id, set()).add(view.outcome is Outcome.RESOLVED)
    return [task_id for task_id, outcomes in verdicts.items() if len(outcomes) > 1]
