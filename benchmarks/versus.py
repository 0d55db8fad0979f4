"""What a verdict costs above the bare tests, side by side: goldseam, `swebench` 5 and Harbor, one image, one patch.

    python benchmarks/versus.py [--rounds N] [--each N]

Each tool grades the same gold patch with the same 76 tests in the same image; how many it found resolved is told. They
take turns, in an order that moves on with each round, so that a busy machine slows them alike.

- bare: two `git apply` and pytest, by chroot in the image's own files: what cannot be had for less. Needs root.
- a batch: `--each` evaluations for each worker, in a process that has loaded the tool and done a batch before. It ends
  when the last result is on disk. Told is time per evaluation.
- a command: one prediction, from the start of the program to its end.
- goldseam, one container: `--no-signals --control 0`; it runs the tests once, as the others do, and the host judges.
- goldseam, its defaults: signals as well (with linters where `goldseam images tools` was run); a command runs the gold
  patch once more, for the machine's speed.
- `swebench` and Harbor are installed from the package index, each into an environment of its own. Both give a
  container that ignores SIGTERM a time to end (15 s and 10 s), and theirs do; "stopped at once" is the same without
  that wait. Harbor runs in its own Docker environment, with its agent `oracle` and a network as it has by default.
  Without Docker Compose a stand-in that asks the engine less takes its place
  (compose_stand_in.py), and the output says so.

Times are medians in milliseconds; each measurement is printed as it comes: with 1 worker, with 2, a command. The last
line is one JSON object.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import platform
import statistics
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

sys.path.insert(0, str(Path(__file__).parent.parent))

from benchmarks.bench_task import TESTS, Bare, build_task, stripped, timed
from benchmarks.other_graders import Harbor, Swebench
from harness.core.instance import Prediction, Task
from harness.core.process import run
from harness.runs import evaluate
from harness.sandbox import engine
from harness.sandbox.docker import DockerSandbox
from harness.sandbox.executors.local import LocalExecutor
from tests import pypi_tools, tiny
from tests.silent import Silent

if TYPE_CHECKING:
    from harness.sandbox.job import Sandbox

WORKERS = (1, 2)
OURS = "goldseam, one container"
_REPORTS = "results/*/*/*/report.json"


class Grader(Protocol):
    """Something that grades the gold patch."""

    def batch(self, count: int, workers: int) -> float:
        """Milliseconds for so many evaluations, so many at once."""
        ...

    def command(self) -> float:
        """Milliseconds of a program that evaluates one prediction."""
        ...


class BareTests:
    """The tests alone, in as many trees as run at once."""

    def __init__(self, task: Task, folder: Path) -> None:
        self.trees = [Bare(task, folder / str(number)) for number in range(max(WORKERS))]

    def batch(self, count: int, workers: int) -> float:
        """The trees are laid anew while no clock runs."""
        taken = 0.0
        with ThreadPoolExecutor(max_workers=workers) as pool:
            for _ in range(count // workers):
                trees = self.trees[:workers]
                with contextlib.ExitStack() as stack:
                    for tree in trees:
                        stack.enter_context(tree.fresh())
                    taken += timed(lambda trees=trees: list(pool.map(Bare.run, trees)))  # type: ignore[misc]
        return taken

    def command(self) -> float:
        return self.batch(1, 1)


class Goldseam:
    """goldseam with one container a verdict, or with its defaults."""

    def __init__(self, task: Task, folder: Path, sandbox: Sandbox, *, defaults: bool) -> None:
        self.task, self.folder, self.sandbox = task, folder, sandbox
        self.runs = 0
        self.dataset = tiny.dataset(folder / "dataset", task)
        tiny.write_predictions(
            folder / "one.jsonl", {"bench": task.hidden.gold_patch.decode()}, instance_id=task.instance_id
        )
        self.tools = LocalExecutor(jobs=1).tools_image() if defaults else None
        self.options = () if defaults else ("--no-signals", "--control", "0")
        self.settings = evaluate.Settings(signals=defaults)

    def batch(self, count: int, workers: int) -> float:
        out = self._out()
        text = self.task.hidden.gold_patch.decode()
        given = [
            Prediction(instance_id=self.task.instance_id, model_name_or_path=f"bench-{number}", model_patch=text)
            for number in range(count)
        ]
        took = timed(
            lambda: evaluate.run(
                self.dataset,
                given,
                out,
                sandbox=self.sandbox,
                executor=LocalExecutor(jobs=workers),
                settings=self.settings,
                observer=Silent(),
                tools=lambda: self.tools,
            )
        )
        self._check(out, count)
        return took

    def mean_of(self, step: str) -> float:
        """Milliseconds of a step of the last batch's trials; 0 of one that they have not."""
        reports = (json.loads(path.read_bytes()) for path in (self.folder / f"run{self.runs}").glob(_REPORTS))
        return 1000 * statistics.mean(float(report["timings"].get(step, 0)) for report in reports)

    def command(self) -> float:
        out = self._out()
        program = Path(sys.executable).with_name("goldseam")
        argv: list[str | Path] = [
            program,
            "evaluate",
            self.dataset.path,
            "-p",
            self.folder / "one.jsonl",
            "-o",
            out,
            "--force",
        ]
        took = timed(lambda: run([*argv, *self.options]))
        self._check(out, 1)
        return took

    def _out(self) -> Path:
        self.runs += 1
        return self.folder / f"run{self.runs}"

    def _check(self, out: Path, count: int) -> None:
        solved = sum('"resolved": true' in path.read_text() for path in out.glob(_REPORTS))
        if solved != count:
            sys.exit(f"goldseam graded {solved} of {count} gold patches as resolved")


