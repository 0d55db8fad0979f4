"""The runs of a proof as they are kept on disk."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from pydantic import TypeAdapter

from harness.core import files, json_text
from harness.core.instance import TestStatus
from harness.core.test_ids import function
from miner.proof.variations import PLAIN, Variation

if TYPE_CHECKING:
    from miner.proof.subject import Subject

State = Literal["base", "before", "after"]
STATES: tuple[State, ...] = ("base", "before", "after")


@dataclass(frozen=True, kw_only=True)
class ObservedRun:
    """What one run said, in the form that is kept on disk."""

    state: State
    number: int
    variation: Variation = PLAIN
    """How it differed from a plain run."""
    statuses: Mapping[str, TestStatus]
    collect_errors: Mapping[str, str] = field(default_factory=dict)
    trouble: str = ""
    """Why the run gave no full answer: `timeout`, `flood`, `out_of_memory`, `crashed`, what didn't apply, or empty."""
    detail: str = ""
    """More of the trouble; where no test passed, what the first that failed said."""
    seconds: float = 0.0
    container_seconds: float = 0.0
    """What the run's containers took, from their making to their end."""
    endings: tuple[str, ...] = ()
    """Tests that never ended, or took their process with them: errors, without which the others were run."""
    max_rss_kb: int = 0
    network: tuple[str, ...] = ()
    """Tests, and files that could not be collected, whose failure tells of a network that is not there."""
    refused: tuple[str, ...] = ()
    """Those whose failure tells of nobody at a port that they connect to."""
    only: tuple[str, ...] = ()
    """The test functions, or rows of them, that were run; empty for all of the subject's."""
    exited: tuple[str, ...] = ()
    """Files whose process code ended before their tests were done."""
    silent_on: frozenset[str] = frozenset()
    """Ids that the run is not asked about: the judge's own, never on disk."""
    wanted: Mapping[str, str] = field(default_factory=dict)
    """By file that could not be collected, and by test that misses a fixture: the missing name; empty where the reason
    is another. See miner/proof/new_api.py."""

    @property
    def failing(self) -> set[str]:
        """Tests that failed, and files that could not be collected."""
        bad = (TestStatus.FAILED, TestStatus.ERROR)
        return {*self.collect_errors, *(test_id for test_id, status in self.statuses.items() if status in bad)}

    @property
    def offline(self) -> set[str]:
        """Those of which the failure tells of a network, or of a service, that is not there."""
        return {*self.network, *self.refused}

    def tells_of(self, test_id: str) -> bool:
        """Whether the run says anything of a test, be it that it is not there."""
        ran = not self.only or test_id in self.only or function(test_id) in self.only
        return ran and test_id not in self.silent_on


_KEPT = TypeAdapter(ObservedRun)


class Notebook:
    """The runs of one subject, kept on disk as they end, so that an interrupted proof goes on where it stopped."""

    def __init__(self, path: Path, subject: Subject) -> None:
        self._path = path
        self._key = subject.key()
        self._known: dict[tuple[State, int, Variation, tuple[str, ...]], ObservedRun] = {}
        if path.exists():
            for line in path.read_bytes().split(b"\n")[:-1]:
                raw = json_text.read_object(line)  # None: half a line, from a process that was killed
                if raw is not None and raw.pop("key", None) == self._key:
                    self._remember(_KEPT.validate_python(raw))

    def _remember(self, observed: ObservedRun) -> None:
        self._known[observed.state, observed.number, observed.variation, observed.only] = observed

    def get(self, state: State, number: int, variation: Variation, only: tuple[str, ...] = ()) -> ObservedRun | None:
        """A run of this number and variation, and of these functions, where it is known."""
        return self._known.get((state, number, variation, only))

    @property
    def runs(self) -> tuple[ObservedRun, ...]:
        """Every run that stood in the file as it was opened, or was added since."""
        return tuple(self._known.values())

    def add(self, observed: ObservedRun) -> None:
        self._remember(observed)
        raw = {"key": self._key, **observed.__dict__, "variation": observed.variation.varied()}
        del raw["silent_on"]
        with files.explained(self._path):
            self._path.parent.mkdir(parents=True, exist_ok=True)
            with self._path.open("ab") as file:
                file.write(json.dumps(raw).encode() + b"\n")

    def close(self) -> None:
        """The proof is done; its notes are in the task."""
        self._path.unlink(missing_ok=True)
