"""The gate: green where it is earned, red where it is shown, else neither."""

from __future__ import annotations

import pytest

from harness.analysis.gate.checks import Security
from harness.analysis.gate.decision import Change, Finding, GateVerdict, Ruling
from harness.core.instance import Outcome, TaskState
from harness.judging.places import Place
from tests.sheets import GAP, LOST, WON, decide, rule, run_of, sheet, task

FINDING = Finding(
    instance_id="acme__widgets-1",
    repo="acme/widgets",
    model="model",
    sample=0,
    tool="bandit",
    rule="B602",
    message="subprocess call with shell=True",
    path="a.py",
)


def test_the_same_results_pass():
    decision = decide(run_of(20, 5), run_of(20, 5))

    assert (decision.verdict, decision.exit_code) == (GateVerdict.PASS, 0)


def test_a_large_and_significant_drop_is_a_regression():
    decision = decide(run_of(10, 15), run_of(25))

    assert (decision.verdict, decision.exit_code) == (GateVerdict.REGRESSION, 1)
    assert rule(decision, "max_drop").ruling is Ruling.BROKEN


def test_a_drop_above_the_margin_that_chance_explains_is_neither_red_nor_green():
    decision = decide(run_of(17, 3), run_of(20))  # 15 points, p = 1/8

    assert (decision.verdict, decision.exit_code) == (GateVerdict.INCONCLUSIVE, 3)


def test_a_significant_drop_below_the_margin_is_allowed():
    decision = decide(run_of(190, 10), run_of(200), max_drop=0.1)  # 5 points, p < .001

    assert decision.verdict is GateVerdict.PASS


def test_a_drop_of_exactly_the_margin_breaks_it():
    assert decide(run_of(180, 20), run_of(200), max_drop=0.1).verdict is GateVerdict.REGRESSION


def test_a_higher_confidence_asks_for_a_surer_drop():
    pair = run_of(14, 6), run_of(20)  # p = 1/64

    assert decide(*pair).verdict is GateVerdict.REGRESSION
    assert decide(*pair, confidence=0.99).verdict is GateVerdict.INCONCLUSIVE


def test_an_improvement_passes_both_modes():
    pair = run_of(30), run_of(10, 20)

    assert decide(*pair, mode="no-worse-than").verdict is GateVerdict.PASS
    assert decide(*pair, mode="no-regression").verdict is GateVerdict.PASS


def test_no_worse_than_does_not_take_few_equal_results_for_a_proof():
    decision = decide(run_of(25), run_of(25), mode="no-worse-than")

    assert decision.verdict is GateVerdict.INCONCLUSIVE
    assert "can't be ruled out" in rule(decision, "max_drop").sentence


def test_no_worse_than_passes_once_enough_tasks_agree():
    assert decide(run_of(50), run_of(50), mode="no-worse-than").verdict is GateVerdict.PASS


def test_several_equal_samples_prove_more_than_one():
    four = sheet(*(task(number, [WON] * 4) for number in range(30)))

    assert decide(four, four, mode="no-worse-than").verdict is GateVerdict.PASS
    assert decide(run_of(30), run_of(30), mode="no-worse-than").verdict is GateVerdict.INCONCLUSIVE


def test_a_baseline_that_resolves_too_little_to_lose_is_no_pass():
    decision = decide(run_of(0, 30), run_of(4, 26), max_drop=0.5)

    assert rule(decision, "max_drop").ruling is Ruling.UNKNOWN


def test_several_samples_a_task_are_compared_by_task():
    before = sheet(*(task(number, [WON] * 4) for number in range(12)))
    after = sheet(*(task(number, [WON, WON, WON, LOST]) for number in range(12)))

    decision = decide(after, before)

    assert decision.verdict is GateVerdict.REGRESSION
    assert decision.of(Change.LOST) == ()  # each is still resolved more often than not


def test_too_few_common_tasks_are_inconclusive():
    decision = decide(run_of(4), run_of(4))

    assert rule(decision, "min_tasks").ruling is Ruling.UNKNOWN
    assert decision.exit_code == 3


def test_nothing_comparable_is_inconclusive():
    strangers = sheet(*(task(f"other__repo-{number}") for number in range(9)))

    decision = decide(strangers, run_of(9))

    assert (decision.exit_code, decision.compared) == (3, 0)


