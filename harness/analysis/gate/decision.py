"""What a gate decided, as values: rules with what was found, tasks with what changed. Pure.

`harness/analysis/gate/rules.py` makes a decision; the terminal, JUnit, GitHub's summary, SARIF and `--json` show it.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from harness.stats import Interval


class GateVerdict(StrEnum):
    """What a gate says as a whole."""

    PASS = "pass"  # noqa: S105 - no password
    """Every rule is kept: exit code 0."""
    REGRESSION = "regression"
    """A rule is broken: exit code 1."""
    INCONCLUSIVE = "inconclusive"
    """No rule is broken, and one can't be told: exit code 3."""


class Ruling(StrEnum):
    """What came of one rule."""

    KEPT = "kept"
    """The run keeps the rule."""
    BROKEN = "broken"
    """The run breaks the rule."""
    UNKNOWN = "can't tell"
    """The runs do not hold enough to say."""


class Change(StrEnum):
    """One task in the candidate's run, seen from the baseline's."""

    SAME = "same"
    """Both runs agree."""
    WON = "won"
    """The candidate resolves it in half of its samples or more; the baseline does not."""
    LOST = "lost"
    """The baseline resolves it in half of its samples or more; the candidate does not."""
    NEW = "new"
    """The baseline has no verdict on this task as it is now."""
    NOT_SCORED = "not scored"
    """The candidate has no verdict, for a reason of ours: infrastructure failed, or the run isn't finished."""
    MISSING = "missing"
    """The baseline has a verdict; the candidate was never asked."""
    LEFT_OUT = "left out"
    """Quarantined, retired, or judged in a weaker place than is required: counts nowhere."""


@dataclass(frozen=True, kw_only=True)
class Counts:
    """Samples of one task."""

    resolved: int
    scored: int

    def __str__(self) -> str:
        return f"{self.resolved}/{self.scored}"


@dataclass(frozen=True, kw_only=True)
class TaskLine:
    """One task: what candidate and baseline came to."""

    instance_id: str
    repo: str
    change: Change
    candidate: Counts | None = None
    baseline: Counts | None = None
    seconds: float | None = None
    """Of the candidate's tests, all samples together."""
    note: str = ""
    """Why it is left out or not scored; quotes no hidden test."""


@dataclass(frozen=True, kw_only=True)
class RuleLine:
    """One rule: what was required, what was found, and what follows."""

    name: str
    required: str
    found: str
    ruling: Ruling
    sentence: str = ""
    """Why, for a person; empty where required and found say it all."""
    tasks: tuple[str, ...] = ()
    """The tasks that broke it, or that it is not known for."""


@dataclass(frozen=True, kw_only=True)
class Finding:
    """One security finding that a patch brought in."""

    instance_id: str
    repo: str
    model: str
    sample: int
    tool: str
    rule: str
    """The tool's own name of its rule, such as `B602`."""
    message: str
    path: str
    """Relative to the repository's root; empty where it may not be shown."""
    line: int | None = None
    cwe: int | None = None
    severity: str = ""
    """`low`, `medium` or `high`, as the tool says; empty where it does not."""


@dataclass(frozen=True, kw_only=True)
class Side:
    """The candidate or the baseline as a whole, over the tasks that count."""

    model: str
    run: str
    """Name of the run folder or of the accepted file."""
    dataset: str
    started_at: str
    tasks: int
    """Tasks with a verdict."""
    share: float | None
    """Mean over tasks of resolved of scored samples; None where nothing has a verdict."""
    interval: Interval | None
    coverage: float
    """Predictions with a verdict, of all that it was asked for."""
    cost: float | None
    """US dollars, or whatever unit the predictions have; None where it is not known for all of them."""


@dataclass(frozen=True, kw_only=True)
class Decision:
    """What the gate says, and everything that it rests on."""

    verdict: GateVerdict
    sentence: str
    exit_code: int
    """0 pass, 1 regression, 3 inconclusive; what `inconclusive` is set to may turn a 3 into 0 or 1."""
    candidate: Side
    baseline: Side | None
    compared: int
    """Tasks that both have a verdict on, unchanged between them."""
    rules: tuple[RuleLine, ...]
    tasks: tuple[TaskLine, ...]
    findings: tuple[Finding, ...] = ()
    notes: tuple[str, ...] = ()
    """What else a reader should know, such as tasks that changed and were left out."""

    def of(self, change: Change) -> tuple[TaskLine, ...]:
        """The tasks that came to this."""
        return tuple(line for line in self.tasks if line.change is change)
