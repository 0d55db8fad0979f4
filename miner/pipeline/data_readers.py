"""The tests that read a change's data, where the change touches no test file: found by running what may read it.

Likely readers are known by name (miner/candidates/test_data.py). Of what they collect, ids that the data brings or
that name it run first, with the fix and without it; else all of them do, within a budget. What turns is kept, with as
many of its neighbours as can be run in a few seconds.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from harness.core.instance import TestStatus
from harness.core.test_ids import files as test_files
from harness.grading import trial
from harness.languages.base import TestReport
from harness.sandbox.job import Sandbox
from miner.languages import language_of
from miner.pipeline.draft import Draft, MiningContext, subject_of, timed
from miner.proof import Patches, Spending, Subject, prepare
from miner.proof.runs import PROOF_BUDGETS
from miner.sources.change import Rejection, Stage

if TYPE_CHECKING:
    from harness.grading.trial import Trial

_STAGE = "readers"
UNREAD = "no_test_reads_the_data"
SEARCH_SECONDS = 600.0
"""All runs of the search together, in the containers' seconds; a suite that takes longer is not searched."""
_KEPT_SECONDS = 8.0
"""The tests that a task is left with may take so long with the fix, where its own take less."""
_SAMPLE = 30
"""Neighbours of the tests that turn that are run to see what they take."""
_MOST_IDS = 400
"""Tests that are named one by one."""
_DEGREES = 2
"""Degrees of plainness with which an id may name the data that are tried, the plainest first."""
_SHORTEST = 4
"""Characters of a data file's stem by which an id may be known."""
_NOT_FOUND = 4
"""pytest's exit code where a test that it is given is not there."""


def find_readers(draft: Draft, site: MiningContext) -> Draft | Rejection:
    """The draft with the tests that its data turns; as it is where the change touches test files."""
    if not draft.parts.data:
        return draft
    site.note(f"{draft.instance_id}: looking for the tests that read {draft.parts.data[0]}")
    spending = Spending()
    with timed(draft, _STAGE):
        by_name, suite = draft.parts.test_files, draft.parts.suite
        outcome: tuple[str, ...] | Rejection | None = None
        for files in (by_name, suite):
            if files and (outcome is None or (isinstance(outcome, Rejection) and outcome.reason == UNREAD)):
                subject = replace(subject_of(draft), test_files=files)
                outcome = search(subject, draft.parts.data, site.sandbox, spending)
    if isinstance(outcome, Rejection):
        return outcome
    assert outcome is not None  # noqa: S101 - `take_apart` lets no draft pass without test files
    note = f"{outcome[0].partition('::')[0]} reads the data, as its tests show"
    split = replace(draft.parts, test_files=outcome, notes=(*draft.parts.notes, note))
    return replace(draft, split=split, searched=spending.stages)


def search(subject: Subject, data: Sequence[str], sandbox: Sandbox, spending: Spending) -> tuple[str, ...] | Rejection:
    """Of the files of a subject what is to be run: files, or single tests where files take too long.

    What the search takes is charged to `spending`, and it ends with that at SEARCH_SECONDS.
    The reason where there is nothing: `no_test_reads_the_data`, `no_fail_to_pass` where tests read it and the fix turns
    none of them, or what kept them from running.

    Raises:
        InfrastructureError: the engine failed.

    """
    patches = prepare(subject)
    if isinstance(patches, Rejection):
        return patches
    metered = spending.metered(sandbox, _STAGE)
    return _Search(subject=subject, patches=patches, data=data, sandbox=metered, spending=spending).outcome()


