"""The same run on a Ray cluster: the same report, and nothing hidden left behind. Faults: `test_faults_ray.py`."""

from __future__ import annotations

import json
import subprocess  # noqa: TID251 - a process to be killed half-way
import sys
import time
from pathlib import Path

import pytest

from harness.sandbox import engine
from tests import tiny
from tests.engine_proxy import Proxy
from tests.ray_cluster import RayCluster

pytestmark = pytest.mark.engine

COUNT = 6
TIMES = {"timings", "cpu_seconds", "max_rss_kb", "signals", "attempts", "evidence_sha256", "mac"}


@pytest.fixture(scope="module")
def cluster():
    with RayCluster(nodes=2, cpus=2) as running:
        yield running


@pytest.fixture
def evaluate(tmp_path, tiny_image, monkeypatch):
    """The start of a command that scores patches, each of them slow enough to be met at work."""
    monkeypatch.setenv("GOLDSEAM_CACHE_DIR", str(tmp_path / "cache"))
    return command(tmp_path, tiny_image)


def command(folder, image):
    tiny.dataset(folder / "dataset", tiny.task(image))
    slow = {
        f"m{number}": tiny.fix(f"import time; time.sleep(1)  # {number}", "return a + b") for number in range(COUNT)
    }
    wrong = {"wrong": tiny.fix("return a * b"), "none": ""}
    predictions = tiny.write_predictions(folder / "p.jsonl", slow | wrong)
    return ["evaluate", folder / "dataset", "-p", predictions, "--control", "0", "--no-signals", "--force"]


def on(cluster):
    return ["--executor", "ray", "--address", cluster.address]


def found(run: Path):
    """What a run came to, less what two runs never share."""
    reports = {
        str(path.relative_to(run)): {name: x for name, x in json.loads(path.read_bytes()).items() if name not in TIMES}
        for path in run.glob("results/*/*/*/report.json")
    }
    return (run / "report.json").read_bytes(), reports


def at_work():
    """The Ray workers that have a container just now, by container; other tests may be running beside this one."""
    workers = {}
    for one in engine.connect().containers(all=True, filters={"label": [f"{engine.LABEL_KIND}=run"]}):
        pid = int(one["Labels"][engine.LABEL_OWNER].split(":")[1])
        try:
            name = Path(f"/proc/{pid}/cmdline").read_bytes()
        except OSError:
            continue
        if name.startswith(b"ray::"):
            workers[one["Id"]] = pid
    return workers


def met_at_work(child):
    """The first worker that is seen with a container, once something of the run is done."""
    for line in child.stderr:
        if line.startswith("[2/"):
            break
    until = time.monotonic() + 30
    while time.monotonic() < until:
        if seen := at_work():
            return seen
    raise AssertionError("nobody was seen at work")


def started(argv):
    whole = [sys.executable, "-m", "miner.cli.main", *map(str, argv)]
    return subprocess.Popen(whole, stderr=subprocess.PIPE, text=True)


@pytest.fixture(scope="module")
def done(cluster, tiny_image, tmp_path_factory):
    """The folder of a run on the cluster, beside that of the same run on this machine."""
    folder = tmp_path_factory.mktemp("done")
    argv = command(folder, tiny_image)
    here = tiny.goldseam(*argv, "-o", folder / "here")
    there = tiny.goldseam(*argv, "-o", folder / "there", *on(cluster))
    assert (here.returncode, there.returncode) == (0, 0), there.error_text
    return folder


def test_a_run_on_a_cluster_says_what_one_on_this_machine_says(done):
    assert found(done / "there") == found(done / "here")
    assert json.loads((done / "there/report.json").read_bytes())["resolved_instances"] == COUNT
    records = [json.loads((done / run / "run.json").read_bytes()) for run in ("here", "there")]
    assert [record["settings"]["executor"] for record in records] == ["local", "ray"]


def test_nothing_hidden_stands_in_what_ray_writes(done, cluster):
    written = [path.read_bytes() for path in cluster.folder.rglob("*") if path.is_file()]
    assert any(b"_work" in data for data in written)
    assert not any(b"test_two" in data or b"add(1, 1)" in data for data in written)


@pytest.mark.skipif(not Path("/var/run/docker.sock").is_socket(), reason="needs Docker's own socket")
def test_a_node_whose_engine_goes_away_costs_nothing(evaluate, cluster, tmp_path):
    way = tmp_path / "engine.sock"
    argv = [*evaluate, "-o", tmp_path / "run", "-j", "6", *on(cluster), "--engine-wait", "1"]
    try:
        with Proxy.at(way, Path("/var/run/docker.sock")):
            cluster.add_node(engine=f"unix://{way}")
            child = started(argv)
            met_at_work(child)
        with child:
            rest = child.stderr.read()
            assert child.wait() == 0, rest
    finally:
        cluster.remove_node()
    assert "trying another node" in rest
    report = json.loads((tmp_path / "run/report.json").read_bytes())
    assert (report["resolved_instances"], report["unresolved_instances"], report["error_instances"]) == (COUNT, 1, 0)
