"""What goldseam needs to know of a test framework."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from harness.instance import TestSpec, TestStatus


@dataclass(frozen=True, kw_only=True)
class TestReport:
    """What one run of a framework said, once its frames are read."""

    __test__ = False

    statuses: Mapping[str, TestStatus] = field(default_factory=dict)
    seconds: Mapping[str, float] = field(default_factory=dict)
    """Per test id: set-up, call and tear-down together."""
    texts: Mapping[str, str] = field(default_factory=dict)
    """Per test id that did not pass: what the framework said."""
    collected: tuple[str, ...] = ()
    collect_errors: Mapping[str, str] = field(default_factory=dict)
    """Per file that could not be collected: what the framework said."""
    internal_error: str = ""
    values: Mapping[str, tuple[tuple[int, Any], ...]] = field(default_factory=dict)
    """Per blind test id: place and encoded value, in the order in which they came."""
    finished: bool = False
    exit_code: int | None = None
    violations: tuple[str, ...] = ()
    """Where the frames contradict each other."""


class Framework(Protocol):
    """One test framework: how it is called, and what its frames mean."""

    name: str

    def argv(self, spec: TestSpec) -> tuple[str, ...]:
        """Arguments before the test files."""
        ...

    def read(self, frames: Sequence[Mapping[str, Any]]) -> TestReport:
        """Per-test results from the frames of the test process."""
        ...
