"""A folder with an Inspect task (https://inspect.aisi.org.uk): `inspect eval OUT/task.py --model PROVIDER/MODEL`."""

from __future__ import annotations

import json
from importlib import resources

import yaml

from harness.interop import base, rows
from harness.interop.base import Collection, Content, Exported, image_notes, is_local, marked


def content(collection: Collection) -> Content:
    """`task.py`, `samples.jsonl` (public), `compose/ID.yaml` and, with the hidden side, `hidden/ID/`."""
    program = resources.files("harness.interop").joinpath("files/inspect_task.txt").read_text(encoding="utf-8")
    samples = [rows.public(collection, task) for task in collection.tasks]
    files = {
        "task.py": program.replace("CANARY", collection.canary, 1).encode(),
        "samples.jsonl": "".join(json.dumps(sample) + "\n" for sample in samples).encode(),
    }
    for task in collection.tasks:
        files[f"compose/{task.instance_id}.yaml"] = _compose(collection, task)
        if task.hidden is not None:
            hidden = base.files(collection, task, task.hidden)
            hidden["gold.patch"] = marked(task.hidden.gold_patch, collection.canary)
            files |= {f"hidden/{task.instance_id}/{path}": data for path, data in hidden.items()}
    notes = list(image_notes(collection.tasks))
    if not collection.hidden:
        notes.append("without the hidden side the scorer gives no score; it keeps the agent's patch")
    return Content(files=files, notes=tuple(notes))


def _compose(collection: Collection, task: Exported) -> bytes:
    """The sample's container, as Inspect's docker sandbox takes it."""
    image, budgets = base.image_of(task, "an Inspect sample"), task.instance.budgets
    service = {
        "image": image,
        "command": "tail -f /dev/null",
        "init": True,
        "working_dir": "/testbed",
        "network_mode": "none",
        "cpus": budgets.cpus,
        "mem_limit": f"{budgets.memory_mb + 2 * budgets.disk_mb}m",
        **({"x-local": True} if is_local(image) else {}),
    }
    return marked(yaml.safe_dump({"services": {"default": service}}, sort_keys=False).encode(), collection.canary)
