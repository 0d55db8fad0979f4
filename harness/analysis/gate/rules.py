"""May this run ship? Rules over a candidate's scoresheet and a baseline's. Pure.

Three answers, and green only where it is earned: a rule that is broken means regression; one that can't be told means
inconclusive; only where every rule is kept it is a pass. docs/gate.md says what each rule asks and how often it errs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from harness.analysis.compare import Comparison
from harness.analysis.gate import checks
from harness.analysis.gate.checks import Security, Weak
from harness.analysis.gate.config import GateRules, Mode
from harness.analysis.gate.decision import Change, Counts, Decision, GateVerdict, RuleLine, Ruling, Side, TaskLine
from harness.analysis.scoresheet import Scoresheet, TaskScore
from harness.core.instance import Outcome
from harness.core.wording import counted, first_of
from harness.runs.task_metadata import TaskFacts

_EXIT_CODES = {GateVerdict.PASS: 0, GateVerdict.REGRESSION: 1, GateVerdict.INCONCLUSIVE: 3}
_NAMED = 3
_SET_TO = {"inconclusive": 3, "pass": 0, "fail": 1}


@dataclass(frozen=True, kw_only=True)
class Entry:
    """A scoresheet under the name that people know it by."""

    sheet: Scoresheet
    name: str
    """Of the run folder or the accepted file."""
    started_at: str = ""
    unauthenticated: tuple[str, ...] = ()
    """Files that it stands on and that this machine, or those that share its key, did not write; none of an accepted
    file, which is the user's own as the rules are."""


def decide(
    candidate: Entry,
    baseline: Entry | None,
    rules: GateRules,
    *,
    security: Security,
    confirm: Entry | None = None,
    allow_unauthenticated: bool = False,
) -> Decision:
    """What the gate says.

    Without a baseline only the rules that need none are asked. `confirm` holds fresh samples of the candidate: a
    regression against the baseline then has to show in both. Runs with files that nobody here vouches for never pass,
    whatever the rules make of what can't be told, unless `allow_unauthenticated` says so.
    """
    entries = [entry for entry in (candidate, baseline, confirm) if entry is not None]
    foreign = [entry for entry in entries if entry.unauthenticated]
    unvouched = [] if allow_unauthenticated else [(entry.name, entry.unauthenticated) for entry in foreign]
    if unvouched and rules.inconclusive == "pass":
        rules = rules.model_copy(update={"inconclusive": "inconclusive"})
    ours, theirs = _only_what_counts(candidate.sheet, baseline.sheet if baseline else None)
    sides = {"": ours, " in the baseline": theirs, " in the second run": confirm.sheet if confirm else None}
    weak = checks.too_weak({where: sheet for where, sheet in sides.items() if sheet}, rules)
    facts = ours.facts_by_task
    ours, theirs = ours.without(weak), theirs and theirs.without(weak)
    pairs, nothing = checks.comparison_of(theirs, ours) if theirs else (None, "")
    lines = [checks.require(facts, weak, rules)]
    if theirs:
        again = checks.comparison_of(theirs, confirm.sheet)[0] if confirm else None
        drop = checks.drop(pairs, rules, confirm=again, confirming=confirm is not None)
        lines += [drop, checks.enough_tasks(pairs, rules)]
    lines += [checks.coverage(ours, rules), *checks.floors(ours, rules)]
    lines += checks.must_pass(ours, rules, weak)
    lines += checks.new_findings(security, rules)
    lines += checks.costs(ours, rules)
    lines += checks.authentic(unvouched)
    verdict = _verdict(lines)
    # what these tasks cannot show bears on the answer; a proof, or a regression, does without
    power = rules.mode is Mode.NO_REGRESSION and verdict is not GateVerdict.REGRESSION
    notes = _notes(candidate, baseline, pairs, power=power)
    return Decision(
        verdict=verdict,
        sentence=_sentence(verdict, lines, rules, compared=theirs is not None),
        exit_code=_SET_TO[rules.inconclusive] if verdict is GateVerdict.INCONCLUSIVE else _EXIT_CODES[verdict],
        candidate=_side(candidate, ours),
        baseline=_side(baseline, theirs) if baseline and theirs else None,
        compared=len(pairs.common) if pairs else 0,
        rules=tuple(lines),
        tasks=_task_lines(ours, theirs, pairs, {task_id: weak[task_id] for task_id in facts.keys() & weak.keys()}),
        findings=security.findings,
        notes=(
            *_for_review(ours),
            *(_allowed(foreign) if allow_unauthenticated else ()),
            *((nothing,) if nothing else notes),
        ),
    )


