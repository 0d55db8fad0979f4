"""What is around a verdict on a JavaScript task, mined with mocha: strength, names, workspace, exports."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from harness.core import process
from harness.core.errors import InputError
from harness.core.instance import Budgets, Outcome, TaskState
from harness.dataset.folder import open_dataset
from harness.grading import scoring
from harness.judging.places import Place, place_of
from harness.languages.screening import screen_task
from harness.scaffold.reveal import reveal
from harness.solve.agents import loop
from harness.solve.agents.loop import Desk
from miner.quality.strength.result import Bounds, Kind
from miner.quality.strength.run import measure
from tests import other_graders, pypi_tools, tiny
from tests.proved_task import rebuilt
from tests.repos import Repository

if TYPE_CHECKING:
    from harness.core.instance import Task
    from harness.dataset.folder import Dataset

pytestmark = pytest.mark.engine

MANIFEST = {
    "name": "shop",
    "version": "1.0.0",
    "license": "MIT",
    "scripts": {"test": "mocha"},
    "devDependencies": {"mocha": "^10.0.0"},
}
FILLER = "".join(f"// line {number}\n" for number in range(8))
BASE = f"exports.add = (a, b) => a - b;\n{FILLER}exports.clamp = (value, low, high) => value;\n"
FIXED = BASE.replace("a - b", "a + b").replace("=> value;", "=> Math.max(low, Math.min(value, high));")
HEAD = """\
const assert = require("assert");
const { add, clamp } = require("../lib/cart");

