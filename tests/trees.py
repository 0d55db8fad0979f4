"""Trees of files in memory, as environment detection reads them, and what stands in those of a disk."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping
    from pathlib import Path


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


def words_in(folder: Path, words: Collection[bytes]) -> set[tuple[str, bytes]]:
    """Which of these words stand in any file below a folder, by file."""
    contents = {str(file.relative_to(folder)): file.read_bytes() for file in folder.rglob("*") if file.is_file()}
    return {(name, word) for name, data in contents.items() for word in words if word in data}
