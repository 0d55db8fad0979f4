"""JavaScript from its manifest to a verdict: Node and packages of the day, five test runners, one proved task."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import TYPE_CHECKING, Any

import pytest

from harness.core.instance import Budgets, Outcome, TaskState, TestSpec, TestStatus
from harness.dataset.folder import open_dataset
from harness.grading import scoring, trial
from harness.grading.grade import grade
from harness.judging.places import Place, place_of, place_of_test
from harness.languages.javascript.language import ROOT, TRANSPILED
from harness.languages.screening import screen_task
from harness.patches.patch import parse
from miner.proof.variations import Variation
from tests import tiny
from tests.attacks import javascript, javascript_honest, javascript_rules
from tests.proved_task import FAILING, proved
from tests.repos import Repository

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from harness.core.instance import Task
    from harness.dataset.folder import Dataset
    from harness.languages.base import TestReport

pytestmark = pytest.mark.engine

MANIFEST = {
    "name": "calc",
    "version": "1.0.0",
    "scripts": {"pretest": "npm run build && eslint .", "build": "node build.mjs", "test": "node --test test/"},
    "devDependencies": {
        "jest": "^29.0.0",
        "vitest": "^3.0.0",
        "mocha": "^10.0.0",
        "tap": "^21.0.0",
        "tape": "^5.0.0",
        "ava": "^6.0.0",
        "jasmine": "^5.0.0",
        "uvu": "^0.5.6",
        "qunit": "^2.10.0",
        "@hapi/code": "^9.0.0",
        "@hapi/lab": "^25.0.0",
        "supertest": "^7.0.0",
        "eslint": "^9.0.0",
        "typescript": "^5.0.0",
        "prettier": "^3.0.0",
    },
}
"""Of these nothing names prettier."""
WRONG = "exports.add = (a, b) => a - b;\n"
RIGHT = "exports.add = (a, b) => a + b;\n"
BEFORE = """\
const test = require("node:test");
const assert = require("node:assert");
const { add } = require("../calc.js");

test("zero", () => assert.strictEqual(add(0, 0), 0));
"""
AFTER = (
    BEFORE + 'test("sums", async (t) => {\n  await t.test("of ones", () => assert.strictEqual(add(1, 1), 2));\n});\n'
)
BUILD = """\
import fs from "node:fs";
const at = fs.existsSync(".git") ? 1 : 0;
for (const name of fs.readdirSync("src")) {
  const text = fs.readFileSync(`src/${name}`, "utf8");
  if (/nonsense/.test(text) || at) throw new Error(`${name}: nonsense`);
  fs.mkdirSync("dist", { recursive: true });
  fs.writeFileSync(`dist/${name}`, text);
}
fs.writeFileSync(".stamp", "");
fs.writeFileSync("calc.js", "exports.add = () => NaN;");
"""
BUILT = """\
const test = require("node:test");
const assert = require("node:assert");

test("one", () => assert.strictEqual(require("../dist/one.js"), 1));
"""
BUILT_AFTER = BUILT + 'test("two", () => assert.strictEqual(require("../dist/two.js"), 2));\n'
TWO = "module.exports = 2;\n"
OLD = 'export const old = () => "as of old";\n'
NAMED = OLD + "export const fresh = () => 1;\n"
NAMING = """\
import test from "node:test";
import assert from "node:assert";
import { fresh, old } from "../fresh.mjs";

