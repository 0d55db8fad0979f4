"""How far a test stands from the fix: by imports, and by folders. Pure."""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from harness.quality.base import Reader

DEEPEST = 6
"""Steps of imports that are followed."""


def import_distance(
    tests: Mapping[str, bytes],
    fixed: Collection[str],
    files: Mapping[str, bytes],
    *,
    reader: Reader,
    roots: Iterable[str],
) -> int | None:
    """Steps of imports from the nearest test to the farthest fixed file that tests reach: 1 where a test imports it.

    Args:
        tests: sources of the test files, by path.
        fixed: paths of the fixed source files.
        files: the tree's files.
        reader: of the task's language.
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
            imported = reader.imported(path, source, files, folders)
            following += [path for path in imported if path not in reached]
            reached |= dict.fromkeys(following, step)
        if met := left & set(following):
            farthest = step
            left -= met
        wave = list(dict.fromkeys(following))
        if not left or not wave:
            break
    return farthest


def path_distance(left_path: str, other: str) -> int:
    """Folders to leave and to enter on the way from one file to the other; 0 within a folder."""
    left, right = PurePosixPath(left_path).parent.parts, PurePosixPath(other).parent.parts
    shared = 0
    for left_part, right_part in zip(left, right, strict=False):
        if left_part != right_part:
            break
        shared += 1
    return len(left) + len(right) - 2 * shared
