"""Unified diffs as raw bytes: parsed strictly, never decoded, never trusted. Pure.

A patch is data. It is taken apart on the host, judged file by file, and put together again from the parts that may
pass, so that the program that applies it (`git apply`) sees nothing but headers that agree with each other.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace

from harness.patches import forms, series
from harness.patches import names as patch_names

MAX_BYTES = 1024 * 1024
"""Bytes of a patch that are applied at most; a file whose part is larger is left out."""
MAX_FILES = 100
"""Files that a patch may change; more are left out."""

MAX_SECTIONS = 10_000
"""Files of a patch that are looked at."""
MAX_PATH_BYTES = 4096
_MAX_READ = 16 * MAX_BYTES
"""Bytes that are read line by line; of what comes after them, the headers alone."""
_MAX_HEADERS = 32
_MAX_HEADERS_READ = 4 * MAX_BYTES
"""Bytes of headers in all: those of `MAX_SECTIONS` files with paths as people have them."""
_MAX_HEADER_BYTES = 16 * MAX_PATH_BYTES
_MAX_COMPOSED = MAX_BYTES
"""Bytes of changes that are put together where a patch changes a file more than once."""
_MAX_LOST_LINES = 16
"""How many trailing context lines a repair may put back; `git diff` writes 3, few people ask for more than 10."""
_HUNK = re.compile(rb"@@ -(\d{1,9})(?:,(\d{1,9}))? \+(\d{1,9})(?:,(\d{1,9}))? @@")
_HUNK_START = re.compile(rb"^@@ -", re.MULTILINE)
_GIT_START = re.compile(b"\ndiff --git ")
_PLAIN_START = re.compile(b"\n--- " + rb"[^\n]*\n\+\+\+ [^\n]*\n@@ -")
_COMMIT_START = re.compile(rb"\n(?:From|commit) [0-9a-f]{40}\b")
_LONG_AGO = re.compile(rb"[\t ]+(?:1970-01-01|1969-12-31) ")
_LOOSE_HUNK = re.compile(b"\n" + _HUNK.pattern)
_EXTENDED = (
    b"old mode ", b"new mode ", b"deleted file mode ", b"new file mode ", b"copy from ", b"copy to ", b"rename from ",
    b"rename to ", b"similarity index ", b"dissimilarity index ", b"index ",
)  # fmt: skip
_NO_DATA = "a binary change without its data (make it with `git diff --binary`)"
_OTHER_MODES = {"120000": ("symbolic_link", "a symbolic link"), "160000": ("submodule", "a submodule")}


class PatchError(ValueError):
    """The bytes are no patch that may be applied; the message says where and why."""


class NoPatchError(PatchError):
    """There is no patch in them at all: prose, or code without a header."""


class UnsafePatchError(PatchError):
    """It would write what no patch may: outside the tree, git's own folder, a link."""


class _TooLargeError(Exception):
    """A file's part of the patch is larger than what is applied."""


@dataclass(frozen=True, kw_only=True)
class Dropped:
    """A part of a patch that was left out, and why."""

    path: str
    reason: str


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
    hunks_at: int = 0
    """Where in `raw` the first hunk begins."""
    binary: bool = False
    makes_file: bool = False
    """Whether applying it can bring a file into being: a new file, a rename or copy, or hunks without an old line,
    which `git apply` takes for a new file when there is none."""
    zero_context: bool = False
    """Whether it has a hunk without context (`git diff -U0`), which git applies only where it is told to."""
    copies: bool = False
    """Whether the file at its old path stays as it is: a copy, as `git diff -C` finds them."""
    commit: int = field(default=0, compare=False)
    """Of how many commits (mails) the text has the headers before it."""
    crlf: bool = field(default=False, compare=False)
    """Whether its text came with CRLF line ends, headers and all, which `raw` no longer has: the line ends of the file
    are known from the file alone."""

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

    def lines(self, signs: str) -> list[str]:
        """The texts of its lines that begin with one of these signs, `+` and `-`."""
        lines = self.raw.decode("utf-8", "replace").splitlines()
        return [line[1:] for line in lines if line.startswith(tuple(signs)) and line[:4] not in ("+++ ", "--- ")]

    def sides(self) -> Iterator[tuple[bytes, bytes]]:
        """The text that each hunk with added lines replaces, and the one it leaves there, context included."""
        for hunk in _HUNK_START.split(self.raw)[1:]:
            lines = hunk.split(b"\n")[1:]
            if any(line[:1] == b"+" for line in lines):
                before, after = (
                    b"\n".join(line[1:] for line in lines if line[:1] in (mark, b" ")) for mark in (b"-", b"+")
                )
                yield before, after

    @property
    def unmakes_file(self) -> bool:
        """Whether the file is gone from its old path afterwards."""
        return self.old_path is not None and self.new_path != self.old_path and not self.copies


