"""What a verdict costs above the bare tests: one container round of ours, beside `swebench` 5 on the same image.

    python benchmarks/overhead.py [--rounds N] [--swebench PYTHON | --no-swebench]
    python benchmarks/overhead.py --language javascript|go|rust|java [--rounds N]

Bare is what cannot be had for less: the image's own bytes in a chroot, two `git apply` and pytest. All three run the
same gold patch and the same hidden tests, in turn, so that a busy machine slows them alike. Needs root (chroot) and an
engine. `swebench` is installed from the package index into an environment of its own, unless PYTHON names one that has
it; its users' own entry point `run_instances` is timed, without the start of its process. The last line is one JSON
object; times are medians in milliseconds.

With `--language` the same is asked of node:test, mocha, vitest and jest, or of `go test`, `cargo test` or Maven: one
verdict and the bare runner each, in turn, both with compiling. It mines a task first, from the language's registry.
"""

from __future__ import annotations

import argparse
import json
import shlex
import statistics
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

sys.path.insert(0, str(Path(__file__).parent.parent))

from benchmarks.bench_task import TESTS, Bare, build_task, compiled_task, javascript_tasks, stripped, timed
from benchmarks.other_graders import Swebench
from harness.core.instance import Outcome, Prediction, Task
from harness.languages import language_of
from harness.runs import evaluate
from harness.sandbox import engine
from harness.sandbox.docker import DockerSandbox
from tests import pypi_tools, tiny

if TYPE_CHECKING:
    from harness.runs.verdict import Verdict

SETTINGS = evaluate.Settings()
_BUSY = "import time as _time\n_end = _time.process_time() + 1.0\nwhile _time.process_time() < _end:\n    pass\n"


def ours(task: Task, sandbox: DockerSandbox, patch: bytes | None = None) -> Verdict:
    """One verdict of ours."""
    data = task.hidden.gold_patch if patch is None else patch
    prediction = Prediction(
        instance_id=task.instance_id, model_name_or_path="bench", model_patch=data.decode("utf-8", "surrogateescape")
    )
    verdict = evaluate.evaluate_one(task, prediction, sandbox, settings=SETTINGS)
    if verdict.report.outcome is not Outcome.RESOLVED:
        sys.exit(f"the gold patch came to {verdict.report.outcome}: {verdict.report.reason}")
    return verdict


def speedup(task: Task, sandbox: DockerSandbox, count: int) -> float:
    """How much faster two workers are than one, on tests that use one core for a second."""
    busy = tiny.diff(tiny.CALC, tiny.BUGGY, _BUSY + tiny.FIXED).encode()

    def spread(workers: int) -> float:
        with ThreadPoolExecutor(max_workers=workers) as pool:
            return timed(lambda: list(pool.map(lambda _: ours(task, sandbox, busy), range(count))))

    return statistics.median(spread(1) / spread(2) for _ in range(3))


def print_steps(verdicts: list[Verdict]) -> None:
    """The steps of verdicts, each with its median."""
    steps = [verdict.report.timings for verdict in verdicts]
    for step in steps[0]:
        print(f"  {step}: {statistics.median(one.get(step, 0.0) for one in steps) * 1000:.0f} ms")


def of_language(language: str, rounds: int) -> dict[str, float]:
    """By framework of another language: what a verdict of ours costs above the bare runner, in milliseconds."""
    with tempfile.TemporaryDirectory() as name, DockerSandbox() as sandbox:
        folder = Path(name)
        if language == "javascript":
            tasks = javascript_tasks(folder, sandbox)
        else:
            tasks = {language: compiled_task(folder, language)}
        tree = Bare(next(iter(tasks.values())), folder / "bare")
        commands = {
            framework: shlex.join(
                language_of(task.instance.test.framework).by_hand(task.instance.test, task.hidden.test_files)
            )
            for framework, task in tasks.items()
        }
        bare: dict[str, list[float]] = {framework: [] for framework in tasks}
        verdicts: dict[str, list[float]] = {framework: [] for framework in tasks}
        seen: dict[str, list[Verdict]] = {framework: [] for framework in tasks}
        for _ in range(rounds + 2):  # the first two warm up
            for framework, task in tasks.items():
                tree.turn_to(task, commands[framework])
                with tree.fresh():
                    bare[framework].append(timed(tree.run))
                judged = seen[framework]
                verdicts[framework].append(
                    timed(lambda task=task, judged=judged: judged.append(ours(task, sandbox)))  # type: ignore[misc]
                )
    figures: dict[str, float] = {}
    for framework in tasks:
        one, two = bare[framework][2:], verdicts[framework][2:]
        figures[framework] = round(statistics.median(there - here for here, there in zip(one, two, strict=True)), 1)
        here, there = statistics.median(one), statistics.median(two)
        print(f"{framework}: bare {here:.0f} ms, ours {there:.0f} ms, overhead {figures[framework]:.0f} ms")
        print_steps(seen[framework][2:])
    return figures


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--swebench", metavar="PYTHON")
    parser.add_argument("--no-swebench", action="store_true")
    parser.add_argument("--language", choices=("python", "javascript", "go", "rust", "java"), default="python")
    options = parser.parse_args()
    if options.language != "python":
        print(json.dumps(of_language(options.language, options.rounds)))
        engine.disconnect()
        return
    with tempfile.TemporaryDirectory() as name, DockerSandbox() as sandbox:
        folder = Path(name)
        task = stripped(build_task(folder), sandbox)
        tree = Bare(task, folder / "bare")
        bare: list[float] = []
        round_: list[float] = []
        verdicts: list[Verdict] = []
        for _ in range(options.rounds + 2):  # the first two warm up
            with tree.fresh():
                bare.append(timed(tree.run))
            round_.append(timed(lambda: verdicts.append(ours(task, sandbox))))
        bare_ms, ours_ms = statistics.median(bare[2:]), statistics.median(round_[2:])
        overhead = statistics.median(there - here for here, there in zip(bare[2:], round_[2:], strict=True))
        print(f"bare {bare_ms:.0f} ms, ours {ours_ms:.0f} ms, {TESTS} tests, {options.rounds} rounds")
        print_steps(verdicts[2:])
        figures: dict[str, float | None] = {
            "overhead_ms": round(overhead, 1),
            "bare_ms": round(bare_ms, 1),
            "ours_ms": round(ours_ms, 1),
            "swebench_overhead_ms": None,
            "swebench_ratio": None,
        }
        if not options.no_swebench:
            python = Path(options.swebench) if options.swebench else pypi_tools.environment(pypi_tools.SWEBENCH).python
            with Swebench(python, task, folder / "swebench") as other:
                one, two = other.batch(3, 1) / 3, other.batch(4, 2) / 4
                print(f"swebench resolved {other.solved} of {other.graded} with the gold patch")
            theirs = one - bare_ms
            print(f"swebench {one:.0f} ms a verdict with 1 worker, {two:.0f} ms with 2")
            figures |= {
                "swebench_overhead_ms": round(theirs, 1),
                "swebench_ratio": round(theirs / overhead, 1),
                "swebench_2_workers_ms": round(two, 1),
            }
        figures["workers_speedup"] = round(speedup(task, sandbox, 8), 2)
    engine.disconnect()
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
