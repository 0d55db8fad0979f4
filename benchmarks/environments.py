"""What each kind of evidence finds in real histories, and whether the environments made from it can collect tests.

    python benchmarks/environments.py CLONE … [--commits 6] [--build N] [--only NAME] [--skip NAME]

Of each clone, that many changes spread evenly over its history that touch code and tests. Detection runs for all of
them (a second each, nothing is built): how many trees have each kind of evidence, and how many recipes there are. With
`--build N`, N of them, taken in turn from all clones, are built for real: dependencies as of the day, in containers,
and the change's own test files are collected there, with the change in place. No code of the clones runs outside
containers. Prints, by repository and by rung, what was tried, what passed, seconds, and every failure. The last line is
one JSON object.
"""

from __future__ import annotations

import argparse
import json
import re
import statistics
import sys
import tempfile
import time
from collections import Counter
from dataclasses import asdict, dataclass, field
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

sys.path.insert(0, str(Path(__file__).parents[1]))

from harness import patch, trial
from harness.errors import GoldseamError
from harness.frameworks import pytest
from harness.instance import Budgets, TestSpec
from harness.sandbox.docker import DockerSandbox
from harness.settings import load_settings
from miner.change import Kind, Rejection
from miner.collecting import judged
from miner.environment import detect
from miner.image import BuiltImage, Collected, build_environment
from miner.sources.git import open_source
from miner.split import classify
from miner.stages import CommitTree
from miner.test_command import options_of, usable

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from miner.environment import Detection
    from miner.sources.bare import BareRepository

_KIND = re.compile(r"^[a-z_A-Z]+")
OLDEST = 2017
"""The first year looked at: interpreters of before are not built."""
FEW = 20
"""Files of a change that may be one fix."""


@dataclass(frozen=True, kw_only=True)
class Point:
    """One change of a history."""

    repo: str
    commit: str
    base: str
    year: int
    tests: tuple[str, ...]
    touched: tuple[str, ...]


@dataclass(kw_only=True)
class Row:
    """What came of building one."""

    repo: str
    commit: str
    year: int
    built: bool = False
    collected: bool = False
    tests: int = 0
    rung: str = ""
    tried: int = 0
    seconds: float = 0.0
    megabytes: float = 0.0
    failure: str = ""
    attempts: list[dict[str, object]] = field(default_factory=list)