@dataclass(frozen=True, kw_only=True)
class Patch:
    """A parsed patch: one entry a file section, in order."""

    files: tuple[FilePatch, ...]
    repairs: tuple[str, ...] = field(default=())
    """What the text had lost (a last newline, trailing blank context, line ends, prefixes of paths) and the parser put
    back."""
    left_out: tuple[Dropped, ...] = ()
    """Parts that no patch can bring: links, submodules, binary changes without data, what is too large."""

    @property
    def raw(self) -> bytes:
        return b"".join(file.raw for file in self.files)

    @property
    def paths(self) -> frozenset[str]:
        return frozenset().union(*(file.paths for file in self.files))

    @property
    def zero_context(self) -> bool:
        return any(file.zero_context for file in self.files)

    @property
    def without_crlf(self) -> list[tuple[int, int, str, bool]]:
        """The hunks without a CRLF, which their file may have.

        Of each file where they begin and end in `raw`, its path, and whether the text had CRLF ends (`FilePatch.crlf`).
        """
        hunks: list[tuple[int, int, str, bool]] = []
        at = 0
        for file in self.files:
            end = at + len(file.raw)
            if file.hunks and file.old_path is not None and b"\r\n" not in file.raw[file.hunks_at :]:
                hunks.append((at + file.hunks_at, end, file.old_path, file.crlf))
            at = end
        return hunks


def parse(data: bytes, *, trusted: bool = False) -> Patch:
    """Take a patch apart.

    `trusted` lifts the limits on size and modes: for the patches that mining itself took from a history.

    Text before the first file header and between files (a commit message, a signature) is left out, as `git apply`
    does. Hunks are read by the counts in their headers. Time and memory grow with the size of the text, and no more
    than `_MAX_READ` bytes and `MAX_SECTIONS` files of it are read line by line. Patches one after the other become one
    with one section a file.

    Raises:
        PatchError: no file in it, or none that may be applied; a broken hunk, headers that disagree, more than
            `MAX_SECTIONS` files, a path that may not be written.

    """
    repairs: dict[str, None] = {}
    if data and not data.endswith(b"\n"):
        data += b"\n"
        repairs["last newline"] = None
    try:
        data = data if trusted else forms.plain(data, repairs)
    except ValueError as error:
        raise PatchError(str(error)) from None
    files, refused = _files(data, repairs, trusted=trusted)
    if not files and refused:
        raise refused[0].error
    if not files:
        raise NoPatchError("there is no file header (`diff --git …` or `--- …` with `+++ …`) in it")
    if not trusted:
        files = _Series(files, repairs).files()
    _check_conflicts(files)
    patch = Patch(files=tuple(files), repairs=tuple(repairs), left_out=tuple(refusal.dropped for refusal in refused))
    if not trusted and _files(patch.raw, {}, trusted=False) != (files, []):
        raise PatchError("its parts are read differently once the text between them is left out")
    return patch


