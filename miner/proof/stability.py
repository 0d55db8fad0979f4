"""What instability means for a task, and what is kept of it. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from math import comb
from typing import TYPE_CHECKING, Any

from harness.core.test_ids import function
from miner.proof import ids
from miner.proof.flakiness_causes import Blamed, passed
from miner.proof.notebook import STATES, ObservedRun
from miner.proof.subject import rejection
from miner.proof.variations import PINNED, Cause, Variation
from miner.sources.change import Rejection

if TYPE_CHECKING:
    from miner.proof.judge import Proof
    from miner.proof.runs import Repeats

UNSTABLE = "unstable_fail_to_pass"
_NAMED = 3
_CHANCE = 0.05


def weakened(proof: Proof, runs: Sequence[ObservedRun], blamed: Blamed) -> Rejection | None:
    """Why a task must not count: too much of what its fix turns is unstable. None where enough is left.

    Of the tests that the fix turns from failing to passing in plain runs, more must be stable than not. What a few
    unstable ones leave still tells a fix from none; where half or more are unstable, the rest tests something else than
    what was fixed.
    """
    changing = {test_id for state in STATES for test_id in ids.changing([run for run in runs if run.state == state])}
    called = {_names(test_id, changing) for test_id in proof.flaky}
    turned = [names for names in called if _are_turned(names, runs, blamed)]
    lost = sum(max(len(names & run.statuses.keys()) for run in runs if run.state == "after") for names in turned)
    if len(proof.fail_to_pass) > lost:
        return None
    if not proof.fail_to_pass and not proof.flaky:
        return rejection("no_fail_to_pass", "no test fails every time before the fix and passes every time after it")
    of = f"{lost} of {lost + len(proof.fail_to_pass)} tests that the fix makes pass are unstable"
    names_turned = frozenset[str]().union(*turned) or proof.flaky
    return rejection(UNSTABLE, f"{of if lost else 'unstable'}: {summary(names_turned, blamed.causes)}")


def _names(test_id: str, changing: Collection[str]) -> frozenset[str]:
    """What a test is called in one run or another: of a function whose ids change from run to run, all that change."""
    if test_id not in changing:
        return frozenset({test_id})
    return frozenset(name for name in changing if function(name) == function(test_id))


def _are_turned(names: frozenset[str], observed: Sequence[ObservedRun], blamed: Blamed) -> bool:
    """Whether a test of these names passes in some run with the fix, and without it in none that counts against that.

    A plain run can; a varied one only where it is not known that just the variation made the test pass. Where their
    file was lost without the fix, the tree as it was tells whether they passed. One that was in that tree and differs
    by chance has to pass with the fix more often than chance explains: it need not have to do with the fix.
    """
    causes = {blamed.causes.get(name) for name in names}
    by_chance = bool(causes & {None, Cause.RANDOM, Cause.UNKNOWN})
    files = {name.partition("::")[0] for name in names}
    lost = any(files & run.collect_errors.keys() for run in observed if run.state == "before")
    without = ("before", "base") if lost else ("before",)
    before = [run for run in observed if run.state in without and (by_chance or run.variation.is_plain)]
    after = [run for run in observed if run.state == "after"]
    passes, against = (sum(bool(passed(run) & names) for run in runs) for runs in (after, before))
    if not passes or against:
        return False
    was_there = any(names & run.statuses.keys() for run in observed if run.state == "base")
    return not (by_chance and was_there) or _by_luck(passes, len(after), len(before)) <= _CHANCE


def _by_luck(passes: int, after: int, before: int) -> float:
    """How likely all passes fall on runs with the fix where it has no part in them: Fisher's exact test, one-sided."""
    return comb(after, passes) / comb(after + before, passes)


def summary(tests: Collection[str], causes: Mapping[str, Cause]) -> str:
    """Some of these tests with what they depend on, for a person."""
    ordered = sorted(tests)
    words = [f"{test_id} ({causes.get(test_id, Cause.UNKNOWN)})" for test_id in ordered[:_NAMED]]
    more = len(ordered) - len(words)
    return ", ".join(words) + (f" and {more} more" if more else "")


def counted(tests: Collection[str], causes: Mapping[str, str]) -> dict[str, int]:
    """How many of these tests depend on what, commonest first."""
    return dict(Counter(str(causes.get(test, Cause.UNKNOWN)) for test in sorted(tests)).most_common())


def _is_besides(run: ObservedRun, runs: Sequence[ObservedRun], variation: Variation) -> bool:
    """Whether the tests that the fix turns had this run as it was asked for: then `evidence.price` tells of it."""
    return not run.only and any(
        other.only and (other.state, other.number, other.variation) == (run.state, run.number, variation)
        for other in runs
    )


def disproved(blamed: Blamed, flaky: Collection[str]) -> Blamed:
    """What was found out, less what runs as evaluation does them have disproved: a flaky test is not sensitive."""
    causes = {
        test_id: Cause.RANDOM if cause in PINNED and test_id in flaky else cause
        for test_id, cause in blamed.causes.items()
    }
    return replace(blamed, causes=causes)


def sensitivity(proof: Proof) -> dict[str, Any] | None:
    """`quality.sensitive` of task.yaml: how many listed tests hang on what evaluation pins.

    None where no run was varied, so that nobody knows.
    """
    if not any(proof.evidence.get("schedule", ())):
        return None
    causes: Mapping[str, str] = proof.evidence.get("sensitive", {})
    fails = sum(test_id in causes for test_id in proof.fail_to_pass)
    return {
        "share": round(fails / len(proof.fail_to_pass), 3) if proof.fail_to_pass else None,
        "fail_to_pass": fails,
        "pass_to_pass": sum(test_id in causes for test_id in proof.pass_to_pass),
        "by": counted(causes, causes),
    }


def stability_evidence(
    runs: Sequence[ObservedRun],
    blamed: Blamed,
    repeats: Repeats,
    variations: Sequence[Variation],
    *,
    listed: Collection[str] = (),
) -> dict[str, Any]:
    """What evidence says of the runs: how often, how sure that makes, what they differed in, what depends on what.

    `variations` is how each run was to differ, by number; `listed` are the ids of FAIL_TO_PASS and PASS_TO_PASS.
    """
    return {
        "confidence": repeats.confidence,
        "bound": round(repeats.bound, 4),
        "schedule": [variation.varied() for variation in variations],
        "not_varied": [
            {"run": run.number, "state": run.state}
            for run in runs
            if run.variation != variations[run.number] and not _is_besides(run, runs, variations[run.number])
        ],
        "causes": {test_id: cause.value for test_id, cause in blamed.causes.items()},
        "sensitive": {test_id: blamed.causes[test_id].value for test_id in sorted(blamed.sensitive & set(listed))},
        "further_runs": blamed.runs,
    }