def test_tasks_that_changed_are_not_compared():
    before = sheet(*(task(number, [WON], digest="old") for number in range(9)))

    decision = decide(run_of(0, 9), before)

    assert decision.exit_code == 3
    assert "9 task changed between the runs" in " ".join(decision.notes)


def test_quarantined_tasks_never_count():
    lost = [task(number, [LOST], state=TaskState.QUARANTINED) for number in range(10)]
    kept = [task(number, [WON]) for number in range(10, 20)]

    decision = decide(sheet(*lost, *kept), run_of(20))

    assert decision.verdict is GateVerdict.PASS
    assert decision.compared == 10
    assert len(decision.of(Change.LEFT_OUT)) == 10


def test_what_the_baseline_knows_to_be_quarantined_does_not_count_for_the_candidate():
    baseline = sheet(*(task(number, state=TaskState.RETIRED) for number in range(5)), *(task(n) for n in range(5, 15)))
    candidate = run_of(15)

    decision = decide(candidate, baseline)

    assert decision.candidate.tasks == 10


def test_infrastructure_gaps_lower_coverage_and_never_pass_or_fail():
    gaps = sheet(*(task(number, [GAP]) for number in range(5)), *(task(number) for number in range(5, 25)))

    decision = decide(gaps, run_of(25))

    assert rule(decision, "min_coverage").ruling is Ruling.UNKNOWN
    assert decision.exit_code == 3
    assert len(decision.of(Change.NOT_SCORED)) == 5


def test_leaving_hard_tasks_out_lowers_coverage():
    decision = decide(run_of(10), run_of(20), min_coverage=0.9)

    assert rule(decision, "min_coverage").ruling is Ruling.KEPT  # a run that knows its dataset was asked for these only

    decision = decide(sheet(*run_of(10).tasks.values(), knows_dataset=False), run_of(20), min_coverage=0.9)

    assert rule(decision, "min_coverage").ruling is Ruling.UNKNOWN
    assert len(decision.of(Change.MISSING)) == 10


def test_inconclusive_can_be_set_to_pass_or_fail_and_keeps_its_name():
    pair = run_of(17, 3), run_of(20)

    passes, fails = decide(*pair, inconclusive="pass"), decide(*pair, inconclusive="fail")

    assert (passes.verdict, passes.exit_code) == (GateVerdict.INCONCLUSIVE, 0)
    assert (fails.verdict, fails.exit_code) == (GateVerdict.INCONCLUSIVE, 1)


def test_what_inconclusive_is_set_to_does_not_soften_a_regression():
    assert decide(run_of(0, 25), run_of(25), inconclusive="pass").exit_code == 1


def test_without_a_baseline_only_the_other_rules_are_asked():
    decision = decide(run_of(20))

    assert decision.verdict is GateVerdict.PASS
    assert [line.name for line in decision.rules] == ["require", "min_coverage"]


@pytest.mark.parametrize(
    ("won", "ruling"), [(50, Ruling.KEPT), (48, Ruling.UNKNOWN), (20, Ruling.BROKEN)], ids=["above", "near", "below"]
)
def test_a_floor_is_broken_only_where_the_interval_lies_below_it(won, ruling):
    decision = decide(run_of(won, 100 - won), floors={"repo:acme/widgets": 0.5})

    assert rule(decision, "floor repo:acme/widgets").ruling is ruling


def test_a_floor_looks_at_its_cohort_alone():
    mixed = sheet(*(task(n, [LOST], difficulty="brutal") for n in range(20)), *(task(n) for n in range(20, 40)))

    decision = decide(mixed, floors={"difficulty:brutal": 0.5})

    assert rule(decision, "floor difficulty:brutal").found.startswith("0.0% of 20")


def test_a_floor_for_a_cohort_that_is_not_there_is_never_green_and_names_the_nearest():
    line = rule(decide(run_of(20), floors={"language:pyton": 0.5}), "floor language:pyton")

    assert line.ruling is Ruling.UNKNOWN
    assert "did you mean language:python?" in line.sentence.lower()


def test_a_must_pass_task_needs_every_sample():
    one_lost = sheet(task(1, [WON, LOST]), task(2))

    assert rule(decide(one_lost, must_pass=["acme__widgets-1"]), "must_pass").ruling is Ruling.BROKEN
    assert rule(decide(one_lost, must_pass=["acme__widgets-2"]), "must_pass").ruling is Ruling.KEPT