def _files(data: bytes, repairs: dict[str, None], *, trusted: bool) -> tuple[list[FilePatch], list[_Refusal]]:
    """The parts that may be applied, and those that may not."""
    reader = _Reader(data, repairs, trusted=trusted)
    sections = list(reader.sections())
    prefixes = frozenset().union(*(section.prefixes for section in sections))
    files: list[FilePatch] = []
    refused: list[_Refusal] = []
    for section in sections:
        try:
            old, new = _agree(section, prefixes)
        except _DisagreeError as error:
            raise reader.error(str(error), section.at) from None
        path = new if new is not None else old
        assert path is not None  # noqa: S101 - at most one of them is None
        paths = {name for name in (old, new) if name is not None}
        for name in paths:
            _check_path(name)
        why = None if trusted else _refusal(section, path, paths)
        if why is not None:
            refused.append(why)
        elif section.lacks_data:
            raise reader.error(_NO_DATA, section.at)
        else:
            files.append(_file(section, old, new, repairs))
    return _without_overlaps(files, refused), refused


@dataclass(frozen=True, kw_only=True)
class _Refusal:
    """A part that may not be applied, and what to say where there is no other."""

    dropped: Dropped
    paths: frozenset[str]
    error: PatchError


def _refusal(section: _Section, path: str, paths: Collection[str]) -> _Refusal | None:
    """Why a part is left out; None where it may be applied."""

    def refuse(reason: str, error: PatchError) -> _Refusal:
        return _Refusal(dropped=Dropped(path=path, reason=reason), paths=frozenset(paths), error=error)

    for mode in section.modes:
        if mode not in ("100644", "100755"):
            reason, kind = _OTHER_MODES.get(mode, ("special_file", "not a plain file"))
            return refuse(reason, UnsafePatchError(f"{path!r} has mode {mode}: {kind}"))
    if any("\\" in name or any(ord(char) < 32 for char in name) for name in paths):  # noqa: PLR2004 - control characters
        return refuse("odd_path", PatchError(f"the path {path!r} has a character that a path may not have"))
    if section.too_large:
        return refuse(
            "too_large", PatchError(f"{path!r} has a patch of more than the {MAX_BYTES} bytes that are taken")
        )
    if section.lacks_data:
        return refuse("binary_without_data", PatchError(f"{path!r}: {_NO_DATA}"))
    return None


def _check_path(path: str) -> None:
    parts = path.split("/")
    if path.startswith("/") or "" in parts or "." in parts or ".." in parts:
        raise UnsafePatchError(f"the path {path!r} leaves the work tree")
    if len(path.encode("utf-8", "surrogateescape")) > MAX_PATH_BYTES:
        raise PatchError(f"a path of more than {MAX_PATH_BYTES} bytes: {path[:60]!r}…")
    if any(part.lower() == ".git" or part.lower().startswith("git~") for part in parts):
        raise UnsafePatchError(f"the path {path!r} is inside a git folder")


def _without_overlaps(files: list[FilePatch], refused: list[_Refusal]) -> list[FilePatch]:
    """The parts beside those that are refused; the others of a file that becomes a link are refused with it."""
    if not refused:
        return files
    reasons = {path: refusal for refusal in refused for path in refusal.paths}
    changed = frozenset().union(*(file.paths for file in files))
    above = {folder: refusal for path, refusal in reasons.items() for folder in folders_of(path) if folder in changed}
    patches: list[FilePatch] = []
    for file in files:
        places = (*file.paths, *(folder for path in file.paths for folder in folders_of(path)))
        cause = next((reasons[place] for place in places if place in reasons), None)
        cause = cause or next((above[path] for path in file.paths if path in above), None)
        if cause is None:
            patches.append(file)
        else:
            dropped = Dropped(path=file.path, reason=cause.dropped.reason)
            refused.append(_Refusal(dropped=dropped, paths=file.paths, error=cause.error))
    return patches