@dataclass(frozen=True, kw_only=True)
class _Search:
    subject: Subject
    patches: Patches
    data: Sequence[str]
    sandbox: Sandbox
    spending: Spending

    def outcome(self) -> tuple[str, ...] | Rejection:
        seconds_each = None
        for ids in self._likely():
            if not (arguments := self._arguments(ids)):
                continue
            after, before = self._both(arguments)
            if _NOT_FOUND in {after.report.exit_code, before.report.exit_code}:
                continue
            if trouble := self._trouble(after) or self._trouble(before):
                return trouble
            if turned := _passed(after.report) - _passed(before.report):
                return self._narrowed(turned, ids, after.report)
            seconds_each = sum(after.report.seconds.values()) / max(1, len(after.report.seconds))
        if seconds_each is not None and seconds_each * len(self._collected) > _KEPT_SECONDS:
            return self._no("no_fail_to_pass", "tests that name it are the same with the fix and without")
        after, before = self._both(self.subject.test_files)
        if trouble := self._trouble(after) or self._trouble(before):
            return trouble
        if turned := _passed(after.report) - _passed(before.report):
            return self._narrowed(turned, (), after.report)
        without = self._run(self.subject.test_files, gold=True, tests=False)
        if without.report.statuses != after.report.statuses:
            return self._no("no_fail_to_pass", "tests read it, and the fix changes the result of none of them")
        return self._no(UNREAD, f"{len(after.report.statuses)} tests give the same without it")

    def _both(self, files: tuple[str, ...]) -> tuple[Trial, Trial]:
        """With the fix and without it."""
        return self._run(files, gold=True), self._run(files, gold=False)

    @cached_property
    def _collected(self) -> tuple[str, ...]:
        return self._run(self.subject.test_files, gold=True, listing=True).report.collected

    def _likely(self) -> Iterator[tuple[str, ...]]:
        degrees = ids_naming(self.data, self._collected)
        for plainness in sorted(set(degrees.values()), reverse=True)[:_DEGREES]:
            yield tuple(test_id for test_id, degree in degrees.items() if degree == plainness)[:_MOST_IDS]
        yield self._added  # costs a container, so only where the names don't tell

    @property
    def _added(self) -> tuple[str, ...]:
        """Ids that are there with the data alone."""
        earlier = set(self._run(self.subject.test_files, gold=True, tests=False, listing=True).report.collected)
        return tuple(test_id for test_id in self._collected if test_id not in earlier)[:_MOST_IDS]

    def _arguments(self, test_ids: Collection[str]) -> tuple[str, ...]:
        return language_of(self.subject.test).arguments(self.subject.test, test_ids) if test_ids else ()

    def _run(self, files: tuple[str, ...], *, gold: bool, tests: bool = True, listing: bool = False) -> Trial:
        test = self.subject.test
        spec = trial.TrialSpec(
            image=self.subject.image,
            test=replace(language_of(test).listing(test), clock=None) if listing else test,
            files=files,
            budgets=replace(PROOF_BUDGETS, seconds=max(1.0, SEARCH_SECONDS - self.spending.spent)),
            model_patch=self.patches.gold if gold else None,
            test_patch=self.patches.tests if tests else None,
        )
        return trial.run(spec, self.sandbox)

    def _narrowed(self, turned: Collection[str], likely: Sequence[str], report: TestReport) -> tuple[str, ...]:
        """The files of the tests that turned, or these tests and some of their neighbours where files take too long."""
        files = tuple(sorted(test_files(turned)))
        own = [*sorted(turned), *(test_id for test_id in likely if test_id not in turned)]
        others = [test_id for test_id in self._collected if test_id.partition("::")[0] in files]
        others = [test_id for test_id in others if test_id not in set(own)]
        seconds_each = self._seconds_of(others, report)
        seconds = {test_id: report.seconds.get(test_id, seconds_each) for test_id in own}
        if sum(seconds.values()) + seconds_each * len(others) <= _KEPT_SECONDS:
            return files
        chosen, left = [], _KEPT_SECONDS
        for test_id in own:
            if test_id in turned or seconds[test_id] <= left:
                chosen.append(test_id)
                left -= seconds[test_id]
        chosen += _spread(others, int(max(0.0, left) / seconds_each) if seconds_each else len(others))
        return self._arguments(chosen[: max(_MOST_IDS, len(turned))]) or files

    def _seconds_of(self, test_ids: Sequence[str], report: TestReport) -> float:
        """What one of these tests takes, by those that ran already, else by a sample of them."""
        if set(test_ids) <= report.seconds.keys():
            seconds: Collection[float] = [report.seconds[test_id] for test_id in test_ids]
        else:
            sample = self._arguments(_spread(test_ids, _SAMPLE))
            seconds = self._run(sample, gold=True).report.seconds.values() if sample else ()
        return sum(seconds) / max(1, len(seconds))

    def _trouble(self, ran: Trial) -> Rejection | None:
        if ran.timed_out:
            return self._no("timeout", f"running what may read it takes more than {SEARCH_SECONDS:g} s")
        if ran.flooded:
            return self._no("flood", "what may read it prints without end")
        return None if ran.report.finished else self._no("crashed", "what may read it ended the whole runner")

    def _no(self, reason: str, detail: str) -> Rejection:
        others = f" and {len(self.data) - 1} more" if len(self.data) > 1 else ""
        return Stage.VALIDATION.no(reason, f"{self.data[0]}{others}: {detail}")


def _passed(report: TestReport) -> set[str]:
    return {test_id for test_id, status in report.statuses.items() if status is TestStatus.PASSED}


def ids_naming(data: Iterable[str], test_ids: Iterable[str]) -> dict[str, int]:
    """The ids that name a data file, and how plainly: how many words of its path they have, its own name among them.

    A file `dialects/postgres/select.sql` is named by `t[select]`, and more plainly by `t[postgres-select.sql]`.
    """
    pures = [pure for path in data if len((pure := PurePosixPath(path)).stem) >= _SHORTEST]
    patterns = [[_word(word) for word in (pure.stem, *pure.parts)] for pure in pures]
    degrees: dict[str, int] = {}
    for test_id in test_ids:
        names = test_id.partition("::")[2]
        counts = [sum(word.search(names) is not None for word in words) for words in patterns if words[0].search(names)]
        if counts:
            degrees[test_id] = max(counts)
    return degrees


def _word(word: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![A-Za-z0-9]){re.escape(word)}(?![A-Za-z0-9])")


def _spread(test_ids: Sequence[str], count: int) -> list[str]:
    """So many of the ids, evenly from all of them."""
    if count <= 0 or not test_ids:
        return []
    step = max(1.0, len(test_ids) / count)
    return [test_ids[int(place * step)] for place in range(min(count, len(test_ids)))]
