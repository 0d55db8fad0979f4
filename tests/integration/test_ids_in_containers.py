"""Tests of every kind of name, by an old pytest and a new one: what the proof makes of them, and grading after it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import pytest

from harness.config.settings import load_settings
from harness.core import test_ids as ids
from harness.core.instance import Hidden, Outcome, TestSpec
from harness.grading import scoring
from harness.judging.places import Place, place_of_test
from harness.patches.patch import parse
from harness.sandbox.docker import DockerSandbox
from miner.languages.python.language import PYTHON
from miner.proof import Notebook, ObservedRun, Proof, Subject, judge, names_of_fix, observe, prepare
from miner.sources.change import Rejection
from miner.stripping import task as stripping
from tests import tiny

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from harness.core.instance import Task

pytestmark = pytest.mark.engine

SHOP = "def price(x):\n    return x + 1\n"
FIXED = """\
import enum


LIMIT = 3


class Color(enum.Enum):
    RED = 1


class Basket:
    pass


def price(x, currency=None):
    return x
"""
FIXTURES = "import pytest\n\n\n@pytest.fixture\ndef counter():\n    return 1\n"
MORE_FIXTURES = FIXTURES + "\n\n@pytest.fixture\ndef shopper():\n    return 1\n"
PROJECT = """\
[project]
name = "shop"
version = "1"
requires-python = "{python}"

[project.optional-dependencies]
tests = {requirements}

[tool.setuptools]
py-modules = []
"""
PLACE = "tests/test_names.py"
NAMES = r"""
import datetime
import unittest
import uuid

import pytest

import shop


class Thing:
    pass


class Word:
    def __init__(self, text):
        self.text = text


def right():
    assert shop.price(41) == 41


TEXTS = ["a b", "a::b", "a[b]", "\u20ac \u65e5\u672c \U0001f600", "tab\tand\nline", "nul\0", "\x1b[31m", "x" * 20000]
TEXTS += ["y" * 12000000]  # which is left out


@pytest.mark.parametrize("text", TEXTS)
def test_text(text):
    assert shop.price(41) == 41


@pytest.mark.parametrize("data", [b"\xff\xfe", b""])
def test_bytes(data):
    right()


@pytest.mark.parametrize("thing", [Thing()], ids=repr)
def test_one_address(thing):
    assert shop.price(41) == 41


@pytest.mark.parametrize("thing", [Thing(), Thing()], ids=repr)
def test_two_addresses(thing):
    right()


@pytest.mark.parametrize("thing", [Thing(), Thing()])
def test_numbered(thing):
    right()


@pytest.mark.parametrize("number", [1, 1])
def test_twice_the_same(number):
    right()


@pytest.mark.parametrize("word", {"red", "green", "blue"})
def test_of_a_set(word):
    right()


@pytest.mark.parametrize("word", [Word(text) for text in {"a", "b", "c", "d", "e", "f", "g", "h", "i", "j"}])
def test_numbered_in_a_sets_order(word):
    if word.text in "abcde":
        right()


@pytest.mark.parametrize("value", [uuid.uuid4()], ids=str)
def test_random(value):
    right()


@pytest.mark.parametrize("value", [datetime.datetime.now().isoformat()])
def test_of_now(value):
    right()


def test_doubled():
    right()


class TestInClass:
    class TestInner:
        @pytest.mark.parametrize("one", [1])
        def test_deep(self, one):
            right()


class Cases(unittest.TestCase):
    def test_parts(self):
        for number in (0, 1):
            with self.subTest("part one", number=number):
                self.assertEqual(shop.price(number), number)

    def test_a_part_is_skipped(self):
        for number in (0, 1):
            with self.subTest(number=number):
                if number:
                    self.skipTest("no")

    @unittest.expectedFailure
    def test_expected_failure(self):
        self.fail()

    @unittest.expectedFailure
    def test_unexpected_success(self):
        pass


@pytest.mark.xfail
def test_xfail():
    assert False


@pytest.mark.xfail
def test_xpass():
    pass


@pytest.mark.xfail(strict=True)
def test_strict_xpass():
    pass


@pytest.mark.xfail
def test_still_marked():
    right()


@pytest.mark.xfail(strict=True)
def test_still_marked_strictly():
    right()


@pytest.mark.xfail(not hasattr(shop, "LIMIT"), reason="not there yet")
def test_marked_until_the_fix():
    right()


