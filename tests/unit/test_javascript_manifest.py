"""What a repository's files say of Node, package managers and test runners."""

from __future__ import annotations

import json
from datetime import date

import pytest

from miner.languages.javascript import manifest
from miner.languages.javascript.manifest import manager_of, node_majors, package_folder, unsupported
from tests.trees import Files

OWN, RUSH_LOCK = '{"name": "a"}', "common/config/rush/pnpm-lock.yaml"
DAY = date(2023, 9, 1)
OWN_LOCK = """\
---
lockfileVersion: '9.0'

importers:

  .:
    configDependencies: {}
    packageManagerDependencies:
      '@pnpm/exe':
        specifier: 11.21.0
        version: 11.21.0
      pnpm:
        specifier: 11.21.0
        version: 11.21.0
"""
"""Of pnpm 11, which has a document about itself before the other."""


def tree(text):
    return Files({"package.json": json.dumps(text)})


@pytest.mark.parametrize(
    ("engines", "nodes"),
    [
        ("", (18,)),
        (">=14", (18,)),
        (">= 0.6", (18,)),
        ("^16.0.0", (16,)),
        ("^14.18.0 || >=16.10.0", (18,)),
        (">=12 <17", (16,)),
        ("16.x", (16,)),
        ("nonsense", (18,)),
    ],
)
def test_node_is_the_newest_of_the_day_that_has_lasted_and_is_allowed(engines, nodes):
    assert node_majors(tree({"engines": {"node": engines}}), DAY) == nodes


def test_a_version_that_the_repository_names_comes_first():
    assert node_majors(Files({"package.json": "{}", ".nvmrc": "v14.17\n"}), DAY) == (14, 18)
    for tools in ({".tool-versions": "python 3.12\nnodejs 14.17.1\n"}, {"mise.toml": '[tools]\nnode = "14"\n'}):
        assert node_majors(Files({"package.json": "{}", **tools}), DAY) == (14, 18)
    assert node_majors(Files({"package.json": "{}", "mise.toml": 'node = ["lts"]\n'}), DAY) == (18,)
    assert node_majors(Files({"package.json": "{}", ".nvmrc": "lts/Gallium\n"}), DAY) == (16, 18)
    assert node_majors(Files({"package.json": "{}", ".nvmrc": "lts/*\n"}), DAY) == (18,)
    assert node_majors(tree({"volta": {"node": "16.13.0"}}), DAY) == (16, 18)
    assert node_majors(Files({"package.json": "{}", ".nvmrc": "26"}), date(2026, 6, 1)) == (26, 24)


STEP = "jobs: {t: {steps: [{uses: actions/setup-node@v3, with: {node-version: VERSION, cache: npm}}]}}"
MATRIX = "jobs: {t: {strategy: {matrix: {node: VERSION, exclude: [{node: 17}]}}}}"
WORKFLOW = ".github/workflows/ci.yml"


@pytest.mark.parametrize(
    ("path", "text", "nodes"),
    [
        (WORKFLOW, STEP.replace("VERSION", "14.x"), (14, 18)),
        (WORKFLOW, STEP.replace("VERSION", "lts/gallium"), (16, 18)),
        (WORKFLOW, STEP.replace("VERSION", "${{ matrix.node }}"), (18,)),
        (WORKFLOW, MATRIX.replace("VERSION", "[12, v14.17, 16]"), (16, 18)),
        (WORKFLOW, MATRIX.replace("VERSION", "[16, 17]"), (16, 18)),
        (WORKFLOW, MATRIX.replace("VERSION", "[14, lts/*]"), (18,)),
        (WORKFLOW, MATRIX.replace("VERSION", "['0.10', 4, 99]"), (18,)),
        (WORKFLOW, "jobs: [", (18,)),
        (".travis.yml", "language: node_js\nnode_js:\n  - 8\n  - 10\n", (10, 18)),
        (".travis.yml", "node_js: '6'\n", (8, 18)),
        (
            ".circleci/config.yml",
            "jobs: {t: {docker: [{image: 'cimg/node:14.17-browsers'}, {image: 'redis:7'}]}}",
            (14, 18),
        ),
        (".gitlab-ci.yml", "image: node:16\n", (16, 18)),
    ],
)
def test_the_newest_version_that_ci_names_goes_before_that_of_the_day(path, text, nodes):
    assert node_majors(Files({"package.json": "{}", path: text}), DAY) == nodes


LOCK_OF_NPM = '{"name": "a", "lockfileVersion": VERSION, "packages": {"": {"engines": {"node": "WISH"}}}}'


