"""Runs that are stopped anywhere go on where they stopped; engine trouble is never a verdict."""

from __future__ import annotations

import json
import signal
from pathlib import Path

import pytest

from harness.sandbox import engine
from tests import forked, tiny, waiting
from tests.engine_proxy import Proxy

pytestmark = pytest.mark.engine

COUNT = 4


@pytest.fixture
def dataset(tmp_path, tiny_image):
    return tiny.dataset(tmp_path / "dataset", tiny.task(tiny_image))


@pytest.fixture
def command(dataset, tmp_path, monkeypatch):
    monkeypatch.setenv("GOLDSEAM_CACHE_DIR", str(tmp_path / "cache"))  # no verdict of an earlier test
    # A patch of its own for each model: a verdict on the same one would be taken over from the first.
    # The last two are slow: half-way, there is time to stop a run.
    given = {
        f"m{number}": tiny.fix(f"import time; time.sleep({number // 2})  # {number}", "return a + b")
        for number in range(COUNT)
    }
    predictions = tiny.write_predictions(tmp_path / "p.jsonl", given)
    return ["evaluate", dataset.path, "-p", predictions, "-o", tmp_path / "run", "-j", "1", "--control", "0"]


def reports(run: Path) -> dict[str, int]:
    """By model, when the evidence of a finished report was written, in nanoseconds; signals join the report later."""
    finished = run.glob("results/*/*/*/report.json")
    return {path.parts[-4]: path.with_name("results.json").stat().st_mtime_ns for path in finished}


def left_by(pid: int) -> list[str]:
    """Containers of a process that has ended; other tests may be running beside this one and leave their own."""
    found = engine.connect().containers(all=True, filters={"label": [f"{engine.LABEL_KIND}=run"]})
    return [one["Id"] for one in found if f":{pid}:" in one["Labels"][engine.LABEL_OWNER]]


@pytest.mark.parametrize(
    ("number", "code", "more"),
    [("SIGINT", 130, ["--no-signals"]), ("SIGTERM", 130, ["--no-signals"]), ("SIGKILL", -9, [])],
)
def test_a_stopped_run_goes_on_and_repeats_nothing(number, code, more, command, tmp_path):
    command = [*command, *more]
    with forked.started(*command) as child:
        for line in child.stderr:
            if line.startswith("[2/"):
                child.send_signal(getattr(signal, number))
                break
        child.stderr.read()
        assert child.wait() == code
    before = reports(tmp_path / "run")
    assert 2 <= len(before) < COUNT
    if number != "SIGKILL":
        assert waiting.left(lambda: left_by(child.pid)) == []
    done = tiny.goldseam(*command)
    assert done.returncode == 0, done.error_text
    after = reports(tmp_path / "run")
    assert {model: after[model] for model in before} == before
    assert len(after) == COUNT
    assert json.loads((tmp_path / "run/report.json").read_bytes())["resolved_instances"] == COUNT
    assert list((tmp_path / "run").rglob("*.tmp")) == []
    assert tiny.goldseam(*command, env={"COLUMNS": "200"}).returncode == 0
    assert reports(tmp_path / "run") == after, "a finished run was run again"
    assert waiting.left(lambda: left_by(child.pid)) == []


def test_a_missing_image_is_exit_4_and_scored_when_asked_again(tmp_path, tiny_image):
    tiny.dataset(tmp_path / "dataset", tiny.task())
    command = ["evaluate", tmp_path / "dataset", "--gold", "-o", tmp_path / "run"]
    done = tiny.goldseam(*command)
    assert done.returncode == 4
    assert "--retry-errors" in done.error_text
    (report,) = (tmp_path / "run").glob("results/*/*/*/report.json")
    found = json.loads(report.read_bytes())
    assert (found["outcome"], found["cause"]) == ("infra_error", "missing_image")
    when = reports(tmp_path / "run")
    assert tiny.goldseam(*command).returncode == 4
    assert reports(tmp_path / "run") == when
    assert tiny.goldseam(*command, "--retry-errors").returncode == 4
    assert reports(tmp_path / "run") != when


@pytest.mark.skipif(not Path("/var/run/docker.sock").is_socket(), reason="needs Docker's own socket")
def test_an_engine_that_vanishes_ends_the_run_and_scores_nothing_wrongly(command, tmp_path):
    way = tmp_path / "proxy.sock"
    env = {"DOCKER_HOST": f"unix://{way}", "GOLDSEAM_ENGINE_WAIT": "1"}
    command = [*command, "--no-signals"]
    with Proxy.at(way, Path("/var/run/docker.sock")):
        child = forked.started(*command, env=env)
        for line in child.stderr:
            if line.startswith("[2/"):
                break
    with child:
        rest = child.stderr.read()
        assert child.wait() == 4, rest
    outcomes = [
        json.loads(path.read_bytes())["outcome"] for path in (tmp_path / "run").glob("results/*/*/*/report.json")
    ]
    assert set(outcomes) == {"resolved"}
    assert tiny.goldseam(*command).returncode == 0
    assert len(reports(tmp_path / "run")) == COUNT
