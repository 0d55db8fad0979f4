"""Programs that run while an image of JavaScript is made, on real folders."""

from __future__ import annotations

import json
import platform
import re
import shutil
import sys
from datetime import date
from pathlib import Path
from types import SimpleNamespace

import pytest
import yaml

import miner.languages.javascript
from harness.config.settings import ImageSettings
from harness.core import process
from miner.languages.base import RefusedError, TestCommand
from miner.languages.built import BuiltImage
from miner.languages.javascript.build import (
    _install,
    _Node,
    _of_the_day,
    _plans,
    _project,
    _read_by_installs,
    _recipes,
    _tools,
    layer_of_node,
    plain,
    told_login,
    told_reason,
    unless_lock_has_more,
    unless_peers_disagree,
)
from miner.languages.javascript.language import JAVASCRIPT
from miner.languages.javascript.manifest import OF_THE_DAY, Manager
from miner.sources.change import Rejection, Stage
from tests.trees import Files

PNPM = Manager(name="pnpm", version="7", lock="pnpm-lock.yaml")
TOOLS = Path(miner.languages.javascript.__file__).parent / "tools"


@pytest.fixture
def package(tmp_path):
    def lay(name: str, install: str, **files: str) -> None:
        files = {"package.json": json.dumps({"scripts": {"install": install}}), "binding.gyp": "", **files}
        for path, text in files.items():
            place = tmp_path / "tree/node_modules" / name / path
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(text)

    return lay


def compile_all(tmp_path: Path, *idle: str) -> dict[str, object]:
    facts = tmp_path / "facts.json"
    process.run([sys.executable, TOOLS / "natives.py", tmp_path / "tree", facts, *idle])
    return json.loads(facts.read_text())


def test_native_code_that_comes_without_a_program_is_compiled_by_its_own_script(tmp_path, package):
    package("needed", "echo made > made")
    package("@scope/needed-too", "echo made > made")
    package("broken", "echo no header; exit 1")
    assert compile_all(tmp_path) == {
        "compiled": ["needed-too", "needed"],
        "not_compiled": {"broken": "no header\n"},
    }
    assert (tmp_path / "tree/node_modules/needed/made").exists()


def test_native_code_that_only_idle_packages_bring_is_not_compiled(tmp_path, package):
    for name in ("database", "needed"):
        package(name, "echo made > made")
    for name, brings in (("tool", "database"), ("product", "needed")):
        files = {"package.json": json.dumps({"dependencies": {brings: "1"}})}
        package(name, "", **files)
        (tmp_path / "tree/node_modules" / name / "binding.gyp").unlink()
    wishes = {"devDependencies": {"tool": "1"}, "dependencies": {"product": "1"}}
    (tmp_path / "tree/package.json").write_text(json.dumps(wishes), encoding="utf-8")
    assert compile_all(tmp_path, "tool") == {"compiled": ["needed"], "not_compiled": {}, "idle": ["database"]}


def test_a_node_of_this_machine_is_copied_for_its_own_line_and_platform_alone(tmp_path):
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/node").write_bytes(b"program")
    settings = ImageSettings(nodes={"18": tmp_path})
    [eighteen, twenty] = _Node(line=18), _Node(line=20)
    [folder] = layer_of_node("base", eighteen, settings, "10").folders
    assert (folder.path, folder.context) == (tmp_path, "node-18")
    assert not any(
        "node-linux" in command.splitlines()[-1] for command in layer_of_node("base", eighteen, settings, "10").commands
    )
    assert not layer_of_node("base", twenty, settings, "10").folders
    assert not layer_of_node("base", eighteen, settings.model_copy(update={"platform": "linux/s390x"}), "10").folders


