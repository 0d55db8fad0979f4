"""unittest's own suites, run without pytest: what each kind of test comes to."""

from __future__ import annotations

from dataclasses import replace

import pytest

from harness.core.instance import Outcome, TestSpec, TestStatus
from harness.grading import scoring, trial
from harness.patches.patch import parse
from tests import tiny

pytestmark = pytest.mark.engine

PLACE = "tests/test_kinds.py"
KINDS = '''\
import doctest
import os
import sys
import unittest

import calc


def two():
    """
    >>> calc.add(1, 1)
    2
    """


class Plain(unittest.TestCase):
    def test_right(self):
        self.assertEqual(calc.add(1, 1), 2)

    def test_wrong(self):
        self.assertEqual(calc.add(1, 1), 3)

    def test_raises(self):
        raise KeyError("no")

    @unittest.skip("not here")
    def test_skipped(self):
        pass

    @unittest.expectedFailure
    def test_known(self):
        self.fail()

    @unittest.expectedFailure
    def test_not_so_known(self):
        pass

    def test_parts(self):
        for number in range(3):
            with self.subTest(number=number):
                self.assertEqual(number, 0)

    def test_a_part_is_skipped(self):
        for number in range(3):
            with self.subTest(number=number):
                if number == 1:
                    self.skipTest("not one")

    def test_all_parts_are_skipped(self):
        for number in range(2):
            with self.subTest(number=number):
                self.skipTest("none")

    def test_exits(self):
        sys.exit(0)

    def test_prints(self):
        print("Ran 99 tests in 0.000s\\n\\nOK")

    class Inner(unittest.TestCase):
        def test_deep(self):
            pass


class NoClass(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        raise RuntimeError("no class")

    def test_one(self):
        pass

    def test_two(self):
        pass


class Skips(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        raise unittest.SkipTest("not today")

    def test_one(self):
        pass


class BadEnd(unittest.TestCase):
    @classmethod
    def tearDownClass(cls):
        raise RuntimeError("bad end")

    def test_last(self):
        pass


def load_tests(loader, tests, pattern):
    tests.addTests(loader.loadTestsFromTestCase(Plain.Inner))
    tests.addTests(doctest.DocTestSuite())
    return tests


unittest.main()
'''
LOST = "tests/test_lost.py"
SPEC = TestSpec(framework="unittest")
WANTED = {
    "Plain::test_right": "PASSED",
    "Plain::test_wrong": "FAILED",
    "Plain::test_raises": "FAILED",
    "Plain::test_skipped": "SKIPPED",
    "Plain::test_known": "XFAIL",
    "Plain::test_not_so_known": "FAILED",
    "Plain::test_parts": "FAILED",
    "Plain::test_a_part_is_skipped": "PASSED",
    "Plain::test_all_parts_are_skipped": "SKIPPED",
    "Plain::test_exits": "FAILED",
    "Plain::test_prints": "PASSED",
    "Plain::Inner::test_deep": "PASSED",
    "NoClass::test_one": "ERROR",
    "NoClass::test_two": "ERROR",
    "Skips::test_one": "SKIPPED",
    "BadEnd::test_last": "ERROR",
    "tests.test_kinds.two": "PASSED",
}


def run(task, sandbox, **more):
    return trial.run(replace(scoring.trial_spec(task, parse(tiny.GOLD.encode())), **more), sandbox)


def tried(image, sandbox, sources, *, spec=SPEC, **more):
    return run(
        tiny.task(image, spec=spec, tests={path: (None, text) for path, text in sources.items()}), sandbox, **more
    )


@pytest.fixture(scope="module")
def ran(tiny_image, sandbox):
    return tried(tiny_image, sandbox, {PLACE: KINDS, LOST: "import nowhere_to_be_found\n"})


@pytest.mark.parametrize(("test", "status"), WANTED.items())
def test_each_kind_of_test_has_its_status(ran, test, status):
    assert ran.report.statuses[f"{PLACE}::{test}"] == status


def test_no_other_id_is_told_and_no_rule_is_broken(ran):
    assert set(ran.report.statuses) == {f"{PLACE}::{test}" for test in WANTED}
    assert ran.violations == ()
    assert ran.report.exit_code == 1


def test_a_file_that_cannot_be_imported_is_told_by_its_path_and_with_its_reason(ran):
    assert list(ran.report.collect_errors) == [LOST]
    assert ran.report.collect_raised[LOST][0].missing == "nowhere_to_be_found"


def test_what_a_test_raised_is_told(ran):
    assert ran.report.raised[f"{PLACE}::Plain::test_raises"][0].names[0] == "KeyError"


