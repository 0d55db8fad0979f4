"""Which expressions of a test depend on nothing of the product."""

from __future__ import annotations

import ast
import sys
import textwrap

import pytest

from miner.languages.base import WrittenForm
from miner.languages.python.stripping import tables
from miner.languages.python.stripping.reading.immutable import is_immutable
from miner.languages.python.stripping.reading.module import module_of
from miner.languages.python.stripping.reading.scope import Scope

HEAD = """\
import collections
import datetime
import datetime as dt
import glob
import numpy as np
import os
import random
import shop
import shop.deep
import sys
import urllib.parse
import decimal
from decimal import Decimal
from unittest import mock
import pytest
from flask import request
from . import helpers
from shop import f
LIMIT = 3
NAMES = ["a", "b"]
SEEN = f(1)
LOOP = LOOP + 1
twice = 1
twice = f(2)
again = 1
again = 2
"""
TEST = """\
@pytest.mark.parametrize("n, want", [(1, "one"), (2, f(2))])
@pytest.mark.parametrize("word", ["a", "b"])
def test_a(fixture, n, want, word):
    one = 1
    many = [1, 2]
    seen = f(one)
    given = [1]
    f(given, many, NAMES)
    for count, letter in enumerate("ab"):
        f(count)
    for row in [[LIMIT]] * 2:
        f(row)
    for found in f(2):
        f(found)
    if sys.platform == "win32":
        where = "there"
    else:
        where = "here"
    if f(3):
        price = 1
    else:
        price = 2
"""


def is_static(expression: str, *, read: bool = True) -> bool:
    """Of an expression at the end of a test; `read` where expectations alone read all names."""
    tree = ast.parse(HEAD + TEST)
    module = module_of(tree, lambda name: name == "shop")
    function = next(node for node in tree.body if isinstance(node, ast.FunctionDef))
    scope = Scope(module=module, function=function, tables=tables.values(function, module))
    if read:
        scope.assume_expected()
    return scope.is_static(ast.parse(expression, mode="eval").body)


STATIC = (
    "3",
    "urllib.parse.quote('a b')",
    "-3",
    "'a' + 'b'",
    "[1, {2: (3,)}]",
    "f'{3}'",
    "1 if LIMIT else 2",
    "[n for n in (1, 2)]",
    "{k: v for k, v in [(1, 2)] if k}",
    "sum(n for n in range(3))",
    "len('abc')",
    "'a b'.split()",
    "LIMIT",
    "again",
    "one",
    "many",
    "word",
    "Decimal('1.5')",
    "datetime.date(2026, 1, 1)",
    "dt.timedelta(days=1)",
    "collections.OrderedDict(a=1)",
    "os.path.join('a', 'b')",
    "os.sep",
    "mock.ANY",
    "pytest.approx(1.5, rel=0.1)",
    "sys.maxsize",
    "decimal.ROUND_UP",
    "ValueError",
    "ValueError('no')",
    "type(3)",
    "None is Ellipsis",
    "str(count) + letter",
    "where",
)


@pytest.mark.parametrize("expression", STATIC)
def test_an_expression_is_static(expression):
    assert is_static(expression)


NOT_STATIC = {
    "f(1)": "the product is called",
    "f": "it is the product's",
    "shop.LIMIT": "it is an attribute of the product",
    "[1, f(1)]": "a part of it is the product's",
    "[f(n) for n in (1, 2)]": "each of its items is the product's",
    "[n for n in f(1)]": "it goes through what the product gives",
    "helpers.name": "it comes from beside the tests",
    "SEEN": "a constant of the file is what the product gave",
    "LOOP": "a constant is made of itself",
    "twice": "it is bound twice, once to what the product gave",
    "NAMES": "the product gets it, and may change it",
    "NAMES[0]": "the product gets it, and may change it",
    "seen": "a local is what the product gave",
    "fixture": "a fixture gives it",
    "want": "a row of its table is the product's",
    "unknown": "nobody knows what it is",
    "open('x')": "it opens a file",
    "glob.glob('*')": "it looks at the machine",
    "random.random()": "it is left to chance",
    "datetime.datetime.now()": "it reads the clock",
    "os.getcwd()": "it depends on the folder",
    "os.environ": "it depends on the surroundings",
    "sys.modules": "the product may change it",
    "sys.path[0]": "the product may change it",
    "decimal.getcontext().prec": "the product may change it",
    "os.path.getsize('a')": "the product may have written it",
    "request.path": "the product may change what it stands for",
    "urllib.request.urlopen('x')": "it asks another machine",
    "np.random.rand(3)": "the product may have used the generator",
    "os.path.abspath('a')": "the product may change the process's folder",
    "mock.Mock()": "it is a stand-in that remembers",
    "pytest.mark": "it is the test runner's",
    "(lambda: 3)()": "it is code",
    "one()": "a local is called",
    "(n := 3)": "it binds a name",
    "price": "the product decides which it is",
    "found": "a loop goes through what the product gives",
    "[tmp_path]": "a folder is given, though it may be expected",
}