def test_a_package_manager_runs_on_the_images_own_node_where_npm_has_none(tmp_path):
    (tmp_path / "own/bin").mkdir(parents=True)
    (tmp_path / "own/bin/node").touch()
    settings = ImageSettings(nodes={"16": tmp_path / "own"})
    of_machine, of_base, of_npm = _Node(line=16), _Node(line=16, is_of_base=True), _Node(line=18)
    for node, manager, version in ((of_machine, OF_THE_DAY, "8"), (of_base, PNPM, "7"), (of_npm, OF_THE_DAY, None)):
        commands = [*_tools(manager, node, settings)[1:3], 'echo "$version"']
        script = "\n".join(commands).replace("/tmp/", f"{tmp_path}/").replace("/opt/", f"{tmp_path}/opt/")
        script = re.sub(r'"node-linux-[^"]*"', "none", script)
        fails_for_node = f'python3() {{ test "$2" != none; }}\n{script}'
        done = process.run(("sh", "-ec", fails_for_node), check=False)
        assert (done.stdout.decode().strip() or None, done.returncode != 0) == (version, version is None)
        shutil.rmtree(tmp_path / "node", ignore_errors=True)


@pytest.mark.parametrize(
    ("output", "reason"),
    [
        ("npm error code E401\nnpm error Incorrect or missing password.", "registry_login"),
        ("ERR_PNPM_FETCH_401  GET https://npm.example/@corp%2Fa: Unauthorized - 401", "registry_login"),
        ("npm error code E403\nnpm error 403 Forbidden - GET https://npm.example/@corp%2fa", "registry_login"),
        (
            "npm error code ETARGET\nnpm error notarget No matching version found for a@^2 with a date before 2019",
            "registry_dates",
        ),
        (
            'error Error: https://npm.example/@corp%2fa: Request "https://npm.example/@corp%2fa" returned a 403',
            "registry_login",
        ),
        ("npm error code E403\ngoldseam: a build may not reach npm.example ([images] allow_hosts)", "needs_network"),
        ("npm error code E401\ngoldseam: a build may not reach npm.example ([images] allow_hosts)", "registry_login"),
        ("➤ YN0041: │ @corp/a@npm:^1.0.0: Invalid authentication (as an anonymous user)", "registry_login"),
        ("➤ YN0035: │   Response Code: 403 (Forbidden)", "registry_login"),
        ("urllib.error.HTTPError: HTTP Error 401: Unauthorized", "registry_login"),
        ("npm error command git --no-replace-objects ls-remote ssh://****@github.com/a/b.git", "needs_network"),
        ("npm error code ERESOLVE", "unresolvable"),
        ("$ git config url.x.insteadOf git@github.com:\nnpm error code ENOVERSIONS", "registry_dates"),
        ("npm error code 1", ""),
    ],
)
def test_what_a_package_manager_says_of_a_failure_is_its_reason(output, reason):
    assert told_reason(output) == reason


@pytest.mark.parametrize(
    ("output", "registry"),
    [
        ("npm error code E401\nnpm error 401 Unauthorized - GET https://npm.example/@corp%2fa - x", "npm.example"),
        (" ERR_PNPM_FETCH_401  GET http://a:b@localhost:4873/@corp%2Fa: Unauthorized - 401", "localhost:4873"),
        ("YN0035: Response Code: 403\nYN0035:   Request URL: https://npm.example/@corp%2fa", "npm.example"),
        ("npm warn see https://other.example/\nYN0041: Invalid authentication", None),
    ],
)
def test_a_registry_that_asks_for_a_token_is_named_with_what_to_do(output, registry):
    rejection = Rejection(stage=Stage.ENVIRONMENT, reason="registry_login", detail=output)
    first, _, rest = told_login(RefusedError(rejection, said=output)).rejection.detail.partition("\n")
    assert first.startswith(f"the registry {registry} asks" if registry else "a registry asks")
    assert "NPM_CONFIG_REGISTRY" in first
    assert rest == output


