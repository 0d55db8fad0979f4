"""How often the intervals cover the truth, how often the tests cry wolf, and how much they see: by simulation.

    python benchmarks/intervals.py [--repeats N] [--seed N]

Tasks have chances of their own (drawn from a beta distribution, mostly near 0 or 1, as with real models), samples are
coin flips with them. Each figure is a share of simulated datasets; the truth is the mean over all tasks there could be.
"Ours" are the functions of `harness.stats`, called as the commands call them. The last line is one JSON object.
"""

from __future__ import annotations

import argparse
import json
import math
import statistics
import sys
import time
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parent.parent))

from harness import stats
from harness.stats.intervals import t_quantile

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Sequence

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

Z = stats.Z_95
TASKS = (10, 20, 50, 100)
SAMPLES = (1, 4, 8)
RATES = (0.1, 0.3, 0.5, 0.8)
BOOTSTRAP_DRAWS = 1_000
CHUNK = 1_000
MANY = 400_000
LEVEL = 0.05
ENOUGH_REPOSITORIES = 10


def covered(intervals: Sequence[stats.Interval | None], truth: float) -> float:
    """The share of intervals that hold the truth."""
    return statistics.fmean(found is not None and found.holds(truth) for found in intervals)


def chances(random: np.random.Generator, rate: float, shape: tuple[int, ...], spread: float = 1.0) -> Floats:
    """Chances of tasks with this mean."""
    return random.beta(rate * spread, (1 - rate) * spread, size=shape)


def bootstrap_interval(
    values: Sequence[float],
    *,
    clusters: Sequence[Hashable] | None = None,
    confidence: float = 0.95,
    draws: int = 10_000,
    seed: int = 0,
) -> stats.Interval | None:
    """The expanded percentile interval of a mean: tasks, or whole clusters of them, are drawn with replacement.

    None without a value. The percentiles are those that make the interval as wide as Student's t would, which the plain
    ones are not for few tasks. Equal values give an interval without width, which is no evidence that there is none.

    Source: B. Efron, "Bootstrap methods: another look at the jackknife", Annals of Statistics 7 (1979), 1-26; whole
    clusters: A. C. Davison and D. V. Hinkley, "Bootstrap methods and their application" (1997), section 3.8; expanded
    percentiles: T. C. Hesterberg, "What teachers should know about the bootstrap", The American Statistician 69
    (2015), 371-386, section 5.3.

    Raises:
        ValueError: not one cluster a value, or no draw.

    """
    if not values:
        return None
    if draws < 1:
        raise ValueError("expected at least one draw")
    sums: dict[Hashable, float] = defaultdict(float)
    sizes: dict[Hashable, int] = defaultdict(int)
    for value, cluster in zip(values, range(len(values)) if clusters is None else clusters, strict=True):
        sums[cluster] += value
        sizes[cluster] += 1
    units = len(sums)
    if units == 1:
        return stats.Interval(low=min(0.0, *values), high=max(1.0, *values))
    sum_of, size_of = np.array(list(sums.values())), np.array(list(sizes.values()), dtype=float)
    chance = np.random.default_rng(seed)
    means: list[float] = []
    while len(means) < draws:
        picked = chance.integers(units, size=(min(CHUNK, draws - len(means)), units))
        means.extend((sum_of[picked].sum(axis=1) / size_of[picked].sum(axis=1)).tolist())
    tail = math.erfc(math.sqrt(units / (units - 1) / 2) * t_quantile(confidence, units - 1)) / 2
    low, high = np.quantile(np.array(means), [tail, 1 - tail])
    return stats.Interval(low=float(low), high=float(high))


def clt(values: Floats) -> list[stats.Interval]:
    """The usual mean ± 1.96 standard errors."""
    middle = values.mean(axis=1)
    half = Z * values.std(axis=1, ddof=1) / math.sqrt(values.shape[1])
    return [stats.Interval(low=m - h, high=m + h) for m, h in zip(middle.tolist(), half.tolist(), strict=True)]


def rates(random: np.random.Generator, repeats: int) -> list[dict[str, float]]:
    """Intervals of the rate: ours, Wilson's on all samples as if they were independent, and the CLT's."""
    print("\nRate: coverage of 95% intervals\n\ntasks  samples  rate   ours  pooled Wilson    CLT")
    found = []
    for tasks in TASKS:
        for samples in SAMPLES:
            for rate in RATES:
                counts = random.binomial(samples, chances(random, rate, (repeats, tasks)))
                shares = counts / samples
                row = {
                    "tasks": tasks,
                    "samples": samples,
                    "rate": rate,
                    "ours": covered([stats.mean_interval(s, trials=tasks * samples) for s in shares.tolist()], rate),
                    "pooled": covered([stats.wilson(int(c), tasks * samples) for c in counts.sum(axis=1)], rate),
                    "clt": covered(clt(shares), rate),
                }
                found.append(row)
                print(f"{tasks:5}  {samples:7}  {rate:4}  {row['ours']:5.1%}  {row['pooled']:13.1%}  {row['clt']:5.1%}")
    return found


