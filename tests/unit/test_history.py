"""The history of a model: a trend by date, and a step where chance explains none."""

from __future__ import annotations

import random

import pytest
from rich.console import Console

from harness.analysis.history import Dated, read, trend
from harness.cli.views import history as history_text
from harness.core.errors import InputError
from harness.core.instance import Outcome, TaskState
from harness.runs.run_folder import RunFolder, RunRecord
from tests import report_runs
from tests.sheets import LOST, WON, sheet, task


def dated(day, *tasks, **facts):
    return Dated(
        sheet=sheet(*tasks),
        run=f"run-{day:02d}",
        started_at=f"2026-03-{day:02d}T04:00:00Z",
        facts={"goldseam": "1.0", **facts},
    )


def weekly(won, *, tasks=30, **facts):
    """A run a day; each resolves the first so many tasks."""
    return [
        dated(day, *(task(n, [WON if n < count else LOST]) for n in range(tasks)), **facts)
        for day, count in enumerate(won, start=1)
    ]


def noise(seed, *, runs=10, tasks=40):
    """A model that does not change: each task is resolved with a chance of its own."""
    chance = random.Random(seed)
    ease = [chance.random() for _ in range(tasks)]
    return [
        dated(day, *(task(n, [WON if chance.random() < share else LOST]) for n, share in enumerate(ease)))
        for day in range(1, runs + 1)
    ]


def test_a_step_is_found_at_the_run_where_it_happened():
    found = trend(weekly([20, 20, 20, 20, 8, 8, 8]))

    [step] = found.steps
    assert (step.run, step.date[:10], step.before, step.after) == ("run-05", "2026-03-05", 3, 4)
    assert step.difference == pytest.approx(-12 / 30)


def test_two_steps_are_told_apart():
    found = trend(weekly([10, 10, 10, 24, 24, 24, 12, 12, 12]))

    assert [(step.run, step.difference > 0) for step in found.steps] == [("run-04", True), ("run-07", False)]


def test_a_step_has_to_stand_out_from_all_the_steps_there_are():
    runs = weekly([28, 28, 12, 6])

    assert [step.after for step in trend(runs).steps] == [2]
    assert trend(runs[2:]).steps  # alone, the six flips of the last one would do


def test_a_change_that_chance_explains_is_no_step():
    assert trend(weekly([20, 15])).steps == ()  # five flips in one direction: p = 1/16


def test_more_runs_show_a_smaller_step():
    def runs(count, seed=0):
        chance = random.Random(seed)
        shares = [0.6] * count + [0.4] * count
        return [
            dated(day, *(task(n, [WON if chance.random() < share else LOST]) for n in range(40)))
            for day, share in enumerate(shares, start=1)
        ]

    assert trend(runs(1)).steps == ()
    [step] = trend(runs(8)).steps
    assert 7 <= step.after <= 9


def test_no_change_at_all_shows_no_step():
    found = trend(weekly([12] * 6))

    assert found.steps == ()
    assert found.sentence.startswith("No step shown in 6 runs")


def test_chance_alone_rarely_shows_a_step():
    assert sum(bool(trend(noise(seed)).steps) for seed in range(40)) <= 4


def test_one_run_is_nothing_to_compare():
    assert trend(weekly([12])).sentence == "One run: nothing to compare it with."


def test_runs_are_put_in_the_order_of_their_dates():
    found = trend(list(reversed(weekly([20, 20, 5, 5]))))

    assert [point.run for point in found.points] == ["run-01", "run-02", "run-03", "run-04"]
    assert found.steps[0].run == "run-03"


def test_a_task_that_changed_is_another_task():
    before = [dated(day, *(task(n, [WON], digest="old") for n in range(20))) for day in (1, 2)]
    after = [dated(day, *(task(n, [LOST], digest="new") for n in range(20))) for day in (3, 4)]

    assert trend([*before, *after]).steps == ()


def test_a_task_that_any_run_set_aside_explains_no_step():
    runs = weekly([20, 20, 0, 0], tasks=20)
    aside = dated(5, *(task(n, [LOST], state=TaskState.QUARANTINED) for n in range(20)))

    assert trend(runs).steps
    assert trend([*runs, aside]).steps == ()


