"""A row found in a real history: its base commit, and a commit with both of its patches."""

from __future__ import annotations

import pytest

from harness.core.process import run
from miner.importing.place import PlacedRow, place
from miner.importing.rows import Row
from miner.sources.bare import MissingObjectsError
from miner.sources.change import Kind, Rejection
from miner.sources.git import open_source
from tests.repos import Repository

FAULTY, FIXED = "def add(a, b):\n    return a - b\n", "def add(a, b):\n    return a + b\n"
OLD_TESTS, NEW_TESTS = "def test_old():\n    pass\n", "def test_old():\n    pass\n\n\ndef test_new():\n    pass\n"


@pytest.fixture
def history(tmp_path):
    repo = Repository(tmp_path / "repo")
    base = repo.commit("Start", {"app.py": FAULTY, "tests/test_app.py": OLD_TESTS, "tests/test_far.py": OLD_TESTS})
    head = repo.commit("Fix", {"app.py": FIXED, "tests/test_app.py": NEW_TESTS, "tests/data.txt": "1\n"})
    return repo, base, head


@pytest.fixture
def copy(history, tmp_path):
    with open_source(str(history[0].path), cache=tmp_path / "cache", name="acme/app") as opened:
        yield opened


def row(history, **changes) -> Row:
    repo, base, head = history

    def diff(*paths: str) -> bytes:
        return run(["git", "-C", repo.path, "diff", base, head, "--", *paths]).stdout

    given = {
        "line": 1,
        "digest": "d" * 64,
        "instance_id": "anything-7",
        "repo": "acme/app",
        "base_commit": base,
        "patch": diff("app.py"),
        "test_patch": diff("tests"),
        "fail_to_pass": ("tests/test_app.py::test_new",),
        "pass_to_pass": ("tests/test_far.py::test_old", "tests/gone.py::test_x", "[100%]"),
        "problem_statement": "It is broken.\nReally.",
    }
    return Row(**{**given, **changes})


def test_a_row_is_placed_on_its_base_with_a_commit_that_has_both_patches(history, copy):
    placed = place(copy, row(history))
    assert isinstance(placed, PlacedRow)
    change = placed.draft.candidate.change
    assert (change.base_commit, change.instance_id, change.title) == (history[1], "anything-7", "It is broken.")
    assert copy.tree(change.head_commit) == copy.tree(history[2])


def test_the_commit_with_both_patches_is_the_same_every_time(history, copy):
    first, again = (place(copy, row(history)).draft.candidate.change.head_commit for _ in range(2))
    assert first == again


def test_the_runner_is_given_the_touched_test_modules_and_the_files_that_the_lists_name(history, copy):
    parts = place(copy, row(history)).draft.split
    assert parts.test_files == ("tests/test_app.py", "tests/test_far.py")
    assert parts.kinds == {"app.py": Kind.GOLD, "tests/test_app.py": Kind.TEST, "tests/data.txt": Kind.SUPPORT}


def test_of_a_test_patch_of_data_alone_the_tests_that_name_it_are_given_to_the_runner(tmp_path):
    repo = Repository(tmp_path / "repo")
    reading = 'for (const file of fs.readdirSync(path.join(__dirname, "fixtures/flows/"))) it(file, () => {});\n'
    old = {"lib/flow.js": "1;\n", "tests/flow.js": reading, "tests/other.js": 'it("is other", () => {});\n'}
    base = repo.commit("Start", old)
    head = repo.commit("Fix", {"lib/flow.js": "2;\n", "tests/fixtures/flows/and.js": "a && b;\n"})

    def diff(*paths: str) -> bytes:
        return run(["git", "-C", repo.path, "diff", base, head, "--", *paths]).stdout

    titles = {"fail_to_pass": ("flows and.js:",), "pass_to_pass": ()}
    of_data = row((repo, base, head), patch=diff("lib"), test_patch=diff("tests"), **titles)
    with open_source(str(repo.path), cache=tmp_path / "cache", name="acme/app") as opened:
        parts = place(opened, of_data).draft.split
        both = {"tests/other.js": 'it("is new", () => {});\n', "tests/fixtures/flows/or.js": "a || b;\n"}
        base, head = head, repo.commit("Fix more", {"lib/flow.js": "3;\n", **both})
        of_both = row((repo, base, head), patch=diff("lib"), test_patch=diff("tests"), **titles)
        beside = place(opened, of_both)
    assert (parts.test_files, parts.data) == (("tests/flow.js",), ("tests/fixtures/flows/and.js",))
    assert beside.draft.split.test_files == ("tests/flow.js", "tests/other.js")


def test_without_a_date_a_row_has_that_of_its_base(history, copy):
    assert place(copy, row(history)).draft.candidate.change.created_at.startswith("2024-01-01T")


def test_a_base_that_the_source_does_not_have_is_the_reason(history, copy):
    found = place(copy, row(history, base_commit="1" * 40))
    assert isinstance(found, Rejection)
    assert found.reason == "base_not_in_source"


@pytest.mark.parametrize(("field", "reason"), [("patch", "gold_does_not_apply"), ("test_patch", "tests_do_not_apply")])
def test_a_patch_that_does_not_apply_is_the_reason(history, copy, field, reason):
    good = row(history)
    bad = getattr(good, field).replace(b"return a - b", b"return a * b").replace(b"def test_old", b"def test_odd")
    placed = place(copy, row(history, **{field: bad}))
    assert placed.refused.reason == reason
    assert placed.draft.instance_id == "anything-7"


def test_patches_of_one_file_are_refused(history, copy):
    placed = place(copy, row(history, test_patch=row(history).patch))
    assert placed.refused.reason == "patches_overlap"


def test_a_tree_with_a_file_that_is_not_there_names_it(history, copy):
    blob = history[0].git("rev-parse", f"{history[1]}:app.py")
    run(["git", f"--git-dir={copy.path}", "unpack-objects", "-q"], input=_packs(copy), env=copy.env)
    (copy.path / "objects" / blob[:2] / blob[2:]).unlink()
    with pytest.raises(MissingObjectsError, match=r"such as app\.py"):
        copy.archive_bytes(history[1])


def _packs(copy) -> bytes:
    """The copy's only pack, taken out of it: what is in it can be unpacked then."""
    (pack,) = (copy.path / "objects" / "pack").glob("*.pack")
    data = pack.read_bytes()
    for file in pack.parent.iterdir():
        file.unlink()
    return data
