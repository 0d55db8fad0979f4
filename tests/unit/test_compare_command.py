"""`goldseam compare` and `goldseam scores` as a person and as a program see them."""

from __future__ import annotations

import io
import json
import os
import sys
from datetime import date

import pytest
from rich.console import Console

from harness.analysis.cohorts import CohortKey, Cutoffs
from harness.analysis.compare import Reason, compare, compare_all
from harness.analysis.scoresheet import Figure
from harness.cli.views import compare as compare_view
from harness.cli.views import scores
from harness.core import process
from harness.core.instance import Outcome, TaskState
from harness.judging.places import Place
from harness.runs.run_folder import RunFolder, RunRecord
from harness.runs.task_metadata import TaskFacts
from harness.stats import mcnemar_detectable
from tests import report_runs
from tests.program import goldseam
from tests.sheets import GAP, LOST, WON, run_of, sheet, task

ID = "acme__widgets-{}".format
WIDE = {"COLUMNS": "120"}


def make_run(path, models, *, facts=None, cost=None, digests=None):
    """A run in which each model has one sample of each of its tasks; `models` has outcomes by model."""
    made = [
        report_runs.add(path, ID(number), model, outcome)
        for model, outcomes in models.items()
        for number, outcome in enumerate(outcomes)
        if outcome
    ]
    folder = RunFolder(path=path)
    folder.write_predictions(made)
    if cost is not None:
        file = path / "predictions.jsonl"
        lines = [json.loads(line) for line in file.read_text().splitlines()]
        file.write_text("".join(json.dumps({**line, **cost}) + "\n" for line in lines))
    most = max(map(len, models.values()))
    known = {ID(number): TaskFacts(repo="acme/widgets", state=TaskState.PROVED) for number in range(most)}
    folder.write_run(
        RunRecord(
            goldseam_version="0.1.0",
            grading_version=2,
            dataset="widgets",
            dataset_version=1,
            tasks=digests or {},
            images={},
            facts=known if facts is None else facts,
            models=list(models),
            settings={},
            machine={},
            started_at="2026-01-01T00:00:00Z",
        )
    )
    return path


@pytest.fixture
def base(tmp_path):
    return make_run(tmp_path / "base", {"old": [WON] * 4 + [LOST] * 16})


def test_a_better_candidate_is_called_better(base, tmp_path):
    candidate = make_run(tmp_path / "new", {"new": [WON] * 14 + [LOST] * 6})

    ran = goldseam("compare", base, candidate, **WIDE)

    assert ran.returncode == 0
    assert ran.stdout.startswith("Better: new resolves 70% of 20 tasks, old 20%: +50 points")
    assert "exact McNemar: p = 0.002" in ran.stdout
    assert "gained: 10 tasks" in ran.stdout
    assert f"{ID(4)}" in ran.stdout
    assert "lost: none" in ran.stdout


def test_a_worse_candidate_is_called_worse(base, tmp_path):
    candidate = make_run(tmp_path / "new", {"new": [WON] * 14 + [LOST] * 6})

    assert goldseam("compare", candidate, base, **WIDE).stdout.startswith("Worse: old resolves 20%")


def test_what_can_not_be_told_says_what_it_would_take(base, tmp_path):
    candidate = make_run(tmp_path / "new", {"new": [WON] * 6 + [LOST] * 14})

    text = " ".join(goldseam("compare", base, candidate, **WIDE).stdout.split())

    assert text.startswith("Can't tell: new resolves 30% of 20 tasks, old 20%: +10 points (95% interval ")
    visible = mcnemar_detectable(tasks=20, flipping=2 / 20)
    assert f"With these tasks a difference of {100 * visible:.0f} points or more would show" in text
    assert "; to tell one of 10 it takes about 84 tasks." in text


def test_a_program_reads_all_of_it(base, tmp_path):
    candidate = make_run(tmp_path / "new", {"new": [WON] * 14 + [LOST] * 5 + [GAP]})

    ran = goldseam("compare", base, candidate, "--by", "repo", "--json")
    [found] = json.loads(ran.stdout)["comparisons"]

    assert (found["answer"], len(found["compared"])) == ("better", 19)
    assert found["difference"] == pytest.approx(10 / 19)
    assert found["interval"]["low"] > 0
    assert found["test"]["p"] == found["test"]["p_adjusted"] == pytest.approx(2 / 2**10)
    assert found["left_out"] == {ID(19): Reason.CANDIDATE_NOT_SCORED.value}
    assert found["candidate"]["coverage"] == pytest.approx(19 / 20)
    assert found["base"]["cost_usd"] == {"total": None, "mean": None, "median": None, "known": 0, "of": 19}
    assert len(found["gained"]) == 10
    assert found["cohorts"]["repo"]["base"][0]["value"] == "acme/widgets"


