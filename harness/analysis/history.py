"""A model's runs in the order of their dates: the trend, and the step at which it changed. Pure, but for `read`."""

from __future__ import annotations

import statistics
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.analysis import scoresheet
from harness.analysis.scoresheet import Scoresheet
from harness.core import files
from harness.core.errors import GoldseamError, InputError
from harness.core.wording import did_you_mean
from harness.runs.predictions import CONTROLS
from harness.runs.run_folder import RUN_FILE, RunFolder, RunRecord, is_run
from harness.stats import LEVEL, Interval, difference_interval, holm, sign_flip, worth_clustering

_DRAWS = 20_000
"""Where a p-value can't be had exactly; enough to tell a step among a hundred."""


@dataclass(frozen=True, kw_only=True)
class Dated:
    """One model in one run, with what the run says of how it was made."""

    sheet: Scoresheet
    run: str
    started_at: str
    facts: Mapping[str, str]
    """What may explain a step, by name: versions, machine, how a pass was judged, how the model was asked."""


@dataclass(frozen=True, kw_only=True)
class Point:
    """One run of a trend."""

    run: str
    started_at: str
    share: float | None
    """Resolved, over the tasks of this run that count, each alike."""
    interval: Interval | None
    tasks: int
    coverage: float
    cost: float | None


@dataclass(frozen=True, kw_only=True)
class Step:
    """A change between two runs that chance does not explain."""

    before: int
    """Index of the last run before it."""
    after: int
    date: str
    """When the first run after it began."""
    run: str
    difference: float
    """Mean over the common tasks of the share after it less the share before, from -1 to 1."""
    interval: Interval
    """95%."""
    p: float
    """Two-sided, adjusted by Holm over all steps of the trend."""
    tasks: int
    """Tasks that are the same, and have a verdict, on both sides."""
    causes: tuple[str, ...]
    """What else changed between the two runs, in words."""


@dataclass(frozen=True, kw_only=True)
class Trend:
    """One model's runs by date, and where they changed."""

    model: str
    points: tuple[Point, ...]
    steps: tuple[Step, ...]
    """By date."""
    sentence: str


@dataclass(frozen=True, kw_only=True)
class History:
    """All that a folder of runs tells."""

    trends: tuple[Trend, ...]
    """By model."""
    left_out: tuple[str, ...]
    """Folders that could not be used, with why."""


def read(folder: Path, *, model: str | None = None, dataset: Path | None = None) -> History:
    """The trends of all the runs that lie in a folder.

    A run that is broken or has no date is left out and said.

    Raises:
        InputError: no such folder, no run in it, or no run of this model.

    """
    if not folder.is_dir():
        raise InputError(files.no_folder(folder), hint="give the folder that holds your run folders")
    runs = sorted(path for path in folder.iterdir() if is_run(path))
    if not runs:
        hint = f"give the folder above it: {folder.resolve().parent}" if is_run(folder) else "evaluate some with -o"
        raise InputError(f"{folder} holds no run folders", hint=hint)
    by_model: dict[str, list[Dated]] = defaultdict(list)
    left_out: list[str] = []
    for path in runs:
        try:
            for dated in _dated(path, dataset):
                by_model[dated.sheet.model].append(dated)
        except GoldseamError as error:
            left_out.append(f"{path.name}: {error.message}")
    if not by_model:
        raise InputError(f"no run in {folder} can be used: {left_out[0]}")
    if model is not None and model not in by_model:
        likely = did_you_mean(model, by_model, otherwise=f"they have: {', '.join(sorted(by_model))}")
        raise InputError(f"no run in {folder} has the model {model!r}", hint=likely)
    chosen = [model] if model else sorted(by_model, key=lambda name: (name in CONTROLS, name))
    return History(trends=tuple(trend(by_model[name]) for name in chosen), left_out=tuple(left_out))


def _dated(path: Path, dataset: Path | None) -> Iterable[Dated]:
    record = RunFolder(path=path).record()
    if record is None or not record.started_at:
        raise InputError(f"it has no readable {RUN_FILE}, so no date")
    for sheet in scoresheet.read(path, dataset=dataset):
        yield Dated(sheet=sheet, run=path.name, started_at=record.started_at, facts=_facts(record, sheet))


def _facts(record: RunRecord, sheet: Scoresheet) -> dict[str, str]:
    usages = [sample.usage for task in sheet.tasks.values() for sample in task.samples]
    return {
        "goldseam": record.goldseam_version,
        "grading": f"version {record.grading_version}",
        "dataset": f"{record.dataset}, version {record.dataset_version}",
        "what a pass had to withstand": _words(dict(sheet.demands)),
        "machine": _words(record.machine),
        "prompt": _distinct(usage.prompt for usage in usages),
        "temperature": _distinct(usage.temperature for usage in usages),
    }


def _words(values: Mapping[str, Any]) -> str:
    return ", ".join(f"{name} {value}" for name, value in sorted(values.items()) if value is not None)


def _distinct(values: Iterable[object]) -> str:
    return ", ".join(sorted({str(value) for value in values if value is not None}))


def trend(runs: Sequence[Dated]) -> Trend:
    """One model's runs as a trend, by date."""
    ordered = sorted(runs, key=lambda dated: (dated.started_at, dated.run))
    table = _table(ordered)
    steps = tuple(
        _step(ordered, split, _differences(table, range(split.start, split.after), range(split.after, split.end)))
        for split in _search(table, len(ordered))
    )
    return Trend(
        model=ordered[0].sheet.model,
        points=tuple(_point(dated) for dated in ordered),
        steps=steps,
        sentence=_sentence(ordered, steps),
    )


