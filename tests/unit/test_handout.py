"""What stripped tests hand out, by the runner's own source, on every CPython that this machine has."""

from __future__ import annotations

import collections
import functools
import json
import os
import sys

import pytest

from harness.core import process
from harness.judging import values
from harness.judging.values import ClassName, Opaque, Raised, Record
from tests import inside, pypi_tools

SOURCE = inside.part("supervisor", "recorder", "handout", "tripwire", "suites", "outcomes", "nose_tests")
DRIVER = """\
import builtins, io, json, sys

asked = json.loads(io.open(0, encoding="utf-8").read())


class Frames(object):
    def send(self, kind, **fields):
        sent.append(dict(fields, t=kind))


names = {"__name__": "runner"}
exec(compile(asked["runner"], "<goldseam>", "exec"), names)
names["WORK"] = asked["work"]
sys.path.insert(0, asked["work"])
current = ["t.py::test_a"]
sent = []
told = {}
names["hand_out_by"](Frames(), current)
for name, code in asked["scripts"].items():
    sent = []
    scope = {"current": current, "__name__": "tests.test_a"}
    exec(compile(asked["setup"], "<setup>", "exec"), scope)
    exec(compile(code, name, "exec"), scope)
    told[name] = sent
print(json.dumps(told))
"""
SETUP = """\
import collections, datetime, decimal, enum, fractions, ipaddress, pathlib, uuid, warnings
from decimal import Decimal


class Words(list):
    def __iter__(self):
        return iter(["by", "what", "it", "does"])


class Text(str):
    pass


class Number(int):
    pass


class Level(enum.IntEnum):
    LOW = 1


class Mode(str, enum.Enum):
    READ = "r"


class Color(enum.Enum):
    RED = 1
    CRIMSON = 1


class Headers(collections.abc.Mapping):
    def __init__(self, **told):
        self.told = told

    def __getitem__(self, name):
        return self.told[name]

    def __iter__(self):
        return iter(self.told)

    def __len__(self):
        return len(self.told)

    def items(self):
        return [(name.lower(), value) for name, value in self.told.items()]


class Shy(Headers):
    def items(self):
        raise KeyError("no")


class Endless(list):
    def __iter__(self):
        while True:
            yield 1


class Mute(ValueError):
    def __str__(self):
        raise RuntimeError("no")


class Broken(KeyError, ValueError):
    pass


Point = collections.namedtuple("Point", "x y")


def nested(depth):
    value = []
    for _ in range(depth):
        value = [value]
    return value


def own():
    value = []
    value.append(value)
    return value


def raised(*args):
    error = ValueError()
    error.args = args or (error, error)
    return error
"""
DATES = "datetime.datetime(2026, 1, 2, 3, 4, 5, 6)"
SAME = (
    "None",
    "True",
    "False",
    "...",
    "NotImplemented",
    "0",
    "-31",
    "10 ** 40",
    "1.5",
    "-0.1",
    "float('inf')",
    "1.5 - 2j",
    "''",
    "'a\u00e9\u65e5\\ud800\\x00'",
    "b'\\x00\\xff'",
    "bytearray(b'x')",
    "[1, [2, 'a']]",
    "(1, ())",
    "{1, 'a'}",
    "frozenset([1])",
    "{'a': [1], 2: None}",
    "collections.OrderedDict([('b', 1), ('a', [2])])",
    DATES,
    "datetime.datetime(2026, 1, 2, tzinfo=datetime.timezone.utc)",
    "datetime.date(2026, 1, 2)",
    "datetime.time(3, 4)",
    "datetime.timedelta(days=-1, seconds=2, microseconds=3)",
    "decimal.Decimal('-1.50')",
    "decimal.Decimal('1E+30')",
    "fractions.Fraction(-1, 3)",
    "uuid.UUID(int=7)",
    "range(1, 9, 2)",
    "ipaddress.ip_address('10.0.0.1')",
    "ipaddress.ip_address('::1')",
    "ipaddress.ip_network('10.0.0.0/8')",
    "ipaddress.ip_network('fe80::/10')",
    "ipaddress.ip_interface('10.0.0.1/8')",
    "ipaddress.ip_interface('fe80::1/10')",
)
"""Values that the host reads back as they are."""
COUNTER = "(collections.Counter('aab'), '__eq__' in vars(collections.Counter))"
BY_WHAT_THEY_DO = {
    "Words()": ["by", "what", "it", "does"],
    "Text('a')": "a",
    "Number(3)": 3,
    "Level.LOW": 1,
    "Mode.READ": "r",
    "Point(1, 2)": (1, 2),
    "Headers(A=1)": {"a": 1},
    "collections.UserList([1, (2,)])": [1, (2,)],
    "collections.UserString('a')": "a",
    "collections.defaultdict(list, a=[1])": {"a": [1]},
    "{'a': 1}.keys()": {"a"},
    "{'a': 1}.items()": {("a", 1)},
    "pathlib.PosixPath('/a/b')": values.PurePosixPath("/a/b"),
    "pathlib.PureWindowsPath('a')": values.PureWindowsPath("a"),
    "Broken": ClassName(
        "tests.test_a.Broken",
        (
            "tests.test_a.Broken",
            "builtins.KeyError",
            "builtins.LookupError",
            "builtins.ValueError",
            "builtins.Exception",
            "builtins.BaseException",
        ),
    ),
    "bool": ClassName("builtins.bool", ("builtins.bool", "builtins.int")),
}
"""Values that are handed out in the form of what they can do, and what the host reads."""
UNREADABLE = {
    "list(range(20001))": "too large",
    "'a' * (2 ** 18 + 1)": "too large",
    "b'a' * 2 ** 18": "too large",
    "Endless()": "too large",
    "Shy(a=1)": "raised KeyError",
}
"""Values that are not handed out, and why."""
DEEP = ("nested(100)", "own()", "[own(), own()]")
OPAQUE = {
    "object()": "builtins.object",
    "Color.RED": "tests.test_a.Color",
    "iter([])": "builtins.list_iterator",
    "collections.deque([1])": "collections.deque",
    "{1: 2}.values()": "builtins.dict_values",
}
EXCEPTIONS = {
    "ValueError('no', 3)": (("builtins.ValueError",), "('no', 3)", ("no", 3)),
    "KeyError('a')": (("builtins.KeyError", "builtins.LookupError"), "'a'", ("a",)),
    "Mute('a')": (("tests.test_a.Mute", "builtins.ValueError"), "", ("a",)),
    "Broken()": (
        ("tests.test_a.Broken", "builtins.KeyError", "builtins.LookupError", "builtins.ValueError"),
        "",
        (),
    ),
    "SystemExit(3)": (("builtins.SystemExit",), "3", (3,)),
}
"""By expression: names but for those that all have, text, arguments."""
PRODUCT = """\
import collections



class Plain: pass
class Equal:
    def __eq__(self, other): return True
class Child(Equal): pass
class Names(list): pass
class Sized(list):
    def __len__(self): return 3
class Bag:
    def __contains__(self, item): return True
Pair = collections.namedtuple("Pair", "x y")
"""
RECORDS = """\
import enum


class Color(enum.Enum):
    RED = 1
    CRIMSON = 1


class Null(object):
    pass


null = nothing = nil = Null()
fields = []
try:
    import dataclasses

    @dataclasses.dataclass
    class Data:
        x: int
        y: list
        z: int = dataclasses.field(default=0, compare=False)

    @dataclasses.dataclass
    class Own(Data):
        def __eq__(self, other):
            return True

    fields.append(Data(1, [Color.RED], 5))
except ImportError:
    pass  # it came with Python 3.7
try:
    import attr

    @attr.s(frozen=True)
    class Old:
        x = attr.ib()
        y = attr.ib()
        z = attr.ib(default=0, eq=False)

    fields.append(Old(1, [Color.RED], 5))
except ImportError:
    pass  # it is not with every interpreter
all = [[Color.RED, null, Null()], fields]
"""
RECORDED = {
    "1, [1, {'a': (2,)}]": False,
    "product.Plain(), 1": False,
    "product.Names(), []": False,
    "product.Pair(1, 2), (1, 2)": False,
    "datetime.date(2026, 1, 1), decimal.Decimal(1)": False,
    "product.Equal(), 1": True,
    "1, product.Child()": True,
    "[1, {'a': (product.Equal(),)}], 1": True,
    "{product.Plain: product.Sized()}, 1": True,
    "1, product.Bag()": True,
    "nested(30), 1": True,
}
"""Operands, and whether the work tree's own code says what comes of comparing them."""

