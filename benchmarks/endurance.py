"""Hours of one `goldseam evaluate` over real tasks, and how its memory, descriptors, threads and leavings go on.

    python benchmarks/endurance.py DATASET [--minutes N] [--jobs N] [--every SECONDS] [--into FOLDER]

The predictions are the dataset's own gold patches and what goes wrong with patches: none, one that does not apply, one
that raises, one that ends the tests, one that asks for all memory, one that leaves a process behind. Every few seconds
a line with what there is goes to FOLDER/samples.jsonl. When the time is up the command is ended as a person would end
it. What is left is counted on the whole engine: give the run one of its own (DOCKER_HOST). The last line is one JSON
object: each figure as the median of the first and of the last quarter, its slope an hour, and what is left afterwards.
Exit code 1 where something was left.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import signal
import statistics
import subprocess  # noqa: TID251  the command is watched from outside while it runs
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

sys.path.insert(0, str(Path(__file__).parent.parent))

from harness.dataset.folder import open_dataset
from harness.sandbox import engine

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

_KINDS = {
    "raises": "raise RuntimeError('broken')",
    "ends": "__import__('os')._exit(0)",
    "hoards": "_hoard = b'x' * (1 << 33)",
    "forks": "__import__('os').fork() or __import__('time').sleep(600)",
}
_HUNK = re.compile(r"^@@ -(\d+),?(\d*) \+(\d+),?(\d*) @@.*\n", re.MULTILINE)
_PYTHON = re.compile(r"^\+\+\+ b/.*\.py$", re.MULTILINE)
_PER_SECOND = 4
"""More predictions than any machine scores in this time."""


def spoiled(patch: str, line: str) -> str:
    """A patch with one more line before the first that it adds to a Python file. May be a syntax error."""
    python = _PYTHON.search(patch)
    hunk = _HUNK.search(patch, python.end()) if python else None
    if hunk is None:
        return patch
    at = re.compile(r"^\+(?!\+\+)(\s*)", re.MULTILINE).search(patch, hunk.end())
    if at is None:
        return patch
    old, size, new, length = hunk.group(1), hunk.group(2) or "1", hunk.group(3), int(hunk.group(4) or 1) + 1
    head = f"@@ -{old},{size} +{new},{length} @@\n"
    return patch[: hunk.start()] + head + patch[hunk.end() : at.start()] + f"+{at[1]}{line}\n" + patch[at.start() :]


def predictions(gold: dict[str, str], count: int) -> Iterator[dict[str, str]]:
    """So many predictions: half of them gold, each round of all tasks under a model name of its own."""
    kinds = ["gold", "raises", "gold", "nothing", "gold", "ends", "gold", "hoards", "gold", "forks", "gold", "garbage"]
    for number in range(count):
        round_, which = divmod(number, len(gold))
        instance_id = list(gold)[which]
        kind = kinds[(round_ + which) % len(kinds)]
        patch = {"gold": gold[instance_id], "nothing": "", "garbage": "no patch at all\n"}.get(kind)
        if patch is None:
            patch = spoiled(gold[instance_id], _KINDS[kind])
        yield {"instance_id": instance_id, "model_name_or_path": f"round-{round_:04}", "model_patch": patch}


def leavings() -> dict[str, int]:
    """What a run could leave behind."""
    client: Any = engine.connect()
    return {
        "containers": len(client.containers(all=True)),
        "images": client.info()["Images"],
        "networks": len(client.networks()),
        "volumes": len(client.volumes()["Volumes"] or ()),
        "temporary_files": len(list(Path(tempfile.gettempdir()).glob("goldseam-*"))),
    }


def sample(pid: int, began: float, run: Path) -> dict[str, float]:
    """What there is now. Memory in MiB."""
    proc = Path("/proc", str(pid))
    status = dict(line.split(":", 1) for line in (proc / "status").read_text().splitlines() if ":" in line)
    return {
        "minutes": round((time.monotonic() - began) / 60, 2),
        "scored": sum(1 for _ in run.glob("results/*/*/*/report.json")),
        "rss_mb": int(status["VmRSS"].split()[0]) / 1024,
        "threads": int(status["Threads"]),
        "descriptors": len(list((proc / "fd").iterdir())),
        **leavings(),
        "load": os.getloadavg()[0],
    }


def told(samples: Sequence[dict[str, float]], after: Mapping[str, float]) -> dict[str, Any]:
    """Each figure in the first and in the last quarter, its slope an hour by least squares, and what was left."""
    quarter = max(1, len(samples) // 4)
    hours = [one["minutes"] / 60 for one in samples]
    found: dict[str, Any] = {}
    for name in samples[0]:
        if name in {"minutes", "load"}:
            continue
        values = [one[name] for one in samples]
        first, last = (statistics.median(part) for part in (values[:quarter], values[-quarter:]))
        slope = statistics.linear_regression(hours, values).slope if len(set(hours)) > 1 else 0.0
        found[name] = {"first": round(first, 1), "last": round(last, 1), "an_hour": round(slope, 2)}
    return {"minutes": samples[-1]["minutes"], "samples": len(samples), "figures": found, "left": after}


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("dataset", type=Path)
    parser.add_argument("--minutes", type=float, default=120)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--every", type=float, default=20)
    parser.add_argument("--into", type=Path, required=True)
    options = parser.parse_args()
    dataset = open_dataset(options.dataset)
    gold = {one: dataset.task(one).hidden.gold_patch.decode("utf-8", "surrogateescape") for one in dataset.ids()}
    options.into.mkdir(parents=True, exist_ok=True)
    given = options.into / "predictions.jsonl"
    with given.open("w", encoding="utf-8", errors="replace") as out:
        for one in predictions(gold, int(options.minutes * 60 * _PER_SECOND)):
            out.write(json.dumps(one) + "\n")
    run = options.into / "run"
    before = leavings()
    command = [
        str(Path(sys.executable).with_name("goldseam")),
        "evaluate",
        str(options.dataset),
        "-p",
        str(given),
        "-o",
        str(run),
    ]
    command += ["--force", "-j", str(options.jobs)]
    samples: list[dict[str, float]] = []
    began = time.monotonic()
    with (options.into / "log").open("wb") as log:
        running = subprocess.Popen(command, stdout=log, stderr=log)
        while running.poll() is None and time.monotonic() - began < options.minutes * 60:
            time.sleep(options.every)
            if running.poll() is None:
                samples.append(sample(running.pid, began, run))
                with (options.into / "samples.jsonl").open("a", encoding="utf-8") as out:
                    out.write(json.dumps(samples[-1]) + "\n")
        running.send_signal(signal.SIGTERM)
        code = running.wait()
    after = leavings()
    left = {name: after[name] - before[name] for name in after}
    print(json.dumps({"exit_code": code, **told(samples, left)}))
    return int(any(left.values()))


if __name__ == "__main__":
    sys.exit(main())