def _point(dated: Dated) -> Point:
    rate = dated.sheet.rate
    return Point(
        run=dated.run,
        started_at=dated.started_at,
        share=rate.value,
        interval=rate.interval,
        tasks=rate.tasks,
        coverage=dated.sheet.coverage,
        cost=dated.sheet.cost_usd.total,
    )


@dataclass(frozen=True, kw_only=True)
class _Task:
    """One task, as long as it stayed the same."""

    repo: str | None
    rates: Mapping[int, float]
    """By index of the run."""


@dataclass(frozen=True, kw_only=True)
class _Differences:
    """Per common task: mean share after a split less mean share before it."""

    values: tuple[float, ...]
    clusters: tuple[str, ...] | None
    samples: float
    """Runs that each side has of a task: the harmonic mean."""

    @property
    def mean(self) -> float:
        return statistics.fmean(self.values) if self.values else 0.0

    @property
    def p(self) -> float:
        return sign_flip(self.values, clusters=self.clusters, draws=_DRAWS).p if self.values else 1.0


@dataclass(frozen=True, kw_only=True)
class _Split:
    """A split that is no chance, within the runs from `start` to `end`."""

    start: int
    after: int
    end: int
    p: float


def _table(runs: Sequence[Dated]) -> tuple[_Task, ...]:
    """Every task's share in every run, apart where the task changed; without what any run set aside."""
    aside = {task_id for dated in runs for task_id in dated.sheet.aside}
    rates: dict[tuple[str, str | None], dict[int, float]] = defaultdict(dict)
    repos: dict[str, str | None] = {}
    for index, dated in enumerate(runs):
        for task in dated.sheet.scored:
            if task.instance_id not in aside:
                rates[task.instance_id, task.digest][index] = float(task.rate or 0)
                repos[task.instance_id] = task.facts.repo
    return tuple(_Task(repo=repos[task_id], rates=shares) for (task_id, _), shares in rates.items())


def _differences(table: Sequence[_Task], before: range, after: range) -> _Differences:
    values, repos, inverse = [], [], []
    for task in table:
        old = [task.rates[index] for index in before if index in task.rates]
        new = [task.rates[index] for index in after if index in task.rates]
        if old and new:
            values.append(statistics.fmean(new) - statistics.fmean(old))
            repos.append(task.repo)
            inverse.append((1 / len(old) + 1 / len(new)) / 2)
    clusters = tuple(str(repo) for repo in repos) if worth_clustering(repos) else None
    samples = 1 / statistics.fmean(inverse) if inverse else 1.0
    return _Differences(values=tuple(values), clusters=clusters, samples=samples)


def _search(table: Sequence[_Task], count: int) -> list[_Split]:
    """Binary segmentation: split where the trend changed most, if chance does not explain it, then look on both sides.

    At each possible split all runs before are compared with all runs after, paired by task, with the sign-flip test;
    Holm holds the chance of any false step below `LEVEL` over all the steps of the trend. Among the splits that pass,
    the one with the largest change, weighed by the runs on its sides as in a CUSUM, is taken.

    Source: A. J. Scott and M. Knott, "A cluster analysis method for grouping means in the analysis of variance",
    Biometrics 30 (1974), 507-512, for the segmentation.
    """
    splits_found: list[_Split] = []
    waiting = [(0, count)]
    while waiting:
        start, end = waiting.pop()
        splits = range(start + 1, end)
        differences = [_differences(table, range(start, split), range(split, end)) for split in splits]
        others = [1.0] * (count - 1 - len(differences))  # the family is all steps of the trend
        adjusted = holm([*(difference.p for difference in differences), *others])
        significant = [
            (abs(difference.mean) * ((split - start) * (end - split)) ** 0.5, split, p)
            for split, difference, p in zip(splits, differences, adjusted, strict=False)
            if p < LEVEL
        ]
        if significant:
            _, split, p = max(significant)
            splits_found.append(_Split(start=start, after=split, end=end, p=p))
            waiting += [(start, split), (split, end)]
    return sorted(splits_found, key=lambda step: step.after)


def _step(runs: Sequence[Dated], split: _Split, differences: _Differences) -> Step:
    interval = difference_interval(differences.values, samples=differences.samples, clusters=differences.clusters)
    assert interval is not None  # noqa: S101 - a step has common tasks
    before, after = runs[split.after - 1], runs[split.after]
    return Step(
        before=split.after - 1,
        after=split.after,
        date=after.started_at,
        run=after.run,
        difference=differences.mean,
        interval=interval,
        p=split.p,
        tasks=len(differences.values),
        causes=_causes(before, after),
    )


def _causes(before: Dated, after: Dated) -> tuple[str, ...]:
    """What the two runs say differently of how they were made."""
    names = [*before.facts, *(name for name in after.facts if name not in before.facts)]
    return tuple(
        f"{name}: {before.facts.get(name) or 'unknown'} → {after.facts.get(name) or 'unknown'}"
        for name in names
        if before.facts.get(name) != after.facts.get(name)
    )


def _sentence(runs: Sequence[Dated], steps: Sequence[Step]) -> str:
    if len(runs) < 2:  # noqa: PLR2004 - a step needs two
        return "One run: nothing to compare it with."
    if not steps:
        return f"No step shown in {len(runs)} runs: what moved, chance explains."
    parts = [
        f"{'up' if step.difference > 0 else 'down'} {100 * abs(step.difference):.1f} points "
        f"at {step.run}, {step.date[:10]}"
        for step in steps
    ]
    return f"{'Steps' if len(parts) > 1 else 'A step'} shown: {'; '.join(parts)}."
