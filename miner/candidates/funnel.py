"""funnel.jsonl: one line per change looked at, accepted or the one reason why not, and at which stage.

Lines are appended and synced one at a time, so that a mine that was killed goes on where it was.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from pydantic import Field, ValidationError

from harness.core import origin
from harness.core.errors import InfrastructureError, InputError
from harness.core.records import OpenRecord
from harness.core.test_ids import readable
from harness.core.wording import problems
from harness.dataset.seal.canary_marks import is_canary_line
from miner.sources.change import Change, Rejection, Stage

SCHEMA_VERSION = 1
ACCEPTED = "accepted"


class FunnelLine(OpenRecord):
    """What became of one change. Fields this version does not know survive a round trip."""

    schema_version: int = SCHEMA_VERSION
    repo: str
    change: str
    """The change's merge commit, full SHA."""
    number: int | None = None
    title: str = ""
    stage: Stage
    """Where it was left; `accepted` where it was not."""
    reason: str
    """A stable word; `accepted` where it was."""
    detail: str = ""
    signals: tuple[str, ...] = ()
    score: float | None = None
    instance_id: str = ""
    created_at: str = ""
    """When the change was merged, ISO 8601 in UTC."""
    decided_at: str = ""
    seconds: float = 0.0
    """How long deciding took."""
    timings: dict[str, float] = Field(default_factory=dict)
    """Seconds by stage."""
    unstable: dict[str, int] = Field(default_factory=dict)
    """How many of its tests are unstable, by what they depend on."""
    given_up: tuple[str, ...] = ()
    """What its proof had no budget for, one sentence each."""
    patch_id: str = ""
    """`git patch-id` of a candidate: equal ones are one task, whatever their branch, fork or repository."""

    @property
    def accepted(self) -> bool:
        return self.stage is Stage.ACCEPTED

    @classmethod
    def of(
        cls,
        change: Change,
        rejection: Rejection | None,
        *,
        signals: Sequence[str] = (),
        score: float | None = None,
        seconds: float = 0.0,
        timings: Mapping[str, float] | None = None,
        detail: str = "",
        patch_id: str = "",
        unstable: Mapping[str, int] | None = None,
        given_up: Sequence[str] = (),
    ) -> Self:
        """The line of a change: rejected for a reason, or accepted."""
        return cls(
            repo=change.repo,
            change=change.merge_commit,
            number=change.number,
            title=change.title.encode("utf-8", "replace").decode(),
            stage=rejection.stage if rejection else Stage.ACCEPTED,
            reason=rejection.reason if rejection else ACCEPTED,
            detail=readable(rejection.detail if rejection else detail),
            signals=tuple(signals),
            score=score,
            instance_id=change.instance_id,
            created_at=change.created_at,
            decided_at=origin.now(),
            seconds=round(seconds, 3),
            timings={stage: round(duration, 3) for stage, duration in (timings or {}).items()},
            patch_id=patch_id,
            unstable=dict(unstable or {}),
            given_up=tuple(given_up),
        )


NO_BUG_FIX = (Stage.RECOGNITION, "not_a_bug_fix")
"""Where changes are counted that come with tests and are left for their words alone."""


@dataclass(frozen=True, kw_only=True)
class FunnelSummary:
    """Counts over a funnel; `accepted` and `rejected` sum to `looked_at`."""

    looked_at: int
    accepted: int
    rejected: Mapping[tuple[Stage, str], int]
    """Rejections by stage and reason, commonest first."""

    @property
    def by_stage(self) -> dict[Stage, int]:
        """Rejections by stage, in the order of the stages."""
        counts: Counter[Stage] = Counter()
        for (stage, _), count in self.rejected.items():
            counts[stage] += count
        return {stage: counts[stage] for stage in Stage if counts[stage]}


def summarise(lines: Iterable[FunnelLine]) -> FunnelSummary:
    """Count what became of the changes; a change decided twice counts by its last line."""
    last = {(line.repo, line.change): line for line in lines}
    rejected = Counter((line.stage, line.reason) for line in last.values() if not line.accepted)
    return FunnelSummary(
        looked_at=len(last),
        accepted=sum(line.accepted for line in last.values()),
        rejected=dict(rejected.most_common()),
    )


class Funnel:
    """A funnel.jsonl on disk."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def read(self) -> tuple[FunnelLine, ...]:
        """All whole lines, oldest first. A last line without its line feed was cut by a kill and does not count.

        Raises:
            InputError: a line is broken, or of a newer schema than this version knows.

        """
        if not self.path.exists():
            return ()
        *whole, _ = self.path.read_bytes().split(b"\n")
        return tuple(
            self._parse(place, raw)
            for place, raw in enumerate(whole, start=1)
            if raw.strip() and not is_canary_line(raw)
        )

    def _parse(self, place: int, raw: bytes) -> FunnelLine:
        try:
            line = FunnelLine.model_validate_json(raw)
        except ValidationError as error:
            found = problems(error.errors(), whole="no JSON")
            raise InputError(
                f"{self.path.name}, line {place}: expected a funnel line, found {found}",
                hint="remove the line; the change will be looked at again",
            ) from error
        if line.schema_version > SCHEMA_VERSION:
            raise InputError(
                f"{self.path.name}, line {place} has schema_version {line.schema_version}, expected {SCHEMA_VERSION}",
                hint="upgrade goldseam",
            )
        return line

    def decided(self) -> dict[tuple[str, str], FunnelLine]:
        """The last line of each change, by repository and merge commit: what need not be looked at again."""
        return {(line.repo, line.change): line for line in self.read()}

    def decided_patches(self) -> dict[str, tuple[str, str, str]]:
        """Patch ids decided so far, with the repository, merge commit and instance id of the first change."""
        by_patch_id: dict[str, tuple[str, str, str]] = {}
        for line in self.read():
            if line.patch_id and line.reason != "duplicate":
                by_patch_id.setdefault(line.patch_id, (line.repo, line.change, line.instance_id))
        return by_patch_id

    def append(self, line: FunnelLine) -> None:
        """Add a line; when this returns, it is on the disk.

        Raises:
            InfrastructureError: the disk is full or the folder cannot be written.

        """
        data = line.model_dump_json().encode() + b"\n"
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._cut_half_line()
            with self.path.open("ab") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            raise InfrastructureError(f"cannot write {self.path}: {error.strerror or error}") from error

    def _cut_half_line(self) -> None:
        if not self.path.exists() or not self.path.stat().st_size:
            return
        with self.path.open("rb+") as file:
            file.seek(-1, os.SEEK_END)
            if file.read(1) == b"\n":
                return
            file.seek(0)
            file.truncate(file.read().rfind(b"\n") + 1)

    def summary(self) -> FunnelSummary:
        return summarise(self.read())
