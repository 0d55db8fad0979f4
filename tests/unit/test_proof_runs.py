"""How many runs a proof has."""

from __future__ import annotations

import pytest

from harness.core.errors import InputError
from miner.proof.runs import repeats


def test_a_bound_asks_for_as_many_clean_runs_as_the_rule_of_three_says():
    assert repeats(flake_bound=0.05, confidence=0.95).runs == 59


def test_a_number_of_runs_wins_over_a_bound_and_says_what_it_gives():
    found = repeats(runs=10, flake_bound=0.05)
    assert found.runs == 10
    assert found.instead_of(0.05) == (
        "--runs 10 counts, not --flake-bound 0.05: 10 clean runs say of a test, at 0.95 confidence, that it fails"
        " at most 25.9% of the time"
    )


def test_without_a_word_there_are_three_runs_that_leave_63_percent_open():
    found = repeats()
    assert (found.runs, round(found.bound, 2)) == (3, 0.63)


def test_a_bound_can_be_asked_for_at_another_confidence():
    assert repeats(flake_bound=0.05, confidence=0.99).runs == 90


@pytest.mark.parametrize(
    ("asked", "says"),
    [
        ({"runs": 0}, "--runs"),
        ({"runs": 100_000}, "--runs"),
        ({"flake_bound": 0.0}, "--flake-bound"),
        ({"flake_bound": 1.5}, "--flake-bound"),
        ({"flake_bound": float("nan")}, "--flake-bound"),
        ({"confidence": 1.0}, "--confidence"),
        ({"flake_bound": 0.0001}, "29956 runs"),
    ],
)
def test_a_number_that_makes_no_sense_is_refused_by_its_name(asked, says):
    with pytest.raises(InputError, match=says):
        repeats(**asked)
