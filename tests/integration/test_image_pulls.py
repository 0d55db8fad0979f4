"""Images that are only in a registry, a real one: pulled by digest, once, within bounds."""

from __future__ import annotations

import contextlib
import re
import threading
import time

import pytest

from harness.core.errors import InfrastructureError, InterruptedRunError
from harness.runs import evaluate
from harness.sandbox import engine
from harness.sandbox.docker import DockerSandbox
from harness.sandbox.executors.local import LocalExecutor
from harness.sandbox.images import pulls
from tests import faults, own_registry, second_engine, tiny, waiting
from tests.silent import Silent

LACKING = second_engine.lacking() or own_registry.lacking()
pytestmark = [pytest.mark.engine, pytest.mark.skipif(LACKING is not None, reason=str(LACKING))]

MANIFEST = re.compile(rb"GET /v2/tiny/calc/manifests/sha256:")


@pytest.fixture(scope="module")
def second():
    with second_engine.SecondEngine("--bridge=none") as started:
        yield started


@pytest.fixture(scope="module")
def registry(second, tmp_path_factory):
    """Debian's registry, and the only way to it: a proxy at port 5000 of the second engine's own network."""
    folder = tmp_path_factory.mktemp("registry")
    with own_registry.serving(folder) as socket, own_registry.way(socket, second) as proxy:
        proxy.storage = folder / "data"
        yield proxy


@pytest.fixture(autouse=True)
def _engine_in_use(second, monkeypatch):
    engine.disconnect()
    monkeypatch.setenv("DOCKER_HOST", second.host)
    yield
    engine.disconnect()


@pytest.fixture(scope="module")
def pushed(second, registry, slim_image):
    """A task image that the registry has."""
    engine.disconnect()
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("DOCKER_HOST", second.host)
        ref = own_registry.pushed(slim_image)
    engine.disconnect()
    return ref


@pytest.fixture
def absent(pushed, registry):
    """That image, not on the engine; nobody has asked for it yet, and the way to it is free."""
    for ref in (pushed, f"{own_registry.REPOSITORY}:one"):
        with contextlib.suppress(engine.NotFoundError):
            engine.connect().remove_image(ref, force=True)
    assert engine.image_id(pushed) is None
    registry.seen.clear()
    registry.bytes_per_second = None
    registry.stalled.clear()
    registry.refuses.clear()
    yield pushed
    registry.stalled.clear()


def score(image, notes=None, prediction=None):
    with DockerSandbox(note=notes.append if notes is not None else None) as sandbox:
        found = evaluate.evaluate_one(
            tiny.task(image), prediction or tiny.prediction(), sandbox, settings=evaluate.Settings()
        )
        return found.report


def asked(registry):
    return sum(len(MANIFEST.findall(head)) for head in registry.seen)


def test_a_registry_is_asked_for_an_image_without_pulling_it(absent, registry):
    assert pulls.in_registry(absent)
    assert not pulls.in_registry(absent[:-8] + "00000000")
    assert not pulls.in_registry(absent.replace("tiny/calc", "tiny/other"))
    assert engine.image_id(absent) is None


def test_a_registry_that_is_not_there_gives_no_answer(second):
    with pytest.raises(InfrastructureError, match="asking the registry"):
        pulls.in_registry(f"127.0.0.1:1/tiny/calc@sha256:{'0' * 64}")


def test_an_absent_image_is_pulled_by_its_digest_and_that_is_told(absent):
    notes = []
    assert score(absent, notes).resolved
    assert notes[0] == f"fetching {absent}"
    assert notes[1].startswith(f"fetched {absent} in ")
    assert score(absent, notes).resolved
    assert len(notes) == 2


def test_predictions_that_want_the_same_image_at_once_pull_it_once(absent, registry, tmp_path):
    registry.bytes_per_second = 1_000_000
    predictions = [tiny.prediction(tiny.fix(f"return a + b  # {number}"), model=f"m{number}") for number in range(3)]
    notes = []
    with DockerSandbox(note=notes.append) as sandbox:
        report = evaluate.run(
            tiny.dataset(tmp_path / "dataset", tiny.task(absent)),
            predictions,
            tmp_path / "run",
            sandbox=sandbox,
            executor=LocalExecutor(jobs=3),
            settings=evaluate.Settings(),
            observer=Silent(),
        )
    assert report["resolved_instances"] == 3
    assert [text.split()[0] for text in notes] == ["fetching", "fetched"]
    assert asked(registry) == 1


def test_an_image_that_vanishes_between_two_predictions_is_fetched_again(absent):
    notes = []
    with DockerSandbox(note=notes.append) as sandbox:
        for _ in range(2):
            task = tiny.task(absent)
            assert evaluate.evaluate_one(task, tiny.prediction(), sandbox, settings=evaluate.Settings()).report.resolved
            assert not waiting.left(lambda: engine.connect().containers(all=True))  # a running one keeps its image
            engine.connect().remove_image(absent, force=True)
    assert [text.split()[0] for text in notes] == ["fetching", "fetched"] * 2


