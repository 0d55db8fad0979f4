"""The repository's own tests as an agent calls them, where they are suites: run as programs on a small tree."""

from __future__ import annotations

import sys

import pytest

from harness.core import process
from harness.core.instance import TestSpec
from harness.languages.javascript.language import JAVASCRIPT
from harness.languages.python.language import INTERPRETER, PYTHON

SUITE = (
    "import unittest\nclass Sums(unittest.TestCase):\n    def test_sum(self):\n        self.assertEqual(1 + 1, {})\n"
)
FILES = {
    "tests/test_right.py": SUITE.format(2),
    "tests/test_wrong.py": SUITE.format(3),
    "deep/pkg/__init__.py": "",
    "deep/pkg/test_deep.py": SUITE.format(2),
    "run.py": "import sys\nprint('told', *sys.argv[1:])\nif __name__ == '__main__':\n    sys.exit(len(sys.argv))\n",
}


@pytest.fixture
def called(tmp_path):
    for path, text in FILES.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)

    def call(*options, paths=()):
        words = PYTHON.by_hand(TestSpec(framework="unittest", options=options), paths)
        here = [word.replace(INTERPRETER, sys.executable).replace("/testbed", str(tmp_path)) for word in words]
        return process.run(here, check=False, cwd=tmp_path)

    return call


@pytest.mark.parametrize(
    ("path", "code"), [("tests/test_right.py", 0), ("tests/test_wrong.py", 1), ("deep/pkg/test_deep.py", 0)]
)
def test_a_file_of_suites_is_run_by_its_path(called, path, code):
    done = called(paths=[path])
    assert (done.returncode, "Ran 1 test" in done.error_text) == (code, True)


def test_without_a_path_everything_below_the_top_is_run(called):
    assert "Ran 2 tests" in called("--top=tests").error_text


def test_a_program_is_told_its_own_arguments_and_of_files_only_where_it_takes_them(called):
    assert called("--", "run.py", "--tag", "x", paths=["tests/test_right.py"]).returncode == 3
    done = called("--", "run.py", "test", paths=["deep/pkg/test_deep.py"])
    assert done.stdout.decode().split() == ["told", "test", "pkg.test_deep"]


@pytest.mark.parametrize(
    ("framework", "options", "ends"),
    [
        ("jest", ("--config", "jest.unit.js"), ("packages/a", ["jest", "--config", "jest.unit.js", "test/x.js"])),
        ("jest", ("--through=kcd-scripts", "--env=x"), ("packages/a", ["kcd-scripts", "test", "--env=x", "test/x.js"])),
        ("vitest", (), ("packages/a", ["vitest", "run", "test/x.js"])),
        ("node:test", ("--import", "tsx"), ("packages/a", ["node", "--test", "--import", "tsx", "test/x.js"])),
    ],
)
def test_javascripts_tests_are_run_in_the_folder_of_their_package(framework, options, ends):
    env = {"TZ": "UTC", "PATH": "/image/bin"}
    spec = TestSpec(framework=framework, options=("--root=packages/a", *options), env=env)
    words = JAVASCRIPT.by_hand(spec, ["packages/a/test/x.js::adds"])
    folder, program = ends
    assert words[:5] == ("sh", "-c", 'cd "$1" && shift && exec "$@"', "sh", folder)
    assert [*words[5:7], *words[8:]] == ["env", "CI=1", "TZ=UTC", *program]


def test_a_runner_of_javascript_that_runs_nothing_by_itself_is_given_every_test():
    assert JAVASCRIPT.by_hand(TestSpec(framework="tap"), [])[-2:] == ("tap", "test*/**/*.js")
    assert JAVASCRIPT.by_hand(TestSpec(framework="mocha"), [])[-1] == "mocha"
