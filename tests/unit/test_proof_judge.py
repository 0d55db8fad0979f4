"""From the runs of three states to a task's lists."""

from __future__ import annotations

from harness.instance import TestStatus
from miner.change import Rejection
from miner.proof import Observed, Proof, judge


def runs(state: str, *each: str, errors: dict[str, str] | None = None) -> list[Observed]:
    """One run a word; a letter is a test of that name in f.py, capital where it passes."""
    return [
        Observed(
            state=state,
            number=number,
            statuses={
                f"f.py::{letter.lower()}": TestStatus.PASSED if letter.isupper() else TestStatus.FAILED
                for letter in word
            },
            collect_errors=errors or {},
        )
        for number, word in enumerate(each)
    ]


def lists(*states: list[Observed]) -> tuple[list[str], list[str], list[str]] | str:
    proof = judge([run for state in states for run in state], runs=2)
    if isinstance(proof, Rejection):
        return proof.reason
    assert isinstance(proof, Proof)
    return tuple([name[-1] for name in names] for names in (proof.fail_to_pass, proof.pass_to_pass, proof.flaky))


def test_what_the_fix_turns_and_what_it_keeps_are_told_apart():
    assert lists(runs("base", "B", "B"), runs("before", "aB", "aB"), runs("after", "AB", "AB")) == (["a"], ["b"], [])


def test_a_test_that_passes_now_and_then_is_in_no_list():
    found = lists(runs("base", "B", "B"), runs("before", "aBc", "aBC"), runs("after", "ABC", "ABC"))
    assert found == (["a"], ["b"], ["c"])


def test_a_fix_that_works_now_and_then_makes_no_task():
    assert lists(runs("base", "", ""), runs("before", "a", "a"), runs("after", "A", "a")) == "unstable_fail_to_pass"


def test_a_fix_that_turns_nothing_makes_no_task():
    assert lists(runs("base", "A", "A"), runs("before", "A", "A"), runs("after", "A", "A")) == "no_fail_to_pass"


def test_tests_of_a_new_name_fail_before_and_older_ones_hold():
    errors = {"f.py": "ImportError: cannot import name 'x'"}
    found = lists(runs("base", "B", "B"), runs("before", "", "", errors=errors), runs("after", "AB", "AB"))
    assert found == (["a"], ["b"], [])


def test_a_file_that_is_broken_for_another_reason_makes_no_task():
    errors = {"f.py": "SyntaxError: no"}
    found = lists(runs("base", "", ""), runs("before", "", "", errors=errors), runs("after", "A", "A"))
    assert found == "not_collectable_before"
