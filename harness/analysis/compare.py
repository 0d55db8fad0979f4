"""Two models on the same tasks: which is better, how sure that is, or that it can't be told."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from harness.analysis.scoresheet import Scoresheet, TaskScore, clusters
from harness.core.errors import InputError, NothingComparableError
from harness.core.wording import counted, did_you_mean
from harness.runs.predictions import CONTROLS
from harness.stats import (
    LEVEL,
    Alternative,
    Interval,
    PairedTest,
    difference_interval,
    holm,
    least_error,
    mcnemar_detectable,
    mcnemar_exact,
    minimum_detectable_effect,
    needed_samples,
    needed_tasks,
    sign_flip,
    standard_error,
)

_LEAST_FLIPS = 2
"""What two models that agree on all tasks are taken to differ on, one gained and one lost; as `stats.least_error`."""


class Answer(StrEnum):
    """What a comparison says of the candidate."""

    BETTER = "better"
    """The candidate is better, and chance does not explain it."""
    WORSE = "worse"
    """The candidate is worse, and chance does not explain it."""
    CANT_TELL = "can't tell"
    """Chance explains the difference."""


class Reason(StrEnum):
    """Why a task is left out of a comparison."""

    ONLY_IN_BASE = "only in base"
    """The candidate has no prediction for it."""
    ONLY_IN_CANDIDATE = "only in candidate"
    """The base has no prediction for it."""
    BASE_NOT_SCORED = "no verdict in base"
    """Infrastructure failed, or the run is not finished."""
    CANDIDATE_NOT_SCORED = "no verdict in candidate"
    """Infrastructure failed, or the run is not finished."""
    TASK_CHANGED = "task changed between the runs"
    """Tests, image or budgets are others: two verdicts on two tasks."""
    SET_ASIDE = "quarantined, retired or not proved"
    """The task counts in no score."""


@dataclass(frozen=True, kw_only=True)
class Flip:
    """A task on which the two differ."""

    instance_id: str
    base: tuple[int, int]
    """Resolved and scored samples."""
    candidate: tuple[int, int]

    @property
    def change(self) -> float:
        """Candidate's rate less base's, from -1 to 1."""
        return self.candidate[0] / self.candidate[1] - self.base[0] / self.base[1]


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """Candidate against base, over the tasks that both have a verdict on."""

    base: Scoresheet
    """Cut down to the common tasks."""
    candidate: Scoresheet
    base_coverage: float
    """Of the whole sheet, as `Scoresheet.coverage`."""
    candidate_coverage: float
    common: tuple[str, ...]
    """Ids."""
    left_out: Mapping[str, Reason]
    """By id."""
    warnings: tuple[str, ...]
    """What makes the two runs less alike than they should be, in words."""
    difference: float
    """Mean over the common tasks of candidate's rate less base's, from -1 to 1."""
    interval: Interval
    """95%, of the difference."""
    repositories: int | None
    """Where test and interval are clustered by repository: how many there are."""
    test: PairedTest
    """Two-sided."""
    p_adjusted: float
    """The p-value, adjusted by Holm where several candidates are compared with one base; else the same."""
    smallest_visible: float
    """Minimum detectable effect: the true difference that these tasks and samples find with a chance of 80%; 1 where
    there is none that they would."""
    tasks_needed: int | None
    """To find a difference of the size seen with that chance; None where none was seen."""
    samples_needed: int | None
    """As `tasks_needed`, but samples a task on these very tasks; None where no number would do or it can't be known."""
    gained: tuple[Flip, ...]
    """Tasks that the candidate resolves more often, by id."""
    lost: tuple[Flip, ...]

    @property
    def answer(self) -> Answer:
        """Better or worse only where the test says so and the interval excludes 0."""
        if self.p_adjusted >= LEVEL or self.interval.holds(0.0):
            return Answer.CANT_TELL
        return Answer.BETTER if self.difference > 0 else Answer.WORSE


