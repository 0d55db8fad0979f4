"""Keep what a package manager has installed out of the tree, and put it back as links.

    modules.py keep TREE STORE      moves every node_modules of a tree to the same place below STORE
    modules.py link STORE TREE      makes each of them a folder of links in a tree
    modules.py own TREE             has newer versions of the repository's own packages, which may hold the fix that is
                                    asked for, be the tree's

A trial copies the tree, so that it copies links alone; runners may write into node_modules, which are folders. Links
that led to packages of the repository itself lead into the tree.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

NAME = "node_modules"
NOT_PUBLISHED = frozenset({"test", "tests", "fixture", "fixtures", "example", "examples"})


def places(top: Path) -> Iterator[Path]:
    """Each node_modules that is in no other, relative to `top`."""
    for folder, folders, _ in os.walk(top):
        if NAME in folders:
            yield (Path(folder) / NAME).relative_to(top)
            folders.remove(NAME)


def manifest(place: Path) -> dict[str, object]:
    try:
        data = json.loads((place / "package.json").read_bytes())
    except (OSError, ValueError):
        return {}
    return data if isinstance(data, dict) else {}


def release(version: object) -> tuple[object, ...]:
    """What of a version is compared: its numbers, then what comes before its release; of none, less than all others."""
    numbers, _, before = str(version).partition("+")[0].partition("-")
    parts = tuple((0, int(part), "") if part.isdigit() else (1, 0, part) for part in before.split(".") if part)
    return tuple(map(int, re.findall(r"\d+", numbers))), not parts, parts


def own(tree: Path) -> None:
    mine: dict[object, tuple[Path, tuple[object, ...]]] = {}
    installed: list[Path] = []
    for folder, _, files in os.walk(tree):
        if "package.json" not in files:
            continue
        place = Path(folder)
        parts = place.relative_to(tree).parts
        if NAME in parts:
            installed.append(place)
        elif NOT_PUBLISHED.isdisjoint(parts):
            data = manifest(place)
            mine.setdefault(data.get("name"), (place, release(data.get("version"))))
    for place in installed:
        inside = NAME in (place.parent.name, place.parent.parent.name)
        data = manifest(place) if inside and place.is_dir() else {}
        where, version = mine.get(data.get("name"), (None, ()))
        if where is not None and data.get("name") and release(data.get("version")) > version:
            shutil.rmtree(place)
            place.symlink_to(where)


def keep(tree: Path, store: Path) -> None:
    for place in list(places(tree)):
        (store / place).parent.mkdir(parents=True, exist_ok=True)
        shutil.move(tree / place, store / place)
    for folder, folders, files in os.walk(store):
        for path in (Path(folder) / name for name in (*folders, *files)):
            if path.is_symlink():
                settle(path, tree, store)


def settle(path: Path, tree: Path, store: Path) -> None:
    """A link that leaves what was moved leads to where that was."""
    was = tree / path.parent.relative_to(store)
    meant = Path(os.path.normpath(was / path.readlink()))
    if tree in meant.parents and NAME not in meant.relative_to(tree).parts:
        path.unlink()
        path.symlink_to(meant)


def link(store: Path, tree: Path) -> None:
    for place in places(store):
        there, here = store / place, tree / place
        if not here.parent.is_dir():
            continue
        for entry in there.iterdir():
            for one in entry.iterdir() if entry.name.startswith("@") and not entry.is_symlink() else (entry,):
                new = here / one.relative_to(there)
                new.parent.mkdir(parents=True, exist_ok=True)
                if not os.path.lexists(new):
                    new.symlink_to(one.readlink() if one.is_symlink() and one.readlink().is_absolute() else one)


{"keep": keep, "link": link, "own": own}[sys.argv[1]](*map(Path, sys.argv[2:]))
