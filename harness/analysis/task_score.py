"""What a model came to on one task: its samples, and the figures over them. Pure."""

from __future__ import annotations

import statistics
from collections.abc import Iterable
from dataclasses import dataclass, field
from fractions import Fraction

from harness.analysis.usage import Usage
from harness.core.instance import Outcome
from harness.judging.places import Place
from harness.runs.task_metadata import TaskFacts

_BEST_UNRESOLVED = 99.0


@dataclass(frozen=True, kw_only=True)
class SampleScore:
    """What one prediction came to."""

    sample: int
    outcome: Outcome | None
    """None where it has no report: the run is not finished."""
    fail_to_pass: float | None = None
    """Share of FAIL_TO_PASS tests that passed; 0 where the patch could not be tried, None where it is not scored."""
    pass_to_pass: float | None = None
    """Share of PASS_TO_PASS tests that still passed; None where no test was run."""
    seconds: float | None = None
    """Of the test process; None where no test was run."""
    usage: Usage = field(default_factory=Usage)
    place: Place | None = None
    """Where the task was judged, as its report says; None where it has none."""

    @property
    def scored(self) -> bool:
        """Whether it has a verdict: infrastructure errors and missing reports are none."""
        return self.outcome not in (None, Outcome.INFRA_ERROR)

    @property
    def resolved(self) -> bool:
        return self.outcome is Outcome.RESOLVED

    @property
    def score(self) -> float | None:
        """0 to 100; None where it is not scored.

        100 where resolved. Else 100 times the share of FAIL_TO_PASS tests that pass, times the share of PASS_TO_PASS
        tests that still do, and at most 99; 0 where no test was run, and for a patch that tampered or needs review. A
        description of how near a patch came, for people: nothing is decided by it.
        """
        if not self.scored:
            return None
        if self.resolved:
            return 100.0
        if self.outcome is not Outcome.UNRESOLVED or self.fail_to_pass is None or self.pass_to_pass is None:
            return 0.0
        return min(_BEST_UNRESOLVED, 100.0 * self.fail_to_pass * self.pass_to_pass)


@dataclass(frozen=True, kw_only=True)
class TaskScore:
    """One task's samples. The shares are means over the samples that have a verdict; None without one."""

    instance_id: str
    samples: tuple[SampleScore, ...]
    facts: TaskFacts = field(default_factory=TaskFacts)
    digest: str | None = None
    """SHA-256 over all that can change a verdict, as in run.json; None where the run does not say."""

    @property
    def asked(self) -> int:
        """Predictions."""
        return len(self.samples)

    @property
    def scored(self) -> int:
        """Predictions with a verdict: `n` in the formulae."""
        return sum(sample.scored for sample in self.samples)

    @property
    def unscored(self) -> int:
        """Infrastructure errors, and predictions without a report."""
        return self.asked - self.scored

    @property
    def resolved(self) -> int:
        """Predictions that resolve the task: `c` in the formulae."""
        return sum(sample.resolved for sample in self.samples)

    @property
    def rate(self) -> Fraction | None:
        """Resolved of scored, exactly."""
        return Fraction(self.resolved, self.scored) if self.scored else None

    @property
    def score(self) -> float | None:
        """0 to 100, see `SampleScore.score`."""
        return _mean(sample.score for sample in self.samples)

    @property
    def fail_to_pass(self) -> float | None:
        return _mean(sample.fail_to_pass for sample in self.samples)

    @property
    def pass_to_pass(self) -> float | None:
        return _mean(sample.pass_to_pass for sample in self.samples)


def _mean(values: Iterable[float | None]) -> float | None:
    """Over the known ones."""
    numbers = [value for value in values if value is not None]
    return statistics.fmean(numbers) if numbers else None
