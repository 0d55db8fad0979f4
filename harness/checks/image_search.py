"""The hygiene gate: an image of a task must hold nothing of its fix and its hidden tests.

Every layer is searched, also for files that a later layer hides. Where the image was built here, each of its layers is
an image: the task's own is searched file by file; those below, shared by many tasks, are read once and remembered.
Where it was pulled, the engine saves it, and every layer of the archive is searched.

What a layer has in common with others (an install of another day) is neither sent nor looked through again.

Of a shared layer each line, commit, and name or text of byte code (`hygiene.fingerprints`) is remembered as a number of
64 bits: 40 of its hash, 24 of the file that has it. Sorted, they answer which files have a line by two bisections. A
given line shares its hash with one of three million numbers in one of 360,000 layers, and it takes several lines of one
file to reject a candidate.
"""

from __future__ import annotations

import bisect
import hashlib
import json
import os
import tempfile
import threading
from array import array
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from harness.checks import hygiene
from harness.checks.dataset import ImageCheck
from harness.checks.hygiene import Leak, Secrets
from harness.core import files
from harness.core.grouping import grouped
from harness.core.instance import Task
from harness.core.process import ProgramError, run, stream
from harness.patches.patch import PatchError
from harness.sandbox import engine
from harness.sandbox.images import layers

_RULES = 5
"""Counted up when what is remembered of a layer changes."""
_FILE_BITS = 24
_EARLIER = 8
"""Indexes that a new one may point to, the newest."""
_making: dict[Path, threading.Lock] = {}
_making_lock = threading.Lock()


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
        of(parent, cache, unpack).feed(search)
    leaks = search.leaks()
    archives = {path for leak in leaks if (path := hygiene.archive_of(leak.where))} if below else set()
    taken_out = layers.absent(image, archives) if archives else frozenset()
    return tuple(leak for leak in leaks if hygiene.archive_of(leak.where) not in taken_out)


def engine_check(cache: Path) -> ImageCheck:
    """What `holdout check --images` asks the engine."""

    def has(image: str) -> bool:
        return engine.image_id(image) is not None

    def leaks(task: Task) -> Iterator[str]:
        if task.instance.image is None:
            return
        try:
            secrets = hygiene.secrets(task.hidden.gold_patch, task.hidden.test_patch, made=task.instance.created_at)
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
    """The objects of a git pack, by SHA, as far as they are searched; a broken one as it is."""
    with tempfile.TemporaryDirectory(prefix="goldseam-") as folder:
        git = ["git", "-C", folder]
        run([*git, "init", "--quiet", "--bare"])
        try:
            run([*git, "-c", f"core.bigFileThreshold={hygiene.LARGEST_TEXT}", "index-pack", "--stdin"], input=pack)
        except ProgramError:
            yield "broken", pack
            return
        with stream(
            [*git, "cat-file", "--batch-all-objects", "--batch=%(objectname) %(objectsize)"]
        ) as stream_of_objects:
            while head := stream_of_objects.readline():
                name, size = head.decode().split()
                left = int(size) + 1
                content = stream_of_objects.read(min(left - 1, hygiene.LARGEST_TEXT))
                left -= len(content)
                yield name, content
                while left:
                    left -= len(stream_of_objects.read(min(left, hygiene.LARGEST_TEXT))) or left


def parents(image: str) -> Iterator[str]:
    """The layers that an image stands on, nearest first, each an image of its own; none of a pulled one."""
    facts = engine.inspect_image(image)
    while facts is not None and facts.parent:
        yield facts.parent
        facts = engine.inspect_image(facts.parent)


@dataclass(frozen=True, kw_only=True)
class LayerIndex:
    """Which files of a layer have a fingerprint."""

    places: tuple[str, ...]
    """Files, and git objects as `FILE:OBJECT`."""
    cached: tuple[str, ...]
    """Files in caches of package installers."""
    numbers: array[int]
    """Sorted: a hash in the upper 40 bits, the number of a place in the lower 24."""
    keys: tuple[str, ...] = ()
    """By place: the key of a file (`layers.file_key`), in hexadecimal."""
    shared: tuple[tuple[LayerIndex, frozenset[str]], ...] = ()
    """Indexes of other layers, and the files there that this layer has too."""

    def feed(self, search: hygiene.Search) -> None:
        """Tell a search of everything in the layer that it looks for."""
        self._feed_files(search, None)
        for where in self.cached:
            search.hit(where, cached=True)
        for index, keys in self.shared:
            index._feed_files(search, keys)  # noqa: SLF001 - of its own kind

    def _feed_files(self, search: hygiene.Search, chosen: Collection[str] | None) -> None:
        secrets = search.secrets
        lines = self._by_place(hygiene.LINE, secrets.texts)
        words = self._by_place(hygiene.WORD, secrets.words)
        commits = self._by_place(hygiene.COMMIT, secrets.commits)
        for place in sorted({*lines, *words, *commits}):
            if chosen is not None and self.keys[place] not in chosen:
                continue
            where = self.places[place]
            search.hit(where, lines=lines.get(place, ()), words=words.get(place, ()), commits=commits.get(place, ()))

    def _by_place(self, kind: bytes, needles: Collection[bytes]) -> dict[int, set[bytes]]:
        places: dict[int, set[bytes]] = {}
        for needle in needles:
            low = _hash(kind + needle)
            first = bisect.bisect_left(self.numbers, low)
            for number in self.numbers[first : bisect.bisect_left(self.numbers, low + (1 << _FILE_BITS), lo=first)]:
                places.setdefault(number - low, set()).add(needle)
        return places


