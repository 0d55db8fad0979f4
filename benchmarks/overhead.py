"""What a verdict costs above the bare tests: one container round of ours, beside `swebench` 5 on the same image.

    python benchmarks/overhead.py [--rounds N] [--swebench PYTHON | --no-swebench]

Bare is what cannot be had for less: the image's own bytes in a chroot, two `git apply` and pytest. All three run the
same gold patch and the same hidden tests, in turn, so that a busy machine slows them alike. Needs root (chroot) and an
engine. `swebench` is installed from the package index into an environment of its own, unless PYTHON names one that has
it; its users' own entry point `run_instances` is timed, without the start of its process. The last line is one JSON
object; times are medians in milliseconds.
"""

from __future__ import annotations

import argparse
import io
import json
import os
import shutil
import statistics
import sys
import tarfile
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

sys.path.insert(0, str(Path(__file__).parent.parent))

from harness import evaluate, scoring
from harness.frameworks import framework
from harness.instance import Budgets, Outcome, Prediction, Task
from harness.process import run
from harness.sandbox import engine
from harness.sandbox.docker import DockerSandbox
from harness.trust import Trust
from tests import pypi_tools, tiny

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

TESTS = 76
STANDARD = evaluate.Settings(demands=scoring.Demands(trust=Trust.STANDARD))
_BUSY = "import time as _time\n_end = _time.process_time() + 1.0\nwhile _time.process_time() < _end:\n    pass\n"


def build_task(folder: Path) -> Task:
    """A task with 76 tests, some of which the gold patch turns."""
    body = (
        "import calc\nimport pytest\n\n\n@pytest.mark.parametrize('n', range({}))\n"
        "def test_add(n):\n    assert calc.add(n, {}) == {}\n"
    )
    before, after = body.format(TESTS, 0, "n"), body.format(TESTS, 1, "n + 1")
    files = {**tiny.FILES, tiny.TESTS: before}
    image = tiny.build_image(folder, files)
    return tiny.task(
        image,
        instance_id="bench__calc-1",
        tests={tiny.TESTS: (before, after)},
        fail_to_pass=[f"{tiny.TESTS}::test_add[{n}]" for n in range(TESTS)],
        pass_to_pass=(),
        budgets=Budgets(seconds=120, memory_mb=1024),
    )


class Chroot:
    """The image's files in a folder, and the bare test command in it."""

    def __init__(self, task: Task, folder: Path) -> None:
        self.root = folder / "root"
        self.root.mkdir()
        client: Any = engine.connect()
        container = client.create_container(task.instance.image)["Id"]
        try:
            packed = io.BufferedReader(_Chunks(client.export(container)), 1 << 20)
            with tarfile.open(fileobj=packed, mode="r|") as archive:
                archive.extractall(self.root, filter="fully_trusted")
        finally:
            engine.remove_container(container)
        (self.root / "in").mkdir()
        (self.root / "in/gold.patch").write_bytes(task.hidden.gold_patch)
        (self.root / "in/test.patch").write_bytes(task.hidden.test_patch)
        (self.root / "dev").mkdir(exist_ok=True)
        (self.root / "dev/null").unlink(missing_ok=True)
        os.mknod(self.root / "dev/null", 0o020666, os.makedev(1, 3))
        words = " ".join(framework(task.instance.test.framework).argv(task.instance.test))
        self.script = (
            "cd /testbed && git apply /in/gold.patch && git apply /in/test.patch && "
            f"exec /opt/goldseam/venv/bin/python -B -m pytest {words} {' '.join(task.hidden.test_files)}"
        )

    def once(self) -> float:
        """Milliseconds of one run; the tree is made anew before the clock starts."""
        shutil.rmtree(self.root / "testbed")
        shutil.copytree(self.root / "opt/goldseam/src", self.root / "testbed", symlinks=True)
        env = {
            "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
            "HOME": "/tmp",
            "LANG": "C.UTF-8",
            "PATH": "/usr/sbin:/usr/bin:/bin",
        }
        began = time.perf_counter()
        run(["chroot", self.root, "/bin/sh", "-c", self.script], env=env)
        return (time.perf_counter() - began) * 1000


class _Chunks(io.RawIOBase):
    def __init__(self, chunks: Iterator[bytes]) -> None:
        self.chunks, self.rest = iter(chunks), b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while not self.rest:
            self.rest = next(self.chunks, None) or b""
            if not self.rest:
                return 0
        size = min(len(buffer), len(self.rest))
        buffer[:size], self.rest = self.rest[:size], self.rest[size:]
        return size


def ours(task: Task, sandbox: DockerSandbox, patch: bytes | None = None) -> evaluate.Verdict:
    """One verdict of ours."""
    data = task.hidden.gold_patch if patch is None else patch
    prediction = Prediction(
        instance_id=task.instance_id, model_name_or_path="bench", model_patch=data.decode("utf-8", "surrogateescape")
    )
    verdict = evaluate.evaluate_one(task, prediction, sandbox, settings=STANDARD)
    if verdict.report.outcome is not Outcome.RESOLVED:
        sys.exit(f"the gold patch came to {verdict.report.outcome}: {verdict.report.reason}")
    return verdict


