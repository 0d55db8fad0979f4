"""How often a gate cries wolf, and how often it lets a real drop through: ours beside two naive rules.

    python benchmarks/gate_alarms.py [--gates N] [--seed N]

Models are simulated: each task has a chance of its own of being resolved, uniform from 0 to 1; a real drop takes the
same number of points from every task, as far as it has them. Each gate compares two fresh runs. `any drop` and
`drop > 5 points` look at the two scores alone. Ours is `gate.rules.decide` itself, `max_drop = 0.05`, in both modes;
`confirmed` asks a second fresh run of the candidate before it says regression.

For each setting: `alarm` is exit code 1, `green` is exit code 0, the rest is "can't tell". Where nothing changed an
alarm is false; where the drop is real and above 5 points, green is. Histories: runs of one model that does not change,
and runs with one drop of 20 points in the middle. The last line is one JSON object.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

sys.path.insert(0, str(Path(__file__).parent.parent))

from harness.analysis.gate import rules
from harness.analysis.gate.checks import Security
from harness.analysis.gate.config import GateRules, Mode
from harness.analysis.history import Dated, trend
from harness.analysis.scoresheet import SampleScore, Scoresheet, TaskScore
from harness.core.instance import Outcome
from harness.runs.task_metadata import TaskFacts

if TYPE_CHECKING:
    from collections.abc import Sequence

DROPS = (0.0, 0.1, 0.2)
SETTINGS = ((20, 1, DROPS), (50, 1, DROPS), (50, 4, DROPS), (100, 1, DROPS), (100, 4, (0.0,)))
"""Tasks, samples a task, and the true drops; of the last, for the time it takes, the false alarms alone."""
MARGIN = 0.05
RULES = {mode: GateRules(mode=mode, max_drop=MARGIN) for mode in Mode}
RUNS, TASKS, STEP = 10, 50, 0.2


def run_of(ease: Sequence[float], samples: int, chance: random.Random, drop: float = 0.0) -> Scoresheet:
    """One run of a model."""
    tasks = {}
    for number, share in enumerate(ease):
        name = f"acme__widgets-{number}"
        rolls = [chance.random() < max(0.0, share - drop) for _ in range(samples)]
        scores = tuple(
            SampleScore(sample=index, outcome=Outcome.RESOLVED if won else Outcome.UNRESOLVED)
            for index, won in enumerate(rolls)
        )
        tasks[name] = TaskScore(instance_id=name, samples=scores, facts=TaskFacts(repo="acme/widgets"))
    return Scoresheet(
        model="m", run=Path("run"), dataset="d", dataset_version=1, grading_version=1, tasks=tasks, demands={}
    )


def ours(base: Scoresheet, candidate: Scoresheet, mode: Mode, confirm: Scoresheet | None = None) -> int:
    """The exit code."""
    now, before = (rules.Entry(sheet=sheet, name="run") for sheet in (candidate, base))
    again = rules.Entry(sheet=confirm, name="again") if confirm else None
    return rules.decide(now, before, RULES[mode], security=Security(), confirm=again).exit_code


def one_gate(tasks: int, samples: int, drop: float, chance: random.Random) -> dict[str, int]:
    """What each rule says of one comparison, as exit codes."""
    ease = [chance.random() for _ in range(tasks)]
    base, candidate = run_of(ease, samples, chance), run_of(ease, samples, chance, drop)
    lost = (base.rate.value or 0) - (candidate.rate.value or 0)
    first = ours(base, candidate, Mode.NO_REGRESSION)
    confirmed = first
    if first == 1:
        confirmed = ours(base, candidate, Mode.NO_REGRESSION, run_of(ease, samples, chance, drop))
    return {
        "any drop": int(lost > 0),
        "drop > 5 points": int(lost > MARGIN),
        "no-regression": first,
        "confirmed": confirmed,
        "no-worse-than": ours(base, candidate, Mode.NO_WORSE_THAN),
    }


def gates(count: int, chance: random.Random) -> list[dict[str, object]]:
    """For each setting and drop: how often each rule is red, and how often green."""
    rows: list[dict[str, object]] = []
    for tasks, samples, drops in SETTINGS:
        for drop in drops:
            found = [one_gate(tasks, samples, drop, chance) for _ in range(count)]
            row: dict[str, object] = {"tasks": tasks, "samples": samples, "drop": drop}
            for rule in found[0]:
                codes = [one[rule] for one in found]
                row[rule] = {"alarm": codes.count(1) / count, "green": codes.count(0) / count}
            rows.append(row)
            told = "  ".join(
                f"{rule} {value['alarm']:.1%}/{value['green']:.1%}"
                for rule, value in row.items()
                if isinstance(value, dict)
            )
            print(f"{tasks:>4} tasks × {samples}, drop {drop:.0%}: alarm/green  {told}", flush=True)
    return rows


def histories(count: int, chance: random.Random) -> dict[str, float]:
    """How often a step is shown where there is none, and found where there is one."""
    false = hit = near = 0
    for _ in range(count):
        ease = [chance.random() for _ in range(TASKS)]
        for step in (False, True):
            runs = [
                Dated(
                    sheet=run_of(ease, 1, chance, STEP if step and number >= RUNS // 2 else 0.0),
                    run=f"run-{number}",
                    started_at=f"2026-01-{number + 1:02d}",
                    facts={},
                )
                for number in range(RUNS)
            ]
            found = [one.after for one in trend(runs).steps]
            if step:
                hit += RUNS // 2 in found
                near += any(abs(one - RUNS // 2) <= 1 for one in found)
            else:
                false += bool(found)
    result = {"false": false / count, "found": hit / count, "found within one run": near / count}
    print(f"histories of {RUNS} runs × {TASKS} tasks: {result}")
    return result


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--gates", type=int, default=400, help="comparisons for each setting")
    parser.add_argument("--seed", type=int, default=20260601)
    options = parser.parse_args()
    started = time.monotonic()
    rows = gates(options.gates, random.Random(options.seed))
    steps = histories(max(20, options.gates // 4), random.Random(options.seed + 1))
    print(
        json.dumps(
            {
                "benchmark": "gate_alarms",
                "gates": options.gates,
                "seed": options.seed,
                "settings": rows,
                "histories": {"runs": RUNS, "tasks": TASKS, "drop": STEP, **steps},
                "seconds": round(time.monotonic() - started, 1),
            }
        )
    )


if __name__ == "__main__":
    main()