test("fresh", () => {
  fresh();
  assert.strictEqual(old(), "as of old");
});
"""
"""It can't be loaded without the fix, and what it asks is there without it: a stub of the name would do."""
SUITE = """\
{head}
describe("outer", () => {{
  it("adds", () => assert.ok(true));
  it("fails", () => {{
    throw Object.assign(new Error("it is wrong"), {{ cause: new Error("nobody is there") }});
  }});
  it("null \\0", () => assert.ok(true));
  it.skip("left", () => assert.ok(false));
  describe("inner", () => it("twice", () => assert.ok(true)));
  describe("inner", () => it("twice", () => assert.ok(true)));
}});
"""
TAPE = """\
const test = require("tape");
test("adds", (t) => { t.ok(true); t.end(); });
test("fails", (t) => { t.ok(true); t.ok(false, "it is wrong"); t.end(); });
test("twice", (t) => { t.ok(true); t.end(); });
test("twice", (t) => { t.ok(true); t.end(); });
"""
UVU = """\
const { test } = require("uvu");
const assert = require("uvu/assert");
test("adds", () => assert.ok(true));
test("fails", async () => assert.ok(false, "it is wrong"));
test("twice", () => {});
test("twice", () => {});
test.run();
"""
AVA = """\
const test = require("ava");
test("adds", (t) => t.true(true));
test("fails", (t) => t.fail("it is wrong"));
"""
ASSERT = 'const assert = require("assert");'
QUNIT = """\
QUnit.module("outer", () => {
  QUnit.test("adds", (assert) => assert.ok(true));
  QUnit.test("fails", (assert) => assert.ok(false, "it is wrong"));
  QUnit.test("null \\0", (assert) => assert.ok(true));
  QUnit.skip("left", (assert) => assert.ok(false));
  QUnit.module("inner", () => QUnit.test("twice", (assert) => assert.ok(true)));
  QUnit.module("inner", () => QUnit.test("twice", (assert) => assert.ok(true)));
});
"""
RUNNERS = {
    "jest": ("runners/jest/a.test.js", SUITE.format(head=ASSERT)),
    "mocha": ("runners/mocha/a.js", SUITE.format(head=ASSERT)),
    "vitest": (
        "runners/vitest/a.test.mjs",
        SUITE.format(head='import assert from "node:assert";\nimport { describe, it } from "vitest";'),
    ),
    "node:test": (
        "runners/node/a.js",
        SUITE.format(head=f'{ASSERT}\nconst {{ describe, it }} = require("node:test");'),
    ),
    "tap": ("runners/tap/a.js", TAPE),
    "ava": ("runners/ava/a.test.js", AVA),
    "uvu": ("runners/uvu/a.js", UVU),
    "qunit": ("runners/qunit/a.js", QUNIT),
    "lab": (
        "runners/lab/a.js",
        SUITE.format(head=f'{ASSERT}\nconst {{ describe, it }} = (exports.lab = require("@hapi/lab").script());'),
    ),
    "jasmine": ("runners/jasmine/a.js", SUITE.format(head=ASSERT).replace("it.skip", "xit")),
}
TYPED = """\
import assert from "node:assert";
{head}
import {{ Kind, type Name }} from "{lib}";
const name: Name = "a";
it("adds", () => assert.strictEqual(Kind[name as "a"], 3));
"""
TYPED_FILES = {
    "typed/module/package.json": json.dumps(
        {"type": "module", "ava": {"extensions": {"ts": "module"}, "failWithoutAssertions": False}}
    ),
    "typed/module/ava.test.ts": TYPED.format(head='import it from "ava";', lib="./lib.js"),
    # a compiler that is no library, as from TypeScript 7 on: the package itself has its name
    "typed/seven/package.json": '{"name": "typescript", "exports": "./seven.cjs"}',
    "typed/seven/seven.cjs": 'exports.version = "7.0.2";\n',
    "typed/seven/lib.ts": 'export const Kind = { a: 3 } as const;\nexport type Name = "a";\n',
    "typed/seven/node.test.ts": TYPED.format(head='import { it } from "node:test";', lib="./lib"),
    "typed/module/node.test.ts": TYPED.format(head='import { it } from "node:test";', lib="./lib.js"),
    "typed/module/mocha.test.ts": TYPED.format(head="", lib="./lib.js"),
    "typed/script/package.json": "{}",
    "typed/script/mocha.test.ts": TYPED.format(head="", lib="./lib"),
    **dict.fromkeys(
        ("typed/module/lib.ts", "typed/script/lib.ts"),
        'export enum Kind { a = 3 }\nexport type Name = "a";\n',
    ),
}
TAPPED_FILES = {
    "typed/tap/package.json": '{"type": "module"}',
    "typed/tap/.taprc": 'before: "setup.ts"\nnode-arg:\n  - --no-warnings # quiet\ntest-env:\n  - GREETING=a=b\n',
    "typed/tap/setup.ts": 'import fs from "node:fs";\nfs.writeFileSync("made.txt", process.env.GREETING as string);\n',
    "typed/tap/a.ts": """\
import fs from "node:fs";
import t from "tap";
enum Kind { made = "a=b" }
const wrong: number = process.execArgv.includes("--no-warnings");
t.test("adds", async (t) => { t.equal(wrong && fs.readFileSync("made.txt", "utf8"), Kind.made); });
""",
}
SEEN = {
    "outer > adds": "PASSED",
    "outer > fails": "FAILED",
    "outer > null \\u0000": "PASSED",
    "outer > left": "SKIPPED",
    "outer > inner > twice": "PASSED",
    "outer > inner > twice #2": "PASSED",
}
SEEN_BY_TAPE = {"adds": "PASSED", "fails": "FAILED", "twice": "PASSED", "twice #2": "PASSED"}
EXPECTED = {"tap": SEEN_BY_TAPE, "uvu": SEEN_BY_TAPE, "ava": {"adds": "PASSED", "fails": "FAILED"}}
BROKEN = 'require("./not-there.js");\n'
UNSTARTED_FILES = {
    "unstarted/package.json": "{}",
    "unstarted/jest.config.js": BROKEN,
    "unstarted/a.test.js": 'test("adds", () => {});\n',
}


AROUND = """\
const test = require("node:test");
const { timeZone, locale } = Intl.DateTimeFormat().resolvedOptions();
test([timeZone, locale, new Date().getUTCFullYear(), require("os").availableParallelism()].join(" "), () => {});
"""
WAITS = """\
const { it } = require("node:test");
it("first", () => {});
it("waits", () => new Promise(() => require("node:http").createServer().listen(0)));
"""
ENDS = """\
{head}
it("first", () => {{}});
describe("outer", () => {{
  it("ends", async () => {{
    await new Promise((done) => setTimeout(done, 1500)); // what was reported is on its way
    process.kill(process.pid, "SIGTERM");
    await new Promise((done) => setTimeout(done, 4000));
  }});
  it("later", () => {{}});
}});
"""
ENDING = {
    "node:test": ("ends.js", ENDS.format(head='const { describe, it } = require("node:test");')),
    "jest": ("ends.test.js", ENDS.format(head="")),
}
SNAPSHOTS = (
    "{head}\n"
    """\
test("kept", () => expect(1).toMatchSnapshot());
test("new", () => expect(2).toMatchSnapshot());
"""
)
STORED = "{head}\n\nexports[`kept 1`] = `1`;\n\nexports[`obsolete 1`] = `3`;\n"
SNAPSHOT_FILES = {
    "snapshots/jest/a.test.js": SNAPSHOTS.format(head=""),
    "snapshots/jest/__snapshots__/a.test.js.snap": STORED.format(head="// Jest Snapshot v1, https://goo.gl/fbAQLP"),
    "snapshots/vitest/a.test.mjs": SNAPSHOTS.format(head='import { expect, test } from "vitest";'),
    "snapshots/vitest/__snapshots__/a.test.mjs.snap": STORED.format(
        head="// Vitest Snapshot v1, https://vitest.dev/guide/snapshot.html"
    ),
}


