"""A thousand evaluations and what they leave: containers, networks, volumes, descriptors, threads, files, memory.

    python benchmarks/leaks.py [--count N] [--workers N]

A mix of what predictions are: right, wrong, ended by the clock, killed for memory, not applying, with a stray process.
The last line is one JSON object: what there is afterwards minus what there was after a first few. All must be 0 but
`rss_kb`, which is memory of this process and settles. Exit code 1 if something was left.
"""

from __future__ import annotations

import argparse
import gc
import json
import resource
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent))

from harness.core.instance import Budgets, Prediction
from harness.runs import evaluate
from harness.sandbox import engine, owners
from harness.sandbox.docker import DockerSandbox
from tests import tiny

MIX = (
    *[tiny.GOLD] * 12,
    *[tiny.fix("return 0")] * 4,
    tiny.fix("import os; os._exit(0)"),
    tiny.fix("x = b'x' * (1 << 30)", "return a + b"),
    tiny.fix("import os", "if os.fork() == 0:", "    os.setsid(); __import__('time').sleep(600)", "return a + b"),
    "no patch at all",
)
SLOW = tiny.fix("while True: pass")
EVERY_SLOW = 100


def owned() -> int:
    """Containers of this process."""
    client: Any = engine.connect()
    return len(client.containers(all=True, filters={"label": [f"{engine.LABEL_OWNER}={owners.owner()}"]}))


def state() -> dict[str, int]:
    """What there is now."""
    client: Any = engine.connect()
    gc.collect()
    return {
        "containers": owned(),
        "networks": len(client.networks()),
        "volumes": len(client.volumes()["Volumes"] or ()),
        "descriptors": len(list(Path("/proc/self/fd").iterdir())),
        "threads": threading.active_count(),
        "temporary_files": len(list(Path(tempfile.gettempdir()).glob("goldseam-*"))),
        "rss_kb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss,
    }


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--workers", type=int, default=2)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        image = tiny.build_image(Path(folder))
    task = tiny.task(image, budgets=Budgets(seconds=4, memory_mb=192, pids=48, disk_mb=64))

    def several(count: int) -> dict[str, int]:
        def one(number: int) -> str:
            patch = SLOW if number % EVERY_SLOW == EVERY_SLOW - 1 else MIX[number % len(MIX)]
            prediction = Prediction(instance_id=task.instance_id, model_name_or_path="mix", model_patch=patch)
            return str(evaluate.evaluate_one(task, prediction, sandbox, settings=evaluate.Settings()).report.outcome)

        with DockerSandbox() as sandbox, ThreadPoolExecutor(max_workers=options.workers) as pool:
            outcomes = list(pool.map(one, range(count)))
        return {outcome: outcomes.count(outcome) for outcome in sorted(set(outcomes))}

    several(2 * len(MIX))  # connections and caches that stay are made here
    before = state()
    began = time.monotonic()
    print(several(options.count))
    seconds = time.monotonic() - began
    after = state()
    left = {name: after[name] - before[name] for name in before}
    engine.disconnect()
    print(json.dumps({"evaluations": options.count, "seconds": round(seconds, 1), **left}))
    return 1 if any(count > 0 for name, count in left.items() if name != "rss_kb") else 0


if __name__ == "__main__":
    sys.exit(main())
