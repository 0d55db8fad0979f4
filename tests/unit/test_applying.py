"""Patches of every form on a real tree, by the supervisor's own code: what lies there afterwards."""

from __future__ import annotations

import tempfile
from functools import cache
from pathlib import Path

import pytest

from harness.core.process import run
from harness.patches.patch import Patch, parse
from tests.applied import built

LF = b"one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\n"
CRLF = LF.replace(b"\n", b"\r\n")
MIXED = b"one\ntwo\nthree\r\nfour\r\nfive\r\nsix\nseven\neight\n"


@pytest.fixture
def base(tmp_path) -> Path:
    (tmp_path / "base").mkdir()
    return tmp_path / "base"


@cache
def diff(old: bytes, new: bytes, *words: str) -> bytes:
    """What git prints of a file that changes."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for side, data in (("a", old), ("b", new)):
            (folder / side).mkdir()
            (folder / side / "f.txt").write_bytes(data)
        command = ["git", "diff", "--no-index", "--no-prefix", "--no-color", *words, "a/f.txt", "b/f.txt"]
        return run(command, cwd=folder, check=False).stdout


def crlf(data: bytes) -> bytes:
    """As a program on Windows writes a text that it holds with LF."""
    return data.replace(b"\n", b"\r\n")


def unix2dos(data: bytes) -> bytes:
    return data.replace(b"\r\n", b"\n").replace(b"\n", b"\r\n")


def universal(data: bytes) -> bytes:
    """As a program reads it that opens it as text."""
    return data.replace(b"\r\n", b"\n")


FORMS = [(sent, words) for sent in (bytes, crlf, unix2dos, universal) for words in ((), ("-U1",), ("-U0",))]
FORMS.remove((universal, ("-U0",)))  # of a line that is added, nothing tells then that it is not LF by intention


@pytest.mark.parametrize(("sent", "words"), FORMS)
@pytest.mark.parametrize("old", [LF, CRLF, MIXED, CRLF[:-2], LF[:-1]])
@pytest.mark.parametrize(("was", "becomes"), [(b"four", b"4"), (b"five", b"five and\nmore"), (b"one", b"zero\none")])
def test_a_file_keeps_its_line_ends_whatever_the_text_of_the_patch_has(base, tmp_path, old, was, becomes, sent, words):
    end = b"\r\n" if was + b"\r\n" in old else b"\n"
    new = old.replace(was, becomes.replace(b"\n", end), 1)
    (base / "f.txt").write_bytes(old)
    error = built(base, parse(sent(diff(old, new, *words))), tmp_path / "work")
    assert (error, (tmp_path / "work" / "f.txt").read_bytes()) == ("", new)


@pytest.mark.parametrize("sent", [bytes, crlf])
@pytest.mark.parametrize(("old", "new"), [(LF, CRLF), (CRLF, LF)])
def test_a_change_of_line_ends_is_one(base, tmp_path, old, new, sent):
    (base / "f.txt").write_bytes(old)
    error = built(base, parse(sent(diff(old, new))), tmp_path / "work")
    assert (error, (tmp_path / "work" / "f.txt").read_bytes()) == ("", new)


def test_a_new_file_of_a_crlf_text_has_lf(base, tmp_path):
    patch = parse(crlf(b"--- /dev/null\n+++ b/n.txt\n@@ -0,0 +1 @@\n+x\n"))
    assert built(base, patch, tmp_path / "work") == ""
    assert (tmp_path / "work" / "n.txt").read_bytes() == b"x\n"


def test_a_line_without_context_goes_where_the_patch_says_and_not_where_it_fits_as_well(base, tmp_path):
    (base / "f.txt").write_bytes(b"x\n" * 9)
    patch = parse(b"--- a/f.txt\n+++ b/f.txt\n@@ -4 +4 @@\n-x\n+y\n@@ -7,0 +8 @@\n+z\n")
    assert built(base, patch, tmp_path / "work") == ""
    assert (tmp_path / "work" / "f.txt").read_bytes() == b"x\nx\nx\ny\nx\nx\nx\nz\nx\nx\n"


def test_a_patch_with_context_has_to_fit_at_the_end_where_it_says_so(base, tmp_path):
    (base / "f.txt").write_bytes(LF)
    patch = parse(b"--- a/f.txt\n+++ b/f.txt\n@@ -2,2 +2,2 @@\n two\n-three\n+3\n")
    assert "does not apply" in built(base, patch, tmp_path / "work")


@pytest.mark.parametrize("form", [bytes, crlf])
def test_a_patch_of_other_lines_does_not_apply(base, tmp_path, form):
    (base / "f.txt").write_bytes(CRLF)
    patch = parse(form(b"--- a/f.txt\n+++ b/f.txt\n@@ -1,2 +1,2 @@\n one\n-too\n+2\n"))
    assert "does not apply" in built(base, patch, tmp_path / "work")


def test_nothing_is_read_through_a_link_of_the_tree(base, tmp_path):
    (tmp_path / "beside.txt").write_bytes(CRLF)
    (base / "f.txt").symlink_to(tmp_path / "beside.txt")
    patch = parse(b"--- a/f.txt\n+++ b/f.txt\n@@ -1,2 +1,2 @@\n one\n-two\n+2\n")
    assert built(base, patch, tmp_path / "work") != ""
    assert (tmp_path / "beside.txt").read_bytes() == CRLF


def test_tests_in_a_file_of_code_that_a_patch_does_not_make_are_left_out(base, tmp_path):
    (base / "a.rs").write_bytes(LF)
    inside = diff(LF, LF + b"test\n").replace(b"f.txt", b"b.rs")
    new = b"--- /dev/null\n+++ b/b.rs\n@@ -0,0 +1,8 @@\n" + LF.replace(b"\n", b"\n+").removesuffix(b"+").join(
        [b"+", b""]
    )
    beside = diff(LF, LF + b"test\n").replace(b"f.txt", b"a.rs")
    tests, work = parse(beside + inside, trusted=True), tmp_path / "work"
    assert built(base, Patch(files=()), work, tests=tests) == "error: b.rs: No such file or directory"
    assert built(base, Patch(files=()), work, tests=tests, inline=["b.rs"]) == ""
    assert (sorted(path.name for path in work.iterdir()), (work / "a.rs").read_bytes()) == (["a.rs"], LF + b"test\n")
    assert built(base, parse(new), work, tests=tests, inline=["b.rs"]) == ""
    assert (work / "b.rs").read_bytes() == LF + b"test\n"
