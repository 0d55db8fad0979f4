"""What is around a verdict on a JavaScript task, mined with mocha: strength, names, workspace, exports."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest

from harness.core.instance import TaskState
from harness.dataset.folder import open_dataset
from miner.quality.strength.result import Bounds
from miner.quality.strength.run import measure
from miner.quality.strength.variant import Kind
from tests import tiny
from tests.repos import Repository

if TYPE_CHECKING:
    from harness.core.instance import Task
    from harness.dataset.folder import Dataset

pytestmark = pytest.mark.engine

MANIFEST = {
    "name": "shop",
    "version": "1.0.0",
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
STATEMENT = "Fix sums of a cart\n\n`add` takes the second number off."


@pytest.fixture(scope="module")
def dataset(tmp_path_factory) -> Dataset:
    folder = tmp_path_factory.mktemp("around")
    repo = Repository(folder / "repo")
    repo.clock = datetime.now(tz=UTC) - timedelta(hours=9)  # a mirror may have other days than the registry
    files = {"lib/cart.js": BASE, "test/cart.js": BEFORE, ".gitignore": "node_modules\n"}
    repo.commit("Start", {"package.json": json.dumps(MANIFEST), **files})
    fix = repo.commit(STATEMENT, {"lib/cart.js": FIXED, "test/cart.js": AFTER})
    done = tiny.goldseam("mine", repo.path, "-o", folder / "dataset", "--name", "acme/shop", "--commit", fix)
    assert done.returncode == 0, done.error_text + done.stdout
    return open_dataset(folder / "dataset")


@pytest.fixture(scope="module")
def task(dataset) -> Task:
    [instance_id] = dataset.ids()
    return dataset.task(instance_id)


def test_it_is_proved(task):
    assert task.instance.state is TaskState.PROVED
    assert task.hidden.fail_to_pass == ("test/cart.js::cart > adds",)


# -- strength


def test_wrong_patches_that_its_tests_do_not_see_survive_and_others_do_not(task, sandbox):
    found = measure(task, sandbox, Bounds(parts=4, mutants=8))
    lived = {one.variant.what for one in found.tried if one.survived}

    assert [one.survived for one in found.tried if one.variant.kind is Kind.EMPTY] == [False]
    assert {one.variant.line for one in found.tried if one.variant.kind is Kind.MUTANT} == {1, 10}
    assert lived == {
        "without 1 of 2 pieces: lib/cart.js:7",
        *(one.variant.what for one in found.tried if one.variant.line == 10),
    }
