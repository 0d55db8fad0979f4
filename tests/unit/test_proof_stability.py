"""What unstable tests mean for their task."""

from __future__ import annotations

from dataclasses import replace

import pytest

from harness.core.instance import TestStatus
from miner.proof import ObservedRun, Proof, Repeats, judge, stability_evidence
from miner.proof.flakiness_causes import Blamed
from miner.proof.stability import counted, weakened
from miner.proof.variations import Cause, schedule, variation


def runs(state, *each, varied=True):
    """One run a word; a letter is a test of that name, capital where it passes."""
    return [
        ObservedRun(
            state=state,
            number=number,
            variation=variation(number if varied else 0),
            statuses={one.lower(): TestStatus.PASSED if one.isupper() else TestStatus.FAILED for one in word},
        )
        for number, word in enumerate(each)
    ]


def proof_of(found, unstable=(), *, keep=True):
    return judge(found, runs=2, unstable=unstable, keep=keep)


def weakness(*states, unstable=(), cause=Cause.ORDER):
    found = [run for state in states for run in state]
    proof = proof_of(found, unstable)
    assert isinstance(proof, Proof), proof
    blamed = Blamed(causes=dict.fromkeys(proof.flaky, cause))
    rejection = weakened(proof, found, blamed)
    return rejection and (rejection.reason, rejection.detail)


def test_what_is_unstable_in_any_state_is_in_no_list():
    found = [*runs("base", "BCD", "bCD"), *runs("before", "aBCD", "aBcD"), *runs("after", "ABCD", "ABCD")]
    proof = proof_of(found, unstable={"d"})
    assert (proof.fail_to_pass, proof.pass_to_pass, proof.flaky) == (("a",), (), ("b", "c", "d"))


def test_a_task_stands_where_more_of_what_the_fix_turns_is_stable_than_not():
    assert weakness(runs("before", "abc", "abc"), runs("after", "ABC", "ABc")) is None


@pytest.mark.parametrize(("before", "after", "lost"), [("ab", "Ab", "1 of 2"), ("a", "a", "1 of 1")])
def test_a_task_falls_where_half_of_what_the_fix_turns_is_unstable(before, after, lost):
    whole = after.upper()
    reason, detail = weakness(runs("before", before, before), runs("after", whole, after))
    assert reason == "unstable_fail_to_pass"
    assert detail.startswith(f"{lost} tests that the fix makes pass are unstable: ")
    assert "(order)" in detail


def test_an_unstable_test_that_the_fix_does_not_turn_weighs_nothing():
    assert weakness(runs("before", "aBCD", "aBCD"), runs("after", "ABCD", "Abcd")) is None


@pytest.mark.parametrize(("cause", "counts"), [(Cause.TIMEZONE, True), (Cause.RANDOM, False)])
def test_a_pass_without_the_fix_weighs_unless_the_variation_explains_it(cause, counts):
    found = weakness(runs("before", "ab", "aB"), runs("after", "AB", "Ab"), cause=cause)
    assert (found is not None) is counts


@pytest.mark.parametrize(("there", "counts"), [("b", False), ("", True)])
def test_a_test_that_fails_now_and_then_and_was_there_before_need_not_have_to_do_with_the_fix(there, counts):
    states = (runs("base", there, there, there), runs("before", *["ab"] * 3), runs("after", "AB", "Ab", "Ab"))
    assert (weakness(*states, cause=Cause.RANDOM) is not None) is counts


@pytest.mark.parametrize(("passes", "counts"), [(4, False), (5, True)])
def test_one_that_was_there_counts_where_it_passes_more_often_than_chance_explains(passes, counts):
    after = ["AB"] * passes + ["Ab"] * (10 - passes)
    found = weakness(runs("base", "b"), runs("before", *["ab"] * 8), runs("after", *after), cause=Cause.RANDOM)
    assert (found is not None) is counts


def called(state, *each):
    """One run a word: the parameter that a table has in it; its test passes where the word is capital."""
    return [
        ObservedRun(
            state=state,
            number=number,
            variation=variation(number),
            statuses={
                f"t.py::test_now[{number}-{state}]": TestStatus.PASSED if word == "Table" else TestStatus.FAILED,
                "t.py::test_fix": TestStatus.PASSED if state == "after" else TestStatus.FAILED,
            },
        )
        for number, word in enumerate(each)
    ]


def test_a_table_with_the_time_in_its_ids_is_not_turned_where_it_passes_without_the_fix():
    assert weakness(called("before", "Table", "Table"), called("after", "Table", "Table"), cause=Cause.RANDOM) is None


def test_a_table_with_the_time_in_its_ids_counts_once_where_the_fix_turns_it():
    _, detail = weakness(called("before", "table", "table"), called("after", "Table", "Table"), cause=Cause.RANDOM)
    assert detail.startswith("1 of 2 tests that the fix makes pass are unstable: ")


def test_a_table_whose_file_was_lost_without_the_fix_is_not_turned_where_it_passed_as_it_was():
    lost = [
        ObservedRun(
            state="before",
            number=number,
            variation=variation(number),
            statuses={},
            collect_errors={"t.py": "cannot import name 'new'"},
        )
        for number in range(2)
    ]
    found = [*called("base", "Table", "Table"), *lost, *called("after", "Table", "Table")]
    flaky = tuple({one for run in found for one in run.statuses if "test_now" in one})
    proof = replace(proof_of(runs("before", "a", "a") + runs("after", "A", "A")), flaky=flaky)
    assert weakened(proof, found, Blamed(causes=dict.fromkeys(flaky, Cause.RANDOM))) is None


def test_without_a_stable_test_nothing_is_kept_unless_it_is_asked_for():
    found = [*runs("before", "a", "a"), *runs("after", "A", "a")]
    assert proof_of(found, keep=False).reason == "unstable_fail_to_pass"
    assert proof_of(found).fail_to_pass == ()


def test_budgets_and_golds_time_come_from_runs_at_full_speed():
    found = [
        *runs("before", "a", "a"),
        *(
            ObservedRun(
                state="after",
                number=number,
                variation=variation(number),
                statuses={"a": TestStatus.PASSED},
                seconds=seconds,
            )
            for number, seconds in enumerate((10.0, 30.0, 11.0))
        ),
    ]
    proof = proof_of(found)
    assert (proof.evidence["gold_seconds"], proof.budgets.seconds) == (11.0, 110.0)


def test_evidence_says_how_often_how_sure_and_in_what_the_runs_differed():
    found = [*runs("before", "a", "a"), *runs("after", "A", "A", varied=False)]
    blamed = Blamed(causes={"a": Cause.TIMEZONE}, runs=6)

    evidence = stability_evidence(found, blamed, Repeats(runs=2), schedule(2))

    assert (evidence["confidence"], evidence["bound"]) == (0.95, 0.7764)
    assert evidence["schedule"][0] == {}
    assert evidence["schedule"][1]["timezone"] == "Pacific/Kiritimati"
    assert evidence["not_varied"] == [{"run": 1, "state": "after"}]
    assert (evidence["causes"], evidence["further_runs"]) == ({"a": "timezone"}, 6)


def test_unstable_tests_are_counted_by_what_they_hang_on():
    assert counted(["a", "b", "c"], {"a": "order", "c": "order"}) == {"order": 2, "unknown": 1}
