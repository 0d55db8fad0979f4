"""How fast a history is scanned to candidates, beside PyDriller and SWE-bench's approach on the same clone.

    python benchmarks/scan.py CLONE [--name owner/name] [--sample 300] [--no-pydriller]

What is compared is one and the same work: all changes of the clone's default branch, each with its message, paths and
what they hold. goldseam does all of it: bases, files, signals and the one reason against each. PyDriller (from PyPI, in
an environment of its own under the cache folder) knows commits only and can't diff a merge, so that whoever wants the
changes has to take it through every commit; it is measured on commits spread evenly over that history, as old and new
ones cost differently, and reads of each its message, paths and diff. SWE-bench's approach takes the diff of a change as
text (from git here, which is quicker than from the web), cuts it with unidiff and sorts it by substring; it is measured
on changes spread evenly as well. From both speeds follows how long the whole history takes, and from that changes a
second. Seconds are of the wall; `cpu` are processor seconds with those of all children, which other work on the machine
disturbs less. Memory is the peak of the scanning process and of its largest child, MiB.
The last line is one JSON object.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import resource
import sys
import tempfile
import time
import venv
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

sys.path.insert(0, str(Path(__file__).parents[1]))

from unidiff import PatchSet  # type: ignore[attr-defined]
from unidiff.errors import UnidiffParseError

from harness.config.settings import load_settings
from harness.core.process import run
from miner.candidates.scan import scan
from miner.sources.change import Rejection
from miner.sources.git import open_source

if TYPE_CHECKING:
    from miner.sources.bare import BareRepository

FACTOR = 10
MOST_MIB = 300
_PYDRILLER = """
import resource, sys, time
from pydriller import Git
git, shas = Git(sys.argv[1]), sys.stdin.read().split()
began = time.perf_counter()
for sha in shas:
    commit = git.get_commit(sha)
    files = [(file.new_path, file.diff) for file in commit.modified_files] if len(commit.parents) == 1 else []
    text = commit.msg
seconds = time.perf_counter() - began
used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
print(seconds, sum(one.ru_utime + one.ru_stime for one in used))
"""


@dataclass(frozen=True, kw_only=True)
class Speed:
    """Seconds for one commit or change."""

    wall: float
    cpu: float


def cpu_seconds() -> float:
    """Processor time of this process and its finished children."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


def ours(clone: str, name: str | None) -> dict[str, float]:
    """Changes, seconds and peak memory of a whole scan; the bare copy is made before."""
    with open_source(clone, cache=load_settings().images.cache_dir / "sources", name=name) as repo:
        reasons: Counter[str] = Counter()
        began, used = time.perf_counter(), cpu_seconds()
        for looked in scan(repo):
            reasons[looked.outcome.reason if isinstance(looked.outcome, Rejection) else "candidate"] += 1
        seconds, cpu = time.perf_counter() - began, cpu_seconds() - used
        commits = int(repo.git("rev-list", "--count", repo.tip()).stdout)
    git = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    own = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {"commits": commits, "changes": reasons.total(), "candidates": reasons["candidate"], "seconds": seconds,
            "cpu": cpu, "mib": own, "mib_of_git": git}  # fmt: skip


def spread(repo: BareRepository, sample: int, *words: str) -> list[str]:
    """Commits of a history, evenly spread over it."""
    shas = repo.git("rev-list", *words, repo.tip()).stdout.decode().split()
    step = max(1, len(shas) // sample)
    return shas[step // 2 :: step]


def pydriller(clone: str, name: str | None, sample: int) -> Speed:
    """What PyDriller needs for a commit."""
    folder = load_settings().images.cache_dir / "benchmarks" / "pydriller"
    python = folder / "bin" / "python"
    if not python.exists():
        venv.create(folder, with_pip=True)
        run([python, "-m", "pip", "install", "--quiet", "pydriller"])
    with open_source(clone, cache=load_settings().images.cache_dir / "sources", name=name) as repo, \
            tempfile.TemporaryDirectory() as scratch:  # fmt: skip
        run(["git", "clone", "--quiet", "--shared", "--no-checkout", repo.path, f"{scratch}/clone"], env=repo.env)
        shas = spread(repo, sample)
        told = run([python, "-c", _PYDRILLER, f"{scratch}/clone"], input="\n".join(shas).encode()).stdout.split()
    return Speed(wall=float(told[0]) / len(shas), cpu=float(told[1]) / len(shas))


def swebench(clone: str, name: str | None, sample: int) -> Speed:
    """What SWE-bench's approach needs for a change."""
    with open_source(clone, cache=load_settings().images.cache_dir / "sources", name=name) as repo:
        shas = spread(repo, sample, "--first-parent", "--min-parents=1")
        began, used = time.perf_counter(), cpu_seconds()
        for sha in shas:
            text = run(["git", f"--git-dir={repo.path}", "diff", f"{sha}^", sha], env=repo.env).stdout
            try:
                for file in PatchSet(text.decode("utf-8", "replace")):
                    any(word in file.path for word in ("test", "tests", "e2e", "testing"))
            except UnidiffParseError:
                pass
            re.findall(r"(\w+)\s+\#(\d+)", repo.git("log", "-1", "--format=%B", sha).stdout.decode("utf-8", "replace"))
        return Speed(wall=(time.perf_counter() - began) / len(shas), cpu=(cpu_seconds() - used) / len(shas))


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("clone")
    parser.add_argument("--name")
    parser.add_argument("--sample", type=int, default=300)
    parser.add_argument("--no-pydriller", action="store_true")
    given = parser.parse_args()
    clone = os.path.realpath(given.clone)
    others = {"SWE-bench's approach": swebench(clone, given.name, given.sample)}
    if not given.no_pydriller:
        others["PyDriller"] = pydriller(clone, given.name, given.sample)
    mine = ours(clone, given.name)
    changes = mine["changes"]
    print(f"{clone}: {mine['commits']:.0f} commits, {changes:.0f} changes, {mine['candidates']:.0f} candidates")
    print(f"goldseam               {changes / mine['seconds']:9.1f} changes/s  the whole history in "
          f"{mine['seconds']:.1f} s ({mine['cpu']:.1f} s cpu)")  # fmt: skip
    print(f"  peak memory {mine['mib']:.0f} MiB; of the largest git process {mine['mib_of_git']:.0f} MiB")
    rates: dict[str, float] = {}
    factors: dict[str, dict[str, float]] = {}
    for what, speed in others.items():
        times = mine["commits"] if what == "PyDriller" else changes
        wall, cpu = speed.wall * times, speed.cpu * times
        rates[f"{what} changes per second"] = round(changes / wall, 1)
        factors[what] = {"wall": round(wall / mine["seconds"], 1), "cpu": round(cpu / mine["cpu"], 1)}
        print(f"{what:22} {changes / wall:9.1f} changes/s  the whole history in about {wall:.0f} s ({cpu:.0f} s cpu): "
              f"{factors[what]['wall']} times as long ({factors[what]['cpu']} times the cpu)")  # fmt: skip
    print(json.dumps({
        **mine, "changes_per_second": round(changes / mine["seconds"], 1), **rates, "factors": factors,
        "wanted_factor": FACTOR, "memory_holds": mine["mib"] < MOST_MIB,
    }))  # fmt: skip


if __name__ == "__main__":
    main()
