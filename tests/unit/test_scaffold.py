"""What a scaffold makes of statements, scores, comparisons, leaks and versions."""

from __future__ import annotations

from dataclasses import replace

import pytest

from harness.analysis.compare import _kinds
from harness.cli.views.scores import sheet_json
from harness.core.instance import Outcome, TestStatus
from harness.dataset import content
from harness.dataset.folder import open_dataset, write_scaffold
from harness.dataset.revealed import candidates, function_of, revealed_ids, statement_with
from harness.dataset.similarity import leak_fingerprints
from harness.grading.grade import Grade, TestsStatus
from harness.runs.run_folder import run_report
from harness.runs.scaffold_score import kind_of, score
from harness.scaffold import problems as scaffold_check
from harness.scaffold.reveal import PublicTests, applied
from harness.solve.plan import digest_of
from tests import tiny
from tests.sheets import sheet
from tests.sheets import task as task_score

SHOWN = ("tests/test_calc.py::test_a[1]", "tests/test_calc.py::test_a[2]")
HIDDEN = "tests/test_calc.py::TestB::test_b"
HOLDS = "tests/test_calc.py::test_zero"
PATCH = tiny.diff(tiny.TESTS, tiny.BASE_TESTS, tiny.BASE_TESTS + "\n\ndef test_a():\n    pass\n").encode()
P, F = TestStatus.PASSED, TestStatus.FAILED


def scaffolded(**more):
    task = tiny.task(fail_to_pass=(*SHOWN, HIDDEN))
    found = PublicTests(functions=(function_of(SHOWN[0]),), ids=SHOWN, patch=PATCH)
    return applied(task, replace(found, **more), count=1)


def graded(a, b, zero=P, *, cause="tests_failed"):
    good = {a, b, zero} == {P}
    return Grade(
        outcome=Outcome.RESOLVED if good else Outcome.UNRESOLVED,
        cause=None if good else cause,
        reason="",
        tests=TestsStatus(fail_to_pass={**dict.fromkeys(SHOWN, a), HIDDEN: b}, pass_to_pass={HOLDS: zero}),
    )


def test_rows_of_a_function_are_one_function_whatever_is_in_their_brackets():
    assert function_of("tests/t.py::TestA::test_b[x::y]") == function_of("tests/t.py::TestA::test_b[z]")


def test_the_order_does_not_hang_on_the_order_of_the_list():
    task = scaffolded()
    turned = replace(task.hidden, fail_to_pass=tuple(reversed(task.hidden.fail_to_pass)))
    assert candidates(task.instance_id, turned) == candidates(task.instance_id, task.hidden)


def test_a_task_tells_what_it_shows_and_how_much_it_hides():
    told = scaffolded().instance.extra["scaffold"]
    assert (told["functions"], told["hidden_functions"], told["revealed"]) == (1, 1, list(SHOWN))


def test_a_solver_is_told_of_the_shown_tests_alone():
    told = statement_with(scaffolded().instance)
    assert told.startswith("Adding subtracts.")
    assert all(one in told for one in SHOWN)
    assert HIDDEN not in told


def test_a_statement_without_a_scaffold_is_as_it_was():
    assert statement_with(tiny.task().instance) == "Adding subtracts."


def test_a_fence_is_longer_than_any_in_the_code():
    task = scaffolded(patch=PATCH.replace(b"    pass", b"    '````'"))
    assert "`````diff" in statement_with(task.instance)


def test_a_prediction_made_without_the_scaffold_is_not_one_for_the_task_with_it():
    assert digest_of(scaffolded().instance) != digest_of(replace(scaffolded().instance, scaffold=b""))


