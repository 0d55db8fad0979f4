"""A tree being changed in memory, one edit after the other, and the patch that comes of it. Pure.

An edit says what it takes the file to hold. Where that is not so, it is looked for elsewhere in the file and, if need
be, with spaces, line ends or outer context left aside; each of these is a tolerance that is recorded. It has to be
found in exactly one place: where it could be meant twice, nothing is guessed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from harness.patches import written
from harness.solve.answers.edits import Change, EditError, Hunk, Tolerance

_FEWEST_CONTEXT = 2


class Readable(Protocol):
    """A tree that can be read."""

    def files(self) -> tuple[str, ...]: ...

    def read(self, path: str) -> bytes: ...


@dataclass(kw_only=True)
class _File:
    lines: list[str]
    """Without "\\n"; a "\\r" before it is kept."""
    newline: bool
    """Whether the last line is ended."""
    executable: bool = False

    @classmethod
    def of(cls, data: bytes) -> _File:
        text = data.decode("utf-8", "surrogateescape")
        lines = text.split("\n")
        newline = lines[-1] == ""
        return cls(lines=lines[:-1] if newline else lines, newline=newline or not text)

    @property
    def text(self) -> str:
        return "\n".join(self.lines) + ("\n" if self.newline and self.lines else "")


@dataclass(kw_only=True)
class Draft:
    """The tree with the changes made so far."""

    tree: Readable
    tolerance: set[Tolerance] = field(default_factory=set)
    _files: dict[str, _File | None] = field(default_factory=dict)

    def make(self, change: Change) -> None:
        """Make one change.

        Raises:
            EditError: it is not clear where, or the file is not as the change takes it to be.

        """
        self.tolerance |= change.tolerance
        if change.path is None:
            raise EditError("an edit that does not say of which file", ambiguous=True)
        if change.creates:
            self._create(self._new_path(change), change)
            return
        path = self._find(change.moved_from or change.path, prefixed=change.prefixed)
        if path is None and change.content is not None:
            self._create(self._new_path(change), change)
        elif path is None:
            raise EditError(f"there is no file {change.path!r}")
        elif change.deletes:
            self._files[path] = None
        else:
            self._edit(path, change)

    def lines_of(self, change: Change) -> list[str] | None:
        """The lines of the file that a change is for, as it is now; None where there is no such file."""
        path = self._find(change.path or "", prefixed=change.prefixed)
        file = self._file(path) if path is not None else None
        return None if file is None else list(file.lines)

    def _create(self, path: str, change: Change) -> None:
        old = self._file(path)
        if old is not None and old.lines:
            raise EditError(f"{path} is to be created, but already exists")
        text = change.content
        if text is None:
            text = "".join(f"{line}\n" for hunk in change.hunks for mark, line in hunk.lines if mark == "+")
            if change.hunks and change.hunks[-1].ends_without_newline:
                text = text.removesuffix("\n")
        file = _File.of(text.encode("utf-8", "surrogateescape"))
        file.executable = change.executable
        self._files[path] = file

    def _edit(self, path: str, change: Change) -> None:
        file = self._file(path)
        assert file is not None  # noqa: S101 - found by its path
        if change.content is not None:
            new = _File.of(change.content.encode("utf-8", "surrogateescape"))
            if _is_crlf(file.lines) and not _is_crlf(new.lines):
                new.lines = [f"{line}\r" for line in new.lines]
                self.tolerance.add(Tolerance.LINE_ENDS)
            new.executable = file.executable
        else:
            new = _File(lines=list(file.lines), newline=file.newline, executable=file.executable)
            shift = 0
            for hunk in change.hunks:
                shift = self._hunk(path, new, hunk, shift)
        if change.moved_from is not None:
            self._files[path] = None
            path = self._new_path(change)
        self._files[path] = new

    def _hunk(self, path: str, file: _File, hunk: Hunk, shift: int) -> int:
        """Put one hunk in; the lines by which what follows has moved."""
        place = locate(path, file.lines, hunk, shift)
        self.tolerance |= place.tolerance
        new: list[str] = []
        at, crlf = place.at, _is_crlf(file.lines)
        for mark, text in place.lines:
            if mark == "+":
                more = "\r" if crlf and not text.endswith("\r") else ""
                new.append(place.indent(text) + more)
                continue
            if mark == " ":
                new.append(file.lines[at])
            at += 1
        at_end = at == len(file.lines)
        file.lines[place.at : at] = new
        if at_end and hunk.ends_without_newline is not None:
            file.newline = not hunk.ends_without_newline
        grown = len(new) - (at - place.at)
        if hunk.start is None or not hunk.old:
            return shift + grown
        return place.at + 1 - place.skipped - hunk.start + grown

    # -- paths

    def _find(self, path_named: str, *, prefixed: bool) -> str | None:
        """The path of the file that is meant; None where there is none."""
        plain = path_named[2:] if prefixed and path_named[:2] in ("a/", "b/") else path_named
        for path in (plain, path_named) if prefixed else (path_named, plain):
            if self._is_there(path):
                return path
        bare = plain.removeprefix("./").lstrip("/")
        bare = bare[2:] if bare[:2] in ("a/", "b/") and not self._is_there(bare) else bare
        parts = bare.split("/")
        if ".." in parts or not bare:
            return None
        if self._is_there(bare):
            self.tolerance.add(Tolerance.PATH)
            return bare
        paths = [path for path in self._paths() if self._is_there(path)]
        matching = [path for path in paths if path.endswith(f"/{bare}")]
        # Some name the folder of the checkout too: its end is tried, as long as it has a folder in it.
        ends = ["/".join(parts[at:]) for at in range(1, len(parts) - 1)]
        matching = matching or next(([end] for end in ends if self._is_there(end)), [])
        if len(matching) > 1:
            raise EditError(f"{path_named!r} may mean {' or '.join(sorted(matching)[:4])}", ambiguous=True)
        if matching:
            self.tolerance.add(Tolerance.PATH)
        return matching[0] if matching else None

    def _new_path(self, change: Change) -> str:
        path_named = change.path or ""
        path = path_named[2:] if change.prefixed and path_named[:2] in ("a/", "b/") else path_named
        if path.startswith("./"):
            path = path[2:]
            self.tolerance.add(Tolerance.PATH)
        parts = path.split("/")
        unsafe = path.startswith("/") or not path or {"", ".", "..", ".git"} & {part.lower() for part in parts}
        if unsafe or "\\" in path or not path.isprintable():
            raise EditError(f"{path_named!r} is not a path in the repository")
        if any("/".join(parts[:at]) in self._paths() for at in range(1, len(parts))):
            raise EditError(f"{path_named!r} would be inside a file")
        return path

    def _paths(self) -> frozenset[str]:
        return frozenset(self.tree.files()) | self._files.keys()

    def _is_there(self, path: str) -> bool:
        return self._files[path] is not None if path in self._files else path in self._paths()

    def _file(self, path: str) -> _File | None:
        if path not in self._files:
            if path not in self._paths():
                return None
            try:
                self._files[path] = _File.of(self.tree.read(path))
            except FileNotFoundError as error:
                raise EditError(f"{path} cannot be read") from error
        return self._files[path]

    # -- what came of it

    def changed(self) -> dict[str, tuple[bytes | None, bytes | None]]:
        """By path, what every changed file held before and holds now; None where it is not there."""
        contents = {}
        files = frozenset(self.tree.files())
        for path, file in sorted(self._files.items()):
            old = self.tree.read(path) if path in files else None
            new = None if file is None else file.text.encode("utf-8", "surrogateescape")
            if old != new:
                contents[path] = (old, new)
        return contents

    def patch(self) -> str:
        """What changed, as a patch that `git apply` takes; empty where nothing has."""
        sections = []
        for path, (old, new) in self.changed().items():
            file = self._files[path]
            sections.append(written.section(path, old, new, executable=file is not None and file.executable))
        return "".join(sections)


def _is_crlf(lines: Sequence[str]) -> bool:
    return bool(lines) and sum(line.endswith("\r") for line in lines) * 2 > len(lines)


@dataclass(frozen=True, kw_only=True)
class Place:
    at: int
    lines: tuple[tuple[str, str], ...]
    tolerance: frozenset[Tolerance] = frozenset()
    skipped: int = 0
    """Context lines at the hunk's head that were left aside."""
    more: str = ""
    less: str = ""

    def indent(self, line: str) -> str:
        """An added line, indented as the file is."""
        if not line.strip():
            return line
        return self.more + line.removeprefix(self.less)


