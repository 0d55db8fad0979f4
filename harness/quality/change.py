"""What a patch does to one file: the text before and after, and which lines are gone and new. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from harness.patches.patch import FilePatch

_HUNK = re.compile(rb"^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")


@dataclass(frozen=True, kw_only=True)
class FileChange:
    """One file of a patch."""

    path: str
    """After the change; before it where the file is deleted."""
    before: bytes | None
    """None where the file is new, or its content not known."""
    after: bytes | None
    """None where the file is deleted, or the patch does not fit what is known of it."""
    added: Mapping[int, bytes] = field(default_factory=dict)
    """New lines by their number in `after`, from 1."""
    removed: Mapping[int, bytes] = field(default_factory=dict)
    """Lines that are gone by their number in `before`, from 1."""
    hunks: int = 0
    is_new: bool = False

    @property
    def lines(self) -> int:
        """Lines added and removed."""
        return len(self.added) + len(self.removed)


def change_of(file: FilePatch, before: bytes | None) -> FileChange:
    """A file of a patch, applied to its content at base_commit."""
    added: dict[int, bytes] = {}
    removed: dict[int, bytes] = {}
    hunks = list(_hunks(file.raw))
    for old, new, body in hunks:
        old_at, new_at = old, new
        for line in body:
            mark, text = line[:1], line[1:]
            if mark == b"+":
                added[new_at] = text
            elif mark == b"-":
                removed[old_at] = text
            old_at += mark != b"+"
            new_at += mark != b"-"
    old_content = None if file.is_new else before
    after = None
    if file.new_path is not None and not file.binary and (file.is_new or old_content is not None):
        after = _applied(old_content or b"", added, removed)
    return FileChange(
        path=file.path,
        before=old_content,
        after=after,
        added=added,
        removed=removed,
        hunks=file.hunks,
        is_new=file.is_new,
    )


def _hunks(raw: bytes) -> Iterator[tuple[int, int, list[bytes]]]:
    """Of each hunk: the numbers of its first old and new line, and its lines with their marks."""
    lines = iter(raw.split(b"\n"))
    for line in lines:
        head = _HUNK.match(line)
        if head is None:
            continue
        old_left, new_left = int(head[2] or 1), int(head[4] or 1)
        # A side without lines is numbered by the line before it.
        old, new = int(head[1]) + (old_left == 0), int(head[3]) + (new_left == 0)
        body: list[bytes] = []
        while old_left > 0 or new_left > 0:
            text = next(lines, None)
            if text is None:
                return
            if text.startswith(b"\\"):
                continue
            body.append(text or b" ")
            old_left -= text[:1] != b"+"
            new_left -= text[:1] != b"-"
        yield old, new, body


def _applied(before: bytes, added: Mapping[int, bytes], removed: Mapping[int, bytes]) -> bytes | None:
    """The text after the change; None where the lines that go are not there."""
    old = before.split(b"\n")
    if any(number > len(old) or old[number - 1] != text for number, text in removed.items()):
        return None
    texts = [text for number, text in enumerate(old, start=1) if number not in removed]
    numbers = range(1, len(old) - len(removed) + len(added) + 1)
    if sum(number not in added for number in numbers) > len(texts):
        return None
    rest = iter(texts)
    return b"\n".join(added[number] if number in added else next(rest) for number in numbers)
