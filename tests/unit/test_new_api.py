"""Which name a test file was in want of, and which names a fix brings."""

from __future__ import annotations

import pytest

from harness.languages.base import Raised, chain
from harness.languages.python.pytest import read
from miner.languages.python.language import PYTHON
from miner.languages.python.names import missing, missing_names
from miner.proof import names_of_fix, new_names
from miner.proof.new_api import losses
from miner.proof.notebook import ObservedRun
from tests import tiny


def raised(*links: tuple[str, str]) -> tuple[Raised, ...]:
    """A chain of exceptions, outermost first: class and message."""
    bases = {"ModuleNotFoundError": ("ImportError",), "ZipImportError": ("ImportError",)}
    return tuple(
        Raised(names=(kind, *bases.get(kind, ()), "Exception", "BaseException"), says=says) for kind, says in links
    )


@pytest.mark.parametrize(
    ("kind", "says", "name"),
    [
        ("ImportError", "cannot import name 'Basket' from 'shop' (/testbed/shop.py)", "Basket"),
        ("ImportError", "cannot import name 'Basket'", "Basket"),
        (
            "ImportError",
            "cannot import name 'Basket' from partially initialized module 'shop' (most likely a circular import)",
            "Basket",
        ),
        ("ImportError", "cannot import name Basket", "Basket"),
        ("ModuleNotFoundError", "No module named 'shop.more'", "module shop.more"),
        ("ModuleNotFoundError", "No module named 'shop.more'; 'shop' is not a package", "module shop.more"),
        ("AttributeError", "module 'shop' has no attribute 'LIMIT'", "LIMIT"),
        ("AttributeError", "type object 'Basket' has no attribute 'total'", "total"),
        ("AttributeError", "'Basket' object has no attribute 'total'. Did you mean: 'totals'?", "total"),
        ("AttributeError", "BLUE", "BLUE"),
        ("NameError", "name 'Basket' is not defined", "Basket"),
        ("TypeError", "price() got an unexpected keyword argument 'currency'", "currency"),
        ("TypeError", "Basket.__init__() got an unexpected keyword argument 'size'", "size"),
        ("FixtureLookupError", "fixture 'shopper' not found", "shopper"),
        ("Failed", "In test_x: indirect fixture 'shopper' doesn't exist", "shopper"),
        ("Failed", "In test_x: function uses no fixture 'shopper'", "shopper"),
        ("SyntaxError", "invalid syntax", ""),
        ("ImportError", "libfoo.so.1: cannot open shared object file: No such file or directory", ""),
        ("ImportError", "attempted relative import with no known parent package", ""),
        ("AttributeError", "can't set attribute", ""),
        ("TypeError", "price() missing 1 required positional argument: 'x'", ""),
        ("RuntimeError", "cannot import name 'Basket'", ""),
        ("KeyError", "'Basket'", ""),
        ("AssertionError", "name 'Basket' is not defined", ""),
        ("ModuleNotFoundError", "", ""),
    ],
)
def test_the_missing_name_is_told_by_the_exception(kind, says, name):
    assert missing(raised((kind, says))) == name


def test_what_came_out_of_the_file_counts_and_not_what_it_had_caught():
    inner = ("ModuleNotFoundError", "No module named 'fast_json'")
    assert missing(raised(("CollectError", "…"), ("ImportError", "cannot import name 'Basket'"), inner)) == "Basket"
    assert missing(raised(("ConftestImportFailure", "…"), ("RuntimeError", "no"), inner)) == ""
    assert missing(raised(("CollectError", "…"))) == missing(()) == ""


def test_a_message_goes_through_the_frames_to_the_missing_name():
    told = [{"names": ["CollectError"]}, {"names": ["ImportError"], "says": "cannot import name 'x' from 'y'"}]
    frames = [
        {"t": "collect_error", "id": "t.py", "text": "E", "raised": told},
        {"t": "collect_error", "id": "u.py", "text": "E", "raised": [{"names": ["ImportError"], "says": 5}]},
        {"t": "collected", "ids": ["v.py::a", "v.py::b"]},
    ]
    for test_id, says in (("v.py::a", "fixture 'f' not found"), ("v.py::b", "no")):
        link = {"names": ["FixtureLookupError", "LookupError"], "says": says}
        fields = {"outcome": "failed", "xfail": False, "seconds": 0.0, "text": "E", "raised": [link]}
        frames.append({"t": "report", "id": test_id, "when": "setup", **fields})
    assert chain(told)[1].says == "cannot import name 'x' from 'y'"
    assert missing_names(read(frames)) == {"t.py": "x", "u.py": "", "v.py::a": "f"}


