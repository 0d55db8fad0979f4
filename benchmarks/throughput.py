"""What a verdict costs in processor time, and what that leaves of a full machine: goldseam, `swebench` 5 and Harbor.

    python benchmarks/throughput.py [--rounds N] [--each N] [--suites SECONDS …] [--beside] [--no-peers]

All grade one gold patch with the same 76 tests in the same image, as in versus.py, two at a time and in turn; a suite
is made longer by a loop that keeps a processor busy. Told is the processor time of the whole machine, per verdict: that
of the tests, the tool, the engine and the kernel on their behalf. So nothing else may run. The engine's own share shows
in a row of its own: a container of that image, without a network, that runs `true` and is removed. With `--beside` a
loop keeps each processor busy meanwhile, and its own time is taken off. Peers are stopped at once where they would wait
for a container that ignores SIGTERM. Figures are medians; each round is printed as it ends, and the last line is one
JSON object.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import multiprocessing
import os
import statistics
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

sys.path.insert(0, str(Path(__file__).parent.parent))

from benchmarks.bench_task import build_task, stripped, timed
from benchmarks.other_graders import Harbor, Swebench
from benchmarks.versus import OURS, BareTests, Goldseam
from harness.sandbox import engine
from harness.sandbox.docker import DockerSandbox
from tests import pypi_tools

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from benchmarks.versus import Grader

WORKERS = 2
_TICKS = os.sysconf("SC_CLK_TCK")
_STAT_TIMES = slice(11, 13)
"""User's and system's time among the fields of /proc/PID/stat after the name."""


@dataclass(kw_only=True)
class Load:
    """Loops that keep processors busy; none of them by default."""

    loops: list[multiprocessing.Process] = field(default_factory=list)

    def seconds(self) -> float:
        """Processor time of the machine since it started, without that of the loops."""
        user, nice, system, _idle, _waiting, interrupts, soft = (
            int(ticks) for ticks in Path("/proc/stat").read_text(encoding="ascii").split()[1:8]
        )
        own = 0
        for loop in self.loops:
            fields = Path(f"/proc/{loop.pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
            own += sum(map(int, fields[_STAT_TIMES]))
        return (user + nice + system + interrupts + soft - own) / _TICKS


@contextlib.contextmanager
def load(count: int) -> Iterator[Load]:
    """So many busy loops, for as long as the block runs."""
    loops = [multiprocessing.Process(target=_never_end, daemon=True) for _ in range(count)]
    for loop in loops:
        loop.start()
    try:
        yield Load(loops=loops)
    finally:
        for loop in loops:
            loop.kill()
            loop.join()


def _never_end() -> None:
    while True:
        pass


@dataclass(kw_only=True)
class Row:
    """What one grader took per verdict, round by round."""

    grader: Grader
    processor: list[float] = field(default_factory=list)
    """Seconds."""
    passed: list[float] = field(default_factory=list)
    """Seconds on the clock."""

    def measure(self, around: Load, each: int) -> None:
        """One batch. What runs on after its end is waited for: engines clean up late."""
        count = each * WORKERS
        began = around.seconds()
        milliseconds = self.grader.batch(count, WORKERS)
        self.processor.append((around.seconds() - began) / count)
        self.passed.append(milliseconds / 1000 / count)

    def figures(self, bare: Row) -> dict[str, float]:
        """Medians; the ratio is the median over rounds of that to bare in the same round."""
        ratios = [here / there for here, there in zip(self.processor, bare.processor, strict=True)]
        return {
            "processor_s": round(statistics.median(self.processor), 3),
            "ratio": round(statistics.median(ratios), 2),
            "passed_s": round(statistics.median(self.passed), 3),
        }


class EmptyContainer:
    """What the engine takes for a container in which nothing happens."""

    def __init__(self, image: str) -> None:
        self.client: Any = engine.connect()
        self.image = image

    def batch(self, count: int, workers: int) -> float:
        with ThreadPoolExecutor(max_workers=workers) as pool:
            return timed(lambda: list(pool.map(lambda _: self._one(), range(count))))

    def command(self) -> float:
        return self.batch(1, 1)

    def _one(self) -> None:
        config = self.client.create_host_config(network_mode="none", log_config={"Type": "none", "Config": {}})
        made = self.client.create_container(self.image, ["true"], host_config=config)["Id"]
        self.client.start(made)
        self.client.wait(made)
        self.client.remove_container(made)


def suite(seconds: float, options: argparse.Namespace, around: Load) -> dict[str, dict[str, float]]:
    """Measure all graders on tests that take so many seconds of a processor besides."""
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        sandbox = stack.enter_context(DockerSandbox())
        task = build_task(folder, busy=seconds)
        full = stripped(task, sandbox)
        graders: dict[str, Grader] = {
            "bare": BareTests(task, folder / "bare"),
            "an empty container": EmptyContainer(str(task.instance.image)),
            OURS: Goldseam(full, folder / "standard", sandbox, defaults=False),
            "goldseam, its defaults": Goldseam(full, folder / "defaults", sandbox, defaults=True),
        }
        if not options.no_peers:
            for name, tool, requirement in (
                ("swebench 5", Swebench, pypi_tools.SWEBENCH),
                ("Harbor", Harbor, pypi_tools.HARBOR),
            ):
                python = pypi_tools.environment(requirement).python
                graders[name] = stack.enter_context(tool(python, task, folder / tool.__name__, at_once=True))
        rows = {name: Row(grader=grader) for name, grader in graders.items()}
        for grader in graders.values():
            grader.batch(WORKERS, WORKERS)  # the first one loads what comes late
        for number in range(options.rounds):
            for name in _turned(list(rows), number):
                rows[name].measure(around, options.each)
            latest = ", ".join(f"{name} {row.processor[-1]:.2f}" for name, row in rows.items())
            print(f"suite of {seconds:g} s, round {number + 1}: processor seconds a verdict: {latest}", flush=True)
        figures = {name: row.figures(rows["bare"]) for name, row in rows.items()}
    engine.disconnect()
    for name, found in figures.items():
        cells = f"{found['processor_s']:>8.2f} s {found['ratio']:>7.2f}x {found['passed_s']:>8.2f} s"
        print(f"  {name:26}{cells}", flush=True)
    return figures


def _turned(names: Sequence[str], number: int) -> Sequence[str]:
    """The names, begun elsewhere each round."""
    start = number % len(names)
    return [*names[start:], *names[:start]]


def main() -> None:
    """Measure each suite, without other load or beside busy loops."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--each", type=int, default=2, help="verdicts for each of two workers in a batch")
    parser.add_argument("--suites", type=float, nargs="+", default=[0.0, 5.0], help="seconds of a processor")
    parser.add_argument("--beside", action="store_true", help="keep each processor busy meanwhile")
    parser.add_argument("--no-peers", action="store_true")
    options = parser.parse_args()
    cores = len(os.sched_getaffinity(0))
    with load(cores if options.beside else 0) as around:
        suites = {f"{seconds:g}": suite(seconds, options, around) for seconds in options.suites}
    print(json.dumps({"cores": cores, "beside": options.beside, "rounds": options.rounds, "suites": suites}))


if __name__ == "__main__":
    main()