def _allowed(foreign: Iterable[Entry]) -> list[str]:
    """What counts although nobody here vouches for it."""
    return [
        f"{entry.name} has {counted(len(entry.unauthenticated), 'file')} without a MAC of this machine's key; "
        "they count all the same"
        for entry in foreign
    ]


def _only_what_counts(candidate: Scoresheet, baseline: Scoresheet | None) -> tuple[Scoresheet, Scoresheet | None]:
    """Both without what either knows to be quarantined or retired, the candidate with what it was not asked.

    A run that does not know its dataset cannot tell what it left out; the baseline's tasks tell it then.
    """
    if baseline is None:
        return candidate, None
    baseline = _set_aside(baseline, candidate.aside)
    candidate = _set_aside(candidate, baseline.aside)
    if not candidate.knows_dataset:
        missing = {
            task_id for task_id in baseline.tasks if task_id not in candidate.tasks.keys() | candidate.aside.keys()
        }
        uncovered: Mapping[str, TaskFacts] = {task_id: baseline.tasks[task_id].facts for task_id in missing}
        candidate = replace(candidate, uncovered={**candidate.uncovered, **uncovered})
    return candidate, baseline


def _set_aside(sheet: Scoresheet, also: Mapping[str, TaskScore]) -> Scoresheet:
    moved = {task_id: task for task_id, task in sheet.tasks.items() if task_id in also}
    return replace(
        sheet,
        tasks={task_id: task for task_id, task in sheet.tasks.items() if task_id not in moved},
        aside={**sheet.aside, **moved},
        uncovered={task_id: facts for task_id, facts in sheet.uncovered.items() if task_id not in also},
    )


def _verdict(lines: list[RuleLine]) -> GateVerdict:
    rulings = {line.ruling for line in lines}
    if Ruling.BROKEN in rulings:
        return GateVerdict.REGRESSION
    return GateVerdict.INCONCLUSIVE if Ruling.UNKNOWN in rulings else GateVerdict.PASS


def _sentence(verdict: GateVerdict, lines: list[RuleLine], rules: GateRules, *, compared: bool) -> str:
    """The answer in one plain sentence."""
    broken = [line.name for line in lines if line.ruling is Ruling.BROKEN]
    unknown = [line.name for line in lines if line.ruling is Ruling.UNKNOWN]
    if verdict is GateVerdict.REGRESSION:
        text = f"This is a regression: {first_of(broken, _NAMED)} broken"
        return f"{text}, and {first_of(unknown, _NAMED)} can't be decided." if unknown else f"{text}."
    if verdict is GateVerdict.INCONCLUSIVE:
        sentences = {
            "inconclusive": "that is not a pass",
            "pass": "goldseam.toml lets that pass",
            "fail": "goldseam.toml makes that fail",
        }
        return (
            f"Can't tell whether this is a regression, on {first_of(unknown, _NAMED)}; {sentences[rules.inconclusive]}."
        )
    if not compared:
        return "Every rule that needs no baseline is kept; nothing was compared."
    if rules.mode is Mode.NO_REGRESSION:
        return "No regression was shown, and every other rule is kept."
    return f"Shown to be worse by less than {100 * rules.max_drop:g} points, if at all, and every other rule is kept."


def _side(entry: Entry, sheet: Scoresheet) -> Side:
    rate = sheet.rate
    version = "" if sheet.dataset_version is None else f", version {sheet.dataset_version}"
    return Side(
        model=sheet.model,
        run=entry.name,
        dataset=f"{sheet.dataset}{version}" if sheet.dataset else "",
        started_at=entry.started_at,
        tasks=rate.tasks,
        share=rate.value,
        interval=rate.interval,
        coverage=sheet.coverage,
        cost=sheet.cost_usd.total,
    )


