"""Workspaces of yarn, a later yarn and pnpm, called by lerna, nx and turbo: three fixes of one history, one mine."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest

from harness.core.instance import Outcome
from harness.dataset.folder import open_dataset
from harness.grading import scoring
from harness.judging.places import Place, place_of
from harness.languages.javascript.language import ROOT
from harness.languages.screening import screen_task
from tests import tiny
from tests.proved_task import FAILING
from tests.repos import Repository

if TYPE_CHECKING:
    from harness.core.instance import Task

pytestmark = pytest.mark.engine

DIGEST = "sha512-6FlzubTLZG3J2a/NVCAleEhjzq5oxgHyaCU9yYXvcLsvoVaHJq/s5xXI6/XXP6tz7R9xAOtHnSO/tXtF3WRTlA=="
YARN = f"""\
# yarn lockfile v1


ms@^2.1.3:
  version "2.1.3"
  resolved "https://registry.yarnpkg.com/ms/-/ms-2.1.3.tgz#574c8138ce1d2b5861f0b44579dbadd60c6615b2"
  integrity {DIGEST}
"""
BERRY = """\
__metadata:
  version: 8
  cacheKey: 10c0

"@kit/app@workspace:packages/app":
  version: 0.0.0-use.local
  resolution: "@kit/app@workspace:packages/app"
  dependencies:
    "@kit/units": "workspace:*"
    ms: "npm:^2.1.3"
  languageName: unknown
  linkType: soft

"@kit/units@workspace:*, @kit/units@workspace:packages/units":
  version: 0.0.0-use.local
  resolution: "@kit/units@workspace:packages/units"
  languageName: unknown
  linkType: soft

"kit@workspace:.":
  version: 0.0.0-use.local
  resolution: "kit@workspace:."
  languageName: unknown
  linkType: soft

"ms@npm:^2.1.3":
  version: 2.1.3
  resolution: "ms@npm:2.1.3"
  checksum: 10c0/d924b57e7312b3b63ad21fc5b3dc0af5e78d61a1fc7cfb5457edaf26326bf62be5307cc87ffb6862ef1c2b33b0233cdb5d4f01c4c958cc0d660948b65a287a48
  languageName: node
  linkType: hard
"""  # noqa: E501
PNPM = f"""\
lockfileVersion: '9.0'

settings:
  autoInstallPeers: true
  excludeLinksFromLockfile: false

importers:

  .: {{}}

  packages/app:
    dependencies:
      '@kit/units':
        specifier: workspace:*
        version: link:../units
      ms:
        specifier: ^2.1.3
        version: 2.1.3

  packages/units: {{}}

packages:

  ms@2.1.3:
    resolution: {{integrity: {DIGEST}}}

snapshots:

  ms@2.1.3: {{}}
"""
"""Of before there was a package more, so that it is out of date."""
BUILD = 'require("fs").cpSync(`${__dirname}/src`, `${__dirname}/dist`, { recursive: true });\n'
APP = """\
const ms = require("ms");
const { scaled } = require("@kit/units");

exports.span = (text) => scaled(ms(text));
exports.spans = (texts) => texts.map(ms);
"""
TEST = """\
const test = require("node:test");
const assert = require("node:assert");
const { span, spans } = require("..");

