"""A folder for SWE-bench 5: rows for `swebench eval`, and with the hidden side a task repository.

`swebench eval OUT/test.jsonl --gold` runs it, `swebench dataset check OUT` finds it well formed.
"""

from __future__ import annotations

import json
import re
from typing import Any

import yaml

from harness.core.instance import Hidden
from harness.interop import rows
from harness.interop.base import Collection, Content, Exported, image_notes, marked, marked_markdown

_COLUMNS = ("canary", "instance_id", "repo", "version", "base_commit", "environment_setup_commit", "created_at")
"""Of a row, in a task's own file too."""
SPLIT = "test"
"""The split that `swebench` takes where nobody names one; ours is in the column `split` of the rows."""


def content(collection: Collection) -> Content:
    """`test.jsonl`, and where the hidden side is exported `sweb.yaml` and one folder a task."""
    table = rows.rows(collection)
    files = {f"{SPLIT}.jsonl": "".join(json.dumps(row) + "\n" for row in table).encode()}
    if collection.hidden:
        publishes = {"datasets": [_dataset(collection)], "splits": [SPLIT]}
        files["sweb.yaml"] = marked(yaml.safe_dump(publishes).encode(), collection.canary)
        for task, row in zip(collection.tasks, table, strict=True):
            if task.hidden is not None:
                for path, data in _task(collection, task, task.hidden, row).items():
                    files[f"tasks/{task.instance_id}/{path}"] = data
    notes = (*image_notes(collection.tasks), *rows.notes(collection.tasks, run=True))
    if not collection.hidden:
        notes = (*notes, "without the hidden side there is no task repository, since `swebench` needs it whole")
    return Content(files=files, notes=notes)


def _task(collection: Collection, task: Exported, hidden: Hidden, row: dict[str, Any]) -> dict[str, bytes]:
    about = {
        **{column: row[column] for column in _COLUMNS},
        "split": SPLIT,
        "datasets": [_dataset(collection)],
        "image": _image(task.instance_id),
        "log_parser": rows.LOG_PARSER,
        "eval_type": rows.EVAL_TYPE,
    }
    tests = {
        "FAIL_TO_PASS": json.loads(row["FAIL_TO_PASS"]),
        "PASS_TO_PASS": json.loads(row["PASS_TO_PASS"]),
        "canary": collection.canary,
    }
    files = {
        "task.yaml": yaml.safe_dump(about, allow_unicode=True).encode(),
        "tests.json": (json.dumps(tests, indent=2, ensure_ascii=False) + "\n").encode(),
        "problem_statement.md": marked_markdown(task.instance.problem_statement, collection.canary).encode(),
        "gold.patch": marked(hidden.gold_patch, collection.canary),
        "test.patch": marked(hidden.test_patch, collection.canary),
        "eval.sh": row["eval_script"].encode(),
        "Dockerfile": f"# {collection.canary}\nFROM {task.instance.image or 'scratch'}\n".encode(),
    }
    if hidden.hints:
        files["hints.md"] = marked_markdown(hidden.hints, collection.canary).encode()
    return files


def _dataset(collection: Collection) -> str:
    return "goldseam/" + (re.sub(r"[^A-Za-z0-9._-]+", "-", collection.name).strip("-.") or "dataset")


def _image(instance_id: str) -> str:
    """The image name that SWE-bench derives from an id, which its check asks for."""
    return f"swebench/sweb.eval.x86_64.{instance_id}:latest".lower().replace("__", "_1776_")