@pytest.mark.parametrize(
    ("lock", "text", "day", "nodes"),
    [
        ("package-lock.json", LOCK_OF_NPM.replace("VERSION", "1"), DAY, (14, 18)),
        ("npm-shrinkwrap.json", LOCK_OF_NPM.replace("VERSION", "1"), DAY, (14, 18)),
        ("package-lock.json", LOCK_OF_NPM.replace("VERSION", "2"), DAY, (18,)),
        ("package-lock.json", LOCK_OF_NPM.replace("VERSION", "2"), date(2021, 6, 1), (16, 14)),
        ("package-lock.json", LOCK_OF_NPM.replace("VERSION", "3"), date(2022, 6, 1), (18, 16)),
        ("package-lock.json", LOCK_OF_NPM.replace("VERSION", "3"), date(2020, 1, 1), (12,)),
        ("package-lock.json", LOCK_OF_NPM.replace("VERSION", "2").replace("WISH", "^16"), DAY, (16, 18)),
        ("package-lock.json", LOCK_OF_NPM.replace("VERSION", "null").replace("WISH", "<16"), DAY, (14, 18)),
        ("package-lock.json", "\ufeff" + LOCK_OF_NPM.replace("VERSION", "1"), DAY, (14, 18)),
        ("package-lock.json", "{", DAY, (18,)),
        ("pnpm-lock.yaml", "lockfileVersion: 5.1\n", DAY, (14, 18)),
        ("pnpm-lock.yaml", "lockfileVersion: 5.3\n", DAY, (16, 18)),
        ("pnpm-lock.yaml", "lockfileVersion: 5.4\n", date(2025, 6, 1), (18, 22)),
        ("pnpm-lock.yaml", "lockfileVersion: '6.0'\n", date(2025, 6, 1), (20, 22)),
        ("pnpm-lock.yaml", "lockfileVersion: '9.0'\n", date(2025, 6, 1), (22,)),
        ("pnpm-lock.yaml", OWN_LOCK, date(2022, 6, 1), (18, 16)),
        ("yarn.lock", "# yarn lockfile v1\n", DAY, (18,)),
        ("yarn.lock", "__metadata:\n  version: 4\n", DAY, (16, 18)),
        ("yarn.lock", "__metadata:\n  version: 6\n", date(2025, 6, 1), (20, 22)),
        ("yarn.lock", "__metadata:\n  version: 8\n", date(2022, 6, 1), (18, 16)),
    ],
)
def test_the_form_of_a_lock_tells_the_line_of_node_where_nothing_else_does(lock, text, day, nodes):
    assert node_majors(Files({"package.json": "{}", lock: text}), day) == nodes


def test_what_the_project_names_goes_before_what_its_lock_tells():
    lock = {"package-lock.json": LOCK_OF_NPM.replace("VERSION", "1")}
    for told, nodes in (
        ({"package.json": "{}", ".nvmrc": "16"}, (16, 18)),
        ({"package.json": '{"volta": {"node": "16.13.0"}}'}, (16, 18)),
        ({"package.json": '{"engines": {"node": ">=16"}}'}, (18,)),
        ({"package.json": '{"engines": {"node": "<14"}}'}, (12,)),
        ({"package.json": "{}", WORKFLOW: STEP.replace("VERSION", "16")}, (16, 18)),
        ({"package.json": "{}", WORKFLOW: STEP.replace("VERSION", "latest")}, (18,)),
        ({"package.json": "{}", WORKFLOW: STEP.replace("VERSION", "${{ matrix.node }}")}, (14, 18)),
    ):
        assert node_majors(Files({**told, **lock}), DAY) == nodes


def test_the_version_of_ci_comes_after_the_one_that_is_named_and_is_allowed():
    files = {WORKFLOW: MATRIX.replace("VERSION", "[14, 16, 18]")}

    assert node_majors(Files({"package.json": "{}", ".nvmrc": "14", **files}), DAY) == (14, 18)
    assert node_majors(Files({"package.json": '{"engines": {"node": "<18"}}', **files}), DAY) == (16,)
    assert node_majors(Files({"package.json": '{"engines": {"node": "^14 || >=18"}}', **files}), DAY) == (18,)


@pytest.mark.parametrize(
    ("files", "told"),
    [
        ({}, ("npm", "", None)),
        ({"package-lock.json": "{}"}, ("npm", "", "package-lock.json")),
        ({"pnpm-lock.yaml": "lockfileVersion: '9.0'\n"}, ("pnpm", "9", "pnpm-lock.yaml")),
        ({"pnpm-lock.yaml": "lockfileVersion: 5.4\n"}, ("pnpm", "7", "pnpm-lock.yaml")),
        (
            {
                "pnpm-lock.yaml": "lockfileVersion: '9.0'\n",
                "pnpm-workspace.yaml": "packages:\n  - a\ncatalog:\n  b: 1\n",
            },
            ("pnpm", "9", "pnpm-lock.yaml"),
        ),
        (
            {"pnpm-lock.yaml": "lockfileVersion: '9.0'\n", "pnpm-workspace.yaml": "allowBuilds:\n  esbuild: false\n"},
            ("pnpm", "10", "pnpm-lock.yaml"),
        ),
        ({"pnpm-lock.yaml": OWN_LOCK}, ("pnpm", "11.21.0", "pnpm-lock.yaml")),
        ({"yarn.lock": "__metadata:\n  version: 8\n"}, ("berry", "4.13", "yarn.lock")),
        ({"yarn.lock": "__metadata:\n  version: 9\n"}, ("berry", "4.14", "yarn.lock")),
        ({"yarn.lock": "__metadata:\n  version: 10\n"}, ("berry", "4", "yarn.lock")),
        ({"yarn.lock": "__metadata:\n  version: 4\n"}, ("berry", "2.4", "yarn.lock")),
        ({"yarn.lock": "# yarn lockfile v1\n"}, ("yarn", "1.22", "yarn.lock")),
        ({"yarn.lock": "__metadata:\n  version: 6\n"}, ("berry", "3", "yarn.lock")),
    ],
)
def test_the_manager_is_told_by_its_lock(files, told):
    found = manager_of(Files({"package.json": "{}", **files}))
    assert (found.name, found.version, found.lock) == told


