"""Tasks to measure, from their files before and after."""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness.quality.base import BaseTree, Subject
from miner.languages.python.language import PYTHON
from tests import tiny

if TYPE_CHECKING:
    from collections.abc import Mapping

    from harness.quality.base import Reader

CODE = "src/shop/cart.py"
TESTS = "tests/test_cart.py"
OLD = """\
class Cart:
    def __init__(self, items):
        self.items = items

    def total(self):
        return sum(self.items)


def empty():
    return Cart([])
"""
OLD_TESTS = """\
from shop.cart import Cart


def test_total():
    assert Cart([1]).total() == 1
"""


def subject(
    gold: Mapping[str, tuple[str | None, str | None]],
    tests: Mapping[str, tuple[str | None, str | None]] | None = None,
    *,
    statement: str = "The total of a cart is wrong.",
    tree: Mapping[str, str] | None = None,
    reader: Reader = PYTHON.code,
    **fields: object,
) -> Subject:
    """A task over a small tree, from its files before and after."""
    tests = {TESTS: (OLD_TESTS, OLD_TESTS + "\n\ndef test_more():\n    assert True\n")} if tests is None else tests
    before = {path: old for side in (gold, tests) for path, (old, _) in side.items() if old is not None}
    files = {"src/shop/__init__.py": "", CODE: OLD, TESTS: OLD_TESTS, **before, **(tree or {})}
    return Subject(
        gold_patch="".join(tiny.diff(path, *sides) for path, sides in gold.items()).encode(),
        test_patch="".join(tiny.diff(path, *sides) for path, sides in tests.items()).encode(),
        statement=statement,
        base=BaseTree(files={path: text.encode() for path, text in files.items()}, reader=reader),
        **{"repo": "acme/shop", "number": 12, **fields},  # type: ignore[arg-type]
    )
