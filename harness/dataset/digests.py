"""The digest of a task's hidden files, by which a sealed task's content is told without a key. Pure.

What changes no verdict is no part of it: the canary, what the proof saw but for the fix's own tripwires, recorded
calls, what other files tell, and wrong patches.
"""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING

from harness.dataset.hidden_files import CALLS_FILE
from harness.dataset.seal import canary_marks
from harness.dataset.survivors import is_survivor

if TYPE_CHECKING:
    from collections.abc import Mapping

HIDDEN_DIGEST = "hidden_digest"
"""The field of a sealed task's task.yaml."""
_NO_CONTENT = (canary_marks.FIELD, "evidence", "judged", "schema_version")


def hidden_digest(contents: Mapping[str, bytes]) -> str:
    """`sha256:…` over a task's hidden files, by name; over their bytes where they cannot be read."""
    files = sorted(
        (name, hashlib.sha256(_bare(name, data)).hexdigest())
        for name, data in contents.items()
        if not is_survivor(name) and name != CALLS_FILE
    )
    return f"sha256:{hashlib.sha256(json.dumps(files).encode()).hexdigest()}"


def _bare(name: str, data: bytes) -> bytes:
    if name.endswith(".patch"):
        return canary_marks.without_in_patch(data)
    if name.endswith(".md"):
        return canary_marks.without_in_markdown(data.decode("utf-8", "surrogateescape")).encode(
            "utf-8", "surrogateescape"
        )
    try:
        fields = json.loads(data)
    except (ValueError, RecursionError):
        return data
    if not isinstance(fields, dict):
        return data
    left = {key: value for key, value in fields.items() if key not in _NO_CONTENT}
    evidence = fields.get("evidence")
    if isinstance(evidence, dict) and "tripwires" in evidence:
        left["tripwires"] = evidence["tripwires"]  # these decide whether a pass needs review
    return json.dumps(left, sort_keys=True, ensure_ascii=True).encode()