OLD = "from .impl import one\n\n\nclass Basket:\n    def total(self):\n        return 0\n"
NEW = """\
import os.path
from .impl import one, two as second

LAZY = {"Lately": ".lately"}
LIMIT: int = 3


class Basket:
    size = 0

    def __init__(self, items=()):
        self.items = items

    def total(self):
        inside = 0
        return inside
"""


def names_of(*files: tuple[str, str | None, str | None]) -> frozenset[str]:
    before = {path: old.encode() for path, old, _ in files if old is not None}
    return names_of_fix("".join(tiny.diff(*file) for file in files).encode(), before.get, PYTHON.code)


def test_a_fix_brings_what_its_new_lines_bind_import_or_name_in_a_text():
    found = names_of(("shop/__init__.py", OLD, NEW))
    assert found >= {"LIMIT", "LAZY", "Lately", "second", "size", "items", "os"}
    assert not found & {"Basket", "total", "inside", "two"}


def test_a_name_on_a_line_that_stays_is_not_brought():
    assert "one" not in names_of(("shop/__init__.py", OLD, OLD + "\n\nMORE = 1\n"))


def test_a_fix_brings_the_modules_of_its_new_files_under_every_root():
    found = names_of(("src/shop/deep/more.py", None, "X = 1\n"), ("src/shop/new/__init__.py", None, "Y = 1\n"))
    assert found >= {"module shop.deep.more", "module shop.new", "module shop.deep", "module src.shop.new", "X"}
    assert "module shop.new.__init__" not in found


def test_a_file_that_was_there_is_no_new_module():
    assert not any(name.startswith("module ") for name in names_of(("shop/cart.py", "a = 1\n", "b = 1\n")))


@pytest.mark.parametrize("path", ["shop/_fast.pyx", "shop/_fast.c"])
def test_of_what_is_no_python_every_new_name_counts(path):
    assert names_of((path, "int old;\n", "int old;\nint new_name;\n")) >= {"new_name"}


def test_python_that_cannot_be_read_or_is_not_there_counts_by_its_new_lines():
    patch = tiny.diff("shop.py", "print 'a'\n", "print 'a'\nprint new_name\n").encode()
    assert "new_name" in names_of_fix(patch, {"shop.py": b"print 'a'\n"}.get, PYTHON.code)
    assert "new_name" in names_of_fix(patch, lambda _path: None, PYTHON.code)


def test_documents_bring_no_names():
    assert (
        names_of(("docs/a.md", "a\n", "a\nBasket\n"), ("shop.pyi", "a: int\n", "a: int\nBasket: int\n")) == frozenset()
    )


def before(**lost: str) -> ObservedRun:
    """A run in which these files were lost for want of these names; a dot is a slash in them."""
    files = {f"{path.replace('_', '/')}.py": name for path, name in lost.items()}
    return ObservedRun(state="before", number=0, statuses={}, collect_errors=dict.fromkeys(files, "E"), wanted=files)


def test_a_loss_is_for_a_name_only_where_the_fix_brings_it():
    found = losses([before(a="x", b="y", c="")], {"x"})
    assert (dict(found.new), found.other) == ({"a.py": {"x"}}, {"b.py", "c.py"})


def test_a_folder_holds_no_file_whose_name_begins_as_its_own():
    run = ObservedRun(state="before", number=0, statuses={}, collect_errors={"tests/a": "E"}, wanted={"tests/a": "x"})
    assert new_names(["tests/ab.py::t"], [run], {"x"}) == ()
    assert new_names(["tests/a/b.py::t"], [run], {"x"}) == ("x",)


def test_a_test_that_was_lost_for_another_reason_as_well_asks_for_no_new_name():
    lost = {"tests/a.py": "x", "tests": ""}
    run = ObservedRun(state="before", number=0, statuses={}, collect_errors=dict.fromkeys(lost, "E"), wanted=lost)
    assert new_names(["tests/a.py::t"], [run], {"x"}) == ()


def test_names_of_files_without_a_failing_test_are_not_listed():
    assert new_names(["a.py::t"], [before(a="x", b="y")], {"x", "y"}) == ("x",)
