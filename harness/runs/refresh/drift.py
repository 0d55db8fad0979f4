"""Whether a task still holds, from its verdicts; and whether it is the tasks that drifted, or the machine. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from harness.core.instance import Task, TestStatus
from harness.runs.refresh.seen import LETTERS, WORDS, Kind, VerdictSummary, statuses

REPEATS = 3
"""So often a verdict that is not as it should be is asked for again, before anything is made of it."""
MASS_SHARE, MASS_LEAST = 0.25, 3
"""More than this share of the tasks, and so many at least, do not drift at once by themselves: it is the machine."""
_ONE_FLAKE = 2


class Result(StrEnum):
    """What a refresh makes of a task."""

    HOLDS = "holds"
    """Gold resolves the task and null does not."""
    ONCE = "once"
    """One verdict was off and none of the repeats: noise, as far as can be told."""
    UNSTABLE = "unstable"
    """Verdicts of equal runs differ; the task is quarantined."""
    DRIFTED = "drifted"
    """Every repeat was off as well; the task is quarantined."""
    UNSCORED = "unscored"
    """Infrastructure gave no verdict; nothing is said of the task."""


GONE_WRONG = frozenset({Result.UNSTABLE, Result.DRIFTED})
_ORDER = (Result.HOLDS, Result.ONCE, Result.UNSTABLE, Result.DRIFTED, Result.UNSCORED)


@dataclass(frozen=True, kw_only=True)
class IdChange:
    """A listed test that does not do what it did when the task was proved."""

    test_id: str
    listed: str
    """`FAIL_TO_PASS` or `PASS_TO_PASS`."""
    kind: Kind
    """With the fix, or without."""
    before: str
    after: Mapping[str, int]
    """Statuses now, or `gone`: in how many runs each."""


@dataclass(frozen=True, kw_only=True)
class Tally:
    """Verdicts of one kind."""

    resolved: int = 0
    runs: int = 0
    off: int = 0
    """Not as they should be."""

    def __str__(self) -> str:
        return f"{self.resolved}/{self.runs}"


@dataclass(frozen=True, kw_only=True)
class Finding:
    """One task, looked at again."""

    instance_id: str
    result: Result
    gold: Tally = field(default_factory=Tally)
    null: Tally = field(default_factory=Tally)
    why: str = ""
    """In words that name no hidden test; empty where it holds."""
    changes: tuple[IdChange, ...] = ()
    seconds: float = 0.0
    """The longest that gold's tests took."""
    proof_seconds: float = 0.0
    """The longest when the task was proved; 0 where that is not known."""
    containers: int = 0
    late: bool = False
    """All that is wrong is that tests ran out of time."""


def needs_repeats(summaries: Sequence[VerdictSummary], kind: Kind) -> bool:
    """Whether a planned verdict of this kind was not as it should be."""
    return any(
        not summary.is_as_proved for summary in summaries if summary.slot.kind is kind and not summary.slot.repeat
    )


def unscored(instance_id: str, why: str, summaries: Sequence[VerdictSummary] = ()) -> Finding:
    """A task of which infrastructure kept us from saying anything."""
    return Finding(
        instance_id=instance_id,
        result=Result.UNSCORED,
        gold=_tally(summaries, Kind.GOLD),
        null=_tally(summaries, Kind.NULL),
        why=why,
        containers=sum(summary.containers for summary in summaries),
    )


def judge(task: Task, summaries: Sequence[VerdictSummary]) -> Finding:
    """What all verdicts on a task say together.

    Where every repeat is off as well, the task drifted. Where only some are, or two of the planned verdicts were, it is
    unstable. One verdict that is off and no repeat of it is noise.
    """
    results = {kind: _result(summaries, kind) for kind in Kind}
    worst = max(results.values(), key=_ORDER.index)
    wrong = [kind for kind in Kind if results[kind] is not Result.HOLDS]
    off = [summary for summary in summaries if not summary.is_as_proved]
    gold = [summary.seconds for summary in summaries if summary.slot.kind is Kind.GOLD]
    proof = task.hidden.evidence.get("gold_seconds")
    return Finding(
        instance_id=task.instance_id,
        result=worst,
        gold=_tally(summaries, Kind.GOLD),
        null=_tally(summaries, Kind.NULL),
        why="; ".join(_why(task, summaries, kind) for kind in wrong),
        changes=tuple(change for kind in wrong for change in _changes(task, summaries, kind)),
        seconds=max(gold, default=0.0),
        proof_seconds=float(proof) if isinstance(proof, int | float) else 0.0,
        containers=sum(summary.containers for summary in summaries),
        late=bool(off) and all(summary.cause == "timeout" for summary in off),
    )