def _task_lines(
    ours: Scoresheet, theirs: Scoresheet | None, pairs: Comparison | None, weak: Mapping[str, Weak]
) -> tuple[TaskLine, ...]:
    """Every task that either side knows of, by id; `weak` are those that `require` leaves out."""
    common = set(pairs.common) if pairs else set()
    base = theirs.tasks if theirs else {}
    lines = [_scored_line(task, base.get(task_id), common=task_id in common) for task_id, task in ours.tasks.items()]
    for task_id, facts in ours.uncovered.items():
        lines.append(
            TaskLine(
                instance_id=task_id, repo=facts.repo or "", change=Change.MISSING, baseline=_counts(base.get(task_id))
            )
        )
    for task_id, task in ours.aside.items():
        state = task.facts.state or (theirs.aside[task_id].facts.state if theirs and task_id in theirs.aside else None)
        note = f"{state.value if state else 'set aside'}: counts nowhere"
        lines.append(TaskLine(instance_id=task_id, repo=task.facts.repo or "", change=Change.LEFT_OUT, note=note))
    for task_id, exclusion in weak.items():
        lines.append(TaskLine(instance_id=task_id, repo=exclusion.repo, change=Change.LEFT_OUT, note=exclusion.note()))
    return tuple(sorted(lines, key=lambda line: line.instance_id))


def _scored_line(task: TaskScore, base: TaskScore | None, *, common: bool) -> TaskLine:
    change, note = Change.NEW, ""
    if not task.scored:
        change = Change.NOT_SCORED
        note = "infrastructure failed" if any(sample.outcome for sample in task.samples) else "the run is not finished"
    elif common and base:
        change = _change(task, base)
    elif base and base.scored:
        note = "the task changed since the baseline"
    seconds = [sample.seconds for sample in task.samples if sample.seconds is not None]
    return TaskLine(
        instance_id=task.instance_id,
        repo=task.facts.repo or "",
        change=change,
        candidate=_counts(task),
        baseline=_counts(base),
        seconds=sum(seconds) if seconds else None,
        note=note,
    )


def _change(task: TaskScore, base: TaskScore) -> Change:
    """Lost where the baseline resolves it in half of its samples or more and the candidate does not; or won."""
    after, before = 2 * task.resolved >= task.scored, 2 * base.resolved >= base.scored
    if after == before:
        return Change.SAME
    return Change.WON if after else Change.LOST


def _counts(task: TaskScore | None) -> Counts | None:
    return Counts(resolved=task.resolved, scored=task.scored) if task and task.scored else None


def _for_review(ours: Scoresheet) -> tuple[str, ...]:
    """That passes of the candidate wait for a person: until then they are none."""
    waiting = [
        task.instance_id
        for task in ours.tasks.values()
        if any(sample.outcome is Outcome.NEEDS_REVIEW for sample in task.samples)
    ]
    if not waiting:
        return ()
    return (f"passes that need review count as not resolved, on {first_of(sorted(waiting), _NAMED)}",)


def _notes(candidate: Entry, baseline: Entry | None, pairs: Comparison | None, *, power: bool) -> tuple[str, ...]:
    """What a reader should know before believing the answer."""
    if pairs is None or baseline is None:
        return ()
    notes = list(pairs.warnings)
    if (candidate.sheet.run, candidate.sheet.model) == (baseline.sheet.run, baseline.sheet.model):
        notes.append("the candidate is compared with itself")
    reasons = Counter(pairs.left_out.values())
    if reasons:
        listed = ", ".join(f"{count} {reason}" for reason, count in sorted(reasons.items()))
        notes.append(f"not compared: {listed}")
    if power and pairs.smallest_visible is not None:
        size = 100 * pairs.smallest_visible
        notes.append(f"a true drop below about {size:.0f} points would often go unseen on these tasks")
    return tuple(notes)
