"""What instability means for a task, and what is kept of it. Pure."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from miner.proof.blame import passed
from miner.proof.subject import rejection
from miner.proof.variations import Cause

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from miner.change import Rejection
    from miner.proof.blame import Blamed
    from miner.proof.judge import Proof
    from miner.proof.notebook import Observed
    from miner.proof.runs import Repeats
    from miner.proof.variations import Variation

UNSTABLE = "unstable_fail_to_pass"
_NAMED = 3


def weakened(proof: Proof, found: Sequence[Observed], blamed: Blamed) -> Rejection | None:
    """Why a task must not count: too much of what its fix turns is unstable. None where enough is left.

    Of the tests that the fix turns from failing to passing in plain runs, more must be stable than not. What a few
    unstable ones leave still tells a fix from none; where half or more are unstable, the rest tests something else than
    what was fixed.
    """
    lost = {one for one in proof.flaky if _is_turned(one, found, blamed)}
    if len(proof.fail_to_pass) > len(lost):
        return None
    if not proof.fail_to_pass and not proof.flaky:
        return rejection("no_fail_to_pass", "no test fails every time before the fix and passes every time after it")
    of = f"{len(lost)} of {len(lost) + len(proof.fail_to_pass)} tests that the fix turns are unstable"
    return rejection(UNSTABLE, f"{of if lost else 'unstable'}: {named(lost or proof.flaky, blamed.causes)}")


def _is_turned(test_id: str, found: Sequence[Observed], blamed: Blamed) -> bool:
    """Whether a test passes in some run with the fix, and without it in no run that can be held against that.

    A plain run can; a varied one only where it is not known that just the variation made the test pass.
    """
    by_chance = blamed.causes.get(test_id) in (None, Cause.RANDOM, Cause.UNKNOWN)
    before = [run for run in found if run.state == "before" and (by_chance or run.variation.is_plain)]
    after = [run for run in found if run.state == "after"]
    return any(test_id in passed(run) for run in after) and not any(test_id in passed(run) for run in before)


def named(ids: Collection[str], causes: Mapping[str, Cause]) -> str:
    """Some of these tests with what they depend on, for a person."""
    ordered = sorted(ids)
    words = [f"{one} ({causes.get(one, Cause.UNKNOWN)})" for one in ordered[:_NAMED]]
    more = len(ordered) - len(words)
    return ", ".join(words) + (f" and {more} more" if more else "")


def counted(ids: Collection[str], causes: Mapping[str, str]) -> dict[str, int]:
    """How many of these tests depend on what, commonest first."""
    return dict(Counter(str(causes.get(one, Cause.UNKNOWN)) for one in sorted(ids)).most_common())


def told(found: Sequence[Observed], blamed: Blamed, repeats: Repeats, asked: Sequence[Variation]) -> dict[str, Any]:
    """What evidence says of the runs: how often, how sure that makes, what they differed in, what depends on what.

    `asked` is how each run was to differ, by number.
    """
    return {
        "confidence": repeats.confidence,
        "bound": round(repeats.bound, 4),
        "schedule": [one.told() for one in asked],
        "not_varied": [{"run": run.number, "state": run.state} for run in found if run.variation != asked[run.number]],
        "causes": {one: cause.value for one, cause in blamed.causes.items()},
        "further_runs": blamed.runs,
    }
