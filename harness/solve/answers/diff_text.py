"""Diffs as models write them: with or without headers, line counts, prefixes; and the `*** Begin Patch` form. Pure."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from harness.solve.answers.edits import Change, Hunk, Tolerance

_GIT = re.compile(r"^diff --git (?:\"?a/(?P<old>.+?)\"?) (?:\"?b/(?P<new>.+?)\"?)\s*$")
_HUNK = re.compile(r"^@@ -(?P<old>\d+)(?:,(?P<olds>\d+))? \+(?P<new>\d+)(?:,(?P<news>\d+))? @@")
_LOOSE_HUNK = re.compile(r"^@@(?!@)")
_STARRED = re.compile(r"^\*\*\* (?P<what>Update|Add|Delete) File: (?P<path>.+?)\s*$")
_STARRED_END = re.compile(r"^\*\*\* (?:End|Begin) (?:Patch|of File)|^\*\*\* End of File")
_MOVED = re.compile(r"^(?:rename to |\*\*\* Move to: )(?P<path>.+?)\s*$")


def between(old: Sequence[str], new: Sequence[str]) -> Iterator[tuple[str, str]]:
    """The lines of a hunk that turns one piece of text into another."""
    for tag, a, b, c, d in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if tag == "equal":
            yield from ((" ", line) for line in old[a:b])
        else:
            yield from (("-", line) for line in old[a:b])
            yield from (("+", line) for line in new[c:d])


@dataclass(kw_only=True)
class _Section:
    """What is known so far of one file."""

    path: str | None = None
    old: str | None = None
    new: str | None = None
    creates: bool = False
    deletes: bool = False
    moved_to: str | None = None
    executable: bool = False
    prefixed: bool = False
    awaits_names: bool = False
    """It began with `diff --git`, and its `---` and `+++` have not come yet."""
    hunks: list[Hunk] = field(default_factory=list)
    tolerance: set[Tolerance] = field(default_factory=set)

    def change(self) -> Change | None:
        """None for headers that nothing follows."""
        if not (self.hunks or self.creates or self.deletes or self.moved_to):
            return None
        path = self.new if self.new is not None and not self.deletes else self.old
        path = path if path is not None else self.path
        moved_from = None
        if self.moved_to is not None:
            path, moved_from = self.moved_to, self.old if self.old is not None else self.path
        return Change(
            path=path,
            hunks=() if self.deletes else tuple(self.hunks),
            creates=self.creates,
            deletes=self.deletes,
            moved_from=moved_from,
            prefixed=self.prefixed,
            executable=self.executable,
            tolerance=frozenset(self.tolerance),
        )


def sections(lines: Sequence[str], *, path: str | None, in_fence: bool) -> Iterator[Change]:
    """The change of every file of a diff; text around it is left out.

    `path` is the file that hunks without a header are for. `in_fence` takes lines without a mark for context.
    """
    reader = _Reader(list(lines), path=path, in_fence=in_fence)
    reader.read()
    for section in reader.found:
        change = section.change()
        if change is not None:
            yield change


class _Reader:
    def __init__(self, lines: list[str], *, path: str | None, in_fence: bool) -> None:
        self._lines = lines
        self._at = 0
        self._path = path
        self._in_fence = in_fence
        self.found: list[_Section] = []

    def read(self) -> None:
        while self._at < len(self._lines):
            if not (self._header() or self._hunk()):
                self._at += 1

    def _peek(self, ahead: int = 0) -> str:
        at = self._at + ahead
        return self._lines[at] if at < len(self._lines) else ""

    def _header(self) -> bool:
        """Take in a header line; whether it was one."""
        line = self._peek()
        if git := _GIT.match(line):
            old = git["old"] if git["old"] != git["new"] else None
            self.found.append(_Section(path=git["new"], old=old, awaits_names=True))
        elif starred := _STARRED.match(line):
            word = starred["what"]
            self.found.append(
                _Section(
                    path=starred["path"],
                    creates=word == "Add",
                    deletes=word == "Delete",
                    tolerance={Tolerance.APPLY_PATCH},
                )
            )
            self._at += 1
            if word == "Add":
                self._added()
            return True
        elif _is_header_pair(line, self._peek(1)):
            self._names(line, self._peek(1))
            self._at += 1
        elif self.found and not self.found[-1].hunks:
            return self._extended(self.found[-1], line)
        else:
            return False
        self._at += 1
        return True

    def _extended(self, section: _Section, line: str) -> bool:
        if line.startswith("new file mode "):
            section.creates, section.executable = True, line.strip().endswith("755")
        elif line.startswith("deleted file mode "):
            section.deletes = True
        elif moved := _MOVED.match(line):
            section.moved_to = moved["path"]
        else:
            return False
        self._at += 1
        return True

    def _names(self, first: str, second: str) -> None:
        """The `---` and `+++` lines: of the section that `diff --git` began, or of a new one."""
        if not self.found or not self.found[-1].awaits_names:
            self.found.append(_Section())
        section = self.found[-1]
        section.awaits_names = False
        old, new = _side(first), _side(second)
        section.creates = section.creates or old is None
        section.deletes = section.deletes or new is None
        section.prefixed = all(side is None or side[:2] in ("a/", "b/") for side in (old, new))
        if section.moved_to is None:
            section.old, section.new = old, new
        if old is not None and new is not None and not section.prefixed:
            section.tolerance.add(Tolerance.PATH)

    def _added(self) -> None:
        """The lines of `*** Add File`: all begin with a plus."""
        lines = []
        while self._at < len(self._lines) and self._peek()[:1] == "+":
            lines.append(("+", self._peek()[1:]))
            self._at += 1
        self.found[-1].hunks.append(Hunk(lines=tuple(lines)))

    def _hunk(self) -> bool:
        """Take in a hunk; whether there was one."""
        exact = _HUNK.match(self._peek())
        if exact is None and not _LOOSE_HUNK.match(self._peek()):
            return False
        if not self.found:
            if exact is None and not self._marks_follow():
                return False
            self.found.append(_Section(path=self._path, tolerance={Tolerance.HEADER}))
        section = self.found[-1]
        self._at += 1
        lines, newline = self._body(section)
        if exact is None:
            if Tolerance.APPLY_PATCH not in section.tolerance:
                section.tolerance.add(Tolerance.HEADER)
        elif not _counts_are_right(exact, lines):
            section.tolerance.add(Tolerance.HEADER)
        hunk = Hunk(
            lines=tuple(lines),
            start=int(exact["old"]) if exact is not None else None,
            ends_without_newline=newline,
        )
        if not hunk.is_empty:
            section.hunks.append(hunk)
        return True

    def _marks_follow(self) -> bool:
        return any(line[:1] in ("+", "-") for line in self._lines[self._at + 1 : self._at + 12])

    def _body(self, section: _Section) -> tuple[list[tuple[str, str]], bool | None]:
        """The lines of a hunk, and what its marker says of the new file's last newline."""
        lines: list[tuple[str, str]] = []
        newline: bool | None = None
        blank = 0
        while self._at < len(self._lines):
            line = self._peek()
            if self._ends_hunk(line):
                break
            mark = line[:1]
            if mark == "\\":
                # After a removed line it tells of the old side: the new one has a newline, unless a second one follows.
                newline = (lines[-1][0] != "-") if lines else None
            elif mark in (" ", "+", "-"):
                lines.append((mark, line[1:]))
                blank = 0
            elif not line.strip():
                lines.append((" ", ""))
                blank += 1
            elif self._in_fence:
                lines.append((" ", line))
                section.tolerance.add(Tolerance.BARE_CONTEXT)
                blank = 0
            else:
                break
            self._at += 1
        return lines[: len(lines) - blank] if blank else lines, newline

    def _ends_hunk(self, line: str) -> bool:
        return bool(
            _GIT.match(line)
            or _HUNK.match(line)
            or _LOOSE_HUNK.match(line)
            or _STARRED.match(line)
            or _STARRED_END.match(line)
            or _is_header_pair(line, self._peek(1))
            or line.startswith("```")
        )


def _is_header_pair(first: str, second: str) -> bool:
    return first.startswith("--- ") and second.startswith("+++ ")


def _side(line: str) -> str | None:
    path = line[4:].split("\t", 1)[0].strip().strip('"')
    return None if path == "/dev/null" else path


def _counts_are_right(header: re.Match[str], lines: Sequence[tuple[str, str]]) -> bool:
    olds = sum(mark != "+" for mark, _ in lines)
    news = sum(mark != "-" for mark, _ in lines)
    return (int(header["olds"] or 1), int(header["news"] or 1)) == (olds, news)