def test_new_and_harder_tasks_are_no_step():
    before = [dated(day, *(task(n) for n in range(20))) for day in (1, 2)]
    after = [dated(day, *(task(n) for n in range(20)), *(task(n, [LOST]) for n in range(20, 60))) for day in (3, 4)]

    found = trend([*before, *after])

    assert found.points[-1].share == pytest.approx(1 / 3)
    assert found.steps == ()


def test_what_changed_at_the_step_is_named_as_a_possible_cause():
    runs = [*weekly([20, 20]), *(one for one in weekly([20, 20, 5, 5], goldseam="2.0", grading="version 3")[2:])]

    [step] = trend(runs).steps

    assert step.causes == ("goldseam: 1.0 → 2.0", "grading: unknown → version 3")


def test_a_step_without_a_recorded_change_names_none():
    assert trend(weekly([20, 20, 5, 5])).steps[0].causes == ()


def rendered(history, width):
    console = Console(width=width, record=True, file=None, force_terminal=False)
    with console.capture() as capture:
        console.print(history_text.render(history, width=width))
    return capture.get()


def make_runs(folder, won):
    """Run folders as evaluate leaves them, a day apart."""
    for day, count in enumerate(won, start=1):
        path = folder / f"run-{day}"
        made = [
            report_runs.add(path, f"acme__widgets-{n}", "model", Outcome.RESOLVED if n < count else Outcome.UNRESOLVED)
            for n in range(15)
        ]
        RunFolder(path=path).write_predictions(made)
        RunFolder(path=path).write_run(
            RunRecord(
                goldseam_version="0.1.0" if day < 3 else "0.2.0",
                grading_version=2,
                dataset="widgets",
                dataset_version=1,
                tasks={f"acme__widgets-{n}": "d" for n in range(15)},
                images={},
                models=["model"],
                settings={},
                machine={"cpus": 2},
                started_at=f"2026-03-{day:02d}T04:00:00Z",
            )
        )
    return folder


@pytest.mark.parametrize("width", [80, 120])
def test_the_trend_fits_the_terminal_and_marks_the_step(tmp_path, width):
    text = rendered(read(make_runs(tmp_path, [14, 14, 3, 3])), width)

    assert max(len(line) for line in text.splitlines()) <= width
    assert "▼ -73.3 points at run-3 (2026-03-03)" in text
    assert "changed there: goldseam: 0.1.0 → 0.2.0" in text


def test_a_run_without_a_date_or_with_a_broken_file_is_left_out_and_said(tmp_path):
    make_runs(tmp_path, [14, 14, 14])
    (tmp_path / "run-1" / "run.json").unlink()
    (tmp_path / "run-2" / "predictions.jsonl").write_bytes(b"\xff\n")

    found = read(tmp_path)

    assert [point.run for point in found.trends[0].points] == ["run-3"]
    assert len(found.left_out) == 2


def test_other_folders_and_files_are_not_taken_for_runs(tmp_path):
    make_runs(tmp_path, [14])
    (tmp_path / "notes").mkdir()
    (tmp_path / "accepted.json").write_text("{}", encoding="utf-8")

    assert len(read(tmp_path).trends[0].points) == 1


def test_a_model_that_no_run_has_is_refused_with_those_they_have(tmp_path):
    with pytest.raises(InputError) as error:
        read(make_runs(tmp_path, [14]), model="modle")

    assert "model" in (error.value.hint or "")


def test_a_run_folder_in_place_of_the_folder_above_it_is_explained(tmp_path):
    with pytest.raises(InputError) as error:
        read(make_runs(tmp_path, [14]) / "run-1")

    assert str(tmp_path) in (error.value.hint or "")


@pytest.mark.parametrize("name", ["nowhere", "empty"])
def test_a_folder_without_runs_is_refused(tmp_path, name):
    (tmp_path / "empty").mkdir()

    with pytest.raises(InputError):
        read(tmp_path / name)


def test_names_cannot_write_to_the_terminal(tmp_path):
    make_runs(tmp_path, [14])
    (tmp_path / "run-1").rename(tmp_path / "a\x1b[31m\u202eb")

    text = rendered(read(tmp_path), 80)

    assert not {"\x1b", "\u202e"} & set(text)
