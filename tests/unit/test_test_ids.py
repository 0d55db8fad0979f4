"""Test ids that are the same in every run, and reach grading as they are."""

from __future__ import annotations

import json
import random
import re

import pytest

from harness.core.instance import Hidden, TestStatus
from harness.core.test_ids import function, has_no_address, selectors, stable, stable_ids
from harness.grading.grade import listed_status
from harness.interop.rows import readable
from harness.judging import frames
from harness.languages.inside import grader
from harness.languages.python.pytest import read
from miner.importing.ids import KnownIds

NASTY = (
    "t/test_a.py::test_x[a b]",
    "t/test_a.py::test_x[a::b]",
    "t/test_a.py::test_x[[1]-]]",
    "t/test_a.py::test_x[\n\t\r]",
    "t/test_a.py::test_x[\x00\x1b[31m]",
    "t/test_a.py::test_x[\\x00\\u20ac]",
    "t/test_a.py::test_x[€ 日本 \U0001f600]",
    "t/test_a.py::test_x[\u2028\x85]",
    "t/test_a.py::test_x[]",
    "t/test_a.py::test_x[0x7f0012345678]",
    "t/test_a.py::TestB::test_x[" + "long " * 20_000 + "]",
    "t/test_a.py::TestB::()::test_x",
    "t/test at 0x7f001234.py::test_x",
    "t/test_a.py::test_loads_at_0x1G",
    "test_a.py",
    "",
)


def reported(*test_ids: str) -> dict[str, TestStatus]:
    """What one run says of these tests, all of them passed, after its frames went through the channel."""
    keys = frames.Keys(supervisor=b"s" * 32, tests=b"t" * 32)
    said = [{"t": "collected", "ids": list(test_ids)}]
    for test_id in test_ids:
        for when in ("setup", "call", "teardown"):
            text = {"id": test_id, "when": when, "outcome": "passed", "xfail": False, "seconds": 0.0, "text": ""}
            said.append({"t": "report", **text})
    lines = []
    for number, frame in enumerate(said):
        head, body = b"t%d" % number, json.dumps(frame).encode("ascii")
        lines.append(head + b" " + frames.sign(keys.tests, head, body) + b" " + body + b"\n")
    transcript = frames.read(b"".join(lines), keys)
    assert transcript.violations == ()
    report = read(transcript.tests)
    assert not any("collected" in problem for problem in report.violations)
    return dict(report.statuses)


@pytest.mark.parametrize("test_id", NASTY)
def test_an_id_without_an_address_stays_as_it_is(test_id):
    assert stable_ids([test_id]) == {test_id: test_id}


def test_nasty_ids_reach_the_lists_and_the_grade_as_they_are():
    statuses = reported(*NASTY)
    listed = tuple(json.loads(json.dumps({"FAIL_TO_PASS": NASTY}))["FAIL_TO_PASS"])
    assert set(statuses) == set(NASTY)
    assert listed_status(Hidden(gold_patch=b"", test_patch=b"", fail_to_pass=listed), statuses).all_passed


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("a.py::t[<object object at 0x7f30e4b0c1d0>]", "a.py::t[<object object at 0x7f11e4b0cfd0>]"),
        ("a.py::t[<function f at 0x10a>-b]".replace("0x10a", "0x10a2"), "a.py::t[<function f at 0xFFFF2>-b]"),
        ("a.py::T::test_1__object_object_at_0x7f30e4b0c1d0_", "a.py::T::test_1__object_object_at_0x7f11e4b0cfd0_"),
        ("a.py::t[<a.B at 0x00007F30E4B0C1D0>]", "a.py::t[<a.B at 0x7f11e4b0cfd0>]"),
    ],
)
def test_two_runs_call_a_test_with_an_address_the_same(one, other):
    assert set(reported(one)) == set(reported(other))
    assert has_no_address(*reported(one))


def test_tests_that_would_be_called_the_same_keep_their_addresses():
    ids = ["a.py::t[<o at 0x7f30e4b0c1d0>]", "a.py::t[<o at 0x7f30e4b0c1e0>]", "a.py::t[<p at 0x7f30e4b0c1e0>]"]
    assert set(reported(*ids)) == {*ids[:2], "a.py::t[<p at 0x...>]"}


def test_written_offsets_that_differ_stay_as_they_are():
    ids = ["a.py::t[read at 0x1000]", "a.py::t[read at 0x2000]"]
    assert set(reported(*ids)) == set(ids)


def test_an_id_that_looks_as_if_its_address_was_gone_is_not_mixed_up_with_one_that_had_it():
    ids = ["a.py::t[<o at 0x...>]", "a.py::t[<o at 0x7f30e4b0c1e0>]"]
    assert set(reported(*ids)) == set(ids)


