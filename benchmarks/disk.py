"""What a further task of a repository takes on disk, beside an image of its own for each task.

    python benchmarks/disk.py DATASET…

Reads the sizes that the engine tells of the images of proved tasks (uncompressed bytes of layers; a layer that several
images share is there once). `shared_mb` is what all tasks of a dataset stand on together (base, interpreters);
`further_mb` is what one more task adds: its source, and its dependencies where no task before it had the same lock.
`alone_mb` is a whole image: what each task would take if it shared nothing. The last line is one JSON object.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from harness.dataset.folder import open_dataset
from harness.sandbox import engine
from miner.image.store import StoredImage, images


def chain(image: str, known: dict[str, StoredImage]) -> list[StoredImage]:
    """An image and all it is built on, as far as they are ours."""
    found = []
    at: str | None = image
    while at in known:
        found.append(known[at])
        at = known[at].parent
    return found


def measure(path: Path, known: dict[str, StoredImage]) -> dict[str, object]:
    """The figures of one dataset's images that the engine holds."""
    asked = sorted((one.created_at, one.image) for one in open_dataset(path).instances() if one.image)
    held = [image for _, name in asked if (image := engine.image_id(name)) in known and image]
    if not held:
        sys.exit(f"the engine has no image of {path}")
    seen: dict[str, StoredImage] = {}
    further: list[int] = []
    for image in held:
        new = {layer.id: layer for layer in chain(image, known) if layer.id not in seen}
        further.append(sum(layer.layer_bytes for layer in new.values() if layer.kind in ("task", "deps")))
        seen |= new
    alone = [sum(layer.layer_bytes for layer in chain(image, known)) for image in held]
    kinds = {kind: [layer.layer_bytes for layer in seen.values() if layer.kind == kind] for kind in ("deps", "task")}
    everything = sum(layer.layer_bytes for layer in seen.values())
    return {
        "dataset": path.name,
        "tasks": len(held),
        "locks": len(kinds["deps"]),
        "shared_mb": _mb(everything - sum(further)),
        "further_mb": _mb(statistics.mean(further)),
        "source_mb": _mb(statistics.median(kinds["task"])),
        "lock_mb": _mb(statistics.median(kinds["deps"])) if kinds["deps"] else 0.0,
        "alone_mb": _mb(statistics.mean(alone)),
        "all_mb": _mb(everything),
        "all_alone_mb": _mb(sum(alone)),
        "ratio": round(sum(alone) / everything, 1),
    }


def _mb(size: float) -> float:
    return round(size / 1e6, 2)


def main() -> None:
    """Tell the figures of each dataset."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("datasets", type=Path, nargs="+")
    known = {image.id: image for image in images()}
    rows = [measure(path, known) for path in parser.parse_args().datasets]
    for row in rows:
        print("  ".join(f"{name} {value}" for name, value in row.items()))
    print(json.dumps({"datasets": rows}))


if __name__ == "__main__":
    main()
