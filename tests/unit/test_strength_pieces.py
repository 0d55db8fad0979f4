"""A fix in pieces: what is put together from some of them is what git makes of the patch."""

from __future__ import annotations

import pytest

from harness.core import process
from harness.patches.patch import PatchError
from miner.languages.python.language import PYTHON
from miner.quality.strength.mutants import subsets
from miner.quality.strength.pieces import paths_to_read, take_apart
from tests import tiny

FILLER = "".join(f"# line {number}\n" for number in range(12))
OLD = f"def one():\n    return 0\n{FILLER}def two():\n    return 0\n{FILLER}def three():\n    return 0\n"
NEW = OLD.replace("one():\n    return 0", "one():\n    a = 1\n    return a").replace(
    "two():\n    return 0", "two():\n    return 2"
)
NEW = NEW.replace("three():\n    return 0", "three():\n    return 3")


def fix_of(files, code=PYTHON.code):
    """The fix that leads from the first text of each file to the second; as `diff` of git writes it."""
    data = "".join(tiny.diff(path, *sides) for path, sides in files.items()).encode()
    base = {path: old.encode() for path, (old, _) in files.items() if old is not None}
    return take_apart(data, base, code)


def applied(folder, files, patch: bytes) -> dict[str, str]:
    """The files after `git apply`."""
    for path, (old, _) in files.items():
        if old is not None:
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_bytes(old.encode())
    process.run(["git", "-C", folder, "init", "-q"])
    if patch:
        process.run(["git", "-C", folder, "apply", "-"], input=patch)
    return {path: (folder / path).read_text() if (folder / path).exists() else "" for path in files}


FILES = {"a.py": (OLD, NEW), "new.py": (None, "x = 1\n")}


@pytest.mark.parametrize("left_out", range(4))
def test_a_fix_without_one_piece_applies_and_lacks_that_piece_alone(tmp_path, left_out):
    fix = fix_of(FILES)
    kept = [piece for number, piece in enumerate(fix.pieces) if number != left_out]

    found = applied(tmp_path, FILES, fix.written(kept))

    marks = ("return a\n", "return 2\n", "return 3\n", "x = 1\n")
    whole = "".join(found.values())
    assert [mark in whole for mark in marks] == [number != left_out for number in range(4)]


def test_what_a_part_comes_to_is_what_git_makes_of_it(tmp_path):
    fix = fix_of(FILES)

    found = applied(tmp_path, FILES, fix.written([(0, 0), (0, 2)]))

    assert found["a.py"] == fix.sections[0].content([0, 2]).decode()


def test_a_hunk_is_told_its_new_place_where_one_before_it_is_left_out():
    fix = fix_of(FILES)

    assert b"@@ -27,4 +28,4 @@" in fix.written(fix.pieces)
    assert b"@@ -27,4 +27,4 @@" in fix.written([(0, 2)])


def test_a_last_line_without_an_end_stays_one(tmp_path):
    files = {"a.txt": (f"one\n{FILLER}two", f"ONE\n{FILLER}TWO")}
    fix = fix_of(files)

    assert applied(tmp_path, files, fix.written([(0, 1)]))["a.txt"] == f"one\n{FILLER}TWO"


def test_a_file_whose_base_is_not_known_is_one_piece():
    data = tiny.diff("a.py", OLD, NEW).encode()

    assert take_apart(data, {}, PYTHON.code).pieces == ((0, 0),)
    assert take_apart(data, {"a.py": b"something else\n"}, PYTHON.code).pieces == ((0, 0),)


def test_the_files_to_read_are_those_that_were_there():
    data = (tiny.diff("a.py", OLD, NEW) + tiny.diff("new.py", None, "x = 1\n")).encode()

    assert paths_to_read(data) == ("a.py",)


def test_what_is_no_patch_is_said():
    with pytest.raises(PatchError):
        take_apart(b"\xff\xfe nothing", {}, PYTHON.code)


def test_every_proper_part_of_three_pieces_is_tried():
    found = subsets(fix_of({"a.py": (OLD, NEW)}), most=8, seed="s")

    assert len(found) == 6
    assert len({one.patch for one in found}) == 6


def test_no_part_is_the_whole_fix_or_nothing():
    fix = fix_of({"a.py": (OLD, NEW)})

    patches = {one.patch for one in subsets(fix, most=8, seed="s")}

    assert not patches & {b"", fix.written(fix.pieces)}


def test_of_many_pieces_no_more_than_the_bound_are_tried_and_the_same_ones_each_time():
    texts = [(f"def f{n}():\n    return 0\n{FILLER}", f"def f{n}():\n    return {n + 1}\n{FILLER}") for n in range(9)]
    files = {"a.py": ("".join(old for old, _ in texts), "".join(new for _, new in texts))}

    first, again = (subsets(fix_of(files), most=8, seed="s") for _ in range(2))

    assert len(first) == 8
    assert first == again
    assert first != subsets(fix_of(files), most=8, seed="another")
    assert sum(one.description.startswith("without 1 of 9") for one in first) == 5


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("# before\n", "# after\n"),
        ('"""Before."""\n', '"""After."""\n'),
        ("def g(x):\n    pass\n", "def g(x: int) -> None:\n    pass\n"),
        ("import os\n", "import sys\n"),
        ("", "if TYPE_CHECKING:\n    import sys\n"),
    ],
)
def test_a_piece_that_changes_nothing_that_runs_is_in_every_part(old, new):
    files = {"a.py": (old + FILLER + OLD, new + FILLER + NEW)}
    fix = fix_of(files)

    found = subsets(fix, most=8, seed="s")

    assert len(fix.pieces) == 4
    assert len(found) == 6
    assert all(new.encode().split(b"\n")[0] in one.patch for one in found)


def test_documentation_is_no_piece_of_its_own():
    files = {"a.py": (OLD, NEW.replace("return 3", "return 0")), "CHANGES.rst": ("Old\n", "New\n")}

    assert len(subsets(fix_of(files), most=8, seed="s")) == 2


def test_a_part_that_is_no_python_any_more_is_none():
    old = f"x = 1\n{FILLER}y = 2\n"
    files = {"a.py": (old, f"x = (\n    1\n{FILLER})\ny = 2\n")}

    assert subsets(fix_of(files), most=8, seed="s") == ()


def test_an_import_that_a_package_hands_on_is_a_piece():
    files = {"p/__init__.py": (f"x = 1\n{FILLER}y = 2\n", f"from p.a import z\nx = 1\n{FILLER}y = 3\n")}

    assert len(subsets(fix_of(files), most=8, seed="s")) == 2
