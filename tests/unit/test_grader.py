"""The grader that goes with Harbor and Inspect tasks, run as a program on a tree of its own."""

from __future__ import annotations

import json
import shutil
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from harness.core import process
from harness.interop import base
from harness.interop.base import Collection, Exported
from tests import tiny

GRADER = Path(__file__).parents[2] / "harness/languages/inside/grader.py"
STRICT = """\
import atexit, os, pytest, calc


def test_two():
    assert calc.add(1, 1) == 2


def test_zero(request):
    assert calc.add(0, 0) == 0
    if calc.add(1, 0) == 9:
        request.addfinalizer(lambda: 1 / 0)
    if calc.add(1, 0) == 8:
        pytest.xfail("as expected")
    if calc.add(1, 0) == 7:
        os._exit(0)
    while calc.add(1, 0) == 6:
        pass
"""


SUITE = """\
import unittest, calc


class Sums(unittest.TestCase):
    def test_two(self):
        self.assertEqual(calc.add(1, 1), 2)

    @unittest.skipIf(calc.add(1, 0) == 9, "not with this one")
    def test_zero(self):
        self.assertEqual(calc.add(0, 0), 0)
"""


def graded(
    folder, calc=tiny.FIXED, *, tests=(tiny.BASE_TESTS, STRICT), tree=None, seconds=60, framework="pytest", names=""
):
    """Report and reward for a work tree in which an agent left this module and these files."""
    task = tiny.task(
        tests={tiny.TESTS: tests},
        fail_to_pass=[f"{tiny.TESTS}::{names}test_two"],
        pass_to_pass=[f"{tiny.TESTS}::{names}test_zero"],
    )
    spec = replace(task.instance.test, pythonpath=("src",), framework=framework)
    budgets = replace(task.instance.budgets, seconds=seconds)
    task = replace(task, instance=replace(task.instance, test=spec, budgets=budgets))
    pristine, work, given = folder / "pristine", folder / "testbed", folder / "tests"
    for path, text in {tiny.CALC: tiny.BUGGY, tiny.TESTS: tiny.BASE_TESTS}.items():
        if path != tiny.TESTS or tests[0] is not None:
            (pristine / path).parent.mkdir(parents=True, exist_ok=True)
            (pristine / path).write_text(text)
    shutil.copytree(pristine, work)
    for path, text in {tiny.CALC: calc, **(tree or {})}.items():
        (work / path).parent.mkdir(parents=True, exist_ok=True)
        (work / path).write_text(text)
    exported = Exported(instance=task.instance, hidden=task.hidden)
    collection = Collection(name="d", version=1, canary="goldseam-canary 1", tasks=[exported], hidden=True)
    given.mkdir()
    places = ((b'"/testbed"', work), (b'"/opt/goldseam/src"', pristine), (b"=/testbed", work))
    for name, data in base.files(collection, exported, task.hidden).items():
        moved = data
        for place, ours in places:
            moved = moved.replace(place, b"=" + bytes(ours) if place[:1] == b"=" else json.dumps(str(ours)).encode())
        (given / name).write_bytes(moved)
    done = process.run([sys.executable, "-s", "-B", given / "grader.py", given, folder], check=False)
    assert done.returncode == 0, done.error_text
    return json.loads((folder / "report.json").read_text()), (folder / "reward.txt").read_text()


def test_the_fix_is_rewarded(tmp_path):
    report, reward = graded(tmp_path)
    assert (report["resolved"], reward) == (True, "1\n")
    assert report["tests_status"]["PASS_TO_PASS"] == {"success": ["tests/test_calc.py::test_zero"], "failure": []}


@pytest.mark.parametrize(
    ("broken", "reason"),
    [
        ("return a - b", "1 of the listed tests do not pass"),
        ("return 9 if (a, b) == (1, 0) else a + b", "1 of the listed tests do not pass"),  # its end fails
        ("return 8 if (a, b) == (1, 0) else a + b", "1 of the listed tests do not pass"),  # it is expected to fail
        ("return 7 if (a, b) == (1, 0) else a + b", "ended before they were done"),
        ("return 6 if (a, b) == (1, 0) else a + b", "took longer than 2 s"),
    ],
)
def test_what_is_not_the_fix_is_not_rewarded(tmp_path, broken, reason):
    seconds = 2 if "longer" in reason else 60
    report, reward = graded(tmp_path, f"def add(a, b):\n    {broken}\n", seconds=seconds)
    assert (report["resolved"], reward) == (False, "0\n")
    assert reason in report["reason"]


def test_what_an_agent_did_to_the_hidden_tests_file_is_undone(tmp_path):
    easy = {tiny.TESTS: "def test_two():\n    pass\n\n\ndef test_zero():\n    pass\n"}
    report, reward = graded(tmp_path, tree=easy)
    assert (report["reason"], reward) == ("", "1\n")


def test_a_file_where_a_new_hidden_test_belongs_is_taken_away(tmp_path):
    assert graded(tmp_path, tests=(None, STRICT), tree={tiny.TESTS: "squatter\n"})[1] == "1\n"


@pytest.mark.parametrize(
    ("calc", "reward"),
    [
        (tiny.FIXED, "1\n"),
        (tiny.BUGGY, "0\n"),
        ("def add(a, b):\n    return 9 if (a, b) == (1, 0) else a + b\n", "0\n"),  # one of the tests is skipped
    ],
)
def test_suites_of_unittest_are_graded_without_pytest(tmp_path, calc, reward):
    report, given = graded(tmp_path, calc, tests=(None, SUITE), framework="unittest", names="Sums::")
    assert (report["resolved"], given) == (reward == "1\n", reward)