CREDENTIALS = {
    ".npmrc": (
        "@corp:registry=https://bob:SECRET@npm.example/\n//npm.example/:_authToken=SECRET\n_auth=SECRET\n"
        "//a/:_password=SECRET\n//a/:_authToken=${NPM_TOKEN}\nalways-auth=true\nlegacy-peer-deps=true\n"
    ),
    "a/.yarnrc": 'registry "https://bob:SECRET@npm.example"\n',
    ".yarnrc.yml": (
        "npmRegistries:\n  //npm.example:\n    npmAlwaysAuth: true\n    npmAuthToken: SECRET\n"
        "npmAuthIdent: 'bob:SECRET'\nnodeLinker: node-modules\n"
    ),
}


def test_builds_get_no_credentials_of_the_repository():
    [recipe, *_] = _recipes(_project(Files({"package.json": "{}", **CREDENTIALS}), "", ["a.test.js"]), [])
    read = {path: data.decode() for path, data in _read_by_installs(recipe)}
    assert "SECRET" not in "".join(read.values())
    assert "NPM_TOKEN" not in read[".npmrc"]
    assert "@corp:registry=https://npm.example/\n" in read[".npmrc"]
    assert "legacy-peer-deps=true\n" in read[".npmrc"]
    assert yaml.safe_load(read[".yarnrc.yml"]) == {
        "npmRegistries": {"//npm.example": {"npmAlwaysAuth": False, "npmAuthToken": None}},
        "npmAuthIdent": None,
        "nodeLinker": "node-modules",
    }


@pytest.mark.parametrize(("beside", "manager"), [({}, "berry"), ({"pnpm-workspace.yaml": ""}, "pnpm")])
def test_a_workspace_without_a_lock_is_linked_by_a_manager_that_can_with_the_newest_versions(beside, manager):
    tree = Files({"package.json": '{"devDependencies": {"a": "workspace:*"}, "workspaces": ["a"]}', **beside})
    [recipe] = _recipes(_project(tree, "", ["a.test.js"]), [])
    assert (recipe.manager.name, recipe.rung, recipe.is_frozen) == (manager, "the newest, what is named", False)


def test_what_of_development_the_registry_lacks_is_left_out_one_after_the_other():
    text = json.dumps({"dependencies": {"run": "1"}, "devDependencies": dict.fromkeys(("a", "@x/b", "mocha"), "1")})
    tree = Files({"package.json": text, "test/a.js": "require('a'); require('@x/b');"})
    refused: list[RefusedError] = []
    recipes = _recipes(_project(tree, "", ["test/a.js"]), refused)
    rejection = Rejection(stage=Stage.ENVIRONMENT, reason="unresolvable", detail="")
    assert next(recipes).without == frozenset()
    left_out = []
    for output in ("404  'a@^1' is not in this registry.", "ERR_PNPM_FETCH_404  GET https://r.org/@x/b/-/b-1.tgz: Not"):
        refused.append(RefusedError(rejection, said=output))
        left_out.append(next(recipes).without)
    refused.append(RefusedError(rejection, said="404  'run@^1' is not in this registry."))
    assert left_out == [{"a"}, {"a", "@x/b"}]
    assert list(recipes) == []


def test_where_the_dates_of_what_is_named_are_wrong_those_of_all_of_it_are_not_asked_for():
    text = json.dumps({"devDependencies": {"mocha": "1", "idle": "1"}, "scripts": {"test": "mocha"}})
    refused: list[RefusedError] = []
    rungs = []
    for recipe in _recipes(_project(Files({"package.json": text}), "", ["test/a.js"]), refused):
        rungs.append(recipe.rung)
        reason = "registry_dates" if recipe.is_dated else "unresolvable"
        refused.append(RefusedError(Rejection(stage=Stage.ENVIRONMENT, reason=reason, detail="")))
    assert rungs == ["as of the day, what is named", "the newest, what is named"]


