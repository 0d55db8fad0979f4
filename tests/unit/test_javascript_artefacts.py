"""What tests load that is built before it is there, and the scripts that may build it."""

from __future__ import annotations

import json

import pytest
from pydantic import ValidationError

from harness.dataset.schema import BuildModel
from miner.evidence.tree import Fixed
from miner.languages.javascript.artefacts import idle, lacking, plan, unneeded
from tests.trees import Files

TEST = "test/a.js"


def files(scripts: dict[str, str] | None = None, **more: str) -> Files:
    return Files(
        {"package.json": json.dumps({"name": "pkg", "main": "dist/main.js", "scripts": scripts or {}}), **more}
    )


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ('const x = require("../dist/x.js")', "dist/x.js"),
        ('import x from "../dist/x"', "dist/x"),
        ('export * from "../lib"', "lib"),
        ('const x = await import("../build/x.cjs")', "build/x.cjs"),
        ('import x from "pkg"', "dist/main.js"),
        ('const x = require("..")', "dist/main.js"),
        ('import x from "../src/y.js"', "src/gen.js"),
    ],
)
def test_an_import_that_leads_nowhere_is_to_be_built(text, first):
    tree = files(**{TEST: text, "src/y.ts": 'import z from "./gen.js"'})
    assert [ways[0] for ways in lacking(tree, [TEST])] == [first]


def test_the_file_that_a_package_names_goes_before_an_index():
    tree = files(**{TEST: 'require("..")', "index.js": "export default 1"})
    assert [ways[0] for ways in lacking(tree, [TEST])] == ["dist/main.js"]
    assert lacking(Files({"package.json": "{}", "index.ts": "", TEST: 'require("..")'}), [TEST]) == ()


@pytest.mark.parametrize(
    ("text", "first"),
    [('var x = require("../")', ["dist/x.js"]), ('import x from "pkg"', [])],
    ids=["script", "module"],
)
def test_require_does_not_ask_for_what_bundlers_take(text, first):
    manifest = json.dumps({"name": "pkg", "main": "dist/x.js", "module": "src/index"})
    tree = Files({"package.json": manifest, "src/index.js": "", TEST: text})
    assert [ways[0] for ways in lacking(tree, [TEST])] == first


@pytest.mark.parametrize(
    "text",
    [
        'import x from "../src/y.js"',
        'import "../src/y"',
        'import a from "chai"',
        'import "./a.css"',
        '// from "../gone"',
    ],
)
def test_what_is_there_or_is_installed_is_not(text):
    assert lacking(files(**{TEST: text, "src/y.ts": ""}), [TEST]) == ()


def test_of_a_test_file_that_is_yet_to_come_its_neighbours_tell():
    tree = files(**{TEST: 'require("../dist/x.js")'})
    assert [ways[0] for ways in lacking(tree, ["test/new.js"])] == ["dist/x.js"]


@pytest.mark.parametrize(
    ("scripts", "lines"),
    [
        ({"pretest": "npm run build && npm run lint", "build": "tsc"}, ["npm run build", "npm run build"]),
        ({"pretest": "rimraf build && tsc -p tsconfig.test.json"}, ["rimraf build && tsc -p tsconfig.test.json"]),
        ({"pretest": "npm run lint", "prepare": "husky install", "compile": "tsc"}, ["npm run compile"]),
        ({"pretest": "rimraf build", "test": "mocha"}, []),
    ],
)
def test_scripts_that_build_are_told_from_those_that_look_or_clear(scripts, lines):
    found = plan(files(scripts, **{TEST: 'require("../dist/x.js")'}), [TEST])
    assert [line for _, line in found.commands] == list(dict.fromkeys(lines)) if found else lines == []


def test_a_package_of_a_workspace_is_built_before_the_whole():
    inner = {
        "packages/a/package.json": '{"name": "a", "scripts": {"build": "tsc"}}',
        "packages/a/test/x.js": 'import "../lib/y.js"',
    }
    found = plan(files({"build": "lerna run build"}, **inner), ["packages/a/test/x.js"])
    assert found.commands == (("packages/a", "npm run build"), ("", "npm run build"))


