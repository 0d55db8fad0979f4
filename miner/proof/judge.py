"""What all runs of a subject say together. Pure."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from harness.instance import TestStatus
from miner.proof.notebook import STATES
from miner.proof.observe import PROOF_BUDGETS, troubled
from miner.proof.subject import rejection

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from harness.instance import Budgets
    from miner.change import Rejection
    from miner.proof.notebook import Observed, State

_SECONDS_FACTOR, _SECONDS_FLOOR, _SECONDS_CEILING = 10.0, 60.0, 1800.0
_MEMORY_FACTOR, _MEMORY_FLOOR, _MEMORY_CEILING = 4.0, 2048, 8192
_NEW_NAME = re.compile(r"cannot import name|No module named|has no attribute|is not defined")


@dataclass(frozen=True, kw_only=True)
class Proof:
    """A proved task's lists and the evidence for them."""

    fail_to_pass: tuple[str, ...]
    pass_to_pass: tuple[str, ...]
    flaky: tuple[str, ...]
    budgets: Budgets
    evidence: dict[str, Any]
    seconds: float
    """Wall time of the tests in all runs together."""


def hopeless(found: list[Observed]) -> Rejection | None:
    """What the runs so far already rule out."""
    last = found[-1]
    if last.state != "base" and (trouble := troubled(last)):
        return trouble
    after = [run for run in found if run.state == "after"]
    before = [run for run in found if run.state == "before"]
    passed = _passed_in_all(after)
    if not passed and last.state == "after":
        return rejection("gold_fails", _first_error(after) or "no test passes with the fix")
    if before and not (passed - _passed_in_any(before)):
        if _passed_in_any(after) - _passed_in_any(before):
            return rejection("unstable_fail_to_pass", "the tests that the fix turns do not pass every time")
        return rejection("no_fail_to_pass", "every test that passes with the fix passes without it, too")
    return None


def judge(found: list[Observed], *, runs: int) -> Proof | Rejection:
    """The lists from all runs. Pure.

    A test fails to pass if no run before passes and every run after does. Where the whole file could not be collected
    before because of a name that the fix brings, its tests count as failing, except those that pass at base: these
    were there all along and are held as PASS_TO_PASS.
    """
    by_state = {state: [run for run in found if run.state == state] for state in STATES}
    after, before, base = by_state["after"], by_state["before"], by_state["base"]
    good = _passed_in_all(after)
    flaky = _unstable(after) | _unstable(before)
    lost_files = {path for run in before for path in run.collect_errors}
    lost = {test_id for test_id in good if test_id.split("::", 1)[0] in lost_files}
    if lost and not all(_NEW_NAME.search(text) for run in before for text in run.collect_errors.values()):
        good -= lost
    known_at_base = lost & _passed_in_all(base)
    fails = {test_id for test_id in good - flaky if test_id not in _passed_in_any(before)} - known_at_base
    holds = ((good & _passed_in_all(before)) | (good & known_at_base)) - flaky
    if not fails:
        if lost - good:
            return rejection("not_collectable_before", _first_error(before))
        if flaky:
            return rejection("unstable_fail_to_pass", f"unstable: {', '.join(sorted(flaky)[:3])}")
        return rejection("no_fail_to_pass", "no test fails every time before the fix and passes every time after it")
    return Proof(
        fail_to_pass=tuple(sorted(fails)),
        pass_to_pass=tuple(sorted(holds)),
        flaky=tuple(sorted(flaky)),
        budgets=budgets(after),
        evidence=_evidence(by_state, runs, new_api=bool(fails & lost)),
        seconds=sum(run.seconds for run in found),
    )


def budgets(after: Sequence[Observed]) -> Budgets:
    """What the tests may use, by what they used with the fix."""
    return replace(
        PROOF_BUDGETS,
        seconds=_seconds_budget(max(run.seconds for run in after)),
        memory_mb=_memory_budget(max(run.max_rss_kb for run in after)),
    )


def _seconds_budget(slowest: float) -> float:
    return float(math.ceil(min(_SECONDS_CEILING, max(_SECONDS_FLOOR, slowest * _SECONDS_FACTOR))))


def _memory_budget(largest_kb: int) -> int:
    """MiB. The largest process is what is known of gold's use; several of them, and files on tmpfs, need the factor."""
    return math.ceil(min(_MEMORY_CEILING, max(_MEMORY_FLOOR, largest_kb / 1024 * _MEMORY_FACTOR)))


def _evidence(by_state: Mapping[State, list[Observed]], runs: int, *, new_api: bool) -> dict[str, Any]:
    every = sorted({test_id for observed in by_state.values() for run in observed for test_id in run.statuses})
    after = by_state["after"]
    return {
        "runs": runs,
        "new_api": new_api,
        "passes": {
            test_id: [
                sum(run.statuses.get(test_id) is TestStatus.PASSED for run in by_state[state]) for state in STATES
            ]
            for test_id in every
        },
        "gold_seconds": round(max(run.seconds for run in after), 3),
        "gold_max_rss_kb": max(run.max_rss_kb for run in after),
    }


def _passed(run: Observed) -> set[str]:
    return {test_id for test_id, status in run.statuses.items() if status is TestStatus.PASSED}


def _passed_in_all(observed: list[Observed]) -> set[str]:
    return set.intersection(*map(_passed, observed)) if observed else set()


def _passed_in_any(observed: list[Observed]) -> set[str]:
    return set.union(*map(_passed, observed)) if observed else set()


def _unstable(observed: list[Observed]) -> set[str]:
    """Ids that pass in some runs of a state and not in others."""
    return _passed_in_any(observed) - _passed_in_all(observed)


def _first_error(observed: list[Observed]) -> str:
    errors = [text for run in observed for text in run.collect_errors.values()]
    return errors[0].strip()[-1000:] if errors else ""
