"""Mutants of the lines that a fix brings: real patches, nothing but those lines, and nothing that no test would see."""

from __future__ import annotations

import ast
from collections import Counter

import pytest

from miner.quality.strength.mutants import LINE_MOST, mutants
from tests.unit.test_strength_pieces import applied, fix_of

OLD = "import logging\n\n\ndef clamp(value, low, high):\n    return value\n\n\ndef other(x):\n    return x + 1\n"
NEW = OLD.replace("    return value\n", "    if value < low:\n        return low + 0\n    return min(value, high)\n")


def made(old: str | None, new: str, *, most: int = 50, path: str = "a.py"):
    return mutants(fix_of({path: (old, new)}), most=most, seed="s")


def body(line: str) -> tuple[str, str]:
    """A function before and after a line was put in."""
    return "def f(x):\n    pass\n", f"def f(x):\n    {line}\n    pass\n"


def test_a_mutant_is_a_patch_that_applies_and_differs_from_the_fix_on_the_lines_it_names(tmp_path):
    files = {"a.py": (OLD, NEW)}
    for number, one in enumerate(made(OLD, NEW)):
        folder = tmp_path / str(number)
        folder.mkdir()
        found = applied(folder, files, one.patch)["a.py"]
        was, now = NEW.splitlines(), found.splitlines()
        different = [line for line, (left, right) in enumerate(zip(was, now, strict=True), start=1) if left != right]
        assert different == [one.line]
        assert now[one.line - 1] == one.after.rstrip("\n")
        ast.parse(found)


def test_only_lines_that_the_fix_changed_are_mutated():
    assert {one.line for one in made(OLD, NEW)} == {5, 6, 7}


def test_comparisons_arguments_and_numbers_are_mutated():
    assert {one.operator for one in made(OLD, NEW)} >= {"swap_op", "arg_removal", "number"}


def test_no_line_has_more_mutants_than_the_bound():
    assert max(Counter(one.line for one in made(OLD, NEW)).values()) == LINE_MOST


def test_the_same_seed_gives_the_same_mutants_and_no_two_alike():
    first = made(OLD, NEW, most=4)

    assert first == made(OLD, NEW, most=4)
    assert len({one.patch for one in first}) == 4


def test_mutants_are_spread_over_functions():
    lines = "".join(f"    x = x + {number}\n" for number in range(10))
    old = "def f(x):\n    return x\n\n\ndef g(x):\n    return x\n"
    new = f"def f(x):\n{lines}    return x\n\n\ndef g(x):\n    return x + 1\n"

    found = made(old, new, most=4)

    assert sum(" in g," in one.description for one in found) == 2


@pytest.mark.parametrize(
    "line",
    [
        '"""Words."""',
        "import os.path as path",
        "raise ValueError('x' + 'y')",
        "assert x > 1, 'words'",
        "logger.debug('found %s', x + 1)",
        "warnings.warn('old', stacklevel=2)",
        "y: dict[str, int]",
    ],
)
def test_what_is_told_to_people_or_to_type_checkers_is_left_alone(line):
    assert made(*body(line)) == ()


def test_names_of_the_module_are_left_alone():
    assert made("x = 1\n", "x = 1\n__version__ = '2.0'\n__all__ = ['x']\n") == ()


def test_another_name_of_the_same_encoding_is_no_mutant():
    found = made(*body("x.decode('utf-8')"))

    assert not any("UTF-8" in one.after for one in found)
    assert any("XX" in one.after for one in found)


def test_a_mutant_that_is_the_code_before_the_fix_is_none():
    found = made("def f(a, b):\n    return a - b\n", "def f(a, b):\n    return a + b\n")

    assert found == ()


def test_a_new_file_is_mutated(tmp_path):
    found = made(None, "def f(x):\n    return x + 1\n")

    assert found
    assert applied(tmp_path, {"a.py": (None, "")}, found[0].patch)["a.py"] != "def f(x):\n    return x + 1\n"


def test_text_that_is_not_ascii_and_lines_of_windows_stay_as_they_are(tmp_path):
    old = "# größer\r\ndef f(x):\r\n    return x\r\n"
    new = "# größer\r\ndef f(x):\r\n    return x + 1\r\n"

    found = made(old, new)

    assert found
    (tmp_path / "a.py").write_bytes(old.encode())
    assert all("größer".encode() in one.patch and b"\r\n" in one.patch for one in found)


@pytest.mark.parametrize("new", ["def f(:\n", "print 'two'\n"])
def test_what_is_no_python_has_no_mutants(new):
    assert made("x = 1\n", "x = 1\n" + new) == ()


def test_other_files_have_no_mutants():
    assert made("x = 1\n", "x = 2\n", path="a.js") == ()
    assert made("x = 1\n", "x = 2\n", path="docs/conf.py") == ()


def test_the_changed_lines_are_those_of_the_fixed_file():
    assert fix_of({"a.py": (OLD, NEW)}).changed_lines() == {"a.py": (5, 6, 7)}


def test_a_file_of_a_survivor_says_what_was_done_before_the_patch(tmp_path):
    one = made(OLD, NEW)[0]

    name, data = one.as_file(3)

    assert name == "survivor-03-mutant.patch"
    assert data.startswith(b"# goldseam survivor 3, mutant: ")
    assert applied(tmp_path, {"a.py": (OLD, NEW)}, data)["a.py"] not in (OLD, NEW)
