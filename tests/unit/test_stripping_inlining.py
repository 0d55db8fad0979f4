"""Assertions that helpers of other test modules make, written out where these are called."""

from __future__ import annotations

import ast

import pytest

from miner.languages.python.stripping import inlining

COMMON = b'''
"""Helpers."""
import shop


def assert_equal(expected, result):
    """Both are the same."""
    print("Expected:\\n%r" % expected)
    for number, line in enumerate(sorted(result)):
        print(number, line)
    lines = len(result)
    assert expected == result, "not the same"


def assert_in(result, *, among=()):
    __tracebackhide__ = True
    assert result in among
    assert result is not None


def assert_price(cents):
    assert shop.price(cents) == 3


def assert_first(items):
    first = items.pop()
    assert first == 1


def assert_any(*items):
    assert items


def nothing(a):
    print(a)
'''


def written_out(body: str, imported: str = "from common import *") -> str:
    """The statements of a test with this body, after a file's helpers are written out."""
    text = f"{imported}\nfrom common import assert_in as is_in\n"
    text += "from common import assert_any, assert_equal, assert_first, assert_price, nothing\n"
    text += "def test_a(f, expected):\n" + "".join(f"    {line}\n" for line in body.splitlines())

    def source_of(_level: int, module: str) -> bytes | None:
        return COMMON if module == "common" else None

    found = ast.parse(inlining.write_out(text.encode(), source_of)).body[-1]
    assert isinstance(found, ast.FunctionDef)
    return "\n".join(map(ast.unparse, found.body))


@pytest.mark.parametrize(
    ("call", "assertions"),
    [
        ("assert_equal(3, f(1))", "assert 3 == f(1)"),
        ("assert_equal(result=f(1), expected=expected)", "assert expected == f(1)"),
        ("is_in(f, among=[1, f])", "assert f in [1, f]\nassert f is not None"),
        ("is_in(f)", "assert f in ()\nassert f is not None"),
        ("if f:\n    assert_equal(1, f)", "if f:\n    assert 1 == f"),
    ],
)
def test_a_helper_that_asserts_of_its_parameters_alone_is_written_out(call, assertions):
    assert written_out(call) == assertions


@pytest.mark.parametrize(
    "call",
    [
        "is_in(f(1), among=[2])",  # it would be asked for twice
        "assert_equal(*f)",
        "assert_equal(**f)",
        "assert_equal(1)",
        "assert_equal(1, 2, 3)",
        "assert_equal(1, 2, more=3)",
        "is_in(f, [1])",
        "assert_price(f)",  # what it asks is another module's
        "assert_first(f)",
        "assert_any(f)",
        "nothing(f)",
        "f(assert_equal)",
        "a = assert_equal(1, f)",
    ],
)
def test_any_other_call_stays(call):
    assert written_out(call) == call


@pytest.mark.parametrize(
    "bound",
    ["def assert_equal(a, b): pass", "assert_equal = print", "class assert_equal: pass", "lambda assert_equal: 1"],
)
def test_a_name_that_the_file_binds_itself_is_no_helper(bound):
    assert written_out("assert_equal(1, f)", imported=bound) == "assert_equal(1, f)"


@pytest.mark.parametrize("source", [b"def (", b"\0", b"", b"from common import other\nother(1)\n"])
def test_a_file_without_such_calls_stays_as_it_is(source):
    assert inlining.write_out(source, lambda _level, _module: COMMON) == source


def test_helpers_that_cant_be_read_are_none():
    source = b"from common import assert_equal\nassert_equal(1, 2)  # stays\n"
    assert inlining.write_out(source, lambda _level, _module: b"def (") == source


@pytest.mark.parametrize(
    ("level", "module", "found"),
    [
        (0, "common", ["tests/a/common.py", "tests/a/common/__init__.py", "tests/common.py", "tests/common/__init__.py",
                       "common.py", "common/__init__.py"]),
        (1, "common", ["tests/a/common.py", "tests/a/common/__init__.py"]),
        (1, "", ["tests/a/__init__.py"]),
        (2, "b.c", ["tests/b/c.py", "tests/b/c/__init__.py"]),
        (9, "b", []),
    ],
)  # fmt: skip
def test_a_module_is_looked_for_where_python_would(level, module, found):
    assert list(inlining.places("tests/a/test_a.py", level, module)) == found
