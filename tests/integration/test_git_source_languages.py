"""The split in each language: code, tests, what supports them, and what says how they run."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from miner.candidates.scan import scan
from miner.candidates.split import language, split
from miner.pipeline.draft import spoken_in
from miner.sources.change import Candidate, Kind, Rejection, Split
from miner.sources.git import open_source
from miner.sources.history import ChangeFilter
from tests.repos import project


@dataclass(frozen=True, kw_only=True)
class Case:
    """One project's fix: a path of each kind, and a file of code that holds a test as well."""

    gold: tuple[str, ...]
    tests: tuple[str, ...]
    support: tuple[str, ...]
    runner: tuple[str, ...]
    mixed: tuple[str, str]
    """The file, and what the fix puts into it."""


CASES = {
    "python": Case(
        gold=("src/app/core.py", "src/app/testing.py", "setup.cfg", "CHANGES.rst"),
        tests=("tests/test_core.py", "src/app/core_test.py", "tests/conftest.py"),
        support=("tests/data/input.json", "tests/__init__.py", "tests/__snapshots__/a.ambr"),
        runner=("tox.ini", "pytest.ini", "noxfile.py", ".github/workflows/ci.yml"),
        mixed=("src/app/sums.py", "def test_add():\n    assert add(1, 1) == 2\n"),
    ),
    "javascript": Case(
        gold=("src/core.js", "lib/inspect.mjs", "package.json"),
        tests=("src/core.test.js", "src/__tests__/more.jsx", "cypress/login.cy.js"),
        support=("src/__mocks__/fs.js", "src/__snapshots__/core.test.js.snap", "test/fixtures/a.json"),
        runner=("jest.config.js", ".mocharc.json", "karma.conf.js"),
        mixed=("src/sums.js", "if (import.meta.vitest) { it('adds') }\n"),
    ),
    "typescript": Case(
        gold=("src/core.ts", "src/view.tsx", "tsconfig.json"),
        tests=("src/core.spec.ts", "src/view.test.tsx", "e2e/login.e2e.ts", "types/core.test-d.ts"),
        support=("src/__fixtures__/a.ts", "tests/data.json"),
        runner=("vitest.config.ts", "playwright.config.ts", "cypress.config.ts"),
        mixed=("src/sums.ts", "if (import.meta.vitest) { it('adds') }\n"),
    ),
    "go": Case(
        gold=("core.go", "internal/latest/api.go", "go.mod"),
        tests=("core_test.go", "internal/latest/api_test.go"),
        support=("testdata/input.go", "testdata/golden.txt"),
        runner=(".github/workflows/go.yml", "codecov.yml"),
        mixed=("sums.go", "func TestAdd(t *testing.T) {}\n"),
    ),
    "java": Case(
        gold=("src/main/java/org/Core.java", "src/main/java/org/CoreIT.java", "pom.xml"),
        tests=("src/test/java/org/CoreTest.java", "src/test/java/org/Helper.java", "src/it/java/org/CoreIT.java"),
        support=("src/test/resources/app.xml", "src/testFixtures/data.json"),
        runner=("Jenkinsfile", ".travis.yml"),
        mixed=("src/main/java/org/Sums.java", "    @Test\n    void adds() {}\n"),
    ),
    "kotlin": Case(
        gold=("src/main/kotlin/Core.kt", "build.gradle.kts"),
        tests=("src/test/kotlin/CoreTest.kt", "src/androidTest/kotlin/Ui.kt", "src/integrationTest/kotlin/All.kt"),
        support=("src/test/resources/app.json",),
        runner=("azure-pipelines.yml",),
        mixed=("src/main/kotlin/Sums.kt", "    @Test\n    fun adds() {}\n"),
    ),
    "ruby": Case(
        gold=("lib/core.rb", "lib/spectator.rb", "app.gemspec"),
        tests=("spec/core_spec.rb", "test/core_test.rb", "spec/spec_helper.rb"),
        support=("spec/fixtures/a.yml",),
        runner=(".rspec", ".circleci/config.yml"),
        mixed=("lib/sums.rb", "class AddCheck < Minitest::Test\nend\n"),
    ),
    "c": Case(
        gold=("src/core.c", "include/core.h", "CMakeLists.txt"),
        tests=("test/core.c", "src/core_test.c", "tests/util.h"),
        support=("tests/data/in.bin", "tests/CMakeLists.txt"),
        runner=("appveyor.yml",),
        mixed=("src/sums.c", "TEST(sums, adds) { CHECK(1); }\n"),
    ),
    "cpp": Case(
        gold=("src/core.cc", "include/core.hpp", "CMakeLists.txt"),
        tests=("src/core_unittest.cc", "tests/core.cpp", "src/CoreTest.cpp"),
        support=("tests/data/in.txt",),
        runner=(".cirrus.yml",),
        mixed=("src/sums.cpp", 'TEST_CASE("adds") { CHECK(add(1, 1) == 2); }\n'),
    ),
    "php": Case(
        gold=("src/Core.php", "src/Contest.php", "composer.json"),
        tests=("tests/CoreTest.php", "tests/Helper.php", "Zend/tests/add.phpt"),
        support=("tests/fixtures/a.xml",),
        runner=("phpunit.xml.dist",),
        mixed=("src/Sums.php", "final class AddCheck extends TestCase {}\n"),
    ),
    "csharp": Case(
        gold=("App/Core.cs", "App/App.csproj"),
        tests=("App.Tests/CoreTests.cs", "App.Tests/Helper.cs", "App/CoreTest.cs"),
        support=("App.Tests/data.json", "App.Tests/App.Tests.csproj"),
        runner=("azure-pipelines.yml",),
        mixed=("App/Sums.cs", "    [Fact]\n    public void Adds() {}\n"),
    ),
    "rust": Case(
        gold=("src/core.rs", "src/contest.rs", "Cargo.toml"),
        tests=("tests/core.rs", "src/core/tests.rs"),
        support=("tests/data/in.txt",),
        runner=(".github/workflows/rust.yml",),
        mixed=("", ""),  # cut by the line: see test_git_source_split.py
    ),
}


