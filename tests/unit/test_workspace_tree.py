"""What changed in a tree, as a patch: told by the kernel's times, compared by git in a repository of ours."""

from __future__ import annotations

import pytest

from harness.core import process
from harness.core.errors import InfrastructureError
from harness.patches.patch import MAX_BYTES
from harness.sandbox.session import WorkspaceLostError
from harness.solve.workspace.tree import BaseTree, Entry, unpacked
from harness.solve.workspace.workspace import Checkout
from tests import tiny
from tests.workspace_checks import CHANGES, applied, base_tree, tree_of


@pytest.fixture(scope="module")
def base(tmp_path_factory):
    return base_tree(tmp_path_factory.mktemp("base"))


@pytest.fixture
def checkout(base, tmp_path):
    (tmp_path / "work").mkdir()
    return Checkout(base, tmp_path / "work")


def sh(checkout, script):
    process.run(["sh", "-c", script], cwd=checkout.folder)


@pytest.mark.parametrize("script", CHANGES.values(), ids=CHANGES)
def test_what_changed_comes_out_as_a_patch_that_git_applies(script, checkout, tmp_path):
    sh(checkout, script)
    patch = checkout.diff()
    assert patch
    found = {name: entry for name, entry in tree_of(checkout.folder).items() if not name.startswith(".git/")}
    assert applied(patch, tmp_path / "applied") == found


def test_nothing_that_changed_is_an_empty_patch(checkout):
    sh(checkout, "touch pyproject.toml; cp pyproject.toml x; mv x pyproject.toml")
    assert checkout.diff() == b""


def test_attributes_of_the_tree_change_nothing(tmp_path):
    files = {**tiny.FILES, ".gitattributes": "*.py -diff eol=crlf filter=x diff=x\n*.toml export-ignore binary\n"}
    (tmp_path / "work").mkdir()
    checkout = Checkout(base_tree(tmp_path, files), tmp_path / "work")
    assert (checkout.folder / tiny.CALC).read_bytes() == tiny.BUGGY.encode()
    sh(checkout, "sed -i 's/a - b/a + b/' src/calc/__init__.py; echo '* -diff' >> .gitattributes")
    assert b"-    return a - b\n+    return a + b\n" in checkout.diff()


def test_rules_of_the_base_commit_say_what_is_ignored(tmp_path):
    files = {**tiny.FILES, ".gitignore": "*.log\nbuild/\n", "src/.gitignore": "made.py\n", "kept.log": "tracked\n"}
    (tmp_path / "work").mkdir()
    checkout = Checkout(base_tree(tmp_path, files), tmp_path / "work")
    sh(
        checkout,
        "echo '*' > .gitignore; mkdir build; touch a.log build/x src/made.py src/kept.py ':(x.log'; echo 2 > kept.log",
    )
    changed = [line.split(b" b/")[1] for line in checkout.diff().split(b"\n") if line.startswith(b"diff --git")]
    assert changed == [b".gitignore", b"kept.log", b"src/kept.py"]


def test_what_tests_leave_behind_is_no_part_of_a_patch(checkout):
    sh(checkout, "mkdir -p a/__pycache__ .pytest_cache x.egg-info; touch a/__pycache__/b .pytest_cache/c x.egg-info/d")
    sh(checkout, "touch a.pyc .coverage b.orig kept.py")
    assert checkout.diff().count(b"diff --git") == 1


def test_a_repository_within_the_tree_gives_its_files_and_not_its_own_folder(checkout):
    sh(checkout, "mkdir -p sub/.GIT; echo 1 > sub/x; cd sub; git init -q; echo 1 > .GIT/y")
    assert checkout.diff().count(b"diff --git") == 1


def test_a_new_file_that_no_patch_may_hold_is_left_out_and_told(checkout):
    sh(checkout, f"echo 1 > small; head -c {MAX_BYTES + 1} /dev/zero > large; mkfifo pipe")
    assert checkout.diff().count(b"diff --git") == 1
    assert checkout.left_out == ("large", "pipe")


def test_products_of_the_build_that_made_the_image_are_no_part_of_a_patch(base):
    made = Entry(kind="f", mode=0o644, size=1, changed="1", inode=1)
    again = Entry(kind="f", mode=0o644, size=1, changed="2", inode=1)
    change = base.change({"src/version.py": made}, {"src/version.py": again, "src/mine.py": again})
    assert tuple(change.changed) == ("src/mine.py",)


def test_only_the_objects_of_one_commit_are_taken_from_an_image(tmp_path):
    base = base_tree(tmp_path)
    process.run(
        [
            "git",
            "-C",
            tmp_path / "image",
            "-c",
            "user.name=x",
            "-c",
            "user.email=x",
            "commit",
            "-q",
            "--allow-empty",
            "-m",
            "the fix to come",
        ]
    )
    files = {
        f".git/{path.relative_to(tmp_path / 'image/.git')}": path.read_bytes()
        for path in (tmp_path / "image/.git").rglob("*")
        if path.is_file()
    }
    (tmp_path / "again").mkdir()
    taken = BaseTree.from_image(
        tmp_path / "again", {**files, ".git/objects/info/alternates": b"/etc\n", ".git/config": b"[broken"}
    )
    assert taken.repository() == base.repository()


@pytest.mark.parametrize("head", [b"", b"ref: refs/heads/none\n", b"\xff", b"ref: ../../etc/passwd\n"])
def test_an_image_without_a_commit_is_told(head, tmp_path):
    with pytest.raises(InfrastructureError, match="no repository with a commit"):
        BaseTree.from_image(tmp_path, {".git/HEAD": head})


def test_links_within_the_tree_are_read_and_others_are_no_files(tmp_path):
    made = tmp_path / "image"
    made.mkdir()
    for name, target in {
        "a": tiny.CALC,
        "src/b": "../a",
        "out": "../../x",
        "top": "/etc/passwd",
        "loop": "loop",
    }.items():
        (made / name).parent.mkdir(exist_ok=True)
        (made / name).symlink_to(target)
    base = base_tree(tmp_path)
    assert base.read("src/b") == tiny.BUGGY.encode()
    assert [base.read(name) for name in ("out", "top", "loop", "no")] == [None] * 4
    assert base.paths == tuple(sorted(tiny.FILES))


@pytest.mark.parametrize("archive", [b"", b"\0" * 10240, b"x" * 10240])
def test_an_archive_that_does_not_hold_what_was_announced_is_the_workspace_s_own_loss(archive, base):
    change = base.change({}, {"new.py": Entry(kind="f", mode=0o644, size=1, changed="1", inode=1)})
    with pytest.raises(WorkspaceLostError):
        base.diff(change, unpacked(change, archive))


@pytest.mark.parametrize("listing", [b"f\t644\0", b"f\tx\t1\t1\t1\tpath\0"])
def test_a_listing_of_another_form_is_the_workspace_s_own_loss(listing):
    with pytest.raises(WorkspaceLostError):
        Entry.parse(listing)
