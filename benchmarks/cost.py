"""What a million pull requests mined and a hundred thousand evaluations take: the arithmetic, with figures to change.

    python benchmarks/cost.py [--pulls N] [--evaluations N] [--cores N] [--core-hour-usd X] …

Each figure is an option; `--help` says where its example was measured. Nothing is measured here. Prices are examples:
put your own. The last line is one JSON object.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import dataclass, field, fields

_HOUR = 3600


def _figure(default: float, told: str) -> float:
    found: float = field(default=default, metadata={"help": told})
    return found


@dataclass(frozen=True, kw_only=True)
class Figures:
    """What the arithmetic starts from."""

    pulls: float = _figure(1_000_000, "merged changes looked at")
    evaluations: float = _figure(100_000, "predictions scored")
    cores: float = _figure(64, "processors that work at once, on one machine or many")
    core_hour_usd: float = _figure(0.05, "price of a processor for an hour: an example")
    disk_gb_month_usd: float = _figure(0.10, "price of a gigabyte of disk for a month: an example")
    look_ms: float = _figure(2.4, "processor time to look at a change: five whole histories, `mine --dry-run`")
    candidate_share: float = _figure(0.072, "of changes that are candidates: 616 of 8,550, the same histories")
    task_core_seconds: float = _figure(158, "image, proof, twins and strength of a candidate: 61 tasks, two at a time")
    proved_share: float = _figure(0.87, "of candidates that are proved: 61 of 70")
    requests_per_thousand: float = _figure(31, "API requests for a thousand pull requests: github_requests.py")
    requests_per_hour: float = _figure(5_000, "what GitHub allows a token")
    further_mb: float = _figure(10.6, "disk of a further task: disk.py, the median of five repositories")
    alone_mb: float = _figure(723, "disk of a task with an image of its own: disk.py")
    evaluation_core_seconds: float = _figure(1.4, "containers of an evaluation: small suites of humanize and click")
    driver_ms: float = _figure(6.5, "goldseam's own processor time for an evaluation: scale.py")
    run_kib: float = _figure(80, "run folder, for each evaluation: the same suites")


def mining(given: Figures) -> dict[str, float]:
    """Hours, disk and money of a mine."""
    candidates = given.pulls * given.candidate_share
    tasks = candidates * given.proved_share
    core_hours = (given.pulls * given.look_ms / 1000 + candidates * given.task_core_seconds) / _HOUR
    disk_gb = tasks * given.further_mb / 1000
    return {
        "candidates": candidates,
        "tasks": tasks,
        "core_hours": core_hours,
        "hours": core_hours / given.cores,
        "api_hours": given.pulls / 1000 * given.requests_per_thousand / given.requests_per_hour,
        "usd": core_hours * given.core_hour_usd,
        "disk_gb": disk_gb,
        "disk_usd_a_month": disk_gb * given.disk_gb_month_usd,
        "disk_alone_gb": tasks * given.alone_mb / 1000,
    }


def evaluating(given: Figures) -> dict[str, float]:
    """Hours, disk and money of a run; the driver works beside the containers, on one processor."""
    core_hours = given.evaluations * given.evaluation_core_seconds / _HOUR
    driver_hours = given.evaluations * given.driver_ms / 1000 / _HOUR
    return {
        "core_hours": core_hours + driver_hours,
        "hours": max(core_hours / given.cores, driver_hours),
        "driver_hours": driver_hours,
        "usd": (core_hours + driver_hours) * given.core_hour_usd,
        "disk_gb": given.evaluations * given.run_kib * 1024 / 1e9,
    }


def main() -> None:
    """Print what it comes to."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for one in fields(Figures):
        told = f"{one.metadata['help']} (default {one.default})"
        parser.add_argument(f"--{one.name.replace('_', '-')}", type=float, default=one.default, help=told)
    given = Figures(**vars(parser.parse_args()))
    found = {"mining": mining(given), "evaluating": evaluating(given)}
    for name, figures in found.items():
        print(name)
        for key, value in figures.items():
            print(f"  {key:18}{value:>14,.1f}")
    print(json.dumps({name: {key: round(value, 2) for key, value in one.items()} for name, one in found.items()}))


if __name__ == "__main__":
    main()
