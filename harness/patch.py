"""Unified diffs as raw bytes: parsed strictly, never decoded, never trusted. Pure.

A patch is data. It is taken apart on the host, judged file by file, and put together again from the parts that may
pass, so that the program that applies it (`git apply`) sees nothing but headers that agree with each other.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

MAX_BYTES = 1024 * 1024
MAX_FILES = 100

MAX_PATH_BYTES = 4096
_MAX_LOST_LINES = 16
"""How many trailing context lines a repair may put back; `git diff` writes 3, few people ask for more than 10."""
_HUNK = re.compile(rb"^@@ -(\d{1,9})(?:,(\d{1,9}))? \+(\d{1,9})(?:,(\d{1,9}))? @@")
_EXTENDED = (
    b"old mode ",
    b"new mode ",
    b"deleted file mode ",
    b"new file mode ",
    b"copy from ",
    b"copy to ",
    b"rename from ",
    b"rename to ",
    b"similarity index ",
    b"dissimilarity index ",
    b"index ",
)
_ESCAPES = {b"a": 7, b"b": 8, b"t": 9, b"n": 10, b"v": 11, b"f": 12, b"r": 13, b'"': 34, b"\\": 92}


class PatchError(ValueError):
    """The bytes are no patch that may be applied; the message says where and why."""


class NoPatchError(PatchError):
    """There is no patch in them at all: prose, or code without a header."""


class UnsafePatchError(PatchError):
    """It would write what no patch may: outside the tree, git's own folder, a link."""


@dataclass(frozen=True, kw_only=True)
class FilePatch:
    """The part of a patch that concerns one file."""

    old_path: str | None
    """None where the file is new. Bytes that are not UTF-8 are surrogate escapes."""
    new_path: str | None
    """None where the file is deleted."""
    raw: bytes
    """Headers and hunks, ending with a newline."""
    modes: tuple[str, ...] = ()
    added: int = 0
    removed: int = 0
    hunks: int = 0
    binary: bool = False
    makes_file: bool = False
    """Whether applying it can bring a file into being: a new file, a rename or copy, or hunks without an old line,
    which `git apply` takes for a new file when there is none."""

    @property
    def path(self) -> str:
        """The path after the change, or before it where the file is deleted."""
        path = self.new_path if self.new_path is not None else self.old_path
        assert path is not None  # noqa: S101 - the parser refuses a file with neither
        return path

    @property
    def paths(self) -> frozenset[str]:
        """Every path the change touches: two for a rename."""
        return frozenset(path for path in (self.old_path, self.new_path) if path is not None)

    @property
    def is_new(self) -> bool:
        return self.old_path is None

    @property
    def unmakes_file(self) -> bool:
        """Whether the file is gone from its old path afterwards."""
        return self.old_path is not None and self.new_path != self.old_path


@dataclass(frozen=True, kw_only=True)
class Patch:
    """A parsed patch: one entry a file section, in order."""

    files: tuple[FilePatch, ...]
    repairs: tuple[str, ...] = field(default=())
    """What the text had lost (a last newline, trailing blank context) and the parser put back."""

    @property
    def raw(self) -> bytes:
        return b"".join(file.raw for file in self.files)

    @property
    def paths(self) -> frozenset[str]:
        return frozenset().union(*(file.paths for file in self.files))


def parse(data: bytes, *, trusted: bool = False) -> Patch:
    """Take a patch apart.

    `trusted` lifts the limits on size, paths and modes: for the patches that mining itself took from a history.

    Text before the first file header and between files (a commit message, a signature) is left out, as `git apply`
    does. Hunks are read by the counts in their headers.

    Raises:
        PatchError: no file in it, a size over `MAX_BYTES` or `MAX_FILES`, a broken hunk, headers that disagree, a path
            or a mode that may not be written.

    """
    if len(data) > MAX_BYTES and not trusted:
        raise PatchError(f"the patch has {len(data)} bytes; at most {MAX_BYTES} are taken")
    repairs: list[str] = []
    if data and not data.endswith(b"\n"):
        data += b"\n"
        repairs.append("last newline")
    files = _sections(data, repairs, trusted=trusted)
    if not files:
        raise NoPatchError("there is no file header (`diff --git …` or `--- …` with `+++ …`) in it")
    _check_conflicts(files)
    patch = Patch(files=tuple(files), repairs=tuple(repairs))
    if not trusted and _sections(patch.raw, [], trusted=False) != files:
        raise PatchError("its parts are read differently once the text between them is left out")
    return patch