def _check_conflicts(files: list[FilePatch]) -> None:
    """One section a path: a file that is changed twice could hide what it does first. A copy's source only is read."""
    paths_seen: set[str] = set()
    for file in files:
        for path in {file.path} if file.copies else file.paths:
            if path in paths_seen:
                raise PatchError(f"{path!r} is touched by two sections of the patch")
            paths_seen.add(path)


class _Series:
    """Patches one after the other, each for what those before it leave, to be made one patch for the base.

    A patch begins with the header of a commit (a mail), or with a file that the one before has changed already.
    """

    def __init__(self, files: list[FilePatch], repairs: dict[str, None]) -> None:
        self.patches: list[list[FilePatch]] = []
        self.repairs = repairs
        self.changes: dict[str, FilePatch] = {}
        """What the patches so far do to each file, by its path afterwards, or before where it is gone."""
        self.left = _MAX_COMPOSED
        changed: set[str] = set()
        for file in files:
            is_next = not self.patches or file.commit != self.patches[-1][-1].commit
            own = {file.path} if file.copies else file.paths
            if is_next or own & changed:
                if not is_next and any(part.old_path != part.new_path and not part.is_new and part.new_path is not None
                                       for part in (*self.patches[-1], file) if part.paths & own):  # fmt: skip
                    raise self.error(file, "one of which renames or copies it")  # git reads no order from them
                self.patches.append([])
                changed = set()
            self.patches[-1].append(file)
            changed |= own

    def error(self, file: FilePatch, why: str) -> PatchError:
        return PatchError(
            f"{file.path!r} is touched by two sections of the patch, {why}: send one diff against the base commit"
        )

    def files(self) -> list[FilePatch]:
        """One section a file."""
        if len(self.patches) == 1:
            return self.patches[0]
        for patch in self.patches:
            self.take(patch)
        return list(self.changes.values())

    def take(self, patch: list[FilePatch]) -> None:
        """Add what a patch does to what those before it do."""
        sections: list[FilePatch] = []
        for file in patch:
            earlier = self.changes.get(file.old_path or file.path)
            if earlier is not None and (file.old_path is None) != (earlier.new_path is None):
                raise self.error(file, "the later of which does not fit what the earlier leaves")
            if earlier is None:
                sections.append(file)
            elif (change := self.composed(earlier, file)) is not None:
                sections.append(change)
        for file in patch:
            if not file.copies:
                self.changes.pop(file.old_path or file.path, None)
        for change in sections:
            if change.path in self.changes:
                raise self.error(change, "the later of which takes the place of another file")
            self.changes[change.path] = change

    def composed(self, first: FilePatch, second: FilePatch) -> FilePatch | None:
        """One change that does what two do; None where that is nothing."""
        self.left -= len(first.raw) + len(second.raw)
        if self.left < 0:
            raise self.error(second, "and what has to be put together is too much")
        if first.binary or second.binary:
            raise self.error(second, "one of which is binary")
        self.repairs["patches in a row"] = None
        try:
            hunks = series.composed(*(file.raw[file.hunks_at :] if file.hunks else b"" for file in (first, second)))
        except series.ContradictionError as error:
            raise self.error(second, f"the later of which has {error}") from None
        copies = second.copies or (first.copies and first.old_path is not None)
        if first.copies and second.new_path is None:
            return None
        text = _text(first.old_path, second.new_path, (*first.modes, *second.modes), hunks, copies=copies)
        if not text:
            return None
        files, refused = _files(text, {}, trusted=False)
        if refused:
            raise refused[0].error
        return replace(files[0], crlf=first.crlf or second.crlf)