def of(image: str, cache: Path, unpack: Callable[[bytes], Iterable[tuple[str, bytes]]]) -> LayerIndex:
    """The index of an image's own layer: made once, by one thread, and kept in a folder.

    Raises:
        InfrastructureError: the engine failed, or the image is not there.

    """
    path = cache / f"{image.rpartition(':')[2][:32]}.{_RULES}.index"
    with _making_lock:
        lock = _making.setdefault(path, threading.Lock())
    with lock:
        index = _read(path)
        if index is None:
            earlier = _earlier(path)
            names = {bytes.fromhex(key): name for name, other in earlier.items() for key in other.keys if key}
            skipped: list[bytes] = []
            layer = layers.newest_layer(image, long_text=hygiene.LONG_TEXT, indexed=names.keys(), skipped=skipped)
            index = build(layer, unpack)
            shared = grouped((names[key], key.hex()) for key in skipped)
            head = {"places": index.places, "cached": index.cached, "keys": index.keys, "shared": shared}
            cache.mkdir(parents=True, exist_ok=True)
            line = json.dumps({**head, "numbers": len(index.numbers)}).encode()
            files.write_bytes(path, b"%s\n%s" % (line, index.numbers.tobytes()))
            index = replace(index, shared=tuple((earlier[name], frozenset(keys)) for name, keys in shared.items()))
        else:
            with suppress(OSError):
                os.utime(path)  # it is in use, see miner/images/downloads.py
        return index


def _earlier(path: Path) -> dict[str, LayerIndex]:
    """The newest of the other indexes that are whole, by the names of their files."""
    paths = [other for other in path.parent.glob(f"*.{_RULES}.index") if other != path]
    paths.sort(key=lambda other: other.stat().st_mtime_ns)
    indexes = {other.name: _read(other, is_own=True) for other in paths[-_EARLIER:]}
    return {name: index for name, index in indexes.items() if index is not None}


def build(layer: Iterable[tuple[str, bytes]], unpack: Callable[[bytes], Iterable[tuple[str, bytes]]]) -> LayerIndex:
    """The index of files, given by path and bytes."""
    places: list[str] = []
    keys: list[str] = []
    cached: list[str] = []
    numbers = array("Q")
    for path, data in layer:
        if hygiene.is_cached_package(path):
            cached.append(path)
        is_plain = not (path.endswith(".pyc") or hygiene.is_of_git(path) or hygiene.is_cached_package(path))
        key = layers.file_key(path, data).hex() if is_plain else ""
        for where, content in hygiene.contents(path, data, unpack):
            numbers.extend({_hash(text) + len(places) for text in hygiene.fingerprints(path, content)})
            places.append(where)
            keys.append(key)
    return LayerIndex(places=tuple(places), cached=tuple(cached), numbers=array("Q", sorted(numbers)), keys=tuple(keys))


def _read(path: Path, *, is_own: bool = False) -> LayerIndex | None:
    """A kept index, without those it points to if `is_own`; None where one is missing, or one is not whole."""
    try:
        head, _, tail = path.read_bytes().partition(b"\n")
        fields = json.loads(head)
        numbers = array("Q", tail)
        shared = () if is_own else _shared(path.parent, fields["shared"])
        if shared is None or len(numbers) != fields["numbers"]:
            return None
        lists = {name: tuple(fields[name]) for name in ("places", "cached", "keys")}
        return LayerIndex(**lists, numbers=numbers, shared=shared)
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _shared(cache: Path, keys_by_index: dict[str, list[str]]) -> tuple[tuple[LayerIndex, frozenset[str]], ...] | None:
    """Other indexes with the keys of files in them; None where one has not all of these any more."""
    shared = []
    for name, keys in keys_by_index.items():
        index = _read(cache / name, is_own=True)
        if index is None or not index.keys or not frozenset(keys) <= frozenset(index.keys):
            return None
        shared.append((index, frozenset(keys)))
    return tuple(shared)


def _hash(text: bytes) -> int:
    return int.from_bytes(hashlib.blake2b(text, digest_size=5).digest(), "big") << _FILE_BITS
