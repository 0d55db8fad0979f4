"""Requirements files for tests and development."""

from __future__ import annotations

import re

from miner.evidence.tree import Evidence, Tree

_WORDS = ("tests?", "testing", "dev(?:el(?:op(?:ment)?)?)?", "ci")
_PATTERNS = tuple(
    re.compile(pattern)
    for word in _WORDS
    for pattern in (
        rf"(?:requirements|reqs?|dependencies)/(?:requirements[-_.])?{word}\.(?:txt|in)$",
        rf"requirements[-_.]{word}\.(?:txt|in)$",
        rf"{word}[-_.](?:requirements|reqs?)\.(?:txt|in)$",
        rf"{word}/requirements\.(?:txt|in)$",
    )
)
PROJECT_FILE = "requirements.txt"
"""What a project that can't be installed needs to run."""


def detect(tree: Tree) -> Evidence | None:
    """The requirements file for tests, by name; one for development where there is none for tests."""
    paths = tree.files()
    for pattern in _PATTERNS:
        matching = sorted(
            (path for path in paths if pattern.match(path)), key=lambda path: (path.endswith(".in"), path)
        )
        if matching:
            return Evidence(rung=f"requirements:{matching[0]}", files=(matching[0],))
    return None


def of_project(tree: Tree) -> Evidence | None:
    """The file with what a project needs to run that can't be installed; None where there is none."""
    evidence = Evidence(rung=f"requirements:{PROJECT_FILE}", files=(PROJECT_FILE,))
    return evidence if tree.read(PROJECT_FILE) is not None else None


def source_of(path: str, tree: Tree) -> str | None:
    """The `.in` file that a compiled requirements file was made from; None if it has none."""
    source = path.removesuffix(".txt") + ".in"
    return source if path.endswith(".txt") and tree.read(source) is not None else None
