"""The rules of a gate, each a function from scoresheets to one line or more. Pure."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from harness.analysis.cohorts import CohortKey, by_cohort
from harness.analysis.compare import Comparison, compare
from harness.analysis.gate.config import GateRules, Mode
from harness.analysis.gate.decision import Finding, RuleLine, Ruling
from harness.analysis.scoresheet import Scoresheet, TaskScore, clusters
from harness.core.errors import NothingComparableError
from harness.core.wording import counted, first_of, nearest, span
from harness.judging.places import Place, weakest
from harness.runs.task_metadata import TaskFacts
from harness.stats import Alternative, difference_interval, needed_tasks, sign_flip

_NAMED = 3


@dataclass(frozen=True, kw_only=True)
class Security:
    """What security tools found in the candidate's patches and not in the trees they were made on."""

    findings: tuple[Finding, ...] = ()
    measured: int = 0
    """Predictions whose patch was looked at."""
    of: int = 0
    """Predictions with a patch, so that could have been looked at."""


@dataclass(frozen=True, kw_only=True)
class Weak:
    """A task that does not count, since its verdicts stand on too little for what is required."""

    why: str
    counted_by: Place
    """With this as `require` it counts."""
    repo: str = ""

    def note(self) -> str:
        """Why, and how it would count."""
        return f"{self.why}: counts with --require {self.counted_by}"


def too_weak(sides: Mapping[str, Scoresheet], rules: GateRules) -> Mapping[str, Weak]:
    """What `require` leaves out, by id: what one of the sides does not judge there. `sides` are by words for them."""
    weaks: dict[str, Weak] = {}
    for where, sheet in sides.items():
        for task_id, facts in sheet.facts_by_task.items():
            weak = _weak(facts, rules.require, where)
            before = weaks.get(task_id)
            if weak and (before is None or not weak.counted_by.reaches(before.counted_by)):
                weaks[task_id] = weak
    return weaks


def _weak(facts: TaskFacts, required: Place, where: str) -> Weak | None:
    if not facts.judged.reaches(required):
        return Weak(why=f"judged {facts.judged}{where}", counted_by=facts.judged, repo=facts.repo or "")
    if required is Place.HOST and facts.guessable:
        return Weak(why=f"guessable{where}", counted_by=Place.MIXED, repo=facts.repo or "")
    return None


def require(places: Collection[str], weak: Mapping[str, Weak], rules: GateRules) -> RuleLine:
    """How many of the tasks asked are judged where it is required. What is left out says nothing about the model."""
    out = sorted(task_id for task_id in places if task_id in weak)
    left = len(places) - len(out)
    whys = ", ".join(f"{count} {why}" for why, count in sorted(Counter(weak[task_id].why for task_id in out).items()))
    summary = f"{left} of {len(places)} tasks" + (f"; left out: {whys}" if out else "")
    by = weakest(weak[task_id].counted_by for task_id in out)
    return RuleLine(
        name="require",
        required=f"judged {rules.require}" + (", not guessable" if rules.require is Place.HOST else ""),
        found=summary,
        ruling=Ruling.KEPT if left else Ruling.UNKNOWN,
        sentence=f"{'' if left else 'No task remains. '}--require {by} counts all." if out else "",
        tasks=tuple(out),
    )


@dataclass(frozen=True, kw_only=True)
class Drop:
    """How much worse the candidate is, and how sure that is."""

    points: float
    """Baseline's mean share less candidate's over the common tasks, from -1 to 1: above 0 is a drop."""
    p: float
    """One-sided: how often as large a drop would be seen by chance alone."""
    largest: float
    """One-sided upper bound of the drop at the confidence asked for."""
    worst_p: float
    """What p would be, had the candidate lost all that the baseline resolves."""
    variance: float
    """Of the tasks' differences, with one task gained and one lost added."""

    def exceeds(self, rules: GateRules) -> bool:
        """Whether there is a drop of the forbidden size."""
        return self.p < 1 - rules.confidence and self.points > 0 and _at_least(self.points, rules.max_drop)


