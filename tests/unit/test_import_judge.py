"""Whether each id of a row holds here, by what the runs showed."""

from __future__ import annotations

from harness.core.instance import TestStatus
from miner.importing.judge import Holds, IdVerdict, RowRuns, hopeless, judge
from miner.proof import ObservedRun

LETTERS = {
    "P": TestStatus.PASSED,
    "F": TestStatus.FAILED,
    "S": TestStatus.SKIPPED,
    "X": TestStatus.XFAIL,
}


def seen(*, network=(), **tests: tuple[str, str]) -> RowRuns:
    """By test: its statuses before and after, a letter a run; a dot where it was not there."""

    def runs(state, place):
        count = len(next(iter(tests.values()))[place])
        return [
            ObservedRun(
                state=state,
                number=number,
                statuses={
                    f"t.py::{name}": LETTERS[letters[place][number]]
                    for name, letters in tests.items()
                    if letters[place][number] != "."
                },
                network=tuple(network),
            )
            for number in range(count)
        ]

    return RowRuns(before=runs("before", 0), after=runs("after", 1))


def fate(before: str, after: str, *, of: str = "fail_to_pass", network=()) -> IdVerdict:
    shown = seen(a=(before, after), network=network)
    judged = judge(["t.py::a"], [], shown) if of == "fail_to_pass" else judge([], ["t.py::a"], shown)
    return getattr(judged, of)[0].verdict


def test_what_the_fix_turns_every_time_holds():
    assert fate("FF", "PP") is IdVerdict.HOLDS


def test_what_was_not_there_before_holds():
    assert fate("..", "PP") is IdVerdict.HOLDS


def test_what_passes_before_as_well_does_not_hold():
    assert fate("PP", "PP") is IdVerdict.PASSES_BEFORE


def test_what_fails_with_the_fix_does_not_hold():
    assert fate("FF", "FF") is IdVerdict.FAILS_WITH_GOLD


def test_what_fails_for_want_of_a_network_is_told_apart():
    assert fate("FF", "FF", network=["t.py::a"]) is IdVerdict.NEEDS_NETWORK


def test_a_network_that_was_missed_on_the_way_to_a_pass_does_not_count():
    assert fate("FF", "PP", network=["t.py::a"]) is IdVerdict.HOLDS


def test_a_test_whose_file_misses_a_network_needs_one():
    shown = seen(b=("PP", "PP"), network=["lost.py"])
    assert judge(["lost.py::x"], [], shown).fail_to_pass[0].verdict is IdVerdict.NEEDS_NETWORK


def test_what_changes_from_run_to_run_is_flaky():
    assert fate("FF", "PF") is IdVerdict.FLAKY
    assert fate("PF", "PP") is IdVerdict.FLAKY
    assert fate("PF", "PP", of="pass_to_pass") is IdVerdict.FLAKY


def test_what_is_skipped_or_expected_to_fail_is_told_apart():
    assert fate("SS", "SS", of="pass_to_pass") is IdVerdict.SKIPPED
    assert fate("XX", "XX", of="pass_to_pass") is IdVerdict.EXPECTED_FAILURE


def test_what_passes_before_and_after_holds_on_the_other_list():
    assert fate("PP", "PP", of="pass_to_pass") is IdVerdict.HOLDS


def test_what_the_fix_turns_does_not_hold_on_the_other_list():
    assert fate("FF", "PP", of="pass_to_pass") is IdVerdict.FAILS_BEFORE


def test_an_id_that_no_run_knows_was_not_collected():
    judged = judge(["t.py::gone"], [], seen(a=("F", "P")))
    assert judged.fail_to_pass[0].verdict is IdVerdict.NOT_COLLECTED


def test_junk_is_no_id():
    assert judge([], ["[100%]"], seen(a=("F", "P"))).pass_to_pass[0].verdict is IdVerdict.NOT_AN_ID


def test_a_cut_id_holds_where_one_of_its_tests_turns_and_the_others_stand():
    judged = judge(["t.py::a["], [], seen(**{"a[ 1]": ("F", "P"), "a[ 2]": ("P", "P")}))
    assert judged.fail_to_pass[0].verdict is IdVerdict.TRUNCATED
    assert judged.graded_fail_to_pass == ("t.py::a[ 1]",)
    assert judged.graded_pass_to_pass == ("t.py::a[ 2]",)


def test_a_cut_id_does_not_hold_where_one_of_its_tests_fails_with_the_fix():
    judged = judge(["t.py::a["], [], seen(**{"a[ 1]": ("F", "P"), "a[ 2]": ("F", "F")}))
    assert judged.fail_to_pass[0].verdict is IdVerdict.FAILS_WITH_GOLD
    assert judged.graded_fail_to_pass == ()


def test_only_what_holds_is_graded():
    shown = seen(a=("F", "P"), b=("F", "F"), c=("P", "P"), d=("P", "F"))
    judged = judge(["t.py::a", "t.py::b"], ["t.py::c", "t.py::d", "[100%]"], shown)
    assert judged.graded_fail_to_pass == ("t.py::a",)
    assert judged.graded_pass_to_pass == ("t.py::c",)


def test_an_id_on_both_lists_is_graded_once():
    judged = judge(["t.py::a"], ["t.py::a"], seen(a=("F", "P")))
    assert (judged.graded_fail_to_pass, judged.graded_pass_to_pass) == (("t.py::a",), ())


def test_a_row_holds_in_whole_in_part_or_not_at_all():
    shown = seen(a=("F", "P"), b=("F", "F"))
    assert judge(["t.py::a"], [], shown).holds is Holds.WHOLE
    assert judge(["t.py::a", "t.py::b"], [], shown).holds is Holds.PART
    assert judge(["t.py::b"], [], shown).holds is Holds.NOTHING


def test_a_row_is_hopeless_when_nothing_of_it_can_hold_any_more():
    shown = seen(a=("F", "P"), b=("F", "F"))
    assert not hopeless(["t.py::a", "t.py::b"], shown)
    assert hopeless(["t.py::b"], shown)
