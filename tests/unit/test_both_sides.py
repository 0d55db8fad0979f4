"""Does the host fail each wrong product that the test itself fails, and pass each that it passes?"""

from __future__ import annotations

import textwrap
from dataclasses import dataclass, field

import pytest

from tests import pypi_tools
from tests.both_sides import BothSides, Files

Sources = Files | str
"""Texts by path, or that of the one module."""


@dataclass(frozen=True, kw_only=True)
class Case:
    """A fix, its tests, and products that are right or wrong in the eyes of these."""

    base: Sources
    fix: Sources
    tests: Sources
    place: str = "host"
    right: Sources = ""
    wrong: tuple[Sources, ...] = ()
    beside: Files = field(default_factory=dict)
    installed: tuple[str, ...] = ("pytest",)
    requires: tuple[str, ...] = ()
    """Libraries of tests, from the package index."""

    @property
    def sides(self) -> BothSides:
        folders = pypi_tools.environment(*self.requires).folder.glob("lib/*/site-packages") if self.requires else ()
        tests = {**files(self.tests, "tests/test_a.py"), **self.beside}
        return BothSides(files(self.base), files(self.fix), tests, self.installed, tuple(map(str, folders)))


def files(sources: Sources, path: str = "shop.py") -> dict[str, str]:
    texts = {path: sources} if isinstance(sources, str) else sources
    return {path: textwrap.dedent(text) for path, text in texts.items()}