def test_what_a_fix_requires_is_taken_from_its_manifests_where_that_is_something_else():
    base = Files({"package.json": '{"version": "1", "dependencies": {"a": "1"}}', "index.js": ""})
    fixed = {
        "package.json": b'{"version": "2", "dependencies": {"a": "1", "b": "1"}}',
        "yarn.lock": b"# yarn lockfile v1",
    }
    after = manifest.with_fix(base, fixed)
    assert after.files() == ("index.js", "package.json", "yarn.lock")
    assert manifest.read_manifest(after)["dependencies"] == {"a": "1", "b": "1"}
    assert manager_of(after).name == "yarn"
    assert manifest.with_fix(base, {"package.json": b'{"version": "2", "dependencies": {"a": "1"}}'}) is None
    assert manifest.with_fix(base, {"yarn.lock": b"# yarn lockfile v1"}) is None


def test_the_manager_that_the_manifest_names_decides_among_locks():
    files = {"package-lock.json": "{}", "yarn.lock": "__metadata:\n"}
    found = manager_of(Files({"package.json": '{"packageManager": "yarn@4.1.0+sha224.x"}', **files}))
    assert (found.name, found.version, found.lock) == ("berry", "4.1.0", "yarn.lock")
    for wish, version in (("11.22.0+sha512.a1", "11.22.0"), (">=11.0.0 <12.0.0", "11"), ("", "9")):
        engines = {"devEngines": {"packageManager": {"name": "pnpm", "version": wish}}}
        assert (
            manager_of(Files({"package.json": json.dumps(engines), "pnpm-lock.yaml": "lockfileVersion: '9.0'"})).version
            == version
        )


@pytest.mark.parametrize(
    ("script", "framework", "options"),
    [
        ("vitest run --coverage", "vitest", ()),
        ("jest --coverage && tsd", "jest", ()),
        ("jest --config test/jest.config.js", "jest", ("--config", "test/jest.config.js")),
        ("jest --globals {} --env jsdom --ci src", "jest", ("--env", "jsdom")),
        ("vitest --globals --environment=happy-dom --coverage", "vitest", ("--globals", "--environment=happy-dom")),
        ("nyc --reporter=text mocha --require @babel/register --reporter dot --recursive", "mocha",
         ("--require", "@babel/register")),
        ("cross-env TZ=UTC mocha -r ts-node/register 'test/**/*.ts'", "mocha", ("-r", "ts-node/register")),
        ("node --test --import tsx test/*.ts", "node:test", ("--import", "tsx")),
        ("nyc tape 'test/**/*.js'", "tap", ()),
        ("uvu -r esm -i fixtures test", "uvu", ("-r", "esm")),
        ("npm run lint && ./node_modules/.bin/mocha", "mocha", ()),
        ("ts-mocha -r tsconfig-paths/register test/*.ts", "mocha", ("-r", "tsconfig-paths/register")),
        ("lab -a @hapi/code -t 100 -L -m 5000 --typescript", "lab", ("-m", "5000", "--typescript")),
        ("$(npm bin)/ava --verbose --require babel-core/register", "ava", ("--require", "babel-core/register")),
        ("mocha --expose-gc -n import=tsx --delay --parallel", "mocha", ("--expose-gc", "-n", "import=tsx", "--delay")),
        ("node --experimental-test-coverage --experimental-test-module-mocks --test", "node:test",
         ("--experimental-test-module-mocks",)),
        ("bash -c 'source flags.sh && mocha -r esm'", "mocha", ("-r", "esm")),
        ("node --trace-gc node_modules/mocha/bin/mocha.js -r esm", "mocha", ("-r", "esm")),
    ],
)  # fmt: skip
def test_a_script_tells_the_runner_and_how_files_are_loaded(script, framework, options):
    [first, *_] = manifest.test_commands(tree({"scripts": {"test": script}}), ["test/a.js"])
    assert (first.framework, first.options) == (framework, options)


@pytest.mark.parametrize(
    ("script", "depended", "env"),
    [
        ("$(npm bin)/babel-node $(npm bin)/ava", "babel-cli", (("NODE_OPTIONS", "--require babel-register"),)),
        ("babel-node node_modules/.bin/_mocha", "@babel/node", (("NODE_OPTIONS", "--require @babel/register"),)),
        ("babel-node scripts/x.js && mocha", "babel-cli", ()),
    ],
)
def test_what_babel_node_starts_has_its_files_compiled(script, depended, env):
    package = {"scripts": {"test": script}, "devDependencies": {depended: "1"}}
    assert manifest.test_commands(tree(package), ["test/a.js"])[0].env == env


@pytest.mark.parametrize("script", ["babel-node test", "(./node_modules/.bin/babel-node test | tap-dot) && eslint ."])
def test_what_babel_node_runs_itself_is_compiled(script):
    package = {"scripts": {"test": script}, "devDependencies": {"babel-cli": "6", "tape": "4"}}
    [first, *_] = manifest.test_commands(tree(package), ["test/a.js"])
    assert (first.framework, first.options) == ("tap", ("--require", "babel-register"))


