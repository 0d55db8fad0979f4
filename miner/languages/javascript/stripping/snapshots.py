"""Snapshots in files of their own, as jest and vitest keep them beside a test file. Pure."""

from __future__ import annotations

import posixpath
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    from harness.languages.base import TestReport
    from miner.languages.base import TaskRun

_COMPARES = re.compile(rb"\bto(?:Match|ThrowErrorMatching)Snapshot\b")


def file_of(test_file: str) -> str:
    """The file that has the snapshots of a test file, where the project has no rule of its own for that."""
    folder, name = posixpath.split(test_file)
    return posixpath.join(folder, "__snapshots__", f"{name}.snap")


def used(tests: Mapping[str, bytes], files: Collection[str]) -> frozenset[str]:
    """Of some test files those that compare with such a file, where it is one of `files`."""
    return frozenset(path for path, text in tests.items() if file_of(path) in files and _COMPARES.search(text))


def emptied(filed: Collection[str], tests: Mapping[str, bytes]) -> Iterator[str]:
    """The files of snapshots that nothing reads any more; `filed` are the test files that had them."""
    return (file_of(path) for path, text in tests.items() if path in filed and not _COMPARES.search(text))


def without(filed: Collection[str], run: TaskRun) -> TaskRun:
    """Runs in which those files are empty."""

    def run_without(files: Mapping[str, bytes], *, gold: bool, number: int = 0) -> TestReport:
        return run({**files, **dict.fromkeys(emptied(filed, files), b"")}, gold=gold, number=number)

    return run_without
