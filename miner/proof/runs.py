"""How many runs a proof has, and what so many say. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from harness.core.errors import InputError
from harness.stats import clean_bound, clean_runs

DEFAULT_RUNS = 3
DEFAULT_CONFIDENCE = 0.95
MOST_RUNS = 1000
"""More runs than this are a mistake: a bound of 0.3% at 95%."""


@dataclass(frozen=True, kw_only=True)
class Repeats:
    """How often each state is run."""

    runs: int = DEFAULT_RUNS
    confidence: float = DEFAULT_CONFIDENCE

    @property
    def bound(self) -> float:
        """The largest chance of another result in a run that so many equal results leave open at this confidence.

        Source: `harness.stats.clean_bound`.
        """
        return clean_bound(self.runs, self.confidence)

    def instead_of(self, flake_bound: float) -> str:
        """That so many runs were asked for and not what a bound needs, for a person."""
        return f"--runs {self.runs} counts, not --flake-bound {flake_bound:g}: {self.says()}"

    def says(self) -> str:
        """What so many runs say, for a person."""
        runs = "1 clean run says" if self.runs == 1 else f"{self.runs} clean runs say"
        return (
            f"{runs} of a test, at {self.confidence:.4g} confidence, that it fails at most {100 * self.bound:.3g}% of"
            " the time"
        )


def repeats(*, runs: int | None = None, flake_bound: float | None = None, confidence: float | None = None) -> Repeats:
    """How many runs are wanted: as many as said, else as the bound needs, else three.

    Raises:
        InputError: a number is out of its range, or the bound needs more runs than anybody waits for.

    """
    sure = DEFAULT_CONFIDENCE if confidence is None else confidence
    _share(sure, "--confidence", DEFAULT_CONFIDENCE)
    if flake_bound is not None:
        _share(flake_bound, "--flake-bound", 0.05)
    if runs is not None:
        if not 1 <= runs <= MOST_RUNS:
            raise InputError(f"--runs expects a number from 1 to {MOST_RUNS}, found {runs}")
        return Repeats(runs=runs, confidence=sure)
    if flake_bound is None:
        return Repeats(confidence=sure)
    needed = clean_runs(flake_bound, sure)
    if needed > MOST_RUNS:
        raise InputError(
            f"--flake-bound {flake_bound:g} at --confidence {sure:g} needs {needed} runs of each state",
            hint=f"at most {MOST_RUNS} are done, which leave {100 * clean_bound(MOST_RUNS, sure):.2g}% open",
        )
    return Repeats(runs=needed, confidence=sure)


def _share(value: float, flag: str, example: float) -> None:
    if not 0 < value < 1:
        raise InputError(f"{flag} expects a share between 0 and 1, such as {example}, found {value:g}")
