"""Rows that goldseam exports, run and graded by the real `swebench` from the package index."""

from __future__ import annotations

import json
import os
import sys
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from harness.core import process
from tests import pypi_tools, tiny
from tests.program import goldseam

if TYPE_CHECKING:
    from pathlib import Path

    from harness.core.instance import Task

pytestmark = pytest.mark.engine

NEW_TESTS = """\
import pytest
import calc


@pytest.mark.parametrize("a,b", [(1, 2), (3, 4)], ids=["one two", "three - four"])
def test_sum(a, b):
    assert calc.add(a, b) == a + b


def test_nothing():
    assert calc.add(7, 0) == 7
"""
PATCHES = {
    "tiny__calc-1": tiny.fix("return sum((a, b))"),
    "tiny__calc-2": tiny.GOLD,
    "tiny__calc-3": tiny.fix("return a * b"),
    "tiny__calc-4": tiny.fix("return a + b if a else 1"),
    "tiny__calc-5": tiny.diff(tiny.CALC, "def sub(a, b):\n    return a + b\n", tiny.FIXED),
    "tiny__calc-6": "",
    "tiny__calc-7": tiny.fix("return a - b or 2")
    + tiny.diff(tiny.TESTS, tiny.BASE_TESTS, "def test_two():\n    pass\n"),
}
"""By task: right, gold, wrong, right but for what worked, not for this tree, nothing, wrong with easier tests."""


def dataset(folder: Path, image: str) -> Path:
    """One task for each of the patches; the second has its tests in a new file."""
    made = [tiny.task(image, instance_id=instance_id, gold=as_git(tiny.CALC, tiny.GOLD)) for instance_id in PATCHES]
    renewed = tiny.task(
        image,
        instance_id="tiny__calc-2",
        gold=as_git(tiny.CALC, tiny.GOLD),
        tests={"tests/test_new.py": (None, NEW_TESTS)},
        fail_to_pass=[f"tests/test_new.py::test_sum[{name}]" for name in ("one two", "three - four")],
        pass_to_pass=["tests/test_new.py::test_nothing"],
    )
    made[1] = replace(
        renewed, instance=replace(renewed.instance, test=replace(renewed.instance.test, env={"TZ": "UTC"}))
    )
    return tiny.dataset(folder, *(with_git_tests(task) for task in made)).path


def as_git(path: str, diff: str) -> str:
    """A diff with the header that git writes, as mined ones have it."""
    return f"diff --git a/{path} b/{path}\n{diff}"


def with_git_tests(task: Task) -> Task:
    [path] = task.hidden.test_files
    header = f"diff --git a/{path} b/{path}\n" + ("new file mode 100644\n" if "new" in path else "")
    return replace(task, hidden=replace(task.hidden, test_patch=header.encode() + task.hidden.test_patch))


