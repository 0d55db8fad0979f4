"""Text that others wrote, made fit to be shown: cut, no escape codes, all visible; short names of models and tasks."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from string import ascii_uppercase
from typing import Any

from markupsafe import Markup, escape

from harness.core.printable import INVISIBLE, number

_ESCAPE_CODE = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]"  # CSI: colours, cursor
    r"|\x1b[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\|$)"  # OSC (titles, links) and other strings
    r"|\x1b[ -/]*[0-~]"  # two- and three-byte codes
    r"|\x9b[0-?]*[ -/]*[@-~]"
)
_DATE = re.compile(r"[-_@.:](?:20\d\d-?[01]\d-?[0-3]\d|[01]\d-20\d\d)$")
"""The end of a snapshot's name, such as `-20250929`, `-2025-11-13` or `-11-2025`."""
_SEPARATORS = "-_./:@"
_LONGEST_PREFIX = 16
"""Characters that all names may begin with in common before that is left out."""
_TASK = re.compile(r"(?P<owner>.+?)__(?P<repo>.+)-(?P<change>\d+|[0-9a-f]{7,40})$")


@dataclass(frozen=True, kw_only=True)
class CutText:
    """A text, or the part of it that is shown."""

    text: str
    size: int
    """Bytes of the whole."""
    shown: int
    """Bytes of what is shown."""
    end: str = ""
    """Where the middle is left out: what comes after it."""


def clean(text: str) -> str:
    """A text without terminal escape codes, its lines ended by line feeds."""
    return _ESCAPE_CODE.sub("", text).replace("\r\n", "\n").replace("\r", "\n")


def head(data: bytes, limit: int) -> CutText:
    """The first `limit` bytes at most, cut at a line where there is one."""
    part = data[:limit]
    if len(data) > limit and b"\n" in part:
        part = part[: part.rindex(b"\n") + 1]
    return _cut(part, len(data))


def ends(path: Path, limit: int) -> CutText | None:
    """A file, or its first and last `limit / 2` bytes where it is longer, cut at lines; None where there is no file.

    Reads no more than that, so that a huge file costs nothing.
    """
    half = limit // 2
    try:
        with path.open("rb") as file:
            size = file.seek(0, 2)
            file.seek(0)
            first = file.read(limit if size <= limit else half)
            file.seek(max(0, size - half))
            last = file.read(half) if size > limit else b""
    except OSError:
        return None
    if not last:
        return _cut(first, size)
    if b"\n" in first:
        first = first[: first.rindex(b"\n") + 1]
    if b"\n" in last[:-1]:
        last = last[last.index(b"\n") + 1 :]
    end = _cut(last, size)
    return CutText(text=_cut(first, size).text, size=size, shown=len(first) + len(last), end=end.text)


def head_of_file(path: Path, limit: int) -> CutText | None:
    """The first `limit` bytes of a file at most; None where there is no file."""
    try:
        with path.open("rb") as file:
            size = file.seek(0, 2)
            file.seek(0)
            part = head(file.read(limit + 1), limit)
    except OSError:
        return None
    return CutText(text=part.text, size=size, shown=min(part.shown, size))


def _cut(part: bytes, size: int) -> CutText:
    # A cut may fall inside a character: its bytes show as what they are.
    return CutText(text=clean(part.decode("utf-8", "surrogateescape")), size=size, shown=len(part))


def visible(text: str) -> Markup:
    """A text as HTML in which nothing hides: whatever has no look of its own stands as `U+202E` in a marked span."""
    parts: list[Markup] = []
    at = 0
    plain = clean(text)
    for match in INVISIBLE.finditer(plain):
        parts += [escape(plain[at : match.start()]), Markup('<span class="ctl">{}</span>').format(number(match[0]))]
        at = match.end()
    return Markup("").join([*parts, escape(plain[at:])])


def script_json(value: Any) -> Markup:
    """JSON that can stand inside a `<script>` element: ASCII, and nothing an HTML parser would react to."""
    text = json.dumps(value, separators=(",", ":"))
    for character in "<>&":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return Markup(text)  # noqa: S704 - no `<`, `>`, `&` is left, and U+2028/9 are escaped as all that is not ASCII


def short_models(names: Sequence[str]) -> dict[str, str]:
    """A short name for each model: without vendor, date and common beginning, as long as each stays unique."""
    distinct = list(dict.fromkeys(names))
    short = {name: name for name in distinct}
    short = _unless_doubled(short, {name: text.rsplit("/", 1)[-1] for name, text in short.items()})
    short = _unless_doubled(short, {name: _DATE.sub("", text) for name, text in short.items()})
    prefix = os.path.commonprefix(list(short.values())) if len(short) > 1 else ""  # noqa: RUF071 - no paths
    prefix = prefix[: max(prefix.rfind(sign) for sign in _SEPARATORS) + 1]
    if len(prefix) < _LONGEST_PREFIX:
        return short
    return _unless_doubled(short, {name: f"…{text[len(prefix) :]}" for name, text in short.items()})


def _unless_doubled(before: dict[str, str], after: dict[str, str]) -> dict[str, str]:
    """Each shorter name, unless it is empty or two models would share it."""
    shorter = list(after.values())
    return {
        name: text if text.strip("…") and shorter.count(text) == 1 else before[name] for name, text in after.items()
    }


def model_letters(number: int) -> list[str]:
    """A, B… for so many columns, and numbers where the alphabet does not suffice."""
    return list(ascii_uppercase[:number]) if number <= len(ascii_uppercase) else [str(n + 1) for n in range(number)]


def short_tasks(ids: Sequence[str]) -> dict[str, str]:
    """`#16` for `acme__widgets-16`, `widgets#16` among several repositories; an id of another form as it is."""
    parts = {task_id: _TASK.match(task_id) for task_id in ids}
    owners = {(part["owner"], part["repo"]) for part in parts.values() if part}
    repos = [repo for _, repo in owners]
    short = {}
    for task_id, part in parts.items():
        if part is None:
            short[task_id] = task_id
            continue
        change = f"#{part['change']}" if part["change"].isdigit() else f"@{part['change'][:8]}"
        where = "" if len(owners) == 1 else part["repo"]
        if where and repos.count(where) > 1:
            where = f"{part['owner']}/{where}"
        short[task_id] = where + change
    return _unless_doubled({task_id: task_id for task_id in ids}, short)