def compare(base: Scoresheet, candidate: Scoresheet) -> Comparison:
    """Compare two models, paired by task.

    One sample a task: exact McNemar. Several: the paired sign-flip permutation. Where tasks come from ten repositories
    or more and share some, both the test and the interval are clustered by repository.

    Raises:
        NothingComparableError: no task has a verdict in both.

    """
    left_out = _left_out(base, candidate)
    common = tuple(sorted((base.tasks.keys() & candidate.tasks.keys()) - left_out.keys()))
    if not common:
        raise _nothing(base, candidate, left_out)
    pairs = [(base.tasks[task_id], candidate.tasks[task_id]) for task_id in common]
    differences = [float((two.rate or 0) - (score.rate or 0)) for score, two in pairs]
    repos = clusters([score for score, _ in pairs])
    difference = statistics.fmean(differences)
    test = _test(pairs, differences, repos)
    spread = _spread(pairs, differences, repos)
    flips = [_flip(score, two) for score, two in pairs if score.rate != two.rate]
    return Comparison(
        base=base.only(common),
        candidate=candidate.only(common),
        base_coverage=base.coverage,
        candidate_coverage=candidate.coverage,
        common=common,
        left_out=left_out,
        warnings=_warnings(base, candidate, common=len(common), others=len(left_out)),
        difference=difference,
        interval=_interval(differences, spread, test, repos),
        repositories=len(set(repos)) if repos else None,
        test=test,
        p_adjusted=test.p,
        smallest_visible=min(1.0, spread.visible),
        tasks_needed=needed_tasks(difference, spread.variance),
        samples_needed=spread.samples_needed(difference),
        gained=tuple(flip for flip in flips if flip.change > 0),
        lost=tuple(flip for flip in flips if flip.change < 0),
    )


def compare_all(base: Scoresheet, candidates: Sequence[Scoresheet]) -> tuple[Comparison, ...]:
    """Several candidates against one base, in their order: p-values adjusted by Holm, so that no claim is luck of many.

    Raises:
        NothingComparableError: one of them shares no task with base.

    """
    return adjusted([compare(base, candidate) for candidate in candidates])


def adjusted(comparisons: Sequence[Comparison]) -> tuple[Comparison, ...]:
    """Comparisons with one base, their p-values adjusted for how many there are."""
    p_values = holm([comparison.test.p for comparison in comparisons])
    return tuple(replace(comparison, p_adjusted=p) for comparison, p in zip(comparisons, p_values, strict=True))


def pick(sheets: Sequence[Scoresheet], model: str | None) -> Scoresheet:
    """The sheet of a model; of the only one where no model is named, not counting gold and null.

    Raises:
        InputError: there is no such model, or several and none named.

    """
    names = ", ".join(sheet.model for sheet in sheets)
    if not sheets:
        raise InputError("the run holds no prediction", hint="score some with `goldseam evaluate`")
    run = sheets[0].run
    if model is not None:
        scoresheets = [sheet for sheet in sheets if sheet.model == model]
        if not scoresheets:
            raise InputError(
                f"{run} has no model {model!r}",
                hint=did_you_mean(model, [sheet.model for sheet in sheets], otherwise=f"it has: {names}"),
            )
        return scoresheets[0]
    real = [sheet for sheet in sheets if sheet.model not in CONTROLS] or list(sheets)
    if len(real) > 1:
        raise InputError(f"{run} holds several models: {names}", hint="choose one by its name")
    return real[0]