def test_what_nyc_has_tests_require_is_required():
    package = {"scripts": {"test": "nyc yarn _test", "_test": "mocha --require ./runtime"}, "nyc": {"require": ["esm"]}}
    [first, *_] = manifest.test_commands(tree(package), ["test/a.js"])
    assert first.options == ("--require", "esm", "--require", "./runtime")
    package["scripts"]["test"] = "yarn _test"
    [first, *_] = manifest.test_commands(tree(package), ["test/a.js"])
    assert first.options == ("--require", "./runtime")


def test_a_script_is_followed_to_those_that_it_runs_with_the_variables_that_they_set():
    scripts = {
        "lint": "eslint .",
        "check": "cross-env BABEL_ENV=cjs TZ=$ZONE PATH=x mocha --require @babel/register",
        "test": "npm-run-all --parallel check lint",
    }
    [first, *_] = manifest.test_commands(tree({"scripts": scripts}), ["test/a.js"])
    assert (first.framework, first.options) == ("mocha", ("--require", "@babel/register"))
    assert first.env == (("BABEL_ENV", "cjs"),)

    scripts = {"test": "run-s test:*", "test:unit": "NODE_OPTIONS=--experimental-vm-modules jest", "unit": "mocha"}
    [first, *_] = manifest.test_commands(tree({"scripts": scripts}), ["test/a.js"])
    assert (first.framework, first.env) == ("jest", (("NODE_OPTIONS", "--experimental-vm-modules"),))


@pytest.mark.parametrize(
    ("script", "options"),
    [
        ("node --conditions development --no-warnings test/index.js", ("--conditions", "development", "--no-warnings")),
        ("tsx --conditions=development test.ts", ("--import", "tsx", "--conditions=development")),
        ("node test/index.js", ()),
        ("node -r esm x.js && node --test", ()),
    ],
)
def test_of_tests_that_call_their_runner_themselves_node_is_told_what_a_script_tells_it(script, options):
    files = {"package.json": json.dumps({"scripts": {"test": script}}), "test.js": 'import test from "node:test";'}
    [first, *_] = manifest.test_commands(Files(files), ["test.js"])
    assert (first.framework, first.options) == ("node:test", options)
    assert unsupported(tree({"scripts": {"test": script.partition(" &&")[0]}}), ["test.js"])


def test_what_node_is_told_before_the_file_of_a_runner_is_kept_as_a_variable():
    script = "NODE_OPTIONS=--no-warnings c8 node --max-old-space-size=99 --experimental-vm-modules {} --coverage"
    for place in ("node_modules/jest/bin/jest.js", "./node_modules/.bin/jest"):
        [first, *_] = manifest.test_commands(tree({"scripts": {"test": script.format(place)}}), ["test/a.js"])
        assert (first.framework, first.options) == ("jest", ())
        assert first.env == (("NODE_OPTIONS", "--no-warnings --experimental-vm-modules"),)
    assert unsupported(tree({"scripts": {"test": "node test/mocha.js"}}), ["test/a.js"])


def test_typescript_that_a_runner_cannot_load_is_transpiled_at_last():
    package = {"scripts": {"test": "node --test dist/test/*.js"}, "devDependencies": {"typescript": "5"}}
    plain, transpiled = manifest.test_commands(tree(package), ["src/test/a.test.ts"])
    assert (plain.options, transpiled.options) == ((), ("--transpile=typescript",))
    assert len(manifest.test_commands(tree(package), ["test/a.test.js"])) == 1
    package = {"scripts": {"test": "ava"}, "devDependencies": {"ava": "7", "typescript": "6"}}
    [_, transpiled, *_] = manifest.test_commands(tree(package), ["test/a.ts"])
    assert transpiled.options == ("--transpile=typescript",)


@pytest.mark.parametrize(
    ("script", "package", "last"),
    [
        ("mocha -r ts-node/register", "ts-node", (("TS_NODE_TRANSPILE_ONLY", "true"),)),
        ("jest", "ts-jest", ('--globals={"ts-jest":{"diagnostics":false}}',)),
    ],
)
def test_typescript_whose_types_are_wrong_is_run_unchecked_at_last(script, package, last):
    text = {"scripts": {"test": script}, "devDependencies": {"typescript": "5", package: "1"}}
    plain, unchecked, *_ = manifest.test_commands(tree(text), ["test/a.test.ts"])
    assert last not in (plain.env, plain.options)
    assert last in (unchecked.env, unchecked.options)


@pytest.mark.parametrize(
    ("text", "framework"),
    [
        ('import { it } from "vitest";', "vitest"),
        ("const test = require('tape');", "tap"),
        ('import test from "node:test"', "node:test"),
    ],
)
def test_what_a_test_imports_goes_before_scripts(text, framework):
    [first, *_] = manifest.test_commands(
        Files({"package.json": '{"scripts": {"test": "jest"}}', "test/a.js": text}), ["test/a.js"]
    )
    assert first.framework == framework