@pytest.mark.parametrize("expression", NOT_STATIC)
def test_an_expression_is_not_static(expression):
    assert not is_static(expression), NOT_STATIC[expression]


@pytest.mark.parametrize("expression", ["given", "many", "NAMES", "row"])
def test_a_mutable_value_that_others_may_read_is_not_static(expression):
    assert not is_static(expression, read=False)


@pytest.mark.parametrize("expression", ["one", "word", "LIMIT", "count", "letter"])
def test_an_immutable_value_is_static_whoever_reads_it(expression):
    assert is_static(expression, read=False)


def test_a_local_name_hides_the_module_of_that_name():
    tree = ast.parse("import os\ndef test_a(os):\n    pass\n")
    module = module_of(tree, lambda _: False)
    scope = Scope(module=module, function=tree.body[1], tables={})
    assert not scope.is_static(ast.parse("os.sep", mode="eval").body)


def test_a_name_that_is_bound_by_more_than_an_assignment_is_no_constant():
    tree = ast.parse("x = 1\ny: int = 2\nz = 3\nfor z in ():\n    pass\ndef x(): pass\n")
    assert set(module_of(tree, lambda _: False).constants) == {"y"}


@pytest.mark.parametrize(
    ("expression", "name"),
    [
        ("pytest.raises", "pytest.raises"),
        ("raises", "pytest.raises"),
        ("p.raises", "pytest.raises"),
        ("whole.x", "a.b.x"),
        ("unknown.x", ""),
        ("f().x", ""),
    ],
)
def test_a_dotted_name_is_that_of_its_import(expression, name):
    text = "import pytest\nimport pytest as p\nimport a.b as whole\nfrom pytest import raises\n"
    module = module_of(ast.parse(text), lambda _: False)
    assert module.dotted(ast.parse(expression, mode="eval").body) == name


@pytest.mark.parametrize(
    ("expression", "immutable"),
    [
        ("3", True),
        ("'a'", True),
        ("(1, 'a')", True),
        ("-1", True),
        ("'a' * 3", True),
        ("str(3)", True),
        ("'a'.encode()", True),
        ("datetime.date(2026, 1, 1)", True),
        ("Decimal('1')", True),
        ("pathlib.Path(__file__).parent", True),
        ("[1]", False),
        ("(1, [2])", False),
        ("{}", False),
        ("'a'.split()", False),
        ("dict(a=1)", False),
        ("Thing()", False),
    ],
)
def test_what_cannot_be_changed_is_told(expression, immutable):
    assert is_immutable(ast.parse(expression, mode="eval").body) is immutable


CLASS = """\
import shop
class TestA:
    limit = 3
    named = [1]
    late = 1
    def setup_method(self, start):
        self.place = ("a", 1)
        self.start = start
        self.price = shop.f(1)
        self.called = False
        self.late += 1
    def test_a(self):
        f(self, setattr, "called")
"""


def scope_of_class() -> Scope:
    tree = ast.parse(CLASS)
    return Scope(module=module_of(tree, lambda name: name == "shop"), function=tree.body[1].body[-1], tables={})


@pytest.mark.parametrize(
    ("name", "static"),
    [
        ("limit", True),
        ("place", True),
        ("named", False),  # it may be changed
        ("start", False),
        ("price", False),
        ("called", False),  # setattr may set it
        ("late", False),
        ("other", False),
    ],
)
def test_an_attribute_of_a_test_is_static_where_its_class_sets_it_to_what_is(name, static):
    assert scope_of_class().is_static(ast.parse(f"self.{name}", mode="eval").body) is static


