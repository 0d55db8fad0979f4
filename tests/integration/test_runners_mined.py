"""Fixes whose tests no plain pytest would run: Django's suites with settings made by their program, and a document."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from harness.core.instance import Outcome
from harness.dataset.folder import open_dataset
from harness.grading import scoring
from harness.judging.places import Place, place_of_test
from harness.patches.patch import parse
from tests import tiny
from tests.repos import Repository

pytestmark = pytest.mark.engine

PROJECT = """\
[build-system]
requires = ["setuptools>=61"]
build-backend = "setuptools.build_meta"

[project]
name = "shop"
version = "1.0"
dependencies = ["django"]

[project.optional-dependencies]
tests = ["pytest"]

[tool.setuptools]
packages = ["shop"]
"""
RUNNER = """\
import sys

import django
from django.conf import settings
from django.test.runner import DiscoverRunner

if __name__ == "__main__":
    settings.configure(
        INSTALLED_APPS=["shop"],
        DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": ":memory:"}},
        DEFAULT_AUTO_FIELD="django.db.models.AutoField",
        USE_TZ=True,
    )
    django.setup()
    sys.exit(bool(DiscoverRunner(failfast=True, parallel=4).run_tests(["shop"])))
"""
MODELS = """\
from django.db import models


class Item(models.Model):
    price = models.IntegerField()

    @classmethod
    def total(cls):
        return sum(item.price for item in cls.objects.all(){})
"""
SUITE = """\
from django.test import TestCase

from shop.models import Item


class Total(TestCase):
    @classmethod
    def setUpTestData(cls):
        cls.item = Item.objects.create(price=2)

    def test_one(self):
        self.assertEqual(Item.total(), 2)
"""
MORE = (
    SUITE
    + "\n    def test_two(self):\n        Item.objects.create(price=3)\n        self.assertEqual(Item.total(), 5)\n"
)
OTHER = """\
import unittest


class Other(unittest.TestCase):
    def test_sound(self):
        self.assertTrue(__debug__)

    def test_fails(self):
        self.fail()
"""
USAGE = "Usage\n=====\n\n>>> from shop.sums import add\n>>> add(1, 0)\n1\n"
FILES = {
    "pyproject.toml": PROJECT,
    "tox.ini": "[testenv]\ncommands =\n    python runtests.py\n    pytest -q --doctest-glob=*.rst docs\n",
    "runtests.py": RUNNER,
    "docs/usage.rst": USAGE,
    "shop/__init__.py": "",
    "shop/models.py": MODELS.format("[:1]"),
    "shop/sums.py": "def add(a, b):\n    return a - b\n",
    "shop/tests/__init__.py": "",
    "shop/tests/test_total.py": SUITE,
    "shop/tests/test_other.py": OTHER,
}
PLACE = "shop/tests/test_total.py::Total::"
REFUSED = (Outcome.UNRESOLVED, Outcome.TAMPERED)


@pytest.fixture(scope="module")
def mined(tmp_path_factory) -> Path:
    """A dataset of both fixes, with PASS_TO_PASS of the whole suite."""
    folder = tmp_path_factory.mktemp("runners")
    repo = Repository(folder / "repo")
    repo.commit("Start", dict(FILES))
    total = repo.commit(
        "Fix total of two items", {"shop/models.py": MODELS.format(""), "shop/tests/test_total.py": MORE}
    )
    sums = repo.commit(
        "Fix sums",
        {"shop/sums.py": "def add(a, b):\n    return a + b\n", "docs/usage.rst": f"{USAGE}>>> add(1, 1)\n2\n"},
    )
    words = ("--name", "acme/shop", "--commit", total, "--commit", sums, "--p2p", "all", "--runs", "1", "-j", "2")
    done = tiny.goldseam("mine", repo.path, "-o", folder / "dataset", *words)
    assert done.returncode == 0, done.error_text
    lines = (folder / "dataset/funnel.jsonl").read_text().splitlines()[1:]
    assert [json.loads(line)["reason"] for line in lines] == ["accepted", "accepted"], lines
    return folder / "dataset"


def task_of(mined, framework):
    tasks = (open_dataset(mined).task(path.name) for path in sorted((mined / "tasks").iterdir()))
    return next(task for task in tasks if task.instance.test.framework == framework)


def test_djangos_own_program_proves_a_fix(mined):
    task = task_of(mined, "django")
    assert task.instance.test.options == ("--", "runtests.py")
    assert task.hidden.fail_to_pass == (f"{PLACE}test_two",)


def test_a_test_in_djangos_suites_is_judged_on_the_host(mined):
    assert place_of_test(task_of(mined, "django"), f"{PLACE}test_two") is Place.HOST


def test_a_patch_that_makes_every_assertion_hold_resolves_nothing(mined, sandbox):
    forged = "import django.test\n\ndjango.test.TestCase.assertEqual = lambda *_: None\n" + MODELS.format("[:1]")
    patch = parse(tiny.diff("shop/models.py", MODELS.format("[:1]"), forged).encode())
    assert scoring.score(task_of(mined, "django"), patch, sandbox, scoring.Demands()).grade.outcome in REFUSED


def test_pass_to_pass_is_of_the_whole_suite_and_what_fails_in_it_costs_nothing(mined):
    hidden = task_of(mined, "django").hidden
    other = "shop/tests/test_other.py::Other::"
    assert {f"{PLACE}test_one", f"{other}test_sound"} <= set(hidden.pass_to_pass)
    assert f"{other}test_fails" not in hidden.pass_to_pass
    assert set(hidden.test_files) == {"shop/tests/test_other.py", "shop/tests/test_total.py"}
    assert hidden.evidence["p2p"] == {"asked": "all", "files_added": 1}


def test_a_document_is_the_hidden_test_of_its_fix(mined):
    task = task_of(mined, "pytest")
    assert task.hidden.fail_to_pass == ("docs/usage.rst::usage.rst",)
    assert b"docs/usage.rst" in task.hidden.test_patch
    assert task.instance.test.options == ("--doctest-glob=*.rst",)


def test_gold_resolves_both_and_nothing_resolves_neither(mined, tmp_path):
    done = tiny.goldseam("evaluate", mined, "--gold", "--null", "-o", tmp_path / "run", "--json")
    models = {model["model"]: model["resolved"] for model in json.loads(done.stdout)["goldseam"]["models"]}
    assert models == {"gold": 2, "null": 0}
