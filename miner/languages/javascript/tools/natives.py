"""Compile packages that hold native code and come without what is compiled: the only ones whose install script runs.

    natives.py TREE FACTS       FACTS gets `compiled`, names, and `not_compiled`, name by name the end of the output

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


def main(tree: Path, facts: Path) -> None:
    until = time.monotonic() + SECONDS
    outcome = {place.name: compiled(place, tree, until) for place in sorted(packages(tree))}
    failures = {name: why for name, why in outcome.items() if why}
    done = [name for name in outcome if name not in failures]
    facts.write_text(json.dumps({"compiled": done, "not_compiled": failures}))


main(*map(Path, sys.argv[1:]))
