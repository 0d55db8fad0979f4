"""What proofs cost: container seconds by stage, as a multiple of one plain run of the same tests.

    python benchmarks/proof_price.py DATASET… [--suite 60] [--candidates 100] [--processors 16]

Reads what each proved task says of its own proof (`evidence.price` of tests.json) and prints medians by repository:
runs that each state is to have (`proof`), further runs (`causes`), taking expectations out (`stripping`), wrong patches
(`strength`). The last line is one JSON object, with the hours that proofs of so many candidates may take by their
budget, images not counted.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

from harness.dataset.folder import open_dataset
from miner.proof.runs import Budget

STAGES = ("proof", "causes", "stripping", "strength")


def ratios(price: dict[str, Any]) -> dict[str, float]:
    """Container seconds by stage and in all, as a multiple of a plain run."""
    plain = price["plain_seconds"] or 1.0
    of_stage = {stage: price["seconds"].get(stage, 0.0) / plain for stage in STAGES}
    spent = sum(price["seconds"].values())
    return {**of_stage, "all": spent / plain, "of the budget": spent / price["budget_seconds"]}


def medians(rows: list[dict[str, float]]) -> dict[str, float]:
    """Of each ratio."""
    return {name: round(statistics.median(row[name] for row in rows), 1) for name in rows[0]}


def main() -> None:
    """Read datasets and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("datasets", nargs="+", type=Path)
    parser.add_argument("--suite", type=float, default=60.0, help="seconds of a plain run")
    parser.add_argument("--candidates", type=int, default=100)
    parser.add_argument("--processors", type=int, default=16)
    asked = parser.parse_args()
    by_repo: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for folder in asked.datasets:
        for task in open_dataset(folder).tasks():
            by_repo[task.instance.repo].append(task.hidden.evidence["price"])
    print(f"| repository | tasks | plain run, s | {' | '.join(STAGES)} | all | of the budget | not all done |")
    print("|---|" + "---|" * (len(STAGES) + 5))
    every = []
    for repo, prices in sorted(by_repo.items()):
        rows = [ratios(price) for price in prices]
        every += rows
        plain = statistics.median(price["plain_seconds"] for price in prices)
        cells = " | ".join(map(str, medians(rows).values()))
        print(f"| {repo} | {len(rows)} | {plain:.1f} | {cells} | {sum(bool(price['given_up']) for price in prices)} |")
    if not every:
        sys.exit("no proved task in these datasets")
    budget = Budget()
    hours = asked.candidates * (budget.plain_runs * asked.suite + budget.seconds) / asked.processors / 3600
    print(json.dumps({"tasks": len(every), "median_ratio": medians(every), "hours_by_budget": round(hours, 2)}))


if __name__ == "__main__":
    main()
