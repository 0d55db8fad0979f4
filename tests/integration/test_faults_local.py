"""Faults on one machine, each in mid-run: the report is that of a run which nothing disturbed, and nothing is left."""

from __future__ import annotations

import json
import signal
import sys
import time
from dataclasses import replace

import pytest

from harness.core import process
from harness.sandbox import engine
from tests import fake_clock, faults, second_engine, tiny, waiting

LACKING = second_engine.lacking()
pytestmark = [pytest.mark.engine, pytest.mark.skipif(LACKING is not None, reason=str(LACKING))]


@pytest.fixture(scope="module")
def second(slim_image):
    with second_engine.SecondEngine("--bridge=none") as started:
        yield started


@pytest.fixture(scope="module")
def image(second, slim_image):
    """The task image on the second engine."""
    engine.disconnect()
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("DOCKER_HOST", second.host)
        yield second_engine.load(slim_image, "tiny/calc")
    engine.disconnect()


@pytest.fixture(autouse=True)
def _in_use(second, image, tmp_path, monkeypatch):
    engine.disconnect()
    monkeypatch.setenv("DOCKER_HOST", second.host)
    monkeypatch.setenv("GOLDSEAM_CACHE_DIR", str(tmp_path / "cache"))
    yield
    for one in faults.containers():
        engine.remove_container(one["Id"])
    engine.disconnect()


@pytest.fixture
def command(image, tmp_path):
    return [*faults.command(tmp_path, image), "-o", tmp_path / "run", "-j", "2"]


@pytest.fixture(scope="module")
def undisturbed(second, image, tmp_path_factory):
    """What the run comes to without a fault."""
    folder = tmp_path_factory.mktemp("undisturbed")
    argv = [*faults.command(folder, image), "-o", folder / "run"]
    done = tiny.goldseam(*argv, env={"DOCKER_HOST": second.host, "GOLDSEAM_CACHE_DIR": str(folder / "cache")})
    assert done.returncode == 0, done.error_text
    return faults.found(folder / "run")


@pytest.fixture
def clock(tmp_path):
    """The clock of programs that are started with its environment."""
    if why := fake_clock.lacking():
        pytest.skip(why)
    return fake_clock.FakeClock(tmp_path)


def kill_the_container(_second, _child):
    name = faults.at_work()["Id"]
    wait_for_processes(name, 2)  # what watches the tests, and they themselves
    engine.connect().kill(name, signal=signal.SIGKILL)


def lose_the_machine(second, child):
    second.kill()
    child.kill()
    second.start()


def restart_the_engine(second, _child):
    second.kill()
    second.start()


def fill_the_disk(second, child):
    while child.poll() is None:  # a container that goes makes room for the next
        second.fill_disk()
        time.sleep(0.02)


FAULTS = {
    "container killed": (kill_the_container, 0),
    "driver and engine killed": (lose_the_machine, -9),
    "engine restarted": (restart_the_engine, 0),
    "disk full": (fill_the_disk, 4),
}


def wait_for_processes(container, count):
    """Until so many run in a container, besides its init."""
    waiting.until(lambda: len(engine.connect().top(container)["Processes"] or ()) > count)


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_in_mid_run_changes_nothing_of_the_report(name, second, undisturbed, command, tmp_path):
    fault, code = FAULTS[name]
    one_by_one = ["-j", "1"] if name == "disk full" else []
    try:
        with faults.started([*command, *one_by_one]) as child:
            faults.told(child, "[1/")
            fault(second, child)
            said = child.stderr.read()
            assert child.wait() == code, said
    finally:
        second.free_disk()
    if code:
        again = tiny.goldseam(*command, *(["--retry-errors"] if name == "disk full" else []))
        assert again.returncode == 0, again.error_text
    else:
        assert faults.attempts(tmp_path / "run") > 1
    assert faults.found(tmp_path / "run") == undisturbed
    assert waiting.left(faults.containers) == []


@pytest.fixture
def stubborn(image, tmp_path):
    """A command that scores a patch which ignores every signal, and whose children do so too."""
    task = tiny.task(image, budgets=replace(tiny.task().instance.budgets, seconds=3))
    tiny.dataset(tmp_path / "dataset", task)
    predictions = tiny.write_predictions(tmp_path / "p.jsonl", {"stubborn": faults.STUBBORN})
    return ["evaluate", tmp_path / "dataset", "-p", predictions, "-o", tmp_path / "run", "--control", "0"]


def test_a_patch_that_ignores_signals_is_ended_and_so_is_a_run_of_it(stubborn, tmp_path):
    with faults.started([*stubborn, "--timeout", "120"]) as child:
        wait_for_processes(faults.at_work()["Id"], 9)
        child.terminate()
        said = child.stderr.read()
        assert child.wait() == 130, said
    assert waiting.left(faults.containers) == []
    done = tiny.goldseam(*stubborn)
    assert done.returncode == 0, done.error_text
    (path,) = (tmp_path / "run").glob("results/*/*/*/report.json")
    report = json.loads(path.read_bytes())
    assert (report["outcome"], report["cause"]) == ("unresolved", "timeout")
    assert report["timings"]["run"] < 60  # as long as one of its naps
    assert waiting.left(faults.containers) == []


def test_a_clock_that_is_set_forth_and_back_in_mid_run_changes_nothing(undisturbed, command, clock, tmp_path):
    with faults.started_anew(command, clock.env) as child:
        faults.told(child, "[1/")
        clock.set(hours=+7)
        faults.told(child, "[3/")
        clock.set(hours=-30)
        said = child.stderr.read()
        assert child.wait() == 0, said
    assert faults.found(tmp_path / "run") == undisturbed
    assert faults.attempts(tmp_path / "run") == 1
    for path in (tmp_path / "run").glob("results/*/*/*/report.json"):
        assert all(0 <= seconds < 600 for seconds in json.loads(path.read_bytes())["timings"].values())
    assert waiting.left(faults.containers) == []


def test_predictions_that_come_twice_by_two_programs_at_once_count_once(undisturbed, command, tmp_path):
    (given,) = (word for word in command if str(word).endswith("p.jsonl"))
    with faults.started([*command, "-p", given]) as child:
        faults.told(child, "[1/")
        child.send_signal(signal.SIGSTOP)  # so that it is not done before the second has begun
        second = tiny.goldseam(*command)
        child.send_signal(signal.SIGCONT)
        said = child.stderr.read()
        assert child.wait() == 0, said
    assert second.returncode == 2
    assert "another goldseam is writing" in second.error_text
    assert faults.found(tmp_path / "run") == undisturbed


def test_a_run_whose_own_disk_fills_up_ends_and_goes_on_when_there_is_room(undisturbed, command, tmp_path):
    """The run folder is on a disk of its own, in a name space of mounts that ends with the script."""
    disk = tmp_path / "run"
    disk.mkdir()
    goldseam = [sys.executable, "-m", "miner.cli.main", *map(str, command)]
    script = f"""
        mount -t tmpfs -o size=60k run {disk} || exit 99
        "$@"; echo "ended with $?" >&2
        ls {disk}/results >&2
        mount -o remount,size=40m {disk}
        "$@"; code=$?
        cp -a {disk} {tmp_path}/kept; exit $code
    """
    done = process.run(["unshare", "--mount", "sh", "-c", script, "sh", *goldseam], check=False)
    assert done.returncode == 0, done.error_text
    assert "no space left on the disk" in done.error_text
    assert "ended with 4" in done.error_text
    assert faults.found(tmp_path / "kept") == undisturbed
    assert waiting.left(faults.containers) == []