def pick_candidates(
    runs: Sequence[Sequence[Scoresheet]], models: Sequence[str], *, base: Scoresheet
) -> tuple[Scoresheet, ...]:
    """The sheets to compare with base: those of the models named, else every one but base, gold and null.

    Gold or null counts where a run has nothing else. One run may be base and candidate: its other models compete.

    Raises:
        InputError: a model is in none of the runs, or nothing is left.

    """
    scoresheets: list[Scoresheet] = []
    for sheets in runs:
        others = [sheet for sheet in sheets if (sheet.run, sheet.model) != (base.run, base.model)]
        real = [sheet for sheet in others if sheet.model not in CONTROLS] or others
        scoresheets += [sheet for sheet in (sheets if models else real) if not models or sheet.model in models]
    missing = [model for model in models if model not in {sheet.model for sheet in scoresheets}]
    if missing:
        names = sorted({sheet.model for sheets in runs for sheet in sheets})
        hint = did_you_mean(missing[0], names, otherwise=f"they have: {', '.join(names)}")
        raise InputError(f"no candidate run has a model {missing[0]!r}", hint=hint)
    if not scoresheets:
        raise InputError(
            "there is nothing to compare the base with", hint="give a run with another model's predictions"
        )
    return tuple(scoresheets)


@dataclass(frozen=True, kw_only=True)
class _Spread:
    """How much the tasks' differences vary, and how much of that is luck of the samples."""

    tasks: int
    samples: float
    """A task, of each model: the harmonic mean."""
    variance: float
    """Of the observed differences, as one over so many independent tasks."""
    within: float | None
    """Both models' mean p(1-p); None with one sample a task, which can't tell."""
    flipping: float | None
    """The share of tasks on which the two differ, where the test is McNemar's; else None."""

    @property
    def visible(self) -> float:
        if self.flipping is not None:
            return mcnemar_detectable(tasks=self.tasks, flipping=self.flipping) or 1.0
        return minimum_detectable_effect(tasks=self.tasks, samples=1, between=self.variance, within=0) or 1.0

    def samples_needed(self, difference: float) -> int | None:
        if self.within is None or difference == 0:
            return None
        between = max(0.0, self.variance - self.within / self.samples)
        return needed_samples(difference, tasks=self.tasks, between=between, within=self.within)


def _spread(
    pairs: Sequence[tuple[TaskScore, TaskScore]], differences: Sequence[float], repos: Sequence[str] | None
) -> _Spread:
    tasks = len(pairs)
    samples = 1 / statistics.fmean([(1 / score.scored + 1 / two.scored) / 2 for score, two in pairs])
    error = max(standard_error(differences, repos) if tasks > 1 else 1.0, least_error(tasks=tasks, samples=samples))
    within = [_within(score) + _within(two) for score, two in pairs if min(score.scored, two.scored) > 1]
    return _Spread(
        tasks=tasks,
        samples=samples,
        variance=error**2 * tasks,
        within=statistics.fmean(within) if len(within) == tasks else None,
        flipping=max(_LEAST_FLIPS, tasks - differences.count(0.0)) / tasks if _is_single(pairs, repos) else None,
    )


def _is_single(pairs: Sequence[tuple[TaskScore, TaskScore]], repos: Sequence[str] | None) -> bool:
    """One sample a task and tasks that stand for themselves: McNemar's case."""
    return repos is None and len(pairs) >= _LEAST_FLIPS and all(score.scored == two.scored == 1 for score, two in pairs)


def _interval(differences: Sequence[float], spread: _Spread, test: PairedTest, repos: Sequence[str] | None) -> Interval:
    """The interval of the difference. Where the exact test can't exclude 0 the interval, an approximation, doesn't."""
    interval = difference_interval(differences, samples=spread.samples, clusters=repos)
    assert interval is not None  # noqa: S101 - there is a common task
    return Interval(low=min(interval.low, 0.0), high=max(interval.high, 0.0)) if test.p >= LEVEL else interval


def _within(task: TaskScore) -> float:
    """Unbiased p(1-p) of a task with several samples."""
    return task.resolved * (task.scored - task.resolved) / (task.scored * (task.scored - 1))


def _test(
    pairs: Sequence[tuple[TaskScore, TaskScore]], differences: Sequence[float], repos: Sequence[str] | None
) -> PairedTest:
    if _is_single(pairs, repos):
        return mcnemar_exact(differences.count(1.0), differences.count(-1.0))
    return sign_flip(differences, clusters=repos, alternative=Alternative.TWO_SIDED)


