"""Patches: what is read, what is refused, and that nothing is read otherwise than by git."""

from __future__ import annotations

import tracemalloc

import pytest

from harness.patches.patch import MAX_BYTES, MAX_SECTIONS, Dropped, PatchError, UnsafePatchError, parse
from tests.repos import Repository

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
    "a copy that is a rename": (b"diff --git a/x b/y\ncopy from x\nrename to y\n", "half a rename"),
    "a file twice, copied": (section("y") + b"diff --git a/x b/y\ncopy from x\ncopy to y\n", "two sections"),
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
    "an absolute path without a prefix": (b"--- /etc/passwd\n+++ /etc/passwd\n" + HUNK, "leaves the work tree"),
    "too many bytes": (NAMES + b"@@ -0,0 +1 @@\n+" + b"x" * MAX_BYTES + b"\n", "bytes"),
    "too many files": (b"".join(section(f"f{n}") for n in range(MAX_SECTIONS + 1)), "more than"),
    "headers without end": (HEAD + b"index 1..2\n" * 100 + PLAIN, "headers without end"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_may_not_be_applied_is_refused(name):
    data, why = REFUSED[name]
    with pytest.raises(PatchError, match=why):
        parse(data)


def test_what_git_finds_copied_is_read_though_its_source_is_changed_moved_or_copied_twice(tmp_path):
    repo = Repository(tmp_path / "work")
    texts = {name: "".join(f"{name} {number}\n" for number in range(50)) for name in ("changed", "moved")}
    base = repo.commit("base", texts)
    made = {"one": "changed", "two": "changed", "three": "moved", "four": "moved"}
    fixed = {name: texts[source].replace("7", name) for name, source in made.items()}
    repo.commit("fix", {**fixed, "changed": texts["changed"].replace("3", "x"), "moved": None})
    patch = parse(repo.git("diff", "-C", base, "HEAD").encode())
    assert {file.path for file in patch.files if file.copies} == {"one", "two", "four"}
    repo.branch("again", base)
    repo.git("apply", "--index", input=patch.raw)
    assert repo.git("write-tree") == repo.git("rev-parse", "main^{tree}")


def test_a_lost_last_newline_is_put_back_and_recorded():
    patch = parse(PLAIN[:-1])
    assert (patch.raw, patch.repairs) == (PLAIN, ("last newline",))


def test_lost_blank_context_at_the_end_is_put_back_and_recorded():
    patch = parse(NAMES + b"@@ -1,4 +1,4 @@\n a\n-b\n+c\n")
    assert patch.raw.endswith(b"+c\n \n \n")
    assert "trailing blank context" in patch.repairs


def test_lost_blank_context_before_the_end_of_a_fence_is_put_back():
    patch = parse(b"```diff\n" + NAMES + b"@@ -1,4 +1,4 @@\n a\n-b\n+c\n```\nThat is all.\n")
    assert patch.raw.endswith(b"+c\n \n \n")


BARE = {
    "a diff of git": (
        b"diff --git pkg/f.py pkg/f.py\nindex 1..2 100644\n--- pkg/f.py\n+++ pkg/f.py\n" + HUNK,
        b"diff --git a/pkg/f.py b/pkg/f.py\nindex 1..2 100644\n--- a/pkg/f.py\n+++ b/pkg/f.py\n" + HUNK,
    ),
    "a file at the root": (
        b"diff --git f.py f.py\n--- f.py\n+++ f.py\n" + HUNK,
        b"diff --git a/f.py b/f.py\n--- a/f.py\n+++ b/f.py\n" + HUNK,
    ),
    "a plain diff": (b"--- pkg/f.py\t2024\n+++ pkg/f.py\n" + HUNK, b"--- a/pkg/f.py\t2024\n+++ b/pkg/f.py\n" + HUNK),
    "a new file": (
        b"diff --git c/n.py c/n.py\nnew file mode 100644\n--- /dev/null\n+++ c/n.py\n@@ -0,0 +1 @@\n+x\n",
        b"diff --git a/c/n.py b/c/n.py\nnew file mode 100644\n--- /dev/null\n+++ b/c/n.py\n@@ -0,0 +1 @@\n+x\n",
    ),
    "a rename": (
        b"diff --git p/x p/y\nsimilarity index 50%\nrename from p/x\nrename to p/y\n--- p/x\n+++ p/y\n" + HUNK,
        b"diff --git a/p/x b/p/y\nsimilarity index 50%\nrename from p/x\nrename to p/y\n--- a/p/x\n+++ b/p/y\n" + HUNK,
    ),
    "a name with a space": (b"--- a b/f\n+++ a b/f\n" + HUNK, b'--- "a/a\\040b/f"\n+++ "b/a\\040b/f"\n' + HUNK),
    "one prefix lost": (b"--- a/f.py\n+++ f.py\n" + HUNK, b"--- a/f.py\n+++ b/f.py\n" + HUNK),
}


@pytest.mark.parametrize("name", BARE)
def test_names_without_a_prefix_are_given_the_ones_that_git_reads(name):
    data, raw = BARE[name]
    patch = parse(data)
    assert patch.raw == raw
    assert patch.repairs == ("path prefixes",)


PREFIXED = {
    "mnemonic": b"diff --git i/pkg/f w/pkg/f\n--- i/pkg/f\n+++ w/pkg/f\n" + HUNK,
    "the same one twice": b"--- a/pkg/f\n+++ a/pkg/f\n" + HUNK,
    "folders": b"diff -ruN orig/pkg/f new/pkg/f\n--- orig/pkg/f\n+++ new/pkg/f\n" + HUNK,
    "unequal ones in a line of git": b"diff --git old/pkg/f new-one/pkg/f\n--- old/pkg/f\n+++ new-one/pkg/f\n" + HUNK,
}


@pytest.mark.parametrize("name", PREFIXED)
def test_any_prefix_is_one_and_stays(name):
    patch = parse(PREFIXED[name])
    assert patch.paths == {"pkg/f"}
    assert patch.raw in PREFIXED[name]


def test_a_new_file_has_the_prefix_of_its_neighbours():
    patch = parse(PREFIXED["folders"] + b"--- /dev/null\n+++ new/n.py\n@@ -0,0 +1 @@\n+x\n")
    assert patch.paths == {"pkg/f", "n.py"}


def test_each_file_may_have_a_prefix_or_none():
    assert parse(section("g") + b"--- p/f\n+++ p/f\n" + HUNK).paths == {"g", "p/f"}


@pytest.mark.parametrize("name", GOOD)
def test_a_patch_whose_text_has_crlf_ends_is_the_one_with_lf_ends(name):
    data = GOOD[name][0]
    patch = parse(data.replace(b"\n", b"\r\n"))
    assert patch.files == parse(data).files
    assert "line ends" in patch.repairs


def test_crlf_in_the_lines_alone_is_the_files_own():
    patch = parse(GOOD["CRLF content"][0])
    assert patch.raw == GOOD["CRLF content"][0]
    assert (patch.repairs, patch.without_crlf) == ((), [])


def test_hunks_whose_line_ends_are_lost_are_named_by_place():
    data = HEAD + NAMES + HUNK
    assert parse(data).without_crlf == [(len(HEAD + NAMES), len(data), "f.py", False)]
    assert parse(data.replace(b"\n", b"\r\n")).without_crlf == [(len(HEAD + NAMES), len(data), "f.py", True)]


@pytest.mark.parametrize(
    ("data", "has"),
    [
        (PLAIN, False),
        (NAMES + b"@@ -1 +1 @@\n-a\n+b\n", True),
        (NAMES + b"@@ -4,0 +5 @@\n+b\n", True),
        (NAMES + HUNK + b"@@ -9 +9 @@\n-a\n+b\n", True),
        (GOOD["a new file"][0], False),
        (GOOD["a deleted file"][0], False),
    ],
)
def test_a_patch_knows_whether_it_has_hunks_without_context(data, has):
    assert parse(data).zero_context is has


LEFT_OVER = {
    "a new link": (mode(b"120000"), "l", "symbolic_link"),
    "a link that changes": (REFUSED["an existing link"][0], "l", "symbolic_link"),
    "a repository in the repository": (mode(b"160000"), "l", "submodule"),
    "a device": (mode(b"060000"), "l", "special_file"),
    "a binary file without its data": (
        b"diff --git a/x.png b/x.png\nnew file mode 100644\nindex 0..1\nBinary files /dev/null and b/x.png differ\n",
        "x.png",
        "binary_without_data",
    ),
    "a file name of another system": (
        b'--- /dev/null\n+++ "b/C:\\\\log"\n@@ -0,0 +1 @@\n+x\n',
        "C:\\log",
        "odd_path",
    ),
    "a large log": (
        b"--- /dev/null\n+++ b/out.log\n@@ -0,0 +1,200000 @@\n" + b"+0123456789\n" * 200000,
        "out.log",
        "too_large",
    ),
    "a large binary file": (
        b"diff --git a/core b/core\nnew file mode 100644\nindex 0..1\nGIT binary patch\nliteral 9999999\n"
        + b"zcmZ\n" * 300000,
        "core",
        "too_large",
    ),
}


@pytest.mark.parametrize("is_first", [True, False])
@pytest.mark.parametrize("name", LEFT_OVER)
def test_what_is_left_over_beside_a_fix_is_left_out_and_recorded(name, is_first):
    data, path, reason = LEFT_OVER[name]
    patch = parse(data + WHOLE if is_first else WHOLE + data)
    assert patch.raw == WHOLE
    assert patch.left_out == (Dropped(path=path, reason=reason),)


def test_a_file_that_becomes_a_link_is_left_out_whole():
    gone = b"diff --git a/l b/l\ndeleted file mode 100644\n--- a/l\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n"
    patch = parse(gone + mode(b"120000") + WHOLE)
    assert patch.raw == WHOLE
    assert [part.path for part in patch.left_out] == ["l", "l"]


@pytest.mark.parametrize("path", ["l/inside.py", "l"])
def test_nothing_is_written_where_a_link_was_left_out(path):
    patch = parse(mode(b"120000") + WHOLE + section(path))
    assert patch.paths == {"f.py"}


def test_links_in_deep_folders_take_little_memory():
    paths = [b"%d/" % number + b"q/" * 1000 + b"x" for number in range(100)]
    links = b"".join(b"diff --git a/%s b/%s\nnew file mode 120000\n" % (path, path) for path in paths)
    tracemalloc.start()
    try:
        parsed = parse(links + b"diff --git a/m b/m\nold mode 100644\nnew mode 100755\n")
        assert tracemalloc.get_traced_memory()[1] < 1 << 24
    finally:
        tracemalloc.stop()
    assert ([file.path for file in parsed.files], len(parsed.left_out)) == (["m"], 100)


def test_a_patch_of_links_alone_is_unsafe():
    with pytest.raises(UnsafePatchError, match="symbolic link"):
        parse(mode(b"120000"))


def test_a_mined_patch_may_hold_links_and_be_large():
    assert parse(mode(b"120000") + b"#" * MAX_BYTES, trusted=True).paths == {"l"}


@pytest.mark.parametrize("path", [b"../x", b"/etc/x", b"a/../../x", b".git/x"])
def test_a_patch_of_a_dataset_leads_out_of_the_tree_as_little_as_any_other(path):
    with pytest.raises(UnsafePatchError):
        parse(b"--- /dev/null\n+++ b/" + path + b"\n@@ -0,0 +1 @@\n+x\n", trusted=True)


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
