"""How much of SWE-bench is found again in the histories it came from.

    python benchmarks/rediscovery.py ROWS.jsonl owner/name=CLONE …

Takes any file of SWE-bench rows (JSON lines) and any clones. For each row, `mine --pr N --no-validate` has to find the
change, with the same gold files and test files, and patches that make the same trees, compared file by file on what the
patches touch. The rows were made without documentation, changelogs and configuration; ours keep them, because base +
gold + test_patch is the merged tree. Such files are named and not counted as a difference. Prints the score by
repository and explains every row that is not equal in all. The last line is one JSON object.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

sys.path.insert(0, str(Path(__file__).parents[1]))

from harness.config.settings import load_settings
from harness.core.errors import InfrastructureError, InputError
from harness.core.process import run
from harness.patches import patch
from miner.candidates.scan import Recognition, scan
from miner.candidates.split import is_config, is_docs, split
from miner.sources.bare import BareRepository, MissingObjectsError
from miner.sources.change import Candidate, Kind, Rejection, Split
from miner.sources.git import open_source
from miner.sources.history import ChangeFilter

if TYPE_CHECKING:
    from collections.abc import Iterator


@dataclass(kw_only=True)
class Row:
    """One row, and how it compares with what was mined."""

    instance_id: str
    number: int
    base: str
    gold: bytes
    tests: bytes
    verdict: str = "missed"
    why: list[str] = field(default_factory=list)


def read_rows(path: Path) -> dict[str, list[Row]]:
    rows: dict[str, list[Row]] = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        raw = json.loads(line)
        row = Row(
            instance_id=raw["instance_id"],
            number=int(raw["instance_id"].rpartition("-")[2]),
            base=raw["base_commit"],
            gold=raw["patch"].encode("utf-8", "surrogateescape"),
            tests=raw["test_patch"].encode("utf-8", "surrogateescape"),
        )
        rows.setdefault(raw["repo"], []).append(row)
    return rows


def tree_of(repo: BareRepository, base: str, patches: list[bytes], scratch: Path) -> dict[str, str]:
    """The blobs (and modes) that patches make of the paths they touch, applied to a commit."""
    env = {**repo.env, "GIT_INDEX_FILE": str(scratch / f"index-{os.getpid()}")}
    git = ["git", f"--git-dir={repo.path}"]
    run([*git, "read-tree", base], env=env)
    touched: set[str] = set()
    for raw in patches:
        if raw.strip():
            touched |= patch.parse(raw, trusted=True).paths
            run([*git, "apply", "--cached", "--whitespace=nowarn", "-"], env=env, input=raw)
    listed = run([*git, "ls-files", "--stage", "-z"], env=env).stdout.decode("utf-8", "surrogateescape").split("\0")
    found = {path: what for what, _, path in (line.partition("\t") for line in listed) if path in touched}
    return {path: found.get(path, "absent") for path in touched}


def compare(repo: BareRepository, row: Row, candidate: Candidate, cut: Split, scratch: Path) -> None:
    """Fill in a row's verdict."""
    theirs_gold = patch.parse(row.gold, trusted=True).paths
    theirs_tests = patch.parse(row.tests, trusted=True).paths
    gold = {path for path, kind in cut.kinds.items() if kind in (Kind.GOLD, Kind.MIXED)}
    tests = {path for path, kind in cut.kinds.items() if kind is not Kind.GOLD}
    left_out = {path for path in gold | tests if path not in theirs_gold | theirs_tests and not _in_rows(path)}
    if left_out:
        row.why.append(f"ours holds what the rows never do: {_list(left_out, cut)}")
    if extra := (gold - left_out) ^ theirs_gold:
        row.why.append(f"DIFFERENT gold files: {_list(extra, cut)}")
    if extra := (tests - left_out) ^ theirs_tests:
        row.why.append(f"DIFFERENT test files: {_list(extra, cut)}")
    base = candidate.change.base_commit
    if base != row.base:
        row.why.append(f"their base {row.base[:10]} is not the merge base {base[:10]}")
    ours = tree_of(repo, base, [cut.gold_patch, cut.test_patch], scratch)
    theirs = _theirs(repo, row, base, scratch)
    paths = (ours.keys() | theirs.keys()) - left_out
    if differing := sorted(path for path in paths if ours.get(path) != theirs.get(path)):
        row.why.append(f"DIFFERENT trees in {', '.join(differing[:4])}")
    row.verdict = "differs" if any(why.startswith("DIFFERENT") for why in row.why) else "same"


