"""How quickly near-duplicates of a fix are found among thousands, and what MinHash would find of them.

    python benchmarks/near_duplicates.py [--rows 10000] [--doubles 400]

Makes fixes of about the sizes that 73 real ones have (median 95 runs of tokens, largest 2,550), and doubles of some of
them that share from half to all of the smaller one and are up to 64 times as large or small. Compares three ways: each
with each, the index of `dataset/similarity/postings.py`, and MinHash with LSH from datasketch, in an environment of its
own from the package index. Prints seconds, memory and what is found; the last line is one JSON object.
"""

from __future__ import annotations

import argparse
import json
import resource
import tempfile
import time
from array import array
from pathlib import Path
from typing import Any

import numpy as np

from harness.core import process
from harness.dataset.similarity.near import Fix, FixIndex
from harness.dataset.similarity.shingles import Postings
from tests import pypi_tools

TOOLS = ("datasketch==2.0.0", "numpy")
SHARES = ((0.5, 0.65), (0.65, 0.8), (0.8, 1.01))
MINHASH = """
import json, resource, sys, time
import numpy as np
from datasketch import MinHash, MinHashLSH
data = np.load(sys.argv[1])
bands, rows = int(sys.argv[2]), int(sys.argv[3])
def sketch(values):
    made = MinHash(num_perm=bands * rows, hashfunc=int)
    made.update_batch((values & np.uint64(0xFFFFFFFF)).tolist())
    return made
def sets(name):
    return np.split(data[name], data[name + "_ends"][:-1])
began = time.monotonic()
lsh = MinHashLSH(num_perm=bands * rows, params=(bands, rows))
for number, values in enumerate(sets("rows")):
    lsh.insert(number, sketch(values))
built = time.monotonic()
found = [lsh.query(sketch(values)) for values in sets("doubles")]
asked = time.monotonic()
print(json.dumps({"build": built - began, "ask": asked - built, "found": [sorted(map(int, one)) for one in found],
                  "mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024}))
"""


def main() -> None:
    """Measure the three ways."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=10_000)
    parser.add_argument("--doubles", type=int, default=400)
    asked = parser.parse_args()
    dice = np.random.default_rng(0)
    rows = [dice.integers(0, 2**64, size=size, dtype=np.uint64) for size in _sizes(dice, asked.rows)]
    of = dice.integers(len(rows), size=asked.doubles)
    shares = dice.uniform(0.5, 1.0, size=asked.doubles)
    doubles = [_double(dice, rows[row], share) for row, share in zip(of, shares, strict=True)]
    told = {"each with each": _each(rows, doubles), "index": _index(rows, doubles)}
    with tempfile.TemporaryDirectory() as folder:
        for bands, per_band in ((128, 1), (64, 2)):
            told[f"MinHash {bands}x{per_band}"] = _minhash(Path(folder), rows, doubles, bands, per_band)
    print(f"{len(rows)} fixes, median {int(np.median([len(row) for row in rows]))} runs; {len(doubles)} doubles")
    report: dict[str, dict[str, Any]] = {}
    for name, (build, ask, found, mb) in told.items():
        hits = np.array([row in one for row, one in zip(of.tolist(), found, strict=True)])
        by_share = {f"{low:g}": float(hits[(shares >= low) & (shares < high)].mean()) for low, high in SHARES}
        shown = ", ".join(f"{share:.1%} from {low}" for low, share in by_share.items())
        print(f"{name:16} {build:6.2f} s to build, {1000 * ask / len(doubles):7.2f} ms a fix, {mb} MB; found: {shown}")
        report[name] = {
            "build": round(build, 3),
            "ms": round(1000 * ask / len(doubles), 3),
            "mb": mb,
            "found": by_share,
        }
    times = report["each with each"]["ms"] / report["index"]["ms"]
    print(f"the index asks {times:.0f} times as fast as comparing each with each")
    print(json.dumps({"benchmark": "near_duplicates", "rows": len(rows), "times_faster": round(times, 1), **report}))


def _sizes(dice: np.random.Generator, count: int) -> list[int]:
    return [int(size) for size in np.clip(dice.lognormal(4.6, 1.1, count), 6, 5000)]


def _double(dice: np.random.Generator, row: np.ndarray, share: float) -> np.ndarray:
    size = max(6, int(len(row) * 2.0 ** dice.uniform(-6, 6)))
    kept = min(len(row), int(np.ceil(share * min(size, len(row)))))
    other = dice.integers(0, 2**64, size=max(0, size - kept), dtype=np.uint64)
    return np.concatenate([dice.choice(row, size=kept, replace=False), other])


Told = tuple[float, float, list[list[int]], int]


def _each(rows: list[np.ndarray], doubles: list[np.ndarray]) -> Told:
    began = time.monotonic()
    found = []
    for one in doubles:
        shared = [len(np.intersect1d(one, row, assume_unique=True)) for row in rows]
        pairs = enumerate(zip(shared, rows, strict=True))
        found.append([number for number, (both, row) in pairs if both >= 0.5 * min(len(one), len(row))])
    return 0.0, time.monotonic() - began, found, _mb()


def _index(rows: list[np.ndarray], doubles: list[np.ndarray]) -> Told:
    shelf = FixIndex()
    nothing = array("Q")
    for number, row in enumerate(rows):
        shelf.add(Fix(name=str(number), patch_id=f"row {number}", code=_hashes(row), statement=nothing))
    began = time.monotonic()
    shelf.near(Fix(name="first", patch_id="first", code=nothing, statement=nothing))
    built = time.monotonic()
    for number, one in enumerate(doubles):
        shelf.near(Fix(name=f"double {number}", patch_id=f"double {number}", code=_hashes(one), statement=nothing))
    asked = time.monotonic()
    postings = Postings.of([_hashes(row) for row in rows])
    found = [
        [row for row, both in postings.shared(_hashes(one)).items() if both >= 0.5 * min(len(one), len(rows[row]))]
        for one in doubles
    ]
    return built - began, asked - built, found, _mb()


def _hashes(values: np.ndarray) -> array[int]:
    return array("Q", np.sort(values).tolist())


def _minhash(folder: Path, rows: list[np.ndarray], doubles: list[np.ndarray], bands: int, per_band: int) -> Told:
    python = pypi_tools.environment(*TOOLS).python
    file = folder / "sets.npz"
    ends = {
        "rows_ends": np.cumsum([len(row) for row in rows]),
        "doubles_ends": np.cumsum([len(one) for one in doubles]),
    }
    np.savez(file, rows=np.concatenate(rows), doubles=np.concatenate(doubles), **ends)  # type: ignore[arg-type]
    done = process.run([str(python), "-c", MINHASH, str(file), str(bands), str(per_band)], timeout=1200)
    told = json.loads(done.stdout.decode())
    return told["build"], told["ask"], told["found"], told["mb"]


def _mb() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


if __name__ == "__main__":
    main()
