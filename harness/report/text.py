"""Text that models, tests and issue writers wrote, made fit to be shown: cut, no escape codes, all visible."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from markupsafe import Markup, escape

from harness.core.printable import INVISIBLE, number

if TYPE_CHECKING:
    from pathlib import Path

_ESCAPE_CODE = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]"  # CSI: colours, cursor
    r"|\x1b[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\|$)"  # OSC (titles, links) and other strings
    r"|\x1b[ -/]*[0-~]"  # two- and three-byte codes
    r"|\x9b[0-?]*[ -/]*[@-~]"
)


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

    @property
    def is_cut(self) -> bool:
        return self.shown < self.size


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