test("of nothing", () => assert.strictEqual(span("0"), 0));
"""
HALVES = "exports.scaled = (number) => number / 2;\n"
WHOLE = "exports.scaled = (number) => number * 1;\n"


def root(tool: str) -> str:
    scripts = {"build": f"{tool} build", "test": f"{tool} test"}
    return json.dumps({"name": "kit", "private": True, "workspaces": ["packages/*"], "scripts": scripts})


def app(units: str) -> str:
    required = {"@kit/units": units, "ms": "^2.1.3"}
    return json.dumps({"name": "@kit/app", "version": "1.0.0", "main": "src/index.js", "dependencies": required})


BASE = {
    "packages/app/src/index.js": APP,
    "packages/app/test/span.test.js": TEST,
    "packages/units/package.json": json.dumps(
        {"name": "@kit/units", "version": "1.0.0", "main": "dist/index.js", "scripts": {"build": "node build.js"}}
    ),
    "packages/units/build.js": BUILD,
    "packages/units/src/index.js": HALVES,
    ".gitignore": "node_modules\ndist\n",
}
OF_LERNA = {"package.json": root("lerna run"), "lerna.json": "{}", "packages/app/package.json": app("1.0.0")}
OF_NX = {"package.json": root("nx run-many -t"), "nx.json": "{}", "packages/app/package.json": app("workspace:*")}
OF_TURBO = {"package.json": root("turbo run"), "turbo.json": "{}"}
SITE = json.dumps({"name": "@kit/site", "dependencies": {"@kit/there-is-none-of-this-name": "1.0.0"}})


@pytest.fixture(scope="module")
def tasks(tmp_path_factory) -> dict[str, Task]:
    """By the file that its fix changes: a task of each manager's workspace."""
    folder = tmp_path_factory.mktemp("workspaces")
    repo = Repository(folder / "repo")
    repo.clock = datetime.now(tz=UTC) - timedelta(hours=9)  # a mirror may have other days than the registry
    repo.commit("Start", {**BASE, **OF_LERNA, "yarn.lock": YARN})
    tests, fixes = TEST, []
    tests += 'test("of many", () => assert.deepStrictEqual(spans(["7s", "3"]), [7000, 3]));\n'
    code = APP.replace("texts.map(ms)", "texts.map((text) => ms(text))")
    repo.commit("Take many", {"packages/app/src/index.js": APP.replace("texts.map(ms)", "texts")})
    fixes.append(repo.commit("Fix many", {"packages/app/src/index.js": code, "packages/app/test/span.test.js": tests}))
    repo.commit("Move to nx and a later yarn", {**OF_NX, "lerna.json": None, "yarn.lock": BERRY})
    tests += 'test("of seconds", () => assert.strictEqual(span("97s"), 97000));\n'
    units = {"packages/units/src/index.js": WHOLE, "packages/app/test/span.test.js": tests}
    fixes.append(repo.commit("Fix units", units))
    site = {"packages/site/package.json": SITE, "pnpm-workspace.yaml": "packages:\n  - packages/*\n"}
    moved = {**OF_TURBO, **site, "nx.json": None, "yarn.lock": None, "pnpm-lock.yaml": PNPM}
    repo.commit("Move to turbo and pnpm", moved)
    tests += 'test("of no text", () => assert.throws(() => span(3), { message: "no text: 3" }));\n'
    code = code.replace(
        "exports.span = (text) => scaled(ms(text));",
        "exports.span = (text) => {\n  if (text === 3) throw new TypeError(`no text: ${text}`);\n"
        "  return scaled(ms(text));\n};",
    )
    fixes.append(
        repo.commit("Fix no text", {"packages/app/src/index.js": code, "packages/app/test/span.test.js": tests})
    )
    words = ("--name", "acme/kit", "--runs", "1", *(word for fix in fixes for word in ("--commit", fix)))
    variables = {"GOLDSEAM_MINING_MUTANTS": "0"}
    done = tiny.goldseam("mine", repo.path, "-o", folder / "dataset", *words, env=variables)
    assert done.returncode == 0, done.error_text + done.stdout
    dataset = open_dataset(folder / "dataset")
    found = [dataset.task(place.name) for place in (dataset.path / "tasks").iterdir()]
    by_commit = {task.instance.instance_id.rpartition("-")[2]: task for task in found}
    assert len(by_commit) == len(fixes), done.stdout
    managers = ("yarn", "berry", "pnpm")
    return {name: by_commit[fix[:8]] for name, fix in zip(managers, fixes, strict=True)}


@pytest.mark.parametrize(
    ("manager", "rung", "turned"),
    [
        ("yarn", "yarn.lock", "of many"),
        ("berry", "yarn.lock", "of seconds"),
        ("pnpm", "pnpm-lock.yaml, what is named", "of no text"),
    ],
)
def test_a_package_of_a_workspace_is_tested_with_what_it_needs_of_the_tree(tasks, sandbox, manager, rung, turned):
    task = tasks[manager]
    assert task.instance.extra["environment"]["rung"] == rung
    assert task.instance.test.options[0] == f"{ROOT}packages/app"
    assert task.hidden.fail_to_pass == (f"packages/app/test/span.test.js::{turned}",)
    assert place_of(task) is Place.HOST
    assert scoring.score(task, None, sandbox, scoring.Demands()).grade.outcome in FAILING


@pytest.mark.parametrize(
    ("text", "outcomes"),
    [("exports.scaled = Number;\n", (Outcome.RESOLVED,)), ("exports.scaled = (number) => -number;\n", FAILING)],
)
def test_a_package_that_the_tested_one_requires_is_built_anew_with_what_a_patch_makes_of_it(
    tasks, sandbox, text, outcomes
):
    patch = screen_task(tasks["berry"], tiny.diff("packages/units/src/index.js", HALVES, text).encode()).kept
    assert scoring.score(tasks["berry"], patch, sandbox, scoring.Demands()).grade.outcome in outcomes
