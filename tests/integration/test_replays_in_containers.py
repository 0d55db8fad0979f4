"""Recorded calls replayed on patches in real containers: what is right only under test, and what is overfitted."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from harness.core.instance import PASSING
from harness.differential.corpus import Corpus
from harness.runs.evaluate import Settings, evaluate_one
from miner.calls.recording import recorded
from tests import tiny

if TYPE_CHECKING:
    from collections.abc import Callable

    from harness.core.instance import Task
    from harness.differential.replay import Replay

pytestmark = pytest.mark.engine
HELD = """\
class Till:
    def __init__(self, start):
        self._sum = start

    def put(self, value):
        self._sum = {call}

    def total(self):
        return self._sum


def add(a, b):
    return a {sign} b
"""
TESTS = """\
import calc


def test_two():
    assert calc.add(1, 1) == 2
    assert calc.add(b=2, a=5) == 7


def test_till():
    till = calc.Till(4)
    till.put(3)
    assert till.total() == 7
"""
BASE = HELD.format(call="add(self._sum, value)", sign="-")
FIXED = HELD.format(call="add(self._sum, value)", sign="+")
IDS = ("tests/test_calc.py::test_two", "tests/test_calc.py::test_till")


@pytest.fixture(scope="module")
def task(tmp_path_factory, sandbox) -> Task:
    """A task with calls."""
    image = tiny.build_image(tmp_path_factory.mktemp("image"), {**tiny.FILES, tiny.CALC: BASE})
    plain = tiny.task(
        image,
        tests={tiny.TESTS: (tiny.BASE_TESTS, TESTS)},
        gold=tiny.diff(tiny.CALC, BASE, FIXED),
        fail_to_pass=IDS,
        pass_to_pass=(),
    )
    found = recorded(plain, sandbox)
    return replace(plain, hidden=replace(plain.hidden, calls=found.written()))


@pytest.fixture(scope="module")
def replay_of(task, sandbox) -> Callable[[str], Replay]:
    """The figures of a patch that puts something else in place of `return a - b`, once it has resolved the task."""

    def score(*body: str, top: str = "") -> Replay:
        fixed = top + BASE.replace("    return a - b\n", "".join(f"    {line}\n" for line in body))
        prediction = tiny.prediction(tiny.diff(tiny.CALC, BASE, fixed))
        report = evaluate_one(task, prediction, sandbox, settings=Settings(replay=True)).report
        assert report.outcome in PASSING, report.reason
        assert report.replay is not None
        return report.replay

    return score


def test_calls_of_tests_are_recorded_with_what_they_work_on(task):
    calls = [call for call in Corpus.read(task.hidden.calls).calls if not call.nearby]
    by_text = {json.dumps(call.steps): call for call in calls}

    assert json.dumps([["f", "calc:add", [["i", "1"], ["i", "1"]], []]]) in by_text
    put = [["f", "calc:Till", [["i", "4"]], []], ["m", "put", [["v", 0], ["i", "3"]], []]]
    assert by_text[json.dumps(put)].telling is False  # `_sum` is its own affair
    assert all(call.telling for call in calls if call.steps[-1][1] == "calc:add")


def test_inputs_near_the_calls_have_the_answers_of_the_fix(task):
    near = [call for call in Corpus.read(task.hidden.calls).calls if call.nearby and call.steps[-1][1] == "calc:add"]

    assert len(near) >= 10
    for call in near:
        if [arg[0] for arg in call.steps[0][2]] == ["i", "i"]:
            first, second = (int(arg[1], 16) for arg in call.steps[0][2])
            assert call.answer == {"value": ["i", format(first + second, "x")]}


def test_a_right_patch_answers_everything_as_the_fix_does(replay_of):
    found = replay_of("return sum([b, a])")

    assert (found.agree, found.nearby_agree, found.telling_agree) == (found.calls, found.nearby, found.telling)
    assert found.calls >= 3
    assert found.telling >= 10
    assert found.right_only_under_test is False


@pytest.mark.parametrize(
    "condition",
    [
        "'PYTEST_CURRENT_TEST' in __import__('os').environ",
        "'pytest' in __import__('sys').modules",
        "__import__('socket').gethostname() == 'sandbox'",
        "__import__('time').time() < 1900000000",
        "__import__('os').environ.get('PYTHONHASHSEED') == '0'",
        "'test_till' in open('/testbed/tests/test_calc.py').read()",
    ],
)
def test_a_patch_that_is_right_only_under_test_is_told(replay_of, condition):
    found = replay_of(f"return a + b if {condition} else a - b")

    assert found.right_only_under_test is True
    assert found.agree < found.calls


def test_an_overfitted_patch_differs_nearby_and_is_not_taken_for_one_that_looks_for_tests(replay_of):
    found = replay_of("return {(1, 1): 2, (5, 2): 7, (4, 3): 7}.get((a, b), 0)")

    assert found.agree == found.calls
    assert found.telling_agree < 0.5 * found.telling
    assert found.right_only_under_test is False


def test_a_patch_that_hangs_outside_of_tests_loses_its_answers_and_not_the_verdict(replay_of):
    found = replay_of("while (a, b) == (1, 1) and 'pytest' not in __import__('sys').modules: pass", "return a + b")

    assert 0 < found.agree < found.calls
    assert found.right_only_under_test is True


def test_a_patch_that_ends_the_process_outside_of_tests_tells_why_there_are_no_figures(replay_of):
    end = "import sys, os\nif 'pytest' not in sys.modules: os._exit(0)\n"

    found = replay_of("return a + b", top=end)

    assert found.agree == 0
    assert found.why_not == "it ended before every call was made"


def test_a_task_without_calls_tells_how_to_get_some(tiny_image, sandbox):
    report = evaluate_one(tiny.task(tiny_image), tiny.prediction(), sandbox, settings=Settings(replay=True)).report

    assert report.resolved
    assert report.replay is not None
    assert "holdout calls" in report.replay.why_not


def test_a_patch_that_fails_is_not_replayed(task, sandbox):
    wrong = tiny.prediction(tiny.diff(tiny.CALC, BASE, BASE.replace("a - b", "a * b")))

    assert evaluate_one(task, wrong, sandbox, settings=Settings(replay=True)).report.replay is None


def test_the_commands_record_and_replay(task, tmp_path):
    bare = replace(task, hidden=replace(task.hidden, calls=b""))
    dataset = tiny.dataset(tmp_path / "d", bare).path

    first = json.loads(tiny.goldseam("holdout", "calls", dataset, "--json").stdout)
    ended = tiny.goldseam("evaluate", dataset, "--gold", "-o", tmp_path / "run", "--replay", "--no-signals")

    assert first["tasks"][0]["calls"] >= 3
    assert ended.returncode == 0
    report = json.loads(next((tmp_path / "run").glob("results/gold/*/0/report.json")).read_text())
    assert report["replay"]["agree"] == report["replay"]["calls"] == first["tasks"][0]["calls"]
    assert report["replay"]["right_only_under_test"] is False