@pytest.fixture(scope="module")
def dataset(tmp_path_factory) -> Dataset:
    folder = tmp_path_factory.mktemp("javascript")
    repo = Repository(folder / "repo")
    repo.clock = datetime.now(tz=UTC) - timedelta(hours=9)  # a mirror may have other days than the registry
    runners = dict(RUNNERS.values())
    broken = {path.replace("/a.", "/broken."): BROKEN for path in runners}
    broken |= {f"{path.rpartition('/')[0]}/types.test-d.ts": BROKEN for path in runners}
    files = {"package.json": json.dumps(MANIFEST), "calc.js": WRONG, "test/calc.test.js": BEFORE, **runners, **broken}
    files |= {"money.js": javascript.BASE, **UNSTARTED_FILES, **TYPED_FILES, **TAPPED_FILES, **javascript.HELPERS}
    files |= {f"{javascript.folder(n)}/money.js": javascript.BASE for n in range(javascript.SIDE_BY_SIDE)}
    files[f"{javascript_honest.PLACE}/shop.js"] = javascript_honest.WRONG
    for name in javascript_honest.variants():
        files[f"{javascript_honest.PLACE}/{name}/shop.js"] = javascript_honest.ALIAS
    files |= {f"{place}/rule.js": javascript_rules.BASE for place in javascript_rules.PLACES.values()}
    built = {"fresh.mjs": OLD, "build.mjs": BUILD, "src/one.js": "module.exports = 1;\n", "test/built.test.js": BUILT}
    repo.commit(
        "Start",
        {
            **files,
            **built,
            **SNAPSHOT_FILES,
            "around.js": AROUND,
            "waits.js": WAITS,
            "named.js": "".join(f'// "{name}"\n' for name in MANIFEST["devDependencies"] if name != "prettier"),
            **dict(ENDING.values()),
            ".gitignore": "node_modules\n",
        },
    )
    more = {"src/two.js": TWO, "test/built.test.js": BUILT_AFTER, "fresh.mjs": NAMED, "test/fresh.test.mjs": NAMING}
    fix = repo.commit("Fix wrong sums", {"calc.js": RIGHT, "test/calc.test.js": AFTER, **more})
    words = ("--name", "acme/calc", "--commit", fix, "--runs", "1")
    done = tiny.goldseam("mine", repo.path, "-o", folder / "dataset", *words)
    assert done.returncode == 0, done.error_text + done.stdout
    return open_dataset(folder / "dataset")


@pytest.fixture(scope="module")
def task(dataset) -> Task:
    [place] = (dataset.path / "tasks").iterdir()
    return dataset.task(place.name)


def test_a_task_keeps_the_lock_of_its_image_with_the_hashes_of_packages(dataset, task):
    lock = json.loads((dataset.task_folder(task.instance.instance_id) / "package-lock.json").read_text())
    packages = {name: package for name, package in lock["packages"].items() if name}
    assert packages["node_modules/tape"]["version"].startswith("5.")
    assert all(package["integrity"].startswith("sha512-") for package in packages.values() if "resolved" in package)


def run(task: Task, sandbox, framework: str, *files: str, options: tuple[str, ...] = (), **around: Any) -> TestReport:
    test = TestSpec(framework=framework, options=options)
    spec = trial.TrialSpec(image=task.instance.image, test=test, files=files, budgets=Budgets(seconds=120.0), **around)
    return trial.run(spec, sandbox).report


def test_a_fix_with_its_test_is_a_proved_task_judged_on_the_host(task):
    assert (task.instance.state, task.instance.language) == (TaskState.PROVED, "javascript")
    turned = ("test/built.test.js::two", "test/calc.test.js::sums", "test/calc.test.js::sums > of ones")
    assert task.hidden.fail_to_pass == (*turned, "test/fresh.test.mjs::fresh")
    assert place_of_test(task, "test/fresh.test.mjs::fresh") is Place.HOST
    assert task.hidden.pass_to_pass == ("test/built.test.js::one", "test/calc.test.js::zero")
    assert task.instance.test.framework == "node:test"
    assert place_of(task) is Place.HOST


def test_the_fix_resolves_it_and_nothing_does_not(task, sandbox):
    fix = screen_task(task, task.hidden.gold_patch).kept
    assert scoring.score(task, fix, sandbox, scoring.Demands()).grade.outcome is Outcome.RESOLVED
    assert scoring.score(task, None, sandbox, scoring.Demands()).grade.outcome in FAILING


def test_what_judges_imports_nothing_of_the_tree(task, sandbox):
    shadows = "".join(tiny.diff(path, None, text) for path, text in tiny.SHADOWS.items())
    fix = screen_task(task, task.hidden.gold_patch + shadows.encode()).kept
    assert tiny.SHADOWS.keys() <= {file.path for file in fix.files}
    assert scoring.score(task, fix, sandbox, scoring.Demands()).grade.outcome is Outcome.RESOLVED


def test_what_tests_load_of_a_build_is_built_anew_with_new_files(task):
    build = task.instance.test.build
    assert (build.argv[-1], build.outputs) == ("npm run build", ("dist/",))
    assert task.instance.extra["environment"]["notes"] == [task.instance.extra["environment"]["notes"][0]]


def test_a_patch_that_cannot_be_built_is_a_failure_of_its_own_class(task, sandbox):
    kept = screen_task(task, tiny.diff("src/two.js", None, "nonsense\n").encode()).kept
    grade = scoring.score(task, kept, sandbox, scoring.Demands()).grade
    assert (grade.outcome, grade.cause) == (Outcome.UNRESOLVED, "build_failed")


@pytest.mark.parametrize(
    "line",
    [
        'fs.rmSync("dist", { recursive: true, force: true }); fs.symlinkSync("/tmp", "dist");',
        'fs.symlinkSync("/etc/passwd", "dist/three.js");',
        'fs.rmSync("dist", { recursive: true, force: true });',
        'for (let n = 0; n < 20001; n++) fs.writeFileSync(`dist/${n}`, "");',
    ],
)
def test_of_a_folder_that_a_build_makes_only_plain_files_are_taken_over(task, sandbox, line):
    kept = screen_task(task, tiny.diff("build.mjs", BUILD, f"{BUILD}{line}\n").encode()).kept
    grade = scoring.score(task, kept, sandbox, scoring.Demands()).grade
    assert (grade.outcome, grade.cause) == (Outcome.UNRESOLVED, "build_failed")


def test_a_patch_that_ends_the_process_well_is_not_resolved(task, sandbox):
    text = tiny.diff("calc.js", WRONG, "process.exit(0);\n")
    kept = screen_task(task, text.encode()).kept
    assert scoring.score(task, kept, sandbox, scoring.Demands()).grade.outcome is Outcome.UNRESOLVED


