"""What a test hangs on is found by varied runs in real containers, and named."""

from __future__ import annotations

import re
import time
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from harness.core.errors import InfrastructureError
from harness.core.instance import Outcome, TestSpec
from harness.grading import scoring
from harness.languages import screening
from harness.patches.patch import parse
from miner.proof import Budget, Notebook, Proof, Subject, observe, sensitivity, validate
from miner.proof.subject import prepare
from miner.sources.change import Rejection
from miner.stripping import task as stripping
from tests import tiny

if TYPE_CHECKING:
    from harness.core.instance import Task

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


def test_processors():
    assert os.cpu_count() > 1


def test_locale():
    assert locale.setlocale(locale.LC_ALL, "") == "C.UTF-8"


def test_home():
    assert os.path.expanduser("~") == "/tmp"


def test_user():
    assert getpass.getuser() != "goldseam"


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


def proved(image, sandbox, folder, hidden, runs=1, **options) -> Proof | Rejection:
    asked = subject(image, hidden)
    notebook = Notebook(folder / "notes.jsonl", asked)
    return validate(asked, sandbox, runs=runs, notebook=notebook, progress=lambda _text: None, **options)


LISTED = ("hash_seed", "home", "locale", "timezone")


@pytest.fixture(scope="module")
def proof(tiny_image, sandbox, tmp_path_factory) -> Proof:
    hidden = HIDDEN.replace("{tomorrow}", str(time.time() + 86400))
    found = proved(tiny_image, sandbox, tmp_path_factory.mktemp("proof"), hidden, runs=3)
    assert isinstance(found, Proof), found
    return found


@pytest.mark.engine
@pytest.mark.parametrize(
    "cause", ["order", "hash_seed", "timezone", "processors", "locale", "home", "user", "clock", "network"]
)
def test_what_a_test_hangs_on_is_named(proof, cause):
    assert proof.evidence["causes"][f"{FILE}::test_{cause}"] == cause


@pytest.mark.engine
def test_what_hangs_on_nothing_is_listed_and_the_rest_is_in_no_list(proof):
    assert proof.fail_to_pass == (f"{FILE}::test_three", f"{FILE}::test_two")
    assert proof.pass_to_pass == tuple(f"{FILE}::test_{name}" for name in sorted(("first", *LISTED)))
    assert proof.flaky == tuple(f"{FILE}::test_{name}" for name in ("clock", "order", "processors"))


@pytest.mark.engine
def test_what_evaluation_pins_makes_a_test_sensitive_and_it_is_listed(proof):
    assert proof.evidence["sensitive"] == {f"{FILE}::test_{name}": name for name in LISTED}
    by = dict.fromkeys(LISTED, 1)
    assert sensitivity(proof) == {"share": 0.0, "fail_to_pass": 0, "pass_to_pass": 4, "by": by}


@pytest.mark.engine
def test_what_fails_as_evaluation_runs_it_is_in_no_list_however_it_fares_elsewhere(proof):
    name = f"{FILE}::test_user"
    assert name not in (*proof.fail_to_pass, *proof.pass_to_pass, *proof.flaky)


@pytest.fixture(scope="module")
def task(proof, tiny_image) -> Task:
    """Of the proof, with its tests as they are."""
    asked = subject(tiny_image, HIDDEN.replace("{tomorrow}", str(time.time() + 86400)))
    task = tiny.task()
    hidden = replace(
        task.hidden,
        gold_patch=asked.gold_patch,
        test_patch=asked.test_patch,
        test_files=(FILE,),
        fail_to_pass=proof.fail_to_pass,
        pass_to_pass=proof.pass_to_pass,
        evidence=proof.evidence,
    )
    return replace(task, instance=replace(task.instance, image=tiny_image), hidden=hidden)


@pytest.mark.engine
def test_the_fix_resolves_a_task_with_sensitive_tests_every_time(task, sandbox):
    fix = screening.screen_task(task, task.hidden.gold_patch).kept
    outcomes = {scoring.score(task, fix, sandbox, scoring.Demands()).grade.outcome for _ in range(3)}
    assert outcomes == {Outcome.RESOLVED}


@pytest.mark.engine
def test_what_sensitive_tests_expect_is_recorded_as_evaluation_runs_them(task, sandbox):
    source = HIDDEN.replace("{tomorrow}", str(time.time() + 86400)).encode()
    recorded = stripping.of_task(task, {FILE: source}, sandbox).expectations.tests
    assert [str(recorded[f"{FILE}::test_{name}"].place) for name in ("two", "timezone", "home")] == ["host"] * 3


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