def test_a_digest_that_the_registry_does_not_have_is_told_as_such(absent, registry):
    began = time.monotonic()
    report = score(f"{own_registry.REPOSITORY}@{tiny.NO_IMAGE}")
    assert (report.outcome, report.cause) == ("infra_error", "missing_image")
    assert "manifest unknown" in report.reason
    assert report.attempts == 1
    assert time.monotonic() - began < 60  # nobody waits for a registry that has answered


def test_what_a_registry_gives_in_place_of_the_digest_is_refused(absent, registry):
    digest = absent.rpartition(":")[2]
    (stored,) = registry.storage.glob(f"**/blobs/sha256/{digest[:2]}/{digest}/data")
    good = stored.read_bytes()
    stored.write_bytes(good.replace(b'"schemaVersion": 2', b'"schemaVersion":  2', 1))
    try:
        report = score(absent)
    finally:
        stored.write_bytes(good)
    assert (report.outcome, report.cause) == ("infra_error", "missing_image")
    assert "manifest verification failed for digest" in report.reason
    assert engine.image_id(absent) is None


def test_a_registry_that_stays_down_is_the_cause_and_the_run_goes_on_when_it_is_back(absent, registry, tmp_path):
    dataset = tiny.dataset(tmp_path / "dataset", tiny.task(absent))
    command = ["evaluate", dataset.path, "--gold", "-o", tmp_path / "run"]
    registry.refuses.set()
    done = tiny.goldseam(*command, "--engine-wait", "1")
    assert done.returncode == 4
    assert "127.0.0.1:5000 does not answer; trying again for up to 2 s" in done.error_text
    assert "can't be pulled" in done.error_text
    assert "EOF" in done.error_text or "connection re" in done.error_text
    registry.refuses.clear()
    done = tiny.goldseam(*command, "--retry-errors")
    assert done.returncode == 0, done.error_text


def test_a_registry_that_is_down_for_a_while_changes_nothing_of_the_report(absent, registry, tmp_path, monkeypatch):
    monkeypatch.setenv("GOLDSEAM_CACHE_DIR", str(tmp_path / "cache"))
    command = [*faults.command(tmp_path, absent), "--force"]
    registry.refuses.set()
    with faults.started([*command, "-o", tmp_path / "run"]) as child:
        faults.told(child, "127.0.0.1:5000 does not answer; trying again for up to 120 s")
        registry.refuses.clear()
        said = child.stderr.read()
        assert child.wait() == 0, said
    assert "does not answer" not in said
    assert tiny.goldseam(*command, "-o", tmp_path / "undisturbed").returncode == 0
    assert faults.found(tmp_path / "run") == faults.found(tmp_path / "undisturbed")
    assert waiting.left(faults.containers) == []


@pytest.mark.parametrize("way", ["kill", "stop"])
def test_an_engine_that_is_restarted_while_it_pulls_pulls_again(way, absent, registry, second, tmp_path):
    dataset = tiny.dataset(tmp_path / "dataset", tiny.task(absent))
    registry.bytes_per_second = 300_000
    with faults.started(["evaluate", dataset.path, "--gold", "-o", tmp_path / "run", "--no-signals"]) as child:
        waiting.until(lambda: any(b"/blobs/" in head for head in registry.seen))
        getattr(second, way)()
        registry.bytes_per_second = None
        second.start()
        said = child.stderr.read()
        assert child.wait() == 0, said
    assert faults.attempts(tmp_path / "run") > 1


def test_a_pull_that_takes_too_long_is_given_up_and_not_begun_again_at_once(absent, registry, monkeypatch):
    monkeypatch.setattr(pulls, "PULL_SECONDS", 1.0)
    registry.bytes_per_second = 300_000
    notes = []
    with DockerSandbox(note=notes.append) as sandbox:
        settings = evaluate.Settings()
        reports = [
            evaluate.evaluate_one(tiny.task(absent), tiny.prediction(), sandbox, settings=settings).report
            for _ in range(2)
        ]
    assert {report.outcome for report in reports} == {"infra_error"}
    assert all("not done within 1 s" in report.reason for report in reports)
    assert notes == [f"fetching {absent}"]


def test_a_pull_that_stands_still_is_given_up(absent, registry, monkeypatch):
    monkeypatch.setattr(pulls, "STALL_SECONDS", 1.0)
    registry.stalled.set()
    began = time.monotonic()
    report = score(absent)
    assert report.outcome == "infra_error"
    assert "timed out" in report.reason.lower()
    assert time.monotonic() - began < 100


def test_a_run_that_is_stopped_does_not_wait_for_a_pull(absent, registry):
    registry.stalled.set()
    with DockerSandbox() as sandbox:
        stop = threading.Timer(1.0, sandbox.cancel)
        stop.start()
        began = time.monotonic()
        with pytest.raises(InterruptedRunError):
            evaluate.evaluate_one(tiny.task(absent), tiny.prediction(), sandbox, settings=evaluate.Settings())
        assert time.monotonic() - began < 100
        stop.join()


def test_an_id_of_an_image_that_is_gone_is_looked_for_in_no_registry(monkeypatch):
    monkeypatch.setattr(pulls, "fetch", lambda *_, **__: pytest.fail("an id says nothing of any registry"))
    report = score(tiny.NO_IMAGE)
    assert (report.outcome, report.cause) == ("infra_error", "missing_image")
    assert tiny.NO_IMAGE in report.reason
