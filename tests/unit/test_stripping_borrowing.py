"""Assertions that a test file imports, copied into it."""

from __future__ import annotations

import ast

import pytest

from miner.languages.python.stripping.borrowing import at_origin, borrow, by_name, rows
from miner.languages.python.stripping.source import StrippedSource

TOOLS = b'''
import textwrap
import unittest
import xml.dom.minidom
from collections import OrderedDict as Ordered

from shop import render
from .other import clean

LIMIT = 3


class Base(unittest.TestCase):
    def assert_renders(self, source, expected, **options):
        """Both are the same."""
        found = render(source, **Ordered(options))
        self.assertEqual(found[:LIMIT], expected)

    def dedent(self, text):
        """Without its margin."""
        return textwrap.dedent(text).strip()

    def assert_parsed(self, text):
        assert xml.dom.minidom.parseString(clean(assert_parsed(text)))

    def assert_alike(self, expected, found):
        if found != expected:
            self.fail(f"{found} is not {expected}")

    def setUp(self):
        super().setUp()
        self.assertTrue(LIMIT)

    @property
    def named(self):
        assert True

    def other(self):
        print("no assertion")


def assert_parsed(text):
    return text


def check(source, expected):
    for one in source:
        assert render(one, one.__class__.__name__) == expected


def check_each(source):
    assert render(source[0])
    check_each(source[1:])


def check_file():
    assert __file__


def wanted(text):
    """Without its margin."""
    return textwrap.dedent(text).strip()


def rendered(text):
    return render(text)


def show(source):
    print(source)


class Mixin:
    def test_it(self):
        assert render(self) == 1


class Plain:
    def run(self):
        return 1
'''


def tools(_level: int, name: str) -> bytes | None:
    return TOOLS if name == "tools" else None


def borrowed(text: str, *, is_test: bool = True) -> str:
    return borrow(text.encode(), tools if is_test else lambda _level, _name: None, tools).decode()


def parsed(text: str) -> list[str]:
    return [ast.unparse(node) for node in ast.parse(text).body]


def test_assertions_of_a_base_class_go_into_a_class_between():
    found = parsed(borrowed("from tools import Base\n\nclass TestA(Base):\n    pass\n"))
    assert found[0] == "from tools import Base"
    assert found[-1] == "class TestA(_goldseam_Base):\n    pass"
    between = found[-2]
    assert between.startswith("class _goldseam_Base(Base):")
    assert [line.strip() for line in between.splitlines() if "def " in line] == [
        "def assert_renders(self, source, expected, **options):",
        "def dedent(self, text):",
        "def assert_parsed(self, text):",
        "def assert_alike(self, expected, found):",
    ]
    assert sorted(found[1:-2]) == [
        "from collections import OrderedDict as _goldseam_Ordered",
        "from shop import render as _goldseam_render",
        "from tools import LIMIT as _goldseam_LIMIT",
        "from tools import assert_parsed as _goldseam_assert_parsed",
        "from tools import clean as _goldseam_clean",
        "import textwrap as _goldseam_textwrap",
        "import xml as _goldseam_xml",
    ]


def test_a_function_that_asserts_is_copied_with_what_it_uses():
    found = parsed(borrowed("from tools import check\n\ndef test_a():\n    check([1], 2)\n"))
    assert found[1] == "from shop import render as _goldseam_render"
    assert found[2].startswith("def check(source, expected):")
    assert "_goldseam_render(one, one.__class__.__name__) == expected" in found[2]
    assert "    check_each(source[1:])" in borrowed("from tools import check_each\ncheck_each([1, 2])\n")


@pytest.mark.parametrize(
    "text",
    [
        "from tools import check_file\ncheck_file()\n",
        "from tools import show\nshow(1)\n",
        "from tools import check as other\nother(1, 2)\n",
        "from tools import check\nf(check)\n",
        "from tools import check\ndef check(a, b): pass\ncheck(1, 2)\n",
        "from tools import Plain\nclass TestA(Plain): pass\n",
        "from elsewhere import Base\nclass TestA(Base): pass\n",
        "def f():\n    from tools import check\n    check(1, 2)\n",
        "def (",
        "",
    ],
)
def test_what_does_not_assert_or_would_do_otherwise_here_is_not_copied(text):
    assert borrowed(text) == text


