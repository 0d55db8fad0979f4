"""A model's results in one run: what counts, what is covered, and the figures over them."""

from __future__ import annotations

import json
from fractions import Fraction

import pytest
from typer.testing import CliRunner

from harness.analysis import scoresheet
from harness.analysis.cohorts import CohortKey, by_cohort
from harness.analysis.scoresheet import SampleScore
from harness.core.errors import InputError
from harness.core.instance import Outcome, TaskState
from harness.judging.places import Place
from harness.runs.run_folder import RunFolder, RunRecord
from harness.runs.task_metadata import TaskFacts
from harness.stats import mean_interval, pass_at_k, pass_hat_k, wilson
from miner.cli.main import app
from tests import report_runs, tiny
from tests.sheets import GAP, LOST, WON, run_of, sheet, task

ID = "acme__widgets-{}".format


def record(**fields):
    given = {
        "goldseam_version": "0.1.0",
        "grading_version": 2,
        "dataset": "widgets",
        "dataset_version": 3,
        "tasks": {},
        "images": {},
        "models": [],
        "settings": {"demands": {"timeout": None}},
        "machine": {},
        "started_at": "2026-01-01T00:00:00Z",
        **fields,
    }
    return RunRecord.model_validate(given)


@pytest.fixture
def run(tmp_path):
    """Two models; the first has two samples of task 100, the second left one task out. Task 103 was asked of nobody."""
    path = tmp_path / "run"
    made = [
        report_runs.add(path, ID(100), "first", WON, sample=0),
        report_runs.add(path, ID(100), "first", LOST, sample=1),
        report_runs.add(path, ID(101), "first", GAP),
        report_runs.add(path, ID(102), "first", Outcome.EMPTY_PATCH),
        report_runs.add(path, ID(100), "second", WON),
    ]
    folder = RunFolder(path=path)
    folder.write_predictions(made)
    facts = {ID(number): TaskFacts(repo="acme/widgets", state=TaskState.PROVED) for number in (100, 101, 102, 103)}
    folder.write_run(record(facts=facts, tasks={ID(100): "abc"}))
    return path


def test_a_run_has_a_sheet_for_each_model(run):
    assert [one.model for one in scoresheet.read(run)] == ["first", "second"]


def test_a_sheet_tells_what_it_was_scored_on(run):
    found = scoresheet.read(run)[0]

    assert (found.dataset, found.dataset_version, found.grading_version) == ("widgets", 3, 2)
    assert (found.run, found.demands) == (run, {"timeout": None})
    assert (found.tasks[ID(100)].digest, found.tasks[ID(101)].digest) == ("abc", None)


def test_samples_are_counted_by_task(run):
    found = scoresheet.read(run)[0].tasks[ID(100)]

    assert (found.asked, found.scored, found.unscored, found.resolved) == (2, 2, 0, 1)
    assert found.rate == Fraction(1, 2)


def made(path, verdict, **facts):
    """A run of one task with a verdict of that place, and what run.json says of the task."""
    folder = RunFolder(path=path)
    folder.write_predictions([report_runs.add(path, ID(100), "first", WON, place=verdict)])
    if facts:
        folder.write_run(record(facts={ID(100): TaskFacts(state=TaskState.PROVED, **facts)}))
    return path


def test_a_run_without_facts_is_judged_where_its_reports_say(tmp_path):
    assert scoresheet.read(made(tmp_path, Place.MIXED))[0].tasks[ID(100)].facts.judged is Place.MIXED


@pytest.mark.parametrize(("card", "verdict"), [(Place.HOST, Place.INSIDE), (Place.INSIDE, Place.HOST)])
def test_a_task_is_judged_in_the_weakest_place_that_is_said(tmp_path, card, verdict):
    found = scoresheet.read(made(tmp_path, verdict, place=card))[0]

    assert found.tasks[ID(100)].facts.judged is Place.INSIDE


def test_a_report_from_before_places_was_judged_inside(tmp_path):
    path = made(tmp_path, Place.HOST, place=Place.HOST)
    file = path / "results" / "first" / ID(100) / "0" / "report.json"
    report = json.loads(file.read_bytes())
    del report["place"]
    file.write_text(json.dumps(report))

    assert scoresheet.read(path)[0].tasks[ID(100)].facts.judged is Place.INSIDE


def test_a_sheet_counts_where_its_tasks_are_judged():
    found = sheet(task(1), task(2, place=Place.MIXED), task(3, place=None), task(4, guessable=True)).standing

    assert (found.tasks, found.guessable) == (4, 1)
    assert found.judged == {Place.HOST: 2, Place.MIXED: 1, Place.INSIDE: 1}


