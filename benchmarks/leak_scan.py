"""How well `holdout scan` finds planted leaks, how often it cries wolf, and how fast it is.

    python benchmarks/leak_scan.py DATASET… --text FOLDER… [--megabytes 100]

Datasets are mined ones, opened; their tasks are searched for together. Texts are folders that have nothing to do with
them: every find there is a false alarm, except in packages of the datasets' own repositories, which are left out by the
name of the repository. Of each task is planted, between 40 KB of that text: the statement, its first
half, the fix as it is, its added lines alone, as a patch, in JSON, indented anew and wrapped, and the hidden tests.
A leak counts as found where the right task and kind are named. A task whose statement or fix is too short to be told
from other text counts in `recall_of_all` and not in `recall`. MB/s are of one process, by its processor time and by the
wall. The last line is one JSON object.
"""

from __future__ import annotations

import argparse
import json
import resource
import sys
import textwrap
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

sys.path.insert(0, str(Path(__file__).parents[1]))

from harness.dataset.folder import open_dataset
from harness.dataset.similarity import corpus, leak_fingerprints, leaks
from harness.dataset.similarity.leak_fingerprints import Kind
from harness.dataset.similarity.scan import scan

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from harness.core.instance import Task
    from harness.dataset.similarity.leak_fingerprints import Index

_AROUND = 60_000


@dataclass(frozen=True, kw_only=True)
class Plant:
    """One way in which something leaks."""

    kind: Kind
    text: Callable[[Task], str]


def _statement(task: Task) -> str:
    return task.instance.problem_statement


def _half(task: Task) -> str:
    words = _statement(task).split()
    return " ".join(words[: (len(words) + 1) // 2])


def _gold(task: Task) -> str:
    return task.hidden.gold_patch.decode("utf-8", "replace")


def _after(patch: str) -> str:
    return "\n".join(line[1:] for line in patch.split("\n") if line[:1] in ("+", " ") and line[:3] != "+++")


def _added(patch: str) -> str:
    return "\n".join(line[1:] for line in patch.split("\n") if line[:1] == "+" and line[:3] != "+++")


def _reformatted(task: Task) -> str:
    text = textwrap.dedent(_added(_gold(task))).replace("'", '"').replace("(", "(\n    ").replace(", ", ",\n    ")
    return textwrap.indent(text, "\t\t")


PLANTS = {
    "statement": Plant(kind=Kind.STATEMENT, text=_statement),
    "half of the statement": Plant(kind=Kind.STATEMENT, text=_half),
    "fixed code": Plant(kind=Kind.GOLD, text=lambda task: _after(_gold(task))),
    "added lines": Plant(kind=Kind.GOLD, text=lambda task: _added(_gold(task))),
    "patch": Plant(kind=Kind.GOLD, text=_gold),
    "patch in JSON": Plant(kind=Kind.GOLD, text=lambda task: json.dumps({"model_patch": _gold(task)})),
    "added lines, reformatted": Plant(kind=Kind.GOLD, text=_reformatted),
    "hidden tests": Plant(kind=Kind.TESTS, text=lambda task: _after(task.hidden.test_patch.decode("utf-8", "replace"))),
}


def index_of(tasks: list[Task], canaries: list[str]) -> Index:
    """As `holdout scan` makes it, over several datasets."""
    texts = [
        text
        for task in tasks
        for text in (
            leak_fingerprints.of_statement(task.instance_id, task.instance.problem_statement),
            leak_fingerprints.of_patch(task.instance_id, Kind.GOLD, task.hidden.gold_patch),
            leak_fingerprints.of_patch(task.instance_id, Kind.TESTS, task.hidden.test_patch),
        )
    ]
    return leak_fingerprints.build(texts, canaries, ordinary=leaks.ordinary_code())


def honest(folders: list[Path], own: set[str], most: int) -> Iterator[corpus.Source]:
    """The texts, up to so many bytes; packages of the datasets' own repositories are left out."""
    size = 0
    for source in corpus.sources([str(folder) for folder in folders]):
        if size >= most:
            return
        if isinstance(source, corpus.Source) and not own & {
            part.lower().split("-")[0] for part in Path(source.name).parts
        }:
            yield source
            size += source.size


def planted(index: Index, tasks: list[Task], around: bytes) -> dict[str, dict[str, float | int]]:
    """Recall by way of leaking."""
    known = {(unit.task, unit.kind) for unit in index.units}
    found = {}
    for name, plant in PLANTS.items():
        seen: Counter[str] = Counter()
        for task in tasks:
            text = plant.text(task).encode("utf-8", "replace")
            finds = scan(index, name, [around[: len(around) // 3], b"\n\n", text, b"\n\n", around[-len(around) // 3 :]])
            hit = any(find.task == task.instance_id and find.kind is plant.kind for find in finds)
            seen["all"] += 1
            seen["found"] += hit
            seen["telling"] += (task.instance_id, plant.kind) in known
        found[name] = {
            "planted": seen["all"],
            "found": seen["found"],
            "recall": round(seen["found"] / max(1, seen["telling"]), 3),
            "recall_of_all": round(seen["found"] / max(1, seen["all"]), 3),
        }
        print(f"{name:26} {seen['found']} of {seen['telling']} that can be told, {seen['all']} in all", flush=True)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("datasets", nargs="+", type=Path)
    parser.add_argument("--text", nargs="+", type=Path, required=True)
    parser.add_argument("--megabytes", type=float, default=100)
    given = parser.parse_args()
    opened = [open_dataset(path) for path in given.datasets]
    tasks = [task for dataset in opened for task in dataset.tasks()]
    own = {part for task in tasks for part in (task.instance.repo.rpartition("/")[2].lower().replace("-", "_"),)}
    began = time.process_time()
    index = index_of(tasks, [dataset.canary for dataset in opened])
    built = time.process_time() - began
    alarms, size, sources, sample = 0, 0, 0, b""
    began, wall = time.process_time(), time.monotonic()
    for source in honest(given.text, own, round(given.megabytes * 1e6)):
        for find in scan(index, source.name, source.blocks()):
            alarms += 1
            print(
                f"false alarm: {find.source}:{find.line} {find.kind} of {find.task} {find.matched}/{find.of}",
                flush=True,
            )
        size, sources = size + source.size, sources + 1
    spent, passed = time.process_time() - began, time.monotonic() - wall
    for source in honest(given.text, own, _AROUND):
        sample += b"".join(source.blocks())
    print(f"{len(tasks)} tasks; {size / 1e6:.0f} MB in {sources} texts, {alarms} false alarm(s)", flush=True)
    result = {
        "tasks": len(tasks),
        "too_short": {kind.value: count for kind, count in leak_fingerprints.untold_counts(index).items()},
        "megabytes": round(size / 1e6, 1),
        "texts": sources,
        "false_alarms": alarms,
        "false_alarms_per_gb": round(alarms / (size / 1e9), 2) if size else None,
        "mb_per_cpu_second": round(size / 1e6 / spent, 1) if spent else None,
        "mb_per_wall_second": round(size / 1e6 / passed, 1) if passed else None,
        "index_seconds": round(built, 2),
        "planted": planted(index, tasks, sample[:_AROUND]),
        "peak_mib": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024),
    }
    print(json.dumps(result))


if __name__ == "__main__":
    main()