@pytest.mark.parametrize(
    "path",
    ["package.json", "jest.config.js", ".mocharc.yml", "spec/support/jasmine.json", "node_modules/assert/index.js"],
)
def test_what_says_how_tests_are_run_does_not_reach_them(task, path):
    screened = screen_task(task, tiny.diff(path, None, "x\n").encode())
    assert [part.path for part in screened.dropped] == [path]


@pytest.mark.parametrize("framework", RUNNERS)
def test_each_runner_tells_what_became_of_each_test_beside_a_file_that_cannot_be_loaded(task, sandbox, framework):
    path, _ = RUNNERS[framework]
    broken = path.replace("/a.", "/broken.")
    types = f"{path.rpartition('/')[0]}/types.test-d.ts"  # what has types alone is given to no runner
    report = run(task, sandbox, framework, broken, path, types)
    expected = EXPECTED.get(framework, SEEN)
    assert {name: str(status) for name, status in report.statuses.items()} == {
        f"{path}::{titles}": status for titles, status in expected.items()
    }
    assert (report.finished, report.exit_code, report.violations) == (True, 1, ())
    failed = f"{path}::outer > fails" if framework not in EXPECTED else f"{path}::fails"
    assert "it is wrong" in report.texts[failed]
    if framework in ("lab", "mocha", "node:test", "vitest"):
        assert "nobody is there" in report.texts[failed]
    assert list(report.collect_errors) == [broken]
    assert "require is not defined" in report.collect_errors[broken] or "not-there" in report.collect_errors[broken]


@pytest.mark.parametrize(
    ("framework", "folder"),
    [("node:test", "module"), ("node:test", "seven"), ("mocha", "module"), ("mocha", "script"), ("ava", "module")],
)
def test_typescript_is_loaded_by_the_projects_own_compiler(task, sandbox, framework, folder):
    path = f"typed/{folder}/{framework.partition(':')[0]}.test.ts"
    test = TestSpec(framework=framework, options=(f"{ROOT}typed/{folder}", TRANSPILED))
    spec = trial.TrialSpec(image=task.instance.image, test=test, files=(path,), budgets=Budgets(seconds=120.0))
    report = trial.run(spec, sandbox).report
    assert {name: str(status) for name, status in report.statuses.items()} == {f"{path}::adds": "PASSED"}


def test_tap_loads_typescript_by_its_own_plugins_after_what_is_to_run_before(task, sandbox):
    path, test = "typed/tap/a.ts", TestSpec(framework="tap", options=(f"{ROOT}typed/tap",))
    spec = trial.TrialSpec(image=task.instance.image, test=test, files=(path,), budgets=Budgets(seconds=120.0))
    report = trial.run(spec, sandbox).report
    assert {name: str(status) for name, status in report.statuses.items()} == {f"{path}::adds": "PASSED"}


@pytest.mark.parametrize("framework", RUNNERS)
def test_of_a_test_that_is_asked_for_alone_nothing_else_is_told(task, sandbox, framework):
    path, _ = RUNNERS[framework]
    one = f"{path}::{'adds' if framework in EXPECTED else 'outer > adds'}"
    report = run(task, sandbox, framework, one, path.replace("/a.", "/gone."))
    assert (list(report.statuses), report.collect_errors, report.finished) == ([one], {}, True)


@pytest.mark.parametrize("framework", ["node:test", "mocha"])
def test_brackets_in_titles_and_folders_choose_no_other_test(task, sandbox, framework):
    path = "app/[id]/a.js"
    head = 'const { it } = require("node:test");\n' if framework == "node:test" else ""
    text = f'{head}it("adds [all]", () => {{}});\nit("adds [none]", () => {{}});\nit("adds", () => {{}});\n'
    patch = parse(tiny.diff(path, None, text).encode())
    for asked, found in ("adds [all]", ["adds [all]"]), ("adds ", ["adds [all]", "adds [none]"]):
        report = run(task, sandbox, framework, f"{path}::{asked}", test_patch=patch)
        assert list(report.statuses) == [f"{path}::{name}" for name in found]


@pytest.mark.parametrize("framework", ENDING)
def test_a_test_in_which_its_process_ends_has_failed_and_its_file_is_lost(task, sandbox, framework):
    path, _ = ENDING[framework]
    report = run(task, sandbox, framework, path)
    assert {name: str(status) for name, status in report.statuses.items()} == {
        f"{path}::first": "PASSED",
        f"{path}::outer > ends": "FAILED",
    }
    assert (list(report.collect_errors), report.exited) == ([path], (path,))


HANGS = """\
const {{ it }} = require("node:test");
it("first", () => {{}});
it("last", () => {{ {body} }});
"""


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (HANGS.format(body="for (;;);"), "timeout"),
        (HANGS.format(body='for (;;) try { require("fs").writeSync(1, "x".repeat(1 << 16)); } catch {}'), "flood"),
        (HANGS.format(body="process.exit(0);"), "exited"),
        ('process.exit(0);\nrequire("node:test").it("one", () => {});\n', "exited"),
        (HANGS.format(body='process.kill(process.ppid, "SIGKILL"); for (;;);'), "crashed"),
        ('require("node:test");\n', None),
    ],
)
def test_a_file_of_node_that_never_ends_floods_exits_or_kills_its_runner_has_a_reason_of_its_own(
    task, sandbox, text, reason
):
    test = TestSpec(framework="node:test")
    budgets = Budgets(seconds=5.0 if reason == "timeout" else 60.0)
    patch = parse(tiny.diff("bad.js", None, text).encode())
    spec = trial.TrialSpec(image=task.instance.image, test=test, files=("bad.js",), budgets=budgets, test_patch=patch)
    listed = ("bad.js::last",) if "last" in text else ("bad.js::one",) if "one" in text else ()
    ran = trial.run(spec, sandbox)
    if reason is None:
        assert (ran.report.collect_errors, ran.report.violations, ran.report.exit_code) == ({}, (), 0)
    else:
        graded = grade(replace(task.hidden, fail_to_pass=listed, pass_to_pass=()), ran)
        assert (graded.outcome, graded.cause) == (Outcome.UNRESOLVED, reason)