RECORDED_ALONE = {
    "[1, {'a': (product.Equal(),)}]": False,
    "product.Equal(), None": False,
    "(), 1": False,
    "product.Bag()": False,  # what it holds as true comes with it, or not at all
    "product.Sized([1])": True,
}
"""Values at which something looks that compares nothing inside, and whether the work tree's own code answers it."""

SCRIPTS = {
    "one after another": "for i in range(2):\n    with __goldseam__(4) as h: h(i)\n",
    "other tests": "for current[0] in ('a', 'b', 'a'):\n    with __goldseam__(1) as h: h(current[0])\n",
    "no operand": "with __goldseam__(0) as h: h()\n",
    "the test goes on": "with __goldseam__(0) as h: h(1, {}['a'])\nwith __goldseam__(1) as h: h(2)\n",
    "some operands and an error": "with __goldseam__(0) as h:\n    h(1)\n    h({}['a'])\n",
    "an end of the program": "with __goldseam__(0): raise SystemExit(3)\n",
    "an error that is long": "with __goldseam__(0): raise ValueError('a' * 2 ** 20)\n",
    "an error of itself": "with __goldseam__(0): raise raised()\n",
    "what unittest calls it": "with __goldseam__(0) as caught: raise ValueError('no')\n"
    "with __goldseam__(1) as h: h(str(caught.exception))\n",
    "nothing that was raised": "with __goldseam__(0) as caught: pass\n"
    "for slot, name in enumerate(['exception', 'value'], 1):\n"
    "    with __goldseam__(slot) as h: h(getattr(caught, name))\n",
    "a result": "with __goldseam__(0) as h: h.check('in', 1, [1, 2])\nwith __goldseam__(1) as h: h.truth([])\n",
    "every result": "for slot, (name, right) in enumerate([('==', 1), ('!=', 2), ('<', 2), ('<=', 1), ('>', 0),"
    " ('>=', 1), ('in', [1]), ('not_in', []), ('is', 1), ('is_not', None)]):\n"
    "    with __goldseam__(slot) as h: h.check(name, 1, right)\n",
    "a result that is raised": "with __goldseam__(0) as h: h.check('<', 1, 'a')\n",
    "what is kept of a block": "with __goldseam__(0)(ValueError, 'no'): raise ValueError('no')\n",
    "warnings": "with __goldseam__(0).warning() as seen:\n    warnings.warn('old', DeprecationWarning)\n"
    "    warnings.warn('new')\nwith __goldseam__(1) as h: "
    "h(len(seen), str(seen[0].message), seen.pop(UserWarning).category)\n",
    "warnings and an error": "try:\n    with __goldseam__(0).warning():\n        raise ValueError('no')\n"
    "except ValueError:\n    with __goldseam__(1) as h: h('passed on')\n",
    "examples": "import doctest\n"
    'text = \'>>> __goldseam__(0).example("f(2)", globals())\\n>>> __goldseam__(1).example("f(0)", globals())\\n\'\n'
    "test = doctest.DocTestParser().get_doctest(text, {'f': lambda n: 6 // n}, 'd', 'd', 0)\n"
    "doctest.DocTestRunner().run(test)\nwith __goldseam__(2) as h: h(doctest.DocTestRunner().run(test).failed)\n",
    "an example and its options": "import doctest\n"
    'text = \'>>> __goldseam__(0).example("1", globals(), ("1", None))  # doctest: +ELLIPSIS\\n\'\n'
    "test = doctest.DocTestParser().get_doctest(text, {}, 'd', 'd', 0)\n"
    "doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE).run(test)\n",
    "a closed generator": "def generate():\n    with __goldseam__(0): yield\n"
    "one = generate()\nnext(one)\none.close()\nwith __goldseam__(1) as h: h('closed')\n",
}