def timed(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return (time.perf_counter() - began) * 1000


class Swebench:
    """`swebench` in an environment of its own; one line in, one time in milliseconds out."""

    program = """\
import contextlib, json, os, sys, time
from swebench.harness.run_evaluation import run_instances
for line in sys.stdin:
    job = json.loads(line)
    began = time.perf_counter()
    with contextlib.redirect_stdout(sys.stderr):
        run_instances(job["predictions"], job["instances"], job["workers"], job["run"], 1800)
    print(json.dumps((time.perf_counter() - began) * 1000), flush=True)
"""

    def __init__(self, python: Path, task: Task, folder: Path) -> None:
        self.python, self.task, self.folder = python, task, folder
        self.runs = 0

    def instance(self, number: int) -> dict[str, object]:
        marks = (": '>>>>> Start Test Output'", ": '>>>>> End Test Output'")
        words = " ".join(framework("pytest").argv(self.task.instance.test))
        script = [
            "cd /testbed",
            "cat > /tmp/test.patch <<'EOF_TESTS'",
            self.task.hidden.test_patch.decode().rstrip("\n"),
            "EOF_TESTS",
            "git apply /tmp/test.patch",
            marks[0],
            f"PYTEST_DISABLE_PLUGIN_AUTOLOAD=1 /opt/goldseam/venv/bin/python -B -m pytest -rA {words} {tiny.TESTS}",
            marks[1],
        ]
        return {
            "instance_id": f"bench__calc-{number}",
            "image": self.task.instance.image,
            "repo": "bench/calc",
            "version": "1",
            "FAIL_TO_PASS": list(self.task.hidden.fail_to_pass),
            "PASS_TO_PASS": [],
            "log_parser": "parse_log_pytest",
            "eval_type": "pass_and_fail",
            "eval_script": "\n".join(script) + "\n",
        }

    def measure(self, count: int, workers: int) -> float:
        """Milliseconds a verdict, over so many instances."""
        self.runs += 1
        instances = [self.instance(number) for number in range(count)]
        predictions = {
            one["instance_id"]: {
                "instance_id": one["instance_id"],
                "model_name_or_path": "gold",
                "model_patch": self.task.hidden.gold_patch.decode(),
            }
            for one in instances
        }
        job = {"instances": instances, "predictions": predictions, "workers": workers, "run": f"bench{self.runs}"}
        done = run([self.python, "-c", self.program], input=json.dumps(job).encode() + b"\n", cwd=self.folder)
        reports = list(self.folder.glob(f"logs/run_evaluation/bench{self.runs}/*/*/report.json"))
        solved = sum('"resolved": true' in report.read_text() for report in reports)
        print(f"swebench, {workers} worker(s): {count} instances, {solved} graded resolved")
        return float(done.stdout.split()[-1]) / count


def swebench_python(given: str | None) -> Path:
    """An interpreter with `swebench`, installed once into the tests' cache."""
    return Path(given) if given else pypi_tools.environment(pypi_tools.SWEBENCH).python


def speedup(task: Task, sandbox: DockerSandbox, count: int) -> float:
    """How much faster two workers are than one, on tests that use one core for a second."""
    busy = tiny.diff(tiny.CALC, tiny.BUGGY, _BUSY + tiny.FIXED).encode()

    def spread(workers: int) -> float:
        with ThreadPoolExecutor(max_workers=workers) as pool:
            return timed(lambda: list(pool.map(lambda _: ours(task, sandbox, busy), range(count))))

    return statistics.median(spread(1) / spread(2) for _ in range(3))


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--swebench", metavar="PYTHON")
    parser.add_argument("--no-swebench", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name, DockerSandbox() as sandbox:
        folder = Path(name)
        task = build_task(folder)
        chroot = Chroot(task, folder)
        bare: list[float] = []
        round_: list[float] = []
        verdicts: list[evaluate.Verdict] = []
        for _ in range(options.rounds + 2):  # the first two warm up
            bare.append(chroot.once())
            round_.append(timed(lambda: verdicts.append(ours(task, sandbox))))
        bare_ms, ours_ms = statistics.median(bare[2:]), statistics.median(round_[2:])
        overhead = statistics.median(there - here for here, there in zip(bare[2:], round_[2:], strict=True))
        print(f"bare {bare_ms:.0f} ms, ours {ours_ms:.0f} ms, {TESTS} tests, {options.rounds} rounds")
        steps = [verdict.report.timings for verdict in verdicts[2:]]
        for step in steps[0]:
            print(f"  {step}: {statistics.median(one.get(step, 0.0) for one in steps) * 1000:.0f} ms")
        figures: dict[str, float | None] = {
            "overhead_ms": round(overhead, 1),
            "bare_ms": round(bare_ms, 1),
            "ours_ms": round(ours_ms, 1),
            "swebench_overhead_ms": None,
            "swebench_ratio": None,
        }
        if not options.no_swebench:
            other = Swebench(swebench_python(options.swebench), task, folder)
            one, two = other.measure(3, 1), other.measure(4, 2)
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
