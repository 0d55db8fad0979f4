"""What a report shows, as values: models, tasks, predictions, transcripts, the funnel; `gather.py` reads the rest."""

from __future__ import annotations

import json
import statistics
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import Field

from harness.analysis.scoresheet import Scoresheet
from harness.analysis.usage import Usage
from harness.core.instance import Outcome, Prediction
from harness.core.records import StrictRecord
from harness.report.text import CutText, head, model_letters
from harness.runs.predictions import read_transcript, transcript_path
from harness.runs.public_reason import Counts
from harness.runs.run_folder import TRANSCRIPT_FILE, RunFolder, RunRecord
from harness.runs.task_metadata import TaskFacts
from harness.stats import Interval

_MESSAGE_BYTES = 16 * 1024
STAGES = ("history", "recognition", "split", "environment", "image", "validation")


@dataclass(frozen=True, kw_only=True)
class Turn:
    """One message of a conversation."""

    role: str
    text: CutText
    calls: tuple[tuple[str, CutText], ...] = ()
    """Name and arguments of each tool that the model called."""

    @property
    def size(self) -> int:
        return self.text.shown + sum(arguments.shown for _, arguments in self.calls)


@dataclass(frozen=True, kw_only=True)
class Transcript:
    """A conversation, or its beginning and its end."""

    first: tuple[Turn, ...]
    left_out: int = 0
    """Messages in the middle that are not shown."""
    last: tuple[Turn, ...] = ()


def transcript_of(run: Path, prediction: Prediction, limit: int) -> Transcript | None:
    """The transcript of a prediction, about `limit` bytes of it; None where there is none that is its own.

    It is beside the prediction's results; a run from before that was copied there may have it where the prediction
    names it, from the run's folder or the folder above.
    """
    beside = RunFolder(path=run).sample_folder(prediction) / TRANSCRIPT_FILE
    for path in (beside, *(transcript_path(prediction, folder) for folder in (run, run.resolve().parent))):
        if path is not None and (value := read_transcript(path, prediction)):
            turns = [_turn(message) for message in _dicts(value.get("messages"))]
            return _cut(turns, limit) if turns else None
    return None


def _dicts(value: Any) -> list[dict[str, Any]]:
    return [part for part in value if isinstance(part, dict)] if isinstance(value, list) else []


def _turn(message: dict[str, Any]) -> Turn:
    return Turn(
        role=str(message.get("role", "?"))[:20],
        text=_text(message.get("content")),
        calls=tuple(
            (str(call.get("name", "?"))[:100], _text(call.get("arguments")))
            for call in _dicts(message.get("tool_calls"))
        ),
    )


def _text(value: Any) -> CutText:
    text = value if isinstance(value, str) else "" if value is None else json.dumps(value)
    return head(text.encode("utf-8", "surrogatepass"), _MESSAGE_BYTES)


