"""A refresh: gold and null again on every task, what is off once more, and what drifted out of all scores."""

from __future__ import annotations

import statistics
import time
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

from harness.core import files, origin
from harness.core.errors import BugError, InputError
from harness.core.instance import Instance, Task, TaskState
from harness.dataset import content, task_states
from harness.dataset.content import Version
from harness.dataset.folder import Dataset
from harness.dataset.ledger import chain
from harness.dataset.seal import access_log
from harness.grading import calibration
from harness.grading.scoring import Demands
from harness.runs import bug_log, verdict
from harness.runs.predictions import of_null
from harness.runs.redaction import pseudonym
from harness.runs.refresh import drift, record
from harness.runs.refresh.drift import GONE_WRONG, REPEATS, Finding, Result
from harness.runs.refresh.notes import Notes, folder_of, request_of, unfinished
from harness.runs.refresh.seen import Kind, NoVerdictError, Slot, VerdictSummary, observe
from harness.runs.task_store import TaskStore
from harness.sandbox.executors.base import Executor
from harness.sandbox.job import MissingImageError, Sandbox, SandboxError
from harness.stats import clean_bound

_SHORTEST = 0.5
"""Seconds below which a time says more of the engine than of the tests."""


class Observer(Protocol):
    """Told about a refresh as it goes."""

    def begin(self, *, tasks: int, verdicts: int, known: int) -> None:
        """How much there is to do; `known` verdicts are from an earlier call."""

    def seen(self, seen: VerdictSummary) -> None:
        """One more verdict."""

    def suspect(self, instance_id: str) -> None:
        """A task of which a verdict is off; it is run again at the end."""

    def finished(self, finding: Finding) -> None:
        """One more task is decided."""

    def note(self, text: str) -> None:
        """Something that a person should know of the whole."""


@dataclass(frozen=True, kw_only=True)
class Settings:
    """How a refresh is done."""

    runs: int = 1
    """Of gold, and as many of null, on each task."""
    demands: Demands = field(default_factory=Demands)
    quarantined: bool = False
    """Look at the tasks in quarantine instead of the proved ones."""
    dry_run: bool = False
    force: bool = False
    """Quarantine though so many tasks went wrong that it looks like the machine."""
    retry: bool = False
    """Take over what the last refresh has seen, though it ended."""
    record: bool = False
    """Write a line though nothing changed."""


@dataclass(frozen=True, kw_only=True)
class Refreshed:
    """What a refresh found and did."""

    findings: tuple[Finding, ...]
    settings: Settings
    mass: bool
    """So many went wrong that it looks like the machine."""
    slowdown: float
    """By how much gold took longer than when the tasks were proved, in the median; 1 where that is not known."""
    quarantined: tuple[str, ...] = ()
    version: Version | None = None
    """The dataset's, where tasks were quarantined."""
    recorded: bool = False
    seconds: float = 0.0

    def of(self, *results: Result) -> tuple[Finding, ...]:
        """The findings with one of these results."""
        return tuple(finding for finding in self.findings if finding.result in results)

    @property
    def clean_runs(self) -> tuple[int, ...]:
        """Of each task whose every verdict was as it should be: so many runs of gold, and as many of null."""
        return tuple(min(finding.gold.runs, finding.null.runs) for finding in self.of(Result.HOLDS))

    @property
    def bound_each(self) -> float | None:
        """What the clean runs of one task leave open, at 95%: its chance of another verdict, a run; of the least run.

        See `harness.stats.clean_bound`. None where no task held.
        """
        runs = self.clean_runs
        return clean_bound(min(runs)) if runs else None

    @property
    def bound_all(self) -> float | None:
        """The same for a run of any of them, all clean runs taken together."""
        return clean_bound(sum(self.clean_runs)) if self.clean_runs else None


def choose(dataset: Dataset, ids: Sequence[str], *, quarantined: bool) -> tuple[str, ...]:
    """The tasks to look at: the named ones, or all that are proved, or all in quarantine.

    None is in quarantine on most days, which is no error; no proved task is one.

    Raises:
        InputError: an id is unknown or given twice, or its task is in another state; or none is proved.

    """
    state = TaskState.QUARANTINED if quarantined else TaskState.PROVED
    instances: Sequence[Instance] = task_states.named_instances(dataset, ids) if ids else tuple(dataset.instances())
    others = [instance for instance in instances if instance.state is not state]
    if ids and others:
        words = ", ".join(f"{other.instance_id} is {other.state}" for other in others[:5])
        hint = "--quarantined looks at tasks in quarantine" if not quarantined else "leave --quarantined out"
        raise InputError(f"only {state} tasks are looked at: {words}", hint=hint)
    chosen = tuple(instance.instance_id for instance in instances if instance.state is state)
    if not chosen and not quarantined:
        raise InputError(f"{dataset.path} has no {state} task", hint="`goldseam holdout stats` counts them by state")
    return chosen


