"""What the quality of a task is told from, as values. Pure."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from harness.patches import patch
from harness.quality.change import FileChange, change_of

_ORDINARY = re.compile(r"[A-Za-z]?[a-z]*")
"""A name that could be a word of prose."""


Keyword = tuple[str, str]
"""What is called, by the last part of its name, and a parameter that is given by name."""


@dataclass(frozen=True, kw_only=True)
class Names:
    """What some lines of a source file have."""

    introduced: frozenset[str]
    """Names that they bind and that other files can ask for; not what is local to a function."""
    asked: frozenset[str]
    """Names that they ask of other files: imported, called, read, given by name; not the file's own."""
    keywords: frozenset[Keyword]
    """What they give by name, and to what."""
    texts: frozenset[str]
    """Their string literals."""


class Reader(Protocol):
    """Reads source files of one language as text. What has a body here holds where nothing can be read."""

    def is_source(self, path: str) -> bool:
        """Whether a file of this name is of the language."""

    def names(self, path: str, source: bytes, lines: Collection[int]) -> Names | None:
        """What these lines, from 1, have; None where the file can't be read."""
        return None

    def identifiers(self, path: str, source: bytes) -> frozenset[str] | None:
        """Every name that a file's code binds, uses or imports; None as above."""
        return None

    def parameters(self, path: str, source: bytes) -> frozenset[Keyword]:
        """The parameters of every function that can be given by name."""
        return frozenset()

    def functions(self, path: str, source: bytes) -> Mapping[str, range] | None:
        """Every function that is in no other, by its dotted name, with its lines; None as above."""
        return None

    def imported(self, path: str, source: bytes, files: Mapping[str, bytes], roots: Iterable[str]) -> Iterable[str]:
        """Paths of the tree's files that a file imports; `roots` are folders that modules are imported from."""
        return ()


@dataclass(frozen=True, kw_only=True)
class BaseTree:
    """The text files of the tree at base_commit, by path: all that a model can read beside the statement."""

    files: Mapping[str, bytes]
    reader: Reader
    """Of the task's language."""

    def shows_name(self, name: str) -> bool:
        """Whether some file shows it as a name: code of the task's language has it, or another text has it as code.

        A name that can be no ordinary word (`max_width`, `toJSON`) is shown wherever it stands; an ordinary word
        (`capture`) in a comment or in prose shows no name, but between backticks it does. Code that can't be read is
        taken to show what it holds.
        """
        raw = name.encode("utf-8", "surrogateescape")
        whole = re.compile(rb"(?<![A-Za-z0-9_])" + re.escape(raw) + rb"(?![A-Za-z0-9_])")
        quoted = re.compile(rb"`[^`\n]*" + whole.pattern + rb"[^`\n]*`")
        for path, data in self.files.items():
            if raw not in data or not whole.search(data):
                continue
            if not _ORDINARY.fullmatch(name) or quoted.search(data):
                return True
            if self.reader.is_source(path):
                identifiers = self.reader.identifiers(path, data)
                if identifiers is None or name in identifiers:
                    return True
        return False

    def shows_text(self, text: str) -> bool:
        """Whether some file holds this very text."""
        raw = text.encode("utf-8", "surrogateescape")
        return any(raw in data for data in self.files.values())


@dataclass(frozen=True, kw_only=True)
class Subject:
    """A task as its quality is told from it."""

    gold_patch: bytes
    test_patch: bytes
    statement: str
    base: BaseTree
    fail_to_pass: tuple[str, ...] = ()
    docs: frozenset[str] = frozenset()
    """Paths of the gold patch that are documentation or a changelog: no part of the fix."""
    repo: str = ""
    """`owner/name`."""
    number: int | None = None
    """Of the change's own pull request."""
    earlier: frozenset[str] = frozenset()
    """Of the SHAs that the statement names: those that base_commit's history holds, as they are written there."""
    version: str | None = None
    """Of the project: that of the nearest tag at or before base_commit."""
    roots: tuple[str, ...] = field(default=("", "src", "lib"))
    """Folders that modules are imported from, relative to the repository's root."""

    def gold(self) -> tuple[FileChange, ...]:
        """The files of the fix, less documentation.

        Raises:
            PatchError: the gold patch is none.

        """
        return tuple(change for change in _changes(self.gold_patch, self.base) if change.path not in self.docs)

    def tests(self) -> tuple[FileChange, ...]:
        """The files of the test patch; none where it is empty.

        Raises:
            PatchError: the test patch is none.

        """
        return _changes(self.test_patch, self.base) if self.test_patch else ()


def _changes(data: bytes, base: BaseTree) -> tuple[FileChange, ...]:
    files = patch.parse(data, trusted=True).files
    return tuple(change_of(file, base.files.get(file.old_path or "")) for file in files)
