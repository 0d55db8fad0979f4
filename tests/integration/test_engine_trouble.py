"""An engine in trouble: retried with bounds, told with its cause, never a verdict about the patch."""

from __future__ import annotations

import contextlib
import itertools
import os
import re
import signal
import socket
import subprocess  # noqa: TID251 - a process to be stopped for a while
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from harness.core.errors import InfrastructureError
from harness.core.instance import Outcome
from harness.runs import evaluate
from harness.sandbox import containers, engine, owners
from harness.sandbox.docker import DockerSandbox
from tests import tiny, waiting
from tests.engine_proxy import Proxy

pytestmark = pytest.mark.engine

CALL_SECONDS = 4.0
"""In place of two minutes, where a call is to hang."""


def ours():
    found = engine.connect().containers(all=True, filters={"label": [f"{engine.LABEL_OWNER}={owners.owner()}"]})
    return [container["Id"] for container in found if container["Labels"][engine.LABEL_KIND] != "probe"]


def test_a_container_that_is_removed_from_outside_is_tried_again(tiny_image, sandbox, monkeypatch):
    before, converse = set(ours()), sandbox._converse

    def converse_after_a_removal(*of_job):
        monkeypatch.undo()
        [new] = set(ours()) - before  # it has been started, and waits for its input
        engine.remove_container(new)
        return converse(*of_job)

    monkeypatch.setattr(sandbox, "_converse", converse_after_a_removal)
    verdict = evaluate.evaluate_one(tiny.task(tiny_image), tiny.prediction(), sandbox, settings=evaluate.Settings())
    assert verdict.report.outcome is Outcome.RESOLVED, verdict.report
    assert verdict.report.attempts == 2


def test_an_image_that_is_gone_is_told_by_its_name_and_scores_nothing(sandbox):
    verdict = evaluate.evaluate_one(tiny.task(), tiny.prediction(), sandbox, settings=evaluate.Settings())
    assert verdict.report.outcome is Outcome.INFRA_ERROR
    assert verdict.report.cause == "missing_image"
    assert tiny.NO_IMAGE in verdict.report.reason


def test_an_engine_is_asked_once_what_it_is_by_all_threads(monkeypatch):
    asked, version = [], engine.docker.APIClient.version
    monkeypatch.setattr(engine, "_versions", {})
    monkeypatch.setattr(engine.docker.APIClient, "version", lambda *words: asked.append(words) or version(*words))
    for _ in range(3):
        with ThreadPoolExecutor(1) as pool:
            assert pool.submit(engine.is_podman).result() == engine.is_podman()
            assert pool.submit(engine.platform).result() == engine.platform()
    assert len(asked) == 1


def test_a_clock_that_jumps_back_and_forth_changes_nothing(tiny_image, sandbox, monkeypatch):
    real, jumps = time.time, itertools.cycle([0, 86400 * 365, -86400 * 365])
    monkeypatch.setattr(time, "time", lambda: real() + next(jumps))
    monkeypatch.setattr(time, "time_ns", lambda: time.time() * 1_000_000_000)
    verdict = evaluate.evaluate_one(tiny.task(tiny_image), tiny.prediction(), sandbox, settings=evaluate.Settings())
    assert verdict.report.resolved
    assert verdict.report.attempts == 1
    assert all(0 <= seconds < 600 for seconds in verdict.report.timings.values())


HELD_UP = """
import sys
from harness.core.instance import Budgets
from harness.sandbox.job import Job
from harness.sandbox.docker import DockerSandbox
budgets = Budgets(seconds=3, memory_mb=64, pids=16, disk_mb=16)
job = Job(image=sys.argv[1], argv=("sh", "-c", "sleep 2; echo done"), stdin=b"", budgets=budgets, grace_seconds=1)
with DockerSandbox(sweep=False) as sandbox:
    result = sandbox.run(job)
print(result.timed_out, result.stdout.decode().strip())
"""


def test_a_program_that_was_stopped_for_longer_than_a_trial_may_take_reads_what_has_ended(tiny_image):
    argv = [sys.executable, "-c", HELD_UP, tiny_image]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, text=True) as child:
        own = {"label": [f"{engine.LABEL_OWNER}={owners.host()}:{child.pid}:{owners.start_time(child.pid)}"]}
        waiting.until(lambda: engine.connect().containers(filters=own), child)
        child.send_signal(signal.SIGSTOP)
        time.sleep(5)  # more than the job may take in all
        ended = waiting.left(lambda: engine.connect().containers(filters=own)) == []
        child.send_signal(signal.SIGCONT)
        assert ended
        assert child.stdout.read().split() == ["False", "done"]


