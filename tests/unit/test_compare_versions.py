"""Two runs on two versions of a dataset: what is the same in both is compared, and the answer says so."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from dataclasses import replace

import pytest

from harness.analysis.compare import Reason, compare
from harness.runs.run_folder import RunFolder
from tests import gate_runs
from tests.program import goldseam
from tests.sheets import LOST, WON, sheet, task


def version(number: int, content: str, *tasks):
    return replace(sheet(*tasks), dataset_version=number, dataset_content=content)


OLD = version(1, "sha256:a", task(1), task(2), task(3, digest="old"), task(4))
NEW = version(2, "sha256:b", task(1, [LOST]), task(2), task(3, digest="new"), task(5))


def test_only_tasks_that_are_the_same_in_both_are_compared():
    found = compare(OLD, NEW)

    assert found.common == ("acme__widgets-1", "acme__widgets-2")
    assert found.left_out == {
        "acme__widgets-3": Reason.TASK_CHANGED,
        "acme__widgets-4": Reason.ONLY_IN_BASE,
        "acme__widgets-5": Reason.ONLY_IN_CANDIDATE,
    }


def test_the_answer_says_on_how_many_it_stands():
    [warning] = compare(OLD, NEW).warnings

    assert "versions 1 and 2" in warning
    assert "2 tasks that are the same in both" in warning
    assert "without 3 others" in warning


def test_a_content_that_changed_under_one_version_is_told():
    [warning] = compare(version(1, "sha256:a", task(1)), version(1, "sha256:b", task(1))).warnings

    assert "its tasks were changed between them" in warning


@pytest.mark.parametrize("content", ["sha256:a", None])
def test_the_same_content_or_an_unknown_one_is_no_matter(content):
    assert compare(version(1, "sha256:a", task(1, [WON])), version(1, content, task(1))).warnings == ()


def test_a_run_before_and_after_a_rotation_are_compared_on_what_stayed(tmp_path):
    base, candidate = (gate_runs.make_run(tmp_path / name, won) for name, won in (("base", 20), ("candidate", 10)))
    for run, number, gone in ((base, 3, range(28, 30)), (candidate, 4, range(2))):
        folder = RunFolder(path=run)
        record = folder.record()
        lost = {f"acme__widgets-{one}" for one in gone}
        folder.write_predictions(one for one in folder.predictions() if one.instance_id not in lost)
        for name in lost:
            shutil.rmtree(run / "results" / "model" / name)
        tasks = {name: "new" if (number, name) == (4, "acme__widgets-5") else "same" for name in record.tasks}
        folder.write_run(
            record.model_copy(update={"dataset_version": number, "dataset_content": f"sha256:{number}", "tasks": tasks})
        )
    ran = goldseam("compare", base, candidate, "--json")
    [found] = json.loads(ran.stdout)["comparisons"]

    assert len(found["compared"]) == 25
    assert Counter(found["left_out"].values()) == {
        "only in base": 2,
        "only in candidate": 2,
        "task changed between the runs": 1,
    }
    assert any("versions 3 and 4" in text and "25 tasks" in text for text in found["warnings"])
    gated = goldseam("gate", candidate, "--baseline", base, "--json")
    assert json.loads(gated.stdout)["compared"] == 25
