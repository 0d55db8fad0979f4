"""base + gold + test_patch is byte for byte the head's tree, whatever the files hold."""

from __future__ import annotations

import pytest

from harness.core.process import run
from miner.candidates.recognise import recognise
from miner.candidates.scan import scan
from miner.candidates.split import kinds_of, split
from miner.sources.change import Candidate, Kind, Rejection, Split
from miner.sources.git import open_source
from miner.sources.history import ChangeFilter
from tests.repos import Repository, project


def head_split(repo: Repository) -> tuple[Split | Rejection, str, str]:
    """The split of HEAD, the tree that base + gold + test_patch gives, and HEAD's own tree."""
    cache = repo.path.parent / "cache"
    with open_source(str(repo.path), cache=cache) as copy:
        [looked] = scan(copy, ChangeFilter(commits=frozenset({copy.tip()})))
        assert isinstance(looked.outcome, Candidate), looked.outcome
        cut = split(copy, looked.outcome)
        if isinstance(cut, Rejection):
            return cut, "", ""
        env = {**copy.env, "GIT_INDEX_FILE": str(cache / "index")}
        git = ["git", f"--git-dir={copy.path}"]
        run([*git, "read-tree", looked.change.base_commit], env=env)
        for patch in (cut.gold_patch, cut.test_patch):
            run([*git, "apply", "--cached", "--whitespace=nowarn", "-"], env=env, input=patch)
        made = run([*git, "write-tree"], env=env).stdout.decode().strip()
        (cache / "index").unlink()
    return cut, made, repo.git("rev-parse", "HEAD^{tree}")


CONTENTS = {
    "text": (b"one\ntwo\n", b"one\n2\n"),
    "crlf": (b"one\r\ntwo\r\n", b"one\r\n2\r\n"),
    "mixed line ends": (b"one\r\ntwo\nthree\r", b"one\ntwo\r\nthree\r"),
    "latin-1": (b"caf\xe9\n", b"caf\xe8s\n"),
    "no final newline": (b"one", b"two"),
    "final newline lost": (b"one\n", b"one"),
    "final newline gained": (b"one", b"one\n"),
    "binary": (b"\x00\x01\xff\n" * 9, b"\x00\x02\xfe\n" * 7),
    "form feeds and separators": (b"a\x0cb\x1cc\x85d\xe2\x80\xa8e\n", b"a\x0cb\x1cc\x85d\xe2\x80\xa8f\n"),
    "a late NUL": (b"x" * 9000 + b"\n", b"x" * 9000 + b"\n\x00y\n"),
    "lines like diff headers": (b"a\n", b"diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n"),
    "removed lines like diff headers": (b"-- a/x\ndiff --git a/x b/x\n", b"++ b/x\n"),
    "emptied": (b"one\n", b""),
    "filled": (b"", b"one\n"),
    "trailing blanks": (b"one  \n\n\n", b"one\t\n \n\n"),
}


@pytest.mark.parametrize("side", ["src/data.bin", "tests/data.bin"])
@pytest.mark.parametrize("name", CONTENTS)
def test_bytes_are_kept(tmp_path, name, side):
    old, new = CONTENTS[name]
    repo = project(tmp_path / "app")
    repo.commit("Before", {side: old})
    repo.commit("Fix", {side: new, "src/app.py": "fixed = 1\n", "tests/test_app.py": "def test(): ...\n"})
    cut, made, head = head_split(repo)
    assert isinstance(cut, Split)
    assert made == head


@pytest.mark.parametrize(
    "path",
    ["src/x b/y.py", 'src/quo"ted.py', "src/tab\there.py", "src/naïve é.py", b"src/latin-\xe9.py", "src/line\nfeed.py",
     "src/back\\slash.py", "src/*.py", ":(top)src/x.py", "src/ leading.py", "src/trailing .py "],
)  # fmt: skip
def test_odd_paths_are_kept(tmp_path, path):
    repo = project(tmp_path / "app")
    repo.commit("Before", {path: "old\n"})
    repo.commit("Fix", {path: "new\n", "src/app.py": "fixed = 1\n", "tests/test_app.py": "def test(): ...\n"})
    cut, made, head = head_split(repo)
    assert isinstance(cut, Split)
    assert made == head


