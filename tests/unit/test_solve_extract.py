"""From answers to patches: every form that models write, and what is refused. `git apply` judges each patch."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from harness.core.process import run
from harness.patches import patch as patches
from harness.solve.answers.extract import extract

CALC = """\
import math


def add(a, b):
    # adds
    return a - b


def area(r):
    if r < 0:
        return 0
    return math.pi * r


def twice(a):
    return 2 * a
"""
FIXED = CALC.replace("a - b", "a + b")
TWIN = "def one():\n    x = 1\n    return x\n\n\ndef two():\n    x = 1\n    return x\n"
BROWN = "# Brown\n\nA dog.\n"
FILES = {
    "src/calc.py": CALC,
    "src/twin.py": TWIN,
    "docs/brown.md": BROWN,
    "a/x.txt": "1\n",
    "left/util.py": "x = 1\n",
    "right/util.py": "x = 1\n",
    "dos.py": "def f():\r\n    return 1\r\n",
    "bare.py": "x = 1",
    "empty.py": "",
}
HUNK = " def add(a, b):\n     # adds\n-    return a - b\n+    return a + b\n"
DIFF = f"--- a/src/calc.py\n+++ b/src/calc.py\n@@ -4,3 +4,3 @@\n{HUNK}"
BLOCK = "<<<<<<< SEARCH\n    return a - b\n=======\n    return a + b\n>>>>>>> REPLACE\n"


@dataclass(frozen=True)
class Tree:
    texts: dict

    def files(self):
        return tuple(sorted(self.texts))

    def read(self, path):
        try:
            return self.texts[path].encode()
        except KeyError:
            raise FileNotFoundError(path) from None


def found(text, files=FILES, **more):
    return extract(text, Tree(files), **more)


def applied(patch: str, folder, files=FILES) -> dict[str, str]:
    """What `git apply` makes of a patch: the files that changed, None for those that are gone."""
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(text.encode())
    patches.parse(patch.encode())  # what `evaluate` reads it with
    run(["git", "apply", "--whitespace=nowarn"], input=patch.encode(), cwd=folder, env={"GIT_DIR": str(folder / "no")})
    now = {str(path.relative_to(folder)): path.read_bytes().decode() for path in folder.rglob("*") if path.is_file()}
    return {path: now.get(path) for path in {*files, *now} if now.get(path) != files.get(path)}


GOOD = {
    "a diff with git's headers": (f"diff --git a/src/calc.py b/src/calc.py\nindex 1..2 100644\n{DIFF}", ()),
    "a diff alone": (DIFF, ()),
    "a fenced diff with prose around": (f"The sign is wrong.\n\n```diff\n{DIFF}```\n\nThat is all.\n", ("fence",)),
    "an open fence": (f"```diff\n{DIFF}", ("fence", "open_fence")),
    "prose right behind a bare diff": (f"{DIFF}\nThis adds.", ()),
    "no prefixes": (DIFF.replace("a/src", "src").replace("b/src", "src"), ("path",)),
    "only the end of the path": (DIFF.replace("/src/calc", "/calc"), ("path",)),
    "the folder of the checkout in the path": (DIFF.replace("/src/", "/testbed/src/"), ("path",)),
    "wrong line numbers": (DIFF.replace("-4,3 +4,3", "-90,3 +91,3"), ("line_numbers",)),
    "wrong line counts": (DIFF.replace("-4,3 +4,3", "-4,30 +4,31"), ("header",)),
    "no line numbers": (DIFF.replace("@@ -4,3 +4,3 @@", "@@ def add @@"), ("header",)),
    "bare @@": (DIFF.replace("@@ -4,3 +4,3 @@", "@@"), ("header",)),
    "context that is not there": (DIFF.replace("# adds", "# subtracts"), ("context",)),
    "trailing spaces": (DIFF.replace("(a, b):\n", "(a, b):   \n"), ("trailing_space",)),
    "context without its space": (
        "```diff\n" + DIFF.replace(" def add", "def add") + "```",
        ("bare_context", "fence"),
    ),
    "a hunk named by the line above": (f"src/calc.py:\n```diff\n@@ -4,3 +4,3 @@\n{HUNK}```", ("fence", "header")),
    "an edit block": (f"src/calc.py\n{BLOCK}", ("edit_blocks",)),
    "an edit block in a fence": (f"src/calc.py\n```python\n{BLOCK}```\n", ("edit_blocks",)),
    "a path in the fence": (f"```python\nsrc/calc.py\n{BLOCK}```\n", ("edit_blocks",)),
    "a path behind the language": (f"```python src/calc.py\n{BLOCK}```\n", ("edit_blocks",)),
    "a bold path": (f"**`src/calc.py`**:\n{BLOCK}", ("edit_blocks",)),
    "a heading for a path": (f"### File: src/calc.py\n\n{BLOCK}", ("edit_blocks",)),
    "an edit block less indented": (
        "src/calc.py\n<<<<<<< SEARCH\n# adds\nreturn a - b\n=======\n# adds\nreturn a + b\n>>>>>>> REPLACE\n",
        ("edit_blocks", "indentation"),
    ),
    "the same edit block twice": (f"src/calc.py\n{BLOCK}\nsrc/calc.py\n{BLOCK}", ("edit_blocks", "repeated")),
    "a whole file": (f"src/calc.py\n```python\n{FIXED}```", ("fence", "whole_file")),
    "a whole file named in a comment": (f"```python\n# src/calc.py\n{FIXED}```", ("fence", "whole_file")),
    "the Begin Patch form": (
        f"*** Begin Patch\n*** Update File: src/calc.py\n@@ def add(a, b):\n{HUNK}*** End Patch",
        ("apply_patch",),
    ),
    "thinking aloud": (f"<think>Use\n```diff\n--- a/x\n```\n?</think>\n{DIFF}", ("thinking",)),
    "thinking aloud without its beginning": (f"Hm, add.</think>\n{DIFF}", ("thinking",)),
    "CRLF in the answer": (DIFF.replace("\n", "\r\n"), ()),
    "an answer at its limit whose edit is whole": (f"```diff\n{DIFF}```\nSo th", ("cut", "fence")),
}


@pytest.mark.parametrize("name", GOOD)
def test_a_patch_is_read_from(name, tmp_path):
    text, tolerance = GOOD[name]
    got = found(text, finish_reason="length" if "limit" in name else "stop")
    assert (got.no_patch, got.detail) == (None, "")
    assert applied(got.patch, tmp_path) == {"src/calc.py": FIXED}
    assert got.tolerance == tuple(sorted(tolerance))


OTHER = {
    "two hunks whose lines move": (
        (
            "--- a/src/calc.py\n+++ b/src/calc.py\n@@ -1,2 +1,4 @@\n import math\n+import os\n+import re\n \n"
            "@@ -14,2 +16,2 @@\n def twice(a):\n-    return 2 * a\n+    return a + a\n"
        ),
        {"src/calc.py": CALC.replace("import math\n", "import math\nimport os\nimport re\n").replace("2 * a", "a + a")},
    ),
    "a line number that tells twins apart": (
        "--- a/src/twin.py\n+++ b/src/twin.py\n@@ -7,2 +7,2 @@\n     x = 1\n-    return x\n+    return 2\n",
        {"src/twin.py": TWIN[:-9] + "return 2\n"},
    ),
    "a new file": (
        "--- /dev/null\n+++ b/src/new.py\n@@ -0,0 +1,2 @@\n+x = 1\n+y = 2\n",
        {"src/new.py": "x = 1\ny = 2\n"},
    ),
    "a new file by an empty search": (
        "src/new.py\n<<<<<<< SEARCH\n=======\nx = 1\n>>>>>>> REPLACE\n",
        {"src/new.py": "x = 1\n"},
    ),
    "a new file by Begin Patch": (
        "*** Begin Patch\n*** Add File: src/new.py\n+x = 1\n*** End Patch",
        {"src/new.py": "x = 1\n"},
    ),
    "a new whole file": ("src/new.py\n```python\nx = 1\n```", {"src/new.py": "x = 1\n"}),
    "a file that is taken away": (
        (
            "diff --git a/left/util.py b/left/util.py\ndeleted file mode 100644\n--- a/left/util.py\n+++ /dev/null\n"
            "@@ -1 +0,0 @@\n-x = 1\n"
        ),
        {"left/util.py": None},
    ),
    "a file that is moved": (
        "diff --git a/left/util.py b/left/tool.py\nrename from left/util.py\nrename to left/tool.py\n",
        {"left/util.py": None, "left/tool.py": "x = 1\n"},
    ),
    "a file that is moved and changed": (
        (
            "diff --git a/left/util.py b/left/tool.py\nrename from left/util.py\nrename to left/tool.py\n"
            "--- a/left/util.py\n+++ b/left/tool.py\n@@ -1 +1 @@\n-x = 1\n+x = 2\n"
        ),
        {"left/util.py": None, "left/tool.py": "x = 2\n"},
    ),
    "CRLF in the file": (
        "dos.py\n<<<<<<< SEARCH\n    return 1\n=======\n    return 2\n    # two\n>>>>>>> REPLACE\n",
        {"dos.py": "def f():\r\n    return 2\r\n    # two\r\n"},
    ),
    "a last line without its newline": (
        (
            "--- a/bare.py\n+++ b/bare.py\n@@ -1 +1 @@\n-x = 1\n\\ No newline at end of file\n+x = 2\n"
            "\\ No newline at end of file\n"
        ),
        {"bare.py": "x = 2"},
    ),
    "a newline given to the last line": (
        "--- a/bare.py\n+++ b/bare.py\n@@ -1 +1 @@\n-x = 1\n\\ No newline at end of file\n+x = 1\n",
        {"bare.py": "x = 1\n"},
    ),
    "an edit of a file without a last newline": (
        "bare.py\n<<<<<<< SEARCH\nx = 1\n=======\nx = 1\ny = 2\n>>>>>>> REPLACE\n",
        {"bare.py": "x = 1\ny = 2"},
    ),
    "something in an empty file": (
        "--- a/empty.py\n+++ b/empty.py\n@@ -0,0 +1 @@\n+x = 1\n",
        {"empty.py": "x = 1\n"},
    ),
    "a folder that is really called a": ("--- a/a/x.txt\n+++ b/a/x.txt\n@@ -1 +1 @@\n-1\n+2\n", {"a/x.txt": "2\n"}),
    "two files and a carried path": (
        (
            f"src/calc.py\n{BLOCK}\n<<<<<<< SEARCH\n    return 2 * a\n=======\n    return a + a\n>>>>>>> REPLACE\n"
            "docs/brown.md\n<<<<<<< SEARCH\nA dog.\n=======\nA bear.\n```\nfence\n```\n>>>>>>> REPLACE\n"
        ),
        {
            "src/calc.py": FIXED.replace("2 * a", "a + a"),
            "docs/brown.md": BROWN.replace("A dog.", "A bear.\n```\nfence\n```"),
        },
    ),
    "two fenced diffs": (
        (
            f"```diff\n{DIFF}```\nand\n```patch\n"
            "--- a/docs/brown.md\n+++ b/docs/brown.md\n@@ -3 +3 @@\n-A dog.\n+A bear.\n```"
        ),
        {"src/calc.py": FIXED, "docs/brown.md": BROWN.replace("dog", "bear")},
    ),
    "a removed line that looks like a header": (
        "--- a/docs/brown.md\n+++ b/docs/brown.md\n@@ -1,3 +1,2 @@\n # Brown\n \n-A dog.\n",
        {"docs/brown.md": "# Brown\n\n"},
    ),
}


@pytest.mark.parametrize("name", OTHER)
def test_the_tree_becomes_what_was_meant_by(name, tmp_path):
    text, expected = OTHER[name]
    got = found(text)
    assert (got.no_patch, got.detail) == (None, "")
    assert applied(got.patch, tmp_path) == expected


BAD = {
    "nothing": ("", "empty"),
    "blank lines": (" \n\n", "empty"),
    "an edit that changes nothing": (f"src/calc.py\n{BLOCK.replace('a - b', 'a + b')}", "does_not_apply"),
    "a replacement by the same": (f"src/calc.py\n{BLOCK.replace('a + b', 'a - b')}", "empty"),
    "prose": ("The sign in add is wrong; make it a plus.", "no_code"),
    "a refusal": ("I'm sorry, but I can't help with that.", "refused"),
    "code without a place": ("```python\ndef add(a, b):\n    return a + b\n```", "no_patch_in_answer"),
    "a part named as a whole file": ("src/calc.py\n```python\ndef add(a, b):\n    return a + b\n```", "ambiguous"),
    "a whole file with something left out": (
        f"src/calc.py\n```python\n# ... existing code ...\n{FIXED}```",
        "no_patch_in_answer",
    ),
    "an edit block without a path": (BLOCK, "ambiguous"),
    "an edit block without an end": (f"src/calc.py\n{BLOCK[:40]}", "no_patch_in_answer"),
    "lines that are not there": (f"src/calc.py\n{BLOCK.replace('a - b', 'a * b')}", "does_not_apply"),
    "a file that is not there": (f"src/other.py\n{BLOCK}", "does_not_apply"),
    "a path with two ends": ("util.py\n<<<<<<< SEARCH\nx = 1\n=======\nx = 2\n>>>>>>> REPLACE\n", "ambiguous"),
    "lines that are there twice": (
        "src/twin.py\n<<<<<<< SEARCH\n    return x\n=======\n    return 2\n>>>>>>> REPLACE\n",
        "ambiguous",
    ),
    "lines there twice at a wrong number": (
        "--- a/src/twin.py\n+++ b/src/twin.py\n@@ -5,2 +5,2 @@\n     x = 1\n-    return x\n+    return 2\n",
        "ambiguous",
    ),
    "lines to be added nowhere": ("--- a/src/calc.py\n+++ b/src/calc.py\n@@ @@\n+x = 1\n", "ambiguous"),
    "a way out of the tree": ("--- /dev/null\n+++ b/../x.py\n@@ -0,0 +1 @@\n+x\n", "does_not_apply"),
    "git's own folder": ("--- /dev/null\n+++ b/.git/hooks/x\n@@ -0,0 +1 @@\n+x\n", "does_not_apply"),
    "a new file that is there": ("--- /dev/null\n+++ b/src/calc.py\n@@ -0,0 +1 @@\n+x = 1\n", "does_not_apply"),
    "a new file inside a file": ("--- /dev/null\n+++ b/bare.py/x\n@@ -0,0 +1 @@\n+x = 1\n", "does_not_apply"),
    "a second version of an edit": (
        f"```diff\n{DIFF}```\nBetter:\n```diff\n{DIFF.replace('a + b', 'b + a')}```",
        "does_not_apply",
    ),
    "many blank lines": ("\n" * 1_000_000 + "x", "no_code"),
    "thinking without an end": ("<think>" + "hm " * 50, "empty"),
}


@pytest.mark.parametrize("name", BAD)
def test_no_patch_comes_of(name):
    text, reason = BAD[name]
    got = found(text)
    assert (got.patch, got.no_patch) == (None, reason)
    assert got.detail


def test_an_answer_cut_in_the_middle_of_its_edit_is_cut():
    assert found(f"src/calc.py\n{BLOCK[:40]}", finish_reason="length").no_patch == "cut"
    assert found(f"```diff\n{DIFF[:80]}", finish_reason="length").no_patch == "cut"
    assert found("Let me think about", finish_reason="length").no_patch == "cut"
    assert found("", finish_reason="length").no_patch == "cut"


def test_what_the_endpoint_marks_as_a_refusal_is_one():
    assert found("", refusal="I will not.").no_patch == "refused"
    assert found("", finish_reason="content_filter").no_patch == "refused"


BROKEN = "src/calc.py\n<<<<<<< SEARCH\n    return a - b\n=======\n    return (a +\n>>>>>>> REPLACE\n"


def test_code_that_no_longer_parses_is_an_outcome_of_its_own_and_kept():
    got = found(BROKEN, version="3.11")
    assert (got.patch, got.no_patch) == (None, "does_not_parse")
    assert got.detail.startswith("src/calc.py, line 6: ")
    assert "+    return (a +" in got.unusable


def test_the_grammar_is_that_of_the_task():
    walrus = BROKEN.replace("(a +", "(c := a + b)")
    assert found(walrus, version="3.11").no_patch is None
    assert found(walrus, version="3.7").no_patch == "does_not_parse"


@pytest.mark.parametrize(
    ("text", "files", "version"),
    [
        (BROKEN, FILES, "3.99"),
        (BROKEN, {"src/calc.py": "print 'old'\n" + CALC}, "3.11"),
        ("tests/data/bad.py\n```python\nx = (\n```", FILES, "3.11"),
        ("docs/brown.md\n<<<<<<< SEARCH\nA dog.\n=======\nA (dog.\n>>>>>>> REPLACE\n", FILES, "3.11"),
    ],
    ids=["newer grammar", "did not parse before", "data of a test", "no Python"],
)
def test_what_cannot_be_judged_is_not(text, files, version):
    assert found(text, files, version=version).patch


def test_two_files_of_bytes_that_are_no_text_come_through(tmp_path):
    old = b"x = '\xff'\ny = 1\n"

    class Odd(Tree):
        def read(self, path):
            return old

    got = extract("odd.py\n<<<<<<< SEARCH\ny = 1\n=======\ny = 2\n>>>>>>> REPLACE\n", Odd({"odd.py": ""}))
    (tmp_path / "odd.py").write_bytes(old)
    data = got.patch.encode("utf-8", "surrogateescape")
    run(["git", "apply"], input=data, cwd=tmp_path, env={"GIT_DIR": str(tmp_path / "no")})
    assert (tmp_path / "odd.py").read_bytes() == old.replace(b"1", b"2")