@pytest.mark.parametrize("number", range(24))
def test_coin(number):
    assert os.urandom(1)[0] % 2
"""


@pytest.fixture(scope="module")
def coins(tiny_image, sandbox, tmp_path_factory) -> Proof:
    found = proved(tiny_image, sandbox, tmp_path_factory.mktemp("coins"), COINS, runs=2, quarantine=True)
    assert isinstance(found, Proof), found
    return found


@pytest.mark.engine
def test_what_differs_between_equal_runs_is_random(coins):
    causes = [coins.evidence["causes"].get(one) for one in coins.flaky]  # of a busy machine the search may be cut
    assert causes.count("random") >= 3


ONE_PROCESSOR = """\
import os

import calc


def test_two():
    assert calc.add(1, 1) == 2 + (os.cpu_count() == 1)
"""

ONE_ZONE = """\
import time

import calc


def test_two():
    assert calc.add(1, 1) == 2 + time.localtime(0).tm_hour
"""


@pytest.mark.engine
def test_a_task_whose_only_turned_test_is_sensitive_is_one_and_has_all_its_runs(tiny_image, sandbox, tmp_path):
    found = proved(tiny_image, sandbox, tmp_path, ONE_ZONE, runs=2)
    assert isinstance(found, Proof), found
    assert found.fail_to_pass == (f"{FILE}::test_two",)
    assert found.evidence["sensitive"] == {f"{FILE}::test_two": "timezone"}
    assert found.evidence["runs"] == 2
    assert sensitivity(found) == {"share": 1.0, "fail_to_pass": 1, "pass_to_pass": 0, "by": {"timezone": 1}}


class Counting:
    """A sandbox that counts its jobs and is lost after some."""

    def __init__(self, sandbox, jobs):
        self.sandbox, self.left, self.done = sandbox, jobs, 0

    def run(self, job):
        if self.done == self.left:
            raise InfrastructureError("the engine has gone")
        self.done += 1
        return self.sandbox.run(job)


@pytest.mark.engine
def test_of_a_suite_that_is_long_for_its_budget_all_tests_run_again_with_the_fix_alone(tiny_image, sandbox, tmp_path):
    counting = Counting(sandbox, 99)
    hidden = HIDDEN.replace("{tomorrow}", str(time.time() + 86400))
    found = proved(tiny_image, counting, tmp_path, hidden, runs=3, budget=Budget(plain_runs=1, seconds=0))
    assert isinstance(found, Proof), found
    assert found.fail_to_pass == (f"{FILE}::test_three", f"{FILE}::test_two")
    assert found.pass_to_pass == (f"{FILE}::test_first",)
    assert counting.done == 3 + 2 * 2 + 1
    price = found.evidence["price"]
    assert price["seconds"].keys() == {"proof"}
    assert price["given_up"] == [
        "runs 2 to 3 without the fix of all tests but those that it makes pass (2), and with it on half a processor",
        "run 3 of all tests with the fix",
        "the causes of 8 unstable tests that the fix does not make pass",
    ]


@pytest.mark.engine
def test_a_task_that_falls_says_what_was_not_found_out_for_budget(tiny_image, sandbox, tmp_path):
    found = proved(tiny_image, sandbox, tmp_path, ONE_PROCESSOR, runs=3, budget=Budget(plain_runs=1, seconds=0))
    assert isinstance(found, Rejection), found
    assert found.reason == "unstable_fail_to_pass"
    assert "; skipped to stay within the budget: " in found.detail
    assert "the search for causes, before its end" in found.detail


ENDING = """\
import os
import time

import calc
import pytest


def test_first():
    assert calc.add(0, 0) == 0


@pytest.mark.parametrize("number", {numbers})
def test_ends(number):
    if calc.add(1, 1) != 2:
        {end}


@pytest.mark.parametrize("number", [1, 2])
def test_three(number):
    assert calc.add(1, number) == 1 + number


def test_zero():
    assert calc.add(5, 0) == 5