@functools.cache
def _interpreters() -> dict[str, str]:
    """This interpreter and one of each other minor version, by name."""
    found = {path.name: str(path) for path in pypi_tools.interpreters("3.6")}
    return {**found, f"python3.{sys.version_info.minor}": sys.executable}


@pytest.fixture(scope="module", params=sorted(_interpreters()))
def sent(request, tmp_path_factory):
    """By script, the frames that one interpreter sends; an expression is a script that hands it out."""
    work = tmp_path_factory.mktemp("work")
    (work / "product.py").write_text(PRODUCT, encoding="utf-8")
    expressions = (*SAME, *BY_WHAT_THEY_DO, *UNREADABLE, *DEEP, *OPAQUE, *EXCEPTIONS, "float('nan')", COUNTER)
    scripts = {
        **SCRIPTS,
        **{one: f"with __goldseam__(0) as h: h({one})\n" for one in expressions},
        **{one: f"import product\nwith __goldseam__(0) as h: h.recorded({one})()\n" for one in RECORDED},
        **{one: f"import product\nwith __goldseam__(0) as h: h.recorded_alone({one})()\n" for one in RECORDED_ALONE},
    }
    return ran(_interpreters()[request.param], work, scripts)


def ran(python, work, scripts, **env):
    """By script, the frames that it sends."""
    asked = {"runner": SOURCE, "work": str(work), "setup": SETUP, "scripts": scripts}
    done = process.run([python, "-c", DRIVER], input=json.dumps(asked).encode(), env={**os.environ, **env})
    return json.loads(done.stdout)