def test_an_engine_whose_clock_was_put_back_is_not_waited_for_until_it_has_caught_up(monkeypatch):
    monkeypatch.setattr(engine, "_PING_SECONDS", 0.5)
    began, later = time.monotonic(), int(time.time()) + 9 * 3600
    with pytest.raises(engine.ConnectionLost):
        engine.happened("oom", "some-container", since=later - 60, until=later)
    assert time.monotonic() - began < 300


def test_an_engine_that_never_answers_is_given_up_within_bounds(tmp_path, monkeypatch):
    path = tmp_path / "engine.sock"
    with socket.socket(socket.AF_UNIX) as silent:
        silent.bind(str(path))
        silent.listen(64)
        engine.disconnect()
        monkeypatch.setenv("DOCKER_HOST", f"unix://{path}")
        monkeypatch.setattr(engine, "_CALL_SECONDS", 0.5)
        began = time.monotonic()
        with DockerSandbox(sweep=False, engine_wait=1) as hung, pytest.raises(InfrastructureError):
            evaluate.evaluate_one(tiny.task(), tiny.prediction(), hung, settings=evaluate.Settings())
        assert time.monotonic() - began < 300
    engine.disconnect()


CALLS = {
    "create": rb"POST /v[\d.]+/containers/create",
    "attach": rb"POST /v[\d.]+/containers/[^/]+/attach",
    "start": rb"POST /v[\d.]+/containers/[^/]+/start",
    "wait": rb"POST /v[\d.]+/containers/[^/]+/wait",
    "inspect": rb"GET /v[\d.]+/containers/[^/]+/json",
    "remove": rb"DELETE /v[\d.]+/containers/",
}


@pytest.fixture
def nothing_left():
    """Whatever a hanging call left undone is done when the sandbox closes."""
    before = set(ours())
    yield
    engine.disconnect()
    assert waiting.left(lambda: set(ours()) - before) == set()


@pytest.fixture
def hanging(nothing_left, tmp_path, monkeypatch):
    """A sandbox whose calls of one kind, the first few of them, get no answer."""
    real = Path("/var/run/docker.sock")
    if os.environ.get("DOCKER_HOST") or not real.is_socket():
        pytest.skip("needs Docker's own socket, to put something before it")
    engine.disconnect()
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/p.sock")
    with contextlib.ExitStack() as stack:
        proxy = stack.enter_context(Proxy.at(tmp_path / "p.sock", real))

        def hang(*calls, times=1, seconds=CALL_SECONDS):
            monkeypatch.setattr(engine, "_CALL_SECONDS", seconds)
            monkeypatch.setattr(containers, "CLOSE_SECONDS", 2 * seconds)
            left = {call: threading.Semaphore(times) for call in calls}
            proxy.swallows = lambda head: any(
                re.match(CALLS[call], head) and one.acquire(blocking=False) for call, one in left.items()
            )
            return stack.enter_context(DockerSandbox(sweep=False))

        yield hang
    engine.disconnect()


@pytest.mark.parametrize(
    ("calls", "line", "cause"),
    [
        (("create", "attach", "start"), "return a + b", None),
        (("wait", "inspect"), "import os; os.kill(os.getpid(), 11)", "crashed"),
    ],
)
def test_a_call_that_hangs_is_given_up_and_the_trial_done_again(tiny_image, hanging, calls, line, cause):
    """A call of each kind, in trials side by side: while one hangs, the next comes as far as its own."""
    sandbox = hanging(*calls)

    def score(number):
        prediction = tiny.prediction(tiny.fix(f"{line}  # {number}"))
        return evaluate.evaluate_one(tiny.task(tiny_image), prediction, sandbox, settings=evaluate.Settings()).report

    with ThreadPoolExecutor(len(calls)) as pool:
        found = list(pool.map(score, range(len(calls))))
    assert [(one.resolved, one.cause) for one in found] == [(cause is None, cause)] * len(calls)
    assert sum(one.attempts - 1 for one in found) >= len(calls)


def test_a_call_that_always_hangs_is_the_cause_of_an_infrastructure_error(tiny_image, hanging):
    began = time.monotonic()
    found = evaluate.evaluate_one(
        tiny.task(tiny_image), tiny.prediction(), hanging("start", times=99), settings=evaluate.Settings()
    ).report
    assert (found.outcome, found.cause) == (Outcome.INFRA_ERROR, "engine")
    assert "timed out" in found.reason.lower()
    assert time.monotonic() - began < 300


def test_a_removal_that_hangs_changes_no_verdict_and_keeps_nobody_waiting(tiny_image, hanging):
    found = evaluate.evaluate_one(
        tiny.task(tiny_image), tiny.prediction(), hanging("remove", seconds=10.0), settings=evaluate.Settings()
    ).report
    assert (found.resolved, found.attempts) == (True, 1)
