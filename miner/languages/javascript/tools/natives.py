"""Compile packages that hold native code and come without what is compiled: the only ones whose install script runs.

    natives.py TREE FACTS       FACTS gets `compiled`, names, and `not_compiled`, name by name the end of the output

The script is that of the package, without one node-gyp's, as npm has it. Standard library.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

MODULES = "node_modules"
SECONDS = 600
TAIL = 500


def packages(tree: Path) -> Iterator[Path]:
    """Folders of installed packages that are to be compiled."""
    for folder, _, files in os.walk(tree):
        place = Path(folder)
        if "binding.gyp" not in files or MODULES not in place.relative_to(tree).parts:
            continue
        inside_one = any((above / "package.json").exists() for above in place.parents if above.parent.name == MODULES)
        ready = (*place.glob("prebuilds/linux-*"), *place.glob("build/Release/*.node"))
        if (place / "package.json").is_file() and not ready and not inside_one:
            yield place


def compiled(place: Path, tree: Path) -> str:
    """The end of the output where a package can't be compiled; empty where it can."""
    manifest = json.loads((place / "package.json").read_bytes())
    line = manifest.get("scripts", {}).get("install", "node-gyp rebuild")
    bins = [str(above / ".bin") for above in place.parents if above.name == MODULES]
    env = dict(os.environ, PATH=os.pathsep.join([*bins, str(tree / MODULES / ".bin"), os.environ["PATH"]]))
    try:
        done = subprocess.run(
            ["/bin/sh", "-c", line],
            cwd=place,
            env=env,
            check=False,
            timeout=SECONDS,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
    except subprocess.TimeoutExpired:
        return f"it took longer than {SECONDS} s"
    said = done.stdout.decode("utf-8", "replace")
    print(said)
    return "" if done.returncode == 0 else said[-TAIL:] or f"exit code {done.returncode}"


def main(tree: Path, facts: Path) -> None:
    outcome = {place.name: compiled(place, tree) for place in sorted(packages(tree))}
    failures = {name: why for name, why in outcome.items() if why}
    done = [name for name in outcome if name not in failures]
    facts.write_text(json.dumps({"compiled": done, "not_compiled": failures}))


main(*map(Path, sys.argv[1:]))
