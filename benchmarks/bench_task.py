"""One task that a fix solves in a quarter of a second, and the least that running its tests can cost.

Shared by the benchmarks that time whole evaluations: overhead.py and versus.py.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import shlex
import shutil
import tarfile
import tempfile
import time
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness.core.instance import Budgets, TestSpec
from harness.core.process import run
from harness.languages.python.frameworks import framework
from harness.sandbox import engine
from miner.stripping import task as stripping
from tests import proved_task, tiny
from tests.attacks import java
from tests.repos import Repository

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from harness.core.instance import Task
    from harness.sandbox.docker import DockerSandbox
    from harness.sandbox.job import Sandbox

TESTS = 76
_BODY = (
    "import calc\nimport pytest\n\n\n@pytest.mark.parametrize('n', range({}))\n"
    "def test_add(n):\n    assert calc.add(n, {}) == {}\n"
)
BEFORE, AFTER = _BODY.format(TESTS, 0, "n"), _BODY.format(TESTS, 1, "n + 1")
_BUSY = "import time\n\nwhile time.process_time() < {}:\n    pass\n"


def build_task(folder: Path, *, busy: float = 0.0) -> Task:
    """A task with 76 tests, all of which the gold patch turns; they keep a processor busy for so many seconds first."""
    conftest = {"tests/conftest.py": _BUSY.format(busy)} if busy else {}
    image = tiny.build_image(folder, {**tiny.FILES, **conftest, tiny.TESTS: BEFORE})
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
    expectations = stripping.of_task(task, {tiny.TESTS: AFTER.encode()}, sandbox).expectations
    return replace(task, hidden=replace(task.hidden, expectations=expectations))


def test_command(task: Task, *options: str) -> str:
    """The shell line that runs the hidden test files in the image, at the root of the tree."""
    words = shlex.join([*framework(task.instance.test.framework).argv(task.instance.test), *options])
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


_GO_TEST = """\
func TestAdds{0}(t *testing.T) {{
\tif got := Add({0}, 1); got != {1} {{
\t\tt.Errorf("got %d", got)
\t}}
}}
"""
_JAVA_TESTS = """\
package calc;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;

class CalcTest {{
{}}}
"""
_COMPILED = {
    "go": (
        {"go.mod": "module example.com/calc\n\ngo 1.21\n"},
        ("calc.go", "package calc\n\nfunc Add(a, b int) int {{ return a {} b }}\n"),
        ("calc_test.go", 'package calc\n\nimport "testing"\n\n{}'),
        _GO_TEST,
    ),
    "rust": (
        {"Cargo.toml": '[package]\nname = "calc"\nversion = "0.1.0"\nedition = "2018"\n'},
        ("src/lib.rs", "pub fn add(a: i64, b: i64) -> i64 {{\n    a {} b\n}}\n"),
        ("tests/calc.rs", "{}"),
        "#[test]\nfn adds_{0}() {{\n    assert_eq!(calc::add({0}, 1), {1});\n}}\n",
    ),
    "java": (
        {"pom.xml": java.POM},
        (
            "src/main/java/calc/Calc.java",
            "package calc;\n\npublic class Calc {{\n    public static int add(int a, int b) {{ return a {} b; }}\n}}\n",
        ),
        ("src/test/java/calc/CalcTest.java", _JAVA_TESTS),
        "    @Test\n    void adds{0}() {{ assertEquals({1}, Calc.add({0}, 1)); }}\n",
    ),
}
"""By language that is compiled: its manifest, product, test file, and one test."""


def compiled_task(folder: Path, language: str) -> Task:
    """A task with 76 tests in one file, as it is mined, all of which the gold patch turns."""
    manifest, (product, code), (path, text), test = _COMPILED[language]
    repo = Repository(folder / "repo")
    repo.commit("Start", {**manifest, product: code.format("-")})
    tests = "".join(test.format(n, n + 1) for n in range(TESTS))
    fix = repo.commit("Fix wrong sums", {product: code.format("+"), path: text.format(tests)})
    return proved_task.mined(folder, repo, fix, GOLDSEAM_MINING_MUTANTS="0")


class Bare:
    """The image's files in a folder, and over it, by chroot: two `git apply` and the test command. Needs root.

    Each run writes into a layer of its own, as in a container, so that caches are those of the image.
    """

    def __init__(self, task: Task, folder: Path) -> None:
        self.files, self.root = folder / "files", folder / "root"
        self.files.mkdir(parents=True)
        self.root.mkdir()
        client: Any = engine.connect()
        container = client.create_container(task.instance.image)["Id"]
        try:
            packed = io.BufferedReader(_Chunks(client.export(container)), 1 << 20)
            links: list[tarfile.TarInfo] = []
            with tarfile.open(fileobj=packed, mode="r|") as archive:
                for member in archive:
                    if member.islnk():  # it may come before the file that it is a link to
                        links.append(member)
                    else:
                        archive.extract(member, self.files, filter="fully_trusted")
            for link in links:
                os.link(self.files / link.linkname, self.files / link.name)
        finally:
            engine.remove_container(container)
        (self.files / "etc/hosts").write_text("127.0.0.1 localhost\n", encoding="utf-8")
        (self.files / "in").mkdir()
        shutil.rmtree(self.files / "testbed")
        shutil.copytree(self.files / "opt/goldseam/src", self.files / "testbed", symlinks=True)
        self.turn_to(task, test_command(task) if task.instance.language == "python" else "")

    def turn_to(self, task: Task, command: str) -> None:
        """Run the tests of this task of the same image from now on, by this shell line."""
        self.patches = {"gold.patch": task.hidden.gold_patch, "test.patch": task.hidden.test_patch}
        patches = "git apply /in/gold.patch && git apply /in/test.patch"
        self.script = f"cd /testbed && {patches} && exec {command}"

    @contextlib.contextmanager
    def fresh(self) -> Iterator[None]:
        """Around one run: the image's files as they were."""
        with tempfile.TemporaryDirectory(dir=self.root.parent) as name:
            upper, work = Path(name) / "upper", Path(name) / "work"
            upper.mkdir()
            work.mkdir()
            layers = f"lowerdir={self.files},upperdir={upper},workdir={work}"
            run(["mount", "-t", "overlay", "overlay", "-o", layers, self.root])
            try:
                for there in ("dev", "proc"):
                    (self.root / there).mkdir(exist_ok=True)
                    run(["mount", "--bind", f"/{there}", self.root / there])
                for there, patch in self.patches.items():
                    (self.root / "in" / there).write_bytes(patch)
                yield
            finally:
                run(["umount", "--recursive", self.root])

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


class _Chunks(io.RawIOBase):
    def __init__(self, chunks: Iterator[bytes]) -> None:
        self.chunks, self.rest = iter(chunks), b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while not self.rest:
            self.rest = next(self.chunks, None) or b""
            if not self.rest:
                return 0
        size = min(len(buffer), len(self.rest))
        buffer[:size], self.rest = self.rest[:size], self.rest[size:]
        return size