def test_a_sheet_tells_of_what_a_forger_may_pass():
    told = sheet(task(1), task(2, place=Place.INSIDE), task(3, guessable=True)).standing.told()

    assert told.startswith("Of 3 tasks, 1 judged inside, 1 guessable: a patch written to defeat goldseam may pass")


def test_a_sheet_judged_on_the_host_tells_nothing_of_forgers():
    assert sheet(task(1), task(2, guessable=False)).standing.told() == ""


def test_an_infrastructure_error_is_no_verdict(run):
    found = scoresheet.read(run)[0].tasks[ID(101)]

    assert (found.asked, found.scored, found.unscored, found.rate) == (1, 0, 1, None)
    assert (found.score, found.fail_to_pass, found.pass_to_pass) == (None, None, None)


def test_a_prediction_without_a_report_is_no_verdict(run):
    folder = RunFolder(path=run)
    folder.write_predictions([*folder.predictions(), report_runs.add(run, ID(102), "second")])
    (folder.path / "results" / "second" / ID(102) / "0" / "report.json").unlink()

    found = scoresheet.read(run)[1].tasks[ID(102)]

    assert (found.asked, found.scored, found.samples[0].outcome) == (1, 0, None)


def test_tasks_that_a_model_has_no_prediction_for_are_uncovered(run):
    first, second = scoresheet.read(run)

    assert set(first.uncovered) == {ID(103)}
    assert set(second.uncovered) == {ID(101), ID(102), ID(103)}


def test_coverage_is_of_all_tasks_of_the_dataset(run):
    first, second = scoresheet.read(run)

    assert (first.total, first.coverage) == (4, pytest.approx((1 + 0 + 1) / 4))
    assert second.coverage == pytest.approx(1 / 4)


def test_a_task_half_of_whose_samples_have_a_verdict_is_half_covered():
    assert sheet(task(1, [WON, GAP]), task(2, [LOST, LOST])).coverage == pytest.approx(0.75)


def test_a_sheet_without_a_task_covers_nothing():
    empty = sheet()

    assert (empty.coverage, empty.total, empty.rate.value, empty.score.value) == (0.0, 0, None, None)


def test_a_run_that_does_not_know_its_dataset_says_so_and_has_the_coverage_of_what_was_asked(run):
    RunFolder(path=run).write_run(record())

    found = scoresheet.read(run)[1]

    assert (found.knows_dataset, found.total, found.coverage) == (False, 1, 1.0)


def test_quarantined_tasks_are_set_aside_and_count_nowhere(run):
    facts = {ID(number): TaskFacts(state=TaskState.PROVED) for number in (100, 101)}
    RunFolder(path=run).write_run(record(facts={**facts, ID(102): TaskFacts(state=TaskState.QUARANTINED)}))

    found = scoresheet.read(run)[0]

    assert set(found.aside) == {ID(102)}
    assert (found.total, found.verdicts) == (2, 2)


def test_a_dataset_tells_what_the_tasks_are_now(run, tmp_path):
    tasks = [report_runs.make_task(number) for number in range(4)]
    retired = tiny.with_state(tasks[2], TaskState.RETIRED)
    dataset = report_runs.make_dataset(tmp_path / "dataset", [tasks[0], tasks[1], retired])

    found = scoresheet.read(run, dataset=dataset.path)[0]

    assert set(found.aside) == {ID(102)}
    assert found.tasks[ID(100)].facts.created_at == "2024-03-01T12:00:00Z"


def test_a_dataset_that_has_none_of_the_tasks_is_refused(run, tmp_path):
    other = report_runs.make_dataset(tmp_path / "dataset", [report_runs.make_task(9, instance_id="other__repo-1")])

    with pytest.raises(InputError, match="none of the tasks"):
        scoresheet.read(run, dataset=other.path)


def test_difficulty_and_task_type_come_from_the_tasks_quality(tmp_path):
    dataset = report_runs.make_dataset(tmp_path / "dataset", 1)
    path = dataset.task_folder(ID(100)) / "task.yaml"
    text = path.read_text(encoding="utf-8")
    path.write_text(
        text.replace("quality: {}", "quality: {difficulty: {tier: hard}, task_type: logic}"), encoding="utf-8"
    )
    run = tmp_path / "run"
    RunFolder(path=run).write_predictions([report_runs.add(run, ID(100), "model")])

    facts = scoresheet.read(run, dataset=dataset.path)[0].tasks[ID(100)].facts

    assert (facts.difficulty, facts.task_type) == ("hard", "logic")


def test_a_folder_that_is_no_run_is_refused(tmp_path):
    with pytest.raises(InputError, match="no such folder"):
        scoresheet.read(tmp_path / "nowhere")
    with pytest.raises(InputError, match=r"neither predictions\.jsonl nor results"):
        scoresheet.read(tmp_path)