def test_packages_of_a_workspace_are_taken_from_it_whatever_version_is_asked_for():
    text = {"scripts": {"test": "x"}, "dependencies": {"@x/a": "^2", "b": "1"}, "devDependencies": {"idle": "1"}}
    found = json.loads(plain(json.dumps(text).encode(), frozenset({"idle"}), frozenset({"@x/a"})))
    assert found == {"dependencies": {"@x/a": "workspace:*", "b": "1"}, "devDependencies": {}}
    text = json.dumps({"devEngines": {"packageManager": {"name": "pnpm"}}, "name": "a"}).encode()
    assert json.loads(plain(text, frozenset(), is_for_npm=True)) == {"name": "a"}
    assert json.loads(plain(text, frozenset())) == json.loads(text)
    text = b'{"name": "a", "engines": {"pnpm": "9"}, "dependencies": {"gone": "1"}, "peerDependencies": {"b": "1"}}'
    assert json.loads(plain(text, frozenset(), is_apart=True)) == {"name": "a"}


def test_commits_that_require_the_same_share_what_is_installed():
    text = {"name": "a", "version": "1.2.3", "files": ["dist"], "scripts": {"test": "x"}, "dependencies": {"b": "1"}}
    given = json.dumps(text).encode()
    assert json.loads(plain(given, frozenset())) == {"name": "a", "version": "1.2.3", "dependencies": {"b": "1"}}
    later = json.dumps({**text, "version": "1.2.4", "files": ["dist", "esm"]}).encode()
    assert plain(given, frozenset(), is_single=True) == plain(later, frozenset(), is_single=True)
    assert plain(given, frozenset()) != plain(later, frozenset())


def test_packages_of_a_workspace_that_tests_do_not_need_are_installed_by_the_lock_alone():
    manifests = {
        "package.json": '{"workspaces": ["p/*"], "devDependencies": {"@x/root": "workspace:*"}}',
        "p/a/package.json": '{"name": "@x/a", "dependencies": {"@x/b": "workspace:*"}}',
        "p/b/package.json": '{"name": "@x/b", "devDependencies": {"@x/c": "workspace:*"}}',
        **{f"p/{name}/package.json": f'{{"name": "@x/{name}"}}' for name in ("c", "docs", "root")},
        "examples/package.json": "{}",
    }
    tree = Files(manifests | {"pnpm-lock.yaml": "lockfileVersion: '9.0'\n"})
    [locked, named] = _recipes(_project(tree, "", ["p/a/x.test.js"]), [])
    assert (locked.rung, locked.apart) == ("pnpm-lock.yaml", frozenset())
    assert (named.rung, named.apart) == ("pnpm-lock.yaml, what is named", {"p/docs", "examples"})
    [_, of_root] = _recipes(_project(tree, "", ["p/a/x.test.js", "test/x.js"]), [])
    assert of_root.apart == frozenset()


@pytest.mark.parametrize(
    ("lock", "command"),
    [
        ("pnpm-lock.yaml", "pnpm install --no-frozen-lockfile --ignore-scripts"),
        ("yarn.lock", "yarn install --ignore-scripts --non-interactive --ignore-engines"),
        ("package-lock.json", "npm install --ignore-scripts"),
    ],
)
def test_what_is_named_of_a_lock_is_tried_before_the_versions_of_the_day(lock, command):
    def rungs(needless):
        files = {"package.json": f'{{"devDependencies": {{{needless}}}}}', lock: "{}", "a.js": ""}
        return list(_recipes(_project(Files(files), "", ["test/a.js"]), []))

    found = rungs('"auto-linter": "1"')
    day = ["as of the day, what is named", "as of the day"]
    assert [recipe.rung for recipe in found] == [lock, f"{lock}, what is named", *day]
    assert [recipe.is_all for recipe in found] == [True, True, False, True]
    assert _install(found[1].manager, is_frozen=False) == command
    assert [recipe.rung for recipe in rungs("")] == [lock, f"{lock}, what is named", day[1]]