def workspace(test: str, **packages: dict[str, object]) -> Files:
    manifests = {
        f"packages/{name}/package.json": json.dumps({"name": f"@x/{name}", **it}) for name, it in packages.items()
    }
    return Files({"package.json": "{}", **manifests, "packages/a/test.js": test})


def test_packages_that_tests_load_are_built_after_those_that_they_require():
    built, compiled = (
        {"main": "dist/x.js", "scripts": {"build": "tsc"}},
        {"main": "lib/x.js", "scripts": {"compile": "tsc"}},
    )
    packages = {
        "a": {**built, "dependencies": {"@x/c": "^1"}},
        "b": {**built, "devDependencies": {"@x/d": "1"}, "dependencies": {"@x/c": "1", "@x/e": "1", "tape": "1"}},
        "c": {**compiled, "peerDependencies": {"@x/b": "1"}},
        "d": built,
        "e": {"main": "index.js"},
    }
    by_name = plan(workspace('import "@x/b"', **packages), ["packages/a/test.js"])
    assert by_name.is_by_name
    assert by_name.commands[0] == ("", "(cd packages/c && npm run compile) && (cd packages/b && npm run build)")
    own = plan(workspace('import "@x/b"; import "./dist/x.js"', **packages), ["packages/a/test.js"])
    assert not own.is_by_name
    assert own.commands[0][1].endswith("&& (cd packages/a && npm run build)")


def test_scripts_called_like_builds_are_tried_after_those_of_the_usual_names():
    scripts = {
        "build:docs": "x",
        "generate:parser": "peg",
        "build:lib": "tsc",
        "generate": "true",
        "compile": "tsc -p .",
    }
    found = plan(files(scripts, **{TEST: 'require("../dist/x.js")'}), [TEST])
    names = ("compile", "generate", "build:lib", "generate:parser")
    assert [line for _, line in found.commands] == [f"npm run {name}" for name in names]


def test_what_the_tests_of_a_fix_load_is_built_though_those_of_its_base_do_not():
    base = files({"build": "tsc"}, **{TEST: "", "src/x.ts": ""})
    fixed = {TEST: b'import "../dist/x.js"; import "../src/new.js"', "src/new.ts": b""}
    assert plan(base, [TEST]) is None
    assert plan(Fixed(base, fixed), [TEST]).wanted == (("dist/x.js", "dist/x.ts", "dist/x.tsx", "dist/x.jsx"),)


def test_a_part_of_a_package_is_what_its_exports_say():
    package = {"exports": {".": "./dist/x.js", "./part": {"import": "./dist/part.mjs", "types": "./dist/part.d.ts"}}}
    tree = workspace('import { y } from "@x/a/part"', a=package)
    assert lacking(tree, ["packages/a/test.js"]) == (("packages/a/dist/part.mjs",),)


def test_data_beside_tests_loads_nothing():
    beside = {"test/page.html": '<script>import "./gone.js"</script>', "test/x.json": '"import \\"./x.js\\""'}
    assert lacking(files(**{TEST: "", **beside}), [TEST, *beside, "test/new.html"]) == ()


def test_imports_of_types_load_nothing():
    lines = ('import type {\n  A,\n} from "../gone";', 'export type { B } from "pkg"', 'import { C } from "../types"')
    assert lacking(files(**{TEST: "\n".join(lines), "types.d.ts": ""}), [TEST]) == ()


def test_what_the_script_for_tests_builds_is_built_for_tests_that_load_no_source():
    line = ("", "cross-env BABEL_ENV=test npm run build")
    scripts = {"build": "babel src -d lib", "test": f"npm run lint && {line[1]} && tape test"}
    by_path = files(scripts, **{TEST: 'spawn("../bin/x"); require("./help.js")', "test/help.js": "", "src/y.js": ""})
    found = plan(by_path, [TEST])
    assert (found.wanted, found.commands) == ((), (line,))
    assert plan(files(scripts, **{TEST: 'require("../src/y.js")', "src/y.js": ""}), [TEST]) is None
    assert plan(files({"test": "tsc --noEmit && tape"}, **{TEST: 'require("tape")'}), [TEST]) is None