PLACES = {
    "tmp_path / 'a'": True,
    "str(tmp_path)": True,
    "len(str(tmp_path)) + 1": True,
    "len(f(tmp_path))": False,
    "f'{tmp_path}/a'": True,
    "os.path.join(tmp_path, 'a')": True,
    "(tmp_path / 'a').parent": True,
    "[(1, str(tmp_path / 'a'))]": True,
    "below": True,
    "tmp_path.read_text()": False,
    "tmp_path / f()": False,
    "other / 'a'": False,
    "json.load(tmp_path)": False,
    "os.path.basename(below)": True,
    "shlex.quote(str(tmp_path))": True,
    "np.load(below)": False,
    "filecmp.cmp(below, 'a')": False,
}


@pytest.mark.parametrize("expression", PLACES)
@pytest.mark.parametrize("decorator", ["", "@pytest.mark.parametrize('n', [1])\n"])
def test_a_path_below_the_folder_of_a_test_is_expected(expression, decorator):
    body = "def test_a(tmp_path, other):\n    below = tmp_path / 'b'\n    f(below)\n"
    tree = ast.parse(f"import os, shlex, filecmp, numpy as np\n{decorator}{body}")
    scope = Scope(module=module_of(tree, lambda _: False), function=tree.body[1], tables={})
    is_expected = scope.is_expected(ast.parse(expression, mode="eval").body)
    assert is_expected is (PLACES[expression] and not decorator)


@pytest.mark.parametrize(
    ("expression", "expected"),
    [("shop.Color.red", True), ("Color.red", True), ("shop.LIMIT", True), ("shop.price", False), ("color.red", False)],
)
def test_members_and_constants_of_the_product_are_expected_where_the_fix_leaves_them(expression, expected):
    tree = ast.parse("import shop\nfrom shop import Color, color\ndef test_a(): pass\n")
    for settled in (True, False):
        module = module_of(tree, lambda name: name == "shop", lambda _dotted, *, is_called, now=settled: now)
        scope = Scope(module=module, function=tree.body[-1], tables={})
        assert scope.is_expected(ast.parse(expression, mode="eval").body) is (expected and settled)


def test_what_is_expected_is_made_of_literals_names_and_operations():
    def written(expression):
        tree = ast.parse(HEAD + TEST)
        function = next(node for node in tree.body if isinstance(node, ast.FunctionDef))
        module = module_of(tree, lambda name: name == "shop")
        scope = Scope(module=module, function=function, tables=tables.values(function, module))
        scope.expecting({"one": 1})
        return scope.written(ast.parse(expression, mode="eval").body)

    assert written("[1, 'a']") is None
    assert written("shop.deep.MESSAGE") == WrittenForm(steps=1)
    assert written("shop.Card(1, 'a')") == WrittenForm(steps=1, literals=(1, "a"))
    assert written("'a' * 500") == WrittenForm(steps=1, literals=("a", 500))
    assert written("NAMES") == WrittenForm(steps=1), "it stays, for what else reads it"
    assert written("NAMES[0].strip()").steps > 1
    assert written("n") == WrittenForm(columns=((WrittenForm(literals=(1,)), WrittenForm(literals=(2,))),))
    assert written("[x + 1 for x in range(3)]").literals == (1, 3)


def test_what_a_name_is_made_anew_of_counts_with_what_it_was_before():
    tree = ast.parse("def test_a():\n    want = 'abc'\n    want = str(want).lstrip('a')\n    assert f() == want\n")
    function = next(node for node in tree.body if isinstance(node, ast.FunctionDef))
    scope = Scope(module=module_of(tree, lambda name: name == "shop"), function=function, tables={})
    scope.expecting({"want": 1})

    assert scope.written(ast.parse("want", mode="eval").body) == WrittenForm(steps=2, literals=("abc", "a"))


DATA = """\
import io
import json
from pathlib import Path
from reader import read_cases
HERE = Path(__file__).parent
CASES = read_cases(HERE / "cases.md")
@pytest.mark.parametrize("text, want, row", CASES, ids=[1])
@pytest.mark.parametrize(["other"], f(HERE))
def test_a(text, want, row, other):
    f(text, row)
    with open(HERE / "a.json") as file, (HERE / "b").open() as second, open("c") as third:
        loaded = json.load(file)
        lines = second.readlines()
        elsewhere = third.read()
    beside = (HERE / "a.txt").read_text("utf-8")
"""


