"""Compile packages that hold native code and come without what is compiled: the only ones whose install script runs.

    natives.py TREE FACTS IDLE…     FACTS gets `compiled`, names, and `not_compiled`, name by name the end of the output

What only packages bring that are called IDLE, as nothing names them, is left as it is: `idle`, names.
The script is that of the package, without one node-gyp's, as npm has it. Standard library.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

MODULES = "node_modules"
SECONDS = 300
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


def manifest(place: Path) -> dict[str, object]:
    try:
        data = json.loads((place / "package.json").read_bytes())
    except (OSError, ValueError):
        return {}
    return data if isinstance(data, dict) else {}


def required(place: Path, kinds: tuple[str, ...]) -> Iterator[str]:
    """The names of the packages that a manifest asks for."""
    data = manifest(place)
    for kind in kinds:
        table = data.get(kind)
        if isinstance(table, dict):
            yield from table


def needed(tree: Path, idle: frozenset[str]) -> set[Path]:
    """The folders of all packages that the tree asks for, through others too, but for the idle ones."""
    manifests = [path.parent for path in tree.rglob("package.json") if MODULES not in path.relative_to(tree).parts]
    of_tree = ("dependencies", "devDependencies", "optionalDependencies", "peerDependencies")
    waiting = [(place, name) for place in manifests for name in required(place, of_tree) if name not in idle]
    folders: set[Path] = set()
    while waiting:
        at, name = waiting.pop()
        place = next((way for above in (at, *at.parents) if (way := above / MODULES / name).is_dir()), None)
        real = place.resolve() if place else at
        if place and real not in folders:
            folders.add(real)
            waiting += [
                (real, other) for other in required(real, ("dependencies", "optionalDependencies", "peerDependencies"))
            ]
    return folders


def compiled(place: Path, tree: Path, until: float) -> str:
    """The end of the output where a package can't be compiled; empty where it can."""
    manifest = json.loads((place / "package.json").read_bytes())
    line = manifest.get("scripts", {}).get("install", "node-gyp rebuild")
    bins = [str(above / ".bin") for above in place.parents if above.name == MODULES]
    env = dict(os.environ, PATH=os.pathsep.join([*bins, str(tree / MODULES / ".bin"), os.environ["PATH"]]))
    script = subprocess.Popen(
        ["/bin/sh", "-c", line],
        cwd=place,
        env=env,
        start_new_session=True,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    try:
        said = script.communicate(timeout=max(0.0, until - time.monotonic()))[0].decode("utf-8", "replace")
    except subprocess.TimeoutExpired:
        os.killpg(script.pid, signal.SIGKILL)
        script.communicate()
        return f"all native packages may take {SECONDS} s, which is over"
    print(said)
    return "" if script.returncode == 0 else said[-TAIL:] or f"exit code {script.returncode}"


def main(tree: Path, facts: Path, idle: frozenset[str]) -> None:
    until = time.monotonic() + SECONDS
    natives = sorted(packages(tree))
    folders = needed(tree, idle) if natives and idle else set()
    skipped = [place for place in natives if idle and place.resolve() not in folders]
    outcome = {place.name: compiled(place, tree, until) for place in natives if place not in skipped}
    failures = {name: why for name, why in outcome.items() if why}
    done = [name for name in outcome if name not in failures]
    outcomes = {
        "compiled": done,
        "not_compiled": failures,
        **({"idle": [place.name for place in skipped]} if skipped else {}),
    }
    facts.write_text(json.dumps(outcomes))


main(*map(Path, sys.argv[1:3]), frozenset(sys.argv[3:]))
