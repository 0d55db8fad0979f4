"""How often the files that a fix changes are among those that `goldseam solve --agent single` shows.

    python benchmarks/retrieval.py DATASET [--tokens 24000] [--limit N]

Reads the hidden side of a dataset of one's own (the names in each gold patch), asks no model, and needs the tasks'
images. Prints where each changed code file ranks and whether it is shown; the last line is one JSON object.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path

from harness.dataset.folder import open_dataset
from harness.patches import patch
from harness.solve import retrieve
from harness.solve.agents.single import FILE_TOKENS, Snapshot
from harness.solve.workspace.workspace import Workspaces


def main() -> None:
    """Measure one dataset."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("dataset", type=Path)
    parser.add_argument("--tokens", type=int, default=FILE_TOKENS)
    parser.add_argument("--limit", type=int)
    asked = parser.parse_args()
    dataset = open_dataset(asked.dataset)
    found = total = tasks = 0
    reading = ranking = 0.0
    with Workspaces() as workspaces:
        for instance_id in dataset.ids()[: asked.limit]:
            instance = dataset.instance(instance_id)
            if instance.image is None:
                continue
            began = time.monotonic()
            with workspaces.open(instance) as workspace:
                snapshot = Snapshot.of(workspace)
            read = time.monotonic()
            files = retrieve.texts(snapshot.contents)
            order = retrieve.rank(instance.problem_statement, files)
            shown = {one.path for one in retrieve.choose(instance.problem_statement, files, budget=asked.tokens)}
            reading, ranking = reading + read - began, ranking + time.monotonic() - read
            gold = patch.parse(dataset.task(instance_id).hidden.gold_patch, trusted=True).paths
            changed = sorted(path for path in gold if path in files and path.endswith(".py"))
            found, total, tasks = found + sum(path in shown for path in changed), total + len(changed), tasks + 1
            places = ", ".join(
                f"{path} {'shown' if path in shown else 'not shown'}, rank {order.index(path) + 1}"
                if path in order
                else f"{path} not found"
                for path in changed
            )
            print(f"{instance_id}: {len(shown)} of {len(files)} files shown; {places}")
    print(f"{found} of {total} changed code files of {tasks} tasks are shown with {asked.tokens} tokens")
    print(
        json.dumps(
            {
                "tasks": tasks,
                "changed_files": total,
                "shown": found,
                "tokens": asked.tokens,
                "reading_seconds": round(reading, 2),
                "ranking_seconds": round(ranking, 2),
            }
        )
    )


if __name__ == "__main__":
    main()
