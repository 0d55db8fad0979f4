"""The digest of a task's hidden files, by which a sealed task's content is told without a key. Pure."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

HIDDEN_DIGEST = "hidden_digest"
"""The field of a sealed task's task.yaml."""


def hidden_digest(contents: Mapping[str, bytes]) -> str:
    """`sha256:…` over a task's hidden files, by name."""
    known = sorted((name, hashlib.sha256(data).hexdigest()) for name, data in contents.items())
    return f"sha256:{hashlib.sha256(json.dumps(known).encode()).hexdigest()}"