def _in_rows(path: str) -> bool:
    """Whether the rows ever hold such a file: they were made without documentation and configuration."""
    return not (is_docs(path) or is_config(path))


def _theirs(repo: BareRepository, row: Row, base: str, scratch: Path) -> dict[str, str]:
    """What their patches make of our base, or of theirs where they don't apply to ours."""
    try:
        return tree_of(repo, base, [row.gold, row.tests], scratch)
    except InfrastructureError:
        return tree_of(repo, row.base, [row.gold, row.tests], scratch)


def _list(paths: set[str], cut: Split) -> str:
    shown = [f"{path} (ours: {cut.kinds[path].value if path in cut.kinds else 'untouched'})" for path in sorted(paths)]
    return ", ".join(shown[:4]) + (f" and {len(shown) - 4} more" if len(shown) > 4 else "")  # noqa: PLR2004


def _looks(repo: BareRepository, rows: dict[int, Row]) -> Iterator[Recognition]:
    """All rows in one scan; where a pull request is not there at all, halves, until it is found out which."""
    try:
        yield from list(scan(repo, ChangeFilter(numbers=frozenset(rows))))
    except InputError as error:
        numbers = sorted(rows)
        if len(numbers) == 1:
            rows[numbers[0]].why.append(error.message)
            return
        for half in (numbers[: len(numbers) // 2], numbers[len(numbers) // 2 :]):
            yield from _looks(repo, {number: rows[number] for number in half})


def rediscover(repo: BareRepository, rows: list[Row], scratch: Path) -> None:
    by_number = {row.number: row for row in rows}
    for looked in _looks(repo, by_number):
        row = by_number[looked.change.number or 0]
        outcome: Candidate | Split | Rejection = looked.outcome
        if isinstance(outcome, Candidate):
            try:
                cut = split(repo, outcome)
            except MissingObjectsError as error:
                row.why.append(f"missing_objects: {error.message}")
                continue
            if isinstance(cut, Split):
                try:
                    compare(repo, row, outcome, cut, scratch)
                except (patch.PatchError, InfrastructureError) as error:
                    row.why.append(f"their patches can't be compared: {error}")
                continue
            outcome = cut
        assert isinstance(outcome, Rejection)
        row.why.append(f"left at {outcome.stage.value}: {outcome.reason}: {outcome.detail}")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("rows", type=Path)
    parser.add_argument("clones", nargs="+", metavar="owner/name=CLONE")
    given = parser.parse_args()
    rows = read_rows(given.rows)
    cache = load_settings().images.cache_dir / "sources"
    totals: Counter[str] = Counter()
    scores: dict[str, dict[str, int]] = {}
    with tempfile.TemporaryDirectory() as scratch:
        for pair in given.clones:
            name, _, clone = pair.partition("=")
            with open_source(clone, cache=cache, name=name) as repo:
                rediscover(repo, rows.get(name, []), Path(scratch))
            counts = Counter(row.verdict for row in rows.get(name, []))
            scores[name] = {verdict: counts[verdict] for verdict in ("same", "differs", "missed")}
            totals += counts
            print(f"{name}: {counts['same']} of {counts.total()} the same, {counts['differs']} differ, "
                  f"{counts['missed']} missed")  # fmt: skip
            for row in rows.get(name, []):
                if row.why:
                    print(f"  {row.verdict:8} {row.instance_id}: {'; '.join(row.why)}")
    print(json.dumps({"rows": totals.total(), "same": totals["same"], "by_repository": scores}))


if __name__ == "__main__":
    main()
