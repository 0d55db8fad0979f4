"""Versions from lock files constrain what is asked for."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from types import SimpleNamespace

import pytest

from harness.core import process
from miner.evidence.tree import Evidence, Recipe
from miner.languages.python.detect import detect
from miner.languages.python.evidence import locks, tools
from miner.languages.python.images import steps
from tests.trees import Files

ENTRIES = """
[[{key}]]
name = "Some_Thing"
version = "1.2.3"

[[{key}]]
name = "two-versions"
version = "1"

[[{key}]]
name = "two-versions"
version = "2"

[[{key}]]
name = "pytest"
version = "8.0"

[[{key}]]
name = "from-away"
version = "1"
{away}
"""
AWAY = {
    "uv.lock": 'source = { git = "https://git.example/x?rev=1" }',
    "poetry.lock": '[package.source]\ntype = "git"\nurl = "https://git.example/x"',
    "pdm.lock": 'git = "https://git.example/x"',
    "pylock.toml": '[packages.vcs]\ntype = "git"\nurl = "https://git.example/x"',
}


@pytest.mark.parametrize("path", AWAY)
def test_each_lock_file_pins_what_has_one_version_from_an_index(path):
    key = "packages" if path == "pylock.toml" else "package"
    found = locks.detect(Files({path: ENTRIES.format(key=key, away=AWAY[path])}))
    assert found is not None
    assert (found.rung, found.pins) == (f"lock:{path}", ("some-thing==1.2.3",))


def test_pipfile_lock_pins_what_is_exact():
    entries = {"six": {"version": "==1.16"}, "mine": {"path": "."}, "loose": {"version": ">=1"}, "odd": "*"}
    text = json.dumps({"default": entries, "develop": {"mock": {"version": "==3"}}})
    found = locks.detect(Files({"Pipfile.lock": text}))
    assert found is not None
    assert found.pins == ("mock==3", "six==1.16")


@pytest.mark.parametrize(
    ("version", "pins"), [("3.4.2", ("six==1.16",)), ("4.6.3", ("pytest-asyncio==0.8.0", "six==1.16"))]
)
def test_plugins_of_a_pytest_that_is_too_old_are_not_pinned(version, pins):
    entries = {"pytest": version, "pytest-asyncio": "0.8.0", "six": "1.16"}
    text = json.dumps({"develop": {name: {"version": f"=={version}"} for name, version in entries.items()}})
    found = locks.detect(Files({"Pipfile.lock": text}))
    assert found is not None
    assert found.pins == pins


def test_the_first_rung_has_the_locks_versions_and_the_second_has_not():
    project = "[project]\nname='x'\n[dependency-groups]\ntest=['pytest']\n"
    lock = '[[package]]\nname = "six"\nversion = "1.16"\nsource = { registry = "https://index.example/simple" }\n'
    found = detect(Files({"pyproject.toml": project, "uv.lock": lock})).recipes
    assert [recipe.rung for recipe in found] == ["lock:uv.lock+group:test", "group:test", "pytest"]
    assert [recipe.evidence.pins for recipe in found] == [("six==1.16",), (), ()]


@pytest.mark.parametrize("path", [*AWAY, "Pipfile.lock", "Pipfile"])
@pytest.mark.parametrize(
    "text",
    [
        "",
        "[",
        "\x00",
        "package = 3",
        "package = [1, 'a']",
        "[[package]]\nname = 3\nversion = [1]",
        "[[package]]\nname = 'a b; c'\nversion = '1'",
        "[[package]]\nname = 'a'\nversion = 'not a version'",
        "[]",
        '{"default": 3, "develop": {"a": {"version": 3}}}',
        "[" * 100_000,
        "[packages]\nsix = 3\nmock = {version = [1]}\n[dev-packages]\na = {extras = 3}",
    ],
)
def test_a_lock_of_another_form_pins_nothing(path, text):
    tree = Files({path: text})
    assert locks.detect(tree) is None
    assert detect(tree).recipes[-1].rung == "pytest"


def test_a_pipfile_becomes_requirements():
    text = "[packages]\nsix = '*'\nmine = {path = '.', editable = true}\n"
    text += "[dev-packages]\nmock = {version = '>=3', extras = ['a']}\n"
    found = tools.pipenv(Files({"Pipfile": text}))
    assert found is not None
    assert found.requirements == ("six", "mock[a]>=3")


@pytest.mark.parametrize(
    ("year", "read"),
    [(2024, ["-e .[reco]", "-e .[socks]", "-e ./sub", "-e git+https://x/y"]),
     (2021, [".[reco]", ".[socks]", "./sub", "-e git+https://x/y"])],
)  # fmt: skip
def test_what_is_asked_for_from_the_tree_is_written_as_uv_reads_it(tmp_path, year, read):
    lines = ["-e '.[reco]'", "--editable=.[socks]", "-e ./sub", "-e git+https://x/y"]
    (tmp_path / "dev requirements.txt").write_text("\n".join(lines))
    (tmp_path / "notes.txt").write_text("nothing of it\n")
    recipe = Recipe(project=None, evidence=Evidence(rung="requirements", files=("dev requirements.txt",)))
    interpreter = SimpleNamespace(path="/python3.12", minor="3.12")
    script = steps.resolve_script(recipe, interpreter, datetime(year, 5, 1, tzinfo=UTC), None)
    (plain,) = [line for line in script.splitlines() if line.startswith("grep -rls")]
    for _ in range(2):  # also where there is nothing to write
        process.run(["sh", "-euc", plain], cwd=tmp_path)
        assert (tmp_path / "dev requirements.txt").read_text().splitlines() == read


def test_tags_of_the_version_are_taken_off_before_anything_is_resolved(tmp_path):
    recipe = Recipe(project="setup.py", evidence=Evidence(rung="pytest"))
    interpreter = SimpleNamespace(path="/python3.7", minor="3.7")
    script = steps.resolve_script(recipe, interpreter, datetime(2016, 5, 1, tzinfo=UTC), None)
    (untagged,) = [line for line in script.splitlines() if line.startswith("test ! -f")]
    process.run(["sh", "-euc", untagged], cwd=tmp_path)  # there may be none
    path = tmp_path / "setup.cfg"
    path.write_text("[egg_info]\ntag_build = .dev\ntag_date = 1\ntag-svn-revision: 1\n[metadata]\nname = tag_date\n")
    process.run(["sh", "-euc", untagged], cwd=tmp_path)
    assert path.read_text() == "[egg_info]\n[metadata]\nname = tag_date\n"
