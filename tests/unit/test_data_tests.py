"""Tests that are data: which paths are, and which test files may read them."""

from __future__ import annotations

import pytest

from miner.candidates.split import declares_tests, is_data
from miner.candidates.test_data import MOST_OF_SUITE, candidates, readers
from miner.pipeline.data_readers import ids_naming

DATA = [
    "tests/data/cases/remove_parens.py",
    "tests/data/cases/pep_701.pyi",
    "test-data/unit/check-enum.test",
    "test-data/unit/fixtures/primitives.pyi",
    "mypackage/test-data/run-classes.test",
    "tests/functional/u/unreachable.py",
    "tests/functional/u/unreachable.txt",
    "tests/functional/u/unreachable.rc",
    "tests/regrtest_data/package/module.py",
    "test/fixtures/rules/std_rule_cases/AM08.yml",
    "test/fixtures/dialects/postgres/select.sql",
    "src/pkg/tests/data/expected.json",
    "src/pkg/tests/golden/page.html",
    "tests/__snapshots__/test_page.ambr",
    "tests/test_page.snap",
    "tests/cases.yaml",
    "testing/data/input.csv",
    "tests/fixtures/README.md",
    "tests/data/project/pyproject.toml",
    "spec/fixtures/sample.xml",
    "test/fixtures/range-parse.js",
    "test/_files/view.js",
    "pkg/src/snapshot_tests/inputs/errors/overflow.txt",
    "unittests/data/x.json",
]
NO_DATA = [
    "src/pkg/data/x.json",
    "src/pkg/fixtures/seed.json",
    "src/pkg/testing/data/x.json",
    "docs/data/x.yml",
    "docs/examples/x.py",
    "examples/data.csv",
    "data/tests.csv",
    "tests/test_page.py",
    "tests/data/test_page.py",
    "tests/helpers.py",
    "tests/conftest.py",
    "tests/data/conftest.py",
    "tests/__init__.py",
    "tests/README.md",
    "tests/requirements.txt",
    "tests/Dockerfile",
    "tests/.gitignore",
    "tox.ini",
    "README.md",
    "src/latest/data/x.json",
    "src/contests/data/x.json",
    "src/tests_of_load/data/x.json",
    "test/fixtures/a.test.js",
    "test/cases/issue-1.js",
    "src/data/__tests__/rows.js",
]


@pytest.mark.parametrize("path", DATA)
def test_what_lies_below_a_suite_is_its_data(path):
    assert is_data(path)


@pytest.mark.parametrize("path", NO_DATA)
def test_data_of_the_product_papers_and_helpers_are_none_of_a_suite(path):
    assert not is_data(path)


def named(path: str, **sources: str) -> tuple[str, ...]:
    asserting = {name: f"{text}\nassert f()" if name.startswith("test_") else text for name, text in sources.items()}
    contents = {f"tests/{name}.py": text.encode() for name, text in asserting.items()}
    runnable, _ = candidates(contents)
    return readers([path], runnable, contents).by_name


@pytest.mark.parametrize(
    ("source", "path"),
    [
        ("load('tests/data/page.html')", "tests/data/page.html"),
        ("check('rounding')", "tests/data/rounding.json"),
        ("all_cases('cases')", "tests/data/cases/pep_701.py"),
        ("FOLDER = Path(__file__).parent / 'functional'", "tests/functional/u/unreachable.txt"),
        ("load('test/fixtures/rules/std_rule_cases', '*.yml')", "tests/fixtures/rules/std_rule_cases/AM08.yml"),
        ("find_test_files(pattern='check-*.test')", "tests/unit/check-enum.test"),
    ],
)
def test_a_test_file_that_names_data_or_its_folder_may_read_it(source, path):
    assert named(path, test_other="assert True", test_reader=source) == ("tests/test_reader.py",)


def test_a_test_file_that_imports_a_helper_which_names_the_data_may_read_it():
    sources = {"support": "FOLDER = 'golden'", "test_a": "from .support import rows", "test_b": "import json"}
    assert named("tests/golden/page.html", **sources) == ("tests/test_a.py",)


def test_a_test_file_that_imports_a_changed_helper_may_depend_on_it():
    sources = {"support": "ROWS = []", "test_a": "from .support import rows", "test_b": "import json"}
    assert named("tests/support.py", **sources) == ("tests/test_a.py",)
    scripts = {
        "test/util.cjs": b"exports.check = () => 1",
        "test/other.cjs": b"require('./util')",
        "test/a.cjs": b"const { check } = require('./util');\nit('adds', check)",
        "test/b.cjs": b"it('stays', () => {})",
    }
    runnable, _ = candidates(scripts)
    assert readers(["test/util.cjs"], runnable, scripts).by_name == ("test/a.cjs",)