def test_names_that_are_made_of_each_other_are_nothing_of_their_own():
    body = """\
a, b = b / 'x', a
for n in sorted(n): pass
g = sorted(h)
h = sorted(g)
for i in g: f(i)
if LIMIT:
    c = d
else:
    d = c
f(a, n, c)
"""
    tree = ast.parse(f"LIMIT = 1\ndef test_a():\n{textwrap.indent(body, '    ')}\n")
    scope = Scope(module=module_of(tree, lambda _: False), function=tree.body[-1], tables={})
    scope.assume_expected()
    for name in ("a", "b", "c", "d", "n", "i"):
        assert not scope.is_expected(ast.Name(id=name, ctx=ast.Load()))
        assert scope.written(ast.Name(id=name, ctx=ast.Load())) is not None


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("want", True),
        ("row", False),  # others may change it
        ("other", False),
        ("loaded", True),
        ("lines", True),
        ("elsewhere", False),
        ("beside", True),
        ("(HERE / 'b').read_bytes()", True),
        ("Path('b').read_bytes()", False),
        ("(HERE / f(1)).read_bytes()", False),
    ],
)
def test_what_a_file_beside_the_tests_holds_is_expected_and_is_one_look(expression, expected):
    tree = ast.parse(DATA)
    module = module_of(tree, lambda _: False)
    scope = Scope(module=module, function=tree.body[-1], tables=tables.values(tree.body[-1], module))
    node = ast.parse(expression, mode="eval").body
    assert scope.is_expected(node) is expected
    if expected:
        assert scope.written(node) == WrittenForm(steps=1)


GOLDEN = """\
import glob
import os
import re
import shop
FOLDER = os.path.dirname(os.path.realpath(__file__))
def rows():
    for path in glob.glob("%s/*.html" % FOLDER):
        yield path, os.path.basename(path)
def products():
    return [(path, shop.name) for path, _ in rows()]
def place_of(path):
    return os.path.splitext(path)[0] + ".md"
def lines_of(text):
    if os.name == "nt":
        text = re.sub("\\r", "", text)
    return text.splitlines()
def wanted(path):
    place = place_of(path)
    with open(place, encoding="utf-8") as file:
        text = file.read()
    return lines_of(text)
def again(path):
    return sorted(again(path))
KEPT = ["a"]
def kept(path):
    return [path, KEPT]
def made(path):
    with open(place_of(path)) as file:
        text = file.read()
    return shop.lines_of(text)
@pytest.mark.parametrize("path, name", rows())
@pytest.mark.parametrize("other", products())
def test_a(path, name, other, tmp_path):
    shop.convert(path)
    shop.sort(KEPT)
    want = wanted(path)
"""


@pytest.mark.parametrize(
    ("expression", "paths"),
    [
        ("want", ["place_of(path)"]),
        ("wanted(path)", ["place_of(path)"]),
        ("open(place_of(path)).read().strip()", ["place_of(path)"]),
        ("open(path[:-5] + '.md').read()", ["path[:-5] + '.md'"]),
        ("kept(open(place_of(path)).read())", None),
        ("made(path)", None),
        ("again(path)", None),
        ("wanted(other)", None),
        ("wanted(tmp_path)", None),
        ("wanted(shop.convert(path))", None),
        ("shop.convert(path)", None),
    ],
)
def test_what_a_function_of_the_file_makes_of_a_file_beside_it_is_expected(expression, paths):
    tree = ast.parse(GOLDEN)
    module = module_of(tree, lambda name: name not in sys.stdlib_module_names)
    scope = Scope(module=module, function=tree.body[-1], tables=tables.values(tree.body[-1], module))
    scope.assume_expected()
    node = ast.parse(expression, mode="eval").body
    assert scope.is_expected(node) is (paths is not None)
    found = list(map(ast.unparse, scope.data_paths(node)))
    assert paths is None or found == paths


