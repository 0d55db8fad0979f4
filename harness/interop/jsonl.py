"""JSON Lines with SWE-bench's columns: `swebench eval FILE`, and `datasets.load_dataset("json", data_files=FILE)`."""

from __future__ import annotations

import json

from harness.interop import rows
from harness.interop.base import Collection, Content, image_notes

name = "jsonl"
folder = False


def content(collection: Collection) -> Content:
    """One line a task."""
    lines = "".join(json.dumps(row) + "\n" for row in rows.rows(collection))
    return Content(files={"": lines.encode()}, notes=(*image_notes(collection.tasks), *rows.notes(collection.tasks)))