def test_of_the_product_methods_of_test_cases_alone_are_copied():
    text = "from tools import Base, Mixin, check\n\nclass TestA(Base, Mixin):\n    pass\ncheck(1, 2)\n"
    assert "class _goldseam_Mixin(Mixin):" in borrowed(text)
    assert "def check(" in borrowed(text)
    found = borrowed(text, is_test=False)
    assert "class TestA(_goldseam_Base, Mixin):" in found
    assert "def check(" not in found


def test_a_function_that_only_returns_something_is_copied_and_what_it_makes_is_expected():
    found = borrowed(
        "from shop import f\nfrom tools import rendered, wanted\n"
        "def test_a():\n    assert f(1) == wanted(' a')\n    assert f(2) == rendered('b')\n"
    )
    source = StrippedSource(found.encode(), first=0, product=lambda module: module in ("shop", "tools"))
    left = source.stripped({slot.number: slot.assertion.modes[0] for slot in source.slots})
    assert "_goldseam_site(f(1))" in left
    assert "_goldseam_site(f(2), rendered('b'))" in left


def test_what_borrowed_assertions_expect_is_taken_out():
    text = """
from tools import Base, check

class TestA(Base):
    def test_a(self):
        self.assert_renders("a", self.dedent('''
            forty
            two
        '''))

def test_b():
    check(["b"], "forty three")
"""
    source = StrippedSource(borrowed(text).encode(), first=0, product=lambda name: name in ("shop", "tools"))
    stripped = source.stripped({slot.number: slot.assertion.modes[0] for slot in source.slots})
    assert "self.assert_renders('a', None)" in stripped
    assert "check(['b'], None)" in stripped
    assert "forty" not in stripped


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("import tools\nclass TestA(tools.Base): pass\n", ["from tools import Base", "class TestA(Base):\n    pass"]),
        ("from . import tools as t\nt.check(1, t.LIMIT)\n", ["from .tools import check", "check(1, t.LIMIT)"]),
        ("from lib import tools\nclass TestA(tools.Plain): pass\n", []),
        ("import tools\ntools.show(1)\n", []),
        ("import tools\ncheck = tools.check\ntools.check(1, 2)\n", []),
        ("import tools\ndef f(tools): tools.check(1, 2)\n", []),
        ("import unittest\nclass TestA(unittest.TestCase): pass\n", []),
        ("def (", []),
    ],
)
def test_what_a_module_has_that_is_imported_as_a_whole_is_imported_by_its_name(text, named):
    found = by_name(text.encode(), tools, tools).decode()
    assert found == text if not named else parsed(found)[1:] == named


def test_of_the_product_as_a_whole_test_cases_alone_are_named():
    text = "import tools\nclass TestA(tools.Base, tools.Mixin): pass\ntools.check(1, 2)\n"
    found = by_name(text.encode(), lambda _level, _name: None, tools).decode()
    assert parsed(found)[1:] == [
        "from tools import Base",
        "class TestA(Base, tools.Mixin):\n    pass",
        "tools.check(1, 2)",
    ]


@pytest.mark.parametrize("returned", ["self.name + text", "open(text).read()", "outer(text)", "self.dedent(text)"])
def test_a_method_that_returns_more_than_its_arguments_say_is_not_expected(returned):
    text = f"""
import shop
def outer(text): return text
class TestA:
    def dedent(self, text):
        return {returned}
    def test_a(self):
        assert shop.f(1) == self.dedent("forty")
"""
    source = StrippedSource(text.encode(), first=0, product=lambda name: name == "shop")
    assert "forty" in source.stripped({slot.number: slot.assertion.modes[0] for slot in source.slots})


