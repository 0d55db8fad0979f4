"""Problem statements: the issue's words, else the change's own, cleaned."""

from __future__ import annotations

from dataclasses import replace

import pytest

from miner.change import Change, LinkedIssue, MergeStyle
from miner.statement import clean, problem_statement

CHANGE = Change(
    repo="acme/app",
    base_commit="a" * 40,
    head_commit="b" * 40,
    merge_commit="c" * 40,
    style=MergeStyle.MERGE,
    created_at="2024-01-01T00:00:00Z",
    title="Fix add",
    body="",
    messages=(),
    number=1,
)


def state(title: str = "Fix add", body: str = "", messages: tuple[str, ...] = (), **more) -> str:
    return problem_statement(replace(CHANGE, title=title, body=body, messages=messages, **more))


def test_linked_issues_speak_for_themselves():
    issues = (
        LinkedIssue(number=1, title="Add subtracts", body="See `add(1, 2)`.\r\n<!-- thanks -->"),
        LinkedIssue(number=2, title="Sum is wrong", body=""),
    )
    assert state(body="Use +", issues=issues) == "Add subtracts\n\nSee `add(1, 2)`.\n\nSum is wrong\n"


def test_without_an_issue_title_and_body_speak():
    assert state(body="It subtracted.") == "Fix add\n\nIt subtracted.\n"


def test_a_merge_without_a_body_is_told_by_its_commits():
    messages = ("Add a failing test\n\nadd(1, 2) is -1", "wip", "Merge branch 'main' into x", "Fix add")
    assert state(messages=messages) == "Fix add\n\nAdd a failing test\n\nadd(1, 2) is -1\n"


def test_repeated_subjects_of_a_squash_are_said_once():
    body = "* Fix add\n\n* Add a test\n\n* Add a test\n\n* Fix add"
    assert state(body=body) == "Fix add\n\n* Add a test\n"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Words\n\nSigned-off-by: A <a@b.c>\nCo-authored-by: B <b@c.d>", "Words"),
        ("Words <!-- a\ntemplate --> stay", "Words  stay"),
        ("- [x] I ran the tests\n- [ ] I wrote docs\n\nWords", "Words"),
        ("Fixes #12.\n\nWords", "Words"),
        ("Words, fixes acme/app#12, #13", "Words,"),
        ("Words (#12)", "Words"),
        ("Broken since 1a2b3c4d5e", "Broken since"),
        ("After https://git.example.org/acme/app/pull/3 now", "After  now"),
        ("(cherry picked from commit 1a2b3c4)\nWords", "Words"),
        ("## Checklist\n\n- [x] done\n\n## What\n\nWords", "## What\n\nWords"),
        ("`deadbeef` and 1234567 and chunked() stay", "`deadbeef` and 1234567 and chunked() stay"),
        ("a\r\nb", "a\nb"),
    ],
)
def test_the_machinery_of_merging_is_removed(text, expected):
    assert clean(text) == expected


def test_a_statement_is_never_empty():
    assert state(title="#12", body="Fixes #12") == "#12\n"
    assert state(title="", body="") == "acme__app-1\n"
