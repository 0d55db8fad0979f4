"""A tree that asks for each of its files once."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from miner.evidence.tree import Tree


class Remembered:
    """A tree with a memory: several kinds of evidence read the same files, and each reading starts a program."""

    def __init__(self, tree: Tree) -> None:
        self._tree = tree
        self._read: dict[str, bytes | None] = {}
        self._files: tuple[str, ...] | None = None
        self._there: frozenset[str] = frozenset()

    def read(self, path: str) -> bytes | None:
        """The bytes of a file, or None if there is no such file."""
        self.files()
        if path not in self._there:
            return None
        if path not in self._read:
            self._read[path] = self._tree.read(path)
        return self._read[path]

    def files(self) -> tuple[str, ...]:
        """Every path of the tree, sorted."""
        if self._files is None:
            self._files = self._tree.files()
            self._there = frozenset(self._files)
        return self._files