def points(repo: BareRepository, count: int) -> list[Point]:
    """Changes that touch code and tests, spread evenly over the first parents of the history."""
    log = repo.git("log", "--first-parent", "-m", "--name-only", "--format=%x00%H %P%x01%ct", repo.tip()).stdout
    found: list[Point] = []
    for entry in log.decode("utf-8", "replace").split("\0")[1:]:
        head, _, rest = entry.partition("\x01")
        stamp, *paths = [line for line in rest.splitlines() if line]
        shas = head.split()
        tests = tuple(path for path in paths if path.endswith(".py") and classify(path) is Kind.TEST)
        tests = tuple(path for path in tests if re.search(r"(?:test_[^/]*|_test|/tests?)\.py$", path))
        code = [path for path in paths if path.endswith(".py") and classify(path) is Kind.GOLD]
        year = time.gmtime(int(stamp)).tm_year
        if len(shas) > 1 and tests and code and year >= OLDEST and len(paths) < FEW:
            one = Point(repo=repo.name, commit=shas[0], base=shas[1], year=year, tests=tests, touched=tuple(paths))
            found.append(one)
    step = max(1, len(found) // count)
    return found[step // 2 :: step][:count]


def name_of(clone: Path) -> str:
    """A name for a clone from its folders: `…/owner+name/repo` and `…/owner/name` are both understood."""
    parts = [part.removesuffix(".git") for part in clone.resolve().parts if part not in {"repo", ".git", "repo.git"}]
    owner, _, name = parts[-1].partition("+")
    return f"{owner}/{name}" if name else "/".join(parts[-2:])


def kinds(detection: Detection) -> set[str]:
    """The kinds of evidence that a detection's recipes stand on."""
    return {match[0] for recipe in detection.recipes for part in recipe.rung.split("+") if (match := _KIND.match(part))}


def build(repo: BareRepository, point: Point, sandbox: DockerSandbox, folder: Path) -> Row:
    """Build the environment of a change's base, and collect its tests there."""
    row = Row(repo=point.repo, commit=point.commit[:10], year=point.year)
    change = patch.parse(repo.diff(point.base, point.commit), trusted=True)

    def collect(image: BuiltImage) -> Collected:
        plugins = pytest.safe_plugins(image.pytest_plugins)
        test = TestSpec(
            options=(*usable(options_of(CommitTree(repo, point.commit)), plugins), "--collect-only"),
            plugins=plugins,
            pythonpath=image.pythonpath,
            modules=image.modules,
            env=dict(image.env),
        )
        spec = trial.TrialSpec(image=image.image_id, test=test, files=point.tests, budgets=Budgets(), test_patch=change)
        found = judged(trial.run(spec, sandbox))
        row.tests = max(row.tests, found.tests)
        if not found.ok:
            print(f"    not collected: {found.failure}: {' | '.join(found.output.strip().splitlines()[-3:])[:300]}")
        return found

    began = time.monotonic()
    built = build_environment(
        CommitTree(repo, point.base),
        repo=point.repo,
        base_commit=point.base,
        when=repo.commit_date(point.base),
        version_hint=repo.nearest_version(point.base),
        tar=lambda: BytesIO(repo.archive_bytes(point.base)),
        settings=load_settings().images,
        log=folder / f"{point.repo.replace('/', '+')}-{point.commit[:10]}.log",
        progress=lambda text: print(f"    {text}", flush=True),
        touched=point.touched,
        collect=collect,
    )
    row.seconds = time.monotonic() - began
    if isinstance(built, Rejection):
        row.failure = f"{built.reason}: {' '.join(built.detail.split())[-300:]}"
        return row
    row.built, row.rung, row.megabytes = True, built.rung, sum(built.layer_bytes.values()) / 1e6
    row.attempts = [asdict(attempt) for attempt in built.attempts]
    row.tried = len({attempt.rung for attempt in built.attempts})
    last = [attempt for attempt in built.attempts if attempt.step == "collect"]
    row.collected = any(attempt.ok for attempt in last)
    row.failure = "" if row.collected else f"collect: {last[-1].failure}"
    return row


def in_turn(groups: Sequence[list[tuple[BareRepository, Point]]]) -> Iterator[tuple[BareRepository, Point]]:
    """The first of each group, then the second of each, and so on."""
    for place in range(max(map(len, groups), default=0)):
        yield from (group[place] for group in groups if place < len(group))


def main() -> None:
    """Read the arguments, detect everywhere, build as much as asked for, print it all."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("clones", nargs="+", type=Path)
    parser.add_argument("--commits", type=int, default=6)
    parser.add_argument("--build", type=int, default=0)
    parser.add_argument("--minutes", type=float, default=600.0, help="start no build after this long")
    parser.add_argument("--rungs", action="store_true", help="print every recipe of every tree")
    parser.add_argument("--logs", type=Path, help="keep build logs here")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        cache = load_settings().images.cache_dir / "sources"
        opened = [open_source(str(clone), cache=cache, name=name_of(clone)) for clone in asked.clones]
        groups = [[(repo, point) for point in points(repo, asked.commits)] for repo in opened]
        found = detection_table(groups, rungs=asked.rungs)
        rows: list[Row] = []
        if asked.build:
            until = time.monotonic() + 60 * asked.minutes
            with DockerSandbox() as sandbox:
                for repo, point in list(in_turn(groups))[: asked.build]:
                    if time.monotonic() > until:
                        print(f"{asked.minutes:g} minutes are over")
                        break
                    print(f"{point.repo} {point.commit[:10]} of {point.year}", flush=True)
                    try:
                        rows.append(build(repo, point, sandbox, asked.logs or Path(scratch)))
                    except GoldseamError as error:
                        rows.append(
                            Row(repo=point.repo, commit=point.commit[:10], year=point.year, failure=error.message[:300])
                        )
                    print(f"    {summary(rows[-1])}", flush=True)
            built_table(rows)
    print(json.dumps({"detection": found, "built": [asdict(row) for row in rows]}))


def detection_table(groups: Sequence[list[tuple[BareRepository, Point]]], *, rungs: bool) -> dict[str, object]:
    """Print, by repository, how many of its trees have each kind of evidence."""
    total: Counter[str] = Counter()
    trees, took = 0, []
    for group in groups:
        counted: Counter[str] = Counter()
        recipes: list[int] = []
        notes: list[str] = []
        for repo, point in group:
            began = time.monotonic()
            detection = detect(CommitTree(repo, point.base), point.touched)
            took.append(time.monotonic() - began)
            counted.update(kinds(detection))
            counted.update({"pythons": bool(detection.tested), "apt": any(one.apt for one in detection.recipes)})
            recipes.append(len(detection.recipes))
            notes += detection.notes
            if rungs:
                show(point, detection)
        trees += len(group)
        total.update(counted)
        if group:
            years = f"{group[-1][1].year}-{group[0][1].year}"
            words = ", ".join(f"{kind} {count}" for kind, count in counted.most_common() if count)
            print(f"{group[0][1].repo} ({len(group)} trees, {years}): {words}; {statistics.mean(recipes):.1f} recipes")
            for note in sorted(set(notes)):
                print(f"    note: {note}")
    print(f"{trees} trees in all: " + ", ".join(f"{kind} {count}" for kind, count in total.most_common() if count))
    print(f"detection took {statistics.median(took):.2f} s a tree (median), {max(took):.2f} s at most")
    return {"trees": trees, "kinds": dict(total), "median_seconds": round(statistics.median(took), 3)}


def show(point: Point, detection: Detection) -> None:
    """Print what one tree's detection came to."""
    root = detection.recipes[0].root
    print(f"  {point.commit[:10]} of {point.year}{f' in {root}' if root else ''}: {json.dumps(detection.declared)}")
    for recipe in detection.recipes:
        print(f"    {recipe.rung}: {json.dumps(recipe.said())[:600]}")


def summary(row: Row) -> str:
    """One build in a line."""
    end = f"collected {row.tests} tests" if row.collected else row.failure[:300]
    return f"{row.seconds:.0f} s, {row.tried} rungs, {row.rung or 'no image'}: {end}"


def built_table(rows: Sequence[Row]) -> None:
    """Print how many were built and collected, by the rung that won and by year."""
    if not rows:
        return
    good = [row for row in rows if row.collected]
    times = statistics.median(row.seconds for row in rows)
    print(f"{len(rows)} tried, {sum(row.built for row in rows)} built, {len(good)} collected; median {times:.0f} s")
    first = sum(row.tried == 1 for row in good)
    print(f"{first} of the {len(good)} collected with the first recipe, {len(good) - first} after others or mended")
    steps = Counter((attempt["step"], attempt["ok"]) for row in rows for attempt in row.attempts)
    print("steps: " + ", ".join(f"{step} {'ok' if ok else 'failed'} {count}" for (step, ok), count in steps.items()))
    for row in rows:
        if not row.collected:
            print(f"  {row.repo} {row.commit} of {row.year}: {row.failure}")


if __name__ == "__main__":
    main()