def _text(old: str | None, new: str | None, modes: Sequence[str], hunks: bytes, *, copies: bool) -> bytes:
    """A change as git writes it; empty where there is none."""
    first, second = (patch_names.quoted(f"{prefix}/{path}") for prefix, path in (("a", old or new), ("b", new or old)))
    lines: list[bytes] = []
    if old is None or new is None:
        kind, mode = (b"new", modes[-1:]) if old is None else (b"deleted", modes[:1])
        lines = [kind + b" file mode " + (mode[0] if mode else "100644").encode()] if old != new else []
    elif modes and modes[0] != modes[-1]:
        lines = [b"old mode " + modes[0].encode(), b"new mode " + modes[-1].encode()]
    if old is not None and new is not None and (old != new or copies):
        kind = b"copy" if copies else b"rename"
        lines += [kind + b" from " + patch_names.quoted(old), kind + b" to " + patch_names.quoted(new)]
    if lines:
        lines.insert(0, b"diff --git " + first + b" " + second)
    if hunks:
        lines += [b"--- " + (first if old is not None else b"/dev/null")]
        lines += [b"+++ " + (second if new is not None else b"/dev/null")]
    return b"".join(line + b"\n" for line in lines) + hunks


@dataclass(kw_only=True)
class _Section:
    """The lines of one file, and what its headers say, to be held against each other."""

    at: int
    commit: int
    crlf: bool
    lines: list[bytes] = field(default_factory=list)
    is_git: bool = False
    pair: tuple[str, str] | None = None
    """The names of `diff --git`, where they are those of one file."""
    names_at: int | None = None
    """Which line is the `---` line."""
    old: str | None = None
    new: str | None = None
    stamps: tuple[bytes, bytes] = (b"", b"")
    """What follows the names."""
    created: bool = False
    deleted: bool = False
    moved_from: str | None = None
    moved_to: str | None = None
    moves: set[bytes] = field(default_factory=set)
    """`rename` and `copy`, as its headers say."""
    modes: list[str] = field(default_factory=list)
    binary: bool = False
    lacks_data: bool = False
    too_large: bool = False
    first_hunk: int = 0
    """Which line is the first hunk's."""
    hunks: int = 0
    added: int = 0
    removed: int = 0
    old_lines: int = 0
    new_lines: int = 0
    zero_context: bool = False

    @property
    def names(self) -> tuple[str, str] | None:
        """Those of `---` and `+++`, where neither is /dev/null."""
        return (self.old, self.new) if self.old is not None and self.new is not None else None

    @property
    def prefixes(self) -> frozenset[str]:
        pairs = (pair for pair in (self.pair, self.names) if pair is not None)
        return frozenset().union(*(patch_names.prefixes_of(*pair) for pair in pairs))


