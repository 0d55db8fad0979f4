"""A judge's reply is read strictly, and held against the tests in figures that can be checked by hand."""

from __future__ import annotations

import pytest

from harness.solve.judge.agreement import Case, Grade, Order, read, tally
from harness.stats import wilson

CORRECT, INCORRECT, UNREADABLE = Grade.CORRECT, Grade.INCORRECT, Grade.UNREADABLE


@pytest.mark.parametrize(
    ("text", "grade"),
    [
        ('{"verdict": "correct", "reason": "fine"}', CORRECT),
        ('\n {"reason": "no", "verdict": "INCORRECT"} \n', INCORRECT),
        ('```json\n{"verdict": "correct"}\n```', CORRECT),
        ("It handles all cases.\n\nVERDICT: CORRECT", CORRECT),
        ("verdict: incorrect", INCORRECT),
        ("", UNREADABLE),
        ("The patch is correct.", UNREADABLE),
        ("correct", UNREADABLE),
        ('{"verdict": "mostly correct"}', UNREADABLE),
        ('{"verdict": true}', UNREADABLE),
        ('{"verdict": "correct", "verdict": "incorrect"}', UNREADABLE),
        ('{"verdict": "correct"} {"verdict": "incorrect"}', UNREADABLE),
        ('{"verdict": "correct"', UNREADABLE),
        ('I say: {"verdict": "correct"}', UNREADABLE),
        ("VERDICT: CORRECT\nVERDICT: INCORRECT", UNREADABLE),
        ("VERDICT: CORRECT\nbut I am not sure", UNREADABLE),
        ("VERDICT: CORRECTISH", UNREADABLE),
        ("[" * 100_000, UNREADABLE),
        ('{"a":' * 100_000, UNREADABLE),
    ],
)
def test_a_reply_is_read_strictly_and_never_guessed_at(text, grade):
    assert read(text).grade is grade


def test_the_reason_is_kept():
    assert read('{"verdict": "incorrect", "reason": "off by one"}').reason == "off by one"
    assert read("It is off by one.\nVERDICT: INCORRECT").reason == "It is off by one."


def cases(model: str, rows: list[tuple[bool, Grade | None]], *, word: str = "tests_failed") -> list[Case]:
    """One task a row: what the tests say, and what the judge says."""
    return [
        Case(
            model=model,
            instance_id=f"t{number}",
            resolved=resolved,
            failure_class=None if resolved else word,
            grade=grade,
        )
        for number, (resolved, grade) in enumerate(rows)
    ]


ROWS = [(True, CORRECT)] * 6 + [(True, INCORRECT)] * 2 + [(False, CORRECT)] * 3 + [(False, INCORRECT)] * 9


def test_the_matrix_counts_what_the_tests_and_the_judge_say():
    rows = [*ROWS, (True, UNREADABLE), (False, UNREADABLE), (False, UNREADABLE), (False, None)]
    matrix = tally(cases("m", rows)).all.matrix
    assert (matrix.right_passed, matrix.right_rejected, matrix.right_unreadable) == (6, 2, 1)
    assert (matrix.wrong_passed, matrix.wrong_rejected, matrix.wrong_unreadable) == (3, 9, 2)
    assert (matrix.judged, matrix.unasked) == (20, 1)


def test_what_is_waved_through_and_turned_away_has_an_interval():
    found = tally(cases("m", ROWS)).all
    assert (found.waved_through.value, found.waved_through.interval) == (0.25, wilson(3, 12))
    assert (found.turned_away.value, found.turned_away.interval) == (0.25, wilson(2, 8))
    assert found.agreement.value == 0.75


def test_what_cannot_be_read_counts_for_neither_side():
    assert tally(cases("m", [*ROWS, *[(False, UNREADABLE)] * 5])).all.waved_through.patches == 12


def test_samples_of_one_task_count_as_one_task():
    many = [Case(model="m", instance_id="t0", resolved=False, grade=CORRECT)] * 10 + [
        Case(model="m", instance_id="t1", resolved=False, grade=INCORRECT)
    ]
    found = tally(many).all.waved_through
    assert (found.value, found.patches, found.tasks) == (0.5, 11, 2)


