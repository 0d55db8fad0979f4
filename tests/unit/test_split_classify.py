"""Paths by segment and file name, the traps included."""

from __future__ import annotations

import pytest

from miner.candidates.split import classify, is_code, is_config, is_docs, language, test_modules
from miner.sources.change import Kind

TEST = [
    "tests/test_app.py",
    "test_app.py",
    "pkg/app_test.py",
    "pkg/tests.py",
    "tests/conftest.py",
    "conftest.py",
    "pkg/tests/helpers.py",
    "testing/python/fixtures.py",
    "src/app.test.ts",
    "src/app.spec.jsx",
    "src/app.cy.mjs",
    "types/app.test-d.ts",
    "src/__tests__/app.js",
    "e2e/login.e2e.ts",
    "pkg/app_test.go",
    "src/test/java/org/AppTest.java",
    "src/AppIT.java",
    "src/androidTest/App.kt",
    "src/integrationTest/kotlin/App.kt",
    "src/AppSpec.kt",
    "spec/app_spec.rb",
    "lib/app_test.rb",
    "tests/it.rs",
    "src/tests.rs",
    "tests/AppTest.php",
    "App.Tests/AppTests.cs",
    "src/app_test.cc",
    "test/app.c",
]
SUPPORT = [
    "tests/__init__.py",
    "tests/data/input.json",
    "tests/fixtures/a.txt",
    "pkg/testdata/x.go",
    "src/__snapshots__/a.snap",
    "src/test/resources/app.xml",
    "spec/fixtures/x.yml",
    "src/testFixtures/data.json",
    "tests/README.md",
    "tests/run.sh",
    "src/__mocks__/fs.js",
]
GOLD = [
    "src/app.py",
    "src/flask/testing.py",
    "src/_pytest/python.py",
    "src/contest/api.py",
    "src/latest/api.py",
    "src/attest.py",
    "src/testing/runner.py",
    "docs/testing.rst",
    "src/protest/tests_per_day.py",
    "src/manifest.go",
    "src/Latest.java",
    "src/Audit.java",
    "core/src/main/java/org/stats/RankTest.java",
    "src/main/kotlin/test/Runner.kt",
    "src/inspect.js",
    "src/specs_loader.py",
    "src/contest.rs",
    "lib/spectator.rb",
    "greatest/x.ts",
    "README.md",
    "pyproject.toml",
    "setup.cfg",
]
RUNNER = [
    "pytest.ini",
    "tox.ini",
    "noxfile.py",
    "runtests.py",
    "tests/run_tests.py",
    "quicktest.py",
    ".coveragerc",
    "vitest.config.ts",
    "jest.config.js",
    ".github/workflows/tests.yml",
    ".travis.yml",
    "playwright.config.ts",
    ".circleci/config.yml",
    "phpunit.xml.dist",
]

KINDS = {Kind.TEST: TEST, Kind.SUPPORT: SUPPORT, Kind.GOLD: GOLD, Kind.RUNNER: RUNNER}


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        (path, kind)
        for kind, paths in ((Kind.TEST, TEST), (Kind.SUPPORT, SUPPORT), (Kind.GOLD, GOLD), (Kind.RUNNER, RUNNER))
        for path in paths
    ],
)
def test_a_path_is_of_its_kind(path, kind):
    assert classify(path) is kind


@pytest.mark.parametrize("path", ["docs/index.rst", "CHANGES.rst", "CHANGELOG", "README.md", "docs/conf.py", "LICENSE"])
def test_documentation_is_told(path):
    assert is_docs(path)
    assert not is_code(path)


@pytest.mark.parametrize(
    "path", ["requirements.txt", "src/app.py", "src/history.py", "CMakeLists.txt", "src/news/feed.py"]
)
def test_what_only_looks_like_documentation_is_not(path):
    assert not is_docs(path)


@pytest.mark.parametrize(
    "path", ["pyproject.toml", ".gitignore", "requirements/dev.txt", ".github/x.yml", "Dockerfile"]
)
def test_configuration_is_told(path):
    assert is_config(path)
    assert not is_code(path)


@pytest.mark.parametrize(
    ("paths", "expected"),
    [
        (["src/a.py", "src/b.py", "web/c.ts"], "python"),
        (["docs/conf.py", "src/a.go"], "go"),
        (["README.md"], "unknown"),
        (["setup.py"], "python"),
        (["src/A.java", "CHANGES.md"], "java"),
    ],
)
def test_the_language_is_that_of_most_code(paths, expected):
    assert language(paths) == expected


def test_the_runner_gets_test_modules_only():
    assert test_modules(["tests/conftest.py", "tests/helpers.py", "tests/test_a.py"], ()) == ("tests/test_a.py",)


def test_what_is_known_to_declare_tests_is_among_them_whatever_its_name():
    paths = ["src/test/java/Issue12.java", "src/test/java/Support.java", "src/test/java/ATest.java"]
    assert test_modules(paths, paths[:1]) == (paths[0], paths[2])


def test_without_a_test_module_by_name_the_runner_gets_the_test_code():
    assert test_modules(["tests/__init__.py", "tests/cases.py"], ()) == ("tests/cases.py",)
