"""Which names of a product a fix leaves as they were."""

from __future__ import annotations

import textwrap

import pytest

from harness.patches import patch
from miner.languages.python.stripping.changes import Changes
from tests import tiny


def changes_of(files, tree=None) -> Changes:
    """Those of a fix by path: a file's text before and after, None where there is none."""
    texts = {path: [text and textwrap.dedent(text) for text in sides] for path, sides in files.items()}
    raw = "".join(tiny.diff(path, *sides) for path, sides in texts.items()).encode()
    base = {path: sides[0] for path, sides in texts.items() if sides[0] is not None}
    known = {path: text.encode() for path, text in {**base, **(tree or {})}.items()}
    return Changes(patch.parse(raw, trusted=True).files, known)


def left(files, dotted: str, tree=None, *, is_called: bool = False) -> bool:
    return changes_of(files, tree).leaves(dotted, is_called=is_called)


OTHER = ("a = 1\n", "a = 2\n")
CALLED = [
    ("a/b.py", "a.c.X", True),
    ("src/a/b.py", "a.b.X", False),
    ("a/b.py", "a.b.X.Y", False),
    ("a/b.py", "a.X", False),
    ("a/__init__.py", "a.X", False),
    ("a/__init__.py", "a.b.X", True),
    ("a/b/__init__.pyx", "a.b.X", False),
    ("other.py", ".b.X", False),
]


@pytest.mark.parametrize(("path", "dotted", "is_left"), CALLED)
def test_a_fix_leaves_alone_classes_of_other_files(path, dotted, is_left):
    assert left({path: OTHER}, dotted, is_called=True) is is_left


ENUM = "class Color({base}):\n    RED = {red}\n    BLUE = {blue}\n\n    def name_of(self):\n        return {name}\n"


def color(base="Enum", red="1", blue="2", name="1") -> str:
    return ENUM.format(base=base, red=red, blue=blue, name=name)


@pytest.mark.parametrize(
    ("before", "after", "is_left"),
    [
        (color(), color(name="2"), True),
        (color(), color(blue="3"), True),
        (color(), color(red="3"), False),
        (color(), color(base="IntEnum"), False),
        (color(red="auto()", blue="auto()"), color(red="auto()", blue="auto()") + "    LAST = auto()\n", False),
        (color(), color() + "    def __new__(cls):\n        return 7\n", False),
        (color(), color().replace("    RED = 1", "    RED = 1  # red"), True),
        (color(), f"def f():\n    RED = 3\n{color()}", True),
    ],
)
@pytest.mark.parametrize("module", ["a.b", "a"])
def test_a_constant_of_a_class_is_left_alone_where_nothing_that_makes_it_changes(before, after, is_left, module):
    assert left({"a/b.py": (before, after)}, f"{module}.Color.RED", {"a/__init__.py": "from .b import *\n"}) is is_left


LONG = "NAMES = (\n    'a',\n    'b',\n    'c',\n    'd',\n    {!r},\n    'f',\n    'g',\n    'h',\n)\n"
STATEMENTS = [
    (LONG.format("e"), LONG.format("x")),  # no line of the hunk names it
    ("NAMES = ['a']\nfor n in 'bc':\n    NAMES.append(n)\n", "NAMES = ['a']\nfor n in 'bcd':\n    NAMES.append(n)\n"),
    ("NAMES = ['a']\n", "NAMES = ['a']\nNAMES += ['b']\n"),
    ("NAMES = {}\nNAMES['a'] = 1\n", "NAMES = {}\nNAMES['a'] = 2\n"),
    (
        "try:\n    NAMES = 1\nexcept ValueError:\n    NAMES = 2\n",
        "try:\n    NAMES = 1\nexcept KeyError:\n    NAMES = 2\n",
    ),
    ("if f(1):\n    NAMES = 1\n", "if f(2):\n    NAMES = 1\n"),
    ("def f():\n    global NAMES\n    NAMES = 1\n", "def f():\n    global NAMES\n    NAMES = 2\n"),
    ("NAMES = (\n", "NAMES = 2\n"),  # it can't be read
    ("NAMES = 1\n", None),
]


@pytest.mark.parametrize(("before", "after"), STATEMENTS)
def test_a_constant_is_changed_where_a_statement_is_that_says_what_it_is(before, after):
    files = {"a/_c.py": (before, after)}
    assert not left(files, "a._c.NAMES")
    assert not left(files, "a.b.NAMES")  # a module may have it from any other
    assert left(files, "a._c.OTHERS") or after is None or before == "NAMES = (\n"


