"""What a report shows, as values: models, tasks, predictions, the funnel. Reading from disk stands in `gather.py`."""

from __future__ import annotations

import statistics
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from harness.instance import Outcome
from harness.stats import Interval, wilson

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from harness.report.text import CutText
    from harness.run_folder import InstanceReport

CONTROLS = ("gold", "null")
"""Models of our own: the fix itself and no change at all. They check the tasks and compete with nobody."""
STAGES = ("history", "recognition", "split", "environment", "image", "validation")

_PLAIN_CLASSES = frozenset(
    {
        "apply_failed",
        "crashed",
        "empty_patch",
        "missing_image",
        "out_of_memory",
        "regression",
        "tests_failed",
        "timeout",
    }
)
_TELLING_DROPS = frozenset({"hidden_test", "import_root"})
"""Reasons for dropping a part of a patch that say where hidden tests are."""
_REASONS = {
    "collection_error": "a hidden test file could not be imported with this patch",
    "runner_error": "the test runner itself failed with this patch",
    "tampered": "the signed result channel was broken or contradicts itself",
    "broken_task": "the task itself is broken",
    "setup": "the container could not be set up",
    "engine": "the container engine failed",
}


@dataclass(frozen=True, kw_only=True)
class Counts:
    """How many of a list of tests passed."""

    passed: int
    total: int

    def __str__(self) -> str:
        return f"{self.passed}/{self.total}" if self.total else "not run"


@dataclass(frozen=True, kw_only=True)
class TestRow:
    """One test's result: hidden content."""

    __test__ = False

    test_id: str
    group: str
    """`F2P`, `P2P`, or nothing for a test on neither list."""
    status: str
    """PASSED, FAILED…, or `no result`."""
    seconds: float | None
    text: CutText | None = None


@dataclass(frozen=True, kw_only=True)
class HiddenDetails:
    """What of a prediction quotes hidden tests."""

    tests: tuple[TestRow, ...] = ()
    left_out: int = 0
    """Further tests that are not in `tests`; what passed is left out first."""
    output: CutText | None = None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class PredictionView:
    """One prediction as the page shows it."""

    column: int
    instance_id: str
    sample: int
    outcome: Outcome | None
    """None where it is not scored yet."""
    failure_class: str
    reason: str
    fail_to_pass: Counts
    pass_to_pass: Counts
    patch: CutText | None
    patch_note: str = ""
    dropped: tuple[str, ...] = ()
    repairs: tuple[str, ...] = ()
    timings: Mapping[str, float] = field(default_factory=dict)
    max_rss_kb: int = 0
    cpu_seconds: float = 0.0
    attempts: int = 1
    trust: str = ""
    """What a pass had to withstand."""
    hidden: HiddenDetails | None = None


@dataclass(frozen=True, kw_only=True)
class TaskView:
    """One task as the page shows it. The last two are hidden content, and None without leave."""

    instance_id: str
    title: str = ""
    facts: tuple[tuple[str, str], ...] = ()
    statement: CutText | None = None
    gold_patch: CutText | None = None
    test_patch: CutText | None = None


@dataclass(frozen=True, kw_only=True)
class ModelSummary:
    """One model of one run, over all its predictions."""

    column: int
    label: str
    run: str
    control: bool
    total: int
    tasks: int
    """Distinct tasks it made predictions for."""
    samples: int
    """Most predictions it made for one task."""
    outcomes: Mapping[Outcome, int]
    median_seconds: float | None
    """Of the test process, over the predictions whose tests ran."""
    infra: int

    @property
    def resolved(self) -> int:
        return self.outcomes.get(Outcome.RESOLVED, 0)

    @property
    def scored(self) -> int:
        """Predictions with a verdict: all but infrastructure errors and those not finished."""
        return sum(self.outcomes.values()) - self.infra

    @property
    def unfinished(self) -> int:
        return self.total - sum(self.outcomes.values())

    @property
    def rate(self) -> float | None:
        return self.resolved / self.scored if self.scored else None

    @property
    def coverage(self) -> float:
        return self.scored / self.total if self.total else 0.0

    @property
    def interval(self) -> Interval | None:
        """Wilson's 95% interval. None with several samples a task: those are not independent trials."""
        return wilson(self.resolved, self.scored) if self.samples <= 1 else None


@dataclass(frozen=True, kw_only=True)
class Funnel:
    """What became of the changes that were looked at; accepted and all rejections sum to `looked_at`."""

    looked_at: int
    accepted: int
    stages: tuple[tuple[str, int, tuple[tuple[str, int], ...]], ...]
    """Per stage in order: its name, how many were left there, and their reasons, commonest first."""
    unreadable: int = 0
    """Lines that are no funnel lines."""