def test_a_package_of_a_workspace_is_where_its_tests_are_run():
    inner = {"packages/a/package.json": '{"name": "a", "scripts": {"test": "jest"}}', "packages/a/test/x.test.js": ""}
    files = Files({"package.json": '{"scripts": {"test": "lerna run test"}}', **inner})
    assert package_folder(files, ["packages/a/test/x.test.js"]) == "packages/a"
    [first, *_] = manifest.test_commands(files, ["packages/a/test/x.test.js"])
    assert (first.framework, first.options) == ("jest", ("--root=packages/a",))


@pytest.mark.parametrize(
    ("script", "found"),
    [
        ("zora", ("runner_unsupported", "zora")),
        ("make check", ("runner_unsupported", "no runner that is known")),
        ("karma start", ("browser_tests", "karma")),
        ("playwright test", ("browser_tests", "playwright")),
        ("tsd", ("type_tests", "tsd")),
        ("tsc --noEmit", ("type_tests", "tsc")),
        ("vows test/*", ("runner_unsupported", "vows")),
        ("bun test", ("other_runtime", "bun test")),
        ("deno test -A && tsc", ("other_runtime", "deno test")),
        ("bun run test:unit && mocha", None),
        ("uvu -r tsm tests", None),
        ("mocha && karma start && tsd", None),
    ],
)
def test_what_cannot_be_run_has_a_reason_of_its_own(script, found):
    assert unsupported(tree({"scripts": {"test": script}}), ["test/a.js"]) == found


def test_a_runner_that_is_only_depended_on_is_the_browsers_where_scripts_call_a_browser_alone():
    def told(script, text=""):
        package = {"scripts": {"test": script}, "devDependencies": {"jasmine": "5"}}
        return unsupported(Files({"package.json": json.dumps(package), "a.js": text}), ["a.js"])

    assert told("karma start --browsers=chrome") == ("browser_tests", "karma")
    assert told("grunt && karma start") is None
    assert told("karma start", 'import { it } from "vitest";') is None
    assert told("echo") is None


@pytest.mark.parametrize(
    ("path", "text", "reason"),
    [
        ("index.test-d.ts", "", "type_tests"),
        ("test/a.ts", 'import { expectType } from "tsd";', "type_tests"),
        ("test/types/a.ts", "const a: number = f();", "type_tests"),
        ("test/types/a.ts", 'it("a", () => {});', None),
        *((path, "const a: number = f();", "type_tests") for path in ("types/a-test.ts", "test/typescript.ts")),
        ("test/types/a.ts", "/a/.test(f());", "type_tests"),
        ("test/types.ts", 'tap.test("a", () => {});', None),
        ("test/a.ts", "const a: number = f();", None),
        ("src/__typetests__/a.test.ts", 'test("a", () => {});', "type_tests"),
        ("test/a.ts", 'import { expectTypeOf } from "expect-type";\nexpectTypeOf(a).toBeString();', "type_tests"),
        ("test/a.ts", 'import { expectTypeOf } from "expect-type";\ntest("a", () => {});', None),
        ("e2e/a.ts", 'import { test } from "@playwright/test";\ntest("a", () => {});', "browser_tests"),
        ("cypress/a.cy.js", 'it("a", () => { cy.visit("/"); });', "browser_tests"),
        ("a.test.tsx", 'import { page } from "vitest/browser";\nit("a", () => {});', "browser_tests"),
        ("a.test.ts", 'import { test } from "bun:test";\ntest("a", () => {});', "other_runtime"),
        ("a.test.ts", 'Deno.test("a", () => {});', "other_runtime"),
    ],
)
def test_tests_of_types_or_for_a_browser_are_told_although_a_runner_is_there(path, text, reason):
    files = Files({"package.json": '{"scripts": {"test": "vitest"}}', path: text, "b.test.ts": "it()"})
    found = unsupported(files, [path])
    assert (found and found[0]) == reason
    assert unsupported(files, [path, "b.test.ts"]) is None or reason is None
    if reason == "type_tests":
        assert unsupported(files, [path, "index.d.ts", "README.md"]) == found


@pytest.mark.parametrize(
    ("config", "reason"),
    [
        ("{ test: { browser: { provider: playwright(), enabled: true } } }", "browser_tests"),
        ("{ test: { browser: { enabled: false } } }", None),
        ("{ test: { projects: [{ browser: { enabled: true } }] } }", None),
    ],
)
def test_a_package_whose_tests_vitest_runs_in_a_browser_is_told(config, reason):
    package = {"package.json": '{"name": "a", "scripts": {"test": "vitest"}}', "vitest.config.ts": config}
    inner = {f"packages/a/{name}": text for name, text in package.items()}
    for files in (package, {**package, **inner, "vitest.config.ts": ""}):
        found = unsupported(Files(files), ["packages/a/x.test.ts"])
        assert (found and found[0]) == reason
    assert unsupported(Files({**package, "vitest.workspace.ts": ""}), ["x.test.ts"]) is None


def test_what_a_tree_without_a_manifest_says_is_known_of_deno_alone():
    assert manifest.untestable(Files({"deno.json": "{}"}), ["a_test.ts"])[0] == "other_runtime"
    assert manifest.untestable(Files({"a.js": ""}), ["test/a.js"]) is None
    assert manifest.untestable(tree({"scripts": {"test": "node test.js"}}), ["test/a.js"])[0] == "runner_unsupported"