def fix(tmp_path, files: dict[str, str]) -> Split | Rejection:
    """The split of one commit over a small project, picked by name."""
    repo = project(tmp_path / "app")
    repo.commit("Build", {"pom.xml": "<project/>\n"})
    sha = repo.commit("Fix add", files)
    with open_source(str(repo.path), cache=tmp_path / "cache") as copy:
        [looked] = scan(copy, ChangeFilter(commits=frozenset({sha})))
        assert isinstance(looked.outcome, Candidate), looked.outcome
        return split(copy, looked.outcome)


@pytest.mark.parametrize("name", CASES)
def test_every_file_goes_to_its_side(tmp_path, name):
    case = CASES[name]
    kinds = {Kind.GOLD: case.gold, Kind.TEST: case.tests, Kind.SUPPORT: case.support, Kind.RUNNER: case.runner}
    expected = {path: kind for kind, paths in kinds.items() for path in paths}
    cut = fix(tmp_path, dict.fromkeys(expected, "changed\n"))
    assert isinstance(cut, Split)
    assert cut.kinds == expected
    for path, kind in expected.items():
        inside = f"diff --git a/{path} ".encode()
        assert (inside in cut.gold_patch, inside in cut.test_patch) == (kind is Kind.GOLD, kind is not Kind.GOLD)
    assert {f"runner configuration {path} goes with the test patch" for path in case.runner} <= set(cut.notes)
    assert language(case.gold) == name


@pytest.mark.parametrize("name", [name for name in CASES if CASES[name].mixed[0]])
def test_a_file_of_code_that_gains_a_test_is_mixed(tmp_path, name):
    case = CASES[name]
    path, added = case.mixed
    cut = fix(tmp_path, {path: added, case.gold[0]: "changed\n", case.tests[0]: "changed\n"})
    assert isinstance(cut, Rejection)
    assert (cut.reason, path in cut.detail) == ("mixed", True)


WIDER = "export const f = (a: string | null) => a; // wider\n"


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"src/a.ts": WIDER}, "no_code"),
        ({"src/a.ts": WIDER, "packages/b/package.json": "{}\n"}, None),
        ({"index.d.ts": "export const f: (a: string) => string;\n"}, "no_code"),
        ({"src/a.ts": "export const f = (a: string) => a ?? 0;\n"}, None),
        ({"src/a.ts": "@dec\nexport class A {}\n"}, None),
        ({"index.d.ts": "export const f: any;\n", "src/b.js": "// b\n"}, None),
        ({"index.d.ts": "export const f: any;\n", "package.json": '{"devDependencies": {"ava": "6"}}\n'}, None),
    ],
)
def test_what_changes_types_comments_and_layout_alone_is_no_fix_that_tests_see(tmp_path, changed, reason):
    repo = project(tmp_path / "app")
    repo.commit("Start", {"src/a.ts": "export const f = (a: string) => a;\n", "src/b.js": "b()\n"})
    sha = repo.commit("Fix f", {**changed, "test/a.test.ts": "it()\n"})
    with open_source(str(repo.path), cache=tmp_path / "cache") as copy:
        [looked] = scan(copy, ChangeFilter(commits=frozenset({sha})))
    assert (looked.outcome.reason if isinstance(looked.outcome, Rejection) else None) == reason


