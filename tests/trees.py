"""Trees of files in memory, as environment detection reads them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass
class Files:
    """A `miner.evidence.tree.Tree` of texts or bytes."""

    contents: Mapping[str, str | bytes] = field(default_factory=dict)

    def read(self, path: str) -> bytes | None:
        """The bytes of a file, or None."""
        found = self.contents.get(path)
        return found.encode() if isinstance(found, str) else found

    def files(self) -> tuple[str, ...]:
        """Every path, sorted."""
        return tuple(sorted(self.contents))
