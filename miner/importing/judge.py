"""Whether each id of a row's lists holds here, and why not; the lists to grade by. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from harness.core.instance import TestStatus
from miner.importing.ids import KnownIds, Mapped, Way, file_of

if TYPE_CHECKING:
    from miner.proof import ObservedRun


class IdVerdict(StrEnum):
    """What became of one id of a row."""

    HOLDS = "holds"
    """It does here what its list says, every time, under this very id."""
    TRUNCATED = "truncated"
    """It holds under the longer ids that it is the beginning of."""
    SHORTENED = "shortened"
    """It holds under an id with the whole path."""
    NAMED = "named"
    """It holds under the id that the name stands for."""
    TITLED = "titled"
    """It holds under the ids whose titles it is."""
    FILE = "file"
    """It is a file, and holds as its tests do."""
    NOT_AN_ID = "not_an_id"
    """It is no id of a test."""
    NOT_COLLECTED = "not_collected"
    """No test here is called so."""
    SKIPPED = "skipped"
    """It is skipped here with the fix."""
    EXPECTED_FAILURE = "expected_failure"
    """It is marked as failing and does; SWE-bench counts that as a pass, we count nothing."""
    NEEDS_NETWORK = "needs_network"
    """It fails here with the fix, for want of a network."""
    FAILS_WITH_GOLD = "fails_with_gold"
    """It fails here with the fix, every time."""
    FLAKY = "flaky"
    """It did not give the same result every time."""
    PASSES_BEFORE = "passes_before"
    """Of FAIL_TO_PASS: it passes here without the fix as well."""
    FAILS_BEFORE = "fails_before"
    """Of PASS_TO_PASS: it fails here without the fix."""


_BY_WAY = {
    Way.SAME: IdVerdict.HOLDS,
    Way.TRUNCATED: IdVerdict.TRUNCATED,
    Way.SHORTENED: IdVerdict.SHORTENED,
    Way.NAMED: IdVerdict.NAMED,
    Way.TITLED: IdVerdict.TITLED,
    Way.FILE: IdVerdict.FILE,
}
HOLDING = frozenset(_BY_WAY.values())
"""Verdicts of ids that are graded."""


class Holds(StrEnum):
    """How much of a row's FAIL_TO_PASS holds here."""

    WHOLE = "whole"
    PART = "part"
    NOTHING = "nothing"


@dataclass(frozen=True, kw_only=True)
class JudgedId:
    """One id of a row, and what became of it."""

    row_id: str
    verdict: IdVerdict
    ours: tuple[str, ...] = ()
    """The ids here that it stands for; empty where it stands for none."""


@dataclass(frozen=True, kw_only=True)
class Judgement:
    """Both lists of a row, id by id, and what is graded of them."""

    fail_to_pass: tuple[JudgedId, ...]
    pass_to_pass: tuple[JudgedId, ...]
    graded_fail_to_pass: tuple[str, ...]
    graded_pass_to_pass: tuple[str, ...]

    @property
    def holds(self) -> Holds:
        good = sum(judged_id.verdict in HOLDING for judged_id in self.fail_to_pass)
        if not good:
            return Holds.NOTHING
        return Holds.WHOLE if good == len(self.fail_to_pass) else Holds.PART

    def why(self) -> str:
        """What of FAIL_TO_PASS does not hold, counted; empty where all does."""
        counts = Counter(judged_id.verdict for judged_id in self.fail_to_pass if judged_id.verdict not in HOLDING)
        return ", ".join(f"{count} {verdict.value}" for verdict, count in counts.most_common())


@dataclass(frozen=True, kw_only=True)
class RowRuns:
    """What the runs of a row showed."""

    after: Sequence[ObservedRun]
    """With the hidden tests and the fix."""
    before: Sequence[ObservedRun]
    """With the hidden tests alone."""

    def ids(self) -> set[str]:
        return {test_id for run in (*self.after, *self.before) for test_id in run.statuses}

    def passes(self, runs: Sequence[ObservedRun], test_id: str) -> int:
        return sum(run.statuses.get(test_id) is TestStatus.PASSED for run in runs)

    def lacks_network(self, test_id: str) -> bool:
        """Whether a run with the fix told that this test, or the import of its file, missed a network."""
        return any({test_id, test_id.split("::", 1)[0]} & set(run.network) for run in self.after)