@pytest.mark.parametrize(
    ("path", "source", "has_tests"),
    [
        ("tests/test_a.py", b"", True),
        ("tests/test_a.py", b"from suite import *", True),
        ("tests/test_components.py", b"class Empty:\n    pass\n\ndef latest(): ...", False),
        ("tests/cases.py", b"class Some:\n    async def test_it(self): ...", True),
        ("tests/cases.py", b"def f():\n    '''\n    >>> f()\n    '''", True),
        ("tests/helpers.py", b"def latest(): ...", False),
        ("tests/conftest.py", b"def test_data(): ...", False),
        ("test/a.test.js", b"", True),
        ("test/a.js", b"describe.each`a`('x', () => {})", True),
        ("test/a.js", b"xit('x', () => {})", True),
        ("test/a.js", b"const t = require('tape');", True),
        ("tests/rules/a.js", b"const ruleTester = new RuleTester();\nruleTester.run('a', rule, {})", True),
        ("rules/__tests__/index.mjs", b"const { rule } = x;\ntestRule({ accept: [] });", True),
        ("test/a.mjs", b"await runTests(import.meta.url)", True),
        ("test/helpers.js", b"export function testRule(a) {\n  latest(a);\n}\nregister(testRule);", False),
        ("test/helpers.ts", b"export const isTest = (x) => /x/.test(x) && split(x)", False),
        ("src/test/java/a/Support.java", b"class Support {}", False),
        ("src/test/java/a/Issue12.java", b"class Issue12 {\n    @org.junit.Test\n    public void a() {}\n}", True),
        ("src/test/java/a/BaseTest.java", b"package a;\n\npublic abstract class BaseTest {}", False),
        ("src/test/java/a/OneTest.java", b"class OneTest {\n    abstract class Inner {}\n}", True),
        ("tests/a.rs", b"#[test]\nfn a() {}", True),
        ("tests/ui/a.rs", b"fn main() {}", False),
        ("spec/support/a.rb", b"", True),
    ],
)
def test_a_helper_has_no_tests_of_its_own(path, source, has_tests):
    assert declares_tests(path, source) is has_tests


def test_the_plainest_name_comes_first():
    sources = {"test_a": "load('data')", "test_b": "load('data/page.html')"}
    assert named("tests/data/page.html", **sources) == ("tests/test_b.py", "tests/test_a.py")


def test_a_snapshot_is_read_by_the_test_file_that_it_is_named_after():
    snapshot, own = "tests/format/scss/__snapshots__/format.test.js.snap", "tests/format/scss/format.test.js"
    scripts = {own: b"check(import.meta)", "tests/format/js/format.test.js": b"", "tests/a.test.js": b"'scss/a.scss'"}
    assert readers([snapshot, "tests/format/scss/a.scss"], tuple(scripts), scripts).by_name == (own,)
    tap = {"test/a.js": b"import 'tap'", "test/b.js": b"import 'tap'"}
    assert readers(["tap-snapshots/test/a.js.test.cjs"], tuple(tap), tap).by_name == ("test/a.js",)
    assert is_data("tap-snapshots/test/a.js.test.cjs")
    assert is_data("test/a.js.snapshot")
    assert named("tests/__snapshots__/test_a.ambr", test_a="", test_b="'test_a.ambr'") == ("tests/test_a.py",)


def test_files_of_a_suite_with_names_of_its_own_may_read_data():
    assert named("tests/unit/check-enum.test", testcheck="find('check-*.test')") == ("tests/testcheck.py",)


def test_where_no_name_tells_the_suite_around_the_data_is_tried():
    paths = ("tests/api/test_a.py", "tests/api/test_b.py", "tests/web/test_c.py")
    outcome = readers(["tests/api/data/page.html"], paths, dict.fromkeys(paths, b""))
    assert (outcome.by_name, outcome.suite) == ((), paths[:2])


def test_a_suite_of_too_many_files_is_not_tried():
    paths = tuple(f"tests/test_{number}.py" for number in range(MOST_OF_SUITE + 1))
    assert readers(["tests/data/page.html"], paths, dict.fromkeys(paths, b"")).suite == ()


def test_a_project_beside_the_suite_is_tried_only_where_nothing_else_is_there():
    sources = {"tests/test_a.py": b"assert load('golden')", "plugins/x/tests/test_b.py": b"assert load('golden')"}
    assert readers(["tests/golden/page.html"], tuple(sources), sources).by_name == ("tests/test_a.py",)
    assert readers(["data/golden/page.html"], tuple(sources), sources).by_name == tuple(sorted(sources))


def test_an_id_names_data_the_more_plainly_the_more_of_its_path_it_has():
    ids = (
        "t.py::t[select]",
        "t.py::t[postgres-select.sql]",
        "t.py::t[a_select]",
        "t.py::t[selected]",
        "select.py::t",
    )
    named = ids_naming(["test/dialects/postgres/select.sql"], ids)
    assert named == {"t.py::t[select]": 1, "t.py::t[postgres-select.sql]": 3, "t.py::t[a_select]": 1}


def test_fixtures_in_javascript_are_given_to_no_runner():
    runnable, helpers = candidates(["test/ranges/valid.js", "test/fixtures/range-parse.js"])
    assert (runnable, helpers) == (("test/ranges/valid.js",), ("test/fixtures/range-parse.js",))
