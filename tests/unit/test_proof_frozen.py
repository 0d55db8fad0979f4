"""When a proof is tried again on the date of its fix, and which of the two proofs is kept."""

from __future__ import annotations

from dataclasses import replace

import pytest

from harness.core.instance import Budgets, TestSpec, TestStatus
from miner.proof import Notebook, ObservedRun, Proof, Subject
from miner.proof.proof_at_fix_date import settle
from miner.proof.subject import rejection
from miner.proof.variations import Variation
from tests import tiny

MERGED = "2021-05-03T12:00:00Z"
SUBJECT = Subject(
    instance_id="tiny__calc-1",
    image=tiny.NO_IMAGE,
    test=TestSpec(),
    test_files=(tiny.TESTS,),
    gold_patch=tiny.GOLD.encode(),
    test_patch=tiny.diff(tiny.TESTS, tiny.BASE_TESTS, tiny.HIDDEN_TESTS).encode(),
)
BEFORE = replace(SUBJECT, test=TestSpec(clock="2020-01-01T00:00:00Z"))
THEN = replace(SUBJECT, test=TestSpec(clock=MERGED))


def proof(fails, holds=(), **more):
    return Proof(fail_to_pass=fails, pass_to_pass=holds, flaky=(), budgets=Budgets(), evidence={"runs": 3}, **more)


def saw(state, passed=(), failed=(), **more):
    statuses = {**dict.fromkeys(passed, TestStatus.PASSED), **dict.fromkeys(failed, TestStatus.FAILED)}
    return ObservedRun(state=state, number=more.pop("number", 0), statuses=statuses, **more)


class Bench:
    """Two answers, and what stands in the notebook; remembers which subjects were proved. No run is ever done."""

    def __init__(self, folder, *, now, then=None, runs=(), runs_then=()):
        self.path = folder / "notes.jsonl"
        self.answers = {None: now, BEFORE.test.clock: now, MERGED: then}
        self.proved = []
        for subject, seen in ((SUBJECT, runs), (BEFORE, runs), (THEN, runs_then)):
            for run in seen:
                self.notebook(subject).add(run)

    def notebook(self, subject):
        return Notebook(self.path, subject)

    def attempt(self, subject):
        self.proved.append(subject.test.clock)
        return self.answers[subject.test.clock]

    def settle(self, subject=SUBJECT, *, merged=MERGED, can_fake=True):
        return settle(
            subject,
            merged=merged,
            attempt=self.attempt,
            sandbox=None,
            notebook_of=self.notebook,
            can_fake=lambda image: can_fake,
        )


GOLD_FAILS = rejection("gold_fails")
NO_F2P = rejection("no_fail_to_pass")


def test_what_fails_today_and_passes_on_its_date_is_proved_with_a_clock(tmp_path):
    runs, then = [saw("after", failed=["f", "p"])], [saw("after", ["f", "p"])]
    bench = Bench(tmp_path, now=GOLD_FAILS, then=proof(("f",), ("p",)), runs=runs, runs_then=then)

    settled = bench.settle()

    assert settled.subject.test.clock == MERGED
    assert settled.proof.evidence == {
        "runs": 3,
        "clock": {"at": MERGED, "without": "gold_fails", "needed_by": ["f", "p"]},
    }


def test_one_run_on_the_date_that_changes_nothing_ends_the_matter(tmp_path):
    seen = [saw("after", ["p"], ["f"])]
    bench = Bench(tmp_path, now=NO_F2P, then=proof(("f",)), runs=seen, runs_then=seen)

    assert bench.settle().proof is NO_F2P
    assert bench.proved == [None]


def test_a_bug_that_showed_only_on_its_date_is_looked_for_before_the_fix(tmp_path):
    runs, then = [saw("after", ["f"]), saw("before", ["f"])], [saw("before", failed=["f"])]
    bench = Bench(tmp_path, now=NO_F2P, then=proof(("f",)), runs=runs, runs_then=then)

    assert bench.settle().proof.evidence["clock"]["needed_by"] == ["f"]


def test_a_proof_gains_the_tests_that_need_its_date(tmp_path):
    runs, then = [saw("after", ["f", "p"], ["q"])], [saw("after", ["f", "p", "q"])]
    bench = Bench(tmp_path, now=proof(("f",), ("p",)), then=proof(("f",), ("p", "q")), runs=runs, runs_then=then)

    settled = bench.settle()

    assert settled.proof.pass_to_pass == ("p", "q")
    assert settled.proof.evidence["clock"] == {"at": MERGED, "without": "fewer_tests", "needed_by": ["q"]}