ROWS = """\
import json, os, shop, tomllib
HERE = os.path.dirname(__file__)
with open("elsewhere.json") as file:
    OTHER = json.load(file)
CASES = json.load(open(os.path.join(HERE, "cases.json"), encoding="utf-8"))
GOOD = [case for case in CASES if case["good"]]
WHOLE = json.load(open(os.path.join(HERE, "whole.json")))
CHOSEN = [case for case in CASES if shop.likes(case)]
FILLED = json.load(open(os.path.join(HERE, "filled.json")))
for row in FILLED:
    row["want"] = shop.f(row["text"])
with open("tests/data/named.toml", "rb") as file:
    NAMED = tomllib.load(file)
with open("tests/data/taken.toml", "rb") as file:
    TAKEN = tomllib.load(file)
shop.take(TAKEN)
PAIRS = json.load(open("./test/pairs.json"))
PRODUCT = json.load(open("shop/names.json"))
UP = json.load(open("tests/../shop/names.json"))

@pytest.mark.parametrize("case", GOOD)
@pytest.mark.parametrize("whole", WHOLE)
@pytest.mark.parametrize("other", OTHER)
@pytest.mark.parametrize("chosen", CHOSEN)
@pytest.mark.parametrize("made", shop.cases())
@pytest.mark.parametrize("filled", FILLED)
@pytest.mark.parametrize(("text", "pair"), PAIRS)
@pytest.mark.parametrize("name", ["a", "b"])
def test_a(case, whole, other, chosen, made, filled, text, pair, name):
    want = case["want"]
    note = case.get("note", want)
    assert shop.f(case["text"], whole, whole["text"]) == want
    assert shop.f(3) == (other["want"], chosen["want"], made["want"], filled["want"])
    assert shop.f(case["both"]) == case["both"]
    assert shop.f(whole["got"]) == note
    named = NAMED[name]["want"]
    assert shop.f(NAMED[name]["text"], text) == named, f"not {named}"
    assert shop.f(NAMED["c"]["text"]) == (pair, TAKEN[name]["want"], PRODUCT[name]["want"], UP[name]["want"])
    for one in CASES:
        assert shop.f(one["text"]) == one["want"]
"""


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("case['want']", True),
        ("want", True),
        ("case.get('note', want)", True),
        ("note", True),
        ("[want, 3]", True),
        ("case.get('text', shop.f(3))", False),
        ("case['both']", False),  # the product gets it
        ("whole['want']", False),
        ("other['want']", False),
        ("chosen['want']", False),
        ("made['want']", False),
        ("filled['want']", False),
        ("case", False),
        ("NAMED[name]['want']", True),
        ("named", True),
        ("named[0]", True),
        ("named[shop.f(3)]", False),
        ("NAMED[name]['text']", False),  # the product gets cells of this key
        ("NAMED[shop.f(3)]['want']", False),
        ("NAMED[name]", False),
        ("NAMED", False),
        ("TAKEN[name]['want']", False),
        ("PRODUCT[name]['want']", False),
        ("UP[name]['want']", False),
        ("pair", True),
        ("text", False),
        ("one['want']", True),
        ("one", False),
    ],
)
def test_a_cell_of_a_row_of_a_file_beside_the_tests_is_expected_where_the_product_gets_others(expression, expected):
    tree = ast.parse(ROWS)
    module = module_of(tree, lambda name: name == "shop")
    scope = Scope(module=module, function=tree.body[-1], tables=tables.values(tree.body[-1], module))
    scope.expecting({"want": 2, "note": 1, "named": 2, "pair": 1})
    node = ast.parse(expression, mode="eval").body
    assert scope.is_expected(node) is expected
    assert bool(scope.data_paths(node)) or not expected


BINDINGS = {
    "want = 3": True,
    "with open('a') as file:\n    want = 3": True,
    "want = 2\nwith open('a') as file:\n    want = 3": True,
    "want = 2\nfor n in [1, 2]:\n    want = 3": True,
    "want = 2\nfor n in f(1):\n    want = 3": False,  # only if it gives something
    "want = 2\nfor n in [1, 2]:\n    if f(n):\n        break\n    want = 3": False,
    "want = 2\nwith suppress(KeyError):\n    f(1)\n    want = 3": False,
    "want = 2\nwith pytest.raises(KeyError):\n    f(1)\n    want = 3": False,
    "if f(1):\n    fixture = want = 3": False,
    "if f(1):\n    want = 3\nf(want)": False,  # or it has none
    "if f(1):\n    want = 3\n    f(want)": True,
    "try:\n    f(1)\n    want = 3\nexcept KeyError:\n    pass\nf(want)": False,
    "for n in f(1):\n    want = 3\nf(want)": False,
    "if f(1):\n    given = 3\nwant = given": False,  # or what the fixture gives
    "want = 3\ndef told(want):\n    return want": False,  # it has another in there
    "want = 3\nf(key=lambda want: 1)": True,
}


