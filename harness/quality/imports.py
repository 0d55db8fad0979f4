"""How far a test stands from the fix: by imports, and by folders. Pure; nothing is run, imports are read as text."""

from __future__ import annotations

import re
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping

DEEPEST = 6
"""Steps of imports that are followed."""
_IMPORT = re.compile(rb"^[ \t]*import[ \t]+([^\n#;]+)", re.MULTILINE)
_FROM = re.compile(rb"^[ \t]*from[ \t]+(\.*)[ \t]*([\w.]*)[ \t]+import[ \t]+(\([^)]*\)|[^\n#;]+)", re.MULTILINE)


def import_distance(
    tests: Mapping[str, bytes], fixed: Collection[str], files: Mapping[str, bytes], *, roots: Iterable[str]
) -> int | None:
    """Steps of imports from the nearest test to the farthest fixed file that tests reach: 1 where a test imports it.

    Args:
        tests: sources of the test files, by path.
        fixed: paths of the fixed Python files.
        files: the tree's files.
        roots: folders that modules are imported from.

    Returns:
        None where no fixed file is reached within `DEEPEST` steps.

    """
    folders = tuple(roots)
    reached = dict.fromkeys(tests, 0)
    wave = list(tests)
    left = set(fixed)
    farthest: int | None = 0 if left & reached.keys() else None
    left -= reached.keys()
    for step in range(1, DEEPEST + 1):
        following: list[str] = []
        for path in wave:
            source = tests.get(path) or files.get(path, b"")
            following += [
                path_found for path_found in imported(path, source, files, roots=folders) if path_found not in reached
            ]
            reached |= dict.fromkeys(following, step)
        if met := left & set(following):
            farthest = step
            left -= met
        wave = list(dict.fromkeys(following))
        if not left or not wave:
            break
    return farthest


def imported(path: str, source: bytes, files: Mapping[str, bytes], *, roots: Iterable[str]) -> Iterator[str]:
    """Paths of the tree's files that a Python file imports; packages by their `__init__.py`."""
    folders = [*roots, str(PurePosixPath(path).parent).removeprefix(".")]
    for match in _IMPORT.finditer(source):
        for part in _text(match[1]).split(","):
            yield from _files(part.split(" as ")[0].strip(), folders, files)
    for match in _FROM.finditer(source):
        dots, module = len(match[1]), _text(match[2])
        within = folders
        if dots:
            parents = PurePosixPath(path).parents
            within = [str(parents[dots - 1]).removeprefix(".")] if dots <= len(parents) else []
        yield from _files(module, within, files)
        for part in _text(match[3]).strip("()").split(","):
            name = part.split(" as ")[0].split("#")[0].strip()
            if name.isidentifier():
                yield from _files(f"{module}.{name}".strip("."), within, files)


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace")


def _files(module: str, folders: Iterable[str], files: Mapping[str, bytes]) -> Iterator[str]:
    for folder in folders:
        place = "/".join(part for part in (folder, *module.split(".")) if part)
        for candidate in (f"{place}.py", f"{place}/__init__.py"):
            if candidate in files:
                yield candidate
                return


def path_distance(left_path: str, other: str) -> int:
    """Folders to leave and to enter on the way from one file to the other; 0 within a folder."""
    left, right = PurePosixPath(left_path).parent.parts, PurePosixPath(other).parent.parts
    shared = 0
    for left_part, right_part in zip(left, right, strict=False):
        if left_part != right_part:
            break
        shared += 1
    return len(left) + len(right) - 2 * shared
