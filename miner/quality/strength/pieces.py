"""A fix taken apart into pieces, each of which can be left out: hunks, and parts of files that stand as a whole. Pure.

Everything is bytes. A piece keeps its lines as the patch has them, so what is put together again says what it said.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field

from harness.patches import patch, written
from harness.patches.patch import FilePatch
from miner.candidates.split import is_docs
from miner.languages.base import Code

_HEADER = re.compile(rb"^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@(.*)$", re.DOTALL)
_NO_NEWLINE = b"\\"
_SILENT = (".pyi", ".d.ts", ".d.mts", ".d.cts", ".po", ".pot")
"""Types, and the sources of translations: what runs is made from them, by nobody here."""


@dataclass(frozen=True, kw_only=True)
class Hunk:
    """One hunk: where it was, where it is, and its lines with their marks and ends."""

    old_start: int
    old_count: int
    new_start: int
    new_count: int
    rest: bytes
    """What stands behind the second `@@`, with the end of the line."""
    lines: tuple[bytes, ...]

    def written(self, new_start: int) -> bytes:
        """The hunk where other hunks before it are left out."""
        head = b"@@ -%d,%d +%d,%d @@" % (self.old_start, self.old_count, new_start, self.new_count)
        return head + self.rest + b"".join(self.lines)

    @property
    def before(self) -> int:
        """How many lines of the file come before it."""
        return self.old_start - 1 if self.old_count else self.old_start

    def side(self, mark: bytes) -> list[bytes]:
        """Its lines as they were (`-`) or as they become (`+`)."""
        lines_of_side: list[bytes] = []
        is_kept = False
        for line in self.lines:
            if line[:1] == _NO_NEWLINE:
                if is_kept:
                    lines_of_side[-1] = lines_of_side[-1].removesuffix(b"\n")
                continue
            is_kept = line[:1] in (mark, b" ", b"\n", b"\r")
            if is_kept:
                lines_of_side.append(line if line[:1] in (b"\n", b"\r") else line[1:])
        return lines_of_side

    def added(self) -> list[int]:
        """Numbers, in the fixed file, of the lines it adds."""
        number, numbers = self.new_start, []
        for line in self.lines:
            if line[:1] == b"+":
                numbers.append(number)
            number += line[:1] not in (b"-", _NO_NEWLINE)
        return numbers


@dataclass(frozen=True, kw_only=True)
class Section:
    """What a fix does to one file."""

    file: FilePatch
    head: bytes
    """The lines before the first hunk, less git's `index` line, which holds for the whole fix alone."""
    hunks: tuple[Hunk, ...]
    old: bytes | None
    """The file at base_commit; None where it is not there, or not known."""
    parted: bool
    """Whether its hunks can be told from each other; else it is one piece."""

    @property
    def path(self) -> str:
        return self.file.path

    @property
    def pieces(self) -> int:
        return len(self.hunks) if self.parted else 1

    def fixed(self) -> bytes | None:
        """The file with the fix; None where that is not known, or it is gone."""
        if self.parted:
            return self.content(range(len(self.hunks)))
        if self.file.is_new and not self.file.binary:
            return b"".join(line for hunk in self.hunks for line in hunk.side(b"+"))
        return None

    def content(self, numbers: Collection[int]) -> bytes:
        """The file with these of its hunks."""
        assert self.old is not None  # noqa: S101 - asked only of parted sections
        lines, lines_made, at = _lines(self.old), [], 0
        for number, hunk in enumerate(self.hunks):
            if number in numbers:
                lines_made += [*lines[at : hunk.before], *hunk.side(b"+")]
                at = hunk.before + len(hunk.side(b"-"))
        return b"".join([*lines_made, *lines[at:]])

    def written(self, pieces: Collection[int]) -> bytes:
        """The section with these of its pieces; nothing where there is none."""
        if len(pieces) == self.pieces:
            return self.file.raw
        if not pieces:
            return b""
        body, shift = [], 0
        for number, hunk in enumerate(self.hunks):
            if number in pieces:
                body.append(hunk.written(_new_start(hunk, shift)))
                shift += hunk.new_count - hunk.old_count
        return self.head + b"".join(body)

    def rewritten(self, content: bytes) -> bytes:
        """The section as it leads to another content; nothing where that is the file's at base_commit."""
        if content == self.old:
            return b""
        return self.head + written.hunks(self.old or b"", content).encode("utf-8", "surrogateescape")


