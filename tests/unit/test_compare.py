"""Two models on the same tasks: what is compared, what is left out and why, and what is claimed."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from harness.analysis.compare import Answer, Flip, Reason, compare, compare_all, pick, pick_candidates
from harness.core.errors import InputError, NothingComparableError
from harness.core.instance import TaskState
from harness.stats import (
    difference_interval,
    mcnemar_detectable,
    mcnemar_exact,
    minimum_detectable_effect,
    needed_tasks,
    sign_flip,
)
from tests.sheets import GAP, LOST, WON, run_of, sheet, task

ID = "acme__widgets-{}".format


def test_a_candidate_that_resolves_clearly_more_is_better():
    found = compare(run_of(10, 15), run_of(25))

    assert found.answer is Answer.BETTER
    assert found.difference == pytest.approx(15 / 25)
    assert found.interval.low > 0


def test_a_candidate_that_resolves_clearly_less_is_worse():
    found = compare(run_of(25), run_of(10, 15))

    assert found.answer is Answer.WORSE
    assert found.difference == pytest.approx(-15 / 25)


def test_the_same_results_can_not_be_told_apart():
    found = compare(run_of(5, 5), run_of(5, 5))

    assert (found.answer, found.difference, found.gained, found.lost) == (Answer.CANT_TELL, 0.0, (), ())
    assert found.interval.low < 0 < found.interval.high


def test_five_flips_are_too_few_and_six_enough():
    assert compare(run_of(15, 5), run_of(20)).answer is Answer.CANT_TELL
    assert compare(run_of(14, 6), run_of(20)).answer is Answer.BETTER


def test_one_sample_a_task_is_tested_by_mcnemar():
    found = compare(run_of(10, 15), run_of(25))

    assert found.test == mcnemar_exact(15, 0)


def test_several_samples_are_tested_by_sign_flips():
    base = sheet(*(task(number, [WON, LOST, LOST, LOST]) for number in range(9)))
    candidate = sheet(*(task(number, [WON, WON, WON, LOST]) for number in range(9)))

    found = compare(base, candidate)

    assert found.test == sign_flip([0.5] * 9)
    assert found.interval == difference_interval([0.5] * 9, samples=4)


def test_models_with_different_numbers_of_samples_are_compared_by_their_rates():
    base, candidate = sheet(task(1, [WON, LOST]), task(2, [LOST])), sheet(task(1, [WON] * 4), task(2, [LOST] * 3))

    found = compare(base, candidate)

    assert found.difference == pytest.approx(0.25)
    assert found.gained == (Flip(instance_id=ID(1), base=(1, 2), candidate=(4, 4)),)


def test_ten_repositories_that_tasks_share_make_clusters():
    base = sheet(*(task(number, [LOST], repo=f"acme/r{number % 10}") for number in range(30)))
    candidate = sheet(*(task(number, [WON], repo=f"acme/r{number % 10}") for number in range(30)))

    found = compare(base, candidate)

    assert (found.repositories, found.test.informative) == (10, 10)
    assert found.test.p == pytest.approx(2 / 2**10)


def test_the_interval_holds_zero_wherever_the_exact_test_can_not_exclude_it():
    base, candidate = run_of(15, 5), run_of(20)  # 5 gained, none lost: p = 0.06, but the plain interval excludes 0

    assert difference_interval([1.0] * 5 + [0.0] * 15).low > 0
    assert compare(base, candidate).interval.low == 0.0


def test_nothing_is_claimed_where_the_interval_holds_zero():
    base = sheet(*(task(number, [WON, LOST, LOST, LOST]) for number in range(6)))
    candidate = sheet(*(task(number, [WON, WON, LOST, LOST]) for number in range(6)))

    found = compare(base, candidate)

    assert found.test.p < 0.05
    assert found.interval.holds(0)
    assert found.answer is Answer.CANT_TELL


def test_flips_are_listed_by_task():
    base = sheet(task(1, [WON]), task(2, [LOST]), task(3, [WON]))
    candidate = sheet(task(1, [LOST]), task(2, [WON]), task(3, [WON]))

    found = compare(base, candidate)

    assert [flip.instance_id for flip in found.gained] == [ID(2)]
    assert [(flip.instance_id, flip.change) for flip in found.lost] == [(ID(1), -1.0)]


@pytest.mark.parametrize(
    ("base", "candidate", "reason"),
    [
        ([task(9)], [], Reason.ONLY_IN_BASE),
        ([], [task(9)], Reason.ONLY_IN_CANDIDATE),
        ([task(9, [GAP])], [task(9)], Reason.BASE_NOT_SCORED),
        ([task(9)], [task(9, [GAP])], Reason.CANDIDATE_NOT_SCORED),
        ([task(9)], [task(9, [None])], Reason.CANDIDATE_NOT_SCORED),
        ([task(9, digest="old")], [task(9, digest="new")], Reason.TASK_CHANGED),
        ([task(9)], [task(9, state=TaskState.QUARANTINED)], Reason.SET_ASIDE),
        ([task(9, state=TaskState.RETIRED)], [task(9)], Reason.SET_ASIDE),
    ],
)
def test_a_task_that_can_not_be_compared_is_left_out_and_says_why(base, candidate, reason):
    found = compare(sheet(task(1), *base), sheet(task(1), *candidate))

    assert found.common == (ID(1),)
    assert found.left_out == {ID(9): reason}


def test_a_task_without_a_digest_is_taken_for_the_same():
    found = compare(sheet(task(1, digest="")), sheet(task(1, digest="new")))

    assert found.left_out == {}


def test_rates_are_those_of_the_common_tasks_and_coverage_that_of_the_whole():
    found = compare(sheet(task(1), task(2, [LOST]), task(3, [GAP])), sheet(task(1)))

    assert (found.base.rate.value, found.base.total) == (1.0, 1)
    assert (found.base_coverage, found.candidate_coverage) == (pytest.approx(2 / 3), 1.0)


def test_nothing_in_common_is_an_error_of_its_own():
    with pytest.raises(NothingComparableError, match="1 only in base, 1 only in candidate") as caught:
        compare(sheet(task(1)), sheet(task(2)))

    assert caught.value.exit_code == 3


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"dataset": "gadgets"}, "two datasets: widgets and gadgets"),
        ({"dataset_version": 2}, "versions 1 and 2"),
        ({"grading_version": 3}, "other rules"),
        ({"demands": {"timeout": 60.0}}, "withstand"),
    ],
)
def test_runs_that_differ_in_more_than_the_model_are_warned_of(changed, words):
    found = compare(run_of(3), replace(run_of(3), **changed))

    assert len(found.warnings) == 1
    assert words in found.warnings[0]


def test_runs_that_are_alike_have_no_warning():
    assert compare(run_of(3), run_of(3)).warnings == ()


def test_with_one_sample_the_smallest_visible_difference_is_mcnemars():
    found = compare(run_of(10, 10), run_of(14, 6))

    assert found.smallest_visible == mcnemar_detectable(tasks=20, flipping=4 / 20)


def test_models_that_agree_are_taken_to_flip_on_two_tasks():
    assert compare(run_of(10, 10), run_of(10, 10)).smallest_visible == mcnemar_detectable(tasks=20, flipping=2 / 20)


def test_too_few_tasks_see_nothing():
    assert compare(run_of(3), run_of(3)).smallest_visible == 1.0


def test_with_several_samples_the_smallest_visible_difference_comes_from_the_spread():
    base = sheet(*(task(number, [WON, LOST]) for number in range(20)))
    candidate = sheet(*(task(number, [WON, WON] if number % 2 else [LOST, LOST]) for number in range(20)))
    variance = 0.25 * 20 / 19

    assert compare(base, candidate).smallest_visible == pytest.approx(
        minimum_detectable_effect(tasks=20, samples=1, between=variance, within=0)
    )


def test_what_it_takes_to_tell_is_said_in_tasks():
    found = compare(run_of(20, 20), run_of(24, 16))
    variance = 0.1 * 0.9 * 40 / 39  # of four gains in forty tasks

    assert found.answer is Answer.CANT_TELL
    assert found.tasks_needed == needed_tasks(0.1, variance)


def test_no_difference_needs_no_number_of_tasks():
    assert compare(run_of(5, 5), run_of(5, 5)).tasks_needed is None


@pytest.mark.parametrize("tasks", [6, 10, 40, 300])
@pytest.mark.parametrize("flips", [1, 2, 5])
def test_more_tasks_than_there_are_are_needed_while_it_can_not_be_told(tasks, flips):
    found = compare(run_of(tasks - flips, flips), run_of(tasks))

    assert found.answer is Answer.CANT_TELL
    assert found.tasks_needed > tasks


def test_more_samples_help_where_luck_is_what_blurs():
    base = sheet(*(task(number, [WON, LOST, LOST, WON]) for number in range(40)))
    candidate = sheet(
        *(task(number, [WON] * (1, 2, 3, 3)[number % 4] + [LOST] * (3, 2, 1, 1)[number % 4]) for number in range(40))
    )

    found = compare(base, candidate)

    assert found.answer is Answer.CANT_TELL
    assert found.samples_needed > 4


def test_one_sample_does_not_tell_how_many_it_takes():
    assert compare(run_of(20, 20), run_of(24, 16)).samples_needed is None


def test_several_candidates_pay_for_it_by_holm():
    base = run_of(14, 6)
    found = compare_all(base, [run_of(20, model="six"), run_of(14, 6, model="none")])

    assert [round(one.test.p, 6) for one in found] == [0.03125, 1.0]
    assert [one.p_adjusted for one in found] == [pytest.approx(0.0625), 1.0]
    assert found[0].answer is Answer.CANT_TELL


def test_one_candidate_pays_nothing():
    [found] = compare_all(run_of(14, 6), [run_of(20)])

    assert found.p_adjusted == found.test.p


def test_the_only_model_of_a_run_is_meant_gold_and_null_aside():
    sheets = [run_of(1, model=name) for name in ("gold", "mine", "null")]

    assert pick(sheets, None).model == "mine"
    assert pick(sheets, "gold").model == "gold"
    assert pick(sheets[:1], None).model == "gold"


def test_several_models_have_to_be_told_apart():
    with pytest.raises(InputError, match="several models: a, b"):
        pick([run_of(1, model="a"), run_of(1, model="b")], None)


def test_a_model_that_is_not_there_is_told_with_those_there_are():
    with pytest.raises(InputError, match="no model 'c'") as caught:
        pick([run_of(1, model="a"), run_of(1, model="b")], "c")

    assert "a, b" in caught.value.hint


def test_a_run_without_models_is_told():
    with pytest.raises(InputError, match="no prediction"):
        pick([], None)


def test_all_other_models_of_the_runs_are_candidates():
    base, other, gold = run_of(1, model="a"), run_of(1, model="b"), run_of(1, model="gold")

    assert pick_candidates([[base, gold, other]], [], base=base) == (other,)


def test_gold_is_a_candidate_where_there_is_nothing_else():
    base, gold = run_of(1, model="a"), run_of(1, model="gold")

    assert pick_candidates([[base, gold]], [], base=base) == (gold,)


def test_the_same_model_in_another_run_is_a_candidate():
    base = run_of(1, model="a")
    again = replace(base, run=Path("later"))

    assert pick_candidates([[again]], [], base=base) == (again,)


def test_candidates_can_be_named():
    sheets = [run_of(1, model=name) for name in ("a", "b", "c")]

    assert [one.model for one in pick_candidates([sheets], ["c", "b"], base=sheets[0])] == ["b", "c"]
    with pytest.raises(InputError, match="has a model 'z'"):
        pick_candidates([sheets], ["z"], base=sheets[0])


def test_a_run_is_not_compared_with_itself():
    base = run_of(1, model="a")

    with pytest.raises(InputError, match="nothing to compare"):
        pick_candidates([[base]], [], base=base)
