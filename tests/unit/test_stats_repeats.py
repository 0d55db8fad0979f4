"""What clean runs say of runs to come."""

from __future__ import annotations

import pytest

from harness.stats import clean_bound, clean_runs


@pytest.mark.parametrize("runs", [1, 3, 20, 59, 1000])
def test_at_the_bound_so_many_clean_runs_are_as_likely_as_the_confidence_leaves(runs):
    assert (1 - clean_bound(runs, 0.95)) ** runs == pytest.approx(0.05)


def test_many_runs_have_the_bound_of_the_rule_of_three():
    assert clean_bound(1000) == pytest.approx(3 / 1000, rel=0.01)


def test_no_run_leaves_everything_open():
    assert clean_bound(0) == 1.0


def test_one_in_twenty_at_95_percent_takes_59_runs():
    assert clean_runs(0.05) == 59


@pytest.mark.parametrize("bound", [0.5, 0.2, 0.05, 0.01])
@pytest.mark.parametrize("confidence", [0.5, 0.9, 0.99])
def test_the_runs_for_a_bound_are_the_fewest_that_reach_it(bound, confidence):
    runs = clean_runs(bound, confidence)
    assert clean_bound(runs, confidence) <= bound < clean_bound(runs - 1, confidence)


@pytest.mark.parametrize("arguments", [(-1, 0.95), (5, 0.0), (5, 1.0)])
def test_runs_and_confidence_out_of_range_are_refused(arguments):
    with pytest.raises(ValueError, match="must"):
        clean_bound(*arguments)


@pytest.mark.parametrize("bound", [0.0, 1.0, -0.1])
def test_a_bound_out_of_range_is_refused(bound):
    with pytest.raises(ValueError, match="bound"):
        clean_runs(bound)
