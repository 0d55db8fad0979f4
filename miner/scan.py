"""A history scanned to candidates: every change looked at, each with its candidate or the one reason why not."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from miner.candidate import THRESHOLD, recognise
from miner.change import Candidate, Change, Rejection, Stage
from miner.sources.history import ChangeFilter, sightings
from miner.split import kinds_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from miner.sources.bare import BareRepository

_BATCH = 50


@dataclass(frozen=True, kw_only=True)
class Looked:
    """One change and what recognition made of it."""

    change: Change
    outcome: Candidate | Rejection


def scan(repo: BareRepository, wanted: ChangeFilter | None = None, *, threshold: float = THRESHOLD) -> Iterator[Looked]:
    """Every change of the default branch that the filter lets through, newest first, judged.

    Changes picked one by one (`numbers`, `commits`) need not look like a bug fix: whoever names a change has judged
    it. All other reasons still hold.

    Raises:
        InputError: a change asked for is not there.

    """
    wanted = wanted or ChangeFilter()
    if wanted.picks:
        threshold = float("-inf")
    seen: dict[str, Change] = {}
    batch: list[Looked] = []
    for sighting in sightings(repo, wanted):
        outcome = sighting.rejection or recognise(
            sighting.change, sighting.files, kinds_of(sighting.files), threshold=threshold
        )
        batch.append(Looked(change=sighting.change, outcome=outcome))
        if len(batch) == _BATCH:
            yield from _without_duplicates(repo, batch, seen)
            batch = []
    yield from _without_duplicates(repo, batch, seen)


def _without_duplicates(repo: BareRepository, batch: Sequence[Looked], seen: dict[str, Change]) -> Iterator[Looked]:
    """Reject candidates whose patch id a newer candidate has: backports and cherry-picks without a note."""
    pairs = [
        (looked.change.base_commit, looked.change.head_commit)
        for looked in batch
        if isinstance(looked.outcome, Candidate)
    ]
    ids = iter(repo.patch_ids(pairs))
    for looked in batch:
        patch_id = next(ids) if isinstance(looked.outcome, Candidate) else None
        if patch_id is None or (first := seen.setdefault(patch_id, looked.change)) is looked.change:
            yield looked
            continue
        detail = f"the same patch as {first.instance_id}"
        yield Looked(
            change=looked.change,
            outcome=Rejection(stage=Stage.RECOGNITION, reason="duplicate", detail=detail),
        )
