"""An engine in trouble: retried with bounds, told with its cause, never a verdict about the patch."""

from __future__ import annotations

import socket
import threading
import time

import pytest

from harness import evaluate
from harness.errors import InfrastructureError
from harness.instance import Outcome
from harness.sandbox import engine
from harness.sandbox.docker import DockerSandbox
from tests import tiny

pytestmark = pytest.mark.engine

SLOW = tiny.fix("import time; time.sleep(3); return a + b")


def ours():
    found = engine.connect().containers(filters={"label": [f"{engine.LABEL_OWNER}={engine.owner()}"]})
    return [container["Id"] for container in found]


def test_a_container_that_is_removed_from_outside_is_tried_again(tiny_image, sandbox):
    before = set(ours())

    def remove_the_first():
        while not (new := set(ours()) - before):
            time.sleep(0.05)
        engine.remove_container(new.pop())

    saboteur = threading.Thread(target=remove_the_first)
    saboteur.start()
    verdict = evaluate.evaluate_one(tiny.task(tiny_image), tiny.prediction(SLOW), sandbox, settings=evaluate.Settings())
    saboteur.join()
    assert verdict.report.outcome is Outcome.RESOLVED, verdict.report
    assert verdict.report.attempts == 2


def test_an_image_that_is_gone_is_told_by_its_name_and_scores_nothing(sandbox):
    verdict = evaluate.evaluate_one(tiny.task(), tiny.prediction(), sandbox, settings=evaluate.Settings())
    assert verdict.report.outcome is Outcome.INFRA_ERROR
    assert verdict.report.cause == "missing_image"
    assert tiny.NO_IMAGE in verdict.report.reason


def test_a_clock_that_jumps_changes_nothing(tiny_image, sandbox, monkeypatch):
    real = time.time
    monkeypatch.setattr(time, "time", lambda: real() + 86400 * 365)
    verdict = evaluate.evaluate_one(tiny.task(tiny_image), tiny.prediction(), sandbox, settings=evaluate.Settings())
    assert verdict.report.resolved


def test_an_engine_that_never_answers_is_given_up_within_bounds(tmp_path, monkeypatch):
    path = tmp_path / "engine.sock"
    with socket.socket(socket.AF_UNIX) as silent:
        silent.bind(str(path))
        silent.listen(8)
        engine.disconnect()
        monkeypatch.setenv("DOCKER_HOST", f"unix://{path}")
        monkeypatch.setattr(engine, "_CALL_SECONDS", 0.5)
        began = time.monotonic()
        with DockerSandbox(sweep=False) as hung, pytest.raises(InfrastructureError):
            evaluate.evaluate_one(tiny.task(), tiny.prediction(), hung, settings=evaluate.Settings())
        assert time.monotonic() - began < 15
    engine.disconnect()
