"""What a verdict costs above the bare tests: one container round of ours, beside `swebench` 5 on the same image.

    python benchmarks/overhead.py [--rounds N] [--swebench PYTHON | --no-swebench]
    python benchmarks/overhead.py --all [--rounds N]
    python benchmarks/overhead.py --language python|javascript|go|rust|java… [--rounds N]

Bare is what cannot be had for less: the image's own bytes in a chroot, two `git apply` and pytest. All three run the
same gold patch and the same hidden tests, in turn, so that a busy machine slows them alike. Needs root (chroot) and an
engine. `swebench` is installed from the package index into an environment of its own, unless PYTHON names one that has
it; its users' own entry point `run_instances` is timed, without the start of its process. The last line is one JSON
object; times are medians in milliseconds.

With `--language` (repeatable) or `--all` the same is asked of pytest, node:test, mocha, vitest and jest, and of test
programs of Go and Rust and the virtual machine of Java: the bare runner, one verdict alone, and a run of four
predictions by one worker, as `goldseam evaluate` does it (the next container is started meanwhile, reports are
written), in turn. What is compiled is compiled before the bare run, and what compiling took is taken off ours, and
printed apart. Java's bare run is the start of a virtual machine that does nothing. Tasks are mined first, from the
language's registry.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import shlex
import statistics
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

sys.path.insert(0, str(Path(__file__).parent.parent))

from benchmarks.bench_task import TESTS, Bare, build_task, compiled_task, javascript_tasks, stripped, timed
from benchmarks.other_graders import Swebench
from benchmarks.versus import Goldseam
from harness.core.instance import Outcome, Prediction, Task
from harness.languages import language_of
from harness.runs import evaluate
from harness.sandbox import engine
from harness.sandbox.docker import DockerSandbox
from tests import pypi_tools, tiny

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from harness.runs.verdict import Verdict

SETTINGS = evaluate.Settings()
EACH = 4
"""Predictions of a run."""
LANGUAGES = ("python", "javascript", "go", "rust", "java")
_CARGO = """\
cargo test --quiet --offline --no-run --test calc && cd $CARGO_TARGET_DIR/debug/deps
cp "$(ls -t calc-* | grep -v [.] | head -n 1)" /tmp/bare
"""
_PROGRAMS = {
    "go test": ("go test -c -vet=off -o /tmp/bare .", "/tmp/bare"),
    "cargo test": (
        f"sh -c {shlex.quote(_CARGO)}",
        "/tmp/bare",
    ),
    "junit": ("true", "java --version"),
}
"""By framework: how its test program is compiled, and run."""
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


@dataclass(frozen=True, kw_only=True)
class Command:
    """The least that some tests cost: shell lines that compile them, and that run them as a program."""

    compiles: str = ""
    runs: str


def bare_command(framework: str, task: Task) -> Command:
    """The runner as a person calls it; of languages that are compiled, the program of the tests alone.

    Of Java it is the start of a virtual machine.
    """
    words = language_of(framework).by_hand(task.instance.test, task.hidden.test_files)
    if framework not in _PROGRAMS:
        return Command(runs=shlex.join(words))
    variables = itertools.takewhile(lambda word: "=" in word, words[1:])
    compiles, runs = (f"{shlex.join(('env', *variables))} {line}" for line in _PROGRAMS[framework])
    return Command(compiles=compiles, runs=runs)


def measured(tasks: Mapping[str, Task], folder: Path, rounds: int, sandbox: DockerSandbox) -> dict[str, Figures]:
    """What a verdict of ours costs above the bare tests and compiling, by framework of one image."""
    tree = Bare(next(iter(tasks.values())), folder / "bare")
    bare: dict[str, list[float]] = {framework: [] for framework in tasks}
    whole: dict[str, list[float]] = {framework: [] for framework in tasks}
    in_runs: dict[str, list[float]] = {framework: [] for framework in tasks}
    runs = {
        framework: Goldseam(task, folder / f"run-{number}", sandbox, defaults=False)
        for number, (framework, task) in enumerate(tasks.items())
    }
    judged: dict[str, list[Verdict]] = {framework: [] for framework in tasks}
    for _ in range(rounds + 2):  # the first two warm up
        for framework, task in tasks.items():
            command = bare_command(framework, task)
            tree.turn_to(task, command.compiles or command.runs)
            with tree.fresh():
                if command.compiles:
                    tree.run()
                    tree.script = f"cd /testbed && exec {command.runs}"
                bare[framework].append(timed(tree.run))
            whole[framework].append(timed(lambda: judged[framework].append(ours(task, sandbox))))  # noqa: B023
            batch = runs[framework].batch(EACH, 1) / EACH
            in_runs[framework].append(batch - runs[framework].mean_of("compile") - bare[framework][-1])
    figures: dict[str, Figures] = {}
    for framework in tasks:
        kept = judged[framework][2:]
        compiling = [verdict.report.timings.get("compile", 0.0) * 1000 for verdict in kept]
        above = [
            there - took - here
            for here, there, took in zip(bare[framework][2:], whole[framework][2:], compiling, strict=True)
        ]
        figures[framework] = Figures(
            bare_ms=_middle(bare[framework][2:]),
            ours_ms=_middle(whole[framework][2:]),
            compile_ms=_middle(compiling),
            overhead_ms=_middle(above),
            in_run_ms=_middle(in_runs[framework][2:]),
        )
        print(f"{framework}: {figures[framework]}", flush=True)
        print_steps(kept)
    return figures


@dataclass(frozen=True, kw_only=True)
class Figures:
    """Medians of one framework's rounds, milliseconds."""

    bare_ms: float
    ours_ms: float
    compile_ms: float
    """Of ours."""
    overhead_ms: float
    """Of ours, without compiling, over bare."""
    in_run_ms: float
    """The same of a prediction in a run of several."""

    def __str__(self) -> str:
        told = f"bare {self.bare_ms:.0f} ms, ours {self.ours_ms:.0f} ms"
        compiling = f", of which {self.compile_ms:.0f} ms compile" if self.compile_ms else ""
        return f"{told}{compiling}, overhead {self.overhead_ms:.0f} ms, in a run {self.in_run_ms:.0f} ms"


def _middle(values: Sequence[float]) -> float:
    return round(statistics.median(values), 1)


def of_language(language: str, rounds: int) -> dict[str, Figures]:
    """By framework of a language: what a verdict of ours costs above the bare tests."""
    with tempfile.TemporaryDirectory() as name, DockerSandbox() as sandbox:
        folder = Path(name)
        if language == "python":
            tasks = {"pytest": stripped(build_task(folder), sandbox)}
        elif language == "javascript":
            tasks = javascript_tasks(folder, sandbox)
        else:
            task = compiled_task(folder, language)
            tasks = {task.instance.test.framework: task}
        return measured(tasks, folder, rounds, sandbox)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--swebench", metavar="PYTHON")
    parser.add_argument("--no-swebench", action="store_true")
    parser.add_argument("--language", choices=LANGUAGES, action="append")
    parser.add_argument("--all", action="store_const", const=LANGUAGES, dest="language")
    options = parser.parse_args()
    if options.language:
        figures_of = {language: of_language(language, options.rounds) for language in options.language}
        engine.disconnect()
        print(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors at the end")
        print(json.dumps({name: asdict(row) for rows in figures_of.values() for name, row in rows.items()}))
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