class _Reader:
    """Goes through a patch once, line by line where it matters."""

    def __init__(self, data: bytes, repairs: dict[str, None], *, trusted: bool) -> None:
        self.data = b"\n" + data
        self.at = 1
        self.end = 1
        """Where the line at `at` ends."""
        self.repairs = repairs
        self.trusted = trusted
        self.crlf = False
        self.left = _MAX_READ
        self.headers_left = _MAX_HEADERS_READ
        self.found: dict[re.Pattern[bytes], int] = {}

    def error(self, why: str, at: int | None = None) -> PatchError:
        line = self.data.count(b"\n", 0, self.at if at is None else at)
        return PatchError(f"line {line}: {why}")

    def sections(self) -> Iterator[_Section]:
        number = commit = 0
        while (start := min(map(self._next, (_GIT_START, _PLAIN_START, _LOOSE_HUNK)))) < len(self.data):
            if start == self._next(_LOOSE_HUNK):
                raise self.error("a hunk without a file header", start + 1)
            number += 1
            if number > MAX_SECTIONS and not self.trusted:
                raise PatchError(f"the patch touches more than {MAX_SECTIONS} files")
            commit += len(_COMMIT_START.findall(self.data, self.at - 1, start + 1))
            self.at = start + 1
            self.crlf = False
            self.crlf = self._line().endswith(b"\r")
            section = _Section(at=self.at, commit=commit, crlf=self.crlf, is_git=start == self._next(_GIT_START))
            try:
                self._read(section)
            except _TooLargeError:
                section.too_large = True
                self.at = min(self._next(_GIT_START), self._next(_PLAIN_START)) + 1
            except PatchError:
                raise
            except ValueError as error:  # an escape in a name
                raise self.error(str(error)) from None
            yield section

    def _next(self, start: re.Pattern[bytes]) -> int:
        """Where the next line of this form begins, by the newline before it; the text's end where there is none."""
        if self.found.get(start, -1) < self.at - 1:
            near = self.data.find(start.pattern[: len(b"\n@@ -")], self.at - 1)  # many times as fast as a pattern
            match = start.search(self.data, near) if near >= 0 else None
            self.found[start] = match.start() if match else len(self.data)
        return self.found[start]

    def _line(self) -> bytes:
        """The line at which the reader is; empty at the end."""
        end = self.data.find(b"\n", self.at)
        self.end = end if end >= 0 else len(self.data)
        line = self.data[self.at : self.end]
        return line[:-1] if self.crlf and line.endswith(b"\r") else line

    def _take(self, section: _Section, line: bytes) -> None:
        """Go on to the next line. What was last asked for must be `line`."""
        size = self.end + 1 - self.at
        self.left -= size
        if not self.trusted and (self.end - section.at > MAX_BYTES or self.left < 0):
            raise _TooLargeError
        section.lines.append(line)
        self.at = min(self.end + 1, len(self.data))

    def _header(self, section: _Section) -> bytes:
        """The line at which the reader is, taken."""
        line = self._line()
        self.headers_left -= len(line)
        endless = len(section.lines) > _MAX_HEADERS or len(line) > _MAX_HEADER_BYTES
        if endless or (self.headers_left < 0 and not self.trusted):
            raise self.error("headers without end")
        section.lines.append(line)
        self.at = min(self.end + 1, len(self.data))
        return line

    def _read(self, section: _Section) -> None:
        if section.is_git:
            section.pair = patch_names.git_pair(self._header(section)[len(b"diff --git ") :])
            while self._line().startswith(_EXTENDED):
                self._extended(section, self._header(section))
            if self._line().startswith(b"GIT binary patch"):
                section.binary = True
                self._binary(section)
                return
            if self._line().startswith(b"Binary files "):
                section.lacks_data = True
                self._header(section)
                return
            if not self._line().startswith(b"--- "):
                return
        section.names_at = len(section.lines)
        section.old, old_stamp = patch_names.side(self._header(section)[4:])
        if not self._line().startswith(b"+++ "):
            raise self.error("`--- …` is not followed by `+++ …`")
        section.new, new_stamp = patch_names.side(self._header(section)[4:])
        section.stamps = (old_stamp, new_stamp)
        self._hunks(section)

    def _extended(self, section: _Section, line: bytes) -> None:
        if line.startswith((b"old mode ", b"new mode ")):
            section.modes.append(line[9:].decode("ascii", "replace"))
        elif line.startswith(b"deleted file mode "):
            section.deleted = True
            section.modes.append(line[18:].decode("ascii", "replace"))
        elif line.startswith(b"new file mode "):
            section.created = True
            section.modes.append(line[14:].decode("ascii", "replace"))
        elif line.startswith((b"rename from ", b"copy from ")):
            section.moved_from = patch_names.unquoted(line.split(b" ", 2)[2])
            section.moves.add(line.split(b" ")[0])
        elif line.startswith((b"rename to ", b"copy to ")):
            section.moved_to = patch_names.unquoted(line.split(b" ", 2)[2])
            section.moves.add(line.split(b" ")[0])
        elif line.startswith(b"index "):
            words = line.split(b" ")
            if len(words) == 3:  # noqa: PLR2004 - `index old..new mode`
                section.modes.append(words[2].decode("ascii", "replace"))

    def _hunks(self, section: _Section) -> None:
        section.first_hunk = len(section.lines)
        while (match := _HUNK.match(line := self._line())) is not None:
            old_left = int(match[2]) if match[2] is not None else 1
            new_left = int(match[4]) if match[4] is not None else 1
            section.hunks += 1
            section.old_lines += old_left
            section.new_lines += new_left
            self._take(section, line)
            self._hunk_body(section, old_left, new_left)
        if section.hunks == 0:
            raise self.error("a file header without a hunk")

    def _hunk_body(self, section: _Section, old_left: int, new_left: int) -> None:
        context = 0
        while old_left > 0 or new_left > 0:
            line = self._line()
            is_end = self.at >= len(self.data) or line.startswith((b"```", b"~~~"))
            if old_left == new_left <= _MAX_LOST_LINES and is_end:
                # Whoever stripped the text took trailing blank context lines with it.
                section.lines += [b" "] * old_left
                self.repairs["trailing blank context"] = None
                context += old_left
                break
            mark = line[:1] if line or self.at >= len(self.data) else b" "
            if mark in (b" ", b"\r"):
                old_left, new_left, context = old_left - 1, new_left - 1, context + 1
            elif mark == b"-":
                old_left, section.removed = old_left - 1, section.removed + 1
            elif mark == b"+":
                new_left, section.added = new_left - 1, section.added + 1
            elif mark != b"\\":
                raise self.error("the hunk is shorter than its header says")
            if old_left < 0 or new_left < 0:
                raise self.error("the hunk is longer than its header says")
            self._take(section, line)
        section.zero_context = section.zero_context or context == 0
        line = self._line()
        if line.startswith(b"\\"):
            self._take(section, line)
            line = self._line()
        if line[:1] in (b"+", b" ") and not line.startswith(b"+++ ") and line.strip():
            raise self.error("the hunk is longer than its header says")

    def _binary(self, section: _Section) -> None:
        self._take(section, self._line())
        for _ in range(2):  # forward, and reverse where it is there
            if not (line := self._line()).startswith((b"literal ", b"delta ")):
                break
            self._take(section, line)
            while (line := self._line()) and not line.startswith((b"literal ", b"delta ", b"diff ")):
                self._take(section, line)
            if not line and self.at < len(self.data):
                self._take(section, line)