def test_a_must_pass_task_without_a_verdict_is_never_green():
    line = rule(decide(sheet(task(1, [GAP]), task(2)), must_pass=["acme__widgets-1"]), "must_pass")

    assert line.ruling is Ruling.UNKNOWN


def test_a_must_pass_task_that_is_not_there_is_named_with_the_nearest():
    line = rule(decide(run_of(12), must_pass=["acme__widget-11"]), "must_pass")

    assert line.ruling is Ruling.UNKNOWN
    assert "did you mean acme__widgets-11?" in line.sentence


def test_a_quarantined_must_pass_task_is_not_asked_for():
    run = sheet(task(1, [LOST], state=TaskState.QUARANTINED), task(2))

    assert rule(decide(run, must_pass=["acme__widgets-1", "acme__widgets-2"]), "must_pass").ruling is Ruling.KEPT


@pytest.mark.parametrize(
    ("security", "ruling"),
    [
        (Security(measured=3, of=3), Ruling.KEPT),
        (Security(measured=2, of=3), Ruling.UNKNOWN),
        (Security(measured=0, of=3), Ruling.UNKNOWN),
        (Security(findings=(FINDING,), measured=2, of=3), Ruling.BROKEN),
    ],
    ids=["clean", "partly measured", "not measured", "found"],
)
def test_new_security_findings_break_the_gate_and_what_was_not_measured_is_not_clean(security, ruling):
    assert rule(decide(run_of(20), security=security, no_new_security=True), "no_new_security").ruling is ruling


def test_findings_break_nothing_where_the_rule_is_not_set():
    assert decide(run_of(20), security=Security(findings=(FINDING,), measured=1, of=1)).verdict is GateVerdict.PASS


@pytest.mark.parametrize(
    ("costs", "ruling"),
    [
        ((0.5, 0.5), Ruling.KEPT),
        ((0.6, 0.5), Ruling.BROKEN),
        ((0.5, None), Ruling.UNKNOWN),
        ((1.5, None), Ruling.BROKEN),
    ],
    ids=["at the limit", "above", "one unknown", "above already"],
)
def test_the_total_cost_is_limited_and_unknown_is_not_zero(costs, ruling):
    run = sheet(*(task(number, cost=cost) for number, cost in enumerate(costs)))

    assert rule(decide(run, max_cost=1.0), "max_cost").ruling is ruling


def test_cost_per_resolved_counts_what_was_spent_in_vain():
    run = sheet(task(1, [WON], cost=1.0), task(2, [LOST], cost=1.0))

    assert rule(decide(run, max_cost_per_resolved=1.5), "max_cost_per_resolved").ruling is Ruling.BROKEN
    assert rule(decide(run, max_cost_per_resolved=2.0), "max_cost_per_resolved").ruling is Ruling.KEPT


def test_cost_per_resolved_is_broken_where_nothing_is_resolved_for_money():
    run = sheet(task(1, [LOST], cost=1.0))

    assert rule(decide(run, max_cost_per_resolved=100.0), "max_cost_per_resolved").ruling is Ruling.BROKEN


def test_a_second_run_has_to_show_the_drop_too():
    drop = run_of(10, 15), run_of(25)

    assert decide(*drop, confirm=run_of(11, 14)).verdict is GateVerdict.REGRESSION
    assert decide(*drop, confirm=run_of(25)).verdict is GateVerdict.INCONCLUSIVE


def test_a_second_run_that_shares_no_task_confirms_nothing():
    strangers = sheet(*(task(f"other__repo-{number}", [LOST]) for number in range(25)))

    assert decide(run_of(10, 15), run_of(25), confirm=strangers).verdict is GateVerdict.INCONCLUSIVE


def test_each_task_is_told_as_what_became_of_it():
    before = sheet(task(1), task(2, [LOST]), task(3), task(5))
    after = sheet(task(1, [LOST]), task(2), task(3), task(4), task(5, [GAP]))

    found = {line.instance_id[-1]: line.change for line in decide(after, before).tasks}

    assert found == {
        "1": Change.LOST,
        "2": Change.WON,
        "3": Change.SAME,
        "4": Change.NEW,
        "5": Change.NOT_SCORED,
    }