def test_outputs_of_a_build_are_files_or_folders_below_the_root_alone():
    assert BuildModel(argv=["x"], inputs=["*.js"], outputs=["dist/", "index.js"]).outputs == ("dist/", "index.js")
    for path in ("/", "dist//", "../dist/", "./"):
        with pytest.raises(ValidationError):
            BuildModel(argv=["x"], inputs=["*.js"], outputs=[path])


def test_development_dependencies_that_nothing_names_are_idle():
    listed = dict.fromkeys(("eslint", "mocha", "chai", "@types/node", "@babel/preset-env", "ncp"), "1")
    text = json.dumps({"devDependencies": listed, "scripts": {"test": "mocha", "lint": "eslint ."}})
    more = {"test/a.js": 'require("chai")', ".babelrc": '{"presets": ["env"]}', "eslint.config.js": 'import "ncp"'}
    assert idle(Files({"package.json": text, **more})) == {"eslint", "ncp"}


def test_a_runner_that_only_a_makefile_calls_is_not_idle():
    package = json.dumps({"scripts": {"test": "make test"}, "devDependencies": {"mocha": "*", "np": "*"}})
    assert idle(Files({"package.json": package, "Makefile": "test:\n\tmocha\n"})) == {"np"}


@pytest.mark.parametrize("path", ["tsconfig.json", "tsconfig.test.json"])
def test_what_a_configuration_takes_by_its_folder_is_not_idle(path):
    text = '{"devDependencies": {"gts": "1", "other": "1"}}'
    tree = Files({"package.json": text, path: '{"extends": "./node_modules/gts/tsconfig-google.json"}'})
    assert idle(tree) == {"other"}


def test_what_only_checks_around_the_tests_is_idle_where_these_do_not_count():
    scripts = {
        "pretest": "npm run readme",
        "readme": "evalmd README.md",
        "test": "tape 'test/*.js'",
        "build": "dist-it",
    }
    listed = dict.fromkeys(("evalmd", "tape", "dist-it"), "1")
    tree = Files({"package.json": json.dumps({"devDependencies": listed, "scripts": scripts})})
    assert (idle(tree), idle(tree, around=False)) == (set(), {"evalmd"})


def test_what_settings_of_the_tests_load_is_read_whatever_it_is_called():
    listed = {"prettier": "1", "np": "1"}
    jest = {"snapshotSerializers": ["./scripts/prettier-serializer.js"]}
    loaded = {"scripts/prettier-serializer.js": 'require("prettier")', "scripts/release.js": 'require("np")'}
    assert idle(Files({"package.json": json.dumps({"devDependencies": listed, "jest": jest}), **loaded})) == {"np"}


def test_what_a_package_of_a_workspace_names_is_not_idle():
    root = json.dumps({"devDependencies": {"mocha": "1", "chai": "1", "oxlint-config": "1"}})
    inner = json.dumps({"name": "a", "scripts": {"test": "mocha"}, "devDependencies": {"knip": "1"}})
    more = {"packages/a/test/x.js": 'require("chai")', "oxlint.config.js": 'import "oxlint-config"'}
    assert idle(Files({"package.json": root, "packages/a/package.json": inner, **more})) == {"knip", "oxlint-config"}
    of_tests = {"tests/config/install-prettier.js": 'require("tempy")', "scripts/release.js": 'require("np")'}
    root = json.dumps({"devDependencies": {"tempy": "1", "np": "1"}})
    assert idle(Files({"package.json": root, **of_tests})) == {"np"}


def test_packages_of_a_workspace_are_needed_that_tests_load_by_their_paths():
    names = ("a", "b", "c", "d")
    files = {f"packages/{name}/package.json": json.dumps({"name": name}) for name in names}
    files["packages/a/package.json"] = '{"name": "a", "dependencies": {"d": "1"}}'
    files |= {f"packages/{name}/index.js": "" for name in names}
    files |= {"package.json": '{"workspaces": ["packages/*"]}', "packages/a/test.js": "require('../b')"}
    assert unneeded(Files(files), ["packages/a/test.js"]) == {"packages/c"}