def looks_like_the_machine(findings: Sequence[Finding]) -> bool:
    """Whether too large a share of the tasks went wrong at once for that to be the tasks."""
    scored = [finding for finding in findings if finding.result is not Result.UNSCORED]
    wrong = [finding for finding in scored if finding.result in GONE_WRONG]
    return len(wrong) >= MASS_LEAST and len(wrong) > MASS_SHARE * len(scored)


def _result(summaries: Sequence[VerdictSummary], kind: Kind) -> Result:
    of_kind = [summary for summary in summaries if summary.slot.kind is kind]
    off = [summary for summary in of_kind if not summary.is_as_proved]
    if not off:
        return Result.HOLDS
    repeats = [summary for summary in of_kind if summary.slot.repeat]
    if repeats and not any(repeat.is_as_proved for repeat in repeats):
        return Result.DRIFTED
    return Result.UNSTABLE if len(off) >= _ONE_FLAKE else Result.ONCE


def _tally(summaries: Sequence[VerdictSummary], kind: Kind) -> Tally:
    of_kind = [summary for summary in summaries if summary.slot.kind is kind]
    resolved = sum(summary.outcome == "resolved" for summary in of_kind)
    return Tally(resolved=resolved, runs=len(of_kind), off=sum(not summary.is_as_proved for summary in of_kind))


def _why(task: Task, summaries: Sequence[VerdictSummary], kind: Kind) -> str:
    of_kind = [summary for summary in summaries if summary.slot.kind is kind]
    off = [summary for summary in of_kind if not summary.is_as_proved]
    share = f"in {len(off)} of {len(of_kind)} runs"
    if kind is Kind.GOLD:
        return f"gold does not resolve {share}: {_cause(task, off)}"
    if any(summary.outcome == "resolved" for summary in off):
        return f"it is resolved without the fix {share}"
    passing = _count(off, "fail_to_pass", good=False)
    return f"{passing} of {len(task.hidden.fail_to_pass)} FAIL_TO_PASS tests pass without the fix {share}"


_CAUSES = {
    "out_of_memory": "the tests need more memory than the task allows",
    "crashed": "the test process ends before its tests do",
    "exited": "code ends the process of a test file before its tests are done",
    "flood": "the tests print without end",
    "runner_error": "the test runner itself fails",
    "collection_error": "a test file cannot be imported",
    "apply_failed": "the fix does not apply",
    "broken_task": "the hidden tests do not apply to the image",
    "tampered": "the result channel contradicts itself",
}


def _cause(task: Task, off: Sequence[VerdictSummary]) -> str:
    [(cause, _)] = Counter(summary.cause or "" for summary in off).most_common(1)
    if cause == "timeout":
        return f"the tests take longer than the {task.instance.budgets.seconds:g} s that the task allows"
    if cause in _CAUSES:
        return _CAUSES[cause]
    f2p, p2p = _count(off, "fail_to_pass", good=True), _count(off, "pass_to_pass", good=True)
    of_f2p, of_p2p = len(task.hidden.fail_to_pass), len(task.hidden.pass_to_pass)
    return f"{f2p} of {of_f2p} FAIL_TO_PASS and {p2p} of {of_p2p} PASS_TO_PASS tests do not pass"


def _count(off: Sequence[VerdictSummary], name: str, *, good: bool) -> int:
    """Tests of a list that are in some run not what they should be: passed where `good`, else not passed."""
    letters = zip(*(getattr(summary, name) for summary in off), strict=False)
    passed = LETTERS[TestStatus.PASSED]
    return sum(any(word in WORDS and (word == passed) is not good for word in of_test) for of_test in letters)


def _changes(task: Task, summaries: Sequence[VerdictSummary], kind: Kind) -> list[IdChange]:
    statuses_by_run = [statuses(task.hidden, summary) for summary in summaries if summary.slot.kind is kind]
    passed = TestStatus.PASSED.value
    lists = {"FAIL_TO_PASS": task.hidden.fail_to_pass}
    if kind is Kind.GOLD:
        lists["PASS_TO_PASS"] = task.hidden.pass_to_pass
    changes = []
    for listed, ids in lists.items():
        for test_id in ids:
            after = Counter(run[test_id] for run in statuses_by_run if test_id in run)
            as_proved = after[passed] == after.total() if kind is Kind.GOLD else not after[passed]
            if not as_proved:
                before = "passed" if kind is Kind.GOLD else "did not pass"
                changes.append(IdChange(test_id=test_id, listed=listed, kind=kind, before=before, after=dict(after)))
    return changes
