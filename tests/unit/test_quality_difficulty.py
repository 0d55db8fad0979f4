"""Sizes of a task, and the tier that the rule gives it."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.quality.difficulty import Measures, Tier, import_distance, measure, path_distance
from miner.languages.python.language import PYTHON
from tests.quality_parts import CODE, OLD, OLD_TESTS, TESTS, subject

FIXED = OLD.replace("sum(self.items)", "sum(item.price for item in self.items)")


def measures(**fields: object) -> Measures:
    known: dict[str, object] = {
        "files": 1, "hunks": 1, "lines": 2, "functions": 1, "new_functions": 0, "fail_to_pass": 1, "failing_tests": 1,
        "statement_words": 50, "import_distance": 1, "path_distance": 2,
    }  # fmt: skip
    return Measures(**{**known, **fields})  # type: ignore[arg-type]


def test_a_one_line_fix_is_measured():
    found = measure(subject({CODE: (OLD, FIXED)}, fail_to_pass=("tests/test_cart.py::test_more",)))

    assert (found.files, found.hunks, found.lines) == (1, 1, 2)
    assert (found.functions, found.new_functions) == (1, 0)
    assert (found.import_distance, found.path_distance) == (1, 3)
    assert found.tier is Tier.EASY


def test_rows_of_a_table_are_one_failing_test():
    ids = ("t.py::test_a[1]", "t.py::test_a[x [y]]", "t.py::test_b")
    found = measure(subject({CODE: (OLD, FIXED)}, fail_to_pass=ids))

    assert (found.fail_to_pass, found.failing_tests) == (3, 2)


def test_changed_and_new_functions_are_told_apart():
    after = FIXED.replace("return Cart([])", "return Cart(())") + "\n\ndef full():\n    def inner():\n        pass\n"
    found = measure(subject({CODE: (OLD, after)}))

    assert (found.functions, found.new_functions) == (2, 1)


def test_a_line_put_into_a_function_changes_it():
    after = OLD.replace("        return sum", "        self.check()\n        return sum")

    assert measure(subject({CODE: (OLD, after)})).functions == 1


def test_a_function_that_is_gone_is_touched():
    assert measure(subject({CODE: (OLD, OLD.partition("\n\ndef empty")[0] + "\n")})).functions == 1


def test_documentation_counts_nowhere():
    gold = {CODE: (OLD, FIXED), "docs/a.md": ("a\n", "b\nc\nd\ne\n")}

    assert measure(subject(gold, docs=frozenset({"docs/a.md"}))).lines == 2


def test_without_python_functions_are_unknown():
    found = measure(subject({"data/prices.json": ("1\n", "2\n")}))

    assert (found.functions, found.import_distance) == (None, None)
    assert found.tier is Tier.EASY


def test_a_new_file_is_measured_too():
    found = measure(subject({"src/shop/new.py": (None, "def a():\n    return 1\n")}))

    assert (found.lines, found.functions, found.new_functions) == (2, 0, 1)


@pytest.mark.parametrize(
    ("fields", "tier"),
    [
        ({}, "easy"),
        ({"lines": 6}, "easy"),
        ({"lines": 16}, "medium"),
        ({"lines": 16, "hunks": 6, "functions": 2}, "hard"),
        ({"lines": 101, "hunks": 11, "files": 2}, "brutal"),
        ({"lines": 6, "statement_words": 14}, "medium"),
    ],
)
def test_the_tier_follows_the_rule(fields, tier):
    assert measures(**fields).tier == tier


def test_every_bound_of_the_rule_stands_in_the_documentation():
    page = (Path(__file__).parents[2] / "docs" / "quality.md").read_text(encoding="utf-8").partition("## Difficulty")[2]
    said = {"lines": (5, 15, 40, 100), "hunks": (2, 5, 10), "files": (1, 3), "failing_tests": (3, 12)}
    for name, bounds in said.items():
        row = next(line for line in page.splitlines() if line.startswith(f"| `{name}`"))
        for points, bound in enumerate(bounds):
            assert str(bound) in row
            assert measures(**{name: bound}).points()[name] == points
            assert measures(**{name: bound + 1}).points()[name] == points + 1


FILES = {
    "src/shop/__init__.py": b"from .cart import Cart\nfrom shop import (\n    tax,  # taxes\n)\n",
    "src/shop/cart.py": b"from . import money\n",
    "src/shop/money.py": b"def f():\n    from ..shop.deep import x\n",
    "src/shop/tax.py": b"",
    "src/shop/deep.py": b"",
    "src/shop/alone.py": b"",
}


@pytest.mark.parametrize(
    ("source", "fixed", "steps"),
    [
        (b"import shop\n", "src/shop/__init__.py", 1),
        (b"import shop.cart as c, os\n", "src/shop/cart.py", 1),
        (b"from shop import cart\n", "src/shop/cart.py", 1),
        (b"import shop\n", "src/shop/tax.py", 2),
        (b"import shop\n", "src/shop/money.py", 3),
        (b"import shop\n", "src/shop/deep.py", 4),
        (b"import shop\n", "src/shop/alone.py", None),
        (b"import os\n", "src/shop/cart.py", None),
    ],
)
def test_imports_are_followed_step_by_step(source, fixed, steps):
    assert import_distance({"tests/test_a.py": source}, [fixed], FILES, reader=PYTHON.code, roots=("", "src")) == steps


def test_the_farthest_file_that_is_reached_counts():
    fixed = ["src/shop/cart.py", "src/shop/money.py", "src/shop/alone.py"]

    assert import_distance({"t.py": b"import shop.cart"}, fixed, FILES, reader=PYTHON.code, roots=("src",)) == 2


def test_a_ring_of_imports_ends():
    files = {"a.py": b"import b\n", "b.py": b"import a\n"}

    assert import_distance({"t.py": b"import a\n"}, ["c.py"], files, reader=PYTHON.code, roots=("",)) is None


def test_folders_are_counted_both_ways():
    assert path_distance("tests/unit/test_a.py", "src/a.py") == 3
    assert path_distance("pkg/test_a.py", "pkg/a.py") == 0


def test_the_public_part_says_that_a_rule_decided():
    found = measure(subject({CODE: (OLD, FIXED)}, {TESTS: (OLD_TESTS, OLD_TESTS + "x = 1\n")})).public()

    assert (found["tier"], found["by"]) == ("easy", "rule")
