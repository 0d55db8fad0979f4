"""A model's results in one run, task by task, and the figures over them: what comparison, gate and report stand on.

A run folder is enough: `goldseam evaluate` writes the facts of the tasks into run.json. Older runs have none; then the
dataset, if given, tells them.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from harness.analysis.task_score import SampleScore, TaskScore
from harness.analysis.usage import Usage, usage_of
from harness.core.errors import InputError
from harness.core.files import no_folder, refuse_newer
from harness.core.instance import Outcome, Prediction
from harness.core.json_text import mapping
from harness.core.wording import did_you_mean
from harness.dataset.folder import open_dataset
from harness.judging.places import Place
from harness.runs import public_reason
from harness.runs.run_folder import PREDICTIONS_FILE, RUN_FILE, SCHEMA_VERSION, InstanceReport, RunFolder, RunRecord
from harness.runs.task_metadata import Standing, TaskFacts, read_facts, standing
from harness.stats import Interval, mean_interval, pass_at_k, pass_hat_k, worth_clustering

__all__ = ["Estimate", "Figure", "SampleScore", "Scoresheet", "TaskScore", "clusters", "only_models", "read"]


@dataclass(frozen=True, kw_only=True)
class Estimate:
    """A figure over tasks, and how sure it is."""

    value: float | None
    """None where no task has one."""
    interval: Interval | None
    """95%."""
    tasks: int
    """Tasks it stands on."""
    samples: int
    """Verdicts it stands on."""
    repositories: int | None = None
    """Where the interval is clustered by repository: how many there are."""


@dataclass(frozen=True, kw_only=True)
class Figure:
    """A cost, a time or a number of tokens over the predictions of a sheet. Unknown is None and never 0."""

    known: int
    """Predictions that say."""
    of: int
    """Predictions."""
    mean: float | None
    """Per prediction, over those that say."""
    median: float | None

    @property
    def total(self) -> float | None:
        """Over all predictions; None where any is unknown."""
        return None if self.mean is None or self.known < self.of else self.mean * self.known


@dataclass(frozen=True, kw_only=True)
class Scoresheet:
    """One model in one run."""

    model: str
    run: Path
    dataset: str | None
    dataset_version: int | None
    grading_version: int | None
    tasks: Mapping[str, TaskScore]
    """By id: what has predictions and counts."""
    aside: Mapping[str, TaskScore] = field(default_factory=dict)
    """By id: what has predictions and does not count, since the task is quarantined, retired or not proved."""
    uncovered: Mapping[str, TaskFacts] = field(default_factory=dict)
    """By id: proved tasks of the dataset that the model has no prediction for."""
    apart: Mapping[str, TaskFacts] = field(default_factory=dict)
    """By id: what is judged by the repository's own runner, where other tasks are not; those with predictions are in
    `aside`. `whole` counts them."""
    knows_dataset: bool = True
    """Whether the tasks of the dataset are known; else `uncovered` is empty for want of knowing."""
    dataset_content: str | None = None
    """Digest of the dataset's tasks when the run was made; None where the run does not say."""
    demands: Mapping[str, object] = field(default_factory=dict)
    """What a pass had to withstand in this run, as in `settings` of run.json."""

    @property
    def total(self) -> int:
        """Tasks that count: the proved ones of the dataset; for a run that does not tell them, those it was asked."""
        return len(self.tasks) + len(self.uncovered)

    @property
    def scored(self) -> tuple[TaskScore, ...]:
        """Tasks with at least one verdict, by id."""
        return tuple(task for _, task in sorted(self.tasks.items()) if task.scored)

    @property
    def coverage(self) -> float:
        """How much of what could be scored was, from 0 to 1: the mean over all tasks that count of scored of asked.

        A task without a prediction counts as 0: a model that gave patches for ten of a hundred tasks has a coverage of
        10%, however it did on those ten.
        """
        return sum(task.scored / task.asked for task in self.tasks.values() if task.asked) / (self.total or 1)

    @property
    def resolved(self) -> int:
        """Predictions that resolve their task."""
        return sum(task.resolved for task in self.tasks.values())

    @property
    def verdicts(self) -> int:
        """Predictions with a verdict."""
        return sum(task.scored for task in self.tasks.values())

    @property
    def rate(self) -> Estimate:
        """The share of resolved, each task counting alike however many samples it has: pass@1."""
        return self._estimate(lambda task: float(task.rate or 0), at_least=1)

    @property
    def scaffolded(self) -> tuple[str, ...]:
        """The tasks that show some of their tests, by id; the score is one over hidden tests only where none does."""
        return tuple(sorted(task_id for task_id, task in self.tasks.items() if task.facts.revealed))

    @property
    def standing(self) -> Standing:
        """Where the tasks that have predictions are judged, and how many of them are guessable."""
        return standing(task.facts for task in self.tasks.values())

    @property
    def score(self) -> Estimate:
        """Mean score, 0 to 100."""
        estimate = self._estimate(lambda task: (task.score or 0.0) / 100, at_least=1)
        bounds = estimate.interval and Interval(low=100 * estimate.interval.low, high=100 * estimate.interval.high)
        return replace(estimate, value=None if estimate.value is None else 100 * estimate.value, interval=bounds)

    @property
    def fail_to_pass(self) -> Estimate:
        """Mean share of FAIL_TO_PASS tests that pass."""
        return self._estimate(lambda task: task.fail_to_pass or 0.0, at_least=1)

    @property
    def pass_to_pass(self) -> Estimate:
        """Mean share of PASS_TO_PASS tests that still pass, over the tasks whose tests were run."""
        ran = {task_id: task for task_id, task in self.tasks.items() if task.pass_to_pass is not None}
        return replace(self, tasks=ran)._estimate(lambda task: task.pass_to_pass or 0.0, at_least=1)  # noqa: SLF001

    def pass_at(self, k: int) -> Estimate:
        """pass@k over the tasks with at least k verdicts: the chance that one of k samples resolves a task."""
        return self._estimate(lambda task: pass_at_k(task.scored, task.resolved, k), at_least=k)

    def pass_hat(self, k: int) -> Estimate:
        """pass^k over the tasks with at least k verdicts: the chance that all of k samples resolve a task."""
        return self._estimate(lambda task: pass_hat_k(task.scored, task.resolved, k), at_least=k)

    @property
    def cost_usd(self) -> Figure:
        """In US dollars. Predictions without a verdict have cost too."""
        return self._figure(lambda usage: usage.cost_usd)

    @property
    def latency_seconds(self) -> Figure:
        return self._figure(lambda usage: usage.latency_seconds)

    @property
    def tokens(self) -> Figure:
        return self._figure(lambda usage: usage.tokens)

    @property
    def facts_by_task(self) -> Mapping[str, TaskFacts]:
        """The facts of each task that counts, by id: those with predictions and those without."""
        return {**self.uncovered, **{task_id: task.facts for task_id, task in self.tasks.items()}}

    def whole(self) -> Scoresheet:
        """The same sheet with the tasks counted that are judged by the repository's own runner."""
        scores = {task_id: self.aside[task_id] for task_id in self.apart if task_id in self.aside}
        return replace(
            self,
            tasks={**self.tasks, **scores},
            aside={task_id: task for task_id, task in self.aside.items() if task_id not in scores},
            uncovered={
                **self.uncovered,
                **{task_id: facts for task_id, facts in self.apart.items() if task_id not in scores},
            },
            apart={},
        )

    def _own_runner_apart(self) -> Scoresheet:
        apart = {task_id: facts for task_id, facts in self.facts_by_task.items() if facts.judged is Place.OWN_RUNNER}
        if len(apart) in (0, self.total):
            return self
        scores = {task_id: self.tasks[task_id] for task_id in apart if task_id in self.tasks}
        return replace(self.without(apart), aside={**self.aside, **scores}, apart=apart)

    def without(self, ids: Collection[str]) -> Scoresheet:
        """The same sheet, as if the dataset did not have these tasks."""
        return replace(
            self,
            tasks={task_id: task for task_id, task in self.tasks.items() if task_id not in ids},
            uncovered={task_id: facts for task_id, facts in self.uncovered.items() if task_id not in ids},
        )

    def only(self, ids: Collection[str]) -> Scoresheet:
        """The same sheet with these tasks alone."""
        return self.where(lambda task_id, _: task_id in ids)

    def where(self, belongs: Callable[[str, TaskFacts], bool]) -> Scoresheet:
        """The same sheet with the tasks alone that belong there, by their ids and facts."""
        return replace(
            self,
            tasks={task_id: task for task_id, task in self.tasks.items() if belongs(task_id, task.facts)},
            aside={task_id: task for task_id, task in self.aside.items() if belongs(task_id, task.facts)},
            uncovered={task_id: facts for task_id, facts in self.uncovered.items() if belongs(task_id, facts)},
        )

    def _estimate(self, value: Callable[[TaskScore], float], *, at_least: int) -> Estimate:
        tasks = [task for task in self.scored if task.scored >= at_least]
        if not tasks:
            return Estimate(value=None, interval=None, tasks=0, samples=0)
        values, samples = [value(task) for task in tasks], sum(task.scored for task in tasks)
        repos = clusters(tasks)
        return Estimate(
            value=statistics.fmean(values),
            interval=mean_interval(values, trials=samples, clusters=repos),
            tasks=len(tasks),
            samples=samples,
            repositories=len(set(repos)) if repos else None,
        )

    def _figure(self, value: Callable[[Usage], float | None]) -> Figure:
        values = [value(sample.usage) for task in self.tasks.values() for sample in task.samples]
        numbers = [number for number in values if number is not None]
        return Figure(
            known=len(numbers),
            of=len(values),
            mean=statistics.fmean(numbers) if numbers else None,
            median=statistics.median(numbers) if numbers else None,
        )


