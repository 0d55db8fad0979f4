"""The hygiene gate: an image of a task must hold nothing of its fix and its hidden tests.

Every layer is searched, also for files that a later layer hides. Where the image was built here, each of its layers is
an image: the task's own is searched file by file; those below, shared by many tasks, are read once and remembered as
sorted hashes of their lines. Where it was pulled, the engine saves it, and every layer of the archive is searched.
"""

from __future__ import annotations

import bisect
import hashlib
import tempfile
import threading
from array import array
from typing import TYPE_CHECKING

from harness.checks import hygiene
from harness.checks.dataset import ImageCheck
from harness.core import files
from harness.core.process import run, stream
from harness.patches.patch import PatchError
from harness.sandbox import engine
from harness.sandbox.images import layers

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from harness.checks.hygiene import Leak, Secrets
    from harness.core.instance import Task

_SHORTEST_LINE = 12
_ENOUGH = 3
_making: dict[Path, threading.Lock] = {}
_making_lock = threading.Lock()


def inspect_image(image: str, secrets: Secrets, *, cache: Path) -> tuple[Leak, ...]:
    """What the image of a task gives away. `cache` is a folder for what is known of shared layers.

    Raises:
        InfrastructureError: the engine failed, or the image is not there.

    """
    search = hygiene.Search(secrets=secrets, unpack=unpack)
    below = tuple(_parents(image))
    for path, data in layers.newest_layer(image) if below else layers.every_layer(image):
        search.feed(path, data)
    for parent in below:
        index = _index(parent, cache)
        if sum(_holds(index, line) for line in secrets.lines) >= _ENOUGH:
            for path, data in layers.newest_layer(parent):
                search.feed(path, data)
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
            yield f"its image gives the fix away: {leak.where}: {leak.what}"

    def paths(image: str) -> frozenset[str]:
        files_of_image = layers.newest_layer(image) if any(True for _ in _parents(image)) else layers.every_layer(image)
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


def _parents(image: str) -> Iterator[str]:
    facts = engine.inspect_image(image)
    while facts is not None and facts.parent:
        yield facts.parent
        facts = engine.inspect_image(facts.parent)


def _index(image: str, cache: Path) -> array[int]:
    """Sorted hashes of the lines of an image's own layer; made once, by one thread, and kept."""
    path = cache / f"{image.rpartition(':')[2][:32]}.lines"
    with _making_lock:
        lock = _making.setdefault(path, threading.Lock())
    with lock:
        index: array[int] = array("Q")
        if path.exists():
            index.frombytes(path.read_bytes())
            return index
        hashes: set[int] = set()
        for _, data in layers.newest_layer(image, text_only=True):
            lines = set(data.split(b"\n"))
            hashes.update(_hash(line) for part in lines if len(line := part.strip()) >= _SHORTEST_LINE)
        index.extend(sorted(hashes))
        cache.mkdir(parents=True, exist_ok=True)
        files.write_bytes(path, index.tobytes())
        return index


def _hash(line: bytes) -> int:
    return int.from_bytes(hashlib.blake2b(line, digest_size=8).digest(), "big")


def _holds(index: array[int], line: bytes) -> bool:
    number = _hash(line)
    at = bisect.bisect_left(index, number)
    return at < len(index) and index[at] == number
