"""An engine that is killed, stopped, full or out of addresses: a dockerd of these tests' own, never the machine's."""

from __future__ import annotations

import json

import pytest

from harness.config.settings import ImageSettings
from harness.core.errors import InfrastructureError
from harness.runs import evaluate
from harness.sandbox import engine
from harness.sandbox.docker import DockerSandbox
from miner.layers.runner import Workshop
from miner.layers.secrets import collect
from tests import forked, second_engine, tiny, waiting
from tests.engine_proxy import Proxy

LACKING = second_engine.lacking()
pytestmark = [pytest.mark.engine, pytest.mark.skipif(LACKING is not None, reason=str(LACKING))]

ONE_ADDRESS = "base=10.213.213.0/30,size=30"
"""Of addresses, one network has this for its gateway and one container; there is no other network."""


@pytest.fixture(scope="module")
def second(slim_image):
    with second_engine.SecondEngine("--default-address-pool", ONE_ADDRESS) as started:
        yield started


@pytest.fixture(autouse=True)
def image(second, slim_image, monkeypatch):
    """The task image on the second engine, which is the one that is found."""
    engine.disconnect()
    monkeypatch.setenv("DOCKER_HOST", second.host)
    yield engine.image_id("tiny/calc:slim") or second_engine.load(slim_image, "tiny/calc")
    engine.disconnect()


@pytest.fixture
def command(image, tmp_path, monkeypatch):
    monkeypatch.setenv("GOLDSEAM_CACHE_DIR", str(tmp_path / "cache"))
    slow = {f"m{number}": tiny.fix(f"import time; time.sleep(1)  # {number}", "return a + b") for number in range(4)}
    predictions = tiny.write_predictions(tmp_path / "p.jsonl", slow)
    dataset = tiny.dataset(tmp_path / "dataset", tiny.task(image))
    return ["evaluate", dataset.path, "-p", predictions, "-o", tmp_path / "run", "-j", "2", "--no-signals"]


def reports(run):
    return [json.loads(path.read_bytes()) for path in sorted(run.glob("results/*/*/*/report.json"))]


def containers():
    return engine.connect().containers(all=True)


def started(command, host):
    return forked.started(*command, env={"DOCKER_HOST": host})


def test_a_restart_in_mid_run_costs_no_verdict_and_leaves_nothing(second, command, tmp_path):
    """An orderly one, behind a socket that holds on to whoever comes; test_faults_local.py has one after a kill."""
    with (
        Proxy.at(tmp_path / "p.sock", second.socket) as activated,
        started(command, f"unix://{tmp_path}/p.sock") as run,
    ):
        for line in run.stderr:
            if line.startswith("[1/"):
                break
        before = len(activated.seen)
        second.stop()
        second.start()
        rest = run.stderr.read()
        assert run.wait() == 0, rest
        assert len(activated.seen) > before
    found = reports(tmp_path / "run")
    assert [one["outcome"] for one in found] == ["resolved"] * 4, found
    assert max(one["attempts"] for one in found) > 1
    assert json.loads((tmp_path / "run/report.json").read_bytes())["resolved_instances"] == 4
    assert waiting.left(containers) == []


def test_an_engine_that_stays_away_ends_the_run_and_the_same_command_finishes_it(second, command, tmp_path):
    with started([*command, "--engine-wait", "1"], second.host) as run:
        for line in run.stderr:
            if line.startswith("[1/"):
                break
        second.kill()
        rest = run.stderr.read()
        assert run.wait() == 4, rest
    assert "the container engine has gone; waiting up to 1 s for it" in rest
    second.start()
    kept = reports(tmp_path / "run")
    assert {one["outcome"] for one in kept} == {"resolved"}
    assert len(kept) < 4
    done = tiny.goldseam(*command)
    assert done.returncode == 0, done.error_text
    assert json.loads((tmp_path / "run/report.json").read_bytes())["resolved_instances"] == 4
    assert waiting.left(containers) == []


def test_a_full_disk_is_told_scores_nothing_and_is_retried_when_asked(second, image, tmp_path):
    dataset = tiny.dataset(tmp_path / "dataset", tiny.task(image))
    command = ["evaluate", dataset.path, "--gold", "-o", tmp_path / "run"]
    second.fill_disk()
    try:
        done = tiny.goldseam(*command)
    finally:
        second.free_disk()
    assert done.returncode == 4
    (found,) = reports(tmp_path / "run")
    assert (found["outcome"], found["cause"]) == ("infra_error", "engine")
    assert "no space left on device" in found["reason"]
    done = tiny.goldseam(*command, "--retry-errors")
    assert done.returncode == 0, done.error_text
    assert [one["outcome"] for one in reports(tmp_path / "run")] == ["resolved"]
    assert waiting.left(containers) == []


def test_advice_on_a_full_disk_is_to_make_room(second, image):
    second.fill_disk()
    try:
        with DockerSandbox() as sandbox, pytest.raises(InfrastructureError, match="no space left") as caught:
            evaluate.scoring.trial.run(evaluate.scoring.trial_spec(tiny.task(image), None), sandbox)
    finally:
        second.free_disk()
    assert "goldseam images gc" in caught.value.hint


def test_trials_need_no_address_of_the_engine(image):
    client = engine.connect()
    with pytest.raises(engine.ApiError, match="could not find an available, non-overlapping IPv4 address pool"):
        client.create_network("one-too-many")
    with DockerSandbox() as sandbox:
        verdict = evaluate.evaluate_one(tiny.task(image), tiny.prediction(), sandbox, settings=evaluate.Settings())
    assert verdict.report.resolved


def test_a_build_that_gets_no_address_says_so(image, tmp_path):
    (tmp_path / "cache").mkdir()
    workshop = Workshop(
        settings=ImageSettings(cache_dir=tmp_path),
        secrets=collect(),
        folder=tmp_path,
        log=tmp_path / "log",
        progress=lambda _text: None,
        cache=tmp_path / "cache",
    )
    client = engine.connect()
    guest = client.create_container(image, ["sleep", "60"])["Id"]
    client.start(guest)  # it has the only address
    try:
        with (
            pytest.raises(InfrastructureError, match="no available IPv4 addresses on this network's") as caught,
            workshop.run(image, "true", kind="second"),
        ):
            pass
    finally:
        engine.remove_container(guest)
    assert "docker network prune" in caught.value.hint
    assert waiting.left(containers) == []
