"""One task that a fix solves in a quarter of a second, and the least that running its tests can cost.

Shared by the benchmarks that time whole evaluations: overhead.py and versus.py.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import time
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from harness.core.instance import Budgets, TestSpec
from harness.core.process import run
from harness.languages.python.frameworks import framework
from harness.sandbox import engine
from miner.stripping import task as stripping
from tests import proved_task, tiny
from tests.repos import Repository

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from harness.core.instance import Task
    from harness.sandbox.docker import DockerSandbox
    from harness.sandbox.job import Sandbox

TESTS = 76
_BODY = (
    "import calc\nimport pytest\n\n\n@pytest.mark.parametrize('n', range({}))\n"
    "def test_add(n):\n    assert calc.add(n, {}) == {}\n"
)
BEFORE, AFTER = _BODY.format(TESTS, 0, "n"), _BODY.format(TESTS, 1, "n + 1")


def build_task(folder: Path) -> Task:
    """A task with 76 tests, all of which the gold patch turns."""
    image = tiny.build_image(folder, {**tiny.FILES, tiny.TESTS: BEFORE})
    return tiny.task(
        image,
        instance_id="bench__calc-1",
        tests={tiny.TESTS: (BEFORE, AFTER)},
        fail_to_pass=[f"{tiny.TESTS}::test_add[{n}]" for n in range(TESTS)],
        pass_to_pass=(),
        gold=as_git(tiny.CALC, tiny.GOLD),
        budgets=Budgets(seconds=120, memory_mb=1024),
    )


def as_git(path: str, diff: str) -> str:
    """A diff with the header that git writes, as mined ones have it."""
    return f"diff --git a/{path} b/{path}\n{diff}"


def stripped(task: Task, sandbox: Sandbox) -> Task:
    """The task with its expectations kept outside, as mining records them."""
    expectations = stripping.of_task(task, {tiny.TESTS: AFTER.encode()}, sandbox)
    return replace(task, hidden=replace(task.hidden, expectations=expectations))


def test_command(task: Task, *options: str) -> str:
    """The shell line that runs the hidden test files in the image, at the root of the tree."""
    words = " ".join([*framework(task.instance.test.framework).argv(task.instance.test), *options])
    return f"/opt/goldseam/venv/bin/python -B -m pytest {words} {' '.join(task.hidden.test_files)}"


def timed(work: Callable[[], object]) -> float:
    """Milliseconds that it takes."""
    began = time.perf_counter()
    work()
    return (time.perf_counter() - began) * 1000


_SUITE = """\
{head}
describe("calc", () => {{
  for (let n = 0; n < {count}; n++) it(`adds ${{n}}`, () => {{ {check} }});
}});
"""
_STRICT, _EXPECTED = "assert.strictEqual(add(n, 1), n + 1);", "expect(add(n, 1)).toBe(n + 1);"
_REQUIRED = 'const assert = require("assert");\n'
_JAVASCRIPT = {
    "node:test": ("bench/a.node.js", f'{_REQUIRED}const {{ describe, it }} = require("node:test");', _STRICT),
    "mocha": ("bench/a.mocha.js", _REQUIRED, _STRICT),
    "vitest": ("bench/a.test.mjs", 'import { describe, expect, it } from "vitest";', _EXPECTED),
    "jest": ("bench/a.test.js", "", _EXPECTED),
}
"""By framework: its test file, what that begins with, and its assertion."""
_RUNNERS = {"mocha": "^11.0.0", "vitest": "^3.0.0", "jest": "^30.0.0"}


def javascript_tasks(folder: Path, sandbox: DockerSandbox) -> dict[str, Task]:
    """By framework: a task with 76 tests in one file, all of which the gold patch turns; one image for all."""
    wrong, right = ("exports.add = (a, b) => a - b;\n", "exports.add = (a, b) => a + b;\n")
    test = 'require("node:test").test("sums", () => require("assert").equal(require("../calc").add({}), {}));\n'
    repo = Repository(folder / "repo")
    repo.clock = datetime.now(tz=UTC) - timedelta(hours=9)  # a mirror may have other days than the registry
    manifest = json.dumps({"name": "calc", "scripts": {"test": "node --test"}, "devDependencies": _RUNNERS})
    ignored = {".gitignore": "node_modules\n", "package.json": manifest}
    repo.commit("Start", {**ignored, "calc.js": wrong, "test/calc.test.js": test.format("0, 0", 0)})
    fix = repo.commit("Fix wrong sums", {"calc.js": right, "test/calc.test.js": test.format("1, 1", 2)})
    mined = proved_task.mined(folder, repo, fix)
    tasks: dict[str, Task] = {}
    for name, (path, head, check) in _JAVASCRIPT.items():
        call = "const { add } = require('../calc');" if path.endswith(".js") else "import { add } from '../calc';"
        text = _SUITE.format(head=f"{head}\n{call}", count=TESTS, check=check)
        products = {"calc.js": (wrong, right)}
        asked = TestSpec(framework=name)
        tasks[name] = proved_task.proved(mined, sandbox, products, {path: text}, test=asked, seconds=120.0)
    return tasks


class Bare:
    """The image's files in a folder, and in it, by chroot: two `git apply` and the test command. Needs root."""

    def __init__(self, task: Task, folder: Path, command: str = "") -> None:
        """`command` is the shell line that runs the tests; pytest's by default."""
        self.root = folder
        self.root.mkdir(parents=True)
        client: Any = engine.connect()
        container = client.create_container(task.instance.image)["Id"]
        try:
            with subprocess.Popen(["tar", "-xf", "-", "-C", str(self.root)], stdin=subprocess.PIPE) as tar:
                assert tar.stdin is not None
                for chunk in client.export(container):
                    tar.stdin.write(chunk)
        finally:
            engine.remove_container(container)
        (self.root / "in").mkdir()
        (self.root / "in/gold.patch").write_bytes(task.hidden.gold_patch)
        (self.root / "in/test.patch").write_bytes(task.hidden.test_patch)
        (self.root / "dev").mkdir(exist_ok=True)
        (self.root / "dev/null").unlink(missing_ok=True)
        os.mknod(self.root / "dev/null", 0o020666, os.makedev(1, 3))
        patches = "git apply /in/gold.patch && git apply /in/test.patch"
        self.script = f"cd /testbed && {patches} && exec {command or test_command(task)}"

    def fresh(self) -> None:
        """Lay the tree anew."""
        shutil.rmtree(self.root / "testbed")
        shutil.copytree(self.root / "opt/goldseam/src", self.root / "testbed", symlinks=True)

    def run(self) -> None:
        """Apply the patches and run the tests, in a fresh tree.

        Raises:
            ProgramError: a patch did not apply, or a test failed.

        """
        env = {
            "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
            "HOME": "/tmp",
            "LANG": "C.UTF-8",
            "PATH": "/usr/sbin:/usr/bin:/bin",
        }
        run(["chroot", self.root, "/bin/sh", "-c", self.script], env=env)