def test_a_task_that_is_not_judged_on_the_host_does_not_count():
    tasks = [task(number) for number in range(20)]
    decision = decide(sheet(*tasks, task(20, [LOST], place=Place.MIXED), task(21, [LOST], place=Place.INSIDE)))

    assert (decision.candidate.tasks, decision.candidate.share) == (20, 1.0)


def test_what_is_required_can_be_lowered():
    tasks = [*(task(number) for number in range(20)), task(20, place=Place.MIXED), task(21, place=Place.INSIDE)]

    assert decide(sheet(*tasks), require=Place.MIXED).candidate.tasks == 21
    assert decide(sheet(*tasks), require=Place.INSIDE).candidate.tasks == 22


def test_what_a_runner_judges_of_itself_counts_only_where_that_is_required():
    tasks = [*(task(number) for number in range(20)), task(20, place=Place.OWN_RUNNER)]

    assert decide(sheet(*tasks), require=Place.INSIDE).candidate.tasks == 20
    assert decide(sheet(*tasks), require=Place.OWN_RUNNER).candidate.tasks == 21


def test_a_guessable_task_counts_only_below_host():
    tasks = [*(task(number) for number in range(20)), task(20, guessable=True)]

    assert decide(sheet(*tasks)).candidate.tasks == 20
    assert decide(sheet(*tasks), require=Place.MIXED).candidate.tasks == 21


def test_a_task_that_nobody_guessed_at_counts():
    assert decide(sheet(*(task(number, guessable=None) for number in range(20)))).candidate.tasks == 20


def test_what_is_left_out_is_told_with_how_to_count_it():
    tasks = [task(number) for number in range(20)]
    weak = [task(20, place=Place.MIXED), task(21, place=Place.INSIDE), task(22, guessable=True)]

    line = rule(decide(sheet(*tasks, *weak)), "require")

    assert line.ruling is Ruling.KEPT
    assert line.found == "20 of 23 tasks; left out: 1 guessable, 1 judged inside, 1 judged mixed"
    assert line.sentence == "--require inside counts all."


def test_a_task_that_is_left_out_says_how_it_would_count():
    tasks = [*(task(number) for number in range(20)), task(20, place=Place.MIXED)]

    [line] = decide(sheet(*tasks)).of(Change.LEFT_OUT)

    assert (line.instance_id, line.note) == ("acme__widgets-20", "judged mixed: counts with --require mixed")


def test_where_nothing_is_left_nobody_can_tell():
    decision = decide(run_of(20, place=Place.INSIDE), run_of(20, place=Place.INSIDE))

    assert (decision.verdict, decision.exit_code) == (GateVerdict.INCONCLUSIVE, 3)
    assert rule(decision, "require").ruling is Ruling.UNKNOWN
    assert rule(decision, "require").sentence == "No task remains. --require inside counts all."


def test_a_run_that_does_not_say_where_it_was_judged_was_judged_inside():
    assert rule(decide(run_of(20, place=None)), "require").found == "0 of 20 tasks; left out: 20 judged inside"


def test_a_task_that_the_baseline_judged_inside_is_not_compared():
    before = sheet(*(task(number) for number in range(20)), task(20, place=Place.INSIDE))
    decision = decide(run_of(21), before)

    assert decision.compared == 20
    assert "1 judged inside in the baseline" in rule(decision, "require").found


def test_a_drop_confirmed_by_tasks_judged_inside_is_not_shown():
    decision = decide(run_of(10, 15), run_of(25), confirm=run_of(10, 15, place=Place.INSIDE))

    assert decision.verdict is GateVerdict.INCONCLUSIVE


def test_a_task_that_must_pass_and_does_not_count_can_not_be_told():
    tasks = [*(task(number) for number in range(20)), task(20, place=Place.INSIDE)]
    line = rule(decide(sheet(*tasks), must_pass=["acme__widgets-20"]), "must_pass")

    assert line.ruling is Ruling.UNKNOWN
    assert "acme__widgets-20 is judged inside: counts with --require inside" in line.sentence


def test_a_pass_that_needs_review_is_not_resolved_and_is_named():
    waiting = task(21, (Outcome.NEEDS_REVIEW,))

    decision = decide(sheet(*map(task, range(1, 21)), waiting), None)

    assert decision.candidate.share == pytest.approx(20 / 21)
    assert decision.notes == (f"passes that need review count as not resolved, on {waiting.instance_id}",)