@pytest.mark.xfail(not hasattr(shop, "LIMIT"), reason="not there yet")
def test_marked_for_nothing():
    pass


@pytest.mark.skipif(not hasattr(shop, "LIMIT"), reason="not there yet")
def test_skipped_until_the_fix():
    right()


@pytest.mark.skip
def test_skipped():
    pass


@pytest.fixture
def broken():
    right()


def test_setup_error(broken):
    pass


@pytest.fixture
def breaks_after():
    yield
    right()


def test_teardown_error(breaks_after):
    pass


def test_holds():
    pass


unittest.main()
"""
CONFTEST = """\
def pytest_collection_modifyitems(items):
    items += [item for item in items if item.name == "test_doubled"]
"""
SUBTESTS = """\
import pytest

import shop


def test_with_subtests(subtests):
    for number in (0, 1):
        with subtests.test("part one", number=number):
            assert shop.price(number) == number
    with subtests.test("part two"):
        pytest.skip("no")
"""
NEW = {
    "tests/test_name.py": "from shop import Basket\n",
    "tests/test_module.py": "import shop_extra.more\n",
    "tests/test_attribute.py": "import shop\n\nLIMIT = shop.LIMIT\n",
    "tests/test_enum.py": "import shop\n\nRED = shop.Color.RED\n",
    "tests/test_keyword.py": "import shop\n\nshop.price(1, currency='EUR')\n",
    "tests/test_star.py": "from shop import *\n\nBasket\n",
}
OTHERWISE = {
    "tests/test_raises.py": "import shop\n\nif not hasattr(shop, 'LIMIT'):\n    raise RuntimeError('no')\n",
    "tests/test_syntax.py": "import shop\n\nif not hasattr(shop, 'LIMIT'):\n    exec('def (')\n",
    "tests/test_plugin.py": "import shop\n\nif not hasattr(shop, 'LIMIT'):\n    import no_such_plugin\n",
    "tests/test_other_name.py": "import shop\n\nif not hasattr(shop, 'LIMIT'):\n    from os import no_such_name\n",
}
TEST = "\n\ndef test_it():\n    pass\n"
FIXTURE = "def test_of_a_fixture(shopper):\n    pass\n"
OLD = "def test_old():\n    pass\n"


Tests = dict[str, tuple[str | None, str]]
"""Hidden tests by path, each before and after."""


@dataclass(frozen=True, kw_only=True)
class Room:
    """An image with one pytest in it, and what was proved there."""

    image: str
    plugins: tuple[str, ...]
    folder: Path
    sandbox: DockerSandbox

    def subject(self, tests: Tests, *, seed: int = 0, options: tuple[str, ...] = ()) -> Subject:
        gold = {
            "shop.py": (SHOP, FIXED),
            "shop_fixtures.py": (FIXTURES, MORE_FIXTURES),
            "shop_extra/__init__.py": (None, "# more\n"),
            "shop_extra/more.py": (None, "# more\n"),
        }
        fix = "".join(tiny.diff(path, *sides) for path, sides in gold.items()).encode()
        return Subject(
            instance_id="shop__shop-1",
            image=self.image,
            test=TestSpec(pythonpath=(".",), env={"PYTHONHASHSEED": str(seed)}, plugins=self.plugins, options=options),
            test_files=tuple(path for path in tests if "test_" in path),
            gold_patch=fix,
            test_patch="".join(tiny.diff(path, *sides) for path, sides in tests.items()).encode(),
            brings=names_of_fix(
                fix, lambda path: {"shop.py": SHOP, "shop_fixtures.py": FIXTURES}[path].encode(), PYTHON.code
            ),
        )

    def runs(self, tests: Tests, *, count: int = 1, options: tuple[str, ...] = ()) -> list[ObservedRun]:
        """Runs of all states, each under a hash seed of its own."""
        found: list[ObservedRun] = []
        for number in range(count):
            subject = self.subject(tests, seed=number + 1, options=options)
            notebook = Notebook(self.folder / "runs.jsonl", subject)
            patches = prepare(subject)
            known = any(old is not None for old, _ in tests.values())
            states = ("base", "before", "after") if known else ("before", "after")
            found += [observe(subject, patches, state, number, self.sandbox, notebook) for state in states]
        assert [run.trouble for run in found] == [""] * len(found)
        return found

    def judged(self, tests: Tests, found: list[ObservedRun]) -> Proof | Rejection:
        return judge(found, runs=1, brings=self.subject(tests).brings)


def tree(python: str, requirements: list[str]) -> dict[str, str]:
    return {
        "shop.py": SHOP,
        "shop_fixtures.py": FIXTURES,
        "pyproject.toml": PROJECT.format(python=python, requirements=requirements),
        "tests/test_old.py": OLD,
    }


def rooms() -> dict[str, tuple[str, list[str], tuple[str, ...]]]:
    """By name: Python, requirements, plugins. The old one is on Python 3.7 where this machine can lend that."""
    lent = "3.7" in load_settings().images.pythons
    old = ["pytest==5.4.3", "pytest-subtests==0.5.0"] if lent else ["pytest==7.0.1", "pytest-subtests==0.8.0"]
    return {
        "old": ("==3.7.*" if lent else ">=3.8", old, ("subtests",)),
        "new": (">=3.10", ["pytest==9.0.1"], ()),
    }


@pytest.fixture(scope="module", params=["old", "new"])
def room(request, tmp_path_factory) -> Iterator[Room]:
    python, requirements, plugins = rooms()[request.param]
    folder = tmp_path_factory.mktemp("room")
    image = tiny.build_image(folder, tree(python, requirements))
    with DockerSandbox() as sandbox:
        yield Room(image=image, plugins=plugins, folder=folder, sandbox=sandbox)


NAMED: Tests = {PLACE: (None, NAMES), "tests/conftest.py": (None, CONFTEST), "tests/test_sub.py": (None, SUBTESTS)}


@pytest.fixture(scope="module")
def named(room) -> Proof:
    """The proof over tests of all kinds of names."""
    proof = room.judged(NAMED, room.runs(NAMED, count=3))
    assert isinstance(proof, Proof)
    return proof


def names(test_ids: Iterable[str]) -> set[str]:
    """Ids without their file, and without what is no part of the name in the two images."""
    return {test_id.partition("::")[2] for test_id in test_ids}


def test_every_stable_name_is_listed(named):
    stable = {name for name in names(named.fail_to_pass) if not name.startswith(("test_numbered_in", "test_twice"))}
    assert stable == {
        "Cases::test_parts",
        "TestInClass::TestInner::test_deep[1]",
        r"test_bytes[\xff\xfe]",
        "test_bytes[]",
        "test_doubled",
        "test_marked_until_the_fix",
        "test_numbered[thing0]",
        "test_numbered[thing1]",
        "test_of_a_set[blue]",
        "test_of_a_set[green]",
        "test_of_a_set[red]",
        "test_one_address[<test_names.Thing object at 0x...>]",
        "test_setup_error",
        "test_skipped_until_the_fix",
        "test_teardown_error",
        r"test_text[\u20ac \u65e5\u672c \U0001f600]",
        r"test_text[\x1b[31m]",
        "test_text[a b]",
        "test_text[a::b]",
        "test_text[a[b]]",
        r"test_text[nul\x00]",
        r"test_text[tab\tand\nline]",
        f"test_text[{'x' * 20000}]",
        "test_with_subtests",
    }


def test_two_tests_with_one_parameter_are_told_apart(named):
    assert len({name for name in names(named.fail_to_pass) if name.startswith("test_twice")}) == 2


def test_what_passes_before_and_after_is_held_and_nothing_else(room, named):
    held = {name for name in names(named.pass_to_pass) if not name.startswith("test_numbered_in")}
    parted = set() if room.plugins else {"Cases::test_a_part_is_skipped"}  # the plug-in skips the whole test
    assert held == {"test_holds", *parted}


def test_names_that_change_are_quarantined_with_the_reason(named):
    found: dict[str, set[str]] = {}
    for test_id, reason in named.evidence["quarantined"].items():
        found.setdefault(test_id.partition("::")[2].partition("[")[0], set()).add(reason)
    assert found == {
        "test_two_addresses": {"id_has_address"},
        "test_random": {"id_has_random_value"},
        "test_of_now": {"id_has_time"},
        "test_numbered_in_a_sets_order": {"result_changes"},
    }
    assert set(named.flaky) == set(named.evidence["quarantined"])


def test_it_is_told_what_failing_tests_were_before(named):
    before = named.evidence["before"]
    assert (before["ERROR"], before["SKIPPED"], before["XFAIL"]) == (2, 1, 1)
    assert (named.evidence["addresses_left_out"], named.evidence["new_api"]) == (1, False)


@pytest.fixture(scope="module")
def task(room, named, tmp_path_factory) -> Task:
    """The task that the proof makes, with what its tests expect kept outside, written and read again."""
    subject = room.subject(NAMED, seed=1)
    hidden = Hidden(
        gold_patch=subject.gold_patch,
        test_patch=subject.test_patch,
        fail_to_pass=named.fail_to_pass,
        pass_to_pass=named.pass_to_pass,
        test_files=subject.test_files,
    )
    bare = replace(tiny.task(room.image, instance_id=subject.instance_id, spec=subject.test), hidden=hidden)

    sources = {path: source.encode() for path, (_, source) in NAMED.items() if "test_" in path}
    expectations = stripping.of_task(bare, sources, room.sandbox).expectations
    folder = tmp_path_factory.mktemp("dataset") / "d"
    dataset = tiny.dataset(folder, replace(bare, hidden=replace(hidden, expectations=expectations)))
    return dataset.task(subject.instance_id)


def test_tests_of_every_kind_of_name_are_judged_on_the_host(task, named):
    wanted = {
        test_id
        for test_id in named.fail_to_pass
        if ids.function(test_id) in {f"{PLACE}::test_text", f"{PLACE}::test_one_address"}
    }
    assert len(wanted) == 9
    assert {place_of_test(task, test_id) for test_id in wanted} == {Place.HOST}


def test_the_gold_patch_resolves_the_task_and_nothing_does_not(room, task):
    for patch, outcome in ((parse(task.hidden.gold_patch), Outcome.RESOLVED), (None, Outcome.UNRESOLVED)):
        scored = scoring.score(task, patch, room.sandbox, scoring.Demands())
        assert scored.grade.outcome == outcome, scored.grade.reason


def test_names_that_are_not_escaped_reach_the_lists_as_they_are(room):
    texts = ["€ 日本 \U0001f600", "tab\tand\nline", "\u2028", "\x85", "\x7f"]
    source = f"""\
