"""A run on disk."""

from __future__ import annotations

from dataclasses import replace

import pytest

from harness.core.errors import InputError
from harness.core.instance import Outcome
from harness.grading.grade import Grade
from harness.judging.places import Place
from harness.runs.run_folder import InstanceReport, RunFolder, folder_name, instance_report, merge_predictions, scores
from tests import tiny


def test_models_that_differ_have_folders_that_differ():
    names = ["a/b", "a__b", "a b", "a_b", "..", ".", "x" * 300, "x" * 301, "é", "A", "a/b/c"]
    folders = [folder_name(name) for name in names]
    assert len(set(folders)) == len(names)
    assert all("/" not in folder and folder not in ("", ".", "..") for folder in folders)


def test_a_reason_that_is_no_text_can_be_written(tmp_path):
    grade = Grade(outcome=Outcome.UNRESOLVED, cause="x", reason="bad \ud800 \udce9")
    assert instance_report(tiny.prediction(), grade).model_dump_json()


def test_another_patch_for_the_same_prediction_is_refused():
    with pytest.raises(InputError, match="another patch"):
        merge_predictions([tiny.prediction("a")], [tiny.prediction("b")])


def test_what_killed_writes_left_is_removed(tmp_path):
    folder = RunFolder(path=tmp_path)
    stray = folder.sample_folder(tiny.prediction()) / ".report.json.abc.tmp"
    stray.parent.mkdir(parents=True)
    stray.touch()
    folder.remove_strays()
    assert not stray.exists()


def test_reports_on_one_task_hold_its_test_ids_once():
    status = {"PASS_TO_PASS": {"success": ["tests/test_a.py::test_b[c]"], "failure": []}}
    one, two = (
        InstanceReport.model_validate_json(
            InstanceReport(
                instance_id="a", model_name_or_path=model, outcome=Outcome.RESOLVED, resolved=True, tests_status=status
            ).model_dump_json()
        )
        for model in "xy"
    )
    [first], [second] = (report.tests_status["PASS_TO_PASS"]["success"] for report in (one, two))
    assert first is second


def judged_by(*places):
    return [
        InstanceReport(
            instance_id=f"t-{number}", model_name_or_path="m", outcome=Outcome.RESOLVED, resolved=True, place=place
        )
        for number, place in enumerate(places)
    ]


def test_what_a_repositorys_own_runner_judges_is_counted_apart_and_alone_where_there_is_nothing_else():
    predictions = [
        replace(tiny.prediction("x"), model_name_or_path="m", instance_id=f"t-{number}") for number in (0, 1)
    ]
    [mixed] = scores(predictions, judged_by(Place.OWN_RUNNER, Place.HOST))
    assert (mixed.resolved, mixed.scored, mixed.total, mixed.coverage, mixed.apart) == (1, 1, 1, 1.0, 1)
    [alone] = scores(predictions, judged_by(Place.OWN_RUNNER, Place.OWN_RUNNER))
    assert (alone.resolved, alone.scored, alone.total, alone.apart) == (2, 2, 2, 0)


@pytest.mark.parametrize("other", ["zz_/coll", "zz__/coll", "zz__coll", "zz///coll"])
def test_two_names_whose_folders_look_alike_get_two(other):
    assert folder_name("zz/_coll") != folder_name(other)


def test_no_name_is_the_folder_of_another():
    assert folder_name(folder_name("red victim")) != folder_name("red victim")