"""
ENDS = f"{FILE}::test_ends[1]"


@pytest.mark.engine
def test_a_test_in_which_the_process_ends_without_the_fix_fails_and_those_after_it_have_their_say(
    tiny_image, sandbox, tmp_path
):
    hidden = ENDING.replace("{numbers}", "[1]").replace("{end}", "os.abort()")
    found = proved(tiny_image, sandbox, tmp_path, hidden)
    assert isinstance(found, Proof), found
    assert found.fail_to_pass == (ENDS, f"{FILE}::test_three[1]", f"{FILE}::test_three[2]")
    assert found.pass_to_pass == (f"{FILE}::test_first", f"{FILE}::test_zero")
    assert found.evidence["endings"] == [ENDS]
    assert found.evidence["before"] == {"ERROR": 1, "FAILED": 2}


@pytest.mark.engine
def test_of_tests_that_never_end_with_the_fix_the_last_that_did_is_told(tiny_image, sandbox, tmp_path):
    hidden = "import time\n\n\ndef test_first():\n    pass\n\n\ndef test_waits():\n    time.sleep(999)\n"
    asked = subject(tiny_image, hidden)
    run = observe(asked, prepare(asked), "after", 0, sandbox, Notebook(tmp_path / "notes.jsonl", asked), most_seconds=6)
    assert run.trouble == "timeout"
    assert re.fullmatch(rf"not ended after \d+ s, behind {FILE}::test_first", run.detail.split("\n")[0])


@pytest.mark.engine
def test_a_test_that_never_ends_without_the_fix_fails(tiny_image, sandbox, tmp_path):
    asked = subject(tiny_image, ENDING.replace("{numbers}", "range(1, 6)").replace("{end}", "time.sleep(999)"))
    patches, notebook = prepare(asked), Notebook(tmp_path / "notes.jsonl", asked)
    run = observe(asked, patches, "before", 0, sandbox, notebook, most_seconds=8)
    assert (run.trouble, run.endings) == ("", tuple(ENDS.replace("[1]", f"[{number}]") for number in range(1, 6)))
    assert {test_id.partition("::")[2]: status.lower() for test_id, status in run.statuses.items()} == {
        "test_first": "passed",
        **{f"test_ends[{number}]": "error" for number in range(1, 6)},
        "test_three[1]": "failed",
        "test_three[2]": "failed",
        "test_zero": "passed",
    }
    assert 5 * 8 > run.container_seconds > run.seconds > 8


@pytest.mark.engine
def test_where_more_tests_end_the_process_than_a_few_the_run_keeps_its_trouble(tiny_image, sandbox, tmp_path):
    found = proved(
        tiny_image, sandbox, tmp_path, ENDING.replace("{numbers}", "range(9)").replace("{end}", "os.abort()")
    )
    assert isinstance(found, Rejection), found
    assert found.reason == "crashed"


MOCKING = """\
import hashlib
import hmac
import json
import os

import calc
import pytest

MOCKED = [(hashlib, "sha256"), (hmac, "new"), (json, "dumps"), (os, "getpid"), (os, "write")]


@pytest.mark.parametrize(("module", "name"), MOCKED, ids=range(len(MOCKED)))
def test_three(module, name, monkeypatch):
    monkeypatch.setattr(module, name, lambda *args, **options: 0)
    assert calc.add(1, 2) == 3
"""


@pytest.mark.engine
def test_what_tests_put_in_the_place_of_the_standard_library_is_not_what_reports_them(tiny_image, sandbox, tmp_path):
    found = proved(tiny_image, sandbox, tmp_path, MOCKING)
    assert isinstance(found, Proof), found
    assert found.fail_to_pass == tuple(f"{FILE}::test_three[{number}]" for number in range(5))


@pytest.fixture(scope="module")
def fallen(tiny_image, sandbox, tmp_path_factory) -> tuple[Rejection, int]:
    """A task that is none, and how many containers that took."""
    counting = Counting(sandbox, 99)
    found = proved(tiny_image, counting, tmp_path_factory.mktemp("zone"), ONE_PROCESSOR, runs=3)
    assert isinstance(found, Rejection), found
    return found, counting.done


@pytest.mark.engine
def test_a_task_whose_only_turned_test_is_unstable_is_none_and_the_cause_is_told(fallen):
    found, _ = fallen
    assert found.reason == "unstable_fail_to_pass"
    assert "tests/test_calc.py::test_two (processors)" in found.detail


@pytest.mark.engine
def test_a_proof_that_is_lost_ends_before_all_of_its_runs(fallen):
    assert fallen[1] < 3 * 3 + 6


@pytest.mark.engine
def test_an_interrupted_proof_goes_on_with_the_run_that_it_stopped_at(tiny_image, sandbox, tmp_path):
    whole, first, second = (Counting(sandbox, jobs) for jobs in (99, 2, 99))
    (tmp_path / "whole").mkdir()
    undisturbed = proved(tiny_image, whole, tmp_path / "whole", tiny.HIDDEN_TESTS)
    with pytest.raises(InfrastructureError):
        proved(tiny_image, first, tmp_path, tiny.HIDDEN_TESTS)
    gone_on = proved(tiny_image, second, tmp_path, tiny.HIDDEN_TESTS)
    assert gone_on.fail_to_pass == undisturbed.fail_to_pass
    assert first.done + second.done == whole.done
