"""What a test hangs on is found by varied runs in real containers, and named."""

from __future__ import annotations

import pytest

from harness.instance import TestSpec
from miner.change import Rejection
from miner.proof import Notebook, Proof, Subject, validate
from tests import tiny

FILE = "tests/test_calc.py"
HIDDEN = """\
import getpass
import locale
import os
import subprocess
import sys
import time
import urllib.request

import calc

SEEN = []


def test_two():
    assert calc.add(1, 1) == 2


def test_three():
    assert calc.add(1, 2) == 3


def test_first():
    SEEN.append("first")


def test_order():
    assert SEEN
    assert calc.add(0, 0) == 0


def test_hash_seed():
    argv = [sys.executable, "-c", "print(hash('apple'))"]
    assert subprocess.check_output(argv, env={**os.environ, "PYTHONHASHSEED": "0"}) == b"%d\\n" % hash("apple")


def test_timezone():
    assert time.localtime(0).tm_hour == calc.add(0, 0)


def test_cpus():
    assert os.cpu_count() > 1


def test_locale():
    assert locale.setlocale(locale.LC_ALL, "") == "C.UTF-8"


def test_home():
    assert os.path.expanduser("~") == "/tmp"


def test_user():
    assert getpass.getuser()


def test_network():
    urllib.request.urlopen("http://example.org", timeout=5)
"""


def subject(image: str, hidden: str) -> Subject:
    return Subject(
        instance_id="tiny__calc-1",
        image=image,
        test=TestSpec(),
        test_files=(FILE,),
        gold_patch=tiny.GOLD.encode(),
        test_patch=tiny.diff(FILE, tiny.BASE_TESTS, hidden).encode(),
    )


def proved(image, sandbox, folder, hidden, **options) -> Proof | Rejection:
    asked = subject(image, hidden)
    notebook = Notebook(folder / "notes.jsonl", asked)
    return validate(asked, sandbox, runs=3, notebook=notebook, progress=lambda _text: None, **options)


@pytest.fixture(scope="module")
def proof(tiny_image, sandbox, tmp_path_factory) -> Proof:
    found = proved(tiny_image, sandbox, tmp_path_factory.mktemp("proof"), HIDDEN)
    assert isinstance(found, Proof), found
    return found


@pytest.mark.engine
@pytest.mark.parametrize("cause", ["order", "hash_seed", "timezone", "cpus", "locale", "home", "user", "network"])
def test_what_a_test_hangs_on_is_named(proof, cause):
    assert proof.evidence["causes"][f"{FILE}::test_{cause}"] == cause