@pytest.mark.parametrize("body", BINDINGS)
def test_a_name_is_static_where_nothing_of_the_product_decides_which_value_it_has(body):
    text = f"import pytest\nfrom shop import f\ndef test_a(given):\n{textwrap.indent(body, '    ')}\n"
    tree = ast.parse(text)
    scope = Scope(module=module_of(tree, lambda name: name == "shop"), function=tree.body[-1], tables={})
    assert scope.is_static(ast.Name(id="want", ctx=ast.Load())) is BINDINGS[body]


GIVEN = {
    "shop.load(DATA)": True,
    "client.post(json=DATA)": True,
    "shop.load([DATA])": True,
    "shop.load(DATA['b'])": True,
    "shop.load(DATA['b'] if client else {'d': DATA['c']})": True,
    "[shop.load(part) for part in DATA.values()]": True,
    "for part in DATA:\n        shop.load(part)": True,
    "self.client.post(DATA)": True,
    "handing(DATA)": True,
    "handing(value=DATA)": True,
    "found = DATA\n    shop.load(found)": True,
    "run = shop.loader()\n    run(DATA)": True,
    "mock.Mock(return_value=DATA)": True,
    "client.get.return_value = DATA": True,
    "client.patch('shop.get', lambda: DATA)": True,
    "self.assertRaises(ValueError, shop.load, DATA)": True,
    "list(map(shop.load, DATA))": True,
    "self.handed = DATA\n    shop.load(self.handed)": True,
    "shop.load(**DATA)": True,
    "DATA['b'] = shop.f()": True,
    "DATA['b'].append(client.name)": True,
    "DATA['b'] = [2]": False,
    "client.assert_called_with(DATA)": False,
    "keeping(DATA)": False,
    "print(DATA)": False,
    "shop.load(FLAT['a'])": False,
    "shop.load(**FLAT)": False,
    "shop.load(dict(DATA))": True,
    "self.assertEqual(shop.f(), DATA)": False,
    "mock.call(DATA)": False,
    "shop.load(DATA or None)": True,
    "shop.load([part for part in DATA])": True,
    "shop.load({k: v for k, v in DATA.items()})": True,
    "shop.load(part for part in (DATA,))": True,
    "shop.load(copy.copy(DATA))": True,
    "shop.load(DATA | {'c': 1})": True,
    "shop.load(dict(**DATA))": True,
    "shop.load(ChainMap(DATA))": True,
    "shop.load(Namespace(data=DATA))": True,
    "for data in (DATA, FLAT_TOO):\n        shop.load(data)": True,
    "for data in ROWS:\n        shop.load(data)": True,
    "for rows in [ROWS]:\n        for data in rows:\n            shop.load(data)": True,
    "shop.load(*ROWS)": True,
    "shop.load(ROWS[0])": True,
    "shop.load(ROWS)": True,
    "one = two = DATA\n    shop.load(one)": True,
    "one, *more = DATA, 2\n    shop.load(one)": True,
    "if found := DATA:\n        shop.load(found)": True,
    "cls.handed = DATA\n    shop.load(self.handed)": True,
    "self.handed: dict = DATA\n    shop.load(self.handed)": True,
    "self.handed, other = DATA, 2\n    shop.load(self.handed)": True,
    "class Fake:\n        data = DATA\n    shop.load(Fake())": True,
    "class Fake:\n        def __init__(self):\n            self.data = DATA\n    shop.load(Fake())": True,
    "class Kind(shop.Base, data=DATA):\n        pass": True,
    "class TestA:\n        data = DATA": False,
    "setattr(shop, 'data', DATA)": True,
    "sorted([DATA], key=shop.load)": True,
    "isinstance(DATA, shop.Kind)": False,
    "found = shop.cart()\n    found += DATA": True,
    "pytest.fixture(params=[DATA])": True,
    "shop.load(str(DATA), len(DATA), json.dumps(DATA), copy.deepcopy(DATA))": False,
    "shop.load(DATA == {}, f'{DATA}', '%s' % DATA)": False,
    "DATA['b'] += [1]": True,
    "DATA[client] = 1": True,
    "DATA.pop('b')": True,
    "if client:\n        DATA['b'] = [2]": True,
    "def hook():\n        DATA['b'] = [2]\n    shop.load(hook)": True,
}


