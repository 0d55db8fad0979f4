"""What `goldseam mine` makes of repositories that nobody here has looked at.

    python benchmarks/blind_trial.py draw NAMES --seed S [--count 12]
    python benchmarks/blind_trial.py run CLONE… -o FOLDER [--each 10] [--jobs 2] [--minutes 20]

`draw` prints the order in which the repositories of a list are taken, by a seed that is written down before.
One that can't be had is skipped for the next one. `run` mines the newest candidates of each clone once, as a
user would, and prints a table: proved, and every reason why not. After `--minutes` a mine is interrupted, and
the table says so. What was mined is not mined again, so that a trial that was stopped goes on without a
second try. The last line is one JSON object.

The figures count as blind only where the code was frozen before the draw and all repositories drawn are in
the table.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import time
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.environments import name_of
from harness.core import process

_BEFORE = frozenset({"history", "recognition"})
"""Stages whose changes are no candidates."""
_TIMED_OUT = 124


def draw(names: Path, seed: str, count: int) -> list[str]:
    """The first repositories of a list in the order of a seed."""
    order = sorted({line.strip() for line in names.read_text(encoding="utf-8").splitlines() if line.strip()})
    random.Random(seed).shuffle(order)
    return order[:count]


def mine(clone: Path, dataset: Path, *, each: int, jobs: int, minutes: float) -> None:
    """Mine a clone once, and keep beside the dataset what was printed and how it ended."""
    began = time.monotonic()
    command = ("timeout", "--signal=INT", f"{minutes}m", sys.executable, "-m", "miner.cli.main", "mine", str(clone))
    options = ("--name", name_of(clone), "-o", str(dataset), "--limit", str(each), "-j", str(jobs))
    ended = process.run((*command, *options), check=False)
    dataset.with_suffix(".log").write_bytes(ended.stdout + ended.stderr)
    summary = {"code": ended.returncode, "seconds": round(time.monotonic() - began)}
    dataset.with_suffix(".json").write_text(json.dumps(summary), encoding="utf-8")


def outcomes(dataset: Path) -> Counter[str]:
    """How the candidates of a dataset ended: `proved`, or the funnel's reason."""
    funnel = dataset / "funnel.jsonl"
    if not funnel.exists():
        return Counter()
    lines = (json.loads(line) for line in funnel.read_text(encoding="utf-8").splitlines())
    last = {line["change"]: line for line in lines if "change" in line}
    return Counter(
        "proved" if line["stage"] == "accepted" else str(line["reason"])
        for line in last.values()
        if line["stage"] not in _BEFORE
    )


def main() -> None:
    """Draw, or mine and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(dest="command", required=True)
    lot = commands.add_parser("draw")
    lot.add_argument("names", type=Path)
    lot.add_argument("--seed", required=True)
    lot.add_argument("--count", type=int, default=12)
    trial = commands.add_parser("run")
    trial.add_argument("clones", nargs="+", type=Path)
    trial.add_argument("-o", "--output", required=True, type=Path)
    trial.add_argument("--each", type=int, default=10)
    trial.add_argument("--jobs", type=int, default=2)
    trial.add_argument("--minutes", type=float, default=20)
    chosen = parser.parse_args()
    if chosen.command == "draw":
        print("\n".join(draw(chosen.names, chosen.seed, chosen.count)))
        return
    chosen.output.mkdir(parents=True, exist_ok=True)
    by_repository = {}
    for clone in chosen.clones:
        name = name_of(clone)
        dataset = chosen.output / name.replace("/", "+")
        if not dataset.with_suffix(".json").exists():
            mine(clone, dataset, each=chosen.each, jobs=chosen.jobs, minutes=chosen.minutes)
        ended = json.loads(dataset.with_suffix(".json").read_text(encoding="utf-8"))
        by_repository[name] = counts = outcomes(dataset)
        reasons = ", ".join(f"{count} {reason}" for reason, count in counts.most_common() if reason != "proved")
        time_taken = f"{ended['seconds']} s" + (", interrupted" if ended["code"] == _TIMED_OUT else "")
        print(f"| {name} | {counts['proved']} of {counts.total()} | {reasons or '-'} | {time_taken} |", flush=True)
    total: Counter[str] = sum(by_repository.values(), Counter())
    print(json.dumps({"candidates": total.total(), "outcomes": dict(total), "repositories": by_repository}))


if __name__ == "__main__":
    main()