def locate(path: str, lines: list[str], hunk: Hunk, shift: int) -> Place:
    """Where the hunk is meant.

    Raises:
        EditError: nowhere, or in more than one place.

    """
    old = hunk.old
    if not old:
        return _place_of_addition(path, lines, hunk, shift)
    line_named = hunk.start - 1 + shift if hunk.start is not None else None
    for how, equal in _WAYS:
        if place := _only(path, lines, hunk.lines, equal, how, declared=line_named):
            return place
    if place := _indented(path, lines, hunk):
        return place
    for skipped, lines_kept in _trimmed(hunk.lines):
        for how, equal in _WAYS:
            if place := _only(
                path, lines, lines_kept, equal, how | {Tolerance.CONTEXT}, declared=line_named, skipped=skipped
            ):
                return place
    first_text = next((text.strip() for text in old if text.strip()), "")
    raise EditError(f"{path} has no place like the one that the edit changes, which begins {first_text[:80]!r}")


def _place_of_addition(path: str, lines: list[str], hunk: Hunk, shift: int) -> Place:
    """For lines to be added without a context: only an empty file, or a hunk's own line number, says where."""
    if not lines:
        return Place(at=0, lines=hunk.lines)
    if hunk.start is None:
        raise EditError(f"lines to be added to {path}, and nothing says where", ambiguous=True)
    at = hunk.start + shift
    if not 0 <= at <= len(lines):
        raise EditError(f"lines to be added to {path} after line {hunk.start}, which is not there")
    return Place(at=at, lines=hunk.lines)