@dataclass(frozen=True, kw_only=True)
class Fix:
    """A fix, and the files it is a fix to."""

    sections: tuple[Section, ...]
    code: Code
    """How the task's language reads source files."""
    _states: dict[tuple[int, frozenset[int]], object] = field(default_factory=dict, compare=False, repr=False)

    @property
    def pieces(self) -> tuple[tuple[int, int], ...]:
        """Every piece: the number of its section, and its own number there."""
        return tuple((at, number) for at, section in enumerate(self.sections) for number in range(section.pieces))

    def written(self, pieces: Collection[tuple[int, int]]) -> bytes:
        """The fix with these of its pieces, as a patch."""
        return b"".join(section.written(_of(pieces, at)) for at, section in enumerate(self.sections))

    def with_content(self, at: int, content: bytes) -> bytes:
        """The whole fix, but for one file that becomes something else."""
        parts = (
            section.rewritten(content) if number == at else section.file.raw
            for number, section in enumerate(self.sections)
        )
        return b"".join(parts)

    def state(self, pieces: Collection[tuple[int, int]]) -> tuple[object, ...] | None:
        """What the fix with these of its pieces comes to; equal where nothing that runs differs.

        None where a source file of it can't be read any more, though it can with the whole fix.
        """
        states = tuple(self._state(at, _of(pieces, at)) for at in range(len(self.sections)))
        return None if any(state is _BROKEN for state in states) else states

    def _state(self, at: int, hunks_kept: frozenset[int]) -> object:
        if (at, hunks_kept) not in self._states:
            self._states[at, hunks_kept] = _section_state(self.sections[at], hunks_kept, self.code)
        return self._states[at, hunks_kept]

    def changed_lines(self) -> dict[str, tuple[int, ...]]:
        """By path of a source file: the lines, in the fixed file, that the fix adds or changes."""
        return {
            section.path: tuple(number for hunk in section.hunks for number in hunk.added())
            for section in self.sections
            if self.code.reads(section.path) and not is_docs(section.path) and section.fixed() is not None
        }

    def where(self, piece: tuple[int, int]) -> str:
        """A piece in words: its file, and where in it."""
        section = self.sections[piece[0]]
        return f"{section.path}:{section.hunks[piece[1]].old_start}" if section.parted else section.path


_BROKEN = object()


def _section_state(section: Section, hunks_kept: frozenset[int], code: Code) -> object:
    if is_docs(section.path) or section.path.endswith(_SILENT) or section.path.startswith("."):
        return "says nothing to a test"
    if not section.parted:
        return bool(hunks_kept)
    content = section.content(hunks_kept)
    if not code.reads(section.path):
        return content
    form = code.form(section.path, content)
    if form is not None:
        return form
    return content if code.form(section.path, section.content(range(len(section.hunks)))) is None else _BROKEN


def _of(pieces_kept: Collection[tuple[int, int]], at: int) -> frozenset[int]:
    return frozenset(number for place, number in pieces_kept if place == at)


def _new_start(hunk: Hunk, shift: int) -> int:
    """Where a hunk is, after those that are kept before it. An empty side is named by the line before it."""
    start = hunk.before + shift
    return start + 1 if hunk.new_count else start


def take_apart(data: bytes, base: Mapping[str, bytes], code: Code) -> Fix:
    """A fix in its pieces. `base` has the files at base_commit, as far as they are known.

    Raises:
        PatchError: it is no patch.

    """
    return Fix(sections=tuple(_section(file, base.get) for file in patch.parse(data, trusted=True).files), code=code)


def paths_to_read(data: bytes) -> tuple[str, ...]:
    """The files at base_commit that `take_apart` wants.

    Raises:
        PatchError: it is no patch.

    """
    files = patch.parse(data, trusted=True).files
    return tuple(file.old_path for file in files if file.old_path is not None and not file.binary)


def _section(file: FilePatch, read: Callable[[str], bytes | None]) -> Section:
    lines = _lines(file.raw)
    start = next((number for number, line in enumerate(lines) if _HEADER.match(line)), len(lines))
    hunks = () if file.binary else _hunks(lines[start:])
    old = read(file.old_path) if file.old_path is not None else None
    same_place = file.old_path is not None and file.old_path == file.new_path
    return Section(
        file=file,
        head=b"".join(line for line in lines[:start] if not line.startswith(b"index ")),
        hunks=hunks,
        old=old,
        parted=same_place and bool(hunks) and old is not None and _hunks_fit(old, hunks),
    )


def _hunks(lines: Sequence[bytes]) -> tuple[Hunk, ...]:
    hunks, at = [], 0
    while at < len(lines) and (match := _HEADER.match(lines[at])) is not None:
        old_left = old_count = int(match[2]) if match[2] is not None else 1
        new_left = new_count = int(match[4]) if match[4] is not None else 1
        first = at = at + 1
        while at < len(lines) and (old_left > 0 or new_left > 0 or lines[at][:1] == _NO_NEWLINE):
            mark = lines[at][:1]
            old_left -= mark not in (b"+", _NO_NEWLINE)
            new_left -= mark not in (b"-", _NO_NEWLINE)
            at += 1
        hunks.append(
            Hunk(
                old_start=int(match[1]),
                old_count=old_count,
                new_start=int(match[3]),
                new_count=new_count,
                rest=match[5],
                lines=tuple(lines[first:at]),
            )
        )
    return tuple(hunks)


def _hunks_fit(old: bytes, hunks: Sequence[Hunk]) -> bool:
    """Whether each hunk stands exactly where it says that it does."""
    lines, at = _lines(old), 0
    for hunk in hunks:
        was = hunk.side(b"-")
        if hunk.before < at or lines[hunk.before : hunk.before + len(was)] != was:
            return False
        at = hunk.before + len(was)
    return True


def _lines(data: bytes) -> list[bytes]:
    """Lines with their ends; a line feed alone ends one."""
    pieces = data.split(b"\n")
    return [line + b"\n" for line in pieces[:-1]] + ([pieces[-1]] if pieces[-1] else [])
