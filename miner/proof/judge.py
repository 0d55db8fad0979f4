"""What all runs of a subject say together. Pure."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from harness.core.grouping import grouped
from harness.core.instance import Budgets, TestStatus
from harness.core.test_ids import function, has_no_address
from miner.proof import ids
from miner.proof.new_api import losses, new_names
from miner.proof.notebook import STATES, ObservedRun, State
from miner.proof.runs import MOST_RUNS, PROOF_BUDGETS, Spending, troubled
from miner.proof.subject import rejection
from miner.sources.change import Rejection

_SECONDS_FACTOR, _SECONDS_FLOOR, _SECONDS_CEILING = 10.0, 60.0, 1800.0
_MEMORY_FACTOR, _MEMORY_FLOOR, _MEMORY_CEILING = 4.0, 2048, 8192

_FIRST = re.compile(r"(?:.*?::\w*)?")
"""Of a test's id, its file and the function or class that it is of or in."""


@dataclass(frozen=True, kw_only=True)
class Proof:
    """A proved task's lists and the evidence for them."""

    fail_to_pass: tuple[str, ...]
    pass_to_pass: tuple[str, ...]
    flaky: tuple[str, ...]
    budgets: Budgets
    evidence: dict[str, Any]
    set_aside: Rejection | None = None
    """Why the task is kept and must not count."""
    spending: Spending = field(default_factory=Spending)
    """What it cost, and what is left for its strength."""


def hopeless(observed: list[ObservedRun], sensitive: Collection[str] = frozenset()) -> Rejection | None:
    """What the runs so far already rule out; `sensitive` as in `judge`."""
    runs = _silenced(observed, sensitive)
    last = runs[-1]
    if last.state != "base" and (trouble := troubled(last)):
        return trouble
    after = [run for run in runs if run.state == "after"]
    before = [run for run in runs if run.state == "before"]
    passed = _passed_in_all(after)
    if not passed and last.state == "after" and not _passed_in_any(after):
        reason = "exits" if any(run.exited for run in after) else "gold_fails"
        return rejection(reason, _first_error(after) or _nothing_passed(after))
    if before and not (passed - _passed_in_any(before)):
        if _passed_in_any(after) - _passed_in_all(before):
            return rejection("unstable_fail_to_pass", "the tests that the fix makes pass do not pass every time")
        return rejection("no_fail_to_pass", "every test that passes with the fix passes without it, too")
    return None


def judge(
    observed: list[ObservedRun],
    *,
    runs: int,
    brings: Collection[str] = frozenset(),
    rewritten: Collection[str] = frozenset(),
    unstable: Collection[str] = frozenset(),
    sensitive: Collection[str] = frozenset(),
    keep: bool = False,
) -> Proof | Rejection:
    """The lists from all runs; `brings` are the names that the fix brings, see `new_api.names_of_fix`. Pure.

    `unstable` are ids that further runs have shown to be; `sensitive` those that hang on what evaluation pins, which
    plain runs alone decide. `keep` asks for a proof with an empty FAIL_TO_PASS where nothing but instability stands
    against one.

    A test fails to pass if no run before passes and every run after does. Where its file could not be collected before
    for want of names that the fix brings, and of nothing else, it counts as failing, except where it passes at base:
    then it was there all along and is held as PASS_TO_PASS. If nothing else fails, those of `rewritten` functions do
    (by the ids that they may have), as they ask for more than they did. Lost for another reason, it is in no list.
    docs/proof.md says what each status means.
    """
    by_state = {state: [run for run in _silenced(observed, sensitive) if run.state == state] for state in STATES}
    after, before, base = by_state["after"], by_state["before"], by_state["base"]
    flaky = differing(after) | differing(before) | differing(base) | set(unstable)
    lost = losses(before, brings)
    passed = _passed_in_all(after)
    absent = {
        test_id for test_id in passed if any(test_id not in run.statuses and run.tells_of(test_id) for run in before)
    }
    unknown = {test_id for test_id in absent if lost.otherwise(test_id)}
    new = {test_id for test_id in absent - unknown if lost.for_a_name(test_id)}
    good = passed - unknown - flaky
    known_at_base = new & _passed_in_all(base)
    fails = good - _ran_well_in_any(before) - known_at_base
    if not fails:
        fails = {test_id for test_id in good & known_at_base if not _functions(test_id).isdisjoint(rewritten)}
    holds = good & (_passed_in_all(before) | known_at_base) - fails
    if not fails and not (keep and flaky and not unknown):
        if unknown:
            return rejection("not_collectable_before", _first_error(before))
        if flaky:
            why = (f"{test_id} ({reason})" for test_id, reason in ids.reasons(flaky, (before, after)).items())
            return rejection("unstable_fail_to_pass", f"unstable: {', '.join(list(why)[:3])}")
        return rejection("no_fail_to_pass", "no test fails every time before the fix and passes every time after it")
    names = new_names(fails, before, brings)
    return Proof(
        fail_to_pass=tuple(sorted(fails)),
        pass_to_pass=tuple(sorted(holds)),
        flaky=tuple(sorted(flaky)),
        budgets=budgets(after),
        evidence={
            **_evidence(by_state, runs),
            "new_api": bool(names),
            "new_names": list(names),
            "before": _before(fails, before),
            "endings": sorted({test_id for run in before for test_id in run.endings}),
            "quarantined": dict(ids.reasons(flaky, (before, after))),
            "addresses_left_out": sum(map(has_no_address, (*fails, *holds))),
        },
    )