def test_modes_links_renames_and_type_changes_are_kept(tmp_path):
    repo = project(tmp_path / "app")
    repo.write("run.sh", "#!/bin/sh\n")
    repo.write("src/moved.py", "same\n" * 20)
    repo.write("becomes_link", "text\n")
    repo.write("folder/inner.py", "x = 1\n")
    repo.link("was_link", "run.sh")
    repo.commit("Before")
    repo.write("run.sh", "#!/bin/sh\n", executable=True)
    repo.git("mv", "src/moved.py", "src/renamed.py")
    repo.link("becomes_link", "run.sh")
    repo.write("was_link", None)
    repo.write("was_link", "now text\n")
    repo.write("folder/inner.py", None)
    (repo.path / "folder").rmdir()
    repo.write("folder", "now a file\n")
    repo.write("tests/test_app.py", "def test(): ...\n", executable=True)
    repo.write("src/app.py", "fixed = 1\n")
    repo.commit("Fix")
    cut, made, head = head_split(repo)
    assert isinstance(cut, Split)
    assert made == head


def test_attributes_of_the_repository_do_not_alter_the_patches(tmp_path):
    repo = project(tmp_path / "app")
    repo.commit("Before", {".gitattributes": "*.py -diff binary\n*.txt text eol=crlf\n", "src/n.txt": b"a\r\nb\n"})
    repo.commit(
        "Fix", {"src/n.txt": b"a\r\nc\n", "src/app.py": "fixed = 1\n", "tests/test_app.py": "def test(): ...\n"}
    )
    cut, made, head = head_split(repo)
    assert isinstance(cut, Split)
    assert b"+fixed = 1\n" in cut.gold_patch
    assert made == head


def test_each_side_gets_its_files_and_the_notes_say_where_the_rest_went(tmp_path):
    repo = project(tmp_path / "app")
    files = {
        "CHANGES.md": "- fixed\n",
        "pyproject.toml": "[project]\n",
        "src/app.py": "fixed = 1\n",
        "tests/conftest.py": "import pytest\n",
        "tests/data/input.json": "{}\n",
        "tests/test_app.py": "def test(): ...\n",
        "tox.ini": "[tox]\n",
    }
    repo.commit("Fix", files)
    cut, _, _ = head_split(repo)
    assert isinstance(cut, Split)
    gold = {"CHANGES.md", "pyproject.toml", "src/app.py"}
    for path in files:
        inside = f"diff --git a/{path} ".encode()
        assert (inside in cut.gold_patch) is (path in gold)
        assert (inside in cut.test_patch) is (path not in gold)
    assert cut.kinds["tests/data/input.json"] is Kind.SUPPORT
    assert cut.test_files == ("tests/test_app.py",)
    assert "runner configuration tox.ini goes with the test patch" in cut.notes
    assert "project file pyproject.toml stays in the gold patch" in cut.notes


@pytest.mark.parametrize(
    ("code", "given"),
    [
        ({"src/a.py": "1\n", "src/b.js": "1\n"}, ("tests/test_a.py",)),
        ({"src/b.js": "1\n", "src/c.ts": "1\n"}, ("tests/js/b.spec.js",)),
        ({"src/a.go": "package a\n"}, ("tests/js/b.spec.js", "tests/test_a.py")),
    ],
)
def test_a_runner_gets_the_tests_of_the_language_that_most_code_is_in(tmp_path, code, given):
    repo = project(tmp_path / "app")
    repo.commit("Before", {})
    repo.commit("Fix a", {**code, "tests/test_a.py": "def test_a(): 1\n", "tests/js/b.spec.js": "it('b')\n"})
    cut, made, wanted = head_split(repo)
    assert isinstance(cut, Split)
    assert (cut.test_files, made) == (given, wanted)


