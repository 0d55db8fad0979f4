"""What a further task of a repository takes on disk, beside an image of its own for each task.

    python benchmarks/disk.py [--flatten N] [--packed] DATASET…

Reads the sizes that the engine tells of the images of proved tasks (uncompressed bytes of layers; a layer that several
images share is there once). `shared_mb` is what all tasks of a dataset stand on together: base, and the interpreters
and toolchains of `toolchains_mb`, so that a dataset of each language tells what a machine needs for it;
`further_mb` is what one more task adds: its source, and its dependencies where no task before it had the same lock;
`source_mb` and `lock_mb` are the medians of those two. `alone_mb` is a whole image: what each task takes if it shares
nothing.

With `--flatten N`, N images of each dataset are exported (`docker export`) and counted: `flat_mb` is one image as one
layer, `flat_packed_mb` the same as gzip packs it. With `--packed`, all layers are saved (`docker save`) and packed one
by one, as they lie in a registry: `further_packed_mb` is what one more task adds there. Both read every byte and pack
on one core, about 30 MB a second. The last line is one JSON object; MB are millions of bytes.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import tarfile
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

sys.path.insert(0, str(Path(__file__).parent.parent))

from harness.core.process import stream
from harness.dataset.folder import open_dataset
from harness.sandbox import engine
from miner.images.store import StoredImage, images

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

OWN = ("system", "deps", "task")
"""Kinds of layers that a further task may bring; the others are the same for all of a machine's datasets."""
BASES = ("debian", "base")
_CHUNK = 1 << 20
_GZIP = 31
_LEVEL = 6
"""As the engine packs what it pushes."""


@dataclass(frozen=True, kw_only=True)
class Size:
    """Bytes as they are, and as gzip packs them."""

    plain: int = 0
    packed: int = 0

    def __add__(self, other: Size) -> Size:
        return Size(plain=self.plain + other.plain, packed=self.packed + other.packed)


def packed(chunks: Iterable[bytes]) -> Size:
    """How much it is, read once and kept nowhere."""
    pack = zlib.compressobj(_LEVEL, wbits=_GZIP)
    plain = out = 0
    for chunk in chunks:
        plain += len(chunk)
        out += len(pack.compress(chunk))
    return Size(plain=plain, packed=out + len(pack.flush()))


def flattened(image: str) -> Size:
    """All files of an image as one layer."""
    client: Any = engine.connect()
    container = client.create_container(image)["Id"]
    try:
        return packed(client.export(container))
    finally:
        engine.remove_container(container)


def layers(held: Sequence[str]) -> dict[str, tuple[tuple[str, Size], ...]]:
    """Every layer of these images, lowest first: its name, the same in all images that share it, and its size."""
    sizes: dict[str, Size] = {}
    listed: list[dict[str, Any]] = []
    with stream(["docker", "save", *held]) as source, tarfile.open(fileobj=source, mode="r|") as archive:
        for member in archive:
            file = archive.extractfile(member) if member.isfile() else None
            if file and member.name == "manifest.json":
                listed = json.load(file)
            elif file:
                sizes[member.name] = packed(iter(lambda file=file: file.read(_CHUNK), b""))  # type: ignore[misc]
            elif member.issym():
                sizes[member.name] = Size()
    by_config = {entry["Config"].split("/")[-1].removesuffix(".json"): entry["Layers"] for entry in listed}
    return {
        image: tuple((name, sizes[name]) for name in by_config[image.removeprefix("sha256:")]) for image in set(held)
    }


def chain(image: str, known: dict[str, StoredImage]) -> list[StoredImage]:
    """An image and all it is built on, as far as they are ours."""
    found = []
    at: str | None = image
    while at in known:
        found.append(known[at])
        at = known[at].parent
    return found