def _functions(test_id: str) -> set[str]:
    """What a test may be a row or a part of: its method, or the function that subtests are in."""
    first = _FIRST.match(test_id)
    return {function(test_id), first[0] if first else ""}


def _silenced(observed: Sequence[ObservedRun], sensitive: Collection[str]) -> list[ObservedRun]:
    """The runs, of which only plain ones are asked about sensitive tests."""
    silent_on = frozenset(sensitive)
    return [run if run.variation.is_plain else replace(run, silent_on=silent_on) for run in observed]


def _before(fails: Collection[str], before: Sequence[ObservedRun]) -> dict[str, int]:
    """How many FAIL_TO_PASS tests were what before the fix: a status, `absent`, or `varies`."""
    counts: Counter[str] = Counter()
    for test_id in fails:
        words = {str(run.statuses.get(test_id, "absent")) for run in before}
        counts[words.pop() if len(words) == 1 else "varies"] += 1
    return dict(sorted(counts.items()))


def budgets(after: Sequence[ObservedRun]) -> Budgets:
    """What the tests may use, by what they used with the fix."""
    after = _at_full_speed(after)
    return replace(
        PROOF_BUDGETS,
        seconds=seconds_budget(max(run.seconds for run in after)),
        memory_mb=_memory_budget(max(run.max_rss_kb for run in after)),
    )


def seconds_budget(slowest: float) -> float:
    """How long tests may take of which the slowest run took so many seconds."""
    return float(math.ceil(min(_SECONDS_CEILING, max(_SECONDS_FLOOR, slowest * _SECONDS_FACTOR))))


def _memory_budget(largest_kb: int) -> int:
    """MiB. The largest process is what is known of gold's use; several of them, and files on tmpfs, need the factor."""
    return math.ceil(min(_MEMORY_CEILING, max(_MEMORY_FLOOR, largest_kb / 1024 * _MEMORY_FACTOR)))


def _evidence(by_state: Mapping[State, list[ObservedRun]], runs: int) -> dict[str, Any]:
    scheduled = {state: [run for run in observed if run.number < MOST_RUNS] for state, observed in by_state.items()}
    every = sorted({test_id for observed in scheduled.values() for run in observed for test_id in run.statuses})
    after = _at_full_speed(by_state["after"])
    return {
        "runs": runs,
        "passes": {test_id: [_passes(test_id, scheduled[state]) for state in STATES] for test_id in every},
        "gold_seconds": round(max(run.seconds for run in after), 3),
        "gold_max_rss_kb": max(run.max_rss_kb for run in after),
    }


def _passes(test_id: str, observed: Sequence[ObservedRun]) -> int:
    """In how many runs of a state a test passed: those of one number are one, and none if one says otherwise."""
    runs = [run for run in observed if test_id in run.statuses]
    passing = {run.number for run in runs if run.statuses[test_id] is TestStatus.PASSED}
    return len(passing - {run.number for run in runs if test_id not in _passed(run)})


def _at_full_speed(observed: Sequence[ObservedRun]) -> Sequence[ObservedRun]:
    """The runs that had the processor that evaluation gives them. Run 0 is one of them."""
    return [run for run in observed if run.variation.cpus is None]


def _passed(run: ObservedRun) -> set[str]:
    return {
        test_id for test_id, status in run.statuses.items() if status is TestStatus.PASSED and run.tells_of(test_id)
    }


def _passed_in_all(observed: Sequence[ObservedRun]) -> set[str]:
    """Ids that passed in each run that tells of them."""
    passed = list(map(_passed, observed))
    return {
        test_id
        for test_id in set().union(*passed)
        if all(test_id in names or not run.tells_of(test_id) for names, run in zip(passed, observed, strict=True))
    }


def _passed_in_any(observed: Sequence[ObservedRun]) -> set[str]:
    return set.union(*map(_passed, observed)) if observed else set()


def _ran_well_in_any(observed: list[ObservedRun]) -> set[str]:
    """Ids that passed in some run, or did so where a failure was expected (XPASS): nothing was broken for them."""
    good = (TestStatus.PASSED, TestStatus.XPASS)
    return {
        test_id
        for run in observed
        for test_id, status in run.statuses.items()
        if status in good and run.tells_of(test_id)
    }


def differing(observed: Sequence[ObservedRun]) -> set[str]:
    """Ids that pass in some runs of a state and not in others."""
    return _passed_in_any(observed) - _passed_in_all(observed)


def _nothing_passed(observed: list[ObservedRun]) -> str:
    text = observed[-1].detail
    silent = not text and not any(run.statuses for run in observed)
    why = ", and none is reported: all may be disabled, or one may end the process that it runs in" if silent else ""
    return f"no test passes with the fix{why}{': ' if text else ''}{text}"


def not_passed(run: ObservedRun) -> str:
    """Of a run with the fix, how many tests failed or were skipped, each with the first; empty where all passed."""
    by_status = grouped(
        (str(status), test_id)
        for test_id, status in sorted(run.statuses.items())
        if status not in (TestStatus.PASSED, TestStatus.XFAIL)
    )
    told = (f"{len(found)} {status} ({found[0]}{', …' * (len(found) > 1)})" for status, found in by_status.items())
    return f"with the fix {', '.join(told)}" if by_status else ""


def _first_error(observed: list[ObservedRun]) -> str:
    errors = [text for run in observed for text in run.collect_errors.values()]
    return errors[0].strip()[-1000:] if errors else ""
