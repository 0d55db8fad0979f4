"""A run on a Ray cluster of three nodes says what one on this machine says, whatever fails; nothing is left of it.

Two of the nodes share an engine; the third has one of its own, and that is where things go wrong. All of it is the
tests' own, so anything may be killed, filled or cut off.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import time
from dataclasses import replace

import pytest

from harness.sandbox import engine, owners
from tests import fake_clock, faults, own_registry, second_engine, tiny, waiting
from tests.ray_cluster import RayCluster, raylet_of

LACKING = second_engine.lacking() or own_registry.lacking()
pytestmark = [pytest.mark.engine, pytest.mark.skipif(LACKING is not None, reason=str(LACKING))]


@contextlib.contextmanager
def at(host):
    """This engine is the one in use."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("DOCKER_HOST", host)
        engine.disconnect()
        yield
        engine.disconnect()


@pytest.fixture(scope="module")
def well():
    """The engine of two nodes that nothing happens to."""
    with second_engine.SecondEngine("--bridge=none") as started:
        yield started


@pytest.fixture(scope="module")
def poor():
    """The engine of the third node."""
    with second_engine.SecondEngine("--bridge=none") as started:
        yield started


@pytest.fixture(scope="module")
def cluster(well, poor):
    with RayCluster(nodes=0, cpus=1) as running:
        for one in (well, well, poor):
            running.add_node(engine=one.host)
        yield running


@pytest.fixture(scope="module")
def image(well, poor, slim_image):
    """The task image, on both engines."""
    with at(well.host):
        made = second_engine.load(slim_image, "tiny/calc")
        data = b"".join(engine.connect().get_image("tiny/calc:slim"))
    with at(poor.host):
        list(engine.connect().load_image(data))
        assert engine.image_id(made) == made
    return made


@pytest.fixture(scope="module")
def undisturbed(well, image, tmp_path_factory):
    """What the run comes to without a fault, on one machine."""
    folder = tmp_path_factory.mktemp("undisturbed")
    env = {"DOCKER_HOST": well.host, "GOLDSEAM_CACHE_DIR": str(folder / "cache")}
    done = tiny.goldseam(*faults.command(folder, image), "-o", folder / "run", env=env)
    assert done.returncode == 0, done.error_text
    return folder / "run"


@pytest.fixture(autouse=True)
def _in_use(poor, tmp_path, monkeypatch):
    monkeypatch.setenv("GOLDSEAM_CACHE_DIR", str(tmp_path / "cache"))
    with at(poor.host):
        yield


@pytest.fixture
def on_ray(cluster, tmp_path):
    return ["-o", tmp_path / "run", "--executor", "ray", "--address", cluster.address]


@pytest.fixture
def command(image, tmp_path, on_ray):
    return [*faults.command(tmp_path, image), *on_ray]


def left(*engines):
    """Containers that are left on these engines in the end: a run doesn't wait for a node that it lost."""

    def look():
        found = []
        for one in engines:
            with at(one.host):
                owners.sweep()  # as the next run does when it looks at the node
                found += faults.containers()
        return found

    return waiting.left(look)


def worker():
    """The process that has a container on the poor engine just now."""
    return int(faults.at_work()["Labels"][engine.LABEL_OWNER].split(":")[1])


def starts():
    """How many containers the engine in use has started so far."""
    span = {"since": 0, "until": f"{time.time():.6f}"}
    return len(list(engine.connect().events(**span, filters={"event": "start"}, decode=True)))


def kill_the_worker(_room):
    os.kill(worker(), signal.SIGKILL)


def kill_the_node(room):
    os.kill(raylet_of(worker()), signal.SIGKILL)
    room.lost = True


def hold_the_node_up(room):
    """It does not answer, is taken for dead, and comes back with its result when another node is at it."""
    with at(room.well.host):
        before = starts()
    busy = worker()
    node = raylet_of(busy)
    for one in (node, busy):
        os.kill(one, signal.SIGSTOP)
    try:
        with at(room.well.host):
            waiting.until(lambda: starts() - before >= faults.JOBS)
    finally:
        for one in (busy, node):
            os.kill(one, signal.SIGCONT)
    room.lost = True


def restart_the_engine(room):
    faults.at_work()
    room.poor.kill()
    room.poor.start()


def kill_the_driver(room):
    faults.at_work()
    room.child.kill()


FAULTS = {
    "worker killed": (kill_the_worker, 0),
    "node lost": (kill_the_node, 0),
    "node taken for dead": (hold_the_node_up, 0),
    "engine restarted": (restart_the_engine, 0),
    "driver killed": (kill_the_driver, -9),
}


class Room:
    """What a fault may touch."""

    def __init__(self, child, well, poor):
        self.child, self.well, self.poor, self.lost = child, well, poor, False


