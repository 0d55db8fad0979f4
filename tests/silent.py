"""Stand-ins for what a test does not look at."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from harness.core.instance import Prediction
    from harness.runs.verdict import InstanceReport


class Silent:
    """An observer of a run that has nothing to say."""

    def begin(self, *, total: int, reused: int) -> None: ...

    def started(self, prediction: Prediction) -> None: ...

    def finished(self, report: InstanceReport) -> None: ...

    def note(self, text: str) -> None: ...


class Listening(Silent):
    """An observer that keeps what it is told."""

    def __init__(self) -> None:
        self.reports: list[InstanceReport] = []
        self.noted: list[str] = []

    def finished(self, report: InstanceReport) -> None:
        self.reports.append(report)

    def note(self, text: str) -> None:
        self.noted.append(text)


class NoSandbox:
    """A sandbox in which nothing is run."""

    def expect(self, job) -> None: ...

    def cancel(self) -> None: ...
