"""What the host sends into a container, beside the runner."""

from __future__ import annotations

from harness.grading.trial import _beside
from harness.patches.patch import parse

CHANGED = b"diff --git a/t/a.py b/t/a.py\n--- a/t/a.py\n+++ b/t/a.py\n@@ -1 +1 @@\n-1\n+2\n"
MOVED = (
    b"diff --git a/t/old.py b/t/new.py\nsimilarity index 90%\nrename from t/old.py\nrename to t/new.py\n"
    b"--- a/t/old.py\n+++ b/t/new.py\n@@ -1 +1 @@\n-1\n+3\n"
)
MADE = b"diff --git a/t/n.py b/t/n.py\nnew file mode 100644\n--- /dev/null\n+++ b/t/n.py\n@@ -0,0 +1 @@\n+4\n"


def test_a_test_file_that_is_stripped_is_not_in_the_patch_of_the_tests():
    sent = _beside({"t/n.py": b""}, parse(CHANGED + MADE, trusted=True))
    assert sent.raw == CHANGED
    assert sent.paths == {"t/a.py"}


def test_of_one_that_moved_only_the_move_is_left():
    sent = _beside({"t/new.py": b""}, parse(MOVED, trusted=True))
    assert b"+3" not in sent.raw
    assert b"rename from t/old.py" in sent.raw
    assert sent.paths == {"t/old.py", "t/new.py"}


def test_a_task_judged_inside_gets_all_of_it():
    assert _beside({}, parse(CHANGED + MOVED + MADE, trusted=True)).raw == CHANGED + MOVED + MADE


def test_no_patch_is_an_empty_one():
    assert _beside({}, None).raw == b""
