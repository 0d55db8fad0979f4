"""Which changes are taken for bug fixes, and the one reason for each that is not."""

from __future__ import annotations

from dataclasses import replace

import pytest

from miner.candidates.recognise import recognise, score_of, signals_of
from miner.candidates.split import kinds_of
from miner.sources.change import Candidate, Change, ChangedFile, LinkedIssue, MergeStyle, Rejection
from miner.sources.messages import IssueReference, closing_references, issue_keys

CHANGE = Change(
    repo="acme/app",
    base_commit="a" * 40,
    head_commit="b" * 40,
    merge_commit="c" * 40,
    style=MergeStyle.SQUASH,
    created_at="2024-01-01T00:00:00Z",
    title="Fix add",
    body="",
    messages=(),
    number=1,
)


def file(path: str, status: str = "M") -> ChangedFile:
    mode = "100644"
    return ChangedFile(path=path, status=status, old_mode=mode, new_mode=mode, old_blob="1" * 40, new_blob="2" * 40)


def judge(title: str = "Fix add", *paths: str, body: str = "", deleted: tuple[str, ...] = (), **more):
    files = tuple(file(path, "D" if path in deleted else "M") for path in paths or ("src/a.py", "tests/test_a.py"))
    return recognise(replace(CHANGE, title=title, body=body, **more), files, kinds_of(files))


@pytest.mark.parametrize(
    "title",
    [
        "Fix add",
        "fix(parser): accept empty input",
        "Fixed a crash on empty input",
        "Bug: wrong sign",
        "[BUGFIX] sign",
        "Handle empty bytes in echo",
        "Raise ValueError for negative sizes",
        "Don't lose the last line",
        "hotfix!: restore output",
        "Fix rendering without a title",
        "Fix missing warnings",
        "Fix warnings that are shown twice",
        "Fix repr and add tests",
        "\N{BUG} fix(parser): accept empty input",
    ],
)
def test_a_title_that_speaks_of_a_fault_is_a_bug_fix(title):
    assert isinstance(judge(title), Candidate)


@pytest.mark.parametrize(
    "title",
    [
        "Add colours",
        "feat: fix up the new parser",
        "Fix typo",
        "docs: fix the example",
        "Fix lint",
        "Bump version",
        "Release 2.0",
        "chore: fix CI",
        "Bump requests from 1.0 to 2.0",
        "[pre-commit.ci] pre-commit autoupdate",
        "Update dependency ruff to v1",
        "build(deps): bump fixes from 1 to 2",
        "Resolve needless_borrow clippy lints",
        "Fix failing tests",
        "\N{WRENCH} fix(type): resolve type errors",
        ":memo: docs: fix the example",
        "fix(ci): run on forks",
        "Fix warnings in tests",
        "Test fixes for Python 3.13",
        "Fix deprecation warnings of Flask 3",
        "Dropped support for Python 3.8",
        "Stop supporting Flask-Babelex",
        "Fix Javadoc warnings",
        "Fix IntelliJ warnings.",
        "Fixed some compiler warnings",
        "Fix PMD UnnecessaryModifier",
        "Correct misspelled words",
        "Refactor the parser",
        "Minor refactorings",
        "Refactor and fix the parser",
        "Add failing test for an empty input",
        "Failing unit tests of get()",
    ],
)
def test_a_title_that_speaks_of_something_else_is_not(title):
    outcome = judge(title)
    assert isinstance(outcome, Rejection)
    assert outcome.reason == "not_a_bug_fix"


def test_a_closed_issue_is_enough():
    outcome = judge("Sort the names", body="Closes #12")
    assert isinstance(outcome, Candidate)
    assert outcome.signals == ("closes_issue:#12",)


def test_a_bug_label_is_enough():
    assert isinstance(judge("Sort the names", labels=("type: bug",)), Candidate)
    assert isinstance(judge("Sort the names", labels=("debugging",)), Rejection)


def test_the_label_of_a_linked_issue_is_the_strongest_signal():
    issue = LinkedIssue(number=3, title="Wrong", body="", labels=("kind/bug",))
    signals = signals_of(replace(CHANGE, title="Sort", issues=(issue,)))
    assert signals == ("issue_label_bug:kind/bug", "closes_issue:#3")