def judge(fail_to_pass: Sequence[str], pass_to_pass: Sequence[str], runs: RowRuns) -> Judgement:
    """Judge a row's lists by what the runs showed. An id given twice is judged once."""
    ids = KnownIds(runs.ids())
    failing, passing = (map(ids.map, dict.fromkeys(listed)) for listed in (fail_to_pass, pass_to_pass))
    fails = tuple(_judged(mapped, runs, passed_before=IdVerdict.PASSES_BEFORE) for mapped in failing)
    passes = tuple(_judged(mapped, runs, failed_before=IdVerdict.FAILS_BEFORE) for mapped in passing)
    turning = {test_id for judged_id in _good(fails) for test_id in judged_id.ours}
    # a cut id can mean several tests, of which some pass all along
    standing = {test_id for test_id in turning if runs.passes(runs.before, test_id)}
    test_ids = {test_id for judged_id in _good(passes) for test_id in judged_id.ours} | standing
    graded = turning - standing
    return Judgement(
        fail_to_pass=fails,
        pass_to_pass=passes,
        graded_fail_to_pass=tuple(sorted(graded)),
        graded_pass_to_pass=tuple(sorted(test_ids - graded)),
    )


def hopeless(fail_to_pass: Iterable[str], runs: RowRuns) -> bool:
    """Whether the runs so far already tell that nothing of FAIL_TO_PASS can hold."""
    return not any(judged_id.verdict in HOLDING for judged_id in judge(tuple(fail_to_pass), (), runs).fail_to_pass)


def _good(judged: Iterable[JudgedId]) -> list[JudgedId]:
    return [judged_id for judged_id in judged if judged_id.verdict in HOLDING]


def _judged(
    mapped: Mapped, runs: RowRuns, *, passed_before: IdVerdict | None = None, failed_before: IdVerdict | None = None
) -> JudgedId:
    """An id, and why it can't hold where its tests all passed without the fix, or one of them never did."""
    wrong = _wrong_after(mapped, runs)
    if wrong is None:
        before = [runs.passes(runs.before, test_id) for test_id in mapped.ours]
        is_flaky = any(0 < count < len(runs.before) for count in before)
        wrong = IdVerdict.FLAKY if is_flaky else passed_before if all(before) else failed_before
    return JudgedId(row_id=mapped.row_id, verdict=wrong or _BY_WAY[mapped.way], ours=mapped.ours)


def _wrong_after(mapped: Mapped, runs: RowRuns) -> IdVerdict | None:
    """Why an id can't hold, whatever its list says; None where every test it stands for passes with the fix."""
    if mapped.way is Way.NOT_AN_ID:
        return IdVerdict.NOT_AN_ID
    if not mapped.ours:
        place = file_of(mapped.row_id)
        return IdVerdict.NEEDS_NETWORK if place and runs.lacks_network(place) else IdVerdict.NOT_COLLECTED
    verdicts = [verdict for test_id in mapped.ours if (verdict := _after(test_id, runs)) is not None]
    return min(verdicts, key=_WORST.index) if verdicts else None


_WORST = (
    IdVerdict.NOT_COLLECTED,
    IdVerdict.FAILS_WITH_GOLD,
    IdVerdict.NEEDS_NETWORK,
    IdVerdict.FLAKY,
    IdVerdict.EXPECTED_FAILURE,
    IdVerdict.SKIPPED,
)
"""Of several tests that a cut id stands for, the one that says most against it."""


def _after(test_id: str, runs: RowRuns) -> IdVerdict | None:
    statuses = [run.statuses.get(test_id) for run in runs.after]
    if all(status is TestStatus.PASSED for status in statuses):
        return None
    if TestStatus.PASSED in statuses:
        return IdVerdict.FLAKY
    if None in statuses:
        return IdVerdict.NOT_COLLECTED
    if runs.lacks_network(test_id):
        return IdVerdict.NEEDS_NETWORK
    if all(status is TestStatus.SKIPPED for status in statuses):
        return IdVerdict.SKIPPED
    if all(status is TestStatus.XFAIL for status in statuses):
        return IdVerdict.EXPECTED_FAILURE
    return IdVerdict.FAILS_WITH_GOLD


def counts(judged: Collection[JudgedId]) -> Mapping[str, int]:
    """How often each verdict was given, commonest first."""
    return {verdict.value: count for verdict, count in Counter(judged_id.verdict for judged_id in judged).most_common()}