def test_a_failure_says_where_and_what(ran):
    told = ran.report.texts[f"{PLACE}::Plain::test_wrong"]
    line = KINDS[: KINDS.index("calc.add(1, 1), 3")].count("\n") + 1
    assert told == f"{PLACE}:{line}: in test_wrong\n    self.assertEqual(calc.add(1, 1), 3)\nE   AssertionError: 2 != 3"


def test_the_order_can_be_turned_round(tiny_image, sandbox, ran):
    turned = tried(tiny_image, sandbox, {PLACE: KINDS}, order=0)
    assert turned.report.collected == ran.report.collected[::-1]
    assert turned.report.statuses == ran.report.statuses


def test_closed_streams_that_tests_leave_behind_cost_no_result(tiny_image, sandbox):
    closing = (
        "import os, sys, unittest\nclass Closes(unittest.TestCase):\n    def test_streams(self):\n"
        "        sys.stdout = sys.stderr = open(os.devnull, 'w')\n        sys.stdout.close()\n"
    )
    found = tried(tiny_image, sandbox, {PLACE: closing})
    assert found.report.statuses == {f"{PLACE}::Closes::test_streams": TestStatus.PASSED}
    assert found.report.finished


def test_one_function_can_be_asked_for(tiny_image, sandbox):
    found = tried(tiny_image, sandbox, {PLACE: KINDS}, files=(f"{PLACE}::Plain::test_right",))
    assert found.report.statuses == {f"{PLACE}::Plain::test_right": TestStatus.PASSED}


def test_suites_run_on_a_clock_of_their_own(tiny_image, sandbox):
    dated = (
        "import datetime, unittest\nclass When(unittest.TestCase):\n"
        "    def test_year(self):\n        self.assertEqual(datetime.date.today().year, 2019)\n"
    )
    found = tried(tiny_image, sandbox, {PLACE: dated}, clock="2019-05-03T12:00:00Z")
    assert found.report.statuses == {f"{PLACE}::When::test_year": TestStatus.PASSED}


def test_a_suite_without_tests_is_no_success(tiny_image, sandbox):
    found = tried(tiny_image, sandbox, {PLACE: "import unittest\n"})
    assert (found.report.exit_code, found.report.statuses) == (5, {})


@pytest.mark.parametrize(
    "program",
    ["import sys\nsys.exit('usage: no')\n", "raise ValueError('no world')\n", "import pytest\npytest.main()\n"],
)
def test_a_program_that_never_comes_to_its_tests_is_told(tiny_image, sandbox, program):
    spec = replace(SPEC, options=("--", "tests/test_run.py"))
    found = tried(tiny_image, sandbox, {PLACE: KINDS, "tests/test_run.py": program}, spec=spec)
    assert (found.report.exit_code, found.report.statuses) == (4, {})


def test_a_repositorys_own_program_is_given_the_suite(tiny_image, sandbox):
    program = (
        "import os, sys, unittest\nos.environ['READY'] = '1'\n"
        "if __name__ == '__main__':\n    unittest.TextTestRunner().run(unittest.TestSuite())\n    sys.exit(3)\n"
    )
    asks = (
        "import os, unittest\nclass World(unittest.TestCase):\n"
        "    def test_it(self):\n        self.assertEqual(os.environ['READY'], '1')\n"
    )
    spec = replace(SPEC, options=("--", "tests/run_test_world.py"))
    found = tried(tiny_image, sandbox, {PLACE: asks, "tests/run_test_world.py": program}, spec=spec, files=(PLACE,))
    assert found.report.statuses == {f"{PLACE}::World::test_it": TestStatus.PASSED}
    assert found.report.exit_code == 0


def test_nothing_that_pytest_is_told_hides_a_result(tiny_image, sandbox):
    options = ("-x", "-q", "-n", "4", "--cov-fail-under=100", "--maxfail=1", "-p", "no:terminal")
    wrong = "def test_a():\n    assert 0\n\n\ndef test_b():\n    assert 0\n\n\ndef test_c():\n    pass\n"
    files = {"tox.ini": f"[testenv]\ncommands = pytest {' '.join(options)}\n", PLACE: wrong}
    from miner.languages.python.test_command import test_commands as ways_of  # noqa: PLC0415 - what mining makes of such a command
    from tests.trees import Files  # noqa: PLC0415

    way = ways_of(Files(files), [PLACE])[0]
    found = tried(tiny_image, sandbox, {PLACE: wrong}, spec=TestSpec(options=way.options))
    assert [found.report.statuses[f"{PLACE}::test_{name}"] for name in "abc"] == ["FAILED", "FAILED", "PASSED"]