def refresh(
    dataset: Dataset,
    ids: Sequence[str],
    *,
    sandbox: Sandbox,
    executor: Executor,
    settings: Settings,
    observer: Observer,
) -> Refreshed:
    """Run gold and null again, and quarantine what no longer is as it was proved.

    Killed at any time, the same call goes on where it stopped.

    Raises:
        AnswerIsNoError: the dataset is not what its ledger binds.
        InputError: no such tasks, a broken dataset, or another refresh of it is under way.
        InfrastructureError: the engine is gone; nothing was changed, and what was seen until then is kept.

    """
    began = time.monotonic()
    with files.locked(folder_of(dataset) / "lock", busy=f"another refresh of {dataset.path} is under way"):
        for note in chain.require(dataset):
            observer.note(note)
        former = record.read(dataset)
        plan = _plan(dataset, ids, settings)
        notes = Notes(dataset, request_of(ids, quarantined=settings.quarantined), plan, again=settings.retry)
        if notes.goes_on:
            observer.note("going on with what the last refresh has seen")
        access_log.tell(dataset, notes.plan, purpose="refresh")
        tasks = TaskStore(dataset, notes.plan)
        work = _Work(tasks=tasks, sandbox=sandbox, executor=executor, settings=settings, notes=notes, observer=observer)
        findings = work.all(notes.plan)
        refreshed = _decided(findings, settings)
        if not settings.dry_run and not settings.quarantined:
            refreshed = _changed(dataset, refreshed)
        refreshed = replace(refreshed, seconds=time.monotonic() - began)
        line = record.line_of(refreshed.findings, at=origin.now(), runs=settings.runs, seconds=refreshed.seconds)
        new = bool(line.tasks) and (settings.record or record.says_something_new(line, former))
        if new and not settings.dry_run and not (refreshed.mass and not settings.force):
            record.append(dataset, line)
            refreshed = replace(refreshed, recorded=True)
        notes.end()
    return refreshed


def _plan(dataset: Dataset, ids: Sequence[str], settings: Settings) -> tuple[str, ...]:
    """As `choose`; what an interrupted call has quarantined already may be named again."""
    try:
        return choose(dataset, ids, quarantined=settings.quarantined)
    except InputError:
        if unfinished(dataset, request_of(ids, quarantined=settings.quarantined)):
            return ()
        raise


def _decided(findings: tuple[Finding, ...], settings: Settings) -> Refreshed:
    """What the findings come to. Tests that are only late on a machine that is slow say nothing of their task."""
    slowdown = _slowdown(findings)
    if slowdown >= calibration.DRIFT:
        why = f"its tests ran out of time, but this machine runs gold {slowdown:g} times slower than the proof's"
        findings = tuple(
            replace(finding, result=Result.UNSCORED, why=why, changes=())
            if finding.late and finding.result in GONE_WRONG
            else finding
            for finding in findings
        )
    return Refreshed(
        findings=findings, settings=settings, slowdown=slowdown, mass=drift.looks_like_the_machine(findings)
    )


def _slowdown(findings: Sequence[Finding]) -> float:
    ratios = [
        max(finding.seconds, _SHORTEST) / max(finding.proof_seconds, _SHORTEST)
        for finding in findings
        if finding.proof_seconds > 0 and finding.gold.runs and not finding.late
    ]
    return round(max(1.0, statistics.median(ratios)), 2) if ratios else 1.0


def _changed(dataset: Dataset, refreshed: Refreshed) -> Refreshed:
    """The same, with what went wrong in quarantine."""
    wrong = {finding.instance_id: f"refresh: {finding.result}: {finding.why}" for finding in refreshed.of(*GONE_WRONG)}
    if not wrong or (refreshed.mass and not refreshed.settings.force):
        return refreshed
    with content.locked(dataset):
        version = task_states.quarantine_all(dataset, wrong)
    return replace(refreshed, quarantined=tuple(sorted(wrong)), version=version)


