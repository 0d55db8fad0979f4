"""The second try: what fails today, or will fail another day, may be sound on the date of its fix.

A subject is proved on real time first. Only where a frozen clock could change the answer is it tried: by one run, or by
what varied runs have shown already. Where that run differs, the whole proof is done again with the clock at the date of
the fix, and the better proof is kept.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from harness.core import clock
from harness.sandbox.job import Sandbox
from miner.proof.flakiness_causes import passed
from miner.proof.judge import Proof
from miner.proof.notebook import Notebook, ObservedRun, State
from miner.proof.observe import observe
from miner.proof.subject import Subject, prepare
from miner.proof.variations import PLAIN, Cause
from miner.sources.change import Rejection

CURABLE = frozenset({"gold_fails", "exits", "no_fail_to_pass", "unstable_fail_to_pass", "not_collectable_before"})
"""Reasons of a rejection that another date could take away."""


Attempt = Callable[[Subject], Proof | Rejection]
"""Proves a subject, or says why there is no proof."""


@dataclass(frozen=True, kw_only=True)
class Settled:
    """What the proof came to, and on which clock."""

    proof: Proof | Rejection
    subject: Subject
    """As it was proved: `test.clock` is set where the tests need it."""


def settle(
    subject: Subject,
    *,
    merged: str,
    attempt: Attempt,
    sandbox: Sandbox,
    notebook_of: Callable[[Subject], Notebook],
    can_fake: Callable[[str], bool],
) -> Settled:
    """Prove a subject on real time and, where that may help, with the clock at the date of the fix.

    `merged` is that date, ISO 8601; `can_fake` tells whether an image can give its tests a clock. A subject that has a
    clock already is only proved.

    Raises:
        InfrastructureError: the engine failed; nothing is said of the subject.

    """
    first = attempt(subject)
    today = Settled(proof=first, subject=subject)
    if subject.test.clock or (isinstance(first, Rejection) and first.reason not in CURABLE):
        return today
    try:
        then = replace(subject, test=replace(subject.test, clock=clock.checked(merged)))
    except ValueError:
        return today
    runs = notebook_of(subject).runs
    if not can_fake(subject.image) or not _matters(first, runs, then, sandbox, notebook_of(then)):
        return today
    second = attempt(then)
    if isinstance(second, Rejection) or not is_better(second, first):
        return today
    fields = {"clock": {"at": then.test.clock, **_why(second, first, runs)}}
    return Settled(proof=replace(second, evidence={**second.evidence, **fields}), subject=then)


def _matters(
    first: Proof | Rejection, runs: tuple[ObservedRun, ...], then: Subject, sandbox: Sandbox, notebook: Notebook
) -> bool:
    """Whether a test's result differs on the date of the fix: by one run at most."""
    if dated(runs):
        return True
    after, before = plain(runs, "after"), plain(runs, "before")
    if after is None or after.trouble:
        return False
    if after.failing - after.offline:
        observed = _look(then, "after", sandbox, notebook)
        return observed is not None and bool(passed(observed) - ever_passed(runs, "after"))
    if isinstance(first, Rejection) and before is not None and not before.trouble:
        observed = _look(then, "before", sandbox, notebook)
        return observed is not None and bool((passed(before) & passed(after)) - passed(observed))
    return False


def dated(runs: tuple[ObservedRun, ...]) -> frozenset[str]:
    """Ids whose result differed in a run varied in its date alone, every time that such a run was done."""
    dated_ids: frozenset[str] = frozenset()
    for state in ("after", "before", "base"):
        first = plain(runs, state)
        moved = [
            run for run in runs if run.state == state and not run.trouble and run.variation.causes == (Cause.CLOCK,)
        ]
        if first is not None and moved:
            dated_ids |= frozenset.intersection(*(passed(first) ^ passed(run) for run in moved))
    return dated_ids


def _look(then: Subject, state: State, sandbox: Sandbox, notebook: Notebook) -> ObservedRun | None:
    """The first run of a state on the date of the fix; the proof that may follow takes it over."""
    patches = prepare(then)
    if isinstance(patches, Rejection):
        return None
    observed = observe(then, patches, state, 0, sandbox, notebook)
    return None if observed.trouble else observed


def plain(runs: Sequence[ObservedRun], state: State) -> ObservedRun | None:
    """The first run of a state, which is as evaluation runs."""
    return next((run for run in runs if run.state == state and run.number == 0 and run.variation == PLAIN), None)


def ever_passed(runs: Sequence[ObservedRun], state: State) -> frozenset[str]:
    """The ids that passed in some run of a state."""
    return frozenset(test_id for run in runs if run.state == state for test_id in passed(run))


def is_better(second: Proof, first: Proof | Rejection) -> bool:
    """Whether a second proof holds more tests, and loses none that tell the fix from its lack."""
    if isinstance(first, Rejection) or (first.set_aside and not second.set_aside):
        return second.set_aside is None
    lists = [{*proof.fail_to_pass, *proof.pass_to_pass} for proof in (first, second)]
    holds_all = set(first.fail_to_pass) <= set(second.fail_to_pass)
    return holds_all and second.set_aside is None and len(lists[1] - lists[0]) > len(lists[0] - lists[1])


def _why(second: Proof, first: Proof | Rejection, runs: tuple[ObservedRun, ...]) -> dict[str, object]:
    """What the task would be without its clock, and which of its tests need it."""
    listed = {*second.fail_to_pass, *second.pass_to_pass}
    if not isinstance(first, Rejection):
        needed = listed - {*first.fail_to_pass, *first.pass_to_pass}
        needed |= {test_id for test_id in second.fail_to_pass if test_id not in first.fail_to_pass}
        return {"without": "set_aside" if first.set_aside else "fewer_tests", "needed_by": sorted(needed)}
    after, before = plain(runs, "after"), plain(runs, "before")
    well = passed(after) if after else frozenset()
    early = passed(before) if before else frozenset()
    needed = (listed - well) | (set(second.fail_to_pass) & early) | (listed & dated(runs))
    return {"without": first.reason, "needed_by": sorted(needed)}