def _sections(data: bytes, repairs: list[str], *, trusted: bool) -> list[FilePatch]:
    reader = _Reader(data.split(b"\n")[:-1], repairs)
    files: list[FilePatch] = []
    while (file := reader.next_file()) is not None:
        if not trusted:
            _check_paths(file)
        files.append(file)
        if len(files) > MAX_FILES and not trusted:
            raise PatchError(f"the patch touches more than {MAX_FILES} files")
    if len(reader.styles) > 1:  # from one bare name on, git takes the prefixes of all others for folders
        raise PatchError("some paths have a prefix (`a/`, `b/`) and some have none")
    return files


def _check_paths(file: FilePatch) -> None:
    for path in file.paths:
        parts = path.split("/")
        if path.startswith("/") or "" in parts or "." in parts or ".." in parts:
            raise UnsafePatchError(f"the path {path!r} leaves the work tree")
        if len(path.encode("utf-8", "surrogateescape")) > MAX_PATH_BYTES:
            raise PatchError(f"a path of more than {MAX_PATH_BYTES} bytes: {path[:60]!r}…")
        if "\0" in path or "\\" in path or any(ord(char) < 32 for char in path):  # noqa: PLR2004 - control characters
            raise PatchError(f"the path {path!r} has a character that a path may not have")
        if any(part.lower() == ".git" or part.lower().startswith("git~") for part in parts):
            raise UnsafePatchError(f"the path {path!r} is inside a git folder")
    for mode in file.modes:
        if mode not in ("100644", "100755"):
            kind = {"120000": "a symbolic link", "160000": "a submodule"}.get(mode, "not a plain file")
            raise UnsafePatchError(f"{file.path!r} has mode {mode}: {kind}")


def _check_conflicts(files: list[FilePatch]) -> None:
    """One section a path: a file that is changed twice could hide what it does first."""
    seen: set[str] = set()
    for file in files:
        for path in file.paths:
            if path in seen:
                raise PatchError(f"{path!r} is touched by two sections of the patch")
            seen.add(path)


@dataclass(kw_only=True)
class _Headers:
    """What the header lines of one file say, to be held against each other."""

    git_line: bytes | None = None
    old: str | None = None
    new: str | None = None
    saw_old: bool = False
    saw_new: bool = False
    created: bool = False
    deleted: bool = False
    moved_from: str | None = None
    moved_to: str | None = None
    modes: list[str] = field(default_factory=list)


@dataclass(frozen=True, kw_only=True)
class _Counts:
    """What the hunks of one file add up to."""

    hunks: int = 0
    added: int = 0
    removed: int = 0
    old_lines: int = 0