describe("cart", () => {
  it("takes nothing", () => assert.strictEqual(add(3, 0), 3));
"""
BEFORE = HEAD + "});\n"
AFTER = HEAD + '  it("adds", () => assert.strictEqual(add(2, 2), 4));\n});\n'
TAX = "exports.tax = (sum) => sum / 4;\n"
TAX_TEST = """\
const assert = require("assert");
const { tax } = require("../lib/tax");

it("takes a quarter", () => assert.strictEqual(tax(8), 2));
"""
STATEMENT = "Fix sums of a cart\n\n`add` takes the second number off."


@pytest.fixture(scope="module")
def dataset(tmp_path_factory) -> Dataset:
    folder = tmp_path_factory.mktemp("around")
    repo = Repository(folder / "repo")
    repo.clock = datetime.now(tz=UTC) - timedelta(hours=9)  # a mirror may have other days than the registry
    files = {"lib/cart.js": BASE, "test/cart.js": BEFORE, ".gitignore": "node_modules\n"}
    repo.commit("Start", {"package.json": json.dumps(MANIFEST), **files})
    fix = repo.commit(
        STATEMENT, {"lib/cart.js": FIXED, "test/cart.js": AFTER, "lib/tax.js": TAX, "test/tax.js": TAX_TEST}
    )
    words = ("--name", "acme/shop", "--commit", fix, "--runs", "1")
    done = tiny.goldseam("mine", repo.path, "-o", folder / "dataset", *words)
    assert done.returncode == 0, done.error_text + done.stdout
    return open_dataset(folder / "dataset")


@pytest.fixture(scope="module")
def task(dataset) -> Task:
    [instance_id] = dataset.ids()
    return dataset.task(instance_id)


def test_it_is_proved(task):
    assert task.instance.state is TaskState.PROVED
    assert task.hidden.fail_to_pass == ("test/cart.js::cart > adds", "test/tax.js::takes a quarter")


def test_its_image_is_built_again_from_its_folder_and_is_the_same(dataset, task):
    assert task.instance.image
    assert rebuilt(dataset.path.parent) == {}


# -- tests that are shown


def test_a_test_is_shown_with_the_rows_beside_it_and_nothing_of_the_hidden_ones(task, sandbox):
    rows = "  for (const n of [5, 6]) it(`adds ${n}`, () => assert.strictEqual(add(n, 1), n + 1));\n"
    each = '  it("adds [all]", () => assert.strictEqual(add(7, 7), 14));\n});\n'
    path, text = "test/cart.js", AFTER.removesuffix("});\n") + rows + each
    groups = [{"adds"}, {"adds 5", "adds 6"}, {"adds [all]"}]
    ids = tuple(f"{path}::cart > {title}" for group in groups for title in sorted(group))
    hidden = replace(task.hidden, test_patch=tiny.diff(path, BEFORE, text).encode(), fail_to_pass=ids)
    shown = reveal(replace(task, hidden=hidden), 1, {path: BEFORE.encode()}.get, sandbox)
    titles = {test_id.partition(" > ")[2] for test_id in shown.ids}
    assert titles in groups, shown.why_not
    words = [b"add(2, 2)", b"add(n, 1)", b"add(7, 7)"]
    assert [word in shown.patch for word in words] == [group == titles for group in groups]


# -- quality


def test_a_test_file_that_wants_a_module_of_the_fix_asks_for_a_new_name(task):
    assert task.hidden.evidence["new_names"] == ["lib/tax"]
    assert task.instance.quality["new_api"] == {"names": 1, "unshown": 1}


def test_its_quality_is_measured_as_of_any_task(task):
    quality = task.instance.quality
    assert quality["leaks"]["names"] == 0.0
    assert task.hidden.evidence["leaks"]["unshown_names"] == ["tax"]
    assert (quality["difficulty"]["functions"], quality["difficulty"]["new_functions"]) == (2, 1)
    assert quality["difficulty"]["import_distance"] == 1
    assert (quality["licence"]["spdx"], quality["licence"]["told_by"]) == ("MIT", "metadata")


# -- strength


def test_wrong_patches_that_its_tests_do_not_see_survive_and_others_do_not(task, sandbox):
    found = measure(task, sandbox, Bounds(parts=4, mutants=8))
    cart = [one for one in found.tried if one.variant.path == "lib/cart.js"]
    clamp = [one for one in cart if one.variant.line == 10]

    assert [one.survived for one in found.tried if one.variant.kind is Kind.EMPTY] == [False]
    assert {one.variant.line for one in cart if one.variant.kind is Kind.MUTANT} == {1, 10}
    assert [one for one in cart if one.survived and one.variant.kind is Kind.MUTANT] == clamp


# -- workspaces


def test_an_agent_reads_edits_and_tests_and_what_it_did_is_the_patch(task, workspaces, sandbox):
    with workspaces.open(task.instance) as workspace:
        desk = Desk(workspace=workspace, instance=task.instance)
        assert set(workspace.files()) == {".gitignore", "lib/cart.js", "package.json", "test/cart.js"}
        first = loop.run_tests(desk, paths="test/cart.js")
        assert "1 passing" in first
        assert first.endswith("[exit code 0]")
        workspace.write("lib/cart.js", FIXED.encode())
        workspace.write("lib/tax.js", TAX.encode())
        workspace.write("test/cart.js", AFTER.encode())
        assert "2 passing" in loop.run_tests(desk)
        loop.run_command(desk, command="echo x > node_modules/left-behind.js")
        patch = workspace.diff()
    screened = screen_task(task, patch)
    assert {part.path for part in screened.kept.files} == {"lib/cart.js", "lib/tax.js"}
    assert {(part.path, part.reason) for part in screened.dropped} == {("test/cart.js", "hidden_test")}
    assert scoring.score(task, screened.kept, sandbox, scoring.Demands()).grade.outcome is Outcome.RESOLVED


# -- patches that misbehave


@pytest.mark.parametrize(
    ("line", "cause"),
    [
        ("for (;;);", "timeout"),
        ("process.exit(0);", "exited"),
        (FIXED.replace("a + b", "process.exit(0)").rstrip(), "exited"),
        ('for (;;) try { require("fs").writeSync(1, "x".repeat(1 << 16)); } catch {}', "flood"),
        ('process.kill(process.ppid, "SIGKILL");', "crashed"),
        ("const all = [];\nfor (;;) all.push(Buffer.alloc(1 << 24, 1));", "out_of_memory"),
    ],
)
def test_a_patch_that_never_ends_exits_floods_or_kills_its_runner_has_a_cause_of_its_own(task, sandbox, line, cause):
    patch = screen_task(task, tiny.diff("lib/cart.js", BASE, f"{line}\n").encode()).kept
    seconds = 4.0 if cause == "timeout" else 30.0  # a busy machine is not what is tried here
    small = replace(task, instance=replace(task.instance, budgets=Budgets(seconds=seconds, memory_mb=512)))
    grade = scoring.score(small, patch, sandbox, scoring.Demands()).grade
    assert (grade.outcome, grade.cause) == (Outcome.UNRESOLVED, cause)


# -- exports


@pytest.fixture(scope="module")
def exported(dataset, tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("exported")
    for name in ("harbor", "inspect"):
        other_graders.exported(dataset.path, name, folder / name)
    return folder


def test_harbor_rewards_the_fix_by_the_whole_hidden_tests_and_nothing_else(task, exported):
    assert place_of(task) is Place.HOST
    [folder] = (exported / "harbor").iterdir()
    assert b"assert.strictEqual(tax(8), 2)" in (folder / "tests/test.patch").read_bytes()
    assert other_graders.harbor(exported / "harbor", exported)["rewards"] == other_graders.HARBOR_REWARDS


def test_inspect_scores_the_fix_as_correct(task, exported):
    python = pypi_tools.environment(pypi_tools.INSPECT).python
    job = f"{exported / 'inspect'}:gold"
    done = process.run([python, other_graders.TOOLS / "inspect_engine.py", exported / "logs", job], check=False)
    assert done.returncode == 0, done.error_text
    assert {name: score["value"] for name, score in json.loads(done.stdout)[0].items()} == {task.instance_id: "C"}


def test_rows_hold_it_without_a_script_and_swe_bench_is_told_to_be_unable_to_grade_it(dataset, exported):
    parquet = tiny.goldseam(
        "holdout", "export", dataset.path, "--format", "parquet", "--with-hidden", "-o", exported / "p"
    )
    assert parquet.returncode == 0, parquet.error_text
    assert "no eval_script for" in parquet.error_text + parquet.stdout.decode()
    folder = tiny.goldseam(
        "holdout", "export", dataset.path, "--format", "swebench", "--with-hidden", "-o", exported / "s"
    )
    assert folder.returncode == InputError.exit_code
    assert "SWE-bench's parser reads what pytest prints" in " ".join(folder.error_text.split())