def measure(comparison: Comparison, *, confidence: float) -> Drop:
    """The drop over the common tasks: sign-flip permutation (exact McNemar with one sample a task), and its bound.

    Source: E. Miller, "Adding error bars to evals", arXiv 2411.00640 (2024), section 4.2; the bound is
    `stats.difference_interval`'s, one-sided.
    """
    pairs = [(comparison.base.tasks[task_id], comparison.candidate.tasks[task_id]) for task_id in comparison.common]
    differences = [float((two.rate or 0) - (score.rate or 0)) for score, two in pairs]
    repos = clusters([score for score, _ in pairs])
    samples = 2 / statistics.fmean([1 / score.scored + 1 / two.scored for score, two in pairs])
    interval = difference_interval(differences, samples=samples, clusters=repos, confidence=2 * confidence - 1)
    assert interval is not None  # noqa: S101 - a comparison has at least one common task
    return Drop(
        points=-statistics.fmean(differences),
        p=sign_flip(differences, clusters=repos, alternative=Alternative.LESS).p,
        largest=-interval.low,
        worst_p=sign_flip(
            [-float(score.rate or 0) for score, _ in pairs], clusters=repos, alternative=Alternative.LESS
        ).p,
        variance=statistics.variance([*differences, 1.0, -1.0]),
    )


def enough_tasks(comparison: Comparison | None, rules: GateRules) -> RuleLine:
    """Whether enough tasks have a verdict in both runs."""
    common = len(comparison.common) if comparison else 0
    few = common < rules.min_tasks
    return RuleLine(
        name="min_tasks",
        required=f"{rules.min_tasks} in common",
        found=str(common),
        ruling=Ruling.UNKNOWN if few else Ruling.KEPT,
        sentence="Too few tasks have a verdict in both runs and are unchanged between them." if few else "",
    )


def drop(
    comparison: Comparison | None, rules: GateRules, *, confirm: Comparison | None = None, confirming: bool = False
) -> RuleLine:
    """Whether the candidate is worse than the baseline by `max_drop` or more, or is shown not to be.

    Broken where a drop of at least `max_drop` was seen and chance alone would show as much in fewer than
    1 - `confidence` of comparisons; with a second run, only where both show it. Kept, for `no-worse-than`, where
    the bound of the drop lies below `max_drop`; for `no-regression`, where the drop seen does. Else nobody can tell.
    """
    name = "max_drop"
    required = f"drop < {_points(rules.max_drop)}" + (", proved" if rules.mode is Mode.NO_WORSE_THAN else "")
    if comparison is None:
        return RuleLine(name=name, required=required, found="nothing comparable", ruling=Ruling.UNKNOWN)
    measured_drop = measure(comparison, confidence=rules.confidence)
    text = f"{_change(measured_drop)}, p {_p(measured_drop.p)}"
    lost = tuple(flip.instance_id for flip in comparison.lost)
    ruling, sentence = _judge(measured_drop, rules)
    before, after = comparison.base.rate.value or 0.0, comparison.candidate.rate.value or 0.0
    sentence = f"{before:.1%} became {after:.1%} on {len(comparison.common)} tasks. {sentence}"
    if ruling is Ruling.BROKEN and confirming:
        again = measure(confirm, confidence=rules.confidence) if confirm else None
        text += f"; again {_change(again)}, p {_p(again.p)}" if again else "; nothing comparable in the second run"
        if again is None or not again.exceeds(rules):
            ruling = Ruling.UNKNOWN
            sentence = "The drop did not show again on fresh samples, so it may have been chance."
        else:
            sentence = f"The drop showed twice, on fresh samples too. {sentence}"
    tasks = lost if ruling is not Ruling.KEPT else ()
    return RuleLine(name=name, required=required, found=text, ruling=ruling, sentence=sentence, tasks=tasks)


def _judge(measured_drop: Drop, rules: GateRules) -> tuple[Ruling, str]:
    if measured_drop.exceeds(rules):
        return Ruling.BROKEN, f"Chance alone would show such a drop with p {_p(measured_drop.p)} only."
    if rules.mode is Mode.NO_WORSE_THAN:
        if measured_drop.largest < rules.max_drop:
            return (
                Ruling.KEPT,
                f"A drop above {_points(measured_drop.largest)} is ruled out."
                if measured_drop.largest > 0
                else "It is better.",
            )
        needed = _tasks_needed(measured_drop, rules)
        return Ruling.UNKNOWN, f"A drop of up to {_points(measured_drop.largest)} can't be ruled out{needed}."
    if measured_drop.points > 0 and _at_least(measured_drop.points, rules.max_drop):
        return Ruling.UNKNOWN, f"A drop was seen, but chance alone shows as much with p {_p(measured_drop.p)}."
    if measured_drop.worst_p >= 1 - rules.confidence:
        return Ruling.UNKNOWN, "Even losing every task would not show: the baseline resolves too few of them."
    return Ruling.KEPT, f"A drop of up to {_points(max(0.0, measured_drop.largest))} can't be ruled out."


