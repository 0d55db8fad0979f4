"""Source files of any language, read as text: names alone, as no parser is known."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from miner.languages.base import Described

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from harness.languages.base import TestReport
    from harness.quality.base import Keyword, Names
    from harness.quality.change import FileChange
    from miner.evidence.tree import Tree
    from miner.languages.base import FaultySource

_NAME = re.compile(r"[^\W\d]\w*")
_QUALIFIED = r"(?:[\w\\]+(?:::|\\|\.))*"
_WANTED = re.compile(
    r"(?:undefined|undeclared|implicit declaration|no member|cannot find|unresolved|unknown|too (?:many|few) arguments)"
    rf"\b[^\n‘'`\"]{{0,80}}[‘'`\"]{_QUALIFIED}(\w+)"
    rf"|[‘'`\"]{_QUALIFIED}(\w+)['’`\"] (?:undeclared|not found|was not declared)"
    rf"|uninitialized constant {_QUALIFIED}(\w+)"
    rf"|undefined (?:method|function|constant) {_QUALIFIED}(\w+)",
    re.IGNORECASE,
)
"""How compilers and interpreters tell which name they miss: gcc, clang, ld, Ruby, PHP, and others that speak alike."""


class DeclaredCode:
    """Nothing is measured of it that takes a syntax tree."""

    mutator = "re"

    def is_source(self, path: str) -> bool:
        """None: whether a file is code, nobody says."""
        del path
        return False

    def names(self, path: str, source: bytes, lines: Collection[int]) -> Names | None:
        """None."""
        del path, source, lines
        return None

    def identifiers(self, path: str, source: bytes) -> frozenset[str] | None:
        """None: a file shows what it holds."""
        del path, source
        return None

    def parameters(self, path: str, source: bytes) -> frozenset[Keyword]:
        """None."""
        del path, source
        return frozenset()

    def functions(self, path: str, source: bytes) -> Mapping[str, range] | None:
        """None."""
        del path, source
        return None

    def imported(self, path: str, source: bytes, files: Mapping[str, bytes], roots: Iterable[str]) -> Iterable[str]:
        """None."""
        del path, source, files, roots
        return ()

    def described(self, tree: Tree) -> Described:
        """Nothing: no index of packages is asked."""
        del tree
        return Described()

    def added_names(self, change: FileChange) -> frozenset[str]:
        """Every name on a new line."""
        lines = (line.decode("utf-8", "replace") for line in change.added.values())
        return frozenset(name for line in lines for name in _NAME.findall(line))

    def missing_names(self, report: TestReport) -> dict[str, str]:
        """The first that the end of the output misses."""
        matches = ((path, _WANTED.search(text)) for path, text in report.collect_errors.items())
        return {path: next(filter(None, match.groups())) if match else "" for path, match in matches}

    def reads(self, path: str) -> bool:
        """No file: there are no faults for it."""
        del path
        return False

    def form(self, path: str, source: bytes) -> str | None:
        """None."""
        del path, source
        return None

    def faulty(self, path: str, source: bytes, changed: Collection[int]) -> FaultySource | None:
        """None."""
        del path, source, changed
        return None