def clusters(tasks: Sequence[TaskScore]) -> tuple[str, ...] | None:
    """The tasks' repositories where figures should be clustered by them (see `stats.worth_clustering`), else None."""
    repos = tuple(task.facts.repo or "" for task in tasks)
    return repos if all(repos) and worth_clustering(repos) else None


def read(run: Path, *, dataset: Path | None = None) -> tuple[Scoresheet, ...]:
    """The sheets of a run, one per model, by name; what is judged by its own runner stands `Scoresheet.apart`.

    With a dataset, tasks are what they are there now; without one, what the run remembers.

    Raises:
        InputError: no run folder, no dataset, a broken file in one, or a dataset that has none of the run's tasks.

    """
    if not (run / PREDICTIONS_FILE).is_file() and not (run / "results").is_dir():
        nothing = f"{run} is not a run: it has neither {PREDICTIONS_FILE} nor results"
        text = nothing if run.is_dir() else no_folder(run)
        raise InputError(text, hint="make a run with `goldseam evaluate DATASET -p PREDICTIONS -o RUN`")
    folder = RunFolder(path=run)
    record = _record(folder)
    by_model: dict[str, dict[str, list[SampleScore]]] = {}
    for (model, task_id, number), (prediction, report) in sorted(folder.pairs().items()):
        sample = _sample(number, prediction, report)
        by_model.setdefault(model, {}).setdefault(task_id, []).append(sample)
    task_ids = {task_id for tasks in by_model.values() for task_id in tasks}
    facts = dict(record.facts) if record else {}
    if dataset is not None:
        facts |= _dataset_facts(dataset, run, task_ids, record)
    sheets = (_sheet(model, tasks, run, record, facts) for model, tasks in sorted(by_model.items()))
    return tuple(sheet._own_runner_apart() for sheet in sheets)  # noqa: SLF001


