"""Another order of the tests, as pytest itself runs it in a container."""

from __future__ import annotations

import pytest

from harness.core.instance import Budgets, TestSpec, TestStatus
from harness.grading import trial

ONE, OTHER = "tests/test_one.py", "tests/test_other.py"
TESTS = """\
import unittest

import pytest

MADE = {"module": 0, "class": 0, "unittest": 0}


@pytest.fixture(scope="module")
def module():
    MADE["module"] += 1
    assert MADE["module"] == 1


@pytest.fixture(scope="module", params=["a", "b"])
def costly(request):
    MADE[request.param] = MADE.get(request.param, 0) + 1
    assert MADE[request.param] == 1


@pytest.fixture(scope="class")
def kind():
    MADE["class"] += 1
    assert MADE["class"] == 1


def test_begin(module):
    pass


class TestKind:
    def test_x(self, module, kind):
        pass

    def test_y(self, kind):
        pass

    def test_z(self, kind):
        pass


class Case(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        MADE["unittest"] += 1
        assert MADE["unittest"] == 1

    def test_1(self):
        pass

    def test_2(self):
        pass


def test_first(costly):
    pass


def test_second(costly):
    pass


def test_end(module):
    pass
"""


@pytest.fixture(scope="module", params=[None, 0, 1, 2])
def ran(request, tiny_image, sandbox):
    """Two files of tests in the order of a seed: the report, and the seed."""
    spec = trial.TrialSpec(
        image=tiny_image,
        test=TestSpec(),
        files=(ONE, OTHER),
        budgets=Budgets(seconds=60, memory_mb=256),
        overlay={ONE: TESTS.encode(), OTHER: TESTS.encode()},
        order=request.param,
    )
    return trial.run(spec, sandbox).report, request.param


@pytest.mark.engine
def test_every_fixture_is_made_once_and_every_test_passes_in_any_order(ran):
    report, _ = ran
    assert len(report.collected) == 22
    assert set(report.statuses.values()) == {TestStatus.PASSED}, report.texts
    assert report.violations == ()


@pytest.mark.engine
def test_the_order_is_another_one_only_where_that_is_asked_for(ran):
    report, seed = ran
    assert (report.collected[0] == f"{ONE}::test_begin") is (seed is None)
    assert (report.collected[0] == f"{OTHER}::test_end") is (seed == 0)