class _Reader:
    def __init__(self, lines: list[bytes], repairs: list[str]) -> None:
        self.lines = lines
        self.at = 0
        self.repairs = repairs
        self.styles: set[str] = set()

    def _fail(self, why: str) -> PatchError:
        return PatchError(f"line {self.at + 1}: {why}")

    def next_file(self) -> FilePatch | None:
        while self.at < len(self.lines):
            line = self.lines[self.at]
            if line.startswith(b"diff --git "):
                return self._git_file()
            if line.startswith(b"--- ") and self._peek(1).startswith(b"+++ ") and self._peek(2).startswith(b"@@ -"):
                return self._plain_file()
            if line.startswith(b"@@ -") and _HUNK.match(line):
                raise self._fail("a hunk without a file header")
            self.at += 1
        return None

    def _peek(self, ahead: int) -> bytes:
        index = self.at + ahead
        return self.lines[index] if index < len(self.lines) else b""

    def _git_file(self) -> FilePatch:
        start = self.at
        headers = _Headers(git_line=self.lines[self.at][len(b"diff --git ") :])
        self.styles.add("prefixed")
        self.at += 1
        while self.at < len(self.lines) and self.lines[self.at].startswith(_EXTENDED):
            self._extended(headers, self.lines[self.at])
            self.at += 1
        if self._peek(0).startswith(b"GIT binary patch"):
            self._binary()
            return self._finish(start, headers, _Counts(), binary=True)
        if self._peek(0).startswith(b"Binary files "):
            raise self._fail("a binary change without its data (make it with `git diff --binary`)")
        if self._peek(0).startswith(b"--- "):
            self._names(headers)
            return self._finish(start, headers, self._hunks())
        return self._finish(start, headers, _Counts())

    def _plain_file(self) -> FilePatch:
        start = self.at
        headers = _Headers()
        names = [line for line in (self._peek(0)[4:], self._peek(1)[4:]) if not line.startswith(b"/dev/null")]
        self.styles.add("prefixed" if any(b"/" in name for name in names) else "bare")
        self._names(headers)
        return self._finish(start, headers, self._hunks())

    def _extended(self, headers: _Headers, line: bytes) -> None:
        text = line.rstrip(b"\r")
        if text.startswith((b"old mode ", b"new mode ")):
            headers.modes.append(text[9:].decode("ascii", "replace"))
        elif text.startswith(b"deleted file mode "):
            headers.deleted = True
            headers.modes.append(text[18:].decode("ascii", "replace"))
        elif text.startswith(b"new file mode "):
            headers.created = True
            headers.modes.append(text[14:].decode("ascii", "replace"))
        elif text.startswith((b"rename from ", b"copy from ")):
            headers.moved_from = _path(text.split(b" ", 2)[2])
        elif text.startswith((b"rename to ", b"copy to ")):
            headers.moved_to = _path(text.split(b" ", 2)[2])
        elif text.startswith(b"index "):
            words = text.split(b" ")
            if len(words) == 3:  # noqa: PLR2004 - `index old..new mode`
                headers.modes.append(words[2].decode("ascii", "replace"))

    def _names(self, headers: _Headers) -> None:
        headers.old, headers.saw_old = _side(self.lines[self.at][4:]), True
        self.at += 1
        if not self._peek(0).startswith(b"+++ "):
            raise self._fail("`--- …` is not followed by `+++ …`")
        headers.new, headers.saw_new = _side(self.lines[self.at][4:]), True
        self.at += 1

    def _hunks(self) -> _Counts:
        hunks = added = removed = old_lines = 0
        while (match := _HUNK.match(self._peek(0))) is not None:
            old_left = int(match[2]) if match[2] is not None else 1
            new_left = int(match[4]) if match[4] is not None else 1
            self.at += 1
            more_added, more_removed = self._hunk_body(old_left, new_left)
            hunks, added, removed = hunks + 1, added + more_added, removed + more_removed
            old_lines += old_left
        if hunks == 0:
            raise self._fail("a file header without a hunk")
        return _Counts(hunks=hunks, added=added, removed=removed, old_lines=old_lines)

    def _hunk_body(self, old_left: int, new_left: int) -> tuple[int, int]:
        added = removed = 0
        while old_left > 0 or new_left > 0:
            if self.at >= len(self.lines) and old_left == new_left <= _MAX_LOST_LINES:
                # Whoever stripped the text took trailing blank context lines with it.
                self.lines.append(b" ")
                self.repairs.append("trailing blank context")
            line = self._peek(0) if self.at < len(self.lines) else None
            mark = b" " if line in (b"", b"\r") else (line or b"?")[:1]
            if mark == b" ":
                old_left, new_left = old_left - 1, new_left - 1
            elif mark == b"-":
                old_left, removed = old_left - 1, removed + 1
            elif mark == b"+":
                new_left, added = new_left - 1, added + 1
            elif mark != b"\\":
                raise self._fail("the hunk is shorter than its header says")
            if old_left < 0 or new_left < 0:
                raise self._fail("the hunk is longer than its header says")
            self.at += 1
        if self._peek(0).startswith(b"\\"):
            self.at += 1
        if self._peek(0)[:1] in (b"+", b" ") and not self._peek(0).startswith(b"+++ ") and self._peek(0).strip():
            raise self._fail("the hunk is longer than its header says")
        return added, removed

    def _binary(self) -> None:
        self.at += 1
        for _ in range(2):  # forward, and reverse where it is there
            if not self._peek(0).startswith((b"literal ", b"delta ")):
                break
            self.at += 1
            while self._peek(0) and not self._peek(0).startswith((b"literal ", b"delta ", b"diff ")):
                self.at += 1
            if not self._peek(0) and self.at < len(self.lines):
                self.at += 1

    def _finish(self, start: int, headers: _Headers, counts: _Counts, *, binary: bool = False) -> FilePatch:
        old, new = _agree(headers, self._fail)
        raw = b"\n".join(self.lines[start : self.at]) + b"\n"
        return FilePatch(
            old_path=old,
            new_path=new,
            raw=raw,
            modes=tuple(headers.modes),
            added=counts.added,
            removed=counts.removed,
            hunks=counts.hunks,
            binary=binary,
            makes_file=(old != new and new is not None) or (counts.hunks > 0 and counts.old_lines == 0),
        )