def only_models(sheets: Sequence[Scoresheet], models: Collection[str]) -> tuple[Scoresheet, ...]:
    """The sheets of the models named; all where none is.

    Raises:
        InputError: a model is in none of them, or there is no sheet.

    """
    names = {sheet.model for sheet in sheets}
    missing = [model for model in models if model not in names]
    if missing:
        hint = did_you_mean(missing[0], names, otherwise=f"there are: {', '.join(sorted(names))}")
        raise InputError(f"there is no model {missing[0]!r}", hint=hint)
    if not sheets:
        raise InputError("there is no prediction in it", hint="score some with `goldseam evaluate`")
    return tuple(sheet for sheet in sheets if not models or sheet.model in models)


def _record(folder: RunFolder) -> RunRecord | None:
    """run.json; None where there is none: a run of another tool, or of a very early version."""
    record, path = folder.record(), folder.path / RUN_FILE
    if record is None and path.exists():
        raise InputError(f"{path} is broken", hint="run the same `goldseam evaluate` again: it writes run.json again")
    if record is not None:
        refuse_newer(path, record.schema_version, SCHEMA_VERSION)
    return record


def _dataset_facts(
    path: Path, run: Path, task_ids: Collection[str], record: RunRecord | None
) -> Mapping[str, TaskFacts]:
    split = record.settings.get("split") if record else None
    facts = read_facts(open_dataset(path), also=task_ids, split=split if isinstance(split, str) else None)
    if task_ids and not task_ids & facts.keys():
        raise InputError(f"{path} has none of the tasks of {run}", hint="give the dataset that the run was made with")
    return facts