@dataclass(kw_only=True)
class _Work:
    """The verdicts of a refresh, as they come."""

    tasks: TaskStore
    sandbox: Sandbox
    executor: Executor
    settings: Settings
    notes: Notes
    observer: Observer
    verdicts: dict[str, list[VerdictSummary]] = field(default_factory=lambda: defaultdict(list))
    lost: dict[str, str] = field(default_factory=dict)
    """Why infrastructure gave no verdict, by task."""

    def all(self, plan: Sequence[str]) -> tuple[Finding, ...]:
        """A finding for each task: first every planned verdict, then what was off once more."""
        slots = [
            Slot(instance_id=task_id, kind=kind, number=number)
            for task_id in plan
            for number in range(1, self.settings.runs + 1)
            for kind in Kind
        ]
        due = self._without_known(slots)
        left = Counter(slot.instance_id for slot in due)
        self.observer.begin(tasks=len(plan), verdicts=len(slots), known=len(slots) - len(due))
        findings = {task_id: self._decide(task_id) for task_id in plan if not left[task_id]}
        for slot, answer in self.executor.map(self._verdict, due, cancel=self.sandbox.cancel):
            self._take(slot, answer)
            left[slot.instance_id] -= 1
            if not left[slot.instance_id]:
                findings[slot.instance_id] = self._decide(slot.instance_id)
        return tuple(findings[task_id] or self._repeated(task_id) for task_id in plan)

    def _decide(self, task_id: str) -> Finding | None:
        """The finding, where the planned verdicts are enough for one."""
        if task_id not in self.lost and any(drift.needs_repeats(self.verdicts[task_id], kind) for kind in Kind):
            self.observer.suspect(task_id)
            return None
        return self._finding(task_id)

    def _repeated(self, task_id: str) -> Finding:
        """A task of which a verdict was off, again and by itself, when nothing else of ours keeps the machine busy."""
        kinds = [kind for kind in Kind if drift.needs_repeats(self.verdicts[task_id], kind)]
        slots = [
            Slot(instance_id=task_id, kind=kind, number=number, repeat=True)
            for number in range(1, REPEATS + 1)
            for kind in kinds
        ]
        for slot in self._without_known(slots):
            self._take(*self._verdict(slot))
        return self._finding(task_id)

    def _without_known(self, slots: Sequence[Slot]) -> list[Slot]:
        """The slots that no note fills; those that one does are taken over."""
        due = []
        for slot in slots:
            summary = self.notes.get(slot, self._key(slot.instance_id))
            if summary is None:
                due.append(slot)
            else:
                self.verdicts[slot.instance_id].append(summary)
        return due

    def _verdict(self, slot: Slot) -> tuple[Slot, VerdictSummary | str]:
        """One verdict, or why there is none. Done in many threads at once."""
        if slot.instance_id in self.lost:
            return slot, self.lost[slot.instance_id]
        try:
            with bug_log.of_one_item(NoVerdictError):
                return slot, observe(self.tasks.task(slot.instance_id), slot, self.sandbox, self.settings.demands)
        except (MissingImageError, NoVerdictError, BugError) as error:
            return slot, str(error)
        except SandboxError as error:
            if not self.sandbox.is_healthy():
                raise
            return slot, error.message

    def _take(self, slot: Slot, answer: VerdictSummary | str) -> None:
        if isinstance(answer, str):
            self.lost[slot.instance_id] = answer
            return
        self.verdicts[slot.instance_id].append(answer)
        self.notes.add(answer, self._key(slot.instance_id))
        self.observer.seen(answer)

    def _key(self, task_id: str) -> str:
        return verdict.key_of(self.tasks.cards[task_id].digest, of_null(task_id), self.settings.demands)

    def _finding(self, task_id: str) -> Finding:
        summaries = self.verdicts.pop(task_id, [])
        if task_id in self.lost:
            finding = drift.unscored(task_id, self.lost[task_id], summaries)
        else:
            task = self.tasks.task(task_id)
            finding = _covered(drift.judge(task, summaries), task)
        self.observer.finished(finding)
        return finding


def _covered(finding: Finding, task: Task) -> Finding:
    """A finding that names hidden tests of a sealed task as run folders do."""
    if not task.hidden.secret:
        return finding
    changes = (replace(change, test_id=pseudonym(task.hidden, change.test_id)) for change in finding.changes)
    return replace(finding, changes=tuple(changes))