@pytest.mark.parametrize(
    ("a", "b", "zero", "resolved_hidden", "revealed_only"),
    [
        (P, P, P, True, False),
        (P, F, P, False, True),
        (F, P, P, True, False),
        (F, F, P, False, False),
        (P, P, F, False, False),
    ],
)
def test_shown_and_hidden_tests_are_scored_apart(a, b, zero, resolved_hidden, revealed_only):
    found = score(scaffolded(), graded(a, b, zero))
    assert (found.resolved_hidden, found.passes_revealed_only) == (resolved_hidden, revealed_only)
    assert (found.revealed, found.hidden) == (2, 2)


def test_tests_that_all_passed_before_a_crash_resolve_nothing():
    assert not score(scaffolded(), graded(F, P, cause="crashed")).resolved_hidden


def test_a_task_that_shows_nothing_has_one_score():
    assert score(tiny.task(), graded(P, P)) is None


def test_a_run_without_scaffolds_says_so():
    assert run_report([], [], [])["goldseam"]["kind"] == "hidden only"


def test_a_run_with_scaffolds_says_how_much_was_shown():
    found = score(scaffolded(), graded(P, P))
    assert kind_of([None, found]) == {"kind": "scaffolded", "revealed": 1, "scaffolded_predictions": 1}


def test_runs_in_which_a_task_showed_other_numbers_of_tests_are_told_apart():
    base, candidate = sheet(task_score(1), task_score(2)), sheet(task_score(1), task_score(2))
    one = next(iter(candidate.tasks))
    changed = replace(candidate.tasks[one], facts=candidate.tasks[one].facts.model_copy(update={"revealed": 2}))
    assert _kinds(base, candidate) == ()
    [text] = _kinds(base, replace(candidate, tasks={**candidate.tasks, one: changed}))
    assert one in text


def test_code_that_a_task_shows_is_no_evidence_of_a_leak():
    code = "\n".join(f"    assert calc.add({n}, {n + 1}) == {2 * n + 1} + something_{n}" for n in range(12))
    shown = tiny.diff("tests/t.py", "", f"def test_a():\n{code}\n").encode()
    texts = [
        leak_fingerprints.of_patch("t", leak_fingerprints.Kind.TESTS, shown, public=public) for public in (b"", shown)
    ]
    units = [leak_fingerprints.build([text], []).units for text in texts]
    assert [len(found) for found in units] == [1, 0]


def test_a_scaffold_is_part_of_what_a_dataset_holds(tmp_path):
    task = scaffolded()
    made = tiny.dataset(tmp_path / "ds", tiny.task(fail_to_pass=(*SHOWN, HIDDEN)))
    before = content.settle(made)
    write_scaffold(made, task.instance)
    assert content.settle(made).number == before.number + 1
    again = open_dataset(made.path).instance(task.instance_id)
    assert (again.scaffold, revealed_ids(again)) == (PATCH, SHOWN)


def test_a_sound_scaffold_has_no_problem():
    assert list(scaffold_check.problems(scaffolded())) == []


@pytest.mark.parametrize(
    ("task", "word"),
    [
        (scaffolded(patch=b""), "go together"),
        (scaffolded(patch=b"not a patch"), "not a patch: "),
        (scaffolded(ids=("tests/test_calc.py::test_zero",)), "not in FAIL_TO_PASS"),
        (scaffolded(ids=(*SHOWN, HIDDEN)), "nothing is hidden"),
        (scaffolded(patch=PATCH.replace(b"test_a", b"test_b")), "does not list as revealed"),
    ],
)
def test_a_scaffold_that_is_not_sound_is_told(task, word):
    assert any(word in problem for problem in scaffold_check.problems(task))


def test_scores_say_that_a_task_showed_some_of_its_tests():
    made = sheet(task_score(1), task_score(2))
    one = next(iter(made.tasks))
    facts = made.tasks[one].facts.model_copy(update={"revealed": 1})
    shown = replace(made, tasks={**made.tasks, one: replace(made.tasks[one], facts=facts)})
    assert [sheet_json(each)["kind"] for each in (made, shown)] == ["hidden only", "scaffolded"]