def _sheet(
    model: str,
    tasks: Mapping[str, Sequence[SampleScore]],
    run: Path,
    record: RunRecord | None,
    facts: Mapping[str, TaskFacts],
) -> Scoresheet:
    digests = record.tasks if record else {}
    scores = {
        task_id: TaskScore(
            instance_id=task_id,
            samples=tuple(samples),
            facts=facts.get(task_id, TaskFacts()).judged_at(sample.place for sample in samples),
            digest=digests.get(task_id),
        )
        for task_id, samples in tasks.items()
    }
    return Scoresheet(
        model=model,
        run=run,
        dataset=record.dataset if record else None,
        dataset_version=record.dataset_version if record else None,
        dataset_content=(record.dataset_content or None) if record else None,
        grading_version=record.grading_version if record else None,
        tasks={task_id: score for task_id, score in scores.items() if score.facts.counts},
        aside={task_id: score for task_id, score in scores.items() if not score.facts.counts},
        uncovered={
            task_id: task_facts for task_id, task_facts in facts.items() if task_facts.counts and task_id not in scores
        },
        knows_dataset=bool(facts),
        demands=mapping(record.settings.get("demands")) if record else {},
    )


def _sample(number: int, prediction: Prediction | None, report: InstanceReport | None) -> SampleScore:
    usage = usage_of(prediction.extra) if prediction else Usage()
    if report is None:
        return SampleScore(sample=number, outcome=None, usage=usage)
    scored = report.outcome is not Outcome.INFRA_ERROR
    return SampleScore(
        sample=number,
        outcome=report.outcome,
        fail_to_pass=(_share(report, "FAIL_TO_PASS") or 0.0) if scored else None,
        pass_to_pass=_pass_to_pass(report) if scored else None,
        seconds=report.timings.get("tests"),
        usage=usage,
        place=report.place,
    )


def _pass_to_pass(report: InstanceReport) -> float | None:
    """A task without PASS_TO_PASS tests breaks none of them, if its tests were run at all."""
    share = _share(report, "PASS_TO_PASS")
    return 1.0 if share is None and _share(report, "FAIL_TO_PASS") is not None else share


def _share(report: InstanceReport, name: str) -> float | None:
    counts = public_reason.counts(report, name)
    return counts.passed / counts.total if counts.total else None