@pytest.mark.parametrize(
    ("script", "text", "is_first_tried_without"),
    [
        ("mocha", 'require("../dist/a.js")', False),
        ("mocha", 'f(`import "./Page.vue"`)', True),
        ("jest", 'require("x")', True),
        ("mocha", 'require("x")', False),
        ("mocha", 'require("../a.js")', None),
    ],
)
def test_tests_are_run_without_a_build_first_where_what_they_name_may_be_no_file(script, text, is_first_tried_without):
    package = {"name": "x", "main": "dist/a.js", "scripts": {"test": script, "build": "tsc"}}
    tree = Files({"package.json": json.dumps(package), "test/a.js": text, "a.js": ""})
    request = SimpleNamespace(tree=tree, fixed={"a.js": b"1"}, collect=print)
    plans = _plans(request, ["test/a.js"])
    assert (None if plans == (None,) else len(plans) == 2) is is_first_tried_without


_MORE = "* 1 dependencies were removed: x@1"


@pytest.mark.parametrize(
    ("again", "says", "code", "calls"),
    [
        (unless_peers_disagree, "added 3 packages", 0, ["ci"]),
        (unless_peers_disagree, "npm error network", 1, ["ci"]),
        (unless_peers_disagree, "npm error code ERESOLVE", 1, ["ci", "ci --legacy-peer-deps"]),
        (unless_lock_has_more, _MORE, 1, ["ci --frozen-lockfile", "ci --no-frozen-lockfile"]),
        (unless_lock_has_more, f"{_MORE} * 1 dependencies were added: y@1", 1, ["ci --frozen-lockfile"]),
    ],
)
def test_an_install_that_fails_ends_its_step_and_is_called_again_where_that_may_help(
    tmp_path, again, says, code, calls
):
    manager = tmp_path / "manager"
    manager.write_text(f"#!/bin/sh\necho $* >> calls; echo '{says}'; exit {code}\n", encoding="utf-8")
    manager.chmod(0o755)
    script = f"{again(f'./manager {calls[0]}')}\ntouch went-on"
    done = process.run(("sh", "-ec", script), cwd=tmp_path, check=False)
    assert (done.returncode != 0, (tmp_path / "went-on").exists()) == (code != 0, code == 0)
    assert (tmp_path / "calls").read_text(encoding="utf-8").splitlines() == calls


def test_what_comes_compiled_or_has_no_native_code_runs_no_script(tmp_path, package):
    package("prebuilt", "touch made", **{"prebuilds/linux-x64/a.node": ""})
    package("built", "touch made", **{"build/Release/a.node": ""})
    package("plain", "touch made")
    (tmp_path / "tree/node_modules/plain/binding.gyp").unlink()
    assert compile_all(tmp_path) == {"compiled": [], "not_compiled": {}}
    assert not [*tmp_path.rglob("made")]


def test_newer_versions_of_the_trees_own_packages_are_the_tree(tmp_path):
    def lay(place: str, **manifest: str) -> Path:
        (tmp_path / place).mkdir(parents=True, exist_ok=True)
        (tmp_path / place / "package.json").write_text(json.dumps(manifest), encoding="utf-8")
        return tmp_path / place

    lay("", name="mine", version="1.9.0")
    lay("packages/part", name="@mine/part", version="2.0.0-beta.9")
    lay("test/fixtures/other", name="other", version="0.0.1")
    newer = [lay("node_modules/mine", name="mine", version="1.10.0")]
    newer.append(lay("node_modules/@mine/part", name="@mine/part", version="2.0.0-beta.10"))
    kept = [lay("node_modules/tool/node_modules/mine", name="mine", version="1.9.0")]
    kept.append(lay("node_modules/tool/node_modules/@mine/part", name="@mine/part", version="2.0.0-alpha.11"))
    kept += [lay("node_modules/other", name="other", version="3.0.0"), lay("node_modules/bare")]
    process.run([sys.executable, TOOLS / "modules.py", "own", tmp_path])
    assert [place.readlink() for place in newer] == [tmp_path, tmp_path / "packages/part"]
    assert not any(place.is_symlink() for place in kept)


