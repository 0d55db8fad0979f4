"""What a prediction costs beside its tests, as a run grows: time, memory, disk, and how long its report takes.

    python benchmarks/scale.py [--tasks N] [--predictions N …] [--jobs N] [--real N] [--no-browser]

A simulated engine answers each job at once, with signed results of 32 tests as the supervisor writes them, so all that
is left is ours: reading, grading, writing, counting. Each size runs in a process of its own. A part of the work
(`--real`) goes through the real engine as well, with a test of milliseconds. Growth is told as the ratio of the cost
per prediction at the largest and at the smallest size: 1 is linear. The last line is one JSON object; `overhead_ms` is
wall time times jobs, per prediction, waits for the disk included; `cpu_ms` is processor time, the simulation included.
`again_seconds` is the same command once more, when nothing is left to do.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import resource
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

sys.path.insert(0, str(Path(__file__).parent.parent))

from harness.core.instance import Prediction
from harness.core.process import run
from harness.dataset.folder import open_dataset
from harness.judging import frames
from harness.report import work
from harness.runs import evaluate
from harness.sandbox.executors.local import LocalExecutor
from harness.sandbox.job import Job, JobResult, Sandbox
from tests import tiny
from tests.browser import Browser, installed
from tests.report_runs import PATCH, make_dataset, make_task
from tests.silent import Silent

if TYPE_CHECKING:
    from harness.dataset.folder import Dataset

SIZES = (1250, 2500, 5000, 10000)
_LISTED = make_task(0).hidden
IDS = (*_LISTED.fail_to_pass, *_LISTED.pass_to_pass)
_RESOLVED_OF_256 = 154
_WORDS = 8


class SimulatedEngine(Sandbox):
    """Answers as a container would whose tests took no time: 60% of all patches resolve their task."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None: ...

    def is_healthy(self) -> bool:
        return True

    def cancel(self) -> None: ...

    def run(self, job: Job) -> JobResult:
        size = int(job.stdin[:_WORDS], 16)
        head = json.loads(job.stdin[_WORDS : _WORDS + size])
        began = _WORDS + size + head["runner"]
        patch = job.stdin[began : began + head["model"]]
        failing = () if hashlib.sha256(patch).digest()[0] < _RESOLVED_OF_256 else _LISTED.fail_to_pass[:1]
        supervisor, tests = (bytes.fromhex(key) for key in head["keys"])
        said: list[dict[str, Any]] = [
            *[{"t": "apply", "which": which, "ok": True, "error": ""} for which in ("model", "tests") if head[which]],
            {"t": "ready", "seconds": 0.001, "python": "3.11"},
        ]
        told: list[dict[str, Any]] = [{"t": "collected", "ids": IDS}]
        told += [
            {"t": "report", "id": one, "when": "call", "outcome": "failed" if one in failing else "passed"}
            | {"xfail": False, "seconds": 0.0001, "text": "E   assert 1 == 2" if one in failing else ""}
            for one in IDS
        ]
        code = int(bool(failing))
        told.append({"t": "finish", "code": code})
        end = {"t": "exit", "code": code, "signal": None, "timed_out": False, "seconds": 0.002}
        end |= {"cpu_seconds": 0.002, "max_rss_kb": 30000}
        lines = [*_signed(b"s", supervisor, said), *_signed(b"t", tests, told)]
        lines += _signed(b"s", supervisor, [end], after=len(said))
        return JobResult(
            exit_code=0,
            stdout=b"".join(lines),
            stderr=b"32 tests\n",
            stderr_size=9,
            oom_killed=False,
            timed_out=False,
            stdout_overflow=False,
            timings={"create": 0.001, "start": 0.001},
        )


def _signed(name: bytes, key: bytes, said: list[dict[str, Any]], *, after: int = 0) -> list[bytes]:
    lines = []
    for number, frame in enumerate(said, after):
        head, body = name + str(number).encode(), json.dumps(frame).encode()
        lines.append(head + b" " + frames.sign(key, head, body) + b" " + body + b"\n")
    return lines


def predictions_of(dataset: Dataset, count: int) -> list[Prediction]:
    """So many predictions over all tasks, each with a patch of its own: as many models as that takes."""
    ids = dataset.ids()
    return [
        Prediction(
            instance_id=ids[number % len(ids)],
            model_name_or_path=f"model-{number // len(ids)}",
            model_patch=PATCH.format(name=f"parser_{number}"),
        )
        for number in range(count)
    ]


def size_of(folder: Path) -> tuple[int, int]:
    """Bytes on disk (in blocks, as `du` counts) and files."""
    found = [os.lstat(Path(at, name)) for at, _, names in os.walk(folder) for name in names]
    return sum(one.st_blocks * 512 for one in found), len(found)