class _DisagreeError(Exception):
    """The headers of a file do not go together."""


def _agree(section: _Section, prefixes: frozenset[str]) -> tuple[str | None, str | None]:
    """The two paths of a file section, once every header tells the same.

    Raises:
        _DisagreeError: they do not.

    """
    has_names = section.names_at is not None
    no_old, no_new = has_names and section.old is None, has_names and section.new is None
    if section.is_git and ((no_old and not section.created) or (no_new and not section.deleted)):
        # git refuses it, or takes /dev/null for a file of the tree
        raise _DisagreeError("/dev/null without a line `new file mode` or `deleted file mode`")
    long_ago = [_LONG_AGO.match(stamp) is not None and not section.is_git for stamp in section.stamps]
    created = section.created or no_old or (long_ago[0] and section.old_lines == 0)
    deleted = section.deleted or no_new or (long_ago[1] and section.new_lines == 0)
    if section.moved_from is not None or section.moved_to is not None:
        old, new = _moved(section)
    else:
        old = new = _path_of(section, prefixes)
    if created and deleted:
        raise _DisagreeError(f"the headers name different files: {old!r} is made and deleted")
    return None if created else old, None if deleted else new


def _moved(section: _Section) -> tuple[str, str]:
    """The paths of a rename or copy: its own lines have no prefix."""
    old, new = section.moved_from, section.moved_to
    if old is None or new is None or len(section.moves) > 1:
        raise _DisagreeError("half a rename or copy")
    for name, path in ((section.old, old), (section.new, new)):
        if name is not None and path not in (name, patch_names.without_prefix(name)):
            raise _DisagreeError(f"the headers name different files: {name!r}, {path!r}")
    return old, new