def test_kappa_is_cohens():
    # (15/20 - 0.51) / (1 - 0.51), where chance agrees on 8/20 * 9/20 + 12/20 * 11/20 = 0.51
    assert tally(cases("m", ROWS)).all.matrix.kappa == pytest.approx((0.75 - 0.51) / 0.49)
    assert tally(cases("m", [(True, CORRECT), (False, INCORRECT)])).all.matrix.kappa == 1
    assert tally(cases("m", [(True, CORRECT)] * 3)).all.matrix.kappa is None
    assert tally(cases("m", [(True, None)])).all.matrix.kappa is None


def test_agreement_is_told_by_how_a_patch_fails():
    rows = cases("m", [(False, CORRECT)] * 3) + cases("n", [(False, INCORRECT)] * 2, word="timeout")
    found = tally(rows).all.by_class
    assert {word: (rate.value, rate.patches) for word, rate in found.items()} == {
        "tests_failed": (1, 3),
        "timeout": (0, 2),
    }


def test_two_models_that_a_judge_ranks_the_other_way_are_told_as_flipped():
    right = cases("strong", [(True, INCORRECT)] * 6 + [(True, CORRECT)] * 2)
    wrong = cases("weak", [(False, CORRECT)] * 7 + [(True, CORRECT)])
    pair = tally(right + wrong).pairs[0]
    assert (pair.one, pair.other, pair.tasks) == ("strong", "weak", 8)
    assert (pair.by_tests, pair.by_judge) == (pytest.approx(7 / 8), pytest.approx(-6 / 8))
    assert pair.order is Order.FLIPPED
    assert pair.flips == 1 or pair.flips > 0.99
    assert tally(right + wrong).flipped == 1


@pytest.mark.parametrize(
    ("one", "other", "order"),
    [
        ([(True, CORRECT), (True, CORRECT)], [(True, CORRECT), (False, INCORRECT)], Order.SAME),
        ([(True, CORRECT), (True, CORRECT)], [(True, CORRECT), (False, CORRECT)], Order.TIE_BY_JUDGE),
        ([(True, CORRECT), (True, CORRECT)], [(True, CORRECT), (True, INCORRECT)], Order.TIE_BY_TESTS),
        ([(True, CORRECT), (False, INCORRECT)], [(False, INCORRECT), (True, CORRECT)], Order.TIE_BY_BOTH),
    ],
)
def test_ties_are_told_as_ties_and_not_as_flips(one, other, order):
    found = tally(cases("a", one) + cases("b", other))
    assert (found.pairs[0].order, found.flipped) == (order, 0)


def test_resamples_say_how_sure_a_flip_is():
    one = cases("a", [(True, INCORRECT), (True, CORRECT), (False, CORRECT), (False, INCORRECT)] * 3)
    other = cases("b", [(False, CORRECT), (True, CORRECT), (False, INCORRECT), (False, INCORRECT)] * 3)
    assert 0.1 < tally(one + other).pairs[0].flips < 0.9


def test_a_model_without_a_patch_fails_by_both():
    empty = [Case(model="a", instance_id=f"t{number}", resolved=False, empty=True) for number in range(4)]
    found = tally([*empty, *cases("b", [(True, CORRECT)] * 4)])
    assert (found.pairs[0].by_tests, found.pairs[0].by_judge) == (-1, -1)
    assert (found.models[0].matrix.empty, found.models[0].matrix.judged) == (4, 0)


def test_gold_and_null_take_part_in_no_ranking():
    rows = [case for name in ("a", "b", "gold", "null") for case in cases(name, [(True, CORRECT)])]
    found = tally(rows, unranked=frozenset({"gold", "null"}))
    assert [(pair.one, pair.other) for pair in found.pairs] == [("a", "b")]
    assert [one.model for one in found.models] == ["a", "b", "gold", "null"]


def test_tasks_that_only_one_model_has_are_in_no_comparison():
    one = cases("a", [(True, CORRECT)] * 5)
    other = cases("b", [(True, CORRECT)] * 2)
    assert tally(one + other).pairs[0].tasks == 2
    assert tally(cases("a", [(True, None)]) + other).pairs[0].flips is None