def test_a_file_that_sets_mocha_up_is_given_before_each_file_of_tests():
    def options(script):
        return manifest.test_commands(tree({"scripts": {"test": script}}), ["test/a.js"])[0].options

    assert options("mocha -r esm test/setup.js 'test/**/*.js'") == ("-r", "esm", "test/setup.js")
    assert options("mocha --compilers js:babel-register --file test/env.js test") == (
        *("--compilers", "js:babel-register"),
        *("--file", "test/env.js"),
    )
    assert options("mocha test/helpers.js") == options("mocha test/**/*-setup.js test/a.js") == ()


def test_typescript_is_transpiled_without_what_loads_it_at_last():
    script = "NODE_OPTIONS='--loader=ts-node/esm --no-warnings' mocha -r tsx -r ./env.js"
    package = {"scripts": {"test": script}, "devDependencies": {"typescript": "5"}}
    *_, last = manifest.test_commands(tree(package), ["test/a.ts"])
    assert last.options == ("--transpile=typescript", "-r", "./env.js")
    assert dict(last.env)["NODE_OPTIONS"] == "--no-warnings"


def test_projects_in_a_browser_are_left_out_at_last():
    package = {"package.json": '{"scripts": {"test": "vitest"}}'}
    config = "export default { test: { projects: ['a', { browser: { enabled: true } }] } }"
    commands = manifest.test_commands(Files({**package, "vitest.config.ts": config}), ["a.test.ts"])
    assert [command.options for command in commands] == [(), ("--project=!*browser*",)]


def test_types_are_left_out_where_a_packages_own_configuration_has_them_checked():
    inner = {"p/a/package.json": '{"name": "a"}', "p/a/vitest.config.ts": "export default { test: { typecheck: {} } }"}
    files = Files({"package.json": '{"devDependencies": {"vitest": "3"}}', **inner})
    [first, _] = manifest.test_commands(files, ["p/a/x.test.ts"])
    assert first.options == ("--root=p/a", "--typecheck.enabled=false")


def test_a_script_that_is_called_like_a_runner_is_no_call_of_it():
    scripts = {"test": "npm run lint && c8 npm run mocha", "mocha": "mocha --require test/env.js test"}
    [first, *_] = manifest.test_commands(tree({"scripts": scripts}), ["test/a.js"])
    assert first.options == ("--require", "test/env.js")


@pytest.mark.parametrize(
    "script",
    [
        "NODE_OPTIONS='$NODE_OPTIONS --experimental-vm-modules' npx jest",
        'cross-env NODE_OPTIONS="${NODE_OPTIONS:-} --experimental-vm-modules" jest',
        "export NODE_OPTIONS=--experimental-vm-modules && yarn run jest",
    ],
)
def test_what_is_added_to_the_options_of_node_is_kept(script):
    [first] = manifest.test_commands(tree({"scripts": {"test": script}}), ["test/a.js"])
    assert (first.framework, first.env) == ("jest", (("NODE_OPTIONS", "--experimental-vm-modules"),))


def test_a_package_that_says_nothing_of_its_tests_has_them_run_at_the_root_first():
    inner = {"package.json": '{"devDependencies": {"vitest": "3"}}', "p/a/package.json": '{"name": "a"}'}
    configured = {"vitest.config.ts": "export default {}"}
    for more, first in (
        ({}, "--root=p/a"),
        (configured, None),
        ({**configured, "p/a/vite.config.js": "1"}, "--root=p/a"),
    ):
        [command, _] = manifest.test_commands(Files({**inner, **more}), ["p/a/x.test.ts"])
        assert next(iter(command.options), None) == first
    two = Files({**inner, "p/b/package.json": '{"name": "b"}'})
    assert manifest.test_commands(two, ["p/a/x.test.ts", "p/b/x.test.ts"])[0].options == ()


def test_a_tool_that_calls_jest_is_called_in_its_place():
    [first, *_] = manifest.test_commands(tree({"scripts": {"test": "kcd-scripts test --env=jsdom"}}), ["src/a.js"])
    assert (first.framework, first.options) == ("jest", ("--through=kcd-scripts", "--env=jsdom"))


def test_of_changed_files_those_in_the_folders_of_tests_or_called_like_them_are_tests():
    changed = ["test/a.js", "src/a.js", "src/a.test.ts", "test/package.json", "src/contest/b.js", "lib/test.mjs"]
    assert manifest.tests_among(changed) == ["test/a.js", "src/a.test.ts", "lib/test.mjs"]
    assert manifest.tests_among(["a.js", "package.json"]) == ["a.js"]


@pytest.mark.parametrize("text", ["", "[]", "{", '"x"', '{"scripts": 3, "engines": [], "volta": 1}'])
def test_a_broken_manifest_is_as_one_that_says_nothing(text):
    broken = Files({"package.json": text})
    assert node_majors(broken, DAY) == (18,)
    assert [command.framework for command in manifest.test_commands(broken, ["test/a.js"])] == ["mocha"]


