"""Whether base + gold + test_patch is the merged tree, byte for byte, for every candidate of whole histories.

    python benchmarks/exact_patches.py CLONE… [--all]

For each candidate (with --all, for every change that history alone does not leave, whatever it is) the two patches are
applied to the base, one after the other, and the tree that comes of it is compared with the change's own.
The last line is one JSON object; exit code 1 if a single one differs.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from harness.config.settings import load_settings
from harness.core.errors import GoldseamError
from harness.core.process import run
from miner.candidates.scan import scan
from miner.candidates.split import split
from miner.sources.bare import BareRepository, MissingObjectsError
from miner.sources.change import Candidate, Rejection
from miner.sources.git import open_source
from miner.sources.history import sightings


def candidates(repo: BareRepository, *, every: bool) -> list[Candidate]:
    if not every:
        return [looked.outcome for looked in scan(repo) if isinstance(looked.outcome, Candidate)]
    found = (one for one in sightings(repo) if one.files and one.rejection is None)
    return [Candidate(change=one.change, files=one.files, signals=(), score=0.0) for one in found]


def made_tree(repo: BareRepository, base: str, patches: tuple[bytes, ...], index: Path) -> str:
    env = {**repo.env, "GIT_INDEX_FILE": str(index)}
    git = ["git", f"--git-dir={repo.path}"]
    run([*git, "read-tree", base], env=env)
    for raw in patches:
        if raw:
            run([*git, "apply", "--cached", "--whitespace=nowarn", "-"], env=env, input=raw)
    return run([*git, "write-tree", "--missing-ok"], env=env).stdout.decode().strip()


def check(repo: BareRepository, candidate: Candidate, index: Path) -> str:
    """`same`, the reason for which there is no split, or what is wrong."""
    change = candidate.change
    try:
        cut = split(repo, candidate)
        if isinstance(cut, Rejection):
            return cut.reason
        made = made_tree(repo, change.base_commit, (cut.gold_patch, cut.test_patch), index)
    except MissingObjectsError:
        return "missing_objects"
    except GoldseamError as error:
        print(f"  {change.instance_id}: {error.message[:300]}")
        return "DIFFERENT"
    if made != repo.tree(change.head_commit) and change.base_commit != change.head_commit:
        print(f"  {change.instance_id}: another tree")
        return "DIFFERENT"
    return "same"


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("clones", nargs="+")
    parser.add_argument("--all", action="store_true")
    given = parser.parse_args()
    totals: Counter[str] = Counter()
    cache = load_settings().images.cache_dir / "sources"
    for clone in given.clones:
        with open_source(clone, cache=cache) as repo, tempfile.TemporaryDirectory() as scratch:
            counts: Counter[str] = Counter()
            for candidate in candidates(repo, every=given.all):
                counts[check(repo, candidate, Path(scratch) / "index")] += 1
        print(f"{clone}: {dict(counts.most_common())}")
        totals += counts
    print(json.dumps({"changes": totals.total(), "same": totals["same"], "different": totals["DIFFERENT"]}))
    return 1 if totals["DIFFERENT"] else 0


if __name__ == "__main__":
    sys.exit(main())