def the_value(frames):
    """The one value of the one frame."""
    [frame] = frames
    assert (frame["t"], frame["raised"]) == ("value", None)
    [value] = frame["values"]
    return value


def decoded(frames) -> list[object]:
    return [values.decode(value) for frame in frames for value in frame["values"]]


def evaluated(expression: str) -> object:
    scope: dict[str, object] = {"__name__": "tests.test_a"}
    exec(SETUP, scope)
    return eval(expression, scope)


def test_a_value_comes_out_as_it_is(sent):
    for expression in SAME:
        loaded, expected = values.load(the_value(sent[expression])), evaluated(expression)
        assert (loaded.value, type(loaded.value), loaded.plain) == (expected, type(expected), True), expression


def test_a_number_that_is_none_comes_out(sent):
    found = values.decode(the_value(sent["float('nan')"]))
    assert found != found  # noqa: PLR0124 - so NaN is known


def test_a_counter_comes_out_as_one_where_it_compares_as_one(sent):
    counter, has_own_equality = values.decode(the_value(sent[COUNTER]))
    assert (counter, type(counter)) == ({"a": 2, "b": 1}, collections.Counter if has_own_equality else dict)


def test_a_value_of_another_class_comes_out_by_what_it_does(sent):
    for expression, expected in BY_WHAT_THEY_DO.items():
        loaded = values.load(the_value(sent[expression]))
        assert (loaded.value, type(loaded.value), loaded.plain) == (expected, type(expected), True), expression


def test_a_value_that_is_too_large_or_fails_does_not_come_out(sent):
    for expression, why in UNREADABLE.items():
        assert the_value(sent[expression]) == ["x", why], expression


def test_a_value_that_is_too_deep_is_cut(sent):
    for expression in DEEP:
        value = the_value(sent[expression])
        assert '["x", "too deep"]' in json.dumps(value), expression
        assert not values.load(value).plain, expression