def tries(random: np.random.Generator, repeats: int) -> list[dict[str, Any]]:
    """Intervals of pass@k and pass^k: ours, and the bootstrap over tasks."""
    print("\npass@3 and pass^3 of 8 samples: coverage\n\ntasks  rate  of        ours  bootstrap")
    found: list[dict[str, Any]] = []
    for tasks in (20, 50, 100):
        for rate in (0.3, 0.5):
            p = chances(random, rate, (repeats, tasks), 2.0)
            counts = random.binomial(8, p)
            many = chances(random, rate, (10 * MANY,), 2.0)
            for name, of, truth in (
                ("pass@3", stats.pass_at_k, float(1 - ((1 - many) ** 3).mean())),
                ("pass^3", stats.pass_hat_k, float((many**3).mean())),
            ):
                table = [of(8, c, 3) for c in range(9)]
                values = [[table[c] for c in row] for row in counts.tolist()]
                row = {
                    "tasks": tasks,
                    "rate": rate,
                    "of": name,
                    "ours": covered([stats.mean_interval(v, trials=8 * tasks) for v in values], truth),
                    "bootstrap": covered(
                        [bootstrap_interval(v, draws=BOOTSTRAP_DRAWS, seed=i) for i, v in enumerate(values)],
                        truth,
                    ),
                }
                found.append(row)
                print(f"{tasks:5}  {rate:4}  {name}  {row['ours']:7.1%}  {row['bootstrap']:9.1%}")
    return found


def repositories(random: np.random.Generator, repeats: int) -> list[dict[str, float]]:
    """Tasks that share repositories, the truth being that of all repositories there could be."""
    print("\nRepositories of unequal size: coverage\n\nrepositories  tasks  by repository  by task")
    found = []
    for groups in (5, 10, 20, 40):
        sizes = [2 + 3 * (number % 5) for number in range(groups)]
        labels = [number for number, size in enumerate(sizes) for _ in range(size)]
        repo = chances(random, 0.4, (repeats, groups), 3.0)
        p = np.clip(random.beta(2 * repo[:, labels] + 0.01, 2 * (1 - repo[:, labels]) + 0.01), 0, 1)
        shares = (random.binomial(4, p) / 4).tolist()
        truth = 0.4
        row = {
            "repositories": groups,
            "tasks": len(labels),
            "by_repository": covered(
                [stats.mean_interval(s, trials=4 * len(s), clusters=labels) for s in shares], truth
            ),
            "by_task": covered([stats.mean_interval(s, trials=4 * len(s)) for s in shares], truth),
        }
        found.append(row)
        print(f"{groups:12}  {len(labels):5}  {row['by_repository']:13.1%}  {row['by_task']:7.1%}")
    return found


def pairs(
    random: np.random.Generator, repeats: int, *, tasks: int, samples: int, rate: float, change: float, alike: float
) -> Floats:
    """Differences of two models: on a share of the tasks they are alike, on the others their chances have no relation.

    `change` is the mean by which the candidate is better.
    """
    base = chances(random, rate, (repeats, tasks))
    same = random.random((repeats, tasks)) < alike
    other = np.where(same, base, chances(random, rate, (repeats, tasks)))
    other += change * (1 - other) / (1 - rate)
    return (random.binomial(samples, other) - random.binomial(samples, base)) / samples


def differences(random: np.random.Generator, repeats: int) -> list[dict[str, float]]:
    """Intervals of a difference: ours, the bootstrap over tasks, and two models taken as unrelated."""
    print("\nDifference of two models: coverage, and mean width in points\n")
    print("tasks  samples  rate  change          ours     bootstrap")
    found = []
    for tasks in TASKS:
        for samples in (1, 4):
            for rate, change in ((0.5, 0.0), (0.2, 0.0), (0.5, 0.15), (0.8, 0.1), (0.95, 0.0)):
                rows = pairs(
                    random, repeats, tasks=tasks, samples=samples, rate=rate, change=change, alike=0.6
                ).tolist()
                ours = [stats.difference_interval(row, samples=samples) for row in rows]
                boot = [bootstrap_interval(r, draws=BOOTSTRAP_DRAWS, seed=i) for i, r in enumerate(rows)]
                row = {
                    "tasks": tasks,
                    "samples": samples,
                    "rate": rate,
                    "change": change,
                    "ours": covered(ours, change),
                    "bootstrap": covered(boot, change),
                    "width": width(ours),
                    "bootstrap_width": width(boot),
                }
                found.append(row)
                print(
                    f"{tasks:5}  {samples:7}  {rate:4}  {change:6}  {row['ours']:6.1%} ({100 * row['width']:3.0f})"
                    f"  {row['bootstrap']:6.1%} ({100 * row['bootstrap_width']:3.0f})"
                )
    return found


def width(intervals: Sequence[stats.Interval | None]) -> float:
    return statistics.fmean(found.high - found.low for found in intervals if found)