@pytest.mark.parametrize("text", ["", "{", '{"schema_version": 1}', "\udce9"])
def test_a_broken_run_file_is_told(run, text):
    (run / "run.json").write_bytes(text.encode("utf-8", "surrogateescape"))

    with pytest.raises(InputError, match=r"run\.json is broken"):
        scoresheet.read(run)


def test_a_run_of_a_newer_version_is_refused(run):
    path = run / "run.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "schema_version": 99}))

    with pytest.raises(InputError, match="schema_version 99"):
        scoresheet.read(run)


def test_fields_of_a_run_that_are_not_known_survive():
    written = record(facts={"a": {"repo": "x/y", "shiny": 1}}).model_dump_json()

    assert json.loads(RunRecord.model_validate_json(written).model_dump_json())["facts"]["a"]["shiny"] == 1


def test_what_predictions_say_of_their_cost_is_read(run):
    path = run / "predictions.jsonl"
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    path.write_text("".join(json.dumps({**line, "cost_usd": 0.5, "latency_seconds": 3}) + "\n" for line in lines))

    found = scoresheet.read(run)[0]

    assert (found.cost_usd.total, found.cost_usd.known) == (2.0, 4)
    assert found.latency_seconds.median == 3


def test_one_unknown_cost_makes_the_total_unknown():
    found = sheet(task(1, cost=0.5), task(2)).cost_usd

    assert (found.total, found.mean, found.known, found.of) == (None, 0.5, 1, 2)


def test_no_known_cost_is_not_nothing():
    found = sheet(task(1)).cost_usd

    assert (found.total, found.mean, found.median) == (None, None, None)


def test_the_rate_of_one_sample_a_task_has_wilsons_interval():
    found = run_of(7, 3).rate

    assert (found.value, found.interval, found.tasks, found.samples) == (0.7, wilson(7, 10), 10, 10)


def test_each_task_counts_alike_however_many_samples_it_has():
    found = sheet(task(1, [WON]), task(2, [LOST] * 9)).rate

    assert (found.value, found.tasks, found.samples) == (0.5, 2, 10)


def test_tasks_without_a_verdict_are_in_no_rate():
    found = sheet(task(1, [WON]), task(2, [GAP]), task(3, [None])).rate

    assert (found.value, found.tasks) == (1.0, 1)


def test_tasks_of_ten_repositories_are_clustered_by_them():
    tasks = [task(number, [WON if number < 10 else LOST] * 2, repo=f"acme/r{number % 10}") for number in range(20)]
    found = sheet(*tasks).rate

    assert found.repositories == 10
    assert found.interval == mean_interval([1.0] * 10 + [0.0] * 10, trials=40, clusters=[n % 10 for n in range(20)])


def test_tasks_of_few_repositories_are_not():
    assert run_of(7, 3).rate.repositories is None


def test_pass_at_k_is_the_mean_over_tasks_with_enough_samples():
    found = sheet(task(1, [WON, LOST, LOST]), task(2, [LOST] * 4), task(3, [WON]))

    one, every = found.pass_at(2), found.pass_hat(2)

    assert one.value == pytest.approx((pass_at_k(3, 1, 2) + pass_at_k(4, 0, 2)) / 2)
    assert every.value == pytest.approx((pass_hat_k(3, 1, 2) + 0) / 2)
    assert (one.tasks, one.samples) == (2, 7)


def test_pass_at_one_is_the_rate():
    found = sheet(task(1, [WON, LOST]), task(2, [LOST] * 4), task(3, [WON]))

    assert found.pass_at(1).value == pytest.approx(found.rate.value)


def test_no_task_with_enough_samples_has_no_pass_at_k():
    assert run_of(3).pass_at(2).value is None


def score(outcome=LOST, f2p=None, p2p=None):
    return SampleScore(sample=0, outcome=outcome, fail_to_pass=f2p, pass_to_pass=p2p).score


def test_the_score_is_100_only_where_resolved():
    assert score(WON, 1.0, 1.0) == 100
    assert score(LOST, 1.0, 0.99999) == 99


@pytest.mark.parametrize(("f2p", "p2p", "expected"), [(0.5, 1.0, 50), (0.5, 0.5, 25), (0.0, 1.0, 0), (1.0, 0.0, 0)])
def test_the_score_is_the_product_of_what_was_mended_and_what_was_kept(f2p, p2p, expected):
    assert score(LOST, f2p, p2p) == expected


@pytest.mark.parametrize("outcome", [Outcome.EMPTY_PATCH, Outcome.APPLY_FAILED, Outcome.TAMPERED])
def test_a_patch_whose_tests_cannot_be_believed_scores_nothing(outcome):
    assert score(outcome, 1.0, 1.0) == 0