_NPM = """\
#!/bin/sh
echo "$@" >> {0}/calls
case "$*" in
    "view x@^2 version --json") echo '["2.0.0", "2.1.0"]' ;;
    "view x time --json") echo '{{"2.0.0": "2026-05-07T12:00:00.000Z", "2.1.0": "2026-06-01T00:00:00.000Z"}}' ;;
    *legacy*) echo '{{}}' > package-lock.json ;;
    *2026-04-01*) echo "npm error notarget No matching version found for x@^2 with a date before 4/1/2026."; exit 1 ;;
    *2026-05-08*) echo "npm error code ERESOLVE"; exit 1 ;;
    *) echo '{{}}' > package-lock.json ;;
esac
"""


@pytest.mark.parametrize(
    ("day", "until", "locked", "calls"),
    [
        ("2026-05-09", "2026-07-02", "2026-05-09", 1),
        ("2026-05-08", "2026-05-08", "2026-05-08", 2),
        ("2026-04-01", "2026-07-02", "2026-05-08", 5),
        ("2026-04-01", "2026-05-07", None, 3),
        ("2026-04-01", "2026-04-01", None, 1),
        ("2999-01-01", "2999-03-01", "2999-01-01", 1),
        ("-", "-", "-", 1),
    ],
)
def test_versions_are_of_the_first_day_on_which_all_that_is_required_is_there(tmp_path, day, until, locked, calls):
    (tmp_path / "npm").write_text(_NPM.format(tmp_path))
    (tmp_path / "npm").chmod(0o755)
    day, until = (text if text == "-" else f"{text}T00:00:00Z" for text in (day, until))
    argv = [
        sys.executable,
        TOOLS / "resolve.py",
        tmp_path / "lock",
        tmp_path,
        day,
        until,
        unless_peers_disagree("npm install $AS_OF"),
    ]
    ran = process.run(argv, cwd=tmp_path, env={"PATH": f"{tmp_path}:/usr/bin:/bin"}, check=False)
    told = [*map(json.loads, (tmp_path / "lock").read_text().splitlines())] if locked else []
    assert [one["day"] for one in told] == ([locked if locked == "-" else f"{locked}T00:00:00Z"] if locked else [])
    assert (ran.returncode, (tmp_path / "lock").exists()) == (0 if locked else 1, locked is not None)
    asked = (tmp_path / "calls").read_text().splitlines()
    assert len(asked) == calls
    assert ("--prefer-offline" in asked[0]) is day.startswith("2026")


def test_nodes_layer_tells_what_npm_holds(tmp_path):
    for name in ("nopt", "node-gyp/node_modules/@npmcli/fs", "nopt/lib", "node-gyp/test/fixtures"):
        (tmp_path / "node_modules" / name).mkdir(parents=True)
        (tmp_path / "node_modules" / name / "package.json").write_text("{}", encoding="utf-8")
    told = process.run([sys.executable, TOOLS / "held.py", sys.executable, tmp_path]).stdout
    assert json.loads(told) == {"node": f"Python {platform.python_version()}", "held": ["@npmcli/fs", "nopt"]}