def test_an_object_that_has_no_plain_form_comes_out_by_the_name_of_its_class(sent):
    for expression, name in OPAQUE.items():
        found = values.decode(the_value(sent[expression]))
        assert isinstance(found, Opaque), expression
        assert found.name == name, expression


GENERIC = [
    ("Union[int, str]", "Union[str, int]", True),
    ("Optional[int]", "Union[None, int]", True),
    ("Optional[Own]", "Own | None", True),
    ("Union[int, str]", "Union[int, bytes]", False),
    ("Union[int, str]", "Union[int, str, bytes]", False),
    ("List[Own]", "List[Own]", True),
    ("List[int]", "list[int]", False),
    ("Dict[str, List[int]]", "Dict[str, List[str]]", False),
    ("tuple[int, ...]", "tuple[int, ...]", True),
    ("List[int]", "List", False),
    ("List[TypeVar('T')]", "List[TypeVar('T')]", False),
    ("ClassVar[int]", "ClassVar[int]", False),
    ("Literal[1]", "Literal[1]", False),
    ("int", "Union[int, str]", False),
]
"""Two types, and whether the host takes them for one: what has parts that are no classes is left to the container."""


def test_a_type_that_is_made_of_others_comes_out_by_these(tmp_path):
    (tmp_path / "product.py").write_text("class Own: pass\n", encoding="utf-8")
    head = "from typing import *\nfrom product import Own\n"
    pairs = [f"with __goldseam__(0) as h: h({left}, {right})\n" for left, right, _ in GENERIC]
    sent = ran(sys.executable, tmp_path, {"all": head + "".join(pairs)})
    for (left, right, alike), frame in zip(GENERIC, sent["all"], strict=True):
        given, kept = (
            values.decode(value, kept=is_kept) for value, is_kept in zip(frame["values"], (False, True), strict=True)
        )
        assert (given == kept) is alike, (left, right, frame)


@pytest.mark.parametrize("python", sorted(_interpreters()))
def test_an_object_that_has_a_name_or_is_compared_by_its_fields_comes_out_by_these(tmp_path, python):
    (tmp_path / "product.py").write_text(RECORDS, encoding="utf-8")
    script = "import product\nwith __goldseam__(0) as h: h(*product.all)\n"
    sent = ran(_interpreters()[python], tmp_path, {"all": script})
    constants, [*fields] = ([values.load(value).value for value in part[1]] for part in sent["all"][0]["values"])
    red, null, none = constants
    assert (red.name, red.items, null.name, null.items) == (
        *("product.Color", ("RED", "CRIMSON")),
        *("product.Null", ("null", "nothing")),
    )
    assert not isinstance(none, Record)
    assert [(one.name, one.attrs) for one in fields if isinstance(one, Record)] == [
        (f"product.{one.name.rpartition('.')[2]}", (("x", 1), ("y", [red]))) for one in fields
    ]


@pytest.mark.parametrize("python", sorted(_interpreters().keys() - {"python3.6"}))
def test_an_object_that_compares_itself_comes_out_with_its_fields_but_beside_a_result(tmp_path, python):
    own = """
import dataclasses
@dataclasses.dataclass
class Own:
    x: object
    y: object = 2
    def __eq__(self, other): return True
circle = Own(1)
circle.x = [circle, circle]
all = [Own(3), Own([Own(4)]), circle, [Own("a" * 99999), Own(5)], Own([0] * 9000)]
"""
    (tmp_path / "product.py").write_text(own, encoding="utf-8")
    hand_out = "import product\nwith __goldseam__(0) as h: h(*product.all)\n"
    results = "import product\nwith __goldseam__(0) as h: h.check('==', product.all[0], 1)\n"
    record = "import product\nwith __goldseam__(0) as h: h.recorded(product.all[0])\n"
    sent = ran(_interpreters()[python], tmp_path, {"all": hand_out, "check": results, "record": record})
    one, other, circle, [large, after], long = sent["all"][0]["values"][:3] + [
        part[1] if part[0] == "l" else part for part in sent["all"][0]["values"][3:]
    ]
    assert one == ["o", "product.Own", [["x", ["i", "3"]], ["y", ["i", "2"]]], None, True]
    assert other[2][0] == ["x", ["l", [["o", "product.Own", [["x", ["i", "4"]], ["y", ["i", "2"]]], None, True]]]]
    assert [part[2] for part in (circle, large, after, long)] == [None] * 4
    assert sent["check"][0]["values"] == [["o", "product.Own", None, None, True], ["i", "1"], True]
    assert sent["record"][0]["values"][0] == ["o", "product.Own", None, None, True]


