"""Strength, measured in real containers: weak tests let known faults live, strong ones kill every one of them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from harness.checks import dataset as check
from harness.dataset.folder import open_dataset
from harness.runs.evaluate import Settings, evaluate_one
from harness.sandbox.executors.local import LocalExecutor
from harness.sandbox.job import MissingImageError
from miner.quality.strength import run as running
from miner.quality.strength.lines import read_files
from miner.quality.strength.result import Bounds, Kind, Variant
from miner.quality.strength.run import CannotMeasureError, StrengthRequest, gauge, measure
from tests import tiny

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.engine
score = running.scoring.score
FILLER = "".join(f"# line {number}\n" for number in range(8))
BASE = f"def add(a, b):\n    return a - b\n{FILLER}\ndef clamp(value, low, high):\n    return value\n"
FIXED = BASE.replace("a - b", "a + b").replace("    return value\n", "    return max(low, min(value, high))\n")
CLAMP_LINE = FIXED.splitlines().index("    return max(low, min(value, high))") + 1
HEAD = "import calc\n\n\ndef test_add():\n    assert calc.add(2, 2) == 4\n"
STRONG = HEAD + "\n\ndef test_clamp():\n    assert [calc.clamp(n, 1, 3) for n in (0, 2, 9)] == [1, 2, 3]\n"
ENDLESS = "def add(a, b):\n    while b > 0:\n        a += 1\n    return a\n"
ADD, CLAMP = "tests/test_calc.py::test_add", "tests/test_calc.py::test_clamp"


@pytest.fixture(scope="module")
def image(tmp_path_factory) -> str:
    return tiny.build_image(tmp_path_factory.mktemp("image"), {**tiny.FILES, tiny.CALC: BASE})


def task_of(image: str, name: str, tests: str = HEAD, *, fail_to_pass: tuple[str, ...] = (ADD,)):
    return tiny.task(
        image,
        instance_id=f"tiny__{name}-1",
        tests={tiny.TESTS: (tiny.BASE_TESTS, tests)},
        gold=tiny.diff(tiny.CALC, BASE, FIXED),
        fail_to_pass=fail_to_pass,
        pass_to_pass=(),
    )


@pytest.fixture(scope="module")
def bench(image, sandbox, tmp_path_factory) -> tuple[Path, dict]:
    """A dataset with a weak and a strong task, measured."""
    weak, strong = task_of(image, "weak"), task_of(image, "strong", STRONG, fail_to_pass=(ADD, CLAMP))
    dataset = tiny.dataset(tmp_path_factory.mktemp("strength") / "bench", weak, strong)
    found = gauge(
        dataset,
        (),
        StrengthRequest(bounds=Bounds()),
        sandbox=sandbox,
        executor=LocalExecutor(jobs=2),
        note=lambda _: None,
    )
    return dataset.path, {one.instance_id: one for one in found}


def test_strong_tests_kill_every_part_and_every_mutant(bench):
    strong = bench[1]["tiny__strong-1"].quality

    assert strong["share"] == 1.0
    assert strong["tried"] >= 5
    assert strong["parts"] == {"tried": 2, "survived": 0}
    assert strong["empty"] == "killed"


def test_weak_tests_let_the_part_live_that_they_do_not_look_at(bench):
    path, found = bench
    weak = found["tiny__weak-1"]
    parts = sorted((path / "tasks" / "tiny__weak-1").glob("survivor-*-part.patch"))

    assert weak.quality["parts"] == {"tried": 2, "survived": 1}
    assert len(parts) == 1
    assert b"+    return a + b" in parts[0].read_bytes()
    assert b"max(low" not in parts[0].read_bytes().split(b"---", 1)[1]


def test_weak_tests_let_the_mutant_live_that_they_do_not_reach(bench):
    path, found = bench
    evidence = json.loads((path / "tasks" / "tiny__weak-1" / "tests.json").read_text())["evidence"]["strength"]
    living = [one for one in evidence["tried"] if one["kind"] == "mutant" and one["survived"]]

    assert found["tiny__weak-1"].quality["mutants"]["survived"] == len(living) > 0
    assert {one["line"] for one in living} == {CLAMP_LINE}
    assert all((path / "tasks" / "tiny__weak-1" / one["file"]).is_file() for one in living)


def test_coverage_tells_the_changed_line_that_no_fail_to_pass_test_runs(bench):
    path, found = bench
    weak, strong = (found[f"tiny__{name}-1"].quality for name in ("weak", "strong"))
    evidence = json.loads((path / "tasks" / "tiny__weak-1" / "tests.json").read_text())["evidence"]["strength"]

    assert (weak["covered_lines"], weak["changed_lines"]) == (1, 2)
    assert evidence["uncovered"] == {tiny.CALC: [CLAMP_LINE]}
    assert (strong["covered_lines"], strong["changed_lines"]) == (2, 2)


def test_a_survivor_given_as_a_prediction_resolves_the_task(bench, sandbox):
    path, _ = bench
    task = open_dataset(path).task("tiny__weak-1")
    patch = (path / "tasks" / "tiny__weak-1" / "survivor-01-part.patch").read_text()

    found = evaluate_one(task, tiny.prediction(patch, instance_id="tiny__weak-1"), sandbox, settings=Settings())

    assert found.report.resolved


def test_the_dataset_has_no_problem_and_the_command_tells_the_weakest_first(bench):
    path, _ = bench

    told = tiny.goldseam("holdout", "strength", path, "--mutants", "20")
    lines = told.stdout.decode().splitlines()

    assert told.returncode == 0, told.stderr
    assert check.check(path) == ()
    assert [line.split()[0] for line in lines[1:3]] == ["tiny__weak-1", "tiny__strong-1"]
    assert any(line.endswith("tiny__weak-1/survivor-01-part.patch") for line in lines)
    assert "2 of them measured before" in lines[-1]


def test_the_command_prints_one_json_document(bench):
    path, _ = bench

    told = json.loads(
        tiny.goldseam("holdout", "strength", path, "-i", "tiny__weak-1", "--mutants", "20", "--json").stdout
    )

    assert [one["instance_id"] for one in told["tasks"]] == ["tiny__weak-1"]
    assert told["tasks"][0]["known"]
    assert told["tasks"][0]["survivors"][0] == "survivor-01-part.patch"


def test_a_mutant_that_never_ends_is_killed_soon(image, sandbox, monkeypatch):
    monkeypatch.setattr(running, "_FLOOR", 2.0)
    task = task_of(image, "loop")
    patch = tiny.diff(tiny.CALC, BASE, ENDLESS).encode()

    tried = running._try(task, Variant(kind=Kind.MUTANT, patch=patch), running._gold(task, sandbox), sandbox)

    assert tried is not None
    assert (tried.survived, tried.cause) == (False, "timeout")


def test_where_tests_take_long_the_failing_ones_alone_come_first_and_nothing_else_comes_of_it(
    bench, image, sandbox, monkeypatch
):
    monkeypatch.setattr(running, "_LONG", 0.0)
    asked = []
    monkeypatch.setattr(running.scoring, "score", lambda task, *rest: asked.append(task) or score(task, *rest))

    found = measure(task_of(image, "weak"), sandbox, Bounds(parts=2, mutants=0)).tried

    assert {one.hidden.test_files for one in asked} == {(tiny.TESTS,), (ADD,)}
    assert [one.survived for one in found] == [False, True, False]


def test_a_fix_that_does_not_hold_here_is_not_measured(image, sandbox):
    task = task_of(image, "gone", fail_to_pass=("tests/test_calc.py::test_gone",))

    with pytest.raises(CannotMeasureError, match="does not resolve it here"):
        measure(task, sandbox, Bounds())


def test_an_image_that_is_gone_is_no_verdict(sandbox):
    with pytest.raises(MissingImageError):
        measure(task_of(tiny.NO_IMAGE, "none"), sandbox, Bounds())


def test_files_are_read_from_the_image_as_they_are_at_base(image, sandbox):
    found = read_files(image, [tiny.CALC, "nowhere.py", "src"], sandbox)

    assert found == {tiny.CALC: BASE.encode()}