def scored(dataset: Dataset, count: int, out: Path, jobs: int) -> dict[str, float]:
    """A run with the simulated engine, in this process: seconds, processor time, peak memory (MiB)."""
    given = predictions_of(dataset, count)
    began, spent = time.perf_counter(), time.process_time()
    with SimulatedEngine() as sandbox:
        evaluate.run(
            dataset,
            given,
            out,
            sandbox=sandbox,
            executor=LocalExecutor(jobs=jobs),
            settings=evaluate.Settings(signals=False),
            observer=Silent(),
        )
    seconds, spent = time.perf_counter() - began, time.process_time() - spent
    began = time.perf_counter()
    evaluate.run(
        dataset,
        given,
        out,
        sandbox=SimulatedEngine(),
        executor=LocalExecutor(jobs=jobs),
        settings=evaluate.Settings(signals=False),
        observer=Silent(),
    )
    return {
        "seconds": seconds,
        "cpu_ms": 1000 * spent / count,
        "again_seconds": time.perf_counter() - began,
        "peak_mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }


def reported(dataset: Dataset, out: Path) -> dict[str, float]:
    """The run's page, written in this process: seconds, size (MB), peak memory (MiB)."""
    page = out.with_suffix(".html")
    began = time.perf_counter()
    work.make([out], dataset=dataset.path, with_hidden=False).write_page(page)
    return {
        "page_seconds": time.perf_counter() - began,
        "page_mb": page.stat().st_size / 1e6,
        "page_peak_mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }


def opened(page: Path) -> float | None:
    """Seconds until the page answers; None without a browser."""
    program = installed()
    if program is None:
        return None
    with Browser(program) as browser:
        tab = browser.page()
        tab.open(page)
        ready: float = tab.run("new Promise(done => requestAnimationFrame(() => done(performance.now())))")
    return ready / 1000


def real(count: int, jobs: int) -> dict[str, float]:
    """So many predictions through the real engine, with a test of milliseconds, and the resolved among them."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        dataset = tiny.dataset(folder / "dataset", tiny.task(tiny.build_image(folder / "image")))
        given = [tiny.prediction(tiny.fix(f"return a + b  # {number}"), model=f"m{number}") for number in range(count)]
        executor = LocalExecutor(jobs=jobs)
        began = time.perf_counter()
        with executor.sandbox() as sandbox:
            evaluate.run(
                dataset,
                given,
                folder / "run",
                sandbox=sandbox,
                executor=executor,
                settings=evaluate.Settings(signals=False),
                observer=Silent(),
            )
        seconds = time.perf_counter() - began
        report = json.loads((folder / "run" / "report.json").read_bytes())
    return {
        "predictions": count,
        "seconds": seconds,
        "resolved": report["resolved_instances"],
        "each_s": seconds / count,
    }


def one_size(place: Path, count: int, options: argparse.Namespace) -> dict[str, float | None]:
    """All figures of one size, each step in a process of its own, so that memory is that step's."""
    out = place / f"run-{count}"
    found: dict[str, float | None] = {"predictions": count}
    for step in ("score", "report"):
        argv = [sys.executable, __file__, "--step", step, "--into", place, "--jobs", str(options.jobs)]
        found |= json.loads(run([*argv, "--predictions", str(count)]).stdout)
    size, files = size_of(out)
    found |= {
        "overhead_ms": 1000 * (found["seconds"] or 0) * options.jobs / count,
        "kib_each": size / 1024 / count,
        "files": files,
        "open_seconds": None if options.no_browser else opened(out.with_suffix(".html")),
    }
    return found


def main() -> None:
    """Run all sizes and tell how the cost grows."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tasks", type=int, default=500)
    parser.add_argument("--predictions", type=int, nargs="+", default=SIZES)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--real", type=int, default=200)
    parser.add_argument("--no-browser", action="store_true")
    parser.add_argument("--step", choices=("score", "report"), help=argparse.SUPPRESS)
    parser.add_argument("--into", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.step:
        dataset, count = open_dataset(options.into / "dataset"), options.predictions[0]
        out = options.into / f"run-{count}"
        print(
            json.dumps(scored(dataset, count, out, options.jobs) if options.step == "score" else reported(dataset, out))
        )
        return
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        make_dataset(place / "dataset", options.tasks)
        rows = [one_size(place, count, options) for count in sorted(options.predictions)]
    for row in rows:
        print(
            "  ".join(
                f"{name} {value:.2f}" if isinstance(value, float) else f"{name} {value}" for name, value in row.items()
            )
        )
    growth = {
        name: round(float(rows[-1][name] or 0) / float(rows[0][name] or 1), 2)
        for name in ("overhead_ms", "cpu_ms", "kib_each")
    }
    found = {
        "tasks": options.tasks,
        "jobs": options.jobs,
        "cores": len(os.sched_getaffinity(0)),
        "sizes": [
            {name: round(value, 3) if isinstance(value, float) else value for name, value in row.items()}
            for row in rows
        ],
        "growth": growth,
        "real": real(options.real, options.jobs) if options.real else None,
    }
    print(json.dumps(found))


if __name__ == "__main__":
    main()