def test_pytest_is_started_in_the_folder_that_its_options_name(tiny_image, sandbox):
    asks = "import os\ndef test_it():\n    assert os.getcwd() == '/testbed/tests'\n"
    found = tried(tiny_image, sandbox, {PLACE: asks}, spec=TestSpec(options=("--chdir=tests",)))
    assert found.report.statuses == {f"{PLACE}::test_it": TestStatus.PASSED}
    one = tried(
        tiny_image, sandbox, {PLACE: asks}, spec=TestSpec(options=("--chdir=tests",)), files=(f"{PLACE}::test_it",)
    )
    assert one.report.statuses == found.report.statuses


YIELDS = """\
import calc


def setup():
    global ready
    ready = True


def check(a, b, wanted):
    assert calc.add(a, b) == wanted


def test_sums():
    for number in range(3):
        yield check, number, 1, number + 1
    yield check, 1, 1, 3


def test_named():
    yield "one and one", check, 1, 1, 2


def test_odd():
    yield lambda: calc
    yield lambda found: None, [calc]


class TestMore:
    def check(self, a):
        assert calc.add(a, a) == 2 * a

    def test_twice(self):
        yield self.check, 2


def test_plain():
    pass
"""


def test_what_tests_yield_is_run_as_tests(tiny_image, sandbox):
    found = tried(tiny_image, sandbox, {PLACE: YIELDS}, spec=TestSpec(framework="nose"))
    assert found.report.statuses == {
        f"{PLACE}::test_sums[0-1-1]": "PASSED",
        f"{PLACE}::test_sums[1-1-2]": "PASSED",
        f"{PLACE}::test_sums[2-1-3]": "PASSED",
        f"{PLACE}::test_sums[1-1-3]": "FAILED",
        f"{PLACE}::test_named[one and one]": "PASSED",
        f"{PLACE}::test_odd[0]": "PASSED",
        f"{PLACE}::test_odd[1]": "PASSED",
        f"{PLACE}::TestMore::test_twice[2]": "PASSED",
        f"{PLACE}::test_plain": "PASSED",
    }
    assert found.violations == ()


FIXTURES = """\
class Base(object):
    made = 0

    @classmethod
    def setUpClass(cls):
        cls.made += 1

    def setUp(self):
        self.value = self.made

    def tearDown(self):
        type(self).made += 1


class TestOne(Base):
    def test_first(self):
        assert self.value == 1

    def test_second(self):
        assert self.value == 2


class TestOther(Base):
    def setUp(self):
        self.value = 7

    def test_third(self):
        assert (self.value, self.made) == (7, 1)
"""


def test_a_plain_class_has_the_fixtures_that_nose_called(tiny_image, sandbox):
    found = tried(tiny_image, sandbox, {PLACE: FIXTURES}, spec=TestSpec(framework="nose"))
    tests = ("TestOne::test_first", "TestOne::test_second", "TestOther::test_third")
    assert found.report.statuses == {f"{PLACE}::{test}": "PASSED" for test in tests}


def test_a_document_is_run_by_unittest_too(tiny_image, sandbox):
    text = "Sums\n====\n\n>>> import calc\n>>> calc.add(1, 1)\n{}\n"
    found = tried(tiny_image, sandbox, {"tests/test_a.txt": text.format(2), "tests/test_b.txt": text.format(3)})
    assert found.report.statuses == {
        "tests/test_a.txt::test_a.txt": TestStatus.PASSED,
        "tests/test_b.txt::test_b.txt": TestStatus.FAILED,
    }


HIDDEN = (
    "import unittest\nimport calc\nclass Sums(unittest.TestCase):\n"
    "    def test_zero(self):\n        self.assertEqual(calc.add(0, 0), 0)\n"
    "    def test_two(self):\n        self.assertEqual(calc.add(1, 1), 2)\n"
)


@pytest.mark.parametrize(
    ("patch", "outcome"),
    [
        (tiny.GOLD, Outcome.RESOLVED),
        (tiny.fix("return 2 - a"), Outcome.UNRESOLVED),
        (tiny.fix("return a - b", top=("import os", "os._exit(0)")), Outcome.UNRESOLVED),
    ],
)
def test_a_patch_is_graded_by_suites(tiny_image, sandbox, patch, outcome):
    task = tiny.task(
        tiny_image,
        spec=SPEC,
        tests={"tests/test_sums.py": (None, HIDDEN)},
        fail_to_pass=("tests/test_sums.py::Sums::test_two",),
        pass_to_pass=("tests/test_sums.py::Sums::test_zero",),
    )
    scored = scoring.score(task, parse(patch.encode()), sandbox, scoring.Demands())
    assert scored.grade.outcome is outcome
