"""The tools image: where the programs are that read patched files. Found by its label; `miner` builds it."""

from __future__ import annotations

from harness.sandbox import engine

KIND = "tools"
KIND_WITH = "tools-with"
"""The same with semgrep or eslint or both on top."""
PYTHON = "/opt/goldseam/tools/bin/python"
TOOLS = ("ruff", "bandit", "lizard")
COMMAND = "goldseam images tools"
"""What makes the image."""


def find(kinds: tuple[str, ...] = (KIND, KIND_WITH)) -> str | None:
    """The id of the newest tools image that the engine holds, of these kinds; None where there is none.

    Raises:
        InfrastructureError: the engine failed.

    """
    with engine.calling("looking for the tools image") as client:
        images = client.images(filters={"label": [engine.LABEL_KIND]})  # once: it takes long where there are many
    tools = (image for image in images if image["Labels"][engine.LABEL_KIND] in kinds)
    newest = max(tools, key=lambda image: image["Created"], default=None)
    return None if newest is None else str(newest["Id"])
