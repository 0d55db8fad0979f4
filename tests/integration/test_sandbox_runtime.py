"""Another OCI runtime for containers, and user namespaces: the same verdicts behind thicker walls."""

from __future__ import annotations

import contextlib
from pathlib import Path

import pytest

from harness.config.settings import ImageSettings
from harness.core import process
from harness.core.errors import InputError
from harness.core.instance import Outcome, TestSpec
from harness.runs import evaluate
from harness.sandbox import engine
from harness.sandbox.docker import DockerSandbox
from miner.layers.layer import CACHE_DIR, OUT_DIR
from miner.layers.runner import Workshop, read_result
from miner.layers.secrets import collect
from tests import second_engine, tiny, waiting
from tests.engine_room import FIRST_SUBORDINATE

pytestmark = pytest.mark.engine


def test_a_runtime_that_the_engine_lacks_is_refused_before_anything_runs():
    with pytest.raises(InputError, match="no runtime 'runsquare'"), DockerSandbox(runtime="runsquare"):
        pass


def test_a_named_runtime_runs_the_tests(tiny_image):
    with DockerSandbox(runtime="runc") as sandbox:
        verdict = evaluate.evaluate_one(
            tiny.task(tiny_image), tiny.prediction(), sandbox, settings=evaluate.Settings(runtime="runc")
        )
    assert verdict.report.resolved


NO_SECOND = second_engine.lacking()
NO_RUNSC = NO_SECOND or (None if process.which("runsc") else "no runsc here (apt-get install runsc)")
NO_MAPPING = NO_SECOND or (None if Path("/etc/subuid").exists() else "no /etc/subuid here, so no subordinate ids")
WHERE = {
    "gVisor": "return a + b if not __import__('os').path.exists('/proc/kallsyms') else 0",
    "a user namespace": f"return a + b if open('/proc/self/uid_map').read().split()[1] == '{FIRST_SUBORDINATE}' else 0",
}
LOOKED = {"gVisor": (Outcome.RESOLVED, None), "a user namespace": (Outcome.NEEDS_REVIEW, "tripwire")}
"""Both pass; to open a file of /proc is a tripwire."""
PATCHES = {
    "a right patch": (tiny.GOLD, Outcome.RESOLVED, None),
    "a wrong patch": (tiny.fix("return 0"), Outcome.UNRESOLVED, "tests_failed"),
    "too much memory": (tiny.fix("x = b'x' * (1 << 30)", "return a + b"), Outcome.UNRESOLVED, "out_of_memory"),
}


def check_verdicts(runtime, image, place):
    patches = {**PATCHES, f"a look around in {place}": (tiny.fix(WHERE[place]), *LOOKED[place])}
    with DockerSandbox(runtime=runtime) as sandbox:
        for name, (patch, outcome, cause) in patches.items():
            found = evaluate.evaluate_one(
                tiny.task(image), tiny.prediction(patch), sandbox, settings=evaluate.Settings(runtime=runtime)
            ).report
            assert (found.outcome, found.cause) == (outcome, cause), (name, found)
        then = tiny.prediction(tiny.fix("import time", "return a + b if time.gmtime().tm_year == 2021 else 0"))
        clocked = tiny.task(image, spec=TestSpec(clock="2021-05-03T12:00:00Z"))
        found = evaluate.evaluate_one(clocked, then, sandbox, settings=evaluate.Settings(runtime=runtime)).report
        assert found.resolved, found
    assert waiting.left(lambda: engine.connect().containers(all=True)) == []


@pytest.fixture
def engine_with(slim_image, monkeypatch):
    """An engine of the test's own with these options, in use, and the id of the task image on it."""
    engine.disconnect()
    with contextlib.ExitStack() as stack:

        def start(*options):
            second = stack.enter_context(second_engine.SecondEngine(*options))
            monkeypatch.setenv("DOCKER_HOST", second.host)
            return second_engine.load(slim_image, "tiny/calc")

        yield start
        engine.disconnect()


@pytest.mark.skipif(NO_RUNSC is not None, reason=str(NO_RUNSC))
def test_gvisor_gives_the_same_verdicts(engine_with, tmp_path):
    wrapper = tmp_path / "runsc"
    wrapper.write_text('#!/bin/sh\nexec runsc --platform=ptrace --network=none "$@"\n')
    wrapper.chmod(0o755)
    check_verdicts("runsc", engine_with("--bridge=none", f"--add-runtime=runsc={wrapper}"), "gVisor")


@pytest.mark.skipif(NO_MAPPING is not None, reason=str(NO_MAPPING))
def test_user_namespaces_give_the_same_verdicts(engine_with):
    check_verdicts(None, engine_with("--bridge=none", "--userns-remap=nobody:nogroup"), "a user namespace")


@pytest.mark.skipif(NO_MAPPING is not None, reason=str(NO_MAPPING))
def test_a_build_can_leave_its_results_on_an_engine_with_user_namespaces(engine_with, tmp_path):
    image = engine_with("--userns-remap=nobody:nogroup")
    cache = tmp_path / "caches" / "one"
    cache.mkdir(parents=True)
    workshop = Workshop(
        settings=ImageSettings(cache_dir=tmp_path),
        secrets=collect(),
        folder=tmp_path,
        log=tmp_path / "log",
        progress=lambda _text: None,
        cache=cache,
    )
    script = f"echo result > {OUT_DIR}/found && mkdir {CACHE_DIR}/wheels"
    with workshop.run(image, script, kind="try") as ran:
        assert ran.ok, ran.tail
        assert read_result(ran.out / "found") == b"result\n"
    assert (cache / "wheels").stat().st_uid == FIRST_SUBORDINATE
    assert cache.parent.stat().st_mode & 0o077 == 0