@pytest.mark.parametrize("call", GIVEN)
def test_what_the_product_gets_elsewhere_is_held_against_how_it_was_written(call):
    tree = ast.parse(
        "import copy, json, pytest, shop\nfrom argparse import Namespace\nfrom collections import ChainMap\n"
        "from unittest import mock\nDATA = {'b': [1]}\nFLAT = {'a': 1}\nFLAT_TOO = {'a': 1}\nROWS = [DATA, 1]\n"
        "def handing(value):\n    text = 'a'\n    return shop.load(value)\ndef keeping(value):\n    assert value\n"
        f"def loaded(self, client):\n    {call}\ndef test_a(loaded):\n    assert loaded == DATA\n"
    )
    module = module_of(tree, lambda name: name == "shop")
    name = ast.Name(id="DATA", ctx=ast.Load())
    scope = Scope(module=module, function=tree.body[-1], tables={})
    scope.assume_expected()
    assert scope.is_given(name) is GIVEN[call]
    assert scope.is_given(ast.parse("DATA['b']", mode="eval").body) is GIVEN[call]
    assert not scope.is_given(ast.Name(id="FLAT", ctx=ast.Load()))
    assert (scope.input_written(name) is not None) is GIVEN[call]


IMPORTED = {
    "from shop import dumps\ndef test_b():\n    from json import dumps": False,
    "def test_b():\n    from json import dumps\nfrom shop import dumps": False,
    "from json import dumps": True,
    "from simplejson import dumps\ntry:\n    from json import dumps\nexcept ImportError:\n    pass": True,
    "from shop import *\nfrom json import dumps\ndumps = max": False,
}


@pytest.mark.parametrize("head", IMPORTED)
def test_a_name_that_is_imported_from_the_product_anywhere_is_the_products(head):
    tree = ast.parse(f"{head}\ndef test_a():\n    pass\n")
    scope = Scope(module=module_of(tree, lambda name: name == "shop"), function=tree.body[-1], tables={})
    assert scope.is_static(ast.parse("dumps(3)", mode="eval").body) is IMPORTED[head]


@pytest.mark.parametrize(("module", "expected"), [("shop", False), ("os", True)])
def test_a_builtin_may_be_the_products_where_a_file_has_all_names_of_it(module, expected):
    tree = ast.parse(f"from {module} import *\ndef test_a():\n    pass\n")
    scope = Scope(module=module_of(tree, lambda name: name == "shop"), function=tree.body[-1], tables={})
    assert scope.is_static(ast.parse("sum([3])", mode="eval").body) is expected
    assert scope.is_static(ast.parse("len([3])", mode="eval").body)


@pytest.mark.parametrize(("more", "expected"), [("", True), (", indirect=True", False), (", ['want']", False)])
def test_a_column_that_a_fixture_turns_into_something_is_not_static(more, expected):
    tree = ast.parse(
        f"import pytest\n@pytest.mark.parametrize('want', sorted([1]){more})\ndef test_a(want):\n    pass\n"
    )
    scope = Scope(module=module_of(tree, lambda name: name == "shop"), function=tree.body[-1], tables={})
    assert scope.is_static(ast.Name(id="want", ctx=ast.Load())) is expected


@pytest.mark.parametrize(("call", "expected"), [("shop.f(self)", False), ("shop.f(self.value)", True), ("pass", True)])
def test_what_a_test_case_has_set_is_static_where_the_product_does_not_get_it(call, expected):
    text = (
        f"import shop\nclass T:\n    def setUp(self):\n        self.value = 0\n    def test_a(self):\n        {call}\n"
    )
    tree = ast.parse(text)
    module = module_of(tree, lambda name: name == "shop")
    scope = Scope(module=module, function=tree.body[-1].body[-1], tables={})
    assert scope.is_static(ast.parse("self.value", mode="eval").body) is expected
