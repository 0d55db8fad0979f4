"""Patches: what is read, what is refused, and that nothing is read otherwise than by git."""

from __future__ import annotations

import pytest

from harness.patch import MAX_BYTES, MAX_FILES, PatchError, parse

HEAD = b"diff --git a/f.py b/f.py\nindex 1111111..2222222 100644\n"
NAMES = b"--- a/f.py\n+++ b/f.py\n"
HUNK = b"@@ -1,2 +1,2 @@\n a\n-b\n+c\n"
PLAIN = NAMES + HUNK
WHOLE = HEAD + PLAIN


def section(path: str, hunk: bytes = HUNK) -> bytes:
    return f"--- a/{path}\n+++ b/{path}\n".encode() + hunk


GOOD = {
    "a diff of git": (WHOLE, {"f.py"}),
    "a plain diff": (PLAIN, {"f.py"}),
    "names without a prefix": (b"--- f\n+++ f\n" + HUNK + b"--- g\n+++ g\n" + HUNK, {"f", "g"}),
    "time stamps after a tab": (b"--- a/f.py\t2024-01-01 00:00:00\n+++ b/f.py\t2024-01-02\n" + HUNK, {"f.py"}),
    "a commit message before": (b"From 123 Mon Sep 17\nSubject: [PATCH] x\n\n---\n f.py | 2 +-\n\n" + WHOLE, {"f.py"}),
    "a signature after": (WHOLE + b"-- \n2.39.5\n\n", {"f.py"}),
    "garbage between files": (PLAIN + b"\nsome words\n" + section("g.py"), {"f.py", "g.py"}),
    "no newline at the end of the file": (PLAIN + b"\\ No newline at end of file\n", {"f.py"}),
    "CRLF content": (NAMES + b"@@ -1 +1 @@\n-a\r\n+b\r\n", {"f.py"}),
    "a rename": (b"diff --git a/x b/y\nsimilarity index 100%\nrename from x\nrename to y\n", {"x", "y"}),
    "a copy": (b"diff --git a/x b/y\nsimilarity index 100%\ncopy from x\ncopy to y\n", {"x", "y"}),
    "a change of mode": (b"diff --git a/x b/x\nold mode 100644\nnew mode 100755\n", {"x"}),
    "a new file": (b"--- /dev/null\n+++ b/n.py\n@@ -0,0 +1 @@\n+x\n", {"n.py"}),
    "a deleted file": (b"--- a/n.py\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n", {"n.py"}),
    "a new empty file": (b"diff --git a/e b/e\nnew file mode 100644\nindex 0000000..e69de29\n", {"e"}),
    "a quoted path": (b'--- "a/caf\\303\\251.py"\n+++ "b/caf\\303\\251.py"\n' + HUNK, {"caf\u00e9.py"}),
    "a path that is not UTF-8": (b"--- a/caf\xe9\n+++ b/caf\xe9\n" + HUNK, {"caf\udce9"}),
    "a path with a space": (b"diff --git a/a b b/a b\n--- a/a b\t\n+++ b/a b\t\n" + HUNK, {"a b"}),
    "a removed line of dashes": (NAMES + b"@@ -1,2 +1,1 @@\n--- x\n a\n", {"f.py"}),
    "binary data": (
        (
            b"diff --git a/b b/b\nindex 1..2 100644\nGIT binary patch\n"
            b"literal 1\nIcmZPo000310RR91\n\nliteral 0\nHcmV?d00001\n\n"
        ),
        {"b"},
    ),
}


@pytest.mark.parametrize("name", GOOD)
def test_what_git_writes_is_read(name):
    data, paths = GOOD[name]
    assert parse(data).paths == paths


@pytest.mark.parametrize("name", GOOD)
def test_what_was_read_reads_the_same_again(name):
    once = parse(GOOD[name][0])
    assert parse(once.raw).files == once.files


def mode(kind: bytes) -> bytes:
    return b"diff --git a/l b/l\nnew file mode " + kind + b"\n--- /dev/null\n+++ b/l\n@@ -0,0 +1 @@\n+x\n"


