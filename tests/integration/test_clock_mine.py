"""A fix whose tests pass only near its own date: mined with the clock at that date, and scored with it ever after."""

from __future__ import annotations

import json

import pytest

from harness.checks.dataset import check
from harness.core.instance import TaskState
from harness.dataset.folder import open_dataset
from tests import tiny
from tests.repos import Repository

pytestmark = pytest.mark.engine

BASE = """\
import datetime


def days_left(until):
    return (until - datetime.date.today()).days - 1


def is_valid(until):
    return days_left(until) >= 0
"""
TESTS = """\
import datetime

from licence import days_left, is_valid


def test_an_old_licence():
    assert not is_valid(datetime.date(2020, 1, 1))


def test_the_licence_in_the_repository():
    assert is_valid(datetime.date(2024, 6, 30))
"""
NEW_TEST = """

def test_the_last_day():
    until = datetime.date(2024, 6, 30)
    assert days_left(until) == (until - datetime.date.today()).days
    assert is_valid(until)
"""
PROJECT = '[project]\nname = "licence"\nversion = "1"\n\n[tool.setuptools]\npy-modules = ["licence"]\n'
ONE = "acme__licence-1"
FAILS, HOLDS, ALWAYS = (
    f"tests/test_licence.py::test_{name}"
    for name in ("the_last_day", "the_licence_in_the_repository", "an_old_licence")
)


@pytest.fixture(scope="module")
def mined(tmp_path_factory):
    """A dataset of one fix, of January 2024."""
    folder = tmp_path_factory.mktemp("licence")
    repo = Repository(folder / "repo")
    before = {"pyproject.toml": PROJECT, "licence.py": BASE, "tests/test_licence.py": TESTS}
    after = {"licence.py": BASE.replace(" - 1", ""), "tests/test_licence.py": TESTS + NEW_TEST}
    repo.commit("Tell whether a licence is valid", before)
    repo.commit("Fix the last day of a licence (#1)", after)
    words = ("mine", repo.path, "-o", folder / "dataset", "--name", "acme/licence", "--pr", "1", "--runs", "1")
    done = tiny.goldseam(*words)
    assert done.returncode == 0, done.error_text
    return folder / "dataset"


def test_a_fix_that_holds_on_its_date_alone_is_proved_with_its_date(mined):
    task = open_dataset(mined).task(ONE)

    assert task.instance.state is TaskState.PROVED
    assert task.instance.test.clock == task.instance.created_at == "2024-01-01T14:00:00Z"
    assert (task.hidden.fail_to_pass, task.hidden.pass_to_pass) == ((FAILS,), (ALWAYS, HOLDS))
    assert check(mined) == ()


def test_the_evidence_says_which_tests_need_the_date(mined):
    told = open_dataset(mined).task(ONE).hidden.evidence["clock"]

    assert told == {"at": "2024-01-01T14:00:00Z", "without": "no_fail_to_pass", "needed_by": sorted([FAILS, HOLDS])}


def test_gold_resolves_it_on_any_day_and_nothing_else_does(mined, tmp_path):
    done = tiny.goldseam("evaluate", mined, "--gold", "--null", "-o", tmp_path / "run", "--json")

    models = {model["model"]: model["resolved"] for model in json.loads(done.stdout)["goldseam"]["models"]}
    assert models == {"gold": 1, "null": 0}