def test_costs_stand_beside(tmp_path):
    dear = make_run(tmp_path / "dear", {"dear": [WON] * 3}, cost={"cost_usd": 0.5, "latency_seconds": 12.5})
    cheap = make_run(tmp_path / "cheap", {"cheap": [WON] * 3})

    text = goldseam("compare", dear, cheap, **WIDE).stdout

    assert "$1.50" in text
    assert "12.5 s" in text
    assert "cost of cheap known for 0 of 3 patches" in text


def test_models_of_one_run_are_compared(tmp_path):
    run = make_run(tmp_path / "run", {"a": [WON] * 9, "b": [LOST] * 9, "gold": [WON] * 9})

    ran = goldseam("compare", run, run, "--baseline-model", "a", **WIDE)

    assert ran.stdout.startswith("Worse: b resolves 0% of 9 tasks, a 100%")


def test_several_candidates_are_adjusted_for(base, tmp_path):
    run = make_run(tmp_path / "run", {"b": [WON] * 14 + [LOST] * 6, "c": [WON] * 4 + [LOST] * 16})

    text = goldseam("compare", base, run, **WIDE).stdout

    assert "p = 0.0039 (Holm, for several candidates)" in text
    assert text.count("can see") == 2


def test_a_changed_task_is_left_out_and_said(tmp_path):
    one = make_run(tmp_path / "one", {"a": [WON] * 3}, digests={ID(0): "old"})
    two = make_run(tmp_path / "two", {"a": [WON] * 3}, digests={ID(0): "new"})

    text = goldseam("compare", one, two, **WIDE).stdout

    assert f"left out, task changed between the runs: 1 task {ID(0)}" in text
    assert "a (one)" in text
    assert "a (two)" in text


def test_runs_with_nothing_in_common_end_with_three(base, tmp_path):
    other = make_run(tmp_path / "other", {"new": [None] * 20 + [WON]}, facts={})

    ran = goldseam("compare", base, other)

    assert ran.returncode == 3
    assert "no task has a verdict in both" in ran.error_text
    assert "20 only in base, 1 only in candidate" in ran.error_text


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("compare", "{base}", "{base}"), "nothing to compare"),
        (("compare", "{base}", "nowhere"), "no such folder: nowhere"),
        (("compare", "{base}", "{base}", "--baseline-model", "x"), "no model 'x'"),
        (("compare", "{base}", "{base}", "--model", "x"), "has a model 'x'"),
        (("compare", "{base}", "{base}", "--model", "old", "--by", "window"), "needs a date"),
        (("compare", "{base}", "{base}", "--by", "colour"), "colour"),
        (("compare", "{base}", "{base}", "--cutoff", "soon"), "soon"),
        (("compare", "{base}"), "CANDIDATE"),
        (("scores", "{base}", "--model", "x"), "no model 'x'"),
        (("scores", "{base}", "-k", "0"), "expected 1 or more"),
        (("scores", "nowhere"), "no such folder: nowhere"),
        (("scores", __file__), "is a file, not a folder"),
    ],
)
def test_bad_input_ends_with_two_and_is_named(base, words, told):
    ran = goldseam(*(word.format(base=base) for word in words))

    assert ran.returncode == 2
    assert told in ran.error_text
    assert ran.stdout == ""


def test_a_terminal_that_knows_only_ascii_is_told_too(base, tmp_path):
    candidate = make_run(tmp_path / "new", {"new": [WON] * 14 + [LOST] * 6})
    words = [sys.executable, "-m", "miner.cli.main", "compare", str(candidate), str(base)]

    ran = process.run(words, env={**os.environ, "PYTHONIOENCODING": "ascii"}, check=False)

    assert ran.returncode == 0
    assert b"1/1 > 0/1" in ran.stdout


def test_names_are_shown_as_they_are_and_not_as_markup(tmp_path):
    one = make_run(tmp_path / "one", {"[red]a[/red]": [WON] * 3})
    two = make_run(tmp_path / "two", {"[/]": [WON] * 3})

    text = goldseam("compare", one, two, **WIDE).stdout

    assert "[red]a[/red]" in text
    assert "[/] resolves" in text


