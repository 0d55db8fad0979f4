"""The tools image: where the programs are that read patched files. Found by its label; `miner` builds it."""

from __future__ import annotations

from typing import Any

from harness.sandbox import engine

KIND = "tools"
PYTHON = "/opt/goldseam/tools/bin/python"
TOOLS = ("ruff", "bandit", "lizard")
COMMAND = "goldseam images tools"
"""What makes the image."""


def find() -> str | None:
    """The id of the newest tools image that the engine holds; None where there is none.

    Raises:
        InfrastructureError: the engine failed.

    """
    client: Any = engine.connect()
    try:
        found = client.images(filters={"label": [f"{engine.LABEL_KIND}={KIND}"]})
    except engine.ConnectionLost as error:
        raise engine.engine_failed("looking for the tools image", error) from error
    newest = max(found, key=lambda image: image["Created"], default=None)
    return None if newest is None else str(newest["Id"])
