"""The names in a patch's headers: quoted or plain, with a prefix (`a/`, `b/` or others) or without. Pure."""

from __future__ import annotations

import re

PREFIXES = frozenset("abciow")
"""What git puts before a path: `a/` and `b/`, and with diff.mnemonicPrefix commit, index, object and work tree."""
_BEFORE, _AFTER = (".orig", ".old", ".bak", "~"), (".new",)
"""What people put behind the name of a file's copy from before a change, and of one that has it."""
_ALIKE = frozenset("ab")
"""Those that people and models put before both names of a file."""
_MAX_SPACES = 16
"""Spaces of a `diff --git` line at which it is tried to be cut."""
_ESCAPES = {b"a": 7, b"b": 8, b"t": 9, b"n": 10, b"v": 11, b"f": 12, b"r": 13, b'"': 34, b"\\": 92}
_ESCAPE = re.compile(rb"\\([0-3][0-7]{2}|.|$)", re.DOTALL)
_OCTAL = re.compile(rb"[0-3][0-7]{2}")
_QUOTED = re.compile(rb'"(?:[^"\\]|\\.)*', re.DOTALL)
_STAMP = re.compile(rb" +\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:\.\d+)?(?: [-+]\d\d:?\d\d)?")
_UNQUOTED = re.compile(rb"[A-Za-z0-9_./+@=,:~%^{}()\[\]#!$&*;<>?|'`-]*")


def without_prefix(name: str) -> str:
    """A name without its first component, as `-p1` reads it; empty where it has one only."""
    return name.partition("/")[2]


def path_of_two(first: str, second: str) -> str | None:
    """The path that the two names of one file mean; None where they are those of two files.

    `a/x` and `b/x` are x, whatever the prefixes are called. Names that are alike have none, as `git diff --no-prefix`
    prints them, unless it is `a/` or `b/`.
    """
    (top, _, tail), (other_top, _, other_rest) = first.partition("/"), second.partition("/")
    if first == second:
        return tail if tail and top in _ALIKE else first
    if tail and tail == other_rest:
        return tail
    if tail == second and top in PREFIXES:
        return second
    return first if other_rest == first and other_top in PREFIXES else None


def path_of_files(first: str, second: str, prefixes: frozenset[str]) -> str | None:
    """The path that the names of two files mean which `diff` compared; None where they are those of two of a tree.

    That is the file's own where one is of a copy beside it (`m.py.orig`), and where one is outside of the tree: git and
    patch(1) take no such name either where there is another.
    """
    first, second = first.removeprefix("./"), second.removeprefix("./")
    if (path := path_of_two(first, second)) is not None:
        return path
    if _is_outside(first) != _is_outside(second):
        return path_of_one(second if _is_outside(first) else first, prefixes)
    originals = [(first.removesuffix(end), second) for end in _BEFORE if first.endswith(end)]
    changed = [(first, second.removesuffix(end)) for end in _AFTER if second.endswith(end)]
    return next((path for pair in originals + changed if (path := path_of_two(*pair)) is not None), None)


def _is_outside(name: str) -> bool:
    return name == "-" or name.startswith(("/", "../"))


def path_of_one(name: str, prefixes: frozenset[str]) -> str:
    """The path that a name means which has no other beside it; `prefixes` are those that the patch has elsewhere."""
    top, _, tail = name.partition("/")
    return tail if tail and top in PREFIXES | prefixes else name


def prefixes_of(first: str, second: str) -> frozenset[str]:
    """The prefixes of two names of one file that differ in nothing else."""
    (top, _, tail), (other_top, _, other_rest) = first.partition("/"), second.partition("/")
    return frozenset({top, other_top}) if tail and tail == other_rest and top != other_top else frozenset()


def git_pair(line: bytes) -> tuple[str, str] | None:
    """The two names of one file in what follows `diff --git`; None where they cannot be told apart.

    Raises:
        ValueError: an unknown escape in a quoted name.

    """
    if line.startswith(b'"'):
        end = _quoted_end(line)
        return unquoted(line[: end + 1]), unquoted(line[end + 2 :])
    spaces = [match.start() for match, _ in zip(re.finditer(b" ", line), range(_MAX_SPACES), strict=False)]
    half, odd = divmod(len(line) - 1, 2)
    for at in (*(() if odd else (half,)), *spaces):
        if line[at : at + 1] == b" ":
            first, second = unquoted(line[:at]), unquoted(line[at + 1 :])
            if path_of_two(first, second) is not None:
                return first, second
    return None


def side(text: bytes) -> tuple[str | None, bytes]:
    """The name of a `---` or `+++` line, None for /dev/null, and what follows it: a tab, or blanks, and a time stamp.

    Raises:
        ValueError: an unknown escape in a quoted name.

    """
    if text.startswith(b'"'):
        end = _quoted_end(text) + 1
    elif (end := text.find(b"\t")) < 0:
        stamp = _STAMP.search(text)
        end = stamp.start() if stamp is not None and stamp.end() == len(text) else len(text)
    name = text[:end]
    return None if name == b"/dev/null" else unquoted(name), text[end:]


def quoted(path: str) -> bytes:
    """A path as git writes it: as it is, or like a C string."""
    data = path.encode("utf-8", "surrogateescape")
    if _UNQUOTED.fullmatch(data):
        return data
    return (
        b'"' + b"".join(b"%c" % byte if _UNQUOTED.fullmatch(b"%c" % byte) else b"\\%03o" % byte for byte in data) + b'"'
    )


def unquoted(text: bytes) -> str:
    """A path that git wrote; bytes that are not UTF-8 are surrogate escapes.

    Raises:
        ValueError: an unknown escape.

    """
    if not text.startswith(b'"'):
        return text.decode("utf-8", "surrogateescape")

    def character(match: re.Match[bytes]) -> bytes:
        escape = match[1]
        if escape in _ESCAPES:
            return bytes([_ESCAPES[escape]])
        if _OCTAL.fullmatch(escape):
            return bytes([int(escape, 8)])
        raise ValueError(f"the quoted path {text!r} has an unknown escape")

    body = text[1 : _quoted_end(text)]
    return _ESCAPE.sub(character, body).decode("utf-8", "surrogateescape")


def _quoted_end(text: bytes) -> int:
    """Where the closing quotation mark is, or would be."""
    match = _QUOTED.match(text)
    return match.end() if match else len(text)
