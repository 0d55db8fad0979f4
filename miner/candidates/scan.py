"""A history scanned to candidates: every change looked at, each with its candidate or the one reason why not."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, MutableMapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from harness.core.errors import BugError, InputError
from harness.runs import bug_log
from miner.candidates.examples import files_with_examples
from miner.candidates.inline import files_with_tests_inside
from miner.candidates.recognise import THRESHOLD, recognise
from miner.candidates.split import documents, is_code, kinds_of, untestable, without_effect
from miner.sources.bare import MISSING, BareRepository, MissingObjectsError
from miner.sources.change import INTERNAL_ERROR, Candidate, Change, Kind, Rejection, Stage
from miner.sources.history import ChangeFilter, Sighting, sightings
from miner.sources.messages import closing_references

if TYPE_CHECKING:
    from miner.sources.origin import Forge

_CANDIDATES = 20
"""Candidates judged at a time: as many as a forge is asked about in one request."""
_CHANGES = 500

Seen = MutableMapping[str, tuple[str, str, str]]
"""Patch ids met so far, with the repository, merge commit and instance id of the first change that had each."""


@dataclass(frozen=True, kw_only=True)
class Recognition:
    """One change and what recognition made of it."""

    change: Change
    outcome: Candidate | Rejection
    patch_id: str = ""
    """`git patch-id` without context lines, of candidates."""


@dataclass(frozen=True, kw_only=True)
class _Doubt:
    """A change on its way to judgement."""

    sighting: Sighting
    kinds: Mapping[str, Kind]
    outcome: Candidate | Rejection

    @property
    def asks(self) -> bool:
        """Whether the issues it closes could matter: to a candidate, or to what only lacks a signal."""
        if isinstance(self.outcome, Candidate):
            return True
        words = f"{self.sighting.change.title}\n{self.sighting.change.body}"
        return self.outcome.reason == "not_a_bug_fix" and bool(closing_references(words))


def scan(
    repo: BareRepository,
    change_filter: ChangeFilter | None = None,
    *,
    threshold: float = THRESHOLD,
    forge: Forge | None = None,
    earlier: Seen | None = None,
    after: str | None = None,
    missing: Callable[[InputError], None] | None = None,
    tests: Collection[str] | None = None,
) -> Iterator[Recognition]:
    """Every change of the default branch that the filter lets through, newest first, judged.

    Changes picked one by one (`numbers`, `commits`) need not look like a bug fix: whoever names a change has judged
    it. All other reasons still hold. `forge` has more on changes than git. `earlier` is shared by scans whose
    changes must not be each other's duplicates. `after` is the tip up to which an earlier scan saw everything.
    `missing` is told of each change that was asked for and is not there, if others are. `tests` are patterns of tests
    that the repository is declared to have; None where it is not declared how they are run.

    Raises:
        InputError: nothing of what was asked for is there, or a part where `missing` is not given.

    """
    change_filter = change_filter or ChangeFilter()
    judge = _Judge(
        repo=repo,
        forge=forge,
        picks=change_filter.picks,
        threshold=float("-inf") if change_filter.picks else threshold,
        earlier={} if earlier is None else earlier,
        tests=tests,
    )
    requests = forge.pulls if forge else ()
    doubts = map(judge.first, sightings(repo, change_filter, requests=requests, after=after, missing=missing))
    with ThreadPoolExecutor(max_workers=1, thread_name_prefix="goldseam-patch-ids") as pool:
        before: tuple[list[Recognition], Future[list[str | None]]] | None = None
        for batch in _batches(doubts, _CANDIDATES if forge else 1):
            looks = judge.again(batch)
            ids = pool.submit(judge.patch_ids, looks)  # git makes patches while the next batch is looked at
            if before:
                yield from judge.without_duplicates(*before)
            before = looks, ids
        if before:
            yield from judge.without_duplicates(*before)


def _batches(doubts: Iterable[_Doubt], size: int) -> Iterator[list[_Doubt]]:
    """So many at a time, twice as many each time, up to those that a forge is asked about in one request."""
    waiting: list[_Doubt] = []
    asking = 0
    for doubt in doubts:
        waiting.append(doubt)
        asking += doubt.asks
        if asking == size or len(waiting) == _CHANGES:
            yield waiting
            waiting, asking, size = [], 0, min(2 * size, _CANDIDATES)
    if waiting:
        yield waiting


@dataclass(frozen=True, kw_only=True)
class _Judge:
    repo: BareRepository
    forge: Forge | None
    picks: bool
    threshold: float
    earlier: Seen
    tests: Collection[str] | None

    def first(self, sighting: Sighting) -> _Doubt:
        """Judge by what git tells, and the forge's list."""
        kinds = kinds_of(sighting.files, self.tests or ())
        if sighting.rejection:
            return _Doubt(sighting=sighting, kinds=kinds, outcome=sighting.rejection)
        change = sighting.change
        try:
            with bug_log.of_one_item():
                inside = files_with_tests_inside(self.repo, change.base_commit, change.head_commit, kinds)
                documents = self._documents(change, kinds)
                kinds.update(dict.fromkeys(inside, Kind.MIXED))
                kinds.update(dict.fromkeys(documents, Kind.TEST))
                documented = files_with_examples(self.repo, change.base_commit, change.head_commit, kinds)
                kinds.update(dict.fromkeys(documented, Kind.MIXED))
                outcome = recognise(change, sighting.files, kinds, threshold=self.threshold)
                if isinstance(outcome, Candidate):
                    outcome = without_effect(self.repo, change, kinds) or outcome
                if isinstance(outcome, Candidate) and self.tests is None:
                    outcome = untestable(self.repo, change, kinds) or outcome
        except MissingObjectsError as error:
            outcome = Stage.HISTORY.no("missing_objects", error.message)
        except BugError as error:
            outcome = Stage.RECOGNITION.no(INTERNAL_ERROR, error.message)
        return _Doubt(sighting=sighting, kinds=kinds, outcome=outcome)

    def _documents(self, change: Change, kinds: Mapping[str, Kind]) -> list[str]:
        """Doctests in text files, where a change has code and no other tests."""
        if Kind.TEST in kinds.values() or not any(map(is_code, kinds)):
            return []
        return documents(self.repo, change.base_commit, change.head_commit, kinds)

    def again(self, doubts: Sequence[_Doubt]) -> list[Recognition]:
        """Judge again with the issues' words."""
        changes = [doubt.sighting.change for doubt in doubts if doubt.asks] if self.forge else []
        details = self.forge.detail(changes) if self.forge and changes else ()
        by_commit = {change.merge_commit: detail for change, detail in zip(changes, details, strict=True)}
        return [self._again(doubt, by_commit.get(doubt.sighting.change.merge_commit)) for doubt in doubts]

    def _again(self, doubt: _Doubt, change: Change | None) -> Recognition:
        if change is None or not change.issues:
            return Recognition(change=doubt.sighting.change, outcome=doubt.outcome)
        outcome = recognise(change, doubt.sighting.files, doubt.kinds, threshold=self.threshold)
        return Recognition(change=change, outcome=outcome)

    def patch_ids(self, looks: Sequence[Recognition]) -> list[str | None]:
        """Those of the candidates among them, in their order."""
        candidates = [look.change for look in looks if isinstance(look.outcome, Candidate)]
        return self.repo.patch_ids([(change.base_commit, change.head_commit) for change in candidates], context=0)

    def without_duplicates(
        self, looks: Sequence[Recognition], patch_ids: Future[list[str | None]]
    ) -> Iterator[Recognition]:
        """Reject candidates whose patch id an earlier one has: backports, cherry-picks without a note, forks."""
        ids = iter(patch_ids.result())
        for look in looks:
            patch_id = next(ids) if isinstance(look.outcome, Candidate) else None
            if patch_id in (None, MISSING):
                yield look
                continue
            change = look.change
            identity = (change.repo, change.merge_commit, change.instance_id)
            first = self.earlier.setdefault(patch_id, identity)
            if first[:2] == identity[:2] or (self.picks and first[0] == identity[0]):  # whoever names both wants both
                yield replace(look, patch_id=patch_id)
                continue
            detail = f"the same patch as {first[2]}"
            no = Stage.RECOGNITION.no("duplicate", detail)
            yield replace(look, outcome=no, patch_id=patch_id)