DATA = b"""
from math import pi
LIMIT = f(2)
CASES = [(1, 'one'), (LIMIT, 'two'), (pi, 'three')]
NAMED = {'a': [1, 'x']}
GROWN = [1]
GROWN.append(2)
MADE = [x for x in range(3)]
COPY = [*CASES2]
CASES2 = [1]
"""


def data(_level: int, name: str) -> bytes | None:
    return DATA if name in ("data", "tests.data") else None


@pytest.mark.parametrize(
    "text",
    [
        "from data import CASES\n@pytest.mark.parametrize('a, b', CASES)\ndef test_a(a, b):\n    assert f(a) == b\n",
        "from data import CASES as C\ndef test_a():\n    for a, b in C:\n        assert f(a) == b\n",
        "import data\ndef test_a():\n    for n, (a, CASES) in enumerate(data.CASES):\n        assert f(a) == CASES\n",
        "from tests import data\ndef test_a():\n    for a, b in data.CASES:\n        assert f(a) == b\n",
        "import tests.data\ndef test_a():\n    for a, b in tests.data.CASES:\n        assert f(a) == b\n",
    ],
)
def test_rows_of_a_test_module_are_copied_and_what_they_expect_goes(text):
    found = rows(text.encode(), data)
    assert "_goldseam_CASES = [(1, 'one'), (_goldseam_LIMIT, 'two'), (_goldseam_pi, 'three')]" in found.decode()
    assert "import LIMIT as _goldseam_LIMIT" in found.decode()
    assert "from math import pi as _goldseam_pi" in found.decode()
    source = StrippedSource(found, first=0, product=lambda module: module not in ("math", "pytest"))
    left = source.stripped({slot.number: slot.assertion.modes[0] for slot in source.slots})
    assert "_goldseam_site(f(a))" in left
    assert "'one'" not in left


@pytest.mark.parametrize(
    "text",
    [
        "from data import GROWN\nfor a in GROWN: pass\n",
        "from data import MADE\nfor a in MADE: pass\n",
        "from data import COPY\nfor a in COPY: pass\n",
        "from data import LIMIT\nfor a in LIMIT: pass\n",
        "from data import OTHER\nfor a in OTHER: pass\n",
        "from data import CASES\nf(CASES)\n",
        "from data import CASES\nCASES = []\nfor a in CASES: pass\n",
        "from other import CASES\nfor a in CASES: pass\n",
        "import data\ndef f(data):\n    for a in data.CASES: pass\n",
        "def (",
    ],
)
def test_rows_that_are_not_written_out_elsewhere_stay_there(text):
    assert rows(text.encode(), data) == text.encode()


def test_rows_of_a_dictionary_of_a_test_module_are_copied():
    found = rows(b"from data import NAMED\nfor key, (a, b) in NAMED.items(): pass\n", data).decode()
    assert found.splitlines()[1:] == [
        "_goldseam_NAMED = {'a': [1, 'x']}",
        "for key, (a, b) in _goldseam_NAMED.items():",
        "    pass",
    ]


@pytest.mark.parametrize(
    ("text", "imported"),
    [
        ("from tools import skip\n", "from pytest import skip"),
        ("from tools import skip as leave\n", "from pytest import skip as leave"),
        ("from tools import dumps\n", "from json import dumps"),
        ("from shop.testing import eq_\n", "from sqlalchemy.testing.assertions import eq_"),
        ("from shop.testing import dumps\n", ""),  # what the product has of a library is its own
        ("from tools import either\n", ""),
    ],
)
def test_what_modules_only_hand_on_of_libraries_is_imported_from_there(text, imported):
    tools = b"from pytest import skip\nfrom json import dumps\nfrom shop import either\nfrom pytest import either\n"
    test_modules = {"tools": tools}
    modules = {
        **test_modules,
        "shop.testing": b"from .assertions import eq_\nfrom json import dumps\n",
        "shop.testing.assertions": b"from sqlalchemy.testing.assertions import eq_\n",
    }
    found = at_origin(
        text.encode(), lambda level, name: test_modules.get(name), lambda level, name: modules.get(name)
    ).decode()
    assert imported in found
    assert (found == text) is not bool(imported)
