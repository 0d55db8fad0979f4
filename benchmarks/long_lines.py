"""What one prediction of hundreds of megabytes costs a run: peak memory and time, beside the same run without it.

    python benchmarks/long_lines.py [--mb 300] [--tree DIR]

A dataset of one task and ten predictions for it, which need no container; in a second file one more stands among them:
a patch in a line of `--mb` megabytes, a number of as many digits, or as many brackets. `goldseam evaluate` runs on each
in a process of its own (an engine has to be there), and `scores` on the run folder that came of it. `--tree` is another
checkout whose code is measured. The last line is one JSON object; `peak_mb` is the process's largest resident memory in
millions of bytes, `outcomes` what the run tells of its predictions, null where it ended with an error.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

sys.path.insert(0, str(Path(__file__).parent.parent))

from tests import tiny

if TYPE_CHECKING:
    from collections.abc import Iterator

_PIECE = 1 << 20
_OTHERS = 10
KINDS = {"patch": (b'"', b"x", b'"'), "number": (b"", b"7", b""), "levels": (b"", b"[", b"]")}


def predictions(path: Path, kind: str | None, size: int) -> Path:
    """A file of ten predictions, with one of this kind and size in their midst."""
    with path.open("wb") as file:
        for sample in range(_OTHERS):
            if kind and sample == _OTHERS // 2:
                opening, filling, closing = KINDS[kind]
                file.write(b'{"instance_id": "tiny__calc-1", "model_name_or_path": "long", "model_patch": ' + opening)
                for _ in range(size // _PIECE):
                    file.write(filling * _PIECE)
                for _ in range(size // _PIECE if filling == b"[" else 0):
                    file.write(closing * _PIECE)
                file.write((closing if filling != b"[" else b"") + b"}\n")
            row = {"instance_id": "tiny__calc-1", "model_name_or_path": "m", "model_patch": "", "sample": sample}
            file.write(json.dumps(row).encode() + b"\n")
    return path


def measured(tree: Path, words: list[str]) -> tuple[int, float, float]:
    """The exit code of goldseam, its peak memory in MB, and seconds."""
    began = time.monotonic()
    child = os.fork()
    if child == 0:
        os.chdir(tree)
        silent = os.open(os.devnull, os.O_WRONLY)
        os.dup2(silent, 1)
        os.dup2(silent, 2)
        os.execv(sys.executable, [sys.executable, "-m", "miner.cli.main", *words])
    _, status, usage = os.wait4(child, 0)
    return os.waitstatus_to_exitcode(status), usage.ru_maxrss * 1024 / 1e6, time.monotonic() - began


def results(folder: Path, tree: Path, size: int) -> Iterator[dict[str, Any]]:
    """One line a kind, the first without a long line."""
    dataset = tiny.dataset(folder / "dataset", tiny.task()).path
    for kind in (None, *KINDS):
        file, run = predictions(folder / "predictions.jsonl", kind, size), folder / f"run-{kind}"
        code, peak, seconds = measured(tree, ["evaluate", str(dataset), "-p", str(file), "-o", str(run)])
        report = run / "report.json"
        found = json.loads(report.read_bytes())["goldseam"]["models"] if report.exists() else None
        _, later, _ = measured(tree, ["scores", str(run)])
        yield {
            "kind": kind or "none",
            "file_mb": round(file.stat().st_size / 1e6, 1),
            "exit_code": code,
            "peak_mb": round(peak, 1),
            "seconds": round(seconds, 1),
            "scores_peak_mb": round(later, 1),
            "run_mb": round(sum(one.stat().st_size for one in run.rglob("*") if one.is_file()) / 1e6, 2),
            "outcomes": {one["model"]: one["outcomes"] for one in found} if found else None,
        }
        file.unlink()


def main() -> None:
    """Measure, and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--mb", type=int, default=300)
    parser.add_argument("--tree", type=Path, default=Path(__file__).parent.parent)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        found = []
        for one in results(Path(folder), given.tree.resolve(), given.mb << 20):
            print(one, file=sys.stderr)
            found.append(one)
    print(json.dumps({"mb": given.mb, "runs": found}))


if __name__ == "__main__":
    main()
