"""The hygiene gate: an image of a task must hold nothing of its fix and its hidden tests.

Every layer is searched, also for files that a later layer hides. Where the image was built here, each of its layers is
an image: the task's own is searched file by file; those below, shared by many tasks, are read once and remembered by
`layer_index`. Where it was pulled, the engine saves it, and every layer of the archive is searched.
"""

from __future__ import annotations

import tempfile
from typing import TYPE_CHECKING

from harness.checks import hygiene, layer_index
from harness.checks.dataset import ImageCheck
from harness.core.process import run, stream
from harness.patches.patch import PatchError
from harness.sandbox import engine
from harness.sandbox.images import layers

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from harness.checks.hygiene import Leak, Secrets
    from harness.core.instance import Task


def inspect_image(image: str, secrets: Secrets, *, cache: Path) -> tuple[Leak, ...]:
    """What the image of a task gives away. `cache` is a folder for what is known of shared layers.

    Raises:
        InfrastructureError: the engine failed, or the image is not there.

    """
    search = hygiene.Search(secrets=secrets, unpack=unpack)
    below = tuple(parents(image))
    for path, data in layers.newest_layer(image) if below else layers.every_layer(image):
        search.feed(path, data)
    for parent in below:
        layer_index.of(parent, cache, unpack).feed(search)
    return search.leaks()


def engine_check(cache: Path) -> ImageCheck:
    """What `holdout check --images` asks the engine."""

    def has(image: str) -> bool:
        return engine.image_id(image) is not None

    def leaks(task: Task) -> Iterator[str]:
        if task.instance.image is None:
            return
        try:
            secrets = hygiene.secrets(task.hidden.gold_patch, task.hidden.test_patch)
        except PatchError:
            return  # a problem of its own, reported as such
        for leak in inspect_image(task.instance.image, secrets, cache=cache):
            yield f"its image gives the fix away: {leak.where}: {leak.text}"

    def paths(image: str) -> frozenset[str]:
        files_of_image = layers.newest_layer(image) if any(True for _ in parents(image)) else layers.every_layer(image)
        trees = {
            path: next((tree for tree in hygiene.TREES if path.startswith(tree)), None) for path, _ in files_of_image
        }
        return frozenset(path.removeprefix(tree) for path, tree in trees.items() if tree)

    return ImageCheck(has=has, leaks=leaks, paths=paths)


def unpack(pack: bytes) -> Iterator[tuple[str, bytes]]:
    """The objects of a git pack, by SHA."""
    with tempfile.TemporaryDirectory(prefix="goldseam-") as folder:
        git = ["git", "-C", folder]
        run([*git, "init", "--quiet", "--bare"])
        run([*git, "index-pack", "--stdin"], input=pack)
        with stream(
            [*git, "cat-file", "--batch-all-objects", "--batch=%(objectname) %(objectsize)"]
        ) as stream_of_objects:
            while head := stream_of_objects.readline():
                name, size = head.decode().split()
                yield name, stream_of_objects.read(int(size))
                stream_of_objects.read(1)


def parents(image: str) -> Iterator[str]:
    """The layers that an image stands on, nearest first, each an image of its own; none of a pulled one."""
    facts = engine.inspect_image(image)
    while facts is not None and facts.parent:
        yield facts.parent
        facts = engine.inspect_image(facts.parent)