@pytest.mark.parametrize(
    ("package", "path", "text", "reason"),
    [
        ('{"scripts": {"test": "mocha"}}', "test/a.test-d.ts", "expectType<string>(a);\n", "no_tests"),
        ('{"scripts": {"test": "mocha"}}', "e2e/a.ts", 'import { test } from "@playwright/test";\n', "browser_tests"),
        ('{"scripts": {"test": "bun test"}}', "test/a.ts", "test()\n", "other_runtime"),
        ('{"scripts": {"test": "vows test/*"}}', "test/a.ts", "suite()\n", "runner_unsupported"),
        ('{"scripts": {"test": "mocha"}}', "test/a.ts", "it()\n", None),
    ],
)
def test_what_no_runner_that_is_known_can_run_is_no_candidate(tmp_path, package, path, text, reason):
    repo = project(tmp_path / "app")
    repo.commit("Start", {"src/a.ts": "export const a = 1;\n", "package.json": package})
    sha = repo.commit("Fix a", {"src/a.ts": "export const a = 2;\n", path: text})
    with open_source(str(repo.path), cache=tmp_path / "cache") as copy:
        [looked] = scan(copy, ChangeFilter(commits=frozenset({sha})))
        [declared] = scan(copy, ChangeFilter(commits=frozenset({sha})), tests=())
    assert (looked.outcome.reason if isinstance(looked.outcome, Rejection) else None) == reason
    assert isinstance(declared.outcome, Candidate) is (reason != "no_tests")


def test_helpers_are_not_given_to_a_runner_beside_tests(tmp_path):
    repo = project(tmp_path / "app")
    repo.commit("Start", {"a.js": "1\n", "package.json": '{"scripts": {"test": "ava"}}'})
    tests = {"test/a.js": "import test from 'ava';\n", "test/make.js": "export const b = 1;\n", "b.test.js": "b()\n"}
    sha = repo.commit("Fix a", {"a.js": "2\n", **tests})
    with open_source(str(repo.path), cache=tmp_path / "cache") as copy:
        [looked] = scan(copy, ChangeFilter(commits=frozenset({sha})))
        parts = split(copy, looked.outcome)
    assert parts.test_files == ("b.test.js", "test/a.js")
    assert b"test/make.js" in parts.test_patch


def test_where_tests_are_loaded_with_their_types_checked_a_change_of_types_may_be_seen(tmp_path):
    repo = project(tmp_path / "app")
    repo.commit(
        "Start", {"src/a.ts": "export const f = (a: string) => a;\n", "package.json": '{"jest": {"a": "ts-jest"}}'}
    )
    sha = repo.commit("Fix f", {"src/a.ts": WIDER, "test/a.test.ts": "it()\n"})
    with open_source(str(repo.path), cache=tmp_path / "cache") as copy:
        [looked] = scan(copy, ChangeFilter(commits=frozenset({sha})))
    assert isinstance(looked.outcome, Candidate)


TESTS = "def test_a():\n    assert 1\n\n\n@mark.xfail\ndef test_b():\n    assert 2\n"


@pytest.mark.parametrize(
    ("after", "reason"),
    [
        (TESTS.replace("assert 1", "assert  (1)  # one"), "no_tests"),
        (TESTS.partition("@")[0], None),
        (TESTS.replace("def test_a():\n    assert 1\n\n\n", ""), "no_tests"),
        (TESTS.replace("@mark.xfail\n", ""), None),
        (TESTS + "assert 3\n", None),
    ],
)
def test_tests_that_gain_nothing_tell_no_fix(tmp_path, after, reason):
    repo = project(tmp_path / "app")
    repo.commit("Start", {"src/a.py": "x = 1\n", "tests/test_a.py": TESTS})
    sha = repo.commit("Fix a", {"src/a.py": "x = 2\n", "tests/test_a.py": after})
    with open_source(str(repo.path), cache=tmp_path / "cache") as copy:
        [looked] = scan(copy, ChangeFilter(commits=frozenset({sha})))
    assert (looked.outcome.reason if isinstance(looked.outcome, Rejection) else None) == reason


