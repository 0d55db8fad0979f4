"""Do other tools come to our verdicts? A real dataset, exported for SWE-bench and scored by `swebench eval`.

    python benchmarks/interop_agreement.py DATASET [--tasks N] [--jobs N]

For the first N tasks: the gold patch, a file that nobody asked for, and the gold patch without its last file,
each scored by us and by `swebench` from the package index, on the same images of the local engine. Every difference is
printed with what both saw. The last line is one JSON object.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

sys.path.insert(0, str(Path(__file__).parent.parent))

from harness.core.process import run
from harness.dataset.folder import open_dataset
from harness.patches import patch as patches
from tests import pypi_tools

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from harness.core.instance import Task

_NEW_FILE = "goldseam_agreement.txt"
_NOTHING = f"""\
diff --git a/{_NEW_FILE} b/{_NEW_FILE}
new file mode 100644
--- /dev/null
+++ b/{_NEW_FILE}
@@ -0,0 +1 @@
+A file that nobody asked for.
"""
KINDS = ("gold", "nothing", "part")


@dataclass(frozen=True, kw_only=True)
class Difference:
    """One prediction that two tools see differently."""

    instance_id: str
    kind: str
    ours: str
    theirs: str
    tests: tuple[str, ...]
    """Listed tests that they see differently, or that only one of them saw."""


def part_of(gold: bytes) -> str:
    """The gold patch without its last file, or where it has one file alone, none of it."""
    files = patches.parse(gold, trusted=True).files
    kept = b"".join(file.raw for file in files[:-1])
    return kept.decode("utf-8", "surrogateescape") or _NOTHING


def predictions(tasks: Sequence[Task], kind: str) -> list[dict[str, str]]:
    """One prediction a task."""
    made: Callable[[Task], str] = {
        "gold": lambda task: task.hidden.gold_patch.decode("utf-8", "surrogateescape"),
        "nothing": lambda _task: _NOTHING,
        "part": lambda task: part_of(task.hidden.gold_patch),
    }[kind]
    return [{"instance_id": task.instance_id, "model_name_or_path": kind, "model_patch": made(task)} for task in tasks]


def ours(dataset: Path, files: Sequence[Path], out: Path) -> tuple[dict[tuple[str, str], dict[str, Any]], float]:
    """Our reports by kind and task, and how long they took."""
    words = [word for file in files for word in ("-p", file)]
    began = time.monotonic()
    goldseam = (sys.executable, "-m", "miner.cli.main")
    options = ("--json", "--force", "--control", "0", "--no-signals", "-j", "2")
    run((*goldseam, "evaluate", dataset, *words, "-o", out, *options), cwd=Path(__file__).parent.parent)
    seconds = time.monotonic() - began
    found = [json.loads(path.read_text()) for path in out.glob("results/*/*/*/report.json")]
    return {(one["model_name_or_path"], one["instance_id"]): one for one in found}, seconds


def theirs(rows: Path, file: Path, kind: str, jobs: int) -> tuple[dict[str, dict[str, Any]], float]:
    """Reports of `swebench` by task, for those that it could grade, and how long they took."""
    swebench = pypi_tools.environment(pypi_tools.SWEBENCH).program("swebench")
    argv: list[str | Path] = [swebench, "eval", rows, "-p", file, "-j", str(jobs), "--run-id", f"agree-{os.getpid()}"]
    began = time.monotonic()
    done = run(argv, cwd=rows.parent, env={"HF_HUB_OFFLINE": "1"}, check=False)
    seconds = time.monotonic() - began
    if b"All instances run." not in done.stdout:
        sys.exit(f"swebench did not run: {done.error_text}")
    found: dict[str, dict[str, Any]] = {}
    for path in rows.parent.glob(f"logs/run_evaluation/agree-{os.getpid()}/{kind}/*/report.json"):
        found |= json.loads(path.read_text())
    return found, seconds


def differing(one: dict[str, Any], other: dict[str, Any]) -> tuple[str, ...]:
    """Listed tests that one passes and the other does not."""
    passed = [
        {test for listed in report.get("tests_status", {}).values() for test in listed["success"]}
        for report in (one, other)
    ]
    return tuple(sorted(passed[0] ^ passed[1]))


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("dataset", type=Path)
    parser.add_argument("--tasks", type=int, default=10)
    parser.add_argument("--jobs", type=int, default=4)
    options = parser.parse_args()
    opened = open_dataset(options.dataset)
    tasks = [opened.task(instance_id) for instance_id in opened.ids()[: options.tasks]]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        rows = folder / "rows.jsonl"
        ids = [word for task in tasks for word in ("-i", task.instance_id)]
        exporting = (sys.executable, "-m", "miner.cli.main", "holdout", "export", options.dataset.resolve(), *ids)
        run((*exporting, "--format", "jsonl", "--with-hidden", "-o", rows), cwd=Path(__file__).parent.parent)
        for kind in KINDS:
            text = "".join(json.dumps(one) + "\n" for one in predictions(tasks, kind))
            (folder / f"{kind}.jsonl").write_text(text)
        files = [folder / f"{kind}.jsonl" for kind in KINDS]
        mine, my_seconds = ours(options.dataset.resolve(), files, folder / "run")
        same, their_seconds, differences = 0, 0.0, []
        for kind, file in zip(KINDS, files, strict=True):
            found, seconds = theirs(rows, file, kind, options.jobs)
            their_seconds += seconds
            for task in tasks:
                one, other = mine[kind, task.instance_id], found.get(task.instance_id)
                if one["resolved"] == bool(other and other["resolved"]) and (other is None) == bool(
                    one["outcome"] in ("apply_failed", "infra_error", "empty_patch")
                ):
                    same += 1
                    continue
                said = "no report" if other is None else "resolved" if other["resolved"] else "unresolved"
                tests = differing(one, other or {})
                differences.append(
                    Difference(instance_id=task.instance_id, kind=kind, ours=one["outcome"], theirs=said, tests=tests)
                )
    for unlike in differences:
        sides = f"we say {unlike.ours}, swebench says {unlike.theirs}"
        print(f"{unlike.instance_id}, {unlike.kind}: {sides}; {len(unlike.tests)} tests:")
        print("".join(f"    {test}\n" for test in unlike.tests[:5]), end="")
    total = len(tasks) * len(KINDS)
    resolved = {kind: sum(mine[kind, task.instance_id]["resolved"] for task in tasks) for kind in KINDS}
    print(f"{same} of {total} verdicts agree; resolved by us: {resolved}")
    print(f"ours took {my_seconds:.0f} s, swebench {their_seconds:.0f} s with {options.jobs} workers")
    figures = {"verdicts": total, "agree": same, "tasks": len(tasks), "resolved": resolved,
               "our_seconds": round(my_seconds), "swebench_seconds": round(their_seconds)}  # fmt: skip
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