def test_every_signal_is_kept_and_the_score_is_their_sum():
    outcome = judge("Fix IndexError in docs", body="fixes #3")
    assert isinstance(outcome, Candidate)
    assert outcome.signals == (
        "fix_word_in_title:fix",
        "error_name_in_title:indexerror",
        "closes_issue:#3",
        "fix_word_in_body:fixes",
        "not_a_fix_word_in_title:docs",
    )
    assert outcome.score == score_of(outcome.signals)


def test_the_threshold_is_the_callers():
    files = (file("src/a.py"), file("tests/test_a.py"))
    assert isinstance(recognise(CHANGE, files, kinds_of(files), threshold=9), Rejection)


@pytest.mark.parametrize(
    ("paths", "reason"),
    [
        (("src/a.py",), "no_tests"),
        (("src/a.py", "src/data/x.json"), "no_tests"),
        (("src/a.py", "tests/README.md"), "no_tests"),
        (("src/a.py", "CHANGES.md", "pyproject.toml"), "no_tests"),
        (("tests/test_a.py",), "tests_only"),
        (("tests/test_a.py", "CHANGES.md"), "tests_only"),
        (("tests/data/x.json",), "tests_only"),
        (("docs/index.rst", "README.md"), "docs_only"),
        (("pyproject.toml",), "config_only"),
        (("tox.ini", "README.md"), "config_only"),
        (("pyproject.toml", "tests/test_a.py"), "config_only"),
        (("src/logo.png",), "no_code"),
    ],
)
def test_files_alone_can_be_the_reason(paths, reason):
    outcome = judge("Fix add", *paths)
    assert isinstance(outcome, Rejection)
    assert outcome.reason == reason


@pytest.mark.parametrize("path", ["tests/data/x.json", "test-data/unit/check-enum.test", "tests/data/cases/x.py"])
def test_a_change_to_code_and_data_of_tests_is_a_bug_fix(path):
    assert isinstance(judge("Fix add", "src/a.py", path), Candidate)


def test_data_that_is_only_deleted_is_no_test():
    outcome = judge("Fix add", "src/a.py", "tests/data/x.json", deleted=("tests/data/x.json",))
    assert isinstance(outcome, Rejection)
    assert outcome.reason == "no_tests"


def test_a_deleted_test_is_no_test():
    outcome = judge("Fix add", "src/a.py", "tests/test_a.py", deleted=("tests/test_a.py",))
    assert isinstance(outcome, Rejection)
    assert outcome.reason == "no_tests"


def test_a_fix_in_a_data_file_with_tests_is_a_bug_fix():
    assert isinstance(judge("Fix the German plural", "src/locale/de.po", "tests/test_a.py"), Candidate)


def test_a_reverted_change_is_rejected():
    outcome = judge(reverted_by="d" * 40)
    assert isinstance(outcome, Rejection)
    assert outcome.reason == "reverted"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Fixes #12", [(12, None)]),
        ("fix: #12", [(12, None)]),
        ("This closes #1, resolves #2 and fixed #3", [(1, None), (2, None), (3, None)]),
        ("Fixes #1, #2", [(1, None)]),
        ("Closes acme/other#7", [(7, "acme/other")]),
        ("Resolves https://git.example.org/acme/app/issues/9", [(9, "acme/app")]),
        ("see #12", []),
        ("prefixes #12", []),
        ("`fixes #12`", []),
        ("```\nfixes #12\n```\n", []),
        ("<!-- fixes #12 -->", []),
        ("Fixes #", []),
    ],
)
def test_closing_keywords_are_read_as_a_forge_reads_them(text, expected):
    assert closing_references(text) == tuple(IssueReference(number=number, repo=repo) for number, repo in expected)


def test_issue_keys_are_recorded():
    assert issue_keys("ABC-123: use UTF-8, see PEP-8 and `XYZ-1`") == ("ABC-123",)
    assert "issue_key:ABC-123" in signals_of(replace(CHANGE, title="ABC-123 fix add"))
