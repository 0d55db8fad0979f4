"""What a trial may use at most, seen from inside: a right answer is given only where the limit was met."""

from __future__ import annotations

import pytest

from harness import evaluate
from harness.instance import Budgets
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
    "files of /testbed": (
        "import os",
        "found = os.statvfs('/testbed')",
        "return a + b if 0 < found.f_files <= 409_600 else found.f_files",
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
