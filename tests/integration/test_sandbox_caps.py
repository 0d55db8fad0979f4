"""What a trial may use at most, seen from inside: a right answer is given only where the limit was met."""

from __future__ import annotations

import time
from dataclasses import replace

import pytest

from harness.core.instance import Budgets
from harness.runs import evaluate
from harness.sandbox.job import Job
from tests import tiny

pytestmark = pytest.mark.engine

BUDGETS = Budgets(seconds=30, memory_mb=256, pids=48, disk_mb=32, cpus=1.0)

CAPS = {
    "open files": (
        "import os",
        "count = 0",
        "try:",
        "    while count < 100_000: os.open('/dev/null', os.O_RDONLY); count += 1",
        "except OSError: pass",
        "os.closerange(300, 100_000)",
        "return a + b if 3000 < count < 4096 else count",
    ),
    "processes": (
        "import os, time",
        "count = 0",
        "try:",
        "    while count < 1000:",
        "        if os.fork() == 0: time.sleep(1); os._exit(0)",
        "        count += 1",
        "except OSError: pass",
        "for _ in range(count): os.wait()",
        "return a + b if 30 < count < 48 else count",
    ),
    "disk of /tmp": (
        "import os",
        "size = 0",
        "try:",
        "    with open('/tmp/fill', 'wb') as file:",
        "        while size < 1 << 30: size += file.write(b'x' * (1 << 20)); file.flush()",
        "except OSError: pass",
        "os.truncate('/tmp/fill', 0)",
        "return a + b if 20 << 20 < size <= 33 << 20 else size",
    ),
    "number of files": (
        "import os",
        "most = max(os.statvfs(place).f_files for place in ('/testbed', '/tmp'))",
        "return a + b if 0 < most <= 409_600 else most",
    ),
    "shared memory": (
        "import os",
        "size = 0",
        "try:",
        "    with open('/dev/shm/fill', 'wb') as file:",
        "        while size < 1 << 30: size += file.write(b'x' * (1 << 20)); file.flush()",
        "except OSError: pass",
        "os.unlink('/dev/shm/fill')",
        "return a + b if size <= 65 << 20 else size",
    ),
    "places to write": (
        "import os",
        "places = ['/', '/opt', '/opt/goldseam', '/etc', '/usr/lib', '/home', '/root', '/var/tmp', '/run', '/in']",
        "open_ = [place for place in places if os.access(place, os.W_OK)]",
        "return a + b if not open_ else open_",
    ),
    "core files": (
        "import resource",
        "return a + b if resource.getrlimit(resource.RLIMIT_CORE) == (0, 0) else 0",
    ),
}


@pytest.mark.parametrize("name", CAPS)
def test_a_cap_holds(name, tiny_image, sandbox):
    verdict = evaluate.evaluate_one(
        tiny.task(tiny_image, budgets=BUDGETS),
        tiny.prediction(tiny.fix(*CAPS[name])),
        sandbox,
        settings=evaluate.Settings(),
    )
    assert verdict.report.resolved, (verdict.report.reason, verdict.evidence.results)


def test_two_busy_processes_share_the_one_core_they_are_given(tiny_image, sandbox):
    busy = (
        "import os, time",
        "children = []",
        "for _ in range(2):",
        "    children.append(os.fork())",
        "    if children[-1] == 0:",
        "        end = time.monotonic() + 2",
        "        while time.monotonic() < end: pass",
        "        os._exit(0)",
        "for child in children: os.waitpid(child, 0)",
        "return a + b",
    )
    verdict = evaluate.evaluate_one(
        tiny.task(tiny_image, budgets=BUDGETS), tiny.prediction(tiny.fix(*busy)), sandbox, settings=evaluate.Settings()
    )
    assert verdict.report.resolved
    assert verdict.report.cpu_seconds < verdict.report.timings["tests"] * 1.25


def job(image, *argv, **budgets):
    return Job(image=image, argv=argv, stdin=b"", budgets=replace(BUDGETS, **budgets), grace_seconds=1)


def test_a_container_that_outlives_its_time_and_its_grace_is_killed_from_outside(tiny_image, sandbox):
    began = time.monotonic()
    result = sandbox.run(job(tiny_image, "sh", "-c", "trap '' TERM INT HUP; sleep 600", seconds=1))
    assert (result.timed_out, result.exit_code) == (True, 137)
    assert 2 <= time.monotonic() - began < 300


def test_output_without_end_is_drained_while_the_container_is_killed(tiny_image, sandbox):
    began = time.monotonic()
    result = sandbox.run(job(tiny_image, "sh", "-c", "yes >&2", seconds=1, output_bytes=10_000))
    assert result.timed_out
    assert time.monotonic() - began < 300
    assert len(result.stderr) < 10_200
    assert result.stderr_size > 1_000_000


def test_memory_that_a_child_of_the_tests_uses_up_is_told_by_the_engine(tiny_image, sandbox):
    eat = "python3 -c \"x = b'x' * (1 << 30)\"; exit 0"
    result = sandbox.run(job(tiny_image, "sh", "-c", eat))
    assert (result.oom_killed, result.exit_code) == (True, 0)
