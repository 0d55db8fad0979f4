"""A patch applied in memory: what a file is after it, and which lines are new."""

from __future__ import annotations

import difflib

import pytest

from harness.patches import patch
from harness.quality.change import change_of
from tests import tiny


def change(old: str | None, new: str | None, *, known: str | None = ""):
    file = patch.parse(tiny.diff("a.py", old, new).encode(), trusted=True).files[0]
    before = (old if known == "" else known) if old is not None else None
    return change_of(file, None if before is None else before.encode())


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("a\nb\nc\n", "a\nB\nc\n"),
        ("a\n", "a\nb\n"),
        ("a\nb\n", "b\n"),
        (None, "a\nb\n"),
        ("".join(f"{n}\n" for n in range(40)), "x\n" + "".join(f"{n}\n" for n in range(40) if n != 30)),
        ("- a\n+ b\n@@ -1 +1 @@\n", "- a\n+ c\n@@ -1 +1 @@\n"),
        ("a\n", "a\n\n\n"),
        ("a\r\nb\r\n", "a\r\nc\r\n"),
    ],
)
def test_a_patch_gives_the_text_that_it_was_made_from(old, new):
    assert change(old, new).after == new.encode()


def test_added_and_removed_lines_have_their_numbers():
    found = change("a\nb\nc\n", "a\nB\nc\nd\n")

    assert found.added == {2: b"B", 4: b"d"}
    assert found.removed == {2: b"b"}
    assert found.lines == 3


def test_a_missing_final_newline_is_no_line():
    found = change("a\nb", "a\nb\nc")

    assert found.after is not None
    assert found.after.rstrip(b"\n") == b"a\nb\nc"


def test_a_deleted_file_is_nothing_afterwards():
    assert change("a\n", None).after is None


def test_a_tree_that_the_patch_does_not_fit_leaves_the_result_unknown():
    assert change("a\nb\n", "a\nc\n", known="x\ny\n").after is None


def test_a_file_that_is_not_known_leaves_the_result_unknown():
    found = change("a\nb\n", "a\nc\n", known=None)

    assert (found.after, found.added) == (None, {2: b"c"})


def test_many_hunks_are_all_applied():
    old = [f"line {n}\n" for n in range(200)]
    new = [line.upper() if n % 37 == 5 else line for n, line in enumerate(old) if n % 41]
    assert len(list(difflib.unified_diff(old, new))) > 20

    assert change("".join(old), "".join(new)).after == "".join(new).encode()
