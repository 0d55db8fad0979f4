"""A judge that nearly always says yes, held against the tests: what `goldseam judge` then shows.

    goldseam demo -o demo
    python benchmarks/judge.py demo/dataset demo/runs/careful demo/runs/reckless

The judge is scripted: by the SHA-256 of a patch, one in eight answers can't be read, one in eight says "incorrect", the
others "correct". So the figures say nothing about any model; they show what the command tells of such a judge. The
tests' verdicts and container seconds are those of the runs. The last line is one JSON object.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import io
import json
import os
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from harness.cli.program import run_app
from miner.cli.main import app
from tests.model_server import Asked, ModelServer, Say

JUDGE = "yes-sayer-2026-01-01"


def yes_sayer(asked: Asked) -> Say:
    """What the judge says of a patch."""
    patch = asked.text.split("] patch\n", 1)[1].rsplit("\n[", 1)[0]
    draw = int(hashlib.sha256(patch.encode()).hexdigest(), 16) % 8
    if draw == 0:
        return Say(text="This looks like a sensible fix to me.")
    verdict = "incorrect" if draw == 1 else "correct"
    return Say(text=json.dumps({"verdict": verdict, "reason": "it does what the issue asks for"}))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("dataset", type=Path)
    parser.add_argument("runs", type=Path, nargs="+")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, ModelServer({JUDGE: yes_sayer}) as server:
        os.environ["GOLDSEAM_CACHE_DIR"] = folder
        out = str(Path(folder) / "judgements.jsonl")
        runs = [str(run) for run in asked.runs]
        ask = ["--dataset", str(asked.dataset), "--model", JUDGE, "--base-url", server.base_url]
        with contextlib.redirect_stderr(io.StringIO()):
            code = run_app(app, ["judge", *runs, *ask, "-o", out, "--assume-price", "1/5"])
        if code or server.problems:
            raise SystemExit(f"the judge failed: exit code {code}, {server.problems}")
        document = io.StringIO()
        with contextlib.redirect_stdout(document):
            run_app(app, ["judge", *runs, "-o", out, "--json"])
    found = json.loads(document.getvalue())["judges"][0]
    matrix = found["all"]["matrix"]
    print(
        json.dumps(
            {
                "benchmark": "judge",
                **{name: matrix[name] for name in ("right_passed", "right_rejected", "right_unreadable")},
                **{name: matrix[name] for name in ("wrong_passed", "wrong_rejected", "wrong_unreadable", "kappa")},
                "flipped": found["flipped"],
                "pairs": len(found["pairs"]),
            }
        )
    )


if __name__ == "__main__":
    main()