@pytest.mark.parametrize(("setting", "given"), [("python_files = *", ("tests/parts.py",)), ("", ())])
def test_what_pytests_own_settings_call_a_test_module_is_one_if_it_asserts_anything(tmp_path, setting, given):
    repo = project(tmp_path / "app")
    repo.commit("Before", {"pytest.ini": f"[pytest]\n{setting}\n"})
    tests = "class Parts_:\n    def adds(self):\n        assert 1\n"
    repo.commit("Fix a", {"src/a.py": "1\n", "tests/parts.py": tests, "tests/_util.py": "x = 1\n"})
    cut, _, _ = head_split(repo)
    assert isinstance(cut, Split)
    assert cut.test_files == given
    assert bool(cut.data) is not bool(given)


def test_deleted_tests_are_not_given_to_the_runner(tmp_path):
    repo = project(tmp_path / "app")
    repo.commit("Before", {"tests/test_old.py": "def test(): ...\n"})
    repo.write("tests/test_old.py", None)
    repo.commit("Fix", {"src/app.py": "fixed = 1\n", "tests/test_new.py": "def test(): ...\n"})
    cut, made, head = head_split(repo)
    assert isinstance(cut, Split)
    assert cut.test_files == ("tests/test_new.py",)
    assert made == head


RUST_BEFORE = """use std::fmt;

pub fn add(a: i32, b: i32) -> i32 {
    a - b // not a brace: }
}

const BRACE: char = '}';

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn adds_nothing() {
        assert_eq!(add(1, 0), 1, "a brace in a string: {{");
    }
}

pub fn unrelated() {}
"""
RUST_AFTER = (
    RUST_BEFORE.replace("a - b //", "a + b //")
    .replace("mod tests {\n", "mod tests {\n    use std::mem;\n")
    .replace(
        '{{");\n    }\n', '{{");\n    }\n\n    #[test]\n    fn adds() {\n        assert_eq!(add(1, 1), 2);\n    }\n'
    )
    .replace("pub fn unrelated() {}\n", "pub fn unrelated() {}\n\npub fn related() {}")
)


def test_a_rust_file_that_holds_its_tests_is_cut_by_the_line(tmp_path):
    repo = project(tmp_path / "app")
    repo.commit("Before", {"src/lib.rs": RUST_BEFORE})
    repo.commit("Fix add", {"src/lib.rs": RUST_AFTER})
    cut, made, head = head_split(repo)
    assert isinstance(cut, Split)
    assert made == head
    assert (cut.kinds, cut.test_files) == ({"src/lib.rs": Kind.MIXED}, ("src/lib.rs",))
    assert b"+    a + b" in cut.gold_patch
    assert b"+pub fn related() {}" in cut.gold_patch
    assert b"fn adds()" not in cut.gold_patch
    assert b"use std::mem" not in cut.gold_patch
    changed = [line for line in cut.test_patch.splitlines() if line[:1] in b"+-" and line[:3] not in (b"+++", b"---")]
    assert not [line for line in changed if b"a + b" in line or b"related" in line]


def test_a_new_rust_file_is_made_by_the_gold_patch_and_gets_its_tests_from_the_other(tmp_path):
    repo = project(tmp_path / "app")
    repo.commit("Fix add", {"src/lib.rs": RUST_AFTER})
    cut, made, head = head_split(repo)
    assert isinstance(cut, Split)
    assert made == head
    assert b"new file mode" in cut.gold_patch
    assert b"new file mode" not in cut.test_patch
    assert b"#[test]" not in cut.gold_patch


def test_the_tests_inside_a_rust_file_go_onto_other_code_beside_them(tmp_path):
    repo = project(tmp_path / "app")
    before = "fn one() -> u8 { 2 }\n#[cfg(test)]\nmod tests {\n    fn old() {}\n}\nfn two() {}\n"
    repo.commit("Before", {"src/lib.rs": before})
    added = "mod tests {\n    #[test]\n    fn new() {}\n"
    repo.commit("Fix one", {"src/lib.rs": before.replace("{ 2 }", "{ 1 }").replace("mod tests {\n", added)})
    cut, _, _ = head_split(repo)
    assert isinstance(cut, Split)
    other = before.replace("{ 2 }", "{ 3 - 2 }").replace("two() {}", "two() { one(); }")
    (repo.path / "src/lib.rs").write_text(other)
    repo.git("apply", "-", input=cut.test_patch)
    assert (repo.path / "src/lib.rs").read_text() == other.replace("mod tests {\n", added)