def _tasks_needed(measured_drop: Drop, rules: GateRules) -> str:
    """How many tasks would tell, were there no difference."""
    tasks = (
        needed_tasks(rules.max_drop, measured_drop.variance, confidence=2 * rules.confidence - 1)
        if rules.max_drop
        else None
    )
    return f"; about {tasks} tasks that vary like these would tell" if tasks else ""


def _change(measured_drop: Drop) -> str:
    if abs(measured_drop.points) < 0.0005:  # noqa: PLR2004 - shows as 0.0
        return "no change"
    return f"{'drop' if measured_drop.points > 0 else 'gain'} of {_points(abs(measured_drop.points))}"


def _points(share: float) -> str:
    return f"{100 * share:.1f} points"


def _p(value: float) -> str:
    return "< 0.001" if value < 0.001 else f"{value:.3f}"  # noqa: PLR2004


def _at_least(value: float, bound: float) -> bool:
    """Shares are sums of fractions: one that should be equal may be a hair below."""
    return value >= bound - 1e-9


def coverage(candidate: Scoresheet, rules: GateRules) -> RuleLine:
    """Whether enough of what should have been scored was. A gap says nothing about the model, so it can't break."""
    short = not _at_least(candidate.coverage, rules.min_coverage)
    gaps = [task.instance_id for task in candidate.tasks.values() if task.unscored]
    missing = list(candidate.uncovered)
    parts = [f"{len(gaps)} not scored" if gaps else "", f"{len(missing)} without a prediction" if missing else ""]
    why = f"Gaps are not failures of the model: {', '.join(filter(None, parts)) or 'no task counts'}."
    return RuleLine(
        name="min_coverage",
        required=f"{rules.min_coverage:.0%}",
        found=f"{candidate.coverage:.1%}",
        ruling=Ruling.UNKNOWN if short else Ruling.KEPT,
        sentence=why if short else "",
        tasks=tuple(sorted([*gaps, *missing])) if short else (),
    )


def floors(candidate: Scoresheet, rules: GateRules) -> list[RuleLine]:
    """A line per floor. Below it and surely so: broken; below it and perhaps by chance: nobody can tell."""
    return [_floor(key, floor, candidate) for key, floor in rules.floors.items()]


def _floor(key: str, floor: float, candidate: Scoresheet) -> RuleLine:
    name, _, value = key.partition(":")
    cohorts = {cohort.label: cohort.sheet for cohort in by_cohort(candidate, CohortKey(name))}
    cohort = cohorts.get(value)
    line = RuleLine(name=f"floor {key}", required=f"{floor:.0%} resolved", found="no task", ruling=Ruling.UNKNOWN)
    if cohort is None or not cohort.scored:
        likely = nearest(value, cohorts.keys() - {value})
        hint = f"Did you mean {name}:{likely}?" if likely else f"Known are: {', '.join(sorted(cohorts)[:5]) or 'none'}."
        return replace(line, sentence=f"No scored task of the run is {key}. {hint}")
    rate = cohort.rate
    share, interval = rate.value or 0.0, rate.interval
    bounds = f"; {span(interval.low, interval.high)}" if interval else ""
    line = replace(line, found=f"{share:.1%} of {rate.tasks}{bounds}")
    if _at_least(share, floor):
        return replace(line, ruling=Ruling.KEPT)
    short = tuple(task.instance_id for task in cohort.scored if task.resolved < task.scored)
    if interval is not None and interval.high < floor:
        return replace(line, ruling=Ruling.BROKEN, tasks=short)
    return replace(line, tasks=short, sentence="Below the floor, but its interval reaches it: that may be chance.")


def must_pass(candidate: Scoresheet, rules: GateRules, weak: Mapping[str, Weak]) -> list[RuleLine]:
    """One line for all the tasks that every sample has to resolve; no line where none is named."""
    if not rules.must_pass:
        return []
    ids = dict.fromkeys(rules.must_pass)
    aside = [task_id for task_id in ids if task_id in candidate.aside]
    unknown = [task_id for task_id in ids if task_id not in aside and not _scored(candidate.tasks.get(task_id))]
    lost = [
        task_id
        for task_id in ids
        if (task := candidate.tasks.get(task_id)) and _scored(task) and task.resolved < task.scored
    ]
    count = len(ids) - len(aside)
    summary = f"{count - len(lost) - len(unknown)} of {count}" + (f"; {len(aside)} set aside" if aside else "")
    sentence = ""
    if lost:
        sentence = f"Not resolved: {first_of(lost, _NAMED)}."
    elif unknown:
        task_ids = candidate.facts_by_task.keys() | weak.keys()
        strange = [task_id for task_id in unknown if task_id not in task_ids]
        likely = nearest(strange[0], task_ids) if strange else None
        hint = (
            f" {strange[0]} is not a task of this run" + (f"; did you mean {likely}?" if likely else ".")
            if strange
            else next((f" {task_id} is {weak[task_id].note()}." for task_id in unknown if task_id in weak), "")
        )
        sentence = f"No verdict on {first_of(unknown, _NAMED)}.{hint}"
    return [
        RuleLine(
            name="must_pass",
            required=f"{count} task{'s' if count != 1 else ''}, every sample",
            found=summary,
            ruling=Ruling.BROKEN if lost else Ruling.UNKNOWN if unknown else Ruling.KEPT,
            sentence=sentence,
            tasks=tuple(lost or unknown),
        )
    ]


