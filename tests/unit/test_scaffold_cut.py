"""A test file cut down to some of its tests."""

from __future__ import annotations

import pytest

from harness.languages.base import CannotCutError
from harness.languages.python.cut import cut

BEFORE = '''\
"""Tests of calc."""
import calc


def test_zero():
    assert calc.add(0, 0) == 0


class TestSum:
    BIG = 10

    def test_big(self):
        assert calc.add(self.BIG, 0) == 10
'''
AFTER = '''\
"""Tests of calc."""
import json
import os, sys
from calc import more, secret
import calc
import pytest

ROWS = [(1, 2), (2, 4)]
SECRET_ROWS = [(7, 8)]


@pytest.fixture
def double():
    return helper(2)


def helper(n):
    return n * sys.maxsize // sys.maxsize


def hidden_helper():
    return json.dumps(SECRET_ROWS)


def test_zero():
    assert calc.add(0, 0) == 0


@pytest.mark.parametrize(("one", "two"), ROWS)
def test_rows(one, two, double):
    assert more(one) * double == two * 2


def test_hidden():
    assert hidden_helper() == secret()


class TestSum:
    BIG = 11

    def make(self):
        return self.BIG

    def test_big(self):
        assert calc.add(self.make(), 1) == 12

    def test_other(self):
        assert calc.add(1, 1) == 2
'''


def test_a_kept_test_brings_what_it_needs_and_nothing_that_only_others_need():
    found = cut(BEFORE, AFTER, [("test_rows",)])
    for word in ("def test_rows", "ROWS = [(1", "def double", "def helper", "import pytest", "from calc import more"):
        assert word in found
    for word in ("hidden", "secret", "SECRET", "json", "import os", "test_other", "BIG = 11"):
        assert word not in found


def test_what_was_there_before_stays_as_it_was():
    found = cut(BEFORE, AFTER, [("test_rows",)])
    assert "BIG = 10" in found
    assert found.count("def test_zero") == 1
    assert found.count("import calc\n") == 1


def test_a_changed_method_takes_the_place_of_the_old_one_and_brings_its_members():
    found = cut(BEFORE, AFTER, [("TestSum", "test_big")])
    assert "BIG = 11" in found
    assert "BIG = 10" not in found
    assert "def make" in found
    assert "test_other" not in found
    assert "test_rows" not in found


def test_a_new_method_goes_into_the_class_that_was_there():
    found = cut(BEFORE, AFTER, [("TestSum", "test_other")])
    compile(found, "t", "exec")
    assert "def test_other" in found.partition("class TestSum")[2]
    assert "calc.add(self.BIG, 0) == 10" in found


def test_of_a_new_file_only_what_is_needed_is_there():
    found = cut(None, AFTER, [("test_rows",)])
    assert "def test_rows" in found
    assert not any(word in found for word in ("test_zero", "TestSum", "secret", "json"))


def test_of_a_new_class_only_the_kept_test_is_there():
    found = cut("import calc\n", AFTER, [("TestSum", "test_other")])
    assert "def test_other" in found
    assert "def test_big" not in found


def test_fixtures_that_every_test_has_come_along():
    after = AFTER + "\n\n@pytest.fixture(autouse=True)\ndef quiet():\n    yield\n"
    assert "def quiet" in cut(BEFORE, after, [("test_rows",)])


@pytest.mark.parametrize(
    ("after", "keep"),
    [
        ("def test_a(:\n", ("test_a",)),
        ("def test_a(): pass\n", ("test_b",)),
        ("test_a = lambda: None\n", ("test_a",)),
        ("x = 1; y = 2\ndef test_a():\n    assert x\n", ("test_a",)),
        ("class A:\n    class TestB:\n        def test_a(self): pass\n", ("A", "TestB", "test_a")),
        ("class TestA:\n    def test_b(self): pass\n\n\ndef test_a():\n    TestA().test_b()\n", ("test_a",)),
        ("def test_a():\r\n    pass\r\n", ("test_a",)),
    ],
)
def test_a_test_that_cannot_be_told_from_the_rest_is_not_cut(after, keep):
    with pytest.raises(CannotCutError):
        cut("", after, [keep])


def test_why_a_test_is_not_cut_names_nothing_hidden():
    with pytest.raises(CannotCutError) as caught:
        cut("", "class TestA:\n    def test_b(self): pass\n\n\ndef test_a():\n    TestA()\n", [("test_a",)])
    assert "TestA" not in str(caught.value)


def test_a_name_that_the_file_imported_before_is_not_imported_again():
    before = "from calc import add\n"
    after = "from calc import add, more, secret\n\n\ndef test_a():\n    assert add(1, 1) == more(1)\n"
    found = cut(before, after, [("test_a",)])
    assert "from calc import more\n" in found
    assert found.count("import add") == 1
    assert "secret" not in found