OWN_FORMS = """
class Lazy:
    def __init__(self, make): self.make = make
    def __eq__(self, other): return self.make() == other
    def __str__(self): return str(self.make())
    def __iter__(self): return iter(self.make())
    def __len__(self): return len(self.make())
    def keys(self): return self.make().keys()
    def __getitem__(self, key): return self.make()[key]
    def startswith(self, text): return self.make().startswith(text)
    def endswith(self, text): return self.make().endswith(text)
    def __contains__(self, item): return item in self.make()
    def __lt__(self, other): return self.make() < other
class Bare(object):
    def __eq__(self, other): return "a" == other
    def __str__(self): return "a"
class Claiming(object):
    __class__ = property(lambda self: str)
    def __str__(self): return "a"
class Proxy(Lazy):
    __class__ = property(lambda self: str)
class Other(Lazy):
    def __eq__(self, other): return NotImplemented
class All(Lazy):
    def __eq__(self, other): return True
class Empty(Lazy):
    def __len__(self): return 0
    __eq__ = object.__eq__
text, proxy, listed = Lazy(lambda: "a"), Proxy(lambda: "a"), Lazy(lambda: [1])
mapped, other, all, empty = Lazy(lambda: {1: 2}), Other(lambda: "a"), All(lambda: "a"), Empty(lambda: "a")
"""


@pytest.mark.parametrize("python", sorted(_interpreters()))
def test_an_object_that_says_it_equals_a_plain_value_comes_out_as_that(tmp_path, python):
    (tmp_path / "product.py").write_text(OWN_FORMS, encoding="utf-8")
    names = ("text", "proxy", "listed", "mapped", "all", "other", "empty")
    scripts = {name: f"import product\nwith __goldseam__(0) as h: h(product.{name})\n" for name in names}
    scripts |= {"view": "with __goldseam__(0) as h: h(memoryview(b'ab'))\n"}
    scripts |= {
        name.lower(): f"import product\nwith __goldseam__(0) as h: h(product.{name}())\n"
        for name in ("Bare", "Claiming")
    }
    sent = ran(_interpreters()[python], tmp_path, scripts)
    one = ["i", "1"]
    expected = [["s", "a"], ["s", "a"], ["l", [one]], ["d", [[one, ["i", "2"]]]], ["s", "a"]]
    assert [sent[name][0]["values"][0] for name in names[:5]] == expected
    assert sent["view"][0]["values"] == [["o", "builtins.memoryview", None, None, None, ["b", "6162"]]]
    assert sent["bare"][0]["values"] == [["o", "product.Bare", None, None, None, ["s", "a"]]]
    assert sent["claiming"][0]["values"] == [["o", "product.Claiming", None, None, True]]
    assert [sent[name][0]["values"][0][2:] for name in names[5:]] == [[None, None]] * 2


def test_an_object_says_whether_it_is_true_where_no_code_of_the_product_tells(tmp_path):
    values_made = {
        "re.match('a', 'a')": [True], "collections.deque()": [False], "collections.deque([1])": [True],
        "(one for one in ())": [True], "object()": [True],
    }  # fmt: skip
    scripts = {text: f"import collections, re\nwith __goldseam__(0) as h: h({text})\n" for text in values_made}
    sent = ran(sys.executable, tmp_path, scripts)
    assert {text: sent[text][0]["values"][0][4:] for text in values_made} == values_made