def _agree(headers: _Headers, fail: Callable[[str], PatchError]) -> tuple[str | None, str | None]:
    """The two paths of a file section, once every header tells the same."""
    claims_old: set[str] = set()
    claims_new: set[str] = set()
    if headers.moved_from is not None or headers.moved_to is not None:
        if headers.moved_from is None or headers.moved_to is None:
            raise fail("half a rename or copy")
        claims_old.add(headers.moved_from)
        claims_new.add(headers.moved_to)
    elif headers.git_line is not None:
        same = _same_path(headers.git_line)
        if same is None:
            raise fail("the two paths of `diff --git` differ without a rename")
        claims_old.add(same)
        claims_new.add(same)
    if headers.saw_old and headers.old is not None:
        claims_old.add(headers.old)
    if headers.saw_new and headers.new is not None:
        claims_new.add(headers.new)
    if headers.git_line is not None:
        undeclared = (headers.saw_old and headers.old is None and not headers.created) or (
            headers.saw_new and headers.new is None and not headers.deleted
        )
        if undeclared:  # git refuses it, or takes /dev/null for a file of the tree
            raise fail("/dev/null without a line `new file mode` or `deleted file mode`")
    created = headers.created or (headers.saw_old and headers.old is None)
    deleted = headers.deleted or (headers.saw_new and headers.new is None)
    both = claims_old | claims_new
    moved = headers.moved_from is not None
    if len(claims_old) > 1 or len(claims_new) > 1 or (not moved and len(both) != 1) or (created and deleted):
        raise fail(f"the headers name different files: {', '.join(map(repr, sorted(both))) or 'none'}")
    old = None if created else next(iter(claims_old or claims_new))
    new = None if deleted else next(iter(claims_new or claims_old))
    return old, new


def _same_path(rest: bytes) -> str | None:
    """The path that both halves of `diff --git a/… b/…` name, or None where they differ."""
    rest = rest.rstrip(b"\r")
    if rest.startswith(b'"'):
        end = _quoted_end(rest)
        first, second = rest[: end + 1], rest[end + 2 :]
        return _strip(_path(first)) if _strip(_path(first)) == _strip(_path(second)) else None
    half, odd = divmod(len(rest) - 1, 2)
    if odd == 0 and rest[half : half + 1] == b" ":
        first, second = rest[:half], rest[half + 1 :]
        if b"/" in first and b"/" in second and _strip(_path(first)) == _strip(_path(second)):
            return _strip(_path(first))
    return None


def _quoted_end(text: bytes) -> int:
    index = 1
    while index < len(text) and text[index : index + 1] != b'"':
        index += 2 if text[index : index + 1] == b"\\" else 1
    return index


def _side(text: bytes) -> str | None:
    """The path of a `---` or `+++` line: None for /dev/null; a time stamp after a tab is left out."""
    text = text.rstrip(b"\r")
    text = text.split(b"\t", 1)[0] if not text.startswith(b'"') else text[: _quoted_end(text) + 1]
    return None if text == b"/dev/null" else _strip(_path(text))


def _strip(path: str) -> str:
    """Without the first component, as `-p1` reads it."""
    return path.split("/", 1)[1] if "/" in path else path


def _path(text: bytes) -> str:
    """A path as git writes it: plain, or quoted like a C string."""
    if not text.startswith(b'"'):
        return text.decode("utf-8", "surrogateescape")
    out = bytearray()
    body = text[1 : _quoted_end(text)]
    index = 0
    while index < len(body):
        if body[index : index + 1] != b"\\":
            out.append(body[index])
            index += 1
            continue
        escape = body[index + 1 : index + 2]
        if escape in _ESCAPES:
            out.append(_ESCAPES[escape])
            index += 2
        elif re.fullmatch(rb"[0-3][0-7]{2}", body[index + 1 : index + 4]):
            out.append(int(body[index + 1 : index + 4], 8))
            index += 4
        else:
            raise PatchError(f"the quoted path {text!r} has an unknown escape")
    return out.decode("utf-8", "surrogateescape")