@pytest.mark.parametrize("outcome", [None, GAP])
def test_what_has_no_verdict_has_no_score(outcome):
    assert score(outcome) is None


def test_shares_of_tests_come_from_the_report(run):
    first = scoresheet.read(run)[0]
    won, lost = first.tasks[ID(100)].samples
    empty = first.tasks[ID(102)].samples[0]

    assert (won.fail_to_pass, won.pass_to_pass, won.score) == (1.0, 1.0, 100)
    assert (lost.fail_to_pass, lost.pass_to_pass, lost.score) == (0.5, 1.0, 50)
    assert (empty.fail_to_pass, empty.pass_to_pass, empty.score) == (0.0, None, 0)


def test_the_share_of_kept_tests_leaves_out_what_was_never_run(run):
    found = scoresheet.read(run)[0]

    assert (found.pass_to_pass.value, found.pass_to_pass.tasks) == (1.0, 1)
    assert found.fail_to_pass.value == pytest.approx((0.75 + 0.0) / 2)


def test_the_mean_score_has_an_interval_in_points():
    found = run_of(7, 3).score

    assert found.value == pytest.approx(70)
    assert (found.interval.low, found.interval.high) == pytest.approx(
        (100 * wilson(7, 10).low, 100 * wilson(7, 10).high)
    )


def test_a_sheet_can_be_cut_down_to_some_tasks():
    found = sheet(task(1), task(2), task(3, state=TaskState.RETIRED), missing={"x": TaskFacts(), "y": TaskFacts()})

    cut = found.only({ID(1), ID(3), "x"})

    assert (set(cut.tasks), set(cut.aside), set(cut.uncovered)) == ({ID(1)}, {ID(3)}, {"x"})


def test_models_are_chosen_by_name():
    sheets = (run_of(1, model="a"), run_of(1, model="b"))

    assert [one.model for one in scoresheet.only_models(sheets, ["b"])] == ["b"]
    assert scoresheet.only_models(sheets, []) == sheets


def test_an_unknown_model_is_told_with_those_there_are():
    with pytest.raises(InputError, match="no model 'c'") as caught:
        scoresheet.only_models([run_of(1, model="a"), run_of(1, model="b")], ["c"])

    assert caught.value.hint == "there are: a, b"


def test_a_run_without_a_prediction_is_told():
    with pytest.raises(InputError, match="no prediction"):
        scoresheet.only_models([], [])


@pytest.fixture
def mixed(tmp_path):
    """A run of a task judged inside, which fails, and one judged by its own runner, which is resolved."""
    folder = RunFolder(path=tmp_path)
    verdicts = ((1, LOST, Place.INSIDE), (2, WON, Place.OWN_RUNNER))
    made = [report_runs.add(tmp_path, ID(number), "first", verdict, place=at) for number, verdict, at in verdicts]
    folder.write_predictions(made)
    facts = {ID(number): TaskFacts(state=TaskState.PROVED, place=place) for number, _, place in verdicts}
    folder.write_run(record(facts=facts))
    return tmp_path


def test_what_a_runner_judges_of_itself_counts_in_no_score_unless_asked_for(mixed):
    (found,) = scoresheet.read(mixed)

    assert (found.rate.value, list(found.apart), list(found.tasks)) == (0.0, [ID(2)], [ID(1)])
    assert (found.whole().rate.value, found.whole().apart) == (0.5, {})
    assert found.whole().standing.judged[Place.OWN_RUNNER] == 1


def test_broken_down_by_place_what_a_runner_judges_of_itself_is_a_cohort(mixed):
    parts = by_cohort(scoresheet.read(mixed)[0], CohortKey.JUDGED)

    assert [(part.label, part.sheet.rate.value) for part in parts] == [("inside", 0.0), ("own_runner", 1.0)]


def test_scores_name_what_they_leave_to_runners(mixed):
    def shown(*options):
        return json.loads(CliRunner().invoke(app, ["scores", str(mixed), "--json", *options]).stdout)["models"][0]

    assert (shown()["own_runner_apart"], shown()["rate"]["value"]) == ([ID(2)], 0.0)
    assert (shown("--own-runner")["own_runner_apart"], shown("--own-runner")["rate"]["value"]) == ([], 0.5)
    assert "own_runner: 1 task judged" in CliRunner().invoke(app, ["scores", str(mixed)]).stdout


def test_where_every_task_is_judged_by_its_own_runner_the_score_says_so(tmp_path):
    (found,) = scoresheet.read(made(tmp_path, Place.OWN_RUNNER, place=Place.OWN_RUNNER))

    assert found.rate.value == 1.0
    assert "1 judged own_runner" in found.standing.told()
