"""Snapshots in files of their own, as insta keeps them in a folder beside a test file. Pure."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Collection, Iterator, Mapping

FOLDER, ENDING = "snapshots", ".snap"
_COMPARES = re.compile(rb"\bassert_\w*snapshot\w*!")
_SOURCE = re.compile(rb"^source: (\S+)$", re.MULTILINE)


def used(sources: Mapping[str, bytes]) -> frozenset[str]:
    """Of some files those that compare with snapshots."""
    return frozenset(path for path, text in sources.items() if path.endswith(".rs") and _COMPARES.search(text))


def of_tests(tests: Collection[str], sources: Mapping[str, bytes]) -> Iterator[str]:
    """Of some files those that have the snapshots of some test files: they name these, or lie beside them."""
    for path, text in sources.items():
        folder, name = posixpath.split(posixpath.dirname(path))
        if path.endswith(ENDING) and name == FOLDER:
            source = _SOURCE.search(text)
            named = f"/{source[1].decode('utf-8', 'replace')}" if source else ""
            if any(f"/{test}".endswith(named) if named else posixpath.dirname(test) == folder for test in tests):
                yield path