@pytest.mark.parametrize(
    ("files", "reason"),
    [
        ({"package.json": "{,"}, ("broken_manifest", "it is no JSON object")),
        ({"package.json": '{"a":' * 100_000}, ("broken_manifest", "it is no JSON object")),
        (
            {"package.json": '{"engines": {"node": ">=99"}}'},
            ("no_node", "engines.node of package.json asks for '>=99'"),
        ),
        (
            {"package.json": '{"name": "a"}', ".nvmrc": "v99\n"},
            ("no_node", ".nvmrc asks for 'v99': there was no such line of Node on 2023-09-01, from 6 on"),
        ),
        (
            {"package.json": '{"volta": {"node": "0.10.48"}}'},
            ("no_node", "volta of package.json asks for '0.10.48': there was no such line"),
        ),
        ({"package.json": '{"engines": {"node": "^17"}}'}, None),
    ],
)
def test_what_no_image_can_be_made_of_has_a_reason(files, reason):
    found = manifest.objection(Files(files), DAY)
    assert (found is None) is (reason is None)
    if reason is not None and found is not None:
        assert (found[0], reason[1] in found[1]) == (reason[0], True)


def test_a_line_of_node_between_those_with_long_support_is_taken_where_it_is_asked_for():
    assert node_majors(tree({"engines": {"node": "^17"}}), DAY) == (17,)
    assert node_majors(Files({"package.json": "{}", ".nvmrc": "19.1"}), DAY) == (19, 18)


@pytest.mark.parametrize("lock", ["{", "[]", "", "<<<<<<< HEAD\n{}", '{"a":' * 100_000])
def test_a_broken_lock_is_noted_and_not_used(lock):
    files = Files({"package.json": "{}", "package-lock.json": lock})
    assert manager_of(files).lock is None
    assert manifest.lock_notes(files) == ("package-lock.json is broken: it can't be read",)


def test_several_locks_and_one_of_another_manager_are_noted():
    files = Files(
        {"package.json": '{"packageManager": "pnpm@9.1.0"}', "yarn.lock": "# v1\n", "package-lock.json": "{}"}
    )
    assert manifest.lock_notes(files) == (
        "there are several locks, package-lock.json, yarn.lock: package-lock.json is used",
        "packageManager names pnpm, and the lock that is used, package-lock.json, is that of npm",
    )


@pytest.mark.parametrize(
    ("wish", "hosts"),
    [
        ("^1.2.3", ()),
        ("user/repo#main", ("github.com",)),
        ("github:user/repo", ("github.com",)),
        ("git+ssh://git@gitlab.com/user/repo.git", ("gitlab.com",)),
        ("https://github.com/user/repo/archive/a.tar.gz", ("github.com",)),
        ("https://registry.example/a/b.tgz", ()),
    ],
)
def test_forges_that_packages_come_from_are_told_from_those_that_are_only_named(wish, hosts):
    funding = '{"packages": {"node_modules/a": {"funding": {"url": "https://github.com/sponsors/a"}}}}'
    text = json.dumps({"homepage": "https://github.com/a/b", "devDependencies": {"a": wish}})
    assert manifest.git_hosts(Files({"package.json": text, "package-lock.json": funding})) == hosts


def test_a_root_whose_runner_names_its_packages_is_where_tests_are_run_first():
    config = "export default { test: { projects: ['packages/*'], typecheck: { enabled: true } } }"
    inner = {"packages/a/package.json": '{"name": "a", "scripts": {"test": "vitest"}}', "packages/a/x.test.ts": ""}
    files = Files({"package.json": '{"scripts": {"test": "vitest"}}', "vitest.config.ts": config, **inner})
    types = "--typecheck.enabled=false"
    assert [command.options for command in manifest.test_commands(files, ["packages/a/x.test.ts"])] == [
        (types,),
        ("--root=packages/a", types),
    ]


@pytest.mark.parametrize(
    ("files", "framework"),
    [
        ({"package.json": {"scripts": {"test": "wireit"}, "wireit": {"test": {"command": "mocha -r esm"}}}}, "mocha"),
        ({"package.json": {"scripts": {"test": "tools test"}, "devDependencies": {"@types/jest": "^29"}}}, "jest"),
        (
            {
                "package.json": {"scripts": {"test": "tools test"}, "devDependencies": {"tools": "^1"}},
                "package-lock.json": {"packages": {"": {}, "node_modules/tools": {}, "node_modules/vitest": {}}},
            },
            "vitest",
        ),
        ({"package.json": {"scripts": {"test": "tools test"}}, "jest.config.js": ""}, "jest"),
        ({"package.json": {"scripts": {"test": "gulp"}}, "packages/a/.mocharc.yml": ""}, "mocha"),
        ({"package.json": {"scripts": {"test": "make test"}, "ava": {"files": ["test/*"]}}}, "ava"),
    ],
)
def test_a_runner_is_found_behind_the_tool_that_calls_it(files, framework):
    there = Files({path: json.dumps(found) for path, found in files.items()})
    commands = manifest.test_commands(there, ["a.test.js"])
    assert [command.framework for command in commands] == [framework]
    assert unsupported(there, ["a.test.js"]) is None


def test_what_comes_from_a_forge_is_told_from_releases():
    wishes = {"a": "owner/a", "b": "git+https://example.org/b.git", "c": "github:owner/c#v1", "d": "^1.0.0"}
    wishes |= {"e": "npm:other@^1", "f": "file:../f", "g": "workspace:*", "h": "git@github.com:owner/h.git"}
    there = Files({"package.json": json.dumps({"devDependencies": wishes})})
    assert manifest.from_git(there) == {"a", "b", "c", "h"}