def test_a_file_that_ends_the_process_of_jest_as_it_is_loaded_is_lost(task, sandbox):
    path = ENDING["jest"][0].replace("ends", "loads")
    patch = parse(tiny.diff(path, None, 'process.exit(0);\ntest("one", () => {});\n').encode())
    report = run(task, sandbox, "jest", path, test_patch=patch)
    assert (report.statuses, list(report.collect_errors), report.exit_code) == ({}, [path], 1)


def test_files_are_lost_where_jest_can_not_start(task, sandbox):
    path = "unstarted/a.test.js"
    spec = trial.TrialSpec(
        image=task.instance.image,
        test=TestSpec(framework="jest", options=(f"{ROOT}unstarted",)),
        files=(path,),
        budgets=Budgets(seconds=120.0),
    )
    report = trial.run(spec, sandbox).report
    assert report.statuses == {}
    assert "not-there.js" in report.collect_errors[path]


def test_a_test_that_waits_for_nothing_that_will_come_has_failed(task, sandbox):
    report = run(task, sandbox, "node:test", "waits.js")
    assert {name: str(status) for name, status in report.statuses.items()} == {
        "waits.js::first": "PASSED",
        "waits.js::waits": "FAILED",
    }
    assert (list(report.collect_errors), report.exited) == (["waits.js"], ())


def test_files_that_the_configuration_of_mocha_names_are_not_run_as_well_and_none_ends_at_a_failure(task, sandbox):
    path, _ = RUNNERS["mocha"]
    config = json.dumps(
        {
            "spec": ["gone/*.js", "runners/mocha/ends.js"],
            "require": ["./runners/mocha/required.js"],
            "bail": True,
            "parallel": True,
        }
    )
    texts = {
        ".mocharc.json": f"{config}\n",
        "runners/mocha/ends.js": "process.exit(0);\n",
        "runners/mocha/required.js": "//\n",
    }
    patch = parse("".join(tiny.diff(name, None, text) for name, text in texts.items()).encode())
    report = run(task, sandbox, "mocha", path, test_patch=patch)
    assert (len(report.statuses), report.collect_errors) == (len(SEEN), {})


def test_a_test_of_mocha_fails_with_a_hook_after_it_and_has_what_that_hands_out(task, sandbox):
    handed = '  process.__goldseam__(globalThis, "hooks.js")(0, () => [1]);\n'
    text = (
        f'afterEach(() => {{\n{handed}  if (bad) throw new Error("it is open");\n}});\nlet bad = false;\n'
        'it("first", () => {});\nit("last", () => { bad = true; });\n'
    )
    report = run(task, sandbox, "mocha", "hooks.js", test_patch=parse(tiny.diff("hooks.js", None, text).encode()))
    assert {name: str(status) for name, status in report.statuses.items()} == {
        "hooks.js::first": "PASSED",
        "hooks.js::last": "FAILED",
    }
    assert "it is open" in report.texts["hooks.js::last"]
    assert ([event.test_id for event in report.events], report.violations) == (list(report.statuses), ())


def test_what_a_helper_declares_for_node_is_of_the_file_that_is_run(task, sandbox):
    by_helper = 'import "node:test"; import { make } from "./make.mjs"; make("made"); make("made");\n'
    texts = {
        "runners/make.mjs": 'import { it } from "node:test";\nexport const make = (name) => it(name, () => {});\n',
        "runners/one.test.mjs": by_helper,
        "runners/other.test.mjs": by_helper,
    }
    patch = parse("".join(tiny.diff(name, None, text) for name, text in texts.items()).encode())
    files = ("runners/one.test.mjs", "runners/other.test.mjs")
    report = run(task, sandbox, "node:test", *files, test_patch=patch)
    assert set(report.statuses) == {f"{file}::{name}" for file in files for name in ("made", "made #2")}


def test_an_error_that_no_test_of_vitest_waits_for_loses_no_test(task, sandbox):
    path = RUNNERS["vitest"][0].replace("/a.", "/later.")
    text = 'import { it } from "vitest";\nit("adds", async () => { Promise.reject(new Error("later")); });\n'
    report = run(task, sandbox, "vitest", path, test_patch=parse(tiny.diff(path, None, text).encode()))
    assert {name: str(status) for name, status in report.statuses.items()} == {
        f"{path}::adds": "PASSED",
        f"{path}::unhandled error": "FAILED",
    }
    assert not report.internal_error


def test_types_are_not_tested_though_a_project_of_vitest_asks_for_it(task, sandbox):
    files = {
        "types/vitest.config.mjs": "export default { test: { projects: ['packages/*'] } };\n",
        "types/packages/a/vitest.config.mjs": (
            "export default { test: { typecheck: { enabled: true, include: ['**/*.test.mjs'] } } };\n"
        ),
        "types/packages/a/a.test.mjs": 'import { it } from "vitest";\nit("adds", () => {});\n',
    }
    patch = parse("".join(tiny.diff(path, None, text) for path, text in files.items()).encode())
    path, options = "types/packages/a/a.test.mjs", ("--root=types", "--typecheck.enabled=false")
    report = run(task, sandbox, "vitest", path, test_patch=patch, options=options)
    assert {name: str(status) for name, status in report.statuses.items()} == {f"{path}::adds": "PASSED"}
    assert not report.internal_error


def test_a_run_of_a_proof_has_another_time_zone_language_year_and_number_of_processors(task, sandbox):
    env = {**Variation(timezone="Asia/Kolkata", locale="de").env(), "HOME": "/tmp/home-1"}
    report = run(task, sandbox, "node:test", "around.js", env=env, cpu_count=1, clock="2031-05-03T12:00:00Z")
    assert list(report.statuses) == ["around.js::Asia/Calcutta de 2031 1"]


IN_ORDER = """\
{head}
let last = 0;
describe("outer", () => {{
  for (let number = 1; number < 9; number++) {{
    it(`${{number}}`, () => {{
      const before = last;
      last = number;
      assert.strictEqual(before, number - 1);
    }});
  }}
}});
"""