@dataclass(frozen=True, kw_only=True)
class ReportData:
    """All that one page shows."""

    title: str
    dataset: str
    canary: str
    runs: tuple[str, ...]
    models: tuple[ModelSummary, ...]
    """By column."""
    tasks: tuple[TaskView, ...]
    """By id."""
    predictions: tuple[PredictionView, ...]
    """By task, column and sample."""
    funnel: Funnel | None
    with_hidden: bool

    def competitors(self) -> tuple[ModelSummary, ...]:
        """Models that compete, best first: most resolved, then best rate, then by name. Controls only where alone."""
        real = [model for model in self.models if not model.control] or list(self.models)
        return tuple(sorted(real, key=lambda model: (-model.resolved, -(model.rate or 0.0), model.label)))


def summarise_model(
    reports: Sequence[InstanceReport], *, column: int, label: str, run: str, predicted: Iterable[str], control: bool
) -> ModelSummary:
    """A model's figures from its reports; `predicted` holds the task id of each of its predictions."""
    per_task = Counter(predicted)
    outcomes = Counter(report.outcome for report in reports)
    seconds = [report.timings["tests"] for report in reports if report.timings.get("tests")]
    return ModelSummary(
        column=column,
        label=label,
        run=run,
        control=control,
        total=per_task.total(),
        tasks=len(per_task),
        samples=max(per_task.values(), default=0),
        outcomes={outcome: outcomes[outcome] for outcome in Outcome if outcomes[outcome]},
        median_seconds=statistics.median(seconds) if seconds else None,
        infra=outcomes[Outcome.INFRA_ERROR],
    )


def common_tasks(predictions: Iterable[PredictionView], columns: Iterable[int]) -> dict[int, Counts]:
    """Per column, resolved of scored predictions over the tasks that every one of the columns has a verdict for."""
    wanted = set(columns)
    scored: dict[str, dict[int, list[bool]]] = {}
    for view in predictions:
        if view.column in wanted and view.outcome not in (None, Outcome.INFRA_ERROR):
            verdicts = scored.setdefault(view.instance_id, {}).setdefault(view.column, [])
            verdicts.append(view.outcome is Outcome.RESOLVED)
    shared = [found for found in scored.values() if found.keys() == wanted]
    return {
        column: Counts(
            passed=sum(sum(found[column]) for found in shared), total=sum(len(found[column]) for found in shared)
        )
        for column in sorted(wanted)
    }


def counts(report: InstanceReport, name: str) -> Counts:
    """How many of a list's tests passed, by SWE-bench's `tests_status`."""
    found = report.tests_status.get(name, {})
    passed = len(found.get("success", ()))
    return Counts(passed=passed, total=passed + len(found.get("failure", ())))


def public_reason(report: InstanceReport, *, is_gold: bool) -> str:
    """Why a prediction came to its outcome, in words that quote neither a hidden test nor the fix."""
    if report.resolved or (report.failure_class in _PLAIN_CLASSES and not is_gold):
        return report.reason
    return _REASONS.get(report.failure_class or "", "see the run folder for why")


def public_dropped(report: InstanceReport, *, is_gold: bool) -> tuple[str, ...]:
    """Dropped parts without a path that would name a hidden test or a file of the fix."""
    return tuple(
        part.get("reason", "") if is_gold or part.get("reason") in _TELLING_DROPS else dropped_part(part)
        for part in report.dropped
    )


def dropped_part(part: Mapping[str, str]) -> str:
    """A dropped part of a patch in words."""
    return f"{part.get('path', '?')} ({part.get('reason', '?')})"


def funnel_of(lines: Iterable[Mapping[str, object]], *, unreadable: int = 0) -> Funnel:
    """Count what became of the changes; a change decided twice counts by its last line."""
    last = {(str(line.get("repo")), str(line.get("change"))): line for line in lines}
    left: dict[str, Counter[str]] = {}
    accepted = 0
    for line in last.values():
        stage = str(line.get("stage"))
        if stage == "accepted":
            accepted += 1
        else:
            left.setdefault(stage, Counter())[str(line.get("reason"))] += 1
    order = [*(stage for stage in STAGES if stage in left), *sorted(left.keys() - set(STAGES))]
    stages = tuple((stage, left[stage].total(), tuple(left[stage].most_common())) for stage in order)
    return Funnel(looked_at=len(last), accepted=accepted, stages=stages, unreadable=unreadable)