def held_of(path: Path, known: dict[str, StoredImage]) -> list[str]:
    """The images of a dataset's tasks that the engine holds, oldest task first."""
    asked = sorted((one.created_at, one.image) for one in open_dataset(path).instances() if one.image)
    held = [image for _, name in asked if (image := engine.image_id(name)) in known and image]
    if not held:
        sys.exit(f"the engine has no image of {path}")
    return held


def measure(path: Path, held: Sequence[str], known: dict[str, StoredImage]) -> dict[str, object]:
    """The figures of one dataset's images, as the engine tells them."""
    seen: dict[str, StoredImage] = {}
    further: list[int] = []
    for image in held:
        new = {layer.id: layer for layer in chain(image, known) if layer.id not in seen}
        further.append(sum(layer.layer_bytes for layer in new.values() if layer.kind in OWN))
        seen |= new
    alone = [sum(layer.layer_bytes for layer in chain(image, known)) for image in held]
    kinds = {kind: [layer.layer_bytes for layer in seen.values() if layer.kind == kind] for kind in OWN}
    everything = sum(layer.layer_bytes for layer in seen.values())
    tools = [layer for layer in seen.values() if layer.kind not in (*OWN, *BASES)]
    return {
        "dataset": path.name,
        "languages": sorted({one.language for one in open_dataset(path).instances()}),
        "tasks": len(held),
        "locks": len(kinds["deps"]),
        "shared_mb": _mb(everything - sum(further)),
        "toolchains_mb": {f"{layer.kind} {layer.version}".rstrip(): _mb(layer.layer_bytes) for layer in tools},
        "further_mb": _mb(statistics.mean(further)),
        "source_mb": _mb(statistics.median(kinds["task"])),
        "lock_mb": _mb(statistics.median(kinds["deps"])) if kinds["deps"] else 0.0,
        "alone_mb": _mb(statistics.mean(alone)),
        "all_mb": _mb(everything),
        "all_alone_mb": _mb(sum(alone)),
        "ratio": round(sum(alone) / everything, 1),
        "further_ratio": round(statistics.mean(alone) / statistics.mean(further), 1),
    }


def measure_flat(held: Sequence[str], count: int) -> dict[str, object]:
    """Some of the images as one layer each, spread over time."""
    step = max(1, len(held) // count)
    sizes = [flattened(image) for image in held[::step][:count]]
    return {
        "flat_mb": _mb(statistics.mean(one.plain for one in sizes)),
        "flat_packed_mb": _mb(statistics.mean(one.packed for one in sizes)),
    }


def measure_packed(held: Sequence[str], known: dict[str, StoredImage]) -> dict[str, object]:
    """What the images take in a registry, which keeps a layer that several share once."""
    by_image = layers(held)
    every = {name: size for found in by_image.values() for name, size in found}
    seen: set[str] = set()
    further: list[int] = []
    for image in held:
        own = sum(layer.kind in OWN for layer in chain(image, known))
        new = {name: size for name, size in by_image[image][-own:] if name not in seen}
        further.append(sum(size.packed for size in new.values()))
        seen |= set(new)
    return {
        "all_packed_mb": _mb(sum(size.packed for size in every.values())),
        "further_packed_mb": _mb(statistics.mean(further)),
    }


def _mb(size: float) -> float:
    return round(size / 1e6, 2)


def main() -> None:
    """Tell the figures of each dataset."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("datasets", type=Path, nargs="+")
    parser.add_argument("--flatten", type=int, default=0, metavar="N")
    parser.add_argument("--packed", action="store_true")
    options = parser.parse_args()
    known = {image.id: image for image in images()}
    rows = []
    for path in options.datasets:
        held = held_of(path, known)
        row = measure(path, held, known)
        if options.flatten:
            row |= measure_flat(held, options.flatten)
        if options.packed:
            row |= measure_packed(held, known)
        print("  ".join(f"{name} {value}" for name, value in row.items()), flush=True)
        rows.append(row)
    print(json.dumps({"datasets": rows}))


if __name__ == "__main__":
    main()