def test_scores_tell_interval_and_coverage(tmp_path):
    run = make_run(tmp_path / "run", {"a": [WON, WON, LOST, GAP]})

    [line] = [line.split() for line in goldseam("scores", run, **WIDE).stdout.splitlines() if line.startswith("a ")]

    assert line == ["a", "2/3", "67%", "21–94%", "75%", "83", "83%", "100%"]


def test_scores_of_several_samples_tell_pass_at_k(tmp_path):
    run = tmp_path / "run"
    made = [report_runs.add(run, ID(0), "a", outcome, sample=n) for n, outcome in enumerate([WON, LOST, LOST])]
    RunFolder(path=run).write_predictions(made)

    [model] = json.loads(goldseam("scores", run, "-k", "2", "--json").stdout)["models"]

    assert model["tries"][0]["pass_at_k"]["value"] == pytest.approx(2 / 3)
    assert model["tries"][0]["pass_hat_k"]["value"] == 0.0
    assert model["knows_dataset"] is False


def test_scores_are_broken_down(tmp_path):
    facts = {
        ID(0): TaskFacts(state=TaskState.PROVED, created_at="2024-01-01T00:00:00Z"),
        ID(1): TaskFacts(state=TaskState.PROVED, created_at="2026-01-01T00:00:00Z"),
        ID(2): TaskFacts(state=TaskState.QUARANTINED),
    }
    run = make_run(tmp_path / "run", {"a": [WON, LOST, LOST]}, facts=facts)

    text = goldseam("scores", run, "--by", "window", "--cutoff", "2025-01-01", **WIDE).stdout

    assert "before 2025-01-01  a          1       1/1  100%" in text
    assert "from 2025-01-01    a          1       0/1    0%" in text
    assert f"not counted, since not proved, quarantined or retired: {ID(2)}" in " ".join(text.split())


def inside(number, **fields):
    return {ID(n): TaskFacts(state=TaskState.PROVED, place=Place.INSIDE, **fields) for n in range(number)}


def test_scores_tell_how_many_tasks_are_not_judged_on_the_host(tmp_path):
    run = make_run(tmp_path / "run", {"a": [WON, LOST]}, facts=inside(1))

    text = " ".join(goldseam("scores", run, **WIDE).stdout.split())

    assert "Of 2 tasks, 1 judged inside: a patch written to defeat goldseam may pass these" in text


def test_scores_for_a_program_count_where_tasks_are_judged(tmp_path):
    run = make_run(tmp_path / "run", {"a": [WON, LOST]}, facts=inside(1, guessable=True))

    [model] = json.loads(goldseam("scores", run, "--json").stdout)["models"]

    assert (model["judged"], model["guessable_tasks"]) == ({"host": 1, "mixed": 0, "inside": 1}, 1)


def test_scores_of_tasks_judged_on_the_host_tell_nothing_of_forgers(tmp_path):
    assert "defeat" not in goldseam("scores", make_run(tmp_path / "run", {"a": [WON]}), **WIDE).stdout


def test_a_comparison_tells_how_many_tasks_are_not_judged_on_the_host(tmp_path):
    runs = [make_run(tmp_path / name, {name: [WON, LOST]}, facts=inside(2)) for name in "ab"]

    text = " ".join(goldseam("compare", *runs, **WIDE).stdout.split())

    assert text.count("Of 2 tasks, 2 judged inside") == 1


def test_a_run_that_does_not_know_its_dataset_says_so(tmp_path):
    run = make_run(tmp_path / "run", {"a": [WON]}, facts={})

    assert "coverage is of what was asked" in goldseam("scores", run, **WIDE).stdout


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.5, "+50"), (-0.123, "−12"), (0.031, "+3.1"), (0.0, "0"), (0.0001, "0.0"), (-0.0999, "−10.0"), (1, "+100")],
)
def test_a_difference_is_told_in_points(value, text):
    assert scores.points(value) == text


@pytest.mark.parametrize(
    ("total", "known", "text"), [(12.345, 3, "$12.35"), (0.01234, 3, "$0.0123"), (0.0, 3, "$0.00"), (6.0, 2, "–")]
)
def test_money_is_told_only_where_all_of_it_is_known(total, known, text):
    figure = Figure(known=known, of=3, mean=total / known, median=total / known)

    assert scores.dollars(figure) == text


def test_money_nobody_told_is_unknown():
    assert scores.dollars(Figure(known=0, of=3, mean=None, median=None)) == "–"


