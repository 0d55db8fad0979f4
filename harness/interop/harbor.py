"""A tree of Harbor tasks, one folder each: `harbor run -p OUT`, `harbor trial start -p OUT/ID --agent oracle`.

Harbor copies `tests/` into the container once the agent has ended, so an agent never sees the hidden side.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from typing import Any

from harness.core.instance import Hidden
from harness.interop import base, rows
from harness.interop.base import Collection, Content, Exported, image_notes, marked, marked_markdown
from harness.languages import language_of

SCHEMA_VERSION = "1.4"
_METADATA = (
    "instance_id", "repo", "base_commit", "created_at", "language", "split", "difficulty", "judged", "guessable",
    "canary",
)  # fmt: skip
"""Columns of a row that a task tells of itself."""
_AGENT_SECONDS = 3600.0
_SPARE_SECONDS = 60.0
"""What a verifier needs beside the tests."""
_INSTRUCTION = "\n\nThe repository is checked out in `/testbed`; change the files there.\n"
_NO_TESTS = """\
#!/bin/bash
# {canary}
# Exported without the hidden tests, so nothing here can tell whether the task is solved. What the agent changed is kept
# as a patch for `goldseam evaluate`.
cd /testbed && git add -A && git diff --cached --binary HEAD > /logs/verifier/model.patch
echo 0 > /logs/verifier/reward.txt
"""
_TEST = """\
#!/bin/bash
# {canary}
mkdir -p /logs/verifier
exec {interpreter} -s -B /tests/grader.py /tests /logs/verifier
"""
_SOLVE = """\
#!/bin/bash
# {canary}
cd /testbed && git apply --whitespace=nowarn /solution/gold.patch
"""


def content(collection: Collection) -> Content:
    """`ID/task.toml`, `instruction.md`, `environment/Dockerfile`, `tests/` and, with the hidden side, `solution/`."""
    files: dict[str, bytes] = {}
    scripts: set[str] = set()
    for task in collection.tasks:
        for path, data in _task(collection, task).items():
            files[f"{task.instance_id}/{path}"] = data
            if path.endswith(".sh"):
                scripts.add(f"{task.instance_id}/{path}")
    notes = list(image_notes(collection.tasks))
    if not collection.hidden:
        notes.append("without the hidden side every trial has the reward 0; it keeps the agent's patch as model.patch")
    return Content(files=files, notes=tuple(notes), scripts=frozenset(scripts))


def _task(collection: Collection, task: Exported) -> dict[str, bytes]:
    canary = collection.canary
    image = base.image_of(task, "a Harbor task")
    files = {
        "task.toml": f"# {canary}\n{_toml(_about(collection, task))}".encode(),
        "instruction.md": marked_markdown(task.instance.problem_statement.rstrip() + _INSTRUCTION, canary).encode(),
        "environment/Dockerfile": f"# {canary}\nFROM {image}\n".encode(),
    }
    if task.hidden is None:
        return {**files, "tests/test.sh": _NO_TESTS.format(canary=canary).encode()}
    return {**files, **_hidden(collection, task, task.hidden)}


def _hidden(collection: Collection, task: Exported, hidden: Hidden) -> dict[str, bytes]:
    canary, test = collection.canary, task.instance.test
    interpreter = language_of(test.framework).graded(test).interpreter
    return {
        "tests/test.sh": _TEST.format(canary=canary, interpreter=interpreter).encode(),
        **{f"tests/{path}": data for path, data in base.files(collection, task, hidden).items()},
        "solution/solve.sh": _SOLVE.format(canary=canary).encode(),
        "solution/gold.patch": marked(hidden.gold_patch, canary),
    }


def _about(collection: Collection, task: Exported) -> dict[str, Any]:
    instance, row = task.instance, rows.public(collection, task)
    return {
        "schema_version": SCHEMA_VERSION,
        "task": {"name": f"{_word(collection.name)}/{_word(instance.instance_id)}", "version": str(collection.version)},
        "metadata": {column: row[column] for column in _METADATA},
        "verifier": {"timeout_sec": instance.budgets.seconds + _SPARE_SECONDS},
        "agent": {"timeout_sec": _AGENT_SECONDS},
        "environment": {
            "network_mode": "no-network",
            "cpus": max(1, math.ceil(instance.budgets.cpus)),
            "memory_mb": instance.budgets.memory_mb + 2 * instance.budgets.disk_mb,
            "workdir": "/testbed",
            "docker_image": instance.image,
        },
    }


def _word(text: str) -> str:
    """A text as one half of Harbor's `org/name`."""
    return re.sub(r"\.{2,}", ".", re.sub(r"[^A-Za-z0-9._-]+", "-", text)).strip("-._") or "dataset"


def _toml(table: Mapping[str, Any]) -> str:
    """Plain values and one level of tables; a JSON string is a TOML string, save for the delete character."""
    lines = [f"{key} = {_value(value)}" for key, value in table.items() if not isinstance(value, dict)]
    for key, value in table.items():
        if isinstance(value, dict):
            lines += ["", f"[{key}]", *(f"{field} = {_value(field_value)}" for field, field_value in value.items())]
    return "\n".join(lines) + "\n"


def _value(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