def _path_of(section: _Section, prefixes: frozenset[str]) -> str:
    """The one path that `diff --git`, `---` and `+++` mean."""
    claims: set[str | None] = set()
    if section.is_git:
        if section.pair is None:
            raise _DisagreeError("the two paths of `diff --git` differ without a rename")
        claims.add(patch_names.path_of_two(*section.pair))
    if section.names is not None and section.is_git:
        claims.add(patch_names.path_of_two(*section.names))
    elif section.names is not None:
        claims.add(patch_names.path_of_files(*section.names, prefixes))
    elif (name := section.old or section.new) is not None and name not in (section.pair or ()):
        claims.add(patch_names.path_of_one(name, prefixes))
    path = next(iter(claims), None)
    if len(claims) != 1 or path is None:
        names = sorted({name for name in (section.old, section.new, *(section.pair or ())) if name is not None})
        raise _DisagreeError(f"the headers name different files: {', '.join(map(repr, names)) or 'none'}")
    return path


def _file(section: _Section, old: str | None, new: str | None, repairs: dict[str, None]) -> FilePatch:
    if not _reads_alike(section, old, new):
        _put_prefixes(section, old, new)
        are_alike = section.is_git or section.names is None or patch_names.path_of_two(*section.names) == (new or old)
        repairs["path prefixes" if are_alike else "file names"] = None
    if section.crlf:
        repairs["line ends"] = None
    return FilePatch(
        old_path=old,
        new_path=new,
        raw=b"\n".join(section.lines) + b"\n",
        modes=tuple(section.modes),
        added=section.added,
        removed=section.removed,
        hunks=section.hunks,
        hunks_at=sum(len(line) + 1 for line in section.lines[: section.first_hunk]),
        binary=section.binary,
        makes_file=(old != new and new is not None) or (section.hunks > 0 and section.old_lines == 0),
        zero_context=section.zero_context and old is not None and new is not None,
        copies=b"copy" in section.moves,
        commit=section.commit,
        crlf=section.crlf,
    )


def _reads_alike(section: _Section, old: str | None, new: str | None) -> bool:
    """Whether git, which takes one component off every name, comes to the same paths, whatever else the patch has."""
    sides = zip((section.old, section.new), section.stamps, strict=True)
    if any(stamp.startswith(b" ") or (name is not None and _LONG_AGO.match(stamp)) for name, stamp in sides):
        return False
    moved = section.moved_from is not None
    pair = (None, None) if section.pair is None or moved else section.pair
    header_pairs = ((pair[0], old or new), (pair[1], new or old), (section.old, old), (section.new, new))
    if any(name is not None and patch_names.without_prefix(name) != path for name, path in header_pairs):
        return False
    single = None if section.is_git or section.names else section.old or section.new
    return single is None or single.partition("/")[0] in patch_names.PREFIXES


def _put_prefixes(section: _Section, old: str | None, new: str | None) -> None:
    """Write the names with the prefixes that git has."""
    first, second = (patch_names.quoted(f"a/{old or new}"), patch_names.quoted(f"b/{new or old}"))
    if section.is_git:
        section.lines[0] = b"diff --git " + first + b" " + second
    if section.names_at is not None:
        sides = (b"--- ", old, section.old, first), (b"+++ ", new, section.new, second)
        for at, ((mark, path, name, written), stamp) in enumerate(zip(sides, section.stamps, strict=True)):
            is_none = path is None or name is None
            line_end = b"" if _LONG_AGO.match(stamp) else re.sub(rb"^ +", b"\t", stamp)
            section.lines[section.names_at + at] = mark + (b"/dev/null" if is_none else written) + line_end


def overlap(path: str, other: str) -> bool:
    """The same file, or one where the other needs a folder."""
    return path == other or path.startswith(other + "/") or other.startswith(path + "/")


def folders_of(path: str) -> Iterator[str]:
    """The folders that a path lies in, the outermost first; the root is none of them."""
    at = path.find("/")
    while at >= 0:
        yield path[:at]
        at = path.find("/", at + 1)