def _scored(task: TaskScore | None) -> bool:
    return task is not None and task.scored > 0


def new_findings(security: Security, rules: GateRules) -> list[RuleLine]:
    """Whether the candidate's patches bring in security findings; no line where that is not asked."""
    if not rules.no_new_security:
        return []
    tasks = tuple(sorted({finding.instance_id for finding in security.findings}))
    gaps = security.of - security.measured
    if security.findings:
        summary, ruling = f"{len(security.findings)} in {counted(len(tasks), 'task')}", Ruling.BROKEN
        sentence = f"In {first_of(list(tasks), _NAMED)}."
    elif gaps:
        summary, ruling = f"not measured: {gaps} of {security.of}", Ruling.UNKNOWN
        sentence = "A patch that was not measured is not known to be clean."
    else:
        summary, ruling, sentence = f"none in {security.measured} patches", Ruling.KEPT, ""
    return [
        RuleLine(name="no_new_security", required="none", found=summary, ruling=ruling, sentence=sentence, tasks=tasks)
    ]


def authentic(unvouched: Sequence[tuple[str, Sequence[str]]]) -> list[RuleLine]:
    """A line where runs, by name, hold files that this machine's key did not make; no line where none does."""
    if not unvouched:
        return []
    count = sum(len(names) for _, names in unvouched)
    run, names = unvouched[0]
    return [
        RuleLine(
            name="authenticated",
            required="every report",
            found=f"{count} file{'s' if count != 1 else ''} without a MAC of this machine's key",
            ruling=Ruling.UNKNOWN,
            sentence=f"Such as {names[0]} of {run}: made by hand, on another machine or task, or by an older version. "
            "Score it here, share a key (GOLDSEAM_REPORT_KEY), or take it as it is (--allow-unauthenticated).",
        )
    ]


def costs(candidate: Scoresheet, rules: GateRules) -> list[RuleLine]:
    """A line per limit of cost. What is not known is not 0: it is only kept where every prediction says its cost."""
    lines = []
    if rules.max_cost is not None:
        lines.append(_cost("max_cost", rules.max_cost, candidate, per=1, unit="in all"))
    if rules.max_cost_per_resolved is not None:
        limit = rules.max_cost_per_resolved
        lines.append(_cost("max_cost_per_resolved", limit, candidate, per=candidate.resolved, unit="per resolved"))
    return lines


def _cost(name: str, limit: float, candidate: Scoresheet, *, per: int, unit: str) -> RuleLine:
    figure = candidate.cost_usd
    cost = (figure.mean or 0.0) * figure.known
    unknown = figure.of - figure.known
    if per:
        spent = f"${cost / per:.2f} {unit}"
        over = cost / per > limit + 1e-9
    else:
        spent, over = f"${cost:.2f} and nothing resolved", cost > 0
    ruling, sentence = Ruling.KEPT, ""
    if over:
        ruling = Ruling.BROKEN
    elif unknown or not figure.of:
        ruling = Ruling.UNKNOWN
        sentence = f"{unknown} of {figure.of} predictions do not say what they cost, and that is not 0."
    amount = spent if not unknown else f"unknown for {unknown} of {figure.of}"
    if unknown and over:
        amount = f"{spent}, and {unknown} unknown"
    return RuleLine(name=name, required=f"${limit:.2f} {unit}", found=amount, ruling=ruling, sentence=sentence)


def comparison_of(baseline: Scoresheet, candidate: Scoresheet) -> tuple[Comparison | None, str]:
    """The comparison; None and why where no task has a verdict in both."""
    try:
        return compare(baseline, candidate), ""
    except NothingComparableError as error:
        return None, error.message