def alarms(random: np.random.Generator, repeats: int) -> list[dict[str, float]]:
    """The same model twice: how often each rule says that it got worse, or changed."""
    print("\nThe same model twice: how often a change is claimed\n")
    print("tasks  samples  rate  test, two-sided  test, worse  any drop  drop > 5 points")
    found = []
    for tasks in (20, 50, 100):
        for samples in (1, 4):
            for rate in (0.3, 0.6):
                p = chances(random, rate, (repeats, tasks))
                d = (random.binomial(samples, p) - random.binomial(samples, p)) / samples
                rows = d.tolist()
                row = {
                    "tasks": tasks,
                    "samples": samples,
                    "rate": rate,
                    "two_sided": below(rows, stats.Alternative.TWO_SIDED),
                    "worse": below(rows, stats.Alternative.LESS),
                    "any_drop": float((d.mean(axis=1) < 0).mean()),
                    "drop_over_5": float((d.mean(axis=1) < -LEVEL).mean()),
                }
                found.append(row)
                print(
                    f"{tasks:5}  {samples:7}  {rate:4}  {row['two_sided']:15.1%}  {row['worse']:11.1%}  "
                    f"{row['any_drop']:8.1%}  {row['drop_over_5']:15.1%}"
                )
    return found


def below(rows: Sequence[Sequence[float]], alternative: stats.Alternative) -> float:
    return statistics.fmean(stats.sign_flip(row, alternative=alternative).p < LEVEL for row in rows)


def power(random: np.random.Generator, repeats: int) -> list[dict[str, float]]:
    """A true difference of the size that the formula calls detectable: how often it is found; it should be 80%."""
    print("\nA true difference of the minimum detectable effect: how often it is found\n")
    print("tasks  samples  effect (points)  found")
    found = []
    for tasks, samples in ((20, 1), (50, 1), (100, 1), (20, 4), (50, 4), (100, 4), (400, 3)):
        row = {"tasks": tasks, "samples": samples, **_power(random, repeats, tasks, samples)}
        found.append(row)
        print(f"{tasks:5}  {samples:7}  {100 * row['effect']:15.1f}  {row['found']:5.1%}")
    return found


def _power(random: np.random.Generator, repeats: int, tasks: int, samples: int) -> dict[str, float]:
    rate, alike = 0.4, 0.6

    def draw(change: float, rows: int, of: int) -> Floats:
        return pairs(random, rows, tasks=tasks, samples=of, rate=rate, change=change, alike=alike)

    effect = 0.1
    for _ in range(8):  # what varies depends on the effect, so the two are found together
        seen = draw(effect, MANY // tasks, samples)
        if samples == 1:
            effect = stats.mcnemar_detectable(tasks=tasks, flipping=float((seen != 0).mean())) or 1.0
            continue
        between = float(draw(effect, MANY // tasks, 1_000).var())
        within = max(0.0, (float(seen.var()) - between) * samples)
        found = stats.minimum_detectable_effect(tasks=tasks, samples=samples, between=between, within=within)
        effect = found or 1.0
    return {"effect": effect, "found": below(draw(effect, repeats, samples).tolist(), stats.Alternative.TWO_SIDED)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=2000, help="simulated datasets for each figure")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    started = time.monotonic()
    random = np.random.default_rng(options.seed)
    sections: dict[str, Callable[[np.random.Generator, int], list[dict[str, Any]]]] = {
        "rates": rates,
        "tries": tries,
        "repositories": repositories,
        "differences": differences,
        "alarms": alarms,
        "power": power,
    }
    found = {name: section(random, options.repeats) for name, section in sections.items()}
    print(
        json.dumps(
            {
                "repeats": options.repeats,
                "rate_ours": spread(found["rates"], "ours"),
                "rate_pooled_wilson": spread([row for row in found["rates"] if row["samples"] > 1], "pooled"),
                "rate_clt": spread(found["rates"], "clt"),
                "tries_ours": spread(found["tries"], "ours"),
                "tries_bootstrap": spread(found["tries"], "bootstrap"),
                "repositories_10_up_ours": spread(
                    [row for row in found["repositories"] if row["repositories"] >= ENOUGH_REPOSITORIES],
                    "by_repository",
                ),
                "repositories_by_task": spread(found["repositories"], "by_task"),
                "difference_ours": spread(found["differences"], "ours"),
                "difference_bootstrap": spread(found["differences"], "bootstrap"),
                "false_alarms_two_sided": spread(found["alarms"], "two_sided"),
                "false_alarms_worse": spread(found["alarms"], "worse"),
                "false_alarms_any_drop": spread(found["alarms"], "any_drop"),
                "power_at_smallest_visible": spread(found["power"], "found"),
                "seconds": round(time.monotonic() - started, 1),
            }
        )
    )


def spread(rows: Sequence[dict[str, float]], name: str) -> list[float]:
    """The least and the most."""
    return [round(min(row[name] for row in rows), 3), round(max(row[name] for row in rows), 3)]


if __name__ == "__main__":
    main()
