"""Tests on a clock of their own, in real containers: what sees it, what must not, and what can't have it."""

from __future__ import annotations

import pytest

from harness import evaluate, imageclock, trial
from harness.instance import Outcome, TestSpec
from harness.scoring import trial_spec
from tests import tiny
from tests.tiny import BASE_TESTS

pytestmark = pytest.mark.engine

THEN = "2021-05-03T12:00:00Z"
SEES = BASE_TESTS + '''

import datetime, multiprocessing, os, queue, subprocess, sys, threading, time

import pytest

YEAR = 2021


def test_two():
    assert calc.add(1, 1) == 2 and datetime.date.today() == datetime.date(2021, 5, 3)


def test_python():
    assert time.gmtime(time.time()).tm_year == datetime.datetime.now().year == YEAR


def test_a_program():
    assert subprocess.check_output(["date", "+%Y"]) == b"2021\\n"


def test_a_program_goes_on_where_its_parent_is():
    time.sleep(1.1)
    told = subprocess.check_output([sys.executable, "-c", "import time; print(time.time())"])
    assert abs(float(told) - time.time()) < 1


def test_another_time_zone(monkeypatch):
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    told = subprocess.check_output([sys.executable, "-c", "import time; print(time.time())"])
    assert abs(float(told) - time.time()) < 5


def test_a_cleared_environment(monkeypatch):
    monkeypatch.setattr(os, "environ", {})
    os.unsetenv("FAKETIME")
    assert datetime.date.today().year == YEAR


def took(call):
    began = time.perf_counter()
    call()
    return time.perf_counter() - began


def nothing_comes(source):
    with pytest.raises(queue.Empty):
        source.get(timeout=0.2)


@pytest.mark.parametrize(
    "wait",
    [
        lambda: time.sleep(0.2),
        lambda: threading.Event().wait(0.2),
        lambda: multiprocessing.Semaphore(0).acquire(timeout=0.2),
        lambda: nothing_comes(multiprocessing.Queue()),
        lambda: subprocess.check_call(["sleep", "0.2"]),
    ],
    ids=["sleep", "thread", "semaphore", "process", "program"],
)
def test_waiting(wait):
    assert 0.19 < took(wait) < 2


def test_time_runs_on():
    began = time.time()
    assert 0.19 < took(lambda: time.sleep(0.2)) and 0.19 < time.time() - began < 2


def test_the_monotonic_clock_is_real():
    with open("/proc/uptime") as file:
        assert abs(float(file.read().split()[0]) - time.monotonic()) < 10


def test_file_times_are_what_they_were_set_to(tmp_path):
    path = tmp_path / "file"
    path.write_text("")
    os.utime(path, (1e9, 1e9))
    assert path.stat().st_mtime == 1e9
'''


@pytest.fixture(scope="module")
def seeing(tiny_image):
    """A task whose tests look at the clock from everywhere."""
    tests = {tiny.TESTS: (BASE_TESTS, SEES)}
    return tiny.task(tiny_image, tests=tests, spec=TestSpec(clock=THEN))


@pytest.fixture(scope="module")
def seen(seeing, sandbox):
    """Its tests' run with the fix."""
    return trial.run(trial_spec(seeing, evaluate.screen(seeing, seeing.hidden.gold_patch).kept), sandbox)


def test_tests_see_their_clock_from_everywhere(seen):
    assert {name.split("::")[1]: status.value for name, status in seen.report.statuses.items()} == dict.fromkeys(
        (name.split("::")[1] for name in seen.report.statuses), "PASSED"
    )
    assert len(seen.report.statuses) == 15