def _flip(score: TaskScore, two: TaskScore) -> Flip:
    return Flip(
        instance_id=score.instance_id, base=(score.resolved, score.scored), candidate=(two.resolved, two.scored)
    )


def _left_out(base: Scoresheet, candidate: Scoresheet) -> dict[str, Reason]:
    """Each task of either run that can't be compared, with the one reason why."""
    task_ids = base.tasks.keys() | base.aside.keys() | candidate.tasks.keys() | candidate.aside.keys()
    reasons = {task_id: _reason(task_id, base, candidate) for task_id in sorted(task_ids)}
    return {task_id: reason for task_id, reason in reasons.items() if reason}


def _reason(task_id: str, base: Scoresheet, candidate: Scoresheet) -> Reason | None:
    if task_id in base.aside or task_id in candidate.aside:
        return Reason.SET_ASIDE
    score, two = base.tasks.get(task_id), candidate.tasks.get(task_id)
    if score is None:
        return Reason.ONLY_IN_CANDIDATE
    if two is None:
        return Reason.ONLY_IN_BASE
    if score.digest and two.digest and score.digest != two.digest:
        return Reason.TASK_CHANGED
    if not score.scored:
        return Reason.BASE_NOT_SCORED
    return None if two.scored else Reason.CANDIDATE_NOT_SCORED


def _warnings(base: Scoresheet, candidate: Scoresheet, *, common: int, others: int) -> tuple[str, ...]:
    """Differences between the runs that no task shows."""
    warnings = []
    if base.dataset != candidate.dataset:
        warnings.append(f"the runs are on two datasets: {base.dataset} and {candidate.dataset}")
    elif base.dataset_version != candidate.dataset_version:
        warnings.append(
            f"the runs are on versions {base.dataset_version} and {candidate.dataset_version} of the dataset: "
            f"compared are the {counted(common, 'task that is', 'tasks that are')} the same in both and scored, "
            f"without {counted(others, 'other')}"
        )
    elif base.dataset_content and candidate.dataset_content and base.dataset_content != candidate.dataset_content:
        warnings.append(
            f"both runs are on version {base.dataset_version} of the dataset, but its tasks were changed between them: "
            f"compared are the {counted(common, 'task that is', 'tasks that are')} the same in both and scored, "
            f"without {counted(others, 'other')}"
        )
    if base.grading_version != candidate.grading_version:
        warnings.append(
            f"the runs were graded by other rules (versions {base.grading_version} and {candidate.grading_version}); "
            "evaluate the older one again"
        )
    if base.demands != candidate.demands:
        warnings.append("what a pass had to withstand differs between the runs (--timeout)")
    return (*warnings, *_kinds(base, candidate))


def _kinds(base: Scoresheet, candidate: Scoresheet) -> tuple[str, ...]:
    """That a task showed more of its tests in one run than in the other: a scaffolded score and a hidden one."""
    both = base.tasks.keys() & candidate.tasks.keys()
    other = [
        task_id for task_id in both if base.tasks[task_id].facts.revealed != candidate.tasks[task_id].facts.revealed
    ]
    if not other:
        return ()
    text = (
        f"{counted(len(other), 'task')} showed different numbers of their tests in the two runs, such as {min(other)}: "
        "a scaffolded score and one over hidden tests only are two kinds; solve both with the same dataset"
    )
    return (text,)


def _nothing(base: Scoresheet, candidate: Scoresheet, left_out: Mapping[str, Reason]) -> NothingComparableError:
    counts = {reason: list(left_out.values()).count(reason) for reason in Reason}
    why = ", ".join(f"{count} {reason.value}" for reason, count in counts.items() if count)
    return NothingComparableError(
        f"no task has a verdict in both {base.run} ({base.model}) and {candidate.run} ({candidate.model})"
        + (f": {why}" if why else ""),
        hint="evaluate both models on the same dataset",
    )
