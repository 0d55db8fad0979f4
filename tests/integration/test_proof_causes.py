"""What a test hangs on is found by varied runs in real containers, and named."""

from __future__ import annotations

import time

import pytest

from harness.core.errors import InfrastructureError
from harness.core.instance import TestSpec
from harness.languages import screening
from harness.patches.patch import parse
from miner.proof import Notebook, Proof, Subject, validate
from miner.sources.change import Rejection
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
TOMORROW = {tomorrow}


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


def test_clock():
    assert time.time() < TOMORROW


def test_network():
    urllib.request.urlopen("http://example.org", timeout=5)
"""


def subject(image: str, hidden: str, gold: str = tiny.GOLD) -> Subject:
    return Subject(
        instance_id="tiny__calc-1",
        image=image,
        test=TestSpec(),
        test_files=(FILE,),
        gold_patch=gold.encode(),
        test_patch=tiny.diff(FILE, tiny.BASE_TESTS, hidden).encode(),
    )


def proved(image, sandbox, folder, hidden, **options) -> Proof | Rejection:
    asked = subject(image, hidden)
    notebook = Notebook(folder / "notes.jsonl", asked)
    return validate(asked, sandbox, runs=3, notebook=notebook, progress=lambda _text: None, **options)


@pytest.fixture(scope="module")
def proof(tiny_image, sandbox, tmp_path_factory) -> Proof:
    found = proved(
        tiny_image, sandbox, tmp_path_factory.mktemp("proof"), HIDDEN.replace("{tomorrow}", str(time.time() + 86400))
    )
    assert isinstance(found, Proof), found
    return found


@pytest.mark.engine
@pytest.mark.parametrize(
    "cause", ["order", "hash_seed", "timezone", "cpus", "locale", "home", "user", "clock", "network"]
)
def test_what_a_test_hangs_on_is_named(proof, cause):
    assert proof.evidence["causes"][f"{FILE}::test_{cause}"] == cause


@pytest.mark.engine
def test_what_hangs_on_nothing_is_listed_and_the_rest_is_in_no_list(proof):
    assert proof.fail_to_pass == (f"{FILE}::test_three", f"{FILE}::test_two")
    assert proof.pass_to_pass == (f"{FILE}::test_first",)
    assert len(proof.flaky) == 8


@pytest.mark.engine
def test_a_fix_of_compiled_code_that_turns_no_test_is_told_so(tiny_image, sandbox, tmp_path):
    asked = subject(
        tiny_image, tiny.HIDDEN_TESTS.replace("== 2", "== 0"), tiny.diff("src/calc/fast.c", None, "int x;\n")
    )
    notebook = Notebook(tmp_path / "notes.jsonl", asked)
    found = validate(asked, sandbox, runs=1, notebook=notebook, progress=lambda _text: None)
    assert isinstance(found, Rejection)
    assert found.reason == "no_fail_to_pass"
    assert found.detail.endswith("; " + screening.caveat(parse(asked.gold_patch), asked.test))


@pytest.mark.engine
def test_passes_are_counted_in_each_state(proof):
    passes = proof.evidence["passes"]
    assert passes[f"{FILE}::test_two"] == [0, 0, 3]
    assert passes[f"{FILE}::test_home"] == [0, 1, 1]
    assert passes[f"{FILE}::test_network"] == [0, 0, 0]


COINS = """\
import os

import calc
import pytest


def test_two():
    assert calc.add(1, 1) == 2


@pytest.mark.parametrize("number", range(6))
def test_coin(number):
    assert os.urandom(1)[0] % 2
"""


@pytest.fixture(scope="module")
def coins(tiny_image, sandbox, tmp_path_factory) -> Proof:
    found = proved(tiny_image, sandbox, tmp_path_factory.mktemp("coins"), COINS, quarantine=True)
    assert isinstance(found, Proof), found
    return found


@pytest.mark.engine
def test_what_differs_between_equal_runs_is_random(coins):
    causes = [coins.evidence["causes"][one] for one in coins.flaky]
    assert causes.count("random") >= 3


ONE_ZONE = """\
import time

import calc


def test_two():
    assert calc.add(1, 1) == 2 + time.localtime(0).tm_hour
"""


class Counting:
    """A sandbox that counts its jobs and is lost after some."""

    def __init__(self, sandbox, jobs):
        self.sandbox, self.left, self.done = sandbox, jobs, 0

    def run(self, job):
        if self.done == self.left:
            raise InfrastructureError("the engine has gone")
        self.done += 1
        return self.sandbox.run(job)


@pytest.fixture(scope="module")
def fallen(tiny_image, sandbox, tmp_path_factory) -> tuple[Rejection, int]:
    """A task that is none, and how many containers that took."""
    counting = Counting(sandbox, 99)
    found = proved(tiny_image, counting, tmp_path_factory.mktemp("zone"), ONE_ZONE)
    assert isinstance(found, Rejection), found
    return found, counting.done


@pytest.mark.engine
def test_a_task_whose_only_turned_test_is_unstable_is_none_and_the_cause_is_told(fallen):
    found, _ = fallen
    assert found.reason == "unstable_fail_to_pass"
    assert "tests/test_calc.py::test_two (timezone)" in found.detail


@pytest.mark.engine
def test_a_proof_that_is_lost_ends_before_all_of_its_runs(fallen):
    assert fallen[1] < 3 * 3 + 6


@pytest.mark.engine
def test_an_interrupted_proof_goes_on_with_the_run_that_it_stopped_at(tiny_image, sandbox, tmp_path, fallen):
    first, second = Counting(sandbox, 6), Counting(sandbox, 99)
    with pytest.raises(InfrastructureError):
        proved(tiny_image, first, tmp_path, ONE_ZONE)
    assert isinstance(proved(tiny_image, second, tmp_path, ONE_ZONE), Rejection)
    assert first.done + second.done == fallen[1]
