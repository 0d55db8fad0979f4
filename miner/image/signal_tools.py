"""The image with the tools that read patched files beside the verdict (ruff, bandit, lizard), all locked by hash."""

from __future__ import annotations

import hashlib
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING

from harness.errors import InfrastructureError
from harness.signals.tools import KIND, PYTHON, TOOLS
from miner.image import base, build
from miner.image.environment import open_workshop
from miner.image.layer import FACTS_PATH, INPUT_DIR, Input, Layer, readable
from miner.image.steps import UV

if TYPE_CHECKING:
    from collections.abc import Callable

    from harness.settings import ImageSettings
    from miner.image.build import BuiltLayer

LOCK_NAME = "signals.lock"
"""Made by `uv pip compile --universal --generate-hashes` from `bandit`, `lizard` and `ruff`."""
_HOME = str(Path(PYTHON).parents[1])
_FACTS = (
    "import importlib.metadata as m, json, platform; "
    f"print(json.dumps(dict(python=platform.python_version(), **{{n: m.version(n) for n in {list(TOOLS)!r}}})))"
)


def layer(parent: str, lock: Path) -> Layer:
    """The tools in a virtual environment of their own, with the base's own Python."""
    digest = hashlib.sha256(lock.read_bytes()).hexdigest()
    install = f"{UV} pip install --quiet --python {PYTHON} --no-deps --compile-bytecode --only-binary :all:"
    return Layer(
        kind=KIND,
        parent=parent,
        inputs=(Input(name=LOCK_NAME, path=lock, sha256=digest),),
        commands=(
            f"{UV} venv --quiet --python /usr/bin/python3 {_HOME}",
            f"{install} --require-hashes -r {INPUT_DIR}/{LOCK_NAME}",
            readable(_HOME),
            f'{PYTHON} -I -c "{_FACTS}" > {FACTS_PATH}',
        ),
    )


def ensure(settings: ImageSettings, progress: Callable[[str], None]) -> BuiltLayer:
    """The tools image, built if need be.

    Raises:
        InfrastructureError: no base image, no package index, or the engine failed.

    """
    log = settings.cache_dir / "logs" / "tools-image.log"
    log.parent.mkdir(parents=True, exist_ok=True)
    found = resources.files("miner.image").joinpath("tools", LOCK_NAME)
    with resources.as_file(found) as lock, open_workshop(settings, KIND, log, progress) as workshop:
        ground = base.ensure(workshop)
        try:
            return build.ensure(workshop, layer(ground.image_id, lock))
        except build.StepFailedError as error:
            raise InfrastructureError(
                f"the tools image can't be built: {error.detail[-500:]}", hint=f"the log is {log}"
            ) from error