@pytest.mark.parametrize(
    ("files", "folder"),
    [
        ({"package.json": "{}", "frontend/package.json": OWN, "frontend/yarn.lock": ""}, "frontend"),
        ({"package.json": "{}", "frontend/package.json": OWN}, ""),
        ({"package.json": "{}", "frontend/package.json": OWN, "yarn.lock": ""}, ""),
        ({"package.json": '{"workspaces": []}', "frontend/package.json": OWN, "frontend/yarn.lock": ""}, ""),
        ({"package.json": "{}", "lerna.json": "{}", "packages/a/package.json": OWN, "packages/a/yarn.lock": ""}, ""),
        ({"setup.py": "", "frontend/package.json": OWN, "frontend/package-lock.json": "{}"}, "frontend"),
        ({"packages/a/package.json": OWN}, "packages/a"),
        ({"packages/a/package.json": OWN, "packages/a/test/package.json": '{"type": "module"}'}, "packages/a"),
        ({"packages/a/package.json": OWN, "pnpm-workspace.yaml": ""}, ""),
        ({"web/package.json": "{}", "web/yarn.lock": "", "web/packages/a/package.json": OWN}, "web"),
        ({"packages/a/package.json": OWN, "rush.json": "{}", RUSH_LOCK: "  ../../packages/a:\n"}, ""),
        ({"packages/a/package.json": OWN, "rush.json": "{}", RUSH_LOCK: "dependencies:\n"}, "packages/a"),
        ({"packages/b/package.json": OWN}, None),
    ],
)
def test_a_project_below_the_root_is_that_of_the_nearest_package_with_a_lock_or_of_its_workspace(files, folder):
    top = next((place for place in ("frontend", "web/packages/a") if f"{place}/package.json" in files), "packages/a")
    tests = [f"{top}/test/a.test.js"]
    assert manifest.project_folder(Files({**files, tests[0]: ""}), tests) == folder


@pytest.mark.parametrize(
    ("root", "lerna", "patterns"),
    [
        ({}, {"version": "independent"}, ["packages/*"]),
        ({}, {"packages": ["modules/*"]}, ["modules/*"]),
        ({"workspaces": ["a"]}, {"useWorkspaces": True}, ["a"]),
        ({}, None, None),
    ],
)
def test_what_lerna_links_is_a_workspace(root, lerna, patterns):
    files = {"package.json": json.dumps({"name": "a", **root}), "packages/b/package.json": OWN}
    files |= {} if lerna is None else {"lerna.json": json.dumps(lerna)}
    assert manifest.read_manifest(manifest.project_of(Files(files), "")).get("workspaces") == patterns


def test_a_project_in_a_folder_is_read_with_what_the_root_says_of_node_and_with_a_lock_of_rush():
    yarn = {"common/config/rush/yarn.lock": 'a@^1:\n  version "1.0.0"\n', ".nvmrc": "16\n"}
    tree = Files({"tsdoc/package.json": OWN, "tsdoc/src/a.ts": "", "b/package.json": OWN, **yarn})
    project = manifest.project_of(tree, "tsdoc")
    assert project.files() == (".nvmrc", "package.json", "src/a.ts", "yarn.lock")
    assert manifest.manager_of(project).lock == "yarn.lock"
    assert node_majors(project, DAY)[0] == 16
    own = manifest.project_of(
        Files({"a/package.json": OWN, "a/.nvmrc": "18\n", "a/package-lock.json": "{}", **yarn}), "a"
    )
    assert (manifest.manager_of(own).lock, node_majors(own, DAY)[0]) == ("package-lock.json", 18)


def test_a_workspace_of_rush_is_read_as_one_of_pnpm_at_the_root():
    lock = """lockfileVersion: '9.0'

settings:
  autoInstallPeers: false

overrides:
  c: 1.0.0

pnpmfileChecksum: sha256-a

importers:

  .: {}

  ../../libs/a:
    dependencies:
      b:
        specifier: workspace:*
        version: link:../b
"""
    rush = '{\n  // pnpmVersion\n  "pnpmVersion": "9.15.0",\n  "nodeSupportedVersionRange": ">=18.0.0 <19.0.0"\n}'
    project = manifest.project_of(Files({"rush.json": rush, RUSH_LOCK: lock, "libs/a/package.json": OWN}), "")
    assert manifest.manager_of(project) == manifest.Manager(name="pnpm", version="9.15.0", lock="pnpm-lock.yaml")
    assert node_majors(project, DAY) == (18,)
    assert json.loads(project.read("pnpm-workspace.yaml") or b"") == {"packages": ["libs/a"]}
    assert json.loads(project.read("package.json") or b"")["pnpm"] == {"overrides": {"c": "1.0.0"}}
    assert b"auto-install-peers=false" in (project.read(".npmrc") or b"")
    rewritten = (project.read("pnpm-lock.yaml") or b"").decode()
    assert "\n  libs/a:\n" in rewritten
    assert "Checksum" not in rewritten
    assert "link:../b" in rewritten


def test_tests_below_no_manifest_are_refused_by_name():
    assert manifest.no_project(Files({"a.js": ""}))[0] == "no_manifest"
    assert manifest.no_project(Files({"deno.jsonc": "{}"}))[0] == "other_runtime"