@dataclass(kw_only=True)
class Row:
    """What was measured of one grader: milliseconds per evaluation by workers, and of a command."""

    grader: Grader
    batches: dict[int, list[float]] = field(default_factory=lambda: {workers: [] for workers in WORKERS})
    commands: list[float] = field(default_factory=list)

    def measure(self, each: int) -> None:
        for workers, found in self.batches.items():
            found.append(self.grader.batch(each * workers, workers) / (each * workers))
        self.commands.append(self.grader.command())

    def figures(self, bare: Row) -> dict[str, float]:
        """Medians; the overhead is the median over rounds of the difference to bare in the same round."""
        found: dict[str, float] = {}
        for workers, taken in self.batches.items():
            over = [here - there for here, there in zip(taken, bare.batches[workers], strict=True)]
            found[f"batch_{workers}_ms"] = statistics.median(taken)
            found[f"over_{workers}_ms"] = statistics.median(over)
        found["command_ms"] = statistics.median(self.commands)
        return {name: round(value, 1) for name, value in found.items()}


def told(rows: dict[str, Row]) -> dict[str, dict[str, float]]:
    """Print the table, and return it with the ratios to one container of ours."""
    table = {name: row.figures(rows["bare"]) for name, row in rows.items()}
    ours = table[OURS]
    heads = ("1 worker", "over bare", "ratio", "2 workers", "over bare", "ratio", "command")
    print(" " * 30 + "".join(f"{head:>11}" for head in heads))
    for name, found in table.items():
        cells: list[str] = []
        for workers in WORKERS:
            over = found[f"over_{workers}_ms"]
            ratio = found[f"ratio_{workers}"] = round(over / ours[f"over_{workers}_ms"], 1)
            cells += [f"{found[f'batch_{workers}_ms']:.0f}", f"{over:.0f}", "" if name == "bare" else f"{ratio}x"]
        print(f"{name:30}" + "".join(f"{cell:>11}" for cell in [*cells, f"{found['command_ms']:.0f}"]))
    return table


def main() -> None:
    """Measure all graders in turn."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--each", type=int, default=1, help="evaluations for each worker in a batch")
    options = parser.parse_args()
    swebench = pypi_tools.environment(pypi_tools.SWEBENCH).python
    harbor = pypi_tools.environment(pypi_tools.HARBOR).python
    with (
        tempfile.TemporaryDirectory() as name,
        DockerSandbox() as sandbox,
    ):
        folder = Path(name)
        task = build_task(folder)
        full = stripped(task, sandbox)
        with (
            Swebench(swebench, task, folder / "swebench") as theirs,
            Swebench(swebench, task, folder / "swebench-at-once", at_once=True) as theirs_at_once,
            Harbor(harbor, task, folder / "harbor") as harbors,
            Harbor(harbor, task, folder / "harbor-at-once", at_once=True) as harbors_at_once,
        ):
            graders: dict[str, Grader] = {
                "bare": BareTests(task, folder / "bare"),
                OURS: Goldseam(full, folder / "standard", sandbox, defaults=False),
                "goldseam, its defaults": Goldseam(full, folder / "defaults", sandbox, defaults=True),
                "swebench 5": theirs,
                "swebench 5, stopped at once": theirs_at_once,
                "Harbor": harbors,
                "Harbor, stopped at once": harbors_at_once,
            }
            rows = {one: Row(grader=grader) for one, grader in graders.items()}
            for grader in graders.values():
                grader.batch(1, 1)  # the first one loads what comes late
            for number in range(options.rounds):
                names = list(rows)
                for one in [*names[number % len(names) :], *names[: number % len(names)]]:
                    rows[one].measure(options.each)
                    taken = ", ".join(f"{batches[-1]:.0f}" for batches in rows[one].batches.values())
                    print(f"round {number + 1}: {one}: {taken}, {rows[one].commands[-1]:.0f} ms", flush=True)
            about = {
                "cores": len(os.sched_getaffinity(0)),
                "memory_gib": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30, 1),
                "engine": engine.connect().version()["Version"],
                "system": platform.platform(),
                "harbor_uses": harbors.compose,
                "swebench": pypi_tools.SWEBENCH,
                "harbor": pypi_tools.HARBOR,
                "tests": TESTS,
                "rounds": options.rounds,
                "each": options.each,
                **{f"{tool.name}_resolved": f"{tool.solved} of {tool.graded}" for tool in (theirs, harbors)},
            }
    engine.disconnect()
    print("  ".join(f"{key} {value}" for key, value in about.items()))
    print(json.dumps({**about, "graders": told(rows)}))


if __name__ == "__main__":
    main()
