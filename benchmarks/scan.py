"""How fast a history is scanned to candidates, beside PyDriller and SWE-bench's approach on the same clone.

    python benchmarks/scan.py CLONE [--name owner/name] [--sample 300] [--no-pydriller]

goldseam looks at the whole history: every change with its base, files, signals and the one reason against it.
PyDriller (from PyPI, in an environment of its own under the cache folder) walks the newest commits of the same branch
and reads of each what recognition needs: message, paths, diff. SWE-bench's approach takes the diff of a change as text
(from git here, which is quicker than from the web), cuts it with unidiff and sorts it by substring. The last two are
measured on a sample of the newest changes. Memory is the peak of the scanning process and of its largest child, MiB.
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
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from unidiff import PatchSet
from unidiff.errors import UnidiffParseError

from harness.process import run
from harness.settings import load_settings
from miner.change import Rejection
from miner.scan import scan
from miner.sources.git import open_source

FACTOR = 10
MOST_MIB = 300
_PYDRILLER = """
import sys, time
from pydriller import Repository
path, count = sys.argv[1], int(sys.argv[2])
began, seen = time.perf_counter(), 0
for commit in Repository(path, order="reverse").traverse_commits():
    files = [(file.new_path, file.diff) for file in commit.modified_files] if len(commit.parents) == 1 else []
    text = commit.msg
    seen += 1
    if seen == count:
        break
print(seen, time.perf_counter() - began)
"""


def ours(clone: str, name: str | None) -> dict[str, float]:
    """Changes, seconds and peak memory of a whole scan; the bare copy is made before."""
    with open_source(clone, cache=load_settings().images.cache_dir / "sources", name=name) as repo:
        reasons: Counter[str] = Counter()
        began = time.perf_counter()
        for looked in scan(repo):
            reasons[looked.outcome.reason if isinstance(looked.outcome, Rejection) else "candidate"] += 1
        seconds = time.perf_counter() - began
        commits = int(repo.git("rev-list", "--count", repo.tip()).stdout)
    git = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    own = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {"commits": commits, "changes": reasons.total(), "candidates": reasons["candidate"], "seconds": seconds,
            "mib": own, "mib_of_git": git}  # fmt: skip


def pydriller(clone: str, name: str | None, sample: int) -> float:
    """Commits a second."""
    folder = load_settings().images.cache_dir / "benchmarks" / "pydriller"
    python = folder / "bin" / "python"
    if not python.exists():
        venv.create(folder, with_pip=True)
        run([python, "-m", "pip", "install", "--quiet", "pydriller"])
    with open_source(clone, cache=load_settings().images.cache_dir / "sources", name=name) as repo, \
            tempfile.TemporaryDirectory() as scratch:  # fmt: skip
        run(["git", "clone", "--quiet", "--shared", "--no-checkout", repo.path, f"{scratch}/clone"], env=repo.env)
        told = run([python, "-c", _PYDRILLER, f"{scratch}/clone", str(sample)]).stdout.split()
    return int(told[0]) / float(told[1])


def swebench(clone: str, name: str | None, sample: int) -> float:
    """Changes a second."""
    with open_source(clone, cache=load_settings().images.cache_dir / "sources", name=name) as repo:
        commits = repo.git("log", "--first-parent", f"--max-count={sample}", "--format=%H %P").stdout.decode()
        began, done = time.perf_counter(), 0
        for line in commits.splitlines():
            sha, *parents = line.split()
            if not parents:
                continue
            text = run(["git", f"--git-dir={repo.path}", "diff", parents[0], sha], env=repo.env).stdout
            try:
                for file in PatchSet(text.decode("utf-8", "replace")):
                    any(word in file.path for word in ("test", "tests", "e2e", "testing"))
            except UnidiffParseError:
                pass
            re.findall(r"(\w+)\s+\#(\d+)", repo.git("log", "-1", "--format=%B", sha).stdout.decode("utf-8", "replace"))
            done += 1
        return done / (time.perf_counter() - began)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("clone")
    parser.add_argument("--name")
    parser.add_argument("--sample", type=int, default=300)
    parser.add_argument("--no-pydriller", action="store_true")
    given = parser.parse_args()
    clone = os.path.realpath(given.clone)
    mine = ours(clone, given.name)
    rate = mine["changes"] / mine["seconds"]
    others = {"SWE-bench's approach": swebench(clone, given.name, given.sample)}
    if not given.no_pydriller:
        others["PyDriller"] = pydriller(clone, given.name, given.sample)
    print(f"{clone}: {mine['commits']:.0f} commits, {mine['changes']:.0f} changes, {mine['candidates']:.0f} candidates")
    print(
        f"goldseam               {rate:9.1f} changes/s  {mine['commits'] / mine['seconds']:.1f} commits/s, "
        f"all in {mine['seconds']:.1f} s"
    )
    print(f"  peak memory {mine['mib']:.0f} MiB; of the largest git process {mine['mib_of_git']:.0f} MiB")
    # PyDriller's unit is a commit: it can't diff a merge, so it has to walk every commit of the history. SWE-bench's is
    # a pull request, like our change.
    whole = {
        what: (mine["commits"] if what == "PyDriller" else mine["changes"]) / speed for what, speed in others.items()
    }
    for what, speed in others.items():
        unit = "commits" if what == "PyDriller" else "changes"
        print(f"{what:22} {speed:9.1f} {unit}/s  the whole history in about {whole[what]:.0f} s: "
              f"{whole[what] / mine['seconds']:.1f} times as long")  # fmt: skip
    print(json.dumps({
        **mine, "changes_per_second": round(rate, 1), "commits_per_second": round(mine["commits"] / mine["seconds"], 1),
        **{f"{what} per second": round(speed, 1) for what, speed in others.items()},
        "factor": round(whole["PyDriller"] / mine["seconds"], 1) if "PyDriller" in others else None,
        "factor_unit_for_unit": round(rate / others["PyDriller"], 1) if "PyDriller" in others else None,
        "wanted_factor": FACTOR, "memory_holds": mine["mib"] < MOST_MIB,
    }))  # fmt: skip


if __name__ == "__main__":
    main()