import pytest, shop


@pytest.mark.parametrize("text", {texts!a})
def test_text(text):
    assert shop.price(41) == 41
"""
    tests = {PLACE: (None, source)}
    option = "disable_test_id_escaping_and_forfeit_all_rights_to_community_support=true"
    proof = room.judged(tests, room.runs(tests, options=("-o", option)))
    assert isinstance(proof, Proof)
    assert set(proof.fail_to_pass) == {f"{PLACE}::test_text[{text}]" for text in texts}


def test_a_file_that_asks_for_a_new_name_is_kept_and_one_that_is_broken_otherwise_is_not(room):
    tests: dict[str, tuple[str | None, str]] = {
        path: (None, text + TEST) for path, text in {**NEW, **OTHERWISE}.items()
    }
    tests["tests/test_old.py"] = (OLD, "from shop import Basket\n\n\n" + OLD + TEST)
    tests["tests/test_fixture.py"] = (None, FIXTURE)
    tests["tests/conftest.py"] = (None, "from shop_fixtures import *\n")
    found = room.runs(tests)
    proof = room.judged(tests, found)
    assert isinstance(proof, Proof)
    assert set(proof.fail_to_pass) == {
        *(f"{path}::test_it" for path in (*NEW, "tests/test_old.py")),
        "tests/test_fixture.py::test_of_a_fixture",
    }
    assert proof.pass_to_pass == ("tests/test_old.py::test_old",)
    assert proof.evidence["new_names"] == ["Basket", "Color", "LIMIT", "currency", "shop_extra", "shopper"]
    assert {path for run in found if run.state == "after" for path in run.collect_errors} == set()


def test_a_conftest_that_asks_for_a_new_name_takes_everything_along(room):
    tests = {"tests/deep/test_it.py": (None, OLD), "tests/deep/conftest.py": (None, "from shop import Basket\n")}
    proof = room.judged(tests, room.runs(tests))
    assert isinstance(proof, Proof)
    assert (proof.fail_to_pass, proof.evidence["new_names"]) == (("tests/deep/test_it.py::test_old",), ["Basket"])


def test_a_conftest_that_is_broken_otherwise_makes_no_task(room):
    broken = "import shop\n\nif not hasattr(shop, 'LIMIT'):\n    import no_such_plugin\n"
    tests = {"tests/test_it.py": (None, OLD), "tests/conftest.py": (None, broken)}
    found = room.judged(tests, room.runs(tests))
    assert isinstance(found, Rejection)
    assert found.reason == "not_collectable_before"
    assert "no_such_plugin" in found.detail