_WAYS: tuple[tuple[frozenset[Tolerance], Callable[[str], str]], ...] = (
    (frozenset(), lambda line: line),
    (frozenset({Tolerance.LINE_ENDS}), lambda line: line.removesuffix("\r")),
    (frozenset({Tolerance.TRAILING_SPACE}), str.rstrip),
)
"""How lines may differ and still be taken for the same, the strictest way first."""


def _only(
    path: str,
    lines: list[str],
    lines_kept: tuple[tuple[str, str], ...],
    equal: Callable[[str], str],
    how: frozenset[Tolerance],
    *,
    declared: int | None,
    skipped: int = 0,
) -> Place | None:
    """Where the hunk says that its lines are, or else the one place where they are; None where there is none.

    Lines are compared by `equal`; `declared` is the index of its first line by the hunk, `skipped` the lines left out.
    """
    old = [equal(text) for mark, text in lines_kept if mark != "+"]
    places = _places([equal(line) for line in lines], old)
    if declared is not None and declared + skipped in places:
        return Place(at=declared + skipped, lines=lines_kept, tolerance=how, skipped=skipped)
    if len(places) > 1:
        numbers = ", ".join(str(at + 1) for at in places[:5])
        raise EditError(f"the edit of {path} fits in {len(places)} places (lines {numbers})", ambiguous=True)
    if not places:
        return None
    moved = {Tolerance.LINE_NUMBERS} if declared is not None else set()
    return Place(at=places[0], lines=lines_kept, tolerance=how | moved, skipped=skipped)


def _places(lines: list[str], old: list[str]) -> list[int]:
    # The rarest line first would be quicker; files are short enough.
    first = old[0]
    return [
        at
        for at, line in enumerate(lines[: len(lines) - len(old) + 1])
        if line == first and lines[at : at + len(old)] == old
    ]


def _indented(path: str, lines: list[str], hunk: Hunk) -> Place | None:
    """The one place whose lines are those of the hunk, all indented by the same more, or the same less."""
    old = [text.rstrip() for text in hunk.old]
    first_text = next((text for text in old if text), None)
    if first_text is None:
        return None
    bare = [line.strip() for line in lines]
    places = _places(bare, [text.strip() for text in old])
    first = old.index(first_text)
    shifts = []
    for at in places:
        indent_there, indent_named = _indent(lines[at + first]), _indent(first_text)
        more, less = (
            (indent_there.removesuffix(indent_named), "")
            if indent_there.endswith(indent_named)
            else ("", indent_named.removesuffix(indent_there))
        )
        if not indent_named.endswith(indent_there) and not indent_there.endswith(indent_named):
            continue
        is_alike = all(
            not text or lines[at + number].rstrip() == more + text.removeprefix(less) for number, text in enumerate(old)
        )
        if is_alike:
            shifts.append((at, more, less))
    if len(shifts) > 1:
        raise EditError(f"the edit of {path} fits in {len(shifts)} places, indented", ambiguous=True)
    if not shifts:
        return None
    at, more, less = shifts[0]
    how = {Tolerance.INDENTATION} | ({Tolerance.LINE_NUMBERS} if hunk.start is not None else set())
    return Place(at=at, lines=hunk.lines, tolerance=frozenset(how), more=more, less=less)


def _indent(line: str) -> str:
    return line[: len(line) - len(line.lstrip())]


def _trimmed(lines: tuple[tuple[str, str], ...]) -> list[tuple[int, tuple[tuple[str, str], ...]]]:
    """The hunk with less and less of its outer context.

    All that is removed stays, and two lines of context where nothing that says something is removed.
    """
    head = next((at for at, (mark, _) in enumerate(lines) if mark != " "), len(lines))
    tail = next((at for at, (mark, _) in enumerate(reversed(lines)) if mark != " "), 0)
    trims = []
    for front in range(head + 1):
        for back in range(tail + 1):
            lines_kept = lines[front : len(lines) - back]
            says = [mark for mark, text in lines_kept if mark != "+" and text.strip()]
            if (front or back) and ("-" in says or len(says) >= _FEWEST_CONTEXT):
                trims.append((front, back, lines_kept))
    trims.sort(key=lambda trim: trim[0] + trim[1])
    return [(front, lines) for front, _, lines in trims]