TYPED = """\
from typing import Optional

from app.names import Name


class Card:
    size: int

    def __init__(self, name: Optional[str] = None) -> None:
        \"\"\"A card.\"\"\"
        self.name = name


@app.get
def cards(name: str) -> str:
    return name
"""


@pytest.mark.parametrize(
    ("before", "after", "reason"),
    [
        ("Optional[str] = None", "Optional[Name] = None", "no_code"),
        ("self.name = name", "self.name: Optional[Name] = name", "no_code"),
        ("self.name = name", "self.name = cast(Optional[str], name)", "no_code"),
        ("A card.", "A card with a name.", "no_code"),
        (
            "from app.names import Name\n",
            "\nif TYPE_CHECKING:\n    from app.names import Name\n\nN = TypeVar('N', bound='Name')\n",
            "no_code",
        ),
        ("Optional[str] = None", 'Optional[str] = ""', None),
        ("size: int", "size: float", None),
        ("cards(name: str)", "cards(name: int)", None),
        ("from app.names import Name\n", "from app.names import Name, Other\n", None),
        ("class Card:", "inspect.signature(cards)\n\n\nclass Card:", None),
    ],
)
def test_types_that_nothing_reads_are_no_fix_that_tests_see(tmp_path, before, after, reason):
    repo = project(tmp_path / "app")
    repo.commit("Start", {"src/app/cards.py": TYPED, "setup.py": "setup()\n"})
    fixed = {"src/app/cards.py": TYPED.replace(before, after), "tests/test_a.py": "def test_a():\n    assert 1\n"}
    sha = repo.commit("Fix the type of a card", fixed)
    with open_source(str(repo.path), cache=tmp_path / "cache") as copy:
        [looked] = scan(copy, ChangeFilter(commits=frozenset({sha})))
    assert (looked.outcome.reason if isinstance(looked.outcome, Rejection) else None) == reason


@pytest.mark.parametrize(
    ("files", "imported", "reason"),
    [
        ({"web/select/xpath.py": ""}, "web.http", "no_project"),
        ({"trunk/web/select/xpath.py": ""}, "web.http", "no_project"),
        ({"constants.py": ""}, "other.python.constants", "no_project"),
        ({"web/http.py": ""}, "web.http", None),
        ({"lib/web/http.pyx": ""}, "web.http", None),
        ({"web/select.py": ""}, "numpy.testing", None),
        ({"web/select.py": "", "setup.py": "setup()\n"}, "web.http", None),
        ({"web/select.py": "", "requirements-dev.txt": "web\n"}, "web.http", None),
    ],
)
def test_files_that_another_project_left_behind_are_no_project(tmp_path, files, imported, reason):
    repo = project(tmp_path / "app")
    repo.commit("Start", files)
    test = f"from {imported} import thing\n\n\ndef test_thing():\n    assert thing\n"
    sha = repo.commit("Fix thing", {"web/thing.py": "thing = 1\n", "tests/test_thing.py": test})
    with open_source(str(repo.path), cache=tmp_path / "cache") as copy:
        [looked] = scan(copy, ChangeFilter(commits=frozenset({sha})))
    assert (looked.outcome.reason if isinstance(looked.outcome, Rejection) else None) == reason


@pytest.mark.parametrize(
    ("paths", "name"),
    [
        (("src/escape.rs", "tests/test_escape.py"), "python"),
        (("src/escape.c", "tests/test_escape.py"), "python"),
        (("src/escape.rs", "src/lib.rs", "app/core.py", "tests/test_escape.py"), "python"),
        (("src/escape.rs", "src/lib.rs", "tests/escape.rs", "tests/test_escape.py"), "rust"),
        (("src/core.ts", "src/core.test.js"), "typescript"),
        (("src/main/java/org/Core.java", "src/test/kotlin/org/CoreTest.kt"), "java"),
    ],
)
def test_a_fix_is_mined_in_the_language_of_its_code_where_its_tests_are_in_that_and_else_in_theirs(
    tmp_path, paths, name
):
    written = dict.fromkeys(paths, "changed\n")
    written |= {"tests/test_escape.py": "def test_a(): ...\n", "tests/escape.rs": "#[test]\nfn a() {}\n"}
    cut = fix(tmp_path, {path: written[path] for path in paths})
    assert isinstance(cut, Split)
    assert spoken_in(cut) == name