@pytest.mark.parametrize("framework", ["mocha", "jest", "vitest", "jasmine"])
def test_a_run_of_a_proof_has_the_tests_of_a_file_in_another_order_alike_each_time(task, sandbox, framework):
    like, text = RUNNERS[framework]
    path = like.replace("/a.", "/order.")
    patch = parse(tiny.diff(path, None, IN_ORDER.format(head=text.partition("\ndescribe(")[0])).encode())
    plain = run(task, sandbox, framework, path, test_patch=patch).statuses
    first, again = (run(task, sandbox, framework, path, test_patch=patch, order=0).statuses for _ in range(2))
    assert {str(status) for status in plain.values()} == {"PASSED"}
    assert plain.keys() == first.keys()
    assert "FAILED" in {str(status) for status in first.values()}
    assert first == again


@pytest.mark.parametrize("framework", ["jest", "vitest"])
def test_snapshots_are_written_by_nobody_and_obsolete_ones_are_no_failure(task, sandbox, framework):
    [path, _] = [path for path in SNAPSHOT_FILES if framework in path]
    report = run(task, sandbox, framework, path)
    assert [str(status) for status in report.statuses.values()] == ["PASSED", "FAILED"]
    assert not (report.internal_error)
    assert not (report.collect_errors)


def test_a_task_keeps_the_lock_that_its_packages_were_installed_from(task):
    environment = task.instance.extra["environment"]
    assert environment["rung"] == "as of the day, what is named"
    assert environment["attempts"][0]["step"] == "system"


# -- judged on the host

SECONDS = 120.0
"""That a run of a task may take."""


def of(framework: str) -> dict[str, Any]:
    """How the tests of a task of this framework are run."""
    return {"test": TestSpec(framework=framework), "seconds": SECONDS}


def listed(task: Task) -> tuple[str, ...]:
    return (*task.hidden.fail_to_pass, *task.hidden.pass_to_pass)


@pytest.fixture(scope="module")
def judged_by(task, sandbox) -> Callable[[str], Task]:
    """The task of a library, proved once: pytest makes a fixture with parameters again at each change of them."""

    @cache
    def made(library: str) -> Task:
        path, text = javascript.HIDDEN[library]
        products = {"money.js": (javascript.BASE, javascript.RIGHT)}
        beside = javascript.BESIDE.get(library)
        return proved(
            task,
            sandbox,
            products,
            {path: text},
            beside=beside,
            lent=javascript.HELPERS,
            hold=("takes nothing off",),
            **of(library.partition(" ")[0]),
        )

    return made


@pytest.fixture(params=javascript.HIDDEN)
def judged(request, judged_by) -> Task:
    return judged_by(request.param)


def outcome(task: Task, sandbox, text: str, timeout: float | None = None) -> Outcome:
    patch = screen_task(task, tiny.diff("money.js", javascript.BASE, text).encode()).kept
    return scoring.score(task, patch, sandbox, scoring.Demands(timeout=timeout)).grade.outcome


def test_each_runners_assertions_are_judged_on_the_host(judged):
    assert len(judged.hidden.pass_to_pass) == 1
    text = judged.hidden.test_patch.decode()
    assert len(judged.hidden.fail_to_pass) == (7 if "toMatchSnapshot(" in text else 4 + ("\n+t.equal(" in text))
    assert {place_of_test(judged, name) for name in listed(judged)} == {Place.HOST}
    assert judged.hidden.evidence["guess_bits"] > 20


def test_no_expectation_is_in_a_file_of_javascript_that_enters(judged):
    stripped = judged.hidden.expectations.files
    assert stripped.keys() == set(judged.hidden.test_files) | {
        file.path for file in parse(judged.hidden.test_patch, trusted=True).files
    }
    assert [word for word in javascript.EXPECTED if word in "".join(stripped.values())] == []


def test_the_fix_resolves_what_is_judged_on_the_host(judged, sandbox):
    assert outcome(judged, sandbox, javascript.RIGHT) is Outcome.RESOLVED


@pytest.mark.parametrize("judged", javascript.APART, indirect=True)
@pytest.mark.parametrize("name", javascript.EVERYWHERE)
def test_no_runner_takes_an_attack_for_the_fix(judged, sandbox, name):
    [path] = judged.hidden.test_files
    assert outcome(judged, sandbox, javascript.attacked(javascript.EVERYWHERE[name], path)) in FAILING


@pytest.mark.parametrize(
    ("judged", "name"),
    [(framework, name) for framework, attacks in javascript.OF_RUNNERS.items() for name in attacks],
    indirect=["judged"],
)
def test_an_attack_on_what_a_runner_keeps_in_the_process_is_not_resolved(request, judged, sandbox, name):
    [path] = judged.hidden.test_files
    code = javascript.OF_RUNNERS[request.node.callspec.params["judged"]][name]
    assert outcome(judged, sandbox, javascript.attacked(code, path)) in FAILING


@pytest.mark.parametrize("judged", ["mocha"], indirect=True)
@pytest.mark.parametrize("name", javascript.ON_HELPERS)
def test_an_attack_on_helpers_is_not_resolved(judged, sandbox, name):
    [path] = judged.hidden.test_files
    assert outcome(judged, sandbox, javascript.attacked(javascript.ON_HELPERS[name], path)) in FAILING


@pytest.mark.parametrize("judged", ["node:test"], indirect=True)
@pytest.mark.parametrize("name", javascript.ATTACKS)
def test_an_attack_is_not_resolved(judged, sandbox, name):
    [path] = judged.hidden.test_files
    code = javascript.attacked(javascript.ATTACKS[name], path)
    assert outcome(judged, sandbox, code, timeout=4.0) in FAILING  # some never end


