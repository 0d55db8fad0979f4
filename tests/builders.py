"""Builds of one layer by processes of their own, as several mines on one machine do it."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from miner.images.task_image import open_workshop
from miner.layers import build
from miner.layers.layer import CACHE_DIR, FACTS_PATH, Layer

if TYPE_CHECKING:
    from multiprocessing.synchronize import Event
    from pathlib import Path

    from harness.config.settings import ImageSettings

REPO = "goldseam-tests/builders"


def layer(parent: str, word: str) -> Layer:
    """A layer that is done once the file `<word>.go` is in the cache, and leaves a line in `<word>` there."""
    wait = f"until [ -e {CACHE_DIR}/{word}.go ]; do sleep 0.05; done"
    return Layer(
        kind="deps",
        parent=parent,
        commands=(f"echo built >> {CACHE_DIR}/{word}", wait, f"echo '{{}}' > {FACTS_PATH}"),
    )


def cache(settings: ImageSettings, log: Path) -> Path:
    """The folder of this machine that builds see as CACHE_DIR."""
    with open_workshop(settings, REPO, log, lambda _: None) as workshop:
        return workshop.cache


def one(settings: ImageSettings, parent: str, word: str, folder: Path, asked: Event) -> None:
    """Ask for the layer, and leave its image's id in `folder`."""
    with contextlib.ExitStack() as held:
        workshop = held.enter_context(open_workshop(settings, REPO, folder / "log", lambda _: None))
        asked.set()
        built = build.ensure(workshop, layer(parent, word))
    (folder / "image").write_text(built.image_id)
