"""Doctests in text files: which of a change's documents are tests, by the repository's own settings. Pure but for git.

Such a file is one that pytest would take for a test: its name matches a `--doctest-glob` of the repository (`test*.txt`
where it has none, as pytest has it), and the change adds or removes a line of an example in it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from fnmatch import fnmatch
from pathlib import PurePosixPath

from miner.languages.base import Contents
from miner.languages.python.test_command import doctest_globs
from miner.sources.change import Kind

SUFFIXES = (".rst", ".txt", ".md")
"""Of documents whose examples may be tests."""
_NEVER = re.compile(r"(?:change|histor|news|release|licen|author|requirement|readme\.md)", re.IGNORECASE)
_EXAMPLE = re.compile(rb"^[ +-][ \t]*>>> ", re.MULTILINE)
_CHANGED = re.compile(rb"^[+-][ \t]*\S", re.MULTILINE)


def changed_texts(repo: Contents, base: str, head: str, kinds: Mapping[str, Kind]) -> list[str]:
    """The paths of text files with doctests that a change's tests consist of.

    Raises:
        MissingObjectsError: of a partial clone, which lacks a file.

    """
    candidates = [path for path, kind in kinds.items() if kind in (Kind.GOLD, Kind.SUPPORT) and _could_be(path)]
    if not candidates:
        return []
    globs = doctest_globs(lambda path: repo.read_file(head, path))
    candidates = [path for path in candidates if _matches(path, globs)]
    if not candidates:
        return []
    sections = repo.diff_sections(base, head)
    return [path for path in candidates if holds_examples(sections.get(path, b""))]


def _could_be(path: str) -> bool:
    return path.endswith(SUFFIXES) and not _NEVER.match(PurePosixPath(path).name)


def _matches(path: str, globs: Iterable[str]) -> bool:
    """Whether a pattern of doctest's is one of this file: of its whole path where it has a folder, else of its name."""
    return any(fnmatch(path if "/" in glob else PurePosixPath(path).name, glob) for glob in globs)


def holds_examples(raw: bytes) -> bool:
    """Whether a section of a diff changes something in a hunk that holds an example."""
    hunks = re.split(rb"^@@ .*$", raw, flags=re.MULTILINE)[1:]
    return any(_EXAMPLE.search(hunk) and _CHANGED.search(hunk) for hunk in hunks)
