"""Source files of Go, read as text: without a parser, so that only the names of a fix are known."""

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


class GoCode:
    """Nothing is measured of it that takes a syntax tree."""

    mutator = "re"

    def is_source(self, path: str) -> bool:
        """By its ending."""
        return path.endswith(".go")

    def names(self, path: str, source: bytes, lines: Collection[int]) -> Names | None:
        """None."""
        del path, source, lines
        return None

    def identifiers(self, path: str, source: bytes) -> frozenset[str] | None:
        """None: a file shows what it holds."""
        del path, source
        return None

    def parameters(self, path: str, source: bytes) -> frozenset[Keyword]:
        """None: nothing is given by name."""
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
        """Nothing: a go.mod names no licence, and no index of packages is asked."""
        del tree
        return Described()

    def added_names(self, change: FileChange) -> frozenset[str]:
        """Every name on a new line."""
        lines = (line.decode("utf-8", "replace") for line in change.added.values() if self.is_source(change.path))
        return frozenset(name for line in lines for name in _NAME.findall(line))

    def missing_names(self, report: TestReport) -> dict[str, str]:
        """As the driver reads them in the compiler's errors."""
        chains = {path: report.collect_raised.get(path, ()) for path in report.collect_errors}
        return {path: chain[0].says if chain else "" for path, chain in chains.items()}

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