MADE = {
    "LIMIT = BASE * 2": False,
    "HALF = BASE / 2\nLIMIT = HALF * 4": False,
    "LIMIT = [BASE for _ in 'ab']": False,
    "if BASE > 1:\n    LIMIT = 2": False,
    "LIMIT = made()\ndef made():\n    return more()\ndef more():\n    return BASE": False,
    "LIMIT = Made()\nclass Made:\n    def __init__(self):\n        self.n = BASE": False,
    "LIMIT = Made()\nclass Of:\n    n = BASE\nclass Made(Of):\n    pass": False,
    "LIMIT = 2": True,
    "LIMIT = OTHER * 2": True,
    "LIMIT = made()\ndef made(BASE=1):\n    return 2": True,
    "LIMIT = LIMIT_OF = 2\nA = LIMIT\nLIMIT_OF = A": True,
}


@pytest.mark.parametrize("text", MADE)
@pytest.mark.parametrize(
    "head",
    ["BASE = {}\nOTHER = 1\n", "from .base import *\n", "from a.base import BASE, OTHER\n", "from .far import BASE\n"],
)
def test_what_is_made_of_a_constant_that_changes_is_changed(text, head):
    sides = [f"BASE = {number}\nOTHER = 1\n" for number in (1, 2)]
    if head.startswith("BASE"):
        files = {"a/limits.py": [head.format(number) + text for number in (1, 2)]}
    else:
        files = {"a/base.py": sides}
    tree = {
        "a/limits.py": head + text,
        "a/far.py": "from a.base import BASE\n",
        "a/__init__.py": "from .limits import LIMIT\n",
    }
    tree = {path: content for path, content in tree.items() if path not in files}
    assert left(files, "a.limits.LIMIT", tree) is MADE[text]
    assert left(files, "a.LIMIT", tree) is MADE[text]


def test_what_is_made_of_an_attribute_of_a_module_that_changes_is_changed():
    files = {"src/a/base.py": ("BASE = 1\n", "BASE = 2\n")}
    assert not left(files, "a.limits.LIMIT", {"src/a/limits.py": "import a.base\nLIMIT = a.base.BASE * 2\n"})
    assert not left(files, "tests.util.LIMIT", {"tests/util.py": "from a import base\nLIMIT = {'a': base.BASE}\n"})
    assert left(files, "a.limits.LIMIT", {"src/a/limits.py": "import a.base\nLIMIT = a.base.OTHER * 2\n"})


@pytest.mark.parametrize(("base", "is_left"), [("return 1", True), ("return 2", False)])
def test_what_a_class_makes_is_changed_where_a_base_of_another_module_is(base, is_left):
    files = {"a/base.py": [f"class Base:\n    def f(self):\n        {line}\n" for line in ("return 1", base)]}
    files["other.py"] = OTHER
    tree = {"a/point.py": "from .base import Base\nclass Point(Base):\n    n = 1\n"}
    assert left(files, "a.point.Point", tree, is_called=True) is is_left


def test_a_constant_that_is_read_of_a_file_is_changed_where_a_fix_changes_such():
    tree = {"a/b.py": "import json\nNAMES = json.loads((Path(__file__).parent / 'n.json').read_text())\nN = 1\n"}
    assert not left({"a/n.json": ("[1]\n", "[2]\n")}, "a.b.NAMES", tree)
    assert left({"a/n.json": ("[1]\n", "[2]\n")}, "a.b.N", tree)


SET = {
    "def add(n):\n    NAMES[n] = 1": False,
    "def add(n):\n    NAMES.update(n)": False,
    "def add(n):\n    global NAMES\n    NAMES = n": False,
    "class A:\n    def add(cls, n):\n        shop.NAMES.append(n)": False,
    "def add(n):\n    shop.NAMES = n": False,
    "def add(n):\n    shop.NAMES += n": False,
    "def test_a(monkeypatch):\n    monkeypatch.setattr(shop, 'NAMES', f())": False,
    "@patch('shop.NAMES')\ndef test_a():\n    pass": False,
    "NAMES.update(1)": True,  # as it is loaded
    "def add(n):\n    return NAMES.get(n)": True,
    "def add(n):\n    OTHERS[n] = NAMES": True,
}


@pytest.mark.parametrize("text", SET)
def test_what_functions_change_later_is_not_left_alone(text):
    tree = {"shop.py": "NAMES = {}\n", "more.py": f"{text}\n"}
    assert left({"other.py": OTHER}, "shop.NAMES", tree) is SET[text]


def test_modules_that_have_a_name_from_each_other_come_to_an_end():
    tree = {"a/__init__.py": "from a import a\n", "a/a.py": "from a import a\n", "b.py": "from a import *\n"}
    tree |= {f"c{n}.py": f"from c{n + 1} import LIMIT\n" for n in range(2000)}
    assert left({"other.py": OTHER}, "a.a.LIMIT", tree)
    assert left({"other.py": OTHER}, "b.LIMIT", tree)
    assert left({"other.py": OTHER}, "c0.LIMIT", tree)