def _cut(turns: Sequence[Turn], limit: int) -> Transcript:
    """All turns where they are few enough, else as many from both ends as half of the limit holds each."""
    if sum(turn.size for turn in turns) <= limit:
        return Transcript(first=tuple(turns))
    start = _count(turns, limit // 2)
    end = min(_count(list(reversed(turns)), limit // 2), len(turns) - start)
    return Transcript(
        first=tuple(turns[:start]), left_out=len(turns) - start - end, last=tuple(turns[len(turns) - end :])
    )


def _count(turns: Sequence[Turn], limit: int) -> int:
    """How many of the first turns a limit holds; at least one."""
    total = 0
    for number, turn in enumerate(turns):
        total += turn.size
        if total > limit:
            return max(1, number)
    return len(turns)


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
    outcome: Outcome | None = None
    """None where it is not scored yet."""
    failure_class: str = ""
    """Empty where it resolved, or is not scored yet."""
    reason: str = "not scored yet"
    fail_to_pass: Counts = field(default_factory=lambda: Counts(passed=0, total=0))
    pass_to_pass: Counts = field(default_factory=lambda: Counts(passed=0, total=0))
    patch: CutText | None = None
    patch_note: str = ""
    dropped: tuple[str, ...] = ()
    repairs: tuple[str, ...] = ()
    timings: Mapping[str, float] = field(default_factory=dict)
    max_rss_kb: int = 0
    cpu_seconds: float = 0.0
    attempts: int = 1
    place: str = ""
    """Where the task is judged."""
    usage: Usage = field(default_factory=Usage)
    """What the model took for it; what is unknown is None and not 0."""
    flags: tuple[tuple[str, str], ...] = ()
    """Path and sign of what a person should look at before believing a pass."""
    tripwires: tuple[tuple[str, str], ...] = ()
    """Path and kind of what code of the patch did with what judges it."""
    replay: str = ""
    """How far it answers recorded calls as the fix does, in words; empty where that was not asked for."""
    signals: Mapping[str, Any] = field(default_factory=dict)
    """What was measured beside the verdict, as JSON values; without leave, what may be told of it."""
    transcript: Transcript | None = None
    hidden: HiddenDetails | None = None

    @property
    def scored(self) -> bool:
        return self.outcome not in (None, Outcome.INFRA_ERROR)


@dataclass(frozen=True, kw_only=True)
class TaskView:
    """One task as the page shows it. The last two are hidden content, and None without leave."""

    instance_id: str
    name: str = ""
    """A short name that no other task here has, such as `#16`."""
    title: str = ""
    facts: tuple[tuple[str, str], ...] = ()
    groups: Mapping[str, str] = field(default_factory=dict)
    """The cohorts it belongs to: by dimension (`repository`, `language`…) the name of its group."""
    aside: str = ""
    """Why it does not count (`quarantined`, `retired`…); empty where it does."""
    statement: CutText | None = None
    gold_patch: CutText | None = None
    test_patch: CutText | None = None


@dataclass(frozen=True, kw_only=True)
class ModelSummary:
    """One model of one run. Its figures are those of its scoresheet, so every command says the same of it."""

    column: int
    label: str
    """Its whole name; with the run's name where several runs have it."""
    name: str
    """A short name that no other model here has."""
    run: str
    control: bool
    sheet: Scoresheet

    @property
    def total(self) -> int:
        """Predictions for the tasks that count."""
        return sum(task.asked for task in self.sheet.tasks.values())

    @property
    def tasks(self) -> int:
        """Distinct tasks it made predictions for."""
        return len(self.sheet.tasks)

    @property
    def outcomes(self) -> Mapping[Outcome, int]:
        counts = Counter(sample.outcome for task in self.sheet.tasks.values() for sample in task.samples)
        return {outcome: counts[outcome] for outcome in Outcome if counts[outcome]}

    @property
    def resolved(self) -> int:
        return self.sheet.resolved

    @property
    def scored(self) -> int:
        """Predictions with a verdict: all but infrastructure errors and those not finished."""
        return self.sheet.verdicts

    @property
    def infra(self) -> int:
        return self.outcomes.get(Outcome.INFRA_ERROR, 0)

    @property
    def unfinished(self) -> int:
        return self.total - sum(self.outcomes.values())

    @property
    def rate(self) -> float | None:
        """Each task counts alike, however many samples it has."""
        return self.sheet.rate.value

    @property
    def interval(self) -> Interval | None:
        """95% interval of the rate."""
        return self.sheet.rate.interval

    @property
    def coverage(self) -> float:
        return self.sheet.coverage

    @property
    def median_seconds(self) -> float | None:
        """Of the test process, over the predictions whose tests ran."""
        seconds = [s.seconds for task in self.sheet.tasks.values() for s in task.samples if s.seconds]
        return statistics.median(seconds) if seconds else None


class Stage(StrictRecord):
    """Where changes were left when the dataset was mined."""

    stage: str
    changes: int
    reasons: dict[str, int]


class Funnel(StrictRecord):
    """What became of the changes that were looked at; accepted and all stages sum to `looked_at`."""

    looked_at: int
    accepted: int
    stages: tuple[Stage, ...]
    unreadable: int = Field(description="lines of the funnel that are none")


@dataclass(frozen=True, kw_only=True)
class ReportData:
    """All that one page shows."""

    title: str
    dataset: str
    canary: str
    runs: tuple[str, ...]
    records: Mapping[str, RunRecord]
    """run.json by run, of those that have a readable one: date, versions, machine."""
    models: tuple[ModelSummary, ...]
    """By column."""
    tasks: tuple[TaskView, ...]
    """By id."""
    predictions: tuple[PredictionView, ...]
    """By task, column and sample."""
    funnel: Funnel | None
    with_hidden: bool

    def by_task(self) -> Iterator[tuple[TaskView, list[PredictionView]]]:
        """Every task with the predictions for it."""
        views: dict[str, list[PredictionView]] = {task.instance_id: [] for task in self.tasks}
        for view in self.predictions:
            views[view.instance_id].append(view)
        return ((task, views[task.instance_id]) for task in self.tasks)

    def competitors(self) -> tuple[ModelSummary, ...]:
        """Models that compete, best first: by rate, then most resolved, then name. Controls only where alone."""
        real = [model for model in self.models if not model.control] or list(self.models)
        return tuple(sorted(real, key=lambda model: (-(model.rate or 0.0), -model.resolved, model.label)))

    def task_facts(self) -> Mapping[str, TaskFacts]:
        """The facts of each task that a competing model was asked, judged at the weakest place of its verdicts."""
        tasks = [item for model in self.competitors() for item in model.sheet.tasks.items()]
        facts = {task_id: task.facts for task_id, task in tasks}
        facts |= {task_id: task.facts for task_id, task in tasks if task.scored}
        for task_id, task in tasks:
            if task.scored:
                facts[task_id] = facts[task_id].judged_at([task.facts.place])
        return facts

    def ordered(self) -> tuple[ModelSummary, ...]:
        """Every model: those that compete, best first, then the controls."""
        first = self.competitors()
        return (*first, *(model for model in self.models if model not in first))

    def letters(self) -> dict[int, str]:
        """A letter for each column, in the order of the models."""
        models = self.ordered()
        return dict(zip((model.column for model in models), model_letters(len(models)), strict=True))


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
    stages = tuple(
        Stage(stage=stage, changes=left[stage].total(), reasons=dict(left[stage].most_common())) for stage in order
    )
    return Funnel(looked_at=len(last), accepted=accepted, stages=stages, unreadable=unreadable)