def in_each(one: Task, folders: Iterable[str]) -> Task:
    """The task of a test file in the first of some folders, as that of the same file in each of them."""
    first, *others = folders
    [(path, text)] = one.hidden.expectations.files.items()
    [patched] = parse(one.hidden.test_patch, trusted=True).files

    def each(name: str) -> list[str]:
        return [name.replace(first, folder, 1) for folder in (first, *others)]

    tests = {copy: test for name, test in one.hidden.expectations.tests.items() for copy in each(name)}
    files = {copy: text.replace(first, copy.rpartition("/")[0]) for copy in each(path)}
    hidden = replace(
        one.hidden,
        expectations=replace(one.hidden.expectations, files=files, tests=tests),
        test_patch=b"".join(patched.raw.replace(path.encode(), copy.encode()) for copy in each(path)),
        test_files=tuple(each(path)),
        fail_to_pass=tuple(copy for name in one.hidden.fail_to_pass for copy in each(name)),
        pass_to_pass=tuple(copy for name in one.hidden.pass_to_pass for copy in each(name)),
    )
    return replace(one, hidden=hidden)


FOLDERS = tuple(map(javascript.folder, range(javascript.SIDE_BY_SIDE)))
PER_CONTAINER = len(FOLDERS) - 1
"""The first folder has the fix, to show that what goes on beside it hides nothing."""


@pytest.fixture(scope="module")
def side_by_side(task, sandbox) -> Task:
    """The task of a test file in each folder: what is recorded of one of them, for each."""
    products = {f"{FOLDERS[0]}/money.js": (javascript.BASE, javascript.RIGHT)}
    text = javascript.HIDDEN["node:test"][1].replace("../money.js", "./money.js")
    hold = ("takes nothing off",)
    one = proved(task, sandbox, products, {f"{FOLDERS[0]}/money.test.js": text}, hold=hold, **of("node:test"))
    return in_each(one, FOLDERS)


@pytest.mark.parametrize("first", range(0, len(javascript.SIDE_BY_SIDE_ATTACKS), PER_CONTAINER))
def test_of_attacks_in_processes_side_by_side_none_is_resolved_and_the_fix_beside_them_is(side_by_side, sandbox, first):
    attacks = list(javascript.SIDE_BY_SIDE_ATTACKS.items())[first : first + PER_CONTAINER]
    products = {FOLDERS[0]: javascript.RIGHT}
    for folder, (_, code) in zip(FOLDERS[1:], attacks, strict=False):
        products[folder] = javascript.attacked(code, f"{folder}/money.test.js")
    text = "".join(tiny.diff(f"{folder}/money.js", javascript.BASE, text) for folder, text in products.items())
    scored = scoring.score(side_by_side, screen_task(side_by_side, text.encode()).kept, sandbox, scoring.Demands())
    passed = {
        folder: sum(
            scored.trial.report.statuses.get(name) is TestStatus.PASSED
            for name in side_by_side.hidden.fail_to_pass
            if name.startswith(f"{folder}/")
        )
        for folder in products
    }
    names = dict(zip(FOLDERS[1:], (name for name, _ in attacks), strict=False))
    assert passed.pop(FOLDERS[0]) == 4
    assert {names[folder]: count for folder, count in passed.items() if count} == {}


def for_each_module(task: Task, sandbox, framework: str, path: str, text: str) -> Task:
    """The task of a test file of all honest modules: what is recorded of one of them, for each."""
    names = sorted(javascript_honest.variants())
    first, of_first = names[0], f'name === "{names[0]}"'
    products = {f"{javascript_honest.PLACE}/shop.js": (javascript_honest.WRONG, javascript_honest.RIGHT)}
    tests = {path: text.replace(javascript_honest.EACH, of_first)}
    hidden = proved(task, sandbox, products, tests, hold=(), **of(framework)).hidden
    one = hidden.expectations
    assert of_first in one.files[path]

    def each(test_id: str) -> list[str]:
        assert f"::{first} > " in test_id
        return [test_id.replace(f"::{first} > ", f"::{name} > ") for name in names]

    whole = replace(
        one,
        files={path: one.files[path].replace(of_first, javascript_honest.EACH)},
        tests={copy: test for test_id, test in one.tests.items() for copy in each(test_id)},
    )
    hidden = replace(
        hidden,
        expectations=whole,
        test_patch=tiny.diff(path, None, text).encode(),
        fail_to_pass=tuple(copy for test_id in hidden.fail_to_pass for copy in each(test_id)),
    )
    test, budgets = TestSpec(framework=framework), Budgets(seconds=SECONDS)
    return replace(task, instance=replace(task.instance, test=test, budgets=budgets), hidden=hidden)


@pytest.mark.parametrize("framework", javascript_honest.HIDDEN)
def test_right_modules_of_every_kind_are_right_to_the_host_as_well(task, sandbox, framework):
    path, text = javascript_honest.HIDDEN[framework]
    place, variants = javascript_honest.PLACE, javascript_honest.variants()
    whole = for_each_module(task, sandbox, framework, path, text)
    assert {place_of_test(whole, name) for name in whole.hidden.fail_to_pass} == {Place.HOST}
    names = list(variants)
    for half in (names[::2], names[1::2]):  # a patch may have so many files
        files = {f"{place}/{name}/{file}": text for name in half for file, text in variants[name].items()}
        olds = {f"{place}/{name}/shop.js": javascript_honest.ALIAS for name in half}
        patch = "".join(tiny.diff(file, olds.get(file), text) for file, text in files.items())
        screened = screen_task(whole, patch.encode())
        assert screened.dropped == ()
        report = scoring.score(whole, screened.kept, sandbox, scoring.Demands()).trial.report
        judged_here = [name for name in listed(whole) if name.partition("::")[2].partition(" > ")[0] in half]
        assert len(judged_here) == len(half) * javascript_honest.HIDDEN[framework][1].count("\n  it(")
        refused = [name for name in judged_here if report.statuses.get(name) is not TestStatus.PASSED]
        assert {name: report.texts.get(name) for name in refused} == {}
        assert report.violations == ()