def see_that_nothing_hidden_is_in(cluster):
    """In what Ray writes, which tells of the work all the same."""
    written = []
    for path in cluster.folder.rglob("*"):
        with contextlib.suppress(FileNotFoundError):  # it may take away what it wrote
            written += [path.read_bytes()] if path.is_file() else []
    assert any(b"_work" in data for data in written)
    assert not any(b"test_two" in data or b"add(1, 1)" in data for data in written)


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_in_mid_run_changes_nothing_of_the_report(name, cluster, well, poor, undisturbed, command, tmp_path):
    fault, code = FAULTS[name]
    with faults.started(command) as child:
        room = Room(child, well, poor)
        fault(room)
        said = child.stderr.read()
        assert child.wait() == code, said
    if room.lost:
        cluster.add_node(engine=poor.host)
    if code:
        again = tiny.goldseam(*command)
        assert again.returncode == 0, again.error_text
    assert faults.found(tmp_path / "run") == faults.found(undisturbed)
    records = [json.loads((run / "run.json").read_bytes()) for run in (undisturbed, tmp_path / "run")]
    assert [record["settings"]["executor"] for record in records] == ["local", "ray"]
    see_that_nothing_hidden_is_in(cluster)
    assert left(well, poor) == []


def test_a_node_whose_engine_goes_away_is_done_without(well, poor, undisturbed, command, tmp_path):
    with faults.started([*command, "--engine-wait", "1"]) as child:
        faults.at_work()
        poor.kill()
        try:
            said = child.stderr.read()
            assert child.wait() == 0, said
        finally:
            poor.start()
    assert "trying another node" in said
    assert faults.found(tmp_path / "run") == faults.found(undisturbed)
    assert left(well, poor) == []


def test_a_node_whose_disk_is_full_is_done_without(well, poor, undisturbed, command, tmp_path):
    poor.fill_disk()
    try:
        done = tiny.goldseam(*command)
    finally:
        poor.free_disk()
    assert done.returncode == 0, done.error_text
    assert "has no room on its disk; trying another node" in done.error_text
    assert faults.found(tmp_path / "run") == faults.found(undisturbed)
    assert left(well, poor) == []


def holds(one, ref):
    with at(one.host):
        return engine.image_id(ref) is not None


def test_a_registry_that_is_down_is_waited_for_on_the_node(well, poor, undisturbed, slim_image, on_ray, tmp_path):
    with contextlib.ExitStack() as stack:
        serving = stack.enter_context(own_registry.serving(tmp_path))
        ways = [stack.enter_context(own_registry.way(serving, one)) for one in (well, poor)]
        with at(well.host):
            ref = own_registry.pushed(slim_image)
            engine.connect().remove_image(ref, force=True)  # whichever node is chosen has to pull
        ways[0].sent_away = ways[1].sent_away
        for way in ways:
            way.refuses.set()
        with faults.started([*faults.command(tmp_path, ref), *on_ray]) as child:
            for _ in range(3):  # an engine comes twice for each pull, with TLS and without
                assert ways[0].sent_away.acquire(timeout=waiting.SECONDS)
            for way in ways:
                way.refuses.clear()
            said = child.stderr.read()
            assert child.wait() == 0, said
        assert "does not answer; trying again" in said
        assert faults.found(tmp_path / "run", image=False) == faults.found(undisturbed, image=False)
        assert any(holds(one, ref) for one in (well, poor))
    assert left(well, poor) == []


def test_a_patch_that_ignores_signals_is_ended_on_the_node_and_so_is_a_run_of_it(image, on_ray, well, poor, tmp_path):
    task = tiny.task(image, budgets=replace(tiny.task().instance.budgets, seconds=3))
    tiny.dataset(tmp_path / "dataset", task)
    predictions = tiny.write_predictions(tmp_path / "p.jsonl", {f"stubborn{n}": faults.STUBBORN for n in range(3)})
    command = ["evaluate", tmp_path / "dataset", "-p", predictions, "--control", "0", "--no-signals", *on_ray]
    with at(well.host), faults.started([*command, "--timeout", "120"]) as child:
        faults.at_work()
        child.send_signal(signal.SIGINT)
        said = child.stderr.read()
        assert child.wait() == 130, said
    assert left(well, poor) == []
    done = tiny.goldseam(*command)
    assert done.returncode == 0, done.error_text
    reports = faults.found(tmp_path / "run")[1].values()
    assert {(one["outcome"], one["cause"]) for one in reports} == {("unresolved", "timeout")}
    assert left(well, poor) == []


@pytest.mark.skipif(fake_clock.lacking() is not None, reason=str(fake_clock.lacking()))
def test_a_clock_that_is_set_forth_and_back_in_mid_run_changes_nothing(undisturbed, command, well, poor, tmp_path):
    clock = fake_clock.FakeClock(tmp_path)
    with faults.started_anew(command, clock.env) as child:
        faults.at_work()
        clock.set(hours=+7)
        faults.told(child, "[2/")
        clock.set(hours=-30)
        said = child.stderr.read()
        assert child.wait() == 0, said
    assert faults.found(tmp_path / "run") == faults.found(undisturbed)
    assert left(well, poor) == []