@pytest.mark.parametrize(("number", "text"), [(78, "78"), (101, "110"), (1234, "1,300"), (100, "100")])
def test_what_it_takes_is_rounded_up_to_two_digits(number, text):
    assert compare_view._about(number) == text


def test_too_few_tasks_for_any_difference_are_told():
    found = compare(run_of(3), run_of(2, 1))

    assert "too few to see any difference" in compare_view.sentence(found)
    assert "no difference" in _printed(compare_view.render([found]))


def test_samples_that_would_help_are_told():
    base = sheet(*(task(number, [WON, LOST, LOST, WON]) for number in range(40)), model="a")
    shares = [(WON, LOST, LOST, LOST), (WON, WON, LOST, LOST), (WON, WON, WON, LOST), (WON, WON, WON, LOST)]
    candidate = sheet(*(task(number, shares[number % 4]) for number in range(40)), model="b")

    assert " samples of each of these." in compare_view.sentence(compare(base, candidate))


def test_many_tasks_left_out_are_not_all_named():
    found = compare(run_of(30), run_of(3))

    text = compare_view.render([found])

    assert "and 17 more" in _printed(text)


def test_a_claim_that_only_one_candidate_could_make_is_explained():
    found = compare_all(run_of(14, 6), [run_of(20, model="six"), run_of(14, 6, model="none")])[0]

    text = compare_view.sentence(found)

    assert "Alone it would count (p = 0.031), as one of several candidates it does not (p = 0.062)." in text


def test_tasks_that_would_do_without_other_candidates_are_not_promised():
    others = [run_of(30, 20, model=str(number)) for number in range(30)]
    found = compare_all(run_of(30, 20), [run_of(39, 11, model="nine"), *others])[0]

    assert found.tasks_needed < len(found.common)
    assert "as one of several candidates it does not" in compare_view.sentence(found)
    assert "it takes about" not in compare_view.sentence(found)


def test_many_flips_are_cut_and_the_largest_shown():
    base = sheet(*(task(number, [LOST, LOST]) for number in range(30)))
    candidate = sheet(*(task(number, [WON, WON if number == 29 else LOST]) for number in range(30)))

    text = _printed(compare_view.render([compare(base, candidate)], flips=3))

    assert "gained: 30 tasks" in text
    assert ID(29) in text
    assert "and 27 more (--flips 30)" in text


def test_every_answer_stands_before_any_detail(base, tmp_path):
    run = make_run(tmp_path / "run", {"b": [WON] * 14 + [LOST] * 6, "c": [WON] * 4 + [LOST] * 16})

    lines = goldseam("compare", base, run, **WIDE).stdout.splitlines()

    assert lines[0].startswith("Better: b resolves 70%")
    assert next(line for line in lines[1:] if line).startswith(("Can't tell: c", "points"))
    assert "b against old" in lines


@pytest.mark.parametrize(
    ("value", "text"), [(None, "–"), (0, "0%"), (0.004, "<1%"), (0.5, "50%"), (0.996, ">99%"), (1, "100%")]
)
def test_what_is_not_quite_all_is_not_called_all(value, text):
    assert scores.percent(value) == text


def test_cohorts_of_a_comparison_stand_side_by_side():
    base = sheet(task(1, repo="acme/a"), task(2, [LOST], repo="acme/b"), model="one")
    candidate = sheet(task(1, [LOST], repo="acme/a"), task(2, [LOST], repo="acme/b"), model="two")

    text = _printed(
        compare_view.render([compare(base, candidate)], by=[CohortKey.REPO], cutoffs=Cutoffs(every=date(2025, 1, 1)))
    )

    [line] = [line.split() for line in text.splitlines() if line.strip().startswith("acme/a")]
    assert line[:4] == ["acme/a", "1", "1/1", "100%"]
    assert line[5:7] == ["0/1", "0%"]


def _printed(renderable):
    console = Console(width=120, record=True, file=io.StringIO())
    console.print(renderable)
    return console.export_text()


def test_an_outcome_of_each_kind_can_be_compared(tmp_path):
    kinds = [Outcome.RESOLVED, Outcome.UNRESOLVED, Outcome.EMPTY_PATCH, Outcome.APPLY_FAILED, Outcome.TAMPERED]
    one, two = make_run(tmp_path / "one", {"a": kinds}), make_run(tmp_path / "two", {"b": kinds})

    ran = goldseam("compare", one, two, "--json")

    assert json.loads(ran.stdout)["comparisons"][0]["difference"] == 0
