"""What a shared layer holds, remembered so that every fix can be looked for in it without reading the layer again.

Each line, commit, and name or text of byte code (`hygiene.fingerprints`) is a number of 64 bits: 40 of its hash, 24 of
the file that has it. Sorted, they answer which files have a line by two bisections. A given line shares its hash with
one of three million numbers in one of 360,000 layers, and it takes several lines of one file to reject a candidate.
"""

from __future__ import annotations

import bisect
import hashlib
import json
import threading
from array import array
from dataclasses import dataclass
from typing import TYPE_CHECKING

from harness.checks import hygiene
from harness.core import files
from harness.sandbox.images import layers

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable
    from pathlib import Path

_RULES = 2
"""Counted up when what is remembered of a layer changes."""
_FILE_BITS = 24
_making: dict[Path, threading.Lock] = {}
_making_lock = threading.Lock()


@dataclass(frozen=True, kw_only=True)
class LayerIndex:
    """Which files of a layer have a fingerprint."""

    places: tuple[str, ...]
    """Files, and git objects as `FILE:OBJECT`."""
    cached: tuple[str, ...]
    """Files in caches of package installers."""
    numbers: array[int]
    """Sorted: a hash in the upper 40 bits, the number of a place in the lower 24."""

    def feed(self, search: hygiene.Search) -> None:
        """Tell a search of everything in the layer that it looks for."""
        secrets = search.secrets
        lines = self._by_place(hygiene.LINE, secrets.texts)
        words = self._by_place(hygiene.WORD, secrets.words)
        commits = self._by_place(hygiene.COMMIT, secrets.commits)
        for place in sorted({*lines, *words, *commits}):
            where = self.places[place]
            search.hit(where, lines=lines.get(place, ()), words=words.get(place, ()), commits=commits.get(place, ()))
        for where in self.cached:
            search.hit(where, cached=True)

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
            index = build(layers.newest_layer(image, text_only=True), unpack)
            cache.mkdir(parents=True, exist_ok=True)
            head = json.dumps({"places": index.places, "cached": index.cached, "numbers": len(index.numbers)})
            files.write_bytes(path, b"%s\n%s" % (head.encode(), index.numbers.tobytes()))
        return index


def build(layer: Iterable[tuple[str, bytes]], unpack: Callable[[bytes], Iterable[tuple[str, bytes]]]) -> LayerIndex:
    """The index of files, given by path and bytes."""
    places: list[str] = []
    cached: list[str] = []
    numbers = array("Q")
    for path, data in layer:
        if hygiene.is_cached_package(path):
            cached.append(path)
        for where, content in hygiene.contents(path, data, unpack):
            numbers.extend({_hash(text) + len(places) for text in hygiene.fingerprints(path, content)})
            places.append(where)
    return LayerIndex(places=tuple(places), cached=tuple(cached), numbers=array("Q", sorted(numbers)))


def _read(path: Path) -> LayerIndex | None:
    """A kept index; None where there is none, or what is there is not whole."""
    try:
        head, _, tail = path.read_bytes().partition(b"\n")
        fields = json.loads(head)
        numbers = array("Q", tail)
        whole = len(numbers) == fields["numbers"]
        return (
            LayerIndex(places=tuple(fields["places"]), cached=tuple(fields["cached"]), numbers=numbers)
            if whole
            else None
        )
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _hash(text: bytes) -> int:
    return int.from_bytes(hashlib.blake2b(text, digest_size=5).digest(), "big") << _FILE_BITS
