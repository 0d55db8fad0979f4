"""Tests on a clock of their own, in real containers: what sees it, what must not, and what can't have it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from harness.core import clock, process
from harness.core.instance import Budgets, Outcome, TestSpec
from harness.grading import trial
from harness.grading.scoring import trial_spec
from harness.languages import screening
from harness.runs import evaluate
from harness.sandbox import engine, owners
from harness.sandbox import engine as imageclock
from harness.signals import observed
from harness.signals.observed import Observations
from tests import tiny
from tests.tiny import BASE_TESTS

pytestmark = pytest.mark.engine

THEN = "2021-05-03T12:00:00Z"
SEES = (
    BASE_TESTS
    + """

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
    began = time.time()
    told = subprocess.check_output([sys.executable, "-c", "import time; print(time.time())"])
    assert began - 1 < float(told) < time.time() + 1


def test_another_time_zone(monkeypatch):
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    began = time.time()
    told = subprocess.check_output([sys.executable, "-c", "import time; print(time.time())"])
    assert began - 5 < float(told) < time.time() + 5


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
    assert 0.19 < took(wait) < 200


def test_time_runs_on():
    began = time.time()
    assert 0.19 < took(lambda: time.sleep(0.2)) and 0.19 < time.time() - began < 200


def test_the_monotonic_clock_is_real():
    with open("/proc/uptime") as file:
        assert abs(float(file.read().split()[0]) - time.monotonic()) < 10


def test_file_times_are_what_they_were_set_to(tmp_path):
    path = tmp_path / "file"
    path.write_text("")
    os.utime(path, (1e9, 1e9))
    assert path.stat().st_mtime == 1e9
"""
)


NEAR = (
    BASE_TESTS
    + """

import datetime


def test_two():
    assert calc.add(1, 1) == 2 and datetime.date.today() == datetime.date(2021, 5, 3)
"""
)
SLOW = (
    BASE_TESTS
    + """

import time


def test_two():
    assert calc.add(1, 1) == 2
    time.sleep(30)
"""
)


def clocked(image, tests=NEAR, **more):
    return tiny.task(image, tests={tiny.TESTS: (BASE_TESTS, tests)}, spec=TestSpec(clock=THEN), **more)


def gold_run(task, sandbox, *, watch=False, **more):
    gold = screening.screen_task(task, task.hidden.gold_patch).kept
    wanted = observed.request(gold, task.instance.test, task.instance.budgets) if watch else None
    return trial.run(replace(trial_spec(task, gold), watch=wanted, **more), sandbox)


@pytest.fixture(scope="module")
def seen(tiny_image, sandbox):
    """A run, with the fix, of tests that look at the clock from everywhere."""
    return gold_run(clocked(tiny_image, SEES), sandbox, watch=True)


@pytest.fixture(scope="module")
def old_image(tiny_image):
    """The image as it was made before there were clocks."""
    client = engine.connect()
    made = client.create_container(
        tiny_image, ["rm", "-r", "/opt/goldseam/clock"], labels={engine.LABEL_OWNER: owners.owner()}
    )
    client.start(made)
    client.wait(made)
    image = client.commit(made, changes=[f"LABEL {imageclock.LABEL_CLOCK}=", f"LABEL {engine.LABEL_OWNER}="])["Id"]
    client.remove_container(made, v=True)
    yield image
    client.remove_image(image, force=True)  # the sandbox may still be removing its last container


def test_tests_see_their_clock_from_everywhere(seen):
    statuses = {name.partition("::")[2]: str(status) for name, status in seen.report.statuses.items()}

    assert statuses == dict.fromkeys(statuses, "PASSED")
    assert len(statuses) == 15


def test_what_the_supervisor_measures_is_real(seen):
    assert 0 < seen.seconds < 60
    assert 0 < seen.cpu_seconds < 60
    assert seen.violations == ()


def test_a_watched_run_tells_as_much_as_on_real_time(seen, tiny_image, sandbox):
    here, real = (
        Observations.read(one.watched).after for one in (seen, gold_run(tiny.task(tiny_image), sandbox, watch=True))
    )

    assert (here.loaded, here.paths) == (real.loaded, real.paths)


def test_the_time_limit_is_real(tiny_image, sandbox):
    found = gold_run(clocked(tiny_image, SLOW, budgets=Budgets(seconds=2, memory_mb=256)), sandbox)

    assert found.timed_out
    assert 2 <= found.seconds < 30  # which the test would sleep


def test_a_task_with_a_clock_is_resolved_by_its_fix(tiny_image, sandbox):
    verdict = evaluate.evaluate_one(clocked(tiny_image), tiny.prediction(), sandbox, settings=evaluate.Settings())

    assert verdict.report.outcome is Outcome.RESOLVED


def test_the_same_task_on_real_time_is_not(tiny_image, sandbox):
    task = clocked(tiny_image)
    real = replace(task, instance=replace(task.instance, test=TestSpec()))
    verdict = evaluate.evaluate_one(real, tiny.prediction(), sandbox, settings=evaluate.Settings())

    assert verdict.report.outcome is Outcome.UNRESOLVED


def test_a_trial_can_have_another_clock_than_its_task(tiny_image, sandbox):
    found = gold_run(clocked(tiny_image), sandbox, clock="2021-05-04T00:00:00Z")

    assert found.report.statuses["tests/test_calc.py::test_two"] == "FAILED"
    assert found.report.statuses["tests/test_calc.py::test_zero"] == "PASSED"


def test_a_patch_that_writes_to_the_result_channel_is_found_out(tiny_image, sandbox):
    forger = tiny.fix("import os", "os.write(198, b't0 0 {}\\n')", "return a + b")
    verdict = evaluate.evaluate_one(clocked(tiny_image), tiny.prediction(forger), sandbox, settings=evaluate.Settings())

    assert verdict.report.outcome is Outcome.TAMPERED


def test_an_image_without_libfaketime_is_no_place_for_a_clock(old_image, sandbox):
    with pytest.raises(trial.MissingClockError, match="libfaketime is not in it: mine the task again"):
        gold_run(clocked(old_image), sandbox)


def test_such_a_task_is_not_scored_on_real_time(old_image, sandbox):
    verdict = evaluate.evaluate_one(clocked(old_image), tiny.prediction(), sandbox, settings=evaluate.Settings())

    assert (verdict.report.outcome, verdict.report.cause) == (Outcome.INFRA_ERROR, "missing_image")


def test_the_prefix_of_a_command_gives_it_the_clock(tiny_image):
    words = ("docker", "run", "--rm", "--network=none", tiny_image, *clock.prefix(THEN), "date", "-u", "+%FT%H")

    assert process.run(words).stdout == b"2021-05-03T12\n"


def test_an_image_tells_whether_it_has_a_clock(tiny_image, old_image):
    assert imageclock.can_fake_clock(tiny_image)
    assert not imageclock.can_fake_clock(old_image)
