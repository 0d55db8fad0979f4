"""Patches written: from what a file held to what it holds, as `git apply` takes it. Pure."""

from __future__ import annotations

import difflib


def section(path: str, before: bytes | None, after: bytes | None, *, executable: bool = False) -> str:
    """The section of one file; None for the side where it is not there."""
    head = f"diff --git a/{path} b/{path}\n"
    if before is None:
        head += f"new file mode {'100755' if executable else '100644'}\n"
    elif after is None:
        head += "deleted file mode 100644\n"
    body = hunks(before or b"", after or b"")
    if not body:
        return head
    tab = "\t" if " " in path else ""  # what ends a path that has a space in it
    old = "/dev/null" if before is None else f"a/{path}{tab}"
    new = "/dev/null" if after is None else f"b/{path}{tab}"
    return f"{head}--- {old}\n+++ {new}\n{body}"


def hunks(before: bytes, after: bytes) -> str:
    """The hunks between two contents; empty where they are the same."""
    lines = list(difflib.unified_diff(_lines(before), _lines(after)))[2:]  # without the names
    return "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)


def _lines(data: bytes) -> list[str]:
    """Lines with their ends; a line feed alone ends one."""
    pieces = data.decode("utf-8", "surrogateescape").split("\n")
    return [f"{line}\n" for line in pieces[:-1]] + ([pieces[-1]] if pieces[-1] else [])