def test_a_proof_on_the_date_that_loses_a_test_of_the_fix_is_not_taken(tmp_path):
    runs, then = [saw("after", ["f", "g"], ["q"])], [saw("after", ["f", "q"])]
    first = proof(("f", "g"))
    bench = Bench(tmp_path, now=first, then=proof(("f", "q", "r")), runs=runs, runs_then=then)

    assert bench.settle().proof is first


def test_a_proof_on_the_date_that_loses_as_many_tests_as_it_gains_is_not_taken(tmp_path):
    runs, then = [saw("after", ["f", "p"], ["q"])], [saw("after", ["f", "q"], ["p"])]
    first = proof(("f",), ("p",))
    bench = Bench(tmp_path, now=first, then=proof(("f",), ("q",)), runs=runs, runs_then=then)

    assert bench.settle().proof is first


def test_a_sound_proof_whose_tests_all_pass_costs_no_further_run(tmp_path):
    first = proof(("f",))
    bench = Bench(tmp_path, now=first, runs=[saw("after", ["f"]), saw("before", failed=["f"])])

    assert bench.settle().proof is first
    assert bench.proved == [None]


def test_what_fails_for_want_of_a_network_is_not_tried_on_another_date(tmp_path):
    first = proof(("f",))
    bench = Bench(tmp_path, now=first, runs=[saw("after", ["f"], ["web"], network=("web",))])

    assert bench.settle().proof is first


def test_what_passes_today_and_not_in_a_year_gets_the_clock_of_its_date(tmp_path):
    unstable = rejection("unstable_fail_to_pass")
    later = [saw("after", failed=["f"], number=number, variation=Variation(clock_days=366)) for number in (1000, 1001)]
    bench = Bench(tmp_path, now=unstable, then=proof(("f",)), runs=[saw("after", ["f"]), *later])

    assert bench.settle().proof.evidence["clock"]["needed_by"] == ["f"]


def test_what_differs_in_some_runs_of_another_date_only_is_chance(tmp_path):
    unstable = rejection("unstable_fail_to_pass")
    later = [
        saw("after", passed, number=number, variation=Variation(clock_days=366))
        for number, passed in ((1000, []), (1001, ["f"]))
    ]
    bench = Bench(tmp_path, now=unstable, then=proof(("f",)), runs=[saw("after", ["f"]), *later])

    assert bench.settle().proof is unstable


def test_a_task_set_aside_counts_again_where_its_date_makes_it_stable(tmp_path):
    first = proof((), ("p", "q"), set_aside=rejection("unstable_fail_to_pass"))
    later = saw("after", failed=["f"], number=1000, variation=Variation(clock_days=366))
    bench = Bench(tmp_path, now=first, then=proof(("f",), ("p",)), runs=[saw("after", ["f"]), later])

    assert bench.settle().proof.evidence["clock"]["without"] == "set_aside"


@pytest.mark.parametrize(
    "asked",
    [{"can_fake": False}, {"merged": "some day"}, {"merged": "1970-01-01T00:00:00Z"}, {"subject": BEFORE}],
    ids=["an image without libfaketime", "no date", "a date before all clocks", "a clock already"],
)
def test_there_is_no_second_try_with(asked, tmp_path):
    runs = [saw("after", failed=["f"])]
    bench = Bench(tmp_path, now=GOLD_FAILS, then=GOLD_FAILS, runs=runs, runs_then=[saw("after", ["f"])])

    assert bench.settle(**asked).proof is GOLD_FAILS
    assert len(bench.proved) == 1


@pytest.mark.parametrize("reason", ["timeout", "gold_does_not_apply", "gold_refused"])
def test_a_reason_that_no_date_takes_away_ends_it(reason, tmp_path):
    bench = Bench(tmp_path, now=rejection(reason), runs=[saw("after", failed=["f"])])

    assert bench.settle().proof.reason == reason
    assert bench.proved == [None]


def test_a_second_try_that_proves_nothing_leaves_the_first_reason(tmp_path):
    runs, then = [saw("after", failed=["f"])], [saw("after", ["f"])]
    bench = Bench(tmp_path, now=GOLD_FAILS, then=NO_F2P, runs=runs, runs_then=then)

    assert bench.settle().proof is GOLD_FAILS


def test_the_runs_on_a_date_are_other_runs_than_those_on_real_time():
    assert THEN.key() != SUBJECT.key()
