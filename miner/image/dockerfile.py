"""The Dockerfile of a task: the public record of how its image came to be, and a way to build it again."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from miner.image.layer import Layer

_HEADER = """\
# How this task's image was built, as BuildKit reads it. The build context holds requirements.lock and source.tar
# (`git archive` of base_commit, without export attributes). Index, proxy and certificate settings come in the secret
# `build-env`, a file of `export NAME=value` lines; nothing of it stays in a layer.
"""


def render(base: str, layers: Sequence[Layer], variables: Mapping[str, str]) -> str:
    """A Dockerfile that starts from `base` and runs the commands of these layers, in order."""
    folders = [folder for layer in layers for folder in layer.folders]
    notes = "".join(
        f"# The interpreter comes from a folder: --build-context {one.context}=/path/to/it\n" for one in folders
    )
    arguments = "".join(f"ARG {name}={json.dumps(value)}\n" for name, value in sorted(variables.items()))
    parts = "\n".join(layer.dockerfile() for layer in layers)
    return f"{_HEADER}{notes}FROM {base}\n{arguments}\n{parts}"
