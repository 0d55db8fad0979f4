"""Yarn as the scripts of a build call it, by npm: for yarn itself runs nothing without what its own install leaves.

    yarn [--cwd FOLDER] [run] NAME …, yarn workspace PACKAGE …, yarn workspaces foreach|run …

What is named is a script of the package, else a program that is installed. Packages of a workspace follow those that
they require; of these, what lacks the script is passed over. Standard library.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

REQUIRED = ("dependencies", "devDependencies", "peerDependencies")
TAKES_A_VALUE = frozenset({"-j", "--jobs", "--from", "--include", "--exclude"})


def table(data: dict[str, object], key: str) -> dict[str, object]:
    value = data.get(key)
    return value if isinstance(value, dict) else {}


def manifest(folder: Path) -> dict[str, object]:
    try:
        data = json.loads((folder / "package.json").read_bytes())
    except (OSError, ValueError):
        return {}
    return data if isinstance(data, dict) else {}


def packages(folder: Path) -> dict[str, Path]:
    """The packages of the workspace around a folder by name, each after those that it requires."""
    top = next((above for above in (folder, *folder.parents) if manifest(above).get("workspaces")), folder)
    patterns = manifest(top).get("workspaces")
    patterns = patterns.get("packages") if isinstance(patterns, dict) else patterns
    places = [place for pattern in patterns or () for place in sorted(top.glob(str(pattern).removeprefix("./")))]
    by_name = {str(manifest(place).get("name")): place for place in places if manifest(place)}
    order: dict[str, Path] = {}

    def visit(name: str, waiting: frozenset[str]) -> None:
        needs = [other for key in REQUIRED for other in table(manifest(by_name[name]), key)]
        for other in needs:
            if other in by_name and other not in order and other not in waiting:
                visit(other, waiting | {name})
        order[name] = by_name[name]

    for name in by_name:
        visit(name, frozenset({name}))
    return order


def run(words: list[str], folder: Path) -> int:
    words = words[1:] if words[:1] == ["run"] else words
    if not words or words[0] == "install":
        return 0
    name, rest = words[0], words[1:]
    argv = rest if name == "exec" else words
    if name in table(manifest(folder), "scripts"):
        argv = ["npm", "run", name, *(["--", *rest] if rest else [])]
    return subprocess.run(argv, cwd=folder, check=False).returncode


def each(words: list[str], folder: Path) -> int:
    """A command in all packages that have it, until one fails."""
    words = list(words[1:] if words[:1] == ["foreach"] else words)
    while words and words[0].startswith("-"):
        del words[: 2 if words[0] in TAKES_A_VALUE else 1]
    name = next((word for word in words if word != "run"), "")
    having = [place for place in packages(folder).values() if name in table(manifest(place), "scripts")]
    return next((code for code in (run(words, place) for place in having) if code), 0)


def main(words: list[str]) -> int:
    folder = Path.cwd()
    while words and words[0].startswith("-"):
        folder = folder / words[1] if words[0] == "--cwd" else folder
        del words[: 2 if words[0] == "--cwd" else 1]
    if words[:1] == ["workspaces"]:
        return each(words[1:], folder)
    if words[:1] == ["workspace"]:
        return run(words[2:], packages(folder).get("".join(words[1:2]), folder))
    return run(words, folder)


sys.exit(main(sys.argv[1:]))