def test_a_recording_of_an_object_that_is_compared_by_its_fields_looks_at_these(tmp_path):
    (tmp_path / "product.py").write_text(RECORDS, encoding="utf-8")
    scripts = {
        value: f"import product\nwith __goldseam__(0) as h: h.recorded({value}, 1)()\n"
        for value in ("product.Data(1, 2)", "product.Data(1, [product.Own(1, 2)])", "product.Own(1, 2)")
    }
    sent = ran(sys.executable, tmp_path, scripts)
    assert [frames[0]["values"][2] for frames in sent.values()] == [False, True, True]


def test_a_recording_takes_no_text_for_the_products_wherever_a_test_has_gone(tmp_path):
    (tmp_path / "data").mkdir()
    recorded = f"import os\nos.chdir({str(tmp_path / 'data')!r})\nwith __goldseam__(0) as h: h.recorded('a', 1)()\n"
    [[frame]] = ran(sys.executable, tmp_path, {"a": recorded}).values()
    assert frame["values"][2] is False


def test_an_exception_comes_out_with_its_classes_text_and_arguments(sent):
    for expression, expected in EXCEPTIONS.items():
        found = values.decode(the_value(sent[expression]))
        assert isinstance(found, Raised), expression
        names = tuple(one for one in found.names if one not in ("builtins.Exception", "builtins.BaseException"))
        assert (names, found.text, found.args) == expected, expression
        assert found.names[-1] == "builtins.BaseException", expression


def test_a_recording_tells_whether_the_work_trees_code_compares(sent):
    for operands, compares in RECORDED.items():
        [frame] = sent[operands]
        assert (frame["values"][2], len(frame["values"]), frame["raised"]) == (compares, 3, None), operands


def test_what_is_inside_of_a_value_does_not_matter_where_nothing_compares_it(sent):
    for operands, compares in RECORDED_ALONE.items():
        [frame] = sent[operands]
        assert (frame["values"][-1], frame["raised"]) == (compares, None), operands


def test_what_a_test_comes_to_again_is_counted(sent):
    assert [(frame["slot"], frame["n"]) for frame in sent["one after another"]] == [(4, 0), (4, 1)]
    assert decoded(sent["one after another"]) == [0, 1]


def test_each_test_is_counted_alone(sent):
    assert [(frame["id"], frame["n"]) for frame in sent["other tests"]] == [("a", 0), ("b", 0), ("a", 1)]


def test_a_site_without_operands_sends_its_frame(sent):
    [frame] = sent["no operand"]
    assert (frame["values"], frame["raised"]) == ([], None)


def test_after_an_error_the_test_goes_on(sent):
    first, second = sent["the test goes on"]
    assert (first["values"], values.decode(first["raised"]).names[0]) == ([], "builtins.KeyError")
    assert values.decode(second["values"][0]) == 2


def test_what_came_before_an_error_comes_out_with_it(sent):
    [frame] = sent["some operands and an error"]
    assert values.decode(frame["values"][0]) == 1
    assert values.decode(frame["raised"]).text == "'a'"


def test_a_call_that_would_end_the_program_is_an_error_like_others(sent):
    [frame] = sent["an end of the program"]
    assert values.decode(frame["raised"]).names == ("builtins.SystemExit", "builtins.BaseException")


def test_an_error_that_is_long_is_cut(sent):
    [frame] = sent["an error that is long"]
    assert len(values.decode(frame["raised"]).text) == 2**18


def test_an_error_that_holds_itself_has_an_end(sent):
    [frame] = sent["an error of itself"]
    assert '["x", "too large"]' in json.dumps(frame["raised"])
    assert not values.load(frame["raised"]).plain


def test_a_caught_error_can_be_asked_for_as_unittest_gives_it(sent):
    assert decoded(sent["what unittest calls it"]) == ["no"]


def test_where_nothing_was_raised_asking_for_it_is_an_error(sent):
    _, *asked = sent["nothing that was raised"]
    assert [values.decode(one["raised"]).names[0] for one in asked] == ["builtins.AttributeError"] * 2