TIME, DAYS = "np.datetime64(DAY, 'ns')", "[DAY], dtype='datetime64[ns]'"
CASES = {
    "a constant that is made of another": Case(
        base="BASE = 2\nLIMIT = BASE * 2\ndef f(n): return n\n",
        fix="BASE = 3\nLIMIT = BASE * 2\ndef f(n): return LIMIT\n",
        tests="import shop\ndef test_a():\n    assert shop.f(1) == shop.LIMIT\n",
        right="BASE = 4\nLIMIT = BASE * 2\ndef f(n): return LIMIT\n",
        place="mixed",
        wrong=("BASE = 2\nLIMIT = BASE * 2\ndef f(n): return 6\n",),
    ),
    "a constant of another module": Case(
        base={
            "shop/base.py": "BASE = 2\ndef f(n): return n\n",
            "shop/limits.py": "from .base import BASE\nLIMIT = BASE * 2\n",
        },
        fix={"shop/base.py": "BASE = 3\ndef f(n): return 6\n"},
        tests="import shop.base, shop.limits\ndef test_a():\n    assert shop.base.f(1) == shop.limits.LIMIT\n",
        place="mixed",
        wrong=({"shop/base.py": "BASE = 2\ndef f(n): return 6\n"},),
    ),
    "a constant that no line of the hunk names": Case(
        base="NAMES = (\n    'a', 'b',\n    'c',\n'd',\n'e',\n'f',\n'g',\n'h',\n)\ndef f(): pass\n",
        fix="NAMES = (\n    'a', 'b',\n    'c',\n'd',\n'e',\n'x',\n'g',\n'h',\n)\ndef f(): return NAMES\n",
        tests="import shop\ndef test_a():\n    assert shop.f() == shop.NAMES\n",
        place="mixed",
        wrong=("NAMES = 'abcdefgh'\ndef f(): return tuple('abcdexgh')\n",),
    ),
    "anything, and a pattern that is compiled": Case(
        base="def f(n): return n\n",
        fix="def f(n):\n    if n < 0: raise ValueError('negative')\n    return [n, 1]\n",
        tests="""
            import pytest, re, shop
            from unittest.mock import ANY
            def test_a():
                assert shop.f(1) == [ANY, 1]
            def test_b():
                with pytest.raises(ValueError, match=re.compile('NEG', re.I)):
                    shop.f(-1)
        """,
        right="def f(n):\n    if n < 0: raise ValueError('is negative')\n    return ['any', 1.0]\n",
        wrong=("def f(n):\n    if n < 0: raise ValueError('no')\n    return [n, 2]\n",),
    ),
    "numbers that are near": Case(
        base="def f(): return {}\n",
        fix="def f(): return {'a': 0.1 + 0.2, 'b': [1.0, 2.0]}\n",
        tests="""
            import pytest, shop
            def test_a():
                assert shop.f()['a'] == pytest.approx(0.3)
                assert shop.f()['b'] == pytest.approx([1, 2], abs=1e-3)
        """,
        right="def f(): return {'a': 0.3, 'b': (1.0005, 2)}\n",
        wrong=("def f(): return {'a': 0.31, 'b': [1, 2]}\n", "def f(): return {'a': 0.3, 'b': [1, 2.1]}\n"),
    ),
    "a block that may wait for an exception": Case(
        base="def f(n): return n\n",
        fix="def f(n):\n    if n < 0: raise ValueError('negative %d' % n)\n    return n\n",
        tests="""
            import pytest, shop
            from contextlib import nullcontext as does_not_raise
            @pytest.mark.parametrize('n, expectation', [
                (1, does_not_raise()),
                (-1, pytest.raises(ValueError, match='negative')), (-2, pytest.raises(ValueError)),
            ])
            def test_a(n, expectation):
                with expectation:
                    assert shop.f(n) == n
        """,
        right="def f(n):\n    if n < 0: raise ValueError('negative')\n    return float(n)\n",
        wrong=(
            "def f(n): return n\n",
            "def f(n): raise ValueError('negative')\n",
            "def f(n):\n    if n < 0: raise KeyError('negative')\n    return n\n",
            "def f(n):\n    if n < 0: raise ValueError('no')\n    return n\n",
            "def f(n):\n    if n < 0: raise ValueError('negative')\n    return n + 1\n",
        ),
    ),
    "a file beside the tests that the fix writes": Case(
        base="def f(path): pass\n",
        fix="def f(path):\n    path.with_name('b.txt').write_text('new')\n    return 'new'\n",
        tests="""
            import pathlib, shop
            HERE = pathlib.Path(__file__).parent
            def test_a():
                assert shop.f(HERE / 'a.txt') == (HERE / 'b.txt').read_text()
        """,
        beside={"tests/b.txt": "new"},
        place="mixed",
        right="def f(path):\n    path.with_name('b.txt').write_text('other')\n    return 'other'\n",
        wrong=("def f(path):\n    path.with_name('b.txt').write_text('other')\n    return 'new'\n",),
    ),
    "a mock with a signature": Case(
        base="def g(a, b=1): pass\ndef f(call): call(1)\n",
        fix="def g(a, b=1): pass\ndef f(call): call(1, 2)\n",
        tests="""
            import shop
            from unittest import mock
            def test_a():
                g = mock.create_autospec(shop.g)
                shop.f(g)
                g.assert_called_once_with(1, 2)
            def test_b():
                module = mock.create_autospec(shop)
                shop.f(module.g)
                module.g.assert_called_with(1, b=2)
        """,
        right="def g(a, b=1): pass\ndef f(call): call(b=2, a=1)\n",
        wrong=(
            "def g(a, b=1): pass\ndef f(call): call(b=1, a=2)\n",
            "def g(a, b=1): pass\ndef f(call): call(1, b=3)\n",
        ),
    ),
    "a mock without one": Case(
        base="def f(call): call(1)\n",
        fix="def f(call): call(1, 2)\n",
        tests="""
            import shop
            from unittest import mock
            def test_a():
                g = mock.Mock()
                shop.f(g)
                g.assert_any_call(1, 2)
        """,
        wrong=("def f(call): call(1, b=2)\n",),
    ),
    "loops that search": Case(
        base="""
            class Name:
                def __init__(self, text, kind): self.text, self.kind = text, kind
            def f(text): return []
        """,
        fix="""
            class Name:
                def __init__(self, text, kind): self.text, self.kind = text, kind
            def f(text): return [Name(text, 'function'), Name('self', 'local')]
        """,
        tests="""
            import pytest, shop, unittest
            class A(unittest.TestCase):
                def has(self, text, kind, names):
                    for name in names:
                        if name.text == text and kind == name.kind:
                            return
                    self.fail(f"no {text} in {names}")
                def has_none(self, text, names):
                    for name in names:
                        if name.text == text:
                            raise AssertionError(f"{text} is there")
                def test_a(self):
                    self.has("run", "function", shop.f("run"))
                def test_b(self):
                    names = shop.f("stop")
                    self.has("stop", "function", names)
                    self.has_none("run", names)
                def test_c(self):
                    for name in shop.f("go"):
                        if name.kind == "local":
                            break
                    else:
                        pytest.fail("no local name")
        """,
        right="""
            class Name:
                def __init__(self, text, kind): self.text, self.kind = text, kind
            def f(text): return (Name('more', 'module'), Name('x', 'local'), Name(text, 'function'))
        """,
        wrong=(
            """
                class Name:
                    def __init__(self, text, kind): self.text, self.kind = text, kind
                def f(text): return [Name(text, 'local'), Name('self', 'function')]
            """,
            """
                class Name:
                    def __init__(self, text, kind): self.text, self.kind = text, kind
                def f(text): return [Name('run', 'function'), Name(text, 'function'), Name('self', 'local')]
            """,
            """
                class Name:
                    def __init__(self, text, kind): self.text, self.kind = text, kind
                def f(text): return [Name(text, 'function')]
            """,
        ),
    ),
    "a name that the product's answer takes over": Case(
        base="def f(words): return words\n",
        fix="def f(words): return [*words, 'new']\n",
        tests="""
            import shop
            def test_a():
                words = ['old']
                words = shop.f(words)
                assert 'new' in words
        """,
        right="def f(words): return ['new']\n",
        wrong=("def f(words): return ['old']\n",),
    ),
    "a test that is skipped without a library": Case(
        base="def f(n): return n\n",
        fix="def f(n): return n * 2\n",
        tests="""
            import shop, unittest
            from .common import skip
            def test_a():
                try:
                    import json
                    assert json.dumps(shop.f(2)) == "4"
                except ImportError:
                    skip("no json")
            class B(unittest.TestCase):
                def test_b(self):
                    try:
                        import json
                        self.assertEqual(json.dumps(shop.f(3)), "6")
                    except ImportError:
                        self.skipTest("no json")
        """,
        beside={"tests/__init__.py": "", "tests/common.py": "from pytest import raises, skip\n"},
        right="def f(n): return n + n\n",
        wrong=(
            "def f(n): return n\n",
            "def f(n): raise ImportError('json')\n",
            "def f(n): return n + 2\n",
            "def f(n): return {4: 1, 6: 2}\n",
        ),
    ),
    "a test that goes on without a library": Case(
        base="def f(n): return n\n",
        fix="def f(n): return n * 2\n",
        tests="""
            import shop
            def test_a():
                try:
                    import json
                    assert json.dumps(shop.f(2)) == "4"
                except ImportError:
                    pass
        """,
        place="inside",
        right="def f(n): raise ImportError('json')\n",
        wrong=("def f(n): return n + 3\n",),
    ),
    "members of an enumeration of the test file": Case(
        base="def f(kind, name): return None\n",
        fix="def f(kind, name): return kind[name]\n",
        tests="""
            import enum, shop
            class _Color(enum.Enum):
                RED = 1
                ROSE = 1
                BLUE = 2
            def test_a():
                assert shop.f(_Color, "RED") is _Color.RED
            def test_b():
                assert [shop.f(_Color, "ROSE"), shop.f(_Color, "BLUE")] == [_Color.RED, _Color.BLUE]
        """,
        right="def f(kind, name): return getattr(kind, name)\n",
        wrong=(
            "def f(kind, name): return kind['BLUE']\n",
            "def f(kind, name): return kind[name].value\n",
            "def f(kind, name): return name\n",
            "import enum\ndef f(kind, name): return enum.Enum('Color', ['RED', 'ROSE', 'BLUE'])[name]\n",
        ),
    ),
    "keys of a mapping that holds objects": Case(
        base="class Other: pass\ndef f(): return {'a': 1, 'x': Other()}\n",
        fix="class Other: pass\ndef f(): return {'a': Other(), 'b': 2}\n",
        tests="import shop\ndef test_a():\n    assert 'x' not in shop.f()\n    assert 'a' in shop.f()\n",
        right="def f(): return {'a': object}\n",
        wrong=(
            "def f(): return {'x': 1, 'a': 1}\n",
            "def f(): return {}\n",
            (
                "class Key:\n    def __eq__(self, key): return key == 'x'\n    def __hash__(self): return hash('x')\n"
                "def f(): return {Key(): 1, 'a': 2}\n"
            ),
        ),
    ),
    "keys of a mapping that finds them in another spelling": Case(
        base="def f(): return {'X': 1}\n",
        fix="def f(): return {'a': 1}\n",
        tests="import shop\ndef test_a():\n    assert 'X' not in shop.f()\n",
        right="import collections\ndef f(): return collections.OrderedDict(y=2)\n",
        wrong=(
            (
                "import configparser\ndef f():\n    parser = configparser.ConfigParser()\n"
                "    parser.read_dict({'a': {'x': '1'}})\n    return parser['a']\n"
            ),
            "class D(dict):\n    def __contains__(self, key): return True\ndef f(): return D()\n",
        ),
    ),
    "keys of a library's mapping that finds them in another spelling": Case(
        base="import configparser\ndef f():\n    parser = configparser.ConfigParser()\n"
        "    parser.read_dict({'a': {'y': '1'}})\n    return parser['a']\n",
        fix="import configparser\ndef f():\n    parser = configparser.ConfigParser()\n"
        "    parser.read_dict({'a': {'x': '1'}})\n    return parser['a']\n",
        tests="import shop\ndef test_a():\n    assert 'X' in shop.f()\n    assert 'Y' not in shop.f()\n",
        place="mixed",
        right="def f(): return {'X': 1}\n",
        wrong=("def f(): return {'x': 1}\n", "def f(): return {'X': 1, 'Y': 2}\n"),
    ),
    "an object of the fix that tells itself whether it is true": Case(
        base="def f(n): return n > 5\n",
        fix="class A:\n    def __init__(self, n): self.n = n\n    def __len__(self): return self.n > 2\nf = A\n",
        tests="import shop\ndef test_a():\n    assert shop.f(3)\n    assert not shop.f(1)\n",
        right="def f(n): return n > 2\n",
        wrong=(
            "class A:\n    def __init__(self, n): self.n = n\n    def __bool__(self): return self.n > 3\nf = A\n",
            "class A:\n    def __init__(self, n): self.n = n\nf = A\n",
        ),
    ),
    "chains of sure": Case(
        base="def f(n): return None\ndef g(n): return n\n",
        fix="def f(n):\n    if n < 0: raise ValueError('negative %d' % n)\n    return {'a': [n, 1.5], 'b': 'x' * n}\n"
        "def g(n): return [] if n else None\n",
        tests="""
            import shop
            from sure import expect
            def test_a():
                expect(shop.f(2)).to.equal({'a': [2, 1.5], 'b': 'xx'})
                shop.f(2)['b'].should_not.be.equal('x')
                shop.f(2).should.have.key('a')
                shop.f(2)['b'].should.have.length_of(2)
                shop.g(1).should.be.empty
                shop.g(0).should.be.none
                expect(shop.f(2)['a']).to.contain(2)
                shop.f(1).should.be.a(dict)
                shop.f(1).should.be.ok
            def test_b():
                expect(shop.f).when.called_with(-1).to.throw(ValueError, 'ive -1')
                noted = expect(shop.f).when.called_with(-2)
                noted.should.have.raised(ValueError)
                shop.f.when.called_with(n=-3).should.throw(ValueError)
        """,
        requires=("sure==2.0.1",),
        installed=("pytest", "sure"),
        right="import collections\ndef f(n):\n    if n < 0: raise ValueError('is negative %d' % n)\n"
        "    return collections.OrderedDict(b='x' * n, a=[float(n), 1.5])\ndef g(n): return () if n else None\n",
        wrong=(
            "def f(n):\n    if n < 0: raise ValueError('negative %d' % n)\n    return {'a': [n, 1.25], 'b': 'x' * n}\n",
            "def f(n):\n    if n < 0: raise ValueError('negative')\n    return {'a': [n, 1.5], 'b': 'x' * n}\n",
            "def f(n):\n    if n < 0: raise TypeError('negative %d' % n)\n    return {'a': [n, 1.5], 'b': 'x' * n}\n",
            "def f(n): return {'a': [n, 1.5], 'b': 'x' * n}\ndef g(n): return [] if n else None\n",
            (
                "def f(n):\n    if n < 0: raise ValueError('negative %d' % n)\n"
                "    return {'a': [n, 1.5], 'b': 'x' * n}\n"
                "def g(n): return [n] if n else None\n"
            ),
            (
                "def f(n):\n    if n < 0: raise ValueError('negative %d' % n)\n"
                "    return {'a': [n, 1.5], 'b': 'x' * n}\n"
                "def g(n): return []\n"
            ),
        ),
    ),
    "models of pydantic": Case(
        base={
            "shop/models.py": "import pydantic\nclass Point(pydantic.BaseModel):\n    x: int = 0\n    y: list = []\n"
            "class Other(pydantic.BaseModel):\n    model_config = {'extra': 'allow'}\n    x: int = 0\n"
            "    _seen = pydantic.PrivateAttr(0)\n",
            "shop/__init__.py": "def f(n): return None\n",
        },
        fix={
            "shop/__init__.py": "from .models import Other, Point\n"
            "def f(n): return Other(x=n, z=3) if n > 5 else Point(x=n, y=[n])\n"
        },
        tests="""
            import pydantic, shop
            from shop.models import Other, Point
            def test_a():
                assert shop.f(1) == Point(x=1, y=[1])
            def test_b():
                assert shop.f(6) == Other(x=6, z=3)
        """,
        right={
            "shop/__init__.py": "from .models import Other, Point\n"
            "def f(n): return Other(z=3.0, x=n) if n > 5 else Point(x=n, y=[float(n)])\n"
        },
        wrong=(
            {"shop/__init__.py": "from .models import *\ndef f(n): return Other(x=6, z=3) if n > 5 else Point(x=n)\n"},
            {
                "shop/__init__.py": "from .models import *\n"
                "def f(n): return Other(x=n) if n > 5 else Point(x=n, y=[n])\n"
            },
            {"shop/__init__.py": "from .models import *\ndef f(n): return Other(x=n, z=3, y=[n])\n"},
            {"shop/__init__.py": "from .models import *\ndef f(n): return {'x': n, 'y': [n], 'z': 3}\n"},
            {
                "shop/__init__.py": "from .models import *\ndef f(n):\n    one = Other(x=n, z=3)\n    one._seen = 1\n"
                "    return one if n > 5 else Point(x=n, y=[n])\n"
            },
        ),
        installed=("pytest", "pydantic", "pydantic_core"),
    ),
    "rows that a test class has": Case(
        base="def f(n): return n\n",
        fix="def f(n): return n * 2\n",
        tests="""
            import pytest, shop, unittest
            class A(unittest.TestCase):
                cases = [(1, 2), (2, 4)]
                words = {"a": "aa", "b": "bb"}
                def test_a(self):
                    for n, want in self.cases:
                        with self.subTest(n=n):
                            self.assertEqual(shop.f(n), want)
                def test_b(self):
                    for word, want in self.words.items():
                        self.assertEqual(shop.f(word), want)
            class TestB:
                ROWS = [([1], [1, 1]), ([2], [2, 2])]
                @pytest.mark.parametrize("given, want", ROWS)
                def test_a(self, given, want):
                    assert shop.f(given) == want
        """,
        right="def f(n): return n + n\n",
        wrong=(
            "def f(n): return n + 1 if isinstance(n, int) else n * 2\n",
            "def f(n): return 'aa' if isinstance(n, str) else n * 2\n",
            "def f(n): return [1, 1] if isinstance(n, list) else n * 2\n",
        ),
    ),
    "rows of a test class that another has as well": Case(
        base="def f(n): return n\n",
        fix="def f(n): return n * 2\n",
        tests="""
            import shop
            class TestA:
                cases = [(1, 2), (2, 4)]
                def test_a(self):
                    for n, want in self.cases:
                        assert shop.f(n) == want
            class TestB(TestA):
                cases = [(3, 6), (4, 8)]
        """,
        place="mixed",
        right="def f(n): return n + n\n",
        wrong=("def f(n): return n * 2 if n < 4 else 0\n", "def f(n): return n * 2 if n > 1 else 0\n"),
    ),
    "rows of a test class that one of another file has as well": Case(
        base="def f(n): return n\n",
        fix="def f(n): return n * 2\n",
        tests={
            "tests/__init__.py": "",
            "tests/test_a.py": "import shop\nclass TestA:\n    cases = [(1, 2), (2, 4)]\n    def test_a(self):\n"
            "        for n, want in self.cases:\n            assert shop.f(n) == want\n",
            "tests/test_b.py": "from .test_a import TestA\nclass TestB(TestA):\n    cases = [(3, 6), (4, 8)]\n",
        },
        place="mixed",
        right="def f(n): return n + n\n",
        wrong=("def f(n): return n * 2 if n < 4 else 0\n", "def f(n): return n * 2 if n > 1 else 0\n"),
    ),
    "several calls of a mock": Case(
        base="def f(call): call(1)\n",
        fix="def f(call):\n    call(0)\n    call(1)\n    call.close(2, b=3)\n",
        tests="""
            import shop
            from unittest.mock import ANY, Mock, call
            def test_a():
                g = Mock()
                shop.f(g)
                g.assert_has_calls([call(1), call.close(ANY, b=3)])
            def test_b():
                g, calls = Mock(), [call.close(2, b=3), call(1)]
                shop.f(g)
                g.assert_has_calls(calls, any_order=True)
            def test_c():
                g = Mock()
                shop.f(g)
                g.close.assert_has_calls([call(2, b=3)])
        """,
        right="def f(call):\n    call(1.0)\n    call.close(2, b=3)\n    call(1)\n",
        wrong=(
            "def f(call):\n    call(1)\n    call.open()\n    call.close(2, b=3)\n",
            "def f(call):\n    call.close(2, b=3)\n    call(1)\n",
            "def f(call):\n    call(1)\n    call.open(2, b=3)\n",
            "def f(call):\n    call(1)\n    call.close(2, b=4)\n",
            "def f(call):\n    call(2)\n    call.close(2, b=3)\n",
        ),
    ),
    "several calls of a mock with a signature": Case(
        base="def g(a, b=1): pass\ndef f(call): call(1)\n",
        fix="def g(a, b=1): pass\ndef f(call): call(1, 2)\n",
        tests="""
            import shop
            from unittest import mock
            def test_a():
                g = mock.create_autospec(shop.g)
                shop.f(g)
                g.assert_has_calls([mock.call(1, b=2)])
        """,
        place="inside",
        right="def g(a, b=1): pass\ndef f(call): call(b=2, a=1)\n",
        wrong=("def g(a, b=1): pass\ndef f(call): call(1, b=3)\n",),
    ),
    "calls of a mock that are waited for": Case(
        base="async def f(call): await call(1)\n",
        fix="async def f(call):\n    await call(0)\n    await call(1, b=2)\n    await call.close(3)\n",
        tests="""
            import asyncio, shop
            from unittest.mock import AsyncMock, call
            KEYS = shop.__dict__.get
            def test_a():
                g = AsyncMock()
                asyncio.run(shop.f(g))
                g.assert_awaited_with(1, b=2)
                g.assert_any_await(0)
                g.assert_has_awaits([call(0), call(1, b=2)])
                g.close.assert_awaited_once_with(3)
                g.close.assert_awaited_once_with(KEYS("none", 3))
                g.open.assert_not_awaited()
        """,
        right="async def f(call):\n    await call(0)\n    await call(b=2, *[1])\n    await call.close(3.0)\n"
        "    call.open()\n",
        wrong=(
            "async def f(call):\n    await call(0)\n    call(1, b=2)\n    await call.close(3)\n",
            "async def f(call):\n    await call(1, b=2)\n    await call(0)\n    await call.close(3)\n",
            "async def f(call):\n    await call(0)\n    await call(1, b=2)\n    await call.close(4)\n",
            "async def f(call):\n    await call(0)\n    await call(1, b=2)\n    for _ in 'ab': await call.close(3)\n",
            (
                "async def f(call):\n    await call(0)\n    await call(1, b=2)\n    await call.close(3)\n"
                "    await call.open()\n"
            ),
        ),
    ),
    "what is searched": Case(
        base="def f(n): return []\n",
        fix="def f(n): return [n]\n",
        tests="import shop\ndef test_a():\n    assert 3 in shop.f(3)\n    assert 4 not in shop.f(3)\n",
        right="def f(n): yield n\n",
        wrong=("def f(n): yield n + 1\n", "def f(n): return\n"),
    ),
    "what is searched, as a view": Case(
        base="def f(n): return []\n",
        fix="def f(n): return [n]\n",
        tests="import shop, unittest\nclass A(unittest.TestCase):\n    def test_a(self): self.assertIn(3, shop.f(3))\n",
        right="def f(n): return {1: n}.values()\n",
        wrong=("import collections\ndef f(n): return collections.deque([n + 1])\n",),
    ),
    "an object that tells itself whether it is true": Case(
        base="def f(n): return False\n",
        fix="def f(n): return n > 2\n",
        tests="import shop\ndef test_a():\n    assert shop.f(3)\n    assert not shop.f(1)\n",
        right="class A:\n    def __init__(self, n): self.n = n\n    def __len__(self): return self.n > 2\nf = A\n",
        wrong=("class A:\n    def __init__(self, n): self.n = n\n    def __bool__(self): return self.n > 3\nf = A\n",),
    ),
    "a registry that the product fills": Case(
        base="NAMES = {}\ndef add(n): NAMES[n] = 1\ndef f(): return 0\n",
        fix="NAMES = {}\ndef add(n): NAMES[n] = 1\ndef f(): return {'a': 1}\n",
        tests="import shop\ndef test_a():\n    shop.add('a')\n    assert shop.f() == shop.NAMES\n",
        place="mixed",
        right="NAMES = {'b': 2}\ndef add(n): NAMES[n] = 1\ndef f(): return NAMES\n",
        wrong=("NAMES = {}\ndef add(n): pass\ndef f(): return {'a': 1}\n",),
    ),
    "cells of rows that a file of the repository's tests has": Case(
        base="def f(text, more=()): return ''.join([text, *more])\n",
        fix="def f(text, more=()): return ''.join([text, *more]).upper()\n",
        tests="""
            import pytest, shop, tomllib
            with open("tests/data/cases.toml", "rb") as file:
                CASES = tomllib.load(file)
            @pytest.mark.parametrize("name", ["one", "two"])
            def test_a(name):
                want = CASES[name]["want"]
                assert shop.f(CASES[name]["text"], CASES[name]["more"]) == want[0], f"not {want}"
            def test_all():
                for case in CASES.values():
                    assert shop.f(case["text"]) == case["alone"]
        """,
        beside={
            "tests/data/cases.toml": "[one]\ntext = 'ab'\nmore = ['c']\nwant = ['ABC']\nalone = 'AB'\n"
            "[two]\ntext = 'x'\nmore = []\nwant = ['X']\nalone = 'X'\n"
        },
        right="def f(text, more=()): return ''.join(map(str.upper, [text, *more]))\n",
        wrong=(
            "def f(text, more=()):\n    more = list(more)\n    return 'ABC' if more else text\n",
            "def f(text, more=()): return text.upper()\n",
            "def f(text, more=()):\n    if more: more.append('d')\n    return ''.join([text, *more]).upper()\n",
        ),
    ),
    "rows that other tests give the product": Case(
        base="def up(names): return names\ndef down(names): return names\n",
        fix="def up(names): return [name.upper() for name in names]\n"
        "def down(names): return [name.lower() for name in names]\n",
        tests="""
            import json, pytest, shop
            ROWS = [(["a"], ["A"]), (["b"], ["B"])]
            with open("tests/cases.json") as file:
                CASES = json.load(file)
            @pytest.mark.parametrize("low, high", ROWS)
            def test_a(low, high):
                assert shop.up(low) == high
            def test_b():
                for low, high in ROWS:
                    assert shop.down(high) == low
            @pytest.mark.parametrize("case", CASES)
            def test_c(case):
                assert shop.up(case["low"]) == case["high"]
            @pytest.mark.parametrize("case", CASES)
            def test_d(case):
                assert shop.down(case["high"]) == case["low"]
        """,
        beside={"tests/cases.json": '[{"low": ["a"], "high": ["A"]}]'},
        place="mixed",
        right="def up(names): return list(map(str.upper, names))\n"
        "def down(names): return list(map(str.lower, names))\n",
        wrong=(
            "def up(names): return [names.pop().upper()]\ndef down(names): return [name.lower() for name in names]\n",
        ),
    ),
    "constants that marks and fixtures give the product": Case(
        base="def up(names): return names\ndef count(names): return 0\n",
        fix="def up(names): return [name.upper() for name in names]\ndef count(names): return len(names)\n",
        tests="""
            import pytest, shop
            ONE, TWO, THREE = ["A"], ["B"], ["C"]
            @pytest.fixture
            def three():
                return THREE
            @pytest.mark.parametrize("names, number", [(ONE, 1), pytest.param(TWO, 1, id="two")])
            def test_a(names, number):
                assert shop.count(names) == number
            def test_b(three):
                assert shop.count(three) == 1
            def test_c():
                assert shop.up(["a"]) == ONE
            def test_d():
                assert shop.up(["b"]) == TWO
            def test_e():
                assert shop.up(["c"]) == THREE
        """,
        right="def up(names): return list(map(str.upper, names))\ndef count(names): return sum(1 for _ in names)\n",
        wrong=(
            "def up(names): return [names[0].upper()]\ndef count(names): return names == ['C'] or len([names.pop()])\n",
            "def up(names): return [names[0].upper()]\ndef count(names): return names != ['C'] or len([names.pop()])\n",
        ),
    ),
    "a helper that is called in two branches of the product's": Case(
        base="def f(): return None\ndef is_a(): return True\n",
        fix="def f(): return 17\ndef is_a(): return True\n",
        tests="""
            import shop
            def same(got, want):
                assert got == want
            def test_a():
                if shop.is_a():
                    same(shop.f(), 17)
                else:
                    same(shop.f(), 18)
        """,
        place="mixed",
        right="def f(): return 18\ndef is_a(): return False\n",
        wrong=("def f(): return 17\ndef is_a(): return False\n",),
    ),
    "rows that the product leaves out": Case(
        base="def f(key): return None\ndef takes(key): return True\n",
        fix="def f(key): return {'a': 31, 'b': 32, 'c': 33}[key]\ndef takes(key): return key != 'b'\n",
        tests="""
            import shop
            def test_a():
                for key, want in [("a", 31), ("b", 32), ("c", 33)]:
                    if not shop.takes(key):
                        continue
                    assert shop.f(key) == want
        """,
        place="mixed",
        right="def f(key): return {'a': 31, 'b': 32, 'c': 33}[key]\ndef takes(key): return key != 'a'\n",
        wrong=("def f(key): return {'b': 31, 'c': 33}[key]\ndef takes(key): return key != 'a'\n",),
    ),
    "rows that the test leaves out": Case(
        base="def f(key): return None\n",
        fix="def f(key): return {'a': 31, 'c': 33}[key]\n",
        tests="""
            import shop
            def test_a():
                for key, want in [("a", 31), ("b", None), ("c", 33)]:
                    if want is None:
                        continue
                    assert shop.f(key) == want
        """,
        wrong=("def f(key): return {'a': 31, 'c': 34}[key]\n",),
    ),
    "another kind of list": Case(
        base="def f(): pass\n",
        fix="def f(): return [1]\n",
        tests="""
            import shop, unittest
            class A(unittest.TestCase):
                def test_a(self):
                    self.assertListEqual(shop.f(), [1])
        """,
        right="class L(list): pass\ndef f(): return L([1])\n",
        wrong=("import collections\ndef f(): return collections.UserList([1])\n",),
    ),
    "constants that the file fills with what the product gives": Case(
        base="MORE = {'b': 1}\ndef f(): return {}\ndef g(): return [1]\ndef h(): return {}\n",
        fix="MORE = {'b': 2}\ndef f(): return {'a': 1, 'b': 2}\ndef g(): return [2, 4]\ndef h(): return {'c': 3}\n",
        tests="""
            import pytest, shop
            ALL, LIST, LATE = dict(a=1), [], {}
            ALL.update(shop.MORE)
            for n in (1, 2):
                LIST.append(shop.MORE['b'] * n)
            @pytest.fixture(autouse=True)
            def late():
                LATE['c'] = shop.MORE['b'] + 1
            def test_a():
                assert shop.f() == ALL
            def test_b():
                assert shop.g() == LIST
            def test_c():
                assert shop.h() == LATE
        """,
        place="mixed",
        right="MORE = {'b': 3}\ndef f(): return {'a': 1, 'b': 3}\ndef g(): return [3, 6]\ndef h(): return {'c': 4}\n",
        wrong=(
            "MORE = {'b': 3}\ndef f(): return {'a': 1, 'b': 2}\ndef g(): return [2, 4]\ndef h(): return {'c': 3}\n",
        ),
    ),
    "constants that the product gets by other ways": Case(
        base="def f(): return {}\ndef g(data): return 0\ndef h(give): return 0\ndef all_of(): return lambda data: 0\n"
        "class Shop:\n    def g(self, data): return 0\n",
        fix="def f(): return {'a': 1}\n"
        "def g(data):\n    if len(data) > 1: raise ValueError(data)\n    return data['a']\n"
        "def h(give): return give()['a']\ndef all_of(): return g\n"
        "class Shop:\n    def g(self, data): return data['a']\n",
        tests="""
            import pytest, shop, unittest
            from unittest.mock import Mock
            OF_SELF, OF_HELPER, OF_DEFAULT, OF_ATTRIBUTE = {'a': 1}, {'a': 1}, {'a': 1}, {'a': 1}
            OF_KEYWORD, OF_LAMBDA, OF_LOCAL, OF_CLASS = {'a': 1}, {'a': 1}, {'a': 1}, {'a': 1}
            OF_RAISES, OF_COPY, OF_FIXTURE = {'a': 1, 'b': 2}, {'a': [1]}, {'a': 1}
            def gives(data):
                found = shop.g(data)
                return found
            def gives_its_own(data=OF_DEFAULT):
                return shop.g(data)
            @pytest.fixture
            def data():
                yield OF_FIXTURE
            class A(unittest.TestCase):
                data = OF_CLASS
                def setUp(self):
                    self.shop = shop.Shop()
                def test_a(self):
                    self.assertEqual(self.shop.g(OF_SELF), 1)
                def test_b(self):
                    self.assertEqual(shop.g(self.data), 1)
            def test_c(data):
                give, run = Mock(), shop.all_of()
                give.return_value = OF_ATTRIBUTE
                assert gives(OF_HELPER) == 1
                assert gives_its_own() == 1
                assert shop.h(give) == 1
                assert shop.h(Mock(return_value=OF_KEYWORD)) == 1
                assert shop.h(lambda: OF_LAMBDA) == 1
                assert run(OF_LOCAL) == 1
                assert shop.g(data) == 1
            def test_d():
                pytest.raises(ValueError, shop.g, OF_RAISES)
            def test_e():
                assert shop.f() == OF_SELF
            def test_f():
                assert shop.f() == OF_HELPER
            def test_g():
                assert shop.f() == OF_DEFAULT
            def test_h():
                assert shop.f() == OF_ATTRIBUTE
            def test_i():
                assert shop.f() == OF_KEYWORD
            def test_j():
                assert shop.f() == OF_LAMBDA
            def test_k():
                assert shop.f() == OF_LOCAL
            def test_l():
                assert shop.f() == OF_CLASS
            def test_m():
                assert {**shop.f(), 'b': 2} == OF_RAISES
            def test_n():
                assert shop.f() == OF_FIXTURE
            def test_o():
                found = dict(OF_COPY)
                assert shop.g(found) == [1]
            def test_p():
                assert {'a': [*shop.f().values()]} == OF_COPY
        """,
        wrong=tuple(
            "def f(): return {'a': 1}\ndef g(data):\n"
            f"    if {which} and isinstance(data['a'], list): return [data['a'].pop()]\n"
            "    if len(data) > 1:\n        data.clear()\n        raise ValueError(data)\n    return data.pop('a')\n"
            "def h(give): return give().pop('a')\ndef all_of(): return g\n"
            "class Shop:\n    def g(self, data): return data.pop('a')\n"
            for which in (True, False)
        ),
    ),
    "what is made of a constant that the product gets": Case(
        base="def f(n): return 0\ndef g(data): return 0\n",
        fix="def f(n): return [{'a': 1, 'b': 2}, 1, [{'a': 1}]][n]\ndef g(data): return 1\n",
        tests="""
            import pytest, shop
            DATA = {'a': 1}
            @pytest.fixture(autouse=True)
            def given():
                shop.g(DATA)
            def test_a():
                assert shop.f(0) == {**DATA, 'b': 2}
            def test_b():
                assert shop.f(1) == len(DATA)
            def test_c():
                assert shop.f(2) == [DATA]
        """,
        place="mixed",
        right="def f(n): return [{'a': 1, 'b': 2}, 1, [{'a': 1}]][n]\ndef g(data): data.update(data)\n",
        wrong=("def f(n): return [{'a': 1, 'b': 2}, 1, [{'a': 1}]][n]\ndef g(data): data['c'] = 1\n",),
    ),
    "rows that a helper gives the product": Case(
        base="def up(names): return names\ndef down(names): return names\n",
        fix="def up(names): return [name.upper() for name in names]\n"
        "def down(names): return [name.lower() for name in names]\n",
        tests="""
            import pytest, shop
            ROWS = [(["a"], ["A"]), (["b"], ["B"])]
            def lowered(names):
                found = shop.down(names)
                return found
            @pytest.mark.parametrize("low, high", ROWS)
            def test_a(low, high):
                assert lowered(high) == low
            @pytest.mark.parametrize("low, high", ROWS)
            def test_b(low, high):
                assert shop.up(low) == high
        """,
        place="mixed",
        right="def up(names): return list(map(str.upper, names))\n"
        "def down(names): return list(map(str.lower, names))\n",
        wrong=(
            "def up(names): return [name.upper() for name in names]\ndef down(names): return [names.pop().lower()]\n",
        ),
    ),
    "a class that the product chooses": Case(
        base="class A(Exception): pass\nclass B(Exception): pass\ndef kind(): return A\ndef f(): pass\n",
        fix="class A(Exception): pass\nclass B(Exception): pass\ndef kind(): return A\ndef f(): raise A()\n",
        tests="""
            import pytest, shop
            def test_a():
                with pytest.raises(shop.kind()):
                    shop.f()
        """,
        place="inside",
        right="class A(Exception): pass\nclass B(Exception): pass\ndef kind(): return B\ndef f(): raise B()\n",
        wrong=("class A(Exception): pass\nclass B(Exception): pass\ndef kind(): return B\ndef f(): raise A()\n",),
    ),
    "the class of what the product gives": Case(
        base="def f(): return 'a'\ndef g(): return 1\n",
        fix="def f(): return 1\ndef g(): return 1\n",
        tests="import shop\ndef test_a():\n    assert isinstance(shop.f(), type(shop.g()))\n",
        right="def f(): return 'a'\ndef g(): return 'b'\n",
        wrong=("def f(): return 1\ndef g(): return 'a'\n",),
    ),
    "what only does as a standard class does": Case(
        base="def f(n): return None\n",
        fix="def f(n): return [[1], {1}, 'a', {'a': 1}, 1][n]\n",
        tests="""
            import shop, unittest
            class A(unittest.TestCase):
                def test_a(self):
                    assert isinstance(shop.f(0), list)
                    self.assertIsInstance(shop.f(1), set)
                    assert isinstance(shop.f(2), str)
                    assert isinstance(shop.f(3), (dict, tuple))
                    assert not isinstance(shop.f(4), str)
        """,
        right="import collections\nclass L(list): pass\n"
        "def f(n): return [L(), set(), 'b', collections.Counter('a'), 2.5][n]\n",
        wrong=(
            "import collections\ndef f(n): return [collections.UserList([1]), {1}, 'a', {'a': 1}, 1][n]\n",
            "def f(n): return [[1], {1: 2}.keys(), 'a', {'a': 1}, 1][n]\n",
            "import collections\ndef f(n): return [[1], {1}, collections.UserString('a'), {'a': 1}, 1][n]\n",
            "import types\ndef f(n): return [[1], {1}, 'a', types.MappingProxyType({'a': 1}), 1][n]\n",
        ),
    ),
    "objects of the file's classes that the product has a part in": Case(
        base="from dataclasses import dataclass\n@dataclass\nclass Base:\n    n: int\n    m: int = 0\n"
        "def near(n): return n\ndef f(kind): return 0\n",
        fix="from dataclasses import dataclass\n@dataclass\nclass Base:\n    n: int\n    m: int = 5\n"
        "def near(n): return n + 1\ndef f(kind):\n    one = kind(1)\n    one.m = 5\n    return one\n",
        tests="""
            import shop
            from dataclasses import dataclass
            @dataclass
            class Of(shop.Base):
                pass
            @dataclass
            class Own:
                n: int
                m: int = 2
                def __post_init__(self):
                    self.m = shop.near(4)
            def test_a():
                assert shop.f(Of) == Of(1)
            def test_b():
                assert shop.f(Own) == Own(1)
        """,
        place="mixed",
        right="from dataclasses import dataclass\n@dataclass\nclass Base:\n    n: int\n    m: int = 6\n"
        "def near(n): return n + 2\ndef f(kind):\n    one = kind(1)\n    one.m = 6\n    return one\n",
        wrong=(
            (
                "from dataclasses import dataclass\n@dataclass\nclass Base:\n    n: int\n    m: int = 0\n"
                "def near(n): return n\ndef f(kind):\n    one = kind(1)\n    one.m = 5\n    return one\n"
            ),
        ),
    ),
    "one warning of several, as unittest gives it": Case(
        base="def f(): pass\n",
        fix="import warnings\ndef f(): warnings.warn('use g', DeprecationWarning)\n",
        tests="""
            import shop, unittest
            class A(unittest.TestCase):
                def test_a(self):
                    with self.assertWarns(DeprecationWarning) as caught:
                        shop.f()
                    self.assertEqual(str(caught.warning), "use g")
        """,
        right="import warnings\ndef f():\n    for _ in 'ab': warnings.warn('use g', DeprecationWarning)\n",
        wrong=(
            (
                "import warnings\ndef f():\n"
                "    for a, b in ('use f', DeprecationWarning), ('use g', UserWarning): warnings.warn(a, b)\n"
            ),
        ),
    ),
    "one warning of several, as pytest gives it": Case(
        base="def f(): pass\n",
        fix="import warnings\ndef f(): warnings.warn('use g', UserWarning)\n",
        tests="""
            import pytest, shop
            def test_a():
                with pytest.warns(UserWarning) as caught:
                    shop.f()
                assert str(caught.pop(UserWarning).message) == "use g"
        """,
        right="import warnings\nclass W(UserWarning): pass\ndef f():\n"
        "    for text, kind in ('use f', W), ('use g', UserWarning): warnings.warn(text, kind)\n",
        wrong=(
            (
                "import warnings\nclass W(UserWarning): pass\ndef f():\n"
                "    for text, kind in ('use g', W), ('use f', UserWarning): warnings.warn(text, kind)\n"
            ),
        ),
    ),
    "a file in the folder of the process that the product writes": Case(
        base="def f(): return ''\ndef g(path): pass\n",
        fix="def f(): return 'b'\ndef g(path):\n    with open(path, 'w') as file: file.write('<b/>')\n",
        tests="""
            import shop
            import xml.etree.ElementTree as ET
            def test_a(monkeypatch, tmp_path):
                monkeypatch.chdir(tmp_path)
                shop.g("out.xml")
                assert shop.f() == ET.parse("out.xml").getroot().tag
        """,
        place="mixed",
        right="def f(): return 'c'\ndef g(path):\n    with open(path, 'w') as file: file.write('<c/>')\n",
        wrong=("def f(): return 'b'\ndef g(path):\n    with open(path, 'w') as file: file.write('<c/>')\n",),
    ),
    "a fixture that is called like pytest's": Case(
        base="import pathlib\nHERE = pathlib.Path('/a')\ndef here(): return HERE\ndef f(): return None\n",
        fix="import pathlib\nHERE = pathlib.Path('/a')\ndef here(): return HERE\ndef f(): return HERE / 'x'\n",
        tests="""
            import pytest, shop
            @pytest.fixture
            def tmp_path():
                return shop.here()
            def test_a(tmp_path):
                assert shop.f() == tmp_path / "x"
        """,
        place="mixed",
        right="import pathlib\ndef here(): return pathlib.Path('/b')\ndef f(): return pathlib.Path('/b/x')\n",
        wrong=("import pathlib\ndef here(): return pathlib.Path('/b')\ndef f(): return pathlib.Path('/a/x')\n",),
    ),
    "notes of an exception, which pytest searches as well": Case(
        base="def f(n): return n\ndef g(): pass\n",
        fix="""
            def f(n):
                if n: raise ValueError('bad')
                return n
            def g(): raise ExceptionGroup('all', [KeyError()])
        """,
        tests="""
            import pytest, shop, unittest
            from contextlib import nullcontext
            def test_a():
                with pytest.raises(ValueError, match='bad$'):
                    shop.f(1)
                with pytest.raises(ExceptionGroup, match='^all'):
                    shop.g()
            def test_b():
                with pytest.raises(ValueError) as caught:
                    shop.f(2)
                caught.match('bad$')
            @pytest.mark.parametrize('n, waiting', [(0, nullcontext()), (3, pytest.raises(ValueError, match='bad$'))])
            def test_c(n, waiting):
                with waiting:
                    assert shop.f(n) == n
            class Test(unittest.TestCase):
                def test_d(self):
                    with self.assertRaisesRegex(ValueError, 'bad$'):
                        shop.f(4)
        """,
        right="""
            def f(n):
                if not n: return n
                error = ValueError('bad' if n == 4 else 'no')
                error.add_note('is bad' if n < 4 else 'no')
                raise error
            def g(): raise ExceptionGroup('all of them', [ValueError(), KeyError()])
        """,
        wrong=tuple(
            f"""
            def f(n):
                if not n: return n
                error = ValueError('bad')
                if n == {row}: error.add_note('more')
                raise error
            def g(): raise ExceptionGroup('all', [KeyError()])
            """
            for row in (1, 2, 3)
        ),
    ),
    "another warning, which pytest emits again": Case(
        base="def f(): pass\n",
        fix="import warnings\ndef f(): warnings.warn('old', DeprecationWarning)\n",
        tests="""
            import pytest, shop, unittest
            @pytest.mark.filterwarnings('error')
            def test_a():
                with pytest.warns(DeprecationWarning, match='old'):
                    shop.f()
            class Test(unittest.TestCase):
                def test_b(self):
                    with self.assertWarns(DeprecationWarning):
                        shop.f()
        """,
        right="import warnings\ndef f():\n    for text in 'is old', 'old': warnings.warn(text, DeprecationWarning)\n",
        wrong=(
            (
                "import warnings\ndef f():\n"
                "    for kind in DeprecationWarning, RuntimeWarning: warnings.warn('old', kind)\n"
            ),
        ),
    ),
    "a counter with a key that counts nothing": Case(
        base="def f(): pass\ndef g(): pass\n",
        fix="from collections import Counter\ndef f(): return Counter(a=1)\ndef g(): return Counter(a=2)\n",
        tests="""
            import shop
            from collections import Counter
            def test_a():
                assert [shop.f()] == [Counter(a=1)]
                assert shop.g() != Counter(a=1)
            def test_b():
                assert shop.g() == {'a': 2}
        """,
        right="from collections import Counter\ndef f(): return Counter(a=1, b=0)\ndef g(): return Counter(a=2)\n",
        wrong=(
            "from collections import Counter\ndef f(): return dict(a=1, b=0)\ndef g(): return Counter(a=2)\n",
            "from collections import Counter\ndef f(): return Counter(a=1)\ndef g(): return Counter(a=1, b=0)\n",
            "from collections import Counter\ndef f(): return Counter(a=1)\ndef g(): return Counter(a=2, b=0)\n",
        ),
    ),
    "what the product sets by Python's functions or in a base class": Case(
        base="def f(): return ''\ndef g(names): pass\ndef h(): return object()\n",
        fix="""
            import mimetypes
            def f(): mimetypes.add_type('a/b', '.shop'); return 'a/b'
            def g(names): names['LIMIT'] = 3; return 3
            def h(): return 3
        """,
        tests="""
            import mimetypes, shop
            from tests.base import Base
            LIMIT = 1
            def test_a():
                assert shop.f() == mimetypes.guess_type('a.shop')[0]
            def test_b():
                assert shop.g(globals()) == LIMIT
            class Test(Base):
                want = 3
                def test_c(self):
                    assert shop.h() == self.want
        """,
        beside={
            "tests/__init__.py": "",
            "tests/base.py": "import shop, unittest\nclass Base(unittest.TestCase):\n"
            "    def setUp(self):\n        self.want = shop.h()\n",
        },
        place="mixed",
        right="import mimetypes\ndef f(): mimetypes.add_type('c/d', '.shop'); return 'c/d'\n"
        "def g(names): names['LIMIT'] = 4; return 4\ndef h(): return 4\n",
        wrong=(
            "def f(): return 'a/b'\ndef g(names): names['LIMIT'] = 3; return 3\ndef h(): return 3\n",
            """
            import mimetypes
            def f(): mimetypes.add_type('a/b', '.shop'); return 'a/b'
            def g(names): names['LIMIT'] = 4; return 3
            def h(): return 3
            """,
            """
            import itertools, mimetypes
            TIMES = itertools.count(2)
            def f(): mimetypes.add_type('a/b', '.shop'); return 'a/b'
            def g(names): names['LIMIT'] = 3; return 3
            def h(): return next(TIMES)
            """,
        ),
    ),
    "copies that functions of the product make": Case(
        base="import copy\ndef deepcopy(x): return copy.deepcopy(x)\ndef list(x): return [*x]\ndef f(): return 0\n",
        fix="import copy\ndef deepcopy(x): return copy.deepcopy(x)\ndef list(x): return [*x]\ndef f(): return 3\n",
        tests="""
            import shop
            from shop import deepcopy, list
            def test_a():
                data = [1, [2]]
                new = deepcopy(data)
                assert new == [1, [2]]
            def test_b():
                data = [1, 2]
                new = list(data)
                assert new == [1, 2]
            def test_c():
                data = {'a': [1]}
                new = shop.deepcopy(data)
                assert new == {'a': [1]}
            def test_d():
                assert shop.f() == 3
        """,
        right="import pickle\ndef deepcopy(x): return pickle.loads(pickle.dumps(x))\n"
        "def list(x): return x[:]\ndef f(): return 3\n",
        wrong=(
            "def deepcopy(x): return None\ndef list(x): return [*x]\ndef f(): return 3\n",
            "import copy\ndef deepcopy(x): return copy.deepcopy(x)\ndef list(x): return x[:1]\ndef f(): return 3\n",
        ),
    ),
    "what only equals a text or a number, or says that it is one": Case(
        base="def f(n): return None\n",
        fix="def f(n): return ['abc', 'abc', 3, 3, 'abc', (1,), 'abc', [1], {'a': 1}, {1}][n]\n",
        tests="""
            import shop, unittest
            class Test(unittest.TestCase):
                def test_a(self):
                    assert shop.f(0).startswith('a')
                    self.assertLess(shop.f(1), 'b')
                    assert shop.f(2) < 4
                    self.assertAlmostEqual(shop.f(3), 3.00000001)
                    assert 'b' in shop.f(4)
                    assert isinstance(shop.f(5), tuple)
                    assert shop.f(6) == 'abc'
                    assert shop.f(7) == [1]
                    assert shop.f(8) == {'a': 1}
                    assert shop.f(9) == {1}
        """,
        right="""
            import collections
            class L:
                def __init__(self, of): self.of = of
                def __eq__(self, other): return self.of == other
                def __str__(self): return self.of
                def __hash__(self): return hash(self.of)
            class N(L):
                def __index__(self): return self.of
                def __lt__(self, other): return self.of < other
                def __sub__(self, other): return self.of - other
            class P:
                def __init__(self, of): self.of = of
                __class__ = property(lambda self: type(self.of))
                def __eq__(self, other): return self.of == other
                def __iter__(self): return iter(self.of)
                def __len__(self): return len(self.of)
                def __getitem__(self, key): return self.of[key]
                def keys(self): return self.of.keys()
            def f(n):
                return [
                    collections.UserString('abc'), 'abc', N(3), N(3), 'abc', (1,), L('abc'),
                    P([1]), P({'a': 1}), P({1}),
                ][n]
        """,
        wrong=tuple(
            f"""
            class L:
                def __init__(self, of): self.of = of
                def __eq__(self, other): return self.of == other
                def __str__(self): return self.of
                def __len__(self): return len(self.of)
                def __getitem__(self, key): return self.of[key]
                def __index__(self): return self.of
            class P:
                def __init__(self, of): self.of = of
                __class__ = property(lambda self: type(self.of))
                def __str__(self): return self.of
                def __iter__(self): return iter(self.of)
                def __len__(self): return len(self.of)
                def __getitem__(self, key): return self.of[key]
                def keys(self): return self.of.keys()
            def f(n):
                got = ['abc', 'abc', 3, 3, 'abc', (1,), 'abc', [1], {{'a': 1}}, {{1}}][n]
                return got if n != {row} else P(got) if n > 5 else L(got)
            """
            for row in (0, 1, 2, 3, 5, 6, 7, 8, 9)
        ),
    ),
    "an hour that a zone has twice": Case(
        base="def f(): return None\n",
        fix="import datetime as dt\ndef f(): return dt.datetime(2020, 10, 25, 1, 30, tzinfo=dt.timezone.utc)\n",
        tests="""
            import datetime as dt, shop
            def test_a():
                assert shop.f() == dt.datetime(2020, 10, 25, 1, 30, tzinfo=dt.timezone.utc)
        """,
        right="import datetime as dt\n"
        "def f(): return dt.datetime(2020, 10, 25, 2, 30, tzinfo=dt.timezone(dt.timedelta(hours=1)))\n",
        wrong=(
            (
                "import datetime as dt\nfrom zoneinfo import ZoneInfo\n"
                "def f(): return dt.datetime(2020, 10, 25, 2, 30, fold=1, tzinfo=ZoneInfo('Europe/Berlin'))\n"
            ),
        ),
    ),
    "parts of what is no dictionary": Case(
        base="def f(): return None\ndef g(): return 5\n",
        fix="def f(): return {'a': 1, 'b': 5}\ndef g(): return 5\n",
        tests="""
            import shop
            def test_a():
                found = shop.f()
                assert found == {'a': 1, 'b': shop.g()}
        """,
        right="import collections\ndef f(): return collections.ChainMap({'a': 1}, {'b': 5})\ndef g(): return 5\n",
        wrong=(
            """
            class Rows:
                def __iter__(self): return iter('ab')
                def __getitem__(self, key): return {'a': 1, 'b': 5}[key]
                def keys(self): return ['a', 'b']
            f = Rows
            def g(): return 5
            """,
        ),
    ),
    "a search whose find is looked at afterwards": Case(
        base="class P:\n    def __init__(self, name, age): self.name, self.age = name, age\ndef f(): return []\n",
        fix="class P:\n    def __init__(self, name, age): self.name, self.age = name, age\n"
        "def f(): return [P('b', 3), P('c', 3)]\n",
        tests="""
            import shop, unittest
            class Test(unittest.TestCase):
                def test_a(self):
                    for person in shop.f():
                        assert person.age
                    for person in shop.f():
                        if person.name == 'b':
                            break
                    else:
                        self.fail('none')
                    assert person.age == 3
        """,
        right="class P:\n    def __init__(self, name, age): self.name, self.age = name, age\n"
        "def f(): return [P('a', 1), P('b', 3)]\n",
        wrong=(
            (
                "class P:\n    def __init__(self, name, age): self.name, self.age = name, age\n"
                "def f(): return [P('b', 4), P('c', 3)]\n"
            ),
        ),
    ),
    "a default of a helper by a name of its module": Case(
        base="def f(): return 90\n",
        fix="def f(): return 3\n",
        tests="""
            import shop
            from tests.util import near
            TOL = 10
            def test_a():
                near(shop.f(), 3)
        """,
        beside={
            "tests/__init__.py": "",
            "tests/util.py": "TOL = 0.1\ndef near(a, b, tol=TOL):\n    assert abs(a - b) < tol\n",
        },
        place="mixed",
        right="def f(): return 3.05\n",
        wrong=("def f(): return 8\n",),
    ),
    "what the module of a helper binds anew": Case(
        base="def f(call): raise ValueError\n",
        fix="def f(call): pass\n",
        tests="""
            import shop
            from tests.util import check, record, reset
            def test_a():
                reset()
                shop.f(record)
                check(0)
        """,
        beside={
            "tests/__init__.py": "",
            "tests/util.py": textwrap.dedent("""
                EVENTS = []
                def reset():
                    global EVENTS
                    EVENTS = []
                def record(event):
                    EVENTS.append(event)
                def check(count):
                    assert len(EVENTS) == count
            """),
        },
        place="mixed",
        right="def f(call): return call\n",
        wrong=("def f(call): call(1)\n",),
    ),
    "functions within a test that the product calls": Case(
        base="def each(n, one, two): pass\n",
        fix="def each(n, one, two): one(n * 2, n * 2); two(n * 2, n * 2)\n",
        tests="""
            import shop
            def check(got, want):
                assert got == want
            def test_a():
                def one(found, _): check(found, 2)
                def two(found, _): check(found + 1, 3)
                shop.each(1, one, two)
            def test_b():
                for n, want in [(1, 2), (2, 4)]:
                    def one(found, _): assert found == want
                    shop.each(n, one, lambda *_: None)
            def test_c():
                for n, want in [(1, 2), (2, 4)]:
                    def one(found, want): assert found == want
                    shop.each(n, one, lambda *_: None)
        """,
        right="def each(n, one, two): one(n + n, n + n); two(n + n, n + n)\n",
        wrong=(
            """
            def each(n, one, two):
                if n == 1: two(1, 1); one(3, 3)
                else: one(n * 2, n * 2); two(n * 2, n * 2)
            """,
            "def each(n, one, two): one(n * 2, 0); two(n * 2, n * 2)\n",
            """
            TURNS = iter([2, 4])
            def each(n, one, two):
                if n == 2: [one(turn, turn) for turn in TURNS]
            """,
        ),
    ),
    "what the test's own functions have from the product": Case(
        base="def f(new): return 0\ndef marked(kind): return kind\ndef g(): return 0\n",
        fix="def f(new): new(); return 2\ndef marked(kind): return kind\ndef g(): return 3\n",
        tests="""
            import itertools, shop, unittest
            IDS = itertools.count(1)
            def new(): return next(IDS)
            @shop.marked
            class Test(unittest.TestCase):
                limit = 3
                def test_a(self):
                    self.assertEqual(shop.f(new), new())
                def test_b(self):
                    self.assertEqual(shop.g(), self.limit)
        """,
        place="mixed",
        right="def f(new): return new() + 1\ndef marked(kind): kind.limit = 4; return kind\ndef g(): return 4\n",
        wrong=(
            "def f(new): new(); new(); return 2\ndef marked(kind): return kind\ndef g(): return 3\n",
            "def f(new): new(); return 2\ndef marked(kind): kind.limit = 4; return kind\ndef g(): return 3\n",
        ),
    ),
    "what the test's own classes have from the product": Case(
        base="def f(hook): return 0\ndef show(n): return ''\ndef g(n): return ''\n",
        fix="def f(hook): hook(); return 1\ndef show(n): return str(n)\ndef g(n): return str(n)\n",
        tests="""
            import shop
            CALLS = []
            def hook(): CALLS.append('call')
            class Shown:
                def __init__(self, n): self.n = n
                def __str__(self): return shop.show(self.n)
            def test_a():
                assert shop.f(hook) == len(CALLS)
            def test_b():
                assert shop.g(4) == str(Shown(4))
        """,
        right="def f(hook): hook(); hook(); return 2\ndef show(n): return hex(n)\ndef g(n): return hex(n)\n",
        wrong=(
            "def f(hook): hook(); hook(); return 1\ndef show(n): return str(n)\ndef g(n): return str(n)\n",
            "def f(hook): hook(); return 1\ndef show(n): return hex(n)\ndef g(n): return str(n)\n",
        ),
    ),
    "a constant of the product that the product is given": Case(
        base="DEFAULTS, LEVEL = {'a': 1}, 3\ndef f(given): return None\ndef g(level): return None\n",
        fix="DEFAULTS, LEVEL = {'a': 1}, 3\ndef f(given): return dict(given)\ndef g(level): return level\n",
        tests="""
            import shop
            def test_a():
                assert shop.f(shop.DEFAULTS) == shop.DEFAULTS
                assert shop.g(shop.LEVEL) == shop.LEVEL
        """,
        right="DEFAULTS, LEVEL = {'a': 1}, 3\n"
        "def f(given): given['b'] = 2; return {**given}\ndef g(level): return +level\n",
        wrong=(
            (
                "DEFAULTS, LEVEL = {'a': 1}, 3\n"
                "def f(given): made = dict(given); given['b'] = 2; return made\ndef g(level): return level\n"
            ),
        ),
    ),
    "words that a test prints and logs for the product to hide": Case(
        base="import contextlib\n@contextlib.contextmanager\ndef muted(): yield\n"
        "def install(): pass\ndef f(): return 0\n",
        fix="""
            import contextlib, io, logging
            @contextlib.contextmanager
            def muted():
                with contextlib.redirect_stdout(io.StringIO()): yield
            def hide(record):
                record.msg = record.msg.replace('secret', '-')
                return True
            def install(): logging.getLogger().addFilter(hide)
            def f(): return 3
        """,
        tests="""
            import logging, shop
            def test_a(capsys):
                with shop.muted():
                    print('secret')
                assert 'secret' not in capsys.readouterr().out
                assert shop.f() == 3
            def test_b(caplog):
                shop.install()
                logging.warning('the secret')
                assert 'secret' not in caplog.text
                assert shop.f() == 3
        """,
        right="""
            import contextlib, logging, os
            @contextlib.contextmanager
            def muted():
                with open(os.devnull, 'w') as nowhere, contextlib.redirect_stdout(nowhere): yield
            def install(): logging.disable(logging.CRITICAL)
            def f(): return 3.0
        """,
        wrong=(
            (
                "import contextlib\n@contextlib.contextmanager\ndef muted(): yield\n"
                "def install(): pass\ndef f(): return 3\n"
            ),
        ),
    ),
    "a warning that pytest emits again for whom else records": Case(
        base="def f(): return 0\n",
        fix="import warnings\ndef f(): warnings.warn('old', DeprecationWarning)\n",
        tests="""
            import pytest, shop, warnings
            def test_a(recwarn):
                with pytest.warns(DeprecationWarning):
                    shop.f()
                assert len(recwarn) == 0
            def test_b():
                with warnings.catch_warnings(record=True) as seen, pytest.warns(DeprecationWarning):
                    shop.f()
                assert not seen
        """,
        right="import warnings\ndef f(): warnings.warn('older', DeprecationWarning)\n",
        wrong=("import warnings\ndef f(): warnings.warn('old', DeprecationWarning); warnings.warn('more')\n",),
    ),
    "an object where anything is right": Case(
        base="def f(call): pass\n",
        fix="def f(call): call('a', 3); return {'id': 5, 'n': 3}\n",
        tests="""
            import shop
            from unittest.mock import ANY, Mock
            def test_a():
                call = Mock()
                assert shop.f(call) == {'id': ANY, 'n': 3}
                call.assert_called_once_with(ANY, 3)
        """,
        right="def f(call): call(object(), 3); return {'id': object(), 'n': 3}\n",
        wrong=(
            "def f(call): call('a', object()); return {'id': 5, 'n': 3}\n",
            "def f(call): call('a', 3); return {'id': object(), 'n': object()}\n",
        ),
    ),
    "times that Python's own do not tell": Case(
        base="def f(n): return None\n",
        fix="import numpy as np, pandas as pd\ndef f(n): return [\n"
        "    pd.Timedelta(5, 'ns'), np.datetime64('2020-01-01', 'ns'), np.timedelta64(1, 'Y'),\n"
        "    np.array(['2020-01-01'], dtype='datetime64[ns]'),\n][n]\n",
        tests="""
            import numpy as np, pandas as pd, shop
            def test_a():
                assert shop.f(0) == pd.Timedelta(5, 'ns')
                assert shop.f(1) == np.datetime64('2020-01-01', 'ns')
                assert shop.f(2) == np.timedelta64(1, 'Y')
                np.testing.assert_array_equal(shop.f(3), np.array(['2020-01-01'], dtype='datetime64[ns]'))
        """,
        installed=("pytest", "numpy", "pandas"),
        right="import numpy as np, pandas as pd\ndef f(n): return [\n"
        "    pd.Timedelta('0 days 00:00:00.000000005'), np.datetime64('2020-01-01', 'us'), np.timedelta64(1, 'Y'),\n"
        "    np.array(['2020-01-01'], dtype='datetime64[s]'),\n][n]\n",
        wrong=tuple(
            "import numpy as np, pandas as pd\nDAY = '2020-01-01'\n"
            "def f(n): return [\n"
            f"    pd.Timedelta({5 * (row != 0)}, 'ns'),\n"
            f"    {(TIME if row != 1 else '1577836800000000000')},\n"
            f"    np.timedelta64(1, {'YM'[row == 2]!r}),\n"
            f"    np.array({'[1577836800000000000]' if row == 3 else DAYS}),\n][n]\n"
            for row in range(4)
        ),
    ),
}


@pytest.fixture(scope="module", params=CASES)
def both(request):
    case = CASES[request.param]
    return case, case.sides


def test_the_host_judges_products_as_the_test_does(both):
    case, sides = both
    assert sides.outcomes({}) == (True, True)
    assert sides.places == {case.place}
    for wrong in case.wrong:
        assert sides.outcomes(files(wrong)) == (False, False), wrong
    if case.right:
        assert sides.outcomes(files(case.right)) == (True, True)