@pytest.mark.parametrize("framework", javascript_honest.AS_LIBRARIES)
def test_the_host_takes_no_module_that_the_library_itself_does_not_take(task, sandbox, framework):
    path, text = javascript_honest.AS_LIBRARIES[framework]
    place, variants = javascript_honest.PLACE, javascript_honest.variants()
    whole = for_each_module(task, sandbox, framework, path, text)
    assert {place_of_test(whole, name) for name in whole.hidden.fail_to_pass} == {Place.HOST}
    names = list(variants)[::2]  # a patch may have so many files
    files = {f"{place}/{name}/{file}": text for name in names for file, text in variants[name].items()}
    olds = {f"{place}/{name}/shop.js": javascript_honest.ALIAS for name in names}
    patch = screen_task(
        whole, "".join(tiny.diff(file, olds.get(file), new) for file, new in files.items()).encode()
    ).kept
    hidden = parse(tiny.diff(path, None, text).encode())
    own = run(task, sandbox, framework, path, model_patch=patch, test_patch=hidden).statuses
    report = scoring.score(whole, patch, sandbox, scoring.Demands()).trial.report
    ids = [name for name in listed(whole) if name.partition("::")[2].partition(" > ")[0] in names]
    assert len(ids) == 9 * len(names)
    differing = {name: report.statuses[name] for name in ids if report.statuses[name] != own[name]}
    assert TestStatus.PASSED not in differing.values()
    refused = {name.partition("::")[2].partition(" > ")[0] for name in differing}
    assert len(refused) <= 2, differing  # of a prototype that names no class, what its class is can't be told
    assert sum(own[name] is TestStatus.PASSED for name in ids) > 8 * len(names)


@pytest.fixture(scope="module")
def rules(task, sandbox) -> Task:
    """The task of a test of every rule: what is recorded of one of them, for each."""
    first, *_ = javascript_rules.PLACES.values()
    products = {f"{first}/rule.js": (javascript_rules.BASE, javascript_rules.RIGHT)}
    one = proved(task, sandbox, products, {f"{first}/lint.js": javascript_rules.TEST}, **of("node:test"))
    assert len(listed(one)) == javascript_rules.CASES
    assert {place_of_test(one, name) for name in listed(one)} == {Place.HOST}
    [text] = one.hidden.expectations.files.values()
    assert [word for word in javascript_rules.EXPECTED if word in text] == []

    return in_each(one, javascript_rules.PLACES.values())


def test_right_rules_of_eslint_are_right_to_the_host_as_well_and_no_attack_on_their_test_is(rules, sandbox):
    places = javascript_rules.PLACES
    changed = {f"{places[name]}/rule.js": text for name, text in javascript_rules.rules().items()}
    patch = "".join(tiny.diff(path, javascript_rules.BASE, text) for path, text in changed.items())
    demands = scoring.Demands(timeout=400)  # eslint is loaded for each rule, which takes minutes on a full machine
    report = scoring.score(rules, screen_task(rules, patch.encode()).kept, sandbox, demands).trial.report
    failed = {
        name: [test for test in listed(rules) if test.startswith(f"{place}/") and test not in _passed(report)]
        for name, place in places.items()
    }
    assert {name: tests for name, tests in failed.items() if tests and name not in javascript_rules.ATTACKS} == {}
    assert {name for name in javascript_rules.ATTACKS if len(failed[name]) < 3} == set()


PROMISED = """\
exports.price = async (cents) => cents + 4217;
exports.label = async (cents) => { throw new RangeError("no label: " + cents); };
exports.parse = async (text) => { throw new RangeError("no text: " + text); };
"""
UNPROMISED = PROMISED.replace("async ", "")
OF_PROMISES = {
    "node:test": (
        "promised/node.test.js",
        'const assert = require("assert");\nconst test = require("node:test");\nconst lib = require("../money.js");\n',
        "await assert.doesNotReject(() => lib.price(1));\n  assert.strictEqual(await lib.price(1), 4218);",
        "await assert.rejects(() => lib.label(3107), /no label: 3107/);",
        'await assert.rejects(lib.parse("a"), { name: "RangeError" });',
    ),
    "jest": (
        "promised/jest.test.js",
        'const lib = require("../money.js");\n',
        "await expect(lib.price(1)).resolves.toBe(4218);",
        'await expect(lib.label(3107)).rejects.toThrow("no label: 3107");',
        'await expect(() => lib.parse("a")).rejects.toThrow("no text: a");',
    ),
    "vitest": (
        "promised/vitest.test.mjs",
        'import { expect, test } from "vitest";\nimport lib from "../money.js";\n',
        "await expect(lib.price(1)).resolves.toBe(4218);",
        'await expect(lib.label(3107)).rejects.toThrow("no label: 3107");',
        'await expect(() => lib.parse("a")).rejects.toThrow("no text: a");',
    ),
    "ava": (
        "promised/ava.test.js",
        'const test = require("ava");\nconst lib = require("../money.js");\n',
        "await t.notThrowsAsync(() => lib.price(1));\n  t.is(await lib.price(1), 4218);",
        'await t.throwsAsync(() => lib.label(3107), { message: "no label: 3107" });',
        'await t.throwsAsync(lib.parse("a"), { message: "no text: a" });',
    ),
}
"""By framework: a test file, its head, and a test each of a value and of two errors that promises come to."""


@pytest.mark.parametrize("framework", OF_PROMISES)
def test_a_product_that_gives_no_promise_or_throws_before_it_fails_as_the_library_itself_has_it(
    task, sandbox, framework
):
    path, head, *bodies = OF_PROMISES[framework]
    given = "t" if framework == "ava" else ""  # jest would wait for a call of what is given
    text = head + "".join(f'test("{n}", async ({given}) => {{\n  {body}\n}});\n' for n, body in enumerate(bodies))
    promised = proved(task, sandbox, {"money.js": (javascript.BASE, PROMISED)}, {path: text}, **of(framework))
    assert {place_of_test(promised, name) for name in listed(promised)} == {Place.HOST}
    assert len(listed(promised)) == len(bodies)
    wrong = parse(tiny.diff("money.js", javascript.BASE, UNPROMISED).encode())
    own = run(task, sandbox, framework, path, model_patch=wrong, test_patch=parse(tiny.diff(path, None, text).encode()))
    host = scoring.score(promised, wrong, sandbox, scoring.Demands()).trial.report
    assert (_passed(own), _passed(host)) == (set(), set())


def _passed(report: TestReport) -> set[str]:
    return {name for name, status in report.statuses.items() if status is TestStatus.PASSED}
