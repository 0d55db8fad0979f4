"""Problem statements: the issue's words, else the change's own, cleaned."""

from __future__ import annotations

from dataclasses import replace

import pytest

from miner.candidates.statement import clean, hints, problem_statement, spoken_language
from miner.sources.change import Change, LinkedIssue, MergeStyle

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


GOLD = b"""\
diff --git a/src/app.py b/src/app.py
--- a/src/app.py
+++ b/src/app.py
@@ -1,2 +1,3 @@
 def add(a, b):
-    return a - b
+    total = a + b  # not a - b
+    return total
"""


def issue(body: str, **more) -> LinkedIssue:
    return LinkedIssue(number=7, title="add() subtracts", body=body, **more)


def test_a_code_block_that_holds_a_line_of_the_fix_is_left_out():
    body = "It fails:\n\n```python\nadd(1, 1)\n```\n\nDo this:\n\n```python\n    total = a + b  # not a - b\n```\n"
    told = problem_statement(replace(CHANGE, title="Fix add", body=body), gold_patch=GOLD)
    assert "add(1, 1)" in told
    assert "total" not in told


@pytest.mark.parametrize("fence", ["```diff", "~~~patch", "```suggestion"])
def test_a_diff_is_left_out_of_issues_and_of_changes(fence):
    body = f"Broken.\n\n{fence}\n- something\n+ something else\n{fence[:3]}\n"
    assert problem_statement(replace(CHANGE, body=body)) == "Fix add\n\nBroken.\n"
    assert problem_statement(replace(CHANGE, issues=(issue(body),))) == "add() subtracts\n\nBroken.\n"


def test_a_line_of_the_fix_outside_of_a_code_block_is_left_out():
    told = problem_statement(
        replace(CHANGE, issues=(issue("It fails. Use\n    total = a + b  # not a - b\ninstead."),)), gold_patch=GOLD
    )
    assert told == "add() subtracts\n\nIt fails. Use\ninstead.\n"


def test_lines_that_the_fix_keeps_or_removes_stay():
    told = problem_statement(replace(CHANGE, issues=(issue("`def add(a, b):`\n    return a - b"),)), gold_patch=GOLD)
    assert "return a - b" in told


def test_the_lines_of_a_template_are_left_out():
    form = "## Summary\nPlease describe your change in detail.\n## Checklist\nI have read CONTRIBUTING.\n"
    body = (
        "## Summary\nPlease describe your change in detail.\nadd() is wrong.\n## Checklist\nI have read CONTRIBUTING.\n"
    )
    told = problem_statement(replace(CHANGE, body=body), templates=[form])
    assert told == "Fix add\n\n## Summary\nadd() is wrong.\n"


def test_images_become_links_and_links_stay():
    body = 'See ![the plot](https://example.org/a.png) <img width="3" src="https://example.org/b.png"> [docs](https://x.org)'
    told = problem_statement(replace(CHANGE, issues=(issue(body),)))
    assert told.endswith(
        "See [the plot](https://example.org/a.png) [image](https://example.org/b.png) [docs](https://x.org)\n"
    )


def test_hints_are_the_comments_of_the_issues():
    told = replace(CHANGE, issues=(issue("", comments=("Me too.", " ", "On Windows as well.")),))
    assert (hints(told), hints(CHANGE)) == ("Me too.\n\n---\n\nOn Windows as well.\n", "")


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("The parser fails when the file is empty.", "en"),
        ("Der Parser bricht ab, wenn die Datei leer ist.", "de"),
        ("Le parseur échoue quand le fichier est vide.", "fr"),
        ("El programa falla cuando el archivo no existe.", "es"),
        ("ファイルが空のとき失敗する", "ja"),
        ("文件为空时解析失败", "zh"),
        ("Ошибка при разборе пустого файла", "ru"),
        ("`x = 1`", "und"),
    ],
)
def test_the_language_of_a_statement_is_told(text, code):
    assert spoken_language(text) == code


@pytest.mark.parametrize("text", ["\n", " ", " \n", "\t", "![", "<img ", "`", "~"])
def test_a_text_that_is_made_to_take_long_takes_none_the_longer(text):
    body = f"It is wrong.\n\n{text * (1_000_000 // len(text))}x"
    assert state(body=body).startswith("Fix add\n\nIt is wrong.")