@pytest.mark.parametrize(
    ("files", "given"),
    [
        ({}, ["package.json"]),
        ({"lerna.json": "{}"}, ["package.json", "test/x/package.json"]),
        ({"package.json": '{"workspaces": ["test/x"]}'}, ["package.json", "test/x/package.json"]),
        ({"package.json": '{"dependencies": {"x": "file:test/x"}}'}, ["package.json", "test/x/package.json"]),
        ({"package.json": '{"dependencies": {"x": "../x"}}'}, ["package.json", "test/x/package.json"]),
        (
            {"package.json": '{"dependencies": {"x": "^1"}}', "package-lock.json": "{}"},
            ["package-lock.json", "package.json"],
        ),
    ],
)
def test_manifests_that_no_install_reads_are_not_given_to_one(files, given):
    tree = Files({"package.json": "{}", "test/x/package.json": "{}", "a.js": "", **files})
    recipe = next(iter(_recipes(_project(tree, "", ["test/a.js"]), [])))
    assert sorted(path for path, _ in _read_by_installs(recipe)) == given


def test_npm_is_in_no_layer_where_it_holds_a_package_of_the_tree():
    commands = layer_of_node("base", _Node(line=18), ImageSettings(), "").commands
    assert not any("npm-cli" in command or " npm 10" in command for command in commands)