def test_a_rust_change_to_inline_tests_alone_has_no_code(tmp_path):
    repo = project(tmp_path / "app")
    repo.commit("Before", {"src/lib.rs": RUST_BEFORE})
    repo.commit("Fix the test", {"src/lib.rs": RUST_BEFORE.replace("add(1, 0)", "add(2, 0)")})
    cut, _, _ = head_split(repo)
    assert isinstance(cut, Rejection)
    assert cut.reason == "no_code"


@pytest.mark.parametrize(
    ("path", "added"),
    [
        ("src/app.py", "def test_add():\n    assert add(1, 1) == 2\n"),
        ("src/add.cpp", 'TEST_CASE("adds") { CHECK(add(1, 1) == 2); }\n'),
        ("src/add.ts", "if (import.meta.vitest) {}\n"),
        ("add.go", "func TestAdd(t *testing.T) {}\n"),
        ("src/Add.java", "    @Test\n    void adds() {}\n"),
        ("src/Add.kt", "    @Test\n    fun adds() {}\n"),
        ("lib/add.rb", "class AddCheck < Minitest::Test\nend\n"),
        ("src/Add.php", "final class AddCheck extends TestCase {}\n"),
        ("src/Add.cs", "    [Fact]\n    public void Adds() {}\n"),
    ],
)
def test_code_and_tests_in_one_file_are_mixed_where_no_cut_is_known(tmp_path, path, added):
    repo = project(tmp_path / "app")
    repo.commit("Before", {path: "\n"})
    repo.commit("Fix add", {path: f"\n{added}", "tests/test_app.py": "def test(): ...\n"})
    cut, _, _ = head_split(repo)
    assert isinstance(cut, Rejection)
    assert cut.reason == "mixed"


def test_a_huge_gold_patch_is_too_large(tmp_path):
    repo = project(tmp_path / "app")
    repo.commit("Fix", {"src/app.py": "x = 1\n" * 200_000, "tests/test_app.py": "def test(): ...\n"})
    cut, _, _ = head_split(repo)
    assert isinstance(cut, Rejection)
    assert cut.reason == "too_large"


# -- the scan over it


def test_a_second_change_with_the_same_patch_is_a_duplicate(tmp_path):
    repo = project(tmp_path / "app")
    start = {"src/app.py": "def add(a, b):\n    return a - b\n", "tests/test_app.py": None}
    fix = {"src/app.py": "fixed = 1\n", "tests/test_app.py": "def test(): ...\n"}
    older = repo.commit("Fix add", fix)
    repo.commit("Start over", start)
    newer = repo.commit("Fix add once more", fix)
    with open_source(str(repo.path), cache=tmp_path / "cache") as copy:
        found = {looked.change.merge_commit: looked.outcome for looked in scan(copy)}
    assert isinstance(found[newer], Candidate)
    assert isinstance(found[older], Rejection)
    assert found[older].reason == "duplicate"


def test_a_change_picked_by_name_need_not_look_like_a_fix(tmp_path):
    repo = project(tmp_path / "app")
    sha = repo.commit("Add colours", {"src/app.py": "red = 1\n", "tests/test_app.py": "def test(): ...\n"})
    with open_source(str(repo.path), cache=tmp_path / "cache") as copy:
        [looked] = [one for one in scan(copy) if one.change.merge_commit == sha]
        assert isinstance(looked.outcome, Rejection)
        [picked] = scan(copy, ChangeFilter(commits=frozenset({sha})))
        assert isinstance(picked.outcome, Candidate)
        files = copy.changed_files(looked.change.base_commit, sha)
        assert isinstance(recognise(looked.change, files, kinds_of(files), threshold=0), Candidate)