def test_a_comparison_hands_out_its_operands_and_what_comes_of_it(sent):
    assert decoded(sent["a result"]) == [1, [1, 2], True, [], False]


def test_every_operator_that_compares_is_known(sent):
    assert [values.decode(frame["values"][2]) for frame in sent["every result"]] == [True] * 10


def test_a_comparison_that_fails_is_an_error(sent):
    [frame] = sent["a result that is raised"]
    assert len(frame["values"]) == 2
    assert values.decode(frame["raised"]).names[0] == "builtins.TypeError"


def test_a_recording_of_a_block_hands_out_what_is_kept_of_it(sent):
    [frame] = sent["what is kept of a block"]
    kind, pattern = map(values.decode, frame["values"])
    assert (kind.name, pattern, values.decode(frame["raised"]).text) == ("builtins.ValueError", "no", "no")


def test_warnings_come_out_as_a_list_and_can_be_asked_for(sent):
    block, after = sent["warnings"]
    [caught] = map(values.decode, block["values"])
    assert [(one.names[0], one.text) for one in caught] == [
        ("builtins.DeprecationWarning", "old"),
        ("builtins.UserWarning", "new"),
    ]
    assert [values.decode(one) for one in after["values"][:2]] == [2, "old"]
    assert values.decode(after["values"][2]).name == "builtins.UserWarning"


def test_an_error_in_a_block_that_warns_is_passed_on(sent):
    block, after = sent["warnings and an error"]
    assert values.decode(block["raised"]).text == "no"
    assert decoded([after]) == ["passed on"]


def test_a_generator_that_is_closed_in_a_block_ends(sent):
    assert decoded(sent["a closed generator"][-1:]) == ["closed"]


def test_an_example_of_a_doctest_hands_out_what_it_prints_and_raises(sent):
    shown, failed = (values.decode(one["values"][0]) for one in sent["examples"][:2])
    assert shown == ("3\n", None)
    assert (failed[0], failed[1].names[0]) == ("", "builtins.ZeroDivisionError")
    assert values.decode(sent["examples"][-1]["values"][0]) == 0


def test_a_recording_of_an_example_tells_under_which_options_it_is_compared(sent):
    [frame] = sent["an example and its options"]
    told = [values.decode(one) for one in frame["values"]]
    assert told == [("1", None), ("1\n", None), False, ["ELLIPSIS", "NORMALIZE_WHITESPACE"]]


def test_a_set_comes_out_in_the_same_order_in_every_process(tmp_path):
    script = "with __goldseam__(0) as h: h(set('abcdefgh'), frozenset([1, 'a', None]))\n"
    one, other = (ran(sys.executable, tmp_path, {"": script}, PYTHONHASHSEED=seed) for seed in ("1", "2"))
    assert one == other


def test_a_caught_error_can_be_asked_for_as_pytest_gives_it():
    names: dict[str, object] = {"__name__": "runner"}
    exec(SOURCE, names)
    frames: list[object] = []

    class Frames:
        def send(self, kind: str, **fields: object) -> None:
            frames.append((kind, fields))

    hand_out = names["HandOut"](Frames(), ["t.py::test_a"])  # type: ignore[operator]
    with hand_out(0) as info:
        raise ValueError("no")
    assert (info.value.args, info.type, info.typename) == (("no",), ValueError, "ValueError")
    assert info.match("n")
    assert len(frames) == 1


def test_deprecated_call_waits_for_what_the_images_pytest_does(monkeypatch):
    names = {"__name__": "runner"}
    exec(compile(SOURCE, "<goldseam>", "exec"), names)
    out = names["HandOut"](None, [""])
    both = (DeprecationWarning, PendingDeprecationWarning)
    monkeypatch.setattr(pytest, "__version__", "7.4.4")
    assert out.deprecations == both
    monkeypatch.setattr(pytest, "__version__", "8.0.0")
    assert out.deprecations == (*both, FutureWarning)