@pytest.mark.parametrize(
    ("own", "whole", "folder"),
    [
        ("mkdir -p dist; echo > dist/x.js", "for p in packages/*; do mkdir -p $p/dist; echo > $p/dist/x.js; done", ""),
        ("mkdir -p dist; echo > dist/x.js", "false", "packages/a"),
        ("false", "echo > packages/b/dist", None),
        (
            "test $LENIENT || { echo a.ts: error TS2769: no; false; } && mkdir -p dist && echo > dist/x.js",
            "false",
            "packages/a",
        ),
        ("echo TS: no; test $LENIENT && mkdir -p dist && echo > dist/x.js", "false", None),
    ],
)
def test_of_a_package_and_the_whole_the_build_that_gives_more_counts(tmp_path, own, whole, folder):
    tree = tmp_path / "testbed"
    for name in "ab":
        (tree / "packages" / name).mkdir(parents=True)
        (tree / "packages" / name / "package.json").write_text("{}")
    for words in (("init", "-q"), ("add", "-A"), ("-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "a")):
        process.run(["git", "-C", tree, *words])
    program = (TOOLS / "built.py").read_text().replace("/testbed", str(tree))
    wanted = [["packages/a/dist/x.js"], ["packages/b/dist/x.js"]]
    plan = json.dumps({"wanted": wanted, "commands": [["packages/a", own], ["", whole]], "lenient": {"LENIENT": "1"}})
    process.run([sys.executable, "-c", program, plan, tmp_path / "out.json"])
    found = json.loads((tmp_path / "out.json").read_text()).get("build")
    assert (found and found["folder"]) == folder
    assert (found and found["env"]) == (folder and {"LENIENT": "1"} if "LENIENT" in own else found and {})
    there = [str(path.relative_to(tree)) for path in tree.glob("packages/*/dist/x.js")]
    assert sorted(there) == [path for [path] in wanted][: 2 if folder == "" else int(folder is not None)]


@pytest.mark.skipif(shutil.which("node") is None, reason="needs Node")
@pytest.mark.parametrize(
    ("program", "code", "ends"), [("tsc", 2, 0), ("tsc", 1, 1), ("vue-tsc.js", 2, 0), ("tsx", 2, 2)]
)
def test_a_compiler_that_wrote_all_has_ended_well_whatever_it_says_of_types(tmp_path, program, code, ends):
    (tmp_path / program).write_text(f"console.log(process.argv.slice(2).join(' ')); process.exit({code});\n")
    done = process.run(["node", "--require", TOOLS / "types.cjs", tmp_path / program, "-p", "."], check=False)
    assert done.returncode == ends
    assert done.stdout.decode().split() == ["-p", ".", *(["--noEmitOnError", "false"] if "tsc" in program else [])]


@pytest.mark.parametrize(
    ("words", "runs"),
    [
        ("build", ["testbed run build"]),
        ("run build --fast", ["testbed run build -- --fast"]),
        ("echo hi", []),
        ("--cwd packages/a build", ["a run build"]),
        ("workspace @x/b run build", ["b run build"]),
        ("workspaces foreach -Apt --exclude c run build", ["b run build", "a run build"]),
        ("workspaces run build", ["b run build", "a run build"]),
    ],
)
def test_yarn_as_builds_call_it_is_npm_in_the_order_of_what_packages_require(tmp_path, words, runs):
    tree, log = tmp_path / "testbed", tmp_path / "log"
    texts = {
        "": {"workspaces": ["packages/*"], "scripts": {"build": "x"}},
        "packages/a": {"name": "@x/a", "dependencies": {"@x/b": "*", "other": "1"}, "scripts": {"build": "x"}},
        "packages/b": {"name": "@x/b", "devDependencies": {"@x/a": "*"}, "scripts": {"build": "x"}},
        "packages/c": {"name": "@x/c"},
    }
    for folder, text in texts.items():
        (tree / folder).mkdir(parents=True, exist_ok=True)
        (tree / folder / "package.json").write_text(json.dumps(text))
    npm = tmp_path / "bin/npm"
    npm.parent.mkdir()
    npm.write_text(f'#!/bin/sh\necho "$(basename "$PWD") $*" >> {log}\n')
    npm.chmod(0o755)
    env = {"PATH": f"{npm.parent}:/usr/bin:/bin"}
    process.run([sys.executable, TOOLS / "yarn.py", *words.split()], cwd=tree, env=env)
    assert (log.read_text().splitlines() if log.exists() else []) == runs


def test_releases_of_the_same_names_are_tried_before_code_goes_without_what_it_requires_from_git():
    manifest = {
        "dependencies": {"forked": "who/forked#1a2b", "b": "1"},
        "devDependencies": {"tool": "who/tool#1a2b"},
    }
    tree = Files({"package.json": json.dumps(manifest)})
    refused = [RefusedError(Rejection(stage=Stage.ENVIRONMENT, reason="needs_network", detail=""))]
    *_, released, without = _recipes(_project(tree, "", ["a.test.js"]), refused)
    assert released.rung == "as of the day, releases for what comes from git"
    assert without.rung == "as of the day, without what comes from git"
    [asked] = [json.loads(data) for path, data in _read_by_installs(released) if path == "package.json"]
    assert asked == {"dependencies": {"forked": "*", "b": "1"}, "devDependencies": {}}
    [left] = [json.loads(data) for path, data in _read_by_installs(without) if path == "package.json"]
    assert left == {"dependencies": {"b": "1"}, "devDependencies": {}}
    in_development = Files({"package.json": json.dumps({"devDependencies": manifest["devDependencies"]})})
    assert released.rung not in [
        recipe.rung for recipe in _recipes(_project(in_development, "", ["a.test.js"]), refused)
    ]


@pytest.mark.parametrize(
    ("version", "day", "is_told"),
    [
        ("v22.12.0", date(2024, 6, 4), True),
        ("v22.11.0", date(2024, 6, 4), False),
        ("v22.21.1", date(2025, 1, 1), False),
        ("v20.20.0", date(2025, 3, 12), True),
        ("v18.20.8", date(2023, 1, 1), False),
    ],
)
def test_a_node_of_a_later_day_loads_no_es_module_by_require_where_that_of_the_day_did_not(version, day, is_told):
    assert bool(_of_the_day(version, day)) is is_told
    facts = {"dockerfile": "", "rung": "", "locks": {}, "seconds": {}, "layer_bytes": {}}
    image = BuiltImage(**facts, image_id="", attempts=(), layers=(), env=_of_the_day(version, day))
    command = TestCommand(framework="jest", env=(("NODE_OPTIONS", "--experimental-vm-modules"),), runner="jest")
    told = JAVASCRIPT.spec(image, command).env["NODE_OPTIONS"].split()
    assert told == [*(["--no-experimental-require-module"] if is_told else []), "--experimental-vm-modules"]