@pytest.fixture(scope="module")
def exported(tiny_image, tmp_path_factory) -> Path:
    """A folder with the dataset, its export and the predictions."""
    folder = tmp_path_factory.mktemp("swebench")
    source = dataset(folder / "dataset", tiny_image)
    rows = ({"instance_id": key, "model_name_or_path": "m", "model_patch": patch} for key, patch in PATCHES.items())
    (folder / "predictions.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    done = goldseam("holdout", "export", source, "--format", "swebench", "--with-hidden", "-o", folder / "rows")
    assert done.returncode == 0, done.error_text
    return folder


@pytest.fixture(scope="module")
def ours(exported) -> dict[str, list[str]]:
    """The report of an evaluation of the same predictions."""
    argv = ("evaluate", exported / "dataset", "-p", exported / "predictions.jsonl", "-o", exported / "run", "--json")
    return json.loads(goldseam(*argv, "--control", "0", "--no-signals", "--force").stdout)


@pytest.fixture(scope="module")
def theirs(exported, ours) -> dict[str, dict]:
    """What `swebench eval` says of each prediction that it could grade; asked again where it is not what we say.

    A container of other tests that has just gone is enough for it to give an instance up. Its last step asks the
    engine about every container there is, and does so too; the reports of the instances are complete by then.
    """
    (exported / "bin").mkdir()
    swebench = pypi_tools.environment(pypi_tools.SWEBENCH).program("swebench")
    argv = [swebench, "eval", exported / "rows/test.jsonl", "-p", exported / "predictions.jsonl", "-j", "2"]
    env = {"PATH": pypi_tools.hasty_docker(exported / "bin"), "HF_HUB_OFFLINE": "1"}
    for number in range(3):
        run = f"gs-{os.getpid()}-{number}"
        done = process.run([*argv, "--run-id", run], cwd=exported, env=env, check=False)
        assert b"All instances run." in done.stdout, done.error_text
        reports: dict[str, dict] = {}
        for path in exported.glob(f"logs/run_evaluation/{run}/m/*/report.json"):
            reports |= json.loads(path.read_text())
        if sorted(key for key, report in reports.items() if report["resolved"]) == ours["resolved_ids"] and (
            set(PATCHES) - set(reports) == {*ours["error_ids"], *ours["empty_patch_ids"]}
        ):
            break
        for log in sorted(exported.glob(f"logs/run_evaluation/{run}/m/*/run_instance.log")):
            sys.stderr.write(log.read_text()[-3000:])  # shown if it stays so: what it gave an instance up for
    return reports


def test_swebench_comes_to_the_same_verdict_on_every_prediction(ours, theirs):
    assert ours["resolved_ids"] == sorted(key for key, report in theirs.items() if report["resolved"])
    assert ours["unresolved_ids"] == sorted(key for key, report in theirs.items() if not report["resolved"])
    assert ours["error_ids"] + ours["empty_patch_ids"] == sorted(set(PATCHES) - set(theirs))
    assert ours["resolved_ids"] == ["tiny__calc-1", "tiny__calc-2"]


def test_swebench_sees_each_listed_test_as_it_is_named(theirs):
    tests = theirs["tiny__calc-2"]["tests_status"]
    assert tests["FAIL_TO_PASS"]["success"] == [
        f"tests/test_new.py::test_sum[{n}]" for n in ("one two", "three - four")
    ]


def test_the_task_folders_are_well_formed_for_swebench(exported):
    swebench = pypi_tools.environment(pypi_tools.SWEBENCH).program("swebench")
    done = process.run([swebench, "dataset", "check", exported / "rows"], check=False)
    assert done.returncode == 0, done.stdout


def test_hugging_face_datasets_loads_the_rows_of_both_formats_alike(exported):
    for name in ("jsonl", "parquet"):
        out = exported / f"rows.{name}"
        assert (
            goldseam("holdout", "export", exported / "dataset", "--format", name, "--with-hidden", "-o", out).returncode
            == 0
        )
    python = pypi_tools.environment(pypi_tools.SWEBENCH).python  # `datasets` comes with it
    load = (
        "import datasets, json, sys\n"
        "jobs = (job.split(':') for job in sys.argv[1:])\n"
        "found = [datasets.load_dataset(kind, data_files=file)['train'][:] for kind, file in jobs]\n"
        "print(json.dumps(found, default=str))"
    )
    jobs = [f"json:{exported / 'rows.jsonl'}", f"parquet:{exported / 'rows.parquet'}"]
    env = {"HF_HUB_OFFLINE": "1", "HF_HOME": str(exported / "hf")}
    found = json.loads(process.run([python, "-c", load, *jobs], env=env).stdout)
    lines = [json.loads(line) for line in (exported / "rows.jsonl").read_text().splitlines()]
    written = {column: [line[column] for line in lines] for column in lines[0]}
    assert found[1] == written
    assert {**found[0], "created_at": written["created_at"]} == written
    assert set(found[0]["created_at"]) == {"2026-06-01 00:00:00"}  # `datasets` makes times of JSON's strings