REFUSED = {
    "nothing": (b"", "no file header"),
    "prose": (b"I fixed it.\n", "no file header"),
    "a symbolic link": (mode(b"120000"), "symbolic link"),
    "a submodule": (mode(b"160000"), "submodule"),
    "a device": (mode(b"060000"), "not a plain file"),
    "an existing link": (b"diff --git a/l b/l\nindex 1..2 120000\n--- a/l\n+++ b/l\n" + HUNK, "symbolic link"),
    "git's folder": (section(".git/config"), "git folder"),
    "git's folder in capitals": (section("x/.GIT/config"), "git folder"),
    "git's short name": (section("git~1/config"), "git folder"),
    "a way up": (section("../x"), "leaves the work tree"),
    "a way up inside": (section("x/../../y"), "leaves the work tree"),
    "a dot": (section("x/./y"), "leaves the work tree"),
    "two slashes": (section("x//y"), "leaves the work tree"),
    "an absolute path": (b"--- a//etc/passwd\n+++ b//etc/passwd\n" + HUNK, "leaves the work tree"),
    "a control character": (b'--- "a/x\\001"\n+++ "b/x\\001"\n' + HUNK, "character"),
    "a NUL": (b'--- "a/x\\000y"\n+++ "b/x\\000y"\n' + HUNK, "character"),
    "a newline in a path": (b'--- "a/x\\ny"\n+++ "b/x\\ny"\n' + HUNK, "character"),
    "a backslash": (section("..\\x"), "character"),
    "an unknown escape": (b'--- "a/\\q"\n+++ "b/\\q"\n' + HUNK, "escape"),
    "a path without end": (section("x/" * 3000 + "y"), "more than 4096 bytes"),
    "headers that disagree": (b"diff --git a/f b/f\n--- a/g\n+++ b/g\n" + HUNK, "different files"),
    "two names": (b"--- a/f\n+++ b/g\n" + HUNK, "different files"),
    "a git line of two names": (b"diff --git a/f b/g\n--- a/f\n+++ b/f\n" + HUNK, "differ without a rename"),
    "half a rename": (b"diff --git a/x b/y\nrename from x\n", "half a rename"),
    "neither side": (b"--- /dev/null\n+++ /dev/null\n" + HUNK, "different files"),
    "a file twice": (PLAIN + PLAIN, "two sections"),
    "a rename onto a changed file": (PLAIN + b"diff --git a/x b/f.py\nrename from x\nrename to f.py\n", "two sections"),
    "a short hunk": (NAMES + b"@@ -1,3 +1,3 @@\n a\n-b\n+c\n" + WHOLE, "shorter"),
    "a long hunk": (PLAIN + b"+more\n", "longer"),
    "a hunk of a billion lines": (NAMES + b"@@ -1,999999999 +1,999999999 @@\n a\n", "shorter"),
    "a number without end": (NAMES + b"@@ -1," + b"9" * 5000 + b" +1 @@\n a\n", "without a hunk"),
    "a header without hunk": (HEAD + NAMES, "without a hunk"),
    "a hunk without header": (HUNK, "without a file header"),
    "one name": (HEAD + b"--- a/f.py\n" + HUNK, "not followed"),
    "binary without data": (HEAD + b"Binary files a/f.py and b/f.py differ\n", "binary"),
    "parts that run into each other": (
        b"diff --git a/b b/b\nold mode 100644\nnew mode 100755\n\n" + PLAIN,
        "different files",
    ),
    "nothing without saying so": (b"diff --git a/n b/n\n--- /dev/null\n+++ b/n\n@@ -0,0 +1 @@\n+x\n", "/dev/null"),
    "paths with and without prefix": (b"--- f\n+++ f\n" + HUNK + section("g"), "prefix"),
    "too many bytes": (PLAIN + b"x" * MAX_BYTES, "bytes"),
    "too many files": (b"".join(section(f"f{n}") for n in range(MAX_FILES + 1)), "more than"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_may_not_be_applied_is_refused(name):
    data, why = REFUSED[name]
    with pytest.raises(PatchError, match=why):
        parse(data)


def test_a_lost_last_newline_is_put_back_and_recorded():
    patch = parse(PLAIN[:-1])
    assert (patch.raw, patch.repairs) == (PLAIN, ("last newline",))


def test_lost_blank_context_at_the_end_is_put_back_and_recorded():
    patch = parse(NAMES + b"@@ -1,4 +1,4 @@\n a\n-b\n+c\n")
    assert patch.raw.endswith(b"+c\n \n \n")
    assert "trailing blank context" in patch.repairs


def test_a_mined_patch_may_hold_links_and_be_large():
    assert parse(mode(b"120000") + b"#" * MAX_BYTES, trusted=True).paths == {"l"}


@pytest.mark.parametrize(
    ("data", "makes"),
    [
        (PLAIN, False),
        (GOOD["a new file"][0], True),
        (GOOD["a rename"][0], True),
        (GOOD["a deleted file"][0], False),
        (b"--- a/f\n+++ b/f\n@@ -0,0 +1 @@\n+x\n", True),
        (b"--- a/f\t1970-01-01 00:00:00 +0000\n+++ b/f\n@@ -0,0 +1 @@\n+x\n", True),
        (GOOD["a change of mode"][0], False),
    ],
)
def test_a_section_knows_whether_it_can_bring_a_file_into_being(data, makes):
    assert parse(data).files[0].makes_file is makes
