"""From the runs of three states to a task's lists."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import pytest

from harness.core.instance import TestSpec, TestStatus
from harness.languages.base import TestReport
from miner.pipeline.draft import rewritten
from miner.proof import ObservedRun, Proof, judge
from miner.proof.ids import called_by_chance
from miner.proof.judge import hopeless, not_passed
from miner.proof.observe import first_failure
from miner.proof.variations import variation
from miner.sources.change import Rejection

LETTERS = {"S": TestStatus.SKIPPED, "E": TestStatus.ERROR, "X": TestStatus.XFAIL, "P": TestStatus.XPASS}


def runs(state: str, *each: str, wanted: dict[str, str] | None = None, **odd: str) -> list[ObservedRun]:
    """One run a word; a letter is a test of that name in f.py, capital where it passes.

    `wanted` are the files that could not be collected, with the missing name. `odd` are tests that neither pass nor
    fail, a letter a run.
    """
    return [
        ObservedRun(
            state=state,
            number=number,
            statuses={
                f"f.py::{letter.lower()}": TestStatus.PASSED if letter.isupper() else TestStatus.FAILED
                for letter in word
            }
            | {f"f.py::{name}": LETTERS[letters[number]] for name, letters in odd.items()},
            collect_errors=dict.fromkeys(wanted or {}, "E   whatever it says"),
            wanted=wanted or {},
        )
        for number, word in enumerate(each)
    ]


def varied(run: ObservedRun) -> ObservedRun:
    return replace(run, variation=variation(run.number))


def test_of_a_sensitive_test_plain_runs_alone_decide():
    before = runs("before", "ab", "aB", "ab")
    after = [varied(run) for run in runs("after", "AB", "aB", "aB")]
    found = [*map(varied, before), *after, *(replace(run, number=1000) for run in (before[0], runs("after", "AB")[0]))]
    assert isinstance(judge(found, runs=3), Rejection)
    sure = judge(found, runs=3, sensitive={"f.py::a"})
    assert isinstance(sure, Proof)
    assert (sure.fail_to_pass, sure.flaky) == (("f.py::a",), ("f.py::b",))


def test_a_sensitive_test_that_differs_between_plain_runs_is_flaky():
    plain = [*runs("before", "ab", "ab"), *runs("after", "AB", "aB")]
    found = judge(plain, runs=2, sensitive={"f.py::a"})
    assert isinstance(found, Proof)
    assert (found.fail_to_pass, found.flaky) == (("f.py::b",), ("f.py::a",))


def proof(*states: list[ObservedRun], brings: tuple[str, ...] = ()) -> Proof | Rejection:
    return judge([run for state in states for run in state], runs=2, brings=frozenset(brings))


def lists(*states: list[ObservedRun], brings: tuple[str, ...] = ()) -> tuple[list[str], list[str], list[str]] | str:
    found = proof(*states, brings=brings)
    if isinstance(found, Rejection):
        return found.reason
    return tuple([name[-1] for name in names] for names in (found.fail_to_pass, found.pass_to_pass, found.flaky))


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
    before = runs("before", "", "", wanted={"f.py": "x"})
    found = lists(runs("base", "B", "B"), before, runs("after", "AB", "AB"), brings=("x",))
    assert found == (["a"], ["b"], [])


def test_of_older_tests_those_that_the_change_alters_fail_before_where_nothing_else_does():
    before = runs("before", "", "", wanted={"f.py": "x"})
    altered = {"rewritten": {"f.py::a"}, "brings": {"x"}, "runs": 2}
    found = judge([*runs("base", "AB", "AB"), *before, *runs("after", "AB", "AB")], **altered)
    assert isinstance(found, Proof)
    assert (found.fail_to_pass, found.pass_to_pass) == (("f.py::a",), ("f.py::b",))
    found = judge([*runs("base", "A", "A"), *before, *runs("after", "AB", "AB")], **altered)
    assert isinstance(found, Proof)
    assert (found.fail_to_pass, found.pass_to_pass) == (("f.py::b",), ("f.py::a",))


@pytest.mark.parametrize(
    ("test_id", "of"),
    [
        ("f.py::T::test_a", "f.py::T::test_a"),
        ("f.py::T::test_a[1.5-b]", "f.py::T::test_a"),
        ("f_test.go::TestA/sub", "f_test.go::TestA"),
        ("f.py::T::test_a", "f.py::T::test_b"),
        ("f.py::T::test_a", "f.py::test_a"),
    ],
)
def test_a_test_is_altered_with_its_method_or_the_function_around_it(test_id, of):
    good = replace(runs("after", "A")[0], statuses={test_id: TestStatus.PASSED})
    before = replace(runs("before", "", wanted={test_id.partition("::")[0]: "x"})[0], statuses={})
    found = judge([replace(good, state="base"), before, good], rewritten={of}, brings={"x"}, runs=1)
    assert isinstance(found, Proof) is test_id.startswith(of)


@pytest.mark.parametrize(
    "wanted",
    [
        {"f.py": ""},  # a syntax error, say
        {"f.py": "x"},  # a name that the fix does not bring
        {"f.py": "module x"},  # the fix brings another thing of that name
        {"f.py": "y", "conftest.py": "x"},  # one of two reasons
    ],
)
def test_a_file_that_is_broken_for_another_reason_makes_no_task(wanted):
    before = runs("before", "", "", wanted=wanted)
    found = lists(runs("base", "", ""), before, runs("after", "A", "A"), brings=("y",))
    assert found == "not_collectable_before"


def test_a_file_that_was_lost_for_another_reason_in_one_run_alone_makes_no_task():
    before = [*runs("before", "", wanted={"f.py": "x"}), *runs("before", "", wanted={"f.py": ""})]
    assert lists(before, runs("after", "A", "A"), brings=("x",)) == "not_collectable_before"


def test_a_broken_file_costs_no_task_its_other_files():
    before, after = runs("before", "a", "a", wanted={"g.py": ""}), runs("after", "A", "A")
    for run in after:
        run.statuses["g.py::z"] = TestStatus.PASSED
    assert lists(before, after) == (["a"], [], [])


@pytest.mark.parametrize("lost", ["conftest.py", "", "tests", "tests/", "tests/conftest.py", "tests/test_f.py"])
def test_what_could_not_be_collected_takes_its_tests_along(lost):
    before = runs("before", "", "", wanted={lost: "x"})
    after = [ObservedRun(state="after", number=n, statuses={"tests/test_f.py::a": TestStatus.PASSED}) for n in (0, 1)]
    found = proof(before, after, brings=("x",))
    assert isinstance(found, Proof)
    assert found.evidence["new_names"] == ["x"]


def test_a_test_that_is_new_in_a_file_that_was_collected_fails_before_and_is_no_matter_of_names():
    found = proof(runs("before", "B", "B", wanted={"g.py": "x"}), runs("after", "AB", "AB"), brings=("x",))
    assert isinstance(found, Proof)
    assert found.fail_to_pass == ("f.py::a",)
    assert found.evidence["new_api"] is False
    assert found.evidence["before"] == {"absent": 1}


def test_the_new_names_are_evidence():
    found = proof(
        runs("before", "", "", wanted={"f.py": "module shop.new"}), runs("after", "A", "A"), brings=("module shop.new",)
    )
    assert isinstance(found, Proof)
    assert (found.evidence["new_api"], found.evidence["new_names"]) == (True, ["shop.new"])


def test_a_test_that_missed_a_fixture_of_the_fix_asks_for_a_new_name():
    before = runs("before", "", "", a="EE")
    for run in before:
        run.wanted["f.py::a"] = "shopper"
    assert proof(before, runs("after", "A", "A"), brings=("shopper",)).evidence["new_names"] == ["shopper"]
    assert proof(before, runs("after", "A", "A")).evidence["new_api"] is False


@pytest.mark.parametrize(("letters", "word"), [("SS", "SKIPPED"), ("XX", "XFAIL"), ("EE", "ERROR"), ("SX", "varies")])
def test_a_test_that_only_passes_with_the_fix_turns_whatever_kept_it_from_passing(letters, word):
    found = proof(runs("before", "", "", a=letters), runs("after", "A", "A"))
    assert isinstance(found, Proof)
    assert found.fail_to_pass == ("f.py::a",)
    assert found.evidence["before"] == {word: 1}


def test_a_test_that_passed_before_where_a_failure_was_expected_is_on_no_list():
    before, after = runs("before", "b", "b", a="PP"), runs("after", "AB", "AB")
    assert lists(before, after) == (["b"], [], [])


@pytest.mark.parametrize("letters", ["SS", "XX", "PP", "EE"])
def test_a_test_that_does_not_pass_with_the_fix_is_on_no_list(letters):
    assert lists(runs("before", "ab", "ab"), runs("after", "B", "B", a=letters)) == (["b"], [], [])


def test_a_result_that_changes_is_told_apart_from_an_id_that_does():
    ids = (
        "f.py::r[<o at 0x7f0{}00>]",
        "f.py::r[{}2345678-1234-1234-1234-123456789012]",
        "f.py::t[2026-11-2{}]",
        "f.py::c[{}]",
    )
    after = runs("after", "ABN", "AbN")
    for number, run in enumerate(after, start=1):
        run.statuses.update({one.format(number): TestStatus.PASSED for one in ids})
        if number == 1:
            run.statuses["f.py::q"] = TestStatus.PASSED
    found = proof(runs("before", "abn", "abn"), after)
    assert isinstance(found, Proof)
    expected = {
        "f.py::b": "result_changes",
        "f.py::q": "not_always_there",
        **{ids[0].format(n): "id_has_address" for n in (1, 2)},
        **{ids[1].format(n): "id_has_random_value" for n in (1, 2)},
        **{ids[2].format(n): "id_has_time" for n in (1, 2)},
        **{ids[3].format(n): "id_changes" for n in (1, 2)},
    }
    assert found.evidence["quarantined"] == expected
    assert set(found.flaky) == set(expected)
    assert found.fail_to_pass == ("f.py::a", "f.py::n")


def test_a_name_that_shows_its_chance_needs_no_further_run():
    ids = ("f.py::r[<o at 0x7f0{}00>]", "f.py::r[{}2345678-1234-1234-1234-123456789012]", "f.py::c[{}]", "f.py::d")
    after = runs("after", "", "")
    for number, run in enumerate(after, start=1):
        run.statuses.update({one.format(number): TestStatus.PASSED for one in ids})
    assert called_by_chance(after) == {one.format(number) for one in ids[:2] for number in (1, 2)}


def test_where_nothing_is_reported_the_process_may_have_ended():
    silent = hopeless([*runs("before", ""), *runs("after", "")])
    failing = hopeless([*runs("before", "a"), *runs("after", "a")])
    assert [found and found.reason for found in (silent, failing)] == ["gold_fails", "gold_fails"]
    assert ["may end the process" in found.detail for found in (silent, failing) if found] == [True, False]


def test_of_a_long_failure_the_beginning_and_the_end_are_said():
    trace = f"State: no Docker\n{'at a.B.c(B.java:1)' * 99}\nCaused by: it is not there"
    report = TestReport(statuses={"a": TestStatus.FAILED}, texts={"a": trace})
    said = first_failure(report)
    assert said.startswith("State: no Docker")
    assert said.endswith("Caused by: it is not there")
    assert len(said) < len(trace)


def test_where_files_skip_themselves_that_is_said():
    skipped = [replace(run, detail="Skipped: No GRPC") for run in runs("after", "")]
    found = hopeless([*runs("before", ""), *skipped])
    assert found is not None
    assert found.detail == "no test passes with the fix: Skipped: No GRPC"


def test_where_code_ended_the_process_of_a_test_file_that_is_the_reason():
    lost = [replace(run, exited=("f.py",), collect_errors={"f.py": "it ended"}) for run in runs("after", "a")]
    found = hopeless([*runs("before", "a"), *lost])
    assert found is not None
    assert (found.reason, found.detail) == ("exits", "it ended")


def test_what_does_not_pass_with_the_fix_is_told_by_status_each_with_the_first():
    (run,) = runs("after", "Abc", d="S", e="X")
    assert not_passed(run) == "with the fix 2 FAILED (f.py::b, …), 1 SKIPPED (f.py::d)"
    assert not not_passed(runs("after", "A", e="X")[0])


def test_what_a_change_alters_is_named_as_tests_are():
    sources = {
        "base": b"class T:\n    def test_a(self):\n        assert 1\n",
        "head": b"class T:\n    def test_a(self):\n        f()\n",
    }
    draft = SimpleNamespace(
        parts=SimpleNamespace(test_files=("f.py",)),
        candidate=SimpleNamespace(change=SimpleNamespace(base_commit="base", head_commit="head")),
        test=TestSpec(),
    )
    repo = SimpleNamespace(read_files=lambda commit, paths: dict.fromkeys(paths, sources[commit]))
    assert rewritten(draft, repo) == {"f.py::T::test_a"}


def test_what_a_change_alters_in_a_module_of_rust_is_named_by_the_roots_that_it_may_have():
    before = b"mod tests {\n    #[test]\n    fn adds() { a() }\n}\n"
    sources = {"base": before, "head": before.replace(b"a()", b"b()")}
    draft = SimpleNamespace(
        parts=SimpleNamespace(test_files=("core/src/ops/add.rs",)),
        candidate=SimpleNamespace(change=SimpleNamespace(base_commit="base", head_commit="head")),
        test=TestSpec(framework="cargo test"),
    )
    repo = SimpleNamespace(read_files=lambda commit, paths: dict.fromkeys(paths, sources[commit]))
    assert {"core/src/lib.rs::ops::add::tests::adds", "core/src/ops/add.rs::tests::adds"} <= rewritten(draft, repo)
