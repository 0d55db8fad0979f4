"""History that was taken over from another project: of whose tree a commit has some files alone."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import PurePosixPath

from harness.core import python_source
from miner.evidence.tree import Tree

_DESCRIBES = re.compile(
    r"(?:.*/)?(?:pyproject\.toml|setup\.(?:py|cfg)|tox\.ini|noxfile\.py|Pipfile|environment\.ya?ml"
    r"|[^/]*require[^/]*\.(?:txt|in|pip))|(?:.*/)?requirements/.*"
)
"""Files that say how a project is installed, or what its tests need."""


def lacking(tree: Tree, test_files: Sequence[str]) -> str | None:
    """What tests import of a project of which the tree has a part and no description; None where nothing is known.

    A part is the package of what is imported (`scrapy` of `scrapy.http`), or the module outside of its package
    (`constants.py` of `twisted.python.constants`). Imports that may fail are none.
    """
    files = tree.files()
    if any(map(_DESCRIBES.fullmatch, files)):
        return None
    there = {words for path in map(PurePosixPath, files) if path.suffix in {".py", ".pyx"} for words in _names(path)}
    for path in test_files:
        for module in _imported(tree.read(path)):
            words = tuple(module.split("."))
            if words not in there and len(words) > 1 and (words[:1] in there or words[-1:] in there):
                return f"{path} imports {module}"
    return None


def _names(path: PurePosixPath) -> Iterator[tuple[str, ...]]:
    """Of a module and the folders above it, whatever folder they are imported from."""
    words = (*path.parts[:-1], path.stem)
    return (words[start:end] for end in range(1, len(words) + 1) for start in range(end))


def _imported(source: bytes | None) -> Iterator[str]:
    """Modules by their absolute names that a module's top imports, whatever happens; not those of Python itself."""
    parsed = python_source.parsed(source or b"")
    for node in parsed.body if parsed else ():
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and not node.level and node.module:
            names = [node.module]
        yield from (name for name in names if name.partition(".")[0] not in sys.stdlib_module_names)
