"""What goldseam needs to know of a test framework."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from harness.core.instance import TestSpec, TestStatus
    from harness.judging.values import Event


@dataclass(frozen=True, kw_only=True)
class Raised:
    """One exception of a failure: what untrusted code says of itself, so good for a label and for nothing else."""

    names: tuple[str, ...]
    """The names of its class and of that one's bases, nearest first."""
    errno: int | None = None
    """What the system said, where it is an OSError."""
    missing: str = ""
    """The module that is not there, where an import failed for want of the whole of it."""
    file: str = ""
    """The file that cannot be parsed, where it is a SyntaxError."""
    says: str = ""
    """Its message, where it can tell of a name that is not there."""


Chain = tuple[Raised, ...]
"""An exception and those that led to it, outermost first."""


def chain(told: Any) -> Chain:
    """A chain as a frame or a file tells it; what is not of that form is left out."""
    links = (_link(link) for link in told[:_LINKS]) if isinstance(told, list) else ()
    return tuple(link for link in links if link is not None)


_LINKS, _NAMES, _LETTERS = 6, 12, 500


def _link(told: Any) -> Raised | None:
    if not isinstance(told, dict) or not isinstance(told.get("names"), list):
        return None
    names = tuple(name[:_LETTERS] for name in told["names"][:_NAMES] if isinstance(name, str))
    errno, missing, file, says = (told.get(name) for name in ("errno", "missing", "file", "says"))
    return Raised(
        names=names,
        errno=errno if type(errno) is int and abs(errno) < 1 << 31 else None,
        missing=missing[:_LETTERS] if isinstance(missing, str) else "",
        file=file[:_LETTERS] if isinstance(file, str) else "",
        says=says[:_LETTERS] if isinstance(says, str) else "",
    )


@dataclass(frozen=True, kw_only=True)
class TestReport:
    """What one run of a framework said, once its frames are read."""

    __test__ = False

    statuses: Mapping[str, TestStatus] = field(default_factory=dict)
    seconds: Mapping[str, float] = field(default_factory=dict)
    """Per test id: set-up, call and tear-down together."""
    texts: Mapping[str, str] = field(default_factory=dict)
    """Per test id that did not pass: what the framework said."""
    raised: Mapping[str, Chain] = field(default_factory=dict)
    """Per test id that failed: what its first failing step raised."""
    collected: tuple[str, ...] = ()
    collect_errors: Mapping[str, str] = field(default_factory=dict)
    """Per file that could not be collected: what the framework said."""
    collect_raised: Mapping[str, Chain] = field(default_factory=dict)
    """Per file that could not be collected: what was raised."""
    internal_error: str = ""
    internal_raised: Chain = ()
    events: tuple[Event, ...] = ()
    """What assertions handed out, in the order in which it came; each key once."""
    finished: bool = False
    exit_code: int | None = None
    violations: tuple[str, ...] = ()
    """Where the frames contradict each other."""


class Framework(Protocol):
    """One test framework: how it is called, and what its frames mean."""

    name: str
    suites: bool
    """Whether its tests are unittest suites, run without pytest by harness/languages/python/inside/suites.py."""
    generators: bool
    """Whether tests that yield others are collected, by harness/languages/python/inside/generators.py."""

    def argv(self, spec: TestSpec) -> tuple[str, ...]:
        """Arguments before the test files."""
        ...

    def read(self, frames: Sequence[Mapping[str, Any]]) -> TestReport:
        """Per-test results from the frames of the test process."""
        ...
