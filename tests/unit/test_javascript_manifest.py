"""What a repository's files say of Node, package managers and test runners."""

from __future__ import annotations

import json
from datetime import date

import pytest

from miner.languages.javascript import manifest
from miner.languages.javascript.manifest import manager_of, node_majors, package_folder, unsupported
from tests.trees import Files

DAY = date(2023, 9, 1)


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
    assert node_majors(Files({"package.json": "{}", ".nvmrc": "lts/Gallium\n"}), DAY) == (16, 18)
    assert node_majors(Files({"package.json": "{}", ".nvmrc": "lts/*\n"}), DAY) == (18,)
    assert node_majors(tree({"volta": {"node": "16.13.0"}}), DAY) == (16, 18)
    assert node_majors(Files({"package.json": "{}", ".nvmrc": "26"}), date(2026, 6, 1)) == (26, 24)


@pytest.mark.parametrize(
    ("files", "told"),
    [
        ({}, ("npm", "", None)),
        ({"package-lock.json": "{}"}, ("npm", "", "package-lock.json")),
        ({"pnpm-lock.yaml": "lockfileVersion: '9.0'\n"}, ("pnpm", "9", "pnpm-lock.yaml")),
        ({"pnpm-lock.yaml": "lockfileVersion: 5.4\n"}, ("pnpm", "7", "pnpm-lock.yaml")),
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
        ("node --trace-gc node_modules/mocha/bin/mocha.js -r esm", "mocha", ("-r", "esm")),
    ],
)  # fmt: skip
def test_a_script_tells_the_runner_and_how_files_are_loaded(script, framework, options):
    [first, *_] = manifest.test_commands(tree({"scripts": {"test": script}}), ["test/a.js"])
    assert (first.framework, first.options) == (framework, options)


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


@pytest.mark.parametrize(
    ("script", "package", "last"),
    [
        ("mocha -r ts-node/register", "ts-node", (("TS_NODE_TRANSPILE_ONLY", "true"),)),
        ("jest", "ts-jest", ('--globals={"ts-jest":{"diagnostics":false}}',)),
    ],
)
def test_typescript_whose_types_are_wrong_is_run_unchecked_at_last(script, package, last):
    text = {"scripts": {"test": script}, "devDependencies": {"typescript": "5", package: "1"}}
    plain, unchecked = manifest.test_commands(tree(text), ["test/a.test.ts"])
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
        ("uvu -r tsm tests", None),
        ("mocha && karma start && tsd", None),
    ],
)
def test_what_cannot_be_run_has_a_reason_of_its_own(script, found):
    assert unsupported(tree({"scripts": {"test": script}}), ["test/a.js"]) == found


@pytest.mark.parametrize(
    ("path", "text", "reason"),
    [
        ("index.test-d.ts", "", "type_tests"),
        ("test/a.ts", 'import { expectType } from "tsd";', "type_tests"),
        ("test/types/a.ts", "const a: number = f();", "type_tests"),
        ("test/types/a.ts", 'it("a", () => {});', None),
        ("test/a.ts", 'import { expectTypeOf } from "expect-type";\nexpectTypeOf(a).toBeString();', "type_tests"),
        ("test/a.ts", 'import { expectTypeOf } from "expect-type";\ntest("a", () => {});', None),
        ("e2e/a.ts", 'import { test } from "@playwright/test";\ntest("a", () => {});', "browser_tests"),
        ("cypress/a.cy.js", 'it("a", () => { cy.visit("/"); });', "browser_tests"),
    ],
)
def test_tests_of_types_or_for_a_browser_are_told_although_a_runner_is_there(path, text, reason):
    files = Files({"package.json": '{"scripts": {"test": "vitest"}}', path: text, "b.test.ts": "it()"})
    found = unsupported(files, [path])
    assert (found and found[0]) == reason
    assert unsupported(files, [path, "b.test.ts"]) is None or reason is None
    if reason == "type_tests":
        assert unsupported(files, [path, "index.d.ts", "README.md"]) == found


@pytest.mark.parametrize("text", ["", "[]", "{", '"x"', '{"scripts": 3, "engines": [], "volta": 1}'])
def test_a_broken_manifest_is_as_one_that_says_nothing(text):
    broken = Files({"package.json": text})
    assert node_majors(broken, DAY) == (18,)
    assert [command.framework for command in manifest.test_commands(broken, ["test/a.js"])] == ["mocha"]


@pytest.mark.parametrize(
    ("files", "reason"),
    [
        ({}, ("no_manifest", "the root of the tree has no package.json")),
        ({"package.json": "{,"}, ("broken_manifest", "it is no JSON object")),
        (
            {"package.json": '{"engines": {"node": ">=99"}}'},
            ("no_node", "engines.node of package.json asks for '>=99'"),
        ),
        (
            {"package.json": '{"name": "a"}', ".nvmrc": "v99\n"},
            ("no_node", ".nvmrc asks for 'v99', which was no version"),
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


@pytest.mark.parametrize("lock", ["{", "[]", "", "<<<<<<< HEAD\n{}"])
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