def test_half_a_surrogate_pair_is_escaped_so_that_files_can_hold_it():
    (test_id,) = reported("a.py::t[\udc80]")
    assert test_id.encode() == rb"a.py::t[\udc80]"


def test_two_tests_of_one_id_pass_only_together():
    def frame(when, outcome="passed"):
        return {"t": "report", "id": "a", "when": when, "outcome": outcome, "xfail": False, "seconds": 0.0, "text": ""}

    run = [frame("setup"), frame("call"), frame("teardown")]
    bad = [frame("setup"), frame("call", "failed"), frame("teardown")]
    for frames_ in (run + bad, bad + run):
        assert read([{"t": "collected", "ids": ["a", "a"]}, *frames_]).statuses == {"a": TestStatus.FAILED}
    assert read([{"t": "collected", "ids": ["a", "a"]}, *run, *run]).statuses == {"a": TestStatus.PASSED}


def ids_by_chance(seed: int) -> list[str]:
    """Ids put together from what makes them nasty."""
    rng = random.Random(seed)
    addresses = ("at 0x7f30e4b0c1d0", "at 0x7f30e4b0c1f0", " at 0x10aF2", "_at_0xdeadbeef_")
    bits = (*addresses, "a", " ", "::", "[", "]", "€", "\n", "\\", "\udcff", "..")
    return list({"a.py::t[" + "-".join(rng.choices(bits, k=rng.randint(0, 6))) + "]": 0 for _ in range(30)})


@pytest.mark.parametrize("seed", range(20))
def test_every_id_of_a_run_keeps_a_name_of_its_own(seed):
    ids = {test_id for test_id in ids_by_chance(seed) if "\udcff" not in test_id}
    names = stable_ids(ids)
    assert len(set(names.values())) == len(ids)
    assert all(names[test_id] in (test_id, stable(test_id)) for test_id in ids)


@pytest.mark.parametrize("seed", range(20))
def test_a_stable_id_is_stable(seed):
    names = set(stable_ids(ids_by_chance(seed)).values())
    assert {stable(stable(name)) for name in names} == {stable(name) for name in names}


@pytest.mark.parametrize("seed", range(20))
def test_other_addresses_give_the_same_ids_where_all_of_them_go(seed):
    ids = ids_by_chance(seed)
    moved = [re.sub("7f30e4b0c1d0", "5581deadf00d", test_id) for test_id in ids]
    names, others = stable_ids(ids), stable_ids(moved)
    gone = [test_id for test_id in ids if list(map(stable, ids)).count(stable(test_id)) == 1]
    assert all(names[a] == others[b] for a, b in zip(ids, moved, strict=True) if a in gone)


@pytest.mark.parametrize("seed", range(20))
def test_the_grader_in_other_tools_containers_calls_tests_the_same(seed):
    ids = [*ids_by_chance(seed), *NASTY]
    assert grader.stable_ids(ids) == dict(stable_ids(ids))


def test_a_function_is_found_by_an_id_with_colons_and_brackets_in_its_parameter():
    assert function("t/a.py::T::test_x[a::b[c]]") == "t/a.py::T::test_x"


def test_a_bracket_in_a_title_of_javascript_stands_for_nothing():
    ids = ("app/[id]/a.test.ts::adds [all] > [1]", "a.mjs::adds [all]", "a.mjs::adds [none] #2")
    assert selectors(ids, ["a.mjs"]) == tuple(sorted(ids))


def test_single_rows_of_a_task_are_run_as_rows_and_all_else_by_its_function():
    given = ("t/a.py::test_x[1]", "t/a.py::test_x[2]")
    assert selectors(["t/a.py::test_x[2]"], given) == ("t/a.py::test_x[2]",)
    assert selectors(["t/a.py::test_x[2]", "t/a.py::test_x[1]"], ["t/a.py"]) == ("t/a.py::test_x",)


def test_a_row_with_another_address_means_the_same_test():
    mapped = KnownIds(reported("a.py::t[<o at 0x7f30e4b0c1d0>]")).map("a.py::t[<o at 0x7f11e4b0cfd0>]")
    assert mapped.ours == ("a.py::t[<o at 0x...>]",)


def test_a_list_from_before_addresses_were_left_out_is_graded_as_well():
    listed = "a.py::t[read at 0x1000]"
    hidden = Hidden(gold_patch=b"", test_patch=b"", fail_to_pass=(listed,))
    assert listed_status(hidden, reported(listed)).fail_to_pass == {listed: TestStatus.PASSED}


def test_rows_for_another_harness_leave_out_ids_that_it_would_never_read():
    assert readable(["a.py::t[<o at 0x...>]", "a.py::t[1]"]) == ["a.py::t[1]"]
